//! Commits: wishes that are gathered into one, and what the log says of it and of others'.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use bytes::Bytes;
use gambeson_identity::{Did, Timestamp};
use tokio::time::Instant;

use super::work::{Done, Package, Taken, keep_snapshot, take, vouched};
use super::{Life, Pending, by};
use crate::archive::{Surface, random};
use crate::blobs::BlobId;
use crate::channel::Answer;
use crate::content::{CardPlace, CommitEntry, Peek, Snapshot};
use crate::credential::CardHash;
use crate::error::{Error, Quota, Result};
use crate::event::{Event, Warning};
use crate::frame::Frame;
use crate::log::{EntryId, Placed, Record};
use crate::member::{Changed, Changes, Listed, MAX_CHANGES, Member, PAST_EPOCHS, Processed, ROUTING_LABEL};
use crate::policy::{Role, SignedPolicy};
use crate::refusal::Reason;
use crate::wire::{Malformed, Writer};

/// How many key packages are taken in one work; what was taken is kept when the next fails.
const TAKEN_AT_ONCE: usize = 64;
/// How often cards that a commit needs are looked for before this member says that it cannot follow.
const MOST_SEARCHES: u32 = 3;
/// How often a part of a commit is asked for that the blobs do not have, before this member says that it cannot follow: for some
/// eight seconds, and longer where it is parts that take too long.
const MOST_MISSES: u32 = 6;
/// How many members the last owner makes owners when it goes: a policy has room for some hundred names.
const MOST_HEIRS: usize = 64;

/// What somebody wants of a commit.
pub(super) enum Want {
    /// Somebody, by a delegation; one without links is none.
    Add(Did, Arc<[String]>),
    Remove(Did),
    Policy(Box<SignedPolicy>),
    Rotate,
    /// The agent's new card in the leaf.
    Renew,
    /// An epoch after this one, whoever begins it.
    After(u64),
}

pub(super) struct Wish {
    want: Want,
    /// Of which call it is a part.
    call: u64,
    taken: Option<Package>,
}

impl Wish {
    /// The delegation that it needs. A commit shows one, and then who is added is judged by it alone.
    fn delegation(&self) -> &[String] {
        match &self.want {
            Want::Add(_, delegation) => delegation,
            _ => &[],
        }
    }

    /// Whether it may come true while a fork is not decided on.
    pub(super) fn mends(&self) -> bool {
        matches!(self.want, Want::Remove(_) | Want::Policy(_))
    }
}

/// A call whose wishes come true one by one.
pub(super) struct Call {
    left: usize,
    error: Option<Error>,
    answer: Option<Answer<()>>,
}

#[derive(Default)]
pub(super) struct Calls {
    last: u64,
    open: BTreeMap<u64, Call>,
}

impl Life {
    /// Takes wishes in, which are gathered for a while.
    pub(super) fn wish(&mut self, wants: Vec<Want>, answer: Answer<()>) -> Result<()> {
        if wants.is_empty() {
            self.answer(answer, Ok(()));
        } else {
            self.wish_silently(wants, Some(answer));
        }
        Ok(())
    }

    pub(super) fn wish_silently(&mut self, wants: Vec<Want>, answer: Option<Answer<()>>) {
        self.calls.last += 1;
        let call = self.calls.last;
        self.calls.open.insert(call, Call { left: wants.len(), error: None, answer });
        self.wishes.extend(wants.into_iter().map(|want| Wish { want, call, taken: None }));
        by(&mut self.timers.gather, self.shared.options.gather);
    }

    pub(super) fn wish_to_rotate(&mut self) {
        self.wish_silently(vec![Want::Rotate], None);
        // What is counted goes on until it comes true: a wish does not outlive a restart.
        self.rotate_after(0);
    }

    /// So much of a sender was pruned before it was read that nothing more of it can be opened in this epoch: another is wished for. Where nothing
    /// was pruned somebody made the number up, and nobody commits for that.
    pub(super) fn wish_for_next_epoch(&mut self) {
        let rotate = self.member.policy().policy().rotate;
        let may = self.member.acting(&self.shared.did).is_ok_and(|role| role >= rotate);
        let mut wishes = self.wishes.iter().chain(&self.committing);
        if self.unsure && may && !wishes.any(|wish| matches!(wish.want, Want::Rotate | Want::After(_))) {
            self.wish_as_others_may(Want::After(self.member.epoch()));
        }
    }

