//! Sessions of stock clients, over SLIM's session layer.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use gambeson_slim::{MAX_FRAME, Name};
use slim_auth::shared_secret::SharedSecret;
use slim_config::client::ClientConfig;
use slim_config::conn_type::ConnType;
use slim_config::tls::client::TlsClientConfig;
use slim_datapath::api::proto::dataplane::v1::content::ContentType;
use slim_datapath::api::{ParticipantState, ProtoMessage, ProtoName, ProtoPublishType, ProtoSessionType};
use slim_datapath::message_processing::MessageProcessor;
use slim_service::app::{App, bootstrap_app_with_direction};
use slim_session::context::SessionContext;
use slim_session::notification::Notification;
use slim_session::session_config::MlsSettings;
use slim_session::session_controller::SessionController;
use slim_session::{AppChannelReceiver, CompletionHandle, Direction, SessionConfig, SessionError};
use tokio::sync::{Mutex, Semaphore, mpsc};
use tokio::time::timeout;

use crate::error::{Error, Result};

/// The largest payload of a stock session in either direction, in bytes. It leaves room for SLIM's headers.
pub const MAX_STOCK_PAYLOAD: usize = MAX_FRAME - 16 * 1024;

/// Number of messages that may wait to be received. Further ones are lost, and [`FromStock::Lost`] counts them.
const QUEUE: usize = 256;
/// Number of sent messages that may wait for stock clients to acknowledge them.
const IN_FLIGHT: usize = 64;
/// How long a message waits for one of [`IN_FLIGHT`] places, and a call for SLIM's answer.
const DEADLINE: Duration = Duration::from_secs(15);
/// Number of retries, one a second, before a stock client counts as away.
const RETRIES: u32 = 10;

/// An agent among stock clients: a name at a node of SLIM, and the secret that the clients share.
pub struct StockAgent {
    app: Arc<App<SharedSecret, SharedSecret>>,
    invitations: Mutex<mpsc::Receiver<Result<Notification, SessionError>>>,
    processor: MessageProcessor,
    /// The connection to the node.
    node: u64,
}

impl StockAgent {
    /// Connects to a node and listens there for invitations to this name. The secret has at least 32 bytes; whoever knows it can
    /// impersonate any client of these sessions.
    ///
    /// # Errors
    /// [`Error::NoNode`] if the node does not answer; [`Error::Stock`] if SLIM refuses the name or the secret.
    pub async fn connect(endpoint: &str, name: &Name, secret: &str) -> Result<Self> {
        let processor = MessageProcessor::new();
        let connected = timeout(DEADLINE, processor.connect(configuration(endpoint), None, None)).await;
        let node = match connected {
            Ok(Ok((_, node))) => node,
            other => {
                processor.signal_drain();
                let reason = match other {
                    Ok(Err(error)) => causes(&error),
                    _ => format!("no answer in {} s", DEADLINE.as_secs()),
                };
                return Err(Error::NoNode(format!("{endpoint}: {reason}")));
            }
        };
        let drained = DrainUnlessKept(Some(processor));
        let identity = SharedSecret::new(&name.to_string(), secret).map_err(stock)?;
        let name = proto(name);
        let processor = drained.0.as_ref().ok_or(Error::SessionOver)?;
        let started = bootstrap_app_with_direction(
            processor,
            "gambeson-bridge",
            &name,
            identity.clone(),
            identity,
            Direction::Bidirectional,
            None,
            false,
        );
        let (app, invitations) = started.map_err(stock)?;
        answer(app.subscribe(&name, Some(node))).await?.map_err(stock)?;
        let processor = drained.keep().ok_or(Error::SessionOver)?;
        Ok(Self { app: Arc::new(app), invitations: Mutex::new(invitations), processor, node })
    }

