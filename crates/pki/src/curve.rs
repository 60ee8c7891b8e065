//! Keys of one curve: Ed25519, Ed448, ECDSA on P-256 and P-384.

use std::fmt;

use der::Decode;
use der::asn1::OctetStringRef;
use gambeson::RngError;
use gambeson::secret::Secret;
use gambeson_hybrid::ed448;
use p256::ecdsa::signature::Signer;
use p256::ecdsa::signature::hazmat::PrehashVerifier;
use p256::elliptic_curve::Generate;
use sha2::{Digest, Sha256, Sha384, Sha512};
use spki::ObjectIdentifier;
use zeroize::Zeroizing;

use crate::algorithm::{Algorithm, ECDSA_WITH_SHA256, ECDSA_WITH_SHA384, ECDSA_WITH_SHA512};
use crate::error::Error;
use crate::guard::guarded;

/// A private key of a curve alone; it is wiped when dropped.
pub struct CurveSigningKey(Signing);

enum Signing {
    Ed25519(ed25519_dalek::SigningKey),
    Ed448(ed448::SigningKey),
    P256(p256::SecretKey),
    P384(p384::SecretKey),
}

impl CurveSigningKey {
    /// `algorithm` is one of a curve.
    pub(crate) fn generate(algorithm: Algorithm) -> Result<Self, RngError> {
        let mut seed = Secret::new([0; 57]);
        getrandom::fill(seed.expose_mut()).map_err(|_| RngError)?;
        Ok(Self(match algorithm {
            Algorithm::Ed25519 => {
                let seed = seed.expose().first_chunk().expect("57 bytes are more than 32");
                Signing::Ed25519(ed25519_dalek::SigningKey::from_bytes(seed))
            }
            Algorithm::Ed448 => Signing::Ed448(ed448::SigningKey::from_seed(seed.expose())),
            Algorithm::EcdsaP256 => Signing::P256(p256::SecretKey::try_generate().map_err(|_| RngError)?),
            _ => Signing::P384(p384::SecretKey::try_generate().map_err(|_| RngError)?),
        }))
    }

    /// The key of a seed, for the two that have one.
    pub(crate) fn from_seed(algorithm: Algorithm, seed: &[u8]) -> Result<Self, Error> {
        let length = |expected| Error::SeedLength { expected, actual: seed.len() };
        match algorithm {
            Algorithm::Ed25519 => {
                let seed = seed.try_into().map_err(|_| length(32))?;
                Ok(Self(Signing::Ed25519(ed25519_dalek::SigningKey::from_bytes(seed))))
            }
            Algorithm::Ed448 => {
                let seed = seed.try_into().map_err(|_| length(57))?;
                Ok(Self(Signing::Ed448(ed448::SigningKey::from_seed(seed))))
            }
            _ => Err(Error::OneForm),
        }
    }

    /// What PKCS#8 has inside: `CurvePrivateKey` (RFC 8410, §7) or `ECPrivateKey` (RFC 5915, §3).
    pub(crate) fn from_inner(algorithm: Algorithm, inner: &[u8]) -> Result<Self, Error> {
        match algorithm {
            Algorithm::Ed25519 | Algorithm::Ed448 => {
                let seed = <&OctetStringRef>::from_der(inner).map_err(|_| Error::PrivateKey)?;
                Self::from_seed(algorithm, seed.as_bytes())
            }
            Algorithm::EcdsaP256 => {
                let key = p256::SecretKey::from_sec1_der(inner).map_err(|_| Error::CurveKey)?;
                Ok(Self(Signing::P256(key)))
            }
            _ => {
                let key = p384::SecretKey::from_sec1_der(inner).map_err(|_| Error::CurveKey)?;
                Ok(Self(Signing::P384(key)))
            }
        }
    }

