//! Plain Rust, in 16-bit arithmetic that compilers turn into vector instructions.
//!
//! Products of residues are Montgomery products: a·b·R^-1 modulo q with R = 2^16. No mask is made here: each
//! reduction is multiplications and shifts, so there is none that a compiler could turn into a branch.

use super::Kernels;
use crate::cpu::Level;
use crate::mlkem::poly::{Coefficients, Ntt, Q};

pub(in crate::mlkem) const PORTABLE: Kernels = Kernels {
    level: Level::Portable,
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
    noise3,
    encode,
    decode,
    is_reduced,
    compress,
    decompress,
};

/// q^-1 modulo 2^16.
pub(in crate::mlkem) const Q_INVERSE: i16 = {
    // Newton: each step doubles the number of right bits.
    let mut x: i16 = 1;
    let mut step = 0;
    while step < 4 {
        x = x.wrapping_mul(2i16.wrapping_sub(Q.wrapping_mul(x)));
        step += 1;
    }
    assert!(x.wrapping_mul(Q) == 1);
    x
};

/// R² modulo q.
pub(super) const R_SQUARED: i16 = centered(1 << 32);

/// The residue of `x` with the smallest absolute value.
#[allow(clippy::integer_division_remainder_used)] // evaluated by the compiler
const fn centered(x: i64) -> i16 {
    let x = x % Q as i64;
    (if x > Q as i64 / 2 { x - Q as i64 } else { x }) as i16
}

/// A factor known before: w·R modulo q, and that times q^-1 modulo R, which saves a multiplication.
#[derive(Clone, Copy)]
pub(super) struct Factor {
    pub value: i16,
    pub twisted: i16,
}

impl Factor {
    /// The factor whose Montgomery product with x is w·x.
    #[allow(clippy::integer_division_remainder_used)] // evaluated by the compiler
    pub(super) const fn new(w: i64) -> Self {
        let value = centered((w << 16) % Q as i64);
        Self { value, twisted: value.wrapping_mul(Q_INVERSE) }
    }

    /// w·x modulo q, |result| < q, for any x.
    #[inline(always)]
    fn times(self, x: i16) -> i16 {
        high(x, self.value) - high(x.wrapping_mul(self.twisted), Q)
    }
}

/// The upper half of the product.
#[inline(always)]
fn high(a: i16, b: i16) -> i16 {
    ((i32::from(a) * i32::from(b)) >> 16) as i16
}

/// a·b·R^-1 modulo q: |a·b| < q·2^15 on entry, |result| < q.
#[inline(always)]
fn montgomery(a: i16, b: i16) -> i16 {
    high(a, b) - high(a.wrapping_mul(b).wrapping_mul(Q_INVERSE), Q)
}

/// 2^26/q, rounded up.
pub(super) const RECIPROCAL: i16 = 20159;

/// The residue of x of absolute value at most (q + 1)/2, for any x (Barrett).
#[inline(always)]
fn reduce(x: i16) -> i16 {
    // The multiple of q can leave 16 bits, the difference cannot.
    x.wrapping_sub(((high(x, RECIPROCAL) + (1 << 9)) >> 10).wrapping_mul(Q))
}

/// The residue of x in \[0, q), for any x.
#[inline(always)]
fn canonical(x: i16) -> i16 {
    let x = reduce(x) + Q;
    x - (high(x, RECIPROCAL) >> 10) * Q
}

/// ζ^BitRev7(i) with ζ = 17, i = 0 to 127 (FIPS 203, Appendix A).
pub(super) const ZETAS: [Factor; 128] = {
    let mut zetas = [Factor { value: 0, twisted: 0 }; 128];
    let mut i = 0;
    while i < 128 {
        zetas[i] = Factor::new(power(17, (i as u8).reverse_bits() as u32 >> 1));
        i += 1;
    }
    zetas
};

#[allow(clippy::integer_division_remainder_used)] // evaluated by the compiler
pub(super) const fn power(base: i64, exponent: u32) -> i64 {
    let mut result = 1;
    let mut i = 0;
    while i < exponent {
        result = result * base % Q as i64;
        i += 1;
    }
    result
}

fn ntt(f: &mut Coefficients) {
    debug_assert!(f.iter().all(|x| x.abs() <= Q));
    // Each layer adds less than q to the bound: 8q < 2^15 after the seventh.
    forward_layer::<128>(f);
    forward_layer::<64>(f);
    forward_layer::<32>(f);
    forward_layer::<16>(f);
    forward_layer::<8>(f);
    forward_layer::<4>(f);
    forward_layer::<2>(f);
    reduce_all(f);
}

