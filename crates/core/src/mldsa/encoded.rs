//! Keys in the standard's encodings, where their bytes are.

use core::fmt;
use core::marker::PhantomData;

use super::compact::scrubbed;
use super::dsa;
use super::message::Message;
use super::params::{ParameterSet, T0_BYTES};
use super::small;
use crate::Bytes;
use crate::secret::{StackGuard, declassify, declassify_value};
use crate::small::{Small, Stack, Workspace};

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
            return scrubbed::<P, { dsa::SIGN_44 }, { dsa::SIGN_65 }, { dsa::SIGN_87 }, _>(|| {
                dsa::sign_encoded::<P>(self.bytes, &mu, rnd, signature);
            });
        }
        scrubbed::<P, { small::SIGN_ENCODED_44 }, { small::SIGN_ENCODED_65 }, { small::SIGN_ENCODED_87 }, _>(
            || {
                small::sign_encoded::<P>(&key, own, message, rnd, signature, Stack);
            },
        );
    }

    /// What signing reads: the polynomials, K and tr.
    #[inline(always)]
    fn parts(&self) -> (small::Encoded<'_>, (&[u8; 32], &[u8; 64])) {
        let key = small::Encoded { rho: self.part(0), s: self.s(), t0: self.t0(), eta: P::ETA };
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

/// The bytes are not a private key in the standard's encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SigningKeyError {
    /// Their number is wrong.
    Length {
        /// The length of the set's keys in bytes.
        expected: usize,
        /// The length that was given.
        actual: usize,
    },
    /// A coefficient of s1 or s2 is not in -η..=η.
    Coefficient,
    /// t0 or the hash of the public key does not follow from ρ, s1 and s2.
    Mismatch,
}

impl fmt::Display for SigningKeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length { expected, actual } => {
                write!(f, "an encoded private key has {expected} bytes, not {actual}")
            }
            Self::Coefficient => f.write_str("a coefficient of s1 or s2 is out of range"),
            Self::Mismatch => f.write_str("t0 or tr does not belong to the rest of the private key"),
        }
    }
}

impl core::error::Error for SigningKeyError {}
