//! `vectors/vc-jwt.json`: credentials and presentations as tokens, good and bad.

use crate::vector_file;
use crate::world::{DAY, NOW, World, expect, forge, judge, map};
use base64ct::{Base64UrlUnpadded, Encoding};
use gambeson_identity::jose::Jws;
use gambeson_identity::vc::data_integrity;
use gambeson_identity::vc::{
    Binding, Credential, Presentation, Request, Status, StatusStore, UNDEFINED_TERMS,
};
use gambeson_identity::{Did, Role, Timestamp};
use serde_json::{Value, json};

const AUDIENCE: &str = "https://verifier.example";
const NONCE: &str = "n-0S6_WzA2Mj";

/// A credential of the issuer's about the holder.
fn credential(world: &World) -> Value {
    json!({
        "@context": ["https://www.w3.org/ns/credentials/v2", UNDEFINED_TERMS],
        "id": "https://issuer.example/credentials/1",
        "type": ["VerifiableCredential", "MayReadMailCredential"],
        "issuer": world.issuer.did().as_str(),
        "validFrom": NOW.to_string(),
        "validUntil": NOW.after(DAY).to_string(),
        "credentialSubject": {"id": world.holder.did().as_str(), "mailbox": "support"},
    })
}

fn with(mut value: Value, members: Value) -> Value {
    for (name, member) in map(members) {
        match member {
            Value::Null => drop(value.as_object_mut().unwrap().remove(&name)),
            member => value[name] = member,
        }
    }
    value
}

