//! Diffie-Hellman on four curves, by bytes.

use elliptic_curve::sec1::{FromSec1Point, ModulusSize, ToSec1Point};
use elliptic_curve::{AffinePoint, CurveArithmetic, FieldBytesSize, PublicKey, SecretKey, ecdh};
use gambeson::rand_core::TryCryptoRng;
use gambeson::secret::{StackGuard, equal};
use p256::NistP256;
use p384::NistP384;
use x25519_dalek::StaticSecret;

use super::Error;
#[cfg(feature = "curve448")]
use crate::curve448;

/// The curve of a hybrid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Curve {
    /// X25519 (RFC 7748).
    X25519,
    /// X448 (RFC 7748).
    #[cfg(feature = "curve448")]
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
            #[cfg(feature = "curve448")]
            Self::X448 => 56,
            Self::P384 => 48,
        }
    }

    /// Bytes of a public key: a u-coordinate, or an uncompressed point.
    #[must_use]
    pub const fn public_len(self) -> usize {
        match self {
            Self::X25519 => 32,
            #[cfg(feature = "curve448")]
            Self::X448 => 56,
            Self::P256 => 65,
            Self::P384 => 97,
        }
    }

    /// Makes the table of the base point now, where there is one; else the first operation does (feature `std`). A process that is forked
    /// while another thread makes it would wait for it for ever.
    pub fn prepare(self) {
        let (mut scalar, mut public) = ([0; 56], [0; 97]);
        // One, as P-256 and P-384 write it.
        scalar[self.secret_len() - 1] = 1;
        let _ = self.public_key(&scalar[..self.secret_len()], &mut public[..self.public_len()]);
    }

    /// What the composite drafts put before and behind a scalar: nothing, or the `ECPrivateKey` of RFC 5915 with the curve's
    /// name and without the public key.
    pub(crate) const fn private_key_wrapping(self) -> (&'static [u8], &'static [u8]) {
        match self {
            Self::P256 => (
                &[0x30, 0x31, 0x02, 0x01, 0x01, 0x04, 0x20],
                &[0xa0, 0x0a, 0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07],
            ),
            Self::P384 => (
                &[0x30, 0x3e, 0x02, 0x01, 0x01, 0x04, 0x30],
                &[0xa0, 0x07, 0x06, 0x05, 0x2b, 0x81, 0x04, 0x00, 0x22],
            ),
            _ => (&[], &[]),
        }
    }

    /// Draws a scalar.
    pub(crate) fn draw<R: TryCryptoRng + ?Sized>(self, rng: &mut R, scalar: &mut [u8]) -> Result<(), Error> {
        self.first_scalar(|scalar| rng.try_fill_bytes(scalar).map_err(|_| Error::Random), scalar)
    }

    /// The first string that is a scalar, of those that `fill` writes one after the other.
    pub(super) fn first_scalar(
        self,
        mut fill: impl FnMut(&mut [u8]) -> Result<(), Error>,
        scalar: &mut [u8],
    ) -> Result<(), Error> {
        for _ in 0..DRAWS {
            fill(scalar)?;
            if self.is_scalar(scalar) {
                return Ok(());
            }
        }
        Err(Error::Random)
    }

    /// Returns true if a string of the right length is a scalar. The stack is wiped: a key that is moved takes along what stood where its variants differ.
    fn is_scalar(self, scalar: &[u8]) -> bool {
        #[inline(never)]
        fn work(curve: Curve, scalar: &[u8]) -> bool {
            match curve {
                Curve::P256 => scalar_of::<NistP256>(scalar).is_ok(),
                Curve::P384 => scalar_of::<NistP384>(scalar).is_ok(),
                _ => true,
            }
        }
        let _guard = StackGuard::<1024>;
        work(self, scalar)
    }

    /// Whether `public`, of the right length, can be a public key.
    pub(super) fn check(self, public: &[u8]) -> Result<(), Error> {
        match self {
            Self::P256 => point::<NistP256>(public).map(drop),
            Self::P384 => point::<NistP384>(public).map(drop),
            _ => Ok(()),
        }
    }

    /// Writes the public key of a scalar of the right length.
    pub(crate) fn public_key(self, scalar: &[u8], out: &mut [u8]) -> Result<(), Error> {
        match self {
            Self::X25519 => {
                let scalar = StaticSecret::from(*array(scalar)?);
                out.copy_from_slice(x25519_dalek::PublicKey::from(&scalar).as_bytes());
            }
            #[cfg(feature = "curve448")]
            Self::X448 => out.copy_from_slice(&curve448::x448_base(array(scalar)?)),
            Self::P256 => weierstrass_public::<NistP256>(scalar, out)?,
            Self::P384 => weierstrass_public::<NistP384>(scalar, out)?,
        }
        Ok(())
    }

    /// Writes what the owner of `scalar` and that of `public` agree on.
    pub(super) fn agree(self, scalar: &[u8], public: &[u8], out: &mut [u8]) -> Result<(), Error> {
        match self {
            Self::X25519 => {
                let scalar = StaticSecret::from(*array(scalar)?);
                let public = x25519_dalek::PublicKey::from(*array::<32>(public)?);
                out.copy_from_slice(scalar.diffie_hellman(&public).as_bytes());
            }
            #[cfg(feature = "curve448")]
            Self::X448 => out.copy_from_slice(&curve448::x448(array(scalar)?, array(public)?)),
            Self::P256 => weierstrass_agree::<NistP256>(scalar, public, out)?,
            Self::P384 => weierstrass_agree::<NistP384>(scalar, public, out)?,
        }
        Ok(())
    }

    /// RFC 7748, §6: the check for the all-zero value, in constant time. The other curves have no such value.
    pub(super) fn is_all_zero(self, secret: &[u8]) -> bool {
        !matches!(self, Self::P256 | Self::P384) && equal(secret, &[0; 56][..secret.len()])
    }
}

