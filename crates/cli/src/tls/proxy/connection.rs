//! One connection, from its first byte to the line that tells of it.

use super::super::{group_name, scheme_name, told};
use super::header::{self, Caller};
use super::relay::{Moved, relay};
use super::sides::Sides;
use super::{Phase, Proxy, suite_name};
use crate::console::{present, rfc3339};
use gambeson_rustls::explain;
use gambeson_rustls::rustls::server::Acceptor;
use gambeson_rustls::rustls::{
    self, CipherSuite, CommonState, HandshakeKind, NamedGroup, ServerConfig, SignatureScheme,
};
use serde_json::{Map, Value, json};
use std::cell::Cell;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, SystemTime};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::net::{TcpStream, lookup_host};
use tokio::time::{Instant, timeout, timeout_at};
use tokio_rustls::server::StartHandshake;
use tokio_rustls::{LazyConfigAcceptor, TlsConnector, TlsStream};

/// The most bytes of TLS that wait for a slow reader, beside those of the system: two records.
const WAITING: usize = 32 << 10;

tokio::task_local! {
    /// With which scheme the server of this task's connection has signed.
    static SCHEME: Cell<Option<SignatureScheme>>;
}

/// Notes the scheme with which a server has signed.
pub(in super::super) fn note(scheme: SignatureScheme) {
    // Outside of a connection there is nobody to tell.
    let _ = SCHEME.try_with(|noted| noted.set(Some(scheme)));
}

/// The two sides of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Client,
    Server,
}

impl Side {
    pub(super) fn other(self) -> Self {
        match self {
            Self::Client => Self::Server,
            Self::Server => Self::Client,
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Server => "server",
        }
    }
}

/// The error of TLS inside one of a stream.
fn tls(error: &io::Error) -> Option<&rustls::Error> {
    error.get_ref().and_then(|inner| inner.downcast_ref())
}

/// Why a connection ended before both sides had said that they were done.
#[derive(Debug)]
pub(super) struct End {
    pub code: &'static str,
    /// Who is to blame, where somebody is.
    pub side: Option<Side>,
    pub why: String,
}

impl End {
    fn new(code: &'static str, side: Side, why: impl ToString) -> Self {
        Self { code, side: Some(side), why: why.to_string() }
    }

    /// The connection with one side broke, or ended as TLS does not end.
    pub(super) fn cut(side: Side, error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => Self::new("no-goodbye", side, "TCP ended before TLS did"),
            _ => match tls(error) {
                Some(tls) => Self::new("cut", side, explain(tls)),
                None => Self::new("cut", side, error),
            },
        }
    }

    pub(super) fn idle(limit: Duration) -> Self {
        Self { code: "idle", side: None, why: format!("no bytes moved for {} s", limit.as_secs()) }
    }

    fn stopped() -> Self {
        Self { code: "stopped", side: None, why: "the proxy is stopping".into() }
    }

    /// What went wrong in a handshake: which check failed, where one did.
    fn handshake(side: Side, error: &io::Error) -> Self {
        match tls(error) {
            Some(tls) => {
                let (what, code) = told(tls);
                Self::new(code, side, what)
            }
            None => Self::new("cut", side, error),
        }
    }

    fn too_slow(side: Side, limit: Duration) -> Self {
        Self::new("handshake-timeout", side, format!("no handshake within {} s", limit.as_secs()))
    }
}

/// What a handshake agreed on.
#[derive(Debug, Default)]
pub(super) struct Facts {
    /// The name that the client asked for, or that we ask the server for.
    pub name: Option<String>,
    pub alpn: Option<Vec<u8>>,
    pub group: Option<NamedGroup>,
    /// None in a resumed session, in which nobody signs.
    pub scheme: Option<SignatureScheme>,
    pub suite: Option<CipherSuite>,
    pub client_certificate: bool,
    pub resumed: bool,
}

impl Facts {
    fn of(connection: &CommonState, name: Option<String>, scheme: Option<SignatureScheme>) -> Self {
        let resumed = connection.handshake_kind() == Some(HandshakeKind::Resumed);
        Self {
            name,
            alpn: connection.alpn_protocol().map(<[u8]>::to_vec),
            group: connection.negotiated_key_exchange_group().map(|group| group.name()),
            scheme: scheme.filter(|_| !resumed),
            suite: connection.negotiated_cipher_suite().map(|suite| suite.suite()),
            client_certificate: false,
            resumed,
        }
    }

    pub(super) fn group_name(&self) -> String {
        self.group.map_or_else(|| "none".into(), group_name)
    }

