//! What a client and the gateway say to each other: JSON in text frames, each an object with one name (docs/spec/channel-gateway.md).

use base16ct::lower::encode_string;
use base64ct::{Base64, Encoding};
use bytes::Bytes;
use gambeson_identity::Did;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};

use crate::bridge_news::BridgeNews;
use crate::channel::{MemberStatus, Status};
use crate::content::{MessageId, Purpose};
use crate::event::{Event, Fork, Occurrence, Warning};
use crate::name::ChannelId;

/// The subprotocol of WebSocket, with its version.
pub const SUBPROTOCOL: &str = "gambeson.channel.1";

/// The largest frame that a client may send, in bytes: the longest message in base64, or the DIDs of a thousand agents, and some room.
pub const MAX_CLIENT_FRAME: usize = 256 << 10;

/// How many calls a client may leave unsettled.
pub const MAX_UNSETTLED: usize = 64;

/// How many agents one call may name.
const MAX_DIDS: usize = 1_000;
/// How long a call may ask the gateway to wait, in milliseconds.
const MAX_WAIT: u64 = 24 * 3600 * 1000;
/// Above this, JavaScript's numbers have gaps.
const MAX_NUMBER: u64 = (1 << 53) - 1;

/// What a client says.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum FromClient {
    /// The first frame, and only the first.
    Hello(Hello),
    /// Asks for something to be done, once.
    Call(Call),
    /// Gives a call up: what was begun may be done or not.
    Cancel(Cancel),
    /// Wants what happens in a channel.
    Receive(Receive),
    /// Has dealt with what happened up to a position.
    Acknowledge(Acknowledge),
    /// Wants no more of a channel.
    Stop(Stop),
}

/// Who connects.
#[derive(PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hello {
    /// The bearer token of an agent.
    pub token: String,
    /// 16 random bytes that the client chose once, and says again when it comes back.
    #[serde(deserialize_with = "hex")]
    pub session: [u8; 16],
}

impl std::fmt::Debug for Hello {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Hello").field("session", &self.session).finish_non_exhaustive()
    }
}

/// One thing to be done.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Call {
    /// From 1, each one larger than the last. A call that is said again is not done again.
    #[serde(deserialize_with = "number")]
    pub id: u64,
    /// All answers up to this one have arrived.
    #[serde(deserialize_with = "number")]
    pub settled: u64,
    /// The calls between that one and this whose answers have not arrived; without it, none of those is settled.
    #[serde(default, deserialize_with = "open")]
    pub open: Option<Vec<u64>>,
    /// What.
    #[serde(rename = "do")]
    pub what: Do,
}

/// What can be done.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum Do {
    /// Names the channels that the agent is in.
    Channels(Nothing),
    /// Creates a channel.
    Create(Nothing),
    /// Names the invitations that nobody decided on.
    Invitations(Nothing),
    /// Takes an invitation to a channel, waiting for it if it has not come; in a channel already, answers at once.
    Join(Join),
    /// Adds agents to a channel.
    Invite(Dids),
    /// Removes members.
    Remove(Dids),
    /// Says something to all members.
    Send(Send),
    /// Says something, and waits for the first reply.
    Request(Request),
    /// Replies to a request.
    Reply(Reply),
    /// Names the members.
    Members(Of),
    /// How the channel stands.
    Status(Of),
    /// Gives the agent new keys.
    Rotate(Of),
    /// Decides a fork for what the log shows, or comes back from outside.
    Rejoin(Of),
    /// Leaves.
    Leave(Of),
    /// Ends the channel for everybody.
    Close(Of),
}

/// No fields.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Nothing {}

/// Which channel.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Of {
    /// Which channel.
    #[serde(deserialize_with = "channel")]
    pub channel: ChannelId,
}

/// An invitation to take.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Join {
    /// To which channel.
    #[serde(deserialize_with = "channel")]
    pub channel: ChannelId,
    /// How long to wait for it, in milliseconds.
    #[serde(deserialize_with = "wait")]
    pub wait: u64,
}

/// Agents, and a channel.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dids {
    /// Which channel.
    #[serde(deserialize_with = "channel")]
    pub channel: ChannelId,
    /// Who.
    #[serde(deserialize_with = "dids")]
    pub dids: Vec<String>,
}

/// Something to say.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Send {
    /// In which channel.
    #[serde(deserialize_with = "channel")]
    pub channel: ChannelId,
    /// What, in base64.
    #[serde(deserialize_with = "base64")]
    pub bytes: Bytes,
}

