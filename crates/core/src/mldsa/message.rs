//! FIPS 204, §5.2 and §5.4: what is signed. Every form of a message is reduced to μ, 64 bytes.

use core::fmt;
use core::str::FromStr;

use sha2::Digest as _;

use super::dsa::h;
use crate::sha3::{Sha3_224, Sha3_256, Sha3_384, Sha3_512, Shake128, Shake256};

/// What is signed: a message with a context, a digest with a context, or μ itself.
///
/// A byte string converts to the usual form, the message itself with an empty context, so most callers never name
/// this type.
///
/// ```
/// use gambeson::mldsa::{Message, MlDsa44, PreHash, SigningKey};
///
/// let key = SigningKey::<MlDsa44>::from_seed(&[7; 32]);
/// let public = key.verifying_key();
///
/// let signature = key.sign_deterministic(b"as it is");
/// public.verify(b"as it is", &signature)?;
///
/// let in_context = Message::pure(b"as it is", b"example.org/release")?;
/// let signature = key.sign_deterministic(in_context);
/// public.verify(in_context, &signature)?;
/// assert!(public.verify(b"as it is", &signature).is_err());
///
/// let digest = PreHash::Sha2_512.digest(b"large");
/// let signature = key.sign_deterministic(Message::prehashed(&digest, b"")?);
/// public.verify(Message::prehashed(&digest, b"")?, &signature)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Message<'a>(Form<'a>);

#[derive(Clone, Copy, Debug)]
enum Form<'a> {
    Pure { message: &'a [u8], context: &'a [u8] },
    Prehashed { digest: &'a Digest, context: &'a [u8] },
    Mu(&'a [u8; 64]),
    Internal(&'a [u8]),
}

impl<'a> Message<'a> {
    /// The message itself, in a context of at most 255 bytes: ML-DSA (FIPS 204, Algorithm 2 (ML-DSA.Sign)).
    ///
    /// # Errors
    ///
    /// [`ContextTooLong`] if the context has more than 255 bytes.
    pub fn pure(message: &'a [u8], context: &'a [u8]) -> Result<Self, ContextTooLong> {
        check_context(context)?;
        Ok(Self(Form::Pure { message, context }))
    }

    /// A digest of the message, in a context of at most 255 bytes: HashML-DSA
    /// (FIPS 204, Algorithm 4 (HashML-DSA.Sign)). Its signatures are not those of the message itself.
    ///
    /// # Errors
    ///
    /// [`ContextTooLong`] if the context has more than 255 bytes.
    pub fn prehashed(digest: &'a Digest, context: &'a [u8]) -> Result<Self, ContextTooLong> {
        check_context(context)?;
        Ok(Self(Form::Prehashed { digest, context }))
    }

    /// The message representative μ, computed elsewhere, for instance by a [`MuHasher`] (FIPS 204, Algorithm 7 (ML-DSA.Sign_internal),
    /// line 6). The signature is the one of the message that μ was made from.
    ///
    /// μ depends on the public key: μ of another key gives a signature that verifies nothing.
    #[must_use]
    pub const fn mu(mu: &'a [u8; 64]) -> Self {
        Self(Form::Mu(mu))
    }

    /// M′ of the internal interface, as it is, without domain byte or context. For testing only
    /// (FIPS 204, §6): its signatures can collide with those of another message in another context.
    #[must_use]
    pub const fn internal(m_prime: &'a [u8]) -> Self {
        Self(Form::Internal(m_prime))
    }

    /// μ for the public key with the hash `tr`.
    pub(super) fn representative(&self, tr: &[u8; 64]) -> [u8; 64] {
        let mut mu = [0; 64];
        self.represent(tr, &mut mu, h);
        mu
    }

    /// The same, with H of the caller's.
    pub(super) fn represent(&self, tr: &[u8; 64], mu: &mut [u8; 64], h: impl FnOnce(&[&[u8]], &mut [u8])) {
        let (head, oid);
        let (head, context, oid, message): (&[u8], &[u8], &[u8], &[u8]) = match self.0 {
            Form::Pure { message, context } => {
                head = [0, context.len() as u8];
                (&head, context, &[], message)
            }
            Form::Prehashed { digest, context } => {
                (head, oid) = ([1, context.len() as u8], digest.function.oid());
                (&head, context, &oid, digest.as_bytes())
            }
            Form::Mu(given) => {
                *mu = *given;
                return;
            }
            Form::Internal(m_prime) => (&[], &[], &[], m_prime),
        };
        // One call, so that each place that hashes has one text of it.
        h(&[tr, head, context, oid, message], mu);
    }
}

impl<'a> From<&'a [u8]> for Message<'a> {
    fn from(message: &'a [u8]) -> Self {
        Self(Form::Pure { message, context: &[] })
    }
}

