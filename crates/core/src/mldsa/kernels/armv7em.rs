//! Transforms in assembly for Armv7E-M (Cortex-M4, -M7, -M33 with DSP), and products in the order of its double words.
//!
//! Products by known factors are Montgomery's of signed numbers, three instructions, and add little more than q/2 to a sum, so that
//! nothing is reduced on the way. Two or three layers are done between load and store. No instruction of these has a time that
//! depends on its operands on the cores named.

#![allow(unsafe_code)] // Instructions that Rust has no name for.

use core::arch::naked_asm;

use super::Kernels;
use super::portable::{
    Factor, PORTABLE, Q_INVERSE, SCALE, ZETAS, at_once, freeze, montgomery, montgomery_word,
};
use crate::cpu::Level;
use crate::mldsa::ring::{N, Poly, Q, Short};

pub(super) static ARMV7EM: Kernels = Kernels {
    level: Level::Armv7em,
    ntt,
    inverse_ntt,
    multiply,
    multiply_add,
    inner_product,
    add_short_product,
    high_bits_44,
    high_bits_16,
    ..PORTABLE
};

/// 2^32 / 256, what ends the inverse transform; ζ^BitRev8(k) for k from 1 to 255; the first times the second. All times 2^32, mod± q.
static FACTORS: [i32; N + 1] = {
    const fn centred(factor: Factor) -> i32 {
        let f = factor.f as i32;
        if f > Q >> 1 { f - Q } else { f }
    }
    let mut factors = [0; N + 1];
    factors[0] = centred(SCALE);
    let mut k = 1;
    while k < N {
        factors[k] = centred(ZETAS[k]);
        k += 1;
    }
    let last = freeze(montgomery(SCALE.f, ZETAS[1].f)) as i32;
    factors[N] = if last > Q >> 1 { last - Q } else { last };
    factors
};

fn ntt(w: &mut Poly) {
    debug_assert!(w.0.iter().all(|c| -Q < *c && *c < Q));
    // SAFETY: 256 coefficients, and every factor of the transform.
    unsafe { forward(&raw mut w.0, &FACTORS) }
}

#[unsafe(naked)]
unsafe extern "C" fn forward(w: *mut [i32; N], factors: *const [i32; N + 1]) {
    naked_asm!(
        include_str!("armv7em.s"),
        include_str!("armv7em_ntt.s"),
        include_str!("armv7em_end.s"),
        options(raw)
    );
}

/// The first layer of `ntt`, of one butterfly: its lower sum where `upper` is 0, its upper one where that is 1.
///
/// -q < a, b < q on entry, |c| < 2q on return.
#[inline(always)]
pub(crate) fn half_butterfly(a: i32, b: i32, upper: usize) -> i32 {
    let p = i64::from(b) * i64::from(FACTORS[1]);
    let m = (p as u32).wrapping_mul(Q_INVERSE.wrapping_neg()) as i32;
    let t = ((p + i64::from(m) * i64::from(Q)) >> 32) as i32;
    if upper == 0 { a + t } else { a - t }
}

/// The other seven layers of `ntt`, of one half of the polynomial: the halves do not meet again.
///
/// |c| < 2q on entry, 0 ≤ c < 18q on return.
pub(crate) fn half_ntt(w: &mut [i32; N >> 1], upper: usize) {
    // Seven layers add less than 3.7q; then 6q makes all positive.
    debug_assert!(w.iter().all(|c| c.abs() < 2 * Q));
    // SAFETY: 128 coefficients, and every factor of the transform; 4k is 8 or 12.
    unsafe { half_forward(w, &FACTORS, 8 + 4 * (upper & 1)) }
}

#[unsafe(naked)]
unsafe extern "C" fn half_forward(w: *mut [i32; N >> 1], factors: *const [i32; N + 1], first: usize) {
    naked_asm!(
        include_str!("armv7em.s"),
        include_str!("armv7em_half_ntt.s"),
        include_str!("armv7em_end.s"),
        options(raw)
    );
}

