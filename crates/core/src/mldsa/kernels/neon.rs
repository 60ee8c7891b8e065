//! aarch64 with Advanced SIMD: four coefficients at a time, in the bounds of `portable`.
//!
//! Products with constants are Barrett products: the multiple of q to take away comes from the rounding product with
//! w·2^31/q, known before. They are near q/2, so that the sums of a whole transform stay in 32 bits without a reduction.

#![allow(unsafe_code)] // Loads, stores, and the table that is handed out only where Advanced SIMD is.

use core::arch::aarch64::*;

use super::portable::{PORTABLE, Q_INVERSE, ZETAS, alpha, at_once, reciprocal};
use super::{Kernels, Short};
use crate::cpu::Level;
use crate::mldsa::ring::{D, N, Poly, Q};
use crate::secret::declassify_value;

// SAFETY: this module exists only where Advanced SIMD is part of the target.
pub(super) static NEON: Kernels = unsafe { table() };

#[target_feature(enable = "neon")]
const fn table() -> Kernels {
    Kernels {
        level: Level::Neon,
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
    }
}

type Vector = int32x4_t;

#[inline]
#[target_feature(enable = "neon")]
fn load(lanes: &[i32; 4]) -> Vector {
    // SAFETY: 16 bytes are there.
    unsafe { vld1q_s32(lanes.as_ptr()) }
}