impl<'a, const N: usize> From<&'a [u8; N]> for Message<'a> {
    fn from(message: &'a [u8; N]) -> Self {
        Self::from(message.as_slice())
    }
}

fn check_context(context: &[u8]) -> Result<(), ContextTooLong> {
    if context.len() > 255 { Err(ContextTooLong) } else { Ok(()) }
}

/// The context has more than 255 bytes (FIPS 204, §5.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContextTooLong;

impl fmt::Display for ContextTooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the context has more than 255 bytes")
    }
}

impl core::error::Error for ContextTooLong {}

/// Makes μ of a message of any size in pieces, in 208 bytes of memory.
///
/// ```
/// use gambeson::mldsa::{Message, MlDsa65, SigningKey};
///
/// let key = SigningKey::<MlDsa65>::from_seed(&[7; 32]);
/// let mu = key.mu_hasher(b"")?.update(b"a large ").update(b"file").finalize();
/// let signature = key.sign_deterministic(Message::mu(&mu));
/// key.verifying_key().verify(b"a large file", &signature)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct MuHasher(Shake256);

impl MuHasher {
    pub(super) fn new(tr: &[u8; 64], context: &[u8]) -> Result<Self, ContextTooLong> {
        check_context(context)?;
        let mut hasher = Shake256::new();
        hasher.update(tr).update(&[0, context.len() as u8]).update(context);
        Ok(Self(hasher))
    }

    /// Takes the next piece of the message; any pieces give the same μ as the whole.
    pub fn update(&mut self, data: &[u8]) -> &mut Self {
        self.0.update(data);
        self
    }

    /// μ of what was given, for [`Message::mu`]. The hasher must not be used again.
    #[must_use]
    pub fn finalize(&mut self) -> [u8; 64] {
        let mut mu = [0; 64];
        self.0.finalize_xof().squeeze(&mut mu);
        mu
    }
}

/// The hash functions that FIPS 204 and FIPS 205 approve for pre-hashing.
///
/// ```
/// use gambeson::mldsa::PreHash;
///
/// let function: PreHash = "SHA2-512/256".parse()?;
/// assert_eq!(function, PreHash::Sha2_512_256);
/// assert_eq!(function.digest(b"abc").as_bytes().len(), 32);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PreHash {
    /// SHA-224.
    Sha2_224,
    /// SHA-256.
    Sha2_256,
    /// SHA-384.
    Sha2_384,
    /// SHA-512.
    Sha2_512,
    /// SHA-512/224.
    Sha2_512_224,
    /// SHA-512/256.
    Sha2_512_256,
    /// SHA3-224.
    Sha3_224,
    /// SHA3-256.
    Sha3_256,
    /// SHA3-384.
    Sha3_384,
    /// SHA3-512.
    Sha3_512,
    /// SHAKE128 with 32 bytes of output.
    Shake128,
    /// SHAKE256 with 64 bytes of output.
    Shake256,
}

impl PreHash {
    /// Every function, in the order of its object identifier's families.
    pub const ALL: [Self; 12] = [
        Self::Sha2_224,
        Self::Sha2_256,
        Self::Sha2_384,
        Self::Sha2_512,
        Self::Sha2_512_224,
        Self::Sha2_512_256,
        Self::Sha3_224,
        Self::Sha3_256,
        Self::Sha3_384,
        Self::Sha3_512,
        Self::Shake128,
        Self::Shake256,
    ];

