//! One agent on one link: its inbox, and its channels.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use gambeson_identity::{CardLog, Did, Timestamp};
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{Notify, mpsc};
use tokio::task::{AbortHandle, JoinHandle};

use crate::archive::{Surface, random};
use crate::blobs::{BlobId, Blobs, MAX_BLOB};
use crate::cards::Cards;
use crate::channel::{Channel, Inner, Reading, row};
use crate::content::CardPlace;
use crate::credential::CardHash;
use crate::error::{Error, Result};
use crate::frame::Frame;
use crate::hold;
use crate::keys::Keys;
use crate::life::{Birth, Inward, Life};
use crate::link::{Link, To};
use crate::log::Log;
use crate::member::{Me, Member};
use crate::name::{ChannelId, Name};
use crate::policy::{Policy, SignedPolicy};
use crate::refusal::{Reason, Refusal};
use crate::store::{Sealed, Store};

mod invite;

pub use invite::Invitation;

/// How many frames wait for a channel, or for the link.
const MOST_WAITING: usize = 4_096;

/// What time it is: of the system, or of a test.
pub trait Clock: Send + Sync {
    /// Milliseconds since 1970.
    fn now(&self) -> u64;
}

/// The system's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> u64 {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        u64::try_from(now.as_millis()).unwrap_or(u64::MAX)
    }
}

/// The clock of tokio, which tests and the simulator let run ahead, from a time on.
#[derive(Clone, Copy, Debug)]
pub struct VirtualClock {
    begin: u64,
    since: tokio::time::Instant,
}

impl VirtualClock {
    /// A clock that shows this many milliseconds since 1970 now.
    #[must_use]
    pub fn from(begin: u64) -> Self {
        Self { begin, since: tokio::time::Instant::now() }
    }
}

impl Clock for VirtualClock {
    fn now(&self) -> u64 {
        self.begin + u64::try_from(self.since.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}

/// Whose invitations are accepted without asking.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Admit {
    /// Nobody's: [`Node::invitation`] gives them, and [`Node::accept`] takes them.
    #[default]
    Ask,
    /// Those of these DIDs.
    From(BTreeSet<Did>),
}

/// How an agent behaves in its channels.
#[derive(Clone)]
pub struct Options {
    /// Whose invitations are accepted without asking.
    pub admit: Admit,
    /// How long adds and removes are gathered for one commit.
    pub gather: Duration,
    /// How long messages are gathered for one message of MLS; nothing: each by itself. Agents that stream tokens take 20 to 50 ms.
    pub bundle: Duration,
    /// Whether a message waits for those that its sender had seen.
    pub causal: bool,
    /// How long receipts are gathered; 10 ms a member at least.
    pub receipt: Duration,
    /// After how long the log is looked into though nobody said that there is something.
    pub poll: Duration,
    /// After how long a missing message is looked for in the log.
    pub gap: Duration,
    /// After how long senders announce what the log has.
    pub announce: Duration,
    /// How long one call of the service may take.
    pub deadline: Duration,
    /// How long the link may take for a frame.
    pub publish: Duration,
    /// After how long a failed call is made again, the first time.
    pub retry: Duration,
    /// After how long a member that gives no receipts is reported.
    pub silence: Duration,
    /// How long a member has to bring a new card into its leaf, where that revokes the key of the leaf, before it is warned of and removed by those
    /// who may.
    pub renewal: Duration,
    /// How long a commit must be the newest before its checkpoint is made.
    pub checkpoint: Duration,
    /// After many were added at once, some members commit a path each, so far apart, and every commit after that is smaller; nothing: none do.
    pub warm_up: Duration,
    /// How long a member that leaves waits to be let go.
    pub leave: Duration,
    /// How often at most signed views of an epoch are shown.
    pub view: Duration,
    /// Whether a checkpoint prunes the log before it.
    pub prune: bool,
    /// How many occurrences a channel's history has.
    pub history: u64,
    /// How many key packages others are offered.
    pub key_packages: usize,
    /// The clock.
    pub clock: Arc<dyn Clock>,
}

impl Default for Options {
    fn default() -> Self {
        let (ms, s) = (Duration::from_millis, Duration::from_secs);
        Self {
            admit: Admit::Ask,
            gather: ms(100),
            bundle: Duration::ZERO,
            causal: false,
            receipt: s(1),
            poll: s(30),
            gap: ms(50),
            announce: ms(200),
            deadline: s(5),
            publish: s(2),
            retry: ms(250),
            silence: s(120),
            renewal: s(30),
            checkpoint: s(2),
            warm_up: ms(500),
            leave: s(30),
            view: s(10),
            prune: false,
            history: 100_000,
            key_packages: 20,
            clock: Arc::new(SystemClock),
        }
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("admit", &self.admit)
            .field("causal", &self.causal)
            .finish_non_exhaustive()
    }
}

/// The delivery service.
#[derive(Clone)]
pub struct Services {
    /// The order.
    pub log: Arc<dyn Log>,
    /// What is large.
    pub blobs: Arc<dyn Blobs>,
    /// Key packages.
    pub keys: Arc<dyn Keys>,
}

impl Services {
    /// One that is all three.
    pub fn of<S: Log + Blobs + Keys + 'static>(service: Arc<S>) -> Self {
        Self { log: service.clone(), blobs: service.clone(), keys: service }
    }
}

