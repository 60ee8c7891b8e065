//! Generators that give what a test wants.

use core::convert::Infallible;

use gambeson::RngError;
use gambeson::rand_core::{TryCryptoRng, TryRng};

/// Gives a byte, then one that is more by its step, and so on.
pub struct Steps {
    next: u8,
    step: u8,
}

/// Counts up from `first`.
pub fn counter(first: u8) -> Steps {
    Steps { next: first, step: 1 }
}

/// Gives `byte` again and again.
pub fn always(byte: u8) -> Steps {
    Steps { next: byte, step: 0 }
}

impl TryRng for Steps {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        unimplemented!("only bytes are drawn")
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        unimplemented!("only bytes are drawn")
    }

    fn try_fill_bytes(&mut self, out: &mut [u8]) -> Result<(), Infallible> {
        for byte in out {
            *byte = self.next;
            self.next = self.next.wrapping_add(self.step);
        }
        Ok(())
    }
}

impl TryCryptoRng for Steps {}

/// Never gives anything.
pub struct Broken;

impl TryRng for Broken {
    type Error = RngError;

    fn try_next_u32(&mut self) -> Result<u32, RngError> {
        Err(RngError)
    }

    fn try_next_u64(&mut self) -> Result<u64, RngError> {
        Err(RngError)
    }

    fn try_fill_bytes(&mut self, _: &mut [u8]) -> Result<(), RngError> {
        Err(RngError)
    }
}

impl TryCryptoRng for Broken {}
