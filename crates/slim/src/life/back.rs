//! Checkpoints, and coming back: for those who were away too long, or could not use a commit that others took.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use gambeson_identity::{Did, MemoryReplayCache, Resolver, sealed};
use tokio::time::Instant;

use super::work::{
    Done, Found, PARTS_PATIENCE, ask_frame, fetch_cards, keep_snapshot, load_snapshot, newest_checkpoint,
};
use super::{Life, by};
use crate::archive::{Surface, random};
use crate::content::{CheckpointEntry, CommitEntry, Snapshot};
use crate::error::{Error, Result};
use crate::event::Event;
use crate::frame::Frame;
use crate::link::To;
use crate::log::{Entry, EntryId, EntryKind, Placed};
use crate::member::Member;
use crate::node::inbox;
use crate::wire::Writer;

/// What the answer to `Ask` is, for the reader of the seal.
const ANSWER: &str = "application/vnd.gambeson.channel-surface";
/// How long an answer can be opened, in seconds.
const ANSWER_LIFETIME: u64 = 600;
/// How many members are asked.
const ASKED: usize = 5;
/// For how long a checkpoint of the newest commit is good enough for all who ask.
const CHECKPOINT_AGAIN: Duration = Duration::from_secs(30);
/// How often coming back is tried before who asked for it is told that it does not work.
pub(super) const MOST_RETURNS: u32 = 6;

impl Life {
    /// Puts what a member needs to come back where it is found.
    pub(super) fn make_checkpoint(&mut self) {
        let Ok((group_info, tree)) = self.member.checkpoint() else { return };
        self.checkpointed = Some((self.commit, Instant::now()));
        let (surface, cards, id, commit) = (self.surface.clone(), self.card_places(), self.id, self.commit);
        let (epoch, prune) = (self.member.epoch(), self.shared.options.prune);
        self.start(move |shared| async move {
            let work = async {
                let head = Snapshot { channel: id, epoch, commit, tree: Vec::new(), rest: Vec::new() };
                let snapshot = keep_snapshot(&shared, &surface, head, (&tree, &group_info), &cards).await?;
                let content = CheckpointEntry { epoch, snapshot }.to_content(&surface)?;
                let entry = Entry { id: EntryId(random()?), kind: EntryKind::Checkpoint, content };
                let (Placed::At(place) | Placed::After(place)) =
                    shared.services.log.append(&id, entry, 0).await?;
                if prune {
                    shared.services.log.prune(&id, commit).await?;
                }
                Ok(place)
            };
            Done::Checkpoint(work.await)
        });
    }

    /// A commit that cannot be used here. Where others are known to go on with it, this member says so and comes back from outside.
    pub(super) fn cannot_follow(&mut self, place: u64, reason: &str, others: bool) {
        match &mut self.stuck {
            Some(stuck) => stuck.2 |= others,
            None => self.stuck = Some((place, reason.to_owned(), others)),
        }
        self.write_places();
    }

    /// The log shows messages or a checkpoint of an epoch that this member is not in.
    pub(super) fn others_went_on(&mut self) {
        let place = self.commit;
        // What is outside the ciphertext anybody can write: it counts only where a commit was passed over that others may have taken.
        if (self.passed_over || self.unsure)
            && self.backlog.iter().all(|record| record.entry.kind != EntryKind::Commit)
        {
            self.cannot_follow(
                place,
                "other members are in a later epoch, whose commit this member has not received",
                true,
            );
        }
    }

