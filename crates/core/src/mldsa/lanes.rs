//! The sponges of ML-DSA side by side: what has memory for it is faster (FIPS 204, §7.3).

use alloc::vec;
use alloc::vec::Vec;
use core::marker::PhantomData;

use zeroize::Zeroize;

use super::kernels::{Kernels, active};
use super::message::Message;
use super::params::sealed::Parameters;
use super::ring::{N, Poly};
use super::sample::{Masks, place_vartime};
use crate::cpu::Level;
use crate::engine::{self, Absorber, Sponges, load};
use crate::secret::wipe;
use crate::sha3::{
    Abreast, Block, LANES, Shake128, Shake256, Squeeze, State, WIDE, lanes, permute_sponge, squeeze,
    squeeze_eight, squeezed,
};

/// Polynomials to be filled. `vec!` would copy each from one of zeros.
pub(crate) fn polynomials(count: usize) -> Vec<Poly> {
    (0..count).map(|_| Poly::ZERO).collect()
}

/// True if the table in force is for vectors: then sponges run side by side, and matrices are made on the heap.
pub(crate) fn is_wide() -> bool {
    active().level >= Level::Neon
}

/// Makes a sponge that has absorbed `seed` and `place`, two bytes, and is padded as SHAKE.
fn sponge(state: &mut State, seed: &[u8], place: [u8; 2], rate: usize) {
    load(state, seed, u64::from(u16::from_le_bytes(place)) | 0x1f << 16, rate);
}

/// Adds what μ is the hash of, but for the permutation of its last block, to a state that is empty; false, if μ is given.
#[inline(never)]
pub(crate) fn absorb_message(
    state: &mut State,
    tr: &[u8; 64],
    message: &Message<'_>,
    mu: &mut [u8; 64],
) -> bool {
    let mut absorber = Absorber::SHAKE;
    message.represent(tr, mu, |pieces, _| {
        while absorber.feed(state, pieces, true) && !absorber.is_padded {
            permute_sponge(state);
        }
    });
    absorber.is_padded
}

/// SHAKE256 of each of `count` messages, side by side: `pieces` hands over those of a message, in all its blocks the same,
/// or none where nothing is to be hashed, and `done` has the state that the output is squeezed of.
///
/// Variable time: the lengths are public.
pub(crate) fn hash_side_by_side(
    count: usize,
    pieces: impl FnMut(usize, &mut dyn FnMut(&[&[u8]])),
    done: impl FnMut(usize, &State),
) {
    engine::run::<_, { 1 + LANES }>(&mut Messages { next: 0, count, pieces, done });
}

struct Messages<P, D> {
    next: usize,
    count: usize,
    pieces: P,
    done: D,
}

impl<P: FnMut(usize, &mut dyn FnMut(&[&[u8]])), D: FnMut(usize, &State)> Messages<P, D> {
    fn feed(&mut self, message: usize, absorber: &mut Absorber, state: &mut State) -> bool {
        let mut is_fed = false;
        (self.pieces)(message, &mut |pieces| is_fed = absorber.feed(state, pieces, true));
        is_fed
    }
}

impl<P: FnMut(usize, &mut dyn FnMut(&[&[u8]])), D: FnMut(usize, &State)> Sponges for Messages<P, D> {
    type Job = (usize, Absorber);
    const IDLE: Self::Job = (0, Absorber::SHAKE);

    fn begin(&mut self, state: &mut State) -> Option<Self::Job> {
        state.0 = [0; 25];
        while self.next < self.count {
            let (message, mut absorber) = (self.next, Absorber::SHAKE);
            self.next += 1;
            if self.feed(message, &mut absorber, state) {
                return Some((message, absorber));
            }
        }
        None
    }

    fn step(&mut self, (message, absorber): &mut Self::Job, state: &mut State) -> bool {
        if !absorber.is_padded {
            return self.feed(*message, absorber, state);
        }
        (self.done)(*message, state);
        false
    }

    fn is_secret(&self) -> bool {
        false
    }
}

