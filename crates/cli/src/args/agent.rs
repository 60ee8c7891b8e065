//! The command line of `gambeson agent`.
//!
//! # Layout
//!
//! * `identity`: who the agent is, and how it comes back
//! * `files`: what it signs, seals and logs
//! * `authority`: credentials, delegations, approvals
//! * `sessions`: sessions with other agents
//! * `messages`: tool calls, HTTP, agent cards, the VC API

mod authority;
mod files;
mod identity;
mod messages;
mod sessions;

pub use authority::*;
pub use files::*;
pub use identity::*;
pub use messages::*;
pub use sessions::*;

use crate::files::is_stream;
use clap::{Args, Subcommand};
use gambeson_identity::Timestamp;
use std::path::PathBuf;

/// Under which the help of each command lists what all take.
const EVERYWHERE: &str = "Options of every agent command";

/// Which agent, and when: what all its commands take.
#[derive(Debug, Args)]
pub struct Who {
    /// The agent's folder [default: GAMBESON_HOME, else gambeson/agent in the user's data folder]
    #[arg(long, global = true, help_heading = EVERYWHERE, value_name = "DIR")]
    pub home: Option<PathBuf>,
    /// Read the passphrase from this file descriptor (else from GAMBESON_PASSPHRASE, else it is asked for)
    #[arg(long, global = true, help_heading = EVERYWHERE, value_name = "N")]
    pub passphrase_fd: Option<u32>,
    /// Fetch documents of did:web over HTTPS, from public addresses (from any, where GAMBESON_WEB_PRIVATE is 1)
    #[arg(long, global = true, help_heading = EVERYWHERE)]
    pub web: bool,
    /// Trust the certificates of this PEM file for did:web, in place of Mozilla's [default: GAMBESON_WEB_ROOTS, if it is set]
    #[arg(long, global = true, help_heading = EVERYWHERE, value_name = "PEM")]
    pub web_roots: Option<PathBuf>,
    /// Use this as the present time, such as 2026-11-22T07:00:00Z [default: the clock's]
    #[arg(long, global = true, help_heading = EVERYWHERE, value_name = "TIME")]
    pub at: Option<Timestamp>,
}

/// `gambeson agent`
#[derive(Debug, Args)]
pub struct Agent {
    /// Which agent
    #[command(flatten)]
    pub who: Who,
    /// What to do
    #[command(subcommand)]
    pub command: AgentCommand,
}

/// `gambeson agent …`
#[derive(Debug, Subcommand)]
pub enum AgentCommand {
    /// Make an agent: a seed under a passphrase, a DID, an identity card
    Init(Init),
    /// Recover an agent from its seed: from words, an age file, or shares
    Recover(Recover),
    /// Show the agent's DID, its keys and its age recipient
    Show(Show),
    /// Write the agent's identity card, or store those of others
    Card(Card),
    /// Replace keys, and sign the next identity card
    Rotate(Rotate),
    /// Change the passphrase of the agent's seed
    Passwd(AgentPasswd),
    /// Sign files of any size in the agent's name
    Sign(AgentSign),
    /// Verify files and the agent's signatures
    Verify(AgentVerify),
    /// Seal a file to another agent, or to age recipients
    Seal(AgentSeal),
    /// Open what another agent sealed to this one, once, or an age file to it
    Open(AgentOpen),
    /// Wait for another agent, and pass bytes to it and from it
    Listen(AgentListen),
    /// Call another agent, and pass bytes to it and from it
    Connect(AgentConnect),
    /// Issue, verify and revoke credentials
    #[command(subcommand)]
    Cred(CredCommand),
    /// Delegate rights of the agent to other agents
    #[command(subcommand)]
    Delegate(DelegateCommand),
    /// Approve one exact action of another agent
    Approve(Approve),
    /// Sign and verify tool calls
    #[command(subcommand)]
    Act(ActCommand),
    /// Sign and verify HTTP requests and responses (RFC 9421)
    #[command(subcommand)]
    Http(HttpCommand),
    /// Sign and verify agent cards of the Agent2Agent protocol
    #[command(subcommand)]
    A2a(A2aCommand),
    /// Keep an append-only audit log, and prove what is in it
    #[command(subcommand)]
    Log(LogCommand),
    /// Store bytes under the name of their hash; backups include them
    #[command(subcommand)]
    Memory(MemoryCommand),
    /// Seal the agent's cards, credentials and memory objects to itself
    Backup(AgentBackup),
    /// Restore an agent from its seed and a backup
    Restore(Restore),
    /// Serve the VC API on 127.0.0.1, for the test suites of the W3C
    VcApi(VcApi),
}

impl AgentCommand {
    /// Whether standard output carries data, so that reports must go elsewhere.
    pub(crate) fn fills_stdout(&self) -> bool {
        match self {
            Self::Card(options) => {
                options.add.is_none() && options.verify.is_none() && is_stream(&options.out)
            }
            Self::Sign(options) => options.out.as_deref().is_some_and(is_stream),
            Self::Seal(options) => is_stream(&options.out),
            Self::Open(options) => is_stream(&options.out),
            Self::Listen(options) => is_stream(&options.pipe.receive),
            Self::Connect(options) => is_stream(&options.pipe.receive),
            Self::Act(ActCommand::Sign(options)) => is_stream(&options.out),
            Self::Log(LogCommand::Prove(options)) => is_stream(&options.out),
            Self::Memory(MemoryCommand::Get(options)) => is_stream(&options.out),
            Self::Init(options) => options.words.as_deref().is_some_and(is_stream),
            Self::Cred(CredCommand::Issue(options)) => is_stream(&options.out),
            Self::Cred(CredCommand::Status(options)) => options.add.is_none() && is_stream(&options.out),
            Self::Delegate(DelegateCommand::Grant(options)) => is_stream(&options.out),
            Self::Approve(options) => is_stream(&options.out),
            Self::Http(HttpCommand::Sign(options)) => is_stream(&options.out),
            Self::A2a(A2aCommand::Sign(options)) => is_stream(&options.out),
            Self::Act(_)
            | Self::Log(_)
            | Self::Memory(_)
            | Self::Cred(_)
            | Self::Delegate(_)
            | Self::Http(_)
            | Self::A2a(_)
            | Self::Recover(_)
            | Self::Backup(_)
            | Self::Restore(_)
            | Self::VcApi(_) => false,
            Self::Rotate(_) | Self::Passwd(_) | Self::Verify(_) | Self::Show(_) => false,
        }
    }
}
