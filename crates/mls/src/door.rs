//! What works with secrets leaves nothing of them on the stack and in vector registers.

use gambeson::secret::StackGuard;

/// Bytes of stack that hashes, HMAC and HKDF use at most.
const SHALLOW: usize = 4 << 10;
/// The same of all else: AES keeps its round keys there in both of its forms, and HPKE and signatures the keys on their way to the cores,
/// which scrub what they use themselves.
const DEEP: usize = 16 << 10;

/// Hashes, HMAC and HKDF.
#[inline(always)]
pub(crate) fn shallow<T>(work: impl FnOnce() -> T) -> T {
    guarded::<SHALLOW, T>(work)
}

/// AEADs, HPKE and signatures.
#[inline(always)]
pub(crate) fn deep<T>(work: impl FnOnce() -> T) -> T {
    guarded::<DEEP, T>(work)
}

#[inline(always)]
fn guarded<const N: usize, T>(work: impl FnOnce() -> T) -> T {
    let _guard = StackGuard::<N>;
    below(work)
}

/// In a frame of its own, which is scrubbed with those below it.
#[inline(never)]
fn below<T>(work: impl FnOnce() -> T) -> T {
    work()
}
