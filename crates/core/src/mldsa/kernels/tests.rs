//! Every table against the standard's definitions and against the portable one.

mod hints;
mod packing;

use std::string::String;
use std::vec::Vec;
use std::{println, vec};

use super::*;
use crate::mldsa::hint::use_hint_vartime;
use crate::mldsa::params::sealed::Parameters;
use crate::mldsa::ring::{N, Q};
use crate::mldsa::{MlDsa44, MlDsa65};
use crate::sha3::Shake128;

/// Every table that this machine can run.
pub(crate) fn tables() -> Vec<&'static Kernels> {
    let mut tables = Vec::from([&PORTABLE, &rv32::RV32]);
    #[cfg(gambeson_dsp)]
    tables.push(&armv7em::ARMV7EM);
    #[cfg(target_arch = "x86_64")]
    {
        tables.extend((cpu::detected() >= Level::Avx2).then_some(&avx2::AVX2));
        tables.extend((cpu::detected() >= Level::Avx512).then_some(&avx512::AVX512));
    }
    #[cfg(all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"))]
    tables.push(&neon::NEON);
    #[cfg(all(target_family = "wasm", target_feature = "simd128"))]
    tables.push(&simd128::SIMD128);
    println!("tables: {}", tables.iter().map(|table| table.level.name()).collect::<Vec<_>>().join(" "));
    tables
}

/// Polynomials with coefficients in `low..=high`: constant ones at both ends, alternating ones, random ones.
fn polynomials(low: i32, high: i32) -> Vec<Poly> {
    let mut squeeze = Shake128::new().update(&low.to_le_bytes()).update(&high.to_le_bytes()).finalize_xof();
    let mut polynomials = vec![
        Poly([low; N]),
        Poly([high; N]),
        Poly(core::array::from_fn(|i| if i & 1 == 0 { low } else { high })),
        Poly(core::array::from_fn(|i| if i & 128 == 0 { high } else { low })),
    ];
    for _ in 0..20 {
        polynomials.push(Poly(core::array::from_fn(|_| {
            let mut bytes = [0; 4];
            squeeze.squeeze(&mut bytes);
            let span = (i64::from(high) - i64::from(low) + 1) as u64;
            (i64::from(low) + ((u64::from(u32::from_le_bytes(bytes)) * span) >> 32) as i64) as i32
        })));
    }
    polynomials
}

fn residue(x: impl Into<i64>) -> i64 {
    x.into().rem_euclid(i64::from(Q))
}

fn power(base: i64, exponent: u32) -> i64 {
    (0..32).rev().fold(1, |x, bit| {
        let square = residue(x * x);
        if exponent >> bit & 1 == 1 { residue(square * base) } else { square }
    })
}

#[test]
fn the_transform_is_the_evaluation_at_the_powers_of_zeta() {
    // FIPS 204, §2.5: entry i is the value at ζ^(2·BitRev8(i) + 1).
    let points: Vec<i64> = (0..=255u8).map(|i| power(1753, 2 * u32::from(i.reverse_bits()) + 1)).collect();
    for kernels in tables() {
        for w in polynomials(1 - Q, Q - 1) {
            let mut w_hat = w.clone();
            (kernels.ntt)(&mut w_hat);
            for (value, x) in w_hat.0.iter().zip(&points) {
                assert!(0 <= *value && *value < 18 * Q);
                let expected = w.0.iter().rev().fold(0, |sum, c| residue(sum * x + i64::from(*c)));
                assert_eq!(residue(*value), expected);
            }
        }
    }
}

#[test]
fn the_inverse_of_a_product_is_the_product_in_the_ring() {
    for kernels in tables() {
        for (a, b) in polynomials(1 - Q, Q - 1).iter().zip(polynomials(-524_287, 524_288).iter().rev()) {
            let mut expected = [0i64; N];
            for (i, a) in a.0.iter().enumerate() {
                for (j, b) in b.0.iter().enumerate() {
                    // X^256 = -1.
                    let sign = if i + j < N { 1 } else { -1 };
                    let place = &mut expected[(i + j) & 255];
                    *place = residue(*place + sign * i64::from(*a) * i64::from(*b));
                }
            }
            let (mut product, mut b_hat) = (a.clone(), b.clone());
            (kernels.ntt)(&mut product);
            (kernels.ntt)(&mut b_hat);
            (kernels.multiply)(&mut product, &b_hat);
            assert!(product.0.iter().all(|c| 0 <= *c && *c < 2 * Q));
            (kernels.inverse_ntt)(&mut product);
            for (c, expected) in product.0.iter().zip(expected) {
                assert!(c.abs() <= Q >> 1, "the representative mod± q");
                assert_eq!(residue(*c), expected);
            }
        }
    }
}

