#![doc = include_str!("../README.md")]
#![warn(missing_debug_implementations)]
//!
//! # Layout
//!
//! * [`MasterSeed`], [`Purpose`], [`Path`] (`kdf`): the hierarchy of keys
//! * [`Agent`], [`Role`]: the keys of one seed; [`SigningKey`], [`VerifyingKey`] (`keys`)
//! * [`Did`], [`DidUrl`], [`DidDocument`], [`Card`], [`CardLog`], [`Resolver`]: who an agent is, and where that is found
//! * [`jose`], [`json`]: signatures and JSON with one meaning
//! * [`Error`], [`Reason`]: why something was refused; [`Verified`]: that it was not

mod agent;
pub mod backup;
mod card;
mod did;
mod document;
mod encoding;
mod entropy;
mod error;
mod fields;
pub mod jose;
pub mod json;
mod kdf;
mod keys;
pub mod memory;
pub mod recovery;
mod resolver;
pub mod sealed;
mod time;
pub mod tlog;
mod verified;

pub use agent::{Agent, Role};
pub use card::{Card, CardContent, CardLog, MAX_CARD, MAX_CARDS, Retired};
pub use did::{Did, DidUrl, Method};
pub use document::{DidDocument, Kind, Relationship, VerificationMethod};
pub use error::{Error, Reason, Result};
pub use kdf::{MasterSeed, Path, Purpose, Suite};
pub use keys::{Algorithm, SigningKey, VerifyingKey};
#[cfg(not(target_family = "wasm"))]
pub use resolver::CardDirectory;
pub use resolver::{CardStore, Fetch, Resolver, Web};
pub use time::Timestamp;
pub use verified::Verified;
