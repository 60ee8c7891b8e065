//! A whole member: its own group, its own links.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use gambeson_identity::Did;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};

use super::world::{CHANNEL, Shared};
use crate::blobs::{BlobId, Blobs, MAX_BLOB};
use crate::delivery::Client;
use crate::error::{Error, Result};
use crate::faults::{Dice, Faults, Faulty};
use crate::hold;
use crate::keys::Keys;
use crate::link::{Incoming, Link, To};
use crate::log::{Entry, EntryId, EntryKind, Log, MAX_ENTRY, Placed, Record};
use crate::member::{Changes, KeptKeyPackage, Me, Member, Pending, Processed};
use crate::memory::MemoryLink;
use crate::name::Name;

/// A link that counts bytes, and can be cut, or stand on another side.
#[derive(Clone)]
pub(super) struct Counted {
    link: Arc<Faulty>,
    stands: Arc<dyn Fn(u32) + Send + Sync>,
    pub(super) traffic: Arc<Traffic>,
}

#[derive(Default)]
pub(super) struct Traffic {
    pub(super) bytes_in: AtomicU64,
    pub(super) bytes_out: AtomicU64,
}

impl Counted {
    pub(super) fn new(link: MemoryLink, seed: u64, faults: Faults, traffic: &Arc<Traffic>) -> Self {
        let stands = Arc::new(link.stands());
        Self { link: Arc::new(Faulty::new(link, seed, faults)), stands, traffic: Arc::clone(traffic) }
    }
}

fn wide(len: usize) -> u64 {
    u64::try_from(len).unwrap_or(u64::MAX)
}

#[async_trait]
impl Link for Counted {
    async fn subscribe(&self, name: &Name) -> Result<()> {
        self.link.subscribe(name).await
    }

    async fn unsubscribe(&self, name: &Name) -> Result<()> {
        self.link.unsubscribe(name).await
    }

    async fn publish(&self, name: &Name, to: To, frame: Bytes) -> Result<()> {
        self.traffic.bytes_out.fetch_add(wide(frame.len()), Ordering::Relaxed);
        self.link.publish(name, to, frame).await
    }

    async fn receive(&self) -> Result<Incoming> {
        let incoming = self.link.receive().await?;
        self.traffic.bytes_in.fetch_add(wide(incoming.frame.len()), Ordering::Relaxed);
        Ok(incoming)
    }
}

/// What the world asks of a whole member.
pub(super) enum Order {
    /// Make this commit: packages of these DIDs are taken, these are removed. Answered when it stands.
    Commit { add: Vec<Did>, remove: Vec<Did>, welcome: Vec<Did>, done: oneshot::Sender<Invitation> },
    /// Read what there is, and answer with the epoch.
    Settle(oneshot::Sender<u64>),
}

/// What a commit left for those who join: where its entry stands, their Welcomes, and the chunks of the tree.
#[derive(Clone, Default)]
pub(super) struct Invitation {
    pub(super) place: u64,
    pub(super) welcomes: HashMap<Did, Bytes>,
    pub(super) tree: Vec<BlobId>,
}

/// How the world reaches a whole member.
#[derive(Clone)]
pub(super) struct Handle {
    pub(super) did: Did,
    pub(super) orders: mpsc::UnboundedSender<Order>,
    pub(super) links: [Counted; 2],
    pub(super) absence: Arc<Mutex<Absence>>,
}

/// Whether somebody is away, or when he came back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Absence {
    Away,
    BackSince(Instant),
}

impl Handle {
    /// Cuts its links.
    pub(super) fn silence(&self) {
        *hold(&self.absence) = Absence::Away;
        self.links.iter().for_each(|link| link.link.cut(true));
    }

    /// Puts it on the side of a partition where the delivery service is not.
    pub(super) fn part(&self) {
        *hold(&self.absence) = Absence::Away;
        self.links.iter().for_each(|link| (link.stands)(1));
    }

    /// Undoes either.
    pub(super) fn come_back(&self) {
        *hold(&self.absence) = Absence::BackSince(Instant::now());
        for link in &self.links {
            link.link.cut(false);
            (link.stands)(0);
        }
    }
}

