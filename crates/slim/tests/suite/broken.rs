//! Services and stores that break.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

use async_trait::async_trait;
use bytes::Bytes;
use gambeson_slim::memory::MemoryLink;
use gambeson_slim::{
    Batch, BlobId, Blobs, ChannelId, Entry, EntryId, EntryKind, Error, Frame, Incoming, KeyPackages, Keys,
    Link, Log, Name, Page, Placed, Result, Services, Store, To,
};

/// A store that stops at a write: what comes after it fails, as after the end of a process.
pub struct Stopping {
    inner: Arc<dyn Store>,
    left: AtomicI64,
    /// Whether the last write still happens, and only its answer is lost.
    after: bool,
}

impl Stopping {
    pub fn new(inner: Arc<dyn Store>, writes: i64, after: bool) -> Self {
        Self { inner, left: AtomicI64::new(writes), after }
    }

    /// Stops at this write from now on.
    pub fn stop_at(&self, writes: i64) {
        self.left.store(writes, Ordering::SeqCst);
    }

    /// Whether it has stopped.
    pub fn stopped(&self) -> bool {
        self.left.load(Ordering::SeqCst) <= 0
    }
}

#[async_trait]
impl Store for Stopping {
    async fn row(&self, row: [u8; 16], from: u64, most: usize) -> Result<BTreeMap<u64, Vec<u8>>> {
        self.inner.row(row, from, most).await
    }

    async fn apply(&self, batch: Batch) -> Result<()> {
        let left = self.left.fetch_sub(1, Ordering::SeqCst);
        if left > 1 || (left == 1 && self.after) {
            self.inner.apply(batch).await?;
        }
        if left > 1 { Ok(()) } else { Err(Error::Store("the store has stopped".into())) }
    }
}

/// A link that writes down what goes out, and may get stuck: then nothing goes out any more to the names so far, as over a node that waits
/// for a listener.
pub struct Tapped {
    pub inner: MemoryLink,
    pub sent: Arc<Mutex<Vec<(Name, Bytes)>>>,
    pub stuck: Mutex<BTreeSet<Name>>,
}

impl Tapped {
    pub fn new(inner: MemoryLink) -> Self {
        Self { inner, sent: Arc::default(), stuck: Mutex::default() }
    }

    pub fn get_stuck(&self) {
        let names = self.sent.lock().unwrap().iter().map(|(name, _)| name.clone()).collect();
        *self.stuck.lock().unwrap() = names;
    }
}

#[async_trait]
impl Link for Tapped {
    async fn subscribe(&self, name: &Name) -> Result<()> {
        self.inner.subscribe(name).await
    }

    async fn unsubscribe(&self, name: &Name) -> Result<()> {
        self.inner.unsubscribe(name).await
    }

    async fn publish(&self, name: &Name, to: To, frame: Bytes) -> Result<()> {
        let stuck = self.stuck.lock().unwrap().contains(name);
        if stuck {
            std::future::pending::<()>().await;
        }
        self.sent.lock().unwrap().push((name.clone(), frame.clone()));
        self.inner.publish(name, to, frame).await
    }

    async fn receive(&self) -> Result<Incoming> {
        self.inner.receive().await
    }
}

/// A link that does not take a subscription once it is told so, and writes down what it took.
pub struct Refusing {
    pub inner: MemoryLink,
    pub refuses: AtomicBool,
    pub refused: Mutex<Option<Name>>,
    pub taken: Mutex<Vec<Name>>,
}

impl Refusing {
    pub fn new(inner: MemoryLink) -> Self {
        Self { inner, refuses: AtomicBool::new(false), refused: Mutex::default(), taken: Mutex::default() }
    }
}

#[async_trait]
impl Link for Refusing {
    async fn subscribe(&self, name: &Name) -> Result<()> {
        if self.refuses.swap(false, Ordering::SeqCst) {
            *self.refused.lock().unwrap() = Some(name.clone());
            return Err(Error::LinkBusy(std::time::Duration::ZERO));
        }
        self.taken.lock().unwrap().push(name.clone());
        self.inner.subscribe(name).await
    }

    async fn unsubscribe(&self, name: &Name) -> Result<()> {
        self.inner.unsubscribe(name).await
    }

    async fn publish(&self, name: &Name, to: To, frame: Bytes) -> Result<()> {
        self.inner.publish(name, to, frame).await
    }

    async fn receive(&self) -> Result<Incoming> {
        self.inner.receive().await
    }
}

/// A node that keeps the first message back and hands on the second under its id; the rest goes through.
pub struct Relabelling {
    pub inner: MemoryLink,
    kept: Mutex<Vec<EntryId>>,
}

impl Relabelling {
    pub fn new(inner: MemoryLink) -> Self {
        Self { inner, kept: Mutex::default() }
    }

    /// How many messages it had in its hands.
    pub fn met(&self) -> usize {
        self.kept.lock().unwrap().len()
    }
}

