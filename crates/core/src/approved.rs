//! The same operations behind self-tests, as FIPS 140-3 asks of a module (feature `self-test`).
//!
//! The first operation with a parameter set runs its known-answer tests; every key generation checks that
//! the new pair works together. One failure ends the service: from then on every door of this module answers
//! [`SelfTestFailure`]. Other modules do not change, and do not know.
//!
//! ```
//! use gambeson::approved::Approved;
//! use gambeson::mlkem::{DecapsulationKey, MlKem768};
//!
//! let dk = Approved::<DecapsulationKey<MlKem768>>::generate()?;
//! let ek = Approved::new(dk.key().encapsulation_key())?;
//! let (c, shared) = ek.encapsulate()?;
//! assert_eq!(dk.decapsulate(&c)?.expose(), shared.expose());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! This is the mechanism of a validated module, not a validation: no laboratory has tested this crate.
//!
//! # Layout
//!
//! * `self_test`: the tests, their known answers and the error state

mod self_test;

use core::fmt;

use rand_core::TryCryptoRng;

use crate::mldsa::{InvalidSignature, Message, SigningKey, VerifyingKey};
use crate::mlkem::{DecapsulationKey, EncapsulationKey, SharedSecret};
use crate::{mldsa, mlkem, rng};

pub use self_test::{SelfTestFailure, self_test};

/// A door was refused by a self-test, or failed by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApprovedError<E> {
    /// A self-test failed, now or before.
    SelfTest(SelfTestFailure),
    /// What the ordinary door would have answered.
    Operation(E),
}

impl<E> From<SelfTestFailure> for ApprovedError<E> {
    fn from(failure: SelfTestFailure) -> Self {
        Self::SelfTest(failure)
    }
}

impl<E: fmt::Display> fmt::Display for ApprovedError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SelfTest(failure) => failure.fmt(f),
            Self::Operation(error) => error.fmt(f),
        }
    }
}

impl<E: core::error::Error> core::error::Error for ApprovedError<E> {}

/// A key whose operations run only while every self-test has passed.
#[derive(Debug)]
pub struct Approved<K>(K);

impl<K: Key> Approved<K> {
    /// Wraps a key that was made elsewhere.
    ///
    /// # Errors
    ///
    /// [`SelfTestFailure`] if a known-answer test of the algorithm fails, or any failed before.
    pub fn new(key: K) -> Result<Self, SelfTestFailure> {
        self_test::require(K::ALGORITHM)?;
        Ok(Self(key))
    }

    /// The key itself, with its ordinary doors.
    pub const fn key(&self) -> &K {
        &self.0
    }
}

