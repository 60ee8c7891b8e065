//! A link over nodes of SLIM, which are as their makers ship them.
//!
//! Below SLIM's sessions: a node is asked to deliver frames to names, and nothing else. It sees names, sizes and times.
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
//! * `session`: one connection to one node, from its opening to its end
//! * `queue`: what has arrived and was not received yet
//! * this file: the link, which lives through many sessions
//!
//! # Who waits for whom
//! A node delivers to the listeners of a name one after the other, and waits for each: one that does not read stops all. So this
//! side reads always, into a queue of [`QUEUE_FRAMES`] frames and [`QUEUE_BYTES`] bytes; what does not fit is dropped, and
//! [`Link::gap`] says so. And it never waits for a node longer than [`PUBLISH_DEADLINE`]. Whoever else does not read stops all that comes
//! after it on the connection over which it was sent, other names and subscriptions too: a connection over which nothing went for
//! [`STUCK`] is given up for another.

mod queue;
mod session;

use std::collections::HashMap;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, sleep, timeout};

use crate::error::{Error, Result};
use crate::hold;
use crate::link::{Incoming, Link, MAX_FRAME, To};
use crate::name::Name;
use queue::Queue;
pub use queue::{QUEUE_BYTES, QUEUE_FRAMES};
use session::{Session, encoded};

/// How long a frame may wait for a node to take it, also while there is none.
pub const PUBLISH_DEADLINE: Duration = Duration::from_secs(5);

/// How long a subscription may wait. A node of a mesh answers when its peers have, or after it asked them four times for five
/// seconds each.
pub const SUBSCRIBE_DEADLINE: Duration = Duration::from_secs(30);

/// How long a node may take nothing of what waits on a connection before another is opened; each time again twice as long, up to 16
/// minutes: the node has the old one until whoever does not read is gone.
pub const STUCK: Duration = Duration::from_secs(10);
const LONGEST_STUCK: Duration = Duration::from_secs(960);

/// The first pause after no node answered; each is twice the one before, up to [`LONGEST_PAUSE`].
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// A link over nodes of SLIM: over the first that answers, and over the next when that one is lost.
///
/// What is subscribed to is subscribed to again on each new connection; frames in flight are lost with the old one, and
/// [`Link::gap`] says so. Dropping the link closes its connection.
#[derive(Debug)]
pub struct DatapathLink {
    shared: Arc<Shared>,
    /// The newest session; none while no node answers.
    session: watch::Receiver<Option<Arc<Session>>>,
}

/// A node that a link is connected to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Connected {
    /// As it was given to [`DatapathLink::connect`].
    pub endpoint: String,
    /// The version that it names.
    pub version: String,
}

#[derive(Debug)]
struct Shared {
    nodes: Vec<String>,
    /// Where numbers that nobody else has come from: it begins at random. Subscriptions with the same number are mixed up in all of
    /// a mesh.
    numbers: AtomicU64,
    names: Mutex<Names>,
    /// Held by whoever changes what is subscribed to.
    changing: tokio::sync::Mutex<()>,
    queue: Queue,
    /// Frames were lost.
    gap: Notify,
    closing: watch::Sender<bool>,
    /// When a connection was given up, and after how long without a frame taken.
    given_up: Mutex<Option<(Instant, Duration)>>,
}

/// What is subscribed to.
#[derive(Debug, Default)]
struct Names {
    /// Under which number each name is with the node of now.
    subscriptions: HashMap<Name, u64>,
    /// What frames carry in the place of a name. Its text is beside it there, but nothing makes the two agree.
    by_code: HashMap<[u64; 3], Name>,
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
    /// Connects to the first of these nodes that answers: `http://host:port` or `host:port` without TLS, `https://host:port` with
    /// the system's roots; also `ws://`, `wss://` and `unix://`.
    ///
    /// # Errors
    /// [`Error::NoNode`]: none of them answers; [`Error::NoRandomness`].
    pub async fn connect<S: Into<String>>(nodes: impl IntoIterator<Item = S>) -> Result<Self> {
        let nodes: Vec<String> = nodes.into_iter().map(Into::into).collect();
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

    /// The node of now; `None` while none answers.
    #[must_use]
    pub fn connected(&self) -> Option<Connected> {
        let session = self.session.borrow();
        session.as_ref().map(|session| Connected {
            endpoint: self.shared.nodes[session.node].clone(),
            version: session.version.clone(),
        })
    }

    /// A session after the one with this number, as soon as there is one.
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
    /// A number that nobody else has.
    fn number(&self) -> u64 {
        // By steps that change every byte: the last one also spreads pauses.
        self.numbers.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed)
    }

