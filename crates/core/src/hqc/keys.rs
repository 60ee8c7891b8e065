//! The keys of HQC.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;

use rand_core::TryCryptoRng;

use super::operations::{self, Decapsulation, Encapsulation, Source};
use super::params::{MAX_K, ParameterSet, SALT, SEED};
use super::pke::Public;
use super::words::Words;
use super::{DecapsulationKeyError, EncapsulationKeyError, LengthError, SharedSecret};
use crate::once::AtSecondUse;
use crate::rng;
use crate::secret::{self, Secret, StackGuard, declassify};

/// The stack that the work behind a door uses at most.
pub(super) const DEPTH: usize = 16 * 1024;

/// The message and the salt of an encapsulation.
pub(super) type Drawn = Secret<[u8; MAX_K + SALT]>;

/// The message and the salt in what was drawn for a set.
pub(super) fn drawn(set: ParameterSet, drawn: &Drawn) -> (&[u8], &[u8; SALT]) {
    let (m, salt) = drawn.expose().split_at(set.params.k);
    (m, salt.first_chunk().expect("a salt stands behind the message"))
}

/// Draws a message and a salt.
pub(super) fn draw<E>(set: ParameterSet, fill: impl FnOnce(&mut [u8]) -> Result<(), E>) -> Result<Drawn, E> {
    let mut drawn = Secret::new([0; MAX_K + SALT]);
    fill(&mut drawn.expose_mut()[..set.params.k + SALT])?;
    Ok(drawn)
}

/// An encapsulation key whose bytes are somewhere else, for one encapsulation: nothing is kept.
///
/// ```
/// use gambeson::hqc::{DecapsulationKey, EncapsulationKeyRef, ParameterSet};
///
/// let dk = DecapsulationKey::generate(ParameterSet::HQC_1)?;
/// let received = dk.encapsulation_key().as_bytes().to_vec();
/// let (c, shared) = EncapsulationKeyRef::from_ref(ParameterSet::HQC_1, &received)?.encapsulate()?;
/// assert_eq!(dk.decapsulate(&c)?.expose(), shared.expose());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct EncapsulationKeyRef<'a> {
    set: ParameterSet,
    bytes: &'a [u8],
}

impl<'a> EncapsulationKeyRef<'a> {
    /// Checks the bytes.
    ///
    /// # Errors
    ///
    /// [`EncapsulationKeyError`].
    pub fn from_ref(set: ParameterSet, bytes: &'a [u8]) -> Result<Self, EncapsulationKeyError> {
        LengthError::check("encapsulation key", set.encapsulation_key_len(), bytes.len())
            .map_err(EncapsulationKeyError::Length)?;
        match bytes.last() {
            Some(last) if last & set.params.spare_bits() != 0 => Err(EncapsulationKeyError::SpareBits),
            _ => Ok(Self { set, bytes }),
        }
    }

    /// The parameter set.
    #[must_use]
    pub const fn parameter_set(&self) -> ParameterSet {
        self.set
    }

    /// The bytes, seed_ek ‖ s.
    #[must_use]
    pub const fn as_bytes(&self) -> &'a [u8] {
        self.bytes
    }

    pub(super) const fn source(&self) -> Source<'a> {
        Source::Bytes(self.set, self.bytes)
    }
}

/// An encapsulation key.
///
/// It is expanded when it is used for the second time.
#[derive(Clone)]
pub struct EncapsulationKey {
    set: ParameterSet,
    bytes: Box<[u8]>,
    expanded: AtSecondUse<Public>,
}

impl EncapsulationKey {
    /// Checks and copies the bytes.
    ///
    /// # Errors
    ///
    /// [`EncapsulationKeyError`].
    pub fn from_bytes(set: ParameterSet, bytes: &[u8]) -> Result<Self, EncapsulationKeyError> {
        EncapsulationKeyRef::from_ref(set, bytes)?;
        Ok(Self { set, bytes: bytes.into(), expanded: AtSecondUse::NEW })
    }

    /// The parameter set.
    #[must_use]
    pub const fn parameter_set(&self) -> ParameterSet {
        self.set
    }

