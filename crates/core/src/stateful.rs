//! Stateful signing: keys that sign with each of their leaves once, and the store that counts the leaves.
//!
//! A leaf that signs two messages reveals enough for a forger. So a key signs only with a [`ReservedIndex`], which comes from a durable
//! reservation of a store and is used up by the signature.
//!
//! ```
//! # #[cfg(all(feature = "hazmat", feature = "getrandom"))] {
//! use gambeson::lms::{LmotsType, LmsType, SigningKey};
//! use gambeson::stateful::{Signer, TreeOptions, hazmat::MemoryStore};
//!
//! let key = SigningKey::generate(LmsType::SHA256_M32_H5, LmotsType::SHA256_N32_W8, TreeOptions::new())?;
//! let verifying_key = *key.verifying_key();
//! // Only tests keep the count in memory.
//! let mut signer = Signer::new(key, MemoryStore::new(0));
//!
//! let index = signer.reserve_one()?;
//! let signature = signer.sign(index, b"message")?;
//! verifying_key.verify(b"message", &signature)?;
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! An index cannot be used twice:
//!
//! ```compile_fail,E0382
//! # use gambeson::stateful::{ReservedIndex, Reserve, Signer, StatefulKey};
//! fn sign_twice<K: StatefulKey, R: Reserve>(signer: &mut Signer<K, R>, index: ReservedIndex) {
//!     let first = signer.sign(index, b"one message");
//!     let second = signer.sign(index, b"another message");
//! }
//! ```

#[cfg(feature = "hazmat")]
pub mod hazmat;

use alloc::vec::Vec;
use core::fmt;
use core::ops::Range;

pub use crate::merkle::{Progress, TreeOptions};

/// The identifier of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoreId(pub [u8; 16]);

/// A store that reserves leaves of one key durably.
///
/// An implementation promises: when `reserve` returns a range, that range is recorded so that no later call returns any index of it,
/// in this or another process, after a crash, a loss of power or a restart. A reservation that was not used is lost, which is harmless.
pub trait Reserve {
    /// The error of the store.
    type Error;

    /// The identifier of this store, which no other store has.
    fn id(&self) -> StoreId;

    /// Reserves the next `count` indices.
    ///
    /// # Errors
    ///
    /// The store's own; nothing is reserved then.
    fn reserve(&mut self, count: u64) -> Result<Range<u64>, Self::Error>;
}

/// The right to sign once, with one leaf.
///
/// It has no public constructor, cannot be cloned and has no encoding. A dropped index is lost.
#[derive(Debug)]
#[must_use = "an index that is not used is lost"]
pub struct ReservedIndex {
    index: u64,
    store: StoreId,
}

impl ReservedIndex {
    /// The number of the leaf, from 0 on.
    #[must_use]
    pub const fn index(&self) -> u64 {
        self.index
    }

    /// The identifier of the store that reserved it.
    #[must_use]
    pub const fn store(&self) -> StoreId {
        self.store
    }
}

/// Reserved indices, in ascending order.
#[derive(Debug)]
#[must_use = "indices that are not used are lost"]
pub struct Reservation {
    range: Range<u64>,
    store: StoreId,
}

impl Iterator for Reservation {
    type Item = ReservedIndex;

    fn next(&mut self) -> Option<ReservedIndex> {
        self.nth(0)
    }

    fn nth(&mut self, n: usize) -> Option<ReservedIndex> {
        self.range.nth(n).map(|index| ReservedIndex { index, store: self.store })
    }

    fn last(mut self) -> Option<ReservedIndex> {
        self.range.next_back().map(|index| ReservedIndex { index, store: self.store })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.range.size_hint()
    }
}

/// A leaf that a [`Signer`] took from a [`ReservedIndex`]; only this module makes one.
#[doc(hidden)]
#[derive(Debug)]
pub struct Leaf(u64);

impl Leaf {
    pub(crate) const fn number(&self) -> u64 {
        self.0
    }
}

/// A private key that a [`Signer`] signs with: of [`lms`](crate::lms) or [`xmss`](crate::xmss).
pub trait StatefulKey {
    /// The number of messages that the key can sign in all; `u64::MAX` if there are more.
    fn capacity(&self) -> u64;

