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
//! | | public key | signature | private key: seed | … encoded | [`SigningKey`] | … compact | [`VerifyingKey`], prepared |
//! | --- | --- | --- | --- | --- | --- | --- | --- |
//! | [`MlDsa44`] | 1312 | 2420 | 32 | 2560 | 30 KiB of heap | 96 | 22 KiB of heap |
//! | [`MlDsa65`] | 1952 | 3309 | 32 | 4032 | 50 KiB | 96 | 38 KiB |
//! | [`MlDsa87`] | 2592 | 4627 | 32 | 4896 | 83 KiB | 96 | 67 KiB |
//!
//! # Forms of a key
//!
//! With feature `alloc`, a [`SigningKey`] is prepared when it is made, and a [`VerifyingKey`] when it is used for the second time:
//! what operations need stands on the heap. A [`VerifyingKeyRef`] verifies once, and keeps nothing. [`verify_many`] judges many
//! signatures, eight side by side, and so does [`VerifyingKey::verify_many`] for one key.
//!
//! [`Compact`](crate::Compact)`<MlDsa65>` in the place of [`MlDsa65`] has keys of bytes and seeds, and makes the rest again in each
//! operation: on the stack, or, with feature `alloc` and wide vectors, on the heap, where all sponges run side by side.
//! [`Small`](crate::Small)`<MlDsa65>` takes the least memory: 2.4 to 4.4 KiB of stack on 32-bit processors, no heap, in two to three
//! times the time; [`SigningKeyRef`] is a private key that is stored as other libraries store it. The doors `…_into` write into the
//! caller's memory, and work there; those that end in `_in` work in a [`Workspace`](crate::Workspace), and leave the stack to frames.
//! All forms give the same signatures and verdicts.
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
//! | | compact: key generation | signing | verification | prepared: generation | signing | verification |
//! | --- | --- | --- | --- | --- | --- | --- |
//! | [`MlDsa44`] | 10.7 | 13.2 | 9.3 | 9.2 | 13.4 | 8.9 |
//! | [`MlDsa65`] | 13.0 | 16.1 | 10.3 | 9.8 | 15.3 | 9.9 |
//! | [`MlDsa87`] | 16.2 | 19.6 | 12.3 | 10.5 | 18.3 | 11.9 |
//!
//! # Layout
//!
//! From below to above; no two modules use each other:
//!
//! * `ring`, `kernels`: polynomials, and the work on them that deserves a fast path (§7.5);
//! * `params`: the parameters (§4); `errors`;
//! * `encode`: bits and bytes (§7.1, §7.2); `hint`: the high bits and their hints (§7.4);
//! * `message`: M and μ (§5.2, §5.4); M′ and the pre-hash functions stand beside this module, in `prehash`;
//! * `sample`: polynomials from hashes (§7.3); `lanes`: many of them side by side;
//! * `public`: the bytes of a public key; `forms`: the encodings of a set, and what its keys hold;
//! * `dsa`: signing and verification, generic over the form of the key (§6.2, §6.3); `seeds`: ρ and ρ′, and key generation (§6.1);
//! * `small`: all three in the least memory;
//! * `verify`: by a key that is used once; `verify_many`: many signatures side by side;
//! * `prepared`, `compact`: what keys hold; `encoded`: the standard's bytes; `sets`: the parameter sets; `keys`: the types.

#[cfg(all(gambeson_ct, feature = "alloc"))]
mod attempt;
mod compact;
mod dsa;
mod encode;
mod encoded;
mod errors;
mod forms;
mod hint;
mod kernels;
mod keys;
#[cfg(feature = "alloc")]
mod lanes;
mod message;
mod params;
#[cfg(feature = "alloc")]
mod prepared;
mod public;
mod ring;
#[cfg(feature = "rustcrypto")]
mod rustcrypto;
mod sample;
mod seeds;
mod sets;
mod small;
mod verify;
#[cfg(feature = "alloc")]
mod verify_many;

#[cfg(all(gambeson_ct, feature = "alloc"))]
#[doc(hidden)]
pub use attempt::attempt;
pub use encoded::SigningKeyRef;
pub use errors::{InvalidSignature, SigningKeyError, VerifyingKeyError};
pub use forms::ParameterSet;
#[cfg(gambeson_ct)]
#[doc(hidden)]
pub use kernels::gate;
pub use keys::{SigningKey, VerifyingKey, VerifyingKeyRef};
pub use message::{Message, MuHasher};
#[cfg(feature = "alloc")]
pub use prepared::PreparedSet;
#[cfg(feature = "rustcrypto")]
pub use rustcrypto::Signature;
pub use sets::{MlDsa44, MlDsa65, MlDsa87};
#[cfg(feature = "alloc")]
pub use verify_many::verify_many;

pub use crate::prehash::{
    ContextTooLong, Digest, DigestLength, DigestRef, PreHash, PreHasher, UnknownPreHash,
};

/// The kernel table that would run.
#[must_use]
pub fn kernels() -> crate::cpu::Level {
    kernels::active().level
}
