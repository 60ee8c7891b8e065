//! x86-64 with AVX2: eight coefficients at a time, in the bounds of `portable`.
//!
//! Products with constants are signed, with constants in -q/2..q/2: a product is then below 3q/4, and the sums of a
//! whole transform stay in 32 bits without a reduction.

#![allow(unsafe_code)] // Loads, stores, and the table that is handed out only where AVX2 is.

use core::arch::x86_64::*;

use super::portable::{PORTABLE, Q_INVERSE, SCALE, ZETAS, alpha, at_once, reciprocal};
use super::{Kernels, Short};
use crate::cpu::Level;
use crate::mldsa::ring::{D, N, Poly, Q};
use crate::secret::declassify_value;

// SAFETY: `active` hands this table out only after the CPU reported AVX2 and POPCNT.
pub(super) static AVX2: Kernels = unsafe { table() };

#[target_feature(enable = "avx2,popcnt")]
pub(super) const fn table() -> Kernels {
    Kernels {
        level: Level::Avx2,
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

type Vector = __m256i;

#[inline]
#[target_feature(enable = "avx2")]
fn load(lanes: &[i32; 8]) -> Vector {
    // SAFETY: 32 bytes are there.
    unsafe { _mm256_loadu_si256(lanes.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx2")]
fn store(lanes: &mut [i32; 8], value: Vector) {
    // SAFETY: 32 bytes are there.
    unsafe { _mm256_storeu_si256(lanes.as_mut_ptr().cast(), value) };
}

#[inline]
#[target_feature(enable = "avx2")]
fn load_bytes(bytes: &[u8; 16]) -> __m128i {
    // SAFETY: 16 bytes are there.
    unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) }
}

/// A constant factor of each lane: centred, in Montgomery form, and times q^-1.
pub(super) struct Factors<const W: usize> {
    pub(super) value: [i32; W],
    pub(super) twisted: [i32; W],
}

/// The factor of a `value` in 0..q, centred.
pub(super) const fn centred(value: u32) -> (i32, i32) {
    let value = if value > Q as u32 >> 1 { value as i32 - Q } else { value as i32 };
    (value, value.wrapping_mul(Q_INVERSE as i32))
}

impl<const W: usize> Factors<W> {
    /// ζ number `first + order[lane]` in each lane.
    pub(super) const fn of(first: usize, order: [usize; W]) -> Self {
        let mut factors = Self { value: [0; W], twisted: [0; W] };
        let mut lane = 0;
        while lane < W {
            let (value, twisted) = centred(ZETAS[first + order[lane]].f);
            factors.value[lane] = value;
            factors.twisted[lane] = twisted;
            lane += 1;
        }
        factors
    }
}

/// ζ^BitRev8(k) and its twisted value.
pub(super) static CENTRED: [(i32, i32); N] = {
    let mut all = [(0, 0); N];
    let mut k = 0;
    while k < N {
        all[k] = centred(ZETAS[k].f);
        k += 1;
    }
    all
};

/// The factor that ends the inverse transform, and the same times the last ζ.
pub(super) const LAST: [(i32, i32); 2] = {
    #[allow(clippy::integer_division_remainder_used)]
    const fn product() -> u32 {
        // Both are times 2^32: one of them is taken away.
        let mut zeta = ZETAS[1].f as u64;
        let mut i = 0;
        while i < 32 {
            zeta = if zeta & 1 == 0 { zeta >> 1 } else { (zeta + Q as u64) >> 1 };
            i += 1;
        }
        (zeta * SCALE.f as u64 % Q as u64) as u32
    }
    [centred(SCALE.f), centred(product())]
};

/// The odd lanes, in the places of the even ones.
#[inline]
#[target_feature(enable = "avx2")]
fn odd(x: Vector) -> Vector {
    _mm256_castps_si256(_mm256_movehdup_ps(_mm256_castsi256_ps(x)))
}

/// The upper halves of 64 bits, of the even and of the odd lanes.
#[inline]
#[target_feature(enable = "avx2")]
fn upper(even: Vector, odds: Vector) -> Vector {
    _mm256_blend_epi32::<0b1010_1010>(odd(even), odds)
}

/// x·f for any x, below q/2 + |x|·q/2^33 in absolute value; the factors of lanes 2i and 2i + 1 are the same.
#[inline]
#[target_feature(enable = "avx2")]
fn times(x: Vector, value: Vector, twisted: Vector) -> Vector {
    times_each(x, value, twisted, value, twisted)
}

#[inline]
#[target_feature(enable = "avx2")]
fn times_each(x: Vector, value: Vector, twisted: Vector, odd_value: Vector, odd_twisted: Vector) -> Vector {
    let q = _mm256_set1_epi32(Q);
    let x_odd = odd(x);
    let even =
        _mm256_sub_epi64(_mm256_mul_epi32(x, value), _mm256_mul_epi32(_mm256_mul_epi32(x, twisted), q));
    let odds = _mm256_sub_epi64(
        _mm256_mul_epi32(x_odd, odd_value),
        _mm256_mul_epi32(_mm256_mul_epi32(x_odd, odd_twisted), q),
    );
    upper(even, odds)
}

#[inline]
#[target_feature(enable = "avx2")]
fn times_one(x: Vector, (value, twisted): (i32, i32)) -> Vector {
    times(x, _mm256_set1_epi32(value), _mm256_set1_epi32(twisted))
}

/// a·b·2^-32 mod q, in -q..q; 0 ≤ a, b and a·b < 2^32·q.
#[inline]
#[target_feature(enable = "avx2")]
fn montgomery(a: Vector, b: Vector) -> Vector {
    montgomery_reduce(_mm256_mul_epu32(a, b), _mm256_mul_epu32(odd(a), odd(b)))
}

/// The products of the even lanes, of which the compiler does not know that only the lower halves are read: where LLVM
/// does, it makes products of 64 bits.
#[inline]
#[target_feature(enable = "avx2")]
fn whole(mut products: Vector) -> Vector {
    // SAFETY: there is no instruction.
    unsafe {
        core::arch::asm!("/* {0} */", inout(ymm_reg) products, options(pure, nomem, nostack, preserves_flags));
    }
    products
}

/// The products of the even and of the odd lanes, times 2^-32 mod q, in -q..q; each below 2^32·q.
#[inline]
#[target_feature(enable = "avx2")]
fn montgomery_reduce(even: Vector, odds: Vector) -> Vector {
    let q = _mm256_set1_epi32(Q);
    let q_inverse = _mm256_set1_epi32(Q_INVERSE as i32);
    let reduced = |products| {
        let factors = whole(_mm256_mul_epu32(products, q_inverse));
        _mm256_sub_epi64(products, whole(_mm256_mul_epu32(factors, q)))
    };
    upper(reduced(even), reduced(odds))
}

#[inline]
#[target_feature(enable = "avx2")]
fn forward(v: &mut [Vector], a: usize, b: usize, zeta: (i32, i32)) {
    let t = times_one(v[b], zeta);
    (v[a], v[b]) = (_mm256_add_epi32(v[a], t), _mm256_sub_epi32(v[a], t));
}

/// One butterfly of the inverse transform.
#[inline]
#[target_feature(enable = "avx2")]
fn backward(v: &mut [Vector], a: usize, b: usize, zeta: (i32, i32)) {
    let difference = _mm256_sub_epi32(v[b], v[a]);
    (v[a], v[b]) = (_mm256_add_epi32(v[a], v[b]), times_one(difference, zeta));
}

/// Factors of the layers of length 4, 2 and 1 for one pair of vectors: 16 coefficients.
struct Inner {
    four: Factors<8>,
    two: Factors<8>,
    one: Factors<8>,
}

static INNER: [Inner; 16] = {
    const fn inner(p: usize) -> Inner {
        Inner {
            four: Factors::of(32 + 2 * p, [0, 0, 0, 0, 1, 1, 1, 1]),
            two: Factors::of(64 + 4 * p, [0, 0, 1, 1, 2, 2, 3, 3]),
            one: Factors::of(128 + 8 * p, [0, 2, 1, 3, 4, 6, 5, 7]),
        }
    }
    let mut all = [const { inner(0) }; 16];
    let mut p = 1;
    while p < 16 {
        all[p] = inner(p);
        p += 1;
    }
    all
};

/// The inverse transform takes the factors of each layer from the last to the first.
static INVERSE_INNER: [Inner; 16] = {
    const fn inner(p: usize) -> Inner {
        Inner {
            four: Factors::of(62 - 2 * p, [1, 1, 1, 1, 0, 0, 0, 0]),
            two: Factors::of(124 - 4 * p, [3, 3, 2, 2, 1, 1, 0, 0]),
            one: Factors::of(248 - 8 * p, [7, 5, 6, 4, 3, 1, 2, 0]),
        }
    }
    let mut all = [const { inner(0) }; 16];
    let mut p = 1;
    while p < 16 {
        all[p] = inner(p);
        p += 1;
    }
    all
};

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

/// Takes the even and the odd lanes apart.
#[inline]
#[target_feature(enable = "avx2")]
fn split(a: Vector, b: Vector) -> (Vector, Vector) {
    let (a, b) = (_mm256_castsi256_ps(a), _mm256_castsi256_ps(b));
    (
        _mm256_castps_si256(_mm256_shuffle_ps::<0b10_00_10_00>(a, b)),
        _mm256_castps_si256(_mm256_shuffle_ps::<0b11_01_11_01>(a, b)),
    )
}

/// Undoes [`split`].
#[inline]
#[target_feature(enable = "avx2")]
fn join(a: Vector, b: Vector) -> (Vector, Vector) {
    (_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b))
}

#[inline]
#[target_feature(enable = "avx2")]
fn forward_lanes(a: Vector, b: Vector, zeta: &Factors<8>) -> (Vector, Vector) {
    let t = times(b, load(&zeta.value), load(&zeta.twisted));
    (_mm256_add_epi32(a, t), _mm256_sub_epi32(a, t))
}

#[inline]
#[target_feature(enable = "avx2")]
fn backward_lanes(a: Vector, b: Vector, zeta: &Factors<8>) -> (Vector, Vector) {
    let t = times(_mm256_sub_epi32(b, a), load(&zeta.value), load(&zeta.twisted));
    (_mm256_add_epi32(a, b), t)
}

#[inline]
#[target_feature(enable = "avx2")]
fn times_distinct(x: Vector, zeta: &Factors<8>) -> Vector {
    let (value, twisted) = (load(&zeta.value), load(&zeta.twisted));
    times_each(x, value, twisted, odd(value), odd(twisted))
}

/// In absolute value the coefficients grow from q by less than 0.52q a layer, to 5.2q; 6q, added to those that no
/// product reduces on the way, lift all of them.
#[target_feature(enable = "avx2")]
fn ntt(w: &mut Poly) {
    debug_assert!(w.0.iter().all(|c| -Q < *c && *c < Q));
    let vectors: &mut [[i32; 8]; 32] = w.0.as_chunks_mut::<8>().0.try_into().expect("256 coefficients");
    for column in 0..4 {
        let mut v = [_mm256_setzero_si256(); 8];
        unrolled!(I in [0 1 2 3 4 5 6 7] { v[I] = load(&vectors[4 * I + column]); });
        unrolled!(I in [0 1 2 3] {
            v[I] = _mm256_add_epi32(v[I], _mm256_set1_epi32(6 * Q));
            forward(&mut v, I, I + 4, CENTRED[1]);
        });
        unrolled!(I in [0 1 4 5] { forward(&mut v, I, I + 2, CENTRED[2 + (I >> 2)]); });
        unrolled!(I in [0 2 4 6] { forward(&mut v, I, I + 1, CENTRED[4 + (I >> 1)]); });
        unrolled!(I in [0 1 2 3 4 5 6 7] { store(&mut vectors[4 * I + column], v[I]); });
    }
    let blocks = vectors.as_chunks_mut::<4>().0.iter_mut().zip(INNER.as_chunks::<2>().0);
    for (block, (lanes, inner)) in blocks.enumerate() {
        let mut v = [load(&lanes[0]), load(&lanes[1]), load(&lanes[2]), load(&lanes[3])];
        unrolled!(I in [0 1] { forward(&mut v, I, I + 2, CENTRED[8 + block]); });
        unrolled!(I in [0 2] { forward(&mut v, I, I + 1, CENTRED[16 + 2 * block + (I >> 1)]); });
        unrolled!(I in [0 1] {
            let inner = &inner[I];
            let (a, b) = halves(v[2 * I], v[2 * I + 1]);
            let (a, b) = forward_lanes(a, b, &inner.four);
            let (a, b) = quarters(a, b);
            let (a, b) = forward_lanes(a, b, &inner.two);
            let (a, b) = split(a, b);
            let t = times_distinct(b, &inner.one);
            let (a, b) = join(_mm256_add_epi32(a, t), _mm256_sub_epi32(a, t));
            let (a, b) = quarters(a, b);
            let (a, b) = halves(a, b);
            store(&mut lanes[2 * I], a);
            store(&mut lanes[2 * I + 1], b);
        });
    }
}

/// c mod q, at most 2^22 + 2^21 in absolute value; 0 ≤ c.
#[inline]
#[target_feature(enable = "avx2")]
fn reduce(c: Vector) -> Vector {
    // Unsigned, since the rounding may pass 2^31.
    let quotient = _mm256_srli_epi32::<23>(_mm256_add_epi32(c, _mm256_set1_epi32(1 << 22)));
    _mm256_sub_epi32(c, _mm256_mullo_epi32(quotient, _mm256_set1_epi32(Q)))
}

/// c mod± q; |c| < q.
#[inline]
#[target_feature(enable = "avx2")]
fn centre(c: Vector) -> Vector {
    let q = _mm256_set1_epi32(Q);
    let above = _mm256_cmpgt_epi32(c, _mm256_set1_epi32(Q >> 1));
    let below = _mm256_cmpgt_epi32(_mm256_set1_epi32(-(Q >> 1)), c);
    _mm256_add_epi32(_mm256_sub_epi32(c, _mm256_and_si256(above, q)), _mm256_and_si256(below, q))
}

/// The sums double from 2^22 + 2^21 to 2^30 + 2^29; a product is below q/2 + q/4, which is less than where they begin.
#[target_feature(enable = "avx2")]
fn inverse_ntt(w: &mut Poly) {
    debug_assert!(w.0.iter().all(|c| 0 <= *c));
    const { assert!((Q >> 1) + (Q >> 2) + 2 < (1 << 22) + (1 << 21)) };
    let vectors: &mut [[i32; 8]; 32] = w.0.as_chunks_mut::<8>().0.try_into().expect("256 coefficients");
    let blocks = vectors.as_chunks_mut::<4>().0.iter_mut().zip(INVERSE_INNER.as_chunks::<2>().0);
    for (block, (lanes, inner)) in blocks.enumerate() {
        let mut v = [_mm256_setzero_si256(); 4];
        unrolled!(I in [0 1] {
            let inner = &inner[I];
            let (a, b) = halves(reduce(load(&lanes[2 * I])), reduce(load(&lanes[2 * I + 1])));
            let (a, b) = quarters(a, b);
            let (a, b) = split(a, b);
            let t = times_distinct(_mm256_sub_epi32(b, a), &inner.one);
            let (a, b) = join(_mm256_add_epi32(a, b), t);
            let (a, b) = backward_lanes(a, b, &inner.two);
            let (a, b) = quarters(a, b);
            let (a, b) = backward_lanes(a, b, &inner.four);
            (v[2 * I], v[2 * I + 1]) = halves(a, b);
        });
        unrolled!(I in [0 2] { backward(&mut v, I, I + 1, CENTRED[31 - 2 * block - (I >> 1)]); });
        unrolled!(I in [0 1] { backward(&mut v, I, I + 2, CENTRED[15 - block]); });
        unrolled!(I in [0 1 2 3] { store(&mut lanes[I], v[I]); });
    }
    for column in 0..4 {
        let mut v = [_mm256_setzero_si256(); 8];
        unrolled!(I in [0 1 2 3 4 5 6 7] { v[I] = load(&vectors[4 * I + column]); });
        unrolled!(I in [0 2 4 6] { backward(&mut v, I, I + 1, CENTRED[7 - (I >> 1)]); });
        unrolled!(I in [0 1 4 5] { backward(&mut v, I, I + 2, CENTRED[3 - (I >> 2)]); });
        unrolled!(I in [0 1 2 3] {
            let (a, b) = (v[I], v[I + 4]);
            let sum = times_one(_mm256_add_epi32(a, b), LAST[0]);
            let difference = times_one(_mm256_sub_epi32(b, a), LAST[1]);
            store(&mut vectors[4 * I + column], centre(sum));
            store(&mut vectors[4 * (I + 4) + column], centre(difference));
        });
    }
}

#[target_feature(enable = "avx2")]
fn multiply(a: &mut Poly, b: &Poly) {
    for (a, b) in a.0.as_chunks_mut::<8>().0.iter_mut().zip(b.0.as_chunks::<8>().0) {
        let product = montgomery(load(a), load(b));
        store(a, _mm256_add_epi32(product, _mm256_set1_epi32(Q)));
    }
}

#[target_feature(enable = "avx2")]
fn multiply_add(c: &mut Poly, a: &Poly, b: &Poly) {
    let factors = a.0.as_chunks::<8>().0.iter().zip(b.0.as_chunks::<8>().0);
    for (c, (a, b)) in c.0.as_chunks_mut::<8>().0.iter_mut().zip(factors) {
        let sum = _mm256_add_epi32(load(c), _mm256_set1_epi32(Q));
        store(c, _mm256_add_epi32(sum, montgomery(load(a), load(b))));
    }
}

/// The products are summed in 64 bits; four vectors at a time, so that the walk through the polynomials costs less.
#[target_feature(enable = "avx2")]
fn inner_product(c: &mut Poly, a: &[Poly], stride: usize, b: &[Poly]) {
    const { assert!((7 * 18 + 18 * 18) * (Q as u64) < 1 << 32) };
    debug_assert!(b.len() <= 8 && a.len() > stride * (b.len() - 1));
    for (i, c) in c.0.as_chunks_mut::<8>().0.as_chunks_mut::<4>().0.iter_mut().enumerate() {
        let (mut even, mut odds) = ([_mm256_setzero_si256(); 4], [_mm256_setzero_si256(); 4]);
        for (a, b) in a.iter().step_by(stride).zip(b) {
            let a = &a.0.as_chunks::<8>().0.as_chunks::<4>().0[i];
            let b = &b.0.as_chunks::<8>().0.as_chunks::<4>().0[i];
            unrolled!(I in [0 1 2 3] {
                let (a, b) = (load(&a[I]), load(&b[I]));
                even[I] = _mm256_add_epi64(even[I], _mm256_mul_epu32(a, b));
                odds[I] = _mm256_add_epi64(odds[I], _mm256_mul_epu32(odd(a), odd(b)));
            });
        }
        unrolled!(I in [0 1 2 3] {
            let sum = montgomery_reduce(even[I], odds[I]);
            store(&mut c[I], _mm256_add_epi32(sum, _mm256_set1_epi32(Q)));
        });
    }
}

/// Eight vectors of bytes are a sum.
#[target_feature(enable = "avx2")]
fn add_short_product(p: &mut Poly, s: &Short, places: &[u16], eta: i32, bound: i32) -> u32 {
    let mut below = 0;
    for places in places.chunks(at_once(eta)) {
        let mut sum = [_mm256_setzero_si256(); 8];
        for place in places {
            let shifted: &[i8; N] =
                s.0[2 * N - usize::from(*place)..].first_chunk().expect("three times as many");
            for (sum, shifted) in sum.iter_mut().zip(shifted.as_chunks::<32>().0) {
                // SAFETY: 32 bytes are there.
                let bytes = unsafe { _mm256_loadu_si256(shifted.as_ptr().cast()) };
                *sum = _mm256_add_epi8(*sum, bytes);
            }
        }
        let mut outside = _mm256_setzero_si256();
        for (lanes, sum) in p.0.as_chunks_mut::<8>().0.as_chunks_mut::<4>().0.iter_mut().zip(sum) {
            let (low, high) = (_mm256_castsi256_si128(sum), _mm256_extracti128_si256::<1>(sum));
            let sums = [low, _mm_srli_si128::<8>(low), high, _mm_srli_si128::<8>(high)];
            for (c, sum) in lanes.iter_mut().zip(sums) {
                let c_new = _mm256_add_epi32(load(c), _mm256_cvtepi8_epi32(sum));
                let over = _mm256_cmpgt_epi32(_mm256_abs_epi32(c_new), _mm256_set1_epi32(bound - 1));
                outside = _mm256_or_si256(outside, over);
                store(c, c_new);
            }
        }
        below = _mm256_testz_si256(outside, outside);
    }
    below as u32
}

/// Where the accepted of eight candidates are; by the mask of the accepted.
static ACCEPTED: [[u8; 8]; 256] = {
    let mut table = [[0; 8]; 256];
    let mut mask = 0;
    while mask < 256 {
        let (mut lane, mut n) = (0, 0);
        while lane < 8 {
            if mask >> lane & 1 == 1 {
                table[mask][n] = lane as u8;
                n += 1;
            }
            lane += 1;
        }
        mask += 1;
    }
    table
};

/// The accepted lanes first.
#[inline]
#[target_feature(enable = "avx2")]
fn compress(lanes: Vector, mask: usize) -> Vector {
    let order = _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(i64::from_le_bytes(ACCEPTED[mask])));
    _mm256_permutevar8x32_epi32(lanes, order)
}

/// 24 bytes are eight candidates; the upper four are read from byte 8 on, so that no load leaves the 24.
#[target_feature(enable = "avx2,popcnt")]
fn reject_uniform(a: &mut Poly, filled: usize, bytes: &[u8]) -> usize {
    let triples = _mm256_setr_epi8(
        0, 1, 2, -1, 3, 4, 5, -1, 6, 7, 8, -1, 9, 10, 11, -1, //
        4, 5, 6, -1, 7, 8, 9, -1, 10, 11, 12, -1, 13, 14, 15, -1,
    );
    let mut filled = filled;
    let (groups, _) = bytes.as_chunks::<24>();
    for (i, group) in groups.iter().enumerate() {
        let Some(place) = a.0[filled..].first_chunk_mut() else {
            return (PORTABLE.reject_uniform)(a, filled, &bytes[24 * i..]);
        };
        let low = load_bytes(group.first_chunk().expect("24 bytes"));
        let high = load_bytes(group.last_chunk().expect("24 bytes"));
        let candidates = _mm256_and_si256(
            _mm256_shuffle_epi8(_mm256_set_m128i(high, low), triples),
            _mm256_set1_epi32(0x7f_ffff),
        );
        let accepted = _mm256_cmpgt_epi32(_mm256_set1_epi32(Q), candidates);
        let mask = _mm256_movemask_ps(_mm256_castsi256_ps(accepted)) as usize;
        store(place, compress(candidates, mask));
        filled += mask.count_ones() as usize;
    }
    (PORTABLE.reject_uniform)(a, filled, &bytes[24 * groups.len()..])
}

/// Four bytes are eight half bytes.
#[target_feature(enable = "avx2,popcnt")]
fn reject_bounded(s: &mut Poly, filled: usize, bytes: &[u8], eta: i32) -> usize {
    let shifts = _mm256_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28);
    let mut filled = filled;
    for (i, group) in bytes.as_chunks::<4>().0.iter().enumerate() {
        let Some(place) = s.0[filled..].first_chunk_mut() else {
            return (PORTABLE.reject_bounded)(s, filled, &bytes[4 * i..], eta);
        };
        let all = _mm256_set1_epi32(i32::from_le_bytes(*group));
        let halves = _mm256_and_si256(_mm256_srlv_epi32(all, shifts), _mm256_set1_epi32(15));
        let (limit, c) = if eta == 2 {
            // half mod 5 for half below 15: ⌊half/5⌋ = ⌊half·205/1024⌋.
            let fifth = _mm256_srli_epi32::<10>(_mm256_mullo_epi16(halves, _mm256_set1_epi32(205)));
            let multiple = _mm256_add_epi32(_mm256_slli_epi32::<2>(fifth), fifth);
            (15, _mm256_add_epi32(_mm256_sub_epi32(multiple, halves), _mm256_set1_epi32(2)))
        } else {
            (9, _mm256_sub_epi32(_mm256_set1_epi32(4), halves))
        };
        let accepted = _mm256_cmpgt_epi32(_mm256_set1_epi32(limit), halves);
        // public: which half bytes were refused; they say nothing of the accepted ones.
        let mask = declassify_value(_mm256_movemask_ps(_mm256_castsi256_ps(accepted))) as usize;
        store(place, compress(c, mask));
        filled += mask.count_ones() as usize;
    }
    filled
}

