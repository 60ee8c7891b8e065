//! aarch64 with the instructions for SHA-256, and with those for SHA-512, which newer processors have as well.

#![allow(unsafe_code)] // Intrinsics inside a trait whose methods cannot name their features.

use core::arch::aarch64::*;

use super::columns::{Four, compress_rows, run_chain, run_masked_chain};
use super::{Kernels, neon};
use crate::sha2_lanes::{Chain, Form, K_512, LANES_64, MaskedChain, Rows32, Rows64};

/// SHA-256 by its instructions; SHA-512 as with Advanced SIMD alone.
pub(super) static SHA_256: Kernels = Kernels {
    compress_32: |state, block, count| {
        // SAFETY: `active` hands this table out only after the CPU reported the instructions for SHA-256.
        unsafe { compress_32(state, block, count) }
    },
    compress_64: neon::NEON.compress_64,
    chain: |form, chain, steps, count| {
        // SAFETY: as above.
        unsafe { chain_32(form, chain, steps, count) }
    },
    masked_chain: |prf, chain, steps, count| {
        // SAFETY: as above.
        unsafe { masked_chain(prf, chain, steps, count) }
    },
};

/// Both by their instructions.
pub(super) static SHA_256_AND_SHA_512: Kernels = Kernels {
    compress_32: SHA_256.compress_32,
    compress_64: |state, block, count| {
        // SAFETY: `active` hands this table out only after the CPU reported the instructions for SHA-512.
        unsafe { compress_64(state, block, count) }
    },
    chain: SHA_256.chain,
    masked_chain: SHA_256.masked_chain,
};

#[target_feature(enable = "neon,sha2")]
fn compress_32(state: &mut Rows32<8>, block: &Rows32<16>, count: usize) {
    compress_rows::<Words>(state, block, count);
}

#[target_feature(enable = "neon,sha2")]
fn chain_32(form: &Form, chain: &mut Chain, steps: usize, count: usize) {
    run_chain::<Words>(form, chain, steps, count);
}

#[target_feature(enable = "neon,sha2")]
fn masked_chain(prf: &[u32; 8], chain: &mut MaskedChain, steps: usize, count: usize) {
    run_masked_chain::<Words>(prf, chain, steps, count);
}

/// Four words. States have the words a to d and e to h.
#[derive(Clone, Copy)]
struct Words(uint32x4_t);

/// Functions with the target feature, which methods of a trait cannot name.
impl Words {
    #[inline]
    #[target_feature(enable = "neon,sha2")]
    fn next([w0, w1, w2, w3]: [Self; 4]) -> Self {
        Self(vsha256su1q_u32(vsha256su0q_u32(w0.0, w1.0), w2.0, w3.0))
    }

    #[inline]
    #[target_feature(enable = "neon,sha2")]
    fn rounds([abcd, efgh]: [Self; 2], wk: Self) -> [Self; 2] {
        [Self(vsha256hq_u32(abcd.0, efgh.0, wk.0)), Self(vsha256h2q_u32(efgh.0, abcd.0, wk.0))]
    }
}

impl Four for Words {
    #[inline(always)]
    fn new(words: [u32; 4]) -> Self {
        // SAFETY: 16 bytes, and the module is compiled for targets with Advanced SIMD alone.
        Self(unsafe { vld1q_u32(words.as_ptr()) })
    }

    #[inline(always)]
    fn words(self) -> [u32; 4] {
        let mut words = [0; 4];
        // SAFETY: as above.
        unsafe { vst1q_u32(words.as_mut_ptr(), self.0) };
        words
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { vaddq_u32(self.0, other.0) })
    }

    #[inline(always)]
    fn and(self, other: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { vandq_u32(self.0, other.0) })
    }

    #[inline(always)]
    fn or(self, other: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { vorrq_u32(self.0, other.0) })
    }

    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { veorq_u32(self.0, other.0) })
    }

    #[inline(always)]
    fn behind<const BITS: i32, const REST: i32>(self, before: Self) -> Self {
        const { assert!(BITS + REST == 32) };
        // SAFETY: as above.
        Self(unsafe { vsriq_n_u32::<BITS>(vshlq_n_u32::<REST>(before.0), self.0) })
    }

    #[inline(always)]
    fn after_one_of(self, before: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { vextq_u32::<3>(before.0, self.0) })
    }

    #[inline(always)]
    fn after_two_of(self, before: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { vextq_u32::<2>(before.0, self.0) })
    }

    #[inline(always)]
    fn arrange(state: [Self; 2]) -> [Self; 2] {
        state
    }

    #[inline(always)]
    fn restore(state: [Self; 2]) -> [Self; 2] {
        state
    }

    #[inline(always)]
    fn schedule(w: [Self; 4]) -> Self {
        // SAFETY: called from functions with the instructions for SHA-256 alone.
        unsafe { Self::next(w) }
    }

    #[inline(always)]
    fn four_rounds(state: [Self; 2], wk: Self) -> [Self; 2] {
        // SAFETY: as above.
        unsafe { Self::rounds(state, wk) }
    }
}

