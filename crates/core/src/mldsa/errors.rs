//! The errors of keys and signatures.

use core::fmt;

/// The bytes are not a verifying key of the parameter set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum VerifyingKeyError {
    /// Their number is wrong.
    Length {
        /// The length of the set's keys in bytes.
        expected: usize,
        /// The length that was given.
        actual: usize,
    },
}

impl fmt::Display for VerifyingKeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::Length { expected, actual } = self;
        write!(f, "a public key has {expected} bytes, not {actual}")
    }
}

impl core::error::Error for VerifyingKeyError {}

/// The signature is not one of this message, in this context, by this key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidSignature;

impl fmt::Display for InvalidSignature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the signature is invalid")
    }
}

impl core::error::Error for InvalidSignature {}

/// The bytes are not a private key in the standard's encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SigningKeyError {
    /// Their number is wrong.
    Length {
        /// The length of the set's keys in bytes.
        expected: usize,
        /// The length that was given.
        actual: usize,
    },
    /// A coefficient of s1 or s2 is not in -η..=η.
    Coefficient,
    /// t0 or the hash of the public key does not follow from ρ, s1 and s2.
    Mismatch,
}

impl fmt::Display for SigningKeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length { expected, actual } => {
                write!(f, "an encoded private key has {expected} bytes, not {actual}")
            }
            Self::Coefficient => f.write_str("a coefficient of s1 or s2 is out of range"),
            Self::Mismatch => f.write_str("t0 or tr does not belong to the rest of the private key"),
        }
    }
}

impl core::error::Error for SigningKeyError {}
