//! A link over unmodified nodes of SLIM.
//!
//! It speaks the protocol of a node's data plane: gRPC over HTTP/2, below SLIM's sessions. A node delivers frames to names, and sees
//! names, sizes and times.
//!
//! ```no_run
//! # async fn example() -> gambeson_slim::Result<()> {
//! use gambeson_slim::{Link, Name, To, datapath::DatapathLink};
//!
//! let link = DatapathLink::connect(["http://127.0.0.1:46357"]).await?;
//! link.subscribe(&Name::new("acme", "channels", "plan").with_instance(7)).await?;
//! link.publish(&Name::new("acme", "agents", "bob"), To::All, b"hello"[..].into()).await?;
//! let arrived = link.receive().await?;
//! println!("{} bytes for {}", arrived.frame.len(), arrived.to);
//! # Ok(())
//! # }
//! ```
//!
//! # Layout
//!
//! * `options`: [`NodeOptions`], [`Credentials`]: endpoint, TLS, credentials
//! * `transport`: from an endpoint to an open stream of messages
//! * `proto`: messages and names on the wire
//! * `negotiation`, `mac`: the key of a connection, and the MAC of a message's header
//! * `session`: one connection to one node, from its opening to its end
//! * `queue`: frames that arrived and were not received yet
//! * this file: the link, which outlives its sessions
//!
//! # Flow control
//!
//! A node delivers to the listeners of a name one after the other, and waits for each: a listener that does not read stops all of them.
//! Therefore a link always reads, into a queue of [`QUEUE_FRAMES`] frames and [`QUEUE_BYTES`] bytes. It drops what does not fit, and
//! [`Link::gap`] reports that. A link never waits for a node longer than [`PUBLISH_DEADLINE`]. A foreign listener that does not read
//! also stops everything that follows on the same connection, other names and subscriptions included; so a link replaces a connection
//! on which nothing went for [`STUCK`].
//!
//! # Trust
//!
//! A node is not trusted: it can drop, delay, repeat and invent frames. Header MACs protect the routing header between link and node;
//! TLS (`https://`) authenticates the node. Content is protected by MLS alone.

mod mac;
mod negotiation;
mod options;
mod proto;
mod queue;
mod session;
#[cfg(test)]
mod tests;
mod transport;

use std::collections::HashMap;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, sleep, timeout, timeout_at};

use crate::error::{Error, Result};
use crate::hold;
use crate::link::{Incoming, Link, MAX_FRAME, To};
use crate::name::Name;
use crate::stock;
pub use options::{Credentials, NodeOptions};
use proto::WireName;
use queue::Queue;
pub use queue::{QUEUE_BYTES, QUEUE_FRAMES};
use session::Session;
use transport::Target;

/// Longest time that a frame waits for a node to take it, also while no node answers.
pub const PUBLISH_DEADLINE: Duration = Duration::from_secs(5);

/// Longest time that a subscription waits for its acknowledgement. A node of a mesh answers when its peers have answered, or after it
/// asked them four times for five seconds each.
pub const SUBSCRIBE_DEADLINE: Duration = Duration::from_secs(30);

/// Time without progress on a connection after which the link opens another. It doubles each time, up to 16 minutes: a listener that
/// does not read will stop the next connection, too.
pub const STUCK: Duration = Duration::from_secs(10);
const LONGEST_STUCK: Duration = Duration::from_secs(960);

/// Pause after no node answered. Each is twice the one before, up to [`LONGEST_PAUSE`].
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// Link over nodes of SLIM: over the first that answers, and over the next when that one is lost.
///
/// The link subscribes again on each new connection. Frames in flight are lost with the old one, and [`Link::gap`] reports that.
/// Dropping the link closes its connection.
#[derive(Debug)]
pub struct DatapathLink {
    shared: Arc<Shared>,
    /// The newest session; `None` while no node answers.
    session: watch::Receiver<Option<Arc<Session>>>,
}

