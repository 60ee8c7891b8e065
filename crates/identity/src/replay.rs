//! Memory of what was seen, so that nothing is taken twice.

use crate::{Did, Error, Reason, Result, Timestamp};
use std::collections::{BTreeSet, HashMap};

/// Remembers nonces until what carried them has expired.
///
/// An implementation that outlives the process stores what [`ReplayCache::remember`] is given before it answers.
pub trait ReplayCache {
    /// Remembers an id until that time.
    ///
    /// # Errors
    ///
    /// [`Reason::Replayed`] if it is known; [`Reason::CacheFull`] if there is no room and nothing has expired: an entry
    /// is never dropped early. [`Reason::Expired`] if `until` is before a time at which entries were dropped.
    fn remember(&mut self, id: &ReplayId, until: Timestamp, now: Timestamp) -> Result<()>;
}

/// What a [`ReplayCache`] remembers: the hash of a kind of object, its signer and its nonce.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ReplayId([u8; 32]);

impl ReplayId {
    /// The id of a nonce of this signer in this kind of object.
    pub fn new(kind: &str, signer: &Did, nonce: &str) -> Self {
        let mut hasher = blake3::Hasher::new_derive_key("gambeson 2026-11-22 v1 replay id");
        for part in [kind, signer.as_str(), nonce] {
            hasher.update(&(part.len() as u64).to_be_bytes()).update(part.as_bytes());
        }
        Self(hasher.finalize().into())
    }

    /// The hash.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

/// A [`ReplayCache`] in memory, of at most so many ids.
///
/// About 150 bytes an id. It is empty after a restart: then refuse what was signed before, or keep ids elsewhere.
///
/// ```
/// use gambeson_identity::{Agent, MemoryReplayCache, Reason, ReplayCache, ReplayId, Timestamp};
///
/// let mut cache = MemoryReplayCache::new(1000);
/// let id = ReplayId::new("example", Agent::generate()?.did(), "1");
/// let now = Timestamp(1_795_330_800);
/// cache.remember(&id, now.after(120), now)?;
/// assert_eq!(cache.remember(&id, now.after(120), now).unwrap_err().reason(), Reason::Replayed);
/// # Ok::<(), gambeson_identity::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct MemoryReplayCache(Expiring<ReplayId, ()>);

impl MemoryReplayCache {
    /// A cache of at most `capacity` ids.
    pub fn new(capacity: usize) -> Self {
        Self(Expiring::new(capacity))
    }

    /// How many ids it holds.
    pub fn len(&self) -> usize {
        self.0.entries.len()
    }

    /// Whether it holds none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl ReplayCache for MemoryReplayCache {
    fn remember(&mut self, id: &ReplayId, until: Timestamp, now: Timestamp) -> Result<()> {
        self.0.advance(now);
        if self.0.get(id).is_some() {
            return Err(Error::new(Reason::Replayed, "this nonce was seen before"));
        }
        self.0.room(1)?;
        self.0.insert(*id, until, ())
    }
}

/// A bounded map whose entries are dropped when their time is over, and never before.
#[derive(Clone, Debug)]
pub(crate) struct Expiring<K, V> {
    entries: HashMap<K, (Timestamp, V)>,
    by_end: BTreeSet<(Timestamp, K)>,
    capacity: usize,
    /// Entries that ended before this were dropped, so nothing that ends before it may come in again: a clock that is
    /// set back would give it a second life.
    newest: Timestamp,
}

impl<K: Clone + Ord + core::hash::Hash, V> Expiring<K, V> {
    pub(crate) fn new(capacity: usize) -> Self {
        Self { entries: HashMap::new(), by_end: BTreeSet::new(), capacity, newest: Timestamp(0) }
    }

    /// Drops what ended before `now`.
    pub(crate) fn advance(&mut self, now: Timestamp) {
        self.newest = self.newest.max(now);
        while let Some((_, key)) = self.by_end.first().filter(|(end, _)| *end < self.newest).cloned() {
            self.by_end.pop_first();
            self.entries.remove(&key);
        }
    }

    pub(crate) fn get(&self, key: &K) -> Option<&V> {
        self.entries.get(key).map(|(_, value)| value)
    }

    /// Refuses if fewer than `count` more entries fit.
    pub(crate) fn room(&self, count: usize) -> Result<()> {
        match self.entries.len() + count <= self.capacity {
            true => Ok(()),
            false => Err(Error::new(
                Reason::CacheFull,
                format_args!("the memory of {} entries is full, and none has expired", self.capacity),
            )),
        }
    }

    /// Refuses what would end before a time that was seen.
    pub(crate) fn timely(&self, until: Timestamp) -> Result<()> {
        match until >= self.newest {
            true => Ok(()),
            false => Err(Error::new(
                Reason::Expired,
                format_args!("it ended at {until}, and {} was seen already", self.newest),
            )),
        }
    }

    /// Adds an entry, or replaces the value of one; the caller has looked for room.
    pub(crate) fn insert(&mut self, key: K, until: Timestamp, value: V) -> Result<()> {
        self.timely(until)?;
        if let Some((end, _)) = self.entries.insert(key.clone(), (until, value)) {
            self.by_end.remove(&(end, key.clone()));
        }
        self.by_end.insert((until, key));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Agent, MasterSeed};

    fn id(nonce: &str) -> ReplayId {
        ReplayId::new("test", Agent::from_seed(MasterSeed::from_bytes(&[1; 32])).did(), nonce)
    }

    #[test]
    fn a_full_cache_refuses_and_forgets_nothing_before_its_time() {
        let mut cache = MemoryReplayCache::new(2);
        let now = Timestamp(1000);
        cache.remember(&id("a"), now.after(10), now).unwrap();
        cache.remember(&id("b"), now.after(20), now).unwrap();
        let reason = |result: Result<()>| result.unwrap_err().reason();
        assert_eq!(reason(cache.remember(&id("c"), now.after(30), now)), Reason::CacheFull);
        assert_eq!(reason(cache.remember(&id("a"), now.after(10), now.after(10))), Reason::Replayed);
        cache.remember(&id("c"), now.after(30), now.after(11)).unwrap();
        assert_eq!(cache.len(), 2);
        assert_eq!(reason(cache.remember(&id("b"), now.after(20), now.after(20))), Reason::Replayed);
    }

    #[test]
    fn a_clock_that_is_set_back_revives_nothing() {
        let mut cache = MemoryReplayCache::new(2);
        let now = Timestamp(1000);
        cache.remember(&id("a"), now.after(10), now).unwrap();
        cache.remember(&id("b"), now.after(90), now.after(50)).unwrap();
        assert_eq!(cache.remember(&id("a"), now.after(10), now).unwrap_err().reason(), Reason::Expired);
    }

    #[test]
    fn ids_tell_kind_signer_and_nonce_apart() {
        let signer = Agent::from_seed(MasterSeed::from_bytes(&[1; 32]));
        let other = Agent::from_seed(MasterSeed::from_bytes(&[2; 32]));
        let all = [
            ReplayId::new("a", signer.did(), "bc"),
            ReplayId::new("ab", signer.did(), "c"),
            ReplayId::new("a", signer.did(), "b"),
            ReplayId::new("a", other.did(), "bc"),
        ];
        assert_eq!(all.iter().collect::<std::collections::HashSet<_>>().len(), all.len());
    }
}
