//! FIPS 204, §7.3: polynomials from hash output.

use super::kernels::Kernels;
use super::params::sealed::Parameters;
use super::ring::{N, Poly};
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
pub(crate) fn expand_s<P: Parameters>(kernels: &Kernels, rho_prime: &[u8; 64], place: usize, s: &mut Poly) {
    let mut squeeze = Shake256::new().update(rho_prime).update(&(place as u16).to_le_bytes()).finalize_xof();
    let mut block = [0; Shake256::RATE];
    let mut filled = 0;
    while filled < N {
        squeeze.squeeze(&mut block);
        // FIPS 204, Algorithm 31 (RejBoundedPoly), one block.
        filled = (kernels.reject_bounded)(s, filled, &block, P::ETA);
    }
}

/// FIPS 204, Algorithm 34 (ExpandMask), one polynomial, still packed: 32·(1 + bitlen(γ1 - 1)) bytes.
pub(crate) fn expand_mask(rho_second: &[u8; 64], kappa: u16, packed: &mut [u8]) {
    Shake256::new().update(rho_second).update(&kappa.to_le_bytes()).finalize_xof().squeeze(packed);
}

#[cfg(test)]
mod tests {
    use super::super::kernels::active;
    use super::super::ring::Q;
    use super::super::{MlDsa44, MlDsa65, MlDsa87};
    use super::*;
    use crate::sha3::Shake128;

    #[test]
    fn a_challenge_has_tau_ones_of_either_sign() {
        fn test<P: Parameters>() {
            let (mut plus, mut minus) = (0, 0);
            for i in 0..200u8 {
                let mut c = Poly::ZERO;
                c.0.fill(9);
                in_ball_vartime::<P>(&[i; 64][..P::C_TILDE], &mut c);
                assert!(c.0.iter().all(|c| (-1..=1).contains(c)));
                assert_eq!(c.0.iter().filter(|c| **c != 0).count(), P::TAU);
                plus += c.0.iter().filter(|c| **c == 1).count();
                minus += c.0.iter().filter(|c| **c == -1).count();
            }
            assert!(plus.abs_diff(minus) < (plus + minus) >> 3);
        }
        test::<MlDsa44>();
        test::<MlDsa65>();
        test::<MlDsa87>();
    }

    #[test]
    fn the_matrix_is_the_same_in_any_batch() {
        let rho = [7; 32];
        let places = [(0, 0), (1, 0), (7, 6), (3, 2), (0, 6)];
        let mut together = [const { Poly::ZERO }; 5];
        expand_a::<5>(active(), &rho, &places, &mut together);
        for (place, a) in places.iter().zip(&together) {
            let mut alone = [Poly::ZERO];
            expand_a::<1>(active(), &rho, &[*place], &mut alone);
            assert_eq!(alone[0], *a);

            // Byte by byte, as the standard has it.
            let mut squeeze = Shake128::new().update(&rho).update(&[place.1, place.0]).finalize_xof();
            for c in a.0 {
                let z = loop {
                    let mut bytes = [0; 4];
                    squeeze.squeeze(&mut bytes[..3]);
                    let z = i32::from_le_bytes(bytes) & 0x7f_ffff;
                    if z < Q {
                        break z;
                    }
                };
                assert_eq!(c, z);
            }
        }
    }

    #[test]
    fn private_polynomials_take_the_accepted_half_bytes_in_order() {
        fn test<P: Parameters>() {
            for place in 0..15 {
                let mut s = Poly::ZERO;
                expand_s::<P>(active(), &[3; 64], place, &mut s);
                let mut squeeze = Shake256::new().update(&[3; 64]).update(&[place as u8, 0]).finalize_xof();
                let mut bytes = [0; 600];
                squeeze.squeeze(&mut bytes);
                let halves = bytes.iter().flat_map(|byte| [byte & 15, byte >> 4]);
                let expected = halves.filter_map(|half| match (P::ETA, half) {
                    (2, 15) => None,
                    (2, half) => Some(2 - [0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 1, 2, 3, 4][usize::from(half)]),
                    (_, 9..) => None,
                    (_, half) => Some(4 - i32::from(half)),
                });
                assert!(expected.take(256).eq(s.0));
            }
        }
        test::<MlDsa44>();
        test::<MlDsa65>();
    }
}