#[inline(always)]
fn forward_layer<const LEN: usize>(f: &mut Coefficients) {
    // The layer of length LEN reads 128/LEN factors, from there on.
    let zetas = &ZETAS[const { 128 >> LEN.trailing_zeros() }..];
    for (block, zeta) in f.chunks_exact_mut(2 * LEN).zip(zetas) {
        let (low, high) = block.split_at_mut(LEN);
        for (a, b) in low.iter_mut().zip(high) {
            let t = zeta.times(*b);
            *b = *a - t;
            *a += t;
        }
    }
}

fn inverse_ntt(f: &mut Coefficients) {
    debug_assert!(f.iter().all(|x| i32::from(x.abs()) <= 8 * i32::from(Q)));
    reduce_all(f);
    // Each layer doubles the bound of the lower half: q/2, q, 2q, 4q; then once more from q/2 + 1 on.
    inverse_layer::<2>(f);
    inverse_layer::<4>(f);
    inverse_layer::<8>(f);
    reduce_all(f);
    inverse_layer::<16>(f);
    inverse_layer::<32>(f);
    inverse_layer::<64>(f);
    inverse_layer::<128>(f);
    // 128^-1, times R.
    const LAST: Factor = Factor::new(3303 * (1 << 16));
    for x in f {
        *x = LAST.times(*x);
    }
}

#[inline(always)]
fn inverse_layer<const LEN: usize>(f: &mut Coefficients) {
    let blocks = const { 128 >> LEN.trailing_zeros() };
    for (block, zeta) in f.chunks_exact_mut(2 * LEN).zip(ZETAS[blocks..2 * blocks].iter().rev()) {
        let (low, high) = block.split_at_mut(LEN);
        for (a, b) in low.iter_mut().zip(high) {
            let difference = *b - *a;
            *a += *b;
            *b = zeta.times(difference);
        }
    }
}

/// The product of pair i is taken modulo X² − ζ^(2·BitRev7(i) + 1) (FIPS 203, Algorithm 12 (BaseCaseMultiply)).
fn multiply_add(sum: &mut Coefficients, a: &Coefficients, b: &Coefficients) {
    debug_assert!(a.iter().all(|x| i32::from(x.abs()) <= 8 * i32::from(Q)));
    debug_assert!(b.iter().all(|x| x.abs() <= Q));
    let pairs = sum.as_chunks_mut::<2>().0.iter_mut().zip(a.as_chunks::<2>().0).zip(b.as_chunks::<2>().0);
    for (((sum, a), b), (value, twisted)) in pairs.zip(PAIR_ZETAS.iter().zip(&TWISTED_PAIR_ZETAS)) {
        // Sum by sum: of a pair that is returned compilers make no vectors.
        let zeta = Factor { value: *value, twisted: *twisted };
        sum[0] += montgomery(a[0], b[0]) + zeta.times(montgomery(a[1], b[1]));
        sum[1] += montgomery(a[0], b[1]) + montgomery(a[1], b[0]);
    }
}

fn inner_product(sum: &mut Coefficients, a: &[Ntt], stride: usize, b: &[Ntt]) {
    for (a, b) in a.iter().step_by(stride).zip(b) {
        multiply_add(sum, &a.0.0, &b.0.0);
    }
}

/// ζ^(2·BitRev7(i) + 1) for i = 0 to 127 (FIPS 203, Appendix A): ± the factors of the last layer.
pub(in crate::mlkem) static PAIR_ZETAS: [i16; 128] = pair_zetas(false);

/// Their other parts, in an array of their own, because the two parts of a factor go to two vectors.
static TWISTED_PAIR_ZETAS: [i16; 128] = pair_zetas(true);

const fn pair_zetas(twisted: bool) -> [i16; 128] {
    let mut zetas = [0; 128];
    let mut i = 0;
    while i < 64 {
        let Factor { value, twisted: other } = ZETAS[64 + i];
        let part = if twisted { other } else { value };
        (zetas[2 * i], zetas[2 * i + 1]) = (part, part.wrapping_neg());
        i += 1;
    }
    zetas
}

