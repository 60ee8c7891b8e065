//! Errors of bridges and of sessions of stock clients.

use std::fmt;
use std::time::Duration;

use crate::session::MAX_STOCK_PAYLOAD;

/// Error of a bridge, or of a session of stock clients.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// Error of the channel.
    Channel(gambeson_slim::Error),
    /// The node does not answer: its endpoint and the reason.
    NoNode(String),
    /// SLIM's session layer refused a call, for this reason.
    Stock(String),
    /// SLIM's session layer did not answer a call, or accept a message, within this time.
    NoAnswer(Duration),
    /// The session is over.
    SessionOver,
    /// A payload of this many bytes is larger than [`MAX_STOCK_PAYLOAD`].
    PayloadTooLarge(usize),
    /// The channel may not be bridged to the session, for this reason.
    NotAllowed(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Channel(error) => error.fmt(f),
            Self::NoNode(reason) => write!(f, "no SLIM node answers: {reason}"),
            Self::Stock(reason) => write!(f, "SLIM's session layer refuses: {reason}"),
            Self::NoAnswer(time) => {
                write!(f, "SLIM's session layer has not answered within {} s", time.as_secs())
            }
            Self::SessionOver => f.write_str("the stock session is over"),
            Self::PayloadTooLarge(len) => {
                write!(f, "a payload of {len} bytes; a stock session takes at most {MAX_STOCK_PAYLOAD}")
            }
            Self::NotAllowed(reason) => write!(f, "the bridge cannot start: {reason}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Channel(error) => Some(error),
            _ => None,
        }
    }
}

impl From<gambeson_slim::Error> for Error {
    fn from(error: gambeson_slim::Error) -> Self {
        Self::Channel(error)
    }
}

/// Result with this crate's error.
pub type Result<T, E = Error> = std::result::Result<T, E>;
