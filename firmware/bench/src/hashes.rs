//! Verification of hash-based signatures, which lie in flash and are read piece by piece, and their hash function.

use super::{Input, Operation};
use gambeson::lms::{self, LmotsType, LmsType};
use gambeson::{slhdsa, xmss};
use sha2::{Digest, Sha256};

/// Verification of a signature that is read piece by piece.
pub trait Streamed {
    /// The verifying key.
    type Key;

    /// The bytes of the key's encoding.
    const KEY_LEN: usize;

    /// Reads a key.
    fn key(bytes: &[u8]) -> Option<Self::Key>;

    /// Verifies the signature in `flash`.
    fn is_valid(key: &Self::Key, message: &[u8; 32], flash: impl FnMut(&mut [u8]) -> Result<(), ()>) -> bool;
}

macro_rules! lms {
    ($($name:ident $tree:ident $one_time:ident;)*) => {$(
        #[doc = concat!("`LMS_", stringify!($tree), "` with `LMOTS_", stringify!($one_time), "`: RFC 8554, Algorithm 6.")]
        pub struct $name;

        impl Streamed for $name {
            type Key = lms::VerifyingKey;

            const KEY_LEN: usize = 56;

            fn key(bytes: &[u8]) -> Option<Self::Key> {
                lms::VerifyingKey::of_types(LmsType::$tree, LmotsType::$one_time, bytes).ok()
            }

            fn is_valid(
                key: &Self::Key,
                message: &[u8; 32],
                flash: impl FnMut(&mut [u8]) -> Result<(), ()>,
            ) -> bool {
                key.verify_streamed(&[message], flash).is_ok()
            }
        }
    )*};
}

lms! {
    LmsH10W8 SHA256_M32_H10 SHA256_N32_W8;
    LmsH10W4 SHA256_M32_H10 SHA256_N32_W4;
    LmsShakeH10W8 SHAKE_M32_H10 SHAKE_N32_W8;
}

/// XMSS-SHA2_10_256: RFC 8391, Algorithm 14 (XMSS_verify).
pub struct XmssSha2H10;

impl Streamed for XmssSha2H10 {
    type Key = xmss::VerifyingKey;

    const KEY_LEN: usize = 68;

    fn key(bytes: &[u8]) -> Option<Self::Key> {
        xmss::VerifyingKey::of_set(xmss::ParameterSet::SHA2_10_256, bytes).ok()
    }

    fn is_valid(key: &Self::Key, message: &[u8; 32], flash: impl FnMut(&mut [u8]) -> Result<(), ()>) -> bool {
        key.verify_streamed(&[message], flash).is_ok()
    }
}

/// SLH-DSA-SHA2-128s: FIPS 205, Algorithm 24 (slh_verify).
pub struct SlhSha2128s;

impl Streamed for SlhSha2128s {
    type Key = slhdsa::VerifyingKey;

    const KEY_LEN: usize = 32;

    fn key(bytes: &[u8]) -> Option<Self::Key> {
        slhdsa::VerifyingKey::from_bytes(slhdsa::ParameterSet::SHA2_128S, bytes).ok()
    }

    fn is_valid(key: &Self::Key, message: &[u8; 32], flash: impl FnMut(&mut [u8]) -> Result<(), ()>) -> bool {
        key.verify_streamed(message, flash).is_ok()
    }
}

/// A verification by a key of `S`.
pub struct Verify<S: Streamed> {
    key: Option<S::Key>,
    message: [u8; 32],
    signature: &'static [u8],
    valid: bool,
}

impl<S: Streamed> Operation for Verify<S> {
    const KEY: usize = size_of::<S::Key>();

    fn new() -> Self {
        Self { key: None, message: [0; 32], signature: &[], valid: false }
    }

    fn prepare(&mut self, input: &mut Input) {
        self.key = S::key(input.next(S::KEY_LEN));
        input.read(&mut self.message);
        self.signature = input.0;
        self.valid = false;
    }

    fn run(&mut self) {
        let mut rest = self.signature;
        let flash = |out: &mut [u8]| {
            let (next, behind) = rest.split_at_checked(out.len()).ok_or(())?;
            out.copy_from_slice(next);
            rest = behind;
            Ok(())
        };
        self.valid = self.key.as_ref().is_some_and(|key| S::is_valid(key, &self.message, flash));
    }

    fn check(&self, _: &mut Input) -> bool {
        self.valid
    }
}

/// SHA-256 of a message in two pieces.
pub struct Digest256 {
    message: [u8; 64],
    digest: [u8; 32],
}

impl Operation for Digest256 {
    const KEY: usize = 0;

    fn new() -> Self {
        Self { message: [0; 64], digest: [0; 32] }
    }

    fn prepare(&mut self, input: &mut Input) {
        input.read(&mut self.message);
    }

    fn run(&mut self) {
        let (first, second) = self.message.split_at(13);
        self.digest = Sha256::new().chain_update(first).chain_update(second).finalize().into();
    }

    fn check(&self, expected: &mut Input) -> bool {
        expected.is(&self.digest)
    }
}
