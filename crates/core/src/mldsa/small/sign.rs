//! FIPS 204, §6.2: signing, column by column.

use super::challenge::Challenge;
use super::private_key::{EncodedParts, PrivateKey};
use super::representative::{absorb_row_of_w1, decompose, represent};
use super::sampling::{StreamedEntry, each_mask};
use super::sums::{BIAS, Sums, bytes, low_bits, number};
use crate::mldsa::kernels::{
    GROUP, LEAST, Multiplicand, hint_one, montgomery_word, reduce, within, write_group,
};
use crate::mldsa::message::Message;
use crate::mldsa::params::sealed::Parameters;
use crate::mldsa::ring::{N, Poly};
use crate::mldsa::sample::SHAKE;
use crate::mldsa::seeds::Seeds;
use crate::secret::{Secret, declassify, declassify_value};
use crate::sha3::{Shake256, Sponge};
use crate::small::Memory;

/// Signs a message with randomness `rnd` by the key of the seed, and the hash of its public key.
#[inline(never)]
pub(crate) fn sign_seed<P: Parameters>(
    (seed, tr): (&[u8; 32], &[u8; 64]),
    message: &Message<'_>,
    rnd: &[u8; 32],
    signature: &mut [u8],
    memory: impl Memory,
) {
    memory.lend(|(sponge, key, (mu, rho_second)): &mut OfSeed<P>, memory| {
        represent(sponge, message, tr, mu);
        start(sponge, seed, rnd, mu, key, rho_second.expose_mut());
        sign::<P>(sponge, key, rho_second.expose(), mu, signature, memory);
    });
}

/// The state of signing from the seed: the sponge, the key, μ and ρ″.
pub(crate) type OfSeed<P> = (Sponge, Seeds<P>, ([u8; 64], Secret<[u8; 64]>));

#[inline(never)]
pub(crate) fn start<P: Parameters>(
    sponge: &mut Sponge,
    seed: &[u8; 32],
    rnd: &[u8; 32],
    mu: &[u8; 64],
    key: &mut Seeds<P>,
    rho_second: &mut [u8; 64],
) {
    let mut k = Secret::new([0; 32]);
    key.fill(sponge, seed);
    sponge.squeeze(k.expose_mut());
    randomize(sponge, k.expose(), rnd, mu, rho_second);
}

/// The state of signing by a key in the standard's encoding, with its K.
#[inline(never)]
pub(crate) fn sign_encoded<P: Parameters>(
    key: &EncodedParts<'_>,
    (k, tr): (&[u8; 32], &[u8; 64]),
    message: &Message<'_>,
    rnd: &[u8; 32],
    signature: &mut [u8],
    memory: impl Memory,
) {
    memory.lend(|(sponge, mu, rho_second): &mut (Sponge, [u8; 64], Secret<[u8; 64]>), memory| {
        represent(sponge, message, tr, mu);
        randomize(sponge, k, rnd, mu, rho_second.expose_mut());
        sign::<P>(sponge, key, rho_second.expose(), mu, signature, memory);
    });
}

/// ρ″: line 7 of FIPS 204, Algorithm 7 (ML-DSA.Sign_internal).
#[inline(never)]
pub(crate) fn randomize(
    sponge: &mut Sponge,
    k: &[u8; 32],
    rnd: &[u8; 32],
    mu: &[u8; 64],
    rho_second: &mut [u8; 64],
) {
    sponge.restart(Shake256::RATE);
    sponge.absorb(k);
    sponge.absorb(rnd);
    sponge.absorb(mu);
    sponge.finish(SHAKE);
    sponge.squeeze(rho_second);
}

/// Signs μ; all of `signature` is written, and holds secrets on the way.
///
/// FIPS 204, Algorithm 7 (ML-DSA.Sign_internal), from line 8 on, except that the checks come in the order r0, z, c·t0, hint, as
/// in `dsa::sign`; z, found small, is made again when the hint has been taken from w, in whose place it stands.
#[inline(always)]
pub(crate) fn sign<P: Parameters>(
    sponge: &mut Sponge,
    key: &impl PrivateKey,
    rho_second: &[u8; 64],
    mu: &[u8; 64],
    signature: &mut [u8],
    memory: impl Memory,
) {
    memory.lend(|spill: &mut Secret<P::Spill>, mut memory| {
        let spill = spill.expose_mut().as_mut();
        let (c_tilde, rest) = signature.split_at_mut(P::C_TILDE);
        let (z, hint) = rest.split_at_mut(P::L * P::Z_BYTES);
        let mut kappa = 0u16;
        loop {
            commit::<P>(sponge, key.rho(), rho_second, kappa, &mut Sums::new(z, spill), memory.part());
            challenge::<P>(sponge, mu, &mut Sums::new(z, spill), c_tilde, memory.part());
            if respond::<P>(sponge, key, rho_second, kappa, c_tilde, z, spill, hint, memory.part()) {
                break;
            }
            kappa = kappa.wrapping_add(P::L as u16);
        }
        // public: the signature.
        declassify(signature);
    });
}

