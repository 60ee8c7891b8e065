//! What keeps secrets: a wrapper that wipes, comparison and selection in constant time, and a stack scrubber.
//!
//! Rust and LLVM promise nothing about timing. Compilers turn mask arithmetic back into branches
//! (`SIDE-CHANNELS.md` lists cases), so every mask goes through a *value barrier*: an empty assembly block
//! through which the optimiser cannot see.

#![allow(unsafe_code)] // The barrier, the scrubber and the valgrind mark are the reason for this file.

use core::fmt;
#[cfg(feature = "alloc")]
use core::mem::ManuallyDrop;
use core::mem::MaybeUninit;

use zeroize::{DefaultIsZeroes, Zeroize, ZeroizeOnDrop};

/// A secret value, wiped when it is dropped.
///
/// It cannot be cloned, compared with `==`, printed or serialised; [`Secret::expose`] is the only way in, and
/// can be searched for.
///
/// ```
/// use gambeson::secret::Secret;
///
/// let key = Secret::new([7u8; 32]);
/// assert_eq!(format!("{key:?}"), "Secret([redacted])");
/// assert_eq!(key.expose(), &[7; 32]);
/// ```
#[repr(transparent)]
pub struct Secret<T: Zeroize + 'static>(T);

impl<T: Zeroize + 'static> Secret<T> {
    /// Wraps `value`. The caller's own copy, if one is left, stays the caller's to wipe.
    #[must_use]
    pub const fn new(value: T) -> Self {
        Self(value)
    }

    /// Shows the secret.
    #[must_use]
    pub const fn expose(&self) -> &T {
        &self.0
    }

    /// Shows the secret for writing.
    pub const fn expose_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

impl<T: Zeroize + Copy + 'static> Secret<T> {
    /// Moves the secret out and wipes where it stood.
    ///
    /// For a door that returns a secret from a variable of its own: a plain move leaves a copy in its frame, above what a
    /// [`StackGuard`] scrubs.
    ///
    /// ```
    /// use gambeson::secret::Secret;
    ///
    /// let mut local = Secret::new([7u8; 32]);
    /// assert_eq!(local.take().expose(), &[7; 32]);
    /// assert_eq!(local.expose(), &[0; 32]);
    /// ```
    #[inline(always)]
    #[must_use]
    pub fn take(&mut self) -> Self {
        let moved = Self(self.0);
        wipe_value(&mut self.0);
        moved
    }
}

impl<T: Zeroize + 'static> Drop for Secret<T> {
    fn drop(&mut self) {
        wipe_value(&mut self.0);
    }
}

/// Wipes a value. Bytes, which `zeroize` takes one by one, are wiped by words: shared secrets, seeds, and encodings of keys.
#[inline(always)]
fn wipe_value<T: Zeroize + 'static>(value: &mut T) {
    let any: &mut dyn core::any::Any = value;
    if let Some(bytes) = any.downcast_mut::<[u8; 32]>() {
        return wipe(bytes);
    }
    if let Some(bytes) = any.downcast_mut::<[u8; 64]>() {
        return wipe(bytes);
    }
    #[cfg(feature = "alloc")]
    if let Some(bytes) = any.downcast_mut::<alloc::vec::Vec<u8>>() {
        bytes.clear();
        let spare = bytes.spare_capacity_mut();
        spare.fill(MaybeUninit::new(0));
        core::hint::black_box(spare);
        return;
    }
    value.zeroize();
}

impl<T: Zeroize + 'static> ZeroizeOnDrop for Secret<T> {}

impl<T: Zeroize + 'static> fmt::Debug for Secret<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret([redacted])")
    }
}

/// A value on the heap, of whose memory every byte is wiped after its own drop.
///
/// A move copies the padding of a type as well, and with it what stood on the stack before; no `Zeroize` reaches that.
///
/// ```
/// use gambeson::secret::WipedBox;
///
/// let key = WipedBox::new((7u64, 1u8));
/// assert_eq!(key.0, 7);
/// ```
#[cfg(feature = "alloc")]
pub struct WipedBox<T>(ManuallyDrop<alloc::boxed::Box<T>>);