    /// NIST's name of the function: `SHA2-256`, `SHA2-512/224`, `SHA3-512`, `SHAKE-128` …
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sha2_224 => "SHA2-224",
            Self::Sha2_256 => "SHA2-256",
            Self::Sha2_384 => "SHA2-384",
            Self::Sha2_512 => "SHA2-512",
            Self::Sha2_512_224 => "SHA2-512/224",
            Self::Sha2_512_256 => "SHA2-512/256",
            Self::Sha3_224 => "SHA3-224",
            Self::Sha3_256 => "SHA3-256",
            Self::Sha3_384 => "SHA3-384",
            Self::Sha3_512 => "SHA3-512",
            Self::Shake128 => "SHAKE-128",
            Self::Shake256 => "SHAKE-256",
        }
    }

    /// The length of the digest in bytes.
    #[must_use]
    pub const fn digest_len(self) -> usize {
        match self {
            Self::Sha2_224 | Self::Sha2_512_224 | Self::Sha3_224 => 28,
            Self::Sha2_256 | Self::Sha2_512_256 | Self::Sha3_256 | Self::Shake128 => 32,
            Self::Sha2_384 | Self::Sha3_384 => 48,
            Self::Sha2_512 | Self::Sha3_512 | Self::Shake256 => 64,
        }
    }

    /// The object identifier in DER: 2.16.840.1.101.3.4.2 and the function's own arc.
    const fn oid(self) -> [u8; 11] {
        let arc = match self {
            Self::Sha2_256 => 1,
            Self::Sha2_384 => 2,
            Self::Sha2_512 => 3,
            Self::Sha2_224 => 4,
            Self::Sha2_512_224 => 5,
            Self::Sha2_512_256 => 6,
            Self::Sha3_224 => 7,
            Self::Sha3_256 => 8,
            Self::Sha3_384 => 9,
            Self::Sha3_512 => 10,
            Self::Shake128 => 11,
            Self::Shake256 => 12,
        };
        [0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, arc]
    }

    /// Starts a digest of a message in pieces.
    #[must_use]
    pub fn hasher(self) -> PreHasher {
        PreHasher(match self {
            Self::Sha2_224 => Hasher::Sha2_224(sha2::Sha224::new()),
            Self::Sha2_256 => Hasher::Sha2_256(sha2::Sha256::new()),
            Self::Sha2_384 => Hasher::Sha2_384(sha2::Sha384::new()),
            Self::Sha2_512 => Hasher::Sha2_512(sha2::Sha512::new()),
            Self::Sha2_512_224 => Hasher::Sha2_512_224(sha2::Sha512_224::new()),
            Self::Sha2_512_256 => Hasher::Sha2_512_256(sha2::Sha512_256::new()),
            Self::Sha3_224 => Hasher::Sha3_224(Sha3_224::new()),
            Self::Sha3_256 => Hasher::Sha3_256(Sha3_256::new()),
            Self::Sha3_384 => Hasher::Sha3_384(Sha3_384::new()),
            Self::Sha3_512 => Hasher::Sha3_512(Sha3_512::new()),
            Self::Shake128 => Hasher::Shake128(Shake128::new()),
            Self::Shake256 => Hasher::Shake256(Shake256::new()),
        })
    }

    /// The digest of `message`.
    #[must_use]
    pub fn digest(self, message: &[u8]) -> Digest {
        let mut hasher = self.hasher();
        hasher.update(message);
        hasher.finalize()
    }

    /// A digest that was computed elsewhere with this function.
    ///
    /// # Errors
    ///
    /// [`DigestLength`] if it has not exactly the function's length.
    pub fn wrap(self, digest: &[u8]) -> Result<Digest, DigestLength> {
        if digest.len() != self.digest_len() {
            return Err(DigestLength { expected: self.digest_len(), actual: digest.len() });
        }
        let mut bytes = [0; 64];
        bytes[..digest.len()].copy_from_slice(digest);
        Ok(Digest { function: self, bytes })
    }
}

impl fmt::Display for PreHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The name is not one of [`PreHash::name`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownPreHash;

impl fmt::Display for UnknownPreHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "unknown hash function: expected a name such as SHA2-256, SHA2-512/256, SHA3-384 or SHAKE-128",
        )
    }
}

impl core::error::Error for UnknownPreHash {}

impl FromStr for PreHash {
    type Err = UnknownPreHash;

    fn from_str(name: &str) -> Result<Self, UnknownPreHash> {
        Self::ALL.into_iter().find(|function| function.name() == name).ok_or(UnknownPreHash)
    }
}

/// A digest in the making: from [`PreHash::hasher`].
///
/// ```
/// use gambeson::mldsa::PreHash;
///
/// let mut hasher = PreHash::Sha3_384.hasher();
/// hasher.update(b"in ").update(b"pieces");
/// assert_eq!(hasher.finalize(), PreHash::Sha3_384.digest(b"in pieces"));
/// ```
#[derive(Clone, Debug)]
pub struct PreHasher(Hasher);

