//! What comes before its time: behind a commit, behind a gap, or in an epoch that never comes.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use async_trait::async_trait;
use gambeson_slim::faults::{Faults, Faulty};
use gambeson_slim::{
    Batch, Channel, ChannelId, Entry, EntryId, EntryKind, Event, Frame, Link, Log, MemoryStore, Node, Page,
    Placed, Result, Store, To, Warning,
};

use crate::broken::{Shut, Tapped, Unreachable};
use crate::world::{Offered, Person, World, messages, said};

/// A store that counts the bytes that are written.
#[derive(Default)]
struct Counted {
    inner: MemoryStore,
    bytes: AtomicUsize,
}

#[async_trait]
impl Store for Counted {
    async fn row(&self, row: [u8; 16], from: u64, most: usize) -> Result<BTreeMap<u64, Vec<u8>>> {
        self.inner.row(row, from, most).await
    }

    async fn apply(&self, batch: Batch) -> Result<()> {
        let bytes: usize = batch.values().flatten().map(Vec::len).sum();
        self.bytes.fetch_add(bytes, Ordering::SeqCst);
        self.inner.apply(batch).await
    }
}

/// A log that is read a while after it was asked.
struct Late(Arc<dyn Log>, Duration);

#[async_trait]
impl Log for Late {
    async fn append(&self, channel: &ChannelId, entry: Entry, after: u64) -> Result<Placed> {
        self.0.append(channel, entry, after).await
    }

    async fn read(&self, channel: &ChannelId, from: u64, limit: usize) -> Result<Page> {
        tokio::time::sleep(self.1).await;
        self.0.read(channel, from, limit).await
    }

    async fn prune(&self, channel: &ChannelId, before: u64) -> Result<()> {
        self.0.prune(channel, before).await
    }
}

/// Alice's channel, into which she brought bob and carol by one commit. What alice and bob say reaches the log only while it is open to
/// them, and carol only while her link is whole.
struct Three {
    people: [Person; 3],
    _nodes: Vec<Node>,
    channels: Vec<Channel>,
    logs: [Arc<Shut>; 2],
    link: Arc<Faulty>,
}

async fn three(seed: u64, set: impl Fn(&mut [Person; 3])) -> Three {
    let world = World::new(seed);
    let mut people = ["alice", "bob", "carol"].map(|name| world.agent(name));
    let shut = |_| Shut { inner: Arc::clone(&world.services.log), shut: AtomicBool::new(false) };
    let logs = [0, 1].map(shut).map(Arc::new);
    for (person, log) in people.iter_mut().zip(&logs) {
        person.world.services.log = log.clone();
    }
    set(&mut people);
    let link = Arc::new(Faulty::new(world.hub.link(), seed, Faults::NONE));
    let nodes =
        vec![people[0].node().await, people[1].node().await, people[2].node_on(link.clone()).await.unwrap()];
    for node in &nodes {
        node.offered(&world).await;
    }
    let policy = nodes[0].policy().unwrap().sign(nodes[0].me().agent()).unwrap();
    let mut channels = vec![nodes[0].create(policy).await.unwrap()];
    channels[0].invite(&[people[1].did(), people[2].did()]).await.unwrap();
    for node in &nodes[1..] {
        channels.push(node.joined(&channels[0].id()).await);
    }
    for channel in &channels {
        channel.until(|status| status.epoch == 1).await.unwrap();
    }
    Three { people, _nodes: nodes, channels, logs, link }
}

/// How many bundles a member was told it misses.
async fn missing(channel: &Channel) -> u64 {
    let all = channel.history(1, 10_000).await.unwrap().into_iter();
    all.map(|one| match one.event {
        Event::Warning(Warning::Missing { bundles, .. }) => bundles,
        _ => 0,
    })
    .sum()
}

#[tokio::test(start_paused = true)]
async fn what_was_missed_in_one_epoch_comes_before_what_was_heard_in_the_next() {
    // Of who was there before her, of who came with her, and of both after she came back.
    for (speaker, returns) in [(0, false), (1, false), (0, true), (1, true)] {
        let Three { people, _nodes, channels, logs, link } = three(51 + speaker as u64, |_| {}).await;
        let (speaking, other, carol) = (&channels[speaker], &channels[1 - speaker], &channels[2]);
        if returns {
            speaking.send("zero").await.unwrap();
            assert_eq!(messages(carol, 1).await[0].1, "zero");
            speaking.until(|status| status.unsent == 0).await.unwrap();
            carol.rejoin().await.unwrap();
        }
        let epoch = carol.status().epoch;
        speaking.until(|status| status.epoch == epoch).await.unwrap();
        logs[speaker].shut.store(true, Ordering::SeqCst);
        link.cut(true);
        speaking.send("one").await.unwrap();
        tokio::time::sleep(Duration::from_secs(1)).await;
        link.cut(false);
        other.rotate().await.unwrap();
        for channel in &channels {
            channel.until(|status| status.epoch == epoch + 1).await.unwrap();
        }
        speaking.send("two").await.unwrap();
        tokio::time::sleep(Duration::from_secs(5)).await;
        logs[speaker].shut.store(false, Ordering::SeqCst);
        let heard = messages(carol, 2).await;
        assert_eq!(heard, ["one", "two"].map(|word| said(&people[speaker], word)), "{speaker} {returns}");
        assert_eq!((missing(carol).await, carol.status().held), (0, 0));
    }
}

