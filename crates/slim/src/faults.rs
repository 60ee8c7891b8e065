//! A link that does what links may do: it loses, repeats, delays and reorders frames, the same ones for the same seed.
//!
//! For tests and the simulator. Under tokio's paused clock delays cost no time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until};

use crate::error::{Error, Result};
use crate::hold;
use crate::link::{Incoming, Link, To};
use crate::name::Name;

/// How bad a link is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Faults {
    /// Of so many of 1 frames nothing is seen again; looked at when one is sent, and when it arrives.
    pub loss: f64,
    /// So many of 1 frames arrive twice.
    pub repeated: f64,
    /// A frame arrives after this time at the earliest,
    pub soonest: Duration,
    /// and after this time at the latest. Frames overtake each other if the two differ.
    pub latest: Duration,
}

impl Faults {
    /// None.
    pub const NONE: Self = Self { loss: 0.0, repeated: 0.0, soonest: Duration::ZERO, latest: Duration::ZERO };
}

/// Numbers from a seed: BLAKE3's output over it.
#[derive(Debug)]
pub struct Dice(blake3::OutputReader);

impl Dice {
    /// The dice of this seed and purpose.
    #[must_use]
    pub fn new(seed: u64, purpose: &str) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&seed.to_be_bytes()).update(purpose.as_bytes());
        Self(hasher.finalize_xof())
    }

    /// 64 bits.
    pub fn bits(&mut self) -> u64 {
        u64::from_be_bytes(self.bytes())
    }

    /// Bytes.
    pub fn bytes<const N: usize>(&mut self) -> [u8; N] {
        let mut bytes = [0; N];
        self.0.fill(&mut bytes);
        bytes
    }

    /// At least 0 and below 1.
    #[expect(clippy::cast_precision_loss, reason = "53 bits are what an f64 holds")]
    pub fn share(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Below `end`, or 0 if that is 0. The bias is below 2⁻³² for ends below 2³².
    pub fn below(&mut self, end: usize) -> usize {
        let end = end as u64;
        usize::try_from(self.bits().checked_rem(end).unwrap_or_default()).unwrap_or_default()
    }

    /// Whether something happens that happens in `share` of 1 cases.
    pub fn falls(&mut self, share: f64) -> bool {
        self.share() < share
    }

    /// A time between two.
    pub fn between(&mut self, soonest: Duration, latest: Duration) -> Duration {
        soonest + latest.saturating_sub(soonest).mul_f64(self.share())
    }
}

/// A link with faults.
#[derive(Debug)]
pub struct Faulty {
    way: Arc<Way>,
    arrived: tokio::sync::Mutex<mpsc::UnboundedReceiver<Incoming>>,
    carrier: JoinHandle<()>,
}

struct Way {
    link: Box<dyn Link>,
    faults: Faults,
    dice: Mutex<Dice>,
    cut: AtomicBool,
}

impl std::fmt::Debug for Way {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Way").field("faults", &self.faults).field("cut", &self.cut).finish_non_exhaustive()
    }
}

impl Way {
    fn lost(&self) -> bool {
        self.cut.load(Ordering::Relaxed) || hold(&self.dice).falls(self.faults.loss)
    }
}

impl Faulty {
    /// Gives a link these faults, by this seed.
    pub fn new(link: impl Link + 'static, seed: u64, faults: Faults) -> Self {
        let way = Arc::new(Way {
            link: Box::new(link),
            faults,
            dice: Mutex::new(Dice::new(seed, "faulty link")),
            cut: AtomicBool::new(false),
        });
        let (sender, receiver) = mpsc::unbounded_channel();
        let carrier = tokio::spawn(carry(Arc::clone(&way), sender));
        Self { way, arrived: tokio::sync::Mutex::new(receiver), carrier }
    }

    /// Loses everything, both ways, until it is called with `false`.
    pub fn cut(&self, cut: bool) {
        self.way.cut.store(cut, Ordering::Relaxed);
    }
}

impl Drop for Faulty {
    fn drop(&mut self) {
        self.carrier.abort();
    }
}

/// A frame on its way: when it arrives, and which of those that arrive at once was first.
type Flying = Reverse<(Instant, u64)>;

