//! `tls serve`: static files, or an echo.

use super::lists::Lists;
use super::log::Log;
use super::proxy::Hangup;
use super::secrets;
use super::{chains, negotiated, own_chain, private_key, provider, told};
use crate::args::tls::TlsServe;
use crate::console::{Console, counted, write_to_stderr};
use crate::error::{Error, Status};
use crate::http::{self, Content, Failure};
use crate::listener::{Ending, Listener};
use crate::wire::Wire;
use gambeson_rustls::rustls::crypto::CryptoProvider;
use gambeson_rustls::rustls::server::NoServerSessionStorage;
use gambeson_rustls::rustls::sign::{CertifiedKey, SingleCertAndKey};
use gambeson_rustls::rustls::{self, ServerConfig, ServerConnection, Stream, version};
use gambeson_rustls::{certified_chain, explain};
use hyper::body::Body;
use hyper::header::{ALLOW, CONTENT_LENGTH, CONTENT_TYPE, HeaderValue, X_CONTENT_TYPE_OPTIONS};
use hyper::{Method, Response, StatusCode};
use percent_encoding::percent_decode_str;
use prometheus_client::metrics::counter::Counter;
use serde_json::json;
use std::cell::RefCell;
use std::ffi::OsStr;
use std::fs::File;
use std::future::ready;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::rc::Rc;
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
    if let Some(folder) = root.iter().flat_map(|root| root.ancestors()).find(|it| secrets::is_of_agent(it)) {
        return Err(Error::usage(format!(
            "--root: {} is an agent's folder, which is never given out",
            folder.display()
        )));
    }
    let provider = Arc::new(provider(options.preset, options.slh_dsa)?);
    let key = certified_key(options, &provider)?;
    let (lists, _) = read_lists(options, &Lists::default())?;
    let config = config(options, &provider, &key, &lists)?;
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
        let mut before = lists;
        hangup.each(move || {
            let read = read_lists(&options, &before).and_then(|(lists, kept)| {
                let config = self::config(&options, &provider, &key, &lists)?;
                before = lists;
                Ok((config, kept))
            });
            server.reload(read);
        })?;
    }
    let waiting = Arc::clone(&server);
    let _signals = listener.ending().on_signal(move || waiting.wake());
    console.report(
        format_args!("listening on https://{address}"),
        json!({"type": "listening", "address": address.to_string()}),
    )?;
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
        write_to_stderr(format_args!(
            "gambeson: {} lost: the log was too slow",
            counted(lost.get(), "report")
        ));
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
    let chain = own_chain(&options.cert)?;
    let key = private_key(&options.key, options.passphrase.passphrase_fd, options.slh_dsa)?;
    certified_chain(chain, key, provider).map_err(|error| wrong(options, &error))
}

fn wrong(options: &TlsServe, error: &rustls::Error) -> Error {
    Error::outside(format!("{}: {}", options.cert.display(), explain(error)))
}

/// The lists of the command line, after those that were read before, and what there is to say of them.
fn read_lists(options: &TlsServe, before: &Lists) -> Result<(Lists, Vec<String>), Error> {
    let lists = Lists::read(&options.lists)?;
    lists.check_issuers(&[
        ("--client-ca", options.client_ca.as_deref()),
        ("--cert", Some(options.cert.as_path())),
    ])?;
    Ok(lists.after(before))
}