#[tokio::test(start_paused = true)]
async fn of_who_was_there_before_all_that_is_said_after_a_commit_is_heard_as_soon_as_the_log_has_it() {
    let Three { _nodes, channels, .. } = three(55, |_| {}).await;
    channels[1].rotate().await.unwrap();
    for channel in &channels {
        channel.until(|status| status.epoch == 2).await.unwrap();
    }
    for word in ["one", "two", "three"] {
        channels[0].send(word).await.unwrap();
    }
    let heard = tokio::time::timeout(Duration::from_secs(2), messages(&channels[2], 3)).await.unwrap();
    assert_eq!(heard.into_iter().map(|(_, word)| word).collect::<Vec<_>>(), ["one", "two", "three"]);
    assert_eq!((missing(&channels[2]).await, channels[2].status().held), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn for_what_its_sender_never_puts_into_the_log_nobody_waits_for_ever() {
    let Three { people, _nodes, channels, logs, link } = three(56, |_| {}).await;
    let carol = &channels[2];
    logs[1].shut.store(true, Ordering::SeqCst);
    link.cut(true);
    channels[1].send("one").await.unwrap();
    tokio::time::sleep(Duration::from_secs(1)).await;
    link.cut(false);
    for word in ["two", "three"] {
        channels[1].send(word).await.unwrap();
    }
    carol.until(|status| status.held == 2).await.unwrap();
    // So long it may still come.
    tokio::time::sleep(Duration::from_secs(200)).await;
    assert_eq!((carol.status().held, missing(carol).await), (2, 0));
    let heard = messages(carol, 2).await;
    assert_eq!(heard, ["two", "three"].map(|word| said(&people[1], word)));
    assert_eq!((carol.status().held, missing(carol).await), (0, 1));
}

/// Alice speaks for longer than MLS would pass over keys of bob's, if he gave a receipt for each word.
async fn spoken(alice: &Channel) -> Vec<String> {
    let words: Vec<String> = (0..1_400).map(|number| number.to_string()).collect();
    for word in &words {
        alice.send(word.clone()).await.unwrap();
        tokio::time::sleep(Duration::from_millis(1_100)).await;
    }
    words
}

/// The next messages, by their sender.
async fn by_sender(channel: &Channel, count: usize) -> BTreeMap<String, Vec<String>> {
    let mut all: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for (by, word) in messages(channel, count).await {
        all.entry(by).or_default().push(word);
    }
    all
}

#[tokio::test(start_paused = true)]
async fn however_much_is_heard_by_the_link_while_the_log_takes_no_message_none_is_lost() {
    let Three { people, _nodes, channels, logs, link } = three(59, |_| {}).await;
    let [alice, bob, carol] = &channels[..] else { panic!("they are three") };
    logs.iter().for_each(|log| log.shut.store(true, Ordering::SeqCst));
    link.cut(true);
    bob.send("one").await.unwrap();
    let words = spoken(alice).await;
    bob.send("two").await.unwrap();
    logs.iter().for_each(|log| log.shut.store(false, Ordering::SeqCst));
    link.cut(false);
    let mut heard = by_sender(carol, words.len() + 2).await;
    assert_eq!(heard.remove(people[1].did().as_str()).unwrap(), ["one", "two"]);
    assert_eq!(heard.remove(people[0].did().as_str()).unwrap(), words);
    assert_eq!((missing(carol).await, carol.status().held), (0, 0));
    alice.until(|status| status.members.iter().all(|member| member.behind == 0)).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn however_many_receipts_a_member_gives_that_the_log_does_not_take_it_is_heard_afterwards() {
    let away = OnceLock::new();
    let Three { people, _nodes, channels, link, .. } = three(60, |people| {
        let services = &mut people[1].world.services;
        services.log = away.get_or_init(|| Unreachable::over(services)).clone();
    })
    .await;
    let [alice, bob, carol] = &channels[..] else { panic!("they are three") };
    let away = away.get().unwrap();
    away.cut.store(true, Ordering::SeqCst);
    link.cut(true);
    let words = spoken(alice).await;
    bob.send("one").await.unwrap();
    away.cut.store(false, Ordering::SeqCst);
    link.cut(false);
    let mut heard = by_sender(carol, words.len() + 1).await;
    assert_eq!(heard.remove(people[1].did().as_str()).unwrap(), ["one"]);
    assert_eq!((missing(carol).await, carol.status().held), (0, 0));
    alice.until(|status| status.members.iter().all(|member| member.behind == 0)).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn who_was_away_while_the_log_forgot_more_of_a_sender_than_mls_passes_over_hears_him_again() {
    let three = three(61, |people| people[1].options.checkpoint_entries = 1_050).await;
    let Three { people, _nodes: mut nodes, mut channels, .. } = three;
    channels[0].send("zero").await.unwrap();
    assert_eq!(messages(&channels[2], 1).await, [said(&people[0], "zero")]);
    drop((nodes.pop(), channels.pop()));
    let (alice, log, id) = (&channels[0], &people[0].world.services.log, channels[0].id());
    for number in 0..1_100 {
        alice.send(number.to_string()).await.unwrap();
    }
    alice.until(|status| status.unsent == 0).await.unwrap();
    tokio::time::sleep(Duration::from_secs(30)).await;
    let mut before = 0;
    for from in (1..1_200).step_by(100) {
        let page = log.read(&id, from, 100).await.unwrap().records.into_iter();
        let checkpoints = page.filter(|record| record.entry.kind == EntryKind::Checkpoint);
        before = before.max(checkpoints.map(|record| record.place).max().unwrap_or_default());
    }
    assert!(before > 1_050, "a checkpoint at {before}");
    log.prune(&id, before).await.unwrap();
    let at_carol = people[2].node().await;
    let carol = at_carol.joined(&id).await;
    alice.send("first").await.unwrap();
    tokio::time::sleep(Duration::from_secs(60)).await;
    alice.send("then").await.unwrap();
    assert_eq!(messages(&carol, 2).await, ["zero", "then"].map(|word| said(&people[0], word)));
}

#[tokio::test(start_paused = true)]
async fn a_bundle_that_waits_is_written_once_however_many_wait_with_it() {
    let store = Arc::new(Counted::default());
    let Three { _nodes, channels, logs, link, .. } =
        three(57, |people| people[2].store = store.clone()).await;
    logs[1].shut.store(true, Ordering::SeqCst);
    link.cut(true);
    channels[1].send("the first").await.unwrap();
    tokio::time::sleep(Duration::from_secs(1)).await;
    link.cut(false);
    let mut written = Vec::new();
    for held in 1..=120 {
        let before = store.bytes.load(Ordering::SeqCst);
        channels[1].send(vec![b'x'; 1_000]).await.unwrap();
        channels[2].until(|status| status.held == held).await.unwrap();
        written.push(store.bytes.load(Ordering::SeqCst) - before);
    }
    // The state of MLS is written now and then, too: the middle of all tells.
    written.sort_unstable();
    assert!(written[60] < 2_000, "{} bytes for one of 1,000", written[60]);
}

#[tokio::test(start_paused = true)]
async fn frames_of_epochs_that_never_come_take_no_room_for_ever() {
    let world = World::new(58);
    let (mut alice, mut carol) = (world.agent("alice"), world.agent("carol"));
    let log = Arc::new(Shut { inner: Arc::clone(&world.services.log), shut: AtomicBool::new(false) });
    alice.world.services.log = log.clone();
    // Carol hears of the next epoch by the link before she reads of it.
    carol.world.services.log = Arc::new(Late(Arc::clone(&world.services.log), Duration::from_secs(1)));
    let tap = Arc::new(Tapped::new(world.hub.link()));
    let (at_alice, at_carol) = (alice.node_on(tap.clone()).await.unwrap(), carol.node().await);
    at_carol.offered(&world).await;
    let policy = at_alice.policy().unwrap().sign(at_alice.me().agent()).unwrap();
    let a = at_alice.create(policy).await.unwrap();
    a.invite(&[carol.did()]).await.unwrap();
    let c = at_carol.joined(&a.id()).await;
    a.send("one").await.unwrap();
    assert_eq!(messages(&c, 1).await[0].1, "one");

    let sent = tap.sent.lock().unwrap().clone();
    let entry = sent.iter().rev().find_map(|(name, frame)| match Frame::parse(frame) {
        Ok(Frame::Entry { kind: EntryKind::Application, content, .. }) => Some((name.clone(), content)),
        _ => None,
    });
    let (name, content) = entry.unwrap();
    // A version, the head of an MLS message, the channel's id behind its length, the epoch.
    let at = 1 + 4 + 1 + 32;
    assert_eq!(content[at..at + 8], 1u64.to_be_bytes());
    let stranger = world.hub.link();
    for number in 0..1_500u64 {
        let epoch = if number % 2 == 0 { u64::MAX } else { 2 + number % 10 };
        let mut forged = content.to_vec();
        forged[at..at + 8].copy_from_slice(&epoch.to_be_bytes());
        let mut id = [7; 16];
        id[..8].copy_from_slice(&number.to_be_bytes());
        let frame = Frame::Entry { id: EntryId(id), kind: EntryKind::Application, content: forged.into() };
        stranger.publish(&name, To::All, frame.to_bytes().unwrap()).await.unwrap();
    }
    tokio::time::sleep(Duration::from_secs(60)).await;
    log.shut.store(true, Ordering::SeqCst);
    a.rotate().await.unwrap();
    a.send("two").await.unwrap();
    c.until(|status| status.epoch == 2).await.unwrap();
    assert_eq!(messages(&c, 1).await, [said(&alice, "two")]);
    assert!(a.status().unsent > 0, "the log has it too, and nothing is shown");
}
