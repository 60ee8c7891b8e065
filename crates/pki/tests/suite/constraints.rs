//! Name constraints: each form, inside and outside of what authorities permit and exclude.

use der::asn1::AnyRef;
use der::{Decode, Reader, SliceReader};
use gambeson_pki::{
    Algorithm, Certificate, Error, Name, PrivateKey, PublicKey, Purpose, SignedData, Template, TrustedKey,
    Verifier,
};

fn name(text: &str) -> Name {
    text.parse().unwrap()
}

fn key() -> PrivateKey {
    PrivateKey::generate(Algorithm::Ed25519).unwrap()
}

/// Tag, length, value.
fn tlv(tag: u8, values: &[&[u8]]) -> Vec<u8> {
    let value = values.concat();
    let length = match value.len() {
        length @ 0..128 => vec![length as u8],
        length @ 128..256 => vec![0x81, length as u8],
        length => vec![0x82, (length >> 8) as u8, length as u8],
    };
    [&[tag][..], &length, &value].concat()
}

fn extension(number: u8, critical: bool, value: &[u8]) -> Vec<u8> {
    let critical: &[u8] = if critical { &[1, 1, 0xff] } else { &[] };
    tlv(0x30, &[&[6, 3, 0x55, 0x1d, number], critical, &tlv(0x04, &[value])])
}

/// The certificate with one more extension, under a new signature of an Ed25519 key.
fn with(certificate: &Certificate, signer: &PrivateKey, extension: &[u8]) -> Certificate {
    let outer = AnyRef::from_der(certificate.as_der()).unwrap();
    let mut parts = SliceReader::new(outer.value()).unwrap();
    let (body, algorithm) = (parts.tlv_bytes().unwrap(), parts.tlv_bytes().unwrap());
    let mut fields = SliceReader::new(AnyRef::from_der(body).unwrap().value()).unwrap();
    let mut kept = Vec::new();
    while !fields.is_finished() {
        let field = fields.tlv_bytes().unwrap();
        if field[0] != 0xa3 {
            kept.extend_from_slice(field);
            continue;
        }
        let list = AnyRef::from_der(AnyRef::from_der(field).unwrap().value()).unwrap();
        kept.extend(tlv(0xa3, &[&tlv(0x30, &[list.value(), extension])]));
    }
    let body = tlv(0x30, &[&kept]);
    let signature = signer.sign(&body).unwrap();
    Certificate::from_der(&tlv(0x30, &[&body, algorithm, &tlv(0x03, &[&[0], &signature])])).unwrap()
}

/// A name of a form, in DER.
type General = Vec<u8>;

fn text(tag: u8, text: &str) -> General {
    tlv(0x80 | tag, &[text.as_bytes()])
}

fn directory(text: &str) -> General {
    tlv(0xa4, &[&name(text).to_der()])
}

const UPN: [u8; 12] = [6, 10, 0x2b, 6, 1, 4, 1, 0x82, 0x37, 20, 2, 3];
const SMTP_UTF8: [u8; 10] = [6, 8, 0x2b, 6, 1, 5, 5, 7, 8, 9];

fn other(oid: &[u8], text: &str) -> General {
    tlv(0xa0, &[oid, &tlv(0xa0, &[&tlv(0x0c, &[text.as_bytes()])])])
}

/// Permitted and excluded names of an authority.
fn constraints(permitted: &[General], excluded: &[General]) -> Vec<u8> {
    let list = |tag, names: &[General]| match names {
        [] => Vec::new(),
        names => {
            let subtrees: Vec<_> = names.iter().map(|name| tlv(0x30, &[name])).collect();
            tlv(tag, &[&subtrees.concat()])
        }
    };
    tlv(0x30, &[&list(0xa0, permitted), &list(0xa1, excluded)])
}

