//! SHA-256 of messages of whole words, side by side: a row is one word of every message.

use crate::sha2_lanes::{INITIAL_256, LANES_32, Rows32, active};

/// One word of every message.
pub(super) type Row = [u32; LANES_32];

/// Messages of the same length, and the rows of the block at hand.
pub(super) struct Columns {
    state: Rows32<8>,
    block: Rows32<16>,
    /// Rows that were added.
    len: usize,
}

impl Columns {
    pub(super) fn new() -> Self {
        Self { state: Rows32(INITIAL_256.map(|word| [word; LANES_32])), block: Rows32::ZERO, len: 0 }
    }

    /// Adds rows to the messages of the first `busy` lanes.
    #[inline]
    pub(super) fn add(&mut self, rows: &[Row], busy: usize) {
        for row in rows {
            self.block.0[self.len & 15] = *row;
            self.len += 1;
            if self.len & 15 == 0 {
                (active().compress_32)(&mut self.state, &self.block, busy);
            }
        }
    }

    /// Adds bytes, whole words, to every message.
    pub(super) fn add_bytes(&mut self, bytes: &[u8]) {
        for word in bytes.as_chunks().0 {
            self.add(&[[u32::from_be_bytes(*word); LANES_32]], LANES_32);
        }
    }

    /// The state of the first lane, behind whole blocks.
    pub(super) fn first_lane(&self) -> [u32; 8] {
        debug_assert!(self.len & 15 == 0);
        self.state.0.map(|row| row[0])
    }

    /// Replaces the messages by others.
    #[inline]
    pub(super) fn set(&mut self, other: &Self) {
        let place = other.len & 15;
        self.state.0 = other.state.0;
        self.block.0[..place].copy_from_slice(&other.block.0[..place]);
        self.len = other.len;
    }

    /// Replaces the message of the first lane by that of a lane of others.
    #[inline]
    pub(super) fn set_lane(&mut self, other: &Self, lane: usize) {
        let rows = self.state.0.iter_mut().chain(&mut self.block.0);
        for (row, other) in rows.zip(other.state.0.iter().chain(&other.block.0)) {
            row[0] = other[lane];
        }
        self.len = other.len;
    }

    /// Returns the hashes of the first `busy` messages, to which nothing can be added then.
    #[inline]
    pub(super) fn hashes(&mut self, busy: usize) -> &[Row; 8] {
        let bits = 32 * self.len as u32;
        self.add(&[[1 << 31; LANES_32]], busy);
        while self.len & 15 != 14 {
            self.add(&[[0; LANES_32]], busy);
        }
        self.add(&[[0; LANES_32], [bits; LANES_32]], busy);
        &self.state.0
    }
}

/// Loads a value of whole words into a lane of the rows.
pub(super) fn load(rows: &mut [Row], lane: usize, value: &[u8]) {
    for (row, word) in rows.iter_mut().zip(value.as_chunks().0) {
        row[lane] = u32::from_be_bytes(*word);
    }
}

/// Stores a lane of the rows into a value of whole words.
pub(super) fn store(rows: &[Row], lane: usize, value: &mut [u8]) {
    for (word, row) in value.as_chunks_mut().0.iter_mut().zip(rows) {
        *word = row[lane].to_be_bytes();
    }
}

/// Adds rows without carries.
pub(super) fn xor(rows: &mut [Row], other: &[Row]) {
    for (row, other) in rows.iter_mut().zip(other) {
        row.iter_mut().zip(other).for_each(|(word, other)| *word ^= other);
    }
}
