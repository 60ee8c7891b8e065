//! Messages of one length, hashed side by side in pieces.

use core::ops::BitOrAssign;

use zeroize::DefaultIsZeroes;

use super::Function;
use crate::secret::wipe;
use crate::sha2_lanes::{LANES_32, LANES_64, Rows32, Rows64, active};
use crate::sha3::{
    Aligned, LANES, Shake256, State, absorb_at, from_byte, lanes, permute_aligned, permuted, squeeze,
};

/// Hashes of messages on their way, at most [`Function::lanes`].
pub(crate) struct Messages {
    busy: usize,
    hashes: Hashes,
}

// On the stack; none is moved.
#[allow(clippy::large_enum_variant)]
enum Hashes {
    Sha256(Sha2<u32>),
    Sha512(Sha2<u64>),
    Shake256 { states: [Aligned; LANES], place: usize },
}

impl Messages {
    /// Hashes of `busy` messages behind their heads; calls `head` once for each, in their order.
    pub(crate) fn new<const HEAD: usize>(
        function: Function<'_>,
        busy: usize,
        head: &mut dyn FnMut() -> [u8; HEAD],
    ) -> Self {
        let hashes = match function {
            Function::Sha256(state, len) => Hashes::Sha256(Sha2::new(state, len)),
            Function::Sha512(state, len) => Hashes::Sha512(Sha2::new(state, len)),
            Function::Shake256(_) => {
                Hashes::Shake256 { states: [const { Aligned(State::new()) }; LANES], place: 0 }
            }
        };
        let mut messages = Self { busy, hashes };
        if let Function::Shake256(prefix) = function {
            messages.update(|_| prefix);
        }
        let mut heads = [[0; HEAD]; LANES_32];
        heads[..busy].fill_with(head);
        messages.update(|i| &heads[i]);
        messages
    }

    /// Continues each message with a piece; all pieces have the same length.
    pub(crate) fn update<'p>(&mut self, piece: impl Fn(usize) -> &'p [u8]) {
        let busy = self.busy;
        match &mut self.hashes {
            Hashes::Sha256(hashes) => hashes.update(busy, piece),
            Hashes::Sha512(hashes) => hashes.update(busy, piece),
            Hashes::Shake256 { states, place } => {
                let (mut from, len) = (0, piece(0).len());
                while from < len {
                    let to = len.min(from + Shake256::RATE - *place);
                    for (i, state) in states[..busy].iter_mut().enumerate() {
                        absorb_at(&mut state.0, *place, &piece(i)[from..to]);
                    }
                    *place += to - from;
                    from = to;
                    if *place == Shake256::RATE {
                        permute(states, busy);
                        *place = 0;
                    }
                }
            }
        }
    }

    /// Writes the first n bytes of each hash to `out`, one after the other.
    pub(crate) fn finish(mut self, n: usize, out: &mut [u8]) {
        match &mut self.hashes {
            Hashes::Sha256(hashes) => hashes.finish(self.busy, n, out),
            Hashes::Sha512(hashes) => hashes.finish(self.busy, n, out),
            Hashes::Shake256 { states, place } => {
                for state in &mut states[..self.busy] {
                    state.0.0[*place >> 3] ^= from_byte(0x1f, *place & 7);
                    // The last bit is the last in either form of a lane.
                    state.0.0[(Shake256::RATE >> 3) - 1] ^= 1 << 63;
                }
                permute(states, self.busy);
                for (i, state) in states[..self.busy].iter_mut().enumerate() {
                    squeeze(&state.0, &mut out[i * n..][..n]);
                    wipe(&mut state.0.0);
                }
            }
        }
    }
}

/// Permutes the first `busy` states.
pub(super) fn permute(states: &mut [Aligned; LANES], busy: usize) {
    permute_aligned(&mut states[..permuted(busy, lanes()).min(LANES)]);
}

/// A word of SHA-256 or SHA-512 and its rows.
trait Word: Copy + BitOrAssign + DefaultIsZeroes {
    const LANES: usize;
    type Rows<const N: usize>;

    fn splat(words: [Self; 8]) -> Self::Rows<8>;

    fn zero() -> Self::Rows<16>;

    /// The words of the rows, one row after the other.
    fn words<const N: usize>(rows: &mut Self::Rows<N>) -> &mut [Self];

    fn compress(state: &mut Self::Rows<8>, block: &Self::Rows<16>, busy: usize);