#[test]
fn a_row_of_extreme_products_does_not_overflow() {
    for kernels in tables() {
        // 2q a product, eight products: the longest row of verification.
        let extreme = Poly([18 * Q - 1; N]);
        for a in [Poly([Q - 1; N]), extreme.clone()] {
            let mut sum = extreme.clone();
            (kernels.multiply)(&mut sum, &extreme);
            for _ in 0..7 {
                (kernels.multiply_add)(&mut sum, &a, &extreme);
            }
            assert!(sum.0.iter().all(|c| 0 <= *c && *c < 16 * Q));
            let mut portable = sum.clone();
            (PORTABLE.inverse_ntt)(&mut portable);
            (kernels.inverse_ntt)(&mut sum);
            assert_eq!(sum, portable);
        }
        for w in polynomials(0, i32::MAX) {
            let (mut ours, mut portable) = (w.clone(), w);
            (kernels.inverse_ntt)(&mut ours);
            (PORTABLE.inverse_ntt)(&mut portable);
            assert_eq!(ours, portable, "any sum that is not negative");
        }
    }
}

#[test]
fn uniform_sampling_takes_what_is_below_q_and_stops_when_full() {
    let triple = |z: u32| -> [u8; 3] { z.to_le_bytes()[..3].try_into().unwrap() };
    for kernels in tables() {
        let mut a = Poly([-1; N]);
        let q = Q as u32;
        let candidates =
            [0, 1, q - 1, q, q + 1, 0x7f_ffff, 0x80_0000, 0x80_0000 | (q - 1), 0x80_0000 | q, 0xff_ffff];
        let bytes: Vec<u8> = candidates.into_iter().flat_map(triple).collect();
        assert_eq!((kernels.reject_uniform)(&mut a, 0, &bytes), 5);
        assert_eq!(a.0[..5], [0, 1, Q - 1, 0, Q - 1]);
        // Continued, up to the end and not beyond it.
        let block: Vec<u8> = (0..56u32).map(|i| i * 1000 + 7).flat_map(triple).collect();
        let mut filled = 5;
        for expected in [61, 117, 173, 229, 256, 256] {
            filled = (kernels.reject_uniform)(&mut a, filled, &block);
            assert_eq!(filled, expected);
        }
        let expected = (0..251).map(|i: i32| i.rem_euclid(56) * 1000 + 7);
        assert!(a.0[5..].iter().copied().eq(expected));
    }
}