    pub(super) fn look_for_snapshot(&mut self) {
        if let Some((place, reason, true)) = self.stuck.clone().filter(|_| !self.complained) {
            self.complained = true;
            if self.complain(place, &reason).is_err() {
                return;
            }
        }
        // A checkpoint of use is of the newest commit, which is not before this member's, unless that is of another side.
        let from = if self.forked { 1 } else { self.commit.max(1) };
        let (id, surface) = (self.id, self.surface.clone());
        let near: HashMap<_, _> = self
            .member
            .checkpoint()
            .and_then(|(_, tree)| surface.chunks(&tree))
            .map(|chunks| chunks.into_iter().map(|(chunk, sealed)| (chunk.blob, sealed)).collect())
            .unwrap_or_default();
        let mut others: Vec<Did> = self.dids().into_iter().filter(|did| *did != self.shared.did).collect();
        let searched = Arc::clone(&self.searched);
        let start = random::<8>().map_or(0, u64::from_be_bytes) as usize % others.len().max(1);
        others.rotate_left(start);
        self.start(move |shared| async move {
            let look = async {
                let (newest, commit) = newest_checkpoint(&shared, &id, &surface, from, &searched).await?;
                let load = async {
                    let entry = newest.ok_or(Error::NoCheckpoint)?;
                    let loaded = load_snapshot(&shared, &surface, &entry.snapshot, &near).await;
                    let loaded = loaded.ok().filter(|(snapshot, ..)| snapshot.commit == commit);
                    let (_, tree, group_info, cards) = loaded.ok_or(Error::NoCheckpoint)?;
                    let missing: Vec<_> = cards.into_iter().filter(|card| !shared.knows(card)).collect();
                    fetch_cards(&shared, &missing).await?.into_iter().collect::<Result<()>>()?;
                    Ok(Box::new(Found { tree, group_info, commit }))
                };
                let patience = shared.options.deadline * PARTS_PATIENCE;
                let found = tokio::time::timeout(patience, load).await;
                let found = found.unwrap_or(Err(Error::Deadline(patience)));
                if found.is_err() {
                    // Nothing here is new enough and whole: somebody who is there makes it.
                    let frame = ask_frame(&shared, id)?;
                    for did in others.iter().take(ASKED) {
                        shared.publish_bytes(inbox(did.as_str()), To::All, frame.clone());
                    }
                }
                found
            };
            Done::Found(look.await)
        });
    }

    pub(super) fn found(&mut self, found: Result<Box<Found>>) -> Result<()> {
        let made = found.and_then(|found| {
            let made = Member::rejoin(
                &self.present.me,
                &self.shared.cards,
                &found.group_info,
                &found.tree,
                self.now(),
            )?;
            self.member.accepts_return(&made.0, self.forked)?;
            Ok((made, found))
        });
        let ((member, commit), found) = match made {
            Ok(made) => made,
            Err(
                error
                @ (Error::NoCheckpoint | Error::BlobMissing(_) | Error::Service(_) | Error::Deadline(_)),
            ) if self.returns < MOST_RETURNS || self.rejoin.is_none() => {
                self.returns = self.returns.saturating_add(1);
                self.again(&error);
                return Ok(());
            }
            Err(error) => {
                self.tries += 1;
                let answers = self.rejoin.take().into_iter().flatten();
                let text = error.to_string();
                let mut error = Some(error);
                for answer in answers {
                    let with = error.take().unwrap_or_else(|| Error::Service(text.clone().into()));
                    self.answer(answer, Err(with));
                }
                if let Some(error) = error {
                    self.again(&error);
                }
                return Ok(());
            }
        };
        let (present, entry) =
            (Arc::clone(&self.present), CommitEntry { commit, cards: vec![self.present.card.clone()] });
        let (surface, id, after) = (self.surface.clone(), self.id, found.commit);
        self.returning = Some(Box::new(member));
        self.start(move |shared| async move {
            let append = async {
                shared.put_present(&present).await?;
                let content = entry.to_content(&surface, &*shared.services.blobs).await?;
                let entry_id = EntryId(random()?);
                let entry = Entry { id: entry_id, kind: EntryKind::Commit, content };
                Ok((shared.services.log.append(&id, entry, after).await?, entry_id))
            };
            Done::Rejoined(append.await)
        });
        Ok(())
    }

    /// What the log says of the commit from outside.
    pub(super) async fn returned(&mut self, answer: Result<(Placed, EntryId)>) -> Result<()> {
        let Some(member) = self.returning.take() else { return Ok(()) };
        let (place, id) = match answer {
            Ok((Placed::At(place), id)) => (place, id),
            Ok((Placed::After(_), _)) => {
                by(&mut self.timers.retry, self.shared.options.retry);
                return Ok(());
            }
            Err(error) => {
                self.again(&error);
                return self.no_room(&error);
            }
        };
        self.tries = 0;
        self.room.came();
        self.room.mine = place;
        self.searched = Arc::default();
        let row = self.row("member");
        for old in self.shared.kept.row(&row, 0, usize::MAX).await?.into_keys() {
            self.writes.delete(&row, old);
        }
        self.member = *member;
        // The agent may have got a new card meanwhile.
        self.followed = false;
        let epoch = self.member.epoch();
        let born = std::mem::replace(&mut self.joined, epoch);
        self.pending = None;
        self.placed = false;
        self.write_pending();
        self.authenticators.clear();
        self.forked = false;
        self.views_after_return();
        self.stuck = None;
        self.unsure = false;
        self.complained = false;
        (self.unsure, self.passed_over) = (false, false);
        self.told.clear();
        self.unread.clear();
        self.backlog.clear();
        (self.counter, self.since) = (0, 1);
        (self.read, self.commit) = (place, place);
        self.note_epoch()?;
        let (row, there) = (self.row("order"), self.dids());
        for number in self.order.back(|did| there.iter().any(|it| it.as_str() == did)) {
            self.writes.delete(&row, number);
        }
        self.mark_read((place, id));
        self.tell(Event::Returned { member: self.did().to_owned(), epoch });
        self.has_rotated();
        self.number_anew(born)?;
        for answer in self.rejoin.take().into_iter().flatten() {
            self.answer(answer, Ok(()));
        }
        let wishes = std::mem::take(&mut self.committing);
        self.wishes.splice(0..0, wishes);
        by(&mut self.timers.checkpoint, self.shared.options.checkpoint);
        self.outward.push((self.surface.route(), Frame::Head { last: place }));
        Ok(())
    }

