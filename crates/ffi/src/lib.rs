#![cfg_attr(not(feature = "std"), no_std)]
#![doc = include_str!("../README.md")]
//!
//! # Layout
//!
//! | module | what is in it |
//! | --- | --- |
//! | `mlkem`, `mldsa`, `slhdsa`, `lms`, `xmss`, `prehash`, `sha3` | the calls |
//! | `message`, `random` | the descriptors of messages and of randomness |
//! | `border` | pointers become references, panics stop; objects of C's |
//! | `error`, `keccak` | error numbers, the platform's permutation |
//! | `sizes` | what the header defines |
#![allow(clippy::missing_safety_doc, reason = "the head of the header says it, once for all")]

mod border;
pub mod error;
mod keccak;
mod lms;
mod message;
mod mldsa;
mod mlkem;
mod prehash;
mod random;
mod sha3;
pub mod sizes;
mod slhdsa;
mod whole;
mod xmss;
