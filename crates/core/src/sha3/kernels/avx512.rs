//! x86-64 with AVX-512: eight states side by side, four in half registers, or one in five.

#![allow(unsafe_code)] // Intrinsics inside a trait whose methods cannot name their features.

use core::arch::x86_64::*;

#[cfg(feature = "alloc")]
use super::{Abreast, Block};
use super::{Aligned, Holder, Kernels, avx2, chain, padded};
use crate::cpu::Level;
use crate::sha3::State;
use crate::sha3::keccak::{self, Lane};

pub(super) static AVX512: Kernels = Kernels {
    level: Level::Avx512,
    permute_many: |states| {
        // SAFETY: `active` hands this table out only after the CPU reported AVX-512 F and VL, AVX2, BMI1 and BMI2.
        unsafe { permute_many(states) }
    },
    permute_aligned: |states| {
        // SAFETY: as above.
        unsafe { permute_many(states) }
    },
    chain: Some(|states, place, words, steps| {
        // SAFETY: as above.
        unsafe { chain_eight(states, place, words, steps) }
    }),
};

#[cfg(feature = "alloc")]
pub(super) const SQUEEZE_EIGHT: fn(&mut Abreast, &mut [Block; 8]) = |sponges, blocks| {
    // SAFETY: as above; nobody else hands this out.
    unsafe { squeeze_eight(sponges, blocks) }
};

#[target_feature(enable = "avx512f,avx512vl,avx2,bmi1,bmi2")]
fn permute_many<H: Holder>(states: &mut [H]) {
    let (eights, rest) = states.as_chunks_mut::<8>();
    for eight in eights {
        permute_eight(eight);
    }
    // Idle lanes work on zeros: eight cost a third more than four, and four as much as one.
    match rest.len() {
        0 => {}
        1 => permute_one(rest[0].state()),
        4 => permute_four(rest.first_chunk_mut().expect("they are four")),
        2 | 3 => padded(rest, |four| permute_four(four)),
        _ => padded(rest, |eight| permute_eight(eight)),
    }
}

#[target_feature(enable = "avx512f,avx512vl")]
fn permute_eight<H: Holder>(states: &mut [H; 8]) {
    let mut lanes = load_eight(states);
    keccak::permute(&mut lanes);
    store_eight(&lanes, states);
}

#[target_feature(enable = "avx512f,avx512vl")]
fn chain_eight(states: &mut [Aligned; 8], place: usize, words: usize, steps: u32) {
    let one = _mm512_set1_epi64(1 << 56);
    let mut lanes = load_eight(states);
    chain(&mut lanes, place, words, steps, |lane: Eight| Eight(_mm512_add_epi64(lane.0, one)));
    store_eight(&lanes, states);
}

/// Loads one word of all eight states into each vector.
#[inline]
#[target_feature(enable = "avx512f,avx512vl")]
fn load_eight<H: Holder>(states: &mut [H; 8]) -> [Eight; 25] {
    let mut lanes = [Eight(_mm512_setzero_si512()); 25];
    for (i, four) in lanes.as_chunks_mut::<4>().0.iter_mut().enumerate() {
        let mut words = |state: usize| {
            let words: &[u64] = &states[state].state().0[4 * i..4 * i + 4];
            // SAFETY: `words` is 32 bytes long.
            unsafe { _mm256_loadu_si256(words.as_ptr().cast()) }
        };
        // Two states make a vector as they are loaded, which takes no shuffle.
        let rows =
            [0, 1, 2, 3].map(|s| _mm512_inserti64x4::<1>(_mm512_castsi256_si512(words(s)), words(s + 4)));
        *four = transpose_halves(rows).map(Eight);
    }
    let last = [0, 1, 2, 3, 4, 5, 6, 7].map(|s: usize| states[s].state().0[24]);
    // SAFETY: `last` is 64 bytes long.
    lanes[24] = Eight(unsafe { _mm512_loadu_si512(last.as_ptr().cast()) });
    lanes
}

