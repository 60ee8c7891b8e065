//! What client and server say: one frame a call, one frame a reply, every field of a fixed length or with its length before it,
//! numbers in network order, nothing after the last field.
//!
//! ```text
//! call   "GDS1" ‖ kind (1) ‖ id (16) ‖ caller (16) ‖ fields of the kind
//! reply  "GDS1" ‖ kind (1) ‖ id (16) ‖ fields of the kind
//! ```

use bytes::{Buf, BufMut, Bytes, BytesMut};

use crate::blobs::{BlobId, MAX_BLOB};
use crate::error::{Error, Quota, Result};
use crate::keys::{KeyPackages, MAX_DID, MAX_KEY_PACKAGE};
use crate::log::{Entry, EntryId, EntryKind, Head, MAX_ENTRY, Page, Placed, Record};
use crate::name::ChannelId;

const MAGIC: [u8; 4] = *b"GDS1";

/// At most this many blobs are asked for in one call.
pub const MAX_ASKED: usize = 4_096;

/// The bytes that a page of records may have, so that its frame stays below [`MAX_FRAME`](crate::MAX_FRAME).
pub const MAX_PAGE: usize = crate::link::MAX_FRAME - 1_024;

/// What a record takes besides its content.
const RECORD_HEAD: usize = 8 + 8 + 16 + 1 + 4;

/// What a blob of several takes besides its bytes.
const BLOB_HEAD: usize = 1 + 4;

/// Which call: chosen at random by who calls, the same in every repetition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CallId(pub [u8; 16]);

/// A call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The same in every repetition.
    pub id: CallId,
    /// Who calls, and where the reply goes.
    pub caller: u128,
    /// What is asked.
    pub ask: Ask,
}

/// What is asked: a method of [`Log`](crate::Log), [`Blobs`](crate::Blobs) or [`Keys`](crate::Keys).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ask {
    /// [`Log::append`](crate::Log::append).
    Append(ChannelId, Entry, u64),
    /// [`Log::read`](crate::Log::read): from this place, at most so many.
    Read(ChannelId, u64, u32),
    /// [`Log::prune`](crate::Log::prune).
    Prune(ChannelId, u64),
    /// [`Blobs::put`](crate::Blobs::put).
    Put(Bytes),
    /// [`Blobs::get_many`](crate::Blobs::get_many).
    Get(Vec<BlobId>),
    /// [`Blobs::has`](crate::Blobs::has).
    Has(Vec<BlobId>),
    /// [`Keys::publish`](crate::Keys::publish).
    Publish(String, KeyPackages),
    /// [`Keys::take`](crate::Keys::take).
    Take(String),
    /// [`Keys::left`](crate::Keys::left).
    Left(String),
}

/// A reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// The call's.
    pub id: CallId,
    /// What came of it.
    pub answer: Answer,
}

/// What came of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Of [`Ask::Append`].
    Placed(Placed),
    /// Of [`Ask::Read`].
    Page(Page),
    /// It is done: of [`Ask::Prune`] and [`Ask::Publish`].
    Done,
    /// Of [`Ask::Put`].
    Kept(BlobId),
    /// Of [`Ask::Take`].
    Bytes(Option<Bytes>),
    /// Of [`Ask::Has`].
    Has(Vec<bool>),
    /// Of [`Ask::Left`].
    Left(u64),
    /// Of [`Ask::Get`]: of the first of those that were asked for, as many as fit into one frame, at least one.
    Blobs(Vec<Option<Bytes>>),
    /// Not now: call again a little later.
    Busy,
    /// No.
    Refused(Refusal),
}

