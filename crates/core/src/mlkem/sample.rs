//! Sampling (FIPS 203, §4.2.2) and the functions that feed it (§4.1).

use super::kernels::active;
use super::ring::{Ntt, Poly};
use crate::sha3::{Shake128, Shake256};

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

/// Noise of parameter `eta`: |coefficient| ≤ eta.
///
/// FIPS 203, Algorithm 8 (SamplePolyCBD) of PRF_η(s, b) (§4.1, (4.3)).
#[inline(never)]
pub(super) fn noise(f: &mut Poly, eta: usize, s: &[u8; 32], b: usize) {
    let mut bytes = [0; 192];
    let mut prf = Shake256::new().update(s).update(&[b as u8]).finalize_xof();
    if eta == 3 {
        prf.squeeze(&mut bytes);
        (active().noise3)(&mut f.0, &bytes);
    } else {
        let bytes = bytes.first_chunk_mut().expect("128 of 192 bytes");
        prf.squeeze(bytes);
        (active().noise2)(&mut f.0, bytes);
    }
}