/// A request to all members.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// In which channel.
    #[serde(deserialize_with = "channel")]
    pub channel: ChannelId,
    /// What, in base64.
    #[serde(deserialize_with = "base64")]
    pub bytes: Bytes,
    /// How long to wait for a reply, in milliseconds.
    #[serde(deserialize_with = "wait")]
    pub wait: u64,
}

/// A reply to a request.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reply {
    /// In which channel.
    #[serde(deserialize_with = "channel")]
    pub channel: ChannelId,
    /// To which request.
    pub to: WireMessageId,
    /// What, in base64.
    #[serde(deserialize_with = "base64")]
    pub bytes: Bytes,
}

/// A message's id, as JSON has it.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WireMessageId {
    sender: String,
    #[serde(deserialize_with = "number")]
    born: u64,
    #[serde(deserialize_with = "number")]
    counter: u64,
    index: u16,
}

impl From<WireMessageId> for MessageId {
    fn from(id: WireMessageId) -> Self {
        Self { sender: id.sender, born: id.born, counter: id.counter, index: id.index }
    }
}

/// A call to give up.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cancel {
    /// Which.
    #[serde(deserialize_with = "number")]
    pub id: u64,
}

/// A wish for what happens.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Receive {
    /// In which channel.
    #[serde(deserialize_with = "channel")]
    pub channel: ChannelId,
    /// After which position; without it, after the last that any client of the agent acknowledged.
    #[serde(default, deserialize_with = "optional_number")]
    pub after: Option<u64>,
    /// A number of the client's, which the gateway says with all that comes of this wish: what is still on its way of an earlier one is
    /// told apart by it.
    #[serde(default, deserialize_with = "optional_number")]
    pub feed: Option<u64>,
}

/// What was dealt with.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Acknowledge {
    /// In which channel.
    #[serde(deserialize_with = "channel")]
    pub channel: ChannelId,
    /// Up to which position.
    #[serde(deserialize_with = "number")]
    pub position: u64,
}

/// The end of a wish.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stop {
    /// Of which channel.
    #[serde(deserialize_with = "channel")]
    pub channel: ChannelId,
}

impl FromClient {
    /// Reads a frame: nothing is guessed, and no name is passed over.
    ///
    /// # Errors
    /// A sentence for who wrote the client.
    pub fn parse(frame: &str) -> Result<Self, String> {
        if frame.len() > MAX_CLIENT_FRAME {
            return Err(format!(
                "the frame has {} bytes; at most {MAX_CLIENT_FRAME} are accepted",
                frame.len()
            ));
        }
        serde_json::from_str(frame).map_err(|error| error.to_string())
    }
}

/// Why a call, or what a client wants of a channel, fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// For programs.
    pub code: &'static str,
    /// For people.
    pub message: String,
}

impl Failure {
    pub(super) fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }

    fn value(&self) -> Value {
        json!({ "code": self.code, "message": self.message })
    }
}

/// The answer to a hello.
pub(super) fn welcome(did: &Did, resumed: bool) -> String {
    json!({ "welcome": { "did": did.as_str(), "resumed": resumed } }).to_string()
}

/// The answer to a call.
pub(super) fn answer(id: u64, answer: Result<Value, Failure>) -> String {
    match answer {
        Ok(done) => json!({ "answer": { "id": id, "done": done } }),
        Err(failure) => json!({ "answer": { "id": id, "failed": failure.value() } }),
    }
    .to_string()
}

/// Nothing more comes of a channel to this feed.
pub(super) fn stopped(channel: ChannelId, feed: Option<u64>, failure: &Failure) -> String {
    let mut stopped = json!({ "channel": channel.to_string(), "failed": failure.value() });
    if let Some(feed) = feed {
        stopped["feed"] = feed.into();
    }
    json!({ "stopped": stopped }).to_string()
}

/// Somebody invites the agent.
pub(super) fn invitation(channel: ChannelId, inviter: &str) -> Value {
    json!({ "channel": channel.to_string(), "inviter": inviter })
}

/// Something happened, and this feed hears of it.
pub(super) fn occurrence(channel: ChannelId, feed: Option<u64>, occurrence: &Occurrence) -> String {
    let mut happened = json!({
        "channel": channel.to_string(),
        "position": occurrence.position,
        "at": occurrence.at,
        "event": event(&occurrence.event),
    });
    if let Some(feed) = feed {
        happened["feed"] = feed.into();
    }
    json!({ "occurrence": happened }).to_string()
}

