//! What the npm package `gambeson` calls: conversions between JavaScript's values and the types of the core, and nothing
//! else. The TypeScript in `ts/` gives it the names that people use.
//!
//! # Layout
//!
//! * `memory`: every block is wiped when it is freed
//! * `failure`: errors with stable codes
//! * `kem`, `dsa`, `hash`: the primitives, the module `gambeson`
//! * `agent`: what an agent signs; `verifier`: what others hold against it: the module `identity`, by the feature

#[cfg(feature = "identity")]
mod agent;
#[cfg(not(feature = "identity"))]
mod dsa;
mod failure;
#[cfg(not(feature = "identity"))]
mod hash;
#[cfg(not(feature = "identity"))]
mod kem;
mod memory;
#[cfg(feature = "identity")]
mod verifier;