#[test]
fn every_table_samples_tests_and_packs_as_the_portable_one() {
    let mut squeeze = Shake128::new().finalize_xof();
    for kernels in tables() {
        for round in 0..60u8 {
            let mut bytes = [round.wrapping_mul(85); 640];
            if round >= 4 {
                squeeze.squeeze(&mut bytes);
            }
            for filled in [0, 1, 7, 100, 200, 239, 240, 247, 248, 249, 255, 256] {
                let (mut ours, mut expected) = (Poly([9; N]), Poly([9; N]));
                let n = (kernels.reject_uniform)(&mut ours, filled, &bytes[..168]);
                assert_eq!(n, (PORTABLE.reject_uniform)(&mut expected, filled, &bytes[..168]));
                assert_eq!(ours.0[..n], expected.0[..n]);
                for eta in [2, 4] {
                    let (mut ours, mut expected) = (Poly([9; N]), Poly([9; N]));
                    let n = (kernels.reject_bounded)(&mut ours, filled, &bytes[..136], eta);
                    assert_eq!(n, (PORTABLE.reject_bounded)(&mut expected, filled, &bytes[..136], eta));
                    assert_eq!(ours.0[..n], expected.0[..n]);
                }
            }
            for (bits, high) in [(3, 2), (4, 4), (10, 0), (18, 1 << 17), (20, 1 << 19)] {
                let (mut ours, mut expected) = (Poly([9; N]), Poly([9; N]));
                (kernels.unpack)(&mut ours, &bytes[..32 * bits], high);
                (PORTABLE.unpack)(&mut expected, &bytes[..32 * bits], high);
                assert_eq!(ours, expected, "{bits} bits");
                let mut packed = [0; 640];
                (kernels.pack)(&mut packed[..32 * bits], &ours, high);
                assert_eq!(packed[..32 * bits], bytes[..32 * bits], "{bits} bits");
            }
        }
        for (bits, high, low) in [(4, 0, 0), (6, 0, 0), (13, 4096, -4095)] {
            for p in polynomials(low, if high == 0 { (1 << bits) - 1 } else { high }) {
                let (mut ours, mut expected) = ([0; 416], [0; 416]);
                (kernels.pack)(&mut ours[..32 * bits], &p, high);
                (PORTABLE.pack)(&mut expected[..32 * bits], &p, high);
                assert_eq!(ours, expected, "{bits} bits");
            }
        }
        for bound in [3, MlDsa44::GAMMA2 - MlDsa44::BETA, MlDsa65::GAMMA2, MlDsa65::GAMMA1 - MlDsa65::BETA] {
            for at in [0, 7, 8, 15, 16, 100, 255] {
                for c in [bound - 1, bound, bound + 1, Q, (1 << 30) - 1] {
                    for c in [c, -c] {
                        let mut p = Poly::ZERO;
                        p.0[at] = c;
                        assert_eq!((kernels.is_below)(&p, bound), u32::from(c.abs() < bound));
                    }
                }
            }
        }
        for gamma2 in [MlDsa44::GAMMA2, MlDsa65::GAMMA2] {
            for sum in polynomials(1 - 2 * gamma2, 2 * gamma2 - 1) {
                let mut edges = sum;
                for (c, edge) in edges
                    .0
                    .iter_mut()
                    .step_by(3)
                    .zip([-gamma2 - 1, -gamma2, gamma2, gamma2 + 1].iter().cycle())
                {
                    *c = *edge;
                }
                let mut not_zero = [0u8; 32];
                squeeze.squeeze(&mut not_zero);
                let not_zero = core::array::from_fn(|i| u32::from_le_bytes(not_zero.as_chunks().0[i]));
                let (mut ours, mut expected) = (not_zero, not_zero);
                let count = (kernels.make_hint)(&edges, gamma2, &mut ours);
                assert_eq!(count, (PORTABLE.make_hint)(&edges, gamma2, &mut expected));
                assert_eq!(ours, expected);
            }
        }
    }
}

#[test]
fn a_short_product_is_the_one_of_the_transforms_up_to_the_greatest_sums() {
    let mut squeeze = Shake128::new().update(b"places").finalize_xof();
    for kernels in tables() {
        for (eta, tau) in [(2, 39), (4, 49), (2, 60)] {
            for s in polynomials(-eta, eta) {
                // The first places with either sign make sums of τ·η where s is constant.
                for (round, p) in polynomials(1 - (1 << 19), 1 << 19).into_iter().enumerate() {
                    let mut places = [0u16; 64];
                    for (place, i) in places.iter_mut().zip(0..) {
                        let mut sign = [0; 2];
                        squeeze.squeeze(&mut sign);
                        let sign = if round < 4 { round as u16 & 1 } else { u16::from(sign[0]) & 1 };
                        *place = i * 4 + u16::from(sign as u8) * 256;
                    }
                    let places = &places[..tau];
                    let mut c = Poly::ZERO;
                    for place in places {
                        c.0[usize::from(*place & 255)] = if *place < 256 { 1 } else { -1 };
                    }
                    let mut expected = s.clone();
                    (PORTABLE.ntt)(&mut expected);
                    (PORTABLE.ntt)(&mut c);
                    (PORTABLE.multiply)(&mut expected, &c);
                    (PORTABLE.inverse_ntt)(&mut expected);
                    expected.add(&p);
                    let (mut short, mut sum) = (Short::ZERO, p.clone());
                    short.set(&s);
                    let greatest = expected.0.iter().map(|c| c.abs()).max().unwrap_or(0);
                    assert_eq!((kernels.add_short_product)(&mut sum, &short, places, eta, greatest), 0);
                    assert_eq!(sum, expected);
                    sum = p;
                    assert_eq!((kernels.add_short_product)(&mut sum, &short, places, eta, greatest + 1), 1);
                    assert_eq!(sum, expected);
                }
            }
        }
    }
}

