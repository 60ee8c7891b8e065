//! HTTP/1.1 of clients over our TLS: `ureq` writes requests and reads answers.

mod memory;

use crate::dial::dial;
use crate::tls;
use crate::wire::Wire;
use gambeson_rustls::rustls::pki_types::CertificateDer;
use gambeson_rustls::rustls::{CipherSuite, ClientConfig, ClientConnection, ProtocolVersion, StreamOwned};
use std::fmt;
use std::io::{self, Read, Write};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use ureq::config::Config;
use ureq::http::header::{CONTENT_ENCODING, CONTENT_LENGTH, TRANSFER_ENCODING};
use ureq::http::{HeaderMap, HeaderName, Version};
use ureq::unversioned::resolver::Resolver;
use ureq::unversioned::transport::time::Duration as Time;
use ureq::unversioned::transport::{
    Buffers, ConnectionDetails, Connector, LazyBuffers, NextTimeout, Transport,
};

pub(crate) use memory::answer;

/// Fetches from servers with certificates; follows no redirect and uses no proxy.
pub(crate) struct Client {
    agent: ureq::Agent,
    met: Arc<Mutex<Option<Met>>>,
    unread: Unread,
}

/// Bytes that had come and were not understood when a stream ended.
type Unread = Arc<Mutex<Vec<u8>>>;

/// What a handshake came to.
pub(crate) struct Met {
    pub(crate) version: Option<ProtocolVersion>,
    pub(crate) suite: Option<CipherSuite>,
    pub(crate) group: String,
    pub(crate) chain: Vec<CertificateDer<'static>>,
    /// Bytes of the handshake.
    pub(crate) sent: u64,
    pub(crate) received: u64,
    pub(crate) took: Duration,
}

/// An answer, whole.
pub(crate) struct Answer {
    pub(crate) status: ureq::http::StatusCode,
    pub(crate) body: Vec<u8>,
}

/// Why there is no answer.
pub(crate) enum Failure {
    /// The server was not reached, or the stream to it failed.
    Stream(io::Error),
    /// The stream ended within the answer.
    Cut,
    /// The answer is not HTTP/1.1 as it is written; why, where that helps.
    NotHttp(String),
    /// The answer has a content coding, though identity was asked for.
    Coded(String),
    /// The body has more bytes than are taken.
    TooLarge,
    /// Something else.
    Other(ureq::Error),
}

impl Client {
    /// With these rules of TLS; what `judge` refuses of a handshake is asked for nothing. Servers may be silent for `patience`, and take `limit` in all.
    pub(crate) fn new(
        config: Arc<ClientConfig>,
        patience: Duration,
        limit: Option<Duration>,
        resolver: impl Resolver,
        judge: impl Fn(&Met) -> io::Result<()> + Send + Sync + 'static,
    ) -> Self {
        let (met, unread) = (Arc::default(), Unread::default());
        let connector = Handshakes {
            config,
            patience,
            met: Arc::clone(&met),
            unread: Arc::clone(&unread),
            judge: Box::new(judge),
        };
        Self { agent: ureq::Agent::with_parts(settings(limit), connector, resolver), met, unread }
    }

    /// Fetches a document of at most `max_len` bytes.
    pub(crate) fn get(&self, address: &str, max_len: u64) -> Result<Answer, Failure> {
        let mut answer = self.agent.get(address).header("connection", "close").call().map_err(|error| {
            match error {
                // Some servers close instead of a handshake.
                ureq::Error::Io(error) if !self.has_met() => Failure::Stream(error),
                error => Failure::of(error),
            }
        })?;
        framing(answer.version(), answer.headers()).map_err(Failure::NotHttp)?;
        if let Some(coding) = coding(answer.headers()) {
            return Err(Failure::Coded(coding));
        }
        if answer.body().content_length().is_some_and(|length| length > max_len) {
            return Err(Failure::TooLarge);
        }
        let status = answer.status();
        let in_chunks = answer.headers().contains_key(TRANSFER_ENCODING);
        // `ureq` refuses a body that is as long as its limit.
        let body = answer.body_mut().with_config().limit(max_len.saturating_add(1)).read_to_vec().map_err(
            |error| match Failure::of(error) {
                Failure::Cut | Failure::Stream(_) if in_chunks && self.is_no_chunk() => {
                    Failure::NotHttp(MALFORMED_CHUNK.into())
                }
                failure => failure,
            },
        )?;
        if body.len() as u64 > max_len { Err(Failure::TooLarge) } else { Ok(Answer { status, body }) }
    }

