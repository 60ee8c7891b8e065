//! The inner loops of the schedule of the least memory, where there is no text in assembly for them (`armv7em`).

use super::least;
use super::packed::{decoded, packed, residue};
use super::portable::{PAIR_ZETAS, Q_INVERSE, noise2_of};
use crate::mlkem::poly::{Coefficients, Q};

/// FIPS 203, Algorithm 9 (NTT), of what only multiplies reduced coefficients.
pub(in crate::mlkem) fn ntt_of_factor(f: &mut Coefficients) {
    (least().ntt)(f);
}

/// The factor of each pair's product: ζ^(2·BitRev7(i) + 1) times 2^16.
pub(in crate::mlkem) fn pair_zetas() -> &'static [i16; 128] {
    &PAIR_ZETAS
}

/// a·2^-16 modulo q, |result| ≤ q, for |a| ≤ 2^15·q (Montgomery).
#[inline(always)]
fn montgomery(a: i32) -> i32 {
    let multiple = (a as i16).wrapping_mul(Q_INVERSE);
    (a - i32::from(multiple) * i32::from(Q)) >> 16
}

/// FIPS 203, Algorithm 12 (BaseCaseMultiply), times 2^-16, with ζ times 2^16: |a| ≤ 2q, |b| ≤ q on entry, |result| ≤ q.
#[inline(always)]
fn multiply_pair(zeta: i16, a: [i16; 2], b: [i16; 2]) -> [i16; 2] {
    let ([a0, a1], [b0, b1]) = (a.map(i32::from), b.map(i32::from));
    let high = montgomery(a1 * b1) * i32::from(zeta);
    [montgomery(a0 * b0 + high) as i16, montgomery(a0 * b1 + a1 * b0) as i16]
}

/// Adds the products of these pairs with those of `x`: of as many as the shortest has.
#[inline(always)]
pub(in crate::mlkem) fn add_products(sum: &mut [[i16; 2]], a: &[[i16; 2]], x: &[[i16; 2]], zetas: &[i16]) {
    for (((sum, a), x), zeta) in sum.iter_mut().zip(a).zip(x).zip(zetas) {
        let product = multiply_pair(*zeta, *a, *x);
        sum[0] += product[0];
        sum[1] += product[1];
    }
}

/// Adds such products to a sum of twelve bits a coefficient, in \[0, q).
#[inline(always)]
pub(in crate::mlkem) fn add_products_packed(
    sum: &mut [[u8; 3]],
    a: &[[i16; 2]],
    x: &[[i16; 2]],
    zetas: &[i16],
) {
    for (((sum, a), x), zeta) in sum.iter_mut().zip(a).zip(x).zip(zetas) {
        *sum = packed(residues_of_sum(decoded(sum), multiply_pair(*zeta, *a, *x)));
    }
}

/// Adds the products of first factors of twelve bits a coefficient.
#[inline(always)]
pub(in crate::mlkem) fn add_products_encoded(
    sum: &mut [[i16; 2]],
    a: &[[u8; 3]],
    x: &[[i16; 2]],
    zetas: &[i16],
) {
    for (i, a) in a.iter().enumerate() {
        add_products(&mut sum[i..], &[decoded(a)], &x[i..], &zetas[i..]);
    }
}

/// The residues of a + b in \[0, q), for 0 ≤ a < q and |b| ≤ q.
#[inline(always)]
pub(in crate::mlkem) fn residues_of_sum(a: [i16; 2], b: [i16; 2]) -> [i16; 2] {
    [residue(a[0] + b[0]) as i16, residue(a[1] + b[1]) as i16]
}

/// Those of sixteen candidates that are below q, and their number.
#[inline(always)]
pub(in crate::mlkem) fn reject_vartime(out: &mut [i16; 16], words: &[u64; 3]) -> usize {
    let mut n = 0;
    let halves = words.map(|word| [word as u32, (word >> 32) as u32]);
    for [x, y, z] in halves.as_flattened().as_chunks::<3>().0 {
        for bits in [*x, x >> 12, x >> 24 | y << 8, y >> 4, y >> 16, y >> 28 | z << 4, z >> 8, z >> 20] {
            // Written first and counted after, as in the portable table.
            let candidate = (bits & 0xfff) as i16;
            out[n & 15] = candidate;
            n += usize::from(candidate < Q);
        }
    }
    n
}

