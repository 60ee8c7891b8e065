//! Keys in their prepared form: everything ready, on the heap.
//!
//! The constructors fill the heap in place; no matrix passes over the stack.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;

use zeroize::Zeroize;

use super::dsa::{self, SigningForm, VerifyingForm};
use super::encode;
use super::errors::{InvalidSignature, SigningKeyError};
use super::forms::{ParameterSet, SigningKeyForm, VerifyingKeyForm, scrubbed};
use super::kernels::{Kernels, Short, active};
use super::keys::SigningKey;
use super::lanes::{Absorber, Beside, Hash, KEPT, MaskBatch, expand, polynomials};
use super::message::Message;
use super::params::{T0_BYTES, T1_BYTES};
use super::public::PublicKey;
use super::ring::{Places, Poly};
use super::sample::{Masks, in_ball_vartime, set_challenge_vartime};
use super::seeds::{Seeds, finish_row_of_t};
use crate::Bytes;
use crate::filled::Holds;
use crate::once::AtSecondUse;
use crate::secret::{Secret, declassify, declassify_value, difference};
use crate::sha3::{State, squeeze};

/// A verifying key, ready for verification.
pub struct VerificationTable {
    /// Â column by column, then NTT(-2^d·t1).
    polynomials: Box<[Poly]>,
    tr: [u8; 64],
}

impl VerificationTable {
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
}

impl<P: ParameterSet> VerifyingForm<P> for VerificationTable {
    fn row(&self, kernels: &Kernels, row: usize, factors: &[Poly], w: &mut Poly, _: &mut Poly) {
        // t1 is one more column of the matrix.
        (kernels.inner_product)(w, &self.polynomials[row..], P::K, factors);
    }
}

impl fmt::Debug for VerificationTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VerificationTable").finish_non_exhaustive()
    }
}

/// A verifying key prepares itself at its second use.
#[derive(Clone, Debug)]
pub struct PreparedPublic(AtSecondUse<VerificationTable>);

impl PreparedPublic {
    /// The prepared key, which is made now unless it is there.
    pub(super) fn now<P: ParameterSet>(&self, vk: PublicKey<'_>) -> &VerificationTable {
        self.0.now(|| VerificationTable::new::<P>(vk))
    }
}

impl<P: ParameterSet> VerifyingKeyForm<P> for PreparedPublic {
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
        match self.0.at_second_use(|| VerificationTable::new::<P>(vk)) {
            None => vk.verify::<P>(message, signature),
            Some(key) => dsa::verify::<P>(key, &message.representative(&key.tr), signature),
        }
    }

    fn tr(&self, vk: PublicKey<'_>) -> [u8; 64] {
        self.0.get().map_or_else(|| vk.tr(), |prepared| prepared.tr)
    }

    fn prepare(&self, vk: PublicKey<'_>) {
        self.now::<P>(vk);
    }
}

/// A parameter set whose keys are prepared on the heap: [`MlDsa44`](super::MlDsa44), [`MlDsa65`](super::MlDsa65) or
/// [`MlDsa87`](super::MlDsa87) with feature `alloc`.
pub trait PreparedSet: ParameterSet<Public = PreparedPublic, Private = PreparedPrivate<Self>> {}

/// A signing key with everything that signing needs.
pub struct PreparedPrivate<P: ParameterSet> {
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

impl<P: ParameterSet> SigningKeyForm<P> for PreparedPrivate<P> {
    fn from_seed<K: Holds<Self>>(seed: &[u8; 32]) -> K {
        K::of(Self::of_seed(seed))
    }

    fn from_seed_into<K: Holds<Self>>(seed: &[u8; 32], vk: &mut P::VerifyingKeyBytes) -> K {
        let form = Self::of_seed(seed);
        *vk = *form.public;
        K::of(form)
    }

    fn seed(&self) -> Option<&Secret<[u8; 32]>> {
        self.seed.as_deref()
    }

