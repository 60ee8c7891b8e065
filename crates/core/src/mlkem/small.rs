//! The same algorithms in the least memory: K-PKE (FIPS 203, §5) by columns, and ML-KEM (§6) on it.
//!
//! A column of the matrix needs one secret polynomial, and all rows of the result. Those are summed where the result will
//! stand, in the caller's buffer: twelve bits a coefficient, three bytes a pair, which is what a product writes. No
//! entry of the matrix exists but for the sixteen candidates that a squeeze gave. Decapsulation has no such buffer: it goes by rows, compares each, and makes
//! the secrets again for each row.

use zeroize::Zeroize;

use super::encoded::ExpandedKeyRef;
use super::kernels::portable::{
    COMPRESS_FACTOR, PAIR_ZETAS, Q_INVERSE, compress_coefficient, decompress_coefficient, noise2_of,
    noise3_of, reject_vartime,
};
use super::kernels::{Kernels, least};
use super::params::ParameterSet;
use super::ring::{Ntt, Poly, Q};
use crate::secret::{Secret, barrier, declassify, mask_nonzero, select_bytes};
use crate::sha3::{Sha3_256, Sha3_512, Shake128, Shake256, Sponge};

/// The domain bits and the first 1 of the padding (FIPS 202, §6.1 and §6.2).
const SHA3: u8 = 0b110;
const SHAKE: u8 = 0b11111;
/// The noise of u and v (FIPS 203, Table 2).
const ETA2: usize = 2;

/// How deep the operations go with each K, and some to spare, on processors of 64 bits and of 32 (`cargo xtask stack`, `firmware
/// bench`).
const fn depths(wide: [usize; 3], narrow: [usize; 3]) -> [usize; 3] {
    if cfg!(target_pointer_width = "64") { wide } else { narrow }
}
pub(super) const KEY_GEN: [usize; 3] = depths([1472; 3], [1096; 3]);
pub(super) const HASH: [usize; 3] = depths([2160; 3], [1840; 3]);
pub(super) const ENCAPS: [usize; 3] = depths([1992, 2064, 1992], [1632, 1720, 1648]);
pub(super) const DECAPS: [usize; 3] = depths([2560; 3], [2232; 3]);
pub(super) const DECAPS_ENCODED: [usize; 3] = depths([2288, 2384, 2480], [1904, 2008, 2112]);

/// The table of this schedule: the processor's smallest, whatever else it offers.
const TABLE: &Kernels = least();

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

/// Where products are summed.
trait Sum {
    /// Adds the products of these pairs of coefficients, from `first` on, with those of `x`, times 2^-16. |a| ≤ 2q, |x| ≤ q.
    fn add_products(&mut self, first: usize, a: &[[i16; 2]], x: &Ntt);
}

impl Sum for Ntt {
    #[inline(always)]
    fn add_products(&mut self, first: usize, a: &[[i16; 2]], x: &Ntt) {
        let sums = &mut self.0.0.as_chunks_mut::<2>().0[first..];
        for ((sum, a), (x, zeta)) in sums.iter_mut().zip(a).zip(pairs_of(x, first)) {
            let product = multiply(*zeta, *a, *x);
            sum[0] += product[0];
            sum[1] += product[1];
        }
    }
}

/// A polynomial of twelve bits a coefficient, in two pieces, each of whole pairs.
struct Packed<'a>(&'a mut [[u8; 3]], &'a mut [[u8; 3]]);

impl<'a> Packed<'a> {
    /// The row of `bytes`, and what of it does not fit in them.
    #[inline(always)]
    fn row(bytes: &'a mut [u8], spill: &'a mut [u8], row: usize) -> Self {
        let first = &mut bytes[384 * row..];
        let here = first.len().min(384);
        let (first, spill) = (first[..here].as_chunks_mut().0, spill.as_chunks_mut().0);
        let rest = 128 - first.len();
        Self(first, &mut spill[..rest])
    }