/// μ of each of at most eight messages, which come with tr, side by side; where it is given, nothing is hashed.
pub(crate) fn represent_side_by_side<'m>(
    message: impl Fn(usize) -> (&'m [u8; 64], &'m Message<'m>),
    mu: &mut [[u8; 64]],
) {
    for (i, mu) in mu.iter_mut().enumerate() {
        let (tr, message) = message(i);
        message.represent(tr, mu, |_, _| ());
    }
    let pieces = |i, feed: &mut dyn FnMut(&[&[u8]])| {
        let (tr, message) = message(i);
        message.represent(tr, &mut [0; 64], |pieces, _| feed(pieces));
    };
    hash_side_by_side(mu.len(), pieces, |i, state| squeeze(state, &mut mu[i]));
}

/// What is done beside the sampling of a matrix: with its rows as they come, and with one more lane.
pub(crate) trait Beside {
    /// This row of the matrix, every `stride`-th polynomial of `a`, is complete, as are those before it and `s`.
    fn row(&mut self, a: &mut [Poly], stride: usize, s: &mut [Poly], row: usize);

    /// Adds the next block of what is to be hashed to the state of the lane; false if there is none now.
    fn feed(&mut self, hash: &mut State) -> bool;

    /// Whether the hash goes on long after a matrix that so many lanes sample: then few of them at the end are the cheaper ones.
    fn outlasts(&self, _lanes: usize) -> bool {
        false
    }
}

/// How many polynomials are begun of those that so many lanes sample last, so that all lanes are busy to the end; 0 where it does not
/// pay (decision 17).
fn held<P: Parameters>(lanes: usize, has_secrets: bool) -> usize {
    let pays = WIDE
        && match P::K {
            4 => true,
            6 => lanes < 8 || !has_secrets,
            _ => false,
        };
    if pays { lanes + (lanes >> 1) } else { 0 }
}

/// Room for them.
const HELD: usize = LANES + (LANES >> 1);

/// How many rows of a matrix are kept that is used as it comes: those that eight lanes are at, and the one that is used.
pub(crate) const KEPT: usize = 4;

/// FIPS 204, Algorithm 32 (ExpandA), to `a`, column by column; before it, if there is a ρ′, Algorithm 33 (ExpandS) to
/// `s`; and what `beside` does. A column of `a` has `kept` places, K or [`KEPT`]: a row that `beside` had makes room.
///
/// The last polynomials are all begun, more than there are lanes, and those that can wait least have a turn.
///
/// Variable time: the matrix is public, and so must be the lengths of what is hashed.
#[inline(never)]
pub(crate) fn expand<P: Parameters>(
    kernels: &Kernels,
    rho: &[u8; 32],
    rho_prime: Option<&[u8; 64]>,
    s: &mut [Poly],
    a: &mut [Poly],
    kept: usize,
    beside: &mut impl Beside,
) {
    let lanes = lanes();
    let mut sampling = Sampling::<P, _> {
        kernels,
        kept,
        rho,
        rho_prime,
        secrets: if rho_prime.is_some() { s.len() } else { 0 },
        s,
        a,
        held: if beside.outlasts(lanes) { 0 } else { held::<P>(lanes, rho_prime.is_some()) },
        beside,
        filled: [0; 71],
        later: [0; 71],
        next: 0,
        next_row: 0,
        set: PhantomData,
    };
    engine::run::<_, { 1 + HELD }>(&mut sampling);
}

/// The polynomials of a key in the making: s has the first numbers, then comes the matrix row by row.
struct Sampling<'a, P, B> {
    kernels: &'a Kernels,
    /// How many rows there is room for.
    kept: usize,
    rho: &'a [u8; 32],
    rho_prime: Option<&'a [u8; 64]>,
    /// How many polynomials of s there are to sample.
    secrets: usize,
    s: &'a mut [Poly],
    a: &'a mut [Poly],
    /// How many polynomials are begun of the last.
    held: usize,
    beside: &'a mut B,
    filled: [u16; 15 + 56],
    /// How much longer each can wait than one of the first row: by three blocks for each row before it, in which its own is not yet
    /// asked for.
    later: [u16; 15 + 56],
    /// The number of polynomials that were begun.
    next: usize,
    next_row: usize,
    set: PhantomData<P>,
}

impl<P: Parameters, B> Sampling<'_, P, B> {
    /// Which polynomial comes next. For ML-DSA-44 the first row comes before s, so that the hash has something to do
    /// sooner; with longer rows it is the slower order.
    fn job(&self, i: usize) -> usize {
        match i {
            _ if P::K > 4 || i >= P::L + self.secrets => i,
            _ if i < P::L => self.secrets + i,
            _ => i - P::L,
        }
    }

    // By the compiler.
    #[allow(clippy::integer_division_remainder_used)]
    fn place(i: usize) -> (usize, usize) {
        (i / P::L, i % P::L)
    }

    /// The place of a row.
    fn row(&self, row: usize) -> usize {
        row & (self.kept.next_power_of_two() - 1)
    }
}

