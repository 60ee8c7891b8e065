//! The keys of ML-KEM, in the form that the parameter set selects.

use core::fmt;

use rand_core::TryCryptoRng;

use super::encode;
use super::forms::{PrivateForm, PublicForm};
use super::params::ParameterSet;
use super::{EncapsulationKeyError, InvalidEncapsulationKey, SharedSecret};
use crate::Bytes;
use crate::filled::Holds;
use crate::rng;
use crate::secret::Secret;

mod in_workspace;

/// An encapsulation key.
///
/// Its coefficients are below q: FIPS 203, §7.2, is checked at import. With feature `alloc`, the first encapsulation works from the
/// bytes, on the stack alone; the second keeps the matrix and the hash of the key on the heap, for all that follow:
/// 512·(k² + k) bytes. Clones that are made afterwards share them. [`prepare`](Self::prepare) makes them now. A key that is used
/// once, and has its bytes elsewhere, is an [`EncapsulationKeyRef`]; one that never keeps anything is a key of
/// [`Compact`](crate::Compact)`<P>`.
///
/// ```
/// use gambeson::mlkem::{DecapsulationKey, EncapsulationKey, MlKem768};
///
/// let dk = DecapsulationKey::<MlKem768>::generate()?;
/// let received = *dk.encapsulation_key().as_bytes();
///
/// let ek = EncapsulationKey::<MlKem768>::from_bytes(&received)?;
/// let (c, shared) = ek.encapsulate()?;
/// assert_eq!(dk.decapsulate(&c).expose(), shared.expose());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct EncapsulationKey<P: ParameterSet> {
    pub(super) bytes: P::EncapsulationKeyBytes,
    pub(super) form: P::Public,
}

impl<P: ParameterSet> EncapsulationKey<P> {
    /// Checks and copies the bytes.
    ///
    /// # Errors
    ///
    /// [`InvalidEncapsulationKey`] if a coefficient is not below q (FIPS 203, §7.2).
    #[inline]
    pub fn from_bytes(bytes: &P::EncapsulationKeyBytes) -> Result<Self, InvalidEncapsulationKey> {
        EncapsulationKeyRef::<P>::from_ref(bytes)?;
        Ok(Self::from_reduced(*bytes, P::Public::NEW))
    }

    /// The key with these bytes, whose coefficients are below q.
    pub(super) const fn from_reduced(bytes: P::EncapsulationKeyBytes, form: P::Public) -> Self {
        Self { bytes, form }
    }

    /// The bytes, t̂ encoded and ρ.
    #[must_use]
    pub const fn as_bytes(&self) -> &P::EncapsulationKeyBytes {
        &self.bytes
    }

    /// Makes now, and on the heap, what later encapsulations need; without feature `alloc`, and in the compact forms, nothing.
    pub fn prepare(&self) {
        self.form.prepare(&self.bytes);
    }

    /// The prepared key, if it was made.
    #[cfg(feature = "alloc")]
    pub(super) fn prepared(&self) -> Option<&super::prepared::Prepared> {
        self.form.prepared()
    }

    /// A fresh shared secret, and the ciphertext that carries it, with the operating system's randomness.
    ///
    /// FIPS 203, Algorithm 20 (ML-KEM.Encaps).
    ///
    /// # Errors
    ///
    /// [`RngError`](crate::RngError) if the operating system gives no randomness.
    #[cfg(feature = "getrandom")]
    pub fn encapsulate(&self) -> Result<(P::Ciphertext, SharedSecret), crate::RngError> {
        Ok(self.encapsulate_deterministic(rng::system()?.expose()))
    }

    /// A fresh shared secret, and the ciphertext that carries it, with the caller's randomness.
    ///
    /// FIPS 203, Algorithm 20 (ML-KEM.Encaps).
    ///
    /// # Errors
    ///
    /// The generator's own.
    pub fn encapsulate_with<R: TryCryptoRng + ?Sized>(
        &self,
        rng: &mut R,
    ) -> Result<(P::Ciphertext, SharedSecret), R::Error> {
        Ok(self.encapsulate_deterministic(rng::draw(rng)?.expose()))
    }

