//! One connection to one node, from its opening to its end.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout_at};
use tonic::codec::Streaming;
use tonic::transport::Channel;

use super::Shared;
use super::mac::HeaderMac;
use super::negotiation::{Offer, Refused};
use super::proto::{self, Header, Kind, Message, Publish, Subscription, WireName};
use super::transport;
use crate::hold;
use crate::link::{Incoming, MAX_FRAME, To};
use crate::name::Name;

/// How long a node may take until a connection to it is ready.
const CONNECT: Duration = Duration::from_secs(5);

/// Type of the payload of a frame.
const PAYLOAD: &str = "gambeson/frame";

/// What the node was asked, and has not answered.
#[derive(Default)]
struct Asked {
    waiting: HashMap<u64, oneshot::Sender<bool>>,
    /// Times of the subscriptions that the node has not confirmed.
    open: HashMap<u64, Instant>,
    /// The session is closed: nothing more is asked.
    closed: bool,
}

/// A connection to a node.
pub(super) struct Session {
    /// Later sessions have larger numbers, from 1.
    pub(super) number: u64,
    /// Index of the node among those of the link.
    pub(super) node: usize,
    /// The version that the node names.
    pub(super) version: String,
    /// The key of header MACs depends on ML-KEM-768, too.
    pub(super) hybrid: bool,
    mac: Arc<HeaderMac>,
    outbound: mpsc::Sender<Message>,
    asked: Arc<Mutex<Asked>>,
    /// Time since when the node takes none of the messages that wait.
    waits_since: Mutex<Option<Instant>>,
    /// Source of messages, another one in each session.
    source: WireName,
    /// Numbers the messages.
    message: AtomicU64,
    /// The connection lives for as long as these are there.
    connection: Mutex<Option<(oneshot::Sender<()>, Channel)>>,
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session")
            .field("number", &self.number)
            .field("node", &self.node)
            .field("version", &self.version)
            .finish_non_exhaustive()
    }
}

/// Signal of the end of a session.
pub(super) struct Ended(JoinHandle<()>);

impl Ended {
    pub(super) async fn wait(&mut self) {
        let _ = (&mut self.0).await;
    }
}

/// The node's answer to [`Session::ask`]: `Err` if it refused or there will be no answer.
pub(super) struct Answer(oneshot::Receiver<bool>);

impl IntoFuture for Answer {
    type Output = Result<(), ()>;
    type IntoFuture = std::pin::Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async { if self.0.await.unwrap_or(false) { Ok(()) } else { Err(()) } })
    }
}

impl Session {
    /// Connects to a node, or says why not.
    pub(super) async fn open(shared: &Arc<Shared>, node: usize) -> Result<(Self, Ended), String> {
        static NUMBER: AtomicU64 = AtomicU64::new(1);
        let target = &shared.nodes[node];
        let offer = Offer::new().map_err(|_| "the operating system's random generator failed")?;
        let deadline = Instant::now() + CONNECT;
        let opened = timeout_at(deadline, transport::open(target, offer.request())).await;
        let mut stream = opened.map_err(|_| format!("no answer in {} s", CONNECT.as_secs()))??;
        let reply = match timeout_at(deadline, stream.first()).await {
            Ok(reply) => reply?.ok_or_else(|| Refused::NoNegotiation.to_string())?,
            Err(_) => return Err(Refused::NoNegotiation.to_string()),
        };
        let agreed = offer.accept(reply, target.post_quantum).map_err(|refused| refused.to_string())?;
        let mac = Arc::new(agreed.mac);
        let asked = Arc::<Mutex<Asked>>::default();
        let reader = Reader { shared: Arc::clone(shared), asked: Arc::clone(&asked), mac: Arc::clone(&mac) };
        let reading = tokio::spawn(reader.read(stream.inbound));
        let instance = u128::from(shared.number()) << 64 | u128::from(shared.number());
        let session = Self {
            number: NUMBER.fetch_add(1, Ordering::Relaxed),
            node,
            version: agreed.version,
            hybrid: agreed.hybrid,
            mac,
            outbound: stream.outbound,
            asked,
            waits_since: Mutex::default(),
            source: WireName::new(&Name::new("gambeson", "links", "link").with_instance(instance)),
            message: AtomicU64::new(shared.number()),
            connection: Mutex::new(Some((stream.close, stream.channel))),
        };
        Ok((session, Ended(reading)))
    }

