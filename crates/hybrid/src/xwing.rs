//! X-Wing: one key encapsulation out of ML-KEM-768 and X25519, secure while either holds.
//!
//! ```
//! use gambeson_hybrid::xwing::{DecapsulationKey, EncapsulationKey};
//!
//! // Recipient: the 32-byte seed is the whole private key.
//! let ours = DecapsulationKey::from_seed(&[7; 32]);
//! let published: [u8; 1216] = *ours.encapsulation_key().as_bytes();
//!
//! // Sender.
//! let theirs = EncapsulationKey::from_bytes(&published)?;
//! let (ciphertext, sent) = theirs.encapsulate_deterministic(&[9; 64]);
//!
//! assert_eq!(ours.decapsulate(&ciphertext).expose(), sent.expose());
//! # Ok::<(), gambeson_hybrid::xwing::InvalidEncapsulationKey>(())
//! ```
//!
//! | what | bytes |
//! | --- | --- |
//! | seed (private key) | 32 |
//! | encapsulation key | 1184 (ML-KEM-768) + 32 (X25519) |
//! | ciphertext | 1088 (ML-KEM-768) + 32 (X25519) |
//! | shared secret | 32 |
//!
//! # Two doors
//!
//! The draft does not look at the X25519 share: a low-order point gives an all-zero X25519 secret, which the
//! combiner hashes like any other. [`DecapsulationKey::decapsulate`] and [`EncapsulationKey::encapsulate`] do
//! the same. Protocols on top of HPKE do refuse such a share; for them there are
//! [`DecapsulationKey::decapsulate_contributory`] and [`EncapsulationKey::encapsulate_contributory`].
//!
//! Source: draft-connolly-cfrg-xwing-kem-09, §5. ML-KEM is FIPS 203, X25519 is RFC 7748.

use core::fmt;

use gambeson::mlkem::{self, MlKem768};
use gambeson::rand_core::TryCryptoRng;
use gambeson::secret::{Secret, StackGuard, equal};
use gambeson::sha3::{Sha3_256, Shake256};
use x25519_dalek::{PublicKey, StaticSecret};

/// The number of X-Wing in the HPKE registry of KEMs.
pub const KEM_ID: u16 = 0x647a;

/// Length of the seed, which is the private key.
pub const SEED_LEN: usize = 32;
/// Length of an encapsulation key.
pub const ENCAPSULATION_KEY_LEN: usize = ML_KEM_KEY_LEN + 32;
/// Length of a ciphertext.
pub const CIPHERTEXT_LEN: usize = ML_KEM_CIPHERTEXT_LEN + 32;

/// Bytes of stack that the work of any door uses, and a margin for other compilers.
const DEPTH: usize = 12 << 10;

const ML_KEM_KEY_LEN: usize = 1184;
const ML_KEM_CIPHERTEXT_LEN: usize = 1088;

/// The label of the combiner: a drawing of an X-wing fighter.
pub(crate) const LABEL: &[u8; 6] = b"\\.//^\\";

/// What both sides share after an encapsulation.
pub type SharedSecret = Secret<[u8; 32]>;

/// What goes over the wire: the ML-KEM-768 ciphertext, then the X25519 share.
pub type Ciphertext = [u8; CIPHERTEXT_LEN];

/// The private key: a seed of 32 bytes, kept with what it expands to.
///
/// It has no `Clone` and no readable `Debug`, and is wiped when dropped. In memory it takes 9.3 KiB with feature `alloc`, for its
/// ML-KEM key is prepared, and about 200 bytes without.
pub struct DecapsulationKey {
    seed: Secret<[u8; SEED_LEN]>,
    mlkem: mlkem::DecapsulationKey<MlKem768>,
    x25519: StaticSecret,
    x25519_public: [u8; 32],
}

impl DecapsulationKey {
    /// Makes a key from the operating system's generator.
    ///
    /// # Errors
    /// [`RngError`](gambeson::RngError) when that generator fails.
    #[cfg(feature = "getrandom")]
    pub fn generate() -> Result<Self, gambeson::RngError> {
        Ok(Self::from_seed(system::<SEED_LEN>()?.expose()))
    }

    /// Makes a key from the caller's generator.
    ///
    /// # Errors
    /// The generator's own.
    pub fn generate_with<R: TryCryptoRng + ?Sized>(rng: &mut R) -> Result<Self, R::Error> {
        Ok(Self::from_seed(draw::<SEED_LEN, R>(rng)?.expose()))
    }

    /// The key of a seed: `expandDecapsulationKey` and `GenerateKeyPairDerand` of the draft (§5.2).
    #[must_use]
    pub fn from_seed(seed: &[u8; SEED_LEN]) -> Self {
        let _guard = StackGuard::<DEPTH>;
        Self::expand(seed)
    }

