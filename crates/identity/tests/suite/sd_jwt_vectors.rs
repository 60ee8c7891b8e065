//! `vectors/sd-jwt.json`: credentials that are disclosed in part, good and bad.

use crate::vector_file;
use crate::world::{self, DAY, NOW, World, expect, forge, judge, reason};
use base64ct::{Base64UrlUnpadded, Encoding};
use gambeson_identity::vc::{KeyBinding, MAX_DISCLOSURES, MAX_SD_JWT, SdJwt, SdJwtBuilder, SdJwtHeld};
use gambeson_identity::{Agent, Reason, Role, Timestamp};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

const AUDIENCE: &str = "https://verifier.example";
const NONCE: &str = "1234567890";
const VCT: &str = "https://issuer.example/clearance";

fn clearance(world: &World) -> SdJwtBuilder {
    SdJwt::builder(VCT)
        .claims(json!({
            "sub": world.holder.did().as_str(),
            "level": 3,
            "address": {"city": "Bern", "street": "Gasse 1"},
            "projects": ["a", "b", {"name": "c", "secret": true}],
            "a/b": {"~": "odd names"},
        }))
        .disclosable("/level")
        .disclosable("/address")
        .disclosable("/address/street")
        .disclosable("/projects/0")
        .disclosable("/projects/2")
        .disclosable("/projects/2/secret")
        .disclosable("/a~1b/~0")
        .holder(&world.holder.key_url(Role::Identity))
        .valid(NOW, NOW.after(DAY))
}

fn digest(disclosure: &str) -> String {
    Base64UrlUnpadded::encode_string(&Sha256::digest(disclosure))
}

fn disclosure(array: Value) -> String {
    Base64UrlUnpadded::encode_string(array.to_string().as_bytes())
}

const ALL: [&str; 7] =
    ["/level", "/address", "/address/street", "/projects/0", "/projects/2", "/projects/2/secret", "/a~1b/~0"];