    /// Waits for room for one request; `None` if the session has ended. Dropping the future leaves nothing behind.
    pub(super) async fn slot(&self) -> Option<mpsc::Permit<'_, Message>> {
        self.outbound.reserve().await.ok()
    }

    /// Asks the node to deliver what is sent to a name, or to stop doing so; `None` if the session has ended.
    pub(super) fn ask(
        &self,
        slot: mpsc::Permit<'_, Message>,
        name: &Name,
        subscription: u64,
        deliver: bool,
    ) -> Option<Answer> {
        let (sender, receiver) = oneshot::channel();
        {
            let mut asked = hold(&self.asked);
            if asked.closed {
                return None;
            }
            asked.waiting.insert(subscription, sender);
            if deliver {
                asked.open.entry(subscription).or_insert_with(Instant::now);
            }
        }
        let request = Subscription { header: Some(self.header(name, 1)), id: subscription };
        let kind = if deliver { Kind::Subscribe(request) } else { Kind::Unsubscribe(request) };
        slot.send(Message { kind: Some(kind) });
        Some(Answer(receiver))
    }

    /// Counts a subscription as unanswered from now on.
    pub(super) fn expect(&self, subscription: u64) {
        let mut asked = hold(&self.asked);
        if !asked.closed {
            asked.open.entry(subscription).or_insert_with(Instant::now);
        }
    }

    /// Returns true if the node has not confirmed a subscription.
    pub(super) fn awaits(&self, subscription: u64) -> bool {
        hold(&self.asked).open.contains_key(&subscription)
    }

    /// Gives a frame to the node; returns true if the connection took it.
    pub(super) async fn publish(&self, name: &Name, to: To, frame: &Bytes) -> bool {
        let header = self.header(name, proto::fanout(to));
        let number = self.message.fetch_add(1, Ordering::Relaxed) as u32;
        let publish = Publish::new(header, PAYLOAD, number, frame.clone());
        hold(&self.waits_since).get_or_insert_with(Instant::now);
        let sent = self.outbound.send(Message { kind: Some(Kind::Publish(publish)) }).await.is_ok();
        *hold(&self.waits_since) = None;
        sent
    }

    fn header(&self, destination: &Name, fanout: u32) -> Header {
        let mut header = Header::new(self.source.clone(), destination, fanout);
        self.mac.sign(&mut header);
        header
    }

    /// For how long the node has taken none of the messages that wait.
    pub(super) fn waits_for(&self) -> Duration {
        // The publication that began to wait may have been dropped, and the queue have room again.
        if self.outbound.capacity() > 0 {
            return Duration::ZERO;
        }
        hold(&self.waits_since).map(|since| since.elapsed()).unwrap_or_default()
    }

    /// For how long the node has not confirmed a subscription.
    pub(super) fn unanswered_for(&self) -> Duration {
        let oldest = hold(&self.asked).open.values().min().copied();
        oldest.map(|since| since.elapsed()).unwrap_or_default()
    }

    /// Ends the connection and all that works for it.
    pub(super) fn close(&self) {
        *hold(&self.connection) = None;
        // Nobody waits for an answer of the dead.
        *hold(&self.asked) = Asked { closed: true, ..Asked::default() };
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.close();
    }
}

/// Reads what the node sends, always and at once.
struct Reader {
    shared: Arc<Shared>,
    asked: Arc<Mutex<Asked>>,
    mac: Arc<HeaderMac>,
}

impl Reader {
    /// Ends with the stream.
    async fn read(self, mut inbound: Streaming<Option<Message>>) {
        while let Ok(Some(message)) = inbound.message().await {
            match message.map(|message| message.kind) {
                Some(Some(Kind::Ack(ack))) => self.acknowledged(ack.id, ack.success),
                Some(Some(Kind::Publish(publish))) => self.published(publish),
                // Bytes that are no message may have been one.
                None => self.shared.gap.notify_one(),
                _ => {}
            }
        }
    }

    /// Only what was asked is waited for: other acknowledgements change nothing.
    fn acknowledged(&self, subscription: u64, success: bool) {
        let mut asked = hold(&self.asked);
        if let Some(waiting) = asked.waiting.remove(&subscription) {
            let _ = waiting.send(success);
        }
        if success {
            asked.open.remove(&subscription);
        }
    }

    fn published(&self, publish: Publish) {
        let Some((to, header)) = self.subscribed(&publish) else { return };
        // A header that was changed on the way: the frame may have been meant for here, but nothing says so.
        let taken = self.mac.verify(header)
            && match frame(&publish) {
                Some(frame) => self.shared.queue.take_in(Incoming { to, frame }),
                None => true,
            };
        if !taken {
            self.shared.gap.notify_one();
        }
    }

    /// Returns the destination, if it is subscribed to.
    fn subscribed<'a>(&self, publish: &'a Publish) -> Option<(Name, &'a Header)> {
        let header = publish.header.as_ref()?;
        let code = header.destination.as_ref()?.hashes()?;
        let to = hold(&self.shared.names).by_code.get(&code)?.clone();
        Some((to, header))
    }
}

/// Returns the frame of a message, if it has one.
fn frame(publish: &Publish) -> Option<Bytes> {
    let payload = publish.content.as_ref()?.application.as_ref()?;
    let is_frame = payload.payload_type == PAYLOAD && payload.blob.len() <= MAX_FRAME;
    // A copy: the blob is a part of a buffer that may be much larger, and frames wait in a queue that counts bytes.
    is_frame.then(|| Bytes::copy_from_slice(&payload.blob))
}