#[cfg(feature = "alloc")]
impl<T> WipedBox<T> {
    /// Moves `value` to the heap.
    #[must_use]
    pub fn new(value: T) -> Self {
        Self(ManuallyDrop::new(alloc::boxed::Box::new(value)))
    }
}

#[cfg(feature = "alloc")]
impl<T> core::ops::Deref for WipedBox<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

#[cfg(feature = "alloc")]
impl<T> Drop for WipedBox<T> {
    fn drop(&mut self) {
        // SAFETY: the field is not used again.
        let value = alloc::boxed::Box::into_raw(unsafe { ManuallyDrop::take(&mut self.0) });
        // SAFETY: a box gave the pointer, and nobody else has it: its value is dropped once, its memory wiped and given back once.
        unsafe {
            value.drop_in_place();
            clear_bytes(value.cast(), size_of::<T>());
            core::hint::black_box(value);
            drop(alloc::boxed::Box::from_raw(value.cast::<MaybeUninit<T>>()));
        }
    }
}

#[cfg(feature = "alloc")]
impl<T> fmt::Debug for WipedBox<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WipedBox([redacted])")
    }
}

/// Whether two byte strings are equal, in time that depends on their lengths alone.
///
/// ```
/// use gambeson::secret::equal;
///
/// assert!(equal(b"tag", b"tag"));
/// assert!(!equal(b"tag", b"tab"));
/// assert!(!equal(b"tag", b"ta"));
/// ```
#[must_use]
pub fn equal(a: &[u8], b: &[u8]) -> bool {
    if a.len() != b.len() {
        return false;
    }
    declassify_value(difference(a, b)) == 0 // public: the verdict is the answer
}

/// Zero when two byte strings of one length are equal, any other value when not; constant time.
pub(crate) fn difference(a: &[u8], b: &[u8]) -> u32 {
    debug_assert_eq!(a.len(), b.len());
    // By words, which compilers turn into vectors.
    let ((words, a), (others, b)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
    let words = words
        .iter()
        .zip(others)
        .fold(0, |all, (a, b)| all | (u64::from_le_bytes(*a) ^ u64::from_le_bytes(*b)));
    let bytes = a.iter().zip(b).fold(0, |all, (a, b)| all | u32::from(a ^ b));
    barrier(words as u32 | (words >> 32) as u32 | bytes)
}

/// All ones when `x` is not zero, zero when it is.
#[inline]
pub(crate) fn mask_nonzero(x: u32) -> u32 {
    barrier(((x | x.wrapping_neg()) >> 31).wrapping_neg())
}

/// Overwrites `out` with `other` where `mask` is all ones, leaves it where `mask` is zero.
#[inline(never)]
pub(crate) fn select_bytes(out: &mut [u8], other: &[u8], mask: u32) {
    debug_assert_eq!(out.len(), other.len());
    for (out, other) in out.iter_mut().zip(other) {
        // A barrier on each use: one mask for the loop lets LLVM select a pointer and copy from it.
        *out ^= (*out ^ other) & barrier(mask) as u8;
    }
}

/// Hands `x` back through a wall that the optimiser does not see through.
#[inline(always)]
#[must_use]
pub(crate) fn barrier(x: u32) -> u32 {
    #[cfg(any(
        target_arch = "x86_64",
        target_arch = "x86",
        target_arch = "aarch64",
        target_arch = "arm",
        target_arch = "riscv32",
        target_arch = "riscv64"
    ))]
    {
        // As wide as a register, so that the block names a whole one.
        let mut wide = x as usize;
        // SAFETY: an empty block; it reads and writes one register, no memory, no stack, no flags.
        unsafe {
            core::arch::asm!("/* {0} */", inout(reg) wide, options(pure, nomem, nostack, preserves_flags));
        }
        wide as u32
    }
    #[cfg(not(any(
        target_arch = "x86_64",
        target_arch = "x86",
        target_arch = "aarch64",
        target_arch = "arm",
        target_arch = "riscv32",
        target_arch = "riscv64"
    )))]
    core::hint::black_box(x)
}

