//! x86-64 with AVX2 and PCLMULQDQ: products one by one, sixteen sums side by side.

#![allow(unsafe_code)] // Intrinsics inside a trait whose methods cannot name their features.

use core::arch::x86_64::*;

use super::Kernels;
use crate::cpu::Level;
use crate::hqc::params::Params;
use crate::hqc::product::{self, Digits};
use crate::hqc::reed_muller;
use crate::hqc::support::{self, Positions};

/// True if the processor multiplies without carries: no [`Level`] says so.
pub(super) fn is_detected() -> bool {
    cpufeatures::new!(pclmulqdq, "pclmulqdq", "avx2");
    pclmulqdq::get()
}

pub(super) static AVX2: Kernels = Kernels {
    level: Level::Avx2,
    multiply: |params, out, a, b, scratch| {
        // SAFETY: `active` hands this table out only after the CPU reported AVX2 and PCLMULQDQ.
        unsafe { multiply(params, out, a, b, scratch) }
    },
    sample: |params, words, bytes| {
        // SAFETY: as above.
        unsafe { sample(params, words, bytes) }
    },
    write: |words, positions, weight| {
        // SAFETY: as above.
        unsafe { write(words, positions, weight) }
    },
    encode: |params, codeword, message| {
        // SAFETY: as above.
        unsafe { encode(params, codeword, message) }
    },
    decode: |params, received, message| {
        // SAFETY: as above.
        unsafe { decode(params, received, message) }
    },
};

#[target_feature(enable = "avx2,pclmulqdq")]
fn multiply(params: &Params, out: &mut [u64], a: &[u64], b: &[u64], scratch: &mut [u64]) {
    product::multiply::<Digit>(params, out, a, b, scratch);
}

#[target_feature(enable = "avx2")]
fn sample(params: &Params, words: &mut [u64], bytes: &[u8]) {
    super::sample(params, words, bytes, support::write);
}

#[target_feature(enable = "avx2")]
fn write(words: &mut [u64], positions: &Positions, weight: usize) {
    support::write(words, positions, weight);
}

#[target_feature(enable = "avx2")]
fn encode(params: &Params, codeword: &mut [u64], message: &[u8]) {
    super::encode(params, codeword, message);
}

#[target_feature(enable = "avx2")]
fn decode(params: &Params, received: &[u64], message: &mut [u8]) {
    super::decode(params, received, message, |copies| nearest(copies));
}

/// One digit.
#[derive(Clone, Copy)]
struct Digit(__m128i);

impl Digits for Digit {
    const LANES: usize = 1;

    #[inline(always)]
    fn zero() -> Self {
        // SAFETY: SSE2 is part of every x86-64 processor.
        Self(unsafe { _mm_setzero_si128() })
    }

    #[inline(always)]
    fn gather(words: &[u64], _stride: usize) -> Self {
        let words: &[u64; 2] = words.first_chunk().expect("a digit has two words");
        // SAFETY: 16 bytes are there; a load needs no alignment, and SSE2 is everywhere.
        Self(unsafe { _mm_loadu_si128(words.as_ptr().cast()) })
    }

    #[inline(always)]
    fn scatter(self, words: &mut [u64], _stride: usize) {
        let words: &mut [u64; 2] = words.first_chunk_mut().expect("a digit has two words");
        // SAFETY: 16 bytes are there; a store needs no alignment, and SSE2 is everywhere.
        unsafe { _mm_storeu_si128(words.as_mut_ptr().cast(), self.0) };
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        // SAFETY: SSE2 is everywhere.
        Self(unsafe { _mm_xor_si128(self.0, other.0) })
    }

    #[inline(always)]
    fn multiply_low(self, other: Self) -> Self {
        // SAFETY: this type is used behind `multiply` alone, which has PCLMULQDQ.
        Self(unsafe { _mm_clmulepi64_si128::<0x00>(self.0, other.0) })
    }

    #[inline(always)]
    fn multiply_high(self, other: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm_clmulepi64_si128::<0x11>(self.0, other.0) })
    }

    #[inline(always)]
    fn fold(self) -> Self {
        // SAFETY: SSE2 is everywhere.
        Self(unsafe { _mm_xor_si128(self.0, _mm_shuffle_epi32::<0x4e>(self.0)) })
    }

    #[inline(always)]
    fn up(self) -> Self {
        // SAFETY: SSE2 is everywhere.
        Self(unsafe { _mm_slli_si128::<8>(self.0) })
    }

    #[inline(always)]
    fn down(self) -> Self {
        // SAFETY: SSE2 is everywhere.
        Self(unsafe { _mm_srli_si128::<8>(self.0) })
    }
}

