//! Every table of kernels that this machine can run against the portable one, published results and other implementations.
//!
//! A program of its own: [`gambeson::cpu::limit`] holds for the whole process. Its tests take turns.

#[cfg(feature = "hqc")]
mod hqc;
#[cfg(all(feature = "alloc", feature = "getrandom"))]
mod mldsa_levels;
#[cfg(feature = "alloc")]
mod mldsa_many;
#[cfg(feature = "alloc")]
mod mldsa_masks;
mod mlkem_batches;
mod mlkem_levels;
#[cfg(feature = "alloc")]
mod slhdsa;
#[cfg(all(feature = "alloc", feature = "hazmat"))]
mod stateful;

use std::sync::{Mutex, MutexGuard, PoisonError};

use gambeson::cpu::{self, Level};

/// The right to call [`gambeson::cpu::limit`], of one test at a time.
struct Limit(Mutex<()>);

static LIMIT: Limit = Limit(Mutex::new(()));

impl Limit {
    /// Waits for the other tests. One that failed keeps no other from running.
    fn lock(&self) -> MutexGuard<'_, ()> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Runs `test` under each level that this machine can run, with the processor's instructions for SHA-2 and without them.
#[cfg(feature = "alloc")]
fn with_every_table_of_sha2(test: impl Fn(&str)) {
    for level in Level::ALL.iter().copied() {
        cpu::limit(level);
        if cpu::level() != level {
            continue;
        }
        test(level.name());
        if cpu::sha2() {
            cpu::allow_sha2(false);
            test(&std::format!("{level} without instructions for SHA-2"));
            cpu::allow_sha2(true);
        }
    }
    cpu::limit(Level::Avx512);
}
