//! The randomness of a call: the system's, the caller's function, or bytes.
#![expect(unsafe_code, reason = "two of them are functions of C")]

use core::ffi::{c_int, c_void};

use crate::border::{Border, Descriptor};
use crate::error::gambeson_error;

/// A caller's source of randomness: writes `len` bytes to `out`, and returns 0; any other number says that it failed. `ctx` is the member of
/// the descriptor. It must return, without `longjmp` or exception.
#[expect(non_camel_case_types, reason = "the name that C sees")]
pub type gambeson_fill = Option<unsafe extern "C" fn(ctx: *mut c_void, out: *mut u8, len: usize) -> c_int>;

/// The system's randomness: the operating system's, or gambeson_port_entropy on bare metal. It takes no other member.
pub const GAMBESON_RANDOMNESS_SYSTEM: c_int = 0;
/// The randomness of `fill`, which is called once, with `ctx`, for as many bytes as the call takes.
pub const GAMBESON_RANDOMNESS_CALLBACK: c_int = 1;
/// `bytes` themselves, whose `len` is as many as the call takes: a stored seed, coins, `rnd`.
pub const GAMBESON_RANDOMNESS_BYTES: c_int = 2;

/// The randomness of a call. A null pointer to one is the system's randomness.
///
/// One of zeros is the system's, too. A member that the kind does not take must be zero: a call refuses bytes without their kind, rather than
/// draw others.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct gambeson_randomness {
    /// One of GAMBESON_RANDOMNESS_….
    pub kind: c_int,
    /// CALLBACK: the function.
    pub fill: gambeson_fill,
    /// CALLBACK: the first argument of the function.
    pub ctx: *mut c_void,
    /// BYTES: the bytes. Secret, unless `rnd` is 32 zeros.
    pub bytes: *const u8,
    /// BYTES: their number.
    pub len: usize,
}

// SAFETY: integers and pointers; that `fill` is null or a function is the caller's promise.
unsafe impl Descriptor for gambeson_randomness {}

/// Fills `out` with secret bytes: last in a call, so that none are drawn for one that fails. Not inlined: one text for all sets.
#[inline(never)]
pub fn draw(
    border: &Border,
    randomness: *const gambeson_randomness,
    out: &mut [u8],
) -> Result<(), gambeson_error> {
    if randomness.is_null() {
        return system(out);
    }
    let gambeson_randomness { kind, fill, ctx, bytes, len } = border.descriptor(randomness)?;
    match kind {
        GAMBESON_RANDOMNESS_SYSTEM if fill.is_none() && bytes.is_null() => system(out),
        GAMBESON_RANDOMNESS_CALLBACK if bytes.is_null() => {
            let fill = fill.ok_or(gambeson_error::Null)?;
            // SAFETY: `out` has so many bytes; what the function may do with `ctx` is between the caller and it.
            drawn(unsafe { fill(ctx, out.as_mut_ptr(), out.len()) } == 0)
        }
        GAMBESON_RANDOMNESS_BYTES if fill.is_none() => {
            let bytes = border.read_slice(bytes, len)?;
            if bytes.len() != out.len() {
                return Err(gambeson_error::Length);
            }
            out.copy_from_slice(bytes);
            Ok(())
        }
        _ => Err(gambeson_error::Descriptor),
    }
}

fn drawn(is_well: bool) -> Result<(), gambeson_error> {
    if is_well { Ok(()) } else { Err(gambeson_error::Random) }
}

#[cfg(feature = "std")]
fn system(out: &mut [u8]) -> Result<(), gambeson_error> {
    drawn(getrandom::fill(out).is_ok())
}

#[cfg(not(feature = "std"))]
fn system(out: &mut [u8]) -> Result<(), gambeson_error> {
    unsafe extern "C" {
        fn gambeson_port_entropy(out: *mut u8, len: usize) -> c_int;
    }
    // SAFETY: gambeson_port.h says what the platform's function does.
    drawn(unsafe { gambeson_port_entropy(out.as_mut_ptr(), out.len()) } == 0)
}
