//! Chains: what leads to a root, and each check that refuses one.

use std::io::Read;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64ct::{Base64, Encoding};
use der::asn1::{BitString, OctetString};
use der::{Decode, Encode};
use gambeson_pki::{
    Algorithm, AltName, Certificate, Error, Failure, KeyUsage, Name, PrivateKey, PublicKey, Purpose, Reason,
    RevocationList, Revoked, Template, Verifier,
};
use serde_json::Value;
use x509_cert::crl::CertificateList;
use x509_cert::ext::Extension;

const NOW: u64 = 1_800_000_000;

fn at(seconds: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(seconds)
}

fn name(text: &str) -> Name {
    text.parse().unwrap()
}

fn host(text: &str) -> AltName {
    text.parse().unwrap()
}

fn authority(subject: &str) -> Template {
    Template::authority(name(subject)).valid(at(NOW - 1000), at(NOW + 1000))
}

fn server(subject: &str) -> Template {
    Template::new(name(subject))
        .valid(at(NOW - 1000), at(NOW + 1000))
        .alt_name(host("example.com"))
        .alt_name(host("*.wild.example"))
        .alt_name(host("192.0.2.7"))
        .alt_name(host("did:web:example.com"))
        .purpose(Purpose::ServerAuth)
}

/// A root, an authority below it, and a server.
struct Chain {
    root_key: PrivateKey,
    roots: [Certificate; 1],
    middle_key: PrivateKey,
    others: [Certificate; 1],
    leaf_key: PublicKey,
    leaf: Certificate,
}

fn chain_of(algorithm: Algorithm) -> Chain {
    let root_key = PrivateKey::generate(algorithm).unwrap();
    let middle_key = PrivateKey::generate(algorithm).unwrap();
    let leaf_key = PrivateKey::generate(algorithm).unwrap().public_key();
    let root = authority("CN=Root").path_length(1).self_signed(&root_key).unwrap();
    let middle =
        authority("CN=Middle").path_length(0).issue(&middle_key.public_key(), &root, &root_key).unwrap();
    let leaf = server("CN=Server").issue(&leaf_key, &middle, &middle_key).unwrap();
    Chain { root_key, roots: [root], middle_key, others: [middle], leaf_key, leaf }
}

fn chain() -> Chain {
    chain_of(Algorithm::Ed25519)
}

fn refused(verifier: &Verifier<'_>, leaf: &Certificate, others: &[Certificate]) -> (String, Failure) {
    let error = verifier.verify(leaf, others).expect_err("a check fails");
    assert!(error.to_string().contains(&error.failure().to_string()));
    (error.subject().to_string(), error.failure().clone())
}

fn failed(subject: &str, failure: Failure) -> (String, Failure) {
    (subject.to_owned(), failure)
}

fn patched(certificate: &Certificate, old: &[u8], new: &[u8]) -> Certificate {
    let mut der = certificate.as_der().to_vec();
    let place = der.windows(old.len()).position(|window| window == old).expect("it stands there");
    der[place..][..new.len()].copy_from_slice(new);
    Certificate::from_der(&der).unwrap()
}

const fn ce(n: u8) -> [u8; 5] {
    [6, 3, 0x55, 0x1d, n]
}

#[test]
fn three_levels_of_every_algorithm() {
    let mut ran = 0;
    for algorithm in
        Algorithm::ALL.iter().copied().filter(|algorithm| algorithm.signs() && !algorithm.is_stateful())
    {
        let chain = chain_of(algorithm);
        let verifier =
            Verifier::new(&chain.roots).at(at(NOW)).purpose(Purpose::ServerAuth).name(host("example.com"));
        let path = verifier.verify(&chain.leaf, &chain.others).unwrap();
        assert_eq!(path, [&chain.leaf, &chain.others[0], &chain.roots[0]]);

        // Another root of the same name and kind.
        let stranger = PrivateKey::generate(algorithm).unwrap();
        let strangers = [authority("CN=Root").self_signed(&stranger).unwrap()];
        let verifier = Verifier::new(&strangers).at(at(NOW));
        assert_eq!(
            refused(&verifier, &chain.leaf, &chain.others),
            failed("CN=Middle", Failure::Signature),
            "{algorithm}"
        );
        ran += 1;
    }
    assert_eq!(ran, 26);
}