fn presented(world: &World) -> Vec<Value> {
    let (issuer, holder) = (&world.issuer, &world.holder);
    let issued = clearance(world).decoys(2).issue(issuer, NOW).unwrap();
    let held = SdJwtHeld::parse(&issued).unwrap();
    let bound = |pointers: &[&str]| held.present_bound(holder, pointers, AUDIENCE, NONCE, NOW).unwrap();
    let mut vectors = Vec::new();
    let mut add = |id: &str, token: String, binding: &str, now: Timestamp, reason: Option<&str>| {
        let mut vector =
            json!({"id": id, "kind": "presented", "token": token, "now": now.0, "binding": binding});
        if binding == "required" {
            vector["audience"] = AUDIENCE.into();
            vector["nonce"] = NONCE.into();
            vector["maxAge"] = 120.into();
        }
        vectors.push(expect(vector, reason));
    };
    add("everything", bound(&ALL), "required", NOW, None);
    add("nothing", bound(&[]), "required", NOW.after(120), None);
    add("one-member", bound(&["/level"]), "required", NOW, None);
    add("what-lies-in-something-hidden", bound(&["/address/street"]), "required", NOW, None);
    add("without-what-lies-inside", bound(&["/address", "/projects/2"]), "required", NOW, None);
    add("to-anybody", held.present(&["/a~1b/~0", "/projects/0"]).unwrap(), "none", NOW, None);
    add("as-issued", issued.clone(), "none", NOW, None);
    let cnsa2 =
        clearance(world).holder(&world.cnsa2.key_url(Role::Identity)).issue(&world.cnsa2, NOW).unwrap();
    let cnsa2 = SdJwtHeld::parse(&cnsa2).unwrap();
    let cnsa2 = cnsa2.present_bound(&world.cnsa2, &["/level"], AUDIENCE, NONCE, NOW).unwrap();
    add("cnsa2", cnsa2, "required", NOW, None);
    let plain = SdJwt::builder(VCT).claims(json!({"a": 1})).issue(issuer, NOW).unwrap();
    add("nothing-to-hide", plain.clone(), "none", NOW, None);

    add("no-key-binding", held.present(&["/level"]).unwrap(), "required", NOW, Some("unsecured"));
    add("key-binding-that-nobody-asked-for", bound(&[]), "none", NOW, Some("bad-form"));
    let unbound = SdJwtHeld::parse(&plain).unwrap().present_bound(holder, &[], AUDIENCE, NONCE, NOW).unwrap();
    add("bound-to-no-key", unbound, "required", NOW, Some("wrong-holder"));
    let thief = held.present_bound(issuer, &[], AUDIENCE, NONCE, NOW).unwrap();
    add("key-binding-by-another", thief, "required", NOW, Some("wrong-holder"));
    let elsewhere = held.present_bound(holder, &[], "https://b.example", NONCE, NOW).unwrap();
    add("for-another-verifier", elsewhere, "required", NOW, Some("wrong-audience"));
    let again = held.present_bound(holder, &[], AUDIENCE, "0", NOW).unwrap();
    add("for-another-request", again, "required", NOW, Some("wrong-nonce"));
    add("key-binding-too-old", bound(&[]), "required", NOW.after(121), Some("expired"));
    let ahead = held.present_bound(holder, &[], AUDIENCE, NONCE, NOW.after(61)).unwrap();
    add("key-binding-from-the-future", ahead, "required", NOW, Some("not-yet-valid"));
    let named = |audience: Value| {
        let claims = json!({"a": 1, "aud": audience});
        let built = SdJwt::builder(VCT).claims(claims).holder(&holder.key_url(Role::Identity));
        let issued = built.issue(issuer, NOW).unwrap();
        let bound = SdJwtHeld::parse(&issued).unwrap();
        (issued, bound.present_bound(holder, &[], AUDIENCE, NONCE, NOW).unwrap())
    };
    add("issued-for-this-verifier", named(AUDIENCE.into()).1, "required", NOW, None);
    add("issued-for-this-verifier-too", named(json!(["b", AUDIENCE])).1, "required", NOW, None);
    add("issued-for-another-verifier", named("b".into()).1, "required", NOW, Some("wrong-audience"));
    add(
        "issued-for-somebody-and-shown-to-anybody",
        named(AUDIENCE.into()).0,
        "none",
        NOW,
        Some("wrong-audience"),
    );
    add("before-its-time", issued.clone(), "none", Timestamp(NOW.0 - 61), Some("not-yet-valid"));
    add("after-its-time", issued.clone(), "none", NOW.after(DAY + 1), Some("expired"));
    let one = bound(&["/level"]);
    let (shown, binding) = one.rsplit_once('~').unwrap();
    let more = held.present(&["/level", "/address"]).unwrap();
    add("more-than-the-holder-signed", format!("{more}{binding}"), "required", NOW, Some("bad-signature"));
    let kb = |header: Value, role, payload: Value| {
        format!("{shown}~{}", forge(holder, role, header, payload.to_string().as_bytes()))
    };
    let hash = digest(&format!("{shown}~"));
    let claims = json!({"aud": AUDIENCE, "nonce": NONCE, "iat": NOW.0, "sd_hash": hash});
    let typed = kb(json!({"typ": "jwt"}), Role::Identity, claims.clone());
    add("key-binding-of-another-type", typed, "required", NOW, Some("bad-type"));
    let other = kb(json!({"typ": "kb+jwt"}), Role::Signing, claims.clone());
    add("key-binding-with-another-key", other, "required", NOW, Some("wrong-holder"));
    let hidden = kb(json!({"typ": "kb+jwt", "kid": null}), Role::Signing, claims.clone());
    add("key-binding-with-another-key-unnamed", hidden, "required", NOW, Some("bad-signature"));
    let unnamed = kb(json!({"typ": "kb+jwt", "kid": null}), Role::Identity, claims.clone());
    add("key-binding-that-names-no-key", unnamed, "required", NOW, None);
    let timed = |name: &str, at: Value| {
        let mut claims = claims.clone();
        claims[name] = at;
        kb(json!({"typ": "kb+jwt"}), Role::Identity, claims)
    };
    add("key-binding-that-ends", timed("exp", NOW.0.into()), "required", NOW, None);
    add("key-binding-that-ended", timed("exp", (NOW.0 - 1).into()), "required", NOW, Some("expired"));
    add(
        "key-binding-before-its-time",
        timed("nbf", (NOW.0 + 1).into()),
        "required",
        NOW,
        Some("not-yet-valid"),
    );
    add("key-binding-that-ends-soon", timed("exp", "soon".into()), "required", NOW, Some("bad-time"));
    let mut timeless = claims;
    timeless.as_object_mut().unwrap().remove("iat");
    let timeless = kb(json!({"typ": "kb+jwt"}), Role::Identity, timeless);
    add("key-binding-without-time", timeless, "required", NOW, Some("bad-form"));
    add("no-tilde", issued.split('~').next().unwrap().to_owned(), "none", NOW, Some("bad-form"));
    let unreferred = format!("{plain}{}~", disclosure(json!(["salt", "b", 2])));
    add("disclosure-that-nothing-refers-to", unreferred, "none", NOW, Some("bad-disclosure"));
    let level = shown.split('~').nth(1).unwrap();
    add("disclosure-twice", format!("{shown}~{level}~"), "none", NOW, Some("bad-disclosure"));
    add("disclosure-in-padded-base64", format!("{shown}=~"), "none", NOW, Some("bad-encoding"));
    add("empty-disclosure", format!("{plain}~"), "none", NOW, Some("bad-json"));
    vectors
}

