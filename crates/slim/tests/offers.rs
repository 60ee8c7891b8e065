//! Key packages that cannot be offered, and an inbox that others fill.

#![allow(clippy::unwrap_used)] // A test may fail that way.

mod world;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use gambeson_slim::engine::Limits;
use gambeson_slim::memory::MemoryService;
use gambeson_slim::{
    Batch, ChannelId, Entry, EntryId, EntryKind, Error, KeyPackages, Keys, MemoryStore, Result, Services,
    Store, StoreKey,
};
use world::{Offered, World, messages};

fn services() -> Services {
    Services::of(Arc::new(MemoryService::new()))
}

/// What becomes of packages that are published.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// They are refused.
    Refused,
    /// They are kept, and the answer is lost.
    Unanswered,
    /// They are lost, and the answer says that they are kept.
    Lost,
    Kept,
}

/// Keys with a fate.
struct Fateful {
    inner: Arc<dyn Keys>,
    fate: Mutex<Fate>,
    published: AtomicUsize,
}

#[async_trait]
impl Keys for Fateful {
    async fn publish(&self, did: &str, packages: KeyPackages) -> Result<()> {
        self.published.fetch_add(1, Ordering::SeqCst);
        let fate = *self.fate.lock().unwrap();
        if matches!(fate, Fate::Kept | Fate::Unanswered) {
            self.inner.publish(did, packages).await?;
        }
        match fate {
            Fate::Kept | Fate::Lost => Ok(()),
            Fate::Refused | Fate::Unanswered => Err(Error::Deadline(Duration::from_secs(5))),
        }
    }

    async fn take(&self, did: &str) -> Result<Option<Bytes>> {
        self.inner.take(did).await
    }

    async fn left(&self, did: &str) -> Result<usize> {
        self.inner.left(did).await
    }
}

/// A store that counts what is in it.
#[derive(Default)]
struct Counted(MemoryStore, Mutex<BTreeSet<StoreKey>>);

#[async_trait]
impl Store for Counted {
    async fn row(&self, row: [u8; 16], from: u64, most: usize) -> Result<BTreeMap<u64, Vec<u8>>> {
        self.0.row(row, from, most).await
    }

    async fn apply(&self, batch: Batch) -> Result<()> {
        {
            let mut keys = self.1.lock().unwrap();
            for (key, value) in &batch {
                if value.is_some() {
                    keys.insert(*key)
                } else {
                    keys.remove(key)
                };
            }
        }
        self.0.apply(batch).await
    }
}