#[inline]
#[target_feature(enable = "avx512f,avx512vl")]
fn store_eight<H: Holder>(lanes: &[Eight; 25], states: &mut [H; 8]) {
    for (i, eight) in lanes.as_chunks::<8>().0.iter().enumerate() {
        let rows = transpose_eight(eight.map(|lane| lane.0));
        for (state, row) in states.iter_mut().zip(rows) {
            let words: &mut [u64] = &mut state.state().0[8 * i..8 * i + 8];
            // SAFETY: `words` is 64 bytes long.
            unsafe { _mm512_storeu_si512(words.as_mut_ptr().cast(), row) };
        }
    }
    let mut last = [0; 8];
    // SAFETY: `last` is 64 bytes long.
    unsafe { _mm512_storeu_si512(last.as_mut_ptr().cast(), lanes[24].0) };
    for (state, word) in states.iter_mut().zip(last) {
        state.state().0[24] = word;
    }
}

/// Permutes them where they stand, and brings the words of each together for its block.
#[cfg(feature = "alloc")]
#[target_feature(enable = "avx512f,avx512vl")]
fn squeeze_eight(sponges: &mut Abreast, blocks: &mut [Block; 8]) {
    let mut lanes = [Eight(_mm512_setzero_si512()); 25];
    for (lane, words) in lanes.iter_mut().zip(&sponges.0) {
        // SAFETY: `words` is 64 bytes long.
        *lane = Eight(unsafe { _mm512_loadu_si512(words.as_ptr().cast()) });
    }
    keccak::permute(&mut lanes);
    for (lane, words) in lanes.iter().zip(&mut sponges.0) {
        // SAFETY: `words` is 64 bytes long.
        unsafe { _mm512_storeu_si512(words.as_mut_ptr().cast(), lane.0) };
    }
    for (i, eight) in lanes.as_chunks::<8>().0.iter().enumerate() {
        let rows = transpose_eight(eight.map(|lane| lane.0));
        for (block, row) in blocks.iter_mut().zip(rows) {
            let bytes: &mut [u8] = &mut block.0[64 * i..64 * i + 64];
            // SAFETY: `bytes` is 64 bytes long.
            unsafe { _mm512_storeu_si512(bytes.as_mut_ptr().cast(), row) };
        }
    }
}

