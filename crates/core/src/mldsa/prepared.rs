//! Keys in their prepared form: everything ready, on the heap.
//!
//! The constructors fill the heap in place; no matrix passes over the stack.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;

use zeroize::Zeroize;

use super::compact::{PublicKey, scrubbed};
use super::dsa::{self, Seeds, SigningForm, VerifyingForm, finish_t};
use super::encode;
use super::encoded::SigningKeyError;
use super::forms::{PrivateForm, PublicForm};
use super::kernels::{Kernels, active};
use super::keys::{InvalidSignature, SigningKey, VerifyingKey};
use super::lanes::{Absorber, Beside, Hash, KEPT, MaskBatch, expand};
use super::message::Message;
use super::params::{ParameterSet, PreparedSet, T0_BYTES, T1_BYTES};
use super::ring::{Places, Poly, Short};
use super::sample::{Masks, in_ball_vartime, set_challenge_vartime};
use crate::Bytes;
use crate::once::AtSecondUse;
use crate::secret::{Secret, declassify, declassify_value, difference};
use crate::sha3::{State, squeeze};

/// Polynomials to be filled. `vec!` would copy each from one of zeros.
pub(super) fn polynomials(count: usize) -> Vec<Poly> {
    (0..count).map(|_| Poly::ZERO).collect()
}

/// What verification needs of a key, ready.
pub struct Prepared {
    /// Â column by column, then NTT(-2^d·t1).
    polynomials: Box<[Poly]>,
    tr: [u8; 64],
}

impl Prepared {
    /// Not inlined: its frame is no part of that of later operations.
    #[inline(never)]
    fn new<P: ParameterSet>(vk: PublicKey<'_>) -> Self {
        let kernels = active();
        let mut polynomials = polynomials(P::K * P::L + P::K).into_boxed_slice();
        let (a, t1) = polynomials.split_at_mut(P::K * P::L);
        let mut hash = Hash { message: vk.0, absorber: Absorber::default(), digest: [0; 64] };
        expand::<P>(kernels, vk.rho(), None, &mut [], a, P::K, &mut hash);
        for (row, t1) in t1.iter_mut().enumerate() {
            vk.minus_t1_2d_hat(kernels, row, t1);
        }
        Self { polynomials, tr: hash.digest }
    }

    pub(super) const fn tr(&self) -> &[u8; 64] {
        &self.tr
    }

    pub(super) fn product<P: ParameterSet>(
        &self,
        kernels: &Kernels,
        row: usize,
        factors: &[Poly],
        w: &mut Poly,
    ) {
        // t1 is one more column of the matrix.
        (kernels.inner_product)(w, &self.polynomials[row..], P::K, factors);
    }
}

/// A prepared key, which has this parameter set.
struct Of<'a, P>(&'a Prepared, core::marker::PhantomData<P>);

impl<P: ParameterSet> VerifyingForm for Of<'_, P> {
    fn row(&self, kernels: &Kernels, row: usize, factors: &[Poly], w: &mut Poly, _: &mut Poly) {
        self.0.product::<P>(kernels, row, factors, w);
    }
}

impl fmt::Debug for Prepared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prepared").finish_non_exhaustive()
    }
}

/// A verifying key prepares itself at its second use.
#[derive(Clone, Debug)]
pub struct Public(AtSecondUse<Prepared>);

impl Public {
    /// What is prepared, which is made now unless it is there.
    pub(super) fn now<P: ParameterSet>(&self, vk: PublicKey<'_>) -> &Prepared {
        self.0.now(|| Prepared::new::<P>(vk))
    }
}

impl<P: ParameterSet> PublicForm<P> for Public {
    const NEW: Self = Self(AtSecondUse::NEW);

    fn verify(
        &self,
        vk: PublicKey<'_>,
        message: &Message<'_>,
        signature: &[u8],
    ) -> Result<(), InvalidSignature> {
        if signature.len() != P::Signature::LEN {
            return Err(InvalidSignature);
        }
        match self.0.at_second_use(|| Prepared::new::<P>(vk)) {
            None => vk.verify::<P>(message, signature),
            Some(key) => {
                let key = Of::<P>(key, core::marker::PhantomData);
                dsa::verify::<P>(&key, &message.representative(&key.0.tr), signature)
            }
        }
    }

