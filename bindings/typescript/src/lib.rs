//! What the npm package `gambeson` calls: conversions between JavaScript's values and the types of the core, and nothing
//! else. The TypeScript in `ts/` gives it the names that people use.
//!
//! # Layout
//!
//! * `memory`: every block is wiped when it is freed
//! * `failure`: errors with stable codes
//! * `kem`, `dsa`, `hash`: the primitives, the module `gambeson`
//! * `slhdsa`, `lms`, `xmss`: hash-based signatures, the module `hash`, by the feature `hash-based`
//! * the module `identity`, by the feature: `border`, how it is asked; `handle`, the objects that live in it; `agent`, what an agent
//!   signs; `credentials`, what it says of others; `verifier`, what others hold against that; `messages`, HTTP; `forms`, what needs no
//!   object
//! * the module `whole`, by the feature, has all that and what few do in a page: `disclosure`, SD-JWT; `keeping`, words, files of
//!   seeds, backups and state; `files`, what is signed or named by its hash; `log`, the audit log; `status`, lists of what was revoked
//! * `vectors`: what test vectors need and the package must not have, by the feature `test-vectors`

#[cfg(feature = "identity")]
mod agent;
#[cfg(feature = "identity")]
mod border;
#[cfg(feature = "identity")]
mod credentials;
#[cfg(feature = "whole")]
mod disclosure;
#[cfg(not(any(feature = "identity", feature = "hash-based")))]
mod dsa;
mod failure;
#[cfg(feature = "whole")]
mod files;
#[cfg(feature = "identity")]
mod forms;
#[cfg(feature = "identity")]
mod handle;
#[cfg(not(any(feature = "identity", feature = "hash-based")))]
mod hash;
#[cfg(feature = "whole")]
mod keeping;
#[cfg(not(any(feature = "identity", feature = "hash-based")))]
mod kem;
#[cfg(feature = "hash-based")]
mod lms;
#[cfg(feature = "whole")]
mod log;
mod memory;
#[cfg(feature = "identity")]
mod messages;
#[cfg(feature = "hash-based")]
mod slhdsa;
#[cfg(feature = "whole")]
mod status;
#[cfg(feature = "test-vectors")]
mod vectors;
#[cfg(feature = "identity")]
mod verifier;
#[cfg(feature = "hash-based")]
mod xmss;
