//! What stands in the log, and what members say to each other inside MLS.

use bytes::Bytes;
use gambeson_identity::MAX_CARD_LOG;
use std::fmt;

use crate::archive::{Chunk, Surface};
use crate::blobs::{BlobId, Blobs, MAX_BLOB};
use crate::error::{Error, Result};
use crate::log::MAX_ENTRY;
use crate::name::ChannelId;
use crate::wire::{Malformed, Reader, Writer};

const VERSION: u8 = 1;
/// The largest commit with its cards, tree or list of cards that is gathered, in bytes: a channel of 20,000.
pub(crate) const MAX_GATHERED: usize = 256 << 20;
/// What seals and versions take of an entry.
const ROOM: usize = 256;

/// Which message: of whom, and the how manieth.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MessageId {
    /// The sender's DID.
    pub sender: String,
    /// The epoch in which the sender's leaf came into the channel; counting begins anew with each.
    pub born: u64,
    /// Which bundle of the sender, from 1.
    pub counter: u64,
    /// Which message of the bundle.
    pub index: u16,
}

impl fmt::Display for MessageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}/{}", self.sender, self.born, self.counter, self.index)
    }
}

impl MessageId {
    pub(crate) fn write(&self, to: Writer) -> Writer {
        to.text(&self.sender).u64(self.born).u64(self.counter).u16(self.index)
    }

    pub(crate) fn read(from: &mut Reader) -> Result<Self, Malformed> {
        Ok(Self { sender: from.text()?, born: from.u64()?, counter: from.u64()?, index: from.u16()? })
    }
}

/// What a message is to others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// A message.
    Message,
    /// One that asks for a reply.
    Request,
    /// The reply to a request.
    Reply(MessageId),
}

/// A payload of an application.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Payload {
    pub(crate) purpose: Purpose,
    pub(crate) bytes: Bytes,
}

/// What an MLS application message is, in its authenticated data: readable for the log too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(crate) kind: MarkKind,
    pub(crate) born: u64,
    pub(crate) counter: u64,
    /// Of the epoch it was sent in: a hint that leads to signed words where it differs.
    pub(crate) authenticator: [u8; 16],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum MarkKind {
    Bundle = 1,
    Receipt = 2,
    Complaint = 3,
    /// The sender wants to be let go.
    Leave = 4,
}

impl Mark {
    pub(crate) fn to_bytes(self) -> Vec<u8> {
        let head = Writer::default().u8(VERSION).u8(self.kind as u8);
        head.u64(self.born).u64(self.counter).put(&self.authenticator).finish()
    }

    pub(crate) fn parse(bytes: &Bytes) -> Result<Self, Malformed> {
        let mut fields = Reader::new(bytes.clone());
        if fields.u8()? != VERSION {
            return Err(Malformed);
        }
        let kind = match fields.u8()? {
            1 => MarkKind::Bundle,
            2 => MarkKind::Receipt,
            3 => MarkKind::Complaint,
            4 => MarkKind::Leave,
            _ => return Err(Malformed),
        };
        let mark = Self { kind, born: fields.u64()?, counter: fields.u64()?, authenticator: fields.array()? };
        fields.end()?;
        if (mark.kind == MarkKind::Bundle) != (mark.counter > 0) {
            return Err(Malformed);
        }
        Ok(mark)
    }
}

/// How far a member has everything of a sender: what receipts say, and what a message came after.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Upto {
    /// The first 16 bytes of the hash of the sender's DID.
    pub(crate) sender: [u8; 16],
    pub(crate) born: u64,
    pub(crate) counter: u64,
}

impl Upto {
    const LEN: usize = 32;

    pub(crate) fn tag(did: &str) -> [u8; 16] {
        let mut tag = [0; 16];
        tag.copy_from_slice(&blake3::hash(did.as_bytes()).as_bytes()[..16]);
        tag
    }

    pub(crate) fn write(&self, to: Writer) -> Writer {
        to.put(&self.sender).u64(self.born).u64(self.counter)
    }

    pub(crate) fn read_all(from: &mut Reader) -> Result<Vec<Self>, Malformed> {
        (0..from.count(Self::LEN)?)
            .map(|_| Ok(Self { sender: from.array()?, born: from.u64()?, counter: from.u64()? }))
            .collect()
    }
}

