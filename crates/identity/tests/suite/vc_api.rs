//! The endpoints that the W3C test suites call, and what no file of vectors can hold.

use crate::world::{DAY, NOW, World, map};
use gambeson_identity::delegation::{Capability, Delegation};
use gambeson_identity::jose::Jws;
use gambeson_identity::vc::api::{Api, Form, did_suite};
use gambeson_identity::vc::data_integrity;
use gambeson_identity::vc::{
    Credential, MAX_CREDENTIAL, MAX_CREDENTIALS, MAX_STATUS_LIST, MIN_ENTRIES, Presentation, Status,
    StatusEntry, StatusList, StatusPurpose, StatusStore, UNDEFINED_TERMS,
};
use gambeson_identity::{CardLog, DidDocument, Reason, Timestamp, json as strict};
use serde_json::{Value, json};

fn draft(world: &World) -> Value {
    json!({
        "@context": ["https://www.w3.org/ns/credentials/v2"],
        "type": ["VerifiableCredential"],
        "issuer": world.issuer.did().as_str(),
        "credentialSubject": {"id": world.holder.did().as_str()},
    })
}

fn api<'a>(world: &'a World, lists: &'a StatusStore, form: Form) -> Api<'a> {
    Api { agent: &world.issuer, resolver: &world.cards, status: Status::Required(lists), form }
}

#[test]
fn what_is_issued_in_either_form_verifies() {
    let (world, lists) = (World::new(), StatusStore::default());
    for form in [Form::Enveloped, Form::DataIntegrity] {
        let api = api(&world, &lists, form);
        let (status, body) =
            api.issue(json!({"credential": draft(&world), "options": {}}).to_string().as_bytes(), NOW);
        assert_eq!(status, 201, "{body}");
        let issued = &body["verifiableCredential"];
        match form {
            Form::Enveloped => {
                assert_eq!(issued["type"], "EnvelopedVerifiableCredential");
                assert!(issued["id"].as_str().unwrap().starts_with("data:application/vc+jwt,"));
            }
            Form::DataIntegrity => assert_eq!(issued["proof"]["cryptosuite"], "mldsa44-jcs-2024"),
        }
        let (status, body) =
            api.verify_credential(json!({"verifiableCredential": issued}).to_string().as_bytes(), NOW);
        assert_eq!((status, &body["verified"]), (200, &true.into()), "{body}");
        // VC Data Model 2.0, §5.13: without anything of the mechanism.
        assert_eq!(body["verifiedDocument"], draft(&world));
    }
}

#[test]
fn what_does_not_conform_is_answered_with_400_and_problem_details() {
    let (world, lists) = (World::new(), StatusStore::default());
    let api = api(&world, &lists, Form::Enveloped);
    let issue = |change: &dyn Fn(&mut Value)| {
        let mut credential = draft(&world);
        change(&mut credential);
        api.issue(json!({"credential": credential}).to_string().as_bytes(), NOW)
    };
    for (name, value, kind) in [
        ("type", Value::Null, "MALFORMED_VALUE_ERROR"),
        ("issuer", "did:web:another.example".into(), "CRYPTOGRAPHIC_SECURITY_ERROR"),
        ("validFrom", "yesterday".into(), "MALFORMED_VALUE_ERROR"),
        ("proof", json!({"type": "DataIntegrityProof"}), "MALFORMED_VALUE_ERROR"),
    ] {
        let (status, body) = issue(&|credential| credential[name] = value.clone());
        let problem = &body["problemDetails"][0];
        assert_eq!(status, 400, "{name}");
        // VC Data Model 2.0, §7.2: a URL, a title and a detail.
        assert_eq!(problem["type"], format!("https://www.w3.org/TR/vc-data-model#{kind}"), "{name}");
        assert!(problem["title"].is_string() && problem["detail"].is_string());
        assert_eq!(body["errors"].as_array().unwrap().len(), 1);
    }
    for body in ["", "[]", "{}", "{\"credential\": \"x\"}", "{\"credential\": {}, \"credential\": {}}"] {
        assert_eq!(api.issue(body.as_bytes(), NOW).0, 400, "{body}");
        assert_eq!(api.verify_credential(body.as_bytes(), NOW).0, 400, "{body}");
        assert_eq!(api.verify_presentation(body.as_bytes(), NOW).0, 400, "{body}");
    }
    let unsecured = json!({"verifiableCredential": draft(&world)});
    let (status, body) = api.verify_credential(unsecured.to_string().as_bytes(), NOW);
    assert_eq!(
        (status, &body["verified"], &body["problemDetails"][0]["title"]),
        (400, &false.into(), &"unsecured".into())
    );
    let media = json!({"verifiableCredential": {
        "@context": ["https://www.w3.org/ns/credentials/v2"], "type": "EnvelopedVerifiableCredential", "id": "data:text/plain,x",
    }});
    let (status, body) = api.verify_credential(media.to_string().as_bytes(), NOW);
    assert_eq!((status, &body["problemDetails"][0]["title"]), (400, &"bad-type".into()));
}

