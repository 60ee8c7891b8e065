//! X448 (RFC 7748).

use super::request::{Fields, Refusal, hex};
use super::{Answer, answer};
use gambeson_hybrid::x448;

pub(super) fn x448(fields: Fields<'_>) -> Answer {
    let sk = x448::SecretKey::from_bytes(&fields.array("sk")?);
    let k = sk.diffie_hellman(&fields.array("pk")?).map_err(|e| Refusal::bad_key(e.to_string()))?;
    answer([("k", hex(k.expose()))])
}
