//! What takes time: calls of the log, the blobs and the key packages, one work at a time beside the task.

use std::collections::{HashMap, HashSet};
use std::future::Future;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use futures_util::{StreamExt, TryStreamExt};
use gambeson_identity::{CardLog, Did};

use super::{Failed, Life, by};
use crate::archive::gather;
use crate::blobs::BlobId;
use crate::content::{CardPlace, CheckpointEntry, CommitEntry, MAX_GATHERED, Peek, Published, Snapshot};
use crate::error::{Error, Result};
use crate::frame::Frame;
use crate::hold;
use crate::link::To;
use crate::log::{Entry, EntryId, EntryKind, MAX_ENTRY, Page, Placed, Record};
use crate::member::{MAX_CHANGES, vouching};
use crate::node::{Shared, inbox, inbox_log};
use crate::refusal::Need;
use crate::wire::{Malformed, Reader, Writer};
use crate::{TOGETHER, side_by_side};

/// How many entries are read at once.
const PAGE: usize = 256;
/// How many entries are appended one after the other before the task hears of it.
const APPENDS: usize = 32;
/// How many errands are run before the task hears of it.
const ERRANDS: usize = 64;
/// How many cards a commit may bring: those of who is added, of who made it, and of a delegation.
const MOST_CARDS: usize = MAX_CHANGES + 64;
/// How many deadlines the cards that a commit brings may take: without them it is judged as well as it can be.
const CARDS_PATIENCE: u32 = 4;
/// How many deadlines one work may take: calls stand behind each other, such as those for the blobs of a tree.
const PATIENCE: u32 = 16;
/// How many of them the parts of a commit may take, or a snapshot with its cards.
pub(super) const PARTS_PATIENCE: u32 = 10;
/// The longest a failed call waits before it is made again.
const MOST_PATIENCE: Duration = Duration::from_secs(30);

/// A key package that was taken for somebody who is added by a delegation, or by none.
pub(super) type Taken = (Did, Arc<[String]>, Result<Package>);

/// A key package with what others need to judge its commit.
#[derive(Clone)]
pub(super) struct Package {
    pub(super) key_package: Bytes,
    /// Where its owner's cards are.
    pub(super) card: CardPlace,
    /// Where those of the delegation are: who stands in it need not be a member.
    pub(super) vouching: Vec<CardPlace>,
}

/// What came of a work.
pub(crate) enum Done {
    Appended(Vec<(u64, Result<Placed>)>),
    Page(Result<Page>),
    Opened(Record, Result<Result<Option<(Peek, CommitEntry)>, Malformed>>),
    /// Its parts did not all come in time.
    Slow(Record, Error),
    Cards(Result<()>),
    Taken(Vec<Taken>),
    Prepared(Result<(EntryId, Bytes, Option<BlobId>)>),
    Committed(Result<Placed>),
    Errands(Vec<(u64, Result<()>)>),
    /// Where it stands.
    Checkpoint(Result<u64>),
    Found(Result<Box<Found>>),
    Rejoined(Result<(Placed, EntryId)>),
    Spoken(Result<()>),
    Failed(Error),
}

/// A snapshot with all that it names.
pub(crate) struct Found {
    pub(crate) tree: Bytes,
    pub(crate) group_info: Bytes,
    /// The newest commit of the log when the snapshot was looked for.
    pub(crate) commit: u64,
}

/// How long a call waits that has failed so often before.
pub(super) fn patience(retry: Duration, times: u32) -> Duration {
    retry.saturating_mul(2u32.saturating_pow(times.min(9))).min(MOST_PATIENCE)
}

impl Life {
    /// Begins the next work, if there is any and none is going on.
    pub(super) fn begin_work(&mut self) {
        if self.work.is_some() || self.timers.retry.is_some() || self.draining || self.over {
            return;
        }
        if let Some(record) = self.backlog.pop_front() {
            return self.open(record);
        }
        // Where there is no room, what makes room comes first; and the log of another channel gets nothing.
        if self.room.is_there() && !self.is_against_log() && self.append_commit() {
            return;
        }
        if std::mem::take(&mut self.behind) | std::mem::take(&mut self.looks_first) {
            let (id, from) = (self.id, if self.last.0 > 0 { self.last.0 } else { self.read + 1 });
            return self.start(move |shared| async move {
                Done::Page(shared.services.log.read(&id, from, PAGE).await)
            });
        }
        if self.forked {
            return self.begin_work_in_fork();
        }
        if self.rejoin.is_some() || self.stuck.as_ref().is_some_and(|stuck| stuck.2) {
            return self.look_for_snapshot();
        }
        if self.room.is_wanted() | std::mem::take(&mut self.wants_checkpoint) {
            self.make_checkpoint();
            if self.work.is_some() {
                return;
            }
        }
        if self.append_commit() {
            return;
        }
        if !self.outbox.is_empty() {
            return self.append_outbox();
        }
        let commits = self.timers.gather.is_none() && !self.wishes.is_empty() && self.pending.is_none();
        let failed = self.failed.take();
        let waits = match failed {
            Some(Failed::Spoken) => commits || !self.errands.is_empty(),
            Some(Failed::Errands) => commits,
            None => false,
        };
        if let Some((entry, kind, content)) = self.spoken.front().filter(|_| !waits).cloned() {
            let id = self.id;
            return self.start(move |shared| async move {
                let entry = Entry { id: entry, kind, content };
                Done::Spoken(shared.services.log.append(&id, entry, 0).await.map(drop))
            });
        }
        let errands_wait = commits && failed.is_some();
        if !errands_wait && !self.errands.is_empty() {
            return self.run_errands();
        }
        if commits {
            self.make_commit();
            if self.work.is_some() {
                return;
            }
            // It was decided without work: who asked is told at once, and wishes that are left are looked at again.
            by(&mut self.timers.gather, Duration::ZERO);
        }
    }