    pub(super) fn scheme_name(&self) -> String {
        self.scheme.map_or_else(|| "none".into(), scheme_name)
    }

    fn json(&self) -> Value {
        present(json!({
            "name": self.name,
            "group": self.group.map(group_name),
            "scheme": self.scheme.map(scheme_name),
            "suite": self.suite.map(suite_name),
            "alpn": self.alpn.as_ref().map(|alpn| String::from_utf8_lossy(alpn).into_owned()),
            "resumed": self.resumed,
        }))
    }
}

/// What the access log tells of a connection.
struct Record {
    time: SystemTime,
    begun: Instant,
    from: SocketAddr,
    caller: Option<Caller>,
    client: Option<Facts>,
    server: Option<Facts>,
    moved: Moved,
}

impl Record {
    fn json(&self, end: &Result<(), End>) -> Value {
        let mut line = Map::new();
        let mut tell = |name: &str, value: Value| drop(line.insert(name.into(), value));
        tell("type", "connection".into());
        // 64 bits of milliseconds outlast every clock.
        let since = self.time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        tell("time", rfc3339(u64::try_from(since.as_millis()).unwrap_or(u64::MAX)).into());
        let told = self.caller.as_ref().and_then(|caller| caller.addresses);
        tell("peer", told.map_or(self.from, |(from, _)| from).to_string().into());
        if self.caller.is_some() {
            tell("balancer", self.from.to_string().into());
        }
        for (side, facts) in [("client", &self.client), ("server", &self.server)] {
            if let Some(facts) = facts {
                tell(side, facts.json());
            }
        }
        tell("bytesUp", self.moved.up.into());
        tell("bytesDown", self.moved.down.into());
        tell("seconds", (self.begun.elapsed().as_micros() as f64 / 1e6).into());
        tell("end", end.as_ref().err().map_or("closed", |end| end.code).into());
        if let Err(end) = end {
            tell("side", end.side.map(Side::name).into());
            tell("detail", end.why.as_str().into());
        }
        line.into()
    }
}

