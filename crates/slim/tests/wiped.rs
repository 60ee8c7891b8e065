//! What was opened of a store is wiped before its memory is given back.

#![allow(unsafe_code, clippy::unwrap_used)] // A global allocator is an unsafe trait; a test may fail that way.

#[path = "suite/world/mod.rs"]
mod world;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use gambeson_slim::{MemoryStore, Services, Store, memory::MemoryService};
use world::{Offered, World, messages, said};

fn services() -> Services {
    Services::of(Arc::new(MemoryService::new()))
}

/// An allocator that looks into every block before it is freed.
struct Looking;

/// What it looks for, once that is known, and how often it was there.
static SOUGHT: OnceLock<[u8; 32]> = OnceLock::new();
static FOUND: AtomicUsize = AtomicUsize::new(0);

#[global_allocator]
static HEAP: Looking = Looking;

// SAFETY: the system's allocator does the work; a block is only read, while it is still allocated.
unsafe impl GlobalAlloc for Looking {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise about the layout is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if let Some(sought) = SOUGHT.get() {
            // SAFETY: the block has this size, and is freed only below.
            let bytes = unsafe { std::slice::from_raw_parts(block, layout.size()) };
            FOUND.fetch_add(bytes.windows(32).filter(|window| window == sought).count(), Ordering::SeqCst);
        }
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(block, layout) }
    }
}

#[tokio::test(start_paused = true)]
async fn the_private_half_of_a_key_package_that_was_opened_lies_in_no_memory_that_is_given_back() {
    let world = World::new(40);
    let (store, alice, mut bob) = (MemoryStore::new(), world.agent("alice"), world.agent("bob"));
    bob.store = Arc::new(store.clone());
    let at_bob = bob.node().await;
    at_bob.offered(&world).await;
    drop(at_bob);

    // As the store has it: behind a name that the agent alone can find.
    let names = store.row(*b"gambeson channel", 0, 1).await.unwrap();
    let names = bob.agent.open_state("channel names", &names[&0]).unwrap();
    let hash = blake3::keyed_hash(names.expose()[..].try_into().unwrap(), b"packages");
    let row = store.row(hash.as_bytes()[..16].try_into().unwrap(), 0, 1_000).await.unwrap();
    let (place, sealed) = row.first_key_value().unwrap();
    let package = bob.agent.open_state(&format!("channel packages {place}"), sealed).unwrap();
    // Its first bytes stand together nowhere else.
    SOUGHT.set(package.expose()[..32].try_into().unwrap()).unwrap();

    let at_bob = bob.node().await;
    let at_alice = alice.node().await;
    let a = at_alice.create(at_alice.policy().unwrap().sign(at_alice.me().agent()).unwrap()).await.unwrap();
    a.invite(&[bob.did()]).await.unwrap();
    at_bob.joined(&a.id()).await.send("hello").await.unwrap();
    assert_eq!(messages(&a, 1).await, [said(&bob, "hello")]);
    drop((at_alice, at_bob));
    assert_eq!(FOUND.load(Ordering::SeqCst), 0);
    drop(package.expose().clone());
    assert_eq!(FOUND.load(Ordering::SeqCst), 1, "who does not wipe is found");
}
