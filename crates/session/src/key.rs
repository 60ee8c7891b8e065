//! The identity key of an agent, as rustls wants it: it stays in the agent.

use std::fmt;
use std::sync::Arc;

use gambeson_identity::{Agent, Algorithm, Role, VerifyingKey};
use gambeson_pki::PublicKey;
use gambeson_rustls::Scheme;
use gambeson_rustls::rustls::pki_types::SubjectPublicKeyInfoDer;
use gambeson_rustls::rustls::sign::{Signer, SigningKey};
use gambeson_rustls::rustls::{Error, SignatureAlgorithm, SignatureScheme};

use crate::error::Result;

/// It signs for the agent.
#[derive(Clone)]
pub(crate) struct IdentityKey {
    agent: Arc<Agent>,
    scheme: SignatureScheme,
    /// SubjectPublicKeyInfo.
    public: Vec<u8>,
}

impl IdentityKey {
    pub(crate) fn of(agent: Arc<Agent>) -> Result<Self> {
        let key = agent.key(Role::Identity).verifying_key();
        let scheme = match key.algorithm() {
            Algorithm::MlDsa44 => Scheme::ML_DSA_44,
            Algorithm::MlDsa65 => Scheme::ML_DSA_65,
            Algorithm::MlDsa87 => Scheme::ML_DSA_87,
        };
        let scheme = SignatureScheme::from(scheme.number());
        Ok(Self { public: to_spki(&key)?, scheme, agent })
    }
}

impl SigningKey for IdentityKey {
    fn choose_scheme(&self, offered: &[SignatureScheme]) -> Option<Box<dyn Signer>> {
        offered.contains(&self.scheme).then(|| -> Box<dyn Signer> { Box::new(self.clone()) })
    }

    fn public_key(&self) -> Option<SubjectPublicKeyInfoDer<'_>> {
        Some(SubjectPublicKeyInfoDer::from(&self.public[..]))
    }

    /// Of cipher suites of TLS 1.2, none of which is for such keys.
    fn algorithm(&self) -> SignatureAlgorithm {
        SignatureAlgorithm::Unknown(0)
    }
}

impl Signer for IdentityKey {
    /// With the empty context, as draft-ietf-tls-mldsa asks; what TLS signs begins with 64 spaces and its own label.
    fn sign(&self, message: &[u8]) -> std::result::Result<Vec<u8>, Error> {
        let signature = self.agent.key(Role::Identity).sign(b"", message);
        signature.map_err(|error| Error::General(error.to_string()))
    }

    fn scheme(&self) -> SignatureScheme {
        self.scheme
    }
}

impl fmt::Debug for IdentityKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "IdentityKey({}, [redacted])", self.agent.did())
    }
}

/// The key as a raw public key.
fn to_spki(key: &VerifyingKey) -> Result<Vec<u8>> {
    let algorithm = match key.algorithm() {
        Algorithm::MlDsa44 => gambeson_pki::Algorithm::MlDsa44,
        Algorithm::MlDsa65 => gambeson_pki::Algorithm::MlDsa65,
        Algorithm::MlDsa87 => gambeson_pki::Algorithm::MlDsa87,
    };
    let key = PublicKey::from_bytes(algorithm, key.as_bytes());
    Ok(key.map_err(|error| Error::General(error.to_string()))?.to_spki_der())
}

/// Whether a raw public key is this key.
pub(crate) fn is_same(spki: &[u8], key: &VerifyingKey) -> bool {
    to_spki(key).is_ok_and(|known| known == spki)
}

/// Whether a raw public key is of an algorithm that identity keys have.
pub(crate) fn is_of_an_agent(spki: &[u8]) -> bool {
    PublicKey::from_spki_der(spki).is_ok_and(|key| {
        matches!(key.algorithm(), gambeson_pki::Algorithm::MlDsa65 | gambeson_pki::Algorithm::MlDsa87)
    })
}