/// Payloads that travel together, or none, where more was seen than one bundle names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Bundle {
    /// The sender's first counter in this epoch: who came in it waits for nothing before.
    pub(crate) since: u64,
    /// When its sender came, and which number it had, before the sender came back into the channel: whoever has it by them, has it.
    pub(crate) former: Option<(u64, u64)>,
    /// What the sender had seen.
    pub(crate) after: Vec<Upto>,
    pub(crate) payloads: Vec<Payload>,
}

impl Bundle {
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let head = Writer::default().u8(VERSION).u64(self.since);
        let head = match self.former {
            None => head.u8(0),
            Some((born, counter)) => head.u8(1).u64(born).u64(counter),
        };
        head.count(self.after.len())
            .each(&self.after, |to, upto| upto.write(to))
            .count(self.payloads.len())
            .each(&self.payloads, |to, payload| {
                let to = match &payload.purpose {
                    Purpose::Message => to.u8(0),
                    Purpose::Request => to.u8(1),
                    Purpose::Reply(id) => id.write(to.u8(2)),
                };
                to.bytes(&payload.bytes)
            })
            .finish()
    }

    pub(crate) fn parse(bytes: Bytes) -> Result<Self, Malformed> {
        let mut fields = Reader::new(bytes);
        if fields.u8()? != VERSION {
            return Err(Malformed);
        }
        let since = fields.u64()?;
        let former = match fields.u8()? {
            0 => None,
            1 => Some((fields.u64()?, fields.u64()?)),
            _ => return Err(Malformed),
        };
        let after = Upto::read_all(&mut fields)?;
        let count = fields.count(5)?;
        if count > usize::from(u16::MAX) {
            return Err(Malformed);
        }
        let payloads = (0..count)
            .map(|_| {
                let purpose = match fields.u8()? {
                    0 => Purpose::Message,
                    1 => Purpose::Request,
                    2 => Purpose::Reply(MessageId::read(&mut fields)?),
                    _ => return Err(Malformed),
                };
                Ok(Payload { purpose, bytes: fields.bytes()? })
            })
            .collect::<Result<_, Malformed>>()?;
        fields.end()?;
        Ok(Self { since, former, after, payloads })
    }
}

/// What a complaint says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Complaint {
    /// Of the commit.
    pub(crate) place: u64,
    pub(crate) reason: String,
}

impl Complaint {
    /// In bytes: it is shown to everybody.
    const MOST_REASON: usize = 1_024;

    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        Writer::default().u8(VERSION).u64(self.place).text(&self.reason).finish()
    }

    pub(crate) fn parse(bytes: Bytes) -> Result<Self, Malformed> {
        let mut fields = Reader::new(bytes);
        if fields.u8()? != VERSION {
            return Err(Malformed);
        }
        let complaint = Self { place: fields.u64()?, reason: fields.text()? };
        if complaint.reason.len() > Self::MOST_REASON {
            return Err(Malformed);
        }
        fields.end().map(|()| complaint)
    }
}

/// Where the log of an agent's cards is: parts of it, one behind the other, which are public.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CardPlace {
    pub(crate) did: String,
    pub(crate) parts: Vec<BlobId>,
}

impl CardPlace {
    /// How many stand together at most: those of all members of a channel that is three times as large as any should be.
    pub(crate) const MOST: usize = 1 << 16;
    /// How many parts the longest log has. In as many as somebody likes, it would take as long as he likes to fetch.
    const MOST_PARTS: usize = MAX_CARD_LOG.div_ceil(MAX_BLOB);

    pub(crate) fn write(&self, to: Writer) -> Writer {
        to.text(&self.did).count(self.parts.len()).each(&self.parts, |to, part| to.put(&part.0))
    }

    pub(crate) fn read(from: &mut Reader) -> Result<Self, Malformed> {
        let did = from.text()?;
        let count = from.count(32)?;
        if count > Self::MOST_PARTS {
            return Err(Malformed);
        }
        let parts = (0..count).map(|_| from.array().map(BlobId)).collect::<Result<_, _>>()?;
        Ok(Self { did, parts })
    }

    pub(crate) fn write_all(places: &[Self], to: Writer) -> Writer {
        to.count(places.len()).each(places, |to, place| place.write(to))
    }

    pub(crate) fn read_all(from: &mut Reader) -> Result<Vec<Self>, Malformed> {
        let count = from.count(6)?;
        if count > Self::MOST {
            return Err(Malformed);
        }
        (0..count).map(|_| Self::read(from)).collect()
    }
}

/// A commit with what is needed to judge it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CommitEntry {
    pub(crate) commit: Bytes,
    /// Of those that it brings in.
    pub(crate) cards: Vec<CardPlace>,
}

