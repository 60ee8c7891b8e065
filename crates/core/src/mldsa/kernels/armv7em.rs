//! Transforms in assembly for Armv7E-M (Cortex-M4, -M7, -M33 with DSP), and products in the order of its double words.
//!
//! Products by known factors are Montgomery's of signed numbers, three instructions, and add little more than q/2 to a sum, so that
//! nothing is reduced on the way. Two or three layers are done between load and store. No instruction of these has a time that
//! depends on its operands on the cores named.

#![allow(unsafe_code)] // Instructions that Rust has no name for.

use core::arch::naked_asm;

use super::portable::{Factor, PORTABLE, Q_INVERSE, SCALE, ZETAS, at_once, montgomery_word};
use super::{Kernels, Short};
use crate::cpu::Level;
use crate::mldsa::ring::{N, Poly, Q};

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
    pack,
    unpack,
    ..PORTABLE
};

/// The factor mod± q, times 2^32.
const fn centred(factor: Factor) -> i32 {
    let f = factor.f as i32;
    if f > Q >> 1 { f - Q } else { f }
}

fn ntt(w: &mut Poly) {
    debug_assert!(w.0.iter().all(|c| -Q < *c && *c < Q));
    transforms::forward(&mut w.0);
}

/// The first layer of `ntt`, of one butterfly: its lower sum where `upper` is 0, its upper one where that is 1.
///
/// -q < a, b < q on entry, |c| < 2q on return.
#[inline(always)]
pub(crate) fn half_butterfly(a: i32, b: i32, upper: usize) -> i32 {
    let zeta = const { centred(ZETAS[1]) };
    let p = i64::from(b) * i64::from(if upper == 0 { zeta } else { -zeta });
    let m = (p as u32).wrapping_mul(Q_INVERSE.wrapping_neg()) as i32;
    a + ((p + i64::from(m) * i64::from(Q)) >> 32) as i32
}

/// The other seven layers of `ntt`, of one half of the polynomial: the halves do not meet again.
///
/// |c| < 2q on entry, 0 ≤ c < 18q on return.
pub(crate) fn half_ntt(w: &mut [i32; N >> 1], upper: usize) {
    // Seven layers add less than 3.7q; then 6q makes all positive.
    debug_assert!(w.iter().all(|c| c.abs() < 2 * Q));
    transforms::half_forward(w, upper & 1);
}

fn inverse_ntt(w: &mut Poly) {
    debug_assert!(w.0.iter().all(|c| 0 <= *c));
    // From |c| ≤ q on, eight layers double it at most; a quarter of q is left of that by the last factor, and half of q.
    const { assert!(256 * (Q as i64) < 1 << 31) };
    transforms::inverse(&mut w.0);
}

#[cfg(gambeson_size)]
use rolled as transforms;
#[cfg(not(gambeson_size))]
use unrolled as transforms;

/// Two or three layers between load and store.
#[cfg(not(gambeson_size))]
mod unrolled {
    use super::*;
    use crate::mldsa::kernels::portable::{freeze, montgomery};

    /// 2^32 / 256, what ends the inverse transform; ζ^BitRev8(k) for k from 1 to 255; the first times the second. All times 2^32, mod± q.
    static FACTORS: [i32; N + 1] = {
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

    pub fn forward(w: &mut [i32; N]) {
        // SAFETY: 256 coefficients, and every factor of the transform.
        unsafe { layers(w, &FACTORS) }
    }

    pub fn half_forward(w: &mut [i32; N >> 1], upper: usize) {
        // SAFETY: 128 coefficients, and every factor of the transform; 4k is 8 or 12.
        unsafe { half_layers(w, &FACTORS, 8 + 4 * upper) }
    }

    pub fn inverse(w: &mut [i32; N]) {
        // SAFETY: 256 coefficients, and every factor of the transform.
        unsafe { inverse_layers(w, &FACTORS) }
    }

    #[unsafe(naked)]
    unsafe extern "C" fn layers(w: *mut [i32; N], factors: *const [i32; N + 1]) {
        naked_asm!(
            include_str!("armv7em.s"),
            include_str!("armv7em_ntt.s"),
            include_str!("armv7em_end.s"),
            options(raw)
        );
    }

    #[unsafe(naked)]
    unsafe extern "C" fn half_layers(w: *mut [i32; N >> 1], factors: *const [i32; N + 1], first: usize) {
        naked_asm!(
            include_str!("armv7em.s"),
            include_str!("armv7em_half_ntt.s"),
            include_str!("armv7em_end.s"),
            options(raw)
        );
    }

    #[unsafe(naked)]
    unsafe extern "C" fn inverse_layers(w: *mut [i32; N], factors: *const [i32; N + 1]) {
        naked_asm!(
            include_str!("armv7em.s"),
            include_str!("armv7em_inverse_ntt.s"),
            include_str!("armv7em_end.s"),
            options(raw)
        );
    }
}

/// In loops, in a build for size: a sixth of the code and half of the table for half as many cycles more.
#[cfg(any(gambeson_size, test))]
mod rolled {
    use super::*;

