//! One agent on one link: its inbox, and its channels.
//!
//! * `cards`: the agent's own cards, and those that it knows of others
//! * `invite`: invitations, and key packages
//! * `options`: how it behaves, and what it stands on

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use gambeson_identity::{CardLog, Did, Timestamp};
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::task::{AbortHandle, JoinHandle, JoinSet};

use crate::archive::{Surface, random};
use crate::cards::Cards;
use crate::channel::{Channel, Inner, Reading, row};
use crate::content::CardPlace;
use crate::credential::CardHash;
use crate::error::{Error, Result};
use crate::frame::Frame;
use crate::hold;
use crate::life::{Birth, Inward, Life, routing_secret};
use crate::link::{Link, To};
use crate::member::{Me, Member};
use crate::name::{ChannelId, Name};
use crate::policy::{Policy, SignedPolicy};
use crate::refusal::{Reason, Refusal};
use crate::store::{Sealed, Store};

mod cards;
mod invite;
mod options;

pub(crate) use cards::Present;
pub use invite::Invitation;
pub use options::{Admit, Clock, Options, Services, SystemClock, VirtualClock};

/// How many frames wait for a channel, or for the link.
const MOST_WAITING: usize = 4_096;

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
    /// When cards were put, or found, where others find them, by whose they are, in the clock's milliseconds.
    put: Mutex<HashMap<String, (CardPlace, u64)>>,
    living: Mutex<HashMap<ChannelId, Living>>,
    /// The node is gone: no life begins any more. Set and looked at while `living` is held.
    closed: AtomicBool,
    /// Which channel a name is of, and whether it is the one that the channel has now.
    routes: Mutex<HashMap<Name, (ChannelId, bool)>>,
    /// A subscription did not get to the link: it is asked for again.
    deaf: AtomicBool,
    reports: Mutex<Vec<(Option<ChannelId>, String)>>,
    waiting: Mutex<Vec<Invitation>>,
    /// Held by who joins: nobody joins twice.
    joining: tokio::sync::Mutex<()>,
    news: Notify,
    inbox: Notify,
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
    accepting: Mutex<JoinSet<()>>,
}

impl fmt::Debug for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Node").field(&self.shared.did).finish()
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
        hold(&self.accepting).abort_all();
        let mut all = hold(&self.shared.living);
        // What is at work on another thread ends only where it waits next: a life that it began would hold the store for ever.
        self.shared.closed.store(true, Ordering::Relaxed);
        for (_, living) in all.drain() {
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
            put: Mutex::default(),
            cards,
            services,
            kept,
            options,
            instance: u128::from_be_bytes(random()?),
            out,
            living: Mutex::default(),
            closed: AtomicBool::new(false),
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
        let mut node = Self { shared, tasks, accepting: Mutex::default() };
        for id in node.shared.kept.row("channels", 0, usize::MAX).await?.into_values() {
            let id = ChannelId(id[..].try_into().map_err(|_| Error::BadStore)?);
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
            return Err(Refusal::new(Reason::OtherIdentity, "the node belongs to another agent").into());
        }
        let has = |card: &CardHash| log.cards().iter().any(|other| CardHash::of(other) == *card);
        if me.credential().card != CardHash::of(log.newest()) || !has(&before.me.credential().card) {
            let what = "the card log does not connect the node's card with the agent's";
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
        let surface = Surface::new(routing_secret(&member)?)?;
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
        let (answer, accepted) = oneshot::channel();
        {
            let mut accepting = hold(&self.accepting);
            while accepting.try_join_next().is_some() {}
            // What was begun is finished while the node is there, though nobody waits for it any more.
            accepting.spawn(async move { drop(answer.send(invite::accept(&shared, invitation).await)) });
        }
        accepted.await.map_err(|_| Error::WorkLost)?
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
        let next = self.kept.number(&row(id, "cursor"), 0).await?.unwrap_or(1);
        let (commands, asked) = mpsc::channel(64);
        let (words, said) = mpsc::channel(64);
        let (frames, arrived) = mpsc::channel(MOST_WAITING);
        let reading = Reading { next, written: next, ..Reading::default() };
        let channel = Channel {
            inner: Arc::new(Inner {
                id,
                did: self.did.as_str().to_owned(),
                commands,
                words,
                status,
                kept: self.kept.clone(),
                news: life.news(),
                reading: tokio::sync::Mutex::new(reading),
            }),
        };
        let (route, overrun) = (life.route(), life.overrun());
        for former in life.former_names() {
            hold(&self.routes).insert(former.clone(), (id, false));
            self.order_out(Outward::Subscribe(former));
        }
        hold(&self.routes).insert(route.clone(), (id, true));
        self.order_out(Outward::Subscribe(route));
        {
            let mut all = hold(&self.living);
            if self.closed.load(Ordering::Relaxed) {
                return Err(Error::WorkLost);
            }
            let task = tokio::spawn(life.run(asked, said, arrived)).abort_handle();
            all.insert(id, Living { channel: channel.clone(), frames, overrun, task });
        }
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
        routes.insert(to.clone(), (id, true));
        drop(routes);
        self.order_out(Outward::Subscribe(to));
        self.order_out(Outward::Unsubscribe(from.clone()));
    }

    /// The same, and the name before it is still listened on, for forks.
    pub(crate) fn move_on(&self, id: ChannelId, from: Name, to: Name) {
        let mut routes = hold(&self.routes);
        routes.insert(from, (id, false));
        routes.insert(to.clone(), (id, true));
        drop(routes);
        self.order_out(Outward::Subscribe(to));
    }

    /// No channel is on this name any more.
    pub(crate) fn stop_listening(&self, name: Name) {
        hold(&self.routes).remove(&name);
        self.order_out(Outward::Unsubscribe(name));
    }

    /// A channel is over.
    pub(crate) fn forget(&self, id: ChannelId) {
        hold(&self.living).remove(&id);
        let mut names = Vec::new();
        hold(&self.routes).retain(|name, (of, _)| {
            let other = *of != id;
            if !other {
                names.push(name.clone());
            }
            other
        });
        names.into_iter().for_each(|name| self.order_out(Outward::Unsubscribe(name)));
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
    let mut kept = VecDeque::new();
    loop {
        let next = match kept.pop_front() {
            Some(next) => next,
            None => match outward.recv().await {
                Some(next) => next,
                None => return,
            },
        };
        let (subscribes, publishes) =
            (matches!(next, Outward::Subscribe(_)), matches!(next, Outward::Publish(..)));
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
            Err(_) if publishes => {
                shared.tell_all(|| Inward::Blocked);
                // Frames that waited behind it would come late, one after each deadline: the log has what they say.
                while let Ok(next) = outward.try_recv() {
                    match next {
                        Outward::Publish(..) => {}
                        Outward::Subscribe(_) if kept.len() >= MOST_WAITING => {
                            shared.deaf.store(true, Ordering::Relaxed);
                        }
                        next => kept.push_back(next),
                    }
                }
            }
            Err(_) => {}
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
        let route = hold(&shared.routes).get(&incoming.to).copied();
        if let (Some((id, present)), Frame::Entry { .. } | Frame::Head { .. } | Frame::View { .. }) =
            (route, &frame)
        {
            shared.inward(&id, if present { Inward::Frame(frame) } else { Inward::Former(frame) });
        }
    }
}
