//! The signatures of a suite, by bytes: what mls-rs keeps and sends.
//!
//! A private key is the seed of Ed25519 and ML-DSA (32 bytes), the scalar of ECDSA (32, 48, 66), or what draft-ietf-lamps-pq-composite-sigs
//! puts into PKCS#8; a public key is what RFC 9420 (§5.1.1) sends: raw, or the uncompressed point.

use ::p256::ecdsa::signature::{Signer as _, Verifier as _};
use gambeson::mldsa::{self, ExpandedSigningKey, MlDsa44, MlDsa65, MlDsa87, ParameterSet};
use gambeson_hybrid::composite;
use zeroize::Zeroizing;

use crate::error::{Error, Result};
use crate::hpke::Pair;
use crate::symmetric::exactly;

/// The signature algorithm of a suite.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Signature {
    Ed25519,
    P256,
    P384,
    P521,
    MlDsa44,
    MlDsa65,
    MlDsa87,
    Composite(&'static composite::Algorithm),
}

/// How often a scalar is drawn: a generator whose strings are never one is broken.
const DRAWS: usize = 16;

impl Signature {
    pub(crate) fn generate(self) -> Result<Pair> {
        let private = match self {
            Self::Ed25519 | Self::MlDsa44 | Self::MlDsa65 | Self::MlDsa87 => {
                let mut seed = Zeroizing::new(vec![0; 32]);
                fill(&mut seed)?;
                seed
            }
            Self::P256 => p256::generate()?,
            Self::P384 => p384::generate()?,
            Self::P521 => p521::generate()?,
            Self::Composite(algorithm) => {
                let key = composite::SigningKey::generate(algorithm).map_err(|_| Error::Random)?;
                Zeroizing::new(key.expose_bytes().to_vec())
            }
        };
        let public = self.public(&private)?;
        Ok((private, public))
    }

    pub(crate) fn public(self, private: &[u8]) -> Result<Vec<u8>> {
        match self {
            Self::Ed25519 => {
                Ok(ed25519_dalek::SigningKey::from(seed(private)?).verifying_key().to_bytes().to_vec())
            }
            Self::P256 => p256::public(private),
            Self::P384 => p384::public(private),
            Self::P521 => p521::public(private),
            Self::MlDsa44 => ml_dsa_public::<MlDsa44>(private),
            Self::MlDsa65 => ml_dsa_public::<MlDsa65>(private),
            Self::MlDsa87 => ml_dsa_public::<MlDsa87>(private),
            Self::Composite(algorithm) => {
                Ok(composite_key(algorithm, private)?.verifying_key().as_bytes().to_vec())
            }
        }
    }

    pub(crate) fn sign(self, private: &[u8], message: &[u8]) -> Result<Vec<u8>> {
        match self {
            Self::Ed25519 => {
                Ok(ed25519_dalek::SigningKey::from(seed(private)?).sign(message).to_bytes().to_vec())
            }
            Self::P256 => p256::sign(private, message),
            Self::P384 => p384::sign(private, message),
            Self::P521 => p521::sign(private, message),
            Self::MlDsa44 => ml_dsa_sign::<MlDsa44>(private, message),
            Self::MlDsa65 => ml_dsa_sign::<MlDsa65>(private, message),
            Self::MlDsa87 => ml_dsa_sign::<MlDsa87>(private, message),
            Self::Composite(algorithm) => {
                let key = composite_key(algorithm, private)?;
                Ok(key.sign(message, b"").map_err(|_| Error::Random)?.as_bytes().to_vec())
            }
        }
    }

    pub(crate) fn verify(self, public: &[u8], message: &[u8], signature: &[u8]) -> Result<()> {
        match self {
            Self::Ed25519 => {
                let public = public.try_into().map_err(|_| length("a public key", 32, public))?;
                let key = ed25519_dalek::VerifyingKey::from_bytes(public).map_err(|_| Error::VerifyingKey)?;
                let signature = signature.try_into().map_err(|_| Error::Signature)?;
                key.verify_strict(message, &signature).map_err(|_| Error::Signature)
            }
            Self::P256 => p256::verify(public, message, signature),
            Self::P384 => p384::verify(public, message, signature),
            Self::P521 => p521::verify(public, message, signature),
            Self::MlDsa44 => ml_dsa_verify::<MlDsa44>(public, message, signature),
            Self::MlDsa65 => ml_dsa_verify::<MlDsa65>(public, message, signature),
            Self::MlDsa87 => ml_dsa_verify::<MlDsa87>(public, message, signature),
            Self::Composite(algorithm) => {
                let key = composite::VerifyingKey::from_bytes(algorithm, public)
                    .map_err(|_| Error::VerifyingKey)?;
                key.verify(message, b"", signature).map_err(|_| Error::Signature)
            }
        }
    }
}

