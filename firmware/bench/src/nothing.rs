//! No operation.

use super::{Input, Operation};

/// Copies 64 bytes.
pub struct Nothing([u8; 64]);

impl Operation for Nothing {
    const KEY: usize = 0;

    fn new() -> Self {
        Self([0; 64])
    }

    fn prepare(&mut self, input: &mut Input) {
        input.read(&mut self.0);
    }

    fn run(&mut self) {}

    fn check(&self, _: &mut Input) -> bool {
        true
    }
}
