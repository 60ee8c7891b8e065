//! `vectors/vc.json`: each statement of the VC Data Model 2.0 that binds a reader of credentials, with inputs that keep it and inputs that do not.

use crate::statements::{Statements, every_statement_has_both};
use crate::vector_file;
use crate::world::{NOW, World, forge, judge, map};
use base64ct::{Base64UrlUnpadded, Encoding};
use gambeson_identity::vc::api::{Api, Form};
use gambeson_identity::vc::{
    self, Binding, Credential, Presentation, Request, Status, StatusStore, data_integrity,
};
use gambeson_identity::{Agent, CardStore, Did, Role};
use serde_json::{Value, json};

const V2: &str = "https://www.w3.org/ns/credentials/v2";

fn credential_statements() -> Statements {
    let base = json!({
        "@context": [V2, vc::UNDEFINED_TERMS],
        "type": ["VerifiableCredential"],
        "issuer": "did:web:issuer.example",
        "credentialSubject": {"id": "did:web:subject.example", "member": true},
    });
    let mut s = Statements::new(base, "credential");
    s.says("vc-4.3-context", "4.3", "A credential has a @context.")
        .good(json!({}))
        .bad(json!({"@context": null}));
    s.says("vc-4.3-first", "4.3", "@context is a list whose first item is the base context.")
        .good(json!({"@context": [V2, "https://a.example/v1"]}))
        .bad(json!({"@context": V2}))
        .bad(json!({"@context": []}))
        .bad(json!({"@context": ["https://a.example/v1", V2]}))
        .bad(json!({"@context": ["https://www.w3.org/2018/credentials/v1"]}));
    s.says("vc-4.3-items", "4.3", "The other items are URLs and objects that can be processed as contexts.")
        .good(json!({"@context": [V2, "https://a.example/v1", {"member": "https://a.example/#member"}]}))
        .bad(json!({"@context": [V2, "https ://a.example"]}))
        .bad(json!({"@context": [V2, 1]}))
        .bad(json!({"@context": [V2, {"@vocab": 1}]}))
        .bad(json!({"@context": [V2, {"member": 1}]}));
    s.says("vc-4.4-id", "4.4", "id is one URL.")
        .good(json!({"id": "urn:uuid:3978344f-8596-4c3a-a978-8fcaba3903c5"}))
        .good(json!({"id": "did:web:a.example"}))
        .bad(json!({"id": ["urn:a:b"]}))
        .bad(json!({"id": "not a url"}))
        .bad(json!({"id": "relative"}))
        .bad(json!({"id": 1}))
        .bad(json!({"credentialSubject": {"id": ["urn:a:b", "urn:a:c"]}}))
        .bad(json!({"credentialSubject": {"id": "subject"}}));
    s.says("vc-4.5-type", "4.5", "A credential has a type.")
        .good(json!({"type": "VerifiableCredential"}))
        .bad(json!({"type": null}))
        .bad(json!({"type": []}));
    s.says("vc-4.5-value", "4.5", "A type is a term that a context defines, or an absolute URL.")
        .good(json!({"type": ["https://a.example/#T", "VerifiableCredential"]}))
        .good(json!({"@context": [V2, {"T": "https://a.example/#T"}, vc::UNDEFINED_TERMS], "type": ["VerifiableCredential", "T"]}))
        .bad(json!({"type": ["VerifiableCredential", 1]}))
        .bad(json!({"type": ["VerifiableCredential", "two words"]}))
        .bad(json!({"@context": [V2], "credentialSubject": {"id": "urn:a:b"}, "type": ["VerifiableCredential", "T"]}))
        .bad(json!({"@context": [V2, {"@vocab": null}], "credentialSubject": {"id": "urn:a:b"}, "type": ["VerifiableCredential", "T"]}))
        .bad(json!({"@context": [V2, {"T": null}], "credentialSubject": {"id": "urn:a:b"}, "type": ["VerifiableCredential", "T"]}))
        .bad(json!({"@context": [V2, {"T": "https ://no-url"}, vc::UNDEFINED_TERMS], "type": ["VerifiableCredential", "T"]}));
    s.says("vc-4.5-required", "4.5", "One type of a credential is VerifiableCredential.")
        .good(json!({"@context": [V2, vc::UNDEFINED_TERMS], "type": ["T", "VerifiableCredential"]}))
        .bad(json!({"type": ["https://a.example/#T"]}));
    for (id, name) in [
        ("vc-4.5-status", "credentialStatus"),
        ("vc-4.5-terms", "termsOfUse"),
        ("vc-4.5-evidence", "evidence"),
        ("vc-4.5-refresh", "refreshService"),
    ] {
        s.says(id, "4.5", "Objects of status, terms of use, evidence and refresh service have a type.");
        let (typed, untyped) = (json!({"type": "https://a.example/#T"}), json!({"id": "urn:a:b"}));
        s.good(json!({name: typed})).bad(json!({name: untyped})).bad(json!({name: [typed, untyped]}));
    }
    let language = json!({"@value": "Name", "@language": "en", "@direction": "ltr"});
    for (id, name) in [("vc-4.6-name", "name"), ("vc-4.6-description", "description")] {
        s.says(id, "4.6", "name and description are text, or language value objects (§11.1).")
            .good(json!({name: "Name"}))
            .good(json!({name: language}))
            .good(json!({name: [language, {"@value": "Nom", "@language": "fr"}]}))
            .good(json!({"issuer": {"id": "did:web:issuer.example", name: language}}))
            .bad(json!({name: 1}))
            .bad(json!({name: []}))
            .bad(json!({name: {"@value": "Name", "extra": 1}}))
            .bad(json!({name: {"@language": "en"}}))
            .bad(json!({name: {"@value": "Name", "@language": "no tag"}}))
            .bad(json!({name: {"@value": "Name", "@direction": "up"}}))
            .bad(
                json!({"issuer": {"id": "did:web:issuer.example", name: {"@value": "N", "url": "urn:a:b"}}}),
            );
    }
    s.says("vc-4.7-issuer", "4.7", "A credential has an issuer.")
        .good(json!({}))
        .bad(json!({"issuer": null}));
    s.says("vc-4.7-value", "4.7", "The issuer is a URL, or an object whose id is one.")
        .good(json!({"issuer": "https://issuer.example/1"}))
        .good(json!({"issuer": {"id": "did:web:issuer.example"}}))
        .bad(json!({"issuer": "issuer"}))
        .bad(json!({"issuer": {"name": "Issuer"}}))
        .bad(json!({"issuer": {"id": "issuer"}}))
        .bad(json!({"issuer": ["did:web:issuer.example"]}));
    s.says("vc-4.8-subject", "4.8", "A credential has a credentialSubject.")
        .bad(json!({"credentialSubject": null}));
    s.good(json!({}));
    s.says("vc-4.8-claims", "4.8", "credentialSubject is one or more objects, each with claims.")
        .good(json!({"credentialSubject": [{"id": "urn:a:b"}, {"member": false}]}))
        .bad(json!({"credentialSubject": {}}))
        .bad(json!({"credentialSubject": []}))
        .bad(json!({"credentialSubject": [{"member": true}, {}]}))
        .bad(json!({"credentialSubject": "did:web:subject.example"}));
    for (id, name) in [("vc-4.9-from", "validFrom"), ("vc-4.9-until", "validUntil")] {
        s.says(id, "4.9", "validFrom and validUntil are dateTimeStamp values.")
            .good(json!({name: "2026-11-22T07:00:00Z"}))
            .good(json!({name: "2026-11-22T07:00:00.123Z"}))
            .good(json!({name: "2026-11-22T07:00:00-08:00"}))
            .refused(json!({name: "2026-11-22"}), "bad-time")
            .refused(json!({name: "2026-13-22T07:00:00Z"}), "bad-time")
            .refused(json!({name: "yesterday"}), "bad-time")
            .refused(json!({name: 1_795_330_800}), "bad-time");
    }
    // Of the data model 1.1; whoever writes one means it.
    for (id, name) in [("vc-1.1-issued", "issuanceDate"), ("vc-1.1-expires", "expirationDate")] {
        s.says(id, "4.9", "The times of the data model 1.1 are times here too.")
            .good(json!({name: "2026-11-22T07:00:00Z"}))
            .refused(json!({name: "soon"}), "bad-time")
            .refused(json!({name: 1_795_330_800}), "bad-time");
    }
    s.says("vc-4.9-order", "4.9", "validFrom is the same as or earlier than validUntil.")
        .good(json!({"validFrom": "2026-11-22T07:00:00Z", "validUntil": "2026-11-22T07:00:00Z"}))
        .good(json!({"validFrom": "2026-11-22T07:00:00+01:00", "validUntil": "2026-11-22T06:30:00Z"}))
        .bad(json!({"validFrom": "2026-11-22T07:00:01Z", "validUntil": "2026-11-22T07:00:00Z"}))
        .bad(json!({"validFrom": "2026-11-22T07:00:00Z", "validUntil": "2026-11-22T07:30:00+01:00"}));
    let typed = |members: Value| {
        let mut object = json!({"type": "https://a.example/#T"});
        object.as_object_mut().unwrap().extend(map(members));
        object
    };
    s.says("vc-4.10-id", "4.10", "The id of a status is one URL, if it is there.")
        .good(json!({"credentialStatus": typed(json!({}))}))
        .good(json!({"credentialStatus": [typed(json!({"id": "https://a.example/1"}))]}))
        .bad(json!({"credentialStatus": typed(json!({"id": ["urn:a:b"]}))}))
        .bad(json!({"credentialStatus": typed(json!({"id": "one"}))}));
    s.says("vc-4.10-type", "4.10", "A status has a type that is a term or a URL.")
        .good(json!({"credentialStatus": {"type": "BitstringStatusListEntry"}}))
        .bad(json!({"credentialStatus": {"id": "urn:a:b"}}))
        .bad(json!({"credentialStatus": {"type": "no url"}}))
        .bad(json!({"credentialStatus": "https://a.example/status"}));
    s.says("vc-4.11-schemas", "4.11", "credentialSchema is one or more schemas.")
        .good(json!({"credentialSchema": {"id": "https://a.example/1", "type": "JsonSchema"}}))
        .good(json!({"credentialSchema": [{"id": "https://a.example/1", "type": "JsonSchema"}]}))
        .bad(json!({"credentialSchema": "https://a.example/1"}))
        .bad(json!({"credentialSchema": []}));
    s.says("vc-4.11-members", "4.11", "A schema has a type, and an id that is a URL.")
        .good(json!({"credentialSchema": {"id": "https://a.example/1", "type": "JsonSchema"}}))
        .bad(json!({"credentialSchema": {"id": "https://a.example/1"}}))
        .bad(json!({"credentialSchema": {"type": "JsonSchema"}}))
        .bad(json!({"credentialSchema": {"id": "schema", "type": "JsonSchema"}}))
        .bad(json!({"credentialSchema": {"id": 1, "type": "JsonSchema"}}));
    s.says("vc-4.12-proof", "4.12", "An embedded proof is an object, or several, with a type.")
        .good(json!({"proof": {"type": "DataIntegrityProof"}}))
        .bad(json!({"proof": "signature"}))
        .bad(json!({"proof": {"cryptosuite": "mldsa44-jcs-2024"}}));
    s.says("vc-5.2-protected", "5.2", "No context redefines a term that the base context protects.")
        .good(json!({"@context": [V2, vc::UNDEFINED_TERMS, {"id": "@id", "type": "@type"}]}))
        .bad(json!({"@context": [V2, vc::UNDEFINED_TERMS, {"VerifiableCredential": "https://a.example/#V"}]}))
        .bad(json!({"@context": [V2, vc::UNDEFINED_TERMS, {"type": "https://a.example/#type"}]}));
    s.says("vc-5.2-protected-inline", "5.2", "No context redefines a term that an earlier one protects.")
        .good(json!({"@context": [V2, {"@protected": true, "T": "urn:a:t"}, {"T": "urn:a:t"}, vc::UNDEFINED_TERMS]}))
        .bad(json!({"@context": [V2, {"@protected": true, "T": "urn:a:t"}, {"T": "urn:a:other"}, vc::UNDEFINED_TERMS]}));
    s.says(
        "vc-5.2-undefined",
        "5.2",
        "Where the contexts do not define every term, that of undefined terms is the last.",
    )
    .good(json!({"@context": [V2, vc::UNDEFINED_TERMS]}))
    .good(json!({"@context": [V2, {"member": "https://a.example/#member"}]}))
    .good(json!({"@context": [V2, {"@vocab": "https://a.example/#"}]}))
    .bad(json!({"@context": [V2]}))
    .bad(json!({"@context": [V2, {"other": "https://a.example/#member"}]}));
    let resource = |members: Value| {
        let digest = "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=";
        let mut object = json!({"id": "https://a.example/logo", "digestSRI": digest});
        for (name, member) in map(members) {
            match member {
                Value::Null => drop(object.as_object_mut().unwrap().remove(&name)),
                member => object[name] = member,
            }
        }
        object
    };
    let multibase = "uEiAjCHMnK5-ayOIZLWo_TBoKYVvSAprlkYEjRlm19Cj0uw";
    s.says("vc-5.3-form", "5.3", "relatedResource is one or more objects.")
        .good(json!({"relatedResource": resource(json!({"mediaType": "image/png"}))}))
        .bad(json!({"relatedResource": ["https://a.example/logo"]}))
        .bad(json!({"relatedResource": resource(json!({"mediaType": 1}))}));
    s.says("vc-5.3-id", "5.3", "A related resource has a URL as id.")
        .good(json!({"relatedResource": [resource(json!({}))]}))
        .bad(json!({"relatedResource": resource(json!({"id": null}))}))
        .bad(json!({"relatedResource": resource(json!({"id": "logo"}))}));
    s.says("vc-5.3-unique", "5.3", "No two related resources have the same id.")
        .good(json!({"relatedResource": [resource(json!({})), resource(json!({"id": "https://a.example/2"}))]}))
        .bad(json!({"relatedResource": [resource(json!({})), resource(json!({"digestSRI": null, "digestMultibase": multibase}))]}));
    s.says("vc-5.3-digest", "5.3", "A related resource has digestSRI or digestMultibase.")
        .good(json!({"relatedResource": resource(json!({"digestSRI": null, "digestMultibase": multibase}))}))
        .good(json!({"relatedResource": resource(json!({"digestMultibase": multibase}))}))
        .bad(json!({"relatedResource": resource(json!({"digestSRI": null}))}))
        .bad(json!({"relatedResource": resource(json!({"digestSRI": "md5-AAAA"}))}))
        .bad(json!({"relatedResource": resource(json!({"digestMultibase": "!"}))}));
    for (id, section, name, statement) in [
        ("vc-5.4-refresh", "5.4", "refreshService", "refreshService is one or more services with a type."),
        ("vc-5.5-terms", "5.5", "termsOfUse", "termsOfUse is one or more policies with a type."),
        (
            "vc-5.6-evidence",
            "5.6",
            "evidence",
            "evidence is one or more objects with a type, and an id that is a URL if there is one.",
        ),
        (
            "vc-5.10-confidence",
            "5.10",
            "confidenceMethod",
            "The value of a reserved extension point has a type.",
        ),
        ("vc-5.10-render", "5.10", "renderMethod", "The value of a reserved extension point has a type."),
    ] {
        s.says(id, section, statement)
            .good(json!({name: typed(json!({"id": "urn:a:b"}))}))
            .good(json!({name: [typed(json!({})), typed(json!({}))]}))
            .bad(json!({name: {"id": "urn:a:b"}}))
            .bad(json!({name: "urn:a:b"}))
            .bad(json!({name: typed(json!({"id": "two words"}))}));
    }
    s.says(
        "vc-5.8-offset",
        "5.8",
        "A time without an offset is UTC: it is refused here, and so read as nothing else.",
    )
    .good(json!({"validFrom": "2026-11-22T07:00:00+00:00"}))
    .refused(json!({"validFrom": "2026-11-22T07:00:00"}), "bad-time");
    s
}