/// The code of the check that a server fails, with these names, below an authority with these constraints.
fn code(subject: &str, names: &[General], permitted: &[General], excluded: &[General]) -> String {
    let (root_key, middle_key, leaf_key) = (key(), key(), key());
    let root = Template::authority(name("CN=Root")).self_signed(&root_key).unwrap();
    let middle = Template::authority(name("CN=Middle,O=Home"));
    let plain = middle.issue(&middle_key.public_key(), &root, &root_key).unwrap();
    let constraints = extension(30, true, &constraints(permitted, excluded));
    let constrained = with(&plain, &root_key, &constraints);
    let leaf = Template::new(name(subject)).purpose(Purpose::ServerAuth);
    let leaf = leaf.issue(&leaf_key.public_key(), &plain, &middle_key).unwrap();
    let names: Vec<&[u8]> = names.iter().map(|name| &name[..]).collect();
    let leaf = match &names[..] {
        [] => leaf,
        names => with(&leaf, &middle_key, &extension(17, false, &tlv(0x30, names))),
    };
    let verifier_of = |root| Verifier::new(root).purpose(Purpose::ServerAuth);
    let roots = [root];
    let found = verifier_of(&roots).verify(&leaf, &[constrained]).map(drop);
    // Constraints of the root count as much: the same leaf, with the authority itself as the root.
    let own = Template::authority(name("CN=Middle,O=Home")).self_signed(&middle_key).unwrap();
    let own = [with(&own, &middle_key, &constraints)];
    assert_eq!(verifier_of(&own).verify(&leaf, &[]).map(drop), found);
    found.map_or_else(|error| format!("{} {error}", error.failure().code()), |()| "good".to_owned())
}

#[test]
fn names_of_each_form_are_compared() {
    let dns = |name: &str| text(2, name);
    let mail = |name: &str| text(1, name);
    let uri = |name: &str| text(6, name);
    let ip = |bytes: &[u8]| tlv(0x87, &[bytes]);
    let home = || directory("O=Home");
    let v4 = [192, 0, 2, 0, 255, 255, 255, 0];
    for (name, permitted) in [
        (dns("example.com"), dns("example.com")),
        (dns("WWW.Example.com"), dns("example.COM")),
        (dns("*.example.com"), dns("example.com")),
        (dns("a.example.com"), dns(".example.com")),
        (dns("a.example.com"), dns("")),
        (ip(&[192, 0, 2, 7]), ip(&v4)),
        (ip(&[9; 16]), ip(&[[9; 16], [255; 16]].concat())),
        (mail("a@example.com"), mail("example.com")),
        (mail("a@example.com"), mail("a@EXAMPLE.com")),
        (mail("a@b.example.com"), mail(".example.com")),
        (uri("https://example.com:8443/x?y@z"), uri("example.com")),
        (uri("https://me@a.example.com/"), uri(".example.com")),
        (directory("CN=Other,O=Home"), directory("O=home")),
        // A form that the server does not have is of no concern.
        (dns("example.com"), mail("example.org")),
        (dns("example.com"), other(&UPN, "")),
    ] {
        let permitted = [permitted, home()];
        assert_eq!(
            code("CN=Server,O=Home", std::slice::from_ref(&name), &permitted, &[]),
            "good",
            "{name:02x?}"
        );
    }
    for (name, base) in [
        (dns("example.org"), dns("example.com")),
        (dns("badexample.com"), dns("example.com")),
        (dns("example.com"), dns(".example.com")),
        (dns("*.com"), dns("example.com")),
        (ip(&[192, 0, 3, 7]), ip(&v4)),
        (ip(&[192, 0, 2, 7, 0]), ip(&v4)),
        (ip(&[9; 16]), ip(&v4)),
        (mail("a@b.example.com"), mail("example.com")),
        (mail("A@example.com"), mail("a@example.com")),
        (mail("a@example.com"), mail(".example.com")),
        (mail("a"), mail("example.com")),
        (uri("https://example.com.evil.org/"), uri("example.com")),
        (uri("https://example.com@evil.org/"), uri("example.com")),
        (uri("https://192.0.2.7/"), uri("192.0.2.7")),
        (uri("https://[::1]/"), uri(".example.com")),
        (uri("did:web:example.com"), uri("example.com")),
        (directory("O=Elsewhere"), directory("O=Home")),
        (directory("O=Home,CN=Server"), directory("O=Home")),
    ] {
        let found = code("CN=Server,O=Home", std::slice::from_ref(&name), &[base, home()], &[]);
        assert!(found.starts_with("name-constraints "), "{name:02x?}: {found}");
    }
    for (name, excluded, good) in [
        (dns("example.org"), dns("example.com"), true),
        (dns("a.example.com"), dns("example.com"), false),
        (dns("example.com"), dns(".example.com"), false),
        (dns("*.example.com"), dns("a.example.com"), false),
        (dns("*.example.com"), dns("b.a.example.com"), true),
        (dns("*.example.com"), dns("com"), false),
        (ip(&[192, 0, 2, 7]), ip(&v4), false),
        (ip(&[192, 0, 3, 7]), ip(&v4), true),
        (mail("a@example.com"), mail("example.com"), false),
        (mail("a@example.org"), mail("example.com"), true),
        (uri("https://example.com/"), uri("example.com"), false),
        (uri("https://example.org/"), uri("example.com"), true),
        (uri("urn:x"), uri("example.com"), false),
        (directory("CN=x,O=Bad"), directory("O=Bad"), false),
        (directory("CN=x,O=Good"), directory("O=Bad"), true),
    ] {
        let found = code("CN=Server,O=Home", std::slice::from_ref(&name), &[], &[excluded]);
        assert_eq!(found == "good", good, "{name:02x?}: {found}");
        assert!(good || found.starts_with("name-constraints "), "{found}");
    }
}

