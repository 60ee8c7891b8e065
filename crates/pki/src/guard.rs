//! What reading, writing and using private keys leaves on the stack is scrubbed before the door is left.

use gambeson::secret::StackGuard;

/// Bytes of stack in which DER, base64, passphrases and other people's curves may leave pieces of secrets: more than any of them was
/// seen to use. The doors of the cores scrub their own.
const DEPTH: usize = 32 << 10;

/// Does the work of a door, and scrubs the stack below.
#[inline(always)]
pub(crate) fn guarded<R>(work: impl FnOnce() -> R) -> R {
    let _guard = StackGuard::<DEPTH>;
    apart(work)
}

#[inline(never)]
fn apart<R>(work: impl FnOnce() -> R) -> R {
    work()
}
