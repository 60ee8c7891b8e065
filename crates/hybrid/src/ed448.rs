//! Ed448: signatures on edwards448 (RFC 8032, §5.2).
//!
//! ```
//! use gambeson_hybrid::ed448::{SigningKey, VerifyingKey};
//!
//! let key = SigningKey::generate()?;
//! let signature = key.sign(b"message");
//!
//! let public = VerifyingKey::from_bytes(key.verifying_key().as_bytes())?;
//! public.verify(b"message", &signature)?;
//! assert!(public.verify(b"massage", &signature).is_err());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A private key is a seed of 57 bytes, a public key has 57 bytes, a signature 114. Signing is deterministic; it takes the
//! same time for every key. The variant is Ed448 itself, with a context of up to 255 bytes, not Ed448ph.
//!
//! Points, scalars and verification are those of the crate `crrl`; the hash is ours, and so is the text of signing: a key of
//! `crrl` is `Copy` and is not wiped, and its multiplication is not constant-time at every optimisation level. Feature `std`
//! makes signing faster, by a table of 22 KiB that is made once.

use core::fmt;

use crrl::ed448::{PublicKey, Scalar};
#[cfg(feature = "getrandom")]
use gambeson::RngError;
pub use gambeson::mldsa::ContextTooLong;
use gambeson::rand_core::TryCryptoRng;
use gambeson::secret::{Secret, StackGuard};
use gambeson::sha3::Shake256;

use crate::curve448::multiply_base;

/// Bytes of stack that the work of any door uses, and a margin for other compilers.
const DEPTH: usize = 16 << 10;

/// A private key: the seed and what it expands to, wiped when dropped.
pub struct SigningKey {
    seed: Secret<[u8; 57]>,
    /// s mod the order, and the prefix.
    expanded: Secret<[u8; 56 + 57]>,
    public: [u8; 57],
}

impl SigningKey {
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
        let mut seed = Secret::new([0; 57]);
        rng.try_fill_bytes(seed.expose_mut())?;
        Ok(Self::from_seed(seed.expose()))
    }

    /// The key of a seed (RFC 8032, §5.2.5).
    #[must_use]
    pub fn from_seed(seed: &[u8; 57]) -> Self {
        #[inline(never)]
        fn work(seed: &[u8; 57]) -> SigningKey {
            let mut key = SigningKey::empty();
            key.expand(seed);
            key
        }
        let _guard = StackGuard::<DEPTH>;
        work(seed)
    }

    pub(crate) const fn empty() -> Self {
        Self { seed: Secret::new([0; 57]), expanded: Secret::new([0; 56 + 57]), public: [0; 57] }
    }

    pub(crate) fn expand(&mut self, seed: &[u8; 57]) {
        let mut h = Secret::new([0; 114]);
        Shake256::digest_into(seed, h.expose_mut());
        let (s, prefix) = h.expose_mut().split_at_mut(57);
        s[0] &= 0xfc;
        s[55] |= 0x80;
        s[56] = 0;
        let s = Scalar::decode_reduce(s);
        self.public = multiply_base(&s).encode();
        let (scalar, rest) = self.expanded.expose_mut().split_at_mut(56);
        scalar.copy_from_slice(&s.encode());
        rest.copy_from_slice(prefix);
        self.seed.expose_mut().copy_from_slice(seed);
    }

    /// The seed, which is all that has to be kept.
    #[must_use]
    pub const fn seed(&self) -> &Secret<[u8; 57]> {
        &self.seed
    }

    /// The public half.
    #[must_use]
    pub fn verifying_key(&self) -> VerifyingKey {
        VerifyingKey::from_bytes(&self.public).expect("a multiple of the base point")
    }

    /// The bytes of the public half.
    #[must_use]
    pub const fn public_bytes(&self) -> &[u8; 57] {
        &self.public
    }

    /// Signs `message` with the empty context.
    #[must_use]
    pub fn sign(&self, message: &[u8]) -> [u8; 114] {
        self.guarded(&[], message)
    }

    /// Signs `message` in a context.
    ///
    /// # Errors
    /// [`ContextTooLong`] for more than 255 bytes.
    pub fn sign_with_context(&self, message: &[u8], context: &[u8]) -> Result<[u8; 114], ContextTooLong> {
        if context.len() > 255 { Err(ContextTooLong) } else { Ok(self.guarded(context, message)) }
    }

    fn guarded(&self, context: &[u8], message: &[u8]) -> [u8; 114] {
        let mut signature = [0; 114];
        let _guard = StackGuard::<DEPTH>;
        self.sign_into(context, message, &mut signature);
        signature
    }

    /// RFC 8032, §5.2.6.
    #[inline(never)]
    fn sign_into(&self, context: &[u8], message: &[u8], signature: &mut [u8; 114]) {
        let (s, prefix) = self.expanded.expose().split_at(56);
        let r = hash(context, &[prefix, message]);
        let (point, scalar) = signature.split_at_mut(57);
        point.copy_from_slice(&multiply_base(&r).encode());
        let k = hash(context, &[point, &self.public, message]);
        scalar[..56].copy_from_slice(&(r + k * Scalar::decode_reduce(s)).encode());
    }
}

