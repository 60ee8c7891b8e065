//! The command line of `gambeson agent`.

use crate::files::is_stream;
use clap::{Args, Subcommand, ValueEnum};
use gambeson_identity::{Did, DidUrl, Suite, Timestamp};
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
    /// Seal a file to another agent, or to age recipients
    Seal(AgentSeal),
    /// Open what another agent sealed to this one, once
    Open(AgentOpen),
    /// Sign and verify tool calls
    #[command(subcommand)]
    Act(ActCommand),
    /// Keep an append-only audit log, and prove what is in it
    #[command(subcommand)]
    Log(LogCommand),
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
            Self::Act(ActCommand::Sign(options)) => is_stream(&options.out),
            Self::Log(LogCommand::Prove(options)) => is_stream(&options.out),
            Self::Act(_) | Self::Log(_) => false,
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

/// `gambeson agent seal`
#[derive(Debug, Args)]
pub struct AgentSeal {
    /// To which agent, which must be known here
    #[arg(long, value_name = "DID", required_unless_present = "recipients", conflicts_with_all = ["recipients", "armor"])]
    pub to: Option<Did>,
    /// To which age recipient: a text that begins with age1pq1 (may be given again)
    #[arg(short, long = "recipient", value_name = "RECIPIENT")]
    pub recipients: Vec<String>,
    /// Write an age file as text that survives e-mail
    #[arg(short, long)]
    pub armor: bool,
    /// What the payload is
    #[arg(
        long = "type",
        value_name = "MEDIA-TYPE",
        default_value = "application/octet-stream",
        conflicts_with = "recipients"
    )]
    pub media_type: String,
    /// For how many seconds it can be opened, at most 30 days
    #[arg(long, value_name = "SECONDS", default_value = "604800", conflicts_with = "recipients")]
    pub lifetime: u64,
    /// What to seal: for an agent at most 16 MiB
    #[arg(value_name = "FILE", default_value = "-")]
    pub file: PathBuf,
    /// Where the sealed file goes
    #[arg(short, long, value_name = "OUT")]
    pub out: PathBuf,
    /// Replace a file that exists
    #[arg(long)]
    pub force: bool,
}

/// `gambeson agent open`
#[derive(Debug, Args)]
pub struct AgentOpen {
    /// The sealed payload
    #[arg(value_name = "FILE", default_value = "-")]
    pub file: PathBuf,
    /// Who must have sealed it
    #[arg(long, value_name = "DID")]
    pub from: Option<Did>,
    /// Where the payload goes; only its owner may read it
    #[arg(short, long, value_name = "OUT", default_value = "-")]
    pub out: PathBuf,
    /// Replace a file that exists
    #[arg(long)]
    pub force: bool,
}

/// `gambeson agent act …`
#[derive(Debug, Subcommand)]
pub enum ActCommand {
    /// Sign a call for one audience, for a short time, to be taken once
    Sign(ActSign),
    /// Verify a signed call, and take it once
    Verify(ActVerify),
}

/// `gambeson agent act sign`
#[derive(Debug, Args)]
pub struct ActSign {
    /// The call in JSON: method, and perhaps name, arguments, params
    #[arg(value_name = "CALL", default_value = "-")]
    pub call: PathBuf,
    /// Who shall act on it: a DID or another URI
    #[arg(long = "aud", value_name = "AUDIENCE")]
    pub audience: String,
    /// For how many seconds it is good [default: 120]
    #[arg(long, value_name = "SECONDS")]
    pub lifetime: Option<u64>,
    /// Where the signed action goes
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub out: PathBuf,
    /// Replace a file that exists
    #[arg(long)]
    pub force: bool,
}

/// `gambeson agent act verify`
#[derive(Debug, Args)]
pub struct ActVerify {
    /// The signed action
    #[arg(value_name = "FILE", default_value = "-")]
    pub signed: PathBuf,
    /// Whom it must be for [default: this agent]
    #[arg(long = "aud", value_name = "AUDIENCE")]
    pub audience: Option<String>,
    /// For how many seconds it may be good [default: 120]
    #[arg(long, value_name = "SECONDS")]
    pub lifetime: Option<u64>,
    /// Who must have signed
    #[arg(long, value_name = "DID")]
    pub signer: Option<Did>,
}

/// `gambeson agent log …`
#[derive(Debug, Subcommand)]
pub enum LogCommand {
    /// Add entries, all or none, and sign the new state
    Append(LogAppend),
    /// Write the proof that an entry is in the log
    Prove(LogProve),
    /// Verify a proof, offline
    Verify(LogVerify),
    /// Tell the state of this agent's log, and check all of it
    Show,
}

/// `gambeson agent log append`
#[derive(Debug, Args)]
pub struct LogAppend {
    /// The entries: each file is one, of at most 65,535 bytes
    #[arg(value_name = "FILE", default_value = "-")]
    pub files: Vec<PathBuf>,
    /// Each line of the files is an entry
    #[arg(long)]
    pub lines: bool,
}

/// `gambeson agent log prove`
#[derive(Debug, Args)]
pub struct LogProve {
    /// Which entry: the first is 0
    #[arg(value_name = "INDEX")]
    pub index: u64,
    /// Where the proof goes
    #[arg(short, long, value_name = "PROOF", default_value = "-")]
    pub out: PathBuf,
    /// Where the entry goes as well
    #[arg(long, value_name = "FILE")]
    pub entry: Option<PathBuf>,
    /// Replace files that exist
    #[arg(long)]
    pub force: bool,
}

/// `gambeson agent log verify`
#[derive(Debug, Args)]
pub struct LogVerify {
    /// The entry
    #[arg(value_name = "ENTRY")]
    pub entry: PathBuf,
    /// The proof
    #[arg(short, long, value_name = "PROOF")]
    pub proof: PathBuf,
    /// Which log: the URL of its key, such as did:gambeson:…#log-0 [default: this agent's]
    #[arg(long, value_name = "URL")]
    pub log: Option<DidUrl>,
}
