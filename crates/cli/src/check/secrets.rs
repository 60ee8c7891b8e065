//! What is sealed and what is kept: `sealed`, `recovery`.

use super::identity::{File, Found, bad, size, text};
use crate::harness::{from_hex, hex};
use gambeson_identity::{
    Agent, CardContent, CardLog, CardStore, Error, MasterSeed, MemoryReplayCache, Retired, Role, Suite,
    Timestamp, recovery, sealed,
};
use serde_json::Value;

/// The most rotations that a vector may ask for.
const MAX_INDEX: u64 = 8;

pub(super) fn seed(digits: &str) -> Result<MasterSeed, Error> {
    let bytes = from_hex(digits).unwrap_or_default();
    let bytes: &[u8; 32] = bytes[..].try_into().map_err(|_| bad("a seed must have 32 bytes"))?;
    Ok(MasterSeed::from_bytes(bytes))
}

/// What a vector has itself, or the one that it is made of.
pub(super) fn of<'a>(file: &'a File, vector: &'a Value, name: &str) -> &'a Value {
    match (vector.get(name), vector.get("of")) {
        (None, Some(id)) => file.find(id).map_or(&Value::Null, |base| &base[name]),
        _ => &vector[name],
    }
}

/// The bytes with the changes that a vector asks for.
pub(super) fn changed(mut bytes: Vec<u8>, vector: &Value) -> Vec<u8> {
    bytes.truncate(size(vector, "keep", bytes.len()));
    if let Some(byte) = bytes.get_mut(size(vector, "flip", usize::MAX)) {
        *byte ^= 1;
    }
    bytes
}

/// Envelopes, opened by the recipient of the vector.
pub(super) fn envelope(file: &File, vector: &Value) -> Option<Found> {
    Some(opened(file, vector))
}

fn opened(file: &File, vector: &Value) -> Found {
    let given = |name: &str| of(file, vector, name);
    let now: Timestamp = text(vector, "now").parse()?;
    let suite: Suite = given("suite").as_str().unwrap_or_default().parse()?;
    let mut recipient = Agent::with_suite(seed(given("recipient_seed").as_str().unwrap_or_default())?, suite);
    let index = given("recipient_index").as_str().and_then(|index| index.parse().ok()).unwrap_or(0_u64);
    rotated(&mut recipient, index.min(MAX_INDEX))?;

    let cards = match given("sender_cards") {
        Value::String(cards) => cards.as_str(),
        _ => {
            let id = given("sender_cards_of");
            file.find(id).map_or("", |base| text(base, "sender_cards"))
        }
    };
    let mut known = CardStore::default();
    known.add(CardLog::verify(cards.as_bytes())?)?;
    let envelope = from_hex(given("envelope").as_str().unwrap_or_default()).unwrap_or_default();
    let envelope = changed(envelope, vector);
    let mut seen = MemoryReplayCache::new(4);
    if vector["opened_before"] == true {
        sealed::open(&recipient, &envelope, &known, &mut seen, now)?;
    }
    let found = sealed::open(&recipient, &envelope, &known, &mut seen, now)?;
    expects(
        vector,
        &[
            ("signer", found.signer().to_string().into()),
            ("message_id", hex(found.id()).into()),
            ("expires", found.expires().to_string().into()),
            ("media_type", found.media_type().into()),
            ("payload", hex(found.payload()).into()),
        ],
    )
}

/// Compares what was found with the members of `expect`, each of which is known and none of which is missing.
fn expects(vector: &Value, found: &[(&str, Value)]) -> Found {
    let expected = vector["expect"].as_object().ok_or_else(|| bad("expect is not an object"))?;
    if let Some(name) = expected.keys().find(|name| found.iter().all(|(known, _)| known != name)) {
        return Err(bad(&format!("`expect` has an unknown member `{name}`")));
    }
    for (name, value) in found {
        match expected.get(*name) {
            None => return Err(bad(&format!("`expect` lacks the member `{name}`"))),
            Some(other) if other != value => return Err(bad(&format!("{name} is {value}, not {other}"))),
            Some(_) => {}
        }
    }
    Ok(Vec::new())
}

/// The agent after so many new keys of the role that opens what is sealed.
fn rotated(agent: &mut Agent, times: u64) -> Result<(), Error> {
    let (content, window) = (CardContent::default(), (Timestamp(0), Timestamp(1)));
    let mut log = CardLog::new(agent.first_card(window.0, window.1, &content)?)?;
    for _ in 0..times {
        agent.rotate(&mut log, &[Role::Sealed], Retired::Compromised, window, &content)?;
    }
    Ok(())
}

/// `words`, `age`, `keystore`, `shares`.
pub(super) fn kept(file: &File, vector: &Value) -> Option<Found> {
    let passphrase = of(file, vector, "passphrase").as_str().unwrap_or_default();
    let contents = of(file, vector, "file").as_str().unwrap_or_default();
    let found = match text(vector, "kind") {
        "words" => recovery::from_words(text(vector, "words")).map(|seed| (seed, None)),
        "age" => {
            let passphrase = gambeson_age::Passphrase::new(passphrase).ok()?;
            let most = of(file, vector, "max_work_factor").as_u64().and_then(|most| u8::try_from(most).ok());
            let passphrase = passphrase.max_work_factor(most.unwrap_or(20));
            let bytes = changed(contents.as_bytes().to_vec(), vector);
            recovery::from_age_file(&bytes, &passphrase).map(|seed| (seed, None))
        }
        "keystore" => {
            let passphrase = gambeson_keystore::Passphrase::new(passphrase).ok()?;
            let bytes = changed(from_hex(contents).unwrap_or_default(), vector);
            recovery::unprotect(&bytes, &passphrase).map(|(seed, suite)| (seed, Some(suite)))
        }
        "shares" => of_shares(vector)?,
        _ => return None,
    };
    // A seed shows itself to nobody: that it is the right one is seen by its agent's DID.
    Some(found.and_then(|(found, suite)| {
        let expected = text(&vector["expect"], "seed");
        if Agent::from_seed(found).did() != Agent::from_seed(seed(expected)?).did() {
            return Err(bad("the seed differs"));
        }
        let suite = suite.map(|suite| ("suite", suite.name().into()));
        let found: Vec<_> = [("seed", expected.into())].into_iter().chain(suite).collect();
        expects(vector, &found)
    }))
}

#[cfg(feature = "shares")]
fn of_shares(vector: &Value) -> Option<Result<(MasterSeed, Option<Suite>), Error>> {
    let shares = vector["shares"].as_array()?.iter().filter_map(Value::as_str).collect::<Vec<_>>();
    Some(recovery::from_shares(&shares).map(|seed| (seed, None)))
}

/// This build does not know shares.
#[cfg(not(feature = "shares"))]
fn of_shares(_: &Value) -> Option<Result<(MasterSeed, Option<Suite>), Error>> {
    None
}
