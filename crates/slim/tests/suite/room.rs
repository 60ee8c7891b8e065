//! Channels that are busier than their log is large.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::world::packed::Packed;
use crate::world::{Offered, World, messages};
use gambeson_slim::engine::Limits;
use gambeson_slim::memory::MemoryService;
use gambeson_slim::{
    Channel, ChannelId, Entry, EntryId, EntryKind, Error, Event, Log, Options, Quota, Services, Warning,
};
use tokio::time::{Instant, timeout};

/// What is left to a channel: so many entries.
const FEW: Limits = Limits { channels: 100, entries: 120, bytes: 1 << 24, dids: 100, store: 1 << 28 };
/// Of bytes.
const NARROW: Limits = Limits { entries: 1_000_000, bytes: 600_000, ..FEW };

/// A world whose delivery service has few entries for each channel.
fn narrow(seed: u64) -> World {
    World::with(seed, Services::of(Arc::new(MemoryService::with(FEW))))
}

/// Says so many things, each after the one before is in the log.
async fn say(channel: &Channel, count: usize) {
    for number in 0..count {
        channel.send(format!("{number}")).await.unwrap();
        let unsent = timeout(Duration::from_secs(600), channel.until(|status| status.unsent == 0));
        unsent.await.unwrap_or_else(|_| panic!("number {number} finds no room")).unwrap();
    }
}

/// Alice, Bob and Carol talk for several times what their log can hold. Carol is away, and comes back.
async fn talks_on(world: World, set: impl Fn(&mut Options)) {
    let (mut alice, mut bob, mut carol) = (world.agent("alice"), world.agent("bob"), world.agent("carol"));
    for person in [&mut alice, &mut bob, &mut carol] {
        set(&mut person.options);
    }
    let (at_alice, at_bob, at_carol) = (alice.node().await, bob.node().await, carol.node().await);
    for node in [&at_bob, &at_carol] {
        node.offered(&world).await;
    }
    let a = at_alice.create(at_alice.policy().unwrap().sign(at_alice.me().agent()).unwrap()).await.unwrap();
    a.invite(&[bob.did(), carol.did()]).await.unwrap();
    let b = at_bob.joined(&a.id()).await;
    at_carol.joined(&a.id()).await.until(|status| status.epoch == 1).await.unwrap();
    drop(at_carol);

    say(&a, 300).await;
    timeout(Duration::from_secs(600), a.rotate()).await.unwrap().unwrap();
    say(&b, 300).await;
    let both = async { (messages(&a, 600).await, messages(&b, 600).await) };
    let (of_a, of_b) = timeout(Duration::from_secs(600), both).await.unwrap();
    assert!(of_a.iter().all(|said| of_b.contains(said)), "both have heard everything");
    timeout(Duration::from_secs(600), b.rotate()).await.unwrap().unwrap();
    let head = world.services.log.read(&a.id(), 1, 1).await.unwrap().head;
    assert!(head.last > 600 && head.first > 300, "{head:?}");

    let at_carol = carol.node().await;
    let c = at_carol.joined(&a.id()).await;
    let back = c.until(|status| status.epoch == 4);
    timeout(Duration::from_secs(600), back).await.unwrap().unwrap();
    c.send("back").await.unwrap();
    assert_eq!(messages(&a, 1).await[0].1, "back");
    let told = c.history(1, 1_000).await.unwrap();
    assert!(told.iter().any(|one| matches!(one.event, Event::Warning(Warning::Pruned { .. }))));
}

#[tokio::test(start_paused = true)]
async fn a_channel_goes_on_for_ever_in_a_log_of_few_entries_and_who_was_away_comes_back() {
    talks_on(narrow(71), |_| {}).await;
}

#[tokio::test(start_paused = true)]
async fn a_channel_goes_on_for_ever_in_a_log_of_few_bytes() {
    let services = Services::of(Arc::new(MemoryService::with(NARROW)));
    talks_on(World::with(72, services), |_| {}).await;
}

#[cfg(feature = "redb")]
#[tokio::test(start_paused = true)]
async fn a_channel_goes_on_for_ever_in_a_file_of_small_limits() {
    use gambeson_slim::engine::{File, Retention};
    for (seed, limits) in [(73, FEW), (74, NARROW)] {
        let directory = tempfile::tempdir().unwrap();
        let file = File::open(directory.path().join("service"), limits, Retention::default()).unwrap();
        talks_on(World::with(seed, Services::of(Arc::new(crate::world::held::Held::new(file)))), |_| {})
            .await;
    }
}

