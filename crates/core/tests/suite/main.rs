//! Tests of the public interface, in one program: a file for each standard.

#[cfg(all(feature = "alloc", feature = "getrandom"))]
mod mldsa;
mod mlkem;
mod sha3;