fn credentials(world: &World) -> Vec<Value> {
    let (issuer, good) = (&world.issuer, credential(world));
    let header = || json!({"typ": "vc+jwt", "cty": "vc"});
    let signed = |payload: &Value| forge(issuer, Role::Signing, header(), payload.to_string().as_bytes());
    let headed = |header: Value| forge(issuer, Role::Signing, header, good.to_string().as_bytes());
    let token = signed(&good);
    let mut vectors = Vec::new();
    let mut add = |id: &str, token: String, now: Timestamp, reason: Option<&str>| {
        let vector = json!({"id": id, "kind": "credential", "token": token, "now": now.0});
        vectors.push(expect(vector, reason));
    };
    let plain = |members: Value| signed(&with(good.clone(), members));

    let built = Credential::builder()
        .kind("MayReadMailCredential")
        .subject(json!({"id": world.holder.did().as_str(), "mailbox": "support"}))
        .valid(NOW, NOW.after(DAY));
    add("credential", built.clone().issue(issuer).unwrap(), NOW, None);
    let cnsa2 = built.issue(&world.cnsa2).unwrap();
    add("credential-cnsa2", cnsa2, NOW.after(DAY), None);
    add("credential-without-times", plain(json!({"validFrom": null, "validUntil": null})), NOW, None);
    let full = json!({
        "name": [{"@value": "Mail", "@language": "en"}, {"@value": "Post", "@language": "de", "@direction": "ltr"}],
        "description": "Reads the mail of support",
        "issuer": {"id": issuer.did().as_str(), "name": "Issuer"},
        "credentialSubject": [{"id": world.holder.did().as_str(), "a": 1}, {"b": [true, null, 1.5]}],
        "credentialSchema": {"id": "https://issuer.example/schema", "type": "JsonSchema"},
        "evidence": [{"type": "Interview"}],
        "refreshService": {"type": "Ask", "id": "https://issuer.example/refresh"},
        "termsOfUse": {"type": "Policy"},
        "relatedResource": {"id": "https://issuer.example/logo", "mediaType": "image/png",
            "digestSRI": "sha384-oqVuAfXRKap7fdgcCY5uykM6+R9GqQ8K/uxy9rx7HNQlGYl1kPzQho1wx4JwY8wC"},
    });
    add("credential-with-every-member", plain(full), NOW, None);
    let repeated = json!({
        "iss": issuer.did().as_str(), "sub": world.holder.did().as_str(), "jti": "https://issuer.example/credentials/1",
        "iat": NOW.0, "nbf": NOW.0, "exp": NOW.0 + DAY,
    });
    add("registered-claims-that-agree", plain(repeated), NOW, None);
    let with_media_type = json!({"typ": "application/VC+JWT", "iss": issuer.did().as_str()});
    add("type-with-application-and-issuer-in-the-header", headed(with_media_type), NOW, None);
    let key = Did::from_key(&issuer.key(Role::Signing).verifying_key());
    let by_key = with(good.clone(), json!({"issuer": key.as_str(), "validUntil": null}));
    let kid = format!("{key}#{}-jwk", key.method_specific_id());
    let by_key = forge(
        issuer,
        Role::Signing,
        json!({"typ": "vc+jwt", "cty": "vc", "kid": kid}),
        by_key.to_string().as_bytes(),
    );
    add("issued-by-did-key", by_key, NOW, None);
    add("at-its-last-second", token.clone(), NOW.after(DAY), None);

    add("two-parts", token.rsplit_once('.').unwrap().0.to_owned(), NOW, Some("bad-form"));
    add("padding", format!("{}=", token), NOW, Some("bad-encoding"));
    let twice = good.to_string().replacen("{\"", "{\"id\":\"urn:a:b\",\"", 1);
    add("member-twice", forge(issuer, Role::Signing, header(), twice.as_bytes()), NOW, Some("bad-json"));
    add("payload-is-a-list", forge(issuer, Role::Signing, header(), b"[]"), NOW, Some("bad-form"));
    let small = forge(
        issuer,
        Role::DataIntegrity,
        json!({"typ": "vc+jwt", "cty": "vc"}),
        good.to_string().as_bytes(),
    );
    add("signed-with-ml-dsa-44", small, NOW, Some("bad-algorithm"));
    add("type-of-a-presentation", headed(json!({"typ": "vp+jwt", "cty": "vc"})), NOW, Some("bad-type"));
    add("type-missing", headed(json!({"cty": "vc"})), NOW, Some("bad-type"));
    add(
        "content-type-of-a-presentation",
        headed(json!({"typ": "vc+jwt", "cty": "vp"})),
        NOW,
        Some("bad-type"),
    );
    add("critical-header", headed(json!({"typ": "vc+jwt", "crit": ["x"], "x": 1})), NOW, Some("bad-form"));
    let jwk = issuer.key(Role::Signing).verifying_key().to_jwk();
    add("key-in-the-header", headed(json!({"typ": "vc+jwt", "jwk": jwk})), NOW, Some("bad-form"));
    add("no-key-named", headed(json!({"typ": "vc+jwt", "kid": null})), NOW, Some("bad-form"));
    add("relative-key-url", headed(json!({"typ": "vc+jwt", "kid": "#signing-1"})), NOW, Some("bad-did"));
    let iss = json!({"typ": "vc+jwt", "iss": world.holder.did().as_str()});
    add("issuer-in-the-header-contradicts", headed(iss), NOW, Some("bad-form"));
    for (id, members) in [
        ("claim-vc", json!({"vc": {}})),
        ("claim-vp", json!({"vp": {}})),
        ("iss-contradicts", json!({"iss": world.holder.did().as_str()})),
        ("sub-contradicts", json!({"sub": issuer.did().as_str()})),
        ("jti-contradicts", json!({"jti": "https://issuer.example/credentials/2"})),
        ("nbf-contradicts", json!({"nbf": NOW.0 - 1})),
        ("exp-contradicts", json!({"exp": NOW.0 + DAY + 1})),
        ("no-context", json!({"@context": null})),
        ("no-type", json!({"type": null})),
        ("no-subject", json!({"credentialSubject": null})),
        ("valid-until-before-valid-from", json!({"validUntil": Timestamp(NOW.0 - 1).to_string()})),
    ] {
        add(id, plain(members), NOW, Some("bad-form"));
    }
    add("issuer-is-no-did", plain(json!({"issuer": "https://issuer.example"})), NOW, Some("bad-did"));
    add("time-without-offset", plain(json!({"validFrom": "2026-11-22T07:00:00"})), NOW, Some("bad-time"));
    add("exp-is-text", plain(json!({"exp": "soon"})), NOW, Some("bad-time"));
    add(
        "issuer-is-another",
        plain(json!({"issuer": world.holder.did().as_str()})),
        NOW,
        Some("wrong-issuer"),
    );
    let stranger = with(good.clone(), json!({"issuer": world.stranger.did().as_str()}));
    let stranger = forge(&world.stranger, Role::Signing, header(), stranger.to_string().as_bytes());
    add("issuer-is-unknown", stranger, NOW, Some("unknown-did"));
    let kid =
        |fragment: &str| json!({"typ": "vc+jwt", "cty": "vc", "kid": issuer.did().url(fragment).to_string()});
    add("key-is-unknown", headed(kid("signing-2")), NOW, Some("unknown-key"));
    add("key-was-revoked", headed(kid("signing-0")), NOW, Some("key-revoked"));
    let identity = forge(issuer, Role::Identity, header(), good.to_string().as_bytes());
    add("key-for-authentication", identity, NOW, Some("wrong-purpose"));
    add("key-for-data-integrity", headed(kid("data-integrity-0")), NOW, Some("wrong-purpose"));
    let mut parts = token.split('.');
    let (head, _, signature) = (parts.next().unwrap(), parts.next(), parts.next().unwrap());
    let other = plain(json!({"credentialSubject": {"id": world.holder.did().as_str(), "mailbox": "ceo"}}));
    let spliced = format!("{head}.{}.{signature}", other.split('.').nth(1).unwrap());
    add("another-payload", spliced, NOW, Some("bad-signature"));
    add("before-its-time", token.clone(), Timestamp(NOW.0 - 1), Some("not-yet-valid"));
    add("after-its-time", token, NOW.after(DAY + 1), Some("expired"));
    let without = json!({"validFrom": null, "validUntil": null});
    let timed = |members: Value| signed(&with(with(good.clone(), without.clone()), members));
    add("before-nbf", timed(json!({"nbf": NOW.0 + 1})), NOW, Some("not-yet-valid"));
    add("after-exp", timed(json!({"exp": NOW.0 - 1})), NOW, Some("expired"));
    add("signed-in-the-future", timed(json!({"iat": NOW.0 + 61})), NOW, Some("not-yet-valid"));
    add("signed-by-a-clock-ahead", timed(json!({"iat": NOW.0 + 60})), NOW, None);
    for (id, token, reason) in older_claims(world) {
        add(&format!("older-claims-{id}"), token, NOW, reason);
    }
    vectors
}

