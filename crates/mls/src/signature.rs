//! The signatures of a suite, by bytes: what mls-rs keeps and sends.
//!
//! A private key is the seed of Ed25519 and ML-DSA (32 bytes), the scalar of ECDSA (32, 48, 66), or what draft-ietf-lamps-pq-composite-sigs
//! puts into PKCS#8; a public key is what RFC 9420 (§5.1.1) sends: raw, or the uncompressed point.

use ::p256::ecdsa::signature::{Signer as _, Verifier as _};
use gambeson::mldsa::{self, MlDsa44, MlDsa65, MlDsa87, ParameterSet, SigningKey};
use gambeson::secret::WipedBox;
use gambeson_hybrid::composite;
use zeroize::Zeroizing;

use crate::door;
use crate::error::{Error, Result};
use crate::hpke::Pair;
use crate::random::Random;
use crate::signer::Signer;
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
    pub(crate) fn generate(self, random: &Random) -> Result<Pair> {
        let private = match self {
            Self::Ed25519 | Self::MlDsa44 | Self::MlDsa65 | Self::MlDsa87 => {
                let mut seed = Zeroizing::new(vec![0; 32]);
                random.fill(&mut seed)?;
                seed
            }
            Self::P256 => p256::generate(random)?,
            Self::P384 => p384::generate(random)?,
            Self::P521 => p521::generate(random)?,
            Self::Composite(algorithm) => {
                let key = composite::SigningKey::generate_with(algorithm, &mut &*random)
                    .map_err(|_| Error::Random)?;
                Zeroizing::new(key.expose_bytes().to_vec())
            }
        };
        let public = self.key(&private)?.public();
        Ok((private, public))
    }

    /// The private key of these bytes, ready to sign.
    pub(crate) fn key(self, private: &[u8]) -> Result<Key> {
        Ok(match self {
            Self::Ed25519 => Key::Ed25519(WipedBox::new(ed25519_dalek::SigningKey::from(seed(private)?))),
            Self::P256 => Key::P256(WipedBox::new(p256::key(private)?)),
            Self::P384 => Key::P384(WipedBox::new(p384::key(private)?)),
            Self::P521 => Key::P521(WipedBox::new(p521::key(private)?)),
            Self::MlDsa44 => Key::MlDsa44(SigningKey::from_seed(seed(private)?)),
            Self::MlDsa65 => Key::MlDsa65(SigningKey::from_seed(seed(private)?)),
            Self::MlDsa87 => Key::MlDsa87(SigningKey::from_seed(seed(private)?)),
            Self::Composite(algorithm) => Key::Composite(WipedBox::new(composite_key(algorithm, private)?)),
        })
    }

    pub(crate) const fn public_len(self) -> usize {
        match self {
            Self::Ed25519 => 32,
            Self::P256 => p256::PUBLIC_LEN,
            Self::P384 => p384::PUBLIC_LEN,
            Self::P521 => p521::PUBLIC_LEN,
            Self::MlDsa44 => ml_dsa_public_len::<MlDsa44>(),
            Self::MlDsa65 => ml_dsa_public_len::<MlDsa65>(),
            Self::MlDsa87 => ml_dsa_public_len::<MlDsa87>(),
            Self::Composite(algorithm) => algorithm.public_key_len(),
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

impl Signature {
    /// Whether each signature is good, of items that are a key, a message and a signature.
    pub(crate) fn verify_many(self, items: &[(&[u8], &[u8], &[u8])]) -> Vec<bool> {
        match self {
            Self::MlDsa44 => ml_dsa_verify_many::<MlDsa44>(items),
            Self::MlDsa65 => ml_dsa_verify_many::<MlDsa65>(items),
            Self::MlDsa87 => ml_dsa_verify_many::<MlDsa87>(items),
            _ => items
                .iter()
                .map(|(key, message, signature)| self.verify(key, message, signature).is_ok())
                .collect(),
        }
    }
}

/// A private key of a suite, ready to sign; wiped when dropped.
pub(crate) enum Key {
    Ed25519(WipedBox<ed25519_dalek::SigningKey>),
    P256(WipedBox<::p256::ecdsa::SigningKey>),
    P384(WipedBox<::p384::ecdsa::SigningKey>),
    P521(WipedBox<::p521::ecdsa::SigningKey>),
    MlDsa44(SigningKey<MlDsa44>),
    MlDsa65(SigningKey<MlDsa65>),
    MlDsa87(SigningKey<MlDsa87>),
    Composite(WipedBox<composite::SigningKey>),
}

impl Key {
    pub(crate) fn public(&self) -> Vec<u8> {
        match self {
            Self::Ed25519(key) => key.verifying_key().to_bytes().to_vec(),
            Self::P256(key) => key.verifying_key().to_sec1_point(false).as_bytes().to_vec(),
            Self::P384(key) => key.verifying_key().to_sec1_point(false).as_bytes().to_vec(),
            Self::P521(key) => key.verifying_key().to_sec1_point(false).as_bytes().to_vec(),
            Self::MlDsa44(key) => key.verifying_key().as_bytes().to_vec(),
            Self::MlDsa65(key) => key.verifying_key().as_bytes().to_vec(),
            Self::MlDsa87(key) => key.verifying_key().as_bytes().to_vec(),
            Self::Composite(key) => key.verifying_key().as_bytes().to_vec(),
        }
    }

    /// ML-DSA and composites in the empty context, hedged; the nonces of ECDSA and Ed25519 are made of key and message (RFC 6979, RFC 8032).
    pub(crate) fn sign(&self, message: &[u8], random: &Random) -> Result<Vec<u8>> {
        match self {
            Self::Ed25519(key) => Ok(key.sign(message).to_bytes().to_vec()),
            Self::P256(key) => p256::sign(key, message),
            Self::P384(key) => p384::sign(key, message),
            Self::P521(key) => p521::sign(key, message),
            Self::MlDsa44(key) => ml_dsa_sign(key, message, random),
            Self::MlDsa65(key) => ml_dsa_sign(key, message, random),
            Self::MlDsa87(key) => ml_dsa_sign(key, message, random),
            Self::Composite(key) => {
                let signature = key.sign_with(&mut &*random, message, b"").map_err(|_| Error::Random)?;
                Ok(signature.as_bytes().to_vec())
            }
        }
    }
}

/// A key of mls-rs's bytes as a [`Signer`], expanded once.
pub(crate) struct Held {
    key: Key,
    public: Vec<u8>,
    random: Random,
}

impl Held {
    pub(crate) fn new(key: Key, random: Random) -> Self {
        Self { public: key.public(), key, random }
    }
}

impl Signer for Held {
    fn public_key(&self) -> &[u8] {
        &self.public
    }

    fn sign(&self, message: &[u8]) -> Result<Vec<u8>> {
        door::deep(|| self.key.sign(message, &self.random))
    }
}

fn length(what: &'static str, expected: usize, bytes: &[u8]) -> Error {
    Error::Length { what, expected, actual: bytes.len() }
}

fn seed(private: &[u8]) -> Result<&[u8; 32]> {
    private.try_into().map_err(|_| length("a private key", 32, private))
}

const fn ml_dsa_public_len<P: ParameterSet>() -> usize {
    <P::VerifyingKeyBytes as gambeson::Bytes>::LEN
}

fn ml_dsa_sign<P: ParameterSet>(key: &SigningKey<P>, message: &[u8], random: &Random) -> Result<Vec<u8>> {
    Ok(key.sign_with(&mut &*random, message).map_err(|_| Error::Random)?.as_ref().to_vec())
}

fn ml_dsa_verify<P: ParameterSet>(public: &[u8], message: &[u8], signature: &[u8]) -> Result<()> {
    let key = mldsa::VerifyingKeyRef::<P>::try_from(public)
        .map_err(|_| length("a public key", ml_dsa_public_len::<P>(), public))?;
    key.verify(message, signature).map_err(|_| Error::Signature)
}

fn ml_dsa_verify_many<P: ParameterSet>(items: &[(&[u8], &[u8], &[u8])]) -> Vec<bool> {
    let keys: Vec<_> = items.iter().map(|(key, ..)| mldsa::VerifyingKey::<P>::try_from(*key).ok()).collect();
    let of_keys = keys.iter().zip(items).filter_map(|(key, (_, message, signature))| {
        Some((key.as_ref()?, mldsa::Message::from(*message), *signature))
    });
    let mut verdicts = mldsa::verify_many(&of_keys.collect::<Vec<_>>()).into_iter();
    keys.iter().map(|key| key.is_some() && verdicts.next().is_some_and(|verdict| verdict.is_ok())).collect()
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

            pub(super) const PUBLIC_LEN: usize = 2 * $len + 1;

            pub(super) fn key(private: &[u8]) -> Result<SigningKey> {
                exactly("a private key", $len, private)?;
                SigningKey::from_slice(private).map_err(|_| Error::SigningKey)
            }

            pub(super) fn generate(random: &Random) -> Result<Zeroizing<Vec<u8>>> {
                let mut private = Zeroizing::new(vec![0; $len]);
                // Nearly all strings are scalars.
                for _ in 0..DRAWS {
                    random.fill(&mut private)?;
                    if $len == 66 {
                        private[0] &= 1;
                    }
                    if key(&private).is_ok() {
                        return Ok(private);
                    }
                }
                Err(Error::Random)
            }

            pub(super) fn sign(key: &SigningKey, message: &[u8]) -> Result<Vec<u8>> {
                let signature: DerSignature = key.try_sign(message).map_err(|_| Error::SigningKey)?;
                Ok(signature.as_bytes().to_vec())
            }

            pub(super) fn verify(public: &[u8], message: &[u8], signature: &[u8]) -> Result<()> {
                exactly("a public key", PUBLIC_LEN, public)?;
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
