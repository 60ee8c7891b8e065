//! For RV32 with the multiplier (M): products in whole registers, in plain Rust, so that every host tests it.
//!
//! Two or three layers of a transform are done between load and store. A product by a known factor is Plantard's
//! («Efficient word size modular arithmetic», 2021, in the signed form of Huang et al., TCHES 2022): two multiplications, whose
//! result is small whatever the other operand, so that sums grow through three layers before one of eight is reduced.
//!
//! Instructions, against `portable` on this processor: the transform 9.7 thousand of 17.0, the inverse 9.3 of 24.3, a
//! multiplication that is accumulated 4.6 of 8.3.

use super::Kernels;
use super::portable::{PORTABLE, Q_INVERSE, ZETAS};
use crate::cpu::Level;
use crate::mlkem::poly::{Coefficients, Ntt, Q};
use crate::secret::barrier;

pub(super) const RV32: Kernels =
    Kernels { level: Level::Rv32, ntt, inverse_ntt, multiply_add, inner_product, ..PORTABLE };

const Q32: i32 = Q as i32;

/// A factor w known before: −w·2^32 modulo q, over q modulo 2^32.
#[derive(Clone, Copy)]
struct Factor(i32);

impl Factor {
    #[allow(clippy::integer_division_remainder_used)] // evaluated by the compiler
    const fn new(w: i64) -> Self {
        let q = Q as i64;
        // q^-1 modulo 2^32: one step of Newton's from the inverse modulo 2^16.
        let inverse = Q_INVERSE as i32;
        let inverse = inverse.wrapping_mul(2i32.wrapping_sub(Q32.wrapping_mul(inverse)));
        assert!(inverse.wrapping_mul(Q32) == 1);
        Self(((-w.rem_euclid(q) << 32).rem_euclid(q) as i32).wrapping_mul(inverse))
    }

    /// ζ^BitRev7(i): `portable` keeps it times 2^16.
    const fn zeta(i: usize) -> Self {
        /// 2^-16 modulo q.
        const R_INVERSE: i64 = 169;
        Self::new(ZETAS[i].value as i64 * R_INVERSE)
    }

    /// w·x: at most (q + 1)/2 in absolute value, for |x| ≤ 64q.
    #[inline(always)]
    fn times(self, x: i32) -> i32 {
        debug_assert!(x.abs() <= 64 * Q32);
        (((x.wrapping_mul(self.0) >> 16) + 8) * Q32) >> 16
    }
}

/// Reduces.
const ONE: Factor = Factor::new(1);

/// Of three layers that are done together: one of the first, two, four.
type Three = [Factor; 7];

/// Of three layers, from the i-th block of `blocks` in the first of them on.
const fn three(blocks: usize, i: usize) -> Three {
    [
        Factor::zeta(blocks + i),
        Factor::zeta(2 * (blocks + i)),
        Factor::zeta(2 * (blocks + i) + 1),
        Factor::zeta(4 * (blocks + i)),
        Factor::zeta(4 * (blocks + i) + 1),
        Factor::zeta(4 * (blocks + i) + 2),
        Factor::zeta(4 * (blocks + i) + 3),
    ]
}

const fn threes<const N: usize>(backwards: bool) -> [Three; N] {
    let mut all = [[ONE; 7]; N];
    let mut i = 0;
    while i < N {
        all[i] = three(N, if backwards { N - 1 - i } else { i });
        i += 1;
    }
    all
}

/// Of the layers of length 128, 64, 32; of 16, 8, 4; of 2.
static FIRST: [Three; 1] = threes(false);
static MIDDLE: [Three; 8] = threes(false);
static LAST: [Factor; 64] = {
    let mut last = [ONE; 64];
    let mut i = 0;
    while i < 64 {
        last[i] = Factor::zeta(64 + i);
        i += 1;
    }
    last
};

/// Of the inverse transform, whose factors are taken backwards: of the layers of length 2, 4, 8; of 16, 32, 64.
static INVERSE_FIRST: [Three; 16] = threes(true);
static INVERSE_MIDDLE: [Three; 2] = threes(true);

/// 128^-1, times 2^16; and that, times the factor of the layer of length 128.
const ENDS: [Factor; 2] = [Factor::new(3303 << 16), Factor::new(3303 * ZETAS[1].value as i64)];

/// Eight coefficients of a block, `stride` apart.
#[inline(always)]
fn load(block: &[i16], i: usize, stride: usize) -> [i32; 8] {
    core::array::from_fn(|k| i32::from(block[i + k * stride]))
}

#[inline(always)]
fn store(block: &mut [i16], i: usize, stride: usize, x: [i32; 8]) {
    for (k, x) in x.into_iter().enumerate() {
        block[i + k * stride] = x as i16;
    }
}

fn ntt(f: &mut Coefficients) {
    debug_assert!(f.iter().all(|x| x.abs() <= Q));
    // Each layer adds (q + 1)/2 to the bound.
    forward_layers::<32, 1>(f, &FIRST);
    forward_layers::<4, 8>(f, &MIDDLE);
    for ([a, b, c, d], zeta) in f.as_chunks_mut::<4>().0.iter_mut().zip(&LAST) {
        for (low, high) in [(a, c), (b, d)] {
            let (x, t) = (i32::from(*low), zeta.times(i32::from(*high)));
            (*low, *high) = (ONE.times(x + t) as i16, ONE.times(x - t) as i16);
        }
    }
}

