//! An agent on a link: over nodes of SLIM, or within one process.

use std::collections::{HashMap, VecDeque};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, Instant};

use gambeson_identity as identity;
use gambeson_mls::Preset;
use gambeson_slim::Error::WorkLost;
use gambeson_slim::memory::{self, MemoryService};
use gambeson_slim::{Cards, FileStore, Link, Me, MemoryStore, Options, Role, Services, Store, leaf_keys};
use pyo3::prelude::*;
use pyo3_async_runtimes::tokio::future_into_py;
use tokio::task::spawn_blocking;
use tokio::time::{sleep, timeout};

use super::refusals::{Raised, usage};
use super::{NativeChannel, hold, leave};
use crate::convert::whole;
use crate::error::refused;
use crate::fork::{check_channels, has_channels, left_channels};
use crate::identity::agent::Agent;
use crate::identity::cards::CardLog;

/// How long an agent that comes to a link waits until others can invite it.
const OFFERING: Duration = Duration::from_secs(10);

/// How long messages are gathered at most, in seconds.
const LONGEST_BUNDLE: f64 = 10.0;

/// How long an agent that leaves waits for its tasks.
const CLOSING: Duration = Duration::from_secs(5);

/// How long the end of the interpreter waits for threads that are inside Python.
const RESTING: Duration = Duration::from_secs(2);

/// The keys for groups that a card lists for its agent to have every suite of a preset.
#[pyfunction]
pub fn channel_groups(py: Python<'_>, preset: &str) -> PyResult<Vec<&'static str>> {
    Ok(leaf_keys(self::preset(py, preset)?).into_iter().map(identity::Role::fragment).collect())
}

/// How an agent on a link behaves: the preset, whether order is causal, for how many seconds messages are gathered.
#[derive(FromPyObject)]
pub struct Manner(String, bool, f64);

impl Manner {
    fn options(&self, py: Python<'_>) -> PyResult<Options> {
        let Self(_, causal, bundle) = *self;
        if !(0.0..=LONGEST_BUNDLE).contains(&bundle) {
            return Err(usage(py, "the bundling time must be a number of seconds, at most ten"));
        }
        Ok(Options { causal, bundle: Duration::from_secs_f64(bundle), ..Options::default() })
    }
}

fn preset(py: Python<'_>, name: &str) -> PyResult<Preset> {
    name.parse().map_err(|_| usage(py, "unknown preset"))
}

/// Keeps every thread that works for channels busy for ever, so that none is inside Python, nor comes there any more: the interpreter, when
/// it ends, would tear it out of Rust code, and that ends the process.
#[pyfunction]
pub fn rest_channels(py: Python<'_>) {
    if !has_channels() {
        return;
    }
    let runtime = pyo3_async_runtimes::tokio::get_runtime();
    let (arrived, arrivals) = std::sync::mpsc::channel();
    let workers = runtime.metrics().num_workers();
    for _ in 0..workers {
        let arrived = arrived.clone();
        runtime.spawn(async move {
            let _ = arrived.send(());
            std::thread::sleep(Duration::MAX);
        });
    }
    py.detach(move || {
        let until = Instant::now() + RESTING;
        (0..workers).all(|_| arrivals.recv_timeout(until.saturating_duration_since(Instant::now())).is_ok());
        // Threads beside these, which are there for files, are inside Python for a moment at most.
        std::thread::sleep(Duration::from_millis(50));
    });
}

/// A link within one process, and a delivery service in memory: for tests, and for agents that live together.
#[pyclass(frozen, module = "gambeson.channel", name = "ChannelHub")]
#[derive(Default)]
pub struct Hub {
    hub: memory::Hub,
    service: Arc<MemoryService>,
}

#[pymethods]
impl Hub {
    #[new]
    fn new() -> Self {
        Self::default()
    }
}

/// An invitation that nobody decided on.
#[pyclass(frozen, module = "gambeson.channel", name = "ChannelInvitation")]
pub struct Invitation {
    invitation: gambeson_slim::Invitation,
    node: Weak<gambeson_slim::Node>,
}

#[pymethods]
impl Invitation {
    /// The DID of who says to invite, which is proven when it is accepted.
    #[getter]
    fn by(&self) -> &str {
        &self.invitation.inviter
    }

    /// The channel's id.
    #[getter]
    fn channel(&self) -> String {
        self.invitation.channel.to_string()
    }

    /// Joins.
    fn accept<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        check_channels(py)?;
        let node = self.node.upgrade().ok_or_else(|| usage(py, "this agent was closed"))?;
        let invitation = self.invitation.clone();
        finished(py, async move { node.accept(invitation).await.map(|channel| (node, channel)) })
    }
}

/// An agent on a link.
#[pyclass(frozen, module = "gambeson.channel", name = "ChannelNode")]
pub struct Node {
    /// None when it is closed.
    node: Mutex<Option<Arc<gambeson_slim::Node>>>,
    store: Mutex<Option<Arc<dyn Store>>>,
    invitations: Arc<Mutex<VecDeque<gambeson_slim::Invitation>>>,
}

