//! The same algorithms in the least memory: K-PKE (FIPS 203, §5) by columns, and ML-KEM (§6) on it.
//!
//! A column of the matrix needs one secret polynomial, and all rows of the result. Those are summed where the result will
//! stand, in the caller's buffer: twelve bits a coefficient, three bytes a pair, which is what a product writes. No
//! entry of the matrix exists but for the sixteen candidates that a squeeze gave. Decapsulation has no such buffer: it goes by rows, compares each, and makes
//! the secrets again for each row.

use zeroize::Zeroize;

use super::depth::{DECAPS, DECAPS_ENCODED, scrubbed};
use super::encode::CompressedComparer;
use super::encoded::DecapsulationKeyRef;
use super::kernels::packed::{
    Packed, SmallPoly, Sum, add_encoded, add_packed, pack_noise, packed, residue, unpack, unpack_noise_hat,
};
use super::kernels::portable::noise3_of;
use super::kernels::{Kernels, least, loops};
use super::params::ParameterSet;
use super::pke::{self, Encryption, decrypt};
use super::poly::Coefficients;
use super::ring::{Ntt, Poly};
use super::sample::{ETA2, Noise};
use crate::secret::{Secret, clear, declassify, mask_nonzero, select_bytes};
use crate::sha3::{Sha3_256, Sha3_512, Shake128, Shake256, Sponge};
use crate::workspace::{Memory, Zero, words};

/// The domain bits and the first 1 of the padding (FIPS 202, §6.1 and §6.2).
const SHA3: u8 = 0b110;
const SHAKE: u8 = 0b11111;

/// Words of a workspace: decapsulation from the seed takes most.
pub(super) const WORDS: usize = words::<OfDecapsulation>();

/// The table of this schedule: the processor's smallest, whatever else it offers.
const TABLE: &Kernels = least();

/// Parts of 32 bytes. Not an array of them, which is built and wiped part by part.
#[inline(always)]
fn seeds<const N: usize>(bytes: &mut [u8]) -> &mut [[u8; 32]; N] {
    bytes.as_chunks_mut().0.first_chunk_mut().expect("so many are there")
}

/// Starts the sponge on these inputs, and ends absorbing.
#[inline(never)]
fn absorbed(sponge: &mut Sponge, rate: usize, suffix: u8, a: &[u8], b: &[u8]) {
    sponge.restart(rate);
    sponge.absorb(a);
    sponge.absorb(b);
    sponge.finish(suffix);
}

/// G (FIPS 203, §4.1, (4.5)).
fn g(sponge: &mut Sponge, a: &[u8], b: &[u8], first: &mut [u8; 32], second: &mut [u8; 32]) {
    absorbed(sponge, Sha3_512::RATE, SHA3, a, b);
    sponge.squeeze(first);
    sponge.squeeze(second);
}

/// H(ek) (FIPS 203, §4.1, (4.4)).
fn h(sponge: &mut Sponge, ek: &[u8], hash: &mut [u8; 32]) {
    absorbed(sponge, Sha3_256::RATE, SHA3, ek, &[]);
    sponge.squeeze(hash);
}

/// Adds Â\[i, j\] ∘ `x` · 2^-16, each pair as soon as it is sampled.
///
/// FIPS 203, Algorithm 7 (SampleNTT) of ρ ‖ j ‖ i. Variable time: ρ is public.
#[inline(never)]
fn add_entry(sum: &mut dyn Sum, sponge: &mut Sponge, rho: &[u8; 32], i: usize, j: usize, x: &Ntt) {
    absorbed(sponge, Shake128::RATE, SHAKE, rho, &[j as u8, i as u8]);
    let mut words = [0; 3];
    // One that waits for another, and sixteen candidates.
    let mut accepted = [0; 17];
    let (mut pair, mut held) = (0, 0);
    while pair < 128 {
        sponge.squeeze_lanes(&mut words);
        let room = accepted[held..].first_chunk_mut().expect("at most one waits");
        held += loops::reject_vartime(room, &words);
        let a = accepted[..held].as_chunks().0;
        let a = &a[..a.len().min(128 - pair)];
        sum.add_products(pair, a, x);
        pair += a.len();
        accepted[0] = accepted[held.saturating_sub(1)];
        held &= 1;
    }
}

