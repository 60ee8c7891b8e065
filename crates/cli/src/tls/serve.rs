//! `tls serve`: static files, or an echo.

use super::log::Log;
use super::proxy::Hangup;
use super::{Wire, certificates, chains, negotiated, private_key, provider, told};
use crate::args::tls::TlsServe;
use crate::console::{Console, write_to_stderr};
use crate::error::{Error, Status};
use crate::listener::{Ending, Listener};
use gambeson_rustls::rustls::crypto::CryptoProvider;
use gambeson_rustls::rustls::server::NoServerSessionStorage;
use gambeson_rustls::rustls::sign::{CertifiedKey, SingleCertAndKey};
use gambeson_rustls::rustls::{self, ServerConfig, ServerConnection, Stream, version};
use percent_encoding::percent_decode_str;
use prometheus_client::metrics::counter::Counter;
use serde_json::json;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant};

/// The longest head of a request, in bytes.
const MAX_HEAD: usize = 16 << 10;

/// What a connection needs to know.
struct Server {
    log: Log,
    config: RwLock<Arc<ServerConfig>>,
    /// The folder without a symbolic link on its way.
    root: Option<PathBuf>,
    echo: bool,
    patience: Duration,
    /// How many connections there may be beside those that there are.
    places: (Mutex<u16>, Condvar),
}

pub(super) fn serve(console: Console, options: &TlsServe) -> Result<Status, Error> {
    let root = match &options.root {
        Some(path) => Some(path.canonicalize().map_err(|e| Error::io(path, &e))?),
        None => None,
    };
    if let Some(root) = root.as_ref().filter(|root| !root.is_dir()) {
        return Err(Error::outside(format!("{}: not a folder", root.display())));
    }
    let provider = Arc::new(provider(options.preset)?);
    let key = certified_key(options, &provider)?;
    let config = config(options, &provider, &key)?;
    // Without lists nothing is read again, and whoever closes the terminal ends the server. Before any thread is started.
    let hangup = if options.lists.is_empty() { None } else { Some(Hangup::hold()?) };
    let lost = Counter::default();
    let server = Arc::new(Server {
        log: Log::start(console, None, lost.clone())?,
        config: RwLock::new(Arc::new(config)),
        root,
        echo: options.echo,
        patience: Duration::from_secs(options.timeout),
        places: (Mutex::new(options.connections), Condvar::new()),
    });
    let wrong = |e: io::Error| Error::stream(&options.listen, &e);
    let listener = Listener::bind(options.listen).map_err(wrong)?;
    let address = listener.address();
    if let Some(hangup) = hangup {
        let (server, options) = (Arc::clone(&server), options.clone());
        hangup.each(move || server.reload(self::config(&options, &provider, &key)))?;
    }
    let waiting = Arc::clone(&server);
    let _signals = listener.ending().on_signal(move || waiting.wake());
    console
        .report(format_args!("listening on https://{address}"), json!({"address": address.to_string()}))?;
    while let Some(place) = Place::take(&server, &listener.ending()) {
        let Some((socket, from)) = listener.accept() else { break };
        // Without a thread for it, the connection and its place are gone.
        let _ = std::thread::Builder::new().spawn(move || {
            let server = &place.0;
            server.tell(from, server.converse(socket));
        });
    }
    drop(listener);
    server.end(options.connections);
    server.log.end();
    if lost.get() != 0 {
        write_to_stderr(format_args!("gambeson: {} reports were lost: the log was too slow", lost.get()));
    }
    Ok(Status::Done)
}

/// A place for a connection, given back when the connection is over in whatever way.
struct Place(Arc<Server>);

impl Place {
    /// Waits for one; there is none once the server was asked to end.
    fn take(server: &Arc<Server>, ending: &Ending) -> Option<Self> {
        let (places, changed) = &server.places;
        let places = places.lock().unwrap_or_else(PoisonError::into_inner);
        let full = |places: &mut u16| *places == 0 && !ending.is_asked();
        let mut places = changed.wait_while(places, full).unwrap_or_else(PoisonError::into_inner);
        if ending.is_asked() {
            return None;
        }
        *places -= 1;
        Some(Self(Arc::clone(server)))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let (places, changed) = &self.0.places;
        *places.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        changed.notify_all();
    }
}

/// The certificate with its key, which are read once.
fn certified_key(options: &TlsServe, provider: &CryptoProvider) -> Result<Arc<CertifiedKey>, Error> {
    let chain = certificates(&options.cert)?;
    let key = private_key(&options.key, options.passphrase.passphrase_fd)?;
    let key = CertifiedKey::from_der(chain, key, provider).map_err(|error| wrong(options, &error))?;
    Ok(Arc::new(key))
}

