//! Sampling (FIPS 203, §4.2.2) and the functions that feed it (§4.1).

use super::kernels::active;
use super::ring::{Ntt, Poly};
use crate::secret::Secret;
use crate::sha3::{Shake128, Shake256};
#[cfg(feature = "alloc")]
use crate::sha3::{State, squeezed};

/// Â\[i, j\] of the matrix that ρ stands for.
///
/// FIPS 203, Algorithm 7 (SampleNTT) of ρ ‖ j ‖ i. Variable time: ρ is public.
#[inline(never)]
pub(super) fn matrix_entry(a: &mut Ntt, rho: &[u8; 32], i: usize, j: usize) {
    let mut xof = Shake128::new().update(rho).update(&[j as u8, i as u8]).finalize_xof();
    let mut block = [0; Shake128::RATE];
    let mut rest = &mut a.0.0[..];
    while !rest.is_empty() {
        xof.squeeze(&mut block);
        let accepted = (active().reject_vartime)(rest, &block);
        rest = &mut rest[accepted..];
    }
}

/// Adds to the front of `a` what a block of SHAKE128 gives of the loop of FIPS 203, Algorithm 7 (SampleNTT); returns how many.
#[cfg(feature = "alloc")]
pub(super) fn reject_vartime(a: &mut [i16], state: &State) -> usize {
    squeezed::<{ Shake128::RATE }>(state, |block| (active().reject_vartime)(a, block))
}

/// The noise of u and v, the same in every set (FIPS 203, Table 2).
pub(super) const ETA2: usize = 2;

/// PRF_η(s, b) made into noise, one polynomial after another in any order.
pub(super) trait Noise {
    /// The polynomial of place `b`: |coefficient| ≤ η.
    fn fill(&mut self, f: &mut Poly, eta: usize, b: usize);

    /// Adds that of place `b` for η2.
    fn add(&mut self, f: &mut Poly, b: usize) {
        let mut e = Secret::new(Poly::ZERO);
        self.fill(e.expose_mut(), ETA2, b);
        f.add(e.expose());
    }

    /// Adds Decompress_1 of the message, which stands beside the noise of v.
    fn add_message(f: &mut Poly, m: &[u8; 32]) {
        let mut mu = Secret::new(Poly::ZERO);
        (active().decompress)(&mut mu.expose_mut().0, m);
        f.add(mu.expose());
    }
}

/// Each polynomial hashed when it is asked for: the least memory.
pub(super) struct Prf<'a>(pub &'a [u8; 32]);

impl Noise for Prf<'_> {
    /// FIPS 203, Algorithm 8 (SamplePolyCBD) of PRF_η(s, b) (§4.1, (4.3)).
    #[inline(never)]
    fn fill(&mut self, f: &mut Poly, eta: usize, b: usize) {
        let mut bytes = [0; 192];
        let mut prf = Shake256::new().update(self.0).update(&[b as u8]).finalize_xof();
        if eta == 3 {
            prf.squeeze(&mut bytes);
        } else {
            prf.squeeze(&mut bytes[..128]);
        }
        noise_of(f, eta, &bytes);
    }
}

/// FIPS 203, Algorithm 8 (SamplePolyCBD), of the first 64·η bytes.
pub(super) fn noise_of(f: &mut Poly, eta: usize, bytes: &[u8; 192]) {
    if eta == 3 {
        (active().noise3)(&mut f.0, bytes);
    } else {
        (active().noise2)(&mut f.0, bytes.first_chunk().expect("128 of 192 bytes"));
    }
}
