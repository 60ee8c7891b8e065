//! `vectors/state.json`, `vectors/memory.json`, `vectors/signed-file.json`.

use crate::vector_file;
use crate::world::{NOW, hex};
use gambeson_identity::jose::Jws;
use gambeson_identity::memory::{MAX_OBJECT, Manifest, MemoryObjects, ObjectId, Objects};
use gambeson_identity::{
    Agent, CardContent, CardLog, CardStore, FileHasher, FileSignature, MasterSeed, Reason, Result, Role,
    SigningKey, Suite, Timestamp,
};
use serde_json::{Map, Value, json};

const SUITES: [Suite; 2] = [Suite::Default, Suite::Cnsa2];

fn agent(suite: Suite, seed: u8) -> Agent {
    Agent::with_suite(MasterSeed::from_bytes(&[seed; 32]), suite).deterministic()
}

/// A vector of what must be refused, and is.
fn rejected<T>(mut vector: Value, found: Result<T>, reason: Reason) -> Value {
    assert_eq!(found.err().map(|error| error.reason()), Some(reason), "{}", vector["id"]);
    vector["result"] = "reject".into();
    vector["reason"] = reason.code().into();
    vector
}

#[test]
fn the_vectors_of_state() {
    let mut all = Vec::new();
    for suite in SUITES {
        let (agent, name) = (agent(suite, 5), suite.name());
        for (what, label, state) in [
            ("text", "ledger", &b"3 calls"[..]),
            ("empty", "", b""),
            ("long", "\u{fc}ber 64 bytes", &[0x5a; 300]),
        ] {
            let sealed = agent.seal_state(label, state).unwrap();
            assert_eq!(agent.open_state(label, &sealed).unwrap().expose(), state);
            all.push(json!({
                "id": format!("{name}-{what}"), "suite": name, "seed": "05".repeat(32), "label": label,
                "state": hex(state), "sealed": hex(&sealed),
            }));
        }
        let sealed = agent.seal_state("base", b"3 calls").unwrap();
        let base = format!("{name}-base");
        all.push(json!({
            "id": base, "suite": name, "seed": "05".repeat(32), "label": "base", "state": hex(b"3 calls"),
            "sealed": hex(&sealed),
        }));
        let mut refuse = |what: &str, edit: Value, bytes: &[u8], label: &str, by: &Agent, reason: Reason| {
            let mut vector = json!({"id": format!("{name}-{what}"), "of": base});
            vector.as_object_mut().unwrap().extend(edit.as_object().unwrap().clone());
            all.push(rejected(vector, by.open_state(label, bytes), reason));
        };
        for (what, at, reason) in [
            ("magic", 0, Reason::BadForm),
            ("suite-byte", 15, Reason::BadForm),
            ("salt", 16, Reason::CannotOpen),
            ("ciphertext", 48, Reason::CannotOpen),
            ("tag", sealed.len() - 1, Reason::CannotOpen),
        ] {
            let mut bad = sealed.clone();
            bad[at] ^= 1;
            refuse(what, json!({"flip": at}), &bad, "base", &agent, reason);
        }
        for (what, keep, reason) in [
            ("nothing", 0, Reason::BadForm),
            ("header-alone", 48, Reason::BadForm),
            ("no-tag", 63, Reason::BadForm),
            ("cut", sealed.len() - 1, Reason::CannotOpen),
        ] {
            refuse(what, json!({"keep": keep}), &sealed[..keep], "base", &agent, reason);
        }
        let stranger = self::agent(suite, 6);
        let seed = json!({"seed": "06".repeat(32)});
        refuse("other-seed", seed, &sealed, "base", &stranger, Reason::CannotOpen);
        refuse("other-label", json!({"label": "bas"}), &sealed, "bas", &agent, Reason::CannotOpen);
        let other = if suite == Suite::Default { Suite::Cnsa2 } else { Suite::Default };
        let edit = json!({"suite": other.name()});
        refuse("other-suite", edit, &sealed, "base", &self::agent(other, 5), Reason::BadForm);
    }
    vector_file::committed("state", all, 2 * (4 + 12));
}