    /// Opens a group session with this name, with SLIM's own MLS, and invites stock clients one after the other.
    ///
    /// # Errors
    /// [`Error::Stock`] if a client did not join, or SLIM refuses; the session is closed again.
    pub async fn create(&self, channel: &Name, clients: &[Name]) -> Result<StockSession> {
        let config = SessionConfig {
            session_type: ProtoSessionType::Multicast,
            max_retries: Some(RETRIES),
            interval: Some(Duration::from_secs(1)),
            mls_settings: Some(MlsSettings {
                header_integrity_validation_percent: 100,
                max_seen_control_message_ids_size: None,
            }),
            initiator: true,
            metadata: HashMap::new(),
        };
        let (context, created) =
            self.app.create_session(config, proto(channel), None).await.map_err(stock)?;
        let session = StockSession::new(context, Arc::clone(&self.app), self.node)?;
        let begun = async {
            done(created).await?;
            for client in clients {
                session.invite(client).await?;
            }
            Ok(())
        };
        match begun.await {
            Ok(()) => Ok(session),
            Err(error) => {
                session.close().await;
                Err(error)
            }
        }
    }

    /// Waits for the next session that a stock moderator invites this agent to, and for which `allowed` returns true. Its arguments are the
    /// session's name and the moderator's identity according to SLIM. Other sessions are left again at once: SLIM's layer joins before it
    /// asks, so their moderators see this agent join and leave. Dropping the future loses no invitation.
    ///
    /// # Errors
    /// [`Error::SessionOver`] if no other invitation can come.
    pub async fn accept(&self, allowed: impl Fn(&Name, Option<&str>) -> bool) -> Result<StockSession> {
        loop {
            let next = self.invitations.lock().await.recv().await.ok_or(Error::SessionOver)?;
            let Ok(Notification::NewSession(context)) = next else { continue };
            let moderator = context.session_arc().and_then(|session| session.peer_identity());
            // It may be gone by now.
            let Ok(session) = StockSession::new(context, Arc::clone(&self.app), self.node) else { continue };
            if allowed(&session.name, moderator.as_ref().map(|moderator| moderator.subject())) {
                return Ok(session);
            }
            tokio::spawn(async move { session.close().await });
        }
    }
}

impl Drop for StockAgent {
    fn drop(&mut self) {
        self.processor.signal_drain();
    }
}

impl fmt::Debug for StockAgent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StockAgent").field("name", &name(self.app.app_name())).finish_non_exhaustive()
    }
}

/// Ends a processor that nobody took over.
struct DrainUnlessKept(Option<MessageProcessor>);

impl DrainUnlessKept {
    fn keep(mut self) -> Option<MessageProcessor> {
        self.0.take()
    }
}

impl Drop for DrainUnlessKept {
    fn drop(&mut self) {
        if let Some(processor) = &self.0 {
            processor.signal_drain();
        }
    }
}

/// A group session of stock clients. Dropping it leaves the session.
pub struct StockSession {
    name: Name,
    me: Name,
    encrypted: bool,
    controller: Arc<SessionController>,
    app: Arc<App<SharedSecret, SharedSecret>>,
    node: u64,
    arriving: Mutex<mpsc::Receiver<FromStock>>,
    lost: Arc<AtomicU64>,
    in_flight: Arc<Semaphore>,
}

/// Something received from a stock session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FromStock {
    /// A client's message.
    Message(StockMessage),
    /// A client's message was larger than [`MAX_STOCK_PAYLOAD`], and is dropped.
    TooLarge {
        /// The client.
        from: Name,
        /// Its length in bytes.
        len: usize,
    },
    /// Number of messages that came faster than they were received, and are lost.
    Lost(u64),
    /// An error of the session according to SLIM, such as a client that does not answer.
    Trouble(String),
}

/// A message of a stock client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StockMessage {
    /// The sender's name in the message's header.
    pub from: Name,
    /// The sender's identity, as SLIM verified it by classical means: with a shared secret, somebody who knows it.
    pub subject: Option<String>,
    /// The type of the payload.
    pub kind: String,
    /// The payload.
    pub payload: Bytes,
    /// Metadata, which SLIM does not encrypt.
    pub metadata: HashMap<String, String>,
}

/// A client in a stock session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StockClient {
    /// The client's name.
    pub name: Name,
    /// True if the client answers, according to SLIM.
    pub online: bool,
}

