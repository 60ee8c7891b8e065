//! The kernels in plain Rust: the specification of every other table.
//!
//! Arithmetic is unsigned and lazy, because the least common denominator of vector units (SSE2) multiplies
//! unsigned 32-bit lanes to 64 bits and has neither a signed product nor a minimum. Reductions use the
//! shape of q = 2^23 - 8191: no mask is made, hence nothing that a compiler could turn into a branch.

use super::{Kernels, Short};
use crate::cpu::Level;
use crate::mldsa::ring::{D, N, Poly, Q};
use crate::secret::declassify_value;

/// Plain Rust, for every target.
pub(crate) static PORTABLE: Kernels = Kernels {
    level: Level::Portable,
    ntt,
    inverse_ntt,
    multiply,
    multiply_add,
    inner_product,
    add_short_product,
    reject_uniform,
    reject_bounded,
    power2round,
    decompose_44,
    decompose_16,
    is_below,
    high_bits_44,
    high_bits_16,
    make_hint,
    pack,
    unpack,
};

const QU: u32 = Q as u32;

/// 2^23 - q: what a multiple of 2^23 leaves behind mod q.
const REST: u32 = (1 << 23) - QU;

/// q^-1 mod 2^32, by Newton's iteration.
pub(super) const Q_INVERSE: u32 = {
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
pub(super) struct Factor {
    pub(super) f: u32,
    #[cfg(not(gambeson_size))]
    f_q_inverse: u32,
}

impl Factor {
    pub(super) const fn new(f: u32) -> Self {
        Self {
            f,
            #[cfg(not(gambeson_size))]
            f_q_inverse: f.wrapping_mul(Q_INVERSE),
        }
    }

    /// f·q^-1 mod 2^32: where the program is to be small, multiplied anew, for a kilobyte of tables.
    #[inline(always)]
    pub(super) const fn f_q_inverse(self) -> u32 {
        #[cfg(not(gambeson_size))]
        return self.f_q_inverse;
        #[cfg(gambeson_size)]
        return self.f.wrapping_mul(Q_INVERSE);
    }
}

/// `x`·2^32 mod q as a factor.
const fn factor(x: u64) -> Factor {
    // The divisions of this function are done by the compiler: it is called for constants only.
    #[allow(clippy::integer_division_remainder_used)]
    let f = ((x << 32) % QU as u64) as u32;
    Factor::new(f)
}

/// ζ^BitRev8(k) for k from 0 to 255 (FIPS 204, Appendix B), ζ = 1753.
pub(super) const ZETAS: [Factor; N] = {
    let mut powers = [1u64; N];
    let mut i = 1;
    while i < N {
        #[allow(clippy::integer_division_remainder_used)]
        let next = (powers[i - 1] * 1753) % QU as u64;
        powers[i] = next;
        i += 1;
    }
    let mut zetas = [Factor::new(0); N];
    let mut k = 0;
    while k < N {
        zetas[k] = factor(powers[(k as u8).reverse_bits() as usize]);
        k += 1;
    }
    zetas
};

/// 2^32·256^-1: undoes the factor 256 of the inverse transform and the 2^-32 of the product before it.
/// 256^-1 = 8347681 mod q (FIPS 204, Algorithm 42).
pub(super) const SCALE: Factor = {
    #[allow(clippy::integer_division_remainder_used)]
    let montgomery = (1u64 << 32) % QU as u64;
    #[allow(clippy::integer_division_remainder_used)]
    let x = (montgomery * 8_347_681) % QU as u64;
    factor(x)
};

/// `a·b·2^-32` mod q, in 1..2q; `a·b < 2^32·q`.
#[inline(always)]
pub(super) const fn montgomery(a: u32, b: u32) -> u32 {
    let p = a as u64 * b as u64;
    debug_assert!(p >> 32 < QU as u64);
    let m = (p as u32).wrapping_mul(Q_INVERSE);
    // p and m·q agree in their low halves, so the difference of the high ones is exact.
    let n = m as u64 * QU as u64;
    ((p >> 32) as u32 + QU) - (n >> 32) as u32
}

/// [`montgomery`], in 0..2q, for processors that add a product to a double word: three instructions in place of five, on
/// Armv7E-M.
#[inline(always)]
pub(crate) fn montgomery_word(a: u32, b: u32) -> u32 {
    let p = a as u64 * b as u64;
    debug_assert!(p >> 32 < QU as u64);
    let m = (p as u32).wrapping_mul(Q_INVERSE.wrapping_neg());
    ((p + m as u64 * QU as u64) >> 32) as u32
}

/// `a·x` mod q for the constant x of the factor, in 1..2q, for any `a`.
#[inline(always)]
fn times(a: u32, x: Factor) -> u32 {
    let high = ((a as u64 * x.f as u64) >> 32) as u32;
    let m = a.wrapping_mul(x.f_q_inverse());
    let n = ((m as u64 * QU as u64) >> 32) as u32;
    (high + QU) - n
}

/// [`times`] in the words of a 64-bit processor: one number is kept where [`times`] keeps two halves.
#[inline(always)]
fn times_scalar(a: u32, x: Factor) -> u32 {
    let p = a as u64 * x.f as u64;
    let m = (p & 0xffff_ffff) * Q_INVERSE as u64;
    let n = (m & 0xffff_ffff) * QU as u64;
    ((p + ((QU as u64) << 32) - n) >> 32) as u32
}

/// `a` mod q, below 2q, for any `a`.
#[inline(always)]
pub(crate) fn reduce(a: u32) -> u32 {
    (a & ((1 << 23) - 1)) + (a >> 23) * REST
}

/// `a` mod q in 0..q; `a < 2q`.
#[inline(always)]
pub(crate) const fn freeze(a: u32) -> u32 {
    debug_assert!(a < 2 * QU);
    // 1 exactly if a ≥ q, since 2q + 8191 < 2^24.
    let over = (a + REST) >> 23;
    debug_assert!(over < 2);
    a - over * QU
}

/// `a` mod± q, in -(q-1)/2..=(q-1)/2; `0 ≤ a < q`.
#[inline(always)]
pub(super) fn centre(a: u32) -> i32 {
    // 1 exactly if a > (q-1)/2.
    let over = (a + ((1 << 23) - ((QU + 1) >> 1))) >> 23;
    a as i32 - (over * QU) as i32
}

/// `a` mod q in 0..q; `-q < a < q`.
#[inline(always)]
fn lift(a: i32) -> u32 {
    debug_assert!(-Q < a && a < Q);
    let negative = a as u32 >> 31;
    (a as u32).wrapping_add(negative * QU)
}

/// One layer of the forward transform, of butterflies 2^`log` apart; a bound of the values grows by 2q.
///
/// Not inlined, and `log` not a constant: compilers would unroll the inner loop of eight or sixteen turns first, and
/// then no longer see that it is a vector operation.
#[inline(never)]
fn layer(w: &mut [i32], log: u32, zetas: &[Factor]) {
    for (block, zeta) in w.chunks_exact_mut(2 << log).zip(zetas) {
        let (low, high) = block.split_at_mut(1 << log);
        for (a, b) in low.iter_mut().zip(high) {
            let t = times(*b as u32, *zeta);
            *b = (*a as u32 + 2 * QU - t) as i32;
            *a = (*a as u32 + t) as i32;
        }
    }
}

/// [`layer`] for blocks too narrow for vectors.
#[inline(always)]
fn narrow_layer<const LOG: usize>(w: &mut [i32], zetas: &[Factor]) {
    for (block, zeta) in w.chunks_exact_mut(2 << LOG).zip(zetas) {
        let (low, high) = block.split_at_mut(1 << LOG);
        for (a, b) in low.iter_mut().zip(high) {
            let t = times_scalar(*b as u32, *zeta);
            *b = (*a as u32 + 2 * QU - t) as i32;
            *a = (*a as u32 + t) as i32;
        }
    }
}

/// One layer of the inverse transform, of butterflies 2^`log` apart; a bound of the values doubles, from 2q·2^`log`.
///
/// Not inlined for the reason of [`layer`].
#[inline(never)]
fn inverse_layer(w: &mut Poly, log: u32) {
    let bound = (2 * QU) << log;
    // The standard multiplies a - b by -ζ; here b - a by ζ.
    for (block, zeta) in w.0.chunks_exact_mut(2 << log).zip(ZETAS[128 >> log..256 >> log].iter().rev()) {
        let (low, high) = block.split_at_mut(1 << log);
        for (a, b) in low.iter_mut().zip(high) {
            let difference = *b as u32 + bound - *a as u32;
            *a = (*a as u32 + *b as u32) as i32;
            *b = times(difference, *zeta) as i32;
        }
    }
}

/// [`inverse_layer`] for blocks too narrow for vectors.
#[inline(always)]
fn narrow_inverse_layer<const LOG: usize>(w: &mut Poly) {
    let bound = const { (2 * QU) << LOG };
    for (block, zeta) in w.0.chunks_exact_mut(2 << LOG).zip(ZETAS[128 >> LOG..256 >> LOG].iter().rev()) {
        let (low, high) = block.split_at_mut(1 << LOG);
        for (a, b) in low.iter_mut().zip(high) {
            let difference = *b as u32 + bound - *a as u32;
            *a = (*a as u32 + *b as u32) as i32;
            *b = times_scalar(difference, *zeta) as i32;
        }
    }
}

/// FIPS 204, Algorithm 41 (NTT), with 2q added by each layer and no reduction.
///
/// -q < c < q on entry, 0 ≤ c < 18q on return.
pub(crate) fn ntt(w: &mut Poly) {
    debug_assert!(w.0.iter().all(|c| -Q < *c && *c < Q));
    for c in &mut w.0 {
        *c += Q;
    }
    for log in (2..8).rev() {
        layer(&mut w.0, log, &ZETAS[128 >> log..]);
    }
    narrow_layer::<1>(&mut w.0, &ZETAS[64..]);
    narrow_layer::<0>(&mut w.0, &ZETAS[128..]);
}

/// FIPS 204, Algorithm 14 (CoeffFromThreeBytes); `None` for ⊥.
///
/// Variable time: the matrix is public.
#[inline(always)]
pub(crate) fn candidate_one([b0, b1, b2]: [u8; 3]) -> Option<u32> {
    let z = u32::from(b0) | u32::from(b1) << 8 | u32::from(b2 & 0x7f) << 16;
    (z < QU).then_some(z)
}

/// Adds to the sums the products, times 2^-32, of the candidates below q and of as many factors, in their order, until either are used
/// up; returns how many were added, and how many candidates that took. 0 ≤ factor < 18q; a sum grows by less than 2q.
#[cfg(any(not(gambeson_dsp), test))]
#[inline(always)]
pub(crate) fn add_products_vartime(
    sums: &mut [i32],
    factors: &[i32],
    candidates: &[[u8; 3]],
) -> (usize, usize) {
    let (mut added, mut taken) = (0, 0);
    for candidate in candidates {
        taken += 1;
        if let (Some(a), Some(sum), Some(factor)) =
            (candidate_one(*candidate), sums.get_mut(added), factors.get(added))
        {
            *sum += montgomery_word(a, *factor as u32) as i32;
            added += 1;
            if added == factors.len() {
                break;
            }
        }
    }
    (added, taken)
}

/// The first layer of [`ntt`], of one butterfly: its lower sum where `upper` is 0, its upper one where that is 1.
///
/// -q < a, b < q on entry, 0 ≤ c < 4q on return.
#[cfg(any(not(gambeson_dsp), test))]
#[inline(always)]
pub(crate) fn half_butterfly(a: i32, b: i32, upper: usize) -> i32 {
    let t = montgomery_word((b + Q) as u32, ZETAS[1].f) as i32;
    if upper == 0 { a + Q + t } else { a + 3 * Q - t }
}

/// The other seven layers of [`ntt`], of one half of the polynomial: the halves do not meet again.
///
/// 0 ≤ c < 4q on entry, 0 ≤ c < 18q on return.
#[cfg(any(not(gambeson_dsp), test))]
pub(crate) fn half_ntt(w: &mut [i32; N >> 1], upper: usize) {
    for log in [6, 4, 2] {
        two_layers(w, log, (2 + upper) << (6 - log));
    }
    for (pair, zeta) in w.as_chunks_mut::<2>().0.iter_mut().zip(&ZETAS[128 + 64 * upper..]) {
        (pair[0], pair[1]) = butterfly(pair[0], pair[1], *zeta);
    }
}

/// Eight coefficients of a product with the challenge, from 8·`group` on, whose first places, `ones` of them, are those of 1, and the others
/// those of -1; `multiplicand` begins with its last eight coefficients negated, and then has all.
///
/// The time and the addresses depend on the places.
#[inline(never)]
#[cfg_attr(gambeson_dsp, allow(dead_code))]
pub(crate) fn challenge_product(
    multiplicand: &[i16; N + 8],
    places: &[u8],
    ones: usize,
    group: usize,
    product: &mut [i32; 8],
) {
    // By fours, which leaves registers for the rest.
    for (first, product) in (0..).step_by(4).zip(product.as_chunks_mut::<4>().0) {
        let from = 8 * (group + 1) + first + N - 1;
        let mut sums = [0; 4];
        for (n, place) in places.iter().enumerate() {
            // X^256 = -1: the coefficient i of X^j·p is p[i - j], or -p[i - j + 256] where that is below 0.
            let at = from + if n < ones { N } else { 0 } - usize::from(*place);
            let sign = 1 - (at >> 7 & 2) as i32;
            for (sum, value) in sums.iter_mut().zip(&multiplicand[(at & (N - 1)) + 1..][..4]) {
                *sum += sign * i32::from(*value);
            }
        }
        *product = sums;
    }
}

/// Layers of butterflies 2^`log` and half of it apart, four coefficients in registers: for processors without vectors, which
/// spend half of a layer on loads and stores. The first layer's factors begin at `first`.
#[cfg(any(not(gambeson_dsp), test))]
#[inline(never)]
fn two_layers(w: &mut [i32], log: u32, first: usize) {
    for (block, k) in w.chunks_exact_mut(2 << log).zip(first..) {
        let [zeta, left, right] = [k, 2 * k, 2 * k + 1].map(|k| ZETAS[k & (N - 1)]);
        let (ab, cd) = block.split_at_mut(1 << log);
        let (a, b) = ab.split_at_mut(1 << (log - 1));
        let (c, d) = cd.split_at_mut(1 << (log - 1));
        for (((a, b), c), d) in a.iter_mut().zip(b).zip(c).zip(d) {
            let (e, g) = butterfly(*a, *c, zeta);
            let (f, h) = butterfly(*b, *d, zeta);
            (*a, *b) = butterfly(e, f, left);
            (*c, *d) = butterfly(g, h, right);
        }
    }
}

/// The sums a + ζb and a - ζb, which 2q keeps from being negative.
#[cfg(any(not(gambeson_dsp), test))]
#[inline(always)]
fn butterfly(a: i32, b: i32, zeta: Factor) -> (i32, i32) {
    let t = montgomery_word(b as u32, zeta.f);
    ((a as u32 + t) as i32, (a as u32 + 2 * QU - t) as i32)
}

/// FIPS 204, Algorithm 42 (NTT^-1), of a sum of products: also takes away their factor 2^-32.
///
/// 0 ≤ c < 2^31 on entry; the representative mod± q on return.
pub(crate) fn inverse_ntt(w: &mut Poly) {
    debug_assert!(w.0.iter().all(|c| 0 <= *c));
    for c in &mut w.0 {
        *c = reduce(*c as u32) as i32;
    }
    // 2q·2^8 = 512q < 2^32: the sums need no reduction on their way.
    const { assert!(512 * (QU as u64) < 1 << 32) };
    let narrow = if cfg!(gambeson_size) { 0 } else { 2 };
    if narrow > 0 {
        narrow_inverse_layer::<0>(w);
        narrow_inverse_layer::<1>(w);
    }
    for log in narrow..8 {
        inverse_layer(w, log);
    }
    for c in &mut w.0 {
        *c = centre(freeze(times(*c as u32, SCALE)));
    }
}

/// `a ∘ b`: FIPS 204, Algorithm 45 (MultiplyNTT), times 2^-32, which `inverse_ntt` takes away.
///
/// 0 ≤ a, b and a·b < 2^32·q on entry, 0 ≤ c < 2q on return.
pub(crate) fn multiply(a: &mut Poly, b: &Poly) {
    for (a, b) in a.0.iter_mut().zip(&b.0) {
        *a = montgomery(*a as u32, *b as u32) as i32;
    }
}

/// `c + a ∘ b`, the product as in `multiply`; 2q is added to a bound of `c`, which must stay below 2^31.
pub(crate) fn multiply_add(c: &mut Poly, a: &Poly, b: &Poly) {
    for ((c, a), b) in c.0.iter_mut().zip(&a.0).zip(&b.0) {
        *c += montgomery(*a as u32, *b as u32) as i32;
    }
}

/// The products of `a\[0\]`, `a\[stride\]`, … and `b\[0\]`, `b\[1\]`, …, added up.
pub(crate) fn inner_product(c: &mut Poly, a: &[Poly], stride: usize, b: &[Poly]) {
    c.0 = a[0].0;
    multiply(c, &b[0]);
    for (a, b) in a.iter().step_by(stride).zip(b).skip(1) {
        multiply_add(c, a, b);
    }
}

/// How many coefficients of at most `eta` can be added in a byte.
#[inline]
pub(super) const fn at_once(eta: i32) -> usize {
    if eta == 2 { 63 } else { 31 }
}

/// `p` + c·`s`, in bytes as long as they hold the sum.
pub(crate) fn add_short_product(p: &mut Poly, s: &Short, places: &[u16], eta: i32, bound: i32) -> u32 {
    for places in places.chunks(at_once(eta)) {
        let mut sum = [0i8; N];
        for place in places {
            let shifted = &s.0[2 * N - usize::from(*place)..][..N];
            for (sum, s) in sum.iter_mut().zip(shifted) {
                *sum = sum.wrapping_add(*s);
            }
        }
        for (c, sum) in p.0.iter_mut().zip(sum) {
            *c += i32::from(sum);
        }
    }
    is_below(p, bound)
}

/// The inner loop of FIPS 204, Algorithm 30 (RejNTTPoly): fills `a` from place `filled` on with the values
/// below q among the 23-bit strings of `bytes`, three bytes each; returns how many coefficients stand.
///
/// Variable time: the matrix is public.
pub(crate) fn reject_uniform(a: &mut Poly, filled: usize, bytes: &[u8]) -> usize {
    let mut filled = filled;
    for [b0, b1, b2] in bytes.as_chunks::<3>().0 {
        // FIPS 204, Algorithm 14 (CoeffFromThreeBytes).
        let z = i32::from(*b0) | i32::from(*b1) << 8 | i32::from(*b2 & 0x7f) << 16;
        let Some(place) = a.0.get_mut(filled) else { break };
        *place = z;
        filled += usize::from(z < Q);
    }
    filled
}

/// The inner loop of FIPS 204, Algorithm 31 (RejBoundedPoly): fills `s` from place `filled` on with what the half
/// bytes of `bytes` give; returns how many coefficients stand. The time says which half bytes were refused, no more.
pub(crate) fn reject_bounded(s: &mut Poly, filled: usize, bytes: &[u8], eta: i32) -> usize {
    if eta == 2 { reject_halves(s, filled, bytes, 2) } else { reject_halves(s, filled, bytes, 4) }
}

#[inline(always)]
fn reject_halves(s: &mut Poly, filled: usize, bytes: &[u8], eta: i32) -> usize {
    let mut filled = filled;
    for byte in bytes {
        for half in [u32::from(byte & 15), u32::from(byte >> 4)] {
            let Some(place) = s.0.get_mut(filled) else { return filled };
            let (coefficient, accepted) = bounded_one(half, eta);
            *place = coefficient;
            // public: which half bytes were refused; they are independent of the accepted ones, and say nothing of them.
            filled += declassify_value(accepted) as usize;
        }
    }
    filled
}

/// FIPS 204, Algorithm 15 (CoeffFromHalfByte), without a branch or an index on it, and 1 or, for ⊥, 0.
#[inline(always)]
pub(crate) fn bounded_one(half: u32, eta: i32) -> (i32, u32) {
    if eta == 2 {
        // half mod 5 for half below 15: ⌊half/5⌋ = ⌊half·205/1024⌋.
        (2 - (half - 5 * ((half * 205) >> 10)) as i32, half.wrapping_sub(15) >> 31)
    } else {
        (4 - half as i32, half.wrapping_sub(9) >> 31)
    }
}

/// FIPS 204, Algorithm 35 (Power2Round): `t` becomes t0, in -4095..=4096, and `t1` is in 0..1024.
///
/// -q < t < q on entry.
pub(crate) fn power2round(t: &mut Poly, t1: &mut Poly) {
    for (t, t1) in t.0.iter_mut().zip(&mut t1.0) {
        (*t1, *t) = power2round_one(*t);
    }
}

/// The same of one coefficient: t1 and t0.
#[inline(always)]
pub(crate) fn power2round_one(t: i32) -> (i32, i32) {
    let r = lift(t) as i32;
    let t1 = (r + (1 << (D - 1)) - 1) >> D;
    (t1, r - (t1 << D))
}

/// α = 2·γ2.
#[allow(clippy::integer_division_remainder_used)]
pub(super) const fn alpha(m: i32) -> i32 {
    (Q - 1) / m
}

/// ⌈2^48 / α⌉: the product is exact in its integer part for dividends below 2^24.
#[allow(clippy::integer_division_remainder_used)]
pub(super) const fn reciprocal(m: i32) -> u64 {
    (1u64 << 48) / alpha(m) as u64 + 1
}

/// `(r1, r0)` of `Decompose` for 2·γ2 = (q - 1)/`M`; -q < r < q.
#[inline(always)]
fn decompose<const M: i32>(r: &mut Poly, r1: &mut Poly) {
    for (r, r1) in r.0.iter_mut().zip(&mut r1.0) {
        (*r1, *r) = decompose_one::<M>(*r);
    }
}

/// The same of one coefficient: r1 and r0.
#[inline(always)]
pub(crate) fn decompose_one<const M: i32>(r: i32) -> (i32, i32) {
    let alpha = const { alpha(M) };
    let reciprocal = const { reciprocal(M) };
    let x = lift(r);
    // ⌈(x - γ2)/α⌉ = ⌊(x + γ2 - 1)/α⌋, in 0..=M.
    let quotient = (((x + (alpha as u32 >> 1) - 1) as u64 * reciprocal) >> 48) as i32;
    // 1 exactly if the quotient is M: then x - r0 = q - 1, and the standard has r1 = 0 and one less in r0.
    let wrapped = (quotient + (64 - M)) >> 6;
    (quotient - wrapped * M, x as i32 - quotient * alpha - wrapped)
}

/// FIPS 204, Algorithm 36 (Decompose), for γ2 = (q - 1)/88: `r` becomes r0, and `r1` is in 0..44.
pub(crate) fn decompose_44(r: &mut Poly, r1: &mut Poly) {
    decompose::<44>(r, r1);
}

/// FIPS 204, Algorithm 36 (Decompose), for γ2 = (q - 1)/32: `r` becomes r0, and `r1` is in 0..16.
pub(crate) fn decompose_16(r: &mut Poly, r1: &mut Poly) {
    decompose::<16>(r, r1);
}

#[inline(always)]
fn high_bits<const M: i32, const BITS: usize>(r: &mut Poly, packed: &mut [u8], not_zero: &mut [u32; 8]) {
    let mut r1 = Poly::ZERO;
    decompose::<M>(r, &mut r1);
    pack_bits::<BITS>(&r1, packed, |c| c as u32);
    for (word, r1) in not_zero.iter_mut().zip(r1.0.as_chunks::<32>().0) {
        *word = r1.iter().rev().fold(0, |word, r1| word << 1 | -r1 as u32 >> 31);
    }
}

/// [`decompose_44`] of w in signing; the high bits go to the hash, packed, and of them remains whether they are 0.
pub(crate) fn high_bits_44(r: &mut Poly, packed: &mut [u8], not_zero: &mut [u32; 8]) {
    high_bits::<44, 6>(r, packed, not_zero);
}

/// The same of [`decompose_16`].
pub(crate) fn high_bits_16(r: &mut Poly, packed: &mut [u8], not_zero: &mut [u32; 8]) {
    high_bits::<16, 4>(r, packed, not_zero);
}

/// FIPS 204, Algorithm 39 (MakeHint), of a row, as `hint::make_hint` explains.
pub(crate) fn make_hint(sum: &Poly, gamma2: i32, hint: &mut [u32; 8]) -> u32 {
    let mut count = 0;
    for (word, sum) in hint.iter_mut().zip(sum.0.as_chunks::<32>().0) {
        let not_zero = *word;
        let mut bits = 0;
        for (i, sum) in (0..).zip(sum) {
            debug_assert!(sum.abs() < 2 * gamma2);
            let bit = hint_one(*sum, gamma2, not_zero >> i & 1);
            bits |= bit << i;
            count += bit;
        }
        *word = bits;
    }
    count
}

/// The same of one coefficient: 1 or 0; `not_zero` is 1 if r1 is not 0.
#[inline(always)]
pub(crate) fn hint_one(sum: i32, gamma2: i32, not_zero: u32) -> u32 {
    let above = (gamma2 - sum) as u32 >> 31;
    let below = (gamma2 + sum - not_zero as i32) as u32 >> 31;
    above | below
}

/// Writes 256 numbers of `BITS` bits, least significant first; `number` makes them from the coefficients.
#[inline(always)]
fn pack_bits<const BITS: usize>(p: &Poly, out: &mut [u8], number: impl Fn(i32) -> u32) {
    debug_assert_eq!(out.len(), 32 * BITS);
    let groups = p.0.as_chunks::<8>().0;
    for (group, out) in groups.iter().zip(out.as_chunks_mut::<BITS>().0) {
        pack_group(out, group.iter().map(|c| number(*c)));
    }
}

/// 1 if |c| < `bound` for every coefficient, else 0; |c| < 2^30.
///
/// Every coefficient is looked at: the time says nothing of which one is large.
fn is_below(p: &Poly, bound: i32) -> u32 {
    debug_assert!(p.0.iter().all(|c| c.abs() < 1 << 30));
    let outside = p.0.iter().fold(0, |outside, c| outside | within(*c, bound));
    ((outside as u32) >> 31) ^ 1
}

/// Not negative exactly if |c| < `bound`.
#[inline(always)]
pub(crate) fn within(c: i32, bound: i32) -> i32 {
    (bound - 1 - c) | (bound - 1 + c)
}

/// Writes eight numbers.
#[inline(always)]
fn pack_group<const BITS: usize>(out: &mut [u8; BITS], numbers: impl Iterator<Item = u32>) {
    let (mut buffer, mut bits, mut at) = (0u64, 0, 0);
    for x in numbers {
        debug_assert!(x >> BITS == 0);
        buffer |= u64::from(x) << bits;
        bits += BITS;
        while bits >= 8 {
            out[at] = buffer as u8;
            at += 1;
            buffer >>= 8;
            bits -= 8;
        }
    }
}

/// Coefficients in a group, which is as many bytes as a coefficient has bits.
pub(crate) const GROUP: usize = 8;

/// The number of this place among packed ones; no fewer than four bytes.
#[inline(always)]
pub(crate) fn number_at(packed: &[u8], width: usize, place: usize) -> u32 {
    let bit = width * place;
    // From a word that does not reach beyond the end.
    let at = (bit >> 3).min(packed.len() - 4);
    let word =
        packed.get(at..).and_then(|bytes| bytes.first_chunk()).map_or(0, |word| u32::from_le_bytes(*word));
    word >> (bit - 8 * at) & ((1 << width) - 1)
}

/// Packs a group of numbers; the number of bytes is their width.
#[inline(always)]
pub(crate) fn write_group(bytes: &mut [u8], number: impl FnMut(usize) -> u32) {
    #[inline(always)]
    fn to<const BITS: usize>(bytes: &mut [u8], numbers: [u32; GROUP]) {
        if let Some(bytes) = bytes.first_chunk_mut::<BITS>() {
            pack_group(bytes, numbers.into_iter());
        }
    }
    let numbers = core::array::from_fn(number);
    if cfg!(gambeson_size) {
        return write_bits(bytes, &numbers);
    }
    match bytes.len() {
        3 => to::<3>(bytes, numbers),
        4 => to::<4>(bytes, numbers),
        6 => to::<6>(bytes, numbers),
        10 => to::<10>(bytes, numbers),
        18 => to::<18>(bytes, numbers),
        _ => to::<20>(bytes, numbers),
    }
}

/// One loop for every width, in a build for size.
#[inline(never)]
fn write_bits(bytes: &mut [u8], numbers: &[u32; GROUP]) {
    let width = bytes.len();
    let mut numbers = numbers.iter();
    let (mut buffer, mut bits) = (0, 0);
    for byte in bytes {
        while bits < 8 {
            buffer |= numbers.next().map_or(0, |number| *number) << bits;
            bits += width;
        }
        *byte = buffer as u8;
        buffer >>= 8;
        bits -= 8;
    }
}

/// Coefficients of half a polynomial.
pub(crate) const HALF: usize = N >> 1;

/// A half of the polynomial after the first layer of its transform.
#[inline(never)]
pub(crate) fn read_half(packed: &[u8], high: i32, upper: usize, half: &mut [i32; HALF]) {
    let width = packed.len() >> 5;
    let (first, second) = packed.split_at(packed.len() >> 1);
    for (place, half) in half.iter_mut().enumerate() {
        let a = high - number_at(first, width, place) as i32;
        let b = high - number_at(second, width, place) as i32;
        *half = super::half_butterfly(a, b, upper);
    }
}

/// Reads 256 numbers of `BITS` bits, least significant first; `coefficient` makes the coefficients from them.
#[inline(always)]
fn unpack_bits<const BITS: usize>(bytes: &[u8], p: &mut Poly, coefficient: impl Fn(u32) -> i32) {
    debug_assert_eq!(bytes.len(), 32 * BITS);
    let groups = p.0.as_chunks_mut::<8>().0;
    for (group, bytes) in groups.iter_mut().zip(bytes.as_chunks::<BITS>().0) {
        for (i, c) in group.iter_mut().enumerate() {
            *c = coefficient(unpack_one(bytes, i));
        }
    }
}

/// FIPS 204, Algorithm 19 (BitUnpack), of t0: 13 bits.
pub(crate) fn unpack_t0(bytes: &[u8], t0: &mut Poly) {
    unpack_bits::<13>(bytes, t0, |x| (1 << 12) - x as i32);
}

/// The `i`-th of eight numbers.
#[inline(always)]
fn unpack_one<const BITS: usize>(bytes: &[u8; BITS], i: usize) -> u32 {
    let first = (i * BITS) >> 3;
    let mut x = 0;
    for (byte, shift) in bytes[first..].iter().zip([0, 8, 16, 24]) {
        x |= u32::from(*byte) << shift;
    }
    (x >> ((i * BITS) & 7)) & ((1 << BITS) - 1)
}

/// FIPS 204, Algorithm 17 (BitPack), or 16 (SimpleBitPack) where `high` is 0.
pub(crate) fn pack(out: &mut [u8], p: &Poly, high: i32) {
    let number = |c| (high - c) as u32;
    match out.len() >> 5 {
        3 => pack_bits::<3>(p, out, number),
        4 if high == 0 => pack_bits::<4>(p, out, |c| c as u32),
        4 => pack_bits::<4>(p, out, number),
        6 => pack_bits::<6>(p, out, |c| c as u32),
        10 => pack_bits::<10>(p, out, |c| c as u32),
        13 => pack_bits::<13>(p, out, number),
        18 => pack_bits::<18>(p, out, number),
        _ => pack_bits::<20>(p, out, number),
    }
}

/// FIPS 204, Algorithm 19 (BitUnpack), or 18 (SimpleBitUnpack) where `high` is 0.
pub(crate) fn unpack(p: &mut Poly, bytes: &[u8], high: i32) {
    let coefficient = |x| high - x as i32;
    match bytes.len() >> 5 {
        3 => unpack_bits::<3>(bytes, p, coefficient),
        4 => unpack_bits::<4>(bytes, p, coefficient),
        10 => unpack_bits::<10>(bytes, p, |x| x as i32),
        18 => unpack_bits::<18>(bytes, p, coefficient),
        _ => unpack_bits::<20>(bytes, p, coefficient),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values that fill `0..end`: all of them where that is quick, else a stride with both ends.
    fn range(end: u64) -> impl Iterator<Item = u32> {
        let stride = (end >> 22 | 1) as usize;
        (0..end).step_by(stride).chain(end.saturating_sub(1000)..end).map(|x| x as u32)
    }

    fn residue(x: impl Into<i128>) -> i128 {
        x.into().rem_euclid(i128::from(Q))
    }

    #[test]
    fn reductions_keep_the_residue_and_their_bounds() {
        for a in range(1 << 32) {
            let reduced = reduce(a);
            assert!(reduced < 2 * QU && residue(reduced) == residue(a), "reduce {a}");
        }
        for a in range(2 * u64::from(QU)) {
            assert_eq!(i128::from(freeze(a)), residue(a), "freeze {a}");
        }
        let half = Q >> 1;
        for a in range(u64::from(QU)) {
            let centred = centre(a);
            assert!((-half..=half).contains(&centred) && residue(centred) == i128::from(a), "centre {a}");
            assert_eq!(lift(centred), a);
            assert_eq!(lift(a as i32), a);
            assert_eq!(i128::from(lift(-(a as i32))), residue(-i64::from(a)));
        }
    }

    #[test]
    fn a_transform_by_halves_is_the_transform() {
        let mut w = Poly::ZERO;
        for (i, c) in (0..).zip(&mut w.0) {
            *c = (i * 2_654_435 + 77) & 0xf_ffff;
        }
        (w.0[0], w.0[1], w.0[129], w.0[255]) = (Q - 1, 1 - Q, 1 - Q, Q - 1);
        let halves = [0, 1].map(|upper| {
            let mut half = core::array::from_fn(|i| half_butterfly(w.0[i], w.0[i + 128], upper));
            assert!(half.iter().all(|c| (0..4 * Q).contains(c)));
            half_ntt(&mut half, upper);
            half
        });
        ntt(&mut w);
        for (half, whole) in halves.as_flattened().iter().zip(&w.0) {
            assert!((0..18 * Q).contains(half));
            assert_eq!(residue(*half), residue(*whole));
        }
    }

    #[test]
    fn products_are_divided_by_two_to_the_32_and_stay_in_bounds() {
        let shifted = |x: u32| residue(i128::from(x) << 32);
        let largest = 18 * QU - 1;
        for a in range(18 * u64::from(QU)).step_by(64) {
            for b in [0, 1, QU - 1, QU, 2 * QU - 1, largest, a] {
                for product in [montgomery(a, b), montgomery_word(a, b)] {
                    assert!(product < 2 * QU, "{a} {b}");
                    assert_eq!(shifted(product), residue(i128::from(a) * i128::from(b)));
                }
            }
        }
        for (k, zeta) in ZETAS.iter().enumerate() {
            // ζ^BitRev8(k), by the definition.
            let exponent = (k as u8).reverse_bits();
            let value = (0..exponent).fold(1, |x, _| residue(x * 1753));
            for a in range(1 << 32).step_by(1 << 14) {
                let product = times(a, *zeta);
                assert!(product < 2 * QU);
                assert_eq!(residue(product), residue(i128::from(a) * value), "{a}·ζ^{exponent}");
            }
        }
    }
}
