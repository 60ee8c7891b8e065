//! The list of operations on secrets: each once, with its set-up, its secret inputs and a check of its results. Every gate walks
//! through this list with its own [`Instrument`].
//!
//! # Layout
//!
//! * `kem`, `dsa`: ML-KEM and ML-DSA in every form of a key; `slhdsa`: SLH-DSA; `lms`, `xmss`: LMS, HSS and XMSS^MT; `hash`: SHA-3, SHAKE and KMAC
//! * `hybrid`: X-Wing, X448, Ed448, the hybrid KEMs and the composite signatures
//! * `c`: the calls of the C interface
//! * `files`: private keys in PKCS#8
//! * `mls`: HPKE and the cipher suites of MLS

use crate::hunt::Hunt;
use std::fmt::Debug;
use std::sync::{Mutex, MutexGuard};

#[cfg(feature = "c")]
pub mod c;
pub mod dsa;
#[cfg(feature = "pki")]
pub mod files;
pub mod hash;
pub mod hybrid;
pub mod kem;
pub mod lms;
#[cfg(feature = "mls")]
pub mod mls;
pub mod slhdsa;
pub mod xmss;

/// Name of an operation: the algorithm, which is a parameter set, hybrid, composite or cipher suite; what is done, for example `decaps`, or
/// `rejection` for decapsulation of a wrong ciphertext; the form of the key or of the call, which is empty where there is one form only.
pub type Name<'a> = (&'a str, &'a str, &'a str);

/// Returns a name as the gates print it.
pub fn shown((alg, op, form): Name<'_>) -> String {
    if form.is_empty() { format!("{alg} {op}") } else { format!("{alg} {op}, {form}") }
}

/// A gate's measurement of one operation at a time.
pub trait Instrument {
    /// Whether the gate searches for what operations leave: PEM and encryption branch on secrets, and are no concern of the others.
    const SEARCHES: bool = false;

    /// Measures `work`, which may be run several times, and returns the result of one run.
    fn run<R>(&mut self, name: Name<'_>, work: impl Fn() -> R + Sync) -> R;

    /// Like [`run`](Self::run), of work that succeeds. Returns its value.
    fn run_ok<R, E: Debug>(&mut self, name: Name<'_>, work: impl Fn() -> Result<R, E> + Sync) -> R {
        self.run(name, work).unwrap_or_else(|error| panic!("{}: {error:?}", shown(name)))
    }

    /// Like [`run`](Self::run), with memory of the caller's that `work` writes. The memory is not measured.
    fn run_into<O: Send, R>(&mut self, name: Name<'_>, out: &mut O, work: impl Fn(&mut O) -> R + Sync) -> R {
        let out = Mutex::new(out);
        self.run(name, || work(&mut lock(&out)))
    }

    /// Like [`run_into`](Self::run_into), with a workspace. The instrument chooses where the workspace lies.
    fn run_in<W: Send + Default, O: Send, R>(
        &mut self,
        name: Name<'_>,
        out: &mut O,
        work: impl Fn(&mut O, &mut W) -> R + Sync,
    ) -> R {
        self.workspace(size_of::<W>());
        let memory = Mutex::new((out, W::default()));
        self.run(name, || {
            let (out, workspace) = &mut *lock(&memory);
            work(out, workspace)
        })
    }

    /// Takes the bytes of workspace of the next operation. Only for the gate that measures them.
    fn workspace(&mut self, _bytes: usize) {}

    /// Runs an operation that draws its secrets itself; `work` passes them to its argument. Only for gates that search for secrets.
    fn run_fresh(&mut self, _: Name<'_>, _: impl Fn(&dyn Fn(&[u8])) + Sync) {}

    /// Drops keys. Measured only where dropping is an operation.
    fn run_drop<T>(&mut self, _: &str, keys: T) {
        drop(keys);
    }

    /// Describes the secrets of the operations that follow. Only for gates that search for secrets.
    fn secrets(&mut self, _: impl FnOnce(&mut Hunt)) {}

    /// Sets how many branches on verdicts each operation that follows may take. Only for the constant-time gate.
    fn allow(&mut self, _verdicts: usize) {}

    /// Number of messages to sign: each attempt that is refused has its own reason.
    fn messages(&self) -> u8 {
        1
    }

    /// Number of items of an operation on many.
    fn batch(&self) -> usize {
        3
    }
}

fn lock<T>(memory: &Mutex<T>) -> MutexGuard<'_, T> {
    memory.lock().expect("one thread at a time")
}

/// Walks through SHA-3, ML-KEM, ML-DSA, SLH-DSA, LMS and XMSS, and the calls in C.
pub fn primitives(gate: &mut impl Instrument) {
    use gambeson::mldsa::{MlDsa44, MlDsa65, MlDsa87};
    use gambeson::mlkem::{MlKem512, MlKem768, MlKem1024};
    hash::all(gate);
    #[cfg(feature = "c")]
    c::hashes(gate);
    kem::all::<MlKem512>(gate);
    kem::all::<MlKem768>(gate);
    kem::all::<MlKem1024>(gate);
    dsa::all::<MlDsa44>(gate);
    dsa::all::<MlDsa65>(gate);
    dsa::all::<MlDsa87>(gate);
    slhdsa::all(gate);
    lms::all(gate);
    xmss::all(gate);
}
