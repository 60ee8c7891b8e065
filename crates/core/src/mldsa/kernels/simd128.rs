//! WebAssembly with 128-bit SIMD: four coefficients at a time, in the bounds of `portable`.
//!
//! Products are Montgomery products: there is no upper half of a product of 32 bits, only products of 64, so two of them
//! make one. With constants they are signed, near q/2, so that the sums of a whole transform stay in 32 bits.
//!
//! Loops over vectors that stay in registers are written out: the module is compiled for size, which rolls loops up.

#![allow(unsafe_code)] // Loads and stores.

use core::arch::wasm32::*;

use super::portable::{PORTABLE, Q_INVERSE, ZETAS, alpha, at_once};
use super::{Kernels, Short};
use crate::cpu::Level;
use crate::mldsa::ring::{D, N, Poly, Q};
use crate::secret::declassify_value;

pub(super) static SIMD128: Kernels = Kernels {
    level: Level::Simd128,
    ntt,
    inverse_ntt,
    multiply,
    multiply_add,
    inner_product,
    add_short_product,
    reject_uniform,
    reject_bounded,
    power2round,
    decompose_44,
    decompose_16,
    is_below,
    high_bits_44,
    high_bits_16,
    make_hint,
    pack,
    unpack,
};

#[inline(always)]
fn load(lanes: &[i32; 4]) -> v128 {
    // SAFETY: 16 bytes are there.
    unsafe { v128_load(lanes.as_ptr().cast()) }
}

#[inline(always)]
fn store(lanes: &mut [i32; 4], value: v128) {
    // SAFETY: 16 bytes are there.
    unsafe { v128_store(lanes.as_mut_ptr().cast(), value) };
}

#[inline(always)]
fn load_bytes(bytes: &[u8; 16]) -> v128 {
    // SAFETY: 16 bytes are there.
    unsafe { v128_load(bytes.as_ptr().cast()) }
}

/// A constant w: w·2^32 mod± q, and that times q^-1 mod 2^32.
#[derive(Clone, Copy)]
struct Factor(i32, i32);

impl Factor {
    /// Of w·2^32.
    #[allow(clippy::integer_division_remainder_used)] // evaluated by the compiler
    const fn new(montgomery: i64) -> Self {
        let q = Q as i64;
        let w = montgomery.rem_euclid(q);
        let w = (if w > q / 2 { w - q } else { w }) as i32;
        Self(w, w.wrapping_mul(Q_INVERSE as i32))
    }

    /// Factor `i` of the layer of this many blocks; the inverse transform takes them from the last to the first.
    const fn of_layer(blocks: usize, i: usize, inverse: bool) -> Self {
        Self::new(ZETAS[if inverse { 2 * blocks - 1 - i } else { blocks + i }].f as i64)
    }

    #[inline(always)]
    fn times(self, x: v128) -> v128 {
        times(x, i32x4_splat(self.0), i32x4_splat(self.1))
    }
}

/// A factor in each lane.
#[derive(Clone, Copy)]
struct Factors([i32; 4], [i32; 4]);

impl Factors {
    const fn new([a, b, c, d]: [Factor; 4]) -> Self {
        Self([a.0, b.0, c.0, d.0], [a.1, b.1, c.1, d.1])
    }

    #[inline(always)]
    fn times(&self, x: v128) -> v128 {
        times(x, load(&self.0), load(&self.1))
    }
}

/// w·x modulo q, |result| < q·(1/2 + |x|/2^33), for any x.
#[inline(always)]
fn times(x: v128, w: v128, w_q_inverse: v128) -> v128 {
    let (q, m) = (i32x4_splat(Q), i32x4_mul(x, w_q_inverse));
    // The lower halves of both products are the same.
    let low = i64x2_sub(i64x2_extmul_low_i32x4(x, w), i64x2_extmul_low_i32x4(m, q));
    let high = i64x2_sub(i64x2_extmul_high_i32x4(x, w), i64x2_extmul_high_i32x4(m, q));
    odd(low, high)
}

#[inline(always)]
fn even(low: v128, high: v128) -> v128 {
    i32x4_shuffle::<0, 2, 4, 6>(low, high)
}

#[inline(always)]
fn odd(low: v128, high: v128) -> v128 {
    i32x4_shuffle::<1, 3, 5, 7>(low, high)
}

