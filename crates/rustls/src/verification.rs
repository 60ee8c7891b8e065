//! Public keys of certificates: what chains and CertificateVerify are verified with.

use gambeson_hybrid::composite;
use gambeson_pki::{Algorithm, PublicKey};
use rustls::pki_types::{AlgorithmIdentifier, InvalidSignature, SignatureVerificationAlgorithm, alg_id};

/// Verification of one algorithm of ours.
#[derive(Debug)]
pub(crate) struct Verification {
    pub(crate) algorithm: Algorithm,
    /// Of keys and of signatures.
    identifier: AlgorithmIdentifier,
}

macro_rules! table {
    ($($algorithm:ident = $identifier:expr;)*) => {
        /// All of them.
        pub(crate) static VERIFICATIONS: &[&Verification] =
            &[$(&Verification { algorithm: Algorithm::$algorithm, identifier: $identifier }),*];
    };
}

table! {
    MlDsa65 = alg_id::ML_DSA_65;
    MlDsa87 = alg_id::ML_DSA_87;
    MlDsa44 = alg_id::ML_DSA_44;
    Ed448 = alg_id::ED448;
    Ed25519 = alg_id::ED25519;
    MlDsa87Ed448 = AlgorithmIdentifier::from_slice(composite::MLDSA87_ED448_SHAKE256.oid());
    MlDsa87EcdsaP384 = AlgorithmIdentifier::from_slice(composite::MLDSA87_ECDSA_P384_SHA512.oid());
    MlDsa65Ed25519 = AlgorithmIdentifier::from_slice(composite::MLDSA65_ED25519_SHA512.oid());
    MlDsa65EcdsaP384 = AlgorithmIdentifier::from_slice(composite::MLDSA65_ECDSA_P384_SHA512.oid());
    MlDsa65EcdsaP256 = AlgorithmIdentifier::from_slice(composite::MLDSA65_ECDSA_P256_SHA512.oid());
    MlDsa44Ed25519 = AlgorithmIdentifier::from_slice(composite::MLDSA44_ED25519_SHA512.oid());
    MlDsa44EcdsaP256 = AlgorithmIdentifier::from_slice(composite::MLDSA44_ECDSA_P256_SHA256.oid());
}

/// That of `algorithm`, if it is one of ours.
pub(crate) fn of(algorithm: Algorithm) -> Option<&'static Verification> {
    VERIFICATIONS.iter().copied().find(|verification| verification.algorithm == algorithm)
}

/// Whether it is a composite of ML-DSA and a curve.
pub(crate) fn is_composite(algorithm: Algorithm) -> bool {
    composite::Algorithm::by_name(algorithm.name()).is_some()
}

impl SignatureVerificationAlgorithm for Verification {
    fn verify_signature(&self, key: &[u8], message: &[u8], signature: &[u8]) -> Result<(), InvalidSignature> {
        let key = PublicKey::from_bytes(self.algorithm, key).map_err(|_| InvalidSignature)?;
        key.verify(message, signature).map_err(|_| InvalidSignature)
    }

    fn public_key_alg_id(&self) -> AlgorithmIdentifier {
        self.identifier
    }

    fn signature_alg_id(&self) -> AlgorithmIdentifier {
        self.identifier
    }
}