impl StockSession {
    fn new(context: SessionContext, app: Arc<App<SharedSecret, SharedSecret>>, node: u64) -> Result<Self> {
        let controller = context.session_arc().ok_or(Error::SessionOver)?;
        let (sender, arriving) = mpsc::channel(QUEUE);
        let lost = Arc::new(AtomicU64::new(0));
        tokio::spawn(read(context.into_parts().1, sender, Arc::clone(&lost)));
        Ok(Self {
            name: name(controller.dst()).everyone(),
            me: name(controller.source()),
            encrypted: controller.session_config().mls_settings.is_some(),
            controller,
            app,
            node,
            arriving: Mutex::new(arriving),
            lost,
            in_flight: Arc::new(Semaphore::new(IN_FLIGHT)),
        })
    }

    /// Returns the session's name.
    #[must_use]
    pub const fn name(&self) -> &Name {
        &self.name
    }

    /// Returns this agent's name in the session, with its instance.
    #[must_use]
    pub const fn me(&self) -> &Name {
        &self.me
    }

    /// Returns true if the session uses SLIM's own MLS, which is classical. If not, SLIM's nodes can read everything.
    #[must_use]
    pub const fn is_encrypted(&self) -> bool {
        self.encrypted
    }

    /// Invites a stock client into a session that this agent created.
    ///
    /// # Errors
    /// [`Error::Stock`] if the client did not join.
    pub async fn invite(&self, client: &Name) -> Result<()> {
        let client = proto(client);
        answer(self.app.set_route(&client, self.node)).await?.map_err(stock)?;
        let invited = answer(self.controller.invite_participant(&client)).await?.map_err(stock)?;
        done(invited).await
    }

    /// Sends a payload to all clients. Success does not mean that any client received it.
    ///
    /// # Errors
    /// [`Error::PayloadTooLarge`]; [`Error::NoAnswer`] if too many earlier messages wait for clients that do not acknowledge them;
    /// [`Error::Stock`] if the session is over.
    pub async fn send(&self, kind: &str, payload: &[u8], metadata: HashMap<String, String>) -> Result<()> {
        if payload.len() > MAX_STOCK_PAYLOAD {
            return Err(Error::PayloadTooLarge(payload.len()));
        }
        let place = timeout(DEADLINE, Arc::clone(&self.in_flight).acquire_owned()).await;
        let place = place.map_err(|_| Error::NoAnswer(DEADLINE))?.map_err(|_| Error::SessionOver)?;
        let sending = self.controller.publish(
            self.controller.dst(),
            payload.to_vec(),
            Some(kind.to_owned()),
            Some(metadata),
        );
        let sent = answer(sending).await?.map_err(stock)?;
        tokio::spawn(async move {
            // Whether it holds is not believed: SLIM reports success of what nobody got.
            let _ = sent.await;
            drop(place);
        });
        Ok(())
    }

    /// Waits for the next message; returns `None` when the session is over. Dropping the future loses nothing.
    pub async fn receive(&self) -> Option<FromStock> {
        let mut arriving = self.arriving.lock().await;
        match self.lost.swap(0, Ordering::Relaxed) {
            0 => arriving.recv().await,
            lost => Some(FromStock::Lost(lost)),
        }
    }

    /// Returns the clients of the session according to SLIM, this agent included.
    ///
    /// # Errors
    /// [`Error::Stock`] if the session is over.
    pub async fn members(&self) -> Result<Vec<StockClient>> {
        let members = answer(self.controller.participants_list()).await?.map_err(stock)?;
        let client = |(member, state): &(ProtoName, ParticipantState)| StockClient {
            name: name(member),
            online: *state == ParticipantState::Online,
        };
        Ok(members.iter().map(client).collect())
    }

    /// Leaves the session. A session that this agent created ends for all clients.
    pub async fn close(&self) {
        if let Ok(closed) = self.app.delete_session(&self.controller) {
            let _ = done(closed).await;
        }
    }
}

impl Drop for StockSession {
    fn drop(&mut self) {
        // What is awaited in `close` goes on by itself.
        let _ = self.app.delete_session(&self.controller);
    }
}

impl fmt::Debug for StockSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StockSession")
            .field("name", &self.name)
            .field("encrypted", &self.encrypted)
            .finish_non_exhaustive()
    }
}

