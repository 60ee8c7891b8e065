//! liboqs, as the crate `oqs` bundles it.

use super::Peer;
use anyhow::{Context, Result};
use oqs::kem::{self, Kem};
use oqs::sig::{self, Sig};

pub struct Liboqs;

impl Liboqs {
    pub fn new() -> Self {
        oqs::init();
        Self
    }
}

fn kem(set: &str) -> Result<Kem> {
    Ok(Kem::new(match set {
        "ML-KEM-512" => kem::Algorithm::MlKem512,
        "ML-KEM-768" => kem::Algorithm::MlKem768,
        _ => kem::Algorithm::MlKem1024,
    })?)
}

fn sig(set: &str) -> Result<Sig> {
    Ok(Sig::new(match set {
        "ML-DSA-44" => sig::Algorithm::MlDsa44,
        "ML-DSA-65" => sig::Algorithm::MlDsa65,
        _ => sig::Algorithm::MlDsa87,
    })?)
}

const LENGTH: &str = "the right length";

impl Peer for Liboqs {
    fn name(&self) -> &'static str {
        "liboqs"
    }

    fn kem_pair(&self, set: &str, seed: &[u8; 64]) -> Result<(Vec<u8>, Vec<u8>)> {
        let kem = kem(set)?;
        let (public, private) = kem.keypair_derand(kem.keypair_seed_from_bytes(seed).context(LENGTH)?)?;
        Ok((public.into_vec(), private.into_vec()))
    }

    fn encapsulate(&self, set: &str, ek: &[u8]) -> Result<(Vec<u8>, Vec<u8>)> {
        let kem = kem(set)?;
        let (c, shared) = kem.encapsulate(kem.public_key_from_bytes(ek).context(LENGTH)?)?;
        Ok((c.into_vec(), shared.into_vec()))
    }

    fn decapsulate(&self, set: &str, dk: &[u8], c: &[u8]) -> Result<Vec<u8>> {
        let kem = kem(set)?;
        let private = kem.secret_key_from_bytes(dk).context(LENGTH)?;
        Ok(kem.decapsulate(private, kem.ciphertext_from_bytes(c).context(LENGTH)?)?.into_vec())
    }

    fn dsa_pair(&self, set: &str) -> Result<(Vec<u8>, Vec<u8>)> {
        let (public, private) = sig(set)?.keypair()?;
        Ok((public.into_vec(), private.into_vec()))
    }

    fn verifying_key(&self, _: &str, _: &[u8; 32]) -> Option<Vec<u8>> {
        None
    }

    fn sign(&self, set: &str, sk: &[u8], message: &[u8]) -> Result<Vec<u8>> {
        let sig = sig(set)?;
        Ok(sig.sign(message, sig.secret_key_from_bytes(sk).context(LENGTH)?)?.into_vec())
    }

    fn verify(&self, set: &str, vk: &[u8], message: &[u8], signature: &[u8]) -> Result<()> {
        let sig = sig(set)?;
        let signature = sig.signature_from_bytes(signature).context(LENGTH)?;
        Ok(sig.verify(message, signature, sig.public_key_from_bytes(vk).context(LENGTH)?)?)
    }
}
