//! The command line of `gambeson agent`.

use crate::files::is_stream;
use clap::{Args, Subcommand, ValueEnum};
use gambeson_identity::delegation::{Amount, Caveat, Pattern, Test};
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
    /// Fetch documents of did:web over HTTPS
    #[arg(long, global = true)]
    pub web: bool,
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
    /// Make an agent again from its seed: from words, an age file, or shares
    Recover(Recover),
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
    /// Issue, verify and revoke credentials
    #[command(subcommand)]
    Cred(CredCommand),
    /// Hand on what the agent may do, and never more
    #[command(subcommand)]
    Delegate(DelegateCommand),
    /// Say yes to one exact action of another agent
    Approve(Approve),
    /// Sign and verify tool calls
    #[command(subcommand)]
    Act(ActCommand),
    /// Sign and verify HTTP requests (RFC 9421)
    #[command(subcommand)]
    Http(HttpCommand),
    /// Sign and verify agent cards of the Agent2Agent protocol
    #[command(subcommand)]
    A2a(A2aCommand),
    /// Keep an append-only audit log, and prove what is in it
    #[command(subcommand)]
    Log(LogCommand),
    /// Seal the agent's cards and credentials to itself
    Backup(AgentBackup),
    /// Make an agent again from its seed and a backup
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
            Self::Act(ActCommand::Sign(options)) => is_stream(&options.out),
            Self::Log(LogCommand::Prove(options)) => is_stream(&options.out),
            Self::Init(options) => options.words.as_deref().is_some_and(is_stream),
            Self::Cred(CredCommand::Issue(options)) => is_stream(&options.out),
            Self::Cred(CredCommand::Status(options)) => options.add.is_none() && is_stream(&options.out),
            Self::Delegate(DelegateCommand::Grant(options)) => is_stream(&options.out),
            Self::Approve(options) => is_stream(&options.out),
            Self::Http(HttpCommand::Sign(options)) => is_stream(&options.out),
            Self::A2a(A2aCommand::Sign(options)) => is_stream(&options.out),
            Self::Act(_)
            | Self::Log(_)
            | Self::Cred(_)
            | Self::Delegate(_)
            | Self::Http(_)
            | Self::A2a(_)
            | Self::Recover(_)
            | Self::Backup(_)
            | Self::Restore(_)
            | Self::VcApi(_) => false,
            Self::Rotate(_) | Self::Verify(_) | Self::Show(_) => false,
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
    /// Write the seed as 24 words, now or never: to this file, or to standard output
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-")]
    pub words: Option<PathBuf>,
    /// Write the words into an age file under the same passphrase
    #[arg(long, value_name = "FILE")]
    pub age: Option<PathBuf>,
    /// Write the seed as shares, such as 2/3: any two of three give it back
    #[cfg(feature = "shares")]
    #[arg(long, value_name = "M/N", value_parser = shares)]
    pub shares: Option<(usize, usize)>,
    /// What the files of the shares begin with: -1, -2 and so on follow
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
    /// Write the cards of this agent, which must be known, or with --document the document of any DID [default: this agent]
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
    /// The chain of delegation that permits it
    #[arg(long, value_name = "CHAIN")]
    pub under: Option<PathBuf>,
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
    /// Ask also whether the signer may: in the name of this root (may be given again)
    #[arg(long, value_name = "DID")]
    pub trust: Vec<Did>,
    /// An approval of the action (may be given again)
    #[arg(long, value_name = "FILE", requires = "trust")]
    pub approval: Vec<PathBuf>,
    /// What it costs, such as 5:EUR-cent
    #[arg(long, value_name = "N:UNIT", value_parser = amount, requires = "trust")]
    pub cost: Option<Amount>,
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
pub struct Recover {
    /// Where the seed comes from
    #[command(flatten)]
    pub seed: SeedSource,
    /// The agent's cards: they tell how often each key was replaced
    #[arg(long, value_name = "CARDS", required_unless_present = "new_cards")]
    pub cards: Option<PathBuf>,
    /// Begin anew with a first card: only for an agent whose cards nobody knows, since two first cards contradict
    #[arg(long, conflicts_with = "cards")]
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
    /// Where the backup goes: cards and credentials, sealed to the agent itself
    #[arg(short, long, value_name = "FILE")]
    pub out: PathBuf,
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
}

/// `gambeson agent cred …`
#[derive(Debug, Subcommand)]
pub enum CredCommand {
    /// Issue a credential about a subject
    Issue(CredIssue),
    /// Verify a credential: form, issuer, signature, time, status
    Verify(CredVerify),
    /// Take back what this agent issued, for good
    Revoke(CredRevoke),
    /// Write this agent's status list, or learn those of others
    Status(CredStatus),
}

