//! A gateway for programs that have no MLS of their own: it holds the keys of agents, and speaks JSON over WebSocket on loopback.
//!
//! What a client may do is what its token's agent may do; who reads the token is that agent. The gateway listens on this machine alone,
//! refuses web pages of other origins than those it is told, and sends no client more than it acknowledges.
//! The protocol is in docs/spec/channel-gateway.md; the client for TypeScript is `gambeson/channel`.
//!
//! ```no_run
//! # async fn example(node: std::sync::Arc<gambeson_slim::Node>) -> gambeson_slim::Result<()> {
//! use gambeson_slim::gateway::{Gateway, Token};
//!
//! let token = Token::random()?;
//! let gateway = Gateway::start("127.0.0.1:0".parse().expect("an address"), vec![(token.clone(), node)], vec![]).await?;
//! println!("{} with the token {}", gateway.url(), token.reveal());
//! # Ok(())
//! # }
//! ```
//!
//! # Layout
//!
//! | module | what is in it |
//! | --- | --- |
//! | `protocol` | what is said: strict parsing, and JSON of what happens |
//! | `session` | calls that are done once, also when a client comes back |
//! | `connection` | one WebSocket: from its handshake to its end |
//! | `feed` | what happens in a channel, as fast as it is acknowledged |
//! | `calls` | what calls do |

mod calls;
mod connection;
mod feed;
mod protocol;
mod session;

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::{Notify, Semaphore, watch};
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::{Instant, sleep};

use crate::error::{Error, Result};
use crate::hold;
use crate::name::ChannelId;
use crate::node::{Invitation, Node};
pub use protocol::{
    Acknowledge, Call, Cancel, Dids, Do, FromClient, Hello, Join, MAX_CLIENT_FRAME, MAX_UNSETTLED, Nothing,
    Of, Receive, Reply, Request, SUBPROTOCOL, Send, Stop, WireMessageId,
};
use session::Session;

/// How many clients may be connected at once.
const MAX_CONNECTIONS: usize = 64;
/// How many sessions an agent's clients may have: of those that went, the one that went first makes room.
const MAX_SESSIONS: usize = 64;
/// How many invitations wait for a decision; later ones push out the first.
const MAX_INVITATIONS: usize = 256;
/// After how long a client that went is forgotten.
const MEMORY: Duration = Duration::from_secs(600);
/// How long to wait before the system is asked again for a connection that it could not give.
const PAUSE: Duration = Duration::from_millis(100);

/// What a client shows to be let in: at least 32 letters, digits, `-` or `_` that nobody guesses.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

impl Token {
    /// 256 random bits.
    ///
    /// # Errors
    /// [`Error::NoRandomness`].
    pub fn random() -> Result<Self> {
        use base64ct::{Base64UrlUnpadded, Encoding};
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).map_err(|_| Error::NoRandomness)?;
        Ok(Self(Base64UrlUnpadded::encode_string(&bytes)))
    }

    /// A token that was made before.
    ///
    /// # Errors
    /// [`Error::BadToken`]: too short, or other characters.
    pub fn new(text: &str) -> Result<Self> {
        let good = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        if (32..=256).contains(&text.len()) && text.bytes().all(good) {
            Ok(Self(text.to_owned()))
        } else {
            Err(Error::BadToken)
        }
    }

    /// The token, to be shown to its client and to nobody else.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(..)")
    }
}

/// A running gateway. Dropping it ends it, its connections and the calls of its clients; the nodes go on, with what they have begun.
pub struct Gateway {
    address: SocketAddr,
    tasks: Vec<JoinHandle<()>>,
    /// What is done for clients ends when this is dropped.
    _here: watch::Sender<()>,
}

impl fmt::Debug for Gateway {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Gateway").field(&self.address).finish()
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}

impl Gateway {
    /// Listens on an address of this machine alone for clients of these agents, each with its token. Web pages are let in from these
    /// origins (`https://example.org`, as browsers say it); programs that are no browsers say none.
    ///
    /// The gateway takes the invitations that the nodes' own policies leave open ([`Node::invitation`]).
    ///
    /// # Errors
    /// [`Error::NotLoopback`]; [`Error::NoGateway`]: the address is taken.
    pub async fn start(
        listen: SocketAddr,
        agents: Vec<(Token, Arc<Node>)>,
        origins: Vec<String>,
    ) -> Result<Self> {
        if !listen.ip().is_loopback() {
            return Err(Error::NotLoopback(listen));
        }
        let listener = TcpListener::bind(listen).await.map_err(Error::NoGateway)?;
        let address = listener.local_addr().map_err(Error::NoGateway)?;
        let here = watch::Sender::new(());
        let agent = |(token, node): (Token, _)| Arc::new(Agent::new(&token, node, here.subscribe()));
        let agents: Vec<Arc<Agent>> = agents.into_iter().map(agent).collect();
        let mut tasks: Vec<_> = agents.iter().map(|agent| tokio::spawn(attend(Arc::clone(agent)))).collect();
        tasks.push(tokio::spawn(listen_on(listener, Arc::new(Door { address, agents, origins }))));
        Ok(Self { address, tasks, _here: here })
    }