/// Node that a link is connected to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Connected {
    /// Endpoint as it was given to [`DatapathLink::connect`].
    pub endpoint: String,
    /// Version of SLIM that the node names.
    pub version: String,
    /// This link was tested with nodes of this version ([`stock::TESTED`]). Others are used all the same.
    pub tested: bool,
    /// The key of header MACs comes from X25519 and ML-KEM-768, not from X25519 alone.
    pub post_quantum: bool,
}

#[derive(Debug)]
struct Shared {
    nodes: Vec<Target>,
    /// Source of unique numbers, which begins at random. A mesh mixes up subscriptions with equal numbers.
    numbers: AtomicU64,
    names: Mutex<Names>,
    /// Held while subscriptions change.
    changing: tokio::sync::Mutex<()>,
    queue: Queue,
    /// Frames were lost.
    gap: Notify,
    closing: watch::Sender<bool>,
    /// Time at which a connection was given up, and how long it had made no progress.
    given_up: Mutex<Option<(Instant, Duration)>>,
}

/// Subscriptions of a link.
#[derive(Debug, Default)]
struct Names {
    /// Number of each name's subscription at the present node.
    subscriptions: HashMap<Name, u64>,
    /// Names by the hashes that messages carry. Their text is in the message, too, but nothing makes the two agree.
    by_code: HashMap<[u64; 3], Name>,
}

/// Returns the hashes of a name's components.
fn encoded(name: &Name) -> [u64; 3] {
    WireName::new(name).hashes().unwrap_or_default()
}

impl Names {
    fn add(&mut self, name: &Name, subscription: u64) {
        self.by_code.insert(encoded(name), name.clone().everyone());
        self.subscriptions.insert(name.clone(), subscription);
    }

    fn remove(&mut self, name: &Name) -> Option<u64> {
        let subscription = self.subscriptions.remove(name)?;
        if !self.subscriptions.keys().any(|other| other.parts() == name.parts()) {
            self.by_code.remove(&encoded(name));
        }
        Some(subscription)
    }
}

impl DatapathLink {
    /// Connects to the first of these nodes that answers. A node is an endpoint, or [`NodeOptions`] with TLS and credentials.
    ///
    /// # Errors
    /// [`Error::NodeOptions`]: an endpoint or other option is wrong; [`Error::NoNode`]: none of the nodes answers, or their versions
    /// are too old; [`Error::NoRandomness`].
    pub async fn connect<N: Into<NodeOptions>>(nodes: impl IntoIterator<Item = N>) -> Result<Self> {
        let nodes = nodes.into_iter().map(|node| Target::new(node.into())).collect::<Result<_>>()?;
        let shared = Arc::new(Shared {
            nodes,
            numbers: AtomicU64::new(getrandom::u64().map_err(|_| Error::NoRandomness)?),
            names: Mutex::default(),
            changing: tokio::sync::Mutex::default(),
            queue: Queue::new(),
            gap: Notify::new(),
            closing: watch::Sender::new(false),
            given_up: Mutex::default(),
        });
        let (session, ended) = shared.open_any(0).await?;
        let (sender, receiver) = watch::channel(Some(Arc::new(session)));
        tokio::spawn(keep_up(Arc::clone(&shared), sender, ended));
        Ok(Self { shared, session: receiver })
    }

    /// Returns the node of the present connection; `None` while no node answers.
    #[must_use]
    pub fn connected(&self) -> Option<Connected> {
        let session = self.session.borrow();
        session.as_ref().map(|session| Connected {
            endpoint: self.shared.nodes[session.node].endpoint.clone(),
            version: session.version.clone(),
            tested: stock::is_tested(&session.version),
            post_quantum: session.hybrid,
        })
    }

    /// Waits for a session after the one with this number.
    async fn session_after(&self, number: u64) -> Result<Arc<Session>> {
        let mut sessions = self.session.clone();
        let newer = sessions.wait_for(|session| session.as_ref().is_some_and(|it| it.number > number)).await;
        newer.map_err(|_| Error::LinkClosed)?.clone().ok_or(Error::LinkClosed)
    }
}

impl Drop for DatapathLink {
    fn drop(&mut self) {
        self.shared.closing.send_replace(true);
    }
}

