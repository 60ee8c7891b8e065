//! What a delivery service keeps things in.
//!
//! | engine | for |
//! | --- | --- |
//! | [`MemoryService`](crate::memory::MemoryService) | tests, the simulator, agents of one process |
//! | `File` (feature `redb`) | one process that serves a channel or a thousand: one file, nothing else to run |
//! | `Nats` (feature `nats`) | services beside each other on one NATS JetStream, which copies what it keeps |
//!
//! All do the same: one suite of tests runs on each, and over a link too.

use crate::blobs::Blobs;
use crate::keys::Keys;
use crate::log::Log;

/// A log, blobs and keys in one.
pub trait Engine: Log + Blobs + Keys {}

impl<T: Log + Blobs + Keys + ?Sized> Engine for T {}

#[cfg(feature = "redb")]
mod file;
#[cfg(feature = "nats")]
mod nats;

#[cfg(feature = "redb")]
pub use file::File;
#[cfg(feature = "nats")]
pub use nats::Nats;

use std::time::Duration;

#[cfg(any(feature = "redb", feature = "nats"))]
use crate::log::Entry;

/// An entry as an engine keeps it: kind, id, content.
#[cfg(any(feature = "redb", feature = "nats"))]
fn stored(entry: &Entry) -> Vec<u8> {
    [&[entry.kind as u8][..], &entry.id.0, &entry.content].concat()
}

/// How much an engine takes. What is refused for it says so by [`Quota`](crate::Quota).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Channels.
    pub channels: u64,
    /// Entries of a channel. A sixteenth more for checkpoints, after which what is older can go.
    pub entries: u64,
    /// Bytes of a channel's entries; a sixteenth more for checkpoints.
    pub bytes: u64,
    /// DIDs that have key packages. Of one DID there are at most [`MAX_KEY_PACKAGES`](crate::MAX_KEY_PACKAGES).
    pub dids: u64,
    /// Bytes of everything: entries, blobs, packages, and what it takes to find them. Of an entry that is forgotten 128 stay.
    pub store: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { channels: 10_000, entries: 1_000_000, bytes: 1 << 30, dids: 100_000, store: 16 << 30 }
    }
}

/// What an engine forgets by itself.
///
/// Of a channel it forgets only what stands before the newest checkpoint: from there members come back who were away for longer.
/// Members make one whenever the log has grown by so much ([`Options::checkpoint_bytes`](crate::Options::checkpoint_bytes)), and when
/// there is no room. Whatever is said here, the oldest that stands before it goes from three quarters of the [`Limits`] on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Retention {
    /// Entries beyond the newest so many; `None`: as many as the limits allow.
    pub entries: Option<u64>,
    /// Entries that are older.
    pub age: Option<Duration>,
    /// Blobs that nobody put or asked for with [`has`](crate::Blobs::has) for so long; from three quarters of it on they may go. A day at least:
    /// agents ask four times a day for what they need.
    pub blobs: Option<Duration>,
}

#[cfg(any(feature = "redb", feature = "nats"))]
impl Retention {
    /// How old a blob is before it counts as new again when it is asked for: a day, so that asking seldom writes, but not most of the time
    /// for which it is kept.
    fn renewal(&self) -> Duration {
        let day = Duration::from_secs(24 * 60 * 60);
        self.blobs.map_or(day, |age| day.min(age / 4))
    }
}