/// One half of a composite signature is not enough, whichever it is.
#[test]
fn both_halves_of_a_composite_signature_must_hold() {
    let mut ran = 0;
    for algorithm in Algorithm::ALL.iter().copied().filter(|it| it.signs() && it.name().starts_with("MLDSA"))
    {
        let chain = chain_of(algorithm);
        let verifier = Verifier::new(&chain.roots).at(at(NOW));
        let der = chain.leaf.as_der();
        let ml_dsa = match &algorithm.name()[5..7] {
            "44" => 2420,
            "65" => 3309,
            _ => 4627,
        };
        let signature = chain.middle_key.sign(b"for its length").unwrap().len();
        // The signature ends the file; ECDSA's may be some bytes shorter than that of another message.
        for from_end in [1, signature - ml_dsa - 24, signature - ml_dsa + 24, signature - 24] {
            let mut forged = der.to_vec();
            let place = der.len() - from_end;
            forged[place] ^= 1;
            let forged = Certificate::from_der(&forged).unwrap();
            let error = refused(&verifier, &forged, &chain.others);
            assert_eq!(error, failed("CN=Server", Failure::Signature), "{algorithm} {from_end}");
        }
        ran += 1;
    }
    assert_eq!(ran, 7);
}

/// draft-ietf-lamps-pq-composite-kem-17: certificates of ML-KEM and its composites, signed with ML-DSA-65 by another program.
#[test]
fn the_certificates_of_the_composite_kem_draft() {
    let mut text = String::new();
    flate2::read::GzDecoder::new(&include_bytes!("../data/composite-kem.json.gz")[..])
        .read_to_string(&mut text)
        .unwrap();
    let file: Value = serde_json::from_str(&text).unwrap();
    let bytes = |value: &Value| Base64::decode_vec(value.as_str().unwrap()).unwrap();
    let roots = [Certificate::from_der(&bytes(&file["cacert"])).unwrap()];
    let verifier = Verifier::new(&roots).at(at(NOW));
    let mut ran = 0;
    for test in file["tests"].as_array().unwrap() {
        let leaf = Certificate::from_der(&bytes(&test["x5c"])).unwrap();
        assert_eq!(leaf.public_key().unwrap().as_bytes(), bytes(&test["ek"]));
        assert_eq!(leaf.key_usage(), Some(&[KeyUsage::KeyEncipherment][..]));
        assert_eq!(verifier.verify(&leaf, &[]).unwrap().len(), 2, "{}", test["tcId"]);
        ran += 1;
    }
    assert_eq!(ran, 7);
    // A byte of a name, and the signature is not one of it.
    let leaf = Certificate::from_der(&bytes(&file["tests"][0]["x5c"])).unwrap();
    let forged = patched(&leaf, b"id-alg", b"id-ALG");
    assert_eq!(refused(&verifier, &forged, &[]).1, Failure::Signature);
}