fn array<const N: usize>(bytes: &[u8]) -> Result<&[u8; N], Error> {
    bytes.try_into().map_err(|_| Error::Length { expected: N, actual: bytes.len() })
}

/// Big-endian, not zero, below the order.
pub(crate) fn scalar_of<C: CurveArithmetic>(bytes: &[u8]) -> Result<SecretKey<C>, Error> {
    // The crate also takes shorter ones.
    let bytes = bytes.try_into().map_err(|_| Error::Scalar)?;
    SecretKey::from_bytes(bytes).map_err(|_| Error::Scalar)
}

/// Of an uncompressed point (SEC 1, 2.3.4), on the curve, and not at infinity, which has no such form.
pub(crate) fn point<C>(bytes: &[u8]) -> Result<PublicKey<C>, Error>
where
    C: CurveArithmetic,
    AffinePoint<C>: FromSec1Point<C> + ToSec1Point<C>,
    FieldBytesSize<C>: ModulusSize,
{
    PublicKey::from_sec1_bytes(bytes).map_err(|_| Error::Point)
}

pub(crate) fn weierstrass_public<C>(scalar: &[u8], out: &mut [u8]) -> Result<(), Error>
where
    C: CurveArithmetic,
    AffinePoint<C>: FromSec1Point<C> + ToSec1Point<C>,
    FieldBytesSize<C>: ModulusSize,
{
    out.copy_from_slice(scalar_of::<C>(scalar)?.public_key().to_sec1_point(false).as_bytes());
    Ok(())
}

/// The x-coordinate (SEC 1, 3.3.1).
pub(crate) fn weierstrass_agree<C>(scalar: &[u8], public: &[u8], out: &mut [u8]) -> Result<(), Error>
where
    C: CurveArithmetic,
    AffinePoint<C>: FromSec1Point<C> + ToSec1Point<C>,
    FieldBytesSize<C>: ModulusSize,
{
    let (scalar, public) = (scalar_of::<C>(scalar)?, point::<C>(public)?);
    let secret = ecdh::diffie_hellman(scalar.to_nonzero_scalar(), public.as_affine());
    out.copy_from_slice(secret.raw_secret_bytes());
    Ok(())
}
