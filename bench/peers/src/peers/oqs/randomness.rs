//! liboqs asks one function of the program for randomness: here it gets the bytes of the case.
#![allow(unsafe_code, reason = "the function is called from C")]

use std::cell::Cell;

thread_local! {
    static NEXT: Cell<[u8; 32]> = const { Cell::new([0; 32]) };
}

/// What liboqs draws next on this thread.
pub fn next(bytes: [u8; 32]) {
    NEXT.set(bytes);
}

/// Makes liboqs take its randomness from here.
pub fn install() {
    // SAFETY: the function has the signature that liboqs calls, and lives as long as the program.
    unsafe { oqs::ffi::rand::OQS_randombytes_custom_algorithm(Some(draw)) };
}

unsafe extern "C" fn draw(out: *mut u8, len: usize) {
    assert_eq!(len, 32, "every draw of ML-KEM and ML-DSA is of 32 bytes");
    let bytes = NEXT.get();
    // SAFETY: liboqs gives a buffer of `len` bytes, which is 32.
    unsafe { out.copy_from_nonoverlapping(bytes.as_ptr(), len) };
}