    /// The word with these bytes first and then zeros, all to the right by `bytes` bytes.
    fn from_bytes(first: &[u8], bytes: usize) -> Self;

    fn write(self, out: &mut [u8]);
}

macro_rules! word {
    ($word:ident, $rows:ident, $lanes:ident, $compress:ident) => {
        impl Word for $word {
            const LANES: usize = $lanes;
            type Rows<const N: usize> = $rows<N>;

            fn splat(words: [Self; 8]) -> $rows<8> {
                $rows(words.map(|word| [word; $lanes]))
            }

            fn zero() -> $rows<16> {
                $rows::ZERO
            }

            #[inline(always)]
            fn words<const N: usize>(rows: &mut $rows<N>) -> &mut [Self] {
                rows.0.as_flattened_mut()
            }

            fn compress(state: &mut $rows<8>, block: &$rows<16>, busy: usize) {
                (active().$compress)(state, block, busy);
            }

            #[inline(always)]
            fn from_bytes(first: &[u8], bytes: usize) -> Self {
                if let Ok(first) = first.try_into() {
                    return Self::from_be_bytes(first);
                }
                let word = first.iter().fold(0, |word, byte| word << 8 | Self::from(*byte));
                word << (8 * (size_of::<Self>() - first.len() - bytes))
            }

            #[inline(always)]
            fn write(self, out: &mut [u8]) {
                out.copy_from_slice(&self.to_be_bytes()[..out.len()]);
            }
        }
    };
}

word!(u32, Rows32, LANES_32, compress_32);
word!(u64, Rows64, LANES_64, compress_64);

struct Sha2<W: Word> {
    state: W::Rows<8>,
    block: W::Rows<16>,
    /// Bytes before those to come.
    len: usize,
}

impl<W: Word> Sha2<W> {
    const BLOCK: usize = 16 * size_of::<W>();

    fn new(state: [W; 8], len: usize) -> Self {
        Self { state: W::splat(state), block: W::zero(), len }
    }

    fn update<'p>(&mut self, busy: usize, piece: impl Fn(usize) -> &'p [u8]) {
        let (mut from, len) = (0, piece(0).len());
        while from < len {
            let place = self.len & (Self::BLOCK - 1);
            let to = len.min(from + Self::BLOCK - place);
            for lane in 0..busy {
                self.put(lane, place, &piece(lane)[from..to]);
            }
            self.len += to - from;
            from = to;
            if self.len & (Self::BLOCK - 1) == 0 {
                self.compress(busy);
            }
        }
    }

    /// Writes bytes of a lane, which are zero, from `place` on.
    #[inline(always)]
    fn put(&mut self, lane: usize, place: usize, bytes: &[u8]) {
        let width = size_of::<W>();
        let words = &mut W::words(&mut self.block)[lane..];
        let mut row = place >> width.trailing_zeros();
        let skipped = place & (width - 1);
        let (first, rest) = bytes.split_at(bytes.len().min((width - skipped) & (width - 1)));
        if !first.is_empty() {
            words[row * W::LANES] |= W::from_bytes(first, skipped);
            row += 1;
        }
        let mut whole = rest.chunks_exact(size_of::<W>());
        for bytes in &mut whole {
            words[row * W::LANES] = W::from_bytes(bytes, 0);
            row += 1;
        }
        if !whole.remainder().is_empty() {
            words[row * W::LANES] |= W::from_bytes(whole.remainder(), 0);
        }
    }

    fn compress(&mut self, busy: usize) {
        W::compress(&mut self.state, &self.block, busy);
        wipe(W::words(&mut self.block));
    }

    fn finish(&mut self, busy: usize, n: usize, out: &mut [u8]) {
        let bits = 8 * self.len as u64;
        let place = self.len & (Self::BLOCK - 1);
        for lane in 0..busy {
            self.put(lane, place, &[0x80]);
        }
        if place >= Self::BLOCK - (Self::BLOCK >> 3) {
            self.compress(busy);
        }
        for lane in 0..busy {
            self.put(lane, Self::BLOCK - 8, &bits.to_be_bytes());
        }
        self.compress(busy);
        let state = W::words(&mut self.state);
        for lane in 0..busy {
            let out = out[lane * n..][..n].chunks_exact_mut(size_of::<W>());
            for (row, bytes) in out.enumerate() {
                state[row * W::LANES + lane].write(bytes);
            }
        }
        wipe(state);
    }
}
