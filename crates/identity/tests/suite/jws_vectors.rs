//! `vectors/jws.json`: tokens and keys in texts.

use crate::vector_file;
use base64ct::{Base64UrlUnpadded, Encoding};
use gambeson_identity::jose::Jws;
use gambeson_identity::{Agent, Algorithm, MasterSeed, Purpose, Reason, Result, Role, Suite, VerifyingKey};
use serde_json::{Map, Value, json};

const SEED: [u8; 32] = [0x4A; 32];
const MAX: usize = 8192;

fn encode(bytes: impl AsRef<[u8]>) -> String {
    Base64UrlUnpadded::encode_string(bytes.as_ref())
}

/// A good token, the key that verifies it, and whether its payload travels elsewhere.
struct Good {
    vector: Value,
    key: VerifyingKey,
}

fn good(
    id: &str,
    (suite, role, purpose): (Suite, Role, Purpose),
    header: Value,
    payload: &str,
    detached: bool,
) -> Good {
    let agent = Agent::with_suite(MasterSeed::from_bytes(&SEED), suite).deterministic();
    let key = agent.key(role);
    let members = header.as_object().unwrap().clone();
    let sign = if detached { Jws::sign_detached } else { Jws::sign };
    let token = sign(key, members, payload.as_bytes()).unwrap();
    let key = key.verifying_key();
    let jws = read(&token, payload, detached, 32 << 10).unwrap();
    jws.verify(&key).unwrap();
    assert_eq!(jws.payload_unverified(), payload.as_bytes());
    let mut vector = json!({
        "id": id, "kind": "jws", "suite": suite.name(), "seed": "4a".repeat(32), "purpose": format!("{purpose:?}"),
        "index": "0", "jwk": key.to_jwk(), "header": jws.header(), "payload": payload, "token": token,
    });
    if detached {
        vector["detached"] = true.into();
    }
    if let Some(typ) = jws.text("typ") {
        let bare = typ.trim_start_matches("application/").to_lowercase();
        jws.expect_type(&bare).unwrap();
        vector["typ"] = bare.into();
    }
    Good { vector, key }
}

fn read(token: &str, payload: &str, detached: bool, max: usize) -> Result<Jws> {
    match detached {
        true => Jws::parse_detached(token, payload.as_bytes(), max),
        false => Jws::parse(token, max),
    }
}

/// What is looked at besides the signature.
#[derive(Default)]
struct Asked<'a> {
    max: Option<usize>,
    typ: Option<&'a str>,
    kid: bool,
    detached: Option<&'a str>,
}

fn refused(id: &str, token: &str, key: &Good, asked: &Asked<'_>, reason: Reason) -> Value {
    let verdict = || {
        let jws = read(
            token,
            asked.detached.unwrap_or_default(),
            asked.detached.is_some(),
            asked.max.unwrap_or(MAX),
        )?;
        asked.typ.map_or(Ok(()), |typ| jws.expect_type(typ))?;
        if asked.kid {
            jws.key_id()?;
        }
        jws.verify(&key.key)
    };
    assert_eq!(verdict().unwrap_err().reason(), reason, "{id}");
    let mut vector = json!({
        "id": id, "kind": "jws", "result": "reject", "reason": reason.code(), "token": token, "key": key.vector["id"],
    });
    if let Some(max) = asked.max {
        vector["max"] = max.into();
    }
    if let Some(typ) = asked.typ {
        vector["typ"] = typ.into();
    }
    if asked.kid {
        vector["kid"] = true.into();
    }
    if let Some(payload) = asked.detached {
        vector["detached"] = true.into();
        vector["payload"] = payload.into();
    }
    vector
}

fn token(good: &Good) -> &str {
    good.vector["token"].as_str().unwrap()
}

/// The token with another header, as text; the signature stays.
fn with_header(good: &Good, header: impl AsRef<[u8]>) -> String {
    let (_, rest) = token(good).split_once('.').unwrap();
    format!("{}.{rest}", encode(header))
}

fn with_signature(good: &Good, signature: &str) -> String {
    let (input, _) = token(good).rsplit_once('.').unwrap();
    format!("{input}.{signature}")
}

