#![doc = include_str!("../README.md")]
//!
//! # Layout
//!
//! | module | what is in it |
//! | --- | --- |
//! | `endpoint` | [`Endpoint`]: an agent that is ready for sessions |
//! | `session` | [`Session`]: from the first byte to the last |
//! | `peer` | [`Peer`], [`Expected`], [`Cards`]: who the other one is, and whether that is right |
//! | `hearing` | [`judge`]: what the other side says first, and what comes of it |
//! | `message` | what is said before applications speak |
//! | `key` | the identity key, as rustls wants it |
//! | `error` | [`Error`] |
#![warn(missing_debug_implementations)]

mod endpoint;
mod error;
mod hearing;
mod key;
mod message;
mod peer;
mod session;

pub use endpoint::Endpoint;
pub use error::{Error, Result};
pub use hearing::judge;
pub use message::MAX_CARDS_LEN;
pub use peer::{Cards, Expected, Peer};
pub use session::Session;

/// The protocol's name in ALPN (RFC 7301).
pub const ALPN: &[u8] = b"gambeson/1";