#[test]
fn subjects_are_constrained_too() {
    let home = [directory("O=Home")];
    assert_eq!(code("CN=Server,O=Home", &[], &home, &[]), "good");
    let found = code("CN=Server,O=Elsewhere", &[], &home, &[]);
    assert!(
        found.contains("name-constraints") && found.contains("directoryName:CN=Server,O=Elsewhere"),
        "{found}"
    );
    assert_eq!(code("", &[text(2, "example.com")], &home, &[]), "good");
    // An address of mail in the subject, as old certificates have it.
    let mail = |subject: &str, base: &str| code(subject, &[], &[text(1, base)], &[]);
    let subject = "1.2.840.113549.1.9.1=#160d61406578616d706c652e636f6d,CN=A";
    assert_eq!(mail(subject, "example.com"), "good");
    assert!(mail(subject, "example.org").starts_with("name-constraints"), "{}", mail(subject, "example.org"));
}

#[test]
fn a_form_that_is_not_supported_is_named() {
    let registered = tlv(0x88, &[&[0x2a, 3]]);
    for (names, base, form) in [
        (vec![other(&UPN, "a@b")], other(&UPN, "b"), "otherName"),
        (vec![registered.clone()], registered.clone(), "registeredID"),
        (vec![other(&SMTP_UTF8, "ä@b.example")], text(1, "b.example"), "SmtpUTF8Mailbox"),
    ] {
        for (permitted, excluded) in [(vec![base.clone()], vec![]), (vec![], vec![base.clone()])] {
            let found = code("CN=Server", &names, &permitted, &excluded);
            let told = format!("not supported: {form}");
            assert!(found.starts_with("unsupported-name-constraints ") && found.contains(&told), "{found}");
        }
    }
    assert_eq!(code("CN=Server", &[text(2, "example.com")], &[registered], &[]), "good");
}

