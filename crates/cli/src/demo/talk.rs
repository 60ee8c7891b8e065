//! Three agents in a channel: over a node of SLIM where one can be started, else over a link in this process.

use super::Show;
use super::bob::Bob;
use crate::console::Console;
use crate::error::Error;
use gambeson_identity::{Agent, CardContent, CardLog, Did, Role, Timestamp};
use gambeson_mls::{Preset, Suite};
use gambeson_slim::{
    Admit, Cards, Channel, Clock, Event, Link, Me, MemoryStore, Node, Options, Services, Store, SystemClock,
};
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};
use tokio::time::{sleep, timeout};

/// How long one step may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// What carries the frames, and who keeps the order.
pub(super) struct Ground {
    /// A stock node, or the reason why there is none.
    pub(super) stock: Result<stock::Stock, String>,
    hub: gambeson_slim::memory::Hub,
    services: Services,
}

pub(super) mod stock {
    //! A node of SLIM as its makers ship it.

    use crate::console::Console;
    use crate::error::Error;
    use crate::slim::{failed, here_or_installed, link, service};
    use gambeson_slim::Services;
    use gambeson_slim::datapath::DatapathLink;
    use gambeson_slim::delivery::{Client, Patience, Rules, Server, serve};
    use gambeson_slim::memory::MemoryService;
    use gambeson_slim::stock::{Node, start};
    use std::net::Ipv4Addr;
    use std::sync::Arc;
    use tempfile::TempDir;

    /// Ends what runs: the service before the node, the folder last.
    pub(in super::super) struct Stock {
        _server: Server,
        node: Node,
        pub(in super::super) folder: TempDir,
        pub(super) version: String,
        pub(super) services: Services,
    }

    impl Stock {
        /// Starts a node, which is installed first if there is none. Returns the reason if it cannot be installed.
        pub(super) async fn new(console: Console) -> Result<Result<Self, String>, Error> {
            let maker = match here_or_installed(console) {
                Ok(maker) => maker,
                Err(error) => return Ok(Err(error.to_string())),
            };
            let folder = tempfile::tempdir().map_err(|error| Error::stream(&"a temporary folder", &error))?;
            let nodes = start(&maker, 1, Ipv4Addr::LOCALHOST.into(), folder.path()).await;
            let mut nodes = nodes.map_err(|error| Error::outside(error.to_string()).because("no-node"))?;
            let Some(node) = nodes.pop() else { return Ok(Err("no node was started".to_owned())) };
            let nodes = [node.endpoint()];
            let (engine, rules) = (Arc::new(MemoryService::new()), Rules::default());
            let server = serve(link(&nodes).await?, service(), engine, rules).await.map_err(failed)?;
            let carrier = link(&nodes).await?;
            let version = carrier.connected().map_or_else(|| "unknown".to_owned(), |node| node.version);
            let client = Client::new(carrier, service(), Patience::default()).await.map_err(failed)?;
            let services = Services::of(Arc::new(client));
            Ok(Ok(Self { _server: server, node, folder, version, services }))
        }

        pub(super) fn pid(&self) -> u32 {
            self.node.pid()
        }

        pub(in super::super) fn endpoint(&self) -> String {
            self.node.endpoint()
        }

        pub(super) async fn link(&self) -> Result<DatapathLink, Error> {
            link(&[self.endpoint()]).await
        }
    }
}

impl Ground {
    async fn new(console: Console) -> Result<Self, Error> {
        let hub = gambeson_slim::memory::Hub::new();
        let stock = stock::Stock::new(console).await?;
        let in_memory = || Services::of(Arc::new(gambeson_slim::memory::MemoryService::new()));
        let services = stock.as_ref().map_or_else(|_| in_memory(), |stock| stock.services.clone());
        Ok(Self { stock, hub, services })
    }

    fn tells(&self) -> String {
        match &self.stock {
            Ok(stock) => format!("node of SLIM {}, process {}", stock.version, stock.pid()),
            Err(reason) => format!("in-process link, not SLIM: {reason}"),
        }
    }

    async fn link(&self) -> Result<Arc<dyn Link>, Error> {
        if let Ok(stock) = &self.stock {
            return Ok(Arc::new(stock.link().await?));
        }
        Ok(Arc::new(self.hub.link()))
    }
}

/// An agent with a card for channels, and what it keeps between one run of its program and the next.
pub(super) struct Person {
    agent: Arc<Agent>,
    log: CardLog,
    store: Arc<dyn Store>,
}

impl Person {
    pub(super) fn new() -> Result<Self, Error> {
        let agent = Agent::generate().map_err(Error::damaged)?;
        let now = Timestamp(SystemClock.now() / 1000);
        let content = CardContent { groups: vec![Role::GroupMlDsa65], ..CardContent::default() };
        let card = agent.first_card(now, now.after(86_400), &content).and_then(CardLog::new);
        let log = card.map_err(Error::damaged)?;
        Ok(Self { agent: Arc::new(agent), log, store: Arc::new(MemoryStore::new()) })
    }

    pub(super) fn did(&self) -> Did {
        self.agent.did().clone()
    }

    /// The agent's program begins.
    pub(super) async fn node(&self, ground: &Ground, admit: Admit) -> Result<Node, Error> {
        let me = Me::new(Arc::clone(&self.agent), &self.log, Preset::Default).map_err(wrong)?;
        let options = Options { admit, ..Options::default() };
        let (link, services) = (ground.link().await?, ground.services.clone());
        let (cards, store) = (Arc::new(Cards::default()), Arc::clone(&self.store));
        Node::open(me, &self.log, cards, link, services, store, options).await.map_err(wrong)
    }
}

