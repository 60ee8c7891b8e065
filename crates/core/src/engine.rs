//! Sponges side by side: one queue of jobs and one policy of refilling lanes, for every scheme.
//!
//! A permutation of four or eight states costs at most twice that of one, so sponges that do not wait for each other share permutations. The
//! kernel table in force has the number of lanes; a scheme begins its sponges and takes their blocks.

use zeroize::Zeroize;

use crate::sha3::{
    Aligned, Shake256, State, WIDE, absorb, absorb_at, from_byte, lanes, permute_aligned, permuted,
};

/// The bytes of a block of SHA3-256 and SHAKE256.
pub(crate) const BLOCK: usize = Shake256::RATE;

/// A message on its way through SHA3-256 or SHAKE256, block by block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Absorber {
    absorbed: usize,
    /// The domain bits and the first bit of the padding.
    suffix: u8,
    /// The last block, with the padding, was added.
    pub(crate) is_padded: bool,
}

impl Absorber {
    #[cfg(feature = "alloc")]
    pub(crate) const SHA3: Self = Self::new(0b110);
    pub(crate) const SHAKE: Self = Self::new(0b1_1111);

    const fn new(suffix: u8) -> Self {
        Self { absorbed: 0, suffix, is_padded: false }
    }

    /// Adds the next block of a message in pieces to the state, if so much of it is known; false if not, and at its end.
    #[inline]
    pub(crate) fn feed(&mut self, state: &mut State, known: &[&[u8]], is_all: bool) -> bool {
        let length = || known.iter().map(|piece| piece.len()).sum::<usize>();
        if self.is_padded || !is_all && length() < self.absorbed + BLOCK {
            return false;
        }
        let (mut place, mut before) = (0, self.absorbed);
        self.absorbed += BLOCK;
        for piece in known {
            let (skipped, piece) = piece.split_at(piece.len().min(before));
            before -= skipped.len();
            // As nearly always, one piece has all of the block.
            if let Some(block) = piece.first_chunk::<BLOCK>()
                && place == 0
            {
                absorb(&mut state.0, block);
                return true;
            }
            let piece = &piece[..piece.len().min(BLOCK - place)];
            absorb_at(state, place, piece);
            place += piece.len();
        }
        if place < BLOCK {
            state.0[place >> 3] ^= from_byte(self.suffix, place & 7);
            end_block(state, BLOCK);
            self.is_padded = true;
        }
        true
    }
}

/// The last bit of the padding of a block of so many bytes.
fn end_block(state: &mut State, rate: usize) {
    // The last bit is the last in either form of a lane.
    state.0[(rate >> 3) - 1] ^= 1 << 63;
}

/// Loads a message of one block: whole words of `seed`, then less than a word, with the domain bits.
#[cfg(feature = "alloc")]
#[inline]
pub(crate) fn load(state: &mut State, seed: &[u8], end: u64, rate: usize) {
    state.0 = [0; 25];
    absorb(&mut state.0, seed);
    state.0[seed.len() >> 3] = crate::sha3::from_word(end);
    end_block(state, rate);
}

/// The sponges of a scheme.
pub(crate) trait Sponges {
    /// The part of the scheme's work that a sponge does; small, so that it travels in a register.
    type Job: Copy;
    /// The job of a lane that has none.
    const IDLE: Self::Job;

    /// Adds the next block of a chain that has a lane of its own; false if none is known now.
    #[inline(always)]
    fn chain(&mut self, _state: &mut State) -> bool {
        false
    }

    /// The number of sponges that may be on their way, of which `busy` are, beside so many free lanes.
    #[inline(always)]
    fn room(&mut self, _busy: usize, lanes: usize) -> usize {
        lanes
    }

    /// Loads the first block of the next sponge; none, if there is none now.
    fn begin(&mut self, state: &mut State) -> Option<Self::Job>;

    /// The number of sponges in the next permutation, of which `busy` are on their way.
    #[inline(always)]
    fn width(&mut self, busy: usize, lanes: usize) -> usize {
        busy.min(lanes)
    }

    /// The patience of a sponge: of those that do not all fit in a permutation, the least patient take part.
    #[inline(always)]
    fn patience(&self, _job: Self::Job) -> u16 {
        0
    }

    /// Takes the block that a permutation gave, or adds the next; false if the sponge is done.
    fn step(&mut self, job: &mut Self::Job, state: &mut State) -> bool;

    /// True if the states are wiped at the end.
    #[inline(always)]
    fn is_secret(&self) -> bool {
        true
    }
}

