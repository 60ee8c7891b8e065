//! How an agent behaves, and what it stands on: its clock, its delivery service.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use gambeson_identity::Did;

use crate::blobs::Blobs;
use crate::keys::Keys;
use crate::log::Log;

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
    /// Nobody's: [`Node::invitation`](crate::Node::invitation) gives them, and [`Node::accept`](crate::Node::accept) takes them.
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
    /// How long receipts are gathered; 10 ms a member at least, and longer the more of them wait for the log.
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
    /// After how long a member that gives no receipts is reported. A message waits for others before it that neither the link nor the log
    /// brings for twice that at most.
    pub silence: Duration,
    /// How long a member has to bring a new card into its leaf, where that revokes the key of the leaf, before it is warned of and removed by those
    /// who may.
    pub renewal: Duration,
    /// How long a commit must be the newest before its checkpoint is made.
    pub checkpoint: Duration,
    /// By how many entries the log grows until a member makes a checkpoint, before which what is older can go,
    pub checkpoint_entries: u64,
    /// or by how many bytes.
    pub checkpoint_bytes: u64,
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
            checkpoint_entries: 10_000,
            checkpoint_bytes: 16 << 20,
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