/// Why a call was refused: of [`Error`], what travels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// [`Error::EntryTooLarge`].
    EntryTooLarge(u64),
    /// [`Error::IdTaken`].
    IdTaken,
    /// [`Error::BlobTooLarge`].
    BlobTooLarge(u64),
    /// [`Error::BlobMismatch`].
    BlobMismatch(BlobId),
    /// [`Error::TooManyKeyPackages`].
    TooManyKeyPackages(u64),
    /// [`Error::KeyPackageTooLarge`].
    KeyPackageTooLarge(u64),
    /// [`Error::DidTooLong`].
    DidTooLong(u64),
    /// [`Error::Full`].
    Full(Quota),
    /// [`Error::NotAllowed`].
    NotAllowed,
    /// The service could not: what its engine says, at most 256 bytes.
    Service(String),
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        let wide = |len| u64::try_from(len).unwrap_or(u64::MAX);
        match error {
            Error::EntryTooLarge(len) => Self::EntryTooLarge(wide(len)),
            Error::IdTaken => Self::IdTaken,
            Error::BlobTooLarge(len) => Self::BlobTooLarge(wide(len)),
            Error::BlobMismatch(id) => Self::BlobMismatch(id),
            Error::TooManyKeyPackages(most) => Self::TooManyKeyPackages(wide(most)),
            Error::KeyPackageTooLarge(len) => Self::KeyPackageTooLarge(wide(len)),
            Error::DidTooLong(len) => Self::DidTooLong(wide(len)),
            Error::Full(quota) => Self::Full(quota),
            Error::NotAllowed => Self::NotAllowed,
            Error::Service(cause) => Self::Service(shortened(cause.to_string())),
            other => Self::Service(shortened(other.to_string())),
        }
    }
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        let narrow = |len| usize::try_from(len).unwrap_or(usize::MAX);
        match refusal {
            Refusal::EntryTooLarge(len) => Self::EntryTooLarge(narrow(len)),
            Refusal::IdTaken => Self::IdTaken,
            Refusal::BlobTooLarge(len) => Self::BlobTooLarge(narrow(len)),
            Refusal::BlobMismatch(id) => Self::BlobMismatch(id),
            Refusal::TooManyKeyPackages(most) => Self::TooManyKeyPackages(narrow(most)),
            Refusal::KeyPackageTooLarge(len) => Self::KeyPackageTooLarge(narrow(len)),
            Refusal::DidTooLong(len) => Self::DidTooLong(narrow(len)),
            Refusal::Full(quota) => Self::Full(quota),
            Refusal::NotAllowed => Self::NotAllowed,
            Refusal::Service(text) => Self::Service(text.into()),
        }
    }
}

const MAX_TEXT: usize = 256;

fn shortened(mut text: String) -> String {
    let end = (0..=MAX_TEXT).rev().find(|at| text.is_char_boundary(*at)).unwrap_or_default();
    text.truncate(end);
    text
}

impl Call {
    /// The frame, of at most [`MAX_FRAME`](crate::MAX_FRAME) bytes if entry, blob or packages are as large as they may be.
    #[must_use]
    pub fn encode(&self) -> Bytes {
        let kind = match &self.ask {
            Ask::Append(..) => 1,
            Ask::Read(..) => 2,
            Ask::Prune(..) => 3,
            Ask::Put(_) => 4,
            Ask::Get(_) => 5,
            Ask::Has(_) => 6,
            Ask::Publish(..) => 7,
            Ask::Take(_) => 8,
            Ask::Left(_) => 9,
        };
        let mut out = begun(kind, self.id);
        out.put_u128(self.caller);
        match &self.ask {
            Ask::Append(channel, entry, after) => {
                out.put_slice(&channel.0);
                out.put_u64(*after);
                put_entry(&mut out, entry);
            }
            Ask::Read(channel, from, limit) => {
                out.put_slice(&channel.0);
                out.put_u64(*from);
                out.put_u32(*limit);
            }
            Ask::Prune(channel, before) => {
                out.put_slice(&channel.0);
                out.put_u64(*before);
            }
            Ask::Put(bytes) => put_bytes(&mut out, bytes),
            Ask::Get(ids) | Ask::Has(ids) => {
                put_len(&mut out, ids.len());
                ids.iter().for_each(|id| out.put_slice(&id.0));
            }
            Ask::Publish(did, packages) => {
                put_bytes(&mut out, did.as_bytes());
                put_option(&mut out, packages.last_resort.as_deref());
                put_len(&mut out, packages.once.len());
                packages.once.iter().for_each(|package| put_bytes(&mut out, package));
            }
            Ask::Take(did) | Ask::Left(did) => put_bytes(&mut out, did.as_bytes()),
        }
        out.freeze()
    }

