//! A log: its files, and what is added to them.

use super::MAX_ENTRY;
use super::checkpoint::{Checkpoint, SignedCheckpoint};
use super::merkle::{self, Hash, Nodes, consistency, empty_root, inclusion, leaf_hash, node_hash, subtree};
use super::note::MAX_NOTE;
use super::proof::Proof;
use super::storage::Storage;
use super::tile::{HEIGHT, Level, Tile, WIDTH};
use crate::{Error, Reason, Result, SigningKey, Timestamp, VerifyingKey};
use std::cell::RefCell;
use std::collections::BTreeMap;

/// The name of the file with the newest checkpoint.
const CHECKPOINT: &str = "checkpoint";
const HASH_LEN: usize = 32;
/// Full tiles and full bundles in bytes, at most.
const MAX_TILE: usize = WIDTH as usize * HASH_LEN;
const MAX_BUNDLE: usize = WIDTH as usize * (2 + MAX_ENTRY);

/// A log whose newest checkpoint was verified.
#[derive(Debug)]
pub struct Log<S> {
    storage: S,
    key: VerifyingKey,
    signed: SignedCheckpoint,
    checkpoint: Checkpoint,
    /// A checkpoint was signed, and it is not known whether it is stored: another of its size would be a fork.
    uncertain: bool,
}

impl<S: Storage> Log<S> {
    /// Begins an empty log with this name.
    ///
    /// # Errors
    ///
    /// [`Reason::StorageFailed`] if there is a log already or nothing can be written, [`Reason::BadCheckpoint`] for an origin
    /// that cannot name a key, [`Reason::BadAlgorithm`], [`Reason::NoRandomness`].
    pub fn create(mut storage: S, origin: &str, key: &SigningKey, now: Timestamp) -> Result<Self> {
        let _lock = storage.lock()?;
        if storage.read(CHECKPOINT, MAX_NOTE)?.is_some() {
            return Err(Error::new(Reason::StorageFailed, "a log exists already"));
        }
        let checkpoint = Checkpoint { origin: origin.to_owned(), size: 0, root: empty_root() };
        let signed = SignedCheckpoint::sign(checkpoint.clone(), key, now)?;
        storage.create(CHECKPOINT, signed.to_string().as_bytes())?;
        Ok(Self { storage, key: key.verifying_key(), signed, checkpoint, uncertain: false })
    }

    /// Opens a log: verifies its checkpoint, and that the tiles at its right edge have the root of the checkpoint.
    /// [`Log::audit`] looks at all of it.
    ///
    /// # Errors
    ///
    /// [`Reason::NotInLog`] if there is none, [`Reason::DamagedLog`] if files are missing or changed,
    /// [`Reason::StorageFailed`], and those of [`SignedCheckpoint::verify`].
    pub fn open(storage: S, origin: &str, key: &VerifyingKey, now: Timestamp) -> Result<Self> {
        let note = storage.read(CHECKPOINT, MAX_NOTE)?;
        let note = note.ok_or_else(|| Error::new(Reason::NotInLog, "the log does not exist"))?;
        let signed = SignedCheckpoint::parse(&note)?;
        let checkpoint = signed.verify(origin, key, now)?.0.clone();
        let log = Self { storage, key: key.clone(), signed, checkpoint, uncertain: false };
        if subtree(&log.tiles(), 0, log.size())? != log.checkpoint.root {
            return Err(damaged("the tiles have another root than the checkpoint"));
        }
        Ok(log)
    }

