#![doc = include_str!("../README.md")]
//!
//! # Layout
//!
//! | module | what is in it |
//! | --- | --- |
//! | `algorithm` | [`Algorithm`]: names and object identifiers |
//! | `private` | [`PrivateKey`], [`Form`]: PKCS#8 (RFC 5958) |
//! | `public` | [`PublicKey`]: SubjectPublicKeyInfo (RFC 5280) |
//! | `curve` | [`CurveSigningKey`], [`CurveVerifyingKey`]: Ed25519, Ed448, ECDSA alone |
//! | `encryption` | [`Encryption`]: PBES2 (RFC 8018), with PBKDF2 or scrypt and AES-256-CBC |
//! | `error` | [`Error`] |
#![warn(missing_debug_implementations)]

mod algorithm;
mod curve;
mod encryption;
mod error;
mod private;
mod public;

pub use algorithm::{Algorithm, UnknownAlgorithm};
pub use curve::{CurveSigningKey, CurveVerifyingKey};
pub use encryption::Encryption;
pub use error::Error;
pub use private::{Form, PrivateKey};
pub use public::PublicKey;