#[async_trait]
impl Link for Relabelling {
    async fn subscribe(&self, name: &Name) -> Result<()> {
        self.inner.subscribe(name).await
    }

    async fn unsubscribe(&self, name: &Name) -> Result<()> {
        self.inner.unsubscribe(name).await
    }

    async fn publish(&self, name: &Name, to: To, frame: Bytes) -> Result<()> {
        self.inner.publish(name, to, frame).await
    }

    async fn receive(&self) -> Result<Incoming> {
        loop {
            let incoming = self.inner.receive().await?;
            let Ok(Frame::Entry { id, kind: EntryKind::Application, content }) =
                Frame::parse(&incoming.frame)
            else {
                return Ok(incoming);
            };
            let mut kept = self.kept.lock().unwrap();
            kept.push(id);
            match kept[..] {
                [_] => {}
                [first, _] => {
                    let frame = Frame::Entry { id: first, kind: EntryKind::Application, content };
                    return Ok(Incoming { frame: frame.to_bytes()?, ..incoming });
                }
                _ => return Ok(incoming),
            }
        }
    }
}

/// A log of two minds: from a moment on it keeps two, and shows each reader one; from another on all see the first.
pub struct TwoHeads {
    first: Arc<dyn Log>,
    second: Arc<dyn Log>,
    /// Until they part, both have everything in one order, however long an engine takes for an entry.
    one: tokio::sync::Mutex<()>,
    pub split: AtomicBool,
    pub healed: AtomicBool,
}

impl TwoHeads {
    pub fn new() -> Arc<Self> {
        let (first, second) = (crate::services().log, crate::services().log);
        let flag = || AtomicBool::new(false);
        Arc::new(Self { first, second, one: tokio::sync::Mutex::default(), split: flag(), healed: flag() })
    }
}

/// One reader's side of it.
pub struct Side(pub Arc<TwoHeads>, pub bool);

impl Side {
    fn log(&self) -> &dyn Log {
        let second = self.1 && !self.0.healed.load(Ordering::SeqCst);
        if second { &*self.0.second } else { &*self.0.first }
    }
}

#[async_trait]
impl Log for Side {
    async fn append(&self, channel: &ChannelId, entry: Entry, after: u64) -> Result<Placed> {
        if self.0.split.load(Ordering::SeqCst) {
            return self.log().append(channel, entry, after).await;
        }
        let _one = self.0.one.lock().await;
        self.0.second.append(channel, entry.clone(), after).await?;
        self.0.first.append(channel, entry, after).await
    }

    async fn read(&self, channel: &ChannelId, from: u64, limit: usize) -> Result<Page> {
        self.log().read(channel, from, limit).await
    }

    async fn prune(&self, _: &ChannelId, _: u64) -> Result<()> {
        Ok(())
    }
}

/// A log at which somebody is always first: with junk under the id that each message has on the link.
pub struct Outrun(pub Arc<dyn Log>);

#[async_trait]
impl Log for Outrun {
    async fn append(&self, channel: &ChannelId, entry: Entry, after: u64) -> Result<Placed> {
        if entry.kind == EntryKind::Application {
            let head = self.0.read(channel, 1, 1_000).await?;
            // Once: an id that was never on the link nobody knows.
            if !head.records.iter().any(|record| record.entry.content[..] == b"junk"[..]) {
                let junk = Entry { content: Bytes::from_static(b"junk"), ..entry.clone() };
                self.0.append(channel, junk, 0).await?;
            }
        }
        self.0.append(channel, entry, after).await
    }

    async fn read(&self, channel: &ChannelId, from: u64, limit: usize) -> Result<Page> {
        self.0.read(channel, from, limit).await
    }

    async fn prune(&self, channel: &ChannelId, before: u64) -> Result<()> {
        self.0.prune(channel, before).await
    }
}

/// A log that takes no messages while it is shut.
pub struct Shut {
    pub inner: Arc<dyn Log>,
    pub shut: AtomicBool,
}

#[async_trait]
impl Log for Shut {
    async fn append(&self, channel: &ChannelId, entry: Entry, after: u64) -> Result<Placed> {
        if entry.kind == EntryKind::Application && self.shut.load(Ordering::SeqCst) {
            return Err(Error::Service("the log is shut".into()));
        }
        self.inner.append(channel, entry, after).await
    }

    async fn read(&self, channel: &ChannelId, from: u64, limit: usize) -> Result<Page> {
        self.inner.read(channel, from, limit).await
    }

    async fn prune(&self, channel: &ChannelId, before: u64) -> Result<()> {
        self.inner.prune(channel, before).await
    }
}

/// A log that, once, stops its member's store as soon as it has taken a commit.
pub struct Tripping {
    pub inner: Arc<dyn Log>,
    pub trips: Mutex<Option<Arc<Stopping>>>,
}

