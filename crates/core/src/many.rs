//! Many hashes of short messages at once: a head, which differs from one to the next, and a few values of n bytes.

mod chains;
mod messages;

pub(crate) use messages::Messages;

use crate::sha2_lanes::{Form, INITIAL_256, INITIAL_512, LANES_32, LANES_64, Rows32, Rows64, active};
use crate::sha3::LANES;

/// A function, with what all messages begin with.
#[derive(Clone, Copy)]
pub(crate) enum Function<'a> {
    /// SHA-256, its state, and the bytes that led to it: whole blocks.
    Sha256([u32; 8], usize),
    /// SHA-512, likewise.
    Sha512([u64; 8], usize),
    Shake256(&'a [u8]),
    Shake128(&'a [u8]),
}

/// The message behind the head.
#[derive(Clone, Copy)]
pub(crate) enum Input<'a> {
    /// So many bytes for each, one after the other, where the results take their place.
    InPlace(usize),
    /// The same for all, such as a seed.
    Common(&'a [u8]),
}

impl Input<'_> {
    fn of<'b>(&'b self, buffer: &'b [u8], i: usize) -> &'b [u8] {
        match self {
            Self::InPlace(len) => &buffer[i * len..][..*len],
            Self::Common(bytes) => bytes,
        }
    }
}

impl Function<'_> {
    pub(crate) const SHA_256: Self = Self::Sha256(INITIAL_256, 0);

    /// SHA-256 behind a block.
    pub(crate) fn sha_256_behind(block: &[u8; 64]) -> Self {
        let (mut state, mut rows) = (Rows32(INITIAL_256.map(|word| [word; LANES_32])), Rows32::ZERO);
        load_32(&mut rows, 0, block);
        (active().compress_32)(&mut state, &rows, 1);
        Self::Sha256(state.0.map(|row| row[0]), 64)
    }

    /// SHA-512 behind a block.
    pub(crate) fn sha_512_behind(block: &[u8; 128]) -> Self {
        let (mut state, mut rows) = (Rows64(INITIAL_512.map(|word| [word; LANES_64])), Rows64::ZERO);
        load_64(&mut rows, 0, block);
        (active().compress_64)(&mut state, &rows, 1);
        Self::Sha512(state.0.map(|row| row[0]), 128)
    }

    /// The messages that are hashed side by side.
    pub(crate) const fn lanes(&self) -> usize {
        match self {
            Self::Sha256(..) => LANES_32,
            Self::Sha512(..) => LANES_64,
            Self::Shake256(_) | Self::Shake128(_) => LANES,
        }
    }

    /// The hashes of `count` messages, whose heads are asked for in their order: n bytes each, one after the other, to the start
    /// of `buffer`.
    pub(crate) fn many<const HEAD: usize>(
        self,
        n: usize,
        count: usize,
        head: &mut dyn FnMut() -> [u8; HEAD],
        input: Input<'_>,
        buffer: &mut [u8],
    ) {
        for first in (0..count).step_by(self.lanes()) {
            let busy = self.lanes().min(count - first);
            let mut messages = Messages::new(self, busy, head);
            messages.update(|i| input.of(buffer, first + i));
            messages.finish(n, &mut buffer[first * n..]);
        }
    }

    /// Chains of hashes: each value of n bytes becomes the hash of its head and itself, as many times as its head says; the head's last byte
    /// counts the steps. Heads are asked for in the order of the values.
    ///
    /// Variable time in the numbers of steps, which signatures show.
    pub(crate) fn chains<const HEAD: usize>(
        self,
        n: usize,
        count: usize,
        head: &mut dyn FnMut() -> ([u8; HEAD], u32),
        values: &mut [u8],
    ) {
        let mut job = || {
            let (head, steps) = head();
            (head, steps, None)
        };
        self.chains_through(n, count, &mut job, values, &mut |_, _| ());
    }

    /// Chains as those of [`chains`](Self::chains). `take` receives the number of a chain and its value after the number of steps that its
    /// head comes with, if it comes with one.
    pub(crate) fn chains_through<const HEAD: usize>(
        self,
        n: usize,
        count: usize,
        head: &mut dyn FnMut() -> ([u8; HEAD], u32, Option<u32>),
        values: &mut [u8],
        take: &mut dyn FnMut(usize, &[u8]),
    ) {
        match self {
            Self::Sha256(prefix, before) => {
                let len = (before + HEAD + n) as u32;
                let form = Form { prefix, len, words: n >> 2, bits: 8 * (HEAD as u32 - 20) };
                chains::run(&mut chains::Sha256::new(form), n, count, head, values, take);
            }
            Self::Shake256(prefix) => {
                chains::run(&mut chains::Shake256::new(prefix, n), n, count, head, values, take);
            }
            Self::Sha512(..) | Self::Shake128(_) => unreachable!("no standard has such chains"),
        }
    }
}

fn load_32(rows: &mut Rows32<16>, lane: usize, block: &[u8; 64]) {
    for (row, word) in rows.0.iter_mut().zip(block.as_chunks().0) {
        row[lane] = u32::from_be_bytes(*word);
    }
}

fn load_64(rows: &mut Rows64<16>, lane: usize, block: &[u8; 128]) {
    for (row, word) in rows.0.iter_mut().zip(block.as_chunks().0) {
        row[lane] = u64::from_be_bytes(*word);
    }
}