/// Zeros in place of integers, in writes that the optimiser counts as observed: `zeroize` does the same one
/// element at a time, which shows where there are thousands.
#[inline]
pub(crate) fn wipe<T: DefaultIsZeroes>(values: &mut [T]) {
    clear(values);
    // What that does in assembly the optimiser cannot leave out.
    #[cfg(not(gambeson_dsp))]
    core::hint::black_box(values);
}

/// Zeros in place of integers.
#[cfg(not(gambeson_dsp))]
#[inline]
pub(crate) fn clear<T: DefaultIsZeroes>(values: &mut [T]) {
    values.fill(T::default());
}

/// Zeros in place of integers, several words at once: the `memset` that comes with Rust stores one.
#[cfg(gambeson_dsp)]
#[inline]
pub(crate) fn clear<T: DefaultIsZeroes>(values: &mut [T]) {
    // SAFETY: these bytes are the slice, of integers that are zero where all their bits are.
    unsafe { clear_bytes(values.as_mut_ptr().cast(), size_of_val(values)) };
}

/// Zeros in these bytes, whatever is in them, or nothing.
///
/// # Safety
/// They are there, and nobody else's.
#[inline]
pub(crate) unsafe fn clear_bytes(start: *mut u8, bytes: usize) {
    #[cfg(gambeson_dsp)]
    if start.cast::<u32>().is_aligned() && bytes.is_multiple_of(4) {
        // SAFETY: whole words, and the caller's promise.
        return unsafe { clear_words(start.cast(), bytes) };
    }
    // SAFETY: the caller's promise.
    unsafe { start.write_bytes(0, bytes) };
    // Behind words in assembly nobody asks for more, so these are observed, too.
    #[cfg(gambeson_dsp)]
    core::hint::black_box(start);
}

#[cfg(gambeson_dsp)]
#[unsafe(naked)]
unsafe extern "C" fn clear_words(start: *mut u32, bytes: usize) {
    // No register is saved: what the caller holds may be secret, and nothing would overwrite it there.
    core::arch::naked_asm!(
        "mov r2, #0",
        "mov r3, #0",
        "mov r12, #0",
        "subs r1, r1, #48",
        "blo 3f",
        "2:",
        ".rept 4",
        "stmia r0!, {{r2, r3, r12}}",
        ".endr",
        "subs r1, r1, #48",
        "bhs 2b",
        "3: adds r1, r1, #48",
        "beq 5f",
        "4: str r2, [r0], #4",
        "subs r1, r1, #4",
        "bne 4b",
        "5: bx lr",
    );
}

/// Marks a value that was computed from secrets as public from here on.
///
/// It does nothing, except in a build with `--cfg gambeson_ct`, where it tells valgrind so: the constant-time
/// gate treats every secret as undefined memory. Each call says why the value may be known.
#[inline(always)]
pub(crate) fn declassify<T: ?Sized>(value: &T) -> &T {
    #[cfg(all(gambeson_ct, target_arch = "x86_64"))]
    valgrind_make_defined((&raw const *value).cast::<u8>(), size_of_val(value));
    value
}

/// [`declassify`] for a value in registers.
#[inline(always)]
pub(crate) fn declassify_value<T: Copy>(value: T) -> T {
    #[cfg(all(gambeson_ct, target_arch = "x86_64"))]
    {
        valgrind_make_defined((&raw const value).cast::<u8>(), size_of::<T>());
        // SAFETY: a live, aligned, initialised `T`; volatile, so that the marked memory is what is read.
        return unsafe { (&raw const value).read_volatile() };
    }
    #[cfg(not(all(gambeson_ct, target_arch = "x86_64")))]
    value
}

