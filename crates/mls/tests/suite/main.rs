//! Tests of the provider for mls-rs, as one test program: a file for each subject.
#![allow(clippy::unwrap_used)] // A test may fail that way.

mod ahead;
mod groups;
mod members;
mod refusals;
mod signers;
#[cfg(feature = "vectors")]
mod vectors;