    /// A wish came true, or never will.
    fn settle(&mut self, wish: &Wish, with: Result<()>) {
        let Some(call) = self.calls.open.get_mut(&wish.call) else { return };
        call.left -= 1;
        if let Err(error) = with {
            call.error.get_or_insert(error);
        }
        if call.left > 0 {
            return;
        }
        match self.calls.open.remove(&wish.call) {
            Some(Call { error, answer: Some(answer), .. }) => self.answer(answer, error.map_or(Ok(()), Err)),
            // Nobody asked, and somebody should know.
            Some(Call { error: Some(error), .. }) => self.shared.report(self.id, &error),
            _ => {}
        }
    }

    /// Makes a commit of what was gathered.
    pub(super) fn make_commit(&mut self) {
        let members: BTreeSet<Did> = self.dids();
        let mut chosen = Vec::new();
        let most = if self.alone { 1 } else { MAX_CHANGES };
        let (mut touched, mut policies) = (BTreeSet::new(), 0);
        let mut later = Vec::new();
        for wish in std::mem::take(&mut self.wishes) {
            let fits = match &wish.want {
                Want::Add(did, _) if members.contains(did) => {
                    self.settle(&wish, Ok(()));
                    continue;
                }
                Want::Remove(did) if !members.contains(did) => {
                    self.settle(&wish, Ok(()));
                    continue;
                }
                Want::Renew if self.member.is_renewed().unwrap_or(true) => {
                    self.settle(&wish, Ok(()));
                    continue;
                }
                Want::After(epoch) if *epoch < self.member.epoch() => {
                    self.settle(&wish, Ok(()));
                    continue;
                }
                _ if self.forked && !wish.mends() => false,
                _ if chosen.first().is_some_and(|first: &Wish| first.delegation() != wish.delegation()) => {
                    false
                }
                Want::Add(did, _) | Want::Remove(did) => touched.insert(did.clone()),
                Want::Policy(_) => {
                    policies += 1;
                    policies == 1
                }
                Want::Rotate | Want::Renew | Want::After(_) => true,
            };
            if fits && chosen.len() < most { chosen.push(wish) } else { later.push(wish) }
        }
        self.wishes = later;
        if chosen.is_empty() {
            return;
        }
        let missing: Vec<(Did, Arc<[String]>)> = chosen
            .iter()
            .filter(|wish| wish.taken.is_none())
            .filter_map(|wish| match &wish.want {
                Want::Add(did, delegation) => Some((did.clone(), Arc::clone(delegation))),
                _ => None,
            })
            .take(TAKEN_AT_ONCE)
            .collect();
        if !missing.is_empty() {
            chosen.append(&mut self.wishes);
            self.wishes = chosen;
            return self.start(move |shared| async move {
                // One delegation is behind all of them: its cards are fetched once, and whoever still misses one says so.
                if let Some((_, delegation)) = missing.first() {
                    drop(vouched(&shared, delegation).await);
                }
                Done::Taken(take(&shared, missing).await)
            });
        }
        self.commit_these(chosen);
    }

