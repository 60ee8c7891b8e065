//! What went wrong.

use std::fmt;
use std::time::Duration;

use crate::blobs::{BlobId, MAX_BLOB};
use crate::channel::MAX_MESSAGE;
use crate::keys::{MAX_DID, MAX_KEY_PACKAGE};
use crate::link::MAX_FRAME;
use crate::log::MAX_ENTRY;
use crate::refusal::{Need, Refusal};

/// What of a store is used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Quota {
    /// A channel has as many entries as it may.
    Entries = 1,
    /// A channel has as many bytes as it may.
    Bytes = 2,
    /// There are as many channels as there may be.
    Channels = 3,
    /// The whole store is as large as it may be.
    Store = 4,
    /// There are as many DIDs with key packages as there may be.
    Dids = 5,
}

impl Quota {
    /// All quotas.
    pub const ALL: [Self; 5] = [Self::Entries, Self::Bytes, Self::Channels, Self::Store, Self::Dids];

    /// The quota with this number.
    #[must_use]
    pub fn of(number: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|quota| *quota as u8 == number)
    }
}

impl fmt::Display for Quota {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Entries => "the channel's log is full, and it has no checkpoint before which entries could be deleted",
            Self::Bytes => "the channel's log has reached its limit of bytes, and it has no checkpoint before which entries could be deleted",
            Self::Channels => "the limit of channels is reached",
            Self::Store => "the store has reached its size limit",
            Self::Dids => "the limit of DIDs with key packages is reached",
        })
    }
}

