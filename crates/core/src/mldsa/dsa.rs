//! FIPS 204, §6: key generation, signing and verification, generic over the form of the key.
//!
//! Signing and verification speak of one polynomial of the key at a time; the key decides whether it remembers
//! it or makes it again. The mask y lives in the signature's own bytes, packed as it was squeezed, until z takes its
//! place; so the stack of a signing holds the k rows of w and four polynomials more.

use super::encode::{self, Hint};
use super::errors::InvalidSignature;
use super::forms::ParameterSet;
use super::hint::{make_hint, use_hint_vartime};
use super::kernels::{Kernels, active};
use super::message::h;
use super::params::sealed::Parameters;
use super::ring::Poly;
use super::sample::{self, EachMask, Masks};
use crate::Bytes;
use crate::secret::{Secret, clear, declassify, declassify_value};
use crate::sha3::Shake256;
use crate::small::Zero;

/// What verification reads of a public key.
pub(super) trait VerifyingForm<P> {
    /// (Â ∘ ẑ - ĉ ∘ NTT(2^d·t1))\[row\] to `w`, below 16q; ĉ is the last of the `factors`, ẑ are the others.
    fn row(&self, kernels: &Kernels, row: usize, factors: &[Poly], w: &mut Poly, scratch: &mut Poly);
}

/// The parts of a private key that signing reads.
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
}

/// The polynomials of a private key that multiplications read, each made or found when it is asked for.
pub(super) trait KeyFactors {
    /// The parameter set of the key.
    type Set: Parameters;

    /// Adds Â\[row, column\] ∘ `y_hat` to `w`; `scratch` is used up.
    fn add_product(
        &self,
        kernels: &Kernels,
        place: (usize, usize),
        w: &mut Poly,
        y_hat: &Poly,
        scratch: &mut Poly,
    );

    /// The polynomial of ŝ1 ‖ ŝ2 of this place.
    fn s_hat(&self, kernels: &Kernels, place: usize, out: &mut Poly);

    /// t̂0\[row\].
    fn t0_hat(&self, kernels: &Kernels, row: usize, out: &mut Poly);
}

/// c·s, s being the polynomial of s1 ‖ s2 of this place.
fn product_with_s(key: &impl KeyFactors, kernels: &Kernels, c: &Poly, place: usize, out: &mut Poly) {
    key.s_hat(kernels, place, out);
    (kernels.multiply)(out, c);
    (kernels.inverse_ntt)(out);
}

impl<F: KeyFactors> SigningForm for F {
    type Masks<'a> = EachMask<'a>;

    type Challenge = Poly;
    const NO_CHALLENGE: Poly = Poly::ZERO;

    /// Column by column, so that each mask is transformed once, and each polynomial of the matrix is asked for once.
    #[inline(never)]
    fn commit(&self, kernels: &Kernels, masks: &mut EachMask<'_>, z: &mut [u8], w: &mut [Poly]) {
        let (mut y_hat, mut scratch) = (Poly::ZERO, Poly::ZERO);
        for w in w.iter_mut() {
            clear(&mut w.0);
        }
        for (column, packed) in z.chunks_exact_mut(F::Set::Z_BYTES).enumerate() {
            masks.next(packed);
            encode::unpack_z::<F::Set>(kernels, packed, &mut y_hat);
            (kernels.ntt)(&mut y_hat);
            for (row, w) in w.iter_mut().enumerate() {
                self.add_product(kernels, (row, column), w, &y_hat, &mut scratch);
            }
        }
        for w in w {
            (kernels.inverse_ntt)(w);
        }
    }

    fn challenge(&self, kernels: &Kernels, c_tilde: &[u8], c: &mut Poly) {
        sample::challenge_vartime::<F::Set>(c_tilde, c);
        (kernels.ntt)(c);
    }

    #[inline(never)]
    fn add_cs1(&self, kernels: &Kernels, c: &Poly, column: usize, p: &mut Poly, bound: i32) -> u32 {
        let mut product = Poly::ZERO;
        product_with_s(self, kernels, c, column, &mut product);
        p.add(&product);
        (kernels.is_below)(p, bound)
    }

    #[inline(never)]
    fn subtract_cs2(&self, kernels: &Kernels, c: &Poly, row: usize, p: &mut Poly, bound: i32) -> u32 {
        let mut product = Poly::ZERO;
        product_with_s(self, kernels, c, F::Set::L + row, &mut product);
        p.subtract(&product);
        (kernels.is_below)(p, bound)
    }

    fn ct0(&self, kernels: &Kernels, c: &mut Poly, row: usize, out: &mut Poly) {
        self.t0_hat(kernels, row, out);
        (kernels.multiply)(out, c);
        (kernels.inverse_ntt)(out);
    }
}

/// r becomes r0, `r1` takes the high bits (FIPS 204, Algorithm 36 (Decompose)).
fn decompose<P: Parameters>(kernels: &Kernels, r: &mut Poly, r1: &mut Poly) {
    if P::M == 44 { (kernels.decompose_44)(r, r1) } else { (kernels.decompose_16)(r, r1) }
}

