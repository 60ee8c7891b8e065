//! What stands in the file.

use bytes::Bytes;
use redb::{ReadTransaction, ReadableTable, ReadableTableMetadata, Table, TableDefinition, WriteTransaction};

use crate::blobs::BlobId;
use crate::engine::{Limits, Retention, stored};
use crate::error::{Error, Quota};
use crate::keys::{KeyPackages, MAX_KEY_PACKAGES};
use crate::log::{Entry, EntryId, EntryKind, Head, Page, Placed, Record};
use crate::name::ChannelId;

type Hash = &'static [u8; 32];
type Id = &'static [u8; 16];

/// `"format"`: 1. `"bytes"`: how many there are of all content, [`EACH`] more for each piece.
const SUMS: TableDefinition<&str, u64> = TableDefinition::new("sums");
/// Of each channel: first and last place, newest commit, newest checkpoint, number of entries, their bytes.
const CHANNELS: TableDefinition<Hash, Channel> = TableDefinition::new("channels");
/// By channel and place: time, kind, id, content.
const RECORDS: TableDefinition<(Hash, u64), &[u8]> = TableDefinition::new("records");
/// The place of each id of a channel, also when the entry is forgotten.
const IDS: TableDefinition<(Hash, Id), u64> = TableDefinition::new("ids");
const BLOBS: TableDefinition<Hash, &[u8]> = TableDefinition::new("blobs");
/// When a blob was last put or asked for.
const TIMES: TableDefinition<Hash, u64> = TableDefinition::new("times");
/// The blobs by that time.
const AGES: TableDefinition<(u64, Hash), ()> = TableDefinition::new("ages");
/// Of each DID's hash: the next package's number, how many are left.
const OWNERS: TableDefinition<Hash, (u64, u64)> = TableDefinition::new("owners");
/// By DID and number.
const PACKAGES: TableDefinition<(Hash, u64), &[u8]> = TableDefinition::new("packages");
/// By DID and hash: those that were ever added.
const KNOWN: TableDefinition<(Hash, Hash), ()> = TableDefinition::new("known");
const LAST_RESORTS: TableDefinition<Hash, &[u8]> = TableDefinition::new("last resorts");

type Channel = (u64, u64, u64, u64, u64, u64);

/// What it takes to find a piece, in bytes: keys, ids, hashes.
const EACH: u64 = 128;

/// Entries and blobs that one sweep forgets at most, so that appends need not wait for long.
const MOST_SWEPT: usize = 10_000;

/// Time, kind and id before a record's content.
const RECORD_HEAD: usize = 8 + 1 + 16;

/// Why a job is not done.
pub(super) enum Stop {
    /// It may not be, and nothing is changed.
    Refused(Error),
    /// The file fails.
    Failed(redb::Error),
}

impl<E: Into<redb::Error>> From<E> for Stop {
    fn from(error: E) -> Self {
        Self::Failed(error.into())
    }
}

fn refuse<T>(error: Error) -> Result<T, Stop> {
    Err(Stop::Refused(error))
}

#[derive(Clone, Copy, Default)]
struct State {
    first: u64,
    last: u64,
    commit: u64,
    checkpoint: u64,
    entries: u64,
    bytes: u64,
}

impl State {
    fn of((first, last, commit, checkpoint, entries, bytes): Channel) -> Self {
        Self { first, last, commit, checkpoint, entries, bytes }
    }

    fn stored(self) -> Channel {
        (self.first, self.last, self.commit, self.checkpoint, self.entries, self.bytes)
    }

    fn head(self) -> Head {
        let first = if self.first == 0 { self.last + 1 } else { self.first };
        Head { first, last: self.last, commit: self.commit }
    }

    /// Why there is no room for one more entry, of so many bytes. Checkpoints find some where others do not.
    fn full(self, limits: &Limits, kind: EntryKind, len: u64) -> Option<Quota> {
        let more = |limit: u64| match kind {
            EntryKind::Checkpoint => limit.saturating_add(limit / 16),
            _ => limit,
        };
        if self.entries >= more(limits.entries) {
            return Some(Quota::Entries);
        }
        (self.bytes + len > more(limits.bytes)).then_some(Quota::Bytes)
    }
}

fn wide(len: usize) -> u64 {
    u64::try_from(len).unwrap_or(u64::MAX)
}

/// All tables, open in one transaction.
pub(super) struct Tables<'t> {
    sums: Table<'t, &'static str, u64>,
    channels: Table<'t, Hash, Channel>,
    records: Table<'t, (Hash, u64), &'static [u8]>,
    ids: Table<'t, (Hash, Id), u64>,
    blobs: Table<'t, Hash, &'static [u8]>,
    times: Table<'t, Hash, u64>,
    ages: Table<'t, (u64, Hash), ()>,
    owners: Table<'t, Hash, (u64, u64)>,
    packages: Table<'t, (Hash, u64), &'static [u8]>,
    known: Table<'t, (Hash, Hash), ()>,
    last_resorts: Table<'t, Hash, &'static [u8]>,
}

