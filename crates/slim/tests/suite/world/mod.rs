//! Agents on a hub, for tests of channels; the test program says with which `services()`.

#![allow(dead_code, clippy::unwrap_used)] // Each test program uses a part; a test may fail that way.

pub mod held;
pub mod packed;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use gambeson_identity::{Agent, CardContent, CardLog, Did, MasterSeed, Retired, Role as Key, Timestamp};
use gambeson_mls::Preset;
use gambeson_slim::faults::{Faults, Faulty};
use gambeson_slim::memory::Hub;
use gambeson_slim::{
    Admit, Cards, Channel, Clock, DEFAULT_CAPACITY, Event, Link, Me, MemoryStore, Node, Options, Policy,
    Services, Store, VirtualClock,
};

/// A clock that all share, in step with the log's, which is the system's.
#[derive(Clone, Copy)]
pub struct Skewed(pub VirtualClock, pub i64);

impl Clock for Skewed {
    fn now(&self) -> u64 {
        self.0.now().saturating_add_signed(self.1 * 1000)
    }
}

/// What all agents of a test are in.
#[derive(Clone)]
pub struct World {
    pub seed: u64,
    pub hub: Hub,
    pub services: Services,
    pub faults: Option<Faults>,
    pub clock: VirtualClock,
    allowed: Arc<Mutex<BTreeSet<Did>>>,
    policy: Arc<Mutex<Option<Policy>>>,
}

impl World {
    pub fn new(seed: u64) -> Self {
        Self::with(seed, crate::services())
    }

    pub fn with(seed: u64, services: Services) -> Self {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
        Self {
            seed,
            hub: Hub::new(),
            services,
            faults: None,
            clock: VirtualClock::from(now.as_millis() as u64),
            allowed: Arc::default(),
            policy: Arc::default(),
        }
    }

    pub fn now(&self) -> Timestamp {
        Timestamp(self.clock.now() / 1000)
    }

    pub fn agent(&self, name: &str) -> Person {
        let mut seed = [0; 32];
        seed.copy_from_slice(blake3::hash(format!("{} {name}", self.seed).as_bytes()).as_bytes());
        let agent = Agent::from_seed(MasterSeed::from_bytes(&seed));
        let content = CardContent { groups: vec![Key::GroupMlDsa65], ..CardContent::default() };
        let from = Timestamp(self.now().0 - 3600);
        let log = CardLog::new(agent.first_card(from, from.after(365 * 86_400), &content).unwrap()).unwrap();
        self.allowed.lock().unwrap().insert(agent.did().clone());
        Person {
            seed,
            world: self.clone(),
            agent: Arc::new(agent),
            log,
            store: Arc::new(MemoryStore::new()),
            asks: false,
            skew: 0,
            room: DEFAULT_CAPACITY,
            options: Options::default(),
        }
    }

    /// A channel of so many, all there.
    pub async fn channel(&self, members: usize, set: impl Fn(&mut Options)) -> (Vec<Node>, Vec<Channel>) {
        let mut people: Vec<Person> = (0..members).map(|n| self.agent(&format!("agent {n}"))).collect();
        people.iter_mut().for_each(|person| set(&mut person.options));
        let nodes = self.opened(&people).await;
        let policy = nodes[0].policy().unwrap();
        *self.policy.lock().unwrap() = Some(policy.clone());
        let first = nodes[0].create(policy.sign(nodes[0].me().agent()).unwrap()).await.unwrap();
        let others: Vec<Did> = people[1..].iter().map(Person::did).collect();
        first.invite(&others).await.unwrap();
        let mut channels = vec![first.clone()];
        for node in &nodes[1..] {
            let channel = node.joined(&first.id()).await;
            channel.until(|status| status.members.len() == members).await.unwrap();
            channels.push(channel);
        }
        (nodes, channels)
    }

