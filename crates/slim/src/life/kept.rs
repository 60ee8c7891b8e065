//! What a channel keeps, and how it is read again.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::{Notify, watch};
use tokio::time::Instant;

use super::{Life, Timers};
use crate::archive::{Surface, random};
use crate::channel::Status;
use crate::content::Upto;
use crate::error::{Error, Result};
use crate::event::Event;
use crate::log::EntryId;
use crate::member::Member;
use crate::name::ChannelId;
use crate::node::Shared;
use crate::order::Order;
use crate::store::Writes;
use crate::wire::{Malformed, Reader, Writer};

/// A bundle on its way to the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Outgoing {
    pub(crate) id: EntryId,
    /// In which it was sealed.
    pub(crate) epoch: u64,
    /// What the log gets.
    pub(crate) content: Bytes,
    /// What is sealed again, if its epoch is over before the log has it.
    pub(crate) bundle: Bytes,
}

impl Outgoing {
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let head = Writer::default().put(&self.id.0).u64(self.epoch);
        head.bytes(&self.content).bytes(&self.bundle).finish()
    }

    fn parse(bytes: Bytes) -> Result<Self, Malformed> {
        let mut fields = Reader::new(bytes);
        let id = EntryId(fields.array()?);
        let read = Self { id, epoch: fields.u64()?, content: fields.bytes()?, bundle: fields.bytes()? };
        fields.end().map(|()| read)
    }
}

/// A commit on its way to the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pending {
    pub(crate) id: EntryId,
    /// The place of the commit that it follows.
    pub(crate) after: u64,
    pub(crate) content: Bytes,
    /// For each who is added: its DID, and the frame that invites it.
    pub(crate) invitations: Vec<(String, Bytes)>,
}

impl Pending {
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        Writer::default()
            .put(&self.id.0)
            .u64(self.after)
            .bytes(&self.content)
            .count(self.invitations.len())
            .each(&self.invitations, |to, (did, frame)| to.text(did).bytes(frame))
            .finish()
    }

    fn parse(bytes: Bytes) -> Result<Self, Malformed> {
        let mut fields = Reader::new(bytes);
        let (id, after, content) = (EntryId(fields.array()?), fields.u64()?, fields.bytes()?);
        let invitations = (0..fields.count(6)?)
            .map(|_| Ok((fields.text()?, fields.bytes()?)))
            .collect::<Result<_, Malformed>>()?;
        fields.end()?;
        Ok(Self { id, after, content, invitations })
    }
}

/// What a life begins with.
pub(crate) struct Birth {
    pub(crate) member: Member,
    pub(crate) surface: Surface,
    /// The place of the commit that made the member's epoch, up to which the log need not be read.
    pub(crate) commit: u64,
    /// The epoch in which the member's leaf came.
    pub(crate) joined: u64,
}