pub(super) struct Whole {
    pub(super) shared: Rc<Shared>,
    pub(super) member: Member,
    pub(super) client: Client,
    pub(super) link: Counted,
    pub(super) orders: mpsc::UnboundedReceiver<Order>,
    pub(super) dice: Dice,
    pub(super) absence: Arc<Mutex<Absence>>,
    /// The place of the last entry that was read.
    pub(super) place: u64,
    /// The place of the newest commit that was read.
    pub(super) newest: u64,
}

/// The name on which members hear that there is something to read.
pub(super) fn notices() -> Name {
    Name::new("sim", "channels", "notices")
}

impl Whole {
    /// Lives until it is removed or the world ends; what stops it otherwise is told there.
    pub(super) async fn live(mut self) {
        let did = self.member.me().did().clone();
        if let Err(error) = self.lives().await {
            self.shared.fails(format!("{did}: {error}"));
        }
    }

    async fn lives(&mut self) -> Result<()> {
        self.put_away()?;
        let mut look = Instant::now();
        let mut say = Instant::now() + self.until_next_word();
        while !self.member.is_removed() {
            tokio::select! {
                biased;
                order = self.orders.recv() => match order {
                    Some(Order::Commit { add, remove, welcome, done }) => {
                        let invitation = self.commit(add, remove, &welcome).await?;
                        let _ = done.send(invitation);
                    }
                    Some(Order::Settle(done)) => {
                        self.catch_up().await?;
                        let _ = done.send(self.member.epoch());
                    }
                    None => return Ok(()),
                },
                notice = self.link.receive() => {
                    notice?;
                    self.catch_up().await?;
                }
                // A notice may be lost: now and then one looks.
                () = sleep_until(look) => {
                    look = Instant::now() + self.dice.between(Duration::from_secs(8), Duration::from_secs(12));
                    self.catch_up().await?;
                }
                () = sleep_until(say) => {
                    say = Instant::now() + self.until_next_word();
                    self.say().await?;
                }
            }
        }
        Ok(())
    }

    fn until_next_word(&mut self) -> Duration {
        match self.shared.options.messages {
            rate if rate > 0.0 => {
                let mean = Duration::from_secs(60).div_f64(rate);
                self.dice.between(mean / 2, mean + mean / 2)
            }
            _ => Duration::from_secs(1 << 30),
        }
    }

    /// An entry that the log takes: repeated for as long as the longest absence and more, as an agent's queue would.
    async fn append(&self, kind: EntryKind, id: EntryId, content: Bytes) -> Result<Placed> {
        let mut times = 0;
        loop {
            let entry = Entry { id, kind, content: content.clone() };
            match self.client.append(&CHANNEL, entry, self.newest).await {
                Err(Error::Deadline(_)) if times < 20 => times += 1,
                placed => return placed,
            }
        }
    }

    async fn notify(&self, place: u64) -> Result<()> {
        self.link.publish(&notices(), To::All, Bytes::copy_from_slice(&place.to_be_bytes())).await
    }

    async fn say(&mut self) -> Result<()> {
        let (said, cpu) = self.shared.timed(|| self.member.seal(&[0x6d; 1_024], b""));
        let said = said?;
        self.shared.note("message: send, CPU ms", cpu);
        self.shared.note_bytes("message of 1 KiB, bytes", said.len());
        let id = EntryId(self.dice.bytes());
        if let Placed::At(place) = self.append(EntryKind::Application, id, said).await? {
            self.notify(place).await?;
        }
        Ok(())
    }

