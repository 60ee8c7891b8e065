//! `slim up`: nodes of SLIM, and the delivery service on them, until somebody ends it.

use super::{failed, gateway, link, maker, nats, runtime, service};
use crate::args::slim::{Engine, NODES, SlimUp};
use crate::console::Console;
use crate::error::{Error, Status};
use crate::unfinished::Unfinished;
use gambeson_slim::datapath::DatapathLink;
use gambeson_slim::delivery::{LINKS, Rules, Server, serve};
use gambeson_slim::engine::{self, File, Limits, Retention};
use gambeson_slim::memory::MemoryService;
use gambeson_slim::stock::{self, Node};
use serde_json::json;
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

/// How often the nodes are looked after.
const ROUND: Duration = Duration::from_millis(500);

pub(super) fn up(console: Console, options: &SlimUp) -> Result<Status, Error> {
    check_listen(options)?;
    gateway::examine(options)?;
    options.kept()?;
    let maker = maker::maker(console, options)?;
    let folder = tempfile::tempdir().map_err(|error| Error::stream(&"a temporary folder", &error))?;
    let ending = watch::Sender::new(false);
    let told = ending.clone();
    let _signals = Unfinished::service(move || {
        told.send_replace(true);
    });
    let runtime = runtime()?;
    let ran = runtime.block_on(async {
        // It ends after all that stands on it.
        let (engine, mut below) = engine(options, folder.path()).await?;
        let mut nodes = start(&maker, options, folder.path()).await?;
        let endpoints: Vec<String> = nodes.iter().map(Node::endpoint).collect();
        let (server, link) = begin(&endpoints, engine).await?;
        let gateway = match options.websocket {
            Some(listen) => Some(gateway::start(console, options, listen, &endpoints).await?),
            None => None,
        };
        tell(console, options, &nodes, &link, below.as_ref(), gateway.as_ref())?;
        // The link shows that nodes answer, and tells which.
        drop(link);
        attend(console, &mut nodes, below.as_mut(), ending.subscribe()).await?;
        console.say("ending")?;
        if let Some(gateway) = gateway {
            gateway.stop().await;
        }
        // Calls that were heard are answered, but not for ever.
        let _ = timeout(Duration::from_secs(10), server.stop()).await;
        Ok(())
    });
    runtime.shutdown_timeout(Duration::from_secs(1));
    ran.map(|()| Status::Done)
}

/// What the delivery service keeps things in, and the server that does it, if it is one of its own.
async fn engine(
    options: &SlimUp,
    running: &Path,
) -> Result<(Arc<dyn engine::Engine>, Option<nats::Server>), Error> {
    match options.engine {
        Engine::Memory => Ok((Arc::new(MemoryService::with(options.limits())), None)),
        Engine::Nats => {
            let (server, nats) =
                nats::start(&data(options)?.join("nats"), running, options.store, options.retention())
                    .await?;
            Ok((Arc::new(nats), Some(server)))
        }
        Engine::Redb => {
            let path = data(options)?.join("delivery.redb");
            let file = File::open(&path, options.limits(), options.retention()).map_err(|error| {
                let next =
                    "another slim up may have it open: end that one, or name another folder with --data; replace a \
                         damaged one with a copy";
                Error::outside(format!("{}: {error}; {next}", path.display())).because("engine")
            })?;
            Ok((Arc::new(file), None))
        }
    }
}

impl SlimUp {
    /// Refuses limits that the engine does not know.
    fn kept(&self) -> Result<(), Error> {
        let given = [
            (self.store.is_some(), "--store", self.engine != Engine::Memory),
            (self.channel.is_some(), "--channel", self.engine != Engine::Nats),
            (self.keep.is_some(), "--keep", self.engine == Engine::Redb),
            (self.keep_blobs.is_some(), "--keep-blobs", self.engine != Engine::Memory),
        ];
        match given.into_iter().find(|(given, _, known)| *given && !known) {
            Some((_, option, _)) => {
                Err(Error::usage(format!("{option} does not apply to --engine {}", self.engine.name())))
            }
            None => Ok(()),
        }
    }

    fn limits(&self) -> Limits {
        let (usual, bytes) = (Limits::default(), |mib: u64| mib << 20);
        Limits {
            bytes: self.channel.map_or(usual.bytes, bytes),
            store: self.store.map_or(usual.store, bytes),
            ..usual
        }
    }

    fn retention(&self) -> Retention {
        let hours = |hours: u64| Duration::from_secs(hours * 60 * 60);
        Retention {
            entries: None,
            age: self.keep.map(hours),
            blobs: self.keep_blobs.map(|days| hours(days * 24)),
        }
    }
}

/// The folder of what the delivery service keeps.
fn data(options: &SlimUp) -> Result<PathBuf, Error> {
    let folder = match &options.data {
        Some(folder) => folder.clone(),
        None => maker::folder()?.join("slim"),
    };
    fs::create_dir_all(&folder).map_err(|error| Error::io(&folder, &error))?;
    // A server of its own has another working folder in mind.
    fs::canonicalize(&folder).map_err(|error| Error::io(&folder, &error))
}

