//! The doors of randomness: the system's, the caller's.
#![expect(unsafe_code, reason = "both are functions of C")]

use core::ffi::{c_int, c_void};

use gambeson::secret::Secret;

use crate::error::gambeson_error;

/// A caller's source of randomness: writes `len` bytes to `out`, and returns 0; any other number says that it failed. `ctx` is what was
/// given beside it. It must return, without `longjmp` or exception.
#[expect(non_camel_case_types, reason = "the name that C sees")]
pub type gambeson_fill = Option<unsafe extern "C" fn(ctx: *mut c_void, out: *mut u8, len: usize) -> c_int>;

/// Where randomness comes from.
pub enum Source<'a> {
    /// The operating system, or the port.
    System,
    /// The caller's function, with its context.
    Caller(gambeson_fill, *mut c_void),
    /// The caller has it already.
    Given(&'a [u8]),
}

impl Source<'_> {
    /// `N` secret bytes.
    pub fn draw<const N: usize>(self) -> Result<Secret<[u8; N]>, gambeson_error> {
        let mut bytes = Secret::new([0; N]);
        let out = bytes.expose_mut();
        let failed = match self {
            Self::System => system(out),
            Self::Given(given) => {
                *out = *<&[u8; N]>::try_from(given).map_err(|_| gambeson_error::Internal)?;
                false
            }
            Self::Caller(None, _) => return Err(gambeson_error::Null),
            // SAFETY: `out` has `N` bytes; what the function may do with `ctx` is between the caller and it.
            Self::Caller(Some(fill), ctx) => unsafe { fill(ctx, out.as_mut_ptr(), N) != 0 },
        };
        if failed { Err(gambeson_error::Random) } else { Ok(bytes) }
    }
}

#[cfg(feature = "std")]
fn system(out: &mut [u8]) -> bool {
    getrandom::fill(out).is_err()
}

#[cfg(not(feature = "std"))]
fn system(out: &mut [u8]) -> bool {
    unsafe extern "C" {
        fn gambeson_port_entropy(out: *mut u8, len: usize) -> c_int;
    }
    // SAFETY: gambeson_port.h says what the platform's function does.
    unsafe { gambeson_port_entropy(out.as_mut_ptr(), out.len()) != 0 }
}
