//! `vectors/data-integrity.json`: proofs inside JSON, good and bad; and the vectors of the W3C draft.

use crate::vector_file;
use crate::world::{DAY, NOW, World, expect, judge, map};
use gambeson_identity::vc::data_integrity::{
    Expected, ProofOptions, hash_data, sign, verify, verify_with_key,
};
use gambeson_identity::vc::{Binding, Credential, Presentation, Request, Status, StatusStore};
use gambeson_identity::{Did, Error, Reason, Relationship, Role, Timestamp, VerifyingKey, json as strict};
use serde_json::{Map, Value, json};
use std::path::Path;

fn w3c(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/w3c").join(name);
    std::fs::read_to_string(path).unwrap()
}

#[test]
fn the_vector_of_the_w3c_draft_verifies_hash_by_hash() {
    let signed = map(serde_json::from_str(&w3c("signed-mldsa44-jcs-2024.json")).unwrap());
    let mut document = signed.clone();
    let mut options = map(document.remove("proof").unwrap());
    assert!(options.remove("proofValue").is_some());
    options.insert("@context".into(), document["@context"].clone());
    let canonical = |object: &Map<String, Value>| {
        String::from_utf8(strict::canonicalize_object(object).unwrap()).unwrap()
    };
    assert_eq!(canonical(&options), w3c("proofConfig-mldsa44-jcs-2024.txt").trim());
    assert_eq!(canonical(&document), w3c("transform-jcs-sha256.txt").trim());
    let hashes: Value = serde_json::from_str(&w3c("hashing-combined.json")).unwrap();
    let hex: String =
        hash_data(&options, &document).unwrap().iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(hashes["mldsa44-jcs-2024"], hex);
    let method = options["verificationMethod"].as_str().unwrap();
    let key = VerifyingKey::from_multikey(method.strip_prefix("did:key:").unwrap()).unwrap();
    assert_eq!(verify_with_key(&signed, &key).unwrap(), document);
    let mut changed = signed;
    changed["name"] = "x".into();
    assert_eq!(verify_with_key(&changed, &key).unwrap_err().reason(), Reason::BadSignature);
}

