//! `gambeson._native`: what the Python package is made of.
//!
//! Types are converted, errors are mapped, and the work is called; nothing else happens here. Every operation runs detached
//! from the interpreter, so that other threads go on meanwhile.
//!
//! # Layout
//!
//! * `input`: bytes from Python; `error`: exceptions; `held`: private keys that can be wiped
//! * `mldsa`, `mlkem`, `xwing`: the primitives

mod error;
mod held;
mod input;
mod mldsa;
mod mlkem;
mod xwing;

use pyo3::prelude::*;

/// The native half of the package `gambeson`.
#[pymodule(gil_used = false)]
mod _native {
    #[pymodule_export]
    use super::mldsa::{
        MLDSA44PrivateKey, MLDSA44PublicKey, MLDSA65PrivateKey, MLDSA65PublicKey, MLDSA87PrivateKey,
        MLDSA87PublicKey,
    };
    #[pymodule_export]
    use super::mlkem::{
        MLKEM512PrivateKey, MLKEM512PublicKey, MLKEM768PrivateKey, MLKEM768PublicKey, MLKEM1024PrivateKey,
        MLKEM1024PublicKey,
    };
    #[pymodule_export]
    use super::xwing::{XWingPrivateKey, XWingPublicKey};
}