/// a·b of the lower and of the upper lanes; not negative.
#[inline(always)]
fn products(a: v128, b: v128) -> (v128, v128) {
    (u64x2_extmul_low_u32x4(a, b), u64x2_extmul_high_u32x4(a, b))
}

/// Products of the lower and of the upper lanes, times 2^-32 mod q, in 0..2q; each below 2^32·q.
#[inline(always)]
fn montgomery_reduce((low, high): (v128, v128)) -> v128 {
    // Of -q^-1: then the multiple of q is added, and the lower halves become 0.
    let multiple = i32x4_mul(even(low, high), i32x4_splat(Q_INVERSE.wrapping_neg() as i32));
    let (low_q, high_q) = products(multiple, i32x4_splat(Q));
    odd(i64x2_add(low, low_q), i64x2_add(high, high_q))
}

#[inline(always)]
fn forward((a, b): (v128, v128), zeta: Factor) -> (v128, v128) {
    let t = zeta.times(b);
    (i32x4_add(a, t), i32x4_sub(a, t))
}

#[inline(always)]
fn backward((a, b): (v128, v128), zeta: Factor) -> (v128, v128) {
    (i32x4_add(a, b), zeta.times(i32x4_sub(b, a)))
}

/// The lower halves of two vectors, and the upper ones; its own inverse.
#[inline(always)]
fn halves((a, b): (v128, v128)) -> (v128, v128) {
    (i64x2_shuffle::<0, 2>(a, b), i64x2_shuffle::<1, 3>(a, b))
}

/// The even lanes, and the odd ones, in pairs; its own inverse.
#[inline(always)]
fn lanes_apart((a, b): (v128, v128)) -> (v128, v128) {
    (i32x4_shuffle::<0, 4, 2, 6>(a, b), i32x4_shuffle::<1, 5, 3, 7>(a, b))
}

/// The factors of the layers of length 4, 2 and 1 for eight coefficients: two vectors.
struct Block {
    four: Factor,
    two: Factors,
    one: Factors,
}

const fn blocks(inverse: bool) -> [Block; 32] {
    const fn block(p: usize, inverse: bool) -> Block {
        let [a, b] = [Factor::of_layer(64, 2 * p, inverse), Factor::of_layer(64, 2 * p + 1, inverse)];
        let one = [
            Factor::of_layer(128, 4 * p, inverse),
            Factor::of_layer(128, 4 * p + 1, inverse),
            Factor::of_layer(128, 4 * p + 2, inverse),
            Factor::of_layer(128, 4 * p + 3, inverse),
        ];
        Block {
            four: Factor::of_layer(32, p, inverse),
            two: Factors::new([a, a, b, b]),
            one: Factors::new(one),
        }
    }
    let mut all = [const { block(0, false) }; 32];
    let mut p = 0;
    while p < 32 {
        all[p] = block(p, inverse);
        p += 1;
    }
    all
}

static BLOCKS: [Block; 32] = blocks(false);
static INVERSE_BLOCKS: [Block; 32] = blocks(true);

/// The factors of the layers of length 128, 64 and 32: at 0, from 1 and from 3 on.
const fn first_layers(inverse: bool) -> [Factor; 7] {
    [
        Factor::of_layer(1, 0, inverse),
        Factor::of_layer(2, 0, inverse),
        Factor::of_layer(2, 1, inverse),
        Factor::of_layer(4, 0, inverse),
        Factor::of_layer(4, 1, inverse),
        Factor::of_layer(4, 2, inverse),
        Factor::of_layer(4, 3, inverse),
    ]
}

/// The factors of the layers of length 16 and 8, of block `p` of 32 coefficients: one and two.
const fn two_layers(inverse: bool) -> [[Factor; 3]; 8] {
    let mut all = [[Factor(0, 0); 3]; 8];
    let mut p = 0;
    while p < 8 {
        all[p] = [
            Factor::of_layer(8, p, inverse),
            Factor::of_layer(16, 2 * p, inverse),
            Factor::of_layer(16, 2 * p + 1, inverse),
        ];
        p += 1;
    }
    all
}

