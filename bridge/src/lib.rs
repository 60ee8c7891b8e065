//! Bridge between a channel of [`gambeson_slim`] and a session of stock SLIM clients, whose cryptography is classical.
//!
//! The bridge is a member of the channel, whose policy must allow it. It forwards messages of members to the session, and messages of
//! clients to the channel. What leaves the channel loses the channel's protection: the bridge decrypts it, and the session has SLIM's own
//! encryption, which is classical, or none. Both sides are told. Members receive each message of a client as
//! [`Event::Bridge`](gambeson_slim::Event::Bridge), and find the clients in the bridge's
//! [`MemberStatus::bridge`](gambeson_slim::MemberStatus::bridge). Clients receive a notice when they join, a prefix before each text, and
//! [`METADATA`] with each payload.
//!
//! Three kinds of messages are not forwarded: those that came through another bridge, so that none circulates; those that are too large;
//! and those above the rate limit. Both sides are told of the last two. When a bridge ends, for whatever reason, the channel goes on.
//!
//! ```no_run
//! # async fn example(channel: gambeson_slim::Channel) -> gambeson_slim_bridge::Result<()> {
//! use gambeson_slim::Name;
//! use gambeson_slim_bridge::{Bridge, StockAgent};
//!
//! let name = Name::new("acme", "bridges", "one");
//! let agent = StockAgent::connect("http://127.0.0.1:46357", &name, "a secret of 32 bytes and more …").await?;
//! let session = agent.create(&Name::new("acme", "talks", "plan"), &[Name::new("acme", "agents", "bob")]).await?;
//! let bridge = Bridge::start(channel, session).await?;
//! println!("it ended: {}", bridge.ended().await);
//! # Ok(())
//! # }
//! ```
//!
//! # Layout
//!
//! * `carry`: [`Bridge`], which forwards in both directions
//! * `session`: [`StockAgent`] and [`StockSession`], over SLIM's session layer
//! * `error`: [`Error`]
//! * `main`: the program, which `gambeson channel bridge` starts
#![warn(missing_debug_implementations)]

mod carry;
mod error;
mod session;

pub use carry::{Bridge, MAX_CARRIED, METADATA, METADATA_FROM};
pub use error::{Error, Result};
pub use session::{FromStock, MAX_STOCK_PAYLOAD, StockAgent, StockClient, StockMessage, StockSession};
