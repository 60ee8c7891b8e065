//! x86-64 with AVX-512: 32 coefficients at a time, a polynomial in eight registers, in the bounds of `portable`.

#![allow(unsafe_code)] // Loads, stores, and the table that is handed out only where AVX-512 is.

use core::arch::x86_64::*;

use super::Kernels;
use super::portable::{
    COMPRESS_FACTOR, Factor, Q_INVERSE, R_SQUARED, RECIPROCAL, ZETAS, compress_offset, power,
};
use crate::cpu::Level;
use crate::mlkem::poly::{Coefficients, Ntt, Q};

// SAFETY: `active` hands this table out only after the CPU reported AVX-512 F, BW, VBMI and VBMI2, and POPCNT.
pub(super) static AVX512: Kernels = unsafe { table() };

#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,popcnt")]
const fn table() -> Kernels {
    Kernels {
        level: Level::Avx512,
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

type Vector = __m512i;

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn load(lanes: &[i16; 32]) -> Vector {
    // SAFETY: 64 bytes are there.
    unsafe { _mm512_loadu_si512(lanes.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn store(lanes: &mut [i16; 32], value: Vector) {
    // SAFETY: 64 bytes are there.
    unsafe { _mm512_storeu_si512(lanes.as_mut_ptr().cast(), value) };
}

/// A whole polynomial.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn load_all(f: &Coefficients) -> [Vector; 8] {
    let lanes = f.as_chunks::<32>().0;
    [0, 1, 2, 3, 4, 5, 6, 7].map(|i: usize| load(&lanes[i]))
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn store_all(f: &mut Coefficients, values: [Vector; 8]) {
    for (lanes, value) in f.as_chunks_mut::<32>().0.iter_mut().zip(values) {
        store(lanes, value);
    }
}

/// Applies `op` to every vector.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn each(f: &mut Coefficients, op: impl Fn(Vector) -> Vector) {
    for lanes in f.as_chunks_mut::<32>().0 {
        let value = op(load(lanes));
        store(lanes, value);
    }
}

/// A factor in each lane.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Factors {
    value: [i16; 32],
    twisted: [i16; 32],
}

impl Factors {
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    fn times(&self, x: Vector) -> Vector {
        times(x, load(&self.value), load(&self.twisted))
    }
}

/// w·x modulo q, |result| < q, for any x.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn times(x: Vector, value: Vector, twisted: Vector) -> Vector {
    let quotient = _mm512_mullo_epi16(x, twisted);
    _mm512_sub_epi16(_mm512_mulhi_epi16(x, value), _mm512_mulhi_epi16(quotient, _mm512_set1_epi16(Q)))
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn times_factor(x: Vector, factor: Factor) -> Vector {
    times(x, _mm512_set1_epi16(factor.value), _mm512_set1_epi16(factor.twisted))
}

/// The residue of absolute value at most (q + 1)/2, for any x.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn reduce(x: Vector) -> Vector {
    // The rounding shift by 10: a product with 2^5, of which the upper half is taken, rounded.
    let quotient =
        _mm512_mulhrs_epi16(_mm512_mulhi_epi16(x, _mm512_set1_epi16(RECIPROCAL)), _mm512_set1_epi16(1 << 5));
    _mm512_sub_epi16(x, _mm512_mullo_epi16(quotient, _mm512_set1_epi16(Q)))
}

/// The residue in \[0, q), for any x.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn canonical(x: Vector) -> Vector {
    // Without sign, what is below zero is above all else.
    let x = reduce(x);
    _mm512_min_epu16(x, _mm512_add_epi16(x, _mm512_set1_epi16(Q)))
}

#[target_feature(enable = "avx512f,avx512bw")]
fn add(a: &mut Coefficients, b: &Coefficients) {
    for (a, b) in a.as_chunks_mut::<32>().0.iter_mut().zip(b.as_chunks::<32>().0) {
        let sum = _mm512_add_epi16(load(a), load(b));
        store(a, sum);
    }
}

#[target_feature(enable = "avx512f,avx512bw")]
fn subtract_from(a: &mut Coefficients, b: &Coefficients) {
    for (a, b) in a.as_chunks_mut::<32>().0.iter_mut().zip(b.as_chunks::<32>().0) {
        let difference = _mm512_sub_epi16(load(b), load(a));
        store(a, difference);
    }
}

#[target_feature(enable = "avx512f,avx512bw")]
fn reduce_all(f: &mut Coefficients) {
    each(f, |x| reduce(x));
}

#[target_feature(enable = "avx512f,avx512bw")]
fn scale(f: &mut Coefficients) {
    const FACTOR: Factor = Factor { value: R_SQUARED, twisted: R_SQUARED.wrapping_mul(Q_INVERSE) };
    each(f, |x| times_factor(x, FACTOR));
}

/// Which coefficients of 64 the lanes of two registers hold.
type Places = [usize; 64];

/// As they stand in memory.
const IN_ORDER: Places = {
    let mut places = [0; 64];
    let mut i = 0;
    while i < 64 {
        places[i] = i;
        i += 1;
    }
    places
};

/// The even blocks of `len` lanes to the first register, the odd ones to the second.
const fn split(places: &Places, len: usize) -> Places {
    let mut after = [0; 64];
    let mut lane = 0;
    while lane < 32 {
        let from = 2 * (lane & !(len - 1)) + (lane & (len - 1));
        after[lane] = places[from];
        after[lane + 32] = places[from + len];
        lane += 1;
    }
    after
}

/// The places in the layers of length 16, 8, 4 and 2, where the partners of a butterfly share a lane.
const SIXTEEN: Places = split(&IN_ORDER, 16);
const EIGHT: Places = split(&SIXTEEN, 8);
const FOUR: Places = split(&EIGHT, 4);
const TWO: Places = split(&FOUR, 2);

/// Brings lanes from one arrangement to another, by pairs of coefficients.
struct Move {
    first: [i32; 16],
    second: [i32; 16],
}

impl Move {
    const fn new(from: &Places, to: &Places) -> Self {
        let mut sources = [[0; 16]; 2];
        let mut lane = 0;
        while lane < 64 {
            let mut source = 0;
            while from[source] != to[lane] {
                source += 1;
            }
            sources[lane >> 5][(lane & 31) >> 1] = source as i32 >> 1;
            lane += 2;
        }
        Self { first: sources[0], second: sources[1] }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    fn apply(&self, [a, b]: [Vector; 2]) -> [Vector; 2] {
        // SAFETY: 64 bytes are there.
        let [first, second] =
            [&self.first, &self.second].map(|lanes| unsafe { _mm512_loadu_si512(lanes.as_ptr().cast()) });
        [_mm512_permutex2var_epi32(a, first, b), _mm512_permutex2var_epi32(a, second, b)]
    }
}

/// The factors of the four last layers for one pair of registers.
struct Inner {
    sixteen: Factors,
    eight: Factors,
    four: Factors,
    two: Factors,
}

const fn inner(pair: usize, inverse: bool) -> Inner {
    Inner {
        sixteen: layer(&SIXTEEN, 16, pair, inverse),
        eight: layer(&EIGHT, 8, pair, inverse),
        four: layer(&FOUR, 4, pair, inverse),
        two: layer(&TWO, 2, pair, inverse),
    }
}

/// The factor of each butterfly of the layer of length `len`; the inverse transform takes them from the last to the first.
const fn layer(places: &Places, len: usize, pair: usize, inverse: bool) -> Factors {
    let mut factors = Factors { value: [0; 32], twisted: [0; 32] };
    let blocks = 128 >> len.trailing_zeros();
    let mut lane = 0;
    while lane < 32 {
        let block = (64 * pair + places[lane]) >> (1 + len.trailing_zeros());
        let zeta = ZETAS[if inverse { 2 * blocks - 1 - block } else { blocks + block }];
        factors.value[lane] = zeta.value;
        factors.twisted[lane] = zeta.twisted;
        lane += 1;
    }
    factors
}

static INNER: [Inner; 4] = [inner(0, false), inner(1, false), inner(2, false), inner(3, false)];
static INVERSE_INNER: [Inner; 4] = [inner(0, true), inner(1, true), inner(2, true), inner(3, true)];

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn forward([a, b]: [Vector; 2], times: impl Fn(Vector) -> Vector) -> [Vector; 2] {
    let t = times(b);
    [_mm512_add_epi16(a, t), _mm512_sub_epi16(a, t)]
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn backward([a, b]: [Vector; 2], times: impl Fn(Vector) -> Vector) -> [Vector; 2] {
    [_mm512_add_epi16(a, b), times(_mm512_sub_epi16(b, a))]
}

/// The registers that the butterflies of the layers of length 128, 64 and 32 join.
const OUTER: [[[usize; 2]; 4]; 3] =
    [[[0, 4], [1, 5], [2, 6], [3, 7]], [[0, 2], [1, 3], [4, 6], [5, 7]], [[0, 1], [2, 3], [4, 5], [6, 7]]];

/// Applies `op` to each pair of registers and its number. Written out: a loop would keep them in memory.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn pairs(v: &mut [Vector; 8], op: impl Fn(usize, [Vector; 2]) -> [Vector; 2]) {
    let [v0, v1, v2, v3, v4, v5, v6, v7] = v;
    [*v0, *v1] = op(0, [*v0, *v1]);
    [*v2, *v3] = op(1, [*v2, *v3]);
    [*v4, *v5] = op(2, [*v4, *v5]);
    [*v6, *v7] = op(3, [*v6, *v7]);
}

#[target_feature(enable = "avx512f,avx512bw")]
fn ntt(f: &mut Coefficients) {
    debug_assert!(f.iter().all(|x| x.abs() <= Q));
    let mut v = load_all(f);
    for (layer, joined) in OUTER.iter().enumerate() {
        for (n, &[i, j]) in joined.iter().enumerate() {
            let zeta = ZETAS[(1 << layer) + (n >> (2 - layer))];
            [v[i], v[j]] = forward([v[i], v[j]], |x| times_factor(x, zeta));
        }
    }
    pairs(&mut v, |_, pair| const { Move::new(&IN_ORDER, &SIXTEEN) }.apply(pair));
    pairs(&mut v, |n, pair| forward(pair, |x| INNER[n].sixteen.times(x)));
    pairs(&mut v, |_, pair| const { Move::new(&SIXTEEN, &EIGHT) }.apply(pair));
    pairs(&mut v, |n, pair| forward(pair, |x| INNER[n].eight.times(x)));
    pairs(&mut v, |_, pair| const { Move::new(&EIGHT, &FOUR) }.apply(pair));
    pairs(&mut v, |n, pair| forward(pair, |x| INNER[n].four.times(x)));
    pairs(&mut v, |_, pair| const { Move::new(&FOUR, &TWO) }.apply(pair));
    pairs(&mut v, |n, pair| forward(pair, |x| INNER[n].two.times(x)).map(|x| reduce(x)));
    pairs(&mut v, |_, pair| const { Move::new(&TWO, &IN_ORDER) }.apply(pair));
    store_all(f, v);
}

#[target_feature(enable = "avx512f,avx512bw")]
fn inverse_ntt(f: &mut Coefficients) {
    debug_assert!(f.iter().all(|x| i32::from(x.abs()) <= 8 * i32::from(Q)));
    let mut v = load_all(f);
    // Pair after pair: layer after layer costs 60 ns in place of 52.
    pairs(&mut v, |n, pair| {
        let factors = &INVERSE_INNER[n];
        let pair = const { Move::new(&IN_ORDER, &TWO) }.apply(pair.map(|x| reduce(x)));
        let pair = backward(pair, |x| factors.two.times(x));
        let pair = const { Move::new(&TWO, &FOUR) }.apply(pair);
        let pair = backward(pair, |x| factors.four.times(x));
        let pair = const { Move::new(&FOUR, &EIGHT) }.apply(pair);
        // The sums grow to 4q + 8; the products of at most that are below 2003, and sixteen of those below 2^15.
        let [a, b] = backward(pair, |x| factors.eight.times(x));
        let pair = const { Move::new(&EIGHT, &SIXTEEN) }.apply([reduce(a), b]);
        let pair = backward(pair, |x| factors.sixteen.times(x));
        const { Move::new(&SIXTEEN, &IN_ORDER) }.apply(pair)
    });
    for layer in [2, 1] {
        for (n, &[i, j]) in OUTER[layer].iter().enumerate() {
            let zeta = ZETAS[(2 << layer) - 1 - (n >> (2 - layer))];
            [v[i], v[j]] = backward([v[i], v[j]], |x| times_factor(x, zeta));
        }
    }
    // 128^-1, times R, and in the last layer with its factor in one.
    const LAST: Factor = Factor::new(3303 * (1 << 16));
    const LAST_ZETA: Factor = Factor::new(3303 * (1 << 16) * power(17, 64));
    for [i, j] in OUTER[0] {
        let [a, b] = backward([v[i], v[j]], |x| times_factor(x, LAST_ZETA));
        [v[i], v[j]] = [times_factor(a, LAST), b];
    }
    store_all(f, v);
}

/// For sixteen products: 1 where the even coefficient stands, ±ζ of the last layer where the odd one does.
const fn product_factors(v: usize) -> Factors {
    let one = Factor::new(1);
    let mut factors = Factors { value: [one.value; 32], twisted: [one.twisted; 32] };
    let mut pair = 0;
    while pair < 16 {
        let zeta = ZETAS[64 + 8 * v + (pair >> 1)];
        let sign = if pair & 1 == 0 { 1 } else { -1 };
        factors.value[2 * pair + 1] = sign * zeta.value;
        factors.twisted[2 * pair + 1] = zeta.twisted.wrapping_mul(sign);
        pair += 1;
    }
    factors
}

static PRODUCT_FACTORS: [Factors; 8] = [
    product_factors(0),
    product_factors(1),
    product_factors(2),
    product_factors(3),
    product_factors(4),
    product_factors(5),
    product_factors(6),
    product_factors(7),
];

/// What [`products`] take of b: b0 and ζ·b1, below q, and b1 and b0.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn twist(b: Vector, factors: &Factors) -> [Vector; 2] {
    [factors.times(b), _mm512_rol_epi32::<16>(b)]
}

/// Sixteen products in 32 bits: a0·b0 + a1·ζ·b1 and a0·b1 + a1·b0.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn products(a: Vector, [even, odd]: [Vector; 2]) -> [Vector; 2] {
    [_mm512_madd_epi16(a, even), _mm512_madd_epi16(a, odd)]
}

