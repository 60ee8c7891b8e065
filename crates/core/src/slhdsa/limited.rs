//! The parameter sets of the initial public draft of SP 800-230 (13 April 2026): short signatures, at most 2^24 of them.
//!
//! A key signs only through a [`Signer`], whose store counts the signatures. The final standard may change the sets; these are no stable
//! interface.

use alloc::boxed::Box;
use alloc::{vec, vec::Vec};
use core::fmt;

use super::keys::{InvalidSignature, LengthError, SigningKey, VerifyingKey};
use super::message::Message;
use super::params::{Family, ParameterSet, Params};
use super::prepared::Top;
use crate::secret::Secret;
use crate::stateful::{ForeignIndex, Leaf, Progress, Reserve, ReservedIndex, Signer, StatefulKey};

/// The most signatures of a key.
const LIMIT: u64 = 1 << 24;

/// A parameter set whose keys sign at most 2^24 messages.
///
/// ```
/// use gambeson::slhdsa::LimitedParameterSet;
///
/// let set = LimitedParameterSet::SHA2_128_24;
/// assert_eq!((set.name(), set.signature_len(), set.verifying_key_len()), ("SLH-DSA-SHA2-128-24", 3856, 32));
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct LimitedParameterSet(ParameterSet);

macro_rules! sets {
    ($($name:ident $text:literal $family:ident n $n:literal, h $h:literal, a $a:literal, k $k:literal, lg_w $lg_w:literal, bytes $bytes:literal, category $category:literal;)*) => {
        impl LimitedParameterSet {
            $(
                #[doc = concat!($text, ": security category ", $category, ", signatures of ", $bytes, " bytes.")]
                pub const $name: Self = {
                    const PARAMS: Params = Params::new($text, Family::$family, $n, ($h, 1), ($a, $k), $lg_w);
                    assert!(PARAMS.signature_len() == $bytes);
                    Self(ParameterSet(&PARAMS))
                };
            )*

            /// Every set.
            pub const ALL: &'static [Self] = &[$(Self::$name),*];
        }
    };
}

sets! {
    SHA2_128_24 "SLH-DSA-SHA2-128-24" Sha2 n 16, h 22, a 24, k 6, lg_w 2, bytes 3856, category 1;
    SHAKE_128_24 "SLH-DSA-SHAKE-128-24" Shake n 16, h 22, a 24, k 6, lg_w 2, bytes 3856, category 1;
    SHA2_192_24 "SLH-DSA-SHA2-192-24" Sha2 n 24, h 21, a 25, k 9, lg_w 3, bytes 7752, category 3;
    SHAKE_192_24 "SLH-DSA-SHAKE-192-24" Shake n 24, h 21, a 25, k 9, lg_w 3, bytes 7752, category 3;
    SHA2_256_24 "SLH-DSA-SHA2-256-24" Sha2 n 32, h 21, a 25, k 12, lg_w 2, bytes 14_944, category 5;
    SHAKE_256_24 "SLH-DSA-SHAKE-256-24" Shake n 32, h 21, a 25, k 12, lg_w 2, bytes 14_944, category 5;
}

impl LimitedParameterSet {
    /// The name in the draft, such as `SLH-DSA-SHA2-128-24`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.0.name()
    }

    /// Bytes of a signature: 3,856, 7,752 or 14,944.
    #[must_use]
    pub const fn signature_len(self) -> usize {
        self.0.signature_len()
    }

    /// Bytes of a verifying key: 32, 48 or 64.
    #[must_use]
    pub const fn verifying_key_len(self) -> usize {
        self.0.verifying_key_len()
    }

    /// Bytes of each of the seeds SK.seed, SK.prf and PK.seed, and of the randomness of a signature: 16, 24 or 32.
    #[must_use]
    pub const fn seed_len(self) -> usize {
        self.0.seed_len()
    }
}

impl fmt::Debug for LimitedParameterSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for LimitedParameterSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A verifying key of a [`LimitedParameterSet`]: PK.seed ‖ PK.root.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct LimitedVerifyingKey(VerifyingKey);

impl LimitedVerifyingKey {
    /// The key with these bytes.
    ///
    /// # Errors
    ///
    /// [`LengthError`].
    pub fn from_bytes(set: LimitedParameterSet, bytes: &[u8]) -> Result<Self, LengthError> {
        VerifyingKey::from_bytes(set.0, bytes).map(Self)
    }

