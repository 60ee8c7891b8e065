//! WebAssembly with 128-bit SIMD: eight coefficients at a time, in the bounds of `portable`.
//!
//! Products with constants are Barrett products, as in the table for NEON. Products of two polynomials are sums of two
//! products in 32 bits, which is one instruction (`i32x4.dot_i16x8_s`): of a0, a1 with b0, ζ·b1 for the even coefficient,
//! with b1, b0 for the odd one; a Montgomery reduction ends them.
//!
//! Loops over vectors that stay in registers are written out: the module is compiled for size, which rolls loops up.

#![allow(unsafe_code)] // Loads and stores.

use core::arch::wasm32::*;

use super::Kernels;
use super::barrett::{ACCEPTED, BLOCKS, Factor, Factors, INVERSE_BLOCKS, first_layers};
use super::portable::{PORTABLE, Q_INVERSE, RECIPROCAL};
use crate::cpu::Level;
use crate::mlkem::poly::{Coefficients, Ntt, Q};

pub(super) static SIMD128: Kernels = Kernels {
    level: Level::Simd128,
    ntt,
    inverse_ntt,
    multiply_add,
    inner_product,
    encryption_products: None,
    scale,
    add,
    subtract_from,
    reduce: reduce_all,
    reject_vartime,
    noise2,
    encode,
    decode,
    is_reduced,
    compress,
    decompress,
    // η = 3 is in ML-KEM-512 alone.
    ..PORTABLE
};

#[inline(always)]
fn load(lanes: &[i16; 8]) -> v128 {
    // SAFETY: 16 bytes are there.
    unsafe { v128_load(lanes.as_ptr().cast()) }
}

#[inline(always)]
fn store(lanes: &mut [i16; 8], value: v128) {
    // SAFETY: 16 bytes are there.
    unsafe { v128_store(lanes.as_mut_ptr().cast(), value) };
}

#[inline(always)]
fn load_bytes(bytes: &[u8; 16]) -> v128 {
    // SAFETY: 16 bytes are there.
    unsafe { v128_load(bytes.as_ptr().cast()) }
}

/// Applies `op` to every vector.
#[inline(always)]
fn each(f: &mut Coefficients, op: impl Fn(v128) -> v128) {
    for lanes in f.as_chunks_mut::<8>().0 {
        let value = op(load(lanes));
        store(lanes, value);
    }
}

impl Factor {
    #[inline(always)]
    fn times(self, x: v128) -> v128 {
        times(x, i16x8_splat(self.0), i16x8_splat(self.1))
    }
}

impl Factors {
    #[inline(always)]
    fn times(&self, x: v128) -> v128 {
        times(x, load(&self.0), load(&self.1))
    }
}

/// w·x modulo q, |result| < q·(1/2 + |x|/2^16), for any x: a quotient that is wrong by less than 1/2 + |x|/2^16.
#[inline(always)]
fn times(x: v128, w: v128, w_over_q: v128) -> v128 {
    let multiple = i16x8_mul(i16x8_q15mulr_sat(x, w_over_q), i16x8_splat(Q));
    i16x8_sub(i16x8_mul(x, w), multiple)
}

/// The residue of absolute value at most (q + 1)/2, for any x: x·2^26/q is rounded twice, after 15 and after 11 places.
#[inline(always)]
fn reduce(x: v128) -> v128 {
    let places = i16x8_q15mulr_sat(x, i16x8_splat(RECIPROCAL));
    let quotient = i16x8_shr(i16x8_add(places, i16x8_splat(1 << 10)), 11);
    i16x8_sub(x, i16x8_mul(quotient, i16x8_splat(Q)))
}

/// The residue in \[0, q), for any x.
#[inline(always)]
fn canonical(x: v128) -> v128 {
    let x = reduce(x);
    // As unsigned numbers the negative ones are the greater; of q they are added, and then the less.
    u16x8_min(x, i16x8_add(x, i16x8_splat(Q)))
}

fn reduce_all(f: &mut Coefficients) {
    each(f, |x| reduce(x));
}

fn scale(f: &mut Coefficients) {
    const FACTOR: Factor = Factor::new(1 << 16);
    each(f, |x| FACTOR.times(x));
}

