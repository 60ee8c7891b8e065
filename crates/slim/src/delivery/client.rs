//! Who asks.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout};

use super::frame::{Answer, Ask, Call, CallId, MAX_ASKED, Reply};
use super::{Rules, replies};
use crate::blobs::{BlobId, Blobs, MAX_BLOB};
use crate::error::{Error, Result};
use crate::hold;
use crate::keys::{KeyPackages, Keys};
use crate::link::{Link, To};
use crate::log::{Entry, Log, MAX_ENTRY, Page, Placed};
use crate::name::{ChannelId, Name};

/// How long a client waits.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// For an answer to one call, all repetitions in it.
    pub deadline: Duration,
    /// Before the first repetition; each later one waits twice as long, up to two seconds.
    pub repeat: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self { deadline: Duration::from_secs(20), repeat: Duration::from_millis(300) }
    }
}

const LONGEST: Duration = Duration::from_secs(2);

/// As many bytes of key packages go into one frame; the largest package fits three times.
const MAX_PUBLISHED: usize = 192 * 1024;

/// A log, blobs and keys that a delivery service keeps.
///
/// The link is the client's own, since it takes all that arrives there; a clone of the client is another hand on it.
#[derive(Clone)]
pub struct Client {
    inner: Arc<Inner>,
}

struct Inner {
    link: Arc<dyn Link>,
    service: Name,
    caller: u128,
    patience: Patience,
    waiting: Arc<Mutex<Waiting>>,
    /// For as many calls as a service works on of one caller: one more would hear that it is busy, and wait longer than for its turn.
    turns: Semaphore,
    listener: JoinHandle<()>,
}

#[derive(Default)]
struct Waiting {
    closed: bool,
    by_id: HashMap<CallId, mpsc::Sender<Answer>>,
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client").field("service", &self.inner.service).finish_non_exhaustive()
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.listener.abort();
    }
}

impl Client {
    /// Listens for replies of the service with this name.
    ///
    /// # Errors
    /// The link does not answer. Whether there is a service is seen at the first call.
    pub async fn new(link: impl Link + 'static, service: Name, patience: Patience) -> Result<Self> {
        let link: Arc<dyn Link> = Arc::new(link);
        let caller = u128::from_be_bytes(random()?);
        link.subscribe(&replies(&service, caller)).await?;
        let waiting = Arc::new(Mutex::new(Waiting::default()));
        let listener = tokio::spawn(listen(Arc::clone(&link), Arc::clone(&waiting)));
        let turns = Semaphore::new(Rules::default().of_one);
        Ok(Self { inner: Arc::new(Inner { link, service, caller, patience, waiting, turns, listener }) })
    }

    /// How long a call that does nothing takes, there and back.
    ///
    /// # Errors
    /// [`Error::Deadline`], [`Error::LinkClosed`], or what the service says.
    pub async fn ping(&self) -> Result<Duration> {
        let start = Instant::now();
        match self.ask(Ask::Has(Vec::new())).await? {
            Answer::Has(none) if none.is_empty() => Ok(start.elapsed()),
            _ => Err(odd()),
        }
    }

    async fn ask(&self, ask: Ask) -> Result<Answer> {
        let inner = &*self.inner;
        let call = Call { id: CallId(random()?), caller: inner.caller, ask };
        let (sender, mut answers) = mpsc::channel(4);
        {
            let mut waiting = hold(&inner.waiting);
            if waiting.closed {
                return Err(Error::LinkClosed);
            }
            waiting.by_id.insert(call.id, sender);
        }
        let _forget = Forget { waiting: &inner.waiting, id: call.id };
        let frame = call.encode();
        let asked = async {
            let _turn = inner.turns.acquire().await.map_err(|_| Error::LinkClosed)?;
            let mut pause = inner.patience.repeat;
            loop {
                match inner.link.publish(&inner.service, To::One, frame.clone()).await {
                    // A frame that no node took is one that was lost on the way: it is said again.
                    Ok(()) | Err(Error::LinkBusy(_)) => {}
                    Err(error) => return Err(error),
                }
                match timeout(pause, answers.recv()).await {
                    Ok(Some(Answer::Busy)) => sleep(pause).await,
                    Ok(Some(Answer::Refused(refusal))) => return Err(refusal.into()),
                    Ok(Some(answer)) => return Ok(answer),
                    Ok(None) => return Err(Error::LinkClosed),
                    Err(_) => {}
                }
                pause = (pause * 2).min(LONGEST).max(inner.patience.repeat);
            }
        };
        let deadline = inner.patience.deadline;
        timeout(deadline, asked).await.unwrap_or(Err(Error::Deadline(deadline)))
    }
}

/// Takes a call from those that wait, however it ends.
struct Forget<'a> {
    waiting: &'a Mutex<Waiting>,
    id: CallId,
}

impl Drop for Forget<'_> {
    fn drop(&mut self) {
        hold(self.waiting).by_id.remove(&self.id);
    }
}