    /// ζ^BitRev8(2k) for k from 0 to 127; ζ^BitRev8(1), by which the one behind each is more; 2^32 / 256, what ends the inverse transform. All
    /// times 2^32, mod± q.
    static FACTORS: [i32; (N >> 1) + 2] = {
        let mut factors = [0; (N >> 1) + 2];
        let mut k = 0;
        while k < N >> 1 {
            factors[k] = centred(ZETAS[2 * k]);
            k += 1;
        }
        factors[k] = centred(ZETAS[1]);
        factors[k + 1] = centred(SCALE);
        factors
    };

    /// Of the first coefficient no product is taken, and each sum has it: so this makes all positive.
    const LIFT: i32 = 6 * Q;

    pub fn forward(w: &mut [i32; N]) {
        w[0] += LIFT;
        let w = w.as_mut_ptr_range();
        // SAFETY: 256 coefficients, and every factor of the transform.
        unsafe { layers(w.start, &FACTORS, w.end, 1, N) }
    }

    pub fn half_forward(w: &mut [i32; N >> 1], upper: usize) {
        w[0] += LIFT;
        let factor = if upper == 0 { const { centred(ZETAS[2]) } } else { const { centred(ZETAS[3]) } };
        // SAFETY: 128 coefficients, of which as many layers are left as go by two.
        unsafe { first_layer(w, factor) };
        let w = w.as_mut_ptr_range();
        // SAFETY: 128 coefficients, and every factor of the transform; k is 4 or 6.
        unsafe { layers(w.start, &FACTORS, w.end, 4 + 2 * upper, N >> 2) }
    }

    pub fn inverse(w: &mut [i32; N]) {
        // SAFETY: 256 coefficients, and every factor of the transform.
        unsafe { inverse_layers(w, &FACTORS, 4 * N) }
    }

    #[unsafe(naked)]
    unsafe extern "C" fn layers(
        w: *mut i32,
        factors: *const [i32; (N >> 1) + 2],
        end: *mut i32,
        first: usize,
        bytes: usize,
    ) {
        naked_asm!(
            include_str!("armv7em_rolled.s"),
            include_str!("armv7em_rolled_ntt.s"),
            include_str!("armv7em_rolled_end.s"),
            options(raw)
        );
    }

    #[unsafe(naked)]
    unsafe extern "C" fn first_layer(w: *mut [i32; N >> 1], factor: i32) {
        naked_asm!(
            include_str!("armv7em_rolled.s"),
            include_str!("armv7em_rolled_half.s"),
            include_str!("armv7em_rolled_end.s"),
            options(raw)
        );
    }

