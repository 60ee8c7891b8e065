#![no_std]
#![cfg_attr(feature = "getrandom", doc = include_str!("../README.md"))]
#![cfg_attr(not(feature = "getrandom"), doc = "Post-quantum and classical cryptography combined.")]
#![warn(missing_debug_implementations)]

#[cfg(test)]
extern crate std;

#[cfg(feature = "hpke")]
pub mod hpke;
pub mod xwing;

pub use gambeson;
