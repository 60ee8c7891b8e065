//! One connection to one node, from its opening to its end.

use std::collections::HashMap;
use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use slim_config::client::{BackoffConfig, ClientConfig, KeepaliveConfig};
use slim_config::conn_type::ConnType;
use slim_config::tls::client::TlsClientConfig;
use slim_datapath::Status;
use slim_datapath::api::proto::dataplane::v1::content::ContentType;
use slim_datapath::api::{
    MessageType, ProtoMessage, ProtoName, ProtoPublish, ProtoSessionMessageType, ProtoSessionType,
};
use slim_datapath::message_processing::MessageProcessor;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout};

use super::Shared;
use crate::hold;
use crate::link::{Incoming, MAX_FRAME, To};
use crate::name::Name;

/// How long a node may take to answer.
const CONNECT: Duration = Duration::from_secs(5);
/// A node that is silent for so long is asked whether it is there, and lost if it does not answer for as long again.
const SILENCE: Duration = Duration::from_secs(10);
/// What the payload of a frame is called.
const PAYLOAD: &str = "gambeson/frame";

type Message = Result<ProtoMessage, Status>;
type Answers = Arc<Mutex<Asked>>;

/// What the node was asked.
#[derive(Default)]
struct Asked {
    waiting: HashMap<u64, oneshot::Sender<bool>>,
    /// When it was asked for deliveries that it has not said yes to.
    open: HashMap<u64, Instant>,
}

/// A connection to a node.
pub(super) struct Session {
    /// Later ones have larger numbers, from 1.
    pub(super) number: u64,
    /// Which node.
    pub(super) node: usize,
    /// The version that it names.
    pub(super) version: String,
    processor: MessageProcessor,
    connection: u64,
    /// To the processor's tables, for subscriptions. What is published goes to the node at once.
    sender: mpsc::Sender<Message>,
    answers: Answers,
    /// Since when the node takes nothing of what waits.
    waits_since: Mutex<Option<Instant>>,
    /// Where frames come from, as others see it: another in each session.
    source: ProtoName,
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

/// Tells of the end of a session.
pub(super) struct Ended(JoinHandle<()>);

impl Ended {
    pub(super) async fn wait(&mut self) {
        let _ = (&mut self.0).await;
    }
}

/// An answer of the node to [`Session::ask`]: whether it did as it was asked, or `Err` if there will be none.
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
        // One of its own for each session: what the tables of an old one remember must not meet the new one.
        let processor = MessageProcessor::new();
        let connected =
            timeout(CONNECT, processor.connect(configuration(&shared.nodes[node]), None, None)).await;
        let (ended, connection) = match connected {
            Ok(Ok(connected)) => connected,
            Ok(Err(error)) => {
                processor.signal_drain();
                return Err(causes(&error));
            }
            Err(_) => {
                processor.signal_drain();
                return Err(format!("no answer in {} s", CONNECT.as_secs()));
            }
        };
        let version = processor
            .forwarder()
            .get_connection(connection)
            .and_then(|connection| connection.remote_slim_version())
            .map_or_else(|| "unknown".to_owned(), |version| version.to_string());
        let local = processor.register_local_connection(false);
        let (_, sender, receiver) = local.map_err(|error| causes(&error))?;
        let answers = Answers::default();
        tokio::spawn(read(receiver, Arc::clone(shared), Arc::clone(&answers)));
        let instance = u128::from(shared.number()) << 64 | u128::from(shared.number());
        let session = Self {
            number: NUMBER.fetch_add(1, Ordering::Relaxed),
            node,
            version,
            processor,
            connection,
            sender,
            answers,
            waits_since: Mutex::default(),
            source: ProtoName::from_strings(["gambeson", "links", "link"]).with_id(instance),
        };
        Ok((session, Ended(ended)))
    }

    /// Asks the node to deliver what is sent to a name, or to do so no more; `None` if the session has ended.
    pub(super) async fn ask(&self, name: &Name, subscription: u64, deliver: bool) -> Option<Answer> {
        let (sender, receiver) = oneshot::channel();
        {
            let mut asked = hold(&self.answers);
            asked.waiting.insert(subscription, sender);
            if deliver {
                asked.open.insert(subscription, Instant::now());
            }
        }
        let message = ProtoMessage::builder()
            .source(self.source.clone())
            .destination(proto(name))
            .forward_to(self.connection)
            .subscription_id(subscription);
        let message = if deliver { message.build_subscribe() } else { message.build_unsubscribe() };
        let sent = match message {
            Ok(message) => self.sender.send(Ok(message)).await.is_ok(),
            Err(_) => false,
        };
        sent.then_some(Answer(receiver))
    }

    /// Gives a frame to the node; whether it was taken.
    pub(super) async fn publish(&self, name: &Name, to: To, frame: &Bytes) -> bool {
        let message = ProtoMessage::builder()
            .source(self.source.clone())
            .destination(proto(name))
            .identity("")
            .fanout(match to {
                To::One => 1,
                To::All => u32::MAX,
            })
            .session_type(ProtoSessionType::Multicast)
            .session_message_type(ProtoSessionMessageType::Msg)
            .application_payload(PAYLOAD, frame.to_vec())
            .build_publish();
        match message {
            Ok(message) => {
                hold(&self.waits_since).get_or_insert_with(Instant::now);
                let sent = self.processor.send_msg(message, self.connection).await.is_ok();
                *hold(&self.waits_since) = None;
                sent
            }
            Err(_) => false,
        }
    }

    /// For how long the node has taken nothing of what waits.
    pub(super) fn waits_for(&self) -> Duration {
        hold(&self.waits_since).map(|since| since.elapsed()).unwrap_or_default()
    }

    /// For how long the node has not said yes to a subscription.
    pub(super) fn unanswered_for(&self) -> Duration {
        let oldest = hold(&self.answers).open.values().min().copied();
        oldest.map(|since| since.elapsed()).unwrap_or_default()
    }

    /// Ends the connection and all that works for it.
    pub(super) fn close(&self) {
        self.processor.signal_drain();
        // Nobody waits for an answer of the dead.
        *hold(&self.answers) = Asked::default();
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.close();
    }
}

