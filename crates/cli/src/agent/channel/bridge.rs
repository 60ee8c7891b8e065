//! `channel bridge`: the start of the program `gambeson-slim-bridge`, and what that program shares with this one.
//!
//! The bridge stands on SLIM's session layer, which needs more to build than all of this program; so it is built apart.

pub use super::tell::{far_end, far_end_json};

use super::{FAREWELL, bridging};
use crate::args::agent::Who;
pub use crate::args::channel::BridgeProgram;
use crate::args::channel::{Bridge, Channel as Options, Which};
use crate::args::slim::Nodes;
use crate::child;
use crate::console::Console;
use crate::error::{Error, Status};
use crate::files;
use crate::slim::{failed, runtime};
use crate::unfinished::Unfinished;
use gambeson_slim::Channel;
use serde_json::Value;
use std::env::{self, consts::EXE_SUFFIX};
use std::ffi::OsString;
use std::fmt::Display;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use tokio::sync::watch;
use zeroize::Zeroizing;

/// The program that bridges.
const PROGRAM: &str = "gambeson-slim-bridge";
/// Environment variable with the path of that program.
const PATH: &str = "GAMBESON_SLIM_BRIDGE";
/// How to build it.
const BUILD: &str = "cargo build --release --manifest-path bridge/Cargo.toml";
/// The longest file with a shared secret, in bytes.
const MAX_SECRET: usize = 4096;

/// Starts `gambeson-slim-bridge` with the same options, standard streams and environment, and ends as it ends.
pub(super) fn start(console: Console, options: &Options, bridge: &Bridge) -> Result<Status, Error> {
    let program = program();
    let mut command = child::own(&program);
    command.args(arguments(console.is_json(), options, bridge));
    become_program(command).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => Error::outside(format!(
            "{}: not found; bridges need a program of their own: in a clone of the repository, {BUILD} builds it into bridge/target/release; \
             copy it beside gambeson or into a folder of PATH, or set {PATH} to its path",
            program.display()
        ))
        .because("without-bridge"),
        _ => Error::io(&program, &error),
    })
}

/// The program of the environment variable, else the one beside this program, else the one in PATH.
fn program() -> PathBuf {
    let name = format!("{PROGRAM}{EXE_SUFFIX}");
    let named = env::var_os(PATH).filter(|path| !path.is_empty()).map(PathBuf::from);
    let beside =
        || env::current_exe().ok().map(|this| this.with_file_name(&name)).filter(|path| path.is_file());
    named.or_else(beside).unwrap_or_else(|| name.into())
}

/// Replaces this program: signals, exit status and open file descriptors are then those of the other.
#[cfg(unix)]
fn become_program(mut command: Command) -> io::Result<Status> {
    Err(std::os::unix::process::CommandExt::exec(&mut command))
}

/// Runs the program until it ends.
#[cfg(not(unix))]
fn become_program(mut command: Command) -> io::Result<Status> {
    // A terminal's Ctrl-C goes to both; the other one ends in its own way.
    let _signals = Unfinished::service(|| {});
    let ended = command.status()?;
    Ok(match ended.code() {
        Some(0) => Status::Done,
        Some(1) => Status::NotVerified,
        Some(2) => Status::Usage,
        _ => Status::InputOutput,
    })
}

/// The command line of `gambeson-slim-bridge` that says the same as this one.
fn arguments(json: bool, options: &Options, bridge: &Bridge) -> Vec<OsString> {
    let mut arguments = Arguments(Vec::new());
    let Options { who, nodes, causal, command: _ } = options;
    let Nodes { nodes, node_ca, node_cert, node_key, node_auth } = nodes;
    let Who { home, passphrase_fd, web, web_roots, at } = who;
    let Bridge { which: Which { channel }, name, stock_session, invite, secret } = bridge;
    arguments.flag("--json", json);
    arguments.options("--home", home);
    arguments.options("--passphrase-fd", passphrase_fd.map(|number| number.to_string()));
    arguments.flag("--web", *web);
    arguments.options("--web-roots", web_roots);
    arguments.options("--at", at.map(|time| time.to_string()));
    arguments.options("--slim", nodes);
    arguments.options("--node-ca", node_ca);
    arguments.options("--node-cert", node_cert);
    arguments.options("--node-key", node_key);
    arguments.options("--node-auth", node_auth);
    arguments.flag("--causal", *causal);
    arguments.options("--channel", channel);
    arguments.options("--name", [name.to_string()]);
    arguments.options("--session", [stock_session.to_string()]);
    arguments.options("--invite", invite.iter().map(ToString::to_string));
    arguments.options("--secret", [secret]);
    arguments.0
}

/// Arguments of a command line.
struct Arguments(Vec<OsString>);

impl Arguments {
    fn flag(&mut self, name: &str, given: bool) {
        self.0.extend(given.then(|| name.into()));
    }

    /// One argument for each value: none of them is taken for another option.
    fn options<V: Into<OsString>>(&mut self, name: &str, values: impl IntoIterator<Item = V>) {
        for value in values {
            let mut argument = OsString::from(format!("{name}="));
            argument.push(value.into());
            self.0.push(argument);
        }
    }
}

