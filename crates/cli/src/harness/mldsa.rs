//! ML-DSA.

use super::request::{Code, Fields, Refusal, hex};
use super::{Answer, Result_, answer};
use gambeson::Bytes;
use gambeson::mldsa::{Digest, Message, PreHash, PreparedSet, SigningKey, SigningKeyError, VerifyingKey};
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
            sk.sign_with_rnd(&rnd, input.message()?)
        }
        (false, true) => {
            let sk = Zeroizing::new(fields.bytes("sk")?);
            let sk = SigningKey::<P>::from_encoded(&sk).map_err(|error| match error {
                SigningKeyError::Length { .. } => {
                    Refusal::bad_length("sk", P::SigningKeyBytes::LEN, sk.len())
                }
                error => Refusal::bad_key(error.to_string()),
            })?;
            sk.sign_with_rnd(&rnd, input.message()?)
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
    answer([("testPassed", pk.verify(input.message()?, &signature).is_ok())])
}

/// What a request wants signed.
enum Input {
    Pure { message: Vec<u8>, context: Vec<u8> },
    PreHashed { digest: Digest, context: Vec<u8> },
    Internal(Vec<u8>),
    Mu([u8; 64]),
}

impl Input {
    fn read(fields: Fields<'_>) -> Result_<Self> {
        let internal = match fields.text("signatureInterface")? {
            None | Some("external") => false,
            Some("internal") => true,
            Some(_) => return Err(Refusal::unsupported("unknown `signatureInterface`")),
        };
        let hashed = match fields.text("preHash")? {
            None | Some("pure") => false,
            Some("preHash") => true,
            Some("none") if internal => false,
            Some(_) => return Err(Refusal::unsupported("unknown `preHash`")),
        };
        let external_mu = fields.flag("externalMu")?;
        let context = fields.optional("context")?.unwrap_or_default();
        if context.len() > 255 {
            return Err(Refusal::new(
                Code::BadContext,
                format!("`context` has {} bytes, more than 255", context.len()),
            ));
        }
        if external_mu != fields.has("mu") {
            return Err(Refusal::bad_request("`mu` is given exactly when `externalMu` is true"));
        }
        if external_mu {
            if fields.has("message") {
                return Err(Refusal::bad_request("both `message` and `mu` are given"));
            }
            return fields.array("mu").map(Self::Mu);
        }
        let message = fields.bytes("message")?;
        match (internal, hashed) {
            (false, false) => Ok(Self::Pure { message, context }),
            (true, false) => Ok(Self::Internal(message)),
            (true, true) => Err(Refusal::bad_request("the internal interface has no `preHash`")),
            (false, true) => {
                let name =
                    fields.text("hashAlg")?.ok_or_else(|| Refusal::bad_request("`hashAlg` is missing"))?;
                let hash: PreHash = name.parse().map_err(|_| Refusal::unsupported("unknown `hashAlg`"))?;
                Ok(Self::PreHashed { digest: hash.digest(&message), context })
            }
        }
    }

    fn message(&self) -> Result_<Message<'_>> {
        let too_long = |_| Refusal::new(Code::BadContext, "`context` has more than 255 bytes");
        match self {
            Self::Pure { message, context } => Message::pure(message, context).map_err(too_long),
            Self::PreHashed { digest, context } => Message::prehashed(digest, context).map_err(too_long),
            Self::Internal(message) => Ok(Message::internal(message)),
            Self::Mu(mu) => Ok(Message::mu(mu)),
        }
    }
}
