//! FIPS 205, §9 and §10: keys, signing and verification.

use core::fmt;

#[cfg(feature = "alloc")]
use alloc::{vec, vec::Vec};
use rand_core::TryCryptoRng;

use super::hash::Hash;
use super::message::Message;
use super::params::{MAX_N, MAX_VERIFICATION, ParameterSet, Params};
use super::verify::Claim;
#[cfg(feature = "getrandom")]
use crate::RngError;
use crate::filled::{Holds, filled};
use crate::secret::{Secret, StackGuard, declassify};

/// The most bytes of the digest of a message.
const MAX_DIGEST: usize = 49;

/// A verifying key: PK.seed ‖ PK.root.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct VerifyingKey {
    set: ParameterSet,
    bytes: [u8; 2 * MAX_N],
}

/// The length of an input is not that of the parameter set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LengthError {
    /// The input: `verifying key`, `signing key`, `SK.seed`, `SK.prf`, `PK.seed`, `randomness` or `signature`.
    pub input: &'static str,
    /// The length of the set, in bytes.
    pub expected: usize,
    /// The length of the input.
    pub actual: usize,
}

impl LengthError {
    const fn check(input: &'static str, expected: usize, actual: usize) -> Result<(), Self> {
        if expected == actual { Ok(()) } else { Err(Self { input, expected, actual }) }
    }
}

impl fmt::Display for LengthError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the {} has {} bytes, and the parameter set {}", self.input, self.actual, self.expected)
    }
}

impl core::error::Error for LengthError {}

/// The signature is not one of this message by this key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidSignature;

impl fmt::Display for InvalidSignature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the signature is not one of this message by this key")
    }
}

impl core::error::Error for InvalidSignature {}

impl VerifyingKey {
    /// The key with these bytes.
    ///
    /// # Errors
    ///
    /// [`LengthError`].
    pub fn from_bytes(set: ParameterSet, bytes: &[u8]) -> Result<Self, LengthError> {
        let expected = set.verifying_key_len();
        LengthError::check("verifying key", expected, bytes.len())?;
        let mut key = Self { set, bytes: [0; 2 * MAX_N] };
        key.bytes[..expected].copy_from_slice(bytes);
        Ok(key)
    }

    /// The parameter set.
    #[must_use]
    pub const fn parameter_set(&self) -> ParameterSet {
        self.set
    }

    /// PK.seed ‖ PK.root.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.set.verifying_key_len()]
    }

    fn halves(&self) -> (&[u8], &[u8]) {
        self.as_bytes().split_at(self.set.0.n)
    }

    /// Verifies a signature of a message.
    ///
    /// FIPS 205, Algorithm 24 (slh_verify) and Algorithm 25 (hash_slh_verify).
    ///
    /// # Errors
    ///
    /// [`InvalidSignature`].
    pub fn verify<'m>(
        &self,
        message: impl Into<Message<'m>>,
        signature: &[u8],
    ) -> Result<(), InvalidSignature> {
        let (hash, mut nodes) = (self.hash(), [0; MAX_VERIFICATION]);
        let mut claim = [self.claim(&hash, &message.into(), signature)?];
        hash.roots(&mut claim, &mut nodes);
        self.judge(&claim[0])
    }

    pub(super) fn hash(&self) -> Hash<'_> {
        Hash::new(self.set.0, self.halves().0)
    }

    /// The parts of a signature that has the right length.
    pub(super) fn claim<'s>(
        &self,
        hash: &Hash<'_>,
        message: &Message<'_>,
        signature: &'s [u8],
    ) -> Result<Claim<'s>, InvalidSignature> {
        let params = self.set.0;
        if signature.len() != params.signature_len() {
            return Err(InvalidSignature);
        }
        let (r, rest) = signature.split_at(params.n);
        let (fors, hypertree) = rest.split_at(params.fors_len());
        let mut digest = [0; MAX_DIGEST];
        message.pieces(|pieces| hash.h_msg(r, self.halves().1, pieces, digest_of(params, &mut digest)));
        let (digest, place) = parts(params, &digest);
        Ok(Claim { indices: hash.indices(digest), place, fors, hypertree, node: [0; MAX_N] })
    }

    /// Compares the root that a signature leads to.
    pub(super) fn judge(&self, claim: &Claim<'_>) -> Result<(), InvalidSignature> {
        let root = self.halves().1;
        if claim.node[..root.len()] == *root { Ok(()) } else { Err(InvalidSignature) }
    }
}

