//! Carries what is said, in both directions.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::watch;
use tokio::task::AbortHandle;
use tokio::time::{Instant, interval, timeout};

use super::session::{FromStock, StockClient, StockMessage, StockSession};
use crate::bridge_news::{BridgeNews, FarEnd, FarMessage};
use crate::channel::Channel;
use crate::error::{Error, Result};
use crate::event::{Event, Occurrence};
use crate::name::Name;

/// The largest payload that is carried into a channel, in bytes.
pub const MAX_CARRIED: usize = 40 << 10;

/// What stands beside each payload that a bridge carries to stock clients, with the channel's id. What has it is not carried again.
pub const METADATA: &str = "gambeson-bridge";
/// Beside it, who said it: a DID.
pub const METADATA_FROM: &str = "gambeson-from";

/// How often the bridge looks who is in the session, and how often it says that it stands though nothing changed.
const LOOK: Duration = Duration::from_secs(1);
const ANNOUNCE: Duration = Duration::from_secs(60);
/// How long the bridge waits for others that bridge the same session to be seen, before it carries anything.
const SETTLE: Duration = Duration::from_secs(1);
/// How long it takes at most to say farewell.
const FAREWELL: Duration = Duration::from_secs(5);
/// How many messages of clients are carried in a burst, and how many a second after it.
const BURST: f64 = 200.0;
const RATE: f64 = 50.0;
/// How many occurrences are read at once.
const PAGE: usize = 64;

/// A running bridge. Dropping it ends it; the channel and the member in it are as before.
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
    /// Carries between a channel and a session from now on.
    ///
    /// # Errors
    /// [`Error::NotBridged`]: the channel's policy does not allow it, or another member bridges the same session; [`Error::Over`]; what
    /// the session says.
    pub async fn start(channel: Channel, session: StockSession) -> Result<Self> {
        let from = channel.newest().await?;
        let mut carrier = Carrier::new(channel, session).await?;
        let (end_sender, end) = watch::channel(carrier.end.clone());
        carrier.me = carrier.channel.bridge(&BridgeNews::Open(carrier.end.clone())).await?.sender;
        let (over_sender, over) = watch::channel(None);
        let (stop, stopped) = watch::channel(false);
        let task = tokio::spawn(async move {
            let reason = carrier.run(from, stopped, &end_sender).await;
            over_sender.send_replace(Some(reason));
        });
        Ok(Self { end, over, stop, task: task.abort_handle() })
    }

    /// What is behind it now.
    #[must_use]
    pub fn far_end(&self) -> FarEnd {
        self.end.borrow().clone()
    }

    /// Ends it, and tells both sides.
    pub async fn stop(self) {
        self.stop.send_replace(true);
        self.ended().await;
    }

    /// Waits for its end: why.
    pub async fn ended(&self) -> String {
        let mut over = self.over.clone();
        let over = over.wait_for(Option::is_some).await;
        over.ok().and_then(|reason| reason.clone()).unwrap_or_else(|| "its task was ended".to_owned())
    }
}

/// What a bridge works with.
struct Carrier {
    channel: Channel,
    /// The member's DID, once it has said something.
    me: String,
    session: Arc<StockSession>,
    end: FarEnd,
    announced: Instant,
    allowance: f64,
    counted: Instant,
    /// How many messages came too fast and were told to nobody yet.
    refused: u64,
}

