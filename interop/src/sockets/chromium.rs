//! Headless Chromium: it loads a page from `gambeson tls serve`, and pages of ours over each group and certificate that it knows.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use gambeson_pki::Algorithm::{self, EcdsaP256, EcdsaP384};
use gambeson_rustls::Group;
use libtest_mimic::Trial;
use rustls::{ServerConfig, ServerConnection, Stream};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::conversation::patient;
use super::{Meeting, peers, recorded};
use crate::running::Running;
use crate::tools::{Result, check, command, exists, gambeson, run, succeed, unavailable};

const PLAYWRIGHT: &str = "playwright-core@1.65.1";
/// Where distributions put it; `CHROMIUM` names another.
const PROGRAMS: [&str; 3] = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const GROUPS: &[u16] = &[0x11ec, 0x001d, 0x0017, 0x0018];
const ALGORITHMS: &[Algorithm] = &[EcdsaP256, EcdsaP384];

/// The browser, and what drives it.
struct Chromium {
    node: PathBuf,
    driver: PathBuf,
    program: PathBuf,
}

/// One test with one browser.
pub(super) fn trials(scratch: &Path) -> Vec<Trial> {
    let folder = scratch.join("chromium");
    match std::fs::create_dir_all(&folder).map_err(Into::into).and_then(|()| Chromium::find(&folder)) {
        Ok(chromium) => {
            let name = "sockets::chromium_loads_pages_from_us";
            vec![Trial::test(name, move || pages(&chromium, &folder))]
        }
        Err(reason) => vec![unavailable("sockets::chromium", reason.message().unwrap_or_default())],
    }
}

impl Chromium {
    fn find(folder: &Path) -> Result<Self> {
        let named = std::env::var_os("CHROMIUM").map(PathBuf::from);
        let program = named.into_iter().chain(PROGRAMS.map(PathBuf::from)).find(|program| exists(program));
        let program = program.ok_or("there is no Chromium")?;
        let node = peers::node(&folder.join("../node"), peers::NODES[0].1)?;
        if !exists(&folder.join("node_modules/playwright-core/package.json")) {
            succeed(peers::npm(folder).arg(PLAYWRIGHT), b"")?;
        }
        Ok(Self { node, driver: folder.to_owned(), program })
    }

    /// What it says of each visit, and its version.
    fn visits(&self, visits: &Value) -> Result<(Vec<Value>, String)> {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers/chromium.mjs");
        let mut node = command(&self.node);
        node.arg(script).arg(&self.driver).arg(&self.program);
        let output = run(&mut node, visits.to_string().as_bytes())?;
        check(output.status.success(), String::from_utf8_lossy(&output.stderr))?;
        let mut answer: Value = serde_json::from_slice(&output.stdout)?;
        let version = answer["version"].as_str().unwrap_or_default().to_owned();
        match answer["said"].take() {
            Value::Array(said) => Ok((said, version)),
            other => Err(format!("it said {other}").into()),
        }
    }
}

fn pages(chromium: &Chromium, folder: &Path) -> Result {
    let meeting = |number: u16, algorithm| -> Result<Meeting> {
        Meeting::new(Group::by_number(number).ok_or("a group of ours")?, algorithm, folder)
    };
    let mut visits = Vec::new();
    let mut servers = Vec::new();
    let groups = GROUPS.iter().map(|number| (*number, EcdsaP256));
    // The last two are refused: a group that Chromium does not offer, and a key that it was not told of.
    let others = [(GROUPS[0], EcdsaP384), (0x11ed, EcdsaP256), (GROUPS[0], EcdsaP256)];
    for (number, algorithm) in groups.chain(others) {
        let meeting = meeting(number, algorithm)?;
        let server = Server::start(Arc::new(meeting.chain.server(&meeting.provider()?)?))?;
        visits.push(json!({"port": server.address.port(), "spki": pin(&meeting)}));
        servers.push((server, meeting));
    }
    if let Some(last) = visits.last_mut() {
        last["spki"] = Value::Null;
    }
    let served = meeting(GROUPS[0], EcdsaP256)?;
    let (mut program, port) = tls_serve(&served, folder)?;
    visits.push(json!({"port": port, "spki": pin(&served)}));

    let (mut said, version) = chromium.visits(&Value::Array(visits))?;
    let from_program = said.pop().ok_or("an answer for each visit")?;
    let refused = said.split_off(said.len().saturating_sub(2));
    check(said.len() == GROUPS.len() + ALGORITHMS.len() - 1, "an answer for each visit")?;
    for (said, (server, meeting)) in said.iter().zip(&servers) {
        let number = meeting.group.number();
        is_page(said, meeting.group, "a page of ours")?;
        let met = server.met.lock().map_err(|_| "a connection panicked")?.clone();
        let alike = !met.is_empty() && met.iter().all(|group| *group == number);
        check(alike, format!("{}: {met:04x?}", meeting.group))?;
    }
    let schemes = said.iter().map(|said| said["scheme"].as_u64());
    check(schemes.eq([1027, 1027, 1027, 1027, 1283].map(Some)), format!("the schemes: {said:?}"))?;
    let error = |at: usize| refused[at]["error"].as_str().unwrap_or_default();
    check(error(0).contains("ERR_SSL_VERSION_OR_CIPHER_MISMATCH"), format!("no common group: {refused:?}"))?;
    check(error(1).contains("ERR_CERT_AUTHORITY_INVALID"), format!("a stranger's key: {refused:?}"))?;

    is_page(&from_program, served.group, "a page of `gambeson tls serve`")?;
    let line = program.line()?;
    check(line.contains(" X25519MLKEM768 GET / 200 "), format!("what our program tells: {line}"))?;
    recorded(&format!("Chromium {}, as client", peers::major(&version, 1)), GROUPS, ALGORITHMS)
}

