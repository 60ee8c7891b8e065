//! `init`, `show`, `card`, `rotate`, `recover`, `backup`, `restore`: who the agent is, and how it comes back.

use clap::{Args, ValueEnum};
use gambeson_identity::{Did, Suite};
use gambeson_mls::Preset;
use std::path::PathBuf;

/// How long a card holds.
#[derive(Debug, Args)]
pub struct Validity {
    /// Days for which the card is valid
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
    /// List on the card the keys for channels of default, hybrid, approved, cnsa2 or classical suites [default: those of --suite]
    #[arg(long, value_name = "PRESET", num_args = 0..=1, require_equals = true)]
    pub channels: Option<Option<Preset>>,
    /// Write the seed as 24 words, which is not possible later: to this file, or to standard output
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-")]
    pub words: Option<PathBuf>,
    /// Write the words into an age file under the same passphrase
    #[arg(long, value_name = "FILE")]
    pub age: Option<PathBuf>,
    /// Write the seed as shares, such as 2/3: any two of three give it back
    #[cfg(feature = "shares")]
    #[arg(long, value_name = "M/N", value_parser = shares)]
    pub shares: Option<(usize, usize)>,
    /// The beginning of the names of the shares' files: -1, -2 and so on follow
    #[cfg(feature = "shares")]
    #[arg(long, value_name = "PREFIX", default_value = "share")]
    pub shares_out: PathBuf,
    /// How long the card holds
    #[command(flatten)]
    pub validity: Validity,
}

/// `gambeson agent show`
#[derive(Debug, Args)]
pub struct Show {
    /// Show the DID alone
    #[arg(long)]
    pub did: bool,
    /// Show the age recipient alone, for `age -r`: what is sealed to it, `gambeson agent open` opens
    #[arg(long, conflicts_with = "did")]
    pub recipient: bool,
}

/// `gambeson agent card`
#[derive(Debug, Args)]
pub struct Card {
    /// Verify the cards in this file and store them: their agent is known from then on
    #[arg(long, value_name = "CARDS", conflicts_with_all = ["verify", "of", "document", "did_suite"])]
    pub add: Option<PathBuf>,
    /// Verify the cards in this file, and show the DID of their agent
    #[arg(long, value_name = "CARDS", conflicts_with_all = ["of", "document", "did_suite"])]
    pub verify: Option<PathBuf>,
    /// Write the cards of this agent, which must be known, or with --document the document of any DID [default: this agent]
    #[arg(long, value_name = "DID")]
    pub of: Option<Did>,
    /// The DID document of the newest card alone, without what proves it
    #[arg(long)]
    pub document: bool,
    /// An implementation file for the W3C DID test suite
    #[arg(long, conflicts_with = "document")]
    pub did_suite: bool,
    /// The age recipient of the newest card, as a file for `age -R`
    #[arg(long, conflicts_with_all = ["document", "did_suite", "add", "verify"])]
    pub recipient: bool,
    /// The file for the cards, one a line
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
    /// The keys to replace [default: none but the DID key, which every card replaces]
    #[arg(value_enum, value_name = "ROLE")]
    pub roles: Vec<RoleName>,
    /// Revoke the old keys, which were compromised: their signatures are no longer valid
    #[arg(long, conflicts_with = "grace")]
    pub compromised: bool,
    /// Seconds for which the old keys stay valid
    #[arg(long, value_name = "SECONDS", default_value = "86400")]
    pub grace: u64,
    /// List the keys for channels on the card from now on, in place of others: as agent init --channels
    #[arg(long, value_name = "PRESET", num_args = 0..=1, require_equals = true)]
    pub channels: Option<Option<Preset>>,
    /// Another name of the agent, in place of those on the old card (may be given again)
    #[arg(long, value_name = "URI")]
    pub also_known_as: Vec<String>,
    /// How long the card holds
    #[command(flatten)]
    pub validity: Validity,
}

/// `gambeson agent passwd`
#[derive(Debug, Args)]
pub struct AgentPasswd {
    /// Where the new passphrase comes from; that of today as for every command
    #[command(flatten)]
    pub new: crate::args::NewPassphraseSource,
}

/// Where the seed of an agent comes from: one of these.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub struct SeedSource {
    /// 24 words in a file, or on standard input (-)
    #[arg(long, value_name = "FILE")]
    pub words: Option<PathBuf>,
    /// An age file under a passphrase that holds the words
    #[arg(long, value_name = "FILE")]
    pub age: Option<PathBuf>,
    /// Shares, one a line, in a file or several
    #[cfg(feature = "shares")]
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub shares: Vec<PathBuf>,
}

/// `gambeson agent recover`
#[derive(Debug, Args)]
#[command(group(clap::ArgGroup::new("which_cards").required(true).multiple(false)))]
pub struct Recover {
    /// Where the seed comes from
    #[command(flatten)]
    pub seed: SeedSource,
    /// The agent's cards: they tell how often each key was replaced
    #[arg(long, value_name = "CARDS", group = "which_cards")]
    pub cards: Option<PathBuf>,
    /// Make a first card again: only for an agent whose cards nobody has, since two first cards contradict each other
    #[arg(long, group = "which_cards")]
    pub new_cards: bool,
    /// The suite of the agent, where its cards do not tell
    #[arg(long, value_name = "SUITE", default_value = "default", conflicts_with = "cards")]
    pub suite: Suite,
    /// How long a new card holds
    #[command(flatten)]
    pub validity: Validity,
}

/// `gambeson agent backup`
#[derive(Debug, Args)]
pub struct AgentBackup {
    /// The file for the backup: cards, credentials, memory objects, the status list, used delegations and accepted one-time
    /// messages, sealed to the agent itself; audit logs are not in it
    #[arg(short, long, value_name = "FILE")]
    pub out: PathBuf,
    /// The memory objects: a folder of files with the names ab/cdef…, the digits of their BLAKE3 hashes [default: objects
    /// in the agent's folder]
    #[arg(long, value_name = "DIR")]
    pub objects: Option<PathBuf>,
    /// Replace a file that exists
    #[arg(long)]
    pub force: bool,
}

/// `gambeson agent restore`
#[derive(Debug, Args)]
pub struct Restore {
    /// The backup
    #[arg(value_name = "BACKUP")]
    pub backup: PathBuf,
    /// Where the seed comes from
    #[command(flatten)]
    pub seed: SeedSource,
    /// The suite of the agent
    #[arg(long, value_name = "SUITE", default_value = "default")]
    pub suite: Suite,
    /// The agent's cards, where others have newer ones than the backup
    #[arg(long, value_name = "CARDS", conflicts_with = "since")]
    pub cards: Option<PathBuf>,
    /// Refuse a backup whose newest card has a lower number than this one, which others know
    #[arg(long, value_name = "CARD")]
    pub since: Option<u64>,
    /// The folder for the memory objects [default: objects in the agent's folder]
    #[arg(long, value_name = "DIR")]
    pub objects: Option<PathBuf>,
}

/// `M/N`.
#[cfg(feature = "shares")]
fn shares(text: &str) -> Result<(usize, usize), String> {
    let parts = text.split_once('/').and_then(|(m, n)| Some((m.parse().ok()?, n.parse().ok()?)));
    parts
        .filter(|(m, n)| (1..=*n).contains(m) && *n <= 16)
        .ok_or("expected two numbers, such as 2/3".to_owned())
}
