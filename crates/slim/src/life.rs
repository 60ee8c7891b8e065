//! The life of one channel at one member: one task that holds the MLS state, and does one thing after another.
//!
//! A turn of the task takes in what came, writes everything that changed in one batch, and only then lets anything out: answers, frames,
//! entries for the log. So what others have seen of this member is never forgotten, and what was not written never happened. What takes time
//! (the log, the blobs) is done by one [`Work`] at a time beside the task, which meanwhile goes on reading.
//!
//! # Layout
//!
//! | module | what is in it |
//! | --- | --- |
//! | `kept` | what is written, and how it is read again |
//! | `work` | what takes time |
//! | `receive` | frames, entries and messages that come in |
//! | `renewal` | new cards: of this agent, and of others |
//! | `speak` | messages that go out: bundles, receipts, complaints |
//! | `commit` | wishes gathered into commits; commits of the log |
//! | `back` | checkpoints, and coming back by an external commit |
//! | `fork` | signed views that differ, and what ends a fork |
//! | `warm` | paths after many were added at once |
//! | `room` | checkpoints by how much the log grew, and what is done where it has no room |

mod back;
mod commit;
mod fork;
mod kept;
mod receive;
mod renewal;
mod room;
mod speak;
mod warm;
mod work;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use gambeson_identity::Did;
use tokio::sync::{Notify, mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until};

use crate::archive::Surface;
use crate::channel::{Answer, Command, MemberStatus, Status};
use crate::content::{MessageId, Payload};
use crate::error::{Error, Result};
use crate::event::{Event, Occurrence, Warning};
use crate::frame::Frame;
use crate::link::To;
use crate::log::{EntryId, EntryKind, Record};
use crate::member::{Listed, Member};
use crate::name::{ChannelId, Name};
use crate::node::{Present, Shared};
use crate::order::Order;
use crate::store::Writes;

pub(crate) use commit::{Note, routing_secret};
pub(crate) use kept::{Birth, Outgoing, Pending, piece_at};
use work::Done;
pub(crate) use work::{fetch_cards, load_snapshot};

/// How many bundles may wait for the log before senders wait too.
const MOST_UNSENT: usize = 4_096;
/// How many frames are taken in before what they changed is written.
const FRAMES_A_TURN: usize = 64;
/// How often the log is looked into while the link blocks; less often where many do.
const WHILE_BLOCKED: Duration = Duration::from_secs(2);
/// How many entries are remembered that came by the link before the log was read up to them.
const MOST_SEEN: usize = 65_536;
/// How many frames of epochs to come wait for their commits, and how many bytes of them.
const MOST_AHEAD: (usize, usize) = (1_024, 16 << 20);
/// How many commits that may be away.
const EPOCHS_AHEAD: u64 = 16;
/// How many occurrences are looked at in one turn for whether they are too old.
const FORGOTTEN_AT_ONCE: usize = 1_024;
/// Of how many epochs the authenticators are kept.
const MOST_EPOCHS: usize = 256;

/// What a node tells one of its channels.
#[derive(Debug)]
pub(crate) enum Inward {
    /// A frame on the channel's name, or one that names the channel.
    Frame(Frame),
    /// A frame on a name that the channel had before a removal.
    Former(Frame),
    /// The link does not take frames in time.
    Blocked,
    /// The link has lost frames of others, and perhaps ours.
    Gap,
    /// The agent has a new card.
    Renewed,
}

pub(crate) struct Life {
    shared: Arc<Shared>,
    id: ChannelId,
    /// The agent as it stands in this channel, and whether the member follows it.
    present: Arc<Present>,
    followed: bool,
    member: Member,
    /// The members of the epoch, each with its tag.
    listed: Vec<([u8; 16], Listed)>,
    surface: Surface,
    order: Order,

