//! x86-64 with AVX-512: sixteen coefficients at a time, a whole polynomial in registers; the bounds of `avx2`.

#![allow(unsafe_code)] // Loads, stores, and the table that is handed out only where AVX-512 is.

use core::arch::x86_64::*;

use super::avx2::{CENTRED, Factors, LAST};
use super::portable::{Q_INVERSE, alpha, at_once, reciprocal};
use super::{Kernels, Short};
use crate::cpu::Level;
use crate::mldsa::ring::{D, N, Poly, Q};
use crate::secret::declassify_value;

// SAFETY: `active` hands this table out only after the CPU reported these features.
pub(super) static AVX512: Kernels = unsafe { table() };

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,popcnt")]
pub(super) const fn table() -> Kernels {
    Kernels {
        level: Level::Avx512,
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

type Vector = __m512i;

#[inline]
#[target_feature(enable = "avx512f")]
fn load(lanes: &[i32; 16]) -> Vector {
    // SAFETY: 64 bytes are there.
    unsafe { _mm512_loadu_si512(lanes.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn store(lanes: &mut [i32; 16], value: Vector) {
    // SAFETY: 64 bytes are there.
    unsafe { _mm512_storeu_si512(lanes.as_mut_ptr().cast(), value) };
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load_places(places: &[u8; 64]) -> Vector {
    // SAFETY: 64 bytes are there.
    unsafe { _mm512_loadu_si512(places.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load_half(bytes: &[u8; 32]) -> __m256i {
    // SAFETY: 32 bytes are there.
    unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
}

/// As many bytes as there are, at most 64; zeros after them.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn load_bytes(bytes: &[u8]) -> Vector {
    debug_assert!(bytes.len() <= 64);
    // SAFETY: the mask has a bit for each byte that is there, and no other byte is touched.
    unsafe { _mm512_maskz_loadu_epi8(first_u64(bytes.len()), bytes.as_ptr().cast()) }
}

/// The first lanes, as many as there is room for.
#[inline]
#[target_feature(enable = "avx512f")]
fn store_first(room: &mut [i32], value: Vector) {
    // SAFETY: the mask has a bit for each lane that has a place, and no other place is touched.
    unsafe {
        _mm512_mask_storeu_epi32(room.as_mut_ptr(), first_u64(room.len().min(16)) as u16, value);
    }
}

/// `n` ones, n ≤ 64.
#[inline(always)]
fn first_u64(n: usize) -> u64 {
    if n >= 64 { u64::MAX } else { (1 << n) - 1 }
}

/// The odd lanes, in the places of the even ones.
#[inline]
#[target_feature(enable = "avx512f")]
fn odd(x: Vector) -> Vector {
    _mm512_castps_si512(_mm512_movehdup_ps(_mm512_castsi512_ps(x)))
}

/// The products of the even lanes, of which the compiler does not know that only the lower halves are read: where LLVM
/// does, it makes a product of 64 bits, or clears halves that nobody reads.
#[inline]
#[target_feature(enable = "avx512f")]
fn whole(mut products: Vector) -> Vector {
    // SAFETY: there is no instruction.
    unsafe {
        core::arch::asm!("/* {0} */", inout(zmm_reg) products, options(pure, nomem, nostack, preserves_flags));
    }
    products
}

/// The even lanes, in a mask that the compiler does not know: of a shuffle under one that it knows LLVM makes two.
#[inline]
#[target_feature(enable = "avx512f")]
fn even_lanes() -> __mmask16 {
    let mut mask = 0x5555;
    // SAFETY: there is no instruction.
    unsafe {
        core::arch::asm!("/* {0} */", inout(kreg) mask, options(pure, nomem, nostack, preserves_flags));
    }
    mask
}

/// The upper halves of 64 bits, of the even and of the odd lanes.
#[inline]
#[target_feature(enable = "avx512f")]
fn upper(even: Vector, odds: Vector) -> Vector {
    _mm512_mask_shuffle_epi32::<0b11_11_01_01>(odds, even_lanes(), even)
}

/// x·f, as in `avx2`; the factors of lanes 2i and 2i + 1 are the same.
#[inline]
#[target_feature(enable = "avx512f")]
fn times(x: Vector, value: Vector, twisted: Vector) -> Vector {
    times_each(x, value, twisted, value, twisted)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn times_each(x: Vector, value: Vector, twisted: Vector, odd_value: Vector, odd_twisted: Vector) -> Vector {
    let q = _mm512_set1_epi32(Q);
    let x_odd = odd(x);
    let even = _mm512_sub_epi64(
        _mm512_mul_epi32(x, value),
        _mm512_mul_epi32(whole(_mm512_mul_epi32(x, twisted)), q),
    );
    let odds = _mm512_sub_epi64(
        _mm512_mul_epi32(x_odd, odd_value),
        _mm512_mul_epi32(whole(_mm512_mul_epi32(x_odd, odd_twisted)), q),
    );
    upper(even, odds)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn times_one(x: Vector, (value, twisted): (i32, i32)) -> Vector {
    times(x, _mm512_set1_epi32(value), _mm512_set1_epi32(twisted))
}

#[inline]
#[target_feature(enable = "avx512f")]
fn times_distinct(x: Vector, zeta: &Factors<16>) -> Vector {
    let (value, twisted) = (load(&zeta.value), load(&zeta.twisted));
    times_each(x, value, twisted, odd(value), odd(twisted))
}

/// a·b·2^-32 mod q, in -q..q; 0 ≤ a, b and a·b < 2^32·q.
#[inline]
#[target_feature(enable = "avx512f")]
fn montgomery(a: Vector, b: Vector) -> Vector {
    montgomery_reduce(_mm512_mul_epu32(a, b), _mm512_mul_epu32(odd(a), odd(b)))
}

/// The products of the even and of the odd lanes, times 2^-32 mod q, in -q..q; each below 2^32·q.
#[inline]
#[target_feature(enable = "avx512f")]
fn montgomery_reduce(even: Vector, odds: Vector) -> Vector {
    let q = _mm512_set1_epi32(Q);
    let q_inverse = _mm512_set1_epi32(Q_INVERSE as i32);
    let reduced = |products| {
        let factors = whole(_mm512_mul_epu32(products, q_inverse));
        _mm512_sub_epi64(products, whole(_mm512_mul_epu32(factors, q)))
    };
    upper(reduced(even), reduced(odds))
}

#[inline]
#[target_feature(enable = "avx512f")]
fn forward(v: &mut [Vector; 16], a: usize, b: usize, zeta: (i32, i32)) {
    let t = times_one(v[b], zeta);
    (v[a], v[b]) = (_mm512_add_epi32(v[a], t), _mm512_sub_epi32(v[a], t));
}

#[inline]
#[target_feature(enable = "avx512f")]
fn backward(v: &mut [Vector; 16], a: usize, b: usize, zeta: (i32, i32)) {
    let difference = _mm512_sub_epi32(v[b], v[a]);
    (v[a], v[b]) = (_mm512_add_epi32(v[a], v[b]), times_one(difference, zeta));
}

#[inline]
#[target_feature(enable = "avx512f")]
fn forward_lanes(a: Vector, b: Vector, zeta: &Factors<16>) -> (Vector, Vector) {
    let t = times(b, load(&zeta.value), load(&zeta.twisted));
    (_mm512_add_epi32(a, t), _mm512_sub_epi32(a, t))
}

#[inline]
#[target_feature(enable = "avx512f")]
fn backward_lanes(a: Vector, b: Vector, zeta: &Factors<16>) -> (Vector, Vector) {
    let t = times(_mm512_sub_epi32(b, a), load(&zeta.value), load(&zeta.twisted));
    (_mm512_add_epi32(a, b), t)
}

/// Factors of the layers of length 8, 4, 2 and 1 for one pair of vectors: 32 coefficients, in the order in which the
/// shuffles bring the blocks.
struct Inner {
    eight: Factors<16>,
    four: Factors<16>,
    two: Factors<16>,
    one: Factors<16>,
}

static INNER: [Inner; 8] = {
    const fn inner(p: usize) -> Inner {
        Inner {
            eight: Factors::of(16 + 2 * p, [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1]),
            four: Factors::of(32 + 4 * p, [0, 0, 0, 0, 2, 2, 2, 2, 1, 1, 1, 1, 3, 3, 3, 3]),
            two: Factors::of(64 + 8 * p, [0, 0, 1, 1, 4, 4, 5, 5, 2, 2, 3, 3, 6, 6, 7, 7]),
            one: Factors::of(128 + 16 * p, [0, 2, 1, 3, 8, 10, 9, 11, 4, 6, 5, 7, 12, 14, 13, 15]),
        }
    }
    let mut all = [const { inner(0) }; 8];
    let mut p = 1;
    while p < 8 {
        all[p] = inner(p);
        p += 1;
    }
    all
};

/// The inverse transform takes the factors of each layer from the last to the first.
static INVERSE_INNER: [Inner; 8] = {
    const fn inner(p: usize) -> Inner {
        Inner {
            eight: Factors::of(30 - 2 * p, [1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0]),
            four: Factors::of(60 - 4 * p, [3, 3, 3, 3, 1, 1, 1, 1, 2, 2, 2, 2, 0, 0, 0, 0]),
            two: Factors::of(120 - 8 * p, [7, 7, 6, 6, 3, 3, 2, 2, 5, 5, 4, 4, 1, 1, 0, 0]),
            one: Factors::of(240 - 16 * p, [15, 13, 14, 12, 7, 5, 6, 4, 11, 9, 10, 8, 3, 1, 2, 0]),
        }
    }
    let mut all = [const { inner(0) }; 8];
    let mut p = 1;
    while p < 8 {
        all[p] = inner(p);
        p += 1;
    }
    all
};

/// Halves of 256 bits: the lower ones, the upper ones. Its own inverse.
#[inline]
#[target_feature(enable = "avx512f")]
fn halves(a: Vector, b: Vector) -> (Vector, Vector) {
    (_mm512_shuffle_i64x2::<0b01_00_01_00>(a, b), _mm512_shuffle_i64x2::<0b11_10_11_10>(a, b))
}

/// From halves to quarters of 128 bits: the even ones of both, the odd ones.
#[inline]
#[target_feature(enable = "avx512f")]
fn quarters(a: Vector, b: Vector) -> (Vector, Vector) {
    (_mm512_shuffle_i64x2::<0b10_00_10_00>(a, b), _mm512_shuffle_i64x2::<0b11_01_11_01>(a, b))
}

/// Undoes [`quarters`].
#[inline]
#[target_feature(enable = "avx512f")]
fn join_quarters(a: Vector, b: Vector) -> (Vector, Vector) {
    (
        _mm512_permutex2var_epi64(a, _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11), b),
        _mm512_permutex2var_epi64(a, _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15), b),
    )
}

/// [`halves`], [`quarters`], [`words`] and [`split`] in one.
#[inline]
#[target_feature(enable = "avx512f")]
fn take_apart(a: Vector, b: Vector) -> (Vector, Vector) {
    let even = _mm512_setr_epi32(0, 4, 2, 6, 16, 20, 18, 22, 8, 12, 10, 14, 24, 28, 26, 30);
    let odds = _mm512_add_epi32(even, _mm512_set1_epi32(1));
    (_mm512_permutex2var_epi32(a, even, b), _mm512_permutex2var_epi32(a, odds, b))
}

/// Undoes [`take_apart`].
#[inline]
#[target_feature(enable = "avx512f")]
fn put_together(a: Vector, b: Vector) -> (Vector, Vector) {
    let low = _mm512_setr_epi32(0, 16, 2, 18, 1, 17, 3, 19, 8, 24, 10, 26, 9, 25, 11, 27);
    let high = _mm512_add_epi32(low, _mm512_set1_epi32(4));
    (_mm512_permutex2var_epi32(a, low, b), _mm512_permutex2var_epi32(a, high, b))
}

/// Words of 64 bits: the even ones, the odd ones. Its own inverse.
#[inline]
#[target_feature(enable = "avx512f")]
fn words(a: Vector, b: Vector) -> (Vector, Vector) {
    (_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b))
}

/// Takes the even and the odd lanes apart.
#[inline]
#[target_feature(enable = "avx512f")]
fn split(a: Vector, b: Vector) -> (Vector, Vector) {
    let (a, b) = (_mm512_castsi512_ps(a), _mm512_castsi512_ps(b));
    (
        _mm512_castps_si512(_mm512_shuffle_ps::<0b10_00_10_00>(a, b)),
        _mm512_castps_si512(_mm512_shuffle_ps::<0b11_01_11_01>(a, b)),
    )
}

/// Undoes [`split`].
#[inline]
#[target_feature(enable = "avx512f")]
fn join(a: Vector, b: Vector) -> (Vector, Vector) {
    (_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b))
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load_all(w: &Poly) -> [Vector; 16] {
    let lanes = w.0.as_chunks::<16>().0;
    let mut v = [_mm512_setzero_si512(); 16];
    unrolled!(I in [0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15] { v[I] = load(&lanes[I]); });
    v
}

#[inline]
#[target_feature(enable = "avx512f")]
fn store_all(w: &mut Poly, v: &[Vector; 16]) {
    let lanes = w.0.as_chunks_mut::<16>().0;
    unrolled!(I in [0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15] { store(&mut lanes[I], v[I]); });
}

#[target_feature(enable = "avx512f")]
fn ntt(w: &mut Poly) {
    debug_assert!(w.0.iter().all(|c| -Q < *c && *c < Q));
    let mut v = load_all(w);
    transform(&mut v);
    store_all(w, &v);
}

#[inline]
#[target_feature(enable = "avx512f")]
fn transform(v: &mut [Vector; 16]) {
    unrolled!(I in [0 1 2 3 4 5 6 7] {
        v[I] = _mm512_add_epi32(v[I], _mm512_set1_epi32(6 * Q));
        forward(v, I, I + 8, CENTRED[1]);
    });
    unrolled!(I in [0 1 2 3 8 9 10 11] { forward(v, I, I + 4, CENTRED[2 + (I >> 3)]); });
    unrolled!(I in [0 1 4 5 8 9 12 13] { forward(v, I, I + 2, CENTRED[4 + (I >> 2)]); });
    unrolled!(I in [0 2 4 6 8 10 12 14] { forward(v, I, I + 1, CENTRED[8 + (I >> 1)]); });
    unrolled!(I in [0 1 2 3 4 5 6 7] {
        let inner = &INNER[I];
        let (a, b) = halves(v[2 * I], v[2 * I + 1]);
        let (a, b) = forward_lanes(a, b, &inner.eight);
        let (a, b) = quarters(a, b);
        let (a, b) = forward_lanes(a, b, &inner.four);
        let (a, b) = words(a, b);
        let (a, b) = forward_lanes(a, b, &inner.two);
        let (a, b) = split(a, b);
        let t = times_distinct(b, &inner.one);
        (v[2 * I], v[2 * I + 1]) = put_together(_mm512_add_epi32(a, t), _mm512_sub_epi32(a, t));
    });
}

/// c mod q, at most 2^22 + 2^21 in absolute value; 0 ≤ c.
#[inline]
#[target_feature(enable = "avx512f")]
fn reduce(c: Vector) -> Vector {
    // Unsigned, since the rounding may pass 2^31.
    let quotient = _mm512_srli_epi32::<23>(_mm512_add_epi32(c, _mm512_set1_epi32(1 << 22)));
    // q = 2^23 - 2^13 + 1.
    let low = _mm512_sub_epi32(c, quotient);
    let middle = _mm512_slli_epi32::<13>(quotient);
    _mm512_sub_epi32(_mm512_add_epi32(low, middle), _mm512_slli_epi32::<23>(quotient))
}

/// c mod± q; |c| < q.
#[inline]
#[target_feature(enable = "avx512f")]
fn centre(c: Vector) -> Vector {
    let q = _mm512_set1_epi32(Q);
    let above = _mm512_cmpgt_epi32_mask(c, _mm512_set1_epi32(Q >> 1));
    let below = _mm512_cmplt_epi32_mask(c, _mm512_set1_epi32(-(Q >> 1)));
    let c = _mm512_mask_sub_epi32(c, above, c, q);
    _mm512_mask_add_epi32(c, below, c, q)
}

#[target_feature(enable = "avx512f")]
fn inverse_ntt(w: &mut Poly) {
    debug_assert!(w.0.iter().all(|c| 0 <= *c));
    let mut v = load_all(w);
    inverse_transform(&mut v);
    store_all(w, &v);
}

#[inline]
#[target_feature(enable = "avx512f")]
fn inverse_transform(v: &mut [Vector; 16]) {
    unrolled!(I in [0 1 2 3 4 5 6 7] {
        let inner = &INVERSE_INNER[I];
        let (a, b) = take_apart(reduce(v[2 * I]), reduce(v[2 * I + 1]));
        let t = times_distinct(_mm512_sub_epi32(b, a), &inner.one);
        let (a, b) = join(_mm512_add_epi32(a, b), t);
        let (a, b) = backward_lanes(a, b, &inner.two);
        let (a, b) = words(a, b);
        let (a, b) = backward_lanes(a, b, &inner.four);
        let (a, b) = join_quarters(a, b);
        let (a, b) = backward_lanes(a, b, &inner.eight);
        (v[2 * I], v[2 * I + 1]) = halves(a, b);
    });
    unrolled!(I in [0 2 4 6 8 10 12 14] { backward(v, I, I + 1, CENTRED[15 - (I >> 1)]); });
    unrolled!(I in [0 1 4 5 8 9 12 13] { backward(v, I, I + 2, CENTRED[7 - (I >> 2)]); });
    unrolled!(I in [0 1 2 3 8 9 10 11] { backward(v, I, I + 4, CENTRED[3 - (I >> 3)]); });
    unrolled!(I in [0 1 2 3 4 5 6 7] {
        let (a, b) = (v[I], v[I + 8]);
        v[I] = centre(times_one(_mm512_add_epi32(a, b), LAST[0]));
        v[I + 8] = centre(times_one(_mm512_sub_epi32(b, a), LAST[1]));
    });
}

#[target_feature(enable = "avx512f")]
fn multiply(a: &mut Poly, b: &Poly) {
    for (a, b) in a.0.as_chunks_mut::<16>().0.iter_mut().zip(b.0.as_chunks::<16>().0) {
        let product = montgomery(load(a), load(b));
        store(a, _mm512_add_epi32(product, _mm512_set1_epi32(Q)));
    }
}

#[target_feature(enable = "avx512f")]
fn multiply_add(c: &mut Poly, a: &Poly, b: &Poly) {
    let factors = a.0.as_chunks::<16>().0.iter().zip(b.0.as_chunks::<16>().0);
    for (c, (a, b)) in c.0.as_chunks_mut::<16>().0.iter_mut().zip(factors) {
        let sum = _mm512_add_epi32(load(c), _mm512_set1_epi32(Q));
        store(c, _mm512_add_epi32(sum, montgomery(load(a), load(b))));
    }
}

/// The products are summed in 64 bits; four vectors at a time, so that the walk through the polynomials costs less.
#[target_feature(enable = "avx512f")]
fn inner_product(c: &mut Poly, a: &[Poly], stride: usize, b: &[Poly]) {
    const { assert!((7 * 18 + 18 * 18) * (Q as u64) < 1 << 32) };
    debug_assert!(b.len() <= 8 && a.len() > stride * (b.len() - 1));
    for (i, c) in c.0.as_chunks_mut::<16>().0.as_chunks_mut::<4>().0.iter_mut().enumerate() {
        let (mut even, mut odds) = ([_mm512_setzero_si512(); 4], [_mm512_setzero_si512(); 4]);
        for (a, b) in a.iter().step_by(stride).zip(b) {
            let a = &a.0.as_chunks::<16>().0.as_chunks::<4>().0[i];
            let b = &b.0.as_chunks::<16>().0.as_chunks::<4>().0[i];
            unrolled!(I in [0 1 2 3] {
                let (a, b) = (load(&a[I]), load(&b[I]));
                even[I] = _mm512_add_epi64(even[I], _mm512_mul_epu32(a, b));
                odds[I] = _mm512_add_epi64(odds[I], _mm512_mul_epu32(odd(a), odd(b)));
            });
        }
        unrolled!(I in [0 1 2 3] {
            let sum = montgomery_reduce(even[I], odds[I]);
            store(&mut c[I], _mm512_add_epi32(sum, _mm512_set1_epi32(Q)));
        });
    }
}

/// Bytes to coefficients: the sixteen from `quarter` on.
macro_rules! widened {
    ($bytes:expr, $quarter:literal) => {
        _mm512_cvtepi8_epi32(_mm512_extracti32x4_epi32::<$quarter>($bytes))
    };
}

/// Four vectors of bytes are a sum.
#[target_feature(enable = "avx512f,avx512bw")]
fn add_short_product(p: &mut Poly, s: &Short, places: &[u16], eta: i32, bound: i32) -> u32 {
    let mut outside = 0;
    for places in places.chunks(at_once(eta)) {
        let mut sum = [_mm512_setzero_si512(); 4];
        for place in places {
            let shifted: &[i8; N] =
                s.0[2 * N - usize::from(*place)..].first_chunk().expect("three times as many");
            let shifted = shifted.as_chunks::<64>().0;
            unrolled!(I in [0 1 2 3] {
                // SAFETY: 64 bytes are there.
                let bytes = unsafe { _mm512_loadu_si512(shifted[I].as_ptr().cast()) };
                sum[I] = _mm512_add_epi8(sum[I], bytes);
            });
        }
        let lanes = p.0.as_chunks_mut::<16>().0;
        let mut greatest = _mm512_setzero_si512();
        unrolled!(I in [0 1 2 3] {
            let sums = [widened!(sum[I], 0), widened!(sum[I], 1), widened!(sum[I], 2), widened!(sum[I], 3)];
            for (c, sum) in lanes[4 * I..].iter_mut().zip(sums) {
                let c_new = _mm512_add_epi32(load(c), sum);
                greatest = _mm512_max_epu32(greatest, _mm512_abs_epi32(c_new));
                store(c, c_new);
            }
        });
        outside = _mm512_cmpge_epu32_mask(greatest, _mm512_set1_epi32(bound));
    }
    u32::from(outside).wrapping_sub(1) >> 31
}

/// Three bytes to each lane, the fourth any.
const TRIPLES: [u8; 64] = {
    let mut places = [63; 64];
    let mut i = 0;
    while i < 64 {
        if i & 3 != 3 {
            places[i] = (3 * (i >> 2) + (i & 3)) as u8;
        }
        i += 1;
    }
    places
};

/// 48 bytes are sixteen candidates. A block of SHAKE128 is read as it was written, in vectors of 64 bytes from its
/// beginning: other loads would wait for those stores.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,popcnt")]
fn reject_uniform(a: &mut Poly, filled: usize, bytes: &[u8]) -> usize {
    let candidates = |bytes| {
        let triples = _mm512_permutexvar_epi8(load_places(&TRIPLES), bytes);
        _mm512_and_si512(triples, _mm512_set1_epi32(0x7f_ffff))
    };
    let mut filled = filled;
    let mut bytes = bytes;
    if filled <= N - 56 - 8 && bytes.len() == 168 {
        let (vectors, last) = bytes.as_chunks::<64>();
        let (half, word) = (last.first_chunk().expect("40 bytes"), last.last_chunk().expect("40 bytes"));
        let out = &mut *a;
        let [a, b] = [load_places(&vectors[0]), load_places(&vectors[1])];
        let c = _mm512_castsi256_si512(load_half(half));
        let c = _mm512_inserti32x4::<2>(c, _mm_cvtsi64_si128(i64::from_le_bytes(*word)));
        // Words of 64 bits from 0, 6, 12 and 18 on; the last group has eight candidates.
        let groups = [
            a,
            _mm512_alignr_epi64::<6>(b, a),
            _mm512_alignr_epi64::<4>(c, b),
            _mm512_alignr_epi64::<2>(c, c),
        ];
        for (group, there) in groups.into_iter().zip([0xffff, 0xffff, 0xffff, 0xff]) {
            let candidates = candidates(group);
            let accepted = _mm512_mask_cmplt_epi32_mask(there, candidates, _mm512_set1_epi32(Q));
            // What is stored beyond the accepted ones is overwritten.
            let room = out.0[filled..].first_chunk_mut().expect("room for 64");
            store(room, _mm512_maskz_compress_epi32(accepted, candidates));
            filled += accepted.count_ones() as usize;
        }
        return filled;
    }
    while let (Some(first), Some(room)) = (bytes.first_chunk(), a.0[filled..].first_chunk_mut()) {
        let candidates = candidates(load_places(first));
        let accepted = _mm512_cmplt_epi32_mask(candidates, _mm512_set1_epi32(Q));
        // What is stored beyond the accepted ones is overwritten.
        store(room, _mm512_maskz_compress_epi32(accepted, candidates));
        filled += accepted.count_ones() as usize;
        bytes = &bytes[48..];
    }
    for group in bytes.as_chunks::<3>().0.chunks(16) {
        let candidates = candidates(load_bytes(group.as_flattened()));
        let there = first_u64(group.len()) as u16;
        let accepted = _mm512_mask_cmplt_epi32_mask(there, candidates, _mm512_set1_epi32(Q));
        let room = &mut a.0[filled..];
        let n = (accepted.count_ones() as usize).min(room.len());
        store_first(&mut room[..n], _mm512_maskz_compress_epi32(accepted, candidates));
        filled += n;
    }
    filled
}

/// The coefficient of each half byte, -128 for none, which is not used.
const BOUNDED: [[i8; 16]; 2] = [
    [2, 1, 0, -1, -2, 2, 1, 0, -1, -2, 2, 1, 0, -1, -2, -128],
    [4, 3, 2, 1, 0, -1, -2, -3, -4, -128, -128, -128, -128, -128, -128, -128],
];

/// 32 bytes are 64 half bytes; they look up their coefficients in a register.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,popcnt")]
fn reject_bounded(s: &mut Poly, filled: usize, bytes: &[u8], eta: i32) -> usize {
    let coefficients = i128::from_le_bytes(BOUNDED[usize::from(eta != 2)].map(|c| c as u8));
    let coefficients = _mm_set_epi64x((coefficients >> 64) as i64, coefficients as i64);
    let coefficients = _mm512_broadcast_i32x4(coefficients);
    let limit = _mm512_set1_epi8(if eta == 2 { 15 } else { 9 });
    let mut filled = filled;
    for group in bytes.chunks(32) {
        let group_bytes = match group.first_chunk() {
            Some(all) => load_half(all),
            None => _mm512_castsi512_si256(load_bytes(group)),
        };
        let pairs = _mm512_cvtepu8_epi16(group_bytes);
        let halves =
            _mm512_and_si512(_mm512_or_si512(pairs, _mm512_slli_epi16::<4>(pairs)), _mm512_set1_epi8(15));
        // public: which half bytes were refused; they say nothing of the accepted ones.
        let accepted =
            declassify_value(_mm512_mask_cmplt_epu8_mask(first_u64(2 * group.len()), halves, limit));
        let c = _mm512_maskz_compress_epi8(accepted, _mm512_shuffle_epi8(coefficients, halves));
        let room = &mut s.0[filled..];
        let n = (accepted.count_ones() as usize).min(room.len());
        let quarters = [
            _mm512_castsi512_si128(c),
            _mm512_extracti32x4_epi32::<1>(c),
            _mm512_extracti32x4_epi32::<2>(c),
            _mm512_extracti32x4_epi32::<3>(c),
        ];
        if let Some(room) = room.first_chunk_mut::<64>() {
            // What is stored beyond the accepted ones is overwritten.
            for (room, quarter) in room.as_chunks_mut().0.iter_mut().zip(quarters) {
                store(room, _mm512_cvtepi8_epi32(quarter));
            }
        } else {
            for (room, quarter) in room[..n].chunks_mut(16).zip(quarters) {
                store_first(room, _mm512_cvtepi8_epi32(quarter));
            }
        }
        filled += n;
    }
    filled
}

/// c mod q in 0..q; -q < c < q.
#[inline]
#[target_feature(enable = "avx512f")]
fn lift(c: Vector) -> Vector {
    // As an unsigned number the negative one is the greater.
    _mm512_min_epu32(c, _mm512_add_epi32(c, _mm512_set1_epi32(Q)))
}

#[target_feature(enable = "avx512f")]
fn power2round(t: &mut Poly, t1: &mut Poly) {
    for (t, t1) in t.0.as_chunks_mut::<16>().0.iter_mut().zip(t1.0.as_chunks_mut::<16>().0) {
        let r = lift(load(t));
        let rounded = _mm512_add_epi32(r, _mm512_set1_epi32((1 << (D - 1)) - 1));
        let high = _mm512_srai_epi32::<D>(rounded);
        store(t1, high);
        store(t, _mm512_sub_epi32(r, _mm512_slli_epi32::<D>(high)));
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn decompose<const M: i32>(r: &mut Poly, r1: &mut Poly) {
    let alpha = const { alpha(M) };
    let reciprocal = _mm512_set1_epi32(const { reciprocal(M) as i32 });
    for (r, r1) in r.0.as_chunks_mut::<16>().0.iter_mut().zip(r1.0.as_chunks_mut::<16>().0) {
        let x = lift(load(r));
        let dividend = _mm512_add_epi32(x, _mm512_set1_epi32((alpha >> 1) - 1));
        let even = _mm512_mul_epu32(dividend, reciprocal);
        let odds = _mm512_mul_epu32(odd(dividend), reciprocal);
        let quotient = _mm512_srli_epi32::<16>(upper(even, odds));
        let wrapped = _mm512_cmpeq_epi32_mask(quotient, _mm512_set1_epi32(M));
        let low = _mm512_sub_epi32(x, _mm512_mullo_epi32(quotient, _mm512_set1_epi32(alpha)));
        store(r, _mm512_mask_sub_epi32(low, wrapped, low, _mm512_set1_epi32(1)));
        store(r1, _mm512_maskz_mov_epi32(!wrapped, quotient));
    }
}

#[target_feature(enable = "avx512f")]
fn decompose_44(r: &mut Poly, r1: &mut Poly) {
    decompose::<44>(r, r1);
}

#[target_feature(enable = "avx512f")]
fn decompose_16(r: &mut Poly, r1: &mut Poly) {
    decompose::<16>(r, r1);
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn high_bits<const M: i32, const BITS: usize>(r: &mut Poly, packed: &mut [u8], not_zero: &mut [u32; 8]) {
    let mut r1 = Poly::ZERO;
    decompose::<M>(r, &mut r1);
    pack_bits::<BITS>(packed, &r1, 0);
    for (word, r1) in not_zero.iter_mut().zip(r1.0.as_chunks::<16>().0.as_chunks::<2>().0) {
        let [low, high] = [load(&r1[0]), load(&r1[1])];
        let high = u32::from(_mm512_test_epi32_mask(high, high));
        *word = u32::from(_mm512_test_epi32_mask(low, low)) | high << 16;
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn high_bits_44(r: &mut Poly, packed: &mut [u8], not_zero: &mut [u32; 8]) {
    high_bits::<44, 6>(r, packed, not_zero);
}

#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn high_bits_16(r: &mut Poly, packed: &mut [u8], not_zero: &mut [u32; 8]) {
    high_bits::<16, 4>(r, packed, not_zero);
}

#[target_feature(enable = "avx512f")]
fn is_below(p: &Poly, bound: i32) -> u32 {
    let mut greatest = _mm512_setzero_si512();
    for c in p.0.as_chunks::<16>().0 {
        greatest = _mm512_max_epu32(greatest, _mm512_abs_epi32(load(c)));
    }
    let outside = _mm512_cmpge_epu32_mask(greatest, _mm512_set1_epi32(bound));
    u32::from(outside).wrapping_sub(1) >> 31
}

#[target_feature(enable = "avx512f,popcnt")]
fn make_hint(sum: &Poly, gamma2: i32, hint: &mut [u32; 8]) -> u32 {
    let mut count = 0;
    for (word, sum) in hint.iter_mut().zip(sum.0.as_chunks::<16>().0.as_chunks::<2>().0) {
        let not_zero = *word;
        *word = 0;
        for (sum, shift) in sum.iter().zip([0, 16]) {
            let sum = load(sum);
            let above = _mm512_cmpgt_epi32_mask(sum, _mm512_set1_epi32(gamma2));
            let below = _mm512_cmplt_epi32_mask(sum, _mm512_set1_epi32(-gamma2));
            let least = _mm512_cmpeq_epi32_mask(sum, _mm512_set1_epi32(-gamma2));
            *word |= u32::from(above | below | least & (not_zero >> shift) as u16) << shift;
        }
        count += word.count_ones();
    }
    count
}

/// high - c = !c + high + 1, or c = c + 0: what is to be flipped, and what added.
#[inline]
#[target_feature(enable = "avx512f")]
fn from_high(high: i32) -> (Vector, Vector) {
    if high == 0 {
        (_mm512_setzero_si512(), _mm512_setzero_si512())
    } else {
        (_mm512_set1_epi32(-1), _mm512_set1_epi32(high + 1))
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
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

/// How eight words of 2·`bits` bits become 2·`bits` bytes: each is shifted to its place in a byte; then every byte is
/// the sum of at most two, which come from `first` and, where there is a second, `second`.
struct Packing {
    shifts: [i64; 8],
    first: [u8; 64],
    second: [u8; 64],
    has_second: u64,
}

const fn packing(bits: usize) -> Packing {
    let mut packing = Packing { shifts: [0; 8], first: [0; 64], second: [0; 64], has_second: 0 };
    let mut seen = [false; 64];
    let mut word = 0;
    while word < 8 {
        let start = 2 * bits * word;
        packing.shifts[word] = (start & 7) as i64;
        let mut byte = start >> 3;
        while 8 * byte < start + 2 * bits {
            let from = (8 * word + byte - (start >> 3)) as u8;
            if seen[byte] {
                assert!(packing.has_second >> byte & 1 == 0, "at most two words in a byte");
                packing.second[byte] = from;
                packing.has_second |= 1 << byte;
            } else {
                packing.first[byte] = from;
                seen[byte] = true;
            }
            byte += 1;
        }
        word += 1;
    }
    packing
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn pack_bits<const BITS: usize>(out: &mut [u8], p: &Poly, high: i32) {
    let packing = const { &packing(BITS) };
    let (sign, offset) = from_high(high);
    let (first, second) = (load_places(&packing.first), load_places(&packing.second));
    // SAFETY: 64 bytes are there.
    let shifts = unsafe { _mm512_loadu_si512(packing.shifts.as_ptr().cast()) };
    for (out, c) in
        out.as_chunks_mut::<BITS>().0.as_chunks_mut::<2>().0.iter_mut().zip(p.0.as_chunks::<16>().0)
    {
        let x = _mm512_add_epi32(_mm512_xor_si512(load(c), sign), offset);
        let up = _mm512_maskz_mov_epi32(0xaaaa, x);
        let up = _mm512_srl_epi64(up, _mm_cvtsi64_si128(32 - BITS as i64));
        let twos = _mm512_or_si512(_mm512_maskz_mov_epi32(0x5555, x), up);
        let placed = _mm512_sllv_epi64(twos, shifts);
        let bytes = _mm512_or_si512(
            _mm512_permutexvar_epi8(first, placed),
            _mm512_maskz_permutexvar_epi8(packing.has_second, second, placed),
        );
        let out = out.as_flattened_mut();
        // SAFETY: the mask has a bit for each byte of `out`, and no other byte is touched.
        unsafe { _mm512_mask_storeu_epi8(out.as_mut_ptr().cast(), first_u64(2 * BITS), bytes) };
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn unpack(p: &mut Poly, bytes: &[u8], high: i32) {
    match bytes.len() >> 5 {
        3 => unpack_bits::<3>(p, bytes, high),
        4 => unpack_bits::<4>(p, bytes, high),
        10 => unpack_bits::<10>(p, bytes, high),
        18 => unpack_bits::<18>(p, bytes, high),
        _ => unpack_bits::<20>(p, bytes, high),
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn unpack_bits<const BITS: usize>(p: &mut Poly, bytes: &[u8], high: i32) {
    /// Three bytes hold each number, which begins at a bit of the first.
    const fn places(bits: usize) -> ([u8; 64], [i32; 16]) {
        let (mut places, mut shifts) = ([63; 64], [0; 16]);
        let mut i = 0;
        while i < 16 {
            shifts[i] = ((i * bits) & 7) as i32;
            let mut byte = 0;
            while byte < 3 {
                places[4 * i + byte] = (((i * bits) >> 3) + byte) as u8;
                byte += 1;
            }
            i += 1;
        }
        (places, shifts)
    }
    let (places, shifts) = const { &places(BITS) };
    let (places, shifts) = (load_places(places), load(shifts));
    let (sign, offset) = from_high(high);
    for (c, bytes) in
        p.0.as_chunks_mut::<16>().0.iter_mut().zip(bytes.as_chunks::<BITS>().0.as_chunks::<2>().0)
    {
        let x = _mm512_permutexvar_epi8(places, load_bytes(bytes.as_flattened()));
        let x = _mm512_and_si512(_mm512_srlv_epi32(x, shifts), _mm512_set1_epi32((1 << BITS) - 1));
        store(c, _mm512_add_epi32(_mm512_xor_si512(x, sign), offset));
    }
}

const _: () = assert!(N == 256, "sixteen vectors");
