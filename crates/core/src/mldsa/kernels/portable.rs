//! The kernels in plain Rust: the specification of every other table.
//!
//! Arithmetic is unsigned and lazy, because the least common denominator of vector units (SSE2) multiplies
//! unsigned 32-bit lanes to 64 bits and has neither a signed product nor a minimum. Reductions use the
//! shape of q = 2^23 - 8191: no mask is made, hence nothing that a compiler could turn into a branch.

use super::Kernels;
use crate::cpu::Level;
use crate::mldsa::ring::{D, N, Poly, Q};

/// Plain Rust, for every target.
pub(crate) static PORTABLE: Kernels = Kernels {
    level: Level::Portable,
    ntt,
    inverse_ntt,
    multiply,
    multiply_add,
    reject_uniform,
    power2round,
    decompose_44,
    decompose_16,
};

const QU: u32 = Q as u32;

/// 2^23 - q: what a multiple of 2^23 leaves behind mod q.
const REST: u32 = (1 << 23) - QU;

/// q^-1 mod 2^32, by Newton's iteration.
const Q_INVERSE: u32 = {
    let mut x: u32 = 1;
    let mut i = 0;
    while i < 5 {
        x = x.wrapping_mul(2u32.wrapping_sub(QU.wrapping_mul(x)));
        i += 1;
    }
    x
};

/// A constant factor in Montgomery form, f = x·2^32 mod q, and f·q^-1 mod 2^32.
#[derive(Clone, Copy)]
struct Factor {
    f: u32,
    f_q_inverse: u32,
}

/// `x`·2^32 mod q as a factor.
const fn factor(x: u64) -> Factor {
    // The divisions of this function are done by the compiler: it is called for constants only.
    #[allow(clippy::integer_division_remainder_used)]
    let f = ((x << 32) % QU as u64) as u32;
    Factor { f, f_q_inverse: f.wrapping_mul(Q_INVERSE) }
}

/// ζ^BitRev8(k) for k from 0 to 255 (FIPS 204, Appendix B), ζ = 1753.
const ZETAS: [Factor; N] = {
    let mut powers = [1u64; N];
    let mut i = 1;
    while i < N {
        #[allow(clippy::integer_division_remainder_used)]
        let next = (powers[i - 1] * 1753) % QU as u64;
        powers[i] = next;
        i += 1;
    }
    let mut zetas = [Factor { f: 0, f_q_inverse: 0 }; N];
    let mut k = 0;
    while k < N {
        zetas[k] = factor(powers[(k as u8).reverse_bits() as usize]);
        k += 1;
    }
    zetas
};

/// 2^32·256^-1: undoes the factor 256 of the inverse transform and the 2^-32 of the product before it.
/// 256^-1 = 8347681 mod q (FIPS 204, Algorithm 42).
const SCALE: Factor = {
    #[allow(clippy::integer_division_remainder_used)]
    let montgomery = (1u64 << 32) % QU as u64;
    #[allow(clippy::integer_division_remainder_used)]
    let x = (montgomery * 8_347_681) % QU as u64;
    factor(x)
};

/// `a·b·2^-32` mod q, in 1..2q; `a·b < 2^32·q`.
#[inline(always)]
fn montgomery(a: u32, b: u32) -> u32 {
    let p = a as u64 * b as u64;
    debug_assert!(p >> 32 < QU as u64);
    let m = (p as u32).wrapping_mul(Q_INVERSE);
    // p and m·q agree in their low halves, so the difference of the high ones is exact.
    let n = m as u64 * QU as u64;
    ((p >> 32) as u32 + QU) - (n >> 32) as u32
}

/// `a·x` mod q for the constant x of the factor, in 1..2q, for any `a`.
#[inline(always)]
fn times(a: u32, x: Factor) -> u32 {
    let high = ((a as u64 * x.f as u64) >> 32) as u32;
    let m = a.wrapping_mul(x.f_q_inverse);
    let n = ((m as u64 * QU as u64) >> 32) as u32;
    (high + QU) - n
}

/// `a` mod q, below 2q, for any `a`.
#[inline(always)]
fn reduce(a: u32) -> u32 {
    (a & ((1 << 23) - 1)) + (a >> 23) * REST
}