#[inline(always)]
pub(in crate::mlkem) fn add_noise2(f: &mut [i16; 8], word: u32) {
    f.iter_mut().zip(noise2_of(word.to_le_bytes())).for_each(|(x, noise)| *x += noise);
}

/// Compress_d(x) (FIPS 203, §4.2.1, (4.7)) of any representative, |x| ≤ 3q.
///
/// Of x·2^26/q what is cut off is less than what the nearest quotient is away from where another begins: a test shows it.
#[inline(always)]
fn compressed_of(d: usize, x: i16) -> u32 {
    /// ⌈2^42/q⌋
    const FACTOR: i64 = 1_321_131_424;
    const { assert!((2 * (FACTOR * Q as i64 - (1 << 42))).abs() < Q as i64) };
    let scaled = ((i64::from(x) * FACTOR) >> 16) as u32;
    (scaled.wrapping_add(1 << (25 - d)) >> (26 - d)) & ((1 << d) - 1)
}

/// Compress_d and ByteEncode_d (FIPS 203, §4.2.1), four bytes at a time; |x| ≤ 3q.
#[inline(always)]
fn compressed(f: &Coefficients, d: usize, mut words: impl FnMut(u32)) {
    let (mut held, mut bits) = (0, 0);
    for x in f {
        let y = compressed_of(d, *x);
        held |= y << bits;
        bits += d;
        if bits >= 32 {
            words(held);
            bits -= 32;
            // The rest of y: no bits, or fewer than it has.
            held = y >> (d - bits).min(31);
        }
    }
}

/// Compress_d and ByteEncode_d of `f`, |x| ≤ 3q, to as many words as that are: d.
#[inline(never)]
pub(in crate::mlkem) fn compress(f: &Coefficients, d: usize, words: &mut [[u8; 4]]) {
    let mut places = words.iter_mut();
    compressed(f, d, |word| {
        if let Some(place) = places.next() {
            *place = word.to_le_bytes();
        }
    });
}

/// The bits in which that and `words` differ: zero if none.
#[inline(never)]
pub(in crate::mlkem) fn compressed_difference(f: &Coefficients, d: usize, words: &[[u8; 4]]) -> u32 {
    let mut different = 0;
    let mut expected = words.iter();
    compressed(f, d, |word| {
        different |= expected.next().map_or(!0, |expected| word ^ u32::from_le_bytes(*expected));
    });
    different
}

#[cfg(test)]
#[allow(clippy::integer_division_remainder_used)]
mod tests {
    use std::vec;
    use std::vec::Vec;

    use super::super::portable::compress_coefficient;
    use super::super::{loops, portable};
    use super::*;
    use crate::sha3::Shake128;

    #[test]
    fn every_sum_has_its_residue() {
        for x in -3 * Q..=3 * Q {
            assert_eq!(i32::from(residue(x)), i32::from(x).rem_euclid(3329));
        }
        for a in 0..Q {
            for b in -Q..=Q {
                let expected = i32::from(a + b).rem_euclid(3329);
                assert_eq!(loops::residues_of_sum([a, 0], [b, -1]).map(i32::from), [expected, 3328]);
                assert_eq!(loops::residues_of_sum([0, a], [1, b]).map(i32::from), [1, expected]);
            }
        }
    }

