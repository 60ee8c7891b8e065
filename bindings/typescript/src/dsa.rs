//! ML-DSA (FIPS 204).

use gambeson::mldsa::{
    Message, MlDsa44, MlDsa65, MlDsa87, MuHasher, ParameterSet, SigningKey, VerifyingKeyRef,
};
use wasm_bindgen::prelude::*;
use zeroize::Zeroizing;

use crate::failure::{GambesonError, failure, no_randomness, seed_of, wrong_length};

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

/// A signing key, and the seed it came from.
#[wasm_bindgen]
pub struct DsaKey {
    key: Key,
    seed: Zeroizing<Vec<u8>>,
}

enum Key {
    MlDsa44(SigningKey<MlDsa44>),
    MlDsa65(SigningKey<MlDsa65>),
    MlDsa87(SigningKey<MlDsa87>),
}

#[wasm_bindgen]
impl DsaKey {
    /// The key of a seed of 32 bytes.
    #[wasm_bindgen(js_name = fromSeed)]
    pub fn from_seed(dsa: Dsa, seed: Vec<u8>) -> Result<DsaKey, GambesonError> {
        let seed = Zeroizing::new(seed);
        let xi = seed_of(&seed)?;
        let key = match dsa {
            Dsa::MlDsa44 => Key::MlDsa44(SigningKey::from_seed(xi)),
            Dsa::MlDsa65 => Key::MlDsa65(SigningKey::from_seed(xi)),
            Dsa::MlDsa87 => Key::MlDsa87(SigningKey::from_seed(xi)),
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
        self.sign_as(in_context(message, context)?)
    }

    /// Signs μ of a message (FIPS 204, Algorithm 7, line 6).
    #[wasm_bindgen(js_name = signMu)]
    pub fn sign_mu(&self, mu: &[u8]) -> Result<Vec<u8>, GambesonError> {
        self.sign_as(Message::mu(mu_of(mu)?))
    }
}

impl DsaKey {
    fn sign_as(&self, message: Message<'_>) -> Result<Vec<u8>, GambesonError> {
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
    verify_as(dsa, key, signature, in_context(message, context)?)
}

/// As `verify`, of μ of a message.
#[wasm_bindgen(js_name = verifyMu)]
pub fn verify_mu(dsa: Dsa, key: &[u8], signature: &[u8], mu: &[u8]) -> Result<(), GambesonError> {
    verify_as(dsa, key, signature, Message::mu(mu_of(mu)?))
}

fn verify_as(dsa: Dsa, key: &[u8], signature: &[u8], message: Message<'_>) -> Result<(), GambesonError> {
    fn of<P: ParameterSet>(key: &[u8], signature: &[u8], message: Message<'_>) -> Result<(), GambesonError> {
        key_of::<P>(key)?.verify(message, signature).map_err(|error| failure("bad-signature", error))
    }
    match dsa {
        Dsa::MlDsa44 => of::<MlDsa44>(key, signature, message),
        Dsa::MlDsa65 => of::<MlDsa65>(key, signature, message),
        Dsa::MlDsa87 => of::<MlDsa87>(key, signature, message),
    }
}

/// μ of a message that comes in parts.
#[wasm_bindgen]
pub struct Mu(MuHasher);

#[wasm_bindgen]
impl Mu {
    /// Begins, for the key that signs, in a context.
    pub fn of(dsa: Dsa, key: &[u8], context: &[u8]) -> Result<Mu, GambesonError> {
        let begun = match dsa {
            Dsa::MlDsa44 => key_of::<MlDsa44>(key)?.mu_hasher(context),
            Dsa::MlDsa65 => key_of::<MlDsa65>(key)?.mu_hasher(context),
            Dsa::MlDsa87 => key_of::<MlDsa87>(key)?.mu_hasher(context),
        };
        begun.map(Self).map_err(|error| failure("bad-length", error))
    }

    /// The next part.
    pub fn update(&mut self, part: &[u8]) {
        self.0.update(part);
    }

    /// μ of all parts.
    pub fn finalize(&mut self) -> Vec<u8> {
        self.0.finalize().to_vec()
    }
}

fn key_of<P: ParameterSet>(key: &[u8]) -> Result<VerifyingKeyRef<'_, P>, GambesonError> {
    VerifyingKeyRef::try_from(key).map_err(|error| failure("bad-length", error))
}

fn mu_of(mu: &[u8]) -> Result<&[u8; 64], GambesonError> {
    mu.try_into().map_err(|_| wrong_length("a message representative", 64, mu.len()))
}

fn in_context<'a>(message: &'a [u8], context: &'a [u8]) -> Result<Message<'a>, GambesonError> {
    Message::pure(message, context).map_err(|error| failure("bad-length", error))
}
