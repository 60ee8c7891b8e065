//! Links that lose, repeat, reorder, and part.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use gambeson_slim::faults::{Faults, Faulty};
use gambeson_slim::{Channel, Event, Services};

use crate::broken::{Refusing, Tapped, Unreachable};
use crate::world::{Offered, Person, World, messages, said};

/// Each sender's words come whole and in their order.
fn in_order(heard: &[(String, String)], each: usize) {
    let mut of: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (sender, text) in heard {
        of.entry(sender).or_default().push(text.parse().unwrap());
    }
    for (sender, words) in of {
        assert_eq!(words, (0..each).collect::<Vec<_>>(), "of {sender}");
    }
}

async fn all_talk(channels: &[Channel], each: usize) {
    let talk = channels.iter().map(|channel| {
        let channel = channel.clone();
        tokio::spawn(async move {
            for word in 0..each {
                channel.send(word.to_string()).await.unwrap();
                tokio::time::sleep(Duration::from_millis(7)).await;
            }
        })
    });
    for talk in talk.collect::<Vec<_>>() {
        talk.await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn over_a_link_that_loses_repeats_and_reorders_each_message_comes_once_and_in_order() {
    for seed in 1..=3 {
        let mut world = World::new(seed);
        world.faults = Some(Faults {
            loss: 0.2,
            repeated: 0.2,
            soonest: Duration::from_millis(1),
            latest: Duration::from_millis(80),
        });
        let (_nodes, channels) = world.channel(4, |_| {}).await;
        all_talk(&channels, 25).await;
        for channel in &channels {
            in_order(&messages(channel, 100).await, 25);
            assert_eq!(channel.status().authenticator, channels[0].status().authenticator);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_partition_that_heals_leaves_nothing_out() {
    let world = World::new(11);
    let (_nodes, channels) = world.channel(2, |_| {}).await;
    let carol = world.agent("carol");
    let link = Arc::new(Faulty::new(world.hub.link(), 11, Faults::NONE));
    let at_carol = carol.node_on(link.clone()).await.unwrap();
    at_carol.offered(&world).await;
    channels[0].invite(&[carol.did()]).await.unwrap();
    let c = at_carol.joined(&channels[0].id()).await;
    link.cut(true);
    for word in 0..10 {
        channels[0].send(word.to_string()).await.unwrap();
    }
    channels[1].rotate().await.unwrap();
    c.send("from the other side").await.unwrap();
    link.cut(false);
    assert_eq!(messages(&c, 11).await.len(), 11);
    assert_eq!(messages(&channels[1], 11).await.len(), 11);
    let epoch = channels[1].status().epoch;
    for channel in [&channels[0], &c] {
        channel.until(|status| status.epoch == epoch).await.unwrap();
        assert_eq!(channel.status().authenticator, channels[1].status().authenticator);
    }
}

#[tokio::test(start_paused = true)]
async fn who_speaks_behind_more_commits_than_it_has_heard_of_is_heard_all_the_same() {
    let world = World::new(15);
    let (_nodes, channels) = world.channel(2, |_| {}).await;
    let carol = world.agent("carol");
    let link = Arc::new(Faulty::new(world.hub.link(), 15, Faults::NONE));
    let at_carol = carol.node_on(link.clone()).await.unwrap();
    at_carol.offered(&world).await;
    channels[0].invite(&[carol.did()]).await.unwrap();
    let c = at_carol.joined(&channels[0].id()).await;
    link.cut(true);
    for _ in 0..5 {
        channels[0].rotate().await.unwrap();
    }
    let before = c.status().epoch;
    for word in ["of long ago", "and more"] {
        c.send(word).await.unwrap();
    }
    c.until(|status| status.unsent == 0).await.unwrap();
    assert_eq!(c.status().epoch, before, "the log has it behind what she has not heard of");
    link.cut(false);
    for channel in &channels {
        assert_eq!(messages(channel, 2).await, [said(&carol, "of long ago"), said(&carol, "and more")]);
    }
}

#[tokio::test(start_paused = true)]
async fn who_has_as_much_unsent_as_a_member_may_have_can_still_leave() {
    let world = World::new(16);
    let (_nodes, channels) = world.channel(1, |_| {}).await;
    let mut bob = world.agent("bob");
    let service = Unreachable::over(&world.services);
    bob.world.services = Services { log: service.clone(), blobs: service.clone(), keys: service.clone() };
    let link = Arc::new(Faulty::new(world.hub.link(), 16, Faults::NONE));
    let at_bob = bob.node_on(link.clone()).await.unwrap();
    at_bob.offered(&world).await;
    channels[0].invite(&[bob.did()]).await.unwrap();
    let b = at_bob.joined(&channels[0].id()).await;
    service.cut.store(true, Ordering::SeqCst);
    link.cut(true);
    let talk = tokio::spawn({
        let b = b.clone();
        async move { while b.send("nobody takes it").await.is_ok() {} }
    });
    while b.status().unsent < 4_096 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let leaving = tokio::time::timeout(2 * bob.options.leave, b.leave());
    leaving.await.expect("it does not wait for what is unsent").unwrap();
    talk.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_half_that_reaches_nothing_for_a_while_comes_back_and_nothing_is_lost_or_heard_twice() {
    let world = World::new(14);
    let mut people = ["alice", "bob", "carol", "dave"].map(|name| world.agent(name));
    let service = Unreachable::over(&world.services);
    for person in &mut people[2..] {
        let (log, blobs, keys) = (service.clone(), service.clone(), service.clone());
        person.world.services = Services { log, blobs, keys };
    }
    let (mut at, mut links) = (Vec::new(), Vec::new());
    for person in &people {
        let link = Arc::new(world.hub.link());
        at.push(person.node_on(link.clone()).await.unwrap());
        links.push(link);
    }
    for node in &at {
        node.offered(&world).await;
    }
    let policy = at[0].policy().unwrap().sign(at[0].me().agent()).unwrap();
    let mut channels = vec![at[0].create(policy).await.unwrap()];
    let others: Vec<_> = people[1..].iter().map(Person::did).collect();
    channels[0].invite(&others).await.unwrap();
    for node in &at[1..] {
        channels.push(node.joined(&channels[0].id()).await);
    }
    for channel in &channels {
        channel.until(|status| status.members.len() == 4).await.unwrap();
    }

    let part = |cut| {
        service.cut.store(cut, Ordering::SeqCst);
        links[2..].iter().for_each(|link| link.stand(u32::from(cut)));
    };
    let before = channels[0].status().epoch;
    part(true);
    // Each half says something, wants a commit, and says more: one half's is taken, that of the other waits.
    let acts = channels.iter().cloned().enumerate().map(|(number, channel)| {
        tokio::spawn(async move {
            for word in 0..5 {
                channel.send(word.to_string()).await.unwrap();
            }
            if number % 2 == 1 {
                // Who reaches nothing may be told so; what is wished for after it is done all the same.
                drop(channel.rotate().await);
            }
            for word in 5..10 {
                channel.send(word.to_string()).await.unwrap();
            }
        })
    });
    let acts: Vec<_> = acts.collect();
    tokio::time::sleep(Duration::from_secs(60)).await;
    for (number, channel) in channels.iter().enumerate() {
        let (epoch, unsent) = (channel.status().epoch, channel.status().unsent);
        assert_eq!((epoch > before, unsent > 0), (number < 2, number >= 2), "of member {number}");
        // In each half both hear each other.
        assert!((5..=10).contains(&channel.status().received.0), "of member {number}");
    }
    part(false);
    for act in acts {
        act.await.unwrap();
    }
    channels[3].rotate().await.unwrap();
    for channel in &channels {
        in_order(&messages(channel, 40).await, 10);
        channel.until(|status| status.unsent == 0).await.unwrap();
        channel.catch_up().await.unwrap();
    }
    tokio::time::sleep(Duration::from_secs(60)).await;
    for channel in &channels {
        let (here, there) = (channel.status(), channels[0].status());
        assert_eq!((here.epoch, here.authenticator), (there.epoch, there.authenticator));
        assert!(!here.forked);
        let said = channel.history(1, 10_000).await.unwrap();
        let said = said.iter().filter(|one| matches!(one.event, Event::Message { .. }));
        assert_eq!(said.count(), 40, "none is heard twice");
    }
}

#[tokio::test(start_paused = true)]
async fn a_member_that_never_reads_stops_nobody() {
    let world = World::new(12);
    let mut people = ["alice", "bob", "carol"].map(|name| world.agent(name));
    let (mut nodes, mut links) = (Vec::new(), Vec::new());
    for person in &mut people {
        // Nobody looks into the log by himself.
        (person.options.silence, person.options.poll) = (Duration::from_secs(5), Duration::from_secs(3600));
        let link = Arc::new(Tapped::new(world.hub.link()));
        nodes.push(person.node_on(link.clone()).await.unwrap());
        links.push(link);
    }
    for node in &nodes {
        node.offered(&world).await;
    }
    let policy = nodes[0].policy().unwrap().sign(nodes[0].me().agent()).unwrap();
    let a = nodes[0].create(policy).await.unwrap();
    a.invite(&[people[1].did(), people[2].did()]).await.unwrap();
    let b = nodes[1].joined(&a.id()).await;
    let carol = nodes.pop().unwrap();
    let channels = [a, b, carol.joined(&nodes[0].channels()[0].id()).await];
    for channel in &channels {
        channel.until(|status| status.members.len() == 3).await.unwrap();
    }
    all_talk(&channels, 1).await;
    for channel in &channels {
        messages(channel, 3).await;
    }
    // From here on all of the link waits for carol, who is not there to read.
    links.iter().for_each(|link| link.get_stuck());
    let [channels @ .., _] = channels;
    drop(carol);
    all_talk(&channels, 50).await;
    for channel in &channels {
        tokio::time::timeout(Duration::from_secs(10), messages(channel, 100)).await.unwrap();
    }
    let silent = loop {
        if let Event::Warning(gambeson_slim::Warning::Silent { members }) =
            channels[0].next().await.unwrap().event
        {
            break members;
        }
    };
    assert_eq!(silent, [people[2].did().as_str()]);
    let before = channels[0].status().epoch;
    channels[0].remove(&[people[2].did()]).await.unwrap();
    channels[1].until(|status| status.epoch == before + 1).await.unwrap();
    // On the channel's new name nobody waits for her.
    tokio::time::sleep(Duration::from_secs(60)).await;
    channels[0].send("on the new name").await.unwrap();
    tokio::time::timeout(Duration::from_millis(100), messages(&channels[1], 1)).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn clocks_that_differ_by_less_than_a_minute_do_not_matter() {
    let world = World::new(13);
    let (mut alice, mut bob) = (world.agent("alice"), world.agent("bob"));
    (alice.skew, bob.skew) = (-25, 25);
    let (at_alice, at_bob) = (alice.node().await, bob.node().await);
    at_bob.offered(&world).await;
    let a = at_alice.create(at_alice.policy().unwrap().sign(at_alice.me().agent()).unwrap()).await.unwrap();
    a.invite(&[bob.did()]).await.unwrap();
    let b = at_bob.joined(&a.id()).await;
    b.send("late").await.unwrap();
    assert_eq!(messages(&a, 1).await.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_subscription_that_the_link_did_not_take_is_asked_for_again() {
    let world = World::new(12);
    let (alice, bob) = (world.agent("alice"), world.agent("bob"));
    let link = Arc::new(Refusing::new(world.hub.link()));
    let (at_alice, at_bob) = (alice.node().await, bob.node_on(link.clone()).await.unwrap());
    at_bob.offered(&world).await;
    let a = at_alice.create(at_alice.policy().unwrap().sign(at_alice.me().agent()).unwrap()).await.unwrap();
    link.refuses.store(true, Ordering::SeqCst);
    a.invite(&[bob.did()]).await.unwrap();
    let _b = at_bob.joined(&a.id()).await;
    tokio::time::sleep(Duration::from_secs(120)).await;
    let refused = link.refused.lock().unwrap().clone().expect("one was not taken");
    assert!(link.taken.lock().unwrap().contains(&refused));
}