#[tokio::test(start_paused = true)]
async fn an_agent_whose_key_packages_cannot_be_published_keeps_no_more_of_them_and_tries_ever_more_seldom() {
    for (seed, fate) in [(81, Fate::Refused), (82, Fate::Unanswered), (83, Fate::Lost)] {
        let world = World::new(seed);
        let (alice, mut bob) = (world.agent("alice"), world.agent("bob"));
        let inner = Arc::clone(&world.services.keys);
        let keys = Arc::new(Fateful { inner, fate: Mutex::new(fate), published: AtomicUsize::new(0) });
        bob.world.services.keys = Arc::clone(&keys) as Arc<dyn Keys>;
        let store = Arc::new(Counted::default());
        bob.store = Arc::clone(&store) as Arc<dyn Store>;
        let mut at_bob = bob.node().await;
        tokio::time::sleep(Duration::from_secs(3_600)).await;
        let (kept, tries) = (store.1.lock().unwrap().len(), keys.published.load(Ordering::SeqCst));
        // A service that lies cannot be told from one whose packages are taken at once.
        let most = if fate == Fate::Lost { 1_010 } else { 60 };
        assert!(kept < most, "{fate:?}: {kept} rows are kept after an hour");
        assert!((2..130).contains(&tries), "{fate:?}: {tries} tries in an hour");
        if fate != Fate::Lost {
            assert!(tries < 25, "{fate:?}: {tries} tries in an hour");
            // A restart makes no new ones either.
            drop(at_bob);
            at_bob = bob.node().await;
            tokio::time::sleep(Duration::from_secs(60)).await;
            assert!(store.1.lock().unwrap().len() <= kept + 1);
        }

        *keys.fate.lock().unwrap() = Fate::Kept;
        tokio::time::sleep(Duration::from_secs(600)).await;
        if fate != Fate::Lost {
            assert_eq!(keys.left(bob.did().as_str()).await.unwrap(), 20);
        }
        let at_alice = alice.node().await;
        let a =
            at_alice.create(at_alice.policy().unwrap().sign(at_alice.me().agent()).unwrap()).await.unwrap();
        a.invite(&[bob.did()]).await.unwrap();
        let id = a.id();
        let joined = tokio::time::timeout(Duration::from_secs(60), at_bob.joined(&id));
        let b = joined.await.expect("by a package that was made before");
        b.until(|status| status.epoch == 1).await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn an_inbox_that_is_read_has_room_for_ever() {
    let few = Limits { channels: 100, entries: 120, bytes: 1 << 24, dids: 100, store: 1 << 28 };
    let world = World::with(78, Services::of(Arc::new(MemoryService::with(few))));
    let (alice, mut bob) = (world.agent("alice"), world.agent("bob"));
    bob.options.checkpoint_entries = 40;
    let at_bob = bob.node().await;
    let inbox = ChannelId(blake3::derive_key("gambeson inbox log v1", bob.did().as_str().as_bytes()));
    for number in 0..600_u128 {
        let id = EntryId(number.to_be_bytes());
        let entry = Entry { id, kind: EntryKind::Application, content: "none to be read".into() };
        world.services.log.append(&inbox, entry, 0).await.unwrap_or_else(|error| panic!("{number}: {error}"));
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    let at_alice = alice.node().await;
    let a = at_alice.create(at_alice.policy().unwrap().sign(at_alice.me().agent()).unwrap()).await.unwrap();
    a.invite(&[bob.did()]).await.unwrap();
    tokio::time::timeout(Duration::from_secs(600), at_bob.joined(&a.id()))
        .await
        .expect("an invitation finds room too");
}

#[tokio::test(start_paused = true)]
async fn a_welcome_for_a_key_package_of_last_resort_brings_its_agent_in_once() {
    let world = World::with(85, services());
    let (alice, mut bob) = (world.agent("alice"), world.agent("bob"));
    bob.options.key_packages = 0;
    let (at_alice, at_bob) = (alice.node().await, bob.node().await);
    let a = at_alice.create(at_alice.policy().unwrap().sign(at_alice.me().agent()).unwrap()).await.unwrap();
    // The one of last resort is there when it is there.
    while a.invite(&[bob.did()]).await.is_err() {
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    let b = at_bob.joined(&a.id()).await;
    a.send("once").await.unwrap();
    assert_eq!(messages(&b, 1).await.len(), 1);
    a.remove(&[bob.did()]).await.unwrap();
    while !at_bob.channels().is_empty() {
        tokio::time::sleep(Duration::from_secs(1)).await;
    }

    // Whoever reads the inbox's log writes the invitation into it again.
    let inbox = ChannelId(blake3::derive_key("gambeson inbox log v1", bob.did().as_str().as_bytes()));
    let page = world.services.log.read(&inbox, 1, 100).await.unwrap();
    let invitation = page.records.into_iter().find(|one| one.entry.kind == EntryKind::Application).unwrap();
    let entry = Entry { id: EntryId([7; 16]), ..invitation.entry };
    world.services.log.append(&inbox, entry, 0).await.unwrap();
    drop(at_bob.reports());
    at_bob.look();
    tokio::time::sleep(Duration::from_secs(120)).await;
    assert!(at_bob.channels().is_empty(), "he is in a channel that he was removed from");
    let said: Vec<String> = at_bob.reports().into_iter().map(|(_, report)| report).collect();
    assert!(
        said.iter().any(|report| report.contains("brought this agent into the channel before")),
        "{said:?}"
    );

    a.invite(&[bob.did()]).await.unwrap();
    let again = at_bob.joined(&a.id()).await;
    a.send("twice").await.unwrap();
    while messages(&again, 1).await[0].1 != "twice" {}
}

#[tokio::test(start_paused = true)]
async fn of_invitations_that_come_without_end_few_are_kept_whoever_decides() {
    for asks in [true, false] {
        let world = World::new(79);
        let (alice, mut bob) = (world.agent("alice"), world.agent("bob"));
        bob.asks = asks;
        let store = Arc::new(Counted::default());
        bob.store = Arc::clone(&store) as Arc<dyn Store>;
        let (at_alice, at_bob) = (alice.node().await, bob.node().await);
        at_bob.offered(&world).await;
        drop(at_bob);
        // Without what an invitation refers to it cannot be accepted for a while.
        bob.world.services.blobs = Arc::new(MemoryService::new());
        let a =
            at_alice.create(at_alice.policy().unwrap().sign(at_alice.me().agent()).unwrap()).await.unwrap();
        a.invite(&[bob.did()]).await.unwrap();
        let inbox = ChannelId(blake3::derive_key("gambeson inbox log v1", bob.did().as_str().as_bytes()));
        let invitation = loop {
            let page = world.services.log.read(&inbox, 1, 1).await.unwrap();
            match page.records.into_iter().next() {
                Some(record) => break record.entry.content,
                None => tokio::time::sleep(Duration::from_millis(100)).await,
            }
        };
        let at_bob = bob.node().await;
        tokio::time::sleep(Duration::from_secs(60)).await;
        let before = store.1.lock().unwrap().len();
        for number in 0..300_u128 {
            let content = invitation.clone();
            let entry = Entry { id: EntryId(number.to_be_bytes()), kind: EntryKind::Application, content };
            world.services.log.append(&inbox, entry, 0).await.unwrap();
        }
        at_bob.look();
        tokio::time::sleep(Duration::from_secs(60)).await;
        let kept = store.1.lock().unwrap().len() - before;
        assert!(kept <= 64, "{kept} rows are kept");
        drop(at_bob);
        let at_bob = bob.node().await;
        if asks {
            for _ in 0..64 {
                at_bob.invitation().await;
            }
            let more = tokio::time::timeout(Duration::from_secs(60), at_bob.invitation()).await;
            assert!(more.is_err(), "no more were kept");
        }
    }
}
