//! `vectors/session.json`: what is said before applications speak, and what is to be refused. The cards are those of
//! `vectors/card-log.json`.

#[path = "../../../identity/tests/suite/vector_file.rs"]
mod vector_file;

use std::sync::Arc;

use gambeson_identity::{CardLog, CardStore, Did, DidUrl, Timestamp};
use gambeson_pki::{Algorithm, PublicKey};
use gambeson_session::{Expected, judge};
use serde_json::{Value, json};

const NOW: Timestamp = Timestamp(1_795_330_800);
const DAY: u64 = 86_400;

/// What the vectors call the logs of `card-log.json`.
const LOGS: [(&str, &str); 6] = [
    ("alice", "default-1"),
    ("alice-rotated", "default-2"),
    ("alice-forked", "default-2-fork"),
    ("carol", "default-3"),
    ("dave", "cnsa2-1"),
    ("erin", "cnsa2-2"),
];

/// A raw public key by its place in a log: the name of the log, and the method of the newest card.
const KEYS: [(&str, &str, &str); 6] = [
    ("key-of-alice", "alice", "identity-0"),
    ("key-of-alice-for-signing", "alice", "signing-0"),
    ("key-of-carol", "carol", "identity-0"),
    ("key-of-dave", "dave", "identity-0"),
    ("key-of-erin", "erin", "identity-1"),
    ("key-of-erin-revoked", "erin", "identity-0"),
];

struct World {
    logs: Vec<(&'static str, CardLog)>,
    vectors: Vec<Value>,
}

/// A case: everything that a judgement asks for.
#[derive(Clone)]
struct Case {
    said: Vec<Value>,
    key: &'static str,
    expected: Option<&'static str>,
    known: Option<&'static str>,
    admits: bool,
    now: Timestamp,
}

/// Bytes, in hexadecimal digits.
fn raw(digits: &str) -> Value {
    json!({"hex": digits})
}

fn ready() -> Value {
    raw("0300000000")
}

impl World {
    fn new() -> Self {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/card-log.json");
        let file: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
        let found = |id: &str| file["vectors"].as_array().unwrap().iter().find(|it| it["id"] == id).unwrap();
        let mut world = Self { logs: Vec::new(), vectors: Vec::new() };
        for (name, id) in LOGS {
            let lines = found(id)["log"].as_str().unwrap();
            let log = CardLog::verify(lines.as_bytes()).unwrap();
            let (did, hash) = (log.did().as_str(), log.newest().hash());
            world
                .vectors
                .push(json!({"id": name, "kind": "card-log", "log": lines, "did": did, "hash": hash}));
            world.logs.push((name, log));
        }
        for (id, of, method) in KEYS {
            let spki = world.spki(of, method);
            let hex: String = spki.iter().map(|byte| format!("{byte:02x}")).collect();
            let url = world.url(of, method).to_string();
            world.vectors.push(json!({"id": id, "kind": "key", "spki": hex, "of": of, "method": url}));
        }
        world
    }

    fn log(&self, name: &str) -> &CardLog {
        &self.logs.iter().find(|(known, _)| *known == name).unwrap().1
    }

    fn did(&self, name: &str) -> Did {
        self.log(name).did().clone()
    }

    fn url(&self, name: &str, method: &str) -> DidUrl {
        self.log(name).did().url(method)
    }

    fn spki(&self, name: &str, method: &str) -> Vec<u8> {
        let log = self.log(name);
        let url = self.url(name, method);
        let mut methods = log.newest().document().methods();
        let key = methods.find(|found| *found.id() == url).unwrap().verifying_key().unwrap();
        let algorithm = match key.as_bytes().len() {
            1952 => Algorithm::MlDsa65,
            _ => Algorithm::MlDsa87,
        };
        PublicKey::from_bytes(algorithm, key.as_bytes()).unwrap().to_spki_der()
    }

    /// Message 1 with all cards of a log; `cut` bytes are announced besides.
    fn cards(&self, name: &str) -> Vec<Value> {
        vec![raw(&format!("01{:08x}", self.log(name).to_lines().len())), json!({"log": name})]
    }

