//! Everything in NATS JetStream: services beside each other, on one server or a cluster that copies what it keeps.
//!
//! | stream | subject below the prefix | a message |
//! | --- | --- | --- |
//! | `PREFIX-log` | `log.CHANNEL.c` | a commit; its place is its number in the stream |
//! | | `log.CHANNEL.e.ID` | another entry |
//! | `PREFIX-marks` | `mark.CHANNEL.pruned` | behind the newest entry that is forgotten, and the channel's last place then |
//! | | `mark.CHANNEL.checkpoint` | the place of the newest checkpoint, before which entries may be forgotten |
//! | | `mark.CHANNEL.id.ID` | the place of an entry that is forgotten |
//! | `PREFIX-blobs` | `blob.HASH` | a blob |
//! | `PREFIX-fresh` | `fresh.HASH` | it was put or renewed lately; the stream is there if blobs are kept for a time only |
//! | `PREFIX-keys` | `key.free.DID.HASH` | a key package that is not given out |
//! | | `key.given.DID.HASH` | the claim of who gave it out |
//! | | `key.last.DID` | the last resort |
//!
//! The header `Nats-Expected-Last-Subject-Sequence` is the compare-and-set. An answer may be lost, and servers differ in what they
//! look at first in a repetition, the message's id (2.9) or the expectation (2.15): so whoever is refused looks whether what stands
//! there is his own. All reads go to the leader of a stream, since a copy may be late.
//!
//! From three quarters of what the log may have on, what stands before the newest checkpoint of each channel goes, half of it at a time; the last
//! sixteenth is for checkpoints alone. That of the keys is for claims alone: without one only a package of last resort is given out.
//!
//! Blobs go by the age that their stream gives its messages. One that is put or asked for and not fresh is published again behind itself, which
//! is its age from then on; so what goes is never what was just renewed, whichever service does that.
//!
//! The newest commit of a channel stays in its stream also when it is forgotten: the next one is compared with it.

