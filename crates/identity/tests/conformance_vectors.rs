//! `vectors/vc.json` and `vectors/did.json`: each statement of the W3C standards that binds a reader of credentials or DID
//! documents, with inputs that keep it and inputs that do not.

#![allow(clippy::unwrap_used)] // A test may fail that way.

mod common;
mod world;

use base64ct::{Base64UrlUnpadded, Encoding};
use gambeson_identity::vc::api::{Api, Form};
use gambeson_identity::vc::{
    self, Binding, Credential, Presentation, Request, Status, StatusStore, data_integrity,
};
use gambeson_identity::{
    Agent, CardLog, CardStore, Did, DidDocument, DidUrl, Error, Fetch, Kind, Relationship, Role, Suite,
    Timestamp, Web, json as strict, resolution,
};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use world::{DAY, NOW, World, expect, forge, judge, map};

/// Collects the inputs of one statement after the other.
struct Statements {
    base: Value,
    kind: &'static str,
    vectors: Vec<Value>,
    statements: BTreeSet<&'static str>,
    current: (&'static str, &'static str, &'static str),
    good: usize,
    bad: usize,
}

impl Statements {
    fn new(base: Value, kind: &'static str) -> Self {
        let (vectors, statements) = (Vec::new(), BTreeSet::new());
        Self { base, kind, vectors, statements, current: ("", "", ""), good: 0, bad: 0 }
    }

    /// Begins a statement.
    fn says(&mut self, id: &'static str, section: &'static str, statement: &'static str) -> &mut Self {
        assert!(self.statements.insert(id), "{id} stands twice");
        self.current = (id, section, statement);
        (self.good, self.bad) = (0, 0);
        self
    }

    fn add(&mut self, input: Value, reason: Option<&str>) -> &mut Self {
        let (id, section, statement) = self.current;
        let (what, number) = match reason {
            None => ("good", &mut self.good),
            Some(_) => ("bad", &mut self.bad),
        };
        *number += 1;
        let vector = json!({
            "id": format!("{id}-{what}-{number}"), "section": section, "statement": statement, "kind": self.kind,
            "input": input,
        });
        self.vectors.push(expect(vector, reason));
        self
    }

    /// The base with these members; `null` takes one away.
    fn with(&self, members: Value) -> Value {
        let mut input = self.base.clone();
        for (name, member) in map(members) {
            match member {
                Value::Null => drop(input.as_object_mut().unwrap().remove(&name)),
                member => input[name] = member,
            }
        }
        input
    }

    fn good(&mut self, members: Value) -> &mut Self {
        self.add(self.with(members), None)
    }

    fn bad(&mut self, members: Value) -> &mut Self {
        self.add(self.with(members), Some("bad-form"))
    }

    fn refused(&mut self, members: Value, reason: &str) -> &mut Self {
        self.add(self.with(members), Some(reason))
    }

    /// A resolution that gives this.
    fn finds(&mut self, input: Value, metadata: Value, content: &Value, about: Value) -> &mut Self {
        self.add(input, None)
            .returns(json!({"metadata": metadata, "content": content, "contentMetadata": about}))
    }

    /// One that gives nothing but an error of the standard, and why.
    fn fails(&mut self, input: Value, error: &str, reason: &str) -> &mut Self {
        let returned = json!({"metadata": {"error": error}, "content": null, "contentMetadata": {}});
        self.add(input, Some(reason)).returns(returned)
    }

    fn returns(&mut self, returned: Value) -> &mut Self {
        self.vectors.last_mut().unwrap()["returned"] = returned;
        self
    }
}

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
    s.says("vp-4.13-holder", "4.13", "The holder is a URL, or an object whose id is one.")
        .good(json!({"holder": {"id": "did:web:holder.example"}}))
        .bad(json!({"holder": "holder"}))
        .bad(json!({"holder": {"name": "Holder"}}));
    s.says("vp-4.13-terms", "4.13", "Terms of use of a presentation have a type (§5.5).")
        .good(json!({"termsOfUse": {"type": "https://a.example/#T"}}))
        .bad(json!({"termsOfUse": {"id": "urn:a:b"}}));
    let inside = |members: Value| json!({"verifiableCredential": [with(&enveloped, members)]});
    s.says("vp-4.13.1-context", "4.13.1", "An enveloped credential has a context that defines it.")
        .good(inside(json!({})))
        .bad(inside(json!({"@context": null})))
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
    add(s, json!({"@context": null}), Some("bad-form"));
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
    assert_eq!(statements, 64, "statements of VC Data Model 2.0");
    common::committed("vc", all, 257);
}

fn every_statement_has_both(vectors: &[Value]) {
    let ids = |bad: bool| -> BTreeSet<&str> {
        let chosen = vectors.iter().filter(|vector| vector.get("reason").is_some() == bad);
        chosen
            .map(|vector| vector["id"].as_str().unwrap())
            .map(|id| id.rsplitn(3, '-').nth(2).unwrap())
            .collect()
    };
    assert_eq!(ids(true), ids(false), "every statement has good and bad inputs");
}