/// In absolute value the coefficients grow from q by less than 0.51q a layer, to 5.1q; 6q, added to those that no
/// product reduces on the way, lift all of them.
fn ntt(w: &mut Poly) {
    const FIRST: [Factor; 7] = first_layers(false);
    static NEXT: [[Factor; 3]; 8] = two_layers(false);
    debug_assert!(w.0.iter().all(|c| -Q < *c && *c < Q));
    let w = w.0.as_chunks_mut::<4>().0;
    for column in 0..8 {
        let at = |i: usize| 8 * i + column;
        let v = |i: usize| load(&w[at(i)]);
        let lifted = |i: usize| i32x4_add(v(i), i32x4_splat(6 * Q));
        let (a0, a4) = forward((lifted(0), v(4)), FIRST[0]);
        let (a1, a5) = forward((lifted(1), v(5)), FIRST[0]);
        let (a2, a6) = forward((lifted(2), v(6)), FIRST[0]);
        let (a3, a7) = forward((lifted(3), v(7)), FIRST[0]);
        let ((a0, a2), (a1, a3)) = (forward((a0, a2), FIRST[1]), forward((a1, a3), FIRST[1]));
        let ((a4, a6), (a5, a7)) = (forward((a4, a6), FIRST[2]), forward((a5, a7), FIRST[2]));
        let ((a0, a1), (a2, a3)) = (forward((a0, a1), FIRST[3]), forward((a2, a3), FIRST[4]));
        let ((a4, a5), (a6, a7)) = (forward((a4, a5), FIRST[5]), forward((a6, a7), FIRST[6]));
        store(&mut w[at(0)], a0);
        store(&mut w[at(1)], a1);
        store(&mut w[at(2)], a2);
        store(&mut w[at(3)], a3);
        store(&mut w[at(4)], a4);
        store(&mut w[at(5)], a5);
        store(&mut w[at(6)], a6);
        store(&mut w[at(7)], a7);
    }
    for (p, [sixteen, eight_0, eight_1]) in NEXT.into_iter().enumerate() {
        for column in [8 * p, 8 * p + 1] {
            let v = |i: usize| load(&w[column + 2 * i]);
            let ((a0, a2), (a1, a3)) = (forward((v(0), v(2)), sixteen), forward((v(1), v(3)), sixteen));
            let ((a0, a1), (a2, a3)) = (forward((a0, a1), eight_0), forward((a2, a3), eight_1));
            store(&mut w[column], a0);
            store(&mut w[column + 2], a1);
            store(&mut w[column + 4], a2);
            store(&mut w[column + 6], a3);
        }
    }
    for ([low, high], block) in w.as_chunks_mut::<2>().0.iter_mut().zip(&BLOCKS) {
        let (a, b) = halves(forward((load(low), load(high)), block.four));
        let t = block.two.times(b);
        let (a, b) = lanes_apart((i32x4_add(a, t), i32x4_sub(a, t)));
        let t = block.one.times(b);
        let (a, b) = halves(lanes_apart((i32x4_add(a, t), i32x4_sub(a, t))));
        store(low, a);
        store(high, b);
    }
}

/// c modulo q, below 2^22 + 2^21 in absolute value; 0 ≤ c < 2^31.
#[inline(always)]
fn reduce(c: v128) -> v128 {
    let quotient = u32x4_shr(i32x4_add(c, i32x4_splat(1 << 22)), 23);
    i32x4_sub(c, i32x4_mul(quotient, i32x4_splat(Q)))
}

/// c mod± q; |c| < q.
#[inline(always)]
fn centre(c: v128) -> v128 {
    let q = i32x4_splat(Q);
    let above = i32x4_gt(c, i32x4_splat(Q >> 1));
    let below = i32x4_lt(c, i32x4_splat(-(Q >> 1)));
    i32x4_add(i32x4_sub(c, v128_and(above, q)), v128_and(below, q))
}

