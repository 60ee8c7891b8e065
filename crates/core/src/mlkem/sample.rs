//! Sampling (FIPS 203, §4.2.2) and the functions that feed it (§4.1).

use super::kernels::active;
use super::ring::{Ntt, Poly};
use crate::sha3::{Shake128, Shake256};

/// Â\[i, j\] of the matrix that ρ stands for.
///
/// FIPS 203, Algorithm 7 (SampleNTT) of ρ ‖ j ‖ i. Variable time: ρ is public.
#[inline(never)]
pub(super) fn matrix_entry(a: &mut Ntt, rho: &[u8; 32], i: usize, j: usize) {
    let mut xof = Shake128::new().update(rho).update(&[j as u8, i as u8]).finalize_xof();
    let mut block = [0; Shake128::RATE];
    let mut rest = &mut a.0.0[..];
    while !rest.is_empty() {
        xof.squeeze(&mut block);
        let accepted = (active().reject_vartime)(rest, &block);
        rest = &mut rest[accepted..];
    }
}

/// PRF_η(s, b) made into noise, one polynomial after another in any order.
pub(super) trait Noise {
    /// The polynomial of place `b`: |coefficient| ≤ η.
    fn fill(&self, f: &mut Poly, eta: usize, b: usize);
}

/// Each polynomial hashed when it is asked for: the least memory.
pub(super) struct Prf<'a>(pub &'a [u8; 32]);

impl Noise for Prf<'_> {
    /// FIPS 203, Algorithm 8 (SamplePolyCBD) of PRF_η(s, b) (§4.1, (4.3)).
    #[inline(never)]
    fn fill(&self, f: &mut Poly, eta: usize, b: usize) {
        let mut bytes = [0; 192];
        let mut prf = Shake256::new().update(self.0).update(&[b as u8]).finalize_xof();
        if eta == 3 {
            prf.squeeze(&mut bytes);
        } else {
            prf.squeeze(&mut bytes[..128]);
        }
        noise_of(f, eta, &bytes);
    }
}

/// FIPS 203, Algorithm 8 (SamplePolyCBD), of the first 64·η bytes.
fn noise_of(f: &mut Poly, eta: usize, bytes: &[u8; 192]) {
    if eta == 3 {
        (active().noise3)(&mut f.0, bytes);
    } else {
        (active().noise2)(&mut f.0, bytes.first_chunk().expect("128 of 192 bytes"));
    }
}

#[cfg(feature = "alloc")]
pub(super) use batch::{PrfBatch, matrix_and_hash};

/// The same, with many permutations side by side: what has memory for it is faster.
#[cfg(feature = "alloc")]
mod batch {
    use zeroize::Zeroize;

    use super::super::params::ParameterSet;
    use super::*;
    use crate::secret::wipe;
    use crate::sha3::{Sha3_256, State, permute_many};

    /// A block of SHAKE128: ρ ‖ j ‖ i, the suffix, the padding.
    fn entry_state(rho: &[u8; 32], i: usize, j: usize) -> State {
        let mut state = State::new();
        absorb(&mut state, rho);
        state.0[4] = (j | i << 8 | 0x1f << 16) as u64;
        state.0[(Shake128::RATE >> 3) - 1] = 1 << 63;
        state
    }

    /// Adds whole lanes.
    fn absorb(state: &mut State, bytes: &[u8]) {
        for (lane, word) in state.0.iter_mut().zip(bytes.as_chunks::<8>().0) {
            *lane ^= u64::from_le_bytes(*word);
        }
    }

    fn squeeze(state: &State, bytes: &mut [u8]) {
        for (word, lane) in bytes.as_chunks_mut::<8>().0.iter_mut().zip(&state.0) {
            *word = lane.to_le_bytes();
        }
    }

    /// How many lanes run beside the hash: with it, a batch of four.
    const BESIDE: usize = 3;
    /// How many lanes run when the hash is done.
    const ALONE: usize = 8;

