//! ML-KEM, the module-lattice-based key-encapsulation mechanism of FIPS 203.
//!
//! ```
//! use gambeson::mlkem::{DecapsulationKey, EncapsulationKey, MlKem768};
//!
//! // The receiver makes a key pair and sends the encapsulation key.
//! let dk = DecapsulationKey::<MlKem768>::generate()?;
//! let sent: [u8; 1184] = *dk.encapsulation_key().as_bytes();
//!
//! // The sender checks it, draws a secret, and sends the ciphertext.
//! let ek = EncapsulationKey::<MlKem768>::from_bytes(&sent)?;
//! let (ciphertext, shared) = ek.encapsulate()?;
//!
//! // The receiver finds the same 32 bytes.
//! assert_eq!(dk.decapsulate(&ciphertext).expose(), shared.expose());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | bytes of | [`MlKem512`] | [`MlKem768`] | [`MlKem1024`] |
//! | --- | --- | --- | --- |
//! | encapsulation key | 800 | 1184 | 1568 |
//! | decapsulation key: seed to store | 64 | 64 | 64 |
//! | the same in memory, with its encapsulation key | 5.0 KiB | 9.1 KiB | 14.0 KiB |
//! | the same, compact | 96 | 96 | 96 |
//! | decapsulation key in other libraries' form | 1632 | 2400 | 3168 |
//! | ciphertext | 768 | 1088 | 1568 |
//! | shared secret | 32 | 32 | 32 |
//!
//! # Forms of a key
//!
//! With feature `alloc`, a [`DecapsulationKey`] is prepared when it is made, and an [`EncapsulationKey`] when it is used for the
//! second time: matrix, secrets and hash stand on the heap. A key that is used once needs no heap: [`EncapsulationKeyRef`],
//! [`DecapsulationKey::decapsulate_encoded`]. Servers have many operations at once, whose hashes run side by side:
//! [`encapsulate_many`], [`decapsulate_many`].
//!
//! [`Compact`](crate::Compact)`<MlKem768>` in the place of [`MlKem768`] has keys of bytes and seeds, and samples what an operation
//! needs, one polynomial at a time. [`Small`](crate::Small)`<MlKem768>` takes the least memory: 1 to 3 KiB of stack for any set, in
//! up to twice the time; so does [`DecapsulationKeyRef`] for a key that is stored as other libraries store it. The doors `…_into`
//! write into the caller's memory, and those that end in `_in` work in a [`Workspace`](crate::Workspace) instead of on the stack.
//! All forms give the same results.
//!
//! # Three doors for randomness
//!
//! `generate` and `encapsulate` ask the operating system (feature `getrandom`), `…_with` a generator of the
//! caller's, and `from_seed` and `encapsulate_deterministic` take the random bytes themselves.
//!
//! # Layout
//!
//! No module uses one of a line above its own.
//!
//! * `batch`: many operations at once; `keys`: the doors of keys; `sets`: the parameter sets (FIPS 203, §8)
//! * `prepared`, `compact`: what keys hold
//! * §6: `operations`, whose sponges `lanes` runs side by side; `serial`, prepared keys where states stand alone; `small`, in the
//!   least memory; `kem`, other keys
//! * `pke`: §5, `sample`: §4.2.2, `encode`: §4.2.1; `encoded`: a key in the standard's bytes; `depth`: the stack that is scrubbed
//! * `params`: what a set is, and the keys that it selects
//! * `ring`: §2.4 and §4.3, `kernels`: the operations that have fast paths, `poly`: the elements

#[cfg(feature = "alloc")]
mod batch;
mod compact;
mod depth;
mod encode;
mod encoded;
#[cfg(gambeson_ct)]
#[doc(hidden)]
pub mod gate;
mod kem;
mod kernels;
mod keys;
#[cfg(feature = "alloc")]
mod lanes;
#[cfg(feature = "alloc")]
mod operations;
mod params;
mod pke;
mod poly;
#[cfg(feature = "alloc")]
mod prepared;
mod ring;
#[cfg(feature = "rustcrypto")]
pub mod rustcrypto;
mod sample;
#[cfg(feature = "alloc")]
mod serial;
mod sets;
mod small;

use core::fmt;

#[cfg(all(feature = "alloc", feature = "getrandom"))]
pub use batch::encapsulate_many;
#[cfg(feature = "alloc")]
pub use batch::{
    Recipient, decapsulate_many, decapsulate_many_encoded, encapsulate_many_deterministic,
    encapsulate_many_with,
};
pub use encoded::DecapsulationKeyRef;
pub use keys::EncapsulationKeyRef;
pub use params::{DecapsulationKey, EncapsulationKey, ParameterSet};
#[cfg(feature = "alloc")]
pub use prepared::PreparedSet;
pub use sets::{MlKem512, MlKem768, MlKem1024};

/// The 32 bytes that both sides share.
pub type SharedSecret = crate::secret::Secret<[u8; 32]>;

/// The kernel table that would run now.
#[must_use]
pub fn kernels() -> crate::cpu::Level {
    kernels::active().level
}

/// The bytes are not an encapsulation key: a coefficient is not below q (FIPS 203, §7.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidEncapsulationKey;

impl fmt::Display for InvalidEncapsulationKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not an ML-KEM encapsulation key: a coefficient is not below q")
    }
}

impl core::error::Error for InvalidEncapsulationKey {}

/// Why a string of bytes is not an encapsulation key (FIPS 203, §7.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EncapsulationKeyError {
    /// Its length is not that of the parameter set.
    Length {
        /// The length of the set's keys in bytes.
        expected: usize,
        /// The length that was given.
        actual: usize,
    },
    /// A coefficient is not below q.
    Modulus,
}

impl fmt::Display for EncapsulationKeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length { expected, actual } => {
                write!(f, "an ML-KEM encapsulation key of {actual} bytes, where {expected} are needed")
            }
            Self::Modulus => InvalidEncapsulationKey.fmt(f),
        }
    }
}

impl core::error::Error for EncapsulationKeyError {}

/// Why a string of bytes is not a decapsulation key (FIPS 203, §7.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DecapsulationKeyError {
    /// Its length is not that of the parameter set.
    Length {
        /// The length of the set's keys in bytes.
        expected: usize,
        /// The length that was given.
        actual: usize,
    },
    /// The hash inside is not that of the encapsulation key inside.
    Hash,
    /// The encapsulation key inside has a coefficient that is not below q.
    Modulus,
}

impl fmt::Display for DecapsulationKeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length { expected, actual } => {
                write!(f, "an ML-KEM decapsulation key of {actual} bytes, where {expected} are needed")
            }
            Self::Hash => {
                f.write_str("the hash in the ML-KEM decapsulation key is not that of its encapsulation key")
            }
            Self::Modulus => f.write_str(
                "the encapsulation key in the ML-KEM decapsulation key has a coefficient that is not below q",
            ),
        }
    }
}

impl core::error::Error for DecapsulationKeyError {}
