//! Cards beside those of members that stay as they are: of those who lend the right to invite, and new ones.

use std::sync::Arc;
use std::time::Duration;

use crate::world::{Offered, Person, World, messages, said};
use gambeson_identity::delegation::{Capability, Delegation};
use gambeson_identity::{Retired, Role as Key};
use gambeson_slim::{Channel, Error, Event, MemoryStore, Node, Reason, Role, Warning};
use tokio::time::sleep;

/// A channel of these, which the first created.
async fn channel(people: &[&Person], roles: &[(&Person, Role)]) -> (Vec<Node>, Vec<Channel>) {
    let world = &people[0].world;
    let mut nodes = Vec::new();
    for person in people {
        let node = person.node().await;
        node.offered(world).await;
        nodes.push(node);
    }
    let channels = another(&nodes, roles).await;
    (nodes, channels)
}

/// One more channel of them.
async fn another(nodes: &[Node], roles: &[(&Person, Role)]) -> Vec<Channel> {
    let mut policy = nodes[0].policy().unwrap();
    policy.roles.extend(roles.iter().map(|(person, role)| (person.did(), *role)));
    let first = nodes[0].create(policy.sign(nodes[0].me().agent()).unwrap()).await.unwrap();
    let others: Vec<_> = nodes[1..].iter().map(|node| node.did().clone()).collect();
    first.invite(&others).await.unwrap();
    let mut channels = vec![first.clone()];
    for node in &nodes[1..] {
        let channel = node.joined(&first.id()).await;
        channel.until(|status| status.members.len() == nodes.len()).await.unwrap();
        channels.push(channel);
    }
    channels
}

/// What `by` lends to `to`, on top of what was lent to it.
fn lent(by: &Person, to: &Person, resource: &str, parent: Option<&str>) -> String {
    let capability = Capability {
        action: "channel/invite".parse().unwrap(),
        resource: resource.parse().unwrap(),
        caveats: Vec::new(),
    };
    let now = by.world.now();
    let terms = Delegation {
        delegate: to.did(),
        from: now,
        until: now.after(86_400),
        capabilities: vec![capability],
        max_depth: u8::from(parent.is_none()),
        max_calls: None,
        budget: None,
        status: Vec::new(),
    };
    terms.sign(&by.agent, parent).unwrap()
}

fn resource(channel: &Channel) -> String {
    channel.status().policy.unwrap().resource()
}

async fn all_agree(channels: &[Channel], members: usize) {
    for channel in channels {
        channel.until(|status| status.members.len() == members).await.unwrap();
    }
    let epoch = channels.iter().map(|channel| channel.status().epoch).max().unwrap();
    for channel in channels {
        channel.until(|status| status.epoch == epoch).await.unwrap();
        assert_eq!(channel.status().authenticator, channels[0].status().authenticator);
    }
}

async fn events(channel: &Channel) -> Vec<Event> {
    channel.history(0, 1_000).await.unwrap().into_iter().map(|it| it.event).collect()
}

#[tokio::test(start_paused = true)]
async fn who_was_lent_the_right_invites_and_everybody_accepts() {
    let world = World::new(1);
    let [alice, bob, carol, dave, erin] =
        ["alice", "bob", "carol", "dave", "erin"].map(|name| world.agent(name));
    let (nodes, mut channels) = channel(&[&alice, &bob, &carol], &[(&carol, Role::Moderator)]).await;
    let newcomers = [dave.node().await, erin.node().await];
    for node in &newcomers {
        node.offered(&world).await;
    }
    let resource = resource(&channels[0]);
    // One of an owner, one of a moderator: each commit shows one.
    let lent = [lent(&alice, &bob, &resource, None), lent(&carol, &bob, &resource, None)];
    let whom = [dave.did(), erin.did(), carol.did()];
    let (dave_came, erin_came, rotated, known) = tokio::join!(
        channels[1].invite_by(&whom[..1], &lent[..1]),
        channels[1].invite_by(&whom[1..2], &lent[1..]),
        // What is gathered beside them needs no delegation.
        channels[1].rotate(),
        channels[1].invite(&whom[2..]),
    );
    dave_came.unwrap();
    erin_came.unwrap();
    rotated.unwrap();
    known.unwrap();
    for node in &newcomers {
        channels.push(node.joined(&channels[0].id()).await);
    }
    all_agree(&channels, 5).await;
    let by = bob.did().as_str().to_owned();
    let joined = events(&channels[2]).await;
    let joined = joined.iter().filter(|it| matches!(it, Event::Joined { by: who, .. } if *who == by));
    assert_eq!(joined.count(), 2, "each in a commit of its own");
    channels[4].send("hello").await.unwrap();
    assert_eq!(messages(&channels[0], 1).await, [said(&erin, "hello")]);
    drop(nodes);
}

