//! `vectors/a2a.json`: signed agent cards, and every way in which they are refused.

use crate::vector_file;
use crate::world::{NOW, World, expect, judge, map};
use gambeson_identity::jose::Jws;
use gambeson_identity::{Agent, Did, Role, Timestamp, a2a};
use serde_json::{Map, Value, json};

fn card() -> Value {
    json!({
        "name": "Teller", "description": "", "version": "1.0.0", "iconUrl": null,
        "supportedInterfaces": [{"url": "https://bank.example/a2a", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}],
        "capabilities": {"streaming": false, "extensions": [{"uri": "urn:x", "required": false, "params": {"a": [1, {"b": 2.5}]}}]},
        "securitySchemes": {"bearer": {"httpAuthSecurityScheme": {"scheme": "Bearer"}}},
        "securityRequirements": [{"schemes": {"bearer": {"list": ["pay"]}}}],
        "defaultInputModes": ["text/plain"],
        "skills": [{"id": "pay", "name": "Pay", "description": "Pays é", "tags": ["money", "eu"]}],
    })
}

fn signed(agent: &Agent, card: Value) -> Value {
    let mut card = map(card);
    a2a::sign(agent, &mut card).unwrap();
    card.into()
}

/// A signature with whatever header, over the card's canonical form.
fn forged(agent: &Agent, role: Role, header: Value) -> Value {
    let mut header = map(header);
    header.entry("kid").or_insert_with(|| agent.key_url(role).to_string().into());
    header.retain(|_, value| !value.is_null());
    let payload = a2a::canonicalize(&map(card())).unwrap();
    let token = Jws::sign_detached(agent.key(role), header, &payload).unwrap();
    let (protected, signature) = token.split_once("..").unwrap();
    json!({"protected": protected, "signature": signature})
}

fn with(mut card: Value, pointer: &str, value: Value) -> Value {
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    match (card.pointer_mut(parent).unwrap(), value) {
        (Value::Object(object), Value::Null) => drop(object.remove(name)),
        (Value::Object(object), value) => drop(object.insert(name.to_owned(), value)),
        (other, value) => other[name.parse::<usize>().unwrap()] = value,
    }
    card
}

fn good_cards(world: &World) -> Vec<(&'static str, Value)> {
    let (issuer, holder) = (&world.issuer, &world.holder);
    let good = signed(issuer, card());
    let foreign =
        json!({"protected": "eyJhbGciOiJFUzI1NiIsInR5cCI6IkpPU0UiLCJraWQiOiJhIn0", "signature": "AAAA"});
    let mut among = map(card());
    among
        .insert("signatures".into(), json!([foreign, forged(holder, Role::Signing, json!({"typ": "JOSE"}))]));
    let mut renamed = map(card());
    for (before, after) in
        [("defaultInputModes", "default_input_modes"), ("securitySchemes", "security_schemes")]
    {
        let value = renamed.remove(before).unwrap();
        renamed.insert(after.into(), value);
    }
    vec![
        ("card", good.clone()),
        ("card-of-cnsa2", signed(&world.cnsa2, card())),
        ("card-by-names-of-the-schema", signed(issuer, renamed.into())),
        ("card-with-what-was-added-later", with(good.clone(), "/url", "https://evil.example".into())),
        ("card-with-a-skill-that-says-more", with(good.clone(), "/skills/0/more", 1.into())),
        ("card-with-what-is-empty", with(with(good.clone(), "/provider", json!({})), "/iconUrl", "".into())),
        ("card-without-what-is-empty", with(good.clone(), "/description", Value::Null)),
        ("signature-with-an-unprotected-header", with(good, "/signatures/0/header", json!({"kid": "x"}))),
        ("signature-after-those-of-others", signed(issuer, among.into())),
    ]
}