fn digest_of<'d>(params: &Params, digest: &'d mut [u8; MAX_DIGEST]) -> &'d mut [u8] {
    let [md, tree, leaf] = params.digest_parts();
    &mut digest[..md + tree + leaf]
}

/// The digest of FORS; the tree and the leaf: FIPS 205, Algorithm 19 (slh_sign_internal), lines 6 to 10.
fn parts<'d>(params: &Params, digest: &'d [u8]) -> (&'d [u8], (u64, u32)) {
    let number = |bytes: &[u8]| bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte));
    let [md, tree, leaf] = params.digest_parts();
    let (md, rest) = digest.split_at(md);
    let (tree, rest) = rest.split_at(tree);
    // 54 to 64 bits.
    let tree = number(tree) & (u64::MAX >> (64 - (params.h - params.height)));
    (md, (tree, (number(&rest[..leaf]) & ((1 << params.height) - 1)) as u32))
}

impl fmt::Debug for VerifyingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("VerifyingKey").field(&self.set).finish_non_exhaustive()
    }
}

/// The stack that the making of a tree or a signature uses at most.
pub(super) const DEPTH: usize = 46 * 1024;

/// A signing key: SK.seed ‖ SK.prf ‖ PK.seed ‖ PK.root.
pub struct SigningKey {
    set: ParameterSet,
    bytes: Secret<[u8; 4 * MAX_N]>,
}

impl<E> Holds<SigningKey> for Result<SigningKey, E> {
    fn of(form: SigningKey) -> Self {
        Ok(form)
    }

    fn form(&mut self) -> &mut SigningKey {
        match self {
            Ok(key) => key,
            Err(_) => unreachable!("it was made of a key"),
        }
    }
}

/// PK.root: FIPS 205, Algorithm 18 (slh_keygen_internal).
fn root(params: &'static Params, sk_seed: &[u8], pk_seed: &[u8]) -> [u8; MAX_N] {
    #[inline(never)]
    fn make(params: &'static Params, sk_seed: &[u8], pk_seed: &[u8]) -> [u8; MAX_N] {
        // public: part of the verifying key
        declassify(pk_seed);
        let root = Hash::new(params, pk_seed).top_tree(sk_seed, &mut |_, _, _| ());
        // public: part of the verifying key
        declassify(&root);
        root
    }
    let _guard = StackGuard::<DEPTH>;
    make(params, sk_seed, pk_seed)
}

/// A fault of the bytes of a signing key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SigningKeyError {
    /// The length is not that of the set.
    Length(LengthError),
    /// PK.root is not the root of the key's tree.
    Root,
}

impl fmt::Display for SigningKeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length(error) => error.fmt(f),
            Self::Root => f.write_str("the public key in the signing key does not follow from its seeds"),
        }
    }
}

impl core::error::Error for SigningKeyError {}

impl SigningKey {
    /// A new key, with the operating system's randomness.
    ///
    /// FIPS 205, Algorithm 21 (slh_keygen).
    ///
    /// # Errors
    ///
    /// [`RngError`](crate::RngError) if the operating system gives no randomness.
    #[cfg(feature = "getrandom")]
    pub fn generate(set: ParameterSet) -> Result<Self, RngError> {
        let mut seeds = Secret::new([0; 3 * MAX_N]);
        let seeds = &mut seeds.expose_mut()[..3 * set.0.n];
        getrandom::fill(seeds).map_err(|_| RngError)?;
        Self::of_seeds(set, seeds)
    }

    /// A new key, with the caller's randomness.
    ///
    /// FIPS 205, Algorithm 21 (slh_keygen).
    ///
    /// # Errors
    ///
    /// The generator's own.
    pub fn generate_with<R: TryCryptoRng + ?Sized>(set: ParameterSet, rng: &mut R) -> Result<Self, R::Error> {
        let mut seeds = Secret::new([0; 3 * MAX_N]);
        let seeds = &mut seeds.expose_mut()[..3 * set.0.n];
        rng.try_fill_bytes(seeds)?;
        Self::of_seeds(set, seeds)
    }

