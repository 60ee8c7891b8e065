//! A public key as its bytes, and what is made of them.

use super::encode;
use super::kernels::Kernels;
use super::message::h;
use super::params::T1_BYTES;
use super::ring::Poly;

/// The bytes of a public key.
#[derive(Clone, Copy, Debug)]
pub struct PublicKey<'a>(pub(super) &'a [u8]);

impl PublicKey<'_> {
    /// H(pk, 64).
    pub(super) fn tr(&self) -> [u8; 64] {
        let mut tr = [0; 64];
        h(&[self.0], &mut tr);
        tr
    }

    /// ρ.
    pub(super) fn rho(&self) -> &[u8; 32] {
        self.0.first_chunk().expect("a public key is longer than ρ")
    }

    /// NTT(-2^d·t1\[row\]).
    pub(super) fn minus_t1_2d_hat(&self, kernels: &Kernels, row: usize, out: &mut Poly) {
        encode::unpack_minus_t1_2d(kernels, &self.0[32 + row * T1_BYTES..][..T1_BYTES], out);
        (kernels.ntt)(out);
    }
}