use async_nats::jetstream::consumer::{AckPolicy, DeliverPolicy, pull};
use async_nats::jetstream::context::{PublishError, PublishErrorKind};
use async_nats::jetstream::message::{PublishMessage, StreamMessage};
use async_nats::jetstream::stream::{Config, DiscardPolicy, RawMessageErrorKind, Stream};
use async_nats::jetstream::{self, Context, ErrorCode};
use async_trait::async_trait;
use base16ct::lower::{decode, encode_string};
use bytes::Bytes;
use futures_util::{StreamExt, TryStreamExt, stream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::{Limits, Retention, stored};
use crate::blobs::{BlobId, Blobs, MAX_BLOB};
use crate::error::{Error, Quota, Result};
use crate::hold;
use crate::keys::{KeyPackages, Keys, MAX_KEY_PACKAGES};
use crate::log::{Entry, EntryId, EntryKind, Head, Log, MAX_ENTRY, Page, Placed, Record};
use crate::name::ChannelId;

/// Requests under way at once for one call.
const AT_ONCE: usize = 16;

/// At most so many records are read at once: at 64 KiB each, 4 MiB.
const MAX_PAGE: usize = 64;

/// How often it is looked at how full the log is, at least; and how often, while it is nearly full, for what can go.
const LOOK: Duration = Duration::from_secs(1);
const SWEEP: Duration = Duration::from_secs(10);

/// How full the log was when somebody looked.
#[derive(Debug, Default)]
struct Fill {
    looked: Option<Instant>,
    swept: Option<Instant>,
    /// What came since, in bytes.
    since: u64,
    /// Only checkpoints are taken.
    crowded: bool,
}

/// Log, blobs and keys in NATS JetStream.
#[derive(Clone, Debug)]
pub struct Nats {
    jetstream: Context,
    prefix: String,
    log: Stream,
    marks: Stream,
    blobs: Stream,
    /// `None`: blobs are kept for ever.
    fresh: Option<Stream>,
    keys: Stream,
    fill: Arc<Mutex<Fill>>,
    sweeping: Arc<AtomicBool>,
}

/// What came of a message that must be the first, or the next, of its subject.
enum Published {
    At(u64),
    /// Something else stands there.
    Not,
}

impl Nats {
    /// Connects to one server, as this user, and [`open`](Self::open)s streams there of one copy each.
    ///
    /// # Errors
    /// [`Error::Service`]: the server does not answer or refuses the user; and as [`open`](Self::open).
    pub async fn connect(
        address: &str,
        user: &str,
        password: &str,
        prefix: &str,
        limits: Limits,
        retention: Retention,
    ) -> Result<Self> {
        let options =
            async_nats::ConnectOptions::new().user_and_password(user.to_owned(), password.to_owned());
        let client = options.connect(address).await.map_err(failed)?;
        Self::open(client, prefix, 1, limits, retention).await
    }

    /// Finds the streams of this prefix (letters, digits and `-`), or makes them, with so many copies each: 1 without a cluster.
    ///
    /// Of the limits only `store` is kept, since JetStream knows streams, not channels. Log and blobs have seven sixteenths of it each, and keys the
    /// rest. Of the retention only `blobs` is kept. Streams that are there already stay as they were made, but for what they may have, which
    /// grows, and for how long blobs are kept, which is as the last who opened them said: those beside each other say the same, and where
    /// it is said for the first time, blobs that were put before are as old as they are, whoever asked for them meanwhile. What says which entries were forgotten has no limit: near one, servers (2.9) make room for what is
    /// small by dropping what is old.
    ///
    /// # Errors
    /// [`Error::Service`]: the server does not answer or has no JetStream, or streams of these names are made otherwise.
    pub async fn open(
        client: async_nats::Client,
        prefix: &str,
        copies: usize,
        limits: Limits,
        retention: Retention,
    ) -> Result<Self> {
        if prefix.is_empty() || !prefix.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') {
            return Err(Error::Service("a prefix consists of letters, digits and -".into()));
        }
        let jetstream = jetstream::new(client);
        // JetStream takes 0 for no limit.
        let sixteenths = |count: u64| i64::try_from(limits.store / 16 * count).unwrap_or(i64::MAX).max(1);
        let make = |name: &str, subject: &str, bytes: i64, age: Duration| {
            let config = Config {
                name: format!("{prefix}-{name}"),
                subjects: vec![format!("{prefix}.{subject}.>")],
                max_messages_per_subject: -1,
                max_bytes: bytes,
                max_age: age,
                discard: DiscardPolicy::New,
                num_replicas: copies,
                max_message_size: i32::try_from(MAX_BLOB + 1_024).unwrap_or(i32::MAX),
                ..Config::default()
            };
            let jetstream = &jetstream;
            async move {
                let stream = jetstream.get_or_create_stream(config).await.map_err(failed)?;
                let mut config = stream.cached_info().config.clone();
                let grows = (1..bytes).contains(&config.max_bytes);
                if !grows && config.max_age == age {
                    return Ok(stream);
                }
                if grows {
                    config.max_bytes = bytes;
                }
                // The server's own choice, which is not longer than the age.
                (config.max_age, config.duplicate_window) = (age, Duration::ZERO);
                jetstream.update_stream(&config).await.map_err(failed)?;
                jetstream.get_stream(&config.name).await.map_err(failed)
            }
        };
        // It takes 0 for ever, too.
        let ever = Duration::ZERO;
        let fresh = match retention.blobs {
            Some(_) => Some(make("fresh", "fresh", -1, retention.renewal()).await?),
            None => None,
        };
        Ok(Self {
            prefix: prefix.to_owned(),
            log: make("log", "log", sixteenths(7), ever).await?,
            marks: make("marks", "mark", -1, ever).await?,
            blobs: make("blobs", "blob", sixteenths(7), retention.blobs.unwrap_or(ever)).await?,
            fresh,
            keys: make("keys", "key", sixteenths(2), ever).await?,
            fill: Arc::default(),
            sweeping: Arc::default(),
            jetstream,
        })
    }

    fn of_channel(&self, channel: &ChannelId) -> String {
        format!("{}.log.{channel}", self.prefix)
    }

    fn commits(&self, channel: &ChannelId) -> String {
        format!("{}.c", self.of_channel(channel))
    }

    fn mark(&self, channel: &ChannelId, id: &EntryId) -> String {
        format!("{}.mark.{channel}.id.{}", self.prefix, encode_string(&id.0))
    }

    fn pruned(&self, channel: &ChannelId) -> String {
        format!("{}.mark.{channel}.pruned", self.prefix)
    }

    fn checkpoint(&self, channel: &str) -> String {
        format!("{}.mark.{channel}.checkpoint", self.prefix)
    }

    fn blob(&self, id: &BlobId) -> String {
        format!("{}.blob.{id}", self.prefix)
    }

    fn fresh(&self, id: &BlobId) -> String {
        format!("{}.fresh.{id}", self.prefix)
    }

    fn key(&self, what: &str, did: &str) -> String {
        format!("{}.key.{what}.{}", self.prefix, blake3::hash(did.as_bytes()).to_hex())
    }

    /// Publishes if the newest message of the subject is the one with this number (0: if there is none).
    async fn publish_after(
        &self,
        subject: String,
        after: u64,
        id: Option<&str>,
        payload: Bytes,
    ) -> Result<Published> {
        let mut message = PublishMessage::build().payload(payload).expected_last_subject_sequence(after);
        if let Some(id) = id {
            message = message.message_id(id);
        }
        let sent = self.jetstream.send_publish(subject, message).await;
        let acknowledged = match sent {
            Ok(acknowledgement) => acknowledgement.await,
            Err(error) => Err(error),
        };
        match acknowledged {
            Ok(acknowledgement) => Ok(Published::At(acknowledgement.sequence)),
            Err(error) if error.kind() == PublishErrorKind::WrongLastSequence => Ok(Published::Not),
            Err(error) => Err(unpublished(error)),
        }
    }

    /// A blob was put or renewed just now: for a while it need not be renewed.
    async fn mark_fresh(&self, id: &BlobId) -> Result<()> {
        if self.fresh.is_some() {
            self.publish_after(self.fresh(id), 0, None, Bytes::new()).await?;
        }
        Ok(())
    }

    /// Makes a blob new that is kept and not fresh; whether it is kept.
    async fn renewed(&self, id: &BlobId) -> Result<bool> {
        let Some(fresh) = &self.fresh else { return Ok(true) };
        if count(fresh, self.fresh(id)).await? > 0 {
            return Ok(true);
        }
        let Some(blob) = newest(&self.blobs, self.blob(id)).await? else { return Ok(false) };
        match self.publish_after(self.blob(id), blob.sequence, None, blob.payload).await {
            Ok(Published::At(number)) => forget(&self.blobs, self.blob(id), number).await?,
            // It went meanwhile, or somebody else renewed it.
            Ok(Published::Not) => return Ok(count(&self.blobs, self.blob(id)).await? > 0),
            // It is kept for as long as it was. Once something else went there is room.
            Err(Error::Full(_)) => return Ok(true),
            Err(error) => return Err(error),
        }
        self.mark_fresh(id).await?;
        Ok(true)
    }

    /// The place of an entry that is forgotten.
    async fn forgotten(&self, channel: &ChannelId, id: &EntryId) -> Result<Option<u64>> {
        let mark = newest(&self.marks, self.mark(channel, id)).await?;
        Ok(mark.and_then(|mark| numbers::<1>(&mark.payload)).map(|[place]| place))
    }

    /// Before which place everything is forgotten, the last place at that time, and the number of the mark that says so.
    async fn forgotten_before(&self, channel: &ChannelId) -> Result<(u64, u64, u64)> {
        let mark = newest(&self.marks, self.pruned(channel)).await?;
        Ok(mark.map_or((0, 0, 0), |mark| {
            let [before, last] = numbers(&mark.payload).unwrap_or_default();
            (before, last, mark.sequence)
        }))
    }

    /// Whether the log is so full that it takes only checkpoints. Where it is nearly so, what can go begins to.
    async fn crowded(&self, bytes: usize) -> Result<bool> {
        let Some(limit) = limit(&self.log) else { return Ok(false) };
        {
            let mut fill = hold(&self.fill);
            fill.since = fill.since.saturating_add(u64::try_from(bytes).unwrap_or(u64::MAX));
            if fill.looked.is_some_and(|at| at.elapsed() < LOOK) && fill.since < limit / 64 {
                return Ok(fill.crowded);
            }
            (fill.looked, fill.since) = (Some(Instant::now()), 0);
        }
        let filled = filled(&self.log).await?;
        let mut fill = hold(&self.fill);
        fill.crowded = filled > limit / 16 * 15;
        if filled > limit / 4 * 3 && fill.swept.is_none_or(|at| at.elapsed() > SWEEP) {
            fill.swept = Some(Instant::now());
            self.begin_to_tidy();
        }
        Ok(fill.crowded)
    }

    /// Forgets what can go beside whoever appends, if that is not going on already. What fails is tried again at the next look.
    fn begin_to_tidy(&self) {
        if self.sweeping.swap(true, Ordering::Relaxed) {
            return;
        }
        let this = self.clone();
        tokio::spawn(async move {
            drop(this.tidy().await);
            this.sweeping.store(false, Ordering::Relaxed);
            // How full it is now is looked at before anything is refused.
            hold(&this.fill).looked = None;
        });
    }

    /// A checkpoint of a channel stands at this place: entries before it may be forgotten.
    async fn mark_checkpoint(&self, channel: &ChannelId, place: u64) -> Result<()> {
        let subject = self.checkpoint(&channel.to_string());
        loop {
            let known = newest(&self.marks, subject.clone()).await?;
            let (after, before) = known.map_or((0, 0), |mark| {
                (mark.sequence, numbers::<1>(&mark.payload).map_or(0, |[place]| place))
            });
            if before >= place {
                return Ok(());
            }
            if let Published::At(mark) =
                self.publish_after(subject.clone(), after, None, payload(&[place])).await?
            {
                // The next look, which is at once, sweeps if it is time.
                *hold(&self.fill) = Fill::default();
                return forget(&self.marks, subject, mark).await;
            }
        }
    }

    /// Forgets the older half of what stands before the newest checkpoint of each channel, and again, while the log has more than three quarters of
    /// what it may have. It is done by itself when something is appended.
    ///
    /// # Errors
    /// [`Error::Service`]: the server does not answer.
    pub async fn tidy(&self) -> Result<()> {
        let Some(limit) = limit(&self.log) else { return Ok(()) };
        loop {
            let all = self.marks.info_with_subjects(self.checkpoint("*")).await.map_err(failed)?;
            let subjects: Vec<(String, usize)> = all.try_collect().await.map_err(failed)?;
            let mut freed = false;
            for (subject, _) in subjects {
                if filled(&self.log).await? <= limit / 4 * 3 {
                    return Ok(());
                }
                let mark = newest(&self.marks, subject.clone()).await?;
                let place = mark.and_then(|mark| numbers::<1>(&mark.payload));
                let (Some(channel), Some([place])) = (channel_of(&subject), place) else { continue };
                let all = format!("{}.>", self.of_channel(&channel));
                let (before, ..) = self.forgotten_before(&channel).await?;
                let first = next(&self.log, all, before.max(1)).await?.map_or(0, |message| message.sequence);
                if first != 0 && first < place {
                    self.prune(&channel, first + (place - first).div_ceil(2)).await?;
                    freed = true;
                }
            }
            if !freed {
                return Ok(());
            }
        }
    }

    async fn head(&self, channel: &ChannelId) -> Result<Head> {
        let all = format!("{}.>", self.of_channel(channel));
        let ((before, last_then, _), newest_commit, last) = tokio::try_join!(
            self.forgotten_before(channel),
            newest(&self.log, self.commits(channel)),
            newest(&self.log, all),
        )?;
        let place = |message: Option<StreamMessage>| message.map_or(0, |message| message.sequence);
        let last = place(last).max(last_then);
        let first = if last == 0 { 0 } else { before.max(1) };
        Ok(Head { first, last, commit: place(newest_commit) })
    }

    /// The records of a channel from a place on, in order.
    async fn records(&self, channel: &ChannelId, from: u64, limit: usize) -> Result<Vec<Record>> {
        let filter = format!("{}.>", self.of_channel(channel));
        // Numbers of messages fit into an i64 on the server's side.
        let from = from.max(1);
        if i64::try_from(from).is_err() || next(&self.log, filter.clone(), from).await?.is_none() {
            return Ok(Vec::new());
        }
        let consumer = self.log.create_consumer(pull::Config {
            filter_subject: filter,
            deliver_policy: DeliverPolicy::ByStartSequence { start_sequence: from },
            ack_policy: AckPolicy::None,
            inactive_threshold: Duration::from_secs(10),
            memory_storage: true,
            ..pull::Config::default()
        });
        let consumer = consumer.await.map_err(failed)?;
        let mut messages = consumer.fetch().max_messages(limit).messages().await.map_err(failed)?;
        let mut records = Vec::new();
        while let Some(message) = messages.next().await {
            let message = message.map_err(Error::Service)?;
            let info = message.info().map_err(Error::Service)?;
            let at = info.published.unix_timestamp_nanos() / 1_000_000;
            records.push(record(info.stream_sequence, at, &message.payload)?);
        }
        let name = &consumer.cached_info().name;
        // If it fails: ten seconds later the server does it by itself.
        let _ = self.log.delete_consumer(name).await;
        Ok(records)
    }
}

