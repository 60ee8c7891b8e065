//! Invitations: key packages that are offered, an inbox that is read, and an agent's own policy on what it accepts.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio::time::Instant;

use super::{Admit, Present, Shared, inbox_log};
use crate::archive::{Surface, random};
use crate::blobs::BlobId;
use crate::cards::SKEW;
use crate::channel::Channel;
use crate::content::{Published, Snapshot};
use crate::error::{Error, Quota, Result};
use crate::frame::Frame;
use crate::hold;
use crate::keys::KeyPackages;
use crate::life::{Birth, Note, fetch_cards, load_snapshot};
use crate::log::{Entry, EntryId, EntryKind};
use crate::member::{KeptKeyPackage, Member, welcome_references};
use crate::name::ChannelId;
use crate::refusal::{Reason, Refusal};

/// How many invitations wait for somebody to decide, and are kept; more push out the oldest. A page of the inbox brings no more than these.
const MOST_WAITING: usize = 64;
/// How many entries of the inbox are read at once.
const PAGE: usize = MOST_WAITING;
/// The row of invitations about which nothing was done, by their places in the inbox.
const UNDECIDED: &str = "invitations";
/// The place of the last resort among the kept key packages.
const LAST_RESORT: u64 = 0;
/// The row of what is published, or published again: the last resort, and key packages that as far as is known are not, by their places among the kept
/// private halves.
const OFFERS: &str = "offers";
/// In seconds: how long what is offered is good for, at least.
const DAY: u64 = 86_400;
/// How many key packages are kept at most: who takes them without end is given the last resort.
const MOST_KEPT: usize = 1_000;
/// How many entries, and bytes, of an inbox are read at the most before they may go: a small part of the smallest log.
const READ: (u64, u64) = (256, 256 << 10);
/// How many deadlines it may take to fetch what an invitation leads to, which anybody can write: the first time, and twice as many each time until the
/// last of these. What came of cards is not fetched again.
const PATIENCE: u32 = 12;
/// How often it is doubled; it is as long as that at once where somebody asks for it.
const MOST_DOUBLED: u32 = 4;
/// The longest that passes after a try to offer, or to join, until the next, unless the inbox is looked into less often or others have their turn.
const MOST_PATIENCE: Duration = Duration::from_secs(300);

/// Somebody wants this agent in a channel.
#[derive(Clone)]
pub struct Invitation {
    /// Which channel.
    pub channel: ChannelId,
    /// Who says to invite. That it is so is proven when the invitation is accepted, and not before.
    pub inviter: String,
    note: Arc<Note>,
    snapshot: BlobId,
    welcome: Bytes,
    /// Where in the tree who made the Welcome is.
    leaf: u32,
    /// Where it stood in the inbox.
    place: u64,
}

impl Invitation {
    pub(super) const fn place(&self) -> u64 {
        self.place
    }
}

impl std::fmt::Debug for Invitation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Invitation")
            .field("channel", &self.channel)
            .field("inviter", &self.inviter)
            .finish_non_exhaustive()
    }
}

/// Attends to the inbox and to the key packages, now and whenever something may have come.
pub(super) async fn attend(shared: Arc<Shared>) {
    let mut offered = None;
    // How often offering failed, and when it is tried again.
    let (mut failures, mut again) = (0, Instant::now());
    let mut failed = BTreeMap::new();
    // What was not decided on before a restart. Whether some were never tried: all that was read is, before more is read.
    let mut turns = consider(&shared, true, &mut failed).await.unwrap_or_else(|error| {
        shared.note(&error);
        false
    });
    loop {
        let present = shared.present();
        let first = shared.options.retry * 4;
        if offered == Some(present.me.credential().card) {
            // The card stands for as long as its owner does, however long the service keeps what nobody asks for.
            if let Err(error) = shared.put_present(&present).await {
                shared.note(&error);
            }
        } else if again <= Instant::now() {
            match offer(&shared, &present).await {
                Ok(()) => (offered, failures) = (Some(present.me.credential().card), 0),
                Err(error) => {
                    offered = None;
                    again = Instant::now() + patience(first, failures);
                    failures = failures.saturating_add(1);
                    shared.note(&error);
                }
            }
        }
        shared.listen_if_deaf();
        let looked = async {
            let more = std::mem::take(&mut turns) || read(&shared).await?;
            turns = consider(&shared, false, &mut failed).await?;
            Ok(more || turns)
        };
        let more = looked.await.unwrap_or_else(|error| {
            shared.note(&error);
            false
        });
        let wait = match offered {
            _ if more => Duration::ZERO,
            Some(_) => shared.options.poll,
            None => {
                again.saturating_duration_since(Instant::now()).clamp(first, shared.options.poll.max(first))
            }
        };
        drop(tokio::time::timeout(wait, shared.inbox.notified()).await);
        if offered.is_some()
            && shared
                .services
                .keys
                .left(shared.did.as_str())
                .await
                .is_ok_and(|left| left < shared.options.key_packages / 2)
        {
            offered = None;
        }
    }
}