impl Life {
    /// A channel that was created or joined, or came back into: nothing of it was written yet.
    pub(crate) fn born(shared: Arc<Shared>, birth: Birth) -> (Self, watch::Receiver<Status>) {
        let (status, watched) = watch::channel(Status::default());
        let id = birth.member.id();
        let now = Instant::now();
        let options = &shared.options;
        let timers = Timers {
            gather: None,
            bundle: None,
            receipt: None,
            checkpoint: None,
            room: None,
            outdated: None,
            gap: None,
            blocked: None,
            retry: None,
            head: None,
            leave: None,
            view: None,
            asked: None,
            silence: now + options.silence,
            poll: now + options.poll,
            rotate: None,
            warm_up: None,
            forget: None,
        };
        let (causal, me) = (options.causal, Upto::tag(shared.did.as_str()));
        let mut life = Self {
            present: shared.present(),
            followed: false,
            shared,
            id,
            member: birth.member,
            listed: Vec::new(),
            surface: birth.surface,
            order: Order::new(causal).of(me),
            read: birth.commit,
            commit: birth.commit,
            appended_to: 0,
            last: (0, EntryId([0; 16])),
            joined: birth.joined,
            counter: 0,
            since: 1,
            position: 1,
            oldest: 1,
            outbox: BTreeMap::new(),
            unread: BTreeMap::new(),
            pending: None,
            errands: BTreeMap::new(),
            errand: 0,
            returning: None,
            authenticators: BTreeMap::new(),
            forked: false,
            views: Default::default(),
            shown: None,
            leaving: BTreeSet::new(),
            stuck: None,
            complained: false,
            unsure: false,
            passed_over: false,
            placed: false,
            parted: Vec::new(),
            seen: HashSet::new(),
            seen_order: VecDeque::new(),
            backlog: VecDeque::new(),
            ahead: VecDeque::new(),
            draining: false,
            wants_checkpoint: false,
            checkpointed: None,
            room: Default::default(),
            wishes: Vec::new(),
            committing: Vec::new(),
            welcomes: Vec::new(),
            calls: Default::default(),
            searches: 0,
            misses: 0,
            searched: Arc::default(),
            alone: false,
            bundle: Vec::new(),
            leave: None,
            rejoin: None,
            returns: 0,
            caught_up: Vec::new(),
            work: None,
            timers,
            tries: 0,
            failed: None,
            behind: true,
            looks_first: false,
            overrun: Arc::new(AtomicBool::new(false)),
            blocked: None,
            receipts: HashMap::new(),
            told: BTreeMap::new(),
            caused: BTreeMap::new(),
            spoken: VecDeque::new(),
            written_cards: BTreeSet::new(),
            sealed: 0,
            unwritten: 0,
            said_since_rotation: 0,
            rotated: 0,
            renewals: 0,
            outdated: BTreeMap::new(),
            writes: Writes::default(),
            outward: Vec::new(),
            answers: Vec::new(),
            status,
            tally: Status::default(),
            news: Arc::new(Notify::new()),
            over: false,
        };
        life.has_rotated();
        (life, watched)
    }

    /// Writes all of a new life; the row of channels gets it too. In a channel that this agent was in before, its history goes on: readers stand
    /// behind what they have read of it.
    pub(crate) async fn keep_birth(&mut self) -> Result<()> {
        let kept = &self.shared.kept;
        self.position = kept.number(&self.row("newest"), 0).await?.unwrap_or(1);
        let first = kept.row(&self.row("events"), 0, 1).await?.into_keys().next();
        self.oldest = first.unwrap_or(self.position);
        self.note_epoch()?;
        self.warm_up();
        self.write_places();
        let number = self.id.0.first_chunk::<8>().map_or(0, |first| u64::from_be_bytes(*first));
        self.writes.put("channels", number, self.id.0.to_vec());
        self.flush().await
    }

