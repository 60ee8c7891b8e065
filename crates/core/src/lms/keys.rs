//! RFC 8554, §5 and §6: verifying keys and signatures of LMS and HSS.

#[cfg(feature = "alloc")]
use alloc::vec::Vec;
use core::fmt;

use super::params::{LmotsType, LmsType, MAX_N};
use super::tree::{Digits, Tree};
use crate::streamed::{Read, StreamError, Truncated, verify_whole};

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

/// The next bytes of a key.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn number(&mut self) -> Option<u32> {
        let (bytes, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u32::from_be_bytes(*bytes))
    }
}

impl VerifyingKey {
    /// The key with these bytes.
    ///
    /// # Errors
    ///
    /// [`VerifyingKeyError`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, VerifyingKeyError> {
        let mut reader = Reader(bytes);
        let length = VerifyingKeyError::Length { expected: 24, actual: bytes.len() };
        let (code, ots) = reader.number().zip(reader.number()).ok_or(length)?;
        let lms = LmsType::of_code(code).ok_or(VerifyingKeyError::LmsType(code))?;
        let ots = LmotsType::of_code(ots).ok_or(VerifyingKeyError::LmotsType(ots))?;
        Self::of_types(lms, ots, bytes)
    }

    /// The key with these bytes, which must be of these types.
    ///
    /// A program that calls only this function holds the hash function of the types that it names, and no table of types.
    ///
    /// # Errors
    ///
    /// [`VerifyingKeyError`].
    pub fn of_types(lms: LmsType, ots: LmotsType, bytes: &[u8]) -> Result<Self, VerifyingKeyError> {
        let length = |expected| VerifyingKeyError::Length { expected, actual: bytes.len() };
        let mut reader = Reader(bytes);
        let codes = reader.number().zip(reader.number()).ok_or(length(24))?;
        if codes.0 != lms.code() {
            return Err(VerifyingKeyError::LmsType(codes.0));
        }
        if codes.1 != ots.code() || !lms.goes_with(ots) {
            return Err(VerifyingKeyError::LmotsType(codes.1));
        }
        if bytes.len() != lms.verifying_key_len() {
            return Err(length(lms.verifying_key_len()));
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
        if self.lms.signature_len(self.ots) != Some(signature.len()) {
            return Err(InvalidSignature);
        }
        let is_valid = verify_whole(signature, |read| self.check(&[message], read));
        if is_valid { Ok(()) } else { Err(InvalidSignature) }
    }

    /// Verifies a signature of a message in pieces. `read` fills its argument with the next bytes of the signature; bytes behind the signature are
    /// not read.
    ///
    /// RFC 8554, Algorithm 6.
    ///
    /// ```
    /// use gambeson::lms::{LmotsType, LmsType, StreamError, VerifyingKey};
    ///
    /// # let (key, mut flash) = ([&[0, 0, 0, 5, 0, 0, 0, 4][..], &[0; 48]].concat(), &[0, 0, 0, 1, 0, 0, 0, 4][..]);
    /// let key = VerifyingKey::of_types(LmsType::SHA256_M32_H5, LmotsType::SHA256_N32_W8, &key)?;
    /// let read = |piece: &mut [u8]| {
    ///     let (next, rest) = flash.split_at_checked(piece.len()).ok_or("end of the flash")?;
    ///     piece.copy_from_slice(next);
    ///     flash = rest;
    ///     Ok(())
    /// };
    /// let verified = key.verify_streamed(&[b"header", b"program"], read);
    /// assert_eq!(verified, Err(StreamError::Read("end of the flash")));
    /// # Ok::<(), gambeson::lms::VerifyingKeyError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`StreamError`].
    pub fn verify_streamed<E>(
        &self,
        message: &[&[u8]],
        mut read: impl FnMut(&mut [u8]) -> Result<(), E>,
    ) -> Result<(), StreamError<E>> {
        self.check(message, &mut read)
    }

    /// RFC 8554, Algorithm 6a.
    fn check<E>(&self, message: &[&[u8]], read: &mut Read<'_, E>) -> Result<(), StreamError<E>> {
        let (tree, n) = (self.tree(), self.lms.0.n);
        let leaf = number(read)?;
        if leaf >> self.lms.0.h != 0 || number(read)? != self.ots.code() {
            return Err(StreamError::Invalid);
        }
        let (mut digits, mut node) = (Digits::new(tree.ots), [0; MAX_N]);
        tree.read_digits(leaf, message, &mut digits, read)?;
        tree.one_time_key(leaf, &digits, &mut node, read)?;
        if number(read)? != self.lms.code() {
            return Err(StreamError::Invalid);
        }
        tree.climb(leaf, &mut node, read)?;
        if node[..n] == self.root[..n] { Ok(()) } else { Err(StreamError::Invalid) }
    }
}

