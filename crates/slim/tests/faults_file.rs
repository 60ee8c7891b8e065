//! The fault suite on a delivery service in one file.
#![cfg(feature = "redb")]
#![allow(clippy::unwrap_used)] // A test may fail that way.

#[path = "world/held.rs"]
mod held;
#[path = "world/packed.rs"]
mod packed;
mod people;
#[path = "world/mod.rs"]
mod world;

#[path = "faults/broken.rs"]
mod broken;
#[path = "faults/crash.rs"]
mod crash;
#[path = "faults/early.rs"]
mod early;
#[path = "faults/insider.rs"]
mod insider;
#[path = "faults/links.rs"]
mod links;
#[path = "faults/logs.rs"]
mod logs;
#[path = "faults/strangers.rs"]
mod strangers;

use std::sync::Arc;

use gambeson_slim::Services;
use gambeson_slim::engine::{File, Limits, Retention};

/// A service in a file of its own, which the system forgets with the last handle.
fn services() -> Services {
    let directory = tempfile::tempdir().unwrap();
    let file = File::open(directory.path().join("service"), Limits::default(), Retention::default());
    Services::of(Arc::new(held::Held::new(file.unwrap())))
}