/// The channel of the subject of a mark.
fn channel_of(subject: &str) -> Option<ChannelId> {
    let mut id = [0; 32];
    let digits = subject.split('.').nth(2)?;
    decode(digits, &mut id).is_ok_and(|read| read.len() == 32).then_some(ChannelId(id))
}

fn failed(error: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::Service(Box::new(error))
}

/// Why a stream does not take a message.
fn unpublished(error: PublishError) -> Error {
    let cause = std::error::Error::source(&error).and_then(|cause| cause.downcast_ref());
    let full =
        cause.is_some_and(|cause: &jetstream::Error| cause.error_code() == ErrorCode::STREAM_STORE_FAILED);
    if full { Error::Full(Quota::Store) } else { failed(error) }
}

fn numbers<const N: usize>(payload: &[u8]) -> Option<[u64; N]> {
    let (chunks, []) = payload.as_chunks::<8>() else { return None };
    let chunks: &[[u8; 8]; N] = chunks.try_into().ok()?;
    Some(chunks.map(u64::from_be_bytes))
}

fn payload(numbers: &[u64]) -> Bytes {
    numbers.iter().flat_map(|number| number.to_be_bytes()).collect::<Vec<_>>().into()
}

fn record(place: u64, at: i128, payload: &Bytes) -> Result<Record> {
    let head = payload.split_first_chunk::<17>().map(|(head, _)| head);
    let read = head.and_then(|[kind, id @ ..]| Some((EntryKind::of(*kind)?, EntryId(*id))));
    let (kind, id) = read.ok_or_else(|| Error::Service(format!("message {place} is not an entry").into()))?;
    let at = u64::try_from(at).unwrap_or_default();
    Ok(Record { place, at, entry: Entry { id, kind, content: payload.slice(17..) } })
}

