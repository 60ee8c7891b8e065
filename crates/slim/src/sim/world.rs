//! Who comes, goes, commits and falls silent.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use gambeson_identity::{Agent, CardContent, CardLog, Did, Timestamp};
use gambeson_mls::{Preset, Suite};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep, sleep_until};

use super::held;
use super::report::{Report, Samples};
use super::whole::{Absence, Counted, Handle, Invitation, Order, Traffic, Whole, join, notices};
use super::{Options, Rhythm};
use crate::blobs::BlobId;
use crate::cards::Cards;
use crate::delivery::{Client, Patience, Rules, serve};
use crate::error::{Error, Result};
use crate::faults::Dice;
use crate::hold;
use crate::keys::{KeyPackages, Keys};
use crate::link::Link;
use crate::log::{Entry, EntryId, EntryKind, Log, Placed};
use crate::member::{Changes, KeptKeyPackage, MAX_CHANGES, Me, Member, leaf_role};
use crate::memory::{Hub, MemoryService};
use crate::name::{ChannelId, Name};
use crate::policy::{Policy, Role};

pub(super) const CHANNEL: ChannelId = ChannelId([0x51; 32]);

/// Where virtual time begins.
const BEGIN: Timestamp = Timestamp(1_795_330_800);

/// Who was away for longer finds its commits' chunks gone, and the cards of who has gone since. Longer than anyone is away.
const KEPT: Duration = Duration::from_secs(600);

fn service() -> Name {
    Name::new("sim", "channels", "delivery")
}

/// What all know of each other, by which nobody acts: samples, and whether they agree.
pub(super) struct Shared {
    pub(super) options: Options,
    pub(super) cards: Arc<Cards>,
    begin: Instant,
    /// Of each epoch its authenticator, and when it began.
    epochs: RefCell<HashMap<u64, (Vec<u8>, Instant)>>,
    samples: RefCell<Samples>,
    failures: RefCell<Vec<String>>,
    /// Chunks and when they were put last.
    chunks: RefCell<Chunks>,
    /// When it began by the clock on the wall.
    started: std::time::Instant,
}

/// When each was put last, and in which order.
type Chunks = (HashMap<BlobId, Instant>, VecDeque<(Instant, BlobId)>);

impl Shared {
    pub(super) fn now(&self) -> Timestamp {
        BEGIN.after(self.begin.elapsed().as_secs())
    }

    /// What a piece of work gives, and the milliseconds of processor time that it takes.
    pub(super) fn timed<T>(&self, work: impl FnOnce() -> T) -> (T, f64) {
        let clock = || rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        let before = clock();
        let done = work();
        let after = clock();
        #[expect(clippy::cast_precision_loss, reason = "milliseconds of work, not of years")]
        let millis =
            (after.tv_sec - before.tv_sec) as f64 * 1e3 + (after.tv_nsec - before.tv_nsec) as f64 / 1e6;
        (done, millis)
    }

    pub(super) fn note(&self, what: &str, value: f64) {
        self.samples.borrow_mut().note(what, value);
    }

    #[expect(clippy::cast_precision_loss, reason = "bytes of messages")]
    pub(super) fn note_bytes(&self, what: &str, bytes: usize) {
        self.note(what, bytes as f64);
    }

    pub(super) fn count(&self, what: &str) {
        self.samples.borrow_mut().count(what);
    }

    pub(super) fn fails(&self, why: String) {
        self.failures.borrow_mut().push(why);
    }

    pub(super) fn remember(&self, ids: &[BlobId]) {
        let (times, queue) = &mut *self.chunks.borrow_mut();
        for id in ids {
            times.insert(*id, Instant::now());
            queue.push_back((Instant::now(), *id));
        }
    }

    /// A member has begun an epoch: with the authenticator that all others have.
    pub(super) fn agree(&self, member: &Member, absence: Absence) -> Result<()> {
        let authenticator = member.authenticator()?.to_vec();
        let mut epochs = self.epochs.borrow_mut();
        match epochs.get(&member.epoch()) {
            None => drop(epochs.insert(member.epoch(), (authenticator, Instant::now()))),
            Some((known, _)) if *known != authenticator => {
                let did = member.me().did();
                return Err(Error::Simulation(format!("{did} disagrees in epoch {}", member.epoch())));
            }
            Some((_, since)) => {
                let here = matches!(absence, Absence::BackSince(back) if back <= *since);
                let what = if here { "agree, s" } else { "agree, who was away or joins, s" };
                self.note(what, since.elapsed().as_secs_f64());
                self.count("times that a member agreed");
            }
        }
        Ok(())
    }
}