fn did_statements() -> Vec<Statements> {
    let mut dids = Statements::new(Value::Null, "did");
    dids.says(
        "did-3.1-syntax",
        "3.1",
        "A DID is did:, a method in lower case and digits, :, and an identifier.",
    );
    for good in [
        "did:example:123456789abcdefghi",
        "did:web:example.com:agents:one",
        "did:ex4:a.b-c_d:%41",
        "did:gambeson:uHiAAAQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHw",
    ] {
        dids.add(good.into(), None);
    }
    for bad in [
        "did",
        "did:",
        "did:example",
        "did:example:",
        "did::123",
        "did:Example:123",
        "DID:example:123",
        "did:exa-mple:123",
        "did:example:123:",
        "did:example:1/2",
        "did:example:1?2",
        "did:example:1#2",
        "did:example:1 2",
        "did:example:%4",
        "did:example:%zz",
        "did:example:é",
        " did:example:1",
    ] {
        dids.add(bad.into(), Some("bad-did"));
    }
    dids.says("did-8.1-method", "8.1", "An identifier has the syntax that its method defines.");
    dids.add("did:web:example.com%3A8443".into(), None);
    dids.add("did:web:0x7f.0xample".into(), None);
    for bad in [
        "did:gambeson:uAAAA",
        "did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK",
        "did:web:127.0.0.1",
        "did:web:0x7f000001",
        "did:web:127.0.0.0X1",
        "did:web:0xa9fea9fe%3A8443",
    ] {
        dids.add(bad.into(), Some("bad-did"));
    }
    let urls = did_url_statements();

    let agent = World::new().issuer;
    let did = "did:web:example.com";
    let jwk = agent.key(Role::DataIntegrity).verifying_key().to_jwk();
    let multikey = agent.key(Role::DataIntegrity).verifying_key().to_multikey();
    let method = |members: Value| {
        let mut method = json!({"id": format!("{did}#key-1"), "type": "JsonWebKey", "controller": did, "publicKeyJwk": jwk});
        for (name, member) in map(members) {
            match member {
                Value::Null => drop(method.as_object_mut().unwrap().remove(&name)),
                member => method[name] = member,
            }
        }
        method
    };
    let base = json!({"@context": ["https://www.w3.org/ns/did/v1"], "id": did});
    let mut s = Statements::new(base, "document");
    let methods = |all: &[Value]| json!({"verificationMethod": all});
    s.says("did-5.1.1-id", "5.1.1", "id is a DID, and stands in the root of the document.")
        .good(json!({}))
        .bad(json!({"id": null}))
        .bad(json!({"id": 1}))
        .refused(json!({"id": "https://example.com"}), "bad-did")
        .refused(json!({"id": "did:web:example.com#key-1"}), "bad-did");
    s.says("did-5.1.2-controller", "5.1.2", "controller is a DID or a set of DIDs.")
        .good(json!({"controller": "did:example:1"}))
        .good(json!({"controller": ["did:example:1", "did:example:2"]}))
        .bad(json!({"controller": 1}))
        .bad(json!({"controller": [1]}))
        .bad(json!({"controller": {}}))
        .refused(json!({"controller": "https://example.com"}), "bad-did")
        .refused(json!({"controller": ["did:example:1", "two"]}), "bad-did");
    s.says("did-5.1.3-also", "5.1.3", "alsoKnownAs is a set of URIs.")
        .good(json!({"alsoKnownAs": ["https://example.com/one", "did:example:1"]}))
        .bad(json!({"alsoKnownAs": "https://example.com"}))
        .bad(json!({"alsoKnownAs": ["not a uri"]}))
        .bad(json!({"alsoKnownAs": [1]}))
        .bad(json!({"alsoKnownAs": ["urn:a:b", "urn:a:b"]}));
    s.says("did-5.2-set", "5.2", "verificationMethod is a set of maps.")
        .good(methods(&[method(json!({}))]))
        .bad(json!({"verificationMethod": method(json!({}))}))
        .bad(methods(&["did:web:example.com#key-1".into()]))
        .bad(methods(&[method(json!({})), method(json!({}))]));
    s.says(
        "did-5.2-members",
        "5.2",
        "A verification method has id, type, controller, and the material that its type asks for.",
    )
    .good(methods(&[method(json!({}))]))
    .bad(methods(&[method(json!({"id": null}))]))
    .bad(methods(&[method(json!({"type": null}))]))
    .bad(methods(&[method(json!({"controller": null}))]))
    .bad(methods(&[method(json!({"publicKeyJwk": null}))]))
    .bad(methods(&[method(json!({"type": "Multikey", "publicKeyJwk": null}))]));
    s.says("did-5.2-id", "5.2", "The id of a verification method is a DID URL.")
        .good(methods(&[method(json!({"id": "did:example:other#key-1"}))]))
        .good(methods(&[method(json!({"id": "did:web:example.com/keys?year=2026#key-1"}))]))
        .bad(methods(&[method(json!({"id": 1}))]))
        .refused(methods(&[method(json!({"id": "https://example.com#key-1"}))]), "bad-did")
        .refused(methods(&[method(json!({"id": "did:web:example.com#key 1"}))]), "bad-did");
    s.says("did-5.2-type", "5.2", "The type of a verification method is one text.")
        .good(methods(&[method(json!({"type": "JsonWebKey2020"}))]))
        .bad(methods(&[method(json!({"type": ["JsonWebKey"]}))]))
        .bad(methods(&[method(json!({"type": 1}))]));
    s.says("did-5.2-controller", "5.2", "The controller of a verification method is a DID.")
        .good(methods(&[method(json!({"controller": "did:example:1"}))]))
        .bad(methods(&[method(json!({"controller": ["did:example:1"]}))]))
        .refused(methods(&[method(json!({"controller": "https://example.com"}))]), "bad-did");
    s.says("did-5.2.1-jwk", "5.2.1", "publicKeyJwk is a map that is a JSON Web Key.")
        .good(methods(&[method(json!({"publicKeyJwk": {"kty": "OKP", "crv": "Ed25519", "x": "lJZrfAjkBXdfjebMHEUI9usidAPhAlssitLXR3OYxbI"}}))]))
        .bad(methods(&[method(json!({"publicKeyJwk": "key"}))]))
        .bad(methods(&[method(json!({"publicKeyJwk": {"kty": "AKP"}}))]))
        .refused(methods(&[method(json!({"publicKeyJwk": {"kty": "AKP", "alg": "ML-DSA-65", "pub": "AAAA"}}))]), "bad-key");
    let private = json!({"kty": "OKP", "crv": "Ed25519", "x": "AA", "d": "AA"});
    let seed = json!({"kty": "AKP", "alg": "ML-DSA-44", "pub": jwk["pub"], "priv": "AA"});
    s.says("did-5.2.1-private", "5.2.1", "publicKeyJwk has no private member.")
        .good(methods(&[method(json!({}))]))
        .refused(methods(&[method(json!({"publicKeyJwk": private}))]), "bad-key")
        .refused(methods(&[method(json!({"publicKeyJwk": seed}))]), "bad-key")
        .refused(methods(&[method(json!({"type": "JsonWebKey2020", "publicKeyJwk": private}))]), "bad-key")
        .refused(methods(&[method(json!({"publicKeyJwk": {"kty": "oct", "k": "AA"}}))]), "bad-key");
    for name in ["p", "q", "dp", "dq", "qi", "oth"] {
        let mut factors = json!({"kty": "RSA", "n": "AQAB", "e": "AQAB"});
        factors[name] = "AA".into();
        s.refused(methods(&[method(json!({"publicKeyJwk": factors}))]), "bad-key");
    }
    let multi = |value: Value| {
        methods(&[method(json!({"type": "Multikey", "publicKeyJwk": null, "publicKeyMultibase": value}))])
    };
    s.says("did-5.2.1-multibase", "5.2.1", "publicKeyMultibase is a multibase text of a public key.")
        .good(multi(multikey.clone().into()))
        .good(multi("z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK".into()))
        .bad(multi(1.into()))
        .refused(multi("!".into()), "bad-encoding")
        .refused(multi("z0OIl".into()), "bad-encoding")
        .refused(multi("uAA".into()), "bad-key");
    s.says("did-5.2.1-one", "5.2.1", "A verification method holds its key once.")
        .good(multi(multikey.clone().into()))
        .bad(methods(&[method(json!({"publicKeyMultibase": multikey}))]));
    s.says(
        "did-5.2.2-references",
        "5.2.2",
        "A relationship refers to a method by its URL, absolute or relative, or embeds it.",
    )
    .good(json!({"verificationMethod": [method(json!({}))], "authentication": [format!("{did}#key-1")]}))
    .good(json!({"verificationMethod": [method(json!({"id": "#key-1"}))], "authentication": ["#key-1"]}))
    .good(json!({"authentication": [method(json!({}))]}))
    .bad(json!({"authentication": [1]}))
    .bad(json!({"authentication": [method(json!({"type": null}))]}))
    .refused(json!({"authentication": ["https://example.com#key-1"]}), "bad-did");
    s.says(
        "did-3.2.2-same",
        "3.2.2",
        "Relative and absolute URLs of one document are compared after the relative ones were resolved.",
    )
    .good(methods(&[method(json!({"id": "#key-1"})), method(json!({"id": "keys#key-1"}))]))
    .bad(methods(&[method(json!({"id": "#key-1"})), method(json!({}))]))
    .bad(methods(&[method(json!({"id": "keys#key-1"})), method(json!({"id": "./a/../keys#key-1"}))]))
    .refused(methods(&[method(json!({"id": "//example.com#key-1"}))]), "bad-did");
    for (id, section, name) in [
        ("did-5.3.1-authentication", "5.3.1", "authentication"),
        ("did-5.3.2-assertion", "5.3.2", "assertionMethod"),
        ("did-5.3.3-agreement", "5.3.3", "keyAgreement"),
        ("did-5.3.4-invocation", "5.3.4", "capabilityInvocation"),
        ("did-5.3.5-delegation", "5.3.5", "capabilityDelegation"),
    ] {
        let url = format!("{did}#key-1");
        s.says(id, section, "A relationship is a set of one or more verification methods.")
            .good(json!({name: [url]}))
            .bad(json!({name: []}))
            .bad(json!({name: url}))
            .bad(json!({name: [url, "#key-1"]}));
    }
    let service = |members: Value| {
        let mut service = json!({"id": format!("{did}#mail"), "type": "Mail", "serviceEndpoint": "https://example.com/mail"});
        for (name, member) in map(members) {
            match member {
                Value::Null => drop(service.as_object_mut().unwrap().remove(&name)),
                member => service[name] = member,
            }
        }
        service
    };
    let services = |members: Value| json!({"service": [service(members)]});
    s.says("did-5.4-set", "5.4", "service is a set of maps.")
        .good(services(json!({})))
        .bad(json!({"service": service(json!({}))}))
        .bad(json!({"service": ["https://example.com"]}));
    s.says("did-5.4-members", "5.4", "A service has id, type and serviceEndpoint.")
        .good(services(json!({"extra": 1})))
        .bad(services(json!({"id": null})))
        .bad(services(json!({"type": null})))
        .bad(services(json!({"serviceEndpoint": null})));
    s.says("did-5.4-id", "5.4", "The id of a service is a URI.")
        .good(services(json!({"id": "https://example.com/#mail"})))
        .good(services(json!({"id": "#mail"})))
        .bad(services(json!({"id": "mail"})))
        .bad(services(json!({"id": 1})));
    s.says("did-5.4-unique", "5.4", "No two services have the same id.")
        .good(json!({"service": [service(json!({})), service(json!({"id": "#other"}))]}))
        .bad(json!({"service": [service(json!({})), service(json!({"type": "Other"}))]}))
        .bad(json!({"service": [service(json!({})), service(json!({"id": "#mail"}))]}));
    s.says("did-5.4-type", "5.4", "The type of a service is a text or a set of texts.")
        .good(services(json!({"type": ["Mail", "Calendar"]})))
        .bad(services(json!({"type": 1})))
        .bad(services(json!({"type": []})))
        .bad(services(json!({"type": ["Mail", 1]})));
    s.says("did-5.4-endpoint", "5.4", "serviceEndpoint is a text, a map, or a set of these.")
        .good(services(json!({"serviceEndpoint": {"uri": "https://example.com"}})))
        .good(services(json!({"serviceEndpoint": ["https://example.com", {"a": 1}]})))
        .bad(services(json!({"serviceEndpoint": 1})))
        .bad(services(json!({"serviceEndpoint": []})))
        .bad(services(json!({"serviceEndpoint": [1]})));
    s.says("did-5.4-endpoint-uri", "5.4", "Texts of serviceEndpoint are URIs.")
        .good(services(json!({"serviceEndpoint": "did:example:1"})))
        .bad(services(json!({"serviceEndpoint": "example.com/mail"})))
        .bad(services(json!({"serviceEndpoint": ["https://example.com", "two words"]})));
    s.says(
        "did-6.2.2-json",
        "6.2.2",
        "In application/did+json a document needs no context, and its members are those of the root.",
    )
    .good(json!({"@context": null}))
    .bad(json!({"@context": null, "id": null, "document": {"id": did}}));
    s.says("did-6.3.1-context", "6.3.1", "In application/did+ld+json @context is that of DID Core, or a list that begins with it.")
        .good(json!({"@context": "https://www.w3.org/ns/did/v1"}))
        .good(json!({"@context": ["https://www.w3.org/ns/did/v1", "https://w3id.org/security/jwk/v1", {"a": "urn:a:b"}]}))
        .bad(json!({"@context": "https://w3id.org/security/jwk/v1"}))
        .bad(json!({"@context": ["https://w3id.org/security/jwk/v1", "https://www.w3.org/ns/did/v1"]}))
        .bad(json!({"@context": []}))
        .bad(json!({"@context": {"a": "urn:a:b"}}));
    let mut text = Statements::new(Value::Null, "text");
    text.says("did-6.2.2-root", "6.2.2", "The root of a representation is an object; another is an error.");
    text.add(format!("{{\"id\":\"{did}\"}}").into(), None);
    for (bad, reason) in [
        ("[]", "bad-form"),
        ("\"did:web:example.com\"", "bad-form"),
        ("{\"id\":\"did:web:example.com\"", "bad-json"),
        ("{\"id\":\"did:web:example.com\",\"id\":\"did:web:example.org\"}", "bad-json"),
    ] {
        text.add(bad.into(), Some(reason));
    }
    let (first, second) = (world_card(), world_card());
    text.says(
        "did-6.1-produced",
        "6.1",
        "A producer makes conforming documents: the card of an agent is read again.",
    );
    text.add(first.into(), None);
    text.add(second.replacen("\"authentication\":[", "\"authentication\":[1,", 1).into(), Some("bad-form"));
    vec![
        dids,
        urls,
        relative_statements(),
        s,
        text,
        representation_statements(),
        key_statements(),
        resolution_statements(),
    ]
}

