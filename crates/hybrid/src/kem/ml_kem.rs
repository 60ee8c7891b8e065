//! ML-KEM by a parameter set that is known at run time.

use gambeson::mlkem::{
    DecapsulationKey, EncapsulationKeyError, EncapsulationKeyRef, MlKem768, MlKem1024, ParameterSet,
    SharedSecret,
};

use super::Error;

/// The parameter set of a hybrid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MlKem {
    /// ML-KEM-768.
    MlKem768,
    /// ML-KEM-1024.
    MlKem1024,
}

impl MlKem {
    pub(super) const fn encapsulation_key_len(self) -> usize {
        match self {
            Self::MlKem768 => 1184,
            Self::MlKem1024 => 1568,
        }
    }

    pub(super) const fn ciphertext_len(self) -> usize {
        match self {
            Self::MlKem768 => 1088,
            Self::MlKem1024 => 1568,
        }
    }

    /// The input check of FIPS 203, §7.2, of a key of the right length.
    pub(super) fn check(self, key: &[u8]) -> Result<(), Error> {
        match self {
            Self::MlKem768 => checked::<MlKem768>(key).map(drop),
            Self::MlKem1024 => checked::<MlKem1024>(key).map(drop),
        }
    }

    /// Writes the ciphertext of `m`.
    pub(super) fn encapsulate(self, key: &[u8], m: &[u8; 32], c: &mut [u8]) -> Result<SharedSecret, Error> {
        match self {
            Self::MlKem768 => encapsulate::<MlKem768>(key, m, c),
            Self::MlKem1024 => encapsulate::<MlKem1024>(key, m, c),
        }
    }
}

fn checked<P: ParameterSet>(key: &[u8]) -> Result<EncapsulationKeyRef<'_, P>, Error> {
    EncapsulationKeyRef::try_from(key).map_err(|error| match error {
        EncapsulationKeyError::Length { expected, actual } => Error::Length { expected, actual },
        _ => Error::Modulus,
    })
}

fn encapsulate<P: ParameterSet>(key: &[u8], m: &[u8; 32], c: &mut [u8]) -> Result<SharedSecret, Error> {
    // A key share is used once.
    let (ciphertext, secret) = checked::<P>(key)?.encapsulate_deterministic(m);
    c.copy_from_slice(ciphertext.as_ref());
    Ok(secret)
}

/// A private key of either set.
pub(super) enum Private {
    MlKem768(DecapsulationKey<MlKem768>),
    MlKem1024(DecapsulationKey<MlKem1024>),
}

impl Private {
    pub(super) fn from_seed(set: MlKem, seed: &[u8; 64]) -> Self {
        match set {
            MlKem::MlKem768 => Self::MlKem768(DecapsulationKey::from_seed(seed)),
            MlKem::MlKem1024 => Self::MlKem1024(DecapsulationKey::from_seed(seed)),
        }
    }

    pub(super) fn encapsulation_key(&self, out: &mut [u8]) {
        match self {
            Self::MlKem768(key) => out.copy_from_slice(key.encapsulation_key().as_bytes()),
            Self::MlKem1024(key) => out.copy_from_slice(key.encapsulation_key().as_bytes()),
        }
    }

    /// `c` has the length of the set.
    pub(super) fn decapsulate(&self, c: &[u8]) -> SharedSecret {
        match self {
            Self::MlKem768(key) => key.decapsulate(c.try_into().expect("the hybrid's split")),
            Self::MlKem1024(key) => key.decapsulate(c.try_into().expect("the hybrid's split")),
        }
    }
}