    /// Adds entries, all or none, and signs the new checkpoint. Gives the index of the first.
    ///
    /// The storage is locked meanwhile, and what is signed is the tree of the last checkpoint with the entries behind it: what is
    /// read of that tree is checked against its root.
    ///
    /// # Errors
    ///
    /// [`Reason::Inconsistent`] if somebody else added to the log since it was opened here, or an addition here failed when it was
    /// signed already: then open it again. [`Reason::BadForm`] without entries, [`Reason::TooLarge`] for one of more than [`MAX_ENTRY`] bytes,
    /// [`Reason::BadKey`] if `key` is not the log's, [`Reason::NotYetValid`] if `now` is before the last checkpoint,
    /// [`Reason::StorageFailed`], [`Reason::DamagedLog`], [`Reason::NoRandomness`].
    pub fn append(&mut self, entries: &[&[u8]], key: &SigningKey, now: Timestamp) -> Result<u64> {
        if entries.is_empty() {
            return Err(Error::new(Reason::BadForm, "nothing to append"));
        }
        if let Some(long) = entries.iter().find(|entry| entry.len() > MAX_ENTRY) {
            return Err(Error::new(
                Reason::TooLarge,
                format_args!("the entry has {} bytes, more than the limit", long.len()),
            ));
        }
        if self.uncertain {
            return Err(behind("a checkpoint was signed and not stored"));
        }
        if key.verifying_key() != self.key {
            return Err(Error::new(Reason::BadKey, "the key is not that of the log"));
        }
        let (_, last) = self.signed.verify(&self.checkpoint.origin, &self.key, Timestamp(u64::MAX))?;
        if now < last {
            return Err(Error::new(
                Reason::NotYetValid,
                format_args!("the log was last signed at a later time, {last}"),
            ));
        }
        let _lock = self.storage.lock()?;
        if self.storage.read(CHECKPOINT, MAX_NOTE)?.as_deref() != Some(self.signed.to_string().as_bytes()) {
            return Err(behind("another checkpoint was stored meanwhile"));
        }
        let first = self.size();
        let size = first + entries.len() as u64;
        // Every hash of a tile that grows is in the root.
        let old = self.tiles();
        if subtree(&old, 0, first)? != self.checkpoint.root {
            return Err(damaged("the tiles have another root than the checkpoint"));
        }
        let mut growing = Growing { old: &old, size, files: BTreeMap::new() };
        for (index, entry) in (first..).zip(entries) {
            growing.add(index, entry)?;
        }
        let (files, read) = (growing.files, old.read);
        let root = subtree(&Tiles { log: self, size, new: &files, read }, 0, size)?;
        let checkpoint = Checkpoint { origin: self.checkpoint.origin.clone(), size, root };
        let signed = SignedCheckpoint::sign(checkpoint.clone(), key, now)?;
        // The checkpoint comes last: until it is there, the new files belong to no log that was promised to anybody.
        for (tile, contents) in &files {
            self.storage.write(&tile.to_string(), contents)?;
        }
        self.uncertain = true;
        self.storage.write(CHECKPOINT, signed.to_string().as_bytes())?;
        (self.signed, self.checkpoint, self.uncertain) = (signed, checkpoint, false);
        Ok(first)
    }

    /// The newest checkpoint.
    pub fn checkpoint(&self) -> &Checkpoint {
        &self.checkpoint
    }

    /// The newest checkpoint with its signature.
    pub fn signed_checkpoint(&self) -> &SignedCheckpoint {
        &self.signed
    }

    /// How many entries there are.
    pub fn size(&self) -> u64 {
        self.checkpoint.size
    }

    /// The files.
    pub fn storage(&self) -> &S {
        &self.storage
    }

    /// The entry at an index, checked against its hash.
    ///
    /// # Errors
    ///
    /// [`Reason::NotInLog`], [`Reason::DamagedLog`], [`Reason::StorageFailed`].
    pub fn entry(&self, index: u64) -> Result<Vec<u8>> {
        self.has(index)?;
        let bundle = self.bundle(index / WIDTH)?;
        let entry = usize::try_from(index % WIDTH).ok().and_then(|place| bundle.get(place));
        let entry = entry.ok_or_else(|| damaged("a bundle lacks an entry"))?;
        if leaf_hash(entry) == self.tiles().node(0, index)? {
            Ok(entry.clone())
        } else {
            Err(damaged("an entry has another hash than its tile says"))
        }
    }

    /// Proves that the entry at an index is in the log of the newest checkpoint.
    ///
    /// # Errors
    ///
    /// [`Reason::NotInLog`], [`Reason::DamagedLog`], [`Reason::StorageFailed`].
    pub fn prove(&self, index: u64) -> Result<Proof> {
        self.has(index)?;
        let path = inclusion(&self.tiles(), index, self.size())?;
        Ok(Proof::new(index, path, self.signed.clone()))
    }