#[test]
fn a_presentation_verifies_for_its_challenge_and_domain() {
    let (world, lists) = (World::new(), StatusStore::default());
    let api = api(&world, &lists, Form::Enveloped);
    let token = Credential::builder()
        .subject(json!({"id": world.holder.did().as_str()}))
        .issue(&world.issuer)
        .unwrap();
    let shown = Presentation::sign(&world.holder, &[&token], "https://a.example", "1", NOW).unwrap();
    let presentation = json!({
        "@context": ["https://www.w3.org/ns/credentials/v2"],
        "type": "EnvelopedVerifiablePresentation",
        "id": format!("data:application/vp+jwt,{shown}"),
    });
    let verify = |options: Value| {
        let body = json!({"verifiablePresentation": presentation, "options": options}).to_string();
        api.verify_presentation(body.as_bytes(), NOW)
    };
    assert_eq!(verify(json!({})).0, 200);
    assert_eq!(verify(json!({"challenge": "1", "domain": "https://a.example"})).0, 200);
    for (options, reason) in
        [(json!({"challenge": "2"}), "wrong-nonce"), (json!({"domain": "b"}), "wrong-audience")]
    {
        let (status, body) = verify(options);
        assert_eq!((status, body["problemDetails"][0]["title"].as_str()), (400, Some(reason)));
    }
    let bare = json!({"verifiablePresentation": {
        "@context": ["https://www.w3.org/ns/credentials/v2"], "type": "VerifiablePresentation",
    }});
    let (status, body) = api.verify_presentation(bare.to_string().as_bytes(), NOW);
    assert_eq!((status, body["problemDetails"][0]["title"].as_str()), (400, Some("unsecured")));
}

/// A delegation of the issuer to the holder.
fn grant(world: &World) -> Delegation {
    Delegation {
        delegate: world.holder.did().clone(),
        from: NOW,
        until: NOW.after(DAY),
        capabilities: vec![Capability {
            action: "tools/call/*".parse().unwrap(),
            resource: "did:web:bank.example".parse().unwrap(),
            caveats: Vec::new(),
        }],
        max_depth: 0,
        max_calls: None,
        budget: None,
        status: Vec::new(),
    }
}

#[test]
fn an_issuer_of_claims_hands_out_no_delegation_and_no_approval() {
    let (world, lists) = (World::new(), StatusStore::default());
    // A link as its reader wants it, which only this signing may make.
    let link = grant(&world).sign(&world.issuer, None).unwrap();
    let payload = Jws::parse(&link, MAX_CREDENTIAL).unwrap().payload_unverified().to_vec();
    let link: Value = serde_json::from_slice(&payload).unwrap();
    for form in [Form::Enveloped, Form::DataIntegrity] {
        for kind in ["AgentDelegationCredential", "AgentApproval"] {
            let mut credential = link.clone();
            credential["type"] = json!(["VerifiableCredential", kind]);
            credential["@context"] = json!(["https://www.w3.org/ns/credentials/v2", UNDEFINED_TERMS]);
            let body = json!({"credential": credential}).to_string();
            let (status, body) = api(&world, &lists, form).issue(body.as_bytes(), NOW);
            assert_eq!(
                (status, body["problemDetails"][0]["title"].as_str()),
                (400, Some("bad-type")),
                "{kind}"
            );
        }
        let body = json!({"credential": link}).to_string();
        let (status, body) = api(&world, &lists, form).issue(body.as_bytes(), NOW);
        assert_eq!((status, body["problemDetails"][0]["title"].as_str()), (400, Some("bad-type")));
    }
    let built =
        Credential::builder().kind("AgentApproval").subject(json!({"id": world.holder.did().as_str()}));
    assert_eq!(built.clone().issue(&world.issuer).unwrap_err().reason(), Reason::BadType);
    assert_eq!(built.issue_with_proof(&world.issuer, NOW).unwrap_err().reason(), Reason::BadType);
}

