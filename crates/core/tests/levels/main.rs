//! Every table of kernels that this machine can run against the portable one, published results and other implementations.
//!
//! A program of its own: [`gambeson::cpu::limit`] holds for the whole process. Its tests take turns.

#[cfg(all(feature = "alloc", feature = "getrandom"))]
mod mldsa_levels;
#[cfg(feature = "alloc")]
mod mldsa_many;
#[cfg(feature = "alloc")]
mod mldsa_masks;
mod mlkem_batches;
mod mlkem_levels;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// The right to call [`gambeson::cpu::limit`], of one test at a time.
struct Limit(Mutex<()>);

static LIMIT: Limit = Limit(Mutex::new(()));

impl Limit {
    /// Waits for the other tests. One that failed keeps no other from running.
    fn lock(&self) -> MutexGuard<'_, ()> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
