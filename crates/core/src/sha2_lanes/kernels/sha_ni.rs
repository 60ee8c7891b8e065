//! x86-64 with AVX2 and the SHA extensions: SHA-256 two lanes at a time, which hides the latency of a round; SHA-512 as with AVX2 alone.

#![allow(unsafe_code)] // Intrinsics.

use core::arch::x86_64::*;

use super::{Kernels, avx2};
use crate::sha2_lanes::{Chain, Form, K_256, LANES_32, Rows32};

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
        let column = |rows: &[[u32; LANES_32]], lane: usize| {
            words([rows[0], rows[1], rows[2], rows[3]].map(|row| row[lane]))
        };
        let before = lanes.map(|lane| State::new(column(&state.0, lane), column(&state.0[4..], lane)));
        let after =
            compress_two(before, lanes.map(|lane| [0, 4, 8, 12].map(|row| column(&block.0[row..], lane))));
        for (lane, after) in lanes.into_iter().zip(after) {
            for (row, word) in state.0.iter_mut().zip(after.words().map(|words| unpack(words)).as_flattened())
            {
                row[lane] = *word;
            }
        }
        lane += 2;
    }
}

#[target_feature(enable = "sha,ssse3,sse4.1")]
fn chain_32(form: &Form, chain: &mut Chain, steps: usize, count: usize) {
    match form.bits {
        16 => chain_of::<16, 16>(form, chain, steps, count),
        _ => chain_of::<24, 8>(form, chain, steps, count),
    }
}

#[inline]
#[target_feature(enable = "sha,ssse3,sse4.1")]
fn chain_of<const BITS: i32, const REST: i32>(form: &Form, chain: &mut Chain, steps: usize, count: usize) {
    let [a, b, c, d, e, f, g, h] = form.prefix;
    let prefix = State::new(words([a, b, c, d]), words([e, f, g, h]));
    // The words of a value, the bit behind it and zeros: all bits of the former and those of the latter.
    let word = |i: usize| {
        if i < form.words { [u32::MAX, 0] } else { [0, if i == form.words { 0x8000_0000 } else { 0 }] }
    };
    let [low, high, end] = [0, 4, 8].map(|first| [0, 1, 2, 3].map(|i| word(first + i)));
    let masks = [low, high].map(|words_of| words(words_of.map(|[mask, _]| mask)));
    let padding = [low, high, end].map(|words_of| words(words_of.map(|[_, padding]| padding)));
    let len = words([0, 0, 0, 8 * form.len]);
    let step = words([0, 1 << REST, 0, 0]);
    let mut lane = 0;
    while lane < count {
        // The last of an odd number is done twice.
        let lanes = [lane, (lane + 1).min(count - 1)];
        let column = |rows: &[[u32; LANES_32]], lane: usize| {
            words([rows[0], rows[1], rows[2], rows[3]].map(|row| row[lane]))
        };
        let start = lanes.map(|lane| column(&chain.head.0, lane));
        let mut count = lanes.map(|lane| words([chain.head.0[4][lane], chain.head.0[5][lane], 0, 0]));
        let mut values = lanes.map(|lane| [0, 4].map(|row| column(&chain.value.0[row..], lane)));
        for _ in 0..steps {
            let blocks = [0, 1].map(|i| {
                let [low, high] = [0, 1]
                    .map(|part| _mm_or_si128(_mm_and_si128(values[i][part], masks[part]), padding[part]));
                // Words behind those before them, from the word with the end of the head on.
                let behind = |words, before| {
                    _mm_or_si128(_mm_srli_epi32::<BITS>(words), _mm_slli_epi32::<REST>(before))
                };
                [
                    start[i],
                    _mm_or_si128(count[i], behind(_mm_slli_si128::<4>(low), _mm_slli_si128::<8>(low))),
                    behind(_mm_alignr_epi8::<12>(high, low), _mm_alignr_epi8::<8>(high, low)),
                    _mm_or_si128(
                        len,
                        behind(
                            _mm_alignr_epi8::<12>(padding[2], high),
                            _mm_alignr_epi8::<8>(padding[2], high),
                        ),
                    ),
                ]
            });
            values = compress_two([prefix; 2], blocks).map(|state| state.words());
            count = count.map(|count| _mm_add_epi32(count, step));
        }
        for ((lane, value), count) in lanes.into_iter().zip(values).zip(count) {
            chain.head.0[5][lane] = unpack(count)[1];
            for (row, word) in chain.value.0.iter_mut().zip(value.map(|words| unpack(words)).as_flattened()) {
                row[lane] = *word;
            }
        }
        lane += 2;
    }
}