/// How long what failed so often before waits.
fn patience(first: Duration, failures: u32) -> Duration {
    first.saturating_mul(2u32.saturating_pow(failures)).min(MOST_PATIENCE.max(first))
}

/// Offers the card and key packages to those who invite while this agent is away. Those under an earlier card, or of another store, go. What was made
/// before and is not known to be published is published again, and the last resort in any case; only what is missing besides is made.
async fn offer(shared: &Shared, present: &Present) -> Result<()> {
    shared.put_present(present).await?;
    let (did, me) = (shared.did.as_str(), &present.me);
    let kept = shared.kept.row("packages", 0, usize::MAX).await?;
    let keys = &shared.services.keys;
    let mut left = keys.left(did).await?;
    let card = me.credential().card;
    let renewed = shared.kept.value("offered", 0).await?.is_none_or(|offered| offered[..] != card.0[..]);
    let mut packages = KeyPackages::default();
    let mut writes = crate::store::Writes::default();
    let mut number = kept.keys().copied().max().unwrap_or(LAST_RESORT);
    let publish = |key_package| Published { card: present.card.clone(), key_package }.to_bytes();
    let (suite, now) = (me.suites()[0], shared.time());
    let offers = shared.kept.row(OFFERS, 0, usize::MAX).await?;
    let (mut again, mut gone) = (BTreeMap::new(), 0);
    for (number, bytes) in &kept {
        let until = KeptKeyPackage::from_bytes(bytes)?.until();
        if *number != LAST_RESORT && until.after(SKEW) < now {
            // Nobody can be invited by it any more.
            writes.delete("packages", *number);
            gone += 1;
            continue;
        }
        let package = offers.get(number).map(|bytes| Bytes::copy_from_slice(bytes));
        // Under an earlier card, or for a day only, it would be none to offer.
        let is_good = |package: &Bytes| {
            Published::parse(package).is_ok_and(|it| it.card == present.card) && until > now.after(DAY)
        };
        if let Some(package) = package.filter(is_good) {
            again.insert(*number, package);
        }
    }
    for number in offers.keys().filter(|number| !again.contains_key(number)) {
        writes.delete(OFFERS, *number);
    }
    // Where some of this card were about to be published, those of the card before are out, and what is there may be these.
    if renewed && again.is_empty() {
        for _ in 0..std::mem::take(&mut left) {
            drop(keys.take(did).await?);
        }
        if keys.left(did).await? > 0 {
            // Without room for claims none goes; those of this card would come behind them.
            return Err(Error::Full(Quota::Store));
        }
    }
    let resort = kept.get(&LAST_RESORT).map(|bytes| KeptKeyPackage::from_bytes(bytes)).transpose()?;
    packages.last_resort = again.remove(&LAST_RESORT);
    packages.once = again.values().cloned().collect();
    let room = MOST_KEPT.saturating_sub(kept.len() - gone);
    for _ in 0..shared.options.key_packages.saturating_sub(left + packages.once.len()).min(room) {
        let (package, private) = me.key_package(suite, false, now)?;
        number += 1;
        let package = publish(package);
        writes.put("packages", number, private.to_bytes()?.to_vec());
        writes.put(OFFERS, number, package.to_vec());
        again.insert(number, package.clone());
        packages.once.push(package);
    }
    let ends = resort.is_none_or(|resort| resort.until() <= now.after(DAY));
    if packages.last_resort.is_none() && (renewed || ends) {
        if let Some(before) = kept.get(&LAST_RESORT) {
            // Who took it may be about to invite by it.
            writes.put("packages", number + 1, before.to_vec());
        }
        let (package, private) = me.key_package(suite, true, now)?;
        let package = publish(package);
        writes.put("packages", LAST_RESORT, private.to_bytes()?.to_vec());
        writes.put(OFFERS, LAST_RESORT, package.to_vec());
        packages.last_resort = Some(package);
    }
    // The private halves first: nobody is invited by a package that cannot be used.
    shared.kept.apply(writes).await?;
    if packages.once.is_empty() && packages.last_resort.is_none() {
        return Ok(());
    }
    keys.publish(did, packages).await?;
    let mut writes = crate::store::Writes::default();
    for number in again.into_keys() {
        writes.delete(OFFERS, number);
    }
    writes.put("offered", 0, card.0.to_vec());
    shared.kept.apply(writes).await
}

