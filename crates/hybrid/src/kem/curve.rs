//! Diffie-Hellman on four curves, by bytes.

use crrl::p256::{Point, Scalar};
use gambeson::rand_core::TryCryptoRng;
use gambeson::secret::{Secret, equal};
use p384::elliptic_curve::ecdh;
use p384::elliptic_curve::sec1::ToSec1Point;

use super::Error;

/// The curve of a hybrid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Curve {
    /// X25519 (RFC 7748).
    X25519,
    /// X448 (RFC 7748).
    X448,
    /// P-256, alias secp256r1.
    P256,
    /// P-384, alias secp384r1.
    P384,
}

/// How often a scalar is drawn: of 2^32 strings one is none of P-256, so that a generator which fails this often is broken.
const DRAWS: usize = 16;

impl Curve {
    /// Bytes of a scalar, and of what two agree on.
    #[must_use]
    pub const fn secret_len(self) -> usize {
        match self {
            Self::X25519 | Self::P256 => 32,
            Self::X448 => 56,
            Self::P384 => 48,
        }
    }

    /// Bytes of a public key: a u-coordinate, or an uncompressed point.
    #[must_use]
    pub const fn public_len(self) -> usize {
        match self {
            Self::X25519 => 32,
            Self::X448 => 56,
            Self::P256 => 65,
            Self::P384 => 97,
        }
    }

    /// What the composite drafts put before and behind a scalar: nothing, or the `ECPrivateKey` of RFC 5915 with the curve's
    /// name and without the public key.
    pub(crate) const fn private_key_wrapping(self) -> (&'static [u8], &'static [u8]) {
        match self {
            Self::X25519 | Self::X448 => (&[], &[]),
            Self::P256 => (
                &[0x30, 0x31, 0x02, 0x01, 0x01, 0x04, 0x20],
                &[0xa0, 0x0a, 0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07],
            ),
            Self::P384 => (
                &[0x30, 0x3e, 0x02, 0x01, 0x01, 0x04, 0x30],
                &[0xa0, 0x07, 0x06, 0x05, 0x2b, 0x81, 0x04, 0x00, 0x22],
            ),
        }
    }

    /// Draws a scalar.
    pub(crate) fn draw<R: TryCryptoRng + ?Sized>(self, rng: &mut R, scalar: &mut [u8]) -> Result<(), Error> {
        for _ in 0..DRAWS {
            rng.try_fill_bytes(scalar).map_err(|_| Error::Random)?;
            let valid = match self {
                Self::X25519 | Self::X448 => true,
                Self::P256 => p256_scalar(scalar).is_ok(),
                Self::P384 => p384_scalar(scalar).is_ok(),
            };
            if valid {
                return Ok(());
            }
        }
        Err(Error::Random)
    }

    /// Whether `public`, of the right length, can be a public key.
    pub(super) fn check(self, public: &[u8]) -> Result<(), Error> {
        match self {
            Self::X25519 | Self::X448 => Ok(()),
            Self::P256 => p256_point(public).map(drop),
            Self::P384 => p384_point(public).map(drop),
        }
    }

    /// Writes the public key of a scalar of the right length.
    pub(crate) fn public_key(self, scalar: &[u8], out: &mut [u8]) -> Result<(), Error> {
        match self {
            Self::X25519 => out.copy_from_slice(&crrl::x25519::x25519_base(array(scalar)?)),
            Self::X448 => out.copy_from_slice(&crrl::x448::x448_base(array(scalar)?)),
            Self::P256 => out.copy_from_slice(&Point::mulgen(&p256_scalar(scalar)?).encode_uncompressed()),
            Self::P384 => {
                out.copy_from_slice(p384_scalar(scalar)?.public_key().to_sec1_point(false).as_bytes());
            }
        }
        Ok(())
    }

    /// Writes what the owner of `scalar` and that of `public` agree on. On P-256 and P-384 this is the x-coordinate
    /// (SEC 1, 3.3.1).
    pub(super) fn agree(self, scalar: &[u8], public: &[u8], out: &mut [u8]) -> Result<(), Error> {
        match self {
            Self::X25519 => out.copy_from_slice(&crrl::x25519::x25519(array(public)?, array(scalar)?)),
            Self::X448 => out.copy_from_slice(&crrl::x448::x448(array(public)?, array(scalar)?)),
            Self::P256 => {
                let point = p256_point(public)? * p256_scalar(scalar)?;
                out.copy_from_slice(&point.encode_uncompressed()[1..33]);
            }
            Self::P384 => {
                let (scalar, public) = (p384_scalar(scalar)?, p384_point(public)?);
                let secret = ecdh::diffie_hellman(scalar.to_nonzero_scalar(), public.as_affine());
                out.copy_from_slice(secret.raw_secret_bytes());
            }
        }
        Ok(())
    }

    /// RFC 7748, §6: the check for the all-zero value, in constant time. The other curves have no such value.
    pub(super) fn is_all_zero(self, secret: &[u8]) -> bool {
        matches!(self, Self::X25519 | Self::X448) && equal(secret, &[0; 56][..secret.len()])
    }
}

fn array<const N: usize>(bytes: &[u8]) -> Result<&[u8; N], Error> {
    bytes.try_into().map_err(|_| Error::Length { expected: N, actual: bytes.len() })
}

/// Big-endian, not zero, below the order.
fn p256_scalar(bytes: &[u8]) -> Result<Scalar, Error> {
    let mut reversed = Secret::new(*array::<32>(bytes)?);
    reversed.expose_mut().reverse();
    let (scalar, below) = Scalar::decode32(reversed.expose());
    let valid = below & !scalar.iszero();
    // The verdict is public, unlike the scalar.
    if equal(&valid.to_le_bytes(), &[0xff; 4]) { Ok(scalar) } else { Err(Error::Scalar) }
}

/// Uncompressed (SEC 1, 2.3.4): on the curve, and not at infinity, which has no such form.
fn p256_point(bytes: &[u8]) -> Result<Point, Error> {
    Point::decode(array::<65>(bytes)?).ok_or(Error::Point)
}

pub(crate) fn p384_scalar(bytes: &[u8]) -> Result<p384::SecretKey, Error> {
    p384::SecretKey::from_slice(array::<48>(bytes)?).map_err(|_| Error::Scalar)
}

fn p384_point(bytes: &[u8]) -> Result<p384::PublicKey, Error> {
    p384::PublicKey::from_sec1_bytes(array::<97>(bytes)?).map_err(|_| Error::Point)
}
