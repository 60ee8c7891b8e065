#![doc = include_str!("../README.md")]
//!
//! # Layout
//!
//! | module | what is in it |
//! | --- | --- |
//! | `provider` | [`Provider`], [`SuiteProvider`]: what mls-rs asks |
//! | `suite` | [`Suite`], [`SUITES`]: the table of cipher suites |
//! | `preset` | [`Preset`]: which of them |
//! | `hpke` | the HPKE of a suite, by bytes |
//! | `signature` | the signatures of a suite, by bytes |
//! | `symmetric` | hashes, HMAC, HKDF and AEADs |
//! | `error` | [`Error`] |
#![warn(missing_debug_implementations)]

mod error;
mod hpke;
mod preset;
mod provider;
mod signature;
mod suite;
mod symmetric;

pub use error::{Error, Result};
pub use hpke::{Receiver, Sender};
pub use mls_rs_core;
pub use preset::{Preset, UnknownPreset};
pub use provider::{Provider, SuiteProvider};
pub use suite::{Derivation, SUITES, Suite};
