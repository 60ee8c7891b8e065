//! Armv7E-M with its DSP instructions, such as a Cortex-M4: two coefficients in a register.
//!
//! A product with a known factor is Plantard's («Efficient word size modular arithmetic», 2021; for these transforms first by
//! Huang and others, TCHES 2022): the factor w is kept as −w·2^32·q^-1 modulo 2^32, three instructions multiply any integer of
//! 16 bits by it, and the result is at most (q + 1)/2. Products of two unknowns are Montgomery's, as in `portable`.

#![allow(unsafe_code)] // Instructions that Rust has no name for.

use core::arch::{asm, naked_asm};

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
#[repr(transparent)]
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
}

/// Word i of a polynomial: coefficients 2i and 2i + 1.
#[inline(always)]
fn word(f: &Coefficients, i: usize) -> u32 {
    joined(f.as_chunks::<2>().0[i])
}

#[inline(always)]
fn set_word(f: &mut Coefficients, i: usize, word: u32) {
    f.as_chunks_mut::<2>().0[i] = parted(word);
}

#[inline(always)]
fn joined(pair: [i16; 2]) -> u32 {
    u32::from(pair[0] as u16) | u32::from(pair[1] as u16) << 16
}

#[inline(always)]
fn parted(word: u32) -> [i16; 2] {
    [word as i16, (word >> 16) as i16]
}

#[cfg(not(gambeson_size))]
use assembly::{inverse_ntt, ntt};
#[cfg(gambeson_size)]
use rolled::{inverse_ntt, ntt};

/// Three layers between load and store.
#[cfg(not(gambeson_size))]
mod assembly {
    use super::*;

    /// The factors of the forward transform in the order of their use; the inverse transform takes each part backwards.
    #[repr(C)]
    struct Factors {
        /// 128^-1, times 2^16; and that, times the factor of the layer of length 128: what ends the inverse transform.
        ends: [Factor; 2],
        /// Of the layers of length 128, 64 and 32.
        first: [Factor; 7],
        /// Of the layers of length 16, 8 and 4, for 32 coefficients.
        middle: [[Factor; 7]; 8],
        /// Of the layer of length 2.
        last: [Factor; 64],
    }

    static FACTORS: Factors = {
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
        let ends = [Factor::new(3303 << 16), Factor::new(3303 * ZETAS[1].value as i64)];
        Factors { ends, first: three(1, 0), middle, last }
    };

    pub fn ntt(f: &mut Coefficients) {
        debug_assert!(f.iter().all(|x| x.abs() <= Q));
        // SAFETY: 256 coefficients, and every factor of the transform.
        unsafe { forward(f, &FACTORS.first) }
    }

    #[unsafe(naked)]
    unsafe extern "C" fn forward(f: *mut Coefficients, factors: *const [Factor; 7]) {
        naked_asm!(
            include_str!("armv7em.s"),
            include_str!("armv7em_ntt.s"),
            include_str!("armv7em_end.s"),
            options(raw)
        );
    }

    pub fn inverse_ntt(f: &mut Coefficients) {
        debug_assert!(f.iter().all(|x| i32::from(x.abs()) <= 8 * i32::from(Q)));
        // SAFETY: 256 coefficients, and every factor of the transform in front of the end.
        unsafe { inverse(f, (&raw const FACTORS).add(1)) }
    }

    #[unsafe(naked)]
    unsafe extern "C" fn inverse(f: *mut Coefficients, end: *const Factors) {
        naked_asm!(
            include_str!("armv7em.s"),
            include_str!("armv7em_inverse_ntt.s"),
            include_str!("armv7em_end.s"),
            options(raw)
        );
    }
}

/// Layer by layer, in a build for size: a tenth of the code for twice the cycles.
#[cfg(any(gambeson_size, test))]
mod rolled {
    use super::*;

    /// ζ^BitRev7(i).
    static FACTORS: [Factor; 128] = {
        let mut factors = [Factor(0); 128];
        let mut i = 0;
        while i < 128 {
            factors[i] = Factor::zeta(i);
            i += 1;
        }
        factors
    };

    pub fn ntt(f: &mut Coefficients) {
        debug_assert!(f.iter().all(|x| x.abs() <= Q));
        let mut factors = FACTORS[1..].iter();
        // Each layer adds (q + 1)/2 to the bound.
        for log in (0..7).rev() {
            layer(f, 1 << log, &mut factors, |a, b, factor| {
                let t = factor.times(b);
                (add_both(a, t), subtract_both(a, t))
            });
        }
        reduce(f);
    }