fn event(event: &Event) -> Value {
    match event {
        Event::Message { id, purpose, bytes } => {
            let (kind, to) = match purpose {
                Purpose::Request => ("request", None),
                Purpose::Reply(of) => ("reply", Some(message_id(of))),
                Purpose::Message => ("message", None),
            };
            let mut value = json!({ "kind": kind, "id": message_id(id), "from": id.sender, "bytes": Base64::encode_string(bytes) });
            if let Some(to) = to {
                value["to"] = to;
            }
            value
        }
        Event::Bridge { id, news } => bridge(id, news),
        Event::Joined { members, by, epoch } => {
            json!({ "kind": "joined", "members": members, "by": by, "epoch": epoch })
        }
        Event::Left { members, epoch } => json!({ "kind": "left", "members": members, "epoch": epoch }),
        Event::Removed { members, by, epoch } => {
            json!({ "kind": "removed", "members": members, "by": by, "epoch": epoch })
        }
        Event::Policy { by, epoch } => json!({ "kind": "policy", "by": by, "epoch": epoch }),
        Event::Rotated { by, epoch } => json!({ "kind": "rotated", "by": by, "epoch": epoch }),
        Event::Returned { member, epoch } => {
            json!({ "kind": "returned", "members": [member], "epoch": epoch })
        }
        Event::Warning(warning) => warned(warning),
        Event::Fork(Fork { epoch, ours, theirs, by }) => json!({
            "kind": "fork", "epoch": epoch, "ours": encode_string(ours), "theirs": encode_string(theirs), "by": by,
        }),
    }
}

/// Something that came through a bridge, or about one: its far end is classical.
fn bridge(id: &MessageId, news: &BridgeNews) -> Value {
    let mut value = match news {
        BridgeNews::Open(end) => json!({ "says": "open", "end": far_end(end) }),
        BridgeNews::Said(said) => json!({
            "says": "said", "client": said.from, "type": said.kind, "bytes": Base64::encode_string(&said.bytes),
        }),
        BridgeNews::Missed(reason) => json!({ "says": "missed", "reason": reason }),
        BridgeNews::Closed(reason) => json!({ "says": "closed", "reason": reason }),
    };
    value["kind"] = "bridge".into();
    value["id"] = message_id(id);
    value["by"] = id.sender.clone().into();
    value["classical"] = true.into();
    value
}

fn far_end(end: &crate::bridge_news::FarEnd) -> Value {
    json!({ "session": end.session, "encrypted": end.encrypted, "clients": end.clients })
}

fn warned(warning: &Warning) -> Value {
    let (code, members, message) = match warning {
        Warning::Missing { sender, bundles } => {
            ("missing", vec![sender.clone()], format!("{bundles} bundles of messages are lost"))
        }
        Warning::Pruned { from, to } => {
            ("pruned", Vec::new(), format!("the log was pruned from place {from} up to before {to}"))
        }
        Warning::Refused { place, reason } => {
            ("refused", Vec::new(), format!("the commit at place {place} was refused: {reason}"))
        }
        Warning::Complaint { by, place, reason } => (
            "complaint",
            vec![by.clone()],
            format!("the commit at place {place} could not be used: {reason}"),
        ),
        Warning::Silent { members } => ("silent", members.clone(), "no receipt for a long time".to_owned()),
        Warning::ForbiddenBridge { member } => (
            "forbidden-bridge",
            vec![member.clone()],
            "it claims to be a bridge, which the policy forbids: its messages are not shown".to_owned(),
        ),
        Warning::Outdated { member, reason } => ("outdated", vec![member.clone()], reason.clone()),
        Warning::Unsent { reason } => ("unsent", Vec::new(), reason.clone()),
    };
    json!({ "kind": "warning", "code": code, "members": members, "message": message })
}

/// A message's id.
pub(super) fn message_id(id: &MessageId) -> Value {
    json!({ "sender": id.sender, "born": id.born, "counter": id.counter, "index": id.index })
}

/// A member.
pub(super) fn member(member: &MemberStatus) -> Value {
    json!({
        "did": member.did,
        "role": member.role,
        "behind": member.behind,
        "heard": member.heard,
        "bridge": member.bridge.as_ref().map(far_end),
    })
}

/// How a channel stands.
pub(super) fn status(status: &Status) -> Value {
    json!({
        "epoch": status.epoch,
        "authenticator": encode_string(&status.authenticator),
        "suite": status.suite,
        "members": status.members.len(),
        "unsent": status.unsent,
        "forked": status.forked,
        "over": status.over,
    })
}