#[test]
fn a_root_is_its_own_chain_and_a_stranger_is_not() {
    let chain = chain();
    let verifier = Verifier::new(&chain.roots).at(at(NOW));
    assert_eq!(verifier.verify(&chain.roots[0], &[]).unwrap(), [&chain.roots[0]]);
    let alone = server("CN=Alone").self_signed(&chain.root_key).unwrap();
    let issuer = name("CN=Alone");
    assert_eq!(refused(&verifier, &alone, &[]), failed("CN=Alone", Failure::UnknownIssuer { issuer }));
    let itself = [alone];
    let verifier = Verifier::new(&itself).at(at(NOW)).name(host("example.com"));
    assert_eq!(verifier.verify(&itself[0], &[]).unwrap().len(), 1);
    // An authority is no server, unless it is itself among the roots.
    let tls = Verifier::new(&chain.roots).at(at(NOW)).purpose(Purpose::ServerAuth);
    let middle = authority("CN=Middle").key_usage(&[KeyUsage::DigitalSignature, KeyUsage::KeyCertSign]);
    let key = chain.middle_key.public_key();
    let middle = middle.issue(&key, &chain.roots[0], &chain.root_key).unwrap();
    assert_eq!(refused(&tls, &middle, &[]), failed("CN=Middle", Failure::Authority));
    // Below a root that is not there, a certificate among the roots is none.
    let others = Verifier::new(&chain.others).at(at(NOW));
    let issuer = name("CN=Root");
    assert_eq!(refused(&others, &chain.others[0], &[]).1, Failure::UnknownIssuer { issuer });
    let truncated = Verifier::new(&chain.roots).at(at(NOW));
    let issuer = name("CN=Middle");
    let error = refused(&truncated, &chain.leaf, &[]);
    assert_eq!(error, failed("CN=Server", Failure::UnknownIssuer { issuer }));
}

#[test]
fn time_has_two_ends() {
    let chain = chain();
    let verifier = Verifier::new(&chain.roots);
    for (seconds, valid) in [(NOW - 1000, true), (NOW + 1000, true)] {
        assert_eq!(verifier.clone().at(at(seconds)).verify(&chain.leaf, &chain.others).is_ok(), valid);
    }
    // The last second belongs to it whole.
    let late = at(NOW + 1000) + Duration::from_millis(999);
    assert!(verifier.clone().at(late).verify(&chain.leaf, &chain.others).is_ok());
    let early = refused(&verifier.clone().at(at(NOW - 1001)), &chain.leaf, &chain.others);
    assert_eq!(early, failed("CN=Server", Failure::NotYetValid { from: at(NOW - 1000) }));
    let late = refused(&verifier.clone().at(at(NOW + 1001)), &chain.leaf, &chain.others);
    assert_eq!(late, failed("CN=Server", Failure::Expired { until: at(NOW + 1000) }));

    // Authorities and roots expire as well.
    let old = authority("CN=Middle").valid(at(5), at(6));
    let old = [old.issue(&chain.middle_key.public_key(), &chain.roots[0], &chain.root_key).unwrap()];
    let error = refused(&verifier.clone().at(at(NOW)), &chain.leaf, &old);
    assert_eq!(error, failed("CN=Middle", Failure::Expired { until: at(6) }));
    let root = [authority("CN=Root").valid(at(5), at(6)).self_signed(&chain.root_key).unwrap()];
    let error = refused(&Verifier::new(&root).at(at(NOW)), &chain.leaf, &chain.others);
    assert_eq!(error, failed("CN=Root", Failure::Expired { until: at(6) }));
}

#[test]
fn names_are_those_of_the_extension() {
    let chain = chain();
    let verifier = Verifier::new(&chain.roots).at(at(NOW));
    let is_named = |text: &str| verifier.clone().name(host(text)).verify(&chain.leaf, &chain.others).is_ok();
    for text in
        ["example.com", "EXAMPLE.com", "a.wild.example", "B.Wild.Example", "192.0.2.7", "did:web:example.com"]
    {
        assert!(is_named(text), "{text}");
    }
    let root_name = AltName::Dns("example.com.".into());
    assert!(verifier.clone().name(root_name).verify(&chain.leaf, &chain.others).is_ok());
    for text in [
        "example.org",
        "www.example.com",
        "wild.example",
        "a.b.wild.example",
        "*.wild.example",
        "Server",
        "192.0.2.8",
        "did:web:example.org",
        "did:web:Example.com",
        "a@example.com",
    ] {
        assert!(!is_named(text), "{text}");
    }
    let error = refused(&verifier.clone().name(host("example.org")), &chain.leaf, &chain.others);
    assert_eq!(error, failed("CN=Server", Failure::Name { expected: host("example.org") }));
    // A star before one label stands for nothing, an address is no name.
    let wide = Template::new(name("CN=example.com")).alt_name(host("*.example")).alt_name(host("::1"));
    let roots = [wide.valid(at(5), at(NOW + 5)).self_signed(&chain.root_key).unwrap()];
    for text in ["a.example", "example.com"] {
        assert!(Verifier::new(&roots).at(at(NOW)).name(host(text)).verify(&roots[0], &[]).is_err());
    }
}

