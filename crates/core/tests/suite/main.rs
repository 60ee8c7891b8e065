//! Tests of the public interface, as one test program: a file for each standard.

#[cfg(feature = "hqc")]
mod hqc;
#[cfg(all(feature = "alloc", feature = "hazmat"))]
mod lms;
#[cfg(all(feature = "alloc", feature = "getrandom"))]
mod mldsa;
mod mlkem;
mod sha3;
#[cfg(feature = "alloc")]
mod slhdsa;
#[cfg(feature = "alloc")]
mod streamed;
#[cfg(all(feature = "alloc", feature = "hazmat"))]
mod xmss;