impl CommitEntry {
    pub(crate) const LABEL: &str = "commit";

    /// As an entry of the log; what is too large goes to the blobs.
    pub(crate) async fn to_content(&self, surface: &Surface, blobs: &dyn Blobs) -> Result<Bytes> {
        let bytes = CardPlace::write_all(&self.cards, Writer::default()).put(&self.commit).finish();
        let (form, inner) = if bytes.len() + ROOM <= MAX_ENTRY {
            (0, bytes)
        } else {
            let Peek { epoch, .. } = Peek::parse(&self.commit)
                .map_err(|Malformed| Error::Malformed("the commit names no epoch"))?;
            let chunks = surface.keep(blobs, &bytes).await?;
            let inner = Writer::default().u64(epoch).count(chunks.len());
            (1, inner.each(&chunks, |to, chunk| chunk.write(to)).finish())
        };
        let content =
            Writer::default().u8(VERSION).u8(form).put(&surface.seal(Self::LABEL, &inner)?).finish();
        if content.len() > MAX_ENTRY {
            return Err(Error::TooLarge(bytes_of(form, &content)));
        }
        Ok(content.into())
    }

    /// Of an entry of the log. `Err(Malformed)` for what nobody can read, `None` for a commit of an epoch before this one, whose parts are
    /// not fetched; an error if the blobs do not answer.
    pub(crate) async fn of_content(
        content: &Bytes,
        surface: &Surface,
        blobs: &dyn Blobs,
        from: u64,
    ) -> Result<Result<Option<(Peek, Self)>, Malformed>> {
        let mut fields = Reader::new(content.clone());
        let head = fields.u8().and_then(|version| Ok((version, fields.u8()?)));
        let Some(inner) = surface.open(Self::LABEL, &fields.rest()) else { return Ok(Err(Malformed)) };
        let (told, bytes) = match head {
            Ok((VERSION, 0)) => (None, inner),
            Ok((VERSION, 1)) => match Self::parts(inner) {
                Ok((told, _)) if told < from => return Ok(Ok(None)),
                Ok((told, chunks)) => {
                    let none = Default::default();
                    match crate::archive::gather(blobs, &chunks, &none, MAX_GATHERED).await? {
                        Ok(bytes) => (Some(told), bytes),
                        Err(Malformed) => return Ok(Err(Malformed)),
                    }
                }
                Err(Malformed) => return Ok(Err(Malformed)),
            },
            _ => return Ok(Err(Malformed)),
        };
        Ok(Self::read(bytes, told).map(|(peek, entry)| (peek.epoch >= from).then_some((peek, entry))))
    }

    /// The epoch and the parts of one that is too large for an entry.
    fn parts(inner: Bytes) -> Result<(u64, Vec<Chunk>), Malformed> {
        let mut fields = Reader::new(inner);
        let parts = (fields.u64()?, Chunk::read_all(&mut fields)?);
        fields.end()?;
        Ok(parts)
    }

    /// Who has the epoch behind it passes over one without looking at its parts: all others, then, over one that tells another epoch.
    fn read(bytes: Bytes, told: Option<u64>) -> Result<(Peek, Self), Malformed> {
        let mut fields = Reader::new(bytes);
        let cards = CardPlace::read_all(&mut fields)?;
        let commit = fields.rest();
        let peek = Peek::parse(&commit)?;
        match told {
            Some(told) if told != peek.epoch => Err(Malformed),
            _ => Ok((peek, Self { commit, cards })),
        }
    }
}

fn bytes_of(form: u8, content: &[u8]) -> usize {
    if form == 0 { content.len() } else { content.len() / Chunk::LEN * (48 << 10) }
}

/// The head of a snapshot: where the parts of a channel's public state at an epoch are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Snapshot {
    pub(crate) channel: ChannelId,
    pub(crate) epoch: u64,
    /// The place of the commit that made the epoch; 0 for the first.
    pub(crate) commit: u64,
    pub(crate) tree: Vec<Chunk>,
    /// The GroupInfo and the members' cards.
    pub(crate) rest: Vec<Chunk>,
}

impl Snapshot {
    pub(crate) const LABEL: &str = "snapshot";

    pub(crate) fn seal(&self, surface: &Surface) -> Result<Bytes> {
        let bytes = Writer::default()
            .put(&self.channel.0)
            .u64(self.epoch)
            .u64(self.commit)
            .count(self.tree.len())
            .each(&self.tree, |to, chunk| chunk.write(to))
            .count(self.rest.len())
            .each(&self.rest, |to, chunk| chunk.write(to))
            .finish();
        surface.seal(Self::LABEL, &bytes).map(Bytes::from)
    }