fn vectors(world: &World) -> Vec<Value> {
    let (issuer, holder) = (&world.issuer, &world.holder);
    let draft = || {
        Credential::builder()
            .id("https://issuer.example/credentials/1")
            .subject(json!({"id": holder.did().as_str(), "mailbox": "support"}))
            .valid(NOW, NOW.after(DAY))
    };
    let good = draft().issue_with_proof(issuer, NOW).unwrap();
    let unsigned = || {
        let mut document = good.clone();
        document.remove("proof");
        document
    };
    let signed = |options: &ProofOptions| sign(issuer, unsigned(), options).unwrap();
    let assertion = ProofOptions::assertion(NOW);
    let with = |change: &dyn Fn(&mut Map<String, Value>)| {
        let mut document = good.clone();
        change(&mut document);
        document
    };
    let proof = |name: &str, value: Value| {
        with(&|document| match &value {
            Value::Null => drop(document["proof"].as_object_mut().unwrap().remove(name)),
            value => document["proof"][name] = value.clone(),
        })
    };
    // Signs whatever proof options, with the issuer's key for Data Integrity unless another is named.
    let forged = |members: Value, role: Role| {
        let mut document = unsigned();
        let mut options = map(good["proof"].clone());
        options.remove("proofValue");
        options.extend(map(members));
        options.retain(|_, value| !value.is_null());
        let signature = issuer.key(role).sign(b"", &hash_data(&options, &document).unwrap()).unwrap();
        let value = format!("u{}", base64(&signature));
        options.insert("proofValue".into(), value.into());
        document.insert("proof".into(), options.into());
        document
    };
    let mut out = Vec::new();
    let mut add = |id: &str, document: Map<String, Value>, now: Timestamp, reason: Option<&str>| {
        out.push(expect(json!({"id": id, "kind": "credential", "document": document, "now": now.0}), reason));
    };
    add("credential", good.clone(), NOW, None);
    let expiring = ProofOptions { expires: Some(NOW.after(60)), ..assertion.clone() };
    add("proof-that-ends", signed(&expiring), NOW.after(60), None);
    add("without-created", forged(json!({"created": null}), Role::DataIntegrity), NOW, None);
    add("contexts-left-out-of-the-proof", without_context(&forged, &good), NOW, None);
    let appended = with(&|document| {
        document["@context"].as_array_mut().unwrap().push("https://more.example/context".into());
    });
    add("contexts-that-go-on", appended, NOW, None);
    let set = with(&|document| {
        let ours = document["proof"].clone();
        document["proof"] = json!([{"type": "DataIntegrityProof", "cryptosuite": "eddsa-jcs-2022"}, ours]);
    });
    add("set-of-proofs", set, NOW, None);
    let key = Did::from_key(&issuer.key(Role::DataIntegrity).verifying_key());
    let method = format!("{key}#{}", key.method_specific_id());
    let mut by_key = unsigned();
    by_key.insert("issuer".into(), key.as_str().into());
    let mut options = map(good["proof"].clone());
    options.remove("proofValue");
    options.insert("verificationMethod".into(), method.into());
    let signature =
        issuer.key(Role::DataIntegrity).sign(b"", &hash_data(&options, &by_key).unwrap()).unwrap();
    options.insert("proofValue".into(), format!("u{}", base64(&signature)).into());
    by_key.insert("proof".into(), options.into());
    add("issued-by-did-key", by_key, NOW, None);

    add("no-proof", unsigned(), NOW, Some("unsecured"));
    add(
        "proof-of-another-cryptosuite",
        proof("cryptosuite", "mldsa44-rdfc-2024".into()),
        NOW,
        Some("unsecured"),
    );
    let twice = with(&|document| {
        let ours = document["proof"].clone();
        document["proof"] = json!([ours.clone(), ours]);
    });
    add("two-proofs", twice, NOW, Some("bad-form"));
    add("chain-of-proofs", proof("previousProof", "urn:a:b".into()), NOW, Some("bad-form"));
    add("proof-of-another-type", proof("type", "https://example.com/Proof".into()), NOW, Some("bad-type"));
    add("proof-without-type", proof("type", Value::Null), NOW, Some("bad-form"));
    add("purpose-is-another", proof("proofPurpose", "authentication".into()), NOW, Some("wrong-purpose"));
    add("purpose-is-missing", proof("proofPurpose", Value::Null), NOW, Some("wrong-purpose"));
    add("created-is-no-time", proof("created", "yesterday".into()), NOW, Some("bad-time"));
    add("domain-that-nobody-expects", proof("domain", "a.example".into()), NOW, Some("wrong-audience"));
    add("challenge-that-nobody-expects", proof("challenge", "1".into()), NOW, Some("wrong-nonce"));
    add("no-method", proof("verificationMethod", Value::Null), NOW, Some("bad-form"));
    add(
        "method-without-fragment",
        proof("verificationMethod", issuer.did().as_str().into()),
        NOW,
        Some("bad-did"),
    );
    let method = |agent: &gambeson_identity::Agent, role| Value::from(agent.key_url(role).to_string());
    let unknown = method(&world.stranger, Role::DataIntegrity);
    add("method-of-a-stranger", proof("verificationMethod", unknown), NOW, Some("unknown-did"));
    add(
        "method-for-tokens",
        proof("verificationMethod", method(issuer, Role::Signing)),
        NOW,
        Some("wrong-purpose"),
    );
    let log = method(issuer, Role::Log);
    add("method-for-logs", proof("verificationMethod", log), NOW, Some("wrong-purpose"));
    let missing = Value::from(issuer.did().url("data-integrity-1").to_string());
    add("method-that-is-not-there", proof("verificationMethod", missing), NOW, Some("unknown-key"));
    add("no-value", proof("proofValue", Value::Null), NOW, Some("bad-form"));
    add("value-in-another-base", proof("proofValue", "z2345".into()), NOW, Some("bad-encoding"));
    add("value-too-short", proof("proofValue", "uAAAA".into()), NOW, Some("bad-signature"));
    add(
        "changed-claim",
        with(&|it| it["credentialSubject"]["mailbox"] = "ceo".into()),
        NOW,
        Some("bad-signature"),
    );
    add("changed-proof", proof("created", NOW.after(1).to_string().into()), NOW, Some("bad-signature"));
    let contexts = with(&|it| drop(it["@context"].as_array_mut().unwrap().pop()));
    add("contexts-that-the-proof-has-not", contexts, NOW, Some("bad-form"));
    let mut claimed = draft().issue_with_proof(holder, NOW).unwrap();
    claimed["issuer"] = issuer.did().as_str().into();
    claimed.remove("proof");
    let claimed = sign(holder, claimed, &assertion).unwrap();
    add("issuer-is-another", claimed, NOW, Some("wrong-issuer"));
    add("log-key-signed", forged(json!({}), Role::Log), NOW, Some("bad-signature"));
    add("proof-from-the-future", signed(&ProofOptions::assertion(NOW.after(61))), NOW, Some("not-yet-valid"));
    add("proof-expired", signed(&expiring), NOW.after(61), Some("expired"));
    add("credential-expired", good.clone(), NOW.after(DAY + 1), Some("expired"));
    add("credential-before-its-time", good, Timestamp(NOW.0 - 1), Some("not-yet-valid"));
    out
}

