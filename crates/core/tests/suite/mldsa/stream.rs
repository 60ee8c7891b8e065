//! Inputs of tests.

use gambeson::sha3::{Shake128, Squeeze};

/// Bytes that look random and are the same on every run.
pub struct Stream(Squeeze);

impl Stream {
    pub fn new(name: &str) -> Self {
        Self(Shake128::new().update(name.as_bytes()).finalize_xof())
    }

    pub fn array<const N: usize>(&mut self) -> [u8; N] {
        let mut bytes = [0; N];
        self.0.squeeze(&mut bytes);
        bytes
    }

    pub fn vec(&mut self, len: usize) -> Vec<u8> {
        let mut bytes = vec![0; len];
        self.0.squeeze(&mut bytes);
        bytes
    }

    /// A number below `bound`, at most 2^32, nearly uniform.
    pub fn below(&mut self, bound: usize) -> usize {
        ((u64::from(u32::from_le_bytes(self.array())) * bound as u64) >> 32) as usize
    }
}