    /// The shared secret of the message `m`, which must be uniformly random, secret and used once.
    ///
    /// FIPS 203, Algorithm 17 (ML-KEM.Encaps_internal).
    #[must_use]
    pub fn encapsulate_deterministic(&self, m: &[u8; 32]) -> (P::Ciphertext, SharedSecret) {
        self.form.encapsulate(&self.bytes, m)
    }

    /// The same, into the caller's memory.
    ///
    /// With [`Small`](crate::Small), and on processors of 32 bits with any set, `c` is worked in: until this returns it holds
    /// secrets, so it should not lie where others read.
    pub fn encapsulate_deterministic_into(
        &self,
        m: &[u8; 32],
        c: &mut P::Ciphertext,
        shared: &mut SharedSecret,
    ) {
        self.form.encapsulate_into(&self.bytes, m, c, shared);
    }
}

impl<P: ParameterSet> TryFrom<&[u8]> for EncapsulationKey<P> {
    type Error = EncapsulationKeyError;

    #[inline]
    fn try_from(bytes: &[u8]) -> Result<Self, EncapsulationKeyError> {
        let length =
            EncapsulationKeyError::Length { expected: P::EncapsulationKeyBytes::LEN, actual: bytes.len() };
        let bytes = P::EncapsulationKeyBytes::try_from(bytes).map_err(|_| length)?;
        Self::from_bytes(&bytes).map_err(|InvalidEncapsulationKey| EncapsulationKeyError::Modulus)
    }
}

impl<P: ParameterSet> fmt::Debug for EncapsulationKey<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("EncapsulationKey").field(&P::NAME).finish_non_exhaustive()
    }
}

impl<P: ParameterSet> PartialEq for EncapsulationKey<P> {
    fn eq(&self, other: &Self) -> bool {
        self.bytes == other.bytes
    }
}

impl<P: ParameterSet> Eq for EncapsulationKey<P> {}

/// An encapsulation key whose bytes are somewhere else, for one encapsulation: nothing is kept.
///
/// The matrix stands on the stack meanwhile: 11, 15 or 19 KiB with feature `alloc`. No heap. A key of
/// [`Compact`](crate::Compact)`<P>` samples it polynomial by polynomial, in less than 10 KiB.
///
/// ```
/// use gambeson::mlkem::{DecapsulationKey, EncapsulationKeyRef, MlKem768};
///
/// let dk = DecapsulationKey::<MlKem768>::generate()?;
/// let received = *dk.encapsulation_key().as_bytes();
/// let (c, shared) = EncapsulationKeyRef::<MlKem768>::from_ref(&received)?.encapsulate()?;
/// assert_eq!(dk.decapsulate(&c).expose(), shared.expose());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct EncapsulationKeyRef<'a, P: ParameterSet> {
    bytes: &'a P::EncapsulationKeyBytes,
}

impl<'a, P: ParameterSet> EncapsulationKeyRef<'a, P> {
    /// Checks the bytes.
    ///
    /// # Errors
    ///
    /// [`InvalidEncapsulationKey`] if a coefficient is not below q (FIPS 203, §7.2).
    pub fn from_ref(bytes: &'a P::EncapsulationKeyBytes) -> Result<Self, InvalidEncapsulationKey> {
        if !encode::is_reduced(&bytes.as_ref()[..384 * P::K]) {
            return Err(InvalidEncapsulationKey);
        }
        Ok(Self { bytes })
    }