/// Reads what the node sends, always and at once.
async fn read(mut receiver: mpsc::Receiver<Message>, shared: Arc<Shared>, answers: Answers) {
    while let Some(message) = receiver.recv().await {
        // An error says that a message of ours went nowhere, which is no news.
        let Ok(message) = message else { continue };
        match message.message_type {
            Some(MessageType::SubscriptionAck(answer)) => {
                let mut asked = hold(&answers);
                if let Some(waiting) = asked.waiting.remove(&answer.subscription_id) {
                    let _ = waiting.send(answer.success);
                }
                // The library says no by itself where the node says nothing.
                if answer.success {
                    asked.open.remove(&answer.subscription_id);
                }
            }
            Some(MessageType::Publish(publish)) => {
                let arrived = arrived(publish, &shared);
                if arrived.is_some_and(|arrived| !shared.queue.take_in(arrived)) {
                    shared.gap.notify_one();
                }
            }
            _ => {}
        }
    }
}

/// The name as the node reads it.
fn proto(name: &Name) -> ProtoName {
    let [organisation, namespace, service] = name.parts().each_ref().map(String::as_str);
    let proto = ProtoName::from_strings([organisation, namespace, service]);
    match name.instance() {
        Some(instance) => proto.with_id(instance),
        None => proto,
    }
}

/// What frames carry in the place of a name.
pub(super) fn encoded(name: &Name) -> [u64; 3] {
    proto(name).name.map_or([0; 3], |code| [code.component_0, code.component_1, code.component_2])
}

/// A frame out of a message, if it is one and goes to a name that is subscribed to.
fn arrived(publish: ProtoPublish, shared: &Shared) -> Option<Incoming> {
    let code = publish.header?.destination?.name?;
    let to =
        hold(&shared.names).by_code.get(&[code.component_0, code.component_1, code.component_2])?.clone();
    let payload = match publish.msg?.content_type? {
        ContentType::AppPayload(payload) if payload.payload_type == PAYLOAD => payload.blob,
        _ => return None,
    };
    (payload.len() <= MAX_FRAME).then(|| Incoming { to, frame: payload.into() })
}

fn configuration(node: &str) -> ClientConfig {
    let endpoint = if node.contains("://") { node.to_owned() } else { format!("http://{node}") };
    let tls = endpoint.starts_with("https://") || endpoint.starts_with("wss://");
    ClientConfig::with_endpoint(&endpoint)
        .with_tls_setting(TlsClientConfig::default().with_insecure(!tls))
        .with_connection_type(ConnType::Edge)
        .with_connect_timeout(CONNECT)
        .with_keepalive(KeepaliveConfig {
            tcp_keepalive: SILENCE.into(),
            http2_keepalive: SILENCE.into(),
            timeout: SILENCE.into(),
            keep_alive_while_idle: true,
        })
        // Who comes back is up to the link, which knows of other nodes. What is built in would subscribe again under the number 0.
        .with_backoff(BackoffConfig::new_fixed_interval(Duration::ZERO, 0))
}

/// An error and what it came from, in a line.
fn causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let _ = write!(text, ": {inner}");
        cause = inner.source();
    }
    text
}
