//! FIPS 204, §6.1: key generation, row by row.

use super::sampling::{add_entry, each_bounded, expand_s};
use crate::mldsa::kernels::{GROUP, LEAST, power2round_one, write_group};
use crate::mldsa::params::{T1_BYTES, sealed::Parameters};
use crate::mldsa::ring::Poly;
use crate::mldsa::sample::{SHAKE, absorbed};
use crate::mldsa::seeds::Seeds;
use crate::secret::{Secret, declassify};
use crate::sha3::{Shake256, Sponge};
use crate::small::Memory;

/// A row of t = NTT^-1(Â ∘ NTT(s1)) + s2, added to `t`: FIPS 204, Algorithm 6 (ML-DSA.KeyGen_internal), line 5.
///
/// The last `kept` polynomials of s1 stand packed at the end of `scratch`; the others are made at its beginning, one after the
/// other.
#[cfg_attr(not(gambeson_size), inline(always))]
#[cfg_attr(gambeson_size, inline(never))]
pub(crate) fn add_row_of_t<P: Parameters>(
    sponge: &mut Sponge,
    seeds: &Seeds<P>,
    row: usize,
    kept: usize,
    scratch: &mut [u8],
    t: &mut Poly,
    mut memory: impl Memory,
) {
    let rho_prime = seeds.rho_prime.expose();
    for column in (P::L - kept..P::L).chain(0..P::L - kept) {
        let s = if column < P::L - kept {
            let s = &mut scratch[..P::S_BYTES];
            expand_s(sponge, rho_prime, column, P::ETA, s);
            s
        } else {
            scratch.rchunks_exact_mut(P::S_BYTES).nth(P::L - 1 - column).expect("so many are kept")
        };
        add_entry(t, sponge, &seeds.rho, (row, column), s, P::ETA, memory.part());
    }
    (LEAST.inverse_ntt)(t);
    each_bounded(sponge, rho_prime, P::L + row, P::ETA, &mut |group, s| {
        if let Some(t) = t.0.as_chunks_mut::<GROUP>().0.get_mut(group) {
            t.iter_mut().zip(s).for_each(|(t, s)| *t += s);
        }
    });
}

/// The public key of the seed to `pk`, which holds s1 on the way where there is still room for it.
///
/// FIPS 204, Algorithm 6 (ML-DSA.KeyGen_internal), up to line 8.
#[inline(always)]
pub(crate) fn make_public_key<P: Parameters>(
    sponge: &mut Sponge,
    seed: &[u8; 32],
    pk: &mut [u8],
    memory: impl Memory,
) {
    memory.lend(|(seeds, t): &mut (Seeds<P>, Secret<Poly>), mut memory| {
        seeds.fill(sponge, seed);
        let (rho, rows) = pk.split_first_chunk_mut().expect("a public key is longer than ρ");
        *rho = seeds.rho;
        for (column, s) in (0..P::L).rev().zip(rows.rchunks_exact_mut(P::S_BYTES)) {
            expand_s(sponge, seeds.rho_prime.expose(), column, P::ETA, s);
        }
        let t = t.expose_mut();
        for row in 0..P::K {
            let rest = &mut rows[row * T1_BYTES..];
            t.0.fill(0);
            let kept = rest.rchunks_exact(P::S_BYTES).len().min(P::L);
            add_row_of_t(sponge, seeds, row, kept, rest, t, memory.part());
            for (bytes, t) in rest.chunks_exact_mut(T1_BYTES >> 5).zip(t.0.as_chunks::<GROUP>().0) {
                write_group(bytes, |i| power2round_one(t[i]).0 as u32);
            }
        }
        // public: t1 is the public key.
        declassify(pk);
    });
}

/// The public key of the seed.
#[inline(never)]
pub(crate) fn public_key<P: Parameters>(seed: &[u8; 32], pk: &mut [u8], memory: impl Memory) {
    memory.lend(|sponge: &mut Sponge, memory| make_public_key::<P>(sponge, seed, pk, memory));
}

/// The public key of the seed and its hash.
#[inline(never)]
pub(crate) fn key_gen<P: Parameters>(seed: &[u8; 32], pk: &mut [u8], tr: &mut [u8; 64], memory: impl Memory) {
    memory.lend(|sponge: &mut Sponge, memory| {
        make_public_key::<P>(sponge, seed, pk, memory);
        absorbed(sponge, Shake256::RATE, pk, &[]);
        sponge.squeeze(tr);
    });
}

/// The hash alone, where there is no room for the public key.
#[inline(never)]
pub(crate) fn hash_of_public_key<P: Parameters>(seed: &[u8; 32], tr: &mut [u8; 64], memory: impl Memory) {
    type Lent<P> = ([Sponge; 2], Seeds<P>, (Secret<Poly>, Secret<[u8; 128]>));
    memory.lend(|([sponge, hasher], seeds, (t, s)): &mut Lent<P>, mut memory| {
        seeds.fill(sponge, seed);
        hasher.restart(Shake256::RATE);
        hasher.absorb(&seeds.rho);
        let (t, s) = (t.expose_mut(), s.expose_mut());
        for row in 0..P::K {
            t.0.fill(0);
            add_row_of_t(sponge, seeds, row, 0, s, t, memory.part());
            for t in t.0.as_chunks::<GROUP>().0 {
                let mut bytes = [0; 10];
                write_group(&mut bytes, |i| power2round_one(t[i]).0 as u32);
                // public: t1 is the public key.
                hasher.absorb(declassify(&bytes));
            }
        }
        hasher.finish(SHAKE);
        hasher.squeeze(tr);
    });
}