    /// The commit that waits for the log, if there is one that the log has not taken.
    pub(super) fn append_commit(&mut self) -> bool {
        let Some(pending) = self.pending.clone().filter(|_| !self.placed) else { return false };
        let entry = Entry { id: pending.id, kind: EntryKind::Commit, content: pending.content };
        let (after, id) = (pending.after, self.id);
        self.start(move |shared| async move {
            Done::Committed(shared.services.log.append(&id, entry, after).await)
        });
        true
    }

    pub(super) fn start<F>(&mut self, work: impl FnOnce(Arc<Shared>) -> F)
    where
        F: Future<Output = Done> + Send + 'static,
    {
        let (work, deadline) = (work(Arc::clone(&self.shared)), self.shared.options.deadline);
        self.work = Some(tokio::spawn(async move {
            let patience = deadline * PATIENCE;
            tokio::time::timeout(patience, work).await.unwrap_or(Done::Failed(Error::Deadline(patience)))
        }));
    }

    /// A call failed: it is made again, later each time.
    pub(super) fn again(&mut self, error: &Error) {
        self.tries += 1;
        self.shared.report(self.id, error);
        by(&mut self.timers.retry, patience(self.shared.options.retry, self.tries - 1));
    }

    fn append_outbox(&mut self) {
        let id = self.id;
        let entries: Vec<(u64, Entry)> = self
            .outbox
            .iter()
            .take(APPENDS)
            .map(|(counter, outgoing)| {
                let content = outgoing.content.clone();
                (*counter, Entry { id: outgoing.id, kind: EntryKind::Application, content })
            })
            .collect();
        self.start(move |shared| async move {
            let mut answers = Vec::with_capacity(entries.len());
            // In their order, so that nobody who reads the log meets a gap: after a failure none is tried.
            for (counter, entry) in entries {
                let answer = shared.services.log.append(&id, entry, 0).await;
                let failed = answer.is_err();
                answers.push((counter, answer));
                if failed {
                    break;
                }
            }
            Done::Appended(answers)
        });
    }

    fn run_errands(&mut self) {
        // Of one inbox only the first, so that its log has them in their order.
        let mut inboxes = HashSet::new();
        let errands: Vec<_> = self
            .errands
            .iter()
            .filter(|(_, (_, did, _))| inboxes.insert(did))
            .take(ERRANDS)
            .map(|(number, (id, did, frame))| (*number, *id, did.clone(), frame.clone()))
            .collect();
        self.start(move |shared| async move {
            let shared = &*shared;
            let errands = errands.into_iter().map(|(number, id, did, frame)| async move {
                (number, to_inbox(shared, id, &did, frame).await)
            });
            Done::Errands(side_by_side(errands).collect().await)
        });
    }

    /// Opens a record of the log: messages at once, commits with what they refer to.
    fn open(&mut self, record: Record) {
        let (surface, epoch) = (self.surface.clone(), self.member.epoch());
        self.start(move |shared| async move {
            let blobs = &*shared.services.blobs;
            let patience = shared.options.deadline * PARTS_PATIENCE;
            let opening = CommitEntry::of_content(&record.entry.content, &surface, blobs, epoch);
            let Ok(opened) = tokio::time::timeout(patience, opening).await else {
                return Done::Slow(record, Error::Deadline(patience));
            };
            if let Ok(Ok(Some((_, entry)))) = &opened {
                // Cards that cannot be had are missed when the commit is judged, if it needs them.
                let missing = entry.cards.iter().filter(|place| !shared.knows(place)).take(MOST_CARDS);
                let missing: Vec<CardPlace> = missing.cloned().collect();
                let patience = shared.options.deadline * CARDS_PATIENCE;
                let fetched = tokio::time::timeout(patience, fetch_cards(&shared, &missing)).await;
                let fetched = fetched.unwrap_or(Err(Error::Deadline(patience)));
                let fetched = fetched.unwrap_or_else(|error| vec![Err(error)]);
                fetched.into_iter().filter_map(Result::err).for_each(|error| shared.note(&error));
            }
            Done::Opened(record, opened)
        });
    }

