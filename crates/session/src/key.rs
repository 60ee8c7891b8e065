//! The identity key of an agent, as rustls wants it: it stays in the agent.

use std::fmt;
use std::sync::{Arc, LazyLock};

use gambeson_identity::{Agent, Algorithm, Role, VerifyingKey};
use gambeson_pki::PublicKey;
use gambeson_rustls::Scheme;
use gambeson_rustls::rustls::pki_types::SubjectPublicKeyInfoDer;
use gambeson_rustls::rustls::sign::{Signer, SigningKey};
use gambeson_rustls::rustls::{Error, SignatureAlgorithm, SignatureScheme};

/// It signs for the agent.
#[derive(Clone)]
pub(crate) struct IdentityKey {
    agent: Arc<Agent>,
    scheme: SignatureScheme,
    /// SubjectPublicKeyInfo.
    public: Arc<[u8]>,
}

impl IdentityKey {
    pub(crate) fn of(agent: Arc<Agent>) -> Self {
        let key = agent.key(Role::Identity).verifying_key();
        let scheme = match key.algorithm() {
            Algorithm::MlDsa44 => Scheme::ML_DSA_44,
            Algorithm::MlDsa65 => Scheme::ML_DSA_65,
            Algorithm::MlDsa87 => Scheme::ML_DSA_87,
        };
        let scheme = SignatureScheme::from(scheme.number());
        let public = [before(key.algorithm()), key.as_bytes()].concat().into();
        Self { public, scheme, agent }
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
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, Error> {
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

/// Whether a raw public key is this key.
pub(crate) fn is_same(spki: &[u8], key: &VerifyingKey) -> bool {
    spki.strip_suffix(key.as_bytes()) == Some(before(key.algorithm()))
}

/// Whether a raw public key is of an algorithm that identity keys have.
pub(crate) fn is_of_an_agent(spki: &[u8]) -> bool {
    [Algorithm::MlDsa65, Algorithm::MlDsa87].into_iter().any(|algorithm| {
        spki.strip_prefix(before(algorithm)).is_some_and(|key| key.len() == algorithm.key_len())
    })
}

/// What stands before a key of that algorithm in its SubjectPublicKeyInfo: DER has one form of it (RFC 9881), so that nothing need be
/// parsed.
fn before(algorithm: Algorithm) -> &'static [u8] {
    static ALL: LazyLock<[Vec<u8>; 3]> = LazyLock::new(|| {
        Algorithm::ALL.map(|algorithm| {
            let any = PublicKey::from_bytes(of_pki(algorithm), &vec![0; algorithm.key_len()]);
            let mut spki = any.expect("any bytes of the right length are a key of ML-DSA").to_spki_der();
            spki.truncate(spki.len() - algorithm.key_len());
            spki
        })
    });
    match algorithm {
        Algorithm::MlDsa44 => &ALL[0],
        Algorithm::MlDsa65 => &ALL[1],
        Algorithm::MlDsa87 => &ALL[2],
    }
}

fn of_pki(algorithm: Algorithm) -> gambeson_pki::Algorithm {
    match algorithm {
        Algorithm::MlDsa44 => gambeson_pki::Algorithm::MlDsa44,
        Algorithm::MlDsa65 => gambeson_pki::Algorithm::MlDsa65,
        Algorithm::MlDsa87 => gambeson_pki::Algorithm::MlDsa87,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // A test may fail that way.

    use super::*;

    #[test]
    fn a_raw_public_key_is_recognised_by_all_of_its_bytes() {
        for algorithm in Algorithm::ALL {
            let bytes: Vec<u8> = (0..algorithm.key_len()).map(|at| at as u8).collect();
            let key = VerifyingKey::from_bytes(algorithm, &bytes).unwrap();
            let spki = PublicKey::from_bytes(of_pki(algorithm), &bytes).unwrap().to_spki_der();
            assert!(is_same(&spki, &key));
            assert_eq!(is_of_an_agent(&spki), algorithm != Algorithm::MlDsa44);
            for at in (0..30).chain([spki.len() - 1]) {
                let mut other = spki.clone();
                other[at] ^= 1;
                assert!(!is_same(&other, &key));
                assert_eq!(
                    is_of_an_agent(&other),
                    PublicKey::from_spki_der(&other).is_ok_and(is_taken),
                    "{at}"
                );
            }
            for other in [&spki[1..], &spki[..spki.len() - 1], &[&spki[..], &[0]].concat(), &bytes, &[]] {
                assert!(!is_same(other, &key) && !is_of_an_agent(other));
            }
        }
    }

    fn is_taken(key: PublicKey) -> bool {
        [gambeson_pki::Algorithm::MlDsa65, gambeson_pki::Algorithm::MlDsa87].contains(&key.algorithm())
    }
}