    #[inline(never)]
    fn expand(seed: &[u8; SEED_LEN]) -> Self {
        let mut expanded = Secret::new([0; 96]);
        Shake256::digest_into(seed, expanded.expose_mut());
        let (d_z, x) = expanded.expose().split_at(64);
        let d_z = d_z.try_into().expect("64 of 96 bytes");
        let x25519 = static_secret(x.try_into().expect("32 of 96 bytes"));
        Self {
            seed: Secret::new(*seed),
            mlkem: mlkem::DecapsulationKey::from_seed(d_z),
            x25519_public: PublicKey::from(&x25519).to_bytes(),
            x25519,
        }
    }

    /// The seed, which is all that has to be kept of this key.
    #[must_use]
    pub fn seed(&self) -> &Secret<[u8; SEED_LEN]> {
        &self.seed
    }

    /// The public half.
    #[must_use]
    pub fn encapsulation_key(&self) -> EncapsulationKey {
        let mut bytes = [0; ENCAPSULATION_KEY_LEN];
        let (m, x) = bytes.split_at_mut(ML_KEM_KEY_LEN);
        m.copy_from_slice(self.mlkem.encapsulation_key().as_bytes());
        x.copy_from_slice(&self.x25519_public);
        EncapsulationKey(bytes)
    }

    /// Finds the shared secret of a ciphertext, as the draft does: every ciphertext has one.
    ///
    /// A ciphertext that was made for another key, or was changed, yields a secret that nobody else has. The
    /// X25519 share is not looked at; [`decapsulate_contributory`](Self::decapsulate_contributory) does.
    #[must_use]
    pub fn decapsulate(&self, ciphertext: &Ciphertext) -> SharedSecret {
        let _guard = StackGuard::<DEPTH>;
        self.combined(ciphertext)
    }

    #[inline(never)]
    fn combined(&self, ciphertext: &Ciphertext) -> SharedSecret {
        let (c_m, c_x) = split_ciphertext(ciphertext);
        let ss_m = self.mlkem.decapsulate(c_m);
        let ss_x = self.x25519.diffie_hellman(&PublicKey::from(*c_x));
        combine(ss_m.expose(), ss_x.as_bytes(), c_x, &self.x25519_public)
    }

    /// [`decapsulate`](Self::decapsulate), except that it refuses a share to which X25519 gives all zeros.
    ///
    /// HPKE and the age file format demand this (RFC 9180, §7.1.4). Whether the share is refused depends on
    /// public bytes alone.
    ///
    /// # Errors
    /// [`NonContributory`] when the X25519 share is one of the few low-order points.
    pub fn decapsulate_contributory(&self, ciphertext: &Ciphertext) -> Result<SharedSecret, NonContributory> {
        let _guard = StackGuard::<DEPTH>;
        self.combined_contributory(ciphertext)
    }

    #[inline(never)]
    fn combined_contributory(&self, ciphertext: &Ciphertext) -> Result<SharedSecret, NonContributory> {
        let (c_m, c_x) = split_ciphertext(ciphertext);
        let ss_x = self.x25519.diffie_hellman(&PublicKey::from(*c_x));
        refuse_all_zero(ss_x.as_bytes())?;
        let ss_m = self.mlkem.decapsulate(c_m);
        Ok(combine(ss_m.expose(), ss_x.as_bytes(), c_x, &self.x25519_public))
    }
}

impl fmt::Debug for DecapsulationKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("xwing::DecapsulationKey([redacted])")
    }
}

/// The public key: 1216 bytes, of which the ML-KEM part has passed the input check of FIPS 203, §7.2.
#[derive(Clone, PartialEq, Eq)]
pub struct EncapsulationKey([u8; ENCAPSULATION_KEY_LEN]);

impl EncapsulationKey {
    /// Checks and takes the bytes of a key.
    ///
    /// # Errors
    /// [`InvalidEncapsulationKey`] when a coefficient of the ML-KEM part is not below q.
    pub fn from_bytes(bytes: &[u8; ENCAPSULATION_KEY_LEN]) -> Result<Self, InvalidEncapsulationKey> {
        let (m, _) = split_key(bytes);
        mlkem::EncapsulationKeyRef::<MlKem768>::from_ref(m).map_err(|_| InvalidEncapsulationKey)?;
        Ok(Self(*bytes))
    }