/// Reads without pause, because SLIM's own queue has no bound.
async fn read(mut from: AppChannelReceiver, to: mpsc::Sender<FromStock>, lost: Arc<AtomicU64>) {
    while let Some(next) = from.recv().await {
        let arrived = match next {
            Ok(message) => message_of(message),
            Err(error) => Some(FromStock::Trouble(causes(&error))),
        };
        let Some(arrived) = arrived else { continue };
        match to.try_send(arrived) {
            Ok(()) => {}
            Err(mpsc::error::TrySendError::Full(_)) => {
                lost.fetch_add(1, Ordering::Relaxed);
            }
            Err(mpsc::error::TrySendError::Closed(_)) => break,
        }
    }
}

/// Returns the content of an application's message; `None` for other messages.
fn message_of(message: ProtoMessage) -> Option<FromStock> {
    let mut metadata = message.metadata;
    let Some(ProtoPublishType(publish)) = message.message_type else { return None };
    let from = name(publish.header.as_ref()?.source.as_ref()?);
    let ContentType::AppPayload(payload) = publish.msg?.content_type? else { return None };
    if payload.blob.len() > MAX_STOCK_PAYLOAD {
        return Some(FromStock::TooLarge { from, len: payload.blob.len() });
    }
    let subject = metadata.remove(slim_session::peer_identity::PEER_SUBJECT_KEY);
    let (kind, payload) = (payload.payload_type, payload.blob.into());
    Some(FromStock::Message(StockMessage { from, subject, kind, payload, metadata }))
}

/// Waits for an answer of SLIM's session layer, up to [`DEADLINE`].
async fn answer<T>(of: impl Future<Output = T>) -> Result<T> {
    timeout(DEADLINE, of).await.map_err(|_| Error::NoAnswer(DEADLINE))
}

async fn done(handle: CompletionHandle) -> Result<()> {
    answer(handle).await?.map_err(stock)
}

fn stock(error: impl std::error::Error) -> Error {
    Error::Stock(causes(&error))
}

fn proto(name: &Name) -> ProtoName {
    let [organisation, namespace, service] = name.parts();
    let proto = ProtoName::from_strings([organisation, namespace, service]);
    match name.instance() {
        Some(instance) => proto.with_id(instance),
        None => proto,
    }
}

/// Returns a client configuration, with TLS if the endpoint asks for it. SLIM's own reconnection stays on.
fn configuration(endpoint: &str) -> ClientConfig {
    let tls = endpoint.starts_with("https://") || endpoint.starts_with("wss://");
    ClientConfig::with_endpoint(endpoint)
        .with_tls_setting(TlsClientConfig::default().with_insecure(!tls))
        .with_connection_type(ConnType::Edge)
}

/// Returns an error and its sources in one line.
fn causes(error: &dyn std::error::Error) -> String {
    let sources = std::iter::successors(error.source(), |cause| cause.source());
    sources.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}

/// Converts a name. Its parts are empty if it has no text, since nodes need only its hashes.
fn name(proto: &ProtoName) -> Name {
    let text = proto.str_name.clone().unwrap_or_default();
    let name = Name::new(text.str_component_0, text.str_component_1, text.str_component_2);
    match proto.name.as_ref().and_then(|name| name.name_id.as_ref()) {
        Some(_) if proto.has_id() => name.with_instance(proto.id()),
        _ => name,
    }
}

#[cfg(test)]
impl StockSession {
    /// One with nobody else in it, at no node.
    pub(crate) async fn alone() -> Result<Self> {
        let me = proto(&Name::new("acme", "bridges", "alone"));
        let identity =
            SharedSecret::new("alone", "a secret of a test, of 32 bytes and more").map_err(stock)?;
        let started = bootstrap_app_with_direction(
            &MessageProcessor::new(),
            "gambeson-bridge",
            &me,
            identity.clone(),
            identity,
            Direction::Bidirectional,
            None,
            false,
        );
        let (app, _) = started.map_err(stock)?;
        let config = SessionConfig { session_type: ProtoSessionType::Multicast, ..SessionConfig::default() };
        let talk = proto(&Name::new("acme", "talks", "alone"));
        let (context, _) = app.create_session(config, talk, None).await.map_err(stock)?;
        Self::new(context, Arc::new(app), 0)
    }
}