/// Claims of the data model 1.1, of RFC 7519 and of token status lists beside those of the data model 2.0.
fn older_claims(world: &World) -> Vec<(&'static str, String, Option<&'static str>)> {
    let claimed = |members: Value| {
        let payload = with(credential(world), members).to_string();
        forge(&world.issuer, Role::Signing, json!({"typ": "vc+jwt", "cty": "vc"}), payload.as_bytes())
    };
    let (before, after) = (Timestamp(NOW.0 - 1).to_string(), NOW.after(1).to_string());
    [
        ("expiration-date-to-come", json!({"issuanceDate": before, "expirationDate": after}), None),
        ("expiration-date-past", json!({"expirationDate": before}), Some("expired")),
        (
            "expiration-date-past-alone",
            json!({"expirationDate": before, "validFrom": null, "validUntil": null}),
            Some("expired"),
        ),
        ("issuance-date-to-come", json!({"issuanceDate": after}), Some("not-yet-valid")),
        ("expiration-date-is-no-time", json!({"expirationDate": "soon"}), Some("bad-time")),
        ("issuance-date-is-a-number", json!({"issuanceDate": 1}), Some("bad-time")),
        // Nobody is an audience of a credential by itself.
        ("audience", json!({"aud": "https://b.example"}), Some("wrong-audience")),
        ("audience-in-a-list", json!({"aud": ["https://b.example"]}), Some("wrong-audience")),
        ("audience-that-is-no-text", json!({"aud": 1}), Some("wrong-audience")),
        (
            "token-status-list",
            json!({"status": {"status_list": {"idx": 1, "uri": "https://a.example"}}}),
            Some("unknown-status"),
        ),
    ]
    .map(|(id, members, reason)| (id, claimed(members), reason))
    .into()
}