#[test]
fn high_bits_are_decomposed_packed_and_marked() {
    for kernels in tables() {
        for w in polynomials(1 - Q, Q - 1) {
            for (bits, high_bits, decompose) in [
                (6, kernels.high_bits_44, PORTABLE.decompose_44),
                (4, kernels.high_bits_16, PORTABLE.decompose_16),
            ] {
                let (mut r0, mut r1) = (w.clone(), Poly::ZERO);
                decompose(&mut r0, &mut r1);
                let mut expected = [0; 192];
                (PORTABLE.pack)(&mut expected[..32 * bits], &r1, 0);
                let (mut ours, mut packed, mut marks) = (w.clone(), [0; 192], [0; 8]);
                high_bits(&mut ours, &mut packed[..32 * bits], &mut marks);
                assert_eq!(ours, r0);
                assert_eq!(packed, expected);
                let marked = (0..N).map(|i| marks[i >> 5] >> (i & 31) & 1);
                assert!(marked.eq(r1.0.iter().map(|r1| u32::from(*r1 != 0))));
            }
        }
    }
}

#[test]
fn products_of_every_table_are_those_of_the_portable_one() {
    for kernels in tables() {
        for (a, b) in polynomials(0, 18 * Q - 1).iter().zip(polynomials(0, 18 * Q - 1).iter().rev()) {
            for start in [0, 14 * Q] {
                let (mut ours, mut expected) = (Poly([start; N]), Poly([start; N]));
                (kernels.multiply_add)(&mut ours, a, b);
                (PORTABLE.multiply_add)(&mut expected, a, b);
                for (ours, expected) in ours.0.iter().zip(&expected.0) {
                    assert!((start..start + 2 * Q).contains(ours));
                    assert_eq!(residue(*ours), residue(*expected));
                }
            }
        }
    }
}

#[test]
fn rows_of_every_table_are_those_of_the_portable_one() {
    for kernels in tables() {
        let mut all: Vec<Poly> = polynomials(0, Q - 1);
        let mut vectors = polynomials(0, 18 * Q - 1);
        // Eight products of the greatest factors, the last of them as in verification.
        all.extend((0..63).map(|_| Poly([Q - 1; N])));
        vectors.extend((0..8).map(|_| Poly([18 * Q - 1; N])));
        all[24 + 56] = Poly([18 * Q - 1; N]);
        for (stride, length) in [(1, 1), (4, 4), (6, 5), (8, 7), (8, 8)] {
            for (a, b) in [(&all[..], &vectors[..length]), (&all[24..], &vectors[24..24 + length])] {
                let reach = stride * (length - 1) + 1;
                let (mut ours, mut expected) = (Poly([2 * Q - 1; N]), Poly([-1; N]));
                (kernels.inner_product)(&mut ours, &a[..reach], stride, b);
                (PORTABLE.inner_product)(&mut expected, &a[..reach], stride, b);
                for (ours, expected) in ours.0.iter().zip(&expected.0) {
                    assert!((0..2 * length as i32 * Q).contains(ours));
                    assert_eq!(residue(*ours), residue(*expected));
                }
            }
        }
    }
}

#[test]
fn powers_and_high_bits_follow_their_definitions_for_negative_representatives_too() {
    for kernels in tables() {
        for w in polynomials(1 - Q, Q - 1) {
            let (mut t0, mut t1) = (w.clone(), Poly::ZERO);
            (kernels.power2round)(&mut t0, &mut t1);
            for ((r, r0), r1) in w.0.iter().zip(&t0.0).zip(&t1.0) {
                assert!((-4095..=4096).contains(r0) && (0..1024).contains(r1));
                assert_eq!(i64::from(*r1) * 8192 + i64::from(*r0), residue(*r));
            }
            for (m, decompose) in [(44, kernels.decompose_44), (16, kernels.decompose_16)] {
                let (mut low, mut high) = (w.clone(), Poly::ZERO);
                decompose(&mut low, &mut high);
                let gamma2 = (MlDsa44::GAMMA2, MlDsa65::GAMMA2);
                let gamma2 = if m == 44 { gamma2.0 } else { gamma2.1 };
                for ((r, r0), r1) in w.0.iter().zip(&low.0).zip(&high.0) {
                    assert!((-gamma2..=gamma2).contains(r0) && (0..m).contains(r1));
                    assert_eq!(residue(r1 * 2 * gamma2 + r0), residue(*r));
                }
            }
        }
    }
}