    /// Proves that the log of the newest checkpoint begins with the first `old` entries: for
    /// [`verify_consistency`](super::verify_consistency) with an older checkpoint.
    ///
    /// # Errors
    ///
    /// [`Reason::NotInLog`] if it never had so many, [`Reason::DamagedLog`], [`Reason::StorageFailed`].
    pub fn prove_consistency(&self, old: u64) -> Result<Vec<Hash>> {
        match old {
            0 => Ok(Vec::new()),
            _ => {
                self.has(old - 1)?;
                consistency(&self.tiles(), old, self.size())
            }
        }
    }

    /// Reads every entry and every tile, and checks that all of them belong to the signed root.
    ///
    /// # Errors
    ///
    /// [`Reason::DamagedLog`], [`Reason::StorageFailed`].
    pub fn audit(&self) -> Result<()> {
        // The hashes of the present level, and from them those above, as they would be written anew.
        let mut hashes = Vec::new();
        for number in 0..self.size().div_ceil(WIDTH) {
            hashes.extend(self.bundle(number)?.iter().map(|entry| leaf_hash(entry)));
        }
        for level in 0.. {
            if hashes.is_empty() {
                break;
            }
            for (number, chunk) in (0..).zip(hashes.chunks(WIDTH as usize)) {
                if self.tile(Level::Hashes(level), number)? != chunk.concat() {
                    return Err(damaged(format_args!(
                        "tile {number} of level {level} is not that of the entries"
                    )));
                }
            }
            hashes = hashes.as_chunks::<{ WIDTH as usize }>().0.iter().map(|full| fold(full)).collect();
        }
        if subtree(&self.tiles(), 0, self.size())? == self.checkpoint.root {
            Ok(())
        } else {
            Err(damaged("the tiles have another root than the checkpoint"))
        }
    }

    fn has(&self, index: u64) -> Result<()> {
        if index < self.size() {
            return Ok(());
        }
        Err(Error::new(Reason::NotInLog, format_args!("entry {index} of a log of {}", self.size())))
    }

    fn tiles(&self) -> Tiles<'_, S> {
        const NONE: &BTreeMap<Tile, Vec<u8>> = &BTreeMap::new();
        Tiles { log: self, size: self.size(), new: NONE, read: RefCell::default() }
    }

    /// The contents of a tile or bundle of the newest checkpoint.
    fn tile(&self, level: Level, number: u64) -> Result<Vec<u8>> {
        let tile = Tile::of(level, number, self.size()).ok_or_else(|| damaged("a tile that cannot be"))?;
        let contents = self
            .storage
            .read(&tile.to_string(), if level == Level::Entries { MAX_BUNDLE } else { MAX_TILE })?;
        let contents = contents.ok_or_else(|| damaged(format_args!("{tile} is missing")))?;
        if level != Level::Entries && contents.len() as u64 != tile.width * HASH_LEN as u64 {
            return Err(damaged(format_args!("{tile} has {} bytes", contents.len())));
        }
        Ok(contents)
    }

    /// The entries of a bundle: each behind its length in two bytes.
    fn bundle(&self, number: u64) -> Result<Vec<Vec<u8>>> {
        let contents = self.tile(Level::Entries, number)?;
        let width = Tile::of(Level::Entries, number, self.size()).map_or(0, |tile| tile.width);
        Ok(entries(&contents, width)?.into_iter().map(<[u8]>::to_vec).collect())
    }
}

/// The entries of a bundle, of which there are so many.
fn entries(bundle: &[u8], width: u64) -> Result<Vec<&[u8]>> {
    let mut rest = bundle;
    let mut entries = Vec::new();
    while let Some((len, after)) = rest.split_first_chunk::<2>() {
        let len = usize::from(u16::from_be_bytes(*len));
        let (entry, after) =
            after.split_at_checked(len).ok_or_else(|| damaged("a bundle of entries is truncated"))?;
        entries.push(entry);
        rest = after;
    }
    if rest.is_empty() && entries.len() as u64 == width {
        Ok(entries)
    } else {
        Err(damaged("a bundle has another number of entries"))
    }
}

/// The hashes of the tiles of a log, some of which may not be stored yet.
struct Tiles<'a, S> {
    log: &'a Log<S>,
    size: u64,
    new: &'a BTreeMap<Tile, Vec<u8>>,
    read: RefCell<BTreeMap<Tile, Vec<u8>>>,
}