fn presentations(world: &World) -> Vec<Value> {
    let (holder, issuer) = (&world.holder, &world.issuer);
    let token = Credential::builder()
        .subject(json!({"id": holder.did().as_str(), "mailbox": "support"}))
        .valid(NOW, NOW.after(DAY))
        .issue(issuer)
        .unwrap();
    let about_another = Credential::builder().subject(json!({"id": issuer.did().as_str(), "a": 1}));
    let about_another = about_another.issue(issuer).unwrap();
    let embedded = Credential::builder().subject(json!({"id": holder.did().as_str(), "b": 2}));
    let embedded = Value::Object(embedded.issue_with_proof(issuer, NOW).unwrap()).to_string();
    let shown = |tokens: &[&str]| Presentation::sign(holder, tokens, AUDIENCE, NONCE, NOW).unwrap();
    let enveloped = |token: &str, media: &str| {
        json!({
            "@context": ["https://www.w3.org/ns/credentials/v2"],
            "type": "EnvelopedVerifiableCredential",
            "id": format!("data:{media},{token}"),
        })
    };
    let good = json!({
        "@context": ["https://www.w3.org/ns/credentials/v2"],
        "type": ["VerifiablePresentation"],
        "holder": holder.did().as_str(),
        "verifiableCredential": [enveloped(&token, "application/vc+jwt")],
        "aud": AUDIENCE, "nonce": NONCE, "iat": NOW.0,
    });
    let header = || json!({"typ": "vp+jwt", "cty": "vp"});
    let signed = |members: Value| {
        forge(holder, Role::Identity, header(), with(good.clone(), members).to_string().as_bytes())
    };
    let mut vectors = Vec::new();
    let mut add = |id: &str, token: String, binding: Binding, now: Timestamp, reason: Option<&str>| {
        let vector = json!({
            "id": id, "kind": "presentation", "token": token, "now": now.0, "audience": AUDIENCE, "nonce": NONCE,
            "maxAge": 120, "binding": match binding { Binding::Subject => "subject", Binding::Bearer => "bearer" },
        });
        vectors.push(expect(vector, reason));
    };
    use Binding::{Bearer, Subject};
    add("presentation", shown(&[&token]), Subject, NOW.after(120), None);
    add("presentation-of-two-forms", shown(&[&token, &embedded]), Subject, NOW, None);
    add("presentation-of-nothing", shown(&[]), Subject, NOW, None);
    add("presentation-by-a-bearer", shown(&[&about_another]), Bearer, NOW, None);
    add("holder-in-an-object", signed(json!({"holder": {"id": holder.did().as_str()}})), Subject, NOW, None);

    add("subject-is-another", shown(&[&token, &about_another]), Subject, NOW, Some("wrong-holder"));
    add(
        "holder-is-another",
        signed(json!({"holder": issuer.did().as_str()})),
        Subject,
        NOW,
        Some("wrong-holder"),
    );
    add("presentation-too-old", shown(&[&token]), Subject, NOW.after(121), Some("expired"));
    add(
        "presentation-from-the-future",
        signed(json!({"iat": NOW.0 + 61})),
        Subject,
        NOW,
        Some("not-yet-valid"),
    );
    add("presentation-expired", signed(json!({"exp": NOW.0 - 1})), Subject, NOW, Some("expired"));
    add(
        "audience-is-another",
        signed(json!({"aud": "https://b.example"})),
        Subject,
        NOW,
        Some("wrong-audience"),
    );
    add("audience-is-a-list", signed(json!({"aud": [AUDIENCE]})), Subject, NOW, Some("wrong-audience"));
    add("nonce-is-another", signed(json!({"nonce": "another"})), Subject, NOW, Some("wrong-nonce"));
    add("nonce-is-missing", signed(json!({"nonce": null})), Subject, NOW, Some("wrong-nonce"));
    add("iat-is-missing", signed(json!({"iat": null})), Subject, NOW, Some("bad-form"));
    add(
        "iss-contradicts-the-holder",
        signed(json!({"iss": issuer.did().as_str()})),
        Subject,
        NOW,
        Some("bad-form"),
    );
    add("presentation-with-claim-vp", signed(json!({"vp": {}})), Subject, NOW, Some("bad-form"));
    add("no-holder", signed(json!({"holder": null})), Subject, NOW, None);
    add(
        "no-holder-and-an-issuer",
        signed(json!({"holder": null, "iss": holder.did().as_str()})),
        Subject,
        NOW,
        None,
    );
    let another = json!({"holder": null, "iss": issuer.did().as_str()});
    add("no-holder-and-another-issuer", signed(another), Subject, NOW, Some("bad-form"));
    let another =
        json!({"holder": null, "verifiableCredential": enveloped(&about_another, "application/vc+jwt")});
    add(
        "no-holder-and-a-subject-that-is-another",
        signed(another.clone()),
        Subject,
        NOW,
        Some("wrong-holder"),
    );
    add("no-holder-and-a-bearer", signed(another), Bearer, NOW, None);
    let own = with(credential(world), json!({"issuer": holder.did().as_str()}));
    let own = json!({"holder": null, "verifiableCredential": own});
    add("no-holder-and-a-credential-that-nobody-signed", signed(own), Subject, NOW, Some("bad-form"));
    add("holder-without-id", signed(json!({"holder": {"name": "Holder"}})), Subject, NOW, Some("bad-form"));
    add("holder-is-no-did", signed(json!({"holder": "https://a.example"})), Subject, NOW, Some("bad-did"));
    let text = with(
        enveloped(&token, "application/vc+jwt"),
        json!({"@context": "https://www.w3.org/ns/credentials/v2"}),
    );
    add("context-of-an-envelope-is-text", signed(json!({"verifiableCredential": text})), Subject, NOW, None);
    let for_verifier = |audience: Value| {
        let claims = json!({"@context": ["https://www.w3.org/ns/credentials/v2"], "type": ["VerifiableCredential"],
            "issuer": issuer.did().as_str(), "credentialSubject": {"id": holder.did().as_str()}, "aud": audience});
        let token = forge(
            issuer,
            Role::Signing,
            json!({"typ": "vc+jwt", "cty": "vc"}),
            claims.to_string().as_bytes(),
        );
        signed(json!({"verifiableCredential": enveloped(&token, "application/vc+jwt")}))
    };
    add("credential-for-this-verifier", for_verifier(AUDIENCE.into()), Subject, NOW, None);
    add(
        "credential-for-this-verifier-too",
        for_verifier(json!(["https://b.example", AUDIENCE])),
        Subject,
        NOW,
        None,
    );
    add(
        "credential-for-another-verifier",
        for_verifier("https://b.example".into()),
        Subject,
        NOW,
        Some("wrong-audience"),
    );
    let signing = forge(holder, Role::Signing, header(), good.to_string().as_bytes());
    add("signed-with-a-key-for-claims", signing, Subject, NOW, Some("wrong-purpose"));
    let typed = forge(holder, Role::Identity, json!({"typ": "vc+jwt"}), good.to_string().as_bytes());
    add("type-of-a-credential", typed, Subject, NOW, Some("bad-type"));
    let media = json!({"verifiableCredential": enveloped(&token, "application/jwt")});
    add("media-type-is-another", signed(media), Subject, NOW, Some("bad-type"));
    let hidden = json!({"verifiableCredential": enveloped(&embedded, "application/vc+jwt")});
    add("credential-with-a-proof-in-place-of-a-token", signed(hidden), Subject, NOW, Some("bad-form"));
    let text = json!({"verifiableCredential": [token]});
    add("credential-is-text", signed(text), Subject, NOW, Some("bad-form"));
    let mut parts = token.split('.').map(str::to_owned).collect::<Vec<_>>();
    let other = about_another.split('.').nth(1).unwrap().to_owned();
    parts[1] = other;
    let spliced = json!({"verifiableCredential": enveloped(&parts.join("."), "application/vc+jwt")});
    add("credential-with-another-payload", signed(spliced), Subject, NOW, Some("bad-signature"));
    let own = with(credential(world), json!({"issuer": holder.did().as_str()}));
    add(
        "credential-that-nobody-signed",
        signed(json!({"verifiableCredential": own})),
        Subject,
        NOW,
        Some("unsecured"),
    );
    let foreign = json!({"verifiableCredential": credential(world)});
    add("unsecured-credential-of-another", signed(foreign), Subject, NOW, Some("bad-form"));
    let late = signed(json!({"iat": NOW.0 + DAY + 1}));
    add("credential-inside-expired", late, Subject, NOW.after(DAY + 1), Some("expired"));
    let shown = shown(&[&token]);
    let (input, _) = shown.rsplit_once('.').unwrap();
    let (_, signature) = typed_signature(&signed(json!({"nonce": "x"})));
    add(
        "presentation-with-another-signature",
        format!("{input}.{signature}"),
        Subject,
        NOW,
        Some("bad-signature"),
    );
    vectors
}