#[test]
fn purposes_go_down_the_chain() {
    let chain = chain();
    let verifier = Verifier::new(&chain.roots).at(at(NOW));
    let expected = Purpose::ClientAuth;
    let error = refused(&verifier.clone().purpose(expected.clone()), &chain.leaf, &chain.others);
    assert_eq!(error, failed("CN=Server", Failure::Purpose { expected }));

    // An authority for mail alone.
    let mail = authority("CN=Middle").purpose(Purpose::EmailProtection);
    let mail = [mail.issue(&chain.middle_key.public_key(), &chain.roots[0], &chain.root_key).unwrap()];
    assert!(verifier.verify(&chain.leaf, &mail).is_ok());
    let expected = Purpose::ServerAuth;
    let error = refused(&verifier.clone().purpose(expected.clone()), &chain.leaf, &mail);
    assert_eq!(error, failed("CN=Middle", Failure::Purpose { expected: expected.clone() }));

    // Any purpose is also this one, but for TLS; a key that signs nothing in TLS is for no server.
    let any = Template::new(name("CN=Any")).valid(at(5), at(NOW + 5)).purpose(Purpose::Any);
    let any_leaf = any.issue(&chain.leaf_key, &chain.others[0], &chain.middle_key).unwrap();
    let code = verifier.clone().purpose(Purpose::CodeSigning);
    assert!(code.verify(&any_leaf, &chain.others).is_ok());
    let server = verifier.clone().purpose(Purpose::ServerAuth);
    let purpose = Failure::Purpose { expected: expected.clone() };
    assert_eq!(refused(&server, &any_leaf, &chain.others), failed("CN=Any", purpose));
    let no_signature = any.clone().purpose(Purpose::ServerAuth).key_usage(&[KeyUsage::NonRepudiation]);
    let leaf = no_signature.issue(&chain.leaf_key, &chain.others[0], &chain.middle_key).unwrap();
    assert_eq!(refused(&server, &leaf, &chain.others), failed("CN=Any", Failure::Purpose { expected }));
}

#[test]
fn only_authorities_sign_and_no_deeper_than_they_may() {
    let chain = chain();
    let (root_key, root) = (&chain.root_key, &chain.roots[0]);
    let verifier = Verifier::new(&chain.roots).at(at(NOW));
    let middle_key = chain.middle_key.public_key();
    // The same name and key as the authority that has signed.
    let server = [server("CN=Middle").issue(&middle_key, root, root_key).unwrap()];
    let error = refused(&verifier, &chain.leaf, &server);
    assert_eq!(error, failed("CN=Middle", Failure::NotAnAuthority));
    let lists = authority("CN=Middle").key_usage(&[KeyUsage::CrlSign]);
    let lists = [lists.issue(&middle_key, root, root_key).unwrap()];
    let error = refused(&verifier, &chain.leaf, &lists);
    assert_eq!(error, failed("CN=Middle", Failure::MaySignNoCertificates));
    // A right one beside a wrong one is found.
    let both = [server[0].clone(), chain.others[0].clone()];
    assert_eq!(verifier.verify(&chain.leaf, &both).unwrap().len(), 3);

    let short = [authority("CN=Root").path_length(0).self_signed(root_key).unwrap()];
    let error = refused(&Verifier::new(&short).at(at(NOW)), &chain.leaf, &chain.others);
    assert_eq!(error, failed("CN=Root", Failure::PathLength));
    // One that signs its own new key does not count.
    let renewed = authority("CN=Root").issue(&middle_key, root, root_key).unwrap();
    let leaf = self::server("CN=Server").issue(&chain.leaf_key, &renewed, &chain.middle_key).unwrap();
    let others = [renewed];
    assert_eq!(Verifier::new(&short).at(at(NOW)).verify(&leaf, &others).unwrap().len(), 3);
}

