//! A log that has no room for a while.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use async_trait::async_trait;
use gambeson_slim::{ChannelId, Entry, EntryKind, Error, Log, Page, Placed, Quota, Result};

/// A log that takes nothing while it is packed, and counts what it refused and which checkpoints it took.
pub struct Packed {
    inner: Arc<dyn Log>,
    pub packed: AtomicBool,
    pub refused: AtomicUsize,
    pub checkpoints: AtomicUsize,
}

impl Packed {
    pub fn over(log: &Arc<dyn Log>) -> Arc<Self> {
        let (refused, checkpoints) = (AtomicUsize::new(0), AtomicUsize::new(0));
        Arc::new(Self { inner: Arc::clone(log), packed: AtomicBool::new(false), refused, checkpoints })
    }
}

#[async_trait]
impl Log for Packed {
    async fn append(&self, channel: &ChannelId, entry: Entry, after: u64) -> Result<Placed> {
        let is_checkpoint = entry.kind == EntryKind::Checkpoint;
        let placed = match self.packed.load(Ordering::SeqCst) {
            true => Err(Error::Full(Quota::Store)),
            false => self.inner.append(channel, entry, after).await,
        };
        let counter = match &placed {
            Err(Error::Full(_)) => &self.refused,
            Ok(_) if is_checkpoint => &self.checkpoints,
            _ => return placed,
        };
        counter.fetch_add(1, Ordering::SeqCst);
        placed
    }

    async fn read(&self, channel: &ChannelId, from: u64, limit: usize) -> Result<Page> {
        self.inner.read(channel, from, limit).await
    }

    async fn prune(&self, channel: &ChannelId, before: u64) -> Result<()> {
        self.inner.prune(channel, before).await
    }
}