/// The sums double from 2^22 + 2^21 to 2^30 + 2^29; a product is below 3q/4, which is less than where they begin.
fn inverse_ntt(w: &mut Poly) {
    const FIRST: [Factor; 7] = first_layers(true);
    static NEXT: [[Factor; 3]; 8] = two_layers(true);
    // 2^32·256^-1, and the same times the last ζ, each times 2^32 once more.
    const TWICE: i64 = Factor::new(1 << 32).0 as i64 * Factor::new(1 << 32).0 as i64;
    const LAST: Factor = Factor::new(8_347_681 * Factor::new(TWICE).0 as i64);
    const LAST_ZETA: Factor = {
        let zeta = ZETAS[1].f as i64;
        Factor::new(8_347_681 * Factor::new(zeta * Factor::new(1 << 32).0 as i64).0 as i64)
    };
    const { assert!((Q >> 1) + (Q >> 2) + 2 < (1 << 22) + (1 << 21)) };
    debug_assert!(w.0.iter().all(|c| 0 <= *c));
    let w = w.0.as_chunks_mut::<4>().0;
    for ([low, high], block) in w.as_chunks_mut::<2>().0.iter_mut().zip(&INVERSE_BLOCKS) {
        let (a, b) = lanes_apart(halves((reduce(load(low)), reduce(load(high)))));
        let (a, b) = lanes_apart((i32x4_add(a, b), block.one.times(i32x4_sub(b, a))));
        let (a, b) = backward(halves((i32x4_add(a, b), block.two.times(i32x4_sub(b, a)))), block.four);
        store(low, a);
        store(high, b);
    }
    for (p, [sixteen, eight_0, eight_1]) in NEXT.into_iter().enumerate() {
        for column in [8 * p, 8 * p + 1] {
            let v = |i: usize| load(&w[column + 2 * i]);
            let ((a0, a1), (a2, a3)) = (backward((v(0), v(1)), eight_0), backward((v(2), v(3)), eight_1));
            let ((a0, a2), (a1, a3)) = (backward((a0, a2), sixteen), backward((a1, a3), sixteen));
            store(&mut w[column], a0);
            store(&mut w[column + 2], a1);
            store(&mut w[column + 4], a2);
            store(&mut w[column + 6], a3);
        }
    }
    for column in 0..8 {
        let at = |i: usize| 8 * i + column;
        let v = |i: usize| load(&w[at(i)]);
        let ((a0, a1), (a2, a3)) = (backward((v(0), v(1)), FIRST[3]), backward((v(2), v(3)), FIRST[4]));
        let ((a4, a5), (a6, a7)) = (backward((v(4), v(5)), FIRST[5]), backward((v(6), v(7)), FIRST[6]));
        let ((a0, a2), (a1, a3)) = (backward((a0, a2), FIRST[1]), backward((a1, a3), FIRST[1]));
        let ((a4, a6), (a5, a7)) = (backward((a4, a6), FIRST[2]), backward((a5, a7), FIRST[2]));
        let mut last = |i: usize, a: v128, b: v128| {
            store(&mut w[at(i)], centre(LAST.times(i32x4_add(a, b))));
            store(&mut w[at(i + 4)], centre(LAST_ZETA.times(i32x4_sub(b, a))));
        };
        last(0, a0, a4);
        last(1, a1, a5);
        last(2, a2, a6);
        last(3, a3, a7);
    }
}

fn multiply(a: &mut Poly, b: &Poly) {
    for (a, b) in a.0.as_chunks_mut::<4>().0.iter_mut().zip(b.0.as_chunks::<4>().0) {
        let product = montgomery_reduce(products(load(a), load(b)));
        store(a, product);
    }
}

fn multiply_add(c: &mut Poly, a: &Poly, b: &Poly) {
    let factors = a.0.as_chunks::<4>().0.iter().zip(b.0.as_chunks::<4>().0);
    for (c, (a, b)) in c.0.as_chunks_mut::<4>().0.iter_mut().zip(factors) {
        let product = montgomery_reduce(products(load(a), load(b)));
        store(c, i32x4_add(load(c), product));
    }
}

/// The products are summed in 64 bits: (7·18 + 18²)·q² < 2^32·q.
fn inner_product(c: &mut Poly, a: &[Poly], stride: usize, b: &[Poly]) {
    const { assert!((7 * 18 + 18 * 18) * (Q as u64) < 1 << 32) };
    debug_assert!(b.len() <= 8 && a.len() > stride * (b.len() - 1));
    // Eight at a time: the walk over the polynomials costs as much as the products of four.
    for (i, [c0, c1]) in c.0.as_chunks_mut::<4>().0.as_chunks_mut::<2>().0.iter_mut().enumerate() {
        let zero = i64x2_splat(0);
        let (mut low_0, mut high_0, mut low_1, mut high_1) = (zero, zero, zero, zero);
        for (a, b) in a.iter().step_by(stride).zip(b) {
            let [a0, a1]: &[[i32; 4]; 2] = &a.0.as_chunks().0.as_chunks().0[i];
            let [b0, b1]: &[[i32; 4]; 2] = &b.0.as_chunks().0.as_chunks().0[i];
            let (low, high) = products(load(a0), load(b0));
            (low_0, high_0) = (i64x2_add(low_0, low), i64x2_add(high_0, high));
            let (low, high) = products(load(a1), load(b1));
            (low_1, high_1) = (i64x2_add(low_1, low), i64x2_add(high_1, high));
        }
        store(c0, montgomery_reduce((low_0, high_0)));
        store(c1, montgomery_reduce((low_1, high_1)));
    }
}

