//! x86-64 with AVX2 and BMI: four states side by side, or one with `andn` and `rorx`.

#![allow(unsafe_code)] // Intrinsics inside a trait whose methods cannot name their features.

use core::arch::x86_64::*;
use core::mem::MaybeUninit;

use super::{Aligned, Holder, Kernels, chain, padded};
use crate::cpu::Level;
use crate::sha3::State;
use crate::sha3::keccak::{self, Lane};

pub(super) static AVX2: Kernels = Kernels {
    level: Level::Avx2,
    permute_many: |states| {
        // SAFETY: `active` hands this table out only after the CPU reported AVX2, BMI1 and BMI2.
        unsafe { permute_many(states) }
    },
    permute_aligned: |states| {
        // SAFETY: as above.
        unsafe { permute_many(states) }
    },
    chain: Some(|states, place, words, steps| {
        let four = states.first_chunk_mut().expect("four of eight states");
        // SAFETY: as above.
        unsafe { chain_four(four, place, words, steps) }
    }),
};

#[target_feature(enable = "avx2,bmi1,bmi2")]
fn permute_many<H: Holder>(states: &mut [H]) {
    let (fours, rest) = states.as_chunks_mut::<4>();
    for four in fours {
        permute_four(four);
    }
    match rest {
        [] => {}
        [one] => permute_one(one.state()),
        // Four lanes cost as much as two single permutations.
        few => padded(few, |four| permute_four(four)),
    }
}

#[target_feature(enable = "avx2,bmi1,bmi2")]
fn permute_one(state: &mut State) {
    let mut lanes = state.0.map(Word);
    keccak::permute(&mut lanes);
    state.0 = lanes.map(|lane| lane.0);
}

/// One word where and-not is an instruction.
#[derive(Clone, Copy)]
struct Word(u64);

impl Lane for Word {
    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        Self(self.0 ^ other.0)
    }

    #[inline(always)]
    fn and_not(self, mask: Self) -> Self {
        Self(self.0 & !mask.0)
    }

    #[inline(always)]
    fn rotate_left<const N: u32>(self) -> Self {
        Self(self.0.rotate_left(N))
    }

    #[inline(always)]
    fn broadcast(word: u64) -> Self {
        Self(word)
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

/// A function of its own: one state needs no such frame.
#[inline(never)]
#[target_feature(enable = "avx2")]
fn permute_four<H: Holder>(states: &mut [H; 4]) {
    align_frame();
    let mut lanes = [Four(_mm256_setzero_si256()); 25];
    interleave(states, |i, lane| lanes[i] = Four(lane));
    keccak::permute(&mut lanes);
    separate(states, |i| lanes[i].0);
}

#[inline(never)]
#[target_feature(enable = "avx2")]
fn chain_four(states: &mut [Aligned; 4], place: usize, words: usize, steps: u32) {
    align_frame();
    let one = _mm256_set1_epi64x(1 << 56);
    let mut lanes = [Four(_mm256_setzero_si256()); 25];
    interleave(states, |i, lane| lanes[i] = Four(lane));
    chain(&mut lanes, place, words, steps, |lane: Four| Four(_mm256_add_epi64(lane.0, one)));
    separate(states, |i| lanes[i].0);
}

/// Lays the frame of the function that calls this at a multiple of 64 bytes, so that no vector in it is in two lines of the
/// cache. LLVM aligns frames for variables that want it, but not for registers that it spills, which four states do to half of
/// their words: without this those lie as the caller happens to, and a permutation takes 401 or 434 cycles.
#[inline(always)]
fn align_frame() {
    #[repr(align(64))]
    struct Line(MaybeUninit<u8>);
    let line = Line(MaybeUninit::uninit());
    #[allow(clippy::pointers_in_nomem_asm_block)] // That it has an address is enough.
    // SAFETY: there is no instruction.
    unsafe {
        core::arch::asm!("/* {0} */", in(reg) &raw const line.0, options(nomem, nostack, preserves_flags));
    }
}

/// Gives out each lane of four states side by side.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn interleave<H: Holder>(states: &mut [H; 4], mut lane: impl FnMut(usize, __m256i)) {
    for i in 0..6 {
        let four = transpose([0, 1, 2, 3].map(|s| load(&states[s].state().0, 4 * i)));
        for (x, four) in four.into_iter().enumerate() {
            lane(4 * i + x, four);
        }
    }
    let last = [0, 1, 2, 3].map(|s: usize| states[s].state().0[24] as i64);
    lane(24, _mm256_set_epi64x(last[3], last[2], last[1], last[0]));
}

/// Takes back what [`interleave`] gave.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn separate<H: Holder>(states: &mut [H; 4], lane: impl Fn(usize) -> __m256i) {
    for i in 0..6 {
        let rows = transpose([0, 1, 2, 3].map(|x| lane(4 * i + x)));
        for (state, row) in states.iter_mut().zip(rows) {
            store(&mut state.state().0, 4 * i, row);
        }
    }
    let mut last = [0; 4];
    // SAFETY: `last` is 32 bytes long.
    unsafe { _mm256_storeu_si256(last.as_mut_ptr().cast(), lane(24)) };
    for (state, word) in states.iter_mut().zip(last) {
        state.state().0[24] = word;
    }
}

/// Four words from `at` on.
#[inline]
#[target_feature(enable = "avx2")]
fn load(words: &[u64; 25], at: usize) -> __m256i {
    let four: &[u64] = &words[at..at + 4];
    // SAFETY: `four` is 32 bytes long.
    unsafe { _mm256_loadu_si256(four.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx2")]
fn store(words: &mut [u64; 25], at: usize, value: __m256i) {
    let four: &mut [u64] = &mut words[at..at + 4];
    // SAFETY: `four` is 32 bytes long.
    unsafe { _mm256_storeu_si256(four.as_mut_ptr().cast(), value) };
}

#[inline]
#[target_feature(enable = "avx2")]
fn transpose([a, b, c, d]: [__m256i; 4]) -> [__m256i; 4] {
    let (ab0, ab1) = (_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b));
    let (cd0, cd1) = (_mm256_unpacklo_epi64(c, d), _mm256_unpackhi_epi64(c, d));
    [
        _mm256_permute2x128_si256::<0x20>(ab0, cd0),
        _mm256_permute2x128_si256::<0x20>(ab1, cd1),
        _mm256_permute2x128_si256::<0x31>(ab0, cd0),
        _mm256_permute2x128_si256::<0x31>(ab1, cd1),
    ]
}

/// The same word of four states.
#[derive(Clone, Copy)]
struct Four(__m256i);

// SAFETY, for each block: a `Four` is made only in functions that AVX2 was enabled for, and these methods are
// inlined into them.
impl Lane for Four {
    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        // SAFETY: see above.
        Self(unsafe { _mm256_xor_si256(self.0, other.0) })
    }

    #[inline(always)]
    fn and_not(self, mask: Self) -> Self {
        // SAFETY: see above.
        Self(unsafe { _mm256_andnot_si256(mask.0, self.0) })
    }

    #[inline(always)]
    fn rotate_left<const N: u32>(self) -> Self {
        // SAFETY: see above. The compiler makes the counts immediate.
        Self(unsafe {
            _mm256_or_si256(
                _mm256_sll_epi64(self.0, _mm_cvtsi32_si128(N as i32)),
                _mm256_srl_epi64(self.0, _mm_cvtsi32_si128(64 - N as i32)),
            )
        })
    }

    #[inline(always)]
    fn broadcast(word: u64) -> Self {
        // SAFETY: see above.
        Self(unsafe { _mm256_set1_epi64x(word as i64) })
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
