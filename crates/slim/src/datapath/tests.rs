//! The protocol against captured messages of SLIM's own client, and the link against nodes that behave badly.

#![allow(clippy::unwrap_used)] // A test may fail that way.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use bytes::{Buf, BufMut, BytesMut};
use gambeson::mlkem::{EncapsulationKey, MlKem768, SharedSecret};
use prost::Message as _;
use tokio::net::{TcpListener, TcpStream};
use x25519_dalek::{PublicKey, StaticSecret};

use super::mac::HeaderMac;
use super::negotiation::derive;
use super::proto::{
    Header, Kind, Link as LinkMessage, Message, Negotiation, Publish, SubscriptionAck, WireName,
};
use super::transport::MAX_MESSAGE;
use super::*;

const SOON: Duration = Duration::from_secs(10);

/// Values of `captured.txt` by their names, in order.
fn captured(name: &str) -> Vec<Vec<u8>> {
    let lines = include_str!("captured.txt").lines().filter_map(|line| line.split_once(' '));
    lines.filter(|(of, _)| *of == name).map(|(_, hex)| base16ct::lower::decode_vec(hex).unwrap()).collect()
}

/// The private key of the server that captured the messages, and of [`Call`].
fn server_key() -> StaticSecret {
    StaticSecret::from(std::array::from_fn(|at| at as u8))
}

#[test]
fn the_key_and_mac_of_slims_own_client_are_found_from_the_servers_end() {
    let secret = SharedSecret::new(captured("ml-kem-secret")[0].as_slice().try_into().unwrap());
    for (at, ml_kem) in [None, Some(&secret)].into_iter().enumerate() {
        let request = Message::decode(captured("request")[at].as_slice()).unwrap();
        let Some(Kind::Link(LinkMessage { negotiation: Some(request) })) = request.kind else {
            panic!("{request:?}")
        };
        assert_eq!(
            (request.version.as_str(), request.is_reply, request.connection_type),
            ("3.4.6", false, 2)
        );
        assert_eq!(request.ml_kem.as_ref().map(Vec::len), ml_kem.map(|_| 1184));
        let theirs = request.x25519.as_slice().try_into().unwrap();
        let key = derive(&server_key(), theirs, ml_kem, &request.link_id).unwrap();
        let mac = HeaderMac::new(key.expose(), &request.link_id);

        let subscribe = Message::decode(captured("subscribe")[at].as_slice()).unwrap();
        let Some(Kind::Subscribe(subscribe)) = subscribe.kind else { panic!("{subscribe:?}") };
        let header = subscribe.header.unwrap();
        assert!(mac.verify(&header));
        let changed: [fn(&mut Header); 6] = [
            |header| header.ttl -= 1,
            |header| header.fanout += 1,
            |header| header.identity.push('x'),
            |header| header.forward_to = Some(1),
            |header| header.destination.as_mut().unwrap().code.as_mut().unwrap().service ^= 1,
            |header| header.mac = None,
        ];
        for change in changed {
            let mut header = header.clone();
            change(&mut header);
            assert!(!mac.verify(&header));
        }
        assert!(
            !HeaderMac::new(key.expose(), "another").verify(&header),
            "the key is that of one connection"
        );
    }
}

#[test]
fn a_name_has_the_hashes_that_slims_own_client_computes() {
    let subscribe = Message::decode(captured("subscribe")[0].as_slice()).unwrap();
    let Some(Kind::Subscribe(subscribe)) = subscribe.kind else { panic!("{subscribe:?}") };
    let theirs = subscribe.header.unwrap().destination.unwrap();
    let instance = theirs.code.unwrap().instance.unwrap();
    let instance = u128::from(instance.high) << 64 | u128::from(instance.low);
    assert_eq!(WireName::new(&Name::new("acme", "agents", "alice").with_instance(instance)), theirs);
}

#[test]
fn decoding_and_encoding_give_the_bytes_of_slims_own_client_back() {
    for bytes in captured("subscribe") {
        let message = Message::decode(bytes.as_slice()).unwrap();
        assert_eq!(message.encode_to_vec(), bytes);
    }
}

#[test]
fn no_bytes_make_decoding_panic() {
    let whole = captured("subscribe").remove(0);
    for at in 0..whole.len() {
        let _ = Message::decode(&whole[..at]);
        for bit in 0..8 {
            let mut changed = whole.clone();
            changed[at] ^= 1 << bit;
            let _ = Message::decode(changed.as_slice());
        }
    }
}

