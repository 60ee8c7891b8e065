//! Public keys of signatures with a state (RFC 9802): HSS, XMSS and XMSS^MT.

use std::fmt;

use gambeson::lms::HssVerifyingKey;
use gambeson::xmss;

use crate::algorithm::Algorithm;
use crate::error::Error;

/// A public key of HSS, XMSS or XMSS^MT. Private keys of these need a store that records the used leaves; this crate has none.
#[derive(Clone)]
pub struct StatefulVerifyingKey {
    bytes: Vec<u8>,
    key: Verifying,
}

#[derive(Clone)]
enum Verifying {
    Hss(HssVerifyingKey),
    Xmss(xmss::VerifyingKey),
}

impl StatefulVerifyingKey {
    /// `algorithm` is a stateful one.
    pub(crate) fn new(algorithm: Algorithm, bytes: &[u8]) -> Result<Self, Error> {
        debug_assert!(algorithm.is_stateful());
        let key = match algorithm {
            Algorithm::Xmss => {
                xmss::VerifyingKey::from_bytes(bytes).map(Verifying::Xmss).map_err(Error::XmssKey)
            }
            Algorithm::XmssMt => {
                xmss::VerifyingKey::from_mt_bytes(bytes).map(Verifying::Xmss).map_err(Error::XmssKey)
            }
            _ => HssVerifyingKey::from_bytes(bytes).map(Verifying::Hss).map_err(Error::HssKey),
        }?;
        Ok(Self { bytes: bytes.to_vec(), key })
    }

    /// The algorithm of the key.
    #[must_use]
    pub const fn algorithm(&self) -> Algorithm {
        match &self.key {
            Verifying::Hss(_) => Algorithm::Hss,
            Verifying::Xmss(key) if key.parameter_set().is_multi_tree() => Algorithm::XmssMt,
            Verifying::Xmss(_) => Algorithm::Xmss,
        }
    }

    /// The bytes of the key in the encoding of RFC 8554 or RFC 8391, which are also those of the SPKI.
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
            Verifying::Xmss(key) => key.verify(message, signature).map_err(|_| Error::Signature),
        }
    }
}

impl fmt::Debug for StatefulVerifyingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StatefulVerifyingKey({})", self.algorithm())
    }
}
