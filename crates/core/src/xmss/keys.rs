//! RFC 8391, §4.1.10 and §4.2.5: verifying keys.

#[cfg(feature = "alloc")]
use alloc::vec::Vec;
use core::fmt;

use super::hash::Hash;
use super::params::{MAX_N, ParameterSet};
use super::tree::{Digits, Tree};
use crate::sha2_lanes::SIDE_BY_SIDE;
use crate::streamed::verify_whole;

/// A verifying key of XMSS or XMSS^MT: OID ‖ root ‖ SEED.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct VerifyingKey {
    set: ParameterSet,
    root: [u8; MAX_N],
    seed: [u8; MAX_N],
}

/// A fault of the bytes of a verifying key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum VerifyingKeyError {
    /// The length is not that of the parameter set.
    Length {
        /// The length of the set; 4 if the bytes have no OID.
        expected: usize,
        /// The length of the bytes.
        actual: usize,
    },
    /// The OID of no parameter set, or of another one than the caller names.
    Oid(u32),
}

impl fmt::Display for VerifyingKeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length { expected, actual } => {
                write!(f, "the verifying key has {actual} bytes, not {expected}")
            }
            Self::Oid(oid) => write!(f, "{oid:#x} is the OID of no parameter set"),
        }
    }
}

impl core::error::Error for VerifyingKeyError {}

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
    /// Reads a key of XMSS.
    ///
    /// # Errors
    ///
    /// [`VerifyingKeyError`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, VerifyingKeyError> {
        Self::of(bytes, ParameterSet::of_oid)
    }

    /// Reads a key of XMSS^MT.
    ///
    /// # Errors
    ///
    /// [`VerifyingKeyError`].
    pub fn from_mt_bytes(bytes: &[u8]) -> Result<Self, VerifyingKeyError> {
        Self::of(bytes, ParameterSet::of_mt_oid)
    }

    /// Reads a key of this parameter set.
    ///
    /// A program that calls only this function holds the hash function of the set that it names, and no table of sets.
    ///
    /// # Errors
    ///
    /// [`VerifyingKeyError`].
    pub fn of_set(set: ParameterSet, bytes: &[u8]) -> Result<Self, VerifyingKeyError> {
        Self::of(bytes, |oid| (oid == set.oid()).then_some(set))
    }

    fn of(bytes: &[u8], set: impl FnOnce(u32) -> Option<ParameterSet>) -> Result<Self, VerifyingKeyError> {
        let length = |expected| VerifyingKeyError::Length { expected, actual: bytes.len() };
        let (oid, rest) = bytes.split_first_chunk().ok_or(length(4))?;
        let oid = u32::from_be_bytes(*oid);
        let set = set(oid).ok_or(VerifyingKeyError::Oid(oid))?;
        let n = set.0.n;
        if rest.len() != 2 * n {
            return Err(length(set.verifying_key_len()));
        }
        Ok(Self::new(set, &rest[..n], &rest[n..]))
    }

    pub(super) fn new(set: ParameterSet, root: &[u8], seed: &[u8]) -> Self {
        let mut key = Self { set, root: [0; MAX_N], seed: [0; MAX_N] };
        key.root[..set.0.n].copy_from_slice(root);
        key.seed[..set.0.n].copy_from_slice(seed);
        key
    }

    /// Returns the bytes of the key: OID ‖ root ‖ SEED.
    #[cfg(feature = "alloc")]
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        [&self.set.oid().to_be_bytes()[..], self.root(), self.seed()].concat()
    }

    pub(super) fn root(&self) -> &[u8] {
        &self.root[..self.set.0.n]
    }

    pub(super) fn seed(&self) -> &[u8] {
        &self.seed[..self.set.0.n]
    }

    /// Returns the parameter set.
    #[must_use]
    pub const fn parameter_set(&self) -> ParameterSet {
        self.set
    }

    /// Verifies a signature of a message.
    ///
    /// RFC 8391, Algorithm 14 (XMSS_verify) and Algorithm 17 (XMSSMT_verify).
    ///
    /// # Errors
    ///
    /// [`InvalidSignature`].
    pub fn verify(&self, message: &[u8], signature: &[u8]) -> Result<(), InvalidSignature> {
        let params = self.set.0;
        let n = params.n;
        if signature.len() != self.set.signature_len() {
            return Err(InvalidSignature);
        }
        if !SIDE_BY_SIDE {
            let is_valid = verify_whole(signature, |read| self.check(&[message], read));
            return if is_valid { Ok(()) } else { Err(InvalidSignature) };
        }
        let (index, rest) = signature.split_at(params.index_len());
        let index = index.iter().fold(0, |index, byte| index << 8 | u64::from(*byte));
        if index >> params.all_heights() != 0 {
            return Err(InvalidSignature);
        }
        let (r, layers) = rest.split_at(n);
        let hash = Hash::new(params, self.seed());
        let mut node = hash.message(r, self.root(), index, message);
        let mut tree = index;
        for (layer, part) in (0..).zip(layers.chunks_exact(params.layer_len())) {
            let leaf = (tree & ((1 << params.height) - 1)) as u32;
            tree >>= params.height;
            let (chains, path) = part.split_at(n * params.chains());
            node = Tree { hash: &hash, layer, tree }.root_of(leaf, &Digits::new(&node[..n]), chains, path);
        }
        if node[..n] == *self.root() { Ok(()) } else { Err(InvalidSignature) }
    }
}

impl fmt::Debug for VerifyingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("VerifyingKey").field(&self.set).finish_non_exhaustive()
    }
}
