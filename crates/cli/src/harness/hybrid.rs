//! Every hybrid KEM by name; a private key comes in the parts that the request table names, or whole.

use super::request::{Fields, Refusal, hex};
use super::{Answer, answer};
use gambeson_hybrid::kem::{DecapsulationKey, EncapsulationKey, Error, HybridKem};
use zeroize::Zeroizing;

/// The mechanism that the request names; the table lists only names of mechanisms.
fn kem(fields: Fields<'_>) -> Result<&'static HybridKem, Refusal> {
    let name = fields.text("alg")?.unwrap_or_default();
    HybridKem::by_name(name).ok_or_else(|| Refusal::unsupported("unknown `alg`"))
}

pub(super) fn keygen(fields: Fields<'_>) -> Answer {
    let key = private(kem(fields)?, fields)?;
    answer([("ek", hex(key.encapsulation_key().as_bytes())), ("dk", hex(key.expose_bytes()))])
}

pub(super) fn encaps(fields: Fields<'_>) -> Answer {
    let kem = kem(fields)?;
    let (ek, m, x) = (fields.bytes("ek")?, fields.bytes("m")?, Zeroizing::new(fields.bytes("x")?));
    exact("m", 32, &m)?;
    exact("x", kem.curve().secret_len(), &x)?;
    let ek = EncapsulationKey::from_bytes(kem, &ek).map_err(|e| refusal("ek", e))?;
    let randomness = Zeroizing::new([&m[..], &x].concat());
    let (c, k) = ek.encapsulate_deterministic(&randomness).map_err(|e| refusal("x", e))?;
    answer([("c", hex(c.as_bytes())), ("k", hex(k.expose()))])
}

pub(super) fn decaps(fields: Fields<'_>) -> Answer {
    let key = private(kem(fields)?, fields)?;
    let k = key.decapsulate(&fields.bytes("c")?).map_err(|e| refusal("c", e))?;
    answer([("k", hex(k.expose()))])
}

/// The key of `dk`, or of `d`, `z` and `x`.
fn private(kem: &'static HybridKem, fields: Fields<'_>) -> Result<DecapsulationKey, Refusal> {
    let parts = ["d", "z", "x"];
    if let Some(dk) = fields.optional("dk")? {
        if parts.into_iter().any(|name| fields.has(name)) {
            return Err(Refusal::bad_request("both `dk` and its parts are given"));
        }
        let dk = Zeroizing::new(dk);
        return DecapsulationKey::from_bytes(kem, &dk).map_err(|e| refusal("dk", e));
    }
    let mut all = Zeroizing::new(Vec::new());
    for (name, length) in parts.into_iter().zip([32, 32, kem.curve().secret_len()]) {
        let part = Zeroizing::new(fields.bytes(name)?);
        exact(name, length, &part)?;
        all.extend_from_slice(&part);
    }
    DecapsulationKey::from_parts(kem, &all).map_err(|e| refusal("x", e))
}

fn exact(name: &str, expected: usize, bytes: &[u8]) -> Result<(), Refusal> {
    if bytes.len() == expected { Ok(()) } else { Err(Refusal::bad_length(name, expected, bytes.len())) }
}

pub(super) fn refusal(name: &str, error: Error) -> Refusal {
    match error {
        Error::Length { expected, actual } => Refusal::bad_length(name, expected, actual),
        _ => Refusal::bad_key(error.to_string()),
    }
}
