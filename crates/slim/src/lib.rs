#![doc = include_str!("../README.md")]
//!
//! # Layout
//!
//! | module | what is in it |
//! | --- | --- |
//! | `name` | [`Name`]: where frames go; [`ChannelId`] |
//! | `link` | [`Link`]: frames from one to many |
//! | `log` | [`Log`]: one order for a channel |
//! | `blobs` | [`Blobs`]: what is too large for a frame |
//! | `keys` | [`Keys`]: how agents that are away are invited |
//! | `member` | [`Member`]: MLS with cards and policy, without network or files |
//! | `policy` | [`Policy`], [`SignedPolicy`], [`Role`]: who may do what |
//! | `cards` | [`Cards`]: identity cards that were resolved |
//! | `credential` | [`Credential`], [`CardHash`]: what stands in a leaf |
//! | `refusal` | [`Refusal`], [`Reason`], [`Need`]: why something is refused, and what is missing |
//! | `memory` | all four in memory |
//! | `datapath` | a [`Link`] over nodes of SLIM |
//! | `stock` | nodes of SLIM as processes of this machine |
//! | [`delivery`] | log, blobs and keys over a link: client and service |
//! | [`engine`] | what a service keeps them in |
//! | [`faults`] | a link that loses, repeats, delays and reorders |
//! | `node` | [`Node`]: one agent on one link: its inbox, and its channels |
//! | `channel` | [`Channel`]: what an application does with one |
//! | `event` | [`Event`]: what happens in one |
//! | `life` | the task behind a channel |
//! | `frame` | [`Frame`]: what travels over a link |
//! | `content` | what stands in the log, and what members say inside MLS |
//! | `archive` | blobs: cut, sealed, gathered |
//! | `order` | each message once, in the order of its sender |
//! | `store` | [`Store`]: what an agent keeps, sealed |
//! | `stored` | [`StoredChannel`]: a channel as the store has it |
//! | `wire` | fields one behind the other |
//! | `sim` (feature) | a channel of thousands in virtual time |
//! | `bridge_news` | [`BridgeNews`]: messages of a bridge to its channel |
//! | `gateway` | channels for programs that speak JSON (feature `websocket`) |
//! | `error` | [`Error`] |
#![warn(missing_debug_implementations)]

mod archive;
mod blobs;
mod bridge_news;
mod cards;
mod channel;
mod content;
mod credential;
pub mod datapath;
pub mod delivery;
pub mod engine;
mod error;
mod event;
pub mod faults;
mod frame;
#[cfg(fuzzing)]
pub mod fuzzing;
#[cfg(feature = "websocket")]
pub mod gateway;
mod keys;
mod life;
mod link;
mod log;
mod member;
pub mod memory;
mod name;
mod node;
mod order;
mod policy;
mod refusal;
#[cfg(feature = "sim")]
pub mod sim;
pub mod stock;
mod store;
mod stored;
mod wire;

use std::pin::Pin;

use futures_util::stream::{self, Buffered, StreamExt};

pub use blobs::{BlobId, Blobs, MAX_BLOB};
pub use bridge_news::{BridgeNews, FarEnd, FarMessage, MAX_NAMED_CLIENTS};
pub use cards::{Cards, DEFAULT_CAPACITY, SKEW};
pub use channel::{Channel, MAX_MESSAGE, MemberStatus, Status};
pub use content::{MessageId, Purpose};
pub use credential::{CardHash, Credential};
pub use error::{Error, Quota, Result};
pub use event::{Event, Fork, Occurrence, Warning};
pub use frame::Frame;
pub use keys::{KeyPackages, Keys, MAX_DID, MAX_KEY_PACKAGE, MAX_KEY_PACKAGES};
pub use link::{Incoming, Link, MAX_FRAME, To};
pub use log::{Entry, EntryId, EntryKind, Head, Log, MAX_ENTRY, Page, Placed, Record};
pub use member::{
    Application, Changed, Changes, Examined, KEY_PACKAGE_LIFETIME, KeptKeyPackage, Listed, MAX_CHANGES, Me,
    Member, NOTE_EXTENSION, PAST_EPOCHS, Pending, Piece, Processed, RESERVED, ROUTING_LABEL, key_package_of,
    leaf_keys, welcome_references,
};
pub use name::{ChannelId, Name};
pub use node::{Admit, Clock, Invitation, Node, Options, Services, SystemClock, VirtualClock};
pub use policy::{EVIDENCE_PROPOSAL, MAX_POLICY, POLICY_EXTENSION, Policy, Role, SignedPolicy};
pub use refusal::{Need, Reason, Refusal};
#[cfg(feature = "redb")]
pub use store::FileStore;
pub use store::{Batch, MemoryStore, Store, StoreKey};
pub use stored::StoredChannel;

/// A lock's content, also after a panic of another thread: what is kept here is whole between any two statements.
fn hold<T>(of: &std::sync::Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    of.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// How many calls of the delivery service one work makes at once. As many of one caller a service works on ([`delivery::Rules::of_one`]).
const AT_ONCE: usize = 16;

/// How many blobs are asked for together: with as many as they may have bytes, [`AT_ONCE`] times so many are 32 MiB.
const TOGETHER: usize = 16;

/// Makes calls that do not wait for each other side by side, [`AT_ONCE`] of them. The answers come in the order of the calls; once they are
/// dropped, as after the first error of many, no further call is made.
fn side_by_side<F: Future>(calls: impl IntoIterator<Item = F>) -> SideBySide<F> {
    let calls: Vec<F> = calls.into_iter().collect();
    Box::pin(stream::iter(calls).buffered(AT_ONCE))
}

type SideBySide<F> = Pin<Box<Buffered<stream::Iter<std::vec::IntoIter<F>>>>>;
