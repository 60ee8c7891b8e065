//! What can go wrong.
#![expect(unsafe_code, reason = "C calls by name")]

use core::ffi::{CStr, c_char, c_int};

/// The call did what it says. The same number as `GAMBESON_ERROR_NONE`.
pub const GAMBESON_OK: c_int = 0;

/// What a call came to. After any error the outputs are not to be used. They hold no secret then, unless the error is INTERNAL.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum gambeson_error {
    /// The call did what it says.
    None = 0,
    /// A pointer is null that must not be.
    Null = -1,
    /// A length is not that of the parameter set or of the hash function, or is longer than memory.
    Length = -2,
    /// Two buffers overlap, and one of them is written.
    Overlap = -3,
    /// The bytes are not a key of the parameter set (FIPS 203, §7.2 and §7.3; FIPS 204, Algorithm 25 (skDecode); PK.root of SLH-DSA; the types
    /// of LMS and HSS; the OIDs of XMSS).
    Key = -4,
    /// The signature is not one of this message, in this context, by this key.
    Signature = -5,
    /// The context string of ML-DSA or SLH-DSA has more than 255 bytes.
    Context = -6,
    /// The source of randomness failed: no key was made, nothing was encapsulated or signed.
    Random = -7,
    /// The hash was not started, or has ended; or an object or a descriptor is not aligned.
    State = -8,
    /// The function is not `Keccak-f[1600]`.
    Keccak = -9,
    /// A mistake in this library: please report it.
    Internal = -10,
    /// No pre-hash function has this number.
    Prehash = -11,
    /// A descriptor is of no known kind, or has a member set that its kind does not take.
    Descriptor = -12,
    /// No parameter set of SLH-DSA has this number.
    Set = -13,
}

/// A sentence about an error, without a full stop; for any other number it says that it is unknown.
///
/// It is there as long as the program runs.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn gambeson_strerror(error: c_int) -> *const c_char {
    const ALL: [(gambeson_error, &CStr); 14] = [
        (gambeson_error::None, c"no error"),
        (gambeson_error::Null, c"a pointer is null"),
        (gambeson_error::Length, c"a length is not that of the parameter set or of the hash function"),
        (gambeson_error::Overlap, c"two buffers overlap, and one of them is written"),
        (gambeson_error::Key, c"the bytes are not a key of the parameter set"),
        (gambeson_error::Signature, c"the signature is not valid"),
        (gambeson_error::Context, c"the context string has more than 255 bytes"),
        (gambeson_error::Random, c"the source of randomness failed"),
        (
            gambeson_error::State,
            c"the hash was not started, or has ended, or an object or a descriptor is not aligned",
        ),
        (gambeson_error::Keccak, c"the function is not Keccak-f[1600]"),
        (gambeson_error::Internal, c"a mistake in gambeson: please report it"),
        (gambeson_error::Prehash, c"no pre-hash function has this number"),
        (
            gambeson_error::Descriptor,
            c"a descriptor is of no known kind, or has a member set that its kind does not take",
        ),
        (gambeson_error::Set, c"no parameter set of SLH-DSA has this number"),
    ];
    let known = ALL.iter().find(|(known, _)| *known as c_int == error);
    known.map_or(c"unknown error", |(_, text)| text).as_ptr()
}