#[inline]
#[target_feature(enable = "neon")]
fn store(lanes: &mut [i32; 4], value: Vector) {
    // SAFETY: 16 bytes are there.
    unsafe { vst1q_s32(lanes.as_mut_ptr(), value) };
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

/// 2^-32 modulo q.
const R_INVERSE: i64 = {
    let inverse = 8_265_825;
    assert!(Factor::new(inverse << 32).0 == 1);
    inverse
};

/// A factor w, |w| < q/2, and w·2^31/q, rounded.
#[derive(Clone, Copy)]
struct Factor(i32, i32);

impl Factor {
    #[allow(clippy::integer_division_remainder_used)] // evaluated by the compiler
    const fn new(w: i64) -> Self {
        let q = Q as i64;
        let w = w.rem_euclid(q);
        let w = if w > q / 2 { w - q } else { w };
        Self(w as i32, ((w << 32) + q).div_euclid(2 * q) as i32)
    }

    /// Factor `i` of the layer of this many blocks; the inverse transform takes them from the last to the first.
    const fn of_layer(blocks: usize, i: usize, inverse: bool) -> Self {
        let zeta = ZETAS[if inverse { 2 * blocks - 1 - i } else { blocks + i }];
        // `portable` keeps it times 2^32.
        Self::new(zeta.f as i64 * R_INVERSE)
    }

    #[inline]
    #[target_feature(enable = "neon")]
    fn times(self, x: Vector) -> Vector {
        times(x, vdupq_n_s32(self.0), vdupq_n_s32(self.1))
    }
}

/// A factor in each lane.
#[derive(Clone, Copy)]
struct Factors([i32; 4], [i32; 4]);

impl Factors {
    const fn new([a, b, c, d]: [Factor; 4]) -> Self {
        Self([a.0, b.0, c.0, d.0], [a.1, b.1, c.1, d.1])
    }

    #[inline]
    #[target_feature(enable = "neon")]
    fn times(&self, x: Vector) -> Vector {
        times(x, load(&self.0), load(&self.1))
    }
}

/// w·x modulo q, |result| < q·(1/2 + |x|/2^32), for any x: a quotient that is wrong by less than 1/2 + |x|/2^32.
#[inline]
#[target_feature(enable = "neon")]
fn times(x: Vector, w: Vector, w_over_q: Vector) -> Vector {
    vmlsq_s32(vmulq_s32(x, w), vqrdmulhq_s32(x, w_over_q), vdupq_n_s32(Q))
}

/// a·b of the lower and of the upper lanes; not negative.
#[inline]
#[target_feature(enable = "neon")]
fn products(a: Vector, b: Vector) -> (uint64x2_t, uint64x2_t) {
    let (a, b) = (vreinterpretq_u32_s32(a), vreinterpretq_u32_s32(b));
    (vmull_u32(vget_low_u32(a), vget_low_u32(b)), vmull_high_u32(a, b))
}

/// Products of the lower and of the upper lanes, times 2^-32 mod q, in 0..2q; each below 2^32·q.
#[inline]
#[target_feature(enable = "neon")]
fn montgomery_reduce(low: uint64x2_t, high: uint64x2_t) -> Vector {
    let lower_halves = vuzp1q_u32(vreinterpretq_u32_u64(low), vreinterpretq_u32_u64(high));
    // Of -q^-1: then the multiple of q is added, and the lower halves become 0.
    let multiple = vmulq_u32(lower_halves, vdupq_n_u32(Q_INVERSE.wrapping_neg()));
    let q = vdupq_n_u32(Q as u32);
    let low = vmlal_u32(low, vget_low_u32(multiple), vget_low_u32(q));
    let high = vmlal_high_u32(high, multiple, q);
    vuzp2q_s32(vreinterpretq_s32_u64(low), vreinterpretq_s32_u64(high))
}

#[inline]
#[target_feature(enable = "neon")]
fn forward(v: &mut [Vector], a: usize, b: usize, zeta: Factor) {
    let t = zeta.times(v[b]);
    (v[a], v[b]) = (vaddq_s32(v[a], t), vsubq_s32(v[a], t));
}

#[inline]
#[target_feature(enable = "neon")]
fn backward(v: &mut [Vector], a: usize, b: usize, zeta: Factor) {
    let difference = vsubq_s32(v[b], v[a]);
    (v[a], v[b]) = (vaddq_s32(v[a], v[b]), zeta.times(difference));
}

/// The lower halves of two vectors, and the upper ones; its own inverse.
#[inline]
#[target_feature(enable = "neon")]
fn halves(a: Vector, b: Vector) -> (Vector, Vector) {
    let (a, b) = (vreinterpretq_s64_s32(a), vreinterpretq_s64_s32(b));
    (vreinterpretq_s32_s64(vtrn1q_s64(a, b)), vreinterpretq_s32_s64(vtrn2q_s64(a, b)))
}

/// The even lanes, and the odd ones; its own inverse.
#[inline]
#[target_feature(enable = "neon")]
fn lanes_apart(a: Vector, b: Vector) -> (Vector, Vector) {
    (vtrn1q_s32(a, b), vtrn2q_s32(a, b))
}

/// The factors of the layers of length 16 to 1 for 32 coefficients: eight vectors, the last two layers in pairs.
struct Block {
    sixteen: Factor,
    eight: [Factor; 2],
    four: [Factor; 4],
    two: [Factors; 4],
    one: [Factors; 4],
}

const fn blocks(inverse: bool) -> [Block; 8] {
    const fn of(blocks: usize, i: usize, inverse: bool) -> Factor {
        Factor::of_layer(blocks, i, inverse)
    }
    const fn two(i: usize, inverse: bool) -> Factors {
        let [a, b] = [of(64, i, inverse), of(64, i + 1, inverse)];
        Factors::new([a, a, b, b])
    }
    const fn one(i: usize, inverse: bool) -> Factors {
        let [a, b] = [of(128, i, inverse), of(128, i + 1, inverse)];
        Factors::new([a, b, of(128, i + 2, inverse), of(128, i + 3, inverse)])
    }
    const fn block(p: usize, inverse: bool) -> Block {
        let (eight, four, i, j) = (2 * p, 4 * p, 8 * p, 16 * p);
        Block {
            sixteen: of(8, p, inverse),
            eight: [of(16, eight, inverse), of(16, eight + 1, inverse)],
            four: [
                of(32, four, inverse),
                of(32, four + 1, inverse),
                of(32, four + 2, inverse),
                of(32, four + 3, inverse),
            ],
            two: [two(i, inverse), two(i + 2, inverse), two(i + 4, inverse), two(i + 6, inverse)],
            one: [one(j, inverse), one(j + 4, inverse), one(j + 8, inverse), one(j + 12, inverse)],
        }
    }
    let mut all = [const { block(0, false) }; 8];
    let mut p = 0;
    while p < 8 {
        all[p] = block(p, inverse);
        p += 1;
    }
    all
}

static BLOCKS: [Block; 8] = blocks(false);
static INVERSE_BLOCKS: [Block; 8] = blocks(true);

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

/// In absolute value the coefficients grow from q by less than 0.53q a layer, to 5.2q; 6q, added to those that no
/// product reduces on the way, lift all of them.
#[target_feature(enable = "neon")]
fn ntt(w: &mut Poly) {
    const FIRST: [Factor; 7] = first_layers(false);
    debug_assert!(w.0.iter().all(|c| -Q < *c && *c < Q));
    let vectors = w.0.as_chunks_mut::<4>().0;
    for column in 0..8 {
        let mut v: [Vector; 8] = core::array::from_fn(|i| load(&vectors[8 * i + column]));
        for v in &mut v[..4] {
            *v = vaddq_s32(*v, vdupq_n_s32(6 * Q));
        }
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
            store(&mut vectors[8 * i + column], v);
        }
    }
    for (lanes, block) in vectors.as_chunks_mut::<8>().0.iter_mut().zip(&BLOCKS) {
        let mut v: [Vector; 8] = core::array::from_fn(|i| load(&lanes[i]));
        for i in 0..4 {
            forward(&mut v, i, i + 4, block.sixteen);
        }
        for i in [0, 1, 4, 5] {
            forward(&mut v, i, i + 2, block.eight[i >> 2]);
        }
        for (i, [low, high]) in lanes.as_chunks_mut::<2>().0.iter_mut().enumerate() {
            forward(&mut v, 2 * i, 2 * i + 1, block.four[i]);
            let (a, b) = halves(v[2 * i], v[2 * i + 1]);
            let t = block.two[i].times(b);
            let (a, b) = lanes_apart(vaddq_s32(a, t), vsubq_s32(a, t));
            let t = block.one[i].times(b);
            let (a, b) = lanes_apart(vaddq_s32(a, t), vsubq_s32(a, t));
            let (a, b) = halves(a, b);
            store(low, a);
            store(high, b);
        }
    }
}