impl fmt::Debug for Services {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Services(..)")
    }
}

/// What the node's channels share.
pub(crate) struct Shared {
    pub(crate) did: Did,
    present: Mutex<Arc<Present>>,
    pub(crate) cards: Arc<Cards>,
    pub(crate) services: Services,
    pub(crate) kept: Sealed,
    pub(crate) options: Options,
    pub(crate) started: u64,
    instance: u128,
    out: mpsc::Sender<Outward>,
    places: Mutex<HashMap<String, CardPlace>>,
    living: Mutex<HashMap<ChannelId, Living>>,
    routes: Mutex<HashMap<Name, ChannelId>>,
    /// A subscription did not get to the link: it is asked for again.
    deaf: AtomicBool,
    reports: Mutex<Vec<(Option<ChannelId>, String)>>,
    waiting: Mutex<Vec<Invitation>>,
    /// Held by who joins: nobody joins twice.
    joining: tokio::sync::Mutex<()>,
    news: Notify,
    inbox: Notify,
}

/// The agent as its newest card has it.
pub(crate) struct Present {
    pub(crate) me: Me,
    /// Where others find its cards, once they were put there.
    pub(crate) card: CardPlace,
    text: String,
    put: AtomicBool,
}

impl Present {
    fn new(me: Me, log: &CardLog) -> Arc<Self> {
        let text = log.to_lines();
        Arc::new(Self { card: place_of(me.did(), &text), me, text, put: AtomicBool::new(false) })
    }
}

struct Living {
    channel: Channel,
    frames: mpsc::Sender<Inward>,
    overrun: Arc<AtomicBool>,
    task: AbortHandle,
}

enum Outward {
    Publish(Name, To, Bytes),
    Subscribe(Name),
    Unsubscribe(Name),
}

/// One agent on one link.
pub struct Node {
    shared: Arc<Shared>,
    tasks: Vec<JoinHandle<()>>,
}

impl fmt::Debug for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Node").field(&self.shared.did).finish()
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
        for (_, living) in hold(&self.shared.living).drain() {
            living.task.abort();
        }
    }
}

