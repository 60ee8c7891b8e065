//! Nodes of SLIM as processes of this machine, which are as their makers ship them: for `gambeson slim up`, demos and tests.
//!
//! A node is the program `slim` (crate `agntcy-slim`), or a Python that has the wheel `slim-bindings`. It listens on loopback, or
//! where it is told to, without TLS: it sees ciphertext.
//!
//! ```no_run
//! # async fn example() -> Result<(), gambeson_slim::stock::Failed> {
//! use gambeson_slim::stock::{Maker, start};
//!
//! let maker = Maker::Program("slim".into());
//! let mesh = start(&maker, 3, "127.0.0.1".parse().expect("an address"), &std::env::temp_dir()).await?;
//! println!("{} is process {}", mesh[0].endpoint(), mesh[0].pid());
//! # Ok(())
//! # }
//! ```

use std::ffi::OsStr;
use std::fmt::{self, Write};
use std::fs::{self, File};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::time::{Instant, sleep};

/// Version of the wheel `slim-bindings` that nodes are made of where no other is named.
pub const WHEEL: &str = "3.3.8";

/// Versions of the wheel `slim-bindings` with which this is tested, newest first: the last of each minor version of six months (June to
/// November 2026).
pub const WHEELS: &[&str] = &[WHEEL, "2.2.0", "2.1.2", "2.0.0"];

/// Minor versions of SLIM with whose nodes this was tested: those in [`WHEELS`], in their order.
pub const TESTED: &[(u32, u32)] = &[(3, 4), (3, 0), (2, 2), (2, 0)];

/// Returns true if this version of SLIM, such as `3.4.6`, is one of a minor version in [`TESTED`].
pub(crate) fn is_tested(version: &str) -> bool {
    let mut numbers = version.split('.').map(|number| number.parse().ok());
    let minor = numbers.next().flatten().zip(numbers.next().flatten());
    minor.is_some_and(|minor| TESTED.contains(&minor))
}

/// Environment variables of gambeson's programs that hold secrets.
pub const SECRET_VARIABLES: &[&str] =
    &["GAMBESON_PASSPHRASE", "GAMBESON_NEW_PASSPHRASE", "GAMBESON_SLIM_AUTH"];

/// Returns a command for a foreign program, which does not inherit [`SECRET_VARIABLES`].
pub fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    SECRET_VARIABLES.iter().for_each(|variable| _ = command.env_remove(variable));
    command
}

/// How long a node may take until it listens.
const START: Duration = Duration::from_secs(30);

/// What runs in a Python that has the wheel.
const SCRIPT: &str = include_str!("stock_node.py");

/// Where nodes come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Maker {
    /// The program `slim`.
    Program(PathBuf),
    /// A Python that has `slim-bindings`.
    Wheel(PathBuf),
}

impl Maker {
    /// The program `slim` of this machine, if there is one.
    #[must_use]
    pub fn installed() -> Option<Self> {
        let name = format!("slim{}", std::env::consts::EXE_SUFFIX);
        let folders = std::env::var_os("PATH")?;
        let found =
            std::env::split_paths(&folders).map(|folder| folder.join(&name)).find(|path| path.is_file());
        found.map(Self::Program)
    }

    fn started(&self, configuration: &Path) -> Command {
        match self {
            Self::Program(program) => {
                let mut command = command(program);
                command.arg("--config").arg(configuration);
                command
            }
            Self::Wheel(python) => {
                let mut command = command(python);
                command.arg("-c").arg(SCRIPT).arg(configuration);
                command
            }
        }
    }
}

/// A node did not start: which, and why.
#[derive(Debug)]
pub struct Failed(String);

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Failed {}

/// A running node. Dropping it ends it: a node keeps nothing that would need a farewell.
#[derive(Debug)]
pub struct Node {
    maker: Maker,
    /// Which of the addresses is its own.
    index: usize,
    addresses: Vec<SocketAddr>,
    configuration: PathBuf,
    restarts: u32,
    child: Child,
}

impl Node {
    /// Where links connect to.
    #[must_use]
    pub fn endpoint(&self) -> String {
        format!("http://{}", reachable(self.addresses[self.index]))
    }

    /// The number of its process.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Whether it has ended by itself.
    #[must_use]
    pub fn has_ended(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }

    /// Ends it, from one instruction to the next.
    pub fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Starts it again after [`kill`](Self::kill), where it was and under another name: nodes do not tell one that is started again
    /// under its old name what they know (0.19.15 takes it for one that is there already).
    ///
    /// # Errors
    /// It does not come up.
    pub async fn restart(&mut self) -> Result<(), Failed> {
        self.kill();
        if self.addresses.len() > 1 {
            sleep(GIVEN_UP).await;
        }
        self.restarts += 1;
        write(&self.configuration, self.index, &self.addresses, self.restarts)?;
        self.child = spawn(&self.maker, &self.configuration)?;
        self.wait().await
    }

