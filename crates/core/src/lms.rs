//! LMS and HSS (RFC 8554, RFC 9858, SP 800-208): hash-based signatures of keys that sign a limited number of messages.
//!
//! A one-time key that signs twice gives its secrets away. So this module verifies; signing is for a store that promises to use no leaf twice.
//!
//! ```
//! use gambeson::lms::{LmotsType, LmsType};
//!
//! let (tree, one_time) = (LmsType::SHA256_M32_H10, LmotsType::SHA256_N32_W8);
//! assert_eq!((tree.name(), tree.signature_len(one_time)), ("LMS_SHA256_M32_H10", Some(1452)));
//! ```

#[cfg(all(feature = "alloc", feature = "hazmat"))]
pub mod hazmat;
mod keys;
mod params;
mod tree;

pub use keys::{HssVerifyingKey, InvalidSignature, VerifyingKey, VerifyingKeyError};
pub use params::{LmotsType, LmsType};

pub use crate::streamed::StreamError;