    /// The parameter set.
    #[must_use]
    pub const fn parameter_set(&self) -> LimitedParameterSet {
        LimitedParameterSet(self.0.parameter_set())
    }

    /// PK.seed ‖ PK.root.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }

    /// Verifies a signature of a message.
    ///
    /// # Errors
    ///
    /// [`InvalidSignature`].
    pub fn verify<'m>(
        &self,
        message: impl Into<Message<'m>>,
        signature: &[u8],
    ) -> Result<(), InvalidSignature> {
        self.0.verify(message, signature)
    }

    /// Verifies each signature over its message by this key, as [`VerifyingKey::verify_many`].
    #[must_use]
    pub fn verify_many(&self, items: &[(Message<'_>, &[u8])]) -> Vec<Result<(), InvalidSignature>> {
        self.0.verify_many(items)
    }
}

impl fmt::Debug for LimitedVerifyingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Limited{:?}", self.0)
    }
}

/// A signing key of a [`LimitedParameterSet`] with its only XMSS tree: 96 or 128 MiB of heap.
///
/// It signs through a [`Signer`] alone, with as many indices of its store as it makes signatures, of 2^24 in all. [`Signer::sign`] signs the
/// message itself, with an empty context, and without randomness; [`Signer::sign_with_randomness`] signs any [`Message`].
///
/// A key generation computes about 1.2 · 10^9 compressions, a signature 3 · 10^8 to 1.2 · 10^9.
pub struct LimitedSigningKey {
    key: Box<SigningKey>,
    top: Top,
}

impl LimitedSigningKey {
    /// A new key, with the operating system's randomness. `progress` is called after each 256 leaves of the tree.
    ///
    /// # Errors
    ///
    /// [`RngError`](crate::RngError) if the operating system gives no randomness.
    #[cfg(feature = "getrandom")]
    pub fn generate(
        set: LimitedParameterSet,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Self, crate::RngError> {
        let mut seeds = Secret::new(vec![0; 3 * set.seed_len()]);
        getrandom::fill(seeds.expose_mut()).map_err(|_| crate::RngError)?;
        Ok(Self::of_seeds(set, seeds.expose(), progress))
    }

    /// The key of the seeds SK.seed, SK.prf and PK.seed, each of [`LimitedParameterSet::seed_len`] bytes. `progress` is called after each 256
    /// leaves of the tree.
    ///
    /// The key must have the store that counted its earlier signatures.
    ///
    /// # Errors
    ///
    /// [`LengthError`] if one has another length.
    pub fn from_seeds(
        set: LimitedParameterSet,
        sk_seed: &[u8],
        sk_prf: &[u8],
        pk_seed: &[u8],
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Self, LengthError> {
        let mut seeds = Secret::new(Vec::with_capacity(3 * set.seed_len()));
        for (input, seed) in [("SK.seed", sk_seed), ("SK.prf", sk_prf), ("PK.seed", pk_seed)] {
            LengthError::check(input, set.seed_len(), seed.len())?;
            seeds.expose_mut().extend_from_slice(seed);
        }
        Ok(Self::of_seeds(set, seeds.expose(), progress))
    }

    fn of_seeds(set: LimitedParameterSet, seeds: &[u8], progress: &mut dyn FnMut(Progress)) -> Self {
        let n = set.seed_len();
        let total = 1 << set.0.0.height;
        let mut done = |leaves: u32| {
            if leaves & 255 == 0 {
                progress(Progress { done: u64::from(leaves), total });
            }
        };
        let (top, root) = Top::new(set.0.0, &seeds[..n], &seeds[2 * n..], &mut done);
        Self { key: SigningKey::boxed_of_parts(set.0, seeds, &root[..n]), top }
    }

    /// The parameter set.
    #[must_use]
    pub const fn parameter_set(&self) -> LimitedParameterSet {
        LimitedParameterSet(self.key.parameter_set())
    }

    /// SK.seed ‖ SK.prf ‖ PK.seed ‖ PK.root: secret.
    #[must_use]
    pub fn expose_bytes(&self) -> &[u8] {
        self.key.expose_bytes()
    }

    /// The verifying key.
    #[must_use]
    pub fn verifying_key(&self) -> LimitedVerifyingKey {
        LimitedVerifyingKey(self.key.verifying_key())
    }

    fn sign(&self, message: &Message<'_>, randomness: &[u8]) -> Vec<u8> {
        let mut signature = vec![0; self.parameter_set().signature_len()];
        self.key.sign_internal(Some(self.top.nodes()), message, randomness, &mut signature);
        signature
    }
}

impl fmt::Debug for LimitedSigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Limited{:?}", self.key)
    }
}