/// What only a dishonest issuer signs.
fn forged(world: &World) -> Vec<Value> {
    let issuer = &world.issuer;
    let mut vectors = Vec::new();
    let base = |members: Value| {
        let mut payload = json!({"iss": issuer.did().as_str(), "vct": VCT, "iat": NOW.0});
        for (name, value) in world::map(members) {
            match value {
                Value::Null => drop(payload.as_object_mut().unwrap().remove(&name)),
                value => payload[name] = value,
            }
        }
        payload.to_string()
    };
    let mut add = |id: &str, header: Value, payload: String, disclosures: &[String], reason: Option<&str>| {
        let mut token = forge(issuer, Role::Signing, header, payload.as_bytes()) + "~";
        for disclosure in disclosures {
            token = token + disclosure + "~";
        }
        let vector = json!({"id": id, "kind": "presented", "token": token, "now": NOW.0, "binding": "none"});
        vectors.push(expect(vector, reason));
    };
    let typ = || json!({"typ": "dc+sd-jwt"});
    let name = disclosure(json!(["salt", "name", "Ann"]));
    let element = disclosure(json!(["salt", "Ann"]));
    let (of_name, of_element) = (digest(&name), digest(&element));
    add(
        "spaces-in-a-disclosure",
        typ(),
        {
            let spaced = Base64UrlUnpadded::encode_string(b"[ \"salt\" , \"name\", \"Ann\" ]");
            base(json!({"_sd": [digest(&spaced)]}))
        },
        &[Base64UrlUnpadded::encode_string(b"[ \"salt\" , \"name\", \"Ann\" ]")],
        None,
    );
    add(
        "hash-named",
        typ(),
        base(json!({"_sd": [of_name], "_sd_alg": "sha-256"})),
        std::slice::from_ref(&name),
        None,
    );
    add(
        "element",
        typ(),
        base(json!({"a": [{"...": of_element}, {"...": "none"}]})),
        std::slice::from_ref(&element),
        None,
    );
    add("type-is-another", json!({"typ": "vc+jwt"}), base(json!({})), &[], Some("bad-type"));
    add("hash-is-another", typ(), base(json!({"_sd_alg": "sha-512"})), &[], Some("bad-algorithm"));
    add(
        "hash-is-not-that-of-the-digests",
        typ(),
        base(json!({"_sd": [of_name], "_sd_alg": "sha-384"})),
        std::slice::from_ref(&name),
        Some("bad-disclosure"),
    );
    add(
        "issuer-is-another",
        typ(),
        base(json!({"iss": world.holder.did().as_str()})),
        &[],
        Some("wrong-issuer"),
    );
    add("no-issuer", typ(), base(json!({"iss": null})), &[], Some("bad-form"));
    add("no-type", typ(), base(json!({"vct": null})), &[], Some("bad-form"));
    add(
        "status-that-is-not-read",
        typ(),
        base(json!({"status": {"status_list": {"idx": 0, "uri": "https://a.example"}}})),
        &[],
        Some("unknown-status"),
    );
    add("key-of-the-holder-is-no-url", typ(), base(json!({"cnf": {"kid": "key-1"}})), &[], Some("bad-did"));
    add("key-of-the-holder-is-a-jwk", typ(), base(json!({"cnf": {"jwk": {}}})), &[], Some("bad-form"));
    let payload = base(json!({"_sd": [of_name, of_name]}));
    add("digest-twice-in-a-list", typ(), payload, std::slice::from_ref(&name), Some("bad-disclosure"));
    let payload = base(json!({"_sd": [of_name], "x": {"_sd": [of_name]}}));
    add("digest-in-two-places", typ(), payload, std::slice::from_ref(&name), Some("bad-disclosure"));
    add(
        "digest-in-two-places-undisclosed",
        typ(),
        base(json!({"a": [{"...": "x"}, {"...": "x"}]})),
        &[],
        Some("bad-disclosure"),
    );
    add(
        "claim-stands-there-already",
        typ(),
        base(json!({"_sd": [of_name], "name": "Bob"})),
        std::slice::from_ref(&name),
        Some("bad-disclosure"),
    );
    add(
        "element-where-a-member-belongs",
        typ(),
        base(json!({"_sd": [of_element]})),
        std::slice::from_ref(&element),
        Some("bad-disclosure"),
    );
    add(
        "member-where-an-element-belongs",
        typ(),
        base(json!({"a": [{"...": of_name}]})),
        std::slice::from_ref(&name),
        Some("bad-disclosure"),
    );
    add(
        "more-beside-a-digest",
        typ(),
        base(json!({"a": [{"...": of_element, "b": 1}]})),
        &[],
        Some("bad-disclosure"),
    );
    add("dots-as-a-name", typ(), base(json!({"a": {"...": "x"}})), &[], Some("bad-disclosure"));
    add("sd-is-text", typ(), base(json!({"_sd": "x"})), &[], Some("bad-disclosure"));
    add("digest-is-a-number", typ(), base(json!({"_sd": [1]})), &[], Some("bad-disclosure"));
    add("hash-named-inside", typ(), base(json!({"a": {"_sd_alg": "sha-256"}})), &[], Some("bad-disclosure"));
    for (id, array) in [
        ("disclosed-name-sd", json!(["salt", "_sd", []])),
        ("disclosed-name-dots", json!(["salt", "...", 1])),
        ("disclosed-issuer", json!(["salt", "iss", "did:web:a.example"])),
        ("disclosed-end", json!(["salt", "exp", 1])),
        ("disclosed-holder", json!(["salt", "cnf", {}])),
        ("disclosed-status", json!(["salt", "status", {}])),
        ("disclosure-of-four", json!(["salt", "a", 1, 2])),
        ("disclosure-of-one", json!(["salt"])),
        ("salt-is-a-number", json!([1, "a", 1])),
        ("disclosed-name-is-a-number", json!(["salt", 1, 1])),
        ("disclosure-is-an-object", json!({"a": 1})),
    ] {
        let text = disclosure(array);
        add(id, typ(), base(json!({"_sd": [digest(&text)]})), &[text], Some("bad-disclosure"));
    }
    let hidden_type = disclosure(json!(["salt", "vct", VCT]));
    let payload = base(json!({"_sd": [digest(&hidden_type)], "vct": null}));
    add("disclosed-type", typ(), payload, &[hidden_type], Some("bad-disclosure"));
    let mut deep = vec![disclosure(json!(["salt", "a", 1]))];
    for _ in 0..40 {
        deep.push(disclosure(json!(["salt", "a", {"_sd": [digest(deep.last().unwrap())]}])));
    }
    let payload = base(json!({"_sd": [digest(deep.last().unwrap())]}));
    add("disclosures-too-deep", typ(), payload, &deep, Some("bad-disclosure"));
    vectors
}

