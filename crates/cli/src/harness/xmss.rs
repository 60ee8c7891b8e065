//! XMSS and XMSS^MT, with the index as an input.

use super::request::{Code, Fields, Refusal, hex};
use super::{Answer, Result_, answer};
use gambeson::stateful::{ReserveError, Signer, TreeOptions, hazmat::MemoryStore};
use gambeson::xmss::{ParameterSet, SigningKey, VerifyingKey, VerifyingKeyError};
use zeroize::Zeroizing;

/// Computes the key of the request's `params`, `skSeed`, `skPrf` and `pkSeed`.
fn signing_key(fields: Fields<'_>, sets: &[ParameterSet]) -> Result_<SigningKey> {
    let name = fields.text("params")?.ok_or_else(|| Refusal::bad_request("`params` is missing"))?;
    let set = sets.iter().copied().find(|set| set.name() == name);
    let set = set
        .filter(|set| set.is_approved())
        .ok_or_else(|| Refusal::unsupported("no parameter set of SP 800-208"))?;
    let n = (set.verifying_key_len() - 4) / 2;
    let seed = |name| {
        let seed = Zeroizing::new(fields.bytes(name)?);
        if seed.len() == n { Ok(seed) } else { Err(Refusal::bad_length(name, n, seed.len())) }
    };
    let (secret, sk_prf, pk_seed) = (seed("skSeed")?, seed("skPrf")?, seed("pkSeed")?);
    SigningKey::from_seeds(set, &secret, &sk_prf, &pk_seed, TreeOptions::new())
        .map_err(|error| Refusal::bad_key(error.to_string()))
}

fn keygen_of(fields: Fields<'_>, sets: &[ParameterSet]) -> Answer {
    answer([("pk", hex(&signing_key(fields, sets)?.verifying_key().to_bytes()))])
}

fn sign_of(fields: Fields<'_>, sets: &[ParameterSet]) -> Answer {
    let index = fields.value("idx").and_then(serde_json::Value::as_u64);
    let index = index.ok_or_else(|| Refusal::bad_request("`idx` is no index"))?;
    let message = fields.bytes("message")?;
    let mut signer = Signer::new(signing_key(fields, sets)?, MemoryStore::new(index));
    let index = signer.reserve_one().map_err(|error| match error {
        ReserveError::Exhausted { .. } => Refusal::new(Code::Exhausted, error.to_string()),
        _ => Refusal::bad_request(error.to_string()),
    })?;
    let signature = signer.sign(index, &message).map_err(|error| Refusal::bad_request(error.to_string()))?;
    answer([("signature", hex(&signature))])
}

fn verify_of(fields: Fields<'_>, read: fn(&[u8]) -> Result<VerifyingKey, VerifyingKeyError>) -> Answer {
    let (pk, message, signature) =
        (fields.bytes("pk")?, fields.bytes("message")?, fields.bytes("signature")?);
    let key = read(&pk).map_err(|error| match error {
        VerifyingKeyError::Length { expected, actual } => Refusal::bad_length("pk", expected, actual),
        _ => Refusal::bad_key(error.to_string()),
    })?;
    if fields.text("params")?.is_some_and(|name| name != key.parameter_set().name()) {
        return Err(Refusal::bad_key("the key has another OID than `params`"));
    }
    answer([("testPassed", key.verify(&message, &signature).is_ok())])
}

pub(super) fn keygen(fields: Fields<'_>) -> Answer {
    keygen_of(fields, ParameterSet::XMSS)
}

pub(super) fn sign(fields: Fields<'_>) -> Answer {
    sign_of(fields, ParameterSet::XMSS)
}

pub(super) fn verify(fields: Fields<'_>) -> Answer {
    verify_of(fields, VerifyingKey::from_bytes)
}

pub(super) fn mt_keygen(fields: Fields<'_>) -> Answer {
    keygen_of(fields, ParameterSet::XMSS_MT)
}

pub(super) fn mt_sign(fields: Fields<'_>) -> Answer {
    sign_of(fields, ParameterSet::XMSS_MT)
}

pub(super) fn mt_verify(fields: Fields<'_>) -> Answer {
    verify_of(fields, VerifyingKey::from_mt_bytes)
}
