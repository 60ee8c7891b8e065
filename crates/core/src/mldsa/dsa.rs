//! FIPS 204, §6: key generation, signing and verification, generic over the form of the key.
//!
//! Signing and verification speak of one polynomial of the key at a time; the key decides whether it remembers
//! it or makes it again. The mask y lives in the signature's own bytes, packed as it was squeezed, until z takes its
//! place; so the stack of a signing holds the k rows of w and four polynomials more.

use core::marker::PhantomData;

use super::encode::{self, Hint};
use super::hint::{make_hint, use_hint_vartime};
use super::kernels::{Kernels, active};
use super::message::h;
use super::params::{ParameterSet, T0_BYTES, T1_BYTES, sealed::Parameters};
use super::ring::Poly;
use super::sample::{EachMask, Masks, sample_a};
use super::{InvalidSignature, sample};
use crate::Bytes;
use crate::secret::{Secret, clear, declassify, declassify_value};
use crate::sha3::Shake256;

/// What verification reads of a public key.
pub(super) trait VerifyingForm {
    /// (Â ∘ ẑ - ĉ ∘ NTT(2^d·t1))\[row\] to `w`, below 16q; ĉ is the last of the `factors`, ẑ are the others.
    fn row(&self, kernels: &Kernels, row: usize, factors: &[Poly], w: &mut Poly, scratch: &mut Poly);
}

/// What signing reads of a private key.
pub(super) trait SigningForm {
    /// How the masks are made, and the challenges.
    type Masks<'a>: Masks<'a>;

    /// The challenge c as products with it want it.
    type Challenge;
    /// A place for it.
    const NO_CHALLENGE: Self::Challenge;

    /// The next mask y, packed, to `z`, and w = NTT^-1(Â ∘ NTT(y)) to `w`: lines 11 and 12 of FIPS 204, Algorithm 7
    /// (ML-DSA.Sign_internal).
    fn commit(&self, kernels: &Kernels, masks: &mut Self::Masks<'_>, z: &mut [u8], w: &mut [Poly]);

    /// c from c̃: lines 16 and 17.
    fn challenge(&self, kernels: &Kernels, c_tilde: &[u8], c: &mut Self::Challenge);

    /// Adds c·s1\[column\] to `p`, and returns, as 1 or 0, whether all of it is below `bound`.
    fn add_cs1(&self, kernels: &Kernels, c: &Self::Challenge, column: usize, p: &mut Poly, bound: i32)
    -> u32;

    /// Takes c·s2\[row\] from `p`, and returns the same.
    fn subtract_cs2(
        &self,
        kernels: &Kernels,
        c: &Self::Challenge,
        row: usize,
        p: &mut Poly,
        bound: i32,
    ) -> u32;

    /// c·t0\[row\], mod± q.
    fn ct0(&self, kernels: &Kernels, c: &mut Self::Challenge, row: usize, out: &mut Poly);

    /// K: what keeps ρ″ secret when the randomness is not.
    fn k(&self) -> &[u8; 32];
}

/// ρ, ρ′ and K, from which everything else of a key is made; and the form of a private key that remembers
/// nothing else.
pub(super) struct Seeds<P> {
    pub(super) rho: [u8; 32],
    rho_prime: Secret<[u8; 64]>,
    k: Secret<[u8; 32]>,
    set: PhantomData<P>,
}

impl<P: Parameters> Seeds<P> {
    pub(super) fn new(seed: &[u8; 32]) -> Self {
        let mut seeds =
            Self { rho: [0; 32], rho_prime: Secret::new([0; 64]), k: Secret::new([0; 32]), set: PhantomData };
        let mut squeeze = Shake256::new().update(seed).update(&[P::K as u8, P::L as u8]).finalize_xof();
        squeeze.squeeze(&mut seeds.rho);
        squeeze.squeeze(seeds.rho_prime.expose_mut());
        squeeze.squeeze(seeds.k.expose_mut());
        // public: ρ is part of the public key.
        declassify(&seeds.rho);
        seeds
    }

    #[cfg(feature = "alloc")]
    pub(super) fn rho_prime(&self) -> &[u8; 64] {
        self.rho_prime.expose()
    }

    /// s1\[column\].
    pub(super) fn s1(&self, kernels: &Kernels, column: usize, out: &mut Poly) {
        sample::expand_s::<P>(kernels, self.rho_prime.expose(), column, out);
    }

