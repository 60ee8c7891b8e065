#![no_std]
#![doc = include_str!("../README.md")]
#![deny(clippy::integer_division_remainder_used)]
#![warn(missing_debug_implementations)]

#[cfg(any(feature = "alloc", test))]
extern crate alloc;
#[cfg(test)]
extern crate std;

#[cfg(feature = "self-test")]
pub mod approved;
mod bytes;
pub mod cpu;
#[cfg(feature = "alloc")]
mod engine;
mod filled;
#[cfg(feature = "hqc")]
pub mod hqc;
pub mod lms;
mod many;
#[cfg(feature = "alloc")]
mod merkle;
pub mod mldsa;
pub mod mlkem;
#[cfg(feature = "alloc")]
mod once;
mod prehash;
mod rng;
pub mod secret;
mod serial;
mod sha2_lanes;
pub mod sha3;
pub mod slhdsa;
#[cfg(feature = "alloc")]
pub mod stateful;
mod streamed;
mod workspace;
pub mod xmss;

pub use bytes::Bytes;
pub use rand_core;
pub use rng::RngError;
#[cfg(feature = "hazmat")]
#[doc(hidden)]
pub use sha2_lanes::alone as sha2_kernels;
pub use workspace::{Compact, Small, Workspace};
