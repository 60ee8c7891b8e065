//! KEMs of draft-ietf-hpke-pq: ML-KEM, X-Wing and the hybrids with the curves of NIST.

use gambeson::mlkem::{self, ParameterSet};
pub use gambeson::mlkem::{MlKem512, MlKem768, MlKem1024};
use gambeson::secret::{Secret, StackGuard};

use super::kdf::Shake256;
use super::sealed::Sealed;
use super::{DEPTH, Error};
#[cfg(feature = "curves")]
use crate::kem;
use crate::xwing;

/// A KEM of the suite.
///
/// Keys are types of their own where this crate or `gambeson` has such, with checks behind them; their bytes are those of the
/// registry.
pub trait Kem: Sealed {
    /// The number in the registry of KEMs.
    const ID: u16;
    /// `Npk`: bytes of a public key.
    const NPK: usize;
    /// `Nsk`: bytes of a private key.
    const NSK: usize;
    /// `Nenc`: bytes of `enc`.
    const NENC: usize;
    /// `Nsecret`: bytes of the shared secret.
    const NSECRET: usize;
    /// The recipient's public key, `pkR`.
    type EncapsulationKey;
    /// The recipient's private key, `skR`.
    type DecapsulationKey;
    /// What goes to the recipient, `enc`.
    type Enc: AsRef<[u8]> + for<'a> TryFrom<&'a [u8]>;
    /// The randomness of one encapsulation.
    type Randomness: zeroize::Zeroize + AsMut<[u8]> + 'static;

    /// A place for the randomness: all zeros.
    const NO_RANDOMNESS: Self::Randomness;

    /// `DeriveKeyPair` (RFC 9180, §7.1.3; draft-ietf-hpke-pq): the key of a secret with at least [`NSK`](Self::NSK) bytes of entropy.
    ///
    /// # Errors
    /// [`Error::Key`] for no secret that anybody will ever find.
    fn derive_key_pair(ikm: &[u8]) -> Result<Self::DecapsulationKey, Error>;

    /// `DeserializePublicKey`, with the checks of §7.1.4 that need no private key.
    ///
    /// # Errors
    /// [`Error::Key`].
    fn encapsulation_key(bytes: &[u8]) -> Result<Self::EncapsulationKey, Error>;

    /// `DeserializePrivateKey`.
    ///
    /// # Errors
    /// [`Error::Key`].
    fn decapsulation_key(bytes: &[u8]) -> Result<Self::DecapsulationKey, Error>;

    /// Writes the public key of a private one: [`NPK`](Self::NPK) bytes.
    ///
    /// # Panics
    /// If `out` has another length.
    fn public_key(dk: &Self::DecapsulationKey, out: &mut [u8]);

    /// `SerializePrivateKey`: [`NSK`](Self::NSK) bytes.
    ///
    /// # Errors
    /// [`Error::Key`] for an ML-KEM key that was imported without its seed.
    ///
    /// # Panics
    /// If `out` has another length.
    fn private_key(dk: &Self::DecapsulationKey, out: &mut [u8]) -> Result<(), Error>;

    #[doc(hidden)]
    fn encap(
        ek: &Self::EncapsulationKey,
        randomness: &Self::Randomness,
        secret: &mut [u8],
    ) -> Result<Self::Enc, Error>;
    #[doc(hidden)]
    fn decap(enc: &Self::Enc, dk: &Self::DecapsulationKey, secret: &mut [u8]) -> Result<(), Error>;
}

/// `DeriveKeyPair` of draft-ietf-hpke-pq: the private key's bytes, of SHAKE256.
fn derived<const N: usize>(id: u16, ikm: &[u8]) -> Secret<[u8; N]> {
    let [high, low] = id.to_be_bytes();
    let suite = [b'K', b'E', b'M', high, low];
    let mut seed = Secret::new([0; N]);
    let _guard = StackGuard::<DEPTH>;
    Shake256::labeled_derive(&suite, &[ikm], b"DeriveKeyPair", &[], N as u16).squeeze(seed.expose_mut());
    seed.take()
}

/// MLKEM768-X25519, KEM 0x647a: [`xwing`].
#[derive(Clone, Copy, Debug)]
pub enum XWing {}

impl Sealed for XWing {}

