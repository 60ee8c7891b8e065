//! The classical half: Ed25519, Ed448, or ECDSA.

use ecdsa::der::{MaxOverhead, MaxSize};
use ecdsa::{DigestAlgorithm, EcdsaCurve, Signature, hazmat};
use ed25519_dalek::hazmat::{ExpandedSecretKey, raw_sign};
use elliptic_curve::array::ArraySize;
use elliptic_curve::{CurveArithmetic, FieldBytesSize, PublicKey};
use gambeson::rand_core::TryCryptoRng;
use gambeson::secret::Secret;
use p256::NistP256;
use p384::NistP384;
use sha2::{Digest, Sha512};

use super::{InvalidSignature, KeyError};
#[cfg(feature = "curve448")]
use crate::ed448;
use crate::kem::Curve;
use crate::kem::curve::scalar_of;

/// The classical scheme of a composite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Classical {
    /// Ed25519 (RFC 8032, §5.1).
    Ed25519,
    /// Ed448 (RFC 8032, §5.2) with the empty context.
    #[cfg(feature = "curve448")]
    Ed448,
    /// ECDSA on P-256 with SHA-256 (FIPS 186-5).
    EcdsaP256,
    /// ECDSA on P-384 with SHA-384 (FIPS 186-5).
    EcdsaP384,
}

impl Classical {
    pub(super) const fn public_key_len(self) -> usize {
        match self {
            Self::Ed25519 => 32,
            #[cfg(feature = "curve448")]
            Self::Ed448 => 57,
            Self::EcdsaP256 => 65,
            Self::EcdsaP384 => 97,
        }
    }

    pub(super) const fn private_key_len(self) -> usize {
        let (head, tail) = self.wrapping();
        head.len() + self.secret_len() + tail.len()
    }

    pub(super) const fn max_signature_len(self) -> usize {
        match self {
            Self::Ed25519 => 64,
            #[cfg(feature = "curve448")]
            Self::Ed448 => 114,
            Self::EcdsaP256 => 72,
            Self::EcdsaP384 => 104,
        }
    }

    /// Bytes of a seed or a scalar.
    const fn secret_len(self) -> usize {
        match self {
            Self::Ed25519 | Self::EcdsaP256 => 32,
            #[cfg(feature = "curve448")]
            Self::Ed448 => 57,
            Self::EcdsaP384 => 48,
        }
    }

    /// What stands around it in a private key.
    const fn wrapping(self) -> (&'static [u8], &'static [u8]) {
        match self {
            Self::EcdsaP256 => Curve::P256.private_key_wrapping(),
            Self::EcdsaP384 => Curve::P384.private_key_wrapping(),
            _ => (&[], &[]),
        }
    }

    /// Draws a private key.
    pub(super) fn draw<R: TryCryptoRng + ?Sized>(self, rng: &mut R, out: &mut [u8]) -> Result<(), KeyError> {
        let (head, tail) = self.wrapping();
        let secret = head.len()..out.len() - tail.len();
        out[..head.len()].copy_from_slice(head);
        out[secret.end..].copy_from_slice(tail);
        let out = &mut out[secret];
        match self {
            Self::EcdsaP256 => Curve::P256.draw(rng, out).map_err(|_| KeyError::Random),
            Self::EcdsaP384 => Curve::P384.draw(rng, out).map_err(|_| KeyError::Random),
            _ => rng.try_fill_bytes(out).map_err(|_| KeyError::Random),
        }
    }
}

/// A private key of any scheme.
///
/// It is filled where it lies: what is moved takes along, in the room that its variant does not use, what stood on the stack.
pub(super) enum Private {
    Ed25519(ExpandedSecretKey, ed25519_dalek::VerifyingKey),
    #[cfg(feature = "curve448")]
    Ed448(ed448::SigningKey),
    EcdsaP256(Ecdsa<32, 65>),
    EcdsaP384(Ecdsa<48, 97>),
}

impl Private {
    /// Room for a key, and none in it.
    pub(super) fn empty(scheme: Classical) -> Self {
        match scheme {
            Classical::Ed25519 => {
                Self::Ed25519(ExpandedSecretKey::from_bytes(&[0; 64]), ed25519_dalek::VerifyingKey::default())
            }
            #[cfg(feature = "curve448")]
            Classical::Ed448 => Self::Ed448(ed448::SigningKey::empty()),
            Classical::EcdsaP256 => Self::EcdsaP256(Ecdsa::empty()),
            Classical::EcdsaP384 => Self::EcdsaP384(Ecdsa::empty()),
        }
    }

    /// Puts in the key of a private key's bytes.
    pub(super) fn fill(&mut self, scheme: Classical, bytes: &[u8]) -> Result<(), KeyError> {
        let (head, tail) = scheme.wrapping();
        let bytes = bytes.strip_prefix(head).and_then(|bytes| bytes.strip_suffix(tail));
        let bytes = bytes.ok_or(KeyError::Classical)?;
        match self {
            Self::Ed25519(key, public) => {
                let seed: &[u8; 32] = bytes.try_into().map_err(|_| KeyError::Classical)?;
                *key = ExpandedSecretKey::from(seed);
                *public = ed25519_dalek::VerifyingKey::from(&*key);
                Ok(())
            }
            #[cfg(feature = "curve448")]
            Self::Ed448(key) => {
                key.expand(bytes.try_into().map_err(|_| KeyError::Classical)?);
                Ok(())
            }
            Self::EcdsaP256(key) => key.fill(Curve::P256, bytes),
            Self::EcdsaP384(key) => key.fill(Curve::P384, bytes),
        }
    }

