//! Packing by every table (FIPS 204, §7.1).

use std::vec;
use std::vec::Vec;

use super::super::{Kernels, active};
use super::tables;
use crate::mldsa::encode::{pack_s, pack_t0, pack_t1, pack_z, unpack_minus_t1_2d, unpack_s, unpack_z};
use crate::mldsa::params::sealed::Parameters;
use crate::mldsa::ring::Poly;
use crate::mldsa::{MlDsa44, MlDsa65, MlDsa87};
use crate::sha3::Shake128;

/// Coefficients in `low..=high`, with both ends.
fn sample(low: i32, high: i32) -> Poly {
    let mut squeeze = Shake128::new().update(&high.to_le_bytes()).finalize_xof();
    let mut p = Poly::ZERO;
    for c in &mut p.0 {
        let mut bytes = [0; 4];
        squeeze.squeeze(&mut bytes);
        let span = (high - low + 1) as u64;
        *c = low + ((u64::from(u32::from_le_bytes(bytes)) * span) >> 32) as i32;
    }
    (p.0[0], p.0[7], p.0[100], p.0[255]) = (low, high, high, low);
    p
}

/// FIPS 204, Algorithm 9 (IntegerToBits) and Algorithm 12 (BitsToBytes), bit by bit.
fn bits_to_bytes(numbers: impl Iterator<Item = u32>, width: usize) -> Vec<u8> {
    let mut bytes = vec![0; 32 * width];
    for (i, number) in numbers.enumerate() {
        for bit in 0..width {
            let at = i * width + bit;
            bytes[at >> 3] |= ((number >> bit & 1) as u8) << (at & 7);
        }
    }
    bytes
}

type Pack = fn(&Kernels, &Poly, &mut [u8]);
type Unpack = fn(&Kernels, &[u8], &mut Poly);

#[test]
fn polynomials_are_packed_bit_by_bit_and_come_back() {
    // The lowest and the highest coefficient, the width, what is written is high - c or c.
    let cases: [(i32, i32, usize, bool, Pack, Option<Unpack>); 8] = [
        (0, 1023, 10, false, pack_t1, None),
        (-4095, 4096, 13, true, pack_t0, None),
        (-2, 2, 3, true, pack_s::<MlDsa44>, Some(unpack_s::<MlDsa44>)),
        (-4, 4, 4, true, pack_s::<MlDsa65>, Some(unpack_s::<MlDsa65>)),
        (-2, 2, 3, true, pack_s::<MlDsa87>, Some(unpack_s::<MlDsa87>)),
        (-131_071, 131_072, 18, true, pack_z::<MlDsa44>, Some(unpack_z::<MlDsa44>)),
        (-524_287, 524_288, 20, true, pack_z::<MlDsa65>, Some(unpack_z::<MlDsa65>)),
        (-524_287, 524_288, 20, true, pack_z::<MlDsa87>, Some(unpack_z::<MlDsa87>)),
    ];
    for (low, high, width, from_high, pack, unpack) in cases {
        let p = sample(low, high);
        let numbers = p.0.iter().map(|c| if from_high { high - c } else { *c } as u32);
        let expected = bits_to_bytes(numbers, width);
        for kernels in tables() {
            let mut bytes = vec![0xff; 32 * width];
            pack(kernels, &p, &mut bytes);
            assert_eq!(bytes, expected);
            if let Some(unpack) = unpack {
                let mut back = Poly::ZERO;
                unpack(kernels, &bytes, &mut back);
                assert_eq!(back, p);
            }
        }
    }
}

#[test]
fn t1_is_read_as_what_verification_adds() {
    let t1 = sample(0, 1023);
    let mut bytes = [0; 320];
    pack_t1(active(), &t1, &mut bytes);
    let mut p = Poly::ZERO;
    unpack_minus_t1_2d(active(), &bytes, &mut p);
    assert!(p.0.iter().zip(&t1.0).all(|(p, t1)| *p == -8192 * t1));
}

/// FIPS 204, Algorithm 28 (w1Encode), of a row.
#[test]
fn high_bits_are_packed_with_the_width_of_the_set() {
    for (bytes, high, bits) in [(MlDsa44::W1_BYTES, 43, 6), (MlDsa87::W1_BYTES, 15, 4)] {
        let mut out = [0; 192];
        let w1 = sample(0, high);
        (active().pack)(&mut out[..bytes], &w1, 0);
        assert_eq!(out[..bytes], bits_to_bytes(w1.0.iter().map(|c| *c as u32), bits));
    }
}