/// c mod q in 0..q; -q < c < q.
#[inline]
#[target_feature(enable = "avx2")]
fn lift(c: Vector) -> Vector {
    _mm256_add_epi32(c, _mm256_and_si256(_mm256_srai_epi32::<31>(c), _mm256_set1_epi32(Q)))
}

#[target_feature(enable = "avx2")]
fn power2round(t: &mut Poly, t1: &mut Poly) {
    for (t, t1) in t.0.as_chunks_mut::<8>().0.iter_mut().zip(t1.0.as_chunks_mut::<8>().0) {
        let r = lift(load(t));
        let rounded = _mm256_add_epi32(r, _mm256_set1_epi32((1 << (D - 1)) - 1));
        let high = _mm256_srai_epi32::<{ D as i32 }>(rounded);
        store(t1, high);
        store(t, _mm256_sub_epi32(r, _mm256_slli_epi32::<{ D as i32 }>(high)));
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn decompose<const M: i32>(r: &mut Poly, r1: &mut Poly) {
    let alpha = const { alpha(M) };
    let reciprocal = _mm256_set1_epi32(const { reciprocal(M) as i32 });
    for (r, r1) in r.0.as_chunks_mut::<8>().0.iter_mut().zip(r1.0.as_chunks_mut::<8>().0) {
        let x = lift(load(r));
        let dividend = _mm256_add_epi32(x, _mm256_set1_epi32((alpha >> 1) - 1));
        let even = _mm256_mul_epu32(dividend, reciprocal);
        let odds = _mm256_mul_epu32(odd(dividend), reciprocal);
        let quotient = _mm256_srli_epi32::<16>(upper(even, odds));
        // All ones, which is -1, exactly if the quotient is M.
        let wrapped = _mm256_cmpeq_epi32(quotient, _mm256_set1_epi32(M));
        let multiple = _mm256_mullo_epi32(quotient, _mm256_set1_epi32(alpha));
        store(r, _mm256_add_epi32(_mm256_sub_epi32(x, multiple), wrapped));
        store(r1, _mm256_andnot_si256(wrapped, quotient));
    }
}

#[target_feature(enable = "avx2")]
fn decompose_44(r: &mut Poly, r1: &mut Poly) {
    decompose::<44>(r, r1);
}

#[target_feature(enable = "avx2")]
fn decompose_16(r: &mut Poly, r1: &mut Poly) {
    decompose::<16>(r, r1);
}

#[target_feature(enable = "avx2")]
fn is_below(p: &Poly, bound: i32) -> u32 {
    let mut outside = _mm256_setzero_si256();
    for c in p.0.as_chunks::<8>().0 {
        let over = _mm256_cmpgt_epi32(_mm256_abs_epi32(load(c)), _mm256_set1_epi32(bound - 1));
        outside = _mm256_or_si256(outside, over);
    }
    _mm256_testz_si256(outside, outside) as u32
}

#[target_feature(enable = "avx2,popcnt")]
fn make_hint(sum: &Poly, gamma2: i32, hint: &mut [u32; 8]) -> u32 {
    let bits = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    let mut count = 0;
    for (word, sum) in hint.iter_mut().zip(sum.0.as_chunks::<8>().0.as_chunks::<4>().0) {
        let not_zero = *word;
        *word = 0;
        for (sum, shift) in sum.iter().zip([0, 8, 16, 24]) {
            let sum = load(sum);
            // -1 where r1 is not zero: there -γ2 itself is below.
            let all = _mm256_set1_epi32((not_zero >> shift) as i32);
            let not_zero = _mm256_cmpeq_epi32(_mm256_and_si256(all, bits), bits);
            let least = _mm256_sub_epi32(_mm256_set1_epi32(-gamma2), not_zero);
            let above = _mm256_cmpgt_epi32(sum, _mm256_set1_epi32(gamma2));
            let outside = _mm256_or_si256(above, _mm256_cmpgt_epi32(least, sum));
            *word |= (_mm256_movemask_ps(_mm256_castsi256_ps(outside)) as u32) << shift;
        }
        count += word.count_ones();
    }
    count
}

#[inline]
#[target_feature(enable = "avx2")]
fn high_bits<const M: i32, const BITS: usize>(r: &mut Poly, packed: &mut [u8], not_zero: &mut [u32; 8]) {
    let mut r1 = Poly::ZERO;
    decompose::<M>(r, &mut r1);
    pack_bits::<BITS>(packed, &r1, 0);
    for (word, r1) in not_zero.iter_mut().zip(r1.0.as_chunks::<8>().0.as_chunks::<4>().0) {
        *word = 0;
        for (r1, shift) in r1.iter().zip([0, 8, 16, 24]) {
            let not_zero = _mm256_cmpgt_epi32(load(r1), _mm256_setzero_si256());
            *word |= (_mm256_movemask_ps(_mm256_castsi256_ps(not_zero)) as u32) << shift;
        }
    }
}

#[target_feature(enable = "avx2")]
fn high_bits_44(r: &mut Poly, packed: &mut [u8], not_zero: &mut [u32; 8]) {
    high_bits::<44, 6>(r, packed, not_zero);
}

#[target_feature(enable = "avx2")]
fn high_bits_16(r: &mut Poly, packed: &mut [u8], not_zero: &mut [u32; 8]) {
    high_bits::<16, 4>(r, packed, not_zero);
}

#[target_feature(enable = "avx2")]
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

/// Two numbers in each word of 64 bits by shifts, the four words by scalar ones.
#[inline]
#[target_feature(enable = "avx2")]
fn pack_bits<const BITS: usize>(out: &mut [u8], p: &Poly, high: i32) {
    // high - c = !c + high + 1, or c = c + 0.
    let sign = _mm256_set1_epi32(if high == 0 { 0 } else { -1 });
    let offset = _mm256_set1_epi32(if high == 0 { 0 } else { high + 1 });
    for (out, c) in out.as_chunks_mut::<BITS>().0.iter_mut().zip(p.0.as_chunks::<8>().0) {
        let x = _mm256_add_epi32(_mm256_xor_si256(load(c), sign), offset);
        let shift = 32 - BITS as i64;
        let low = _mm256_and_si256(x, _mm256_set1_epi64x(0xffff_ffff));
        let up = _mm256_andnot_si256(_mm256_set1_epi64x(0xffff_ffff), x);
        let twos = _mm256_or_si256(low, _mm256_srl_epi64(up, _mm_cvtsi64_si128(shift)));
        let twos = [
            _mm256_extract_epi64::<0>(twos) as u64,
            _mm256_extract_epi64::<1>(twos) as u64,
            _mm256_extract_epi64::<2>(twos) as u64,
            _mm256_extract_epi64::<3>(twos) as u64,
        ];
        let low = u128::from(twos[0]) | u128::from(twos[1]) << (2 * BITS);
        let high = u128::from(twos[2]) | u128::from(twos[3]) << (2 * BITS);
        if BITS <= 16 {
            let all = low | high << (4 * BITS);
            out.copy_from_slice(&all.to_le_bytes()[..BITS]);
        } else {
            let all = low | high << (4 * BITS);
            let rest = high >> (128 - 4 * BITS);
            let (first, last) = out.split_at_mut(16);
            first.copy_from_slice(&all.to_le_bytes());
            last.copy_from_slice(&rest.to_le_bytes()[..BITS - 16]);
        }
    }
}

#[target_feature(enable = "avx2")]
fn unpack(p: &mut Poly, bytes: &[u8], high: i32) {
    match bytes.len() >> 5 {
        18 => unpack_wide::<18>(p, bytes, high),
        20 => unpack_wide::<20>(p, bytes, high),
        _ => (PORTABLE.unpack)(p, bytes, high),
    }
}

/// Four numbers from the first bytes of eight's, four from the last 16.
#[inline]
#[target_feature(enable = "avx2")]
fn unpack_wide<const BITS: usize>(p: &mut Poly, bytes: &[u8], high: i32) {
    const fn places(bits: usize) -> ([u8; 32], [i32; 8]) {
        let (mut places, mut shifts) = ([0x80; 32], [0; 8]);
        let mut i = 0;
        while i < 8 {
            // The upper half of the vector begins at byte bits - 16.
            let first = ((i * bits) >> 3) - if i < 4 { 0 } else { bits - 16 };
            shifts[i] = ((i * bits) & 7) as i32;
            let mut byte = 0;
            while byte < 3 {
                places[4 * i + byte] = (first + byte) as u8;
                byte += 1;
            }
            i += 1;
        }
        (places, shifts)
    }
    let (places, shifts) = const { &places(BITS) };
    let places = _mm256_set_m128i(
        load_bytes(places.last_chunk().expect("32 bytes")),
        load_bytes(places.first_chunk().expect("32 bytes")),
    );
    let shifts = load(shifts);
    let sign = _mm256_set1_epi32(if high == 0 { 0 } else { -1 });
    let offset = _mm256_set1_epi32(if high == 0 { 0 } else { high + 1 });
    for (c, bytes) in p.0.as_chunks_mut::<8>().0.iter_mut().zip(bytes.as_chunks::<BITS>().0) {
        let low = load_bytes(bytes.first_chunk().expect("at least 16 bytes"));
        let up = load_bytes(bytes.last_chunk().expect("at least 16 bytes"));
        let x = _mm256_srlv_epi32(_mm256_shuffle_epi8(_mm256_set_m128i(up, low), places), shifts);
        let x = _mm256_and_si256(x, _mm256_set1_epi32((1 << BITS) - 1));
        store(c, _mm256_add_epi32(_mm256_xor_si256(x, sign), offset));
    }
}
