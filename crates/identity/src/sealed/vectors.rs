//! `vectors/sealed.json`: payloads that open, and what is to be refused.

#![allow(clippy::unwrap_used)] // A test may fail that way.

use super::tests::{DAY, NOW, Pair, SUITES, agent, log, signed};
use super::*;
use crate::vector_file;
use crate::{MemoryReplayCache, Retired};
use serde_json::{Value, json};

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Everything that the recipient has.
fn vector(id: &str, pair: &Pair, envelope: &[u8], now: Timestamp) -> Value {
    json!({
        "id": id, "suite": pair.bob.suite().name(), "recipient_seed": "02".repeat(32), "recipient_index": pair.bob.index(Role::Sealed).to_string(),
        "recipient": pair.bob.did().as_str(), "sender_cards": pair.cards.log(pair.alice.did()).unwrap().to_lines(),
        "now": now.to_string(), "envelope": hex(envelope),
    })
}

fn good(id: &str, pair: &Pair, payload: &[u8], media_type: &str, lifetime: u64) -> Value {
    let to = pair.cards.resolve(pair.bob.did(), NOW).unwrap();
    let envelope = seal(&pair.alice, &to, media_type, payload, NOW.after(lifetime), NOW).unwrap();
    let now = NOW.after(lifetime);
    let vector = opened(id, pair, &envelope, now);
    assert_eq!(
        (&vector["expect"]["payload"], &vector["expect"]["media_type"]),
        (&hex(payload).into(), &media_type.into())
    );
    vector
}

/// An envelope, and all that comes out of it.
fn opened(id: &str, pair: &Pair, envelope: &[u8], now: Timestamp) -> Value {
    let opened = open(&pair.bob, envelope, &pair.cards, &mut MemoryReplayCache::new(1), now).unwrap();
    let mut vector = vector(id, pair, envelope, now);
    vector["expect"] = json!({
        "signer": opened.signer().to_string(), "message_id": hex(opened.id()), "expires": opened.expires().to_string(),
        "media_type": opened.media_type(), "payload": hex(opened.payload()),
    });
    vector
}

fn rejected(mut vector: Value, found: Result<Verified<Opened>>, reason: Reason) -> Value {
    assert_eq!(found.err().map(|error| error.reason()), Some(reason), "{}", vector["id"]);
    vector["result"] = "reject".into();
    vector["reason"] = reason.code().into();
    vector
}

/// A payload that is sealed as it should be, with a flaw in what is signed.
fn flawed(id: &str, pair: &Pair, plaintext: &[u8], reason: Reason) -> Value {
    let envelope = pair.by_hand(plaintext);
    rejected(vector(id, pair, &envelope, NOW), pair.open(&envelope), reason)
}

