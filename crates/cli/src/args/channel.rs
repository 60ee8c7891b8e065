//! The command line of `gambeson channel`.

use super::agent::Who;
use super::slim::Nodes;
use crate::files::is_stream;
use clap::{Args, Parser, Subcommand, ValueEnum};
use gambeson_identity::Did;
use gambeson_slim::{MAX_MESSAGE, Name};
use std::path::PathBuf;

/// `gambeson channel`
#[derive(Debug, Args)]
pub struct Channel {
    /// Which agent
    #[command(flatten)]
    pub who: Who,
    /// Which nodes
    #[command(flatten)]
    pub nodes: Nodes,
    /// Deliver messages in causal order: each waits for those that its sender had received. An agent uses it in all of its commands,
    /// and among agents that use it
    #[arg(long, global = true)]
    pub causal: bool,
    /// What to do
    #[command(subcommand)]
    pub command: ChannelCommand,
}

/// `gambeson channel …`
#[derive(Debug, Subcommand)]
pub enum ChannelCommand {
    /// Make a channel, with this agent as its owner
    Create(Create),
    /// Invite agents by their DIDs; they may be away
    Invite(Invite),
    /// Wait for an invitation, and accept it if it is from one of these agents
    Join(Join),
    /// Send standard input as one message, or one message per line
    Send(Send),
    /// Show messages and events until Ctrl-C
    Tail(Tail),
    /// List the channels of the agent, from its store
    List,
    /// List the members of a channel, from the agent's store
    Members(Read),
    /// Take the state that the log shows: after a fork, or to come back
    Rejoin(Which),
    /// Leave a channel
    Leave(Which),
    /// End a channel for everybody: remove all others, and leave
    Close(Which),
    /// Remove members
    Remove(Others),
    /// Rotate this member's keys (MLS update); earlier leaks do not reveal later messages
    Rotate(Which),
    /// Show messages and events of a channel, from the agent's store
    History(History),
    /// Show the rules of a channel, from the agent's store, or change them
    Policy(PolicyOf),
    /// Read the log to its end, and show the authenticator, which is equal for members in the same channel
    Verify(Which),
    /// Write the history in the agent's store into a file, one JSON object a line
    Export(Export),
    /// Forward messages between a channel, whose policy allows it, and a session of classical SLIM clients, until Ctrl-C or the session's
    /// end. These clients read what goes there, and it has no post-quantum protection. Runs the program gambeson-slim-bridge
    Bridge(Bridge),
    /// Watch a channel: members, epoch, messages a second, receipts, warnings; q ends it
    Top(Which),
}

/// One channel.
#[derive(Clone, Debug, Args)]
pub struct Which {
    /// The channel: the first digits of its id are enough [default: the only one]
    #[arg(long, short, value_name = "ID")]
    pub channel: Option<String>,
}

/// One channel that is read.
#[derive(Clone, Debug, Args)]
pub struct Read {
    /// Which channel
    #[command(flatten)]
    pub which: Which,
    /// Read the channel's log to its end over a node first; members are listed with how far behind they are and which of them bridge
    #[arg(long)]
    pub live: bool,
}

/// What a role is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum RoleName {
    /// Reads
    Listener,
    /// Reads and writes
    Member,
    /// Adds and removes members
    Moderator,
    /// Changes the rules
    Owner,
}

/// What a policy says of who may do what, besides the roles themselves; what is not given stays.
#[derive(Clone, Debug, Default, PartialEq, Eq, Args)]
pub struct Rights {
    /// The lowest role that adds members (of a new channel: moderator)
    #[arg(long, value_enum, value_name = "ROLE")]
    pub may_add: Option<RoleName>,
    /// The lowest role that removes members (moderator)
    #[arg(long, value_enum, value_name = "ROLE")]
    pub may_remove: Option<RoleName>,
    /// The lowest role that removes an owner: owner or moderator. With moderator, a channel whose owner is lost goes on, and a moderator can
    /// take it over (owner)
    #[arg(long, value_enum, value_name = "ROLE")]
    pub may_remove_owner: Option<RoleName>,
    /// The lowest role that rotates its keys (listener)
    #[arg(long, value_enum, value_name = "ROLE")]
    pub may_rotate: Option<RoleName>,
    /// The lowest role that changes these rules: owner or moderator (owner)
    #[arg(long, value_enum, value_name = "ROLE")]
    pub may_change: Option<RoleName>,
    /// Let members that may add members delegate that right (yes)
    #[arg(long, value_name = "yes|no", value_parser = yes_or_no)]
    pub delegate: Option<bool>,
    /// Let a member that fell behind, or was on the wrong side of a fork, rejoin by itself (yes)
    #[arg(long, value_name = "yes|no", value_parser = yes_or_no)]
    pub rejoin: Option<bool>,
    /// The longest message, in bytes (49152, the most)
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u32).range(1..=MAX_MESSAGE as i64))]
    pub max_message: Option<u32>,
}