    fn tr(&self) -> &[u8; 64] {
        &self.tr
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

impl<P: ParameterSet> PreparedPrivate<P> {
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

    /// The key of the seed ξ: all its secrets are on the heap.
    pub(super) fn of_seed(seed: &[u8; 32]) -> Self {
        let mut key = Self::empty();
        scrubbed::<P, 10_368, 11_008, 11_648, _>(|| key.fill_from_seed(seed));
        key
    }

    #[inline(never)]
    fn fill_from_seed(&mut self, seed: &[u8; 32]) {
        let seeds = Seeds::<P>::new(seed, self.k.expose_mut());
        self.seed = Some(Box::new(Secret::new(*seed)));
        let mut s = Secret::new(polynomials(P::L + P::K));
        self.complete(&seeds.rho, Some(seeds.rho_prime.expose()), s.expose_mut());
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
        KeyRows::<P>::new(short, t0, sk, &mut pk, tr).write(rho, rho_prime, self.k.expose(), s, (a, P::K));
        *self.public = pk;
    }

    #[inline(never)]
    fn sign_mu(&self, mu: &[u8; 64], rnd: &[u8; 32], signature: &mut [u8]) {
        dsa::sign::<P, _>(self, self.k.expose(), mu, rnd, signature);
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
        let mut key = PreparedPrivate::empty();
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
    let mut k = Secret::new([0; 32]);
    let seeds = Seeds::<P>::new(seed, k.expose_mut());
    let mut t0 = [Poly::ZERO];
    let rho_prime = Some(seeds.rho_prime.expose());
    KeyRows::<P>::new(&mut [], &mut t0, sk, pk, &mut [0; 64]).write(
        &seeds.rho,
        rho_prime,
        k.expose(),
        s,
        (a, KEPT),
    );
    t0.zeroize();
}

/// A key in the making: the rows of t as the matrix comes, and tr beside it.
struct KeyRows<'a, P: ParameterSet> {
    kernels: &'a Kernels,
    /// s1 and s2, or nothing.
    short: &'a mut [Short],
    /// All of t0, or one polynomial for each in its turn.
    t0: &'a mut [Poly],
    sk: &'a mut [u8],
    pk: &'a mut P::VerifyingKeyBytes,
    /// The number of rows of t1 in `pk`.
    rows: usize,
    absorber: Absorber,
    tr: &'a mut [u8; 64],
}

impl<'a, P: ParameterSet> KeyRows<'a, P> {
    fn new(
        short: &'a mut [Short],
        t0: &'a mut [Poly],
        sk: &'a mut [u8],
        pk: &'a mut P::VerifyingKeyBytes,
        tr: &'a mut [u8; 64],
    ) -> Self {
        Self { kernels: active(), short, t0, sk, pk, rows: 0, absorber: Absorber::default(), tr }
    }

    /// Makes Â, column by column with as many rows as are `kept`, t0, the public key, tr and the encoding (FIPS 204, Algorithm 24
    /// (skEncode)) from ρ, K and s: s1 and s2, made from ρ′ if that is given. s1 is transformed.
    fn write(
        mut self,
        rho: &[u8; 32],
        rho_prime: Option<&[u8; 64]>,
        k: &[u8; 32],
        s: &mut [Poly],
        (a, kept): (&mut [Poly], usize),
    ) {
        self.sk[..32].copy_from_slice(rho);
        self.sk[32..64].copy_from_slice(k);
        self.pk.as_mut()[..32].copy_from_slice(rho);
        expand::<P>(self.kernels, rho, rho_prime, s, a, kept, &mut self);
        self.sk[64..128].copy_from_slice(self.tr);
    }
}

impl<P: ParameterSet> Beside for KeyRows<'_, P> {
    fn row(&mut self, a: &mut [Poly], stride: usize, s: &mut [Poly], row: usize) {
        let kernels = self.kernels;
        if row == 0 {
            for (s, packed) in s.iter().zip(self.sk[128..].chunks_exact_mut(P::S_BYTES)) {
                encode::pack_s::<P>(kernels, s, packed);
            }
            for (s, short) in s.iter().zip(self.short.iter_mut()) {
                short.set(s);
            }
            s[..P::L].iter_mut().for_each(kernels.ntt);
        }
        let (s1_hat, s2) = s.split_at_mut(P::L);
        let place = row.min(self.t0.len() - 1);
        let (t, t1) = (&mut self.t0[place], &mut s2[row]);
        (kernels.inner_product)(t, a, stride, s1_hat);
        finish_row_of_t(kernels, t, t1);
        let packed = &mut self.sk[128 + (P::L + P::K) * P::S_BYTES + row * T0_BYTES..][..T0_BYTES];
        encode::pack_t0(kernels, t, packed);
        let packed = &mut self.pk.as_mut()[32 + row * T1_BYTES..][..T1_BYTES];
        encode::pack_t1(kernels, t1, packed);
        // public: t1 is the public key.
        declassify(packed);
        self.rows = row + 1;
    }

    fn feed(&mut self, hash: &mut State) -> bool {
        if self.absorber.is_padded {
            squeeze(hash, self.tr);
        }
        let known = &self.pk.as_ref()[..32 + self.rows * T1_BYTES];
        self.absorber.feed(hash, &[known], self.rows == P::K)
    }
}

/// A challenge for products with what a prepared key remembers.
pub(super) struct PreparedChallenge {
    /// Of c, and of -c.
    places: [Places; 2],
    /// ĉ, made when the first product with t̂0 is.
    c_hat: Poly,
}

impl<P: ParameterSet> SigningForm for PreparedPrivate<P> {
    type Masks<'a> = MaskBatch<'a>;

    type Challenge = PreparedChallenge;
    const NO_CHALLENGE: PreparedChallenge = PreparedChallenge { places: [[0; 64]; 2], c_hat: Poly::ZERO };

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

    fn challenge(&self, _: &Kernels, c_tilde: &[u8], c: &mut PreparedChallenge) {
        let [places, negated] = &mut c.places;
        in_ball_vartime::<P>(c_tilde, places);
        *negated = places.map(|place| place ^ 256);
    }

    fn add_cs1(
        &self,
        kernels: &Kernels,
        c: &PreparedChallenge,
        column: usize,
        p: &mut Poly,
        bound: i32,
    ) -> u32 {
        (kernels.add_short_product)(p, &self.short[column], &c.places[0][..P::TAU], P::ETA, bound)
    }

    fn subtract_cs2(
        &self,
        kernels: &Kernels,
        c: &PreparedChallenge,
        row: usize,
        p: &mut Poly,
        bound: i32,
    ) -> u32 {
        (kernels.add_short_product)(p, &self.short[P::L + row], &c.places[1][..P::TAU], P::ETA, bound)
    }

    fn ct0(&self, kernels: &Kernels, c: &mut PreparedChallenge, row: usize, out: &mut Poly) {
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
}

impl<P: ParameterSet> Drop for PreparedPrivate<P> {
    fn drop(&mut self) {
        // The matrix is public.
        self.polynomials[P::K * P::L..].iter_mut().for_each(Zeroize::zeroize);
        self.short.iter_mut().for_each(Zeroize::zeroize);
    }
}

impl<P: ParameterSet> zeroize::ZeroizeOnDrop for PreparedPrivate<P> {}

impl<P: ParameterSet> fmt::Debug for PreparedPrivate<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Private<{}>([redacted])", P::NAME)
    }
}
