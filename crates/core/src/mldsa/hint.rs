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
        r1.0[place] = use_hint_one::<P>(r1.0[place], r0.0[place]);
    }
}

/// The high bits of a coefficient that has a hint (FIPS 204, Algorithm 40).
#[inline(always)]
pub(crate) fn use_hint_one<P: Parameters>(r1: i32, r0: i32) -> i32 {
    match r0 > 0 {
        true if r1 == P::M - 1 => 0,
        true => r1 + 1,
        false if r1 == 0 => P::M - 1,
        false => r1 - 1,
    }
}