#[test]
fn the_vectors_of_selective_disclosure_hold() {
    let world = World::new();
    let mut vectors = world.logs(&["issuer", "holder", "cnsa2"]);
    for mut vector in presented(&world).into_iter().chain(forged(&world)) {
        let binding = match vector["binding"].as_str().unwrap() {
            "required" => KeyBinding::Required { audience: AUDIENCE, nonce: NONCE, max_age: 120 },
            _ => KeyBinding::None,
        };
        let (token, now) = (vector["token"].as_str().unwrap(), Timestamp(vector["now"].as_u64().unwrap()));
        if let Some(found) = judge(&vector, SdJwt::verify(token, &world.cards, now, binding)) {
            assert_eq!(found.vct(), VCT);
            vector["signer"] = found.signer().to_string().into();
            vector["claims"] = Value::Object(found.claims().clone());
        }
        vectors.push(vector);
    }
    vector_file::committed("sd-jwt", vectors, 77);
}

#[test]
fn what_is_hidden_is_a_salted_hash_and_comes_back_whole() {
    let world = World::new();
    let issued = clearance(&world).decoys(3).issue(&world.issuer, NOW).unwrap();
    let payload = issued.split('.').nth(1).unwrap();
    let payload: Value = serde_json::from_slice(&Base64UrlUnpadded::decode_vec(payload).unwrap()).unwrap();
    assert!(payload.get("level").is_none() && payload.get("address").is_none());
    assert_eq!(payload["_sd"].as_array().unwrap().len(), 2 + 3, "two members and three decoys");
    let held = SdJwtHeld::parse(&issued).unwrap();
    let mut pointers: Vec<&str> = held.disclosable().collect();
    pointers.sort_unstable();
    let mut expected = ALL;
    expected.sort_unstable();
    assert_eq!(pointers, expected);
    let whole = SdJwt::verify(&issued, &world.cards, NOW, KeyBinding::None).unwrap();
    assert_eq!(whole.claims()["address"], json!({"city": "Bern", "street": "Gasse 1"}));
    assert_eq!(whole.claims()["projects"], json!(["a", "b", {"name": "c", "secret": true}]));
    assert_eq!(whole.holder(), Some(&world.holder.key_url(Role::Identity)));
    assert!(!whole.claims().contains_key("_sd") && !whole.claims().contains_key("_sd_alg"));
    let other = clearance(&world).issue(&world.issuer, NOW).unwrap();
    let salts = |token: &str| token.split('~').skip(1).map(str::to_owned).collect::<Vec<_>>();
    assert!(salts(&issued).iter().filter(|text| !text.is_empty()).all(|text| !salts(&other).contains(text)));
}

