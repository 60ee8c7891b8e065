//! ML-DSA.

use super::request::{Fields, Refusal, hex};
use super::signed::{Input, too_long};
use super::{Answer, Result_, answer};
use gambeson::Bytes;
use gambeson::mldsa::{Message, PreparedSet, SigningKey, SigningKeyError, VerifyingKey};
use zeroize::Zeroizing;

pub(super) fn keygen<P: PreparedSet>(fields: Fields<'_>) -> Answer {
    let sk = SigningKey::<P>::from_seed(&Zeroizing::new(fields.array("seed")?));
    let pk = sk.verifying_key();
    answer([("pk", hex(pk.as_bytes().as_ref())), ("sk", hex(sk.to_encoded().expose().as_ref()))])
}

pub(super) fn sign<P: PreparedSet>(fields: Fields<'_>) -> Answer {
    let input = Input::read(fields)?;
    let rnd = fields.optional_array("rnd")?.unwrap_or([0; 32]);
    let signature = match (fields.has("seed"), fields.has("sk")) {
        (true, true) => return Err(Refusal::bad_request("both `sk` and `seed` are given")),
        (false, false) => return Err(Refusal::bad_request("neither `sk` nor `seed` is given")),
        (true, false) => {
            let sk = SigningKey::<P>::from_seed(&Zeroizing::new(fields.array("seed")?));
            sk.sign_with_rnd(&rnd, message(&input)?)
        }
        (false, true) => {
            let sk = Zeroizing::new(fields.bytes("sk")?);
            let sk = SigningKey::<P>::from_encoded(&sk).map_err(|error| match error {
                SigningKeyError::Length { .. } => {
                    Refusal::bad_length("sk", P::SigningKeyBytes::LEN, sk.len())
                }
                error => Refusal::bad_key(error.to_string()),
            })?;
            sk.sign_with_rnd(&rnd, message(&input)?)
        }
    };
    answer([("signature", hex(signature.as_ref()))])
}

pub(super) fn verify<P: PreparedSet>(fields: Fields<'_>) -> Answer {
    let input = Input::read(fields)?;
    fields.optional_array::<32>("rnd")?;
    let pk = fields.bytes("pk")?;
    let signature = fields.bytes("signature")?;
    let pk = VerifyingKey::<P>::try_from(pk.as_slice())
        .map_err(|_| Refusal::bad_length("pk", P::VerifyingKeyBytes::LEN, pk.len()))?;
    answer([("testPassed", pk.verify(message(&input)?, &signature).is_ok())])
}

fn message(input: &Input) -> Result_<Message<'_>> {
    match input {
        Input::Pure { message, context } => Message::pure(message, context).map_err(too_long),
        Input::PreHashed { digest, context } => Message::prehashed(digest, context).map_err(too_long),
        Input::Internal(message) => Ok(Message::internal(message)),
        Input::Mu(mu) => Ok(Message::mu(mu)),
    }
}