fn did_url_statements() -> Statements {
    let mut urls = Statements::new(Value::Null, "did-url");
    urls.says(
        "did-3.2-syntax",
        "3.2",
        "A DID URL is a DID, and a path, a query and a fragment of RFC 3986, each of which may be missing.",
    );
    for good in [
        "did:example:123",
        "did:example:123#key-1",
        "did:web:example.com:a#signing-0",
        "did:example:123456/path",
        "did:example:123456?versionId=1",
        "did:example:123?service=agent&relativeRef=/credentials#degree",
        "did:example:123/a%20b//c;d?e=%C3%A9&f?#g/h?i",
    ] {
        urls.add(good.into(), None);
    }
    for bad in [
        "",
        "#key-1",
        "/path",
        "did:example#key-1",
        "did:web:#key-1",
        "https://example.com#key-1",
        "did:example:123#a b",
        "did:example:123#a#b",
        "did:example:123#é",
        "did:example:123#%4",
        "did:example:123/a[b",
        "did:example:123?a\\b",
        "did:example:123?%zz",
    ] {
        urls.add(bad.into(), Some("bad-did"));
    }
    urls
}

/// What §3.2.2 says of references in a document.
fn relative_statements() -> Statements {
    let mut s = Statements::new(Value::Null, "relative");
    s.says(
        "did-3.2.2-resolved",
        "3.2.2",
        "A relative DID URL is resolved as RFC 3986, §5, says; the base is the DID of the document.",
    );
    let did = "did:web:example.com:a";
    for (reference, url) in [
        ("#key-1", "did:web:example.com:a#key-1"),
        ("", "did:web:example.com:a"),
        ("?versionId=1", "did:web:example.com:a?versionId=1"),
        ("path", "did:web:example.com:a/path"),
        ("/path?query#fragment", "did:web:example.com:a/path?query#fragment"),
        ("./b/../c/.", "did:web:example.com:a/c/"),
        ("../../b", "did:web:example.com:a/b"),
        ("b//../c", "did:web:example.com:a/b/c"),
        ("..", "did:web:example.com:a/"),
        ("b?../c#../d", "did:web:example.com:a/b?../c#../d"),
        ("did:example:1/x/../y#z", "did:example:1/y#z"),
    ] {
        s.add(json!({"did": did, "reference": reference}), None);
        s.vectors.last_mut().unwrap()["url"] = url.into();
    }
    for bad in ["https://example.com#key-1", "key:1", "//example.com", "did:web:#key-1", "a b", "#a#b", "%4"]
    {
        s.add(json!({"did": did, "reference": bad}), Some("bad-did"));
    }
    s
}

