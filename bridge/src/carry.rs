//! Forwards messages between a channel and a stock session, in both directions.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use gambeson_slim::{BridgeNews, Channel, Event, FarEnd, FarMessage, Name, Occurrence};
use tokio::sync::watch;
use tokio::task::AbortHandle;
use tokio::time::{Instant, interval, timeout};

use crate::error::{Error, Result};
use crate::session::{FromStock, StockClient, StockMessage, StockSession};

/// The largest payload that a bridge forwards into a channel, in bytes.
pub const MAX_CARRIED: usize = 40 << 10;

/// Metadata key of each payload that a bridge forwards to stock clients; its value is the channel's id. A payload with this key is not
/// forwarded again.
pub const METADATA: &str = "gambeson-bridge";
/// Metadata key of the sender: a DID.
pub const METADATA_FROM: &str = "gambeson-from";

/// How often the bridge reads the list of clients, and how often it tells members that it is open though nothing changed.
const LOOK: Duration = Duration::from_secs(1);
const ANNOUNCE: Duration = Duration::from_secs(60);
/// How long the bridge waits before it forwards anything, so that another bridge of the same session is noticed.
const SETTLE: Duration = Duration::from_secs(1);
/// How long the status of a channel may lag behind its events. A test waits for a whole commit of its own.
const STATUS_LAG: Duration = Duration::from_secs(if cfg!(test) { 60 } else { 1 });
/// The longest time for closing.
const FAREWELL: Duration = Duration::from_secs(5);
/// Rate limit of messages of clients: so many in a burst, then so many a second.
const BURST: f64 = 200.0;
const RATE: f64 = 50.0;
/// Number of occurrences that are read at once.
const PAGE: usize = 64;

/// A running bridge. Dropping it ends it; the channel and its member go on.
#[derive(Debug)]
pub struct Bridge {
    end: watch::Receiver<FarEnd>,
    over: watch::Receiver<Option<String>>,
    stop: watch::Sender<bool>,
    task: AbortHandle,
}

impl Drop for Bridge {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Bridge {
    /// Starts to forward messages between a channel and a session.
    ///
    /// # Errors
    /// [`Error::NotAllowed`]: the channel's policy does not allow it, or another member bridges the same session; [`Error::Channel`], such
    /// as [`Over`](gambeson_slim::Error::Over); errors of the session.
    pub async fn start(channel: Channel, session: StockSession) -> Result<Self> {
        let from = channel.newest().await?;
        let mut carrier = Carrier::new(channel, session).await?;
        let (end_sender, end) = watch::channel(carrier.end.clone());
        carrier.me = carrier.channel.send_bridge_news(&BridgeNews::Open(carrier.end.clone())).await?.sender;
        let (over_sender, over) = watch::channel(None);
        let (stop, stopped) = watch::channel(false);
        let task = tokio::spawn(async move {
            let reason = carrier.run(from, stopped, &end_sender).await;
            over_sender.send_replace(Some(reason));
        });
        Ok(Self { end, over, stop, task: task.abort_handle() })
    }

    /// Returns the session and its clients, as of now.
    #[must_use]
    pub fn far_end(&self) -> FarEnd {
        self.end.borrow().clone()
    }

    /// Closes the bridge, and tells both sides.
    pub async fn stop(self) {
        self.stop.send_replace(true);
        self.ended().await;
    }

    /// Waits until the bridge has ended, and returns the reason.
    pub async fn ended(&self) -> String {
        let mut over = self.over.clone();
        let over = over.wait_for(Option::is_some).await;
        over.ok().and_then(|reason| reason.clone()).unwrap_or_else(|| "its task was ended".to_owned())
    }
}

/// State of a running bridge.
struct Carrier {
    channel: Channel,
    /// The DID of the bridge's member; empty before its first message.
    me: String,
    session: Arc<StockSession>,
    end: FarEnd,
    announced: Instant,
    allowance: f64,
    counted: Instant,
    /// Number of messages above the rate limit that both sides were not told of yet.
    refused: u64,
}

/// An error is the reason why the bridge ends.
type Carried = std::result::Result<(), String>;

impl Carrier {
    async fn new(channel: Channel, session: StockSession) -> Result<Self> {
        let now = Instant::now();
        let clients = session.members().await?;
        let end = FarEnd {
            session: session.name().to_string(),
            encrypted: session.is_encrypted(),
            clients: others(&session, &clients),
        };
        let carrier = Self {
            channel,
            me: String::new(),
            session: Arc::new(session),
            end,
            announced: now,
            allowance: BURST,
            counted: now,
            refused: 0,
        };
        carrier.may().map_err(Error::NotAllowed)?;
        Ok(carrier)
    }

