//! Messages of one length, hashed side by side in pieces.

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
        match &mut messages.hashes {
            Hashes::Sha256(hashes) => hashes.begin(busy, head),
            Hashes::Sha512(hashes) => hashes.begin(busy, head),
            Hashes::Shake256 { .. } => {
                if let Function::Shake256(prefix) = function {
                    messages.update(|_| prefix);
                }
                let mut heads = [[0; HEAD]; LANES];
                heads[..busy].fill_with(head);
                messages.update(|i| &heads[i]);
            }
        }
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
trait Word: Copy + DefaultIsZeroes {
    const LANES: usize;
    type Rows<const N: usize>;

    fn splat(words: [Self; 8]) -> Self::Rows<8>;

    fn zero() -> Self::Rows<16>;

    /// The words of the rows, one row after the other.
    fn words<const N: usize>(rows: &mut Self::Rows<N>) -> &mut [Self];

    fn compress(state: &mut Self::Rows<8>, block: &Self::Rows<16>, busy: usize);

    fn from_bytes(bytes: &[u8]) -> Self;

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
            fn from_bytes(bytes: &[u8]) -> Self {
                Self::from_be_bytes(*bytes.first_chunk().expect("a whole word"))
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
    /// The bytes of the current block of each lane, one lane after the other.
    bytes: [u8; ALL_BLOCKS],
    /// Bytes before those to come.
    len: usize,
}

/// The bytes of a block in every lane.
const ALL_BLOCKS: usize = 64 * LANES_32;
const _: () = assert!(ALL_BLOCKS == 128 * LANES_64);

impl<W: Word> Sha2<W> {
    const BLOCK: usize = 16 * size_of::<W>();

    #[inline(always)]
    fn new(state: [W; 8], len: usize) -> Self {
        Self { state: W::splat(state), bytes: [0; ALL_BLOCKS], len }
    }

    /// Begins the messages with heads, which are shorter than a block.
    fn begin<const HEAD: usize>(&mut self, busy: usize, head: &mut dyn FnMut() -> [u8; HEAD]) {
        debug_assert!(HEAD < Self::BLOCK);
        for block in self.bytes.chunks_exact_mut(Self::BLOCK).take(busy) {
            block[..HEAD].copy_from_slice(&head());
        }
        self.len += HEAD;
    }

    fn update<'p>(&mut self, busy: usize, piece: impl Fn(usize) -> &'p [u8]) {
        let (mut from, len) = (0, piece(0).len());
        while from < len {
            let place = self.len & (Self::BLOCK - 1);
            let to = len.min(from + Self::BLOCK - place);
            for (lane, block) in self.bytes.chunks_exact_mut(Self::BLOCK).take(busy).enumerate() {
                block[place..place + to - from].copy_from_slice(&piece(lane)[from..to]);
            }
            self.len += to - from;
            from = to;
            if self.len & (Self::BLOCK - 1) == 0 {
                self.compress(busy);
            }
        }
    }

    fn compress(&mut self, busy: usize) {
        let mut rows = W::zero();
        let words = W::words(&mut rows);
        for (lane, block) in self.bytes.chunks_exact(Self::BLOCK).take(busy).enumerate() {
            let words = words[lane..].iter_mut().step_by(W::LANES);
            for (word, bytes) in words.zip(block.chunks_exact(size_of::<W>())) {
                *word = W::from_bytes(bytes);
            }
        }
        W::compress(&mut self.state, &rows, busy);
        wipe(W::words(&mut rows));
    }

    fn finish(&mut self, busy: usize, n: usize, out: &mut [u8]) {
        let bits = 8 * self.len as u64;
        let place = self.len & (Self::BLOCK - 1);
        // The length takes an eighth of a block.
        let fits = place < Self::BLOCK - (Self::BLOCK >> 3);
        for block in self.bytes.chunks_exact_mut(Self::BLOCK).take(busy) {
            block[place] = 0x80;
            block[place + 1..].fill(0);
        }
        if !fits {
            self.compress(busy);
        }
        for block in self.bytes.chunks_exact_mut(Self::BLOCK).take(busy) {
            if !fits {
                block.fill(0);
            }
            block[Self::BLOCK - 8..].copy_from_slice(&bits.to_be_bytes());
        }
        self.compress(busy);
        wipe(&mut self.bytes);
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