/// Presentations with a proof inside, by a `did:key`: agents have no such key for authentication.
fn embedded_presentations(world: &World) -> Vec<Value> {
    let (holder, issuer) = (&world.holder, &world.issuer);
    let key = Did::from_key(&holder.key(Role::DataIntegrity).verifying_key());
    let method = format!("{key}#{}", key.method_specific_id());
    let token =
        |about: &str| Credential::builder().subject(json!({"id": about, "a": 1})).issue(issuer).unwrap();
    let enveloped = |token: String| {
        json!({
            "@context": ["https://www.w3.org/ns/credentials/v2"],
            "type": "EnvelopedVerifiableCredential",
            "id": format!("data:application/vc+jwt,{token}"),
        })
    };
    let good = json!({
        "@context": ["https://www.w3.org/ns/credentials/v2"],
        "type": ["VerifiablePresentation"],
        "holder": key.as_str(),
        "verifiableCredential": [enveloped(token(key.as_str()))],
    });
    // Signs a presentation and proof options with changes; `null` takes a member away.
    let signed = |document: Value, options: Value| {
        let document = map(with(good.clone(), document));
        let proof = json!({
            "type": "DataIntegrityProof", "cryptosuite": data_integrity::CRYPTOSUITE, "created": NOW.to_string(),
            "verificationMethod": method, "proofPurpose": "authentication", "domain": AUDIENCE, "challenge": NONCE,
            "@context": good["@context"],
        });
        let mut proof = map(with(proof, options));
        let hash = data_integrity::hash_data(&proof, &document).unwrap();
        let signature = holder.key(Role::DataIntegrity).sign(b"", &hash).unwrap();
        proof
            .insert("proofValue".into(), format!("u{}", Base64UrlUnpadded::encode_string(&signature)).into());
        let mut document = Value::from(document);
        document["proof"] = proof.into();
        document
    };
    let plain = || signed(json!({}), json!({}));
    // Another proof before ours, which nobody verifies.
    let beside = |mut document: Value, members: Value| {
        let other = with(json!({"type": "DataIntegrityProof", "cryptosuite": "eddsa-jcs-2022"}), members);
        document["proof"] = json!([other, document["proof"]]);
        document
    };
    let old = json!({"created": Timestamp(NOW.0 - 121).to_string()});
    let elsewhere = json!({"domain": "https://b.example"});
    let again = json!({"challenge": "another"});
    let unsecured = with(plain(), json!({"proof": null}));
    let about_another = json!({"verifiableCredential": enveloped(token(issuer.did().as_str()))});
    let mut unnamed = about_another.clone();
    unnamed["holder"] = Value::Null;
    let changed = with(plain(), json!({"verifiableCredential": enveloped(token(key.as_str()) + "A")}));
    let late = NOW.after(121);
    [
        ("a-proof-inside", plain(), NOW.after(120), None),
        ("a-proof-and-no-holder", signed(json!({"holder": null}), json!({})), NOW, None),
        ("a-proof-and-no-holder-of-the-credential", signed(unnamed, json!({})), NOW, Some("wrong-holder")),
        ("a-proof-beside-another", beside(plain(), json!({})), NOW, None),
        ("a-proof-for-several-domains", signed(json!({}), json!({"domain": ["https://b.example", AUDIENCE]})), NOW, None),
        ("a-proof-too-old", plain(), late, Some("expired")),
        ("a-proof-too-old-beside-a-fresh-one", beside(plain(), json!({"created": late.to_string()})), late, Some("expired")),
        ("an-old-proof-beside-a-fresh-one", beside(signed(json!({}), old), json!({"created": NOW.to_string()})), NOW, Some("expired")),
        ("a-proof-from-the-future", signed(json!({}), json!({"created": NOW.after(61).to_string()})), NOW, Some("not-yet-valid")),
        ("a-proof-without-time", signed(json!({}), json!({"created": null})), NOW, Some("bad-form")),
        ("no-time-beside-one-that-has-it", beside(signed(json!({}), json!({"created": null})), json!({"created": NOW.to_string()})), NOW, Some("bad-form")),
        ("a-proof-for-another-domain", signed(json!({}), elsewhere.clone()), NOW, Some("wrong-audience")),
        ("the-domain-beside-the-proof", beside(signed(json!({}), elsewhere), json!({"domain": AUDIENCE})), NOW, Some("wrong-audience")),
        ("a-proof-of-another-challenge", signed(json!({}), again.clone()), NOW, Some("wrong-nonce")),
        ("the-challenge-beside-the-proof", beside(signed(json!({}), again), json!({"challenge": NONCE})), NOW, Some("wrong-nonce")),
        ("a-proof-for-claims", signed(json!({}), json!({"proofPurpose": "assertionMethod"})), NOW, Some("wrong-purpose")),
        ("a-proof-by-another", signed(json!({"holder": issuer.did().as_str()}), json!({})), NOW, Some("wrong-holder")),
        ("no-proof-inside", unsecured, NOW, Some("unsecured")),
        ("a-proof-of-something-else", changed, NOW, Some("bad-signature")),
        ("a-proof-and-a-credential-of-another", signed(about_another, json!({})), NOW, Some("wrong-holder")),
    ]
    .into_iter()
    .map(|(id, document, now, reason)| {
        let vector = json!({
            "id": format!("presentation-with-{id}"), "kind": "presentation", "token": document.to_string(), "now": now.0,
            "audience": AUDIENCE, "nonce": NONCE, "maxAge": 120, "binding": "subject",
        });
        expect(vector, reason)
    })
    .collect()
}

