//! The permutation.

use super::{Input, Operation};
use gambeson::sha3::{State, permute_sponge};

/// Keccak-f\[1600\] (FIPS 202, §3.3) on the state of a sponge, whose lanes are interleaved.
pub struct Permute(State);

impl Operation for Permute {
    const KEY: usize = 0;

    fn new() -> Self {
        Self(State::new())
    }

    fn prepare(&mut self, input: &mut Input) {
        for (lane, bytes) in self.0.0.iter_mut().zip(input.next(200).as_chunks().0) {
            *lane = u64::from_le_bytes(*bytes);
        }
    }

    fn run(&mut self) {
        permute_sponge(&mut self.0);
    }

    fn check(&self, expected: &mut Input) -> bool {
        self.0.0.iter().all(|lane| expected.is(&lane.to_le_bytes()))
    }
}