fn add(a: &mut Coefficients, b: &Coefficients) {
    for (a, b) in a.as_chunks_mut::<8>().0.iter_mut().zip(b.as_chunks::<8>().0) {
        let sum = i16x8_add(load(a), load(b));
        store(a, sum);
    }
}

fn subtract_from(a: &mut Coefficients, b: &Coefficients) {
    for (a, b) in a.as_chunks_mut::<8>().0.iter_mut().zip(b.as_chunks::<8>().0) {
        let difference = i16x8_sub(load(b), load(a));
        store(a, difference);
    }
}

#[inline(always)]
fn forward((a, b): (v128, v128), zeta: Factor) -> (v128, v128) {
    let t = zeta.times(b);
    (i16x8_add(a, t), i16x8_sub(a, t))
}

#[inline(always)]
fn backward((a, b): (v128, v128), zeta: Factor) -> (v128, v128) {
    (i16x8_add(a, b), zeta.times(i16x8_sub(b, a)))
}

/// The lower halves of two vectors, and the upper ones; its own inverse.
#[inline(always)]
fn halves((a, b): (v128, v128)) -> (v128, v128) {
    (i64x2_shuffle::<0, 2>(a, b), i64x2_shuffle::<1, 3>(a, b))
}

/// The pairs of even places, and those of odd places; its own inverse.
#[inline(always)]
fn pairs((a, b): (v128, v128)) -> (v128, v128) {
    (i32x4_shuffle::<0, 4, 2, 6>(a, b), i32x4_shuffle::<1, 5, 3, 7>(a, b))
}

/// Each layer adds less than q to the bound: 8q < 2^15 after the seventh.
fn ntt(f: &mut Coefficients) {
    const FIRST: [Factor; 7] = first_layers(false);
    debug_assert!(f.iter().all(|x| x.abs() <= Q));
    let vectors = f.as_chunks_mut::<8>().0;
    for column in 0..4 {
        let at = |i: usize| 4 * i + column;
        let v = |i: usize| load(&vectors[at(i)]);
        let (a0, a4) = forward((v(0), v(4)), FIRST[0]);
        let (a1, a5) = forward((v(1), v(5)), FIRST[0]);
        let (a2, a6) = forward((v(2), v(6)), FIRST[0]);
        let (a3, a7) = forward((v(3), v(7)), FIRST[0]);
        let ((a0, a2), (a1, a3)) = (forward((a0, a2), FIRST[1]), forward((a1, a3), FIRST[1]));
        let ((a4, a6), (a5, a7)) = (forward((a4, a6), FIRST[2]), forward((a5, a7), FIRST[2]));
        let ((a0, a1), (a2, a3)) = (forward((a0, a1), FIRST[3]), forward((a2, a3), FIRST[4]));
        let ((a4, a5), (a6, a7)) = (forward((a4, a5), FIRST[5]), forward((a6, a7), FIRST[6]));
        store(&mut vectors[at(0)], a0);
        store(&mut vectors[at(1)], a1);
        store(&mut vectors[at(2)], a2);
        store(&mut vectors[at(3)], a3);
        store(&mut vectors[at(4)], a4);
        store(&mut vectors[at(5)], a5);
        store(&mut vectors[at(6)], a6);
        store(&mut vectors[at(7)], a7);
    }
    for ([v0, v1, v2, v3], block) in vectors.as_chunks_mut::<4>().0.iter_mut().zip(&BLOCKS) {
        let (a0, a2) = forward((load(v0), load(v2)), block.sixteen);
        let (a1, a3) = forward((load(v1), load(v3)), block.sixteen);
        let last = |ab: (v128, v128), i: usize| {
            let (a, b) = halves(forward(ab, block.eight[i]));
            let t = block.four[i].times(b);
            let (a, b) = pairs((i16x8_add(a, t), i16x8_sub(a, t)));
            let t = block.two[i].times(b);
            halves(pairs((reduce(i16x8_add(a, t)), reduce(i16x8_sub(a, t)))))
        };
        let ((a0, a1), (a2, a3)) = (last((a0, a1), 0), last((a2, a3), 1));
        store(v0, a0);
        store(v1, a1);
        store(v2, a2);
        store(v3, a3);
    }
}

