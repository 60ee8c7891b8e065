//! Agents with cards, the same in every run, and short forms of what many tests do.

use gambeson_identity::jose::Jws;
use gambeson_identity::json as strict;
use gambeson_identity::vc::UNDEFINED_TERMS;
use gambeson_identity::{
    Agent, CardContent, CardLog, CardStore, MasterSeed, Reason, Result, Retired, Role, Suite, Timestamp,
};
use serde_json::{Map, Value, json};

/// 2026-11-22T07:00:00Z.
pub const NOW: Timestamp = Timestamp(1_795_330_800);

pub const DAY: u64 = 86_400;

/// Who takes part: their cards are known, but for the stranger's.
pub struct World {
    pub issuer: Agent,
    pub holder: Agent,
    pub cnsa2: Agent,
    pub stranger: Agent,
    pub cards: CardStore,
    logs: Vec<(&'static str, String)>,
}

impl World {
    pub fn new() -> Self {
        let agent =
            |byte, suite| Agent::with_suite(MasterSeed::from_bytes(&[byte; 32]), suite).deterministic();
        let (mut issuer, holder) = (agent(0x11, Suite::Default), agent(0x22, Suite::Default));
        let (cnsa2, stranger) = (agent(0x33, Suite::Cnsa2), agent(0x44, Suite::Default));
        let first = |agent: &Agent| {
            let until = NOW.after(365 * DAY);
            let from = Timestamp(NOW.0 - 30 * DAY);
            CardLog::new(agent.first_card(from, until, &CardContent::default()).unwrap()).unwrap()
        };
        // The issuer's first signing key was stolen: `signing-0` is revoked, `signing-1` is good.
        let mut rotated = first(&issuer);
        let window = (Timestamp(NOW.0 - 10 * DAY), NOW.after(365 * DAY));
        issuer
            .rotate(&mut rotated, &[Role::Signing], Retired::Compromised, window, &CardContent::default())
            .unwrap();
        let mut cards = CardStore::default();
        let mut logs = Vec::new();
        for (name, log) in [("issuer", rotated), ("holder", first(&holder)), ("cnsa2", first(&cnsa2))] {
            logs.push((name, log.to_lines()));
            cards.add(log).unwrap();
        }
        Self { issuer, holder, cnsa2, stranger, cards, logs }
    }

    /// The logs of cards that a reader of the vectors needs.
    pub fn logs(&self, names: &[&str]) -> Vec<Value> {
        let named = self.logs.iter().filter(|(name, _)| names.contains(name));
        named
            .map(|(name, log)| json!({"id": format!("cards-{name}"), "kind": "card-log", "log": log}))
            .collect()
    }
}

/// The reason of a refusal.
pub fn reason<T>(result: Result<T>) -> Reason {
    result.err().expect("a refusal").reason()
}

/// Bytes as hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The members of an object.
pub fn map(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        other => panic!("{other} is not an object"),
    }
}

/// Signs whatever bytes with whatever header: what no honest issuer does.
pub fn forge(agent: &Agent, role: Role, header: Value, payload: &[u8]) -> String {
    let mut header = map(header);
    header.entry("kid").or_insert_with(|| agent.key_url(role).to_string().into());
    header.retain(|_, value| !value.is_null());
    Jws::sign(agent.key(role), header, payload).unwrap()
}

/// The credential of a status list with a subject and members of any form, which no issuer's door makes.
pub fn forged_list(agent: &Agent, subject: Value, members: Value) -> String {
    let mut credential = map(json!({
        "@context": ["https://www.w3.org/ns/credentials/v2", UNDEFINED_TERMS],
        "type": ["VerifiableCredential", "BitstringStatusListCredential"],
        "issuer": agent.did().as_str(),
        "credentialSubject": subject,
    }));
    credential.extend(map(members));
    let payload = strict::canonicalize(&credential.into()).unwrap();
    forge(agent, Role::Signing, json!({"typ": "vc+jwt", "cty": "vc"}), &payload)
}

/// Adds to a vector what must come of it.
pub fn expect(mut vector: Value, reason: Option<&str>) -> Value {
    if let Some(reason) = reason {
        vector["result"] = "reject".into();
        vector["reason"] = reason.into();
    }
    vector
}

/// Holds an outcome against a vector: what was refused has the vector's reason.
pub fn judge<T>(vector: &Value, outcome: Result<T>) -> Option<T> {
    let expected = vector.get("reason").and_then(Value::as_str);
    let found = outcome.as_ref().err().map(|error| error.reason().code());
    assert_eq!(found, expected, "{}: {:?}", vector["id"], outcome.err());
    outcome.ok()
}
