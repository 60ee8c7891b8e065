//! FIPS 204, §5.2 and §5.4, and FIPS 205, §10.2: contexts, the pre-hash functions, and M′.

use core::fmt;
use core::str::FromStr;

use sha2::Digest as _;

use crate::sha3;

/// M′: a message, or a digest of it, with its context; or its bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MPrime<'a> {
    context: &'a [u8],
    content: Content<'a>,
}

#[derive(Clone, Copy, Debug)]
enum Content<'a> {
    Message(&'a [u8]),
    Digest(DigestRef<'a>),
    Bytes(&'a [u8]),
}

impl<'a> MPrime<'a> {
    /// M′ of a message with an empty context.
    pub(crate) const fn of(message: &'a [u8]) -> Self {
        Self { context: &[], content: Content::Message(message) }
    }

    /// M′ of a message: FIPS 204, Algorithm 2 (ML-DSA.Sign), line 10.
    pub(crate) fn pure(message: &'a [u8], context: &'a [u8]) -> Result<Self, ContextTooLong> {
        check_context(context).map(|()| Self { context, content: Content::Message(message) })
    }

    /// M′ of a digest: FIPS 204, Algorithm 4 (HashML-DSA.Sign), line 23.
    pub(crate) fn prehashed(digest: DigestRef<'a>, context: &'a [u8]) -> Result<Self, ContextTooLong> {
        check_context(context).map(|()| Self { context, content: Content::Digest(digest) })
    }

    /// M′ as it is.
    pub(crate) const fn from_bytes(bytes: &'a [u8]) -> Self {
        Self { context: &[], content: Content::Bytes(bytes) }
    }

    /// Calls `take` with the pieces of `prefix` ‖ M′. In one place, so that a caller's hash is inlined once.
    pub(crate) fn pieces(&self, prefix: &[u8], take: impl FnOnce(&[&[u8]])) {
        let Self { context, content } = self;
        let (pure, prehashed) = ([0, context.len() as u8], [1, context.len() as u8]);
        let oid;
        let (head, oid, rest): (&[u8], &[u8], &[u8]) = match content {
            Content::Message(message) => (&pure, &[], message),
            Content::Digest(digest) => {
                oid = digest.function.oid();
                (&prehashed, &oid, digest.bytes)
            }
            Content::Bytes(bytes) => (&[], &[], bytes),
        };
        take(&[prefix, head, context, oid, rest]);
    }
}

pub(crate) const fn check_context(context: &[u8]) -> Result<(), ContextTooLong> {
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

/// The enumeration of the functions, and what the kinds of hash functions have each in its own way. `finalize` or `squeeze` says how
/// the digest is taken.
macro_rules! functions {
    ($($function:ident: $state:ty, $doc:literal, $name:literal, $length:literal, arc $arc:literal, $take:ident;)*) => {
        /// The hash functions that FIPS 204 and FIPS 205 approve for pre-hashing. Each has the last number of its object identifier.
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
        pub enum PreHash {$(
            #[doc = $doc]
            $function = $arc,
        )*}

        #[derive(Clone, Debug)]
        enum HashState {$($function($state),)*}

        impl PreHash {
            /// Every function, in the order of its object identifier's families.
            pub const ALL: [Self; 12] = [$(Self::$function,)*];

            /// NIST's name of the function: `SHA2-256`, `SHA2-512/224`, `SHA3-512`, `SHAKE-128` …
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {$(Self::$function => $name,)*}
            }

            /// The length of the digest in bytes.
            #[must_use]
            pub const fn digest_len(self) -> usize {
                // A byte each in the table that the compiler makes of it.
                let length: u8 = match self {$(Self::$function => $length,)*};
                length as usize
            }

            /// The object identifier in DER: 2.16.840.1.101.3.4.2 and the function's own arc.
            const fn oid(self) -> [u8; 11] {
                [0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, self as u8]
            }

            /// Starts a digest of a message in pieces.
            #[must_use]
            pub fn hasher(self) -> PreHasher {
                PreHasher(match self {$(Self::$function => HashState::$function(<$state>::new()),)*})
            }
        }

        impl PreHasher {
            /// Takes the next piece of the message.
            pub fn update(&mut self, data: &[u8]) -> &mut Self {
                match &mut self.0 {$(HashState::$function(state) => _ = state.update(data),)*}
                self
            }

            /// The digest of what was given.
            #[must_use]
            pub fn finalize(self) -> Digest {
                match self.0 {$(
                    #[allow(unused_mut)] // SHA-2 is used up.
                    HashState::$function(mut state) => {
                        let mut bytes = [0; 64];
                        functions!($take state, bytes[..$length]);
                        Digest { function: PreHash::$function, bytes }
                    }
                )*}
            }
        }
    };
    (finalize $state:ident, $digest:expr) => { $digest.copy_from_slice(&$state.finalize()) };
    (squeeze $state:ident, $digest:expr) => { $state.finalize_xof().squeeze(&mut $digest) };
}

functions! {
    Sha2_224: sha2::Sha224, "SHA-224.", "SHA2-224", 28, arc 4, finalize;
    Sha2_256: sha2::Sha256, "SHA-256.", "SHA2-256", 32, arc 1, finalize;
    Sha2_384: sha2::Sha384, "SHA-384.", "SHA2-384", 48, arc 2, finalize;
    Sha2_512: sha2::Sha512, "SHA-512.", "SHA2-512", 64, arc 3, finalize;
    Sha2_512_224: sha2::Sha512_224, "SHA-512/224.", "SHA2-512/224", 28, arc 5, finalize;
    Sha2_512_256: sha2::Sha512_256, "SHA-512/256.", "SHA2-512/256", 32, arc 6, finalize;
    Sha3_224: sha3::Sha3_224, "SHA3-224.", "SHA3-224", 28, arc 7, finalize;
    Sha3_256: sha3::Sha3_256, "SHA3-256.", "SHA3-256", 32, arc 8, finalize;
    Sha3_384: sha3::Sha3_384, "SHA3-384.", "SHA3-384", 48, arc 9, finalize;
    Sha3_512: sha3::Sha3_512, "SHA3-512.", "SHA3-512", 64, arc 10, finalize;
    Shake128: sha3::Shake128, "SHAKE128 with 32 bytes of output.", "SHAKE-128", 32, arc 11, squeeze;
    Shake256: sha3::Shake256, "SHAKE256 with 64 bytes of output.", "SHAKE-256", 64, arc 12, squeeze;
}

impl PreHash {
    /// The digest of `message`.
    #[must_use]
    pub fn digest(self, message: &[u8]) -> Digest {
        let mut hasher = self.hasher();
        hasher.update(message);
        hasher.finalize()
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
pub struct PreHasher(HashState);

/// A digest and the function that made it, for [`Message::prehashed`](crate::mldsa::Message::prehashed).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digest {
    function: PreHash,
    /// The digest, then zeros.
    bytes: [u8; 64],
}

impl Digest {
    /// A digest that was computed elsewhere with `function`.
    ///
    /// # Errors
    ///
    /// [`DigestLength`] if it has not exactly the function's length.
    pub fn from_bytes(function: PreHash, digest: &[u8]) -> Result<Self, DigestLength> {
        let digest = DigestRef::from_bytes(function, digest)?.bytes;
        let mut bytes = [0; 64];
        bytes[..digest.len()].copy_from_slice(digest);
        Ok(Self { function, bytes })
    }

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

/// A digest where its bytes are, and the function that made it: what [`Message::prehashed`](crate::mldsa::Message::prehashed) takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DigestRef<'a> {
    function: PreHash,
    bytes: &'a [u8],
}

impl<'a> DigestRef<'a> {
    /// A digest that was computed elsewhere with `function`.
    ///
    /// # Errors
    ///
    /// [`DigestLength`] if it has not exactly the function's length.
    pub const fn from_bytes(function: PreHash, digest: &'a [u8]) -> Result<Self, DigestLength> {
        if digest.len() != function.digest_len() {
            return Err(DigestLength { expected: function.digest_len(), actual: digest.len() });
        }
        Ok(Self { function, bytes: digest })
    }
}

impl<'a> From<&'a Digest> for DigestRef<'a> {
    fn from(digest: &'a Digest) -> Self {
        Self { function: digest.function, bytes: digest.as_bytes() }
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