fn wrong(options: &TlsServe, error: &rustls::Error) -> Error {
    Error::outside(format!("{}: {error}", options.cert.display()))
}

fn config(
    options: &TlsServe,
    provider: &Arc<CryptoProvider>,
    key: &Arc<CertifiedKey>,
) -> Result<ServerConfig, Error> {
    let builder = ServerConfig::builder_with_provider(Arc::clone(provider))
        .with_protocol_versions(&[&version::TLS13])
        .map_err(|error| wrong(options, &error))?;
    let builder = match &options.client_ca {
        None => builder.with_no_client_auth(),
        Some(roots) => builder.with_client_cert_verifier(chains(Some(roots), &options.lists, provider)?),
    };
    let mut config = builder.with_cert_resolver(Arc::new(SingleCertAndKey::from(Arc::clone(key))));
    if options.client_ca.is_some() {
        // A resumed session shows no certificate: the one that was shown may have been revoked since.
        config.send_tls13_tickets = 0;
        config.session_storage = Arc::new(NoServerSessionStorage {});
    }
    config.alpn_protocols =
        if options.echo { Vec::new() } else { vec![b"http/1.1".to_vec(), b"http/1.0".to_vec()] };
    Ok(config)
}

/// What a connection was about, for the report.
struct Served {
    group: String,
    what: String,
    status: Option<u16>,
    bytes: u64,
}