/// `gambeson agent cred issue`
#[derive(Debug, Args)]
pub struct CredIssue {
    /// The claims about the subject: a JSON object
    #[arg(value_name = "CLAIMS", default_value = "-")]
    pub claims: PathBuf,
    /// Whom it is about
    #[arg(long, value_name = "DID")]
    pub subject: Did,
    /// A type besides VerifiableCredential (may be given again)
    #[arg(long = "type", value_name = "TYPE")]
    pub kinds: Vec<String>,
    /// The credential's own URL
    #[arg(long, value_name = "URL")]
    pub id: Option<String>,
    /// For how many hours it holds
    #[arg(long, value_name = "N", default_value = "24", value_parser = clap::value_parser!(u64).range(1..=876_600))]
    pub hours: u64,
    /// JSON with a Data Integrity proof (mldsa44-jcs-2024) in place of a vc+jwt
    #[arg(long)]
    pub data_integrity: bool,
    /// Without a status: it cannot be revoked
    #[arg(long)]
    pub irrevocable: bool,
    /// Where the credential goes
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub out: PathBuf,
    /// Replace a file that exists
    #[arg(long)]
    pub force: bool,
}

/// `gambeson agent cred verify`
#[derive(Debug, Args)]
pub struct CredVerify {
    /// The credential
    #[arg(value_name = "CREDENTIAL", default_value = "-")]
    pub credential: PathBuf,
    /// Who must have issued it
    #[arg(long, value_name = "DID")]
    pub issuer: Option<Did>,
    /// Take it also where its status list is not known here
    #[arg(long)]
    pub status_if_known: bool,
    /// Keep it with the agent's credentials under this name, if it holds
    #[arg(long, value_name = "NAME")]
    pub keep: Option<String>,
}

/// `gambeson agent cred revoke`
#[derive(Debug, Args)]
pub struct CredRevoke {
    /// The credential, or the chain of delegation whose last link shall go
    #[arg(value_name = "CREDENTIAL")]
    pub credential: PathBuf,
}

/// `gambeson agent cred status`
#[derive(Debug, Args)]
pub struct CredStatus {
    /// Verify the status list in this file, and keep it
    #[arg(long, value_name = "LIST", conflicts_with = "out")]
    pub add: Option<PathBuf>,
    /// For how many hours the list holds
    #[arg(long, value_name = "N", default_value = "168", value_parser = clap::value_parser!(u64).range(1..=876_600))]
    pub hours: u64,
    /// Where the list goes
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub out: PathBuf,
    /// Replace a file that exists
    #[arg(long)]
    pub force: bool,
}

/// `gambeson agent delegate …`
#[derive(Debug, Subcommand)]
pub enum DelegateCommand {
    /// Grant what this agent may do, or less of it, to another
    Grant(Grant),
    /// Verify a chain: who delegated to whom, and that it only narrows
    Verify(DelegateVerify),
    /// Verify a chain and tell what each link grants
    Show(DelegateVerify),
}

/// `gambeson agent delegate grant`
#[derive(Debug, Args)]
pub struct Grant {
    /// To whom
    #[arg(long, value_name = "DID")]
    pub to: Did,
    /// What: an exact action such as tools/call/pay, or tools/call/* (may be given again)
    #[arg(long, value_name = "PATTERN", required = true)]
    pub action: Vec<Pattern>,
    /// At whom: an audience, or all below a prefix (may be given again)
    #[arg(long, value_name = "PATTERN", required = true)]
    pub resource: Vec<Pattern>,
    /// Only with an argument of at most this number, such as /amount=100 (may be given again)
    #[arg(long, value_name = "POINTER=N", value_parser = at_most)]
    pub at_most: Vec<Caveat>,
    /// Only with an approval by one of these (may be given again)
    #[arg(long, value_name = "DID")]
    pub approval_by: Vec<Did>,
    /// For how many hours
    #[arg(long, value_name = "N", default_value = "24", value_parser = clap::value_parser!(u64).range(1..=876_600))]
    pub hours: u64,
    /// How many links may follow
    #[arg(long, value_name = "N", default_value = "0")]
    pub depth: u8,
    /// How many actions may be done in all
    #[arg(long, value_name = "N")]
    pub calls: Option<u64>,
    /// What they may cost in all, such as 500:EUR-cent
    #[arg(long, value_name = "N:UNIT", value_parser = amount)]
    pub budget: Option<Amount>,
    /// The chain by which this agent has it itself
    #[arg(long, value_name = "CHAIN")]
    pub under: Option<PathBuf>,
    /// Without a status: it cannot be revoked
    #[arg(long)]
    pub irrevocable: bool,
    /// Where the chain goes, one link a line
    #[arg(short, long, value_name = "CHAIN", default_value = "-")]
    pub out: PathBuf,
    /// Replace a file that exists
    #[arg(long)]
    pub force: bool,
}

