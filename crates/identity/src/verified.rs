//! The proof, in the type, that something was verified.

use crate::DidUrl;
use core::ops::Deref;

/// A value whose signature, time, signer and purpose were checked.
///
/// Only the verifying functions of this crate make one. Claims that nothing vouches for come from functions that say so:
/// [`Jws::header`](crate::jose::Jws::header) and [`Jws::payload_unverified`](crate::jose::Jws::payload_unverified), what is
/// read to be approved or held, and [`verify_with_key`](crate::vc::data_integrity::verify_with_key), which asks about no
/// signer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified<T> {
    value: T,
    signer: DidUrl,
}

impl<T> Verified<T> {
    pub(crate) fn new(value: T, signer: DidUrl) -> Self {
        Self { value, signer }
    }

    /// The key that signed.
    pub fn signer(&self) -> &DidUrl {
        &self.signer
    }

    /// The value and the key.
    pub(crate) fn into_parts(self) -> (T, DidUrl) {
        (self.value, self.signer)
    }

    /// The value alone.
    pub fn into_inner(self) -> T {
        self.value
    }
}

impl<T> Deref for Verified<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}