    /// s2\[row\].
    pub(super) fn s2(&self, kernels: &Kernels, row: usize, out: &mut Poly) {
        sample::expand_s::<P>(kernels, self.rho_prime.expose(), P::L + row, out);
    }
}

impl<P: Parameters> Seeds<P> {
    fn s1_hat(&self, kernels: &Kernels, column: usize, out: &mut Poly) {
        self.s1(kernels, column, out);
        (kernels.ntt)(out);
    }

    /// t̂0\[row\], made again.
    #[inline(never)]
    fn t0_hat(&self, kernels: &Kernels, row: usize, out: &mut Poly) {
        let (mut a, mut s) = (Poly::ZERO, Poly::ZERO);
        out.0.fill(0);
        for column in 0..P::L {
            self.s1_hat(kernels, column, &mut s);
            sample_a(kernels, &self.rho, row, column, &mut a);
            (kernels.multiply_add)(out, &a, &s);
        }
        self.s2(kernels, row, &mut s);
        finish_t(kernels, out, &s, &mut a);
        (kernels.ntt)(out);
    }
}

impl<P: Parameters> SigningForm for Seeds<P> {
    type Masks<'a> = EachMask<'a>;

    type Challenge = Poly;
    const NO_CHALLENGE: Poly = Poly::ZERO;

    #[inline(never)]
    fn commit(&self, kernels: &Kernels, masks: &mut EachMask<'_>, z: &mut [u8], w: &mut [Poly]) {
        let mut a = Poly::ZERO;
        commit_by_columns::<P>(kernels, masks, z, w, |row, column, w, y_hat| {
            sample_a(kernels, &self.rho, row, column, &mut a);
            (kernels.multiply_add)(w, &a, y_hat);
        });
    }

    fn challenge(&self, kernels: &Kernels, c_tilde: &[u8], c: &mut Poly) {
        transformed_challenge::<P>(kernels, c_tilde, c);
    }

    #[inline(never)]
    fn add_cs1(&self, kernels: &Kernels, c: &Poly, column: usize, p: &mut Poly, bound: i32) -> u32 {
        let mut s = Poly::ZERO;
        self.s1_hat(kernels, column, &mut s);
        times(kernels, c, &mut s);
        p.add(&s);
        (kernels.is_below)(p, bound)
    }

    #[inline(never)]
    fn subtract_cs2(&self, kernels: &Kernels, c: &Poly, row: usize, p: &mut Poly, bound: i32) -> u32 {
        let mut s = Poly::ZERO;
        self.s2(kernels, row, &mut s);
        (kernels.ntt)(&mut s);
        times(kernels, c, &mut s);
        p.subtract(&s);
        (kernels.is_below)(p, bound)
    }

    fn ct0(&self, kernels: &Kernels, c: &mut Poly, row: usize, out: &mut Poly) {
        self.t0_hat(kernels, row, out);
        times(kernels, c, out);
    }

    fn k(&self) -> &[u8; 32] {
        self.k.expose()
    }
}

/// `SigningForm::commit`, column by column, so that each mask is transformed once, and each polynomial of the matrix is asked
/// for once; `add_product` adds that of a row and a column times ŷ.
#[inline(always)]
fn commit_by_columns<P: Parameters>(
    kernels: &Kernels,
    masks: &mut EachMask<'_>,
    z: &mut [u8],
    w: &mut [Poly],
    mut add_product: impl FnMut(usize, usize, &mut Poly, &Poly),
) {
    let mut y_hat = Poly::ZERO;
    for w in w.iter_mut() {
        clear(&mut w.0);
    }
    for (column, packed) in z.chunks_exact_mut(P::Z_BYTES).enumerate() {
        masks.next(packed);
        encode::unpack_z::<P>(kernels, packed, &mut y_hat);
        (kernels.ntt)(&mut y_hat);
        for (row, w) in w.iter_mut().enumerate() {
            add_product(row, column, w, &y_hat);
        }
    }
    for w in w {
        (kernels.inverse_ntt)(w);
    }
}

/// ĉ from c̃.
fn transformed_challenge<P: Parameters>(kernels: &Kernels, c_tilde: &[u8], c: &mut Poly) {
    sample::challenge_vartime::<P>(c_tilde, c);
    (kernels.ntt)(c);
}

/// A private key in the standard's encoding, all of it decoded and transformed on the stack, behind the matrix.
struct Decoded<'a, P: Parameters> {
    polynomials: P::Decoded,
    k: &'a [u8; 32],
}

