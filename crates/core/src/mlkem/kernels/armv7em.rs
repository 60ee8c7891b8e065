//! Armv7E-M with its DSP instructions, such as a Cortex-M4: two coefficients in a register.
//!
//! A product with a known factor is Plantard's («Efficient word size modular arithmetic», 2021; for these transforms first by
//! Huang and others, TCHES 2022): the factor w is kept as −w·2^32·q^-1 modulo 2^32, three instructions multiply any integer of
//! 16 bits by it, and the result is at most (q + 1)/2. Products of two unknowns are Montgomery's, as in `portable`.

#![allow(unsafe_code)] // Instructions that Rust has no name for.

use core::arch::asm;

use super::Kernels;
use super::portable::{PORTABLE, Q_INVERSE, ZETAS};
use crate::cpu::Level;
use crate::mlkem::ring::{Coefficients, Ntt, Q};

pub(super) const ARMV7EM: Kernels = Kernels {
    level: Level::Armv7em,
    ntt,
    inverse_ntt,
    multiply_add,
    inner_product,
    scale,
    add,
    subtract_from,
    reduce,
    ..PORTABLE
};

/// A factor w as −w·2^32·q^-1 modulo 2^32.
#[derive(Clone, Copy)]
struct Factor(u32);

impl Factor {
    #[allow(clippy::integer_division_remainder_used)] // evaluated by the compiler
    const fn new(w: i64) -> Self {
        let q = Q as i64;
        // q^-1 modulo 2^32: one step of Newton's from the inverse modulo 2^16.
        let inverse = Q_INVERSE as u32;
        let inverse = inverse.wrapping_mul(2u32.wrapping_sub((q as u32).wrapping_mul(inverse)));
        assert!(inverse.wrapping_mul(q as u32) == 1);
        Self(((-w.rem_euclid(q) << 32).rem_euclid(q) as u32).wrapping_mul(inverse))
    }

    /// ζ^BitRev7(i): `portable` keeps it times 2^16.
    const fn zeta(i: usize) -> Self {
        /// 2^-16 modulo q.
        const R_INVERSE: i64 = 169;
        Self::new(ZETAS[i].value as i64 * R_INVERSE)
    }

    /// w·x of both halves: at most (q + 1)/2 in absolute value, for any x.
    #[inline(always)]
    fn times(self, x: u32) -> u32 {
        let (low, high): (u32, u32);
        // SAFETY: arithmetic in registers; Q is below 2^15, no sum overflows.
        unsafe {
            asm!(
                "smulwb {low}, {w}, {x}",
                "smulwt {high}, {w}, {x}",
                "smlabb {low}, {low}, {q}, {round}",
                "smlabb {high}, {high}, {q}, {round}",
                w = in(reg) self.0, x = in(reg) x, q = in(reg) i32::from(Q), round = in(reg) i32::from(Q) << 3,
                low = out(reg) low, high = out(reg) high,
                options(pure, nomem, nostack, preserves_flags),
            );
        }
        upper_halves(low, high)
    }
}

/// The upper half of the first, and above it that of the second.
#[inline(always)]
fn upper_halves(low: u32, high: u32) -> u32 {
    low >> 16 | high & 0xffff_0000
}

macro_rules! instructions {
    ($($name:ident($($operand:ident),*) = $text:literal, $doc:literal;)*) => {$(
        #[doc = $doc]
        #[inline(always)]
        fn $name($($operand: u32),*) -> u32 {
            let result;
            // SAFETY: arithmetic in registers; the flags GE and Q, which some set, are read by nothing.
            unsafe {
                asm!($text, $($operand = in(reg) $operand,)* result = lateout(reg) result,
                    options(pure, nomem, nostack));
            }
            result
        }
    )*};
}

instructions! {
    add_both(a, b) = "uadd16 {result}, {a}, {b}", "The sums of the halves.";
    subtract_both(a, b) = "usub16 {result}, {a}, {b}", "The differences of the halves.";
    low_product(a, b) = "smulbb {result}, {a}, {b}", "The product of the lower halves.";
    high_product(a, b) = "smultt {result}, {a}, {b}", "The product of the upper halves.";
    cross_products(a, b) = "smuadx {result}, {a}, {b}", "The products of each lower and the other's upper half, added.";
    add_low_product(a, b, c) = "smlabb {result}, {a}, {b}, {c}", "c, plus the product of the lower halves.";
    add_mixed_product(a, b, c) = "smlatb {result}, {a}, {b}, {c}", "c, plus a's upper half times b's lower.";
}