/// Four vectors of bytes are a quarter of the sum: as many as the registers of every processor hold, with the rest.
fn add_short_product(p: &mut Poly, s: &Short, places: &[u16], eta: i32, bound: i32) -> u32 {
    for places in places.chunks(at_once(eta)) {
        for (quarter, p) in p.0.as_chunks_mut::<64>().0.iter_mut().enumerate() {
            let (mut s0, mut s1, mut s2, mut s3) =
                (i8x16_splat(0), i8x16_splat(0), i8x16_splat(0), i8x16_splat(0));
            for place in places {
                let shifted: &[[i8; 16]] =
                    s.0[2 * N + 64 * quarter - usize::from(*place)..][..64].as_chunks().0;
                // SAFETY: 16 bytes are there.
                let bytes = |i: usize| unsafe { v128_load(shifted[i].as_ptr().cast()) };
                s0 = i8x16_add(s0, bytes(0));
                s1 = i8x16_add(s1, bytes(1));
                s2 = i8x16_add(s2, bytes(2));
                s3 = i8x16_add(s3, bytes(3));
            }
            let [p0, p1, p2, p3] = p.as_chunks_mut::<16>().0 else { unreachable!("64 coefficients") };
            add_bytes(p0, s0);
            add_bytes(p1, s1);
            add_bytes(p2, s2);
            add_bytes(p3, s3);
        }
    }
    is_below(p, bound)
}

#[inline(always)]
fn add_bytes(c: &mut [i32; 16], bytes: v128) {
    let (low, high) = (i16x8_extend_low_i8x16(bytes), i16x8_extend_high_i8x16(bytes));
    let [c0, c1, c2, c3] = c.as_chunks_mut::<4>().0 else { unreachable!("16 coefficients") };
    store(c0, i32x4_add(load(c0), i32x4_extend_low_i16x8(low)));
    store(c1, i32x4_add(load(c1), i32x4_extend_high_i16x8(low)));
    store(c2, i32x4_add(load(c2), i32x4_extend_low_i16x8(high)));
    store(c3, i32x4_add(load(c3), i32x4_extend_high_i16x8(high)));
}

/// Where the accepted of `LANES` candidates are, `WIDTH / LANES` bytes each; by the mask of the accepted.
const fn accepted<const LANES: usize, const WIDTH: usize, const MASKS: usize>() -> [[u8; WIDTH]; MASKS] {
    const { assert!(MASKS == 1 << LANES && LANES.is_power_of_two()) };
    let bytes = WIDTH >> LANES.trailing_zeros();
    let mut table = [[0xff; WIDTH]; MASKS];
    let mut mask = 0;
    while mask < MASKS {
        let (mut lane, mut at) = (0, 0);
        while lane < LANES {
            let mut byte = 0;
            while mask >> lane & 1 == 1 && byte < bytes {
                table[mask][at] = (bytes * lane + byte) as u8;
                at += 1;
                byte += 1;
            }
            lane += 1;
        }
        mask += 1;
    }
    table
}