/// Runs sponges to their ends, and the chain, in so many places: that of the chain, and one for each sponge that may be on its way.
///
/// Variable time in the decisions of the scheme, which may depend on public values alone.
#[inline(always)]
pub(crate) fn run<S: Sponges, const PLACES: usize>(sponges: &mut S) {
    let all = lanes();
    let mut states = [const { Aligned(State::new()) }; PLACES];
    let mut jobs = [S::IDLE; PLACES];
    // Sponges stand from place 1 on; those in places of this mask are done.
    let (mut busy, mut free, mut most) = (0, 0_u32, 0);
    loop {
        let first = usize::from(!sponges.chain(&mut states[0].0));
        let lanes = first + all - 1;
        let mut running = busy - free.count_ones() as usize;
        let room = sponges.room(running, lanes);
        while running < room {
            let place = if free == 0 { busy + 1 } else { free.trailing_zeros() as usize };
            let Some(job) = sponges.begin(&mut states[place].0) else { break };
            jobs[place] = job;
            running += 1;
            if free == 0 {
                busy = running;
            } else {
                free &= free - 1;
            }
        }
        // The last sponges take the free places.
        while let Some(place) = free.checked_ilog2() {
            let place = place as usize;
            if place != busy {
                states[place].0.0 = states[busy].0.0;
                jobs[place] = jobs[busy];
            }
            free ^= 1 << place;
            busy -= 1;
        }
        if busy < first {
            break;
        }
        most = most.max(busy);
        let width = sponges.width(busy, lanes);
        // Where tables are narrow, all take part.
        while WIDE && let Some((taking, waiting)) = less_patient(sponges, &jobs[..=busy], width) {
            states.swap(taking, waiting);
            jobs.swap(taking, waiting);
        }
        permute(&mut states[first..first + permuted(1 - first + width, all)]);
        for place in 1..=width {
            if !sponges.step(&mut jobs[place], &mut states[place].0) {
                free |= 1 << place;
            }
        }
    }
    if sponges.is_secret() {
        states[..=most].iter_mut().for_each(|state| state.0.zeroize());
    }
}

/// Of the first `width` sponges one that can wait longer than one behind them, and that one.
#[inline(always)]
fn less_patient<S: Sponges>(sponges: &S, jobs: &[S::Job], width: usize) -> Option<(usize, usize)> {
    let patience = |place: &usize| sponges.patience(jobs[*place]);
    let waiting = (width + 1..jobs.len()).min_by_key(patience)?;
    let taking = (1..=width).max_by_key(patience)?;
    (patience(&waiting) < patience(&taking)).then_some((taking, waiting))
}

/// Permutes side by side.
#[inline(always)]
fn permute(states: &mut [Aligned]) {
    #[cfg(test)]
    calls::CALLS.with_borrow_mut(|calls| {
        calls[[2, 1, 0][usize::from(states.len() > 1) + usize::from(states.len() > 4)]] += 1
    });
    permute_aligned(states);
}

#[cfg(test)]
pub(crate) mod calls {
    use core::cell::RefCell;
    use std::thread_local;

    thread_local! {
        /// Calls with more than four states, with more than one, and with one.
        pub(crate) static CALLS: RefCell<[usize; 3]> = const { RefCell::new([0; 3]) };
    }
}

#[cfg(all(test, feature = "alloc"))]
mod tests {
    use super::*;
    use crate::sha3::{Sha3_256, permute_sponge, squeeze};

    #[test]
    fn messages_in_pieces_are_padded_as_the_standard_pads_them() {
        let bytes: [u8; 300] = core::array::from_fn(|i| i as u8);
        for length in [0, 1, 7, 8, 9, 134, 135, 136, 137, 271, 272, 273] {
            for (cut, next) in [(0, 0), (3, 5), (8, 8), (64, 66), (100, 101), (300, 300)] {
                let (cut, next) = (length.min(cut), length.min(next));
                let pieces: [&[u8]; 3] = [&bytes[..cut], &bytes[cut..next], &bytes[next..length]];
                let digest = |mut absorber: Absorber| {
                    let (mut state, mut digest) = (State::new(), [0; 32]);
                    while absorber.feed(&mut state, &pieces, true) {
                        permute_sponge(&mut state);
                    }
                    squeeze(&state, &mut digest);
                    digest
                };
                let mut shake = [0; 32];
                Shake256::digest_into(&bytes[..length], &mut shake);
                assert_eq!(digest(Absorber::SHAKE), shake, "{length} {cut} {next}");
                assert_eq!(
                    digest(Absorber::SHA3),
                    Sha3_256::digest(&bytes[..length]),
                    "{length} {cut} {next}"
                );
            }
        }
    }
}