/// A state in the order of the instructions: the words a, b, e, f and c, d, g, h, the first in the highest place.
#[derive(Clone, Copy)]
struct State {
    abef: __m128i,
    cdgh: __m128i,
}

impl State {
    #[inline]
    #[target_feature(enable = "sse4.1")]
    fn new(abcd: __m128i, efgh: __m128i) -> Self {
        let badc = _mm_shuffle_epi32::<0xb1>(abcd);
        let fehg = _mm_shuffle_epi32::<0xb1>(efgh);
        Self { abef: _mm_unpacklo_epi64(fehg, badc), cdgh: _mm_unpackhi_epi64(fehg, badc) }
    }

    /// The words in their order.
    #[inline]
    #[target_feature(enable = "sse4.1")]
    fn words(self) -> [__m128i; 2] {
        let badc = _mm_unpackhi_epi64(self.abef, self.cdgh);
        let fehg = _mm_unpacklo_epi64(self.abef, self.cdgh);
        [_mm_shuffle_epi32::<0xb1>(badc), _mm_shuffle_epi32::<0xb1>(fehg)]
    }
}

#[inline]
#[target_feature(enable = "sha,ssse3,sse4.1")]
fn compress_two(before: [State; 2], w: [[__m128i; 4]; 2]) -> [State; 2] {
    let mut lanes = [(before[0], w[0]), (before[1], w[1])];
    sixteen_rounds::<false>(&mut lanes, 0);
    sixteen_rounds::<true>(&mut lanes, 16);
    sixteen_rounds::<true>(&mut lanes, 32);
    sixteen_rounds::<true>(&mut lanes, 48);
    [0, 1].map(|i| State {
        abef: _mm_add_epi32(lanes[i].0.abef, before[i].abef),
        cdgh: _mm_add_epi32(lanes[i].0.cdgh, before[i].cdgh),
    })
}

/// Rounds from t on, with the next words of the schedule or the first.
#[inline]
#[target_feature(enable = "sha,ssse3,sse4.1")]
fn sixteen_rounds<const SCHEDULED: bool>(lanes: &mut [(State, [__m128i; 4]); 2], t: usize) {
    for i in 0..4 {
        let k = words(*K_256[t + 4 * i..].first_chunk().expect("four of 64 constants"));
        lanes[0] = four_rounds::<SCHEDULED>(lanes[0], k);
        lanes[1] = four_rounds::<SCHEDULED>(lanes[1], k);
    }
}

/// Four rounds with the first words of the schedule, which then are the last.
#[inline]
#[target_feature(enable = "sha,ssse3,sse4.1")]
fn four_rounds<const SCHEDULED: bool>(
    (State { abef, cdgh }, [mut w0, w1, w2, w3]): (State, [__m128i; 4]),
    k: __m128i,
) -> (State, [__m128i; 4]) {
    if SCHEDULED {
        let sum = _mm_add_epi32(_mm_sha256msg1_epu32(w0, w1), _mm_alignr_epi8::<4>(w3, w2));
        w0 = _mm_sha256msg2_epu32(sum, w3);
    }
    let wk = _mm_add_epi32(w0, k);
    let cdgh = _mm_sha256rnds2_epu32(cdgh, abef, wk);
    let abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32::<0x0e>(wk));
    (State { abef, cdgh }, [w1, w2, w3, w0])
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
