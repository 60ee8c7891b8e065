//! ML-KEM by a parameter set that is known at run time.

use gambeson::mlkem::{
    DecapsulationKey, EncapsulationKeyRef, MlKem512, MlKem768, MlKem1024, ParameterSet, SharedSecret,
};
use gambeson_hybrid::kem::{self, HybridKem};
use rustls::Error;
use rustls::crypto::GetRandomFailed;

use super::INVALID_KEY_SHARE;

#[derive(Clone, Copy)]
pub(super) enum MlKem {
    MlKem512,
    MlKem768,
    MlKem1024,
}

impl MlKem {
    pub(super) const fn of(kem: &HybridKem) -> Self {
        match kem.ml_kem() {
            kem::MlKem::MlKem768 => Self::MlKem768,
            kem::MlKem::MlKem1024 => Self::MlKem1024,
        }
    }

    pub(super) const fn encapsulation_key_len(self) -> usize {
        match self {
            Self::MlKem512 => 800,
            Self::MlKem768 => 1184,
            Self::MlKem1024 => 1568,
        }
    }

    pub(super) const fn ciphertext_len(self) -> usize {
        match self {
            Self::MlKem512 => 768,
            Self::MlKem768 => 1088,
            Self::MlKem1024 => 1568,
        }
    }

    pub(super) fn generate(self) -> Result<Box<Private>, Error> {
        let failed = |_| GetRandomFailed;
        Ok(Box::new(match self {
            Self::MlKem512 => Private::MlKem512(DecapsulationKey::generate().map_err(failed)?),
            Self::MlKem768 => Private::MlKem768(DecapsulationKey::generate().map_err(failed)?),
            Self::MlKem1024 => Private::MlKem1024(DecapsulationKey::generate().map_err(failed)?),
        }))
    }

    /// The ciphertext and the secret; refuses a wrong length and a coefficient that is not below q (FIPS 203, §7.2).
    pub(super) fn encapsulate(self, key: &[u8]) -> Result<(Vec<u8>, SharedSecret), Error> {
        match self {
            Self::MlKem512 => encapsulate::<MlKem512>(key),
            Self::MlKem768 => encapsulate::<MlKem768>(key),
            Self::MlKem1024 => encapsulate::<MlKem1024>(key),
        }
    }
}

fn encapsulate<P: ParameterSet>(key: &[u8]) -> Result<(Vec<u8>, SharedSecret), Error>
where
    for<'a> &'a P::EncapsulationKeyBytes: TryFrom<&'a [u8]>,
{
    let key = key.try_into().map_err(|_| INVALID_KEY_SHARE)?;
    let key = EncapsulationKeyRef::<P>::from_ref(key).map_err(|_| INVALID_KEY_SHARE)?;
    let (ciphertext, secret) = key.encapsulate().map_err(|_| GetRandomFailed)?;
    Ok((ciphertext.as_ref().to_vec(), secret))
}

/// A private key: expanded, because the one decapsulation that follows then makes no matrix.
pub(super) enum Private {
    MlKem512(DecapsulationKey<MlKem512>),
    MlKem768(DecapsulationKey<MlKem768>),
    MlKem1024(DecapsulationKey<MlKem1024>),
}

impl Private {
    pub(super) fn encapsulation_key(&self) -> Vec<u8> {
        match self {
            Self::MlKem512(key) => key.encapsulation_key().as_bytes().to_vec(),
            Self::MlKem768(key) => key.encapsulation_key().as_bytes().to_vec(),
            Self::MlKem1024(key) => key.encapsulation_key().as_bytes().to_vec(),
        }
    }

    /// Refuses a wrong length; any other ciphertext gives a secret (FIPS 203, §6.3).
    pub(super) fn decapsulate(&self, c: &[u8]) -> Result<SharedSecret, Error> {
        match self {
            Self::MlKem512(key) => decapsulate(key, c),
            Self::MlKem768(key) => decapsulate(key, c),
            Self::MlKem1024(key) => decapsulate(key, c),
        }
    }
}

fn decapsulate<P: ParameterSet>(key: &DecapsulationKey<P>, c: &[u8]) -> Result<SharedSecret, Error> {
    let c = P::Ciphertext::try_from(c).map_err(|_| INVALID_KEY_SHARE)?;
    Ok(key.decapsulate(&c))
}
