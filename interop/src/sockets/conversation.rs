//! One connection between us and a peer: what each is told, and what must come of it.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use gambeson_rustls::Group;
use rustls::pki_types::ServerName;
use rustls::{ClientConnection, ServerConfig, ServerConnection, Stream};

use super::Meeting;
use super::peers::{Peer, openssl_name};
use crate::running::Running;
use crate::tools::{Result, check, command, run};

/// How long a peer may be silent.
const PATIENCE: Duration = Duration::from_secs(30);

/// How a peer is started.
pub(super) enum Program {
    /// A program, what stands before its arguments, and what a group is called there. It runs once for each connection.
    Script(PathBuf, Vec<PathBuf>, fn(&Group) -> String),
    /// A program that stays, and is told of each connection in a line.
    Kept(Kept, fn(&Group) -> String),
    /// `openssl s_client` and `s_server`, and what stands behind either word.
    OpenSsl(PathBuf, Vec<OsString>),
}

/// A program that takes a line for each connection.
pub(super) struct Kept(Mutex<(Running, ChildStdin)>);

impl Kept {
    /// Starts it.
    pub(super) fn start(mut program: Command) -> Result<Self> {
        let mut running = Running::start(&mut program)?;
        let stdin = running.input()?;
        Ok(Self(Mutex::new((running, stdin))))
    }

    /// Tells it of a connection, in which `work` takes part; for a server `work` gets the port.
    fn tell<T>(
        &self,
        words: &[&str],
        is_server: bool,
        work: impl FnOnce(Option<u16>) -> Result<T>,
    ) -> Result<T> {
        let mut held = self.0.lock().map_err(|_| "another test panicked")?;
        let (running, stdin) = &mut *held;
        writeln!(stdin, "{}", words.join("\t"))?;
        let port = match is_server {
            true => {
                let line = running.line()?;
                Some(line.trim().parse().map_err(|_| line)?)
            }
            false => None,
        };
        let done = work(port);
        let answer = running.line()?;
        let done = done.map_err(|error| format!("{}; {answer}", error.message().unwrap_or_default()))?;
        check(answer == "done\n", answer)?;
        Ok(done)
    }
}

/// The peer connects to us.
pub(super) fn as_client(peer: &Peer, meeting: &Meeting) -> Result {
    let config = meeting.chain.server(&meeting.provider()?)?;
    connects(peer, &meeting.roots, meeting.group, meeting.expected, config)
}

/// The peer, told of this root and this group, connects to a server of this configuration; it must come over the group that is expected.
pub(super) fn connects(
    peer: &Peer,
    roots: &Path,
    told: &Group,
    expected: &Group,
    config: ServerConfig,
) -> Result {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    let port = address.port().to_string();
    let (config, number) = (Arc::new(config), expected.number());
    let serving = std::thread::spawn(move || -> std::result::Result<(), String> {
        let (socket, _) = listener.accept().map_err(text)?;
        serve(socket, config, number)
    });
    let ended = dials(peer, &port, roots, told);
    // Who never came would be waited for.
    drop(TcpStream::connect(address));
    let served = serving.join().map_err(|_| "our server panicked")?;
    ended.map_err(|error| {
        let said = error.message().unwrap_or_default();
        format!("{said}; our server: {}", served.as_ref().err().map_or("content", String::as_str))
    })?;
    Ok(served?)
}

/// Has the peer connect to a port, to the end.
fn dials(peer: &Peer, port: &str, roots: &Path, group: &Group) -> Result {
    let output = match &peer.program {
        Program::Script(program, before, name) => {
            let mut client = command(program);
            client.args(before).args(["client", port]).arg(roots).arg(name(group));
            run(&mut client, b"")?
        }
        Program::Kept(kept, name) => {
            let words = ["client", port, path(roots)?, &name(group)];
            return kept.tell(&words, false, |_| Ok(()));
        }
        Program::OpenSsl(program, options) => {
            let mut client = command(program);
            client.arg("s_client").args(options);
            client.args(["-quiet", "-no_ign_eof", "-verify_return_error", "-tls1_3", "-connect"]);
            client.args([&*format!("127.0.0.1:{port}"), "-servername", "server.example"]);
            client.args(["-verify_hostname", "server.example", "-groups", &openssl_name(group)]);
            client.arg("-CAfile").arg(roots);
            // It takes the end of its input for the end of the connection.
            told(client, "hello\n", "olleh\n")?
        }
    };
    check(output.status.success(), String::from_utf8_lossy(&output.stderr))
}

/// One connection to us, which must come over this group.
fn serve(mut socket: TcpStream, config: Arc<ServerConfig>, number: u16) -> std::result::Result<(), String> {
    patient(&socket)?;
    let mut connection = ServerConnection::new(config).map_err(text)?;
    let mut stream = Stream::new(&mut connection, &mut socket);
    let line = line(&mut stream)?;
    let back: String = line.trim_end().chars().rev().collect();
    stream.write_all(format!("{back}\n").as_bytes()).map_err(text)?;
    let group = connection.negotiated_key_exchange_group().map(|group| u16::from(group.name()));
    connection.send_close_notify();
    let _ = connection.complete_io(&mut socket);
    if group == Some(number) { Ok(()) } else { Err(over(group)) }
}

/// What is said of a connection over another group than the one that was expected.
pub(super) fn over(group: Option<u16>) -> String {
    format!("it came over the group {group:#06x?}")
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
pub(super) fn as_server(peer: &Peer, meeting: &Meeting) -> Result {
    let (mut server, port) = match &peer.program {
        Program::Script(program, before, name) => {
            let mut server = command(program);
            server.args(before).arg("server").arg(&meeting.sent).arg(&meeting.key).arg(name(meeting.group));
            let mut server = Running::start(&mut server)?;
            let port = server.line()?;
            let port = port.trim().parse().map_err(|_| format!("{port:?}: {}", server.end()))?;
            (server, port)
        }
        Program::Kept(kept, name) => {
            let words = ["server", path(&meeting.sent)?, path(&meeting.key)?, &name(meeting.group)];
            return kept.tell(&words, true, |port| meet(meeting, port.ok_or("servers tell their port")?));
        }
        Program::OpenSsl(program, options) => {
            let mut server = command(program);
            server.arg("s_server").args(options).args([
                "-rev",
                "-tls1_3",
                "-naccept",
                "1",
                "-accept",
                "127.0.0.1:0",
            ]);
            server.args(["-groups", &openssl_name(meeting.group), "-cert"]).arg(&meeting.sent);
            server.arg("-cert_chain").arg(&meeting.sent).arg("-key").arg(&meeting.key);
            let mut server = Running::start(&mut server)?;
            let port = loop {
                let line = server.line()?;
                if line.is_empty() {
                    return Err(format!("it does not listen: {}", server.end()).into());
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
    check(group == Some(meeting.expected.number()), over(group))?;
    connection.send_close_notify();
    let _ = connection.complete_io(&mut socket);
    Ok(())
}

pub(crate) fn patient(socket: &TcpStream) -> std::result::Result<(), String> {
    socket
        .set_read_timeout(Some(PATIENCE))
        .and_then(|()| socket.set_write_timeout(Some(PATIENCE)))
        .map_err(text)
}

pub(crate) fn line(stream: &mut impl Read) -> std::result::Result<String, String> {
    let (mut line, mut byte) = (String::new(), [0]);
    while !line.ends_with('\n') {
        stream.read_exact(&mut byte).map_err(text)?;
        line.push(byte[0].into());
    }
    Ok(line)
}

fn path(path: &Path) -> Result<&str> {
    Ok(path.to_str().ok_or("a path in Unicode")?)
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}