/// What §6 says of representations and their media types.
fn representation_statements() -> Statements {
    let mut s = Statements::new(Value::Null, "representation");
    let plain = json!({"id": "did:web:example.com"}).to_string();
    let linked = json!({"@context": "https://www.w3.org/ns/did/v1", "id": "did:web:example.com"}).to_string();
    let of = |media_type: &str, text: &str| json!({"mediaType": media_type, "text": text});
    s.says("did-6.1-media-type", "6.1", "The representation of a document is that of its media type.")
        .add(of("application/did+json", &plain), None)
        .add(of("application/did+ld+json", &linked), None)
        .add(of("Application/DID+JSON", &plain), None)
        .add(of("application/json", &plain), Some("bad-type"))
        .add(of("application/did+cbor", &plain), Some("bad-type"))
        .add(of("", &plain), Some("bad-type"));
    s.says("did-6.1-nonconforming", "6.1", "A consumer makes an error of a document that does not conform.")
        .add(of("application/did+json", &plain), None)
        .add(of("application/did+json", "{\"id\":\"did:web:\"}"), Some("bad-did"))
        .add(of("application/did+ld+json", "[]"), Some("bad-form"))
        .add(of("application/did+json", "{"), Some("bad-json"));
    s.says("did-6.3.1-required", "6.3.1", "In application/did+ld+json a document has a context.")
        .add(of("application/did+ld+json", &linked), None)
        .add(of("application/did+ld+json", &plain), Some("bad-form"));
    s
}