/// Signs μ with K, which keeps ρ″ secret when the randomness `rnd` is not; all of `signature` is written.
///
/// FIPS 204, Algorithm 7 (ML-DSA.Sign_internal), from line 7 on, except that the checks come in the order r0,
/// z, c·t0, hint. An attempt is rejected if any of them fails, so the signature is the same.
///
/// The bound on attempts of the standard's Appendix C is not used: κ would wrap after more than 9,000 attempts,
/// which has a chance below 2^-2000.
pub(super) fn sign<P: ParameterSet, F: SigningForm>(
    key: &F,
    k: &[u8; 32],
    mu: &[u8; 64],
    rnd: &[u8; 32],
    signature: &mut [u8],
) {
    let kernels = active();
    let mut rho_second = Secret::new([0; 64]);
    h(&[k, rnd, mu], rho_second.expose_mut());
    let mut w = P::Rows::ZERO;
    let w = w.as_mut();
    let mut bits = P::HintBits::ZERO;
    let bits = bits.as_mut();
    let mut masks = F::Masks::new(rho_second.expose());
    let (c_tilde, rest) = signature.split_at_mut(P::C_TILDE);
    let (z, hint) = rest.split_at_mut(P::L * P::Z_BYTES);
    loop {
        key.commit(kernels, &mut masks, z, w);
        challenge::<P>(kernels, mu, &mut masks, w, bits, c_tilde);
        if respond::<P, F>(kernels, key, c_tilde, w, bits, z, hint) {
            break;
        }
    }
    // public: the signature.
    declassify(signature);
}

/// c̃ = H(μ ‖ w1Encode(HighBits(w))): lines 13 to 15 of Algorithm 7. `w` becomes LowBits(w), and `bits` say where w1 is
/// not 0.
#[inline(never)]
pub(super) fn challenge<'m, P: Parameters>(
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

/// z = y + c·s1 and the hint, or `false` if the attempt is rejected; that, and at which check, is all that is said of it: lines 16 to 32 of Algorithm 7.
///
/// `w` is w0 = LowBits(w), from which c·s2 is taken, where the standard has LowBits(w - c·s2): a coefficient of one is
/// below γ2 - β exactly if that of the other is, since ‖c·s2‖∞ ≤ β, and then they are the same, and w and w - c·s2 have
/// the same high bits. `bits` say where those are not 0.
#[inline(never)]
pub(super) fn respond<P: Parameters, F: SigningForm>(
    kernels: &Kernels,
    key: &F,
    c_tilde: &[u8],
    w: &mut [Poly],
    bits: &mut [[u32; 8]],
    z: &mut [u8],
    hint: &mut [u8],
) -> bool {
    let (mut c, mut p) = (F::NO_CHALLENGE, Poly::ZERO);
    key.challenge(kernels, c_tilde, &mut c);

    for (row, w) in w.iter_mut().enumerate() {
        let small = key.subtract_cs2(kernels, &c, row, w, P::GAMMA2 - P::BETA);
        // public: that the attempt fails here, and in which row. That a coefficient is too large is as likely for
        // every key and row; neither which one nor its sign is told.
        if declassify_value(small) == 0 {
            return false;
        }
    }

    // Before the hint, which hardly ever fails and costs a compact key its matrix again.
    for (column, packed) in z.chunks_exact_mut(P::Z_BYTES).enumerate() {
        encode::unpack_z::<P>(kernels, packed, &mut p);
        let small = key.add_cs1(kernels, &c, column, &mut p, P::GAMMA1 - P::BETA);
        // public: that the attempt fails here, as for the low bits.
        if declassify_value(small) == 0 {
            return false;
        }
        encode::pack_z::<P>(kernels, &p, packed);
    }

    let mut ones = 0;
    for ((row, w), bits) in w.iter_mut().enumerate().zip(bits.iter_mut()) {
        key.ct0(kernels, &mut c, row, &mut p);
        // public: whether c·t0 is small: t0 is no secret (FIPS 204, §6.1).
        if declassify_value((kernels.is_below)(&p, P::GAMMA2)) == 0 {
            return false;
        }
        w.add(&p);
        ones += make_hint::<P>(kernels, w, bits);
    }
    // public: whether the hint has too many ones; it is made of public values alone once z is published, and for
    // a rejected attempt the verdict is part of the algorithm's running time.
    if declassify_value((P::OMEGA as u32).wrapping_sub(ones) >> 31) == 1 {
        return false;
    }

    // public: the attempt is accepted, the hint is part of the signature.
    declassify(bits);
    encode::pack_hint_vartime::<P>(bits, hint);
    true
}

/// Verifies `signature` over μ.
///
/// FIPS 204, Algorithm 8 (ML-DSA.Verify_internal), from line 2 on, except that a hint or a z that fails its check
/// ends the work at once. Everything here is public.
#[inline(never)]
pub(super) fn verify<P: ParameterSet>(
    key: &impl VerifyingForm<P>,
    mu: &[u8; 64],
    signature: &[u8],
) -> Result<(), InvalidSignature> {
    debug_assert_eq!(signature.len(), P::Signature::LEN);
    let kernels = active();
    let mut factors = P::Factors::ZERO;
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
    key: &impl VerifyingForm<P>,
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