    /// Checks that the channel lets this member bridge this session. Called whenever this may have changed, and before anything is
    /// forwarded to the session.
    fn may(&self) -> Carried {
        self.channel.with_status(|status| {
            if !status.bridging {
                return Err("the channel's policy does not allow bridges".to_owned());
            }
            // Of two that begin at once, the one with the smaller DID stays.
            let same = |(did, end): &(&String, &FarEnd)| end.session == self.end.session && **did != self.me;
            match status.bridges.iter().find(same) {
                Some((did, _)) if !status.bridges.contains_key(&self.me) || *did < self.me => {
                    Err(format!("{did} bridges this session already"))
                }
                _ => Ok(()),
            }
        })
    }

    /// Forwards messages until something ends the bridge, and returns the reason.
    async fn run(
        mut self,
        from: u64,
        mut stop: watch::Receiver<bool>,
        end: &watch::Sender<FarEnd>,
    ) -> String {
        let reason = tokio::select! {
            carried = self.carry(from, end) => match carried {
                Ok(()) => "it has nothing to do".to_owned(),
                Err(reason) => reason,
            },
            _ = stop.wait_for(|stop| *stop) => "it was stopped".to_owned(),
        };
        let farewell = async {
            let _ = self.channel.send_bridge_news(&BridgeNews::Closed(reason.clone())).await;
            let _ = self.tell(&format!("The bridge is closed: {reason}.")).await;
            self.session.close().await;
        };
        let _ = timeout(FAREWELL, farewell).await;
        reason
    }

    async fn carry(&mut self, mut from: u64, end: &watch::Sender<FarEnd>) -> Carried {
        // Another that began at the same time is seen by now, or sees this one.
        tokio::time::sleep(SETTLE).await;
        self.may()?;
        self.tell(&self.notice()).await?;
        let mut look = interval(LOOK);
        let (session, channel) = (Arc::clone(&self.session), self.channel.clone());
        loop {
            tokio::select! {
                arrived = session.receive() => match arrived {
                    Some(arrived) => self.inward(arrived).await?,
                    None => return Err("the stock session is over".to_owned()),
                },
                page = channel.since(from, PAGE) => {
                    for occurrence in page.map_err(|error| error.to_string())? {
                        from = occurrence.position + 1;
                        self.outward(occurrence).await?;
                    }
                }
                _ = look.tick() => {
                    self.may()?;
                    self.look(end).await?;
                }
            }
        }
    }

    /// Tells of messages that were not forwarded, tells members of changes of the list of clients, and sends new clients the notice.
    async fn look(&mut self, end: &watch::Sender<FarEnd>) -> Carried {
        self.tell_refused().await?;
        let clients = self.session.members().await.map_err(|error| error.to_string())?;
        let clients = others(&self.session, &clients);
        let came = clients.iter().any(|client| !self.end.clients.contains(client));
        if clients != self.end.clients || self.announced.elapsed() >= ANNOUNCE {
            self.end.clients = clients;
            self.announced = Instant::now();
            end.send_replace(self.end.clone());
            self.say(BridgeNews::Open(self.end.clone())).await?;
        }
        if came { self.tell(&self.notice()).await } else { Ok(()) }
    }

    /// The notice for clients: where their messages go.
    fn notice(&self) -> String {
        let members = self.channel.members().len();
        let here = if self.end.encrypted {
            "by SLIM's own encryption, which is classical: not post-quantum"
        } else {
            "by no end-to-end encryption"
        };
        format!(
            "This session has a bridge to a gambeson channel of {members} members. They read what is said here, and their words come here \
             through the bridge. There, they are encrypted end to end with post-quantum MLS; here, they are protected {here}."
        )
    }

    /// Forwards something of the session to the channel.
    async fn inward(&mut self, arrived: FromStock) -> Carried {
        let news = match arrived {
            // Another bridge's.
            FromStock::Message(said) if said.metadata.contains_key(METADATA) => return Ok(()),
            FromStock::Message(said) => news_of(said),
            FromStock::TooLarge { from, len } => too_large(&from, len),
            FromStock::Lost(count) => {
                self.refused += count;
                return Ok(());
            }
            FromStock::Trouble(what) => BridgeNews::Missed(format!("SLIM says: {what}")),
        };
        if !self.spend() {
            self.refused += 1;
            return Ok(());
        }
        // What was lost came before this.
        self.tell_refused().await?;
        self.say_to_both(news).await
    }