/// An agent that is new, and its key package.
struct Newcomer {
    me: Me,
    package: bytes::Bytes,
    kept: KeptKeyPackage,
}

struct World {
    suite: &'static Suite,
    shared: Rc<Shared>,
    hub: Hub,
    dice: Dice,
    engine: Arc<MemoryService>,
    /// Who publishes key packages for all that come, over a link without faults.
    registry: Client,
    light: Vec<Did>,
    whole: Vec<Handle>,
    /// Who is removed lives until it has read so.
    leaving: Vec<Handle>,
    /// Who was removed, and when.
    gone: VecDeque<(Instant, Did)>,
    moderators: Vec<Did>,
    traffic: Arc<Traffic>,
    links: u64,
}

/// Moderators among whole members.
fn moderators(full: usize) -> usize {
    (full / 4).max(2)
}

pub(super) async fn run(
    options: Options,
    suite: &'static Suite,
    tell: &mut dyn FnMut(&str),
) -> Result<Report> {
    let shared = Rc::new(Shared {
        cards: Arc::new(Cards::new(options.members * 4 + 10_000)),
        begin: Instant::now(),
        epochs: RefCell::default(),
        samples: RefCell::default(),
        failures: RefCell::default(),
        chunks: RefCell::default(),
        started: std::time::Instant::now(),
        options,
    });
    let engine = Arc::new(MemoryService::new());
    let hub = Hub::new();
    let rules = Rules { at_once: 512, of_one: 64, ..Rules::default() };
    let server = serve(hub.link(), service(), engine.clone(), rules).await?;
    let registry = Client::new(hub.link(), service(), Patience::default()).await?;
    let mut world = World {
        dice: Dice::new(shared.options.seed, "world"),
        suite,
        shared,
        hub,
        engine,
        registry,
        light: Vec::new(),
        whole: Vec::new(),
        leaving: Vec::new(),
        gone: VecDeque::new(),
        moderators: Vec::new(),
        traffic: Arc::default(),
        links: 0,
    };
    world.begin(tell).await?;
    let report = world.go_on(tell).await?;
    server.stop().await;
    Ok(report)
}

impl World {
    fn newcomer(&self) -> Result<Newcomer> {
        let agent = Arc::new(Agent::generate().map_err(simulation)?);
        let groups = leaf_role(self.suite).into_iter().collect();
        let content = CardContent { groups, ..CardContent::default() };
        let card = agent.first_card(BEGIN, BEGIN.after(30 * 86_400), &content).map_err(simulation)?;
        let log = CardLog::new(card).map_err(simulation)?;
        self.shared.cards.add(log.clone())?;
        let me = Me::new(agent, &log, Preset::All)?;
        let (package, kept) = me.key_package(self.suite, false, self.shared.now())?;
        self.shared.note_bytes("key package, bytes", package.len());
        Ok(Newcomer { me, package, kept })
    }

    /// A faulty link.
    async fn link(&mut self) -> Counted {
        self.links += 1;
        let seed = self.shared.options.seed.wrapping_mul(1 << 20).wrapping_add(self.links);
        Counted::new(self.hub.link(), seed, self.shared.options.faults, &self.traffic)
    }

    async fn client(&mut self) -> Result<(Client, Counted)> {
        let link = self.link().await;
        let patience = Patience { deadline: Duration::from_secs(30), repeat: Duration::from_millis(400) };
        Ok((Client::new(link.clone(), service(), patience).await?, link))
    }

    /// Begins the life of a whole member that has read up to this place.
    async fn enter(&mut self, member: Member, client: (Client, Counted), place: u64) -> Result<()> {
        let link = self.link().await;
        link.subscribe(&notices().with_instance(u128::from(self.links))).await?;
        let (orders, receiver) = mpsc::unbounded_channel();
        let absence = Arc::new(Mutex::new(Absence::BackSince(Instant::now())));
        let did = member.me().did().clone();
        let links = [client.1, link.clone()];
        self.whole.push(Handle { did, orders, links, absence: Arc::clone(&absence) });
        let whole = Whole {
            shared: Rc::clone(&self.shared),
            member,
            client: client.0,
            link,
            orders: receiver,
            dice: Dice::new(self.dice.bits(), "whole member"),
            absence,
            place,
            newest: place,
        };
        tokio::task::spawn_local(whole.live());
        Ok(())
    }

