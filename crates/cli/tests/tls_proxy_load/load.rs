//! The processes, and the test.

use crate::program::serving::{Server, with_chain};
use crate::program::{Folder, must_run};
use gambeson_rustls::rustls::client::Resumption;
use gambeson_rustls::rustls::pki_types::{CertificateDer, ServerName, pem::PemObject};
use gambeson_rustls::rustls::{ClientConfig, RootCertStore};
use gambeson_rustls::{Builder, Group, Preset};
use rustix::process::{Resource, getrlimit, setrlimit};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

pub const NAME: &str = "thousands_of_connections_come_and_go_without_a_leak";
/// How many the test opens.
const CONNECTIONS: usize = 8000;
/// What is sent and comes back.
const TEXT: &[u8; 16] = b"there and back..";
/// How many handshakes run at a time.
const AT_A_TIME: usize = 64;

/// Raises the limit of descriptors as far as it goes, and tells it.
pub fn raise_limit() -> u64 {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    setrlimit(Resource::Nofile, limit).unwrap();
    limit.current.unwrap_or(u64::MAX)
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

/// A server that sends back what comes, until nobody holds its standard input any more.
pub fn server() {
    raise_limit();
    std::thread::spawn(|| {
        let _ = std::io::stdin().read_line(&mut String::new());
        std::process::exit(0);
    });
    runtime().block_on(async {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let listener: TcpListener = socket.listen(4096).unwrap();
        println!("{}", json!({"port": listener.local_addr().unwrap().port()}));
        loop {
            let (mut socket, _) = listener.accept().await.unwrap();
            tokio::spawn(async move {
                let _ = socket.set_nodelay(true);
                let (mut from, mut to) = socket.split();
                // What it holds while nothing comes is its own business.
                let _ = tokio::io::copy(&mut from, &mut to).await;
                let _ = to.shutdown().await;
            });
        }
    });
}

/// The load maker: does what each line of standard input says, and answers each in a line.
pub fn clients(port: u16, root: &str, group: &str) {
    raise_limit();
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(root).unwrap()).unwrap();
    let group = Group::by_name(group).unwrap();
    let provider = Builder::new(Preset::Default).groups(&[group]).build().unwrap();
    let mut config = ClientConfig::builder_with_provider(provider.into())
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.resumption = Resumption::disabled();
    let maker = Maker { port, connector: TlsConnector::from(Arc::new(config)) };
    let runtime = runtime();
    let mut open = Vec::new();
    for line in std::io::stdin().lines() {
        let line = line.unwrap();
        let words: Vec<&str> = line.split_whitespace().collect();
        let begun = Instant::now();
        let done = runtime.block_on(async {
            match words[..] {
                ["open", count] => {
                    let count = count.parse().unwrap();
                    open.extend(maker.open(count).await);
                    open.len()
                }
                ["echo"] => {
                    open = each(std::mem::take(&mut open), async |mut stream| {
                        echo(&mut stream).await;
                        stream
                    })
                    .await;
                    open.len()
                }
                ["close"] => each(std::mem::take(&mut open), async |stream| close(stream).await).await.len(),
                ["handshakes", seconds] => {
                    maker.handshakes(Duration::from_secs(seconds.parse().unwrap())).await
                }
                ["flow", streams, mebibytes] => {
                    maker.flow(streams.parse().unwrap(), mebibytes.parse().unwrap()).await
                }
                _ => panic!("{line}"),
            }
        });
        println!("{}", json!({"done": done, "seconds": begun.elapsed().as_secs_f64()}));
    }
}

struct Maker {
    port: u16,
    connector: TlsConnector,
}

type Stream = TlsStream<TcpStream>;

impl Maker {
    async fn one(&self) -> Stream {
        let socket = TcpStream::connect(("127.0.0.1", self.port)).await.unwrap();
        socket.set_nodelay(true).unwrap();
        let name = ServerName::try_from("localhost").unwrap();
        let mut stream = self.connector.connect(name, socket).await.unwrap();
        // A handshake that the other side has finished, too.
        echo(&mut stream).await;
        stream
    }