    /// The nodes of several people, of whom each can be invited.
    pub async fn opened(&self, people: &[Person]) -> Vec<Node> {
        let mut nodes = Vec::new();
        for person in people {
            nodes.push(person.node().await);
        }
        for node in &nodes {
            node.offered(self).await;
        }
        nodes
    }

    /// The policy that a channel of [`World::channel`] began with.
    pub async fn policy_of(&self, _: &Channel) -> Policy {
        self.policy.lock().unwrap().clone().unwrap()
    }
}

/// An agent that can come and go.
#[derive(Clone)]
pub struct Person {
    seed: [u8; 32],
    pub world: World,
    pub agent: Arc<Agent>,
    pub log: CardLog,
    pub store: Arc<dyn Store>,
    pub asks: bool,
    pub skew: i64,
    /// Of how many DIDs it has cards at once.
    pub room: usize,
    pub options: Options,
}

impl Person {
    pub fn did(&self) -> Did {
        self.agent.did().clone()
    }

    /// The same agent, in the same store, with one more card that has new keys for these roles. It holds since ten minutes ago.
    #[must_use]
    pub fn rotated(&self, roles: &[Key], retired: Retired) -> Self {
        let mut agent = Agent::recover(MasterSeed::from_bytes(&self.seed), &self.log).unwrap();
        let (mut log, from) = (self.log.clone(), Timestamp(self.world.now().0 - 600));
        let content = log.newest().content();
        agent.rotate(&mut log, roles, retired, (from, from.after(365 * 86_400)), &content).unwrap();
        Self { agent: Arc::new(agent), log, ..self.clone() }
    }

    pub fn me(&self) -> Me {
        Me::new(Arc::clone(&self.agent), &self.log, Preset::Default).unwrap()
    }

    #[must_use]
    pub fn asking(mut self) -> Self {
        self.asks = true;
        self
    }

    pub async fn node(&self) -> Node {
        self.try_node().await.unwrap()
    }

    pub async fn try_node(&self) -> gambeson_slim::Result<Node> {
        let link = self.world.hub.link();
        let link: Arc<dyn Link> = match self.world.faults {
            Some(faults) => Arc::new(Faulty::new(link, self.world.seed, faults)),
            None => Arc::new(link),
        };
        self.node_on(link).await
    }

    pub async fn node_on(&self, link: Arc<dyn Link>) -> gambeson_slim::Result<Node> {
        let me = Me::new(Arc::clone(&self.agent), &self.log, Preset::Default)?;
        let admit = match self.asks {
            true => Admit::Ask,
            false => Admit::From(self.world.allowed.lock().unwrap().clone()),
        };
        let clock = Arc::new(Skewed(self.world.clock, self.skew));
        let options = Options { admit, clock, ..self.options.clone() };
        let (services, store) = (self.world.services.clone(), Arc::clone(&self.store));
        Node::open(me, &self.log, Arc::new(Cards::new(self.room)), link, services, store, options).await
    }
}

/// What tests ask of nodes.
pub trait Offered {
    /// Waits until the node's key packages can be had.
    fn offered(&self, world: &World) -> impl Future<Output = ()>;
}

impl Offered for Node {
    async fn offered(&self, world: &World) {
        while world.services.keys.left(self.me().did().as_str()).await.unwrap() == 0 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

/// The next messages: who said what.
pub async fn messages(channel: &Channel, count: usize) -> Vec<(String, String)> {
    let mut all = Vec::new();
    while all.len() < count {
        let next = tokio::time::timeout(Duration::from_secs(600), channel.next());
        let next = next.await.unwrap_or_else(|_| panic!("{} of {count} messages came", all.len())).unwrap();
        if let Event::Message { id, bytes, .. } = next.event {
            all.push((id.sender, String::from_utf8(bytes.to_vec()).unwrap()));
        }
    }
    all
}

pub fn said(person: &Person, text: &str) -> (String, String) {
    (person.did().as_str().to_owned(), text.to_owned())
}