    /// The channel with all its members: added a thousand at a time, the whole ones among the last.
    async fn begin(&mut self, tell: &mut dyn FnMut(&str)) -> Result<()> {
        let (n, full) = (self.shared.options.members, self.shared.options.full);
        let first = self.newcomer()?;
        let mut wholes = (1..full).map(|_| self.newcomer()).collect::<Result<Vec<_>>>()?;
        let leading = moderators(full);
        let owner = first.me.did().clone();
        let mut policy = Policy::new(CHANNEL, owner.clone(), BEGIN);
        for newcomer in &wholes[..leading - 1] {
            policy.roles.insert(newcomer.me.did().clone(), Role::Moderator);
            self.moderators.push(newcomer.me.did().clone());
        }
        self.moderators.push(owner);
        let signed = policy.sign(first.me.agent())?;
        let mut member =
            Member::create(&first.me, &self.shared.cards, signed, self.suite, self.shared.now())?;
        let (mut place, mut left) = (0, n - full);
        loop {
            let last = left + wholes.len() <= MAX_CHANGES;
            let light = if last { left } else { left.min(MAX_CHANGES) };
            left -= light;
            let mut add = Vec::with_capacity(light + full);
            for _ in 0..light {
                let newcomer = self.newcomer()?;
                self.light.push(newcomer.me.did().clone());
                add.push(newcomer.package);
            }
            if last {
                for newcomer in &wholes {
                    add.insert(self.dice.below(add.len() + 1), newcomer.package.clone());
                }
            }
            let count = add.len();
            let changes = Changes { add, ..Changes::default() };
            let (made, cpu) = self.shared.timed(|| member.commit(changes, self.shared.now()));
            let pending = made?;
            self.shared.note("add everyone at the beginning, a thousand at a time: CPU ms a member", {
                #[expect(clippy::cast_precision_loss, reason = "at most a thousand")]
                let each = cpu / count.max(1) as f64;
                each
            });
            // Nobody but the first has to read these: they stand as a place in the log.
            let entry = Entry {
                id: EntryId(self.dice.bytes()),
                kind: EntryKind::Commit,
                content: bytes::Bytes::from_static(b"the beginning"),
            };
            let Placed::At(stands) = self.engine.append(&CHANNEL, entry, place).await? else {
                return Err(Error::Simulation("somebody else is in the log".into()));
            };
            place = stands;
            member.confirm()?;
            tell(&format!("{} of {n} members", n - left - if last { 0 } else { full - 1 }));
            if last {
                self.shared.agree(&member, Absence::Away)?;
                let tree = pending.tree.unwrap_or_default();
                self.shared.note_bytes("tree, bytes", tree.len());
                for newcomer in wholes.drain(..) {
                    let welcome = pending.welcomes.iter().find(|(did, _)| did == newcomer.me.did());
                    let (_, welcome) = welcome.ok_or_else(|| Error::Simulation("no Welcome".into()))?;
                    let (me, kept) = (&newcomer.me, &newcomer.kept);
                    let joined = self.shared.timed(|| {
                        Member::join(me, &self.shared.cards, kept, welcome, &tree, self.shared.now())
                    });
                    self.shared.note("join, CPU ms", joined.1);
                    let joined = joined.0?;
                    self.shared.agree(&joined, Absence::Away)?;
                    let client = self.client().await?;
                    self.enter(joined, client, place).await?;
                }
                let client = self.client().await?;
                return self.enter(member, client, place).await;
            }
        }
    }

