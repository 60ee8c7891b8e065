//! `act …`, `http …`, `a2a …`, `vc-api`: what agents tell each other and servers.

use super::authority::amount;
use clap::{Args, Subcommand};
use gambeson_identity::Did;
use gambeson_identity::delegation::Amount;
use gambeson_identity::http::Component;
use std::path::PathBuf;

/// `gambeson agent act …`
#[derive(Debug, Subcommand)]
pub enum ActCommand {
    /// Sign a call for one audience, for a short time, to be accepted once
    Sign(ActSign),
    /// Verify a signed call and that its signer may make it, and accept it once
    Verify(ActVerify),
}

/// `gambeson agent act sign`
#[derive(Debug, Args)]
pub struct ActSign {
    /// The call in JSON: method, and perhaps name, arguments, params
    #[arg(value_name = "CALL", default_value = "-")]
    pub call: PathBuf,
    /// The audience, which acts on it: a DID or another URI
    #[arg(long = "aud", value_name = "AUDIENCE")]
    pub audience: String,
    /// Seconds for which it is valid [default: 120]
    #[arg(long, value_name = "SECONDS")]
    pub lifetime: Option<u64>,
    /// The chain of delegation that permits it
    #[arg(long, value_name = "CHAIN")]
    pub under: Option<PathBuf>,
    /// The file for the signed action
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
    /// The expected audience [default: this agent]
    #[arg(long = "aud", value_name = "AUDIENCE")]
    pub audience: Option<String>,
    /// Seconds for which it may be valid at most [default: 120]
    #[arg(long, value_name = "SECONDS")]
    pub lifetime: Option<u64>,
    /// The expected signer
    #[arg(long, value_name = "DID")]
    pub signer: Option<Did>,
    /// The root in whose name the call may be made: its own calls, and those that a chain from it permits (may be given again)
    #[arg(long, value_name = "DID")]
    pub trust: Vec<Did>,
    /// Verify the signature alone; whether the signer may make the call is not checked
    #[arg(long, conflicts_with = "trust")]
    pub signature_only: bool,
    /// Refuse delegations whose status list is older
    #[arg(long, value_name = "SECONDS", requires = "trust")]
    pub max_status_age: Option<u64>,
    /// An approval of the action (may be given again)
    #[arg(long, value_name = "FILE", requires = "trust")]
    pub approval: Vec<PathBuf>,
    /// The cost of the call, such as 5:EUR-cent
    #[arg(long, value_name = "N:UNIT", value_parser = amount, requires = "trust")]
    pub cost: Option<Amount>,
}

/// `gambeson agent http …`
#[derive(Debug, Subcommand)]
pub enum HttpCommand {
    /// Sign a request or a response, and write it with the fields of the signature
    Sign(HttpSign),
    /// Verify the signature of a request or a response, and accept it once
    Verify(HttpVerify),
}

/// `gambeson agent http sign`
#[derive(Debug, Args)]
pub struct HttpSign {
    /// The message as HTTP/1.1 has it: request line or status line, fields, an empty line, content
    #[arg(value_name = "MESSAGE", default_value = "-")]
    pub message: PathBuf,
    /// The request that a response answers: the signature is valid for this answer to it alone
    #[arg(long, value_name = "REQUEST")]
    pub request: Option<PathBuf>,
    /// Sign with the signing key, by which capabilities are used, in place of the identity key
    #[arg(long)]
    pub capability: bool,
    /// Tag the signature with its purpose, by which verifiers choose it
    #[arg(long, value_name = "TEXT")]
    pub tag: Option<String>,
    /// Sign this component besides the usual ones, such as `authorization` or `"@query"` (RFC 9421, section 2); may be repeated
    #[arg(long, value_name = "COMPONENT")]
    pub required: Vec<Component>,
    /// Name the signature among those of the message
    #[arg(long, value_name = "NAME", default_value = "gambeson")]
    pub label: String,
    /// The file for the signed message
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub out: PathBuf,
    /// Replace a file that exists
    #[arg(long)]
    pub force: bool,
}

/// `gambeson agent http verify`
#[derive(Debug, Args)]
pub struct HttpVerify {
    /// The signed message
    #[arg(value_name = "MESSAGE", default_value = "-")]
    pub message: PathBuf,
    /// The request that was sent: the response must have been signed as the answer to it
    #[arg(long, value_name = "REQUEST")]
    pub request: Option<PathBuf>,
    /// Require the signing key, by which capabilities are used; whether its holder has the capability is not checked
    #[arg(long)]
    pub capability: bool,
    /// Verify only a signature with this tag
    #[arg(long, value_name = "TEXT")]
    pub tag: Option<String>,
    /// Verify only a signature by a key of this DID
    #[arg(long, value_name = "DID")]
    pub signer: Option<Did>,
    /// Require that the signature covers this component besides the usual ones; may be repeated
    #[arg(long, value_name = "COMPONENT")]
    pub required: Vec<Component>,
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
    /// The file for the signed card
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
    /// The expected signer
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
