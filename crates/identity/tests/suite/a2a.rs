//! Agent cards: the bytes that are signed are those of the official SDK, and nothing unsigned is shown.

use crate::world::{NOW, map, reason};
use gambeson_identity::{Agent, CardContent, CardLog, CardStore, MasterSeed, Reason, Role, a2a, jose::Jws};
use serde_json::{Map, Value, json};

fn agent(seed: u8) -> Agent {
    Agent::from_seed(MasterSeed::from_bytes(&[seed; 32]))
}

fn known(agent: &Agent) -> CardStore {
    let card = agent.first_card(NOW, NOW.after(86_400), &CardContent::default()).unwrap();
    let mut store = CardStore::default();
    store.add(CardLog::new(card).unwrap()).unwrap();
    store
}

/// `data/a2a-canonical.json` was written by a2a-sdk 1.3.0 (`a2a.utils.signing`): six cards made by hand and 44 from a
/// generator that walks the schema.
#[test]
fn the_canonical_card_is_that_of_the_official_sdk() {
    let cases: Vec<Value> = serde_json::from_str(include_str!("../data/a2a-canonical.json")).unwrap();
    for case in &cases {
        let canonical = a2a::canonicalize(case["card"].as_object().unwrap()).unwrap();
        assert_eq!(std::str::from_utf8(&canonical).unwrap(), case["canonical"], "{}", case["id"]);
    }
    assert_eq!(cases.len(), 50);
}

fn card() -> Map<String, Value> {
    map(json!({
        "name": "Teller", "description": "", "version": "1.0.0",
        "capabilities": {"streaming": false, "extensions": [{"uri": "urn:x", "required": false}]},
        "skills": [{"id": "pay", "name": "Pay", "description": "Pays", "tags": ["money"]}],
    }))
}

#[test]
fn a_signed_card_verifies_and_what_is_added_later_is_not_shown() {
    let agent = agent(1);
    let known = known(&agent);
    let mut card = card();
    a2a::sign(&agent, &mut card).unwrap();
    card.insert("url".into(), "https://evil.example".into());
    card.insert("description".into(), Value::Null);
    let text = serde_json::to_vec(&card).unwrap();
    let verified = a2a::verify(&text, Some(agent.did()), &known, NOW).unwrap();
    assert_eq!(verified.signer(), &agent.key_url(Role::Signing));
    assert!(!verified.json().contains_key("url") && !verified.json().contains_key("signatures"));
    assert_eq!(verified.json()["skills"][0]["id"], "pay");
}

#[test]
fn each_change_of_what_is_signed_is_refused() {
    let agent = agent(1);
    let known = known(&agent);
    let mut card = card();
    a2a::sign(&agent, &mut card).unwrap();
    let changes: [(&str, Value); 5] = [
        ("/name", json!("Taller")),
        ("/version", json!("")),
        ("/capabilities/streaming", json!(true)),
        ("/capabilities/extensions/0/required", json!(true)),
        ("/skills/0/tags", json!(["money", "more"])),
    ];
    for (pointer, value) in changes {
        let mut changed = Value::Object(card.clone());
        *changed.pointer_mut(pointer).unwrap() = value;
        let text = serde_json::to_vec(&changed).unwrap();
        assert_eq!(reason(a2a::verify(&text, None, &known, NOW)), Reason::BadSignature, "{pointer}");
    }
}

#[test]
fn one_good_signature_among_foreign_ones_is_enough() {
    let (agent, stranger) = (agent(1), agent(2));
    let known = known(&agent);
    let mut card = card();
    card.insert(
        "signatures".into(),
        json!([{"protected": "eyJhbGciOiJFUzI1NiIsInR5cCI6IkpPU0UiLCJraWQiOiJhIn0", "signature": "AAAA"}]),
    );
    let verify = |card: &Map<String, Value>| {
        a2a::verify(&serde_json::to_vec(card).unwrap(), Some(agent.did()), &known, NOW)
    };
    assert_eq!(reason(verify(&card)), Reason::Unsecured);
    a2a::sign(&stranger, &mut card).unwrap();
    assert_eq!(reason(verify(&card)), Reason::WrongIssuer);
    a2a::sign(&agent, &mut card).unwrap();
    assert!(verify(&card).is_ok());
}

