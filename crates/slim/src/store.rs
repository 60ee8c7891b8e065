//! What an agent keeps of its channels: sealed under its own seed, and written in batches that are whole or not at all.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use gambeson_identity::Agent;
use zeroize::{Zeroize, Zeroizing};

use crate::error::{Error, Result};

#[cfg(feature = "redb")]
mod file;
#[cfg(feature = "redb")]
pub use file::FileStore;
#[cfg(feature = "redb")]
pub(crate) use file::{Checked, checked};

/// A key of a store: 16 bytes that say which row, and in it a place. Both tell nothing without the agent's seed but how much there is.
pub type StoreKey = ([u8; 16], u64);

/// Writes that happen together: a value, or nothing, for each key.
pub type Batch = BTreeMap<StoreKey, Option<Vec<u8>>>;

/// Keeps bytes.
#[async_trait]
pub trait Store: Send + Sync {
    /// Of a row, what stands at a place or after it, at most so many.
    ///
    /// # Errors
    /// The store cannot be read.
    async fn row(&self, row: [u8; 16], from: u64, most: usize) -> Result<BTreeMap<u64, Vec<u8>>>;

    /// Writes all of this or, if it fails or the process ends, nothing; once it returns, power may fail.
    ///
    /// # Errors
    /// The store cannot be written; nothing of the batch was.
    async fn apply(&self, batch: Batch) -> Result<()>;
}

/// A store in memory.
#[derive(Clone, Debug, Default)]
pub struct MemoryStore(Arc<Mutex<Rows>>);

/// Rows, and in each what stands at its places.
type Rows = HashMap<[u8; 16], BTreeMap<u64, Vec<u8>>>;

impl MemoryStore {
    /// With nothing in it. Its clones are the same store: an agent that is started again finds what it kept.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

#[async_trait]
impl Store for MemoryStore {
    async fn row(&self, row: [u8; 16], from: u64, most: usize) -> Result<BTreeMap<u64, Vec<u8>>> {
        let rows = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = rows.get(&row).into_iter().flat_map(|row| row.range(from..));
        Ok(kept.take(most).map(|(place, value)| (*place, value.clone())).collect())
    }

    async fn apply(&self, batch: Batch) -> Result<()> {
        let mut rows = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for ((row, place), value) in batch {
            let kept = rows.entry(row).or_default();
            match value {
                Some(value) => drop(kept.insert(place, value)),
                None => drop(kept.remove(&place)),
            }
            if kept.is_empty() {
                rows.remove(&row);
            }
        }
        Ok(())
    }
}

/// The row that holds the key of names, which is the only one whose name anyone can know.
const ROOT: [u8; 16] = *b"gambeson channel";

/// The purpose that the key of names is sealed for.
const NAMES: &str = "channel names";

/// A store in which everything is sealed: values under the agent's key `m/7'`, each bound to its place; names of rows hidden by a hash
/// under a key that is sealed itself.
#[derive(Clone)]
pub(crate) struct Sealed {
    agent: Arc<Agent>,
    store: Arc<dyn Store>,
    names: [u8; 32],
}

/// A value that was opened: its memory is wiped before it is given back.
pub(crate) type Opened = Zeroizing<Vec<u8>>;

/// Writes that are gathered before they are applied.
#[derive(Default)]
pub(crate) struct Writes(Vec<(String, u64, Option<Vec<u8>>)>);

impl Writes {
    pub(crate) fn put(&mut self, row: &str, place: u64, value: Vec<u8>) {
        self.0.push((row.to_owned(), place, Some(value)));
    }

    pub(crate) fn delete(&mut self, row: &str, place: u64) {
        self.0.push((row.to_owned(), place, None));
    }

    /// Takes back what was to be written into a row.
    pub(crate) fn take_back(&mut self, row: &str) {
        for (of, _, value) in &mut self.0 {
            if of == row {
                value.take().zeroize();
            }
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Drop for Writes {
    fn drop(&mut self) {
        self.0.iter_mut().filter_map(|(_, _, value)| value.as_mut()).for_each(Zeroize::zeroize);
    }
}

impl Sealed {
    /// Opens a store, which gets its key of names when it is opened for the first time.
    pub(crate) async fn open(agent: Arc<Agent>, store: Arc<dyn Store>) -> Result<Self> {
        if let Some(opened) = Self::existing(&agent, &store).await? {
            return Ok(opened);
        }
        let mut names = [0; 32];
        getrandom::fill(&mut names).map_err(|_| Error::NoRandomness)?;
        let sealed = agent.seal_state(NAMES, &names).map_err(|_| Error::NoRandomness)?;
        store.apply(Batch::from([((ROOT, 0), Some(sealed))])).await?;
        Ok(Self { agent, store, names })
    }

    /// Opens a store, if it has its key of names; nothing is written.
    pub(crate) async fn existing(agent: &Arc<Agent>, store: &Arc<dyn Store>) -> Result<Option<Self>> {
        let kept = store.row(ROOT, 0, 1).await?;
        let Some(sealed) = kept.get(&0) else { return Ok(None) };
        let opened = agent.open_state(NAMES, sealed).map_err(|_| Error::BadStore)?;
        let names = opened.expose().as_slice().try_into().map_err(|_| Error::BadStore)?;
        Ok(Some(Self { agent: Arc::clone(agent), store: Arc::clone(store), names }))
    }

    pub(crate) async fn row(&self, row: &str, from: u64, most: usize) -> Result<BTreeMap<u64, Opened>> {
        let sealed = self.store.row(self.hidden(row), from, most).await?;
        sealed
            .into_iter()
            .map(|(place, sealed)| {
                let opened =
                    self.agent.open_state(&label(row, place), &sealed).map_err(|_| Error::BadStore)?;
                Ok((place, Zeroizing::new(opened.expose().clone())))
            })
            .collect()
    }

    pub(crate) async fn value(&self, row: &str, place: u64) -> Result<Option<Opened>> {
        Ok(self.row(row, place, 1).await?.remove(&place))
    }

    /// The number of eight bytes at a place of a row.
    pub(crate) async fn number(&self, row: &str, place: u64) -> Result<Option<u64>> {
        let kept = self.value(row, place).await?;
        Ok(kept.and_then(|bytes| bytes[..].try_into().ok()).map(u64::from_be_bytes))
    }

    pub(crate) async fn apply(&self, writes: Writes) -> Result<()> {
        if writes.is_empty() {
            return Ok(());
        }
        let mut batch = Batch::new();
        for (row, place, value) in &writes.0 {
            let sealed = match value {
                Some(value) => {
                    Some(self.agent.seal_state(&label(row, *place), value).map_err(|_| Error::NoRandomness)?)
                }
                None => None,
            };
            batch.insert((self.hidden(row), *place), sealed);
        }
        self.store.apply(batch).await
    }

    fn hidden(&self, row: &str) -> [u8; 16] {
        let hash = blake3::keyed_hash(&self.names, row.as_bytes());
        let mut hidden = [0; 16];
        hidden.copy_from_slice(&hash.as_bytes()[..16]);
        hidden
    }
}

impl Drop for Sealed {
    fn drop(&mut self) {
        self.names.zeroize();
    }
}

/// What a value is sealed for: it cannot be moved to another place.
fn label(row: &str, place: u64) -> String {
    format!("channel {row} {place}")
}
