//! Certificates, requests and revocation lists: what is written, what is read, and every way in which it can be wrong.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use gambeson_pki::{
    Algorithm, AltName, Certificate, Error, Form, KeyUsage, Name, PrivateKey, Purpose, Reason, Request,
    RevocationList, Revoked, Template,
};

fn key(algorithm: Algorithm) -> PrivateKey {
    PrivateKey::generate(algorithm).unwrap()
}

fn name(text: &str) -> Name {
    text.parse().unwrap()
}

fn at(seconds: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(seconds)
}

/// The first place of `old` in `der` as `new`, of the same length.
fn patched(der: &[u8], old: &[u8], new: &[u8]) -> Vec<u8> {
    assert_eq!(old.len(), new.len());
    let place = der.windows(old.len()).position(|window| window == old).expect("it stands there");
    let mut der = der.to_vec();
    der[place..][..new.len()].copy_from_slice(new);
    der
}

/// The identifier of an extension, 2.5.29.n.
const fn ce(n: u8) -> [u8; 5] {
    [6, 3, 0x55, 0x1d, n]
}

#[test]
fn every_signature_algorithm_signs_certificates() {
    let mut ran = 0;
    for algorithm in
        Algorithm::ALL.iter().copied().filter(|algorithm| algorithm.signs() && !algorithm.is_stateful())
    {
        let root_key = key(algorithm);
        let root = Template::authority(name("CN=Root,O=Example")).self_signed(&root_key).unwrap();
        root.verify_signature(&root_key.public_key()).unwrap();
        let other = key(algorithm).public_key();
        assert_eq!(root.verify_signature(&other), Err(Error::Signature), "{algorithm}");
        assert_eq!(root.public_key().unwrap(), root_key.public_key());
        assert!(root.is_authority());
        assert_eq!(root.path_length(), None);
        assert_eq!(root.key_usage(), Some(&[KeyUsage::KeyCertSign, KeyUsage::CrlSign][..]));
        assert_eq!(root.subject_key_identifier(), root.authority_key_identifier());
        assert_eq!(root.subject(), root.issuer());
        let again = Certificate::read(root.to_pem().as_bytes()).unwrap();
        assert_eq!(again, root);
        assert_eq!(Certificate::read(root.as_der()).unwrap(), root);
        ran += 1;
    }
    assert_eq!(ran, 26);
}

#[test]
fn every_key_can_be_the_subject_of_a_certificate() {
    let root_key = key(Algorithm::Ed25519);
    let root = Template::authority(name("CN=Root")).path_length(1).self_signed(&root_key).unwrap();
    assert_eq!(root.path_length(), Some(1));
    let mut ran = 0;
    for algorithm in Algorithm::ALL.iter().copied().filter(|algorithm| !algorithm.is_stateful()) {
        let subject = key(algorithm).public_key();
        let certificate = Template::new(name("CN=Subject")).issue(&subject, &root, &root_key).unwrap();
        certificate.verify_signature(&root_key.public_key()).unwrap();
        assert_eq!(certificate.public_key().unwrap(), subject);
        assert!(!certificate.is_authority());
        let usage = if algorithm.signs() { KeyUsage::DigitalSignature } else { KeyUsage::KeyEncipherment };
        assert_eq!(certificate.key_usage(), Some(&[usage][..]));
        assert_eq!(certificate.authority_key_identifier(), root.subject_key_identifier());
        assert_ne!(certificate.subject_key_identifier(), root.subject_key_identifier());
        assert_eq!(certificate.signature_algorithm(), "1.3.101.112");
        ran += 1;
    }
    assert_eq!(ran, 34);
}