    /// The same with a change that keeps the length.
    fn changed(&self, name: &str, from: &str, to: &str) -> Vec<Value> {
        assert!(from.len() == to.len() && self.log(name).to_lines().contains(from));
        let mut said = self.cards(name);
        said[1] = json!({"log": name, "from": from, "to": to});
        said
    }

    /// Message 2.
    fn hash(did: &Did, hash: &str) -> Vec<Value> {
        let body = format!("{did}\n{hash}");
        vec![raw(&format!("02{:08x}", body.len())), json!({"text": body})]
    }

    fn newest(&self, name: &str) -> Vec<Value> {
        Self::hash(&self.did(name), &self.log(name).newest().hash())
    }

    fn bytes(&self, part: &Value) -> Vec<u8> {
        if let Some(digits) = part["hex"].as_str() {
            let byte = |at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap();
            return (0..digits.len()).step_by(2).map(byte).collect();
        }
        let Some(name) = part["log"].as_str() else { return part["text"].as_str().unwrap().into() };
        let lines = self.log(name).to_lines();
        match (part["from"].as_str(), part["to"].as_str()) {
            (Some(from), Some(to)) => lines.replacen(from, to, 1).into_bytes(),
            _ => lines.into_bytes(),
        }
    }

    /// Holds a case against the library, and writes it down.
    fn add(&mut self, id: &str, case: &Case, refused: Option<&str>) {
        let said: Vec<u8> = case.said.iter().flat_map(|part| self.bytes(part)).collect();
        let (_, of, method) = KEYS.iter().find(|(id, ..)| *id == case.key).unwrap();
        let expected = match (case.expected, case.admits) {
            (Some(name), _) => Expected::did(self.did(name)),
            (None, admits) => Expected::accepting(move |_| admits),
        };
        let mut known = CardStore::default();
        if let Some(name) = case.known {
            known.add(self.log(name).clone()).unwrap();
        }
        let found = judge(&said, &self.spki(of, method), expected, Arc::new(known), case.now);
        let mut vector =
            json!({"id": id, "kind": "said", "said": case.said, "key": case.key, "now": case.now.0});
        if let Some(name) = case.expected {
            vector["expected"] = self.did(name).as_str().into();
        } else {
            vector["admits"] = case.admits.into();
        }
        if let Some(name) = case.known {
            vector["known"] = name.into();
        }
        match (found, refused) {
            (Ok((peer, len)), None) => {
                vector["peer"] = peer.did().as_str().into();
                vector["method"] = peer.key().to_string().into();
                vector["messages"] = len.into();
            }
            (Err(error), Some(reason)) => {
                assert_eq!(error.code(), reason, "{id}: {error}");
                vector["result"] = "reject".into();
                vector["reason"] = reason.into();
            }
            (found, refused) => panic!("{id}: {found:?}, not {refused:?}"),
        }
        self.vectors.push(vector);
    }
}

fn with(mut said: Vec<Value>, more: &[Value]) -> Vec<Value> {
    said.extend_from_slice(more);
    said
}

#[test]
#[allow(clippy::too_many_lines, reason = "a list of cases")]
fn the_vectors_of_sessions() {
    let mut world = World::new();
    let cards = with(world.cards("alice"), &[ready()]);
    let base = Case {
        said: cards.clone(),
        key: "key-of-alice",
        expected: Some("alice"),
        known: None,
        admits: true,
        now: NOW.after(DAY),
    };
    let saying = |said: Vec<Value>| Case { said, ..base.clone() };
    let of =
        |name: &'static str, key, said: Vec<Value>| Case { said, key, expected: Some(name), ..base.clone() };
    let anybody = || Case { expected: None, ..base.clone() };
    let rotated = with(world.cards("alice-rotated"), &[ready()]);
    let hash = with(world.newest("alice"), &[ready()]);
    let late = base.now.after(DAY);
    let alice = world.did("alice");

    // Good ones.
    world.add("cards", &base, None);
    world.add("cards-of-anybody", &anybody(), None);
    let said = with(cards.clone(), &[json!({"text": "hello"})]);
    world.add("cards-and-the-application", &saying(said), None);
    let said = with(cards.clone(), &[raw("04000000077265667573656421")]);
    world.add("after-the-agreement-nothing-is-a-message", &saying(said), None);
    world.add("cards-that-are-known", &Case { known: Some("alice"), ..base.clone() }, None);
    let newer = Case { known: Some("alice"), now: late, ..saying(rotated.clone()) };
    world.add("cards-newer-than-what-is-known", &newer, None);
    world.add("a-hash-that-is-known", &Case { known: Some("alice"), ..saying(hash.clone()) }, None);
    let said = with(world.newest("alice-rotated"), &[ready()]);
    world.add(
        "the-hash-of-a-second-card",
        &Case { known: Some("alice-rotated"), now: late, ..saying(said) },
        None,
    );
    let said = with(world.cards("carol"), &[ready()]);
    world.add(
        "cards-of-an-agent-with-aliases",
        &Case { now: NOW.after(3 * DAY), ..of("carol", "key-of-carol", said) },
        None,
    );
    let said = with(world.cards("dave"), &[ready()]);
    world.add("cards-of-suite-cnsa2", &of("dave", "key-of-dave", said), None);
    let erin = with(world.cards("erin"), &[ready()]);
    world.add("the-new-key-of-a-rotated-agent", &of("erin", "key-of-erin", erin.clone()), None);
    let (from, until) = world.log("alice").newest().validity();
    world.add("the-first-second-of-a-card", &Case { now: from, ..base.clone() }, None);
    world.add("the-last-second-of-a-card", &Case { now: until, ..base.clone() }, None);

    // Messages.
    let mut refuse = |id: &str, case: Case, reason: &str| world.add(id, &case, Some(reason));
    refuse("nothing", saying(vec![]), "closed-early");
    refuse("half-a-header", saying(vec![raw("010000")]), "closed-early");
    refuse("cards-cut", saying(vec![raw("0100005c00"), json!({"text": "{\"document\":"})]), "closed-early");
    refuse("cards-and-no-answer", saying(cards[..2].to_vec()), "closed-early");
    refuse("cards-and-half-an-answer", saying(with(cards[..2].to_vec(), &[raw("030000")])), "closed-early");
    refuse("type-0", saying(vec![raw("0000000000")]), "bad-message");
    refuse("type-5", saying(vec![raw("0500000000")]), "bad-message");
    refuse("another-protocol", saying(vec![json!({"text": "GET / HTTP/1.1\r\n\r\n"})]), "bad-message");
    refuse("cards-too-long", saying(vec![raw("0100400001")]), "too-large");
    refuse("cards-of-4-gigabytes", saying(vec![raw("01ffffffff")]), "too-large");
    refuse("a-hash-too-long", saying(vec![raw("0200000201")]), "bad-message");
    refuse("an-answer-with-a-body", saying(with(cards[..2].to_vec(), &[raw("030000000100")])), "bad-message");
    refuse("an-answer-first", saying(vec![ready()]), "bad-message");
    refuse("cards-twice", saying(with(cards[..2].to_vec(), &cards)), "bad-message");
    refuse("a-hash-after-cards", saying(with(cards[..2].to_vec(), &hash)), "bad-message");
    refuse(
        "the-application-too-early",
        saying(with(cards[..2].to_vec(), &[json!({"text": "hello"})])),
        "bad-message",
    );
    refuse(
        "a-hash-without-a-line-feed",
        saying(vec![raw("0200000003"), json!({"text": "did"})]),
        "bad-message",
    );
    refuse("a-hash-that-is-no-text", saying(vec![raw("0200000002ff0a")]), "bad-message");
    refuse("a-hash-of-no-did", saying(vec![raw("0200000003"), json!({"text": "a\nb"})]), "bad-did");
    refuse("refused-at-once", saying(vec![raw("0400000004"), json!({"text": "busy"})]), "refused-by-peer");
    let said = with(cards[..2].to_vec(), &[raw("040000000a"), json!({"text": "other-peer"})]);
    refuse("refused-after-cards", saying(said), "refused-by-peer");
    refuse("refused-for-nothing", saying(vec![raw("0400000000")]), "bad-message");
    refuse("refused-in-capitals", saying(vec![raw("0400000004"), json!({"text": "Busy"})]), "bad-message");
    refuse("refused-at-length", saying(vec![raw("0400000201")]), "bad-message");

    // Who it is.
    refuse("no-cards", saying(vec![raw("0100000000"), ready()]), "bad-form");
    refuse(
        "cards-that-are-no-json",
        saying(vec![raw("0100000005"), json!({"text": "cards"}), ready()]),
        "bad-json",
    );
    let moved = "\"validUntil\":\"2026-12-22T07:00:00Z\"";
    let to = "\"validUntil\":\"2036-12-22T07:00:00Z\"";
    let said = with(world.changed("alice", moved, to), &[ready()]);
    let mut refuse = |id: &str, case: Case, reason: &str| world.add(id, &case, Some(reason));
    refuse("a-card-changed", saying(said), "bad-signature");
    refuse("cards-of-another", Case { expected: Some("carol"), ..base.clone() }, "other-peer");
    let case = Case { expected: Some("carol"), known: Some("alice"), ..saying(hash.clone()) };
    refuse("the-hash-of-another", case, "other-peer");
    refuse("cards-with-the-key-of-another", Case { key: "key-of-carol", ..base.clone() }, "other-key");
    refuse(
        "cards-with-another-key-of-the-same",
        Case { key: "key-of-alice-for-signing", ..base.clone() },
        "other-key",
    );
    let case = Case { key: "key-of-carol", known: Some("alice"), ..saying(hash.clone()) };
    refuse("a-hash-with-the-key-of-another", case, "unknown-cards");
    refuse("a-hash-that-nobody-knows", saying(hash.clone()), "unknown-cards");
    refuse(
        "the-hash-of-an-older-card",
        Case { known: Some("alice-rotated"), ..saying(hash.clone()) },
        "unknown-cards",
    );
    refuse(
        "a-hash-of-no-card",
        Case { known: Some("alice"), ..saying(with(World::hash(&alice, "u"), &[ready()])) },
        "unknown-cards",
    );
    refuse(
        "cards-older-than-what-is-known",
        Case { known: Some("alice-rotated"), ..base.clone() },
        "stale-card",
    );
    let case = Case { known: Some("alice-forked"), now: late, ..saying(rotated.clone()) };
    refuse("cards-that-contradict-what-is-known", case, "broken-chain");
    refuse("cards-before-their-time", Case { now: Timestamp(from.0 - 1), ..base.clone() }, "not-yet-valid");
    refuse("cards-after-their-time", Case { now: until.after(1), ..base.clone() }, "expired");
    let case = Case { known: Some("alice"), now: until.after(1), ..saying(hash.clone()) };
    refuse("a-hash-after-its-time", case, "expired");
    refuse("a-key-that-was-revoked", of("erin", "key-of-erin-revoked", erin), "key-revoked");
    refuse("somebody-whom-the-policy-refuses", Case { admits: false, ..anybody() }, "not-admitted");

    // What comes first decides.
    let until_text = "\"validUntil\":\"2026-12-23T07:00:00Z\"";
    let said = world.changed("alice-rotated", until_text, &until_text.replace("2026", "2036"));
    let said = with(said, &[ready()]);
    let mut refuse = |id: &str, case: Case, reason: &str| world.add(id, &case, Some(reason));
    let case = Case { now: late, ..saying(said.clone()) };
    refuse("a-second-card-changed", case.clone(), "bad-signature");
    refuse(
        "another-before-a-second-card-changed",
        Case { expected: Some("carol"), ..case.clone() },
        "other-peer",
    );
    refuse("a-second-card-changed-before-the-key", Case { key: "key-of-carol", ..case }, "bad-signature");
    let case = Case { key: "key-of-carol", known: Some("alice-rotated"), ..base.clone() };
    refuse("the-key-before-what-is-known", case, "other-key");
    let case = Case { known: Some("alice-rotated"), now: until.after(1), ..base.clone() };
    refuse("what-is-known-before-the-time", case, "stale-card");
    let case = Case { admits: false, now: until.after(1), ..anybody() };
    refuse("the-time-before-the-policy", case, "expired");

    vector_file::committed("session", world.vectors, 12 + 13 + 24 + 18 + 6);
}
