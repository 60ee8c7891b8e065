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
    SlhDsaSha2_128s = AlgorithmIdentifier::from_slice(const { &slh_dsa(20) });
    SlhDsaSha2_128f = AlgorithmIdentifier::from_slice(const { &slh_dsa(21) });
    SlhDsaSha2_192s = AlgorithmIdentifier::from_slice(const { &slh_dsa(22) });
    SlhDsaSha2_192f = AlgorithmIdentifier::from_slice(const { &slh_dsa(23) });
    SlhDsaSha2_256s = AlgorithmIdentifier::from_slice(const { &slh_dsa(24) });
    SlhDsaSha2_256f = AlgorithmIdentifier::from_slice(const { &slh_dsa(25) });
    SlhDsaShake128s = AlgorithmIdentifier::from_slice(const { &slh_dsa(26) });
    SlhDsaShake128f = AlgorithmIdentifier::from_slice(const { &slh_dsa(27) });
    SlhDsaShake192s = AlgorithmIdentifier::from_slice(const { &slh_dsa(28) });
    SlhDsaShake192f = AlgorithmIdentifier::from_slice(const { &slh_dsa(29) });
    SlhDsaShake256s = AlgorithmIdentifier::from_slice(const { &slh_dsa(30) });
    SlhDsaShake256f = AlgorithmIdentifier::from_slice(const { &slh_dsa(31) });
}

/// The identifier of a parameter set of SLH-DSA (RFC 9909, section 3), by its number below 2.16.840.1.101.3.4.3; without parameters.
const fn slh_dsa(number: u8) -> [u8; 11] {
    [0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x03, number]
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
