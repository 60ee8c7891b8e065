//! The delivery service over a link: one speaks to an [`Engine`](crate::engine::Engine) that another keeps.
//!
//! [`serve`] answers on a name for an engine; a [`Client`] is [`Log`](crate::Log), [`Blobs`](crate::Blobs) and
//! [`Keys`](crate::Keys) on the other side. Calls have ids and deadlines and are repeated until they are answered, so that a link may
//! lose, repeat and reorder frames, and a service may be started anew: an append is found by the entry's id, a package is added
//! once, and one that was given out is given again to who repeats the call (for a minute, by the same process). Whatever is said is
//! sealed or public already; the service keeps an order, and learns sizes and times.
//!
//! ```
//! use gambeson_slim::{ChannelId, Entry, EntryId, EntryKind, Log, Name, Placed};
//! use gambeson_slim::delivery::{Client, Patience, Rules, serve};
//! use gambeson_slim::memory::{Hub, MemoryService};
//! use std::sync::Arc;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> gambeson_slim::Result<()> {
//! let hub = Hub::new();
//! let name = Name::new("acme", "channels", "delivery");
//! let server = serve(hub.link(), name.clone(), Arc::new(MemoryService::new()), Rules::default()).await?;
//!
//! let client = Client::new(hub.link(), name, Patience::default()).await?;
//! let entry = Entry { id: EntryId([7; 16]), kind: EntryKind::Commit, content: "sealed".into() };
//! assert_eq!(client.append(&ChannelId([1; 32]), entry, 0).await?, Placed::At(1));
//!
//! server.stop().await;
//! # Ok(())
//! # }
//! ```
//!
//! # Layout
//!
//! | module | what is in it |
//! | --- | --- |
//! | `frame` | what is said |
//! | `server` | [`serve`] |
//! | `client` | [`Client`] |

mod client;
pub mod frame;
mod server;

pub use client::{Client, Patience};
pub use server::{LINKS, Rules, Served, Server, serve};

use crate::name::Name;

/// Where a caller hears replies: beside the service, so that nobody makes it send to other names.
fn replies(service: &Name, caller: u128) -> Name {
    let [organisation, namespace, _] = service.parts();
    Name::new(organisation, namespace, format!("caller-{caller:032x}")).with_instance(caller)
}