    /// Fetches cards that a commit needs and did not bring.
    pub(super) fn fetch_cards(&mut self, needs: Vec<Need>) {
        self.start(move |shared| async move {
            let place = |did| shared.card_place(did).ok_or_else(|| Error::NoCard(did.clone()));
            let places: Result<Vec<_>> = needs.iter().map(|need| place(&need.did)).collect();
            let found = async { fetch_cards(&shared, &places?).await?.into_iter().collect() };
            Done::Cards(found.await)
        });
    }
}

/// The cards of several agents, of the places that somebody named: an answer for each, in their order.
pub(crate) async fn fetch_cards(shared: &Shared, places: &[CardPlace]) -> Result<Vec<Result<()>>> {
    let learnt = side_by_side(places.chunks(TOGETHER).map(|some| async move {
        let firsts: Vec<BlobId> = some.iter().filter_map(|place| place.parts.first().copied()).collect();
        let mut firsts = shared.services.blobs.get_many(&firsts).await?.into_iter();
        let mut learnt = Vec::with_capacity(some.len());
        for place in some {
            let first = place.parts.first().and_then(|_| firsts.next().flatten());
            learnt.push(learn_card(shared, place, first).await);
        }
        Ok::<_, Error>(learnt)
    }));
    learnt.try_concat().await
}

/// As [`fetch_cards`], of one.
pub(crate) async fn fetch_card(shared: &Shared, place: &CardPlace) -> Result<()> {
    fetch_cards(shared, std::slice::from_ref(place)).await?.into_iter().collect()
}

/// The cards of an agent, of which the first part was fetched: they prove themselves.
async fn learn_card(shared: &Shared, place: &CardPlace, mut first: Option<Bytes>) -> Result<()> {
    let did: Did = place.did.parse().map_err(Error::Cards)?;
    let mut text = Vec::new();
    for (number, id) in place.parts.iter().enumerate() {
        let part = if number == 0 { first.take() } else { shared.services.blobs.get(id).await? };
        let part = part.ok_or(Error::BlobMissing(*id))?;
        if text.len() + part.len() > gambeson_identity::MAX_CARD_LOG {
            return Err(Error::TooLarge(text.len() + part.len()));
        }
        text.extend_from_slice(&part);
    }
    let log = CardLog::verify(&text).map_err(Error::Cards)?;
    if *log.did() != did {
        return Err(Error::Cards(gambeson_identity::Error::new(
            gambeson_identity::Reason::NotBound,
            format_args!("the cards are of {}, expected {did}", log.did()),
        )));
    }
    shared.learn(log, place).await
}

/// Takes key packages, and learns the cards of who published them, and of those who vouch.
pub(super) async fn take(shared: &Shared, wanted: Vec<(Did, Arc<[String]>)>) -> Vec<Taken> {
    let taken = side_by_side(wanted.into_iter().map(|(did, delegation)| async move {
        let package = async {
            let vouching = vouched(shared, &delegation).await?;
            let Published { card, key_package } = published(shared, &did).await?;
            Ok(Package { key_package, card, vouching })
        };
        let package = package.await;
        (did, delegation, package)
    }));
    let mut taken: Vec<Taken> = taken.collect().await;
    let places: Vec<CardPlace> =
        taken.iter().filter_map(|(_, _, package)| Some(package.as_ref().ok()?.card.clone())).collect();
    let learnt = fetch_cards(shared, &places).await.unwrap_or_else(|error| {
        let text = error.to_string();
        places.iter().map(|_| Err(Error::Service(text.clone().into()))).collect()
    });
    let mut learnt = learnt.into_iter();
    for (_, _, package) in &mut taken {
        if package.is_ok()
            && let Some(Err(error)) = learnt.next()
        {
            *package = Err(error);
        }
    }
    taken
}

/// What an agent has published.
async fn published(shared: &Shared, did: &Did) -> Result<Published> {
    let none = || Error::NoKeyPackage(did.clone());
    let package = shared.services.keys.take(did.as_str()).await?.ok_or_else(none)?;
    let published = Published::parse(&package).map_err(|Malformed| none())?;
    if published.card.did != did.as_str() {
        return Err(none());
    }
    Ok(published)
}

