//! The keys of ML-DSA, in the form that the parameter set selects.

use core::fmt;

use rand_core::TryCryptoRng;

use super::errors::{InvalidSignature, VerifyingKeyError};
use super::forms::{ParameterSet, SigningKeyForm, VerifyingKeyForm};
use super::message::{Message, MuHasher};
use super::public::PublicKey;
use crate::Bytes;
use crate::filled::Holds;
use crate::prehash::ContextTooLong;
use crate::rng::draw;
use crate::secret::Secret;

mod in_workspace;

/// A verifying key (the standard's public key): 1312, 1952 or 2592 bytes.
///
/// Every string of the right length is one (FIPS 204, Algorithm 23 (pkDecode)). With feature `alloc`, the first verification works
/// from the bytes; the second keeps the matrix and t1, transformed, on the heap, for all that follow: 22, 38 or 67 KiB. Clones
/// that are made afterwards share them. [`prepare`](Self::prepare) makes them now. A key that is used once, and has its bytes
/// elsewhere, is a [`VerifyingKeyRef`]; one that never keeps anything is a key of [`Compact`](crate::Compact)`<P>`.
///
/// ```
/// use gambeson::mldsa::{MlDsa87, SigningKey, VerifyingKey};
///
/// let key = SigningKey::<MlDsa87>::from_seed(&[7; 32]);
/// let received = key.verifying_key().as_bytes().to_vec();
///
/// let public = VerifyingKey::<MlDsa87>::try_from(received.as_slice())?;
/// public.verify(b"message", &key.sign_deterministic(b"message"))?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct VerifyingKey<P: ParameterSet> {
    bytes: P::VerifyingKeyBytes,
    pub(super) form: P::Public,
}

impl<P: ParameterSet> VerifyingKey<P> {
    /// Copies the bytes.
    #[must_use]
    pub fn from_bytes(bytes: &P::VerifyingKeyBytes) -> Self {
        Self { bytes: *bytes, form: P::Public::NEW }
    }

    /// The encoding of FIPS 204, Algorithm 22 (pkEncode): ρ and t1.
    #[must_use]
    pub const fn as_bytes(&self) -> &P::VerifyingKeyBytes {
        &self.bytes
    }

    /// Makes now, and on the heap, what later verifications need; without feature `alloc`, and in the compact forms, nothing.
    pub fn prepare(&self) {
        self.form.prepare(self.public());
    }

    /// Verifies `signature` over `message`.
    ///
    /// FIPS 204, Algorithm 3 (ML-DSA.Verify), and Algorithm 5 (HashML-DSA.Verify) for a digest. No input makes it panic.
    ///
    /// # Errors
    ///
    /// [`InvalidSignature`] for a signature of a wrong length, one that is malformed, and one that is not of
    /// this message by this key.
    pub fn verify<'m>(
        &self,
        message: impl Into<Message<'m>>,
        signature: &[u8],
    ) -> Result<(), InvalidSignature> {
        self.form.verify(self.public(), &message.into(), signature)
    }

    /// Starts μ of a message of any size, for [`Message::mu`].
    ///
    /// # Errors
    ///
    /// [`ContextTooLong`] if the context has more than 255 bytes.
    pub fn mu_hasher(&self, context: &[u8]) -> Result<MuHasher, ContextTooLong> {
        MuHasher::new(&self.form.tr(self.public()), context)
    }

    pub(super) fn public(&self) -> PublicKey<'_> {
        PublicKey(self.bytes.as_ref())
    }
}

impl<P: ParameterSet> PartialEq for VerifyingKey<P> {
    fn eq(&self, other: &Self) -> bool {
        self.bytes == other.bytes
    }
}

impl<P: ParameterSet> Eq for VerifyingKey<P> {}

impl<P: ParameterSet> fmt::Debug for VerifyingKey<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "VerifyingKey<{}>({:02x?}..)", P::NAME, &self.bytes.as_ref()[..8])
    }
}

impl<P: ParameterSet> AsRef<[u8]> for VerifyingKey<P> {
    fn as_ref(&self) -> &[u8] {
        self.bytes.as_ref()
    }
}

impl<P: ParameterSet> TryFrom<&[u8]> for VerifyingKey<P> {
    type Error = VerifyingKeyError;

    fn try_from(bytes: &[u8]) -> Result<Self, VerifyingKeyError> {
        let (expected, actual) = (P::VerifyingKeyBytes::LEN, bytes.len());
        let bytes = bytes.try_into().map_err(|_| VerifyingKeyError::Length { expected, actual })?;
        Ok(Self::from_bytes(&bytes))
    }
}