impl<P: Parameters, B: Beside> Sponges for Sampling<'_, P, B> {
    type Job = usize;
    const IDLE: usize = 0;

    fn chain(&mut self, state: &mut State) -> bool {
        self.beside.feed(state)
    }

    fn room(&mut self, busy: usize, lanes: usize) -> usize {
        let begun_soon = WIDE && self.secrets + P::L * P::K - self.next + busy <= self.held;
        if begun_soon { self.held } else { lanes }
    }

    fn begin(&mut self, state: &mut State) -> Option<usize> {
        /// Of SHAKE128, in coefficients.
        const BLOCK: u16 = 56;
        // There are places for so many polynomials, of s and of the matrix, now.
        if self.next == self.secrets + P::L * P::K.min(self.next_row + self.kept) {
            return None;
        }
        let i = self.job(self.next);
        self.next += 1;
        match self.rho_prime {
            Some(rho_prime) if i < self.secrets => {
                sponge(state, rho_prime, (i as u16).to_le_bytes(), Shake256::RATE);
            }
            _ => {
                let (row, column) = Self::place(i - self.secrets);
                self.later[i] = 3 * BLOCK * row as u16;
                sponge(state, self.rho, [column as u8, row as u8], Shake128::RATE);
            }
        }
        Some(i)
    }

    fn patience(&self, i: usize) -> u16 {
        self.filled[i] + self.later[i]
    }

    fn step(&mut self, i: &mut usize, state: &mut State) -> bool {
        let i = *i;
        let filled = usize::from(self.filled[i]);
        let filled = if i < self.secrets {
            squeezed::<{ Shake256::RATE }>(state, |block| {
                (self.kernels.reject_bounded)(&mut self.s[i], filled, block, P::ETA)
            })
        } else {
            let (row, column) = Self::place(i - self.secrets);
            let place = column * self.kept + self.row(row);
            squeezed::<{ Shake128::RATE }>(state, |block| {
                (self.kernels.reject_uniform)(&mut self.a[place], filled, block)
            })
        };
        self.filled[i] = filled as u16;
        let is_full = |filled: &u16| usize::from(*filled) == N;
        while is_full(&self.filled[i]) && self.next_row < P::K {
            let (secrets, rows) = self.filled.split_at(self.secrets);
            let row = &rows[self.next_row * P::L..][..P::L];
            if !row.iter().all(is_full) || !secrets.iter().all(is_full) {
                break;
            }
            let first = self.row(self.next_row);
            self.beside.row(&mut self.a[first..], self.kept, self.s, self.next_row);
            self.next_row += 1;
        }
        filled < N
    }

    fn is_secret(&self) -> bool {
        self.rho_prime.is_some()
    }
}

/// FIPS 204, Algorithm 29 (SampleInBall), of at most eight c̃, side by side.
pub(crate) fn challenges_vartime<P: Parameters>(c_tilde: &[&[u8]], mut out: impl FnMut(usize, &[u16])) {
    hash_side_by_side(
        c_tilde.len(),
        |i, feed| feed(&[c_tilde[i]]),
        |i, state| {
            let mut block = [0; Shake256::RATE];
            squeeze(state, &mut block);
            let (mut places, mut more) = ([0; 64], None);
            let more = || {
                // Hardly ever: all of the first block was not enough.
                let more = more.get_or_insert_with(|| behind_the_first_block(c_tilde[i]));
                let mut byte = [0];
                more.squeeze(&mut byte);
                byte[0]
            };
            place_vartime::<P>(&block, more, &mut places);
            out(i, &places[..P::TAU]);
        },
    );
}

/// What SHAKE256 gives of a message behind its first block.
fn behind_the_first_block(message: &[u8]) -> Squeeze {
    let mut output = Shake256::new().update(message).finalize_xof();
    output.squeeze(&mut [0; Shake256::RATE]);
    output
}