impl<'t> Tables<'t> {
    pub(super) fn open(transaction: &'t WriteTransaction) -> Result<Self, redb::Error> {
        let mut sums = transaction.open_table(SUMS)?;
        let format = sums.get("format")?.map(|format| format.value());
        match format {
            None => drop(sums.insert("format", 1)?),
            Some(1) => {}
            Some(other) => return Err(redb::Error::Corrupted(format!("format {other}, not 1"))),
        }
        Ok(Self {
            sums,
            channels: transaction.open_table(CHANNELS)?,
            records: transaction.open_table(RECORDS)?,
            ids: transaction.open_table(IDS)?,
            blobs: transaction.open_table(BLOBS)?,
            times: transaction.open_table(TIMES)?,
            ages: transaction.open_table(AGES)?,
            owners: transaction.open_table(OWNERS)?,
            packages: transaction.open_table(PACKAGES)?,
            known: transaction.open_table(KNOWN)?,
            last_resorts: transaction.open_table(LAST_RESORTS)?,
        })
    }

    fn sum(&self) -> Result<u64, redb::Error> {
        Ok(self.sums.get("bytes")?.map_or(0, |sum| sum.value()))
    }

    /// Refuses what makes the whole too large.
    fn room(&self, limits: &Limits, pieces: usize, bytes: usize) -> Result<(), Stop> {
        let more = wide(bytes) + EACH * wide(pieces);
        if self.sum()?.saturating_add(more) > limits.store {
            return refuse(Error::Full(Quota::Store));
        }
        Ok(())
    }

    fn add(&mut self, bytes: usize) -> Result<(), redb::Error> {
        let sum = self.sum()? + wide(bytes) + EACH;
        self.sums.insert("bytes", sum)?;
        Ok(())
    }

    fn subtract(&mut self, bytes: u64) -> Result<(), redb::Error> {
        let sum = self.sum()?.saturating_sub(bytes);
        self.sums.insert("bytes", sum)?;
        Ok(())
    }

    fn state(&self, channel: &[u8; 32]) -> Result<Option<State>, redb::Error> {
        Ok(self.channels.get(channel)?.map(|state| State::of(state.value())))
    }

    pub(super) fn append(
        &mut self,
        limits: &Limits,
        channel: &ChannelId,
        entry: &Entry,
        after: u64,
        now: u64,
    ) -> Result<Placed, Stop> {
        if let Some(place) = self.ids.get((&channel.0, &entry.id.0))?.map(|place| place.value()) {
            let stands = self.records.get((&channel.0, place))?;
            let another = stands.is_some_and(|record| record.value().get(8..) != Some(&stored(entry)));
            return if another { refuse(Error::IdTaken) } else { Ok(Placed::At(place)) };
        }
        let state = self.state(&channel.0)?;
        if state.is_none() && self.channels.len()? >= limits.channels {
            return refuse(Error::Full(Quota::Channels));
        }
        let mut state = state.unwrap_or_default();
        if entry.kind == EntryKind::Commit && state.commit != after {
            return Ok(Placed::After(state.commit));
        }
        let len = wide(entry.content.len());
        let old = state.checkpoint.min(state.first + wide(MOST_SWEPT));
        if state.full(limits, entry.kind, len).is_some()
            && entry.kind != EntryKind::Checkpoint
            && old > state.first
        {
            // Not at the next sweep: what can go goes before anything is refused.
            self.prune(channel, old)?;
            state = self.state(&channel.0)?.unwrap_or_default();
        }
        if let Some(quota) = state.full(limits, entry.kind, len) {
            return refuse(Error::Full(quota));
        }
        self.room(limits, 1, entry.content.len())?;

        state.last += 1;
        state.entries += 1;
        state.bytes += len;
        if state.first == 0 {
            state.first = state.last;
        }
        match entry.kind {
            EntryKind::Commit => state.commit = state.last,
            EntryKind::Checkpoint => state.checkpoint = state.last,
            _ => {}
        }
        let record = [&now.to_be_bytes()[..], &stored(entry)].concat();
        self.records.insert((&channel.0, state.last), record.as_slice())?;
        self.ids.insert((&channel.0, &entry.id.0), state.last)?;
        self.channels.insert(&channel.0, state.stored())?;
        self.add(entry.content.len())?;
        Ok(Placed::At(state.last))
    }

