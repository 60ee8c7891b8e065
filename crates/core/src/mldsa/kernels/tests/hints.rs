//! Hints of every table (FIPS 204, §7.4).

use super::super::PORTABLE;
use super::tables;
use crate::mldsa::hint::{make_hint, use_hint_vartime};
use crate::mldsa::params::sealed::Parameters;
use crate::mldsa::ring::{Poly, Q};
use crate::mldsa::{MlDsa44, MlDsa65};

/// The high bits of the first coefficient.
fn high_bits<P: Parameters>(r: i32) -> i32 {
    let (mut r0, mut r1) = (Poly::ZERO, Poly::ZERO);
    r0.0[0] = r.rem_euclid(Q);
    if P::M == 44 {
        (PORTABLE.decompose_44)(&mut r0, &mut r1)
    } else {
        (PORTABLE.decompose_16)(&mut r0, &mut r1)
    }
    r1.0[0]
}

#[test]
fn a_hint_is_made_exactly_where_the_high_bits_change() {
    fn test<P: Parameters>() {
        let mut ran = 0;
        let tables = tables();
        for r1 in 0..P::M {
            for r0 in [-P::GAMMA2 + P::BETA + 1, -1, 0, 1, P::GAMMA2 - P::BETA - 1] {
                for edge in [-P::GAMMA2, 0, P::GAMMA2] {
                    for sum in edge - 2..=edge + 2 {
                        if (sum - r0).abs() >= P::GAMMA2 {
                            continue;
                        }
                        let mut sums = Poly::ZERO;
                        sums.0[77] = sum;
                        let not_zero = [if r1 == 0 { 0 } else { u32::MAX }; 8];
                        // FIPS 204, Algorithm 39 (MakeHint), as it stands.
                        let changed = high_bits::<P>(r1 * 2 * P::GAMMA2 + sum) != r1;
                        let mut expected = [0; 8];
                        expected[2] = u32::from(changed) << (77 & 31);
                        for kernels in &tables {
                            let mut hint = not_zero;
                            let count = make_hint::<P>(kernels, &sums, &mut hint);
                            assert_eq!((count, hint), (u32::from(changed), expected), "{r1} {r0} {sum}");
                        }
                        ran += 1;
                    }
                }
            }
        }
        assert!(ran > 40 * P::M);
    }
    test::<MlDsa44>();
    test::<MlDsa65>();
}

#[test]
fn a_used_hint_undoes_the_addition_it_was_made_for() {
    fn test<P: Parameters>() {
        // r = r1·2γ2 + r0 is what the signer has, r + ct0 what the verifier has.
        for r1 in 0..P::M {
            for r0 in [-P::GAMMA2 + P::BETA + 1, 0, P::GAMMA2 - P::BETA - 1] {
                for ct0 in [1 - P::GAMMA2, -(P::GAMMA2 >> 1), -1, 0, 1, P::GAMMA2 >> 1, P::GAMMA2 - 1] {
                    let (mut sum, mut hint) = (Poly::ZERO, [u32::from(r1 != 0) << 5, 0, 0, 0, 0, 0, 0, 0]);
                    sum.0[5] = r0 + ct0;
                    make_hint::<P>(&PORTABLE, &sum, &mut hint);
                    let mut w = Poly::ZERO;
                    w.0[5] = (r1 * 2 * P::GAMMA2 + r0 + ct0).rem_euclid(Q);
                    let mut w1 = Poly::ZERO;
                    if P::M == 44 {
                        (PORTABLE.decompose_44)(&mut w, &mut w1)
                    } else {
                        (PORTABLE.decompose_16)(&mut w, &mut w1)
                    }
                    let places: &[u8] = if hint[0] >> 5 & 1 == 1 { &[5] } else { &[] };
                    use_hint_vartime::<P>(&mut w1, &w, places);
                    assert_eq!(w1.0[5], r1, "{r1} {r0} {ct0}");
                }
            }
        }
    }
    test::<MlDsa44>();
    test::<MlDsa65>();
}