    #[unsafe(naked)]
    unsafe extern "C" fn inverse_layers(w: *mut [i32; N], factors: *const [i32; (N >> 1) + 2], bytes: usize) {
        naked_asm!(
            include_str!("armv7em_rolled.s"),
            include_str!("armv7em_rolled_inverse.s"),
            include_str!("armv7em_rolled_end.s"),
            options(raw)
        );
    }
}

/// Eight coefficients of a product with the challenge, from 8·`group` on, whose `ones` are the places of 1, and whose `minus_ones` are those of -1;
/// `multiplicand` begins with its last eight coefficients negated, and then has all.
///
/// The time and the addresses depend on the places.
pub(crate) fn challenge_product(
    multiplicand: &[i16; N + 8],
    places: &[u8],
    ones: usize,
    group: usize,
    product: &mut [i32; 8],
) {
    let (ones, group) = (ones.min(places.len()), group.min((N >> 3) - 1));
    let places = places.as_ptr_range();
    let from = 8 * (group + 1) + 2 * N - 1;
    // SAFETY: as many places as there are; (from - place) modulo 256, and 1 to 8 more, is below 264; eight sums.
    unsafe { eight_products(multiplicand, places.start, from, product, places.start.add(ones), places.end) }
}

#[unsafe(naked)]
unsafe extern "C" fn eight_products(
    multiplicand: *const [i16; N + 8],
    places: *const u8,
    from: usize,
    product: *mut [i32; 8],
    ones: *const u8,
    end: *const u8,
) {
    naked_asm!(include_str!("armv7em_product.s"), options(raw));
}

/// As the portable one, of one sum, factor and candidate at least.
pub(crate) fn add_products_vartime(
    sums: &mut [i32],
    factors: &[i32],
    candidates: &[[u8; 3]],
) -> (usize, usize) {
    let factors = &factors[..factors.len().min(sums.len())];
    if factors.is_empty() || candidates.is_empty() {
        return (0, 0);
    }
    let (factors, candidates) = (factors.as_ptr_range(), candidates.as_ptr_range());
    // SAFETY: as many sums as factors, one at least, and one candidate.
    let both = unsafe {
        add_products(sums.as_mut_ptr(), factors.start, candidates.start, factors.end, candidates.end)
    };
    let (candidate, factor) = (both as u32 as usize, (both >> 32) as usize);
    let taken = candidate.wrapping_sub(candidates.start.addr());
    // Divided by 3, of at most 64 candidates.
    ((factor.wrapping_sub(factors.start.addr())) >> 2, (taken * 171) >> 9)
}

#[unsafe(naked)]
unsafe extern "C" fn add_products(
    sums: *mut i32,
    factors: *const i32,
    candidates: *const [u8; 3],
    end: *const i32,
    last: *const [u8; 3],
) -> u64 {
    naked_asm!(include_str!("armv7em_candidates.s"), options(raw));
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

/// As the portable one, of whatever width in one loop: unrolled for each, the two were 6 kB, and slow where the compiler does not unroll.
fn pack(out: &mut [u8], p: &Poly, high: i32) {
    let width = out.len() >> 5;
    let sign = if high == 0 { 1 } else { -1 };
    let (mut buffer, mut bits) = (0, 0);
    let mut words = out.as_chunks_mut().0.iter_mut();
    for c in &p.0 {
        let number = (high + sign * c) as u32;
        buffer |= number << bits;
        bits += width;
        if bits >= 32 {
            if let Some(word) = words.next() {
                *word = buffer.to_le_bytes();
            }
            bits -= 32;
            buffer = number >> (width - bits);
        }
    }
}

/// Undoes `pack`, likewise: each number from the word, aligned or not, that begins with its byte.
fn unpack(p: &mut Poly, bytes: &[u8], high: i32) {
    assert!(bytes.len() >= 4);
    let (width, last) = (bytes.len() >> 5, bytes.len() - 4);
    // -x is !x + 1.
    let (invert, add) = if high == 0 { (0, 0) } else { (!0, high + 1) };
    let mask = (1 << width) - 1;
    let mut bit = 0;
    for c in &mut p.0 {
        let at = (bit >> 3).min(last);
        // SAFETY: four bytes are there at most at `last`.
        let word = u32::from_le_bytes(unsafe { bytes.as_ptr().add(at).cast::<[u8; 4]>().read() });
        let number = word >> (bit - 8 * at) & mask;
        *c = (number as i32 ^ invert) + add;
        bit += width;
    }
}

/// FIPS 204, Algorithm 19 (BitUnpack), of t0.
pub(crate) fn unpack_t0(bytes: &[u8], t0: &mut Poly) {
    unpack(t0, bytes, 1 << 12);
}

#[cfg(all(test, not(gambeson_size)))]
mod tests {
    use super::*;
    use crate::mldsa::kernels::portable;

    #[test]
    fn products_of_candidates_are_those_of_the_portable_text() {
        // The second is q, the third q - 1, and the uppermost bit is not of the number.
        let mut candidates =
            [[1, 2, 3], [0x01, 0xe0, 0x7f], [0x00, 0xe0, 0xff], [255; 3], [0; 3], [9, 0, 0x80]];
        let factors: [i32; 4] = core::array::from_fn(|i| (18 * Q - 1) - 1000 * i as i32);
        for count in 1..=4 {
            for length in 1..=candidates.len() {
                let (mut one, mut other) = ([7; 4], [7; 4]);
                let found = add_products_vartime(&mut one[..count], &factors[..count], &candidates[..length]);
                let expected = portable::add_products_vartime(
                    &mut other[..count],
                    &factors[..count],
                    &candidates[..length],
                );
                assert_eq!((found, one), (expected, other), "{count} of {length}");
                candidates.rotate_left(1);
            }
        }
    }

    #[test]
    fn both_texts_of_the_transforms_give_the_same_residues() {
        let same = |a: &[i32], b: &[i32]| a.iter().zip(b).all(|(a, b)| (a - b).rem_euclid(Q) == 0);
        for k in [1, 7, 1000, 8_380_416] {
            let f: [i32; N] =
                core::array::from_fn(|i| ((k * (i as i64 + 1)) % (2 * i64::from(Q) - 1)) as i32 - Q + 1);
            let (mut a, mut b) = (f, f);
            unrolled::forward(&mut a);
            rolled::forward(&mut b);
            assert!(same(&a, &b) && b.iter().all(|c| (0..18 * Q).contains(c)));
            for upper in [0, 1] {
                let half: [i32; N >> 1] = core::array::from_fn(|i| half_butterfly(f[i], f[i + 128], upper));
                let (mut lower, mut other) = (half, half);
                unrolled::half_forward(&mut lower, upper);
                rolled::half_forward(&mut other, upper);
                assert!(same(&lower, &other) && other.iter().all(|c| (0..18 * Q).contains(c)));
            }
            unrolled::inverse(&mut a);
            rolled::inverse(&mut b);
            assert_eq!(a, b);
        }
    }
}