    pub(super) fn public_key(&self) -> &[u8] {
        match self {
            Self::Ed25519(_, public) => public.as_bytes(),
            #[cfg(feature = "curve448")]
            Self::Ed448(key) => key.public_bytes(),
            Self::EcdsaP256(key) => &key.public,
            Self::EcdsaP384(key) => &key.public,
        }
    }

    /// Writes a signature and tells its length.
    pub(super) fn sign(&self, message: &[u8], rnd: Option<&[u8; 32]>, out: &mut [u8]) -> usize {
        let more = rnd.map_or(&[][..], |rnd| rnd);
        match self {
            Self::Ed25519(key, public) => {
                out[..64].copy_from_slice(&raw_sign::<Sha512>(key, message, public).to_bytes());
                64
            }
            #[cfg(feature = "curve448")]
            Self::Ed448(key) => {
                out[..114].copy_from_slice(&key.sign(message));
                114
            }
            Self::EcdsaP256(key) => sign::<NistP256>(key.scalar.expose(), message, more, out),
            Self::EcdsaP384(key) => sign::<NistP384>(key.scalar.expose(), message, more, out),
        }
    }
}

/// ECDSA with the curve's own hash and the nonce of RFC 6979, into which `more` goes too; in DER.
fn sign<C>(scalar: &[u8], message: &[u8], more: &[u8], out: &mut [u8]) -> usize
where
    C: CurveArithmetic + DigestAlgorithm,
    MaxSize<C>: ArraySize,
    <FieldBytesSize<C> as core::ops::Add>::Output: core::ops::Add<MaxOverhead> + ArraySize,
{
    let scalar = scalar_of::<C>(scalar).expect("checked by `fill`").to_nonzero_scalar();
    let digest = C::Digest::digest(message);
    let (signature, _) = hazmat::sign_prehashed_rfc6979::<C, C::Digest>(&scalar, &digest, more);
    let der = signature.to_der();
    out[..der.len()].copy_from_slice(der.as_bytes());
    der.len()
}

fn verify<C>(key: &PublicKey<C>, message: &[u8], signature: &[u8]) -> bool
where
    C: EcdsaCurve + CurveArithmetic + DigestAlgorithm,
    MaxSize<C>: ArraySize,
    <FieldBytesSize<C> as core::ops::Add>::Output: core::ops::Add<MaxOverhead> + ArraySize,
{
    let digest = C::Digest::digest(message);
    Signature::<C>::from_der(signature)
        .is_ok_and(|signature| hazmat::verify_prehashed(&key.to_projective(), &digest, &signature).is_ok())
}

/// A scalar and its point.
pub(super) struct Ecdsa<const SCALAR: usize, const POINT: usize> {
    scalar: Secret<[u8; SCALAR]>,
    public: [u8; POINT],
}

impl<const SCALAR: usize, const POINT: usize> Ecdsa<SCALAR, POINT> {
    const fn empty() -> Self {
        Self { scalar: Secret::new([0; SCALAR]), public: [0; POINT] }
    }

    fn fill(&mut self, curve: Curve, scalar: &[u8]) -> Result<(), KeyError> {
        curve.public_key(scalar, &mut self.public).map_err(|_| KeyError::Classical)?;
        self.scalar.expose_mut().copy_from_slice(scalar);
        Ok(())
    }
}

/// A public key of any scheme.
#[derive(Clone)]
pub(super) enum Public {
    Ed25519(ed25519_dalek::VerifyingKey),
    #[cfg(feature = "curve448")]
    Ed448(ed448::VerifyingKey),
    EcdsaP256(p256::PublicKey),
    EcdsaP384(p384::PublicKey),
}

impl Public {
    /// `bytes` has the length of the scheme.
    pub(super) fn from_bytes(scheme: Classical, bytes: &[u8]) -> Result<Self, KeyError> {
        let key = match scheme {
            Classical::Ed25519 if is_reduced(bytes) => {
                ed25519_dalek::VerifyingKey::try_from(bytes).ok().map(Self::Ed25519)
            }
            Classical::Ed25519 => None,
            #[cfg(feature = "curve448")]
            Classical::Ed448 => {
                let bytes = bytes.try_into().ok();
                bytes.and_then(|bytes| ed448::VerifyingKey::from_bytes(bytes).ok()).map(Self::Ed448)
            }
            Classical::EcdsaP256 => p256::PublicKey::from_sec1_bytes(bytes).ok().map(Self::EcdsaP256),
            Classical::EcdsaP384 => p384::PublicKey::from_sec1_bytes(bytes).ok().map(Self::EcdsaP384),
        };
        key.ok_or(KeyError::Classical)
    }

    pub(super) fn verify(&self, message: &[u8], signature: &[u8]) -> Result<(), InvalidSignature> {
        let valid = match self {
            Self::Ed25519(key) => {
                let signature = signature.try_into().map(ed25519_dalek::Signature::from_bytes);
                signature.is_ok_and(|signature| key.verify_strict(message, &signature).is_ok())
            }
            #[cfg(feature = "curve448")]
            Self::Ed448(key) => key.verify(message, signature).is_ok(),
            Self::EcdsaP256(key) => verify(key, message, signature),
            Self::EcdsaP384(key) => verify(key, message, signature),
        };
        if valid { Ok(()) } else { Err(InvalidSignature) }
    }
}

/// Whether y is below 2^255 - 19 (RFC 8032, §5.1.3), which the crate does not ask.
fn is_reduced(point: &[u8]) -> bool {
    match point {
        [low, middle @ .., high] => {
            *low < 0xed || high | 0x80 != 0xff || middle.iter().any(|byte| *byte != 0xff)
        }
        _ => false,
    }
}
