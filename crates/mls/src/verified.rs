//! Signatures that were found good, so that nobody checks them twice.

use std::collections::HashSet;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use sha2::{Digest, Sha256};

use crate::suite::Suite;

/// How many signatures are remembered unless the provider is told otherwise: 1 MB of hashes, and room for a group of 10,000 with its key
/// packages.
const REMEMBERED: usize = 1 << 15;

/// What was checked: a suite, a key, a content and a signature, by their hash. Of a leaf the HPKE key was checked too, which two suites with one
/// signature algorithm need not have in common.
pub(crate) type Checked = [u8; 32];

/// Names a check. Each part stands behind its length, so that no two checks have one text; two texts with one hash would be a collision of
/// SHA-256. Nothing in it is secret: whoever sees the time of a look-up learns that a published signature was seen before.
pub(crate) fn checked(suite: &Suite, public_key: &[u8], content: &[u8], signature: &[u8]) -> Checked {
    let mut hasher = Sha256::new();
    hasher.update(b"gambeson-mls verified signature");
    hasher.update(suite.number().to_be_bytes());
    for part in [public_key, content, signature] {
        hasher.update((part.len() as u64).to_be_bytes());
        hasher.update(part);
    }
    hasher.finalize().into()
}

/// Whether mls-rs will ask about a signature over this content again: leaves and key packages are checked when they are published, added,
/// and by each who joins; a message once.
pub(crate) fn is_lasting(content: &[u8]) -> bool {
    [&b"\x13MLS 1.0 LeafNodeTBS"[..], b"\x15MLS 1.0 KeyPackageTBS"]
        .into_iter()
        .any(|label| content.starts_with(label))
}

/// How often signatures were asked about, and what it took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Verifications {
    /// Verifications that were computed when mls-rs asked.
    pub computed: u64,
    /// Verifications that were computed ahead.
    pub ahead: u64,
    /// Questions of mls-rs that were answered from memory.
    pub known: u64,
    /// Signatures that are remembered now.
    pub remembered: usize,
}

/// A bounded set of checks that succeeded, in two generations: what is asked about moves to the young one, and when that is half of all, the
/// old one goes.
pub(crate) struct Verified {
    generations: Mutex<Generations>,
    computed: AtomicU64,
    ahead: AtomicU64,
    known: AtomicU64,
}

struct Generations {
    young: HashSet<Checked>,
    old: HashSet<Checked>,
    bound: usize,
}

impl Default for Verified {
    fn default() -> Self {
        let generations = Generations { young: HashSet::new(), old: HashSet::new(), bound: REMEMBERED };
        Self {
            generations: Mutex::new(generations),
            computed: AtomicU64::new(0),
            ahead: AtomicU64::new(0),
            known: AtomicU64::new(0),
        }
    }
}

impl Verified {
    fn lock(&self) -> MutexGuard<'_, Generations> {
        self.generations.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether this check is known to succeed.
    pub(crate) fn answers(&self, checked: &Checked) -> bool {
        let known = self.contains(checked);
        self.known.fetch_add(known.into(), Ordering::Relaxed);
        known
    }

    /// The same, without counting it as an answer.
    pub(crate) fn contains(&self, checked: &Checked) -> bool {
        let mut generations = self.lock();
        if generations.young.contains(checked) {
            return true;
        }
        let known = generations.old.remove(checked);
        if known {
            generations.insert(*checked);
        }
        known
    }

    pub(crate) fn count_computed(&self) {
        self.computed.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn count_ahead(&self, verifications: usize) {
        self.ahead.fetch_add(verifications as u64, Ordering::Relaxed);
    }

    /// Remembers a check that succeeded.
    pub(crate) fn remember(&self, checked: impl IntoIterator<Item = Checked>) {
        let mut generations = self.lock();
        checked.into_iter().for_each(|checked| generations.insert(checked));
    }

    /// Keeps at most so many from now on, and forgets what is known.
    pub(crate) fn bound(&self, bound: usize) {
        *self.lock() = Generations { young: HashSet::new(), old: HashSet::new(), bound };
    }

    pub(crate) fn counts(&self) -> Verifications {
        let generations = self.lock();
        Verifications {
            computed: self.computed.load(Ordering::Relaxed),
            ahead: self.ahead.load(Ordering::Relaxed),
            known: self.known.load(Ordering::Relaxed),
            remembered: generations.young.len() + generations.old.len(),
        }
    }
}

impl Generations {
    fn insert(&mut self, checked: Checked) {
        let half = self.bound / 2;
        if half == 0 {
            return;
        }
        if self.young.len() >= half {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(checked);
    }
}

impl fmt::Debug for Verified {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.counts().fmt(f)
    }
}