/// What §5.3 says of a key: what it may be used for is what the document says.
fn key_statements() -> Statements {
    let agent = World::new().issuer;
    let did = "did:web:example.com";
    let (message, context) = ("a message", "an application");
    let signature = agent.key(Role::Signing).sign(context.as_bytes(), message.as_bytes()).unwrap();
    let key = |id: &str| {
        let jwk = agent.key(Role::Signing).verifying_key().to_jwk();
        json!({"id": id, "type": "JsonWebKey", "controller": did, "publicKeyJwk": jwk})
    };
    let signed = |url: &str, members: Value| {
        let mut document = json!({"id": did});
        document.as_object_mut().unwrap().extend(map(members));
        json!({
            "document": document, "url": url, "message": message, "context": context,
            "signature": Base64UrlUnpadded::encode_string(&signature),
        })
    };
    let url = "did:web:example.com#key-1";
    let mut s = Statements::new(Value::Null, "signed");
    s.says("did-5.3-listed", "5.3", "A key that a relationship does not list is not used for it.")
        .add(signed(url, json!({"verificationMethod": [key("#key-1")], "assertionMethod": ["#key-1"]})), None)
        .add(
            signed(url, json!({"verificationMethod": [key("#key-1")], "authentication": ["#key-1"]})),
            Some("wrong-purpose"),
        )
        .add(signed(url, json!({"verificationMethod": [key("#key-1")]})), Some("wrong-purpose"));
    s.says("did-5.2.2-embedded", "5.2.2", "A key that a relationship embeds is for this one alone.")
        .add(signed(url, json!({"assertionMethod": [key(url)]})), None)
        .add(signed(url, json!({"authentication": [key(url)]})), Some("wrong-purpose"));
    let whole = "did:web:example.com/keys?n=1#key-1";
    s.says(
        "did-5.3-latest",
        "5.3",
        "A key that is not in the document is invalid or revoked: its whole URL counts.",
    )
    .add(signed(whole, json!({"assertionMethod": [key("keys?n=1#key-1")]})), None)
    .add(signed(url, json!({"assertionMethod": [key("keys?n=1#key-1")]})), Some("unknown-key"))
    .add(signed(url, json!({"assertionMethod": ["#key-1"]})), Some("unknown-key"));
    s
}

