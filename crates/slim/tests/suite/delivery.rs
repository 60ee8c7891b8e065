//! A delivery service under load, with strangers, with loss, at its end.

use async_trait::async_trait;
use bytes::Bytes;
use gambeson_slim::delivery::frame::{Answer, Ask, Call, CallId, Refusal, Reply};
use gambeson_slim::delivery::{Client, Patience, Rules, serve};
use gambeson_slim::faults::{Faults, Faulty};
use gambeson_slim::memory::{Hub, MemoryLink, MemoryService};
use gambeson_slim::{
    BlobId, Blobs, ChannelId, Entry, EntryId, EntryKind, Error, KeyPackages, Keys, Link, Log, Name, Page,
    Placed, Result, To,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout};

const CHANNEL: ChannelId = ChannelId([1; 32]);

fn name() -> Name {
    Name::new("acme", "channels", "delivery")
}

fn message(id: u8) -> Entry {
    Entry { id: EntryId([id; 16]), kind: EntryKind::Application, content: vec![id].into() }
}

/// An engine whose appends take a little more than a second, so that none ends just when a client repeats its call, and that counts how
/// many it works on.
#[derive(Default)]
struct Slow {
    memory: MemoryService,
    now: AtomicUsize,
    most: AtomicUsize,
}

#[async_trait]
impl Log for Slow {
    async fn append(&self, channel: &ChannelId, entry: Entry, after: u64) -> Result<Placed> {
        let now = 1 + self.now.fetch_add(1, Ordering::Relaxed);
        self.most.fetch_max(now, Ordering::Relaxed);
        sleep(Duration::from_millis(1_030)).await;
        self.now.fetch_sub(1, Ordering::Relaxed);
        self.memory.append(channel, entry, after).await
    }

    async fn read(&self, channel: &ChannelId, from: u64, limit: usize) -> Result<Page> {
        self.memory.read(channel, from, limit).await
    }

    async fn prune(&self, channel: &ChannelId, before: u64) -> Result<()> {
        self.memory.prune(channel, before).await
    }
}

#[async_trait]
impl Blobs for Slow {
    async fn put(&self, _: Bytes) -> Result<BlobId> {
        Err(Error::Service("the disk is gone".into()))
    }

    async fn get(&self, id: &BlobId) -> Result<Option<Bytes>> {
        self.memory.get(id).await
    }

    async fn has(&self, ids: &[BlobId]) -> Result<Vec<bool>> {
        self.memory.has(ids).await
    }
}

#[async_trait]
impl Keys for Slow {
    async fn publish(&self, did: &str, packages: KeyPackages) -> Result<()> {
        self.memory.publish(did, packages).await
    }

    async fn take(&self, did: &str) -> Result<Option<Bytes>> {
        self.memory.take(did).await
    }

    async fn left(&self, did: &str) -> Result<usize> {
        self.memory.left(did).await
    }
}

#[tokio::test(start_paused = true)]
async fn a_service_works_on_so_many_calls_at_once_and_all_are_answered_in_the_end() {
    let (hub, slow) = (Hub::new(), Arc::new(Slow::default()));
    let rules = Rules { at_once: 8, of_one: 3, ..Rules::default() };
    let server = serve(hub.link(), name(), slow.clone(), rules).await.unwrap();
    let patience = Patience { deadline: Duration::from_secs(120), ..Patience::default() };
    let mut tasks = Vec::new();
    for caller in 0..6 {
        let client = Client::new(hub.link(), name(), patience).await.unwrap();
        for turn in 0..8 {
            let client = client.clone();
            let entry = message(caller * 8 + turn);
            tasks.push(tokio::spawn(async move { client.append(&CHANNEL, entry, 0).await.unwrap() }));
        }
    }
    for task in tasks {
        task.await.unwrap();
    }
    assert_eq!(slow.memory.read(&CHANNEL, 1, 100).await.unwrap().records.len(), 48, "each once");
    assert_eq!(slow.most.load(Ordering::Relaxed), 8);
    let served = server.served();
    assert!(served.busy > 0 && served.answered == 48, "{served:?}");
}

