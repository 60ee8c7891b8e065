//! Strangers on a channel's name, and what they send.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use bytes::Bytes;
use gambeson_identity::Role;
use gambeson_slim::{Channel, ChannelId, Entry, EntryId, EntryKind, Error, Frame, Link, MAX_FRAME, Name, To};

use crate::broken::{Relabelling, Tapped};
use crate::world::packed::Packed;
use crate::world::{Offered, Person, World, messages};

/// A channel of two, what the first of them sent so far, and a stranger's link.
async fn overheard(seed: u64) -> (World, Vec<gambeson_slim::Node>, Vec<gambeson_slim::Channel>, Arc<Tapped>) {
    let world = World::new(seed);
    let (alice, bob) = (world.agent("alice"), world.agent("bob"));
    let tap = Arc::new(Tapped::new(world.hub.link()));
    let at_alice = alice.node_on(tap.clone()).await.unwrap();
    let at_bob = bob.node().await;
    at_bob.offered(&world).await;
    let policy = at_alice.policy().unwrap().sign(at_alice.me().agent()).unwrap();
    let a = at_alice.create(policy).await.unwrap();
    a.invite(&[bob.did()]).await.unwrap();
    let b = at_bob.joined(&a.id()).await;
    a.send("one").await.unwrap();
    assert_eq!(messages(&b, 1).await[0].1, "one");
    (world, vec![at_alice, at_bob], vec![a, b], tap)
}

fn channel_frames(tap: &Tapped) -> Vec<(Name, Bytes)> {
    let sent = tap.sent.lock().unwrap();
    sent.iter().filter(|(name, _)| name.parts()[1] == "channels").cloned().collect()
}

#[tokio::test(start_paused = true)]
async fn what_is_replayed_is_heard_once() {
    let (world, _nodes, channels, tap) = overheard(31).await;
    let stranger = world.hub.link();
    for (name, frame) in channel_frames(&tap) {
        for _ in 0..5 {
            stranger.publish(&name, To::All, frame.clone()).await.unwrap();
        }
        // And as another entry, so that only MLS can tell.
        if let Ok(Frame::Entry { kind, content, .. }) = Frame::parse(&frame) {
            let other = Frame::Entry { id: EntryId([9; 16]), kind, content };
            stranger.publish(&name, To::All, other.to_bytes().unwrap()).await.unwrap();
        }
    }
    channels[0].send("two").await.unwrap();
    assert_eq!(messages(&channels[1], 1).await[0].1, "two");
    tokio::time::sleep(Duration::from_secs(60)).await;
    let heard = channels[1].history(1, 100).await.unwrap();
    let said = heard.iter().filter(|one| matches!(one.event, gambeson_slim::Event::Message { .. }));
    assert_eq!(said.count(), 2);
    assert!(channels[1].status().dropped >= 6);
}

#[tokio::test(start_paused = true)]
async fn a_forged_sender_is_not_heard_and_does_not_silence_the_true_one() {
    let (world, _nodes, channels, tap) = overheard(32).await;
    let stranger = world.hub.link();
    let (name, frame) = channel_frames(&tap)
        .into_iter()
        .find(|(_, frame)| matches!(Frame::parse(frame), Ok(Frame::Entry { .. })))
        .unwrap();
    let Ok(Frame::Entry { kind, content, .. }) = Frame::parse(&frame) else { panic!("just seen") };
    // Every part of the message in turn is another.
    for at in (0..content.len()).step_by(97) {
        let mut forged = content.to_vec();
        forged[at] ^= 1;
        let frame = Frame::Entry { id: EntryId([at as u8; 16]), kind, content: forged.into() };
        stranger.publish(&name, To::All, frame.to_bytes().unwrap()).await.unwrap();
    }
    for n in 0..10 {
        channels[0].send(format!("true {n}")).await.unwrap();
    }
    let heard = messages(&channels[1], 10).await;
    assert!(heard.iter().enumerate().all(|(n, (_, text))| *text == format!("true {n}")), "{heard:?}");
}

#[tokio::test(start_paused = true)]
async fn an_outsider_on_the_name_reads_nothing_and_loses_the_name_with_a_removal() {
    let (world, nodes, channels, tap) = overheard(33).await;
    let name = channel_frames(&tap)[0].0.clone();
    let outsider = world.hub.link();
    outsider.subscribe(&name.clone().with_instance(7)).await.unwrap();
    channels[0].send("a secret word").await.unwrap();
    let heard = outsider.receive().await.unwrap();
    assert!(!heard.frame.windows(6).any(|bytes| bytes == b"secret"));

    let carol = world.agent("carol");
    let at_carol = carol.node().await;
    at_carol.offered(&world).await;
    channels[0].invite(&[carol.did()]).await.unwrap();
    at_carol.joined(&channels[0].id()).await;
    channels[0].remove(&[carol.did()]).await.unwrap();
    channels[1].until(|status| status.epoch == 3).await.unwrap();
    tap.sent.lock().unwrap().clear();
    channels[0].send("on another name").await.unwrap();
    assert_eq!(messages(&channels[1], 2).await[1].1, "on another name");
    assert!(channel_frames(&tap).iter().all(|(other, _)| *other != name));
    drop(nodes);
}