fn typed_signature(token: &str) -> (String, String) {
    let (input, signature) = token.rsplit_once('.').unwrap();
    (input.to_owned(), signature.to_owned())
}

#[test]
fn the_vectors_of_tokens_hold() {
    let world = World::new();
    let lists = StatusStore::default();
    let mut vectors = world.logs(&["issuer", "holder", "cnsa2"]);
    let presented = presentations(&world).into_iter().chain(embedded_presentations(&world));
    for mut vector in credentials(&world).into_iter().chain(presented) {
        let (token, now) =
            (vector["token"].as_str().unwrap().to_owned(), Timestamp(vector["now"].as_u64().unwrap()));
        let status = Status::Required(&lists);
        if vector["kind"] == "credential" {
            if let Some(found) = judge(&vector, Credential::verify(&token, &world.cards, now, status)) {
                vector["signer"] = found.signer().to_string().into();
                vector["payload"] = Value::Object(found.json().clone());
                assert_eq!(found.issuer(), found.signer().did());
            }
        } else {
            let binding = if vector["binding"] == "subject" { Binding::Subject } else { Binding::Bearer };
            let request = Request { audience: AUDIENCE, nonce: NONCE, max_age: 120, binding };
            let found = Presentation::verify(&token, &world.cards, now, &request, status);
            if let Some(found) = judge(&vector, found) {
                vector["signer"] = found.signer().to_string().into();
                vector["credentials"] = found.credentials().len().into();
            }
        }
        vectors.push(vector);
    }
    vector_file::committed("vc-jwt", vectors, 120);
}

#[test]
fn a_token_is_written_as_the_profile_says() {
    let world = World::new();
    let token = Credential::builder().subject(json!({"id": "urn:a:b"})).issue(&world.issuer).unwrap();
    let jws = Jws::parse(&token, 1 << 16).unwrap();
    let kid = world.issuer.key_url(Role::Signing).to_string();
    assert_eq!(
        Value::Object(jws.header().clone()),
        json!({"alg": "ML-DSA-65", "cty": "vc", "kid": kid, "typ": "vc+jwt"})
    );
    let payload: Value = serde_json::from_slice(jws.payload_unverified()).unwrap();
    assert!(payload.get("vc").is_none() && payload["issuer"] == world.issuer.did().as_str());
}