    /// All pairs from `first` on.
    #[inline(always)]
    fn pairs(&mut self, first: usize) -> impl Iterator<Item = &mut [u8; 3]> {
        let here = first.min(self.0.len());
        self.0[here..].iter_mut().chain(&mut self.1[first - here..])
    }
}

impl Sum for Packed<'_> {
    #[inline(always)]
    fn add_products(&mut self, first: usize, a: &[[i16; 2]], x: &Ntt) {
        for ((bytes, a), (x, zeta)) in self.pairs(first).zip(a).zip(pairs_of(x, first)) {
            let (sum, product) = (decoded(bytes), multiply(*zeta, *a, *x));
            *bytes = encoded([sum[0] + product[0], sum[1] + product[1]]);
        }
    }
}

/// The pairs of `x` from `first` on, and the ζ of each.
#[inline(always)]
fn pairs_of(x: &Ntt, first: usize) -> impl Iterator<Item = (&[i16; 2], &i16)> {
    x.0.0.as_chunks().0[first..].iter().zip(&PAIR_ZETAS[first..])
}

/// The residue of x in \[0, q), for |x| ≤ 3q.
#[inline(always)]
fn residue(x: i16) -> u16 {
    let x = (x + 3 * Q) as u16;
    // ⌊x/q⌋, exact for sixteen bits: a test shows it for each.
    let quotient = (u64::from(x) * u64::from(COMPRESS_FACTOR)) >> 32;
    x - quotient as u16 * Q as u16
}

/// a·2^-16 modulo q, |result| ≤ q, for |a| ≤ 2^15·q (Montgomery).
#[inline(always)]
fn montgomery(a: i32) -> i32 {
    let multiple = (a as i16).wrapping_mul(Q_INVERSE);
    (a - i32::from(multiple) * i32::from(Q)) >> 16
}

/// FIPS 203, Algorithm 12 (BaseCaseMultiply), times 2^-16, with ζ times 2^16: |a| ≤ 2q, |b| ≤ q on entry, |result| ≤ q.
#[inline(always)]
fn multiply(zeta: i16, a: [i16; 2], b: [i16; 2]) -> [i16; 2] {
    let ([a0, a1], [b0, b1]) = (a.map(i32::from), b.map(i32::from));
    let high = montgomery(a1 * b1) * i32::from(zeta);
    [montgomery(a0 * b0 + high) as i16, montgomery(a0 * b1 + a1 * b0) as i16]
}

/// Two coefficients of twelve bits.
#[inline(always)]
fn decoded(&[a, b, c]: &[u8; 3]) -> [i16; 2] {
    [i16::from(a) | (i16::from(b) & 15) << 8, i16::from(b) >> 4 | i16::from(c) << 4]
}

#[inline(always)]
fn encoded(pair: [i16; 2]) -> [u8; 3] {
    let [a, b] = pair.map(residue);
    [a as u8, (a >> 8 | b << 4) as u8, (b >> 4) as u8]
}

/// Adds Â\[i, j\] ∘ `x` · 2^-16, each pair as soon as it is sampled.
///
/// FIPS 203, Algorithm 7 (SampleNTT) of ρ ‖ j ‖ i. Variable time: ρ is public.
#[inline(never)]
fn add_entry(sum: &mut impl Sum, sponge: &mut Sponge, rho: &[u8; 32], i: usize, j: usize, x: &Ntt) {
    absorbed(sponge, Shake128::RATE, SHAKE, rho, &[j as u8, i as u8]);
    let mut bytes = [0; 24];
    let mut accepted = [0; 17];
    let (mut pair, mut held) = (0, 0);
    while pair < 128 {
        sponge.squeeze(&mut bytes);
        held += reject_vartime(&mut accepted[held..], &bytes);
        let a = accepted[..held].as_chunks().0;
        let a = &a[..a.len().min(128 - pair)];
        sum.add_products(pair, a, x);
        pair += a.len();
        accepted[0] = accepted[held.saturating_sub(1)];
        held &= 1;
    }
}

