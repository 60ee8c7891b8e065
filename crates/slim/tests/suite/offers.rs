//! Key packages that cannot be offered, and an inbox that others fill.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::world::{Offered, World, messages};
use async_trait::async_trait;
use bytes::Bytes;
use gambeson_identity::{Retired, Role as Key};
use gambeson_slim::engine::Limits;
use gambeson_slim::memory::MemoryService;
use gambeson_slim::{
    Batch, BlobId, Blobs, ChannelId, Entry, EntryId, EntryKind, Error, Frame, KeyPackages, Keys, MemoryStore,
    Result, Services, Store, StoreKey,
};
use tokio::time::Instant;

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
    let world = World::with(85, crate::services());
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
    assert!(said.iter().any(|report| report.contains("the Welcome was used before")), "{said:?}");

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

/// Blobs that are forgotten when nobody put or asked for them for a day.
struct Ageing {
    inner: Arc<dyn Blobs>,
    put: Mutex<HashMap<BlobId, Instant>>,
}

impl Ageing {
    fn over(inner: &Arc<dyn Blobs>) -> Arc<Self> {
        Arc::new(Self { inner: Arc::clone(inner), put: Mutex::default() })
    }

    fn is_kept(&self, id: &BlobId) -> bool {
        let day = Duration::from_secs(86_400);
        self.put.lock().unwrap().get(id).is_some_and(|put| put.elapsed() < day)
    }
}

#[async_trait]
impl Blobs for Ageing {
    async fn put(&self, bytes: Bytes) -> Result<BlobId> {
        let id = self.inner.put(bytes).await?;
        self.put.lock().unwrap().insert(id, Instant::now());
        Ok(id)
    }

    async fn get(&self, id: &BlobId) -> Result<Option<Bytes>> {
        if self.is_kept(id) { self.inner.get(id).await } else { Ok(None) }
    }

    async fn has(&self, ids: &[BlobId]) -> Result<Vec<bool>> {
        let has: Vec<bool> = ids.iter().map(|id| self.is_kept(id)).collect();
        let found = ids.iter().zip(&has).filter(|(_, has)| **has).map(|(id, _)| (*id, Instant::now()));
        self.put.lock().unwrap().extend(found);
        Ok(has)
    }
}

#[tokio::test(start_paused = true)]
async fn cards_are_found_however_long_their_owners_are_there_or_away() {
    let mut world = World::new(86);
    world.services.blobs = Ageing::over(&world.services.blobs);
    let (alice, bob, carol, dave) =
        (world.agent("alice"), world.agent("bob"), world.agent("carol"), world.agent("dave"));
    let at_alice = alice.node().await;
    let a = at_alice.create(at_alice.policy().unwrap().sign(at_alice.me().agent()).unwrap()).await.unwrap();
    let at_bob = bob.node().await;
    at_bob.offered(&world).await;
    let at_dave = dave.node().await;
    at_dave.offered(&world).await;
    a.invite(&[bob.did()]).await.unwrap();
    at_bob.joined(&a.id()).await;
    drop(at_bob);
    tokio::time::sleep(Duration::from_secs(40 * 3_600)).await;
    let at_carol = carol.node().await;
    at_carol.offered(&world).await;
    a.invite(&[dave.did(), carol.did()]).await.unwrap();
    for node in [at_dave, at_carol] {
        let joined = tokio::time::timeout(Duration::from_secs(600), node.joined(&a.id())).await;
        assert_eq!(joined.expect("the cards of all are there").members().len(), 4);
    }
}

/// Blobs of which some are never given.
struct Silent {
    inner: Arc<dyn Blobs>,
    of: Mutex<HashSet<BlobId>>,
}

#[async_trait]
impl Blobs for Silent {
    async fn put(&self, bytes: Bytes) -> Result<BlobId> {
        self.inner.put(bytes).await
    }

    async fn get(&self, id: &BlobId) -> Result<Option<Bytes>> {
        let never = self.of.lock().unwrap().contains(id);
        if never {
            std::future::pending::<()>().await;
        }
        self.inner.get(id).await
    }

    async fn has(&self, ids: &[BlobId]) -> Result<Vec<bool>> {
        self.inner.has(ids).await
    }
}