    /// A channel that this store has; `None` if it was left, or never was.
    pub(crate) async fn restore(
        shared: Arc<Shared>,
        id: ChannelId,
    ) -> Result<Option<(Self, watch::Receiver<Status>)>> {
        let row = |what: &str| crate::channel::row(id, what);
        let kept = &shared.kept;
        let pieces = kept.row(&row("member"), 0, usize::MAX).await?;
        let mut places = kept.row(&row("life"), 0, usize::MAX).await?;
        if pieces.is_empty() || places.is_empty() {
            return Ok(None);
        }
        let pieces = pieces.into_iter().map(|(place, bytes)| (piece_at(place), bytes));
        let member = Member::restore(&shared.present().me, &shared.cards, pieces)?;
        let mut place = |number| places.remove(&number).map(Bytes::from_owner);
        let mut read = Places::parse(place(0).unwrap_or_default()).map_err(|_| Error::BadStore)?;
        let authenticators =
            read_authenticators(place(1).unwrap_or_default()).map_err(|_| Error::BadStore)?;
        let views = super::fork::Views::parse(place(2)).map_err(|_| Error::BadStore)?;
        let order = kept.row(&row("order"), 0, usize::MAX).await?;
        let order = order.into_iter().map(|(number, bytes)| (number, Bytes::from_owner(bytes))).collect();
        let order = Order::restore(order, shared.options.causal).map_err(|_| Error::BadStore)?;
        let outbox = kept.row(&row("outbox"), 0, usize::MAX).await?;
        let pending = kept.value(&row("pending"), 0).await?;
        let errands = kept.row(&row("errands"), 0, usize::MAX).await?;
        let newest = kept.number(&row("newest"), 0).await?;

        let birth = Birth { member, surface: read.surface.clone(), commit: read.commit, joined: read.joined };
        let (mut life, watched) = Self::born(shared, birth);
        life.order = order.of(Upto::tag(life.did()));
        (life.read, life.last, life.counter, life.since) = (read.read, read.last, read.counter, read.since);
        (life.oldest, life.forked) = (read.oldest, read.forked);
        // Whether anybody heard the complaint nobody knows: it is made again.
        (life.stuck, life.unsure, life.passed_over) = (read.stuck.take(), read.unsure, read.passed_over);
        (life.rotated, life.said_since_rotation) = (read.rotated, read.said);
        life.leaving =
            std::mem::take(&mut read.leaving).into_iter().filter_map(|did| did.parse().ok()).collect();
        life.position = newest.unwrap_or(1);
        (life.authenticators, life.views) = (authenticators, views);
        life.outbox = outbox
            .into_iter()
            .map(|(counter, bytes)| Ok((counter, Outgoing::parse(Bytes::from_owner(bytes))?)))
            .collect::<Result<_, Malformed>>()
            .map_err(|_| Error::BadStore)?;
        life.pending = pending
            .map(|bytes| Pending::parse(Bytes::from_owner(bytes)))
            .transpose()
            .map_err(|_| Error::BadStore)?;
        if life.pending.is_none() {
            // The commit was made, and never got as far as to be written for the log.
            life.member.abandon();
        }
        for (number, bytes) in errands {
            let errand = read_errand(Bytes::from_owner(bytes)).map_err(|_| Error::BadStore)?;
            life.errand = life.errand.max(number);
            life.errands.insert(number, errand);
        }
        for sent in life.outbox.values().map(|outgoing| outgoing.content.clone()).collect::<Vec<_>>() {
            life.see(&sent);
        }
        life.look_around()?;
        life.set_rotation();
        life.show_standing();
        Ok(Some((life, watched)))
    }

    /// Where this member stands, in the next batch.
    pub(super) fn write_places(&mut self) {
        let places = Places {
            surface: self.surface.clone(),
            read: self.read,
            commit: self.commit,
            last: self.last,
            joined: self.joined,
            counter: self.counter,
            since: self.since,
            oldest: self.oldest,
            rotated: self.rotated,
            said: self.said_since_rotation,
            forked: self.forked,
            unsure: self.unsure,
            passed_over: self.passed_over,
            stuck: self.stuck.clone(),
            leaving: self.leaving.iter().map(|did| did.as_str().to_owned()).collect(),
        };
        self.writes.put(&self.row("life"), 0, places.to_bytes());
    }

    pub(super) fn write_order(&mut self) {
        let row = self.row("order");
        for (number, bytes) in self.order.changed() {
            match bytes {
                Some(bytes) => self.writes.put(&row, number, bytes),
                None => self.writes.delete(&row, number),
            }
        }
    }

    /// What of the MLS state changed since it was last written, in the next batch.
    pub(super) fn write_member(&mut self) -> Result<()> {
        let row = self.row("member");
        for (name, bytes) in self.member.state()? {
            let place = place_of(&name).ok_or(Error::BadStore)?;
            match bytes {
                Some(bytes) => self.writes.put(&row, place, bytes.to_vec()),
                None => self.writes.delete(&row, place),
            }
        }
        Ok(())
    }