fn presentation_statements() -> Statements {
    let token = "eyJhbGciOiJNTC1EU0EtNjUifQ.e30.AA";
    let enveloped = json!({
        "@context": [V2], "type": "EnvelopedVerifiableCredential", "id": format!("data:application/vc+jwt,{token}"),
    });
    let base = json!({
        "@context": [V2], "type": ["VerifiablePresentation"], "holder": "did:web:holder.example",
        "verifiableCredential": [enveloped],
    });
    let with = |object: &Value, members: Value| {
        let mut object = object.clone();
        for (name, member) in map(members) {
            match member {
                Value::Null => drop(object.as_object_mut().unwrap().remove(&name)),
                member => object[name] = member,
            }
        }
        object
    };
    let mut s = Statements::new(base, "presentation");
    s.says("vp-4.3-context", "4.3", "A presentation has a @context whose first item is the base context.")
        .good(json!({}))
        .bad(json!({"@context": null}))
        .bad(json!({"@context": [vc::UNDEFINED_TERMS]}))
        .bad(json!({"@context": [V2, "https ://a.example"]}))
        .bad(json!({"@context": [V2, 1]}));
    s.says("vp-4.13-id", "4.13", "The id of a presentation is one URL, if it is there.")
        .good(json!({"id": "urn:uuid:3978344f-8596-4c3a-a978-8fcaba3903c5"}))
        .bad(json!({"id": "one"}))
        .bad(json!({"id": ["urn:a:b"]}));
    s.says("vp-4.13-type", "4.13", "A presentation has a type; one is VerifiablePresentation.")
        .good(json!({"type": "VerifiablePresentation"}))
        .good(json!({"type": ["https://a.example/#T", "VerifiablePresentation"]}))
        .bad(json!({"type": null}))
        .bad(json!({"type": ["https://a.example/#T"]}))
        .bad(json!({"type": ["VerifiablePresentation", "T"]}));
    s.says(
        "vp-4.13-credentials",
        "4.13",
        "verifiableCredential is one or more credentials, and never text or a URL.",
    )
    .good(json!({"verifiableCredential": enveloped}))
    .good(json!({"verifiableCredential": null}))
    .bad(json!({"verifiableCredential": token}))
    .bad(json!({"verifiableCredential": ["https://a.example/credential"]}))
    .bad(json!({"verifiableCredential": [1]}))
    .bad(json!({"verifiableCredential": []}))
    .bad(json!({"verifiableCredential": [{"@context": [V2], "credentialSubject": {"id": "urn:a:b"}}]}));
    s.says(
        "vp-4.13-holder",
        "4.13",
        "The holder is a URL, or an object whose id is one; it may be left out.",
    )
    .good(json!({"holder": null}))
    .good(json!({"holder": {"id": "did:web:holder.example"}}))
    .bad(json!({"holder": "holder"}))
    .bad(json!({"holder": {"name": "Holder"}}));
    s.says("vp-4.13-terms", "4.13", "Terms of use of a presentation have a type (§5.5).")
        .good(json!({"termsOfUse": {"type": "https://a.example/#T"}}))
        .bad(json!({"termsOfUse": {"id": "urn:a:b"}}));
    let inside = |members: Value| json!({"verifiableCredential": [with(&enveloped, members)]});
    s.says("vp-4.13.1-context", "4.13.1", "An enveloped credential has a context that defines it.")
        .good(inside(json!({})))
        .good(inside(json!({"@context": V2})))
        .bad(inside(json!({"@context": null})))
        .bad(inside(json!({"@context": "https://a.example"})))
        .bad(inside(json!({"@context": {"@vocab": "https://a.example/#"}})))
        .bad(inside(json!({"@context": ["https://a.example"]})));
    s.says("vp-4.13.1-id", "4.13.1", "The id of an enveloped credential is a data: URL.")
        .good(inside(json!({})))
        .bad(inside(json!({"id": null})))
        .bad(inside(json!({"id": "https://a.example/credential"})))
        .bad(inside(json!({"id": "data:application/vc+jwt"})));
    s.says(
        "vp-4.13.1-type",
        "4.13.1",
        "The type of an enveloped credential is EnvelopedVerifiableCredential.",
    )
    .good(inside(json!({"type": ["EnvelopedVerifiableCredential"]})))
    .bad(inside(json!({"type": null})))
    .bad(inside(json!({"type": "EnvelopedVerifiablePresentation"})))
    .bad(inside(json!({"type": ["EnvelopedVerifiableCredential", "https://a.example/#T"]})));
    let own = json!({
        "@context": [V2], "type": "VerifiableCredential", "issuer": "did:web:holder.example",
        "credentialSubject": {"id": "did:web:holder.example"},
    });
    let embedded = |members: Value| with(&own, members);
    s.says(
        "vp-4.13.4-holder",
        "4.13.4",
        "With a self-asserted credential that only the presentation secures, there is a holder.",
    )
    .good(json!({"verifiableCredential": own}))
    .bad(json!({"verifiableCredential": own, "holder": null}));
    s.says("vp-4.13.4-issuer", "4.13.4", "The issuer of such a credential is the holder.")
        .good(json!({"verifiableCredential": [own, embedded(json!({"issuer": {"id": "did:web:holder.example"}}))]}))
        .bad(json!({"verifiableCredential": embedded(json!({"issuer": "did:web:issuer.example"}))}));
    s
}

