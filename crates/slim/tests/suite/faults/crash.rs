//! Crashes: nothing is lost, and nothing repeated, whichever write was the last.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use gambeson_slim::{
    Batch, Channel, EntryKind, Error, Event, Log, MemoryStore, Node, Occurrence, Reason, Result, Role, Store,
};
use tokio::time::{sleep, timeout};

use crate::broken::{Hidden, Stopping, Tripping};
use crate::world::{Offered, Person, World, messages};

/// How many steps there are to live through.
const STEPS: usize = 11;

/// Whatever a channel's history has: position, sender, text.
async fn history(node: &Node) -> Vec<(u64, String, String)> {
    let Some(channel) = node.channels().into_iter().next() else { return Vec::new() };
    let all = channel.history(1, 10_000).await.unwrap();
    all.into_iter()
        .filter_map(|Occurrence { position, event, .. }| match event {
            Event::Message { id, bytes, .. } => {
                Some((position, id.sender, String::from_utf8(bytes.to_vec()).unwrap()))
            }
            _ => None,
        })
        .collect()
}

/// Lives through a channel until the store stops or all is done: invites, speaks, takes new keys, changes the policy, removes.
async fn live(person: &Person, friend: &Person, guest: &Person, begin: usize) -> usize {
    let Ok(node) = person.try_node().await else { return begin };
    let mut step = begin;
    let work = async {
        if node.channels().is_empty() {
            let policy = node.policy().ok()?;
            node.create(policy.sign(node.me().agent()).ok()?).await.ok()?;
        }
        let channel = node.channels().into_iter().next()?;
        channel.until(|status| status.policy.is_some()).await.ok()?;
        // Each step is done again only if the call before the crash did not say that it was done; what was said is looked up in the history.
        while step < STEPS {
            match step {
                0 => channel.invite(&[friend.did()]).await.ok()?,
                4 => channel.rotate().await.ok()?,
                8 => channel.invite(&[guest.did()]).await.ok()?,
                9 => {
                    channel.catch_up().await.ok()?;
                    let mut next = channel.status().policy?.next(person.world.now());
                    next.roles.insert(friend.did(), Role::Moderator);
                    match channel.change(next.sign(node.me().agent()).ok()?).await {
                        // What was under way before the crash came first.
                        Err(error) if error.reason() == Some(Reason::OldPolicy) => continue,
                        answer => answer.ok()?,
                    }
                }
                10 => channel.remove(&[guest.did()]).await.ok()?,
                said => {
                    let text = format!("word {said}");
                    let me = person.did().as_str().to_owned();
                    if !history(&node).await.iter().any(|(_, by, what)| *by == me && *what == text) {
                        channel.send(text).await.ok()?;
                    }
                }
            }
            step += 1;
        }
        channel.until(|status| status.unsent == 0).await.ok()?;
        channel.catch_up().await.ok()
    };
    drop(timeout(Duration::from_secs(60), work).await);
    step
}

/// `opened` opens alice's store: the first time, and again when nothing has it open any more.
async fn crash_at(writes: i64, after: bool, opened: impl Fn() -> Arc<dyn Store>) -> bool {
    let world = World::new(100);
    let mut alice = world.agent("alice");
    let (bob, carol) = (world.agent("bob"), world.agent("carol"));
    let store = Arc::new(Stopping::new(opened(), writes, after));
    alice.store = store.clone();
    let nodes = world.opened(&[bob.clone(), carol.clone()]).await;
    let at_bob = &nodes[0];
    let step = live(&alice, &bob, &carol, 0).await;
    let stopped = store.stopped();
    alice.store = Arc::new(MemoryStore::new());
    let gone = Arc::downgrade(&store);
    drop(store);
    // What was under way ends first, as with a process.
    while gone.strong_count() > 0 {
        sleep(Duration::from_millis(10)).await;
    }
    alice.store = opened();
    // A restart.
    let step = live(&alice, &bob, &carol, step).await;
    assert_eq!(step, STEPS, "after a stop at write {writes}");
    let at_alice = alice.node().await;
    let a = at_alice.channels().remove(0);
    let b = at_bob.joined(&a.id()).await;
    a.until(|status| status.unsent == 0).await.unwrap();
    b.until(|status| status.received.0 >= 6).await.unwrap();
    b.send("heard").await.unwrap();
    a.until(|status| status.received.0 >= 1).await.unwrap();
    come_together(&[&a, &b], &format!("after a stop at write {writes}")).await;
    assert_eq!(b.members(), [&alice, &bob].map(|person| person.did().as_str().to_owned()));
    assert_eq!(b.status().policy.unwrap().role(&bob.did()), Role::Moderator);
    let mut expected: BTreeMap<String, usize> =
        [1, 2, 3, 5, 6, 7].map(|n| (format!("word {n}"), 1)).into_iter().collect();
    expected.insert("heard".to_owned(), 1);
    for node in [&at_alice, at_bob] {
        let mut heard: BTreeMap<String, usize> = BTreeMap::new();
        let mut positions = Vec::new();
        for (position, _, text) in history(node).await {
            *heard.entry(text).or_default() += 1;
            positions.push(position);
        }
        assert_eq!(heard, expected, "after a stop at write {writes}");
        assert!(positions.is_sorted());
    }
    stopped
}