/// One call of `OpenChannel` at a node that a test plays.
struct Call {
    authorization: Option<String>,
    body: h2::RecvStream,
    arrived: BytesMut,
    reply: h2::SendStream<Bytes>,
    mac: Option<HeaderMac>,
    source: Option<WireName>,
}

impl Call {
    async fn next(&mut self) -> Option<Message> {
        loop {
            if let Some(mut prefix) = self.arrived.get(..5) {
                assert_eq!(prefix.get_u8(), 0, "not compressed");
                let len = prefix.get_u32() as usize;
                if self.arrived.len() >= 5 + len {
                    self.arrived.advance(5);
                    return Some(Message::decode(self.arrived.split_to(len)).unwrap());
                }
            }
            let data = self.body.data().await?.ok()?;
            self.body.flow_control().release_capacity(data.len()).unwrap();
            self.arrived.extend_from_slice(&data);
        }
    }

    fn send_bytes(&mut self, message: &[u8]) {
        let mut framed = BytesMut::with_capacity(5 + message.len());
        framed.put_u8(0);
        framed.put_u32(message.len() as u32);
        framed.extend_from_slice(message);
        let _ = self.reply.send_data(framed.freeze(), false);
    }

    fn send(&mut self, kind: Kind) {
        self.send_bytes(&Message { kind: Some(kind) }.encode_to_vec());
    }

    async fn request(&mut self) -> Negotiation {
        match self.next().await.unwrap().kind {
            Some(Kind::Link(LinkMessage { negotiation: Some(request) })) => request,
            other => panic!("{other:?}"),
        }
    }

    fn answer(&mut self, reply: Negotiation) {
        self.send(Kind::Link(LinkMessage { negotiation: Some(reply) }));
    }

    /// The reply of a node without ML-KEM.
    fn reply(request: &Negotiation) -> Negotiation {
        Negotiation {
            link_id: request.link_id.clone(),
            version: "3.4.6".to_owned(),
            is_reply: true,
            x25519: PublicKey::from(&server_key()).to_bytes().to_vec(),
            connection_type: 2,
            ml_kem: None,
        }
    }

    /// Negotiates as a node does.
    async fn negotiate(&mut self, hybrid: bool) {
        let request = self.request().await;
        let mut reply = Self::reply(&request);
        let shared = hybrid.then(|| {
            let key = request.ml_kem.as_deref().unwrap().try_into().unwrap();
            let (ciphertext, shared) =
                EncapsulationKey::<MlKem768>::from_bytes(key).unwrap().encapsulate().unwrap();
            reply.ml_kem = Some(ciphertext.to_vec());
            shared
        });
        let theirs = request.x25519.as_slice().try_into().unwrap();
        let key = derive(&server_key(), theirs, shared.as_ref(), &request.link_id).unwrap();
        self.mac = Some(HeaderMac::new(key.expose(), &request.link_id));
        self.answer(reply);
    }

    /// The next subscription's number; its header has the right MAC.
    async fn subscription(&mut self) -> u64 {
        match self.next().await.unwrap().kind {
            Some(Kind::Subscribe(subscribe)) => {
                let header = subscribe.header.unwrap();
                assert!(self.mac.as_ref().unwrap().verify(&header));
                self.source = header.source;
                subscribe.id
            }
            other => panic!("{other:?}"),
        }
    }

    fn acknowledge(&mut self, id: u64, success: bool) {
        self.send(Kind::Ack(SubscriptionAck { id, success }));
    }

    /// A message to this name, with the right MAC.
    fn publication(&self, name: &Name, payload_type: &str, frame: &'static [u8]) -> Publish {
        let source = WireName::new(&Name::new("a", "b", "c").with_instance(1));
        let mut header = Header::new(source, name, 1);
        self.mac.as_ref().unwrap().sign(&mut header);
        Publish::new(header, payload_type, 1, Bytes::from_static(frame))
    }

    fn publish(&mut self, name: &Name, frame: &'static [u8]) {
        let publish = self.publication(name, "gambeson/frame", frame);
        self.send(Kind::Publish(publish));
    }

    /// Keeps the call open for as long as the link does.
    async fn stay(mut self) {
        while self.next().await.is_some() {}
    }
}