/// FIPS 204, Algorithm 32 (ExpandA), for one ρ after the other: eight polynomials at a time, of whichever matrix they are. `take`
/// has each row as soon as it is there: of which ρ, its number, its L polynomials and one more. `matrix` has room for [`KEPT`] rows.
///
/// Variable time: the matrix is public.
pub(crate) fn expand_many<'r, P: Parameters>(
    kernels: &Kernels,
    rho: impl Iterator<Item = &'r [u8; 32]>,
    matrix: &mut [Poly],
    mut take: impl FnMut(usize, usize, &mut [Poly]),
) {
    let mut entries = rho.enumerate().flat_map(|(item, rho)| {
        (0..P::K).flat_map(move |row| (0..P::L).map(move |column| MatrixEntry { item, rho, row, column }))
    });
    // Eight polynomials and those before them in a row that is not yet complete are of three rows at most.
    const { assert!(P::L >= 4 && KEPT >= 3 && KEPT.is_power_of_two()) };
    let first_of_row = |entry: &MatrixEntry<'_>| (P::L + 1) * ((entry.item * P::K + entry.row) & (KEPT - 1));
    while let Some(entry) = entries.next() {
        let (mut batch, mut count) = ([entry; LANES], 1);
        for (place, entry) in batch[1..].iter_mut().zip(&mut entries) {
            *place = entry;
            count += 1;
        }
        let batch = &batch[..count];
        sample_side_by_side(batch, |entry, filled, block| {
            (kernels.reject_uniform)(&mut matrix[first_of_row(entry) + entry.column], filled, block)
        });
        for entry in batch.iter().filter(|entry| entry.column == P::L - 1) {
            take(entry.item, entry.row, &mut matrix[first_of_row(entry)..][..P::L + 1]);
        }
    }
}

/// An entry of one of many matrices.
#[derive(Clone, Copy)]
struct MatrixEntry<'r> {
    item: usize,
    rho: &'r [u8; 32],
    row: usize,
    column: usize,
}

impl MatrixEntry<'_> {
    /// With which ρ is hashed.
    const fn place(&self) -> [u8; 2] {
        [self.column as u8, self.row as u8]
    }
}

/// Squeezes the sponges of these entries, at most eight, until all polynomials are full: `take` reads a block into that of an entry,
/// from the place that it has reached, and says which it reaches.
fn sample_side_by_side(
    entries: &[MatrixEntry<'_>],
    mut take: impl FnMut(&MatrixEntry<'_>, usize, &[u8; Shake128::RATE]) -> usize,
) {
    if entries.len() == 8
        && let Some(squeeze_eight) = squeeze_eight()
    {
        let mut filled = [0; 8];
        let mut sponges = Abreast::of_seeds(entries.iter().map(|entry| (entry.rho, entry.place())));
        let mut blocks = [const { Block::ZERO }; 8];
        while filled.iter().any(|filled| *filled < N) {
            squeeze_eight(&mut sponges, &mut blocks);
            for ((entry, filled), block) in entries.iter().zip(&mut filled).zip(&blocks) {
                *filled = take(entry, *filled, block.shake128());
            }
        }
        return;
    }
    engine::run::<_, { 1 + LANES }>(&mut Entries { entries, next: 0, take });
}

struct Entries<'e, 'r, T> {
    entries: &'e [MatrixEntry<'r>],
    next: usize,
    take: T,
}

impl<T: FnMut(&MatrixEntry<'_>, usize, &[u8; Shake128::RATE]) -> usize> Sponges for Entries<'_, '_, T> {
    /// The entry, and how many coefficients it has.
    type Job = (usize, usize);
    const IDLE: (usize, usize) = (0, 0);

    fn begin(&mut self, state: &mut State) -> Option<(usize, usize)> {
        let entry = self.entries.get(self.next)?;
        sponge(state, entry.rho, entry.place(), Shake128::RATE);
        self.next += 1;
        Some((self.next - 1, 0))
    }

    fn step(&mut self, (entry, filled): &mut (usize, usize), state: &mut State) -> bool {
        *filled = squeezed(state, |block| (self.take)(&self.entries[*entry], *filled, block));
        *filled < N
    }

    fn is_secret(&self) -> bool {
        false
    }
}

/// One hash beside the matrix, and nothing else.
pub(crate) struct Hash<'a> {
    pub(crate) message: &'a [u8],
    pub(crate) absorber: Absorber,
    /// H(message, 64), when all is done.
    pub(crate) digest: [u8; 64],
}