async fn listen(link: Arc<dyn Link>, waiting: Arc<Mutex<Waiting>>) {
    while let Ok(incoming) = link.receive().await {
        let Ok(reply) = Reply::decode(&incoming.frame) else { continue };
        if let Some(sender) = hold(&waiting).by_id.get(&reply.id) {
            // A full queue holds answers to the same call already.
            let _ = sender.try_send(reply.answer);
        }
    }
    let mut waiting = hold(&waiting);
    waiting.closed = true;
    waiting.by_id.clear();
}

fn random<const N: usize>() -> Result<[u8; N]> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|error| Error::Service(Box::new(error)))?;
    Ok(bytes)
}

/// The answer is one to another question.
fn odd() -> Error {
    Error::Malformed("the answer is of another kind than the request")
}

#[async_trait]
impl Log for Client {
    async fn append(&self, channel: &ChannelId, entry: Entry, after: u64) -> Result<Placed> {
        if entry.content.len() > MAX_ENTRY {
            return Err(Error::EntryTooLarge(entry.content.len()));
        }
        match self.ask(Ask::Append(*channel, entry, after)).await? {
            Answer::Placed(placed) => Ok(placed),
            _ => Err(odd()),
        }
    }

    async fn read(&self, channel: &ChannelId, from: u64, limit: usize) -> Result<Page> {
        let limit = u32::try_from(limit).unwrap_or(u32::MAX);
        match self.ask(Ask::Read(*channel, from, limit)).await? {
            Answer::Page(page) => Ok(page),
            _ => Err(odd()),
        }
    }

    async fn prune(&self, channel: &ChannelId, before: u64) -> Result<()> {
        match self.ask(Ask::Prune(*channel, before)).await? {
            Answer::Done => Ok(()),
            _ => Err(odd()),
        }
    }
}

#[async_trait]
impl Blobs for Client {
    async fn put(&self, bytes: Bytes) -> Result<BlobId> {
        if bytes.len() > MAX_BLOB {
            return Err(Error::BlobTooLarge(bytes.len()));
        }
        let expected = BlobId::of(&bytes);
        match self.ask(Ask::Put(bytes)).await? {
            Answer::Kept(id) if id == expected => Ok(id),
            Answer::Kept(_) => Err(Error::BlobMismatch(expected)),
            _ => Err(odd()),
        }
    }

    async fn get(&self, id: &BlobId) -> Result<Option<Bytes>> {
        Ok(self.get_many(std::slice::from_ref(id)).await?.pop().flatten())
    }

    async fn get_many(&self, ids: &[BlobId]) -> Result<Vec<Option<Bytes>>> {
        let mut all = Vec::with_capacity(ids.len());
        while all.len() < ids.len() {
            let asked = &ids[all.len()..ids.len().min(all.len() + MAX_ASKED)];
            let Answer::Blobs(blobs) = self.ask(Ask::Get(asked.to_vec())).await? else { return Err(odd()) };
            if blobs.is_empty() || blobs.len() > asked.len() {
                return Err(odd());
            }
            let other = |(id, blob): &(&BlobId, &Option<Bytes>)| {
                blob.as_ref().is_some_and(|bytes| BlobId::of(bytes) != **id)
            };
            if let Some((id, _)) = asked.iter().zip(&blobs).find(other) {
                return Err(Error::BlobMismatch(*id));
            }
            all.extend(blobs);
        }
        Ok(all)
    }

    async fn has(&self, ids: &[BlobId]) -> Result<Vec<bool>> {
        let mut all = Vec::with_capacity(ids.len());
        for asked in ids.chunks(MAX_ASKED) {
            match self.ask(Ask::Has(asked.to_vec())).await? {
                Answer::Has(has) if has.len() == asked.len() => all.extend(has),
                _ => return Err(odd()),
            }
        }
        Ok(all)
    }
}

#[async_trait]
impl Keys for Client {
    /// In as many calls as it takes: if one of them is refused, those before it are done.
    async fn publish(&self, did: &str, packages: KeyPackages) -> Result<()> {
        packages.check(did)?;
        let mut part = KeyPackages { once: Vec::new(), last_resort: packages.last_resort };
        let mut size = part.last_resort.as_ref().map_or(0, Bytes::len);
        let mut parts = Vec::new();
        for package in packages.once {
            if size + package.len() > MAX_PUBLISHED {
                parts.push(std::mem::take(&mut part));
                size = 0;
            }
            size += package.len() + 4;
            part.once.push(package);
        }
        parts.push(part);
        for part in parts {
            let Answer::Done = self.ask(Ask::Publish(did.to_owned(), part)).await? else { return Err(odd()) };
        }
        Ok(())
    }

    async fn take(&self, did: &str) -> Result<Option<Bytes>> {
        KeyPackages::default().check(did)?;
        match self.ask(Ask::Take(did.to_owned())).await? {
            Answer::Bytes(package) => Ok(package),
            _ => Err(odd()),
        }
    }

    async fn left(&self, did: &str) -> Result<usize> {
        KeyPackages::default().check(did)?;
        match self.ask(Ask::Left(did.to_owned())).await? {
            Answer::Left(left) => Ok(usize::try_from(left).unwrap_or(usize::MAX)),
            _ => Err(odd()),
        }
    }
}
