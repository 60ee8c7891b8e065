//! Link, log, blobs and key packages in memory: for tests, for the simulator, and for agents of one process.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use bytes::Bytes;
use tokio::sync::mpsc;

use crate::blobs::{BlobId, Blobs, MAX_BLOB};
use crate::engine::Limits;
use crate::error::{Error, Quota, Result};
use crate::hold;
use crate::keys::{KeyPackages, Keys, MAX_KEY_PACKAGES};
use crate::link::{Incoming, Link, MAX_FRAME, To};
use crate::log::{Entry, EntryId, EntryKind, Head, Log, MAX_ENTRY, Page, Placed, Record};
use crate::name::{ChannelId, Name};

/// Joins links of one process.
#[derive(Clone, Debug, Default)]
pub struct Hub {
    shared: Arc<Mutex<Listeners>>,
}

#[derive(Debug, Default)]
struct Listeners {
    /// Who listens: the name with its instance, the link's number, and the way to it.
    by_name: HashMap<Name, Vec<(Name, u64, mpsc::UnboundedSender<Incoming>)>>,
    links: u64,
    /// The side on which a link stands, if it is not 0.
    sides: HashMap<u64, u32>,
    /// Whose turn it is when one of many is asked.
    turn: usize,
}

impl Hub {
    /// A hub without links.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A link to this hub. What it sends arrives at all others, once and in order.
    #[must_use]
    pub fn link(&self) -> MemoryLink {
        let (sender, receiver) = mpsc::unbounded_channel();
        let mut shared = hold(&self.shared);
        shared.links += 1;
        MemoryLink {
            hub: self.clone(),
            number: shared.links,
            sender,
            receiver: tokio::sync::Mutex::new(receiver),
        }
    }
}

/// A link of a [`Hub`].
#[derive(Debug)]
pub struct MemoryLink {
    hub: Hub,
    number: u64,
    sender: mpsc::UnboundedSender<Incoming>,
    receiver: tokio::sync::Mutex<mpsc::UnboundedReceiver<Incoming>>,
}

impl MemoryLink {
    /// Stands on this side of a partition from now on (at first: 0). Only links of one side reach each other.
    pub fn stand(&self, side: u32) {
        self.stands()(side);
    }

    /// The same, for who has given the link away.
    pub(crate) fn stands(&self) -> impl Fn(u32) + Send + Sync + use<> {
        let (hub, number) = (self.hub.clone(), self.number);
        move |side| _ = hold(&hub.shared).sides.insert(number, side)
    }

    fn leave(&self, which: impl Fn(&Name) -> bool) {
        let mut shared = hold(&self.hub.shared);
        shared.by_name.retain(|_, listeners| {
            listeners.retain(|(name, number, _)| *number != self.number || !which(name));
            !listeners.is_empty()
        });
    }
}

impl Drop for MemoryLink {
    fn drop(&mut self) {
        self.leave(|_| true);
        hold(&self.hub.shared).sides.remove(&self.number);
    }
}

#[async_trait]
impl Link for MemoryLink {
    async fn subscribe(&self, name: &Name) -> Result<()> {
        if name.instance().is_none() {
            return Err(Error::NoInstance);
        }
        let mut shared = hold(&self.hub.shared);
        let listeners = shared.by_name.entry(name.clone().everyone()).or_default();
        if !listeners.iter().any(|(at, number, _)| at == name && *number == self.number) {
            listeners.push((name.clone(), self.number, self.sender.clone()));
        }
        Ok(())
    }

    async fn unsubscribe(&self, name: &Name) -> Result<()> {
        self.leave(|at| at == name);
        Ok(())
    }