#[async_trait]
impl Log for Tripping {
    async fn append(&self, channel: &ChannelId, entry: Entry, after: u64) -> Result<Placed> {
        let is_commit = entry.kind == EntryKind::Commit;
        let placed = self.inner.append(channel, entry, after).await?;
        if is_commit && let Some(store) = self.trips.lock().unwrap().take() {
            store.stop_at(1);
        }
        Ok(placed)
    }

    async fn read(&self, channel: &ChannelId, from: u64, limit: usize) -> Result<Page> {
        self.inner.read(channel, from, limit).await
    }

    async fn prune(&self, channel: &ChannelId, before: u64) -> Result<()> {
        self.inner.prune(channel, before).await
    }
}

/// Blobs that are not found while they are hidden.
pub struct Hidden {
    pub inner: Arc<dyn Blobs>,
    pub hidden: AtomicBool,
}

#[async_trait]
impl Blobs for Hidden {
    async fn put(&self, bytes: Bytes) -> Result<BlobId> {
        self.inner.put(bytes).await
    }

    async fn get(&self, id: &BlobId) -> Result<Option<Bytes>> {
        if self.hidden.load(Ordering::SeqCst) { Ok(None) } else { self.inner.get(id).await }
    }

    async fn has(&self, ids: &[BlobId]) -> Result<Vec<bool>> {
        self.inner.has(ids).await
    }
}

/// What becomes of blobs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    None,
    /// They are taken, and are not there later.
    Lost,
    /// Who asks for them gets no answer.
    Silence,
}

/// Blobs with a trouble.
pub struct Troubled {
    pub inner: Arc<dyn Blobs>,
    pub trouble: Mutex<Trouble>,
}

impl Troubled {
    pub fn over(inner: &Arc<dyn Blobs>) -> Arc<Self> {
        Arc::new(Self { inner: Arc::clone(inner), trouble: Mutex::new(Trouble::None) })
    }

    pub fn set(&self, trouble: Trouble) {
        *self.trouble.lock().unwrap() = trouble;
    }

    fn is(&self, trouble: Trouble) -> bool {
        *self.trouble.lock().unwrap() == trouble
    }
}

#[async_trait]
impl Blobs for Troubled {
    async fn put(&self, bytes: Bytes) -> Result<BlobId> {
        if self.is(Trouble::Lost) { Ok(BlobId::of(&bytes)) } else { self.inner.put(bytes).await }
    }

    async fn get(&self, id: &BlobId) -> Result<Option<Bytes>> {
        if self.is(Trouble::Silence) {
            std::future::pending::<()>().await;
        }
        self.inner.get(id).await
    }

    async fn has(&self, ids: &[BlobId]) -> Result<Vec<bool>> {
        self.inner.has(ids).await
    }
}

/// A service that does not answer while it is cut off: log, blobs and key packages.
pub struct Unreachable {
    inner: Services,
    pub cut: AtomicBool,
}

impl Unreachable {
    pub fn over(inner: &Services) -> Arc<Self> {
        Arc::new(Self { inner: inner.clone(), cut: AtomicBool::new(false) })
    }

    /// The answer, if the call gets there and the answer back.
    async fn across<T>(&self, call: impl Future<Output = Result<T>>) -> Result<T> {
        self.stands()?;
        let answer = call.await?;
        self.stands().map(|()| answer)
    }

    fn stands(&self) -> Result<()> {
        match self.cut.load(Ordering::SeqCst) {
            true => Err(Error::Service("nobody answers".into())),
            false => Ok(()),
        }
    }
}

#[async_trait]
impl Log for Unreachable {
    async fn append(&self, channel: &ChannelId, entry: Entry, after: u64) -> Result<Placed> {
        self.across(self.inner.log.append(channel, entry, after)).await
    }

    async fn read(&self, channel: &ChannelId, from: u64, limit: usize) -> Result<Page> {
        self.across(self.inner.log.read(channel, from, limit)).await
    }

    async fn prune(&self, channel: &ChannelId, before: u64) -> Result<()> {
        self.across(self.inner.log.prune(channel, before)).await
    }
}

#[async_trait]
impl Blobs for Unreachable {
    async fn put(&self, bytes: Bytes) -> Result<BlobId> {
        self.across(self.inner.blobs.put(bytes)).await
    }

    async fn get(&self, id: &BlobId) -> Result<Option<Bytes>> {
        self.across(self.inner.blobs.get(id)).await
    }

    async fn has(&self, ids: &[BlobId]) -> Result<Vec<bool>> {
        self.across(self.inner.blobs.has(ids)).await
    }
}

#[async_trait]
impl Keys for Unreachable {
    async fn publish(&self, did: &str, packages: KeyPackages) -> Result<()> {
        self.across(self.inner.keys.publish(did, packages)).await
    }

    async fn take(&self, did: &str) -> Result<Option<Bytes>> {
        self.across(self.inner.keys.take(did)).await
    }

    async fn left(&self, did: &str) -> Result<usize> {
        self.across(self.inner.keys.left(did)).await
    }
}