/// A node that a test plays: its endpoint, and how many calls there were. `play` gets the number of each call, from 0.
async fn node<F, Fut>(play: F) -> (String, Arc<AtomicUsize>)
where
    F: Fn(usize, Call) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = ()> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    let (calls, play) = (Arc::new(AtomicUsize::new(0)), Arc::new(play));
    let counted = Arc::clone(&calls);
    tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            let (play, counted) = (Arc::clone(&play), Arc::clone(&counted));
            tokio::spawn(async move {
                let mut settings = h2::server::Builder::new();
                settings.initial_window_size(1 << 20).initial_connection_window_size(1 << 20);
                let Ok(mut connection) = settings.handshake::<_, Bytes>(socket).await else { return };
                while let Some(Ok((request, mut respond))) = connection.accept().await {
                    assert_eq!(request.uri().path(), "/dataplane.proto.v1.DataPlaneService/OpenChannel");
                    let authorization = request.headers().get("authorization");
                    let authorization = authorization.map(|value| value.to_str().unwrap().to_owned());
                    let response = http::Response::builder().header("content-type", "application/grpc");
                    let reply = respond.send_response(response.body(()).unwrap(), false).unwrap();
                    let (body, arrived) = (request.into_body(), BytesMut::new());
                    let call = Call { authorization, body, arrived, reply, mac: None, source: None };
                    tokio::spawn(play(counted.fetch_add(1, Ordering::SeqCst), call));
                }
            });
        }
    });
    (endpoint, calls)
}

fn here() -> Name {
    Name::new("gambeson", "tests", "here").with_instance(1)
}

async fn next(link: &DatapathLink) -> Bytes {
    timeout(SOON, link.receive()).await.expect("a frame came").unwrap().frame
}

#[tokio::test]
async fn a_link_takes_part_in_ml_kem_if_the_node_does() {
    for hybrid in [false, true] {
        let (endpoint, _) = node(move |_, mut call| async move {
            call.negotiate(hybrid).await;
            let id = call.subscription().await;
            call.acknowledge(id, true);
            call.publish(&here().everyone(), b"welcome");
            call.stay().await;
        })
        .await;
        let link = DatapathLink::connect([&endpoint]).await.unwrap();
        link.subscribe(&here()).await.unwrap();
        assert_eq!(next(&link).await, b"welcome"[..]);
        let connected = link.connected().unwrap();
        assert_eq!((connected.version.as_str(), connected.tested), ("3.4.6", true));
        assert_eq!(connected.post_quantum, hybrid);
        let strict = DatapathLink::connect([NodeOptions::new(&endpoint).require_post_quantum()]).await;
        match strict {
            Ok(_) => assert!(hybrid),
            Err(error) => assert!(!hybrid && error.to_string().contains("ML-KEM-768"), "{error}"),
        }
    }
}

#[tokio::test]
async fn a_node_whose_negotiation_is_wrong_is_refused_with_the_reason() {
    type Change = fn(&mut Negotiation);
    let wrong: [(Change, &str); 9] = [
        (|reply| reply.link_id.push('0'), "another link's"),
        (|reply| reply.is_reply = false, "another link's"),
        (|reply| reply.version.clear(), "no version"),
        (|reply| reply.version = "3.4.6\u{1b}[2J".to_owned(), "no version"),
        (|reply| reply.version = "9".repeat(1000), "no version"),
        (|reply| reply.x25519.clear(), "SLIM 3.4.6 has no header MAC"),
        (|reply| reply.x25519 = vec![0; 32], "is invalid"),
        (|reply| reply.x25519.push(0), "has no header MAC"),
        (|reply| reply.ml_kem = Some(vec![0; 1184]), "is invalid"),
    ];
    for (change, reason) in wrong {
        let (endpoint, _) = node(move |_, mut call| async move {
            let request = call.request().await;
            let mut reply = Call::reply(&request);
            change(&mut reply);
            call.answer(reply);
            call.stay().await;
        })
        .await;
        let error = DatapathLink::connect([&endpoint]).await.unwrap_err();
        let text = error.to_string();
        assert!(
            matches!(error, Error::NoNode(_)) && text.contains(reason) && text.contains(&endpoint),
            "{text}"
        );
        assert!(!text.chars().any(char::is_control), "{text:?}");
    }
}

#[tokio::test]
async fn a_node_that_does_not_negotiate_is_refused() {
    let (acknowledging, _) = node(|_, mut call| async move {
        call.acknowledge(1, true);
        call.stay().await;
    })
    .await;
    let (ending, _) = node(|_, mut call| async move {
        call.request().await;
        let _ = call.reply.send_trailers(http::HeaderMap::new());
    })
    .await;
    let (babbling, _) = node(|_, mut call| async move {
        call.send_bytes(b"\xff\xff\xff");
        call.stay().await;
    })
    .await;
    for endpoint in [acknowledging, ending, babbling] {
        let error = DatapathLink::connect([endpoint]).await.unwrap_err().to_string();
        assert!(error.contains("does not negotiate") || error.contains("grpc-status"), "{error}");
    }
}

