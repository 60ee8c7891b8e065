//! A bridge to sessions of stock SLIM clients, which are classical.
//!
//! A member of a channel, whose policy must allow it, carries what members say into a session of stock clients, and back. What goes out
//! loses the channel's protection: the bridge decrypts it, and the session has SLIM's own, which is classical, or none. So both sides
//! are told: members see each word of a client as [`Event::Bridge`](crate::Event::Bridge) and the clients in the bridge's
//! [`MemberStatus::bridge`](crate::MemberStatus::bridge); clients get a notice when they come, a word in front of every text, and
//! [`METADATA`] beside every payload.
//!
//! Not carried: what came through another bridge, so that nothing goes round; what is too large; what comes too fast. Both sides are
//! told of the latter two. A bridge that ends, for whatever reason, leaves the channel as it was.
//!
//! ```no_run
//! # async fn example(channel: gambeson_slim::Channel) -> gambeson_slim::Result<()> {
//! use gambeson_slim::Name;
//! use gambeson_slim::bridge::{Bridge, StockAgent};
//!
//! let name = Name::new("acme", "bridges", "one");
//! let agent = StockAgent::connect("http://127.0.0.1:46357", &name, "a secret of 32 bytes and more …").await?;
//! let session = agent.create(&Name::new("acme", "talks", "plan"), &[Name::new("acme", "agents", "bob")]).await?;
//! let bridge = Bridge::start(channel, session).await?;
//! println!("it ended: {}", bridge.ended().await);
//! # Ok(())
//! # }
//! ```

mod carry;
mod session;

pub use carry::{Bridge, MAX_CARRIED, METADATA, METADATA_FROM};
pub use session::{FromStock, MAX_STOCK_PAYLOAD, StockAgent, StockClient, StockMessage, StockSession};
