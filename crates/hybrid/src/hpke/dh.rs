//! DHKEM: Diffie-Hellman on a curve as a KEM (RFC 9180, §4.1).

use core::fmt;
use core::marker::PhantomData;

#[cfg(feature = "curves")]
use elliptic_curve::sec1::{FromSec1Point, ModulusSize, ToSec1Point};
#[cfg(feature = "curves")]
use elliptic_curve::{AffinePoint, CurveArithmetic, FieldBytesSize};
use gambeson::secret::{Secret, StackGuard, equal};
use x25519_dalek::{PublicKey, StaticSecret};

use super::kdf::HkdfSha256;
#[cfg(feature = "curves")]
use super::kdf::HkdfSha384;
#[cfg(any(feature = "curve448", feature = "p521"))]
use super::kdf::HkdfSha512;
use super::kem::Kem;
use super::sealed::Sealed;
use super::{DEPTH, Error};
#[cfg(feature = "curve448")]
use crate::curve448;
#[cfg(feature = "curves")]
use crate::kem::curve;

/// Bytes of the longest scalar and of the longest point, those of P-521.
const MAX_SCALAR: usize = 66;
const MAX_POINT: usize = 133;

/// Candidates for a scalar: as many as one byte counts (§7.1.3).
const CANDIDATES: u8 = 255;

/// A curve, by bytes of the right length.
trait Group {
    /// Whether the bytes are a public key.
    fn check(point: &[u8]) -> Result<(), Error>;
    fn public_key(scalar: &[u8], point: &mut [u8]) -> Result<(), Error>;
    fn agree(scalar: &[u8], point: &[u8], secret: &mut [u8]) -> Result<(), Error>;
    /// What `SerializePrivateKey` does to a scalar (§7.1.2).
    fn clamp(_: &mut [u8]) {}
}

enum X25519 {}

impl Group for X25519 {
    fn check(_: &[u8]) -> Result<(), Error> {
        Ok(())
    }

    fn public_key(scalar: &[u8], point: &mut [u8]) -> Result<(), Error> {
        let scalar = StaticSecret::from(array::<32>(scalar)?);
        point.copy_from_slice(PublicKey::from(&scalar).as_bytes());
        Ok(())
    }

    fn agree(scalar: &[u8], point: &[u8], secret: &mut [u8]) -> Result<(), Error> {
        let (scalar, point) =
            (StaticSecret::from(array::<32>(scalar)?), PublicKey::from(array::<32>(point)?));
        secret.copy_from_slice(scalar.diffie_hellman(&point).as_bytes());
        Ok(())
    }

    fn clamp(scalar: &mut [u8]) {
        scalar[0] &= 0xf8;
        scalar[31] = scalar[31] & 0x7f | 0x40;
    }
}

#[cfg(feature = "curve448")]
enum X448 {}

#[cfg(feature = "curve448")]
impl Group for X448 {
    fn check(_: &[u8]) -> Result<(), Error> {
        Ok(())
    }

    fn public_key(scalar: &[u8], point: &mut [u8]) -> Result<(), Error> {
        point.copy_from_slice(&curve448::x448_base(&array(scalar)?));
        Ok(())
    }

    fn agree(scalar: &[u8], point: &[u8], secret: &mut [u8]) -> Result<(), Error> {
        secret.copy_from_slice(&curve448::x448(&array(scalar)?, &array(point)?));
        Ok(())
    }

    fn clamp(scalar: &mut [u8]) {
        scalar[0] &= 0xfc;
        scalar[55] |= 0x80;
    }
}

#[cfg(feature = "curves")]
impl<C> Group for C
where
    C: CurveArithmetic,
    AffinePoint<C>: FromSec1Point<C> + ToSec1Point<C>,
    FieldBytesSize<C>: ModulusSize,
{
    fn check(point: &[u8]) -> Result<(), Error> {
        curve::point::<C>(point).map(drop).map_err(|_| Error::Key)
    }

    fn public_key(scalar: &[u8], point: &mut [u8]) -> Result<(), Error> {
        curve::weierstrass_public::<C>(scalar, point).map_err(|_| Error::Key)
    }

    fn agree(scalar: &[u8], point: &[u8], secret: &mut [u8]) -> Result<(), Error> {
        curve::weierstrass_agree::<C>(scalar, point, secret).map_err(|_| Error::Key)
    }
}

