//! What belongs to no algorithm.
#![expect(unsafe_code, reason = "the calls come from C")]

use core::ffi::{c_char, c_void};

use zeroize::Zeroize;

use crate::sizes;

/// The version of the library that runs, such as "0.1.0"; the header's own is in `GAMBESON_VERSION_MAJOR`, `_MINOR`, `_PATCH`.
///
/// It is there as long as the program runs.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn gambeson_version() -> *const c_char {
    const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "\0");
    const {
        let header =
            [sizes::GAMBESON_VERSION_MAJOR, sizes::GAMBESON_VERSION_MINOR, sizes::GAMBESON_VERSION_PATCH];
        let [major, minor, patch] = header;
        let digits = [b'0' + major as u8, b'.', b'0' + minor as u8, b'.', b'0' + patch as u8, 0];
        let mut at = 0;
        while at < digits.len() {
            assert!(VERSION.as_bytes()[at] == digits[at], "the header tells another version");
            at += 1;
        }
    }
    VERSION.as_ptr().cast()
}

/// Overwrites secrets with zeros; the compiler does not leave it out. For seeds, keys, shared secrets, and hashes that are not to be
/// finished. Null will do for no bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gambeson_wipe(secret: *mut c_void, len: usize) {
    if !secret.is_null() && len <= isize::MAX as usize {
        // SAFETY: the caller's promise, at the head of the header; not null, and no longer than an object can be.
        unsafe { core::slice::from_raw_parts_mut(secret.cast::<u8>(), len) }.zeroize();
    }
}

/// On bare metal a panic, which is a mistake of ours, ends the program here.
#[cfg(all(target_os = "none", not(feature = "std")))]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {
        core::hint::spin_loop();
    }
}
