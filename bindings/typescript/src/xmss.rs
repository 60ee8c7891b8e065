//! XMSS and XMSS^MT (RFC 8391, SP 800-208): verification.

use gambeson::xmss::{VerifyingKey, VerifyingKeyError};
use wasm_bindgen::prelude::*;

use crate::failure::{GambesonError, failure};

fn key_of(bytes: &[u8], is_multi_tree: bool) -> Result<VerifyingKey, GambesonError> {
    let key =
        if is_multi_tree { VerifyingKey::from_mt_bytes(bytes) } else { VerifyingKey::from_bytes(bytes) };
    key.map_err(|error| match error {
        VerifyingKeyError::Length { .. } => failure("bad-length", error),
        _ => failure("bad-key", error),
    })
}

/// The name of the parameter set of a key of XMSS, or of XMSS^MT. Refuses bytes that are no key.
#[wasm_bindgen(js_name = setOfXmss)]
pub fn set_of_xmss(key: &[u8], is_multi_tree: bool) -> Result<String, GambesonError> {
    key_of(key, is_multi_tree).map(|key| key.parameter_set().name().to_owned())
}

/// Refuses bytes that are no key of XMSS, or of XMSS^MT, and signatures that are not of this message by it.
#[wasm_bindgen(js_name = verifyXmss)]
pub fn verify_xmss(
    key: &[u8],
    is_multi_tree: bool,
    signature: &[u8],
    message: &[u8],
) -> Result<(), GambesonError> {
    let key = key_of(key, is_multi_tree)?;
    key.verify(message, signature).map_err(|error| failure("bad-signature", error))
}
