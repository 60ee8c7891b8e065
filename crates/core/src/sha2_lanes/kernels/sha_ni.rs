//! x86-64 with AVX2 and the SHA extensions: SHA-256 by these; SHA-512 as with AVX2 alone.

#![allow(unsafe_code)] // Intrinsics inside a trait whose methods cannot name their features.

use core::arch::x86_64::*;

use super::columns::{Four, compress_rows, run_chain, run_masked_chain};
use super::{Kernels, avx2};
use crate::sha2_lanes::{Chain, Form, MaskedChain, Rows32};

pub(super) static AVX2_AND_SHA_NI: Kernels = Kernels {
    compress_32: |state, block, count| {
        // SAFETY: `active` hands this table out only after the CPU reported SHA, SSSE3 and SSE4.1.
        unsafe { compress_32(state, block, count) }
    },
    compress_64: avx2::AVX2.compress_64,
    chain: |form, chain, steps, count| {
        // SAFETY: as above.
        unsafe { chain_32(form, chain, steps, count) }
    },
    masked_chain: |prf, chain, steps, count| {
        // SAFETY: as above.
        unsafe { masked_chain(prf, chain, steps, count) }
    },
};

#[target_feature(enable = "sha,ssse3,sse4.1")]
fn compress_32(state: &mut Rows32<8>, block: &Rows32<16>, count: usize) {
    compress_rows::<Words>(state, block, count);
}

#[target_feature(enable = "sha,ssse3,sse4.1")]
fn chain_32(form: &Form, chain: &mut Chain, steps: usize, count: usize) {
    run_chain::<Words>(form, chain, steps, count);
}

#[target_feature(enable = "sha,ssse3,sse4.1")]
fn masked_chain(prf: &[u32; 8], chain: &mut MaskedChain, steps: usize, count: usize) {
    run_masked_chain::<Words>(prf, chain, steps, count);
}

/// Four words, the first in the lowest place. States have the words a, b, e, f and c, d, g, h, the first in the highest place.
#[derive(Clone, Copy)]
struct Words(__m128i);

impl Four for Words {
    #[inline(always)]
    fn new(words: [u32; 4]) -> Self {
        // SAFETY: 16 bytes.
        Self(unsafe { _mm_loadu_si128(words.as_ptr().cast()) })
    }

    #[inline(always)]
    fn words(self) -> [u32; 4] {
        let mut words = [0; 4];
        // SAFETY: 16 bytes.
        unsafe { _mm_storeu_si128(words.as_mut_ptr().cast(), self.0) };
        words
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        // SAFETY: called from functions with SHA, SSSE3 and SSE4.1 alone, and so are all that follow.
        Self(unsafe { _mm_add_epi32(self.0, other.0) })
    }

    #[inline(always)]
    fn and(self, other: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm_and_si128(self.0, other.0) })
    }

    #[inline(always)]
    fn or(self, other: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm_or_si128(self.0, other.0) })
    }

    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm_xor_si128(self.0, other.0) })
    }

    #[inline(always)]
    fn behind<const BITS: i32, const REST: i32>(self, before: Self) -> Self {
        const { assert!(BITS + REST == 32) };
        // SAFETY: as above.
        Self(unsafe { _mm_or_si128(_mm_srli_epi32::<BITS>(self.0), _mm_slli_epi32::<REST>(before.0)) })
    }

    #[inline(always)]
    fn after_one_of(self, before: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm_alignr_epi8::<12>(self.0, before.0) })
    }

    #[inline(always)]
    fn after_two_of(self, before: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm_alignr_epi8::<8>(self.0, before.0) })
    }

    #[inline(always)]
    fn arrange([abcd, efgh]: [Self; 2]) -> [Self; 2] {
        // SAFETY: as above.
        unsafe {
            let (badc, fehg) = (_mm_shuffle_epi32::<0xb1>(abcd.0), _mm_shuffle_epi32::<0xb1>(efgh.0));
            [Self(_mm_unpacklo_epi64(fehg, badc)), Self(_mm_unpackhi_epi64(fehg, badc))]
        }
    }

    #[inline(always)]
    fn restore([abef, cdgh]: [Self; 2]) -> [Self; 2] {
        // SAFETY: as above.
        unsafe {
            let (badc, fehg) = (_mm_unpackhi_epi64(abef.0, cdgh.0), _mm_unpacklo_epi64(abef.0, cdgh.0));
            [Self(_mm_shuffle_epi32::<0xb1>(badc)), Self(_mm_shuffle_epi32::<0xb1>(fehg))]
        }
    }

    #[inline(always)]
    fn schedule([w0, w1, w2, w3]: [Self; 4]) -> Self {
        // SAFETY: as above.
        Self(unsafe {
            let sum = _mm_add_epi32(_mm_sha256msg1_epu32(w0.0, w1.0), _mm_alignr_epi8::<4>(w3.0, w2.0));
            _mm_sha256msg2_epu32(sum, w3.0)
        })
    }

    #[inline(always)]
    fn four_rounds([abef, cdgh]: [Self; 2], wk: Self) -> [Self; 2] {
        // SAFETY: as above.
        unsafe {
            let cdgh = _mm_sha256rnds2_epu32(cdgh.0, abef.0, wk.0);
            let abef = _mm_sha256rnds2_epu32(abef.0, cdgh, _mm_shuffle_epi32::<0x0e>(wk.0));
            [Self(abef), Self(cdgh)]
        }
    }
}