/// `gambeson channel create`
#[derive(Debug, Args)]
pub struct Create {
    /// The DID of a moderator, which need not be a member yet (may be given again)
    #[arg(long, value_name = "DID")]
    pub moderator: Vec<Did>,
    /// The role of members other than owners and moderators
    #[arg(long, value_enum, value_name = "ROLE", default_value = "member")]
    pub others: RoleName,
    /// Hours after which each member rotates its keys; 0: never by itself
    #[arg(long, value_name = "HOURS", default_value = "24")]
    pub rotate: u32,
    /// Own messages after which each member rotates its keys; 0: any number
    #[arg(long, value_name = "MESSAGES", default_value = "0")]
    pub rotate_messages: u32,
    /// Seconds for which members keep messages; 0: for ever
    #[arg(long, value_name = "SECONDS", default_value = "0")]
    pub retention: u64,
    /// Let members forward to and from sessions of classical SLIM clients
    #[arg(long)]
    pub bridge: bool,
    /// Who may do what
    #[command(flatten)]
    pub rights: Rights,
}

/// `gambeson channel invite`
#[derive(Debug, Args)]
pub struct Invite {
    /// Which channel, and which agents
    #[command(flatten)]
    pub others: Others,
    /// Invite by a right that was delegated to this agent: the links of a delegation, one a line, from the root, for action channel/invite on
    /// resource urn:gambeson:channel: and the whole id, made with --irrevocable
    #[arg(long, value_name = "FILE")]
    pub delegation: Option<PathBuf>,
}

/// Agents, for `gambeson channel invite` and `remove`
#[derive(Debug, Args)]
pub struct Others {
    /// Which channel
    #[command(flatten)]
    pub which: Which,
    /// Which agents
    #[arg(value_name = "DID", required = true)]
    pub dids: Vec<Did>,
}

/// `gambeson channel join`
#[derive(Debug, Args)]
pub struct Join {
    /// Accept invitations of this agent (may be given again); without any, invitations are shown and not accepted
    #[arg(long, value_name = "DID")]
    pub from: Vec<Did>,
    /// Seconds to wait
    #[arg(long, value_name = "SECONDS", default_value = "60")]
    pub wait: u64,
}

/// `gambeson channel send`
#[derive(Debug, Args)]
pub struct Send {
    /// Which channel
    #[command(flatten)]
    pub which: Which,
    /// Send each line as a message
    #[arg(long)]
    pub lines: bool,
    /// Seconds to wait until the log has all messages
    #[arg(long, value_name = "SECONDS", default_value = "30")]
    pub wait: u64,
}

/// `gambeson channel tail`
#[derive(Debug, Args)]
pub struct Tail {
    /// Which channel
    #[command(flatten)]
    pub which: Which,
    /// Send each line of standard input, too: an agent's channels are open in one program at a time
    #[arg(long)]
    pub talk: bool,
    /// End after this many messages
    #[arg(long, value_name = "N")]
    pub count: Option<u64>,
}

/// `gambeson channel history`
#[derive(Debug, Args)]
pub struct History {
    /// Which channel
    #[command(flatten)]
    pub read: Read,
    /// Begin at this position
    #[arg(long, value_name = "POSITION", default_value = "1")]
    pub from: u64,
    /// Show at most this many
    #[arg(long, value_name = "N", default_value = "1000")]
    pub limit: usize,
}

