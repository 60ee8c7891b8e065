//! One word at a time: every target.

use super::{Joined, Kernels, Vector, compress_rows, run_chain, run_masked_chain};
use crate::sha2_lanes::{K_256, K_512, Word};

pub(super) static PORTABLE: Kernels = Kernels {
    compress_32: |state, block, count| compress_rows::<u32, u32, 16>(&mut state.0, &block.0, count),
    compress_64: |state, block, count| compress_rows::<u64, u64, 8>(&mut state.0, &block.0, count),
    chain: run_chain::<u32>,
    masked_chain: run_masked_chain::<u32>,
};

macro_rules! word {
    ($word:ty, $k:ident, $rounds:literal, $a:literal $b:literal $c:literal, $d:literal $e:literal $f:literal, $g:literal $h:literal $i:literal, $j:literal $l:literal $m:literal) => {
        impl Word for $word {
            const ROUNDS: usize = $rounds;
            const PEELED: bool = false;

            #[inline(always)]
            fn constant(round: usize) -> Self {
                $k[round]
            }

            #[inline(always)]
            fn add(self, other: Self) -> Self {
                self.wrapping_add(other)
            }

            #[inline(always)]
            fn ch(self, f: Self, g: Self) -> Self {
                g ^ (self & (f ^ g))
            }

            #[inline(always)]
            fn maj(self, b: Self, c: Self) -> Self {
                (self & b) | (c & (self | b))
            }

            #[inline(always)]
            fn upper_sigma_0(self) -> Self {
                self.rotate_right($a) ^ self.rotate_right($b) ^ self.rotate_right($c)
            }

            #[inline(always)]
            fn upper_sigma_1(self) -> Self {
                self.rotate_right($d) ^ self.rotate_right($e) ^ self.rotate_right($f)
            }

            #[inline(always)]
            fn lower_sigma_0(self) -> Self {
                self.rotate_right($g) ^ self.rotate_right($h) ^ (self >> $i)
            }

            #[inline(always)]
            fn lower_sigma_1(self) -> Self {
                self.rotate_right($j) ^ self.rotate_right($l) ^ (self >> $m)
            }
        }

        impl Vector<$word> for $word {
            const LANES: usize = 1;

            #[inline(always)]
            fn splat(word: $word) -> Self {
                word
            }

            #[inline(always)]
            fn load(row: &[$word]) -> Self {
                row[0]
            }

            #[inline(always)]
            fn store(self, row: &mut [$word]) {
                row[0] = self;
            }
        }
    };
}

word!(u32, K_256, 64, 2 13 22, 6 11 25, 7 18 3, 17 19 10);
word!(u64, K_512, 80, 28 34 39, 14 18 41, 1 8 7, 19 61 6);

impl Joined for u32 {
    #[inline(always)]
    fn behind<const BITS: i32, const REST: i32>(self, before: Self) -> Self {
        before << REST | self >> BITS
    }

    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        self ^ other
    }
}