fn inverse_ntt(w: &mut Poly) {
    debug_assert!(w.0.iter().all(|c| 0 <= *c));
    // From |c| ≤ q on, eight layers double it at most; a quarter of q is left of that by the last factor, and half of q.
    const { assert!(256 * (Q as i64) < 1 << 31) };
    // SAFETY: 256 coefficients, and every factor of the transform.
    unsafe { inverse(&raw mut w.0, &FACTORS) }
}

#[unsafe(naked)]
unsafe extern "C" fn inverse(w: *mut [i32; N], factors: *const [i32; N + 1]) {
    naked_asm!(
        include_str!("armv7em.s"),
        include_str!("armv7em_inverse_ntt.s"),
        include_str!("armv7em_end.s"),
        options(raw)
    );
}

fn multiply(a: &mut Poly, b: &Poly) {
    for (a, b) in a.0.iter_mut().zip(&b.0) {
        *a = montgomery_word(*a as u32, *b as u32) as i32;
    }
}

fn multiply_add(c: &mut Poly, a: &Poly, b: &Poly) {
    for ((c, a), b) in c.0.iter_mut().zip(&a.0).zip(&b.0) {
        *c += montgomery_word(*a as u32, *b as u32) as i32;
    }
}

fn inner_product(c: &mut Poly, a: &[Poly], stride: usize, b: &[Poly]) {
    assert!(!b.is_empty() && stride * (b.len() - 1) < a.len());
    // SAFETY: as many polynomials of either as the last has, and one at least.
    unsafe {
        sum_products(&mut c.0, a.as_ptr(), b.as_ptr(), stride * size_of::<Poly>(), b.as_ptr_range().end)
    }
}

#[unsafe(naked)]
unsafe extern "C" fn sum_products(
    c: *mut [i32; N],
    a: *const Poly,
    b: *const Poly,
    stride: usize,
    end: *const Poly,
) {
    naked_asm!(include_str!("armv7em_inner_product.s"), options(raw));
}

fn add_short_product(p: &mut Poly, s: &Short, places: &[u16], eta: i32, bound: i32) -> u32 {
    debug_assert!(places.iter().all(|place| *place < 512));
    let middle = s.0[2 * N..].as_ptr();
    let mut outside = 0;
    for places in places.chunks(at_once(eta)) {
        let places = places.as_ptr_range();
        // SAFETY: a window of 256 bytes that begins at most 511 bytes in front of the middle; one place at least.
        outside = unsafe { add_shifted(&mut p.0, middle, places.start, places.end, bound - 1) };
    }
    (outside >> 31) ^ 1
}

#[unsafe(naked)]
unsafe extern "C" fn add_shifted(
    p: *mut [i32; N],
    middle: *const i8,
    places: *const u16,
    end: *const u16,
    bound: i32,
) -> u32 {
    naked_asm!(include_str!("armv7em_short.s"), options(raw));
}

macro_rules! high_bits {
    ($($name:ident = $assembly:ident, $m:literal, $bits:literal;)*) => {$(
        fn $name(r: &mut Poly, packed: &mut [u8], not_zero: &mut [u32; 8]) {
            debug_assert!(r.0.iter().all(|c| -Q < *c && *c < Q));
            assert!(packed.len() == 32 * $bits);
            // SAFETY: 256 coefficients, the bytes of as many numbers, 256 bits.
            unsafe { $assembly(&mut r.0, packed.as_mut_ptr(), not_zero) }
        }

        #[unsafe(naked)]
        unsafe extern "C" fn $assembly(r: *mut [i32; N], packed: *mut u8, not_zero: *mut [u32; 8]) {
            naked_asm!(
                concat!(".set m, ", $m, "\n.set bits, ", $bits),
                include_str!("armv7em_high_bits.s"),
                options(raw)
            );
        }
    )*};
}

high_bits! {
    high_bits_44 = decompose_and_pack_44, 44, 6;
    high_bits_16 = decompose_and_pack_16, 16, 4;
}
