//! Frames from one to many.

use async_trait::async_trait;
use bytes::Bytes;

use crate::error::Result;
use crate::name::Name;

/// The largest frame, in bytes: with names and headers of SLIM around it, its message stays within 256 KiB. A node of SLIM closes the
/// whole connection above 4 MiB.
pub const MAX_FRAME: usize = 252 * 1024;

/// Who of those that listen on a name gets a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum To {
    /// One of them.
    One,
    /// All of them, but not who publishes.
    All,
}

/// A frame that arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Incoming {
    /// The name it was sent to, without the instance.
    pub to: Name,
    /// The frame, at most [`MAX_FRAME`] bytes from anyone at all: nothing about it was checked.
    pub frame: Bytes,
}

/// Carries frames. It may lose, repeat and reorder them, and anyone may send anything to any name.
///
/// One task calls [`receive`](Self::receive); any may call the others.
#[async_trait]
pub trait Link: Send + Sync {
    /// Listens on a name, which has an instance.
    ///
    /// # Errors
    /// [`Error::NoInstance`](crate::Error::NoInstance), or the link does not answer.
    async fn subscribe(&self, name: &Name) -> Result<()>;

    /// Listens no more. A name that was never subscribed to is no error.
    ///
    /// # Errors
    /// The link does not answer.
    async fn unsubscribe(&self, name: &Name) -> Result<()>;

    /// Sends a frame to a name. That it was taken says nothing about who gets it.
    ///
    /// # Errors
    /// [`Error::FrameTooLarge`](crate::Error::FrameTooLarge), or the link does not take it.
    async fn publish(&self, name: &Name, to: To, frame: Bytes) -> Result<()>;

    /// The next frame. Dropping the future loses none.
    ///
    /// # Errors
    /// [`Error::LinkClosed`](crate::Error::LinkClosed): there will be no other.
    async fn receive(&self) -> Result<Incoming>;

    /// Waits until frames that others may have got are lost on this side: they were not received in time, or the node was away.
    /// What is lost stands in the log. Dropping the future loses no news; a link that loses nothing never answers.
    async fn gap(&self) {
        std::future::pending().await
    }
}