#[tokio::test(start_paused = true)]
async fn oversized_truncated_and_senseless_frames_are_dropped_and_cost_nothing_else() {
    let (world, nodes, channels, tap) = overheard(34).await;
    let stranger = world.hub.link();
    let (name, frame) = channel_frames(&tap)[0].clone();
    for len in [0, 1, 2, 17, frame.len() / 2, frame.len() - 1] {
        stranger.publish(&name, To::All, frame.slice(..len.min(frame.len()))).await.unwrap();
    }
    assert!(stranger.publish(&name, To::All, vec![1; MAX_FRAME + 1].into()).await.is_err());
    stranger.publish(&name, To::All, vec![1; MAX_FRAME].into()).await.unwrap();
    let far = Frame::Head { last: u64::MAX }.to_bytes().unwrap();
    stranger.publish(&name, To::All, far).await.unwrap();
    let inbox = Name::new(
        "gambeson",
        "inboxes",
        &blake3::hash(nodes[1].me().did().as_str().as_bytes()).to_hex()[..32],
    );
    let ask = Frame::Ask { channel: channels[0].id(), did: "did:key:zNobody".to_owned() };
    for frame in [ask.to_bytes().unwrap(), vec![1, 3, 0].into(), vec![1; 70_000].into()] {
        stranger.publish(&inbox, To::All, frame).await.unwrap();
    }
    // Rubbish in the inbox's log, too.
    let log = ChannelId(blake3::derive_key("gambeson inbox log v1", nodes[1].me().did().as_str().as_bytes()));
    let entry = Entry { id: EntryId([1; 16]), kind: EntryKind::Application, content: vec![1, 3, 9].into() };
    world.services.log.append(&log, entry, 0).await.unwrap();
    nodes[1].look();
    channels[0].send("two").await.unwrap();
    assert_eq!(messages(&channels[1], 1).await[0].1, "two");
}