/// The sums double: from q/2 + 1 to 8q + 16 after four layers, and again from the reduction, or from a product, to 8q.
fn inverse_ntt(f: &mut Coefficients) {
    const FIRST: [Factor; 7] = first_layers(true);
    // 128^-1, times 2^16, and the same times the last ζ.
    const LAST: Factor = Factor::new(3303 << 16);
    const LAST_ZETA: Factor = Factor::new((3303 << 16) * FIRST[0].0 as i64);
    const { assert!(8 * Q + 16 < i16::MAX) };
    debug_assert!(f.iter().all(|x| i32::from(x.abs()) <= 8 * i32::from(Q)));
    let vectors = f.as_chunks_mut::<8>().0;
    for ([v0, v1, v2, v3], block) in vectors.as_chunks_mut::<4>().0.iter_mut().zip(&INVERSE_BLOCKS) {
        let first = |(a, b): (v128, v128), i: usize| {
            let (a, b) = pairs(halves((reduce(a), reduce(b))));
            let (a, b) = pairs((i16x8_add(a, b), block.two[i].times(i16x8_sub(b, a))));
            backward(halves((i16x8_add(a, b), block.four[i].times(i16x8_sub(b, a)))), block.eight[i])
        };
        let ((a0, a1), (a2, a3)) = (first((load(v0), load(v1)), 0), first((load(v2), load(v3)), 1));
        let ((a0, a2), (a1, a3)) = (backward((a0, a2), block.sixteen), backward((a1, a3), block.sixteen));
        store(v0, reduce(a0));
        store(v1, reduce(a1));
        store(v2, a2);
        store(v3, a3);
    }
    for column in 0..4 {
        let at = |i: usize| 4 * i + column;
        let v = |i: usize| load(&vectors[at(i)]);
        let ((a0, a1), (a2, a3)) = (backward((v(0), v(1)), FIRST[3]), backward((v(2), v(3)), FIRST[4]));
        let ((a4, a5), (a6, a7)) = (backward((v(4), v(5)), FIRST[5]), backward((v(6), v(7)), FIRST[6]));
        let ((a0, a2), (a1, a3)) = (backward((a0, a2), FIRST[1]), backward((a1, a3), FIRST[1]));
        let ((a4, a6), (a5, a7)) = (backward((a4, a6), FIRST[2]), backward((a5, a7), FIRST[2]));
        let mut last = |i: usize, a: v128, b: v128| {
            store(&mut vectors[at(i)], LAST.times(i16x8_add(a, b)));
            store(&mut vectors[at(i + 4)], LAST_ZETA.times(i16x8_sub(b, a)));
        };
        last(0, a0, a4);
        last(1, a1, a5);
        last(2, a2, a6);
        last(3, a3, a7);
    }
}

/// 1 and ±ζ of the last layer in turn, for four products: the second factor of the even coefficients.
static PRODUCT_FACTORS: [Factors; 32] = {
    let mut all = [Factors([0; 8], [0; 8]); 32];
    let mut pair = 0;
    while pair < 128 {
        let one = Factor::new(1);
        let Factor(w, over_q) = Factor::of_layer(64, pair >> 1, false);
        let sign = if pair & 1 == 0 { 1 } else { -1 };
        let (factors, lane) = (&mut all[pair >> 2], 2 * (pair & 3));
        (factors.0[lane], factors.1[lane]) = (one.0, one.1);
        (factors.0[lane + 1], factors.1[lane + 1]) = (sign * w, sign * over_q);
        pair += 1;
    }
    all
};

/// Sums of products of 16 bits, for the even and for the odd coefficients of four pairs.
type Sums = (v128, v128);

/// |a| ≤ 8q, |b| ≤ q: the even sum grows by less than 9q², the odd one by 16q².
#[inline(always)]
fn add_products((even, odd): Sums, a: v128, b: v128, zeta: &Factors) -> Sums {
    let exchanged = i16x8_shuffle::<1, 0, 3, 2, 5, 4, 7, 6>(b, b);
    (i32x4_add(even, i32x4_dot_i16x8(a, zeta.times(b))), i32x4_add(odd, i32x4_dot_i16x8(a, exchanged)))
}

