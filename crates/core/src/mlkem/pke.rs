//! K-PKE (FIPS 203, §5), written once for every form of key; only encryption by columns has a text of its own, in `small` (decision 30).

use super::encode::{self, Sink, put, put_compressed};
use super::params::ParameterSet;
use super::ring::{Ntt, Poly};
use super::sample::{Noise, matrix_entry};
use crate::secret::Secret;
use crate::workspace::{Memory, Stack};

/// A key whose parts are made where they are used.
pub(super) trait EncryptionKey<P: ParameterSet> {
    /// ρ, of which Â is sampled.
    fn rho(&self) -> &[u8; 32];

    /// Adds Â\[i, j\] ∘ `x`.
    #[inline(never)]
    fn multiply_add_a(&self, sum: &mut Ntt, i: usize, j: usize, x: &Ntt) {
        let mut a = Ntt::ZERO;
        matrix_entry(&mut a, self.rho(), i, j);
        sum.multiply_add(&a, x);
    }

    /// Adds what column j contributes to t̂ᵀ ∘ ŷ.
    ///
    /// That is t̂\[j\] ∘ ŷ\[j\]; but a key without t̂ has the sum of all from t̂ = Â ∘ ŝ + ê as
    /// ŝ\[j\] ∘ (Âᵀ ∘ ŷ)\[j\] + ê\[j\] ∘ ŷ\[j\], and encryption computes `row` = (Âᵀ ∘ ŷ)\[j\] · 2^-16 anyway.
    fn multiply_add_t(&self, sum: &mut Ntt, j: usize, row: &Ntt, y: &Ntt);
}

/// What decryption reads of a key.
pub(super) trait DecryptionKey {
    /// Adds ŝ\[j\] ∘ `x`.
    fn multiply_add_s(&self, sum: &mut Ntt, j: usize, x: &Ntt);
}

/// One row of t̂ = Â ∘ ŝ + ê, encoded; `multiply_add` adds that row of Â ∘ ŝ.
///
/// FIPS 203, Algorithm 13 (K-PKE.KeyGen), lines 12 to 15 and 17 to 19; the caller appends ρ.
#[inline(always)]
pub(super) fn key_gen_row<P: ParameterSet>(
    i: usize,
    multiply_add: impl FnOnce(&mut Ntt),
    noise: &mut impl Noise,
    [t, e]: [&mut Ntt; 2],
    sink: &mut impl Sink,
) {
    t.clear();
    multiply_add(t);
    t.scale();
    e.transform(|e| noise.fill(e, P::ETA1, P::K + i));
    t.add(e);
    put(sink, t);
}

/// ŝ\[j\]: FIPS 203, Algorithm 13 (K-PKE.KeyGen), lines 8 to 11 and 16.
pub(super) fn secret<P: ParameterSet>(s: &mut Ntt, noise: &mut impl Noise, j: usize) {
    s.transform(|s| noise.fill(s, P::ETA1, j));
}

/// The products of an encryption with some form of key, in memory of the caller's; `N` is the noise of its randomness r.
pub(super) trait Encryption<P: ParameterSet, N> {
    /// Samples ŷ\[i\], where it is remembered.
    fn sample(&mut self, i: usize, noise: &mut N);

    /// (Âᵀ ∘ ŷ)\[j\], back in R_q. The rows are asked for in their order.
    fn row(&mut self, j: usize, noise: &mut N) -> &mut Poly;

    /// t̂ᵀ ∘ ŷ, back in R_q, after all rows.
    fn last(&mut self, noise: &mut N) -> &mut Poly;
}

/// Encrypts `m`: gives the rows of u and then v to `put`, each with its d.
///
/// FIPS 203, Algorithm 14 (K-PKE.Encrypt), except that a row of u is given away as soon as it is known, so that only one
/// polynomial of it exists at a time.
#[inline(always)]
pub(super) fn encrypt<P: ParameterSet, N: Noise>(
    products: &mut impl Encryption<P, N>,
    m: &[u8; 32],
    noise: &mut N,
    mut put: impl FnMut(&Poly, usize),
) {
    for i in 0..P::K {
        products.sample(i, noise);
    }
    for j in 0..P::K {
        let u = products.row(j, noise);
        noise.add(u, P::K + j);
        put(u, P::DU);
    }
    let v = products.last(noise);
    noise.add(v, 2 * P::K);
    N::add_message(v, m);
    put(v, P::DV);
}

/// [`encrypt`] with a key whose parts are made where they are used.
#[inline(never)]
pub(super) fn encrypt_making<P: ParameterSet>(
    key: &impl EncryptionKey<P>,
    m: &[u8; 32],
    noise: &mut impl Noise,
    sink: &mut impl Sink,
) {
    Stack.lend(|(y, u, v): &mut (Secret<P::Vector>, Secret<Ntt>, Secret<Ntt>), _| {
        let (y, u, v) = (y.expose_mut().as_mut(), u.expose_mut(), v.expose_mut());
        encrypt::<P, _>(&mut Making { key, y, u, v }, m, noise, |f, d| put_compressed(sink, f, d));
    });
}