impl Shared {
    /// Returns a number that nobody else has.
    fn number(&self) -> u64 {
        // Each step changes every byte; the lowest one also spreads pauses.
        self.numbers.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed)
    }

    /// Closes a session once nothing has gone over it for too long.
    async fn give_up(&self, session: &Session) {
        // Only recent stops lengthen the patience.
        let lately = hold(&self.given_up).filter(|(at, _)| at.elapsed() < 4 * LONGEST_STUCK);
        let patience = lately.map_or(STUCK, |(_, patience)| (2 * patience).min(LONGEST_STUCK));
        // A subscription may take long, and frames that are published meanwhile fit the queue of the connection though they do not go.
        while session.waits_for() < patience && session.unanswered_for() < patience.max(SUBSCRIBE_DEADLINE) {
            sleep(Duration::from_millis(100)).await;
        }
        *hold(&self.given_up) = Some((Instant::now(), patience));
        session.close();
    }

    /// Opens a session with the first node that answers, from the node `from` on.
    async fn open_any(self: &Arc<Self>, from: usize) -> Result<(Session, session::Ended)> {
        let mut reasons = Vec::new();
        for offset in 0..self.nodes.len() {
            let node = (from + offset) % self.nodes.len();
            match Session::open(self, node).await {
                Ok(opened) => return Ok(opened),
                Err(reason) => reasons.push(format!("{}: {reason}", self.nodes[node].endpoint)),
            }
        }
        Err(Error::NoNode(reasons.join("; ")))
    }

    /// Subscribes again to all names; the caller holds `changing`. Frames that the node forwards before its last acknowledgement may be
    /// missed: a gap reports them.
    async fn subscribe_again(self: &Arc<Self>, session: &Arc<Session>) {
        let names: Vec<Name> = hold(&self.names).subscriptions.keys().cloned().collect();
        let mut answers = Vec::new();
        for name in names {
            // Without a slot the session has ended already. The next one begins from the same names.
            let Some(slot) = session.slot().await else { return };
            let subscription = self.number();
            hold(&self.names).subscriptions.insert(name.clone(), subscription);
            match session.ask(slot, &name, subscription, true) {
                Some(answer) => answers.push(answer),
                None => return,
            }
        }
        let shared = Arc::clone(self);
        tokio::spawn(async move {
            let all = async {
                for answer in answers {
                    let _ = answer.await;
                }
            };
            let _ = timeout(SUBSCRIBE_DEADLINE, all).await;
            // Frames before the last acknowledgement may have been missed.
            shared.gap.notify_one();
        });
    }
}

/// Replaces sessions that end, until the link is dropped.
async fn keep_up(
    shared: Arc<Shared>,
    sessions: watch::Sender<Option<Arc<Session>>>,
    mut ended: session::Ended,
) {
    let mut closing = shared.closing.subscribe();
    let mut closing = pin!(async move {
        let _ = closing.wait_for(|closing| *closing).await;
    });
    let mut node = sessions.borrow().as_ref().map_or(0, |session| session.node);
    let mut pause = FIRST_PAUSE;
    loop {
        let begun = Instant::now();
        tokio::select! {
            () = ended.wait() => {}
            () = &mut closing => break,
        }
        if let Some(old) = sessions.send_replace(None) {
            old.close();
        }
        shared.gap.notify_one();
        // A node that ends connections at once is asked no more often than one that does not answer.
        let mut pauses = begun.elapsed() < LONGEST_PAUSE;
        if !pauses {
            pause = FIRST_PAUSE;
        }
        let opened = loop {
            let mut delay = Duration::ZERO;
            if pauses {
                // Pauses differ: many links may have lost the same node.
                delay = pause.mul_f64(0.5 + f64::from(shared.number() as u8) / 256.0);
                pause = (pause * 2).min(LONGEST_PAUSE);
            }
            pauses = true;
            let opening = async {
                sleep(delay).await;
                shared.open_any(node + 1).await
            };
            tokio::select! {
                opened = opening => if let Ok(opened) = opened {
                    break Some(opened);
                },
                () = &mut closing => break None,
            }
        };
        let Some((session, end)) = opened else { break };
        node = session.node;
        ended = end;
        let session = Arc::new(session);
        let subscribing = async {
            let changing = shared.changing.lock().await;
            shared.subscribe_again(&session).await;
            changing
        };
        let changing = tokio::select! {
            changing = timeout(SUBSCRIBE_DEADLINE, subscribing) => changing,
            () = &mut closing => break,
        };
        // A node that does not take the subscriptions in time is left: dropping the session closes it. Until the session is known, nobody
        // may unsubscribe, because they would take it that there is none.
        let Ok(_changing) = changing else { continue };
        sessions.send_replace(Some(session));
    }
    shared.queue.close();
    if let Some(session) = sessions.send_replace(None) {
        session.close();
    }
}

