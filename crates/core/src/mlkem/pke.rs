//! K-PKE (FIPS 203, §5), written once for every form of key.

use core::ops::Range;

use zeroize::Zeroize;

use super::encode::{self, Sink, put, put_compressed};
use super::params::ParameterSet;
use super::ring::{Ntt, Poly};
use super::sample::Noise;
use crate::secret::Secret;

/// The noise of u and v, the same in every set (FIPS 203, Table 2).
const ETA2: usize = 2;

/// What encryption reads of a key: a form that remembers looks it up, one that does not makes it again.
pub(super) trait EncryptionKey<P: ParameterSet> {
    /// Adds Â\[i, j\] ∘ `x`.
    fn multiply_add_a(&self, sum: &mut Ntt, i: usize, j: usize, x: &Ntt);

    /// Adds what column j contributes to t̂ᵀ ∘ ŷ.
    ///
    /// That is t̂\[j\] ∘ ŷ\[j\]; but a key without t̂ has the sum of all from t̂ = Â ∘ ŝ + ê as
    /// ŝ\[j\] ∘ (Âᵀ ∘ ŷ)\[j\] + ê\[j\] ∘ ŷ\[j\], and encryption computes `row` = (Âᵀ ∘ ŷ)\[j\] · 2^-16 anyway.
    fn multiply_add_t(&self, sum: &mut Ntt, j: usize, row: &Ntt, y: &Ntt);

    /// Adds row i of Â ∘ `x`.
    #[inline(always)]
    fn multiply_add_row(&self, sum: &mut Ntt, i: usize, x: &[Ntt]) {
        for (j, x) in x.iter().enumerate() {
            self.multiply_add_a(sum, i, j, x);
        }
    }

    /// Adds row j of Âᵀ ∘ `x`.
    #[inline(always)]
    fn multiply_add_column(&self, sum: &mut Ntt, j: usize, x: &[Ntt]) {
        for (i, x) in x.iter().enumerate() {
            self.multiply_add_a(sum, i, j, x);
        }
    }

    /// Makes ŷ in its place Âᵀ ∘ ŷ, and the sum t̂ᵀ ∘ ŷ; false, and nothing done, if that is better made row by row.
    #[inline(always)]
    fn multiply_all(&self, _sum: &mut Ntt, _y: &mut [Ntt]) -> bool {
        false
    }
}

/// What decryption reads of a key.
pub(super) trait DecryptionKey {
    /// Adds ŝ\[j\] ∘ `x`.
    fn multiply_add_s(&self, sum: &mut Ntt, j: usize, x: &Ntt);
}

/// These rows of t̂ = Â ∘ ŝ + ê, encoded one after the other.
///
/// FIPS 203, Algorithm 13 (K-PKE.KeyGen), lines 12 to 15 and 17 to 19; the caller appends ρ.
pub(super) fn key_gen<P: ParameterSet>(
    key: &impl EncryptionKey<P>,
    rows: Range<usize>,
    s: &[Ntt],
    noise: &impl Noise,
    sink: &mut impl Sink,
) {
    let mut t = Secret::new(Ntt::ZERO);
    let mut e = Secret::new(Ntt::ZERO);
    for i in rows {
        key_gen_row(key, i, s, noise, [t.expose_mut(), e.expose_mut()], sink);
    }
}

/// One row, in the caller's memory.
#[inline(always)]
pub(super) fn key_gen_row<P: ParameterSet>(
    key: &impl EncryptionKey<P>,
    i: usize,
    s: &[Ntt],
    noise: &impl Noise,
    [t, e]: [&mut Ntt; 2],
    sink: &mut impl Sink,
) {
    t.clear();
    key.multiply_add_row(t, i, s);
    t.scale();
    e.transform(|e| noise.fill(e, P::ETA1, P::K + i));
    t.add(e);
    put(sink, t);
}

/// ŝ\[j\]: FIPS 203, Algorithm 13 (K-PKE.KeyGen), lines 8 to 11 and 16.
pub(super) fn secret<P: ParameterSet>(s: &mut Ntt, noise: &impl Noise, j: usize) {
    s.transform(|s| noise.fill(s, P::ETA1, j));
}

/// Encrypts `m` with the noise of its randomness r.
///
/// FIPS 203, Algorithm 14 (K-PKE.Encrypt), except that each row of u goes to the sink as soon as it is known, so that only
/// one polynomial of it exists at a time, and v is summed beside.
#[inline(never)]
pub(super) fn encrypt<P: ParameterSet>(
    key: &impl EncryptionKey<P>,
    m: &[u8; 32],
    noise: &impl Noise,
    sink: &mut impl Sink,
) {
    let mut y = Secret::new(P::vector());
    let y = y.expose_mut().as_mut();
    for (n, y) in y.iter_mut().enumerate() {
        secret::<P>(y, noise, n);
    }
    let mut v = Secret::new(Ntt::ZERO);
    let v = v.expose_mut();
    let mut u = Secret::new(Ntt::ZERO);
    let u = u.expose_mut();
    let mut e = Secret::new(Poly::ZERO);
    let e = e.expose_mut();
    let all = key.multiply_all(v, y);
    for j in 0..P::K {
        let u = if all {
            &mut y[j]
        } else {
            u.clear();
            key.multiply_add_column(u, j, y);
            key.multiply_add_t(v, j, u, &y[j]);
            &mut *u
        };
        let u = u.inverse();
        noise.fill(e, ETA2, P::K + j);
        u.add(e);
        put_compressed(sink, u, P::DU);
    }
    let v = v.inverse();
    noise.fill(e, ETA2, 2 * P::K);
    v.add(e);
    encode::decompress(e, m);
    v.add(e);
    put_compressed(sink, v, P::DV);
}

/// Decrypts `c` to `m`.
///
/// FIPS 203, Algorithm 15 (K-PKE.Decrypt), with one polynomial of u at a time.
#[inline(never)]
pub(super) fn decrypt<P: ParameterSet>(key: &impl DecryptionKey, c: &[u8], m: &mut [u8; 32]) {
    let (u_rows, v_row) = c.split_at(32 * P::DU * P::K);
    let mut product = Secret::new(Ntt::ZERO);
    let product = product.expose_mut();
    let mut u = Ntt::ZERO;
    for (j, row) in u_rows.chunks_exact(32 * P::DU).enumerate() {
        u.transform(|u| encode::decompress(u, row));
        key.multiply_add_s(product, j, &u);
    }
    let w = product.inverse();
    let v = &mut u.0;
    encode::decompress(v, v_row);
    w.subtract_from(v);
    v.zeroize();
    put_compressed(&mut encode::Writer(m), w, 1);
}
