//! RustCrypto's `ml-kem` and `ml-dsa`.
#![allow(deprecated)] // The expanded encodings of private keys are what devices exchange.

use super::Peer;
use anyhow::{Context, Result};
use ml_dsa::{
    EncodedSignature, ExpandedSigningKey, MlDsa44, MlDsa65, MlDsa87, MlDsaParams, Signature, SigningKey,
    VerifyingKey,
};

pub struct RustCrypto;

/// What stands in for randomness.
const M: [u8; 32] = [0x5a; 32];

const LENGTH: &str = "the right length";

/// Calls a function of a module for the parameter set, or one with it as its parameter.
macro_rules! of_set {
    (kem $set:ident $name:ident($($argument:expr),*)) => {
        match $set {
            "ML-KEM-512" => ml_kem_512::$name($($argument),*),
            "ML-KEM-768" => ml_kem_768::$name($($argument),*),
            _ => ml_kem_1024::$name($($argument),*),
        }
    };
    (dsa $set:ident $name:ident($($argument:expr),*)) => {
        match $set {
            "ML-DSA-44" => $name::<MlDsa44>($($argument),*),
            "ML-DSA-65" => $name::<MlDsa65>($($argument),*),
            _ => $name::<MlDsa87>($($argument),*),
        }
    };
}

impl Peer for RustCrypto {
    fn name(&self) -> &'static str {
        "RustCrypto"
    }

    fn kem_pair(&self, set: &str, seed: &[u8; 64]) -> Result<(Vec<u8>, Vec<u8>)> {
        Ok(of_set!(kem set pair(seed)))
    }

    fn encapsulate(&self, set: &str, ek: &[u8]) -> Result<(Vec<u8>, Vec<u8>)> {
        of_set!(kem set encapsulate(ek))
    }

    fn decapsulate(&self, set: &str, dk: &[u8], c: &[u8]) -> Result<Vec<u8>> {
        of_set!(kem set decapsulate(dk, c))
    }

    fn dsa_pair(&self, set: &str) -> Result<(Vec<u8>, Vec<u8>)> {
        Ok(of_set!(dsa set pair(&M)))
    }

    fn verifying_key(&self, set: &str, seed: &[u8; 32]) -> Option<Vec<u8>> {
        Some(of_set!(dsa set pair(seed)).0)
    }

    fn sign(&self, set: &str, sk: &[u8], message: &[u8]) -> Result<Vec<u8>> {
        of_set!(dsa set sign(sk, message))
    }

    fn verify(&self, set: &str, vk: &[u8], message: &[u8], signature: &[u8]) -> Result<()> {
        of_set!(dsa set verify(vk, message, signature))
    }
}

macro_rules! kem {
    ($($set:ident)*) => {$(
        mod $set {
            use super::{Context, LENGTH, M, Result};
            use ml_kem::$set::{Ciphertext, DecapsulationKey, EncapsulationKey, ExpandedDecapsulationKey};
            use ml_kem::{B32, Decapsulate as _, ExpandedKeyEncoding as _, KeyExport as _, Seed};

            pub fn pair(seed: &[u8; 64]) -> (Vec<u8>, Vec<u8>) {
                let key = DecapsulationKey::from_seed(Seed::from(*seed));
                (key.encapsulation_key().to_bytes().to_vec(), key.to_expanded_bytes().to_vec())
            }

            pub fn encapsulate(ek: &[u8]) -> Result<(Vec<u8>, Vec<u8>)> {
                let ek = EncapsulationKey::new(ek.try_into().context(LENGTH)?)?;
                let (c, shared) = ek.encapsulate_deterministic(&B32::from(M));
                Ok((c.to_vec(), shared.to_vec()))
            }

            pub fn decapsulate(dk: &[u8], c: &[u8]) -> Result<Vec<u8>> {
                let dk: &ExpandedDecapsulationKey = dk.try_into().context(LENGTH)?;
                let dk = DecapsulationKey::from_expanded_bytes(dk)?;
                Ok(dk.decapsulate(&Ciphertext::try_from(c).context(LENGTH)?).to_vec())
            }
        }
    )*};
}

kem!(ml_kem_512 ml_kem_768 ml_kem_1024);

fn pair<P: MlDsaParams>(seed: &[u8; 32]) -> (Vec<u8>, Vec<u8>) {
    let key = SigningKey::<P>::from_seed(&(*seed).into());
    let public: &VerifyingKey<P> = key.as_ref();
    (public.encode().to_vec(), key.expanded_key().to_expanded().to_vec())
}

fn sign<P: MlDsaParams>(sk: &[u8], message: &[u8]) -> Result<Vec<u8>> {
    let key = ExpandedSigningKey::<P>::from_expanded(sk.try_into().context(LENGTH)?);
    Ok(key.sign_deterministic(message, &[])?.encode().to_vec())
}

fn verify<P: MlDsaParams>(vk: &[u8], message: &[u8], signature: &[u8]) -> Result<()> {
    let key = VerifyingKey::<P>::decode(vk.try_into().context(LENGTH)?);
    let signature: &EncodedSignature<P> = signature.try_into().context(LENGTH)?;
    let signature = Signature::<P>::decode(signature).context("the signature's bytes are none")?;
    anyhow::ensure!(key.verify_with_context(message, &[], &signature), "the signature does not hold");
    Ok(())
}