impl<P: Parameters> Decoded<'_, P> {
    /// That polynomial, the first being the one behind the matrix.
    fn factor(&self, place: usize) -> &Poly {
        &self.polynomials.as_ref()[P::K * P::L + place]
    }
}

/// The factor becomes its product with c.
fn times(kernels: &Kernels, c: &Poly, factor: &mut Poly) {
    (kernels.multiply)(factor, c);
    (kernels.inverse_ntt)(factor);
}

impl<P: Parameters> SigningForm for Decoded<'_, P> {
    type Masks<'a> = EachMask<'a>;

    type Challenge = Poly;
    const NO_CHALLENGE: Poly = Poly::ZERO;

    #[inline(never)]
    fn commit(&self, kernels: &Kernels, masks: &mut EachMask<'_>, z: &mut [u8], w: &mut [Poly]) {
        commit_by_columns::<P>(kernels, masks, z, w, |row, column, w, y_hat| {
            (kernels.multiply_add)(w, &self.polynomials.as_ref()[column * P::K + row], y_hat);
        });
    }

    fn challenge(&self, kernels: &Kernels, c_tilde: &[u8], c: &mut Poly) {
        transformed_challenge::<P>(kernels, c_tilde, c);
    }

    #[inline(never)]
    fn add_cs1(&self, kernels: &Kernels, c: &Poly, column: usize, p: &mut Poly, bound: i32) -> u32 {
        let mut product = self.factor(column).clone();
        times(kernels, c, &mut product);
        p.add(&product);
        (kernels.is_below)(p, bound)
    }

    #[inline(never)]
    fn subtract_cs2(&self, kernels: &Kernels, c: &Poly, row: usize, p: &mut Poly, bound: i32) -> u32 {
        let mut product = self.factor(P::L + row).clone();
        times(kernels, c, &mut product);
        p.subtract(&product);
        (kernels.is_below)(p, bound)
    }

    fn ct0(&self, kernels: &Kernels, c: &mut Poly, row: usize, out: &mut Poly) {
        out.0 = self.factor(P::L + P::K + row).0;
        times(kernels, c, out);
    }

    fn k(&self) -> &[u8; 32] {
        self.k
    }
}

/// How deep [`sign_encoded`] goes, with some to spare.
pub(super) const SIGN_44: usize = 37_888;
pub(super) const SIGN_65: usize = 59_136;
pub(super) const SIGN_87: usize = 94_208;

/// Signs μ by a key in the standard's encoding, whose length and s1 and s2 are checked.
///
/// The caller wipes the stack.
#[inline(never)]
pub(super) fn sign_encoded<P: ParameterSet>(sk: &[u8], mu: &[u8; 64], rnd: &[u8; 32], signature: &mut [u8]) {
    let kernels = active();
    let (rho, rest) = sk.split_first_chunk::<32>().expect("the length is checked");
    let (k, rest) = rest.split_first_chunk().expect("the length is checked");
    let (s, t0) = rest[64..].split_at((P::L + P::K) * P::S_BYTES);
    // public: ρ belongs to the public key.
    declassify(rho);
    let mut key = Decoded::<P> { polynomials: P::DECODED, k };
    let (matrix, vectors) = key.polynomials.as_mut().split_at_mut(P::K * P::L);
    for (column, a) in matrix.chunks_exact_mut(P::K).enumerate() {
        for (row, a) in a.iter_mut().enumerate() {
            sample_a(kernels, rho, row, column, a);
        }
    }
    let (s_hat, t0_hat) = vectors.split_at_mut(P::L + P::K);
    for (packed, s) in s.chunks_exact(P::S_BYTES).zip(s_hat) {
        encode::unpack_s::<P>(kernels, packed, s);
        (kernels.ntt)(s);
    }
    for (packed, t0) in t0.as_chunks::<T0_BYTES>().0.iter().zip(t0_hat) {
        encode::unpack_t0(packed, t0);
        (kernels.ntt)(t0);
    }
    sign::<P, _>(&key, mu, rnd, signature, &mut |_| ());
}

