//! Names of things by their hash: a multihash in multibase, by the hash of a suite.

use crate::{Suite, did, encoding};

/// The name of these bytes: `u` and base64url of a multihash, BLAKE3-256 in the default suite and SHA-384 in `cnsa2`.
pub(crate) fn digest(suite: Suite, bytes: &[u8]) -> String {
    encoding::multibase(&did::multihash(suite, bytes))
}

/// Whether this is the name of these bytes, in whichever suite.
pub(crate) fn names(name: &str, bytes: &[u8]) -> bool {
    [Suite::Default, Suite::Cnsa2].into_iter().any(|suite| digest(suite, bytes) == name)
}

/// Whether this has the form of such a name.
pub(crate) fn is_name(text: &str) -> bool {
    matches!(
        encoding::from_multibase(text, 50).as_deref().map(|hash| (hash.len(), hash.get(..2))),
        Ok((34, Some([0x1e, 0x20])) | (50, Some([0x20, 0x30])))
    )
}