    async fn commit(&mut self, add: Vec<Did>, remove: Vec<Did>, welcome: &[Did]) -> Result<Invitation> {
        let mut packages = Vec::with_capacity(add.len());
        for did in &add {
            let package = self.client.take(&did.to_string()).await?;
            packages.push(package.ok_or_else(|| Error::Simulation(format!("no package of {did}")))?);
        }
        let update = add.is_empty() && remove.is_empty();
        loop {
            self.catch_up().await?;
            if self.member.is_removed() {
                return Ok(Invitation::default());
            }
            let changes = Changes { add: packages.clone(), remove: remove.clone(), ..Changes::default() };
            let (made, cpu) = self.shared.timed(|| self.member.commit(changes, self.shared.now()));
            let pending = made?;
            let begun = Instant::now();
            let content = self.content(&pending.commit).await?;
            let id = EntryId(self.dice.bytes());
            match self.append(EntryKind::Commit, id, content).await? {
                Placed::After(_) => {
                    self.shared.count("commits that came second");
                    self.member.abandon();
                }
                Placed::At(place) => {
                    let kind = if update { "update" } else { "add and remove" };
                    self.shared.note(&format!("commit ({kind}): make, CPU ms"), cpu);
                    self.shared.note_bytes(&format!("commit ({kind}), bytes"), pending.commit.len());
                    self.shared.note("commit: until it stands, s", begun.elapsed().as_secs_f64());
                    self.newest = place;
                    self.member.confirm()?;
                    self.put_away()?;
                    self.shared.agree(&self.member, *hold(&self.absence))?;
                    self.notify(place).await?;
                    return self.invite(pending, place, welcome).await;
                }
            }
        }
    }

    /// Keeps what those need who join as whole members.
    async fn invite(&self, pending: Pending, place: u64, welcome: &[Did]) -> Result<Invitation> {
        for (_, bytes) in &pending.welcomes {
            self.shared.note_bytes("Welcome, bytes", bytes.len());
        }
        let welcomes = pending.welcomes.into_iter().filter(|(did, _)| welcome.contains(did)).collect();
        let tree = match pending.tree {
            Some(tree) if !welcome.is_empty() => {
                self.shared.note_bytes("tree, bytes", tree.len());
                self.put(&tree).await?
            }
            _ => Vec::new(),
        };
        Ok(Invitation { place, welcomes, tree })
    }

    /// A commit as the log takes it: itself, or the hashes of its chunks.
    async fn content(&self, commit: &Bytes) -> Result<Bytes> {
        if commit.len() < MAX_ENTRY {
            return Ok([&[0], &commit[..]].concat().into());
        }
        let ids = self.put(commit).await?;
        Ok([1].into_iter().chain(ids.iter().flat_map(|id| id.0)).collect())
    }

    async fn put(&self, bytes: &Bytes) -> Result<Vec<BlobId>> {
        let chunks: Vec<Bytes> = (0..bytes.len())
            .step_by(MAX_BLOB)
            .map(|at| bytes.slice(at..bytes.len().min(at + MAX_BLOB)))
            .collect();
        let ids: Vec<BlobId> = chunks.iter().map(|chunk| BlobId::of(chunk)).collect();
        self.shared.remember(&ids);
        let kept = self.client.has(&ids).await?;
        let missing = chunks.into_iter().zip(kept).filter(|(_, kept)| !kept).map(|(chunk, _)| chunk);
        side_by_side(&self.client, missing, async |client, chunk| client.put(chunk).await).await?;
        Ok(ids)
    }

    /// The state of a new epoch, as a channel asks for it before it goes on.
    fn put_away(&mut self) -> Result<()> {
        let (pieces, cpu) = self.shared.timed(|| self.member.state());
        self.shared.note("new epoch: put it away, CPU ms", cpu);
        pieces.map(drop)
    }

    async fn catch_up(&mut self) -> Result<()> {
        loop {
            let page = match self.client.read(&CHANNEL, self.place + 1, 100).await {
                // Nothing is heard: it comes back by itself, and looks again.
                Err(Error::Deadline(_)) => return Ok(()),
                page => page?,
            };
            if page.records.is_empty() {
                return Ok(());
            }
            for record in page.records {
                if record.place > self.place {
                    if !self.take(&record).await? {
                        return Ok(());
                    }
                    self.place = record.place;
                }
                if self.member.is_removed() {
                    return Ok(());
                }
            }
        }
    }

