//! Verification of hash-based signatures, which lie in flash and are read piece by piece, and their hash function.

use super::{Input, Operation};
use core::marker::PhantomData;
use gambeson::lms::{LmotsType, LmsType, VerifyingKey};
use gambeson::slhdsa::{self, ParameterSet};
use gambeson::xmss;
use sha2::{Digest, Sha256};

/// Types of LMS.
pub trait LmsTypes {
    /// The tree.
    const TREE: LmsType;
    /// The one-time signatures.
    const ONE_TIME: LmotsType;
}

macro_rules! lms {
    ($($name:ident $tree:ident $one_time:ident;)*) => {$(
        #[doc = concat!("`LMS_", stringify!($tree), "` with `LMOTS_", stringify!($one_time), "`.")]
        pub struct $name;

        impl LmsTypes for $name {
            const TREE: LmsType = LmsType::$tree;
            const ONE_TIME: LmotsType = LmotsType::$one_time;
        }
    )*};
}

lms! {
    LmsH10W8 SHA256_M32_H10 SHA256_N32_W8;
    LmsH10W4 SHA256_M32_H10 SHA256_N32_W4;
    LmsShakeH10W8 SHAKE_M32_H10 SHAKE_N32_W8;
}

/// Callback that fills its argument with the next bytes of the flash.
fn flash(mut rest: &[u8]) -> impl FnMut(&mut [u8]) -> Result<(), ()> {
    move |out| {
        let (next, behind) = rest.split_at_checked(out.len()).ok_or(())?;
        out.copy_from_slice(next);
        rest = behind;
        Ok(())
    }
}

/// RFC 8554, Algorithm 6.
pub struct LmsVerify<T> {
    key: Option<VerifyingKey>,
    message: [u8; 32],
    signature: &'static [u8],
    valid: bool,
    types: PhantomData<T>,
}

impl<T: LmsTypes> Operation for LmsVerify<T> {
    const KEY: usize = size_of::<VerifyingKey>();

    fn new() -> Self {
        Self { key: None, message: [0; 32], signature: &[], valid: false, types: PhantomData }
    }

    fn prepare(&mut self, input: &mut Input) {
        self.key = VerifyingKey::of_types(T::TREE, T::ONE_TIME, input.next(56)).ok();
        input.read(&mut self.message);
        self.signature = input.0;
        self.valid = false;
    }

    fn run(&mut self) {
        self.valid = self
            .key
            .as_ref()
            .is_some_and(|key| key.verify_streamed(&[&self.message], flash(self.signature)).is_ok());
    }

    fn check(&self, _: &mut Input) -> bool {
        self.valid
    }
}

/// RFC 8391, Algorithm 14 (XMSS_verify), XMSS-SHA2_10_256.
pub struct XmssVerify {
    key: Option<xmss::VerifyingKey>,
    message: [u8; 32],
    signature: &'static [u8],
    valid: bool,
}

impl Operation for XmssVerify {
    const KEY: usize = size_of::<xmss::VerifyingKey>();

    fn new() -> Self {
        Self { key: None, message: [0; 32], signature: &[], valid: false }
    }

    fn prepare(&mut self, input: &mut Input) {
        self.key = xmss::VerifyingKey::of_set(xmss::ParameterSet::SHA2_10_256, input.next(68)).ok();
        input.read(&mut self.message);
        self.signature = input.0;
        self.valid = false;
    }

    fn run(&mut self) {
        self.valid = self
            .key
            .as_ref()
            .is_some_and(|key| key.verify_streamed(&[&self.message], flash(self.signature)).is_ok());
    }

    fn check(&self, _: &mut Input) -> bool {
        self.valid
    }
}

/// A parameter set of SLH-DSA.
pub trait SlhSet {
    /// The set.
    const SET: ParameterSet;
}

/// SLH-DSA-SHA2-128s.
pub struct SlhSha2128s;

impl SlhSet for SlhSha2128s {
    const SET: ParameterSet = ParameterSet::SHA2_128S;
}

/// FIPS 205, Algorithm 24 (slh_verify).
pub struct SlhVerify<S> {
    set: PhantomData<S>,
    key: Option<slhdsa::VerifyingKey>,
    message: [u8; 32],
    signature: &'static [u8],
    valid: bool,
}

impl<S: SlhSet> Operation for SlhVerify<S> {
    const KEY: usize = size_of::<slhdsa::VerifyingKey>();

    fn new() -> Self {
        Self { set: PhantomData, key: None, message: [0; 32], signature: &[], valid: false }
    }

    fn prepare(&mut self, input: &mut Input) {
        self.key = slhdsa::VerifyingKey::from_bytes(S::SET, input.next(S::SET.verifying_key_len())).ok();
        input.read(&mut self.message);
        self.signature = input.0;
        self.valid = false;
    }

    fn run(&mut self) {
        self.valid = self
            .key
            .as_ref()
            .is_some_and(|key| key.verify_streamed(&self.message, flash(self.signature)).is_ok());
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