/// Twelve bytes are four candidates; the upper two are read from byte 4 on, so that no load leaves the twelve.
fn reject_uniform(a: &mut Poly, filled: usize, bytes: &[u8]) -> usize {
    static ACCEPTED: [[u8; 16]; 16] = accepted::<4, 16, 16>();
    let triples = u8x16(0, 1, 2, 0xff, 3, 4, 5, 0xff, 10, 11, 12, 0xff, 13, 14, 15, 0xff);
    let mut filled = filled;
    let (groups, _) = bytes.as_chunks::<12>();
    for (i, group) in groups.iter().enumerate() {
        let Some(place) = a.0.get_mut(filled..).and_then(|rest| rest.first_chunk_mut()) else {
            return (PORTABLE.reject_uniform)(a, filled, &bytes[12 * i..]);
        };
        let [low, high] = [group.first_chunk(), group.last_chunk()].map(|chunk| chunk.expect("12 bytes"));
        let both = u64x2(u64::from_le_bytes(*low), u64::from_le_bytes(*high));
        let candidates = v128_and(i8x16_swizzle(both, triples), i32x4_splat(0x7f_ffff));
        let mask = i32x4_bitmask(i32x4_lt(candidates, i32x4_splat(Q)));
        store(place, i8x16_swizzle(candidates, load_bytes(&ACCEPTED[usize::from(mask)])));
        filled += mask.count_ones() as usize;
    }
    (PORTABLE.reject_uniform)(a, filled, &bytes[12 * groups.len()..])
}

/// Four bytes are eight half bytes; what each gives is looked up in a register.
fn reject_bounded(s: &mut Poly, filled: usize, bytes: &[u8], eta: i32) -> usize {
    static ACCEPTED: [[u8; 8]; 256] = accepted::<8, 8, 256>();
    let (coefficients, limit) = if eta == 2 {
        (i8x16(2, 1, 0, -1, -2, 2, 1, 0, -1, -2, 2, 1, 0, -1, -2, 0), 15)
    } else {
        (i8x16(4, 3, 2, 1, 0, -1, -2, -3, -4, 0, 0, 0, 0, 0, 0, 0), 9)
    };
    let mut filled = filled;
    for (i, group) in bytes.as_chunks::<4>().0.iter().enumerate() {
        let Some(place) = s.0.get_mut(filled..).and_then(|rest| rest.first_chunk_mut::<8>()) else {
            return (PORTABLE.reject_bounded)(s, filled, &bytes[4 * i..], eta);
        };
        // Each byte twice, of which the lower half is taken first.
        let four = u64x2(u64::from(u32::from_le_bytes(*group)), 0);
        let twice = i8x16_shuffle::<0, 0, 1, 1, 2, 2, 3, 3, 8, 8, 8, 8, 8, 8, 8, 8>(four, four);
        let halves =
            v128_or(v128_and(twice, i16x8_splat(0x000f)), v128_and(u16x8_shr(twice, 4), i16x8_splat(0x0f00)));
        // public: which half bytes were refused; they say nothing of the accepted ones.
        let mask = declassify_value(i8x16_bitmask(i8x16_lt(halves, i8x16_splat(limit))) as u8);
        let order = u64x2(u64::from_le_bytes(ACCEPTED[usize::from(mask)]), 0);
        let c = i16x8_extend_low_i8x16(i8x16_swizzle(i8x16_swizzle(coefficients, halves), order));
        let [low, high] = place.as_chunks_mut::<4>().0 else { unreachable!("eight coefficients") };
        store(low, i32x4_extend_low_i16x8(c));
        store(high, i32x4_extend_high_i16x8(c));
        filled += mask.count_ones() as usize;
    }
    filled
}

/// c mod q in 0..q; -q < c < q.
#[inline(always)]
fn lift(c: v128) -> v128 {
    i32x4_add(c, v128_and(i32x4_shr(c, 31), i32x4_splat(Q)))
}

fn power2round(t: &mut Poly, t1: &mut Poly) {
    for (t, t1) in t.0.as_chunks_mut::<4>().0.iter_mut().zip(t1.0.as_chunks_mut::<4>().0) {
        let r = lift(load(t));
        let high = i32x4_shr(i32x4_add(r, i32x4_splat((1 << (D - 1)) - 1)), D);
        store(t1, high);
        store(t, i32x4_sub(r, i32x4_shl(high, D)));
    }
}

/// The quotient by α = 2·γ2 in 32 bits: that of ⌈r/128⌉ by α/128, by a reciprocal of 10 or 14 places that is exact for
/// all of them (the test of the table tries each r).
#[inline(always)]
fn decompose<const M: i32>(r: &mut Poly, r1: &mut Poly) {
    let (reciprocal, places) = if M == 16 { (1025, 22) } else { (11275, 24) };
    for (r, r1) in r.0.as_chunks_mut::<4>().0.iter_mut().zip(r1.0.as_chunks_mut::<4>().0) {
        let x = lift(load(r));
        let dividend = i32x4_shr(i32x4_add(x, i32x4_splat(127)), 7);
        let product = i32x4_mul(dividend, i32x4_splat(reciprocal));
        let quotient = i32x4_shr(i32x4_add(product, i32x4_splat(1 << (places - 1))), places);
        // All ones, which is -1, exactly if the quotient is M.
        let wrapped = i32x4_eq(quotient, i32x4_splat(M));
        let multiple = i32x4_mul(quotient, i32x4_splat(const { alpha(M) }));
        store(r, i32x4_add(i32x4_sub(x, multiple), wrapped));
        store(r1, v128_andnot(quotient, wrapped));
    }
}