impl Server {
    /// The configuration of now.
    fn config(&self) -> Arc<ServerConfig> {
        Arc::clone(&self.config.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Takes another configuration for the connections that come, if it could be read.
    fn reload(&self, read: Result<ServerConfig, Error>) {
        match read {
            Ok(config) => {
                *self.config.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(config);
                self.log.event("reloaded", json!({"event": "reloaded"}));
            }
            Err(error) => self.log.trouble(
                format!("not reloaded, what was there stays: {error}"),
                json!({"event": "reload-failed", "error": error.to_string(), "reason": error.reason()}),
            ),
        }
    }

    /// Lets those look again who wait for a place.
    fn wake(&self) {
        let (places, changed) = &self.places;
        // Whoever has looked and does not wait yet has the lock.
        drop(places.lock().unwrap_or_else(PoisonError::into_inner));
        changed.notify_all();
    }

    /// Lets connections come to their end, for as long as one may be silent.
    fn end(&self, all: u16) {
        let (places, changed) = &self.places;
        let places = places.lock().unwrap_or_else(PoisonError::into_inner);
        drop(changed.wait_timeout_while(places, self.patience, |places| *places < all));
    }

    fn tell(&self, from: SocketAddr, done: io::Result<Served>) {
        match done {
            Ok(Served { group, what, status, bytes }) => {
                let told = status.map_or_else(String::new, |status| format!(" {status}"));
                self.log.event(
                    format!("{from} {group} {what}{told} {bytes} bytes"),
                    json!({"from": from.to_string(), "group": group, "what": what, "status": status, "bytes": bytes}),
                )
            }
            Err(error) => {
                let tls = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
                let why = tls.map_or_else(|| error.to_string(), |tls| told(tls).0);
                self.log
                    .event(format!("{from} failed: {why}"), json!({"from": from.to_string(), "failed": why}))
            }
        }
    }

    fn converse(&self, socket: TcpStream) -> io::Result<Served> {
        let mut wire = Wire::new(socket, self.patience)?;
        // Whoever drips bytes is never silent, and keeps no place for that.
        wire.hurry(Some(Instant::now() + 3 * self.patience))?;
        let mut connection = ServerConnection::new(self.config()).map_err(io::Error::other)?;
        while connection.is_handshaking() {
            if let Err(error) = connection.complete_io(&mut wire) {
                // The alert that says why.
                while connection.wants_write() && connection.write_tls(&mut wire).is_ok() {}
                return Err(error);
            }
        }
        let group = negotiated(connection.negotiated_key_exchange_group());
        let mut stream = Stream::new(&mut connection, &mut wire);
        let (what, status, bytes) = match self.echo {
            true => {
                stream.sock.hurry(None)?;
                ("echo".into(), None, echo(&mut stream)?)
            }
            false => {
                let request = request(&mut stream)?;
                stream.sock.hurry(None)?;
                self.answer(&mut stream, request, &group)?
            }
        };
        connection.send_close_notify();
        // Who has gone does not listen.
        let _ = connection.complete_io(&mut wire);
        Ok(Served { group, what, status, bytes })
    }

    /// Answers a request: what was asked, the status, and the bytes of the body.
    fn answer(
        &self,
        stream: &mut impl Write,
        request: Option<(String, String)>,
        group: &str,
    ) -> io::Result<(String, Option<u16>, u64)> {
        let Some((method, path)) = request else {
            let bytes = respond(stream, 400, "text/plain", 0, &mut io::empty())?;
            return Ok(("no request".into(), Some(400), bytes));
        };
        let what = format!("{method} {path}");
        let whole = match &method[..] {
            "GET" => true,
            "HEAD" => false,
            _ => return Ok((what, Some(405), respond(stream, 405, "text/plain", 0, &mut io::empty())?)),
        };
        let Some(root) = &self.root else {
            let text = format!("gambeson: TLS 1.3, {group}\n");
            let (length, mut body) = (text.len() as u64, text.as_bytes());
            let body: &mut dyn Read = if whole { &mut body } else { &mut io::empty() };
            return Ok((what, Some(200), respond(stream, 200, "text/plain", length, body)?));
        };
        let Some((path, mut file, length)) = find(root, &path) else {
            return Ok((what, Some(404), respond(stream, 404, "text/plain", 0, &mut io::empty())?));
        };
        let body: &mut dyn Read = if whole { &mut file } else { &mut io::empty() };
        Ok((what, Some(200), respond(stream, 200, media_type(&path), length, body)?))
    }
}

/// Sends back what comes, and tells how much.
fn echo(stream: &mut (impl Read + Write)) -> io::Result<u64> {
    let (mut buffer, mut bytes) = (vec![0; 16 << 10], 0);
    loop {
        match stream.read(&mut buffer) {
            Ok(0) => return Ok(bytes),
            Ok(length) => {
                stream.write_all(&buffer[..length])?;
                stream.flush()?;
                bytes += length as u64;
            }
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(bytes),
            Err(error) => return Err(error),
        }
    }
}

/// The method and the path of a request; nothing for what is no request.
fn request(stream: &mut impl Read) -> io::Result<Option<(String, String)>> {
    let (mut head, mut part) = (Vec::new(), [0; 2048]);
    loop {
        let length = stream.read(&mut part)?;
        head.extend_from_slice(&part[..length]);
        let mut headers = [httparse::EMPTY_HEADER; 64];
        let mut parsed = httparse::Request::new(&mut headers);
        match parsed.parse(&head) {
            Ok(httparse::Status::Complete(_)) => {
                return Ok(parsed.method.zip(parsed.path).map(|(method, path)| (method.into(), path.into())));
            }
            Ok(httparse::Status::Partial) if length != 0 && head.len() < MAX_HEAD => {}
            _ => return Ok(None),
        }
    }
}

/// The file of a path below the root, which it cannot leave, neither by dots nor by links.
fn find(root: &Path, path: &str) -> Option<(PathBuf, File, u64)> {
    let path = path.split(['?', '#']).next()?;
    let path = percent_decode_str(path).decode_utf8().ok()?;
    let mut found = root.to_owned();
    for part in path.split('/').filter(|part| !part.is_empty()) {
        // Hidden files are not for the world.
        if part.starts_with('.') || part.contains(['\\', '\0', ':']) {
            return None;
        }
        found.push(part);
    }
    if found.is_dir() {
        found.push("index.html");
    }
    // A link leads neither out of the folder nor to what is hidden in it.
    let found = found.canonicalize().ok().filter(|found| found.is_file())?;
    let hidden = |part: &OsStr| part.as_encoded_bytes().starts_with(b".");
    if found.strip_prefix(root).ok()?.iter().any(hidden) {
        return None;
    }
    let file = File::open(&found).ok()?;
    let length = file.metadata().ok()?.len();
    Some((found, file, length))
}

fn respond(
    stream: &mut impl Write,
    status: u16,
    media: &str,
    length: u64,
    body: &mut dyn Read,
) -> io::Result<u64> {
    let phrase = match status {
        200 => "OK",
        404 => "Not Found",
        405 => "Method Not Allowed",
        _ => "Bad Request",
    };
    write!(
        stream,
        "HTTP/1.1 {status} {phrase}\r\nContent-Type: {media}\r\nContent-Length: {length}\r\nConnection: close\r\n\
         X-Content-Type-Options: nosniff\r\n\r\n"
    )?;
    let bytes = io::copy(&mut body.take(length), stream)?;
    stream.flush()?;
    Ok(bytes)
}

/// What browsers must be told of a file.
fn media_type(path: &Path) -> &'static str {
    match path.extension().and_then(|extension| extension.to_str()).unwrap_or_default() {
        "html" => "text/html; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "json" => "application/json",
        "txt" | "md" => "text/plain; charset=utf-8",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "wasm" => "application/wasm",
        _ => "application/octet-stream",
    }
}
