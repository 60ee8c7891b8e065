//! FIPS 204, §7.4: the hint that lets a verifier find the high bits of w - c·s2 without knowing t0.

use super::params::sealed::Parameters;
use super::ring::Poly;

/// FIPS 204, Algorithm 39 (MakeHint), for a whole row: whether adding c·t0 changed the high bits.
///
/// The caller has decomposed r = w - c·s2 into `r1` and r0, and added c·t0 to the latter: `sum`. The high bits
/// of r + c·t0 = r1·2γ2 + `sum` differ from r1 unless -γ2 < `sum` ≤ γ2; at `sum` = -γ2 they differ unless r1 = 0,
/// where the standard's Decompose has its exception. |sum| < 2γ2.
///
/// Returns the number of ones; both it and the time say nothing of their places.
pub(crate) fn make_hint<P: Parameters>(sum: &Poly, r1: &Poly, hint: &mut [u32; 8]) -> u32 {
    let mut count = 0;
    let groups = sum.0.as_chunks::<32>().0.iter().zip(r1.0.as_chunks::<32>().0);
    for (word, (sum, r1)) in hint.iter_mut().zip(groups) {
        let mut bits = 0;
        for (sum, r1) in sum.iter().zip(r1).rev() {
            debug_assert!(sum.abs() < 2 * P::GAMMA2 && (0..P::M).contains(r1));
            let not_zero = -r1 as u32 >> 31;
            let above = (P::GAMMA2 - sum) as u32 >> 31;
            let below = (P::GAMMA2 + sum - not_zero as i32) as u32 >> 31;
            bits = bits << 1 | above | below;
            count += above | below;
        }
        *word = bits;
    }
    count
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