#[async_trait]
impl Link for DatapathLink {
    async fn subscribe(&self, name: &Name) -> Result<()> {
        if name.instance().is_none() {
            return Err(Error::NoInstance);
        }
        let asking = async {
            let mut tried = 0;
            loop {
                let session = self.session_after(tried).await?;
                tried = session.number;
                let _changing = self.shared.changing.lock().await;
                let known = hold(&self.shared.names).subscriptions.get(name).copied();
                let subscription = match known {
                    Some(known) if !session.awaits(known) => return Ok(()),
                    // A caller that was dropped asked for it, or was about to.
                    Some(known) => known,
                    // Before the acknowledgement: frames may come with it. Before the request: the name is subscribed to on the next
                    // connection if this one takes nothing.
                    None => {
                        let subscription = self.shared.number();
                        hold(&self.shared.names).add(name, subscription);
                        session.expect(subscription);
                        subscription
                    }
                };
                let answered = match session.slot().await {
                    Some(slot) => match session.ask(slot, name, subscription, true) {
                        Some(answer) => answer.await,
                        None => Err(()),
                    },
                    None => Err(()),
                };
                match answered {
                    Ok(()) => return Ok(()),
                    Err(()) => drop(hold(&self.shared.names).remove(name)),
                }
            }
        };
        timeout(SUBSCRIBE_DEADLINE, asking).await.unwrap_or(Err(Error::LinkBusy(SUBSCRIBE_DEADLINE)))
    }

    async fn unsubscribe(&self, name: &Name) -> Result<()> {
        let deadline = Instant::now() + SUBSCRIBE_DEADLINE;
        let changing = timeout_at(deadline, self.shared.changing.lock()).await;
        let _changing = changing.map_err(|_| Error::LinkBusy(SUBSCRIBE_DEADLINE))?;
        let Some(subscription) = hold(&self.shared.names).remove(name) else { return Ok(()) };
        // Without a session there is no subscription.
        let Some(session) = self.session.borrow().clone() else { return Ok(()) };
        let asking = async {
            let slot = session.slot().await?;
            session.ask(slot, name, subscription, false)?.await.ok()
        };
        let _ = timeout_at(deadline, asking).await;
        Ok(())
    }

    async fn publish(&self, name: &Name, to: To, frame: Bytes) -> Result<()> {
        if frame.len() > MAX_FRAME {
            return Err(Error::FrameTooLarge(frame.len()));
        }
        let publishing = async {
            let mut tried = 0;
            loop {
                let session = self.session_after(tried).await?;
                tried = session.number;
                let sent = tokio::select! {
                    biased;
                    () = self.shared.give_up(&session), if session.unanswered_for() >= SUBSCRIBE_DEADLINE => false,
                    sent = session.publish(name, to, &frame) => sent,
                    () = self.shared.give_up(&session) => false,
                };
                if sent {
                    return Ok(());
                }
            }
        };
        timeout(PUBLISH_DEADLINE, publishing).await.unwrap_or(Err(Error::LinkBusy(PUBLISH_DEADLINE)))
    }

    async fn receive(&self) -> Result<Incoming> {
        self.shared.queue.receive().await.ok_or(Error::LinkClosed)
    }

    async fn gap(&self) {
        self.shared.gap.notified().await;
    }
}