    /// The key of the seeds SK.seed, SK.prf and PK.seed, each of [`ParameterSet::seed_len`] bytes.
    ///
    /// FIPS 205, Algorithm 18 (slh_keygen_internal).
    ///
    /// # Errors
    ///
    /// [`LengthError`] if one has another length.
    pub fn from_seeds(
        set: ParameterSet,
        sk_seed: &[u8],
        sk_prf: &[u8],
        pk_seed: &[u8],
    ) -> Result<Self, LengthError> {
        let n = set.0.n;
        let mut seeds = Secret::new([0; 3 * MAX_N]);
        let seeds = &mut seeds.expose_mut()[..3 * n];
        let given = [("SK.seed", sk_seed), ("SK.prf", sk_prf), ("PK.seed", pk_seed)];
        for (i, (input, seed)) in given.into_iter().enumerate() {
            LengthError::check(input, n, seed.len())?;
            seeds[i * n..][..n].copy_from_slice(seed);
        }
        Self::of_seeds(set, seeds)
    }

    /// The key, in the form that a door returns: it is not moved again, for a move leaves a copy in the frame.
    fn of_parts<K: Holds<Self>>(set: ParameterSet, seeds: &[u8], root: &[u8]) -> K {
        let empty = Self { set, bytes: Secret::new([0; 4 * MAX_N]) };
        filled(empty, |key: &mut Self| {
            let (bytes, place) = key.bytes.expose_mut().split_at_mut(seeds.len());
            bytes.copy_from_slice(seeds);
            place[..root.len()].copy_from_slice(root);
        })
    }

    fn of_seeds<K: Holds<Self>>(set: ParameterSet, seeds: &[u8]) -> K {
        let n = set.0.n;
        let root = root(set.0, &seeds[..n], &seeds[2 * n..]);
        Self::of_parts(set, seeds, &root[..n])
    }

    /// The key with these bytes, SK.seed ‖ SK.prf ‖ PK.seed ‖ PK.root.
    ///
    /// PK.root is made again, which takes the time of a key generation.
    ///
    /// # Errors
    ///
    /// [`SigningKeyError`].
    pub fn from_bytes(set: ParameterSet, bytes: &[u8]) -> Result<Self, SigningKeyError> {
        let expected = set.signing_key_len();
        LengthError::check("signing key", expected, bytes.len()).map_err(SigningKeyError::Length)?;
        let n = set.0.n;
        let (seeds, given) = bytes.split_at(3 * n);
        if root(set.0, &seeds[..n], &seeds[2 * n..])[..n] != *given {
            return Err(SigningKeyError::Root);
        }
        Self::of_parts(set, seeds, given)
    }

    /// The parameter set.
    #[must_use]
    pub const fn parameter_set(&self) -> ParameterSet {
        self.set
    }

    /// SK.seed ‖ SK.prf ‖ PK.seed ‖ PK.root: secret.
    #[must_use]
    pub fn expose_bytes(&self) -> &[u8] {
        &self.bytes.expose()[..self.set.signing_key_len()]
    }

    fn parts(&self) -> [&[u8]; 4] {
        let n = self.set.0.n;
        let bytes = self.bytes.expose();
        let parts = [0, 1, 2, 3].map(|part| &bytes[part * n..][..n]);
        // public: PK.seed and PK.root
        declassify(&bytes[2 * n..4 * n]);
        parts
    }

    /// The verifying key.
    #[must_use]
    pub fn verifying_key(&self) -> VerifyingKey {
        let n = self.set.0.n;
        let [.., seed, root] = self.parts();
        let mut key = VerifyingKey { set: self.set, bytes: [0; 2 * MAX_N] };
        key.bytes[..n].copy_from_slice(seed);
        key.bytes[n..2 * n].copy_from_slice(root);
        key
    }

