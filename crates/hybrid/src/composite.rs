//! Composite signatures: ML-DSA and a classical scheme under one key, valid only if both halves are.
//!
//! ```
//! use gambeson_hybrid::composite::{MLDSA87_ED448_SHAKE256, SigningKey, VerifyingKey};
//!
//! let key = SigningKey::generate(&MLDSA87_ED448_SHAKE256)?;
//! let signature = key.sign(b"message", b"")?;
//!
//! let public = VerifyingKey::from_bytes(&MLDSA87_ED448_SHAKE256, key.verifying_key().as_bytes())?;
//! public.verify(b"message", b"", signature.as_bytes())?;
//! assert!(public.verify(b"message", b"another context", signature.as_bytes()).is_err());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | [`Algorithm`] | public key | private key | signature, at most |
//! | --- | --- | --- | --- |
//! | [`MLDSA87_ED448_SHAKE256`] | 2649 | 89 | 4741 |
//! | [`MLDSA44_ED25519_SHA512`] | 1344 | 64 | 2484 |
//! | [`MLDSA44_ECDSA_P256_SHA256`] | 1377 | 83 | 2492 |
//! | [`MLDSA65_ED25519_SHA512`] | 1984 | 64 | 3373 |
//! | [`MLDSA65_ECDSA_P256_SHA512`] | 2017 | 83 | 3381 |
//! | [`MLDSA65_ECDSA_P384_SHA512`] | 2049 | 96 | 3413 |
//! | [`MLDSA87_ECDSA_P384_SHA512`] | 2689 | 96 | 4731 |
//!
//! Lengths are bytes; ECDSA signatures vary by a few. All forms are those that the draft puts into certificates and PKCS#8:
//! the public key of ML-DSA, then the other's (points uncompressed); the seed of ML-DSA, then the other's seed or its
//! `ECPrivateKey` of RFC 5915; the signature of ML-DSA, then the other's (ECDSA's in DER).
//!
//! # What is signed
//!
//! Both halves sign M′ = prefix ‖ label ‖ length of the context ‖ context ‖ PH(message); ML-DSA has the label as its own
//! context. The message is hashed once, so a large one can come in pieces: [`Algorithm::pre_hash`], then
//! [`SigningKey::sign_digest`]. The halves must not be used as keys of their own: make a fresh key.
//!
//! Signing is hedged by default. [`SigningKey::sign_deterministic`] needs no randomness.
//!
//! # Memory
//!
//! No heap is needed. With feature `alloc` a [`SigningKey`] keeps the expanded ML-DSA key (30 to 83 KiB) there, which makes
//! signing several times faster.
//!
//! Source: draft-ietf-lamps-pq-composite-sigs-19. Its combinations with RSA, brainpool curves and P-521 are left out.

mod classical;
mod ml_dsa;

use core::fmt;

use gambeson::mldsa::Digest;
pub use gambeson::mldsa::PreHash;
use gambeson::rand_core::TryCryptoRng;
use gambeson::secret::{Secret, StackGuard};

pub use classical::Classical;
pub use ml_dsa::MlDsa;

/// Bytes of stack that the work of any door uses, and a margin for other compilers.
const DEPTH: usize = 28 << 10;

/// Longest of its kind in the table.
const MAX_PUBLIC: usize = 2689;
const MAX_PRIVATE: usize = 96;
const MAX_SIGNATURE: usize = 4741;

const PREFIX: &[u8; 32] = b"CompositeAlgorithmSignatures2025";

/// One composite signature algorithm: what it is made of, and how.
///
/// They exist as statics of this module, and in [`ALGORITHMS`].
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Algorithm {
    name: &'static str,
    oid: &'static [u8],
    label: &'static [u8],
    ml_dsa: MlDsa,
    classical: Classical,
    pre_hash: PreHash,
}