impl Node {
    /// Brings an agent to a link: its channels go on where they were, its inbox is listened to, its key packages are offered.
    ///
    /// `log` is the agent's own, with the card that lists its group keys; `cards` may know others, and learns.
    ///
    /// # Errors
    /// [`Error::Store`], [`Error::BadStore`] for what the store has and is not whole; the link does not answer. A channel that cannot go on is reported
    /// ([`Node::reports`]), and the others do.
    pub async fn open(
        me: Me,
        log: &CardLog,
        cards: Arc<Cards>,
        link: Arc<dyn Link>,
        services: Services,
        store: Arc<dyn Store>,
        options: Options,
    ) -> Result<Self> {
        let kept = Sealed::open(Arc::clone(me.agent()), store).await?;
        let present = Present::new(me, log);
        let card = present.card.clone();
        let (out, outward) = mpsc::channel(MOST_WAITING);
        let shared = Arc::new(Shared {
            did: present.me.did().clone(),
            present: Mutex::new(present),
            started: options.clock.now(),
            places: Mutex::new(HashMap::from([(card.did.clone(), card.clone())])),
            cards,
            services,
            kept,
            options,
            instance: u128::from_be_bytes(random()?),
            out,
            living: Mutex::default(),
            routes: Mutex::default(),
            deaf: AtomicBool::new(false),
            reports: Mutex::default(),
            waiting: Mutex::default(),
            joining: tokio::sync::Mutex::default(),
            news: Notify::new(),
            inbox: Notify::new(),
        });
        shared.add(log.clone(), &card)?;
        shared.restore_places().await?;
        link.subscribe(&inbox(shared.did.as_str()).with_instance(shared.instance)).await?;
        let tasks = vec![
            tokio::spawn(send(Arc::clone(&shared), Arc::clone(&link), outward)),
            tokio::spawn(receive(Arc::clone(&shared), Arc::clone(&link))),
            tokio::spawn(mend(Arc::clone(&shared), link)),
        ];
        let mut node = Self { shared, tasks };
        for id in node.shared.kept.row("channels", 0, usize::MAX).await?.into_values() {
            let id = ChannelId(id.try_into().map_err(|_| Error::BadStore)?);
            match Life::restore(Arc::clone(&node.shared), id).await {
                Ok(Some((life, status))) => drop(node.shared.live(life, status).await?),
                Ok(None) => {}
                // One channel that cannot go on, such as for a key that the new card does not list, keeps no other from it.
                Err(error @ Error::Refused(_)) => node.shared.report(id, &error),
                Err(error) => return Err(error),
            }
        }
        // Not before: whoever is invited anew to a channel is in it only once.
        node.tasks.push(tokio::spawn(invite::attend(Arc::clone(&node.shared))));
        Ok(node)
    }

    /// The agent, with the newest card that this node was given.
    #[must_use]
    pub fn me(&self) -> Me {
        self.shared.present().me.clone()
    }

    /// The agent's DID.
    #[must_use]
    pub fn did(&self) -> &Did {
        &self.shared.did
    }

    /// Follows the agent to a new card. When this returns, others find the card; then, and again whenever the node is opened with a card that is
    /// newer than a leaf, key packages under it take the place of those that were offered, and each channel's leaf gets it by a commit
    /// ([`Event::Rotated`](crate::Event::Rotated)).
    ///
    /// `log` is the agent's, and `me` made of it ([`Me::new`]). A card whose old group key is revoked leaves no time to be away for long: those who may remove
    /// the old leaf do so after [`Options::renewal`].
    ///
    /// # Errors
    /// [`Error::Refused`] with [`Reason::OtherIdentity`] for another agent, with [`Reason::StaleCard`] if the log does not go on from the card that the node
    /// has, or `me` is not of its newest; [`Error::Cards`]; what the service says: then nothing has changed.
    pub async fn renew(&self, me: Me, log: &CardLog) -> Result<()> {
        let (shared, before) = (&self.shared, self.shared.present());
        if *me.did() != shared.did || *log.did() != shared.did {
            return Err(Refusal::new(Reason::OtherIdentity, "a node stays that of one agent").into());
        }
        let has = |card: &CardHash| log.cards().iter().any(|other| CardHash::of(other) == *card);
        if me.credential().card != CardHash::of(log.newest()) || !has(&before.me.credential().card) {
            let what = "the log does not lead from the card that the node has to that of the agent";
            return Err(Refusal::new(Reason::StaleCard, what).into());
        }
        let present = Present::new(me, log);
        shared.put_present(&present).await?;
        shared.add(log.clone(), &present.card)?;
        *hold(&shared.present) = present;
        shared.inbox.notify_one();
        shared.tell_all(|| Inward::Renewed);
        Ok(())
    }