/// What §7 says of the functions that resolve and dereference, and of what they return.
fn resolution_statements() -> Statements {
    const LINKED: &str = "application/did+ld+json";
    const PLAIN: &str = "application/did+json";
    let did = "did:web:example.com";
    let key = json!({"id": "#key-1", "type": "Other", "controller": did});
    let service = json!({"id": "#mail", "type": "Mail", "serviceEndpoint": "mailto:a@example.com"});
    let document = json!({
        "@context": "https://www.w3.org/ns/did/v1", "id": did, "verificationMethod": [key],
        "authentication": [{"id": format!("{did}/keys?n=1#key-2"), "type": "Other", "controller": did}],
        "service": [service], "unknown": {"kept": [true, null]},
    });
    let mut plain = document.clone();
    plain.as_object_mut().unwrap().remove("@context");
    let ask = |function: &str, url: &str, members: Value| {
        let mut input = json!({"function": function, "url": url, "document": document});
        input.as_object_mut().unwrap().extend(map(members));
        input
    };
    let resolve = |did: &str, members: Value| ask("resolve", did, members);
    let represent = |did: &str, members: Value| ask("resolveRepresentation", did, members);
    let dereference = |url: &str, members: Value| ask("dereference", url, members);
    let other = json!({"document": {"id": "did:web:example.org"}});
    let mut s = Statements::new(Value::Null, "resolution");
    s.says("did-7.1-id", "7.1", "The document that resolving gives has the id that was asked for.")
        .finds(resolve(did, json!({})), json!({}), &document, json!({}))
        .fails(resolve(did, other.clone()), "notFound", "not-bound");
    s.says(
        "did-7.1-unsuccessful",
        "7.1",
        "Without success there is an error in the metadata, no document, and no metadata of one.",
    )
    .finds(resolve(did, json!({})), json!({}), &document, json!({}))
    .fails(resolve("did:example:123", json!({})), "notFound", "unknown-did")
    .fails(represent("did:example:123", json!({})), "notFound", "unknown-did")
    .fails(resolve(did, json!({"document": {"id": did, "service": 1}})), "notFound", "bad-form");
    s.says(
        "did-7.1-entries",
        "7.1",
        "The document is the one that the method gives, entries that nobody here knows included (§6.1).",
    )
    .finds(represent(did, json!({"accept": PLAIN})), json!({"contentType": PLAIN}), &plain, json!({}))
    .fails(
        represent(did, json!({"document": {"id": did, "authentication": []}})),
        "notFound",
        "bad-form",
    );
    s.says(
        "did-7.1.1-accept",
        "7.1.1",
        "The representation is the one that the caller prefers, if it is supported and available.",
    )
    .finds(represent(did, json!({"accept": LINKED})), json!({"contentType": LINKED}), &document, json!({}))
    .finds(represent(did, json!({"accept": PLAIN})), json!({"contentType": PLAIN}), &plain, json!({}))
    .finds(represent(did, json!({"document": plain})), json!({"contentType": PLAIN}), &plain, json!({}))
    .fails(
        represent(did, json!({"accept": "application/did+cbor"})),
        "representationNotSupported",
        "bad-type",
    )
    .fails(
        represent(did, json!({"accept": "application/did+json, text/plain"})),
        "representationNotSupported",
        "bad-type",
    );
    s.says(
        "did-7.1.2-content-type",
        "7.1.2",
        "contentType is the media type of the representation; resolve, which gives none, has none.",
    )
    .finds(represent(did, json!({})), json!({"contentType": LINKED}), &document, json!({}))
    .finds(resolve(did, json!({})), json!({}), &document, json!({}))
    .fails(
        represent(did, json!({"document": plain, "accept": LINKED})),
        "representationNotSupported",
        "bad-type",
    );
    s.says(
        "did-7.1.2-errors",
        "7.1.2",
        "The error is invalidDid for what is no DID, and notFound where there is no document.",
    )
    .finds(resolve(did, json!({})), json!({}), &document, json!({}))
    .fails(resolve("did:web:", json!({})), "invalidDid", "bad-did")
    .fails(resolve("did:web:example.com#key-1", json!({})), "invalidDid", "bad-did")
    .fails(represent("https://example.com", json!({})), "invalidDid", "bad-did")
    .fails(
        resolve("did:example:123", json!({"document": {"id": "did:example:123"}})),
        "notFound",
        "unknown-did",
    );
    carded(&mut s);
    s.says("did-7.2-document", "7.2", "A DID dereferences to its document, with the metadata of a document.")
        .finds(dereference(did, json!({})), json!({"contentType": LINKED}), &document, json!({}))
        .fails(dereference(did, other), "notFound", "not-bound");
    s.says(
        "did-7.2-fragment",
        "7.2",
        "The whole URL is dereferenced, to the resource that it names: a verification method, a service.",
    )
    .finds(
        dereference("did:web:example.com#key-1", json!({})),
        json!({"contentType": LINKED}),
        &key,
        json!({}),
    )
    .finds(
        dereference("did:web:example.com/keys?n=1#key-2", json!({})),
        json!({"contentType": LINKED}),
        &document["authentication"][0],
        json!({}),
    )
    .finds(
        dereference("did:web:example.com#mail", json!({})),
        json!({"contentType": LINKED}),
        &service,
        json!({}),
    )
    .fails(dereference("did:web:example.com#key-2", json!({})), "notFound", "unknown-key")
    .fails(dereference("did:web:example.com/path", json!({})), "notFound", "unknown-key")
    .fails(dereference("did:example:123#key-1", json!({})), "notFound", "unknown-did");
    s.says(
        "did-7.2.1-accept",
        "7.2.1",
        "The representation is the one that the caller prefers, if there is one.",
    )
    .finds(
        dereference("did:web:example.com#key-1", json!({"accept": PLAIN})),
        json!({"contentType": PLAIN}),
        &key,
        json!({}),
    )
    .fails(
        dereference("did:web:example.com#key-1", json!({"accept": "text/html"})),
        "representationNotSupported",
        "bad-type",
    );
    s.says("did-7.2.2-errors", "7.2.2", "The error is invalidDidUrl for what is no DID URL (§3.2).")
        .finds(dereference(did, json!({"accept": PLAIN})), json!({"contentType": PLAIN}), &plain, json!({}))
        .fails(dereference("did:web:example.com#a#b", json!({})), "invalidDidUrl", "bad-did")
        .fails(dereference("#key-1", json!({})), "invalidDidUrl", "bad-did");
    let timed = json!({"document": {"id": did, "service": [{
        "id": "did:web:example.com?versionTime=2021-05-10T17%3A00:00Z", "type": "A", "serviceEndpoint": "urn:a:b",
    }]}});
    s.says("did-3.2.1-version-time", "3.2.1", "versionTime is a time in UTC without fraction of a second.")
        .finds(
            dereference("did:web:example.com?versionTime=2021-05-10T17%3A00:00Z", timed.clone()),
            json!({"contentType": PLAIN}),
            &timed["document"]["service"][0],
            json!({}),
        )
        .fails(
            dereference("did:web:example.com?versionTime=2021-05-10T17:00:00Z", json!({})),
            "notFound",
            "unknown-key",
        );
    for bad in
        ["", "2021-05-10", "2021-05-10T17:00:00.5Z", "2021-05-10T17:00:00%2B01:00", "2021-05-10T17:00:00"]
    {
        let url = format!("did:web:example.com?service=files&versionTime={bad}");
        s.fails(dereference(&url, json!({})), "invalidDidUrl", "bad-time");
    }
    s
}