/// Adds the noise of PRF_η(s, b).
///
/// FIPS 203, Algorithm 8 (SamplePolyCBD) of §4.1, (4.3).
#[inline(never)]
fn add_noise(f: &mut Poly, sponge: &mut Sponge, s: &[u8; 32], b: usize, eta: usize) {
    absorbed(sponge, Shake256::RATE, SHAKE, s, &[b as u8]);
    let mut bytes = [0; 32];
    if eta == 3 {
        // Only secrets have this noise (FIPS 203, Table 2), which are zero before.
        let bytes = &mut bytes[..24];
        for f in f.0.as_chunks_mut::<32>().0 {
            sponge.squeeze(bytes);
            for (x, bytes) in f.as_chunks_mut::<4>().0.iter_mut().zip(bytes.as_chunks().0) {
                *x = noise3_of(*bytes);
            }
        }
    } else {
        for f in f.0.as_chunks_mut::<64>().0 {
            sponge.squeeze(&mut bytes);
            for (f, word) in f.as_chunks_mut().0.iter_mut().zip(bytes.as_chunks().0) {
                loops::add_noise2(f, u32::from_le_bytes(*word));
            }
        }
    }
    bytes.zeroize();
}

/// The transform of that noise, which only multiplies: ŝ or ŷ.
fn factor_hat(f: &mut Ntt, sponge: &mut Sponge, s: &[u8; 32], b: usize, eta: usize) {
    noise_hat(loops::ntt_of_factor, f, sponge, s, b, eta);
}

/// The same, reduced: ê.
fn error_hat(f: &mut Ntt, sponge: &mut Sponge, s: &[u8; 32], b: usize, eta: usize) {
    noise_hat(TABLE.ntt, f, sponge, s, b, eta);
}

#[inline(never)]
fn noise_hat(
    ntt: fn(&mut Coefficients),
    f: &mut Ntt,
    sponge: &mut Sponge,
    s: &[u8; 32],
    b: usize,
    eta: usize,
) {
    f.clear();
    add_noise(&mut f.0, sponge, s, b, eta);
    ntt(&mut f.0.0);
}

/// Both keys of the seed: ek to its buffer, H(ek).
///
/// FIPS 203, Algorithm 16 (ML-KEM.KeyGen_internal), on Algorithm 13 (K-PKE.KeyGen).
#[inline(never)]
pub(super) fn key_gen<P: ParameterSet>(
    seed: &[u8; 64],
    ek: &mut [u8],
    hash: &mut [u8; 32],
    memory: impl Memory,
) {
    memory.lend(|sponge: &mut Sponge, memory| {
        // Until the key is there `hash` holds σ.
        make_public_key::<P>(seed, ek, hash, sponge, memory);
        h(sponge, ek, hash);
    });
}

/// The same without the hash.
#[inline(never)]
pub(super) fn public_key<P: ParameterSet>(seed: &[u8; 64], ek: &mut [u8], memory: impl Memory) {
    memory.lend(|(sponge, sigma): &mut (Sponge, Secret<[u8; 32]>), memory| {
        make_public_key::<P>(seed, ek, sigma.expose_mut(), sponge, memory);
    });
}

#[inline(always)]
fn make_public_key<P: ParameterSet>(
    seed: &[u8; 64],
    ek: &mut [u8],
    sigma: &mut [u8; 32],
    sponge: &mut Sponge,
    memory: impl Memory,
) {
    memory.lend(|x: &mut Secret<Ntt>, _| {
        let x = x.expose_mut();
        let (rows, rho) = ek.split_at_mut(384 * P::K);
        let rho = rho.first_chunk_mut().expect("a key ends with ρ");
        g(sponge, &seed[..32], &[P::K as u8], rho, sigma);
        declassify(rho); // public: ρ is part of the encapsulation key
        rows.fill(0);
        for j in 0..P::K {
            factor_hat(x, sponge, sigma, j, P::ETA1);
            (TABLE.scale)(&mut x.0.0);
            for i in 0..P::K {
                add_entry(&mut Packed::row(rows, &mut [], i), sponge, rho, i, j, x);
            }
        }
        for i in 0..P::K {
            error_hat(x, sponge, sigma, P::K + i, P::ETA1);
            add_packed(&mut rows[384 * i..], x);
        }
        declassify(ek); // public: the encapsulation key is published
    });
}

