#![doc = include_str!("../README.md")]
//!
//! # What a reader may rely on
//!
//! * **Nothing unauthenticated comes out**: the header and the secret are authenticated, and the header commits to the key.
//! * **Work is bounded before it is done**: a file that asks for more memory or time than [`Protection`] allows is refused
//!   before any memory is taken.
//! * **A file is whole or not there**: [`NewFile`](file::NewFile) is written beside the old file, and takes its place at once.
//!
//! # Layout
//!
//! | module | what is in it |
//! | --- | --- |
//! | `format` | [`seal`], [`open`]: the bytes of a file |
//! | `protection` | [`Protection`], [`Passphrase`]: from the passphrase to keys |
//! | [`mod@file`] | writing whole files (not on wasm) |
//! | `error` | [`Error`] |
//!
//! Sources: RFC 9106 (Argon2id), RFC 8018 (PBKDF2), RFC 5869 (HKDF), SP 800-38D (GCM), draft-irtf-cfrg-xchacha (XChaCha20-Poly1305).
#![warn(missing_debug_implementations)]

mod error;
#[cfg(not(target_family = "wasm"))]
pub mod file;
mod format;
mod protection;

pub use error::Error;
pub use format::{MAX_SECRET_LEN, OVERHEAD, is_sealed, open, seal};
pub use gambeson::secret::Secret;
pub use protection::{Passphrase, Protection};