    /// The bytes, seed_ek ‖ s.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Makes now what later encapsulations need: H(ek), h and s, in 5 to 15 KiB of heap.
    pub fn prepare(&self) {
        self.expanded.now(|| expand(self.set, &self.bytes));
    }

    pub(super) fn source(&self) -> Source<'_> {
        match self.expanded.at_second_use(|| expand(self.set, &self.bytes)) {
            Some(public) => Source::Expanded(public),
            None => Source::Bytes(self.set, &self.bytes),
        }
    }
}

fn expand(set: ParameterSet, ek: &[u8]) -> Public {
    Public::expand(&[(set, ek)]).pop().expect("one key")
}

/// The doors of both forms of an encapsulation key.
macro_rules! encapsulation {
    ($($key:tt)*) => {
        impl $($key)* {
            /// Draws a shared secret from the operating system, and encapsulates it.
            ///
            /// # Errors
            ///
            /// [`RngError`](crate::RngError) if the operating system gives no randomness.
            #[cfg(feature = "getrandom")]
            pub fn encapsulate(&self) -> Result<(Vec<u8>, SharedSecret), crate::RngError> {
                Ok(encapsulated(self.source(), &draw(self.set, rng::fill)?))
            }

            /// Draws a shared secret with the caller's generator, the message and then the salt, and encapsulates it.
            ///
            /// # Errors
            ///
            /// The generator's own.
            pub fn encapsulate_with<R: TryCryptoRng + ?Sized>(
                &self,
                rng: &mut R,
            ) -> Result<(Vec<u8>, SharedSecret), R::Error> {
                Ok(encapsulated(self.source(), &draw(self.set, |bytes| rng.try_fill_bytes(bytes))?))
            }

            /// The ciphertext and the shared secret of the message `m`, of [`ParameterSet::message_len`] bytes, which must be uniformly random,
            /// secret and used once, and of a salt, which must be uniformly random.
            ///
            /// # Errors
            ///
            /// [`LengthError`] if the message has another length.
            pub fn encapsulate_deterministic(
                &self,
                m: &[u8],
                salt: &[u8; 16],
            ) -> Result<(Vec<u8>, SharedSecret), LengthError> {
                LengthError::check("message", self.set.message_len(), m.len())?;
                Ok(returned(self.source(), m, salt))
            }

            /// Encapsulates deterministically into the caller's memory of [`ParameterSet::ciphertext_len`] bytes.
            ///
            /// # Errors
            ///
            /// [`LengthError`] if the message or the memory has another length.
            pub fn encapsulate_deterministic_into(
                &self,
                m: &[u8],
                salt: &[u8; 16],
                c: &mut [u8],
                shared: &mut SharedSecret,
            ) -> Result<(), LengthError> {
                LengthError::check("message", self.set.message_len(), m.len())?;
                LengthError::check("ciphertext", self.set.ciphertext_len(), c.len())?;
                encapsulate(self.source(), m, salt, c, shared);
                Ok(())
            }
        }
    };
}

encapsulation!(EncapsulationKey);
encapsulation!(EncapsulationKeyRef<'_>);

fn encapsulated(source: Source<'_>, bytes: &Drawn) -> (Vec<u8>, SharedSecret) {
    let (m, salt) = drawn(source.set(), bytes);
    returned(source, m, salt)
}

fn returned(source: Source<'_>, m: &[u8], salt: &[u8; SALT]) -> (Vec<u8>, SharedSecret) {
    let (mut c, mut shared) = (vec![0; source.set().ciphertext_len()], Secret::new([0; SEED]));
    // Until the secret was taken, which goes through vector registers.
    let _guard = StackGuard::<0>;
    encapsulate(source, m, salt, &mut c, &mut shared);
    (c, shared.take())
}

fn encapsulate(source: Source<'_>, m: &[u8], salt: &[u8; SALT], c: &mut [u8], shared: &mut SharedSecret) {
    let _guard = StackGuard::<DEPTH>;
    operations::encapsulate(&mut [Encapsulation { source, m, salt, c, shared: shared.expose_mut() }]);
}

impl PartialEq for EncapsulationKey {
    fn eq(&self, other: &Self) -> bool {
        self.set == other.set && self.bytes == other.bytes
    }
}

impl Eq for EncapsulationKey {}

impl fmt::Debug for EncapsulationKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("EncapsulationKey").field(&self.set).finish_non_exhaustive()
    }
}