/// Memcheck's client request `MAKE_MEM_DEFINED` (valgrind manual, §4.7 and `valgrind.h`): four rotations of
/// rdi that add up to nothing, then an exchange of rbx with itself, which valgrind recognises.
#[cfg(all(gambeson_ct, target_arch = "x86_64"))]
fn valgrind_make_defined(start: *const u8, len: usize) {
    /// `VG_USERREQ_TOOL_BASE('M', 'C') + 2`.
    const MAKE_MEM_DEFINED: u64 = 0x4d43_0002;
    let request: [u64; 6] = [MAKE_MEM_DEFINED, start as u64, len as u64, 0, 0, 0];
    // SAFETY: outside valgrind the five instructions change nothing; under it, only its shadow state.
    unsafe {
        core::arch::asm!(
            "rol rdi, 3", "rol rdi, 13", "rol rdi, 61", "rol rdi, 51", "xchg rbx, rbx",
            inout("rdi") 0u64 => _, inout("rax") request.as_ptr() => _, inout("rdx") 0u64 => _,
        );
    }
}

/// Wipes the `N` bytes of stack below the frame that holds it, and on x86-64 and aarch64 the vector registers, when it is
/// dropped.
///
/// Each public door that computes on secrets holds one and calls its work through a function that is not
/// inlined: what the work left in dead frames and registers is then overwritten. `N` is a measured bound of the work's depth
/// (`cargo xtask stack`); the gate `cargo xtask residue` checks that nothing secret is left.
///
/// ```
/// use gambeson::secret::StackGuard;
///
/// fn door(key: &[u8; 32]) -> u8 {
///     let _guard = StackGuard::<1024>;
///     work(key)
/// }
///
/// #[inline(never)]
/// fn work(key: &[u8; 32]) -> u8 {
///     key.iter().fold(0, |all, byte| all ^ byte)
/// }
/// # assert_eq!(door(&[0; 32]), 0);
/// ```
#[derive(Debug)]
pub struct StackGuard<const N: usize>;

impl<const N: usize> Drop for StackGuard<N> {
    #[inline(always)]
    fn drop(&mut self) {
        scrub::<N>();
    }
}

#[inline(never)]
fn scrub<const N: usize>() {
    #[repr(align(8))]
    struct Dead<const N: usize>(MaybeUninit<[u8; N]>);
    let mut dead = Dead::<N>(MaybeUninit::uninit());
    // SAFETY: `N` bytes, of this frame.
    unsafe { clear_bytes(dead.0.as_mut_ptr().cast(), N) };
    // The address escapes, so that the writes count as observed.
    core::hint::black_box(&mut dead);
    clear_vectors();
}

/// Zeros in every vector and mask register: of the kernels, and of the C library, which copies memory through the widest.
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
#[inline(always)]
fn clear_vectors() {
    cpufeatures::new!(avx, "avx");
    cpufeatures::new!(avx512, "avx512f");
    /// The instruction for the registers of these numbers, three times each.
    macro_rules! zero {
        ($instruction:literal, $register:literal, $($n:literal)*) => {
            concat!($($instruction, " ", $register, $n, ", ", $register, $n, ", ", $register, $n, "\n"),*)
        };
    }
    if avx::get() {
        // Registers 0 to 15, in their whole width.
        // SAFETY: the processor has them, all are declared as overwritten, no memory is touched.
        unsafe { core::arch::asm!("vzeroall", clobber_abi("C"), options(nomem, nostack, preserves_flags)) };
    } else {
        // SAFETY: every x86-64 processor has them, all are declared as overwritten, no memory is touched.
        unsafe {
            core::arch::asm!(
                "xorps xmm0, xmm0\n xorps xmm1, xmm1\n xorps xmm2, xmm2\n xorps xmm3, xmm3",
                "xorps xmm4, xmm4\n xorps xmm5, xmm5\n xorps xmm6, xmm6\n xorps xmm7, xmm7",
                "xorps xmm8, xmm8\n xorps xmm9, xmm9\n xorps xmm10, xmm10\n xorps xmm11, xmm11",
                "xorps xmm12, xmm12\n xorps xmm13, xmm13\n xorps xmm14, xmm14\n xorps xmm15, xmm15",
                clobber_abi("C"),
                options(nomem, nostack, preserves_flags),
            );
        }
    }
    if avx512::get() {
        // SAFETY: as for the first.
        unsafe {
            core::arch::asm!(
                zero!("vpxord", "zmm", 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31),
                zero!("kxorw", "k", 0 1 2 3 4 5 6 7),
                clobber_abi("C"),
                options(nomem, nostack, preserves_flags),
            );
        }
    }
}

