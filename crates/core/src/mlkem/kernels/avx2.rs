//! x86-64 with AVX2: sixteen coefficients at a time, in the bounds of `portable`.

#![allow(unsafe_code)] // Loads, stores, and the table that is handed out only where AVX2 is.

use core::arch::x86_64::*;

use super::Kernels;
use super::portable::{
    COMPRESS_FACTOR, Factor, PORTABLE, Q_INVERSE, R_SQUARED, RECIPROCAL, ZETAS, compress_offset,
};
use crate::cpu::Level;
use crate::mlkem::ring::{Coefficients, Q};

// SAFETY: `active` hands this table out only after the CPU reported AVX2.
pub(super) static AVX2: Kernels = unsafe { table() };

#[target_feature(enable = "avx2")]
pub(super) const fn table() -> Kernels {
    Kernels {
        level: Level::Avx2,
        ntt,
        inverse_ntt,
        multiply_add,
        scale,
        reduce: reduce_all,
        reject_vartime,
        noise2,
        encode,
        decode,
        compress,
        decompress,
        ..PORTABLE
    }
}

type Vector = __m256i;

#[inline]
#[target_feature(enable = "avx2")]
fn load(lanes: &[i16; 16]) -> Vector {
    // SAFETY: 32 bytes are there.
    unsafe { _mm256_loadu_si256(lanes.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx2")]
fn store(lanes: &mut [i16; 16], value: Vector) {
    // SAFETY: 32 bytes are there.
    unsafe { _mm256_storeu_si256(lanes.as_mut_ptr().cast(), value) };
}

/// Applies `op` to every vector.
#[inline]
#[target_feature(enable = "avx2")]
fn each(f: &mut Coefficients, op: impl Fn(Vector) -> Vector) {
    for lanes in f.as_chunks_mut::<16>().0 {
        let value = op(load(lanes));
        store(lanes, value);
    }
}

/// A factor in each lane.
#[derive(Clone, Copy)]
struct Factors {
    value: [i16; 16],
    twisted: [i16; 16],
}

impl Factors {
    /// The factors of the layer of length `len` whose first is `first`, each in `repeat` lanes, in this `order`.
    const fn of_layer(first: usize, repeat: usize, order: &[usize]) -> Self {
        let mut factors = Self { value: [0; 16], twisted: [0; 16] };
        let mut lane = 0;
        while lane < 16 {
            let zeta = ZETAS[first + order[lane >> repeat.trailing_zeros()]];
            factors.value[lane] = zeta.value;
            factors.twisted[lane] = zeta.twisted;
            lane += 1;
        }
        factors
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn times(&self, x: Vector) -> Vector {
        times(x, load(&self.value), load(&self.twisted))
    }
}

/// w·x modulo q, |result| < q, for any x.
#[inline]
#[target_feature(enable = "avx2")]
fn times(x: Vector, value: Vector, twisted: Vector) -> Vector {
    let quotient = _mm256_mullo_epi16(x, twisted);
    _mm256_sub_epi16(_mm256_mulhi_epi16(x, value), _mm256_mulhi_epi16(quotient, _mm256_set1_epi16(Q)))
}

#[inline]
#[target_feature(enable = "avx2")]
fn times_factor(x: Vector, factor: Factor) -> Vector {
    times(x, _mm256_set1_epi16(factor.value), _mm256_set1_epi16(factor.twisted))
}

/// The residue of absolute value at most (q + 1)/2, for any x.
#[inline]
#[target_feature(enable = "avx2")]
fn reduce(x: Vector) -> Vector {
    // The rounding shift by 10: a product with 2^5, of which the upper half is taken, rounded.
    let quotient =
        _mm256_mulhrs_epi16(_mm256_mulhi_epi16(x, _mm256_set1_epi16(RECIPROCAL)), _mm256_set1_epi16(1 << 5));
    _mm256_sub_epi16(x, _mm256_mullo_epi16(quotient, _mm256_set1_epi16(Q)))
}

/// The residue in \[0, q), for any x.
#[inline]
#[target_feature(enable = "avx2")]
fn canonical(x: Vector) -> Vector {
    let x = _mm256_add_epi16(reduce(x), _mm256_set1_epi16(Q));
    let quotient = _mm256_srai_epi16::<10>(_mm256_mulhi_epi16(x, _mm256_set1_epi16(RECIPROCAL)));
    _mm256_sub_epi16(x, _mm256_mullo_epi16(quotient, _mm256_set1_epi16(Q)))
}

#[target_feature(enable = "avx2")]
fn reduce_all(f: &mut Coefficients) {
    each(f, |x| reduce(x));
}

#[target_feature(enable = "avx2")]
fn scale(f: &mut Coefficients) {
    const FACTOR: Factor = Factor { value: R_SQUARED, twisted: R_SQUARED.wrapping_mul(Q_INVERSE) };
    each(f, |x| times_factor(x, FACTOR));
}

/// Factors of the layers of length 8, 4 and 2 for one pair of vectors: 32 coefficients.
struct Inner {
    eight: Factors,
    four: Factors,
    two: Factors,
}

/// For the pair `p`, in the order in which the shuffles bring the blocks.
const fn inner(p: usize) -> Inner {
    Inner {
        eight: Factors::of_layer(16 + 2 * p, 8, &[0, 1]),
        four: Factors::of_layer(32 + 4 * p, 4, &[0, 1, 2, 3]),
        two: Factors::of_layer(64 + 8 * p, 2, &[0, 2, 1, 3, 4, 6, 5, 7]),
    }
}

/// The inverse transform takes the factors of each layer from the last to the first.
const fn inverse_inner(p: usize) -> Inner {
    Inner {
        eight: Factors::of_layer(16 + 14 - 2 * p, 8, &[1, 0]),
        four: Factors::of_layer(32 + 28 - 4 * p, 4, &[3, 2, 1, 0]),
        two: Factors::of_layer(64 + 56 - 8 * p, 2, &[7, 5, 6, 4, 3, 1, 2, 0]),
    }
}

static INNER: [Inner; 8] = [inner(0), inner(1), inner(2), inner(3), inner(4), inner(5), inner(6), inner(7)];

static INVERSE_INNER: [Inner; 8] = [
    inverse_inner(0),
    inverse_inner(1),
    inverse_inner(2),
    inverse_inner(3),
    inverse_inner(4),
    inverse_inner(5),
    inverse_inner(6),
    inverse_inner(7),
];

#[inline]
#[target_feature(enable = "avx2")]
fn halves(a: Vector, b: Vector) -> (Vector, Vector) {
    (_mm256_permute2x128_si256::<0x20>(a, b), _mm256_permute2x128_si256::<0x31>(a, b))
}

#[inline]
#[target_feature(enable = "avx2")]
fn quarters(a: Vector, b: Vector) -> (Vector, Vector) {
    (_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b))
}

/// Takes the lower and the upper pairs of the blocks of four apart.
#[inline]
#[target_feature(enable = "avx2")]
fn split_pairs(a: Vector, b: Vector) -> (Vector, Vector) {
    let (a, b) = (_mm256_castsi256_ps(a), _mm256_castsi256_ps(b));
    (
        _mm256_castps_si256(_mm256_shuffle_ps::<0b10_00_10_00>(a, b)),
        _mm256_castps_si256(_mm256_shuffle_ps::<0b11_01_11_01>(a, b)),
    )
}

/// Undoes [`split_pairs`].
#[inline]
#[target_feature(enable = "avx2")]
fn join_pairs(a: Vector, b: Vector) -> (Vector, Vector) {
    (_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b))
}

#[inline]
#[target_feature(enable = "avx2")]
fn forward(a: Vector, b: Vector, zeta: &Factors) -> (Vector, Vector) {
    let t = zeta.times(b);
    (_mm256_add_epi16(a, t), _mm256_sub_epi16(a, t))
}

#[inline]
#[target_feature(enable = "avx2")]
fn backward(a: Vector, b: Vector, zeta: &Factors) -> (Vector, Vector) {
    (_mm256_add_epi16(a, b), zeta.times(_mm256_sub_epi16(b, a)))
}

#[target_feature(enable = "avx2")]
fn ntt(f: &mut Coefficients) {
    debug_assert!(f.iter().all(|x| x.abs() <= Q));
    forward_layer::<128>(f);
    forward_layer::<64>(f);
    forward_layer::<32>(f);
    forward_layer::<16>(f);
    for ([low, high], factors) in f.as_chunks_mut::<16>().0.as_chunks_mut::<2>().0.iter_mut().zip(&INNER) {
        let (a, b) = halves(load(low), load(high));
        let (a, b) = forward(a, b, &factors.eight);
        let (a, b) = quarters(a, b);
        let (a, b) = forward(a, b, &factors.four);
        let (a, b) = split_pairs(a, b);
        let (a, b) = forward(a, b, &factors.two);
        let (a, b) = join_pairs(reduce(a), reduce(b));
        let (a, b) = quarters(a, b);
        let (a, b) = halves(a, b);
        store(low, a);
        store(high, b);
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn forward_layer<const LEN: usize>(f: &mut Coefficients) {
    let zetas = const { 128 >> LEN.trailing_zeros() };
    for (i, block) in f.chunks_exact_mut(2 * LEN).enumerate() {
        let zeta = ZETAS[zetas + i];
        let (value, twisted) = (_mm256_set1_epi16(zeta.value), _mm256_set1_epi16(zeta.twisted));
        let (low, high) = block.split_at_mut(LEN);
        for (low, high) in low.as_chunks_mut::<16>().0.iter_mut().zip(high.as_chunks_mut::<16>().0) {
            let (a, t) = (load(low), times(load(high), value, twisted));
            store(low, _mm256_add_epi16(a, t));
            store(high, _mm256_sub_epi16(a, t));
        }
    }
}

#[target_feature(enable = "avx2")]
fn inverse_ntt(f: &mut Coefficients) {
    debug_assert!(f.iter().all(|x| i32::from(x.abs()) <= 8 * i32::from(Q)));
    let pairs = f.as_chunks_mut::<16>().0.as_chunks_mut::<2>().0.iter_mut();
    for ([low, high], factors) in pairs.zip(&INVERSE_INNER) {
        let (a, b) = halves(reduce(load(low)), reduce(load(high)));
        let (a, b) = quarters(a, b);
        let (a, b) = split_pairs(a, b);
        let (a, b) = backward(a, b, &factors.two);
        let (a, b) = join_pairs(a, b);
        let (a, b) = backward(a, b, &factors.four);
        let (a, b) = quarters(a, b);
        let (a, b) = backward(a, b, &factors.eight);
        // The lower halves have grown to 4q.
        let (a, b) = halves(reduce(a), b);
        store(low, a);
        store(high, b);
    }
    inverse_layer::<16>(f);
    inverse_layer::<32>(f);
    inverse_layer::<64>(f);
    inverse_layer::<128>(f);
    // 128^-1, times R.
    const LAST: Factor = Factor::new(3303 * (1 << 16));
    each(f, |x| times_factor(x, LAST));
}

#[inline]
#[target_feature(enable = "avx2")]
fn inverse_layer<const LEN: usize>(f: &mut Coefficients) {
    let zetas = const { 256 >> LEN.trailing_zeros() };
    for (i, block) in f.chunks_exact_mut(2 * LEN).enumerate() {
        let zeta = ZETAS[zetas - 1 - i];
        let (value, twisted) = (_mm256_set1_epi16(zeta.value), _mm256_set1_epi16(zeta.twisted));
        let (low, high) = block.split_at_mut(LEN);
        for (low, high) in low.as_chunks_mut::<16>().0.iter_mut().zip(high.as_chunks_mut::<16>().0) {
            let (a, b) = (load(low), load(high));
            store(low, _mm256_add_epi16(a, b));
            store(high, times(_mm256_sub_epi16(b, a), value, twisted));
        }
    }
}

/// For eight products: 1 where the even coefficient stands, ±ζ of the last layer where the odd one does.
const fn product_factors(v: usize) -> Factors {
    let one = Factor::new(1);
    let mut factors = Factors { value: [one.value; 16], twisted: [one.twisted; 16] };
    let mut pair = 0;
    while pair < 8 {
        let zeta = ZETAS[64 + 4 * v + (pair >> 1)];
        let sign = if pair & 1 == 0 { 1 } else { -1 };
        factors.value[2 * pair + 1] = sign * zeta.value;
        factors.twisted[2 * pair + 1] = zeta.twisted.wrapping_mul(sign);
        pair += 1;
    }
    factors
}

static PRODUCT_FACTORS: [Factors; 16] = [
    product_factors(0),
    product_factors(1),
    product_factors(2),
    product_factors(3),
    product_factors(4),
    product_factors(5),
    product_factors(6),
    product_factors(7),
    product_factors(8),
    product_factors(9),
    product_factors(10),
    product_factors(11),
    product_factors(12),
    product_factors(13),
    product_factors(14),
    product_factors(15),
];

#[target_feature(enable = "avx2")]
fn multiply_add(sum: &mut Coefficients, a: &Coefficients, b: &Coefficients) {
    debug_assert!(a.iter().all(|x| i32::from(x.abs()) <= 8 * i32::from(Q)));
    debug_assert!(b.iter().all(|x| x.abs() <= Q));
    let vectors = a.as_chunks::<16>().0.iter().zip(b.as_chunks::<16>().0);
    for ((sum, (a, b)), factors) in sum.as_chunks_mut::<16>().0.iter_mut().zip(vectors).zip(&PRODUCT_FACTORS)
    {
        let (a, b) = (load(a), load(b));
        // a0·b0 + a1·ζ·b1 and a0·b1 + a1·b0, in 32 bits: < 18q² in absolute value.
        let even = _mm256_madd_epi16(a, factors.times(b));
        let swapped = _mm256_or_si256(_mm256_slli_epi32::<16>(b), _mm256_srli_epi32::<16>(b));
        let odd = _mm256_madd_epi16(a, swapped);
        // Their Montgomery reductions, side by side: < 18q²/R + q/2 < 2q.
        let low = _mm256_blend_epi16::<0b1010_1010>(even, _mm256_slli_epi32::<16>(odd));
        let high = _mm256_blend_epi16::<0b1010_1010>(_mm256_srli_epi32::<16>(even), odd);
        let quotient = _mm256_mullo_epi16(low, _mm256_set1_epi16(Q_INVERSE));
        let product = _mm256_sub_epi16(high, _mm256_mulhi_epi16(quotient, _mm256_set1_epi16(Q)));
        store(sum, _mm256_add_epi16(load(sum), product));
    }
}

/// Where the accepted of eight candidates are, as bytes for a shuffle; by the mask of the accepted.
static ACCEPTED: [[u8; 16]; 256] = {
    let mut table = [[0x80; 16]; 256];
    let mut mask = 0;
    while mask < 256 {
        let (mut lane, mut n) = (0, 0);
        while lane < 8 {
            if mask >> lane & 1 == 1 {
                table[mask][2 * n] = 2 * lane as u8;
                table[mask][2 * n + 1] = 2 * lane as u8 + 1;
                n += 1;
            }
            lane += 1;
        }
        mask += 1;
    }
    table
};

/// Twelve bytes are eight candidates: bytes 3i, 3i + 1 and 3i + 1, 3i + 2, the latter to be shifted by four.
#[target_feature(enable = "avx2")]
pub(super) fn reject_vartime(out: &mut [i16], bytes: &[u8]) -> usize {
    let pairs = _mm_setr_epi8(0, 1, 1, 2, 3, 4, 4, 5, 6, 7, 7, 8, 9, 10, 10, 11);
    let mut n = 0;
    let mut at = 0;
    // A load of 16 bytes for 12, and room for all eight.
    while at + 16 <= bytes.len() && n + 8 <= out.len() {
        let window: &[u8] = &bytes[at..at + 16];
        // SAFETY: 16 bytes are there.
        let window = unsafe { _mm_loadu_si128(window.as_ptr().cast()) };
        let words = _mm_shuffle_epi8(window, pairs);
        let words = _mm_blend_epi16::<0b1010_1010>(words, _mm_srli_epi16::<4>(words));
        let candidates = _mm_and_si128(words, _mm_set1_epi16(0xfff));
        let accepted = _mm_cmplt_epi16(candidates, _mm_set1_epi16(Q));
        let mask = _mm_movemask_epi8(_mm_packs_epi16(accepted, _mm_setzero_si128())) as usize;
        // SAFETY: 16 bytes are there.
        let shuffle = unsafe { _mm_loadu_si128(ACCEPTED[mask].as_ptr().cast()) };
        let place: &mut [i16] = &mut out[n..n + 8];
        // SAFETY: 16 bytes are there.
        unsafe { _mm_storeu_si128(place.as_mut_ptr().cast(), _mm_shuffle_epi8(candidates, shuffle)) };
        n += mask.count_ones() as usize;
        at += 12;
    }
    n + (PORTABLE.reject_vartime)(&mut out[n..], &bytes[at..])
}

#[target_feature(enable = "avx2")]
fn noise2(f: &mut Coefficients, bytes: &[u8; 128]) {
    for (out, bytes) in f.as_chunks_mut::<64>().0.iter_mut().zip(bytes.as_chunks::<32>().0) {
        // SAFETY: 32 bytes are there.
        let bits = unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) };
        let mask = _mm256_set1_epi8(0x55);
        let pairs = _mm256_add_epi8(
            _mm256_and_si256(bits, mask),
            _mm256_and_si256(_mm256_srli_epi16::<1>(bits), mask),
        );
        let mask = _mm256_set1_epi8(0x33);
        let minuend = _mm256_add_epi8(_mm256_and_si256(pairs, mask), mask);
        // Each half byte: the difference of two sums, plus 3.
        let nibbles = _mm256_sub_epi8(minuend, _mm256_and_si256(_mm256_srli_epi16::<2>(pairs), mask));
        let mask = _mm256_set1_epi8(0x0f);
        let three = _mm256_set1_epi8(3);
        let even = _mm256_sub_epi8(_mm256_and_si256(nibbles, mask), three);
        let odd = _mm256_sub_epi8(_mm256_and_si256(_mm256_srli_epi16::<4>(nibbles), mask), three);
        let (a, b) = (_mm256_unpacklo_epi8(even, odd), _mm256_unpackhi_epi8(even, odd));
        let quarters = [
            _mm256_castsi256_si128(a),
            _mm256_castsi256_si128(b),
            _mm256_extracti128_si256::<1>(a),
            _mm256_extracti128_si256::<1>(b),
        ];
        for (out, quarter) in out.as_chunks_mut::<16>().0.iter_mut().zip(quarters) {
            store(out, _mm256_cvtepi8_epi16(quarter));
        }
    }
}

/// Sixteen integers of D bits, to 2·D bytes.
#[inline]
#[target_feature(enable = "avx2")]
fn pack<const D: usize>(out: &mut [u8], values: Vector) {
    // Two in 32 bits, then four in 64.
    let twos = _mm256_madd_epi16(values, _mm256_set1_epi32(1 | 1 << (16 + D)));
    let shift = 32 - 2 * D as i64;
    let up = _mm256_sllv_epi32(twos, _mm256_set1_epi64x(shift));
    let fours = _mm256_srl_epi64(up, _mm_cvtsi64_si128(shift));
    let fours = [
        _mm256_extract_epi64::<0>(fours) as u64,
        _mm256_extract_epi64::<1>(fours) as u64,
        _mm256_extract_epi64::<2>(fours) as u64,
        _mm256_extract_epi64::<3>(fours) as u64,
    ];
    for (bytes, [low, high]) in out.as_chunks_mut::<D>().0.iter_mut().zip(fours.as_chunks::<2>().0) {
        let eight = u128::from(*low) | u128::from(*high) << (4 * D);
        bytes.copy_from_slice(&eight.to_le_bytes()[..D]);
    }
}

/// Sixteen integers of D bits, from 2·D bytes.
#[inline]
#[target_feature(enable = "avx2")]
fn unpack<const D: usize>(bytes: &[u8]) -> Vector {
    let mut fours = [0i64; 4];
    for (bytes, fours) in bytes.as_chunks::<D>().0.iter().zip(fours.as_chunks_mut::<2>().0) {
        let mut eight = [0; 16];
        eight[..D].copy_from_slice(bytes);
        let eight = u128::from_le_bytes(eight);
        *fours = [(eight & ((1 << (4 * D)) - 1)) as i64, (eight >> (4 * D)) as i64];
    }
    let fours = _mm256_setr_epi64x(fours[0], fours[1], fours[2], fours[3]);
    let low = _mm256_and_si256(fours, _mm256_set1_epi64x((1 << (2 * D)) - 1));
    let high = _mm256_slli_epi64::<32>(_mm256_srl_epi64(fours, _mm_cvtsi64_si128(2 * D as i64)));
    let twos = _mm256_or_si256(low, high);
    let low = _mm256_and_si256(twos, _mm256_set1_epi32((1 << D) - 1));
    let high = _mm256_slli_epi32::<16>(_mm256_srl_epi32(twos, _mm_cvtsi64_si128(D as i64)));
    _mm256_or_si256(low, high)
}

#[target_feature(enable = "avx2")]
fn encode(out: &mut [u8; 384], f: &Coefficients) {
    for (out, lanes) in out.as_chunks_mut::<24>().0.iter_mut().zip(f.as_chunks::<16>().0) {
        pack::<12>(out, canonical(load(lanes)));
    }
}

#[target_feature(enable = "avx2")]
fn decode(f: &mut Coefficients, bytes: &[u8; 384]) {
    for (lanes, bytes) in f.as_chunks_mut::<16>().0.iter_mut().zip(bytes.as_chunks::<24>().0) {
        store(lanes, canonical(unpack::<12>(bytes)));
    }
}

#[target_feature(enable = "avx2")]
fn compress(out: &mut [u8], f: &Coefficients) {
    match out.len() >> 5 {
        4 => compress_to::<4>(out, f),
        5 => compress_to::<5>(out, f),
        10 => compress_to::<10>(out, f),
        11 => compress_to::<11>(out, f),
        _ => (PORTABLE.compress)(out, f),
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn compress_to<const D: usize>(out: &mut [u8], f: &Coefficients) {
    let wide = |x: Vector| {
        let product = _mm256_mullo_epi32(x, _mm256_set1_epi32(COMPRESS_FACTOR as i32));
        let rounded = _mm256_add_epi32(product, _mm256_set1_epi32(compress_offset(D) as i32));
        _mm256_srl_epi32(rounded, _mm_cvtsi64_si128(32 - D as i64))
    };
    for (out, lanes) in out.chunks_exact_mut(2 * D).zip(f.as_chunks::<16>().0) {
        let x = canonical(load(lanes));
        let even = wide(_mm256_and_si256(x, _mm256_set1_epi32(0xffff)));
        let odd = wide(_mm256_srli_epi32::<16>(x));
        pack::<D>(out, _mm256_or_si256(even, _mm256_slli_epi32::<16>(odd)));
    }
}

#[target_feature(enable = "avx2")]
fn decompress(f: &mut Coefficients, bytes: &[u8]) {
    match bytes.len() >> 5 {
        4 => decompress_from::<4>(f, bytes),
        5 => decompress_from::<5>(f, bytes),
        10 => decompress_from::<10>(f, bytes),
        11 => decompress_from::<11>(f, bytes),
        _ => (PORTABLE.decompress)(f, bytes),
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn decompress_from<const D: usize>(f: &mut Coefficients, bytes: &[u8]) {
    for (lanes, bytes) in f.as_chunks_mut::<16>().0.iter_mut().zip(bytes.chunks_exact(2 * D)) {
        // The rounding product with q over 2^15.
        let y = _mm256_sll_epi16(unpack::<D>(bytes), _mm_cvtsi64_si128(15 - D as i64));
        store(lanes, _mm256_mulhrs_epi16(y, _mm256_set1_epi16(Q)));
    }
}
