//! LMS and HSS (RFC 8554, RFC 9858, SP 800-208): hash-based signatures of keys that sign a limited number of messages.
//!
//! A leaf that signs two messages reveals enough for a forger. So a private key signs only through a
//! [`Signer`](crate::stateful::Signer), whose store promises that no leaf is used twice.
//!
//! ```
//! use gambeson::lms::{LmotsType, LmsType};
//!
//! let (tree, one_time) = (LmsType::SHA256_M32_H10, LmotsType::SHA256_N32_W8);
//! assert_eq!((tree.name(), tree.signature_len(one_time)), ("LMS_SHA256_M32_H10", Some(1452)));
//! ```

mod keys;
mod params;
#[cfg(feature = "alloc")]
mod signing;
mod tree;

pub use keys::{HssVerifyingKey, InvalidSignature, VerifyingKey, VerifyingKeyError};
pub use params::{LmotsType, LmsType};
#[cfg(all(feature = "alloc", feature = "hazmat"))]
pub use signing::hazmat;
#[cfg(feature = "alloc")]
pub use signing::{GenerateError, HssSigningKey, SigningKey, SigningKeyError};

pub use crate::streamed::StreamError;
