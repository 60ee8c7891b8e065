//! What the npm package `gambeson` calls: conversions between JavaScript's values and the types of the core, and nothing
//! else. The TypeScript in `ts/` gives it the names that people use.
//!
//! # Layout
//!
//! * `memory`: every block is wiped when it is freed
//! * `failure`: errors with stable codes
//! * `kem`, `dsa`, `hash`: the primitives

mod dsa;
mod failure;
mod hash;
mod kem;
mod memory;