/// Zeros in every vector register.
#[cfg(all(target_arch = "aarch64", target_feature = "neon"))]
#[inline(always)]
fn clear_vectors() {
    macro_rules! zero {
        ($($n:literal)*) => { concat!($("movi v", $n, ".16b, #0\n"),*) };
    }
    // SAFETY: the registers exist, all of them are declared as overwritten, no memory is touched.
    unsafe {
        core::arch::asm!(
            zero!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31),
            clobber_abi("C"),
            out("v8") _, out("v9") _, out("v10") _, out("v11") _,
            out("v12") _, out("v13") _, out("v14") _, out("v15") _,
            options(nomem, nostack, preserves_flags),
        );
    }
}

/// Elsewhere they are not cleared.
#[cfg(not(any(
    all(target_arch = "x86_64", target_feature = "sse2"),
    all(target_arch = "aarch64", target_feature = "neon")
)))]
#[inline(always)]
const fn clear_vectors() {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_are_all_or_nothing() {
        assert_eq!(mask_nonzero(0), 0);
        for x in [1, 2, 0x80, 0x8000_0000, u32::MAX] {
            assert_eq!(mask_nonzero(x), u32::MAX);
        }
    }

    #[test]
    fn selection_takes_one_side_whole() {
        let mut out = [1u8, 2, 3];
        select_bytes(&mut out, &[9, 8, 7], 0);
        assert_eq!(out, [1, 2, 3]);
        select_bytes(&mut out, &[9, 8, 7], u32::MAX);
        assert_eq!(out, [9, 8, 7]);
    }

    #[test]
    fn a_difference_in_any_byte_is_seen() {
        let a = [0x5au8; 40];
        assert!(equal(&a, &a));
        for at in 0..a.len() {
            for bit in 0..8 {
                let mut b = a;
                b[at] ^= 1 << bit;
                assert!(!equal(&a, &b));
            }
        }
    }

    /// Of each comparison of vectors the verdicts go to one, to k0 as well.
    #[cfg(target_arch = "x86_64")]
    #[test]
    fn no_mask_register_is_left_out() {
        cpufeatures::new!(avx512, "avx512f");
        if !avx512::get() {
            return;
        }
        let mut left = u32::MAX;
        // SAFETY: the processor has these registers, all are declared as overwritten, no memory is touched.
        unsafe {
            core::arch::asm!(
                "kmovw k0, eax", "kmovw k1, eax", "kmovw k2, eax", "kmovw k3, eax",
                "kmovw k4, eax", "kmovw k5, eax", "kmovw k6, eax", "kmovw k7, eax",
                in("eax") left, clobber_abi("C"), options(nomem, nostack, preserves_flags),
            );
        }
        drop(StackGuard::<8>);
        // SAFETY: as above; they are read.
        unsafe {
            core::arch::asm!(
                "korw k0, k0, k1", "korw k0, k0, k2", "korw k0, k0, k3", "korw k0, k0, k4",
                "korw k0, k0, k5", "korw k0, k0, k6", "korw k0, k0, k7", "kmovw eax, k0",
                out("eax") left, clobber_abi("C"), options(nomem, nostack, preserves_flags),
            );
        }
        assert_eq!(left, 0);
    }

    #[test]
    fn a_secret_is_wiped_when_dropped() {
        use core::sync::atomic::{AtomicU32, Ordering};

        struct Probe(&'static AtomicU32);
        impl Zeroize for Probe {
            fn zeroize(&mut self) {
                self.0.fetch_add(1, Ordering::Relaxed);
            }
        }
        static WIPED: AtomicU32 = AtomicU32::new(0);
        drop(Secret::new(Probe(&WIPED)));
        assert_eq!(WIPED.load(Ordering::Relaxed), 1);
    }
}