/// Alice's store stops at each of its writes in turn; `store` makes what opens a new one.
async fn a_crash_anywhere<S: Fn() -> Arc<dyn Store>>(store: impl Fn() -> S) {
    let mut crashes = 0;
    for after in [false, true] {
        let mut writes = 1;
        while crash_at(writes, after, store()).await {
            crashes += 1;
            writes += 1;
        }
        assert!(writes > 10, "the scenario has {writes} writes");
    }
    assert!(crashes > 20);
}

#[tokio::test(start_paused = true)]
async fn a_crash_between_any_two_writes_loses_nothing_and_repeats_nothing() {
    a_crash_anywhere(|| {
        let kept = MemoryStore::new();
        move || Arc::new(kept.clone()) as Arc<dyn Store>
    })
    .await;
}

#[cfg(feature = "redb")]
#[tokio::test(start_paused = true)]
async fn a_crash_between_any_two_writes_to_a_file_loses_nothing_and_repeats_nothing() {
    a_crash_anywhere(|| {
        let folder = tempfile::tempdir().unwrap();
        // Opened again, it has what the file has and nothing else.
        move || {
            Arc::new(gambeson_slim::FileStore::open(folder.path().join("store")).unwrap()) as Arc<dyn Store>
        }
    })
    .await;
}

/// A store that writes down each value.
#[derive(Default)]
struct Watched {
    inner: MemoryStore,
    values: Mutex<Vec<Vec<u8>>>,
}

#[async_trait]
impl Store for Watched {
    async fn row(&self, row: [u8; 16], from: u64, most: usize) -> Result<BTreeMap<u64, Vec<u8>>> {
        self.inner.row(row, from, most).await
    }

