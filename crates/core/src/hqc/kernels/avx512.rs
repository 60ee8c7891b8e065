//! x86-64 with AVX-512 and VPCLMULQDQ: four products side by side, thirty-two sums.

#![allow(unsafe_code)] // Intrinsics inside a trait whose methods cannot name their features.

use core::arch::x86_64::*;

use super::Kernels;
use crate::cpu::Level;
use crate::hqc::params::{MAX_WEIGHT, Params};
use crate::hqc::product::{self, Digits};
use crate::hqc::reed_muller;
use crate::hqc::support::Positions;
use crate::secret::Secret;

/// True if the processor multiplies whole registers without carries: no [`Level`] says so.
pub(super) fn is_detected() -> bool {
    cpufeatures::new!(vpclmulqdq, "vpclmulqdq", "avx512f", "avx512bw", "avx512vl");
    vpclmulqdq::get()
}

pub(super) static AVX512: Kernels = Kernels {
    level: Level::Avx512,
    multiply: |params, out, a, b, scratch| {
        // SAFETY: `active` hands this table out only after the CPU reported AVX-512 F, BW and VL, and VPCLMULQDQ.
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

#[target_feature(enable = "avx512f,avx512bw,avx512vl,vpclmulqdq")]
fn multiply(params: &Params, out: &mut [u64], a: &[u64], b: &[u64], scratch: &mut [u64]) {
    product::multiply::<Four>(params, out, a, b, scratch);
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
fn sample(params: &Params, words: &mut [u64], bytes: &[u8]) {
    super::sample(params, words, bytes, |words, positions, weight| write(words, positions, weight));
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
fn encode(params: &Params, codeword: &mut [u64], message: &[u8]) {
    super::encode(params, codeword, message);
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
fn decode(params: &Params, received: &[u64], message: &mut [u8]) {
    super::decode(params, received, message, |copies| nearest(copies));
}

/// `support::write`, with sixty-four words in registers.
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
fn write(words: &mut [u64], positions: &Positions, weight: usize) {
    let mut bits = Secret::new([[0_u64; 2]; MAX_WEIGHT]);
    let bits = &mut bits.expose_mut()[..weight];
    for (bit, position) in bits.iter_mut().zip(positions.as_flattened()) {
        *bit = [u64::from(position >> 6), 1 << (position & 63)];
    }
    let numbers = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
    for (tile, words) in (0..).map(|tile| 64 * tile).zip(words.chunks_mut(64)) {
        let mut sums = [_mm512_setzero_si512(); 8];
        for [place, bit] in &*bits {
            // The place of the bit's word, from the first of the tile.
            let place = _mm512_set1_epi64((place.wrapping_sub(tile)) as i64);
            let bit = _mm512_set1_epi64(*bit as i64);
            for (i, sum) in sums.iter_mut().enumerate() {
                let these = _mm512_add_epi64(numbers, _mm512_set1_epi64(8 * i as i64));
                *sum = _mm512_mask_or_epi64(*sum, _mm512_cmpeq_epi64_mask(place, these), *sum, bit);
            }
        }
        for (words, sum) in words.chunks_mut(8).zip(sums) {
            let here = (1_u16 << words.len()).wrapping_sub(1) as u8;
            // SAFETY: the mask has one bit for each word that is there.
            unsafe { _mm512_mask_storeu_epi64(words.as_mut_ptr().cast(), here, sum) };
        }
    }
}

/// Four digits.
#[derive(Clone, Copy)]
struct Four(__m512i);

impl Digits for Four {
    const LANES: usize = 4;

    #[inline(always)]
    fn zero() -> Self {
        // SAFETY: this type is used behind `multiply` alone, which has the features.
        Self(unsafe { _mm512_setzero_si512() })
    }

    #[inline(always)]
    fn gather(words: &[u64], stride: usize) -> Self {
        assert!(words.len() >= 3 * stride + 2);
        let digit = |lane: usize| words[lane * stride..].as_ptr().cast::<__m128i>();
        // SAFETY: the features are as above; two words stand at the beginning of each of the four places, and loads need no alignment.
        unsafe {
            let low = _mm256_inserti128_si256::<1>(
                _mm256_castsi128_si256(_mm_loadu_si128(digit(0))),
                _mm_loadu_si128(digit(1)),
            );
            let high = _mm256_inserti128_si256::<1>(
                _mm256_castsi128_si256(_mm_loadu_si128(digit(2))),
                _mm_loadu_si128(digit(3)),
            );
            Self(_mm512_inserti64x4::<1>(_mm512_castsi256_si512(low), high))
        }
    }

    #[inline(always)]
    fn scatter(self, words: &mut [u64], stride: usize) {
        assert!(words.len() >= 3 * stride + 2);
        let mut digit = |lane: usize| words[lane * stride..].as_mut_ptr().cast::<__m128i>();
        // SAFETY: as above, of stores.
        unsafe {
            _mm_storeu_si128(digit(0), _mm512_castsi512_si128(self.0));
            _mm_storeu_si128(digit(1), _mm512_extracti32x4_epi32::<1>(self.0));
            _mm_storeu_si128(digit(2), _mm512_extracti32x4_epi32::<2>(self.0));
            _mm_storeu_si128(digit(3), _mm512_extracti32x4_epi32::<3>(self.0));
        }
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        // SAFETY: the features are as above.
        Self(unsafe { _mm512_xor_si512(self.0, other.0) })
    }

    #[inline(always)]
    fn multiply_low(self, other: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm512_clmulepi64_epi128::<0x00>(self.0, other.0) })
    }

    #[inline(always)]
    fn multiply_high(self, other: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm512_clmulepi64_epi128::<0x11>(self.0, other.0) })
    }

    #[inline(always)]
    fn fold(self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm512_xor_si512(self.0, _mm512_shuffle_epi32::<0x4e>(self.0)) })
    }

    #[inline(always)]
    fn up(self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm512_bslli_epi128::<8>(self.0) })
    }

    #[inline(always)]
    fn down(self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm512_bsrli_epi128::<8>(self.0) })
    }
}