/// An issuer whose claims others choose signs nothing that decides about more than its claims.
#[test]
fn an_issuer_of_claims_signs_nothing_that_gives_authority() {
    let (world, lists) = (World::new(), StatusStore::default());
    let url = "https://issuer.example/status/1";
    let list = StatusList::new(StatusPurpose::Revocation, MIN_ENTRIES).unwrap();
    let token = list.issue(&world.issuer, url, (NOW, NOW.after(DAY)), None).unwrap();
    let payload = Jws::parse(&token, MAX_STATUS_LIST).unwrap().payload_unverified().to_vec();
    let list: Value = serde_json::from_slice(&payload).unwrap();
    let change = |change: &dyn Fn(&mut Value)| {
        let mut changed = list.clone();
        change(&mut changed);
        changed
    };
    let named = |iri: &str| {
        change(&|it| {
            it["type"] = json!(["VerifiableCredential", "Badge"]);
            it["credentialSubject"]["type"] = "Level".into();
            it["@context"] = json!(["https://www.w3.org/ns/credentials/v2", {"Badge": iri}]);
        })
    };
    let typed = |kind: &str| {
        change(&|it| {
            it["type"] = json!(["VerifiableCredential", kind]);
            it["credentialSubject"]["type"] = "Level".into();
        })
    };
    let foreign = [
        ("a status list", list.clone()),
        ("a subject that is one", change(&|it| it["type"] = json!(["VerifiableCredential"]))),
        (
            "a subject that is one among others",
            change(&|it| {
                it["type"] = json!(["VerifiableCredential"]);
                it["credentialSubject"] = json!([{"id": "urn:a:b"}, it["credentialSubject"]]);
            }),
        ),
        ("its whole name", typed("https://www.w3.org/ns/credentials/status#BitstringStatusListCredential")),
        (
            "another name for it",
            named("https://www.w3.org/ns/credentials/status#BitstringStatusListCredential"),
        ),
        ("a delegation by its whole name", typed("urn:example:AgentDelegationCredential")),
        ("a presentation", typed("VerifiablePresentation")),
        ("an envelope", typed("EnvelopedVerifiableCredential")),
        ("an envelope of a presentation", typed("EnvelopedVerifiablePresentation")),
    ];
    for form in [Form::Enveloped, Form::DataIntegrity] {
        for (what, credential) in &foreign {
            let body = json!({"credential": credential}).to_string();
            let (status, body) = api(&world, &lists, form).issue(body.as_bytes(), NOW);
            assert_eq!(
                (status, body["problemDetails"][0]["title"].as_str()),
                (400, Some("bad-type")),
                "{what}"
            );
            let proof = data_integrity::ProofOptions::assertion(NOW);
            let signed = data_integrity::sign(&world.issuer, map(credential.clone()), &proof);
            assert_eq!(signed.unwrap_err().reason(), Reason::BadType, "{what}");
        }
        let body = json!({"credential": typed("Badge")}).to_string();
        assert_eq!(api(&world, &lists, form).issue(body.as_bytes(), NOW).0, 201);
    }
    let built =
        Credential::builder().id(url).kind("BitstringStatusListCredential").subject(json!({"id": url}));
    assert_eq!(built.clone().issue(&world.issuer).unwrap_err().reason(), Reason::BadType);
    assert_eq!(built.issue_with_proof(&world.issuer, NOW).unwrap_err().reason(), Reason::BadType);
}