/// Â ∘ NTT(y), column by column: lines 11 and 12 of Algorithm 7, but for the inverse transform.
#[inline(never)]
pub(crate) fn commit<P: Parameters>(
    sponge: &mut Sponge,
    rho: &[u8; 32],
    rho_second: &[u8; 64],
    kappa: u16,
    w: &mut Sums<'_>,
    memory: impl Memory,
) {
    memory.lend(|y: &mut Secret<Poly>, _| {
        let y = y.expose_mut();
        for (column, number) in (0..P::L).zip((0..=u16::MAX).cycle().skip(kappa.into())) {
            each_mask::<P>(sponge, rho_second, number, &mut |group, values| {
                if let Some(y) = y.0.as_chunks_mut().0.get_mut(group) {
                    *y = *values;
                }
            });
            (LEAST.ntt)(y);
            for row in 0..P::K {
                add_row(w, sponge, rho, (row, column), y);
            }
        }
    });
}

/// Adds Â\[row, column\] ∘ `y` · 2^-32 to a row of the sums, which stay below 2^24; the first takes the place of what was
/// there.
#[inline(never)]
pub(crate) fn add_row(
    w: &mut Sums<'_>,
    sponge: &mut Sponge,
    rho: &[u8; 32],
    (row, column): (usize, usize),
    y: &Poly,
) {
    let mut entry = StreamedEntry::new(sponge, rho, row, column);
    entry.each_vartime(N, |n, a| {
        if let (Some(w), Some(y)) = (w.at(row, n), y.0.get(n)) {
            let sum = if column == 0 { 0 } else { number(w) };
            *w = bytes(reduce(sum + montgomery_word(a, *y as u32)));
        }
    });
}

/// c̃ = H(μ ‖ w1Encode(HighBits(w))): lines 13 to 15 of Algorithm 7. Of `w` remains LowBits(w), as [`BIAS`] says.
#[inline(never)]
pub(crate) fn challenge<P: Parameters>(
    sponge: &mut Sponge,
    mu: &[u8; 64],
    w: &mut Sums<'_>,
    c_tilde: &mut [u8],
    memory: impl Memory,
) {
    memory.lend(|poly: &mut Secret<Poly>, _| {
        let poly = poly.expose_mut();
        sponge.restart(Shake256::RATE);
        sponge.absorb(mu);
        for row in 0..P::K {
            w.update(row, &mut |n, w| {
                poly.0[n & (N - 1)] = w as i32;
                w
            });
            (LEAST.inverse_ntt)(poly);
            w.update(row, &mut |n, _| {
                let place = &mut poly.0[n & (N - 1)];
                let (r1, r0) = decompose::<P>(*place);
                *place = r1;
                (r0 + BIAS as i32) as u32 | (-r1 as u32 >> 31) << 23
            });
            absorb_row_of_w1::<P>(sponge, poly);
        }
        sponge.finish(SHAKE);
        sponge.squeeze(c_tilde);
        // public: in the signature if the attempt succeeds; if not, a hash of w1, which does not show it.
        declassify(c_tilde);
    });
}

/// z and the hint, or `false` if the attempt is rejected: lines 16 to 32 of Algorithm 7.
#[inline(never)]
#[allow(clippy::too_many_arguments)]
pub(crate) fn respond<P: Parameters>(
    sponge: &mut Sponge,
    key: &impl PrivateKey,
    rho_second: &[u8; 64],
    kappa: u16,
    c_tilde: &[u8],
    z: &mut [u8],
    spill: &mut [[u8; 3]],
    hint: &mut [u8],
    memory: impl Memory,
) -> bool {
    memory.lend(|c: &mut Challenge, mut memory| {
        c.fill_vartime::<P>(sponge, c_tilde);
        let c = &*c;
        if !subtract_cs2::<P>(sponge, key, c, &mut Sums::new(z, spill), memory.part()) {
            return false;
        }
        let mut response = |column: usize, out: &mut [u8]| {
            let number = kappa.wrapping_add(column as u16);
            make_z::<P>(sponge, key, rho_second, number, c, column, out, memory.part())
        };
        // public: that the attempt fails here, as for the low bits.
        if !(0..P::L).all(|column| declassify_value(response(column, &mut [])) == 0) {
            return false;
        }
        if !make_hint::<P>(sponge, key, c, &mut Sums::new(z, spill), hint, memory.part()) {
            return false;
        }
        for (column, z) in z.chunks_exact_mut(P::Z_BYTES).enumerate() {
            let number = kappa.wrapping_add(column as u16);
            make_z::<P>(sponge, key, rho_second, number, c, column, z, memory.part());
        }
        true
    })
}