macro_rules! table {
    ($($(#[$doc:meta])* $id:ident = $name:literal, $arc:literal, $ml_dsa:ident, $classical:ident, $pre_hash:ident
       $(, feature: $feature:literal)?;)*) => {
        $($(#[$doc])*
        $(#[cfg(feature = $feature)])?
        pub static $id: Algorithm = Algorithm {
            name: $name,
            oid: &[0x06, 0x08, 0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x06, $arc],
            label: concat!("COMPSIG-", $name).as_bytes(),
            ml_dsa: MlDsa::$ml_dsa,
            classical: Classical::$classical,
            pre_hash: PreHash::$pre_hash,
        };)*

        /// Every algorithm, the strongest first.
        pub static ALGORITHMS: &[&Algorithm] = &[$($(#[cfg(feature = $feature)])? &$id),*];
    };
}

table! {
    /// `id-MLDSA87-Ed448-SHAKE256`, 1.3.6.1.5.5.7.6.51.
    MLDSA87_ED448_SHAKE256 = "MLDSA87-Ed448-SHAKE256", 51, MlDsa87, Ed448, Shake256,
        feature: "curve448";
    /// `id-MLDSA87-ECDSA-P384-SHA512`, 1.3.6.1.5.5.7.6.49.
    MLDSA87_ECDSA_P384_SHA512 = "MLDSA87-ECDSA-P384-SHA512", 49, MlDsa87, EcdsaP384, Sha2_512;
    /// `id-MLDSA65-Ed25519-SHA512`, 1.3.6.1.5.5.7.6.48.
    MLDSA65_ED25519_SHA512 = "MLDSA65-Ed25519-SHA512", 48, MlDsa65, Ed25519, Sha2_512;
    /// `id-MLDSA65-ECDSA-P384-SHA512`, 1.3.6.1.5.5.7.6.46.
    MLDSA65_ECDSA_P384_SHA512 = "MLDSA65-ECDSA-P384-SHA512", 46, MlDsa65, EcdsaP384, Sha2_512;
    /// `id-MLDSA65-ECDSA-P256-SHA512`, 1.3.6.1.5.5.7.6.45.
    MLDSA65_ECDSA_P256_SHA512 = "MLDSA65-ECDSA-P256-SHA512", 45, MlDsa65, EcdsaP256, Sha2_512;
    /// `id-MLDSA44-Ed25519-SHA512`, 1.3.6.1.5.5.7.6.39.
    MLDSA44_ED25519_SHA512 = "MLDSA44-Ed25519-SHA512", 39, MlDsa44, Ed25519, Sha2_512;
    /// `id-MLDSA44-ECDSA-P256-SHA256`, 1.3.6.1.5.5.7.6.40.
    MLDSA44_ECDSA_P256_SHA256 = "MLDSA44-ECDSA-P256-SHA256", 40, MlDsa44, EcdsaP256, Sha2_256;
}

impl Algorithm {
    /// The algorithm of that name, the draft's without `id-`.
    ///
    /// ```
    /// use gambeson_hybrid::composite::{Algorithm, MLDSA65_ED25519_SHA512};
    ///
    /// assert_eq!(Algorithm::by_name("MLDSA65-Ed25519-SHA512"), Some(&MLDSA65_ED25519_SHA512));
    /// ```
    #[must_use]
    pub fn by_name(name: &str) -> Option<&'static Self> {
        ALGORITHMS.iter().copied().find(|algorithm| algorithm.name == name)
    }

    /// The algorithm of that object identifier, in DER with tag and length.
    #[must_use]
    pub fn by_oid(oid: &[u8]) -> Option<&'static Self> {
        ALGORITHMS.iter().copied().find(|algorithm| algorithm.oid == oid)
    }

    /// The name.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// The object identifier in DER, with tag and length: of keys and of signatures, without parameters.
    #[must_use]
    pub const fn oid(&self) -> &'static [u8] {
        self.oid
    }

    /// The parameter set of ML-DSA.
    #[must_use]
    pub const fn ml_dsa(&self) -> MlDsa {
        self.ml_dsa
    }

    /// The other scheme.
    #[must_use]
    pub const fn classical(&self) -> Classical {
        self.classical
    }

    /// PH, the hash function that messages go through.
    #[must_use]
    pub const fn pre_hash(&self) -> PreHash {
        self.pre_hash
    }

    /// Bytes of a public key.
    #[must_use]
    pub const fn public_key_len(&self) -> usize {
        self.ml_dsa.public_key_len() + self.classical.public_key_len()
    }

    /// Bytes of a private key.
    #[must_use]
    pub const fn private_key_len(&self) -> usize {
        32 + self.classical.private_key_len()
    }

    /// Bytes of the longest signature; those with an EdDSA half all have this length.
    #[must_use]
    pub const fn max_signature_len(&self) -> usize {
        self.ml_dsa.signature_len() + self.classical.max_signature_len()
    }

    /// M′ of the draft (§2.2), in the first bytes of what comes back.
    fn m_prime(&self, digest: &Digest, context: &[u8]) -> Result<MPrime, SignError> {
        if context.len() > 255 {
            return Err(SignError::ContextTooLong);
        }
        if digest.function() != self.pre_hash {
            return Err(SignError::PreHash);
        }
        let mut m_prime = MPrime { bytes: [0; MPrime::MAX], len: 0 };
        for part in [PREFIX, self.label, &[context.len() as u8], context, digest.as_bytes()] {
            m_prime.bytes[m_prime.len..][..part.len()].copy_from_slice(part);
            m_prime.len += part.len();
        }
        Ok(m_prime)
    }
}

struct MPrime {
    bytes: [u8; Self::MAX],
    len: usize,
}

impl MPrime {
    /// The longest label has 33 bytes.
    const MAX: usize = PREFIX.len() + 33 + 1 + 255 + 64;

    fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

impl fmt::Debug for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Algorithm({})", self.name)
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name)
    }
}

/// A private key: wiped when dropped, without `Clone` or a readable `Debug`.
pub struct SigningKey {
    algorithm: &'static Algorithm,
    /// As [`Algorithm::private_key_len`] counts it.
    private: Secret<[u8; MAX_PRIVATE]>,
    ml_dsa: ml_dsa::Private,
    classical: classical::Private,
}

impl SigningKey {
    /// Makes a key from the operating system's generator.
    ///
    /// # Errors
    /// [`KeyError::Random`] when that generator fails.
    #[cfg(feature = "getrandom")]
    pub fn generate(algorithm: &'static Algorithm) -> Result<Self, KeyError> {
        Self::generate_with(algorithm, &mut crate::System)
    }

    /// Makes a key from the caller's generator.
    ///
    /// # Errors
    /// [`KeyError::Random`] when the generator fails.
    pub fn generate_with<R: TryCryptoRng + ?Sized>(
        algorithm: &'static Algorithm,
        rng: &mut R,
    ) -> Result<Self, KeyError> {
        let mut private = Secret::new([0; MAX_PRIVATE]);
        let private = &mut private.expose_mut()[..algorithm.private_key_len()];
        let (seed, other) = private.split_at_mut(32);
        rng.try_fill_bytes(seed).map_err(|_| KeyError::Random)?;
        algorithm.classical.draw(rng, other)?;
        Self::from_bytes(algorithm, private)
    }

    /// The key of a private key's bytes: `DeserializePrivateKey` of the draft.
    ///
    /// # Errors
    /// [`KeyError::Length`]; [`KeyError::Classical`] when the second part is not a private key of its scheme.
    pub fn from_bytes(algorithm: &'static Algorithm, private: &[u8]) -> Result<Self, KeyError> {
        let expected = algorithm.private_key_len();
        if private.len() != expected {
            return Err(KeyError::Length { expected, actual: private.len() });
        }
        let _guard = StackGuard::<DEPTH>;
        Self::expanded(algorithm, private)
    }

    #[inline(never)]
    fn expanded(algorithm: &'static Algorithm, private: &[u8]) -> Result<Self, KeyError> {
        let (seed, other) = private.split_first_chunk::<32>().expect("32 bytes and a private key");
        let mut key = Self {
            algorithm,
            private: Secret::new([0; MAX_PRIVATE]),
            ml_dsa: ml_dsa::Private::from_seed(algorithm.ml_dsa, seed),
            classical: classical::Private::empty(algorithm.classical),
        };
        key.classical.fill(algorithm.classical, other)?;
        key.private.expose_mut()[..private.len()].copy_from_slice(private);
        Ok(key)
    }

    /// The algorithm.
    #[must_use]
    pub const fn algorithm(&self) -> &'static Algorithm {
        self.algorithm
    }

    /// The private key's bytes, all that has to be kept: `SerializePrivateKey` of the draft.
    #[must_use]
    pub fn expose_bytes(&self) -> &[u8] {
        &self.private.expose()[..self.algorithm.private_key_len()]
    }

    /// The public half.
    #[must_use]
    pub fn verifying_key(&self) -> VerifyingKey {
        let mut bytes = [0; MAX_PUBLIC];
        let bytes = &mut bytes[..self.algorithm.public_key_len()];
        let (m, x) = bytes.split_at_mut(self.algorithm.ml_dsa.public_key_len());
        self.ml_dsa.public_key(m);
        x.copy_from_slice(self.classical.public_key());
        VerifyingKey::from_bytes(self.algorithm, bytes).expect("the public half of a key is valid")
    }

    /// Signs `message` in a context of at most 255 bytes, hedged with the operating system's randomness.
    ///
    /// Certificates and TLS have the empty context.
    ///
    /// # Errors
    /// [`SignError::ContextTooLong`]; [`SignError::Random`] when that generator fails.
    #[cfg(feature = "getrandom")]
    pub fn sign(&self, message: &[u8], context: &[u8]) -> Result<Signature, SignError> {
        self.sign_with(&mut crate::System, message, context)
    }

    /// Signs `message`, hedged with randomness from `rng`.
    ///
    /// # Errors
    /// The same.
    pub fn sign_with<R: TryCryptoRng + ?Sized>(
        &self,
        rng: &mut R,
        message: &[u8],
        context: &[u8],
    ) -> Result<Signature, SignError> {
        let mut rnd = Secret::new([0; 32]);
        rng.try_fill_bytes(rnd.expose_mut()).map_err(|_| SignError::Random)?;
        self.sign_digest(&self.algorithm.pre_hash.digest(message), context, Some(rnd.expose()))
    }

    /// Signs `message` without randomness: the same message gives the same signature.
    ///
    /// # Errors
    /// [`SignError::ContextTooLong`].
    pub fn sign_deterministic(&self, message: &[u8], context: &[u8]) -> Result<Signature, SignError> {
        self.sign_digest(&self.algorithm.pre_hash.digest(message), context, None)
    }

    /// Signs a message by its digest, with the randomness `rnd` of ML-DSA or without.
    ///
    /// `rnd` must be fresh and secret; ECDSA hashes it into its nonce, EdDSA has no place for it.
    ///
    /// # Errors
    /// [`SignError::ContextTooLong`]; [`SignError::PreHash`] for a digest by another function than the algorithm's.
    pub fn sign_digest(
        &self,
        digest: &Digest,
        context: &[u8],
        rnd: Option<&[u8; 32]>,
    ) -> Result<Signature, SignError> {
        let m_prime = self.algorithm.m_prime(digest, context)?;
        let mut signature = Signature { bytes: [0; MAX_SIGNATURE], len: 0 };
        let _guard = StackGuard::<DEPTH>;
        self.sign_into(m_prime.as_bytes(), rnd, &mut signature);
        Ok(signature)
    }

    #[inline(never)]
    fn sign_into(&self, m_prime: &[u8], rnd: Option<&[u8; 32]>, signature: &mut Signature) {
        let (m, x) = signature.bytes.split_at_mut(self.algorithm.ml_dsa.signature_len());
        self.ml_dsa.sign(m_prime, self.algorithm.label, rnd, m);
        signature.len = m.len() + self.classical.sign(m_prime, rnd, x);
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "composite::SigningKey({}, [redacted])", self.algorithm)
    }
}

