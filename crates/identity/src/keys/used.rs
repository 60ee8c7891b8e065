//! The verifying keys that were used last, in the whole process.
//!
//! A [`VerifyingKey`](super::VerifyingKey) that rests is its bytes. `gambeson` prepares a key at its second use, which takes 14 to
//! 64 KiB (`docs/memory.md`); so many keys stay prepared, whatever the number of agents that are known.

use super::{Algorithm, VerifyingKey};
use gambeson::mldsa::{self, InvalidSignature, Message, MlDsa44, MlDsa65, MlDsa87};
use std::sync::{Arc, Mutex, PoisonError};

/// The most keys that are kept.
const MOST: usize = 128;

/// The key that was used last is the last.
static USED: Mutex<Vec<Arc<Used>>> = Mutex::new(Vec::new());

#[allow(clippy::large_enum_variant, reason = "it stands behind a pointer")]
enum Used {
    MlDsa44(mldsa::VerifyingKey<MlDsa44>),
    MlDsa65(mldsa::VerifyingKey<MlDsa65>),
    MlDsa87(mldsa::VerifyingKey<MlDsa87>),
}

impl Used {
    fn new(key: &VerifyingKey) -> Self {
        const LENGTH: &str = "a verifying key has the length of its algorithm";
        match key.algorithm() {
            Algorithm::MlDsa44 => Self::MlDsa44(key.as_bytes().try_into().expect(LENGTH)),
            Algorithm::MlDsa65 => Self::MlDsa65(key.as_bytes().try_into().expect(LENGTH)),
            Algorithm::MlDsa87 => Self::MlDsa87(key.as_bytes().try_into().expect(LENGTH)),
        }
    }

    /// The lengths of the three algorithms differ, so that the bytes name the algorithm too.
    fn as_bytes(&self) -> &[u8] {
        match self {
            Self::MlDsa44(key) => key.as_bytes().as_ref(),
            Self::MlDsa65(key) => key.as_bytes().as_ref(),
            Self::MlDsa87(key) => key.as_bytes().as_ref(),
        }
    }
}

/// Verifies with the key, which then is the one that was used last.
pub fn verify(key: &VerifyingKey, message: Message<'_>, signature: &[u8]) -> Result<(), InvalidSignature> {
    match &*used(key) {
        Used::MlDsa44(key) => key.verify(message, signature),
        Used::MlDsa65(key) => key.verify(message, signature),
        Used::MlDsa87(key) => key.verify(message, signature),
    }
}

fn used(key: &VerifyingKey) -> Arc<Used> {
    let mut keys = USED.lock().unwrap_or_else(PoisonError::into_inner);
    let used = match keys.iter().position(|used| used.as_bytes() == key.as_bytes()) {
        Some(place) => keys.remove(place),
        None => {
            if keys.len() == MOST {
                keys.remove(0);
            }
            Arc::new(Used::new(key))
        }
    };
    keys.push(used.clone());
    used
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A key that nothing signs for.
    fn key(number: usize) -> VerifyingKey {
        let mut bytes = [0; 1312];
        bytes[..8].copy_from_slice(&number.to_be_bytes());
        VerifyingKey::from_bytes(Algorithm::MlDsa44, &bytes).unwrap()
    }

    #[test]
    fn the_keys_used_last_are_kept() {
        let first = used(&key(1));
        assert!(Arc::ptr_eq(&first, &used(&key(1))), "a key that is kept is found");
        assert!(!Arc::ptr_eq(&first, &used(&key(2))));
        let length = USED.lock().unwrap().len();
        assert!(length <= MOST);
        // Other tests use keys at the same time, so that more than these may be dropped.
        for number in 3..3 + MOST {
            used(&key(number));
        }
        assert_eq!(USED.lock().unwrap().len(), MOST);
        assert!(!Arc::ptr_eq(&first, &used(&key(1))), "the key that was not used for longest is dropped");
        assert!(key(1).verify(b"", b"message", &[0; 2420]).is_err());
    }
}