fn scale(f: &mut Coefficients) {
    const FACTOR: Factor = Factor { value: R_SQUARED, twisted: R_SQUARED.wrapping_mul(Q_INVERSE) };
    for x in f {
        *x = FACTOR.times(*x);
    }
}

fn add(a: &mut Coefficients, b: &Coefficients) {
    for (a, b) in a.iter_mut().zip(b) {
        *a += b;
    }
}

fn subtract_from(a: &mut Coefficients, b: &Coefficients) {
    for (a, b) in a.iter_mut().zip(b) {
        *a = b - *a;
    }
}

fn reduce_all(f: &mut Coefficients) {
    for x in f {
        *x = reduce(*x);
    }
}

pub(in crate::mlkem) fn reject_vartime(out: &mut [i16], bytes: &[u8]) -> usize {
    let mut n = 0;
    for &[b0, b1, b2] in bytes.as_chunks::<3>().0 {
        let (b0, b1, b2) = (i16::from(b0), i16::from(b1), i16::from(b2));
        for candidate in [b0 | (b1 & 15) << 8, b1 >> 4 | b2 << 4] {
            // Written first and counted after: no branch on the verdict, which a predictor cannot guess.
            let Some(place) = out.get_mut(n) else { return n };
            *place = candidate;
            n += usize::from(candidate < Q);
        }
    }
    n
}

fn noise2(f: &mut Coefficients, bytes: &[u8; 128]) {
    for (out, word) in f.as_chunks_mut::<8>().0.iter_mut().zip(bytes.as_chunks::<4>().0) {
        *out = noise2_of(*word);
    }
}

/// Eight coefficients of noise.
#[inline(always)]
pub(in crate::mlkem) fn noise2_of(word: [u8; 4]) -> [i16; 8] {
    let word = u32::from_le_bytes(word);
    let pairs = (word & 0x5555_5555) + (word >> 1 & 0x5555_5555);
    core::array::from_fn(|i| (pairs >> (4 * i) & 3) as i16 - (pairs >> (4 * i + 2) & 3) as i16)
}

fn noise3(f: &mut Coefficients, bytes: &[u8; 192]) {
    for (out, bytes) in f.as_chunks_mut::<4>().0.iter_mut().zip(bytes.as_chunks::<3>().0) {
        *out = noise3_of(*bytes);
    }
}

/// Four coefficients of noise.
#[inline(always)]
pub(in crate::mlkem) fn noise3_of([b0, b1, b2]: [u8; 3]) -> [i16; 4] {
    let word = u32::from_le_bytes([b0, b1, b2, 0]);
    let triples = (word & 0x0024_9249) + (word >> 1 & 0x0024_9249) + (word >> 2 & 0x0024_9249);
    core::array::from_fn(|i| (triples >> (6 * i) & 7) as i16 - (triples >> (6 * i + 3) & 7) as i16)
}

fn encode(out: &mut [u8; 384], f: &Coefficients) {
    for (bytes, pair) in out.as_chunks_mut::<3>().0.iter_mut().zip(f.as_chunks::<2>().0) {
        let (a, b) = (canonical(pair[0]) as u16, canonical(pair[1]) as u16);
        *bytes = [a as u8, (a >> 8 | b << 4) as u8, (b >> 4) as u8];
    }
}

fn decode(f: &mut Coefficients, bytes: &[u8; 384]) {
    for (pair, &[b0, b1, b2]) in f.as_chunks_mut::<2>().0.iter_mut().zip(bytes.as_chunks::<3>().0) {
        let (b0, b1, b2) = (i16::from(b0), i16::from(b1), i16::from(b2));
        *pair = [canonical(b0 | (b1 & 15) << 8), canonical(b1 >> 4 | b2 << 4)];
    }
}

fn is_reduced(bytes: &[u8; 384]) -> bool {
    let mut largest = 0;
    for &[b0, b1, b2] in bytes.as_chunks::<3>().0 {
        let (b0, b1, b2) = (u16::from(b0), u16::from(b1), u16::from(b2));
        largest = largest.max(b0 | (b1 & 15) << 8).max(b1 >> 4 | b2 << 4);
    }
    largest < Q as u16
}

fn compress(out: &mut [u8], f: &Coefficients) {
    match out.len() >> 5 {
        1 => pack::<1>(out, f),
        4 => pack::<4>(out, f),
        5 => pack::<5>(out, f),
        10 => pack::<10>(out, f),
        11 => pack::<11>(out, f),
        d => unreachable!("no parameter set compresses to {d} bits"),
    }
}

