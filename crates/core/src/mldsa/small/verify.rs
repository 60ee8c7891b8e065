//! FIPS 204, §6.3: verification, row by row.

use super::challenge::Challenge;
use super::representative::{absorb_row_of_w1, decompose, represent};
use super::sampling::add_entry;
use crate::Bytes;
use crate::mldsa::encode::Hint;
use crate::mldsa::errors::InvalidSignature;
use crate::mldsa::forms::ParameterSet;
use crate::mldsa::hint::use_hint_one;
use crate::mldsa::kernels::{GROUP, LEAST, Multiplicand, freeze, number_at, reduce, within};
use crate::mldsa::message::Message;
use crate::mldsa::params::{T1_BYTES, sealed::Parameters};
use crate::mldsa::ring::{D, N, Poly, Q};
use crate::mldsa::sample::{SHAKE, absorbed};
use crate::sha3::{Shake256, Sponge};
use crate::small::Memory;

/// Verifies `signature` over `message`.
///
/// FIPS 204, Algorithm 8 (ML-DSA.Verify_internal), except that a hint or a z that fails its check ends the work at
/// once. Everything here is public.
#[inline(never)]
pub(crate) fn verify<P: ParameterSet>(
    pk: &[u8],
    message: &Message<'_>,
    signature: &[u8],
    memory: impl Memory,
) -> Result<(), InvalidSignature> {
    if signature.len() != P::Signature::LEN {
        return Err(InvalidSignature);
    }
    memory.lend(|[hash, sponge]: &mut [Sponge; 2], mut memory| {
        absorb_mu(hash, sponge, pk, message);
        let (c_tilde, rest) = signature.split_at(P::C_TILDE);
        let (z, hint) = rest.split_at(P::L * P::Z_BYTES);
        let hint = Hint::parse::<P>(hint).ok_or(InvalidSignature)?;
        if !is_small::<P>(z) {
            return Err(InvalidSignature);
        }
        for row in 0..P::K {
            absorb_row::<P>(hash, sponge, pk, signature, row, hint.row(row), memory.part());
        }
        hash.finish(SHAKE);
        let squeezed_is = |expected: &[u8; 8]| {
            let mut word = [0; 8];
            hash.squeeze(&mut word);
            word == *expected
        };
        if c_tilde.as_chunks().0.iter().all(squeezed_is) { Ok(()) } else { Err(InvalidSignature) }
    })
}

#[inline(never)]
pub(crate) fn absorb_mu(hash: &mut Sponge, sponge: &mut Sponge, pk: &[u8], message: &Message<'_>) {
    let (mut tr, mut mu) = ([0; 64], [0; 64]);
    absorbed(sponge, Shake256::RATE, pk, &[]);
    sponge.squeeze(&mut tr);
    represent(sponge, message, &tr, &mut mu);
    hash.restart(Shake256::RATE);
    hash.absorb(&mu);
}

/// True if z, packed, is below γ1 - β.
#[inline(never)]
pub(crate) fn is_small<P: Parameters>(z: &[u8]) -> bool {
    let numbers = (0..P::L * N).map(|place| number_at(z, P::Z_BYTES >> 5, place));
    numbers.fold(0, |outside, x| outside | within(P::GAMMA1 - x as i32, P::GAMMA1 - P::BETA)) >= 0
}

/// Absorbs a row of w1: lines 9 and 10 of Algorithm 8, and what of line 12 is its share.
#[inline(never)]
pub(crate) fn absorb_row<P: Parameters>(
    hash: &mut Sponge,
    sponge: &mut Sponge,
    pk: &[u8],
    signature: &[u8],
    row: usize,
    hint: &[u8],
    memory: impl Memory,
) {
    memory.lend(|w: &mut Poly, mut memory| {
        let (rho, t1) = pk.split_first_chunk().expect("a public key is longer than ρ");
        let (c_tilde, rest) = signature.split_at(P::C_TILDE);
        for (column, z) in rest.chunks_exact(P::Z_BYTES).take(P::L).enumerate() {
            add_entry(w, sponge, rho, (row, column), z, P::GAMMA1, memory.part());
        }
        (LEAST.inverse_ntt)(w);
        if let Some(t1) = t1.as_chunks::<T1_BYTES>().0.get(row) {
            high_bits::<P>(w, sponge, t1, c_tilde, hint, memory);
        }
        absorb_row_of_w1::<P>(hash, w);
    });
}

/// w becomes UseHint(h, w - c·t1·2^d), for the row of the hint.
///
/// c is made for each row: where the matrix is multiplied, which goes deepest, it does not stand on the stack.
#[inline(never)]
pub(crate) fn high_bits<P: Parameters>(
    w: &mut Poly,
    sponge: &mut Sponge,
    packed: &[u8],
    c_tilde: &[u8],
    hint: &[u8],
    memory: impl Memory,
) {
    memory.lend(|c: &mut Challenge, memory| {
        c.fill_vartime::<P>(sponge, c_tilde);
        subtract_ct1(w, packed, c, memory);
    });
    let mut hint = hint;
    for (n, w) in w.0.iter_mut().enumerate() {
        let (r1, r0) = decompose::<P>(*w);
        *w = r1;
        let Some((place, rest)) = hint.split_first() else { continue };
        if usize::from(*place) == n {
            hint = rest;
            *w = use_hint_one::<P>(r1, r0);
        }
    }
}

/// Takes c·t1·2^d from w, mod± q on entry, in 0..q on return.
#[inline(never)]
pub(crate) fn subtract_ct1(w: &mut Poly, packed: &[u8], c: &Challenge, memory: impl Memory) {
    memory.lend(|t1: &mut Multiplicand, _| {
        // As -t1.
        t1.read(packed, 0);
        let mut minus_ct1 = [0; GROUP];
        for (group, w) in w.0.as_chunks_mut::<GROUP>().0.iter_mut().enumerate() {
            c.times(t1, group, &mut minus_ct1);
            for (w, minus_ct1) in w.iter_mut().zip(&minus_ct1) {
                // |c·t1·2^d| < 60·2^23 < 61q.
                *w = freeze(reduce((*w + (minus_ct1 << D) + 61 * Q) as u32)) as i32;
            }
        }
    });
}