impl fmt::Debug for EncapsulationKeyRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("EncapsulationKeyRef").field(&self.set).finish_non_exhaustive()
    }
}

/// A decapsulation key, with what decapsulations need: its bytes, y, H(ek), h and s, in 10 to 30 KiB of heap.
pub struct DecapsulationKey {
    set: ParameterSet,
    /// ek ‖ seed_dk ‖ σ ‖ seed_KEM.
    encoded: Secret<Vec<u8>>,
    public: Public,
    y: Words,
}

impl DecapsulationKey {
    /// A new key, with the operating system's randomness.
    ///
    /// # Errors
    ///
    /// [`RngError`](crate::RngError) if the operating system gives no randomness.
    #[cfg(feature = "getrandom")]
    pub fn generate(set: ParameterSet) -> Result<Self, crate::RngError> {
        Ok(Self::from_seed(set, rng::system()?.expose()))
    }

    /// A new key, with the caller's randomness.
    ///
    /// # Errors
    ///
    /// The generator's own.
    pub fn generate_with<R: TryCryptoRng + ?Sized>(set: ParameterSet, rng: &mut R) -> Result<Self, R::Error> {
        Ok(Self::from_seed(set, rng::draw(rng)?.expose()))
    }

    /// The key of the seed seed_KEM.
    #[must_use]
    pub fn from_seed(set: ParameterSet, seed: &[u8; 32]) -> Self {
        let mut encoded = Secret::new(vec![0; set.decapsulation_key_len()]);
        let _guard = StackGuard::<DEPTH>;
        let (public, y) = operations::generate(set, seed, encoded.expose_mut());
        Self { set, encoded, public, y }
    }

    /// The key with these bytes, ek ‖ seed_dk ‖ σ ‖ seed_KEM: the form that other libraries store.
    ///
    /// The key of seed_KEM is made, and compared with the bytes.
    ///
    /// # Errors
    ///
    /// [`DecapsulationKeyError`].
    pub fn from_encoded(set: ParameterSet, bytes: &[u8]) -> Result<Self, DecapsulationKeyError> {
        LengthError::check("decapsulation key", set.decapsulation_key_len(), bytes.len())
            .map_err(DecapsulationKeyError::Length)?;
        let seed = bytes.last_chunk().expect("a key ends with its seed");
        let key = Self::from_seed(set, seed);
        if secret::equal(key.encoded.expose(), bytes) {
            Ok(key)
        } else {
            Err(DecapsulationKeyError::Mismatch)
        }
    }

    /// The bytes ek ‖ seed_dk ‖ σ ‖ seed_KEM.
    #[must_use]
    pub fn to_encoded(&self) -> Secret<Vec<u8>> {
        Secret::new(self.encoded.expose().clone())
    }

    /// The parameter set.
    #[must_use]
    pub const fn parameter_set(&self) -> ParameterSet {
        self.set
    }

    /// The seed seed_KEM: the form to store.
    #[must_use]
    pub fn seed(&self) -> &[u8; 32] {
        self.encoded.expose().last_chunk().expect("a key ends with its seed")
    }

    /// The encapsulation key.
    #[must_use]
    pub fn encapsulation_key(&self) -> EncapsulationKey {
        EncapsulationKey { set: self.set, bytes: self.public_bytes().into(), expanded: AtSecondUse::NEW }
    }

    fn public_bytes(&self) -> &[u8] {
        let ek = &self.encoded.expose()[..self.set.encapsulation_key_len()];
        // public: the encapsulation key
        declassify(ek);
        ek
    }

