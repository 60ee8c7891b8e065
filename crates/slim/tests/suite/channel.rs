//! The life of a channel, in memory and in virtual time.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::world::{Offered, Person, World, messages, said};
use async_trait::async_trait;
use bytes::Bytes;
use futures_util::future::join_all;
use gambeson_slim::faults::{Faults, Faulty};
use gambeson_slim::{
    Batch, BlobId, Blobs, Channel, Entry, EntryId, EntryKind, Error, Event, MemoryStore, Node, Options,
    Reason, Result, Role, Status, Store,
};

/// Alice and Bob, who are there, and Alice's channel, to which Bob is invited.
async fn invited(world: &World, alice: &Person, bob: &Person) -> (Node, Node, Channel) {
    let (at_alice, at_bob) = (alice.node().await, bob.node().await);
    at_bob.offered(world).await;
    let policy = at_alice.policy().unwrap().sign(at_alice.me().agent()).unwrap();
    let channel = at_alice.create(policy).await.unwrap();
    channel.invite(&[bob.did()]).await.unwrap();
    (at_alice, at_bob, channel)
}

#[tokio::test(start_paused = true)]
async fn who_is_invited_while_away_joins_later_and_both_hear_each_other() {
    let world = World::new(1);
    let (alice, bob) = (world.agent("alice"), world.agent("bob"));
    let at_bob = bob.node().await;
    at_bob.offered(&world).await;
    drop(at_bob);

    let at_alice = alice.node().await;
    let a = at_alice.create(at_alice.policy().unwrap().sign(at_alice.me().agent()).unwrap()).await.unwrap();
    a.invite(&[bob.did()]).await.unwrap();
    assert_eq!(a.status().members.len(), 2);
    a.send("early").await.unwrap();

    let at_bob = bob.node().await;
    let b = at_bob.joined(&a.id()).await;
    b.until(|status| status.epoch == 1).await.unwrap();
    b.send("hello").await.unwrap();
    assert_eq!(messages(&a, 2).await, [said(&alice, "early"), said(&bob, "hello")]);
    assert_eq!(messages(&b, 2).await.len(), 2);
    assert_eq!(a.status().authenticator, b.status().authenticator);
}

