//! The commands `slim …`: nodes and a delivery service on this machine, and whether they can be reached.

mod doctor;
mod gateway;
mod maker;
mod nats;
mod up;

use crate::args::slim::SlimCommand;
use crate::console::Console;
use crate::error::{Error, Status};

pub(crate) fn slim(console: Console, command: &SlimCommand) -> Result<Status, Error> {
    match command {
        SlimCommand::Up(options) => up::up(console, options),
        SlimCommand::Doctor(options) => doctor::doctor(console, options),
    }
}

mod reach {
    use crate::args::slim::{NODE_AUTH, NODES, Nodes};
    use crate::error::Error;
    use crate::files;
    use gambeson_slim::Name;
    use gambeson_slim::datapath::{Credentials, DatapathLink, NodeOptions};
    use tokio::runtime::{Builder, Runtime};
    use zeroize::Zeroizing;

    /// Where nodes listen that nobody named.
    const USUAL: &str = "http://127.0.0.1:46357";

    impl Nodes {
        /// Returns the nodes with what the command line and the environment say about connections to them.
        pub(crate) fn options(&self) -> Result<Vec<NodeOptions>, Error> {
            let endpoints = self.endpoints();
            let over_tls = |endpoint: &String| endpoint.starts_with("https://");
            let certificates =
                [&self.node_ca, &self.node_cert, &self.node_key].iter().any(|file| file.is_some());
            if certificates && !endpoints.iter().any(over_tls) {
                return Err(Error::usage("--node-ca, --node-cert and --node-key need an https:// node"));
            }
            let wrong = |error: gambeson_slim::Error| Error::usage(error.to_string());
            let roots = self.node_ca.as_deref().map(files::read_small).transpose()?;
            let identity = match (&self.node_cert, &self.node_key) {
                (Some(chain), Some(key)) => {
                    files::warn_of_readers(key);
                    Some((files::read_small(chain)?, files::read_small(key)?))
                }
                (None, None) => None,
                _ => return Err(Error::usage("--node-cert and --node-key need each other")),
            };
            let credentials = self.credentials()?;
            let with_options = |endpoint: String| {
                let tls = over_tls(&endpoint);
                let mut node = NodeOptions::new(endpoint);
                if let Some(roots) = roots.as_ref().filter(|_| tls) {
                    node = node.with_roots(roots).map_err(wrong)?;
                }
                if let Some((chain, key)) = identity.as_ref().filter(|_| tls) {
                    node = node.with_client_certificate(chain, key).map_err(wrong)?;
                }
                Ok(match &credentials {
                    Some(credentials) => node.with_credentials(credentials.clone()),
                    None => node,
                })
            };
            endpoints.into_iter().map(with_options).collect()
        }

        fn credentials(&self) -> Result<Option<Credentials>, Error> {
            let (line, from) = match &self.node_auth {
                Some(path) => {
                    let from = path.display().to_string();
                    let bytes = files::read_small(path)?;
                    let text = std::str::from_utf8(&bytes);
                    let text = text.map_err(|_| Error::usage(format!("{from}: not UTF-8")))?;
                    (Zeroizing::new(text.to_owned()), from)
                }
                None => match std::env::var(NODE_AUTH) {
                    Ok(text) if !text.trim().is_empty() => (Zeroizing::new(text), NODE_AUTH.to_owned()),
                    Err(std::env::VarError::NotUnicode(_)) => {
                        return Err(Error::usage(format!("{NODE_AUTH}: not UTF-8")));
                    }
                    _ => return Ok(None),
                },
            };
            // Blanks at its end are of the password.
            let parsed = match line.trim_end_matches(['\r', '\n']).split_once(' ') {
                Some(("basic", pair)) => match pair.split_once(':') {
                    Some((user, password)) => Credentials::basic(user, password),
                    None => return Err(Error::usage(format!("{from}: expected basic USER:PASSWORD"))),
                },
                Some(("bearer", token)) => Credentials::bearer(token.trim()),
                _ => {
                    return Err(Error::usage(format!(
                        "{from}: expected one line, basic USER:PASSWORD or bearer TOKEN"
                    )));
                }
            };
            parsed.map(Some).map_err(|error| Error::usage(format!("{from}: {error}")))
        }

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