#[test]
fn constraints_that_make_no_sense_are_refused() {
    let signer = key();
    let root = Template::authority(name("CN=Root")).self_signed(&signer).unwrap();
    let subtree = |parts: &[&[u8]]| tlv(0x30, &[&tlv(0xa0, &[&tlv(0x30, parts)])]);
    let base = text(2, "example.com");
    for value in [
        tlv(0x30, &[&tlv(0xa2, &[])]),
        subtree(&[&base, &[0x80, 1, 1]]),
        subtree(&[&base, &[0x81, 1, 0]]),
        subtree(&[&tlv(0x87, &[&[10, 0, 0, 0, 255, 0, 255, 0]])]),
        subtree(&[&tlv(0x87, &[&[10, 0, 0, 0]])]),
        subtree(&[&tlv(0x82, &[b"\xff"])]),
        tlv(0x04, &[&base]),
    ] {
        let outcome = std::panic::catch_unwind(|| with(&root, &signer, &extension(30, true, &value)));
        assert!(outcome.is_err(), "{value:02x?}");
    }
    let good = with(&root, &signer, &extension(30, true, &subtree(&[&base, &[0x80, 1, 0]])));
    Verifier::new(std::slice::from_ref(&good)).verify(&good, &[]).unwrap();
    // Who signs nothing constrains nothing.
    let own = Template::new(name("CN=Server")).self_signed(&signer).unwrap();
    let own = [with(&own, &signer, &extension(30, true, &constraints(&[base], &[])))];
    let error = Verifier::new(&own).verify(&own[0], &[]).unwrap_err();
    assert_eq!(error.failure().code(), "constrains-nothing");
}

#[test]
fn thousands_of_names_and_constraints_end() {
    let names: Vec<_> = (0..2000).map(|number| text(2, &format!("{number}.example"))).collect();
    let start = std::time::Instant::now();
    let found = code("CN=Server", &names, &[], &vec![names[0].clone(); 2000]);
    assert!(found.starts_with("name-constraints"), "{found}");
    let found = code("CN=Server", &names, &[], &vec![text(2, "other.example"); 2000]);
    assert!(found.starts_with("too-much-work"), "{found}");
    assert!(start.elapsed().as_secs() < 10);
}

/// Roots as browsers have them, and the signatures of another library.
#[test]
fn keys_without_certificates_are_trusted_and_signatures_may_be_others_work() {
    let (root_key, leaf_key) = (key(), key());
    let root = Template::authority(name("CN=Root")).self_signed(&root_key).unwrap();
    let leaf = Template::new(name("CN=Server")).alt_name("example.com".parse().unwrap());
    let leaf = leaf.issue(&leaf_key.public_key(), &root, &root_key).unwrap();
    let spki = root_key.public_key().to_spki_der();
    let trusted = |permitted: Option<&str>| {
        let constraints = permitted.map(|base| constraints(&[text(2, base)], &[]));
        TrustedKey::from_der(&root.subject().to_der(), &spki, constraints.as_deref()).unwrap()
    };
    let verified = |keys: &[TrustedKey], leaf: &Certificate| {
        let found = Verifier::new(&[]).keys(keys).verify(leaf, &[]).map(|path| path.len());
        found.map_err(|error| error.failure().code())
    };
    assert_eq!(verified(&[trusted(None)], &leaf), Ok(1));
    assert_eq!(verified(&[trusted(Some("example.com"))], &leaf), Ok(1));
    assert_eq!(verified(&[trusted(Some("example.org"))], &leaf), Err("name-constraints"));
    let stranger = TrustedKey::from_der(&root.subject().to_der(), &leaf_key.public_key().to_spki_der(), None);
    assert_eq!(verified(&[stranger.unwrap()], &leaf), Err("signature"));
    assert!(TrustedKey::from_der(b"", &spki, None).is_err());
    assert!(TrustedKey::from_der(&root.subject().to_der(), &spki, Some(b"x")).is_err());

    let roots = [root];
    let asked = std::cell::Cell::new(0);
    let check = |data: &SignedData<'_>| {
        asked.set(asked.get() + 1);
        assert_eq!((data.key, data.signature.len()), (&spki[..], 64));
        assert_eq!(data.algorithm_name(), "1.3.101.112");
        assert_eq!(data.key_parts()?.0, data.algorithm_contents()?);
        PublicKey::from_spki_der(data.key)?.verify(data.message, data.signature)
    };
    Verifier::new(&roots).signatures(&check).verify(&leaf, &[]).unwrap();
    assert_eq!(asked.get(), 1);
    let refuses = |_: &SignedData<'_>| Err(Error::Signature);
    let refused = Verifier::new(&roots).signatures(&refuses).verify(&leaf, &[]).unwrap_err();
    assert_eq!(refused.failure().code(), "signature");
    Verifier::new(&roots).signatures(&|_| Ok(())).verify(&leaf, &[]).unwrap();
}

