//! The traits of the RustCrypto crate `kem` 0.3 (feature `rustcrypto`).
//!
//! ```
//! use gambeson::mlkem::MlKem768;
//! use gambeson::mlkem::rustcrypto::Algorithm;
//! use kem::{Decapsulate, Encapsulate, FromSeed};
//!
//! let (dk, ek) = Algorithm::<MlKem768>::from_seed(&[7; 64].into());
//! # struct Rng;
//! # impl gambeson::rand_core::TryRng for Rng {
//! #     type Error = core::convert::Infallible;
//! #     fn try_next_u32(&mut self) -> Result<u32, Self::Error> { Ok(4) }
//! #     fn try_next_u64(&mut self) -> Result<u64, Self::Error> { Ok(4) }
//! #     fn try_fill_bytes(&mut self, out: &mut [u8]) -> Result<(), Self::Error> { out.fill(4); Ok(()) }
//! # }
//! # impl gambeson::rand_core::TryCryptoRng for Rng {}
//! # let mut rng = Rng;
//! let (c, k) = ek.encapsulate_with_rng(&mut rng);
//! assert_eq!(Decapsulate::decapsulate(&dk, &c), k);
//! ```

use core::fmt::Debug;
use core::marker::PhantomData;

use hybrid_array::sizes::{U32, U64, U768, U800, U1088, U1184, U1568};
use hybrid_array::{Array, ArraySize};
use kem::{
    Ciphertext, Decapsulate, Decapsulator, Encapsulate, Generate, InvalidKey, Kem, Key, KeyExport, KeyInit,
    KeySizeUser, SharedKey, TryKeyInit,
};
use rand_core::{CryptoRng, TryCryptoRng};

use super::PreparedSet;
use super::{DecapsulationKey, EncapsulationKey, MlKem512, MlKem768, MlKem1024};

/// ML-KEM as a [`Kem`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Algorithm<P>(PhantomData<P>);

/// A parameter set's sizes in the language of `kem`.
pub trait Sizes: PreparedSet + Ord {
    /// The length of an encapsulation key.
    type EncapsulationKeySize: ArraySize;
    /// The length of a ciphertext.
    type CiphertextSize: ArraySize;
}

macro_rules! sizes {
    ($($set:ident $ek:ident $c:ident),*) => {$(
        impl Sizes for $set {
            type EncapsulationKeySize = $ek;
            type CiphertextSize = $c;
        }
    )*};
}

sizes!(MlKem512 U800 U768, MlKem768 U1184 U1088, MlKem1024 U1568 U1568);

impl<P: Sizes> Kem for Algorithm<P> {
    type DecapsulationKey = DecapsulationKey<P>;
    type EncapsulationKey = EncapsulationKey<P>;
    type SharedKeySize = U32;
    type CiphertextSize = P::CiphertextSize;
}

impl<P: Sizes> KeySizeUser for EncapsulationKey<P> {
    type KeySize = P::EncapsulationKeySize;
}

impl<P: Sizes> TryKeyInit for EncapsulationKey<P> {
    fn new(key: &Key<Self>) -> Result<Self, InvalidKey> {
        EncapsulationKey::try_from(key.as_slice()).map_err(|_| InvalidKey)
    }
}

impl<P: Sizes> KeyExport for EncapsulationKey<P> {
    fn to_bytes(&self) -> Key<Self> {
        Key::<Self>::try_from(self.as_bytes().as_ref()).expect("the sizes are those of one set")
    }
}

impl<P: Sizes> Encapsulate for EncapsulationKey<P> {
    type Kem = Algorithm<P>;

    fn encapsulate_with_rng<R: CryptoRng + ?Sized>(
        &self,
        rng: &mut R,
    ) -> (Ciphertext<Self::Kem>, SharedKey<Self::Kem>) {
        let Ok((c, k)) = self.encapsulate_with(rng);
        (Array::try_from(c.as_ref()).expect("the sizes are those of one set"), (*k.expose()).into())
    }
}

/// As a seed d ‖ z.
impl<P: Sizes> KeySizeUser for DecapsulationKey<P> {
    type KeySize = U64;
}

impl<P: Sizes> KeyInit for DecapsulationKey<P> {
    fn new(seed: &Key<Self>) -> Self {
        Self::from_seed(seed.as_ref())
    }
}

impl<P: Sizes> Generate for DecapsulationKey<P> {
    fn try_generate_from_rng<R: TryCryptoRng + ?Sized>(rng: &mut R) -> Result<Self, R::Error> {
        Self::generate_with(rng)
    }
}

impl<P: Sizes> Decapsulator for DecapsulationKey<P> {
    type Kem = Algorithm<P>;

    fn encapsulation_key(&self) -> &EncapsulationKey<P> {
        self.form.ek()
    }
}

impl<P: Sizes> Decapsulate for DecapsulationKey<P> {
    fn decapsulate(&self, c: &Ciphertext<Self::Kem>) -> SharedKey<Self::Kem> {
        let c = P::Ciphertext::try_from(c.as_slice()).expect("the sizes are those of one set");
        (*DecapsulationKey::decapsulate(self, &c).expose()).into()
    }
}