async fn carry(way: Arc<Way>, sender: mpsc::UnboundedSender<Incoming>) {
    let mut flying: BinaryHeap<Flying> = BinaryHeap::new();
    let mut frames = std::collections::HashMap::new();
    let mut number = 0;
    let mut open = true;
    while open || !flying.is_empty() {
        let next = flying.peek().map(|Reverse((at, _))| *at);
        tokio::select! {
            biased;
            () = async { sleep_until(next.unwrap_or_else(Instant::now)).await }, if next.is_some() => {
                if let Some(frame) = flying.pop().and_then(|Reverse((_, number))| frames.remove(&number))
                    && sender.send(frame).is_err()
                {
                    return;
                }
            }
            incoming = way.link.receive(), if open => {
                let Ok(incoming) = incoming else { open = false; continue };
                if way.lost() {
                    continue;
                }
                let times = 1 + usize::from(hold(&way.dice).falls(way.faults.repeated));
                for _ in 0..times {
                    let delay = hold(&way.dice).between(way.faults.soonest, way.faults.latest);
                    number += 1;
                    flying.push(Reverse((Instant::now() + delay, number)));
                    frames.insert(number, incoming.clone());
                }
            }
        }
    }
}

#[async_trait]
impl Link for Faulty {
    async fn subscribe(&self, name: &Name) -> Result<()> {
        self.way.link.subscribe(name).await
    }

    async fn unsubscribe(&self, name: &Name) -> Result<()> {
        self.way.link.unsubscribe(name).await
    }

    async fn publish(&self, name: &Name, to: To, frame: Bytes) -> Result<()> {
        if self.way.lost() { Ok(()) } else { self.way.link.publish(name, to, frame).await }
    }

    async fn receive(&self) -> Result<Incoming> {
        self.arrived.lock().await.recv().await.ok_or(Error::LinkClosed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Hub;

    async fn what_arrives(seed: u64, faults: Faults) -> Vec<u8> {
        let hub = Hub::new();
        let (sender, name) = (hub.link(), Name::new("a", "b", "c"));
        let receiver = Faulty::new(hub.link(), seed, faults);
        receiver.subscribe(&name.clone().with_instance(1)).await.unwrap();
        for byte in 0..200 {
            sender.publish(&name, To::All, Bytes::from(vec![byte])).await.unwrap();
        }
        let mut all = Vec::new();
        while let Ok(incoming) = tokio::time::timeout(Duration::from_secs(9), receiver.receive()).await {
            all.push(incoming.unwrap().frame[0]);
        }
        all
    }

    #[tokio::test(start_paused = true)]
    async fn a_link_without_faults_changes_nothing() {
        assert_eq!(what_arrives(1, Faults::NONE).await, (0..200).collect::<Vec<u8>>());
    }

    #[tokio::test(start_paused = true)]
    async fn a_seed_says_what_is_lost_repeated_and_reordered() {
        let (soonest, latest) = (Duration::from_millis(1), Duration::from_millis(50));
        let faults = Faults { loss: 0.2, repeated: 0.2, soonest, latest };
        let arrived = what_arrives(7, faults).await;
        assert_eq!(arrived, what_arrives(7, faults).await);
        assert_ne!(arrived, what_arrives(8, faults).await);
        assert!(!arrived.is_sorted(), "some overtook others");
        let mut sorted = arrived.clone();
        sorted.sort_unstable();
        sorted.dedup();
        assert!((130..190).contains(&sorted.len()), "{} of 200 arrived", sorted.len());
        assert!(arrived.len() > sorted.len() + 10, "some arrived twice");
    }

    #[tokio::test(start_paused = true)]
    async fn who_stands_on_another_side_or_is_cut_off_hears_nothing() {
        let hub = Hub::new();
        let (sender, name) = (hub.link(), Name::new("a", "b", "c"));
        let inner = hub.link();
        inner.stand(2);
        let receiver = Faulty::new(inner, 1, Faults::NONE);
        receiver.subscribe(&name.clone().with_instance(1)).await.unwrap();
        sender.publish(&name, To::All, Bytes::from_static(b"lost")).await.unwrap();
        sender.stand(2);
        receiver.cut(true);
        sender.publish(&name, To::All, Bytes::from_static(b"lost")).await.unwrap();
        tokio::time::sleep(Duration::from_secs(1)).await;
        receiver.cut(false);
        sender.publish(&name, To::All, Bytes::from_static(b"heard")).await.unwrap();
        assert_eq!(receiver.receive().await.unwrap().frame, "heard");
    }
}