    /// The same, written; `ECPrivateKey` carries its public key and not its curve, as others write it inside PKCS#8.
    pub(crate) fn to_inner(&self) -> Zeroizing<Vec<u8>> {
        let octets = |bytes: &[u8]| {
            let mut out = Vec::with_capacity(2 + bytes.len());
            out.extend_from_slice(&[0x04, bytes.len() as u8]);
            out.extend_from_slice(bytes);
            Zeroizing::new(out)
        };
        match &self.0 {
            Signing::Ed25519(key) => octets(key.as_bytes()),
            Signing::Ed448(key) => octets(key.seed().expose()),
            Signing::P256(key) => ec_private_key(&key.to_bytes(), self.verifying_key().as_bytes()),
            Signing::P384(key) => ec_private_key(&key.to_bytes(), self.verifying_key().as_bytes()),
        }
    }

    /// Which algorithm the key is for.
    #[must_use]
    pub const fn algorithm(&self) -> Algorithm {
        match self.0 {
            Signing::Ed25519(_) => Algorithm::Ed25519,
            Signing::Ed448(_) => Algorithm::Ed448,
            Signing::P256(_) => Algorithm::EcdsaP256,
            Signing::P384(_) => Algorithm::EcdsaP384,
        }
    }

    /// The seed of Ed25519 (32 bytes) or Ed448 (57 bytes).
    pub(crate) fn seed(&self) -> Option<&[u8]> {
        match &self.0 {
            Signing::Ed25519(key) => Some(key.as_bytes()),
            Signing::Ed448(key) => Some(key.seed().expose()),
            _ => None,
        }
    }

    /// The public half.
    #[must_use]
    pub fn verifying_key(&self) -> CurveVerifyingKey {
        match &self.0 {
            Signing::Ed25519(key) => {
                CurveVerifyingKey::new(Algorithm::Ed25519, key.verifying_key().as_bytes())
            }
            Signing::Ed448(key) => CurveVerifyingKey::new(Algorithm::Ed448, key.public_bytes()),
            Signing::P256(key) => {
                CurveVerifyingKey::new(Algorithm::EcdsaP256, &key.public_key().to_sec1_bytes())
            }
            Signing::P384(key) => {
                CurveVerifyingKey::new(Algorithm::EcdsaP384, &key.public_key().to_sec1_bytes())
            }
        }
        .expect("the public half of a key is valid")
    }

    /// Signs `message`: EdDSA with the empty context, ECDSA with the curve's own hash, the nonce of RFC 6979, and in DER.
    #[must_use]
    pub fn sign(&self, message: &[u8]) -> Vec<u8> {
        guarded(|| match &self.0 {
            Signing::Ed25519(key) => key.sign(message).to_bytes().to_vec(),
            Signing::Ed448(key) => key.sign(message).to_vec(),
            Signing::P256(key) => {
                let signature: p256::ecdsa::Signature = p256::ecdsa::SigningKey::from(key).sign(message);
                signature.to_der().as_bytes().to_vec()
            }
            Signing::P384(key) => {
                let signature: p384::ecdsa::Signature = p384::ecdsa::SigningKey::from(key).sign(message);
                signature.to_der().as_bytes().to_vec()
            }
        })
    }
}

/// SEQUENCE { 1, scalar, [1] { point } }, in one allocation.
fn ec_private_key(scalar: &[u8], point: &[u8]) -> Zeroizing<Vec<u8>> {
    let bit_string = 1 + point.len();
    let tagged = 2 + bit_string;
    let body = 3 + 2 + scalar.len() + 2 + tagged;
    let mut out = Vec::with_capacity(3 + body);
    out.push(0x30);
    if body > 0x7f {
        out.push(0x81);
    }
    out.extend_from_slice(&[body as u8, 0x02, 1, 1, 0x04, scalar.len() as u8]);
    out.extend_from_slice(scalar);
    out.extend_from_slice(&[0xa1, tagged as u8, 0x03, bit_string as u8, 0]);
    out.extend_from_slice(point);
    Zeroizing::new(out)
}

impl fmt::Debug for CurveSigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CurveSigningKey({}, [redacted])", self.algorithm())
    }
}

/// A public key of a curve alone.
#[derive(Clone)]
pub struct CurveVerifyingKey {
    bytes: Vec<u8>,
    key: Verifying,
}

#[derive(Clone)]
enum Verifying {
    Ed25519(ed25519_dalek::VerifyingKey),
    Ed448(ed448::VerifyingKey),
    P256(p256::ecdsa::VerifyingKey),
    P384(p384::ecdsa::VerifyingKey),
}