/// Adds `encoded` ∘ `x` · 2^-16; |x| ≤ q.
#[inline(never)]
fn add_encoded(sum: &mut Ntt, encoded: &[u8], x: &Ntt) {
    for (first, bytes) in encoded.as_chunks().0.iter().enumerate() {
        sum.add_products(first, &[decoded(bytes)], x);
    }
}

/// Adds the noise of PRF_η(s, b).
///
/// FIPS 203, Algorithm 8 (SamplePolyCBD) of §4.1, (4.3).
#[inline(never)]
fn add_noise(f: &mut Poly, sponge: &mut Sponge, s: &[u8; 32], b: usize, eta: usize) {
    absorbed(sponge, Shake256::RATE, SHAKE, s, &[b as u8]);
    let mut bytes = [0; 24];
    let add = |x: &mut [i16], noise: &[i16]| x.iter_mut().zip(noise).for_each(|(x, noise)| *x += noise);
    if eta == 3 {
        for f in f.0.as_chunks_mut::<32>().0 {
            sponge.squeeze(&mut bytes);
            for (x, bytes) in f.as_chunks_mut::<4>().0.iter_mut().zip(bytes.as_chunks().0) {
                add(x, &noise3_of(*bytes));
            }
        }
    } else {
        for f in f.0.as_chunks_mut::<16>().0 {
            sponge.squeeze(&mut bytes[..8]);
            for (x, word) in f.as_chunks_mut::<8>().0.iter_mut().zip(bytes.as_chunks().0) {
                add(x, &noise2_of(*word));
            }
        }
    }
    bytes.zeroize();
}

/// The transform of that noise: ŝ, ê or ŷ.
#[inline(never)]
fn noise_hat(f: &mut Ntt, sponge: &mut Sponge, s: &[u8; 32], b: usize, eta: usize) {
    f.clear();
    add_noise(&mut f.0, sponge, s, b, eta);
    (TABLE.ntt)(&mut f.0.0);
}

/// Compress_d and ByteEncode_d (FIPS 203, §4.2.1), four bytes at a time; |x| ≤ 3q.
#[inline(always)]
fn compressed(f: &Poly, d: usize, mut words: impl FnMut(u32)) {
    let (mut held, mut bits) = (0, 0);
    for x in &f.0 {
        let y = compress_coefficient(d, residue(*x) as i16);
        held |= y << bits;
        bits += d;
        if bits >= 32 {
            words(held);
            bits -= 32;
            // What is left of y: none, or fewer bits than it has.
            held = y >> (d - bits).min(31);
        }
    }
}

/// Compress_d and ByteEncode_d to `bytes`, whose length tells d.
#[inline(never)]
fn compress(f: &Poly, bytes: &mut [u8]) {
    let mut places = bytes.as_chunks_mut().0.iter_mut();
    compressed(f, places.len() >> 3, |word| {
        if let Some(place) = places.next() {
            *place = word.to_le_bytes();
        }
    });
}

/// What differs between that and `bytes`: zero if nothing does. Secret.
#[inline(never)]
fn compare(f: &Poly, bytes: &[u8]) -> u32 {
    let mut different = 0;
    let mut expected = bytes.as_chunks().0.iter();
    compressed(f, bytes.len() >> 5, |word| {
        different |= expected.next().map_or(!0, |expected| word ^ u32::from_le_bytes(*expected));
    });
    barrier(different)
}

/// ByteDecode_d and Decompress_d, coefficient by coefficient.
#[inline(always)]
fn decompressed(bytes: &[u8], mut put: impl FnMut(usize, i16)) {
    let d = bytes.len() >> 5;
    let (mut held, mut bits, mut at) = (0, 0, 0);
    for byte in bytes {
        held |= u32::from(*byte) << bits;
        bits += 8;
        while bits >= d {
            put(at, decompress_coefficient(d, (held & ((1 << d) - 1)) as u16));
            (held, bits, at) = (held >> d, bits - d, at + 1);
        }
    }
}