/// A public key: its bytes, of which the second part has been decoded.
#[derive(Clone)]
pub struct VerifyingKey {
    algorithm: &'static Algorithm,
    bytes: [u8; MAX_PUBLIC],
    classical: classical::Public,
}

impl VerifyingKey {
    /// The key with these bytes: `DeserializePublicKey` of the draft.
    ///
    /// # Errors
    /// [`KeyError::Length`]; [`KeyError::Classical`] when the second part is not a point of its curve, or is of low order on edwards448.
    pub fn from_bytes(algorithm: &'static Algorithm, bytes: &[u8]) -> Result<Self, KeyError> {
        let expected = algorithm.public_key_len();
        if bytes.len() != expected {
            return Err(KeyError::Length { expected, actual: bytes.len() });
        }
        let other = &bytes[algorithm.ml_dsa.public_key_len()..];
        let classical = classical::Public::from_bytes(algorithm.classical, other)?;
        let mut key = Self { algorithm, bytes: [0; MAX_PUBLIC], classical };
        key.bytes[..expected].copy_from_slice(bytes);
        Ok(key)
    }

    /// The algorithm.
    #[must_use]
    pub const fn algorithm(&self) -> &'static Algorithm {
        self.algorithm
    }

    /// The bytes of the key: `SerializePublicKey` of the draft.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.algorithm.public_key_len()]
    }

    /// Verifies `signature` over `message` in a context. No input makes it panic.
    ///
    /// # Errors
    /// [`InvalidSignature`] unless both halves are well-formed signatures of this message by this key; also for a context of
    /// more than 255 bytes, in which nobody can have signed.
    pub fn verify(&self, message: &[u8], context: &[u8], signature: &[u8]) -> Result<(), InvalidSignature> {
        self.verify_digest(&self.algorithm.pre_hash.digest(message), context, signature)
    }

    /// Verifies `signature` over a message by its digest.
    ///
    /// # Errors
    /// [`InvalidSignature`] as above, and for a digest by another function than the algorithm's.
    pub fn verify_digest(
        &self,
        digest: &Digest,
        context: &[u8],
        signature: &[u8],
    ) -> Result<(), InvalidSignature> {
        let m_prime = self.algorithm.m_prime(digest, context).map_err(|_| InvalidSignature)?;
        let m_prime = m_prime.as_bytes();
        let (m_public, _) = self.as_bytes().split_at(self.algorithm.ml_dsa.public_key_len());
        let (m, x) =
            signature.split_at_checked(self.algorithm.ml_dsa.signature_len()).ok_or(InvalidSignature)?;
        // The order is free: nothing here is secret.
        self.algorithm.ml_dsa.verify(m_public, m_prime, self.algorithm.label, m)?;
        self.classical.verify(m_prime, x)
    }
}

