//! RFC 8554, §5 and §6: verifying keys and signatures of LMS and HSS.

#[cfg(feature = "alloc")]
use alloc::vec::Vec;
use core::fmt;

use super::params::{LmotsType, LmsType, MAX_N};
use super::tree::Tree;

/// The most levels of an HSS key (RFC 8554, §6).
pub(super) const MAX_LEVELS: u32 = 8;

/// A verifying key of LMS: u32str(type) ‖ u32str(otstype) ‖ I ‖ T\[1\].
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct VerifyingKey {
    lms: LmsType,
    ots: LmotsType,
    identifier: [u8; 16],
    root: [u8; MAX_N],
}

/// A fault of the bytes of a verifying key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum VerifyingKeyError {
    /// The length is not the one that the types give.
    Length {
        /// The length that the types give; 24 or 28 if the bytes end before them.
        expected: usize,
        /// The length of the bytes.
        actual: usize,
    },
    /// The code is not assigned to a type of LMS.
    LmsType(u32),
    /// The code is not assigned to a type of LM-OTS, or to one with another hash function or length than the tree.
    LmotsType(u32),
    /// The number of levels of an HSS key is not between 1 and 8.
    Levels(u32),
}

impl fmt::Display for VerifyingKeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length { expected, actual } => {
                write!(f, "the verifying key has {actual} bytes, not {expected}")
            }
            Self::LmsType(code) => write!(f, "{code:#x} is not a type of LMS"),
            Self::LmotsType(code) => {
                write!(f, "{code:#x} is not a type of LM-OTS with the hash function and length of the tree")
            }
            Self::Levels(levels) => write!(f, "an HSS key has 1 to 8 levels, not {levels}"),
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

/// The next bytes of a signature.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(taken)
    }

    fn number(&mut self) -> Option<u32> {
        self.take(4).map(|bytes| bytes.iter().fold(0, |number, byte| number << 8 | u32::from(*byte)))
    }
}

impl VerifyingKey {
    /// The key with these bytes.
    ///
    /// # Errors
    ///
    /// [`VerifyingKeyError`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, VerifyingKeyError> {
        let length = |expected| VerifyingKeyError::Length { expected, actual: bytes.len() };
        let mut reader = Reader(bytes);
        let (code, ots) = reader.number().zip(reader.number()).ok_or(length(24))?;
        let lms = LmsType::of_code(code).ok_or(VerifyingKeyError::LmsType(code))?;
        let ots = LmotsType::of_code(ots)
            .filter(|ots| lms.goes_with(*ots))
            .ok_or(VerifyingKeyError::LmotsType(ots))?;
        if bytes.len() != lms.key_len() {
            return Err(length(lms.key_len()));
        }
        let (mut identifier, mut root) = ([0; 16], [0; MAX_N]);
        identifier.copy_from_slice(&bytes[8..24]);
        root[..lms.0.n].copy_from_slice(&bytes[24..]);
        Ok(Self { lms, ots, identifier, root })
    }

    /// The type of the tree.
    #[must_use]
    pub const fn lms_type(&self) -> LmsType {
        self.lms
    }

    /// The type of the one-time signatures.
    #[must_use]
    pub const fn lmots_type(&self) -> LmotsType {
        self.ots
    }

    #[cfg(feature = "alloc")]
    pub(super) const fn new(lms: LmsType, ots: LmotsType, identifier: [u8; 16], root: [u8; MAX_N]) -> Self {
        Self { lms, ots, identifier, root }
    }

    /// The bytes of the key: 48 or 56.
    #[cfg(feature = "alloc")]
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let head = [self.lms.code(), self.ots.code()].map(u32::to_be_bytes);
        [head.as_flattened(), &self.identifier, &self.root[..self.lms.0.n]].concat()
    }

    pub(super) const fn tree(&self) -> Tree<'_> {
        Tree { lms: self.lms.0, ots: self.ots.0, identifier: &self.identifier }
    }

    /// Verifies a signature of a message.
    ///
    /// RFC 8554, Algorithm 6.
    ///
    /// # Errors
    ///
    /// [`InvalidSignature`].
    pub fn verify(&self, message: &[u8], signature: &[u8]) -> Result<(), InvalidSignature> {
        let mut reader = Reader(signature);
        let is_valid = self.is_valid(message, &mut reader) == Some(true) && reader.0.is_empty();
        if is_valid { Ok(()) } else { Err(InvalidSignature) }
    }

    /// Reads a signature and compares its root; `None` if the bytes are no signature of this type.
    fn is_valid(&self, message: &[u8], reader: &mut Reader<'_>) -> Option<bool> {
        let (lms, ots) = (self.lms.0, self.ots.0);
        let leaf = reader.number()?;
        let ots_code = reader.number()?;
        if leaf >> lms.h != 0 || ots_code != ots.code {
            return None;
        }
        let c = reader.take(ots.n)?;
        let chains = reader.take(ots.n * ots.p)?;
        if reader.number()? != lms.code {
            return None;
        }
        let path = reader.take(lms.n * lms.h as usize)?;
        let tree = self.tree();
        let root = tree.root_of(leaf, &tree.digits(leaf, c, message), chains, path);
        Some(root[..lms.n] == self.root[..lms.n])
    }
}