/// The `did:key` of an agent's key, and the URL of that key as a JWK.
fn did_key(agent: &Agent) -> (Did, String) {
    let did = Did::from_key(&agent.key(Role::Signing).verifying_key());
    let url = format!("{did}#{}-jwk", did.method_specific_id());
    (did, url)
}

fn secured_statements() -> Statements {
    let world = World::new();
    let (did, kid) = did_key(&world.issuer);
    let credential = json!({
        "@context": [V2], "type": ["VerifiableCredential"], "issuer": did.as_str(),
        "credentialSubject": {"id": "did:web:subject.example"},
    });
    let token = |header: Value, payload: &Value| {
        let mut header = map(header);
        header.entry("kid").or_insert_with(|| kid.clone().into());
        forge(&world.issuer, Role::Signing, header.into(), payload.to_string().as_bytes())
    };
    let header = || json!({"typ": "vc+jwt", "cty": "vc"});
    let good = token(header(), &credential);
    let mut unexpired = credential.clone();
    unexpired["validUntil"] = NOW.to_string().into();
    let mut expired = credential.clone();
    expired["validUntil"] = "2026-11-22T06:59:59Z".into();
    let mut early = credential.clone();
    early["validFrom"] = "2026-11-22T07:00:01Z".into();
    let mut s = Statements::new(Value::Null, "secured");
    s.says("vc-4.12-secured", "4.12", "A credential is secured by a mechanism; one that is not is refused.")
        .add(good.clone().into(), None)
        .add(credential.to_string().into(), Some("unsecured"));
    let (input, signature) = good.rsplit_once('.').unwrap();
    let flipped =
        format!("{input}.{}{}", if signature.starts_with('A') { "B" } else { "A" }, &signature[1..]);
    s.says(
        "vc-7.1-signature",
        "7.1",
        "A verifier verifies the mechanism, and returns an error if it does not hold.",
    )
    .add(good.clone().into(), None)
    .add(flipped.into(), Some("bad-signature"));
    s.says("vc-7.1-form", "7.1", "A verifier checks the form of what is secured too.")
        .add(good.clone().into(), None)
        .add(token(header(), &json!({"@context": [V2]})).into(), Some("bad-form"));
    s.says("vc-7.1-media-type", "7.1", "A verifier knows the media type of what it verifies (§5.13, §6.2).")
        .add(token(json!({"typ": "application/vc+jwt", "cty": "vc"}), &credential).into(), None)
        .add(token(json!({"typ": "vp+jwt", "cty": "vp"}), &credential).into(), Some("bad-type"))
        .add(token(json!({"typ": "JWT"}), &credential).into(), Some("bad-type"));
    s.says("vc-4.9-time", "4.9", "A credential is good from validFrom until validUntil.")
        .add(token(header(), &unexpired).into(), None)
        .add(token(header(), &expired).into(), Some("expired"))
        .add(token(header(), &early).into(), Some("not-yet-valid"));
    s.says("vc-6.1-compact", "6.1", "The compacted form of JSON-LD is the only one: one object.")
        .add(good.into(), None)
        .add(token(header(), &json!([credential])).into(), Some("bad-form"));
    s
}

