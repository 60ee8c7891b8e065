//! x86-64 with AVX-512: eight states side by side, four in half registers, or one with `andn` and `rorx`.

#![allow(unsafe_code)] // Intrinsics inside a trait whose methods cannot name their features.

use core::arch::x86_64::*;

use super::{Kernels, avx2};
use crate::cpu::Level;
use crate::sha3::State;
use crate::sha3::keccak::{self, Lane};

pub(super) static AVX512: Kernels = Kernels {
    level: Level::Avx512,
    permute_many: |states| {
        // SAFETY: `active` hands this table out only after the CPU reported AVX-512 F and VL, AVX2, BMI1 and BMI2.
        unsafe { permute_many(states) }
    },
};

#[target_feature(enable = "avx512f,avx512vl,avx2,bmi1,bmi2")]
fn permute_many(states: &mut [State]) {
    let (eights, rest) = states.as_chunks_mut::<8>();
    for eight in eights {
        permute_eight(eight);
    }
    // Idle lanes work on zeros: eight cost a third more than four, and four as much as one.
    match rest {
        [] => {}
        [one] => avx2::permute_one(one),
        few @ [_, _] | few @ [_, _, _] | few @ [_, _, _, _] => {
            padded::<4>(few, |four| permute_four(four));
        }
        many => padded::<8>(many, |eight| permute_eight(eight)),
    }
}

#[inline(always)]
fn padded<const N: usize>(states: &mut [State], permute: impl FnOnce(&mut [State; N])) {
    if let Ok(full) = <&mut [State; N]>::try_from(&mut *states) {
        return permute(full);
    }
    let mut all = [const { State::new() }; N];
    all[..states.len()].clone_from_slice(states);
    permute(&mut all);
    states.clone_from_slice(&all[..states.len()]);
    all.iter_mut().for_each(zeroize::Zeroize::zeroize);
}

#[target_feature(enable = "avx512f")]
fn permute_eight(states: &mut [State; 8]) {
    let mut lanes = [Eight(_mm512_setzero_si512()); 25];
    for (i, eight) in lanes.as_chunks_mut::<8>().0.iter_mut().enumerate() {
        let rows = [0, 1, 2, 3, 4, 5, 6, 7].map(|s| {
            let words: &[u64] = &states[s].0[8 * i..8 * i + 8];
            // SAFETY: `words` is 64 bytes long.
            unsafe { _mm512_loadu_si512(words.as_ptr().cast()) }
        });
        *eight = transpose_eight(rows).map(Eight);
    }
    let last = [0, 1, 2, 3, 4, 5, 6, 7].map(|s: usize| states[s].0[24]);
    // SAFETY: `last` is 64 bytes long.
    lanes[24] = Eight(unsafe { _mm512_loadu_si512(last.as_ptr().cast()) });
    keccak::permute(&mut lanes);
    for (i, eight) in lanes.as_chunks::<8>().0.iter().enumerate() {
        let rows = transpose_eight(eight.map(|lane| lane.0));
        for (state, row) in states.iter_mut().zip(rows) {
            let words: &mut [u64] = &mut state.0[8 * i..8 * i + 8];
            // SAFETY: `words` is 64 bytes long.
            unsafe { _mm512_storeu_si512(words.as_mut_ptr().cast(), row) };
        }
    }
    let mut last = [0; 8];
    // SAFETY: `last` is 64 bytes long.
    unsafe { _mm512_storeu_si512(last.as_mut_ptr().cast(), lanes[24].0) };
    for (state, word) in states.iter_mut().zip(last) {
        state.0[24] = word;
    }
}

/// Rows to columns: pairs of words, then pairs of pairs, then halves.
#[inline]
#[target_feature(enable = "avx512f")]
fn transpose_eight(r: [__m512i; 8]) -> [__m512i; 8] {
    let low = |a, b| _mm512_unpacklo_epi64(a, b);
    let high = |a, b| _mm512_unpackhi_epi64(a, b);
    let pairs = [
        low(r[0], r[1]),
        high(r[0], r[1]),
        low(r[2], r[3]),
        high(r[2], r[3]),
        low(r[4], r[5]),
        high(r[4], r[5]),
        low(r[6], r[7]),
        high(r[6], r[7]),
    ];
    // Quarters 0 and 2, and 1 and 3, of two registers.
    let even = |a, b| _mm512_shuffle_i64x2::<0b10_00_10_00>(a, b);
    let odd = |a, b| _mm512_shuffle_i64x2::<0b11_01_11_01>(a, b);
    let [e0, o0] = [even(pairs[0], pairs[2]), odd(pairs[0], pairs[2])];
    let [e1, o1] = [even(pairs[1], pairs[3]), odd(pairs[1], pairs[3])];
    let [e2, o2] = [even(pairs[4], pairs[6]), odd(pairs[4], pairs[6])];
    let [e3, o3] = [even(pairs[5], pairs[7]), odd(pairs[5], pairs[7])];
    [
        even(e0, e2),
        even(e1, e3),
        even(o0, o2),
        even(o1, o3),
        odd(e0, e2),
        odd(e1, e3),
        odd(o0, o2),
        odd(o1, o3),
    ]
}

