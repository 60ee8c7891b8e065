//! What has arrived and was not received yet.

use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::Mutex;
use tokio::sync::mpsc::{self, error::TrySendError};

use crate::hold;
use crate::link::Incoming;

/// How many frames may wait to be received.
pub const QUEUE_FRAMES: usize = 16_384;

/// How many bytes of frames may wait to be received.
pub const QUEUE_BYTES: usize = 64 << 20;

/// Frames in the order of their arrival.
#[derive(Debug)]
pub(super) struct Queue {
    /// None once the link is closed.
    sender: std::sync::Mutex<Option<mpsc::Sender<Incoming>>>,
    receiver: Mutex<mpsc::Receiver<Incoming>>,
    bytes: AtomicUsize,
}

impl Queue {
    pub(super) fn new() -> Self {
        let (sender, receiver) = mpsc::channel(QUEUE_FRAMES);
        Self {
            sender: std::sync::Mutex::new(Some(sender)),
            receiver: Mutex::new(receiver),
            bytes: AtomicUsize::new(0),
        }
    }

    /// Takes a frame in; whether there was room. Never waits.
    pub(super) fn take_in(&self, arrived: Incoming) -> bool {
        let len = arrived.frame.len();
        if self.bytes.fetch_add(len, Ordering::Relaxed) + len > QUEUE_BYTES {
            self.bytes.fetch_sub(len, Ordering::Relaxed);
            return false;
        }
        let sender = hold(&self.sender);
        let Some(sender) = &*sender else { return true };
        match sender.try_send(arrived) {
            Ok(()) => true,
            Err(TrySendError::Full(_) | TrySendError::Closed(_)) => {
                self.bytes.fetch_sub(len, Ordering::Relaxed);
                false
            }
        }
    }

    /// The next frame; none after the last of a closed link.
    pub(super) async fn receive(&self) -> Option<Incoming> {
        let arrived = self.receiver.lock().await.recv().await?;
        self.bytes.fetch_sub(arrived.frame.len(), Ordering::Relaxed);
        Some(arrived)
    }

    /// No frame comes after this.
    pub(super) fn close(&self) {
        *hold(&self.sender) = None;
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // A test may fail that way.

    use super::*;
    use crate::link::MAX_FRAME;
    use crate::name::Name;
    use bytes::Bytes;

    fn frame(len: usize) -> Incoming {
        Incoming { to: Name::new("a", "b", "c"), frame: Bytes::from(vec![1; len]) }
    }

    #[tokio::test]
    async fn a_full_queue_drops_what_comes_and_keeps_what_it_has() {
        let queue = Queue::new();
        let fit = QUEUE_BYTES / MAX_FRAME;
        for _ in 0..fit {
            assert!(queue.take_in(frame(MAX_FRAME)));
        }
        assert!(!queue.take_in(frame(MAX_FRAME)), "one too many");
        assert_eq!(queue.receive().await.unwrap().frame.len(), MAX_FRAME);
        assert!(queue.take_in(frame(MAX_FRAME)), "what was received makes room");
        queue.close();
        for _ in 0..fit {
            assert!(queue.receive().await.is_some());
        }
        assert!(queue.receive().await.is_none(), "closed, and empty");
    }

    #[tokio::test]
    async fn empty_frames_fill_a_queue_too() {
        let queue = Queue::new();
        for _ in 0..QUEUE_FRAMES {
            assert!(queue.take_in(frame(0)));
        }
        assert!(!queue.take_in(frame(0)));
    }
}