    async fn open(&self, count: usize) -> Vec<Stream> {
        each((0..count).collect(), async |_| self.one().await).await
    }

    /// Opens and closes for so long: how often.
    async fn handshakes(&self, time: Duration) -> usize {
        let end = Instant::now() + time;
        let counts = each((0..AT_A_TIME).collect(), async |_| {
            let mut count = 0;
            while Instant::now() < end {
                close(self.one().await).await;
                count += 1;
            }
            count
        });
        counts.await.into_iter().sum()
    }

    /// Sends so many mebibytes over each of so many streams and takes them back: how many.
    async fn flow(&self, streams: usize, mebibytes: usize) -> usize {
        let flows = each((0..streams).collect(), async |_| {
            let (mut from, mut to) = tokio::io::split(self.one().await);
            let sending = async move {
                let piece = vec![7; 1 << 20];
                for _ in 0..mebibytes {
                    to.write_all(&piece).await.unwrap();
                }
                to.flush().await.unwrap();
            };
            let receiving = async move {
                let (mut piece, mut got) = (vec![0; 64 << 10], 0);
                while got < mebibytes << 20 {
                    got += match from.read(&mut piece).await.unwrap() {
                        0 => break,
                        length => length,
                    };
                }
                got
            };
            let (got, ()) = tokio::join!(receiving, sending);
            assert_eq!(got, mebibytes << 20);
            mebibytes
        });
        flows.await.into_iter().sum()
    }
}

async fn echo(stream: &mut Stream) {
    stream.write_all(TEXT).await.unwrap();
    stream.flush().await.unwrap();
    let mut got = [0; TEXT.len()];
    stream.read_exact(&mut got).await.unwrap();
    assert_eq!(&got, TEXT);
}

async fn close(mut stream: Stream) {
    stream.shutdown().await.unwrap();
    // nginx says no goodbye; whether we do, the access log tells.
    let _ = stream.read(&mut [0; 1]).await;
}