/// The same word of eight states.
#[derive(Clone, Copy)]
struct Eight(__m512i);

// SAFETY, for each block: an `Eight` is made only in functions that AVX-512F was enabled for, and these methods
// are inlined into them.
impl Lane for Eight {
    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        // SAFETY: see above.
        Self(unsafe { _mm512_xor_si512(self.0, other.0) })
    }

    #[inline(always)]
    fn and_not(self, mask: Self) -> Self {
        // SAFETY: see above.
        Self(unsafe { _mm512_andnot_si512(mask.0, self.0) })
    }

    #[inline(always)]
    fn rotate_left<const N: u32>(self) -> Self {
        // SAFETY: see above. The compiler makes the count immediate.
        Self(unsafe { _mm512_rolv_epi64(self.0, _mm512_set1_epi64(i64::from(N))) })
    }

    #[inline(always)]
    fn broadcast(word: u64) -> Self {
        // SAFETY: see above.
        Self(unsafe { _mm512_set1_epi64(word as i64) })
    }

    #[inline(always)]
    fn parity([a, b, c, d, e]: [Self; 5]) -> Self {
        // SAFETY: see above. 0x96 is the parity of three.
        Self(unsafe {
            _mm512_ternarylogic_epi64::<0x96>(_mm512_ternarylogic_epi64::<0x96>(a.0, b.0, c.0), d.0, e.0)
        })
    }

    #[inline(always)]
    fn chi<const Y: usize>([a, e, i, o, u]: [Self; 5]) -> [Self; 5] {
        // SAFETY: see above. 0xd2 is a ⊕ (¬b ∧ c).
        let bit =
            |a: Self, b: Self, c: Self| Self(unsafe { _mm512_ternarylogic_epi64::<0xd2>(a.0, b.0, c.0) });
        [bit(a, e, i), bit(e, i, o), bit(i, o, u), bit(o, u, a), bit(u, a, e)]
    }
}

#[target_feature(enable = "avx512f,avx512vl,avx2")]
fn permute_four(states: &mut [State; 4]) {
    let mut lanes = [Four(_mm256_setzero_si256()); 25];
    avx2::interleave(states, |i, lane| lanes[i] = Four(lane));
    keccak::permute(&mut lanes);
    avx2::separate(states, |i| lanes[i].0);
}

/// The same word of four states, with the instructions of AVX-512VL.
#[derive(Clone, Copy)]
struct Four(__m256i);

// SAFETY, for each block: a `Four` is made only in functions that AVX-512 F and VL were enabled for, and these
// methods are inlined into them.
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
        // SAFETY: see above. The compiler makes the count immediate.
        Self(unsafe { _mm256_rolv_epi64(self.0, _mm256_set1_epi64x(i64::from(N))) })
    }

    #[inline(always)]
    fn broadcast(word: u64) -> Self {
        // SAFETY: see above.
        Self(unsafe { _mm256_set1_epi64x(word as i64) })
    }

    #[inline(always)]
    fn parity([a, b, c, d, e]: [Self; 5]) -> Self {
        // SAFETY: see above. 0x96 is the parity of three.
        Self(unsafe {
            _mm256_ternarylogic_epi64::<0x96>(_mm256_ternarylogic_epi64::<0x96>(a.0, b.0, c.0), d.0, e.0)
        })
    }

    #[inline(always)]
    fn chi<const Y: usize>([a, e, i, o, u]: [Self; 5]) -> [Self; 5] {
        // SAFETY: see above. 0xd2 is a ⊕ (¬b ∧ c).
        let bit =
            |a: Self, b: Self, c: Self| Self(unsafe { _mm256_ternarylogic_epi64::<0xd2>(a.0, b.0, c.0) });
        [bit(a, e, i), bit(e, i, o), bit(i, o, u), bit(o, u, a), bit(u, a, e)]
    }
}