#[test]
fn keys_that_cannot_have_signed_say_so() {
    let chain = chain();
    let verifier = Verifier::new(&chain.roots).at(at(NOW));
    for algorithm in [Algorithm::Ed448, Algorithm::EcdsaP256, Algorithm::MlDsa44, Algorithm::MlDsa44Ed25519] {
        let other = PrivateKey::generate(algorithm).unwrap().public_key();
        let other = [authority("CN=Middle").issue(&other, &chain.roots[0], &chain.root_key).unwrap()];
        let oid = "1.3.101.112".into();
        let error = refused(&verifier, &chain.leaf, &other);
        assert_eq!(error, failed("CN=Server", Failure::Key(Error::SignatureAlgorithm { oid })));
    }
    let kem = PrivateKey::generate(Algorithm::MlKem512).unwrap().public_key();
    let kem = [Template::new(name("CN=Middle")).issue(&kem, &chain.roots[0], &chain.root_key).unwrap()];
    let error = refused(&verifier, &chain.leaf, &kem);
    assert_eq!(error, failed("CN=Server", Failure::Key(Error::NotASigningKey)));
}

#[test]
fn a_chain_signed_with_hash_slh_dsa_is_read_and_refused_by_name() {
    let file = include_bytes!("../data/SLH-DSA-SHA2-128s.pem");
    // The files of SLH-DSA with the identifier of HashSLH-DSA in each place.
    let renamed = |certificate: Certificate| {
        let mut der = certificate.as_der().to_vec();
        let arcs = [0x60, 0x86, 0x48, 1, 0x65, 3, 4, 3];
        let places: Vec<_> = (0..der.len() - 8).filter(|at| der[*at..].starts_with(&arcs)).collect();
        assert_eq!(places.len(), 3);
        places.into_iter().for_each(|at| der[at + 8] = 35);
        Certificate::from_der(&der).unwrap()
    };
    let read = Certificate::read_all(file).unwrap().into_iter().map(renamed).collect::<Vec<_>>();
    let [middle, root] = <[Certificate; 2]>::try_from(read).unwrap();
    let now = middle.not_before();
    let oid = || "2.16.840.1.101.3.4.3.35".to_owned();
    assert_eq!((middle.signature_algorithm(), root.signature_algorithm()), (oid(), oid()));
    assert_eq!(root.public_key(), Err(Error::Algorithm { oid: oid() }));
    assert_eq!((middle.path_length(), middle.is_authority()), (Some(0), true));

    let roots = [root];
    let error = Verifier::new(&roots).at(now).verify(&middle, &[]).unwrap_err();
    assert_eq!(error.failure(), &Failure::Key(Error::Algorithm { oid: oid() }));
    let told = "CN=Root: its signature cannot be verified: a key of HashSLH-DSA-SHA2-128s-with-SHA256 (2.16.840.1.101.3.4.3.35)";
    assert!(error.to_string().starts_with(told), "{error}");

    // A root of that name with another key has not signed it, whatever the signature is worth.
    let other = PrivateKey::generate(Algorithm::MlDsa44).unwrap();
    let root = Template::authority(name("CN=Root"))
        .valid(now - Duration::from_secs(1), now + Duration::from_secs(9));
    let roots = [root.self_signed(&other).unwrap()];
    let error = Verifier::new(&roots).at(now).verify(&middle, &[]).unwrap_err();
    assert_eq!(error.failure(), &Failure::Key(Error::SignatureAlgorithm { oid: oid() }));
    assert!(
        error.to_string().starts_with("CN=Middle: ") && error.to_string().contains("HashSLH-DSA-SHA2-128s"),
        "{error}"
    );
}