    /// The cards that are known here.
    #[must_use]
    pub fn cards(&self) -> &Arc<Cards> {
        &self.shared.cards
    }

    /// A policy for a new channel that this agent owns, to be changed and signed ([`Policy::sign`]).
    ///
    /// # Errors
    /// [`Error::NoRandomness`].
    pub fn policy(&self) -> Result<Policy> {
        Ok(Policy::new(ChannelId(random()?), self.shared.did.clone(), self.shared.time()))
    }

    /// Creates a channel, with this agent as its only member, in its most wanted suite.
    ///
    /// # Errors
    /// [`Error::Refused`] for a policy that is not the first of a channel, or not signed by this agent; [`Error::Store`].
    pub async fn create(&self, policy: SignedPolicy) -> Result<Channel> {
        let me = self.me();
        let suite = me.suites()[0];
        let member = Member::create(&me, &self.shared.cards, policy, suite, self.shared.time())?;
        let surface = Surface::new(random()?)?;
        self.shared.bear(Birth { member, surface, commit: 0, joined: 0 }, |_| {}).await
    }

    /// A channel that this agent is in.
    #[must_use]
    pub fn channel(&self, id: &ChannelId) -> Option<Channel> {
        hold(&self.shared.living).get(id).map(|living| living.channel.clone())
    }

    /// All channels that this agent is in.
    #[must_use]
    pub fn channels(&self) -> Vec<Channel> {
        hold(&self.shared.living).values().map(|living| living.channel.clone()).collect()
    }

    /// Waits until the agent is in a channel: one that its own policy accepted, or that was accepted elsewhere.
    pub async fn joined(&self, id: &ChannelId) -> Channel {
        loop {
            let news = self.shared.news.notified();
            tokio::pin!(news);
            news.as_mut().enable();
            match self.channel(id) {
                Some(channel) => return channel,
                None => news.await,
            }
        }
    }

    /// The next invitation that nobody decided on; each is given once, and again after a restart if nothing was done about it.
    pub async fn invitation(&self) -> Invitation {
        loop {
            let news = self.shared.news.notified();
            tokio::pin!(news);
            news.as_mut().enable();
            let first = {
                let mut waiting = hold(&self.shared.waiting);
                (!waiting.is_empty()).then(|| waiting.remove(0))
            };
            match first {
                Some(invitation) => return invitation,
                None => news.await,
            }
        }
    }

    /// Accepts an invitation.
    ///
    /// # Errors
    /// [`Error::Refused`] if it is not what it says, or its key package is used; what the service says.
    pub async fn accept(&self, invitation: Invitation) -> Result<Channel> {
        let shared = Arc::clone(&self.shared);
        // What was begun is finished, though nobody waits for it any more.
        let accepting = tokio::spawn(async move { invite::accept(&shared, invitation).await });
        accepting.await.map_err(|_| Error::WorkLost)?
    }

    /// Forgets an invitation that shall not be accepted. One that nobody decides on is given again when the node is opened the next time.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn decline(&self, invitation: Invitation) -> Result<()> {
        invite::forget(&self.shared, invitation.place()).await
    }

    /// What went wrong beside any call, since this was last asked: the channel, if it was in one, and a sentence.
    #[must_use]
    pub fn reports(&self) -> Vec<(Option<ChannelId>, String)> {
        std::mem::take(&mut *hold(&self.shared.reports))
    }

    /// Looks into the inbox now.
    pub fn look(&self) {
        self.shared.inbox.notify_one();
    }
}

/// Where the log of an agent's cards is found.
fn place_of(did: &Did, text: &str) -> CardPlace {
    let parts = text.as_bytes().chunks(MAX_BLOB).map(BlobId::of).collect();
    CardPlace { did: did.as_str().to_owned(), parts }
}

/// Where an agent's cards are in the row of cards.
fn card_number(did: &Did) -> u64 {
    let hash = blake3::hash(did.as_str().as_bytes());
    hash.as_bytes().first_chunk::<8>().map_or(0, |first| u64::from_be_bytes(*first))
}

