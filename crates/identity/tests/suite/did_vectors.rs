//! `vectors/did.json`: each statement of DID Core 1.0 that binds a reader of DID documents, with inputs that keep it and inputs that do not.

use crate::statements::{Statements, every_statement_has_both};
use crate::vector_file;
use crate::world::{DAY, NOW, World, judge, map};
use base64ct::{Base64UrlUnpadded, Encoding};
use gambeson_identity::{
    Agent, CardContent, CardLog, CardStore, Did, DidDocument, DidUrl, Error, Fetch, Kind, MasterSeed,
    Relationship, Role, Suite, Timestamp, Web, json as strict, resolution,
};
use serde_json::{Map, Value, json};

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
    // A part in JSON-LD has the context of the document.
    let linked = |part: &Value| {
        let mut part = part.clone();
        part["@context"] = document["@context"].clone();
        part
    };
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
        &linked(&key),
        json!({}),
    )
    .finds(
        dereference("did:web:example.com/keys?n=1#key-2", json!({})),
        json!({"contentType": LINKED}),
        &linked(&document["authentication"][0]),
        json!({}),
    )
    .finds(
        dereference("did:web:example.com#mail", json!({})),
        json!({"contentType": LINKED}),
        &linked(&service),
        json!({}),
    )
    .finds(
        dereference("did:web:example.com#mail", json!({"document": plain})),
        json!({"contentType": PLAIN}),
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
    vector_file::committed("did", all, 265);
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
        let agent = Agent::with_suite(MasterSeed::from_bytes(&[byte; 32]), suite);
        let card = agent.first_card(NOW, NOW.after(1), &CardContent::default()).unwrap();
        read(card.document().json().clone()).unwrap();
    }
}
