//! FIPS 204, §7.3: polynomials from hash output.

use super::kernels::Kernels;
use super::params::sealed::Parameters;
use super::ring::{N, Poly};
use crate::secret::declassify_value;
use crate::sha3::{Shake256, State, permute_many};

/// FIPS 204, Algorithm 29 (SampleInBall): τ coefficients ±1, the others 0, from c̃.
///
/// Variable time: c̃ is public, or will be if the attempt succeeds (see `dsa::sign`).
#[inline(never)]
pub(crate) fn in_ball_vartime<P: Parameters>(c_tilde: &[u8], c: &mut Poly) {
    c.0.fill(0);
    let mut squeeze = Shake256::new().update(c_tilde).finalize_xof();
    let mut signs = [0; 8];
    squeeze.squeeze(&mut signs);
    let mut signs = u64::from_le_bytes(signs);
    // 64 bytes hold the places of most challenges; any number of them may follow.
    let mut bytes = [0; 64];
    let mut at = bytes.len();
    for i in N - P::TAU..N {
        let j = loop {
            if at == bytes.len() {
                squeeze.squeeze(&mut bytes);
                at = 0;
            }
            let j = usize::from(bytes[at]);
            at += 1;
            if j <= i {
                break j;
            }
        };
        c.0[i] = c.0[j];
        c.0[j] = 1 - 2 * (signs & 1) as i32;
        signs >>= 1;
    }
}

/// FIPS 204, Algorithm 32 (ExpandA), for the polynomials at `places` (row, column), at most `BATCH`; the
/// permutations run side by side.
///
/// Variable time: the matrix is public.
#[inline(never)]
pub(crate) fn expand_a<const BATCH: usize>(
    kernels: &Kernels,
    rho: &[u8; 32],
    places: &[(u8, u8)],
    out: &mut [Poly],
) {
    debug_assert!(places.len() <= BATCH && places.len() == out.len());
    const RATE: usize = 168;
    let mut states = [const { State([0; 25]) }; BATCH];
    let states = &mut states[..places.len()];
    // SHAKE128 of ρ ‖ column ‖ row: one block, 34 bytes, the domain bits and the padding.
    for (state, (row, column)) in states.iter_mut().zip(places) {
        for (lane, word) in state.0.iter_mut().zip(rho.as_chunks::<8>().0) {
            *lane = u64::from_le_bytes(*word);
        }
        state.0[4] = u64::from(*column) | u64::from(*row) << 8 | 0x1f << 16;
        state.0[(RATE >> 3) - 1] ^= 1 << 63;
    }
    let mut filled = [0; BATCH];
    let mut block = [0; RATE];
    while filled[..places.len()].iter().any(|filled| *filled < N) {
        permute_many(states);
        for ((state, filled), a) in states.iter().zip(&mut filled).zip(out.iter_mut()) {
            for (bytes, lane) in block.as_chunks_mut::<8>().0.iter_mut().zip(&state.0) {
                *bytes = lane.to_le_bytes();
            }
            // FIPS 204, Algorithm 30 (RejNTTPoly), one block.
            *filled = (kernels.reject_uniform)(a, *filled, &block);
        }
    }
}

/// FIPS 204, Algorithm 33 (ExpandS), one polynomial: coefficients in -η..=η from ρ′ and its place.
#[inline(never)]
pub(crate) fn expand_s<P: Parameters>(rho_prime: &[u8; 64], place: usize, s: &mut Poly) {
    // FIPS 204, Algorithm 31 (RejBoundedPoly).
    let mut squeeze = Shake256::new().update(rho_prime).update(&(place as u16).to_le_bytes()).finalize_xof();
    let mut block = [0; 136];
    let mut filled = 0;
    loop {
        squeeze.squeeze(&mut block);
        for byte in block {
            for half in [u32::from(byte & 15), u32::from(byte >> 4)] {
                let Some(place) = s.0.get_mut(filled) else { return };
                // FIPS 204, Algorithm 15 (CoeffFromHalfByte), without a branch or an index on the half byte.
                let (c, accepted) = if P::ETA == 2 {
                    // half mod 5 for half below 15: ⌊half/5⌋ = ⌊half·205/1024⌋.
                    (2 - (half - 5 * ((half * 205) >> 10)) as i32, half.wrapping_sub(15) >> 31)
                } else {
                    (4 - half as i32, half.wrapping_sub(9) >> 31)
                };
                *place = c;
                // public: which half bytes were refused; they are independent of the accepted ones, and
                // say nothing of them.
                filled += declassify_value(accepted) as usize;
            }
        }
    }
}

/// FIPS 204, Algorithm 34 (ExpandMask), one polynomial, still packed: 32·(1 + bitlen(γ1 - 1)) bytes.
pub(crate) fn expand_mask(rho_second: &[u8; 64], kappa: u16, packed: &mut [u8]) {
    Shake256::new().update(rho_second).update(&kappa.to_le_bytes()).finalize_xof().squeeze(packed);
}