/// The end of a row of t: `t` enters as (Â ∘ ŝ1)\[row\] and leaves as t0, `t1` takes the rest.
pub(super) fn finish_t(kernels: &Kernels, t: &mut Poly, s2: &Poly, t1: &mut Poly) {
    (kernels.inverse_ntt)(t);
    t.add(s2);
    (kernels.power2round)(t, t1);
}

/// Writes the public key of `seeds` (FIPS 204, Algorithm 22 (pkEncode)).
///
/// FIPS 204, Algorithm 6 (ML-DSA.KeyGen_internal), from line 2 to line 8; each row of t exists alone.
#[inline(never)]
pub(super) fn public_key<P: ParameterSet>(seeds: &Seeds<P>, pk: &mut [u8]) {
    let kernels = active();
    let mut s1_hat = P::COLUMNS;
    let (mut t, mut a) = (Poly::ZERO, Poly::ZERO);
    for (column, s1_hat) in s1_hat.as_mut().iter_mut().enumerate() {
        seeds.s1_hat(kernels, column, s1_hat);
    }
    let (rho, rows) = pk.split_at_mut(32);
    rho.copy_from_slice(&seeds.rho);
    for (row, t1) in rows.as_chunks_mut::<T1_BYTES>().0.iter_mut().enumerate() {
        clear(&mut t.0);
        for (column, s1_hat) in s1_hat.as_ref().iter().enumerate() {
            sample_a(kernels, &seeds.rho, row, column, &mut a);
            (kernels.multiply_add)(&mut t, &a, s1_hat);
        }
        // As `finish_t`, but t1 takes the place of s2: a polynomial less on the stack.
        let s2 = &mut a;
        seeds.s2(kernels, row, s2);
        (kernels.inverse_ntt)(&mut t);
        t.add(s2);
        (kernels.power2round)(&mut t, &mut a);
        encode::pack_t1(kernels, &a, t1);
    }
    // public: t1 is the public key.
    declassify(pk);
}

/// r becomes r0, `r1` takes the high bits (FIPS 204, Algorithm 36 (Decompose)).
fn decompose<P: Parameters>(kernels: &Kernels, r: &mut Poly, r1: &mut Poly) {
    if P::M == 44 { (kernels.decompose_44)(r, r1) } else { (kernels.decompose_16)(r, r1) }
}

/// Whether an attempt may become a signature; that, and at which check it failed, is all that is said of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Attempt {
    Accepted,
    /// ‖r0‖∞ ≥ γ2 - β.
    LowBits,
    /// ‖z‖∞ ≥ γ1 - β.
    Response,
    /// ‖c·t0‖∞ ≥ γ2.
    T0,
    /// More than ω ones in the hint.
    Hint,
}

/// Signs μ with randomness `rnd`; all of `signature` is written.
///
/// FIPS 204, Algorithm 7 (ML-DSA.Sign_internal), from line 7 on, except that the checks come in the order r0,
/// z, c·t0, hint. An attempt is rejected if any of them fails, so the signature is the same.
///
/// The bound on attempts of the standard's Appendix C is not used: κ would wrap after more than 9,000 attempts,
/// which has a chance below 2^-2000.
pub(super) fn sign<P: ParameterSet, F: SigningForm>(
    key: &F,
    mu: &[u8; 64],
    rnd: &[u8; 32],
    signature: &mut [u8],
    observe: &mut impl FnMut(Attempt),
) {
    let kernels = active();
    let mut rho_second = Secret::new([0; 64]);
    h(&[key.k(), rnd, mu], rho_second.expose_mut());
    let mut w = P::ROWS;
    let w = w.as_mut();
    let mut bits = P::HINT_BITS;
    let bits = bits.as_mut();
    let mut masks = F::Masks::new(rho_second.expose());
    loop {
        let attempt = {
            let (c_tilde, rest) = signature.split_at_mut(P::C_TILDE);
            let (z, hint) = rest.split_at_mut(P::L * P::Z_BYTES);
            key.commit(kernels, &mut masks, z, w);
            challenge::<P>(kernels, mu, &mut masks, w, bits, c_tilde);
            respond::<P, F>(kernels, key, c_tilde, w, bits, z, hint)
        };
        observe(attempt);
        if attempt == Attempt::Accepted {
            break;
        }
    }
    // public: the signature.
    declassify(signature);
}