    /// Up to where the log was read, and the newest commit in it.
    read: u64,
    commit: u64,
    /// Where the newest of this member's own entries stands, which others may have missed on the link.
    appended_to: u64,
    last: (u64, EntryId),
    /// The epoch in which this member saw everything for the first time, and in which its leaf came.
    joined: u64,
    /// The counter of the newest bundle, and the first of this epoch.
    counter: u64,
    since: u64,
    position: u64,
    oldest: u64,
    outbox: BTreeMap<u64, Outgoing>,
    /// What the log took further on than it was read, by place: if it stands behind too many commits there, it is said again.
    unread: BTreeMap<u64, (u64, Outgoing)>,
    pending: Option<Pending>,
    errands: BTreeMap<u64, (EntryId, String, Bytes)>,
    errand: u64,
    returning: Option<Box<Member>>,
    authenticators: BTreeMap<u64, [u8; 16]>,
    forked: bool,
    views: fork::Views,
    /// Whether the log had what was read last before, when it was read last, and when that was. What is pruned it has not.
    shown: Option<(bool, Instant)>,
    /// Members that asked to be let go.
    leaving: BTreeSet<Did>,
    /// A commit that this member could not use: the place, why, and whether others are known to have used it.
    stuck: Option<(u64, String, bool)>,
    complained: bool,
    /// What found no taker last lets what comes after it go first.
    failed: Option<Failed>,
    /// Part of the log was pruned before it was read: a commit that cannot be opened may be one that others could.
    unsure: bool,
    /// A commit of this epoch was passed over, which others may have taken.
    passed_over: bool,
    /// Whether the log has taken the pending commit, which will be met when it is read.
    placed: bool,
    /// Who went, and in which epoch: their last messages may still come.
    parted: Vec<(u64, String)>,

    seen: HashSet<blake3::Hash>,
    seen_order: VecDeque<blake3::Hash>,
    backlog: VecDeque<Record>,
    ahead: VecDeque<(EntryId, EntryKind, Bytes)>,
    draining: bool,
    wants_checkpoint: bool,
    /// The commit of which this member made a checkpoint last, and when.
    checkpointed: Option<(u64, Instant)>,
    room: room::Room,
    wishes: Vec<commit::Wish>,
    committing: Vec<commit::Wish>,
    welcomes: Vec<(String, Bytes)>,
    calls: commit::Calls,
    searches: u32,
    /// How often the blobs did not have a part of the commit that is read next.
    misses: u32,
    searched: Arc<Mutex<work::Searched>>,
    alone: bool,
    bundle: Vec<(Payload, Answer<MessageId>)>,
    leave: Option<Vec<Answer<()>>>,
    rejoin: Option<Vec<Answer<()>>>,
    /// How often who waits for it looked for a way back and found none.
    returns: u32,
    caught_up: Vec<(bool, Answer<()>)>,

    work: Option<JoinHandle<Done>>,
    timers: Timers,
    tries: u32,
    /// The log is known to go on behind what was read.
    behind: bool,
    /// It is looked into before anything is appended.
    looks_first: bool,
    overrun: Arc<AtomicBool>,
    /// Until when the link is taken for one that blocks: somebody on it does not read.
    blocked: Option<Instant>,

    receipts: HashMap<[u8; 16], Receipt>,
    /// What the last receipt said.
    told: BTreeMap<([u8; 16], u64), u64>,
    /// What of others the bundles of this member have named.
    caused: BTreeMap<([u8; 16], u64), u64>,
    spoken: VecDeque<(EntryId, EntryKind, Bytes)>,
    /// Whose cards were written since this life began, and up to which.
    written_cards: BTreeSet<(Did, u64)>,
    /// How many messages were sealed, and opened, since the state was written; what was said since the last rotation.
    sealed: u32,
    unwritten: u32,
    said_since_rotation: u32,
    /// When this member had new keys, in milliseconds since 1970.
    rotated: u64,
    /// How often cards had been renewed when leaves were last looked at, and whose should be there no longer.
    renewals: u64,
    outdated: BTreeMap<Did, Outdated>,

    writes: Writes,
    outward: Vec<(Name, Frame)>,
    answers: Vec<Box<dyn FnOnce() + Send>>,
    status: watch::Sender<Status>,
    tally: Status,
    news: Arc<Notify>,
    over: bool,
}

/// What a member has told of its own progress.
#[derive(Clone, Copy, Debug, Default)]
struct Receipt {
    /// How many of our bundles it has.
    ours: u64,
    heard: u64,
}

/// A leaf that its agent's newest card does not stand behind.
struct Outdated {
    since: Instant,
    told: bool,
    /// Whether its removal was wished for.
    wished: bool,
}

/// When something is due.
#[derive(Debug)]
struct Timers {
    gather: Option<Instant>,
    bundle: Option<Instant>,
    receipt: Option<Instant>,
    checkpoint: Option<Instant>,
    room: Option<Instant>,
    outdated: Option<Instant>,
    gap: Option<Instant>,
    blocked: Option<Instant>,
    retry: Option<Instant>,
    head: Option<Instant>,
    leave: Option<Instant>,
    view: Option<Instant>,
    asked: Option<Instant>,
    silence: Instant,
    poll: Instant,
    rotate: Option<Instant>,
    warm_up: Option<Instant>,
    forget: Option<Instant>,
}

