//! x86-64 with AVX-512: the table of AVX2, and rejection sampling that compresses in a register.

#![allow(unsafe_code)] // Loads, stores, and the table that is handed out only where AVX-512 is.

use core::arch::x86_64::*;

use super::{Kernels, avx2};
use crate::cpu::Level;
use crate::mlkem::ring::Q;

// SAFETY: `active` hands this table out only after the CPU reported AVX-512 F, BW, VL, VBMI and VBMI2, and AVX2.
pub(super) static AVX512: Kernels = unsafe { table() };

#[target_feature(enable = "avx2,avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2")]
const fn table() -> Kernels {
    Kernels { level: Level::Avx512, reject_vartime, ..avx2::table() }
}

/// 48 bytes are 32 candidates: bytes 3i, 3i + 1 and 3i + 1, 3i + 2, the latter to be shifted by four.
#[target_feature(enable = "avx2,avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2")]
fn reject_vartime(out: &mut [i16], bytes: &[u8]) -> usize {
    static PAIRS: [u8; 64] = {
        let mut pairs = [0; 64];
        let mut i = 0;
        while i < 64 {
            pairs[i] = (3 * (i >> 2) + (((i & 3) + 1) >> 1)) as u8;
            i += 1;
        }
        pairs
    };
    // SAFETY: 64 bytes are there.
    let pairs = unsafe { _mm512_loadu_si512(PAIRS.as_ptr().cast()) };
    let mut n = 0;
    let mut at = 0;
    while at + 48 <= bytes.len() && n + 32 <= out.len() {
        let window: &[u8] = &bytes[at..at + 48];
        // SAFETY: the mask loads the 48 bytes that are there.
        let window = unsafe { _mm512_maskz_loadu_epi8((1 << 48) - 1, window.as_ptr().cast()) };
        let words = _mm512_permutexvar_epi8(pairs, window);
        // Every second word has four bits of its neighbour below.
        let words = _mm512_mask_srli_epi16::<4>(words, 0xaaaa_aaaa, words);
        let candidates = _mm512_and_si512(words, _mm512_set1_epi16(0xfff));
        let accepted = _mm512_cmplt_epi16_mask(candidates, _mm512_set1_epi16(Q));
        let place: &mut [i16] = &mut out[n..n + 32];
        // SAFETY: 64 bytes are there; what stands behind the accepted ones is overwritten next.
        unsafe {
            _mm512_storeu_si512(place.as_mut_ptr().cast(), _mm512_maskz_compress_epi16(accepted, candidates))
        };
        n += accepted.count_ones() as usize;
        at += 48;
    }
    n + avx2::reject_vartime(&mut out[n..], &bytes[at..])
}