#[tokio::test(start_paused = true)]
async fn an_invitation_waits_for_a_decision_unless_its_maker_is_allowed() {
    let world = World::new(2);
    let (alice, bob) = (world.agent("alice"), world.agent("bob").asking());
    let (_at_alice, at_bob, a) = invited(&world, &alice, &bob).await;
    let invitation = at_bob.invitation().await;
    assert_eq!((invitation.channel, invitation.inviter.as_str()), (a.id(), alice.did().as_str()));
    assert!(at_bob.channel(&a.id()).is_none());
    let b = at_bob.accept(invitation).await.unwrap();
    assert_eq!(b.members().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn who_is_not_on_the_allow_list_of_an_agent_brings_it_in_only_when_it_decides_so() {
    let world = World::new(37);
    let (alice, bob) = (world.agent("alice"), world.agent("bob"));
    let at_bob = bob.node().await;
    at_bob.offered(&world).await;
    // His list has whom the world had when he came.
    let mallory = world.agent("mallory");
    let mut channels = Vec::new();
    let at = world.opened(&[mallory.clone(), alice]).await;
    for node in &at {
        let channel = node.create(node.policy().unwrap().sign(node.me().agent()).unwrap()).await.unwrap();
        channel.invite(&[bob.did()]).await.unwrap();
        channels.push(channel);
    }
    at_bob.joined(&channels[1].id()).await;
    tokio::time::sleep(Duration::from_secs(600)).await;
    assert_eq!(at_bob.channels().len(), 1);
    let invitation = at_bob.invitation().await;
    assert_eq!((invitation.channel, &*invitation.inviter), (channels[0].id(), mallory.did().as_str()));
    at_bob.accept(invitation).await.unwrap().send("after all").await.unwrap();
    assert_eq!(messages(&channels[0], 1).await, [said(&bob, "after all")]);
}

#[tokio::test(start_paused = true)]
async fn who_waits_for_news_of_a_node_that_is_dropped_is_told_at_once() {
    let world = World::new(38);
    let (mut nodes, mut channels) = world.channel(2, |_| {}).await;
    let (node, channel) = (nodes.remove(0), channels.remove(0));
    let asked = channel.clone();
    let deadline = Duration::from_secs(3_600);
    let waiting = tokio::spawn(async move { asked.request("is anybody there?", deadline).await });
    messages(&channels[0], 1).await;
    let begun = tokio::time::Instant::now();
    drop(node);
    assert!(matches!(waiting.await.unwrap(), Err(Error::Over)));
    while channel.next().await.is_ok() {}
    assert!(begun.elapsed() < deadline);
}

#[tokio::test(start_paused = true)]
async fn who_is_removed_hears_nothing_more_and_the_name_is_another() {
    let world = World::new(3);
    let (nodes, channels) = world.channel(3, |_| {}).await;
    let carol = nodes[2].me().did().clone();
    channels[0].remove(std::slice::from_ref(&carol)).await.unwrap();
    channels[0].send("without carol").await.unwrap();
    assert_eq!(messages(&channels[1], 1).await.len(), 1);
    let mut last = None;
    while let Ok(next) = channels[2].next().await {
        last = Some(next.event);
    }
    assert!(matches!(last, Some(Event::Removed { members, .. }) if members == [carol.as_str()]));
    assert!(channels[2].send("still here?").await.is_err());
}

#[tokio::test(start_paused = true)]
async fn what_is_said_on_the_name_after_a_removal_before_a_member_listens_there_comes_all_the_same() {
    for seed in 100..108 {
        let mut world = World::new(seed);
        // The word of the commit comes late now and then: after the message, and after the announcement behind it.
        world.faults = Some(Faults { latest: Duration::from_secs(2), ..Faults::NONE });
        let (nodes, channels) = world.channel(3, |_| {}).await;
        channels[0].remove(&[nodes[2].me().did().clone()]).await.unwrap();
        channels[0].send("without carol").await.unwrap();
        let said = tokio::time::Instant::now();
        messages(&channels[1], 1).await;
        assert!(said.elapsed() < Duration::from_secs(10), "seed {seed}: after {:?}", said.elapsed());
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_decided_without_the_log_is_answered_before_the_log_is_looked_into_again() {
    let world = World::new(7);
    let (nodes, channels) = world.channel(3, |_| {}).await;
    let did = |of: usize| nodes[of].me().did().clone();
    let stranger = world.agent("dave").did();
    let begun = tokio::time::Instant::now();
    assert!(channels[1].remove(&[did(0)]).await.is_err(), "a member may not");
    // Each of two wishes for one commit is judged by itself when both together cannot be.
    assert!(channels[1].remove(&[did(0), did(2)]).await.is_err());
    channels[0].invite(&[did(1)]).await.unwrap();
    channels[0].remove(&[stranger]).await.unwrap();
    assert!(begun.elapsed() < Options::default().poll, "after {:?}", begun.elapsed());
}

#[tokio::test(start_paused = true)]
async fn who_leaves_is_let_go_by_those_who_may() {
    let world = World::new(4);
    let (nodes, channels) = world.channel(3, |_| {}).await;
    channels[1].leave().await.unwrap();
    channels[0].until(|status| status.members.len() == 2).await.unwrap();
    channels[2].until(|status| status.members.len() == 2).await.unwrap();
    let bob = nodes[1].me().did().as_str().to_owned();
    loop {
        if let Event::Left { members, .. } = channels[2].next().await.unwrap().event {
            assert_eq!(members, [bob]);
            break;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn the_last_owner_that_leaves_is_let_go_and_the_channel_has_owners_who_are_there() {
    let world = World::new(8);
    let (nodes, channels) = world.channel(3, |_| {}).await;
    let did = |of: usize| nodes[of].me().did().clone();
    let begun = tokio::time::Instant::now();
    channels[0].leave().await.unwrap();
    assert!(begun.elapsed() < Options::default().leave, "it was let go after {:?}", begun.elapsed());
    for channel in &channels[1..] {
        channel.until(|status| status.members.len() == 2).await.unwrap();
    }
    let rules = channels[1].status().policy.unwrap();
    assert_eq!([0, 1, 2].map(|of| rules.role(&did(of))), [Role::Member, Role::Owner, Role::Owner]);
    let mut next = rules.next(world.now());
    next.roles.insert(did(2), Role::Moderator);
    channels[1].change(next.sign(nodes[1].me().agent()).unwrap()).await.unwrap();
    channels[2].until(|status| status.policy.as_ref() == Some(&next)).await.unwrap();
    // Whoever has the highest role of those who stay.
    channels[1].leave().await.unwrap();
    channels[2].until(|status| status.members.len() == 1).await.unwrap();
    assert_eq!(channels[2].status().policy.unwrap().role(&did(2)), Role::Owner);
}

#[tokio::test(start_paused = true)]
async fn two_last_owners_that_leave_at_once_are_both_let_go() {
    let world = World::new(9);
    let (nodes, channels) = world.channel(4, |_| {}).await;
    let did = |of: usize| nodes[of].me().did().clone();
    let mut next = world.policy_of(&channels[0]).await.next(world.now());
    next.roles.extend([(did(1), Role::Owner), (did(2), Role::Moderator)]);
    channels[0].change(next.sign(nodes[0].me().agent()).unwrap()).await.unwrap();
    channels[1].until(|status| status.policy.as_ref() == Some(&next)).await.unwrap();
    let (one, other) = tokio::join!(channels[0].leave(), channels[1].leave());
    one.and(other).unwrap();
    for channel in &channels[2..] {
        channel.until(|status| status.members.len() == 2).await.unwrap();
    }
    let rules = channels[2].status().policy.unwrap();
    assert_eq!(
        [2, 3].map(|of| rules.acting(rules.role(&did(of)), rules.role(&did(2)))),
        [Role::Owner, Role::Member]
    );
}

#[tokio::test(start_paused = true)]
async fn a_request_is_answered_in_time_or_not_at_all() {
    let world = World::new(5);
    let (_nodes, channels) = world.channel(2, |_| {}).await;
    let b = channels[1].clone();
    let replier = tokio::spawn(async move {
        loop {
            if let Event::Message { id, purpose: gambeson_slim::Purpose::Request, bytes } =
                b.next().await.unwrap().event
                && &bytes[..] == b"ping"
            {
                b.reply(&id, "pong").await.unwrap();
            }
        }
    });
    let (_, reply) = channels[0].request("ping", Duration::from_secs(5)).await.unwrap();
    assert_eq!(&reply[..], b"pong");
    assert!(channels[0].request("silence", Duration::from_secs(5)).await.is_err());
    replier.abort();
}

#[tokio::test(start_paused = true)]
async fn a_moderator_is_made_by_policy_and_then_removes_others() {
    let world = World::new(6);
    let (nodes, channels) = world.channel(3, |_| {}).await;
    let (bob, carol) = (nodes[1].me().did().clone(), nodes[2].me().did().clone());
    assert!(channels[1].remove(std::slice::from_ref(&carol)).await.is_err(), "a member may not");
    let policy = world.policy_of(&channels[0]).await;
    let mut next = policy.next(world.now());
    next.roles.insert(bob, Role::Moderator);
    channels[0].change(next.sign(nodes[0].me().agent()).unwrap()).await.unwrap();
    channels[1].until(|status| status.members[1].role == "moderator" || status.epoch >= 3).await.unwrap();
    channels[1].remove(&[carol]).await.unwrap();
    assert_eq!(channels[1].members().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn rotation_gives_a_new_epoch_with_the_same_members() {
    let world = World::new(7);
    let (_nodes, channels) = world.channel(2, |_| {}).await;
    let before = channels[0].status().epoch;
    channels[1].rotate().await.unwrap();
    channels[0].until(|status| status.epoch == before + 1).await.unwrap();
    assert_eq!(channels[0].status().authenticator, channels[1].status().authenticator);
}

#[tokio::test(start_paused = true)]
async fn twenty_adds_are_one_commit() {
    let world = World::new(8);
    let (nodes, channels) = world.channel(21, |_| {}).await;
    assert_eq!((channels[0].status().epoch, channels[0].status().commits), (1, (1, 0)));
    assert_eq!(nodes.len(), 21);
    for channel in &channels {
        assert_eq!(channel.members().len(), 21);
    }
}

#[tokio::test(start_paused = true)]
async fn who_is_added_and_who_is_removed_at_once_is_so_by_one_commit() {
    let world = World::new(36);
    let people = ["alice", "bob", "carol", "dave", "erin"].map(|name| world.agent(name));
    let at = world.opened(&people).await;
    let did = |of: usize| [people[of].did()];
    let a = at[0].create(at[0].policy().unwrap().sign(at[0].me().agent()).unwrap()).await.unwrap();
    a.invite(&[people[1].did(), people[2].did()]).await.unwrap();
    let (b, c) = (at[1].joined(&a.id()).await, at[2].joined(&a.id()).await);
    let before = a.status().epoch;
    let (dave, carol, erin) = (did(3), did(2), did(4));
    let all = tokio::join!(a.invite(&dave), a.remove(&carol), a.invite(&erin));
    all.0.and(all.1).and(all.2).unwrap();
    let there = [a.clone(), b, at[3].joined(&a.id()).await, at[4].joined(&a.id()).await];
    for (number, channel) in there.iter().enumerate() {
        channel.until(|status| status.epoch > before).await.unwrap();
        channel.send(number.to_string()).await.unwrap();
    }
    for channel in &there {
        let mut heard: Vec<String> = messages(channel, 4).await.into_iter().map(|(_, text)| text).collect();
        heard.sort();
        assert_eq!(heard, ["0", "1", "2", "3"]);
        assert_eq!((channel.status().epoch, channel.members().len()), (before + 1, 4));
    }
    while let Ok(next) = c.next().await {
        assert!(!matches!(next.event, Event::Message { .. }));
    }
    assert!(c.status().over);
}

#[tokio::test(start_paused = true)]
async fn tokens_that_stream_travel_in_bundles() {
    let world = World::new(9);
    let (_nodes, channels) = world.channel(2, |options| options.bundle = Duration::from_millis(30)).await;
    let sends = (0..20).map(|n| {
        let channel = channels[0].clone();
        tokio::spawn(async move { channel.send(format!("token {n}")).await.unwrap() })
    });
    let mut counters = BTreeSet::new();
    for send in sends.collect::<Vec<_>>() {
        counters.insert(send.await.unwrap().counter);
    }
    assert_eq!(counters.len(), 1);
    assert_eq!(messages(&channels[1], 20).await.len(), 20);
}

#[tokio::test(start_paused = true)]
async fn how_long_a_message_may_be_counts_for_each_in_a_bundle_and_for_no_receipt() {
    let world = World::new(38);
    let (mut alice, bob) = (world.agent("alice"), world.agent("bob"));
    alice.options.bundle = Duration::from_millis(30);
    let (at_alice, at_bob) = (alice.node().await, bob.node().await);
    at_bob.offered(&world).await;
    let mut policy = at_alice.policy().unwrap();
    policy.max_message = 10;
    let a = at_alice.create(policy.sign(at_alice.me().agent()).unwrap()).await.unwrap();
    a.invite(&[bob.did()]).await.unwrap();
    let b = at_bob.joined(&a.id()).await;
    let said = join_all(["ten bytes!", "too long by far", "ten again!"].map(|word| a.send(word))).await;
    assert_eq!(said[1].as_ref().unwrap_err().reason(), Some(Reason::TooLong));
    assert_eq!(said[0].as_ref().unwrap().counter, said[2].as_ref().unwrap().counter);
    let heard: Vec<String> = messages(&b, 2).await.into_iter().map(|(_, text)| text).collect();
    assert_eq!(heard, ["ten bytes!", "ten again!"]);
    let of_bob =
        |member: &gambeson_slim::MemberStatus| member.did == bob.did().as_str() && member.behind == 0;
    a.until(|status| status.members.iter().any(of_bob)).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn an_answer_comes_after_its_question_where_causal_order_is_asked_for() {
    for causal in [true, false] {
        let world = World::new(12);
        let (_nodes, channels) = world.channel(2, |options| options.causal = causal).await;
        let mut carol = world.agent("carol");
        carol.options.causal = causal;
        let link = std::sync::Arc::new(Faulty::new(world.hub.link(), 12, Faults::NONE));
        let at_carol = carol.node_on(link.clone()).await.unwrap();
        at_carol.offered(&world).await;
        // What carol cannot read is no reason to wait.
        channels[0].send("before her time").await.unwrap();
        assert_eq!(messages(&channels[1], 1).await.len(), 1);
        channels[0].invite(&[carol.did()]).await.unwrap();
        let c = at_carol.joined(&channels[0].id()).await;
        channels[1].until(|status| status.members.len() == 3).await.unwrap();
        for round in ["first", "second"] {
            link.cut(true);
            channels[0].send(format!("{round} question")).await.unwrap();
            assert_eq!(messages(&channels[1], 1).await.len(), 1);
            link.cut(false);
            channels[1].send(format!("{round} answer")).await.unwrap();
            assert_eq!(messages(&channels[1], 1).await.len(), 1, "its own words");
            let heard: Vec<String> = messages(&c, 2).await.into_iter().map(|(_, text)| text).collect();
            let expected = match causal {
                true => [format!("{round} question"), format!("{round} answer")],
                false => [format!("{round} answer"), format!("{round} question")],
            };
            assert_eq!(heard, expected, "causal: {causal}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn what_was_seen_of_more_senders_than_one_bundle_names_stands_before_what_was_said_after_it() {
    let world = World::new(33);
    let (_nodes, channels) = world.channel(66, |options| options.causal = true).await;
    let [first, others @ .., last] = &channels[..] else { panic!() };
    for channel in [others, std::slice::from_ref(last)].concat() {
        channel.send("before").await.unwrap();
    }
    assert_eq!(messages(first, 65).await.len(), 65);
    let id = first.send("after all").await.unwrap();
    assert_eq!(id.counter, 2, "64 are named by a bundle of their own");
    let heard = messages(last, 66).await;
    assert_eq!((&*heard[65].1, last.status().dropped), ("after all", 0));
}

#[tokio::test(start_paused = true)]
async fn receipts_tell_how_far_a_member_has_everything_whatever_the_log_has() {
    let world = World::new(24);
    let (alice, bob) = (world.agent("alice"), world.agent("bob"));
    let (_at_alice, at_bob, a) = invited(&world, &alice, &bob).await;
    at_bob.joined(&a.id()).await;
    let behind = || {
        let status = a.status();
        status.members.iter().find(|member| member.did == bob.did().as_str()).unwrap().behind
    };
    a.send("heard").await.unwrap();
    tokio::time::sleep(Duration::from_secs(10)).await;
    assert_eq!(behind(), 0);
    drop(at_bob);
    for word in ["not", "yet"] {
        a.send(word).await.unwrap();
    }
    a.until(|status| status.unsent == 0).await.unwrap();
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(behind(), 2);
    let _at_bob = bob.node().await;
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(behind(), 0);
}

#[tokio::test(start_paused = true)]
async fn so_many_messages_after_new_keys_a_member_takes_new_ones() {
    let world = World::new(22);
    let (alice, bob) = (world.agent("alice"), world.agent("bob"));
    let (at_alice, at_bob) = (alice.node().await, bob.node().await);
    at_bob.offered(&world).await;
    let mut policy = at_alice.policy().unwrap();
    policy.rotate_messages = 5;
    let a = at_alice.create(policy.sign(at_alice.me().agent()).unwrap()).await.unwrap();
    a.invite(&[bob.did()]).await.unwrap();
    let b = at_bob.joined(&a.id()).await;
    let rotated = async || {
        let all = a.history(1, 100).await.unwrap();
        let by_bob = |event: &Event| matches!(event, Event::Rotated { by, .. } if by == bob.did().as_str());
        all.iter().filter(|happened| by_bob(&happened.event)).count()
    };
    for (word, times) in [(0, 0), (4, 1), (9, 2)] {
        while b.status().sent.0 <= word {
            b.send("a word").await.unwrap();
        }
        tokio::time::sleep(Duration::from_secs(5)).await;
        assert_eq!(rotated().await, times, "after {} words", word + 1);
    }
}

#[tokio::test(start_paused = true)]
async fn messages_are_counted_in_bundles_too_and_after_a_restart_new_keys_are_still_due() {
    let world = World::new(34);
    let (alice, mut bob) = (world.agent("alice"), world.agent("bob"));
    bob.options.bundle = Duration::from_millis(30);
    let (at_alice, at_bob) = (alice.node().await, bob.node().await);
    at_bob.offered(&world).await;
    let mut policy = at_alice.policy().unwrap();
    policy.rotate_messages = 20;
    let a = at_alice.create(policy.sign(at_alice.me().agent()).unwrap()).await.unwrap();
    a.invite(&[bob.did()]).await.unwrap();
    let b = at_bob.joined(&a.id()).await;
    let epoch = b.status().epoch;
    let said = join_all((0..20).map(|_| b.send("a word"))).await;
    assert!(said.iter().all(|id| id.as_ref().unwrap().counter == 1));
    drop((at_bob, b));
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(a.status().epoch, epoch, "it stopped before its commit");
    let at_bob = bob.node().await;
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(at_bob.channel(&a.id()).unwrap().status().epoch, epoch + 1);
    let all = a.history(1, 100).await.unwrap();
    assert!(
        all.iter()
            .any(|happened| matches!(&happened.event, Event::Rotated { by, .. } if by == bob.did().as_str()))
    );
}

#[tokio::test(start_paused = true)]
async fn who_only_listens_says_how_far_it_heard_and_is_let_go_and_no_message_is_taken_from_it() {
    let world = World::new(35);
    let (nodes, channels) = world.channel(3, |_| {}).await;
    let carol = nodes[2].me().did().clone();
    let mut next = world.policy_of(&channels[0]).await.next(world.now());
    next.roles.insert(carol.clone(), Role::Listener);
    channels[0].change(next.sign(nodes[0].me().agent()).unwrap()).await.unwrap();
    channels[2].until(|status| status.policy.as_ref() == Some(&next)).await.unwrap();
    let Err(gambeson_slim::Error::Refused(refusal)) = channels[2].send("a word").await else { panic!() };
    assert_eq!(refusal.reason(), Reason::Listener);
    channels[1].send("heard").await.unwrap();
    tokio::time::sleep(Duration::from_secs(300)).await;
    let status = channels[1].status();
    assert!(status.members.iter().all(|member| member.behind == 0), "{status:?}");
    channels[2].leave().await.unwrap();
    channels[1].until(|status| status.members.len() == 2).await.unwrap();
    assert!(channels[0].members().iter().all(|member| member != carol.as_str()));
}

#[tokio::test(start_paused = true)]
async fn a_checkpoint_lets_the_log_forget_what_is_before_it_where_members_ask_for_that() {
    for prune in [true, false] {
        let world = World::new(23);
        let (_nodes, channels) = world.channel(2, |options| options.prune = prune).await;
        let id = channels[0].id();
        for word in 0..3 {
            channels[0].send(format!("word {word}")).await.unwrap();
            channels[1].rotate().await.unwrap();
        }
        tokio::time::sleep(Duration::from_secs(10)).await;
        let head = world.services.log.read(&id, 1, 1).await.unwrap().head;
        assert_eq!(head.first > 1, prune, "{head:?}");
        let carol = world.agent("carol");
        let at_carol = carol.node().await;
        at_carol.offered(&world).await;
        channels[0].invite(&[carol.did()]).await.unwrap();
        let c = at_carol.joined(&id).await;
        channels[0].send("to all").await.unwrap();
        assert_eq!(messages(&c, 1).await[0].1, "to all");
    }
}

#[tokio::test(start_paused = true)]
async fn who_closes_a_channel_ends_it_for_everybody() {
    let world = World::new(10);
    let (nodes, channels) = world.channel(4, |_| {}).await;
    assert!(channels[1].close().await.is_err(), "a member may not");
    channels[0].close().await.unwrap();
    for (node, channel) in nodes.iter().zip(&channels) {
        while channel.next().await.is_ok() {}
        assert!(channel.status().over && node.channels().is_empty());
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_older_than_the_policy_lets_members_keep_is_forgotten() {
    let world = World::new(11);
    let (nodes, channels) = world.channel(2, |_| {}).await;
    let mut policy = world.policy_of(&channels[0]).await.next(world.now());
    policy.retention = 3_600;
    channels[0].change(policy.sign(nodes[0].me().agent()).unwrap()).await.unwrap();
    channels[0].send("old").await.unwrap();
    assert_eq!(messages(&channels[1], 1).await.len(), 1);
    tokio::time::sleep(Duration::from_secs(3_000)).await;
    channels[0].send("new").await.unwrap();
    assert_eq!(messages(&channels[1], 1).await.len(), 1);
    let texts = async |channel: &gambeson_slim::Channel| {
        let history = channel.history(0, 1_000).await.unwrap();
        let bytes = history.into_iter().filter_map(|occurrence| match occurrence.event {
            Event::Message { bytes, .. } => Some(bytes),
            _ => None,
        });
        bytes.collect::<Vec<_>>()
    };
    for channel in &channels {
        assert_eq!(texts(channel).await, ["old", "new"]);
    }
    tokio::time::sleep(Duration::from_secs(700)).await;
    for channel in &channels {
        assert_eq!(texts(channel).await, ["new"]);
    }
}

#[tokio::test(start_paused = true)]
async fn much_that_is_too_old_is_forgotten_as_soon_as_little() {
    let world = World::new(39);
    let (nodes, channels) = world.channel(1, |options| options.bundle = Duration::from_millis(30)).await;
    let mut policy = world.policy_of(&channels[0]).await.next(world.now());
    policy.retention = 60;
    channels[0].change(policy.sign(nodes[0].me().agent()).unwrap()).await.unwrap();
    assert!(join_all((0..2_500).map(|_| channels[0].send("old"))).await.iter().all(Result::is_ok));
    tokio::time::sleep(Duration::from_secs(100)).await;
    assert!(channels[0].history(0, 10_000).await.unwrap().is_empty());
}

/// A store, and what stands in it.
#[derive(Default)]
struct Listed {
    inner: MemoryStore,
    places: Mutex<BTreeSet<([u8; 16], u64)>>,
}

#[async_trait]
impl Store for Listed {
    async fn row(&self, row: [u8; 16], from: u64, most: usize) -> Result<BTreeMap<u64, Vec<u8>>> {
        self.inner.row(row, from, most).await
    }

    async fn apply(&self, batch: Batch) -> Result<()> {
        for (place, value) in &batch {
            let mut places = self.places.lock().unwrap();
            if value.is_some() {
                places.insert(*place)
            } else {
                places.remove(place)
            };
        }
        self.inner.apply(batch).await
    }
}

#[tokio::test(start_paused = true)]
async fn who_speaks_while_it_leaves_leaves_no_more_behind_than_what_it_said() {
    let mut left = Vec::new();
    for speaks in [false, true] {
        let world = World::new(40);
        let (alice, mut bob) = (world.agent("alice"), world.agent("bob"));
        let store = Arc::new(Listed::default());
        bob.store = store.clone();
        // Both are due at once: the words, and the end.
        (bob.options.bundle, bob.options.leave) = (Duration::from_millis(30), Duration::from_millis(30));
        let (_at_alice, at_bob, a) = invited(&world, &alice, &bob).await;
        let b = at_bob.joined(&a.id()).await;
        let said = async { if speaks { b.send("last words").await.map(drop) } else { Ok(()) } };
        let (said, gone) = tokio::join!(said, b.leave());
        said.and(gone).unwrap();
        left.push(store.places.lock().unwrap().len());
    }
    assert_eq!(left[0] + 1, left[1], "what was said stays in the history, and no secret");
}

#[tokio::test(start_paused = true)]
async fn a_last_message_that_is_lost_on_the_link_is_announced_and_does_not_wait_for_the_next_look() {
    let world = World::new(13);
    let (_nodes, channels) = world.channel(2, |_| {}).await;
    let carol = world.agent("carol");
    let link = std::sync::Arc::new(Faulty::new(world.hub.link(), 13, Faults::NONE));
    let at_carol = carol.node_on(link.clone()).await.unwrap();
    at_carol.offered(&world).await;
    channels[0].invite(&[carol.did()]).await.unwrap();
    let c = at_carol.joined(&channels[0].id()).await;
    link.cut(true);
    channels[0].send("the last one").await.unwrap();
    // The frame is gone, and the announcement is to come.
    tokio::time::sleep(Duration::from_millis(100)).await;
    link.cut(false);
    let waiting = tokio::time::Instant::now();
    assert_eq!(messages(&c, 1).await.len(), 1);
    assert!(waiting.elapsed() < Duration::from_secs(2), "after {:?}", waiting.elapsed());
}

#[tokio::test(start_paused = true)]
async fn after_many_came_at_once_a_few_commit_a_path_each_and_then_no_more() {
    let world = World::new(14);
    let (_nodes, channels) = world.channel(33, |_| {}).await;
    tokio::time::sleep(Duration::from_secs(60)).await;
    let epoch = channels[0].status().epoch;
    assert_eq!(epoch, 2, "one commit with the others and the path of leaf 0, and the path of leaf 32");
    let mut rotated = 0;
    for happened in channels[1].history(1, 100).await.unwrap() {
        rotated += u32::from(matches!(happened.event, Event::Rotated { .. }));
    }
    assert_eq!(rotated, 1);
    let standing = channels[0].status().authenticator;
    assert!(channels.iter().all(|channel| channel.status().authenticator == standing));
}

#[tokio::test(start_paused = true)]
async fn an_invitation_that_nobody_decided_on_waits_through_a_restart_until_it_is_declined() {
    let world = World::new(15);
    let (alice, bob) = (world.agent("alice"), world.agent("bob").asking());
    let (_at_alice, at_bob, a) = invited(&world, &alice, &bob).await;
    assert_eq!(at_bob.invitation().await.channel, a.id());
    drop(at_bob);

    let at_bob = bob.node().await;
    let invitation = at_bob.invitation().await;
    at_bob.decline(invitation.clone()).await.unwrap();
    drop(at_bob);

    let at_bob = bob.node().await;
    let later = tokio::time::timeout(Duration::from_secs(120), at_bob.invitation()).await;
    assert!(later.is_err(), "it was declined");
    let b = at_bob.accept(invitation).await.unwrap();
    b.send("after all").await.unwrap();
    assert_eq!(messages(&a, 1).await, [said(&bob, "after all")]);
}

#[tokio::test(start_paused = true)]
async fn two_that_accept_an_invitation_at_once_are_in_one_channel_once() {
    let world = World::new(16);
    let (alice, bob) = (world.agent("alice"), world.agent("bob").asking());
    let (_at_alice, at_bob, a) = invited(&world, &alice, &bob).await;
    let invitation = at_bob.invitation().await;
    let (one, other) = tokio::join!(at_bob.accept(invitation.clone()), at_bob.accept(invitation));
    one.unwrap().send("one").await.unwrap();
    other.unwrap().send("two").await.unwrap();
    assert_eq!(messages(&a, 2).await, [said(&bob, "one"), said(&bob, "two")]);
}

/// Blobs that take a while.
struct Slow(Arc<dyn Blobs>);

#[async_trait]
impl Blobs for Slow {
    async fn put(&self, bytes: Bytes) -> Result<BlobId> {
        self.0.put(bytes).await
    }

    async fn get(&self, id: &BlobId) -> Result<Option<Bytes>> {
        tokio::time::sleep(Duration::from_secs(10)).await;
        self.0.get(id).await
    }

    async fn has(&self, ids: &[BlobId]) -> Result<Vec<bool>> {
        self.0.has(ids).await
    }
}

#[tokio::test(start_paused = true)]
async fn an_invitation_that_is_being_accepted_when_the_node_goes_holds_no_store_and_is_accepted_the_next_time()
 {
    let world = World::new(20);
    let (alice, mut bob) = (world.agent("alice"), world.agent("bob").asking());
    bob.world.services.blobs = Arc::new(Slow(Arc::clone(&world.services.blobs)));
    let (_at_alice, at_bob, a) = invited(&world, &alice, &bob).await;
    let invitation = at_bob.invitation().await;
    let accepted = tokio::time::timeout(Duration::from_secs(1), at_bob.accept(invitation)).await;
    assert!(accepted.is_err(), "it takes longer");
    drop(at_bob);
    tokio::time::sleep(Duration::from_secs(120)).await;
    assert_eq!(Arc::strong_count(&bob.store), 1, "nothing of the node is left");

    let at_bob = bob.node().await;
    let invitation = at_bob.invitation().await;
    // Who gives up waiting loses nothing while the node is there.
    let accepted = tokio::time::timeout(Duration::from_secs(1), at_bob.accept(invitation)).await;
    assert!(accepted.is_err(), "it takes longer");
    let b = at_bob.joined(&a.id()).await;
    b.send("once").await.unwrap();
    assert_eq!(messages(&a, 1).await, [said(&bob, "once")]);
}

#[tokio::test(start_paused = true)]
async fn who_was_removed_while_away_and_invited_again_is_back_and_reads_on() {
    let world = World::new(17);
    let (alice, mut bob) = (world.agent("alice"), world.agent("bob"));
    bob.options.history = 8;
    let (_at_alice, at_bob, a) = invited(&world, &alice, &bob).await;
    let b = at_bob.joined(&a.id()).await;
    for word in 0..10 {
        a.send(word.to_string()).await.unwrap();
        assert_eq!(messages(&b, 1).await, [said(&alice, &word.to_string())]);
    }
    b.acknowledge().await.unwrap();
    drop((b, at_bob));
    a.remove(&[bob.did()]).await.unwrap();
    a.invite(&[bob.did()]).await.unwrap();

    let at_bob = bob.node().await;
    tokio::time::sleep(Duration::from_secs(60)).await;
    let b = at_bob.joined(&a.id()).await;
    b.send("again").await.unwrap();
    assert_eq!(messages(&a, 11).await[10], said(&bob, "again"));
    assert_eq!(a.status().authenticator, b.status().authenticator);
    a.send("welcome back").await.unwrap();
    assert_eq!(messages(&b, 2).await, [said(&bob, "again"), said(&alice, "welcome back")]);
    // Ten words, that it was removed, two words: each has a position of its own, and the oldest went.
    let history = b.history(1, 100).await.unwrap();
    assert_eq!(history.iter().map(|one| one.position).collect::<Vec<_>>(), (6..=13).collect::<Vec<_>>());
    assert_eq!(b.newest().await.unwrap(), 14);
}

#[tokio::test(start_paused = true)]
async fn who_was_started_often_and_said_nothing_is_heard_when_it_speaks() {
    let world = World::new(18);
    let (alice, bob) = (world.agent("alice"), world.agent("bob"));
    let (_at_alice, mut at_bob, a) = invited(&world, &alice, &bob).await;
    at_bob.joined(&a.id()).await;
    for _ in 0..40 {
        drop(at_bob);
        at_bob = bob.node().await;
        at_bob.channel(&a.id()).unwrap().catch_up().await.unwrap();
    }
    let b = at_bob.channel(&a.id()).unwrap();
    b.send("here I am").await.unwrap();
    assert_eq!(messages(&a, 1).await, [said(&bob, "here I am")]);
}

#[tokio::test(start_paused = true)]
async fn hours_until_the_next_rotation_are_counted_through_restarts() {
    let world = World::new(19);
    let (alice, bob) = (world.agent("alice"), world.agent("bob"));
    let (at_alice, mut at_bob) = (alice.node().await, bob.node().await);
    at_bob.offered(&world).await;
    let mut policy = at_alice.policy().unwrap();
    policy.rotate_hours = 10;
    let a = at_alice.create(policy.sign(at_alice.me().agent()).unwrap()).await.unwrap();
    a.invite(&[bob.did()]).await.unwrap();
    at_bob.joined(&a.id()).await;
    for _ in 0..4 {
        drop(at_bob);
        at_bob = bob.node().await;
        tokio::time::sleep(Duration::from_secs(3 * 3600)).await;
    }
    let mut by_bob = 0;
    for happened in a.history(1, 100).await.unwrap() {
        by_bob += u32::from(matches!(happened.event, Event::Rotated { by, .. } if by == bob.did().as_str()));
    }
    assert_eq!(by_bob, 1, "in twelve hours, of which it was never there for ten");
}

#[tokio::test(start_paused = true)]
async fn an_epoch_that_is_not_there_yet_in_the_log_makes_nobody_believe_to_be_left_behind() {
    let world = World::new(20);
    let (_nodes, channels) = world.channel(2, |_| {}).await;
    channels[0].send("before").await.unwrap();
    assert_eq!(messages(&channels[1], 1).await.len(), 1);
    channels[0].until(|status| status.unsent == 0).await.unwrap();
    let (log, id) = (&world.services.log, channels[0].id());
    let page = log.read(&id, 1, 100).await.unwrap();
    let said = page.records.iter().rev().find(|record| record.entry.kind == EntryKind::Application).unwrap();
    let mut forged = said.entry.content.to_vec();
    // Behind one byte of ours, the version, the format and the group's id of 32 bytes.
    forged[38..46].copy_from_slice(&(channels[0].status().epoch + 1).to_be_bytes());
    let entry = Entry { id: EntryId([7; 16]), kind: EntryKind::Application, content: forged.into() };
    log.append(&id, entry, 0).await.unwrap();
    for channel in &channels {
        channel.catch_up().await.unwrap();
    }
    let epoch = channels[0].status().epoch;
    channels[1].send("after").await.unwrap();
    assert_eq!(messages(&channels[0], 1).await.len(), 1);
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(channels[0].status().epoch, epoch, "nobody came back from outside");
}

#[tokio::test(start_paused = true)]
async fn a_channel_stands_as_it_stood_when_its_agent_is_opened_again() {
    let world = World::new(41);
    let (alice, mut bob) = (world.agent("alice"), world.agent("bob"));
    bob.store = Arc::new(MemoryStore::new());
    let (_at_alice, at_bob, a) = invited(&world, &alice, &bob).await;
    let b = at_bob.joined(&a.id()).await;
    b.until(|status| status.members.len() == 2).await.unwrap();
    let before = b.status();
    drop((b, at_bob));
    let again = bob.node().await;
    // At once: nothing ran since.
    let after = again.channel(&a.id()).unwrap().status();
    let people = |status: &Status| -> Vec<(String, String)> {
        status.members.iter().map(|member| (member.did.clone(), member.role.clone())).collect()
    };
    assert_eq!((after.epoch, after.authenticator), (before.epoch, before.authenticator));
    assert_eq!(people(&after), people(&before));
    assert_eq!((after.suite, after.policy, after.over), (before.suite, before.policy, false));
}
