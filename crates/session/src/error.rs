//! Why there is no session, named for the check that failed.

use std::fmt;

use gambeson_identity::Did;
use gambeson_rustls::{UnsupportedProcessor, rustls};

/// A result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Why there is no session.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Error {
    /// TLS failed: another protocol, another group, a changed byte, a key that the other side does not have.
    Tls(rustls::Error),
    /// The other side does not speak `gambeson/1`.
    NotGambeson,
    /// What came is not what is said before applications speak: another message, or bytes of an application.
    BadMessage,
    /// The other side's cards are longer than [`MAX_CARDS_LEN`](crate::MAX_CARDS_LEN); or one's own.
    TooLong {
        /// In bytes.
        len: usize,
    },
    /// The other side ended the connection before it said who it is, and that it agrees.
    ClosedEarly,
    /// The connection ended without TLS's goodbye: what was received may be only the beginning.
    Truncated,
    /// The other one is not who was expected.
    OtherPeer {
        /// Who was expected.
        expected: Did,
        /// Who is there; nothing else about it was checked.
        found: Did,
    },
    /// The cards do not hold, or not now, or not for that key.
    Identity(gambeson_identity::Error),
    /// The key of the handshake is not an identity key of the card: somebody shows the cards of another.
    OtherKey(Did),
    /// The other side sent the hash of cards that are not known here, or not the newest.
    UnknownCards(Did),
    /// The caller's policy does not take this agent.
    NotAdmitted(Did),
    /// Nobody is taken any more: [`Session::decline`](crate::Session::decline).
    Busy,
    /// The other side refuses this agent, for the reason with this code.
    RefusedByPeer(String),
    /// There is no session yet.
    NotEstablished,
    /// Goodbye was said here: nothing is sent after it.
    Closed,
    /// The processor lacks instructions that TLS needs here.
    Unsupported(UnsupportedProcessor),
}

impl Error {
    /// A code for programs; the same one is sent to whom is refused.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Tls(_) => "tls",
            Self::NotGambeson => "not-gambeson",
            Self::BadMessage => "bad-message",
            Self::TooLong { .. } => "too-large",
            Self::ClosedEarly => "closed-early",
            Self::Truncated => "truncated",
            Self::OtherPeer { .. } => "other-peer",
            Self::Identity(error) => error.reason().code(),
            Self::OtherKey(_) => "other-key",
            Self::UnknownCards(_) => "unknown-cards",
            Self::NotAdmitted(_) => "not-admitted",
            Self::Busy => "busy",
            Self::RefusedByPeer(_) => "refused-by-peer",
            Self::NotEstablished => "not-established",
            Self::Closed => "closed",
            Self::Unsupported(_) => "unsupported",
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tls(error) => write!(f, "TLS: {}", gambeson_rustls::explain(error)),
            Self::NotGambeson => f.write_str("the other side does not speak gambeson/1"),
            Self::BadMessage => {
                f.write_str("the other side sent something else than its cards and an answer")
            }
            Self::TooLong { len } => {
                write!(f, "cards of {len} bytes, where {} are read", crate::MAX_CARDS_LEN)
            }
            Self::ClosedEarly => f.write_str("the other side left before it authenticated"),
            Self::Truncated => f.write_str("the connection ended without a goodbye"),
            Self::OtherPeer { expected, found } => write!(f, "it is {found}, not {expected}"),
            Self::Identity(error) => f.write_str(error.detail()),
            Self::OtherKey(did) => write!(f, "the key of the handshake is not the identity key of {did}"),
            Self::UnknownCards(did) => {
                write!(f, "the newest card of {did} is not known here, and was not sent")
            }
            Self::NotAdmitted(did) => write!(f, "{did} is not admitted here"),
            Self::Busy => f.write_str("another agent connected first"),
            Self::RefusedByPeer(code) => write!(f, "the other side refuses this agent: {code}"),
            Self::NotEstablished => f.write_str("there is no session yet"),
            Self::Closed => f.write_str("the session was closed on this side"),
            Self::Unsupported(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Tls(error) => Some(error),
            Self::Identity(error) => Some(error),
            Self::Unsupported(error) => Some(error),
            _ => None,
        }
    }
}

impl From<rustls::Error> for Error {
    fn from(error: rustls::Error) -> Self {
        Self::Tls(error)
    }
}

impl From<gambeson_identity::Error> for Error {
    fn from(error: gambeson_identity::Error) -> Self {
        Self::Identity(error)
    }
}

impl From<UnsupportedProcessor> for Error {
    fn from(error: UnsupportedProcessor) -> Self {
        Self::Unsupported(error)
    }
}