#[tokio::test(start_paused = true)]
async fn without_a_delegation_or_with_one_that_is_not_for_this_nobody_is_added_and_the_reason_is_told() {
    let world = World::new(2);
    let [alice, bob, carol, dave] = ["alice", "bob", "carol", "dave"].map(|name| world.agent(name));
    let (nodes, channels) = channel(&[&alice, &bob, &carol], &[]).await;
    dave.node().await.offered(&world).await;
    let (resource, whom) = (resource(&channels[0]), [dave.did()]);
    let none = channels[1].invite(&whom).await.unwrap_err();
    assert_eq!(none.reason(), Some(Reason::NotPermitted));
    for (delegation, reason) in [
        (lent(&alice, &bob, "urn:gambeson:channel:00", None), Reason::BadDelegation),
        (lent(&alice, &carol, &resource, None), Reason::BadDelegation),
        ("not a delegation".to_owned(), Reason::BadProposal),
    ] {
        let refused = channels[1].invite_by(&whom, &[delegation]).await.unwrap_err();
        assert_eq!(refused.reason(), Some(reason), "{refused}");
    }
    let carols = channels[1].invite_by(&whom, &[lent(&carol, &bob, &resource, None)]).await.unwrap_err();
    assert_eq!(carols.reason(), Some(Reason::NotPermitted), "Carol may not lend what she has not: {carols}");
    assert_eq!(channels[0].status().epoch, 1, "no commit came of it");
    drop(nodes);
}

#[tokio::test(start_paused = true)]
async fn the_cards_of_who_stands_between_come_with_the_commit() {
    let world = World::new(3);
    let [alice, bob, carol] = ["alice", "bob", "carol"].map(|name| world.agent(name));
    let (nodes, mut channels) = channel(&[&alice, &bob, &carol], &[]).await;
    let resource = resource(&channels[0]);
    let chain = |middle: &Person| {
        let root = lent(&alice, middle, &resource, None);
        let second = lent(middle, &bob, &resource, Some(&root));
        [root, second]
    };
    // A card that Bob was shown, and one that is found as those of agents who are invited.
    let (shown, found, nowhere) = (world.agent("shown"), world.agent("found"), world.agent("nowhere"));
    nodes[1].cards().add(shown.log.clone()).unwrap();
    found.node().await.offered(&world).await;
    let mut newcomers = Vec::new();
    for (middle, name) in [(&shown, "dave"), (&found, "erin")] {
        assert!(!nodes[0].cards().knows(&middle.did()) && !nodes[2].cards().knows(&middle.did()));
        let newcomer = world.agent(name);
        let node = newcomer.node().await;
        node.offered(&world).await;
        channels[1].invite_by(&[newcomer.did()], &chain(middle)).await.unwrap();
        channels.push(node.joined(&channels[0].id()).await);
        all_agree(&channels[..3], channels.len()).await;
        assert!(nodes[0].cards().knows(&middle.did()) && nodes[2].cards().knows(&middle.did()));
        newcomers.push(node);
    }
    let error = channels[1].invite_by(&[world.agent("frank").did()], &chain(&nowhere)).await.unwrap_err();
    assert!(matches!(&error, Error::NoCard(did) if *did == nowhere.did()), "{error}");
}