    /// The virtual minutes.
    async fn go_on(&mut self, tell: &mut dyn FnMut(&str)) -> Result<Report> {
        let options = self.shared.options.clone();
        let begin = Instant::now();
        let end = begin + Duration::from_secs(60 * options.minutes);
        let (mut tick, mut minute, mut due) = (begin + options.gather, 0, 0.0);
        let mut resident = BTreeMap::new();
        let mut absences: Vec<(Instant, Handle)> = Vec::new();
        while tick <= end {
            sleep_until(tick).await;
            absences.retain(|(until, handle)| {
                let over = *until <= tick;
                if over {
                    handle.come_back();
                }
                !over
            });
            #[expect(clippy::cast_precision_loss, reason = "members")]
            let in_a_minute = options.churn * options.members as f64;
            let rhythm = match options.rhythm {
                Rhythm::Steady => 1.0,
                Rhythm::Bursts if minute % 10 == 0 => 10.0,
                Rhythm::Bursts => 0.0,
            };
            due += in_a_minute * rhythm * options.gather.as_secs_f64() / 60.0;
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below a thousand")]
            let count = due.floor().min(MAX_CHANGES as f64 / 2.0) as usize;
            #[expect(clippy::cast_precision_loss, reason = "below a thousand")]
            let done = count as f64;
            due -= done;
            self.change(count).await?;
            self.send_away(&mut absences, tick);
            if let Some(why) = self.shared.failures.borrow().first() {
                return Err(Error::Simulation(why.clone()));
            }
            if (tick - begin).as_secs() / 60 > minute {
                minute = (tick - begin).as_secs() / 60;
                held::give_back();
                let resident_now = held::resident();
                resident.insert(minute, resident_now);
                self.forget().await?;
                // Their groups are large; a minute is enough to read that they are removed.
                self.leaving.retain(|handle| !handle.orders.is_closed());
                let epoch = self.shared.epochs.borrow().keys().max().copied().unwrap_or_default();
                tell(&format!(
                    "minute {minute}: epoch {epoch}, {} away, {} MB",
                    absences.len(),
                    resident_now >> 20
                ));
            }
            tick += options.gather;
        }
        absences.iter().for_each(|(_, handle)| handle.come_back());
        let settled = self.settle().await?;
        Ok(self.report(resident, settled))
    }

    /// So many leave and as many come, in one commit by one of those who may; now and then another commits at the same time.
    async fn change(&mut self, count: usize) -> Result<()> {
        let mut remove = Vec::with_capacity(count);
        let mut add = Vec::with_capacity(count);
        let mut joining = None;
        for turn in 0..count {
            // Whole members come and go too, more often than their share is: that is what they are for.
            let plain = if self.dice.falls(0.2) { self.plain() } else { Vec::new() };
            let goes = plain.get(self.dice.below(plain.len())).copied();
            match goes {
                Some(at) if turn == 0 => {
                    let leaving = self.whole.swap_remove(at);
                    remove.push(leaving.did.clone());
                    self.leaving.push(leaving);
                    joining = Some(self.newcomer()?);
                }
                _ if self.light.is_empty() => {}
                _ => {
                    let at = self.dice.below(self.light.len());
                    remove.push(self.light.swap_remove(at));
                }
            }
        }
        for turn in 0..remove.len() {
            let newcomer = match (&joining, turn) {
                (Some(whole), 0) => (whole.me.did().clone(), whole.package.clone()),
                _ => {
                    let newcomer = self.newcomer()?;
                    self.light.push(newcomer.me.did().clone());
                    (newcomer.me.did().clone(), newcomer.package)
                }
            };
            let packages = KeyPackages { once: vec![newcomer.1], last_resort: None };
            self.registry.publish(&newcomer.0.to_string(), packages).await?;
            add.push(newcomer.0);
        }
        let begun = Instant::now();
        self.gone.extend(remove.iter().map(|did| (begun, did.clone())));
        let who = self.dice.below(self.moderators.len());
        let welcome: Vec<Did> = joining.iter().map(|newcomer| newcomer.me.did().clone()).collect();
        let answer = self.order(who, add, remove, welcome)?;
        let other = self.dice.falls(0.1).then(|| (who + 1) % self.moderators.len());
        let other = other.map(|other| self.order(other, Vec::new(), Vec::new(), Vec::new())).transpose()?;
        let invitation = self.answered(answer).await?;
        if let Some(other) = other {
            self.answered(other).await?;
        }
        let Some(newcomer) = joining else { return Ok(()) };
        let client = self.client().await?;
        let member = join(&self.shared, &client.0, &newcomer.me, &newcomer.kept, &invitation).await?;
        self.shared.agree(&member, Absence::Away)?;
        self.enter(member, client, invitation.place).await?;
        self.shared.note("join: from the order to the group, s", begun.elapsed().as_secs_f64());
        Ok(())
    }

