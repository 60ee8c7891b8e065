//! The hash of a tree's parent node that was asked for last.
//!
//! mls-rs hashes a tree from its leaves up, and asks for each parent once a leaf below it: 10 times as often as there are parents in a tree of
//! 1,024 leaves, always twice and more in a row (mls-rs 0.57, `tree_hash`). One remembered input and digest answers all but the first. The
//! input is compared whole, so that nothing rests on a shorter hash; a tree is public to its members.

use std::sync::{Mutex, TryLockError};

use crate::error::Result;
use crate::symmetric::Hash;

/// `TreeHashInput` of a parent (RFC 9420, section 7.8) begins so.
const PARENT: u8 = 2;
/// Inputs that are not kept: a parent with more than ten thousand unmerged leaves.
const LONGEST: usize = 1 << 16;

/// The one that is remembered.
#[derive(Debug, Default)]
pub(crate) struct LastParent(Mutex<Option<Hashed>>);

#[derive(Debug)]
struct Hashed {
    by: Hash,
    input: Vec<u8>,
    digest: Vec<u8>,
}

impl LastParent {
    /// The digest of `data`. What was not asked for last has to pass a check first.
    pub(crate) fn digest(
        &self,
        hash: Hash,
        data: &[u8],
        check: impl Fn(&[u8]) -> Result<()>,
    ) -> Result<Vec<u8>> {
        let fresh = || check(data).map(|()| hash.digest(data));
        if data.first() != Some(&PARENT) || data.len() > LONGEST {
            return fresh();
        }
        // Who would have to wait has hashed in that time.
        let mut last = match self.0.try_lock() {
            Ok(last) => last,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return fresh(),
        };
        if let Some(last) = last.as_ref().filter(|last| last.by == hash && last.input == data) {
            return Ok(last.digest.clone());
        }
        let digest = fresh()?;
        let mut input = last.take().map(|last| last.input).unwrap_or_default();
        input.clear();
        input.extend_from_slice(data);
        *last = Some(Hashed { by: hash, input, digest: digest.clone() });
        Ok(digest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;

    fn digest(last: &LastParent, hash: Hash, data: &[u8]) -> Vec<u8> {
        last.digest(hash, data, |_| Ok(())).unwrap()
    }

    #[test]
    fn a_digest_is_that_of_its_input_and_hash_whatever_came_before() {
        let last = LastParent::default();
        let inputs =
            [&b"\x02one"[..], b"\x02two", b"\x02one", b"\x02one", b"\x01one", b"", b"\x02", b"\x02one"];
        for hash in [Hash::Sha256, Hash::Sha384, Hash::Sha512, Hash::Sha256] {
            for input in inputs.into_iter().chain(inputs) {
                assert_eq!(digest(&last, hash, input), hash.digest(input));
            }
        }
        for hash in [Hash::Sha256, Hash::Sha384, Hash::Sha512, Hash::Sha256] {
            assert_eq!(digest(&last, hash, b"\x02same"), hash.digest(b"\x02same"));
        }
        let long = [PARENT; LONGEST + 1];
        assert_eq!(digest(&last, Hash::Sha256, &long), Hash::Sha256.digest(&long));
        assert!(last.0.lock().unwrap().as_ref().unwrap().input == b"\x02same", "it was not kept");
    }

    #[test]
    fn what_is_remembered_is_not_computed_again() {
        let last = LastParent::default();
        digest(&last, Hash::Sha256, b"\x02input");
        last.0.lock().unwrap().as_mut().unwrap().digest = b"planted".to_vec();
        assert_eq!(digest(&last, Hash::Sha256, b"\x02input"), b"planted");
        assert_ne!(digest(&last, Hash::Sha384, b"\x02input"), b"planted");
    }

    #[test]
    fn what_does_not_pass_is_not_remembered() {
        let last = LastParent::default();
        let check = |data: &[u8]| if data.ends_with(b"good") { Ok(()) } else { Err(Error::Open) };
        for data in [&b"\x02bad"[..], b"\x02good", b"\x02bad", b"bad", b"good"] {
            assert_eq!(last.digest(Hash::Sha256, data, check).is_ok(), data.ends_with(b"good"));
        }
    }
}
