//! `session.json`: what agents say before applications speak.

use super::identity::{File, Values, now, text};
use crate::harness::from_hex;
use gambeson_identity::{CardLog, CardStore, Did};
use gambeson_session::{Error, Expected, judge};
use serde_json::Value;
use std::sync::Arc;

/// What is compared with the vector by name, or why it is refused; `None` for a kind that is not known.
pub(super) fn said(file: &File, vector: &Value) -> Option<Result<Values, Error>> {
    match text(vector, "kind") {
        "card-log" => Some(
            card_log(vector)
                .map(|log| vec![("did", log.did().as_str().into()), ("hash", log.newest().hash().into())]),
        ),
        "key" => file.find(&vector["of"]).map(|of| key(of, vector)),
        "said" => Some(judged(file, vector)),
        _ => None,
    }
}

fn card_log(vector: &Value) -> Result<CardLog, Error> {
    Ok(CardLog::verify(text(vector, "log").as_bytes())?)
}

/// The key of a method ends its SubjectPublicKeyInfo.
fn key(of: &Value, vector: &Value) -> Result<Values, Error> {
    let log = card_log(of)?;
    let mut methods = log.newest().document().methods();
    let method = methods.find(|method| method.id().to_string() == text(vector, "method"));
    let key = method.and_then(|method| method.verifying_key()).ok_or(Error::BadMessage)?;
    let spki = from_hex(text(vector, "spki")).unwrap_or_default();
    match spki.ends_with(key.as_bytes()) {
        true => Ok(Vec::new()),
        false => Err(Error::OtherKey(log.did().clone())),
    }
}

fn judged(file: &File, vector: &Value) -> Result<Values, Error> {
    let mut said = Vec::new();
    for part in vector["said"].as_array().into_iter().flatten() {
        said.extend(bytes(file, part));
    }
    let key = file.find(&vector["key"]).and_then(|key| from_hex(text(key, "spki"))).unwrap_or_default();
    let expected = match vector["expected"].as_str() {
        Some(did) => Expected::did(did.parse::<Did>()?),
        None => {
            let admits = vector["admits"] == true;
            Expected::accepting(move |_| admits)
        }
    };
    let mut known = CardStore::default();
    if let Some(log) = file.find(&vector["known"]) {
        known.add(card_log(log)?)?;
    }
    let (peer, len) = judge(&said, &key, expected, Arc::new(known), now(vector))?;
    Ok(vec![
        ("peer", peer.did().as_str().into()),
        ("method", peer.key().to_string().into()),
        ("messages", len.into()),
    ])
}

/// A part of what is said: bytes, a text, or the lines of a log, one place of which may be another.
fn bytes(file: &File, part: &Value) -> Vec<u8> {
    if let Some(digits) = part["hex"].as_str() {
        return from_hex(digits).unwrap_or_default();
    }
    let Some(log) = file.find(&part["log"]) else { return text(part, "text").as_bytes().to_vec() };
    match part["from"].as_str() {
        Some(from) => text(log, "log").replacen(from, text(part, "to"), 1).into_bytes(),
        None => text(log, "log").as_bytes().to_vec(),
    }
}