/// c̃ = H(μ ‖ w1Encode(HighBits(w))): lines 13 to 15 of Algorithm 7. `w` becomes LowBits(w), and `bits` say where w1 is
/// not 0.
#[inline(never)]
fn challenge<'m, P: Parameters>(
    kernels: &Kernels,
    mu: &[u8; 64],
    masks: &mut impl Masks<'m>,
    w: &mut [Poly],
    bits: &mut [[u32; 8]],
    c_tilde: &mut [u8],
) {
    let high_bits = if P::M == 44 { kernels.high_bits_44 } else { kernels.high_bits_16 };
    masks.challenge::<P>(mu, |row, packed| high_bits(&mut w[row], packed, &mut bits[row]), c_tilde);
    // public: in the signature if the attempt succeeds; if not, a hash of w1, which does not show it.
    declassify(c_tilde);
}

/// z = y + c·s1 and the hint, or why the attempt is rejected: lines 16 to 32 of Algorithm 7.
///
/// `w` is w0 = LowBits(w), from which c·s2 is taken, where the standard has LowBits(w - c·s2): a coefficient of one is
/// below γ2 - β exactly if that of the other is, since ‖c·s2‖∞ ≤ β, and then they are the same, and w and w - c·s2 have
/// the same high bits. `bits` say where those are not 0.
#[inline(never)]
fn respond<P: Parameters, F: SigningForm>(
    kernels: &Kernels,
    key: &F,
    c_tilde: &[u8],
    w: &mut [Poly],
    bits: &mut [[u32; 8]],
    z: &mut [u8],
    hint: &mut [u8],
) -> Attempt {
    let (mut c, mut p) = (F::NO_CHALLENGE, Poly::ZERO);
    key.challenge(kernels, c_tilde, &mut c);

    for (row, w) in w.iter_mut().enumerate() {
        let small = key.subtract_cs2(kernels, &c, row, w, P::GAMMA2 - P::BETA);
        // public: that the attempt fails here, and in which row. That a coefficient is too large is as likely for
        // every key and row; neither which one nor its sign is told.
        if declassify_value(small) == 0 {
            return Attempt::LowBits;
        }
    }

    // Before the hint, which hardly ever fails and costs a compact key its matrix again.
    for (column, packed) in z.chunks_exact_mut(P::Z_BYTES).enumerate() {
        encode::unpack_z::<P>(kernels, packed, &mut p);
        let small = key.add_cs1(kernels, &c, column, &mut p, P::GAMMA1 - P::BETA);
        // public: that the attempt fails here, as for the low bits.
        if declassify_value(small) == 0 {
            return Attempt::Response;
        }
        encode::pack_z::<P>(kernels, &p, packed);
    }

    let mut ones = 0;
    for ((row, w), bits) in w.iter_mut().enumerate().zip(bits.iter_mut()) {
        key.ct0(kernels, &mut c, row, &mut p);
        // public: whether c·t0 is small: t0 is no secret (FIPS 204, §6.1).
        if declassify_value((kernels.is_below)(&p, P::GAMMA2)) == 0 {
            return Attempt::T0;
        }
        w.add(&p);
        ones += make_hint::<P>(kernels, w, bits);
    }
    // public: whether the hint has too many ones; it is made of public values alone once z is published, and for
    // a rejected attempt the verdict is part of the algorithm's running time.
    if declassify_value((P::OMEGA as u32).wrapping_sub(ones) >> 31) == 1 {
        return Attempt::Hint;
    }

    // public: the attempt is accepted, the hint is part of the signature.
    declassify(bits);
    encode::pack_hint_vartime::<P>(bits, hint);
    Attempt::Accepted
}