    async fn apply(&self, batch: Batch) -> Result<()> {
        self.values.lock().unwrap().extend(batch.values().flatten().cloned());
        self.inner.apply(batch).await
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_kept_names_nobody_and_has_no_word_in_it_and_no_other_agent_opens_it() {
    let world = World::new(106);
    let mut people = ["alice", "bob", "carol", "eve"].map(|name| world.agent(name));
    let stores = people.each_ref().map(|_| Arc::new(Watched::default()));
    for (person, store) in people.iter_mut().zip(&stores) {
        person.store = store.clone();
    }
    let [alice, bob, carol, eve] = &mut people;
    let nodes = world.opened(&[bob.clone(), carol.clone()]).await;
    assert_eq!(live(alice, bob, carol, 0).await, STEPS);
    nodes[0].channels()[0].until(|status| status.received.0 >= 6).await.unwrap();
    for store in &stores[..2] {
        let values = store.values.lock().unwrap();
        assert!(values.len() > 50, "{} values", values.len());
        for open in [&b"did:gambeson:"[..], b"word "] {
            assert!(!values.iter().any(|value| value.windows(open.len()).any(|part| part == open)));
        }
    }
    eve.store = alice.store.clone();
    assert!(matches!(eve.try_node().await, Err(Error::BadStore)));
    assert_eq!(history(&alice.node().await).await.len(), 6, "its own agent does");
}

/// Alice's channel, in which Bob is, whose store can be told to stop: what it has stays.
async fn alice_and_bob(
    world: &World,
    bob: &mut Person,
    after: bool,
) -> ([Node; 2], Channel, MemoryStore, Arc<Stopping>) {
    let kept = MemoryStore::new();
    let store = Arc::new(Stopping::new(Arc::new(kept.clone()), i64::MAX, after));
    bob.store = store.clone();
    let (at_alice, at_bob) = (world.agent("alice").node().await, bob.node().await);
    at_bob.offered(world).await;
    let policy = at_alice.policy().unwrap().sign(at_alice.me().agent()).unwrap();
    let a = at_alice.create(policy).await.unwrap();
    a.invite(&[bob.did()]).await.unwrap();
    at_bob.joined(&a.id()).await;
    ([at_alice, at_bob], a, kept, store)
}

/// All come to one epoch.
async fn come_together(channels: &[&Channel], when: &str) {
    let together = async {
        let first = || channels[0].status().authenticator;
        while channels.iter().any(|channel| channel.status().authenticator != first()) {
            sleep(Duration::from_millis(100)).await;
        }
    };
    timeout(Duration::from_secs(600), together).await.unwrap_or_else(|_| panic!("{when}, one stays behind"));
}

/// All come to one epoch, and hear what each says, once.
async fn all_hear_each_other(channels: &[&Channel], when: &str) {
    for channel in channels {
        channel.catch_up().await.unwrap();
    }
    come_together(channels, when).await;
    for (number, speaker) in channels.iter().enumerate() {
        let word = format!("word of {number}");
        speaker.send(word.clone()).await.unwrap();
        for channel in channels {
            while messages(channel, 1).await[0].1 != word {}
        }
    }
    for channel in channels {
        let mut said = BTreeMap::new();
        for one in channel.history(1, 10_000).await.unwrap() {
            if let Event::Message { id, bytes, .. } = one.event {
                assert!(said.insert(id, bytes).is_none(), "{when}");
            }
        }
        let words = said.into_values().filter(|bytes| bytes.starts_with(b"word of"));
        assert_eq!(words.count(), channels.len(), "{when}");
    }
}

/// Bob is invited, and hears what is said while keys and the policy change; his store stops at this write.
async fn hears_and_stops_at(writes: i64, after: bool) -> bool {
    let world = World::new(104);
    let (alice, mut bob) = (world.agent("alice"), world.agent("bob"));
    let kept = MemoryStore::new();
    let store = Arc::new(Stopping::new(Arc::new(kept.clone()), i64::MAX, after));
    bob.store = store.clone();
    let (at_alice, at_bob) = (alice.node().await, bob.node().await);
    at_bob.offered(&world).await;
    let policy = at_alice.policy().unwrap();
    let a = at_alice.create(policy.clone().sign(at_alice.me().agent()).unwrap()).await.unwrap();
    store.stop_at(writes);
    a.invite(&[bob.did()]).await.unwrap();
    let (mut next, mut words) = (policy, Vec::new());
    for round in 0..3 {
        for word in ["", " again"] {
            words.push(format!("round {round}{word}"));
            a.send(words[words.len() - 1].clone()).await.unwrap();
            sleep(Duration::from_secs(5)).await;
        }
        a.rotate().await.unwrap();
        next = next.next(world.now());
        a.change(next.clone().sign(at_alice.me().agent()).unwrap()).await.unwrap();
    }
    sleep(Duration::from_secs(60)).await;

    let stopped = store.stopped();
    drop(at_bob);
    bob.store = Arc::new(kept);
    let at_bob = bob.node().await;
    let b = at_bob.joined(&a.id()).await;
    b.until(|status| status.epoch == a.status().epoch).await.unwrap();
    b.catch_up().await.unwrap();
    let heard: Vec<String> = history(&at_bob).await.into_iter().map(|(_, _, text)| text).collect();
    assert_eq!(heard, words, "after a stop at write {writes}");
    all_hear_each_other(&[&a, &b], &format!("after a stop at write {writes}")).await;
    stopped
}

/// Bob leaves, and his store stops at this write.
async fn leaves_and_stops_at(writes: i64, after: bool) -> bool {
    let world = World::new(105);
    let mut bob = world.agent("bob");
    let ([_at_alice, at_bob], a, kept, store) = alice_and_bob(&world, &mut bob, after).await;
    let b = at_bob.joined(&a.id()).await;
    store.stop_at(writes);
    let left = timeout(Duration::from_secs(60), b.leave()).await;
    let stopped = store.stopped();
    drop((b, at_bob));
    bob.store = Arc::new(kept);
    let at_bob = bob.node().await;
    if let Some(b) = at_bob.channel(&a.id()) {
        assert!(!matches!(left, Ok(Ok(()))), "after a stop at write {writes}");
        b.leave().await.unwrap();
    }
    a.until(|status| status.members.len() == 1).await.unwrap();
    sleep(Duration::from_secs(60)).await;
    assert!(at_bob.channels().is_empty(), "after a stop at write {writes}");
    stopped
}

/// A scenario in which the store stops at each of its writes in turn, before and after it: more than so many.
async fn at_each_write(stops_at: impl AsyncFn(i64, bool) -> bool, least: i64) {
    for after in [false, true] {
        let mut writes = 1;
        while stops_at(writes, after).await {
            writes += 1;
        }
        assert!(writes > least, "the scenario has {writes} writes");
    }
}

#[tokio::test(start_paused = true)]
async fn who_is_invited_and_hears_hears_all_once_and_in_order_whichever_write_was_the_last() {
    at_each_write(hears_and_stops_at, 10).await;
}

#[tokio::test(start_paused = true)]
async fn who_leaves_is_let_go_whichever_write_was_the_last() {
    at_each_write(leaves_and_stops_at, 2).await;
}

/// Bob passes over a commit that he cannot judge; his store stops at this write, from then on. The next time he can.
async fn passes_over_and_stops_at(writes: i64, after: bool) -> bool {
    let world = World::new(101);
    let (mut bob, carol) = (world.agent("bob"), world.agent("carol"));
    let blobs = Arc::new(Hidden { inner: Arc::clone(&world.services.blobs), hidden: AtomicBool::new(false) });
    bob.world.services.blobs = blobs.clone();
    let ([_at_alice, at_bob], a, kept, store) = alice_and_bob(&world, &mut bob, after).await;
    let at_carol = carol.node().await;
    at_carol.offered(&world).await;
    blobs.hidden.store(true, Ordering::SeqCst);
    store.stop_at(writes);
    a.invite(&[carol.did()]).await.unwrap();
    let c = at_carol.joined(&a.id()).await;
    c.send("bob cannot read this").await.unwrap();
    sleep(Duration::from_secs(60)).await;
    blobs.hidden.store(false, Ordering::SeqCst);
    sleep(Duration::from_secs(60)).await;

    let stopped = store.stopped();
    drop(at_bob);
    bob.store = Arc::new(kept);
    let at_bob = bob.node().await;
    let b = at_bob.joined(&a.id()).await;
    c.rotate().await.unwrap();
    all_hear_each_other(&[&a, &b, &c], &format!("after a stop at write {writes}")).await;
    stopped
}

/// Bob is away, and comes when the log has forgotten what he missed; his store stops at this write.
async fn misses_what_is_pruned_and_stops_at(writes: i64, after: bool) -> bool {
    let world = World::new(102);
    let mut bob = world.agent("bob");
    let ([_at_alice, at_bob], a, kept, store) = alice_and_bob(&world, &mut bob, after).await;
    drop(at_bob);
    a.rotate().await.unwrap();
    sleep(Duration::from_secs(10)).await;
    let log = &world.services.log;
    let all = log.read(&a.id(), 1, 10_000).await.unwrap().records;
    let checkpoint = all.iter().rfind(|record| record.entry.kind == EntryKind::Checkpoint).unwrap();
    log.prune(&a.id(), checkpoint.place).await.unwrap();
    store.stop_at(writes);
    let at_bob = bob.try_node().await;
    sleep(Duration::from_secs(60)).await;

    let stopped = store.stopped();
    drop(at_bob);
    bob.store = Arc::new(kept);
    let at_bob = bob.node().await;
    let b = at_bob.joined(&a.id()).await;
    all_hear_each_other(&[&a, &b], &format!("after a stop at write {writes}")).await;
    stopped
}

#[tokio::test(start_paused = true)]
async fn who_passed_over_what_others_took_comes_back_whichever_write_before_a_restart_was_the_last() {
    at_each_write(passes_over_and_stops_at, 3).await;
}

#[tokio::test(start_paused = true)]
async fn who_missed_what_is_pruned_comes_back_whichever_write_before_a_restart_was_the_last() {
    at_each_write(misses_what_is_pruned_and_stops_at, 2).await;
}

/// Bob comes back from outside, and his store stops at this write, or at the first behind the log's. Also: whether the log has that he came, and
/// he does not.
async fn comes_back_and_stops_at(writes: Option<i64>, after: bool) -> (bool, bool) {
    let world = World::new(103);
    let mut bob = world.agent("bob");
    let tripping = Arc::new(Tripping { inner: Arc::clone(&world.services.log), trips: Mutex::default() });
    bob.world.services.log = Arc::clone(&tripping) as Arc<dyn Log>;
    let ([_at_alice, at_bob], a, kept, store) = alice_and_bob(&world, &mut bob, after).await;
    let (b, log) = (at_bob.joined(&a.id()).await, &world.services.log);
    let before = log.read(&a.id(), 1, 1).await.unwrap().head.commit;
    match writes {
        Some(writes) => store.stop_at(writes),
        None => *tripping.trips.lock().unwrap() = Some(Arc::clone(&store)),
    }
    let came = b.rejoin().await;
    let lost = came.is_err() && !after && log.read(&a.id(), 1, 1).await.unwrap().head.commit > before;

    let stopped = store.stopped();
    drop((b, at_bob));
    bob.store = Arc::new(kept);
    let at_bob = bob.node().await;
    let b = at_bob.joined(&a.id()).await;
    all_hear_each_other(&[&a, &b], &format!("after a stop at write {writes:?}")).await;
    (stopped, lost)
}

#[tokio::test(start_paused = true)]
async fn who_came_back_and_stopped_before_that_was_written_comes_back_once_more() {
    for after in [false, true] {
        let mut writes = 1;
        while comes_back_and_stops_at(Some(writes), after).await.0 {
            writes += 1;
        }
        let (stopped, lost) = comes_back_and_stops_at(None, after).await;
        assert_eq!((stopped, lost), (true, !after), "a stop between the log and the store");
    }
}