/// How many bytes a stream may have, as it was made; `None`: as many as there is room for.
fn limit(stream: &Stream) -> Option<u64> {
    u64::try_from(stream.cached_info().config.max_bytes).ok().filter(|limit| *limit > 0)
}

async fn filled(stream: &Stream) -> Result<u64> {
    Ok(stream.get_info().await.map_err(failed)?.state.bytes)
}

async fn newest(stream: &Stream, subject: String) -> Result<Option<StreamMessage>> {
    found(stream.raw_message_builder().last_by_subject(subject).send().await)
}

/// The first message of a subject that has this number or a larger one.
async fn next(stream: &Stream, subject: String, from: u64) -> Result<Option<StreamMessage>> {
    if i64::try_from(from).is_err() {
        return Ok(None);
    }
    found(stream.raw_message_builder().sequence(from).next_by_subject(subject).send().await)
}

/// Forgets the messages of a subject before this number.
async fn forget(stream: &Stream, subject: String, before: u64) -> Result<()> {
    // Before the first message there is none, but a server takes 0 and 1 for "all".
    if before > 1 {
        stream.purge().filter(subject).sequence(before).await.map_err(failed)?;
    }
    Ok(())
}

fn found(
    message: Result<StreamMessage, jetstream::stream::RawMessageError>,
) -> Result<Option<StreamMessage>> {
    match message {
        Ok(message) => Ok(Some(message)),
        Err(error) if error.kind() == RawMessageErrorKind::NoMessageFound => Ok(None),
        Err(error) => Err(failed(error)),
    }
}