/// The Montgomery reductions of sums of [`products`], side by side: |x|/R + q/2.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn montgomery([even, odd]: [Vector; 2]) -> Vector {
    const ODD: __mmask32 = 0xaaaa_aaaa;
    let low = _mm512_mask_blend_epi16(ODD, even, _mm512_slli_epi32::<16>(odd));
    let high = _mm512_mask_blend_epi16(ODD, _mm512_srli_epi32::<16>(even), odd);
    let quotient = _mm512_mullo_epi16(low, _mm512_set1_epi16(Q_INVERSE));
    _mm512_sub_epi16(high, _mm512_mulhi_epi16(quotient, _mm512_set1_epi16(Q)))
}

#[target_feature(enable = "avx512f,avx512bw")]
fn multiply_add(sum: &mut Coefficients, a: &Coefficients, b: &Coefficients) {
    debug_assert!(a.iter().all(|x| i32::from(x.abs()) <= 8 * i32::from(Q)));
    debug_assert!(b.iter().all(|x| x.abs() <= Q));
    let vectors = a.as_chunks::<32>().0.iter().zip(b.as_chunks::<32>().0);
    for ((sum, (a, b)), factors) in sum.as_chunks_mut::<32>().0.iter_mut().zip(vectors).zip(&PRODUCT_FACTORS)
    {
        // The products are at most 16q² in absolute value: what is added is below 16q²/R + q/2 < 2q.
        let product = montgomery(products(load(a), twist(load(b), factors)));
        store(sum, _mm512_add_epi16(load(sum), product));
    }
}

