//! One WebSocket: from its handshake to its end.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use tokio::net::TcpStream;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, interval, timeout};
use tokio_tungstenite::tungstenite::handshake::server::{ErrorResponse, Request, Response};
use tokio_tungstenite::tungstenite::http::{HeaderMap, HeaderValue, StatusCode, header};
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Error as SocketError, Message};
use tokio_tungstenite::{WebSocketStream, accept_hdr_async_with_config};

use super::feed::{self, Feed};
use super::protocol::{self, FromClient, Hello, MAX_CLIENT_FRAME, SUBPROTOCOL};
use super::session::{Admitted, Out, Session};
use super::{Agent, Door, calls};
use crate::hold;
use crate::name::ChannelId;

/// How long a client may take to say who it is.
const HELLO: Duration = Duration::from_secs(5);
/// How long a client may take to read a frame.
const READ: Duration = Duration::from_secs(30);
/// How often a client is asked whether it is there, and how long it may be silent.
const PING: Duration = Duration::from_secs(20);
const SILENCE: Duration = Duration::from_secs(60);
/// How many frames wait to be written.
const WAITING: usize = 32;
/// How many channels one connection may receive.
const MAX_FEEDS: usize = 256;

/// Why a connection ends: the codes of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct End(u16, &'static str);

const BAD_FRAME: u16 = 4400;
const UNAUTHORIZED: End = End(4401, "unknown token");
const NO_HELLO: End = End(4408, "no hello frame was received within 5 s");
const REPLACED: End = End(4409, "the client connected again");
const SILENT: End = End(4410, "the client sent nothing for too long");

type Socket = WebSocketStream<TcpStream>;

/// Serves one client until it goes.
pub(super) async fn serve(stream: TcpStream, door: &Door) {
    let config = WebSocketConfig::default()
        .max_message_size(Some(MAX_CLIENT_FRAME))
        .max_frame_size(Some(MAX_CLIENT_FRAME))
        .read_buffer_size(8 << 10)
        .write_buffer_size(8 << 10);
    let _ = stream.set_nodelay(true);
    #[allow(clippy::result_large_err)] // The callback's type is not ours.
    let check = |request: &Request, response: Response| checked(request, response, door);
    let Ok(Ok(mut socket)) = timeout(HELLO, accept_hdr_async_with_config(stream, check, Some(config))).await
    else {
        return;
    };
    match timeout(HELLO, hello(&mut socket)).await {
        Err(_) => end(&mut socket, NO_HELLO.0, NO_HELLO.1).await,
        Ok(Err(Some(reason))) => end(&mut socket, BAD_FRAME, &reason).await,
        Ok(Err(None)) => {}
        Ok(Ok(hello)) => match door.agent(&hello.token) {
            None => end(&mut socket, UNAUTHORIZED.0, UNAUTHORIZED.1).await,
            Some(agent) => speak(socket, agent, hello.session).await,
        },
    }
}

/// Whether a handshake is of a client that may try: of this machine, of no foreign page, and of this version.
#[allow(clippy::result_large_err)] // As above.
fn checked(request: &Request, mut response: Response, door: &Door) -> Result<Response, ErrorResponse> {
    let refuse = |status: StatusCode, reason: &str| {
        let mut refusal = ErrorResponse::new(Some(reason.to_owned()));
        *refusal.status_mut() = status;
        Err(refusal)
    };
    // A foreign page can make its own name lead here, but not take it out of the request.
    if !of_this_machine(request.headers(), door.address) {
        return refuse(StatusCode::FORBIDDEN, "the gateway accepts clients of this machine only");
    }
    let origins: Vec<_> = request.headers().get_all(header::ORIGIN).iter().collect();
    let known = |origin: &HeaderValue| door.origins.iter().any(|known| known.as_bytes() == origin.as_bytes());
    if origins.len() > 1 || !origins.into_iter().all(known) {
        return refuse(
            StatusCode::FORBIDDEN,
            "this origin is not permitted: permit it when the gateway is started",
        );
    }
    if request.uri().path() != "/" || request.uri().query().is_some() {
        return refuse(StatusCode::NOT_FOUND, "the path of the gateway is /");
    }
    let offered = request.headers().get_all(header::SEC_WEBSOCKET_PROTOCOL).iter();
    let mut offered = offered.filter_map(|offer| offer.to_str().ok()).flat_map(|offers| offers.split(','));
    if !offered.any(|offer| offer.trim() == SUBPROTOCOL) {
        return refuse(StatusCode::BAD_REQUEST, "the subprotocol must be gambeson.channel.1");
    }
    response.headers_mut().insert(header::SEC_WEBSOCKET_PROTOCOL, HeaderValue::from_static(SUBPROTOCOL));
    Ok(response)
}