#[async_trait]
impl Log for Nats {
    async fn append(&self, channel: &ChannelId, entry: Entry, after: u64) -> Result<Placed> {
        if entry.content.len() > MAX_ENTRY {
            return Err(Error::EntryTooLarge(entry.content.len()));
        }
        let payload = Bytes::from(stored(&entry));
        // What the server takes for a repetition: the same entry of the same channel.
        let id = blake3::Hasher::new().update(&channel.0).update(&payload).finalize().to_hex();
        let is_checkpoint = entry.kind == EntryKind::Checkpoint;
        let crowded = !is_checkpoint && self.crowded(payload.len()).await?;
        if entry.kind != EntryKind::Commit {
            let subject = format!("{}.e.{}", self.of_channel(channel), encode_string(&entry.id.0));
            if let Some(place) = self.forgotten(channel, &entry.id).await? {
                return Ok(Placed::At(place));
            }
            // What stands already is found where nothing more is taken, too.
            let published = match crowded {
                true => Published::Not,
                false => self.publish_after(subject.clone(), 0, Some(&id), payload.clone()).await?,
            };
            let place = match published {
                Published::At(place) => place,
                Published::Not => match newest(&self.log, subject).await? {
                    Some(stands) if stands.payload != payload => return Err(Error::IdTaken),
                    Some(stands) => stands.sequence,
                    None => self.forgotten(channel, &entry.id).await?.ok_or_else(|| match crowded {
                        true => Error::Full(Quota::Store),
                        false => Error::Service("an entry is there and is not".into()),
                    })?,
                },
            };
            if is_checkpoint {
                self.mark_checkpoint(channel, place).await?;
            }
            return Ok(Placed::At(place));
        }
        let subject = self.commits(channel);
        if !crowded
            && let Published::At(place) =
                self.publish_after(subject.clone(), after, Some(&id), payload.clone()).await?
        {
            return Ok(Placed::At(place));
        }
        // If this commit stands, it is the one that followed `after`.
        let followed = next(&self.log, subject.clone(), after.saturating_add(1)).await?;
        if let Some(followed) = followed.filter(|followed| followed.payload == payload) {
            return Ok(Placed::At(followed.sequence));
        }
        if let Some(place) = self.forgotten(channel, &entry.id).await? {
            return Ok(Placed::At(place));
        }
        let newest = newest(&self.log, subject).await?.map_or(0, |newest| newest.sequence);
        if crowded && newest == after {
            return Err(Error::Full(Quota::Store));
        }
        Ok(Placed::After(newest))
    }