/// An attempt at signing, in its parts, for the gate that steps through machine code: with a challenge that is the same
/// for all secrets, and with w0 and y so small that it is accepted.
#[cfg(all(gambeson_ct, feature = "alloc"))]
pub fn attempt<P: super::params::PreparedSet>(
    key: &super::keys::SigningKey<P>,
    rho_second: &[u8; 64],
    small: &[i8; 256],
    c_tilde: &[u8; 64],
) -> bool {
    let (key, kernels) = (&key.form, active());
    let mut w = P::ROWS;
    let w = w.as_mut();
    let mut bits = P::HINT_BITS;
    let bits = bits.as_mut();
    let mut signature = P::Signature::zeroed();
    let (hash, rest) = signature.as_mut().split_at_mut(P::C_TILDE);
    let (z, hint) = rest.split_at_mut(P::L * P::Z_BYTES);
    let mut masks = super::lanes::MaskBatch::new(rho_second);
    // Three times: with eight lanes ML-DSA-44 makes masks beside the second hash only, and takes them in the third.
    for _ in 0..3 {
        key.commit(kernels, &mut masks, z, w);
        challenge::<P>(kernels, rho_second, &mut masks, w, bits, hash);
    }
    let mut y = Poly::ZERO;
    for (y, small) in y.0.iter_mut().zip(small) {
        *y = i32::from(*small);
    }
    for w in w.iter_mut() {
        w.0 = y.0;
    }
    for packed in z.chunks_exact_mut(P::Z_BYTES) {
        encode::pack_z::<P>(kernels, &y, packed);
    }
    respond::<P, _>(kernels, key, &c_tilde[..P::C_TILDE], w, bits, z, hint) == Attempt::Accepted
}

/// Verifies `signature` over μ.
///
/// FIPS 204, Algorithm 8 (ML-DSA.Verify_internal), from line 2 on, except that a hint or a z that fails its check
/// ends the work at once. Everything here is public.
#[inline(never)]
pub(super) fn verify<P: ParameterSet>(
    key: &impl VerifyingForm,
    mu: &[u8; 64],
    signature: &[u8],
) -> Result<(), InvalidSignature> {
    debug_assert_eq!(signature.len(), P::Signature::LEN);
    let kernels = active();
    let mut factors = P::FACTORS;
    let (c_tilde, hint) = read_factors_vartime::<P>(kernels, signature, factors.as_mut())?;
    if is_challenge::<P>(kernels, key, mu, factors.as_ref(), &hint, c_tilde) {
        Ok(())
    } else {
        Err(InvalidSignature)
    }
}

/// c̃ and the hint of a signature of the right length, ẑ and then ĉ to `factors`: lines 2, 3 and 8 of Algorithm 8.
pub(super) fn read_factors_vartime<'a, P: ParameterSet>(
    kernels: &Kernels,
    signature: &'a [u8],
    factors: &mut [Poly],
) -> Result<(&'a [u8], Hint<'a>), InvalidSignature> {
    let (c_tilde, hint) = read_vartime::<P>(kernels, signature, factors).ok_or(InvalidSignature)?;
    let c_hat = factors.last_mut().expect("one more than columns");
    sample::challenge_vartime::<P>(c_tilde, c_hat);
    (kernels.ntt)(c_hat);
    Ok((c_tilde, hint))
}

/// c̃ and the hint of a signature of the right length, and ẑ to all of `factors` but the last: lines 2 and 3 of Algorithm 8,
/// and the check of z in line 13. `None` if that or the hint is malformed.
pub(super) fn read_vartime<'a, P: ParameterSet>(
    kernels: &Kernels,
    signature: &'a [u8],
    factors: &mut [Poly],
) -> Option<(&'a [u8], Hint<'a>)> {
    let (c_tilde, rest) = signature.split_at(P::C_TILDE);
    let (z, hint) = rest.split_at(P::L * P::Z_BYTES);
    let hint = Hint::parse::<P>(hint)?;
    for (packed, z_hat) in z.chunks_exact(P::Z_BYTES).zip(factors) {
        encode::unpack_z::<P>(kernels, packed, z_hat);
        if (kernels.is_below)(z_hat, P::GAMMA1 - P::BETA) == 0 {
            return None;
        }
        (kernels.ntt)(z_hat);
    }
    Some((c_tilde, hint))
}

/// A row of w1, packed, from one of Â ∘ ẑ - ĉ ∘ NTT(2^d·t1): lines 9 to 11 of Algorithm 8. `scratch` and `w` are used up.
pub(super) fn high_bits_vartime<P: Parameters>(
    kernels: &Kernels,
    w: &mut Poly,
    scratch: &mut Poly,
    hint: &[u8],
    packed: &mut [u8],
) {
    (kernels.inverse_ntt)(w);
    decompose::<P>(kernels, w, scratch);
    use_hint_vartime::<P>(scratch, w, hint);
    (kernels.pack)(packed, scratch, 0);
}