/// SHA-512 of two lanes at a time, which hides the latency of a round; a vector has two words of one lane.
#[target_feature(enable = "neon,sha3")]
fn compress_64(state: &mut Rows64<8>, block: &Rows64<16>, count: usize) {
    for lane in (0..count & !1).step_by(2) {
        compress_columns(state, block, [lane, lane + 1]);
    }
    if count & 1 == 1 {
        compress_columns(state, block, [count - 1]);
    }
}

#[inline]
#[target_feature(enable = "neon,sha3")]
fn compress_columns<const N: usize>(state: &mut Rows64<8>, block: &Rows64<16>, columns: [usize; N]) {
    let before = columns.map(|lane| pairs::<4>(&state.0, lane));
    let words = columns.map(|lane| pairs::<8>(&block.0, lane));
    let mut lanes: [_; N] = core::array::from_fn(|i| (before[i], words[i]));
    sixteen_rounds::<false, N>(&mut lanes, 0);
    for t in [16, 32, 48, 64] {
        sixteen_rounds::<true, N>(&mut lanes, t);
    }
    for ((lane, before), (after, _)) in columns.into_iter().zip(before).zip(lanes) {
        for ((rows, before), after) in state.0.as_chunks_mut::<2>().0.iter_mut().zip(before).zip(after) {
            let sum = vaddq_u64(before, after);
            (rows[0][lane], rows[1][lane]) = (vgetq_lane_u64::<0>(sum), vgetq_lane_u64::<1>(sum));
        }
    }
}

/// The words of a lane, two by two. A loop: a closure for each pair is not inlined.
#[inline]
#[target_feature(enable = "neon")]
fn pairs<const N: usize>(rows: &[[u64; LANES_64]], lane: usize) -> [uint64x2_t; N] {
    let mut pairs = [vdupq_n_u64(0); N];
    for (pair, [low, high]) in pairs.iter_mut().zip(rows.as_chunks::<2>().0) {
        *pair = vcombine_u64(vcreate_u64(low[lane]), vcreate_u64(high[lane]));
    }
    pairs
}

/// Rounds from t on, with the next words of the schedule or the first.
#[inline]
#[target_feature(enable = "neon,sha3")]
fn sixteen_rounds<const SCHEDULED: bool, const N: usize>(
    lanes: &mut [([uint64x2_t; 4], [uint64x2_t; 8]); N],
    t: usize,
) {
    for i in 0..8 {
        let k = vcombine_u64(vcreate_u64(K_512[t + 2 * i]), vcreate_u64(K_512[t + 2 * i + 1]));
        for lane in &mut *lanes {
            *lane = two_rounds::<SCHEDULED>(*lane, k);
        }
    }
}

/// Two rounds with the first words of the schedule, which then are the last.
#[inline]
#[target_feature(enable = "neon,sha3")]
fn two_rounds<const SCHEDULED: bool>(
    ([ab, cd, ef, gh], [mut w0, w1, w2, w3, w4, w5, w6, w7]): ([uint64x2_t; 4], [uint64x2_t; 8]),
    k: uint64x2_t,
) -> ([uint64x2_t; 4], [uint64x2_t; 8]) {
    if SCHEDULED {
        w0 = vsha512su1q_u64(vsha512su0q_u64(w0, w1), w7, vextq_u64::<1>(w4, w5));
    }
    let wk = vaddq_u64(w0, k);
    let sum = vaddq_u64(vextq_u64::<1>(wk, wk), gh);
    let t1 = vsha512hq_u64(sum, vextq_u64::<1>(ef, gh), vextq_u64::<1>(cd, ef));
    ([vsha512h2q_u64(t1, cd, ab), ab, vaddq_u64(cd, t1), ef], [w1, w2, w3, w4, w5, w6, w7, w0])
}
