#![doc = include_str!("../README.md")]
//!
//! # Layout
//!
//! | module | what is in it |
//! | --- | --- |
//! | `preset` | [`Preset`], [`Builder`]: from names to a `CryptoProvider` |
//! | `group` | [`Group`], [`GROUPS`]: key exchange |
//! | `scheme` | [`Scheme`]: numbers of signature schemes |
//! | `signing` | private keys that sign handshakes |
//! | `verification` | public keys of certificates |
//! | `certified` | [`certified_chain`]: the chain and key of this side |
//! | `chain` | [`ChainVerifier`], [`Roots`]: chains of certificates |
//! | `raw_key` | [`KeyVerifier`] and what else RFC 7250 needs |
//! | `base` | whose symmetric cryptography runs |
//! | `classical` | P-521 and Ed25519, where the base lacks them |
//! | `curve_key` | private keys that graviola signs with |
#![warn(missing_debug_implementations)]

mod base;
mod certified;
mod chain;
mod classical;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod curve_key;
mod group;
mod preset;
mod raw_key;
mod scheme;
mod signing;
mod verification;
mod words;

pub use base::{UnsupportedProcessor, base};
pub use certified::{ChainTooLong, certified_chain};
pub use chain::{ChainVerifier, Roots};
pub use group::{
    GROUPS, Group, MLKEM512, MLKEM768, MLKEM1024, P256, P384, SECP256R1_MLKEM768, SECP384R1_MLKEM1024, X448,
    X448_MLKEM768, X448_MLKEM1024, X25519, X25519_MLKEM768,
};
pub use preset::{Builder, Preset, UnknownPreset};
pub use raw_key::{
    KeyVerifier, TooManyKeys, UnexpectedKey, certified_key, client_with_raw_keys, server_with_raw_keys,
};
pub use rustls;
pub use scheme::{Scheme, SchemeError};
pub use words::explain;

/// The provider of [`Preset::Default`].
///
/// # Errors
/// [`UnsupportedProcessor`], without the feature `ring` alone.
pub fn provider() -> Result<rustls::crypto::CryptoProvider, UnsupportedProcessor> {
    Preset::Default.provider()
}
