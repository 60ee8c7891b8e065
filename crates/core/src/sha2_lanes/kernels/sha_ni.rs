//! x86-64 with AVX2 and the SHA extensions: SHA-256 two lanes at a time, which hides the latency of a round; SHA-512 as with AVX2 alone.

#![allow(unsafe_code)] // Intrinsics.

use core::arch::x86_64::*;

use super::{Kernels, avx2};
use crate::sha2_lanes::{Chain, Form, K_256, Rows32};

cpufeatures::new!(sha, "sha", "ssse3", "sse4.1");

/// Whether the processor has the extensions.
pub(super) fn is_there() -> bool {
    sha::get()
}

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
};

#[target_feature(enable = "sha,ssse3,sse4.1")]
fn compress_32(state: &mut Rows32<8>, block: &Rows32<16>, count: usize) {
    let mut lane = 0;
    while lane < count {
        // The last of an odd number is done twice.
        let lanes = [lane, (lane + 1).min(count - 1)];
        let before = lanes.map(|lane| core::array::from_fn(|i| state.0[i][lane]));
        let after = compress_two(before, lanes.map(|lane| core::array::from_fn(|i| block.0[i][lane])));
        for (lane, after) in lanes.into_iter().zip(after) {
            for (row, word) in state.0.iter_mut().zip(after) {
                row[lane] = word;
            }
        }
        lane += 2;
    }
}

#[target_feature(enable = "sha,ssse3,sse4.1")]
fn chain_32(form: &Form, chain: &mut Chain, steps: usize, count: usize) {
    let &Form { prefix, len, words, bits } = form;
    let rest = 32 - bits;
    let mut lane = 0;
    while lane < count {
        let lanes = [lane, (lane + 1).min(count - 1)];
        let mut blocks = lanes.map(|lane| {
            let mut block = [0; 16];
            for (word, row) in block.iter_mut().zip(&chain.head.0) {
                *word = row[lane];
            }
            block[15] = 8 * len;
            block
        });
        let mut values = lanes.map(|lane| chain.value.0.map(|row| row[lane]));
        for _ in 0..steps {
            for (block, value) in blocks.iter_mut().zip(&values) {
                block[5] = block[5] >> rest << rest | value[0] >> bits;
                for i in 1..words {
                    block[5 + i] = value[i - 1] << rest | value[i] >> bits;
                }
                block[5 + words] = value[words - 1] << rest | 0x80 << (24 - bits);
            }
            values = compress_two([prefix; 2], blocks);
            for block in &mut blocks {
                block[5] = block[5].wrapping_add(1 << rest);
            }
        }
        for ((lane, block), value) in lanes.into_iter().zip(blocks).zip(values) {
            chain.head.0[5][lane] = block[5] >> rest << rest;
            for (row, word) in chain.value.0[..words].iter_mut().zip(value) {
                row[lane] = word;
            }
        }
        lane += 2;
    }
}

#[inline]
#[target_feature(enable = "sha,ssse3,sse4.1")]
fn compress_two(states: [[u32; 8]; 2], blocks: [[u32; 16]; 2]) -> [[u32; 8]; 2] {
    // The instructions want the words a, b, e, f and c, d, g, h, the first in the highest place.
    let mut abef = states.map(|[a, b, _, _, e, f, _, _]| words([f, e, b, a]));
    let mut cdgh = states.map(|[_, _, c, d, _, _, g, h]| words([h, g, d, c]));
    let (abef_before, cdgh_before) = (abef, cdgh);
    let mut w = blocks
        .map(|block| [0, 1, 2, 3].map(|i| words(*block[4 * i..].first_chunk().expect("four of 16 words"))));
    for quarter in 0..16 {
        let k = words(*K_256[4 * quarter..].first_chunk().expect("four of 64 constants"));
        for lane in 0..2 {
            let w = &mut w[lane];
            if quarter >= 4 {
                // Words 4·quarter to 4·quarter + 3 of the schedule, in place of those 16 before.
                let [w0, w1, w2, w3] = [0, 1, 2, 3].map(|i| w[(quarter + i) & 3]);
                let sum = _mm_add_epi32(_mm_sha256msg1_epu32(w0, w1), _mm_alignr_epi8::<4>(w3, w2));
                w[quarter & 3] = _mm_sha256msg2_epu32(sum, w3);
            }
            let wk = _mm_add_epi32(w[quarter & 3], k);
            cdgh[lane] = _mm_sha256rnds2_epu32(cdgh[lane], abef[lane], wk);
            abef[lane] = _mm_sha256rnds2_epu32(abef[lane], cdgh[lane], _mm_shuffle_epi32::<0x0e>(wk));
        }
    }
    [0, 1].map(|lane| {
        let [f, e, b, a] = unpack(_mm_add_epi32(abef[lane], abef_before[lane]));
        let [h, g, d, c] = unpack(_mm_add_epi32(cdgh[lane], cdgh_before[lane]));
        [a, b, c, d, e, f, g, h]
    })
}

#[inline]
#[target_feature(enable = "sse2")]
fn words([a, b, c, d]: [u32; 4]) -> __m128i {
    _mm_set_epi32(d as i32, c as i32, b as i32, a as i32)
}

#[inline]
#[target_feature(enable = "sse2")]
fn unpack(words: __m128i) -> [u32; 4] {
    let mut out = [0; 4];
    // SAFETY: 16 bytes.
    unsafe { _mm_storeu_si128(out.as_mut_ptr().cast(), words) };
    out
}
