//! Logs: contended, pruned, written into by others, and of two minds.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use gambeson_identity::Did;
use gambeson_slim::faults::{Faults, Faulty};
use gambeson_slim::{
    Channel, Entry, EntryId, EntryKind, Error, Event, Fork, KeyPackages, Log, MessageId, Node, Options,
    Placed, Policy, Role, Services, Warning,
};

use crate::broken::{Hidden, Outrun, Shut, Side, Trouble, Troubled, TwoHeads};
use crate::world::{Offered, Person, World, messages, said};

#[tokio::test(start_paused = true)]
async fn of_many_committers_at_once_one_wins_and_the_others_commit_again() {
    let world = World::new(21);
    let (_nodes, channels) = world.channel(6, |_| {}).await;
    let before = channels[0].status().epoch;
    let all = channels.iter().map(|channel| {
        let channel = channel.clone();
        tokio::spawn(async move { channel.rotate().await })
    });
    for one in all.collect::<Vec<_>>() {
        one.await.unwrap().unwrap();
    }
    for channel in &channels {
        channel.until(|status| status.epoch == before + 6).await.unwrap();
        assert_eq!(channel.status().authenticator, channels[0].status().authenticator);
    }
    let lost: u64 = channels.iter().map(|channel| channel.status().commits.1).sum();
    assert!(lost > 0, "nobody was in anybody's way");
}

#[tokio::test(start_paused = true)]
async fn who_was_away_beyond_pruning_comes_back_from_the_checkpoint() {
    let world = World::new(22);
    let (alice, bob, carol) = (world.agent("alice"), world.agent("bob"), world.agent("carol"));
    let (mut at, mut channels) = (Vec::new(), Vec::new());
    for person in [&alice, &bob, &carol] {
        let node = person.node().await;
        node.offered(&world).await;
        at.push(node);
    }
    let policy = at[0].policy().unwrap().sign(at[0].me().agent()).unwrap();
    channels.push(at[0].create(policy).await.unwrap());
    channels[0].invite(&[bob.did(), carol.did()]).await.unwrap();
    for node in &at[1..] {
        channels.push(node.joined(&channels[0].id()).await);
    }
    channels[2].until(|status| status.epoch == 1).await.unwrap();
    drop(at.pop());
    channels.pop();
    for _ in 0..5 {
        channels[1].rotate().await.unwrap();
        channels[0].send("while carol is away").await.unwrap();
    }
    // The checkpoint, then the log forgets everything before it.
    tokio::time::sleep(Duration::from_secs(10)).await;
    let id = channels[0].id();
    let all = world.services.log.read(&id, 1, 10_000).await.unwrap().records;
    let checkpoint = all.iter().rfind(|record| record.entry.kind == EntryKind::Checkpoint).unwrap();
    world.services.log.prune(&id, checkpoint.place).await.unwrap();

    let at_carol = carol.node().await;
    let c = at_carol.joined(&id).await;
    c.until(|status| status.epoch == 7).await.unwrap();
    channels[0].until(|status| status.epoch == 7).await.unwrap();
    c.send("back").await.unwrap();
    let heard = messages(&channels[0], 6).await;
    assert_eq!(heard.last().unwrap().1, "back");
    assert_eq!(c.status().authenticator, channels[0].status().authenticator);
    let told = c.history(1, 100).await.unwrap();
    assert!(told.iter().any(|one| matches!(one.event, Event::Warning(Warning::Pruned { .. }))));
}

