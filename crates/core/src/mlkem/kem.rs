//! The key-encapsulation mechanism (FIPS 203, §6) with keys whose parts are made where they are used.

use super::encode::{Comparer, Writer};
use super::params::ParameterSet;
use super::pke::{DecryptionKey, EncryptionKey, decrypt_with, encrypt_making};
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
    encrypt_making(key, m, &mut Prf(r), &mut Writer(c));
    *shared = *k;
}

/// The shared secret of `c`, or the rejection secret J(z ‖ c) if it is not a ciphertext that encryption makes.
///
/// FIPS 203, Algorithm 18 (ML-KEM.Decaps_internal), except that the second ciphertext is compared as it is made, and never stored.
pub(super) fn decaps<P: ParameterSet>(
    public: &impl EncryptionKey<P>,
    private: &impl DecryptionKey,
    h: &[u8; 32],
    z: &[u8; 32],
    c: &[u8],
    shared: &mut [u8; 32],
) {
    let mut m = Secret::new([0; 32]);
    decrypt_with::<P>(private, c, m.expose_mut());
    let k_r = g(m.expose(), h);
    let [k, r] = k_r.expose();
    let mut comparer = Comparer::new(c);
    encrypt_making(public, m.expose(), &mut Prf(r), &mut comparer);

    let mut rejection = Secret::new([0; 32]);
    j(z, c, rejection.expose_mut());
    *shared = *k;
    select_bytes(shared, rejection.expose(), mask_nonzero(comparer.difference()));
}
