#![doc = include_str!("../README.md")]
//!
//! # Layout
//!
//! | module | what is in it |
//! | --- | --- |
//! | `algorithm` | [`Algorithm`]: names and object identifiers |
//! | `private` | [`PrivateKey`], [`Form`]: PKCS#8 (RFC 5958) |
//! | `forms` | what stands inside PKCS#8 for ML-KEM and ML-DSA |
//! | `public` | [`PublicKey`]: SubjectPublicKeyInfo (RFC 5280) |
//! | `stateful` | [`StatefulVerifyingKey`]: HSS, XMSS and XMSS^MT (RFC 9802) |
//! | `curve` | [`CurveSigningKey`], [`CurveVerifyingKey`]: Ed25519, Ed448, ECDSA alone |
//! | `encryption` | [`Encryption`]: PBES2 (RFC 8018), with PBKDF2 or scrypt and AES-256-CBC |
//! | `pkcs12` | [`PrivateKey::to_pkcs12`], with the feature `pkcs12`: a key and its chain in one file (RFC 7292) |
//! | `name`, `extensions` | [`Name`], [`AltName`]; [`KeyUsage`], [`Purpose`] |
//! | `certificate`, `template` | [`Certificate`], as it is read; [`Template`], from which it is made |
//! | `request`, `revocation` | [`Request`] (PKCS#10); [`RevocationList`] (CRL) |
//! | `general_name`, `constraints` | names of every form, and what authorities permit and exclude |
//! | `chain` | [`Verifier`], and what can be wrong with a chain |
//! | `pem` | [`PemBlock`]: the one reader of PEM (RFC 7468) |
//! | `outline`, `fields` | what a file in DER is; its fields, one after the other |
//! | `signed` | what certificates, requests and lists have in common |
//! | `guard` | what scrubs the stack behind private keys |
//! | `error` | [`Error`] |
#![warn(missing_debug_implementations)]

mod algorithm;
mod certificate;
mod chain;
mod constraints;
mod curve;
mod encryption;
mod error;
mod extensions;
mod fields;
mod forms;
mod general_name;
mod guard;
mod name;
mod outline;
mod pem;
#[cfg(feature = "pkcs12")]
mod pkcs12;
mod private;
mod public;
mod request;
mod revocation;
mod signed;
mod stateful;
mod template;

pub use algorithm::{Algorithm, UnknownAlgorithm, name_of_unsupported};
pub use certificate::Certificate;
pub use chain::{ChainError, Failure, SignatureCheck, SignedData, TrustedKey, Verifier};
pub use curve::{CurveSigningKey, CurveVerifyingKey};
pub use encryption::Encryption;
pub use error::Error;
pub use extensions::{KeyUsage, OtherExtension, Purpose};
pub use name::{AltName, Name};
pub use pem::{PemBlock, is_der};
pub use private::{Form, PrivateKey};
pub use public::PublicKey;
pub use request::Request;
pub use revocation::{Reason, RevocationList, Revoked};
pub use stateful::StatefulVerifyingKey;
pub use template::Template;