/// An object as vectors have it: `hex`, or one byte repeated.
struct Object(Value, Vec<u8>);

impl Object {
    fn of(bytes: &[u8]) -> Self {
        Self(json!({"hex": hex(bytes)}), bytes.to_vec())
    }

    fn repeated(byte: u8, length: usize) -> Self {
        Self(json!({"byte": byte, "length": length}), vec![byte; length])
    }
}

#[test]
fn the_vectors_of_memory() {
    let mut all = Vec::new();
    let named = |id: &str, name: &str, object: &Object| {
        let found = (|| {
            let id: ObjectId = name.parse()?;
            MemoryObjects::default().put(&object.1)?;
            id.check(&object.1)
        })();
        (json!({"id": id, "kind": "object", "name": name, "object": object.0}), found)
    };
    for (id, object) in [
        ("empty", Object::of(b"")),
        ("text", Object::of(b"the user prefers short answers")),
        ("largest", Object::repeated(7, MAX_OBJECT)),
    ] {
        let (vector, found) = named(id, &ObjectId::of(&object.1).to_string(), &object);
        found.unwrap();
        all.push(vector);
    }
    let (object, large) = (Object::of(b"object"), Object::repeated(0, MAX_OBJECT + 1));
    let name = ObjectId::of(b"object").to_string();
    for (id, name, object, reason) in [
        ("other-bytes", name.as_str(), &Object::of(b"objecu"), Reason::WrongHash),
        ("upper-case", &name.to_uppercase().replace("B3:", "b3:"), &object, Reason::BadForm),
        ("other-prefix", &name.replace("b3:", "b2:"), &object, Reason::BadForm),
        ("short-name", &name[..66], &object, Reason::BadForm),
        ("long-name", &format!("{name}0"), &object, Reason::BadForm),
        ("too-large", &ObjectId::of(&large.1).to_string(), &large, Reason::TooLarge),
    ] {
        let (vector, found) = named(id, name, object);
        all.push(rejected(vector, found, reason));
    }

    let loaded = |id: &str, manifest: &str, objects: &[&Object], most: u64| {
        let mut kept = MemoryObjects::default();
        for object in objects {
            kept.put(&object.1).unwrap();
        }
        let parsed = Manifest::parse(manifest.as_bytes());
        let found = parsed.and_then(|parsed| {
            let id = kept.put(&parsed.to_json()?)?;
            Manifest::load(&id, &kept, most)
        });
        let objects: Vec<_> = objects.iter().map(|object| object.0.clone()).collect();
        let vector =
            json!({"id": id, "kind": "manifest", "manifest": manifest, "objects": objects, "most": most});
        (vector, found)
    };
    let text = |objects: &[&Object]| {
        let chunks = objects.iter().map(|object| ObjectId::of(&object.1)).collect();
        let size = objects.iter().map(|object| object.1.len() as u64).sum();
        String::from_utf8(Manifest { size, chunks }.to_json().unwrap()).unwrap()
    };
    let (one, end) = (Object::repeated(1, MAX_OBJECT), Object::of(b"the end"));
    for (id, objects) in
        [("manifest-empty", &[][..]), ("manifest-one", &[&end]), ("manifest-three", &[&one, &one, &end])]
    {
        let manifest = text(objects);
        let (mut vector, found) = loaded(id, &manifest, objects, 3 << 20);
        vector["whole"] = ObjectId::of(&found.unwrap()).to_string().into();
        all.push(vector);
    }
    let both = text(&[&one, &end]);
    let objects = [&one, &end];
    let size = MAX_OBJECT + 7;
    for (id, manifest, objects, most, reason) in [
        ("manifest-more-than-wanted", both.clone(), &objects[..], size as u64 - 1, Reason::TooLarge),
        ("manifest-missing-object", both.clone(), &objects[..1], 3 << 20, Reason::WrongHash),
        ("manifest-swapped", text(&[&end, &one]), &objects, 3 << 20, Reason::BadForm),
        (
            "manifest-short-end",
            both.replace(&size.to_string(), &(size + 1).to_string()),
            &objects,
            3 << 20,
            Reason::BadForm,
        ),
        (
            "manifest-other-count",
            both.replace(&size.to_string(), "1048576"),
            &objects,
            3 << 20,
            Reason::BadForm,
        ),
        ("manifest-space", both.replace(":", ": "), &objects, 3 << 20, Reason::BadForm),
        (
            "manifest-text-size",
            both.replace(&size.to_string(), &format!("\"{size}\"")),
            &objects,
            3 << 20,
            Reason::BadForm,
        ),
        ("manifest-other-type", both.replace("-v1", "-v2"), &objects, 3 << 20, Reason::BadForm),
        (
            "manifest-more-members",
            both.replace("\"type\"", "\"a\":1,\"type\""),
            &objects,
            3 << 20,
            Reason::BadForm,
        ),
        ("manifest-no-prefix", both.replace("b3:", ""), &objects, 3 << 20, Reason::BadForm),
        (
            "manifest-no-chunks",
            "{\"size\":0,\"type\":\"gambeson-memory-manifest-v1\"}".into(),
            &[],
            0,
            Reason::BadForm,
        ),
        ("manifest-list", "[]".into(), &[], 0, Reason::BadForm),
        (
            "manifest-twice",
            both.replace("\"type\"", "\"size\":1,\"type\""),
            &objects,
            3 << 20,
            Reason::BadJson,
        ),
        ("manifest-no-json", both.replace('}', ""), &objects, 3 << 20, Reason::BadJson),
        (
            "manifest-beyond-integers",
            both.replace(&size.to_string(), "9007199254740992"),
            &objects,
            3 << 20,
            Reason::BadJson,
        ),
    ] {
        let (vector, found) = loaded(id, &manifest, objects, most);
        all.push(rejected(vector, found, reason));
    }
    vector_file::committed("memory", all, 3 + 6 + 3 + 15);
}

