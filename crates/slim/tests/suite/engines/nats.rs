//! NATS JetStream: a server of its own for each test. Without `nats-server` in PATH the tests say that they were skipped, and in CI
//! (`CI=true`) they fail.

use super::*;
use crate::nats_server::{Running, SMALL, server};
use bytes::Bytes;
use gambeson_slim::engine::{Nats, Retention};
use gambeson_slim::{
    BlobId, Blobs, ChannelId, Entry, EntryId, EntryKind, Error, KeyPackages, Keys, Log, Placed, Quota,
};

async fn engine(server: &Running, limits: Limits) -> Nats {
    keeping(server, limits, Retention::default()).await
}

async fn keeping(server: &Running, limits: Limits, retention: Retention) -> Nats {
    let client = async_nats::connect(format!("127.0.0.1:{}", server.port)).await.unwrap();
    Nats::open(client, "suite", 1, limits, retention).await.unwrap()
}

async fn kept() -> Option<Kept> {
    let server = server().await?;
    Some(Kept::with(engine(&server, SMALL).await, server))
}

runs_on!(jetstream, tokio::test, kept());
runs_on_small!(small_jetstream, tokio::test, async {
    let server = server().await?;
    let limits = Limits { store: 16 * 60_000, ..SMALL };
    Some(Kept::with(engine(&server, limits).await, server))
});
runs_on_forgetful!(forgetful_jetstream, tokio::test, async {
    let server = server().await?;
    // Retention that is given later holds too.
    engine(&server, SMALL).await;
    Some(Kept::with(keeping(&server, SMALL, all::SOON).await, server))
});
runs_on!(jetstream_over_a_link, tokio::test, async {
    let kept = kept().await?;
    let faults = Faults { loss: 0.0, latest: Duration::from_millis(5), ..BAD };
    let client = over_a_link(kept.engine, 50, faults).await;
    Some(Kept { _with: Box::new((client._with, kept._with)), ..client })
});

fn commit(id: u8) -> Entry {
    Entry { id: EntryId([id; 16]), kind: EntryKind::Commit, content: vec![id].into() }
}

#[tokio::test]
async fn two_services_beside_each_other_keep_one_log() {
    let Some(server) = server().await else { return };
    let (here, there) = (engine(&server, SMALL).await, engine(&server, SMALL).await);
    let channel = ChannelId([1; 32]);
    let mut newest = 0;
    for round in 0..10 {
        let (a, b) = tokio::join!(
            here.append(&channel, commit(2 * round), newest),
            there.append(&channel, commit(2 * round + 1), newest)
        );
        newest = match (a.unwrap(), b.unwrap()) {
            (Placed::At(won), Placed::After(known)) | (Placed::After(known), Placed::At(won)) => {
                assert_eq!(won, known);
                won
            }
            other => panic!("{other:?}"),
        };
    }
    assert_eq!(here.read(&channel, 1, 100).await.unwrap(), there.read(&channel, 1, 100).await.unwrap());
}

#[tokio::test]
async fn a_commit_whose_answer_was_lost_has_won_also_at_another_service_and_after_the_server_s_memory() {
    let Some(server) = server().await else { return };
    let (here, there) = (engine(&server, SMALL).await, engine(&server, SMALL).await);
    let channel = ChannelId([2; 32]);
    let Placed::At(first) = here.append(&channel, commit(1), 0).await.unwrap() else { panic!("lost") };
    let Placed::At(_) = here.append(&channel, commit(2), first).await.unwrap() else { panic!("lost") };
    // The server's memory of ids is forgotten: what is left is the look at what stands there, as 2.15 makes necessary at once.
    let client = async_nats::connect(format!("127.0.0.1:{}", server.port)).await.unwrap();
    let jetstream = async_nats::jetstream::new(client);
    let mut config = jetstream.get_stream("suite-log").await.unwrap().get_info().await.unwrap().config;
    config.duplicate_window = Duration::from_millis(100);
    jetstream.update_stream(config).await.unwrap();
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert_eq!(there.append(&channel, commit(1), 0).await.unwrap(), Placed::At(first));
}

#[tokio::test]
async fn a_stream_that_is_full_says_so() {
    let Some(server) = server().await else { return };
    // Seven sixteenths of it for blobs, two for keys.
    let engine = engine(&server, Limits { store: 16 * 45_000, ..Limits::default() }).await;
    let mut full = 0;
    for byte in 0..5 {
        match engine.put(vec![byte; 128 * 1024].into()).await {
            Ok(id) => assert!(engine.get(&id).await.unwrap().is_some()),
            Err(Error::Full(Quota::Store)) => full += 1,
            Err(other) => panic!("{other}"),
        }
    }
    assert_eq!(full, 3, "two of 128 KiB fit into 315 kB");
    assert_eq!(engine.get(&BlobId([0; 32])).await.unwrap(), None);

    let package = |byte: u8| Bytes::from(vec![byte; 60_000]);
    let once = KeyPackages { once: vec![package(1)], last_resort: None };
    engine.publish("did:example:a", once).await.unwrap();
    for packages in [
        KeyPackages { once: vec![package(2)], last_resort: None },
        KeyPackages { once: Vec::new(), last_resort: Some(package(3)) },
    ] {
        let refused = engine.publish("did:example:b", packages).await;
        assert!(
            matches!(refused, Err(Error::Full(Quota::Store))),
            "one of 60 kB fits into 90 kB: {refused:?}"
        );
    }
    assert_eq!(engine.left("did:example:b").await.unwrap(), 0);
}

#[tokio::test]
async fn key_packages_leave_room_for_the_claims_of_who_takes_them() {
    let Some(server) = server().await else { return };
    let engine = engine(&server, Limits { store: 16 * 45_000, ..Limits::default() }).await;
    let did = "did:example:a";
    let package = |byte: u8, len: usize| Bytes::from(vec![byte; len]);
    let packages = KeyPackages { once: vec![package(1, 60_000)], last_resort: Some(package(2, 20_000)) };
    engine.publish(did, packages).await.unwrap();
    let more = KeyPackages { once: vec![package(3, 5_000)], last_resort: None };
    let refused = engine.publish(did, more).await;
    assert!(
        matches!(refused, Err(Error::Full(Quota::Store))),
        "85 kB fit into 90 kB, but not below fifteen sixteenths of it: {refused:?}"
    );
    for taken in [package(1, 60_000), package(2, 20_000)] {
        assert_eq!(engine.take(did).await.unwrap(), Some(taken));
    }
}