/// Both keys of the seed: ek to its buffer, H(ek).
///
/// FIPS 203, Algorithm 16 (ML-KEM.KeyGen_internal), on Algorithm 13 (K-PKE.KeyGen).
#[inline(never)]
pub(super) fn key_gen<P: ParameterSet>(seed: &[u8; 64], ek: &mut [u8], hash: &mut [u8; 32]) {
    let mut sponge = Sponge::new(Sha3_512::RATE);
    // Until the key is there `hash` holds σ.
    make_public_key::<P>(seed, ek, hash, &mut sponge);
    h(&mut sponge, ek, hash);
}

/// The same without the hash.
#[inline(never)]
pub(super) fn public_key<P: ParameterSet>(seed: &[u8; 64], ek: &mut [u8]) {
    let mut sigma = Secret::new([0; 32]);
    make_public_key::<P>(seed, ek, sigma.expose_mut(), &mut Sponge::new(Sha3_512::RATE));
}

#[inline(always)]
fn make_public_key<P: ParameterSet>(
    seed: &[u8; 64],
    ek: &mut [u8],
    sigma: &mut [u8; 32],
    sponge: &mut Sponge,
) {
    let mut x = Secret::new(Ntt::ZERO);
    let x = x.expose_mut();
    let (rows, rho) = ek.split_at_mut(384 * P::K);
    let rho = rho.first_chunk_mut().expect("a key ends with ρ");
    g(sponge, &seed[..32], &[P::K as u8], rho, sigma);
    declassify(rho); // public: ρ is part of the encapsulation key
    rows.fill(0);
    for j in 0..P::K {
        noise_hat(x, sponge, sigma, j, P::ETA1);
        (TABLE.scale)(&mut x.0.0);
        for i in 0..P::K {
            add_entry(&mut Packed::row(rows, &mut [], i), sponge, rho, i, j, x);
        }
    }
    for i in 0..P::K {
        noise_hat(x, sponge, sigma, P::K + i, P::ETA1);
        add_packed(Packed::row(rows, &mut [], i), x);
    }
    declassify(ek); // public: the encapsulation key is published
}

#[inline(never)]
fn add_packed(mut sum: Packed<'_>, x: &Ntt) {
    for (bytes, x) in sum.pairs(0).zip(x.0.0.as_chunks::<2>().0) {
        let sum = decoded(bytes);
        *bytes = encoded([sum[0] + x[0], sum[1] + x[1]]);
    }
}

#[inline(never)]
fn unpack(mut packed: Packed<'_>, x: &mut Ntt) {
    for (x, bytes) in x.0.0.as_chunks_mut().0.iter_mut().zip(packed.pairs(0)) {
        *x = decoded(bytes);
    }
}

/// H(ek) of the seed, where there is no room for ek.
///
/// The lines of FIPS 203, Algorithm 13 (K-PKE.KeyGen), row by row.
#[inline(never)]
pub(super) fn hash_of_public_key<P: ParameterSet>(seed: &[u8; 64], hash: &mut [u8; 32]) {
    let mut sponge = Sponge::new(Sha3_512::RATE);
    let mut hasher = Sponge::new(Sha3_256::RATE);
    let mut rho_sigma = Secret::new([[0; 32]; 2]);
    let (mut t, mut x) = (Secret::new(Ntt::ZERO), Secret::new(Ntt::ZERO));
    let (t, x) = (t.expose_mut(), x.expose_mut());
    let [rho, sigma] = rho_sigma.expose_mut();
    g(&mut sponge, &seed[..32], &[P::K as u8], rho, sigma);
    declassify(rho); // public: ρ is part of the encapsulation key
    for i in 0..P::K {
        t.clear();
        for j in 0..P::K {
            noise_hat(x, &mut sponge, sigma, j, P::ETA1);
            add_entry(t, &mut sponge, rho, i, j, x);
        }
        (TABLE.scale)(&mut t.0.0);
        noise_hat(x, &mut sponge, sigma, P::K + i, P::ETA1);
        (TABLE.add)(&mut t.0.0, &x.0.0);
        for pair in t.0.0.as_chunks().0 {
            hasher.absorb(&encoded(*pair));
        }
    }
    hasher.absorb(rho);
    hasher.finish(SHA3);
    hasher.squeeze(hash);
    declassify(hash); // public: the hash of a public key
}

