//! What went wrong, and how OpenSSL hears of it.

use std::ffi::CStr;
use std::fmt;
use std::panic::Location;

use crate::abi::Item;

/// The kinds of mistakes; their numbers and texts are what OpenSSL prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Reason {
    /// A defect of this provider: it panicked.
    Internal = 1,
    Parameter = 2,
    InvalidKey = 3,
    NoKey = 4,
    KeyTaken = 5,
    OtherAlgorithm = 6,
    BufferTooSmall = 7,
    InvalidCiphertext = 8,
    InvalidSignature = 9,
    DigestNotSupported = 10,
    WrongOrder = 11,
    Randomness = 12,
    NotEncoded = 13,
    Passphrase = 14,
    InputOutput = 15,
    Stack = 16,
}

impl Reason {
    /// What `OSSL_FUNC_provider_get_reason_strings` returns.
    pub const TABLE: &'static [Item] = &[
        Self::Internal.item(c"internal error"),
        Self::Parameter.item(c"invalid parameter"),
        Self::InvalidKey.item(c"invalid key"),
        Self::NoKey.item(c"key is missing"),
        Self::KeyTaken.item(c"key is set already"),
        Self::OtherAlgorithm.item(c"key of another algorithm"),
        Self::BufferTooSmall.item(c"buffer is too small"),
        Self::InvalidCiphertext.item(c"invalid ciphertext"),
        Self::InvalidSignature.item(c"invalid signature"),
        Self::DigestNotSupported.item(c"explicit digest is not supported"),
        Self::WrongOrder.item(c"not initialised for this operation"),
        Self::Randomness.item(c"random generator failed"),
        Self::NotEncoded.item(c"key cannot be encoded"),
        Self::Passphrase.item(c"no usable passphrase"),
        Self::InputOutput.item(c"input or output failed"),
        Self::Stack.item(c"no stack for the work"),
        Item { id: 0, text: std::ptr::null() },
    ];

    const fn item(self, text: &'static CStr) -> Item {
        Item { id: self as u32, text: text.as_ptr() }
    }
}

/// A kind of mistake, what it was in this case, and where in this code it was found.
#[derive(Debug)]
pub struct Error {
    pub reason: Reason,
    pub detail: String,
    pub place: &'static Location<'static>,
}

impl Error {
    #[track_caller]
    pub fn new(reason: Reason, detail: impl fmt::Display) -> Self {
        Self { reason, detail: detail.to_string(), place: Location::caller() }
    }
}

impl From<gambeson_pki::Error> for Error {
    #[track_caller]
    fn from(error: gambeson_pki::Error) -> Self {
        let reason = match error {
            gambeson_pki::Error::Random(_) => Reason::Randomness,
            gambeson_pki::Error::Signature => Reason::InvalidSignature,
            gambeson_pki::Error::EmptyPassphrase => Reason::Passphrase,
            _ => Reason::InvalidKey,
        };
        Self::new(reason, error)
    }
}

impl From<gambeson::RngError> for Error {
    #[track_caller]
    fn from(error: gambeson::RngError) -> Self {
        Self::new(Reason::Randomness, error)
    }
}