fn decompress(f: &mut Coefficients, bytes: &[u8]) {
    match bytes.len() >> 5 {
        1 => unpack::<1>(f, bytes),
        4 => unpack::<4>(f, bytes),
        5 => unpack::<5>(f, bytes),
        10 => unpack::<10>(f, bytes),
        11 => unpack::<11>(f, bytes),
        d => unreachable!("no parameter set compresses to {d} bits"),
    }
}

/// 2^32/q, rounded up.
pub(in crate::mlkem) const COMPRESS_FACTOR: u32 = 1_290_168;

/// What rounds the product of Compress_d: half of its last place, less the error of the factor.
pub(super) const fn compress_offset(d: usize) -> u32 {
    (1 << (31 - d)) - 1024
}

/// Compress_d(x) = ⌈(2^d/q)·x⌋ modulo 2^d (FIPS 203, §4.2.1, (4.7)); x in \[0, q).
///
/// The product with 2^32/q, modulo 2^32, has the quotient modulo 2^d in its upper bits. A test shows it for every x and d.
#[inline(always)]
pub(in crate::mlkem) fn compress_coefficient(d: usize, x: i16) -> u32 {
    (x as u32).wrapping_mul(COMPRESS_FACTOR).wrapping_add(compress_offset(d)) >> (32 - d)
}

/// Decompress_d(y) = ⌈(q/2^d)·y⌋ (FIPS 203, §4.2.1, (4.8)); y < 2^d.
#[inline(always)]
pub(in crate::mlkem) fn decompress_coefficient(d: usize, y: u16) -> i16 {
    // d = 1 is the secret message: of one bit times q LLVM makes a branch at opt-level 2 (valgrind found it).
    let y = if d == 1 { crate::secret::barrier(u32::from(y)) } else { u32::from(y) };
    ((y * Q as u32 + (1 << (d - 1))) >> d) as i16
}

/// Eight coefficients make D bytes. They are compressed 32 at a time, which compilers turn into vectors.
#[inline(always)]
fn pack<const D: usize>(out: &mut [u8], f: &Coefficients) {
    let rows = out.as_chunks_mut::<D>().0.as_chunks_mut::<4>().0;
    for (row, coefficients) in rows.iter_mut().zip(f.as_chunks::<32>().0) {
        let mut compressed = [0; 32];
        for (y, &x) in compressed.iter_mut().zip(coefficients) {
            *y = compress_coefficient(D, canonical(x));
        }
        for (bytes, eight) in row.iter_mut().zip(compressed.as_chunks::<8>().0) {
            let mut packed: u128 = 0;
            for (i, &y) in eight.iter().enumerate() {
                packed |= u128::from(y) << (D * i);
            }
            bytes.copy_from_slice(&packed.to_le_bytes()[..D]);
        }
    }
}

#[inline(always)]
fn unpack<const D: usize>(f: &mut Coefficients, bytes: &[u8]) {
    for (eight, bytes) in f.as_chunks_mut::<8>().0.iter_mut().zip(bytes.as_chunks::<D>().0) {
        let mut packed = [0; 16];
        packed[..D].copy_from_slice(bytes);
        let packed = u128::from_le_bytes(packed);
        for (i, x) in eight.iter_mut().enumerate() {
            *x = decompress_coefficient(D, (packed >> (D * i)) as u16 & ((1 << D) - 1));
        }
    }
}

#[cfg(test)]
#[allow(clippy::integer_division_remainder_used)]
mod tests {
    use super::*;

    const Q32: i32 = Q as i32;

    #[test]
    fn barrett_reduces_every_integer_of_sixteen_bits() {
        for x in i16::MIN..=i16::MAX {
            let (near, least) = (reduce(x), canonical(x));
            assert_eq!((i32::from(x) - i32::from(near)).rem_euclid(Q32), 0);
            assert!(near.abs() <= (Q + 1) / 2);
            assert_eq!(i32::from(least), i32::from(x).rem_euclid(Q32));
        }
    }

    #[test]
    fn a_known_factor_multiplies_every_integer_of_sixteen_bits() {
        for zeta in [ZETAS[1], ZETAS[77], Factor::new(1), Factor::new(3328)] {
            for x in i16::MIN..=i16::MAX {
                let product = i64::from(zeta.times(x));
                assert!(product.abs() < i64::from(Q));
                let expected = i64::from(x) * i64::from(zeta.value);
                assert_eq!((product * 65536 - expected).rem_euclid(i64::from(Q)), 0);
            }
        }
    }

