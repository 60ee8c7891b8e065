//! aarch64 with Advanced SIMD: eight coefficients at a time, in the bounds of `portable`.
//!
//! Products with constants are Barrett products: the multiple of q to take away comes from the rounding product with
//! w·2^15/q, known before, and no factor 2^-16 is left. Products of two polynomials are Montgomery products.

#![allow(unsafe_code)] // Loads, stores, and the table that is handed out only where Advanced SIMD is.

use core::arch::aarch64::*;

use super::Kernels;
use super::barrett::{ACCEPTED, BLOCKS, Factor, Factors, INVERSE_BLOCKS, first_layers};
use super::portable::{PORTABLE, Q_INVERSE, RECIPROCAL};
use crate::cpu::Level;
use crate::mlkem::poly::{Coefficients, Ntt, Q};

// SAFETY: this module exists only where Advanced SIMD is part of the target.
pub(super) static NEON: Kernels = unsafe { table() };

#[target_feature(enable = "neon")]
const fn table() -> Kernels {
    Kernels {
        level: Level::Neon,
        ntt,
        inverse_ntt,
        multiply_add,
        inner_product,
        encryption_products: None,
        scale,
        reduce: reduce_all,
        reject_vartime,
        noise2,
        noise3,
        encode,
        decode,
        is_reduced,
        compress,
        decompress,
        // Sums and differences are what compilers turn into vectors themselves.
        ..PORTABLE
    }
}

type Vector = int16x8_t;

#[inline]
#[target_feature(enable = "neon")]
fn load(lanes: &[i16; 8]) -> Vector {
    // SAFETY: 16 bytes are there.
    unsafe { vld1q_s16(lanes.as_ptr()) }
}

#[inline]
#[target_feature(enable = "neon")]
fn store(lanes: &mut [i16; 8], value: Vector) {
    // SAFETY: 16 bytes are there.
    unsafe { vst1q_s16(lanes.as_mut_ptr(), value) };
}

/// The coefficients of even and those of odd places.
#[inline]
#[target_feature(enable = "neon")]
fn load_pairs(lanes: &[i16; 16]) -> int16x8x2_t {
    // SAFETY: 32 bytes are there.
    unsafe { vld2q_s16(lanes.as_ptr()) }
}

#[inline]
#[target_feature(enable = "neon")]
fn store_pairs(lanes: &mut [i16; 16], even: Vector, odd: Vector) {
    // SAFETY: 32 bytes are there.
    unsafe { vst2q_s16(lanes.as_mut_ptr(), int16x8x2_t(even, odd)) };
}

#[inline]
#[target_feature(enable = "neon")]
fn load_bytes(bytes: &[u8; 16]) -> uint8x16_t {
    // SAFETY: 16 bytes are there.
    unsafe { vld1q_u8(bytes.as_ptr()) }
}

#[inline]
#[target_feature(enable = "neon")]
fn load_half(bytes: &[u8; 8]) -> uint8x8_t {
    // SAFETY: 8 bytes are there.
    unsafe { vld1_u8(bytes.as_ptr()) }
}

/// Applies `op` to every vector.
#[inline]
#[target_feature(enable = "neon")]
fn each(f: &mut Coefficients, op: impl Fn(Vector) -> Vector) {
    for lanes in f.as_chunks_mut::<8>().0 {
        let value = op(load(lanes));
        store(lanes, value);
    }
}

impl Factor {
    #[inline]
    #[target_feature(enable = "neon")]
    fn times(self, x: Vector) -> Vector {
        times(x, vdupq_n_s16(self.0), vdupq_n_s16(self.1))
    }
}

impl Factors {
    #[inline]
    #[target_feature(enable = "neon")]
    fn times(&self, x: Vector) -> Vector {
        times(x, load(&self.0), load(&self.1))
    }
}

/// w·x modulo q, |result| < q·(1/2 + |x|/2^16), for any x: a quotient that is wrong by less than 1/2 + |x|/2^16.
#[inline]
#[target_feature(enable = "neon")]
fn times(x: Vector, w: Vector, w_over_q: Vector) -> Vector {
    vmlsq_s16(vmulq_s16(x, w), vqrdmulhq_s16(x, w_over_q), vdupq_n_s16(Q))
}

