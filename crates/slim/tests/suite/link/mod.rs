//! What holds of every link, in memory and over nodes of SLIM.

mod nodes;

use bytes::Bytes;
use gambeson_slim::{Error, Incoming, Link, MAX_FRAME, Name, To, memory::Hub};
use std::collections::BTreeSet;
use std::time::Duration;
use tokio::time::timeout;

/// How long a frame may be on its way.
const SOON: Duration = Duration::from_secs(10);
/// After this, nothing comes any more.
const NEVER: Duration = Duration::from_millis(400);

/// A name that no other test uses.
fn name() -> Name {
    Name::new("gambeson", "tests", format!("{:016x}", getrandom::u64().unwrap()))
}

async fn next(link: &dyn Link) -> Incoming {
    timeout(SOON, link.receive()).await.expect("a frame came").unwrap()
}

async fn silent(link: &dyn Link) -> bool {
    timeout(NEVER, link.receive()).await.is_err()
}

/// Runs everything over links that `make` gives.
async fn holds<L: Link>(make: impl AsyncFn() -> L) {
    everyone_but_the_publisher_hears(&make).await;
    one_of_many_hears(&make).await;
    an_instance_is_reached_alone(&make).await;
    who_unsubscribed_hears_no_more(&make).await;
    wrong_calls_are_refused(&make).await;
    frames_of_one_sender_arrive_in_order(&make).await;
    the_largest_frame_arrives_whole(&make).await;
    a_dropped_receive_loses_nothing(&make).await;
}

async fn everyone_but_the_publisher_hears<L: Link>(make: &impl AsyncFn() -> L) {
    let (name, links) = (name(), [make().await, make().await, make().await]);
    for (instance, link) in links.iter().enumerate() {
        link.subscribe(&name.clone().with_instance(instance as u128)).await.unwrap();
    }
    links[0].publish(&name, To::All, Bytes::from_static(b"to all")).await.unwrap();
    for link in &links[1..] {
        let expected = Incoming { to: name.clone(), frame: Bytes::from_static(b"to all") };
        assert_eq!(next(link).await, expected);
    }
    assert!(silent(&links[0]).await, "who publishes does not hear it");
}

async fn one_of_many_hears<L: Link>(make: &impl AsyncFn() -> L) {
    let (name, sender, links) = (name(), make().await, [make().await, make().await]);
    for (instance, link) in links.iter().enumerate() {
        link.subscribe(&name.clone().with_instance(instance as u128)).await.unwrap();
    }
    for number in 0..20_u8 {
        sender.publish(&name, To::One, vec![number].into()).await.unwrap();
    }
    let mut heard = [0, 0];
    let mut numbers = BTreeSet::new();
    while numbers.len() < 20 {
        let (who, arrived) = tokio::select! {
            arrived = next(&links[0]) => (0, arrived),
            arrived = next(&links[1]) => (1, arrived),
        };
        heard[who] += 1;
        assert!(numbers.insert(arrived.frame[0]), "each goes to one");
    }
    assert!(heard.iter().all(|count| *count > 0), "they take turns: {heard:?}");
    assert!(silent(&links[0]).await && silent(&links[1]).await);
}

async fn an_instance_is_reached_alone<L: Link>(make: &impl AsyncFn() -> L) {
    let (name, sender, links) = (name(), make().await, [make().await, make().await]);
    for (instance, link) in links.iter().enumerate() {
        link.subscribe(&name.clone().with_instance(instance as u128 + 1)).await.unwrap();
    }
    for to in [To::All, To::One] {
        sender.publish(&name.clone().with_instance(2), to, Bytes::from_static(b"for 2")).await.unwrap();
        assert_eq!(next(&links[1]).await.to, name, "without the instance");
    }
    assert!(silent(&links[0]).await);
}

async fn who_unsubscribed_hears_no_more<L: Link>(make: &impl AsyncFn() -> L) {
    let (one, other, sender, link) = (name(), name(), make().await, make().await);
    link.unsubscribe(&one.clone().with_instance(5)).await.unwrap();
    for name in [&one, &other] {
        let here = name.clone().with_instance(5);
        link.subscribe(&here).await.unwrap();
        link.subscribe(&here).await.unwrap();
    }
    link.unsubscribe(&one.clone().with_instance(5)).await.unwrap();
    sender.publish(&one, To::All, Bytes::from_static(b"gone")).await.unwrap();
    sender.publish(&other, To::All, Bytes::from_static(b"here")).await.unwrap();
    assert_eq!(next(&link).await.frame, b"here"[..], "and once, though subscribed twice");
    assert!(silent(&link).await);
}

async fn wrong_calls_are_refused<L: Link>(make: &impl AsyncFn() -> L) {
    let link = make().await;
    assert!(matches!(link.subscribe(&name()).await, Err(Error::NoInstance)));
    let frame = Bytes::from(vec![0; MAX_FRAME + 1]);
    let refused = link.publish(&name(), To::All, frame).await;
    assert!(matches!(refused, Err(Error::FrameTooLarge(len)) if len == MAX_FRAME + 1));
    link.publish(&name(), To::All, Bytes::from_static(b"nobody listens")).await.unwrap();
}

async fn frames_of_one_sender_arrive_in_order<L: Link>(make: &impl AsyncFn() -> L) {
    let (name, sender, link) = (name(), make().await, make().await);
    link.subscribe(&name.clone().with_instance(1)).await.unwrap();
    for number in 0..1_000_u32 {
        sender.publish(&name, To::All, number.to_be_bytes().to_vec().into()).await.unwrap();
    }
    for number in 0..1_000_u32 {
        assert_eq!(next(&link).await.frame, number.to_be_bytes()[..]);
    }
}

async fn the_largest_frame_arrives_whole<L: Link>(make: &impl AsyncFn() -> L) {
    let (name, sender, link) = (name(), make().await, make().await);
    link.subscribe(&name.clone().with_instance(1)).await.unwrap();
    let frame: Bytes = (0..MAX_FRAME).map(|at| (at % 251) as u8).collect::<Vec<_>>().into();
    for expected in [frame, Bytes::new()] {
        sender.publish(&name, To::All, expected.clone()).await.unwrap();
        assert!(next(&link).await.frame == expected);
    }
}

async fn a_dropped_receive_loses_nothing<L: Link>(make: &impl AsyncFn() -> L) {
    let (name, sender, link) = (name(), make().await, make().await);
    link.subscribe(&name.clone().with_instance(1)).await.unwrap();
    for number in 0..100_u8 {
        assert!(timeout(Duration::ZERO, link.receive()).await.is_err());
        sender.publish(&name, To::All, vec![number].into()).await.unwrap();
        assert_eq!(next(&link).await.frame, vec![number]);
    }
}

#[tokio::test]
async fn a_link_in_memory_does_what_links_do() {
    let hub = Hub::new();
    holds(async || hub.link()).await;
}
