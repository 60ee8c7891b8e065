//! X448: Diffie-Hellman on Curve448 (RFC 7748).
//!
//! ```
//! use gambeson_hybrid::x448::SecretKey;
//!
//! let (ours, theirs) = (SecretKey::generate()?, SecretKey::generate()?);
//! let one = ours.diffie_hellman(&theirs.public_key())?;
//! let other = theirs.diffie_hellman(&ours.public_key())?;
//! assert_eq!(one.expose(), other.expose());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Scalars, public keys and shared secrets have 56 bytes. The field is that of the crate `crrl`; the multiplication
//! takes the same time for every scalar and point.

use core::fmt;

#[cfg(feature = "getrandom")]
use gambeson::RngError;
use gambeson::rand_core::TryCryptoRng;
use gambeson::secret::{Secret, StackGuard, equal};

/// Bytes of stack that the work of any door uses, and a margin for other compilers.
const DEPTH: usize = 8 << 10;

/// What two keys agree on.
pub type SharedSecret = Secret<[u8; 56]>;

/// A private key: a scalar of 56 bytes, wiped when dropped.
pub struct SecretKey(Secret<[u8; 56]>);

impl SecretKey {
    /// Makes a key from the operating system's generator.
    ///
    /// # Errors
    /// [`RngError`] when that generator fails.
    #[cfg(feature = "getrandom")]
    pub fn generate() -> Result<Self, RngError> {
        Self::generate_with(&mut crate::System)
    }

    /// Makes a key from the caller's generator.
    ///
    /// # Errors
    /// The generator's own.
    pub fn generate_with<R: TryCryptoRng + ?Sized>(rng: &mut R) -> Result<Self, R::Error> {
        let mut key = Self(Secret::new([0; 56]));
        rng.try_fill_bytes(key.0.expose_mut())?;
        Ok(key)
    }

    /// The key with these bytes: every string is one (RFC 7748, §5).
    #[must_use]
    pub const fn from_bytes(bytes: &[u8; 56]) -> Self {
        Self(Secret::new(*bytes))
    }

    /// The bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &Secret<[u8; 56]> {
        &self.0
    }

    /// The public key.
    #[must_use]
    pub fn public_key(&self) -> [u8; 56] {
        #[inline(never)]
        fn work(scalar: &[u8; 56]) -> [u8; 56] {
            crate::curve448::x448_base(scalar)
        }
        let _guard = StackGuard::<DEPTH>;
        work(self.0.expose())
    }

    /// What this key and the owner of `public` agree on.
    ///
    /// # Errors
    /// [`NonContributory`] when that would be all zeros.
    pub fn diffie_hellman(&self, public: &[u8; 56]) -> Result<SharedSecret, NonContributory> {
        #[inline(never)]
        fn work(scalar: &[u8; 56], public: &[u8; 56], out: &mut [u8; 56]) {
            *out = crate::curve448::x448(scalar, public);
        }
        let mut secret = Secret::new([0; 56]);
        let _guard = StackGuard::<DEPTH>;
        work(self.0.expose(), public, secret.expose_mut());
        if equal(secret.expose(), &[0; 56]) { Err(NonContributory) } else { Ok(secret.take()) }
    }
}

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("x448::SecretKey([redacted])")
    }
}

/// X448 gave all zeros: the public key is a point of low order (RFC 7748, §6.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NonContributory;

impl fmt::Display for NonContributory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the X448 public key is a point of low order: the shared secret would be all zeros")
    }
}

impl core::error::Error for NonContributory {}
