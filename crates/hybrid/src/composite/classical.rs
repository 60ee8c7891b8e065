//! The classical half: Ed25519, Ed448, or ECDSA.

use ecdsa::hazmat;
use gambeson::rand_core::TryCryptoRng;
use gambeson::secret::Secret;
use p384::NistP384;
use sha2::{Digest, Sha256, Sha384, Sha512};

use super::{InvalidSignature, KeyError};
use crate::ed448;
use crate::kem::Curve;
use crate::kem::curve::p384_scalar;

/// The classical scheme of a composite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Classical {
    /// Ed25519 (RFC 8032, §5.1).
    Ed25519,
    /// Ed448 (RFC 8032, §5.2) with the empty context.
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
            Self::Ed448 => 114,
            Self::EcdsaP256 => 72,
            Self::EcdsaP384 => 104,
        }
    }

    /// Bytes of a seed or a scalar.
    const fn secret_len(self) -> usize {
        match self {
            Self::Ed25519 | Self::EcdsaP256 => 32,
            Self::Ed448 => 57,
            Self::EcdsaP384 => 48,
        }
    }

    /// What stands around it in a private key.
    const fn wrapping(self) -> (&'static [u8], &'static [u8]) {
        match self {
            Self::Ed25519 | Self::Ed448 => (&[], &[]),
            Self::EcdsaP256 => Curve::P256.private_key_wrapping(),
            Self::EcdsaP384 => Curve::P384.private_key_wrapping(),
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
            Self::Ed25519 | Self::Ed448 => rng.try_fill_bytes(out).map_err(|_| KeyError::Random),
            Self::EcdsaP256 => Curve::P256.draw(rng, out).map_err(|_| KeyError::Random),
            Self::EcdsaP384 => Curve::P384.draw(rng, out).map_err(|_| KeyError::Random),
        }
    }
}

/// A private key of any scheme.
pub(super) enum Private {
    Ed25519(Ed25519),
    Ed448(ed448::SigningKey),
    EcdsaP256(Ecdsa<32, 65>),
    EcdsaP384(Ecdsa<48, 97>),
}

impl Private {
    pub(super) fn from_bytes(scheme: Classical, bytes: &[u8]) -> Result<Self, KeyError> {
        let (head, tail) = scheme.wrapping();
        let bytes = bytes.strip_prefix(head).and_then(|bytes| bytes.strip_suffix(tail));
        let bytes = bytes.ok_or(KeyError::Classical)?;
        Ok(match scheme {
            Classical::Ed25519 => {
                Self::Ed25519(Ed25519::from_seed(bytes.try_into().map_err(|_| KeyError::Classical)?))
            }
            Classical::Ed448 => {
                let seed = bytes.try_into().map_err(|_| KeyError::Classical)?;
                Self::Ed448(ed448::SigningKey::from_seed(seed))
            }
            Classical::EcdsaP256 => Self::EcdsaP256(Ecdsa::from_scalar(Curve::P256, bytes)?),
            Classical::EcdsaP384 => Self::EcdsaP384(Ecdsa::from_scalar(Curve::P384, bytes)?),
        })
    }

    pub(super) fn public_key(&self) -> &[u8] {
        match self {
            Self::Ed25519(key) => &key.public,
            Self::Ed448(key) => key.public_bytes(),
            Self::EcdsaP256(key) => &key.public,
            Self::EcdsaP384(key) => &key.public,
        }
    }

    /// Writes a signature and tells its length.
    pub(super) fn sign(&self, message: &[u8], rnd: Option<&[u8; 32]>, out: &mut [u8]) -> usize {
        let more = rnd.map_or(&[][..], |rnd| rnd);
        match self {
            Self::Ed25519(key) => {
                let out = out.first_chunk_mut().expect("room for the longest");
                key.sign(message, out);
                out.len()
            }
            Self::Ed448(key) => {
                out[..114].copy_from_slice(&key.sign(message));
                114
            }
            Self::EcdsaP256(key) => {
                let key =
                    crrl::p256::PrivateKey::decode(key.scalar.expose()).expect("checked by `from_scalar`");
                let signature = key.sign_hash(&Sha256::digest(message), more);
                let signature = p256::ecdsa::Signature::from_slice(&signature).expect("r and s are scalars");
                let der = signature.to_der();
                out[..der.len()].copy_from_slice(der.as_bytes());
                der.len()
            }
            Self::EcdsaP384(key) => {
                let key = p384_scalar(key.scalar.expose()).expect("checked by `from_scalar`");
                let digest = Sha384::digest(message);
                let scalar = key.to_nonzero_scalar();
                let (signature, _) =
                    hazmat::sign_prehashed_rfc6979::<NistP384, Sha384>(&scalar, &digest, more);
                let der = signature.to_der();
                out[..der.len()].copy_from_slice(der.as_bytes());
                der.len()
            }
        }
    }
}