    /// Reads a frame.
    ///
    /// # Errors
    /// [`Error::Malformed`].
    pub fn decode(frame: &Bytes) -> Result<Self> {
        let mut input = Input(frame.clone());
        let (kind, id) = input.begin()?;
        let caller = input.u128()?;
        let ask = match kind {
            1 => {
                let (channel, after) = (ChannelId(input.array()?), input.u64()?);
                Ask::Append(channel, input.entry()?, after)
            }
            2 => Ask::Read(ChannelId(input.array()?), input.u64()?, input.u32()?),
            3 => Ask::Prune(ChannelId(input.array()?), input.u64()?),
            4 => Ask::Put(input.bytes(MAX_BLOB)?),
            5 => Ask::Get(input.blobs()?),
            6 => Ask::Has(input.blobs()?),
            7 => {
                let did = input.did()?;
                let last_resort = input.option(MAX_KEY_PACKAGE)?;
                // The length counts packages, each of which has its own of four bytes: a lie cannot reserve much.
                let count = input.len(crate::link::MAX_FRAME / 4)?;
                let once = (0..count).map(|_| input.bytes(MAX_KEY_PACKAGE)).collect::<Result<_>>()?;
                Ask::Publish(did, KeyPackages { once, last_resort })
            }
            8 => Ask::Take(input.did()?),
            9 => Ask::Left(input.did()?),
            _ => return Err(Error::Malformed("no such call")),
        };
        input.end()?;
        Ok(Self { id, caller, ask })
    }

    /// Who calls, if a frame says that much: to tell him that the rest is malformed.
    #[must_use]
    pub fn origin(frame: &Bytes) -> Option<(CallId, u128)> {
        let mut input = Input(frame.clone());
        let (_, id) = input.begin().ok()?;
        Some((id, input.u128().ok()?))
    }
}

impl Reply {
    /// The frame, of at most [`MAX_FRAME`](crate::MAX_FRAME) bytes if a page has at most [`MAX_PAGE`].
    #[must_use]
    pub fn encode(&self) -> Bytes {
        let kind = match &self.answer {
            Answer::Placed(_) => 129,
            Answer::Page(_) => 130,
            Answer::Done => 131,
            Answer::Kept(_) => 132,
            Answer::Bytes(_) => 133,
            Answer::Has(_) => 134,
            Answer::Left(_) => 135,
            Answer::Busy => 136,
            Answer::Refused(_) => 137,
            Answer::Blobs(_) => 138,
        };
        let mut out = begun(kind, self.id);
        match &self.answer {
            Answer::Placed(Placed::At(place)) => {
                out.put_u8(1);
                out.put_u64(*place);
            }
            Answer::Placed(Placed::After(place)) => {
                out.put_u8(2);
                out.put_u64(*place);
            }
            Answer::Page(page) => {
                [page.head.first, page.head.last, page.head.commit]
                    .into_iter()
                    .for_each(|place| out.put_u64(place));
                put_len(&mut out, page.records.len());
                for record in &page.records {
                    out.put_u64(record.place);
                    out.put_u64(record.at);
                    put_entry(&mut out, &record.entry);
                }
            }
            Answer::Done | Answer::Busy => {}
            Answer::Kept(id) => out.put_slice(&id.0),
            Answer::Bytes(bytes) => put_option(&mut out, bytes.as_deref()),
            Answer::Has(has) => {
                put_len(&mut out, has.len());
                has.iter().for_each(|has| out.put_u8(u8::from(*has)));
            }
            Answer::Left(left) => out.put_u64(*left),
            Answer::Blobs(blobs) => {
                put_len(&mut out, blobs.len());
                blobs.iter().for_each(|blob| put_option(&mut out, blob.as_deref()));
            }
            Answer::Refused(refusal) => put_refusal(&mut out, refusal),
        }
        out.freeze()
    }

