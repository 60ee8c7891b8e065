//! XMSS and XMSS^MT (RFC 8391, SP 800-208): hash-based signatures of keys that sign a limited number of messages.
//!
//! A leaf that signs two messages reveals enough for a forger. So a private key signs only through a
//! [`Signer`](crate::stateful::Signer), whose store promises that no leaf is used twice. The sets of SP 800-208 sign; the others of RFC 8391
//! only verify.
//!
//! ```
//! use gambeson::xmss::ParameterSet;
//!
//! let set = ParameterSet::SHA2_10_256;
//! assert_eq!((set.name(), set.signature_len()), ("XMSS-SHA2_10_256", 2500));
//! assert_eq!(ParameterSet::MT_SHA2_20_4_256.signature_len(), 9251);
//! ```
//!
//! | n | verifying key | signature, h = 10, 16, 20 | sets |
//! | --- | --- | --- | --- |
//! | 24 | 52 bytes | 1,492, 1,636, 1,732 bytes | `SHA2_h_192`, `SHAKE256_h_192` |
//! | 32 | 68 bytes | 2,500, 2,692, 2,820 bytes | `SHA2_h_256`, `SHAKE256_h_256`; `SHAKE_h_256`, which only verifies |
//! | 64 | 132 bytes | 9,092, 9,476, 9,732 bytes | `SHA2_h_512`, `SHAKE_h_512`, which only verify |
//!
//! # Layout
//!
//! * `params`: the parameter sets
//! * `columns`: SHA-256 of messages of whole words, side by side
//! * `hash`: the functions of RFC 8391 with addresses: PRF, chains of F, and H
//! * `tree`: one-time signatures and trees
//! * `keys`: verifying keys
//! * `serial`: the same functions of one message
//! * `streamed`: verification of a signature that is read piece by piece
//! * `signing`: private keys

mod columns;
mod hash;
mod keys;
mod params;
mod serial;
#[cfg(feature = "alloc")]
mod signing;
mod streamed;
mod tree;

pub use crate::streamed::StreamError;
pub use keys::{InvalidSignature, VerifyingKey, VerifyingKeyError};
pub use params::ParameterSet;
#[cfg(feature = "alloc")]
pub use signing::{GenerateError, SigningKey, SigningKeyError};