/// H(ek) of the seed, where there is no room for ek.
///
/// The lines of FIPS 203, Algorithm 13 (K-PKE.KeyGen), row by row.
#[inline(never)]
pub(super) fn hash_of_public_key<P: ParameterSet>(seed: &[u8; 64], hash: &mut [u8; 32], memory: impl Memory) {
    type Lent = ([Sponge; 2], Secret<[u8; 64]>, [Secret<Ntt>; 2]);
    memory.lend(|([sponge, hasher], rho_sigma, [t, x]): &mut Lent, _| {
        let (t, x) = (t.expose_mut(), x.expose_mut());
        let [rho, sigma] = seeds(rho_sigma.expose_mut());
        g(sponge, &seed[..32], &[P::K as u8], rho, sigma);
        declassify(rho); // public: ρ is part of the encapsulation key
        hasher.restart(Sha3_256::RATE);
        for i in 0..P::K {
            t.clear();
            for j in 0..P::K {
                factor_hat(x, sponge, sigma, j, P::ETA1);
                add_entry(t, sponge, rho, i, j, x);
            }
            (TABLE.scale)(&mut t.0.0);
            error_hat(x, sponge, sigma, P::K + i, P::ETA1);
            (TABLE.add)(&mut t.0.0, &x.0.0);
            for pair in t.0.0.as_chunks().0 {
                hasher.absorb(&packed(pair.map(|x| residue(x) as i16)));
            }
        }
        hasher.absorb(rho);
        hasher.finish(SHA3);
        hasher.squeeze(hash);
        declassify(hash); // public: the hash of a public key
    });
}

/// H(ek) of the key's bytes.
#[inline(never)]
pub(super) fn hash(ek: &[u8], hash: &mut [u8; 32], memory: impl Memory) {
    memory.lend(|sponge: &mut Sponge, _| h(sponge, ek, hash));
}

/// The ciphertext and the shared secret of `m`.
///
/// FIPS 203, Algorithm 17 (ML-KEM.Encaps_internal).
#[inline(never)]
pub(super) fn encapsulate<P: ParameterSet>(
    ek: &[u8],
    m: &[u8; 32],
    c: &mut [u8],
    shared: &mut [u8; 32],
    memory: impl Memory,
) {
    memory.lend(|(sponge, r): &mut (Sponge, Secret<[u8; 32]>), memory| {
        h(sponge, ek, shared);
        absorbed(sponge, Sha3_512::RATE, SHA3, m, shared);
        sponge.squeeze(shared);
        sponge.squeeze(r.expose_mut());
        encrypt::<P>(ek, m, r.expose(), c, sponge, memory);
    });
}

/// FIPS 203, Algorithm 14 (K-PKE.Encrypt), by columns of Âᵀ.
#[inline(always)]
fn encrypt<P: ParameterSet>(
    ek: &[u8],
    m: &[u8; 32],
    r: &[u8; 32],
    c: &mut [u8],
    sponge: &mut Sponge,
    memory: impl Memory,
) {
    memory.lend(|([x, v], spill): &mut ([Secret<Ntt>; 2], Secret<P::Spill>), _| {
        let (x, v) = (x.expose_mut(), v.expose_mut());
        let spill = spill.expose_mut().as_mut();
        let (t, rho) = ek.split_at(384 * P::K);
        let rho = rho.first_chunk().expect("a key ends with ρ");
        c.fill(0);
        for (i, t) in t.chunks_exact(384).enumerate() {
            factor_hat(x, sponge, r, i, P::ETA1);
            for j in 0..P::K {
                add_entry(&mut Packed::row(c, spill, j), sponge, rho, i, j, x);
            }
            add_encoded(v, t, x);
        }
        for j in 0..P::K {
            unpack(Packed::row(c, spill, j), x);
            // A row ends before the sums of the next begin.
            finish(x, &mut OfSponge { sponge, r }, P::K + j);
            loops::compress(&x.0.0, P::DU, c[32 * P::DU * j..][..32 * P::DU].as_chunks_mut().0);
        }
        finish(v, &mut OfSponge { sponge, r }, 2 * P::K);
        OfSponge::add_message(&mut v.0, m);
        loops::compress(&v.0.0, P::DV, c[32 * P::DU * P::K..].as_chunks_mut().0);
        declassify(c); // public: the ciphertext is sent
    });
}