/// A proof as the published vectors have it: the contexts are signed with the options, and do not stand among them.
fn without_context(
    forged: &dyn Fn(Value, Role) -> Map<String, Value>,
    good: &Map<String, Value>,
) -> Map<String, Value> {
    let mut document = forged(json!({"@context": good["@context"]}), Role::DataIntegrity);
    document["proof"].as_object_mut().unwrap().remove("@context");
    document
}

fn base64(bytes: &[u8]) -> String {
    use base64ct::{Base64UrlUnpadded, Encoding};
    Base64UrlUnpadded::encode_string(bytes)
}

#[test]
fn the_vectors_of_proofs_hold() {
    let world = World::new();
    let lists = StatusStore::default();
    let mut all = world.logs(&["issuer", "holder"]);
    for mut vector in vectors(&world) {
        let now = Timestamp(vector["now"].as_u64().unwrap());
        let found =
            Credential::verify(&vector["document"].to_string(), &world.cards, now, Status::Required(&lists));
        if let Some(found) = judge(&vector, found) {
            vector["signer"] = found.signer().to_string().into();
        }
        all.push(vector);
    }
    let draft: Value = serde_json::from_str(&w3c("signed-mldsa44-jcs-2024.json")).unwrap();
    let key =
        draft["proof"]["verificationMethod"].as_str().unwrap().strip_prefix("did:key:").unwrap().to_owned();
    all.push(json!({"id": "w3c-draft", "kind": "signature", "multikey": key, "document": draft}));
    vector_file::committed("data-integrity", all, 39);
}

#[test]
fn a_proof_for_authentication_is_for_one_domain_and_one_challenge() {
    let world = World::new();
    let key = Did::from_key(&world.holder.key(Role::DataIntegrity).verifying_key());
    let options = ProofOptions {
        purpose: Relationship::Authentication,
        created: NOW,
        expires: None,
        domain: Some("https://verifier.example".into()),
        challenge: Some("1".into()),
    };
    let expected = |domain, challenge| Expected { purpose: Relationship::Authentication, domain, challenge };
    // Agents have no Data Integrity key for authentication: a did:key stands in.
    let signed = sign(&world.holder, map(json!({"a": 1})), &options).unwrap();
    let refused =
        |result: Result<_, Error>| result.map(|_: gambeson_identity::Verified<_>| ()).unwrap_err().reason();
    let verify = |expected: &Expected<'_>| verify(&signed, &world.cards, NOW, expected);
    let (domain, challenge) = (Some("https://verifier.example"), Some("1"));
    assert_eq!(refused(verify(&expected(domain, challenge))), Reason::WrongPurpose);
    assert_eq!(refused(verify(&expected(None, challenge))), Reason::WrongAudience);
    assert_eq!(refused(verify(&expected(Some("other"), challenge))), Reason::WrongAudience);
    assert_eq!(refused(verify(&expected(domain, Some("2")))), Reason::WrongNonce);
    assert_eq!(refused(verify(&expected(domain, None))), Reason::WrongNonce);

    let presentation = json!({
        "@context": ["https://www.w3.org/ns/credentials/v2"],
        "type": "VerifiablePresentation",
        "holder": key.as_str(),
    });
    let mut proof = map(signed["proof"].clone());
    proof.remove("proofValue");
    proof.insert("verificationMethod".into(), format!("{key}#{}", key.method_specific_id()).into());
    let hash = hash_data(
        &{
            let mut options = proof.clone();
            options.insert("@context".into(), presentation["@context"].clone());
            options
        },
        presentation.as_object().unwrap(),
    );
    let signature = world.holder.key(Role::DataIntegrity).sign(b"", &hash.unwrap()).unwrap();
    proof.insert("proofValue".into(), format!("u{}", base64(&signature)).into());
    let mut secured = presentation;
    secured["proof"] = proof.into();
    let request = Request { audience: domain.unwrap(), nonce: "1", max_age: 60, binding: Binding::Subject };
    let lists = StatusStore::default();
    let verify = |text: &str, now, request: &Request<'_>| {
        Presentation::verify(text, &world.cards, now, request, Status::Required(&lists))
    };
    let text = secured.to_string();
    assert_eq!(verify(&text, NOW.after(60), &request).unwrap().holder(), &key);
    assert_eq!(verify(&text, NOW.after(61), &request).unwrap_err().reason(), Reason::Expired);
    let other = Request { nonce: "2", ..request };
    assert_eq!(verify(&text, NOW, &other).unwrap_err().reason(), Reason::WrongNonce);
    let another =
        text.replace(&format!("\"holder\":\"{key}\""), &format!("\"holder\":\"{}\"", world.holder.did()));
    assert_ne!(another, text);
    assert_eq!(verify(&another, NOW, &request).unwrap_err().reason(), Reason::BadSignature);
}
