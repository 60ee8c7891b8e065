//! WebAssembly with 128-bit SIMD: two states side by side; one alone stays in words.

use core::arch::wasm32::*;

use super::{Holder, Kernels};
use crate::cpu::Level;
use crate::sha3::keccak::{self, Lane};

pub(super) static SIMD128: Kernels = Kernels {
    level: Level::Simd128,
    permute_many: |states| permute_many(states),
    permute_aligned: |states| permute_many(states),
    chain: None,
};

fn permute_many<H: Holder>(states: &mut [H]) {
    let (twos, rest) = states.as_chunks_mut::<2>();
    for [a, b] in twos {
        permute_two(&mut a.state().0, &mut b.state().0);
    }
    for one in rest {
        permute_one(&mut one.state().0);
    }
}

#[inline(never)] // once in the module
fn permute_one(a: &mut [u64; 25]) {
    keccak::permute(a);
}

#[inline(never)] // once in the module
fn permute_two(a: &mut [u64; 25], b: &mut [u64; 25]) {
    let mut lanes: [Two; 25] = core::array::from_fn(|i| Two(u64x2(a[i], b[i])));
    keccak::permute(&mut lanes);
    for ((lane, a), b) in lanes.iter().zip(a).zip(b) {
        (*a, *b) = (u64x2_extract_lane::<0>(lane.0), u64x2_extract_lane::<1>(lane.0));
    }
}

/// The same word of two states.
#[derive(Clone, Copy)]
struct Two(v128);

impl Lane for Two {
    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        Self(v128_xor(self.0, other.0))
    }

    #[inline(always)]
    fn and_not(self, mask: Self) -> Self {
        Self(v128_andnot(self.0, mask.0))
    }

    #[inline(always)]
    fn rotate_left<const N: u32>(self) -> Self {
        let x = self.0;
        // Whole bytes move in one instruction.
        Self(match N {
            8 => i8x16_shuffle::<7, 0, 1, 2, 3, 4, 5, 6, 15, 8, 9, 10, 11, 12, 13, 14>(x, x),
            56 => i8x16_shuffle::<1, 2, 3, 4, 5, 6, 7, 0, 9, 10, 11, 12, 13, 14, 15, 8>(x, x),
            _ => v128_or(u64x2_shl(x, N), u64x2_shr(x, 64 - N)),
        })
    }

    #[inline(always)]
    fn broadcast(word: u64) -> Self {
        Self(u64x2_splat(word))
    }

    type Theta = Self;

    #[inline(always)]
    fn theta(before: Self, after: Self) -> Self {
        before.xor(after.rotate_left::<1>())
    }

    #[inline(always)]
    fn add(self, theta: Self) -> Self {
        self.xor(theta)
    }
}
