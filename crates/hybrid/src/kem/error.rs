//! What goes wrong.

use core::fmt;

/// Why there is no key or no secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// A key, a ciphertext or randomness of a wrong length.
    Length {
        /// The length that the mechanism has.
        expected: usize,
        /// The length that was given.
        actual: usize,
    },
    /// A coefficient of the ML-KEM part of a key is not below q (FIPS 203, §7.2).
    Modulus,
    /// The bytes for the curve are not a point of it in uncompressed form.
    Point,
    /// The scalar is zero or not below the order of the curve, or not in the `ECPrivateKey` of this curve.
    Scalar,
    /// The other side's share makes X25519 or X448 give all zeros (RFC 7748, §6).
    NonContributory,
    /// The random number generator failed.
    Random,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length { expected, actual } => {
                write!(f, "{actual} bytes, where the mechanism has {expected}")
            }
            Self::Modulus => f.write_str("not a hybrid key: a coefficient of the ML-KEM part is not below q"),
            Self::Point => f.write_str("not a hybrid share: the curve's part is not a point of the curve"),
            Self::Scalar => f.write_str("not a private key: the curve's part is not a scalar of the curve"),
            Self::NonContributory => {
                f.write_str("the share is a point of low order: the curve's secret would be all zeros")
            }
            Self::Random => gambeson::RngError.fmt(f),
        }
    }
}

impl core::error::Error for Error {}