    /// Returns true if what came last can become neither the line of a chunk's length nor the end of its data.
    fn is_no_chunk(&self) -> bool {
        let unread = self.unread.lock().unwrap_or_else(PoisonError::into_inner);
        let begins = |first: &u8| first.is_ascii_hexdigit() || b" \t\r".contains(first);
        unread.contains(&b'\n') || unread.len() > MAX_LENGTH_LINE || !unread.first().is_none_or(begins)
    }

    fn has_met(&self) -> bool {
        self.met.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// The handshake of the last connection, if it succeeded.
    pub(crate) fn met(&self) -> Option<Met> {
        self.met.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

fn settings(limit: Option<Duration>) -> Config {
    ureq::Agent::config_builder()
        .https_only(true)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .http_status_as_error(false)
        .proxy(None)
        .timeout_global(limit)
        .max_idle_connections(0)
        .accept_encoding("identity")
        .user_agent(concat!("gambeson/", env!("CARGO_PKG_VERSION")))
        .build()
}

/// Checks what says where the content ends (RFC 9112, section 6), more strictly than `ureq`, which takes any list of codings that has
/// `chunked` in it for chunks alone.
fn framing(version: Version, fields: &HeaderMap) -> Result<(), String> {
    let lengths = texts(fields, &CONTENT_LENGTH);
    if lengths.iter().any(|length| length.is_empty() || !length.bytes().all(|byte| byte.is_ascii_digit())) {
        return Err("its Content-Length is no number".into());
    }
    let codings = texts(fields, &TRANSFER_ENCODING);
    match codings.as_slice() {
        [] => Ok(()),
        _ if version != Version::HTTP_11 => Err("HTTP/1.0 has no transfer codings".into()),
        _ if !lengths.is_empty() => Err("it has a Content-Length and a transfer coding".into()),
        [coding] if coding.eq_ignore_ascii_case("chunked") => Ok(()),
        _ => {
            Err(format!("its transfer coding {:?} is not supported, only \"chunked\" is", codings.join(", ")))
        }
    }
}

/// The content coding of an answer, if it has one.
fn coding(fields: &HeaderMap) -> Option<String> {
    let values = texts(fields, &CONTENT_ENCODING);
    let mut codings = values.iter().flat_map(|value| value.split(',')).map(str::trim);
    codings.find(|coding| !coding.is_empty() && !coding.eq_ignore_ascii_case("identity")).map(str::to_owned)
}

/// The values of all fields of a name.
fn texts(fields: &HeaderMap, name: &HeaderName) -> Vec<String> {
    fields
        .get_all(name)
        .iter()
        .map(|value| String::from_utf8_lossy(value.as_bytes()).trim().to_owned())
        .collect()
}

/// The longest line with the length of a chunk, and its extensions, that `ureq` reads, in bytes.
const MAX_LENGTH_LINE: usize = 20;

const MALFORMED_CHUNK: &str = "malformed chunk: a hexadecimal length on a line of at most 20 bytes, its data, and CR LF behind each were expected";

/// The words for an answer that `ureq` does not take for HTTP/1.1.
fn plain(words: &str) -> String {
    use httparse::Error;
    let heads = [
        Error::HeaderName,
        Error::HeaderValue,
        Error::NewLine,
        Error::Status,
        Error::Token,
        Error::TooManyHeaders,
        Error::Version,
    ];
    match words.strip_prefix("http parse fail: ") {
        Some(words) => match heads.into_iter().find(|head| head.to_string() == words) {
            Some(head) => crate::http::told(head),
            None => words.to_owned(),
        },
        None if words.starts_with("chunk ") => MALFORMED_CHUNK.into(),
        None => match words {
            "http parse resulted in too many headers" => crate::http::told(Error::TooManyHeaders),
            "conflicting content-length headers" => "its fields Content-Length differ".into(),
            "content-length header not a number" => "its Content-Length is no number".into(),
            "unsupported http version" => crate::http::told(Error::Version),
            words => words.to_owned(),
        },
    }
}

impl Failure {
    fn of(error: ureq::Error) -> Self {
        match error {
            ureq::Error::Io(error) if error.kind() == io::ErrorKind::UnexpectedEof => Self::Cut,
            ureq::Error::Io(error) => match error.downcast::<Ended>() {
                Ok(Ended) => Self::Cut,
                Err(error) => Self::Stream(error),
            },
            // The end came within the length of a chunk.
            ureq::Error::BodyStalled => Self::Cut,
            ureq::Error::Protocol(error) => Self::NotHttp(plain(&error.to_string())),
            // The request is ours, and right.
            ureq::Error::Http(error) => Self::NotHttp(error.to_string()),
            ureq::Error::LargeResponseHeader(..) => Self::NotHttp("its head is too long".into()),
            ureq::Error::BodyExceedsLimit(_) => Self::TooLarge,
            error => Self::Other(error),
        }
    }
}

/// Connects, and shakes hands.
struct Handshakes {
    config: Arc<ClientConfig>,
    patience: Duration,
    met: Arc<Mutex<Option<Met>>>,
    unread: Unread,
    judge: Box<Judge>,
}

/// Looks at a handshake that succeeded.
type Judge = dyn Fn(&Met) -> io::Result<()> + Send + Sync;

impl Handshakes {
    fn open(
        &self,
        host: &str,
        addresses: &[SocketAddr],
        until: Option<Instant>,
    ) -> io::Result<StreamOwned<ClientConnection, Wire>> {
        let mut wire = Wire::new(dial(addresses.iter().copied(), self.patience, until)?, self.patience)?;
        wire.hurry(until)?;
        let begun = Instant::now();
        let mut connection = ClientConnection::new(
            Arc::clone(&self.config),
            tls::server_name(host).map_err(io::Error::other)?,
        )
        .map_err(io::Error::other)?;
        while connection.is_handshaking() {
            connection.complete_io(&mut wire)?;
        }
        let met = Met {
            version: connection.protocol_version(),
            suite: connection.negotiated_cipher_suite().map(|suite| suite.suite()),
            group: tls::negotiated(connection.negotiated_key_exchange_group()),
            chain: connection
                .peer_certificates()
                .unwrap_or_default()
                .iter()
                .map(|der| der.clone().into_owned())
                .collect(),
            sent: wire.sent,
            received: wire.received,
            took: begun.elapsed(),
        };
        (self.judge)(&met)?;
        *self.met.lock().unwrap_or_else(PoisonError::into_inner) = Some(met);
        Ok(StreamOwned::new(connection, wire))
    }
}

impl Connector for Handshakes {
    type Out = Stream;

    fn connect(&self, details: &ConnectionDetails<'_>, _: Option<()>) -> Result<Option<Stream>, ureq::Error> {
        let host = details.uri.host().unwrap_or_default();
        let tls = self.open(host, &details.addrs, end(details.timeout))?;
        let (input, output) = (details.config.input_buffer_size(), details.config.output_buffer_size());
        let unread = Arc::clone(&self.unread);
        Ok(Some(Stream { buffers: LazyBuffers::new(input, output), tls, unread }))
    }
}

/// When `ureq` wants something to be over.
fn end(timeout: NextTimeout) -> Option<Instant> {
    match timeout.after {
        Time::Exact(after) => Instant::now().checked_add(after),
        Time::NotHappening => None,
    }
}

/// A stream of TLS, for `ureq`.
struct Stream {
    buffers: LazyBuffers,
    tls: StreamOwned<ClientConnection, Wire>,
    unread: Unread,
}

/// The end of a stream without a goodbye, which anybody on the way can bring about. `ureq` would take `UnexpectedEof` for the end of a body without a length.
#[derive(Debug)]
struct Ended;

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the connection was cut")
    }
}

impl std::error::Error for Ended {}

impl Transport for Stream {
    fn buffers(&mut self) -> &mut dyn Buffers {
        &mut self.buffers
    }

    fn transmit_output(&mut self, amount: usize, timeout: NextTimeout) -> Result<(), ureq::Error> {
        self.tls.sock.hurry(end(timeout))?;
        self.tls.write_all(&self.buffers.output()[..amount])?;
        Ok(self.tls.flush()?)
    }

    fn await_input(&mut self, timeout: NextTimeout) -> Result<bool, ureq::Error> {
        self.tls.sock.hurry(end(timeout))?;
        let read = self.tls.read(self.buffers.input_append_buf());
        if !matches!(read, Ok(1..)) {
            *self.unread.lock().unwrap_or_else(PoisonError::into_inner) = self.buffers.input().to_vec();
        }
        let length = read.map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset => io::Error::other(Ended),
            _ => error,
        })?;
        self.buffers.input_appended(length);
        Ok(length > 0)
    }

    fn is_open(&mut self) -> bool {
        false
    }

    fn is_tls(&self) -> bool {
        true
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        // Who has gone does not listen.
        self.tls.conn.send_close_notify();
        let _ = self.tls.conn.write_tls(&mut self.tls.sock);
    }
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Stream")
    }
}

impl fmt::Debug for Handshakes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Handshakes")
    }
}