/// The numbers 0 to 31.
static NUMBERS: [i16; 32] = [
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28,
    29, 30, 31,
];

/// [`reed_muller::decode`], with thirty-two sums in a register.
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
fn nearest(copies: &[[u64; 2]]) -> u8 {
    let ones = _mm512_set1_epi16(-1);
    let mut sums = [_mm512_setzero_si512(); 4];
    for copy in copies {
        for (i, sum) in sums.iter_mut().enumerate() {
            let set = (copy[i >> 1] >> (32 * (i & 1))) as u32;
            *sum = _mm512_mask_sub_epi16(*sum, set, *sum, ones);
        }
    }
    for half in [2, 1] {
        for i in 0..4 {
            if i & half == 0 {
                let (a, b) = (sums[i], sums[i + half]);
                (sums[i], sums[i + half]) = (_mm512_add_epi16(a, b), _mm512_sub_epi16(a, b));
            }
        }
    }
    // Within a register: the other of each pair, plus this one or, in the second of the pair, minus this one.
    let step = |x: __m512i, other: __m512i, seconds: u32| {
        _mm512_mask_sub_epi16(_mm512_add_epi16(other, x), seconds, other, x)
    };
    for sum in &mut sums {
        let mut x = *sum;
        x = step(x, _mm512_shuffle_i64x2::<0x4e>(x, x), 0xffff_0000);
        x = step(x, _mm512_shuffle_i64x2::<0xb1>(x, x), 0xff00_ff00);
        x = step(x, _mm512_shuffle_epi32::<0x4e>(x), 0xf0f0_f0f0);
        x = step(x, _mm512_shuffle_epi32::<0xb1>(x), 0xcccc_cccc);
        *sum = step(x, _mm512_rol_epi32::<16>(x), 0xaaaa_aaaa);
    }
    let mean = _mm512_maskz_set1_epi16(1, 64 * copies.len() as i16);
    sums[0] = _mm512_sub_epi16(sums[0], mean);
    // The complement of each key; the least of all is the highest peak's.
    // SAFETY: 64 bytes are there; a load needs no alignment.
    let numbers = unsafe { _mm512_loadu_si512(NUMBERS.as_ptr().cast()) };
    let mut least = ones;
    for (i, sum) in sums.iter().enumerate() {
        let absolute = _mm512_andnot_si512(_mm512_set1_epi16(1), _mm512_abs_epi16(*sum));
        let index = _mm512_sub_epi16(_mm512_set1_epi16(127 - 32 * i as i16), numbers);
        let positive = _mm512_maskz_set1_epi16(_mm512_cmpgt_epi16_mask(*sum, _mm512_setzero_si512()), 1);
        let key = _mm512_or_si512(
            _mm512_or_si512(_mm512_slli_epi16::<7>(absolute), _mm512_slli_epi16::<1>(index)),
            positive,
        );
        least = _mm512_min_epu16(least, _mm512_xor_si512(key, ones));
    }
    let least = _mm256_min_epu16(_mm512_castsi512_si256(least), _mm512_extracti64x4_epi64::<1>(least));
    let least = _mm_min_epu16(_mm256_castsi256_si128(least), _mm256_extracti128_si256::<1>(least));
    reed_muller::symbol(!_mm_extract_epi16::<0>(_mm_minpos_epu16(least)) as u16)
}
