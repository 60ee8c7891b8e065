//! What travels over the link.
//!
//! A frame is one byte of version, one of its kind, and fields. Nothing about a frame is trusted: an entry is opened by MLS, an
//! announcement leads to no more than a look into the log, an invitation is judged by who made its Welcome.

use bytes::Bytes;

use crate::blobs::BlobId;
use crate::error::{Error, Result};
use crate::keys::MAX_DID;
use crate::link::MAX_FRAME;
use crate::log::{EntryId, EntryKind, MAX_ENTRY};
use crate::name::ChannelId;
use crate::wire::{Malformed, Reader, Writer};

const VERSION: u8 = 1;

/// A frame of a channel, or of an agent's inbox.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Frame {
    /// What stands in the log, or will soon, so that nobody waits for it.
    Entry {
        /// As in the log.
        id: EntryId,
        /// As in the log; never a commit, which the log orders.
        kind: EntryKind,
        /// As in the log: at most [`MAX_ENTRY`] bytes.
        content: Bytes,
    },
    /// The newest entry of the log stands at this place: who is behind reads there.
    Head {
        /// The place of the newest entry that the sender knows.
        last: u64,
    },
    /// To an inbox: a Welcome of MLS.
    Invitation {
        /// Where the tree, the cards of the members and what else a joiner needs are.
        snapshot: BlobId,
        /// The MLS message, for one joiner.
        welcome: Bytes,
    },
    /// To a member's inbox: an agent that was away too long asks where the channel is now.
    Ask {
        /// Of which channel.
        channel: ChannelId,
        /// Who asks. It is not proven: the answer is sealed to this DID.
        did: String,
    },
    /// To the inbox of who asked: a payload that the agent's card opens (`gambeson_identity::sealed`).
    Answer {
        /// Of which channel.
        channel: ChannelId,
        /// The envelope.
        envelope: Bytes,
    },
    /// A signed word on what a member took for the channel's state at an epoch; two that differ are a fork.
    View {
        /// Of which channel.
        channel: ChannelId,
        /// Who says so.
        did: String,
        /// The epoch.
        epoch: u64,
        /// The first 16 bytes of its epoch authenticator (RFC 9420 §8.7).
        authenticator: [u8; 16],
        /// By the signing key of that member's card.
        signature: Bytes,
    },
}

impl Frame {
    /// The bytes that travel.
    ///
    /// # Errors
    /// [`Error::FrameTooLarge`] above [`MAX_FRAME`] bytes.
    pub fn to_bytes(&self) -> Result<Bytes> {
        let head = |kind: u8| Writer::default().u8(VERSION).u8(kind);
        let bytes = match self {
            Self::Entry { id, kind, content } => head(1).put(&id.0).u8(*kind as u8).put(content),
            Self::Head { last } => head(2).u64(*last),
            Self::Invitation { snapshot, welcome } => head(3).put(&snapshot.0).put(welcome),
            Self::Ask { channel, did } => head(4).put(&channel.0).text(did),
            Self::Answer { channel, envelope } => head(5).put(&channel.0).put(envelope),
            Self::View { channel, did, epoch, authenticator, signature } => {
                head(6).put(&channel.0).text(did).u64(*epoch).put(authenticator).put(signature)
            }
        }
        .finish();
        match bytes.len() {
            ..=MAX_FRAME => Ok(bytes.into()),
            len => Err(Error::FrameTooLarge(len)),
        }
    }

    /// Reads a frame, from anyone at all.
    ///
    /// # Errors
    /// [`Error::BadFrame`].
    pub fn parse(frame: &Bytes) -> Result<Self> {
        Self::read(frame).map_err(|Malformed| Error::BadFrame)
    }

    fn read(frame: &Bytes) -> Result<Self, Malformed> {
        if frame.len() > MAX_FRAME {
            return Err(Malformed);
        }
        let mut fields = Reader::new(frame.clone());
        if fields.u8()? != VERSION {
            return Err(Malformed);
        }
        let kind = fields.u8()?;
        let read = match kind {
            1 => {
                let id = EntryId(fields.array()?);
                let kind = EntryKind::of(fields.u8()?).filter(|kind| *kind != EntryKind::Commit);
                let content = filled(fields.rest())?;
                if content.len() > MAX_ENTRY {
                    return Err(Malformed);
                }
                Self::Entry { id, kind: kind.ok_or(Malformed)?, content }
            }
            2 => Self::Head { last: fields.u64()? },
            3 => Self::Invitation { snapshot: BlobId(fields.array()?), welcome: filled(fields.rest())? },
            4 => Self::Ask { channel: ChannelId(fields.array()?), did: did(&mut fields)? },
            5 => Self::Answer { channel: ChannelId(fields.array()?), envelope: filled(fields.rest())? },
            6 => Self::View {
                channel: ChannelId(fields.array()?),
                did: did(&mut fields)?,
                epoch: fields.u64()?,
                authenticator: fields.array()?,
                signature: filled(fields.rest())?,
            },
            _ => return Err(Malformed),
        };
        fields.end()?;
        Ok(read)
    }
}

