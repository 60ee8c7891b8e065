//! What happens in a channel, as fast as it is acknowledged.

use std::collections::VecDeque;

use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::calls;
use super::protocol::{self, Failure, Receive};
use super::session::Out;
use crate::channel::Channel;
use crate::error::{Error, Result};

/// How many occurrences may wait to be acknowledged, and how many bytes of frames.
const WINDOW: usize = 256;
const WINDOW_BYTES: usize = 4 << 20;
/// How many are read at once.
const PAGE: usize = 16;
/// Under which name the acknowledged position is kept.
const CURSOR: &str = "gateway";

/// A running feed. It ends when it is stopped or dropped, once it has kept what was acknowledged last.
pub(super) struct Feed {
    /// `None`: it was stopped.
    acknowledged: Option<watch::Sender<u64>>,
    task: JoinHandle<()>,
}

impl Feed {
    /// Everything up to this position was dealt with.
    pub(super) fn acknowledge(&self, position: u64) {
        // After a stop, some may still be on their way.
        let Some(acknowledged) = &self.acknowledged else { return };
        acknowledged.send_if_modified(|now| {
            let further = position > *now;
            *now = position.max(*now);
            further
        });
    }

    /// Nobody wants more.
    pub(super) fn stop(&mut self) {
        self.acknowledged = None;
    }

    /// Whether it was not stopped.
    pub(super) const fn is_wanted(&self) -> bool {
        self.acknowledged.is_some()
    }

    /// Whether it has ended.
    pub(super) fn is_over(&self) -> bool {
        self.task.is_finished()
    }
}

/// Begins a feed of a channel, after its former one.
pub(super) fn begin(channel: Channel, wish: &Receive, former: Option<Feed>, out: Out) -> Feed {
    let (after, number) = (wish.after, wish.feed);
    let (acknowledged, changes) = watch::channel(0);
    let former = former.map(|feed| feed.task);
    let task = tokio::spawn(async move {
        // What the former one keeps at its end is where this one begins.
        if let Some(former) = former {
            let _ = former.await;
        }
        let id = channel.id();
        if let Err(failure) = run(&channel, after, number, changes, &out).await {
            let _ = out.send(protocol::stopped(id, number, &failure).into()).await;
        }
    });
    Feed { acknowledged: Some(acknowledged), task }
}

/// `Ok`: nobody listens any more.
async fn run(
    channel: &Channel,
    after: Option<u64>,
    number: Option<u64>,
    mut acknowledged: watch::Receiver<u64>,
    out: &Out,
) -> Result<(), Failure> {
    let mut kept = channel.cursor(CURSOR).await.map_err(calls::failed)?;
    let newest = channel.newest().await.map_err(calls::failed)?;
    let mut from = after.unwrap_or(kept) + 1;
    if from > newest {
        return Err(Failure::new("bad-position", format!("position {} does not exist yet", from - 1)));
    }
    // Positions and sizes that were sent and not acknowledged.
    let mut waiting: VecDeque<(u64, usize)> = VecDeque::new();
    let mut bytes = 0;
    loop {
        let full = waiting.len() >= WINDOW || bytes >= WINDOW_BYTES;
        let page = tokio::select! {
            // A feed that is stopped sends no more.
            biased;
            changed = acknowledged.changed() => {
                if changed.is_err() {
                    return Ok(());
                }
                let upto = (*acknowledged.borrow_and_update()).min(from - 1);
                while let Some((_, size)) = waiting.front().copied().filter(|(position, _)| *position <= upto) {
                    waiting.pop_front();
                    bytes -= size;
                }
                if upto > kept {
                    channel.keep_cursor(CURSOR, upto).await.map_err(calls::failed)?;
                    kept = upto;
                }
                continue;
            }
            page = channel.since(from, PAGE), if !full => page,
        };
        let page = match page {
            Ok(page) => page,
            // What was sent can still be acknowledged.
            Err(Error::Over) if !waiting.is_empty() => {
                if acknowledged.changed().await.is_err() {
                    return Ok(());
                }
                acknowledged.mark_changed();
                continue;
            }
            Err(error) => return Err(calls::failed(error)),
        };
        for occurrence in &page {
            let frame = protocol::occurrence(channel.id(), number, occurrence);
            waiting.push_back((occurrence.position, frame.len()));
            bytes += frame.len();
            from = occurrence.position + 1;
            if out.send(frame.into()).await.is_err() {
                return Ok(());
            }
        }
    }
}
