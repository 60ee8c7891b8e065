//! No operation. What programs copy, clear and compare with is in them all, and in the empty one of the peers.

use super::{Input, Operation};
use core::hint::black_box;

/// Copies 32 bytes, and compares them with the next.
pub struct Nothing([u8; 64]);

impl Operation for Nothing {
    const KEY: usize = 0;

    fn new() -> Self {
        Self([0; 64])
    }

    fn prepare(&mut self, input: &mut Input) {
        input.read(&mut self.0[..black_box(32)]);
    }

    fn run(&mut self) {}

    fn check(&self, expected: &mut Input) -> bool {
        expected.is(&self.0[..black_box(32)])
    }
}