/// The ciphertext and the shared secret of `m`.
///
/// FIPS 203, Algorithm 17 (ML-KEM.Encaps_internal).
#[inline(never)]
pub(super) fn encapsulate<P: ParameterSet>(ek: &[u8], m: &[u8; 32], c: &mut [u8], shared: &mut [u8; 32]) {
    let mut sponge = Sponge::new(Sha3_256::RATE);
    let mut r = Secret::new([0; 32]);
    h(&mut sponge, ek, shared);
    absorbed(&mut sponge, Sha3_512::RATE, SHA3, m, shared);
    sponge.squeeze(shared);
    sponge.squeeze(r.expose_mut());
    encrypt::<P>(ek, m, r.expose(), c, &mut sponge);
}

/// FIPS 203, Algorithm 14 (K-PKE.Encrypt), by columns of Âᵀ.
#[inline(always)]
fn encrypt<P: ParameterSet>(ek: &[u8], m: &[u8; 32], r: &[u8; 32], c: &mut [u8], sponge: &mut Sponge) {
    let (mut x, mut v) = (Secret::new(Ntt::ZERO), Secret::new(Ntt::ZERO));
    let (x, v) = (x.expose_mut(), v.expose_mut());
    let mut spill = Secret::new(P::SPILL);
    let spill = spill.expose_mut().as_mut();
    let (t, rho) = ek.split_at(384 * P::K);
    let rho = rho.first_chunk().expect("a key ends with ρ");
    c.fill(0);
    for (i, t) in t.chunks_exact(384).enumerate() {
        noise_hat(x, sponge, r, i, P::ETA1);
        for j in 0..P::K {
            add_entry(&mut Packed::row(c, spill, j), sponge, rho, i, j, x);
        }
        add_encoded(v, t, x);
    }
    for j in 0..P::K {
        unpack(Packed::row(c, spill, j), x);
        // A row ends before the sums of the next begin.
        finish_u(x, sponge, r, P::K + j);
        compress(&x.0, &mut c[32 * P::DU * j..][..32 * P::DU]);
    }
    finish_v(v, sponge, r, 2 * P::K, m);
    compress(&v.0, &mut c[32 * P::DU * P::K..]);
    declassify(c); // public: the ciphertext is sent
}

/// A row of u from its sum: FIPS 203, Algorithm 14 (K-PKE.Encrypt), line 19.
fn finish_u(u: &mut Ntt, sponge: &mut Sponge, r: &[u8; 32], b: usize) {
    (TABLE.inverse_ntt)(&mut u.0.0);
    add_noise(&mut u.0, sponge, r, b, ETA2);
}

/// v from its sum: lines 20 and 21.
#[inline(never)]
fn finish_v(v: &mut Ntt, sponge: &mut Sponge, r: &[u8; 32], b: usize, m: &[u8; 32]) {
    finish_u(v, sponge, r, b);
    decompressed(m, |at, mu| v.0.0[at] += mu);
}

/// The message of `c`: FIPS 203, Algorithm 15 (K-PKE.Decrypt), from the sum ŝᵀ ∘ NTT(u).
#[inline(never)]
fn finish_message(sum: &mut Ntt, v: &[u8], m: &mut [u8; 32]) {
    (TABLE.inverse_ntt)(&mut sum.0.0);
    decompressed(v, |at, v| sum.0.0[at] = v - sum.0.0[at]);
    compress(&sum.0, m);
}

