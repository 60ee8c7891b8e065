//! ρ and ρ′, and what key generation makes of them (FIPS 204, §6.1).

use core::marker::PhantomData;

use super::dsa::KeyFactors;
use super::encode;
use super::kernels::{Kernels, active};
use super::params::{T1_BYTES, sealed::Parameters};
use super::ring::Poly;
use super::sample::{absorbed, expand_s, sample_a};
use crate::secret::{Secret, clear, declassify};
use crate::sha3::{Shake256, Sponge};
use crate::small::Zero;

/// ρ and ρ′, from which all of a key is made but K.
pub(super) struct Seeds<P> {
    pub(super) rho: [u8; 32],
    pub(super) rho_prime: Secret<[u8; 64]>,
    set: PhantomData<P>,
}

// SAFETY: bytes, and a type.
#[allow(unsafe_code)]
unsafe impl<P> Zero for Seeds<P> {
    const ZERO: Self = Self { rho: [0; 32], rho_prime: Secret::new([0; 64]), set: PhantomData };
}

impl<P: Parameters> Seeds<P> {
    /// Line 1 of FIPS 204, Algorithm 6 (ML-DSA.KeyGen_internal); K is the next of the sponge.
    pub(super) fn fill(&mut self, sponge: &mut Sponge, seed: &[u8; 32]) {
        absorbed(sponge, Shake256::RATE, seed, &[P::K as u8, P::L as u8]);
        sponge.squeeze(&mut self.rho);
        sponge.squeeze(self.rho_prime.expose_mut());
        // public: ρ is part of the public key.
        declassify(&self.rho);
    }

    /// The seeds of a key, and K to `k`.
    pub(super) fn new(seed: &[u8; 32], k: &mut [u8; 32]) -> Self {
        let (mut seeds, mut sponge) = (Self::ZERO, Sponge::new(Shake256::RATE));
        seeds.fill(&mut sponge, seed);
        sponge.squeeze(k);
        seeds
    }

    /// The polynomial of s1 ‖ s2 of this place.
    fn s(&self, kernels: &Kernels, place: usize, out: &mut Poly) {
        expand_s::<P>(kernels, self.rho_prime.expose(), place, out);
    }

    /// t0\[row\] to `t`, and t1\[row\] to `scratch`; `s1_hat` hands over a polynomial of ŝ1.
    fn row_of_t(
        &self,
        kernels: &Kernels,
        row: usize,
        t: &mut Poly,
        scratch: &mut Poly,
        mut s1_hat: impl FnMut(usize, &mut dyn FnMut(&Poly)),
    ) {
        clear(&mut t.0);
        for column in 0..P::L {
            s1_hat(column, &mut |s1_hat| {
                sample_a(kernels, &self.rho, row, column, scratch);
                (kernels.multiply_add)(t, scratch, s1_hat);
            });
        }
        self.s(kernels, P::L + row, scratch);
        finish_row_of_t(kernels, t, scratch);
    }
}

/// The end of a row of t = NTT^-1(Â ∘ NTT(s1)) + s2 (FIPS 204, Algorithm 6 (ML-DSA.KeyGen_internal), lines 5 and 6): `t` enters as
/// (Â ∘ ŝ1)\[row\] and leaves as t0; `s2` becomes t1.
pub(super) fn finish_row_of_t(kernels: &Kernels, t: &mut Poly, s2: &mut Poly) {
    (kernels.inverse_ntt)(t);
    t.add(s2);
    (kernels.power2round)(t, s2);
}

impl<P: Parameters> KeyFactors for Seeds<P> {
    type Set = P;

    fn add_product(
        &self,
        kernels: &Kernels,
        place: (usize, usize),
        w: &mut Poly,
        y_hat: &Poly,
        a: &mut Poly,
    ) {
        sample_a(kernels, &self.rho, place.0, place.1, a);
        (kernels.multiply_add)(w, a, y_hat);
    }

    fn s_hat(&self, kernels: &Kernels, place: usize, out: &mut Poly) {
        self.s(kernels, place, out);
        (kernels.ntt)(out);
    }

    #[inline(never)]
    fn t0_hat(&self, kernels: &Kernels, row: usize, out: &mut Poly) {
        let (mut a, mut s) = (Poly::ZERO, Poly::ZERO);
        self.row_of_t(kernels, row, out, &mut a, |column, take| {
            self.s_hat(kernels, column, &mut s);
            take(&s);
        });
        (kernels.ntt)(out);
    }
}

/// Writes the public key of the seed ξ (FIPS 204, Algorithm 22 (pkEncode)).
///
/// FIPS 204, Algorithm 6 (ML-DSA.KeyGen_internal), from line 2 to line 8; each row of t exists alone.
#[inline(never)]
pub(super) fn public_key<P: Parameters>(seed: &[u8; 32], pk: &mut [u8]) {
    let kernels = active();
    let mut k = Secret::new([0; 32]);
    let seeds = Seeds::<P>::new(seed, k.expose_mut());
    let mut s1_hat = P::Columns::ZERO;
    let (mut t, mut t1) = (Poly::ZERO, Poly::ZERO);
    for (column, s1_hat) in s1_hat.as_mut().iter_mut().enumerate() {
        seeds.s_hat(kernels, column, s1_hat);
    }
    let s1_hat = s1_hat.as_ref();
    let (rho, rows) = pk.split_at_mut(32);
    rho.copy_from_slice(&seeds.rho);
    for (row, packed) in rows.as_chunks_mut::<T1_BYTES>().0.iter_mut().enumerate() {
        seeds.row_of_t(kernels, row, &mut t, &mut t1, |column, take| take(&s1_hat[column]));
        encode::pack_t1(kernels, &t1, packed);
    }
    // public: t1 is the public key.
    declassify(pk);
}
