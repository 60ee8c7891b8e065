//! Polynomials as words on the heap.

use alloc::vec;
use alloc::vec::Vec;
use core::fmt;
use core::ops::{Deref, DerefMut};

use crate::secret;

/// Words of zeros at first, from a line of the cache on, which are wiped when they are dropped.
pub(super) struct Words {
    all: Vec<u64>,
    start: usize,
    len: usize,
}

impl Words {
    pub(super) fn new(len: usize) -> Self {
        let all = vec![0; len + 7];
        // The address of a vector stays where it is. An allocator gives words at least.
        let start = (all.as_ptr().addr() >> 3).wrapping_neg() & 7;
        Self { all, start, len }
    }
}

impl Deref for Words {
    type Target = [u64];

    fn deref(&self) -> &[u64] {
        &self.all[self.start..][..self.len]
    }
}

impl DerefMut for Words {
    fn deref_mut(&mut self) -> &mut [u64] {
        &mut self.all[self.start..][..self.len]
    }
}

impl fmt::Debug for Words {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Words([redacted])")
    }
}

impl Drop for Words {
    fn drop(&mut self) {
        secret::wipe(&mut self.all);
    }
}

/// The polynomial of these bytes; what goes beyond n bits is left out.
pub(super) fn from_bytes(words: &mut [u64], bytes: &[u8], n: usize) {
    let (whole, rest) = bytes.as_chunks::<8>();
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    let (low, high) = words.split_at_mut(whole.len());
    for (word, bytes) in low.iter_mut().zip(whole) {
        *word = u64::from_le_bytes(*bytes);
    }
    high.fill(0);
    if let Some(word) = high.first_mut() {
        *word = u64::from_le_bytes(last);
    }
    if let Some(word) = words.get_mut(n >> 6) {
        *word &= (1 << (n & 63)) - 1;
    }
}

/// The first bytes of a polynomial.
pub(super) fn to_bytes(bytes: &mut [u8], words: &[u64]) {
    let (whole, rest) = bytes.as_chunks_mut::<8>();
    for (bytes, word) in whole.iter_mut().zip(words) {
        *bytes = word.to_le_bytes();
    }
    if let Some(word) = words.get(whole.len()) {
        rest.copy_from_slice(&word.to_le_bytes()[..rest.len()]);
    }
}

/// Adds.
pub(super) fn add(sum: &mut [u64], other: &[u64]) {
    for (sum, other) in sum.iter_mut().zip(other) {
        *sum ^= other;
    }
}
