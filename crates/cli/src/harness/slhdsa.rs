//! SLH-DSA.

use super::request::{Fields, Refusal, hex};
use super::signed::{Input, too_long};
use super::{Answer, Result_, answer};
use gambeson::slhdsa::{Message, ParameterSet, SigningKey, SigningKeyError, VerifyingKey};
use zeroize::Zeroizing;

/// The set that the request names: the table of operations has it.
fn set(fields: Fields<'_>) -> Result_<ParameterSet> {
    let name = fields.text("alg")?.unwrap_or_default();
    let found = ParameterSet::ALL.iter().find(|set| set.name() == name);
    found.copied().ok_or_else(|| Refusal::unsupported("unknown parameter set"))
}

pub(super) fn keygen(fields: Fields<'_>) -> Answer {
    let set = set(fields)?;
    let [sk_seed, sk_prf, pk_seed] = ["skSeed", "skPrf", "pkSeed"].map(|name| seed(fields, set, name));
    let (sk_seed, sk_prf, pk_seed) = (Zeroizing::new(sk_seed?), Zeroizing::new(sk_prf?), pk_seed?);
    let sk = SigningKey::from_seeds(set, &sk_seed, &sk_prf, &pk_seed)
        .map_err(|e| Refusal::bad_key(e.to_string()))?;
    answer([("pk", hex(sk.verifying_key().as_bytes())), ("sk", hex(sk.expose_bytes()))])
}

/// Bytes of the length of a seed.
fn seed(fields: Fields<'_>, set: ParameterSet, name: &str) -> Result_<Vec<u8>> {
    let bytes = fields.bytes(name)?;
    if bytes.len() == set.seed_len() {
        Ok(bytes)
    } else {
        Err(Refusal::bad_length(name, set.seed_len(), bytes.len()))
    }
}

pub(super) fn sign(fields: Fields<'_>) -> Answer {
    let (set, input) = (set(fields)?, Input::read(fields)?);
    let sk = Zeroizing::new(fields.bytes("sk")?);
    let sk = SigningKey::from_bytes(set, &sk).map_err(|error| match error {
        SigningKeyError::Length { expected, actual } => Refusal::bad_length("sk", expected, actual),
        error => Refusal::bad_key(error.to_string()),
    })?;
    let signature = if fields.has("additionalRandomness") {
        sk.sign_with_randomness(message(&input)?, &seed(fields, set, "additionalRandomness")?)
    } else {
        sk.sign_deterministic(message(&input)?)
    };
    answer([("signature", hex(&signature))])
}

pub(super) fn verify(fields: Fields<'_>) -> Answer {
    let (set, input) = (set(fields)?, Input::read(fields)?);
    if fields.has("additionalRandomness") {
        seed(fields, set, "additionalRandomness")?;
    }
    let (pk, signature) = (fields.bytes("pk")?, fields.bytes("signature")?);
    let pk = VerifyingKey::from_bytes(set, &pk)
        .map_err(|error| Refusal::bad_length("pk", error.expected, error.actual))?;
    answer([("testPassed", pk.verify(message(&input)?, &signature).is_ok())])
}

fn message(input: &Input) -> Result_<Message<'_>> {
    match input {
        Input::Pure { message, context } => Message::pure(message, context).map_err(too_long),
        Input::PreHashed { digest, context } => Message::prehashed(digest, context).map_err(too_long),
        Input::Internal(message) => Ok(Message::internal(message)),
        Input::Mu(_) => Err(Refusal::bad_request("SLH-DSA has no `mu`")),
    }
}