/// What §7.1.3 says of the metadata of a document, of which cards have some.
fn carded(s: &mut Statements) {
    let world = World::new();
    let log = |agent: &Agent| world.cards.log(agent.did()).unwrap();
    let resolve = |agent: &Agent, now: Timestamp| {
        let (did, lines) = (agent.did().as_str(), log(agent).to_lines());
        json!({"function": "resolve", "url": did, "log": lines, "now": now.0})
    };
    let document = |agent: &Agent| Value::from(log(agent).newest().document().json().clone());
    let (first, second) = (&world.holder, &world.issuer);
    s.says(
        "did-7.1.3-created",
        "7.1.3",
        "created is when the document was made, in UTC without fraction of a second; updated is missing until it is.",
    )
    .finds(
        resolve(first, NOW),
        json!({}),
        &document(first),
        json!({"versionId": "1", "created": "2026-10-23T07:00:00Z"}),
    )
    .fails(resolve(first, Timestamp(0)), "notFound", "not-yet-valid");
    s.says(
        "did-7.1.3-updated",
        "7.1.3",
        "updated is when the document was last changed, versionId the version, as text.",
    )
    .finds(
        resolve(second, NOW),
        json!({}),
        &document(second),
        json!({"versionId": "2", "updated": "2026-11-12T07:00:00Z"}),
    )
    .fails(resolve(second, NOW.after(366 * DAY)), "notFound", "expired");
}