fn is_page(said: &Value, group: &Group, heading: &str) -> Result {
    // Chromium's names.
    let name = match group.number() {
        0x0017 => "P-256",
        0x0018 => "P-384",
        0x001d => "X25519",
        _ => "X25519MLKEM768",
    };
    let right = said["status"] == 200
        && said["heading"] == heading
        && said["protocol"] == "TLS 1.3"
        && said["group"] == name;
    check(right, format!("{heading} over {group}: {said}"))
}

/// The hash of the server's public key, as Chromium's option has it.
fn pin(meeting: &Meeting) -> String {
    use base64ct::{Base64, Encoding};
    Base64::encode_string(&Sha256::digest(meeting.chain.key.public_key().to_spki_der()))
}

/// Our program with a folder of one page; it tells its address first.
fn tls_serve(meeting: &Meeting, folder: &Path) -> Result<(Running, u16)> {
    let root = folder.join("pages");
    std::fs::create_dir_all(&root)?;
    std::fs::write(root.join("index.html"), page("a page of `gambeson tls serve`"))?;
    let mut program = command(gambeson()?);
    program.args(["tls", "serve", "--listen", "127.0.0.1:0", "--cert"]).arg(&meeting.sent);
    let mut program = Running::start(program.arg("--key").arg(&meeting.key).arg("--root").arg(root))?;
    let line = program.line()?;
    let port = line.trim().rsplit(':').next().and_then(|port| port.parse().ok());
    Ok((program, port.ok_or_else(|| format!("it does not listen: {line}"))?))
}

fn page(heading: &str) -> String {
    format!("<!doctype html><title>gambeson</title><link rel=icon href=data:,><h1>{heading}</h1>\n")
}

/// A server of one page, until it is dropped.
struct Server {
    address: SocketAddr,
    /// The groups over which requests came.
    met: Arc<Mutex<Vec<u16>>>,
    over: Arc<AtomicBool>,
}

impl Server {
    fn start(config: Arc<ServerConfig>) -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let server = Self { address, met: Arc::default(), over: Arc::default() };
        let (met, over) = (server.met.clone(), server.over.clone());
        std::thread::spawn(move || {
            for socket in listener.incoming() {
                if over.load(Ordering::Relaxed) {
                    return;
                }
                // A browser opens connections in advance: none waits for another.
                let (met, config) = (met.clone(), config.clone());
                std::thread::spawn(move || {
                    socket.map_err(Into::into).and_then(|socket| answer(socket, config, &met))
                });
            }
        });
        Ok(server)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        drop(TcpStream::connect(self.address));
    }
}

fn answer(mut socket: TcpStream, config: Arc<ServerConfig>, met: &Mutex<Vec<u16>>) -> Result {
    patient(&socket)?;
    let mut connection = ServerConnection::new(config)?;
    let mut lines = BufReader::new(Stream::new(&mut connection, &mut socket)).lines();
    while lines.next().transpose()?.is_some_and(|line| !line.is_empty()) {}
    drop(lines);
    let group = connection.negotiated_key_exchange_group().ok_or("no group")?;
    met.lock().map_err(|_| "a connection panicked")?.push(group.name().into());
    let page = page("a page of ours");
    let head = format!("HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: {}\r\n", page.len());
    let answer = format!("{head}connection: close\r\n\r\n{page}");
    Stream::new(&mut connection, &mut socket).write_all(answer.as_bytes())?;
    connection.send_close_notify();
    connection.complete_io(&mut socket)?;
    Ok(())
}