#[tokio::test(start_paused = true)]
async fn one_caller_gets_only_his_part() {
    let (hub, slow) = (Hub::new(), Arc::new(Slow::default()));
    let _server =
        serve(hub.link(), name(), slow.clone(), Rules { of_one: 3, ..Rules::default() }).await.unwrap();
    let greedy = Client::new(hub.link(), name(), Patience::default()).await.unwrap();
    for id in 0..20 {
        let greedy = greedy.clone();
        tokio::spawn(async move { greedy.append(&CHANNEL, message(id), 0).await });
    }
    sleep(Duration::from_millis(10)).await;
    let other = Client::new(hub.link(), name(), Patience::default()).await.unwrap();
    let start = Instant::now();
    other.append(&CHANNEL, message(99), 0).await.unwrap();
    assert_eq!(start.elapsed().as_secs(), 1, "he waits for his own work only");
    assert!(slow.most.load(Ordering::Relaxed) <= 4);
}

#[tokio::test(start_paused = true)]
async fn a_service_that_is_stopped_answers_what_it_has_heard_and_hears_no_more() {
    let (hub, slow) = (Hub::new(), Arc::new(Slow::default()));
    let server = serve(hub.link(), name(), slow.clone(), Rules::default()).await.unwrap();
    let patience = Patience { deadline: Duration::from_secs(3), ..Patience::default() };
    let client = Client::new(hub.link(), name(), patience).await.unwrap();
    let heard = tokio::spawn({
        let client = client.clone();
        async move { client.append(&CHANNEL, message(1), 0).await }
    });
    sleep(Duration::from_millis(100)).await;
    server.stop().await;
    assert_eq!(heard.await.unwrap().unwrap(), Placed::At(1));
    let start = Instant::now();
    let late = client.append(&CHANNEL, message(2), 0).await;
    assert!(matches!(late, Err(Error::Deadline(_))), "{late:?}");
    assert_eq!(start.elapsed().as_secs(), 3);

    // Another service of the same engine takes its place, and what is called then is what was called before.
    let _server = serve(hub.link(), name(), slow, Rules::default()).await.unwrap();
    assert_eq!(client.append(&CHANNEL, message(1), 0).await.unwrap(), Placed::At(1));
    assert_eq!(client.append(&CHANNEL, message(2), 0).await.unwrap(), Placed::At(2));
}