/// A document with a Data Integrity proof by the `did:key` of an agent's key for that, which stands in a member of it.
fn with_proof(agent: &Agent, mut document: Value, names_did: &str) -> Value {
    let did = Did::from_key(&agent.key(Role::DataIntegrity).verifying_key());
    document[names_did] = did.as_str().into();
    let proof = json!({
        "type": "DataIntegrityProof", "cryptosuite": data_integrity::CRYPTOSUITE, "created": NOW.to_string(),
        "verificationMethod": format!("{did}#{}", did.method_specific_id()), "proofPurpose": "assertionMethod",
        "@context": document["@context"],
    });
    let hash = data_integrity::hash_data(&map(proof.clone()), &map(document.clone())).unwrap();
    let signature = agent.key(Role::DataIntegrity).sign(b"", &hash).unwrap();
    document["proof"] = proof;
    document["proof"]["proofValue"] = format!("u{}", Base64UrlUnpadded::encode_string(&signature)).into();
    document
}

/// What §5.13 and §7.2 say of verification: what comes back, and as what an error is told.
fn verification_statements() -> Statements {
    let world = World::new();
    let (did, kid) = did_key(&world.issuer);
    let credential = json!({
        "@context": [V2], "type": ["VerifiableCredential"], "issuer": did.as_str(),
        "credentialSubject": {"id": "did:web:subject.example"},
    });
    let header = || json!({"typ": "vc+jwt", "cty": "vc", "kid": kid.clone()});
    let token = |payload: &str| forge(&world.issuer, Role::Signing, header(), payload.as_bytes());
    let inside = with_proof(&world.issuer, credential.clone(), "issuer");
    let mut s = Statements::new(Value::Null, "secured");
    let mut changed = inside.clone();
    changed["credentialSubject"]["id"] = "did:web:other.example".into();
    s.says("vc-5.13-secured", "5.13", "Verification returns what was secured, and nothing of the mechanism.")
        .add(inside.to_string().into(), None)
        .add(changed.to_string().into(), Some("bad-signature"));
    let good = token(&credential.to_string());
    let of_another = {
        let (input, _) = good.rsplit_once('.').unwrap();
        let other = token(&inside.to_string());
        format!("{input}.{}", other.rsplit_once('.').unwrap().1)
    };
    let mut expired = credential.clone();
    expired["validUntil"] = "2026-11-22T06:59:59Z".into();
    let mut formless = credential.clone();
    formless["credentialSubject"] = json!([]);
    s.says(
        "vc-7.2-problems",
        "7.2",
        "A problem has a type by what is wrong: the text, the signature, a value, a range.",
    )
    .add(good.into(), None)
    .add(token("{").into(), Some("bad-json"))
    .add(of_another.into(), Some("bad-signature"))
    .add(token(&formless.to_string()).into(), Some("bad-form"))
    .add(token(&expired.to_string()).into(), Some("expired"));
    s
}