    async fn publish(&self, name: &Name, to: To, frame: Bytes) -> Result<()> {
        if frame.len() > MAX_FRAME {
            return Err(Error::FrameTooLarge(frame.len()));
        }
        let mut shared = hold(&self.hub.shared);
        shared.turn = shared.turn.wrapping_add(1);
        let everyone = name.clone().everyone();
        let side = |number| shared.sides.get(number).copied().unwrap_or_default();
        let reached: Vec<_> = shared
            .by_name
            .get(&everyone)
            .into_iter()
            .flatten()
            .filter(|(_, number, _)| *number != self.number && side(number) == side(&self.number))
            .filter(|(at, _, _)| name.instance().is_none() || at == name)
            .map(|(_, _, sender)| sender)
            .collect();
        let arrived = Incoming { to: everyone, frame };
        match to {
            To::All => reached.iter().for_each(|sender| drop(sender.send(arrived.clone()))),
            To::One if reached.is_empty() => {}
            To::One => drop(reached[shared.turn % reached.len()].send(arrived)),
        }
        Ok(())
    }

    async fn receive(&self) -> Result<Incoming> {
        self.receiver.lock().await.recv().await.ok_or(Error::LinkClosed)
    }
}

/// A log, blobs and key packages in memory.
#[derive(Debug, Default)]
pub struct MemoryService {
    channels: Mutex<HashMap<ChannelId, Kept>>,
    blobs: Mutex<HashMap<BlobId, Bytes>>,
    packages: Mutex<HashMap<String, KeyPackagesOf>>,
    limits: Option<Limits>,
}

#[derive(Debug, Default)]
struct KeyPackagesOf {
    once: VecDeque<Bytes>,
    last_resort: Option<Bytes>,
    /// The hashes of all that were ever added.
    known: HashSet<[u8; 32]>,
}

#[derive(Debug, Default)]
struct Kept {
    records: VecDeque<Record>,
    last: u64,
    commit: u64,
    checkpoint: u64,
    bytes: u64,
    places: HashMap<EntryId, u64>,
}

impl Kept {
    fn head(&self) -> Head {
        Head {
            first: self.records.front().map_or(self.last + 1, |record| record.place),
            last: self.last,
            commit: self.commit,
        }
    }

    fn count(&self) -> u64 {
        self.records.len() as u64
    }

    /// Forgets what stands first.
    fn forget_first(&mut self) {
        if let Some(record) = self.records.pop_front() {
            self.bytes -= record.entry.content.len() as u64;
        }
    }

    /// Forgets what stands before the newest checkpoint, the oldest first, from three quarters of the limits on; and refuses an entry for which there is no room.
    fn make_room(&mut self, limits: &Limits, entry: &Entry) -> Result<()> {
        let is_old = |kept: &Self| kept.records.front().is_some_and(|record| record.place < kept.checkpoint);
        let nearly = |kept: &Self| kept.count() > limits.entries / 4 * 3 || kept.bytes > limits.bytes / 4 * 3;
        while is_old(self) && nearly(self) {
            self.forget_first();
        }
        let more = |limit: u64| match entry.kind {
            EntryKind::Checkpoint => limit.saturating_add(limit / 16),
            _ => limit,
        };
        if self.count() >= more(limits.entries) {
            return Err(Error::Full(Quota::Entries));
        }
        if self.bytes + entry.content.len() as u64 > more(limits.bytes) {
            return Err(Error::Full(Quota::Bytes));
        }
        Ok(())
    }
}

impl MemoryService {
    /// With nothing in it, and without limits.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// With nothing in it. Of the limits `store` is not looked at.
    #[must_use]
    pub fn with(limits: Limits) -> Self {
        Self { limits: Some(limits), ..Self::default() }
    }

    /// Keeps these blobs no longer.
    pub fn forget(&self, ids: &[BlobId]) {
        let mut blobs = hold(&self.blobs);
        ids.iter().for_each(|id| drop(blobs.remove(id)));
    }
}

