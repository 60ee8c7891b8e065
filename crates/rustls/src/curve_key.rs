//! Private keys of graviola's curves, read from a file that the caller keeps and wipes: `rustls-graviola` takes the file and leaves it in
//! freed memory.

use std::fmt;
use std::sync::Arc;

use gambeson_pki::Algorithm;
use graviola::hashing::{Sha256, Sha384};
use graviola::signing::ecdsa::{P256, P384, SigningKey as EcdsaKey};
use graviola::signing::eddsa::Ed25519SigningKey;
use rustls::pki_types::SubjectPublicKeyInfoDer;
use rustls::sign::{Signer, SigningKey};
use rustls::{Error, SignatureAlgorithm, SignatureScheme};

/// A key of Ed25519, P-256 or P-384 from PKCS#8, with the SubjectPublicKeyInfo of its public half.
pub(crate) fn load(file: &[u8], algorithm: Algorithm, public: Vec<u8>) -> Result<Arc<dyn SigningKey>, Error> {
    let failed =
        |error| Error::General(format!("a key of {algorithm} that graviola does not take: {error:?}"));
    let curve = match algorithm {
        Algorithm::EcdsaP256 => Curve::P256(EcdsaKey::from_pkcs8_der(file).map_err(failed)?),
        Algorithm::EcdsaP384 => Curve::P384(EcdsaKey::from_pkcs8_der(file).map_err(failed)?),
        Algorithm::Ed25519 => Curve::Ed25519(Ed25519SigningKey::from_pkcs8_der(file).map_err(failed)?),
        _ => return Err(Error::General(format!("graviola has no keys of {algorithm}"))),
    };
    Ok(Arc::new(Key { curve: Arc::new(curve), public }))
}

enum Curve {
    P256(EcdsaKey<P256>),
    P384(EcdsaKey<P384>),
    Ed25519(Ed25519SigningKey),
}

impl Curve {
    fn scheme(&self) -> SignatureScheme {
        match self {
            Self::P256(_) => SignatureScheme::ECDSA_NISTP256_SHA256,
            Self::P384(_) => SignatureScheme::ECDSA_NISTP384_SHA384,
            Self::Ed25519(_) => SignatureScheme::ED25519,
        }
    }
}

struct Key {
    curve: Arc<Curve>,
    /// SubjectPublicKeyInfo.
    public: Vec<u8>,
}

impl SigningKey for Key {
    fn choose_scheme(&self, offered: &[SignatureScheme]) -> Option<Box<dyn Signer>> {
        offered
            .contains(&self.curve.scheme())
            .then(|| -> Box<dyn Signer> { Box::new(Once(Arc::clone(&self.curve))) })
    }

    fn public_key(&self) -> Option<SubjectPublicKeyInfoDer<'_>> {
        Some(SubjectPublicKeyInfoDer::from(&self.public[..]))
    }

    fn algorithm(&self) -> SignatureAlgorithm {
        match *self.curve {
            Curve::Ed25519(_) => SignatureAlgorithm::ED25519,
            _ => SignatureAlgorithm::ECDSA,
        }
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({:?}, [redacted])", self.curve.scheme())
    }
}

/// The signature of one handshake.
struct Once(Arc<Curve>);

impl Signer for Once {
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, Error> {
        // An ECDSA-Sig-Value of P-384 has at most 104 bytes.
        let mut buffer = [0; 128];
        let signed = match &*self.0 {
            Curve::P256(key) => key.sign_asn1::<Sha256>(&[message], &mut buffer),
            Curve::P384(key) => key.sign_asn1::<Sha384>(&[message], &mut buffer),
            Curve::Ed25519(key) => return Ok(key.sign(message).to_vec()),
        };
        let signature = signed.map_err(|error| Error::General(format!("signing failed: {error:?}")))?;
        Ok(signature.to_vec())
    }

    fn scheme(&self) -> SignatureScheme {
        self.0.scheme()
    }
}

impl fmt::Debug for Once {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Once({:?}, [redacted])", self.0.scheme())
    }
}
