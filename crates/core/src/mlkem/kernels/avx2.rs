//! x86-64 with AVX2: sixteen coefficients at a time, in the bounds of `portable`.

#![allow(unsafe_code)] // Loads, stores, and the table that is handed out only where AVX2 is.

use core::arch::x86_64::*;

use super::Kernels;
use super::portable::{
    COMPRESS_FACTOR, Factor, PORTABLE, Q_INVERSE, R_SQUARED, RECIPROCAL, ZETAS, compress_offset, power,
};
use crate::cpu::Level;
use crate::mlkem::poly::{Coefficients, Ntt, Q};

// SAFETY: `active` hands this table out only after the CPU reported AVX2.
pub(super) static AVX2: Kernels = unsafe { table() };

#[target_feature(enable = "avx2")]
const fn table() -> Kernels {
    Kernels {
        level: Level::Avx2,
        ntt,
        inverse_ntt,
        multiply_add,
        inner_product,
        encryption_products: Some(encryption_products),
        scale,
        add,
        subtract_from,
        reduce: reduce_all,
        reject_vartime,
        noise2,
        noise3,
        encode,
        decode,
        is_reduced,
        compress,
        decompress,
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
    // Without sign, what is below zero is above all else.
    let x = reduce(x);
    _mm256_min_epu16(x, _mm256_add_epi16(x, _mm256_set1_epi16(Q)))
}

#[target_feature(enable = "avx2")]
fn add(a: &mut Coefficients, b: &Coefficients) {
    for (a, b) in a.as_chunks_mut::<16>().0.iter_mut().zip(b.as_chunks::<16>().0) {
        let sum = _mm256_add_epi16(load(a), load(b));
        store(a, sum);
    }
}

#[target_feature(enable = "avx2")]
fn subtract_from(a: &mut Coefficients, b: &Coefficients) {
    for (a, b) in a.as_chunks_mut::<16>().0.iter_mut().zip(b.as_chunks::<16>().0) {
        let difference = _mm256_sub_epi16(load(b), load(a));
        store(a, difference);
    }
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
    // 128^-1, times R, and in the last layer with its factor in one.
    const LAST: Factor = Factor::new(3303 * (1 << 16));
    const LAST_ZETA: Factor = Factor::new(3303 * (1 << 16) * power(17, 64));
    let (low, high) = f.split_at_mut(128);
    for (low, high) in low.as_chunks_mut::<16>().0.iter_mut().zip(high.as_chunks_mut::<16>().0) {
        let (a, b) = (load(low), load(high));
        store(low, times_factor(_mm256_add_epi16(a, b), LAST));
        store(high, times_factor(_mm256_sub_epi16(b, a), LAST_ZETA));
    }
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

/// What [`products`] take of b: b0 and ζ·b1, below q, and b1 and b0.
#[inline]
#[target_feature(enable = "avx2")]
fn twist(b: Vector, factors: &Factors) -> [Vector; 2] {
    let swap =
        _mm256_broadcastsi128_si256(_mm_setr_epi8(2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13));
    [factors.times(b), _mm256_shuffle_epi8(b, swap)]
}

/// Eight products in 32 bits: a0·b0 + a1·ζ·b1 and a0·b1 + a1·b0.
#[inline]
#[target_feature(enable = "avx2")]
fn products(a: Vector, [even, odd]: [Vector; 2]) -> [Vector; 2] {
    [_mm256_madd_epi16(a, even), _mm256_madd_epi16(a, odd)]
}

/// The Montgomery reductions of sums of [`products`], side by side: |x|/R + q/2.
#[inline]
#[target_feature(enable = "avx2")]
fn montgomery([even, odd]: [Vector; 2]) -> Vector {
    let low = _mm256_blend_epi16::<0b1010_1010>(even, _mm256_slli_epi32::<16>(odd));
    let high = _mm256_blend_epi16::<0b1010_1010>(_mm256_srli_epi32::<16>(even), odd);
    let quotient = _mm256_mullo_epi16(low, _mm256_set1_epi16(Q_INVERSE));
    _mm256_sub_epi16(high, _mm256_mulhi_epi16(quotient, _mm256_set1_epi16(Q)))
}

#[target_feature(enable = "avx2")]
fn multiply_add(sum: &mut Coefficients, a: &Coefficients, b: &Coefficients) {
    debug_assert!(a.iter().all(|x| i32::from(x.abs()) <= 8 * i32::from(Q)));
    debug_assert!(b.iter().all(|x| x.abs() <= Q));
    let vectors = a.as_chunks::<16>().0.iter().zip(b.as_chunks::<16>().0);
    for ((sum, (a, b)), factors) in sum.as_chunks_mut::<16>().0.iter_mut().zip(vectors).zip(&PRODUCT_FACTORS)
    {
        // The products are at most 16q² in absolute value: what is added is below 16q²/R + q/2 < 2q.
        let product = montgomery(products(load(a), twist(load(b), factors)));
        store(sum, _mm256_add_epi16(load(sum), product));
    }
}

#[target_feature(enable = "avx2")]
fn inner_product(sum: &mut Coefficients, a: &[Ntt], stride: usize, b: &[Ntt]) {
    debug_assert!(a.iter().chain(b).all(|f| f.0.0.iter().all(|x| x.abs() <= Q)) && b.len() <= 4);
    for (v, (sum, factors)) in sum.as_chunks_mut::<16>().0.iter_mut().zip(&PRODUCT_FACTORS).enumerate() {
        let mut total = [_mm256_setzero_si256(); 2];
        for (a, b) in a.iter().step_by(stride).zip(b) {
            let [a, b] = [a, b].map(|f| load(&f.0.0.as_chunks().0[v]));
            let [even, odd] = products(a, twist(b, factors));
            total = [_mm256_add_epi32(total[0], even), _mm256_add_epi32(total[1], odd)];
        }
        // At most four times 2q²: what is added is below 8q²/R + q/2 < q.
        store(sum, _mm256_add_epi16(load(sum), montgomery(total)));
    }
}

#[target_feature(enable = "avx2")]
fn encryption_products(v: &mut Coefficients, y: &mut [Ntt], elements: &[Ntt]) {
    debug_assert!(elements.iter().chain(&*y).all(|f| f.0.0.iter().all(|x| x.abs() <= Q)));
    match y.len() {
        2 => encryption_products_of::<2>(v, y, elements),
        3 => encryption_products_of::<3>(v, y, elements),
        4 => encryption_products_of::<4>(v, y, elements),
        k => unreachable!("no parameter set has rank {k}"),
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn encryption_products_of<const K: usize>(v: &mut Coefficients, y: &mut [Ntt], elements: &[Ntt]) {
    let (a, t) = elements.split_at(K * K);
    let rows: &[[Ntt; K]; K] = a.as_chunks().0.try_into().expect("k rows");
    let t: &[Ntt; K] = t.try_into().expect("k elements");
    let y: &mut [Ntt; K] = y.try_into().expect("k elements");
    for (at, (v, factors)) in v.as_chunks_mut::<16>().0.iter_mut().zip(&PRODUCT_FACTORS).enumerate() {
        let twisted = y.each_ref().map(|y| twist(load(&y.0.0.as_chunks().0[at]), factors));
        // At most four times 2q²: the results are below 8q²/R + q/2 < q.
        let inner = |a: [&Ntt; K]| {
            let mut total = [_mm256_setzero_si256(); 2];
            for (a, twisted) in a.into_iter().zip(twisted) {
                let [even, odd] = products(load(&a.0.0.as_chunks().0[at]), twisted);
                total = [_mm256_add_epi32(total[0], even), _mm256_add_epi32(total[1], odd)];
            }
            montgomery(total)
        };
        for (j, y) in y.iter_mut().enumerate() {
            let u = inner(rows.each_ref().map(|row| &row[j]));
            store(&mut y.0.0.as_chunks_mut().0[at], u);
        }
        store(v, inner(t.each_ref()));
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

/// The two halves of 2·D bytes in the halves of a register. Loads stay inside, so the upper one begins with bytes of the
/// lower: see [`half_at`].
#[inline]
#[target_feature(enable = "avx2")]
fn halves_of<const D: usize>(bytes: &[u8]) -> Vector {
    let bytes: &[u8] = &bytes[..2 * D];
    let upper = |width: usize| &bytes[2 * D - width..];
    let (low, high) = if D >= 8 {
        // SAFETY: 16 bytes are there, twice.
        unsafe { (_mm_loadu_si128(bytes.as_ptr().cast()), _mm_loadu_si128(upper(16).as_ptr().cast())) }
    } else {
        // SAFETY: 8 bytes are there, twice.
        unsafe { (_mm_loadl_epi64(bytes.as_ptr().cast()), _mm_loadl_epi64(upper(8).as_ptr().cast())) }
    };
    _mm256_set_m128i(high, low)
}

/// Where in the lower and in the upper half of the register the D bytes begin.
const fn half_at(d: usize) -> [usize; 2] {
    [0, if d >= 8 { 16 - d } else { 8 - d }]
}

/// Eight pairs of integers of 12 bits from 24 bytes.
#[inline]
#[target_feature(enable = "avx2")]
fn triples(bytes: &[u8]) -> Vector {
    /// Bytes 3i, 3i + 1 and 3i + 1, 3i + 2, the latter to be shifted by four.
    static PAIRS: [u8; 32] = {
        let mut pairs = [0; 32];
        let mut i = 0;
        while i < 32 {
            pairs[i] = (half_at(12)[i >> 4] + 3 * ((i & 15) >> 2) + (((i & 3) + 1) >> 1)) as u8;
            i += 1;
        }
        pairs
    };
    let words = _mm256_shuffle_epi8(halves_of::<12>(bytes), constant(&PAIRS));
    // Every second word has four bits of its neighbour below.
    let words = _mm256_blend_epi16::<0b1010_1010>(words, _mm256_srli_epi16::<4>(words));
    _mm256_and_si256(words, _mm256_set1_epi16(0xfff))
}

#[inline]
#[target_feature(enable = "avx2")]
fn constant(bytes: &[u8; 32]) -> Vector {
    // SAFETY: 32 bytes are there.
    unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
}

#[target_feature(enable = "avx2")]
fn reject_vartime(out: &mut [i16], bytes: &[u8]) -> usize {
    let mut n = 0;
    let mut at = 0;
    // 24 bytes are 16 candidates, and there must be room for all.
    while at + 24 <= bytes.len() && n + 16 <= out.len() {
        let candidates = triples(&bytes[at..]);
        let accepted = _mm256_cmpgt_epi16(_mm256_set1_epi16(Q), candidates);
        let mask = _mm256_movemask_epi8(_mm256_packs_epi16(accepted, _mm256_setzero_si256())) as usize;
        let halves = [_mm256_castsi256_si128(candidates), _mm256_extracti128_si256::<1>(candidates)];
        for (half, mask) in halves.into_iter().zip([mask & 0xff, mask >> 16]) {
            // SAFETY: 16 bytes are there.
            let shuffle = unsafe { _mm_loadu_si128(ACCEPTED[mask].as_ptr().cast()) };
            let place: &mut [i16] = &mut out[n..n + 8];
            // SAFETY: 16 bytes are there; what stands behind the accepted ones is overwritten next.
            unsafe { _mm_storeu_si128(place.as_mut_ptr().cast(), _mm_shuffle_epi8(half, shuffle)) };
            n += mask.count_ones() as usize;
        }
        at += 24;
    }
    n + (PORTABLE.reject_vartime)(&mut out[n..], &bytes[at..])
}

#[target_feature(enable = "avx2")]
fn is_reduced(bytes: &[u8; 384]) -> bool {
    let mut largest = _mm256_setzero_si256();
    for window in bytes.as_chunks::<24>().0 {
        largest = _mm256_max_epi16(largest, triples(window));
    }
    _mm256_movemask_epi8(_mm256_cmpgt_epi16(_mm256_set1_epi16(Q), largest)) == -1
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

/// In each 32 bits, three bytes: four coefficients of six bits each.
#[target_feature(enable = "avx2")]
fn noise3(f: &mut Coefficients, bytes: &[u8; 192]) {
    static THREES: [u8; 32] = {
        let mut threes = [0x80; 32];
        let mut i = 0;
        while i < 32 {
            if i & 3 < 3 {
                threes[i] = (half_at(12)[i >> 4] + 3 * ((i & 15) >> 2) + (i & 3)) as u8;
            }
            i += 1;
        }
        threes
    };
    for (out, bytes) in f.as_chunks_mut::<32>().0.iter_mut().zip(bytes.as_chunks::<24>().0) {
        let word = _mm256_shuffle_epi8(halves_of::<12>(bytes), constant(&THREES));
        let bits = |word| _mm256_and_si256(word, _mm256_set1_epi32(0x0024_9249));
        let triples = _mm256_add_epi32(
            _mm256_add_epi32(bits(word), bits(_mm256_srli_epi32::<1>(word))),
            bits(_mm256_srli_epi32::<2>(word)),
        );
        let sums = |triples| _mm256_and_si256(triples, _mm256_set1_epi32(0x001c_71c7));
        // Each six bits: the difference of two sums, plus 3.
        let differences = _mm256_sub_epi32(
            _mm256_add_epi32(sums(triples), _mm256_set1_epi32(0x000c_30c3)),
            sums(_mm256_srli_epi32::<3>(triples)),
        );
        let low = |x| _mm256_and_si256(x, _mm256_set1_epi32(0x3f));
        let high = |x| _mm256_and_si256(x, _mm256_set1_epi32(0x3f_0000));
        let first = _mm256_or_si256(low(differences), high(_mm256_slli_epi32::<10>(differences)));
        let second = _mm256_or_si256(
            low(_mm256_srli_epi32::<12>(differences)),
            high(_mm256_srli_epi32::<2>(differences)),
        );
        let (a, b) = halves(_mm256_unpacklo_epi32(first, second), _mm256_unpackhi_epi32(first, second));
        let [low, high] = out.as_chunks_mut::<16>().0 else { unreachable!("32 are two times 16") };
        store(low, _mm256_sub_epi16(a, _mm256_set1_epi16(3)));
        store(high, _mm256_sub_epi16(b, _mm256_set1_epi16(3)));
    }
}

/// Sixteen integers of D bits, to 2·D bytes.
#[inline]
#[target_feature(enable = "avx2")]
fn pack<const D: usize>(out: &mut [u8], values: Vector) {
    // Two in 32 bits, then four in 64, then eight in 128.
    let twos = _mm256_madd_epi16(values, _mm256_set1_epi32(1 | 1 << (16 + D)));
    let shift = 32 - 2 * D as i64;
    let up = _mm256_sllv_epi32(twos, _mm256_set1_epi64x(shift));
    let fours = _mm256_srl_epi64(up, _mm_cvtsi64_si128(shift));
    // Shifts by 64 and more give zero.
    let (d, zero) = (4 * D as i64, 64);
    let low = _mm256_sllv_epi64(_mm256_bsrli_epi128::<8>(fours), _mm256_setr_epi64x(d, zero, d, zero));
    let high = _mm256_srlv_epi64(fours, _mm256_setr_epi64x(0, 64 - d, 0, 64 - d));
    let eights = _mm256_or_si256(low, high);

    /// Moves bytes up by D, or down by 16 - D: in one register what the lower half leaves room for, in the other the rest.
    const fn moved(d: usize, up: bool) -> [u8; 16] {
        let mut moved = [0x80; 16];
        let mut i = 0;
        while i < 16 {
            if up && i >= d {
                moved[i] = (i - d) as u8;
            } else if !up && i < d {
                moved[i] = (i + 16 - d) as u8;
            }
            i += 1;
        }
        moved
    }
    let [up, down] = const { [moved(D, true), moved(D, false)] };
    // SAFETY: 16 bytes are there, twice.
    let [up, down] = [up, down].map(|moved| unsafe { _mm_loadu_si128(moved.as_ptr().cast()) });
    let (low, high) = (_mm256_castsi256_si128(eights), _mm256_extracti128_si256::<1>(eights));
    let joined = _mm_or_si128(low, _mm_shuffle_epi8(high, up));
    let out: &mut [u8] = &mut out[..2 * D];
    if D >= 8 {
        // SAFETY: 16 bytes are there.
        unsafe { _mm_storeu_si128(out.as_mut_ptr().cast(), joined) };
        let rest = _mm_cvtsi128_si64(_mm_shuffle_epi8(high, down)).to_le_bytes();
        out[16..].copy_from_slice(&rest[..2 * D - 16]);
    } else {
        out[..8].copy_from_slice(&_mm_cvtsi128_si64(joined).to_le_bytes());
        out[8..].copy_from_slice(&_mm_extract_epi64::<1>(joined).to_le_bytes()[..2 * D - 8]);
    }
}

/// Sixteen integers of D bits, from 2·D bytes, times 2^(15 - D).
#[inline]
#[target_feature(enable = "avx2")]
fn unpack<const D: usize>(bytes: &[u8]) -> Vector {
    /// For each 2^`log_width` bytes of the result, the bytes from where an integer begins; the lowest of them is the `first`.
    const fn from(d: usize, log_width: usize, first: usize) -> [u8; 32] {
        let mut from = [0; 32];
        let mut i = 0;
        while i < 32 {
            let integer = first + ((i & 15) >> log_width);
            from[i] = (half_at(d)[i >> 4] + ((d * integer) >> 3) + (i & ((1 << log_width) - 1))) as u8;
            i += 1;
        }
        from
    }
    let window = halves_of::<D>(bytes);
    if D == 11 {
        // Up to 18 bits with the neighbour's: in 32.
        let four = |from: &[u8; 32], shifts: [i32; 4]| {
            let [a, b, c, d] = shifts;
            let words = _mm256_shuffle_epi8(window, constant(from));
            let words = _mm256_srlv_epi32(words, _mm256_setr_epi32(a, b, c, d, a, b, c, d));
            _mm256_and_si256(words, _mm256_set1_epi32(0x7ff))
        };
        let low = four(const { &from(D, 2, 0) }, [0, 3, 6, 1]);
        let high = four(const { &from(D, 2, 4) }, [4, 7, 2, 5]);
        return _mm256_slli_epi16::<4>(_mm256_packus_epi32(low, high));
    }
    /// What moves each integer to the upper end of its 16 bits.
    const fn up(d: usize) -> [i16; 8] {
        let mut up = [0; 8];
        let mut i = 0;
        while i < 8 {
            up[i] = (1u16 << (16 - d - ((d * i) & 7))) as i16;
            i += 1;
        }
        up
    }
    let [a, b, c, d, e, f, g, h] = const { if D == 11 { [0; 8] } else { up(D) } };
    let up = _mm256_setr_epi16(a, b, c, d, e, f, g, h, a, b, c, d, e, f, g, h);
    let words = _mm256_mullo_epi16(_mm256_shuffle_epi8(window, constant(const { &from(D, 1, 0) })), up);
    _mm256_and_si256(_mm256_srli_epi16::<1>(words), _mm256_set1_epi16(((1 << D) - 1) << (15 - D)))
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
        let x = triples(bytes);
        // Without sign, what is below zero is above all else.
        store(lanes, _mm256_min_epu16(x, _mm256_sub_epi16(x, _mm256_set1_epi16(Q))));
    }
}

#[target_feature(enable = "avx2")]
fn compress(out: &mut [u8], f: &Coefficients) {
    match out.len() >> 5 {
        1 => compress_to_bits(out, f),
        4 => compress_to::<4>(out, f),
        5 => compress_to::<5>(out, f),
        10 => compress_to::<10>(out, f),
        11 => compress_to::<11>(out, f),
        d => unreachable!("no parameter set compresses to {d} bits"),
    }
}

/// Compress_D of sixteen coefficients.
#[inline]
#[target_feature(enable = "avx2")]
fn compressed<const D: usize>(x: Vector) -> Vector {
    /// The halves of the factor, and of the offset.
    const FACTOR: [i16; 2] = [COMPRESS_FACTOR as i16, (COMPRESS_FACTOR >> 16) as i16];
    let offset = const { [compress_offset(D) as i16, (compress_offset(D) >> 16) as i16] };
    let x = canonical(x);
    // The upper half of the product and the offset, with the carry from the lower halves.
    let low = _mm256_mullo_epi16(x, _mm256_set1_epi16(FACTOR[0]));
    let carry = _mm256_cmpeq_epi16(low, _mm256_max_epu16(low, _mm256_set1_epi16(offset[0].wrapping_neg())));
    let high = _mm256_add_epi16(
        _mm256_mulhi_epu16(x, _mm256_set1_epi16(FACTOR[0])),
        _mm256_add_epi16(_mm256_mullo_epi16(x, _mm256_set1_epi16(FACTOR[1])), _mm256_set1_epi16(offset[1])),
    );
    _mm256_srl_epi16(_mm256_sub_epi16(high, carry), _mm_cvtsi64_si128(16 - D as i64))
}

#[inline]
#[target_feature(enable = "avx2")]
fn compress_to<const D: usize>(out: &mut [u8], f: &Coefficients) {
    for (out, lanes) in out.chunks_exact_mut(2 * D).zip(f.as_chunks::<16>().0) {
        pack::<D>(out, compressed::<D>(load(lanes)));
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn compress_to_bits(out: &mut [u8], f: &Coefficients) {
    for (out, [low, high]) in
        out.as_chunks_mut::<4>().0.iter_mut().zip(f.as_chunks::<16>().0.as_chunks::<2>().0)
    {
        // Bytes of 32 coefficients, in order but for the halves; their only bit to the top.
        let bytes = _mm256_packs_epi16(compressed::<1>(load(low)), compressed::<1>(load(high)));
        let bytes = _mm256_slli_epi16::<7>(_mm256_permute4x64_epi64::<0b11_01_10_00>(bytes));
        *out = _mm256_movemask_epi8(bytes).to_le_bytes();
    }
}

#[target_feature(enable = "avx2")]
fn decompress(f: &mut Coefficients, bytes: &[u8]) {
    match bytes.len() >> 5 {
        1 => decompress_bits(f, bytes),
        4 => decompress_from::<4>(f, bytes),
        5 => decompress_from::<5>(f, bytes),
        10 => decompress_from::<10>(f, bytes),
        11 => decompress_from::<11>(f, bytes),
        d => unreachable!("no parameter set compresses to {d} bits"),
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn decompress_from<const D: usize>(f: &mut Coefficients, bytes: &[u8]) {
    for (lanes, bytes) in f.as_chunks_mut::<16>().0.iter_mut().zip(bytes.chunks_exact(2 * D)) {
        // The rounding product with q over 2^15.
        store(lanes, _mm256_mulhrs_epi16(unpack::<D>(bytes), _mm256_set1_epi16(Q)));
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn decompress_bits(f: &mut Coefficients, bytes: &[u8]) {
    let bits = _mm256_setr_epi16(
        1,
        1 << 1,
        1 << 2,
        1 << 3,
        1 << 4,
        1 << 5,
        1 << 6,
        1 << 7,
        1 << 8,
        1 << 9,
        1 << 10,
        1 << 11,
        1 << 12,
        1 << 13,
        1 << 14,
        i16::MIN,
    );
    for (lanes, bytes) in f.as_chunks_mut::<16>().0.iter_mut().zip(bytes.as_chunks::<2>().0) {
        let word = _mm256_set1_epi16(i16::from_le_bytes(*bytes));
        let set = _mm256_cmpeq_epi16(_mm256_and_si256(word, bits), bits);
        store(lanes, _mm256_and_si256(set, _mm256_set1_epi16((Q + 1) >> 1)));
    }
}
