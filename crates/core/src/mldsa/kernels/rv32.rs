//! Transforms for RV32 with the multiplier (M): in plain Rust, so that every host tests them.
//!
//! Two or three layers are done between load and store. Products by known factors are Montgomery's of signed numbers: they add
//! little more than q/2 to a sum, so that nothing is reduced on the way. 9.0 thousand instructions on this processor for the
//! transform, where `portable` takes 19.3.

use super::Kernels;
use super::portable::{Factor, PORTABLE, SCALE, ZETAS, centre, freeze, montgomery, reduce};
use crate::cpu::Level;
use crate::mldsa::ring::{N, Poly, Q};
use crate::secret::barrier;

pub(super) static RV32: Kernels = Kernels { level: Level::Rv32, ntt, inverse_ntt, ..PORTABLE };

/// `x`·`factor`·2^-32 mod q: at most q/2 + |x|/512 + 1 in absolute value.
#[inline(always)]
fn times(x: i32, factor: Factor) -> i32 {
    // Of a factor whose sign it knows LLVM makes an unsigned product, and two instructions more that correct it.
    let high = |a: i32, b: u32| ((i64::from(a) * i64::from(barrier(b) as i32)) >> 32) as i32;
    high(x, factor.f) - high(x.wrapping_mul(factor.f_q_inverse() as i32), Q as u32)
}

/// The factors of three layers, from the block `k` of the first of them on: one, two, four.
#[inline(always)]
fn three(k: usize) -> [Factor; 7] {
    [k, 2 * k, 2 * k + 1, 4 * k, 4 * k + 1, 4 * k + 2, 4 * k + 3].map(|k| ZETAS[k & (N - 1)])
}

fn ntt(w: &mut Poly) {
    debug_assert!(w.0.iter().all(|c| -Q < *c && *c < Q));
    forward_layers::<32>(w);
    forward_layers::<4>(w);
    // Each of eight layers has added less than 0.52q.
    const ABOVE: i32 = 6 * Q;
    for ([a, b, c, d], k) in w.0.as_chunks_mut::<4>().0.iter_mut().zip(64..) {
        let [zeta, left, right] = [k, 2 * k, 2 * k + 1].map(|k| ZETAS[k & (N - 1)]);
        let (s, t) = (times(*c, zeta), times(*d, zeta));
        let (e, f, g, h) = (*a + ABOVE + s, *b + t, *a + ABOVE - s, *b - t);
        let (s, t) = (times(f, left), times(h, right));
        (*a, *b, *c, *d) = (e + s, e - s, g + t, g - t);
    }
}

/// Three layers, the last of butterflies `STRIDE` apart.
#[inline(always)]
fn forward_layers<const STRIDE: usize>(w: &mut Poly) {
    for (block, k) in w.0.chunks_exact_mut(8 * STRIDE).zip(const { N >> (3 + STRIDE.trailing_zeros()) }..) {
        let zetas = three(k);
        for i in 0..STRIDE {
            let mut x: [i32; 8] = core::array::from_fn(|n| block[i + n * STRIDE]);
            let mut butterfly = |low: usize, length: usize, zeta: Factor| {
                let t = times(x[low + length], zeta);
                (x[low], x[low + length]) = (x[low] + t, x[low] - t);
            };
            (0..4).for_each(|j| butterfly(j, 4, zetas[0]));
            [0, 1, 4, 5].into_iter().for_each(|j| butterfly(j, 2, zetas[1 + (j >> 2)]));
            [0, 2, 4, 6].into_iter().for_each(|j| butterfly(j, 1, zetas[3 + (j >> 1)]));
            x.into_iter().enumerate().for_each(|(n, x)| block[i + n * STRIDE] = x);
        }
    }
}

/// `SCALE`, times the factor of the last layer.
const LAST: Factor = Factor::new(freeze(montgomery(SCALE.f, ZETAS[1].f)));

fn inverse_ntt(w: &mut Poly) {
    debug_assert!(w.0.iter().all(|c| 0 <= *c));
    // From |c| ≤ q on, eight layers double it at most.
    const { assert!(256 * (Q as i64) < 1 << 31) };
    inverse_layers::<1>(w, |c| reduce(c as u32) as i32 - Q);
    inverse_layers::<8>(w, |c| c);
    let (low, high) = w.0.split_at_mut(128);
    let ((a, b), (c, d)) = (low.split_at_mut(64), high.split_at_mut(64));
    for (((a, b), c), d) in a.iter_mut().zip(b).zip(c).zip(d) {
        let (e, f) = (*a + *b, times(*b - *a, ZETAS[3]));
        let (g, h) = (*c + *d, times(*d - *c, ZETAS[2]));
        let ends = [times(e + g, SCALE), times(f + h, SCALE), times(g - e, LAST), times(h - f, LAST)];
        [*a, *b, *c, *d] = ends.map(|c| centre(freeze((c + Q) as u32)));
    }
}

/// Three layers, the first of butterflies `STRIDE` apart, of what `start` makes of the coefficients.
#[inline(always)]
fn inverse_layers<const STRIDE: usize>(w: &mut Poly, start: impl Fn(i32) -> i32) {
    let blocks = const { N >> (3 + STRIDE.trailing_zeros()) };
    // The factors are taken backwards. The standard multiplies a - b by -ζ; here b - a by ζ.
    for (block, k) in w.0.chunks_exact_mut(8 * STRIDE).zip((blocks..2 * blocks).rev()) {
        let zetas = three(k);
        for i in 0..STRIDE {
            let mut x: [i32; 8] = core::array::from_fn(|n| start(block[i + n * STRIDE]));
            let mut butterfly = |low: usize, length: usize, zeta: Factor| {
                let difference = x[low + length] - x[low];
                x[low] += x[low + length];
                x[low + length] = times(difference, zeta);
            };
            [0, 2, 4, 6].into_iter().for_each(|j| butterfly(j, 1, zetas[6 - (j >> 1)]));
            [0, 1, 4, 5].into_iter().for_each(|j| butterfly(j, 2, zetas[2 - (j >> 2)]));
            (0..4).for_each(|j| butterfly(j, 4, zetas[0]));
            x.into_iter().enumerate().for_each(|(n, x)| block[i + n * STRIDE] = x);
        }
    }
}