/// Does that with each, so many at a time.
async fn each<T, R>(all: Vec<T>, work: impl AsyncFn(T) -> R) -> Vec<R> {
    use std::cell::RefCell;
    let (left, done) = (RefCell::new(all.into_iter()), RefCell::new(Vec::new()));
    let lane = async || {
        loop {
            let Some(next) = left.borrow_mut().next() else { return };
            let result = work(next).await;
            done.borrow_mut().push(result);
        }
    };
    let mut lanes: Vec<_> = (0..AT_A_TIME).map(|_| Box::pin(lane())).collect();
    std::future::poll_fn(|context| {
        lanes.retain_mut(|lane| lane.as_mut().poll(context).is_pending());
        if lanes.is_empty() { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    })
    .await;
    drop(lanes);
    done.into_inner()
}

/// A process of this program in one of its roles.
pub struct Role {
    child: Child,
    asks: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Role {
    fn start(arguments: &[&str]) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        let mut child = command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let answers = BufReader::new(child.stdout.take().unwrap());
        Self { asks: child.stdin.take(), child, answers }
    }

    /// The server, and its port.
    pub fn server() -> (Self, u16) {
        let mut server = Self::start(&["server"]);
        let port = server.next()["port"].as_u64().unwrap();
        (server, port as u16)
    }

    /// A load maker towards that port, with that group.
    pub fn clients(folder: &Folder, port: u16, group: &str) -> Self {
        let root = folder.path("pki/root.pem");
        Self::start(&["clients", &port.to_string(), root.to_str().unwrap(), group])
    }

    fn next(&mut self) -> Value {
        let mut line = String::new();
        self.answers.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    /// Has it do something: how much was done, and in how many seconds.
    pub fn does(&mut self, what: &str) -> (usize, f64) {
        writeln!(self.asks.as_mut().unwrap(), "{what}").unwrap();
        let answer = self.next();
        (answer["done"].as_u64().unwrap() as usize, answer["seconds"].as_f64().unwrap())
    }
}

impl Drop for Role {
    fn drop(&mut self) {
        // Whose standard input ends, ends.
        self.asks = None;
        let _ = self.child.wait();
    }
}

/// The open descriptors of a process.
fn descriptors(process: u32) -> usize {
    std::fs::read_dir(format!("/proc/{process}/fd")).unwrap().count()
}

/// The memory of a process in KiB.
pub fn memory(process: u32) -> usize {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// A proxy with the chain in `pki`, in front of that port; `folder` gets its access log.
pub fn proxy(folder: &Folder, port: u16, more: &str) -> Server {
    let line = format!(
        "tls proxy --listen 127.0.0.1:0 --connect 127.0.0.1:{port} --cert pki/server.pem --key pki/server.key
         --access-log access.log {more}"
    );
    Server::run(folder, &line)
}

/// How many connections the proxy can have with so many descriptors; why that is not enough, where all must run.
fn affordable(descriptors: u64, all_must_run: bool) -> Result<usize, String> {
    let count = usize::try_from(descriptors.saturating_sub(160) / 2).unwrap_or(CONNECTIONS).min(CONNECTIONS);
    if count < CONNECTIONS && all_must_run {
        let wanted = 2 * CONNECTIONS + 160;
        return Err(format!(
            "the system allows {descriptors} descriptors; `ulimit -Hn` must be {wanted} or more"
        ));
    }
    Ok(count)
}

/// The test.
pub fn thousands() {
    println!("\nrunning 1 test");
    let begun = Instant::now();
    // Fewer than all are a failure where nothing may be skipped, and only there.
    assert!(affordable(4096, true).is_err_and(|error| error.contains("4096 descriptors")));
    assert_eq!((affordable(4096, false), affordable(20_000, true)), (Ok(1968), Ok(CONNECTIONS)));
    let all = raise_limit();
    let count = affordable(all, must_run()).unwrap();
    if count < CONNECTIONS {
        println!("the system allows {all} descriptors: {count} connections in place of {CONNECTIONS}");
    }
    let folder = with_chain("ml-dsa-44");
    let (_server, port) = Role::server();
    let proxy = proxy(&folder, port, &format!("--connections {count}"));
    let process = proxy.child.id();
    let mut clients = Role::clients(&folder, proxy.port, "X25519MLKEM768");
    // What is needed once is there after a first few.
    assert_eq!(clients.does("open 64").0, 64);
    assert_eq!(clients.does("close").0, 64);
    let settled = |what: &str, expected: usize| {
        let end = Instant::now() + Duration::from_secs(30);
        while descriptors(process) != expected {
            assert!(Instant::now() < end, "{what}: {} descriptors, not {expected}", descriptors(process));
            std::thread::sleep(Duration::from_millis(20));
        }
    };
    std::thread::sleep(Duration::from_millis(200));
    let at_rest = descriptors(process);
    let mut full = Vec::new();
    for round in 1..=2 {
        let (open, seconds) = clients.does(&format!("open {count}"));
        assert_eq!(open, count);
        settled("all are open", at_rest + 2 * count);
        println!(
            "round {round}: {count} connections, {} descriptors, {} KiB, in {seconds:.1} s",
            descriptors(process),
            memory(process)
        );
        // Nobody else has a place, and learns so.
        let refused = proxy.get(&folder, "/", "-o x --json").exits(1);
        assert_eq!(refused.json()["reason"], "alert");
        assert_eq!(clients.does("echo").0, count);
        full.push(memory(process));
        assert_eq!(clients.does("close").0, count);
        settled("all are closed", at_rest);
    }
    // What the allocator gives back differs; what it needs for as many connections grows only if something leaks.
    assert!(full[1] < full[0] + full[0] / 10, "memory grows: {full:?} KiB");
    drop(clients);
    proxy.signal(rustix::process::Signal::TERM);
    let mut proxy = proxy;
    assert_eq!(proxy.child.wait().unwrap().code(), Some(0));
    let told = String::from_utf8(folder.read("access.log")).unwrap();
    let closed = told.lines().filter(|line| line.contains("\"end\":\"closed\"")).count();
    assert_eq!((closed, told.lines().count()), (64 + 2 * count, 64 + 2 * count), "a line for each");
    println!("test {NAME} ... ok");
    println!(
        "\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in {:.2}s\n",
        begun.elapsed().as_secs_f64()
    );
}