/// Reads a page of the inbox, and keeps the invitations in it until something was done about them. Whether there may be another.
async fn read(shared: &Arc<Shared>) -> Result<bool> {
    let log = inbox_log(shared.did.as_str());
    let mut read = shared.kept.number("inbox", 0).await?.unwrap_or(0);
    let mut grown = [0; 2];
    for (place, grown) in (1..).zip(&mut grown) {
        *grown = shared.kept.number("inbox", place).await?.unwrap_or(0);
    }
    let page = shared.services.log.read(&log, read + 1, PAGE).await?;
    if page.records.is_empty() {
        // Invitations that wait are looked at all the same.
        if let Err(error) = let_go(shared, &log, grown).await {
            shared.note(&error);
        }
        return Ok(false);
    }
    let (mut writes, mut new) = (crate::store::Writes::default(), Vec::new());
    for record in page.records {
        read = record.place;
        grown[0] += 1;
        grown[1] += record.entry.content.len() as u64;
        if record.entry.kind != EntryKind::Application {
            continue;
        }
        let Ok(Frame::Invitation { snapshot, welcome }) = Frame::parse(&record.entry.content) else {
            continue;
        };
        match examine(shared, snapshot, welcome, read).await {
            Ok(invitation) => {
                writes.put(UNDECIDED, read, record.entry.content.to_vec());
                new.push(invitation);
            }
            Err(error) => shared.note(&error),
        }
    }
    if !new.is_empty() {
        // Whoever has a key package can write without end.
        let kept = shared.kept.row(UNDECIDED, 0, usize::MAX).await?;
        let too_many = (kept.len() + new.len()).saturating_sub(MOST_WAITING);
        kept.into_keys().take(too_many).for_each(|place| writes.delete(UNDECIDED, place));
    }
    for (place, number) in (0..).zip([read, grown[0], grown[1]]) {
        writes.put("inbox", place, number.to_be_bytes().to_vec());
    }
    shared.kept.apply(writes).await?;
    new.into_iter().filter(|invitation| !admits(shared, invitation)).for_each(|it| ask(shared, it));
    Ok(true)
}

/// What was read may be forgotten, once it is so many entries or so many bytes: nobody else reads this log, whose checkpoints say nothing but that.
async fn let_go(shared: &Shared, log: &ChannelId, [entries, bytes]: [u64; 2]) -> Result<()> {
    let options = &shared.options;
    if entries < options.checkpoint_entries.min(READ.0) && bytes < options.checkpoint_bytes.min(READ.1) {
        return Ok(());
    }
    let entry =
        Entry { id: EntryId(random()?), kind: EntryKind::Checkpoint, content: Bytes::from_static(&[1]) };
    shared.services.log.append(log, entry, 0).await?;
    let mut writes = crate::store::Writes::default();
    for place in [1, 2] {
        writes.delete("inbox", place);
    }
    shared.kept.apply(writes).await
}

