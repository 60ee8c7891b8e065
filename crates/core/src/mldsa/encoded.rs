//! Keys in the standard's encodings, where their bytes are.

use core::fmt;
use core::marker::PhantomData;

use super::dsa::{self, KeyFactors};
use super::encode;
use super::errors::SigningKeyError;
use super::forms::{ParameterSet, scrubbed};
use super::kernels::{Kernels, active};
use super::message::Message;
use super::params::{T0_BYTES, sealed::Parameters};
use super::ring::Poly;
use super::sample::sample_a;
use super::small;
use crate::Bytes;
use crate::secret::{StackGuard, declassify, declassify_value};
use crate::small::{Memory, Small, Stack, Workspace};

/// A private key in the standard's encoding ρ ‖ K ‖ tr ‖ s1 ‖ s2 ‖ t0, borrowed: for a device that keeps such bytes, and has no
/// room for another form.
///
/// No heap. A plain set signs with the whole key decoded on the stack, 38, 58 or 93 KiB; `Small` takes 2.5 to 3.5 KiB. Who has
/// a heap and signs often holds a [`SigningKey`](super::SigningKey).
///
/// ```
/// use gambeson::mldsa::{MlDsa44, SigningKey, SigningKeyRef};
///
/// let (mut stored, mut vk) = ([0; 2560], [0; 1312]);
/// SigningKey::<MlDsa44>::encoded_from_seed(&[7; 32], &mut stored, &mut vk);
///
/// let key = SigningKeyRef::<MlDsa44>::from_ref(&stored)?;
/// let mut signature = [0; 2420];
/// key.sign_with_rnd_into(&[0; 32], b"message", &mut signature);
/// assert_eq!(signature, SigningKey::<MlDsa44>::from_seed(&[7; 32]).sign_deterministic(b"message"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct SigningKeyRef<'a, P: ParameterSet> {
    bytes: &'a [u8],
    set: PhantomData<P>,
}

impl<'a, P: ParameterSet> SigningKeyRef<'a, P> {
    /// The key with these bytes, without a copy: 2560, 4032 or 4896.
    ///
    /// FIPS 204, Algorithm 25 (skDecode), whose check of s1 and s2 it makes. Unlike [`SigningKey::from_encoded`](super::SigningKey::from_encoded), it does not make t
    /// again to see whether t0 and tr belong to the rest, which takes the time of a key generation: a key
    /// that is not of one piece signs what its public key does not verify.
    ///
    /// # Errors
    ///
    /// [`SigningKeyError::Length`] and [`SigningKeyError::Coefficient`].
    pub fn from_ref(bytes: &'a [u8]) -> Result<Self, SigningKeyError> {
        let expected = P::SigningKeyBytes::LEN;
        if bytes.len() != expected {
            return Err(SigningKeyError::Length { expected, actual: bytes.len() });
        }
        let key = Self { bytes, set: PhantomData };
        let _guard = StackGuard::<512>;
        // public: whether the bytes are a key.
        if declassify_value(small::s_outside(key.s(), P::ETA)) == 0 {
            Ok(key)
        } else {
            Err(SigningKeyError::Coefficient)
        }
    }