/// A channel that is to be bridged, open, and the options of the bridge.
pub struct Opened<'a> {
    /// The channel. Its policy allows bridges.
    pub channel: Channel,
    /// The nodes, of which the first that answers is used.
    pub nodes: Vec<String>,
    /// The options.
    pub options: &'a Bridge,
    /// What the clients of the session share.
    pub secret: Zeroizing<String>,
    console: Console,
    ending: watch::Receiver<bool>,
}

impl Opened<'_> {
    /// Reports to the user: `text` to a person, `json` to a program.
    ///
    /// # Errors
    /// Standard output cannot be written.
    pub fn report(&self, text: impl Display, json: Value) -> Result<(), Error> {
        self.console.report(text, json)
    }

    /// Waits until the user or the system ends the program.
    pub async fn ended(&self) {
        // Its sender lives as long as the program.
        let _ = self.ending.clone().wait_for(|ending| *ending).await;
    }
}

/// Opens the agent and the channel of a command line, calls `bridge` with the channel, reports its error, and returns the exit status.
#[must_use]
pub fn run(options: &BridgeProgram, bridge: impl AsyncFnOnce(&Opened<'_>) -> Result<(), Error>) -> Status {
    let console = Console::new(options.json);
    crate::ended(console, options.json, open_and(console, options, bridge))
}

fn open_and(
    console: Console,
    options: &BridgeProgram,
    bridge: impl AsyncFnOnce(&Opened<'_>) -> Result<(), Error>,
) -> Result<Status, Error> {
    let runtime = runtime()?;
    let done = runtime.block_on(async {
        let (_open, channel) = bridging(console, options).await?;
        if !channel.with_status(|status| status.bridging) {
            let next = "an owner runs gambeson channel policy --bridge yes";
            return Err(Error::usage(format!("the channel's policy does not allow bridges; {next}"))
                .because("not-bridged"));
        }
        let secret = shared_secret(&options.bridge.secret)?;
        let told = watch::Sender::new(false);
        let ending = told.subscribe();
        let _signals = Unfinished::service(move || {
            told.send_replace(true);
        });
        let (nodes, options) = (options.nodes.endpoints(), &options.bridge);
        bridge(&Opened { channel, nodes, options, secret, console, ending }).await?;
        tokio::time::sleep(FAREWELL).await;
        Ok(Status::Done)
    });
    runtime.shutdown_timeout(Duration::from_secs(1));
    done
}

/// The error of a channel, with what to do next.
#[must_use]
pub fn channel_failed(error: gambeson_slim::Error) -> Error {
    failed(error)
}

/// The error of something outside the program, such as a session of SLIM.
#[must_use]
pub fn outside(message: impl Into<String>) -> Error {
    Error::outside(message)
}

/// The secret that stock clients share: the first line of a file.
fn shared_secret(path: &Path) -> Result<Zeroizing<String>, Error> {
    let bytes = files::read_at_most(path, MAX_SECRET)?;
    let line = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let text = std::str::from_utf8(line)
        .map_err(|_| Error::outside(format!("{}: the first line is not UTF-8 text", path.display())))?;
    Ok(Zeroizing::new(text.trim_end_matches('\r').to_owned()))
}

#[cfg(test)]
mod tests {
    use super::{BridgeProgram, arguments};
    use crate::args::channel::ChannelCommand;
    use crate::args::{Cli, Command};
    use clap::Parser;

    /// The options of a command line, as the program itself and as `gambeson-slim-bridge` reads them.
    fn both(line: &str) -> [String; 2] {
        let cli = Cli::parse_from(["gambeson"].into_iter().chain(line.split(' ')));
        let Command::Channel(channel) = &cli.command else { panic!("{line}") };
        let ChannelCommand::Bridge(bridge) = &channel.command else { panic!("{line}") };
        let passed = arguments(cli.json, channel, bridge);
        let read = BridgeProgram::parse_from(std::iter::once("gambeson-slim-bridge".into()).chain(passed));
        let here = (cli.json, &channel.who, &channel.nodes, channel.causal, bridge);
        let there = (read.json, &read.who, &read.nodes, read.causal, &read.bridge);
        [format!("{here:?}"), format!("{there:?}")]
    }

    #[test]
    fn gambeson_slim_bridge_reads_the_options_that_were_given_here() {
        let [here, there] = both("channel bridge --name a/b/c --session a/b/d --secret file");
        assert_eq!(here, there);
        let [here, there] = both(
            "--json channel --home here --passphrase-fd 7 --web --web-roots roots --at 2026-11-22T07:00:00Z --slim one,two --node-ca ca \
             --node-cert cert --node-key key --node-auth auth --causal bridge --channel 1f --name a/b/c --session a/b/d --invite a/b/e --invite a/b/f --secret=-file",
        );
        assert_eq!(here, there);
        assert!(here.contains("\"-file\"") && here.contains("[\"one\", \"two\"]"), "{here}");
    }
}
