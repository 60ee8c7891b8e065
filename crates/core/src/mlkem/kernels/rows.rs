//! The work of prepared keys on whole polynomials, where there is no text in assembly for it (`armv7em`).

use super::least;
use crate::mlkem::poly::{Coefficients, Ntt};
use crate::secret::clear;
use crate::sha3::halves;

/// The sum of the products of every `stride`-th element of `a` and the elements of `x`, times 2^-16, for `inverse_of_row`:
/// |coefficient| ≤ q of both.
pub(in crate::mlkem) fn row(sum: &mut Ntt, a: &[Ntt], stride: usize, x: &[Ntt]) {
    sum.clear();
    (least().inner_product)(&mut sum.0.0, a, stride, x);
}

/// Such a row in R_q: |x| < q.
pub(in crate::mlkem) fn inverse_of_row(f: &mut Coefficients) {
    (least().inverse_ntt)(f);
}

/// The noise of these lanes of a sponge for η = 2.
pub(in crate::mlkem) fn noise2_of(f: &mut Coefficients, lanes: &[u64; 16]) {
    clear(f);
    add_noise2_of(f, lanes);
}

/// Adds the noise of these lanes of a sponge for η = 2.
pub(in crate::mlkem) fn add_noise2_of(f: &mut Coefficients, lanes: &[u64; 16]) {
    for (f, lane) in f.as_chunks_mut::<16>().0.iter_mut().zip(lanes) {
        add_noise2_of_lane(f, *lane);
    }
}

/// Adds the noise of one lane.
#[inline(always)]
pub(in crate::mlkem) fn add_noise2_of_lane(f: &mut [i16; 16], lane: u64) {
    // Two bits of either half belong to a coefficient. In two bits: how many of its first two are set, and of the others.
    let [even, odd] = halves(lane);
    let count = |shift: u32| (even >> shift & 0x5555_5555) + (odd >> shift & 0x5555_5555);
    let (first, second) = (count(0), count(1));
    // In four bits: 4 more than the coefficient.
    let difference =
        |shift: u32| (first >> shift & 0x3333_3333) + 0x4444_4444 - (second >> shift & 0x3333_3333);
    let (even, odd) = (difference(0), difference(2));
    for (i, pair) in f.as_chunks_mut::<2>().0.iter_mut().enumerate() {
        pair[0] += (even >> (4 * i) & 15) as i16 - 4;
        pair[1] += (odd >> (4 * i) & 15) as i16 - 4;
    }
}

/// The noise of these lanes for η = 3.
pub(in crate::mlkem) fn noise3_of(f: &mut Coefficients, lanes: &[u64; 24]) {
    for (f, three) in f.as_chunks_mut::<32>().0.iter_mut().zip(lanes.as_chunks::<3>().0) {
        let [[a, x], [b, y], [c, z]] = three.map(halves);
        let eights = [
            [a, x],
            [a >> 24 | b << 8, x >> 24 | y << 8],
            [b >> 16 | c << 16, y >> 16 | z << 16],
            [c >> 8, z >> 8],
        ];
        for (f, [even, odd]) in f.as_chunks_mut::<8>().0.iter_mut().zip(eights) {
            // Three bits of either half belong to a coefficient: 4 more than it in three bits.
            const FIRST: u32 = 0x0024_9249;
            let first = (even & FIRST) + (odd & FIRST) + (even >> 1 & FIRST);
            let second = (odd >> 1 & FIRST) + (even >> 2 & FIRST) + (odd >> 2 & FIRST);
            let difference = first + 4 * FIRST - second;
            f.iter_mut().enumerate().for_each(|(i, x)| *x = (difference >> (3 * i) & 7) as i16 - 4);
        }
    }
}

#[cfg(test)]
#[allow(clippy::integer_division_remainder_used)]
mod tests {
    use std::vec::Vec;

    use super::super::loops;
    use super::super::portable::PORTABLE;
    use crate::mlkem::poly::{Coefficients, Ntt, Poly, Q};
    use crate::sha3::{Shake128, to_word};