    async fn wait(&mut self) -> Result<(), Failed> {
        let begun = Instant::now();
        let address = self.addresses[self.index];
        while TcpStream::connect(reachable(address)).await.is_err() {
            if self.has_ended() || begun.elapsed() > START {
                let log = fs::read_to_string(log_of(&self.configuration)).unwrap_or_default();
                let last: Vec<&str> = log.lines().rev().take(5).collect();
                let last: Vec<&str> = last.into_iter().rev().collect();
                return Err(Failed(format!("the node for {address} did not start: {}", last.join(" / "))));
            }
            sleep(Duration::from_millis(20)).await;
        }
        Ok(())
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Starts so many nodes on free ports of an address, which know each other if they are several: a mesh. Their configurations and
/// logs go into a folder that exists.
///
/// # Errors
/// One of them does not come up; the others are ended.
pub async fn start(maker: &Maker, count: usize, on: IpAddr, folder: &Path) -> Result<Vec<Node>, Failed> {
    let ports = (0..count).map(|_| TcpListener::bind((on, 0))).collect::<io::Result<Vec<_>>>();
    let addresses =
        ports.and_then(|ports| ports.iter().map(TcpListener::local_addr).collect::<io::Result<Vec<_>>>());
    let addresses = addresses.map_err(|error| Failed(format!("no port on {on}: {error}")))?;
    start_at(maker, &addresses, folder).await
}

/// Starts a node at each of these addresses, as [`start`] does.
///
/// # Errors
/// One of them does not come up; the others are ended.
pub async fn start_at(maker: &Maker, addresses: &[SocketAddr], folder: &Path) -> Result<Vec<Node>, Failed> {
    let mut nodes = Vec::new();
    // Of two nodes, the one with the smaller name calls: whom it calls is there.
    for index in (0..addresses.len()).rev() {
        let path = folder.join(format!("slim-{}.yaml", index + 1));
        write(&path, index, addresses, 0)?;
        let child = spawn(maker, &path)?;
        let (maker, addresses) = (maker.clone(), addresses.to_vec());
        let mut node = Node { maker, index, addresses, configuration: path, restarts: 0, child };
        node.wait().await?;
        nodes.push(node);
    }
    nodes.reverse();
    Ok(nodes)
}

fn write(path: &Path, index: usize, addresses: &[SocketAddr], restarts: u32) -> Result<(), Failed> {
    fs::write(path, configuration(index, addresses, restarts))
        .map_err(|error| Failed(format!("{}: {error}", path.display())))
}

/// How often, and how soon, a node calls another again that it has lost: it gives up before that one is started again ([`GIVEN_UP`]). Until
/// then it keeps what it knew of the other's listeners, also if these have gone elsewhere meanwhile (0.19.15).
const BACKOFF: &str = "backoff: { type: fixed_interval, interval: 100ms, max_attempts: 5 }";
const GIVEN_UP: Duration = Duration::from_millis(1500);

fn spawn(maker: &Maker, configuration: &Path) -> Result<Child, Failed> {
    let log = log_of(configuration);
    let wrong = |path: &Path, error: &io::Error| Failed(format!("{}: {error}", path.display()));
    let output = File::create(&log).map_err(|error| wrong(&log, &error))?;
    let errors = output.try_clone().map_err(|error| wrong(&log, &error))?;
    let mut command = maker.started(configuration);
    // Its standard input ends with this process, and a Python then ends the node.
    // What a terminal sends to this program is no news for nodes: they end with it.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    command.stdin(Stdio::piped()).stdout(output).stderr(errors);
    command.spawn().map_err(|error| wrong(Path::new(command.get_program()), &error))
}

fn log_of(configuration: &Path) -> PathBuf {
    configuration.with_extension("log")
}

/// Where to call a node that may listen on all addresses.
fn reachable(mut address: SocketAddr) -> SocketAddr {
    match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => address.set_ip(Ipv4Addr::LOCALHOST.into()),
        IpAddr::V6(ip) if ip.is_unspecified() => address.set_ip(Ipv6Addr::LOCALHOST.into()),
        _ => {}
    }
    address
}

/// The configuration of one of these nodes.
fn configuration(index: usize, addresses: &[SocketAddr], restarts: u32) -> String {
    let number = index + 1;
    // Of two nodes the one with the smaller name calls: one that is started again calls all others.
    let name = if restarts == 0 { format!("slim-{number}") } else { format!("slim-0-{number}-{restarts}") };
    let mut text = format!(
        "tracing: {{ log_level: warn }}\n\
         runtime: {{ n_cores: 0, thread_name: slim, drain_timeout: 1s }}\n\
         services:\n  slim/{number}:\n    node_id: {name}\n    dataplane:\n      \
         servers: [ {{ endpoint: \"{}\", tls: {{ insecure: true }} }} ]\n      clients: []\n",
        addresses[index]
    );
    if addresses.len() > 1 {
        text.push_str(
            "    peers:\n      topology: full_mesh\n      discovery:\n        type: static\n        peers:\n",
        );
        for (other, address) in addresses.iter().enumerate().filter(|(other, _)| *other != index) {
            let _ = writeln!(
                text,
                "          - {{ node_id: slim-{}, endpoint: \"http://{}\", tls: {{ insecure: true }}, {BACKOFF} }}",
                other + 1,
                reachable(*address)
            );
        }
    }
    text
}