#[test]
fn what_is_wrong_with_a_signature_is_said() {
    let agent = agent(1);
    let known = known(&agent);
    let key = agent.key(Role::Signing);
    let payload = a2a::canonicalize(&card()).unwrap();
    let signed = |role: Role, header: Value| {
        let mut header = map(header);
        header.insert("kid".into(), agent.key_url(role).to_string().into());
        let token = Jws::sign_detached(agent.key(role), header, &payload).unwrap();
        let (protected, signature) = token.split_once("..").unwrap();
        let mut card = card();
        card.insert("signatures".into(), json!([{"protected": protected, "signature": signature}]));
        a2a::verify(&serde_json::to_vec(&card).unwrap(), None, &known, NOW)
    };
    assert!(signed(Role::Signing, json!({"typ": "JOSE"})).is_ok());
    assert_eq!(reason(signed(Role::Signing, json!({"typ": "vc+jwt"}))), Reason::BadType);
    assert_eq!(
        reason(signed(Role::Signing, json!({"typ": "JOSE", "jku": "https://evil.example/keys"}))),
        Reason::BadForm
    );
    assert_eq!(reason(signed(Role::Identity, json!({"typ": "JOSE"}))), Reason::WrongPurpose);
    let mut unknown = card();
    a2a::sign(&self::agent(3), &mut unknown).unwrap();
    let text = serde_json::to_vec(&unknown).unwrap();
    assert_eq!(reason(a2a::verify(&text, None, &known, NOW)), Reason::UnknownDid);
    assert_eq!(key.algorithm().jose(), "ML-DSA-65");
}

#[test]
fn cards_of_another_form_are_refused() {
    let agent = agent(1);
    let known = known(&agent);
    for (card, expected) in [
        (json!({"name": 1}), Reason::BadForm),
        (json!({"name": ""}), Reason::BadForm),
        (json!({"iconUrl": "a", "icon_url": "b"}), Reason::BadForm),
        (json!({"skills": {}}), Reason::BadForm),
        (json!({"skills": [null]}), Reason::BadForm),
        (json!({"capabilities": {"streaming": "true"}}), Reason::BadForm),
        (json!({"name": "a", "signatures": {}}), Reason::BadForm),
        (json!({"name": "a", "signatures": [{"protected": "e30"}]}), Reason::BadForm),
        (json!({"name": "a", "signatures": vec![json!({}); 9]}), Reason::TooLarge),
        (
            json!({"securitySchemes": {"a": {"mtlsSecurityScheme": {}, "apiKeySecurityScheme": {}}}}),
            Reason::BadForm,
        ),
        (json!({"name": "a".repeat(a2a::MAX_CARD)}), Reason::TooLarge),
        (json!({"name": "a"}), Reason::Unsecured),
    ] {
        let text = serde_json::to_vec(&card).unwrap();
        assert_eq!(reason(a2a::verify(&text, None, &known, NOW)), expected, "{card:.100}");
    }
    assert_eq!(reason(a2a::verify(br#"{"name":"a","name":"b"}"#, None, &known, NOW)), Reason::BadJson);
    let mut unknown = map(json!({"name": "a", "skills": [{"id": "s", "more": 1}]}));
    assert_eq!(reason(a2a::sign(&agent, &mut unknown)), Reason::BadForm);
    let scheme = json!({"httpAuthSecurityScheme": {"scheme": "Bearer"}});
    for lost in [
        json!({"securityRequirements": [{"schemes": {"bearer": {"list": []}}}]}),
        json!({"securityRequirements": [{"schemes": {"bearer": {"list": ["a"]}}}, {}]}),
        json!({"securitySchemes": {"bearer": scheme, "mutual": {"mtlsSecurityScheme": {}}}}),
        json!({"securitySchemes": {"bearer": {}}}),
        json!({"skills": [{"id": "s", "tags": ["a", ""]}]}),
        json!({"skills": [{"id": "s"}, {"name": ""}]}),
        json!({"capabilities": {"extensions": [{"uri": "urn:x", "params": {"a": 1, "b": null}}]}}),
        json!({"capabilities": {"extensions": [{"uri": "urn:x", "params": {"a": []}}]}}),
    ] {
        let mut card = map(json!({"name": "a"}));
        card.extend(map(lost.clone()));
        assert_eq!(reason(a2a::sign(&agent, &mut card)), Reason::BadForm, "{lost}");
        assert!(a2a::canonicalize(&card).is_ok(), "{lost}");
    }
    let said = json!({
        "name": "a", "description": "", "iconUrl": null, "capabilities": {},
        "securitySchemes": {"bearer": scheme}, "securityRequirements": [{"schemes": {"bearer": {"list": ["a"]}}}],
    });
    assert_eq!(a2a::sign(&agent, &mut map(said)), Ok(()));
    let mut full = map(json!({"name": "a", "signatures": vec![json!({}); 8]}));
    assert_eq!(reason(a2a::sign(&agent, &mut full)), Reason::TooLarge);
}