/// What §4.13.2, §6.2 and §7.1 say of secured presentations.
fn presented_statements() -> Statements {
    let world = World::new();
    let (did, kid) = did_key(&world.holder);
    let (issuer, issuer_kid) = did_key(&world.issuer);
    let credential = json!({
        "@context": [V2], "type": ["VerifiableCredential"], "issuer": issuer.as_str(),
        "credentialSubject": {"id": did.as_str()},
    });
    let credential = forge(
        &world.issuer,
        Role::Signing,
        json!({"typ": "vc+jwt", "cty": "vc", "kid": issuer_kid}),
        credential.to_string().as_bytes(),
    );
    let inside = |media: &str, token: &str| json!({"@context": [V2], "type": "EnvelopedVerifiableCredential", "id": format!("data:{media},{token}")});
    let presentation = json!({
        "@context": [V2], "type": ["VerifiablePresentation"], "holder": did.as_str(),
        "verifiableCredential": [inside("application/vc+jwt", &credential)],
        "aud": AUDIENCE, "nonce": NONCE, "iat": NOW.0,
    });
    let signed = |typ: &str, cty: &str, members: Value| {
        let mut payload = presentation.clone();
        payload.as_object_mut().unwrap().extend(map(members));
        let header = json!({"typ": typ, "cty": cty, "kid": kid.clone()});
        forge(&world.holder, Role::Signing, header, payload.to_string().as_bytes())
    };
    let good = signed("vp+jwt", "vp", json!({}));
    let (input, _) = good.rsplit_once('.').unwrap();
    let other = signed("vp+jwt", "vp", json!({"jti": "urn:a:b"}));
    let of_another = format!("{input}.{}", other.rsplit_once('.').unwrap().1);
    let mut s = Statements::new(Value::Null, "secured-presentation");
    s.says("vc-7.1-presentation", "7.1", "A verifier verifies what secures a presentation, and its form.")
        .add(good.clone().into(), None)
        .add(of_another.clone().into(), Some("bad-signature"))
        .add(presentation.to_string().into(), Some("unsecured"))
        .add(signed("vp+jwt", "vp", json!({"type": ["Presentation"]})).into(), Some("bad-form"));
    let (head, _) = credential.rsplit_once('.').unwrap();
    let unsigned = format!("{head}.{}", good.rsplit_once('.').unwrap().1);
    let unsigned = json!({"verifiableCredential": inside("application/vc+jwt", &unsigned)});
    let mut own = map(json!({"@context": [V2], "type": ["VerifiableCredential"], "issuer": did.as_str()}));
    own.insert("credentialSubject".into(), json!({"id": did.as_str()}));
    s.says("vc-7.1-inside", "7.1", "A verifier verifies each credential in a presentation.")
        .add(good.clone().into(), None)
        .add(signed("vp+jwt", "vp", unsigned).into(), Some("bad-signature"))
        .add(signed("vp+jwt", "vp", json!({"verifiableCredential": own})).into(), Some("unsecured"));
    let another = json!({"verifiableCredential": inside("application/vp+jwt", &credential)});
    s.says(
        "vc-6.2-media-types",
        "6.2",
        "Media types tell credentials from presentations, and secured ones from others.",
    )
    .add(good.clone().into(), None)
    .add(signed("application/vp+jwt", "vp", json!({})).into(), None)
    .add(signed("vc+jwt", "vc", json!({})).into(), Some("bad-type"))
    .add(signed("vp+jwt", "vc", json!({})).into(), Some("bad-type"))
    .add(signed("vp+jwt", "vp", another).into(), Some("bad-type"));
    enveloped_statements(&mut s, &good, &of_another);
    s
}

