#![doc = include_str!("../README.md")]
//!
//! # Layout
//!
//! | module | what is in it |
//! | --- | --- |
//! | `provider` | [`Provider`], [`SuiteProvider`]: what mls-rs asks |
//! | `suite` | [`Suite`], [`SUITES`]: the table of cipher suites |
//! | `preset` | [`Preset`]: which of them |
//! | `signer` | [`Signer`]: keys that stay outside mls-rs |
//! | `random` | where random bytes come from |
//! | `ahead` | [`Signed`]: which signatures mls-rs will ask about |
//! | `verified` | [`Verifications`]: signatures that were found good |
//! | `memo` | the hash of a parent node that was asked for last |
//! | `hpke` | the HPKE of a suite, by bytes |
//! | `signature` | the signatures of a suite, by bytes |
//! | `rules` | [`rules::Rules`]: which commits a group takes (feature `rules`) |
//! | `door` | nothing secret stays on the stack |
//! | `symmetric` | hashes, HMAC, HKDF and AEADs |
//! | `error` | [`Error`] |
//! | `vectors` | files of test vectors, judged (feature `vectors`) |
#![warn(missing_debug_implementations)]

mod ahead;
mod door;
mod error;
mod hpke;
mod memo;
mod preset;
mod provider;
mod random;
#[cfg(feature = "rules")]
pub mod rules;
mod signature;
mod signer;
mod suite;
mod symmetric;
#[cfg(feature = "vectors")]
pub mod vectors;
mod verified;

pub use ahead::Signed;
pub use error::{Error, Result};
pub use hpke::{Receiver, Sender};
pub use mls_rs_core;
pub use preset::{NotInPreset, Preset, UnknownPreset};
pub use provider::{Provider, SuiteProvider};
pub use signer::Signer;
pub use suite::{Derivation, SUITES, Suite};
pub use verified::Verifications;
