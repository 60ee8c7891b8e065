//! `listen`, `connect`.

use crate::args::address;
use clap::Args;
use gambeson_identity::Did;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::str::FromStr;

/// `gambeson agent listen`
#[derive(Debug, Args)]
pub struct AgentListen {
    /// The address: PORT (on 127.0.0.1), :PORT (on every address) or HOST:PORT; port 0 takes a free one
    #[arg(value_name = "ADDRESS", value_parser = address::listen)]
    pub address: SocketAddr,
    /// The DID of an agent to admit (may be given again)
    #[arg(long = "from", value_name = "DID", required_unless_present = "anybody")]
    pub from: Vec<Did>,
    /// Admit any agent
    #[arg(long, conflicts_with = "from")]
    pub anybody: bool,
    /// What goes through
    #[command(flatten)]
    pub pipe: Pipe,
}

/// `gambeson agent connect`
#[derive(Debug, Args)]
pub struct AgentConnect {
    /// The agent and its address
    #[arg(value_name = "DID@HOST:PORT")]
    pub target: Target,
    /// What goes through
    #[command(flatten)]
    pub pipe: Pipe,
}

/// What goes through a session.
#[derive(Debug, Args)]
pub struct Pipe {
    /// The file to send
    #[arg(long, value_name = "FILE", default_value = "-")]
    pub send: PathBuf,
    /// The file for received bytes
    #[arg(long, value_name = "FILE", default_value = "-")]
    pub receive: PathBuf,
    /// Send the hash of the newest identity card alone: the other side has the cards
    #[arg(long)]
    pub hash: bool,
    /// Replace a file that exists
    #[arg(long)]
    pub force: bool,
}

/// An agent, and where it listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Who must be there.
    pub did: Did,
    /// Host and port.
    pub address: String,
}

impl FromStr for Target {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (did, address) = text.split_once('@').ok_or("it has the form DID@HOST:PORT")?;
        let did = did.parse::<Did>().map_err(|error| error.to_string())?;
        let (host, port) = address.rsplit_once(':').ok_or("no port after the host")?;
        if host.is_empty() || port.parse::<u16>().is_err() {
            return Err("no host, or no port from 1 to 65535".into());
        }
        Ok(Self { did, address: address.to_owned() })
    }
}