    fn random<const N: usize>(seed: u64) -> [u8; N] {
        let mut bytes = [0; N];
        Shake128::new().update(&seed.to_le_bytes()).finalize_xof().squeeze(&mut bytes);
        bytes
    }

    /// Coefficients at the edges of |x| ≤ `bound`, and between them.
    fn inputs(bound: i16, seed: u64) -> Ntt {
        let words = random::<512>(seed);
        Ntt(Poly(core::array::from_fn(|i| i16::from_le_bytes(words.as_chunks().0[i]).clamp(-bound, bound))))
    }

    #[test]
    fn a_row_is_the_sum_of_its_products() {
        // What `ntt_of_factor` leaves where it does not reduce.
        let bound = if cfg!(gambeson_dsp) { 9 * (Q >> 1) } else { Q };
        for seed in 0..50 {
            for (k, stride) in [(2, 1), (2, 2), (3, 1), (3, 3), (4, 1), (4, 4)] {
                let a: Vec<Ntt> = (0..13).map(|i| inputs(Q, seed + i)).collect();
                let x: Vec<Ntt> = (0..k).map(|i| inputs(bound, 100 + seed + i)).collect();
                let (mut ours, mut expected) = (inputs(Q, 7), Ntt::ZERO);
                loops::row(&mut ours, &a, stride, &x);
                loops::inverse_of_row(&mut ours.0.0);
                for (a, x) in a.iter().step_by(stride).zip(&x) {
                    (PORTABLE.multiply_add)(&mut expected.0.0, &x.0.0, &a.0.0);
                }
                (PORTABLE.inverse_ntt)(&mut expected.0.0);
                for (ours, expected) in ours.0.0.iter().zip(expected.0.0) {
                    assert!(ours.abs() < Q && (ours - expected) % Q == 0, "{k} {stride}");
                }
            }
        }
    }

    #[test]
    fn noise_of_lanes_is_that_of_their_bytes() {
        for seed in 0..50 {
            let lanes: [u64; 24] = core::array::from_fn(|i| u64::from_le_bytes(random(24 * seed + i as u64)));
            let mut bytes = [0; 192];
            for (bytes, lane) in bytes.as_chunks_mut().0.iter_mut().zip(lanes) {
                *bytes = to_word(lane).to_le_bytes();
            }
            let (mut two, mut three) = (inputs(Q, seed), inputs(Q, seed));
            let (mut noise2, mut noise3): (Coefficients, Coefficients) = ([0; 256], [0; 256]);
            (PORTABLE.noise2)(&mut noise2, bytes.first_chunk().unwrap());
            (PORTABLE.noise3)(&mut noise3, &bytes);
            loops::noise2_of(&mut two.0.0, lanes.first_chunk().unwrap());
            loops::noise3_of(&mut three.0.0, &lanes);
            assert_eq!((two.0.0, three.0.0), (noise2, noise3));
            let mut sum = inputs(Q, seed);
            (PORTABLE.add)(&mut noise2, &sum.0.0);
            loops::add_noise2_of(&mut sum.0.0, lanes.first_chunk().unwrap());
            assert_eq!(sum.0.0, noise2);
        }
    }

    #[test]
    fn numbers_are_decompressed_as_by_the_portable_table() {
        for d in [1, 4, 5, 10, 11] {
            let bytes = &random::<352>(d as u64)[..32 * d];
            let (mut ours, mut expected) = ([0; 256], [0; 256]);
            loops::decompress(&mut ours, d, bytes.as_chunks().0);
            (PORTABLE.decompress)(&mut expected, bytes);
            assert_eq!(ours, expected);
            let other = inputs(Q, d as u64).0.0;
            let (mut sum, mut difference) = (other, other);
            loops::add_decompressed(&mut sum, d, bytes.as_chunks().0);
            loops::subtract_from_decompressed(&mut difference, d, bytes.as_chunks().0);
            for (i, x) in expected.into_iter().enumerate() {
                assert_eq!((sum[i], difference[i]), (other[i] + x, x - other[i]));
            }
        }
    }
}