/// Lower-case hexadecimal of exactly so many bytes.
fn from_hex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    base16ct::lower::decode(text, &mut bytes).is_ok_and(|read| read.len() == N).then_some(bytes)
}

fn hex<'de, D: Deserializer<'de>, const N: usize>(from: D) -> Result<[u8; N], D::Error> {
    let text = String::deserialize(from)?;
    from_hex(&text)
        .ok_or_else(|| D::Error::custom(format!("expected {} hexadecimal digits in lower case", 2 * N)))
}

fn channel<'de, D: Deserializer<'de>>(from: D) -> Result<ChannelId, D::Error> {
    hex(from).map(ChannelId)
}

fn base64<'de, D: Deserializer<'de>>(from: D) -> Result<Bytes, D::Error> {
    let text = String::deserialize(from)?;
    Base64::decode_vec(&text).map(Bytes::from).map_err(|_| D::Error::custom("not base64 with padding"))
}

fn number<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
    let number = u64::deserialize(from)?;
    (number <= MAX_NUMBER).then_some(number).ok_or_else(|| D::Error::custom("a number above 2^53 - 1"))
}

fn optional_number<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u64>, D::Error> {
    number(from).map(Some)
}

fn open<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Vec<u64>>, D::Error> {
    let ids = Vec::<u64>::deserialize(from)?;
    if ids.len() >= MAX_UNSETTLED {
        let most = MAX_UNSETTLED - 1;
        return Err(D::Error::custom(format!(
            "the call waits for {} open calls; at most {most} are accepted",
            ids.len()
        )));
    }
    if !ids.is_sorted_by(|one, next| one < next) {
        return Err(D::Error::custom("open calls must be named in order, each once"));
    }
    match ids.last() {
        Some(last) if *last > MAX_NUMBER => Err(D::Error::custom("a number above 2^53 - 1")),
        _ => Ok(Some(ids)),
    }
}

fn wait<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
    let wait = u64::deserialize(from)?;
    (wait <= MAX_WAIT).then_some(wait).ok_or_else(|| D::Error::custom("the wait is longer than a day"))
}

