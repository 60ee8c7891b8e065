//! The commands `slim …`: nodes and a delivery service on this machine, and whether they can be reached.

#[cfg(feature = "slim")]
mod doctor;
#[cfg(feature = "slim")]
mod gateway;
#[cfg(feature = "slim")]
mod maker;
#[cfg(feature = "slim")]
mod nats;
#[cfg(feature = "slim")]
mod up;

use crate::args::slim::SlimCommand;
use crate::console::Console;
use crate::error::{Error, Status};

#[cfg(feature = "slim")]
pub(crate) fn slim(console: Console, command: &SlimCommand) -> Result<Status, Error> {
    match command {
        SlimCommand::Up(options) => up::up(console, options),
        SlimCommand::Doctor(options) => doctor::doctor(console, options),
    }
}

#[cfg(not(feature = "slim"))]
pub(crate) fn slim(_: Console, _: &SlimCommand) -> Result<Status, Error> {
    Err(not_built())
}

/// What this program was built without.
#[cfg(not(feature = "slim"))]
pub(crate) fn not_built() -> Error {
    let how = "this gambeson was built without SLIM, which needs cmake, a C compiler and libclang (on Debian: apt-get install \
               build-essential cmake libclang-dev); in a clone of the repository, cargo install --locked --path crates/cli --features slim \
               builds one that has it";
    Error::outside(how).because("without-slim")
}

#[cfg(feature = "slim")]
mod reach {
    use crate::args::slim::{NODES, Nodes};
    use crate::error::Error;
    use gambeson_slim::{Name, datapath::DatapathLink};
    use tokio::runtime::{Builder, Runtime};

    /// Where nodes listen that nobody named.
    const USUAL: &str = "http://127.0.0.1:46357";

    impl Nodes {
        /// The nodes of the command line, or of the environment, or of this machine.
        pub(crate) fn endpoints(&self) -> Vec<String> {
            let text = match std::env::var(NODES) {
                Ok(text) if self.nodes.is_empty() && !text.trim().is_empty() => text,
                _ if self.nodes.is_empty() => USUAL.to_owned(),
                _ => self.nodes.join(","),
            };
            text.split(',').map(|node| node.trim().to_owned()).filter(|node| !node.is_empty()).collect()
        }
    }

    /// The name on which delivery services listen.
    pub(crate) fn service() -> Name {
        Name::new("gambeson", "services", "delivery")
    }

    /// A link to the first of these nodes that answers.
    pub(crate) async fn link(nodes: &[String]) -> Result<DatapathLink, Error> {
        DatapathLink::connect(nodes).await.map_err(|error| {
            let next = "is one running? gambeson slim up starts one, and tells what to set GAMBESON_SLIM to";
            Error::outside(format!("{error}; {next}")).because("no-node")
        })
    }

    pub(crate) fn runtime() -> Result<Runtime, Error> {
        Builder::new_multi_thread().enable_all().build().map_err(|error| Error::stream(&"threads", &error))
    }

    /// What a channel, or what it stands on, says, and what to do next, where that is not said in it.
    pub(crate) fn failed(error: gambeson_slim::Error) -> Error {
        let said = match next_step(&error) {
            Some(next) => Error::outside(format!("{error} ({next})")),
            None => Error::outside(error.to_string()),
        };
        match error {
            gambeson_slim::Error::Forked => said.because("forked"),
            _ => said,
        }
    }

    fn next_step(error: &gambeson_slim::Error) -> Option<&'static str> {
        use gambeson_slim::{Error, Quota, Reason};
        Some(match error {
            Error::Forked => {
                "gambeson channel history tells both sides, and gambeson channel rejoin takes it"
            }
            Error::Full(Quota::Entries | Quota::Bytes) => {
                "members make one where gambeson channel tail runs; who runs gambeson slim up can raise --channel"
            }
            Error::Full(_) => "who runs gambeson slim up can raise --store, or give --keep and --keep-blobs",
            Error::NoNode(_)
            | Error::LinkBusy(_)
            | Error::LinkClosed
            | Error::Service(_)
            | Error::WorkLost => "gambeson slim doctor tells what answers",
            Error::NoCard(_) => {
                "its agent tells that when it comes to the link: gambeson channel tail or join there"
            }
            Error::BlobMissing(_) | Error::BlobMismatch(_) => {
                "who put it puts it again when asked and there; else gambeson channel rejoin begins from what is newer"
            }
            Error::BadStore => {
                "is --home this agent's folder? Then what it had before is needed, or a copy of it"
            }
            Error::Store(_) => "is the disk full, or does another gambeson work in this folder?",
            Error::Over => "somebody who may add members can invite it again",
            Error::TooLarge(_) => {
                "in smaller pieces it goes: gambeson channel send --lines takes each line by itself"
            }
            Error::NoReply(_) => "gambeson channel members tells who is behind, or not there",
            Error::Refused(refusal) => match refusal.reason() {
                Reason::NotPermitted | Reason::Listener | Reason::TooLong | Reason::NoRejoin => {
                    "gambeson channel policy shows what the rules allow whom, and who changes them"
                }
                Reason::StaleCard | Reason::UnlistedKey | Reason::RevokedKey | Reason::ExpiredKeyPackage => {
                    "its agent publishes what is new when it comes to the link: gambeson channel tail or join there"
                }
                Reason::BadDelegation => {
                    "who may invite makes a new one, for channel/invite on urn:gambeson:channel: and the id"
                }
                _ => return None,
            },
            _ => return None,
        })
    }
}

#[cfg(feature = "slim")]
pub(crate) use maker::here;
#[cfg(feature = "slim")]
pub(crate) use reach::{failed, link, runtime, service};

#[cfg(all(test, feature = "slim"))]
mod tests {
    use super::failed;
    use crate::args::Cli;
    use clap::CommandFactory;
    use gambeson_slim::{BlobId, Error, Quota, Reason, Refusal};

    #[test]
    fn what_to_do_next_names_commands_that_there_are() {
        let program = Cli::command();
        let refused = |reason| Error::Refused(Refusal::new(reason, "so"));
        let errors = [
            Error::Forked,
            Error::Full(Quota::Bytes),
            Error::Full(Quota::Store),
            Error::LinkClosed,
            Error::BlobMissing(BlobId([0; 32])),
            Error::TooLarge(1),
            Error::NoReply(std::time::Duration::ZERO),
            refused(Reason::NotPermitted),
            refused(Reason::StaleCard),
        ];
        for error in errors {
            let said = failed(error).to_string();
            let mut named = said.split("gambeson ").skip(1).peekable();
            assert!(named.peek().is_some(), "{said}");
            for line in named {
                let mut words = line.split(|of: char| !of.is_ascii_lowercase());
                let group = program.find_subcommand(words.next().unwrap()).expect(&said);
                assert!(group.find_subcommand(words.next().unwrap()).is_some(), "{said}");
            }
        }
    }
}