/// Looks at invitations about which nothing was done. Those that the agent's own policy admits are accepted, until one cannot be: those that failed least
/// often come first. Those that wait for somebody are given to him the first time. Whether there are some that were never tried.
async fn consider(shared: &Arc<Shared>, first: bool, failed: &mut Failed) -> Result<bool> {
    if !first && shared.options.admit == Admit::Ask {
        return Ok(false);
    }
    let kept = shared.kept.row(UNDECIDED, 0, usize::MAX).await?;
    failed.retain(|place, _| kept.contains_key(place));
    let mut turns: Vec<_> =
        kept.into_iter().map(|(place, bytes)| (failed.get(&place).copied(), place, bytes)).collect();
    turns.sort_by_key(|(failed, place, _)| (failed.map_or(0, |(times, _)| times), *place));
    let now = Instant::now();
    let (mut tried, mut more) = (false, false);
    for (failure, place, bytes) in turns {
        let due = failure.is_none_or(|(_, again)| again <= now);
        more |= tried && failure.is_none();
        if !first && (tried || !due) {
            continue;
        }
        let examined = match Frame::parse(&Bytes::from_owner(bytes)) {
            Ok(Frame::Invitation { snapshot, welcome }) => examine(shared, snapshot, welcome, place).await,
            _ => Err(Refusal::new(Reason::Malformed, "the stored invitation is malformed").into()),
        };
        match examined {
            Ok(invitation) if !admits(shared, &invitation) => {
                if first {
                    ask(shared, invitation);
                }
            }
            Ok(_) if tried || !due => {}
            Ok(invitation) => {
                let times = failure.map_or(0, |(times, _)| times);
                if let Err(error) = accept_in(shared, invitation, patience_of(shared, times)).await {
                    shared.note(&error);
                    if !matches!(error, Error::Refused(_)) {
                        let again = Instant::now() + patience(shared.options.poll, times);
                        failed.insert(place, (times.saturating_add(1), again));
                        tried = true;
                    }
                }
            }
            Err(Error::Refused(_)) => forget(shared, place).await?,
            Err(error) => return Err(error),
        }
    }
    Ok(more)
}

/// Invitations that could not be accepted, by their places in the inbox: how often, and when that is tried again.
type Failed = BTreeMap<u64, (u32, Instant)>;

/// Something was done about an invitation.
pub(super) async fn forget(shared: &Shared, place: u64) -> Result<()> {
    let mut writes = crate::store::Writes::default();
    writes.delete(UNDECIDED, place);
    shared.kept.apply(writes).await
}

/// Opens a Welcome as far as its note.
async fn examine(shared: &Shared, snapshot: BlobId, welcome: Bytes, place: u64) -> Result<Invitation> {
    let (_, kept) = kept_for(shared, &welcome).await?;
    let examined = Member::examine(&shared.present().me, &shared.cards, &kept, &welcome)?;
    let note = Note::parse(&examined.note)
        .map_err(|_| Refusal::new(Reason::Malformed, "the Welcome lacks the channel's extension"))?;
    Ok(Invitation {
        channel: examined.channel,
        inviter: note.inviter.clone(),
        note: Arc::new(note),
        snapshot,
        welcome,
        leaf: examined.inviter,
        place,
    })
}

/// The private half that a Welcome is for, and its place among those that are kept.
async fn kept_for(shared: &Shared, welcome: &Bytes) -> Result<(u64, KeptKeyPackage)> {
    let references = welcome_references(welcome)?;
    for (package, bytes) in shared.kept.row("packages", 0, usize::MAX).await? {
        let kept = KeptKeyPackage::from_bytes(&bytes)?;
        if references.iter().any(|reference| reference == kept.reference()) {
            return Ok((package, kept));
        }
    }
    let what =
        "the Welcome is for a key package that is not stored here: it was used, or belongs to another agent";
    Err(Refusal::new(Reason::UnknownKeyPackage, what).into())
}

/// Whether the agent's own policy accepts it without asking.
fn admits(shared: &Shared, invitation: &Invitation) -> bool {
    match &shared.options.admit {
        Admit::Ask => false,
        Admit::From(dids) => dids.iter().any(|did| did.as_str() == invitation.inviter),
    }
}

/// Gives it to somebody who decides.
fn ask(shared: &Shared, invitation: Invitation) {
    let mut waiting = hold(&shared.waiting);
    if waiting.len() >= MOST_WAITING {
        waiting.remove(0);
    }
    waiting.push(invitation);
    drop(waiting);
    shared.news.notify_waiters();
}

/// Joins, if everything is as the invitation says. One that is not is forgotten; what failed otherwise can be tried again.
pub(super) async fn accept(shared: &Arc<Shared>, invitation: Invitation) -> Result<Channel> {
    accept_in(shared, invitation, patience_of(shared, MOST_DOUBLED)).await
}