    /// The shared secret that a ciphertext of [`ParameterSet::ciphertext_len`] bytes carries.
    ///
    /// A ciphertext that no encapsulation made yields a secret that nobody else knows (implicit rejection).
    ///
    /// # Errors
    ///
    /// [`LengthError`] if the ciphertext has another length.
    pub fn decapsulate(&self, c: &[u8]) -> Result<SharedSecret, LengthError> {
        decapsulated(self.task(c, &mut [0; SEED]))
    }

    /// Decapsulates into the caller's `shared`.
    ///
    /// # Errors
    ///
    /// [`LengthError`] if the ciphertext has another length.
    pub fn decapsulate_into(&self, c: &[u8], shared: &mut SharedSecret) -> Result<(), LengthError> {
        decapsulate(self.task(c, shared.expose_mut()))
    }

    pub(super) fn task<'a>(&'a self, c: &'a [u8], shared: &'a mut [u8; SEED]) -> Decapsulation<'a> {
        let Self { set, encoded, public, y } = self;
        Decapsulation { set: *set, encoded: encoded.expose(), made: Some((public, y)), c, shared }
    }
}

impl fmt::Debug for DecapsulationKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DecapsulationKey<{:?}>([redacted])", self.set)
    }
}

/// Decapsulates, if the ciphertext has the length of the set.
fn decapsulate(task: Decapsulation<'_>) -> Result<(), LengthError> {
    LengthError::check("ciphertext", task.set.ciphertext_len(), task.c.len())?;
    let _guard = StackGuard::<DEPTH>;
    operations::decapsulate(&mut [task]);
    Ok(())
}

/// Decapsulates into a secret that is returned.
fn decapsulated(task: Decapsulation<'_>) -> Result<SharedSecret, LengthError> {
    let mut shared = Secret::new([0; SEED]);
    // Until the secret was taken, which goes through vector registers.
    let _guard = StackGuard::<0>;
    decapsulate(Decapsulation { shared: shared.expose_mut(), ..task })?;
    Ok(shared.take())
}

/// A decapsulation key whose bytes are somewhere else, in the form ek ‖ seed_dk ‖ σ ‖ seed_KEM: nothing is kept between decapsulations.
///
/// ```
/// use gambeson::hqc::{DecapsulationKey, DecapsulationKeyRef, ParameterSet};
///
/// let dk = DecapsulationKey::generate(ParameterSet::HQC_1)?;
/// let stored = dk.to_encoded();
/// let (c, shared) = dk.encapsulation_key().encapsulate()?;
/// let again = DecapsulationKeyRef::from_ref(ParameterSet::HQC_1, stored.expose())?;
/// assert_eq!(again.decapsulate(&c)?.expose(), shared.expose());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy)]
pub struct DecapsulationKeyRef<'a> {
    set: ParameterSet,
    encoded: &'a [u8],
}

impl<'a> DecapsulationKeyRef<'a> {
    /// Checks the length, and the encapsulation key inside. That the parts belong together is not checked:
    /// [`DecapsulationKey::from_encoded`] does that.
    ///
    /// # Errors
    ///
    /// [`DecapsulationKeyError`].
    pub fn from_ref(set: ParameterSet, encoded: &'a [u8]) -> Result<Self, DecapsulationKeyError> {
        LengthError::check("decapsulation key", set.decapsulation_key_len(), encoded.len())
            .map_err(DecapsulationKeyError::Length)?;
        let ek = &encoded[..set.encapsulation_key_len()];
        // public: the encapsulation key
        declassify(ek);
        match EncapsulationKeyRef::from_ref(set, ek) {
            Ok(_) => Ok(Self { set, encoded }),
            Err(_) => Err(DecapsulationKeyError::SpareBits),
        }
    }

    /// The parameter set.
    #[must_use]
    pub const fn parameter_set(&self) -> ParameterSet {
        self.set
    }

    /// The shared secret that a ciphertext carries, as [`DecapsulationKey::decapsulate`].
    ///
    /// # Errors
    ///
    /// [`LengthError`] if the ciphertext has another length.
    pub fn decapsulate(&self, c: &[u8]) -> Result<SharedSecret, LengthError> {
        decapsulated(self.task(c, &mut [0; SEED]))
    }

