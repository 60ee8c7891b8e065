//! ML-KEM (FIPS 203) and X-Wing.

use gambeson::mlkem::{
    DecapsulationKey, EncapsulationKey, MlKem512, MlKem768, MlKem1024, ParameterSet, SharedSecret,
};
use gambeson::{Bytes, RngError};
use gambeson_hybrid::xwing;
use wasm_bindgen::prelude::*;
use zeroize::Zeroizing;

use crate::failure::{GambesonError, failure, no_randomness, seed_of, wrong_length};

/// A key-encapsulation mechanism.
#[wasm_bindgen]
#[derive(Clone, Copy)]
pub enum Kem {
    /// ML-KEM-512.
    MlKem512,
    /// ML-KEM-768.
    MlKem768,
    /// ML-KEM-1024.
    MlKem1024,
    /// X-Wing: ML-KEM-768 with X25519.
    XWing,
}

/// A decapsulation key, and the seed it came from.
#[wasm_bindgen]
pub struct KemKey {
    key: Key,
    seed: Zeroizing<Vec<u8>>,
}

enum Key {
    MlKem512(DecapsulationKey<MlKem512>),
    MlKem768(DecapsulationKey<MlKem768>),
    MlKem1024(DecapsulationKey<MlKem1024>),
    XWing(Box<xwing::DecapsulationKey>),
}

#[wasm_bindgen]
impl KemKey {
    /// The key of a seed: 64 bytes, for X-Wing 32.
    #[wasm_bindgen(js_name = fromSeed)]
    pub fn from_seed(kem: Kem, seed: Vec<u8>) -> Result<KemKey, GambesonError> {
        let seed = Zeroizing::new(seed);
        let key = match kem {
            Kem::MlKem512 => Key::MlKem512(DecapsulationKey::from_seed(seed_of(&seed)?)),
            Kem::MlKem768 => Key::MlKem768(DecapsulationKey::from_seed(seed_of(&seed)?)),
            Kem::MlKem1024 => Key::MlKem1024(DecapsulationKey::from_seed(seed_of(&seed)?)),
            Kem::XWing => Key::XWing(Box::new(xwing::DecapsulationKey::from_seed(seed_of(&seed)?))),
        };
        Ok(Self { key, seed })
    }

    /// A new key.
    pub fn generate(kem: Kem) -> Result<KemKey, GambesonError> {
        let mut seed = vec![0; if matches!(kem, Kem::XWing) { 32 } else { 64 }];
        getrandom::fill(&mut seed).map_err(|_| no_randomness(RngError))?;
        Self::from_seed(kem, seed)
    }

    /// A copy of the seed.
    #[wasm_bindgen(js_name = exportSeed)]
    pub fn export_seed(&self) -> Vec<u8> {
        self.seed.to_vec()
    }

    /// The bytes of the encapsulation key.
    #[wasm_bindgen(js_name = encapsulationKey)]
    pub fn encapsulation_key(&self) -> Vec<u8> {
        match &self.key {
            Key::MlKem512(key) => key.encapsulation_key().as_bytes().to_vec(),
            Key::MlKem768(key) => key.encapsulation_key().as_bytes().to_vec(),
            Key::MlKem1024(key) => key.encapsulation_key().as_bytes().to_vec(),
            Key::XWing(key) => key.encapsulation_key().as_bytes().to_vec(),
        }
    }

    /// The shared secret that a ciphertext carries.
    pub fn decapsulate(&self, ciphertext: &[u8]) -> Result<Vec<u8>, GambesonError> {
        let shared = match &self.key {
            Key::MlKem512(key) => key.decapsulate(&sized("a ciphertext", ciphertext)?),
            Key::MlKem768(key) => key.decapsulate(&sized("a ciphertext", ciphertext)?),
            Key::MlKem1024(key) => key.decapsulate(&sized("a ciphertext", ciphertext)?),
            Key::XWing(key) => key.decapsulate(&sized("a ciphertext", ciphertext)?),
        };
        Ok(shared.expose().to_vec())
    }
}