#[tokio::test(start_paused = true)]
async fn forgetting_at_a_callers_word_is_refused_unless_the_rules_allow_it() {
    let hub = Hub::new();
    let engine = Arc::new(MemoryService::new());
    let _server = serve(hub.link(), name(), engine.clone(), Rules::default()).await.unwrap();
    let client = Client::new(hub.link(), name(), Patience::default()).await.unwrap();
    client.append(&CHANNEL, message(1), 0).await.unwrap();
    assert!(matches!(client.prune(&CHANNEL, 9).await, Err(Error::NotAllowed)));
    assert_eq!(engine.read(&CHANNEL, 1, 9).await.unwrap().records.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn what_an_engine_says_reaches_the_caller() {
    let hub = Hub::new();
    let server = serve(hub.link(), name(), Arc::new(Slow::default()), Rules::default()).await.unwrap();
    let client = Client::new(hub.link(), name(), Patience::default()).await.unwrap();
    let error = client.put("blob".into()).await.unwrap_err();
    assert!(error.to_string().contains("the disk is gone"), "{error}");
    assert_eq!(server.served().refused, 1);
    assert!(client.ping().await.unwrap() < Duration::from_secs(1));
}

/// A stranger on the link: what is said to the name it listens on.
async fn heard(link: &MemoryLink) -> Option<Reply> {
    let incoming = timeout(Duration::from_secs(9), link.receive()).await.ok()?.unwrap();
    Some(Reply::decode(&incoming.frame).unwrap())
}

#[tokio::test(start_paused = true)]
async fn a_malformed_frame_is_answered_if_it_says_by_whom_and_forgotten_otherwise() {
    let hub = Hub::new();
    let server = serve(hub.link(), name(), Arc::new(MemoryService::new()), Rules::default()).await.unwrap();
    let stranger = hub.link();
    let caller = 0xabc;
    let mine = Name::new("acme", "channels", format!("caller-{caller:032x}"));
    stranger.subscribe(&mine.with_instance(caller)).await.unwrap();
    let call = Call { id: CallId([5; 16]), caller, ask: Ask::Get(vec![BlobId([1; 32])]) };
    let frame = call.encode();
    let longer: Bytes = [&frame[..], b"!"].concat().into();
    for (frame, answered) in
        [(Bytes::new(), false), (frame.slice(..30), false), (frame.slice(..40), true), (longer, true)]
    {
        stranger.publish(&name(), To::One, frame).await.unwrap();
        let reply = heard(&stranger).await;
        assert_eq!(reply.is_some(), answered);
        if let Some(reply) = reply {
            assert_eq!(reply.id, call.id);
            assert!(
                matches!(reply.answer, Answer::Refused(Refusal::Service(why)) if why.contains("malformed"))
            );
        }
    }
    assert_eq!(server.served().malformed, 4);
    stranger.publish(&name(), To::One, frame).await.unwrap();
    let answer = heard(&stranger).await.unwrap().answer;
    assert_eq!(answer, Answer::Blobs(vec![None]), "and it still works");
}

#[tokio::test(start_paused = true)]
async fn a_package_whose_answer_was_lost_is_given_to_the_same_call_again_on_whichever_link_and_to_nobody_else()
 {
    let (hub, engine) = (Hub::new(), Arc::new(MemoryService::new()));
    let packages =
        KeyPackages { once: (0..40).map(|n| Bytes::from(n.to_string())).collect(), last_resort: None };
    engine.publish("did:a", packages).await.unwrap();
    let (soonest, latest) = (Duration::from_millis(1), Duration::from_millis(400));
    let faults = Faults { loss: 0.3, repeated: 0.3, soonest, latest };
    let link = Faulty::new(hub.link(), 5, faults);
    let mut server = serve(link, name(), engine.clone(), Rules::default()).await.unwrap();
    server.also(Faulty::new(hub.link(), 7, faults)).await.unwrap();
    let patience = Patience { deadline: Duration::from_secs(60), repeat: Duration::from_millis(300) };
    let client = Client::new(Faulty::new(hub.link(), 6, faults), name(), patience).await.unwrap();
    let mut taken = Vec::new();
    for _ in 0..30 {
        taken.push(client.take("did:a").await.unwrap().unwrap());
    }
    taken.sort_unstable();
    taken.dedup();
    assert_eq!(taken.len(), 30);
    assert_eq!(engine.left("did:a").await.unwrap(), 10, "none was given out to nobody");
    assert!(server.served().repeated > 10);
}

#[tokio::test(start_paused = true)]
async fn a_blob_that_is_another_is_refused_by_the_client() {
    struct Liar(MemoryLink);
    let hub = Hub::new();
    let liar = Liar(hub.link());
    liar.0.subscribe(&name().with_instance(1)).await.unwrap();
    tokio::spawn(async move {
        while let Ok(incoming) = liar.0.receive().await {
            let call = Call::decode(&incoming.frame).unwrap();
            let answer = match call.ask {
                Ask::Get(_) => Answer::Blobs(vec![Some("another".into())]),
                Ask::Put(_) => Answer::Kept(BlobId([0; 32])),
                _ => Answer::Done,
            };
            let to = Name::new("acme", "channels", format!("caller-{:032x}", call.caller));
            let frame = Reply { id: call.id, answer }.encode();
            liar.0.publish(&to.with_instance(call.caller), To::One, frame).await.unwrap();
        }
    });
    let client = Client::new(hub.link(), name(), Patience::default()).await.unwrap();
    assert!(matches!(client.get(&BlobId([1; 32])).await, Err(Error::BlobMismatch(_))));
    assert!(matches!(client.put("this".into()).await, Err(Error::BlobMismatch(_))));
    assert!(matches!(client.take("did:a").await, Err(Error::Malformed(_))), "an answer to another question");
}