#[tokio::test]
async fn a_node_that_never_answers_is_given_up_after_five_seconds() {
    let (silent, _) = node(|_, call| call.stay()).await;
    let mute = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mute_endpoint = format!("http://{}", mute.local_addr().unwrap());
    let begun = Instant::now();
    let (silent, unanswered) =
        tokio::join!(DatapathLink::connect([silent]), DatapathLink::connect([mute_endpoint]));
    let (silent, unanswered) = (silent.unwrap_err().to_string(), unanswered.unwrap_err().to_string());
    assert!(silent.contains("does not negotiate"), "{silent}");
    assert!(unanswered.contains("no answer in 5 s"), "{unanswered}");
    drop(mute);
    assert!(begun.elapsed() < SOON);
}

#[tokio::test]
async fn acknowledgements_that_nobody_asked_for_change_nothing() {
    let (endpoint, _) = node(|_, mut call| async move {
        call.negotiate(true).await;
        for id in 0..100 {
            call.acknowledge(id, id % 2 == 0);
        }
        let id = call.subscription().await;
        call.acknowledge(id.wrapping_add(1), true);
        call.acknowledge(id.wrapping_sub(1), false);
        call.publish(&here().everyone(), b"not acknowledged yet");
        call.stay().await;
    })
    .await;
    let link = DatapathLink::connect([endpoint]).await.unwrap();
    assert!(timeout(Duration::from_millis(500), link.subscribe(&here())).await.is_err(), "it still waits");
    assert_eq!(next(&link).await, b"not acknowledged yet"[..], "and the link goes on");
}

#[tokio::test]
async fn what_is_not_for_a_subscribed_name_or_has_a_wrong_mac_is_dropped() {
    let (endpoint, calls) = node(|_, mut call| async move {
        call.negotiate(true).await;
        let id = call.subscription().await;
        call.acknowledge(id, true);
        let name = here().everyone();
        call.publish(&Name::new("gambeson", "tests", "elsewhere"), b"not subscribed");
        let other = call.publication(&name, "text/plain", b"another payload");
        call.send(Kind::Publish(other));
        let large = Publish {
            content: Publish::new(Header::default(), "gambeson/frame", 1, vec![0; MAX_FRAME + 1].into())
                .content,
            ..call.publication(&name, "gambeson/frame", b"")
        };
        call.send(Kind::Publish(large));
        for publish in [
            Publish { header: None, ..call.publication(&name, "gambeson/frame", b"no header") },
            Publish { content: None, ..call.publication(&name, "gambeson/frame", b"") },
        ] {
            call.send(Kind::Publish(publish));
        }
        call.send_bytes(b"");
        let mut unsigned = call.publication(&name, "gambeson/frame", b"no MAC");
        unsigned.header.as_mut().unwrap().mac = None;
        call.send(Kind::Publish(unsigned));
        let mut changed = call.publication(&name, "gambeson/frame", b"a wrong MAC");
        changed.header.as_mut().unwrap().mac.as_mut().unwrap()[31] ^= 1;
        call.send(Kind::Publish(changed));
        call.send_bytes(b"\xff\xff\xff");
        call.publish(&name, b"right");
        call.stay().await;
    })
    .await;
    let link = DatapathLink::connect([endpoint]).await.unwrap();
    link.subscribe(&here()).await.unwrap();
    assert_eq!(next(&link).await, b"right"[..]);
    timeout(SOON, link.gap()).await.expect("frames that may have been meant for here are told");
    assert_eq!(calls.load(Ordering::SeqCst), 1, "over the same connection");
}

#[tokio::test]
async fn a_message_that_is_too_long_ends_the_connection_and_the_next_one_has_the_subscriptions() {
    let subscriptions = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&subscriptions);
    let (endpoint, calls) = node(move |number, mut call| {
        let seen = Arc::clone(&seen);
        async move {
            call.negotiate(true).await;
            let id = call.subscription().await;
            hold(&seen).push(id);
            call.acknowledge(id, true);
            if number == 0 {
                // The length alone is enough.
                let mut framed = BytesMut::new();
                framed.put_u8(0);
                framed.put_u32(MAX_MESSAGE as u32 + 1);
                let _ = call.reply.send_data(framed.freeze(), false);
            } else {
                call.publish(&here().everyone(), b"again");
            }
            call.stay().await;
        }
    })
    .await;
    let link = DatapathLink::connect([endpoint]).await.unwrap();
    link.subscribe(&here()).await.unwrap();
    timeout(SOON, link.gap()).await.expect("the loss is told");
    assert_eq!(next(&link).await, b"again"[..]);
    assert_eq!(calls.load(Ordering::SeqCst), 2);
    let subscriptions = hold(&subscriptions);
    assert_ne!(subscriptions[0], subscriptions[1], "numbers are not used again");
}