    /// Connects to the first of these nodes that answers.
    pub(crate) async fn link<N: Into<NodeOptions> + Clone>(nodes: &[N]) -> Result<DatapathLink, Error> {
        DatapathLink::connect(nodes.iter().cloned()).await.map_err(|error| {
            if let gambeson_slim::Error::NodeOptions(reason) = error {
                return Error::usage(reason);
            }
            let next = "gambeson slim up starts one, and prints the value for GAMBESON_SLIM";
            Error::outside(format!("{error}; {next}")).because("no-node")
        })
    }

    pub(crate) fn runtime() -> Result<Runtime, Error> {
        Builder::new_multi_thread().enable_all().build().map_err(|error| Error::stream(&"threads", &error))
    }

    /// What a channel, or what it stands on, says, and what to do next, where that is not said in it.
    pub(crate) fn failed(error: gambeson_slim::Error) -> Error {
        let said = match next_step(&error) {
            Some(next) => format!("{error} ({next})"),
            None => error.to_string(),
        };
        match error {
            gambeson_slim::Error::Refused(refusal) => {
                Error::not_verified(said).because(refusal.reason().code())
            }
            gambeson_slim::Error::Forked => Error::outside(said).because("forked"),
            _ => Error::outside(said),
        }
    }

    fn next_step(error: &gambeson_slim::Error) -> Option<&'static str> {
        use gambeson_slim::{Error, Quota, Reason};
        Some(match error {
            Error::Forked => {
                "gambeson channel history shows both sides, and gambeson channel rejoin takes it"
            }
            Error::Full(Quota::Entries | Quota::Bytes) => {
                "members make one where gambeson channel tail runs; the operator of gambeson slim up can raise \
                     --channel"
            }
            Error::Full(_) => {
                "the operator of gambeson slim up can raise --store, or set --keep and --keep-blobs"
            }
            Error::NoNode(_)
            | Error::LinkBusy(_)
            | Error::LinkClosed
            | Error::Service(_)
            | Error::WorkLost => "gambeson slim doctor checks the nodes and the delivery service",
            Error::NoCard(_) => "its agent publishes them when it runs gambeson channel tail or join",
            Error::BlobMissing(_) | Error::BlobMismatch(_) => {
                "its sender stores it again when it is online; else gambeson channel rejoin begins from a newer \
                     state"
            }
            Error::BadStore => {
                "check that --home is this agent's folder; if it is, restore its files from a copy"
            }
            Error::Store(_) => "check that the disk is not full, and that no other gambeson uses this folder",
            Error::Over => "a member that may add members can invite it again",
            Error::TooLarge(_) => {
                "send smaller messages: gambeson channel send --lines sends each line by itself"
            }
            Error::NoReply(_) => "gambeson channel members --live lists who is behind",
            Error::Refused(refusal) => match refusal.reason() {
                Reason::NotPermitted | Reason::Listener | Reason::TooLong | Reason::NoRejoin => {
                    "gambeson channel policy shows which role may do what, and which changes the rules"
                }
                Reason::StaleCard | Reason::UnlistedKey | Reason::RevokedKey | Reason::ExpiredKeyPackage => {
                    "its agent publishes a new one when it runs gambeson channel tail or join"
                }
                Reason::BadDelegation => {
                    "an agent that may invite makes a new one, for action channel/invite on urn:gambeson:channel:ID"
                }
                _ => return None,
            },
            _ => return None,
        })
    }
}

pub(crate) use maker::here_or_installed;
pub(crate) use reach::{failed, link, runtime, service};

#[cfg(test)]
mod tests {
    use super::failed;
    use crate::args::Cli;
    use crate::error::Status;
    use clap::CommandFactory;
    use gambeson_slim::{BlobId, Error, Quota, Reason, Refusal};

    #[test]
    fn a_refusal_is_no_trouble_with_files() {
        for reason in [Reason::NotPermitted, Reason::StaleCard, Reason::AlreadyMember] {
            let said = failed(Error::Refused(Refusal::new(reason, "so")));
            assert_eq!((said.status(), said.reason()), (Status::NotVerified, Some(reason.code())));
        }
        assert_eq!(failed(Error::LinkClosed).status(), Status::InputOutput);
    }

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