/// Takes c·s2 from the low bits of w, and says whether all are below γ2 - β: lines 19, 21 and 23, as in `dsa::respond`.
#[inline(never)]
pub(crate) fn subtract_cs2<P: Parameters>(
    sponge: &mut Sponge,
    key: &impl PrivateKey,
    c: &Challenge,
    w: &mut Sums<'_>,
    memory: impl Memory,
) -> bool {
    memory.lend(|s2: &mut Multiplicand, _| {
        for row in 0..P::K {
            key.s(sponge, P::L + row, s2);
            let mut outside = 0;
            let mut cs2 = [0; GROUP];
            w.update(row, &mut |n, w| {
                if n & 7 == 0 {
                    c.times(s2, n >> 3, &mut cs2);
                }
                let difference = w.wrapping_sub(cs2[n & 7] as u32);
                outside |= within(low_bits(difference), P::GAMMA2 - P::BETA);
                difference
            });
            // public: that the attempt fails here, and in which row. That a coefficient is too large is as likely for
            // every key and row; neither which one nor its sign is told.
            if declassify_value(outside as u32 >> 31) == 1 {
                return false;
            }
        }
        true
    })
}

/// z\[column\] = y + c·s1, packed to `out` unless that is empty; returns 0 if all of it is below γ1 - β, else 1: lines 18, 20
/// and 23.
#[inline(never)]
#[allow(clippy::too_many_arguments)]
pub(crate) fn make_z<P: Parameters>(
    sponge: &mut Sponge,
    key: &impl PrivateKey,
    rho_second: &[u8; 64],
    number: u16,
    c: &Challenge,
    column: usize,
    out: &mut [u8],
    memory: impl Memory,
) -> u32 {
    memory.lend(|s1: &mut Multiplicand, _| {
        key.s(sponge, column, s1);
        let mut outside = 0;
        each_mask::<P>(sponge, rho_second, number, &mut |group, y| {
            let mut z = [0; GROUP];
            c.times(s1, group, &mut z);
            for (z, y) in z.iter_mut().zip(y) {
                *z += y;
                outside |= within(*z, P::GAMMA1 - P::BETA);
            }
            if let Some(out) = out.chunks_exact_mut(P::Z_BYTES >> 5).nth(group) {
                write_group(out, |i| (P::GAMMA1 - z[i]) as u32);
            }
        });
        outside as u32 >> 31
    })
}

/// The hint, in its encoding, or `false` if c·t0 or the number of its ones is too large: lines 25 to 28 of Algorithm 7,
/// and FIPS 204, Algorithm 20 (HintBitPack).
#[inline(always)]
pub(crate) fn make_hint<P: Parameters>(
    sponge: &mut Sponge,
    key: &impl PrivateKey,
    c: &Challenge,
    w: &mut Sums<'_>,
    hint: &mut [u8],
    mut memory: impl Memory,
) -> bool {
    hint.fill(0);
    let (places, ends) = hint.split_at_mut(P::OMEGA);
    let mut ones = 0;
    for (row, end) in ends.iter_mut().enumerate() {
        let mut outside = 0;
        key.t0(sponge, row, memory.part(), &mut |t0| {
            let mut ct0 = [0; GROUP];
            w.update(row, &mut |n, w| {
                if n & 7 == 0 {
                    c.times(t0, n >> 3, &mut ct0);
                }
                let ct0 = ct0[n & 7];
                outside |= within(ct0, P::GAMMA2);
                // public: z is small, so it is as if it were published; from it, c and the public key the hint follows.
                if declassify_value(hint_one(low_bits(w) + ct0, P::GAMMA2, w >> 23)) == 1 {
                    if let Some(place) = places.get_mut(ones) {
                        *place = n as u8;
                    }
                    ones += 1;
                }
                w
            });
        });
        // public: whether c·t0 is small: t0 is no secret (FIPS 204, §6.1).
        if declassify_value(outside as u32 >> 31) == 1 || ones > P::OMEGA {
            return false;
        }
        *end = ones as u8;
    }
    true
}
