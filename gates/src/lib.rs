//! What the gates share: requests to valgrind, painting the stack, and the mistakes planted on purpose.
//!
//! The programs are run by `cargo xtask ct`, `step`, `residue` and `stack`; each of them catches a planted mistake in the
//! run in which it finds none of ours.
//!
//! # Layout
//!
//! * `valgrind`: client requests
//! * `step`, `tracer`: what an instruction shows, and running one after the other
//! * `stack`: the depth of calls, and what they left behind
//! * `heap`: an allocator that counts, and that keeps what was freed
//! * `registers`: what a call left in the vector registers
//! * `files`: where in a private key's file the secrets stand
//! * `marked`: operations on secrets that valgrind watches
//! * `hunt`: the search for pieces of secrets
//! * `c`: the calls of the C interface
//! * `canary`: the planted mistakes
//! * `bin/ct.rs`, `bin/c.rs`, `bin/files.rs`, `bin/step.rs`, `bin/residue.rs`, `bin/doors.rs`, `bin/stack.rs`, `bin/speed.rs`:
//!   the programs

#[cfg(feature = "c")]
pub mod c;
pub mod canary;
#[cfg(feature = "pki")]
pub mod files;
pub mod heap;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub mod hunt;
pub mod marked;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub mod registers;
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