impl Kem for XWing {
    const ID: u16 = xwing::KEM_ID;
    const NPK: usize = xwing::ENCAPSULATION_KEY_LEN;
    const NSK: usize = xwing::SEED_LEN;
    const NENC: usize = xwing::CIPHERTEXT_LEN;
    const NSECRET: usize = 32;
    type EncapsulationKey = xwing::EncapsulationKey;
    type DecapsulationKey = xwing::DecapsulationKey;
    type Enc = xwing::Ciphertext;
    type Randomness = [u8; 64];
    const NO_RANDOMNESS: [u8; 64] = [0; 64];

    fn derive_key_pair(ikm: &[u8]) -> Result<Self::DecapsulationKey, Error> {
        Ok(xwing::DecapsulationKey::from_seed(derived(Self::ID, ikm).expose()))
    }

    fn encapsulation_key(bytes: &[u8]) -> Result<Self::EncapsulationKey, Error> {
        xwing::EncapsulationKey::try_from(bytes).map_err(|_| Error::Key)
    }

    fn decapsulation_key(bytes: &[u8]) -> Result<Self::DecapsulationKey, Error> {
        Ok(xwing::DecapsulationKey::from_seed(bytes.try_into().map_err(|_| Error::Key)?))
    }

    fn public_key(dk: &Self::DecapsulationKey, out: &mut [u8]) {
        out.copy_from_slice(dk.encapsulation_key().as_bytes());
    }

    fn private_key(dk: &Self::DecapsulationKey, out: &mut [u8]) -> Result<(), Error> {
        out.copy_from_slice(dk.seed().expose());
        Ok(())
    }

    fn encap(ek: &Self::EncapsulationKey, eseed: &[u8; 64], secret: &mut [u8]) -> Result<Self::Enc, Error> {
        let (enc, shared) = ek
            .encapsulate_contributory_deterministic(eseed)
            .map_err(|xwing::NonContributory| Error::NonContributory)?;
        secret.copy_from_slice(shared.expose());
        Ok(enc)
    }

    fn decap(enc: &Self::Enc, dk: &Self::DecapsulationKey, secret: &mut [u8]) -> Result<(), Error> {
        let shared =
            dk.decapsulate_contributory(enc).map_err(|xwing::NonContributory| Error::NonContributory)?;
        secret.copy_from_slice(shared.expose());
        Ok(())
    }
}

macro_rules! ml_kem {
    ($($set:ident, $id:literal, $npk:literal, $nenc:literal;)*) => {$(
        impl Sealed for $set {}

        impl Kem for $set {
            const ID: u16 = $id;
            const NPK: usize = $npk;
            const NSK: usize = 64;
            const NENC: usize = $nenc;
            const NSECRET: usize = 32;
            type EncapsulationKey = mlkem::EncapsulationKey<$set>;
            type DecapsulationKey = mlkem::DecapsulationKey<$set>;
            type Enc = <$set as ParameterSet>::Ciphertext;
            type Randomness = [u8; 32];
            const NO_RANDOMNESS: [u8; 32] = [0; 32];

            fn derive_key_pair(ikm: &[u8]) -> Result<Self::DecapsulationKey, Error> {
                Ok(mlkem::DecapsulationKey::from_seed(derived(Self::ID, ikm).expose()))
            }

            fn encapsulation_key(bytes: &[u8]) -> Result<Self::EncapsulationKey, Error> {
                let bytes: &[u8; $npk] = bytes.try_into().map_err(|_| Error::Key)?;
                mlkem::EncapsulationKey::from_bytes(bytes).map_err(|_| Error::Key)
            }

            fn decapsulation_key(bytes: &[u8]) -> Result<Self::DecapsulationKey, Error> {
                Ok(mlkem::DecapsulationKey::from_seed(bytes.try_into().map_err(|_| Error::Key)?))
            }

            fn public_key(dk: &Self::DecapsulationKey, out: &mut [u8]) {
                out.copy_from_slice(dk.encapsulation_key().as_bytes());
            }

            fn private_key(dk: &Self::DecapsulationKey, out: &mut [u8]) -> Result<(), Error> {
                out.copy_from_slice(dk.seed().ok_or(Error::Key)?.expose());
                Ok(())
            }

            fn encap(
                ek: &Self::EncapsulationKey,
                m: &[u8; 32],
                secret: &mut [u8],
            ) -> Result<Self::Enc, Error> {
                let (enc, shared) = ek.encapsulate_deterministic(m);
                secret.copy_from_slice(shared.expose());
                Ok(enc)
            }

            fn decap(
                enc: &Self::Enc,
                dk: &Self::DecapsulationKey,
                secret: &mut [u8],
            ) -> Result<(), Error> {
                secret.copy_from_slice(dk.decapsulate(enc).expose());
                Ok(())
            }
        }
    )*};
}