#[inline(never)]
fn decompress_hat(x: &mut Ntt, bytes: &[u8]) {
    decompressed(bytes, |at, u| x.0.0[at] = u);
    (TABLE.ntt)(&mut x.0.0);
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
) {
    let mut sponge = Sponge::new(Sha3_512::RATE);
    let mut secrets = Secret::new([[0; 32]; 3]);
    let [rho, sigma, r] = secrets.expose_mut();
    g(&mut sponge, &seed[..32], &[P::K as u8], rho, sigma);
    declassify(rho); // public: ρ is part of the encapsulation key
    let (mut u, mut v, mut x) = (Secret::new(Ntt::ZERO), Secret::new(Ntt::ZERO), Secret::new(Ntt::ZERO));
    let (u, v, x) = (u.expose_mut(), v.expose_mut(), x.expose_mut());
    let (c_u, c_v) = c.split_at(32 * P::DU * P::K);

    for (j, row) in c_u.chunks_exact(32 * P::DU).enumerate() {
        noise_hat(x, &mut sponge, sigma, j, P::ETA1);
        decompress_hat(u, row);
        (TABLE.multiply_add)(&mut v.0.0, &x.0.0, &u.0.0);
    }
    // Until the end `shared` holds the message, from which K is made again then.
    let m = shared;
    finish_message(v, c_v, m);
    absorbed(&mut sponge, Sha3_512::RATE, SHA3, m, hash);
    sponge.squeeze(r);
    sponge.squeeze(r);

    v.clear();
    let mut different = 0;
    for (j, row) in c_u.chunks_exact(32 * P::DU).enumerate() {
        u.clear();
        for i in 0..P::K {
            noise_hat(x, &mut sponge, r, i, P::ETA1);
            add_entry(u, &mut sponge, rho, i, j, x);
        }
        noise_hat(x, &mut sponge, sigma, j, P::ETA1);
        (TABLE.scale)(&mut x.0.0);
        (TABLE.multiply_add)(&mut v.0.0, &u.0.0, &x.0.0);
        finish_u(u, &mut sponge, r, P::K + j);
        different |= compare(&u.0, row);
        noise_hat(u, &mut sponge, r, j, P::ETA1);
        noise_hat(x, &mut sponge, sigma, P::K + j, P::ETA1);
        (TABLE.multiply_add)(&mut v.0.0, &u.0.0, &x.0.0);
        (TABLE.reduce)(&mut v.0.0);
    }
    finish_v(v, &mut sponge, r, 2 * P::K, m);
    different |= compare(&v.0, c_v);
    absorbed(&mut sponge, Sha3_512::RATE, SHA3, m, hash);
    sponge.squeeze(m);
    reject(&mut sponge, &seed[32..], c, different, r, m);
}