#[target_feature(enable = "avx512f,avx512bw")]
fn inner_product(sum: &mut Coefficients, a: &[Ntt], stride: usize, b: &[Ntt]) {
    debug_assert!(a.iter().chain(b).all(|f| f.0.0.iter().all(|x| x.abs() <= Q)) && b.len() <= 4);
    for (v, (sum, factors)) in sum.as_chunks_mut::<32>().0.iter_mut().zip(&PRODUCT_FACTORS).enumerate() {
        let mut total = [_mm512_setzero_si512(); 2];
        for (a, b) in a.iter().step_by(stride).zip(b) {
            let [a, b] = [a, b].map(|f| load(&f.0.0.as_chunks().0[v]));
            let [even, odd] = products(a, twist(b, factors));
            total = [_mm512_add_epi32(total[0], even), _mm512_add_epi32(total[1], odd)];
        }
        // At most four times 2q²: what is added is below 8q²/R + q/2 < q.
        store(sum, _mm512_add_epi16(load(sum), montgomery(total)));
    }
}

#[target_feature(enable = "avx512f,avx512bw")]
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
#[target_feature(enable = "avx512f,avx512bw")]
fn encryption_products_of<const K: usize>(v: &mut Coefficients, y: &mut [Ntt], elements: &[Ntt]) {
    let (a, t) = elements.split_at(K * K);
    let rows: &[[Ntt; K]; K] = a.as_chunks().0.try_into().expect("k rows");
    let t: &[Ntt; K] = t.try_into().expect("k elements");
    let y: &mut [Ntt; K] = y.try_into().expect("k elements");
    for (at, (v, factors)) in v.as_chunks_mut::<32>().0.iter_mut().zip(&PRODUCT_FACTORS).enumerate() {
        let twisted = y.each_ref().map(|y| twist(load(&y.0.0.as_chunks().0[at]), factors));
        // At most four times 2q²: the results are below 8q²/R + q/2 < q.
        let inner = |a: [&Ntt; K]| {
            let mut total = [_mm512_setzero_si512(); 2];
            for (a, twisted) in a.into_iter().zip(twisted) {
                let [even, odd] = products(load(&a.0.0.as_chunks().0[at]), twisted);
                total = [_mm512_add_epi32(total[0], even), _mm512_add_epi32(total[1], odd)];
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

/// The first sixteen triples of bytes as 32 integers of 12 bits; zeros, where fewer are there.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn triples(bytes: &[u8]) -> Vector {
    /// Bytes 3i, 3i + 1 and 3i + 1, 3i + 2, the latter to be shifted by four.
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
    let window = if let Some(bytes) = bytes.first_chunk::<64>() {
        // SAFETY: 64 bytes are there.
        unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
    } else {
        // SAFETY: the mask loads the bytes that are there, fewer than 64.
        unsafe { _mm512_maskz_loadu_epi8((1 << bytes.len()) - 1, bytes.as_ptr().cast()) }
    };
    let words = _mm512_permutexvar_epi8(pairs, window);
    // Every second word has four bits of its neighbour below.
    let words = _mm512_mask_srli_epi16::<4>(words, 0xaaaa_aaaa, words);
    _mm512_and_si512(words, _mm512_set1_epi16(0xfff))
}

#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,popcnt")]
fn reject_vartime(out: &mut [i16], bytes: &[u8]) -> usize {
    let mut n = 0;
    let mut rest = bytes;
    while let Some((_, behind)) = rest.split_at_checked(48) {
        n += accept_vartime(&mut out[n..], triples(rest), u32::MAX);
        rest = behind;
    }
    // The candidates of the whole triples that are left.
    let there = (1 << (2 * ((rest.len() * 171) >> 9))) - 1;
    n + accept_vartime(&mut out[n..], triples(rest), there)
}

/// Writes those of the candidates that are `there` and below q, as many as there is room for; returns their number.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,popcnt")]
fn accept_vartime(out: &mut [i16], candidates: Vector, there: u32) -> usize {
    let accepted = _mm512_mask_cmplt_epi16_mask(there, candidates, _mm512_set1_epi16(Q));
    let compressed = _mm512_maskz_compress_epi16(accepted, candidates);
    let accepted = accepted.count_ones() as usize;
    if let Some(place) = out.first_chunk_mut() {
        // What stands behind the accepted ones is overwritten next.
        store(place, compressed);
        accepted
    } else {
        let room = out.len();
        // SAFETY: the mask stores what there is room for, fewer than 32.
        unsafe { _mm512_mask_storeu_epi16(out.as_mut_ptr(), (1 << room) - 1, compressed) };
        accepted.min(room)
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn is_reduced(bytes: &[u8; 384]) -> bool {
    let mut largest = _mm512_setzero_si512();
    for at in 0..8 {
        largest = _mm512_max_epi16(largest, triples(&bytes[48 * at..]));
    }
    _mm512_cmplt_epi16_mask(largest, _mm512_set1_epi16(Q)) == u32::MAX
}

#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn decode(f: &mut Coefficients, bytes: &[u8; 384]) {
    for (v, lanes) in f.as_chunks_mut::<32>().0.iter_mut().enumerate() {
        let x = triples(&bytes[48 * v..]);
        // Without sign, what is below zero is above all else.
        store(lanes, _mm512_min_epu16(x, _mm512_sub_epi16(x, _mm512_set1_epi16(Q))));
    }
}

/// 32 integers of D bits, from 4·D bytes.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn unpack<const D: usize>(bytes: &[u8]) -> Vector {
    /// For each 64 bits of the result, eight bytes from where its four integers begin, at a bit that is 0 or 4.
    const fn from(d: usize) -> [u8; 64] {
        let mut from = [0; 64];
        let mut i = 0;
        while i < 64 {
            from[i] = (((4 * d * (i >> 3)) >> 3) + (i & 7)) as u8;
            i += 1;
        }
        from
    }
    /// The bit of those 64 at which each byte of the result begins.
    const fn bits(d: usize) -> [u8; 64] {
        let mut bits = [0; 64];
        let mut i = 0;
        while i < 64 {
            let first = (4 * d * (i >> 3)) & 7;
            bits[i] = (first + d * ((i & 7) >> 1) + 8 * (i & 1)) as u8;
            i += 1;
        }
        bits
    }
    let [from, bits] = const { [from(D), bits(D)] };
    // SAFETY: 64 bytes are there, twice.
    let [from, bits] = [from, bits].map(|index| unsafe { _mm512_loadu_si512(index.as_ptr().cast()) });
    let window: &[u8] = &bytes[..4 * D];
    // SAFETY: the mask loads the bytes that are there, fewer than 64.
    let window = unsafe { _mm512_maskz_loadu_epi8((1 << (4 * D)) - 1, window.as_ptr().cast()) };
    let fours = _mm512_permutexvar_epi8(from, window);
    _mm512_and_si512(_mm512_multishift_epi64_epi8(bits, fours), _mm512_set1_epi16((1 << D) - 1))
}

/// 32 integers of D bits, to the first 4·D bytes; if there are 64, it overwrites as many.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn pack<const D: usize>(out: &mut [u8], values: Vector) {
    /// The first D bytes of each 128 bits.
    const fn used(d: usize) -> [u8; 64] {
        let mut used = [0; 64];
        let mut i = 0;
        while i < 4 * d {
            let mut quarter = 0;
            while d * (quarter + 1) <= i {
                quarter += 1;
            }
            used[i] = (16 * quarter + i - d * quarter) as u8;
            i += 1;
        }
        used
    }
    let used = const { used(D) };
    // SAFETY: 64 bytes are there.
    let used = unsafe { _mm512_loadu_si512(used.as_ptr().cast()) };
    // Two in 32 bits, then four in 64, then eight in 128.
    let twos = _mm512_madd_epi16(values, _mm512_set1_epi32(1 | 1 << (16 + D)));
    let up = _mm512_sllv_epi32(twos, _mm512_set1_epi64(32 - 2 * D as i64));
    let fours = _mm512_srlv_epi64(up, _mm512_set1_epi64(32 - 2 * D as i64));
    // Shifts by 64 and more give zero.
    let (d, zero) = (4 * D as i64, 64);
    let low = _mm512_sllv_epi64(
        _mm512_bsrli_epi128::<8>(fours),
        _mm512_set_epi64(zero, d, zero, d, zero, d, zero, d),
    );
    let high = _mm512_srlv_epi64(fours, _mm512_set_epi64(64 - d, 0, 64 - d, 0, 64 - d, 0, 64 - d, 0));
    let eights = _mm512_or_si512(low, high);
    let bytes = _mm512_permutexvar_epi8(used, eights);
    if let Some(place) = out.first_chunk_mut::<64>() {
        // SAFETY: 64 bytes are there; those behind the first 4·D are overwritten next.
        unsafe { _mm512_storeu_si512(place.as_mut_ptr().cast(), bytes) };
    } else {
        let out: &mut [u8] = &mut out[..4 * D];
        // SAFETY: the mask stores the bytes that are there, fewer than 64.
        unsafe { _mm512_mask_storeu_epi8(out.as_mut_ptr().cast(), (1 << (4 * D)) - 1, bytes) };
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn noise2(f: &mut Coefficients, bytes: &[u8; 128]) {
    noise::<4>(f, bytes);
}

#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn noise3(f: &mut Coefficients, bytes: &[u8; 192]) {
    noise::<6>(f, bytes);
}

/// BITS = 2η bits a coefficient, looked up in a register.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn noise<const BITS: usize>(f: &mut Coefficients, bytes: &[u8]) {
    /// The sum of the lower half of the bits, less that of the upper half, plus η.
    const fn differences(bits: u32) -> [u8; 64] {
        let mut differences = [0; 64];
        let mut i = 0u32;
        while i < 1 << bits {
            let eta = bits >> 1;
            let (low, high) = (i & ((1 << eta) - 1), i >> eta);
            differences[i as usize] = (low.count_ones() + eta - high.count_ones()) as u8;
            i += 1;
        }
        differences
    }
    let differences = const { differences(BITS as u32) };
    // SAFETY: 64 bytes are there.
    let differences = unsafe { _mm512_loadu_si512(differences.as_ptr().cast()) };
    for (lanes, bytes) in f.as_chunks_mut::<32>().0.iter_mut().zip(bytes.chunks_exact(4 * BITS)) {
        let bits = unpack::<BITS>(bytes);
        let x = _mm512_maskz_permutexvar_epi8(0x5555_5555_5555_5555, bits, differences);
        store(lanes, _mm512_sub_epi16(x, _mm512_set1_epi16((BITS >> 1) as i16)));
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn encode(out: &mut [u8; 384], f: &Coefficients) {
    for (v, lanes) in f.as_chunks::<32>().0.iter().enumerate() {
        pack::<12>(&mut out[48 * v..], canonical(load(lanes)));
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn compress(out: &mut [u8], f: &Coefficients) {
    match out.len() >> 5 {
        1 => compress_to::<1>(out, f),
        4 => compress_to::<4>(out, f),
        5 => compress_to::<5>(out, f),
        10 => compress_to::<10>(out, f),
        11 => compress_to::<11>(out, f),
        d => unreachable!("no parameter set compresses to {d} bits"),
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn compress_to<const D: usize>(out: &mut [u8], f: &Coefficients) {
    /// The halves of the factor, and of the offset.
    const FACTOR: [i16; 2] = [COMPRESS_FACTOR as i16, (COMPRESS_FACTOR >> 16) as i16];
    let offset = const { [compress_offset(D) as i16, (compress_offset(D) >> 16) as i16] };
    for (v, lanes) in f.as_chunks::<32>().0.iter().enumerate() {
        let x = canonical(load(lanes));
        // The upper half of the product and the offset, with the carry from the lower halves.
        let low = _mm512_mullo_epi16(x, _mm512_set1_epi16(FACTOR[0]));
        let carry = _mm512_cmpge_epu16_mask(low, _mm512_set1_epi16(offset[0].wrapping_neg()));
        let high = _mm512_add_epi16(
            _mm512_mulhi_epu16(x, _mm512_set1_epi16(FACTOR[0])),
            _mm512_add_epi16(
                _mm512_mullo_epi16(x, _mm512_set1_epi16(FACTOR[1])),
                _mm512_set1_epi16(offset[1]),
            ),
        );
        let rounded = _mm512_mask_add_epi16(high, carry, high, _mm512_set1_epi16(1));
        pack::<D>(&mut out[4 * D * v..], _mm512_srlv_epi16(rounded, _mm512_set1_epi16(16 - D as i16)));
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn decompress(f: &mut Coefficients, bytes: &[u8]) {
    match bytes.len() >> 5 {
        1 => decompress_from::<1>(f, bytes),
        4 => decompress_from::<4>(f, bytes),
        5 => decompress_from::<5>(f, bytes),
        10 => decompress_from::<10>(f, bytes),
        11 => decompress_from::<11>(f, bytes),
        d => unreachable!("no parameter set compresses to {d} bits"),
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn decompress_from<const D: usize>(f: &mut Coefficients, bytes: &[u8]) {
    for (lanes, bytes) in f.as_chunks_mut::<32>().0.iter_mut().zip(bytes.chunks_exact(4 * D)) {
        // The rounding product with q over 2^15.
        let y = _mm512_sllv_epi16(unpack::<D>(bytes), _mm512_set1_epi16(15 - D as i16));
        store(lanes, _mm512_mulhrs_epi16(y, _mm512_set1_epi16(Q)));
    }
}