/// What §4.13.2 says of a secured presentation in an object.
fn enveloped_statements(s: &mut Statements, good: &str, forged: &str) {
    let data = |media: &str, token: &str| json!({"id": format!("data:{media},{token}")});
    s.base = json!({
        "@context": [V2], "type": "EnvelopedVerifiablePresentation", "id": format!("data:application/vp+jwt,{good}"),
    });
    let add = |s: &mut Statements, members: Value, reason: Option<&str>| {
        let input = s.with(members).to_string();
        s.add(input.into(), reason);
    };
    s.says("vp-4.13.2-context", "4.13.2", "An enveloped presentation has a context that defines it.");
    add(s, json!({}), None);
    add(s, json!({"@context": V2}), None);
    add(s, json!({"@context": null}), Some("bad-form"));
    add(s, json!({"@context": "https://a.example"}), Some("bad-form"));
    add(s, json!({"@context": ["https://a.example"]}), Some("bad-form"));
    s.says("vp-4.13.2-id", "4.13.2", "The id of an enveloped presentation is a data: URL that holds it.");
    add(s, data("Application/VP+JWT", good), None);
    add(s, json!({"id": null}), Some("bad-form"));
    add(s, json!({"id": "https://a.example/presentation"}), Some("bad-form"));
    add(s, json!({"id": "data:application/vp+jwt"}), Some("bad-form"));
    s.says(
        "vp-4.13.2-type",
        "4.13.2",
        "The type of an enveloped presentation is EnvelopedVerifiablePresentation.",
    );
    add(s, json!({"type": ["EnvelopedVerifiablePresentation"]}), None);
    add(s, json!({"type": null}), Some("bad-form"));
    add(s, json!({"type": "EnvelopedVerifiableCredential"}), Some("bad-form"));
    add(s, json!({"type": ["EnvelopedVerifiablePresentation", "https://a.example/#T"]}), Some("bad-form"));
    s.says("vp-4.13.2-secured", "4.13.2", "What is enveloped is a secured presentation.");
    add(s, data("application/vp+jwt", good), None);
    add(s, data("application/vc+jwt", good), Some("bad-type"));
    add(s, data("application/vp+jwt", forged), Some("bad-signature"));
}