    /// Where it listens.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// What clients connect to.
    #[must_use]
    pub fn url(&self) -> String {
        format!("ws://{}/", self.address)
    }
}

/// Who is let in.
pub(crate) struct Door {
    address: SocketAddr,
    agents: Vec<Arc<Agent>>,
    origins: Vec<String>,
}

impl Door {
    /// Whose token this is. Hashes are compared, in constant time.
    fn agent(&self, token: &str) -> Option<&Arc<Agent>> {
        let hash = blake3::hash(token.as_bytes());
        self.agents.iter().find(|agent| agent.token == hash)
    }
}

/// An agent, and the clients that speak for it.
pub(crate) struct Agent {
    token: blake3::Hash,
    node: Arc<Node>,
    sessions: Mutex<HashMap<[u8; 16], Arc<Session>>>,
    invitations: Mutex<Invitations>,
    /// An invitation came.
    invited: Notify,
    /// Closed once the gateway is gone.
    here: watch::Receiver<()>,
}

impl Agent {
    fn new(token: &Token, node: Arc<Node>, here: watch::Receiver<()>) -> Self {
        Self {
            token: blake3::hash(token.reveal().as_bytes()),
            node,
            sessions: Mutex::default(),
            invitations: Mutex::default(),
            invited: Notify::new(),
            here,
        }
    }

    /// Does what goes on without a connection, unless the gateway goes first: then nothing holds the node for it.
    async fn while_here<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        let mut here = self.here.clone();
        tokio::select! {
            done = work => Some(done),
            _ = here.changed() => None,
        }
    }

    /// The session of this number, and whether it was known. What a client that is forgotten had under way is given up.
    fn session(&self, id: [u8; 16]) -> (Arc<Session>, bool) {
        let mut sessions = hold(&self.sessions);
        let now = Instant::now();
        sessions.retain(|_, session| {
            let remembered = session.left().is_none_or(|left| now - left < MEMORY);
            if !remembered {
                session.abandon();
            }
            remembered
        });
        if let Some(session) = sessions.get(&id) {
            return (Arc::clone(session), true);
        }
        if sessions.len() >= MAX_SESSIONS {
            let gone = sessions.iter().filter_map(|(id, session)| Some((session.left()?, *id))).min();
            if let Some((_, first)) = gone
                && let Some(session) = sessions.remove(&first)
            {
                session.abandon();
            }
        }
        let session = Arc::new(Session::default());
        sessions.insert(id, Arc::clone(&session));
        (session, false)
    }
}

/// The invitations that wait for a decision, numbered as they came.
#[derive(Default)]
struct Invitations {
    waiting: BTreeMap<u64, Invitation>,
    came: u64,
}

impl Invitations {
    /// One came: an earlier one to its channel goes, and of too many the oldest.
    fn add(&mut self, invitation: Invitation) {
        self.waiting.retain(|_, other| other.channel != invitation.channel);
        if self.waiting.len() >= MAX_INVITATIONS {
            self.waiting.pop_first();
        }
        self.came += 1;
        self.waiting.insert(self.came, invitation);
    }

    /// One that was taken waits again, as if it came now, unless a newer one to its channel came meanwhile.
    fn put_back(&mut self, invitation: Invitation) {
        if self.waiting.values().all(|other| other.channel != invitation.channel) {
            self.add(invitation);
        }
    }

    /// Takes the one to a channel.
    fn take(&mut self, channel: ChannelId) -> Option<Invitation> {
        let (&number, _) = self.waiting.iter().find(|(_, invitation)| invitation.channel == channel)?;
        self.waiting.remove(&number)
    }
}

/// Gathers the invitations that nobody decided on.
async fn attend(agent: Arc<Agent>) {
    loop {
        let invitation = agent.node.invitation().await;
        hold(&agent.invitations).add(invitation);
        agent.invited.notify_waiters();
    }
}

async fn listen_on(listener: TcpListener, door: Arc<Door>) {
    let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let mut connections = JoinSet::new();
    while let Ok(place) = Arc::clone(&places).acquire_owned().await {
        while connections.try_join_next().is_some() {}
        match listener.accept().await {
            Ok((stream, _)) => {
                let door = Arc::clone(&door);
                connections.spawn(async move {
                    connection::serve(stream, &door).await;
                    drop(place);
                });
            }
            Err(_) => sleep(PAUSE).await,
        }
    }
}