/// A key of an algorithm that has self-tests.
pub trait Key: sealed::Sealed {
    /// The algorithm's name, such as `ML-KEM-768`.
    const ALGORITHM: &'static str;
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! keys {
    ($($family:ident $key:ident),*) => {$(
        impl<P: $family::ParameterSet> sealed::Sealed for $key<P> {}

        impl<P: $family::ParameterSet> Key for $key<P> {
            const ALGORITHM: &'static str = P::NAME;
        }
    )*};
}

keys!(mlkem EncapsulationKey, mlkem DecapsulationKey, mldsa VerifyingKey, mldsa SigningKey);

macro_rules! generate {
    ($($family:ident $key:ident $seed:literal $consistent:ident),*) => {$(
        impl<P: $family::ParameterSet> Approved<$key<P>> {
            /// A new pair with the operating system's randomness, tested for consistency.
            ///
            /// # Errors
            ///
            /// [`SelfTestFailure`], and [`RngError`](crate::RngError) if there is no randomness.
            #[cfg(feature = "getrandom")]
            pub fn generate() -> Result<Self, ApprovedError<crate::RngError>> {
                let seed = rng::system::<$seed>().map_err(ApprovedError::Operation)?;
                Ok(Self::from_seed(seed.expose())?)
            }

            /// A new pair with the caller's randomness, tested for consistency.
            ///
            /// # Errors
            ///
            /// [`SelfTestFailure`], and the generator's own.
            pub fn generate_with<R: TryCryptoRng + ?Sized>(rng: &mut R) -> Result<Self, ApprovedError<R::Error>> {
                let seed = rng::draw::<$seed, R>(rng).map_err(ApprovedError::Operation)?;
                Ok(Self::from_seed(seed.expose())?)
            }

            /// The pair of a seed, tested for consistency.
            ///
            /// # Errors
            ///
            /// [`SelfTestFailure`].
            pub fn from_seed(seed: &[u8; $seed]) -> Result<Self, SelfTestFailure> {
                self_test::require(P::NAME)?;
                let key = $key::<P>::from_seed(seed);
                self_test::pairwise(self_test::$consistent(&key))?;
                Ok(Self(key))
            }
        }
    )*};
}

generate!(mlkem DecapsulationKey 64 kem_pair_is_consistent, mldsa SigningKey 32 signing_pair_is_consistent);

macro_rules! encapsulate {
    ($($key:ident),*) => {$(
        impl<P: mlkem::ParameterSet> Approved<$key<P>> {
            /// A fresh shared secret, and the ciphertext that carries it, with the operating system's randomness.
            ///
            /// # Errors
            ///
            /// [`SelfTestFailure`], and [`RngError`](crate::RngError) if there is no randomness.
            #[cfg(feature = "getrandom")]
            pub fn encapsulate(&self) -> Result<(P::Ciphertext, SharedSecret), ApprovedError<crate::RngError>> {
                self_test::require(P::NAME)?;
                self.0.encapsulate().map_err(ApprovedError::Operation)
            }

            /// A fresh shared secret, and the ciphertext that carries it, with the caller's randomness.
            ///
            /// # Errors
            ///
            /// [`SelfTestFailure`], and the generator's own.
            pub fn encapsulate_with<R: TryCryptoRng + ?Sized>(
                &self,
                rng: &mut R,
            ) -> Result<(P::Ciphertext, SharedSecret), ApprovedError<R::Error>> {
                self_test::require(P::NAME)?;
                self.0.encapsulate_with(rng).map_err(ApprovedError::Operation)
            }
        }
    )*};
}

encapsulate!(EncapsulationKey);

macro_rules! decapsulate {
    ($($key:ident),*) => {$(
        impl<P: mlkem::ParameterSet> Approved<$key<P>> {
            /// The shared secret that `c` carries.
            ///
            /// # Errors
            ///
            /// [`SelfTestFailure`].
            pub fn decapsulate(&self, c: &P::Ciphertext) -> Result<SharedSecret, SelfTestFailure> {
                self_test::require(P::NAME)?;
                Ok(self.0.decapsulate(c))
            }
        }
    )*};
}

decapsulate!(DecapsulationKey);

macro_rules! sign {
    ($($key:ident),*) => {$(
        impl<P: mldsa::ParameterSet> Approved<$key<P>> {
            /// A hedged signature, with the operating system's randomness.
            ///
            /// # Errors
            ///
            /// [`SelfTestFailure`], and [`RngError`](crate::RngError) if there is no randomness.
            #[cfg(feature = "getrandom")]
            pub fn sign<'m>(
                &self,
                message: impl Into<Message<'m>>,
            ) -> Result<P::Signature, ApprovedError<crate::RngError>> {
                self_test::require(P::NAME)?;
                self.0.sign(message).map_err(ApprovedError::Operation)
            }

            /// A hedged signature, with the caller's randomness.
            ///
            /// # Errors
            ///
            /// [`SelfTestFailure`], and the generator's own.
            pub fn sign_with<'m, R: TryCryptoRng + ?Sized>(
                &self,
                rng: &mut R,
                message: impl Into<Message<'m>>,
            ) -> Result<P::Signature, ApprovedError<R::Error>> {
                self_test::require(P::NAME)?;
                self.0.sign_with(rng, message).map_err(ApprovedError::Operation)
            }

            /// The deterministic signature.
            ///
            /// # Errors
            ///
            /// [`SelfTestFailure`].
            pub fn sign_deterministic<'m>(
                &self,
                message: impl Into<Message<'m>>,
            ) -> Result<P::Signature, SelfTestFailure> {
                self_test::require(P::NAME)?;
                Ok(self.0.sign_deterministic(message))
            }
        }
    )*};
}

sign!(SigningKey);

macro_rules! verify {
    ($($key:ident),*) => {$(
        impl<P: mldsa::ParameterSet> Approved<$key<P>> {
            /// Accepts the key holder's signature of `message`, and nothing else.
            ///
            /// # Errors
            ///
            /// [`SelfTestFailure`], and [`InvalidSignature`].
            pub fn verify<'m>(
                &self,
                message: impl Into<Message<'m>>,
                signature: &[u8],
            ) -> Result<(), ApprovedError<InvalidSignature>> {
                self_test::require(P::NAME)?;
                self.0.verify(message, signature).map_err(ApprovedError::Operation)
            }
        }
    )*};
}

verify!(VerifyingKey);