    async fn read(&self, channel: &ChannelId, from: u64, limit: usize) -> Result<Page> {
        let (before, _, _) = self.forgotten_before(channel).await?;
        let records = self.records(channel, from.max(before), limit.clamp(1, MAX_PAGE)).await?;
        // After the records, so that none of them stands beyond it.
        let head = self.head(channel).await?;
        Ok(Page { head, records })
    }

    /// Several at once forget what the furthest of them says.
    async fn prune(&self, channel: &ChannelId, before: u64) -> Result<()> {
        let mut head = self.head(channel).await?;
        // The newest commit stays; one that comes meanwhile makes it no older.
        let commit = head.commit;
        let before = before.min(head.last + 1);
        // The ids are written down before the entries are gone; a crash in between leaves both, and the next prune ends it.
        let (mut from, mut newest) = (1, 0);
        loop {
            let records = self.records(channel, from, MAX_PAGE).await?;
            let Some(last) = records.last() else { break };
            from = last.place + 1;
            newest = records
                .iter()
                .map(|record| record.place)
                .filter(|place| *place < before)
                .fold(newest, u64::max);
            let old = records.into_iter().filter(|record| record.place < before && record.place != commit);
            let marks = old.map(|record| {
                let subject = self.mark(channel, &record.entry.id);
                self.publish_after(subject, 0, None, payload(&[record.place]))
            });
            let marks = stream::iter(marks.collect::<Vec<_>>()).buffer_unordered(AT_ONCE);
            marks.try_for_each(|_| async { Ok(()) }).await?;
            if from >= before {
                break;
            }
        }
        if newest == 0 {
            return Ok(());
        }
        // Not what was asked for: what stands between may be other channels', and nobody of this one misses it.
        let mut before = newest + 1;
        loop {
            let (known, last, mark) = self.forgotten_before(channel).await?;
            before = before.max(known);
            let payload = payload(&[before, head.last.max(last)]);
            match self.publish_after(self.pruned(channel), mark, None, payload).await? {
                Published::At(mark) => {
                    forget(&self.marks, self.pruned(channel), mark).await?;
                    break;
                }
                Published::Not => head = self.head(channel).await?,
            }
        }
        forget(&self.log, format!("{}.e.>", self.of_channel(channel)), before).await?;
        forget(&self.log, self.commits(channel), before.min(commit)).await
    }
}

#[async_trait]
impl Blobs for Nats {
    async fn put(&self, bytes: Bytes) -> Result<BlobId> {
        if bytes.len() > MAX_BLOB {
            return Err(Error::BlobTooLarge(bytes.len()));
        }
        let id = BlobId::of(&bytes);
        loop {
            if let Published::At(_) = self.publish_after(self.blob(&id), 0, None, bytes.clone()).await? {
                self.mark_fresh(&id).await?;
                return Ok(id);
            }
            // It is kept already, unless it went just now.
            if self.renewed(&id).await? {
                return Ok(id);
            }
        }
    }

