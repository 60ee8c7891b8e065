//! liboqs asks one function for randomness: its own, or the one here, which gives the bytes of the case.
#![allow(unsafe_code, reason = "the function is called from C")]

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};

thread_local! {
    static NEXT: Cell<[u8; 32]> = const { Cell::new([0; 32]) };
}

/// The function here is asked.
static GIVEN: AtomicBool = AtomicBool::new(false);

/// What liboqs draws next on this thread.
pub fn next(bytes: [u8; 32]) {
    NEXT.set(bytes);
    if !GIVEN.load(Ordering::Relaxed) {
        // SAFETY: the function has the signature that liboqs calls, and lives as long as the program.
        unsafe { oqs::ffi::rand::OQS_randombytes_custom_algorithm(Some(draw)) };
        GIVEN.store(true, Ordering::Relaxed);
    }
}

/// Makes liboqs draw from the operating system, as it does by itself. The flag spares the others the comparison of strings.
pub fn of_the_system() {
    if GIVEN.load(Ordering::Relaxed) {
        // SAFETY: the name is a string of C.
        let status = unsafe { oqs::ffi::rand::OQS_randombytes_switch_algorithm(c"system".as_ptr()) };
        assert_eq!(status, oqs::ffi::common::OQS_STATUS::OQS_SUCCESS, "liboqs has this one");
        GIVEN.store(false, Ordering::Relaxed);
    }
}

unsafe extern "C" fn draw(out: *mut u8, len: usize) {
    assert_eq!(len, 32, "every draw of ML-KEM and ML-DSA is of 32 bytes");
    let bytes = NEXT.get();
    // SAFETY: liboqs gives a buffer of `len` bytes, which is 32.
    unsafe { out.copy_from_nonoverlapping(bytes.as_ptr(), len) };
}