impl Beside for Hash<'_> {
    fn row(&mut self, _: &mut [Poly], _: usize, _: &mut [Poly], _: usize) {}

    fn feed(&mut self, hash: &mut State) -> bool {
        if self.absorber.is_padded {
            squeeze(hash, &mut self.digest);
        }
        self.absorber.feed(hash, &[self.message], true)
    }
}

/// As many masks as the table permutes side by side; those that one attempt leaves are the next one's. Three or
/// seven more come beside the hash of the challenge, if an attempt will want them.
pub(crate) struct MaskBatch<'a> {
    rho_second: &'a [u8; 64],
    kappa: u16,
    /// The first of those that are ready, mod `RING`, and their number.
    first: usize,
    ready: usize,
    packed: Vec<[u8; 640]>,
    /// μ and all of w1, packed: what c̃ is the hash of.
    input: Vec<u8>,
    /// Room for ŷ.
    pub(crate) y_hat: Vec<Poly>,
}

/// 64 bytes, and of w1 the most that a set has.
pub(crate) const INPUT: usize = 64 + 8 * 128;

/// Six masks that were not enough for an attempt, and seven more.
const RING: usize = 16;

impl MaskBatch<'_> {
    /// Makes so many masks of `length` bytes behind those that are ready, and H of the input beside them.
    #[inline(never)]
    fn make(&mut self, count: usize, length: usize, input: Option<&[u8]>, digest: &mut [u8]) {
        let mut making =
            MasksAndHash { batch: self, count, next: 0, length, input, absorber: Absorber::SHAKE, digest };
        engine::run::<_, { 1 + LANES }>(&mut making);
        self.ready += count;
    }
}

/// Masks in the making, and the hash of a challenge.
struct MasksAndHash<'m, 'a> {
    batch: &'m mut MaskBatch<'a>,
    count: usize,
    /// The number of masks that were begun.
    next: usize,
    length: usize,
    input: Option<&'m [u8]>,
    absorber: Absorber,
    digest: &'m mut [u8],
}

impl Sponges for MasksAndHash<'_, '_> {
    /// The place of the mask, and how many bytes it has.
    type Job = (usize, usize);
    const IDLE: (usize, usize) = (0, 0);

    fn chain(&mut self, state: &mut State) -> bool {
        let Some(input) = self.input else { return false };
        if self.absorber.is_padded {
            squeeze(state, self.digest);
        }
        self.absorber.feed(state, &[input], true)
    }

    fn begin(&mut self, state: &mut State) -> Option<(usize, usize)> {
        if self.next == self.count {
            return None;
        }
        let batch = &mut self.batch;
        sponge(state, batch.rho_second, batch.kappa.to_le_bytes(), Shake256::RATE);
        batch.kappa = batch.kappa.wrapping_add(1);
        let place = (batch.first + batch.ready + self.next) & (RING - 1);
        self.next += 1;
        Some((place, 0))
    }

    fn step(&mut self, (place, filled): &mut (usize, usize), state: &mut State) -> bool {
        let end = self.length.min(*filled + Shake256::RATE);
        squeeze(state, &mut self.batch.packed[*place][*filled..end]);
        *filled = end;
        end < self.length
    }
}

impl<'a> Masks<'a> for MaskBatch<'a> {
    fn new(rho_second: &'a [u8; 64]) -> Self {
        Self {
            rho_second,
            kappa: 0,
            first: 0,
            ready: 0,
            packed: vec![[0; 640]; RING],
            input: vec![0; INPUT],
            y_hat: Vec::new(),
        }
    }

    fn next(&mut self, packed: &mut [u8]) {
        if self.ready == 0 {
            self.make(lanes(), packed.len(), None, &mut []);
        }
        packed.copy_from_slice(&self.packed[self.first][..packed.len()]);
        self.first = (self.first + 1) & (RING - 1);
        self.ready -= 1;
    }

    fn challenge<P: Parameters>(
        &mut self,
        mu: &[u8; 64],
        mut pack_row: impl FnMut(usize, &mut [u8]),
        c_tilde: &mut [u8],
    ) {
        const { assert!(64 + P::K * P::W1_BYTES <= INPUT) };
        let mut input = core::mem::take(&mut self.input);
        let (head, rows) = input[..64 + P::K * P::W1_BYTES].split_at_mut(64);
        head.copy_from_slice(mu);
        for (row, packed) in rows.chunks_exact_mut(P::W1_BYTES).enumerate() {
            pack_row(row, packed);
        }
        // With masks in the lanes beside it if the next attempt will want more than there are.
        let lanes = lanes();
        let count = if self.ready < P::L && lanes > 2 { lanes - 1 } else { 0 };
        self.make(count, P::Z_BYTES, Some(&input[..64 + P::K * P::W1_BYTES]), c_tilde);
        self.input = input;
    }
}