    fn tr(&self, vk: PublicKey<'_>) -> [u8; 64] {
        self.0.get().map_or_else(|| vk.tr(), |prepared| prepared.tr)
    }

    fn prepare(&self, vk: PublicKey<'_>) {
        self.now::<P>(vk);
    }
}

/// A signing key with everything that signing needs.
pub struct Private<P: ParameterSet> {
    /// Â column by column, then t0.
    polynomials: Box<[Poly]>,
    /// s1, s2.
    short: Box<[Short]>,
    k: Box<Secret<[u8; 32]>>,
    seed: Option<Box<Secret<[u8; 32]>>>,
    tr: Box<[u8; 64]>,
    public: Box<P::VerifyingKeyBytes>,
    /// The standard's encoding: made with the key, since an import is compared with it.
    sk: Secret<Vec<u8>>,
}

impl<P: ParameterSet> PrivateForm<P> for Private<P> {
    fn empty() -> Self {
        Self {
            polynomials: polynomials(P::K * P::L + P::K).into_boxed_slice(),
            short: vec![Short::ZERO; P::L + P::K].into_boxed_slice(),
            k: Box::new(Secret::new([0; 32])),
            seed: None,
            tr: Box::new([0; 64]),
            public: Box::new(P::VerifyingKeyBytes::zeroed()),
            sk: Secret::new(vec![0; P::SigningKeyBytes::LEN]),
        }
    }

    fn fill(&mut self, seed: &[u8; 32]) {
        scrubbed::<P, 10_368, 11_008, 11_648, _>(|| self.fill_from_seed(seed));
    }

    fn fill_into(&mut self, seed: &[u8; 32], vk: &mut P::VerifyingKeyBytes) {
        self.fill(seed);
        *vk = *self.public;
    }

    fn seed(&self) -> Option<&Secret<[u8; 32]>> {
        self.seed.as_deref()
    }

    fn tr(&self) -> &[u8; 64] {
        &self.tr
    }

    fn verifying_key(&self) -> VerifyingKey<P> {
        VerifyingKey::from_bytes(&*self.public)
    }

    fn verifying_key_into(&self, vk: &mut P::VerifyingKeyBytes) {
        *vk = *self.public;
    }

    #[inline(never)]
    fn sign(&self, message: Message<'_>, rnd: &[u8; 32], signature: &mut [u8]) {
        let mu = message.representative(&self.tr);
        scrubbed::<P, 11_008, 12_032, 13_824, _>(|| self.sign_mu(&mu, rnd, signature));
    }
}

impl<P: ParameterSet> Private<P> {
    #[inline(never)]
    fn fill_from_seed(&mut self, seed: &[u8; 32]) {
        let seeds = Seeds::<P>::new(seed);
        self.seed = Some(Box::new(Secret::new(*seed)));
        *self.k.expose_mut() = *seeds.k();
        let mut s = Secret::new(polynomials(P::L + P::K));
        self.complete(&seeds.rho, Some(seeds.rho_prime()), s.expose_mut());
    }

    /// FIPS 204, Algorithm 25 (skDecode), and the checks.
    #[inline(never)]
    fn fill_from_bytes(&mut self, bytes: &[u8]) -> Result<(), SigningKeyError> {
        let kernels = active();
        let (rho, rest) = bytes.split_first_chunk::<32>().expect("the length is checked");
        let (k, rest) = rest.split_first_chunk::<32>().expect("the length is checked");
        let packed = &rest[64..][..(P::L + P::K) * P::S_BYTES];
        // public: ρ belongs to the public key.
        declassify(rho);
        *self.k.expose_mut() = *k;

        let mut s = Secret::new(polynomials(P::L + P::K));
        let mut in_range = 1;
        for (packed, s) in packed.chunks_exact(P::S_BYTES).zip(s.expose_mut()) {
            encode::unpack_s::<P>(kernels, packed, s);
            in_range &= (kernels.is_below)(s, P::ETA + 1);
        }
        // public: whether the bytes are a key.
        if declassify_value(in_range) == 0 {
            return Err(SigningKeyError::Coefficient);
        }

        self.complete(rho, None, s.expose_mut());
        let different = difference(self.sk.expose(), bytes);
        // public: whether the bytes are a key.
        if declassify_value(different) == 0 { Ok(()) } else { Err(SigningKeyError::Mismatch) }
    }