fn bad_cards(world: &World) -> Vec<(&'static str, Value, &'static str)> {
    let (issuer, holder) = (&world.issuer, &world.holder);
    let good = signed(issuer, card());
    let signatures = |all: Value| with(card(), "/signatures", all);
    let one = |signature: Value| signatures(json!([signature]));
    let by = |role: Role, header: Value| one(forged(issuer, role, header));
    let typ = || json!({"typ": "JOSE"});
    let mut bad = vec![
        ("no-signatures", card(), "unsecured"),
        ("signatures-that-are-null", signatures(Value::Null), "unsecured"),
        (
            "signature-of-es256-alone",
            one(json!({"protected": "eyJhbGciOiJFUzI1NiIsInR5cCI6IkpPU0UifQ", "signature": "AAAA"})),
            "unsecured",
        ),
        ("signatures-in-an-object", signatures(json!({})), "bad-form"),
        ("nine-signatures", signatures(vec![good["signatures"][0].clone(); 9].into()), "too-large"),
        ("signature-as-text", one("x".into()), "bad-form"),
        (
            "signature-without-protected",
            with(good.clone(), "/signatures/0/protected", Value::Null),
            "bad-form",
        ),
        (
            "signature-without-signature",
            with(good.clone(), "/signatures/0/signature", Value::Null),
            "bad-form",
        ),
        ("signature-of-another-type", by(Role::Signing, json!({"typ": "vc+jwt"})), "bad-type"),
        (
            "signature-with-an-address-of-keys",
            by(Role::Signing, json!({"typ": "JOSE", "jku": "https://evil.example"})),
            "bad-form",
        ),
        ("signature-that-names-no-key", by(Role::Signing, json!({"typ": "JOSE", "kid": null})), "bad-form"),
        ("signature-that-names-no-did", by(Role::Signing, json!({"typ": "JOSE", "kid": "key-1"})), "bad-did"),
        ("signature-of-the-identity-key", by(Role::Identity, typ()), "wrong-purpose"),
        (
            "signature-of-a-revoked-key",
            by(Role::Signing, json!({"typ": "JOSE", "kid": issuer.did().url("signing-0").to_string()})),
            "key-revoked",
        ),
        ("signature-of-a-stranger", one(forged(&world.stranger, Role::Signing, typ())), "unknown-did"),
        (
            "signature-by-another-in-the-name",
            one(forged(
                holder,
                Role::Signing,
                json!({"typ": "JOSE", "kid": issuer.key_url(Role::Signing).to_string()}),
            )),
            "bad-signature",
        ),
    ];
    for (id, pointer, value) in [
        ("name", "/name", json!("Taller")),
        ("version-left-out", "/version", Value::Null),
        ("address", "/supportedInterfaces/0/url", json!("https://evil.example/a2a")),
        ("flag", "/capabilities/streaming", json!(true)),
        ("flag-left-out", "/capabilities/streaming", Value::Null),
        ("requirement-left-out", "/securityRequirements", Value::Null),
        ("scope-left-out", "/securityRequirements/0/schemes/bearer/list", json!([])),
        ("order-of-tags", "/skills/0/tags", json!(["eu", "money"])),
        ("number-in-params", "/capabilities/extensions/0/params/a", json!([1, {"b": 2.25}])),
        ("skill-more", "/iconUrl", json!("https://evil.example/icon")),
    ] {
        bad.push((id, with(good.clone(), pointer, value), "bad-signature"));
    }
    for (id, pointer, value) in [
        ("name-as-number", "/name", json!(1)),
        ("member-by-two-names", "/default_input_modes", json!([])),
        ("flag-as-text", "/capabilities/streaming", json!("false")),
        ("skills-in-an-object", "/skills", json!({})),
        ("skill-that-is-null", "/skills/0", Value::Null),
        ("scheme-of-two-kinds", "/securitySchemes/bearer/mtlsSecurityScheme", json!({})),
        ("params-as-list", "/capabilities/extensions/0/params", json!([])),
    ] {
        let changed = match id {
            "skill-that-is-null" => with(good.clone(), "/skills", json!([null])),
            _ => with(good.clone(), pointer, value),
        };
        bad.push((id, changed, "bad-form"));
    }
    bad.push(("nothing-said", json!({"name": "", "signatures": good["signatures"]}), "bad-form"));
    bad
}

#[test]
fn the_vectors_of_agent_cards_hold() {
    let world = World::new();
    let mut vectors = world.logs(&["issuer", "holder", "cnsa2"]);
    let cards = |id: &str, card: &str, did: Option<&Did>| {
        let mut vector = json!({"id": id, "kind": "card", "card": card, "now": NOW.0});
        if let Some(did) = did {
            vector["expected"] = did.as_str().into();
        }
        vector
    };
    let mut found: Vec<(Value, Map<String, Value>)> = Vec::new();
    for (id, card) in good_cards(&world) {
        let expected = match id {
            "card-of-cnsa2" => world.cnsa2.did(),
            _ => world.issuer.did(),
        };
        found.push((cards(id, &card.to_string(), Some(expected)), map(card)));
    }
    let good = signed(&world.issuer, card());
    found.push((cards("card-of-whomever", &good.to_string(), None), map(good.clone())));
    let bad =
        |id: &str, card: &str, did: &Did, reason: &str| expect(cards(id, card, Some(did)), Some(reason));
    for (id, card, reason) in bad_cards(&world) {
        let did = if id == "signature-of-a-stranger" { &world.stranger } else { &world.issuer }.did();
        vectors.push(bad(id, &card.to_string(), did, reason));
    }
    vectors.push(bad("card-of-another", &good.to_string(), world.holder.did(), "wrong-issuer"));
    let twice = good.to_string().replacen('{', r#"{"name":"Robber","#, 1);
    vectors.push(bad("member-twice", &twice, world.issuer.did(), "bad-json"));
    vectors.push(bad("card-as-list", "[]", world.issuer.did(), "bad-form"));
    for (mut vector, card) in found {
        let canonical = a2a::canonicalize(&card).unwrap();
        vector["canonical"] = String::from_utf8(canonical).unwrap().into();
        vectors.push(vector);
    }
    for vector in vectors.iter_mut().filter(|vector| vector["kind"] == "card") {
        let did: Option<Did> = vector["expected"].as_str().map(|did| did.parse().unwrap());
        let now = Timestamp(vector["now"].as_u64().unwrap());
        let text = vector["card"].as_str().unwrap().to_owned();
        if let Some(found) = judge(vector, a2a::verify(text.as_bytes(), did.as_ref(), &world.cards, now)) {
            vector["signer"] = found.signer().to_string().into();
        }
    }
    vector_file::committed("a2a", vectors, 50);
}
