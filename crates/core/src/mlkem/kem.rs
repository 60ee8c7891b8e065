//! The key-encapsulation mechanism (FIPS 203, §6), written once for every form of key.

use super::encode::{Comparer, Writer};
use super::params::ParameterSet;
use super::pke::{DecryptionKey, EncryptionKey, decrypt, encrypt};
use super::sample::Prf;
use crate::secret::{Secret, mask_nonzero, select_bytes};
use crate::sha3::{Sha3_512, Shake256};

/// G (FIPS 203, §4.1, (4.5)): two secrets of 32 bytes from two inputs. Not inlined: its sponge is no part of the caller's frame,
/// below which encryption stands.
#[inline(never)]
pub(super) fn g(a: &[u8], b: &[u8]) -> Secret<[[u8; 32]; 2]> {
    let digest = Secret::new(Sha3_512::new().update(a).update(b).finalize());
    let mut halves = Secret::new([[0; 32]; 2]);
    halves.expose_mut().as_flattened_mut().copy_from_slice(digest.expose());
    halves
}

/// J (FIPS 203, §4.1, (4.4)) of z ‖ c. Not inlined, as [`g`].
#[inline(never)]
fn j(z: &[u8; 32], c: &[u8], rejection: &mut [u8; 32]) {
    Shake256::new().update(z).update(c).finalize_xof().squeeze(rejection);
}

/// The ciphertext and the shared secret of `m`.
///
/// FIPS 203, Algorithm 17 (ML-KEM.Encaps_internal).
pub(super) fn encaps<P: ParameterSet>(
    key: &impl EncryptionKey<P>,
    h: &[u8; 32],
    m: &[u8; 32],
    c: &mut [u8],
    shared: &mut [u8; 32],
) {
    let k_r = g(m, h);
    let [k, r] = k_r.expose();
    encrypt(key, m, &Prf(r), &mut Writer(c));
    *shared = *k;
}

/// The shared secret of `c`, or the rejection secret J(z ‖ c) if it is not a ciphertext that encryption makes.
///
/// FIPS 203, Algorithm 18 (ML-KEM.Decaps_internal), except that the second ciphertext is compared as it is made, and never stored.
pub(super) fn decaps<P: ParameterSet>(
    key: &(impl EncryptionKey<P> + DecryptionKey),
    h: &[u8; 32],
    z: &[u8; 32],
    c: &[u8],
    shared: &mut [u8; 32],
) {
    let mut m = Secret::new([0; 32]);
    decrypt::<P>(key, c, m.expose_mut());
    let k_r = g(m.expose(), h);
    let [k, r] = k_r.expose();
    let mut comparer = Comparer::new(c);
    encrypt(key, m.expose(), &Prf(r), &mut comparer);

    let mut rejection = Secret::new([0; 32]);
    j(z, c, rejection.expose_mut());
    *shared = *k;
    select_bytes(shared, rejection.expose(), mask_nonzero(comparer.difference()));
}

#[cfg(feature = "alloc")]
pub(super) use hashed::{Elements, decaps_hashed, encaps_hashed};

/// The work of prepared keys after their sponges, which are lanes of [`lanes::run`](super::lanes::run).
#[cfg(feature = "alloc")]
mod hashed {
    use super::super::lanes::Hashed;
    use super::super::ring::Ntt;
    use super::*;

    /// Â by rows, then t̂.
    pub(in super::super) struct Elements<'a>(pub &'a [Ntt]);

    impl<P: ParameterSet> EncryptionKey<P> for Elements<'_> {
        fn multiply_add_a(&self, sum: &mut Ntt, i: usize, j: usize, x: &Ntt) {
            sum.multiply_add(&self.0[i * P::K + j], x);
        }

        fn multiply_add_t(&self, sum: &mut Ntt, j: usize, _row: &Ntt, y: &Ntt) {
            sum.multiply_add(&self.0[P::K * P::K + j], y);
        }

        fn multiply_add_row(&self, sum: &mut Ntt, i: usize, x: &[Ntt]) {
            sum.add_inner_product(&self.0[i * P::K..][..P::K], 1, x);
        }

        fn multiply_add_column(&self, sum: &mut Ntt, j: usize, x: &[Ntt]) {
            sum.add_inner_product(&self.0[j..P::K * P::K], P::K, x);
        }

        fn multiply_all(&self, sum: &mut Ntt, y: &mut [Ntt]) -> bool {
            sum.encryption_products(y, self.0)
        }
    }

    /// FIPS 203, Algorithm 17 (ML-KEM.Encaps_internal), lines 2 and 3.
    #[inline(never)]
    pub(in super::super) fn encaps_hashed<P: ParameterSet>(
        key: &[Ntt],
        hashed: &Hashed,
        c: &mut [u8],
        shared: &mut [u8; 32],
    ) {
        encrypt::<P>(&Elements(key), &hashed.m, hashed, &mut Writer(c));
        *shared = hashed.k;
    }

    /// FIPS 203, Algorithm 18 (ML-KEM.Decaps_internal), lines 8 to 12.
    #[inline(never)]
    pub(in super::super) fn decaps_hashed<P: ParameterSet>(
        key: &[Ntt],
        hashed: &Hashed,
        c: &[u8],
        shared: &mut [u8; 32],
    ) {
        let mut comparer = Comparer::new(c);
        encrypt::<P>(&Elements(key), &hashed.m, hashed, &mut comparer);
        *shared = hashed.k;
        select_bytes(shared, &hashed.rejection, mask_nonzero(comparer.difference()));
    }
}