/// The residue of absolute value at most (q + 1)/2, for any x.
#[inline]
#[target_feature(enable = "neon")]
fn reduce(x: Vector) -> Vector {
    // The upper half of the doubled product: one place more than in `portable`.
    let quotient = vrshrq_n_s16::<11>(vqdmulhq_s16(x, vdupq_n_s16(RECIPROCAL)));
    vmlsq_s16(x, quotient, vdupq_n_s16(Q))
}

/// The residue in \[0, q), for any x.
#[inline]
#[target_feature(enable = "neon")]
fn canonical(x: Vector) -> Vector {
    let x = reduce(x);
    vmlsq_s16(x, vshrq_n_s16::<15>(x), vdupq_n_s16(Q))
}

#[target_feature(enable = "neon")]
fn reduce_all(f: &mut Coefficients) {
    each(f, |x| reduce(x));
}

#[target_feature(enable = "neon")]
fn scale(f: &mut Coefficients) {
    const FACTOR: Factor = Factor::new(1 << 16);
    each(f, |x| FACTOR.times(x));
}

#[inline]
#[target_feature(enable = "neon")]
fn forward(v: &mut [Vector], a: usize, b: usize, zeta: Factor) {
    let t = zeta.times(v[b]);
    (v[a], v[b]) = (vaddq_s16(v[a], t), vsubq_s16(v[a], t));
}

#[inline]
#[target_feature(enable = "neon")]
fn backward(v: &mut [Vector], a: usize, b: usize, zeta: Factor) {
    let difference = vsubq_s16(v[b], v[a]);
    (v[a], v[b]) = (vaddq_s16(v[a], v[b]), zeta.times(difference));
}

/// The lower halves of two vectors, and the upper ones; its own inverse.
#[inline]
#[target_feature(enable = "neon")]
fn halves(a: Vector, b: Vector) -> (Vector, Vector) {
    let (a, b) = (vreinterpretq_s64_s16(a), vreinterpretq_s64_s16(b));
    (vreinterpretq_s16_s64(vtrn1q_s64(a, b)), vreinterpretq_s16_s64(vtrn2q_s64(a, b)))
}

/// The pairs of even places, and those of odd places; its own inverse.
#[inline]
#[target_feature(enable = "neon")]
fn pairs(a: Vector, b: Vector) -> (Vector, Vector) {
    let (a, b) = (vreinterpretq_s32_s16(a), vreinterpretq_s32_s16(b));
    (vreinterpretq_s16_s32(vtrn1q_s32(a, b)), vreinterpretq_s16_s32(vtrn2q_s32(a, b)))
}

/// Each layer adds less than q to the bound: 8q < 2^15 after the seventh.
#[target_feature(enable = "neon")]
fn ntt(f: &mut Coefficients) {
    const FIRST: [Factor; 7] = first_layers(false);
    debug_assert!(f.iter().all(|x| x.abs() <= Q));
    let vectors = f.as_chunks_mut::<8>().0;
    for column in 0..4 {
        let mut v: [Vector; 8] = core::array::from_fn(|i| load(&vectors[4 * i + column]));
        for i in 0..4 {
            forward(&mut v, i, i + 4, FIRST[0]);
        }
        for i in [0, 1, 4, 5] {
            forward(&mut v, i, i + 2, FIRST[1 + (i >> 2)]);
        }
        for i in [0, 2, 4, 6] {
            forward(&mut v, i, i + 1, FIRST[3 + (i >> 1)]);
        }
        for (i, v) in v.into_iter().enumerate() {
            store(&mut vectors[4 * i + column], v);
        }
    }
    for (lanes, block) in vectors.as_chunks_mut::<4>().0.iter_mut().zip(&BLOCKS) {
        let mut v: [Vector; 4] = core::array::from_fn(|i| load(&lanes[i]));
        forward(&mut v, 0, 2, block.sixteen);
        forward(&mut v, 1, 3, block.sixteen);
        for (i, [low, high]) in lanes.as_chunks_mut::<2>().0.iter_mut().enumerate() {
            forward(&mut v, 2 * i, 2 * i + 1, block.eight[i]);
            let (a, b) = halves(v[2 * i], v[2 * i + 1]);
            let t = block.four[i].times(b);
            let (a, b) = pairs(vaddq_s16(a, t), vsubq_s16(a, t));
            let t = block.two[i].times(b);
            let (a, b) = pairs(reduce(vaddq_s16(a, t)), reduce(vsubq_s16(a, t)));
            let (a, b) = halves(a, b);
            store(low, a);
            store(high, b);
        }
    }
}