    #[test]
    fn montgomery_holds_at_the_bounds_of_its_operands() {
        for a in (-8 * Q32..=8 * Q32).step_by(7).chain([8 * Q32]) {
            for b in [-Q32, -Q32 + 1, -1664, -1, 0, 1, 1664, Q32 - 1, Q32] {
                let product = i32::from(montgomery(a as i16, b as i16));
                assert!(product.abs() < Q32);
                assert_eq!((i64::from(product) * 65536 - i64::from(a) * i64::from(b)).rem_euclid(3329), 0);
            }
        }
    }

    #[test]
    fn compression_rounds_every_residue_as_the_standard() {
        fn check<const D: usize>() {
            for x in 0..Q {
                // ⌈y⌋ = ⌊y + 1/2⌋, in integers: (2·2^d·x + q) / 2q.
                let exact = (((2 * (x as u32)) << D) + 3329) / (2 * 3329) % (1 << D);
                assert_eq!(compress_coefficient(D, x), exact, "x = {x}, d = {D}");
            }
            for y in 0..1u16 << D {
                let exact = (2 * 3329 * u32::from(y) + (1 << D)) / (2 << D);
                assert_eq!(decompress_coefficient(D, y) as u32, exact, "y = {y}, d = {D}");
                assert_eq!(compress_coefficient(D, decompress_coefficient(D, y)), u32::from(y));
            }
        }
        check::<1>();
        check::<4>();
        check::<5>();
        check::<10>();
        check::<11>();
    }

    #[test]
    fn the_transform_stays_in_its_bounds_and_inverts() {
        let extremes: [fn(usize) -> i16; 5] = [
            |_| Q,
            |_| -Q,
            |i| if i % 2 == 0 { Q } else { -Q },
            |i| (i as i16 * 13) % Q,
            |i| (i == 255).into(),
        ];
        for value in extremes {
            let start: Coefficients = core::array::from_fn(value);
            let mut f = start;
            ntt(&mut f);
            assert!(f.iter().all(|x| x.abs() <= (Q + 1) / 2));
            inverse_ntt(&mut f);
            for (x, start) in f.iter().zip(start) {
                assert!(x.abs() < Q);
                assert_eq!((i64::from(*x) - (i64::from(start) << 16)).rem_euclid(i64::from(Q)), 0);
            }
        }
    }

    #[test]
    fn products_are_those_of_polynomials() {
        let a: Coefficients = core::array::from_fn(|i| ((i * i * 31 + 7) % 3329) as i16);
        let b: Coefficients = core::array::from_fn(|i| ((i * 1234 + 99) % 3329) as i16 - 1664);
        let mut expected = [0i64; 256];
        for i in 0..256 {
            for j in 0..256 {
                let product = i64::from(a[i]) * i64::from(b[j]);
                expected[(i + j) % 256] += if i + j < 256 { product } else { -product };
            }
        }
        let (mut a_hat, mut b_hat, mut sum) = (a, b, [0; 256]);
        ntt(&mut a_hat);
        ntt(&mut b_hat);
        multiply_add(&mut sum, &a_hat, &b_hat);
        inverse_ntt(&mut sum);
        for (x, expected) in sum.iter().zip(expected) {
            assert_eq!((i64::from(*x) - expected).rem_euclid(3329), 0);
        }
    }

    #[test]
    fn noise_counts_bits() {
        let bytes: [u8; 192] = core::array::from_fn(|i| (i * 73 + 11) as u8);
        let bit = |i: usize| i16::from(bytes[i / 8] >> (i % 8) & 1);
        let mut f = [0; 256];
        noise3(&mut f, &bytes);
        for (i, x) in f.iter().enumerate() {
            let ones = |from: usize| (from..from + 3).map(bit).sum::<i16>();
            assert_eq!(*x, ones(6 * i) - ones(6 * i + 3));
        }
        noise2(&mut f, bytes.first_chunk().expect("192 bytes"));
        for (i, x) in f.iter().enumerate() {
            let ones = |from: usize| (from..from + 2).map(bit).sum::<i16>();
            assert_eq!(*x, ones(4 * i) - ones(4 * i + 2));
        }
    }
}