/// How long what an invitation leads to may take that could not be fetched so often before.
fn patience_of(shared: &Shared, times: u32) -> Duration {
    shared.options.deadline * (PATIENCE << times.min(MOST_DOUBLED))
}

async fn accept_in(shared: &Arc<Shared>, invitation: Invitation, patience: Duration) -> Result<Channel> {
    let place = invitation.place;
    let accepted = join(shared, invitation, patience).await;
    if matches!(&accepted, Ok(_) | Err(Error::Refused(_))) {
        forget(shared, place).await?;
    }
    accepted
}

async fn join(shared: &Arc<Shared>, invitation: Invitation, patience: Duration) -> Result<Channel> {
    if let Some(channel) = still_in(shared, &invitation.channel).await? {
        return Ok(channel);
    }
    let fetched = tokio::time::timeout(patience, fetch(shared, &invitation)).await;
    let (snapshot, tree) = fetched.unwrap_or(Err(Error::Deadline(patience)))?;
    let _nobody_else = shared.joining.lock().await;
    if let Some(channel) = still_in(shared, &invitation.channel).await? {
        return Ok(channel);
    }
    // Not where it was when the Welcome was opened: another of last resort may have taken its place.
    let (package, kept) = kept_for(shared, &invitation.welcome).await?;
    let (me, now) = (&shared.present().me, shared.time());
    let member = Member::join(me, &shared.cards, &kept, &invitation.welcome, &tree, now)?;
    let inviter = member.members()?.into_iter().find(|member| member.leaf == invitation.leaf);
    let named = inviter.is_some_and(|inviter| inviter.did.as_str() == invitation.inviter);
    if !named || member.id() != invitation.channel {
        let what = format!("the Welcome names {} as its maker; another member made it", invitation.inviter);
        return Err(Refusal::new(Reason::OtherIdentity, what).into());
    }
    // By a key package of last resort a Welcome opens again and again: what it led to is remembered, which nobody can make another Welcome of.
    let (entered, state) = ("entered", blake3::hash(&member.authenticator()?));
    let before = shared.kept.row(entered, 0, usize::MAX).await?;
    if before.values().any(|before| before[..] == *state.as_bytes()) {
        let what = "the Welcome was used before";
        return Err(Refusal::new(Reason::Replayed, what).into());
    }
    let next = before.keys().next_back().map_or(0, |last| last + 1);
    let surface = invitation.note.surface_of(&member)?;
    let joined = member.epoch();
    let birth = Birth { member, surface, commit: snapshot.commit, joined };
    let channel = shared
        .bear(birth, |writes| {
            if kept.last_resort() {
                writes.put(entered, next, state.as_bytes().to_vec());
            } else {
                writes.delete("packages", package);
            }
        })
        .await?;
    Ok(channel)
}

/// The snapshot of an invitation and its tree, and the cards of the members, which are learnt.
async fn fetch(shared: &Shared, invitation: &Invitation) -> Result<(Snapshot, Bytes)> {
    let surface: &Surface = &invitation.note.surface;
    let none = Default::default();
    let (snapshot, tree, _, cards) = load_snapshot(shared, surface, &invitation.snapshot, &none).await?;
    let missing: Vec<_> = cards.into_iter().filter(|place| !shared.knows(place)).collect();
    for learnt in fetch_cards(shared, &missing).await? {
        match learnt {
            // What is known already is not made worse by somebody who names another place.
            Err(Error::Cards(_)) => {}
            learnt => learnt?,
        }
    }
    Ok((snapshot, tree))
}

/// The channel, if this agent is in it. Who was removed while it was away finds that in the log, and then it is not.
async fn still_in(shared: &Shared, id: &ChannelId) -> Result<Option<Channel>> {
    let living = hold(&shared.living).get(id).map(|living| living.channel.clone());
    let Some(channel) = living else { return Ok(None) };
    match channel.catch_up().await {
        Ok(()) if !channel.status().over => return Ok(Some(channel)),
        Ok(()) | Err(Error::Over) => {}
        Err(error) => return Err(error),
    }
    loop {
        let news = shared.news.notified();
        tokio::pin!(news);
        news.as_mut().enable();
        if !hold(&shared.living).contains_key(id) {
            return Ok(None);
        }
        news.await;
    }
}