fn fill(bytes: &mut [u8]) -> Result<()> {
    getrandom::fill(bytes).map_err(|_| Error::Random)
}

fn length(what: &'static str, expected: usize, bytes: &[u8]) -> Error {
    Error::Length { what, expected, actual: bytes.len() }
}

fn seed(private: &[u8]) -> Result<&[u8; 32]> {
    private.try_into().map_err(|_| length("a private key", 32, private))
}

fn ml_dsa_public<P: ParameterSet>(private: &[u8]) -> Result<Vec<u8>> {
    Ok(mldsa::SigningKey::<P>::from_seed(seed(private)?).verifying_key().as_bytes().as_ref().to_vec())
}

/// In the empty context, hedged.
fn ml_dsa_sign<P: ParameterSet>(private: &[u8], message: &[u8]) -> Result<Vec<u8>> {
    let signature = ExpandedSigningKey::<P>::from_seed(seed(private)?).sign(message);
    Ok(signature.map_err(|_| Error::Random)?.as_ref().to_vec())
}

fn ml_dsa_verify<P: ParameterSet>(public: &[u8], message: &[u8], signature: &[u8]) -> Result<()>
where
    mldsa::VerifyingKey<P>: for<'a> TryFrom<&'a [u8]>,
{
    let expected = <P::VerifyingKeyBytes as gambeson::Bytes>::LEN;
    let key =
        mldsa::VerifyingKey::<P>::try_from(public).map_err(|_| length("a public key", expected, public))?;
    key.verify(message, signature).map_err(|_| Error::Signature)
}

fn composite_key(algorithm: &'static composite::Algorithm, private: &[u8]) -> Result<composite::SigningKey> {
    composite::SigningKey::from_bytes(algorithm, private).map_err(|error| match error {
        composite::KeyError::Length { expected, actual } => {
            Error::Length { what: "a private key", expected, actual }
        }
        _ => Error::SigningKey,
    })
}

/// ECDSA (FIPS 186-5) on one curve, with the hash of its size; the nonce is that of RFC 6979.
macro_rules! curve {
    ($($curve:ident, $len:literal;)*) => {$(
        mod $curve {
            use ::$curve::ecdsa::{DerSignature, SigningKey, VerifyingKey};

            use super::*;

            fn key(private: &[u8]) -> Result<SigningKey> {
                exactly("a private key", $len, private)?;
                SigningKey::from_slice(private).map_err(|_| Error::SigningKey)
            }

            pub(super) fn generate() -> Result<Zeroizing<Vec<u8>>> {
                let mut private = Zeroizing::new(vec![0; $len]);
                // Nearly all strings are scalars.
                for _ in 0..DRAWS {
                    fill(&mut private)?;
                    if $len == 66 {
                        private[0] &= 1;
                    }
                    if key(&private).is_ok() {
                        return Ok(private);
                    }
                }
                Err(Error::Random)
            }

            pub(super) fn public(private: &[u8]) -> Result<Vec<u8>> {
                Ok(key(private)?.verifying_key().to_sec1_point(false).as_bytes().to_vec())
            }

            pub(super) fn sign(private: &[u8], message: &[u8]) -> Result<Vec<u8>> {
                let signature: DerSignature = key(private)?.try_sign(message).map_err(|_| Error::SigningKey)?;
                Ok(signature.as_bytes().to_vec())
            }

            pub(super) fn verify(public: &[u8], message: &[u8], signature: &[u8]) -> Result<()> {
                exactly("a public key", 2 * $len + 1, public)?;
                let key = VerifyingKey::from_sec1_bytes(public).map_err(|_| Error::VerifyingKey)?;
                let signature = DerSignature::try_from(signature).map_err(|_| Error::Signature)?;
                key.verify(message, &signature).map_err(|_| Error::Signature)
            }
        }
    )*};
}

curve! {
    p256, 32;
    p384, 48;
    p521, 66;
}
