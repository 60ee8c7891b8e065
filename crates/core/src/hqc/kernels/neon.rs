//! aarch64 with Advanced SIMD and PMULL: products one by one; the compiler makes vectors of the rest.

#![allow(unsafe_code)] // Intrinsics inside a trait whose methods cannot name their features.

use core::arch::aarch64::*;

use super::Kernels;
use crate::cpu::Level;
use crate::hqc::params::Params;
use crate::hqc::product::{self, Digits};
use crate::hqc::{reed_muller, support};

/// True if the processor multiplies 64 bits without carries: no [`Level`] says so.
pub(super) fn is_detected() -> bool {
    cpufeatures::new!(pmull, "aes");
    pmull::get()
}

pub(super) static NEON: Kernels = Kernels {
    level: Level::Neon,
    multiply: |params, out, a, b, scratch| {
        // SAFETY: `active` hands this table out only after the CPU reported PMULL.
        unsafe { multiply(params, out, a, b, scratch) }
    },
    sample: |params, words, bytes| super::sample(params, words, bytes, support::write),
    write: |words, positions, weight| support::write(words, positions, weight),
    encode: |params, codeword, message| super::encode(params, codeword, message),
    decode: |params, received, message| super::decode(params, received, message, nearest),
};

#[target_feature(enable = "neon,aes")]
fn multiply(params: &Params, out: &mut [u64], a: &[u64], b: &[u64], scratch: &mut [u64]) {
    product::multiply::<Digit>(params, out, a, b, scratch);
}

/// One digit.
#[derive(Clone, Copy)]
struct Digit(uint64x2_t);

impl Digits for Digit {
    const LANES: usize = 1;

    #[inline(always)]
    fn zero() -> Self {
        // SAFETY: Advanced SIMD is part of this target.
        Self(unsafe { vdupq_n_u64(0) })
    }

    #[inline(always)]
    fn gather(words: &[u64], _stride: usize) -> Self {
        let words: &[u64; 2] = words.first_chunk().expect("a digit has two words");
        // SAFETY: two words are there, and Advanced SIMD is part of this target.
        Self(unsafe { vld1q_u64(words.as_ptr()) })
    }

    #[inline(always)]
    fn scatter(self, words: &mut [u64], _stride: usize) {
        let words: &mut [u64; 2] = words.first_chunk_mut().expect("a digit has two words");
        // SAFETY: two words are there, and Advanced SIMD is part of this target.
        unsafe { vst1q_u64(words.as_mut_ptr(), self.0) };
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        // SAFETY: Advanced SIMD is part of this target.
        Self(unsafe { veorq_u64(self.0, other.0) })
    }

    #[inline(always)]
    fn multiply_low(self, other: Self) -> Self {
        // SAFETY: this type is used behind `multiply` alone, which has PMULL.
        Self(unsafe { product_of_low(self.0, other.0) })
    }

    #[inline(always)]
    fn multiply_high(self, other: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { product_of_high(self.0, other.0) })
    }

    #[inline(always)]
    fn fold(self) -> Self {
        // SAFETY: Advanced SIMD is part of this target.
        Self(unsafe { veorq_u64(self.0, vextq_u64::<1>(self.0, self.0)) })
    }

    #[inline(always)]
    fn up(self) -> Self {
        // SAFETY: Advanced SIMD is part of this target.
        Self(unsafe { vextq_u64::<1>(vdupq_n_u64(0), self.0) })
    }

    #[inline(always)]
    fn down(self) -> Self {
        // SAFETY: Advanced SIMD is part of this target.
        Self(unsafe { vextq_u64::<1>(self.0, vdupq_n_u64(0)) })
    }
}

#[inline]
#[target_feature(enable = "neon,aes")]
fn product_of_low(a: uint64x2_t, b: uint64x2_t) -> uint64x2_t {
    vreinterpretq_u64_p128(vmull_p64(vgetq_lane_u64::<0>(a), vgetq_lane_u64::<0>(b)))
}

