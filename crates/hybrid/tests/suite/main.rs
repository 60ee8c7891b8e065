//! Tests of hybrids, as one test program: a file for each construction.
#![allow(clippy::unwrap_used)] // A test may fail that way.

#[cfg(all(feature = "curve448", feature = "getrandom"))]
mod composite;
#[cfg(all(feature = "curve448", feature = "getrandom"))]
mod ed448;
mod generators;
#[cfg(all(feature = "curve448", feature = "getrandom", feature = "hpke", feature = "p521"))]
mod hpke;
#[cfg(all(feature = "curve448", feature = "getrandom"))]
mod kem;
mod xwing;
