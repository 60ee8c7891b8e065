//! The command line of `gambeson tls`.

mod proxy;

pub use proxy::TlsProxy;

use super::address;
use crate::files::is_stream;
use clap::{ArgGroup, Args, Subcommand};
use gambeson_rustls::Preset;
use std::net::SocketAddr;
use std::path::PathBuf;

/// `gambeson tls …`
#[derive(Debug, Subcommand)]
pub enum TlsCommand {
    /// Serve files over TLS 1.3, with every group that we have
    Serve(TlsServe),
    /// Fetch a URL, and show the group, scheme and chain with -v
    Get(TlsGet),
    /// List the groups and signature schemes that a server takes
    Scan(TlsScan),
    /// Speak TLS in front of a server that cannot, or towards one for clients that cannot
    Proxy(Box<TlsProxy>),
    /// Measure handshakes in memory: processor time of both sides, and bytes
    Bench(TlsBench),
}

impl TlsCommand {
    /// Whether standard output carries data, so that reports must go elsewhere.
    pub(crate) fn fills_stdout(&self) -> bool {
        matches!(self, Self::Get(options) if is_stream(&options.out))
    }
}

/// `gambeson tls serve`
#[derive(Clone, Debug, Args)]
#[command(group(ArgGroup::new("what").args(["root", "echo"])))]
pub struct TlsServe {
    /// The address to listen on: PORT (on 127.0.0.1), :PORT (on every address) or HOST:PORT; port 0 takes a free one, which is printed
    #[arg(short, long, value_name = "ADDRESS", default_value = "127.0.0.1:8443", value_parser = address::listen)]
    pub listen: SocketAddr,
    /// The certificate, and those between it and the root
    #[arg(short, long, value_name = "PEM")]
    pub cert: PathBuf,
    /// Its private key
    #[arg(short, long, value_name = "KEY")]
    pub key: PathBuf,
    /// Ask every client for a certificate that leads to one of these roots
    #[arg(long, value_name = "PEM")]
    pub client_ca: Option<PathBuf>,
    /// A revocation list, in which certificates of its issuer are looked up (may be given again). The issuer is among --client-ca and --cert, or has its certificate in
    /// FILE. SIGHUP has it read again; an older list does not replace a newer one
    #[arg(long = "crl", value_name = "FILE", requires = "client_ca")]
    pub lists: Vec<PathBuf>,
    /// Give out the files of this folder, but no hidden ones, no agents' folders, and no file with a private key in its first MiB; without
    /// it every request is answered by how it came
    #[arg(long, value_name = "DIR")]
    pub root: Option<PathBuf>,
    /// Send all received bytes back
    #[arg(long)]
    pub echo: bool,
    /// Take only the groups and schemes of default, cnsa2, fully-hybrid or classical-448 [default: all but SLH-DSA]
    #[arg(long, value_name = "PRESET")]
    pub preset: Option<Preset>,
    /// Enable SLH-DSA certificates of this side and of clients (draft-reddy-tls-slhdsa); off by default
    #[arg(long)]
    pub slh_dsa: bool,
    /// The most connections at a time; more have to wait
    #[arg(long, value_name = "N", default_value_t = 256, value_parser = clap::value_parser!(u16).range(1..))]
    pub connections: u16,
    /// Seconds for which a connection may be silent
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub timeout: u64,
    /// Where the passphrase of the key comes from
    #[command(flatten)]
    pub passphrase: super::PassphraseSource,
}

/// `gambeson tls get`
#[derive(Debug, Args)]
pub struct TlsGet {
    /// The URL, such as https://localhost:8443/
    #[arg(value_name = "URL")]
    pub url: String,
    /// The file for the body
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub out: PathBuf,
    /// Replace a file that exists
    #[arg(long)]
    pub force: bool,
    /// Show the group, scheme and chain on standard error
    #[arg(short, long)]
    pub verbose: bool,
    /// Whom to trust, and how to connect
    #[command(flatten)]
    pub peer: TlsPeer,
    /// Trust the certificates of this PEM file, in place of Mozilla's
    #[arg(long, value_name = "PEM")]
    pub ca: Option<PathBuf>,
    /// A revocation list, in which certificates of its issuer are looked up (may be given again)
    #[arg(long = "crl", value_name = "FILE")]
    pub lists: Vec<PathBuf>,
    /// The groups and schemes to offer: default, cnsa2, fully-hybrid or classical-448
    #[arg(long, value_name = "PRESET", default_value = "default")]
    pub preset: Preset,
}

/// `gambeson tls scan`
#[derive(Debug, Args)]
pub struct TlsScan {
    /// The server, such as example.com, example.com:443 or https://example.com
    #[arg(value_name = "HOST:PORT")]
    pub server: String,
    /// Exit 1 unless the server takes a post-quantum group; its signature may be classical
    #[arg(long)]
    pub require_pq: bool,
    /// How to connect
    #[command(flatten)]
    pub peer: TlsPeer,
}

/// How a client connects.
#[derive(Debug, Args)]
pub struct TlsPeer {
    /// Connect to this address, whatever address the name has
    #[arg(long, value_name = "ADDRESS", value_parser = address::connect)]
    pub connect_to: Option<SocketAddr>,
    /// Offer the signature schemes of SLH-DSA, too (draft-reddy-tls-slhdsa); off by default
    #[arg(long)]
    pub slh_dsa: bool,
    /// Seconds for which the server may be silent
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub timeout: u64,
}

/// `gambeson tls bench`
#[derive(Debug, Args)]
pub struct TlsBench {
    /// Measure every row, with and without verification of the chain, and compare them
    #[arg(long)]
    pub matrix: bool,
    /// Measure this row alone
    #[arg(long, value_name = "NAME", default_value = "default", value_parser = crate::tls::BENCH_ROWS, conflicts_with = "matrix")]
    pub preset: String,
    /// Handshakes of each row, one of every row in turn
    #[arg(long, value_name = "N", default_value = "300", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub rounds: u32,
    /// Fail if a number that this project promises is missed, and name it
    #[arg(long, requires = "matrix")]
    pub check: bool,
    /// Makes so many key shares more than a handshake needs: what counts instructions must notice it
    #[arg(long, hide = true, value_name = "N", default_value_t = 0)]
    pub planted: u32,
}