impl StatefulKey for LimitedSigningKey {
    fn capacity(&self) -> u64 {
        LIMIT
    }

    fn sign_with_leaf(&mut self, _: Leaf, message: &[u8]) -> Vec<u8> {
        let [.., pk_seed, _] = self.key.parts();
        self.sign(&message.into(), pk_seed)
    }
}

/// A message was not signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LimitedSigningError {
    /// The index was reserved by another store, and is lost.
    Index(ForeignIndex),
    /// The randomness has another length than the set's; the index is lost.
    Randomness(LengthError),
}

impl fmt::Display for LimitedSigningError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Index(error) => error.fmt(f),
            Self::Randomness(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for LimitedSigningError {}

impl<R: Reserve> Signer<LimitedSigningKey, R> {
    /// Signs a message with the randomness opt_rand, of [`LimitedParameterSet::seed_len`] bytes, and uses up the index.
    ///
    /// # Errors
    ///
    /// [`LimitedSigningError`].
    pub fn sign_with_randomness<'m>(
        &mut self,
        index: ReservedIndex,
        message: impl Into<Message<'m>>,
        randomness: &[u8],
    ) -> Result<Vec<u8>, LimitedSigningError> {
        let expected = self.key().parameter_set().seed_len();
        LengthError::check("randomness", expected, randomness.len())
            .map_err(LimitedSigningError::Randomness)?;
        let message = message.into();
        self.sign_by(index, |key, _| key.sign(&message, randomness)).map_err(LimitedSigningError::Index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sets as those of the draft with low trees.
    const LOW: [&Params; 4] = [
        &Params::new("SHA2, lg_w 2", Family::Sha2, 16, (9, 1), (10, 6), 2),
        &Params::new("SHAKE, lg_w 2", Family::Shake, 16, (5, 1), (7, 6), 2),
        &Params::new("SHA2, lg_w 3", Family::Sha2, 24, (8, 1), (9, 9), 3),
        &Params::new("SHAKE, lg_w 3", Family::Shake, 24, (4, 1), (9, 9), 3),
    ];

    #[test]
    fn signatures_with_the_tree_are_those_without_and_verify() {
        for params in LOW {
            let (set, n) = (ParameterSet(params), params.n);
            let [sk_seed, sk_prf, pk_seed] = [1, 2, 3].map(|seed| [seed; 32]);
            let key = SigningKey::from_seeds(set, &sk_seed[..n], &sk_prf[..n], &pk_seed[..n])
                .expect("seeds of the set's length");
            let limited = LimitedSigningKey::from_seeds(
                LimitedParameterSet(set),
                &sk_seed[..n],
                &sk_prf[..n],
                &pk_seed[..n],
                &mut |_| (),
            )
            .expect("seeds of the set's length");
            assert_eq!(limited.verifying_key().as_bytes(), key.verifying_key().as_bytes());
            for message in [&b"one"[..], b"two", b"three"] {
                let signature = limited.sign(&message.into(), &pk_seed[..n]);
                assert!(signature == key.sign_deterministic(message), "{set}");
                assert_eq!(limited.verifying_key().verify(message, &signature), Ok(()), "{set}");
                for place in [0, n, signature.len() >> 1, signature.len() - 1] {
                    let mut other = signature.clone();
                    other[place] ^= 1;
                    assert_eq!(limited.verifying_key().verify(message, &other), Err(InvalidSignature));
                }
            }
        }
    }

    #[test]
    fn lengths_are_those_of_the_draft() {
        let chains = LimitedParameterSet::ALL.iter().map(|set| set.0.0.chains());
        assert!(chains.eq([68, 68, 67, 67, 133, 133]));
        let digests = LimitedParameterSet::ALL.iter().map(|set| set.0.0.digest_parts().iter().sum::<usize>());
        assert!(digests.eq([21, 21, 32, 32, 41, 41]));
    }
}