#[tokio::test(start_paused = true)]
async fn who_is_in_the_second_channel_of_a_service_missed_nothing_in_it() {
    let world = World::new(20);
    let (_nodes, channels) = world.channel(2, |_| {}).await;
    channels[0].send("in the first").await.unwrap();
    messages(&channels[1], 1).await;
    let people = ["alice", "bob", "carol"].map(|name| world.agent(name));
    let at = world.opened(&people).await;
    let policy = at[0].policy().unwrap().sign(at[0].me().agent()).unwrap();
    let a = at[0].create(policy).await.unwrap();
    a.invite(&[people[1].did()]).await.unwrap();
    let b = at[1].joined(&a.id()).await;
    channels[1].send("in the first").await.unwrap();
    b.send("in the second").await.unwrap();
    a.invite(&[people[2].did()]).await.unwrap();
    let c = at[2].joined(&a.id()).await;
    a.send("to all").await.unwrap();
    messages(&c, 1).await;
    for channel in [&a, &b, &c] {
        channel.catch_up().await.unwrap();
        let told = channel.history(1, 100).await.unwrap();
        let pruned = told.iter().find(|one| matches!(one.event, Event::Warning(Warning::Pruned { .. })));
        assert_eq!(pruned.map(|one| &one.event), None);
    }
}

#[tokio::test(start_paused = true)]
async fn a_commit_that_is_none_is_passed_over_by_all_and_the_next_follows_it() {
    let world = World::new(23);
    let (_nodes, channels) = world.channel(3, |_| {}).await;
    let (id, after) = (channels[0].id(), channels[0].status().commit);
    for (number, content) in [&b""[..], b"\x01\x00rubbish", &[1; 60_000]].into_iter().enumerate() {
        let head = world.services.log.read(&id, 1, 1).await.unwrap().head;
        assert!(head.commit >= after);
        let entry = Entry {
            id: EntryId([number as u8 + 1; 16]),
            kind: EntryKind::Commit,
            content: bytes::Bytes::copy_from_slice(content),
        };
        let placed = world.services.log.append(&id, entry, head.commit).await.unwrap();
        assert!(matches!(placed, Placed::At(_)));
    }
    channels[1].rotate().await.unwrap();
    for channel in &channels {
        channel.until(|status| status.epoch == 2).await.unwrap();
        assert_eq!(channel.status().authenticator, channels[0].status().authenticator);
    }
}

#[tokio::test(start_paused = true)]
async fn an_insider_that_breaks_the_policy_is_refused_by_itself_and_changes_nothing() {
    let world = World::new(24);
    let (nodes, channels) = world.channel(3, |_| {}).await;
    let carol = nodes[2].me().did().clone();
    let refused = channels[1].remove(&[carol]).await.unwrap_err();
    assert_eq!(refused.reason().unwrap().code(), "not-permitted");
    let mut policy = world.policy_of(&channels[0]).await.next(world.now());
    policy.others = Role::Listener;
    let signed = policy.sign(nodes[1].me().agent()).unwrap();
    assert!(channels[1].change(signed).await.is_err());
    assert_eq!(channels[0].status().epoch, 1);
    channels[1].send("still a member").await.unwrap();
    assert_eq!(messages(&channels[2], 1).await.len(), 1);
}

/// A log that is of two minds from now on, and a channel in which the first member reads one side of it and all others the other.
async fn split(
    seed: u64,
    names: &[&str],
    set: impl Fn(&mut Options),
) -> (Arc<TwoHeads>, Vec<Person>, Vec<Node>, Vec<Channel>) {
    let world = World::new(seed);
    let two = TwoHeads::new();
    let common = crate::services();
    let mut people: Vec<Person> = names.iter().map(|name| world.agent(name)).collect();
    let mut at = Vec::new();
    for (number, person) in people.iter_mut().enumerate() {
        let log = Arc::new(Side(two.clone(), number > 0));
        person.world.services = Services { log, ..common.clone() };
        set(&mut person.options);
        let node = person.node().await;
        while common.keys.left(person.did().as_str()).await.unwrap() == 0 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        at.push(node);
    }
    let policy = at[0].policy().unwrap().sign(at[0].me().agent()).unwrap();
    let mut channels = vec![at[0].create(policy).await.unwrap()];
    let others: Vec<_> = people[1..].iter().map(Person::did).collect();
    channels[0].invite(&others).await.unwrap();
    for node in &at[1..] {
        channels.push(node.joined(&channels[0].id()).await);
    }
    channels[1].send("one channel").await.unwrap();
    assert_eq!(messages(&channels[0], 1).await.len(), 1);
    two.split.store(true, Ordering::SeqCst);
    (two, people, at, channels)
}