/// `gambeson agent delegate verify` and `show`
#[derive(Debug, Args)]
pub struct DelegateVerify {
    /// The chain
    #[arg(value_name = "CHAIN", default_value = "-")]
    pub chain: PathBuf,
    /// Who must have granted first
    #[arg(long, value_name = "DID")]
    pub root: Option<Did>,
}

/// `gambeson agent approve`
#[derive(Debug, Args)]
pub struct Approve {
    /// The signed action
    #[arg(value_name = "ACTION")]
    pub action: PathBuf,
    /// Who will do it
    #[arg(long, value_name = "DID")]
    pub actor: Did,
    /// Where the approval goes
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub out: PathBuf,
    /// Replace a file that exists
    #[arg(long)]
    pub force: bool,
}

/// `gambeson agent http …`
#[derive(Debug, Subcommand)]
pub enum HttpCommand {
    /// Sign a request, and write it with the fields of the signature
    Sign(HttpSign),
    /// Verify the signature of a request, and take it once
    Verify(HttpVerify),
}

/// `gambeson agent http sign`
#[derive(Debug, Args)]
pub struct HttpSign {
    /// The request as HTTP/1.1 has it: request line, fields, an empty line, content
    #[arg(value_name = "REQUEST", default_value = "-")]
    pub request: PathBuf,
    /// Use a capability: sign with the signing key, not the one that tells who speaks
    #[arg(long)]
    pub capability: bool,
    /// Where the signed request goes
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub out: PathBuf,
    /// Replace a file that exists
    #[arg(long)]
    pub force: bool,
}

/// `gambeson agent http verify`
#[derive(Debug, Args)]
pub struct HttpVerify {
    /// The signed request
    #[arg(value_name = "REQUEST", default_value = "-")]
    pub request: PathBuf,
    /// It must use a capability
    #[arg(long)]
    pub capability: bool,
    /// Who must have signed
    #[arg(long, value_name = "DID")]
    pub signer: Option<Did>,
}

/// `gambeson agent a2a …`
#[derive(Debug, Subcommand)]
pub enum A2aCommand {
    /// Add this agent's signature to an agent card of the Agent2Agent protocol
    Sign(A2aSign),
    /// Verify the signatures of an agent card
    Verify(A2aVerify),
}

/// `gambeson agent a2a sign`
#[derive(Debug, Args)]
pub struct A2aSign {
    /// The agent card in JSON
    #[arg(value_name = "CARD", default_value = "-")]
    pub card: PathBuf,
    /// Where the signed card goes
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub out: PathBuf,
    /// Replace a file that exists
    #[arg(long)]
    pub force: bool,
}

/// `gambeson agent a2a verify`
#[derive(Debug, Args)]
pub struct A2aVerify {
    /// The signed card
    #[arg(value_name = "CARD", default_value = "-")]
    pub card: PathBuf,
    /// Who must have signed
    #[arg(long, value_name = "DID")]
    pub signer: Option<Did>,
}

/// `gambeson agent vc-api`
#[derive(Debug, Args)]
pub struct VcApi {
    /// The port on 127.0.0.1; 0 takes a free one
    #[arg(long, value_name = "PORT", default_value = "0")]
    pub port: u16,
    /// Issue JSON with Data Integrity proofs in place of vc+jwt
    #[arg(long)]
    pub data_integrity: bool,
}

/// `POINTER=N`.
fn at_most(text: &str) -> Result<Caveat, String> {
    let parts = text.split_once('=').and_then(|(pointer, number)| Some((pointer, number.parse().ok()?)));
    let (pointer, number) = parts.ok_or("expected a JSON Pointer, = and a number, such as /amount=100")?;
    Ok(Caveat::Argument(pointer.to_owned(), Test::AtMost(number)))
}

/// `N:UNIT`.
fn amount(text: &str) -> Result<Amount, String> {
    let parts = text.split_once(':').and_then(|(amount, unit)| Some((amount.parse().ok()?, unit)));
    match parts {
        Some((amount, unit)) if !unit.is_empty() => Ok(Amount { amount, unit: unit.to_owned() }),
        _ => Err("expected a number, a colon and a unit, such as 500:EUR-cent".to_owned()),
    }
}

/// `M/N`.
#[cfg(feature = "shares")]
fn shares(text: &str) -> Result<(usize, usize), String> {
    let parts = text.split_once('/').and_then(|(m, n)| Some((m.parse().ok()?, n.parse().ok()?)));
    parts
        .filter(|(m, n)| (1..=*n).contains(m) && *n <= 16)
        .ok_or("expected two numbers, such as 2/3".to_owned())
}