fn did(fields: &mut Reader) -> Result<String, Malformed> {
    fields.text().and_then(|did| if did.is_empty() || did.len() > MAX_DID { Err(Malformed) } else { Ok(did) })
}

fn filled(bytes: Bytes) -> Result<Bytes, Malformed> {
    if bytes.is_empty() { Err(Malformed) } else { Ok(bytes) }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // A test may fail that way.

    use super::*;

    fn one_of_each() -> Vec<Frame> {
        let channel = ChannelId([1; 32]);
        let did = || "did:key:zAlice".to_owned();
        vec![
            Frame::Entry {
                id: EntryId([2; 16]),
                kind: EntryKind::Application,
                content: Bytes::from_static(b"sealed"),
            },
            Frame::Head { last: 7 },
            Frame::Invitation { snapshot: BlobId([3; 32]), welcome: Bytes::from_static(b"welcome") },
            Frame::Ask { channel, did: did() },
            Frame::Answer { channel, envelope: Bytes::from_static(b"envelope") },
            Frame::View {
                channel,
                did: did(),
                epoch: 9,
                authenticator: [4; 16],
                signature: Bytes::from_static(b"signature"),
            },
        ]
    }

    #[test]
    fn every_frame_is_read_as_it_was_written() {
        let frames = one_of_each();
        assert_eq!(frames.len(), 6);
        for frame in frames {
            assert_eq!(Frame::parse(&frame.to_bytes().unwrap()).unwrap(), frame);
        }
    }

    #[test]
    fn a_truncated_frame_is_refused_or_another_frame_and_never_a_panic() {
        for frame in one_of_each() {
            let bytes = frame.to_bytes().unwrap();
            for len in 0..bytes.len() {
                match Frame::parse(&bytes.slice(..len)) {
                    Ok(shorter) => assert_ne!(shorter, frame),
                    Err(error) => assert!(matches!(error, Error::BadFrame)),
                }
            }
        }
    }

    #[test]
    fn an_oversized_frame_is_neither_written_nor_read() {
        let content = Bytes::from(vec![0; MAX_FRAME]);
        let frame = Frame::Entry { id: EntryId([0; 16]), kind: EntryKind::Receipt, content };
        assert!(matches!(frame.to_bytes(), Err(Error::FrameTooLarge(_))));
        let mut bytes = vec![0; MAX_FRAME + 1];
        bytes[..2].copy_from_slice(&[VERSION, 5]);
        assert!(matches!(Frame::parse(&bytes.into()), Err(Error::BadFrame)));
    }

    #[test]
    fn an_entry_that_no_log_takes_is_not_read() {
        for (len, read) in [(MAX_ENTRY, true), (MAX_ENTRY + 1, false)] {
            let content = Bytes::from(vec![0; len]);
            let frame = Frame::Entry { id: EntryId([0; 16]), kind: EntryKind::Application, content };
            assert_eq!(Frame::parse(&frame.to_bytes().unwrap()).is_ok(), read);
        }
    }

    #[test]
    fn a_commit_never_comes_as_a_frame_for_the_log_alone_orders_commits() {
        let frame =
            Frame::Entry { id: EntryId([0; 16]), kind: EntryKind::Commit, content: Bytes::from_static(b"c") };
        assert!(matches!(Frame::parse(&frame.to_bytes().unwrap()), Err(Error::BadFrame)));
    }

    #[test]
    fn other_versions_other_kinds_and_bytes_behind_the_end_are_refused() {
        for bytes in [&[2, 2, 0, 0, 0, 0, 0, 0, 0, 1][..], &[1, 9], &[1, 2, 0, 0, 0, 0, 0, 0, 0, 1, 0]] {
            assert!(matches!(Frame::parse(&Bytes::copy_from_slice(bytes)), Err(Error::BadFrame)));
        }
    }
}