/// No signer signs an entry of a status list that its verifier refuses, and says why with the same code.
#[test]
fn a_malformed_status_entry_is_not_signed() {
    let (world, lists) = (World::new(), StatusStore::default());
    let url = "https://issuer.example/status/1";
    let good = StatusEntry { list: url.into(), index: 7, purpose: StatusPurpose::Revocation }.to_json();
    let with = |name: &str, value: Value| {
        let mut entry = good.clone();
        match value {
            Value::Null => drop(entry.as_object_mut().unwrap().remove(name)),
            value => entry[name] = value,
        }
        entry
    };
    let bad = [
        (with("statusListIndex", true.into()), "bad-form"),
        (with("statusListIndex", 7.into()), "bad-form"),
        (with("statusListIndex", "-7".into()), "bad-form"),
        (with("statusListIndex", "".into()), "bad-form"),
        (with("statusListIndex", "07".into()), "bad-form"),
        (with("statusListIndex", "7.0".into()), "bad-form"),
        (with("statusListIndex", Value::Null), "bad-form"),
        (with("statusPurpose", Value::Null), "bad-form"),
        (with("statusPurpose", json!(["revocation"])), "bad-form"),
        (with("statusPurpose", "other".into()), "unknown-status"),
        (with("statusListCredential", Value::Null), "bad-form"),
        (with("statusListCredential", "status".into()), "bad-form"),
        (with("statusListCredential", json!([url])), "bad-form"),
        (with("statusSize", 2.into()), "bad-form"),
        (with("id", url.into()), "bad-form"),
        (with("id", "one".into()), "bad-form"),
        (json!([good, with("statusListIndex", true.into())]), "bad-form"),
        (with("type", json!(["BitstringStatusListEntry"])), ""),
        (with("id", format!("{url}#7").into()), ""),
        (with("statusSize", 1.into()), ""),
        (json!([good, with("statusPurpose", "message".into())]), ""),
        (json!({"type": "https://a.example/#Other", "statusListIndex": true}), ""),
    ];
    for (status, expected) in bad {
        let mut credential = draft(&world);
        credential["credentialStatus"] = status.clone();
        for form in [Form::Enveloped, Form::DataIntegrity] {
            let body = json!({"credential": credential}).to_string();
            let (code, body) = api(&world, &lists, form).issue(body.as_bytes(), NOW);
            let found = body["problemDetails"][0]["title"].as_str().unwrap_or_default();
            assert_eq!((code, found), (if expected.is_empty() { 201 } else { 400 }, expected), "{status}");
        }
        let code = |result: Result<(), gambeson_identity::Error>| {
            result.err().map(|error| error.reason().code()).unwrap_or_default()
        };
        let built = Credential::builder().subject(json!({"id": "urn:a:b"}));
        let built = built.member("credentialStatus", status.clone()).issue(&world.issuer);
        assert_eq!(code(built.map(drop)), expected, "{status}");
        if status.get("id").is_none_or(|id| id != "one") {
            let proof = data_integrity::ProofOptions::assertion(NOW);
            let signed = data_integrity::sign(&world.issuer, map(credential), &proof);
            assert_eq!(code(signed.map(drop)), expected, "{status}");
            let entries = match status.clone() {
                Value::Array(entries) => entries,
                one => vec![one],
            };
            let grant = Delegation { status: entries, ..grant(&world) }.sign(&world.issuer, None);
            assert_eq!(code(grant.map(drop)), expected, "{status}");
        }
    }
    let text = Delegation { status: vec!["status".into()], ..grant(&world) }.sign(&world.issuer, None);
    assert_eq!(text.unwrap_err().reason(), Reason::BadForm);
    let entry = StatusEntry { list: "status".into(), index: 7, purpose: StatusPurpose::Revocation };
    let built = Credential::builder().subject(json!({"id": "urn:a:b"})).status(&entry);
    assert_eq!(built.issue(&world.issuer).unwrap_err().reason(), Reason::BadForm);
}