    pub fn inverse_ntt(f: &mut Coefficients) {
        debug_assert!(f.iter().all(|x| i32::from(x.abs()) <= 8 * i32::from(Q)));
        let mut factors = FACTORS.iter().rev();
        for log in 0..7 {
            // Each layer doubles the bound of the lower half: 8q at most, of four from (q + 1)/2 on.
            if log == 0 || log == 3 {
                reduce(f);
            }
            layer(f, 1 << log, &mut factors, |a, b, factor| {
                (add_both(a, b), factor.times(subtract_both(b, a)))
            });
        }
        multiply_all(f, LAST);
    }

    /// 128^-1, times 2^16.
    const LAST: Factor = Factor::new(3303 << 16);

    /// Butterflies of words so far apart.
    #[inline(always)]
    fn layer<'a>(
        f: &mut Coefficients,
        length: usize,
        factors: &mut impl Iterator<Item = &'a Factor>,
        butterfly: impl Fn(u32, u32, Factor) -> (u32, u32),
    ) {
        let mut rest = f.as_chunks_mut::<2>().0;
        while let Some((low, others)) = rest.split_at_mut_checked(length)
            && let Some((high, others)) = others.split_at_mut_checked(length)
            && let Some(factor) = factors.next()
        {
            for (a, b) in low.iter_mut().zip(high) {
                let (sum, difference) = butterfly(joined(*a), joined(*b), *factor);
                (*a, *b) = (parted(sum), parted(difference));
            }
            rest = others;
        }
    }
}

fn multiply_add(sum: &mut Coefficients, a: &Coefficients, b: &Coefficients) {
    debug_assert!(a.iter().all(|x| i32::from(x.abs()) <= 8 * i32::from(Q)));
    debug_assert!(b.iter().all(|x| x.abs() <= Q));
    // Of the cross products, 16q² at most, less than q is left, and (q + 1)/2 of the reduction.
    const { assert!(16 * (Q as i64) * (Q as i64) >> 16 < Q as i64) };
    // SAFETY: 256 coefficients of each, 64 factors.
    unsafe { multiply_pairs_add(sum, a, b, &PAIR_ZETAS) }
}

#[unsafe(naked)]
unsafe extern "C" fn multiply_pairs_add(
    sum: *mut Coefficients,
    a: *const Coefficients,
    b: *const Coefficients,
    zetas: *const [i16; 64],
) {
    naked_asm!(include_str!("armv7em_multiply_add.s"), options(raw));
}

/// ζ^(2·BitRev7(2i) + 1) times 2^16; of the next pair it is the negative.
static PAIR_ZETAS: [i16; 64] = {
    let mut zetas = [0; 64];
    let mut i = 0;
    while i < 64 {
        zetas[i] = ZETAS[64 + i].value;
        i += 1;
    }
    zetas
};

/// Reduces.
const ONE: Factor = Factor::new(1);

/// 2^16.
const R: Factor = Factor::new(1 << 16);

fn inner_product(sum: &mut Coefficients, a: &[Ntt], stride: usize, b: &[Ntt]) {
    for (a, b) in a.iter().step_by(stride).zip(b) {
        multiply_add(sum, &a.0.0, &b.0.0);
    }
}

fn scale(f: &mut Coefficients) {
    multiply_all(f, R);
}

fn reduce(f: &mut Coefficients) {
    multiply_all(f, ONE);
}

fn multiply_all(f: &mut Coefficients, factor: Factor) {
    for i in 0..128 {
        set_word(f, i, factor.times(word(f, i)));
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

    #[cfg(not(gambeson_size))]
    #[test]
    fn both_transforms_give_the_same_residues() {
        let same = |a: &Coefficients, b: &Coefficients| {
            a.iter().zip(b).all(|(a, b)| (i32::from(*a) - i32::from(*b)) % i32::from(Q) == 0)
        };
        for k in [1, 7, 1000, 3328] {
            let f: Coefficients = core::array::from_fn(|i| (k * (i as i32 + 1) % 6659 - 3329) as i16);
            let (mut a, mut b) = (f, f);
            assembly::ntt(&mut a);
            rolled::ntt(&mut b);
            assert!(same(&a, &b) && b.iter().all(|x| x.abs() <= Q / 2 + 1));
            for x in [&mut a, &mut b] {
                x.iter_mut().for_each(|x| *x = if *x < 0 { -8 * Q } else { 8 * Q });
            }
            rolled::inverse_ntt(&mut b);
            assert!(b.iter().all(|x| x.abs() < Q));
            assembly::inverse_ntt(&mut a);
            assert!(same(&a, &b));
        }
    }

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