#[tokio::test(start_paused = true)]
async fn an_agent_renews_its_card_and_its_leaf_follows_in_every_channel() {
    let world = World::new(4);
    let [alice, bob, carol, erin] = ["alice", "bob", "carol", "erin"].map(|name| world.agent(name));
    let (nodes, first) = channel(&[&alice, &bob, &carol], &[]).await;
    let second = another(&nodes, &[]).await;
    let newer = bob.rotated(&[Key::GroupMlDsa65, Key::Signing], Retired::Compromised);
    assert_eq!(
        nodes[1].renew(alice.me(), &alice.log).await.unwrap_err().reason(),
        Some(Reason::OtherIdentity)
    );
    nodes[1].renew(newer.me(), &newer.log).await.unwrap();
    nodes[1].renew(newer.me(), &newer.log).await.unwrap();
    let back = nodes[1].renew(bob.me(), &bob.log).await.unwrap_err();
    assert_eq!(back.reason(), Some(Reason::StaleCard), "there is no way back");
    for channels in [&first, &second] {
        channels[0].until(|status| status.epoch == 2).await.unwrap();
        all_agree(channels, 3).await;
        channels[1].send("a new leaf").await.unwrap();
        assert_eq!(messages(&channels[2], 1).await, [said(&bob, "a new leaf")]);
        let rotated = |event: &Event| matches!(event, Event::Rotated { by, .. } if *by == bob.did().as_str());
        assert_eq!(events(&channels[0]).await.iter().filter(|event| rotated(event)).count(), 1);
    }
    assert_eq!(nodes[2].cards().log(&bob.did()).unwrap().newest().version(), 2);
    // The old key is revoked: who had it in a leaf would be taken out.
    sleep(Duration::from_secs(300)).await;
    for channels in [&first, &second] {
        assert_eq!((channels[0].status().epoch, channels[0].members().len()), (2, 3));
        assert!(!events(&channels[0]).await.iter().any(|it| matches!(it, Event::Warning(_))));
    }
    // Who knows the new card is not given a key package of the old.
    let at_erin = erin.node().await;
    at_erin.cards().add(newer.log.clone()).unwrap();
    let third = at_erin.create(at_erin.policy().unwrap().sign(&erin.agent).unwrap()).await.unwrap();
    third.invite(&[bob.did()]).await.unwrap();
    all_agree(&[third.clone(), nodes[1].joined(&third.id()).await], 2).await;
}

#[tokio::test(start_paused = true)]
async fn who_comes_back_with_a_new_card_brings_it_into_its_leaf_by_itself() {
    let world = World::new(5);
    let [alice, bob] = ["alice", "bob"].map(|name| world.agent(name));
    let (mut nodes, mut channels) = channel(&[&alice, &bob], &[]).await;
    channels.pop();
    drop(nodes.pop());
    let mut newer = bob;
    for round in 0..3 {
        newer = newer.rotated(&[Key::GroupMlDsa65], Retired::Compromised);
        let at_bob = newer.node().await;
        let b = at_bob.joined(&channels[0].id()).await;
        b.send(format!("round {round}")).await.unwrap();
        assert_eq!(messages(&channels[0], 1).await, [said(&newer, &format!("round {round}"))]);
        all_agree(&[channels[0].clone(), b.clone()], 2).await;
        channels[0].until(|status| status.epoch == 2 + round).await.unwrap();
        b.until(|status| status.epoch == 2 + round).await.unwrap();
        assert_eq!(nodes[0].cards().log(&newer.did()).unwrap().newest().version(), 2 + round);
    }
    // Nothing is left to renew.
    let at_bob = newer.node().await;
    let b = at_bob.joined(&channels[0].id()).await;
    sleep(Duration::from_secs(100)).await;
    assert_eq!(b.status().epoch, 4);
}