    pub(crate) fn open(sealed: &[u8], surface: &Surface) -> Result<Self, Malformed> {
        let mut fields = Reader::new(surface.open(Self::LABEL, sealed).ok_or(Malformed)?);
        let snapshot = Self {
            channel: ChannelId(fields.array()?),
            epoch: fields.u64()?,
            commit: fields.u64()?,
            tree: Chunk::read_all(&mut fields)?,
            rest: Chunk::read_all(&mut fields)?,
        };
        fields.end().map(|()| snapshot)
    }
}

/// An entry of the log that says where a snapshot is.
#[derive(Clone, Copy)]
pub(crate) struct CheckpointEntry {
    pub(crate) epoch: u64,
    pub(crate) snapshot: BlobId,
}

impl CheckpointEntry {
    pub(crate) const LABEL: &str = "checkpoint";

    pub(crate) fn to_content(self, surface: &Surface) -> Result<Bytes> {
        let inner = Writer::default().u64(self.epoch).put(&self.snapshot.0).finish();
        Ok(Writer::default().u8(VERSION).put(&surface.seal(Self::LABEL, &inner)?).finish().into())
    }

    pub(crate) fn of_content(content: &Bytes, surface: &Surface) -> Result<Self, Malformed> {
        let mut fields = Reader::new(content.clone());
        if fields.u8()? != VERSION {
            return Err(Malformed);
        }
        let mut inner = Reader::new(surface.open(Self::LABEL, &fields.rest()).ok_or(Malformed)?);
        let entry = Self { epoch: inner.u64()?, snapshot: BlobId(inner.array()?) };
        inner.end().map(|()| entry)
    }
}

/// A key package as an agent publishes it: with the place of its cards.
pub(crate) struct Published {
    pub(crate) card: CardPlace,
    pub(crate) key_package: Bytes,
}

impl Published {
    pub(crate) fn to_bytes(&self) -> Bytes {
        self.card.write(Writer::default().u8(VERSION)).put(&self.key_package).finish().into()
    }

    pub(crate) fn parse(bytes: &Bytes) -> Result<Self, Malformed> {
        let mut fields = Reader::new(bytes.clone());
        if fields.u8()? != VERSION {
            return Err(Malformed);
        }
        Ok(Self { card: CardPlace::read(&mut fields)?, key_package: fields.rest() })
    }
}

/// The head of an MLS message (RFC 9420 §6 and §6.3), which anyone can read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Peek {
    pub(crate) channel: Bytes,
    pub(crate) epoch: u64,
    /// 1 for application messages, 3 for commits.
    pub(crate) content_type: u8,
    pub(crate) authenticated_data: Bytes,
}

impl Peek {
    pub(crate) fn parse(message: &Bytes) -> Result<Self, Malformed> {
        let mut fields = Reader::new(message.clone());
        let format = match (fields.u16()?, fields.u16()?) {
            (1, format @ (1 | 2)) => format,
            _ => return Err(Malformed),
        };
        let (channel, epoch) = (vector(&mut fields)?, fields.u64()?);
        if format == 1 {
            // A PublicMessage: nothing but a commit from outside comes so.
            return Ok(Self { channel, epoch, content_type: 3, authenticated_data: Bytes::new() });
        }
        Ok(Self { channel, epoch, content_type: fields.u8()?, authenticated_data: vector(&mut fields)? })
    }
}

