//! FIPS 204, §7.4: the hint that lets a verifier find the high bits of w - c·s2 without knowing t0.

use super::kernels::Kernels;
use super::params::sealed::Parameters;
use super::ring::Poly;

/// FIPS 204, Algorithm 39 (MakeHint), for a whole row: whether adding c·t0 changed the high bits.
///
/// r = w - c·s2 has the high bits r1 and the low bits r0 (`dsa::respond` says why those of w serve); the caller has added
/// c·t0 to r0: `sum`; `hint` has a bit for each r1 that is not 0, and becomes the hint. The high bits of r + c·t0 = r1·2γ2 + `sum` differ from r1 unless
/// -γ2 < `sum` ≤ γ2; at `sum` = -γ2 they differ unless r1 = 0, where the standard's Decompose has its exception.
/// |sum| < 2γ2.
///
/// Returns the number of ones; both it and the time say nothing of their places.
pub(crate) fn make_hint<P: Parameters>(kernels: &Kernels, sum: &Poly, hint: &mut [u32; 8]) -> u32 {
    (kernels.make_hint)(sum, P::GAMMA2, hint)
}

/// FIPS 204, Algorithm 40 (UseHint), for a whole row, already decomposed: corrects `r1` at the hinted `places`
/// by one, away from or towards zero as `r0` says, mod (q-1)/(2γ2). At r0 = 0 it goes down.
///
/// Variable time: all of a verification is public.
pub(crate) fn use_hint_vartime<P: Parameters>(r1: &mut Poly, r0: &Poly, places: &[u8]) {
    for place in places {
        let place = usize::from(*place);
        let up = r0.0[place] > 0;
        let r1 = &mut r1.0[place];
        *r1 = match (up, *r1) {
            (true, r1) if r1 == P::M - 1 => 0,
            (true, r1) => r1 + 1,
            (false, 0) => P::M - 1,
            (false, r1) => r1 - 1,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::super::kernels::{PORTABLE, tests::tables};
    use super::super::ring::Q;
    use super::super::{MlDsa44, MlDsa65};
    use super::*;

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
                        let (mut sum, mut hint) =
                            (Poly::ZERO, [u32::from(r1 != 0) << 5, 0, 0, 0, 0, 0, 0, 0]);
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
}