pub(super) fn wrong(error: gambeson_slim::Error) -> Error {
    Error::outside(error.to_string())
}

/// Waits for something, not for ever.
fn done<T>(runtime: &Runtime, work: impl Future<Output = Result<T, Error>>) -> Result<T, String> {
    match runtime.block_on(async { timeout(PATIENCE, work).await }) {
        Ok(outcome) => outcome.map_err(|error| error.to_string()),
        Err(_) => Err(format!("nothing was received within {} s", PATIENCE.as_secs())),
    }
}

/// An error if the channel is over for who tries this. What fails otherwise, or takes too long, is not refused.
fn out<T>(
    runtime: &Runtime,
    work: impl Future<Output = Result<T, gambeson_slim::Error>>,
) -> Result<String, String> {
    match runtime.block_on(async { timeout(PATIENCE, work).await }) {
        Ok(Err(error @ gambeson_slim::Error::Over)) => Err(error.to_string()),
        Ok(Err(error)) => Ok(format!("it fails with another error: {error}")),
        Ok(Ok(_)) => Ok("she does".to_owned()),
        Err(_) => Ok(format!("nothing was received within {} s", PATIENCE.as_secs())),
    }
}

/// Waits for these words of this sender.
pub(super) async fn hears(channel: &Channel, from: &Did, words: &str) -> Result<(), gambeson_slim::Error> {
    loop {
        if let Event::Message { id, bytes, .. } = channel.next().await?.event {
            channel.acknowledge().await?;
            if id.sender == from.as_str() && bytes == words.as_bytes() {
                return Ok(());
            }
        }
    }
}

pub(super) fn talk(show: &mut Show) -> Result<(), Error> {
    let runtime = Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|error| Error::stream(&"threads", &error))?;
    let spoken = spoken(show, &runtime);
    runtime.shutdown_timeout(Duration::from_secs(1));
    spoken
}

fn spoken(show: &mut Show, runtime: &Runtime) -> Result<(), Error> {
    let console = show.console;
    let ground = show.makes("what carries a channel", || {
        let ground = runtime.block_on(Ground::new(console))?;
        Ok((ground.tells(), ground))
    })?;
    let [alice, carol] = [Person::new()?, Person::new()?];
    let come = done(runtime, async {
        let from_alice = Admit::From([alice.did()].into());
        Ok((
            alice.node(&ground, Admit::Ask).await?,
            Bob::new(&ground, alice.did()).await?,
            carol.node(&ground, from_alice).await?,
        ))
    });
    let (at_alice, mut bob, at_carol) = come.map_err(Error::outside)?;
    let (ours, carols) = show.makes("Alice makes a channel with Bob and Carol", || {
        let made = done(runtime, async {
            let others = [bob.did(), carol.did()];
            for other in &others {
                while ground.services.keys.left(other.as_str()).await.map_err(wrong)? == 0 {
                    sleep(Duration::from_millis(10)).await;
                }
            }
            let rules = at_alice.policy().map_err(wrong)?.sign(&alice.agent);
            let ours = at_alice.create(rules.map_err(|why| wrong(why.into()))?).await.map_err(wrong)?;
            ours.invite(&others).await.map_err(wrong)?;
            bob.joined(&ours.id()).await?;
            let carols = at_carol.joined(&ours.id()).await;
            carols.until(|status| status.members.len() == 3).await.map_err(wrong)?;
            Ok((ours, carols))
        });
        let (ours, carols) = made.map_err(Error::outside)?;
        let status = ours.status();
        let suite = Suite::by_number(status.suite).map_or("an unknown suite", |suite| suite.name());
        Ok((format!("{suite}, epoch {}", status.epoch), (ours, carols)))
    })?;
    let id = ours.id();

    show.expects("both read what she says", true, || {
        done(runtime, async {
            ours.send("hello").await.map_err(wrong)?;
            bob.hears(&alice.did(), "hello").await?;
            hears(&carols, &alice.did(), "hello").await.map_err(wrong)
        })
        .map(|()| "each message is authenticated as Alice's, end to end".to_owned())
    })?;
    show.expects("Bob's program crashes and continues reading after a restart", true, || {
        done(runtime, async {
            let ended = bob.ends()?;
            ours.send("while Bob is away").await.map_err(wrong)?;
            bob.starts_again(&ground, &id).await?;
            bob.hears(&alice.did(), "while Bob is away").await?;
            Ok(format!("{ended}; the next process continues from the stored state and the log"))
        })
    })?;
    show.expects("Alice removes Carol", true, || {
        done(runtime, async {
            ours.remove(&[carol.did()]).await.map_err(wrong)?;
            ours.send("without Carol").await.map_err(wrong)?;
            bob.hears(&alice.did(), "without Carol").await
        })
        .map(|()| format!("epoch {}: a new key, sent to Bob only", ours.status().epoch))
    })?;
    show.expects("Carol tries to read later messages", false, || {
        out(runtime, hears(&carols, &alice.did(), "without Carol"))
    })?;
    show.expects("Carol says something herself", false, || out(runtime, carols.send("I am still here")))?;
    show.expects("Bob leaves", true, || {
        done(runtime, async {
            bob.leaves().await?;
            ours.until(|status| status.members.len() == 1).await.map_err(wrong)
        })
        .map(|()| format!("epoch {}: Alice is alone", ours.status().epoch))
    })
}