fn decompose_44(r: &mut Poly, r1: &mut Poly) {
    decompose::<44>(r, r1);
}

fn decompose_16(r: &mut Poly, r1: &mut Poly) {
    decompose::<16>(r, r1);
}

fn is_below(p: &Poly, bound: i32) -> u32 {
    let mut greatest = i32x4_splat(0);
    for c in p.0.as_chunks::<4>().0 {
        greatest = i32x4_max(greatest, i32x4_abs(load(c)));
    }
    u32::from(!v128_any_true(i32x4_ge(greatest, i32x4_splat(bound))))
}

fn high_bits(r1: &Poly, packed: &mut [u8], not_zero: &mut [u32; 8]) {
    pack(packed, r1, 0);
    for (word, r1) in not_zero.iter_mut().zip(r1.0.as_chunks::<4>().0.as_chunks::<8>().0) {
        *word = r1
            .iter()
            .rev()
            .fold(0, |word, r1| word << 4 | u32::from(i32x4_bitmask(i32x4_gt(load(r1), i32x4_splat(0)))));
    }
}

fn high_bits_44(r: &mut Poly, packed: &mut [u8], not_zero: &mut [u32; 8]) {
    let mut r1 = Poly::ZERO;
    decompose_44(r, &mut r1);
    high_bits(&r1, packed, not_zero);
}

fn high_bits_16(r: &mut Poly, packed: &mut [u8], not_zero: &mut [u32; 8]) {
    let mut r1 = Poly::ZERO;
    decompose_16(r, &mut r1);
    high_bits(&r1, packed, not_zero);
}

fn make_hint(sum: &Poly, gamma2: i32, hint: &mut [u32; 8]) -> u32 {
    let mut count = 0;
    for (word, sum) in hint.iter_mut().zip(sum.0.as_chunks::<4>().0.as_chunks::<8>().0) {
        let (mut not_zero, mut bits) = (*word, 0);
        for sum in sum {
            let sum = load(sum);
            // -1 where r1 is not zero: there -γ2 itself is below.
            let four = v128_and(i32x4_splat(not_zero as i32), i32x4(1, 2, 4, 8));
            let least = i32x4_sub(i32x4_splat(-gamma2), i32x4_gt(four, i32x4_splat(0)));
            let outside = v128_or(i32x4_gt(sum, i32x4_splat(gamma2)), i32x4_gt(least, sum));
            bits = bits >> 4 | u32::from(i32x4_bitmask(outside)) << 28;
            not_zero >>= 4;
        }
        *word = bits;
        count += bits.count_ones();
    }
    count
}

fn pack(out: &mut [u8], p: &Poly, high: i32) {
    match out.len() >> 5 {
        3 => pack_bits::<3>(out, p, high),
        4 => pack_bits::<4>(out, p, high),
        6 => pack_bits::<6>(out, p, high),
        10 => pack_bits::<10>(out, p, high),
        13 => pack_bits::<13>(out, p, high),
        18 => pack_bits::<18>(out, p, high),
        _ => pack_bits::<20>(out, p, high),
    }
}

/// `high` - c, or c where `high` is 0: `minus` is all ones, or nothing.
#[inline(always)]
fn reflect(c: v128, high: v128, minus: v128) -> v128 {
    i32x4_add(high, i32x4_sub(v128_xor(c, minus), minus))
}

#[inline(always)]
fn reflection(high: i32) -> (v128, v128) {
    (i32x4_splat(high), i32x4_splat(if high == 0 { 0 } else { -1 }))
}