    /// The ids stay, and so do the 128 bytes that are counted for each.
    pub(super) fn prune(&mut self, channel: &ChannelId, before: u64) -> Result<(), redb::Error> {
        let Some(mut state) = self.state(&channel.0)? else { return Ok(()) };
        let mut freed = 0;
        let end = before.min(state.last + 1);
        let mut gone = self.records.extract_from_if((&channel.0, 0)..(&channel.0, end), |_, _| true)?;
        while let Some((_, record)) = gone.next().transpose()? {
            freed += wide(record.value().len().saturating_sub(RECORD_HEAD));
            state.entries -= 1;
        }
        drop(gone);
        state.bytes = state.bytes.saturating_sub(freed);
        let mut rest = self.records.range((&channel.0, 0)..=(&channel.0, u64::MAX))?;
        state.first = rest.next().transpose()?.map_or(0, |(key, _)| key.value().1);
        drop(rest);
        self.channels.insert(&channel.0, state.stored())?;
        self.subtract(freed)
    }

    pub(super) fn put(&mut self, limits: &Limits, bytes: &Bytes, now: u64) -> Result<BlobId, Stop> {
        let id = BlobId::of(bytes);
        if self.blobs.get(&id.0)?.is_some() {
            self.renew(&[id], now)?;
            return Ok(id);
        }
        self.room(limits, 1, bytes.len())?;
        self.blobs.insert(&id.0, &**bytes)?;
        self.times.insert(&id.0, now)?;
        self.ages.insert((now, &id.0), ())?;
        self.add(bytes.len())?;
        Ok(id)
    }

    /// These blobs are as new as those that are put now. Returns those that are not kept.
    pub(super) fn renew(&mut self, ids: &[BlobId], now: u64) -> Result<Vec<BlobId>, redb::Error> {
        let mut gone = Vec::new();
        for id in ids {
            let Some(at) = self.times.get(&id.0)?.map(|at| at.value()) else {
                gone.push(*id);
                continue;
            };
            self.ages.remove((at, &id.0))?;
            self.ages.insert((now, &id.0), ())?;
            self.times.insert(&id.0, now)?;
        }
        Ok(gone)
    }

    pub(super) fn publish(
        &mut self,
        limits: &Limits,
        did: &[u8; 32],
        packages: KeyPackages,
    ) -> Result<(), Stop> {
        let owner = self.owners.get(did)?.map(|owner| owner.value());
        if owner.is_none() && self.owners.len()? >= limits.dids {
            return refuse(Error::Full(Quota::Dids));
        }
        let (mut next, mut left) = owner.unwrap_or_default();
        let mut new = Vec::new();
        for (hash, package) in KeyPackages::distinct(packages.once) {
            if self.known.get((did, &hash))?.is_none() {
                new.push((hash, package));
            }
        }
        if left + wide(new.len()) > wide(MAX_KEY_PACKAGES) {
            return refuse(Error::TooManyKeyPackages(MAX_KEY_PACKAGES));
        }
        let bytes = new.iter().map(|(_, package)| package).chain(&packages.last_resort).map(Bytes::len);
        self.room(limits, new.len() + 1, bytes.sum())?;

        for (hash, package) in new {
            self.packages.insert((did, next), &*package)?;
            self.known.insert((did, &hash), ())?;
            self.add(package.len())?;
            (next, left) = (next + 1, left + 1);
        }
        if let Some(package) = packages.last_resort {
            let old = self.last_resorts.insert(did, &*package)?.map(|old| wide(old.value().len()) + EACH);
            self.add(package.len())?;
            self.subtract(old.unwrap_or_default())?;
        }
        self.owners.insert(did, (next, left))?;
        Ok(())
    }

    /// Of a package that is given out its hash stays, and the 128 bytes that are counted for it.
    pub(super) fn take(&mut self, did: &[u8; 32]) -> Result<Option<Bytes>, redb::Error> {
        let mut all = self.packages.extract_from_if((did, 0)..=(did, u64::MAX), |_, _| true)?;
        let first = all.next().transpose()?.map(|(_, package)| Bytes::copy_from_slice(package.value()));
        drop(all);
        let Some(package) = first else {
            let last = self.last_resorts.get(did)?;
            return Ok(last.map(|package| Bytes::copy_from_slice(package.value())));
        };
        let (next, left) = self.owners.get(did)?.map(|owner| owner.value()).unwrap_or_default();
        self.owners.insert(did, (next, left.saturating_sub(1)))?;
        self.subtract(wide(package.len()))?;
        Ok(Some(package))
    }

