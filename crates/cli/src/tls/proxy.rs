//! `tls proxy`: TLS in front of a server that has none, or towards one for clients that have none.
//!
//! # Layout
//!
//! * `connection`: one connection, from its first byte to the line that tells of it
//! * `relay`: bytes both ways, with back-pressure
//! * `header`: the PROXY protocol
//! * `sides`: certificates and keys, which a reload reads again
//! * `log`, `metrics`: what is told
//! * `host`: descriptors, SIGHUP, systemd
//! * this file: the command, its limits and its end

mod connection;
mod header;
mod host;
mod metrics;
mod relay;
mod sides;

pub(super) use connection::note;
pub(super) use host::Hangup;

use super::host_and_port;
use super::lists::Lists;
use super::log::Log;
use crate::args::tls::TlsProxy;
use crate::console::{Console, counted};
use crate::error::{Error, Status};
use crate::guard;
use crate::unfinished::Unfinished;
use gambeson_rustls::rustls::{CipherSuite, KeyLog, KeyLogFile};
use host::{State, descriptors, tell_manager};
use metrics::Metrics;
use serde_json::json;
use sides::Sides;
use std::fs::OpenOptions;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::runtime;
use tokio::sync::{Semaphore, watch};
use tokio::time::timeout;

/// The most connections, where the command line does not say and the system allows it.
const CONNECTIONS: u32 = 8192;
/// How many are told at a time that there is no place; more than these are dropped.
const REFUSALS: usize = 64;
/// Descriptors for other things than connections: refusals, readers of counters, files, names that are looked up.
const OTHER_DESCRIPTORS: u64 = 160;
/// How many callers may wait to be accepted.
const BACKLOG: u32 = 4096;

/// How far the end has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Running,
    /// No more callers; connections go on.
    Draining,
    /// Connections end.
    Over,
}

/// What every connection needs.
struct Proxy {
    server: (String, u16),
    sides: RwLock<Arc<Sides>>,
    alpn: Vec<Vec<u8>>,
    send_header: bool,
    balancers: Vec<IpAddr>,
    handshake_limit: Duration,
    connect_limit: Duration,
    idle: Duration,
    phase: watch::Receiver<Phase>,
    metrics: Arc<Metrics>,
    log: Log,
}

