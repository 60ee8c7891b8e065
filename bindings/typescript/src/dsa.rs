//! ML-DSA (FIPS 204).

use gambeson::mldsa::{ExpandedSigningKey, Message, MlDsa44, MlDsa65, MlDsa87, ParameterSet, VerifyingKey};
use wasm_bindgen::prelude::*;
use zeroize::Zeroizing;

use crate::failure::{GambesonError, failure, no_randomness, seed_of};

/// A parameter set of ML-DSA.
#[wasm_bindgen]
#[derive(Clone, Copy)]
pub enum Dsa {
    /// ML-DSA-44.
    MlDsa44,
    /// ML-DSA-65.
    MlDsa65,
    /// ML-DSA-87.
    MlDsa87,
}

/// A signing key, in the form that remembers its matrix, and the seed it came from.
#[wasm_bindgen]
pub struct DsaKey {
    key: Key,
    seed: Zeroizing<Vec<u8>>,
}

enum Key {
    MlDsa44(ExpandedSigningKey<MlDsa44>),
    MlDsa65(ExpandedSigningKey<MlDsa65>),
    MlDsa87(ExpandedSigningKey<MlDsa87>),
}

#[wasm_bindgen]
impl DsaKey {
    /// The key of a seed of 32 bytes.
    #[wasm_bindgen(js_name = fromSeed)]
    pub fn from_seed(dsa: Dsa, seed: Vec<u8>) -> Result<DsaKey, GambesonError> {
        let seed = Zeroizing::new(seed);
        let xi = seed_of(&seed)?;
        let key = match dsa {
            Dsa::MlDsa44 => Key::MlDsa44(ExpandedSigningKey::from_seed(xi)),
            Dsa::MlDsa65 => Key::MlDsa65(ExpandedSigningKey::from_seed(xi)),
            Dsa::MlDsa87 => Key::MlDsa87(ExpandedSigningKey::from_seed(xi)),
        };
        Ok(Self { key, seed })
    }

    /// A new key.
    pub fn generate(dsa: Dsa) -> Result<DsaKey, GambesonError> {
        let mut seed = vec![0; 32];
        getrandom::fill(&mut seed).map_err(no_randomness)?;
        Self::from_seed(dsa, seed)
    }

    /// A copy of the seed.
    #[wasm_bindgen(js_name = exportSeed)]
    pub fn export_seed(&self) -> Vec<u8> {
        self.seed.to_vec()
    }

    /// The bytes of the verifying key.
    #[wasm_bindgen(js_name = verifyingKey)]
    pub fn verifying_key(&self) -> Vec<u8> {
        match &self.key {
            Key::MlDsa44(key) => key.verifying_key().as_bytes().to_vec(),
            Key::MlDsa65(key) => key.verifying_key().as_bytes().to_vec(),
            Key::MlDsa87(key) => key.verifying_key().as_bytes().to_vec(),
        }
    }

    /// Signs, with fresh randomness.
    pub fn sign(&self, message: &[u8], context: &[u8]) -> Result<Vec<u8>, GambesonError> {
        let message = in_context(message, context)?;
        match &self.key {
            Key::MlDsa44(key) => key.sign(message).map(|signature| signature.to_vec()),
            Key::MlDsa65(key) => key.sign(message).map(|signature| signature.to_vec()),
            Key::MlDsa87(key) => key.sign(message).map(|signature| signature.to_vec()),
        }
        .map_err(no_randomness)
    }
}

/// Refuses bytes that are no verifying key, and signatures that are not of this message by it.
#[wasm_bindgen]
pub fn verify(
    dsa: Dsa,
    key: &[u8],
    signature: &[u8],
    message: &[u8],
    context: &[u8],
) -> Result<(), GambesonError> {
    fn of<P: ParameterSet>(key: &[u8], signature: &[u8], message: Message) -> Result<(), GambesonError> {
        let key = VerifyingKey::<P>::try_from(key).map_err(|error| failure("bad-length", error))?;
        key.verify(message, signature).map_err(|error| failure("bad-signature", error))
    }
    let message = in_context(message, context)?;
    match dsa {
        Dsa::MlDsa44 => of::<MlDsa44>(key, signature, message),
        Dsa::MlDsa65 => of::<MlDsa65>(key, signature, message),
        Dsa::MlDsa87 => of::<MlDsa87>(key, signature, message),
    }
}

fn in_context<'a>(message: &'a [u8], context: &'a [u8]) -> Result<Message<'a>, GambesonError> {
    Message::pure(message, context).map_err(|error| failure("bad-length", error))
}