/// A row of u or v from its sum: FIPS 203, Algorithm 14 (K-PKE.Encrypt), line 19, and 21 but for the message.
fn finish(f: &mut Ntt, noise: &mut OfSponge<'_>, b: usize) {
    inverse(f);
    noise.add(&mut f.0, b);
}

fn inverse(f: &mut Ntt) -> &mut Poly {
    (TABLE.inverse_ntt)(&mut f.0.0);
    &mut f.0
}

/// The noise of r, hashed when it is asked for by the sponge of all else.
struct OfSponge<'a> {
    sponge: &'a mut Sponge,
    r: &'a [u8; 32],
}

impl Noise for OfSponge<'_> {
    #[inline(always)]
    fn fill(&mut self, f: &mut Poly, eta: usize, b: usize) {
        clear(&mut f.0);
        add_noise(f, self.sponge, self.r, b, eta);
    }

    #[inline(always)]
    fn add(&mut self, f: &mut Poly, b: usize) {
        add_noise(f, self.sponge, self.r, b, ETA2);
    }

    #[inline(always)]
    fn add_message(f: &mut Poly, m: &[u8; 32]) {
        loops::add_decompressed(&mut f.0, 1, m.as_chunks().0);
    }
}

/// The message of `c`: FIPS 203, Algorithm 15 (K-PKE.Decrypt), from the sum ŝᵀ ∘ NTT(u).
#[cfg_attr(gambeson_size, inline(never))]
#[cfg_attr(not(gambeson_size), inline(always))] // Who knows d has a loop of its own.
fn finish_message(sum: &mut Ntt, d: usize, v: &[u8], m: &mut [u8; 32]) {
    inverse(sum);
    loops::subtract_from_decompressed(&mut sum.0.0, d, v.as_chunks().0);
    loops::compress(&sum.0.0, 1, m.as_chunks_mut().0);
}

#[cfg_attr(gambeson_size, inline(never))]
#[cfg_attr(not(gambeson_size), inline(always))] // Who knows d has a loop of its own.
fn decompress_hat(x: &mut Ntt, d: usize, bytes: &[u8]) {
    loops::decompress(&mut x.0.0, d, bytes.as_chunks().0);
    (TABLE.ntt)(&mut x.0.0);
}

/// What decapsulation remembers of ŷ.
trait Remembered {
    /// Makes the i-th element; `x` is worked in.
    fn make(&mut self, i: usize, x: &mut Ntt, noise: &mut OfSponge<'_>, eta: usize);

    /// The i-th element, in `x` where it is not at hand.
    fn hat<'a>(&'a self, i: usize, x: &'a mut Ntt, noise: &mut OfSponge<'_>, eta: usize) -> &'a Ntt;
}

/// Nothing: it is hashed again.
struct Nothing;

impl Remembered for Nothing {
    #[inline(always)]
    fn make(&mut self, _: usize, _: &mut Ntt, _: &mut OfSponge<'_>, _: usize) {}

    #[inline(always)]
    fn hat<'a>(&'a self, i: usize, x: &'a mut Ntt, noise: &mut OfSponge<'_>, eta: usize) -> &'a Ntt {
        factor_hat(x, noise.sponge, noise.r, i, eta);
        x
    }
}

/// y, in three bits a coefficient.
impl Remembered for [SmallPoly] {
    #[inline(always)]
    fn make(&mut self, i: usize, x: &mut Ntt, noise: &mut OfSponge<'_>, eta: usize) {
        noise.fill(&mut x.0, eta, i);
        pack_noise(&x.0, &mut self[i]);
    }