#[test]
fn what_cannot_be_issued_or_shown_is_refused() {
    let world = World::new();
    let issue = |claims: Value, pointers: &[&str]| {
        let draft = SdJwt::builder(VCT).claims(claims);
        pointers.iter().fold(draft, |draft, pointer| draft.disclosable(pointer)).issue(&world.issuer, NOW)
    };
    for (claims, pointers) in [
        (json!([]), &[][..]),
        (json!({"iss": "x"}), &[]),
        (json!({"vct": "x"}), &[]),
        (json!({"a": {"_sd": []}}), &[]),
        (json!({"a": [{"...": 1}]}), &[]),
        (json!({"a": 1}), &["/b"]),
        (json!({"a": 1}), &["a"]),
        (json!({"a": 1}), &["/a/b"]),
        (json!({"a": [1]}), &["/a/1"]),
        (json!({"a": [1]}), &["/a/x"]),
        (json!({"a": 1}), &["/a", "/a"]),
    ] {
        assert_eq!(reason(issue(claims.clone(), pointers)), Reason::BadForm, "{claims} {pointers:?}");
    }
    let many: serde_json::Map<String, Value> =
        (0..=MAX_DISCLOSURES).map(|n| (format!("c{n}"), 1.into())).collect();
    let pointers: Vec<String> = many.keys().map(|name| format!("/{name}")).collect();
    let pointers: Vec<&str> = pointers.iter().map(String::as_str).collect();
    assert_eq!(reason(issue(many.into(), &pointers)), Reason::TooLarge);
    assert_eq!(reason(issue(json!({"a": "x".repeat(MAX_SD_JWT)}), &[])), Reason::TooLarge);
    let held = SdJwtHeld::parse(&issue(json!({"a": 1, "b": 2}), &["/a"]).unwrap()).unwrap();
    assert_eq!(reason(held.present(&["/b"])), Reason::BadForm);
    let bound = held.present_bound(&world.holder, &[], AUDIENCE, NONCE, NOW).unwrap();
    assert_eq!(reason(SdJwtHeld::parse(&bound)), Reason::BadForm);
}