/// Whether a client means this machine: by a name that leads here and nowhere else, or by the address that the gateway listens on.
fn of_this_machine(headers: &HeaderMap, address: SocketAddr) -> bool {
    let mut hosts = headers.get_all(header::HOST).iter();
    let (Some(host), None) = (hosts.next().and_then(|host| host.to_str().ok()), hosts.next()) else {
        return false;
    };
    let own = match address.ip() {
        IpAddr::V4(ip) => ip.to_string(),
        IpAddr::V6(ip) => format!("[{ip}]"),
    };
    let port = address.port();
    // Port 80 is what `ws:` means without one, and browsers do not say it.
    let named = |name: &str| host == format!("{name}:{port}") || (port == 80 && host == name);
    ["127.0.0.1", "[::1]", "localhost", own.as_str()].into_iter().any(named)
}

/// The first frame. `Err(None)`: the client went.
async fn hello(socket: &mut Socket) -> Result<Hello, Option<String>> {
    loop {
        match socket.next().await {
            Some(Ok(Message::Text(frame))) => match FromClient::parse(&frame) {
                Ok(FromClient::Hello(hello)) => return Ok(hello),
                Ok(_) => return Err(Some("the first frame must be a hello".to_owned())),
                Err(reason) => return Err(Some(reason)),
            },
            Some(Ok(Message::Binary(_))) => return Err(Some("frames must be text frames".to_owned())),
            Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
            _ => return Err(None),
        }
    }
}

async fn end(socket: &mut (impl SinkExt<Message> + Unpin), code: u16, reason: &str) {
    // A close frame has room for 123 bytes.
    let cut = (0..=reason.len().min(123)).rev().find(|end| reason.is_char_boundary(*end)).unwrap_or(0);
    let frame = CloseFrame { code: CloseCode::from(code), reason: reason[..cut].into() };
    let _ = timeout(HELLO, socket.send(Message::Close(Some(frame)))).await;
}

/// Speaks with a client whose agent is known.
async fn speak(socket: Socket, agent: &Arc<Agent>, id: [u8; 16]) {
    let (session, resumed) = agent.session(id);
    let (sink, stream) = socket.split();
    let (out, waiting) = mpsc::channel(WAITING);
    let (number, replaced) = session.connect(out.clone());
    let (ending, ended) = watch::channel(None);
    let _ = out.send(protocol::welcome(agent.node.did(), resumed).into()).await;
    let reader = Reader { agent, session: &session, out: &out, feeds: HashMap::new(), tasks: JoinSet::new() };
    tokio::select! {
        () = write(sink, waiting, ended) => {}
        () = async {
            let end = tokio::select! {
                end = reader.read(stream) => end,
                end = until_replaced(replaced) => Some(end),
            };
            if let Some(end) = end {
                ending.send_replace(Some(end));
                // The writer says why, and then this ends with it.
                std::future::pending::<()>().await;
            }
        } => {}
    }
    session.disconnect(number);
}

async fn until_replaced(mut replaced: watch::Receiver<bool>) -> (u16, String) {
    let _ = replaced.wait_for(|replaced| *replaced).await;
    (REPLACED.0, REPLACED.1.to_owned())
}

/// Writes what waits, until a frame takes too long or the end is to be told.
async fn write(
    mut sink: SplitSink<Socket, Message>,
    mut waiting: mpsc::Receiver<Arc<str>>,
    mut ended: watch::Receiver<Option<(u16, String)>>,
) {
    let mut ping = interval(PING);
    loop {
        let message = tokio::select! {
            frame = waiting.recv() => match frame {
                Some(frame) => Message::Text((*frame).into()),
                None => return,
            },
            _ = ping.tick() => Message::Ping(Default::default()),
            _ = ended.changed() => {
                let told = ended.borrow().clone();
                if let Some((code, reason)) = told {
                    end(&mut sink, code, &reason).await;
                }
                return;
            }
        };
        if !matches!(timeout(READ, sink.send(message)).await, Ok(Ok(()))) {
            return;
        }
    }
}

/// What a connection has under way.
struct Reader<'a> {
    agent: &'a Arc<Agent>,
    session: &'a Arc<Session>,
    out: &'a Out,
    feeds: HashMap<ChannelId, Feed>,
    /// Ends with the connection.
    tasks: JoinSet<()>,
}

