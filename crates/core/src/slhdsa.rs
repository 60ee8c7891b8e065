//! SLH-DSA (FIPS 205): stateless signatures whose security rests on hash functions alone.
//!
//! ```
//! use gambeson::slhdsa::{ParameterSet, SigningKey, VerifyingKey};
//!
//! let key = SigningKey::generate(ParameterSet::SHA2_128F)?;
//! let signature = key.sign(b"message")?;
//!
//! let public = VerifyingKey::from_bytes(ParameterSet::SHA2_128F, key.verifying_key().as_bytes())?;
//! public.verify(b"message", &signature)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | sets | verifying key | signing key | signature | category |
//! | --- | --- | --- | --- | --- |
//! | 128s, 128f | 32 bytes | 64 bytes | 7,856, 17,088 bytes | 1 |
//! | 192s, 192f | 48 bytes | 96 bytes | 16,224, 35,664 bytes | 3 |
//! | 256s, 256f | 64 bytes | 128 bytes | 29,792, 49,856 bytes | 5 |
//!
//! Each with SHA-2 and with SHAKE (FIPS 205, Table 2).

mod address;
mod fors;
mod hash;
mod keys;
mod message;
mod params;
mod trees;
mod verify;
mod wots;

pub use crate::prehash::{
    ContextTooLong, Digest, DigestLength, DigestRef, PreHash, PreHasher, UnknownPreHash,
};
pub use keys::{InvalidSignature, LengthError, SigningKey, SigningKeyError, VerifyingKey};
pub use message::Message;
pub use params::ParameterSet;