/// The numbers 0 to 15.
static NUMBERS: [i16; 16] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];

/// [`reed_muller::decode`], with sixteen sums in a register.
#[target_feature(enable = "avx2")]
fn nearest(copies: &[[u64; 2]]) -> u8 {
    // SAFETY: 32 bytes are there; a load needs no alignment.
    let numbers = unsafe { _mm256_loadu_si256(NUMBERS.as_ptr().cast()) };
    // Bit i of a lane i of sixteen, in bytes: 16-bit lanes hold 1 << i.
    let bits = _mm256_set_epi16(
        -0x8000, 0x4000, 0x2000, 0x1000, 0x800, 0x400, 0x200, 0x100, 0x80, 0x40, 0x20, 0x10, 8, 4, 2, 1,
    );
    let mut sums = [_mm256_setzero_si256(); 8];
    for copy in copies {
        for (i, sum) in sums.iter_mut().enumerate() {
            let sixteen = _mm256_set1_epi16((copy[i >> 2] >> (16 * (i & 3))) as i16);
            // Subtracts -1 where the bit is set.
            *sum = _mm256_sub_epi16(*sum, _mm256_cmpeq_epi16(_mm256_and_si256(sixteen, bits), bits));
        }
    }
    for half in [4, 2, 1] {
        for i in 0..8 {
            if i & half == 0 {
                let (a, b) = (sums[i], sums[i + half]);
                (sums[i], sums[i + half]) = (_mm256_add_epi16(a, b), _mm256_sub_epi16(a, b));
            }
        }
    }
    // Within a register: the other of each pair, plus or minus this one.
    let one = _mm256_set1_epi16(1);
    let signs = |bit: i16| {
        let is_second =
            _mm256_cmpeq_epi16(_mm256_and_si256(numbers, _mm256_set1_epi16(bit)), _mm256_set1_epi16(bit));
        _mm256_or_si256(is_second, one)
    };
    let step =
        |x: __m256i, other: __m256i, signs: __m256i| _mm256_add_epi16(other, _mm256_sign_epi16(x, signs));
    let neighbours = _mm256_set_epi8(
        13, 12, 15, 14, 9, 8, 11, 10, 5, 4, 7, 6, 1, 0, 3, 2, 13, 12, 15, 14, 9, 8, 11, 10, 5, 4, 7, 6, 1, 0,
        3, 2,
    );
    let of_bit = [signs(1), signs(2), signs(4), signs(8)];
    for sum in &mut sums {
        let mut x = *sum;
        x = step(x, _mm256_permute2x128_si256::<0x01>(x, x), of_bit[3]);
        x = step(x, _mm256_shuffle_epi32::<0x4e>(x), of_bit[2]);
        x = step(x, _mm256_shuffle_epi32::<0xb1>(x), of_bit[1]);
        *sum = step(x, _mm256_shuffle_epi8(x, neighbours), of_bit[0]);
    }
    let mean = _mm256_setr_epi16(64 * copies.len() as i16, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    sums[0] = _mm256_sub_epi16(sums[0], mean);
    // The complement of each key; the least of all is the highest peak's.
    let mut least = _mm256_set1_epi16(-1);
    for (i, sum) in sums.iter().enumerate() {
        let absolute = _mm256_andnot_si256(one, _mm256_abs_epi16(*sum));
        let index = _mm256_sub_epi16(_mm256_set1_epi16(127 - 16 * i as i16), numbers);
        let positive = _mm256_srli_epi16::<15>(_mm256_cmpgt_epi16(*sum, _mm256_setzero_si256()));
        let key = _mm256_or_si256(
            _mm256_or_si256(_mm256_slli_epi16::<7>(absolute), _mm256_slli_epi16::<1>(index)),
            positive,
        );
        least = _mm256_min_epu16(least, _mm256_xor_si256(key, _mm256_set1_epi16(-1)));
    }
    let least = _mm_min_epu16(_mm256_castsi256_si128(least), _mm256_extracti128_si256::<1>(least));
    reed_muller::symbol(!_mm_extract_epi16::<0>(_mm_minpos_epu16(least)) as u16)
}