#[test]
fn the_vectors_of_jws() {
    let signing = (Suite::Default, Role::Signing, Purpose::Signing);
    let did = Agent::from_seed(MasterSeed::from_bytes(&SEED)).did().clone();
    let kid = format!("{did}#signing-0");
    let goods = [
        good("ml-dsa-65", signing, json!({"typ": "vc+jwt", "kid": kid}), "{\"a\":1}", false),
        good("ml-dsa-44", (Suite::Default, Role::Log, Purpose::Log), json!({"typ": "JWT"}), "payload", false),
        good("ml-dsa-87", (Suite::Cnsa2, Role::Signing, Purpose::Signing), json!({}), "payload", false),
        good("detached", signing, json!({"typ": "x"}), "{\"b\":2}", true),
        good("no-payload", (Suite::Default, Role::Log, Purpose::Log), json!({}), "", false),
        good(
            "header-with-more",
            (Suite::Default, Role::Log, Purpose::Log),
            json!({"typ": "application/VC+JWT", "cty": "vc", "iat": 1_795_330_800, "é\u{1F600}": [1.5, null]}),
            "\u{0}\n",
            false,
        ),
    ];
    let [main, log, large, detached, ..] = &goods;
    let mut vectors: Vec<Value> = goods.iter().map(|good| good.vector.clone()).collect();
    let mut refuse = |id: &str, token: &str, key: &Good, asked: Asked<'_>, reason: Reason| {
        vectors.push(refused(id, token, key, &asked, reason));
    };
    let none = Asked::default;

    // The parts.
    refuse(
        "too-large",
        token(main),
        main,
        Asked { max: Some(token(main).len() - 1), ..none() },
        Reason::TooLarge,
    );
    refuse("one-part", "e30", log, none(), Reason::BadForm);
    refuse("two-parts", "e30.e30", log, none(), Reason::BadForm);
    refuse("four-parts", &format!("{}.", token(log)), log, none(), Reason::BadForm);
    refuse("nothing", "", log, none(), Reason::BadForm);
    let parts: Vec<&str> = token(log).split('.').collect();
    let [header, payload, signature] = parts[..] else { panic!("three parts") };
    refuse("payload-padded", &format!("{header}.{payload}=.{signature}"), log, none(), Reason::BadEncoding);
    refuse("payload-in-base64", &format!("{header}.+/8A.{signature}"), log, none(), Reason::BadEncoding);
    refuse(
        "payload-with-a-space",
        &format!("{header}. {payload}.{signature}"),
        log,
        none(),
        Reason::BadEncoding,
    );
    refuse("payload-with-loose-bits", &format!("{header}.AB.{signature}"), log, none(), Reason::BadEncoding);
    refuse(
        "payload-of-4n-1-characters",
        &format!("{header}.AAAAA.{signature}"),
        log,
        none(),
        Reason::BadEncoding,
    );
    refuse("payload-before-header", &format!("=.=.{signature}"), log, none(), Reason::BadEncoding);
    refuse("header-padded", &format!("{header}=.{payload}.{signature}"), log, none(), Reason::BadEncoding);

    // The header.
    refuse("header-empty", &format!(".{payload}.{signature}"), log, none(), Reason::BadJson);
    refuse("header-not-json", &with_header(log, "{"), log, none(), Reason::BadJson);
    refuse("header-an-array", &with_header(log, "[]"), log, none(), Reason::BadForm);
    refuse(
        "header-alg-twice",
        &with_header(log, r#"{"alg":"ML-DSA-44","alg":"ML-DSA-44"}"#),
        log,
        none(),
        Reason::BadJson,
    );
    let wide = Asked { max: Some(64 << 10), ..none() };
    let spaces = |len: usize| format!("{{\"alg\":\"ML-DSA-44\"{}}}", " ".repeat(len - 19));
    refuse("header-of-16385-bytes", &with_header(log, spaces(16_385)), log, wide, Reason::TooLarge);
    let wide = Asked { max: Some(64 << 10), ..none() };
    refuse("header-of-16400-bytes", &with_header(log, spaces(16_400)), log, wide, Reason::BadEncoding);
    refuse("alg-missing", &with_header(log, "{}"), log, none(), Reason::BadAlgorithm);
    for (id, alg) in [
        ("alg-none", json!("none")),
        ("alg-es256", json!("ES256")),
        ("alg-eddsa", json!("EdDSA")),
        ("alg-hs256", json!("HS256")),
        ("alg-in-lower-case", json!("ml-dsa-44")),
        ("alg-a-number", json!(1)),
        ("alg-null", json!(null)),
    ] {
        refuse(id, &with_header(log, json!({"alg": alg}).to_string()), log, none(), Reason::BadAlgorithm);
    }
    for name in ["crit", "b64", "jwk", "jku", "x5u", "x5c"] {
        let header = json!({"alg": "ML-DSA-44", name: null}).to_string();
        refuse(&format!("header-with-{name}"), &with_header(log, header), log, none(), Reason::BadForm);
    }
    let header_of_none = json!({"alg": "none", "jwk": {}}).to_string();
    refuse("alg-before-jwk", &with_header(log, header_of_none), log, none(), Reason::BadAlgorithm);

    // The signature.
    refuse("signature-missing", &with_signature(log, ""), log, none(), Reason::BadSignature);
    refuse(
        "signature-padded",
        &with_signature(log, &format!("{signature}=")),
        log,
        none(),
        Reason::BadEncoding,
    );
    let shorter = &signature[..signature.len() - 4];
    refuse("signature-too-short", &with_signature(log, shorter), log, none(), Reason::BadSignature);
    refuse(
        "signature-too-long",
        &with_signature(log, &format!("{signature}AAAA")),
        log,
        none(),
        Reason::BadEncoding,
    );
    refuse("signature-of-zeros", &with_signature(log, &encode([0; 2420])), log, none(), Reason::BadSignature);
    let flipped = format!("{}{}", if signature.starts_with('A') { "B" } else { "A" }, &signature[1..]);
    refuse("signature-changed", &with_signature(log, &flipped), log, none(), Reason::BadSignature);
    refuse(
        "payload-changed",
        &format!("{header}.{}.{signature}", encode("Payload")),
        log,
        none(),
        Reason::BadSignature,
    );
    refuse(
        "header-changed",
        &with_header(log, r#"{"alg":"ML-DSA-44","typ":"JWS"}"#),
        log,
        none(),
        Reason::BadSignature,
    );
    refuse(
        "header-with-a-space",
        &with_header(log, r#"{"alg":"ML-DSA-44", "typ":"JWT"}"#),
        log,
        none(),
        Reason::BadSignature,
    );
    let relabelled = json!({"alg": "ML-DSA-65", "typ": "JWT"}).to_string();
    refuse("alg-of-another-size", &with_header(log, relabelled), log, none(), Reason::BadSignature);
    refuse("key-of-another-algorithm", token(log), main, none(), Reason::BadAlgorithm);
    let long = Asked { max: Some(16 << 10), ..none() };
    refuse("key-of-another-suite", token(large), main, long, Reason::BadAlgorithm);
    let other = Agent::from_seed(MasterSeed::from_bytes(&[0x4B; 32])).deterministic();
    let foreign = Jws::sign(other.key(Role::Log), Map::new(), b"payload").unwrap();
    refuse("key-of-somebody-else", &foreign, log, none(), Reason::BadSignature);
    let context = other_context(log);
    refuse("signature-with-a-context", &context, log, none(), Reason::BadSignature);

    // Detached.
    let elsewhere = |payload| Asked { detached: Some(payload), ..none() };
    refuse("detached-changed", token(detached), detached, elsewhere("{\"b\":3}"), Reason::BadSignature);
    refuse("detached-nothing", token(detached), detached, elsewhere(""), Reason::BadSignature);
    refuse("detached-with-a-payload", token(main), main, elsewhere("{\"a\":1}"), Reason::BadForm);
    refuse("attached-without-a-payload", token(detached), detached, none(), Reason::BadSignature);

    // Type and key.
    let typed = |typ| Asked { typ: Some(typ), ..none() };
    refuse("typ-another", token(main), main, typed("vp+jwt"), Reason::BadType);
    refuse("typ-missing", &foreign, log, typed("vc+jwt"), Reason::BadType);
    refuse("typ-longer", token(main), main, typed("vc+jw"), Reason::BadType);
    let named = || Asked { kid: true, ..none() };
    refuse("kid-missing", token(log), log, named(), Reason::BadForm);
    let kid_header = |kid: Value| with_header(log, json!({"alg": "ML-DSA-44", "kid": kid}).to_string());
    refuse("kid-a-number", &kid_header(json!(1)), log, named(), Reason::BadForm);
    refuse("kid-relative", &kid_header(json!("#signing-0")), log, named(), Reason::BadDid);
    refuse("kid-without-fragment", &kid_header(json!(did.as_str())), log, named(), Reason::BadDid);
    refuse("kid-a-url", &kid_header(json!("https://example.com/key#1")), log, named(), Reason::BadDid);

    // Keys.
    let count = vectors.len();
    for algorithm in Algorithm::ALL {
        let key = match algorithm {
            Algorithm::MlDsa44 => &log.key,
            Algorithm::MlDsa65 => &main.key,
            Algorithm::MlDsa87 => &large.key,
        };
        vectors.push(json!({
            "id": format!("key-{}", algorithm.http()), "kind": "jwk", "alg": algorithm.jose(),
            "jwk": key.to_jwk(), "multikey": key.to_multikey(),
        }));
    }
    vectors.extend(bad_keys(log));
    assert_eq!((count, vectors.len() - count), (6 + 59, 3 + 31));
    vector_file::committed("jws", vectors, 6 + 59 + 3 + 31);
}

/// A token whose signature has a context that is not empty.
fn other_context(good: &Good) -> String {
    let agent = Agent::from_seed(MasterSeed::from_bytes(&SEED)).deterministic();
    let (input, _) = token(good).rsplit_once('.').unwrap();
    with_signature(good, &encode(agent.key(Role::Log).sign(b"gambeson card v1", input.as_bytes()).unwrap()))
}

fn bad_keys(log: &Good) -> Vec<Value> {
    let mut vectors = Vec::new();
    let good = log.key.to_jwk();
    let public = good["pub"].as_str().unwrap().to_owned();
    let multikey = log.key.to_multikey();
    for (id, name, value) in [
        ("jwk-private", "priv", json!("AA")),
        ("jwk-private-d", "d", json!(null)),
        ("jwk-for-encryption", "use", json!("enc")),
        ("jwk-use-a-list", "use", json!(["sig"])),
        ("jwk-that-signs-alone", "key_ops", json!(["sign"])),
        ("jwk-for-nothing", "key_ops", json!([])),
        ("jwk-key-ops-a-text", "key_ops", json!("verify")),
        ("jwk-key-ops-of-numbers", "key_ops", json!(["verify", 1])),
        ("jwk-key-ops-twice", "key_ops", json!(["verify", "verify"])),
        ("jwk-okp", "kty", json!("OKP")),
        ("jwk-kty-a-number", "kty", json!(1)),
        ("jwk-alg-eddsa", "alg", json!("EdDSA")),
        ("jwk-alg-a-list", "alg", json!(["ML-DSA-44"])),
        ("jwk-alg-larger", "alg", json!("ML-DSA-65")),
        ("jwk-pub-a-number", "pub", json!(1)),
        ("jwk-pub-padded", "pub", json!(format!("{public}=="))),
        ("jwk-pub-longer", "pub", json!(format!("{}AAAA", public))),
        ("jwk-pub-one-byte-more", "pub", json!(encode([0; 1313]))),
        ("jwk-pub-one-byte-less", "pub", json!(encode([0; 1311]))),
        ("jwk-pub-empty", "pub", json!("")),
    ] {
        let mut jwk = good.as_object().unwrap().clone();
        jwk.insert(name.into(), value);
        vectors.push(bad_jwk(id, jwk));
    }
    for name in ["kty", "alg", "pub"] {
        let mut jwk = good.as_object().unwrap().clone();
        jwk.remove(name);
        vectors.push(bad_jwk(&format!("jwk-without-{name}"), jwk));
    }
    let zeros = |codec: [u8; 2], len: usize| format!("u{}", encode([&codec[..], &vec![0; len]].concat()));
    for (id, text) in [
        ("multikey-empty", String::new()),
        ("multikey-base58", format!("z{}", &multikey[1..])),
        ("multikey-padded", format!("{multikey}=")),
        ("multikey-of-one-byte", "ukA".into()),
        ("multikey-ed25519", zeros([0xed, 0x01], 32)),
        ("multikey-ml-kem-768", zeros([0x8c, 0x24], 1184)),
        ("multikey-shorter", zeros([0x90, 0x24], 1311)),
        ("multikey-too-long", zeros([0x92, 0x24], 2595)),
    ] {
        let reason = VerifyingKey::from_multikey(&text).unwrap_err().reason();
        vectors.push(json!({
            "id": id, "kind": "multikey", "multikey": text, "result": "reject", "reason": reason.code(),
        }));
    }
    vectors
}

fn bad_jwk(id: &str, jwk: Map<String, Value>) -> Value {
    let reason = VerifyingKey::from_jwk(&jwk).unwrap_err().reason();
    json!({"id": id, "kind": "jwk", "jwk": jwk, "result": "reject", "reason": reason.code()})
}