impl Node {
    fn open(&self, py: Python<'_>) -> PyResult<Arc<gambeson_slim::Node>> {
        check_channels(py)?;
        hold(&self.node).clone().ok_or_else(|| usage(py, "this agent was closed"))
    }
}

#[pymethods]
impl Node {
    /// Creates a channel: roles by DID, and the role of all others.
    fn create<'py>(
        &self,
        py: Python<'py>,
        roles: HashMap<String, String>,
        others: &str,
    ) -> PyResult<Bound<'py, PyAny>> {
        let node = self.open(py)?;
        let mut policy = node.policy().raised()?;
        policy.others = role(py, others)?;
        for (did, name) in &roles {
            policy.roles.insert(did.parse().map_err(|error| refused(py, &error))?, role(py, name)?);
        }
        finished(py, async move {
            let signed = policy.sign(node.me().agent())?;
            node.create(signed).await.map(|channel| (node, channel))
        })
    }

    /// An invitation, if one came.
    fn invitation(&self, py: Python<'_>) -> PyResult<Option<Invitation>> {
        let node = self.open(py)?;
        let next = hold(&self.invitations).pop_front();
        Ok(next.map(|invitation| Invitation { invitation, node: Arc::downgrade(&node) }))
    }

    /// Returns when an invitation came.
    fn invited<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let (node, came) = (self.open(py)?, Arc::clone(&self.invitations));
        future_into_py(py, async move {
            if hold(&came).is_empty() {
                // From the one queue to the other without a wait between, as with messages.
                let next = node.invitation().await;
                hold(&came).push_back(next);
            }
            Ok(())
        })
    }

    /// The channels that the agent is in.
    fn channels(&self, py: Python<'_>) -> PyResult<Vec<NativeChannel>> {
        let node = self.open(py)?;
        let did = node.did().as_str();
        Ok(node.channels().into_iter().map(|channel| NativeChannel::new(did.to_owned(), channel)).collect())
    }

    /// Follows the agent to a new card.
    fn renew<'py>(
        &self,
        py: Python<'py>,
        identity: &Agent,
        cards: &CardLog,
        preset: &str,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (node, preset) = (self.open(py)?, self::preset(py, preset)?);
        let (agent, log) = (identity.share(py)?, cards.0.clone());
        let work = pyo3_async_runtimes::tokio::get_runtime().spawn(async move {
            let (me, log) = me(agent, log, preset).await?;
            node.renew(me, &log).await
        });
        future_into_py(py, async move { work.await.unwrap_or(Err(WorkLost)).raised() })
    }

    /// Leaves the link, and returns when nothing is written to the store any more. The channels go on without this agent, until it comes again
    /// with what its store has.
    fn close<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        check_channels(py)?;
        let (node, store) = (hold(&self.node).take(), hold(&self.store).take());
        future_into_py(py, async move {
            drop(node);
            // One is ours: all others end with the tasks that were the agent's.
            let ended = async {
                while store.as_ref().is_some_and(|store| Arc::strong_count(store) > 1) {
                    sleep(Duration::from_millis(1)).await;
                }
            };
            let _ = timeout(CLOSING, ended).await;
            Ok(())
        })
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        if left_channels() {
            leave(&mut self.node);
            leave(&mut self.store);
            return;
        }
        // What ends with it are tasks of the runtime.
        let _inside = pyo3_async_runtimes::tokio::get_runtime().enter();
        drop(hold(&self.node).take());
    }
}

/// Finishes what was begun, also if nobody waits for it any more, and gives the channel.
fn finished<'py, F>(py: Python<'py>, work: F) -> PyResult<Bound<'py, PyAny>>
where
    F: Future<Output = gambeson_slim::Result<(Arc<gambeson_slim::Node>, gambeson_slim::Channel)>>
        + Send
        + 'static,
{
    let work = pyo3_async_runtimes::tokio::get_runtime().spawn(work);
    future_into_py(py, async move {
        let (node, channel) = work.await.unwrap_or(Err(WorkLost)).raised()?;
        Ok(NativeChannel::new(node.did().as_str().to_owned(), channel))
    })
}

fn role(py: Python<'_>, name: &str) -> PyResult<Role> {
    name.parse().map_err(|_| usage(py, "a role must be `owner`, `moderator`, `member` or `listener`"))
}

/// Where an agent listens.
pub enum Where {
    Hub(Py<Hub>),
    Nodes(Vec<String>),
}

impl<'a, 'py> FromPyObject<'a, 'py> for Where {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        match object.cast::<Hub>() {
            Ok(hub) => Ok(Self::Hub(hub.to_owned().unbind())),
            Err(_) => object.extract().map(Self::Nodes),
        }
    }
}