/// The name of an agent's inbox.
pub(crate) fn inbox(did: &str) -> Name {
    Name::new("gambeson", "inboxes", &blake3::hash(did.as_bytes()).to_hex()[..32])
}

/// The log of an agent's inbox.
pub(crate) fn inbox_log(did: &str) -> ChannelId {
    ChannelId(blake3::derive_key("gambeson inbox log v1", did.as_bytes()))
}

impl Shared {
    /// The time, in the identity layer's seconds.
    pub(crate) fn time(&self) -> Timestamp {
        Timestamp(self.options.clock.now() / 1000)
    }

    /// Begins a new life, with writes of its own in the same batch.
    pub(crate) async fn bear(
        self: &Arc<Self>,
        birth: Birth,
        also: impl FnOnce(&mut crate::store::Writes) + Send,
    ) -> Result<Channel> {
        let (mut life, status) = Life::born(Arc::clone(self), birth);
        also(life.writes());
        life.keep_birth().await?;
        self.live(life, status).await
    }

    async fn live(
        self: &Arc<Self>,
        life: Life,
        status: tokio::sync::watch::Receiver<crate::channel::Status>,
    ) -> Result<Channel> {
        let id = life.id();
        let cursor = self.kept.value(&row(id, "cursor"), 0).await?;
        let next = cursor.and_then(|bytes| bytes.try_into().ok()).map_or(1, u64::from_be_bytes);
        let (commands, asked) = mpsc::channel(64);
        let (frames, arrived) = mpsc::channel(MOST_WAITING);
        let reading = Reading { next, written: next, ..Reading::default() };
        let channel = Channel {
            inner: Arc::new(Inner {
                id,
                did: self.did.as_str().to_owned(),
                commands,
                status,
                kept: self.kept.clone(),
                news: life.news(),
                reading: tokio::sync::Mutex::new(reading),
            }),
        };
        let (route, overrun) = (life.route(), life.overrun());
        hold(&self.routes).insert(route.clone(), id);
        self.order_out(Outward::Subscribe(route));
        let task = tokio::spawn(life.run(asked, arrived)).abort_handle();
        let living = Living { channel: channel.clone(), frames, overrun, task };
        hold(&self.living).insert(id, living);
        self.news.notify_waiters();
        Ok(channel)
    }

    fn order_out(&self, outward: Outward) {
        // Without room the frame is lost like any other on the link: the log has what it said.
        if let Err(TrySendError::Full(Outward::Subscribe(_))) = self.out.try_send(outward) {
            self.deaf.store(true, Ordering::Relaxed);
        }
    }

    /// Asks again for what should be subscribed to.
    fn listen_again(&self) {
        self.deaf.store(false, Ordering::Relaxed);
        let routes: Vec<Name> = hold(&self.routes).keys().cloned().collect();
        routes.into_iter().for_each(|route| self.order_out(Outward::Subscribe(route)));
    }

    /// The same, if a subscription did not get to the link.
    pub(crate) fn listen_if_deaf(&self) {
        if self.deaf.load(Ordering::Relaxed) {
            self.listen_again();
        }
    }

    pub(crate) fn publish(&self, name: Name, to: To, frame: &Frame) {
        match frame.to_bytes() {
            Ok(bytes) => self.publish_bytes(name, to, bytes),
            Err(error) => self.note(&error),
        }
    }

    pub(crate) fn publish_bytes(&self, name: Name, to: To, frame: Bytes) {
        self.order_out(Outward::Publish(name, to, frame));
    }

    /// A channel is on another name now.
    pub(crate) fn move_listener(&self, id: ChannelId, from: &Name, to: Name) {
        let mut routes = hold(&self.routes);
        routes.remove(from);
        routes.insert(to.clone(), id);
        drop(routes);
        self.order_out(Outward::Subscribe(to));
        self.order_out(Outward::Unsubscribe(from.clone()));
    }