/// Three layers, the last of butterflies `STRIDE` apart.
#[inline(always)]
fn forward_layers<const STRIDE: usize, const N: usize>(f: &mut Coefficients, factors: &[Three; N]) {
    for (block, factors) in f.chunks_exact_mut(8 * STRIDE).zip(factors) {
        for i in 0..STRIDE {
            let mut x = load(block, i, STRIDE);
            let mut butterfly = |low: usize, length: usize, factor: Factor| {
                let t = factor.times(x[low + length]);
                (x[low], x[low + length]) = (x[low] + t, x[low] - t);
            };
            (0..4).for_each(|j| butterfly(j, 4, factors[0]));
            [0, 1, 4, 5].into_iter().for_each(|j| butterfly(j, 2, factors[1 + (j >> 2)]));
            [0, 2, 4, 6].into_iter().for_each(|j| butterfly(j, 1, factors[3 + (j >> 1)]));
            store(block, i, STRIDE, x);
        }
    }
}

fn inverse_ntt(f: &mut Coefficients) {
    debug_assert!(f.iter().all(|x| i32::from(x.abs()) <= 8 * Q32));
    // Three layers leave at most 4(q + 1)/2, but of the sum of eight, which is reduced.
    inverse_layers::<2, 16>(f, &INVERSE_FIRST);
    inverse_layers::<16, 2>(f, &INVERSE_MIDDLE);
    let (low, high) = f.split_at_mut(128);
    for (a, b) in low.iter_mut().zip(high) {
        let (x, y) = (i32::from(*a), i32::from(*b));
        (*a, *b) = (ENDS[0].times(x + y) as i16, ENDS[1].times(y - x) as i16);
    }
}

/// Three layers, the first of butterflies `STRIDE` apart.
#[inline(always)]
fn inverse_layers<const STRIDE: usize, const N: usize>(f: &mut Coefficients, factors: &[Three; N]) {
    for (block, factors) in f.chunks_exact_mut(8 * STRIDE).zip(factors) {
        for i in 0..STRIDE {
            let mut x = load(block, i, STRIDE);
            let mut butterfly = |low: usize, length: usize, factor: Factor| {
                let difference = x[low + length] - x[low];
                x[low] += x[low + length];
                x[low + length] = factor.times(difference);
            };
            // The factors of a layer come from its last block.
            [0, 2, 4, 6].into_iter().for_each(|j| butterfly(j, 1, factors[6 - (j >> 1)]));
            [0, 1, 4, 5].into_iter().for_each(|j| butterfly(j, 2, factors[2 - (j >> 2)]));
            (0..4).for_each(|j| butterfly(j, 4, factors[0]));
            x[0] = ONE.times(x[0]);
            store(block, i, STRIDE, x);
        }
    }
}

/// p·2^-16: of |p| < 2^31, at most |p|·2^-16 + q/2 + 1 in absolute value (Montgomery).
#[inline(always)]
fn montgomery(p: i32) -> i32 {
    let m = p.wrapping_mul(i32::from(Q_INVERSE) << 16);
    // Of a factor whose sign it knows LLVM makes an unsigned product, and two instructions more that correct it.
    let q = barrier(Q as u32) as i32;
    (p >> 16) - ((i64::from(m) * i64::from(q)) >> 32) as i32
}

fn multiply_add(sum: &mut Coefficients, a: &Coefficients, b: &Coefficients) {
    debug_assert!(a.iter().all(|x| i32::from(x.abs()) <= 8 * Q32));
    debug_assert!(b.iter().all(|x| x.abs() <= Q));
    let (sums, a, b) = (sum.as_chunks_mut::<4>().0, a.as_chunks::<4>().0, b.as_chunks::<4>().0);
    for (((sum, a), b), zeta) in sums.iter_mut().zip(a).zip(b).zip(&LAST) {
        let ([a0, a1, a2, a3], [b0, b1, b2, b3]) = (a.map(i32::from), b.map(i32::from));
        // FIPS 203, Algorithm 12 (BaseCaseMultiply), of two pairs, whose factors are each other's negatives.
        let products = [
            a0 * b0 + a1 * zeta.times(b1),
            a0 * b1 + a1 * b0,
            a2 * b2 - a3 * zeta.times(b3),
            a2 * b3 + a3 * b2,
        ];
        // 16q² at most, of which less than q is left.
        const { assert!((16 * (Q32 as i64) * (Q32 as i64)) >> 16 < Q as i64) };
        for (sum, product) in sum.iter_mut().zip(products) {
            *sum += montgomery(product) as i16;
        }
    }
}

fn inner_product(sum: &mut Coefficients, a: &[Ntt], stride: usize, b: &[Ntt]) {
    for (a, b) in a.iter().step_by(stride).zip(b) {
        multiply_add(sum, &a.0.0, &b.0.0);
    }
}

#[cfg(test)]
#[allow(clippy::integer_division_remainder_used)]
mod tests {
    use super::*;

    #[test]
    fn a_known_factor_multiplies_every_integer_in_its_bounds() {
        for (w, step) in [(1, 1), (17, 1), (3328, 1)].into_iter().chain((2..3328).map(|w| (w, 4099))) {
            for x in (-64 * Q32..=64 * Q32).step_by(step).chain([64 * Q32]) {
                let product = Factor::new(w).times(x);
                assert!(product.abs() <= (Q32 + 1) / 2);
                assert_eq!((i64::from(product) - i64::from(x) * w) % i64::from(Q), 0);
            }
        }
    }

    #[test]
    fn montgomery_divides_every_sum_of_products() {
        for p in (-16 * Q32 * Q32..=16 * Q32 * Q32).step_by(997) {
            let quotient = montgomery(p);
            assert!(quotient.abs() <= (p.abs() >> 16) + Q32 / 2 + 2);
            assert_eq!((i64::from(p) - (i64::from(quotient) << 16)) % i64::from(Q), 0);
        }
    }
}