#[test]
fn no_changed_character_passes() {
    let world = World::new();
    let issued = clearance(&world).issue(&world.issuer, NOW).unwrap();
    let held = SdJwtHeld::parse(&issued).unwrap();
    let token = held.present_bound(&world.holder, &["/level"], AUDIENCE, NONCE, NOW).unwrap();
    let asked = KeyBinding::Required { audience: AUDIENCE, nonce: NONCE, max_age: 120 };
    assert!(SdJwt::verify(&token, &world.cards, NOW, asked).is_ok());
    let stranger: &Agent = &world.stranger;
    assert!(
        held.present_bound(stranger, &[], AUDIENCE, NONCE, NOW).is_ok(),
        "the verifier refuses, not the thief"
    );
    for at in (0..token.len()).step_by(37) {
        let mut bytes = token.clone().into_bytes();
        bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
        let changed = String::from_utf8(bytes).unwrap();
        assert!(SdJwt::verify(&changed, &world.cards, NOW, asked).is_err(), "character {at}");
    }
}

#[test]
fn an_issuer_is_told_what_no_verifier_would_take() {
    let world = World::new();
    let reason =
        |draft: SdJwtBuilder| draft.issue(&world.issuer, NOW).map(drop).map_err(|error| error.reason());
    let claims = || SdJwt::builder(VCT).claims(json!({"a": 1}));
    assert_eq!(reason(claims().valid(NOW, NOW)), Ok(()));
    assert_eq!(reason(claims().valid(NOW.after(1), NOW)), Err(Reason::BadForm));
    assert_eq!(reason(SdJwt::builder("").claims(json!({"a": 1}))), Err(Reason::BadForm));
}

#[test]
fn decoys_stand_in_what_is_hidden_too() {
    let world = World::new();
    let claims = json!({"address": {"street": "Gasse 1", "city": "Bern"}, "all": [{"x": 1}, {"y": 2}]});
    let draft = SdJwt::builder(VCT).claims(claims);
    let hidden = ["/address", "/address/street", "/all/0", "/all/0/x"];
    let draft = hidden.into_iter().fold(draft, SdJwtBuilder::disclosable).decoys(3);
    let token = draft.issue(&world.issuer, NOW).unwrap();
    let mut counts = Vec::new();
    for part in token.split('~').skip(1).filter(|part| !part.is_empty()) {
        let array: Value = serde_json::from_slice(&Base64UrlUnpadded::decode_vec(part).unwrap()).unwrap();
        let value = array.as_array().unwrap().last().unwrap();
        counts.extend(value.get("_sd").map(|digests| digests.as_array().unwrap().len()));
    }
    assert_eq!(counts, [4, 4], "of the address and of the element, one of a claim and three of nothing");
    let verified = SdJwt::verify(&token, &world.cards, NOW, KeyBinding::None).unwrap();
    assert_eq!(verified.claims()["address"]["street"], "Gasse 1");
    assert_eq!(verified.claims()["all"][0]["x"], 1);
}
