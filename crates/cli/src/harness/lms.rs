//! LMS and HSS, with the leaf as an input.

use super::request::{Fields, Refusal, hex};
use super::{Answer, Result_, answer};
use gambeson::lms::{HssVerifyingKey, LmotsType, LmsType, SigningKey, VerifyingKey, hazmat};
use gambeson::stateful::{Signer, TreeOptions, hazmat::MemoryStore};
use serde_json::Value;
use zeroize::Zeroizing;

/// The types, I and SEED of a tree.
struct Key {
    lms: LmsType,
    ots: LmotsType,
    identifier: [u8; 16],
    seed: Zeroizing<Vec<u8>>,
}

impl Key {
    fn new(lms: &str, ots: &str, identifier: &[u8], seed: Vec<u8>) -> Result_<Self> {
        // ACVP writes SHAKE256 where RFC 9858 writes SHAKE.
        let (lms, ots) = (lms.replace("SHAKE256", "SHAKE"), ots.replace("SHAKE256", "SHAKE"));
        let tree = LmsType::ALL.iter().copied().find(|it| it.name() == lms);
        let one_time = LmotsType::ALL.iter().copied().find(|it| it.name() == ots);
        let (lms, ots) = tree.zip(one_time).ok_or_else(|| Refusal::unsupported("unknown type"))?;
        let identifier = identifier.try_into().map_err(|_| Refusal::bad_length("i", 16, identifier.len()))?;
        Ok(Self { lms, ots, identifier, seed: Zeroizing::new(seed) })
    }

    fn signing_key(&self) -> Result_<SigningKey> {
        SigningKey::from_seed(self.lms, self.ots, &self.identifier, &self.seed, TreeOptions::new())
            .map_err(|error| Refusal::bad_key(error.to_string()))
    }

    fn verifying_key(&self) -> Result_<Vec<u8>> {
        Ok(self.signing_key()?.verifying_key().to_bytes())
    }

    /// The verifying key, and the signature by a leaf that a store in memory reserves.
    fn sign(&self, leaf: u32, c: Option<&[u8]>, message: &[u8]) -> Result_<[Vec<u8>; 2]> {
        let mut signer = Signer::new(self.signing_key()?, MemoryStore::new(leaf.into()));
        let index = signer.reserve_one().map_err(|error| Refusal::bad_request(error.to_string()))?;
        let signature = match c {
            None => signer.sign(index, message),
            Some(c) if c.len() == self.seed.len() => {
                hazmat::sign_with_randomizer(&mut signer, index, c, message)
            }
            Some(c) => return Err(Refusal::bad_length("randomizer", self.seed.len(), c.len())),
        };
        let signature = signature.map_err(|error| Refusal::bad_request(error.to_string()))?;
        Ok([signer.key().verifying_key().to_bytes(), signature])
    }
}

fn text(fields: Fields<'_>, name: &str) -> Result_<String> {
    let found = fields.text(name)?.ok_or_else(|| Refusal::bad_request(format!("`{name}` is missing")))?;
    Ok(found.to_owned())
}

fn one(fields: Fields<'_>) -> Result_<Key> {
    Key::new(
        &text(fields, "lmsMode")?,
        &text(fields, "lmOtsMode")?,
        &fields.bytes("i")?,
        fields.bytes("seed")?,
    )
}

fn leaf(value: Option<&Value>) -> Result_<u32> {
    let leaf = value.and_then(Value::as_u64).and_then(|leaf| u32::try_from(leaf).ok());
    leaf.ok_or_else(|| Refusal::bad_request("`q` is no number of a leaf"))
}

pub(super) fn keygen(fields: Fields<'_>) -> Answer {
    answer([("pk", hex(&one(fields)?.verifying_key()?))])
}

pub(super) fn sign(fields: Fields<'_>) -> Answer {
    let c = fields.optional("randomizer")?;
    let leaf = leaf(fields.value("q"))?;
    let [_, signature] = one(fields)?.sign(leaf, c.as_deref(), &fields.bytes("message")?)?;
    answer([("signature", hex(&signature))])
}

pub(super) fn verify(fields: Fields<'_>) -> Answer {
    let (pk, message, signature) =
        (fields.bytes("pk")?, fields.bytes("message")?, fields.bytes("signature")?);
    let key = VerifyingKey::from_bytes(&pk).map_err(|error| Refusal::bad_key(error.to_string()))?;
    answer([("testPassed", key.verify(&message, &signature).is_ok())])
}

/// The keys of an HSS key, from the highest on, and their leaves if they sign.
fn levels(fields: Fields<'_>, signs: bool) -> Result_<Vec<(Key, u32)>> {
    let list = |name: &str| match fields.value(name) {
        Some(Value::Array(values)) => Ok(values.clone()),
        _ => Err(Refusal::bad_request(format!("`{name}` is no list"))),
    };
    let bytes = |value: &Value| {
        value
            .as_str()
            .and_then(super::from_hex)
            .ok_or_else(|| Refusal::bad_request("a list has something else than bytes"))
    };
    let (modes, ots, identifiers, seeds) = (list("lmsMode")?, list("lmOtsMode")?, list("i")?, list("seed")?);
    let leaves = if signs { list("q")? } else { vec![0.into(); modes.len()] };
    if [ots.len(), identifiers.len(), seeds.len(), leaves.len()] != [modes.len(); 4]
        || !(1..=8).contains(&modes.len())
    {
        return Err(Refusal::bad_request("the lists have not 1 to 8 levels each"));
    }
    let name = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    (0..modes.len())
        .map(|i| {
            let key =
                Key::new(&name(&modes[i]), &name(&ots[i]), &bytes(&identifiers[i])?, bytes(&seeds[i])?)?;
            Ok((key, leaf(leaves.get(i))?))
        })
        .collect()
}

pub(super) fn hss_keygen(fields: Fields<'_>) -> Answer {
    let keys = levels(fields, false)?;
    let top = keys[0].0.verifying_key()?;
    answer([("pk", hex(&[&(keys.len() as u32).to_be_bytes()[..], &top].concat()))])
}

/// RFC 8554, §6.2, with a seed for each level.
pub(super) fn hss_sign(fields: Fields<'_>) -> Answer {
    let keys = levels(fields, true)?;
    let mut signed = fields.bytes("message")?;
    let mut c = fields.optional("randomizer")?;
    let mut signature = Vec::new();
    // From the lowest level up: each signature stands before the key that it signs.
    for (level, (key, leaf)) in keys.iter().enumerate().rev() {
        let [verifying_key, own] = key.sign(*leaf, c.take().as_deref(), &signed)?;
        let of_key = if level + 1 < keys.len() { &signed[..] } else { &[] };
        signature = [&own[..], of_key, &signature].concat();
        signed = verifying_key;
    }
    let count = (keys.len() as u32 - 1).to_be_bytes();
    answer([("signature", hex(&[&count[..], &signature].concat()))])
}

pub(super) fn hss_verify(fields: Fields<'_>) -> Answer {
    let (pk, message, signature) =
        (fields.bytes("pk")?, fields.bytes("message")?, fields.bytes("signature")?);
    let key = HssVerifyingKey::from_bytes(&pk).map_err(|error| Refusal::bad_key(error.to_string()))?;
    answer([("testPassed", key.verify(&message, &signature).is_ok())])
}