/// A side's socket, with TLS or without.
enum Stream {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

impl Stream {
    /// Has a side without TLS learn that not all has come: its system tells of a reset, and not of an end. With TLS the goodbye is
    /// missing.
    fn abort(&self) {
        if let Self::Plain(socket) = self {
            // Without it the end looks like any other.
            let _ = socket.set_zero_linger();
        }
    }
}

/// A client without TLS for which there is no server yet. If none comes, a reset says so: an end would look like an answer without a
/// byte.
struct Waiting(Option<Stream>);

impl Waiting {
    fn met(mut self) -> Stream {
        self.0.take().expect("nobody else takes it")
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if let Some(client) = &self.0 {
            client.abort();
        }
    }
}

/// Serves a connection to its end, and tells of it.
pub(super) async fn serve(proxy: Arc<Proxy>, socket: TcpStream, from: SocketAddr) {
    let mut record = Record {
        time: SystemTime::now(),
        begun: Instant::now(),
        from,
        caller: None,
        client: None,
        server: None,
        moved: Moved::default(),
    };
    let end = SCHEME.scope(Cell::new(None), converse(&proxy, socket, &mut record)).await;
    proxy.metrics.ended(end.as_ref().err().map_or("closed", |end| end.code));
    proxy.log.connection(record.json(&end));
}

async fn converse(proxy: &Proxy, socket: TcpStream, record: &mut Record) -> Result<(), End> {
    let mut phase = proxy.phase.clone();
    let over = async move {
        // Whoever could tell is gone with the proxy.
        let _ = phase.wait_for(|phase| *phase == Phase::Over).await;
    };
    tokio::pin!(over);
    // In a box: what handshakes need is not kept as long as the connection lives.
    let meeting = Box::pin(meet(proxy, socket, record));
    let (mut client, mut server) = tokio::select! {
        met = meeting => met?,
        () = &mut over => return Err(End::stopped()),
    };
    let counters = proxy.metrics.bytes();
    let mut moved = Moved::default();
    let end = tokio::select! {
        end = relay(&mut client, &mut server, proxy.idle, counters, &mut moved) => end,
        () = &mut over => Err(End::stopped()),
    };
    record.moved = moved;
    if end.is_err() {
        client.abort();
        server.abort();
    }
    end
}

/// Learns who calls, and makes both connections ready.
async fn meet(proxy: &Proxy, mut socket: TcpStream, record: &mut Record) -> Result<(Stream, Stream), End> {
    let sides = proxy.sides();
    let limit = proxy.handshake_limit;
    let deadline = Instant::now() + limit;
    let slow = |_| End::too_slow(Side::Client, limit);
    // Small answers are not kept waiting for more.
    let _ = socket.set_nodelay(true);
    if !proxy.balancers.is_empty() {
        if !proxy.balancers.contains(&record.from.ip().to_canonical()) {
            return Err(End::new("not-a-balancer", Side::Client, "--accept-proxy does not name its address"));
        }
        let told = timeout_at(deadline, header::read(&mut socket)).await.map_err(slow)?;
        record.caller = Some(told.map_err(|error| End::new("proxy-header", Side::Client, error))?);
    }
    let called = socket.local_addr().map_err(|error| End::cut(Side::Client, &error))?;
    let told = record.caller.as_ref().and_then(|caller| caller.addresses);
    let (from, called) = told.unwrap_or((record.from, called));

    let Some(clients) = &sides.clients else {
        // What the client speaks is decided already where a balancer tells it.
        let told = record.caller.as_ref().and_then(|caller| caller.alpn.clone());
        let offer = told.map_or_else(|| proxy.alpn.clone(), |alpn| vec![alpn]);
        let header = proxy.send_header.then(|| header::write(from, called, None));
        let client = Waiting(Some(Stream::Plain(socket)));
        let server = connect(proxy, &sides, header, offer, record).await?;
        return Ok((client.met(), server));
    };
    let begun = Instant::now();
    let hello =
        timeout_at(deadline, LazyConfigAcceptor::new(Acceptor::default(), socket)).await.map_err(slow)?;
    let hello = hello.map_err(|error| failed(proxy, Side::Client, &error))?;
    let asked = hello.client_hello();
    let name = asked.server_name().map(str::to_owned);
    let scheme = clients.key.key.choose_scheme(asked.signature_schemes()).map(|signer| signer.scheme());
    let offer: Vec<Vec<u8>> = asked.alpn().into_iter().flatten().map(<[u8]>::to_vec).collect();

    // With TLS on both sides client and server agree on a protocol as if there were nobody between them; but nothing is done for a client that has
    // yet to show who it is.
    if sides.server.is_some() && proxy.alpn.is_empty() && !clients.show_certificates {
        let unfinished = Facts { name: name.clone(), ..Facts::default() };
        let header = proxy.send_header.then(|| header::write(from, called, Some(&unfinished)));
        let server = connect(proxy, &sides, header, offer, record).await?;
        let agreed = record.server.as_ref().and_then(|facts| facts.alpn.clone());
        let mut config = ServerConfig::clone(&clients.config);
        config.alpn_protocols = agreed.into_iter().collect();
        let shaken =
            finish(proxy, hello, Arc::new(config), begun, Instant::now() + limit, (name, scheme), record);
        return Ok((shaken.await?, server));
    }
    let config = Arc::clone(&clients.config);
    let client = finish(proxy, hello, config, begun, deadline, (name, scheme), record).await?;
    let header = proxy.send_header.then(|| header::write(from, called, record.client.as_ref()));
    // The client speaks it from here on: the server is asked for nothing else.
    let agreed = record.client.as_ref().and_then(|facts| facts.alpn.clone());
    let server = connect(proxy, &sides, header, agreed.into_iter().collect(), record).await?;
    Ok((client, server))
}

/// Ends the handshake with a client whose first message was read.
async fn finish(
    proxy: &Proxy,
    hello: StartHandshake<TcpStream>,
    config: Arc<ServerConfig>,
    begun: Instant,
    deadline: Instant,
    (name, scheme): (Option<String>, Option<SignatureScheme>),
    record: &mut Record,
) -> Result<Stream, End> {
    let accepting = hello.into_stream_with(config, |connection| connection.set_buffer_limit(Some(WAITING)));
    let stream = timeout_at(deadline, accepting).await;
    let stream = stream.map_err(|_| End::too_slow(Side::Client, proxy.handshake_limit))?;
    let stream = stream.map_err(|error| failed(proxy, Side::Client, &error))?;
    let connection = stream.get_ref().1;
    let client_certificate = connection.peer_certificates().is_some();
    let facts = Facts { client_certificate, ..Facts::of(connection, name, scheme) };
    proxy.metrics.shaken(Side::Client, &facts, begun.elapsed());
    record.client = Some(facts);
    Ok(Stream::Tls(Box::new(stream.into())))
}

/// A connection to the server, with the header and the handshake that it is to begin with.
async fn connect(
    proxy: &Proxy,
    sides: &Sides,
    header: Option<Result<Vec<u8>, crate::error::Error>>,
    alpn: Vec<Vec<u8>>,
    record: &mut Record,
) -> Result<Stream, End> {
    let (host, port) = &proxy.server;
    let mut socket = dial(host, *port, proxy.connect_limit).await.map_err(|error| match error.kind() {
        io::ErrorKind::TimedOut => {
            End::new("connect-timeout", Side::Server, format!("{host}:{port} did not answer"))
        }
        _ => End::new("connect", Side::Server, format!("{host}:{port}: {error}")),
    })?;
    if let Some(header) = header {
        let header = header.map_err(|error| End::new("proxy-header", Side::Server, error))?;
        // A new connection takes this much without waiting.
        socket.write_all(&header).await.map_err(|error| End::cut(Side::Server, &error))?;
    }
    let Some(server) = &sides.server else { return Ok(Stream::Plain(socket)) };
    let begun = Instant::now();
    let connector = TlsConnector::from(Arc::clone(&server.config));
    let limited = |connection: &mut rustls::ClientConnection| connection.set_buffer_limit(Some(WAITING));
    let shaking = connector.with_alpn(alpn).connect_with(server.name.clone(), socket, limited);
    let stream = timeout(proxy.handshake_limit, shaking).await;
    let stream = stream.map_err(|_| End::too_slow(Side::Server, proxy.handshake_limit))?;
    let stream = stream.map_err(|error| failed(proxy, Side::Server, &error))?;
    let facts =
        Facts::of(stream.get_ref().1, Some(server.name.to_str().into_owned()), SCHEME.with(Cell::get));
    proxy.metrics.shaken(Side::Server, &facts, begun.elapsed());
    record.server = Some(facts);
    Ok(Stream::Tls(Box::new(stream.into())))
}

/// The first address of the server that answers. Each has an equal share of the time that is left, so that one that is silent leaves
/// some to the next.
async fn dial(host: &str, port: u16, limit: Duration) -> io::Result<TcpStream> {
    let deadline = Instant::now() + limit;
    let slow = |_| io::Error::from(io::ErrorKind::TimedOut);
    let addresses: Vec<_> = timeout_at(deadline, lookup_host((host, port))).await.map_err(slow)??.collect();
    let mut last = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
    for (address, waiting) in addresses.iter().zip((1..=addresses.len() as u32).rev()) {
        let share = deadline.saturating_duration_since(Instant::now()) / waiting;
        match timeout(share, TcpStream::connect(address)).await.map_err(slow).flatten() {
            Ok(socket) => {
                let _ = socket.set_nodelay(true);
                return Ok(socket);
            }
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// A handshake that failed, counted.
fn failed(proxy: &Proxy, side: Side, error: &io::Error) -> End {
    let end = End::handshake(side, error);
    proxy.metrics.failed(side, end.code);
    end
}

/// Tells a client that there is no place for it, and waits a little until it has read that.
pub(super) async fn refuse(mut socket: TcpStream, speaks_tls: bool) {
    /// A record with the fatal alert `internal_error`, which stands for "memory allocation failure" and the like (RFC 8446, section
    /// 6.2): TLS has none for servers that are full.
    const NO_PLACE: [u8; 7] = [21, 3, 3, 0, 2, 2, 80];
    if !speaks_tls {
        return drop(Waiting(Some(Stream::Plain(socket))));
    }
    let parting = async {
        socket.write_all(&NO_PLACE).await?;
        socket.shutdown().await?;
        // What it has sent is read: a reset would take the alert away.
        let mut rest = [0; 1024];
        for _ in 0..32 {
            if socket.read(&mut rest).await? == 0 {
                break;
            }
        }
        io::Result::Ok(())
    };
    // It has to go, with the alert or without it.
    let _ = timeout(Duration::from_secs(2), parting).await;
}

impl AsyncRead for Stream {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(socket) => Pin::new(socket).poll_read(context, buffer),
            Self::Tls(stream) => Pin::new(&mut **stream).poll_read(context, buffer),
        }
    }
}

impl AsyncWrite for Stream {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Plain(socket) => Pin::new(socket).poll_write(context, bytes),
            Self::Tls(stream) => Pin::new(&mut **stream).poll_write(context, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(socket) => Pin::new(socket).poll_flush(context),
            Self::Tls(stream) => Pin::new(&mut **stream).poll_flush(context),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(socket) => Pin::new(socket).poll_shutdown(context),
            Self::Tls(stream) => Pin::new(&mut **stream).poll_shutdown(context),
        }
    }
}