#[test]
fn critical_extensions_that_are_unknown_are_refused() {
    let chain = chain();
    let verifier = Verifier::new(&chain.roots).at(at(NOW));
    let oid = || "2.5.29.99".to_owned();
    // Basic constraints, which are critical, under another number.
    let leaf = patched(&chain.leaf, &ce(19), &ce(99));
    let error = refused(&verifier, &leaf, &chain.others);
    assert_eq!(error, failed("CN=Server", Failure::CriticalExtension { oid: oid() }));
    let others = [patched(&chain.others[0], &ce(19), &ce(99))];
    let error = refused(&verifier, &chain.leaf, &others);
    assert_eq!(error, failed("CN=Middle", Failure::CriticalExtension { oid: oid() }));
    let roots = [patched(&chain.roots[0], &ce(19), &ce(99))];
    let error = refused(&Verifier::new(&roots).at(at(NOW)), &chain.leaf, &chain.others);
    assert_eq!(error, failed("CN=Root", Failure::CriticalExtension { oid: oid() }));
    // The identifier of a key, which is not.
    let roots = [patched(&chain.roots[0], &ce(14), &ce(99))];
    assert!(Verifier::new(&roots).at(at(NOW)).verify(&chain.leaf, &chain.others).is_ok());
    // Name constraints that cannot be read, critical or not.
    for number in [19, 14] {
        let der = chain.others[0].as_der();
        let place = der.windows(5).position(|window| window == ce(number)).unwrap();
        let der = [&der[..place], &ce(30), &der[place + 5..]].concat();
        assert_eq!(Certificate::from_der(&der).err(), Some(Error::Extension { oid: "2.5.29.30".into() }));
    }
}

#[test]
fn a_key_usage_that_its_key_cannot_have_is_refused() {
    let chain = chain();
    let verifier = Verifier::new(&chain.roots).at(at(NOW));
    let leaf = patched(&chain.leaf, &[3, 2, 7, 0x80], &[3, 2, 5, 0x20]);
    assert_eq!(leaf.key_usage(), Some(&[KeyUsage::KeyEncipherment][..]));
    assert_eq!(refused(&verifier, &leaf, &chain.others), failed("CN=Server", Failure::KeyUsage));
}