    /// The bytes of the key: ML-KEM-768, then X25519.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; ENCAPSULATION_KEY_LEN] {
        &self.0
    }

    /// Makes a shared secret and the ciphertext that carries it, with the operating system's randomness.
    ///
    /// # Errors
    /// [`RngError`](gambeson::RngError) when that generator fails.
    #[cfg(feature = "getrandom")]
    pub fn encapsulate(&self) -> Result<(Ciphertext, SharedSecret), gambeson::RngError> {
        Ok(self.encapsulate_deterministic(system::<64>()?.expose()))
    }

    /// Makes a shared secret and its ciphertext with the caller's randomness.
    ///
    /// # Errors
    /// The generator's own.
    pub fn encapsulate_with<R: TryCryptoRng + ?Sized>(
        &self,
        rng: &mut R,
    ) -> Result<(Ciphertext, SharedSecret), R::Error> {
        Ok(self.encapsulate_deterministic(draw::<64, R>(rng)?.expose()))
    }

    /// Makes the shared secret and the ciphertext of `eseed`: `EncapsulateDerand` of the draft (§5.4).
    ///
    /// `eseed` is the 32-byte message of ML-KEM, then the ephemeral scalar of X25519. It must be fresh and
    /// secret for every call outside tests.
    #[must_use]
    pub fn encapsulate_deterministic(&self, eseed: &[u8; 64]) -> (Ciphertext, SharedSecret) {
        let _guard = StackGuard::<DEPTH>;
        self.encapsulated(eseed)
    }

    #[inline(never)]
    fn encapsulated(&self, eseed: &[u8; 64]) -> (Ciphertext, SharedSecret) {
        let (ciphertext, ss_m, ss_x) = self.encapsulate_parts(eseed);
        let (_, c_x) = split_ciphertext(&ciphertext);
        let (_, x_public) = split_key(&self.0);
        (ciphertext, combine(ss_m.expose(), ss_x.as_bytes(), c_x, x_public))
    }

    /// [`encapsulate`](Self::encapsulate), except that it refuses a key whose X25519 part gives all zeros.
    ///
    /// # Errors
    /// [`EncapsulateError::NonContributory`] when the X25519 part of this key is a low-order point,
    /// [`EncapsulateError::Random`] when the operating system's generator fails.
    #[cfg(feature = "getrandom")]
    pub fn encapsulate_contributory(
        &self,
    ) -> Result<(Ciphertext, SharedSecret), EncapsulateError<gambeson::RngError>> {
        let eseed = system::<64>().map_err(EncapsulateError::Random)?;
        Ok(self.encapsulate_contributory_deterministic(eseed.expose())?)
    }

    /// [`encapsulate_contributory`](Self::encapsulate_contributory) with the caller's randomness.
    ///
    /// # Errors
    /// The same two, the second with the generator's own error in it.
    pub fn encapsulate_contributory_with<R: TryCryptoRng + ?Sized>(
        &self,
        rng: &mut R,
    ) -> Result<(Ciphertext, SharedSecret), EncapsulateError<R::Error>> {
        let eseed = draw::<64, R>(rng).map_err(EncapsulateError::Random)?;
        Ok(self.encapsulate_contributory_deterministic(eseed.expose())?)
    }

    /// [`encapsulate_deterministic`](Self::encapsulate_deterministic) with the same refusal.
    ///
    /// # Errors
    /// [`NonContributory`] when the X25519 part of this key is a low-order point.
    pub fn encapsulate_contributory_deterministic(
        &self,
        eseed: &[u8; 64],
    ) -> Result<(Ciphertext, SharedSecret), NonContributory> {
        let _guard = StackGuard::<DEPTH>;
        self.encapsulated_contributory(eseed)
    }

    #[inline(never)]
    fn encapsulated_contributory(
        &self,
        eseed: &[u8; 64],
    ) -> Result<(Ciphertext, SharedSecret), NonContributory> {
        let (ciphertext, ss_m, ss_x) = self.encapsulate_parts(eseed);
        refuse_all_zero(ss_x.as_bytes())?;
        let (_, c_x) = split_ciphertext(&ciphertext);
        let (_, x_public) = split_key(&self.0);
        Ok((ciphertext, combine(ss_m.expose(), ss_x.as_bytes(), c_x, x_public)))
    }

    /// Both halves, before the combiner.
    fn encapsulate_parts(
        &self,
        eseed: &[u8; 64],
    ) -> (Ciphertext, mlkem::SharedSecret, x25519_dalek::SharedSecret) {
        let (m_public, x_public) = split_key(&self.0);
        let (m, x) = eseed.split_at(32);
        let m_public =
            mlkem::EncapsulationKeyRef::<MlKem768>::from_ref(m_public).expect("checked by `from_bytes`");
        let (c_m, ss_m) = m_public.encapsulate_deterministic(m.try_into().expect("32 of 64 bytes"));

        let ephemeral = static_secret(x.try_into().expect("32 of 64 bytes"));
        let c_x = PublicKey::from(&ephemeral);
        let ss_x = ephemeral.diffie_hellman(&PublicKey::from(*x_public));

        let mut ciphertext = [0; CIPHERTEXT_LEN];
        ciphertext[..ML_KEM_CIPHERTEXT_LEN].copy_from_slice(&c_m);
        ciphertext[ML_KEM_CIPHERTEXT_LEN..].copy_from_slice(c_x.as_bytes());
        (ciphertext, ss_m, ss_x)
    }
}

