//! The list of operations, the instruments of the gates that walk through it, and the mistakes planted on purpose.
//!
//! The programs are run by `cargo xtask ct`, `step`, `residue` and `stack`; each of them catches a planted mistake in the
//! run in which it finds none of ours.
//!
//! # Layout
//!
//! * `operations`: every operation on secrets, once; `c`: the calls of the C interface
//! * `marked`: the instrument of `bin/ct.rs`; `valgrind`: client requests
//! * `hunt`: the instrument of `bin/residue.rs`; `secrets`: the secrets to search for
//! * `stack`, `heap`, `registers`: the depth of calls, an allocator that counts and keeps, and what calls left there
//! * `step`, `tracer`: what an instruction shows, and running one after the other, for `bin/step.rs`
//! * `canary`: the planted mistakes
//! * `bin`: the programs, each with an instrument or with operations that no other gate has

#[cfg(feature = "c")]
pub mod c;
pub mod canary;
pub mod heap;
pub mod hunt;
pub mod marked;
pub mod operations;
pub mod registers;
pub mod secrets;
pub mod stack;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub mod step;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub mod tracer;
pub mod valgrind;

/// `N` bytes that look random and differ for each `label`, the same in every run.
pub fn bytes<const N: usize>(label: &str) -> [u8; N] {
    let mut bytes = [0; N];
    gambeson::sha3::Shake256::digest_into(label.as_bytes(), &mut bytes);
    bytes
}
