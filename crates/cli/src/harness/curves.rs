//! X25519 and X448 (RFC 7748).

use super::request::{Fields, Refusal, hex};
use super::{Answer, answer};

pub(super) fn x25519(fields: Fields<'_>) -> Answer {
    let k = x25519_dalek::x25519(fields.array("sk")?, fields.array("pk")?);
    shared(&k)
}

pub(super) fn x448(fields: Fields<'_>) -> Answer {
    let k = x448::x448(fields.array("sk")?, fields.array("pk")?);
    shared(k.as_ref().map_or(&[], |k| k.as_slice()))
}

/// The answer `k`, unless it is all zero (or withheld as such by the crate): then the point had low order.
fn shared(k: &[u8]) -> Answer {
    if k.iter().all(|&byte| byte == 0) {
        return Err(Refusal::bad_key("the shared secret is all zero: the point has low order"));
    }
    answer([("k", hex(k))])
}