/// Why a call on a channel, or on what it stands on, did not do what it should.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// One subscribes with an instance.
    NoInstance,
    /// A frame of this many bytes.
    FrameTooLarge(usize),
    /// An entry of this many bytes.
    EntryTooLarge(usize),
    /// Another entry stands under this id.
    IdTaken,
    /// A blob of this many bytes.
    BlobTooLarge(usize),
    /// A store gave other bytes than those with this hash.
    BlobMismatch(BlobId),
    /// A DID has this many packages at most.
    TooManyKeyPackages(usize),
    /// A member refuses it.
    Refused(Refusal),
    /// It cannot be judged before these cards are known; then the same call is right.
    Unresolved(Vec<Need>),
    /// A log of cards is not taken.
    Cards(gambeson_identity::Error),
    /// No node of SLIM answers: which were asked, and why not.
    NoNode(String),
    /// Options of a connection to a node are wrong: which, and why.
    NodeOptions(String),
    /// No node took a frame or a subscription in this time.
    LinkBusy(Duration),
    /// A key package of this many bytes.
    KeyPackageTooLarge(usize),
    /// A DID of this many bytes.
    DidTooLong(usize),
    /// A store takes no more.
    Full(Quota),
    /// A frame does not say what it should.
    Malformed(&'static str),
    /// The delivery service does not do this for everyone.
    NotAllowed,
    /// The delivery service has not answered in this time. What was asked may be done or not.
    Deadline(Duration),
    /// What a simulation found to be wrong.
    Simulation(String),
    /// The link is gone for good.
    LinkClosed,
    /// The bytes are no frame: another version or kind, too short or too long.
    BadFrame,
    /// A commit, a tree or a payload of this many bytes is more than is carried.
    TooLarge(usize),
    /// A message of this many bytes is longer than [`MAX_MESSAGE`].
    MessageTooLarge(usize),
    /// A blob that something names is not, or no longer, kept.
    BlobMissing(BlobId),
    /// The agent's own store is damaged, or is another agent's.
    BadStore,
    /// The agent's own store cannot be read or written.
    Store(Box<dyn std::error::Error + Send + Sync>),
    /// The system gives no randomness.
    NoRandomness,
    /// This agent is in the channel no more.
    Over,
    /// Two states of the channel were seen: nothing is said in it, and nobody let in, before somebody decided
    /// ([`Channel::rejoin`](crate::Channel::rejoin)).
    Forked,
    /// A bridge does not begin: why.
    NotBridged(String),
    /// A gateway listens on this machine alone, and this address is another's.
    NotLoopback(std::net::SocketAddr),
    /// The gateway cannot listen.
    NoGateway(std::io::Error),
    /// A token has 32 to 256 letters, digits, `-` or `_`.
    BadToken,
    /// Nobody replied in this time.
    NoReply(Duration),
    /// The agent has published no key package that can be used: it cannot be invited while it is away.
    NoKeyPackage(gambeson_identity::Did),
    /// Nobody told where the cards of this agent are.
    NoCard(gambeson_identity::Did),
    /// The log has no checkpoint that is new enough, and no member made one yet.
    NoCheckpoint,
    /// What was done beside the task came to nothing.
    WorkLost,
    /// What keeps the log, the blobs or the keys did not do its part.
    Service(Box<dyn std::error::Error + Send + Sync>),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoInstance => f.write_str("a name to listen on needs an instance part"),
            Self::FrameTooLarge(len) => write!(f, "the frame has {len} bytes; the limit is {MAX_FRAME}"),
            Self::EntryTooLarge(len) => {
                write!(f, "the entry has {len} bytes; the limit is {MAX_ENTRY}")
            }
            Self::IdTaken => f.write_str("the log has another entry with this id: append it with a new id"),
            Self::BlobTooLarge(len) => write!(f, "the blob has {len} bytes; the limit is {MAX_BLOB}"),
            Self::BlobMismatch(id) => write!(f, "the store returned bytes that are not blob {id}"),
            Self::TooManyKeyPackages(most) => {
                write!(f, "more key packages than the limit of {most} for one DID")
            }
            Self::Refused(refusal) => refusal.fmt(f),
            Self::Unresolved(needs) => {
                let more = needs.len().saturating_sub(1);
                let first = needs.first().map(ToString::to_string).unwrap_or_default();
                write!(f, "unknown: {first} and {more} more")
            }
            Self::Cards(error) => error.fmt(f),
            Self::NoNode(asked) => write!(f, "no SLIM node answers: {asked}"),
            Self::NodeOptions(reason) => f.write_str(reason),
            Self::LinkBusy(limit) => write!(f, "no SLIM node accepted it within {} s", limit.as_secs()),
            Self::KeyPackageTooLarge(len) => {
                write!(f, "the key package has {len} bytes; the limit is {MAX_KEY_PACKAGE}")
            }
            Self::DidTooLong(len) => write!(f, "the DID has {len} bytes; the limit is {MAX_DID}"),
            Self::Full(quota) => fmt::Display::fmt(quota, f),
            Self::Malformed(what) => write!(f, "a frame for the delivery service is malformed: {what}"),
            Self::NotAllowed => {
                f.write_str("the delivery service deletes old entries by its own rules, not on request")
            }
            Self::Deadline(time) => write!(
                f,
                "the delivery service has not answered in {time:?}: check that it runs and listens on this name"
            ),
            Self::Simulation(what) => f.write_str(what),
            Self::LinkClosed => f.write_str("the link is closed"),
            Self::BadFrame => f.write_str("the bytes are not a frame of this version"),
            Self::MessageTooLarge(len) => {
                write!(f, "the message has {len} bytes; the limit is {MAX_MESSAGE}")
            }
            Self::TooLarge(len) => write!(f, "{len} bytes exceed the limit of one piece"),
            Self::BlobMissing(id) => write!(f, "the store does not have blob {id}"),
            Self::BadStore => f.write_str("the store of the channels is damaged, or is another agent's"),
            Self::Store(cause) => {
                write!(f, "the store of the channels cannot be read or written: {cause}")
            }
            Self::Over => f.write_str("this agent is no longer in the channel"),
            Self::Forked => f.write_str(
                "the channel is forked: two states were seen; `rejoin` accepts the state in the log",
            ),
            Self::NotBridged(reason) => write!(f, "the bridge cannot start: {reason}"),
            Self::NotLoopback(address) => {
                write!(f, "{address} is not a loopback address; the gateway listens on 127.0.0.1 or [::1]")
            }
            Self::NoGateway(cause) => write!(f, "the gateway cannot listen: {cause}"),
            Self::BadToken => f.write_str("a token must have 32 to 256 letters, digits, `-` or `_`"),
            Self::NoReply(time) => write!(f, "no reply was received within {time:?}"),
            Self::NoKeyPackage(did) => {
                write!(
                    f,
                    "{did} has published no key package that can be used; its agent publishes them when it connects"
                )
            }
            Self::NoCard(did) => write!(f, "the location of the cards of {did} is unknown"),
            Self::NoCheckpoint => {
                f.write_str("the log has no recent checkpoint; a member that is online makes one on request")
            }
            Self::WorkLost => f.write_str("a request to the delivery service was lost"),
            Self::NoRandomness => f.write_str("the operating system's random generator failed"),
            Self::Service(cause) => write!(f, "the delivery service gave an invalid answer: {cause}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Refused(refusal) => Some(refusal),
            Self::Cards(error) => Some(error),
            Self::Service(cause) | Self::Store(cause) => Some(&**cause),
            _ => None,
        }
    }
}

impl Error {
    #[cfg(feature = "redb")]
    pub(crate) fn store(cause: impl std::error::Error + Send + Sync + 'static) -> Self {
        Self::Store(Box::new(cause))
    }

    /// Why a member refuses it, if that is what happened.
    #[must_use]
    pub fn reason(&self) -> Option<crate::refusal::Reason> {
        match self {
            Self::Refused(refusal) => Some(refusal.reason()),
            _ => None,
        }
    }
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

/// A result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;