/// The sums double: from q/2 + 1 to 8q + 16 after four layers, and again from the reduction, or from a product, to 8q.
#[target_feature(enable = "neon")]
fn inverse_ntt(f: &mut Coefficients) {
    const FIRST: [Factor; 7] = first_layers(true);
    // 128^-1, times 2^16, and the same times the last ζ.
    const LAST: Factor = Factor::new(3303 << 16);
    const LAST_ZETA: Factor = Factor::new((3303 << 16) * FIRST[0].0 as i64);
    const { assert!(8 * Q + 16 < i16::MAX) };
    debug_assert!(f.iter().all(|x| i32::from(x.abs()) <= 8 * i32::from(Q)));
    let vectors = f.as_chunks_mut::<8>().0;
    for (lanes, block) in vectors.as_chunks_mut::<4>().0.iter_mut().zip(&INVERSE_BLOCKS) {
        let mut v: [Vector; 4] = core::array::from_fn(|i| reduce(load(&lanes[i])));
        for (i, pair) in v.as_chunks_mut::<2>().0.iter_mut().enumerate() {
            let (a, b) = halves(pair[0], pair[1]);
            let (a, b) = pairs(a, b);
            let (a, b) = pairs(vaddq_s16(a, b), block.two[i].times(vsubq_s16(b, a)));
            (pair[0], pair[1]) = halves(vaddq_s16(a, b), block.four[i].times(vsubq_s16(b, a)));
            backward(pair, 0, 1, block.eight[i]);
        }
        backward(&mut v, 0, 2, block.sixteen);
        backward(&mut v, 1, 3, block.sixteen);
        for (i, (lanes, v)) in lanes.iter_mut().zip(v).enumerate() {
            store(lanes, if i < 2 { reduce(v) } else { v });
        }
    }
    for column in 0..4 {
        let mut v: [Vector; 8] = core::array::from_fn(|i| load(&vectors[4 * i + column]));
        for i in [0, 2, 4, 6] {
            backward(&mut v, i, i + 1, FIRST[3 + (i >> 1)]);
        }
        for i in [0, 1, 4, 5] {
            backward(&mut v, i, i + 2, FIRST[1 + (i >> 2)]);
        }
        for i in 0..4 {
            let (a, b) = (v[i], v[i + 4]);
            store(&mut vectors[4 * i + column], LAST.times(vaddq_s16(a, b)));
            store(&mut vectors[4 * (i + 4) + column], LAST_ZETA.times(vsubq_s16(b, a)));
        }
    }
}

/// ±ζ of the last layer for eight products.
static PRODUCT_FACTORS: [Factors; 16] = {
    let mut all = [Factors([0; 8], [0; 8]); 16];
    let mut pair = 0;
    while pair < 128 {
        let Factor(w, over_q) = Factor::of_layer(64, pair >> 1, false);
        let sign = if pair & 1 == 0 { 1 } else { -1 };
        let factors = &mut all[pair >> 3];
        (factors.0[pair & 7], factors.1[pair & 7]) = (sign * w, sign * over_q);
        pair += 1;
    }
    all
};

#[target_feature(enable = "neon")]
fn multiply_add(sum: &mut Coefficients, a: &Coefficients, b: &Coefficients) {
    debug_assert!(a.iter().all(|x| i32::from(x.abs()) <= 8 * i32::from(Q)));
    debug_assert!(b.iter().all(|x| x.abs() <= Q));
    let factors = a.as_chunks::<16>().0.iter().zip(b.as_chunks::<16>().0).zip(&PRODUCT_FACTORS);
    for (sum, ((a, b), zeta)) in sum.as_chunks_mut::<16>().0.iter_mut().zip(factors) {
        let int16x8x2_t(a0, a1) = load_pairs(a);
        let int16x8x2_t(b0, b1) = load_pairs(b);
        let int16x8x2_t(even, odd) = load_pairs(sum);
        let products = add_products([[vdupq_n_s32(0); 2]; 2], [a0, a1], [b0, b1], zeta);
        let [even_product, odd_product] = products.map(|sum| montgomery(sum));
        store_pairs(sum, vaddq_s16(even, even_product), vaddq_s16(odd, odd_product));
    }
}

