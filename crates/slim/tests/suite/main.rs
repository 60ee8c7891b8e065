//! Tests of the public interface, as one test program: a file for each subject.
#![allow(clippy::unwrap_used)] // A test may fail that way.

mod broken;
mod cards;
mod channel;
mod delivery;
mod engines;
mod faults;
#[cfg(all(feature = "redb", feature = "websocket"))]
mod gateway;
mod insiders;
mod link;
mod members;
#[cfg(feature = "nats")]
mod nats_server;
mod offers;
mod people;
mod room;
#[cfg(feature = "sim")]
mod sim;
mod world;

use gambeson_slim::Services;
use gambeson_slim::memory::MemoryService;
use std::sync::Arc;

/// The variable that names the engine of the delivery service: `memory` (the default), `file` or `nats`.
const ENGINE: &str = "GAMBESON_TEST_ENGINE";

/// Returns a delivery service that no other test uses.
fn services() -> Services {
    match std::env::var(ENGINE).as_deref() {
        Err(_) | Ok("memory") => Services::of(Arc::new(MemoryService::new())),
        #[cfg(feature = "redb")]
        Ok("file") => in_a_file(),
        #[cfg(feature = "nats")]
        Ok("nats") => nats_server::services(),
        Ok(other) => panic!("{ENGINE}={other} names no engine of this build"),
    }
}

/// Returns a service in a file, which the system forgets with the last handle.
#[cfg(feature = "redb")]
fn in_a_file() -> Services {
    use gambeson_slim::engine::{File, Limits, Retention};
    let directory = tempfile::tempdir().unwrap();
    let file = File::open(directory.path().join("service"), Limits::default(), Retention::default());
    Services::of(Arc::new(world::held::Held::new(file.unwrap())))
}