    /// Â by rows, as [`matrix_entry`] makes each, and H(`message`) if there is one, whose permutations are one lane of the batches
    /// that make the matrix.
    #[inline(never)]
    pub(in super::super) fn matrix_and_hash<P: ParameterSet>(
        a: &mut [Ntt],
        rho: &[u8; 32],
        message: Option<&[u8]>,
    ) -> [u8; 32] {
        const RATE: usize = Sha3_256::RATE;
        let mut states = [const { State::new() }; 1 + ALONE];
        let mut places = (0..P::K).flat_map(|i| (0..P::K).map(move |j| (i, j)));
        let mut block = [0; Shake128::RATE];
        let (full, last) = message.unwrap_or_default().as_chunks::<RATE>();
        let mut full = full.iter();
        let mut last = message.is_some().then_some(last);
        // Absorbs the next block of the message; false when there is none.
        let mut feed = |hash: &mut State| -> bool {
            if let Some(block) = full.next() {
                absorb(hash, block);
                return true;
            }
            let Some(last) = last.take() else { return false };
            absorb(hash, last);
            let whole = last.len() & !7;
            for (at, byte) in last[whole..].iter().chain(&[0b110]).enumerate() {
                hash.0[(whole + at) >> 3] ^= u64::from(*byte) << (8 * ((whole + at) & 7));
            }
            hash.0[(RATE >> 3) - 1] ^= 1 << 63;
            true
        };
        let mut hashing = feed(&mut states[0]);
        let mut rest = a;
        while !rest.is_empty() {
            let width = if hashing { BESIDE } else { ALONE }.min(rest.len());
            let (batch, after) = core::mem::take(&mut rest).split_at_mut(width);
            rest = after;
            for (state, (i, j)) in states[1..=width].iter_mut().zip(&mut places) {
                *state = entry_state(rho, i, j);
            }
            let mut filled = [0; ALONE];
            while filled[..width].iter().any(|filled| *filled < 256) {
                permute_many(&mut states[usize::from(!hashing)..=width]);
                hashing = hashing && feed(&mut states[0]);
                for ((state, filled), a) in states[1..].iter().zip(&mut filled).zip(batch.iter_mut()) {
                    squeeze(state, &mut block);
                    *filled += (active().reject_vartime)(&mut a.0.0[*filled..], &block);
                }
            }
        }
        while hashing {
            permute_many(&mut states[..1]);
            hashing = feed(&mut states[0]);
        }
        let mut digest = [0; 32];
        squeeze(&states[0], &mut digest);
        digest
    }

    /// All polynomials of noise that one operation needs, hashed side by side: at most nine.
    pub(in super::super) struct PrfBatch([[u8; 192]; 9]);

    impl PrfBatch {
        /// PRF(s, 0), PRF(s, 1), … PRF(s, `count` − 1); of 192 bytes where `eta1` is 3 and b < `wide`, else 128.
        #[inline(never)]
        pub(in super::super) fn new(s: &[u8; 32], count: usize, eta1: usize, wide: usize) -> Self {
            let mut batch = Self([[0; 192]; 9]);
            let mut states = [const { State::new() }; 9];
            let states = &mut states[..count];
            for (b, state) in states.iter_mut().enumerate() {
                absorb(state, s);
                state.0[4] = (b | 0x1f << 8) as u64;
                state.0[(Shake256::RATE >> 3) - 1] = 1 << 63;
            }
            permute_many(states);
            for (state, bytes) in states.iter().zip(&mut batch.0) {
                squeeze(state, &mut bytes[..Shake256::RATE]);
            }
            if eta1 == 3 {
                let states = &mut states[..wide];
                permute_many(states);
                for (state, bytes) in states.iter().zip(&mut batch.0) {
                    squeeze(state, &mut bytes[Shake256::RATE..]);
                }
            }
            states.iter_mut().for_each(Zeroize::zeroize);
            batch
        }
    }

    impl Noise for PrfBatch {
        fn fill(&self, f: &mut Poly, eta: usize, b: usize) {
            noise_of(f, eta, &self.0[b]);
        }
    }

    impl Drop for PrfBatch {
        fn drop(&mut self) {
            wipe(self.0.as_flattened_mut());
        }
    }
}
