//! `Keccak-f[1600]` of the platform.
#![expect(unsafe_code, reason = "the permutation is a function of C")]

use core::ffi::c_void;
use core::sync::atomic::{AtomicPtr, Ordering};

use gambeson::sha3::{self, State};

use crate::border::stopped;
use crate::error::gambeson_error;

/// A permutation of the platform: a hardware unit, or assembly.
#[repr(C)]
#[derive(Debug)]
pub struct gambeson_keccak {
    /// Applies `Keccak-f[1600]` to each of `count` states, 25 words each, one after the other: lane (x, y) is word x + 5y.
    pub permute: Option<unsafe extern "C" fn(ctx: *mut c_void, states: *mut u64, count: usize)>,
    /// What `permute` is called with.
    pub ctx: *mut c_void,
}

static PLUGGED: AtomicPtr<gambeson_keccak> = AtomicPtr::new(core::ptr::null_mut());

fn permute(states: &mut [State]) {
    // SAFETY: null, or what `gambeson_set_keccak` was given, whose caller promised that it stays.
    let plugged = unsafe { PLUGGED.load(Ordering::Acquire).as_ref() };
    match plugged {
        // SAFETY: `State` is 25 words; the caller of `gambeson_set_keccak` promised a function that takes them.
        Some(gambeson_keccak { permute: Some(permute), ctx }) => unsafe {
            permute(*ctx, states.as_mut_ptr().cast(), states.len());
        },
        // Taken out while another thread hashes.
        _ => sha3::permute_portable(states),
    }
}

/// Makes every hash of this program run through `keccak->permute`, which is tried first: on failure all stays as it was. Null takes the
/// permutation out again.
///
/// Call it at start-up, before other threads hash. `*keccak` and what its `ctx` points to must stay as long as it is plugged in; the
/// function is called by every thread that hashes, at once if there are several. Its time and addresses must not depend on the state.
/// Stack: that of a hash, and the function's.
///
/// Errors: NULL if `permute` is null, STATE if `*keccak` is not aligned, KECCAK if it is not `Keccak-f[1600]`.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn gambeson_set_keccak(keccak: *const gambeson_keccak) -> gambeson_error {
    if keccak.is_null() {
        sha3::clear_permutation();
        PLUGGED.store(core::ptr::null_mut(), Ordering::Release);
        return gambeson_error::None;
    }
    if !keccak.is_aligned() {
        return gambeson_error::State;
    }
    // SAFETY: not null, aligned, and the caller's promise.
    if unsafe { (*keccak).permute }.is_none() {
        return gambeson_error::Null;
    }
    // Not a swap: processors without compare-and-swap have none.
    let before = PLUGGED.load(Ordering::Acquire);
    PLUGGED.store(keccak.cast_mut(), Ordering::Release);
    let outcome = stopped(|| sha3::set_permutation(permute).map_err(|_| gambeson_error::Keccak));
    if outcome.is_err() {
        PLUGGED.store(before, Ordering::Release);
    }
    outcome.err().unwrap_or(gambeson_error::None)
}
