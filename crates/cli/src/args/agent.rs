//! The command line of `gambeson agent`.

use crate::files::is_stream;
use clap::{Args, Subcommand, ValueEnum};
use gambeson_identity::{Did, Suite, Timestamp};
use std::path::PathBuf;

/// `gambeson agent`
#[derive(Debug, Args)]
pub struct Agent {
    /// The agent's folder [default: GAMBESON_HOME, else gambeson/agent in the user's data folder]
    #[arg(long, global = true, value_name = "DIR")]
    pub home: Option<PathBuf>,
    /// Read the passphrase from this file descriptor (else from GAMBESON_PASSPHRASE, else it is asked for)
    #[arg(long, global = true, value_name = "N")]
    pub passphrase_fd: Option<u32>,
    /// Take this for the present time, such as 2026-11-22T07:00:00Z [default: the clock's]
    #[arg(long, global = true, value_name = "TIME")]
    pub at: Option<Timestamp>,
    /// What to do
    #[command(subcommand)]
    pub command: AgentCommand,
}

/// `gambeson agent …`
#[derive(Debug, Subcommand)]
pub enum AgentCommand {
    /// Make an agent: a seed under a passphrase, a DID, an identity card
    Init(Init),
    /// Tell who the agent is, and which keys it has
    Show(Show),
    /// Write the agent's identity card, or learn those of others
    Card(Card),
    /// Replace keys, and sign the next identity card
    Rotate(Rotate),
    /// Sign a file of any size in the agent's name
    Sign(AgentSign),
    /// Verify a file and the agent's signature
    Verify(AgentVerify),
}

impl AgentCommand {
    /// Whether standard output carries data, so that reports must go elsewhere.
    pub(crate) fn fills_stdout(&self) -> bool {
        match self {
            Self::Card(options) => {
                options.add.is_none() && options.verify.is_none() && is_stream(&options.out)
            }
            Self::Sign(options) => options.out.as_deref().is_some_and(is_stream),
            Self::Init(_) | Self::Rotate(_) | Self::Verify(_) | Self::Show(_) => false,
        }
    }
}

/// How long a card holds.
#[derive(Debug, Args)]
pub struct Validity {
    /// For how many days the card holds
    #[arg(long, value_name = "N", default_value = "365", value_parser = clap::value_parser!(u64).range(1..=36_525))]
    pub days: u64,
}

/// `gambeson agent init`
#[derive(Debug, Args)]
pub struct Init {
    /// The algorithms: default, or cnsa2 (ML-DSA-87, ML-KEM-1024, AES-256, SHA-384)
    #[arg(long, value_name = "SUITE", default_value = "default")]
    pub suite: Suite,
    /// Another name of the agent, such as did:web:example.com (may be given again)
    #[arg(long, value_name = "URI")]
    pub also_known_as: Vec<String>,
    /// How long the card holds
    #[command(flatten)]
    pub validity: Validity,
}

/// `gambeson agent show`
#[derive(Debug, Args)]
pub struct Show {
    /// The DID alone
    #[arg(long)]
    pub did: bool,
}

/// `gambeson agent card`
#[derive(Debug, Args)]
pub struct Card {
    /// Verify the cards in this file and keep them: their agent is known from then on
    #[arg(long, value_name = "CARDS", conflicts_with_all = ["verify", "of", "document", "did_suite"])]
    pub add: Option<PathBuf>,
    /// Verify the cards in this file, and tell whose they are
    #[arg(long, value_name = "CARDS", conflicts_with_all = ["of", "document", "did_suite"])]
    pub verify: Option<PathBuf>,
    /// Write the cards of this agent, which must be known [default: this agent]
    #[arg(long, value_name = "DID")]
    pub of: Option<Did>,
    /// The DID document of the newest card alone, without what proves it
    #[arg(long)]
    pub document: bool,
    /// An implementation file for the W3C DID test suite
    #[arg(long, conflicts_with = "document")]
    pub did_suite: bool,
    /// Where the cards go, one a line
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub out: PathBuf,
    /// Replace a file that exists
    #[arg(long)]
    pub force: bool,
}

/// The keys that can be replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum RoleName {
    /// Authenticates sessions and presentations
    Identity,
    /// Signs credentials, delegations, actions and files
    Signing,
    /// Opens backups and age files
    Backup,
    /// Opens what other agents seal
    Sealed,
    /// Plain ML-KEM
    Encapsulation,
    /// Data Integrity proofs
    DataIntegrity,
    /// Checkpoints of logs
    Log,
}

/// `gambeson agent rotate`
#[derive(Debug, Args)]
pub struct Rotate {
    /// Which keys [default: none but the DID key, which every card replaces]
    #[arg(value_enum, value_name = "ROLE")]
    pub roles: Vec<RoleName>,
    /// The old keys are in wrong hands: what they signed holds no longer
    #[arg(long, conflicts_with = "grace")]
    pub compromised: bool,
    /// For how many seconds the old keys stay good
    #[arg(long, value_name = "SECONDS", default_value = "86400")]
    pub grace: u64,
    /// Another name of the agent, in place of those on the old card (may be given again)
    #[arg(long, value_name = "URI")]
    pub also_known_as: Vec<String>,
    /// How long the card holds
    #[command(flatten)]
    pub validity: Validity,
}

/// `gambeson agent sign`
#[derive(Debug, Args)]
pub struct AgentSign {
    /// What to sign
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Where the signature goes [default: FILE.jws]
    #[arg(short, long, value_name = "SIGNATURE")]
    pub out: Option<PathBuf>,
    /// Replace a signature that exists
    #[arg(long)]
    pub force: bool,
}

/// `gambeson agent verify`
#[derive(Debug, Args)]
pub struct AgentVerify {
    /// What was signed
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The signature [default: FILE.jws]
    #[arg(short, long, value_name = "SIGNATURE")]
    pub signature: Option<PathBuf>,
    /// Who must have signed
    #[arg(long, value_name = "DID")]
    pub signer: Option<Did>,
}