impl Timers {
    fn all(&self) -> impl Iterator<Item = Instant> {
        let due = [
            self.gather,
            self.bundle,
            self.receipt,
            self.checkpoint,
            self.room,
            self.outdated,
            self.gap,
            self.blocked,
            self.retry,
            self.head,
            self.leave,
            self.rotate,
            self.warm_up,
            self.forget,
            Some(self.silence),
            Some(self.poll),
        ];
        due.into_iter().flatten()
    }
}

/// Whether a timer has come; it is unset then.
fn due(timer: &mut Option<Instant>) -> bool {
    let due = timer.is_some_and(|at| at <= Instant::now());
    if due {
        *timer = None;
    }
    due
}

/// What found no taker: neither a log nor an inbox that takes nothing keeps a commit back.
#[derive(Clone, Copy, PartialEq)]
enum Failed {
    Spoken,
    Errands,
}

/// Sets a timer unless it is set already.
fn by(timer: &mut Option<Instant>, time: Duration) {
    timer.get_or_insert_with(|| Instant::now() + time);
}

impl Drop for Life {
    fn drop(&mut self) {
        if let Some(work) = &self.work {
            work.abort();
        }
        // Who waits for news finds that none will come.
        self.news.notify_waiters();
    }
}

impl Life {
    /// Lives until the member is out, nobody holds the channel any more, or the store fails. What is to be said waits where much is
    /// unsent, and nothing else does.
    pub(crate) async fn run(
        mut self,
        mut commands: mpsc::Receiver<Command>,
        mut words: mpsc::Receiver<Command>,
        mut frames: mpsc::Receiver<Inward>,
    ) {
        if let Err(error) = self.live(&mut commands, &mut words, &mut frames).await {
            self.shared.report(self.id, &error);
        }
        self.shared.forget(self.id);
        drop((commands, words));
        self.news.notify_waiters();
    }

    async fn live(
        &mut self,
        commands: &mut mpsc::Receiver<Command>,
        words: &mut mpsc::Receiver<Command>,
        frames: &mut mpsc::Receiver<Inward>,
    ) -> Result<()> {
        loop {
            self.flush().await?;
            if self.over {
                return Ok(());
            }
            self.begin_work();
            let next = if self.draining { None } else { self.timers.all().min() };
            let wake = next.unwrap_or_else(Instant::now);
            // In a fork nothing is said, and what decides on it must be heard.
            let room = self.forked || self.outbox.len() < MOST_UNSENT;
            let turn = {
                let work = self.work.as_mut();
                tokio::select! {
                    done = async { match work { Some(work) => work.await, None => std::future::pending().await } } => Turn::Done(done),
                    frame = frames.recv() => Turn::Frame(frame),
                    command = commands.recv() => Turn::Command(command),
                    said = words.recv(), if room => Turn::Command(said),
                    () = sleep_until(wake) => Turn::Tick,
                }
            };
            match turn {
                Turn::Done(done) => {
                    self.work = None;
                    // A work that panicked is one that gave no answer.
                    self.finish(done.unwrap_or(Done::Failed(Error::WorkLost))).await?;
                }
                Turn::Frame(None) | Turn::Command(None) => return Ok(()),
                Turn::Frame(Some(first)) => {
                    self.inward(first)?;
                    for _ in 1..FRAMES_A_TURN {
                        let Ok(next) = frames.try_recv() else { break };
                        self.inward(next)?;
                    }
                    if self.overrun.swap(false, Ordering::Relaxed) {
                        self.behind = true;
                    }
                }
                Turn::Command(Some(command)) => self.command(command).await?,
                Turn::Tick => {}
            }
            self.tick().await?;
        }
    }

    /// What the application asks.
    async fn command(&mut self, command: Command) -> Result<()> {
        match command {
            Command::Send(purpose, bytes, answer) => self.say(purpose, bytes, answer),
            Command::Invite(_, _, answer) | Command::Rotate(answer) if self.forked => {
                self.answer(answer, Err(Error::Forked));
                Ok(())
            }
            Command::Invite(dids, delegation, answer) => {
                let delegation: Arc<[String]> = delegation.into();
                let add = |did| commit::Want::Add(did, Arc::clone(&delegation));
                self.wish(dids.into_iter().map(add).collect(), answer)
            }
            Command::Remove(dids, answer) => {
                self.wish(dids.into_iter().map(commit::Want::Remove).collect(), answer)
            }
            Command::Policy(policy, answer) => self.wish(vec![commit::Want::Policy(policy)], answer),
            Command::Rotate(answer) => self.wish(vec![commit::Want::Rotate], answer),
            Command::Leave(answer) => self.go(answer).await,
            Command::Rejoin(answer) => {
                if self.rejoin.is_none() {
                    self.returns = 0;
                }
                self.rejoin.get_or_insert_default().push(answer);
                (self.behind, self.shown) = (true, None);
                Ok(())
            }
            Command::CatchUp(answer) => {
                self.caught_up.push((false, answer));
                self.behind = true;
                Ok(())
            }
        }
    }