/// Claims of JWT restrict a credential with a proof inside as they restrict a token, when it is signed and when it is verified.
#[test]
fn registered_claims_beside_those_of_a_credential_are_not_passed_over() {
    let (world, lists) = (World::new(), StatusStore::default());
    let api = api(&world, &lists, Form::DataIntegrity);
    for (name, value, at_signing, at_verifying) in [
        ("iss", json!("did:web:other.example"), "bad-form", "bad-form"),
        ("sub", json!("did:web:other.example"), "bad-form", "bad-form"),
        ("jti", json!("urn:other"), "bad-form", "bad-form"),
        ("vc", json!({}), "bad-form", "bad-form"),
        ("exp", json!("tomorrow"), "bad-time", "bad-time"),
        ("aud", json!("https://other.example"), "wrong-audience", "wrong-audience"),
        ("aud", json!(["https://other.example"]), "wrong-audience", "wrong-audience"),
        ("exp", json!(NOW.0 - 1), "", "expired"),
        ("nbf", json!(NOW.0 + 100), "", "not-yet-valid"),
        ("iat", json!(NOW.0 + 100), "", "not-yet-valid"),
        ("iss", json!(world.issuer.did().as_str()), "", ""),
        ("exp", json!(NOW.0 + 100), "", ""),
    ] {
        let mut credential = draft(&world);
        for own in ["validFrom", "validUntil"] {
            credential.as_object_mut().unwrap().remove(own);
        }
        credential[name] = value.clone();
        // A draft whose context defines no such term is another matter.
        credential["@context"] = json!(["https://www.w3.org/ns/credentials/v2", UNDEFINED_TERMS]);
        let body = json!({"credential": credential}).to_string();
        let (_, answer) = api.issue(body.as_bytes(), NOW);
        let found = answer["problemDetails"][0]["title"].as_str().unwrap_or_default();
        assert_eq!(found, at_signing, "{name} {value}: {answer}");
        if credential.get("issuer").is_none() {
            credential["issuer"] = world.issuer.did().as_str().into();
        }
        let signed = data_integrity::sign(
            &world.issuer,
            map(credential),
            &data_integrity::ProofOptions::assertion(NOW),
        );
        let body = json!({"verifiableCredential": signed.unwrap()}).to_string();
        let (_, answer) = api.verify_credential(body.as_bytes(), NOW);
        let found = answer["problemDetails"][0]["title"].as_str().unwrap_or_default();
        assert_eq!(found, at_verifying, "{name} {value}: {answer}");
    }
}

#[test]
fn a_challenge_that_is_no_text_is_not_passed_over() {
    let (world, lists) = (World::new(), StatusStore::default());
    let shown = Presentation::sign(&world.holder, &[], "https://a.example", "1", NOW).unwrap();
    let presentation = json!({
        "@context": ["https://www.w3.org/ns/credentials/v2"],
        "type": "EnvelopedVerifiablePresentation",
        "id": format!("data:application/vp+jwt,{shown}"),
    });
    for options in [
        json!({"challenge": 1}),
        json!({"domain": ["https://a.example"]}),
        json!({"challenge": null}),
        json!("1"),
    ] {
        let body = json!({"verifiablePresentation": presentation, "options": options}).to_string();
        let (status, body) = api(&world, &lists, Form::Enveloped).verify_presentation(body.as_bytes(), NOW);
        assert_eq!(
            (status, body["problemDetails"][0]["title"].as_str()),
            (400, Some("bad-form")),
            "{options}"
        );
    }
}

#[test]
fn the_file_of_the_did_suite_has_the_document_in_both_representations() {
    let world = World::new();
    let log: &CardLog = world.cards.log(world.issuer.did()).unwrap();
    let file = did_suite(log).unwrap();
    let did = log.did().as_str();
    assert_eq!(file["dids"], json!([did]));
    let properties = map(file[did]["didDocumentDataModel"]["properties"].clone());
    assert!(!properties.contains_key("@context") && properties["id"] == did);
    for kind in ["application/did+ld+json", "application/did+json"] {
        let one = &file[did][kind];
        let text =
            strict::parse_object(one["representation"].as_str().unwrap().as_bytes(), 64 << 10).unwrap();
        let mut whole = properties.clone();
        whole.extend(map(one["didDocumentDataModel"]["representationSpecificEntries"].clone()));
        assert_eq!(text, whole, "{kind}");
        assert_eq!(one["didResolutionMetadata"]["contentType"], kind);
        assert_eq!(DidDocument::from_json(text).unwrap().id(), log.did());
    }
}