#[tokio::test(start_paused = true)]
async fn a_new_card_that_loses_against_other_commits_comes_with_the_next() {
    let world = World::new(9);
    let [alice, bob, carol] = ["alice", "bob", "carol"].map(|name| world.agent(name));
    let (nodes, channels) = channel(&[&alice, &bob, &carol], &[]).await;
    let newer = bob.rotated(&[Key::GroupMlDsa65], Retired::Compromised);
    let me = newer.me();
    // All gather for the same time.
    let (renewed, first, third) =
        tokio::join!(nodes[1].renew(me, &newer.log), channels[0].rotate(), channels[2].rotate());
    renewed.unwrap();
    first.unwrap();
    third.unwrap();
    channels[1].until(|status| status.epoch == 4).await.unwrap();
    all_agree(&channels, 3).await;
    assert_eq!(channels.iter().map(|channel| channel.status().commits.0).sum::<u64>(), 4);
    assert_eq!(channels[1].status().commits.0, 1);
    channels[1].send("all the same").await.unwrap();
    assert_eq!(messages(&channels[2], 1).await, [said(&bob, "all the same")]);
}

/// Whether the store stopped at this write, while its agent brought a new card and invited by what was lent to it.
async fn crash_at(writes: i64, after: bool) -> bool {
    let world = World::new(10);
    let [alice, mut bob, dave] = ["alice", "bob", "dave"].map(|name| {
        let mut person = world.agent(name);
        person.options.key_packages = 3;
        person
    });
    let kept = MemoryStore::new();
    bob.store = Arc::new(kept.clone());
    let (mut nodes, mut channels) = channel(&[&alice, &bob], &[]).await;
    drop((nodes.pop(), channels.pop()));
    let at_dave = dave.node().await;
    at_dave.offered(&world).await;
    let (a, lent) = (&channels[0], [lent(&alice, &bob, &resource(&channels[0]), None)]);
    let mut newer = bob.rotated(&[Key::GroupMlDsa65], Retired::Compromised);
    let store = Arc::new(crate::broken::Stopping::new(Arc::new(kept.clone()), writes, after));
    newer.store = store.clone();
    let invited = async |person: &Person| {
        let node = person.try_node().await.ok()?;
        node.channel(&a.id())?.invite_by(&[dave.did()], &lent).await.ok()?;
        sleep(Duration::from_secs(1)).await;
        Some(node)
    };
    drop(tokio::time::timeout(Duration::from_secs(10), invited(&newer)).await);
    let stopped = store.stopped();
    newer.store = Arc::new(kept);
    let at_bob = invited(&newer).await.unwrap();
    let all = [a.clone(), at_bob.channel(&a.id()).unwrap(), at_dave.joined(&a.id()).await];
    all_agree(&all, 3).await;
    all[1].send("all the same").await.unwrap();
    assert_eq!(messages(&all[2], 1).await, [said(&bob, "all the same")]);
    sleep(Duration::from_secs(100)).await;
    assert_eq!(all[0].members().len(), 3, "no leaf of an old card is left");
    stopped
}

#[tokio::test(start_paused = true)]
async fn a_crash_between_any_two_writes_stops_neither_a_new_card_nor_an_invitation_by_delegation() {
    for after in [false, true] {
        let mut writes = 1;
        while crash_at(writes, after).await {
            writes += 1;
        }
        assert!(writes > 4, "the scenario has {writes} writes");
    }
}

#[tokio::test(start_paused = true)]
async fn an_invitation_from_before_the_new_card_is_accepted_after_it() {
    let world = World::new(6);
    let (alice, bob) = (world.agent("alice"), world.agent("bob"));
    let at_bob = bob.node().await;
    at_bob.offered(&world).await;
    drop(at_bob);
    let (_nodes, mut channels) = channel(&[&alice], &[]).await;
    channels[0].invite(&[bob.did()]).await.unwrap();
    let newer = bob.rotated(&[Key::GroupMlDsa65], Retired::Superseded(86_400));
    let at_bob = newer.node().await;
    channels.push(at_bob.joined(&channels[0].id()).await);
    channels[0].until(|status| status.epoch == 2).await.unwrap();
    all_agree(&channels, 2).await;
    channels[1].send("here").await.unwrap();
    assert_eq!(messages(&channels[0], 1).await, [said(&bob, "here")]);
}