    #[inline(always)]
    fn hat<'a>(&'a self, i: usize, x: &'a mut Ntt, _: &mut OfSponge<'_>, _: usize) -> &'a Ntt {
        unpack_noise_hat(&self[i], x);
        x
    }
}

impl Remembered for [Ntt] {
    #[inline(always)]
    fn make(&mut self, i: usize, _: &mut Ntt, noise: &mut OfSponge<'_>, eta: usize) {
        factor_hat(&mut self[i], noise.sponge, noise.r, i, eta);
    }

    #[inline(always)]
    fn hat<'a>(&'a self, i: usize, _: &'a mut Ntt, _: &mut OfSponge<'_>, _: usize) -> &'a Ntt {
        &self[i]
    }
}

/// The shared secret of `c`, or the rejection secret, from the seed d ‖ z and H(ek).
///
/// t̂ᵀ ∘ ŷ is summed as ŝᵀ ∘ (Âᵀ ∘ ŷ) + êᵀ ∘ ŷ (decision 3), so t̂ is never made.
///
/// FIPS 203, Algorithm 18 (ML-KEM.Decaps_internal).
#[inline(never)]
pub(super) fn decapsulate<P: ParameterSet>(
    seed: &[u8; 64],
    hash: &[u8; 32],
    c: &[u8],
    shared: &mut [u8; 32],
    memory: impl Memory,
) {
    if P::SMALL {
        decapsulate_with::<P, Nothing>(seed, hash, c, shared, &mut Nothing, memory);
    } else {
        let mut y = Secret::new(P::Vector::ZERO);
        let y = y.expose_mut().as_mut();
        scrubbed::<P, { DECAPS[0] }, { DECAPS[1] }, { DECAPS[2] }, _>(|| {
            apart(|| decapsulate_with::<P, [Ntt]>(seed, hash, c, shared, y, memory));
        });
    }
}

/// Does `work` in a frame of its own, which the guard scrubs.
#[inline(never)]
fn apart(work: impl FnOnce()) {
    work();
}

type OfDecapsulation = (Sponge, Secret<[u8; 96]>, [Secret<Ntt>; 3]);

#[inline(always)]
fn decapsulate_with<P: ParameterSet, Y: Remembered + ?Sized>(
    seed: &[u8; 64],
    hash: &[u8; 32],
    c: &[u8],
    shared: &mut [u8; 32],
    y: &mut Y,
    memory: impl Memory,
) {
    memory.lend(|(sponge, secrets, [u, v, x]): &mut OfDecapsulation, _| {
        let [rho, sigma, r] = seeds(secrets.expose_mut());
        g(sponge, &seed[..32], &[P::K as u8], rho, sigma);
        declassify(rho); // public: ρ is part of the encapsulation key
        let (u, v, x) = (u.expose_mut(), v.expose_mut(), x.expose_mut());

        // Until the end `shared` holds the message, from which K is made again then.
        let m = shared;
        let multiply_add = |sum: &mut &mut Ntt, j: usize, row: &[u8]| {
            factor_hat(x, sponge, sigma, j, P::ETA1);
            decompress_hat(u, P::DU, row);
            (TABLE.multiply_add)(&mut sum.0.0, &x.0.0, &u.0.0);
        };
        decrypt::<P, _>(&mut *v, c, m, multiply_add, |sum, d, c_v, m| finish_message(sum, d, c_v, m));
        absorbed(sponge, Sha3_512::RATE, SHA3, m, hash);
        sponge.squeeze(r);
        sponge.squeeze(r);

        v.clear();
        let mut comparer = CompressedComparer::new::<P>(c);
        let mut products = OfSeed { rho, sigma, y, u, v, x };
        let mut noise = OfSponge { sponge, r };
        pke::encrypt::<P, _>(&mut products, m, &mut noise, |f, d| comparer.compare::<P>(f, d));
        absorbed(sponge, Sha3_512::RATE, SHA3, m, hash);
        sponge.squeeze(m);
        reject(sponge, &seed[32..], c, comparer.different, r, m);
    });
}

