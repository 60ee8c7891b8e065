//! ML-DSA: digital signatures from module lattices (FIPS 204).
//!
//! ```
//! use gambeson::mldsa::{MlDsa65, SigningKey};
//!
//! let key = SigningKey::<MlDsa65>::generate()?;
//! let public = key.verifying_key(); // publish its 1952 bytes: public.as_bytes()
//!
//! let signature = key.sign(b"message")?;
//! public.verify(b"message", &signature)?;
//! assert!(public.verify(b"massage", &signature).is_err());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Sizes
//!
//! | | public key | signature | private key: seed | … expanded encoding | [`SigningKey`] | [`ExpandedSigningKey`] | [`ExpandedVerifyingKey`] |
//! | --- | --- | --- | --- | --- | --- | --- | --- |
//! | [`MlDsa44`] | 1312 | 2420 | 32 | 2560 | 96 | 30 KiB of heap | 22 KiB of heap |
//! | [`MlDsa65`] | 1952 | 3309 | 32 | 4032 | 96 | 50 KiB | 38 KiB |
//! | [`MlDsa87`] | 2592 | 4627 | 32 | 4896 | 96 | 83 KiB | 67 KiB |
//!
//! # Two forms of a key
//!
//! [`SigningKey`] and [`VerifyingKey`] hold a seed and bytes, and make the rest again in each operation: on the stack, or,
//! with feature `alloc` and wide vectors, on the heap, where all sponges run side by side. [`ExpandedSigningKey`] and
//! [`ExpandedVerifyingKey`] (feature `alloc`) remember it on the heap: several times faster from the second operation on.
//! Both give the same signatures and verdicts.
//!
//! For the least memory, [`Small`](crate::Small)`<MlDsa65>` in the place of [`MlDsa65`]: 2.4 to 4.4 KiB of stack on 32-bit processors, no heap,
//! in two to three times the time, [`VerifyingKeyRef`] for a public key where its bytes are, and [`ExpandedKeyRef`] for a private key that is stored as other
//! libraries store it. The doors `…_into` write into the caller's memory, and work there; those that end in `_in` work in a
//! [`Workspace`](crate::Workspace), and leave the stack to frames.
//!
//! [`VerifyingKey::verify_many`] and [`ExpandedVerifyingKey::verify_many`] judge many signatures, eight side by side.
//!
//! # What is signed
//!
//! A [`Message`]: bytes with an empty context convert by themselves; [`Message::pure`] takes a context,
//! [`Message::prehashed`] a digest, [`Message::mu`] the representative that a [`MuHasher`] makes of a message of any
//! size. Signing is hedged by default; [`SigningKey::sign_deterministic`] needs no randomness.
//!
//! # Time and memory
//!
//! Signing repeats until an attempt passes; how often, and which check failed, is independent of the private key. All
//! else takes the same time for every key, except for what is public.
//!
//! Stack in KiB, on x86-64 in release, with the result that the door returns (`cargo xtask stack` measures it); what
//! secrets leave there is overwritten:
//!
//! | | key generation | signing | verification | … with expanded keys: generation | signing | verification |
//! | --- | --- | --- | --- | --- | --- | --- |
//! | [`MlDsa44`] | 10.7 | 13.2 | 9.3 | 9.2 | 13.4 | 8.9 |
//! | [`MlDsa65`] | 13.0 | 16.1 | 10.3 | 9.8 | 15.3 | 9.9 |
//! | [`MlDsa87`] | 16.2 | 19.6 | 12.3 | 10.5 | 18.3 | 11.9 |
//!
//! # Layout
//!
//! * `params`: the parameter sets (§4);
//! * `message`: M, M′ and μ, and the pre-hash functions (§5.2, §5.4);
//! * `keys`, `expanded`: the two forms of a key; `encoded`: the standard's, borrowed;
//! * `dsa`: key generation, signing, verification (§6); `verify`: verification with more memory, one by one or many at once;
//! * `small`: the same in the least memory;
//! * `encode`: bits and bytes (§7.1, §7.2);
//! * `sample`: polynomials from hashes (§7.3); `lanes`: many of them side by side;
//! * `hint`: the high bits and their hints (§7.4);
//! * `ring`, `kernels`: polynomials, and the work on them that deserves a fast path (§7.5).

mod dsa;
mod encode;
mod encoded;
#[cfg(feature = "alloc")]
mod expanded;
mod hint;
mod kernels;
mod keys;
#[cfg(feature = "alloc")]
mod lanes;
#[cfg(test)]
mod mask_tests;
mod message;
mod params;
mod ring;
#[cfg(feature = "rustcrypto")]
mod rustcrypto;
mod sample;
mod small;
#[cfg(feature = "alloc")]
mod verify;

#[cfg(all(gambeson_ct, feature = "alloc"))]
#[doc(hidden)]
pub use dsa::attempt;
pub use encoded::{ExpandedKeyRef, SigningKeyError, VerifyingKeyRef};
#[cfg(feature = "alloc")]
pub use expanded::{ExpandedSigningKey, ExpandedVerifyingKey};
#[cfg(gambeson_ct)]
#[doc(hidden)]
pub use kernels::gate;
pub use keys::{InvalidSignature, SigningKey, VerifyingKey, VerifyingKeyLength};
pub use message::{
    ContextTooLong, Digest, DigestLength, Message, MuHasher, PreHash, PreHasher, UnknownPreHash,
};
pub use params::{MlDsa44, MlDsa65, MlDsa87, ParameterSet};
#[cfg(feature = "rustcrypto")]
pub use rustcrypto::Signature;

/// The kernel table that would run.
#[must_use]
pub fn kernels() -> crate::cpu::Level {
    kernels::active().level
}

/// Whether the table in force is for vectors: then sponges run side by side, and matrices are made on the heap.
#[cfg(feature = "alloc")]
fn is_wide() -> bool {
    kernels() >= crate::cpu::Level::Neon
}