    #[test]
    fn compression_takes_every_representative() {
        let all: Vec<i16> = (-3 * Q..=3 * Q).collect();
        for d in [1, 4, 5, 10, 11] {
            for f in all.chunks(256) {
                let f: Coefficients = core::array::from_fn(|i| f.get(i).copied().unwrap_or(-1));
                let mut expected = vec![0; 32 * d];
                for (i, x) in f.into_iter().enumerate() {
                    let y = compress_coefficient(d, residue(x) as i16);
                    (0..d).for_each(|bit| {
                        expected[(d * i + bit) / 8] |= ((y >> bit & 1) as u8) << ((d * i + bit) % 8)
                    });
                }
                let mut ours = vec![[0; 4]; 8 * d];
                loops::compress(&f, d, &mut ours);
                assert_eq!(ours.as_flattened(), expected);
                assert_eq!(loops::compressed_difference(&f, d, &ours), 0);
                ours[8 * d - 1][3] ^= 0x80;
                assert_eq!(loops::compressed_difference(&f, d, &ours), 0x8000_0000);
            }
        }
    }

    #[test]
    fn candidates_are_accepted_as_by_the_portable_table() {
        let mut random = Shake128::new().finalize_xof();
        for _ in 0..1000 {
            let mut bytes = [[0; 8]; 3];
            random.squeeze(bytes.as_flattened_mut());
            // 3328 and 3329 beside each other.
            bytes[1][..3].copy_from_slice(&[0x00, 0x1d, 0xd0]);
            let (mut ours, mut expected) = ([0; 16], [0; 17]);
            let n = loops::reject_vartime(&mut ours, &bytes.map(u64::from_le_bytes));
            assert_eq!(n, portable::reject_vartime(&mut expected, bytes.as_flattened()));
            assert_eq!(ours[..n], expected[..n]);
        }
    }

    #[test]
    fn noise_is_that_of_the_portable_table() {
        for word in (0..20_000u32).map(|i| i.wrapping_mul(0x9e37_79b9)) {
            let mut f = [-1665, -1, 0, 1, 3329, -3329, 7, 1664];
            let expected: Vec<i16> =
                f.iter().zip(noise2_of(word.to_le_bytes())).map(|(x, noise)| x + noise).collect();
            loops::add_noise2(&mut f, word);
            assert_eq!(f[..], expected);
        }
    }

    #[test]
    fn products_at_the_bounds_are_those_of_the_standard() {
        let q = i64::from(Q);
        let edges = |bound: i16| [-bound, 1 - bound, -1665, -1, 0, 1, 1664, bound - 1, bound];
        for pair in [0, 1, 63, 127] {
            // ζ^(2·BitRev7(i) + 1), in the form in which the table has it: times 2^16.
            let zeta = loops::pair_zetas()[pair];
            for a in edges(2 * Q).into_iter().flat_map(|a| edges(2 * Q).map(|b| [a, b])) {
                for b in edges(Q).into_iter().flat_map(|a| edges(Q).map(|b| [a, b])) {
                    let mut sum = [[0; 2]; 2];
                    loops::add_products(&mut sum, &[a; 2], &[b; 2], &[zeta; 2]);
                    let ours = sum[1].map(i64::from);
                    let ([a0, a1], [b0, b1]) = (a.map(i64::from), b.map(i64::from));
                    assert!(sum[0] == sum[1] && ours.iter().all(|x| x.abs() <= q));
                    assert_eq!((ours[1] * 65536 - a0 * b1 - a1 * b0) % q, 0);
                    assert_eq!(((ours[0] * 65536 - a0 * b0) * 65536 - a1 * b1 * i64::from(zeta)) % q, 0);

                    for before in [[0, 3328], [1700, 1]] {
                        let mut bytes = [packed(before)];
                        loops::add_products_packed(&mut bytes, &[a], &[b], &[zeta]);
                        let expected = [0, 1].map(|i| (i64::from(before[i]) + ours[i]).rem_euclid(q));
                        assert_eq!(decoded(&bytes[0]).map(i64::from), expected);
                    }
                    if a.iter().all(|a| (0..Q).contains(a)) {
                        let mut same = [[5; 2]];
                        loops::add_products_encoded(&mut same, &[packed(a)], &[b], &[zeta]);
                        assert_eq!(same[0].map(|x| x - 5), sum[0]);
                    }
                }
            }
        }
    }
}