#[tokio::test(start_paused = true)]
async fn a_member_whose_key_is_revoked_is_removed_by_a_moderator_that_learns_of_it() {
    let world = World::new(7);
    let [alice, bob, carol, dave] = ["alice", "bob", "carol", "dave"].map(|name| world.agent(name));
    let (mut nodes, mut channels) = channel(&[&alice, &bob, &dave, &carol], &[(&bob, Role::Moderator)]).await;
    // Carol is away, and the owner too.
    drop((nodes.pop(), channels.pop()));
    drop((nodes.remove(0), channels.remove(0)));
    let revoked = carol.rotated(&[Key::GroupMlDsa65], Retired::Compromised);
    let whose = carol.did().as_str().to_owned();
    let warned = |event: &Event| matches!(event, Event::Warning(Warning::Outdated { member, reason }) if *member == whose && reason.contains("revokes"));
    // A member learns of it, and can only warn.
    nodes[1].cards().add(revoked.log.clone()).unwrap();
    sleep(Duration::from_secs(100)).await;
    assert_eq!(events(&channels[1]).await.iter().filter(|it| warned(it)).count(), 1);
    assert_eq!(channels[1].members().len(), 4);
    // A moderator learns of it; a restart does not forget it.
    nodes[0].cards().add(revoked.log.clone()).unwrap();
    sleep(Duration::from_secs(35)).await;
    assert_eq!(channels[0].members().len(), 4, "Carol is given time");
    drop((nodes.remove(0), channels.remove(0)));
    let at_bob = bob.node().await;
    let b = at_bob.joined(&channels[0].id()).await;
    all_agree(&[b.clone(), channels[0].clone()], 3).await;
    let told = events(&b).await;
    assert_eq!(told.iter().filter(|it| warned(it)).count(), 1);
    let by = bob.did().as_str().to_owned();
    assert!(told.iter().any(|it| matches!(it, Event::Removed { members, by: who, .. } if *members == [whose.clone()] && *who == by)));
}

#[tokio::test(start_paused = true)]
async fn a_key_that_was_replaced_is_good_until_its_time_is_over() {
    let world = World::new(8);
    let [alice, bob] = ["alice", "bob"].map(|name| world.agent(name));
    let (mut nodes, mut channels) = channel(&[&alice, &bob], &[]).await;
    drop((nodes.pop(), channels.pop()));
    // From ten minutes ago on.
    let newer = bob.rotated(&[Key::GroupMlDsa65], Retired::Superseded(600 + 3_600));
    nodes[0].cards().add(newer.log.clone()).unwrap();
    sleep(Duration::from_secs(3_500)).await;
    assert_eq!(channels[0].members().len(), 2);
    sleep(Duration::from_secs(200)).await;
    assert_eq!(channels[0].members().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn cards_of_who_is_in_no_channel_make_room_for_others() {
    let world = World::new(61);
    let (mut alice, bob) = (world.agent("alice"), world.agent("bob"));
    alice.room = 3;
    let others = ["carol", "dave", "erin"].map(|name| (name, world.agent(name)));
    let (mut nodes, mut channels) = channel(&[&bob, &alice], &[]).await;
    for (name, other) in others {
        let other = other.node().await;
        other.offered(&world).await;
        let both = other.create(other.policy().unwrap().sign(other.me().agent()).unwrap()).await.unwrap();
        both.invite(&[alice.did()]).await.unwrap();
        let at_alice = nodes[1].joined(&both.id()).await;
        both.send(name).await.unwrap();
        assert_eq!(messages(&at_alice, 1).await[0].1, name);
        at_alice.leave().await.unwrap();
    }
    channels[0].send("still here").await.unwrap();
    assert_eq!(messages(&channels[1], 1).await, [said(&bob, "still here")]);

    drop((nodes.pop(), channels.pop()));
    let again = alice.node().await;
    let at_alice = again.joined(&channels[0].id()).await;
    channels[0].rotate().await.unwrap();
    at_alice.send("and again").await.unwrap();
    assert_eq!(messages(&channels[0], 2).await[1], said(&alice, "and again"));
}