    #[doc(hidden)]
    fn sign_with_leaf(&mut self, leaf: Leaf, message: &[u8]) -> Vec<u8>;
}

/// A reservation failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReserveError<E> {
    /// The error of the store.
    Store(E),
    /// The key has not as many leaves left.
    Exhausted {
        /// The number of messages that the key can sign in all.
        capacity: u64,
    },
    /// The store returned another number of indices, or some that it had returned before.
    InvalidRange {
        /// The range that the store returned.
        returned: (u64, u64),
        /// The lowest index that it had not returned.
        expected_from: u64,
    },
}

impl<E: fmt::Display> fmt::Display for ReserveError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Store(error) => write!(f, "the store reserved nothing: {error}"),
            Self::Exhausted { capacity } => {
                write!(f, "the key is exhausted: it signs {capacity} messages in all")
            }
            Self::InvalidRange { returned: (from, to), expected_from } => write!(
                f,
                "the store returned the indices {from} to {to} (exclusive), which are not the ones requested from {expected_from} on"
            ),
        }
    }
}

impl<E: core::error::Error + 'static> core::error::Error for ReserveError<E> {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Store(error) => Some(error),
            _ => None,
        }
    }
}

/// The index was reserved by another store than the signer's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ForeignIndex;

impl fmt::Display for ForeignIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the index was reserved by another store than the signer's")
    }
}

impl core::error::Error for ForeignIndex {}

/// A private key and the store that counts its leaves.
pub struct Signer<K, R> {
    key: K,
    store: R,
    /// The lowest index that the store did not return yet.
    next: u64,
}

impl<K: StatefulKey, R: Reserve> Signer<K, R> {
    /// A signer with this key and the one store that was made for it.
    pub const fn new(key: K, store: R) -> Self {
        Self { key, store, next: 0 }
    }

    /// The key.
    pub const fn key(&self) -> &K {
        &self.key
    }

    /// The store.
    pub const fn store(&self) -> &R {
        &self.store
    }

    /// Reserves `count` indices.
    ///
    /// # Errors
    ///
    /// [`ReserveError`].
    pub fn reserve(&mut self, count: u64) -> Result<Reservation, ReserveError<R::Error>> {
        let capacity = self.key.capacity();
        if count > capacity.saturating_sub(self.next) {
            return Err(ReserveError::Exhausted { capacity });
        }
        let range = self.store.reserve(count).map_err(ReserveError::Store)?;
        if range.start < self.next || range.end.checked_sub(range.start) != Some(count) {
            let returned = (range.start, range.end);
            return Err(ReserveError::InvalidRange { returned, expected_from: self.next });
        }
        self.next = range.end;
        if range.end > capacity {
            return Err(ReserveError::Exhausted { capacity });
        }
        Ok(Reservation { range, store: self.store.id() })
    }

    /// Reserves one index.
    ///
    /// # Errors
    ///
    /// [`ReserveError`].
    pub fn reserve_one(&mut self) -> Result<ReservedIndex, ReserveError<R::Error>> {
        self.reserve(1).map(|mut reservation| reservation.next().expect("the range has one index"))
    }

    /// Signs a message and uses up the index.
    ///
    /// # Errors
    ///
    /// [`ForeignIndex`] if another store reserved it; the index is lost then.
    pub fn sign(&mut self, index: ReservedIndex, message: &[u8]) -> Result<Vec<u8>, ForeignIndex> {
        self.sign_by(index, |key, leaf| key.sign_with_leaf(leaf, message))
    }

    /// Calls `sign` with the key and the leaf of the index.
    pub(crate) fn sign_by(
        &mut self,
        index: ReservedIndex,
        sign: impl FnOnce(&mut K, Leaf) -> Vec<u8>,
    ) -> Result<Vec<u8>, ForeignIndex> {
        if index.store != self.store.id() {
            return Err(ForeignIndex);
        }
        Ok(sign(&mut self.key, Leaf(index.index)))
    }
}

impl<K: fmt::Debug, R> fmt::Debug for Signer<K, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Signer").field("key", &self.key).field("next", &self.next).finish_non_exhaustive()
    }
}