    /// Reads a frame.
    ///
    /// # Errors
    /// [`Error::Malformed`].
    pub fn decode(frame: &Bytes) -> Result<Self> {
        let mut input = Input(frame.clone());
        let (kind, id) = input.begin()?;
        let answer = match kind {
            129 => Answer::Placed(match input.u8()? {
                1 => Placed::At(input.u64()?),
                2 => Placed::After(input.u64()?),
                _ => return Err(Error::Malformed("unknown outcome")),
            }),
            130 => {
                let head = Head { first: input.u64()?, last: input.u64()?, commit: input.u64()? };
                let count = input.len(MAX_PAGE / RECORD_HEAD)?;
                let records = (0..count).map(|_| input.record()).collect::<Result<_>>()?;
                Answer::Page(Page { head, records })
            }
            131 => Answer::Done,
            132 => Answer::Kept(BlobId(input.array()?)),
            133 => Answer::Bytes(input.option(MAX_KEY_PACKAGE)?),
            134 => {
                let count = input.len(MAX_ASKED)?;
                Answer::Has((0..count).map(|_| input.flag()).collect::<Result<_>>()?)
            }
            135 => Answer::Left(input.u64()?),
            136 => Answer::Busy,
            137 => Answer::Refused(input.refusal()?),
            138 => {
                let count = input.len(MAX_ASKED)?;
                Answer::Blobs((0..count).map(|_| input.option(MAX_BLOB)).collect::<Result<_>>()?)
            }
            _ => return Err(Error::Malformed("unknown kind of answer")),
        };
        input.end()?;
        Ok(Self { id, answer })
    }
}

/// Of the first of these blobs as many as fit into one frame; at least one.
pub(super) async fn first_of(blobs: &dyn crate::Blobs, ids: &[BlobId]) -> Result<Vec<Option<Bytes>>> {
    let (mut first, mut room) = (Vec::new(), MAX_PAGE);
    for id in ids {
        let blob = blobs.get(id).await?;
        let takes = BLOB_HEAD + blob.as_ref().map_or(0, Bytes::len);
        if takes > room && !first.is_empty() {
            break;
        }
        room = room.saturating_sub(takes);
        first.push(blob);
    }
    Ok(first)
}

/// As many of the records, from the first on, as fit into one frame; at least one.
pub(super) fn fitting(records: &mut Vec<Record>) {
    let mut room = MAX_PAGE;
    let fit = records.iter().take_while(|record| {
        let takes = RECORD_HEAD + record.entry.content.len();
        let fits = takes <= room;
        room = room.saturating_sub(takes);
        fits
    });
    let fit = fit.count().max(1);
    records.truncate(fit);
}

fn begun(kind: u8, id: CallId) -> BytesMut {
    let mut out = BytesMut::with_capacity(64);
    out.put_slice(&MAGIC);
    out.put_u8(kind);
    out.put_slice(&id.0);
    out
}

fn put_len(out: &mut BytesMut, len: usize) {
    out.put_u32(u32::try_from(len).unwrap_or(u32::MAX));
}

fn put_bytes(out: &mut BytesMut, bytes: &[u8]) {
    put_len(out, bytes.len());
    out.put_slice(bytes);
}

fn put_option(out: &mut BytesMut, bytes: Option<&[u8]>) {
    out.put_u8(u8::from(bytes.is_some()));
    if let Some(bytes) = bytes {
        put_bytes(out, bytes);
    }
}

fn put_entry(out: &mut BytesMut, entry: &Entry) {
    out.put_slice(&entry.id.0);
    out.put_u8(entry.kind as u8);
    put_bytes(out, &entry.content);
}

fn put_refusal(out: &mut BytesMut, refusal: &Refusal) {
    let (code, number) = match refusal {
        Refusal::EntryTooLarge(len) => (1, *len),
        Refusal::BlobTooLarge(len) => (2, *len),
        Refusal::TooManyKeyPackages(most) => (3, *most),
        Refusal::KeyPackageTooLarge(len) => (4, *len),
        Refusal::DidTooLong(len) => (5, *len),
        Refusal::Full(quota) => (6, u64::from(*quota as u8)),
        Refusal::NotAllowed => (7, 0),
        Refusal::IdTaken => (10, 0),
        Refusal::BlobMismatch(id) => {
            out.put_u8(8);
            return out.put_slice(&id.0);
        }
        Refusal::Service(text) => {
            out.put_u8(9);
            return put_bytes(out, text.as_bytes());
        }
    };
    out.put_u8(code);
    out.put_u64(number);
}