/// The published digest of the next test says that the portable table is right.
#[test]
fn every_table_rounds_every_field_element_as_the_portable_one() {
    for kernels in tables() {
        for first in (0..Q).step_by(N) {
            let r = Poly(core::array::from_fn(|i| (first + i as i32).min(Q - 1)));
            for (round, portable) in [
                (kernels.power2round, PORTABLE.power2round),
                (kernels.decompose_44, PORTABLE.decompose_44),
                (kernels.decompose_16, PORTABLE.decompose_16),
            ] {
                let [(mut low, mut high), (mut expected_low, mut expected_high)] =
                    [(r.clone(), Poly::ZERO), (r.clone(), Poly::ZERO)];
                round(&mut low, &mut high);
                portable(&mut expected_low, &mut expected_high);
                assert!(low == expected_low && high == expected_high, "{}: from {first} on", kernels.level);
            }
        }
    }
}

/// The figure of C2SP/CCTV: for every r below q, one decimal a line: r mod± q, its absolute value; r1 and r0 mod q of
/// Power2Round; then for each γ2 HighBits, UseHint(1, r), LowBits and its absolute value.
#[test]
fn every_field_element_is_rounded_as_the_published_digest_says() {
    use core::fmt::Write;

    fn both<P: Parameters>(kernels: &Kernels, r: &Poly) -> [Poly; 3] {
        let (mut r0, mut r1) = (r.clone(), Poly::ZERO);
        if P::M == 44 {
            (kernels.decompose_44)(&mut r0, &mut r1)
        } else {
            (kernels.decompose_16)(&mut r0, &mut r1)
        }
        let mut hinted = r1.clone();
        let places: [u8; N] = core::array::from_fn(|i| i as u8);
        use_hint_vartime::<P>(&mut hinted, &r0, &places);
        [r1, hinted, r0]
    }

    for kernels in tables() {
        let mut hasher = Shake128::new();
        let mut lines = String::new();
        let mut count = 0;
        for first in (0..Q).step_by(N) {
            let r = Poly(core::array::from_fn(|i| (first + i as i32).min(Q - 1)));
            let (mut t0, mut t1) = (r.clone(), Poly::ZERO);
            (kernels.power2round)(&mut t0, &mut t1);
            let [high_88, hinted_88, low_88] = both::<MlDsa44>(kernels, &r);
            let [high_32, hinted_32, low_32] = both::<MlDsa65>(kernels, &r);
            for i in 0..N.min((Q - first) as usize) {
                let c = r.0[i];
                let centred = if c > Q >> 1 { c - Q } else { c };
                lines.clear();
                for value in [
                    centred,
                    centred.abs(),
                    t1.0[i],
                    residue(t0.0[i]) as i32,
                    high_88.0[i],
                    hinted_88.0[i],
                    low_88.0[i],
                    low_88.0[i].abs(),
                    high_32.0[i],
                    hinted_32.0[i],
                    low_32.0[i],
                    low_32.0[i].abs(),
                ] {
                    writeln!(lines, "{value}").unwrap();
                }
                hasher.update(lines.as_bytes());
                count += 1;
            }
        }
        assert_eq!(count, Q, "every element of the field");
        let mut digest = [0; 32];
        hasher.finalize_xof().squeeze(&mut digest);
        let hex = digest.iter().fold(String::new(), |mut hex, byte| {
            write!(hex, "{byte:02x}").unwrap();
            hex
        });
        assert_eq!(hex, "f930663417278156ab05d940294a77210a809c924d8ab63ec72f4526247602c7");
    }
}

#[test]
fn the_norm_is_told_at_the_bound_one_above_and_one_below() {
    for kernels in tables() {
        for bound in [1, 3, 261_888 - 196, (1 << 19) - 196] {
            for at in [0, 100, 255] {
                for (c, below) in
                    [(bound - 1, 1), (bound, 0), (bound + 1, 0), (1 - bound, 1), (-bound, 0), (-bound - 1, 0)]
                {
                    let mut p = Poly::ZERO;
                    p.0[at] = c;
                    assert_eq!((kernels.is_below)(&p, bound), below, "{c} against {bound}");
                }
            }
        }
        assert_eq!((kernels.is_below)(&Poly([Q; N]), 1 << 17), 0);
        assert_eq!((kernels.is_below)(&Poly([-Q; N]), 1 << 17), 0);
    }
}