/// A name of one organization, as a string of a type.
fn organization(tag: u8, value: &[u8]) -> General {
    let attribute = tlv(0x30, &[&[6, 3, 0x55, 4, 10], &tlv(tag, &[value])]);
    tlv(0xa4, &[&tlv(0x30, &[&tlv(0x31, &[&attribute])])])
}

/// T61String, IA5String, VisibleString, BMPString (a name with a UniversalString is not read at all); other white space, letters without a case in ASCII, and characters that are not seen.
#[test]
fn what_is_excluded_is_excluded_in_every_string_type() {
    let excluded = [directory("O=Evil Corp")];
    for (tag, value) in [
        (0x0c, &b"Evil\tCorp"[..]),
        (0x0c, "Evil\u{200b} Corp".as_bytes()),
        (0x14, b"Evil Corp"),
        (0x16, b"evil corp"),
        (0x1a, b"Evil Corp"),
        (0x1e, b"\0E\0v\0i\0l\0 \0C\0o\0r\0p"),
    ] {
        let found = code("CN=Server", &[organization(tag, value)], &[], &excluded);
        assert!(found.starts_with("name-constraints "), "{tag:02x} {value:02x?}: {found}");
    }
    assert!(code("CN=Server", &[directory("O=\u{c9}VIL")], &[], &[directory("O=\u{e9}vil")]) != "good");
    for (tag, value) in [(0x14, &b"Good Corp"[..]), (0x1e, b"\0E\0v\0i\0l")] {
        assert_eq!(code("CN=Server", &[organization(tag, value)], &[], &excluded), "good", "{tag:02x}");
    }
    // What is permitted is permitted in the types that are compared alone.
    assert!(code("CN=Server,O=Evil Corp", &[organization(0x14, b"Evil Corp")], &excluded, &[]) != "good");
}

#[test]
fn a_base_that_is_none_is_refused() {
    let spki = key().public_key().to_spki_der();
    let read = |base: General| {
        TrustedKey::from_der(&name("CN=Root").to_der(), &spki, Some(&constraints(&[], &[base])))
    };
    for base in [
        text(1, "@evil.com"),
        text(1, "a@"),
        text(1, "."),
        text(2, "."),
        text(6, "."),
        text(6, "https://evil.com"),
    ] {
        assert!(read(base.clone()).is_err(), "{base:02x?}");
    }
    for base in [
        text(1, "evil.com"),
        text(1, "a@evil.com"),
        text(1, ".evil.com"),
        text(2, ""),
        text(2, ".com"),
        text(6, "evil.com"),
    ] {
        assert!(read(base.clone()).is_ok(), "{base:02x?}");
    }
}

/// Names of a thousand parts count as such.
#[test]
fn long_names_do_not_make_comparisons_cheap() {
    let long = vec!["OU=x"; 1000].join(",");
    let excluded: Vec<_> = (0..300).map(|number| directory(&format!("O=a{number}"))).collect();
    let found = code("CN=Server", &[directory(&long)], &[], &excluded);
    assert!(found.starts_with("too-much-work "), "{found}");
}
