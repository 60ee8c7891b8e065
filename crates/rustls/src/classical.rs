//! What graviola leaves out: ECDSA on P-521, and Edwards curves in TLS 1.2.

use std::sync::{Arc, Mutex, PoisonError};

use p521::ecdsa::signature::{Signer as _, Verifier as _};
use p521::ecdsa::{DerSignature, SigningKey as P521Key, VerifyingKey};
use p521::pkcs8::{DecodePrivateKey, EncodePublicKey};
use rustls::crypto::WebPkiSupportedAlgorithms;
use rustls::pki_types::{
    AlgorithmIdentifier, InvalidSignature, PrivateKeyDer, SignatureVerificationAlgorithm,
    SubjectPublicKeyInfoDer, alg_id,
};
use rustls::sign::{Signer, SigningKey};
use rustls::{
    CipherSuiteCommon, Error, SignatureAlgorithm, SignatureScheme, SupportedCipherSuite, Tls12CipherSuite,
};

/// Verifies ECDSA on P-521 with SHA-512 (FIPS 186-5).
#[derive(Debug)]
pub(crate) struct P521;

impl SignatureVerificationAlgorithm for P521 {
    fn verify_signature(&self, key: &[u8], message: &[u8], signature: &[u8]) -> Result<(), InvalidSignature> {
        let key = VerifyingKey::from_sec1_bytes(key).map_err(|_| InvalidSignature)?;
        let signature = DerSignature::try_from(signature).map_err(|_| InvalidSignature)?;
        key.verify(message, &signature).map_err(|_| InvalidSignature)
    }

    fn public_key_alg_id(&self) -> AlgorithmIdentifier {
        alg_id::ECDSA_P521
    }

    fn signature_alg_id(&self) -> AlgorithmIdentifier {
        alg_id::ECDSA_SHA512
    }
}

/// Whether a base verifies it by itself.
pub(crate) fn has_p521(base: &WebPkiSupportedAlgorithms) -> bool {
    base.all.iter().any(|known| known.public_key_alg_id() == alg_id::ECDSA_P521)
}

/// The key in a PKCS#8 file, if it is one of P-521.
pub(crate) fn p521_key(file: &PrivateKeyDer<'_>) -> Option<Arc<dyn SigningKey>> {
    let PrivateKeyDer::Pkcs8(file) = file else { return None };
    let key = p521::SecretKey::from_pkcs8_der(file.secret_pkcs8_der()).ok()?;
    let public = key.public_key().to_public_key_der().ok()?.into_vec();
    Some(Arc::new(Key { key: P521Key::from(&key), public }))
}

struct Key {
    key: P521Key,
    /// SubjectPublicKeyInfo.
    public: Vec<u8>,
}

impl SigningKey for Key {
    fn choose_scheme(&self, offered: &[SignatureScheme]) -> Option<Box<dyn Signer>> {
        let offered = offered.contains(&SignatureScheme::ECDSA_NISTP521_SHA512);
        offered.then(|| -> Box<dyn Signer> { Box::new(Once(self.key.clone())) })
    }

    fn public_key(&self) -> Option<SubjectPublicKeyInfoDer<'_>> {
        Some(SubjectPublicKeyInfoDer::from(&self.public[..]))
    }

    fn algorithm(&self) -> SignatureAlgorithm {
        SignatureAlgorithm::ECDSA
    }
}

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key(P-521, [redacted])")
    }
}

/// The signature of one handshake.
struct Once(P521Key);

impl Signer for Once {
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, Error> {
        let signature: DerSignature =
            self.0.try_sign(message).map_err(|error| Error::General(error.to_string()))?;
        Ok(signature.as_bytes().to_vec())
    }

    fn scheme(&self) -> SignatureScheme {
        SignatureScheme::ECDSA_NISTP521_SHA512
    }
}

impl std::fmt::Debug for Once {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Once(P-521, [redacted])")
    }
}

/// The suite itself, or for one of ECDSA the same with the Edwards curves beside it (RFC 8422, section 5.10): a client offers one list of
/// schemes for all versions.
pub(crate) fn with_edwards_curves(suite: SupportedCipherSuite) -> SupportedCipherSuite {
    static KNOWN: Mutex<Vec<&'static Tls12CipherSuite>> = Mutex::new(Vec::new());
    let SupportedCipherSuite::Tls12(theirs) = suite else { return suite };
    let missing: Vec<_> = [SignatureScheme::ED25519, SignatureScheme::ED448]
        .into_iter()
        .filter(|scheme| !theirs.sign.contains(scheme))
        .collect();
    if !theirs.sign.contains(&SignatureScheme::ECDSA_NISTP256_SHA256) || missing.is_empty() {
        return suite;
    }
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let ours = known.iter().copied().find(|ours| ours.common.suite == theirs.common.suite);
    SupportedCipherSuite::Tls12(ours.unwrap_or_else(|| {
        let made: &'static Tls12CipherSuite = Box::leak(Box::new(Tls12CipherSuite {
            common: CipherSuiteCommon { ..theirs.common },
            prf_provider: theirs.prf_provider,
            kx: theirs.kx,
            sign: Vec::leak([theirs.sign, &missing].concat()),
            aead_alg: theirs.aead_alg,
        }));
        known.push(made);
        made
    }))
}