/// Word i of a polynomial: coefficients 2i and 2i + 1.
#[inline(always)]
fn word(f: &Coefficients, i: usize) -> u32 {
    let pair = &f.as_chunks::<2>().0[i];
    u32::from(pair[0] as u16) | u32::from(pair[1] as u16) << 16
}

#[inline(always)]
fn set_word(f: &mut Coefficients, i: usize, word: u32) {
    f.as_chunks_mut::<2>().0[i] = [word as i16, (word >> 16) as i16];
}

/// The factors of the forward transform in the order of their use; the inverse transform takes each part backwards.
struct Zetas {
    /// Of the layers of length 128, 64 and 32.
    first: [Factor; 7],
    /// Of the layers of length 16, 8 and 4, for 32 coefficients.
    middle: [[Factor; 7]; 8],
    /// Of the layer of length 2.
    last: [Factor; 64],
}

static ZETAS_IN_ORDER: Zetas = {
    /// Of three layers, from the i-th block of `blocks` in the first of them on.
    const fn three(blocks: usize, i: usize) -> [Factor; 7] {
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
    let (mut middle, mut last) = ([[Factor(0); 7]; 8], [Factor(0); 64]);
    let mut i = 0;
    while i < 8 {
        middle[i] = three(8, i);
        i += 1;
    }
    i = 0;
    while i < 64 {
        last[i] = Factor::zeta(64 + i);
        i += 1;
    }
    Zetas { first: three(1, 0), middle, last }
};

/// Butterflies of eight words, in three layers; each adds (q + 1)/2 to a bound.
#[inline(always)]
fn three_layers(w: &mut [u32; 8], zetas: &[Factor; 7]) {
    let mut butterfly = |a: usize, b: usize, zeta: Factor| {
        let t = zeta.times(w[b]);
        w[b] = subtract_both(w[a], t);
        w[a] = add_both(w[a], t);
    };
    for i in 0..4 {
        butterfly(i, i + 4, zetas[0]);
    }
    for i in [0, 1, 4, 5] {
        butterfly(i, i + 2, zetas[1 + (i >> 2)]);
    }
    for i in [0, 2, 4, 6] {
        butterfly(i, i + 1, zetas[3 + (i >> 1)]);
    }
}

/// The same backwards.
#[inline(always)]
fn three_inverse_layers(w: &mut [u32; 8], zetas: &[Factor; 7]) {
    let mut butterfly = |a: usize, b: usize, zeta: Factor| {
        let difference = subtract_both(w[b], w[a]);
        w[a] = add_both(w[a], w[b]);
        w[b] = zeta.times(difference);
    };
    for i in [0, 2, 4, 6] {
        butterfly(i, i + 1, zetas[6 - (i >> 1)]);
    }
    for i in [0, 1, 4, 5] {
        butterfly(i, i + 2, zetas[2 - (i >> 2)]);
    }
    for i in 0..4 {
        butterfly(i, i + 4, zetas[0]);
    }
}

/// Eight words, `stride` apart, go through `work`.
#[inline(always)]
fn eight_words(f: &mut Coefficients, start: usize, stride: usize, work: impl FnOnce(&mut [u32; 8])) {
    let mut w = [0; 8];
    for (i, w) in w.iter_mut().enumerate() {
        *w = word(f, start + i * stride);
    }
    work(&mut w);
    for (i, w) in w.into_iter().enumerate() {
        set_word(f, start + i * stride, w);
    }
}

fn ntt(f: &mut Coefficients) {
    debug_assert!(f.iter().all(|x| x.abs() <= Q));
    // q and seven halves more: below 5q.
    for i in 0..16 {
        eight_words(f, i, 16, |w| three_layers(w, &ZETAS_IN_ORDER.first));
    }
    for (block, zetas) in ZETAS_IN_ORDER.middle.iter().enumerate() {
        for i in 0..2 {
            eight_words(f, 16 * block + i, 2, |w| three_layers(w, zetas));
        }
    }
    for (i, zeta) in ZETAS_IN_ORDER.last.iter().enumerate() {
        let (a, t) = (word(f, 2 * i), zeta.times(word(f, 2 * i + 1)));
        set_word(f, 2 * i, ONE.times(add_both(a, t)));
        set_word(f, 2 * i + 1, ONE.times(subtract_both(a, t)));
    }
}

/// Reduces.
const ONE: Factor = Factor::new(1);

/// 2^16.
const R: Factor = Factor::new(1 << 16);

fn inverse_ntt(f: &mut Coefficients) {
    debug_assert!(f.iter().all(|x| i32::from(x.abs()) <= 8 * i32::from(Q)));
    for (i, zeta) in ZETAS_IN_ORDER.last.iter().rev().enumerate() {
        let (a, b) = (ONE.times(word(f, 2 * i)), ONE.times(word(f, 2 * i + 1)));
        set_word(f, 2 * i, add_both(a, b));
        set_word(f, 2 * i + 1, zeta.times(subtract_both(b, a)));
    }
    // From q + 1 on, a bound doubles where sums are added to sums: 8q + 8 for the first of eight words, a quarter of it for the
    // second, less for the others; these two are reduced.
    const { assert!(8 * (Q as i32 + 1) < 1 << 15) };
    for (block, zetas) in ZETAS_IN_ORDER.middle.iter().rev().enumerate() {
        for i in 0..2 {
            eight_words(f, 16 * block + i, 2, |w| {
                three_inverse_layers(w, zetas);
                w[0] = ONE.times(w[0]);
                w[1] = ONE.times(w[1]);
            });
        }
    }
    /// 128^-1, times R.
    const LAST: Factor = Factor::new(3303 * (1 << 16));
    /// That, times the factor of the layer of length 128.
    const LAST_ZETA: Factor = Factor::new(3303 * ZETAS[1].value as i64);
    let mut zetas = ZETAS_IN_ORDER.first;
    zetas[0] = LAST_ZETA;
    for i in 0..16 {
        eight_words(f, i, 16, |w| {
            three_inverse_layers(w, &zetas);
            w[..4].iter_mut().for_each(|w| *w = LAST.times(*w));
        });
    }
}

/// t·2^-16 modulo q in the upper half, of absolute value at most |t|·2^-16 + (q + 1)/2 (Montgomery).
#[inline(always)]
fn reduce_product(t: u32) -> u32 {
    let m = low_product(t, Q_INVERSE.wrapping_neg() as u32);
    add_low_product(m, Q as u32, t)
}

fn multiply_add(sum: &mut Coefficients, a: &Coefficients, b: &Coefficients) {
    debug_assert!(a.iter().all(|x| i32::from(x.abs()) <= 8 * i32::from(Q)));
    debug_assert!(b.iter().all(|x| x.abs() <= Q));
    // 16q² for the cross products: less than q after the reduction, and (q + 1)/2.
    const { assert!(16 * (Q as i64) * (Q as i64) >> 16 < Q as i64) };
    for (i, zeta) in ZETAS[64..].iter().enumerate() {
        for (i, zeta) in [(2 * i, zeta.value), (2 * i + 1, -zeta.value)] {
            let (a, b) = (word(a, i), word(b, i));
            let upper = reduce_product(high_product(a, b));
            let even = add_mixed_product(upper, zeta as u32, low_product(a, b));
            let product = upper_halves(reduce_product(even), reduce_product(cross_products(a, b)));
            set_word(sum, i, add_both(word(sum, i), product));
        }
    }
}

fn inner_product(sum: &mut Coefficients, a: &[Ntt], stride: usize, b: &[Ntt]) {
    for (a, b) in a.iter().step_by(stride).zip(b) {
        multiply_add(sum, &a.0.0, &b.0.0);
    }
}

fn scale(f: &mut Coefficients) {
    for i in 0..128 {
        set_word(f, i, R.times(word(f, i)));
    }
}

fn reduce(f: &mut Coefficients) {
    for i in 0..128 {
        set_word(f, i, ONE.times(word(f, i)));
    }
}

fn add(a: &mut Coefficients, b: &Coefficients) {
    for i in 0..128 {
        set_word(a, i, add_both(word(a, i), word(b, i)));
    }
}

fn subtract_from(a: &mut Coefficients, b: &Coefficients) {
    for i in 0..128 {
        set_word(a, i, subtract_both(word(b, i), word(a, i)));
    }
}

#[cfg(test)]
#[allow(clippy::integer_division_remainder_used)]
mod tests {
    use super::*;

    #[test]
    fn a_known_factor_multiplies_every_integer_of_sixteen_bits() {
        let all = [1, 1 << 16, 3303, 3328].into_iter().chain((0..128).map(|i| i64::from(ZETAS[i].value)));
        for w in all {
            for x in i16::MIN..=i16::MAX {
                let product = Factor::new(w).times(u32::from(x as u16) | 7 << 16);
                let (low, high) = (i64::from(product as i16), i64::from((product >> 16) as i16));
                assert!(low.abs() <= (i64::from(Q) + 1) / 2);
                assert_eq!((low - i64::from(x) * w) % i64::from(Q), 0);
                assert_eq!((high - 7 * w) % i64::from(Q), 0);
            }
        }
    }
}
