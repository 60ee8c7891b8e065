//! x86-64 with AVX-512: sixteen words side by side, or eight of 64 bits; where few lanes are busy, half as many, or with the SHA
//! extensions.

#![allow(unsafe_code)] // Intrinsics inside a trait whose methods cannot name their features.

use core::arch::x86_64::*;

use super::{Joined, Kernels, Vector, compress_rows, run_chain, run_masked_chain, sha_ni};
use crate::cpu;
use crate::sha2_lanes::{Chain, Form, K_256, K_512, MaskedChain, Rows32, Rows64, Word};

/// The most lanes that take less time two by two with the SHA extensions: than in eight lanes, and in chains than in sixteen.
const FEW: usize = 6;
const FEW_CHAINS: usize = 10;
/// Half of the lanes of a vector of 512 bits; those of 256 bits take little more than half of its time.
const HALF_32: usize = 8;
const HALF_64: usize = 4;

pub(super) static AVX512: Kernels = Kernels {
    compress_32: |state, block, count| {
        if count <= FEW && cpu::sha2() {
            return (sha_ni::AVX2_AND_SHA_NI.compress_32)(state, block, count);
        }
        // SAFETY: `active` hands this table out only after the CPU reported AVX-512 F and VL.
        unsafe { compress_32(state, block, count) }
    },
    compress_64: |state, block, count| {
        // SAFETY: as above.
        unsafe { compress_64(state, block, count) }
    },
    chain: |form, chain, steps, count| {
        if count <= FEW_CHAINS && cpu::sha2() {
            return (sha_ni::AVX2_AND_SHA_NI.chain)(form, chain, steps, count);
        }
        // SAFETY: as above.
        unsafe { chain_32(form, chain, steps, count) }
    },
    masked_chain: |prf, chain, steps, count| {
        if count <= FEW_CHAINS && cpu::sha2() {
            return (sha_ni::AVX2_AND_SHA_NI.masked_chain)(prf, chain, steps, count);
        }
        // SAFETY: as above.
        unsafe { masked_chain(prf, chain, steps, count) }
    },
};

#[target_feature(enable = "avx512f,avx512vl")]
fn compress_32(state: &mut Rows32<8>, block: &Rows32<16>, count: usize) {
    if count <= HALF_32 {
        return compress_rows::<u32, Half32, 16>(&mut state.0, &block.0, count);
    }
    compress_rows::<u32, Words32, 16>(&mut state.0, &block.0, count);
}

#[target_feature(enable = "avx512f,avx512vl")]
fn compress_64(state: &mut Rows64<8>, block: &Rows64<16>, count: usize) {
    if count <= HALF_64 {
        return compress_rows::<u64, Half64, 8>(&mut state.0, &block.0, count);
    }
    compress_rows::<u64, Words64, 8>(&mut state.0, &block.0, count);
}

#[target_feature(enable = "avx512f,avx512vl")]
fn chain_32(form: &Form, chain: &mut Chain, steps: usize, count: usize) {
    run_chain::<Words32>(form, chain, steps, count);
}

#[target_feature(enable = "avx512f,avx512vl")]
fn masked_chain(prf: &[u32; 8], chain: &mut MaskedChain, steps: usize, count: usize) {
    run_masked_chain::<Words32>(prf, chain, steps, count);
}