    pub(super) fn write_pending(&mut self) {
        match &self.pending {
            Some(pending) => self.writes.put(&self.row("pending"), 0, pending.to_bytes()),
            None => self.writes.delete(&self.row("pending"), 0),
        }
    }

    /// What is sent to an inbox, until its log has it.
    pub(super) fn write_errand(&mut self, did: String, frame: Bytes) -> Result<()> {
        self.errand += 1;
        let id = EntryId(random()?);
        let bytes = Writer::default().put(&id.0).text(&did).put(&frame).finish();
        self.writes.put(&self.row("errands"), self.errand, bytes);
        self.errands.insert(self.errand, (id, did, frame));
        Ok(())
    }

    /// Remembers the epoch's authenticator, by which forks are found, and keeps the new state.
    pub(super) fn note_epoch(&mut self) -> Result<()> {
        self.look_around()?;
        self.write_member()
    }

    /// Remembers who is there, and the epoch's authenticator.
    fn look_around(&mut self) -> Result<()> {
        let members = self.member.members()?;
        self.listed = members.into_iter().map(|member| (Upto::tag(member.did.as_str()), member)).collect();
        let whole = self.member.authenticator()?;
        let mut first = [0; 16];
        let len = whole.len().min(16);
        first[..len].copy_from_slice(&whole[..len]);
        self.authenticators.insert(self.member.epoch(), first);
        while self.authenticators.len() > super::MOST_EPOCHS {
            self.authenticators.pop_first();
        }
        let bytes = Writer::default()
            .each(&self.authenticators, |to, (epoch, authenticator)| to.u64(*epoch).put(authenticator))
            .finish();
        self.writes.put(&self.row("life"), 1, bytes);
        for did in self.dids() {
            let newest = self.shared.cards.log(&did).map_or(0, |log| log.newest().version());
            if self.written_cards.insert((did.clone(), newest)) {
                self.shared.write_card(&did, &mut self.writes);
            }
        }
        Ok(())
    }

    /// The member is out: its secrets go, what was said stays.
    pub(super) async fn end(&mut self, told: Option<Event>) -> Result<()> {
        if let Some(event) = told {
            self.tell(event);
        }
        self.over = true;
        self.backlog.clear();
        let row = |what: &str| crate::channel::row(self.id, what);
        for what in ["member", "life", "outbox", "pending", "errands", "order"] {
            // What this turn was to write, too.
            self.writes.take_back(&row(what));
            for place in self.shared.kept.row(&row(what), 0, usize::MAX).await?.into_keys() {
                self.writes.delete(&row(what), place);
            }
        }
        self.outbox.clear();
        self.order = Order::new(false);
        for answer in self.leave.take().into_iter().flatten() {
            self.answer(answer, Ok(()));
        }
        Ok(())
    }

    /// This member has new keys.
    pub(super) fn has_rotated(&mut self) {
        self.rotated = self.shared.options.clock.now();
        self.said_since_rotation = 0;
        self.set_rotation();
    }

    /// When this member rotates next, by the policy: soon where as much was said as one key may say.
    pub(super) fn set_rotation(&mut self) {
        self.rotate_after(self.shared.options.clock.now().saturating_sub(self.rotated) / 1000);
        let most = self.member.policy().policy().rotate_messages;
        if most > 0 && self.said_since_rotation >= most {
            // Not all at once, where the policy changed.
            let wait = random::<8>().map_or(0, u64::from_be_bytes) % 30_000;
            self.timers.rotate = Some(Instant::now() + Duration::from_millis(wait));
        }
    }

    /// Rotates when the policy's hours are over, of which so many seconds are: a tenth earlier at most, so that not all do it at once.
    pub(super) fn rotate_after(&mut self, since: u64) {
        let hours = u64::from(self.member.policy().policy().rotate_hours);
        let seconds = hours * 3600;
        let early = random::<8>().map_or(0, u64::from_be_bytes) % (seconds / 10).max(1);
        let left = (seconds - early).saturating_sub(since);
        self.timers.rotate = (hours > 0).then(|| Instant::now() + Duration::from_secs(left));
    }
}