    /// The whole members that are no moderators and hear.
    fn plain(&self) -> Vec<usize> {
        (0..self.whole.len())
            .filter(|at| !self.moderators.contains(&self.whole[*at].did))
            .filter(|at| *hold(&self.whole[*at].absence) != Absence::Away)
            .collect()
    }

    fn order(
        &self,
        who: usize,
        add: Vec<Did>,
        remove: Vec<Did>,
        welcome: Vec<Did>,
    ) -> Result<oneshot::Receiver<Invitation>> {
        let handle = self.whole.iter().find(|handle| handle.did == self.moderators[who]);
        let handle = handle.ok_or_else(|| Error::Simulation("a moderator is gone".into()))?;
        let (done, answer) = oneshot::channel();
        let _ = handle.orders.send(Order::Commit { add, remove, welcome, done });
        Ok(answer)
    }

    async fn answered<T>(&self, answer: oneshot::Receiver<T>) -> Result<T> {
        answer.await.map_err(|_| {
            let why = self.shared.failures.borrow().first().cloned();
            Error::Simulation(why.unwrap_or_else(|| "a member has ended".into()))
        })
    }

    fn send_away(&mut self, absences: &mut Vec<(Instant, Handle)>, now: Instant) {
        let minutes = self.shared.options.gather.as_secs_f64() / 60.0;
        let (partition, away) = (self.shared.options.partition * minutes, self.shared.options.away * minutes);
        let mut there = self.plain();
        if there.len() > 1 && self.dice.falls(partition) {
            let until = now + self.dice.between(Duration::from_secs(60), Duration::from_secs(180));
            for at in there.drain(..).step_by(2) {
                let handle = self.whole[at].clone();
                handle.part();
                absences.push((until, handle));
            }
            self.shared.count("partitions");
        }
        for at in there {
            if self.dice.falls(away) {
                let handle = self.whole[at].clone();
                handle.silence();
                let time = self.dice.between(Duration::from_secs(60), Duration::from_secs(360));
                absences.push((now + time, handle));
                self.shared.count("absences");
            }
        }
    }

    /// Forgets chunks, entries and cards that nobody needs any more.
    async fn forget(&mut self) -> Result<()> {
        let old = self.gone.iter().take_while(|(at, _)| at.elapsed() > KEPT).count();
        self.gone.drain(..old).for_each(|(_, did)| self.shared.cards.forget(&did));
        let old: Vec<BlobId> = {
            let (times, queue) = &mut *self.shared.chunks.borrow_mut();
            let mut old = Vec::new();
            while queue.front().is_some_and(|(at, _)| at.elapsed() > KEPT) {
                if let Some((at, id)) = queue.pop_front()
                    && times.get(&id) == Some(&at)
                {
                    times.remove(&id);
                    old.push(id);
                }
            }
            old
        };
        self.engine.forget(&old);
        let page = self.engine.read(&CHANNEL, 1, usize::MAX).await?;
        let before = page.head.last.saturating_sub(2_000);
        self.engine.prune(&CHANNEL, before).await
    }

    /// Everyone reads what there is, and is in one epoch; how many they are.
    async fn settle(&self) -> Result<usize> {
        sleep(Duration::from_secs(60)).await;
        let mut epochs = Vec::new();
        for handle in &self.whole {
            let (done, answer) = oneshot::channel();
            let _ = handle.orders.send(Order::Settle(done));
            epochs.push(self.answered(answer).await?);
        }
        match self.shared.failures.borrow().first() {
            Some(why) => Err(Error::Simulation(why.clone())),
            None if epochs.windows(2).any(|two| two[0] != two[1]) => {
                Err(Error::Simulation(format!("at the end members are in epochs {epochs:?}")))
            }
            None => Ok(epochs.len()),
        }
    }

    fn report(&self, resident: BTreeMap<u64, u64>, settled: usize) -> Report {
        let read =
            |counter: &std::sync::atomic::AtomicU64| counter.load(std::sync::atomic::Ordering::Relaxed);
        Report::new(
            &self.shared.options,
            self.suite,
            std::mem::take(&mut self.shared.samples.borrow_mut()),
            [read(&self.traffic.bytes_in), read(&self.traffic.bytes_out)],
            resident,
            settled,
            self.shared.started.elapsed(),
        )
    }
}

fn simulation(error: impl std::fmt::Display) -> Error {
    Error::Simulation(error.to_string())
}