#[tokio::test(start_paused = true)]
async fn members_make_a_checkpoint_in_good_time_and_not_all_of_them() {
    for by_bytes in [false, true] {
        let mut world = narrow(75);
        let log = Packed::over(&world.services.log);
        world.services.log = Arc::clone(&log) as Arc<dyn Log>;
        let set = |options: &mut Options| match by_bytes {
            true => options.checkpoint_bytes = 200_000,
            false => options.checkpoint_entries = 40,
        };
        let (_nodes, channels) = world.channel(4, set).await;
        for number in 0..400 {
            channels[number % 4].send("a word").await.unwrap();
            tokio::time::sleep(Duration::from_millis(300)).await;
        }
        let head = world.services.log.read(&channels[0].id(), 1, 1).await.unwrap().head;
        assert_eq!(log.refused.load(Ordering::SeqCst), 0, "there was room");
        let made = log.checkpoints.load(Ordering::SeqCst) as u64;
        assert!(head.first > 300, "{head:?}, {made} checkpoints");
        assert!(made <= head.last / 30, "{made} checkpoints of {} entries", head.last);
    }
}

#[tokio::test(start_paused = true)]
async fn another_makes_the_checkpoint_where_who_made_the_newest_commit_is_gone() {
    let mut world = narrow(76);
    let log = Packed::over(&world.services.log);
    world.services.log = Arc::clone(&log) as Arc<dyn Log>;
    let (mut nodes, channels) = world.channel(3, |options| options.checkpoint_entries = 40).await;
    tokio::time::sleep(Duration::from_secs(10)).await;
    let before = log.checkpoints.load(Ordering::SeqCst);
    drop(nodes.remove(0));
    for _ in 0..100 {
        channels[1].send("a word").await.unwrap();
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    assert!(log.checkpoints.load(Ordering::SeqCst) > before);
    assert_eq!(log.refused.load(Ordering::SeqCst), 0);
}

#[tokio::test(start_paused = true)]
async fn an_inbox_that_strangers_have_filled_keeps_no_commit_back() {
    let world = narrow(90);
    let (alice, bob) = (world.agent("alice"), world.agent("bob"));
    let at = world.opened(&[alice]).await;
    let at_bob = bob.node().await;
    at_bob.offered(&world).await;
    drop(at_bob);
    let inbox = ChannelId(blake3::derive_key("gambeson inbox log v1", bob.did().as_str().as_bytes()));
    let mut full = false;
    for number in 0..=u8::MAX {
        let (id, kind) = (EntryId([number; 16]), EntryKind::Application);
        let entry = Entry { id, kind, content: "nothing".into() };
        full = matches!(world.services.log.append(&inbox, entry, 0).await, Err(Error::Full(_)));
        if full {
            break;
        }
    }
    assert!(full, "the inbox takes more");
    let a = at[0].create(at[0].policy().unwrap().sign(at[0].me().agent()).unwrap()).await.unwrap();
    a.invite(&[bob.did()]).await.unwrap();
    for epoch in 2..6 {
        timeout(Duration::from_secs(600), a.rotate()).await.expect("in time").unwrap();
        assert_eq!(a.status().epoch, epoch);
    }
}

#[tokio::test(start_paused = true)]
async fn who_asks_for_a_commit_is_told_of_a_lack_of_room_that_lasts_and_later_asks_again() {
    let mut world = World::with(77, Services::of(Arc::new(MemoryService::new())));
    let log = Packed::over(&world.services.log);
    world.services.log = Arc::clone(&log) as Arc<dyn Log>;
    let (nodes, channels) = world.channel(3, |_| {}).await;
    let (a, dave) = (&channels[0], world.agent("dave"));
    let at_dave = dave.node().await;
    at_dave.offered(&world).await;
    log.packed.store(true, Ordering::SeqCst);
    a.send("kept until there is room").await.unwrap();
    let begun = Instant::now();
    let third = nodes[2].me().did().clone();
    let (dids, gone) = ([dave.did()], [third]);
    let all = async { tokio::join!(a.rotate(), a.invite(&dids), a.remove(&gone), channels[1].rotate()) };
    let (rotated, invited, removed, beside) =
        timeout(Duration::from_secs(60), all).await.expect("who asked is told");
    for told in [rotated, invited, removed, beside] {
        assert!(matches!(told, Err(Error::Full(Quota::Store))), "{told:?}");
    }
    assert!(begun.elapsed() > Duration::from_secs(5), "a lack that passes is waited for");
    tokio::time::sleep(Duration::from_secs(3_600)).await;
    let tries = log.refused.load(Ordering::SeqCst);
    assert!(tries < 1_000, "{tries} tries in an hour");

    log.packed.store(false, Ordering::SeqCst);
    let all = async { tokio::join!(a.rotate(), a.invite(&dids)) };
    let (rotated, invited) = timeout(Duration::from_secs(120), all).await.unwrap();
    rotated.and(invited).unwrap();
    assert_eq!(messages(&channels[1], 1).await[0].1, "kept until there is room");
    at_dave.joined(&a.id()).await;
}
