//! Errors, as JavaScript sees them.

use std::fmt::Display;

use wasm_bindgen::prelude::*;

#[wasm_bindgen(raw_module = "../error.js")]
extern "C" {
    /// The class of all errors that the package throws.
    pub type GambesonError;

    #[wasm_bindgen(constructor)]
    fn new(code: &str, detail: &str) -> GambesonError;
}

/// An error with its stable code.
pub fn failure(code: &str, detail: impl Display) -> GambesonError {
    GambesonError::new(code, &detail.to_string())
}

/// A string of bytes of the wrong length.
#[cfg(any(feature = "hash-based", not(feature = "identity")))]
pub fn wrong_length(what: &str, expected: usize, actual: usize) -> GambesonError {
    failure("bad-length", format_args!("{what} of {actual} bytes, where {expected} are needed"))
}

/// A seed of the right length, where it stands: no copy is left.
#[cfg(not(any(feature = "identity", feature = "hash-based")))]
pub fn seed_of<const N: usize>(bytes: &[u8]) -> Result<&[u8; N], GambesonError> {
    bytes.try_into().map_err(|_| wrong_length("a seed", N, bytes.len()))
}

/// The generator of the browser or of Node failed.
#[cfg(any(feature = "hash-based", not(feature = "identity")))]
pub fn no_randomness(error: impl Display) -> GambesonError {
    failure("no-randomness", error)
}

/// An error of the identity layer, with its reason.
#[cfg(feature = "identity")]
pub fn refused(error: gambeson_identity::Error) -> GambesonError {
    let code = if error.detail() == crate::border::NO_VERB { "not-loaded" } else { error.reason().code() };
    failure(code, error.detail())
}