/// Whether c̃ is H(μ ‖ w1Encode(UseHint(h, w′))): lines 9 to 13 of Algorithm 8, row by row.
#[inline(never)]
fn is_challenge<P: Parameters>(
    kernels: &Kernels,
    key: &impl VerifyingForm,
    mu: &[u8; 64],
    factors: &[Poly],
    hint: &Hint<'_>,
    c_tilde: &[u8],
) -> bool {
    let (mut w, mut scratch) = (Poly::ZERO, Poly::ZERO);
    let mut hasher = Shake256::new();
    hasher.update(mu);
    let mut packed = [0; 192];
    let packed = &mut packed[..P::W1_BYTES];
    for row in 0..P::K {
        key.row(kernels, row, factors, &mut w, &mut scratch);
        high_bits_vartime::<P>(kernels, &mut w, &mut scratch, hint.row(row), packed);
        hasher.update(packed);
    }
    // Squeezed over the row that is hashed, and not into a buffer beside it.
    let expected = &mut packed[..P::C_TILDE];
    hasher.finalize_xof().squeeze(expected);
    expected == c_tilde
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::format;
    use std::string::String;

    use super::super::message::Message;
    use super::super::{MlDsa44, MlDsa65, MlDsa87, SigningKey};
    use super::*;

    /// How often each attempt ended how, over the signatures of `count` messages by the key of `seed`.
    fn attempts<P: ParameterSet>(
        seed: &[u8; 32],
        messages: impl Iterator<Item = [u8; 32]>,
    ) -> BTreeMap<String, usize> {
        let key = Seeds::<P>::new(seed);
        let tr = SigningKey::<P>::from_seed(seed).verifying_key().public().tr();
        let mut seen = BTreeMap::new();
        for message in messages {
            let mut signature = P::Signature::zeroed();
            let mu = Message::internal(&message).representative(&tr);
            sign::<P, _>(&key, &mu, &[0; 32], signature.as_mut(), &mut |attempt| {
                *seen.entry(format!("{attempt:?}")).or_default() += 1;
            });
        }
        seen
    }

    #[test]
    fn every_check_rejects_attempts_of_every_set() {
        fn test<P: ParameterSet>(seed: u8) {
            let seen = attempts::<P>(&[seed; 32], (0..100).map(|i| [i; 32]));
            assert_eq!(seen["Accepted"], 100);
            // A third to a half of the attempts pass the check of r0, and two thirds of the rest the one of z.
            assert!((150..450).contains(&seen["LowBits"]), "{seen:?}");
            assert!((30..120).contains(&seen["Response"]), "{seen:?}");
            assert!((1..20).contains(&seen["Hint"]), "{seen:?}");
        }
        test::<MlDsa44>(3);
        test::<MlDsa65>(2);
        test::<MlDsa87>(0);
    }

    /// Keys and messages of NIST's draft-celi-acvp-ml-dsa, table 2. Only ML-DSA-44 can fail here: in the larger sets
    /// ‖c·t0‖∞ ≤ τ·2^12 < γ2.
    #[test]
    fn a_product_with_t0_that_is_too_large_rejects_the_attempt() {
        const { assert!(MlDsa65::TAU << 12 < MlDsa65::GAMMA2 as usize) };
        const { assert!(MlDsa87::TAU << 12 < MlDsa87::GAMMA2 as usize) };
        let unhex =
            |hex: &str| core::array::from_fn(|i| u8::from_str_radix(&hex[2 * i..2 * i + 2], 16).unwrap());
        let cases = [
            [
                "ca5a01e1ea6552cb5c9803462b94c2f1dc9d13bb17a6ace510d157056a2c6114",
                "8c8caca88fff52b9330510537b3701b3993f3726136a650f48f8604551550832",
            ],
            [
                "9c005f1550b4f31855c6b92f978736733f37791cb39dd182d7ba5732bdc2483e",
                "b744343f30f7fee088998ba574e799f1bf3939c06c29bf9ac10f3588a57e21e2",
            ],
        ];
        for [seed, m_prime] in cases {
            let seen = attempts::<MlDsa44>(&unhex(seed), core::iter::once(unhex(m_prime)));
            assert_eq!((seen["T0"], seen["Hint"], seen["Accepted"]), (1, 1, 1));
        }
    }
}
