#![doc = include_str!("../README.md")]
#![warn(missing_debug_implementations)]
//!
//! # Layout
//!
//! * [`MasterSeed`], [`Purpose`], [`Path`] (`kdf`): the hierarchy of keys
//! * [`Agent`], [`Role`]: the keys of one seed; [`SigningKey`], [`VerifyingKey`] (`keys`)
//! * [`Did`], [`DidUrl`], [`DidDocument`], [`Card`], [`CardLog`], [`Resolver`]: who an agent is, and where that is found;
//!   [`resolution`]: the same as DID Core 1.0 names it
//! * [`action`], [`ReplayCache`]: signed tool calls; [`mcp`]: these in the Model Context Protocol
//! * [`http`]: signed HTTP messages; [`a2a`]: signed agent cards
//! * [`delegation`], [`approval`]: who may do what in whose name
//! * [`FileSignature`] (`signed_file`): signatures of files
//! * [`jose`], [`json`]: signatures and JSON with one meaning
//! * [`vc`]: credentials, presentations, selective disclosure, Data Integrity, status lists
//! * [`sealed`], [`backup`], [`memory`], [`recovery`]: what is sent in secret, and what is kept; `age_file`: age files to an agent
//! * [`tlog`]: a log that proves what was done
//! * [`text`]: text of others in lines for people
//! * [`Error`], [`Reason`]: why something was refused; [`Verified`]: that it was not

pub mod a2a;
pub mod action;
mod age_file;
mod agent;
pub mod approval;
pub mod backup;
mod card;
#[cfg(test)]
mod counts;
pub mod delegation;
mod did;
mod digest;
mod document;
mod encoding;
mod entropy;
mod envelope;
mod error;
mod fields;
mod gzip;
pub mod http;
pub mod jose;
pub mod json;
mod kdf;
mod keys;
pub mod mcp;
pub mod memory;
pub mod recovery;
mod replay;
pub mod resolution;
mod resolver;
pub mod sealed;
mod signed_file;
pub mod state;
pub mod text;
mod time;
pub mod tlog;
pub mod vc;
#[cfg(all(test, feature = "test-vectors"))]
#[path = "../tests/suite/vector_file.rs"]
mod vector_file;
mod verified;

pub use agent::{Agent, GroupRng, HedgedRng, Role};
pub use card::{Card, CardContent, CardLog, MAX_CARD, MAX_CARD_LOG, MAX_CARDS, Retired};
pub use did::{Did, DidUrl, Method};
pub use document::{DidDocument, Kind, Relationship, VerificationMethod};
pub use error::{Error, Reason, Result};
pub use kdf::{MasterSeed, Path, Purpose, Suite};
pub use keys::{Algorithm, SigningKey, VerifyingKey, application_context};
pub use replay::{MemoryReplayCache, PendingReplay, ReplayCache, ReplayId};
#[cfg(not(target_family = "wasm"))]
pub use resolver::CardDirectory;
pub use resolver::{CardStore, Fetch, Resolver, Web};
pub use signed_file::{FileHasher, FileSignature, SignedFile};
pub use time::Timestamp;
pub use verified::Verified;