    /// Signs a message, with randomness of the operating system (hedged).
    ///
    /// FIPS 205, Algorithm 22 (slh_sign) and Algorithm 23 (hash_slh_sign).
    ///
    /// # Errors
    ///
    /// [`RngError`](crate::RngError) if the operating system gives no randomness.
    #[cfg(all(feature = "alloc", feature = "getrandom"))]
    pub fn sign<'m>(&self, message: impl Into<Message<'m>>) -> Result<Vec<u8>, RngError> {
        let mut randomness = [0; MAX_N];
        getrandom::fill(&mut randomness).map_err(|_| RngError)?;
        let mut signature = vec![0; self.set.signature_len()];
        self.sign_internal(None, &message.into(), &randomness[..self.set.0.n], &mut signature);
        Ok(signature)
    }

    /// Signs a message without randomness: the same message has the same signature.
    ///
    /// FIPS 205, Algorithm 22 (slh_sign) and Algorithm 23 (hash_slh_sign), the deterministic variant.
    #[cfg(feature = "alloc")]
    #[must_use]
    pub fn sign_deterministic<'m>(&self, message: impl Into<Message<'m>>) -> Vec<u8> {
        let mut signature = vec![0; self.set.signature_len()];
        let [.., pk_seed, _] = self.parts();
        self.sign_internal(None, &message.into(), pk_seed, &mut signature);
        signature
    }

    /// Signs a message with the randomness opt_rand, of [`ParameterSet::seed_len`] bytes.
    ///
    /// FIPS 205, Algorithm 22 (slh_sign) and Algorithm 23 (hash_slh_sign).
    ///
    /// # Errors
    ///
    /// [`LengthError`] if the randomness has another length.
    #[cfg(feature = "alloc")]
    pub fn sign_with_randomness<'m>(
        &self,
        message: impl Into<Message<'m>>,
        randomness: &[u8],
    ) -> Result<Vec<u8>, LengthError> {
        let mut signature = vec![0; self.set.signature_len()];
        self.sign_with_randomness_into(message, randomness, &mut signature)?;
        Ok(signature)
    }

    /// Signs a message with the randomness opt_rand, of [`ParameterSet::seed_len`] bytes, into memory of
    /// [`ParameterSet::signature_len`] bytes. No heap.
    ///
    /// FIPS 205, Algorithm 22 (slh_sign) and Algorithm 23 (hash_slh_sign).
    ///
    /// # Errors
    ///
    /// [`LengthError`] if the randomness or the memory has another length.
    pub fn sign_with_randomness_into<'m>(
        &self,
        message: impl Into<Message<'m>>,
        randomness: &[u8],
        signature: &mut [u8],
    ) -> Result<(), LengthError> {
        self.sign_checked(None, &message.into(), randomness, signature)
    }

    pub(super) fn sign_checked(
        &self,
        top: Option<&[u8]>,
        message: &Message<'_>,
        randomness: &[u8],
        signature: &mut [u8],
    ) -> Result<(), LengthError> {
        LengthError::check("randomness", self.set.seed_len(), randomness.len())?;
        LengthError::check("signature", self.set.signature_len(), signature.len())?;
        self.sign_internal(top, message, randomness, signature);
        Ok(())
    }

    pub(super) fn sign_internal(
        &self,
        top: Option<&[u8]>,
        message: &Message<'_>,
        randomness: &[u8],
        signature: &mut [u8],
    ) {
        let _guard = StackGuard::<DEPTH>;
        self.fill_signature(top, message, randomness, signature);
    }

    /// Signs; the nodes of the highest tree may be known.
    ///
    /// FIPS 205, Algorithm 19 (slh_sign_internal).
    #[inline(never)]
    fn fill_signature(
        &self,
        top: Option<&[u8]>,
        message: &Message<'_>,
        randomness: &[u8],
        signature: &mut [u8],
    ) {
        let params = self.set.0;
        let [sk_seed, sk_prf, pk_seed, pk_root] = self.parts();
        let hash = Hash::new(params, pk_seed);
        let (r, rest) = signature.split_at_mut(params.n);
        let (fors, hypertree) = rest.split_at_mut(params.fors_len());
        let mut digest = [0; MAX_DIGEST];
        message.pieces(|pieces| {
            hash.prf_msg(sk_prf, randomness, pieces, r);
            // public: part of the signature
            declassify(r);
            hash.h_msg(r, pk_root, pieces, digest_of(params, &mut digest));
        });
        let (digest, place) = parts(params, &digest);
        let key = hash.sign_with_fors(sk_seed, digest, place, fors);
        // public: it follows from the signature
        declassify(&key);
        hash.sign_with_hypertree(sk_seed, top, &key[..params.n], place, hypertree);
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SigningKey<{}>([redacted])", self.set)
    }
}