/// The products with the key of a seed, of which v is summed beside the rows.
struct OfSeed<'a, Y: ?Sized> {
    rho: &'a [u8; 32],
    sigma: &'a [u8; 32],
    y: &'a mut Y,
    u: &'a mut Ntt,
    v: &'a mut Ntt,
    x: &'a mut Ntt,
}

impl<P: ParameterSet, Y: Remembered + ?Sized> Encryption<P, OfSponge<'_>> for OfSeed<'_, Y> {
    #[inline(always)]
    fn sample(&mut self, i: usize, noise: &mut OfSponge<'_>) {
        self.y.make(i, self.x, noise, P::ETA1);
    }

    #[inline(always)]
    fn row(&mut self, j: usize, noise: &mut OfSponge<'_>) -> &mut Poly {
        let Self { rho, sigma, y, u, v, x } = self;
        // From j on, for then ŷ[j] is at hand where ê[j] has room.
        for i in (j..P::K).chain(0..j) {
            let y = y.hat(i, x, noise, P::ETA1);
            if i == j {
                error_hat(u, noise.sponge, sigma, P::K + j, P::ETA1);
                (TABLE.multiply_add)(&mut v.0.0, &y.0.0, &u.0.0);
                u.clear();
            }
            add_entry(*u, noise.sponge, rho, i, j, y);
        }
        factor_hat(x, noise.sponge, sigma, j, P::ETA1);
        (TABLE.scale)(&mut x.0.0);
        (TABLE.multiply_add)(&mut v.0.0, &u.0.0, &x.0.0);
        // Two products a row, each below 2q, and the inverse transform takes 8q.
        if (1..P::K - 1).contains(&j) {
            (TABLE.reduce)(&mut v.0.0);
        }
        inverse(u)
    }

    #[inline(always)]
    fn last(&mut self, _: &mut OfSponge<'_>) -> &mut Poly {
        inverse(self.v)
    }
}

/// The same from the standard's form of the key, in its parts.
#[inline(never)]
pub(super) fn decapsulate_encoded<P: ParameterSet>(
    key: &DecapsulationKeyRef<'_, P>,
    c: &[u8],
    shared: &mut [u8; 32],
    memory: impl Memory,
) {
    if P::SMALL {
        memory.lend(|y: &mut Secret<P::SmallVector>, memory| {
            decapsulate_encoded_with::<P, [SmallPoly]>(key, c, shared, y.expose_mut().as_mut(), memory);
        });
    } else {
        let mut y = Secret::new(P::Vector::ZERO);
        let y = y.expose_mut().as_mut();
        scrubbed::<P, { DECAPS_ENCODED[0] }, { DECAPS_ENCODED[1] }, { DECAPS_ENCODED[2] }, _>(|| {
            apart(|| decapsulate_encoded_with::<P, [Ntt]>(key, c, shared, y, memory));
        });
    }
}

#[inline(always)]
fn decapsulate_encoded_with<P: ParameterSet, Y: Remembered + ?Sized>(
    key: &DecapsulationKeyRef<'_, P>,
    c: &[u8],
    shared: &mut [u8; 32],
    y: &mut Y,
    memory: impl Memory,
) {
    type Lent = (Sponge, Secret<[u8; 64]>, [Secret<Ntt>; 2]);
    memory.lend(|(sponge, secrets, [u, x]): &mut Lent, _| {
        let [m, r] = seeds(secrets.expose_mut());
        let (u, x) = (u.expose_mut(), x.expose_mut());
        let multiply_add = |sum: &mut &mut Ntt, j: usize, row: &[u8]| {
            decompress_hat(x, P::DU, row);
            add_encoded(sum, &key.s()[384 * j..][..384], x);
        };
        decrypt::<P, _>(&mut *u, c, m, multiply_add, |sum, d, c_v, m| finish_message(sum, d, c_v, m));
        g(sponge, m, key.h(), shared, r);

        let mut comparer = CompressedComparer::new::<P>(c);
        let mut products = OfEncoded { ek: key.ek(), y, u, x };
        let mut noise = OfSponge { sponge, r };
        pke::encrypt::<P, _>(&mut products, m, &mut noise, |f, d| comparer.compare::<P>(f, d));
        reject(sponge, key.z(), c, comparer.different, r, shared);
    });
}