/// The document of an agent's first card, as text.
fn world_card() -> String {
    let world = World::new();
    let document = world.cards.log(world.holder.did()).unwrap().newest().document().json().clone();
    String::from_utf8(strict::canonicalize_object(&document).unwrap()).unwrap()
}

#[test]
fn the_statements_of_did_core_are_kept() {
    let mut all = Vec::new();
    let mut statements = 0;
    for part in did_statements() {
        statements += part.statements.len();
        for vector in part.vectors {
            let input = &vector["input"];
            let text = |name: &str| input[name].as_str().unwrap();
            let line = || input.as_str().unwrap();
            let outcome: Result<(), Error> = match vector["kind"].as_str().unwrap() {
                "did" => line().parse::<Did>().map(drop),
                "did-url" => line().parse::<DidUrl>().map(|url| assert_eq!(url.to_string(), line())),
                "relative" => {
                    let joined = text("did").parse::<Did>().unwrap().join(text("reference"));
                    joined.map(|url| assert_eq!(vector["url"], url.to_string()))
                }
                "document" => read(map(input.clone())),
                "representation" => DidDocument::read(text("mediaType"), text("text").as_bytes()).map(drop),
                "signed" => verify(input),
                "resolution" => resolved(&vector),
                _ => strict::parse_object(line().as_bytes(), 64 << 10).and_then(read),
            };
            judge(&vector, outcome);
            all.push(vector);
        }
    }
    every_statement_has_both(&all);
    assert_eq!(statements, 53, "statements of DID Core 1.0");
    common::committed("did", all, 264);
}

/// An address that always answers with the same document.
struct Site(String);

impl Fetch for Site {
    fn get(&self, _: &str, _: usize) -> Result<Vec<u8>, Error> {
        Ok(self.0.clone().into_bytes())
    }
}

/// Calls the function of a vector, with a site that gives its document at every address, or its log of cards.
fn resolved(vector: &Value) -> Result<(), Error> {
    let input = &vector["input"];
    let (url, accept) = (input["url"].as_str().unwrap(), input["accept"].as_str());
    let now = Timestamp(input["now"].as_u64().unwrap_or(0));
    let mut cards = CardStore::default();
    if let Some(log) = input["log"].as_str() {
        cards.add(CardLog::verify(log.as_bytes()).unwrap()).unwrap();
    }
    let site = Web::new(Site(input["document"].to_string()), cards);
    let found = match input["function"].as_str().unwrap() {
        "resolve" => resolution::resolve(&site, url, now),
        "resolveRepresentation" => resolution::resolve_representation(&site, url, accept, now),
        _ => resolution::dereference(&site, url, accept, now),
    };
    let content = found.content.clone().map(Value::Object);
    let returned = json!({
        "metadata": found.metadata, "content": content, "contentMetadata": found.content_metadata,
    });
    assert_eq!(returned, vector["returned"], "{}", vector["id"]);
    assert_eq!(found.stream().is_empty(), found.content.is_none());
    found.refusal.map_or(Ok(()), Err)
}

/// Verifies the signature of a vector by a key of its document.
fn verify(input: &Value) -> Result<(), Error> {
    let text = |name: &str| input[name].as_str().unwrap();
    let document = DidDocument::from_json(map(input["document"].clone())).unwrap();
    let url = DidUrl::of_key(text("url")).unwrap();
    let key = document.key_for(&url, Kind::JsonWebKey, Relationship::AssertionMethod, NOW)?;
    let signature = Base64UrlUnpadded::decode_vec(text("signature")).unwrap();
    key.verify(text("context").as_bytes(), text("message").as_bytes(), &signature)
}

/// Reads a document; its JSON stays as it was, the representation-specific entries included (DID Core 1.0, §6.1).
fn read(json: Map<String, Value>) -> Result<(), Error> {
    let document = DidDocument::from_json(json.clone())?;
    assert_eq!(document.json(), &json);
    Ok(())
}

#[test]
fn suites_of_both_kinds_write_documents_that_conform() {
    for (suite, byte) in [(Suite::Default, 1), (Suite::Cnsa2, 2)] {
        let agent = Agent::with_suite(gambeson_identity::MasterSeed::from_bytes(&[byte; 32]), suite);
        let card = agent.first_card(NOW, NOW.after(1), &gambeson_identity::CardContent::default()).unwrap();
        read(card.document().json().clone()).unwrap();
    }
}