#[test]
fn revocation_is_looked_up_where_there_are_lists() {
    let chain = chain();
    let verifier = Verifier::new(&chain.roots).at(at(NOW));
    let times = (at(NOW - 10), at(NOW + 10));
    let entry = |certificate: &Certificate| Revoked {
        serial: certificate.serial().to_vec(),
        at: at(NOW - 20),
        reason: Reason::KeyCompromise,
    };
    let by_middle = |times, entries: &[Revoked]| {
        RevocationList::new(&chain.others[0], &chain.middle_key, 1, times, entries).unwrap()
    };
    let by_root = |entries: &[Revoked]| {
        RevocationList::new(&chain.roots[0], &chain.root_key, 1, times, entries).unwrap()
    };
    let revoked = || Failure::Revoked { at: at(NOW - 20), reason: Reason::KeyCompromise };

    let clean = [by_middle(times, &[]), by_root(&[])];
    let path = verifier.clone().revocation(&clean).require_revocation().verify(&chain.leaf, &chain.others);
    assert_eq!(path.unwrap().len(), 3);

    let leaf = [by_middle(times, &[]), by_middle(times, &[entry(&chain.leaf)])];
    let error = refused(&verifier.clone().revocation(&leaf), &chain.leaf, &chain.others);
    assert_eq!(error, failed("CN=Server", revoked()));
    let middle = [by_root(&[entry(&chain.others[0])])];
    let error = refused(&verifier.clone().revocation(&middle), &chain.leaf, &chain.others);
    assert_eq!(error, failed("CN=Middle", revoked()));
    // The same number of another issuer is another certificate.
    let elsewhere = [by_root(&[entry(&chain.leaf)])];
    assert!(verifier.clone().revocation(&elsewhere).verify(&chain.leaf, &chain.others).is_ok());
    let error =
        refused(&verifier.clone().revocation(&elsewhere).require_revocation(), &chain.leaf, &chain.others);
    assert_eq!(error, failed("CN=Server", Failure::NoRevocationList));

    for times in [(at(NOW - 20), at(NOW - 10)), (at(NOW + 10), at(NOW + 20))] {
        let stale = [by_middle(times, &[])];
        let error = refused(&verifier.clone().revocation(&stale), &chain.leaf, &chain.others);
        assert_eq!(error, failed("CN=Server", Failure::RevocationListTime));
    }
    // By the authority, which may not sign lists.
    let silent = authority("CN=Middle").key_usage(&[KeyUsage::KeyCertSign]);
    let silent = [silent.issue(&chain.middle_key.public_key(), &chain.roots[0], &chain.root_key).unwrap()];
    let list = [by_middle(times, &[])];
    let error = refused(&verifier.clone().revocation(&list), &chain.leaf, &silent);
    assert_eq!(error, failed("CN=Server", Failure::RevocationListSignature));
    // Of some reasons or some certificates alone (RFC 5280, §5.2.5): nobody here knows of which.
    for (oid, critical) in [("2.5.29.28", true), ("2.5.29.28", false), ("2.5.29.27", false)] {
        let partial = [partial_list(&chain, oid, critical)];
        let error = refused(&verifier.clone().revocation(&partial), &chain.leaf, &chain.others);
        assert_eq!(error, failed("CN=Server", Failure::RevocationListExtension { oid: oid.into() }));
    }
    // A root that is its own chain is looked up in its own list.
    let own = [by_root(&[entry(&chain.roots[0])])];
    let error = refused(&verifier.clone().revocation(&own), &chain.roots[0], &[]);
    assert_eq!(error, failed("CN=Root", revoked()));
    let own = [by_root(&[])];
    assert!(verifier.clone().revocation(&own).require_revocation().verify(&chain.roots[0], &[]).is_ok());
    assert!(verifier.clone().require_revocation().verify(&chain.roots[0], &[]).is_ok());
    // By another key under the same name.
    let stranger = PrivateKey::generate(Algorithm::Ed25519).unwrap();
    let strange = authority("CN=Middle").self_signed(&stranger).unwrap();
    let forged = [RevocationList::new(&strange, &stranger, 1, times, &[]).unwrap()];
    let error = refused(&verifier.clone().revocation(&forged), &chain.leaf, &chain.others);
    assert_eq!(error, failed("CN=Server", Failure::RevocationListSignature));
}

/// A list with a critical extension, signed as it must be.
/// A common name in a string of this tag.
fn common(tag: u8, text: &[u8]) -> String {
    let hex: String = text.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("CN=#{tag:02x}{:02x}{hex}", text.len())
}