/// Refuses to let other machines in unless every client of the nodes is trusted.
fn check_listen(options: &SlimUp) -> Result<(), Error> {
    let address = options.listen.ip().to_canonical();
    match address.is_loopback() || options.trust_every_client {
        true => Ok(()),
        false => Err(Error::usage(format!(
            "--listen {}: other machines could connect, and any client of a node can answer in place of the delivery service; --trust-every-client allows \
             it, and a node of your own that asks clients for certificates keeps strangers away",
            options.listen
        ))
        .because("untrusted-clients")),
    }
}

async fn start(maker: &stock::Maker, options: &SlimUp, folder: &Path) -> Result<Vec<Node>, Error> {
    let count = usize::from(options.nodes);
    let first = options.listen;
    let started = if first.port() == 0 {
        stock::start(maker, count, first.ip(), folder).await
    } else {
        let ports = (0..options.nodes).map(|offset| first.port().checked_add(offset));
        let ports = ports.collect::<Option<Vec<u16>>>();
        let ports = ports.ok_or_else(|| Error::usage("there are too few ports after that of --listen"))?;
        let addresses: Vec<_> = ports.into_iter().map(|port| SocketAddr::new(first.ip(), port)).collect();
        stock::start_at(maker, &addresses, folder).await
    };
    started.map_err(|error| {
        let next = "if the address is in use, name another with --listen; 127.0.0.1:0 takes a free port";
        Error::outside(format!("{error}; {next}")).because("no-node")
    })
}

async fn begin(
    endpoints: &[String],
    engine: Arc<dyn engine::Engine>,
) -> Result<(Server, DatapathLink), Error> {
    let mut server =
        serve(link(endpoints).await?, service(), engine, Rules::default()).await.map_err(failed)?;
    for _ in 1..LINKS {
        server.also(link(endpoints).await?).await.map_err(failed)?;
    }
    Ok((server, link(endpoints).await?))
}

/// Tells what runs, and how others come here.
fn tell(
    console: Console,
    options: &SlimUp,
    nodes: &[Node],
    link: &DatapathLink,
    below: Option<&nats::Server>,
    gateway: Option<&gateway::Running>,
) -> Result<(), Error> {
    let version = link.connected().map_or_else(|| "unknown".to_owned(), |node| node.version);
    for node in nodes {
        let (at, pid) = (node.endpoint(), node.pid());
        console.report(
            format_args!("node of SLIM {version}, process {pid}, at {at}"),
            json!({"type": "node", "version": version, "pid": pid, "endpoint": at}),
        )?;
    }
    let engine = options.engine.name();
    if let Some(server) = below {
        let pid = server.pid();
        console.report(format_args!("nats-server, process {pid}"), json!({"type": "nats", "pid": pid}))?;
    }
    console.say(format_args!(
        "delivery service over {engine}; without TLS: nodes carry ciphertext, and see names, sizes and times"
    ))?;
    if let Some(gateway) = gateway {
        gateway.tell(console)?;
    }
    let endpoints: Vec<String> = nodes.iter().map(Node::endpoint).collect();
    let join = format!("export {NODES}={}", endpoints.join(","));
    console.report(&join, json!({"type": "up", "join": join, "engine": engine, "endpoints": endpoints}))
}

/// Starts a node again that has ended by itself, until it is time to end.
async fn attend(
    console: Console,
    nodes: &mut [Node],
    mut below: Option<&mut nats::Server>,
    mut ending: watch::Receiver<bool>,
) -> Result<(), Error> {
    loop {
        tokio::select! {
            () = sleep(ROUND) => {}
            _ = ending.wait_for(|ending| *ending) => return Ok(()),
        }
        if below.as_deref_mut().is_some_and(nats::Server::has_ended) {
            return Err(
                Error::outside("nats-server has ended by itself: start slim up again").because("no-nats")
            );
        }
        for node in nodes.iter_mut().filter_map(|node| node.has_ended().then_some(node)) {
            let started = node.restart().await;
            let (at, pid) = (node.endpoint(), node.pid());
            let (text, error) = match &started {
                Ok(()) => (format!("the node at {at} had ended, and runs again as process {pid}"), None),
                Err(error) => (format!("the node at {at} has ended: {error}"), Some(error.to_string())),
            };
            console
                .report(text, json!({"type": "restarted", "endpoint": at, "pid": pid, "detail": error}))?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        up: SlimUp,
    }

    #[test]
    fn limits_are_in_mebibytes_hours_and_days_and_without_them_those_of_the_engine() {
        let up =
            |line: &str| Line::try_parse_from(line.split(' ')).unwrap_or_else(|error| panic!("{error}")).up;
        let usual = up("up");
        assert_eq!((usual.limits(), usual.retention()), (Limits::default(), Retention::default()));
        let given = up("up --store 64 --channel 2 --keep 48 --keep-blobs 3");
        assert_eq!(given.limits(), Limits { store: 64 << 20, bytes: 2 << 20, ..Limits::default() });
        let hour = Duration::from_secs(3_600);
        let retention = Retention { entries: None, age: Some(48 * hour), blobs: Some(72 * hour) };
        assert_eq!(given.retention(), retention);
    }
}
