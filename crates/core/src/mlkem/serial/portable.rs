//! The work on whole polynomials, where there is no text in assembly for it (`kernels::armv7em`).

use super::super::kernels::least;
use super::super::ring::{Coefficients, Ntt};
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

/// The same of one lane.
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
