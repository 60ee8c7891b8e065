//! What channels do when everything around them goes wrong: links, stores, logs, clocks and members. Fixed seeds, virtual time.

#![allow(clippy::unwrap_used)] // A test may fail that way.

#[path = "../world/packed.rs"]
mod packed;
#[path = "../people/mod.rs"]
mod people;
#[path = "../world/mod.rs"]
mod world;

mod broken;
mod crash;
mod early;
mod insider;
mod links;
mod logs;
mod strangers;

use std::sync::Arc;

use gambeson_slim::Services;
use gambeson_slim::memory::MemoryService;

/// What each test has for a delivery service.
fn services() -> Services {
    Services::of(Arc::new(MemoryService::new()))
}