#[target_feature(enable = "neon")]
fn inner_product(sum: &mut Coefficients, a: &[Ntt], stride: usize, b: &[Ntt]) {
    debug_assert!(a.iter().chain(b).all(|f| f.0.0.iter().all(|x| x.abs() <= Q)) && b.len() <= 4);
    for (v, (sum, zeta)) in sum.as_chunks_mut::<16>().0.iter_mut().zip(&PRODUCT_FACTORS).enumerate() {
        let mut products = [[vdupq_n_s32(0); 2]; 2];
        for (a, b) in a.iter().step_by(stride).zip(b) {
            let int16x8x2_t(a0, a1) = load_pairs(&a.0.0.as_chunks().0[v]);
            let int16x8x2_t(b0, b1) = load_pairs(&b.0.0.as_chunks().0[v]);
            products = add_products(products, [a0, a1], [b0, b1], zeta);
        }
        // At most four times 2q²: what is added is below 8q²/2^16 + q/2 < q.
        let [even_product, odd_product] = products.map(|sum| montgomery(sum));
        let int16x8x2_t(even, odd) = load_pairs(sum);
        store_pairs(sum, vaddq_s16(even, even_product), vaddq_s16(odd, odd_product));
    }
}

/// Sums of products of 16 bits: of the lower and of the upper lanes.
type Sums = [int32x4_t; 2];

/// The sums for the even coefficients and for the odd ones, and a0·b0 + a1·ζ·b1, and a0·b1 + a1·b0.
#[inline]
#[target_feature(enable = "neon")]
fn add_products([even, odd]: [Sums; 2], a: [Vector; 2], b: [Vector; 2], zeta: &Factors) -> [Sums; 2] {
    let even = add_product(add_product(even, a[0], b[0]), a[1], zeta.times(b[1]));
    [even, add_product(add_product(odd, a[0], b[1]), a[1], b[0])]
}

#[inline]
#[target_feature(enable = "neon")]
fn add_product([low, high]: Sums, a: Vector, b: Vector) -> Sums {
    [vmlal_s16(low, vget_low_s16(a), vget_low_s16(b)), vmlal_high_s16(high, a, b)]
}

/// Times 2^-16 modulo q: |result| ≤ |sum|/2^16 + q/2, which is below 2q for 16q², the greatest sum of one product.
#[inline]
#[target_feature(enable = "neon")]
fn montgomery([low, high]: Sums) -> Vector {
    let lower_halves = vuzp1q_s16(vreinterpretq_s16_s32(low), vreinterpretq_s16_s32(high));
    let quotient = vmulq_s16(lower_halves, vdupq_n_s16(Q_INVERSE));
    let q = vdupq_n_s16(Q);
    let low = vmlsl_s16(low, vget_low_s16(quotient), vget_low_s16(q));
    let high = vmlsl_high_s16(high, quotient, q);
    vuzp2q_s16(vreinterpretq_s16_s32(low), vreinterpretq_s16_s32(high))
}

/// Bit i in lane i.
const LANE_BITS: [i16; 8] = [1, 2, 4, 8, 16, 32, 64, 128];