/// Times 2^-16 modulo q: |result| ≤ |sum|/2^16 + q/2, which is below 2q for 16q², the greatest sum of one product.
#[inline(always)]
fn montgomery((even, odd): Sums) -> v128 {
    let lower = i32x4_splat(0xffff);
    let lower_halves = v128_bitselect(even, i32x4_shl(odd, 16), lower);
    let quotient = i16x8_mul(lower_halves, i16x8_splat(Q_INVERSE));
    let q = i16x8_splat(Q);
    let even = i32x4_sub(even, i32x4_dot_i16x8(v128_and(quotient, lower), q));
    let odd = i32x4_sub(odd, i32x4_dot_i16x8(v128_andnot(quotient, lower), q));
    // The lower halves are zero now.
    v128_or(u32x4_shr(even, 16), odd)
}

fn multiply_add(sum: &mut Coefficients, a: &Coefficients, b: &Coefficients) {
    debug_assert!(a.iter().all(|x| i32::from(x.abs()) <= 8 * i32::from(Q)));
    debug_assert!(b.iter().all(|x| x.abs() <= Q));
    let factors = a.as_chunks::<8>().0.iter().zip(b.as_chunks::<8>().0).zip(&PRODUCT_FACTORS);
    for (sum, ((a, b), zeta)) in sum.as_chunks_mut::<8>().0.iter_mut().zip(factors) {
        let products = add_products((i32x4_splat(0), i32x4_splat(0)), load(a), load(b), zeta);
        let product = montgomery(products);
        store(sum, i16x8_add(load(sum), product));
    }
}

fn inner_product(sum: &mut Coefficients, a: &[Ntt], stride: usize, b: &[Ntt]) {
    debug_assert!(a.iter().chain(b).all(|f| f.0.0.iter().all(|x| x.abs() <= Q)) && b.len() <= 4);
    for (v, (sum, zeta)) in sum.as_chunks_mut::<8>().0.iter_mut().zip(&PRODUCT_FACTORS).enumerate() {
        let mut products = (i32x4_splat(0), i32x4_splat(0));
        for (a, b) in a.iter().step_by(stride).zip(b) {
            products =
                add_products(products, load(&a.0.0.as_chunks().0[v]), load(&b.0.0.as_chunks().0[v]), zeta);
        }
        // At most four times 2q²: what is added is below 8q²/2^16 + q/2 < q.
        let product = montgomery(products);
        store(sum, i16x8_add(load(sum), product));
    }
}

/// Eight integers of twelve bits.
#[inline(always)]
fn twelves(bytes: &[u8; 12]) -> v128 {
    let [a, b] = [bytes.first_chunk(), bytes.last_chunk()].map(|chunk| chunk.expect("12 bytes"));
    // From byte 4 on for the upper half, so that no load leaves the twelve.
    let both = u64x2(u64::from_le_bytes(*a), u64::from_le_bytes(*b));
    let words = i8x16_swizzle(both, u8x16(0, 1, 1, 2, 3, 4, 4, 5, 10, 11, 11, 12, 13, 14, 14, 15));
    // Up by four where the number is the lower part of its word, then down by four everywhere.
    u16x8_shr(i16x8_mul(words, i16x8(16, 1, 16, 1, 16, 1, 16, 1)), 4)
}

fn reject_vartime(out: &mut [i16], bytes: &[u8]) -> usize {
    let mut n = 0;
    let (groups, _) = bytes.as_chunks::<12>();
    for (i, group) in groups.iter().enumerate() {
        let Some(place) = out.get_mut(n..).and_then(|rest| rest.first_chunk_mut()) else {
            return n + (PORTABLE.reject_vartime)(&mut out[n..], &bytes[12 * i..]);
        };
        let candidates = twelves(group);
        let mask = i16x8_bitmask(i16x8_lt(candidates, i16x8_splat(Q)));
        store(place, i8x16_swizzle(candidates, load_bytes(&ACCEPTED[usize::from(mask)])));
        n += mask.count_ones() as usize;
    }
    n + (PORTABLE.reject_vartime)(&mut out[n..], &bytes[12 * groups.len()..])
}