#[inline]
#[target_feature(enable = "neon,aes")]
fn product_of_high(a: uint64x2_t, b: uint64x2_t) -> uint64x2_t {
    vreinterpretq_u64_p128(vmull_high_p64(vreinterpretq_p64_u64(a), vreinterpretq_p64_u64(b)))
}

/// [`reed_muller::decode`], with eight sums in a register.
fn nearest(copies: &[[u64; 2]]) -> u8 {
    // SAFETY: Advanced SIMD is part of this target, and every load is of eight elements that are there.
    unsafe {
        let numbers = vld1q_s16([0, 1, 2, 3, 4, 5, 6, 7].as_ptr());
        let bits = vld1_u8([1, 2, 4, 8, 16, 32, 64, 128].as_ptr());
        let mut sums = [vdupq_n_s16(0); 16];
        for copy in copies {
            for (i, sum) in sums.iter_mut().enumerate() {
                let eight = vdup_n_u8((copy[i >> 3] >> (8 * (i & 7))) as u8);
                // Subtracts -1 where the bit is set.
                *sum = vsubq_s16(*sum, vmovl_s8(vreinterpret_s8_u8(vtst_u8(eight, bits))));
            }
        }
        for half in [8, 4, 2, 1] {
            for i in 0..16 {
                if i & half == 0 {
                    let (a, b) = (sums[i], sums[i + half]);
                    (sums[i], sums[i + half]) = (vaddq_s16(a, b), vsubq_s16(a, b));
                }
            }
        }
        // Pairs of registers, of which the first elements of pairs go to one and the second to the other.
        for i in 0..8 {
            let (mut a, mut b) = (sums[2 * i], sums[2 * i + 1]);
            let wide = |x| vreinterpretq_s64_s16(x);
            let narrow = |x| vreinterpretq_s16_s64(x);
            let (first, second) =
                (narrow(vtrn1q_s64(wide(a), wide(b))), narrow(vtrn2q_s64(wide(a), wide(b))));
            let (plus, minus) = (vaddq_s16(first, second), vsubq_s16(first, second));
            (a, b) =
                (narrow(vtrn1q_s64(wide(plus), wide(minus))), narrow(vtrn2q_s64(wide(plus), wide(minus))));
            let wide = |x| vreinterpretq_s32_s16(x);
            let narrow = |x| vreinterpretq_s16_s32(x);
            let (first, second) =
                (narrow(vtrn1q_s32(wide(a), wide(b))), narrow(vtrn2q_s32(wide(a), wide(b))));
            let (plus, minus) = (vaddq_s16(first, second), vsubq_s16(first, second));
            (a, b) =
                (narrow(vtrn1q_s32(wide(plus), wide(minus))), narrow(vtrn2q_s32(wide(plus), wide(minus))));
            let (first, second) = (vtrn1q_s16(a, b), vtrn2q_s16(a, b));
            let (plus, minus) = (vaddq_s16(first, second), vsubq_s16(first, second));
            (sums[2 * i], sums[2 * i + 1]) = (vtrn1q_s16(plus, minus), vtrn2q_s16(plus, minus));
        }
        let mean = vsetq_lane_s16::<0>(64 * copies.len() as i16, vdupq_n_s16(0));
        sums[0] = vsubq_s16(sums[0], mean);
        let mut highest = vdupq_n_u16(0);
        for (i, sum) in sums.iter().enumerate() {
            let absolute = vreinterpretq_u16_s16(vbicq_s16(vabsq_s16(*sum), vdupq_n_s16(1)));
            let index = vreinterpretq_u16_s16(vsubq_s16(vdupq_n_s16(127 - 8 * i as i16), numbers));
            let positive = vshrq_n_u16::<15>(vcgtzq_s16(*sum));
            let key = vorrq_u16(vorrq_u16(vshlq_n_u16::<7>(absolute), vshlq_n_u16::<1>(index)), positive);
            highest = vmaxq_u16(highest, key);
        }
        reed_muller::symbol(vmaxvq_u16(highest))
    }
}
