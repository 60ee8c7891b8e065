//! Messages of a node's data plane (`dataplane.proto.v1`), as far as a link sends or reads them.
//!
//! The service is `DataPlaneService`, its one method `OpenChannel`: a stream of [`Message`] each way. Fields that a link neither sends nor
//! reads are left out; decoding skips them.

use bytes::Bytes;
use prost::{Message as _, Oneof};
use tonic::Status;
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};
use twox_hash::XxHash64;

use crate::link::To;
use crate::name::Name;

/// Path of the method `OpenChannel`.
pub(super) const OPEN_CHANNEL: &str = "/dataplane.proto.v1.DataPlaneService/OpenChannel";

/// Version of SLIM whose protocol this is, as it is announced to nodes.
pub(super) const PROTOCOL_VERSION: &str = "3.4.6";

/// Hops that a message may take, as SLIM's own clients set it.
const TTL: u32 = 8;

/// Instance of a name that stands for all instances.
const EVERY_INSTANCE: u128 = u128::MAX;

/// One message of the stream.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Message {
    #[prost(oneof = "Kind", tags = "1, 2, 3, 5, 6")]
    pub(super) kind: Option<Kind>,
}

#[derive(Clone, PartialEq, Oneof)]
pub(super) enum Kind {
    #[prost(message, tag = "1")]
    Subscribe(Subscription),
    #[prost(message, tag = "2")]
    Unsubscribe(Subscription),
    #[prost(message, tag = "3")]
    Publish(Publish),
    #[prost(message, tag = "5")]
    Link(Link),
    #[prost(message, tag = "6")]
    Ack(SubscriptionAck),
}

/// Request to deliver messages for the destination of the header, or to stop doing so.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Subscription {
    #[prost(message, optional, tag = "1")]
    pub(super) header: Option<Header>,
    /// Unique in all of a mesh; the acknowledgement repeats it. 0 asks for none.
    #[prost(uint64, tag = "2")]
    pub(super) id: u64,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Publish {
    #[prost(message, optional, tag = "1")]
    pub(super) header: Option<Header>,
    #[prost(message, optional, tag = "2")]
    pub(super) session: Option<SessionHeader>,
    #[prost(message, optional, tag = "3")]
    pub(super) content: Option<Content>,
}

/// Routing header of subscriptions and publications.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Header {
    #[prost(message, optional, tag = "1")]
    pub(super) source: Option<WireName>,
    #[prost(message, optional, tag = "2")]
    pub(super) destination: Option<WireName>,
    #[prost(string, tag = "3")]
    pub(super) identity: String,
    #[prost(uint32, tag = "4")]
    pub(super) fanout: u32,
    #[prost(string, tag = "5")]
    pub(super) version: String,
    #[prost(uint32, tag = "6")]
    pub(super) ttl: u32,
    #[prost(uint64, optional, tag = "7")]
    pub(super) recv_from: Option<u64>,
    #[prost(uint64, optional, tag = "8")]
    pub(super) forward_to: Option<u64>,
    /// A node's own; the MAC does not cover it.
    #[prost(uint64, optional, tag = "9")]
    pub(super) incoming_connection: Option<u64>,
    #[prost(bool, optional, tag = "10")]
    pub(super) error: Option<bool>,
    #[prost(bytes = "vec", optional, tag = "11")]
    pub(super) mac: Option<Vec<u8>>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct SessionHeader {
    /// 2: multicast.
    #[prost(int32, tag = "1")]
    pub(super) session_type: i32,
    /// 1: message of an application.
    #[prost(int32, tag = "2")]
    pub(super) message_type: i32,
    #[prost(uint32, tag = "3")]
    pub(super) session_id: u32,
    #[prost(uint32, tag = "4")]
    pub(super) message_id: u32,
}

/// A name as nodes route it, by hashes, and as text.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct WireName {
    #[prost(message, optional, tag = "1")]
    pub(super) code: Option<NameCode>,
    #[prost(message, optional, tag = "2")]
    pub(super) text: Option<NameText>,
}

#[derive(Clone, Copy, PartialEq, prost::Message)]
pub(super) struct NameCode {
    #[prost(uint64, tag = "1")]
    pub(super) organisation: u64,
    #[prost(uint64, tag = "2")]
    pub(super) namespace: u64,
    #[prost(uint64, tag = "3")]
    pub(super) service: u64,
    #[prost(message, optional, tag = "4")]
    pub(super) instance: Option<Instance>,
}

