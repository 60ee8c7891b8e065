//! The instrument of the constant-time gate: operations on marked secrets under valgrind, counted.

use crate::operations::{Instrument, Name, shown};
use crate::{bytes, valgrind};
use gambeson::cpu::Level;

/// Branches that one operation on P-256 or P-384 may take on what valgrind holds for secret. RustCrypto's crates branch on
/// whether a string is a scalar, whether r, s and a point are zero, and encode public points and signatures in variable
/// time: a few, and in the DER of a signature two or three a byte. A table or a ladder that branched would take more than 800.
pub const VERDICTS: usize = 300;

/// Counts operations, and those that valgrind reports.
#[derive(Debug)]
pub struct Gate {
    /// The table of kernels.
    pub level: Level,
    /// Number of reports of one operation that are allowed.
    pub verdicts: usize,
    /// Operations with more reports.
    pub failed: usize,
    /// Operations that ran.
    pub ran: usize,
}

impl Gate {
    /// Runs one operation and counts the reports of valgrind meanwhile.
    pub fn watch<R>(&mut self, name: impl ToString, operation: impl FnOnce() -> R) -> R {
        let before = valgrind::errors();
        let result = operation();
        let reports = valgrind::errors() - before;
        self.ran += 1;
        let name = name.to_string();
        println!("ran {name}");
        if reports > self.verdicts {
            self.failed += 1;
            println!("{name} [{}]: {reports} reports", self.level);
        }
        result
    }
}

impl Instrument for Gate {
    fn run<R>(&mut self, name: Name<'_>, work: impl Fn() -> R + Sync) -> R {
        self.watch(shown(name), work)
    }

    fn run_drop<T>(&mut self, alg: &str, keys: T) {
        self.watch(format!("{alg} drop"), || drop(keys));
    }

    fn allow(&mut self, verdicts: usize) {
        self.verdicts = verdicts;
    }

    fn messages(&self) -> u8 {
        4
    }
}

/// Bytes of that label, marked.
pub fn secret<const N: usize>(label: &str) -> [u8; N] {
    let mut bytes = bytes(label);
    valgrind::mark_secret(&mut bytes);
    bytes
}