#[tokio::test]
async fn credentials_go_to_the_node_and_into_no_text() {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&heard);
    let (endpoint, _) = node(move |_, mut call| {
        hold(&noted).push(call.authorization.take());
        async move {
            call.negotiate(true).await;
            call.stay().await;
        }
    })
    .await;
    let basic = Credentials::basic("alice", "open sesame").unwrap();
    let bearer = Credentials::bearer("e30.e30.c2ln").unwrap();
    for credentials in [basic, bearer] {
        let options = NodeOptions::new(&endpoint).with_credentials(credentials);
        let text = format!("{options:?}");
        assert!(!text.contains("sesame") && !text.contains("YWxpY2U6") && !text.contains("c2ln"), "{text}");
        let link = DatapathLink::connect([options]).await.unwrap();
        let text = format!("{link:?}");
        assert!(!text.contains("YWxpY2U6") && !text.contains("c2ln"), "{text}");
    }
    let expected = ["Basic YWxpY2U6b3BlbiBzZXNhbWU=", "Bearer e30.e30.c2ln"];
    assert_eq!(*hold(&heard), expected.map(|value| Some(value.to_owned())));
}

#[tokio::test]
async fn wrong_options_are_refused_before_anybody_is_called() {
    let credentials = || Credentials::basic("alice", "open sesame").unwrap();
    let wrong = [
        (NodeOptions::new("ws://127.0.0.1:1"), "WebSocket endpoints are not supported"),
        (NodeOptions::new("wss://127.0.0.1:1"), "WebSocket endpoints are not supported"),
        (NodeOptions::new("ftp://127.0.0.1"), "expected http://"),
        (NodeOptions::new("http://"), "not a URL"),
        (NodeOptions::new("http://127.0.0.1:1/path"), "has a path"),
        (NodeOptions::new("http://alice:sesame@127.0.0.1:1"), "do not belong in the endpoint"),
        (NodeOptions::new("http://192.0.2.1:1").with_credentials(credentials()), "unencrypted"),
    ];
    for (options, reason) in wrong {
        let debug = format!("{options:?}");
        let error = DatapathLink::connect([options]).await.unwrap_err();
        assert!(matches!(&error, Error::NodeOptions(text) if text.contains(reason)), "{error}");
        assert!(!error.to_string().contains("sesame") && !debug.contains("sesame"), "{error} {debug}");
    }
    for pem in [&b""[..], b"-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----\n"] {
        assert!(matches!(NodeOptions::new("https://x").with_roots(pem), Err(Error::NodeOptions(_))));
        assert!(matches!(
            NodeOptions::new("https://x").with_client_certificate(pem, pem),
            Err(Error::NodeOptions(_))
        ));
    }
    for token in ["", "two words", "line\r\nfeed"] {
        assert!(Credentials::bearer(token).is_err());
    }
    for (user, password) in [("", "p"), ("u", ""), ("u:v", "p"), ("u", "p\n")] {
        assert!(Credentials::basic(user, password).is_err());
    }
}

#[tokio::test]
async fn a_closed_link_leaves_no_connection_though_the_node_reads_nothing() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    let (inner, _) = node(|_, mut call| async move {
        call.negotiate(true).await;
        // Nothing is read any more: flow control stops the link.
        std::future::pending::<()>().await;
    })
    .await;
    // Between the two, so that the end of the connection is seen.
    let ended = tokio::spawn(async move {
        let (mut near, _) = listener.accept().await.unwrap();
        let mut far = TcpStream::connect(inner.trim_start_matches("http://")).await.unwrap();
        let _ = tokio::io::copy_bidirectional(&mut near, &mut far).await;
    });
    let link = DatapathLink::connect([endpoint]).await.unwrap();
    let frame = Bytes::from(vec![0; MAX_FRAME]);
    while timeout(Duration::from_millis(200), link.publish(&here(), To::All, frame.clone())).await.is_ok() {}
    drop(link);
    timeout(SOON, ended).await.expect("the connection is closed").unwrap();
}