/// Twelve bytes are eight candidates: bytes 3i, 3i + 1 and 3i + 1, 3i + 2, the latter to be shifted by four. The upper
/// four are read from byte 4 on, so that no load leaves the twelve.
#[target_feature(enable = "neon")]
fn reject_vartime(out: &mut [i16], bytes: &[u8]) -> usize {
    let places = load_bytes(&[0, 1, 1, 2, 3, 4, 4, 5, 10, 11, 11, 12, 13, 14, 14, 15]);
    let shifts = load(&[0, -4, 0, -4, 0, -4, 0, -4]);
    let lane_bits = vreinterpretq_u16_s16(load(&LANE_BITS));
    let mut n = 0;
    let (groups, _) = bytes.as_chunks::<12>();
    for (i, group) in groups.iter().enumerate() {
        let Some(place) = out.get_mut(n..).and_then(|rest| rest.first_chunk_mut()) else {
            return n + (PORTABLE.reject_vartime)(&mut out[n..], &bytes[12 * i..]);
        };
        let low = load_half(group.first_chunk().expect("12 bytes"));
        let high = load_half(group.last_chunk().expect("12 bytes"));
        let words = vreinterpretq_u16_u8(vqtbl1q_u8(vcombine_u8(low, high), places));
        let candidates = vandq_u16(vshlq_u16(words, shifts), vdupq_n_u16(0xfff));
        let accepted = vcltq_u16(candidates, vdupq_n_u16(Q as u16));
        let mask = vaddvq_u16(vandq_u16(accepted, lane_bits)) as u8;
        let order = load_bytes(&ACCEPTED[usize::from(mask)]);
        store(place, vreinterpretq_s16_u8(vqtbl1q_u8(vreinterpretq_u8_u16(candidates), order)));
        // Each accepted lane is -1.
        n += -vaddvq_s16(vreinterpretq_s16_u16(accepted)) as usize;
    }
    n + (PORTABLE.reject_vartime)(&mut out[n..], &bytes[12 * groups.len()..])
}

/// How many of the bits of `x` are in `minuend`, less how many are in `subtrahend`, byte by byte.
#[inline]
#[target_feature(enable = "neon")]
fn difference_of_counts(x: uint8x16_t, minuend: u8, subtrahend: u8) -> int8x16_t {
    let count = |mask| vreinterpretq_s8_u8(vcntq_u8(vandq_u8(x, vdupq_n_u8(mask))));
    vsubq_s8(count(minuend), count(subtrahend))
}

#[target_feature(enable = "neon")]
fn noise2(f: &mut Coefficients, bytes: &[u8; 128]) {
    for (out, bytes) in f.as_chunks_mut::<32>().0.iter_mut().zip(bytes.as_chunks::<16>().0) {
        let bits = load_bytes(bytes);
        let even = difference_of_counts(bits, 0b0000_0011, 0b0000_1100);
        let odd = difference_of_counts(bits, 0b0011_0000, 0b1100_0000);
        let [low, high] = out.as_chunks_mut::<16>().0 else { unreachable!("32 coefficients") };
        store_pairs(low, vmovl_s8(vget_low_s8(even)), vmovl_s8(vget_low_s8(odd)));
        store_pairs(high, vmovl_high_s8(even), vmovl_high_s8(odd));
    }
}

/// Each byte of the three vectors of a group has six bits of its own, or of its neighbour, for each coefficient.
#[target_feature(enable = "neon")]
fn noise3(f: &mut Coefficients, bytes: &[u8; 192]) {
    for (out, bytes) in f.as_chunks_mut::<64>().0.iter_mut().zip(bytes.as_chunks::<48>().0) {
        // SAFETY: 48 bytes are there.
        let uint8x16x3_t(b0, b1, b2) = unsafe { vld3q_u8(bytes.as_ptr()) };
        let sixes = [
            b0,
            vsliq_n_u8::<2>(vshrq_n_u8::<6>(b0), b1),
            vsliq_n_u8::<4>(vshrq_n_u8::<4>(b1), b2),
            vshrq_n_u8::<2>(b2),
        ];
        let [a, b, c, d] = sixes.map(|x| difference_of_counts(x, 0b00_0111, 0b11_1000));
        let [low, high] = out.as_chunks_mut::<32>().0 else { unreachable!("64 coefficients") };
        let lower = |x| vmovl_s8(vget_low_s8(x));
        // SAFETY: 64 bytes are there.
        unsafe { vst4q_s16(low.as_mut_ptr(), int16x8x4_t(lower(a), lower(b), lower(c), lower(d))) };
        let upper = |x| vmovl_high_s8(x);
        // SAFETY: 64 bytes are there.
        unsafe { vst4q_s16(high.as_mut_ptr(), int16x8x4_t(upper(a), upper(b), upper(c), upper(d))) };
    }
}