/// Two numbers in each word of 64 bits by shifts; the words of eight by scalar ones.
#[inline(always)]
fn pack_bits<const BITS: u32>(out: &mut [u8], p: &Poly, high: i32) {
    let (high, minus) = reflection(high);
    let twos = |c: &[i32; 4]| {
        let ones = reflect(load(c), high, minus);
        let twos = v128_or(v128_and(ones, u64x2_splat(0xffff_ffff)), u64x2_shl(u64x2_shr(ones, 32), BITS));
        (u64x2_extract_lane::<0>(twos), u64x2_extract_lane::<1>(twos))
    };
    for (out, c) in out.chunks_exact_mut(BITS as usize).zip(p.0.as_chunks::<4>().0.as_chunks::<2>().0) {
        let ((a, b), (c, d)) = (twos(&c[0]), twos(&c[1]));
        if BITS <= 8 {
            let word = a | b << (2 * BITS) | c << (4 * BITS) | d << (6 * BITS);
            out.copy_from_slice(&word.to_le_bytes()[..BITS as usize]);
        } else if BITS < 16 {
            let (low, high) = (a | b << (2 * BITS), c | d << (2 * BITS));
            out[..8].copy_from_slice(&(low | high << (4 * BITS)).to_le_bytes());
            out[8..].copy_from_slice(&(high >> (64 - 4 * BITS)).to_le_bytes()[..BITS as usize - 8]);
        } else {
            let middle = b >> (64 - 2 * BITS) | c << (4 * BITS - 64) | d << (6 * BITS - 64);
            out[..8].copy_from_slice(&(a | b << (2 * BITS)).to_le_bytes());
            out[8..16].copy_from_slice(&middle.to_le_bytes());
            out[16..].copy_from_slice(&(d >> (128 - 6 * BITS)).to_le_bytes()[..BITS as usize - 16]);
        }
    }
}

fn unpack(p: &mut Poly, bytes: &[u8], high: i32) {
    match bytes.len() >> 5 {
        3 => unpack_bits::<3>(p, bytes, high),
        4 => unpack_bits::<4>(p, bytes, high),
        10 => unpack_bits::<10>(p, bytes, high),
        18 => unpack_bits::<18>(p, bytes, high),
        _ => unpack_bits::<20>(p, bytes, high),
    }
}

/// Four numbers from the first bytes of eight's, four from the last ones: each from the bytes that it touches, at most
/// three, multiplied to the top of its lane and shifted down.
#[inline(always)]
fn unpack_bits<const BITS: usize>(p: &mut Poly, bytes: &[u8], high: i32) {
    /// For the lower and the upper four: where their bytes are in the vector that is loaded, and the multipliers.
    const fn places(bits: usize) -> [([u8; 16], [i32; 4]); 2] {
        let mut places = [([0xff; 16], [0; 4]); 2];
        let mut i = 0;
        while i < 8 {
            let (four, lane) = (&mut places[i >> 2], i & 3);
            four.1[lane] = (1u32 << (32 - bits - ((i * bits) & 7))) as i32;
            let mut byte = (i * bits) >> 3;
            let mut n = 0;
            while n < 3 && byte < bits {
                // The last bytes of eight numbers end with the vector.
                four.0[4 * lane + n] = (if bits < 16 || i < 4 { byte } else { byte + 16 - bits }) as u8;
                byte += 1;
                n += 1;
            }
            i += 1;
        }
        places
    }
    let [(low_places, low_tops), (high_places, high_tops)] = const { &places(BITS) };
    let (high, minus) = reflection(high);
    let vectors = p.0.as_chunks_mut::<4>().0.as_chunks_mut::<2>().0;
    for ([low, upper], bytes) in vectors.iter_mut().zip(bytes.as_chunks::<BITS>().0) {
        let (first, last) = if BITS < 16 {
            let mut both = [0; 16];
            both[..BITS].copy_from_slice(bytes);
            (load_bytes(&both), load_bytes(&both))
        } else {
            let [first, last] = [bytes.first_chunk(), bytes.last_chunk()];
            (load_bytes(first.expect("at least 16 bytes")), load_bytes(last.expect("at least 16 bytes")))
        };
        let four = |window: v128, places: &[u8; 16], tops: &[i32; 4]| {
            let top = i32x4_mul(i8x16_swizzle(window, load_bytes(places)), load(tops));
            reflect(u32x4_shr(top, 32 - BITS as u32), high, minus)
        };
        store(low, four(first, low_places, low_tops));
        store(upper, four(last, high_places, high_tops));
    }
}