impl Drop for MaskBatch<'_> {
    fn drop(&mut self) {
        wipe(self.packed.as_flattened_mut());
        wipe(&mut self.input);
        self.y_hat.iter_mut().for_each(Zeroize::zeroize);
    }
}

#[cfg(test)]
mod tests {
    use super::super::kernels::active;
    use super::super::sample::{EachMask, expand_s, sample_a};
    use super::super::{MlDsa44, MlDsa65, MlDsa87};
    use super::*;

    /// Compares each row with what the single sampler gives.
    struct Compare<'a, P> {
        rho: &'a [u8; 32],
        rows: usize,
        /// How many blocks the lane of the hash is still busy with.
        blocks: usize,
        /// How often that was asked.
        asked: usize,
        /// How often until the last row.
        rounds: usize,
        set: PhantomData<P>,
    }

    impl<'a, P: Parameters> Compare<'a, P> {
        fn new(rho: &'a [u8; 32], blocks: usize) -> Self {
            Self { rho, rows: 0, blocks, asked: 0, rounds: 0, set: PhantomData }
        }
    }

    impl<P: Parameters> Beside for Compare<'_, P> {
        fn row(&mut self, a: &mut [Poly], stride: usize, _: &mut [Poly], row: usize) {
            assert_eq!(row, self.rows);
            for (column, a) in a.iter().step_by(stride).take(P::L).enumerate() {
                let mut alone = Poly::ZERO;
                sample_a(active(), self.rho, row, column, &mut alone);
                assert_eq!(alone, *a);
            }
            self.rows += 1;
            self.rounds = self.asked;
        }

        fn feed(&mut self, _: &mut State) -> bool {
            self.asked += 1;
            self.blocks = self.blocks.saturating_sub(1);
            self.blocks > 0
        }
    }

    #[test]
    fn rows_are_right_when_few_are_kept() {
        fn test<P: Parameters>() {
            for (blocks, kept) in
                [0, 1, 12, 1_000].into_iter().flat_map(|blocks| [(blocks, KEPT), (blocks, P::K)])
            {
                let (rho, mut matrix) = ([9; 32], std::vec![Poly::ZERO; kept * P::L]);
                let mut rows = Compare::<P>::new(&rho, blocks);
                expand::<P>(active(), &rho, None, &mut [], &mut matrix, kept, &mut rows);
                assert_eq!(rows.rows, P::K);
            }
        }
        test::<MlDsa44>();
        test::<MlDsa65>();
        test::<MlDsa87>();
    }

    #[test]
    fn hardly_a_lane_is_idle_before_the_matrix_is_complete() {
        fn test<P: Parameters>() {
            for blocks in [0, 1_000] {
                let free = if blocks == 0 { lanes() } else { lanes() - 1 };
                let (rho, mut matrix) = ([9; 32], std::vec![Poly::ZERO; P::K * P::L]);
                let mut rows = Compare::<P>::new(&rho, blocks);
                expand::<P>(active(), &rho, None, &mut [], &mut matrix, P::K, &mut rows);
                // Five blocks a polynomial.
                let least = (5 * P::K * P::L).div_ceil(free);
                assert!((least..=least + 1).contains(&rows.rounds), "{} {least}", rows.rounds);
            }
        }
        if lanes() >= 4 {
            test::<MlDsa44>();
            test::<MlDsa65>();
            test::<MlDsa87>();
        }
    }

    #[test]
    fn matrices_one_after_the_other_are_those_of_each() {
        fn test<P: Parameters>() {
            for count in [1, 2, 3, 7, 8, 9] {
                let rho: std::vec::Vec<[u8; 32]> = (0..count).map(|item| [item as u8; 32]).collect();
                let mut matrix = std::vec![Poly::ZERO; KEPT * (P::L + 1)];
                let mut next = (0, 0);
                expand_many::<P>(active(), rho.iter(), &mut matrix, |item, row, a| {
                    assert_eq!((item, row, a.len()), (next.0, next.1, P::L + 1));
                    next = if row + 1 < P::K { (item, row + 1) } else { (item + 1, 0) };
                    for (column, a) in a[..P::L].iter().enumerate() {
                        let mut alone = Poly::ZERO;
                        sample_a(active(), &rho[item], row, column, &mut alone);
                        assert_eq!(alone, *a);
                    }
                });
                assert_eq!(next, (count, 0));
            }
        }
        test::<MlDsa44>();
        test::<MlDsa65>();
        test::<MlDsa87>();
    }

    #[test]
    fn messages_of_any_length_and_form_are_represented_side_by_side_as_alone() {
        let bytes = [7; 1_000];
        let (tr, given) = ([3; 64], [4; 64]);
        let digest = super::super::PreHash::Sha2_256.digest(b"digest");
        // With tr and two bytes before them, up to a block, all of it, and more.
        let lengths = [0, 1, 69, 70, 71, 205, 206, 207, 1_000];
        let mut messages: std::vec::Vec<Message<'_>> =
            lengths.iter().map(|length| Message::from(&bytes[..*length])).collect();
        messages.extend([
            Message::pure(&bytes[..9], &bytes[..255]).expect("as long as a context may be"),
            Message::prehashed(&digest, b"context").expect("short"),
            Message::internal(&bytes[..72]),
            Message::mu(&given),
            Message::mu(&given),
        ]);
        for first in 0..messages.len() {
            for count in 0..=LANES {
                let some: std::vec::Vec<_> = messages.iter().cycle().skip(first).take(count).collect();
                let mut mu = std::vec![[0; 64]; count];
                represent_side_by_side(|i| (&tr, some[i]), &mut mu);
                let expected: std::vec::Vec<_> =
                    some.iter().map(|message| message.representative(&tr)).collect();
                assert_eq!(mu, expected);
            }
        }
    }

    #[test]
    fn what_comes_behind_the_first_block_is_the_rest_of_the_output() {
        let (mut rest, mut all) = ([0; 300], [0; 300 + Shake256::RATE]);
        behind_the_first_block(b"message").squeeze(&mut rest);
        Shake256::digest_into(b"message", &mut all);
        assert_eq!(rest, all[Shake256::RATE..]);
    }

    #[allow(clippy::integer_division_remainder_used)]
    #[test]
    fn batches_give_what_the_single_samplers_give() {
        fn test<P: Parameters>() {
            let (rho, rho_prime) = ([7; 32], [3; 64]);
            let mut matrix = std::vec![Poly::ZERO; P::K * P::L];
            let mut s = std::vec![Poly::ZERO; P::K + P::L];
            let lengths = [0, 7, 135, 136, 137, 2592, 20_000];
            for (length, rho_prime_given) in lengths.into_iter().zip([true, false].into_iter().cycle()) {
                let message = std::vec![5; length];
                matrix.iter_mut().for_each(|a| a.0.fill(0));
                let mut hash = Hash { message: &message, absorber: Absorber::SHAKE, digest: [0; 64] };
                let given = rho_prime_given.then_some(&rho_prime);
                expand::<P>(active(), &rho, given, &mut s, &mut matrix, P::K, &mut hash);
                let mut expected = [0; 64];
                Shake256::digest_into(&message, &mut expected);
                assert_eq!(hash.digest, expected);
                for (i, a) in matrix.iter().enumerate() {
                    let mut alone = Poly::ZERO;
                    sample_a(active(), &rho, i % P::K, i / P::K, &mut alone);
                    assert_eq!(alone, *a);
                }
            }
            for (i, s) in s.iter().enumerate() {
                let mut alone = Poly::ZERO;
                expand_s::<P>(active(), &rho_prime, i, &mut alone);
                assert_eq!(alone, *s);
            }
            let (mut each, mut batch) = (EachMask::new(&rho_prime), MaskBatch::new(&rho_prime));
            for _ in 0..40 {
                let (mut one, mut other) = ([0; 640], [0; 640]);
                each.next(&mut one[..P::Z_BYTES]);
                batch.next(&mut other[..P::Z_BYTES]);
                assert_eq!(one, other);
            }
        }
        test::<MlDsa44>();
        test::<MlDsa65>();
        test::<MlDsa87>();
    }
}
