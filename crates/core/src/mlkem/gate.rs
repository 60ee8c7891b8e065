//! For the gate that steps through machine code: operations behind G, with one ρ for all secrets, since the time in
//! which the matrix is sampled depends on ρ; and single kernels.

#[cfg(feature = "alloc")]
use alloc::vec;

use core::marker::PhantomData;

use super::compact::Remade;
use super::encode::Writer;
use super::kem;
pub use super::kernels::gate::{NAMES, run};
use super::params::ParameterSet;
#[cfg(feature = "alloc")]
use super::{poly::Ntt, prepared};
use crate::Bytes;
use crate::secret::Secret;

fn key<P: ParameterSet>(rho: &[u8; 32], sigma: &[u8; 32]) -> Remade<P> {
    Remade { rho: *rho, sigma: Secret::new(*sigma), parameters: PhantomData }
}

/// The encapsulation key.
///
/// FIPS 203, Algorithm 13 (K-PKE.KeyGen), from line 2 on.
pub fn key_generation<P: ParameterSet>(rho: &[u8; 32], sigma: &[u8; 32]) -> P::EncapsulationKeyBytes {
    let mut ek = P::EncapsulationKeyBytes::zeroed();
    let (rows, end) = ek.as_mut().split_at_mut(384 * P::K);
    key::<P>(rho, sigma).public_rows(&mut Writer(rows));
    end.copy_from_slice(rho);
    ek
}

/// The encapsulation key as prepared keys make it, and its hash.
#[cfg(feature = "alloc")]
pub fn prepared_key_generation<P: ParameterSet>(
    rho: &[u8; 32],
    sigma: &[u8; 32],
) -> (P::EncapsulationKeyBytes, [u8; 32]) {
    let mut ek = P::EncapsulationKeyBytes::zeroed();
    let mut elements = vec![Ntt::ZERO; P::K * (P::K + 1)];
    let mut s = Secret::new(vec![Ntt::ZERO; P::K].into_boxed_slice());
    let h = prepared::generate_behind_g::<P>(rho, sigma, &mut elements, s.expose_mut(), ek.as_mut());
    (ek, h.finish(ek.as_ref()))
}

/// The shared secret of `c`, by the key whose encapsulation key has the hash `h`.
pub fn decapsulate<P: ParameterSet>(
    rho: &[u8; 32],
    sigma: &[u8; 32],
    h: &[u8; 32],
    z: &[u8; 32],
    c: &P::Ciphertext,
) -> [u8; 32] {
    let mut shared = [0; 32];
    let key = key::<P>(rho, sigma);
    kem::decaps(&key, &key, h, z, c.as_ref(), &mut shared);
    shared
}
