//! SLH-DSA (FIPS 205). The parameter set is its name.

use gambeson::secret::StackGuard;
use gambeson::slhdsa::{
    DigestRef, Message, ParameterSet, PreHash, SigningKey, SigningKeyError, VerifyingKey,
};
use wasm_bindgen::prelude::*;
use zeroize::Zeroizing;

use crate::failure::{GambesonError, failure, no_randomness, wrong_length};

fn set_of(name: &str) -> Result<ParameterSet, GambesonError> {
    let set = ParameterSet::ALL.iter().copied().find(|set| set.name() == name);
    set.ok_or_else(|| failure("bad-form", "unknown parameter set"))
}

/// A signing key.
#[wasm_bindgen]
pub struct SlhDsaKey(Box<SigningKey>);

/// Makes a key on the heap. A key that moves leaves copies on the stack, which are wiped.
fn boxed(make: impl FnOnce() -> Result<SigningKey, GambesonError>) -> Result<SlhDsaKey, GambesonError> {
    #[inline(never)]
    fn made(
        make: impl FnOnce() -> Result<SigningKey, GambesonError>,
    ) -> Result<Box<SigningKey>, GambesonError> {
        make().map(Box::new)
    }
    let _guard = StackGuard::<4096>;
    made(make).map(SlhDsaKey)
}

#[wasm_bindgen]
impl SlhDsaKey {
    /// A new key.
    pub fn generate(set: &str) -> Result<SlhDsaKey, GambesonError> {
        let set = set_of(set)?;
        boxed(|| SigningKey::generate(set).map_err(no_randomness))
    }

    /// The key of SK.seed, SK.prf and PK.seed, one behind the other.
    #[wasm_bindgen(js_name = fromSeed)]
    pub fn from_seed(set: &str, seeds: Vec<u8>) -> Result<SlhDsaKey, GambesonError> {
        let (set, seeds) = (set_of(set)?, Zeroizing::new(seeds));
        let n = set.seed_len();
        if seeds.len() != 3 * n {
            return Err(wrong_length("seeds", 3 * n, seeds.len()));
        }
        let (sk_seed, rest) = seeds.split_at(n);
        let (sk_prf, pk_seed) = rest.split_at(n);
        boxed(|| {
            let key = SigningKey::from_seeds(set, sk_seed, sk_prf, pk_seed);
            key.map_err(|error| failure("bad-length", error))
        })
    }

    /// The key of its bytes.
    #[wasm_bindgen(js_name = fromBytes)]
    pub fn from_bytes(set: &str, bytes: Vec<u8>) -> Result<SlhDsaKey, GambesonError> {
        let (set, bytes) = (set_of(set)?, Zeroizing::new(bytes));
        boxed(|| {
            SigningKey::from_bytes(set, &bytes).map_err(|error| match error {
                SigningKeyError::Length(_) => failure("bad-length", error),
                _ => failure("bad-key", error),
            })
        })
    }

    /// A copy of the bytes.
    #[wasm_bindgen(js_name = exportBytes)]
    pub fn export_bytes(&self) -> Vec<u8> {
        self.0.expose_bytes().to_vec()
    }

    /// The bytes of the verifying key.
    #[wasm_bindgen(js_name = verifyingKey)]
    pub fn verifying_key(&self) -> Vec<u8> {
        self.0.verifying_key().as_bytes().to_vec()
    }

    /// Signs a message, or with the name of a hash function the digest that it made.
    pub fn sign(
        &self,
        message: &[u8],
        prehash: Option<String>,
        context: &[u8],
        deterministic: bool,
    ) -> Result<Vec<u8>, GambesonError> {
        let message = message_of(message, prehash.as_deref(), context)?;
        if deterministic {
            return Ok(self.0.sign_deterministic(message));
        }
        self.0.sign(message).map_err(no_randomness)
    }
}

/// Refuses bytes that are no verifying key, and signatures that are not of this message by it.
#[wasm_bindgen(js_name = verifySlhDsa)]
pub fn verify_slh_dsa(
    set: &str,
    key: &[u8],
    signature: &[u8],
    message: &[u8],
    prehash: Option<String>,
    context: &[u8],
) -> Result<(), GambesonError> {
    let key = VerifyingKey::from_bytes(set_of(set)?, key).map_err(|error| failure("bad-length", error))?;
    let message = message_of(message, prehash.as_deref(), context)?;
    key.verify(message, signature).map_err(|error| failure("bad-signature", error))
}

fn message_of<'a>(
    message: &'a [u8],
    prehash: Option<&str>,
    context: &'a [u8],
) -> Result<Message<'a>, GambesonError> {
    let made = match prehash {
        None => Message::pure(message, context),
        Some(name) => {
            let function: PreHash = name.parse().map_err(|error| failure("bad-form", error))?;
            let digest = DigestRef::from_bytes(function, message);
            Message::prehashed(digest.map_err(|error| failure("bad-length", error))?, context)
        }
    };
    made.map_err(|error| failure("bad-length", error))
}