ml_kem! {
    MlKem512, 0x0040, 800, 768;
    MlKem768, 0x0041, 1184, 1088;
    MlKem1024, 0x0042, 1568, 1568;
}

/// A public key of the KEM `K`, one of the table [`kem`](crate::kem).
#[cfg(feature = "curves")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HybridEncapsulationKey<K>(kem::EncapsulationKey, core::marker::PhantomData<K>);

/// A private key of the KEM `K`, one of the table [`kem`](crate::kem).
#[cfg(feature = "curves")]
#[derive(Debug)]
pub struct HybridDecapsulationKey<K>(kem::DecapsulationKey, core::marker::PhantomData<K>);

#[cfg(feature = "curves")]
macro_rules! hybrid {
    ($($name:ident, $table:expr, $id:literal, $npk:literal, $nenc:literal, $both:literal, $random:literal, $text:literal;)*) => {$(
        #[doc = $text]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name {}

        impl Sealed for $name {}

        impl Kem for $name {
            const ID: u16 = $id;
            const NPK: usize = $npk;
            const NSK: usize = 32;
            const NENC: usize = $nenc;
            const NSECRET: usize = 32;
            type EncapsulationKey = HybridEncapsulationKey<Self>;
            type DecapsulationKey = HybridDecapsulationKey<Self>;
            type Enc = [u8; $nenc];
            type Randomness = [u8; $random];
            const NO_RANDOMNESS: [u8; $random] = [0; $random];

            fn derive_key_pair(ikm: &[u8]) -> Result<Self::DecapsulationKey, Error> {
                Self::decapsulation_key(derived::<32>(Self::ID, ikm).expose())
            }

            fn encapsulation_key(bytes: &[u8]) -> Result<Self::EncapsulationKey, Error> {
                let key = kem::EncapsulationKey::from_bytes(&$table, bytes).map_err(error)?;
                Ok(HybridEncapsulationKey(key, core::marker::PhantomData))
            }

            fn decapsulation_key(bytes: &[u8]) -> Result<Self::DecapsulationKey, Error> {
                let key = kem::DecapsulationKey::from_bytes(&$table, bytes).map_err(error)?;
                Ok(HybridDecapsulationKey(key, core::marker::PhantomData))
            }

            fn public_key(dk: &Self::DecapsulationKey, out: &mut [u8]) {
                out.copy_from_slice(dk.0.encapsulation_key().as_bytes());
            }

            fn private_key(dk: &Self::DecapsulationKey, out: &mut [u8]) -> Result<(), Error> {
                out.copy_from_slice(dk.0.expose_bytes());
                Ok(())
            }

            fn encap(
                ek: &Self::EncapsulationKey,
                randomness: &Self::Randomness,
                secret: &mut [u8],
            ) -> Result<Self::Enc, Error> {
                let (m, scalars) = randomness.split_at(32);
                let mut both = Secret::new([0; $both]);
                let both = both.expose_mut();
                both[..32].copy_from_slice(m);
                // The first of the strings that is a scalar: of P-256, in all but one of 2^32 cases the very first.
                for scalar in scalars.chunks_exact($both - 32) {
                    both[32..].copy_from_slice(scalar);
                    match ek.0.encapsulate_deterministic(both) {
                        Err(kem::Error::Scalar) => {}
                        Err(other) => return Err(error(other)),
                        Ok((enc, shared)) => {
                            secret.copy_from_slice(shared.expose());
                            return enc.as_bytes().try_into().map_err(|_| Error::Key);
                        }
                    }
                }
                Err(Error::Random)
            }

            fn decap(
                enc: &Self::Enc,
                dk: &Self::DecapsulationKey,
                secret: &mut [u8],
            ) -> Result<(), Error> {
                secret.copy_from_slice(dk.0.decapsulate(enc).map_err(error)?.expose());
                Ok(())
            }
        }
    )*};
}

#[cfg(feature = "curves")]
hybrid! {
    MlKem768P256, kem::MLKEM768_P256, 0x0050, 1249, 1153, 64, 128, "MLKEM768-P256, KEM 0x0050.";
    MlKem1024P384, kem::MLKEM1024_P384, 0x0051, 1665, 1665, 80, 80, "MLKEM1024-P384, KEM 0x0051.";
}

#[cfg(feature = "curves")]
fn error(error: kem::Error) -> Error {
    match error {
        kem::Error::NonContributory => Error::NonContributory,
        kem::Error::Random => Error::Random,
        _ => Error::Key,
    }
}