#[target_feature(enable = "neon")]
fn encode(out: &mut [u8; 384], f: &Coefficients) {
    for (out, lanes) in out.as_chunks_mut::<24>().0.iter_mut().zip(f.as_chunks::<16>().0) {
        let int16x8x2_t(even, odd) = load_pairs(lanes);
        let even = vreinterpretq_u16_s16(canonical(even));
        let odd = vreinterpretq_u16_s16(canonical(odd));
        let middle = vsliq_n_u16::<4>(vshrq_n_u16::<8>(even), odd);
        let triples = uint8x8x3_t(vmovn_u16(even), vmovn_u16(middle), vshrn_n_u16::<4>(odd));
        // SAFETY: 24 bytes are there.
        unsafe { vst3_u8(out.as_mut_ptr(), triples) };
    }
}

/// The integers of twelve bits, of even and of odd places.
#[inline]
#[target_feature(enable = "neon")]
fn twelves(bytes: &[u8; 24]) -> [uint16x8_t; 2] {
    // SAFETY: 24 bytes are there.
    let uint8x8x3_t(b0, b1, b2) = unsafe { vld3_u8(bytes.as_ptr()) };
    let even = vsliq_n_u16::<8>(vmovl_u8(b0), vmovl_u8(b1));
    let odd = vsliq_n_u16::<4>(vmovl_u8(vshr_n_u8::<4>(b1)), vmovl_u8(b2));
    [vandq_u16(even, vdupq_n_u16(0xfff)), odd]
}

#[target_feature(enable = "neon")]
fn decode(f: &mut Coefficients, bytes: &[u8; 384]) {
    for (lanes, bytes) in f.as_chunks_mut::<16>().0.iter_mut().zip(bytes.as_chunks::<24>().0) {
        // Below 2q: the difference wraps where x is below q, and is then the greater one.
        let [even, odd] =
            twelves(bytes).map(|x| vreinterpretq_s16_u16(vminq_u16(x, vsubq_u16(x, vdupq_n_u16(Q as u16)))));
        store_pairs(lanes, even, odd);
    }
}

#[target_feature(enable = "neon")]
fn is_reduced(bytes: &[u8; 384]) -> bool {
    let mut greatest = vdupq_n_u16(0);
    for bytes in bytes.as_chunks::<24>().0 {
        let [even, odd] = twelves(bytes);
        greatest = vmaxq_u16(greatest, vmaxq_u16(even, odd));
    }
    vmaxvq_u16(greatest) < Q as u16
}

#[target_feature(enable = "neon")]
fn compress(out: &mut [u8], f: &Coefficients) {
    match out.len() >> 5 {
        1 => compress_to_bits(out, f),
        4 => compress_to::<4, 8, 7>(out, f),
        5 => compress_to::<5, 10, 6>(out, f),
        10 => compress_to::<10, 20, 6>(out, f),
        11 => compress_to::<11, 22, 5>(out, f),
        d => unreachable!("no parameter set compresses to {d} bits"),
    }
}

/// 2^D·x/q, rounded, modulo 2^D; in bits that are not cleared above the D.
///
/// For few bits the quotient of [`reduce`] has enough places; `SHIFT` of them are rounded away. For many the product with
/// 2^32/q is taken modulo 2^32. The tests of the table show both for every x.
#[inline]
#[target_feature(enable = "neon")]
fn compressed<const D: i32, const SHIFT: i32>(x: Vector) -> uint16x8_t {
    let x = reduce(x);
    if D <= 5 {
        let places = vqdmulhq_s16(x, vdupq_n_s16(RECIPROCAL));
        return vreinterpretq_u16_s16(vrshrq_n_s16::<SHIFT>(places));
    }
    let half = vdupq_n_s32(const { 1 << (31 - D) });
    let factor = vdupq_n_s32(1_290_167);
    let low = vmlaq_s32(half, vmovl_s16(vget_low_s16(x)), factor);
    let high = vmlaq_s32(half, vmovl_high_s16(x), factor);
    let upper_halves = vuzp2q_s16(vreinterpretq_s16_s32(low), vreinterpretq_s16_s32(high));
    vshrq_n_u16::<SHIFT>(vreinterpretq_u16_s16(upper_halves))
}

