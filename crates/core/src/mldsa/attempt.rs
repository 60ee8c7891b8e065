//! A door for the gate that steps through machine code.

use super::dsa::{SigningForm, challenge, respond};
use super::encode;
use super::kernels::active;
use super::keys::SigningKey;
use super::lanes::MaskBatch;
use super::prepared::PreparedSet;
use super::ring::Poly;
use super::sample::Masks;
use crate::Bytes;
use crate::small::Zero;

/// An attempt at signing, in its parts, for the gate that steps through machine code: with a challenge that is the same
/// for all secrets, and with w0 and y so small that it is accepted.
pub fn attempt<P: PreparedSet>(
    key: &SigningKey<P>,
    rho_second: &[u8; 64],
    small: &[i8; 256],
    c_tilde: &[u8; 64],
) -> bool {
    let (key, kernels) = (&key.form, active());
    let mut w = P::Rows::ZERO;
    let w = w.as_mut();
    let mut bits = P::HintBits::ZERO;
    let bits = bits.as_mut();
    let mut signature = P::Signature::zeroed();
    let (hash, rest) = signature.as_mut().split_at_mut(P::C_TILDE);
    let (z, hint) = rest.split_at_mut(P::L * P::Z_BYTES);
    let mut masks = MaskBatch::new(rho_second);
    // Three times: with eight lanes ML-DSA-44 makes masks beside the second hash only, and takes them in the third.
    for _ in 0..3 {
        key.commit(kernels, &mut masks, z, w);
        challenge::<P>(kernels, rho_second, &mut masks, w, bits, hash);
    }
    let mut y = Poly::ZERO;
    for (y, small) in y.0.iter_mut().zip(small) {
        *y = i32::from(*small);
    }
    for w in w.iter_mut() {
        w.0 = y.0;
    }
    for packed in z.chunks_exact_mut(P::Z_BYTES) {
        encode::pack_z::<P>(kernels, &y, packed);
    }
    respond::<P, _>(kernels, key, &c_tilde[..P::C_TILDE], w, bits, z, hint)
}