#[test]
fn all_that_a_template_says_comes_back() {
    let root_key = key(Algorithm::EcdsaP256);
    let names: Vec<AltName> =
        ["example.com", "*.example.com", "192.0.2.7", "2001:db8::1", "did:web:example.com", "a@example.com"]
            .map(|text| text.parse().unwrap())
            .into();
    let mut template = Template::new(Name::default())
        .valid(at(1_700_000_000), at(4_000_000_000))
        .purpose(Purpose::ServerAuth)
        .purpose(Purpose::Other("1.3.6.1.4.1.99999.1".into()))
        .key_usage(&[KeyUsage::DigitalSignature, KeyUsage::NonRepudiation]);
    for name in &names {
        template = template.alt_name(name.clone());
    }
    let certificate = template.self_signed(&root_key).unwrap();
    assert!(certificate.subject().is_empty());
    assert_eq!(certificate.alt_names(), names);
    assert_eq!(
        certificate.purposes(),
        Some(&[Purpose::ServerAuth, Purpose::Other("1.3.6.1.4.1.99999.1".into())][..])
    );
    assert_eq!(certificate.key_usage(), Some(&[KeyUsage::DigitalSignature, KeyUsage::NonRepudiation][..]));
    // The first with two digits of a year, the second, of 2096, with four.
    assert_eq!(certificate.not_before(), at(1_700_000_000));
    assert_eq!(certificate.not_after(), at(4_000_000_000));
    // Critical where it is the only name (RFC 5280, §4.2.1.6).
    let critical = [&ce(17)[..], &[1, 1, 0xff]].concat();
    assert!(certificate.as_der().windows(critical.len()).any(|window| window == critical));
}

#[test]
fn serial_numbers_are_twenty_positive_bytes_and_differ() {
    let root_key = key(Algorithm::Ed25519);
    let template = Template::authority(name("CN=Root"));
    let serials: Vec<_> =
        (0..20).map(|_| template.self_signed(&root_key).unwrap().serial().to_vec()).collect();
    for (at, serial) in serials.iter().enumerate() {
        assert_eq!(serial.len(), 20);
        assert!((0x40..0x80).contains(&serial[0]));
        assert!(!serials[..at].contains(serial));
    }
}

#[test]
fn what_makes_no_sense_is_not_signed() {
    let root_key = key(Algorithm::MlDsa44);
    let root = Template::authority(name("CN=Root")).path_length(0).self_signed(&root_key).unwrap();
    let (signs, receives) = (key(Algorithm::Ed25519), key(Algorithm::MlKem512));
    let subject = Template::new(name("CN=Subject"));

    assert_eq!(subject.self_signed(&receives).err(), Some(Error::NotASigningKey));
    assert_eq!(Request::new(&subject, &receives).err(), Some(Error::NotASigningKey));
    let mismatch = subject.issue(&signs.public_key(), &root, &signs).err();
    assert_eq!(mismatch, Some(Error::KeyMismatch));
    let leaf = subject.issue(&signs.public_key(), &root, &root_key).unwrap();
    let by_leaf = subject.issue(&receives.public_key(), &leaf, &signs).err();
    assert_eq!(by_leaf, Some(Error::NotAnAuthority));
    let another = Template::authority(name("CN=Another"));
    assert_eq!(another.issue(&signs.public_key(), &root, &root_key).err(), Some(Error::PathLength));
    // An authority that signs lists and no certificates, and the other way round.
    let lists = another.clone().key_usage(&[KeyUsage::CrlSign]).self_signed(&root_key).unwrap();
    assert_eq!(subject.issue(&signs.public_key(), &lists, &root_key).err(), Some(Error::NotAnAuthority));
    let certificates = another.clone().key_usage(&[KeyUsage::KeyCertSign]).self_signed(&root_key).unwrap();
    let times = (at(1_000), at(2_000));
    let list = RevocationList::new(&certificates, &root_key, 1, times, &[]).err();
    assert_eq!(list, Some(Error::NotAnAuthority));

    for (usage, subject_key) in [
        (KeyUsage::KeyEncipherment, &signs),
        (KeyUsage::KeyAgreement, &signs),
        (KeyUsage::DigitalSignature, &receives),
        (KeyUsage::KeyCertSign, &receives),
        (KeyUsage::DataEncipherment, &receives),
    ] {
        let error = subject.clone().key_usage(&[usage]).issue(&subject_key.public_key(), &root, &root_key);
        assert_eq!(error.err(), Some(Error::KeyUsage), "{usage}");
    }
    assert_eq!(subject.clone().key_usage(&[]).self_signed(&signs).err(), Some(Error::KeyUsage));
    let authority = Template::authority(name("CN=A")).issue(&receives.public_key(), &certificates, &root_key);
    assert_eq!(authority.err(), Some(Error::KeyUsage));

    for (from, to) in [(at(5), at(5)), (at(6), at(5)), (UNIX_EPOCH - Duration::from_secs(1), at(5))] {
        assert_eq!(subject.clone().valid(from, to).self_signed(&signs).err(), Some(Error::Time));
    }
    let beyond = subject.clone().valid(at(5), at(300_000_000_000)).self_signed(&signs).err();
    assert_eq!(beyond, Some(Error::Time));
    let list = RevocationList::new(&lists, &root_key, 1, (at(6), at(5)), &[]).err();
    assert_eq!(list, Some(Error::Time));
    for serial in [vec![1; 21], vec![0xff; 20]] {
        let entry = Revoked { serial, at: at(5), reason: Reason::Unspecified };
        let list = RevocationList::new(&lists, &root_key, 1, (at(5), at(6)), &[entry]).err();
        assert_eq!(list, Some(Error::Der));
    }
    let purpose = subject.clone().purpose(Purpose::Other("one".into())).self_signed(&signs).err();
    assert_eq!(purpose, Some(Error::Extension { oid: "one".into() }));
}