/// A scalar and its point.
pub(super) struct Ecdsa<const SCALAR: usize, const POINT: usize> {
    scalar: Secret<[u8; SCALAR]>,
    public: [u8; POINT],
}

impl<const SCALAR: usize, const POINT: usize> Ecdsa<SCALAR, POINT> {
    fn from_scalar(curve: Curve, scalar: &[u8]) -> Result<Self, KeyError> {
        let mut key = Self { scalar: Secret::new([0; SCALAR]), public: [0; POINT] };
        curve.public_key(scalar, &mut key.public).map_err(|_| KeyError::Classical)?;
        key.scalar.expose_mut().copy_from_slice(scalar);
        Ok(key)
    }
}

/// Ed25519 over the points and scalars of `crrl`, whose own keys are `Copy` and are not wiped (RFC 8032, §5.1).
pub(super) struct Ed25519 {
    /// s mod the order, and the prefix.
    expanded: Secret<[u8; 64]>,
    public: [u8; 32],
}

impl Ed25519 {
    /// RFC 8032, §5.1.5.
    fn from_seed(seed: &[u8; 32]) -> Self {
        let mut h = Secret::new([0; 64]);
        h.expose_mut().copy_from_slice(&Sha512::digest(seed));
        let (s, _) = h.expose_mut().split_at_mut(32);
        s[0] &= 0xf8;
        s[31] = s[31] & 0x7f | 0x40;
        let scalar = crrl::ed25519::Scalar::decode_reduce(s);
        s.copy_from_slice(&scalar.encode());
        Self { expanded: h, public: crrl::ed25519::Point::mulgen(&scalar).encode() }
    }

    /// RFC 8032, §5.1.6.
    fn sign(&self, message: &[u8], signature: &mut [u8; 64]) {
        let (s, prefix) = self.expanded.expose().split_at(32);
        let r = hash(&[prefix, message]);
        let (point, scalar) = signature.split_at_mut(32);
        point.copy_from_slice(&crrl::ed25519::Point::mulgen(&r).encode());
        let k = hash(&[point, &self.public, message]);
        scalar.copy_from_slice(&(r + k * crrl::ed25519::Scalar::decode_reduce(s)).encode());
    }
}

/// SHA-512 of the parts as a scalar.
fn hash(parts: &[&[u8]]) -> crrl::ed25519::Scalar {
    let mut hash = Sha512::new();
    parts.iter().for_each(|part| hash.update(part));
    crrl::ed25519::Scalar::decode_reduce(&hash.finalize())
}

/// A public key of any scheme.
#[derive(Clone)]
pub(super) enum Public {
    Ed25519(crrl::ed25519::PublicKey),
    Ed448(ed448::VerifyingKey),
    EcdsaP256(crrl::p256::PublicKey),
    EcdsaP384(p384::PublicKey),
}

impl Public {
    /// `bytes` has the length of the scheme.
    pub(super) fn from_bytes(scheme: Classical, bytes: &[u8]) -> Result<Self, KeyError> {
        let key = match scheme {
            Classical::Ed25519 => crrl::ed25519::PublicKey::decode(bytes).map(Self::Ed25519),
            Classical::Ed448 => bytes
                .try_into()
                .ok()
                .and_then(|bytes| ed448::VerifyingKey::from_bytes(bytes).ok())
                .map(Self::Ed448),
            Classical::EcdsaP256 => crrl::p256::PublicKey::decode(bytes).map(Self::EcdsaP256),
            Classical::EcdsaP384 => p384::PublicKey::from_sec1_bytes(bytes).ok().map(Self::EcdsaP384),
        };
        key.ok_or(KeyError::Classical)
    }

    pub(super) fn verify(&self, message: &[u8], signature: &[u8]) -> Result<(), InvalidSignature> {
        let valid = match self {
            Self::Ed25519(key) => key.verify_raw(signature, message),
            Self::Ed448(key) => key.verify(message, signature).is_ok(),
            Self::EcdsaP256(key) => p256::ecdsa::Signature::from_der(signature)
                .is_ok_and(|signature| key.verify_hash(&signature.to_bytes(), &Sha256::digest(message))),
            Self::EcdsaP384(key) => p384::ecdsa::Signature::from_der(signature).is_ok_and(|signature| {
                let digest = Sha384::digest(message);
                hazmat::verify_prehashed(&key.to_projective(), &digest, &signature).is_ok()
            }),
        };
        if valid { Ok(()) } else { Err(InvalidSignature) }
    }
}