/// SHAKE256(dom4(0, context) ‖ parts, 114) as a scalar (RFC 8032, §5.2).
fn hash(context: &[u8], parts: &[&[u8]]) -> Scalar {
    let mut hash = Shake256::new();
    hash.update(b"SigEd448").update(&[0, context.len() as u8]).update(context);
    for part in parts {
        hash.update(part);
    }
    let mut digest = Secret::new([0; 114]);
    hash.finalize_xof().squeeze(digest.expose_mut());
    Scalar::decode_reduce(digest.expose())
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ed448::SigningKey([redacted])")
    }
}

/// A public key: a point of the curve.
#[derive(Clone, Copy)]
pub struct VerifyingKey(PublicKey);

impl VerifyingKey {
    /// Decodes a public key (RFC 8032, §5.2.3). Other spellings of a point than the one of the standard are refused, and so are
    /// the four points of low order: nobody has a private key of theirs, and one signature would fit every message.
    ///
    /// # Errors
    /// [`InvalidVerifyingKey`] when the bytes are not a point, or one of low order.
    pub fn from_bytes(bytes: &[u8; 57]) -> Result<Self, InvalidVerifyingKey> {
        match PublicKey::decode(bytes) {
            Some(key) if key.point.has_low_order() == 0 => Ok(Self(key)),
            _ => Err(InvalidVerifyingKey),
        }
    }

    /// The bytes of the key.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 57] {
        &self.0.encoded
    }

    /// Verifies a signature of `message` with the empty context.
    ///
    /// # Errors
    /// [`InvalidSignature`] for all that is not one, of any length.
    pub fn verify(&self, message: &[u8], signature: &[u8]) -> Result<(), InvalidSignature> {
        self.verify_with_context(message, &[], signature)
    }

    /// Verifies a signature of `message` in a context (RFC 8032, §5.2.7, with the cofactor).
    ///
    /// # Errors
    /// [`InvalidSignature`], also for a context of more than 255 bytes, in which nobody can have signed.
    pub fn verify_with_context(
        &self,
        message: &[u8],
        context: &[u8],
        signature: &[u8],
    ) -> Result<(), InvalidSignature> {
        if context.len() <= 255 && self.0.verify_ctx(signature, context, message) {
            Ok(())
        } else {
            Err(InvalidSignature)
        }
    }
}

impl PartialEq for VerifyingKey {
    fn eq(&self, other: &Self) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

impl Eq for VerifyingKey {}

impl fmt::Debug for VerifyingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ed448::VerifyingKey({:02x?}..)", &self.as_bytes()[..8])
    }
}

/// The bytes are not a point of edwards448 in the standard's encoding, or one of low order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidVerifyingKey;

impl fmt::Display for InvalidVerifyingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not an Ed448 public key: the bytes are not a point of the curve, or one of low order")
    }
}

impl core::error::Error for InvalidVerifyingKey {}

/// The signature is not one of this message, in this context, by this key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidSignature;

impl fmt::Display for InvalidSignature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the Ed448 signature is invalid")
    }
}

impl core::error::Error for InvalidSignature {}