/// A verifying key whose bytes are somewhere else, for one verification: nothing is kept.
///
/// ```
/// use gambeson::Small;
/// use gambeson::mldsa::{MlDsa87, SigningKey, VerifyingKeyRef};
///
/// let mut vk = [0; 2592];
/// let key = SigningKey::<Small<MlDsa87>>::from_seed_into(&[7; 32], &mut vk);
///
/// let public = VerifyingKeyRef::<Small<MlDsa87>>::from_ref(&vk);
/// public.verify(b"message", &key.sign_deterministic(b"message"))?;
/// # Ok::<(), gambeson::mldsa::InvalidSignature>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct VerifyingKeyRef<'a, P: ParameterSet> {
    bytes: &'a P::VerifyingKeyBytes,
}

impl<'a, P: ParameterSet> VerifyingKeyRef<'a, P> {
    /// The key with these bytes; any are one.
    #[must_use]
    pub const fn from_ref(bytes: &'a P::VerifyingKeyBytes) -> Self {
        Self { bytes }
    }

    /// The encoding of FIPS 204, Algorithm 22 (pkEncode): ρ and t1.
    #[must_use]
    pub const fn as_bytes(&self) -> &'a P::VerifyingKeyBytes {
        self.bytes
    }

    /// Verifies `signature` over `message`, as [`VerifyingKey::verify`].
    ///
    /// # Errors
    ///
    /// [`InvalidSignature`] for a signature of a wrong length, one that is malformed, and one that is not of
    /// this message by this key.
    pub fn verify<'m>(
        &self,
        message: impl Into<Message<'m>>,
        signature: &[u8],
    ) -> Result<(), InvalidSignature> {
        PublicKey(self.bytes.as_ref()).verify::<P>(&message.into(), signature)
    }

    /// Starts μ of a message of any size, for [`Message::mu`].
    ///
    /// # Errors
    ///
    /// [`ContextTooLong`] if the context has more than 255 bytes.
    pub fn mu_hasher(&self, context: &[u8]) -> Result<MuHasher, ContextTooLong> {
        MuHasher::new(&PublicKey(self.bytes.as_ref()).tr(), context)
    }
}

impl<P: ParameterSet> fmt::Debug for VerifyingKeyRef<'_, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "VerifyingKeyRef<{}>({:02x?}..)", P::NAME, &self.bytes.as_ref()[..8])
    }
}

impl<'a, P: ParameterSet> TryFrom<&'a [u8]> for VerifyingKeyRef<'a, P> {
    type Error = VerifyingKeyError;

    fn try_from(bytes: &'a [u8]) -> Result<Self, VerifyingKeyError> {
        let (expected, actual) = (P::VerifyingKeyBytes::LEN, bytes.len());
        let bytes = P::VerifyingKeyBytes::from_ref(bytes);
        bytes.map(Self::from_ref).ok_or(VerifyingKeyError::Length { expected, actual })
    }
}

/// A signing key (the standard's private key), wiped when dropped.
///
/// With feature `alloc` it is prepared when it is made: the matrix, s1, s2 and t0 stand on the heap, 30, 50 or 83 KiB, for all
/// signatures. Where many keys rest, one of [`Compact`](crate::Compact)`<P>` has 96 bytes, and makes the rest again each time;
/// without `alloc` every key does.
///
/// ```
/// use gambeson::Compact;
/// use gambeson::mldsa::{MlDsa65, SigningKey};
///
/// let key = SigningKey::<MlDsa65>::generate()?;
/// let signature = key.sign(b"message")?;
/// key.verifying_key().verify(b"message", &signature)?;
///
/// // The seed is what to store: 32 bytes for every parameter set.
/// let seed: [u8; 32] = *key.seed().expect("it was generated here").expose();
/// let resting = SigningKey::<Compact<MlDsa65>>::from_seed(&seed);
/// assert_eq!(resting.verifying_key().as_bytes(), key.verifying_key().as_bytes());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct SigningKey<P: ParameterSet> {
    pub(super) form: P::Private,
}

impl<P: ParameterSet> Holds<P::Private> for SigningKey<P> {
    fn of(form: P::Private) -> Self {
        Self { form }
    }

    fn form(&mut self) -> &mut P::Private {
        &mut self.form
    }
}

impl<P: ParameterSet> SigningKey<P> {
    /// Makes a key from the operating system's randomness (FIPS 204, Algorithm 1 (ML-DSA.KeyGen)).
    ///
    /// # Errors
    ///
    /// [`RngError`](crate::RngError) if the operating system gives none.
    #[cfg(feature = "getrandom")]
    pub fn generate() -> Result<Self, crate::RngError> {
        Ok(Self::from_seed(crate::rng::system()?.expose()))
    }

    /// Makes a key from `rng`.
    ///
    /// # Errors
    ///
    /// What `rng` reports; then no key is made.
    pub fn generate_with<R: TryCryptoRng + ?Sized>(rng: &mut R) -> Result<Self, R::Error> {
        Ok(Self::from_seed(draw(rng)?.expose()))
    }