/// RFC 5280, §7.1: encodings that mean the same name are the same name, for chains and for lists.
#[test]
fn names_are_compared_by_what_they_mean() {
    const PRINTABLE: u8 = 0x13;
    const UTF8: u8 = 0x0c;
    const TELETEX: u8 = 0x14;
    const IA5: u8 = 0x16;
    let root = |tag, text: &str| common(tag, text.as_bytes());
    let plain = root(PRINTABLE, "Example Root");
    for (one, other, same) in [
        (plain.clone(), root(UTF8, "Example Root"), true),
        (plain.clone(), root(PRINTABLE, "EXAMPLE root"), true),
        (plain.clone(), root(UTF8, "  example   ROOT "), true),
        (format!("{plain},O=A"), format!("{},O=a", root(UTF8, "example root")), true),
        (format!("{plain}+O=A"), format!("O=a+{}", root(UTF8, "example root")), true),
        (root(UTF8, "Stra\u{df}e"), root(UTF8, "STRA\u{df}E"), true),
        (root(TELETEX, "Example Root"), root(TELETEX, "Example Root"), true),
        (plain.clone(), root(PRINTABLE, "ExampleRoot"), false),
        (plain.clone(), root(PRINTABLE, "Example Roots"), false),
        (root(UTF8, "\u{e9}"), root(UTF8, "\u{c9}"), false),
        (plain.clone(), root(TELETEX, "Example Root"), false),
        (root(IA5, "Example Root"), root(IA5, "example root"), false),
        (format!("{plain},O=A"), format!("O=A,{plain}"), false),
        (plain.clone(), format!("{plain},O=A"), false),
        (plain, "O=Example Root".to_owned(), false),
    ] {
        let key = PrivateKey::generate(Algorithm::Ed25519).unwrap();
        let [signer, trusted] = [&one, &other].map(|text| authority(text).self_signed(&key).unwrap());
        assert_eq!(signer.subject() == trusted.subject(), same, "{one} {other}");
        let leaf = server("CN=Server").issue(&key.public_key(), &signer, &key).unwrap();
        let roots = [trusted];
        let verifier = Verifier::new(&roots).at(at(NOW));
        let found = verifier.verify(&leaf, &[]);
        assert_eq!(found.is_ok(), same, "{one} {other}: {found:?}");
        let lost = Revoked { serial: leaf.serial().to_vec(), at: at(NOW), reason: Reason::KeyCompromise };
        let list = RevocationList::new(&roots[0], &key, 1, (at(NOW - 1), at(NOW + 1)), &[lost]).unwrap();
        let (roots, lists) = ([signer], [list]);
        let found = Verifier::new(&roots).at(at(NOW)).revocation(&lists).verify(&leaf, &[]);
        assert_eq!(found.is_err(), same, "{one} {other}: {found:?}");
    }
}

fn partial_list(chain: &Chain, oid: &str, critical: bool) -> RevocationList {
    let times = (at(NOW - 10), at(NOW + 10));
    let list = RevocationList::new(&chain.others[0], &chain.middle_key, 1, times, &[]).unwrap();
    let mut list: CertificateList = CertificateList::from_der(list.as_der()).unwrap();
    list.tbs_cert_list.crl_extensions.as_mut().unwrap().push(Extension {
        extn_id: oid.parse().unwrap(),
        critical,
        extn_value: OctetString::new([0x30, 0]).unwrap(),
    });
    let signature = chain.middle_key.sign(&list.tbs_cert_list.to_der().unwrap()).unwrap();
    list.signature = BitString::from_bytes(&signature).unwrap();
    RevocationList::from_der(&list.to_der().unwrap()).unwrap()
}

#[test]
fn a_maze_and_a_tower_end() {
    let root_key = PrivateKey::generate(Algorithm::Ed25519).unwrap();
    let roots = [authority("CN=Root").self_signed(&root_key).unwrap()];
    let verifier = Verifier::new(&roots).at(at(NOW));
    // Each authority has signed the next.
    let mut others = Vec::new();
    let mut issuer = authority("CN=0").issue(&root_key.public_key(), &roots[0], &root_key).unwrap();
    for n in 1..10 {
        let next = authority(&format!("CN={n}")).issue(&root_key.public_key(), &issuer, &root_key).unwrap();
        others.push(std::mem::replace(&mut issuer, next));
    }
    others.push(issuer);
    assert_eq!(verifier.verify(&others[8], &others).unwrap().len(), 10);
    assert_eq!(refused(&verifier, &others[9], &others), failed("CN=0", Failure::TooLong));

    // All have one name, one key, and no way out.
    let lost = PrivateKey::generate(Algorithm::Ed25519).unwrap();
    let maze: Vec<_> = (0..100).map(|_| authority("CN=Maze").self_signed(&lost).unwrap()).collect();
    assert_eq!(refused(&verifier, &maze[0], &maze).1, Failure::TooMuchWork);
}
