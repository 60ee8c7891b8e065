//! One order for a channel.

use async_trait::async_trait;
use bytes::Bytes;

use crate::error::Result;
use crate::name::ChannelId;

/// The largest entry, in bytes; what is larger goes to [`Blobs`](crate::Blobs), and its hash into the log.
pub const MAX_ENTRY: usize = 64 * 1024;

/// What an entry is: all that a log knows of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum EntryKind {
    /// A commit of MLS: at most one follows another.
    Commit = 1,
    /// A message of an application.
    Application = 2,
    /// What a member got.
    Receipt = 3,
    /// Where a sealed GroupInfo and tree are, from which stale members come back.
    Checkpoint = 4,
    /// A member could not use a commit.
    Complaint = 5,
}

impl EntryKind {
    /// All kinds.
    pub const ALL: [Self; 5] =
        [Self::Commit, Self::Application, Self::Receipt, Self::Checkpoint, Self::Complaint];

    /// The kind with this number.
    #[must_use]
    pub fn of(number: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| *kind as u8 == number)
    }
}

/// 16 random bytes that who appends chooses once: an append that is repeated, because its answer was lost, is found by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EntryId(pub [u8; 16]);

/// What is appended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The same in every repetition.
    pub id: EntryId,
    /// Its kind.
    pub kind: EntryKind,
    /// At most [`MAX_ENTRY`] bytes.
    pub content: Bytes,
}

/// An entry in its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Its place: larger than that of everything before it, from 1.
    pub place: u64,
    /// When the log took it, milliseconds since 1970 by the log's clock.
    pub at: u64,
    /// The entry.
    pub entry: Entry,
}

/// What became of an append.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placed {
    /// It stands at this place: now, or since an earlier call with the same id.
    At(u64),
    /// Another commit came first: the newest stands at this place.
    After(u64),
}

/// The ends of a log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Head {
    /// Where what is kept begins: behind the newest entry that is forgotten; at most 1 while none is. The oldest that is kept may stand
    /// further on, for places are not consecutive.
    pub first: u64,
    /// The place of the newest entry; 0 if there never was one.
    pub last: u64,
    /// The place of the newest commit; 0 if there never was one. Pruning does not change it.
    pub commit: u64,
}

/// Entries in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// The ends of the log when this was read. `head.first` above the asked place: what stood between is pruned.
    pub head: Head,
    /// From the asked place on, as many as were asked for or fit.
    pub records: Vec<Record>,
}

/// Keeps entries of channels, each channel's in one order that all see.
#[async_trait]
pub trait Log: Send + Sync {
    /// Appends an entry. A commit is taken only if the newest commit stands at `after` (0: none stands yet); for other kinds `after`
    /// is not looked at. An entry that stands already is not appended again, and its place is the answer; of one that is forgotten
    /// the id is compared alone.
    ///
    /// # Errors
    /// [`Error::EntryTooLarge`](crate::Error::EntryTooLarge); [`Error::IdTaken`](crate::Error::IdTaken): another entry stands under
    /// this id, from somebody who saw it before the log did; or the log does not answer: the entry may then stand or not, and calling
    /// again with the same entry is right.
    async fn append(&self, channel: &ChannelId, entry: Entry, after: u64) -> Result<Placed>;

    /// Entries from a place on (1: from the beginning), at most `limit` of them, and at least one if there is one.
    ///
    /// # Errors
    /// The log does not answer.
    async fn read(&self, channel: &ChannelId, from: u64, limit: usize) -> Result<Page>;

    /// Forgets entries before a place, but never the ids and places that later appends are compared with.
    ///
    /// # Errors
    /// The log does not answer.
    async fn prune(&self, channel: &ChannelId, before: u64) -> Result<()>;
}