impl Proxy {
    /// The certificates and keys of now.
    fn sides(&self) -> Arc<Sides> {
        Arc::clone(&self.sides.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Takes other certificates and keys for the connections that come.
    fn take(&self, sides: Sides) {
        if let Some(clients) = &sides.clients {
            self.metrics.expire(clients.expires);
        }
        *self.sides.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(sides);
    }
}

/// Whether these bytes are a header of the PROXY protocol.
pub(crate) fn proxy_header(bytes: &[u8]) -> Result<(), String> {
    header::parse(bytes).map(drop)
}

pub(super) fn proxy(console: Console, options: &TlsProxy) -> Result<Status, Error> {
    let server = host_and_port(&options.connect, None)?;
    let places = places(options.connections, descriptors())?;
    let keys = key_log(options.key_log)?;
    let (sides, _) = Sides::read(options, &server.0, keys.as_ref(), &Lists::default())?;
    std::env::var_os("SSLKEYLOGFILE")
        .filter(|_| options.key_log)
        .map_or(Ok(()), |path| guard::refuse(path.as_ref()))?;
    // Before any thread is started, so that none of them is woken by it.
    let hangup = Hangup::hold()?;
    let metrics = Arc::new(Metrics::new());
    metrics.limit.set(places.into());
    let log = Log::start(console, Some(&options.access_log), metrics.untold.clone())?;
    let (ending, phase) = watch::channel(Phase::Running);
    let ending = Arc::new(ending);
    let proxy = Arc::new(Proxy {
        server,
        sides: RwLock::new(Arc::new(Sides { clients: None, server: None, lists: Lists::default() })),
        alpn: sides::protocols(options),
        send_header: options.send_proxy,
        balancers: options.accept_proxy.iter().map(IpAddr::to_canonical).collect(),
        handshake_limit: Duration::from_secs(options.handshake_timeout),
        connect_limit: Duration::from_secs(options.connect_timeout),
        idle: Duration::from_secs(options.idle_timeout),
        phase,
        metrics,
        log,
    });
    proxy.take(sides);
    let runtime = runtime::Builder::new_multi_thread().enable_io().enable_time().build();
    let runtime = runtime.map_err(|error| Error::stream(&"threads", &error))?;
    let ran = runtime.block_on(async {
        let listener = listen(options.listen, BACKLOG)?;
        let address = listener.local_addr().map_err(|error| Error::stream(&options.listen, &error))?;
        let readers = options.metrics.map(|address| listen(address, 64)).transpose()?;
        let counters =
            readers.as_ref().map(|readers| readers.local_addr().map(|address| address.to_string()));
        let counters = counters.transpose().map_err(|error| Error::stream(&"--metrics", &error))?;
        let told = Arc::clone(&ending);
        let _signals = Unfinished::service(move || {
            told.send_replace(Phase::Draining);
        });
        on_hangup(hangup, &proxy, options, keys.clone())?;
        if let Some(readers) = readers {
            tokio::spawn(metrics::serve(readers, Arc::clone(&proxy.metrics)));
        }
        let mut beside =
            counters.as_ref().map_or_else(String::new, |at| format!(", counters on http://{at}/metrics"));
        if keys.is_some() {
            beside += ", THE SECRETS OF ALL CONNECTIONS GO TO SSLKEYLOGFILE";
        }
        console.report(
            format_args!(
                "listening on {address}, for {} to {}{beside}",
                counted(places, "connection"),
                options.connect
            ),
            json!({
            "type": "listening",
            "address": address.to_string(),
                "connections": places,
                "connect": options.connect,
                "metrics": counters,
                "keyLog": keys.is_some(),
            }),
        )?;
        tell_manager(State::Ready);
        let limit = Arc::new(Semaphore::new(places as usize));
        accept(&proxy, listener, &limit, places).await;
        tell_manager(State::Stopping);
        drain(&proxy, &limit, places, Duration::from_secs(options.drain_timeout), &ending).await;
        Ok(())
    });
    // Names that are still looked up are not waited for.
    runtime.shutdown_background();
    proxy.log.end();
    ran.map(|()| Status::Done)
}

/// Takes callers until it is told to end.
async fn accept(proxy: &Arc<Proxy>, listener: TcpListener, limit: &Arc<Semaphore>, places: u32) {
    let mut phase = proxy.phase.clone();
    let refusals = Arc::new(Semaphore::new(REFUSALS));
    let (full, broken) = (Notice::default(), Notice::default());
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = phase.wait_for(|phase| *phase != Phase::Running) => return,
        };
        let (socket, from) = match accepted {
            Ok(caller) => caller,
            Err(error) => {
                // A caller that went away, or no descriptors; others may come, or give some back.
                if let Some(more) = broken.due() {
                    let json = json!({"type": "accept-failed", "detail": error.to_string(), "times": more});
                    proxy.log.trouble(format!("a connection could not be accepted: {error}"), json);
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
                continue;
            }
        };
        match Arc::clone(limit).try_acquire_owned() {
            Ok(place) => {
                proxy.metrics.accepted.inc();
                proxy.metrics.connections.inc();
                let proxy = Arc::clone(proxy);
                tokio::spawn(async move {
                    // Given back however the connection ends.
                    let _place = Place(place, Arc::clone(&proxy.metrics));
                    connection::serve(proxy, socket, from).await;
                });
            }
            Err(_) => {
                proxy.metrics.refused("connections");
                if let Some(more) = full.due() {
                    let text = format!(
                        "{from} was refused: all {places} places are taken ({more} refused so far); --connections sets how many there are"
                    );
                    let json =
                        json!({"type": "refused", "peer": from.to_string(), "limit": places, "times": more});
                    proxy.log.trouble(text, json);
                }
                turn_away(proxy, &refusals, socket);
            }
        }
    }
}

/// Has a caller told that there is no place, if not too many are told right now.
fn turn_away(proxy: &Proxy, refusals: &Arc<Semaphore>, socket: TcpStream) {
    if let Ok(permit) = Arc::clone(refusals).try_acquire_owned() {
        let speaks_tls = proxy.sides().clients.is_some();
        tokio::spawn(async move {
            connection::refuse(socket, speaks_tls).await;
            drop(permit);
        });
    }
}

/// A place among the connections.
struct Place(
    #[expect(dead_code, reason = "it gives the place back when it is dropped")]
    tokio::sync::OwnedSemaphorePermit,
    Arc<Metrics>,
);

impl Drop for Place {
    fn drop(&mut self) {
        self.1.connections.dec();
    }
}

/// Something that may happen very often, and is told once a second.
#[derive(Default)]
struct Notice(Mutex<(Option<Instant>, u64)>);

impl Notice {
    /// How often it has happened, if it is to be told now.
    fn due(&self) -> Option<u64> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.1 += 1;
        if state.0.is_some_and(|told| told.elapsed() < Duration::from_secs(1)) {
            return None;
        }
        state.0 = Some(Instant::now());
        Some(state.1)
    }
}

/// Waits until connections have come to their end, for so long, and ends the others.
async fn drain(
    proxy: &Proxy,
    limit: &Semaphore,
    places: u32,
    patience: Duration,
    ending: &watch::Sender<Phase>,
) {
    let left = places as usize - limit.available_permits();
    let text = match left {
        0 => "stopping; no open connections".to_owned(),
        _ => format!("stopping; {} may go on for {} s", counted(left, "open connection"), patience.as_secs()),
    };
    proxy.log.event(text, json!({"type": "draining", "connections": left, "seconds": patience.as_secs()}));
    if timeout(patience, limit.acquire_many(places)).await.is_err() {
        let left = places as usize - limit.available_permits();
        ending.send_replace(Phase::Over);
        // Each of them tells of itself; they need no time but the processor's.
        let _ = timeout(Duration::from_secs(10), limit.acquire_many(places)).await;
        proxy.log.event(
            format!("stopped; ended {}", counted(left, "open connection")),
            json!({"type": "ended", "connections": left}),
        );
    }
}