impl Reader<'_> {
    /// Reads until the client goes (`None`), or must go: why.
    async fn read(mut self, mut stream: SplitStream<Socket>) -> Option<(u16, String)> {
        self.tasks.spawn(calls::announce_invitations(Arc::clone(self.agent), self.out.clone()));
        let mut heard = Instant::now();
        loop {
            let frame = match timeout(SILENCE.saturating_sub(heard.elapsed()), stream.next()).await {
                Err(_) => return Some((SILENT.0, SILENT.1.to_owned())),
                Ok(Some(Ok(Message::Text(frame)))) => frame,
                Ok(Some(Ok(Message::Ping(_) | Message::Pong(_)))) => {
                    heard = Instant::now();
                    continue;
                }
                Ok(Some(Ok(Message::Binary(_)))) => {
                    return Some((BAD_FRAME, "frames must be text frames".to_owned()));
                }
                Ok(Some(Err(SocketError::Capacity(error)))) => return Some((BAD_FRAME, error.to_string())),
                Ok(_) => return None,
            };
            heard = Instant::now();
            if let Err(reason) = self.take(&frame).await {
                return Some((BAD_FRAME, reason));
            }
        }
    }

    async fn take(&mut self, frame: &str) -> Result<(), String> {
        match FromClient::parse(frame)? {
            FromClient::Hello(_) => return Err("only the first frame may be a hello".to_owned()),
            FromClient::Call(call) => match self.session.admit(&call)? {
                Admitted::Wait => {}
                Admitted::Done(answer) => drop(self.out.send(answer).await),
                Admitted::Do => {
                    // It goes on when the connection ends: the client will come back for the answer. It ends with the gateway.
                    let (agent, session) = (Arc::clone(self.agent), Arc::clone(self.session));
                    let task = tokio::spawn(async move {
                        let work = calls::perform(&agent, call.what);
                        if let Some(done) = agent.while_here(work).await {
                            session.answer(call.id, done).await;
                        }
                    });
                    self.session.begun(call.id, task.abort_handle());
                }
            },
            FromClient::Cancel(cancel) => self.session.cancel(cancel.id).await,
            FromClient::Receive(receive) => {
                let id = receive.channel;
                let former = self.feeds.remove(&id);
                self.feeds.retain(|_, feed| !feed.is_over());
                if self.feeds.values().filter(|feed| feed.is_wanted()).count() >= MAX_FEEDS {
                    return Err("more than 256 channels in one connection".to_owned());
                }
                match calls::channel(self.agent, id) {
                    Ok(channel) => {
                        let feed = feed::begin(channel, &receive, former, self.out.clone());
                        self.feeds.insert(id, feed);
                    }
                    Err(failure) => {
                        let stopped = protocol::stopped(id, receive.feed, &failure);
                        drop(self.out.send(stopped.into()).await);
                    }
                }
            }
            FromClient::Acknowledge(acknowledge) => {
                if let Some(feed) = self.feeds.get(&acknowledge.channel) {
                    feed.acknowledge(acknowledge.position);
                }
            }
            FromClient::Stop(stop) => {
                if let Some(feed) = self.feeds.get_mut(&stop.channel) {
                    feed.stop();
                }
            }
        }
        while self.tasks.try_join_next().is_some() {}
        Ok(())
    }
}

/// The invitations that wait, in the order in which they came: their numbers, channels and inviters.
pub(super) fn waiting_invitations(agent: &Agent) -> Vec<(u64, ChannelId, String)> {
    let invitations = hold(&agent.invitations);
    let waiting = invitations.waiting.iter();
    waiting.map(|(number, invitation)| (*number, invitation.channel, invitation.inviter.clone())).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // A test may fail that way.

    use super::*;

    fn of(host: &'static str, address: &str) -> bool {
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, HeaderValue::from_static(host));
        of_this_machine(&headers, address.parse().unwrap())
    }

    #[test]
    fn a_client_means_this_machine_by_a_name_of_it_or_by_the_gateways_address() {
        for host in ["127.0.0.1:4680", "[::1]:4680", "localhost:4680"] {
            assert!(of(host, "127.0.0.1:4680"), "{host}");
        }
        assert!(of("127.0.0.2:4680", "127.0.0.2:4680"));
        assert!(of("127.0.0.1:80", "127.0.0.1:80") && of("127.0.0.1", "127.0.0.1:80"), "80 may go unsaid");
        assert!(of("127.0.0.2", "127.0.0.2:80") && of("[::1]", "[::1]:80"));
        for host in ["127.0.0.2:4680", "127.0.0.1", "127.0.0.1:80", "localhost", "example.org:4680", ""] {
            assert!(!of(host, "127.0.0.1:4680"), "{host}");
        }
        assert!(!of("example.org", "127.0.0.1:80"));
        let mut two = HeaderMap::new();
        two.append(header::HOST, HeaderValue::from_static("localhost:80"));
        two.append(header::HOST, HeaderValue::from_static("localhost:80"));
        assert!(!of_this_machine(&two, "127.0.0.1:80".parse().unwrap()), "one says one host");
    }
}
