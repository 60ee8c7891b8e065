//! The table of kernels: the work on whole polynomials that deserves a fast path.

mod portable;
#[cfg(test)]
mod tests;

use super::ring::Poly;
use crate::cpu::Level;

pub(crate) use portable::PORTABLE;

/// The operations of R_q and T_q that dominate the time. One table per instruction set; every table obeys the
/// bounds that `portable.rs` documents and gives the same residues.
#[derive(Clone, Copy)]
pub(crate) struct Kernels {
    /// Which table this is.
    pub level: Level,
    /// FIPS 204, Algorithm 41 (NTT): -q < c < q on entry, 0 ≤ c < 18q on return.
    pub ntt: fn(&mut Poly),
    /// FIPS 204, Algorithm 42 (NTT^-1), of a sum of products: 0 ≤ c on entry, mod± q on return.
    pub inverse_ntt: fn(&mut Poly),
    /// FIPS 204, Algorithm 45 (MultiplyNTT), times 2^-32: a·b < 2^32·q on entry, 0 ≤ c < 2q on return.
    pub multiply: fn(&mut Poly, &Poly),
    /// The first plus the product of the others as in `multiply`.
    pub multiply_add: fn(&mut Poly, &Poly, &Poly),
    /// The inner loop of FIPS 204, Algorithm 30 (RejNTTPoly): from which place, the bytes, up to which place.
    pub reject_uniform: fn(&mut Poly, usize, &[u8]) -> usize,
    /// FIPS 204, Algorithm 35 (Power2Round): t becomes t0, the second t1; -q < t < q.
    pub power2round: fn(&mut Poly, &mut Poly),
    /// FIPS 204, Algorithm 36 (Decompose), γ2 = (q-1)/88: r becomes r0, the second r1; -q < r < q.
    pub decompose_44: fn(&mut Poly, &mut Poly),
    /// The same for γ2 = (q-1)/32.
    pub decompose_16: fn(&mut Poly, &mut Poly),
}

/// The best table at or below `cpu::level()`.
pub(crate) fn active() -> &'static Kernels {
    // The tables for AVX2, AVX-512 and NEON will be chosen here.
    &PORTABLE
}