#[test]
fn sizes_are_capped_before_anything_is_read() {
    let (world, lists) = (World::new(), StatusStore::default());
    let verify = |secured: &str| Credential::verify(secured, &world.cards, NOW, Status::Required(&lists));
    let reason = |secured: &str| verify(secured).unwrap_err().reason();
    assert_eq!(reason(&"a".repeat(MAX_CREDENTIAL + 1)), Reason::TooLarge);
    assert_eq!(reason(&format!("{{{}", " ".repeat(MAX_CREDENTIAL))), Reason::TooLarge);
    let large = Credential::builder().subject(json!({"id": "urn:a:b", "text": "x".repeat(MAX_CREDENTIAL)}));
    assert_eq!(large.issue(&world.issuer).unwrap_err().reason(), Reason::TooLarge);
    let token = Credential::builder()
        .subject(json!({"id": world.holder.did().as_str()}))
        .issue(&world.issuer)
        .unwrap();
    let many = vec![token.as_str(); MAX_CREDENTIALS + 1];
    let refused = Presentation::sign(&world.holder, &many, "a", "n", NOW).unwrap_err();
    assert_eq!(refused.reason(), Reason::TooLarge);
    assert!(Presentation::sign(&world.holder, &many[1..], "a", "n", NOW).is_ok());
    assert_eq!(
        Presentation::sign(&world.holder, &["{}"], "a", "n", NOW).unwrap_err().reason(),
        Reason::BadForm
    );
    assert_eq!(
        Presentation::sign(&world.holder, &["x"], "a", "n", NOW).unwrap_err().reason(),
        Reason::BadForm
    );
}

#[test]
fn a_builder_makes_what_it_is_told_and_refuses_what_the_model_forbids() {
    let (world, lists) = (World::new(), StatusStore::default());
    let entry = |index| StatusEntry {
        list: "https://issuer.example/status".into(),
        index,
        purpose: StatusPurpose::Suspension,
    };
    let token = Credential::builder()
        .id("https://issuer.example/1")
        .kind("MailCredential")
        .context(
            json!({"MailCredential": "https://issuer.example/#mail", "box": "https://issuer.example/#box"}),
        )
        .subject(json!({"id": world.holder.did().as_str(), "box": 1}))
        .subject(json!({"id": world.issuer.did().as_str(), "box": 2}))
        .valid(NOW, NOW.after(DAY))
        .status(&entry(1))
        .status(&entry(2))
        .member("name", "Mail".into())
        .issue(&world.issuer)
        .unwrap();
    let verified = Credential::verify(&token, &world.cards, NOW, Status::IfKnown(&lists)).unwrap();
    assert_eq!(verified.id(), Some("https://issuer.example/1"));
    assert!(verified.has_type("MailCredential") && verified.subjects().len() == 2);
    assert_eq!(verified.validity(), (Some(NOW), Some(NOW.after(DAY))));
    assert_eq!(verified.json()["credentialStatus"][1]["statusListIndex"], "2");
    assert_eq!(verified.subject()["box"], 1);
    let reason =
        |draft: gambeson_identity::vc::CredentialBuilder| draft.issue(&world.issuer).unwrap_err().reason();
    let subject = || Credential::builder().subject(json!({"id": "urn:a:b"}));
    assert_eq!(reason(Credential::builder()), Reason::BadForm);
    assert_eq!(reason(subject().valid(NOW, Timestamp(NOW.0 - 1))), Reason::BadForm);
    assert_eq!(reason(subject().id("no url")), Reason::BadForm);
    assert_eq!(reason(subject().member("issuer", "did:web:another.example".into())), Reason::WrongIssuer);
    assert_eq!(reason(subject().context(json!({"type": "urn:a:b"}))), Reason::BadForm);
    let twice = subject().member("proof", json!({"type": "DataIntegrityProof"}));
    assert_eq!(twice.issue_with_proof(&world.issuer, NOW).unwrap_err().reason(), Reason::BadForm);
}