/// What is left of a frame.
struct Input(Bytes);

const SHORT: Error = Error::Malformed("it ends too early");

impl Input {
    fn begin(&mut self) -> Result<(u8, CallId)> {
        if self.array()? != MAGIC {
            return Err(Error::Malformed("it does not begin with the header of such a frame"));
        }
        Ok((self.u8()?, CallId(self.array()?)))
    }

    fn end(&self) -> Result<()> {
        if self.0.is_empty() { Ok(()) } else { Err(Error::Malformed("bytes follow its last field")) }
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut array = [0; N];
        self.0.try_copy_to_slice(&mut array).map_err(|_| SHORT)?;
        Ok(array)
    }

    fn u8(&mut self) -> Result<u8> {
        self.0.try_get_u8().map_err(|_| SHORT)
    }

    fn u32(&mut self) -> Result<u32> {
        self.0.try_get_u32().map_err(|_| SHORT)
    }

    fn u64(&mut self) -> Result<u64> {
        self.0.try_get_u64().map_err(|_| SHORT)
    }

    fn u128(&mut self) -> Result<u128> {
        self.0.try_get_u128().map_err(|_| SHORT)
    }

    fn flag(&mut self) -> Result<bool> {
        match self.u8()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(Error::Malformed("a flag is neither 0 nor 1")),
        }
    }

    fn len(&mut self, most: usize) -> Result<usize> {
        let len = usize::try_from(self.u32()?).unwrap_or(usize::MAX);
        if len > most { Err(Error::Malformed("a field is longer than it may be")) } else { Ok(len) }
    }

    fn bytes(&mut self, most: usize) -> Result<Bytes> {
        let len = self.len(most)?;
        if len > self.0.len() { Err(SHORT) } else { Ok(self.0.split_to(len)) }
    }

    fn option(&mut self, most: usize) -> Result<Option<Bytes>> {
        if self.flag()? { self.bytes(most).map(Some) } else { Ok(None) }
    }

    fn text(&mut self, most: usize) -> Result<String> {
        String::from_utf8(self.bytes(most)?.into()).map_err(|_| Error::Malformed("a text is not UTF-8"))
    }

    fn blobs(&mut self) -> Result<Vec<BlobId>> {
        let count = self.len(MAX_ASKED)?;
        (0..count).map(|_| self.array().map(BlobId)).collect()
    }

    fn did(&mut self) -> Result<String> {
        self.text(MAX_DID)
    }

    fn entry(&mut self) -> Result<Entry> {
        let id = EntryId(self.array()?);
        let kind = EntryKind::of(self.u8()?).ok_or(Error::Malformed("unknown kind of entry"))?;
        Ok(Entry { id, kind, content: self.bytes(MAX_ENTRY)? })
    }

    fn record(&mut self) -> Result<Record> {
        Ok(Record { place: self.u64()?, at: self.u64()?, entry: self.entry()? })
    }

    fn refusal(&mut self) -> Result<Refusal> {
        let code = self.u8()?;
        match code {
            8 => return Ok(Refusal::BlobMismatch(BlobId(self.array()?))),
            9 => return Ok(Refusal::Service(self.text(MAX_TEXT)?)),
            _ => {}
        }
        let number = self.u64()?;
        Ok(match code {
            1 => Refusal::EntryTooLarge(number),
            2 => Refusal::BlobTooLarge(number),
            3 => Refusal::TooManyKeyPackages(number),
            4 => Refusal::KeyPackageTooLarge(number),
            5 => Refusal::DidTooLong(number),
            6 => {
                let quota = u8::try_from(number).ok().and_then(Quota::of);
                Refusal::Full(quota.ok_or(Error::Malformed("unknown quota"))?)
            }
            7 if number == 0 => Refusal::NotAllowed,
            10 if number == 0 => Refusal::IdTaken,
            _ => return Err(Error::Malformed("unknown refusal")),
        })
    }
}

#[cfg(test)]
mod tests;