    /// Forgets what retention says, before the newest checkpoint of each channel; and all before it of one that is nearly full, or of all when the store is.
    pub(super) fn sweep(
        &mut self,
        limits: &Limits,
        retention: &Retention,
        now: u64,
    ) -> Result<(), redb::Error> {
        let mut due = Vec::new();
        for channel in self.channels.iter()? {
            let (id, state) = channel?;
            let (id, state) = (*id.value(), State::of(state.value()));
            let before = self.forgotten_before(&id, &state, limits, retention, now)?;
            if state.first != 0 && before > state.first {
                due.push((ChannelId(id), before));
            }
        }
        for (channel, before) in due {
            self.prune(&channel, before)?;
        }
        let Some(age) = retention.blobs else { return Ok(()) };
        let mut old = Vec::new();
        for blob in self.ages.range((0, &[0; 32])..(millis_before(now, age), &[0; 32]))?.take(MOST_SWEPT) {
            let (key, ()) = blob.map(|(key, _)| (key, ()))?;
            let (at, id) = key.value();
            old.push((at, *id));
        }
        for (at, id) in old {
            self.ages.remove((at, &id))?;
            self.times.remove(&id)?;
            let freed = self.blobs.remove(&id)?.map(|blob| wide(blob.value().len()) + EACH);
            self.subtract(freed.unwrap_or_default())?;
        }
        Ok(())
    }

    fn forgotten_before(
        &self,
        channel: &[u8; 32],
        state: &State,
        limits: &Limits,
        retention: &Retention,
        now: u64,
    ) -> Result<u64, redb::Error> {
        let full = state.entries > limits.entries / 4 * 3
            || state.bytes > limits.bytes / 4 * 3
            || self.sum()? > limits.store / 4 * 3;
        let mut before = if full { state.checkpoint } else { 0 };
        if let Some(entries) = retention.entries {
            before = before.max((state.last + 1).saturating_sub(entries));
        }
        if let Some(age) = retention.age {
            let time = millis_before(now, age);
            let mut first_since = state.first;
            for record in self.records.range((channel, 0)..(channel, state.checkpoint))?.take(MOST_SWEPT) {
                let (key, value) = record?;
                if value.value().first_chunk().map_or(0, |at| u64::from_be_bytes(*at)) >= time {
                    break;
                }
                first_since = key.value().1 + 1;
            }
            before = before.max(first_since);
        }
        Ok(before.min(state.checkpoint).min(state.first + wide(MOST_SWEPT)))
    }
}

fn millis_before(now: u64, age: std::time::Duration) -> u64 {
    now.saturating_sub(u64::try_from(age.as_millis()).unwrap_or(u64::MAX))
}

fn record(place: u64, stored: &[u8]) -> Option<Record> {
    let (at, rest) = stored.split_first_chunk()?;
    let (kind, rest) = rest.split_first()?;
    let (id, content) = rest.split_first_chunk()?;
    let entry =
        Entry { id: EntryId(*id), kind: EntryKind::of(*kind)?, content: Bytes::copy_from_slice(content) };
    Some(Record { place, at: u64::from_be_bytes(*at), entry })
}

/// What a page may have in bytes: a caller who asks for a million entries does not get a gigabyte at once.
const MAX_PAGE: usize = 4 << 20;

pub(super) fn page(
    transaction: &ReadTransaction,
    channel: &ChannelId,
    from: u64,
    limit: usize,
) -> Result<Page, redb::Error> {
    let state = transaction.open_table(CHANNELS)?.get(&channel.0)?.map(|state| State::of(state.value()));
    let Some(state) = state else { return Ok(Page::default()) };
    let table = transaction.open_table(RECORDS)?;
    let (mut records, mut room) = (Vec::new(), MAX_PAGE);
    for stored in table.range((&channel.0, from)..=(&channel.0, u64::MAX))?.take(limit.max(1)) {
        let (key, value) = stored?;
        let place = key.value().1;
        let record = record(place, value.value());
        let record =
            record.ok_or_else(|| redb::Error::Corrupted(format!("the entry at {place} is malformed")))?;
        if record.entry.content.len() > room && !records.is_empty() {
            break;
        }
        room = room.saturating_sub(record.entry.content.len());
        records.push(record);
    }
    Ok(Page { head: state.head(), records })
}

pub(super) fn blob(transaction: &ReadTransaction, id: &BlobId) -> Result<Option<Bytes>, redb::Error> {
    let blob = transaction.open_table(BLOBS)?.get(&id.0)?;
    Ok(blob.map(|blob| Bytes::copy_from_slice(blob.value())))
}

/// When each of these blobs was last put or asked for; `None` if it is not kept.
pub(super) fn times(transaction: &ReadTransaction, ids: &[BlobId]) -> Result<Vec<Option<u64>>, redb::Error> {
    let table = transaction.open_table(TIMES)?;
    ids.iter().map(|id| Ok(table.get(&id.0)?.map(|at| at.value()))).collect()
}

pub(super) fn left(transaction: &ReadTransaction, did: &[u8; 32]) -> Result<usize, redb::Error> {
    let owner = transaction.open_table(OWNERS)?.get(did)?;
    Ok(owner.map_or(0, |owner| usize::try_from(owner.value().1).unwrap_or(usize::MAX)))
}
