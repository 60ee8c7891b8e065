//! FIPS 202.

use gambeson::sha3::{Sha3_256, Sha3_384, Sha3_512, Shake128, Shake256};
use wasm_bindgen::prelude::*;

/// SHA3-256.
#[wasm_bindgen(js_name = sha3_256)]
pub fn sha3_256(message: &[u8]) -> Vec<u8> {
    Sha3_256::new().update(message).finalize().to_vec()
}

/// SHA3-384.
#[wasm_bindgen(js_name = sha3_384)]
pub fn sha3_384(message: &[u8]) -> Vec<u8> {
    Sha3_384::new().update(message).finalize().to_vec()
}

/// SHA3-512.
#[wasm_bindgen(js_name = sha3_512)]
pub fn sha3_512(message: &[u8]) -> Vec<u8> {
    Sha3_512::new().update(message).finalize().to_vec()
}

/// `length` bytes of SHAKE128.
#[wasm_bindgen]
pub fn shake128(message: &[u8], length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    Shake128::new().update(message).finalize_xof().squeeze(&mut bytes);
    bytes
}

/// `length` bytes of SHAKE256.
#[wasm_bindgen]
pub fn shake256(message: &[u8], length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    Shake256::new().update(message).finalize_xof().squeeze(&mut bytes);
    bytes
}