    /// Decapsulates into the caller's `shared`.
    ///
    /// # Errors
    ///
    /// [`LengthError`] if the ciphertext has another length.
    pub fn decapsulate_into(&self, c: &[u8], shared: &mut SharedSecret) -> Result<(), LengthError> {
        decapsulate(self.task(c, shared.expose_mut()))
    }

    const fn task<'b>(&self, c: &'b [u8], shared: &'b mut [u8; SEED]) -> Decapsulation<'b>
    where
        'a: 'b,
    {
        Decapsulation { set: self.set, encoded: self.encoded, made: None, c, shared }
    }
}

impl fmt::Debug for DecapsulationKeyRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DecapsulationKeyRef<{:?}>([redacted])", self.set)
    }
}

/// A decapsulation key that holds its seed alone, 32 bytes: every operation makes the rest again, which takes the time of a key generation more.
///
/// ```
/// use gambeson::hqc::{CompactDecapsulationKey, ParameterSet};
///
/// let dk = CompactDecapsulationKey::generate(ParameterSet::HQC_1)?;
/// let (c, shared) = dk.encapsulation_key().encapsulate()?;
/// assert_eq!(dk.decapsulate(&c)?.expose(), shared.expose());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct CompactDecapsulationKey {
    set: ParameterSet,
    seed: Secret<Vec<u8>>,
}

impl CompactDecapsulationKey {
    /// A new key, with the operating system's randomness.
    ///
    /// # Errors
    ///
    /// [`RngError`](crate::RngError) if the operating system gives no randomness.
    #[cfg(feature = "getrandom")]
    pub fn generate(set: ParameterSet) -> Result<Self, crate::RngError> {
        Ok(Self::from_seed(set, rng::system()?.expose()))
    }

    /// A new key, with the caller's randomness.
    ///
    /// # Errors
    ///
    /// The generator's own.
    pub fn generate_with<R: TryCryptoRng + ?Sized>(set: ParameterSet, rng: &mut R) -> Result<Self, R::Error> {
        Ok(Self::from_seed(set, rng::draw(rng)?.expose()))
    }

    /// The key of the seed seed_KEM.
    #[must_use]
    pub fn from_seed(set: ParameterSet, seed: &[u8; 32]) -> Self {
        // On the heap, so that moves of the key leave no copies.
        Self { set, seed: Secret::new(seed.to_vec()) }
    }

    /// The parameter set.
    #[must_use]
    pub const fn parameter_set(&self) -> ParameterSet {
        self.set
    }

    /// The seed seed_KEM.
    #[must_use]
    pub fn seed(&self) -> &[u8; 32] {
        self.seed.expose().first_chunk().expect("32 bytes")
    }

    /// The key with all that it needs.
    #[must_use]
    pub fn prepare(&self) -> DecapsulationKey {
        DecapsulationKey::from_seed(self.set, self.seed())
    }

    /// The encapsulation key.
    #[must_use]
    pub fn encapsulation_key(&self) -> EncapsulationKey {
        self.prepare().encapsulation_key()
    }

    /// The shared secret that a ciphertext carries, as [`DecapsulationKey::decapsulate`].
    ///
    /// # Errors
    ///
    /// [`LengthError`] if the ciphertext has another length.
    pub fn decapsulate(&self, c: &[u8]) -> Result<SharedSecret, LengthError> {
        LengthError::check("ciphertext", self.set.ciphertext_len(), c.len())?;
        self.prepare().decapsulate(c)
    }

    /// Decapsulates into the caller's `shared`.
    ///
    /// # Errors
    ///
    /// [`LengthError`] if the ciphertext has another length.
    pub fn decapsulate_into(&self, c: &[u8], shared: &mut SharedSecret) -> Result<(), LengthError> {
        LengthError::check("ciphertext", self.set.ciphertext_len(), c.len())?;
        self.prepare().decapsulate_into(c, shared)
    }
}

impl fmt::Debug for CompactDecapsulationKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CompactDecapsulationKey<{:?}>([redacted])", self.set)
    }
}
