//! The fault suite on a delivery service in NATS JetStream. It wants `nats-server` in PATH.
#![cfg(feature = "nats")]
#![allow(clippy::unwrap_used)] // A test may fail that way.

#[path = "world/held.rs"]
mod held;
mod nats_server;
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

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};

use gambeson_slim::Services;
use gambeson_slim::engine::{Nats, Retention};
use tokio::runtime::Runtime;

/// Where connections live: the tests' own runtimes have a clock that jumps.
static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| Runtime::new().unwrap());
/// One server for all tests; it ends with the process, whose death it is told.
static SERVER: LazyLock<nats_server::Running> = LazyLock::new(|| {
    let server = RUNTIME.block_on(nats_server::server());
    server.expect("nats-server starts (apt-get install nats-server)")
});

/// A service of its own on the server.
fn services() -> Services {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let prefix = format!("faults{}", NUMBER.fetch_add(1, Ordering::Relaxed));
    let open = std::thread::spawn(move || {
        let address = format!("127.0.0.1:{}", SERVER.port);
        RUNTIME.block_on(async {
            let client = async_nats::connect(address).await.unwrap();
            Nats::open(client, &prefix, 1, nats_server::SMALL, Retention::default()).await.unwrap()
        })
    });
    Services::of(Arc::new(held::Held::new(open.join().unwrap())))
}
