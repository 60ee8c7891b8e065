//! What goes wrong.

use std::fmt;

use gambeson_hybrid::hpke;
use mls_rs_core::error::IntoAnyError;

/// A result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Why an operation of a suite failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// A key, a nonce or a ciphertext of a wrong length.
    Length {
        /// What it is.
        what: &'static str,
        /// The length that the suite has, in bytes; of a ciphertext, the least.
        expected: usize,
        /// The length that was given.
        actual: usize,
    },
    /// HPKE: a key that is none, a share of low order, a tag that does not fit.
    Hpke(hpke::Error),
    /// The bytes are not a private key of the suite's signature algorithm.
    SigningKey,
    /// The bytes are not a public key of the suite's signature algorithm.
    VerifyingKey,
    /// The signature does not verify.
    Signature,
    /// The AEAD's tag does not fit: another key, nonce, ciphertext or associated data.
    Open,
    /// More is asked of HKDF, or of the AEAD, than it can give.
    TooLong,
    /// No random bytes, from the operating system or the caller's generator.
    Random,
    /// The bytes name a signer that is not registered with the provider.
    UnknownSigner,
    /// The signer that is registered did not sign.
    Signer,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length { what, expected, actual } => {
                write!(f, "{what} of {actual} bytes, where the suite has {expected}")
            }
            Self::Hpke(error) => write!(f, "HPKE: {error}"),
            Self::SigningKey => f.write_str("not a private key of the suite's signature algorithm"),
            Self::VerifyingKey => f.write_str("not a public key of the suite's signature algorithm"),
            Self::Signature => f.write_str("the signature does not verify"),
            Self::Open => f.write_str("not what was sealed: the tag does not fit"),
            Self::TooLong => f.write_str("more than the algorithm can give or take"),
            Self::UnknownSigner => {
                f.write_str("a handle of a signer that is not registered with this provider")
            }
            Self::Signer => f.write_str("the signer did not sign"),
            Self::Random => gambeson::RngError.fmt(f),
        }
    }
}

impl std::error::Error for Error {}

impl From<hpke::Error> for Error {
    fn from(error: hpke::Error) -> Self {
        Self::Hpke(error)
    }
}

impl IntoAnyError for Error {
    fn into_dyn_error(self) -> std::result::Result<Box<dyn std::error::Error + Send + Sync>, Self> {
        Ok(Box::new(self))
    }
}