/// c modulo q, below 2^22 + 2^21 in absolute value; 0 ≤ c < 2^31.
#[inline]
#[target_feature(enable = "neon")]
fn reduce(c: Vector) -> Vector {
    let quotient = vreinterpretq_s32_u32(vrshrq_n_u32::<23>(vreinterpretq_u32_s32(c)));
    vmlsq_s32(c, quotient, vdupq_n_s32(Q))
}

/// c mod± q; |c| < q.
#[inline]
#[target_feature(enable = "neon")]
fn centre(c: Vector) -> Vector {
    let q = vdupq_n_s32(Q);
    let above = vreinterpretq_s32_u32(vcgtq_s32(c, vdupq_n_s32(Q >> 1)));
    let below = vreinterpretq_s32_u32(vcltq_s32(c, vdupq_n_s32(-(Q >> 1))));
    // Each is -1 or 0.
    vmlsq_s32(vmlaq_s32(c, above, q), below, q)
}

/// The sums double from 2^22 + 2^21 to 2^30 + 2^29; a product is below 7q/8, and before the last layer below 3q/4, which
/// is less than where they begin.
#[target_feature(enable = "neon")]
fn inverse_ntt(w: &mut Poly) {
    const FIRST: [Factor; 7] = first_layers(true);
    // 256^-1 · 2^32, and the same times the last ζ.
    const LAST: Factor = Factor::new(8_347_681 * Factor::new(1 << 32).0 as i64);
    const LAST_ZETA: Factor = Factor::new(LAST.0 as i64 * FIRST[0].0 as i64);
    const { assert!((Q >> 1) + (Q >> 2) + 2 < (1 << 22) + (1 << 21)) };
    debug_assert!(w.0.iter().all(|c| 0 <= *c));
    let vectors = w.0.as_chunks_mut::<4>().0;
    for (lanes, block) in vectors.as_chunks_mut::<8>().0.iter_mut().zip(&INVERSE_BLOCKS) {
        let mut v: [Vector; 8] = core::array::from_fn(|i| reduce(load(&lanes[i])));
        for (i, pair) in v.as_chunks_mut::<2>().0.iter_mut().enumerate() {
            let (a, b) = halves(pair[0], pair[1]);
            let (a, b) = lanes_apart(a, b);
            let (a, b) = lanes_apart(vaddq_s32(a, b), block.one[i].times(vsubq_s32(b, a)));
            (pair[0], pair[1]) = halves(vaddq_s32(a, b), block.two[i].times(vsubq_s32(b, a)));
            backward(pair, 0, 1, block.four[i]);
        }
        for i in [0, 1, 4, 5] {
            backward(&mut v, i, i + 2, block.eight[i >> 2]);
        }
        for i in 0..4 {
            backward(&mut v, i, i + 4, block.sixteen);
        }
        for (lanes, v) in lanes.iter_mut().zip(v) {
            store(lanes, v);
        }
    }
    for column in 0..8 {
        let mut v: [Vector; 8] = core::array::from_fn(|i| load(&vectors[8 * i + column]));
        for i in [0, 2, 4, 6] {
            backward(&mut v, i, i + 1, FIRST[3 + (i >> 1)]);
        }
        for i in [0, 1, 4, 5] {
            backward(&mut v, i, i + 2, FIRST[1 + (i >> 2)]);
        }
        for i in 0..4 {
            let (a, b) = (v[i], v[i + 4]);
            store(&mut vectors[8 * i + column], centre(LAST.times(vaddq_s32(a, b))));
            store(&mut vectors[8 * (i + 4) + column], centre(LAST_ZETA.times(vsubq_s32(b, a))));
        }
    }
}