/// Where the cards of those in a delegation are, for those who know none of them. What is known here is put where it can be had.
pub(super) async fn vouched(shared: &Shared, delegation: &[String]) -> Result<Vec<CardPlace>> {
    loop {
        let (known, missing) = vouching(delegation, &shared.cards, shared.time());
        let Some(did) = missing else {
            let mut places = Vec::with_capacity(known.len());
            for did in known {
                places.extend(shared.place(&did).await?);
            }
            return Ok(places);
        };
        let found = match shared.card_place(&did) {
            Some(place) => fetch_card(shared, &place).await,
            None => match published(shared, &did).await {
                Ok(published) => fetch_card(shared, &published.card).await,
                Err(error) => Err(error),
            },
        };
        match found {
            Err(Error::NoKeyPackage(_)) => return Err(Error::NoCard(did)),
            found => found?,
        }
        if !shared.cards.knows(&did) {
            return Err(Error::NoCard(did));
        }
    }
}

/// Puts a frame into an agent's inbox: into its log, for when it comes, and on the link, in case it is there.
pub(crate) async fn to_inbox(shared: &Shared, id: EntryId, did: &str, frame: Bytes) -> Result<()> {
    if frame.len() > MAX_ENTRY {
        return Err(Error::EntryTooLarge(frame.len()));
    }
    let entry = Entry { id, kind: EntryKind::Application, content: frame.clone() };
    shared.services.log.append(&inbox_log(did), entry, 0).await?;
    shared.publish_bytes(inbox(did), To::All, frame);
    Ok(())
}

/// Keeps a snapshot: the tree in chunks of which most are there already, the rest with the cards that it names, and the head that names them.
pub(super) async fn keep_snapshot(
    shared: &Shared,
    surface: &crate::archive::Surface,
    snapshot: Snapshot,
    (tree, group_info): (&[u8], &[u8]),
    cards: &[CardPlace],
) -> Result<BlobId> {
    let blobs = &*shared.services.blobs;
    let rest = async {
        let cards = shared.keep_cards(cards).await?;
        let rest = CardPlace::write_all(&cards, Writer::default().bytes(group_info)).finish();
        surface.keep(blobs, &rest).await
    };
    let (tree, rest) = tokio::try_join!(surface.keep(blobs, tree), rest)?;
    let snapshot = Snapshot { tree, rest, ..snapshot };
    blobs.put(snapshot.seal(surface)?).await
}

/// A snapshot with all that it names.
pub(crate) async fn load_snapshot(
    shared: &Shared,
    surface: &crate::archive::Surface,
    head: &BlobId,
    near: &HashMap<BlobId, Bytes>,
) -> Result<(Snapshot, Bytes, Bytes, Vec<CardPlace>)> {
    let blobs = &*shared.services.blobs;
    let sealed = blobs.get(head).await?.ok_or(Error::BlobMissing(*head))?;
    let bad = |Malformed| Error::BlobMismatch(*head);
    let snapshot = Snapshot::open(&sealed, surface).map_err(bad)?;
    let (tree, rest) = tokio::try_join!(
        gather(blobs, &snapshot.tree, near, MAX_GATHERED),
        gather(blobs, &snapshot.rest, near, MAX_GATHERED),
    )?;
    let (tree, rest) = (tree.map_err(bad)?, rest.map_err(bad)?);
    let mut rest = Reader::new(rest);
    let group_info = rest.bytes().map_err(bad)?;
    let cards = CardPlace::read_all(&mut rest).map_err(bad)?;
    Ok((snapshot, tree, group_info, cards))
}

/// How far a log was searched for checkpoints: a search that took too long goes on there.
#[derive(Clone, Copy, Default)]
pub(crate) struct Searched {
    before: u64,
    newest: Option<CheckpointEntry>,
}

/// The last checkpoint of a log from a place on that this surface opens, and the place of the newest commit.
pub(super) async fn newest_checkpoint(
    shared: &Shared,
    channel: &crate::name::ChannelId,
    surface: &crate::archive::Surface,
    from: u64,
    searched: &Mutex<Searched>,
) -> Result<(Option<CheckpointEntry>, u64)> {
    let Searched { before, mut newest } = *hold(searched);
    let mut from = from.max(before);
    loop {
        let page = shared.services.log.read(channel, from, PAGE).await?;
        for record in &page.records {
            from = record.place + 1;
            if record.entry.kind == EntryKind::Checkpoint
                && let Ok(entry) = CheckpointEntry::of_content(&record.entry.content, surface)
            {
                newest = Some(entry);
            }
        }
        *hold(searched) = Searched { before: from, newest };
        if page.records.is_empty() || from > page.head.last {
            return Ok((newest, page.head.commit));
        }
    }
}

/// Asks those who are there where the channel is: the answer comes sealed to this agent's inbox.
pub(super) fn ask_frame(shared: &Shared, channel: crate::name::ChannelId) -> Result<Bytes> {
    Frame::Ask { channel, did: shared.did.as_str().to_owned() }.to_bytes()
}
