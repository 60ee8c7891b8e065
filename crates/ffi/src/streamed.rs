//! Verification of signatures that a function of C reads piece by piece.
#![expect(unsafe_code, reason = "the calls and the function come from C")]

use core::ffi::{c_int, c_void};

use gambeson::lms::{HssVerifyingKey, StreamError, VerifyingKey};
use gambeson::slhdsa::{self, Message};
use gambeson::xmss;

use crate::border::door;
use crate::error::gambeson_error;
use crate::lms::refused;
use crate::message::{self, gambeson_message};
use crate::slhdsa::parameter_set;

/// A caller's source of a signature: writes the `len` bytes from `offset` on to `out`, and returns 0; any other number ends the call with the error
/// READ. `ctx` is the argument of the call. It must return, without `longjmp` or exception. Offsets ascend without gaps, but for HSS with two levels
/// or more.
#[expect(non_camel_case_types, reason = "the name that C sees")]
pub type gambeson_read =
    Option<unsafe extern "C" fn(ctx: *mut c_void, offset: usize, out: *mut u8, len: usize) -> c_int>;

/// The function as the core calls it.
fn reader(
    read: gambeson_read,
    ctx: *mut c_void,
) -> Result<impl FnMut(usize, &mut [u8]) -> Result<(), ()>, gambeson_error> {
    let read = read.ok_or(gambeson_error::Null)?;
    Ok(move |offset: usize, out: &mut [u8]| {
        // SAFETY: `out` has `out.len()` bytes; the caller answers for the function's use of `ctx`.
        let outcome = unsafe { read(ctx, offset, out.as_mut_ptr(), out.len()) };
        if outcome == 0 { Ok(()) } else { Err(()) }
    })
}

/// A reader that counts the offset, from the start of the signature on.
fn in_order(
    mut read: impl FnMut(usize, &mut [u8]) -> Result<(), ()>,
) -> impl FnMut(&mut [u8]) -> Result<(), ()> {
    let mut offset = 0;
    move |out| {
        read(offset, out)?;
        offset += out.len();
        Ok(())
    }
}

fn failed(error: StreamError<()>) -> gambeson_error {
    match error {
        StreamError::Read(()) => gambeson_error::Read,
        StreamError::Invalid => gambeson_error::Signature,
    }
}

door! {
    /// Verifies a signature by LMS, of which `read` gives one piece after the other: at most 32 bytes on a processor of 32 bits. Bytes behind the
    /// signature are not read.
    ///
    /// RFC 8554, Algorithm 6. Errors: NULL, LENGTH, KEY, SIGNATURE, READ.
    "lms" "_verify_streamed" => lms_verify_streamed(
        read: gambeson_read, ctx: *mut c_void, message: *const u8, message_len: usize, vk: *const u8, vk_len: usize
    ), |border| {
        let (read, message) = (reader(read, ctx)?, border.read_slice(message, message_len)?);
        let key = VerifyingKey::from_bytes(border.read_slice(vk, vk_len)?).map_err(refused)?;
        key.verify_streamed(&[message], in_order(read)).map_err(failed)
    }
}

door! {
    /// Verifies a signature by HSS, as gambeson_lms_verify_streamed. The key of each lower tree stands behind its signature, and is read before it.
    ///
    /// RFC 8554, §6.3. Errors: NULL, LENGTH, KEY, SIGNATURE, READ.
    "hss" "_verify_streamed" => hss_verify_streamed(
        read: gambeson_read, ctx: *mut c_void, message: *const u8, message_len: usize, vk: *const u8, vk_len: usize
    ), |border| {
        let (read, message) = (reader(read, ctx)?, border.read_slice(message, message_len)?);
        let key = HssVerifyingKey::from_bytes(border.read_slice(vk, vk_len)?).map_err(refused)?;
        key.verify_streamed(&[message], read).map_err(failed)
    }
}

door! {
    /// Verifies a signature by XMSS, of which `read` gives one piece after the other: at most 64 bytes. Bytes behind the signature are not read.
    ///
    /// RFC 8391, Algorithm 14 (XMSS_verify). Errors: NULL, LENGTH, KEY, SIGNATURE, READ.
    "xmss" "_verify_streamed" => xmss_verify_streamed(
        read: gambeson_read, ctx: *mut c_void, message: *const u8, message_len: usize, vk: *const u8, vk_len: usize
    ), |border| {
        let (read, message) = (reader(read, ctx)?, border.read_slice(message, message_len)?);
        let key = xmss::VerifyingKey::from_bytes(border.read_slice(vk, vk_len)?).map_err(crate::xmss::refused)?;
        key.verify_streamed(&[message], in_order(read)).map_err(failed)
    }
}

door! {
    /// Verifies a signature by XMSS^MT, as gambeson_xmss_verify_streamed.
    ///
    /// RFC 8391, Algorithm 17 (XMSSMT_verify). Errors: NULL, LENGTH, KEY, SIGNATURE, READ.
    "xmssmt" "_verify_streamed" => xmssmt_verify_streamed(
        read: gambeson_read, ctx: *mut c_void, message: *const u8, message_len: usize, vk: *const u8, vk_len: usize
    ), |border| {
        let (read, message) = (reader(read, ctx)?, border.read_slice(message, message_len)?);
        let key = xmss::VerifyingKey::from_mt_bytes(border.read_slice(vk, vk_len)?).map_err(crate::xmss::refused)?;
        key.verify_streamed(&[message], in_order(read)).map_err(failed)
    }
}

door! {
    /// Verifies a signature by SLH-DSA, of which `read` gives one piece after the other: at most 32 bytes. Bytes behind the signature are not read.
    ///
    /// FIPS 205, Algorithm 24 (slh_verify) and Algorithm 25 (hash_slh_verify). Errors: NULL, LENGTH, CONTEXT, SIGNATURE, STATE, PREHASH, DESCRIPTOR,
    /// SET, READ.
    "slhdsa" "_verify_streamed" => slhdsa_verify_streamed(
        set: c_int, read: gambeson_read, ctx: *mut c_void, message: *const gambeson_message, vk: *const u8, vk_len: usize
    ), |border| {
        let (set, read) = (parameter_set(set)?, reader(read, ctx)?);
        let mut described = Message::from(&[]);
        message::read(border, message, &mut described)?;
        let key = slhdsa::VerifyingKey::from_bytes(set, border.read_slice(vk, vk_len)?);
        let key = key.map_err(|_| gambeson_error::Length)?;
        key.verify_streamed(described, in_order(read)).map_err(failed)
    }
}