    /// What is due.
    async fn tick(&mut self) -> Result<()> {
        if self.over {
            return Ok(());
        }
        if due(&mut self.timers.bundle) {
            self.seal_bundle()?;
        }
        if due(&mut self.timers.receipt) {
            self.seal_receipt()?;
        }
        if due(&mut self.timers.gap) {
            self.behind = true;
        }
        if due(&mut self.timers.blocked) {
            self.behind = true;
        }
        if self.blocked.is_some_and(|until| Instant::now() < until) {
            let pause = WHILE_BLOCKED.max(self.receipt_time());
            by(&mut self.timers.blocked, pause);
        }
        if due(&mut self.timers.head) {
            let last = self.read.max(self.commit).max(self.appended_to);
            self.outward.push((self.surface.route(), Frame::Head { last }));
        }
        if due(&mut self.timers.leave) {
            let (members, epoch) = (vec![self.did().to_owned()], self.member.epoch());
            return self.end(Some(Event::Left { members, epoch })).await;
        }
        if due(&mut self.timers.rotate) {
            self.wish_to_rotate();
        }
        if due(&mut self.timers.warm_up) {
            self.commit_a_path();
        }
        self.follow_card();
        due(&mut self.timers.gather);
        due(&mut self.timers.view);
        self.wants_checkpoint |= due(&mut self.timers.checkpoint);
        if due(&mut self.timers.room) {
            self.want_room();
        }
        self.go_on()?;
        let now = Instant::now();
        let polled = self.timers.poll <= now;
        if polled {
            self.timers.poll = now + self.shared.options.poll;
            self.behind = true;
        }
        if due(&mut self.timers.forget) || polled {
            self.forget_what_is_old().await?;
        }
        if due(&mut self.timers.outdated) || polled || self.renewals != self.shared.cards.renewals() {
            self.look_for_outdated()?;
        }
        if self.timers.silence <= now {
            self.timers.silence = now + self.shared.options.silence;
            self.look_for_silence()?;
            if self.order.held() > 0 && !self.behind {
                // Causes that did not come in the whole of a round will not.
                let ready = self.order.give_up_causality();
                self.give(ready);
            }
            // What waited all through the time before will not be waited for any more, once the log was read again.
            self.behind |= self.order.grow_old();
        }
        Ok(())
    }

    /// Writes what changed, and then lets out what waits for that.
    async fn flush(&mut self) -> Result<()> {
        self.write_order();
        let writes = std::mem::take(&mut self.writes);
        let wrote = !writes.is_empty();
        self.shared.kept.apply(writes).await?;
        for (name, frame) in self.outward.drain(..) {
            self.shared.publish(name, To::All, &frame);
        }
        self.show_standing();
        // Who is answered finds the status that the answer is of.
        self.answers.drain(..).for_each(|answer| answer());
        if wrote {
            self.news.notify_waiters();
        }
        Ok(())
    }

