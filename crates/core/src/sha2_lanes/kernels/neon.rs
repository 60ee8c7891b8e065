//! aarch64 with Advanced SIMD: four words side by side, or two of 64 bits.

#![allow(unsafe_code)] // Intrinsics inside a trait whose methods cannot name their features.

use core::arch::aarch64::*;

use super::{Joined, Kernels, Vector, compress_rows, run_chain, run_masked_chain};
use crate::sha2_lanes::{K_256, K_512, Word};

pub(super) static NEON: Kernels = Kernels {
    compress_32: |state, block, count| compress_rows::<u32, Words32, 16>(&mut state.0, &block.0, count),
    compress_64: |state, block, count| compress_rows::<u64, Words64, 8>(&mut state.0, &block.0, count),
    chain: run_chain::<Words32>,
    masked_chain: run_masked_chain::<Words32>,
};

macro_rules! vector {
    ($doc:literal, $name:ident, $vector:ident, $word:ident, $bits:literal, $lanes:literal, $k:ident, $rounds:literal,
     $dup:ident $load:ident $store:ident $add:ident $eor:ident $select:ident $left:ident $right:ident $insert:ident,
     $a:literal $b:literal $c:literal, $d:literal $e:literal $f:literal, $g:literal $h:literal $i:literal, $j:literal $l:literal $m:literal) => {
        #[doc = $doc]
        #[derive(Clone, Copy)]
        struct $name($vector);

        impl $name {
            #[inline(always)]
            fn xor(self, other: Self) -> Self {
                // SAFETY: the module is compiled for targets with Advanced SIMD alone.
                Self(unsafe { $eor(self.0, other.0) })
            }

            /// Bits of `f` where those of this are ones, else of `g`.
            #[inline(always)]
            fn select(self, f: Self, g: Self) -> Self {
                // SAFETY: as above, and so in all that follow.
                Self(unsafe { $select(self.0, f.0, g.0) })
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
                Self(unsafe { $insert::<N>($left::<M>(self.0), self.0) })
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
                // SAFETY: as above.
                Self(unsafe { $add(self.0, other.0) })
            }

            #[inline(always)]
            fn ch(self, f: Self, g: Self) -> Self {
                self.select(f, g)
            }

            #[inline(always)]
            fn maj(self, b: Self, c: Self) -> Self {
                self.xor(b).select(c, b)
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
                Self(unsafe { $dup(word) })
            }

            #[inline(always)]
            fn load(row: &[$word]) -> Self {
                assert!(row.len() >= $lanes);
                // SAFETY: as above, and so many words are there.
                Self(unsafe { $load(row.as_ptr()) })
            }

            #[inline(always)]
            fn store(self, row: &mut [$word]) {
                assert!(row.len() >= $lanes);
                // SAFETY: as above.
                unsafe { $store(row.as_mut_ptr(), self.0) }
            }
        }
    };
}

vector!("Four words.", Words32, uint32x4_t, u32, 32, 4, K_256, 64,
    vdupq_n_u32 vld1q_u32 vst1q_u32 vaddq_u32 veorq_u32 vbslq_u32 vshlq_n_u32 vshrq_n_u32 vsriq_n_u32,
    2 13 22, 6 11 25, 7 18 3, 17 19 10);
vector!("Two words.", Words64, uint64x2_t, u64, 64, 2, K_512, 80,
    vdupq_n_u64 vld1q_u64 vst1q_u64 vaddq_u64 veorq_u64 vbslq_u64 vshlq_n_u64 vshrq_n_u64 vsriq_n_u64,
    28 34 39, 14 18 41, 1 8 7, 19 61 6);

impl Joined for Words32 {
    #[inline(always)]
    fn behind<const BITS: i32, const REST: i32>(self, before: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { vsriq_n_u32::<BITS>(vshlq_n_u32::<REST>(before.0), self.0) })
    }

    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        self.xor(other)
    }
}
