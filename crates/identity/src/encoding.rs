//! base64url without padding (RFC 4648, §5), and multibase with it. What stands in cards, documents and proofs is public.

use crate::{Error, Reason, Result};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

/// The text of bytes.
pub(crate) fn encode(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

/// The bytes of a text; at most `max_len` of them. Only the one canonical text of the bytes is read.
pub(crate) fn decode(text: &str, max_len: usize) -> Result<Vec<u8>> {
    if text.len() > max_len.div_ceil(3) * 4 {
        return Err(Error::new(Reason::BadEncoding, format_args!("base64url of more than {max_len} bytes")));
    }
    URL_SAFE_NO_PAD
        .decode(text)
        .map_err(|_| Error::new(Reason::BadEncoding, "not base64url without padding (RFC 4648, §5)"))
}

/// Multibase `u`.
pub(crate) fn multibase(bytes: &[u8]) -> String {
    format!("u{}", encode(bytes))
}

/// The bytes of a multibase text with base `u`.
pub(crate) fn from_multibase(text: &str, max_len: usize) -> Result<Vec<u8>> {
    let digits = text.strip_prefix('u').ok_or_else(|| {
        Error::new(
            Reason::BadEncoding,
            "the multibase value is not base64url without padding: it must begin with u",
        )
    })?;
    decode(digits, max_len)
}