macro_rules! vector {
    ($doc:literal, $name:ident($vector:ident), $word:ident, $signed:ident, $lanes:literal, $k:ident, $rounds:literal,
     $set1:ident $add:ident $ternary:ident $rotate:ident $shift:ident $load:ident $store:ident,
     $a:literal $b:literal $c:literal, $d:literal $e:literal $f:literal, $g:literal $h:literal $i:literal, $j:literal $l:literal $m:literal) => {
        #[doc = $doc]
        #[derive(Clone, Copy)]
        struct $name($vector);

        impl $name {
            /// The sum of three without carries.
            #[inline(always)]
            fn xor3(a: $vector, b: $vector, c: $vector) -> Self {
                // SAFETY: called from functions with AVX-512 F and VL alone.
                Self(unsafe { $ternary::<0x96>(a, b, c) })
            }
        }

        impl Word for $name {
            const ROUNDS: usize = $rounds;
            const PEELED: bool = true;

            #[inline(always)]
            fn constant(round: usize) -> Self {
                Self::splat($k[round])
            }

            #[inline(always)]
            fn add(self, other: Self) -> Self {
                // SAFETY: as above, and so in all that follow.
                Self(unsafe { $add(self.0, other.0) })
            }

            #[inline(always)]
            fn ch(self, f: Self, g: Self) -> Self {
                // SAFETY: as above.
                Self(unsafe { $ternary::<0xca>(self.0, f.0, g.0) })
            }

            #[inline(always)]
            fn maj(self, b: Self, c: Self) -> Self {
                // SAFETY: as above.
                Self(unsafe { $ternary::<0xe8>(self.0, b.0, c.0) })
            }

            #[inline(always)]
            fn upper_sigma_0(self) -> Self {
                // SAFETY: as above.
                unsafe { Self::xor3($rotate::<$a>(self.0), $rotate::<$b>(self.0), $rotate::<$c>(self.0)) }
            }

            #[inline(always)]
            fn upper_sigma_1(self) -> Self {
                // SAFETY: as above.
                unsafe { Self::xor3($rotate::<$d>(self.0), $rotate::<$e>(self.0), $rotate::<$f>(self.0)) }
            }

            #[inline(always)]
            fn lower_sigma_0(self) -> Self {
                // SAFETY: as above.
                unsafe { Self::xor3($rotate::<$g>(self.0), $rotate::<$h>(self.0), $shift::<$i>(self.0)) }
            }

            #[inline(always)]
            fn lower_sigma_1(self) -> Self {
                // SAFETY: as above.
                unsafe { Self::xor3($rotate::<$j>(self.0), $rotate::<$l>(self.0), $shift::<$m>(self.0)) }
            }
        }

        impl Vector<$word> for $name {
            const LANES: usize = $lanes;

            #[inline(always)]
            fn splat(word: $word) -> Self {
                // SAFETY: as above.
                Self(unsafe { $set1(word as $signed) })
            }

            #[inline(always)]
            fn load(row: &[$word]) -> Self {
                assert!(row.len() >= $lanes);
                // SAFETY: as above, and so many words are there.
                Self(unsafe { $load(row.as_ptr().cast()) })
            }

            #[inline(always)]
            fn store(self, row: &mut [$word]) {
                assert!(row.len() >= $lanes);
                // SAFETY: as above.
                unsafe { $store(row.as_mut_ptr().cast(), self.0) }
            }
        }
    };
}

vector!("Sixteen words.", Words32(__m512i), u32, i32, 16, K_256, 64,
    _mm512_set1_epi32 _mm512_add_epi32 _mm512_ternarylogic_epi32 _mm512_ror_epi32 _mm512_srli_epi32 _mm512_loadu_si512 _mm512_storeu_si512,
    2 13 22, 6 11 25, 7 18 3, 17 19 10);
vector!("Eight words of 32 bits.", Half32(__m256i), u32, i32, 8, K_256, 64,
    _mm256_set1_epi32 _mm256_add_epi32 _mm256_ternarylogic_epi32 _mm256_ror_epi32 _mm256_srli_epi32 _mm256_loadu_si256 _mm256_storeu_si256,
    2 13 22, 6 11 25, 7 18 3, 17 19 10);
vector!("Eight words of 64 bits.", Words64(__m512i), u64, i64, 8, K_512, 80,
    _mm512_set1_epi64 _mm512_add_epi64 _mm512_ternarylogic_epi64 _mm512_ror_epi64 _mm512_srli_epi64 _mm512_loadu_si512 _mm512_storeu_si512,
    28 34 39, 14 18 41, 1 8 7, 19 61 6);
vector!("Four words of 64 bits.", Half64(__m256i), u64, i64, 4, K_512, 80,
    _mm256_set1_epi64x _mm256_add_epi64 _mm256_ternarylogic_epi64 _mm256_ror_epi64 _mm256_srli_epi64 _mm256_loadu_si256 _mm256_storeu_si256,
    28 34 39, 14 18 41, 1 8 7, 19 61 6);

impl Joined for Words32 {
    #[inline(always)]
    fn behind<const BITS: i32, const REST: i32>(self, before: Self) -> Self {
        const { assert!(BITS == 16 || BITS == 24 && REST == 8) };
        // SAFETY: as above.
        Self(unsafe {
            if BITS == 16 {
                _mm512_or_si512(_mm512_slli_epi32::<16>(before.0), _mm512_srli_epi32::<16>(self.0))
            } else {
                _mm512_or_si512(_mm512_slli_epi32::<8>(before.0), _mm512_srli_epi32::<24>(self.0))
            }
        })
    }

    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm512_xor_si512(self.0, other.0) })
    }
}