    /// Everything that follows from ρ, K and s, which is made from ρ′ if that is given. s1 is transformed.
    fn complete(&mut self, rho: &[u8; 32], rho_prime: Option<&[u8; 64]>, s: &mut [Poly]) {
        let (a, t0) = self.polynomials.split_at_mut(P::K * P::L);
        let mut pk = P::VerifyingKeyBytes::zeroed();
        let (short, sk, tr) = (&mut self.short[..], self.sk.expose_mut(), &mut *self.tr);
        let parts = Parts { a, kept: P::K, t0, short, sk, pk: &mut pk, tr };
        write_keys::<P>(rho, rho_prime, self.k.expose(), s, parts);
        *self.public = pk;
    }

    #[inline(never)]
    fn sign_mu(&self, mu: &[u8; 64], rnd: &[u8; 32], signature: &mut [u8]) {
        dsa::sign::<P, _>(self, mu, rnd, signature, &mut |_| ());
    }
}

impl<P: PreparedSet> SigningKey<P> {
    /// Reads a private key in the standard's encoding, 2560, 4032 or 4896 bytes (FIPS 204, Algorithm 25 (skDecode)), of any
    /// origin. It has no seed, which cannot be found again from it.
    ///
    /// t is computed again, so a key whose parts do not belong together is refused.
    ///
    /// # Errors
    ///
    /// [`SigningKeyError`] if the length is wrong, if a coefficient of s1 or s2 is out of its range, or if t0 or the
    /// hash of the public key does not follow from the rest.
    pub fn from_encoded(bytes: &[u8]) -> Result<Self, SigningKeyError> {
        let expected = P::SigningKeyBytes::LEN;
        if bytes.len() != expected {
            return Err(SigningKeyError::Length { expected, actual: bytes.len() });
        }
        let mut key = Private::empty();
        scrubbed::<P, 10_368, 11_008, 11_648, _>(|| key.fill_from_bytes(bytes))?;
        Ok(Self { form: key })
    }

    /// The key in the standard's encoding (FIPS 204, Algorithm 24 (skEncode)), for libraries that know no
    /// seeds. To store a key, prefer its seed.
    #[must_use]
    pub fn to_encoded(&self) -> Secret<Vec<u8>> {
        Secret::new(self.form.sk.expose().clone())
    }
}

impl<P: ParameterSet> SigningKey<P> {
    /// Both keys of the seed ξ in the standard's encodings, at once: for keys that are stored, and used later.
    ///
    /// As [`from_seed`](Self::from_seed), [`to_encoded`](Self::to_encoded) and
    /// [`verifying_key`](Self::verifying_key), with less on the heap: 24, 31 or 43 KiB. `sk` is secret, and the caller's to
    /// wipe.
    ///
    /// ```
    /// use gambeson::mldsa::{SigningKey, MlDsa44};
    ///
    /// let (mut sk, mut vk) = ([0; 2560], [0; 1312]);
    /// SigningKey::<MlDsa44>::encoded_from_seed(&[7; 32], &mut sk, &mut vk);
    ///
    /// let key = SigningKey::<MlDsa44>::from_encoded(&sk)?;
    /// assert_eq!(key.verifying_key().as_bytes(), &vk);
    /// # Ok::<(), gambeson::mldsa::SigningKeyError>(())
    /// ```
    ///
    /// FIPS 204, Algorithm 6 (ML-DSA.KeyGen_internal).
    pub fn encoded_from_seed(seed: &[u8; 32], sk: &mut P::SigningKeyBytes, vk: &mut P::VerifyingKeyBytes) {
        let mut a = polynomials(KEPT * P::L);
        let mut s = Secret::new(polynomials(P::L + P::K));
        scrubbed::<P, 11_392, 12_032, 12_672, _>(|| {
            generate_encoded::<P>(seed, &mut a, s.expose_mut(), sk.as_mut(), vk);
        });
    }
}