impl<S: Storage> Nodes for Tiles<'_, S> {
    fn node(&self, height: u32, index: u64) -> Result<merkle::Hash> {
        // A node of a level between two tiles: 2^inside hashes of one tile, folded.
        let (level, inside) = (Level::Hashes(height / HEIGHT), height % HEIGHT);
        let first = index << inside;
        let tile =
            Tile::of(level, first / WIDTH, self.size).ok_or_else(|| damaged("a node that is not there"))?;
        let range =
            (first % WIDTH) as usize * HASH_LEN..((first % WIDTH) as usize + (1 << inside)) * HASH_LEN;
        let folded = |contents: &[u8]| {
            let hashes =
                contents.get(range.clone()).ok_or_else(|| damaged(format_args!("{tile} is too short")))?;
            Ok(fold(hashes.as_chunks::<HASH_LEN>().0))
        };
        if let Some(contents) = self.new.get(&tile) {
            return folded(contents);
        }
        if let Some(contents) = self.read.borrow().get(&tile) {
            return folded(contents);
        }
        let contents = self.log.tile(tile.level, tile.number)?;
        let hash = folded(&contents);
        self.read.borrow_mut().insert(tile, contents);
        hash
    }
}

/// What an addition writes.
struct Growing<'a, S> {
    /// The tiles of the last checkpoint, whose root was checked.
    old: &'a Tiles<'a, S>,
    size: u64,
    files: BTreeMap<Tile, Vec<u8>>,
}

impl<S: Storage> Growing<'_, S> {
    fn add(&mut self, index: u64, entry: &[u8]) -> Result<()> {
        let bundle = self.file(Level::Entries, index)?;
        bundle.extend_from_slice(&(entry.len() as u16).to_be_bytes()); // at most `MAX_ENTRY`
        bundle.extend_from_slice(entry);
        let (mut hash, mut place) = (leaf_hash(entry), index);
        for level in 0.. {
            let tile = self.file(Level::Hashes(level), place)?;
            tile.extend_from_slice(&hash);
            if tile.len() < MAX_TILE {
                break;
            }
            // A full tile gives one hash to the level above.
            hash = fold(tile.as_chunks::<HASH_LEN>().0);
            place /= WIDTH;
        }
        Ok(())
    }

    /// The file to which the hash or entry at this place is added: as it will be in the end, begun with what is stored.
    fn file(&mut self, level: Level, place: u64) -> Result<&mut Vec<u8>> {
        let number = place / WIDTH;
        let tile = Tile::of(level, number, self.size).ok_or_else(|| damaged("a tile that cannot be"))?;
        if !self.files.contains_key(&tile) {
            let contents = match Tile::of(level, number, self.old.size) {
                Some(begun) => self.begun(begun)?,
                None => Vec::new(),
            };
            self.files.insert(tile, contents);
        }
        Ok(self.files.entry(tile).or_default())
    }

    /// What is stored of a tile or bundle that grows, and is that of the last checkpoint.
    fn begun(&self, begun: Tile) -> Result<Vec<u8>> {
        if begun.level != Level::Entries {
            let read = self.old.read.borrow();
            return read
                .get(&begun)
                .cloned()
                .ok_or_else(|| damaged(format_args!("{begun} is not in the tree of any checkpoint")));
        }
        let bundle = self.old.log.tile(Level::Entries, begun.number)?;
        for (index, entry) in (begun.number * WIDTH..).zip(entries(&bundle, begun.width)?) {
            if leaf_hash(entry) != self.old.node(0, index)? {
                return Err(damaged("an entry has another hash than its tile says"));
            }
        }
        Ok(bundle)
    }
}

/// The root over a power of two of hashes.
fn fold(hashes: &[Hash]) -> Hash {
    match hashes {
        [one] => *one,
        _ => {
            let (left, right) = hashes.split_at(hashes.len() / 2);
            node_hash(&fold(left), &fold(right))
        }
    }
}

fn behind(what: &str) -> Error {
    Error::new(Reason::Inconsistent, format_args!("{what}: open the log again"))
}

pub(super) fn too_large(name: &str) -> Error {
    Error::new(Reason::TooLarge, format_args!("{name} is longer than such a file can be"))
}

fn damaged(what: impl core::fmt::Display) -> Error {
    Error::new(Reason::DamagedLog, what)
}