    /// Takes one message from the rate limit's allowance; false if none is left.
    fn spend(&mut self) -> bool {
        let now = Instant::now();
        self.allowance = BURST.min(self.allowance + RATE * (now - self.counted).as_secs_f64());
        self.counted = now;
        let allowed = self.allowance >= 1.0;
        if allowed {
            self.allowance -= 1.0;
        }
        allowed
    }

    /// Tells both sides how many messages were above the rate limit, if any were.
    async fn tell_refused(&mut self) -> Carried {
        match std::mem::take(&mut self.refused) {
            0 => Ok(()),
            refused => {
                self.say_to_both(BridgeNews::Missed(format!("{refused} messages came too fast"))).await
            }
        }
    }

    /// Sends news to the channel; clients are told, too, of messages that were not forwarded.
    async fn say_to_both(&self, news: BridgeNews) -> Carried {
        if let BridgeNews::Missed(reason) = &news {
            self.tell(&format!("Not carried: {reason}.")).await?;
        }
        self.say(news).await
    }

    async fn say(&self, news: BridgeNews) -> Carried {
        self.channel.send_bridge_news(&news).await.map(drop).map_err(|error| error.to_string())
    }

    /// Forwards something of the channel to the clients.
    async fn outward(&mut self, occurrence: Occurrence) -> Carried {
        match occurrence.event {
            // What came through a bridge goes through none.
            Event::Bridge { id, news: BridgeNews::Open(_) } if id.sender != self.me => self.may(),
            // Who comes back from outside may come to another policy.
            Event::Policy { epoch, .. } | Event::Returned { epoch, .. } => {
                // The status follows what is written. Not for ever: after a fork the epoch may be an earlier one.
                let _ = timeout(STATUS_LAG, self.channel.until(|status| status.epoch >= epoch)).await;
                self.may()
            }
            Event::Message { id, bytes, .. } => {
                self.may()?;
                let (kind, payload) = marked(&id.sender, bytes);
                let metadata = self.metadata(&id.sender);
                match self.session.send(kind, &payload, metadata).await {
                    Err(Error::PayloadTooLarge(len)) => {
                        let missed =
                            format!("{len} bytes of {} are more than a stock session takes", id.sender);
                        self.say(BridgeNews::Missed(missed)).await
                    }
                    sent => sent.map_err(|error| error.to_string()),
                }
            }
            _ => Ok(()),
        }
    }

    /// Sends a text of the bridge itself to the clients.
    async fn tell(&self, text: &str) -> Carried {
        let text = format!("[gambeson bridge] {text}");
        let sent = self.session.send("text/plain", text.as_bytes(), self.metadata(&self.me)).await;
        sent.map_err(|error| error.to_string())
    }

    fn metadata(&self, from: &str) -> HashMap<String, String> {
        let channel = (METADATA.to_owned(), self.channel.id().to_string());
        HashMap::from([channel, (METADATA_FROM.to_owned(), from.to_owned())])
    }
}

/// The clients of a session without the bridge.
fn others(session: &StockSession, clients: &[StockClient]) -> Vec<String> {
    let clients = clients.iter().filter(|client| client.online && client.name != *session.me());
    let mut names: Vec<String> = clients.map(|client| client.name.clone().everyone().to_string()).collect();
    names.sort();
    names
}

/// Returns the news of a client's message.
fn news_of(said: StockMessage) -> BridgeNews {
    if said.payload.len() > MAX_CARRIED {
        return too_large(&said.from, said.payload.len());
    }
    let from = said.from.everyone().to_string();
    BridgeNews::Said(FarMessage { from, kind: said.kind, bytes: said.payload })
}

fn too_large(from: &Name, len: usize) -> BridgeNews {
    BridgeNews::Missed(format!(
        "{len} bytes of {} are more than the {MAX_CARRIED} that are carried",
        from.clone().everyone()
    ))
}

/// Returns the type and the payload for stock clients. A text gets a prefix with its sender; JSON and other bytes stay unchanged.
fn marked(from: &str, bytes: Bytes) -> (&'static str, Bytes) {
    match std::str::from_utf8(&bytes) {
        Ok(text) if !is_json(text) => {
            ("text/plain", format!("[{from} through a gambeson bridge] {text}").into())
        }
        Ok(_) => ("application/json", bytes),
        Err(_) => ("application/octet-stream", bytes),
    }
}

/// JSON is for programs, which would not understand it with a prefix.
fn is_json(text: &str) -> bool {
    serde_json::from_str(text).is_ok_and(|value: serde_json::Value| value.is_object() || value.is_array())
}

#[cfg(test)]
#[path = "../../crates/slim/tests/nearby/mod.rs"]
mod nearby;

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // A test may fail that way.