    /// A channel is over.
    pub(crate) fn forget(&self, id: ChannelId, route: Name) {
        hold(&self.living).remove(&id);
        hold(&self.routes).remove(&route);
        self.order_out(Outward::Unsubscribe(route));
        self.news.notify_waiters();
    }

    pub(crate) fn report(&self, id: ChannelId, error: &Error) {
        self.write_report(Some(id), error);
    }

    pub(crate) fn note(&self, error: &Error) {
        self.write_report(None, error);
    }

    fn write_report(&self, id: Option<ChannelId>, error: &Error) {
        let mut reports = hold(&self.reports);
        if reports.len() >= 1_000 {
            reports.remove(0);
        }
        reports.push((id, error.to_string()));
    }

    /// Cards that were fetched and hold, and where they were.
    pub(crate) async fn learn(&self, log: CardLog, place: &CardPlace) -> Result<()> {
        if self.cards.is_full() && !self.cards.knows(log.did()) {
            self.forget_strangers().await?;
        }
        self.add(log, place)
    }

    fn add(&self, log: CardLog, place: &CardPlace) -> Result<()> {
        let (known, told) = (self.cards.log(log.did()), log.cards().len());
        let known = known.map_or(0, |known| known.cards().len());
        if known < told {
            self.cards.add(log)?;
        }
        // What is older leads nobody to the newest.
        if known <= told {
            self.remember(place);
        }
        Ok(())
    }

    /// Forgets the cards of all who are in no channel of this agent: whoever is in one can name as many as he likes.
    async fn forget_strangers(&self) -> Result<()> {
        let channels: Vec<Channel> =
            hold(&self.living).values().map(|living| living.channel.clone()).collect();
        let members: Vec<_> = channels.iter().map(|channel| channel.status().members).collect();
        // One that has only just begun does not say yet who is in it.
        if members.iter().any(Vec::is_empty) {
            return Ok(());
        }
        let mut known: HashSet<String> = members.into_iter().flatten().map(|member| member.did).collect();
        known.insert(self.did.as_str().to_owned());
        let mut writes = crate::store::Writes::default();
        for stranger in self.cards.dids().iter().filter(|did| !known.contains(did.as_str())) {
            self.cards.forget(stranger);
            hold(&self.places).remove(stranger.as_str());
            writes.delete("cards", card_number(stranger));
        }
        self.kept.apply(writes).await
    }

    pub(crate) fn remember(&self, place: &CardPlace) {
        hold(&self.places).insert(place.did.clone(), place.clone());
    }

    pub(crate) fn knows(&self, place: &CardPlace) -> bool {
        hold(&self.places).get(&place.did) == Some(place)
            && place.did.parse::<Did>().is_ok_and(|did| self.cards.knows(&did))
    }

    pub(crate) fn card_place(&self, did: &Did) -> Option<CardPlace> {
        hold(&self.places).get(did.as_str()).cloned()
    }

    /// Where others find what is known here of an agent's cards: it is put there, unless it came from there.
    pub(crate) async fn place(&self, did: &Did) -> Result<Option<CardPlace>> {
        let Some(log) = self.cards.log(did) else { return Ok(None) };
        let text = log.to_lines();
        let place = place_of(did, &text);
        if self.card_place(did).as_ref() != Some(&place) {
            self.put_card(&text).await?;
            self.remember(&place);
        }
        Ok(Some(place))
    }

    /// The agent as its newest card has it.
    pub(crate) fn present(&self) -> Arc<Present> {
        Arc::clone(&hold(&self.present))
    }