fn of_suite(suite: Suite) -> Vec<Value> {
    let name = suite.name();
    let id = |what: &str| format!("{name}-{what}");
    let pair = Pair::new(suite);
    let mut all = vec![
        good(&id("empty"), &Pair::new(suite), b"", "text/plain", 60),
        good(&id("text"), &Pair::new(suite), b"meet at noon", "text/plain; charset=utf-8", 0),
        good(&id("long"), &Pair::new(suite), &[0x5a; 3000], "application/octet-stream", MAX_LIFETIME),
    ];

    let mut rotated = Pair::new(suite);
    let mut cards = log(&rotated.bob);
    let (window, content) = ((NOW, NOW.after(DAY)), cards.newest().content());
    rotated.bob.rotate(&mut cards, &[Role::Sealed], Retired::Superseded(DAY), window, &content).unwrap();
    rotated.cards.add(cards).unwrap();
    all.push(good(&id("after-rotation"), &rotated, b"to the new key", "text/plain", 60));

    // Flaws of one envelope: each byte of it that stands for a part.
    let envelope = pair.seal(b"meet at noon").unwrap();
    let base = id("base");
    all.push(opened(&base, &pair, &envelope, NOW));
    let of_base = |what: &str, now: Timestamp, edit: Value| {
        let mut vector = json!({"id": id(what), "of": base, "now": now.to_string()});
        vector.as_object_mut().unwrap().extend(edit.as_object().unwrap().clone());
        vector
    };
    let enc_end = 17 + if suite == Suite::Default { 1120 } else { 1568 };
    for (what, at, reason) in [
        ("magic", 0, Reason::BadForm),
        ("version", 15, Reason::BadForm),
        ("suite", 16, Reason::BadAlgorithm),
        ("enc", 17, Reason::CannotOpen),
        ("enc-end", enc_end - 1, Reason::CannotOpen),
        ("ciphertext", enc_end, Reason::CannotOpen),
        ("tag", envelope.len() - 1, Reason::CannotOpen),
    ] {
        let mut bad = envelope.clone();
        bad[at] ^= 1;
        let vector = of_base(&format!("changed-{what}"), NOW, json!({"flip": at}));
        all.push(rejected(vector, pair.open(&bad), reason));
    }
    for (what, keep, reason) in [
        ("cut", envelope.len() - 1, Reason::CannotOpen),
        ("cut-in-enc", enc_end - 1, Reason::BadForm),
        ("cut-in-tag", enc_end + 15, Reason::BadForm),
        ("nothing", 0, Reason::BadForm),
    ] {
        let vector = of_base(what, NOW, json!({"keep": keep}));
        all.push(rejected(vector, pair.open(&envelope[..keep]), reason));
    }
    let twice = {
        let mut seen = MemoryReplayCache::new(2);
        open(&pair.bob, &envelope, &pair.cards, &mut seen, NOW).unwrap();
        open(&pair.bob, &envelope, &pair.cards, &mut seen, NOW)
    };
    let again = of_base("opened-twice", NOW, json!({"opened_before": true}));
    all.push(rejected(again, twice, Reason::Replayed));
    let late = NOW.after(3601);
    let found = open(&pair.bob, &envelope, &pair.cards, &mut MemoryReplayCache::new(1), late);
    all.push(rejected(of_base("expired", late, json!({})), found, Reason::Expired));
    let early = Timestamp(NOW.0 - MAX_LIFETIME);
    let found = open(&pair.bob, &envelope, &pair.cards, &mut MemoryReplayCache::new(1), early);
    all.push(rejected(of_base("too-far-ahead", early, json!({})), found, Reason::BadTime));

    // Flaws of what is signed, each sealed as it should be.
    let key = pair.alice.key(Role::Signing);
    let message = || pair.message();
    let carol = agent(suite, 3);
    for (what, message, by, context, reason) in [
        (
            "forwarded",
            Message { recipient: carol.did().clone(), ..message() },
            key,
            LABEL,
            Reason::OtherRecipient,
        ),
        (
            "unknown-sender",
            Message { sender: carol.key_url(Role::Signing), ..message() },
            key,
            LABEL,
            Reason::UnknownDid,
        ),
        (
            "unknown-key",
            Message { sender: pair.alice.did().url("signing-1"), ..message() },
            key,
            LABEL,
            Reason::UnknownKey,
        ),
        (
            "key-of-another-role",
            Message { sender: pair.alice.key_url(Role::Identity), ..message() },
            pair.alice.key(Role::Identity),
            LABEL,
            Reason::WrongPurpose,
        ),
        ("signed-by-another", message(), carol.key(Role::Signing), LABEL, Reason::BadSignature),
        ("empty-context", message(), key, &b""[..], Reason::BadSignature),
    ] {
        all.push(flawed(&id(what), &pair, &signed(&message, by, context), reason));
    }
    let whole = signed(&message(), key, LABEL);
    let replaced = |from: &[u8], to: &[u8]| {
        let place = whole.windows(from.len()).position(|window| window == from).unwrap();
        let mut bad = whole.clone();
        bad[place..place + from.len()].copy_from_slice(to);
        bad
    };
    let mut padding = whole.clone();
    *padding.last_mut().unwrap() = 1;
    for (what, bad, reason) in [
        ("padding-not-zero", padding, Reason::BadForm),
        ("padding-too-long", [&whole[..], &[0]].concat(), Reason::BadForm),
        ("padding-too-short", whole[..whole.len() - 1].to_vec(), Reason::BadForm),
        ("no-plaintext", Vec::new(), Reason::BadForm),
        ("another-type", replaced(b"gambeson-sealed+", b"gambeson-signed+"), Reason::BadForm),
        ("not-a-media-type", replaced(b"text/plain", b"text.plain"), Reason::BadForm),
        ("not-a-did", replaced(b"did:gambeson", b"dad:gambeson"), Reason::BadDid),
        ("changed-payload", replaced(b"payload", b"payloae"), Reason::BadSignature),
    ] {
        all.push(flawed(&id(what), &pair, &bad, reason));
    }
    all
}

#[test]
fn the_vectors_are_those_that_are_committed() {
    let mut all: Vec<_> = SUITES.into_iter().flat_map(of_suite).collect();

    // Signed with the algorithm of the other suite.
    let mut pair = Pair::new(Suite::Default);
    pair.alice = agent(Suite::Cnsa2, 4);
    pair.cards.add(log(&pair.alice)).unwrap();
    let plaintext = signed(&pair.message(), pair.alice.key(Role::Signing), LABEL);
    all.push(flawed("signed-in-the-other-suite", &pair, &plaintext, Reason::BadAlgorithm));

    // The same cards are written once.
    let mut known: Vec<(Value, Value)> = Vec::new();
    for vector in &mut all {
        let Some(cards) = vector.get("sender_cards").cloned() else { continue };
        match known.iter().find(|(lines, _)| *lines == cards) {
            Some((_, id)) => {
                vector.as_object_mut().unwrap().remove("sender_cards");
                vector["sender_cards_of"] = id.clone();
            }
            None => known.push((cards, vector["id"].clone())),
        }
    }
    vector_file::committed("sealed", all, 67);
}