/// RFC 9420 §2.1.2: the first two bits say how long the length is.
fn vector(fields: &mut Reader) -> Result<Bytes, Malformed> {
    let first = fields.u8()?;
    let more = match first >> 6 {
        0 => 0,
        1 => 1,
        2 => 3,
        _ => return Err(Malformed),
    };
    let mut len = usize::from(first & 0x3f);
    for _ in 0..more {
        len = len << 8 | usize::from(fields.u8()?);
    }
    fields.take(len)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // A test may fail that way.

    use super::*;
    use crate::memory::MemoryService;

    /// A PublicMessage of this epoch as far as it is read here, with so much behind it.
    fn commit(epoch: u64, more: usize) -> Bytes {
        let head = Writer::default().u16(1).u16(1).u8(4).put(b"this").u64(epoch).finish();
        [head, vec![7; more]].concat().into()
    }

    #[test]
    fn more_cards_than_a_channel_has_members_are_none() {
        let places = |count: usize| {
            let place = CardPlace { did: "did:gambeson:z".to_owned(), parts: Vec::new() };
            let bytes = CardPlace::write_all(&vec![place; count], Writer::default()).finish();
            CardPlace::read_all(&mut Reader::new(bytes.into())).map(|places| places.len())
        };
        assert_eq!(places(CardPlace::MOST), Ok(CardPlace::MOST));
        assert_eq!(places(CardPlace::MOST + 1), Err(Malformed));
    }

    #[tokio::test]
    async fn of_a_commit_that_a_member_has_behind_it_no_part_is_fetched() {
        let (surface, service, none) =
            (Surface::new([1; 32]).unwrap(), MemoryService::new(), MemoryService::new());
        for more in [0, MAX_ENTRY] {
            let entry = CommitEntry { commit: commit(7, more), cards: Vec::new() };
            let content = entry.to_content(&surface, &service).await.unwrap();
            let (peek, read) =
                CommitEntry::of_content(&content, &surface, &service, 7).await.unwrap().unwrap().unwrap();
            assert_eq!((peek.epoch, read), (7, entry));
            assert_eq!(CommitEntry::of_content(&content, &surface, &none, 8).await.unwrap(), Ok(None));
            let fetched = CommitEntry::of_content(&content, &surface, &none, 7).await;
            assert_eq!(more > 0, matches!(fetched, Err(Error::BlobMissing(_))), "{fetched:?}");
        }
    }

    #[tokio::test]
    async fn a_commit_of_which_a_part_does_not_open_is_none_for_all_and_one_of_which_a_part_is_missing_may_be_one()
     {
        let (surface, service) = (Surface::new([1; 32]).unwrap(), MemoryService::new());
        let bytes = CardPlace::write_all(&[], Writer::default()).put(&commit(7, MAX_ENTRY)).finish();
        let mut chunks = surface.keep(&service, &bytes).await.unwrap();
        for (kept, expected) in [(true, Some(Malformed)), (false, None)] {
            let other = Bytes::from(vec![u8::from(kept); 1_000]);
            chunks[0].blob = BlobId::of(&other);
            if kept {
                service.put(other).await.unwrap();
            }
            let inner = Writer::default().u64(7).count(chunks.len());
            let inner = inner.each(&chunks, |to, chunk| chunk.write(to)).finish();
            let sealed = surface.seal(CommitEntry::LABEL, &inner).unwrap();
            let content = Writer::default().u8(VERSION).u8(1).put(&sealed).finish().into();
            match CommitEntry::of_content(&content, &surface, &service, 7).await {
                Ok(opened) => assert_eq!(opened.err(), expected),
                Err(error) => {
                    assert!(expected.is_none() && matches!(error, Error::BlobMissing(_)), "{error}")
                }
            }
        }
    }

    #[test]
    fn the_place_of_a_log_of_cards_has_no_more_parts_than_the_longest_log() {
        for (more, read) in [(0, true), (1, false)] {
            let parts = vec![BlobId([7; 32]); CardPlace::MOST_PARTS + more];
            let place = CardPlace { did: "did:gambeson:a".to_owned(), parts };
            let mut fields = Reader::new(place.write(Writer::default()).finish().into());
            assert_eq!(CardPlace::read(&mut fields), if read { Ok(place) } else { Err(Malformed) });
        }
    }

    #[tokio::test]
    async fn a_commit_that_tells_another_epoch_than_its_own_is_passed_over_by_all() {
        let (surface, service) = (Surface::new([1; 32]).unwrap(), MemoryService::new());
        let bytes = CardPlace::write_all(&[], Writer::default()).put(&commit(7, MAX_ENTRY)).finish();
        let chunks = surface.keep(&service, &bytes).await.unwrap();
        for (told, from, read) in [(7, 7, true), (6, 6, false), (8, 7, false), (8, 8, false)] {
            let inner = Writer::default().u64(told).count(chunks.len());
            let inner = inner.each(&chunks, |to, chunk| chunk.write(to)).finish();
            let sealed = surface.seal(CommitEntry::LABEL, &inner).unwrap();
            let content = Writer::default().u8(VERSION).u8(1).put(&sealed).finish().into();
            let opened = CommitEntry::of_content(&content, &surface, &service, from).await.unwrap();
            assert_eq!(read, opened.is_ok(), "told {told}, read from {from}");
        }
    }
}
