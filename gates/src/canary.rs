//! Mistakes planted on purpose: a gate that does not report them is broken.

use gambeson::sha3::{self, State};
use std::ffi::c_void;
use std::hint::black_box;

/// A branch on a secret bit.
#[inline(never)]
pub fn branch(secret: &[u8]) -> u32 {
    if secret[0] & 1 == 1 { odd() } else { even() }
}

#[inline(never)]
fn odd() -> u32 {
    black_box(17)
}

#[inline(never)]
fn even() -> u32 {
    black_box(3)
}

/// A permutation for the C interface that is right, and branches on the states.
///
/// # Safety
///
/// `states` points to `count` states of 25 words.
pub unsafe extern "C" fn branching_keccak(_: *mut c_void, states: *mut u64, count: usize) {
    // SAFETY: the caller's promise; a `State` is its words.
    let states = unsafe { std::slice::from_raw_parts_mut(states.cast::<State>(), count) };
    states.iter().for_each(|state| _ = black_box(branch(&state.0[0].to_le_bytes())));
    sha3::permute_portable(states);
}

/// A table read at a secret index.
#[inline(never)]
pub fn index(secret: &[u8]) -> u8 {
    static TABLE: [u8; 256] = [7; 256];
    black_box(&TABLE)[secret[0] as usize]
}

/// A store under a secret mask, where the processor has such.
#[cfg(target_arch = "x86_64")]
#[inline(never)]
pub fn mask(secret: &[u8]) -> u8 {
    let mut line = [0_u8; 64];
    let mask = u64::from(secret[0]);
    if !std::arch::is_x86_feature_detected!("avx512bw") {
        return 0;
    }
    // SAFETY: the processor has AVX-512; the store writes within 64 bytes that are there.
    unsafe {
        core::arch::asm!(
            "kmovq k1, {mask}",
            "vmovdqu8 [{line}] {{k1}}, zmm0",
            mask = in(reg) mask,
            line = in(reg) line.as_mut_ptr(),
            out("k1") _,
            options(nostack),
        );
    }
    black_box(&line)[63]
}

/// A division of a secret by a number that the compiler does not know.
#[inline(never)]
pub fn division(secret: u32, divisor: u32) -> u32 {
    secret.checked_div(black_box(divisor)).unwrap_or(0)
}

/// An intrinsic in a function without its feature, which calls it.
#[cfg(target_arch = "x86_64")]
#[inline(never)]
pub fn called_intrinsic(bytes: [u8; 32]) -> u64 {
    if !std::arch::is_x86_feature_detected!("avx2") {
        return 0;
    }
    // SAFETY: the processor has AVX2; vectors and arrays of 32 bytes have any bits.
    let sums = unsafe {
        let bytes = std::mem::transmute::<[u8; 32], std::arch::x86_64::__m256i>(black_box(bytes));
        let sums = std::arch::x86_64::_mm256_sad_epu8(bytes, bytes);
        std::mem::transmute::<std::arch::x86_64::__m256i, [u64; 4]>(sums)
    };
    black_box(sums)[0]
}

/// A secret copied to the stack and left there.
#[inline(never)]
pub fn left_on_stack(secret: &[u8]) -> u8 {
    let mut copy = [0_u8; 64];
    let length = secret.len().min(64);
    copy[..length].copy_from_slice(&secret[..length]);
    black_box(&mut copy)[length >> 1]
}

/// A secret on the heap, freed as it is.
#[inline(never)]
pub fn left_on_heap(secret: &[u8]) -> u8 {
    let copy = black_box(secret.to_vec());
    copy[copy.len() >> 1]
}

/// A permutation for the C interface that is right, and frees a copy of each state as it is.
///
/// # Safety
///
/// `states` points to `count` states of 25 words.
pub unsafe extern "C" fn keeping_keccak(_: *mut c_void, states: *mut u64, count: usize) {
    // SAFETY: the caller's promise; a `State` is its words.
    let states = unsafe { std::slice::from_raw_parts_mut(states.cast::<State>(), count) };
    _ = black_box(states.to_vec());
    sha3::permute_portable(states);
}

/// A secret loaded into a vector register and left there.
#[inline(never)]
pub fn left_in_register(secret: &[u8; 16]) {
    // SAFETY: 16 bytes are read; the register is one that the caller does not keep.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        core::arch::asm!("movdqu xmm7, [{}]", in(reg) secret.as_ptr(), out("xmm7") _, options(nostack, readonly));
        #[cfg(target_arch = "aarch64")]
        core::arch::asm!("ldr q23, [{}]", in(reg) secret.as_ptr(), out("v23") _, options(nostack, readonly));
    }
}

/// The bytes of stack that `big_frame` uses at least.
pub const BIG_FRAME: usize = 20_000;

/// A function with a large frame.
#[inline(never)]
pub fn big_frame() -> u8 {
    let mut frame = [1_u8; BIG_FRAME];
    black_box(&mut frame)[BIG_FRAME >> 1]
}
