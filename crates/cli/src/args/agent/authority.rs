//! `cred …`, `delegate …`, `approve`: who is what, and who may do what.

use clap::{Args, Subcommand};
use gambeson_identity::delegation::{Amount, Caveat, Pattern, Test};
use gambeson_identity::{Did, json};
use serde_json::Number;
use std::path::PathBuf;

/// The longest list of values on the command line, in bytes.
const MAX_LIST: usize = 64 << 10;

/// `gambeson agent cred …`
#[derive(Debug, Subcommand)]
pub enum CredCommand {
    /// Issue a credential about a subject
    Issue(CredIssue),
    /// Verify a credential: form, issuer, signature, time, status
    Verify(CredVerify),
    /// Revoke a credential or a delegation of this agent, for good
    Revoke(CredRevoke),
    /// Write this agent's status list, or store those of others
    Status(CredStatus),
}

/// `gambeson agent cred issue`
#[derive(Debug, Args)]
pub struct CredIssue {
    /// The claims about the subject: a JSON object
    #[arg(value_name = "CLAIMS", default_value = "-")]
    pub claims: PathBuf,
    /// The subject: a DID or another URI
    #[arg(long, value_name = "DID")]
    pub subject: Did,
    /// A type besides VerifiableCredential (may be given again)
    #[arg(long = "type", value_name = "TYPE")]
    pub kinds: Vec<String>,
    /// The credential's own URL
    #[arg(long, value_name = "URL")]
    pub id: Option<String>,
    /// Hours for which it is valid
    #[arg(long, value_name = "N", default_value = "24", value_parser = clap::value_parser!(u64).range(1..=876_600))]
    pub hours: u64,
    /// JSON with a Data Integrity proof (mldsa44-jcs-2024) in place of a vc+jwt
    #[arg(long)]
    pub data_integrity: bool,
    /// Leave out the status: it cannot be revoked
    #[arg(long)]
    pub irrevocable: bool,
    /// The file for the credential
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
    /// The expected issuer
    #[arg(long, value_name = "DID")]
    pub issuer: Option<Did>,
    /// Accept it although its status list is not known here
    #[arg(long)]
    pub status_if_known: bool,
    /// Refuse a credential whose status list is older
    #[arg(long, value_name = "SECONDS")]
    pub max_status_age: Option<u64>,
    /// Store it with the agent's credentials under this name, if it is valid
    #[arg(long, value_name = "NAME")]
    pub keep: Option<String>,
}

/// `gambeson agent cred revoke`
#[derive(Debug, Args)]
pub struct CredRevoke {
    /// The credential, or the chain of delegation whose last link is revoked
    #[arg(value_name = "CREDENTIAL")]
    pub credential: PathBuf,
}

/// `gambeson agent cred status`
#[derive(Debug, Args)]
pub struct CredStatus {
    /// Verify the status list in this file, and store it; of this agent's own list, take over what was revoked in it
    #[arg(long, value_name = "LIST", conflicts_with = "out")]
    pub add: Option<PathBuf>,
    /// Begin a list in place of a lost one, under another URL: credentials with an entry of the lost one can no longer be revoked,
    /// and are refused once that list has expired
    #[arg(long, conflicts_with = "add")]
    pub begin_anew: bool,
    /// Hours for which the list is valid
    #[arg(long, value_name = "N", default_value = "168", value_parser = clap::value_parser!(u64).range(1..=876_600))]
    pub hours: u64,
    /// The file for the list
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub out: PathBuf,
    /// Replace a file that exists
    #[arg(long)]
    pub force: bool,
}

/// `gambeson agent delegate …`
#[derive(Debug, Subcommand)]
pub enum DelegateCommand {
    /// Grant rights of this agent, or a part of them, to another
    Grant(Box<Grant>),
    /// Verify a chain of delegations, in which no link widens the one before
    Verify(DelegateVerify),
    /// Verify a chain and show what each link grants
    Show(DelegateVerify),
}