fn noise2(f: &mut Coefficients, bytes: &[u8; 128]) {
    for (out, bytes) in f.as_chunks_mut::<32>().0.iter_mut().zip(bytes.as_chunks::<16>().0) {
        let bits = load_bytes(bytes);
        let fives = u8x16_splat(0x55);
        let counts = i8x16_add(v128_and(bits, fives), v128_and(u8x16_shr(bits, 1), fives));
        // Each half byte has two counts, of which one is taken from the other.
        let difference = |counts: v128| {
            let threes = u8x16_splat(3);
            i8x16_sub(v128_and(counts, threes), v128_and(u8x16_shr(counts, 2), threes))
        };
        let (even, odd) = (difference(counts), difference(u8x16_shr(counts, 4)));
        let low = i8x16_shuffle::<0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23>(even, odd);
        let high = i8x16_shuffle::<8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31>(even, odd);
        let [a, b, c, d] = out.as_chunks_mut::<8>().0 else { unreachable!("32 coefficients") };
        store(a, i16x8_extend_low_i8x16(low));
        store(b, i16x8_extend_high_i8x16(low));
        store(c, i16x8_extend_low_i8x16(high));
        store(d, i16x8_extend_high_i8x16(high));
    }
}

fn encode(out: &mut [u8; 384], f: &Coefficients) {
    for (out, lanes) in out.as_chunks_mut::<12>().0.iter_mut().zip(f.as_chunks::<8>().0) {
        let twos = i32x4_dot_i16x8(canonical(load(lanes)), i32x4_splat(1 | 1 << 28));
        let bytes = i8x16_shuffle::<0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, 0, 0, 0, 0>(twos, twos);
        out[..8].copy_from_slice(&u64x2_extract_lane::<0>(bytes).to_le_bytes());
        out[8..].copy_from_slice(&u32x4_extract_lane::<2>(bytes).to_le_bytes());
    }
}

fn decode(f: &mut Coefficients, bytes: &[u8; 384]) {
    for (lanes, bytes) in f.as_chunks_mut::<8>().0.iter_mut().zip(bytes.as_chunks::<12>().0) {
        let x = twelves(bytes);
        // Below 2q: the difference wraps where x is below q, and is then the greater one.
        store(lanes, u16x8_min(x, i16x8_sub(x, i16x8_splat(Q))));
    }
}

fn is_reduced(bytes: &[u8; 384]) -> bool {
    let mut greatest = i16x8_splat(0);
    for bytes in bytes.as_chunks::<12>().0 {
        greatest = u16x8_max(greatest, twelves(bytes));
    }
    !v128_any_true(u16x8_ge(greatest, i16x8_splat(Q)))
}

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

/// 2^D·x/q, rounded, modulo 2^D: the product with 2^32/q is taken modulo 2^32. The test of the table shows it for every x.
#[inline(always)]
fn compressed<const D: u32>(x: v128) -> v128 {
    let x = reduce(x);
    let half = i32x4_splat(const { 1 << (31 - D) });
    let factor = i32x4_splat(1_290_167);
    let low = i32x4_add(half, i32x4_mul(i32x4_extend_low_i16x8(x), factor));
    let high = i32x4_add(half, i32x4_mul(i32x4_extend_high_i16x8(x), factor));
    let upper_halves = i16x8_shuffle::<1, 3, 5, 7, 9, 11, 13, 15>(low, high);
    u16x8_shr(upper_halves, 16 - D)
}

#[inline(always)]
fn compress_to<const D: u32>(out: &mut [u8], f: &Coefficients) {
    let (two, four) = (2 * D, 4 * D);
    for (out, lanes) in out.chunks_exact_mut(D as usize).zip(f.as_chunks::<8>().0) {
        // Neighbours are put together: two in 32 bits, then four in 64.
        let twos = i32x4_dot_i16x8(compressed::<D>(load(lanes)), i32x4_splat(const { 1 | 1 << (16 + D) }));
        let fours = v128_or(v128_and(twos, u64x2_splat(0xffff_ffff)), u64x2_shl(u64x2_shr(twos, 32), two));
        let (low, high) = (u64x2_extract_lane::<0>(fours), u64x2_extract_lane::<1>(fours));
        let first = (low | high << four).to_le_bytes();
        if four <= 32 {
            out.copy_from_slice(&first[..D as usize]);
        } else {
            let (begin, end) = out.split_at_mut(8);
            begin.copy_from_slice(&first);
            end.copy_from_slice(&(high >> (64 - four)).to_le_bytes()[..D as usize - 8]);
        }
    }
}