#[derive(Clone, Copy, PartialEq, prost::Message)]
pub(super) struct Instance {
    #[prost(uint64, tag = "1")]
    pub(super) high: u64,
    #[prost(uint64, tag = "2")]
    pub(super) low: u64,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct NameText {
    #[prost(string, tag = "1")]
    pub(super) organisation: String,
    #[prost(string, tag = "2")]
    pub(super) namespace: String,
    #[prost(string, tag = "3")]
    pub(super) service: String,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Content {
    /// Not set in messages of SLIM's own session layer.
    #[prost(message, optional, tag = "1")]
    pub(super) application: Option<ApplicationPayload>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct ApplicationPayload {
    #[prost(string, tag = "1")]
    pub(super) payload_type: String,
    #[prost(bytes = "bytes", tag = "2")]
    pub(super) blob: Bytes,
}

/// Answer to a [`Subscription`].
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct SubscriptionAck {
    #[prost(uint64, tag = "1")]
    pub(super) id: u64,
    #[prost(bool, tag = "2")]
    pub(super) success: bool,
}

/// Message between the two ends of a connection, which is not routed.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Link {
    #[prost(message, optional, tag = "1")]
    pub(super) negotiation: Option<Negotiation>,
}

/// First message of either end: the initiator's request, the responder's reply.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Negotiation {
    #[prost(string, tag = "1")]
    pub(super) link_id: String,
    #[prost(string, tag = "2")]
    pub(super) version: String,
    #[prost(bool, tag = "3")]
    pub(super) is_reply: bool,
    /// X25519, 32 bytes; empty if the sender computes no MACs.
    #[prost(bytes = "vec", tag = "4")]
    pub(super) x25519: Vec<u8>,
    /// 2: a client of the node.
    #[prost(int32, tag = "5")]
    pub(super) connection_type: i32,
    /// ML-KEM-768: encapsulation key of the initiator, ciphertext of the responder.
    #[prost(bytes = "vec", optional, tag = "8")]
    pub(super) ml_kem: Option<Vec<u8>>,
}

/// The value of [`Negotiation::connection_type`] for a client.
pub(super) const EDGE: i32 = 2;

impl WireName {
    pub(super) fn new(name: &Name) -> Self {
        let [organisation, namespace, service] = name.parts().clone();
        let instance = name.instance().unwrap_or(EVERY_INSTANCE);
        Self {
            code: Some(NameCode {
                organisation: hash(&organisation),
                namespace: hash(&namespace),
                service: hash(&service),
                instance: Some(Instance { high: (instance >> 64) as u64, low: instance as u64 }),
            }),
            text: Some(NameText { organisation, namespace, service }),
        }
    }

    /// The hashes of the three components.
    pub(super) fn hashes(&self) -> Option<[u64; 3]> {
        self.code.map(|code| [code.organisation, code.namespace, code.service])
    }
}

/// Hash of a component of a name: XXH64 of its UTF-8 bytes and the byte 0xFF.
fn hash(component: &str) -> u64 {
    let mut bytes = Vec::with_capacity(component.len() + 1);
    bytes.extend_from_slice(component.as_bytes());
    bytes.push(0xff);
    XxHash64::oneshot(0, &bytes)
}

impl Header {
    pub(super) fn new(source: WireName, destination: &Name, fanout: u32) -> Self {
        Self {
            source: Some(source),
            destination: Some(WireName::new(destination)),
            fanout,
            version: PROTOCOL_VERSION.to_owned(),
            ttl: TTL,
            ..Self::default()
        }
    }
}

impl Publish {
    /// `payload_type` says to receivers what the frame is.
    pub(super) fn new(header: Header, payload_type: &str, message_id: u32, frame: Bytes) -> Self {
        let application = ApplicationPayload { payload_type: payload_type.to_owned(), blob: frame };
        Self {
            header: Some(header),
            session: Some(SessionHeader { session_type: 2, message_type: 1, session_id: 0, message_id }),
            content: Some(Content { application: Some(application) }),
        }
    }
}

/// How many receivers get a message.
pub(super) const fn fanout(to: To) -> u32 {
    match to {
        To::One => 1,
        To::All => u32::MAX,
    }
}

/// Encodes messages, and decodes what arrives.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MessageCodec;

impl Codec for MessageCodec {
    type Encode = Message;
    /// `None`: bytes that are no message.
    type Decode = Option<Message>;
    type Encoder = Self;
    type Decoder = Self;

    fn encoder(&mut self) -> Self {
        Self
    }

    fn decoder(&mut self) -> Self {
        Self
    }
}

impl Encoder for MessageCodec {
    type Item = Message;
    type Error = Status;

    fn encode(&mut self, message: Message, into: &mut EncodeBuf<'_>) -> Result<(), Status> {
        message.encode(into).map_err(|_| Status::internal("a message does not fit its buffer"))
    }
}

impl Decoder for MessageCodec {
    type Item = Option<Message>;
    type Error = Status;

    fn decode(&mut self, from: &mut DecodeBuf<'_>) -> Result<Option<Self::Item>, Status> {
        use bytes::Buf;
        let message = Message::decode(&mut *from).ok();
        // The next message begins after this one, wherever decoding stopped.
        from.advance(from.remaining());
        Ok(Some(message))
    }
}