    /// The bytes, t̂ encoded and ρ.
    #[must_use]
    pub const fn as_bytes(&self) -> &'a P::EncapsulationKeyBytes {
        self.bytes
    }

    /// A fresh shared secret, and the ciphertext that carries it, with the operating system's randomness.
    ///
    /// FIPS 203, Algorithm 20 (ML-KEM.Encaps).
    ///
    /// # Errors
    ///
    /// [`RngError`](crate::RngError) if the operating system gives no randomness.
    #[cfg(feature = "getrandom")]
    pub fn encapsulate(&self) -> Result<(P::Ciphertext, SharedSecret), crate::RngError> {
        Ok(self.encapsulate_deterministic(rng::system()?.expose()))
    }

    /// A fresh shared secret, and the ciphertext that carries it, with the caller's randomness.
    ///
    /// FIPS 203, Algorithm 20 (ML-KEM.Encaps).
    ///
    /// # Errors
    ///
    /// The generator's own.
    pub fn encapsulate_with<R: TryCryptoRng + ?Sized>(
        &self,
        rng: &mut R,
    ) -> Result<(P::Ciphertext, SharedSecret), R::Error> {
        Ok(self.encapsulate_deterministic(rng::draw(rng)?.expose()))
    }

    /// The shared secret of the message `m`, which must be uniformly random, secret and used once.
    ///
    /// FIPS 203, Algorithm 17 (ML-KEM.Encaps_internal).
    #[must_use]
    pub fn encapsulate_deterministic(&self, m: &[u8; 32]) -> (P::Ciphertext, SharedSecret) {
        P::Public::encapsulate_once(self.bytes, m)
    }

    /// The same, into the caller's memory, under the conditions of [`EncapsulationKey::encapsulate_deterministic_into`].
    pub fn encapsulate_deterministic_into(
        &self,
        m: &[u8; 32],
        c: &mut P::Ciphertext,
        shared: &mut SharedSecret,
    ) {
        P::Public::encapsulate_once_into(self.bytes, m, c, shared);
    }
}

impl<'a, P: ParameterSet> TryFrom<&'a [u8]> for EncapsulationKeyRef<'a, P> {
    type Error = EncapsulationKeyError;

    fn try_from(bytes: &'a [u8]) -> Result<Self, EncapsulationKeyError> {
        let (expected, actual) = (P::EncapsulationKeyBytes::LEN, bytes.len());
        let bytes = P::EncapsulationKeyBytes::from_ref(bytes);
        let bytes = bytes.ok_or(EncapsulationKeyError::Length { expected, actual })?;
        Self::from_ref(bytes).map_err(|InvalidEncapsulationKey| EncapsulationKeyError::Modulus)
    }
}

impl<P: ParameterSet> fmt::Debug for EncapsulationKeyRef<'_, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("EncapsulationKeyRef").field(&P::NAME).finish_non_exhaustive()
    }
}

/// A decapsulation key.
///
/// With feature `alloc` it is prepared when it is made: matrix, secrets and hash stand on the heap, wiped when dropped, for all
/// decapsulations. A resting key has 512·(k² + 2·k) bytes of polynomials and its encapsulation key: 4.9, 8.9 and 13.8 KiB.
/// Where many keys rest, one of [`Compact`](crate::Compact)`<P>` has 96 bytes, and makes the rest again each time, in less than
/// 10 KiB of stack; without `alloc` every key does.
///
/// ```
/// use gambeson::Compact;
/// use gambeson::mlkem::{DecapsulationKey, MlKem1024};
///
/// // The seed is what to store: 64 bytes for every parameter set.
/// let dk = DecapsulationKey::<MlKem1024>::generate()?;
/// let seed = *dk.seed().expect("it was generated here").expose();
/// let resting = DecapsulationKey::<Compact<MlKem1024>>::from_seed(&seed);
/// assert_eq!(size_of_val(&resting), 96);
///
/// let (c, shared) = dk.encapsulation_key().encapsulate()?;
/// assert_eq!(resting.decapsulate(&c).expose(), shared.expose());
/// # Ok::<(), gambeson::RngError>(())
/// ```
pub struct DecapsulationKey<P: ParameterSet> {
    pub(super) form: P::Private,
}