/// A bit of the message: whether x is nearer to q/2 than to 0, which is beyond q/4 in the centred residue.
fn compress_to_bits(out: &mut [u8], f: &Coefficients) {
    for (out, lanes) in out.iter_mut().zip(f.as_chunks::<8>().0) {
        *out = i16x8_bitmask(i16x8_gt(i16x8_abs(reduce(load(lanes))), i16x8_splat(Q >> 2)));
    }
}

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

/// Where the bytes of eight numbers of D bits are, two for each lane, and what shifts the number to the top of its lane.
const fn places<const D: usize>() -> ([u8; 16], [i16; 8]) {
    let (mut bytes, mut shifts) = ([0; 16], [0; 8]);
    let mut i = 0;
    while i < 8 {
        let (byte, bit) = ((i * D) >> 3, (i * D) & 7);
        assert!(bit + D <= 16);
        bytes[2 * i] = byte as u8;
        bytes[2 * i + 1] = byte as u8 + 1;
        shifts[i] = (1u16 << (16 - D - bit)) as i16;
        i += 1;
    }
    (bytes, shifts)
}

#[inline(always)]
fn decompress_from<const D: usize>(f: &mut Coefficients, bytes: &[u8]) {
    for (lanes, bytes) in f.as_chunks_mut::<8>().0.iter_mut().zip(bytes.chunks_exact(D)) {
        let [mut first, mut last] = [[0; 8]; 2];
        first[..D.min(8)].copy_from_slice(&bytes[..D.min(8)]);
        last[..D.saturating_sub(8)].copy_from_slice(&bytes[D.min(8)..]);
        let (first, last) = (u64::from_le_bytes(first), u64::from_le_bytes(last));
        // The number in bits 15 - D to 14: of the product with q the rounding instruction takes away 15 places.
        let y = if D == 11 {
            // Some touch three bytes: four from 44 bits, which are two numbers of 22 bits, twice.
            let fours = u64x2(first & ((1 << 44) - 1), first >> 44 | last << 20);
            let twos =
                v128_or(v128_and(fours, u64x2_splat((1 << 22) - 1)), u64x2_shl(u64x2_shr(fours, 22), 32));
            let ones =
                v128_or(v128_and(twos, i32x4_splat((1 << 11) - 1)), i32x4_shl(u32x4_shr(twos, 11), 16));
            i16x8_shl(ones, 4)
        } else {
            let (places, shifts) = const { &places_or_none::<D>() };
            let words = i8x16_swizzle(u64x2(first, last), load_bytes(places));
            let top = i16x8_mul(words, load(shifts));
            v128_and(u16x8_shr(top, 1), i16x8_splat(const { (((1 << D) - 1) << (15 - D)) as i16 }))
        };
        store(lanes, i16x8_q15mulr_sat(y, i16x8_splat(Q)));
    }
}

/// [`places`] for the widths that touch two bytes at most.
const fn places_or_none<const D: usize>() -> ([u8; 16], [i16; 8]) {
    if D == 11 { ([0; 16], [0; 8]) } else { places::<D>() }
}

fn decompress_bits(f: &mut Coefficients, bytes: &[u8]) {
    let lane_bits = i16x8(1, 2, 4, 8, 16, 32, 64, 128);
    for (lanes, byte) in f.as_chunks_mut::<8>().0.iter_mut().zip(bytes) {
        let is_set = i16x8_eq(v128_and(i16x8_splat(i16::from(*byte)), lane_bits), lane_bits);
        store(lanes, v128_and(is_set, i16x8_splat((Q + 1) >> 1)));
    }
}
