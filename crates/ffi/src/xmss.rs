//! XMSS and XMSS^MT (RFC 8391, SP 800-208): verification. The key's bytes name its parameter set.
#![expect(unsafe_code, reason = "the calls come from C")]

use gambeson::xmss::{VerifyingKey, VerifyingKeyError};

use crate::border::{Border, door};
use crate::error::gambeson_error;

/// The error for a verifying key that is refused.
pub(crate) fn refused(error: VerifyingKeyError) -> gambeson_error {
    match error {
        VerifyingKeyError::Length { .. } => gambeson_error::Length,
        _ => gambeson_error::Key,
    }
}

fn verify(
    border: &Border,
    read: fn(&[u8]) -> Result<VerifyingKey, VerifyingKeyError>,
    (signature, signature_len): (*const u8, usize),
    (message, message_len): (*const u8, usize),
    (vk, vk_len): (*const u8, usize),
) -> Result<(), gambeson_error> {
    let signature = border.read_slice(signature, signature_len)?;
    let message = border.read_slice(message, message_len)?;
    let key = read(border.read_slice(vk, vk_len)?).map_err(refused)?;
    if signature_len != key.parameter_set().signature_len() {
        return Err(gambeson_error::Length);
    }
    key.verify(message, signature).map_err(|_| gambeson_error::Signature)
}

door! {
    /// Verifies a signature by XMSS, with every set of RFC 8391 and SP 800-208. A key with an unknown OID is refused.
    ///
    /// RFC 8391, Algorithm 14 (XMSS_verify). Errors: NULL, LENGTH, KEY, SIGNATURE.
    "xmss" "_verify" => xmss_verify(
        signature: *const u8, signature_len: usize, message: *const u8, message_len: usize, vk: *const u8, vk_len: usize
    ), |border| {
        verify(border, VerifyingKey::from_bytes, (signature, signature_len), (message, message_len), (vk, vk_len))
    }
}

door! {
    /// Verifies a signature by XMSS^MT, whose OIDs are counted apart from those of XMSS.
    ///
    /// RFC 8391, Algorithm 17 (XMSSMT_verify). Errors: NULL, LENGTH, KEY, SIGNATURE.
    "xmssmt" "_verify" => xmssmt_verify(
        signature: *const u8, signature_len: usize, message: *const u8, message_len: usize, vk: *const u8, vk_len: usize
    ), |border| {
        verify(border, VerifyingKey::from_mt_bytes, (signature, signature_len), (message, message_len), (vk, vk_len))
    }
}