#[inline]
#[target_feature(enable = "neon")]
fn compress_to<const D: i32, const TWO_D: i32, const SHIFT: i32>(out: &mut [u8], f: &Coefficients) {
    const { assert!(TWO_D == 2 * D && SHIFT == if D <= 5 { 11 } else { 16 } - D) };
    for (out, lanes) in out.chunks_exact_mut(D as usize).zip(f.as_chunks::<8>().0) {
        let ones = compressed::<D, SHIFT>(load(lanes));
        // The lower D bits of each lane stay, its neighbour's are put above them: two in 32 bits, then four in 64.
        let ones = vreinterpretq_u32_u16(ones);
        let twos = vreinterpretq_u64_u32(vsliq_n_u32::<D>(ones, vshrq_n_u32::<16>(ones)));
        let fours = vsliq_n_u64::<TWO_D>(twos, vshrq_n_u64::<32>(twos));
        let mask = const { (1u128 << (4 * D)) - 1 };
        let low = u128::from(vgetq_lane_u64::<0>(fours)) & mask;
        let high = u128::from(vgetq_lane_u64::<1>(fours));
        out.copy_from_slice(&(low | high << (4 * D)).to_le_bytes()[..D as usize]);
    }
}

/// A bit of the message: whether x is nearer to q/2 than to 0, which is beyond q/4 in the centred residue.
#[target_feature(enable = "neon")]
fn compress_to_bits(out: &mut [u8], f: &Coefficients) {
    let lane_bits = vreinterpretq_u16_s16(load(&LANE_BITS));
    for (out, lanes) in out.iter_mut().zip(f.as_chunks::<8>().0) {
        let nearer = vcgtq_s16(vabsq_s16(reduce(load(lanes))), vdupq_n_s16(Q >> 2));
        *out = vaddvq_u16(vandq_u16(nearer, lane_bits)) as u8;
    }
}

#[target_feature(enable = "neon")]
fn decompress(f: &mut Coefficients, bytes: &[u8]) {
    match bytes.len() >> 5 {
        1 => decompress_bits(f, bytes),
        4 => decompress_from::<4, 8>(f, bytes),
        5 => decompress_from::<5, 10>(f, bytes),
        10 => decompress_from::<10, 20>(f, bytes),
        11 => decompress_from::<11, 22>(f, bytes),
        d => unreachable!("no parameter set compresses to {d} bits"),
    }
}

#[inline]
#[target_feature(enable = "neon")]
fn decompress_from<const D: i32, const TWO_D: i32>(f: &mut Coefficients, bytes: &[u8]) {
    const { assert!(TWO_D == 2 * D) };
    for (lanes, bytes) in f.as_chunks_mut::<8>().0.iter_mut().zip(bytes.chunks_exact(D as usize)) {
        let mut eight = [0; 16];
        eight[..D as usize].copy_from_slice(bytes);
        let eight = u128::from_le_bytes(eight);
        let fours = vcombine_u64(vcreate_u64(eight as u64), vcreate_u64((eight >> (4 * D)) as u64));
        // The bits above the first 2D go up, then those above the first D: what they leave behind is masked at the end.
        let twos = vreinterpretq_u32_u64(vsliq_n_u64::<32>(fours, vshrq_n_u64::<TWO_D>(fours)));
        let ones = vreinterpretq_s16_u32(vsliq_n_u32::<16>(twos, vshrq_n_u32::<D>(twos)));
        let y = vandq_s16(ones, vdupq_n_s16(const { (1 << D) - 1 }));
        // The rounding product with q over 2^15.
        let y = vmulq_n_s16(y, const { 1 << (15 - D) });
        store(lanes, vqrdmulhq_s16(y, vdupq_n_s16(Q)));
    }
}

#[target_feature(enable = "neon")]
fn decompress_bits(f: &mut Coefficients, bytes: &[u8]) {
    let lane_bits = load(&LANE_BITS);
    for (lanes, byte) in f.as_chunks_mut::<8>().0.iter_mut().zip(bytes) {
        let is_set = vtstq_s16(vdupq_n_s16(i16::from(*byte)), lane_bits);
        store(lanes, vandq_s16(vreinterpretq_s16_u16(is_set), vdupq_n_s16((Q + 1) >> 1)));
    }
}