/// `gambeson channel policy`
#[derive(Debug, Args)]
pub struct PolicyOf {
    /// Which channel
    #[command(flatten)]
    pub which: Which,
    /// Give an agent a role, such as did:key:z6Mk…=moderator (may be given again)
    #[arg(long, value_name = "DID=ROLE", value_parser = assignment)]
    pub set: Vec<(Did, RoleName)>,
    /// The role of members without one of their own, from now on
    #[arg(long, value_enum, value_name = "ROLE")]
    pub others: Option<RoleName>,
    /// Let members forward to and from sessions of classical SLIM clients, or no more
    #[arg(long, value_name = "yes|no", value_parser = yes_or_no)]
    pub bridge: Option<bool>,
    /// Hours after which each member rotates its keys from now on; 0: never by itself
    #[arg(long, value_name = "HOURS")]
    pub rotate: Option<u32>,
    /// Own messages after which each member rotates its keys from now on; 0: any number
    #[arg(long, value_name = "MESSAGES")]
    pub rotate_messages: Option<u32>,
    /// Seconds for which members keep messages from now on; 0: for ever
    #[arg(long, value_name = "SECONDS")]
    pub retention: Option<u64>,
    /// Who may do what
    #[command(flatten)]
    pub rights: Rights,
}

impl PolicyOf {
    /// Returns true if the policy is only to be shown.
    pub(crate) fn changes_nothing(&self) -> bool {
        let Self { which: _, set, others, bridge, rotate, rotate_messages, retention, rights } = self;
        let given = [others.is_some(), bridge.is_some(), rotate.is_some(), rotate_messages.is_some()];
        set.is_empty() && given == [false; 4] && retention.is_none() && *rights == Rights::default()
    }
}

/// `gambeson channel export`
#[derive(Debug, Args)]
pub struct Export {
    /// Which channel
    #[command(flatten)]
    pub read: Read,
    /// The file to write
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub out: PathBuf,
    /// Replace a file that exists
    #[arg(long)]
    pub force: bool,
}

/// `gambeson channel bridge`
#[derive(Debug, Args)]
pub struct Bridge {
    /// Which channel
    #[command(flatten)]
    pub which: Which,
    /// The name of the bridge among the clients
    #[arg(long, value_name = "ORG/NAMESPACE/SERVICE", value_parser = stock_name)]
    pub name: Name,
    /// The session of the clients
    #[arg(long = "session", value_name = "ORG/NAMESPACE/SERVICE", value_parser = stock_name)]
    pub stock_session: Name,
    /// Open the session, and invite this client (may be given again); without any, wait until a client that opened it invites the bridge
    #[arg(long, value_name = "ORG/NAMESPACE/SERVICE", value_parser = stock_name)]
    pub invite: Vec<Name>,
    /// The file whose first line is the secret that the clients share, of at least 32 bytes
    #[arg(long, value_name = "FILE")]
    pub secret: PathBuf,
}

/// Forward messages between a channel, whose policy allows it, and a session of classical SLIM clients
///
/// Runs until Ctrl-C or the session's end. The clients read what goes to the session, and it has no post-quantum protection there.
/// The options are those of `gambeson channel bridge`, which starts this program.
///
/// Exit status: 0 done; 1 a passphrase did not hold; 2 wrong usage; 3 a file, a node or the session failed.
#[derive(Debug, Parser)]
#[command(name = "gambeson-slim-bridge", version, max_term_width = 110)]
pub struct BridgeProgram {
    /// Report in JSON, one object a line
    #[arg(long)]
    pub json: bool,
    /// Which agent
    #[command(flatten)]
    pub who: Who,
    /// Which nodes
    #[command(flatten)]
    pub nodes: Nodes,
    /// Deliver messages in causal order, as in the other commands of this agent
    #[arg(long)]
    pub causal: bool,
    /// Which channel and session
    #[command(flatten)]
    pub bridge: Bridge,
}

impl ChannelCommand {
    /// Whether standard output carries data, so that reports must go elsewhere.
    pub(crate) fn fills_stdout(&self) -> bool {
        match self {
            Self::Export(options) => is_stream(&options.out),
            Self::Top(_) => true,
            _ => false,
        }
    }
}

fn assignment(text: &str) -> Result<(Did, RoleName), String> {
    let (did, role) = text.rsplit_once('=').ok_or("expected DID=ROLE")?;
    let did = did.parse::<Did>().map_err(|error| error.to_string())?;
    Ok((did, RoleName::from_str(role, true)?))
}

fn stock_name(text: &str) -> Result<Name, String> {
    match text.split('/').collect::<Vec<_>>()[..] {
        [organisation, namespace, service] if ![organisation, namespace, service].contains(&"") => {
            Ok(Name::new(organisation, namespace, service))
        }
        _ => Err("expected organisation/namespace/service".to_owned()),
    }
}

fn yes_or_no(text: &str) -> Result<bool, String> {
    match text {
        "yes" => Ok(true),
        "no" => Ok(false),
        _ => Err("expected yes or no".to_owned()),
    }
}
