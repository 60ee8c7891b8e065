//! `slim up --websocket`: programs that have no MLS speak for agents of this machine, each with its agent's token.

use super::failed;
use crate::agent;
use crate::args::slim::SlimUp;
use crate::console::Console;
use crate::error::Error;
use crate::files::{self, Access};
use gambeson_slim::Node;
use gambeson_slim::gateway::{Gateway, Token};
use serde_json::json;
use std::fs;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::sleep;

/// An agent's token in its folder. It is another one each time, and gone at the end.
const TOKEN: &str = "gateway.token";
/// What has been said goes out over the link in this time; it stands in the log before.
const FAREWELL: Duration = Duration::from_millis(300);

/// A gateway that runs.
pub(super) struct Running {
    gateway: Gateway,
    agents: Vec<Spoken>,
}

/// An agent that others speak for.
struct Spoken {
    node: Arc<Node>,
    token: PathBuf,
}

impl Drop for Spoken {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.token);
    }
}

/// Refuses what cannot be, before anything is started.
pub(super) fn examine(options: &SlimUp) -> Result<(), Error> {
    match options.websocket {
        Some(address) if !address.ip().is_loopback() => {
            Err(Error::usage(gambeson_slim::Error::NotLoopback(address).to_string()).because("not-loopback"))
        }
        _ if options.agent.len() > 1 && options.passphrase_fd.is_some() => Err(Error::usage(
            "--passphrase-fd is for one agent; give the passphrase of several with GAMBESON_PASSPHRASE, or \
                 at the terminal",
        )),
        _ => Ok(()),
    }
}

/// Opens the channels of the agents, and lets their clients in.
pub(super) async fn start(
    console: Console,
    options: &SlimUp,
    listen: SocketAddr,
    nodes: &[String],
) -> Result<Running, Error> {
    let homes: Vec<Option<PathBuf>> = match options.agent.as_slice() {
        [] => vec![None],
        homes => homes.iter().cloned().map(Some).collect(),
    };
    let (mut agents, mut let_in) = (Vec::new(), Vec::new());
    for home in homes {
        let (folder, node) = agent::opened(console, home, options, nodes).await?;
        let (node, token) = (Arc::new(node), Token::random().map_err(failed)?);
        let spoken = Spoken { node: Arc::clone(&node), token: folder.join(TOKEN) };
        files::write_own(&spoken.token, token.reveal().as_bytes(), Access::Private, true)?;
        agents.push(spoken);
        let_in.push((token, node));
    }
    let gateway = Gateway::start(listen, let_in, options.origin.clone()).await.map_err(failed)?;
    Ok(Running { gateway, agents })
}

impl Running {
    /// Tells where it listens, and where the tokens are.
    pub(super) fn tell(&self, console: Console) -> Result<(), Error> {
        let url = self.gateway.url();
        console
            .say(format_args!("gateway at {url}; any reader of an agent's token can act as that agent"))?;
        for agent in &self.agents {
            let (did, token) = (agent.node.did().as_str(), agent.token.display());
            console.report(
                format_args!("  {did}: token in {token}"),
                json!({"type": "gateway", "url": url, "did": did, "tokenFile": token.to_string()}),
            )?;
        }
        Ok(())
    }

    /// Ends it: first its clients, then the agents.
    pub(super) async fn stop(self) {
        drop(self.gateway);
        sleep(FAREWELL).await;
    }
}