#[inline(never)]
fn generate_encoded<P: ParameterSet>(
    seed: &[u8; 32],
    a: &mut [Poly],
    s: &mut [Poly],
    sk: &mut [u8],
    pk: &mut P::VerifyingKeyBytes,
) {
    let seeds = Seeds::<P>::new(seed);
    let mut t0 = [Poly::ZERO];
    let parts = Parts { a, kept: KEPT, t0: &mut t0, short: &mut [], sk, pk, tr: &mut [0; 64] };
    write_keys::<P>(&seeds.rho, Some(seeds.rho_prime()), seeds.k(), s, parts);
    t0.zeroize();
}

/// What the making of a key fills.
struct Parts<'a, P: ParameterSet> {
    /// Â, column by column: all of it, or as many rows as are kept.
    a: &'a mut [Poly],
    kept: usize,
    /// All of t0, or one polynomial for each in its turn.
    t0: &'a mut [Poly],
    /// s1 and s2, or nothing.
    short: &'a mut [Short],
    sk: &'a mut [u8],
    pk: &'a mut P::VerifyingKeyBytes,
    tr: &'a mut [u8; 64],
}

/// Makes Â, t0, the public key, tr and the encoding (FIPS 204, Algorithm 24 (skEncode)) from ρ, K and s: s1 and s2, made
/// from ρ′ if that is given. s1 is transformed.
fn write_keys<P: ParameterSet>(
    rho: &[u8; 32],
    rho_prime: Option<&[u8; 64]>,
    k: &[u8; 32],
    s: &mut [Poly],
    parts: Parts<'_, P>,
) {
    let kernels = active();
    let Parts { a, kept, t0, short, sk, pk, tr } = parts;
    let (head, rest) = sk.split_at_mut(128);
    head[..32].copy_from_slice(rho);
    head[32..64].copy_from_slice(k);
    let (sk_s, sk_t0) = rest.split_at_mut((P::L + P::K) * P::S_BYTES);
    pk.as_mut()[..32].copy_from_slice(rho);
    let absorber = Absorber::default();
    let mut rows = KeyRows::<P> { kernels, short, sk_s, t0, sk_t0, pk, rows: 0, absorber, tr };
    expand::<P>(kernels, rho, rho_prime, s, a, kept, &mut rows);
    head[64..].copy_from_slice(rows.tr);
}

/// A key in the making: the rows of t as the matrix comes, and tr beside it.
struct KeyRows<'a, P: ParameterSet> {
    kernels: &'a Kernels,
    short: &'a mut [Short],
    sk_s: &'a mut [u8],
    t0: &'a mut [Poly],
    sk_t0: &'a mut [u8],
    pk: &'a mut P::VerifyingKeyBytes,
    /// How many rows of t1 stand in `pk`.
    rows: usize,
    absorber: Absorber,
    tr: &'a mut [u8; 64],
}

impl<P: ParameterSet> Beside for KeyRows<'_, P> {
    fn row(&mut self, a: &mut [Poly], stride: usize, s: &mut [Poly], row: usize) {
        let kernels = self.kernels;
        if row == 0 {
            for (s, packed) in s.iter().zip(self.sk_s.chunks_exact_mut(P::S_BYTES)) {
                encode::pack_s::<P>(kernels, s, packed);
            }
            for (s, short) in s.iter().zip(self.short.iter_mut()) {
                short.set(s);
            }
            s[..P::L].iter_mut().for_each(kernels.ntt);
        }
        let (s1_hat, s2) = s.split_at(P::L);
        let place = row.min(self.t0.len() - 1);
        let (t, mut t1) = (&mut self.t0[place], Poly::ZERO);
        (kernels.inner_product)(t, a, stride, s1_hat);
        finish_t(kernels, t, &s2[row], &mut t1);
        encode::pack_t0(kernels, t, &mut self.sk_t0[row * T0_BYTES..][..T0_BYTES]);
        let packed = &mut self.pk.as_mut()[32 + row * T1_BYTES..][..T1_BYTES];
        encode::pack_t1(kernels, &t1, packed);
        // public: t1 is the public key.
        declassify(packed);
        self.rows = row + 1;
    }

    fn feed(&mut self, hash: &mut State) -> bool {
        if self.absorber.is_padded {
            squeeze(hash, self.tr);
        }
        let known = &self.pk.as_ref()[..32 + self.rows * T1_BYTES];
        self.absorber.feed(hash, known, self.rows == P::K)
    }
}