/// What a member is told of the fork that it finds.
async fn fork(channel: &Channel) -> Fork {
    let found = async {
        loop {
            if let Event::Fork(fork) = channel.next().await.unwrap().event {
                return fork;
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(600), found).await.expect("a fork is found")
}

/// Two members that have found out that each reads another log.
async fn forked(seed: u64) -> (Arc<TwoHeads>, Vec<Person>, Vec<Node>, Vec<Channel>) {
    let (two, people, at, channels) = split(seed, &["alice", "bob"], |_| {}).await;
    // Each side takes its own commit for the only one.
    for channel in &channels {
        channel.rotate().await.unwrap();
    }
    channels[0].send("a word from one side").await.unwrap();
    // Who has heard the first word already knows.
    drop(channels[1].send("a word from the other").await);
    let mut found = Vec::new();
    for (channel, other) in channels.iter().zip([&people[1], &people[0]]) {
        let fork = fork(channel).await;
        assert_eq!(fork.by.as_deref(), Some(other.did().as_str()));
        assert_ne!(fork.ours, fork.theirs);
        assert!(channel.send("no more").await.is_err());
        assert!(channel.status().forked);
        assert_eq!(fork.ours, channel.status().authenticator);
        found.push(fork);
    }
    // Each has the other's side as the other has it.
    let sides = |fork: &Fork| (fork.epoch, fork.ours, fork.theirs);
    assert_eq!(sides(&found[0]), (found[1].epoch, found[1].theirs, found[1].ours));
    (two, people, at, channels)
}

#[tokio::test(start_paused = true)]
async fn a_log_with_two_heads_is_found_and_both_sides_are_told() {
    forked(25).await;
}

#[tokio::test(start_paused = true)]
async fn when_the_log_is_one_again_who_was_on_the_other_side_comes_back_and_nobody_else_has_to() {
    let (two, people, _at, channels) = forked(30).await;
    let (a, b) = (&channels[0], &channels[1]);
    let epoch = a.status().epoch;
    two.healed.store(true, Ordering::SeqCst);
    b.rejoin().await.unwrap();
    a.until(|status| !status.forked).await.unwrap();
    assert_eq!((a.status().epoch, b.status().epoch), (epoch + 1, epoch + 1));
    assert_eq!(a.status().authenticator, b.status().authenticator);
    a.send("one again").await.unwrap();
    while messages(b, 1).await[0] != said(&people[0], "one again") {}
    b.send("so it is").await.unwrap();
    while messages(a, 1).await[0] != said(&people[1], "so it is") {}
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert!(!a.status().forked && !b.status().forked);
}

#[tokio::test(start_paused = true)]
async fn who_is_on_the_side_of_the_log_stays_there_when_it_decides_and_hears_no_more_of_what_was_before() {
    let (two, people, _at, channels) = forked(31).await;
    let (a, b) = (&channels[0], &channels[1]);
    two.healed.store(true, Ordering::SeqCst);
    let before = a.status();
    a.rejoin().await.unwrap();
    let after = a.status();
    assert_eq!((after.forked, after.epoch, after.authenticator), (false, before.epoch, before.authenticator));
    // The other shows again and again what it saw.
    for _ in 0..4 {
        a.send("on the log's side").await.unwrap();
        tokio::time::sleep(Duration::from_secs(20)).await;
    }
    assert!(!a.status().forked && b.status().forked);
    assert!(matches!(b.catch_up().await, Err(Error::Forked)), "its log is another one");
    assert!(matches!(b.remove(&[people[0].did()]).await, Err(Error::Forked)));
    b.rejoin().await.unwrap();
    a.until(|status| status.epoch == before.epoch + 1).await.unwrap();
    assert_eq!(a.status().authenticator, b.status().authenticator);
    assert!(!b.status().forked);
}

#[tokio::test(start_paused = true)]
async fn a_log_that_forks_at_a_removal_is_found_by_both_sides_whichever_of_them_speaks() {
    for speaker in [1, 0] {
        let set = |options: &mut Options| options.silence = Duration::from_secs(5);
        let (_two, people, _at, channels) = split(32, &["alice", "bob", "carol"], set).await;
        channels[0].remove(&[people[2].did()]).await.unwrap();
        channels[1].rotate().await.unwrap();
        channels[2].until(|status| status.epoch == 2).await.unwrap();
        channels[speaker].send("who hears this?").await.unwrap();
        for channel in &channels[..2] {
            let fork = fork(channel).await;
            assert_eq!(fork.epoch, 2);
            assert_ne!(fork.ours, fork.theirs);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_key_package_that_is_given_out_twice_lets_an_agent_into_one_channel_and_the_last_resort_into_more()
{
    let world = World::new(26);
    let (alice, bob) = (world.agent("alice"), world.agent("bob"));
    let (at_alice, at_bob) = (alice.node().await, bob.node().await);
    at_bob.offered(&world).await;
    let did = bob.did().as_str().to_owned();
    // A dishonest store gives one again and again that is for once, and then the one of last resort.
    let mut all = Vec::new();
    for _ in 0..=Options::default().key_packages {
        all.push(world.services.keys.take(&did).await.unwrap().unwrap());
    }
    let again = crate::services().keys;
    let only = |package: &bytes::Bytes| {
        let packages = KeyPackages { once: Vec::new(), last_resort: Some(package.clone()) };
        again.publish(&did, packages)
    };
    only(&all[0]).await.unwrap();
    let mut services = world.services.clone();
    services.keys = again.clone();
    let mut dishonest = alice.clone();
    dishonest.world.services = services;
    dishonest.store = Arc::new(gambeson_slim::MemoryStore::new());
    drop(at_alice);
    let at_alice = dishonest.node().await;
    let mut ids = Vec::new();
    for _ in 0..2 {
        let policy = at_alice.policy().unwrap().sign(at_alice.me().agent()).unwrap();
        let channel = at_alice.create(policy).await.unwrap();
        channel.invite(&[bob.did()]).await.unwrap();
        ids.push(channel.id());
    }
    at_bob.joined(&ids[0]).await;
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert!(at_bob.channel(&ids[1]).is_none());
    assert!(at_bob.reports().iter().any(|(_, what)| what.contains("unknown-key-package")));
    only(&all[Options::default().key_packages]).await.unwrap();
    for word in ["one", "two"] {
        let policy = at_alice.policy().unwrap().sign(at_alice.me().agent()).unwrap();
        let channel = at_alice.create(policy).await.unwrap();
        channel.invite(&[bob.did()]).await.unwrap();
        at_bob.joined(&channel.id()).await.send(word).await.unwrap();
        assert_eq!(messages(&channel, 1).await, [said(&bob, word)]);
    }
}

/// Alice, Bob and Carol in a channel, and Dave, whom Alice alone takes for a member: in the others' month his key package is not good yet.
async fn alone_with_dave(seed: u64) -> ([Person; 4], Vec<Node>, [Channel; 3]) {
    let world = World::new(seed);
    let mut people = ["alice", "bob", "carol", "dave"].map(|name| world.agent(name));
    (people[0].skew, people[3].skew) = (30 * 86_400, 30 * 86_400);
    let at = world.opened(&people).await;
    let policy = Policy { issued: world.now(), ..at[0].policy().unwrap() };
    let a = at[0].create(policy.sign(at[0].me().agent()).unwrap()).await.unwrap();
    a.invite(&[people[1].did(), people[2].did()]).await.unwrap();
    let (b, c) = (at[1].joined(&a.id()).await, at[2].joined(&a.id()).await);
    a.invite(&[people[3].did()]).await.unwrap();
    (people, at, [a, b, c])
}

#[tokio::test(start_paused = true)]
async fn a_commit_that_its_maker_alone_takes_is_refused_by_all_others_with_its_reason_and_the_next_follows_it()
 {
    let (people, _at, [_a, b, c]) = alone_with_dave(28).await;
    b.rotate().await.unwrap();
    c.until(|status| status.epoch == 2).await.unwrap();
    assert_eq!(b.status().authenticator, c.status().authenticator);
    assert_eq!((b.members().len(), c.members().len()), (3, 3));
    for channel in [&b, &c] {
        let happened = channel.history(1, 100).await.unwrap();
        let refused = happened.iter().filter_map(|one| match &one.event {
            Event::Warning(Warning::Refused { reason, .. }) => Some(reason.as_str()),
            _ => None,
        });
        let refused: Vec<&str> = refused.collect();
        assert!(refused.len() == 1 && refused[0].contains("expired-key-package"), "{refused:?}");
    }
    c.send("we go on").await.unwrap();
    assert_eq!(messages(&b, 1).await, [said(&people[2], "we go on")]);
}

#[tokio::test(start_paused = true)]
async fn what_was_refused_by_the_rules_is_not_followed_though_its_maker_goes_on_and_writes_checkpoints() {
    let (people, _at, [a, b, c]) = alone_with_dave(38).await;
    a.until(|status| status.epoch == 2).await.unwrap();
    a.send("are you there?").await.unwrap();
    tokio::time::sleep(Duration::from_secs(3_600)).await;
    for channel in [&b, &c] {
        channel.catch_up().await.unwrap();
        assert_eq!((channel.status().epoch, channel.members().len()), (1, 3));
    }
    b.rotate().await.unwrap();
    c.until(|status| status.epoch == 2).await.unwrap();
    c.send("we go on").await.unwrap();
    assert_eq!(messages(&b, 1).await, [said(&people[2], "we go on")]);
}

#[tokio::test(start_paused = true)]
async fn a_key_package_that_expired_is_refused_with_its_reason() {
    let world = World::new(27);
    let (mut alice, bob) = (world.agent("alice"), world.agent("bob"));
    // A package is good for 90 days, cards for a year.
    alice.skew = 100 * 86_400;
    let (at_alice, at_bob) = (alice.node().await, bob.node().await);
    at_bob.offered(&world).await;
    let policy = at_alice.policy().unwrap().sign(at_alice.me().agent()).unwrap();
    let a = at_alice.create(policy).await.unwrap();
    let refused = a.invite(&[bob.did()]).await.unwrap_err();
    assert_eq!(refused.reason().unwrap().code(), "expired-key-package", "{refused}");
    assert_eq!((a.status().epoch, a.members().len()), (0, 1));
}

#[tokio::test(start_paused = true)]
async fn who_cannot_use_a_commit_that_others_took_says_so_and_comes_back() {
    let world = World::new(29);
    let (alice, mut bob, carol) = (world.agent("alice"), world.agent("bob"), world.agent("carol"));
    let blobs = Arc::new(Hidden { inner: Arc::clone(&world.services.blobs), hidden: AtomicBool::new(false) });
    bob.world.services.blobs = blobs.clone();
    let at = [alice.node().await, bob.node().await, carol.node().await];
    for node in &at {
        node.offered(&world).await;
    }
    let policy = at[0].policy().unwrap().sign(at[0].me().agent()).unwrap();
    let a = at[0].create(policy).await.unwrap();
    a.invite(&[bob.did()]).await.unwrap();
    let b = at[1].joined(&a.id()).await;
    // Without carol's cards bob cannot judge the commit that brings her.
    blobs.hidden.store(true, Ordering::SeqCst);
    a.invite(&[carol.did()]).await.unwrap();
    let c = at[2].joined(&a.id()).await;
    c.send("bob cannot read this").await.unwrap();
    assert_eq!(complains(&a).await, bob.did().as_str());
    assert_eq!((b.status().epoch, a.status().epoch), (1, 2));

    blobs.hidden.store(false, Ordering::SeqCst);
    b.until(|status| status.members.len() == 3 && status.epoch == 3).await.unwrap();
    b.send("back").await.unwrap();
    assert_eq!(messages(&c, 2).await[1], said(&bob, "back"));
    // Who has heard the word need not be the one that reads the log last.
    for channel in [&a, &b, &c] {
        channel.until(|status| status.epoch == 3).await.unwrap();
        assert_eq!(channel.status().authenticator, b.status().authenticator);
    }
}

/// Who says that it cannot follow.
async fn complains(to: &Channel) -> String {
    let complaint = async {
        loop {
            if let Event::Warning(Warning::Complaint { by, .. }) = to.next().await.unwrap().event {
                break by;
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(600), complaint).await.expect("somebody complains")
}

/// So many agents that can be invited, none of whom is there: a commit that brings them is too large for an entry.
async fn many(world: &World) -> Vec<Did> {
    let mut dids = Vec::new();
    for number in 0..8 {
        let agent = world.agent(&format!("one of many {number}"));
        agent.node().await.offered(world).await;
        dids.push(agent.did());
    }
    dids
}

/// How the newest commit stands in the log: 1, if its parts are blobs.
async fn newest_form(world: &World, channel: &Channel) -> u8 {
    let records = world.services.log.read(&channel.id(), 1, 1_000).await.unwrap().records;
    records.iter().rfind(|record| record.entry.kind == EntryKind::Commit).unwrap().entry.content[1]
}

#[tokio::test(start_paused = true)]
async fn a_commit_whose_parts_nobody_has_is_passed_over_by_all_and_the_next_follows_it() {
    let world = World::new(31);
    let (mut mallory, bob, carol) = (world.agent("mallory"), world.agent("bob"), world.agent("carol"));
    let blobs = Troubled::over(&world.services.blobs);
    mallory.world.services.blobs = blobs.clone();
    let (at_mallory, at) = (mallory.node().await, [bob.node().await, carol.node().await]);
    for node in &at {
        node.offered(&world).await;
    }
    let policy = at_mallory.policy().unwrap().sign(at_mallory.me().agent()).unwrap();
    let m = at_mallory.create(policy).await.unwrap();
    m.invite(&[bob.did(), carol.did()]).await.unwrap();
    let (b, c) = (at[0].joined(&m.id()).await, at[1].joined(&m.id()).await);
    let many = many(&world).await;
    blobs.set(Trouble::Lost);
    m.invite(&many).await.unwrap();
    assert_eq!(newest_form(&world, &m).await, 1);
    drop(at_mallory);

    b.send("is heard").await.unwrap();
    let rotated = tokio::time::timeout(Duration::from_secs(600), b.rotate()).await;
    rotated.expect("the channel goes on").unwrap();
    for channel in [&b, &c] {
        channel.until(|status| status.epoch == 2).await.unwrap();
        channel.catch_up().await.unwrap();
        assert_eq!(channel.status().authenticator, b.status().authenticator);
        assert!(!channel.status().forked);
    }
    assert_eq!(messages(&c, 1).await, [said(&bob, "is heard")]);
}

#[tokio::test(start_paused = true)]
async fn who_was_away_for_longer_than_a_commit_is_kept_says_so_and_comes_back() {
    let world = World::new(32);
    let (alice, mut bob) = (world.agent("alice"), world.agent("bob"));
    let blobs = Arc::new(Hidden { inner: Arc::clone(&world.services.blobs), hidden: AtomicBool::new(false) });
    bob.world.services.blobs = blobs.clone();
    let (at_alice, at_bob) = (alice.node().await, bob.node().await);
    at_bob.offered(&world).await;
    let a = at_alice.create(at_alice.policy().unwrap().sign(at_alice.me().agent()).unwrap()).await.unwrap();
    a.invite(&[bob.did()]).await.unwrap();
    at_bob.joined(&a.id()).await;
    drop(at_bob);
    a.invite(&many(&world).await).await.unwrap();
    assert_eq!(newest_form(&world, &a).await, 1);
    // Nobody says anything: only the checkpoint shows that somebody went on.
    tokio::time::sleep(Duration::from_secs(10)).await;

    blobs.hidden.store(true, Ordering::SeqCst);
    let at_bob = bob.node().await;
    let b = at_bob.joined(&a.id()).await;
    let read = tokio::time::timeout(Duration::from_secs(60), b.catch_up()).await;
    assert!(matches!(read.expect("who waits is told"), Err(Error::Service(_))));
    assert_eq!(complains(&a).await, bob.did().as_str());
    assert_eq!((b.status().epoch, a.status().epoch), (1, 2));

    blobs.hidden.store(false, Ordering::SeqCst);
    b.until(|status| status.epoch == 3).await.unwrap();
    b.send("back").await.unwrap();
    assert_eq!(messages(&a, 1).await, [said(&bob, "back")]);
    assert_eq!(a.status().authenticator, b.status().authenticator);
}

#[tokio::test(start_paused = true)]
async fn a_commit_whose_parts_never_all_come_is_passed_over_and_who_wants_to_come_back_is_told_why_not() {
    let world = World::new(34);
    let (alice, mut bob) = (world.agent("alice"), world.agent("bob"));
    let blobs = Troubled::over(&world.services.blobs);
    bob.world.services.blobs = blobs.clone();
    let (at_alice, at_bob) = (alice.node().await, bob.node().await);
    at_bob.offered(&world).await;
    let a = at_alice.create(at_alice.policy().unwrap().sign(at_alice.me().agent()).unwrap()).await.unwrap();
    a.invite(&[bob.did()]).await.unwrap();
    let b = at_bob.joined(&a.id()).await;
    let many = many(&world).await;
    blobs.set(Trouble::Silence);
    a.invite(&many).await.unwrap();
    assert_eq!(newest_form(&world, &a).await, 1);
    let returned = tokio::time::timeout(Duration::from_secs(3_600), b.rejoin()).await;
    let error = returned.expect("who asks is told").unwrap_err();
    assert!(matches!(error, Error::Deadline(_) | Error::Service(_)), "{error}");
    assert_eq!(complains(&a).await, bob.did().as_str());

    blobs.set(Trouble::None);
    for channel in [&a, &b] {
        channel.until(|status| status.epoch == 3).await.unwrap();
    }
    assert_eq!(a.status().authenticator, b.status().authenticator);
}

#[tokio::test(start_paused = true)]
async fn cards_that_the_service_never_gives_keep_nobody_from_what_stands_behind_their_commit() {
    let world = World::new(33);
    let (alice, mut bob, carol) = (world.agent("alice"), world.agent("bob"), world.agent("carol"));
    let blobs = Troubled::over(&world.services.blobs);
    bob.world.services.blobs = blobs.clone();
    let at = [alice.node().await, bob.node().await, carol.node().await];
    for node in &at {
        node.offered(&world).await;
    }
    let a = at[0].create(at[0].policy().unwrap().sign(at[0].me().agent()).unwrap()).await.unwrap();
    a.invite(&[bob.did()]).await.unwrap();
    let b = at[1].joined(&a.id()).await;
    blobs.set(Trouble::Silence);
    a.invite(&[carol.did()]).await.unwrap();
    let c = at[2].joined(&a.id()).await;
    c.send("bob cannot read this").await.unwrap();
    assert_eq!(complains(&a).await, bob.did().as_str());
    blobs.set(Trouble::None);
    b.until(|status| status.epoch == 3).await.unwrap();
}

/// What was said in a channel, as one member has it.
async fn said_in(channel: &Channel) -> Vec<(MessageId, String)> {
    let all = channel.history(1, 1_000).await.unwrap();
    let said = all.into_iter().filter_map(|one| match one.event {
        Event::Message { id, bytes, .. } => Some((id, String::from_utf8(bytes.to_vec()).unwrap())),
        _ => None,
    });
    said.collect()
}

#[tokio::test(start_paused = true)]
async fn what_the_log_had_not_taken_when_its_sender_came_back_is_heard_once_and_as_the_same_message() {
    let world = World::new(26);
    let (mut alice, bob, carol) = (world.agent("alice"), world.agent("bob"), world.agent("carol"));
    let log = Arc::new(Shut { inner: Arc::clone(&world.services.log), shut: AtomicBool::new(false) });
    alice.world.services.log = Arc::clone(&log) as Arc<dyn Log>;
    let link = Arc::new(Faulty::new(world.hub.link(), 26, Faults::NONE));
    let at = [alice.node().await, bob.node().await, carol.node_on(link.clone()).await.unwrap()];
    for node in &at {
        node.offered(&world).await;
    }
    let policy = at[0].policy().unwrap().sign(at[0].me().agent()).unwrap();
    let a = at[0].create(policy).await.unwrap();
    a.invite(&[bob.did(), carol.did()]).await.unwrap();
    let (b, c) = (at[1].joined(&a.id()).await, at[2].joined(&a.id()).await);
    let mut ids = vec![a.send("zero").await.unwrap()];
    messages(&b, 1).await;
    messages(&c, 1).await;

    log.shut.store(true, Ordering::SeqCst);
    link.cut(true);
    for word in ["one", "two"] {
        ids.push(a.send(word).await.unwrap());
    }
    assert_eq!(messages(&b, 2).await.len(), 2, "by the link");
    a.rejoin().await.unwrap();
    a.send("three").await.map(|id| ids.push(id)).unwrap();
    log.shut.store(false, Ordering::SeqCst);
    link.cut(false);
    messages(&b, 1).await;
    messages(&c, 3).await;
    b.send("enough").await.unwrap();
    messages(&c, 1).await;
    let expected: Vec<_> = ids.into_iter().zip(["zero", "one", "two", "three"].map(str::to_owned)).collect();
    for channel in [&a, &b, &c] {
        let of_alice = |(id, _): &(MessageId, String)| id.sender == alice.did().as_str();
        let heard: Vec<_> = said_in(channel).await.into_iter().filter(of_alice).collect();
        assert_eq!(heard, expected);
    }
}

#[tokio::test(start_paused = true)]
async fn junk_in_the_log_under_the_id_of_a_message_keeps_nobody_from_it() {
    let world = World::new(27);
    let (mut alice, bob) = (world.agent("alice"), world.agent("bob"));
    alice.world.services.log = Arc::new(Outrun(Arc::clone(&world.services.log)));
    let link = Arc::new(Faulty::new(world.hub.link(), 27, Faults::NONE));
    let (at_alice, at_bob) = (alice.node().await, bob.node_on(link.clone()).await.unwrap());
    at_bob.offered(&world).await;
    let a = at_alice.create(at_alice.policy().unwrap().sign(at_alice.me().agent()).unwrap()).await.unwrap();
    a.invite(&[bob.did()]).await.unwrap();
    let b = at_bob.joined(&a.id()).await;
    link.cut(true);
    for word in ["one", "two"] {
        a.send(word).await.unwrap();
    }
    assert_eq!(messages(&b, 2).await, ["one", "two"].map(|word| said(&alice, word)));
    let log = world.services.log.read(&a.id(), 1, 1_000).await.unwrap().records;
    assert_eq!(log.iter().filter(|record| record.entry.content[..] == b"junk"[..]).count(), 1);
}
