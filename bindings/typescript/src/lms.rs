//! LMS and HSS (RFC 8554, RFC 9858): verification.

use gambeson::lms::{HssVerifyingKey, VerifyingKey, VerifyingKeyError};
use wasm_bindgen::prelude::*;

use crate::failure::{GambesonError, failure};

fn refused(error: VerifyingKeyError) -> GambesonError {
    let code = match error {
        VerifyingKeyError::Length { .. } => "bad-length",
        _ => "bad-key",
    };
    failure(code, error)
}

fn types(key: &VerifyingKey) -> Vec<String> {
    vec![key.lms_type().name().to_owned(), key.lmots_type().name().to_owned()]
}

/// The names of the types of an LMS key: of the tree, of the one-time signatures. Refuses bytes that are no key.
#[wasm_bindgen(js_name = typesOfLms)]
pub fn types_of_lms(key: &[u8]) -> Result<Vec<String>, GambesonError> {
    VerifyingKey::from_bytes(key).map(|key| types(&key)).map_err(refused)
}

/// As `typesOfLms`, of the highest tree of an HSS key.
#[wasm_bindgen(js_name = typesOfHss)]
pub fn types_of_hss(key: &[u8]) -> Result<Vec<String>, GambesonError> {
    HssVerifyingKey::from_bytes(key).map(|key| types(key.top())).map_err(refused)
}

/// Refuses bytes that are no LMS key, and signatures that are not of this message by it.
#[wasm_bindgen(js_name = verifyLms)]
pub fn verify_lms(key: &[u8], signature: &[u8], message: &[u8]) -> Result<(), GambesonError> {
    let key = VerifyingKey::from_bytes(key).map_err(refused)?;
    key.verify(message, signature).map_err(|error| failure("bad-signature", error))
}

/// As `verifyLms`, by an HSS key.
#[wasm_bindgen(js_name = verifyHss)]
pub fn verify_hss(key: &[u8], signature: &[u8], message: &[u8]) -> Result<(), GambesonError> {
    let key = HssVerifyingKey::from_bytes(key).map_err(refused)?;
    key.verify(message, signature).map_err(|error| failure("bad-signature", error))
}