impl fmt::Debug for VerifyingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("VerifyingKey").field(&self.lms).field(&self.ots).finish_non_exhaustive()
    }
}

/// A verifying key of HSS: u32str(L) ‖ the key of the highest tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HssVerifyingKey {
    levels: u32,
    top: VerifyingKey,
}

impl HssVerifyingKey {
    /// The key with these bytes.
    ///
    /// # Errors
    ///
    /// [`VerifyingKeyError`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, VerifyingKeyError> {
        let mut reader = Reader(bytes);
        let levels =
            reader.number().ok_or(VerifyingKeyError::Length { expected: 28, actual: bytes.len() })?;
        if !(1..=MAX_LEVELS).contains(&levels) {
            return Err(VerifyingKeyError::Levels(levels));
        }
        Ok(Self { levels, top: VerifyingKey::from_bytes(reader.0)? })
    }

    #[cfg(feature = "alloc")]
    pub(super) const fn new(levels: u32, top: VerifyingKey) -> Self {
        Self { levels, top }
    }

    /// The bytes of the key: 52 or 60.
    #[cfg(feature = "alloc")]
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        [&self.levels.to_be_bytes()[..], &self.top.to_bytes()].concat()
    }

    /// The number of trees from the highest to the one that signs messages: 1 to 8.
    #[must_use]
    pub const fn levels(&self) -> u32 {
        self.levels
    }

    /// The key of the highest tree.
    #[must_use]
    pub const fn top(&self) -> &VerifyingKey {
        &self.top
    }

    /// Verifies a signature of a message.
    ///
    /// RFC 8554, §6.3.
    ///
    /// # Errors
    ///
    /// [`InvalidSignature`].
    pub fn verify(&self, message: &[u8], signature: &[u8]) -> Result<(), InvalidSignature> {
        let mut reader = Reader(signature);
        let is_valid = self.is_valid(message, &mut reader) == Some(true) && reader.0.is_empty();
        if is_valid { Ok(()) } else { Err(InvalidSignature) }
    }

    fn is_valid(&self, message: &[u8], reader: &mut Reader<'_>) -> Option<bool> {
        // Nspk, one less than the levels.
        if reader.number()?.checked_add(1)? != self.levels {
            return None;
        }
        let mut key = self.top;
        for _ in 1..self.levels {
            // The key of the next tree stands behind the signature of it.
            let own = LmsType::signature_len(key.lms, key.ots)?;
            let mut rest = Reader(reader.0);
            rest.take(own)?;
            let code = Reader(rest.0).number()?;
            let next = rest.take(LmsType::of_code(code)?.key_len())?;
            if key.is_valid(next, reader)? {
                reader.0 = rest.0;
            } else {
                return None;
            }
            key = VerifyingKey::from_bytes(next).ok()?;
        }
        key.is_valid(message, reader)
    }
}
