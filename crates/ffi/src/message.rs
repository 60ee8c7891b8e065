//! FIPS 204, §5.2 and §5.4, FIPS 205, §10: what is signed or verified, as C describes it.
#![expect(unsafe_code, reason = "the descriptor comes from C")]

use core::ffi::c_int;

use gambeson::mldsa::{ContextTooLong, DigestRef};
use gambeson::{mldsa, slhdsa};

use crate::border::{Border, Descriptor};
use crate::error::gambeson_error;
use crate::prehash::function;

/// The message itself, in a context: ML-DSA and SLH-DSA.
pub const GAMBESON_MESSAGE_PURE: c_int = 0;
/// A digest of the message, in a context: HashML-DSA and HashSLH-DSA, whose signatures are not those of the message itself.
pub const GAMBESON_MESSAGE_PREHASHED: c_int = 1;
/// The message representative μ, 64 bytes, of a message in pieces (_mu_init): the signature is the message's. It takes no context, which is in μ.
/// ML-DSA alone has it.
pub const GAMBESON_MESSAGE_MU: c_int = 2;

/// What is signed or verified.
///
/// One of zeros with `data` and `len` is the message itself without a context. A member that the kind does not take must be zero: a call refuses
/// it rather than to ignore it.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct gambeson_message {
    /// One of GAMBESON_MESSAGE_….
    pub kind: c_int,
    /// PREHASHED: the function that made the digest, one of gambeson_prehash.
    pub prehash: c_int,
    /// The message, the digest or μ. Null will do for an empty message.
    pub data: *const u8,
    /// Its length; that of the hash function for a digest, 64 for μ.
    pub len: usize,
    /// PURE and PREHASHED: the context string. Null will do for none.
    pub context: *const u8,
    /// Its length, at most 255.
    pub context_len: usize,
}

// SAFETY: integers and pointers.
unsafe impl Descriptor for gambeson_message {}

/// The message of a scheme, by the kinds of a descriptor.
pub trait Described<'a>: Sized {
    /// GAMBESON_MESSAGE_PURE.
    fn pure(message: &'a [u8], context: &'a [u8]) -> Result<Self, ContextTooLong>;
    /// GAMBESON_MESSAGE_PREHASHED.
    fn prehashed(digest: DigestRef<'a>, context: &'a [u8]) -> Result<Self, ContextTooLong>;
    /// GAMBESON_MESSAGE_MU.
    fn mu(mu: &'a [u8]) -> Result<Self, gambeson_error>;
}

impl<'a> Described<'a> for mldsa::Message<'a> {
    fn pure(message: &'a [u8], context: &'a [u8]) -> Result<Self, ContextTooLong> {
        Self::pure(message, context)
    }

    fn prehashed(digest: DigestRef<'a>, context: &'a [u8]) -> Result<Self, ContextTooLong> {
        Self::prehashed(digest, context)
    }

    fn mu(mu: &'a [u8]) -> Result<Self, gambeson_error> {
        Ok(Self::mu(mu.try_into().map_err(|_| gambeson_error::Length)?))
    }
}

impl<'a> Described<'a> for slhdsa::Message<'a> {
    fn pure(message: &'a [u8], context: &'a [u8]) -> Result<Self, ContextTooLong> {
        Self::pure(message, context)
    }

    fn prehashed(digest: DigestRef<'a>, context: &'a [u8]) -> Result<Self, ContextTooLong> {
        Self::prehashed(digest, context)
    }

    fn mu(_: &'a [u8]) -> Result<Self, gambeson_error> {
        Err(gambeson_error::Descriptor)
    }
}

/// Fills `message` with what a descriptor names: in its place, for a `Result` of it would be copied. Not inlined: one text for all sets.
#[inline(never)]
pub fn read<'a, M: Described<'a>>(
    border: &'a Border,
    descriptor: *const gambeson_message,
    message: &mut M,
) -> Result<(), gambeson_error> {
    let gambeson_message { kind, prehash, data, len, context, context_len } =
        border.descriptor(descriptor)?;
    let (bytes, context) = (border.read_slice(data, len)?, border.read_slice(context, context_len)?);
    let read = match kind {
        GAMBESON_MESSAGE_PURE if prehash == 0 => M::pure(bytes, context),
        GAMBESON_MESSAGE_PREHASHED => {
            let function = function(prehash)?;
            if data.is_null() {
                return Err(gambeson_error::Null);
            }
            let digest = DigestRef::from_bytes(function, bytes);
            M::prehashed(digest.map_err(|_| gambeson_error::Length)?, context)
        }
        GAMBESON_MESSAGE_MU if prehash == 0 && context.is_empty() => Ok(M::mu(bytes)?),
        _ => return Err(gambeson_error::Descriptor),
    };
    *message = read.map_err(|_| gambeson_error::Context)?;
    Ok(())
}