    /// What was not in the log yet is counted from one, as all that this leaf says, and says which number it had: some have it by the link.
    fn number_anew(&mut self, born: u64) -> Result<()> {
        let unsent = std::mem::take(&mut self.outbox);
        let row = self.row("outbox");
        for counter in unsent.keys() {
            self.writes.delete(&row, *counter);
        }
        for (counter, mut outgoing) in unsent {
            let Ok(mut bundle) = crate::content::Bundle::parse(outgoing.bundle.clone()) else { continue };
            bundle.since = 1;
            bundle.former.get_or_insert((born, counter));
            outgoing.bundle = bundle.to_bytes().into();
            outgoing.id = EntryId(random()?);
            self.counter += 1;
            self.outbox.insert(self.counter, outgoing);
        }
        self.seal_again(true)?;
        self.write_places();
        Ok(())
    }

    /// Somebody asks where the channel is. Who is a member is told, sealed to that member's card.
    pub(super) fn asked(&mut self, did: &str) -> Result<()> {
        let Ok(did) = did.parse::<Did>() else { return Ok(()) };
        if self.timers.asked.is_some_and(|at| at > Instant::now()) || !self.dids().contains(&did) {
            return Ok(());
        }
        self.timers.asked = Some(Instant::now() + self.shared.options.announce);
        // The commit that comes back follows the newest, so the checkpoint must be of that; whoever asks, one is enough.
        let fresh = |(of, at): (u64, Instant)| of == self.commit && at.elapsed() < CHECKPOINT_AGAIN;
        self.wants_checkpoint |= !self.checkpointed.is_some_and(fresh);
        let now = self.now();
        let bytes = Writer::default().put(&self.id.0).put(&self.surface.to_bytes()).finish();
        let sealed = self.shared.cards.resolve(&did, now).and_then(|to| {
            sealed::seal(self.present.me.agent(), &to, ANSWER, &bytes, now.after(ANSWER_LIFETIME), now)
        });
        match sealed {
            Ok(envelope) => {
                let frame = Frame::Answer { channel: self.id, envelope: envelope.into() };
                self.outward.push((inbox(did.as_str()), frame));
            }
            Err(error) => self.shared.note(&Error::Cards(error)),
        }
        Ok(())
    }

    /// A member tells where the channel is.
    pub(super) fn answered(&mut self, envelope: &Bytes) -> Result<()> {
        if self.stuck.is_none() && self.rejoin.is_none() {
            return Ok(());
        }
        // It says nothing that would matter a second time.
        let mut once = MemoryReplayCache::new(1);
        let opened =
            sealed::open(self.present.me.agent(), envelope, &*self.shared.cards, &mut once, self.now());
        let Ok(opened) = opened else { return Ok(()) };
        let of_this = opened.media_type() == ANSWER && self.dids().contains(opened.sender());
        let surface = opened.payload().strip_prefix(&self.id.0[..]).map(Surface::from_bytes);
        let (true, Some(Ok(surface))) = (of_this, surface) else { return Ok(()) };
        if surface != self.surface {
            self.shared.move_listener(self.id, &self.surface.route(), surface.route());
            self.surface = surface;
            // What the old one did not open, this one may.
            self.searched = Arc::default();
            self.write_places();
        }
        self.timers.retry = None;
        by(&mut self.timers.retry, self.shared.options.retry);
        Ok(())
    }
}