#[derive(Clone, Debug)]
enum Hasher {
    Sha2_224(sha2::Sha224),
    Sha2_256(sha2::Sha256),
    Sha2_384(sha2::Sha384),
    Sha2_512(sha2::Sha512),
    Sha2_512_224(sha2::Sha512_224),
    Sha2_512_256(sha2::Sha512_256),
    Sha3_224(Sha3_224),
    Sha3_256(Sha3_256),
    Sha3_384(Sha3_384),
    Sha3_512(Sha3_512),
    Shake128(Shake128),
    Shake256(Shake256),
}

impl PreHasher {
    /// Takes the next piece of the message.
    pub fn update(&mut self, data: &[u8]) -> &mut Self {
        match &mut self.0 {
            Hasher::Sha2_224(hasher) => hasher.update(data),
            Hasher::Sha2_256(hasher) => hasher.update(data),
            Hasher::Sha2_384(hasher) => hasher.update(data),
            Hasher::Sha2_512(hasher) => hasher.update(data),
            Hasher::Sha2_512_224(hasher) => hasher.update(data),
            Hasher::Sha2_512_256(hasher) => hasher.update(data),
            Hasher::Sha3_224(hasher) => _ = hasher.update(data),
            Hasher::Sha3_256(hasher) => _ = hasher.update(data),
            Hasher::Sha3_384(hasher) => _ = hasher.update(data),
            Hasher::Sha3_512(hasher) => _ = hasher.update(data),
            Hasher::Shake128(hasher) => _ = hasher.update(data),
            Hasher::Shake256(hasher) => _ = hasher.update(data),
        }
        self
    }

    /// The digest of what was given.
    #[must_use]
    pub fn finalize(self) -> Digest {
        /// The function that made `digest`, and the digest in the first of 64 bytes.
        fn made(function: PreHash, digest: &[u8]) -> Digest {
            let mut bytes = [0; 64];
            bytes[..digest.len()].copy_from_slice(digest);
            Digest { function, bytes }
        }
        match self.0 {
            Hasher::Sha2_224(hasher) => made(PreHash::Sha2_224, &hasher.finalize()),
            Hasher::Sha2_256(hasher) => made(PreHash::Sha2_256, &hasher.finalize()),
            Hasher::Sha2_384(hasher) => made(PreHash::Sha2_384, &hasher.finalize()),
            Hasher::Sha2_512(hasher) => made(PreHash::Sha2_512, &hasher.finalize()),
            Hasher::Sha2_512_224(hasher) => made(PreHash::Sha2_512_224, &hasher.finalize()),
            Hasher::Sha2_512_256(hasher) => made(PreHash::Sha2_512_256, &hasher.finalize()),
            Hasher::Sha3_224(mut hasher) => made(PreHash::Sha3_224, &hasher.finalize()),
            Hasher::Sha3_256(mut hasher) => made(PreHash::Sha3_256, &hasher.finalize()),
            Hasher::Sha3_384(mut hasher) => made(PreHash::Sha3_384, &hasher.finalize()),
            Hasher::Sha3_512(mut hasher) => made(PreHash::Sha3_512, &hasher.finalize()),
            Hasher::Shake128(mut hasher) => {
                let mut bytes = [0; 32];
                hasher.finalize_xof().squeeze(&mut bytes);
                made(PreHash::Shake128, &bytes)
            }
            Hasher::Shake256(mut hasher) => {
                let mut bytes = [0; 64];
                hasher.finalize_xof().squeeze(&mut bytes);
                made(PreHash::Shake256, &bytes)
            }
        }
    }
}

/// A digest and the function that made it, for [`Message::prehashed`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digest {
    function: PreHash,
    /// The digest, then zeros.
    bytes: [u8; 64],
}

impl Digest {
    /// The function that made it.
    #[must_use]
    pub const fn function(&self) -> PreHash {
        self.function
    }

    /// The digest.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.function.digest_len()]
    }
}

/// The digest has not the length that its function gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DigestLength {
    /// The function's length in bytes.
    pub expected: usize,
    /// The length that was given.
    pub actual: usize,
}

impl fmt::Display for DigestLength {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the digest has {} bytes, its function gives {}", self.actual, self.expected)
    }
}

impl core::error::Error for DigestLength {}