/// What a member signs of an epoch that it says to have seen so.
fn view(of: &Person, channel: &Channel, epoch: u64, authenticator: [u8; 16]) -> Bytes {
    let said = [&channel.id().0[..], &epoch.to_be_bytes(), &authenticator].concat();
    let signature = of.agent.key(Role::Signing).sign(b"gambeson channel view v1", &said).unwrap();
    let did = of.did().as_str().to_owned();
    let signature = signature.into();
    Frame::View { channel: channel.id(), did, epoch, authenticator, signature }.to_bytes().unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_member_that_lies_about_the_channel_stops_its_words_until_it_is_taken_out_and_nothing_else() {
    let (world, nodes, channels, tap) = overheard(35).await;
    let (a, b) = (&channels[0], &channels[1]);
    let mallory = world.agent("mallory");
    let at_mallory = mallory.node().await;
    at_mallory.offered(&world).await;
    a.invite(&[mallory.did()]).await.unwrap();
    let m = at_mallory.joined(&a.id()).await;
    m.send("the truth").await.unwrap();
    for channel in [a, b] {
        messages(channel, 1).await;
    }
    let (name, link) = (channel_frames(&tap)[0].0.clone(), world.hub.link());
    // Of a time before it came, and of an epoch whose keys it has used.
    for epoch in 0..=a.status().epoch {
        link.publish(&name, To::All, view(&mallory, a, epoch, [7; 16])).await.unwrap();
        tokio::time::sleep(Duration::from_secs(20)).await;
        assert!(!a.status().forked && !b.status().forked, "epoch {epoch}");
    }
    drop((m, at_mallory));
    b.rotate().await.unwrap();
    a.until(|status| status.epoch == 3).await.unwrap();
    link.publish(&name, To::All, view(&mallory, a, 3, [7; 16])).await.unwrap();
    for channel in [a, b] {
        channel.until(|status| status.forked).await.unwrap();
        assert!(matches!(channel.send("no").await, Err(Error::Forked)));
        assert!(matches!(channel.rotate().await, Err(Error::Forked)));
    }
    // It may not, and is told so.
    assert_eq!(b.remove(&[mallory.did()]).await.unwrap_err().reason().unwrap().code(), "not-permitted");
    a.remove(&[mallory.did()]).await.unwrap();
    b.until(|status| status.members.len() == 2 && !status.forked).await.unwrap();
    assert!(!a.status().forked);
    a.send("without mallory").await.unwrap();
    assert_eq!(messages(b, 1).await[0].1, "without mallory");
    drop(nodes);
}

#[tokio::test(start_paused = true)]
async fn who_lies_is_taken_out_of_a_channel_whose_log_had_no_room_and_who_asks_is_told_where_that_lasts() {
    let mut world = World::new(38);
    let log = Packed::over(&world.services.log);
    world.services.log = log.clone();
    let (alice, mallory) = (world.agent("alice"), world.agent("mallory"));
    let tap = Arc::new(Tapped::new(world.hub.link()));
    let at_alice = alice.node_on(tap.clone()).await.unwrap();
    let at_mallory = mallory.node().await;
    at_mallory.offered(&world).await;
    let a = at_alice.create(at_alice.policy().unwrap().sign(at_alice.me().agent()).unwrap()).await.unwrap();
    a.invite(&[mallory.did()]).await.unwrap();
    at_mallory.joined(&a.id()).await.until(|status| status.epoch == 1).await.unwrap();
    drop(at_mallory);
    a.send("before").await.unwrap();
    a.until(|status| status.unsent == 0).await.unwrap();
    let (name, link) = (channel_frames(&tap)[0].0.clone(), world.hub.link());
    link.publish(&name, To::All, view(&mallory, &a, 1, [7; 16])).await.unwrap();
    a.until(|status| status.forked).await.unwrap();

    log.packed.store(true, Ordering::SeqCst);
    let gone = [mallory.did()];
    let told =
        tokio::time::timeout(Duration::from_secs(60), a.remove(&gone)).await.expect("who asks is told");
    assert!(matches!(told, Err(Error::Full(_))), "{told:?}");
    let packed = async {
        tokio::time::sleep(Duration::from_secs(3)).await;
        log.packed.store(false, Ordering::SeqCst);
    };
    let removed = tokio::time::timeout(Duration::from_secs(120), a.remove(&gone));
    let (removed, ()) = tokio::join!(removed, packed);
    removed.expect("there is room again").unwrap();
    assert!(!a.status().forked);
    a.send("after").await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_fork_that_nobody_decided_on_is_one_after_a_restart_and_ends_with_the_liar() {
    let world = World::new(36);
    let people = ["alice", "bob", "mallory"].map(|name| world.agent(name));
    let mut at = world.opened(&people).await;
    let policy = at[0].policy().unwrap().sign(at[0].me().agent()).unwrap();
    let a = at[0].create(policy).await.unwrap();
    a.invite(&[people[1].did(), people[2].did()]).await.unwrap();
    let b = at[1].joined(&a.id()).await;
    let tap = Arc::new(Tapped::new(world.hub.link()));
    drop((b, at.split_off(1)));
    let at_bob = people[1].node_on(tap.clone()).await.unwrap();
    let b = at_bob.joined(&a.id()).await;
    b.send("where we are").await.unwrap();
    messages(&a, 1).await;
    let (name, link) = (channel_frames(&tap)[0].0.clone(), world.hub.link());
    link.publish(&name, To::All, view(&people[2], &a, 1, [7; 16])).await.unwrap();
    b.until(|status| status.forked).await.unwrap();
    let id = a.id();
    drop((b, at_bob));
    let at_bob = people[1].node().await;
    let b = at_bob.joined(&id).await;
    b.until(|status| status.forked).await.unwrap();
    a.remove(&[people[2].did()]).await.unwrap();
    b.until(|status| !status.forked).await.unwrap();
    b.send("after it").await.unwrap();
    assert_eq!(messages(&a, 1).await[0].1, "after it");
}

#[tokio::test(start_paused = true)]
async fn a_node_that_hands_on_a_message_under_the_id_of_another_hides_neither() {
    let world = World::new(39);
    let (_nodes, channels) = world.channel(2, |_| {}).await;
    let carol = world.agent("carol");
    let link = Arc::new(Relabelling::new(world.hub.link()));
    let at_carol = carol.node_on(link.clone()).await.unwrap();
    at_carol.offered(&world).await;
    channels[0].invite(&[carol.did()]).await.unwrap();
    let c = at_carol.joined(&channels[0].id()).await;
    channels[1].until(|status| status.members.len() == 3).await.unwrap();
    channels[0].send("kept back").await.unwrap();
    tokio::time::sleep(Duration::from_millis(50)).await;
    channels[1].send("under its id").await.unwrap();
    let mut heard: Vec<_> = messages(&c, 2).await.into_iter().map(|(_, text)| text).collect();
    heard.sort();
    assert_eq!(heard, ["kept back", "under its id"]);
    assert!(link.met() >= 2, "the node had both in its hands");
}