#[test]
fn names_are_read_and_refused() {
    for text in ["CN=Example", "CN=Example Root,O=Example\\, Inc.,C=NL", "CN=Ünï,O=日本"] {
        assert_eq!(name(text).to_string(), text);
    }
    assert!(name("").is_empty());
    for text in ["Example", "CN=a,", "C=Ü", "NOSUCH=a", "CN=\\zz", "CN=\\ff"] {
        assert_eq!(text.parse::<Name>(), Err(Error::Name), "{text}");
    }
    for text in
        ["", "-a.example", "a..example", "a b", "exämple.com", "mailto:", "1a:b", "@example.com", "a@-", "*"]
    {
        let error = Error::AltName { text: text.into() };
        assert_eq!(text.parse::<AltName>(), Err(error), "{text}");
    }
    let long = format!("{}.example", "a".repeat(64));
    assert_eq!(long.parse::<AltName>(), Err(Error::AltName { text: long.clone() }));
    let odd = AltName::Uri("no colon".into());
    let error = Template::new(name("CN=a")).alt_name(odd).self_signed(&key(Algorithm::Ed25519)).err();
    assert_eq!(error, Some(Error::AltName { text: "no colon".into() }));
}

#[test]
fn extensions_that_are_double_or_unreadable_are_refused() {
    let root = Template::authority(name("CN=Root")).self_signed(&key(Algorithm::Ed25519)).unwrap();
    // The identifier of the authority's key under the number of the subject's, and as extended key usage.
    let twice = patched(root.as_der(), &ce(35), &ce(14));
    assert_eq!(
        Certificate::from_der(&twice).err(),
        Some(Error::DuplicateExtension { oid: "2.5.29.14".into() })
    );
    let unreadable = patched(root.as_der(), &ce(35), &ce(37));
    assert_eq!(Certificate::from_der(&unreadable).err(), Some(Error::Extension { oid: "2.5.29.37".into() }));
}

#[test]
fn two_names_of_the_signature_must_be_one() {
    let root_key = key(Algorithm::Ed25519);
    let root = Template::authority(name("CN=Root")).self_signed(&root_key).unwrap();
    let (ed25519, ed448) = ([6, 3, 0x2b, 0x65, 0x70], [6, 3, 0x2b, 0x65, 0x71]);
    let two = patched(root.as_der(), &ed25519, &ed448);
    assert_eq!(Certificate::from_der(&two).err(), Some(Error::TwoAlgorithms));
    let list = RevocationList::new(&root, &root_key, 1, (at(5), at(6)), &[]).unwrap();
    let two = patched(list.as_der(), &ed25519, &ed448);
    assert_eq!(RevocationList::from_der(&two).err(), Some(Error::TwoAlgorithms));
    // The same in both places, and not that of the key: first the body's, then the one outside.
    let mut both = patched(root.as_der(), &ed25519, &ed448);
    let outside = both.windows(5).rposition(|window| window == ed25519).unwrap();
    both[outside + 4] = 0x71;
    let wrong = Certificate::from_der(&both).unwrap().verify_signature(&root_key.public_key());
    assert_eq!(wrong, Err(Error::SignatureAlgorithm { oid: "1.3.101.113".into() }));
}

