#![no_std]
#![cfg_attr(all(feature = "curve448", feature = "getrandom"), doc = include_str!("../README.md"))]
#![cfg_attr(
    not(all(feature = "curve448", feature = "getrandom")),
    doc = "Post-quantum and classical cryptography combined."
)]
#![warn(missing_debug_implementations)]

#[cfg(any(test, feature = "std"))]
extern crate std;

#[cfg(feature = "curves")]
pub mod composite;
#[cfg(feature = "curve448")]
mod curve448;
#[cfg(feature = "curve448")]
pub mod ed448;
#[cfg(feature = "hpke")]
pub mod hpke;
#[cfg(feature = "curves")]
pub mod kem;
#[cfg(feature = "curve448")]
pub mod x448;
pub mod xwing;

pub use gambeson;

/// The operating system's generator as a generator of the ecosystem.
#[cfg(all(feature = "curves", feature = "getrandom"))]
struct System;

#[cfg(all(feature = "curves", feature = "getrandom"))]
mod system {
    use super::System;
    use gambeson::RngError;
    use gambeson::rand_core::{TryCryptoRng, TryRng};

    impl TryRng for System {
        type Error = RngError;

        fn try_next_u32(&mut self) -> Result<u32, RngError> {
            let mut bytes = [0; 4];
            self.try_fill_bytes(&mut bytes)?;
            Ok(u32::from_le_bytes(bytes))
        }

        fn try_next_u64(&mut self) -> Result<u64, RngError> {
            let mut bytes = [0; 8];
            self.try_fill_bytes(&mut bytes)?;
            Ok(u64::from_le_bytes(bytes))
        }

        fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), RngError> {
            getrandom::fill(bytes).map_err(|_| RngError)
        }
    }

    impl TryCryptoRng for System {}
}