    /// Answers once everything is written.
    fn answer<T: Send + 'static>(&mut self, answer: Answer<T>, with: Result<T>) {
        self.answers.push(Box::new(move || drop(answer.send(with))));
    }

    /// Tells the application, in the same batch as what led to it.
    fn tell(&mut self, event: Event) {
        if let Event::Fork(_) = event {
            self.forked = true;
        }
        let at = self.shared.options.clock.now();
        self.writes.put(&self.row("events"), self.position, event.to_bytes(at));
        self.position += 1;
        self.writes.put(&self.row("newest"), 0, self.position.to_be_bytes().to_vec());
        let most = self.shared.options.history;
        while self.position - self.oldest > most {
            self.writes.delete(&self.row("events"), self.oldest);
            self.oldest += 1;
        }
    }

    /// Takes out of the history what is older than the policy lets members keep.
    async fn forget_what_is_old(&mut self) -> Result<()> {
        let retention = self.member.policy().policy().retention.saturating_mul(1000);
        if retention == 0 {
            return Ok(());
        }
        let from = self.shared.options.clock.now().saturating_sub(retention);
        let row = self.row("events");
        let oldest = self.shared.kept.row(&row, self.oldest, FORGOTTEN_AT_ONCE).await?;
        let full = oldest.len() == FORGOTTEN_AT_ONCE;
        for (position, bytes) in oldest {
            if Occurrence::parse(position, Bytes::from_owner(bytes)).map_err(|_| Error::BadStore)?.at >= from
            {
                return Ok(());
            }
            self.writes.delete(&row, position);
            self.oldest = position + 1;
        }
        if full {
            by(&mut self.timers.forget, Duration::ZERO);
        }
        Ok(())
    }

    fn warn(&mut self, warning: Warning) {
        self.tell(Event::Warning(warning));
    }

    fn row(&self, what: &str) -> String {
        crate::channel::row(self.id, what)
    }

    fn did(&self) -> &str {
        self.shared.did.as_str()
    }

    /// The first 16 bytes of the epoch authenticator.
    fn authenticator(&self) -> [u8; 16] {
        self.authenticators.get(&self.member.epoch()).copied().unwrap_or_default()
    }

    /// Marks what an entry holds as seen, so that the log need not give it again. Its id says nothing: a node writes what it likes in
    /// front of what it hands on, and what stands in the log under that id would be passed over.
    fn see(&mut self, content: &[u8]) {
        let digest = blake3::hash(content);
        if self.seen.insert(digest) {
            self.seen_order.push_back(digest);
            if self.seen_order.len() > MOST_SEEN
                && let Some(oldest) = self.seen_order.pop_front()
            {
                self.seen.remove(&oldest);
            }
        }
    }

    fn has_seen(&self, content: &[u8]) -> bool {
        self.seen.contains(&blake3::hash(content))
    }

    /// Looks for members that have said nothing for long while others spoke.
    fn look_for_silence(&mut self) -> Result<()> {
        let silence = self.shared.options.silence.as_millis();
        let now = self.shared.options.clock.now();
        let silent: Vec<String> = self
            .standing()
            .members
            .into_iter()
            .filter(|member| {
                member.behind > 0
                    && member.did != self.did()
                    && u128::from(now.saturating_sub(member.heard.max(self.shared.started))) > silence
            })
            .map(|member| member.did)
            .collect();
        if silent.is_empty() {
            return Ok(());
        }
        self.warn(Warning::Silent { members: silent });
        self.show_view_to_silent()
    }

    fn standing_len(&self) -> usize {
        self.status.borrow().members.len().max(1)
    }

    pub(crate) fn id(&self) -> ChannelId {
        self.id
    }

    pub(crate) fn route(&self) -> Name {
        self.surface.route()
    }

    pub(crate) fn news(&self) -> Arc<Notify> {
        Arc::clone(&self.news)
    }

    pub(crate) fn overrun(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.overrun)
    }

    pub(crate) fn writes(&mut self) -> &mut Writes {
        &mut self.writes
    }

    /// Has everybody who asks see how the channel stands now.
    fn show_standing(&self) {
        let status = self.standing();
        self.status.send_if_modified(|before| {
            let changed = *before != status;
            *before = status;
            changed
        });
    }

    fn standing(&self) -> Status {
        let bridging = self.member.policy().policy().bridge;
        let members: Vec<MemberStatus> = self
            .listed
            .iter()
            .map(|(tag, member)| {
                let did = member.did.as_str().to_owned();
                let receipt = self.receipts.get(tag).copied().unwrap_or_default();
                let behind = if did == self.did() { 0 } else { self.counter.saturating_sub(receipt.ours) };
                let bridge = self.tally.bridges.get(&did).filter(|_| bridging).cloned();
                MemberStatus {
                    role: member.role.name().to_owned(),
                    behind,
                    heard: receipt.heard,
                    bridge,
                    did,
                }
            })
            .collect();
        Status {
            epoch: self.member.epoch(),
            authenticator: self.authenticator(),
            suite: self.member.suite().number(),
            policy: Some(self.member.policy().policy().clone()),
            read: self.read,
            commit: self.commit,
            unsent: self.outbox.len(),
            held: self.order.held(),
            forked: self.forked,
            bridging,
            bridges: members.iter().filter_map(|of| Some((of.did.clone(), of.bridge.clone()?))).collect(),
            members,
            over: self.over,
            ..self.tally.clone()
        }
    }
}

enum Turn {
    Done(std::result::Result<Done, tokio::task::JoinError>),
    Frame(Option<Inward>),
    Command(Option<Command>),
    Tick,
}