#[test]
fn requests_are_verified_when_they_are_read() {
    for algorithm in
        Algorithm::ALL.iter().copied().filter(|algorithm| algorithm.signs() && !algorithm.is_stateful())
    {
        let subject = key(algorithm);
        let template = Template::new(name("CN=Subject,O=Example"))
            .alt_name("example.com".parse().unwrap())
            .purpose(Purpose::ServerAuth);
        let request = Request::new(&template, &subject).unwrap();
        let again = Request::read(request.to_pem().as_bytes()).unwrap();
        assert_eq!(again, request);
        assert_eq!(again.subject(), name("CN=Subject,O=Example"));
        assert_eq!(again.public_key(), &subject.public_key());
        assert_eq!(again.alt_names(), ["example.com".parse().unwrap()]);
        assert_eq!(again.purposes(), [Purpose::ServerAuth]);
        assert_eq!(again.key_usage(), Some(&[KeyUsage::DigitalSignature][..]));
        assert!(!again.asks_for_authority());
        let mut bad = request.as_der().to_vec();
        let place = bad.windows(7).position(|window| window == b"Subject").unwrap();
        bad[place] ^= 1;
        assert_eq!(Request::from_der(&bad).err(), Some(Error::Signature), "{algorithm}");
    }
    // Who asks to be an authority gets a template of somebody who is none.
    let subject = key(Algorithm::Ed448);
    let request = Request::new(&Template::authority(name("CN=Ambition")), &subject).unwrap();
    assert!(request.asks_for_authority());
    let root_key = key(Algorithm::MlDsa87);
    let root = Template::authority(name("CN=Root")).self_signed(&root_key).unwrap();
    let certificate = request.to_template().issue(request.public_key(), &root, &root_key).unwrap();
    assert!(!certificate.is_authority());
    assert_eq!(certificate.subject(), name("CN=Ambition"));
}

#[test]
fn revocation_lists_go_round() {
    let root_key = key(Algorithm::MlDsa65);
    let root = Template::authority(name("CN=Root")).self_signed(&root_key).unwrap();
    let entries = [
        Revoked { serial: vec![5], at: at(1_700_000_000), reason: Reason::Unspecified },
        Revoked { serial: vec![0x40; 20], at: at(1_700_000_001), reason: Reason::KeyCompromise },
    ];
    let list =
        RevocationList::new(&root, &root_key, 300, (at(1_700_000_002), at(1_700_000_003)), &entries).unwrap();
    let again = RevocationList::read(list.to_pem().as_bytes()).unwrap();
    assert_eq!(again, list);
    assert_eq!(RevocationList::read(list.as_der()).unwrap(), list);
    assert_eq!(again.issuer(), root.subject());
    assert_eq!(again.number(), Some(&[1, 44][..]));
    assert_eq!(again.this_update(), at(1_700_000_002));
    assert_eq!(again.next_update(), Some(at(1_700_000_003)));
    assert_eq!(again.revoked(), entries);
    assert_eq!(again.find(&[0x40; 20]).map(|entry| entry.reason), Some(Reason::KeyCompromise));
    assert_eq!(again.find(&[6]), None);
    again.verify_signature(&root_key.public_key()).unwrap();
    let other = key(Algorithm::MlDsa65).public_key();
    assert_eq!(again.verify_signature(&other), Err(Error::Signature));
    let empty = RevocationList::new(&root, &root_key, 0, (at(5), at(6)), &[]).unwrap();
    assert!(empty.revoked().is_empty());
}

/// DER writes a zero before a number whose first bit is set; it is no part of the number.
#[test]
fn serial_numbers_have_no_zero_in_front() {
    let root_key = key(Algorithm::Ed25519);
    let root = Template::authority(name("CN=Root")).self_signed(&root_key).unwrap();
    let mut der = root.as_der().to_vec();
    let serial = der.windows(2).position(|window| window == [2, 20]).unwrap() + 2;
    der[serial..serial + 2].copy_from_slice(&[0, 0x85]);
    let high = Certificate::from_der(&der).unwrap();
    assert_eq!(high.serial(), &der[serial + 1..serial + 20]);

    let entry = |serial: &[u8]| Revoked { serial: serial.to_vec(), at: at(5), reason: Reason::Superseded };
    let entries = [entry(high.serial()), entry(&[0x80, 1]), entry(&[0])];
    let list = RevocationList::new(&root, &root_key, 1, (at(5), at(6)), &entries).unwrap();
    assert_eq!(list.revoked(), entries);
    for serial in [high.serial(), &[0x80, 1], &[0, 0x80, 1], &[0, 0, 0x80, 1], &[0], &[0, 0]] {
        assert!(list.find(serial).is_some(), "{serial:02x?}");
    }
    for serial in [&[][..], &[0x80], &[1], &[0x80, 1, 0]] {
        assert!(list.find(serial).is_none(), "{serial:02x?}");
    }
}