    /// Nothing of what was wished for to mend a fork can be had from here.
    pub(super) fn refuse_wishes(&mut self) {
        let (mending, later): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.wishes).into_iter().partition(Wish::mends);
        self.wishes = later;
        if !mending.is_empty() {
            // Who asked is told at once.
            by(&mut self.timers.gather, std::time::Duration::ZERO);
        }
        mending.iter().for_each(|wish| self.settle(wish, Err(Error::Forked)));
    }

    /// Key packages were taken.
    pub(super) fn taken(&mut self, all: Vec<Taken>) {
        for (did, delegation, taken) in all {
            let mine = |wish: &Wish| matches!(&wish.want, Want::Add(wanted, by) if *wanted == did && *by == delegation);
            match taken {
                Ok(taken) => self
                    .wishes
                    .iter_mut()
                    .filter(|wish| mine(wish))
                    .for_each(|wish| wish.taken = Some(taken.clone())),
                Err(error) => {
                    if let Some(at) = self.wishes.iter().position(mine) {
                        let wish = self.wishes.remove(at);
                        self.settle(&wish, Err(error));
                    }
                }
            }
        }
    }

    fn commit_these(&mut self, chosen: Vec<Wish>) {
        let surface = self.surface.clone();
        let mut changes = Changes { note: self.joiner_note(&chosen), ..Changes::default() };
        let mut cards = vec![self.present.card.clone()];
        let mut vouching: Vec<CardPlace> = Vec::new();
        changes.delegation = chosen.first().map(|wish| wish.delegation().to_vec()).unwrap_or_default();
        for wish in &chosen {
            match &wish.want {
                Want::Add(..) => {
                    if let Some(taken) = &wish.taken {
                        changes.add.push(taken.key_package.clone());
                        cards.push(taken.card.clone());
                        for card in taken.vouching.iter().filter(|card| card.did != self.did()) {
                            if !vouching.contains(card) {
                                vouching.push(card.clone());
                            }
                        }
                    }
                }
                Want::Remove(did) => changes.remove.push(did.clone()),
                Want::Policy(policy) => changes.policy = Some((**policy).clone()),
                Want::Rotate | Want::Renew | Want::After(_) => changes.update = true,
            }
        }
        // Where most are new, a path is sealed to hardly anybody, and saves the next member a commit that is sealed to each of them.
        changes.update |= changes.add.len() > self.standing_len();
        let joiners: Vec<CardPlace> = cards[1..].to_vec();
        cards.append(&mut vouching);
        let pending = match self.member.commit(changes, self.now()) {
            Ok(pending) => pending,
            Err(Error::Unresolved(needs)) if self.searches < MOST_SEARCHES => {
                self.searches += 1;
                self.wishes.splice(0..0, chosen);
                return self.fetch_cards(needs);
            }
            Err(error) => return self.not_committed(chosen, error),
        };
        self.searches = 0;
        self.committing = chosen;
        self.welcomes =
            pending.welcomes.iter().map(|(did, bytes)| (did.as_str().to_owned(), bytes.clone())).collect();
        let snapshot = Snapshot {
            channel: self.id,
            epoch: pending.epoch,
            commit: self.commit,
            tree: Vec::new(),
            rest: Vec::new(),
        };
        let mut all = self.card_places();
        all.extend(joiners);
        let (entry, present) =
            (CommitEntry { commit: pending.commit.clone(), cards }, Arc::clone(&self.present));
        self.start(move |shared| async move {
            let prepared = async {
                let snapshot = async {
                    match &pending.tree {
                        Some(tree) => {
                            keep_snapshot(&shared, &surface, snapshot, (tree, &[]), &all).await.map(Some)
                        }
                        None => Ok(None),
                    }
                };
                let content = entry.to_content(&surface, &*shared.services.blobs);
                let ((), head, content) = tokio::try_join!(shared.put_present(&present), snapshot, content)?;
                Ok((EntryId(random()?), content, head))
            };
            Done::Prepared(prepared.await)
        });
    }

    /// What a Welcome tells joiners besides MLS: the surface, from which they make the one after this commit, and who lets them in.
    fn joiner_note(&self, chosen: &[Wish]) -> Vec<u8> {
        if !chosen.iter().any(|wish| matches!(wish.want, Want::Add(..))) {
            return Vec::new();
        }
        let removal = chosen.iter().any(|wish| matches!(wish.want, Want::Remove(_)));
        Note { surface: self.surface.clone(), removal, inviter: self.did().to_owned() }.to_bytes()
    }

    /// Those who wished for what cannot be are told; a wish among many is tried by itself first.
    fn not_committed(&mut self, chosen: Vec<Wish>, error: Error) {
        self.searches = 0;
        if chosen.len() > 1 {
            self.alone = true;
            self.wishes.splice(0..0, chosen);
            return;
        }
        for wish in &chosen {
            self.settle(
                wish,
                Err(Error::Refused(match &error {
                    Error::Refused(refusal) => refusal.clone(),
                    other => crate::refusal::Refusal::new(Reason::Protocol, other),
                })),
            );
        }
        self.alone = !self.wishes.is_empty() && self.alone;
    }

    /// The commit is ready for the log: what is needed after a crash is written first.
    pub(super) fn prepared(&mut self, prepared: Result<(EntryId, Bytes, Option<BlobId>)>) -> Result<()> {
        let made = prepared.and_then(|(id, content, head)| {
            let invite = |(did, welcome): (String, Bytes)| {
                let snapshot = head.ok_or(Error::NoCheckpoint)?;
                Ok((did, Frame::Invitation { snapshot, welcome }.to_bytes()?))
            };
            let welcomes = std::mem::take(&mut self.welcomes);
            let invitations = welcomes.into_iter().map(invite).collect::<Result<_>>()?;
            Ok(Pending { id, after: self.commit, content, invitations })
        });
        match made {
            Ok(pending) => {
                self.tries = 0;
                self.placed = false;
                self.pending = Some(pending);
                self.write_pending();
                self.write_member()
            }
            Err(error) => {
                self.again(&error);
                self.lose()?;
                self.no_room_for_commit(&error)
            }
        }
    }

    /// What the log says of this member's commit.
    pub(super) fn committed(&mut self, answer: Result<Placed>) -> Result<()> {
        match answer {
            Ok(Placed::At(place)) => {
                self.tries = 0;
                self.room.came();
                self.room.came_for_commit();
                self.placed = true;
                match self.pending.clone() {
                    Some(pending) if place == self.read + 1 && self.backlog.is_empty() => {
                        self.read = place;
                        self.win(place, pending)
                    }
                    _ => {
                        self.behind = true;
                        Ok(())
                    }
                }
            }
            Ok(Placed::After(_)) => {
                self.tries = 0;
                self.behind = true;
                self.lose()
            }
            Err(error) => {
                self.again(&error);
                self.no_room_for_commit(&error)
            }
        }
    }

    /// There is no room for a commit, and it does not come: who asked for one is told. What nobody asked for is tried again.
    pub(super) fn give_up_wishes(&mut self, quota: Quota) -> Result<()> {
        let asked =
            |calls: &Calls, wish: &Wish| calls.open.get(&wish.call).is_some_and(|call| call.answer.is_some());
        // One that the log has taken already comes true.
        if !self.placed && self.committing.iter().any(|wish| asked(&self.calls, wish)) {
            self.lose()?;
        }
        let wishes = std::mem::take(&mut self.wishes);
        let (told, left): (Vec<_>, Vec<_>) = wishes.into_iter().partition(|wish| asked(&self.calls, wish));
        self.wishes = left;
        for wish in told {
            self.settle(&wish, Err(Error::Full(quota)));
        }
        Ok(())
    }

    /// Another commit came first: what was wished for is tried again.
    fn lose(&mut self) -> Result<()> {
        if self.pending.take().is_some() {
            self.tally.commits.1 += 1;
            self.write_pending();
        }
        self.placed = false;
        let wishes = std::mem::take(&mut self.committing);
        self.wishes.splice(0..0, wishes);
        self.member.abandon();
        self.write_member()
    }

    /// This member's commit stands in the log.
    fn win(&mut self, place: u64, pending: Pending) -> Result<()> {
        let before = self.surface.route();
        let confirmed = self.member.confirm();
        self.pending = None;
        self.placed = false;
        self.write_pending();
        let changed = match confirmed {
            Ok(changed) => changed,
            Err(error) => {
                // The log has a commit of this member that it no longer knows how to follow.
                self.cannot_follow(place, &error.to_string(), true);
                return self.skipped((place, pending.id));
            }
        };
        self.tally.commits.0 += 1;
        self.room.mine = place;
        for (did, frame) in pending.invitations {
            self.write_errand(did, frame)?;
        }
        let mut rotates = false;
        for wish in std::mem::take(&mut self.committing) {
            rotates |= matches!(wish.want, Want::Rotate);
            self.settle(&wish, Ok(()));
        }
        self.alone = self.alone && !self.wishes.is_empty();
        self.applied(&changed, (place, pending.id))?;
        if rotates && !changed.added.is_empty() {
            self.has_rotated();
            self.write_places();
        }
        by(&mut self.timers.checkpoint, self.shared.options.checkpoint);
        self.outward.push((before, Frame::Head { last: place }));
        self.outward.push((self.surface.route(), Frame::Head { last: place }));
        Ok(())
    }

    /// A commit of the log, opened.
    pub(super) async fn opened(
        &mut self,
        record: Record,
        entry: Result<Option<(Peek, CommitEntry)>, Malformed>,
    ) -> Result<()> {
        (self.tries, self.misses) = (0, 0);
        self.count(&record);
        let place = (record.place, record.entry.id);
        let Ok(entry) = entry else {
            // Who was away while others were removed cannot open it; for all others nobody can.
            if self.unsure {
                self.cannot_follow(
                    record.place,
                    "the commit is encrypted with a key of a deleted epoch",
                    true,
                );
            }
            return self.skipped(place);
        };
        let epoch = self.member.epoch();
        let own = entry.filter(|(peek, _)| peek.epoch >= epoch && peek.channel[..] == self.id.0[..]);
        let Some((peek, entry)) = own else {
            return self.skipped(place);
        };
        if peek.epoch > epoch {
            if self.passed_over || self.unsure {
                self.cannot_follow(record.place, "earlier commits are missing", true);
            }
            return self.skipped(place);
        }
        if self.pending.is_some() || self.member.is_pending() {
            self.lose()?;
        }
        match self.member.process(&entry.commit, Timestamp(record.at / 1000)) {
            Ok(Processed::Commit(changed)) => {
                self.searches = 0;
                if changed.removed.contains(&self.shared.did) {
                    self.mark_read(place);
                    return self.out(&changed).await;
                }
                if changed.rejoined && changed.by == self.shared.did {
                    // It stands in the log, and what was made with it was never written.
                    self.cannot_follow(
                        place.0,
                        "this member rejoined and stopped before it had stored the new state",
                        true,
                    );
                    return self.skipped(place);
                }
                self.applied(&changed, place)
            }
            Ok(Processed::Application(_)) => self.skipped(place),
            Err(Error::Unresolved(needs)) if self.searches < MOST_SEARCHES => {
                self.searches += 1;
                self.backlog.push_front(record);
                self.fetch_cards(needs);
                Ok(())
            }
            Err(error) => {
                self.searches = 0;
                // What breaks the rules is refused by all alike: whoever goes on with it is in a group that this member does not follow.
                self.passed_over |= !error.reason().is_some_and(Reason::is_for_all);
                let theirs = matches!(error.reason(), Some(Reason::Forged | Reason::Protocol) | None);
                if theirs {
                    // Perhaps for this member alone: whoever goes on shows it.
                    self.cannot_follow(record.place, &error.to_string(), false);
                } else {
                    self.warn(Warning::Refused { place: record.place, reason: error.to_string() });
                }
                self.skipped(place)
            }
        }
    }

    /// A commit whose parts did not all come: `missing` where the service says that it has one of them no more, or the time for all of them was over.
    pub(super) fn not_opened(&mut self, record: Record, error: &Error, missing: bool) -> Result<()> {
        self.misses += u32::from(missing);
        // Who passed over one already comes back if others went on, whatever it passes over besides.
        if missing && (self.passed_over || self.misses >= MOST_MISSES) {
            self.passed_over_unread(&record, error)?;
            return self.drain_backlog();
        }
        // Its parts may come yet; nothing behind it can be understood before.
        self.backlog.push_front(record);
        self.again(error);
        self.tell_not_read(error);
        Ok(())
    }

    /// A commit of which a part is not there: nobody ever had it, or it was kept for less long than this member was away.
    fn passed_over_unread(&mut self, record: &Record, error: &Error) -> Result<()> {
        (self.tries, self.misses) = (0, 0);
        self.count(record);
        self.passed_over = true;
        // Whoever goes on shows that others have read it.
        self.cannot_follow(record.place, &error.to_string(), false);
        self.skipped((record.place, record.entry.id))
    }

    /// A commit that all pass over: the next follows it in the log all the same.
    fn skipped(&mut self, place: (u64, EntryId)) -> Result<()> {
        self.commit = place.0;
        if self.pending.is_some() {
            self.lose()?;
        }
        self.mark_read(place);
        Ok(())
    }

    /// The log was read up to this entry.
    pub(super) fn mark_read(&mut self, place: (u64, EntryId)) {
        self.read = self.read.max(place.0);
        self.last = place;
        self.unread = self.unread.split_off(&(self.read + 1));
        self.write_places();
    }

    async fn out(&mut self, changed: &Changed) -> Result<()> {
        let members = vec![self.did().to_owned()];
        let event = match self.leave.is_some() || self.leaving.contains(&self.shared.did) {
            true => Event::Left { members, epoch: changed.epoch },
            false => Event::Removed { members, by: changed.by.as_str().to_owned(), epoch: changed.epoch },
        };
        self.end(Some(event)).await
    }

    /// A commit holds: the channel is in a new epoch.
    fn applied(&mut self, changed: &Changed, place: (u64, EntryId)) -> Result<()> {
        self.commit = place.0;
        self.stuck = None;
        (self.unsure, self.passed_over) = (false, false);
        if !changed.removed.is_empty() {
            let after = self.surface.after_removal(routing_secret(&self.member)?);
            self.move_on(changed, after.route());
            self.surface = after;
            // What others say on the new name before this member listens there is in the log alone.
            by(&mut self.timers.gap, self.shared.options.announce);
        }
        self.since = self.counter + 1;
        self.tell_of(changed);
        let card = self.my_card();
        self.note_epoch()?;
        self.views_after(changed);
        self.mark_read(place);
        self.seal_again(card != self.my_card())?;
        self.meet_ahead()?;
        let epoch = changed.epoch;
        self.parted.extend(changed.removed.iter().map(|did| (epoch, did.as_str().to_owned())));
        self.forget_parted(epoch);
        self.warm_up_after(changed);
        if changed.policy.is_some() || !changed.removed.is_empty() {
            self.let_go();
        }
        if changed.by == self.shared.did && changed.added.is_empty() {
            // Its path is there.
            self.timers.warm_up = None;
            self.has_rotated();
            self.write_places();
        } else if changed.policy.is_some() {
            self.set_rotation();
        }
        Ok(())
    }

    /// The card that this member's leaf names.
    fn my_card(&self) -> Option<CardHash> {
        self.listed.iter().find(|(_, member)| member.did == self.shared.did).map(|(_, member)| member.card)
    }

    fn forget_parted(&mut self, epoch: u64) {
        let (gone, parted) = std::mem::take(&mut self.parted)
            .into_iter()
            .partition::<Vec<_>, _>(|(at, _)| at + PAST_EPOCHS < epoch);
        self.parted = parted;
        if !gone.is_empty() {
            // Who came back meanwhile counts from a later epoch.
            let rows =
                self.order.forget(|source| gone.iter().any(|(at, did)| *did == source.0 && source.1 < *at));
            let row = self.row("order");
            rows.into_iter().for_each(|number| self.writes.delete(&row, number));
        }
    }

    fn tell_of(&mut self, changed: &Changed) {
        let (by, epoch) = (changed.by.as_str().to_owned(), changed.epoch);
        let names = |dids: &mut dyn Iterator<Item = &Did>| -> Vec<String> {
            dids.map(|did| did.as_str().to_owned()).collect()
        };
        let left = names(&mut changed.removed.iter().filter(|did| self.leaving.contains(did)));
        let removed = names(&mut changed.removed.iter().filter(|did| !self.leaving.contains(did)));
        for did in &changed.removed {
            self.leaving.remove(did);
        }
        if changed.rejoined {
            self.tell(Event::Returned { member: by.clone(), epoch });
        }
        if !changed.added.is_empty() {
            self.tell(Event::Joined { members: names(&mut changed.added.iter()), by: by.clone(), epoch });
        }
        if !left.is_empty() {
            self.tell(Event::Left { members: left, epoch });
        }
        if !removed.is_empty() {
            self.tell(Event::Removed { members: removed, by: by.clone(), epoch });
        }
        if changed.policy.is_some() {
            self.tell(Event::Policy { by: by.clone(), epoch });
        }
        let only = changed.added.is_empty()
            && changed.removed.is_empty()
            && changed.policy.is_none()
            && !changed.rejoined;
        if only {
            self.tell(Event::Rotated { by, epoch });
        }
    }

    /// An entry that this member made stands in the log.
    pub(super) fn own_commit(&mut self, record: &Record) -> Result<bool> {
        match self.pending.clone() {
            Some(pending) if pending.id == record.entry.id => {
                self.win(record.place, pending)?;
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    pub(super) fn dids(&self) -> BTreeSet<Did> {
        self.listed.iter().map(|(_, member)| member.did.clone()).collect()
    }

    /// Where the cards of the members are, as far as known.
    pub(super) fn card_places(&self) -> Vec<CardPlace> {
        self.dids().iter().filter_map(|did| self.shared.card_place(did)).collect()
    }

    pub(super) fn now(&self) -> Timestamp {
        Timestamp(self.shared.options.clock.now() / 1000)
    }

    /// Somebody asks to be let go: one of those who may does it, and each waits for another time.
    pub(super) fn lets_go(&mut self, did: Did) {
        if !self.dids().contains(&did) || !self.leaving.insert(did.clone()) {
            return;
        }
        self.write_places();
        self.let_go();
    }

    /// Wishes to remove those who asked to be let go, as far as this member may.
    fn let_go(&mut self) {
        self.hand_over();
        let wished = |did: &Did| {
            let wishes = self.wishes.iter().chain(&self.committing);
            wishes.map(|wish| &wish.want).any(|want| matches!(want, Want::Remove(other) if other == did))
        };
        let leaving = self.leaving.iter().filter(|did| **did != self.shared.did && !wished(did));
        let mine: Vec<Did> =
            leaving.filter(|did| self.member.may_remove(did).unwrap_or(false)).cloned().collect();
        mine.into_iter().for_each(|did| self.wish_to_remove(did));
    }

    /// The last owner, which wants to go, gives the channel to those who own it then: while an owner that is gone has its leaf, nobody
    /// changes the policy.
    pub(super) fn hand_over(&mut self) {
        let wished = |wish: &Wish| matches!(wish.want, Want::Policy(_));
        if self.leave.is_none() || self.wishes.iter().chain(&self.committing).any(wished) {
            return;
        }
        let stays = |member: &&Listed| !self.leaving.contains(&member.did);
        let staying = || self.listed.iter().map(|(_, member)| member).filter(stays);
        let highest = staying().map(|member| member.role).max();
        let Some(highest) =
            highest.filter(|highest| *highest < Role::Owner && self.member.role() == Role::Owner)
        else {
            return;
        };
        let mut next = self.member.policy().policy().next(self.now());
        next.roles.remove(&self.shared.did);
        let heirs = staying().filter(|member| member.role == highest).take(MOST_HEIRS);
        next.roles.extend(heirs.map(|member| (member.did.clone(), Role::Owner)));
        match next.sign(self.present.me.agent()) {
            Ok(signed) => self.wish_silently(vec![Want::Policy(Box::new(signed))], None),
            Err(refusal) => self.shared.report(self.id, &refusal.into()),
        }
    }

    /// Wishes to remove somebody whom others may wish to remove too.
    pub(super) fn wish_to_remove(&mut self, did: Did) {
        self.wish_as_others_may(Want::Remove(did));
    }

    /// Wishes for what others may wish for too: each waits for another time.
    fn wish_as_others_may(&mut self, want: Want) {
        let early = self.timers.gather.is_none();
        self.wish_silently(vec![want], None);
        if early {
            let wait = random::<1>().map_or(0, |[byte]| u32::from(byte) % 4);
            self.timers.gather = Some(Instant::now() + self.shared.options.gather * (1 + wait));
        }
    }
}

/// What a Welcome tells its joiner besides MLS, encrypted like the GroupInfo it stands in.
pub(crate) struct Note {
    pub(crate) surface: Surface,
    /// Whether the commit removes somebody too: then the surface is the one before it.
    pub(crate) removal: bool,
    pub(crate) inviter: String,
}

impl Note {
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        Writer::default()
            .put(&self.surface.to_bytes())
            .u8(u8::from(self.removal))
            .text(&self.inviter)
            .finish()
    }

    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut fields = crate::wire::Reader::new(Bytes::copy_from_slice(bytes));
        let surface = Surface::from_bytes(&fields.take(Surface::LEN)?)?;
        let removal = match fields.u8()? {
            0 => false,
            1 => true,
            _ => return Err(Malformed),
        };
        let note = Self { surface, removal, inviter: fields.text()? };
        fields.end().map(|()| note)
    }

    /// The surface of who joined.
    pub(crate) fn surface_of(&self, member: &Member) -> Result<Surface> {
        if !self.removal {
            return Ok(self.surface.clone());
        }
        Ok(self.surface.after_removal(routing_secret(member)?))
    }
}

/// What the exporter gives for the surface: in a channel's first epoch, and after each removal.
pub(crate) fn routing_secret(member: &Member) -> Result<[u8; 32]> {
    let secret = member.export(ROUTING_LABEL, &member.id().0, 32)?;
    secret[..].try_into().map_err(|_| Error::BadStore)
}