/// The products with an encapsulation key of bytes, all in the memory of one.
struct OfEncoded<'a, Y: ?Sized> {
    ek: &'a [u8],
    y: &'a mut Y,
    u: &'a mut Ntt,
    x: &'a mut Ntt,
}

impl<P: ParameterSet, Y: Remembered + ?Sized> Encryption<P, OfSponge<'_>> for OfEncoded<'_, Y> {
    #[inline(always)]
    fn sample(&mut self, i: usize, noise: &mut OfSponge<'_>) {
        self.y.make(i, self.x, noise, P::ETA1);
    }

    #[inline(always)]
    fn row(&mut self, j: usize, noise: &mut OfSponge<'_>) -> &mut Poly {
        let Self { ek, y, u, x } = self;
        let rho = ek.last_chunk().expect("a key ends with ρ");
        u.clear();
        for i in 0..P::K {
            let y = y.hat(i, x, noise, P::ETA1);
            add_entry(*u, noise.sponge, rho, i, j, y);
        }
        inverse(u)
    }

    #[inline(always)]
    fn last(&mut self, noise: &mut OfSponge<'_>) -> &mut Poly {
        let Self { ek, y, u, x } = self;
        u.clear();
        for (i, t) in ek[..384 * P::K].chunks_exact(384).enumerate() {
            add_encoded(u, t, y.hat(i, x, noise, P::ETA1));
        }
        inverse(u)
    }
}

/// Lines 8 to 11 of Algorithm 18: J(z ‖ c) takes the place of the secret if anything differs.
fn reject(
    sponge: &mut Sponge,
    z: &[u8],
    c: &[u8],
    different: u32,
    rejection: &mut [u8; 32],
    shared: &mut [u8; 32],
) {
    absorbed(sponge, Shake256::RATE, SHAKE, z, c);
    sponge.squeeze(rejection);
    select_bytes(shared, rejection, mask_nonzero(different));
}

#[cfg(all(test, feature = "alloc"))]
mod tests {
    use super::*;

    #[test]
    fn no_word_of_a_workspace_is_too_many() {
        use super::super::{DecapsulationKey, MlKem512, MlKem768, MlKem1024, PreparedSet};
        use crate::workspace::tests::most_words;
        use crate::{Bytes, Small};

        fn most<P: PreparedSet>() -> usize {
            let (mut ek, mut c, mut out) =
                (P::EncapsulationKeyBytes::zeroed(), P::Ciphertext::zeroed(), [0; 32]);
            let dk = DecapsulationKey::<P>::from_seed(&[1; 64]).to_encoded();
            let key = DecapsulationKeyRef::<Small<P>>::from_ref(dk.expose()).expect("a key");
            let of_operations = [
                most_words(WORDS, |memory| hash_of_public_key::<Small<P>>(&[1; 64], &mut out, memory)),
                most_words(WORDS, |memory| key_gen::<Small<P>>(&[1; 64], ek.as_mut(), &mut out, memory)),
                most_words(WORDS, |memory| public_key::<Small<P>>(&[1; 64], ek.as_mut(), memory)),
                most_words(WORDS, |memory| {
                    encapsulate::<Small<P>>(key.ek(), &[2; 32], c.as_mut(), &mut out, memory);
                }),
                most_words(WORDS, |memory| {
                    let c = P::Ciphertext::zeroed();
                    decapsulate::<Small<P>>(&[1; 64], key.h(), c.as_ref(), &mut out, memory);
                }),
                most_words(WORDS, |memory| {
                    decapsulate_encoded(&key, P::Ciphertext::zeroed().as_ref(), &mut out, memory);
                }),
            ];
            of_operations.into_iter().max().expect("six operations")
        }
        assert_eq!([most::<MlKem512>(), most::<MlKem768>(), most::<MlKem1024>()], [WORDS; 3]);
    }
}