/// The same from the standard's form of the key, in its parts: ŷ is kept, in three bits a coefficient.
#[inline(never)]
pub(super) fn decapsulate_encoded<P: ParameterSet>(
    key: &ExpandedKeyRef<'_, P>,
    c: &[u8],
    shared: &mut [u8; 32],
) {
    let mut sponge = Sponge::new(Sha3_512::RATE);
    let mut secrets = Secret::new([[0; 32]; 2]);
    let [m, r] = secrets.expose_mut();
    let mut y = Secret::new(P::SMALL_VECTOR);
    let y = y.expose_mut().as_mut();
    let (mut u, mut x) = (Secret::new(Ntt::ZERO), Secret::new(Ntt::ZERO));
    let (u, x) = (u.expose_mut(), x.expose_mut());
    let (c_u, c_v) = c.split_at(32 * P::DU * P::K);
    let (t, rho) = key.ek().split_at(384 * P::K);
    let rho = rho.first_chunk().expect("a key ends with ρ");

    for (row, s) in c_u.chunks_exact(32 * P::DU).zip(key.s().chunks_exact(384)) {
        decompress_hat(x, row);
        add_encoded(u, s, x);
    }
    finish_message(u, c_v, m);
    g(&mut sponge, m, key.h(), shared, r);
    for (i, y) in y.iter_mut().enumerate() {
        x.clear();
        add_noise(&mut x.0, &mut sponge, r, i, P::ETA1);
        pack_noise(&x.0, y);
    }

    let mut different = 0;
    for (j, row) in c_u.chunks_exact(32 * P::DU).enumerate() {
        u.clear();
        for (i, y) in y.iter().enumerate() {
            unpack_noise_hat(y, x);
            add_entry(u, &mut sponge, rho, i, j, x);
        }
        finish_u(u, &mut sponge, r, P::K + j);
        different |= compare(&u.0, row);
    }
    u.clear();
    for (y, t) in y.iter().zip(t.chunks_exact(384)) {
        unpack_noise_hat(y, x);
        add_encoded(u, t, x);
    }
    finish_v(u, &mut sponge, r, 2 * P::K, m);
    different |= compare(&u.0, c_v);
    reject(&mut sponge, key.z(), c, different, r, shared);
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

/// Noise, |x| ≤ 3, in three bits a coefficient.
pub(super) type SmallPoly = [u8; 96];

#[inline(never)]
fn pack_noise(f: &Poly, packed: &mut SmallPoly) {
    for (bytes, eight) in packed.as_chunks_mut::<3>().0.iter_mut().zip(f.0.as_chunks::<8>().0) {
        let word = eight.iter().rev().fold(0, |word, x| word << 3 | (x + 3) as u32);
        bytes.copy_from_slice(&word.to_le_bytes()[..3]);
    }
}

#[inline(never)]
fn unpack_noise_hat(packed: &SmallPoly, f: &mut Ntt) {
    for (&[a, b, c], eight) in packed.as_chunks::<3>().0.iter().zip(f.0.0.as_chunks_mut::<8>().0) {
        let word = u32::from_le_bytes([a, b, c, 0]);
        for (i, x) in eight.iter_mut().enumerate() {
            *x = (word >> (3 * i) & 7) as i16 - 3;
        }
    }
    (TABLE.ntt)(&mut f.0.0);
}

#[cfg(test)]
#[allow(clippy::integer_division_remainder_used)]
mod tests {
    use super::*;

    #[test]
    fn every_sum_has_its_residue() {
        for x in -3 * Q..=3 * Q {
            assert_eq!(i32::from(residue(x)), i32::from(x).rem_euclid(3329));
        }
    }

    #[test]
    fn products_at_the_bounds_are_those_of_the_standard() {
        let q = i64::from(Q);
        let edges = |bound: i16| [-bound, 1 - bound, -1665, -1, 0, 1, 1664, bound - 1, bound];
        for pair in [0, 1, 63, 127] {
            // ζ^(2·BitRev7(i) + 1), in the form in which the table has it: times 2^16.
            let zeta = i64::from(PAIR_ZETAS[pair]);
            for (a0, a1) in edges(2 * Q).into_iter().flat_map(|a| edges(2 * Q).map(|b| (a, b))) {
                for (b0, b1) in edges(Q).into_iter().flat_map(|a| edges(Q).map(|b| (a, b))) {
                    let ours = multiply(zeta as i16, [a0, a1], [b0, b1]).map(i64::from);
                    let [a0, a1, b0, b1] = [a0, a1, b0, b1].map(i64::from);
                    assert!(ours.iter().all(|x| x.abs() <= q));
                    assert_eq!((ours[1] * 65536 - a0 * b1 - a1 * b0) % q, 0);
                    assert_eq!(((ours[0] * 65536 - a0 * b0) * 65536 - a1 * b1 * zeta) % q, 0);
                }
            }
        }
    }
}