/// Refuses bytes that are no encapsulation key (FIPS 203, §7.2).
#[wasm_bindgen(js_name = checkEncapsulationKey)]
pub fn check_encapsulation_key(kem: Kem, key: &[u8]) -> Result<(), GambesonError> {
    match kem {
        Kem::MlKem512 => encapsulation_key::<MlKem512>(key).map(drop),
        Kem::MlKem768 => encapsulation_key::<MlKem768>(key).map(drop),
        Kem::MlKem1024 => encapsulation_key::<MlKem1024>(key).map(drop),
        Kem::XWing => xwing_key(key).map(drop),
    }
}

/// A new shared secret of 32 bytes, and after it the ciphertext that carries it, for a key that is not kept.
#[wasm_bindgen]
pub fn encapsulate(kem: Kem, key: &[u8]) -> Result<Vec<u8>, GambesonError> {
    KemEncapsulationKey::of(kem, key)?.encapsulate()
}

/// An encapsulation key for many encapsulations.
#[wasm_bindgen]
pub struct KemEncapsulationKey(Public);

enum Public {
    MlKem512(EncapsulationKey<MlKem512>),
    MlKem768(EncapsulationKey<MlKem768>),
    MlKem1024(EncapsulationKey<MlKem1024>),
    XWing(Box<xwing::EncapsulationKey>),
}

#[wasm_bindgen]
impl KemEncapsulationKey {
    /// The key of these bytes, prepared for many encapsulations.
    pub fn prepare(kem: Kem, key: &[u8]) -> Result<KemEncapsulationKey, GambesonError> {
        let key = Self::of(kem, key)?;
        match &key.0 {
            Public::MlKem512(key) => key.prepare(),
            Public::MlKem768(key) => key.prepare(),
            Public::MlKem1024(key) => key.prepare(),
            Public::XWing(_) => {}
        }
        Ok(key)
    }

    /// A new shared secret of 32 bytes, and after it the ciphertext that carries it.
    pub fn encapsulate(&self) -> Result<Vec<u8>, GambesonError> {
        // By reference, and not in a `Result`: a secret that moves leaves a copy on the stack.
        fn joined<C: AsRef<[u8]>>((ciphertext, shared): &(C, SharedSecret)) -> Vec<u8> {
            [shared.expose(), ciphertext.as_ref()].concat()
        }
        let (mut m, mut eseed) = (Zeroizing::new([0; 32]), Zeroizing::new([0; 64]));
        Ok(match &self.0 {
            Public::MlKem512(key) => joined(&key.encapsulate_deterministic(fresh(&mut m)?)),
            Public::MlKem768(key) => joined(&key.encapsulate_deterministic(fresh(&mut m)?)),
            Public::MlKem1024(key) => joined(&key.encapsulate_deterministic(fresh(&mut m)?)),
            Public::XWing(key) => joined(&key.encapsulate_deterministic(fresh(&mut eseed)?)),
        })
    }
}

impl KemEncapsulationKey {
    fn of(kem: Kem, key: &[u8]) -> Result<Self, GambesonError> {
        Ok(Self(match kem {
            Kem::MlKem512 => Public::MlKem512(encapsulation_key(key)?),
            Kem::MlKem768 => Public::MlKem768(encapsulation_key(key)?),
            Kem::MlKem1024 => Public::MlKem1024(encapsulation_key(key)?),
            Kem::XWing => Public::XWing(Box::new(xwing_key(key)?)),
        }))
    }
}

/// Fills `bytes` with the randomness of the browser or of Node.
fn fresh<const N: usize>(bytes: &mut [u8; N]) -> Result<&[u8; N], GambesonError> {
    getrandom::fill(bytes).map_err(no_randomness)?;
    Ok(bytes)
}

fn encapsulation_key<P: ParameterSet>(key: &[u8]) -> Result<EncapsulationKey<P>, GambesonError> {
    EncapsulationKey::from_bytes(&sized("an encapsulation key", key)?)
        .map_err(|error| failure("bad-key", error))
}

fn xwing_key(key: &[u8]) -> Result<xwing::EncapsulationKey, GambesonError> {
    xwing::EncapsulationKey::from_bytes(&sized("an encapsulation key", key)?)
        .map_err(|error| failure("bad-key", error))
}

fn sized<B: Bytes>(what: &str, bytes: &[u8]) -> Result<B, GambesonError> {
    bytes.try_into().map_err(|_| wrong_length(what, B::LEN, bytes.len()))
}
