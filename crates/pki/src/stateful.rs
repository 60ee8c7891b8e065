//! Public keys of signatures with a state (RFC 9802): HSS.

use std::fmt;

use gambeson::lms::HssVerifyingKey;

use crate::algorithm::Algorithm;
use crate::error::Error;

/// A public key of HSS. Private keys of it need a store that records the used leaves; there is none here.
#[derive(Clone)]
pub struct StatefulVerifyingKey {
    bytes: Vec<u8>,
    key: Verifying,
}

#[derive(Clone)]
enum Verifying {
    Hss(HssVerifyingKey),
}

impl StatefulVerifyingKey {
    /// `algorithm` is a stateful one.
    pub(crate) fn new(algorithm: Algorithm, bytes: &[u8]) -> Result<Self, Error> {
        debug_assert!(algorithm.is_stateful());
        let key = HssVerifyingKey::from_bytes(bytes).map(Verifying::Hss).map_err(Error::HssKey)?;
        Ok(Self { bytes: bytes.to_vec(), key })
    }

    /// The algorithm of the key.
    #[must_use]
    pub const fn algorithm(&self) -> Algorithm {
        match self.key {
            Verifying::Hss(_) => Algorithm::Hss,
        }
    }

    /// The bytes of the key in the encoding of RFC 8554, which SPKI holds as they are.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Verifies a signature of a message.
    ///
    /// # Errors
    /// [`Error::Signature`].
    pub fn verify(&self, message: &[u8], signature: &[u8]) -> Result<(), Error> {
        match &self.key {
            Verifying::Hss(key) => key.verify(message, signature).map_err(|_| Error::Signature),
        }
    }
}

impl fmt::Debug for StatefulVerifyingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StatefulVerifyingKey({})", self.algorithm())
    }
}