/// `gambeson agent delegate grant`
#[derive(Debug, Args)]
pub struct Grant {
    /// The DID of the delegate
    #[arg(long, value_name = "DID")]
    pub to: Did,
    /// The action: an exact one such as tools/call/pay, or tools/call/* (may be given again)
    #[arg(long, value_name = "PATTERN", required = true)]
    pub action: Vec<Pattern>,
    /// The resource: an audience, or all below a prefix (may be given again)
    #[arg(long, value_name = "PATTERN", required = true)]
    pub resource: Vec<Pattern>,
    /// Require an argument of at most this number, such as /amount=100 (may be given again)
    #[arg(long, value_name = "POINTER=N", value_parser = at_most)]
    pub at_most: Vec<Caveat>,
    /// Require an argument of at least this number (may be given again)
    #[arg(long, value_name = "POINTER=N", value_parser = at_least)]
    pub at_least: Vec<Caveat>,
    /// Require an argument that is one of these values, such as /currency=["EUR","USD"] (may be given again)
    #[arg(long, value_name = "POINTER=LIST", value_parser = one_of)]
    pub one_of: Vec<Caveat>,
    /// Require an argument that is a text with this prefix, such as /path=/home/alice/ (may be given again). A prefix that begins with / or contains ://
    /// ends where a segment ends: /path=/home/al permits /home/al/x, not /home/alice, and nothing with .. in it, in whatever spelling, or with a % that
    /// begins no escape
    #[arg(long, value_name = "POINTER=TEXT", value_parser = prefix)]
    pub prefix: Vec<Caveat>,
    /// Require an approval by one of these, none of which is a delegate of this right (may be given again)
    #[arg(long, value_name = "DID")]
    pub approval_by: Vec<Did>,
    /// Hours for which it is valid [default: 24, or as long as the chain of --under]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=876_600))]
    pub hours: Option<u64>,
    /// The number of links that may follow
    #[arg(long, value_name = "N", default_value = "0")]
    pub depth: u8,
    /// The number of actions in all
    #[arg(long, value_name = "N")]
    pub calls: Option<u64>,
    /// The cost of all actions, such as 500:EUR-cent
    #[arg(long, value_name = "N:UNIT", value_parser = amount)]
    pub budget: Option<Amount>,
    /// The chain that grants the right to this agent
    #[arg(long, value_name = "CHAIN")]
    pub under: Option<PathBuf>,
    /// Leave out the status: it cannot be revoked
    #[arg(long)]
    pub irrevocable: bool,
    /// The file for the chain, one link a line
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
    /// The expected root, which granted first
    #[arg(long, value_name = "DID")]
    pub root: Option<Did>,
    /// Refuse delegations whose status list is older
    #[arg(long, value_name = "SECONDS")]
    pub max_status_age: Option<u64>,
}

/// `gambeson agent approve`
#[derive(Debug, Args)]
pub struct Approve {
    /// The signed action
    #[arg(value_name = "ACTION")]
    pub action: PathBuf,
    /// The DID of the agent that will do it
    #[arg(long, value_name = "DID")]
    pub actor: Did,
    /// The file for the approval
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub out: PathBuf,
    /// Replace a file that exists
    #[arg(long)]
    pub force: bool,
}

/// `POINTER=N`. A pointer may contain `=`, and a number does not.
fn number(text: &str) -> Result<(String, Number), String> {
    let parts = text.rsplit_once('=').and_then(|(pointer, number)| Some((pointer, number.parse().ok()?)));
    let (pointer, number) = parts.ok_or("expected a JSON Pointer, = and a number, such as /amount=100")?;
    Ok((to_argument(pointer)?, number))
}

/// A JSON Pointer (RFC 6901) to an argument.
fn to_argument(pointer: &str) -> Result<String, String> {
    match pointer.starts_with('/') {
        true => Ok(pointer.to_owned()),
        false => Err(format!("a JSON Pointer begins with /: write /{pointer}")),
    }
}

fn at_most(text: &str) -> Result<Caveat, String> {
    number(text).map(|(pointer, number)| Caveat::Argument(pointer, Test::AtMost(number)))
}

fn at_least(text: &str) -> Result<Caveat, String> {
    number(text).map(|(pointer, number)| Caveat::Argument(pointer, Test::AtLeast(number)))
}

/// `POINTER=LIST`.
fn one_of(text: &str) -> Result<Caveat, String> {
    let parts = text.split_once("=[").and_then(|(pointer, list)| {
        let list = json::parse(format!("[{list}").as_bytes(), MAX_LIST).ok()?;
        Some((pointer, list.as_array().cloned()?))
    });
    let (pointer, values) =
        parts.ok_or("expected a JSON Pointer, = and a list in JSON, such as /currency=[\"EUR\",\"USD\"]")?;
    Ok(Caveat::Argument(to_argument(pointer)?, Test::OneOf(values)))
}

/// `POINTER=TEXT`.
fn prefix(text: &str) -> Result<Caveat, String> {
    let (pointer, prefix) =
        text.split_once('=').ok_or("expected a JSON Pointer, = and a text, such as /path=/home/alice/")?;
    let test = Test::prefix(prefix).map_err(|error| error.detail().to_owned())?;
    Ok(Caveat::Argument(to_argument(pointer)?, test))
}

/// `N:UNIT`.
pub(super) fn amount(text: &str) -> Result<Amount, String> {
    let parts = text.split_once(':').and_then(|(amount, unit)| Some((amount.parse().ok()?, unit)));
    match parts {
        Some((amount, unit)) if !unit.is_empty() => Ok(Amount { amount, unit: unit.to_owned() }),
        _ => Err("expected a number, a colon and a unit, such as 500:EUR-cent".to_owned()),
    }
}