impl TryFrom<&[u8]> for EncapsulationKey {
    type Error = EncapsulationKeyError;

    fn try_from(bytes: &[u8]) -> Result<Self, EncapsulationKeyError> {
        let bytes = bytes.try_into().map_err(|_| EncapsulationKeyError::Length { actual: bytes.len() })?;
        Self::from_bytes(bytes).map_err(|InvalidEncapsulationKey| EncapsulationKeyError::Modulus)
    }
}

impl fmt::Debug for EncapsulationKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "xwing::EncapsulationKey(")?;
        self.0[..8].iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
        write!(f, "…)")
    }
}

/// The bytes are not an encapsulation key: a coefficient of the ML-KEM part is not below q (FIPS 203, §7.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidEncapsulationKey;

impl fmt::Display for InvalidEncapsulationKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not an X-Wing encapsulation key: a coefficient of the ML-KEM part is not below q")
    }
}

impl core::error::Error for InvalidEncapsulationKey {}

/// Why a byte string is not an encapsulation key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EncapsulationKeyError {
    /// It is not 1216 bytes long.
    Length {
        /// How long it is.
        actual: usize,
    },
    /// A coefficient of the ML-KEM part is not below q (FIPS 203, §7.2).
    Modulus,
}

impl fmt::Display for EncapsulationKeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length { actual } => {
                write!(f, "an X-Wing encapsulation key has {ENCAPSULATION_KEY_LEN} bytes, not {actual}")
            }
            Self::Modulus => InvalidEncapsulationKey.fmt(f),
        }
    }
}

impl core::error::Error for EncapsulationKeyError {}

/// X25519 gave all zeros: the other side's share is a low-order point, and contributes nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NonContributory;

impl fmt::Display for NonContributory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the X25519 share is a low-order point: the shared secret would be all zeros")
    }
}

impl core::error::Error for NonContributory {}

/// Why nothing was encapsulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EncapsulateError<E> {
    /// The X25519 part of the recipient's key is a low-order point.
    NonContributory,
    /// The random number generator failed.
    Random(E),
}

impl<E> From<NonContributory> for EncapsulateError<E> {
    fn from(NonContributory: NonContributory) -> Self {
        Self::NonContributory
    }
}

impl<E: fmt::Display> fmt::Display for EncapsulateError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NonContributory => NonContributory.fmt(f),
            Self::Random(error) => error.fmt(f),
        }
    }
}

impl<E: core::error::Error> core::error::Error for EncapsulateError<E> {}

/// The combiner of the draft (§5.3): SHA3-256(ss_M ‖ ss_X ‖ ct_X ‖ pk_X ‖ label).
fn combine(ss_m: &[u8; 32], ss_x: &[u8; 32], c_x: &[u8; 32], x_public: &[u8; 32]) -> SharedSecret {
    let mut hash = Sha3_256::new();
    hash.update(ss_m).update(ss_x).update(c_x).update(x_public).update(LABEL);
    Secret::new(hash.finalize())
}

/// RFC 7748, §6.1: the check for the all-zero value, in constant time.
fn refuse_all_zero(ss_x: &[u8; 32]) -> Result<(), NonContributory> {
    if equal(ss_x, &[0; 32]) { Err(NonContributory) } else { Ok(()) }
}

fn static_secret(bytes: &[u8; 32]) -> StaticSecret {
    StaticSecret::from(*bytes)
}

fn split_key(bytes: &[u8; ENCAPSULATION_KEY_LEN]) -> (&[u8; ML_KEM_KEY_LEN], &[u8; 32]) {
    let (m, x) = bytes.split_first_chunk().expect("1184 of 1216 bytes");
    (m, x.try_into().expect("32 of 1216 bytes"))
}

fn split_ciphertext(bytes: &Ciphertext) -> (&[u8; ML_KEM_CIPHERTEXT_LEN], &[u8; 32]) {
    let (m, x) = bytes.split_first_chunk().expect("1088 of 1120 bytes");
    (m, x.try_into().expect("32 of 1120 bytes"))
}

#[cfg(feature = "getrandom")]
fn system<const N: usize>() -> Result<Secret<[u8; N]>, gambeson::RngError> {
    let mut bytes = Secret::new([0; N]);
    getrandom::fill(bytes.expose_mut()).map_err(|_| gambeson::RngError)?;
    Ok(bytes)
}

fn draw<const N: usize, R: TryCryptoRng + ?Sized>(rng: &mut R) -> Result<Secret<[u8; N]>, R::Error> {
    let mut bytes = Secret::new([0; N]);
    rng.try_fill_bytes(bytes.expose_mut())?;
    Ok(bytes)
}