/// Reads certificates, keys and roots again on SIGHUP; if one of the files does not hold, all stays as it is.
fn on_hangup(
    hangup: Hangup,
    proxy: &Arc<Proxy>,
    options: &TlsProxy,
    keys: Option<Arc<dyn KeyLog>>,
) -> Result<(), Error> {
    let proxy = Arc::clone(proxy);
    let options = options.clone();
    hangup.each(move || {
        tell_manager(State::Reloading);
        proxy.log.reopen();
        let read = Sides::read(&options, &proxy.server.0, keys.as_ref(), &proxy.sides().lists);
        proxy.metrics.reloaded(read.is_ok());
        match read {
            Ok((sides, kept)) => {
                proxy.take(sides);
                proxy.log.kept(kept);
                proxy.log.event("reloaded", json!({"type": "reloaded"}));
            }
            Err(error) => proxy.log.trouble(
                format!("not reloaded, the previous files stay in use: {error}"),
                json!({"type": "reload-failed", "detail": error.to_string(), "reason": error.reason()}),
            ),
        }
        tell_manager(State::Ready);
    })
}

/// How many connections there may be: two descriptors each, and some for other things.
fn places(asked: Option<u32>, descriptors: Option<u64>) -> Result<u32, Error> {
    let possible = descriptors.map_or(u64::MAX, |all| all.saturating_sub(OTHER_DESCRIPTORS) / 2);
    match asked {
        Some(asked) if u64::from(asked) > possible => Err(Error::usage(format!(
            "--connections {asked} needs {} descriptors, and the system allows {}: raise the hard limit (ulimit -Hn, LimitNOFILE= of \
             systemd), or take at most {possible}",
            u64::from(asked) * 2 + OTHER_DESCRIPTORS,
            descriptors.unwrap_or_default(),
        ))
        .because("too-few-descriptors")),
        Some(asked) => Ok(asked),
        None if possible == 0 => {
            Err(Error::outside("the system allows too few descriptors: raise the hard limit (ulimit -Hn)")
                .because("too-few-descriptors"))
        }
        None => Ok(CONNECTIONS.min(u32::try_from(possible).unwrap_or(CONNECTIONS))),
    }
}

fn listen(address: SocketAddr, backlog: u32) -> Result<TcpListener, Error> {
    let listen = || {
        let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
        // As everywhere but on Windows, where it would let others in.
        socket.set_reuseaddr(cfg!(unix))?;
        socket.bind(address)?;
        socket.listen(backlog)
    };
    listen().map_err(|error: io::Error| Error::stream(&address, &error))
}

/// Where secrets of connections are written, when both the command line and the environment say so.
fn key_log(asked: bool) -> Result<Option<Arc<dyn KeyLog>>, Error> {
    if !asked {
        return Ok(None);
    }
    let path = std::env::var_os("SSLKEYLOGFILE").filter(|path| !path.is_empty());
    let path = path.ok_or_else(|| Error::usage("--key-log: SSLKEYLOGFILE names no file"))?;
    let mut file = OpenOptions::new();
    // Its owner's alone, if it is new.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut file, 0o600);
    let path = Path::new(&path);
    file.append(true).create(true).open(path).map_err(|error| Error::creating(path, &error))?;
    Ok(Some(Arc::new(KeyLogFile::new())))
}

/// The name of a cipher suite, as registered.
pub(super) fn suite_name(suite: CipherSuite) -> String {
    // rustls writes `TLS13_` for what is registered as `TLS_`.
    format!("{suite:?}").replacen("TLS13_", "TLS_", 1)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // A test may fail that way.

    use super::*;

    #[test]
    fn as_many_connections_as_descriptors_allow() {
        assert_eq!(places(None, Some(1 << 20)).unwrap(), 8192);
        assert_eq!(places(None, Some(1024)).unwrap(), 432);
        assert_eq!(places(None, None).unwrap(), 8192);
        assert_eq!(places(Some(432), Some(1024)).unwrap(), 432);
        assert_eq!(places(Some(100_000), None).unwrap(), 100_000);
        let refused = places(Some(433), Some(1024)).unwrap_err();
        assert_eq!((refused.status(), refused.reason()), (Status::Usage, Some("too-few-descriptors")));
        assert!(refused.to_string().contains("needs 1026 descriptors, and the system allows 1024"));
        assert!(places(None, Some(161)).is_err());
    }

    #[test]
    fn suites_have_their_registered_names() {
        assert_eq!(suite_name(CipherSuite::TLS13_AES_256_GCM_SHA384), "TLS_AES_256_GCM_SHA384");
    }

    #[test]
    fn what_happens_often_is_told_once_a_second() {
        let notice = Notice::default();
        assert_eq!(notice.due(), Some(1));
        assert_eq!((notice.due(), notice.due()), (None, None));
        notice.0.lock().unwrap().0 = Instant::now().checked_sub(Duration::from_secs(2));
        assert_eq!(notice.due(), Some(4));
    }
}