#[async_trait]
impl Log for MemoryService {
    async fn append(&self, channel: &ChannelId, entry: Entry, after: u64) -> Result<Placed> {
        if entry.content.len() > MAX_ENTRY {
            return Err(Error::EntryTooLarge(entry.content.len()));
        }
        let mut channels = hold(&self.channels);
        let most = self.limits.map_or(u64::MAX, |limits| limits.channels);
        if channels.len() as u64 >= most && !channels.contains_key(channel) {
            return Err(Error::Full(Quota::Channels));
        }
        let kept = channels.entry(*channel).or_default();
        if let Some(place) = kept.places.get(&entry.id) {
            let at = kept.records.binary_search_by_key(place, |record| record.place);
            let another = at.is_ok_and(|at| kept.records[at].entry != entry);
            return if another { Err(Error::IdTaken) } else { Ok(Placed::At(*place)) };
        }
        if entry.kind == EntryKind::Commit && kept.commit != after {
            return Ok(Placed::After(kept.commit));
        }
        if let Some(limits) = &self.limits {
            kept.make_room(limits, &entry)?;
        }
        kept.last += 1;
        kept.bytes += entry.content.len() as u64;
        match entry.kind {
            EntryKind::Commit => kept.commit = kept.last,
            EntryKind::Checkpoint => kept.checkpoint = kept.last,
            _ => {}
        }
        kept.places.insert(entry.id, kept.last);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let at = u64::try_from(now.as_millis()).unwrap_or(u64::MAX);
        kept.records.push_back(Record { place: kept.last, at, entry });
        Ok(Placed::At(kept.last))
    }

    async fn read(&self, channel: &ChannelId, from: u64, limit: usize) -> Result<Page> {
        let channels = hold(&self.channels);
        let Some(kept) = channels.get(channel) else { return Ok(Page::default()) };
        let records =
            kept.records.iter().filter(|record| record.place >= from).take(limit.max(1)).cloned().collect();
        Ok(Page { head: kept.head(), records })
    }

    async fn prune(&self, channel: &ChannelId, before: u64) -> Result<()> {
        if let Some(kept) = hold(&self.channels).get_mut(channel) {
            while kept.records.front().is_some_and(|record| record.place < before) {
                kept.forget_first();
            }
        }
        Ok(())
    }
}

#[async_trait]
impl Blobs for MemoryService {
    async fn put(&self, bytes: Bytes) -> Result<BlobId> {
        if bytes.len() > MAX_BLOB {
            return Err(Error::BlobTooLarge(bytes.len()));
        }
        let id = BlobId::of(&bytes);
        hold(&self.blobs).insert(id, bytes);
        Ok(id)
    }

    async fn get(&self, id: &BlobId) -> Result<Option<Bytes>> {
        Ok(hold(&self.blobs).get(id).cloned())
    }

    async fn has(&self, ids: &[BlobId]) -> Result<Vec<bool>> {
        let blobs = hold(&self.blobs);
        Ok(ids.iter().map(|id| blobs.contains_key(id)).collect())
    }
}

#[async_trait]
impl Keys for MemoryService {
    async fn publish(&self, did: &str, packages: KeyPackages) -> Result<()> {
        packages.check(did)?;
        let mut all = hold(&self.packages);
        let most = self.limits.map_or(u64::MAX, |limits| limits.dids);
        if all.len() as u64 >= most && !all.contains_key(did) {
            return Err(Error::Full(Quota::Dids));
        }
        let kept = all.entry(did.to_owned()).or_default();
        let distinct = KeyPackages::distinct(packages.once);
        let new: Vec<_> = distinct.filter(|(hash, _)| !kept.known.contains(hash)).collect();
        if kept.once.len() + new.len() > MAX_KEY_PACKAGES {
            return Err(Error::TooManyKeyPackages(MAX_KEY_PACKAGES));
        }
        for (hash, package) in new {
            kept.known.insert(hash);
            kept.once.push_back(package);
        }
        if packages.last_resort.is_some() {
            kept.last_resort = packages.last_resort;
        }
        Ok(())
    }

    async fn take(&self, did: &str) -> Result<Option<Bytes>> {
        let mut all = hold(&self.packages);
        Ok(all.get_mut(did).and_then(|kept| kept.once.pop_front().or_else(|| kept.last_resort.clone())))
    }

    async fn left(&self, did: &str) -> Result<usize> {
        Ok(hold(&self.packages).get(did).map_or(0, |kept| kept.once.len()))
    }
}