fn array<const N: usize>(bytes: &[u8]) -> Result<[u8; N], Error> {
    bytes.try_into().map_err(|_| Error::Key)
}

/// A public key of the KEM `K`: a point or u-coordinate that has passed every check without a private key.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct DhEncapsulationKey<K> {
    point: [u8; MAX_POINT],
    kem: PhantomData<K>,
}

impl<K: Kem> fmt::Debug for DhEncapsulationKey<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "hpke::DhEncapsulationKey({:#06x}, {:02x?}..)", K::ID, &self.point[..8])
    }
}

/// A private key of the KEM `K`: a scalar, wiped when dropped.
pub struct DhDecapsulationKey<K> {
    scalar: Secret<[u8; MAX_SCALAR]>,
    point: [u8; MAX_POINT],
    kem: PhantomData<K>,
}

impl<K: Kem> fmt::Debug for DhDecapsulationKey<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "hpke::DhDecapsulationKey({:#06x}, [redacted])", K::ID)
    }
}

macro_rules! dh_kem {
    ($($(#[$feature:meta])? $name:ident, $curve:ty, $hkdf:ident, $id:literal, $npk:literal, $nsk:literal, $nsecret:literal,
       $mask:expr, $text:literal;)*) => {$(
        $(#[$feature])?
        #[doc = $text]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name {}

        $(#[$feature])?
        impl Sealed for $name {}

        $(#[$feature])?
        impl $name {
            /// `suite_id` of §4.1.
            const SUITE: [u8; 5] = [b'K', b'E', b'M', ($id >> 8) as u8, $id as u8];

            #[inline(never)]
            fn key(scalar: &[u8]) -> Result<DhDecapsulationKey<Self>, Error> {
                let mut key = DhDecapsulationKey {
                    scalar: Secret::new([0; MAX_SCALAR]),
                    point: [0; MAX_POINT],
                    kem: PhantomData,
                };
                <$curve>::public_key(scalar, &mut key.point[..$npk])?;
                key.scalar.expose_mut()[..$nsk].copy_from_slice(scalar);
                Ok(key)
            }

            #[inline(never)]
            fn derived(ikm: &[u8]) -> Result<DhDecapsulationKey<Self>, Error> {
                let prk = $hkdf::labeled_extract(&Self::SUITE, b"", b"dkp_prk", ikm);
                let mut scalar = Secret::new([0; $nsk]);
                let scalar = scalar.expose_mut();
                let Some(mask) = $mask else {
                    $hkdf::labeled_expand(&Self::SUITE, prk.expose(), b"sk", [b"", b""], scalar)?;
                    return Self::key(scalar);
                };
                for counter in 0..=CANDIDATES {
                    let info = [&[counter][..], b""];
                    $hkdf::labeled_expand(&Self::SUITE, prk.expose(), b"candidate", info, scalar)?;
                    scalar[0] &= mask;
                    if let Ok(key) = Self::key(scalar) {
                        return Ok(key);
                    }
                }
                Err(Error::Key)
            }

            /// `ExtractAndExpand` of what `scalar` and `point` agree on.
            #[inline(never)]
            fn agree(
                scalar: &[u8],
                point: &[u8],
                enc: &[u8],
                recipient: &[u8],
                secret: &mut [u8],
            ) -> Result<(), Error> {
                let mut dh = Secret::new([0; $nsk]);
                let dh = dh.expose_mut();
                <$curve>::agree(scalar, point, dh)?;
                if $mask.is_none() && equal(dh, &[0; $nsk]) {
                    return Err(Error::NonContributory);
                }
                let prk = $hkdf::labeled_extract(&Self::SUITE, b"", b"eae_prk", dh);
                $hkdf::labeled_expand(&Self::SUITE, prk.expose(), b"shared_secret", [enc, recipient], secret)
            }
        }

        $(#[$feature])?
        impl Kem for $name {
            const ID: u16 = $id;
            const NPK: usize = $npk;
            const NSK: usize = $nsk;
            const NENC: usize = $npk;
            const NSECRET: usize = $nsecret;
            type EncapsulationKey = DhEncapsulationKey<Self>;
            type DecapsulationKey = DhDecapsulationKey<Self>;
            type Enc = [u8; $npk];
            type Randomness = [u8; $nsk];
            const NO_RANDOMNESS: [u8; $nsk] = [0; $nsk];

            fn derive_key_pair(ikm: &[u8]) -> Result<Self::DecapsulationKey, Error> {
                let _guard = StackGuard::<DEPTH>;
                Self::derived(ikm)
            }

            fn encapsulation_key(bytes: &[u8]) -> Result<Self::EncapsulationKey, Error> {
                if bytes.len() != $npk {
                    return Err(Error::Key);
                }
                <$curve>::check(bytes)?;
                let mut point = [0; MAX_POINT];
                point[..$npk].copy_from_slice(bytes);
                Ok(DhEncapsulationKey { point, kem: PhantomData })
            }

            fn decapsulation_key(bytes: &[u8]) -> Result<Self::DecapsulationKey, Error> {
                if bytes.len() != $nsk {
                    return Err(Error::Key);
                }
                let _guard = StackGuard::<DEPTH>;
                Self::key(bytes)
            }

            fn public_key(dk: &Self::DecapsulationKey, out: &mut [u8]) {
                out.copy_from_slice(&dk.point[..$npk]);
            }

            fn private_key(dk: &Self::DecapsulationKey, out: &mut [u8]) -> Result<(), Error> {
                out.copy_from_slice(&dk.scalar.expose()[..$nsk]);
                <$curve as Group>::clamp(out);
                Ok(())
            }

            fn encap(
                ek: &Self::EncapsulationKey,
                randomness: &Self::Randomness,
                secret: &mut [u8],
            ) -> Result<Self::Enc, Error> {
                let _guard = StackGuard::<DEPTH>;
                let ephemeral = Self::derived(randomness)?;
                let mut enc = [0; $npk];
                Self::public_key(&ephemeral, &mut enc);
                let recipient = &ek.point[..$npk];
                Self::agree(&ephemeral.scalar.expose()[..$nsk], recipient, &enc, recipient, secret)?;
                Ok(enc)
            }

            fn decap(
                enc: &Self::Enc,
                dk: &Self::DecapsulationKey,
                secret: &mut [u8],
            ) -> Result<(), Error> {
                let _guard = StackGuard::<DEPTH>;
                Self::agree(&dk.scalar.expose()[..$nsk], enc, enc, &dk.point[..$npk], secret)
            }
        }
    )*};
}

dh_kem! {
    DhKemX25519, X25519, HkdfSha256, 0x0020, 32, 32, 32, None::<u8>, "DHKEM(X25519, HKDF-SHA256), KEM 0x0020.";
    #[cfg(feature = "curve448")]
    DhKemX448, X448, HkdfSha512, 0x0021, 56, 56, 64, None::<u8>, "DHKEM(X448, HKDF-SHA512), KEM 0x0021.";
    #[cfg(feature = "curves")]
    DhKemP256, p256::NistP256, HkdfSha256, 0x0010, 65, 32, 32, Some(0xff), "DHKEM(P-256, HKDF-SHA256), KEM 0x0010.";
    #[cfg(feature = "curves")]
    DhKemP384, p384::NistP384, HkdfSha384, 0x0011, 97, 48, 48, Some(0xff), "DHKEM(P-384, HKDF-SHA384), KEM 0x0011.";
    #[cfg(feature = "p521")]
    DhKemP521, p521::NistP521, HkdfSha512, 0x0012, 133, 66, 64, Some(0x01), "DHKEM(P-521, HKDF-SHA512), KEM 0x0012.";
}