/// The next four bytes.
fn number<E>(read: &mut Read<'_, E>) -> Result<u32, StreamError<E>> {
    let mut bytes = [0; 4];
    read(&mut bytes).map_err(StreamError::Read)?;
    Ok(u32::from_be_bytes(bytes))
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
        let mut end = 0;
        let read = |offset: usize, out: &mut [u8]| {
            let behind = offset + out.len();
            out.copy_from_slice(signature.get(offset..behind).ok_or(Truncated)?);
            end = end.max(behind);
            Ok::<(), Truncated>(())
        };
        let is_valid = self.verify_streamed(&[message], read).is_ok() && end == signature.len();
        if is_valid { Ok(()) } else { Err(InvalidSignature) }
    }

    /// Verifies a signature of a message in pieces. `read` fills its second argument with bytes of the signature, from an offset on.
    ///
    /// The signature of a lower tree's key stands before that key. So the key is read first, and then its signature. With one level offsets ascend
    /// without gaps.
    ///
    /// RFC 8554, §6.3.
    ///
    /// # Errors
    ///
    /// [`StreamError`].
    pub fn verify_streamed<E>(
        &self,
        message: &[&[u8]],
        mut read: impl FnMut(usize, &mut [u8]) -> Result<(), E>,
    ) -> Result<(), StreamError<E>> {
        // Nspk, one less than the levels.
        let mut offset = 0;
        if number(&mut from(&mut read, &mut offset))?.checked_add(1) != Some(self.levels) {
            return Err(StreamError::Invalid);
        }
        let mut key = self.top;
        for _ in 1..self.levels {
            let mut behind = offset + key.lms.signature_len(key.ots).ok_or(StreamError::Invalid)?;
            let (bytes, len) = next_key(&mut from(&mut read, &mut behind))?;
            key.check(&[&bytes[..len]], &mut from(&mut read, &mut offset))?;
            key = VerifyingKey::from_bytes(&bytes[..len]).map_err(|_| StreamError::Invalid)?;
            offset = behind;
        }
        key.check(message, &mut from(&mut read, &mut offset))
    }
}

/// The bytes of the next tree's key, and their number.
fn next_key<E>(read: &mut Read<'_, E>) -> Result<([u8; 24 + MAX_N], usize), StreamError<E>> {
    let code = number(read)?;
    let len = LmsType::of_code(code).ok_or(StreamError::Invalid)?.verifying_key_len();
    let mut bytes = [0; 24 + MAX_N];
    bytes[..4].copy_from_slice(&code.to_be_bytes());
    read(&mut bytes[4..len]).map_err(StreamError::Read)?;
    Ok((bytes, len))
}

/// Callback that reads from an offset on, which it moves.
fn from<E>(
    read: &mut impl FnMut(usize, &mut [u8]) -> Result<(), E>,
    offset: &mut usize,
) -> impl FnMut(&mut [u8]) -> Result<(), E> {
    |out| {
        read(*offset, out)?;
        *offset += out.len();
        Ok(())
    }
}