#[test]
fn files_of_several_certificates_are_read_in_order() {
    let root_key = key(Algorithm::Ed25519);
    let one = Template::authority(name("CN=One")).self_signed(&root_key).unwrap();
    let two = Template::authority(name("CN=Two")).self_signed(&root_key).unwrap();
    let secret = root_key.to_pkcs8_pem(Form::Seed).unwrap();
    let file = format!("a comment\n{}{}more\n{}", one.to_pem(), *secret, two.to_pem());
    assert_eq!(Certificate::read_all(file.as_bytes()).unwrap(), [one.clone(), two.clone()]);
    assert_eq!(Certificate::read(file.as_bytes()).unwrap(), one);
    let label = Error::Label { expected: "CERTIFICATE", found: "PRIVATE KEY".into() };
    assert_eq!(Certificate::read_all(secret.as_bytes()).err(), Some(label));
    for file in [&b""[..], b"hello", &[0xff]] {
        assert_eq!(Certificate::read_all(file).err(), Some(Error::Pem));
    }
    let damaged = Error::PemBlock { label: "CERTIFICATE", what: "has no END line" };
    assert_eq!(Certificate::read_all(&file.as_bytes()[..file.len() - 40]).err(), Some(damaged));
    assert_eq!(Request::read(b"hello").err(), Some(Error::Pem));
    assert_eq!(RevocationList::read(b"hello").err(), Some(Error::Pem));
}

#[test]
fn nothing_that_is_cut_or_changed_makes_a_panic() {
    let root_key = key(Algorithm::Ed25519);
    let root = Template::authority(name("CN=Root"))
        .alt_name("example.com".parse().unwrap())
        .alt_name("192.0.2.7".parse().unwrap())
        .purpose(Purpose::ClientAuth)
        .self_signed(&root_key)
        .unwrap();
    let request = Request::new(&Template::new(name("CN=Subject")), &root_key).unwrap();
    let entry = Revoked { serial: vec![5], at: at(5), reason: Reason::Superseded };
    let list = RevocationList::new(&root, &root_key, 1, (at(5), at(6)), &[entry]).unwrap();
    type Reads = fn(&[u8]) -> bool;
    let reads: [(&[u8], Reads); 3] = [
        (root.as_der(), |der| {
            Certificate::from_der(der).is_ok_and(|certificate| {
                let _ =
                    (certificate.public_key(), certificate.not_after(), certificate.subject().to_string());
                true
            })
        }),
        (request.as_der(), |der| Request::from_der(der).is_ok()),
        (list.as_der(), |der| RevocationList::from_der(der).is_ok_and(|list| list.next_update().is_some())),
    ];
    for (der, read) in reads {
        assert!(read(der));
        for len in 0..der.len() {
            assert!(!read(&der[..len]), "cut at {len}");
        }
        assert!(!read(&[der, &[0]].concat()));
        for at in 0..der.len() {
            for value in [0, 1, 0x7f, 0x80, 0xff, der[at] ^ 1, der[at] ^ 0x20] {
                let mut bad = der.to_vec();
                bad[at] = value;
                read(&bad);
            }
        }
    }
}

#[test]
fn debug_and_errors_speak() {
    let root = Template::authority(name("CN=Root")).self_signed(&key(Algorithm::Ed25519)).unwrap();
    assert_eq!(format!("{root:?}"), "Certificate(CN=Root)");
    for error in [
        Error::SignatureAlgorithm { oid: "1.2".into() },
        Error::Signature,
        Error::Name,
        Error::AltName { text: "a b".into() },
        Error::Extension { oid: "1.2".into() },
        Error::DuplicateExtension { oid: "1.2".into() },
        Error::TwoAlgorithms,
        Error::Time,
        Error::NotAnAuthority,
        Error::PathLength,
        Error::KeyMismatch,
        Error::KeyUsage,
    ] {
        assert!(!error.to_string().is_empty());
    }
}
