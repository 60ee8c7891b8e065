//! What can be wrong with a key file, named for the mistake.

use std::fmt;

use gambeson::mldsa::SigningKeyError;
use gambeson::mlkem::{DecapsulationKeyError, EncapsulationKeyError};

/// Why a key was not read or written.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The text is not PEM (RFC 7468).
    Pem,
    /// It is PEM of something else.
    Label {
        /// What was wanted, such as `PRIVATE KEY`.
        expected: &'static str,
        /// What stands in the BEGIN line.
        found: String,
    },
    /// The bytes are not the DER of such a key.
    Der,
    /// The key is of an algorithm that is not supported here.
    Algorithm {
        /// The object identifier in the file.
        oid: String,
    },
    /// The algorithm identifier has parameters, which must be absent.
    Parameters,
    /// The private key is neither a seed, nor an expanded key, nor both (RFC 9935, §6; RFC 9881, §6).
    PrivateKey,
    /// The seed has the wrong length.
    SeedLength {
        /// The length for the algorithm.
        expected: usize,
        /// The length in the file.
        actual: usize,
    },
    /// The expanded key is not what the seed beside it makes: the file was damaged or forged.
    SeedMismatch,
    /// The public key in the file is not that of the private key.
    PublicKeyMismatch,
    /// The expanded ML-KEM key is not valid (FIPS 203, §7.3).
    DecapsulationKey(DecapsulationKeyError),
    /// The expanded ML-DSA key is not valid.
    SigningKey(SigningKeyError),
    /// The ML-KEM public key is not valid (FIPS 203, §7.2).
    EncapsulationKey(EncapsulationKeyError),
    /// The ML-DSA public key has the wrong length.
    VerifyingKeyLength {
        /// The length for the algorithm.
        expected: usize,
        /// The length in the file.
        actual: usize,
    },
    /// The key was imported without its seed, so no form with a seed can be written.
    NoSeed,
    /// The file is encrypted, and no passphrase was given.
    Encrypted,
    /// A passphrase was given, but it is empty.
    EmptyPassphrase,
    /// The passphrase is wrong, or the file was damaged.
    WrongPassphrase,
    /// The file is encrypted in a way that is not supported (PBES1, 3DES or SHA-1, for instance).
    UnsupportedEncryption,
    /// The file asks for more work on the passphrase than is reasonable: it may be an attack.
    ExcessiveWork,
    /// The operating system's random number generator failed.
    Random(gambeson::RngError),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pem => f.write_str("not PEM"),
            Self::Label { expected, found } => write!(f, "a PEM file of a {found}, not of a {expected}"),
            Self::Der => f.write_str("not the DER encoding of a key"),
            Self::Algorithm { oid } => write!(f, "a key of an unsupported algorithm ({oid})"),
            Self::Parameters => f.write_str("the algorithm identifier has parameters, which must be absent"),
            Self::PrivateKey => {
                f.write_str("the private key is neither a seed, nor an expanded key, nor both")
            }
            Self::SeedLength { expected, actual } => {
                write!(f, "the seed has {actual} bytes, where {expected} are needed")
            }
            Self::SeedMismatch => f.write_str("the expanded key is not what the seed beside it makes"),
            Self::PublicKeyMismatch => {
                f.write_str("the public key in the file is not that of the private key")
            }
            Self::DecapsulationKey(error) => error.fmt(f),
            Self::SigningKey(error) => error.fmt(f),
            Self::EncapsulationKey(error) => error.fmt(f),
            Self::VerifyingKeyLength { expected, actual } => {
                write!(f, "an ML-DSA public key of {actual} bytes, where {expected} are needed")
            }
            Self::NoSeed => f.write_str("the key was imported without its seed"),
            Self::Encrypted => f.write_str("the key is encrypted: a passphrase is needed"),
            Self::EmptyPassphrase => f.write_str("the passphrase is empty"),
            Self::WrongPassphrase => f.write_str("wrong passphrase, or a damaged file"),
            Self::UnsupportedEncryption => f.write_str("the key is encrypted in an unsupported way"),
            Self::ExcessiveWork => f.write_str("the file asks for excessive work on the passphrase"),
            Self::Random(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::DecapsulationKey(error) => Some(error),
            Self::SigningKey(error) => Some(error),
            Self::EncapsulationKey(error) => Some(error),
            Self::Random(error) => Some(error),
            _ => None,
        }
    }
}

impl From<DecapsulationKeyError> for Error {
    fn from(error: DecapsulationKeyError) -> Self {
        Self::DecapsulationKey(error)
    }
}

impl From<SigningKeyError> for Error {
    fn from(error: SigningKeyError) -> Self {
        Self::SigningKey(error)
    }
}

impl From<EncapsulationKeyError> for Error {
    fn from(error: EncapsulationKeyError) -> Self {
        Self::EncapsulationKey(error)
    }
}

impl From<gambeson::RngError> for Error {
    fn from(error: gambeson::RngError) -> Self {
        Self::Random(error)
    }
}