    /// Signs `message` with the randomness `rnd` to `signature`, which holds secrets until this returns, so it should not lie
    /// where others read.
    ///
    /// FIPS 204, Algorithm 7 (ML-DSA.Sign_internal).
    pub fn sign_with_rnd_into<'m>(
        &self,
        rnd: &[u8; 32],
        message: impl Into<Message<'m>>,
        signature: &mut P::Signature,
    ) {
        self.sign_guarded(&message.into(), rnd, signature.as_mut());
    }

    #[inline(never)]
    fn sign_guarded(&self, message: &Message<'_>, rnd: &[u8; 32], signature: &mut [u8]) {
        let (key, own @ (_, tr)) = self.parts();
        if !P::SMALL {
            let mu = message.representative(tr);
            return scrubbed::<P, { SIGN_44 }, { SIGN_65 }, { SIGN_87 }, _>(|| {
                self.sign_decoded(&mu, rnd, signature, Stack);
            });
        }
        scrubbed::<P, { small::SIGN_ENCODED_44 }, { small::SIGN_ENCODED_65 }, { small::SIGN_ENCODED_87 }, _>(
            || {
                small::sign_encoded::<P>(&key, own, message, rnd, signature, Stack);
            },
        );
    }

    /// Signs μ with the whole key decoded in `memory`. The caller wipes it.
    #[inline(never)]
    fn sign_decoded(&self, mu: &[u8; 64], rnd: &[u8; 32], signature: &mut [u8], memory: impl Memory) {
        memory.lend(|polynomials: &mut P::Decoded, _| {
            let key = Decoded::<P>::fill(
                polynomials.as_mut(),
                active(),
                declassify(self.part(0)),
                self.s(),
                self.t0(),
            );
            dsa::sign::<P, _>(&key, self.part(32), mu, rnd, signature);
        });
    }

    /// The parts that signing reads: the polynomials, K and tr.
    #[inline(always)]
    fn parts(&self) -> (small::EncodedParts<'_>, (&[u8; 32], &[u8; 64])) {
        let key = small::EncodedParts { rho: self.part(0), s: self.s(), t0: self.t0(), eta: P::ETA };
        (key, (self.part(32), declassify(self.part(64))))
    }

    /// `N` of the bytes.
    fn part<const N: usize>(&self, start: usize) -> &[u8; N] {
        self.bytes[start..].first_chunk().expect("the length is checked")
    }

    fn s(&self) -> &[u8] {
        &self.bytes[128..P::SigningKeyBytes::LEN - P::K * T0_BYTES]
    }

    fn t0(&self) -> &[u8] {
        &self.bytes[P::SigningKeyBytes::LEN - P::K * T0_BYTES..]
    }
}

impl<P: ParameterSet> SigningKeyRef<'_, Small<P>> {
    /// [`sign_with_rnd_into`](Self::sign_with_rnd_into) in a workspace.
    ///
    /// FIPS 204, Algorithm 7 (ML-DSA.Sign_internal).
    pub fn sign_with_rnd_in<'m>(
        &self,
        rnd: &[u8; 32],
        message: impl Into<Message<'m>>,
        signature: &mut P::Signature,
        workspace: &mut Workspace<P>,
    ) {
        let (message, (key, own)) = (message.into(), self.parts());
        workspace.run::<{ small::IN_WORKSPACE }, _>(|memory| {
            small::sign_encoded::<Small<P>>(&key, own, &message, rnd, signature.as_mut(), memory);
        });
    }
}

impl<P: ParameterSet> fmt::Debug for SigningKeyRef<'_, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SigningKeyRef<{}>([redacted])", P::NAME)
    }
}

/// The stack that [`SigningKeyRef::sign_decoded`] uses, with some to spare.
const SIGN_44: usize = 37_888;
const SIGN_65: usize = 59_136;
const SIGN_87: usize = 94_208;

/// A private key, all of it decoded and transformed: the matrix column by column, ŝ1, ŝ2 and t̂0.
struct Decoded<'a, P> {
    polynomials: &'a [Poly],
    set: PhantomData<P>,
}

impl<'a, P: Parameters> Decoded<'a, P> {
    /// Decodes a key whose length and s1 and s2 are checked.
    fn fill(polynomials: &'a mut [Poly], kernels: &Kernels, rho: &[u8; 32], s: &[u8], t0: &[u8]) -> Self {
        let (matrix, vectors) = polynomials.split_at_mut(P::K * P::L);
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
        Self { polynomials, set: PhantomData }
    }

    /// Copies the polynomial of this place behind the matrix.
    fn copy(&self, place: usize, out: &mut Poly) {
        out.0 = self.polynomials[P::K * P::L + place].0;
    }
}

impl<P: Parameters> KeyFactors for Decoded<'_, P> {
    type Set = P;

    fn add_product(
        &self,
        kernels: &Kernels,
        place: (usize, usize),
        w: &mut Poly,
        y_hat: &Poly,
        _: &mut Poly,
    ) {
        (kernels.multiply_add)(w, &self.polynomials[place.1 * P::K + place.0], y_hat);
    }

    fn s_hat(&self, _: &Kernels, place: usize, out: &mut Poly) {
        self.copy(place, out);
    }

    fn t0_hat(&self, _: &Kernels, row: usize, out: &mut Poly) {
        self.copy(P::L + P::K + row, out);
    }
}