    use super::nearby::Nearby;
    use super::*;
    use gambeson_slim::{MessageId, Node, Purpose, SignedPolicy};

    /// A bridge between a channel with one member, which allows bridges, and a session with nobody else in it.
    async fn carrier() -> (Node, SignedPolicy, Carrier) {
        let node = Nearby::new().agent().await.unwrap();
        let mut policy = node.policy().unwrap();
        policy.bridge = true;
        let policy = policy.sign(node.me().agent()).unwrap();
        let carrier = Carrier {
            channel: node.create(policy.clone()).await.unwrap(),
            me: String::new(),
            session: Arc::new(StockSession::alone().await.unwrap()),
            end: FarEnd { session: String::new(), encrypted: false, clients: Vec::new() },
            announced: Instant::now(),
            allowance: BURST,
            counted: Instant::now(),
            refused: 0,
        };
        (node, policy, carrier)
    }

    #[tokio::test]
    async fn who_came_back_to_a_policy_without_bridges_carries_nothing_out_any_more() {
        let (node, signed, mut carrier) = carrier().await;
        let occurrence = |event| Occurrence { position: 1, at: 0, event };
        let epoch = carrier.channel.status().epoch + 1;
        let returned = Event::Returned { member: "did:example:a".to_owned(), epoch };
        let mut forbidding = signed.policy().next(node.policy().unwrap().issued);
        forbidding.bridge = false;
        let forbidding = forbidding.sign(node.me().agent()).unwrap();
        // The event comes before the status: `join!` polls `outward` first.
        let channel = carrier.channel.clone();
        let (carried, changed) =
            tokio::join!(carrier.outward(occurrence(returned)), channel.change(forbidding));
        changed.unwrap();
        assert!(carried.unwrap_err().contains("policy"));

        let id = MessageId { sender: "did:example:b".to_owned(), born: 1, counter: 1, index: 0 };
        let bytes = Bytes::from_static(b"for members alone");
        let message = Event::Message { id, purpose: Purpose::Message, bytes };
        assert!(carrier.outward(occurrence(message)).await.unwrap_err().contains("policy"));
    }

    #[tokio::test]
    async fn without_allowance_nothing_of_the_session_is_said_but_how_much_it_was() {
        let (_node, _, mut carrier) = carrier().await;
        // None comes back while this runs.
        carrier.allowance = -1e6;
        let from = Name::new("acme", "agents", "bob");
        let message = StockMessage {
            from: from.clone(),
            subject: None,
            kind: "text/plain".to_owned(),
            payload: Bytes::from_static(b"hello"),
            metadata: HashMap::new(),
        };
        let arrived = [
            FromStock::Message(message),
            FromStock::TooLarge { from, len: 1 << 24 },
            FromStock::Trouble("a client does not answer".to_owned()),
            FromStock::Lost(7),
        ];
        for arrived in arrived {
            carrier.inward(arrived).await.unwrap();
        }
        assert_eq!(carrier.refused, 10);
    }

    #[test]
    fn texts_say_where_they_come_from_and_other_payloads_stay_as_they_are() {
        let (kind, text) = marked("did:gambeson:a", Bytes::from_static(b"hello"));
        assert_eq!(
            (kind, &text[..]),
            ("text/plain", &b"[did:gambeson:a through a gambeson bridge] hello"[..])
        );
        let (kind, json) = marked("did:gambeson:a", Bytes::from_static(b" {\"a\":1}"));
        assert_eq!((kind, &json[..]), ("application/json", &b" {\"a\":1}"[..]));
        let (kind, bytes) = marked("did:gambeson:a", Bytes::from_static(b"\xff\x00"));
        assert_eq!((kind, &bytes[..]), ("application/octet-stream", &b"\xff\x00"[..]));
    }
}