    /// Puts the agent's own cards where others find them, unless they are there.
    pub(crate) async fn put_present(&self, present: &Present) -> Result<()> {
        if !present.put.load(Ordering::Relaxed) {
            self.put_card(&present.text).await?;
            present.put.store(true, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Puts the log of an agent's cards where others find it.
    async fn put_card(&self, text: &str) -> Result<()> {
        for part in text.as_bytes().chunks(MAX_BLOB) {
            self.services.blobs.put(Bytes::copy_from_slice(part)).await?;
        }
        Ok(())
    }

    /// Looks for the cards of a DID where they were last.
    pub(crate) async fn find_card(&self, did: &Did) -> Result<()> {
        let place = self.card_place(did).ok_or_else(|| Error::NoCard(did.clone()))?;
        crate::life::fetch_card(self, &place).await
    }

    async fn restore_places(&self) -> Result<()> {
        for bytes in self.kept.row("cards", 0, usize::MAX).await?.into_values() {
            let mut fields = crate::wire::Reader::new(bytes.into());
            let place = CardPlace::read(&mut fields).map_err(|_| Error::BadStore)?;
            let log = CardLog::verify(&fields.rest()).map_err(Error::Cards)?;
            self.add(log, &place)?;
        }
        Ok(())
    }

    /// What is known of cards, for the store: without them nobody's messages can be judged after a restart.
    pub(crate) fn write_card(&self, did: &Did, writes: &mut crate::store::Writes) {
        let (Some(place), Some(log)) = (self.card_place(did), self.cards.log(did)) else { return };
        let bytes = place.write(crate::wire::Writer::default()).put(log.to_lines().as_bytes()).finish();
        writes.put("cards", card_number(did), bytes);
    }

    fn tell_all(&self, what: impl Fn() -> Inward) {
        let all: Vec<ChannelId> = hold(&self.living).keys().copied().collect();
        all.iter().for_each(|id| self.inward(id, what()));
    }

    fn inward(&self, id: &ChannelId, inward: Inward) {
        if let Some(living) = hold(&self.living).get(id)
            && living.frames.try_send(inward).is_err()
        {
            living.overrun.store(true, Ordering::Relaxed);
        }
    }
}

/// Gives the link what goes out; a link that blocks stops nobody who reads.
async fn send(shared: Arc<Shared>, link: Arc<dyn Link>, mut outward: mpsc::Receiver<Outward>) {
    while let Some(next) = outward.recv().await {
        let subscribes = matches!(next, Outward::Subscribe(_));
        let work = async {
            match next {
                Outward::Publish(name, to, frame) => link.publish(&name, to, frame).await,
                Outward::Subscribe(name) => link.subscribe(&name.with_instance(shared.instance)).await,
                Outward::Unsubscribe(name) => link.unsubscribe(&name.with_instance(shared.instance)).await,
            }
        };
        let done = tokio::time::timeout(shared.options.publish, work).await;
        if subscribes && !matches!(done, Ok(Ok(()))) {
            shared.deaf.store(true, Ordering::Relaxed);
        }
        match done {
            Ok(Ok(())) => {}
            Ok(Err(error)) => shared.note(&error),
            Err(_) => shared.tell_all(|| Inward::Blocked),
        }
    }
}

/// After a loss on the link everything is looked for in the logs, and what should be subscribed to is asked for again: a node that was
/// going away may have taken the subscription along.
async fn mend(shared: Arc<Shared>, link: Arc<dyn Link>) {
    loop {
        link.gap().await;
        shared.listen_again();
        shared.inbox.notify_one();
        shared.tell_all(|| Inward::Gap);
    }
}

/// Reads always: what finds no room in a channel's queue is dropped, and the channel looks into the log.
async fn receive(shared: Arc<Shared>, link: Arc<dyn Link>) {
    let mine = inbox(shared.did.as_str());
    loop {
        let incoming = match link.receive().await {
            Ok(incoming) => incoming,
            Err(error) => return shared.note(&error),
        };
        let Ok(frame) = Frame::parse(&incoming.frame) else { continue };
        if incoming.to == mine {
            match &frame {
                Frame::Invitation { .. } => shared.inbox.notify_one(),
                Frame::Ask { channel, .. } | Frame::Answer { channel, .. } => {
                    let channel = *channel;
                    shared.inward(&channel, Inward::Frame(frame));
                }
                _ => {}
            }
            continue;
        }
        let id = hold(&shared.routes).get(&incoming.to).copied();
        if let (Some(id), Frame::Entry { .. } | Frame::Head { .. } | Frame::View { .. }) = (id, &frame) {
            shared.inward(&id, Inward::Frame(frame));
        }
    }
}
