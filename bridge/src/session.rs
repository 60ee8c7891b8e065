//! Sessions of SLIM's own, as stock clients hold them.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
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
use crate::link::MAX_FRAME;
use crate::name::Name;

/// The largest payload that goes through a stock session in either direction, in bytes: room is left for what SLIM adds to it.
pub const MAX_STOCK_PAYLOAD: usize = MAX_FRAME - 16 * 1024;

/// How many messages of a stock session wait to be received; what comes above them is lost, and said to be.
const QUEUE: usize = 256;
/// How many sent messages may wait for stock clients to acknowledge them.
const IN_FLIGHT: usize = 64;
/// How long a message waits for one of those places, and a call for SLIM's answer.
const DEADLINE: Duration = Duration::from_secs(15);
/// Stock clients are asked again so often, a second after the other, before one counts as away.
const RETRIES: u32 = 10;

/// An agent among stock clients: a name at a node of SLIM, and the secret that its clients share.
pub struct StockAgent {
    app: Arc<App<SharedSecret, SharedSecret>>,
    invitations: Mutex<mpsc::Receiver<Result<Notification, SessionError>>>,
    processor: MessageProcessor,
    /// The connection to the node.
    node: u64,
}

impl StockAgent {
    /// Connects to a node and listens there for invitations to this name. The secret has at least 32 bytes: who knows it can be
    /// anyone in these sessions.
    ///
    /// # Errors
    /// [`Error::NoNode`]: it does not answer; [`Error::Stock`]: SLIM refuses the name or the secret.
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
        let processor = drained.0.as_ref().ok_or(Error::LinkClosed)?;
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
        let processor = drained.keep().ok_or(Error::LinkClosed)?;
        Ok(Self { app: Arc::new(app), invitations: Mutex::new(invitations), processor, node })
    }

    /// Opens a session of many on this channel name, with SLIM's own MLS, and invites stock clients one after the other.
    ///
    /// # Errors
    /// [`Error::Stock`]: one of them did not come, or SLIM refuses; the session is closed again.
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

    /// The next session that a stock moderator invites this agent to, if `allowed` says so of the session's name and of who SLIM
    /// says the moderator is; others are left again at once. SLIM's layer joins before it asks: the moderator sees this agent come
    /// and go. Dropping the future loses no invitation.
    ///
    /// # Errors
    /// [`Error::LinkClosed`]: there will be no other.
    pub async fn accept(&self, allowed: impl Fn(&Name, Option<&str>) -> bool) -> Result<StockSession> {
        loop {
            let next = self.invitations.lock().await.recv().await.ok_or(Error::LinkClosed)?;
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

/// A session of many among stock clients. Dropping it leaves it.
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

/// What comes out of a stock session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FromStock {
    /// A client said something.
    Message(StockMessage),
    /// What a client said is above [`MAX_STOCK_PAYLOAD`].
    TooLarge {
        /// Who.
        from: Name,
        /// How many bytes.
        len: usize,
    },
    /// So many messages came faster than they were received, and are lost.
    Lost(u64),
    /// SLIM says that something is wrong with the session, such as a client that does not answer.
    Trouble(String),
}

/// What a stock client said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StockMessage {
    /// The name in the message's header.
    pub from: Name,
    /// Who SLIM verified this to be, by SLIM's classical means: with a shared secret, somebody who knows it.
    pub subject: Option<String>,
    /// What it calls the kind of payload.
    pub kind: String,
    /// The payload.
    pub payload: Bytes,
    /// Words beside it, which SLIM does not encrypt.
    pub metadata: HashMap<String, String>,
}

/// A client in a stock session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StockClient {
    /// Its name.
    pub name: Name,
    /// Whether SLIM says that it answers.
    pub online: bool,
}

impl StockSession {
    fn new(context: SessionContext, app: Arc<App<SharedSecret, SharedSecret>>, node: u64) -> Result<Self> {
        let controller = context.session_arc().ok_or(Error::LinkClosed)?;
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

    /// What the session's channel is called.
    #[must_use]
    pub const fn name(&self) -> &Name {
        &self.name
    }

    /// What this agent is called in it, with its instance.
    #[must_use]
    pub const fn me(&self) -> &Name {
        &self.me
    }

    /// Whether the session uses SLIM's own MLS, which is classical. If not, its nodes can read all.
    #[must_use]
    pub const fn is_encrypted(&self) -> bool {
        self.encrypted
    }

    /// Invites a stock client; only into a session that this agent created.
    ///
    /// # Errors
    /// [`Error::Stock`]: it did not come.
    pub async fn invite(&self, client: &Name) -> Result<()> {
        let client = proto(client);
        answer(self.app.set_route(&client, self.node)).await?.map_err(stock)?;
        let invited = answer(self.controller.invite_participant(&client)).await?.map_err(stock)?;
        done(invited).await
    }

    /// Sends a payload to all clients. That SLIM took it says nothing about who gets it.
    ///
    /// # Errors
    /// [`Error::FrameTooLarge`]; [`Error::LinkBusy`]: too many earlier messages wait for clients that do not acknowledge them;
    /// [`Error::Stock`]: the session is over.
    pub async fn send(&self, kind: &str, payload: &[u8], metadata: HashMap<String, String>) -> Result<()> {
        if payload.len() > MAX_STOCK_PAYLOAD {
            return Err(Error::FrameTooLarge(payload.len()));
        }
        let place = timeout(DEADLINE, Arc::clone(&self.in_flight).acquire_owned()).await;
        let place = place.map_err(|_| Error::LinkBusy(DEADLINE))?.map_err(|_| Error::LinkClosed)?;
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

    /// What comes next; `None` when the session is over. Dropping the future loses nothing.
    pub async fn receive(&self) -> Option<FromStock> {
        let mut arriving = self.arriving.lock().await;
        match self.lost.swap(0, Ordering::Relaxed) {
            0 => arriving.recv().await,
            lost => Some(FromStock::Lost(lost)),
        }
    }

    /// Who is in the session, as SLIM says; this agent too.
    ///
    /// # Errors
    /// [`Error::Stock`]: the session is over.
    pub async fn members(&self) -> Result<Vec<StockClient>> {
        let members = answer(self.controller.participants_list()).await?.map_err(stock)?;
        let client = |(member, state): &(ProtoName, ParticipantState)| StockClient {
            name: name(member),
            online: *state == ParticipantState::Online,
        };
        Ok(members.iter().map(client).collect())
    }

    /// Leaves the session; one that this agent created is over for all.
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

/// Reads always: SLIM's own queue has no bound.
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

/// What a message says; `None` if it is none of an application.
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

/// An answer of SLIM's session layer within a deadline.
async fn answer<T>(of: impl Future<Output = T>) -> Result<T> {
    timeout(DEADLINE, of).await.map_err(|_| Error::LinkBusy(DEADLINE))
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

/// With TLS where the endpoint says so, and SLIM's own way to come back to a node that was away.
fn configuration(endpoint: &str) -> ClientConfig {
    let tls = endpoint.starts_with("https://") || endpoint.starts_with("wss://");
    ClientConfig::with_endpoint(endpoint)
        .with_tls_setting(TlsClientConfig::default().with_insecure(!tls))
        .with_connection_type(ConnType::Edge)
}

/// An error and what it came from, in a line.
fn causes(error: &dyn std::error::Error) -> String {
    let sources = std::iter::successors(error.source(), |cause| cause.source());
    sources.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}

/// The text of a name; its parts are empty if it has none, since nodes need only its hashes.
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
    pub(super) async fn alone() -> Result<Self> {
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