fn dids<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    let texts = Vec::<String>::deserialize(from)?;
    let right = (1..=MAX_DIDS).contains(&texts.len());
    if right {
        Ok(texts)
    } else {
        Err(D::Error::custom(format!("{} DIDs are named; 1 to {MAX_DIDS} are accepted", texts.len())))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // A test may fail that way.

    use super::*;

    const CHANNEL: &str = "0000000000000000000000000000000000000000000000000000000000000007";

    fn call(what: &str) -> Result<FromClient, String> {
        FromClient::parse(&format!(r#"{{"call":{{"id":1,"settled":0,"do":{what}}}}}"#))
    }

    fn open_calls(open: &[u64]) -> Result<FromClient, String> {
        let call = json!({ "id": 70, "settled": 2, "open": open, "do": { "create": {} } });
        FromClient::parse(&json!({ "call": call }).to_string())
    }

    #[test]
    fn a_call_is_read_as_it_was_written() {
        let mut id = [0; 32];
        id[31] = 7;
        let send = Send { channel: ChannelId(id), bytes: Bytes::from_static(b"hello") };
        let said = call(&format!(r#"{{"send":{{"channel":"{CHANNEL}","bytes":"aGVsbG8="}}}}"#)).unwrap();
        assert_eq!(said, FromClient::Call(Call { id: 1, settled: 0, open: None, what: Do::Send(send) }));
        let receive = FromClient::parse(&format!(r#"{{"receive":{{"channel":"{CHANNEL}"}}}}"#)).unwrap();
        assert_eq!(receive, FromClient::Receive(Receive { channel: ChannelId(id), after: None, feed: None }));
        let rejoin = call(&format!(r#"{{"rejoin":{{"channel":"{CHANNEL}"}}}}"#)).unwrap();
        let what = Do::Rejoin(Of { channel: ChannelId(id) });
        assert_eq!(rejoin, FromClient::Call(Call { id: 1, settled: 0, open: None, what }));
        for open in [Vec::<u64>::new(), vec![8], (3..66).collect()] {
            let said = open_calls(&open).unwrap();
            let what = Do::Create(Nothing {});
            assert_eq!(said, FromClient::Call(Call { id: 70, settled: 2, open: Some(open), what }));
        }
        let most = format!(r#"{{"receive":{{"channel":"{CHANNEL}","after":5,"feed":{MAX_NUMBER}}}}}"#);
        let receive = Receive { channel: ChannelId(id), after: Some(5), feed: Some(MAX_NUMBER) };
        assert_eq!(FromClient::parse(&most), Ok(FromClient::Receive(receive)));
    }

    #[test]
    fn all_that_comes_of_a_wish_has_its_number_and_none_if_it_had_none() {
        let happened = Occurrence {
            position: 3,
            at: 4,
            event: Event::Policy { by: "did:gambeson:a".to_owned(), epoch: 5 },
        };
        let failure = Failure::new("over", "the channel is over");
        for feed in [None, Some(0), Some(MAX_NUMBER)] {
            let frames = [
                occurrence(ChannelId([7; 32]), feed, &happened),
                stopped(ChannelId([7; 32]), feed, &failure),
            ];
            for (frame, name) in frames.iter().zip(["occurrence", "stopped"]) {
                let frame: Value = serde_json::from_str(frame).unwrap();
                assert_eq!(frame[name].get("feed").and_then(Value::as_u64), feed);
                assert_eq!(frame[name].get("feed").is_some(), feed.is_some());
            }
        }
    }

    #[test]
    fn what_is_not_said_as_it_should_be_is_refused_with_a_sentence() {
        let send = |fields: &str| call(&format!(r#"{{"send":{{"channel":"{CHANNEL}",{fields}}}}}"#));
        let upper = CHANNEL.replace("00000007", "0000000A");
        for (refused, because) in [
            (FromClient::parse("[]"), "expected"),
            (FromClient::parse("{}"), "expected value"),
            (FromClient::parse(r#"{"hallo":{}}"#), "unknown variant"),
            (FromClient::parse(r#"{"cancel":{"id":1}} "more""#), "trailing"),
            (FromClient::parse(r#"{"cancel":{"id":1},"stop":{}}"#), "expected"),
            (FromClient::parse(r#"{"cancel":{"id":9007199254740992}}"#), "2^53"),
            (FromClient::parse(r#"{"cancel":{"id":1.0}}"#), "invalid type"),
            (FromClient::parse(r#"{"cancel":{"id":-1}}"#), "invalid value"),
            (FromClient::parse(r#"{"cancel":{"id":1,"id":1}}"#), "duplicate field"),
            (FromClient::parse(r#"{"hello":{"token":"t","session":"00"}}"#), "32 hexadecimal"),
            (FromClient::parse(&format!(r#"{{"stop":{{"channel":"{upper}"}}}}"#)), "hexadecimal"),
            (
                FromClient::parse(&format!(r#"{{"receive":{{"channel":"{CHANNEL}","after":null}}}}"#)),
                "invalid type",
            ),
            (
                FromClient::parse(&format!(
                    r#"{{"receive":{{"channel":"{CHANNEL}","feed":9007199254740992}}}}"#
                )),
                "2^53",
            ),
            (
                FromClient::parse(&format!(r#"{{"receive":{{"channel":"{CHANNEL}","feed":null}}}}"#)),
                "invalid type",
            ),
            (send(r#""bytes":"aGVsbG8""#), "base64"),
            (send(r#""bytes":"aGVsbG9=""#), "base64"),
            (send(r#""bytes":"aGVsbG8=","to":1"#), "unknown field"),
            (send(r#""text":"hello""#), "unknown field"),
            (call(r#"{"create":{"name":"x"}}"#), "unknown field"),
            (call(r#"{"create":{},"leave":{}}"#), "expected"),
            (call(&format!(r#"{{"invite":{{"channel":"{CHANNEL}","dids":[]}}}}"#)), "0 DIDs"),
            (call(&format!(r#"{{"join":{{"channel":"{CHANNEL}","wait":86400001}}}}"#)), "a day"),
            (open_calls(&(3..67).collect::<Vec<u64>>()), "64 open calls"),
            (open_calls(&[4, 3]), "in order"),
            (open_calls(&[3, 3]), "each once"),
            (open_calls(&[3, MAX_NUMBER + 1]), "2^53"),
            (
                FromClient::parse(r#"{"call":{"id":1,"settled":0,"open":null,"do":{"create":{}}}}"#),
                "invalid type",
            ),
            (FromClient::parse(&" ".repeat(MAX_CLIENT_FRAME + 1)), "at most"),
            (FromClient::parse(&"[".repeat(100_000)), "expected"),
        ] {
            let said = refused.unwrap_err();
            assert!(said.contains(because), "{said:?} does not say {because:?}");
        }
    }

    #[test]
    fn a_token_is_never_printed() {
        let hello = Hello { token: "secret".to_owned(), session: [1; 16] };
        assert!(!format!("{hello:?}").contains("secret"));
    }
}