impl<P: ParameterSet> Holds<P::Private> for DecapsulationKey<P> {
    fn of(form: P::Private) -> Self {
        Self { form }
    }

    fn form(&mut self) -> &mut P::Private {
        &mut self.form
    }
}

impl<P: ParameterSet> DecapsulationKey<P> {
    /// A new key, with the operating system's randomness.
    ///
    /// FIPS 203, Algorithm 19 (ML-KEM.KeyGen).
    ///
    /// # Errors
    ///
    /// [`RngError`](crate::RngError) if the operating system gives no randomness.
    #[cfg(feature = "getrandom")]
    pub fn generate() -> Result<Self, crate::RngError> {
        Ok(Self::from_seed(rng::system()?.expose()))
    }

    /// A new key, with the caller's randomness.
    ///
    /// FIPS 203, Algorithm 19 (ML-KEM.KeyGen).
    ///
    /// # Errors
    ///
    /// The generator's own.
    pub fn generate_with<R: TryCryptoRng + ?Sized>(rng: &mut R) -> Result<Self, R::Error> {
        Ok(Self::from_seed(rng::draw(rng)?.expose()))
    }

    /// The key of the seed d ‖ z.
    ///
    /// FIPS 203, Algorithm 16 (ML-KEM.KeyGen_internal).
    #[must_use]
    #[inline]
    pub fn from_seed(seed: &[u8; 64]) -> Self {
        P::Private::from_seed(seed)
    }

    /// The key of the seed d ‖ z, and its encapsulation key to `ek`: both in the time of one.
    ///
    /// With [`Small`](crate::Small), and on processors of 32 bits with any set, `ek` is worked in: until this returns it holds
    /// secrets, so it should not lie where others read.
    ///
    /// ```
    /// use gambeson::Small;
    /// use gambeson::mlkem::{DecapsulationKey, MlKem768};
    ///
    /// let mut ek = [0; 1184];
    /// let dk = DecapsulationKey::<Small<MlKem768>>::from_seed_into(&[7; 64], &mut ek);
    /// assert_eq!(dk.encapsulation_key().as_bytes(), &ek);
    /// ```
    ///
    /// FIPS 203, Algorithm 16 (ML-KEM.KeyGen_internal).
    #[must_use]
    #[inline]
    pub fn from_seed_into(seed: &[u8; 64], ek: &mut P::EncapsulationKeyBytes) -> Self {
        P::Private::from_seed_into(seed, ek)
    }

    /// The seed d ‖ z: the form to store. A key that was imported without it has none.
    #[must_use]
    pub fn seed(&self) -> Option<&Secret<[u8; 64]>> {
        self.form.seed()
    }

    /// The encapsulation key; in the compact forms it is made again.
    #[must_use]
    pub fn encapsulation_key(&self) -> EncapsulationKey<P> {
        self.form.encapsulation_key()
    }

    /// The bytes of the encapsulation key, under the conditions of [`from_seed_into`](Self::from_seed_into).
    pub fn encapsulation_key_into(&self, ek: &mut P::EncapsulationKeyBytes) {
        self.form.encapsulation_key_into(ek);
    }

    /// The shared secret that `c` carries.
    ///
    /// It cannot fail: a ciphertext that no encapsulation made yields a secret that nobody else knows (implicit
    /// rejection).
    ///
    /// FIPS 203, Algorithm 21 (ML-KEM.Decaps).
    #[must_use]
    pub fn decapsulate(&self, c: &P::Ciphertext) -> SharedSecret {
        self.form.decapsulate(c)
    }

    /// The same, to the caller's `shared`.
    pub fn decapsulate_into(&self, c: &P::Ciphertext, shared: &mut SharedSecret) {
        self.form.decapsulate_into(c, shared);
    }
}

impl<P: ParameterSet> fmt::Debug for DecapsulationKey<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("DecapsulationKey").field(&P::NAME).finish_non_exhaustive()
    }
}
