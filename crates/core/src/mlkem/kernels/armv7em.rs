//! Armv7E-M with its DSP instructions, such as a Cortex-M4: two coefficients in a register.
//!
//! A product with a known factor is Plantard's («Efficient word size modular arithmetic», 2021; for these transforms first by
//! Huang and others, TCHES 2022): the factor w is kept as −w·2^32·q^-1 modulo 2^32, three instructions multiply any integer of
//! 16 bits by it, and the result is at most (q + 1)/2. Products of two unknowns are Montgomery's, as in `portable`.

#![allow(unsafe_code)] // Instructions that Rust has no name for.

use core::arch::{asm, naked_asm};

use super::Kernels;
#[cfg(not(gambeson_size))]
use super::portable::PAIR_ZETAS;
use super::portable::{PORTABLE, Q_INVERSE, ZETAS};
use crate::cpu::Level;
use crate::mlkem::poly::{Coefficients, Ntt, Q};

#[cfg(feature = "alloc")]
mod serial;

pub(super) const ARMV7EM: Kernels = Kernels {
    level: Level::Armv7em,
    ntt,
    inverse_ntt,
    multiply_add,
    inner_product,
    encryption_products: None,
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
    #[cfg(not(gambeson_size))]
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

macro_rules! sums_of_products {
    ($($name:ident = $assembly:ident, $file:literal, $sum:ty, $a:ty, $doc:literal;)*) => {$(
        #[doc = $doc]
        pub(in crate::mlkem) fn $name(sum: &mut [$sum], a: &[$a], x: &[[i16; 2]], zetas: &[i16]) {
            let n = sum.len().min(a.len()).min(x.len()).min(zetas.len());
            if n > 0 {
                let (sum, a) = (sum.as_mut_ptr(), a.as_ptr());
                // SAFETY: n pairs of each.
                unsafe { $assembly(sum, a, x.as_ptr(), zetas.as_ptr(), a.add(n)) }
            }
        }

        #[unsafe(naked)]
        unsafe extern "C" fn $assembly(
            sum: *mut $sum,
            a: *const $a,
            x: *const [i16; 2],
            zetas: *const i16,
            end: *const $a,
        ) {
            naked_asm!(
                include_str!("armv7em_sampled.s"),
                include_str!($file),
                include_str!("armv7em_sampled_end.s"),
                options(raw)
            );
        }
    )*};
}

sums_of_products! {
    add_products = sampled_to_words, "armv7em_sampled_words.s", [i16; 2], [i16; 2],
        "Adds the products of pairs, as FIPS 203, Algorithm 12 (BaseCaseMultiply), times 2^-16, with ζ times 2^16: of as many as the shortest \
         slice has. |a| ≤ 2q and |x| ≤ q, or 0 ≤ a < q and |x| ≤ 9q/2; a sum grows by q at most.";
    add_products_packed = sampled_to_bytes, "armv7em_sampled_packed.s", [u8; 3], [i16; 2],
        "Adds such products to a sum of twelve bits a coefficient, in \\[0, q).";
    add_products_encoded = encoded_to_words, "armv7em_sampled_encoded.s", [i16; 2], [u8; 3],
        "Adds the products of first factors of twelve bits a coefficient.";
}

/// Compress_d and ByteEncode_d of `f`, |x| ≤ 3q, to as many words as that are: d.
#[cfg(gambeson_size)]
pub(in crate::mlkem) fn compress(f: &Coefficients, d: usize, words: &mut [[u8; 4]]) {
    debug_assert!((1..=11).contains(&d) && words.len() == 8 * d);
    // SAFETY: 256 coefficients, and 8d words.
    unsafe { compress_or_compare(f, words.as_mut_ptr(), d, true) };
}

/// The bits in which that and `words` differ: zero if none.
#[cfg(gambeson_size)]
pub(in crate::mlkem) fn compressed_difference(f: &Coefficients, d: usize, words: &[[u8; 4]]) -> u32 {
    debug_assert!((1..=11).contains(&d) && words.len() == 8 * d);
    // SAFETY: 256 coefficients, and 8d words, which are only read.
    unsafe { compress_or_compare(f, words.as_ptr().cast_mut(), d, false) }
}

/// Of any width, in one loop.
#[cfg(any(gambeson_size, gambeson_fast))]
#[unsafe(naked)]
unsafe extern "C" fn compress_or_compare(
    f: *const Coefficients,
    words: *mut [u8; 4],
    d: usize,
    write: bool,
) -> u32 {
    naked_asm!(include_str!("armv7em_compress.s"), options(raw));
}

#[cfg(gambeson_size)]
pub(in crate::mlkem) use super::decompression::{add_decompressed, decompress, subtract_from_decompressed};

#[cfg(not(gambeson_size))]
macro_rules! numbers {
    ($($d:literal, $many:literal: $compress:ident, $compare:ident, $decompress:ident, $add:ident, $subtract:ident;)*) => {
        /// Compress_d and ByteEncode_d of `f`, |x| ≤ 3q, to 8d words; d is one that a set has, and known to the compiler.
        #[inline(always)]
        pub(in crate::mlkem) fn compress(f: &Coefficients, d: usize, words: &mut [[u8; 4]]) {
            debug_assert!([1, 4, 5, 10, 11].contains(&d) && words.len() == 8 * d);
            match d {
                // One polynomial an operation: 0.3 kB for each of these and the next for two thousand cycles.
                #[cfg(gambeson_fast)]
                // SAFETY: 256 coefficients, and 8d words.
                5 if words.len() == 40 => unsafe { _ = compress_or_compare(f, words.as_mut_ptr(), d, true) },
                // SAFETY: 256 coefficients, and 8d words.
                $($d if words.len() == 8 * $d => unsafe { $compress(f, words.as_mut_ptr()) },)*
                _ => {}
            }
        }

        /// The bits in which that and `words` differ: zero if none.
        #[inline(always)]
        pub(in crate::mlkem) fn compressed_difference(f: &Coefficients, d: usize, words: &[[u8; 4]]) -> u32 {
            debug_assert!([1, 4, 5, 10, 11].contains(&d) && words.len() == 8 * d);
            match d {
                #[cfg(gambeson_fast)]
                // SAFETY: as above; they are only read.
                5 if words.len() == 40 => unsafe {
                    compress_or_compare(f, words.as_ptr().cast_mut(), d, false)
                },
                // SAFETY: as above.
                $($d if words.len() == 8 * $d => unsafe { $compare(f, words.as_ptr()) },)*
                _ => u32::MAX,
            }
        }

        /// ByteDecode_d and Decompress_d of 8d words: 0 ≤ x < q.
        #[inline(always)]
        pub(in crate::mlkem) fn decompress(f: &mut Coefficients, d: usize, words: &[[u8; 4]]) {
            debug_assert!([1, 4, 5, 10, 11].contains(&d) && words.len() == 8 * d);
            match d {
                // SAFETY: as above.
                $($d if words.len() == 8 * $d => unsafe { $decompress(f, words.as_ptr()) },)*
                _ => {}
            }
        }

        /// Adds such coefficients.
        #[inline(always)]
        pub(in crate::mlkem) fn add_decompressed(f: &mut Coefficients, d: usize, words: &[[u8; 4]]) {
            debug_assert!([1, 4, 5, 10, 11].contains(&d) && words.len() == 8 * d);
            match d {
                // SAFETY: as above.
                $($d if words.len() == 8 * $d => unsafe { $add(f, words.as_ptr()) },)*
                _ => {}
            }
        }

        /// Such coefficients less those of `f`.
        #[inline(always)]
        pub(in crate::mlkem) fn subtract_from_decompressed(f: &mut Coefficients, d: usize, words: &[[u8; 4]]) {
            debug_assert!([1, 4, 5, 10, 11].contains(&d) && words.len() == 8 * d);
            match d {
                // SAFETY: as above.
                $($d if words.len() == 8 * $d => unsafe { $subtract(f, words.as_ptr()) },)*
                _ => {}
            }
        }

        $(
            #[unsafe(naked)]
            unsafe extern "C" fn $compress(f: *const Coefficients, words: *mut [u8; 4]) {
                naked_asm!(
                    concat!(".set d, ", $d, "\n.set many, ", $many),
                    ".macro word",
                    "str r8, [r1], #4",
                    ".endm",
                    include_str!("armv7em_pack.s"),
                    options(raw)
                );
            }

            #[unsafe(naked)]
            unsafe extern "C" fn $compare(f: *const Coefficients, words: *const [u8; 4]) -> u32 {
                naked_asm!(
                    concat!(".set d, ", $d, "\n.set many, ", $many),
                    ".macro word",
                    "ldr r12, [r1], #4",
                    "eor r8, r8, r12",
                    "orr lr, lr, r8",
                    ".endm",
                    include_str!("armv7em_pack.s"),
                    options(raw)
                );
            }

            #[unsafe(naked)]
            unsafe extern "C" fn $decompress(f: *mut Coefficients, words: *const [u8; 4]) {
                naked_asm!(
                    concat!(".set d, ", $d, "\n.set many, ", $many),
                    ".macro other",
                    ".endm",
                    include_str!("armv7em_unpack.s"),
                    options(raw)
                );
            }

            #[unsafe(naked)]
            unsafe extern "C" fn $add(f: *mut Coefficients, words: *const [u8; 4]) {
                naked_asm!(
                    concat!(".set d, ", $d, "\n.set many, ", $many),
                    ".macro other",
                    "ldr r7, [r0]",
                    "uadd16 r6, r6, r7",
                    ".endm",
                    include_str!("armv7em_unpack.s"),
                    options(raw)
                );
            }

            #[unsafe(naked)]
            unsafe extern "C" fn $subtract(f: *mut Coefficients, words: *const [u8; 4]) {
                naked_asm!(
                    concat!(".set d, ", $d, "\n.set many, ", $many),
                    ".macro other",
                    "ldr r7, [r0]",
                    "usub16 r6, r6, r7",
                    ".endm",
                    include_str!("armv7em_unpack.s"),
                    options(raw)
                );
            }

        )*
    };
}

#[cfg(not(gambeson_size))]
numbers! {
    1, 32: compress_1, compare_1, decompress_1, add_1, subtract_1;
    4, 8: compress_4, compare_4, decompress_4, add_4, subtract_4;
    5, 32: compress_5, compare_5, decompress_5, add_5, subtract_5;
    10, 16: compress_10, compare_10, decompress_10, add_10, subtract_10;
    11, 32: compress_11, compare_11, decompress_11, add_11, subtract_11;
}

/// What `portable::reject_vartime` does, for sixteen candidates and room for them.
pub(in crate::mlkem) fn reject_vartime(out: &mut [i16; 16], words: &[u64; 3]) -> usize {
    // SAFETY: 24 bytes, and a place for each integer of twelve bits in them.
    unsafe { reject(out, words) }
}

#[unsafe(naked)]
unsafe extern "C" fn reject(out: *mut [i16; 16], words: *const [u64; 3]) -> usize {
    #[cfg(not(gambeson_size))]
    naked_asm!(include_str!("armv7em_reject.s"), options(raw));
    #[cfg(gambeson_size)]
    naked_asm!(include_str!("armv7em_reject_size.s"), options(raw));
}

/// Adds the noise that `portable::noise2_of` takes from this word.
#[inline(always)]
pub(in crate::mlkem) fn add_noise2(f: &mut [i16; 8], word: u32) {
    let counts = (word & 0x5555_5555) + (word >> 1 & 0x5555_5555);
    // Each of four bits: 4 more than the coefficient.
    let sums = (counts & 0x3333_3333) + 0x4444_4444 - (counts >> 2 & 0x3333_3333);
    for (i, x) in f.as_chunks_mut::<2>().0.iter_mut().enumerate() {
        let noise = (sums >> (8 * i) & 15) | (sums >> (8 * i + 4) & 15) << 16;
        *x = to_pair(subtract_both(add_both(of_pair(*x), noise), 0x4_0004));
    }
}

/// The residues of a + b in \[0, q), for 0 ≤ a < q and |b| ≤ q.
#[inline(always)]
pub(in crate::mlkem) fn residues_of_sum(a: [i16; 2], b: [i16; 2]) -> [i16; 2] {
    let mut sum = add_both(of_pair(a), of_pair(b));
    // SAFETY: arithmetic in registers, and the flags GE, which each selection reads right after they were set.
    unsafe {
        asm!(
            "ssub16 {other}, {sum}, {q}",
            "sel {sum}, {other}, {sum}",
            "sadd16 {other}, {sum}, {q}",
            "ssub16 {sign}, {sum}, {zero}",
            "sel {sum}, {sum}, {other}",
            sum = inout(reg) sum, q = in(reg) u32::from(Q as u16) * 0x1_0001, zero = in(reg) 0,
            other = out(reg) _, sign = out(reg) _,
            options(pure, nomem, nostack),
        );
    }
    to_pair(sum)
}

#[inline(always)]
fn of_pair([low, high]: [i16; 2]) -> u32 {
    u32::from(low as u16) | u32::from(high as u16) << 16
}

#[inline(always)]
fn to_pair(word: u32) -> [i16; 2] {
    [word as i16, (word >> 16) as i16]
}

/// Word i of a polynomial: coefficients 2i and 2i + 1.
#[inline(always)]
fn word(f: &Coefficients, i: usize) -> u32 {
    of_pair(f.as_chunks().0[i])
}

#[inline(always)]
fn set_word(f: &mut Coefficients, i: usize, word: u32) {
    f.as_chunks_mut().0[i] = to_pair(word);
}

#[cfg(not(gambeson_size))]
use assembly::inverse_ntt;
#[cfg(all(feature = "alloc", not(gambeson_size)))]
pub(in crate::mlkem) use assembly::inverse_of_row;
#[cfg(not(gambeson_size))]
pub(in crate::mlkem) use assembly::{ntt, ntt_of_factor};
#[cfg(gambeson_size)]
use rolled::inverse_ntt;
#[cfg(all(feature = "alloc", gambeson_size))]
pub(in crate::mlkem) use rolled::inverse_of_row;
#[cfg(gambeson_size)]
pub(in crate::mlkem) use rolled::{ntt, ntt_of_factor};
#[cfg(feature = "alloc")]
pub(in crate::mlkem) use serial::{add_noise2_of, noise2_of, noise3_of, row};

/// Three layers between load and store.
#[cfg(not(gambeson_size))]
mod assembly {
    use super::*;

    /// The factors of the forward transform in the order of their use; the inverse transform takes each part backwards.
    #[repr(C)]
    struct Factors {
        /// 128^-1, times 2^32; and that, times the factor of the layer of length 128: what ends the inverse transform of a row.
        ends_of_row: [Factor; 2],
        /// The same times 2^16: what ends that of other products.
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
        let ends_of_row = [Factor::new(3303 << 32), Factor::new((3303 * ZETAS[1].value as i64) << 16)];
        Factors { ends_of_row, ends, first: three(1, 0), middle, last }
    };

    pub fn ntt(f: &mut Coefficients) {
        debug_assert!(f.iter().all(|x| x.abs() <= Q));
        // SAFETY: 256 coefficients, and every factor of the transform.
        unsafe { forward(f, &FACTORS.first, true) }
    }

    /// The same for what only multiplies reduced coefficients: |x| ≤ 9q/2 on return.
    pub fn ntt_of_factor(f: &mut Coefficients) {
        debug_assert!(f.iter().all(|x| x.abs() <= Q));
        // SAFETY: as above.
        unsafe { forward(f, &FACTORS.first, false) }
    }

    #[unsafe(naked)]
    unsafe extern "C" fn forward(f: *mut Coefficients, factors: *const [Factor; 7], reduced: bool) {
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
            ".set reduced, 0",
            ".set ends, 36",
            include_str!("armv7em_inverse_ntt.s"),
            include_str!("armv7em_end.s"),
            options(raw)
        );
    }

    /// `inverse_ntt` of a row of [`row`](super::row).
    #[cfg(feature = "alloc")]
    pub fn inverse_of_row(f: &mut Coefficients) {
        debug_assert!(f.iter().all(|x| x.abs() <= Q / 2 + 1));
        // SAFETY: 256 coefficients, and every factor of the transform in front of the end.
        unsafe { inverse_of_reduced(f, (&raw const FACTORS).add(1)) }
    }

    #[cfg(feature = "alloc")]
    #[unsafe(naked)]
    unsafe extern "C" fn inverse_of_reduced(f: *mut Coefficients, end: *const Factors) {
        naked_asm!(
            include_str!("armv7em.s"),
            ".set reduced, 1",
            ".set ends, 44",
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

    /// ζ^BitRev7(i) times 2^16, for i < 64; then each of the last layer, which is the factor of a product of pairs, and its negative, which
    /// is that of the next.
    pub static FACTORS: [i16; 192] = {
        let mut factors = [0; 192];
        let mut i = 0;
        while i < 64 {
            factors[i] = ZETAS[i].value;
            (factors[64 + 2 * i], factors[65 + 2 * i]) = (ZETAS[64 + i].value, -ZETAS[64 + i].value);
            i += 1;
        }
        factors
    };

    pub fn ntt(f: &mut Coefficients) {
        forward(f);
        reduce(f);
    }

    /// The same for what only multiplies noise: |x| ≤ 3 on entry, ≤ 9q/2 on return.
    pub fn ntt_of_factor(f: &mut Coefficients) {
        debug_assert!(f.iter().all(|x| x.abs() <= 3));
        forward(f);
    }

    /// Each layer adds 5q/8 at most to the bound.
    fn forward(f: &mut Coefficients) {
        debug_assert!(f.iter().all(|x| x.abs() <= Q));
        // SAFETY: 256 coefficients, and every factor of the transform.
        unsafe { layers(f, (&raw const FACTORS).cast::<i16>().add(1), 256, 2) }
    }

    pub fn inverse_ntt(f: &mut Coefficients) {
        debug_assert!(f.iter().all(|x| i32::from(x.abs()) <= 8 * i32::from(Q)));
        // Each layer doubles the bound of the lower half: from (q + 1)/2 to 8q at most, of four.
        for (end, first, last) in [(192, 4, 32), (16, 32, 512)] {
            reduce(f);
            // SAFETY: 256 coefficients, and every factor of these layers in front of the end.
            unsafe { inverse_layers(f, (&raw const FACTORS).cast::<i16>().add(end), first, last) }
        }
        multiply_all(f, LAST);
    }

    /// `inverse_ntt` of a row of [`row`](super::row).
    #[cfg(feature = "alloc")]
    pub fn inverse_of_row(f: &mut Coefficients) {
        inverse_ntt(f);
        multiply_all(f, R);
    }

    /// 128^-1, times 2^16.
    const LAST: Factor = Factor::new(3303 << 16);

    #[unsafe(naked)]
    unsafe extern "C" fn layers(f: *mut Coefficients, factors: *const i16, first: usize, behind: usize) {
        naked_asm!(include_str!("armv7em_rolled_ntt.s"), include_str!("armv7em_rolled.s"), options(raw));
    }

    #[unsafe(naked)]
    unsafe extern "C" fn inverse_layers(f: *mut Coefficients, end: *const i16, first: usize, behind: usize) {
        naked_asm!(include_str!("armv7em_rolled_inverse.s"), include_str!("armv7em_rolled.s"), options(raw));
    }
}

/// The factor of each pair's product: ζ^(2·BitRev7(i) + 1) times 2^16.
pub(in crate::mlkem) fn pair_zetas() -> &'static [i16; 128] {
    #[cfg(gambeson_size)]
    return rolled::FACTORS.last_chunk().expect("there are more factors");
    #[cfg(not(gambeson_size))]
    &PAIR_ZETAS
}

fn multiply_add(sum: &mut Coefficients, a: &Coefficients, b: &Coefficients) {
    debug_assert!(a.iter().all(|x| i32::from(x.abs()) <= 8 * i32::from(Q)));
    debug_assert!(b.iter().all(|x| x.abs() <= Q));
    // Of the cross products, 16q² at most, less than q is left, and (q + 1)/2 of the reduction.
    const { assert!(16 * (Q as i64) * (Q as i64) >> 16 < Q as i64) };
    #[cfg(gambeson_size)]
    add_products(sum.as_chunks_mut().0, a.as_chunks().0, b.as_chunks().0, pair_zetas());
    #[cfg(not(gambeson_size))]
    // SAFETY: 256 coefficients of each, 64 factors.
    unsafe {
        multiply_pairs_add(sum, a, b, &TWO_PAIRS_ZETAS)
    }
}

#[cfg(not(gambeson_size))]
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
#[cfg(not(gambeson_size))]
static TWO_PAIRS_ZETAS: [i16; 64] = {
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

#[cfg_attr(gambeson_size, inline(never))]
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
