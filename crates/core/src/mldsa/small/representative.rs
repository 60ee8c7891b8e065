//! The common parts of signing and verification: μ, the high bits, and bounds.

use crate::mldsa::kernels::{GROUP, decompose_one, write_group};
use crate::mldsa::message::Message;
use crate::mldsa::params::sealed::Parameters;
use crate::mldsa::ring::Poly;
use crate::mldsa::sample::SHAKE;
use crate::sha3::{Shake256, Sponge};

/// μ.
#[inline(never)]
pub(crate) fn represent(sponge: &mut Sponge, message: &Message<'_>, tr: &[u8; 64], mu: &mut [u8; 64]) {
    message.represent(tr, mu, |pieces, mu| {
        sponge.restart(Shake256::RATE);
        pieces.iter().for_each(|piece| sponge.absorb(piece));
        sponge.finish(SHAKE);
        sponge.squeeze(mu);
    });
}

/// FIPS 204, Algorithm 36 (Decompose), of a coefficient: r1 and r0.
#[inline(always)]
pub(crate) fn decompose<P: Parameters>(r: i32) -> (i32, i32) {
    if P::M == 44 { decompose_one::<44>(r) } else { decompose_one::<16>(r) }
}

/// Absorbs a row of w1: FIPS 204, Algorithm 28 (w1Encode).
#[inline(never)]
pub(crate) fn absorb_row_of_w1<P: Parameters>(sponge: &mut Sponge, w1: &Poly) {
    // Four groups are whole words.
    let mut bytes = [0; 24];
    let bytes = &mut bytes[..P::W1_BYTES >> 3];
    for w1 in w1.0.as_chunks::<{ 4 * GROUP }>().0 {
        for (bytes, w1) in bytes.chunks_exact_mut(P::W1_BYTES >> 5).zip(w1.as_chunks::<GROUP>().0) {
            write_group(bytes, |i| w1[i] as u32);
        }
        sponge.absorb(bytes);
    }
}
