//! Composite signatures by name, and Ed448.

use super::request::{Code, Fields, Refusal, exactly, hex};
use super::{Answer, answer};
use gambeson_hybrid::composite::{Algorithm, KeyError, SignError, SigningKey, VerifyingKey};
use gambeson_hybrid::ed448;
use zeroize::Zeroizing;

/// The algorithm that the request names; the table lists only names of algorithms.
fn algorithm(fields: Fields<'_>) -> Result<&'static Algorithm, Refusal> {
    let name = fields.text("alg")?.unwrap_or_default();
    Algorithm::by_name(name).ok_or_else(|| Refusal::unsupported("unknown `alg`"))
}

pub(super) fn pubkey(fields: Fields<'_>) -> Answer {
    let key = private(fields)?;
    answer([("pk", hex(key.verifying_key().as_bytes()))])
}

pub(super) fn sign(fields: Fields<'_>) -> Answer {
    let key = private(fields)?;
    let message = fields.bytes("message")?;
    let context = fields.optional("context")?.unwrap_or_default();
    let rnd = fields.optional_array("rnd")?.map(Zeroizing::new);
    let digest = key.algorithm().pre_hash().digest(&message);
    let signature = key.sign_digest(&digest, &context, rnd.as_deref()).map_err(|e| match e {
        SignError::ContextTooLong => Refusal::new(Code::BadContext, e.to_string()),
        _ => Refusal::new(Code::Internal, e.to_string()),
    })?;
    answer([("signature", hex(signature.as_bytes()))])
}

pub(super) fn verify(fields: Fields<'_>) -> Answer {
    let key =
        VerifyingKey::from_bytes(algorithm(fields)?, &fields.bytes("pk")?).map_err(|e| refusal("pk", e))?;
    let (message, signature) = (fields.bytes("message")?, fields.bytes("signature")?);
    let context = fields.optional("context")?.unwrap_or_default();
    answer([("testPassed", key.verify(&message, &context, &signature).is_ok())])
}

fn private(fields: Fields<'_>) -> Result<SigningKey, Refusal> {
    let sk = Zeroizing::new(fields.bytes("sk")?);
    SigningKey::from_bytes(algorithm(fields)?, &sk).map_err(|e| refusal("sk", e))
}

fn refusal(name: &str, error: KeyError) -> Refusal {
    match error {
        KeyError::Length { expected, actual } => Refusal::bad_length(name, expected, actual),
        _ => Refusal::bad_key(error.to_string()),
    }
}

pub(super) fn ed448_pubkey(fields: Fields<'_>) -> Answer {
    let key = ed448::SigningKey::from_seed(&Zeroizing::new(fields.array("sk")?));
    answer([("pk", hex(key.public_bytes()))])
}

pub(super) fn ed448_sign(fields: Fields<'_>) -> Answer {
    let key = ed448::SigningKey::from_seed(&Zeroizing::new(fields.array("sk")?));
    let context = fields.optional("context")?.unwrap_or_default();
    let signature = key
        .sign_with_context(&fields.bytes("message")?, &context)
        .map_err(|e| Refusal::new(Code::BadContext, e.to_string()))?;
    answer([("signature", hex(&signature))])
}

pub(super) fn ed448_verify(fields: Fields<'_>) -> Answer {
    let pk = exactly("pk", &fields.bytes("pk")?)?;
    let key = ed448::VerifyingKey::from_bytes(&pk).map_err(|e| Refusal::bad_key(e.to_string()))?;
    let (message, signature) = (fields.bytes("message")?, fields.bytes("signature")?);
    let context = fields.optional("context")?.unwrap_or_default();
    answer([("testPassed", key.verify_with_context(&message, &context, &signature).is_ok())])
}
