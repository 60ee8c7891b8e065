//! Sampling (FIPS 203, §4.2.2) and the functions that feed it (§4.1).

use super::kernels::active;
use super::ring::{Ntt, Poly};
use crate::sha3::{Shake128, Shake256, State, permute_many};

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

/// Â by rows: [`matrix_entry`] of each, the permutations of eight at a time side by side.
#[cfg(feature = "alloc")]
#[inline(never)]
pub(super) fn matrix<P: super::params::ParameterSet>(a: &mut [Ntt], rho: &[u8; 32]) {
    const BATCH: usize = 8;
    let mut states = [const { State::new() }; BATCH];
    let mut places = (0..P::K).flat_map(|i| (0..P::K).map(move |j| (i, j)));
    for batch in a.chunks_mut(BATCH) {
        let states = &mut states[..batch.len()];
        for (state, (i, j)) in states.iter_mut().zip(&mut places) {
            *state = State::new();
            for (lane, word) in state.0.iter_mut().zip(rho.as_chunks::<8>().0) {
                *lane = u64::from_le_bytes(*word);
            }
            // ρ ‖ j ‖ i, the suffix of SHAKE, and the last bit of the padding.
            state.0[4] = (j | i << 8 | 0x1f << 16) as u64;
            state.0[(Shake128::RATE >> 3) - 1] = 1 << 63;
        }
        let mut filled = [0; BATCH];
        let mut block = [0; Shake128::RATE];
        while filled[..batch.len()].iter().any(|filled| *filled < 256) {
            permute_many(states);
            for ((state, filled), a) in states.iter().zip(&mut filled).zip(batch.iter_mut()) {
                for (bytes, lane) in block.as_chunks_mut::<8>().0.iter_mut().zip(&state.0) {
                    *bytes = lane.to_le_bytes();
                }
                *filled += (active().reject_vartime)(&mut a.0.0[*filled..], &block);
            }
        }
    }
}

/// Noise of parameter `eta`: |coefficient| ≤ eta.
///
/// FIPS 203, Algorithm 8 (SamplePolyCBD) of PRF_η(s, b) (§4.1, (4.3)).
#[inline(never)]
pub(super) fn noise(f: &mut Poly, eta: usize, s: &[u8; 32], b: usize) {
    let mut bytes = [0; 192];
    let mut prf = Shake256::new().update(s).update(&[b as u8]).finalize_xof();
    if eta == 3 {
        prf.squeeze(&mut bytes);
        (active().noise3)(&mut f.0, &bytes);
    } else {
        let bytes = bytes.first_chunk_mut().expect("128 of 192 bytes");
        prf.squeeze(bytes);
        (active().noise2)(&mut f.0, bytes);
    }
}