/// The pieces of a member that are there once; those of epochs follow behind [`FIRST_EPOCH`].
const PIECES: [&str; 4] = ["member", "group", "tree", "pending"];
const FIRST_EPOCH: u64 = 16;

fn place_of(piece: &str) -> Option<u64> {
    match piece.strip_prefix("epoch/") {
        Some(epoch) => epoch.parse::<u64>().ok()?.checked_add(FIRST_EPOCH),
        None => PIECES.into_iter().zip(0..).find(|(name, _)| *name == piece).map(|(_, place)| place),
    }
}

pub(crate) fn piece_at(place: u64) -> String {
    let once = usize::try_from(place).ok().and_then(|place| PIECES.get(place));
    once.map_or_else(|| format!("epoch/{}", place.wrapping_sub(FIRST_EPOCH)), |name| (*name).to_owned())
}

struct Places {
    surface: Surface,
    read: u64,
    commit: u64,
    last: (u64, EntryId),
    joined: u64,
    counter: u64,
    since: u64,
    oldest: u64,
    rotated: u64,
    said: u32,
    forked: bool,
    unsure: bool,
    passed_over: bool,
    stuck: Option<(u64, String, bool)>,
    leaving: Vec<String>,
}

impl Places {
    fn to_bytes(&self) -> Vec<u8> {
        Writer::default()
            .put(&self.surface.to_bytes())
            .u64(self.read)
            .u64(self.commit)
            .u64(self.last.0)
            .put(&self.last.1.0)
            .u64(self.joined)
            .u64(self.counter)
            .u64(self.since)
            .u64(self.oldest)
            .u64(self.rotated)
            .u64(u64::from(self.said))
            .u8(u8::from(self.forked))
            .u8(u8::from(self.unsure))
            .u8(u8::from(self.passed_over))
            .u8(u8::from(self.stuck.is_some()))
            .each(&self.stuck, |to, (place, reason, others)| {
                to.u64(*place).text(reason).u8(u8::from(*others))
            })
            .count(self.leaving.len())
            .each(&self.leaving, |to, did| to.text(did))
            .finish()
    }

    fn parse(bytes: Bytes) -> Result<Self, Malformed> {
        let mut fields = Reader::new(bytes);
        let places = Self {
            surface: Surface::from_bytes(&fields.take(Surface::LEN)?)?,
            read: fields.u64()?,
            commit: fields.u64()?,
            last: (fields.u64()?, EntryId(fields.array()?)),
            joined: fields.u64()?,
            counter: fields.u64()?,
            since: fields.u64()?,
            oldest: fields.u64()?,
            rotated: fields.u64()?,
            said: u32::try_from(fields.u64()?).map_err(|_| Malformed)?,
            forked: fields.u8()? == 1,
            unsure: fields.u8()? == 1,
            passed_over: fields.u8()? == 1,
            stuck: match fields.u8()? {
                0 => None,
                _ => Some((fields.u64()?, fields.text()?, fields.u8()? == 1)),
            },
            leaving: (0..fields.count(2)?).map(|_| fields.text()).collect::<Result<_, _>>()?,
        };
        fields.end().map(|()| places)
    }
}

fn read_authenticators(bytes: Bytes) -> Result<BTreeMap<u64, [u8; 16]>, Malformed> {
    let count = bytes.len() / 24;
    let mut fields = Reader::new(bytes);
    let read = (0..count).map(|_| Ok((fields.u64()?, fields.array()?))).collect::<Result<_, Malformed>>()?;
    fields.end().map(|()| read)
}

fn read_errand(bytes: Bytes) -> Result<(EntryId, String, Bytes), Malformed> {
    let mut fields = Reader::new(bytes);
    Ok((EntryId(fields.array()?), fields.text()?, fields.rest()))
}