fn signed(key: &SigningKey, kid: &str, typ: &str, payload: &Value, more: Option<(&str, Value)>) -> String {
    let mut header = Map::from_iter([("typ".to_owned(), typ.into()), ("kid".to_owned(), kid.into())]);
    header.extend(more.map(|(name, value)| (name.to_owned(), value)));
    let payload = gambeson_identity::json::canonicalize(payload).unwrap();
    Jws::sign(key, header, &payload).unwrap()
}

#[test]
fn the_vectors_of_signed_files() {
    let mut all = Vec::new();
    for suite in SUITES {
        let (alice, name) = (agent(suite, 1), suite.name());
        let card = alice.first_card(NOW, NOW.after(3600), &CardContent::default()).unwrap();
        let log = CardLog::new(card).unwrap();
        let mut cards = CardStore::default();
        cards.add(log.clone()).unwrap();
        let verify = |token: &str, file: &[u8], now: Timestamp| {
            let signature = FileSignature::parse(token)?;
            let mut hasher = signature.hasher();
            hasher.update(file);
            signature.verify(hasher, &cards, now)
        };
        let file = b"report";
        let mut hasher = FileHasher::new(suite);
        hasher.update(file);
        let token = FileSignature::sign(&alice, hasher, NOW).unwrap();
        let claims: Value = {
            let jws = Jws::parse(&token, 16 << 10).unwrap();
            serde_json::from_slice(jws.payload_unverified()).unwrap()
        };
        let base = format!("{name}-base");
        let good = |id: String, token: &str, file: &[u8], now: Timestamp| {
            let found = verify(token, file, now).unwrap();
            json!({
                "id": id, "of": base, "token": token, "file": hex(file), "now": now.to_string(),
                "signer": found.signer().to_string(), "issued": found.issued.to_string(),
            })
        };
        let mut first = good(base.clone(), &token, file, NOW);
        first["cards"] = log.to_lines().into();
        first.as_object_mut().unwrap().remove("of");
        all.push(first);
        let key = alice.key(Role::Signing);
        let kid = alice.key_url(Role::Signing).to_string();
        const TYPE: &str = "gambeson-file+jws";
        let with = |member: &str, value: Value| {
            let mut claims = claims.clone();
            claims[member] = value;
            claims
        };
        let ahead = signed(key, &kid, TYPE, &with("iat", (NOW.0 + 60).into()), None);
        all.push(good(format!("{name}-a-minute-ahead"), &ahead, file, NOW));
        let long = signed(key, &kid, "application/GAMBESON-file+jws", &claims, None);
        all.push(good(format!("{name}-long-type"), &long, file, NOW));

        let stranger = agent(suite, 2);
        let upper = claims["hash"].as_str().unwrap().to_uppercase().replace("B3", "b3").replace("SHA", "sha");
        let mut flipped = token.clone().into_bytes();
        let at = flipped.len() - 10;
        flipped[at] = if flipped[at] == b'A' { b'B' } else { b'A' };
        let of = |role: Role| alice.key_url(role).to_string();
        let token_of = |payload: &Value| signed(key, &kid, TYPE, payload, None);
        for (what, token, file, now, reason) in [
            ("other-file", token.clone(), &b"repors"[..], NOW, Reason::BadDigest),
            ("longer-file", token.clone(), b"report!", NOW, Reason::BadDigest),
            ("other-size", token_of(&with("size", 7.into())), file, NOW, Reason::BadDigest),
            ("changed", String::from_utf8(flipped).unwrap(), file, NOW, Reason::BadSignature),
            ("card-is-over", token.clone(), file, NOW.after(3601), Reason::Expired),
            ("ahead", token_of(&with("iat", (NOW.0 + 61).into())), file, NOW, Reason::NotYetValid),
            ("other-type", signed(key, &kid, "JWT", &claims, None), file, NOW, Reason::BadType),
            (
                "critical",
                signed(key, &kid, TYPE, &claims, Some(("crit", json!(["exp"])))),
                file,
                NOW,
                Reason::BadForm,
            ),
            ("more-claims", token_of(&with("sub", "x".into())), file, NOW, Reason::BadForm),
            ("other-version", token_of(&with("v", 2.into())), file, NOW, Reason::BadForm),
            ("upper-case-hash", token_of(&with("hash", upper.into())), file, NOW, Reason::BadForm),
            ("negative-size", token_of(&with("size", (-1).into())), file, NOW, Reason::BadForm),
            ("text-size", token_of(&with("size", "6".into())), file, NOW, Reason::BadForm),
            (
                "other-role",
                signed(alice.key(Role::Identity), &of(Role::Identity), TYPE, &claims, None),
                file,
                NOW,
                Reason::WrongPurpose,
            ),
            (
                "key-of-proofs",
                signed(alice.key(Role::DataIntegrity), &of(Role::DataIntegrity), TYPE, &claims, None),
                file,
                NOW,
                Reason::WrongPurpose,
            ),
            (
                "other-algorithm",
                signed(alice.key(Role::DataIntegrity), &kid, TYPE, &claims, None),
                file,
                NOW,
                Reason::BadAlgorithm,
            ),
            (
                "next-key",
                signed(key, &alice.did().url("signing-1").to_string(), TYPE, &claims, None),
                file,
                NOW,
                Reason::UnknownKey,
            ),
            (
                "stranger",
                signed(
                    stranger.key(Role::Signing),
                    &stranger.key_url(Role::Signing).to_string(),
                    TYPE,
                    &claims,
                    None,
                ),
                file,
                NOW,
                Reason::UnknownDid,
            ),
            (
                "impostor",
                signed(stranger.key(Role::Signing), &kid, TYPE, &claims, None),
                file,
                NOW,
                Reason::BadSignature,
            ),
            ("two-parts", token.rsplit_once('.').unwrap().0.to_owned(), file, NOW, Reason::BadForm),
        ] {
            let vector = json!({
                "id": format!("{name}-{what}"), "of": base, "token": token, "file": hex(file), "now": now.to_string(),
            });
            all.push(rejected(vector, verify(&token, file, now), reason));
        }
        let padded = format!("{token}{}", "A".repeat((16 << 10) + 1 - token.len()));
        let vector =
            json!({"id": format!("{name}-too-large"), "of": base, "pad": padded.len() - token.len()});
        all.push(rejected(vector, verify(&padded, file, NOW), Reason::TooLarge));
    }
    vector_file::committed("signed-file", all, 2 * (3 + 21));
}
