//! x86-64 with AVX2: eight words side by side, or four of 64 bits.

#![allow(unsafe_code)] // Intrinsics inside a trait whose methods cannot name their features.

use core::arch::x86_64::*;

use super::{Joined, Kernels, Vector, compress_rows, run_chain, run_masked_chain};
use crate::sha2_lanes::{Chain, Form, K_256, K_512, MaskedChain, Rows32, Rows64, Word};

pub(super) static AVX2: Kernels = Kernels {
    compress_32: |state, block, count| {
        // SAFETY: `active` hands this table out only after the CPU reported AVX2.
        unsafe { compress_32(state, block, count) }
    },
    compress_64: |state, block, count| {
        // SAFETY: as above.
        unsafe { compress_64(state, block, count) }
    },
    chain: |form, chain, steps, count| {
        // SAFETY: as above.
        unsafe { chain_32(form, chain, steps, count) }
    },
    masked_chain: |prf, chain, steps, count| {
        // SAFETY: as above.
        unsafe { masked_chain(prf, chain, steps, count) }
    },
};

#[target_feature(enable = "avx2")]
fn compress_32(state: &mut Rows32<8>, block: &Rows32<16>, count: usize) {
    compress_rows::<u32, Words32, 16>(&mut state.0, &block.0, count);
}

#[target_feature(enable = "avx2")]
fn compress_64(state: &mut Rows64<8>, block: &Rows64<16>, count: usize) {
    compress_rows::<u64, Words64, 8>(&mut state.0, &block.0, count);
}

#[target_feature(enable = "avx2")]
fn chain_32(form: &Form, chain: &mut Chain, steps: usize, count: usize) {
    run_chain::<Words32>(form, chain, steps, count);
}

#[target_feature(enable = "avx2")]
fn masked_chain(prf: &[u32; 8], chain: &mut MaskedChain, steps: usize, count: usize) {
    run_masked_chain::<Words32>(prf, chain, steps, count);
}

macro_rules! vector {
    ($doc:literal, $name:ident, $word:ident, $signed:ident, $bits:literal, $lanes:literal, $k:ident, $rounds:literal,
     $set1:ident $add:ident $left:ident $right:ident,
     $a:literal $b:literal $c:literal, $d:literal $e:literal $f:literal, $g:literal $h:literal $i:literal, $j:literal $l:literal $m:literal) => {
        #[doc = $doc]
        #[derive(Clone, Copy)]
        struct $name(__m256i);

        impl $name {
            #[inline(always)]
            fn xor(self, other: Self) -> Self {
                // SAFETY: called from functions with AVX2 alone.
                Self(unsafe { _mm256_xor_si256(self.0, other.0) })
            }

            #[inline(always)]
            fn and(self, other: Self) -> Self {
                // SAFETY: as above, and so in all that follow.
                Self(unsafe { _mm256_and_si256(self.0, other.0) })
            }

            #[inline(always)]
            fn shift<const N: i32>(self) -> Self {
                // SAFETY: as above.
                Self(unsafe { $right::<N>(self.0) })
            }

            /// Rotates to the right by `N`; `M` is what it is short of a word.
            #[inline(always)]
            fn rotate<const N: i32, const M: i32>(self) -> Self {
                const { assert!(N + M == $bits) };
                // SAFETY: as above.
                Self(unsafe { _mm256_or_si256($right::<N>(self.0), $left::<M>(self.0)) })
            }
        }

        impl Word for $name {
            const ROUNDS: usize = $rounds;
            const PEELED: bool = false;

            #[inline(always)]
            fn constant(round: usize) -> Self {
                Self::splat($k[round])
            }

            #[inline(always)]
            fn add(self, other: Self) -> Self {
                // SAFETY: as above.
                Self(unsafe { $add(self.0, other.0) })
            }

            #[inline(always)]
            fn ch(self, f: Self, g: Self) -> Self {
                g.xor(self.and(f.xor(g)))
            }

            #[inline(always)]
            fn maj(self, b: Self, c: Self) -> Self {
                b.xor(self.xor(b).and(b.xor(c)))
            }

            #[inline(always)]
            fn upper_sigma_0(self) -> Self {
                self.rotate::<$a, { $bits - $a }>()
                    .xor(self.rotate::<$b, { $bits - $b }>())
                    .xor(self.rotate::<$c, { $bits - $c }>())
            }

            #[inline(always)]
            fn upper_sigma_1(self) -> Self {
                self.rotate::<$d, { $bits - $d }>()
                    .xor(self.rotate::<$e, { $bits - $e }>())
                    .xor(self.rotate::<$f, { $bits - $f }>())
            }

            #[inline(always)]
            fn lower_sigma_0(self) -> Self {
                self.rotate::<$g, { $bits - $g }>().xor(self.rotate::<$h, { $bits - $h }>()).xor(self.shift::<$i>())
            }

            #[inline(always)]
            fn lower_sigma_1(self) -> Self {
                self.rotate::<$j, { $bits - $j }>().xor(self.rotate::<$l, { $bits - $l }>()).xor(self.shift::<$m>())
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
                Self(unsafe { _mm256_loadu_si256(row.as_ptr().cast()) })
            }

            #[inline(always)]
            fn store(self, row: &mut [$word]) {
                assert!(row.len() >= $lanes);
                // SAFETY: as above.
                unsafe { _mm256_storeu_si256(row.as_mut_ptr().cast(), self.0) }
            }
        }
    };
}

vector!("Eight words.", Words32, u32, i32, 32, 8, K_256, 64,
    _mm256_set1_epi32 _mm256_add_epi32 _mm256_slli_epi32 _mm256_srli_epi32,
    2 13 22, 6 11 25, 7 18 3, 17 19 10);
vector!("Four words.", Words64, u64, i64, 64, 4, K_512, 80,
    _mm256_set1_epi64x _mm256_add_epi64 _mm256_slli_epi64 _mm256_srli_epi64,
    28 34 39, 14 18 41, 1 8 7, 19 61 6);

impl Joined for Words32 {
    #[inline(always)]
    fn behind<const BITS: i32, const REST: i32>(self, before: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe {
            _mm256_or_si256(_mm256_slli_epi32::<REST>(before.0), _mm256_srli_epi32::<BITS>(self.0))
        })
    }

    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        self.xor(other)
    }
}