    async fn get(&self, id: &BlobId) -> Result<Option<Bytes>> {
        let blob = newest(&self.blobs, self.blob(id)).await?;
        match blob.map(|message| message.payload) {
            Some(bytes) if BlobId::of(&bytes) != *id => Err(Error::BlobMismatch(*id)),
            bytes => Ok(bytes),
        }
    }

    async fn has(&self, ids: &[BlobId]) -> Result<Vec<bool>> {
        // Who asks will not put them again: they are as if put now.
        let asked = ids.iter().map(|id| async move {
            Ok(count(&self.blobs, self.blob(id)).await? > 0 && self.renewed(id).await?)
        });
        stream::iter(asked.collect::<Vec<_>>()).buffered(AT_ONCE).try_collect().await
    }
}

/// How many subjects have messages, of those that this one stands for.
async fn count(stream: &Stream, subject: String) -> Result<usize> {
    let subjects = stream.info_with_subjects(subject).await.map_err(failed)?;
    subjects.map_err(failed).try_fold(0, |count, _| async move { Ok(count + 1) }).await
}

#[async_trait]
impl Keys for Nats {
    /// That there are not too many, and room for claims, is looked at before: several that publish at once may exceed it by what they bring.
    async fn publish(&self, did: &str, packages: KeyPackages) -> Result<()> {
        packages.check(did)?;
        let (free, given) = (self.key("free", did), self.key("given", did));
        let known = KeyPackages::distinct(packages.once).map(|(hash, package)| {
            let (free, given) =
                (format!("{free}.{}", encode_string(&hash)), format!("{given}.{}", encode_string(&hash)));
            async move {
                let is_free = count(&self.keys, free.clone()).await? > 0;
                Ok::<_, Error>((is_free || count(&self.keys, given).await? > 0, free, package))
            }
        });
        let known = stream::iter(known.collect::<Vec<_>>()).buffered(AT_ONCE);
        let new = known
            .try_filter_map(|(known, free, package)| async move { Ok((!known).then_some((free, package))) });
        let new: Vec<_> = new.try_collect().await?;
        if self.left(did).await? + new.len() > MAX_KEY_PACKAGES {
            return Err(Error::TooManyKeyPackages(MAX_KEY_PACKAGES));
        }
        let brought = new.iter().map(|(_, package)| package).chain(&packages.last_resort).map(Bytes::len);
        let brought = u64::try_from(brought.sum::<usize>()).unwrap_or(u64::MAX);
        if let Some(limit) = limit(&self.keys)
            && brought > 0
            && filled(&self.keys).await?.saturating_add(brought) > limit / 16 * 15
        {
            return Err(Error::Full(Quota::Store));
        }
        let added = new.into_iter().map(|(free, package)| self.publish_after(free, 0, None, package));
        let added = stream::iter(added.collect::<Vec<_>>()).buffered(AT_ONCE);
        added.try_for_each(|_| async { Ok(()) }).await?;
        if let Some(package) = packages.last_resort {
            let subject = self.key("last", did);
            let sent = self.jetstream.publish(subject.clone(), package).await.map_err(unpublished)?;
            let newest = sent.await.map_err(unpublished)?.sequence;
            forget(&self.keys, subject, newest).await?;
        }
        Ok(())
    }

    async fn take(&self, did: &str) -> Result<Option<Bytes>> {
        let (free, given) = (self.key("free", did), self.key("given", did));
        let mut from = 1;
        while let Some(package) = next(&self.keys, format!("{free}.*"), from).await? {
            from = package.sequence + 1;
            let Some((_, hash)) = package.subject.rsplit_once('.') else { continue };
            let claim = match self.publish_after(format!("{given}.{hash}"), 0, None, Bytes::new()).await {
                // Without a claim somebody else could be given it too.
                Err(Error::Full(_)) => break,
                claim => claim?,
            };
            // Who lost the claim does it too: who won it may have died meanwhile.
            let gone = self.keys.delete_message(package.sequence).await;
            if let Published::At(_) = claim {
                return Ok(Some(package.payload));
            }
            drop(gone);
        }
        Ok(newest(&self.keys, self.key("last", did)).await?.map(|message| message.payload))
    }

    async fn left(&self, did: &str) -> Result<usize> {
        count(&self.keys, format!("{}.*", self.key("free", did))).await
    }
}