/// Rows to columns in each half.
#[inline]
#[target_feature(enable = "avx512f")]
fn transpose_halves([a, b, c, d]: [__m512i; 4]) -> [__m512i; 4] {
    let first = _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13);
    let second = _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15);
    let low = [_mm512_unpacklo_epi64(a, b), _mm512_unpacklo_epi64(c, d)];
    let high = [_mm512_unpackhi_epi64(a, b), _mm512_unpackhi_epi64(c, d)];
    [
        _mm512_permutex2var_epi64(low[0], first, low[1]),
        _mm512_permutex2var_epi64(high[0], first, high[1]),
        _mm512_permutex2var_epi64(low[0], second, low[1]),
        _mm512_permutex2var_epi64(high[0], second, high[1]),
    ]
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

    const ONE_BY_ONE: bool = true;

    type Theta = [Self; 2];

    #[inline(always)]
    fn theta(before: Self, after: Self) -> [Self; 2] {
        [before, after.rotate_left::<1>()]
    }

    #[inline(always)]
    fn add(self, [before, after]: [Self; 2]) -> Self {
        // SAFETY: see above. 0x96 is the parity of three.
        Self(unsafe { _mm512_ternarylogic_epi64::<0x96>(self.0, before.0, after.0) })
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
fn permute_four<H: Holder>(states: &mut [H; 4]) {
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

    const ONE_BY_ONE: bool = true;

    type Theta = [Self; 2];

    #[inline(always)]
    fn theta(before: Self, after: Self) -> [Self; 2] {
        [before, after.rotate_left::<1>()]
    }

    #[inline(always)]
    fn add(self, [before, after]: [Self; 2]) -> Self {
        // SAFETY: see above. 0x96 is the parity of three.
        Self(unsafe { _mm256_ternarylogic_epi64::<0x96>(self.0, before.0, after.0) })
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

/// One state. A register holds a plane, the five words of one `y`, word (x, y) in lane x; lanes 5 to 7 hold nothing.
///
/// π needs no shuffle: with y = x - k in lane x of register k, words of five planes, all of them go to the plane
/// 2x + 3y = 2k, the one in lane x to the place x - k. So each plane of the next state comes from one register: blends gather
/// it, beside θ, and χ reads it rotated by k, k + 1 and k + 2 lanes. A round waits for one shuffle in θ and one in χ.
#[target_feature(enable = "avx512f")]
fn permute_one(state: &mut State) {
    let chi = |a, b, c| _mm512_ternarylogic_epi64::<0xd2>(a, b, c);
    let mut a = [0, 1, 2, 3, 4].map(|y| {
        let plane: &[u64] = &state.0[5 * y..5 * y + 5];
        // SAFETY: the mask loads the five words that are there.
        unsafe { _mm512_maskz_loadu_epi64(0b1_1111, plane.as_ptr().cast()) }
    });
    for rc in &keccak::ROUND_CONSTANTS {
        let c = xor(xor(a[0], a[1], a[2]), a[3], a[4]);
        let d = [rotate::<4>(c), rotate::<1>(_mm512_rol_epi64::<1>(c))];
        let b = [
            gather::<0>(&a, d),
            gather::<1>(&a, d),
            gather::<2>(&a, d),
            gather::<3>(&a, d),
            gather::<4>(&a, d),
        ];
        let rc = _mm512_maskz_set1_epi64(1, *rc as i64);
        a = [
            chi(_mm512_xor_si512(b[0], rc), rotate::<1>(b[0]), rotate::<2>(b[0])),
            chi(rotate::<3>(b[3]), rotate::<4>(b[3]), b[3]),
            chi(rotate::<1>(b[1]), rotate::<2>(b[1]), rotate::<3>(b[1])),
            chi(rotate::<4>(b[4]), b[4], rotate::<1>(b[4])),
            chi(rotate::<2>(b[2]), rotate::<3>(b[2]), rotate::<4>(b[2])),
        ];
    }
    for (y, plane) in a.into_iter().enumerate() {
        let words: &mut [u64] = &mut state.0[5 * y..5 * y + 5];
        // SAFETY: the mask stores the five words that are there.
        unsafe { _mm512_mask_storeu_epi64(words.as_mut_ptr().cast(), 0b1_1111, plane) };
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn xor(a: __m512i, b: __m512i, c: __m512i) -> __m512i {
    _mm512_ternarylogic_epi64::<0x96>(a, b, c)
}

/// Lane x takes lane x + `N` of the five.
#[inline]
#[target_feature(enable = "avx512f")]
fn rotate<const N: usize>(lanes: __m512i) -> __m512i {
    const fn from(x: usize) -> i64 {
        (if x >= 5 { x - 5 } else { x }) as i64
    }
    let from = _mm512_setr_epi64(from(N), from(N + 1), from(N + 2), from(N + 3), from(N + 4), 5, 6, 7);
    _mm512_permutexvar_epi64(from, lanes)
}

/// The words (x, x - `K`) after θ, of which the halves are `d`, and ρ.
#[inline]
#[target_feature(enable = "avx512f")]
fn gather<const K: usize>(planes: &[__m512i; 5], d: [__m512i; 2]) -> __m512i {
    /// `RHO[k][x]`: the offset of (x, x - k) of FIPS 202, Table 2, modulo 64.
    const RHO: [[i64; 5]; 5] = [
        [0, 44, 43, 21, 14],
        [18, 1, 6, 25, 8],
        [41, 2, 62, 55, 39],
        [3, 45, 61, 28, 20],
        [36, 10, 15, 56, 27],
    ];
    let plane = |x: usize| planes[if x < K { 5 + x - K } else { x - K }];
    // The masks speak of the idle lanes too: where they do not, LLVM narrows the blends and makes shuffles of them.
    let low = _mm512_mask_blend_epi64(0b1110_0010, plane(0), plane(1));
    let high = _mm512_mask_blend_epi64(0b1110_1000, plane(2), plane(3));
    let gathered = _mm512_mask_blend_epi64(0b0000_1100, low, high);
    let gathered = _mm512_mask_blend_epi64(0b1111_0000, gathered, plane(4));
    let offsets = RHO[K];
    let offsets = _mm512_setr_epi64(offsets[0], offsets[1], offsets[2], offsets[3], offsets[4], 0, 0, 0);
    _mm512_rolv_epi64(xor(gathered, d[0], d[1]), offsets)
}