/// ŷ is remembered, and v summed beside the rows.
struct Making<'a, K> {
    key: &'a K,
    y: &'a mut [Ntt],
    u: &'a mut Ntt,
    v: &'a mut Ntt,
}

impl<P: ParameterSet, N: Noise, K: EncryptionKey<P>> Encryption<P, N> for Making<'_, K> {
    fn sample(&mut self, i: usize, noise: &mut N) {
        secret::<P>(&mut self.y[i], noise, i);
    }

    fn row(&mut self, j: usize, _: &mut N) -> &mut Poly {
        self.u.clear();
        for (i, y) in self.y.iter().enumerate() {
            self.key.multiply_add_a(self.u, i, j, y);
        }
        self.key.multiply_add_t(self.v, j, self.u, &self.y[j]);
        self.u.inverse()
    }

    fn last(&mut self, _: &mut N) -> &mut Poly {
        self.v.inverse()
    }
}

/// A prepared key, Â by rows, then t̂, with memory for ŷ and for a row.
#[cfg(feature = "alloc")]
pub(super) struct Prepared<'a> {
    elements: &'a [Ntt],
    y: &'a mut [Ntt],
    u: &'a mut Ntt,
    /// Whether ŷ has become Âᵀ ∘ ŷ, and `u` t̂ᵀ ∘ ŷ.
    all: bool,
}

#[cfg(feature = "alloc")]
impl<'a> Prepared<'a> {
    #[inline(always)]
    pub(super) const fn new(elements: &'a [Ntt], y: &'a mut [Ntt], u: &'a mut Ntt) -> Self {
        Self { elements, y, u, all: false }
    }
}

#[cfg(feature = "alloc")]
impl<P: ParameterSet, N: Noise> Encryption<P, N> for Prepared<'_> {
    #[inline(always)]
    fn sample(&mut self, i: usize, noise: &mut N) {
        self.y[i].transform_factor(|y| noise.fill(y, P::ETA1, i));
    }

    #[inline(always)]
    fn row(&mut self, j: usize, _: &mut N) -> &mut Poly {
        if j == 0 {
            self.all = self.u.encryption_products(self.y, self.elements);
        }
        if self.all {
            return self.y[j].inverse();
        }
        self.u.product_in_r_q(&self.elements[j..P::K * P::K], P::K, self.y)
    }

    #[inline(always)]
    fn last(&mut self, _: &mut N) -> &mut Poly {
        if self.all {
            return self.u.inverse();
        }
        self.u.product_in_r_q(&self.elements[P::K * P::K..], 1, self.y)
    }
}

/// Decrypts `c` to `m`: `multiply_add` adds ŝ\[j\] ∘ NTT(u\[j\]) to a sum in `work`, from the bytes of u\[j\]; `finish` makes the
/// message of the sum and v, from d and the bytes of v.
///
/// FIPS 203, Algorithm 15 (K-PKE.Decrypt), with one polynomial of u at a time.
#[inline(always)]
pub(super) fn decrypt<P: ParameterSet, W>(
    mut work: W,
    c: &[u8],
    m: &mut [u8; 32],
    mut multiply_add: impl FnMut(&mut W, usize, &[u8]),
    finish: impl FnOnce(&mut W, usize, &[u8], &mut [u8; 32]),
) {
    let (c_u, c_v) = c.split_at(32 * P::DU * P::K);
    for (j, row) in c_u.chunks_exact(32 * P::DU).enumerate() {
        multiply_add(&mut work, j, row);
    }
    finish(&mut work, P::DV, c_v, m);
}

/// [`decrypt`] with the kernels in force.
#[inline(never)]
pub(super) fn decrypt_with<P: ParameterSet>(key: &impl DecryptionKey, c: &[u8], m: &mut [u8; 32]) {
    let mut sum = Secret::new(Ntt::ZERO);
    let mut u = Ntt::ZERO;
    let multiply_add = |[sum, u]: &mut [&mut Ntt; 2], j: usize, row: &[u8]| {
        u.transform(|u| encode::decompress(u, row));
        key.multiply_add_s(sum, j, u);
    };
    decrypt::<P, _>([sum.expose_mut(), &mut u], c, m, multiply_add, |[sum, v], _, c_v, m| {
        let w = sum.inverse();
        encode::decompress(&mut v.0, c_v);
        w.subtract_from(&v.0);
        put_compressed(&mut encode::Writer(m), w, 1);
    });
}