fn config(
    options: &TlsServe,
    provider: &Arc<CryptoProvider>,
    key: &Arc<CertifiedKey>,
    lists: &Lists,
) -> Result<ServerConfig, Error> {
    let builder = ServerConfig::builder_with_provider(Arc::clone(provider))
        .with_protocol_versions(&[&version::TLS13])
        .map_err(|error| wrong(options, &error))?;
    let builder = match &options.client_ca {
        None => builder.with_no_client_auth(),
        Some(roots) => builder.with_client_cert_verifier(chains(Some(roots), lists, provider)?),
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
    fn reload(&self, read: Result<(ServerConfig, Vec<String>), Error>) {
        match read {
            Ok((config, kept)) => {
                self.log.kept(kept);
                *self.config.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(config);
                self.log.event("reloaded", json!({"type": "reloaded"}));
            }
            Err(error) => self.log.trouble(
                format!("not reloaded, the previous files stay in use: {error}"),
                json!({"type": "reload-failed", "detail": error.to_string(), "reason": error.reason()}),
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
                    format!("{from} {group} {what}{told} {}", counted(bytes, "byte")),
                    json!({"type": "served", "peer": from.to_string(), "group": group, "target": what, "status": status, "bytes": bytes}),
                )
            }
            Err(error) => {
                let tls = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
                let why = tls.map_or_else(|| error.to_string(), |tls| told(tls).0);
                self.log.event(
                    format!("{from} failed: {why}"),
                    json!({"type": "failed", "peer": from.to_string(), "detail": why}),
                )
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
        let stream = Stream::new(&mut connection, &mut wire);
        let served = if self.echo { echo(stream, group)? } else { self.exchange(stream, group)? };
        connection.send_close_notify();
        // Who has gone does not listen.
        let _ = connection.complete_io(&mut wire);
        Ok(served)
    }

    /// Answers one request.
    fn exchange(&self, stream: Tls<'_>, group: String) -> io::Result<Served> {
        let about = RefCell::new(("no request".to_owned(), None, Rc::default()));
        let outcome = http::converse(Answering(stream), MAX_HEAD, |request| {
            let answer = self.answer(request.method(), request.uri().path(), &group);
            let what = format!("{} {}", request.method(), request.uri());
            *about.borrow_mut() = (what, Some(answer.status().as_u16()), answer.body().count());
            ready(answer)
        });
        let (what, status, bytes) = about.into_inner();
        let status = match outcome {
            Ok(()) => status,
            Err(Failure::NoRequest(told)) => told.map(|status| status.as_u16()),
            Err(Failure::Stream(error)) => return Err(error),
        };
        Ok(Served { group, what, status, bytes: bytes.get() })
    }

    /// Returns true if a file may be given out; the log has the reason if not.
    fn may_give(&self, root: &Path, asked: &str, found: &Path, file: &File) -> bool {
        let why = match secrets::why_withheld(root, found, file) {
            Ok(None) => return true,
            Ok(Some(why)) => why.to_owned(),
            Err(error) => error.to_string(),
        };
        self.log.event(
            format!("withheld {asked}: {why}"),
            json!({"type": "withheld", "target": asked, "detail": why}),
        );
        false
    }

    fn answer(&self, method: &Method, path: &str, group: &str) -> Response<Content> {
        let (status, media, content) = match (method, &self.root) {
            (&Method::GET | &Method::HEAD, None) => {
                (StatusCode::OK, "text/plain", Content::new(format!("gambeson: TLS 1.3, {group}\n")))
            }
            (&Method::GET | &Method::HEAD, Some(root)) => match find(root, path) {
                Some((found, file, length)) if self.may_give(root, path, &found, &file) => {
                    (StatusCode::OK, media_type(&found), Content::of_file(file, length))
                }
                _ => (StatusCode::NOT_FOUND, "text/plain", Content::new("")),
            },
            _ => (StatusCode::METHOD_NOT_ALLOWED, "text/plain", Content::new("")),
        };
        let length = content.size_hint().lower();
        let mut answer = Response::new(if method == Method::HEAD { Content::new("") } else { content });
        *answer.status_mut() = status;
        let fields = answer.headers_mut();
        fields.insert(CONTENT_TYPE, HeaderValue::from_static(media));
        fields.insert(CONTENT_LENGTH, length.into());
        fields.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        if status == StatusCode::METHOD_NOT_ALLOWED {
            fields.insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
        }
        answer
    }
}

/// A connection after its handshake.
type Tls<'a> = Stream<'a, ServerConnection, Wire>;

/// A connection whose client has sent its request once an answer is written: from then on it may take its time.
struct Answering<'a>(Tls<'a>);

impl Read for Answering<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer)
    }
}

impl Write for Answering<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.sock.hurry(None)?;
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Sends back what comes.
fn echo(mut stream: Tls<'_>, group: String) -> io::Result<Served> {
    stream.sock.hurry(None)?;
    let (mut buffer, mut bytes) = (vec![0; 16 << 10], 0);
    loop {
        match stream.read(&mut buffer) {
            Err(error) if error.kind() != ErrorKind::UnexpectedEof => return Err(error),
            Ok(length @ 1..) => {
                stream.write_all(&buffer[..length])?;
                stream.flush()?;
                bytes += length as u64;
            }
            _ => return Ok(Served { group, what: "echo".into(), status: None, bytes }),
        }
    }
}

/// The file of a path below the root, which it cannot leave, neither by dots nor by links.
fn find(root: &Path, path: &str) -> Option<(PathBuf, File, u64)> {
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