const AUDIENCE: &str = "https://verifier.example";
const NONCE: &str = "1";

/// The problem of a refusal, as the VC API tells it (§7.2).
fn problem(world: &World, token: &str) -> Option<String> {
    let lists = StatusStore::default();
    let api = Api {
        agent: &world.issuer,
        resolver: &world.cards,
        status: Status::Required(&lists),
        form: Form::Enveloped,
    };
    let enveloped = json!({
        "@context": [V2], "type": "EnvelopedVerifiableCredential", "id": format!("data:application/vc+jwt,{token}"),
    });
    let (status, body) =
        api.verify_credential(json!({"verifiableCredential": enveloped}).to_string().as_bytes(), NOW);
    let problem = body["problemDetails"][0].clone();
    assert_eq!(status == 400, problem["title"].is_string() && problem["detail"].is_string());
    problem["type"]
        .as_str()
        .and_then(|kind| kind.strip_prefix("https://www.w3.org/TR/vc-data-model#"))
        .map(str::to_owned)
}

#[test]
fn the_statements_of_the_data_model_are_kept() {
    let cards = CardStore::default();
    let lists = StatusStore::default();
    let mut all = Vec::new();
    let mut statements = 0;
    let (mut problems, world) = (Vec::new(), World::new());
    for part in [
        credential_statements(),
        presentation_statements(),
        secured_statements(),
        verification_statements(),
        presented_statements(),
    ] {
        statements += part.statements.len();
        for mut vector in part.vectors {
            let input = vector["input"].clone();
            let outcome = match vector["kind"].as_str().unwrap() {
                "credential" => vc::check_credential(input.as_object().unwrap()),
                "presentation" => vc::check_presentation(input.as_object().unwrap()),
                "secured-presentation" => {
                    vector["now"] = NOW.0.into();
                    vector["audience"] = AUDIENCE.into();
                    vector["nonce"] = NONCE.into();
                    let request =
                        Request { audience: AUDIENCE, nonce: NONCE, max_age: 120, binding: Binding::Subject };
                    let text = input.as_str().unwrap();
                    Presentation::verify(text, &cards, NOW, &request, Status::Required(&lists)).map(drop)
                }
                _ => {
                    vector["now"] = NOW.0.into();
                    let text = input.as_str().unwrap();
                    if vector["section"] == "7.2" {
                        problems.push(problem(&world, text));
                    }
                    let found = Credential::verify(text, &cards, NOW, Status::Required(&lists));
                    // §5.13: what comes back has nothing of the mechanism in it.
                    found.map(|found| assert!(!found.json().contains_key("proof")))
                }
            };
            judge(&vector, outcome);
            all.push(vector);
        }
    }
    every_statement_has_both(&all);
    let kinds =
        ["PARSING_ERROR", "CRYPTOGRAPHIC_SECURITY_ERROR", "MALFORMED_VALUE_ERROR", "RANGE_ERROR"].map(Some);
    assert_eq!(problems[0], None);
    assert_eq!(problems[1..].iter().map(Option::as_deref).collect::<Vec<_>>(), kinds);
    assert_eq!(statements, 66, "statements of VC Data Model 2.0");
    vector_file::committed("vc", all, 269);
}
