//! Operations on marked secrets, counted.

use crate::{bytes, valgrind};
use gambeson::cpu::Level;

/// Branches that one operation on P-256 or P-384 may take on what valgrind holds for secret. RustCrypto's crates branch on
/// whether a string is a scalar, whether r, s and a point are zero, and encode public points and signatures in variable
/// time: a few, and in the DER of a signature two or three a byte. A table or a ladder that branched would take more than 800.
pub const VERDICTS: usize = 300;

/// Counts what ran, and what was reported.
#[derive(Debug)]
pub struct Gate {
    /// The table of kernels.
    pub level: Level,
    /// Whether [`VERDICTS`] are let pass.
    pub verdicts: bool,
    /// Operations with reports.
    pub failed: usize,
    /// Operations that ran.
    pub ran: usize,
}

impl Gate {
    /// Runs one operation and counts what valgrind says meanwhile.
    pub fn run<R>(&mut self, name: &str, operation: impl FnOnce() -> R) -> R {
        let before = valgrind::errors();
        let result = operation();
        let reports = valgrind::errors() - before;
        self.ran += 1;
        if reports > if self.verdicts { VERDICTS } else { 0 } {
            self.failed += 1;
            println!("{name} [{}]: {reports} reports", self.level);
        }
        result
    }
}

/// Bytes of that label, marked.
pub fn secret<const N: usize>(label: &str) -> [u8; N] {
    let mut bytes = bytes(label);
    valgrind::mark_secret(&mut bytes);
    bytes
}
