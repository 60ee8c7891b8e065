//! What comes before its time: in an epoch that never comes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use gambeson_slim::{ChannelId, Entry, EntryId, EntryKind, Frame, Link, Log, Page, Placed, Result, To};

use crate::broken::{Shut, Tapped};
use crate::world::{Offered, World, messages, said};

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
