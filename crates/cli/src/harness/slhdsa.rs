//! SLH-DSA.

use super::request::{Fields, Refusal, hex};
use super::signed::{Input, too_long};
use super::{Answer, Result_, answer};
use gambeson::slhdsa::{LengthError, Message, ParameterSet, SigningKey, SigningKeyError, VerifyingKey};
use zeroize::Zeroizing;

/// The set that the request names: the table of operations has it.
fn set(fields: Fields<'_>) -> Result_<ParameterSet> {
    let name = fields.text("alg")?.unwrap_or_default();
    let found = ParameterSet::ALL.iter().find(|set| set.name() == name);
    found.copied().ok_or_else(|| Refusal::unsupported("unknown parameter set"))
}

pub(super) fn keygen(fields: Fields<'_>) -> Answer {
    let set = set(fields)?;
    let (sk_seed, sk_prf) = (Zeroizing::new(fields.bytes("skSeed")?), Zeroizing::new(fields.bytes("skPrf")?));
    let sk = SigningKey::from_seeds(set, &sk_seed, &sk_prf, &fields.bytes("pkSeed")?).map_err(length)?;
    answer([("pk", hex(sk.verifying_key().as_bytes())), ("sk", hex(sk.expose_bytes()))])
}

fn length(error: LengthError) -> Refusal {
    Refusal::bad_length(error.input, error.expected, error.actual)
}

pub(super) fn sign(fields: Fields<'_>) -> Answer {
    let (set, input) = (set(fields)?, Input::read(fields)?);
    let sk = Zeroizing::new(fields.bytes("sk")?);
    let sk = SigningKey::from_bytes(set, &sk).map_err(|error| match error {
        SigningKeyError::Length(error) => length(error),
        error => Refusal::bad_key(error.to_string()),
    })?;
    let signature = match fields.optional("additionalRandomness")? {
        Some(randomness) => sk.sign_with_randomness(message(&input)?, &randomness).map_err(length)?,
        None => sk.sign_deterministic(message(&input)?),
    };
    answer([("signature", hex(&signature))])
}

pub(super) fn verify(fields: Fields<'_>) -> Answer {
    let (set, input) = (set(fields)?, Input::read(fields)?);
    let randomness = fields.optional("additionalRandomness")?;
    if let Some(actual) = randomness.map(|it| it.len()).filter(|len| *len != set.seed_len()) {
        return Err(Refusal::bad_length("additionalRandomness", set.seed_len(), actual));
    }
    let (pk, signature) = (fields.bytes("pk")?, fields.bytes("signature")?);
    let pk = VerifyingKey::from_bytes(set, &pk).map_err(length)?;
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