#[tokio::test(start_paused = true)]
async fn an_invitation_that_leads_nowhere_does_not_stand_in_the_way_of_the_next() {
    let world = World::new(87);
    let (alice, bob) = (world.agent("alice"), world.agent("bob"));
    let (at_alice, at_bob) = (alice.node().await, bob.node().await);
    at_bob.offered(&world).await;
    drop(at_bob);
    let invite = async || {
        let policy = at_alice.policy().unwrap().sign(at_alice.me().agent()).unwrap();
        let channel = at_alice.create(policy).await.unwrap();
        channel.invite(&[bob.did()]).await.unwrap();
        tokio::time::sleep(Duration::from_secs(1)).await;
        channel.id()
    };
    let mut channels = [invite().await, invite().await, invite().await, invite().await].to_vec();
    let inbox = ChannelId(blake3::derive_key("gambeson inbox log v1", bob.did().as_str().as_bytes()));
    let page = world.services.log.read(&inbox, 1, 100).await.unwrap();
    let mut heads = page.records.iter().filter_map(|record| match Frame::parse(&record.entry.content) {
        Ok(Frame::Invitation { snapshot, .. }) => Some(snapshot),
        _ => None,
    });
    let silent = Arc::new(Silent { inner: Arc::clone(&world.services.blobs), of: Mutex::default() });
    silent.of.lock().unwrap().extend(heads.by_ref().take(3));
    assert_eq!(heads.count(), 1);
    let mut at = bob.clone();
    at.world.services.blobs = silent.clone();
    let at_bob = at.node().await;
    let joined = tokio::time::timeout(Duration::from_secs(240), at_bob.joined(&channels[3])).await;
    joined.expect("the fourth leads somewhere");
    // The others are tried ever longer, and one that comes then has to wait for one of them.
    tokio::time::sleep(Duration::from_secs(3_600)).await;
    channels.push(invite().await);
    let joined = tokio::time::timeout(Duration::from_secs(1_000), at_bob.joined(&channels[4])).await;
    joined.expect("the fifth, too");
    assert_eq!(at_bob.channels().len(), 2);
    silent.of.lock().unwrap().clear();
    for id in &channels {
        tokio::time::timeout(Duration::from_secs(3_600), at_bob.joined(id)).await.expect("at last");
    }
}

#[tokio::test(start_paused = true)]
async fn who_accepts_by_a_last_resort_that_was_followed_by_another_is_in() {
    let world = World::new(88);
    let (alice, mut bob) = (world.agent("alice"), world.agent("bob").asking());
    bob.options.key_packages = 0;
    let (at_alice, at_bob) = (alice.node().await, bob.node().await);
    let a = at_alice.create(at_alice.policy().unwrap().sign(at_alice.me().agent()).unwrap()).await.unwrap();
    while a.invite(&[bob.did()]).await.is_err() {
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    let invitation = at_bob.invitation().await;
    let newer = bob.rotated(&[Key::Signing], Retired::Superseded(86_400));
    at_bob.renew(newer.me(), &newer.log).await.unwrap();
    tokio::time::sleep(Duration::from_secs(120)).await;
    let b = at_bob.accept(invitation).await.unwrap();
    a.send("welcome").await.unwrap();
    assert_eq!(messages(&b, 1).await[0].1, "welcome");
}

#[tokio::test(start_paused = true)]
async fn who_was_away_accepts_more_invitations_than_it_keeps() {
    let world = World::new(89);
    let (alice, bob) = (world.agent("alice"), world.agent("bob"));
    let (at_alice, at_bob) = (alice.node().await, bob.node().await);
    at_bob.offered(&world).await;
    drop(at_bob);
    let mut channels = Vec::new();
    for _ in 0..70 {
        let policy = at_alice.policy().unwrap().sign(at_alice.me().agent()).unwrap();
        let channel = at_alice.create(policy).await.unwrap();
        channel.invite(&[bob.did()]).await.unwrap();
        channels.push(channel.id());
    }
    tokio::time::sleep(Duration::from_secs(10)).await;
    let at_bob = bob.node().await;
    for id in &channels {
        let joined = tokio::time::timeout(Duration::from_secs(600), at_bob.joined(id)).await;
        joined.expect("every one of them");
    }
}