    /// Takes an entry; whether it could, since chunks may be out of reach for now.
    async fn take(&mut self, record: &Record) -> Result<bool> {
        let at = self.shared.now();
        match record.entry.kind {
            // Its own, which it has confirmed.
            EntryKind::Commit if record.place <= self.newest => {}
            EntryKind::Commit => {
                let commit = match fetched(&self.client, &record.entry.content).await {
                    Err(Error::Deadline(_)) => return Ok(false),
                    commit => commit?,
                };
                let (processed, cpu) = self.shared.timed(|| self.member.process(&commit, at));
                let Processed::Commit(changed) = processed? else {
                    return Err(Error::Simulation("a commit that is none".into()));
                };
                self.newest = record.place;
                let update = changed.added.is_empty() && changed.removed.is_empty();
                let kind = if update { "update" } else { "add and remove" };
                self.shared.note(&format!("commit ({kind}): process, CPU ms"), cpu);
                if !self.member.is_removed() {
                    self.put_away()?;
                    self.shared.agree(&self.member, *hold(&self.absence))?;
                }
            }
            EntryKind::Application => {
                let (processed, cpu) = self.shared.timed(|| self.member.process(&record.entry.content, at));
                match processed {
                    Ok(_) => self.shared.note("message: receive, CPU ms", cpu),
                    // Its own, or one of an epoch before it came.
                    Err(_) => self.shared.count("messages that were not for it"),
                }
            }
            _ => {}
        }
        Ok(true)
    }
}

/// Works on items, sixteen at once; in any order.
async fn side_by_side<T: 'static, R: 'static>(
    client: &Client,
    items: impl IntoIterator<Item = T>,
    work: impl AsyncFn(Client, T) -> Result<R> + Copy + 'static,
) -> Result<Vec<R>> {
    let (mut tasks, mut done) = (JoinSet::new(), Vec::new());
    for item in items {
        let client = client.clone();
        tasks.spawn_local(async move { work(client, item).await });
        while tasks.len() >= 16 {
            if let Some(one) = tasks.join_next().await {
                done.push(one.map_err(|error| Error::Simulation(error.to_string()))??);
            }
        }
    }
    while let Some(one) = tasks.join_next().await {
        done.push(one.map_err(|error| Error::Simulation(error.to_string()))??);
    }
    Ok(done)
}

/// All bytes of these chunks.
pub(super) async fn gathered(client: &Client, ids: &[BlobId]) -> Result<Bytes> {
    let numbered = ids.iter().copied().enumerate().collect::<Vec<_>>();
    let mut chunks = side_by_side(client, numbered, async |client, (number, id)| {
        let chunk = client.get(&id).await?;
        Ok((number, chunk.ok_or_else(|| Error::Simulation(format!("blob {id} is gone")))?))
    })
    .await?;
    chunks.sort_unstable_by_key(|(number, _)| *number);
    Ok(chunks.into_iter().map(|(_, chunk)| chunk).collect::<Vec<_>>().concat().into())
}

async fn fetched(client: &Client, content: &Bytes) -> Result<Bytes> {
    match content.split_first() {
        Some((0, _)) => Ok(content.slice(1..)),
        Some((1, ids)) => {
            let ids: Vec<BlobId> = ids.as_chunks().0.iter().map(|id| BlobId(*id)).collect();
            gathered(client, &ids).await
        }
        _ => Err(Error::Simulation("an entry that nobody wrote".into())),
    }
}

/// Joins by what an invitation holds.
pub(super) async fn join(
    shared: &Shared,
    client: &Client,
    me: &Me,
    kept: &KeptKeyPackage,
    invitation: &Invitation,
) -> Result<Member> {
    let welcome = invitation.welcomes.get(me.did());
    let welcome = welcome.ok_or_else(|| Error::Simulation(format!("no Welcome for {}", me.did())))?;
    let tree = gathered(client, &invitation.tree).await?;
    let joined = shared.timed(|| Member::join(me, &shared.cards, kept, welcome, &tree, shared.now()));
    shared.note("join, CPU ms", joined.1);
    joined.0
}