impl CurveVerifyingKey {
    /// `algorithm` is one of a curve. Points of P-256 and P-384 are uncompressed, the form that RFC 5480 says MUST be supported.
    pub(crate) fn new(algorithm: Algorithm, bytes: &[u8]) -> Result<Self, Error> {
        let expected = match algorithm {
            Algorithm::Ed25519 => 32,
            Algorithm::Ed448 => 57,
            Algorithm::EcdsaP256 => 65,
            _ => 97,
        };
        let is_point = matches!(algorithm, Algorithm::EcdsaP256 | Algorithm::EcdsaP384);
        // SEC 1, section 2.3.3.
        if is_point && 2 * bytes.len() == expected + 1 && matches!(bytes[0], 2 | 3) {
            return Err(Error::CompressedPoint);
        }
        if bytes.len() != expected {
            return Err(Error::VerifyingKeyLength { expected, actual: bytes.len() });
        }
        let key = match algorithm {
            Algorithm::Ed25519 => ed25519_dalek::VerifyingKey::try_from(bytes).ok().map(Verifying::Ed25519),
            Algorithm::Ed448 => {
                let bytes = bytes.try_into().ok();
                bytes.and_then(|bytes| ed448::VerifyingKey::from_bytes(bytes).ok()).map(Verifying::Ed448)
            }
            Algorithm::EcdsaP256 => {
                p256::ecdsa::VerifyingKey::from_sec1_bytes(bytes).ok().map(Verifying::P256)
            }
            _ => p384::ecdsa::VerifyingKey::from_sec1_bytes(bytes).ok().map(Verifying::P384),
        };
        Ok(Self { bytes: bytes.to_vec(), key: key.ok_or(Error::CurveKey)? })
    }

    /// Which algorithm the key is for.
    #[must_use]
    pub const fn algorithm(&self) -> Algorithm {
        match self.key {
            Verifying::Ed25519(_) => Algorithm::Ed25519,
            Verifying::Ed448(_) => Algorithm::Ed448,
            Verifying::P256(_) => Algorithm::EcdsaP256,
            Verifying::P384(_) => Algorithm::EcdsaP384,
        }
    }

    /// The bytes of the key; points of P-256 and P-384 uncompressed.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Verifies what [`CurveSigningKey::sign`] makes.
    ///
    /// # Errors
    /// [`Error::Signature`].
    pub fn verify(&self, message: &[u8], signature: &[u8]) -> Result<(), Error> {
        self.verify_as(self.algorithm().signature_identifier().oid, message, signature)
    }

    /// The same for a signature of that name: ECDSA may use a hash that is not the curve's own.
    pub(crate) fn verify_as(
        &self,
        scheme: ObjectIdentifier,
        message: &[u8],
        signature: &[u8],
    ) -> Result<(), Error> {
        let valid = match &self.key {
            Verifying::Ed25519(key) => ed25519_dalek::Signature::from_slice(signature)
                .is_ok_and(|signature| key.verify_strict(message, &signature).is_ok()),
            Verifying::Ed448(key) => key.verify(message, signature).is_ok(),
            Verifying::P256(key) => digest(scheme, message).is_some_and(|digest| {
                p256::ecdsa::Signature::from_der(signature)
                    .is_ok_and(|signature| key.verify_prehash(&digest, &signature).is_ok())
            }),
            Verifying::P384(key) => digest(scheme, message).is_some_and(|digest| {
                p384::ecdsa::Signature::from_der(signature)
                    .is_ok_and(|signature| key.verify_prehash(&digest, &signature).is_ok())
            }),
        };
        if valid { Ok(()) } else { Err(Error::Signature) }
    }
}

fn digest(scheme: ObjectIdentifier, message: &[u8]) -> Option<Vec<u8>> {
    match scheme {
        ECDSA_WITH_SHA256 => Some(Sha256::digest(message).to_vec()),
        ECDSA_WITH_SHA384 => Some(Sha384::digest(message).to_vec()),
        ECDSA_WITH_SHA512 => Some(Sha512::digest(message).to_vec()),
        _ => None,
    }
}

impl fmt::Debug for CurveVerifyingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CurveVerifyingKey({})", self.algorithm())
    }
}
