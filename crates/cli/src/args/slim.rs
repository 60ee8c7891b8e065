//! The command line of `gambeson slim`.

use super::address;
use clap::{Args, Subcommand, ValueEnum};
use std::net::SocketAddr;
use std::path::PathBuf;

/// The environment variable that names the nodes.
pub const NODES: &str = "GAMBESON_SLIM";

/// The environment variable that has credentials for the nodes.
pub const NODE_AUTH: &str = "GAMBESON_SLIM_AUTH";

/// `gambeson slim …`
#[derive(Debug, Subcommand)]
pub enum SlimCommand {
    /// Start nodes of SLIM and the delivery service, and print the line with which agents join; Ctrl-C ends it. For agents and clients of the nodes that
    /// trust each other: any client of a node can answer in place of the delivery service, so that messages are lost without a warning
    Up(Box<SlimUp>),
    /// Check whether nodes and the delivery service answer, what they accept, and what each party can see
    Doctor(SlimDoctor),
}

/// What the delivery service keeps things in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Engine {
    /// One file, which is there again after a restart
    Redb,
    /// Memory, which is gone afterwards
    Memory,
    /// NATS JetStream: a server of its own (nats-server in PATH), which is there again after a restart
    Nats,
}

impl Engine {
    /// As it is named on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Redb => "redb",
            Self::Memory => "memory",
            Self::Nats => "nats",
        }
    }
}

/// `gambeson slim up`
#[derive(Debug, Args)]
pub struct SlimUp {
    /// The number of nodes; several make a mesh, in which agents go to the next when one is lost
    #[arg(long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u16).range(1..=16))]
    pub nodes: u16,
    /// What the delivery service keeps commits, messages and key packages in, all of them sealed
    #[arg(long, value_enum, default_value = "redb")]
    pub engine: Engine,
    /// Where the first node listens, others on the ports after it; port 0 means free ports. For other machines to come in, --trust-every-client
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:46357", value_parser = address::listen)]
    pub listen: SocketAddr,
    /// Listen for other machines although the nodes know no client from another: each that comes in can lose others' messages without a warning
    #[arg(long)]
    pub trust_every_client: bool,
    /// The folder of what the delivery service keeps [default: gambeson/slim in the user's data folder]
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// MiB that the delivery service keeps at most, of all channels; with nats its streams are raised to it, never lowered [default: 16384, with nats 1024]
    #[arg(long, value_name = "MIB", value_parser = clap::value_parser!(u64).range(16..=1 << 30), help_heading = "Limits")]
    pub store: Option<u64>,
    /// MiB that a channel's log has at most: from three quarters on, entries before its newest checkpoint are removed [default: 1024]
    #[arg(long, value_name = "MIB", value_parser = clap::value_parser!(u64).range(1..=1 << 30), help_heading = "Limits")]
    pub channel: Option<u64>,
    /// Hours for which a channel's log is kept, but always from its newest checkpoint on [default: as long as there is room]
    #[arg(long, value_name = "HOURS", value_parser = clap::value_parser!(u64).range(1..=1_000_000), help_heading = "Limits")]
    pub keep: Option<u64>,
    /// Days for which unused blobs (cards, trees, large commits) are kept; members that are away for longer may have to be invited again
    /// [default: for ever]
    #[arg(long, value_name = "DAYS", value_parser = clap::value_parser!(u64).range(1..=36_500), help_heading = "Limits")]
    pub keep_blobs: Option<u64>,
    /// The node's program [default: slim in PATH, else the wheel slim-bindings, which is installed once]
    #[arg(long, value_name = "FILE", conflicts_with = "python")]
    pub slim: Option<PathBuf>,
    /// A Python that has slim-bindings, to run nodes with [default: GAMBESON_SLIM_PYTHON, if it is set]
    #[arg(long, value_name = "FILE")]
    pub python: Option<PathBuf>,
    /// Let programs that have no MLS into the channels of agents here, over WebSocket on this address of this machine alone
    #[arg(long, value_name = "ADDRESS", num_args = 0..=1, default_missing_value = "127.0.0.1:0", value_parser = address::listen)]
    pub websocket: Option<SocketAddr>,
    /// The folder of an agent of --websocket (may be given again) [default: GAMBESON_HOME, else gambeson/agent in the user's data folder]
    #[arg(long, value_name = "DIR", requires = "websocket")]
    pub agent: Vec<PathBuf>,
    /// Let web pages of this origin in, too, such as `https://example.org` (may be given again)
    #[arg(long, value_name = "ORIGIN", requires = "websocket")]
    pub origin: Vec<String>,
    /// Deliver messages in causal order: each waits for those that its sender had received, where both agents use it
    #[arg(long, requires = "websocket")]
    pub causal: bool,
    /// Gather what an agent sends in this many milliseconds into one message: 20 to 50 for one that sends word by word, without waiting
    /// for each
    #[arg(long, value_name = "MS", requires = "websocket", default_value = "0", value_parser = clap::value_parser!(u64).range(..=10_000))]
    pub bundle: u64,
    /// Read the passphrase of the agents from this file descriptor (else from GAMBESON_PASSPHRASE, else it is asked for)
    #[arg(long, value_name = "N", requires = "websocket")]
    pub passphrase_fd: Option<u32>,
}

/// Nodes to connect to, and how.
#[derive(Clone, Debug, Args)]
pub struct Nodes {
    /// Connect to the first of these nodes that answers (http://, https://, unix://, separated by commas) [default: GAMBESON_SLIM, else http://127.0.0.1:46357]
    #[arg(long = "slim", global = true, value_name = "URLS", value_delimiter = ',')]
    pub nodes: Vec<String>,
    /// Trust the certificate authorities in this PEM file for https:// nodes, and no others [default: the system's roots]
    #[arg(long, global = true, value_name = "FILE", help_heading = "Nodes")]
    pub node_ca: Option<PathBuf>,
    /// Show https:// nodes the certificate (and its chain) in this PEM file; needs --node-key
    #[arg(long, global = true, value_name = "FILE", help_heading = "Nodes")]
    pub node_cert: Option<PathBuf>,
    /// Prove the certificate of --node-cert with the private key in this PEM file
    #[arg(long, global = true, value_name = "FILE", help_heading = "Nodes")]
    pub node_key: Option<PathBuf>,
    /// Send nodes the credentials in this file: one line, `basic USER:PASSWORD` or `bearer TOKEN` [default: GAMBESON_SLIM_AUTH, if it is set]
    #[arg(long, global = true, value_name = "FILE", help_heading = "Nodes")]
    pub node_auth: Option<PathBuf>,
}

/// `gambeson slim doctor`
#[derive(Debug, Args)]
pub struct SlimDoctor {
    /// Which nodes
    #[command(flatten)]
    pub nodes: Nodes,
    /// The agent's folder, whose identity is checked, too [default: GAMBESON_HOME, else gambeson/agent in the user's data folder]
    #[arg(long, value_name = "DIR")]
    pub home: Option<PathBuf>,
}