#[target_feature(enable = "neon")]
fn multiply(a: &mut Poly, b: &Poly) {
    for (a, b) in a.0.as_chunks_mut::<4>().0.iter_mut().zip(b.0.as_chunks::<4>().0) {
        let (low, high) = products(load(a), load(b));
        store(a, montgomery_reduce(low, high));
    }
}

#[target_feature(enable = "neon")]
fn multiply_add(c: &mut Poly, a: &Poly, b: &Poly) {
    let factors = a.0.as_chunks::<4>().0.iter().zip(b.0.as_chunks::<4>().0);
    for (c, (a, b)) in c.0.as_chunks_mut::<4>().0.iter_mut().zip(factors) {
        let (low, high) = products(load(a), load(b));
        let sum = vaddq_s32(load(c), montgomery_reduce(low, high));
        store(c, sum);
    }
}

/// The products are summed in 64 bits: (7·18 + 18²)·q² < 2^32·q.
#[target_feature(enable = "neon")]
fn inner_product(c: &mut Poly, a: &[Poly], stride: usize, b: &[Poly]) {
    const { assert!((7 * 18 + 18 * 18) * (Q as u64) < 1 << 32) };
    debug_assert!(b.len() <= 8 && a.len() > stride * (b.len() - 1));
    // Sixteen at a time: the walk over the polynomials costs as much as the products of four.
    for (i, c) in c.0.as_chunks_mut::<16>().0.iter_mut().enumerate() {
        let mut sums = [(vdupq_n_u64(0), vdupq_n_u64(0)); 4];
        for (a, b) in a.iter().step_by(stride).zip(b) {
            let (a, b): (&[i32; 16], &[i32; 16]) = (&a.0.as_chunks().0[i], &b.0.as_chunks().0[i]);
            for ((low, high), (a, b)) in
                sums.iter_mut().zip(a.as_chunks::<4>().0.iter().zip(b.as_chunks::<4>().0))
            {
                let (a, b) = (vreinterpretq_u32_s32(load(a)), vreinterpretq_u32_s32(load(b)));
                *low = vmlal_u32(*low, vget_low_u32(a), vget_low_u32(b));
                *high = vmlal_high_u32(*high, a, b);
            }
        }
        for (c, (low, high)) in c.as_chunks_mut::<4>().0.iter_mut().zip(sums) {
            store(c, montgomery_reduce(low, high));
        }
    }
}