/// Brings an agent to a link.
#[pyfunction]
#[pyo3(name = "open_channel_node")]
pub fn open_node<'py>(
    py: Python<'py>,
    identity: &Agent,
    cards: &CardLog,
    link: Where,
    service: &str,
    store: Option<PathBuf>,
    manner: Manner,
) -> PyResult<Bound<'py, PyAny>> {
    check_channels(py)?;
    let (preset, options) = (preset(py, &manner.0)?, manner.options(py)?);
    let (agent, log) = (identity.share(py)?, cards.0.clone());
    let service = name(py, service)?;
    let here = match link {
        Where::Hub(hub) => Ok((hub.get().hub.link(), Arc::clone(&hub.get().service))),
        Where::Nodes(nodes) => Err(nodes),
    };
    future_into_py(py, async move {
        let opened = async {
            let (me, log) = me(agent, log, preset).await?;
            let (link, services) = match here {
                Ok((link, service)) => (Arc::new(link) as Arc<dyn Link>, Services::of(service)),
                Err(nodes) => over_nodes(nodes, service).await?,
            };
            let store: Arc<dyn Store> = match store {
                Some(path) => Arc::new(FileStore::open(path)?),
                None => Arc::new(MemoryStore::new()),
            };
            let (keys, did) = (Arc::clone(&services.keys), me.did().clone());
            let cards = Arc::new(Cards::default());
            let node =
                gambeson_slim::Node::open(me, &log, cards, link, services, Arc::clone(&store), options)
                    .await?;
            // Who sees the agent open may invite it at once. Where the service does not answer, it is invited later.
            let offered = async {
                while !keys.left(did.as_str()).await.is_ok_and(|left| left > 0) {
                    sleep(OFFERING / 200).await;
                }
            };
            let _ = timeout(OFFERING, offered).await;
            gambeson_slim::Result::Ok((node, store))
        };
        let (node, store) = opened.await.raised()?;
        Ok(Node {
            node: Mutex::new(Some(Arc::new(node))),
            store: Mutex::new(Some(store)),
            invitations: Arc::default(),
        })
    })
}

/// Keys are made from the seed here, which takes its time.
async fn me(
    agent: Arc<identity::Agent>,
    log: identity::CardLog,
    preset: Preset,
) -> gambeson_slim::Result<(Me, identity::CardLog)> {
    let made = spawn_blocking(move || Me::new(agent, &log, preset).map(|me| (me, log)));
    made.await.map_err(|_| WorkLost)?
}

fn name(py: Python<'_>, text: &str) -> PyResult<gambeson_slim::Name> {
    match text.split('/').collect::<Vec<_>>()[..] {
        [organisation, namespace, service] if ![organisation, namespace, service].contains(&"") => {
            Ok(gambeson_slim::Name::new(organisation, namespace, service))
        }
        _ => Err(usage(py, "a service must be named `organisation/namespace/service`")),
    }
}

/// A link over nodes of SLIM, and the delivery service there, to which a link of its own leads.
async fn over_nodes(
    nodes: Vec<String>,
    service: gambeson_slim::Name,
) -> gambeson_slim::Result<(Arc<dyn Link>, Services)> {
    use gambeson_slim::datapath::DatapathLink;
    use gambeson_slim::delivery::{Client, Patience};

    let link = DatapathLink::connect(nodes.clone()).await?;
    let client = Client::new(DatapathLink::connect(nodes).await?, service, Patience::default()).await?;
    Ok((Arc::new(link), Services::of(Arc::new(client))))
}

/// A delivery service on nodes of SLIM.
#[pyclass(frozen, module = "gambeson.channel", name = "ChannelDelivery")]
pub struct Delivery(Mutex<Option<gambeson_slim::delivery::Server>>);

#[pymethods]
impl Delivery {
    /// Answers no more, and returns when what it keeps is kept.
    fn stop<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        check_channels(py)?;
        let server = hold(&self.0).take();
        future_into_py(py, async move {
            if let Some(server) = server {
                server.stop().await;
            }
            Ok(())
        })
    }
}

impl Drop for Delivery {
    fn drop(&mut self) {
        if left_channels() {
            leave(&mut self.0);
        }
    }
}

/// Begins to serve, from a file or from memory.
#[pyfunction]
#[pyo3(name = "open_channel_delivery")]
pub fn open_delivery<'py>(
    py: Python<'py>,
    nodes: Vec<String>,
    service: &str,
    file: Option<PathBuf>,
    #[pyo3(from_py_with = whole)] store: Option<u64>,
    #[pyo3(from_py_with = whole)] keep: Option<u64>,
) -> PyResult<Bound<'py, PyAny>> {
    use gambeson_slim::datapath::DatapathLink;
    use gambeson_slim::delivery::{Rules, serve};
    use gambeson_slim::engine::{Engine, File, Limits, Retention};

    check_channels(py)?;
    let service = name(py, service)?;
    future_into_py(py, async move {
        let opened = async {
            let engine: Arc<dyn Engine> = match file {
                Some(path) => {
                    let usual = Limits::default();
                    let limits = Limits { store: store.unwrap_or(usual.store), ..usual };
                    let age = keep.map(Duration::from_secs);
                    Arc::new(File::open(path, limits, Retention { age, ..Retention::default() })?)
                }
                None => Arc::new(MemoryService::with(Limits::default())),
            };
            serve(DatapathLink::connect(nodes).await?, service, engine, Rules::default()).await
        };
        opened.await.raised().map(|server| Delivery(Mutex::new(Some(server))))
    })
}
