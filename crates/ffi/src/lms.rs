//! LMS and HSS (RFC 8554, RFC 9858): verification. The key's bytes name its types.
#![expect(unsafe_code, reason = "the calls come from C")]

use gambeson::lms::{HssVerifyingKey, VerifyingKey, VerifyingKeyError};

use crate::border::door;
use crate::error::gambeson_error;

fn refused(error: VerifyingKeyError) -> gambeson_error {
    match error {
        VerifyingKeyError::Length { .. } => gambeson_error::Length,
        _ => gambeson_error::Key,
    }
}

door! {
    /// Verifies a signature by LMS. A key with unknown types, or with one-time signatures of another hash function or length than its tree, is
    /// refused.
    ///
    /// RFC 8554, Algorithm 6. Errors: NULL, LENGTH, KEY, SIGNATURE.
    "lms" "_verify" => lms_verify(
        signature: *const u8, signature_len: usize, message: *const u8, message_len: usize, vk: *const u8, vk_len: usize
    ), |border| {
        let (signature, message) = (border.read_slice(signature, signature_len)?, border.read_slice(message, message_len)?);
        let key = VerifyingKey::from_bytes(border.read_slice(vk, vk_len)?).map_err(refused)?;
        if Some(signature_len) != key.lms_type().signature_len(key.lmots_type()) {
            return Err(gambeson_error::Length);
        }
        key.verify(message, signature).map_err(|_| gambeson_error::Signature)
    }
}

door! {
    /// Verifies a signature by HSS, of 1 to 8 levels. Trees below the highest may be of other types, so that a signature of a wrong length is one that
    /// is not valid.
    ///
    /// RFC 8554, §6.3. Errors: NULL, LENGTH, KEY, SIGNATURE.
    "hss" "_verify" => hss_verify(
        signature: *const u8, signature_len: usize, message: *const u8, message_len: usize, vk: *const u8, vk_len: usize
    ), |border| {
        let (signature, message) = (border.read_slice(signature, signature_len)?, border.read_slice(message, message_len)?);
        let key = HssVerifyingKey::from_bytes(border.read_slice(vk, vk_len)?).map_err(refused)?;
        key.verify(message, signature).map_err(|_| gambeson_error::Signature)
    }
}