    /// Gives a session up once nothing has gone over it for too long.
    async fn give_up(&self, session: &Session) {
        // Long ago is another matter.
        let lately = hold(&self.given_up).filter(|(at, _)| at.elapsed() < 4 * LONGEST_STUCK);
        let patience = lately.map_or(STUCK, |(_, patience)| (2 * patience).min(LONGEST_STUCK));
        // A subscription takes its time, and what is published meanwhile is taken here though it goes nowhere.
        while session.waits_for() < patience && session.unanswered_for() < patience.max(SUBSCRIBE_DEADLINE) {
            sleep(Duration::from_millis(100)).await;
        }
        *hold(&self.given_up) = Some((Instant::now(), patience));
        session.close();
    }

    /// A session with the first node that answers, looking from one of them on, and what tells of its end.
    async fn open_any(self: &Arc<Self>, from: usize) -> Result<(Session, session::Ended)> {
        let mut reasons = Vec::new();
        for offset in 0..self.nodes.len() {
            let node = (from + offset) % self.nodes.len();
            match Session::open(self, node).await {
                Ok(opened) => return Ok(opened),
                Err(reason) => reasons.push(format!("{}: {reason}", self.nodes[node])),
            }
        }
        Err(Error::NoNode(reasons.join("; ")))
    }

    /// Subscribes anew to all that was subscribed to. What is published after this goes another way in the library and can be at the node
    /// before it; what goes by until the last answer is told as a gap.
    async fn subscribe_again(self: &Arc<Self>, session: &Arc<Session>) {
        let _changing = self.changing.lock().await;
        let names: Vec<Name> = hold(&self.names).subscriptions.keys().cloned().collect();
        let mut answers = Vec::new();
        for name in names {
            let subscription = self.number();
            hold(&self.names).subscriptions.insert(name.clone(), subscription);
            match session.ask(&name, subscription, true).await {
                Some(answer) => answers.push(answer),
                // It has ended already, and the next one begins from the same names.
                None => return,
            }
        }
        let shared = Arc::clone(self);
        tokio::spawn(async move {
            for answer in answers {
                let _ = timeout(SUBSCRIBE_DEADLINE, answer).await;
            }
            // What was sent before the last answer may have gone by.
            shared.gap.notify_one();
        });
    }
}

/// Keeps a session up until the link is dropped.
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
    loop {
        tokio::select! {
            () = ended.wait() => {}
            () = &mut closing => break,
        }
        if let Some(old) = sessions.send_replace(None) {
            old.close();
        }
        shared.gap.notify_one();
        let mut pause = FIRST_PAUSE;
        let opened = loop {
            tokio::select! {
                opened = shared.open_any(node + 1) => match opened {
                    Ok(opened) => break Some(opened),
                    // Not all at once: many links may have lost the same node.
                    Err(_) => sleep(pause.mul_f64(0.5 + f64::from(shared.number() as u8) / 256.0)).await,
                },
                () = &mut closing => break None,
            }
            pause = (pause * 2).min(LONGEST_PAUSE);
        };
        let Some((session, end)) = opened else { break };
        node = session.node;
        ended = end;
        let session = Arc::new(session);
        shared.subscribe_again(&session).await;
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
                if hold(&self.shared.names).subscriptions.contains_key(name) {
                    return Ok(());
                }
                let subscription = self.shared.number();
                // Before the answer: frames may come with it.
                hold(&self.shared.names).add(name, subscription);
                let answered = match session.ask(name, subscription, true).await {
                    Some(answer) => answer.await,
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
        let _changing = self.shared.changing.lock().await;
        let Some(subscription) = hold(&self.shared.names).remove(name) else { return Ok(()) };
        // Without a session there is no subscription.
        let Some(session) = self.session.borrow().clone() else { return Ok(()) };
        if let Some(answer) = session.ask(name, subscription, false).await {
            let _ = timeout(SUBSCRIBE_DEADLINE, answer).await;
        }
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
