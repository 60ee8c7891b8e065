//! `sign`, `verify`, `seal`, `open`, `log …`, `memory …`: what an agent does with files.

use clap::{Args, Subcommand};
use gambeson_identity::memory::ObjectId;
use gambeson_identity::{Did, DidUrl};
use std::path::PathBuf;

/// `gambeson agent sign`
#[derive(Debug, Args)]
pub struct AgentSign {
    /// The file to sign; each of several has its own signature
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// The file for the signature of one file [default: FILE.jws]
    #[arg(short, long, value_name = "SIGNATURE")]
    pub out: Option<PathBuf>,
    /// Replace a signature that exists
    #[arg(long)]
    pub force: bool,
}

/// `gambeson agent verify`
#[derive(Debug, Args)]
pub struct AgentVerify {
    /// The signed file. Of two names one may be the signature, if it ends with .jws
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// The signature of one file [default: FILE.jws]
    #[arg(short, long, value_name = "SIGNATURE")]
    pub signature: Option<PathBuf>,
    /// The expected signer
    #[arg(long, value_name = "DID")]
    pub signer: Option<Did>,
}

/// `gambeson agent seal`
#[derive(Debug, Args)]
pub struct AgentSeal {
    /// The DID of the agent, whose card must be known here
    #[arg(long, value_name = "DID", required_unless_present = "recipients", conflicts_with_all = ["recipients", "armor"])]
    pub to: Option<Did>,
    /// An age recipient: a text that begins with age1pq1 (may be given again)
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
    /// Seconds for which it can be opened, at most 30 days
    #[arg(long, value_name = "SECONDS", default_value = "604800", conflicts_with = "recipients")]
    pub lifetime: u64,
    /// The file to seal: for an agent at most 16 MiB
    #[arg(value_name = "FILE", default_value = "-")]
    pub file: PathBuf,
    /// The sealed file
    #[arg(short, long, value_name = "OUT")]
    pub out: PathBuf,
    /// Replace a file that exists
    #[arg(long)]
    pub force: bool,
}

/// `gambeson agent open`
#[derive(Debug, Args)]
pub struct AgentOpen {
    /// The sealed file: a payload of another agent, which opens once, or an age file
    #[arg(value_name = "FILE", default_value = "-")]
    pub file: PathBuf,
    /// The expected sender, which an age file does not name
    #[arg(long, value_name = "DID")]
    pub from: Option<Did>,
    /// The file for the payload; only its owner may read it
    #[arg(short, long, value_name = "OUT", default_value = "-")]
    pub out: PathBuf,
    /// Replace a file that exists
    #[arg(long)]
    pub force: bool,
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
    /// Show the state of this agent's log, and check all of it
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
    /// The number of the entry; the first is 0
    #[arg(value_name = "INDEX")]
    pub index: u64,
    /// The file for the proof
    #[arg(short, long, value_name = "PROOF", default_value = "-")]
    pub out: PathBuf,
    /// A file for the entry
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
    /// The log: the URL of its key, such as did:gambeson:…#log-0 [default: this agent's]
    #[arg(long, value_name = "URL", value_parser = log_url)]
    pub log: Option<DidUrl>,
}

/// `gambeson agent memory …`
#[derive(Debug, Subcommand)]
pub enum MemoryCommand {
    /// Store a file, and print its name: b3: and the digits of a BLAKE3 hash
    Put(MemoryPut),
    /// Write the file that was stored under a name
    Get(MemoryGet),
    /// List the names of all objects
    List,
}

/// `gambeson agent memory put`
#[derive(Debug, Args)]
pub struct MemoryPut {
    /// The file to store, at most 256 MiB; more than 1 MiB is cut into objects, and the name is that of their manifest
    #[arg(value_name = "FILE", default_value = "-")]
    pub file: PathBuf,
}

/// `gambeson agent memory get`
#[derive(Debug, Args)]
pub struct MemoryGet {
    /// The name that `put` printed
    #[arg(value_name = "OBJECT")]
    pub object: ObjectId,
    /// The file for the bytes; only its owner may read it
    #[arg(short, long, value_name = "OUT", default_value = "-")]
    pub out: PathBuf,
    /// Replace a file that exists
    #[arg(long)]
    pub force: bool,
}

/// The URL of a log's key, which has a fragment.
fn log_url(text: &str) -> Result<DidUrl, String> {
    DidUrl::of_key(text).map_err(|error| {
        format!("{}; expected the log's full URL, such as did:gambeson:…#log-0", error.detail())
    })
}