/// Sixteen vectors of bytes are a sum.
#[target_feature(enable = "neon")]
fn add_short_product(p: &mut Poly, s: &Short, places: &[u16], eta: i32, bound: i32) -> u32 {
    for places in places.chunks(at_once(eta)) {
        let mut sum = [vdupq_n_s8(0); 16];
        for place in places {
            let shifted: &[i8; N] =
                s.0[2 * N - usize::from(*place)..].first_chunk().expect("three times as many");
            for (sum, shifted) in sum.iter_mut().zip(shifted.as_chunks::<16>().0) {
                // SAFETY: 16 bytes are there.
                *sum = vaddq_s8(*sum, unsafe { vld1q_s8(shifted.as_ptr()) });
            }
        }
        for (c, sum) in p.0.as_chunks_mut::<16>().0.iter_mut().zip(sum) {
            let (low, high) = (vmovl_s8(vget_low_s8(sum)), vmovl_high_s8(sum));
            let sums = [
                vmovl_s16(vget_low_s16(low)),
                vmovl_high_s16(low),
                vmovl_s16(vget_low_s16(high)),
                vmovl_high_s16(high),
            ];
            for (c, sum) in c.as_chunks_mut::<4>().0.iter_mut().zip(sums) {
                store(c, vaddq_s32(load(c), sum));
            }
        }
    }
    is_below(p, bound)
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
#[target_feature(enable = "neon")]
fn reject_uniform(a: &mut Poly, filled: usize, bytes: &[u8]) -> usize {
    static ACCEPTED: [[u8; 16]; 16] = accepted::<4, 16, 16>();
    let triples = load_bytes(&[0, 1, 2, 0xff, 3, 4, 5, 0xff, 10, 11, 12, 0xff, 13, 14, 15, 0xff]);
    let lane_bits = load(&[1, 2, 4, 8]);
    let mut filled = filled;
    let (groups, _) = bytes.as_chunks::<12>();
    for (i, group) in groups.iter().enumerate() {
        let Some(place) = a.0.get_mut(filled..).and_then(|rest| rest.first_chunk_mut()) else {
            return (PORTABLE.reject_uniform)(a, filled, &bytes[12 * i..]);
        };
        let low = load_half(group.first_chunk().expect("12 bytes"));
        let high = load_half(group.last_chunk().expect("12 bytes"));
        let candidates = vreinterpretq_s32_u8(vqtbl1q_u8(vcombine_u8(low, high), triples));
        let candidates = vandq_s32(candidates, vdupq_n_s32(0x7f_ffff));
        let accepted = vreinterpretq_s32_u32(vcltq_s32(candidates, vdupq_n_s32(Q)));
        let mask = vaddvq_s32(vandq_s32(accepted, lane_bits)) as usize;
        let order = load_bytes(&ACCEPTED[mask & 15]);
        store(place, vreinterpretq_s32_u8(vqtbl1q_u8(vreinterpretq_u8_s32(candidates), order)));
        // Each accepted lane is -1.
        filled += -vaddvq_s32(accepted) as usize;
    }
    (PORTABLE.reject_uniform)(a, filled, &bytes[12 * groups.len()..])
}

/// Four bytes are eight half bytes; what each gives is looked up in a register.
#[target_feature(enable = "neon")]
fn reject_bounded(s: &mut Poly, filled: usize, bytes: &[u8], eta: i32) -> usize {
    static ACCEPTED: [[u8; 8]; 256] = accepted::<8, 8, 256>();
    const COEFFICIENTS: [[i8; 16]; 2] = [
        [2, 1, 0, -1, -2, 2, 1, 0, -1, -2, 2, 1, 0, -1, -2, 0],
        [4, 3, 2, 1, 0, -1, -2, -3, -4, 0, 0, 0, 0, 0, 0, 0],
    ];
    let (coefficients, limit) = if eta == 2 { (&COEFFICIENTS[0], 15) } else { (&COEFFICIENTS[1], 9) };
    let coefficients = load_bytes(&coefficients.map(|c| c as u8));
    let lane_bits = load_half(&[1, 2, 4, 8, 16, 32, 64, 128]);
    let mut filled = filled;
    for (i, group) in bytes.as_chunks::<4>().0.iter().enumerate() {
        let Some(place) = s.0.get_mut(filled..).and_then(|rest| rest.first_chunk_mut::<8>()) else {
            return (PORTABLE.reject_bounded)(s, filled, &bytes[4 * i..], eta);
        };
        let four = vcreate_u8(u64::from(u32::from_le_bytes(*group)));
        let halves = vzip1_u8(vand_u8(four, vdup_n_u8(15)), vshr_n_u8::<4>(four));
        let c = vqtbl1_u8(coefficients, halves);
        let accepted = vclt_u8(halves, vdup_n_u8(limit));
        // public: which half bytes were refused; they say nothing of the accepted ones.
        let mask = declassify_value(vaddv_u8(vand_u8(accepted, lane_bits)));
        let c = vmovl_s8(vreinterpret_s8_u8(vtbl1_u8(c, load_half(&ACCEPTED[usize::from(mask)]))));
        let [low, high] = place.as_chunks_mut::<4>().0 else { unreachable!("eight coefficients") };
        store(low, vmovl_s16(vget_low_s16(c)));
        store(high, vmovl_high_s16(c));
        filled += mask.count_ones() as usize;
    }
    filled
}

/// c mod q in 0..q; -q < c < q.
#[inline]
#[target_feature(enable = "neon")]
fn lift(c: Vector) -> Vector {
    vmlsq_s32(c, vshrq_n_s32::<31>(c), vdupq_n_s32(Q))
}

#[target_feature(enable = "neon")]
fn power2round(t: &mut Poly, t1: &mut Poly) {
    for (t, t1) in t.0.as_chunks_mut::<4>().0.iter_mut().zip(t1.0.as_chunks_mut::<4>().0) {
        let r = lift(load(t));
        let high = vshrq_n_s32::<{ D as i32 }>(vaddq_s32(r, vdupq_n_s32((1 << (D - 1)) - 1)));
        store(t1, high);
        store(t, vsubq_s32(r, vshlq_n_s32::<{ D as i32 }>(high)));
    }
}

#[inline]
#[target_feature(enable = "neon")]
fn decompose<const M: i32>(r: &mut Poly, r1: &mut Poly) {
    let alpha = const { alpha(M) };
    let reciprocal = const {
        assert!(reciprocal(M) < 1 << 31);
        reciprocal(M) as i32
    };
    for (r, r1) in r.0.as_chunks_mut::<4>().0.iter_mut().zip(r1.0.as_chunks_mut::<4>().0) {
        let x = lift(load(r));
        let dividend = vaddq_s32(x, vdupq_n_s32((alpha >> 1) - 1));
        // The doubled product less 32 places, and 17 more: 48 in all.
        let quotient = vshrq_n_s32::<17>(vqdmulhq_s32(dividend, vdupq_n_s32(reciprocal)));
        // All ones, which is -1, exactly if the quotient is M.
        let wrapped = vreinterpretq_s32_u32(vceqq_s32(quotient, vdupq_n_s32(M)));
        store(r, vaddq_s32(vmlsq_s32(x, quotient, vdupq_n_s32(alpha)), wrapped));
        store(r1, vbicq_s32(quotient, wrapped));
    }
}

#[target_feature(enable = "neon")]
fn decompose_44(r: &mut Poly, r1: &mut Poly) {
    decompose::<44>(r, r1);
}

#[target_feature(enable = "neon")]
fn decompose_16(r: &mut Poly, r1: &mut Poly) {
    decompose::<16>(r, r1);
}

#[target_feature(enable = "neon")]
fn is_below(p: &Poly, bound: i32) -> u32 {
    let mut greatest = vdupq_n_s32(0);
    for c in p.0.as_chunks::<4>().0 {
        greatest = vmaxq_s32(greatest, vabsq_s32(load(c)));
    }
    (vmaxvq_s32(greatest) - bound) as u32 >> 31
}

/// A bit for each of 32 lanes; each of eight vectors has all ones in those that give one.
#[inline]
#[target_feature(enable = "neon")]
fn bits_of(lanes: [uint32x4_t; 8]) -> u32 {
    let lane_bits = load_bytes(&[1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128]);
    let eight = |i: usize| {
        let (a, b) = (vreinterpretq_u16_u32(lanes[i]), vreinterpretq_u16_u32(lanes[i + 1]));
        vreinterpretq_u8_u16(vuzp1q_u16(a, b))
    };
    let sixteen = |i: usize| vandq_u8(vuzp1q_u8(eight(i), eight(i + 2)), lane_bits);
    // Eight bytes with a bit each become one, three times by halves.
    let bits = vpaddq_u8(sixteen(0), sixteen(4));
    let bits = vpaddq_u8(bits, bits);
    vgetq_lane_u32::<0>(vreinterpretq_u32_u8(vpaddq_u8(bits, bits)))
}

#[inline]
#[target_feature(enable = "neon")]
fn high_bits<const M: i32>(r: &mut Poly, packed: &mut [u8], not_zero: &mut [u32; 8]) {
    let mut r1 = Poly::ZERO;
    decompose::<M>(r, &mut r1);
    pack(packed, &r1, 0);
    for (word, r1) in not_zero.iter_mut().zip(r1.0.as_chunks::<4>().0.as_chunks::<8>().0) {
        let mut lanes = [vdupq_n_u32(0); 8];
        for (lanes, r1) in lanes.iter_mut().zip(r1) {
            *lanes = vcgtzq_s32(load(r1));
        }
        *word = bits_of(lanes);
    }
}

#[target_feature(enable = "neon")]
fn high_bits_44(r: &mut Poly, packed: &mut [u8], not_zero: &mut [u32; 8]) {
    high_bits::<44>(r, packed, not_zero);
}

#[target_feature(enable = "neon")]
fn high_bits_16(r: &mut Poly, packed: &mut [u8], not_zero: &mut [u32; 8]) {
    high_bits::<16>(r, packed, not_zero);
}

#[target_feature(enable = "neon")]
fn make_hint(sum: &Poly, gamma2: i32, hint: &mut [u32; 8]) -> u32 {
    let mut count = 0;
    for (word, sum) in hint.iter_mut().zip(sum.0.as_chunks::<4>().0.as_chunks::<8>().0) {
        let mut lanes = [vdupq_n_u32(0); 8];
        for ((lanes, sum), shift) in lanes.iter_mut().zip(sum).zip([0, 4, 8, 12, 16, 20, 24, 28]) {
            let sum = load(sum);
            // -1 where r1 is not zero: there -γ2 itself is below.
            let four = [1, 2, 4, 8].map(|bit| (*word >> shift) as i32 & bit);
            let not_zero = vreinterpretq_s32_u32(vcgtzq_s32(load(&four)));
            let least = vsubq_s32(vdupq_n_s32(-gamma2), not_zero);
            *lanes = vorrq_u32(vcgtq_s32(sum, vdupq_n_s32(gamma2)), vcgtq_s32(least, sum));
        }
        *word = bits_of(lanes);
        count += word.count_ones();
    }
    count
}

/// The sign of the coefficient in what `pack` writes: high - c, or c where `high` is 0.
#[inline]
fn sign(high: i32) -> i32 {
    if high == 0 { 1 } else { -1 }
}

#[target_feature(enable = "neon")]
fn pack(out: &mut [u8], p: &Poly, high: i32) {
    match out.len() >> 5 {
        3 => pack_bits::<3, 6>(out, p, high),
        4 => pack_bits::<4, 8>(out, p, high),
        6 => pack_bits::<6, 12>(out, p, high),
        10 => pack_bits::<10, 20>(out, p, high),
        13 => pack_bits::<13, 26>(out, p, high),
        18 => pack_bits::<18, 36>(out, p, high),
        _ => pack_bits::<20, 40>(out, p, high),
    }
}

/// Two numbers in each word of 64 bits, or four where there is room, by shifts; the words by scalar ones.
#[inline]
#[target_feature(enable = "neon")]
fn pack_bits<const BITS: i32, const TWO_BITS: i32>(out: &mut [u8], p: &Poly, high: i32) {
    const { assert!(TWO_BITS == 2 * BITS) };
    let (offset, sign) = (vdupq_n_s32(high), vdupq_n_s32(sign(high)));
    let twos = |c: &[i32; 4]| {
        let ones = vreinterpretq_u64_s32(vmlaq_s32(offset, load(c), sign));
        vsliq_n_u64::<BITS>(ones, vshrq_n_u64::<32>(ones))
    };
    for (out, c) in out.chunks_exact_mut(BITS as usize).zip(p.0.as_chunks::<4>().0.as_chunks::<2>().0) {
        let (a, b) = (twos(&c[0]), twos(&c[1]));
        if BITS <= 16 {
            let fours = vsliq_n_u64::<TWO_BITS>(vuzp1q_u64(a, b), vuzp2q_u64(a, b));
            let low = u128::from(vgetq_lane_u64::<0>(fours));
            let high = u128::from(vgetq_lane_u64::<1>(fours));
            out.copy_from_slice(&(low | high << (2 * TWO_BITS)).to_le_bytes()[..BITS as usize]);
        } else {
            let four =
                |v| u128::from(vgetq_lane_u64::<0>(v)) | u128::from(vgetq_lane_u64::<1>(v)) << TWO_BITS;
            let (low, high) = (four(a), four(b));
            let (first, last) = out.split_at_mut(16);
            first.copy_from_slice(&(low | high << (2 * TWO_BITS)).to_le_bytes());
            let rest = high >> (128 - 2 * TWO_BITS);
            last.copy_from_slice(&rest.to_le_bytes()[..BITS as usize - 16]);
        }
    }
}

#[target_feature(enable = "neon")]
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
/// three, shifted to its place.
#[inline]
#[target_feature(enable = "neon")]
fn unpack_bits<const BITS: usize>(p: &mut Poly, bytes: &[u8], high: i32) {
    /// For the lower and the upper four: where their bytes are in the vector that is loaded, and the shifts.
    const fn places(bits: usize) -> [([u8; 16], [i32; 4]); 2] {
        let mut places = [([0xff; 16], [0; 4]); 2];
        let mut i = 0;
        while i < 8 {
            let (four, lane) = (&mut places[i >> 2], i & 3);
            four.1[lane] = -(((i * bits) & 7) as i32);
            let mut byte = (i * bits) >> 3;
            let mut n = 0;
            while n < 3 && byte < bits {
                // The last bytes of eight numbers end with the vector.
                four.0[4 * lane + n] = (if bits < 8 || i < 4 { byte } else { byte + 16 - bits }) as u8;
                byte += 1;
                n += 1;
            }
            i += 1;
        }
        places
    }
    let places = const { &places(BITS) };
    let (offset, sign) = (vdupq_n_s32(high), vdupq_n_s32(sign(high)));
    let vectors = p.0.as_chunks_mut::<4>().0.as_chunks_mut::<2>().0;
    for (c, bytes) in vectors.iter_mut().zip(bytes.as_chunks::<BITS>().0) {
        let windows = if BITS < 8 {
            let mut word = [0; 8];
            word[..BITS].copy_from_slice(bytes);
            [vcombine_u8(load_half(&word), vdup_n_u8(0)); 2]
        } else if BITS < 16 {
            let first = load_half(bytes.first_chunk().expect("at least 8 bytes"));
            [vcombine_u8(first, load_half(bytes.last_chunk().expect("at least 8 bytes"))); 2]
        } else {
            let first = load_bytes(bytes.first_chunk().expect("at least 16 bytes"));
            [first, load_bytes(bytes.last_chunk().expect("at least 16 bytes"))]
        };
        for ((c, window), (places, shifts)) in c.iter_mut().zip(windows).zip(places) {
            let x = vreinterpretq_u32_u8(vqtbl1q_u8(window, load_bytes(places)));
            let x = vandq_u32(vshlq_u32(x, load(shifts)), vdupq_n_u32(const { (1 << BITS) - 1 }));
            store(c, vmlaq_s32(offset, vreinterpretq_s32_u32(x), sign));
        }
    }
}
