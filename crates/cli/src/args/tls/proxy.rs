//! The command line of `gambeson tls proxy`.

use crate::args::address;
use clap::{ArgGroup, Args};
use gambeson_rustls::Preset;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

/// `gambeson tls proxy`
#[derive(Clone, Debug, Args)]
#[command(group(ArgGroup::new("side").args(["cert", "tls"]).required(true).multiple(true)))]
pub struct TlsProxy {
    /// The address for clients: PORT (on 127.0.0.1), :PORT (on every address) or HOST:PORT; port 0 takes a free one, which is printed
    #[arg(short, long, value_name = "ADDRESS", default_value = "127.0.0.1:8443", value_parser = address::listen)]
    pub listen: SocketAddr,
    /// The server to forward to
    #[arg(short = 'C', long, value_name = "HOST:PORT")]
    pub connect: String,
    /// The protocols to agree on (ALPN), such as h2,http/1.1, the best first [default: with TLS on both sides, and without --client-ca, what server and client
    /// agree on, else none]
    #[arg(long, value_name = "PROTOCOL", value_delimiter = ',', value_parser = protocol)]
    pub alpn: Vec<String>,

    /// Enable SLH-DSA certificates on both sides (draft-reddy-tls-slhdsa); off by default
    #[arg(long)]
    pub slh_dsa: bool,
    /// A revocation list, in which certificates of its issuer are looked up, with --client-ca or --tls (may be given again). The issuer is among --client-ca, --ca
    /// and our own certificates, or has its certificate in FILE. SIGHUP has it read again; an older list does not replace a newer one
    #[arg(long = "crl", value_name = "FILE")]
    pub lists: Vec<PathBuf>,

    /// Speak TLS with clients: the certificate that they see, and those between it and the root
    #[arg(short, long, value_name = "PEM", requires = "key", help_heading = "TLS with clients")]
    pub cert: Option<PathBuf>,
    /// Its private key; one with a passphrase takes that from GAMBESON_PASSPHRASE at each reload
    #[arg(short, long, value_name = "KEY", requires = "cert", help_heading = "TLS with clients")]
    pub key: Option<PathBuf>,
    /// Take only the groups and schemes of default, cnsa2, fully-hybrid or classical-448 [default: all but SLH-DSA]
    #[arg(long, value_name = "PRESET", requires = "cert", help_heading = "TLS with clients")]
    pub preset: Option<Preset>,
    /// Ask every client for a certificate that leads to one of these roots
    #[arg(long, value_name = "PEM", requires = "cert", help_heading = "TLS with clients")]
    pub client_ca: Option<PathBuf>,
    /// Speak TLS with the server
    #[arg(long, help_heading = "TLS with the server")]
    pub tls: bool,
    /// The name in the server's certificate [default: the host of --connect]
    #[arg(long, value_name = "NAME", requires = "tls", help_heading = "TLS with the server")]
    pub name: Option<String>,
    /// Trust the certificates of this PEM file, in place of Mozilla's
    #[arg(long, value_name = "PEM", requires = "tls", help_heading = "TLS with the server")]
    pub ca: Option<PathBuf>,
    /// The groups and schemes to offer: default, cnsa2, fully-hybrid or classical-448
    #[arg(long, value_name = "PRESET", default_value = "default", help_heading = "TLS with the server")]
    pub offer: Preset,
    /// The certificate to show to the server, and those between it and the root
    #[arg(long, value_name = "PEM", requires_all = ["tls", "own_key"], help_heading = "TLS with the server")]
    pub own_cert: Option<PathBuf>,
    /// Its private key
    #[arg(long, value_name = "KEY", requires = "own_cert", help_heading = "TLS with the server")]
    pub own_key: Option<PathBuf>,

    /// Send the client's address to the server: PROXY protocol, version 2
    #[arg(long, help_heading = "PROXY protocol")]
    pub send_proxy: bool,
    /// Take callers from these load balancers alone, and only with a header of the PROXY protocol, version 2
    #[arg(long, value_name = "IP", value_delimiter = ',', help_heading = "PROXY protocol")]
    pub accept_proxy: Vec<IpAddr>,

    /// The most connections at a time; more are refused [default: 8192, or what the limit of descriptors allows]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000), help_heading = "Limits")]
    pub connections: Option<u32>,
    /// Seconds that a handshake may take, that of TLS with the header of the PROXY protocol before it
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=3600), help_heading = "Limits")]
    pub handshake_timeout: u64,
    /// Seconds to wait for a connection to the server
    #[arg(long, value_name = "SECONDS", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=3600), help_heading = "Limits")]
    pub connect_timeout: u64,
    /// Seconds for which a connection may move no byte
    #[arg(long, value_name = "SECONDS", default_value_t = 300, value_parser = clap::value_parser!(u64).range(1..=604_800), help_heading = "Limits")]
    pub idle_timeout: u64,
    /// Seconds for which connections may go on after SIGTERM or SIGINT; a second signal ends at once
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(0..=86_400), help_heading = "Limits")]
    pub drain_timeout: u64,

    /// The file for a JSON object a line about each connection that has ended; opened again on SIGHUP
    #[arg(long, value_name = "FILE", default_value = "-", help_heading = "Reports")]
    pub access_log: PathBuf,
    /// Serve counters for Prometheus at http://ADDRESS/metrics
    #[arg(long, value_name = "ADDRESS", num_args = 0..=1, default_missing_value = "127.0.0.1:9464", value_parser = address::listen, help_heading = "Reports")]
    pub metrics: Option<SocketAddr>,
    /// Append the secrets of every connection to the file that SSLKEYLOGFILE names: its readers can decrypt all traffic
    #[arg(long, help_heading = "Reports")]
    pub key_log: bool,

    /// Where the passphrases of the keys come from
    #[command(flatten)]
    pub passphrase: crate::args::PassphraseSource,
}

/// A name that TLS has room for (RFC 7301).
fn protocol(name: &str) -> Result<String, String> {
    match name.len() {
        1..=255 => Ok(name.to_owned()),
        _ => Err("the name of a protocol has 1 to 255 bytes".to_owned()),
    }
}