/// A challenge for products with what a prepared key remembers.
pub(super) struct Challenge {
    /// Of c, and of -c.
    places: [Places; 2],
    /// ĉ, made when the first product with t̂0 is.
    c_hat: Poly,
}

impl<P: ParameterSet> SigningForm for Private<P> {
    type Masks<'a> = MaskBatch<'a>;

    type Challenge = Challenge;
    const NO_CHALLENGE: Challenge = Challenge { places: [[0; 64]; 2], c_hat: Poly::ZERO };

    #[inline(never)]
    fn commit(&self, kernels: &Kernels, masks: &mut MaskBatch<'_>, z: &mut [u8], w: &mut [Poly]) {
        let mut y_hat = core::mem::take(&mut masks.y_hat);
        if y_hat.is_empty() {
            y_hat = polynomials(P::L);
        }
        for (packed, y_hat) in z.chunks_exact_mut(P::Z_BYTES).zip(&mut y_hat) {
            masks.next(packed);
            encode::unpack_z::<P>(kernels, packed, y_hat);
            (kernels.ntt)(y_hat);
        }
        for (row, w) in w.iter_mut().enumerate() {
            (kernels.inner_product)(w, &self.polynomials[row..P::K * P::L], P::K, &y_hat);
            (kernels.inverse_ntt)(w);
        }
        masks.y_hat = y_hat;
    }

    fn challenge(&self, _: &Kernels, c_tilde: &[u8], c: &mut Challenge) {
        let [places, negated] = &mut c.places;
        in_ball_vartime::<P>(c_tilde, places);
        *negated = places.map(|place| place ^ 256);
    }

    fn add_cs1(&self, kernels: &Kernels, c: &Challenge, column: usize, p: &mut Poly, bound: i32) -> u32 {
        (kernels.add_short_product)(p, &self.short[column], &c.places[0][..P::TAU], P::ETA, bound)
    }

    fn subtract_cs2(&self, kernels: &Kernels, c: &Challenge, row: usize, p: &mut Poly, bound: i32) -> u32 {
        (kernels.add_short_product)(p, &self.short[P::L + row], &c.places[1][..P::TAU], P::ETA, bound)
    }

    fn ct0(&self, kernels: &Kernels, c: &mut Challenge, row: usize, out: &mut Poly) {
        if row == 0 {
            set_challenge_vartime(&c.places[0][..P::TAU], &mut c.c_hat);
            (kernels.ntt)(&mut c.c_hat);
        }
        // Transformed now, once or twice a signature, and not when the key is made.
        out.0 = self.polynomials[P::K * P::L + row].0;
        (kernels.ntt)(out);
        (kernels.multiply)(out, &c.c_hat);
        (kernels.inverse_ntt)(out);
    }

    fn k(&self) -> &[u8; 32] {
        self.k.expose()
    }
}

impl<P: ParameterSet> Drop for Private<P> {
    fn drop(&mut self) {
        // The matrix is public.
        self.polynomials[P::K * P::L..].iter_mut().for_each(Zeroize::zeroize);
        self.short.iter_mut().for_each(Zeroize::zeroize);
    }
}

impl<P: ParameterSet> zeroize::ZeroizeOnDrop for Private<P> {}

impl<P: ParameterSet> fmt::Debug for Private<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Private<{}>([redacted])", P::NAME)
    }
}