/// `a` mod q in 0..q; `a < 2q`.
#[inline(always)]
fn freeze(a: u32) -> u32 {
    debug_assert!(a < 2 * QU);
    // 1 exactly if a ≥ q, since 2q + 8191 < 2^24.
    let over = (a + REST) >> 23;
    debug_assert!(over < 2);
    a - over * QU
}

/// `a` mod± q, in -(q-1)/2..=(q-1)/2; `0 ≤ a < q`.
#[inline(always)]
fn centre(a: u32) -> i32 {
    // 1 exactly if a > (q-1)/2.
    let over = (a + ((1 << 23) - (QU + 1) / 2)) >> 23;
    a as i32 - (over * QU) as i32
}

/// `a` mod q in 0..q; `-q < a < q`.
#[inline(always)]
fn lift(a: i32) -> u32 {
    debug_assert!(-Q < a && a < Q);
    let negative = a as u32 >> 31;
    (a as u32).wrapping_add(negative * QU)
}

/// One layer of the forward transform: every output is below its input's bound plus 2q.
#[inline(always)]
fn layer<const LENGTH: usize>(w: &mut [u32; N]) {
    let first = N / (2 * LENGTH);
    for (block, zeta) in w.chunks_exact_mut(2 * LENGTH).zip(&ZETAS[first..]) {
        let (low, high) = block.split_at_mut(LENGTH);
        for (a, b) in low.iter_mut().zip(high) {
            let t = times(*b, *zeta);
            *b = *a + 2 * QU - t;
            *a += t;
        }
    }
}

/// One layer of the inverse transform: the bound of the values doubles, from `bound` to `2·bound`.
#[inline(always)]
fn inverse_layer<const LENGTH: usize>(w: &mut [u32; N], bound: u32) {
    // The standard multiplies a - b by -ζ; here b - a by ζ.
    let last = N / LENGTH;
    for (block, k) in w.chunks_exact_mut(2 * LENGTH).zip((0..last).rev()) {
        let zeta = ZETAS[k];
        let (low, high) = block.split_at_mut(LENGTH);
        for (a, b) in low.iter_mut().zip(high) {
            let difference = *b + bound - *a;
            *a += *b;
            *b = times(difference, zeta);
        }
    }
}

/// FIPS 204, Algorithm 41 (NTT), with 2q added per layer and no reduction.
///
/// -q < c < q on entry, 0 ≤ c < 18q on return.
pub(crate) fn ntt(w: &mut Poly) {
    debug_assert!(w.0.iter().all(|c| -Q < *c && *c < Q));
    let mut u = [0u32; N];
    for (u, c) in u.iter_mut().zip(&w.0) {
        *u = (*c + Q) as u32;
    }
    layer::<128>(&mut u);
    layer::<64>(&mut u);
    layer::<32>(&mut u);
    layer::<16>(&mut u);
    layer::<8>(&mut u);
    layer::<4>(&mut u);
    layer::<2>(&mut u);
    layer::<1>(&mut u);
    for (u, c) in u.iter().zip(&mut w.0) {
        *c = *u as i32;
    }
}

/// FIPS 204, Algorithm 42 (NTT^-1), of a sum of products: also takes away their factor 2^-32.
///
/// 0 ≤ c < 2^31 on entry; the representative mod± q on return.
pub(crate) fn inverse_ntt(w: &mut Poly) {
    debug_assert!(w.0.iter().all(|c| 0 <= *c));
    let mut u = [0u32; N];
    for (u, c) in u.iter_mut().zip(&w.0) {
        *u = reduce(*c as u32);
    }
    // 2q·2^8 = 512q < 2^32: the sums need no reduction on their way.
    const { assert!(512 * (QU as u64) < 1 << 32) };
    inverse_layer::<1>(&mut u, 2 * QU);
    inverse_layer::<2>(&mut u, 4 * QU);
    inverse_layer::<4>(&mut u, 8 * QU);
    inverse_layer::<8>(&mut u, 16 * QU);
    inverse_layer::<16>(&mut u, 32 * QU);
    inverse_layer::<32>(&mut u, 64 * QU);
    inverse_layer::<64>(&mut u, 128 * QU);
    inverse_layer::<128>(&mut u, 256 * QU);
    for (u, c) in u.iter().zip(&mut w.0) {
        *c = centre(freeze(times(*u, SCALE)));
    }
}