/// Why a bridge goes on, or does not.
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
        carrier.may().map_err(Error::NotBridged)?;
        Ok(carrier)
    }

    /// Whether the channel lets this member bridge this session: asked again whenever something of it may have changed, and before anything
    /// goes out.
    fn may(&self) -> Carried {
        // Not copied: a channel may have thousands of members.
        let status = self.channel.inner.status.borrow();
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
    }

    /// Carries until something ends it: what.
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
            let _ = self.channel.bridge(&BridgeNews::Closed(reason.clone())).await;
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

    /// What was not carried, and who is in the session: members are told of changes, clients that came get the notice.
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

    /// What clients are told of where their words go.
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

    /// Something of the session, for the channel.
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

    /// Takes one message from the allowance, if there is one left.
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

    /// Tells how many messages came too fast, if any did.
    async fn tell_refused(&mut self) -> Carried {
        match std::mem::take(&mut self.refused) {
            0 => Ok(()),
            refused => {
                self.say_to_both(BridgeNews::Missed(format!("{refused} messages came too fast"))).await
            }
        }
    }

    /// News for the channel; clients are told of what was not carried.
    async fn say_to_both(&self, news: BridgeNews) -> Carried {
        if let BridgeNews::Missed(reason) = &news {
            self.tell(&format!("Not carried: {reason}.")).await?;
        }
        self.say(news).await
    }

    async fn say(&self, news: BridgeNews) -> Carried {
        self.channel.bridge(&news).await.map(drop).map_err(|error| error.to_string())
    }

    /// Something of the channel, for the clients.
    async fn outward(&mut self, occurrence: Occurrence) -> Carried {
        match occurrence.event {
            // What came through a bridge goes through none.
            Event::Bridge { id, news: BridgeNews::Open(_) } if id.sender != self.me => self.may(),
            // Who comes back from outside may come to another policy.
            Event::Policy { epoch, .. } | Event::Returned { epoch, .. } => {
                // The status follows what is written. Not for ever: after a fork the epoch may be an earlier one.
                let _ = timeout(LOOK, self.channel.until(|status| status.epoch >= epoch)).await;
                self.may()
            }
            Event::Message { id, bytes, .. } => {
                self.may()?;
                let (kind, payload) = marked(&id.sender, bytes);
                let metadata = self.metadata(&id.sender);
                match self.session.send(kind, &payload, metadata).await {
                    Err(Error::FrameTooLarge(len)) => {
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

    /// A word of the bridge itself to the clients.
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

/// A client's message as news.
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

/// A payload for stock clients: a text says who said it and that it came through a bridge; other bytes stay as they are.
fn marked(from: &str, bytes: Bytes) -> (&'static str, Bytes) {
    match std::str::from_utf8(&bytes) {
        Ok(text) if !is_json(text) => {
            ("text/plain", format!("[{from} through a gambeson bridge] {text}").into())
        }
        Ok(_) => ("application/json", bytes),
        Err(_) => ("application/octet-stream", bytes),
    }
}

/// What programs say to each other would not be understood with a word in front of it.
fn is_json(text: &str) -> bool {
    serde_json::from_str(text).is_ok_and(|value: serde_json::Value| value.is_object() || value.is_array())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::channel::{Inner, Status};
    use crate::content::{MessageId, Purpose};
    use crate::name::ChannelId;
    use crate::store::{MemoryStore, Sealed};
    use gambeson_identity::Agent;
    use tokio::sync::{Mutex, mpsc};

    /// A bridge between a channel that takes nothing, with this status, and a session with nobody else in it.
    async fn carrier() -> (Carrier, watch::Sender<Status>) {
        let agent = Arc::new(Agent::generate().unwrap());
        let (status, seen) = watch::channel(Status { epoch: 1, bridging: true, ..Status::default() });
        let inner = Inner {
            id: ChannelId([1; 32]),
            did: String::new(),
            commands: mpsc::channel(1).0,
            words: mpsc::channel(1).0,
            status: seen,
            kept: Sealed::open(agent, Arc::new(MemoryStore::new())).await.unwrap(),
            news: Arc::default(),
            reading: Mutex::default(),
        };
        let carrier = Carrier {
            channel: Channel { inner: Arc::new(inner) },
            me: String::new(),
            session: Arc::new(StockSession::alone().await.unwrap()),
            end: FarEnd { session: String::new(), encrypted: false, clients: Vec::new() },
            announced: Instant::now(),
            allowance: BURST,
            counted: Instant::now(),
            refused: 0,
        };
        (carrier, status)
    }

    #[tokio::test]
    async fn who_came_back_to_a_policy_without_bridges_carries_nothing_out_any_more() {
        let (mut carrier, status) = carrier().await;
        let occurrence = |event| Occurrence { position: 1, at: 0, event };
        let returned = Event::Returned { member: "did:example:a".to_owned(), epoch: 2 };
        // The status is a moment later than the event.
        let later = async { status.send_modify(|status| (status.epoch, status.bridging) = (2, false)) };
        let (carried, ()) = tokio::join!(carrier.outward(occurrence(returned)), later);
        assert!(carried.unwrap_err().contains("policy"));

        let id = MessageId { sender: "did:example:b".to_owned(), born: 1, counter: 1, index: 0 };
        let bytes = Bytes::from_static(b"for members alone");
        let message = Event::Message { id, purpose: Purpose::Message, bytes };
        assert!(carrier.outward(occurrence(message)).await.unwrap_err().contains("policy"));
    }

    #[tokio::test]
    async fn without_allowance_nothing_of_the_session_is_said_but_how_much_it_was() {
        let (mut carrier, _status) = carrier().await;
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