impl PartialEq for VerifyingKey {
    fn eq(&self, other: &Self) -> bool {
        self.algorithm == other.algorithm && self.as_bytes() == other.as_bytes()
    }
}

impl Eq for VerifyingKey {}

impl fmt::Debug for VerifyingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "composite::VerifyingKey({}, {:02x?}..)", self.algorithm, &self.bytes[..8])
    }
}

/// A signature: that of ML-DSA, then the other.
#[derive(Clone)]
pub struct Signature {
    bytes: [u8; MAX_SIGNATURE],
    len: usize,
}

impl Signature {
    /// The bytes: `SerializeSignatureValue` of the draft.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

impl AsRef<[u8]> for Signature {
    fn as_ref(&self) -> &[u8] {
        self.as_bytes()
    }
}

impl fmt::Debug for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "composite::Signature({:02x?}..)", &self.bytes[..8])
    }
}

/// Why there is no key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeyError {
    /// The bytes are of a wrong number.
    Length {
        /// The length that the algorithm has.
        expected: usize,
        /// The length that was given.
        actual: usize,
    },
    /// The second part is not a key of its scheme: no point of the curve, no scalar of it, or no `ECPrivateKey` of it.
    Classical,
    /// The random number generator failed.
    Random,
}

impl fmt::Display for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length { expected, actual } => {
                write!(f, "a composite key of {actual} bytes, where {expected} are needed")
            }
            Self::Classical => {
                f.write_str("not a composite key: the part behind ML-DSA's is not a key of its scheme")
            }
            Self::Random => gambeson::RngError.fmt(f),
        }
    }
}

impl core::error::Error for KeyError {}

/// Why nothing was signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SignError {
    /// The context has more than 255 bytes.
    ContextTooLong,
    /// The digest is by another function than the algorithm's.
    PreHash,
    /// The random number generator failed.
    Random,
}

impl fmt::Display for SignError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ContextTooLong => gambeson::mldsa::ContextTooLong.fmt(f),
            Self::PreHash => f.write_str("the digest is by another hash function than the algorithm's"),
            Self::Random => gambeson::RngError.fmt(f),
        }
    }
}

impl core::error::Error for SignError {}

/// The signature is not one of this message, in this context, by this key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidSignature;

impl fmt::Display for InvalidSignature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the composite signature is invalid")
    }
}

impl core::error::Error for InvalidSignature {}