    /// The key of the seed ξ (FIPS 204, Algorithm 6 (ML-DSA.KeyGen_internal)).
    #[must_use]
    #[inline]
    pub fn from_seed(seed: &[u8; 32]) -> Self {
        P::Private::from_seed(seed)
    }

    /// The key of the seed ξ, and its public key to `vk`: both in the time of one.
    ///
    /// With [`Small`](crate::Small) `vk` is worked in: until this returns it holds secrets, so it should not lie where others
    /// read.
    ///
    /// ```
    /// use gambeson::Small;
    /// use gambeson::mldsa::{MlDsa65, SigningKey};
    ///
    /// let mut vk = [0; 1952];
    /// let key = SigningKey::<Small<MlDsa65>>::from_seed_into(&[7; 32], &mut vk);
    /// assert_eq!(key.verifying_key().as_bytes(), &vk);
    /// ```
    ///
    /// FIPS 204, Algorithm 6 (ML-DSA.KeyGen_internal).
    #[must_use]
    #[inline]
    pub fn from_seed_into(seed: &[u8; 32], vk: &mut P::VerifyingKeyBytes) -> Self {
        P::Private::from_seed_into(seed, vk)
    }

    /// The seed ξ: all that has to be stored. A key that was imported without it has none.
    #[must_use]
    pub fn seed(&self) -> Option<&Secret<[u8; 32]>> {
        self.form.seed()
    }

    /// The verifying key; in the compact forms it is made again.
    #[must_use]
    pub fn verifying_key(&self) -> VerifyingKey<P> {
        let mut bytes = P::VerifyingKeyBytes::zeroed();
        self.form.verifying_key_into(&mut bytes);
        VerifyingKey::from_bytes(&bytes)
    }

    /// The bytes of the verifying key, under the conditions of [`from_seed_into`](Self::from_seed_into).
    pub fn verifying_key_into(&self, vk: &mut P::VerifyingKeyBytes) {
        self.form.verifying_key_into(vk);
    }

    /// Signs `message`, hedged: with the operating system's randomness, and safe should that be bad
    /// (FIPS 204, Algorithm 2 (ML-DSA.Sign)).
    ///
    /// # Errors
    ///
    /// [`RngError`](crate::RngError) if the operating system gives none; then nothing is signed.
    #[cfg(feature = "getrandom")]
    pub fn sign<'m>(&self, message: impl Into<Message<'m>>) -> Result<P::Signature, crate::RngError> {
        Ok(self.sign_with_rnd(crate::rng::system()?.expose(), message))
    }

    /// Signs `message`, hedged, with randomness from `rng`.
    ///
    /// # Errors
    ///
    /// What `rng` reports; then nothing is signed.
    pub fn sign_with<'m, R: TryCryptoRng + ?Sized>(
        &self,
        rng: &mut R,
        message: impl Into<Message<'m>>,
    ) -> Result<P::Signature, R::Error> {
        Ok(self.sign_with_rnd(draw(rng)?.expose(), message))
    }

    /// Signs `message` without randomness: the same message gives the same signature. Where an attacker can make
    /// a device fail in the middle of a signature, prefer [`SigningKey::sign_with`].
    #[must_use]
    pub fn sign_deterministic<'m>(&self, message: impl Into<Message<'m>>) -> P::Signature {
        self.sign_with_rnd(&[0; 32], message)
    }

    /// Signs `message` with the randomness `rnd` (FIPS 204, Algorithm 7 (ML-DSA.Sign_internal)).
    #[must_use]
    pub fn sign_with_rnd<'m>(&self, rnd: &[u8; 32], message: impl Into<Message<'m>>) -> P::Signature {
        let mut signature = P::Signature::zeroed();
        self.form.sign(message.into(), rnd, signature.as_mut());
        signature
    }

    /// Signs with the randomness `rnd`, into the caller's `signature`.
    ///
    /// It holds secrets until this returns, so it should not lie where others read.
    pub fn sign_with_rnd_into<'m>(
        &self,
        rnd: &[u8; 32],
        message: impl Into<Message<'m>>,
        signature: &mut P::Signature,
    ) {
        self.form.sign(message.into(), rnd, signature.as_mut());
    }

    /// Starts μ of a message of any size, for [`Message::mu`].
    ///
    /// # Errors
    ///
    /// [`ContextTooLong`] if the context has more than 255 bytes.
    pub fn mu_hasher(&self, context: &[u8]) -> Result<MuHasher, ContextTooLong> {
        MuHasher::new(self.form.tr(), context)
    }
}

impl<P: ParameterSet> fmt::Debug for SigningKey<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SigningKey<{}>([redacted])", P::NAME)
    }
}
