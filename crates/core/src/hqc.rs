//! HQC, the code-based key-encapsulation mechanism Hamming Quasi-Cyclic. **Unstable**: its standard is not out.
//!
//! NIST selected HQC in March 2025 and has not published a draft. This module follows what the HQC team published, in two versions that do not
//! understand each other ([`Profile`]). The standard may change every byte: keep no keys and no ciphertexts for longer than a session, or keep the
//! profile with them. No version of this crate promises compatibility here.
//!
//! ```
//! use gambeson::hqc::{DecapsulationKey, EncapsulationKey, ParameterSet};
//!
//! // The receiver makes a key pair and sends the encapsulation key.
//! let dk = DecapsulationKey::generate(ParameterSet::HQC_1)?;
//! let sent = dk.encapsulation_key().as_bytes().to_vec();
//!
//! // The sender checks it, draws a secret, and sends the ciphertext.
//! let ek = EncapsulationKey::from_bytes(ParameterSet::HQC_1, &sent)?;
//! let (ciphertext, shared) = ek.encapsulate()?;
//!
//! // The receiver finds the same 32 bytes.
//! assert_eq!(dk.decapsulate(&ciphertext)?.expose(), shared.expose());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | bytes of | [`HQC_1`](ParameterSet::HQC_1) | [`HQC_3`](ParameterSet::HQC_3) | [`HQC_5`](ParameterSet::HQC_5) |
//! | --- | --- | --- | --- |
//! | encapsulation key | 2241 | 4514 | 7237 |
//! | decapsulation key: seed to store | 32 | 32 | 32 |
//! | decapsulation key in other libraries' form | 2321 | 4602 | 7333 |
//! | ciphertext | 4433 | 8978 | 14421 |
//! | shared secret | 32 | 32 | 32 |
//!
//! Every key needs the heap (feature `alloc`): an operation takes 30 to 140 KiB of it while it runs.
//!
//! # Side channels
//!
//! The text is written so that time does not depend on secrets, except on how many candidates the key sampler rejects, which tells nothing of
//! those that it keeps. The gates that hold the machine code of other modules to that do not run this one yet.
//!
//! There is **no protection against power analysis**: the encoder of the Reed–Muller code leaks the message in one trace of other
//! implementations (eprint 2026/071), and the product of decryption leaks the key (arXiv 2601.07634). The encoder here takes no masks from bits of the message,
//! which is no defence by itself.
//!
//! # Forms of a key
//!
//! A [`DecapsulationKey`] has all that decapsulations need, an [`EncapsulationKey`] from its second use on. [`CompactDecapsulationKey`] holds
//! 32 bytes; [`EncapsulationKeyRef`] and [`DecapsulationKeyRef`] read bytes that stand elsewhere. [`encapsulate_many`] and [`decapsulate_many`] run
//! the hashes of several operations side by side. All forms give the same results.
//!
//! # Layout
//!
//! No module uses one of a line above its own.
//!
//! * `batch`: many operations at once; `keys`: the doors of keys
//! * `operations`: the mechanism; `pke`: the encryption below it
//! * `sample`: the key sampler; `hash`: the hash functions, side by side; `words`: polynomials
//! * `kernels`: the operations that have fast paths; `product`, `support`, `reed_muller`, `reed_solomon`: their text
//! * `params`: parameter sets and profiles

mod batch;
mod hash;
mod kernels;
mod keys;
mod operations;
mod params;
mod pke;
mod product;
mod reed_muller;
mod reed_solomon;
mod sample;
mod support;
mod words;

use core::fmt;

#[cfg(feature = "getrandom")]
pub use batch::encapsulate_many;
pub use batch::{Recipient, decapsulate_many, encapsulate_many_deterministic, encapsulate_many_with};
pub use keys::{
    CompactDecapsulationKey, DecapsulationKey, DecapsulationKeyRef, EncapsulationKey, EncapsulationKeyRef,
};
pub use params::{ParameterSet, Profile};

/// The 32 bytes that both sides share.
pub type SharedSecret = crate::secret::Secret<[u8; 32]>;

/// The kernel table that would run now.
#[must_use]
pub fn kernels() -> crate::cpu::Level {
    kernels::active().level
}

/// The length of an input is not that of the parameter set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LengthError {
    /// The input: `encapsulation key`, `decapsulation key`, `ciphertext` or `message`.
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
        write!(f, "the HQC {} has {} bytes, and the parameter set {}", self.input, self.actual, self.expected)
    }
}

impl core::error::Error for LengthError {}

/// A fault of the bytes of an encapsulation key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EncapsulationKeyError {
    /// The length is not that of the set.
    Length(LengthError),
    /// A bit behind the n bits of s is set.
    SpareBits,
}

impl fmt::Display for EncapsulationKeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length(error) => error.fmt(f),
            Self::SpareBits => {
                f.write_str("not an HQC encapsulation key: a spare bit of its last byte is set")
            }
        }
    }
}

impl core::error::Error for EncapsulationKeyError {}

/// A fault of the bytes of a decapsulation key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DecapsulationKeyError {
    /// The length is not that of the set.
    Length(LengthError),
    /// A bit behind the n bits of s, in the encapsulation key inside, is set.
    SpareBits,
    /// The bytes are not those of the key of the seed inside.
    Mismatch,
}

impl fmt::Display for DecapsulationKeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length(error) => error.fmt(f),
            Self::SpareBits => f.write_str(
                "the encapsulation key in the HQC decapsulation key has a spare bit of its last byte set",
            ),
            Self::Mismatch => f.write_str("the HQC decapsulation key does not follow from the seed inside"),
        }
    }
}

impl core::error::Error for DecapsulationKeyError {}
