//! Chains of certificates: what the verifier refuses although their signatures hold.

use std::time::{Duration, SystemTime};

use gambeson_pki::{
    Algorithm, Certificate, KeyUsage, PrivateKey, Purpose, Reason, RevocationList, Revoked, Template,
};
use gambeson_rustls::rustls::client::danger::ServerCertVerifier;
use gambeson_rustls::rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use gambeson_rustls::rustls::server::danger::ClientCertVerifier;
use gambeson_rustls::rustls::{AlertDescription, CertificateError, Error};
use gambeson_rustls::{ChainVerifier, Roots, explain};

const ALGORITHMS: [Algorithm; 5] = [
    Algorithm::Ed25519,
    Algorithm::EcdsaP256,
    Algorithm::MlDsa65,
    Algorithm::MlDsa65Ed25519,
    Algorithm::MlDsa87Ed448,
];

struct World {
    root_key: PrivateKey,
    root: Certificate,
    middle_key: PrivateKey,
    middle: Certificate,
    key: PrivateKey,
    leaf: Certificate,
}

fn authority(subject: &str) -> Template {
    Template::authority(subject.parse().unwrap())
}

fn server() -> Template {
    let template = Template::new("CN=Server".parse().unwrap()).alt_name("example.com".parse().unwrap());
    template.purpose(Purpose::ServerAuth).purpose(Purpose::ClientAuth)
}

impl World {
    fn new(algorithm: Algorithm) -> Self {
        let [root_key, middle_key, key] = [(); 3].map(|()| PrivateKey::generate(algorithm).unwrap());
        let root = authority("CN=Root").self_signed(&root_key).unwrap();
        let middle = authority("CN=Middle").issue(&middle_key.public_key(), &root, &root_key).unwrap();
        let leaf = server().issue(&key.public_key(), &middle, &middle_key).unwrap();
        Self { root_key, root, middle_key, middle, key, leaf }
    }

    fn middle(&self, template: Template) -> Certificate {
        template.issue(&self.middle_key.public_key(), &self.root, &self.root_key).unwrap()
    }

    fn leaf(&self, template: Template) -> Certificate {
        template.issue(&self.key.public_key(), &self.middle, &self.middle_key).unwrap()
    }
}

impl World {
    /// A leaf with a key usage, in DER, which no template gives it. ECDSA is deterministic, and its signatures have several lengths: leaves are
    /// issued until one has the length of its first signature again.
    fn leaf_with(&self, usage: [u8; 4]) -> Certificate {
        for _ in 0..1000 {
            let mut der = self.leaf(server()).as_der().to_vec();
            let place =
                der.windows(4).position(|window| window == [3, 2, 7, 0x80]).expect("digitalSignature");
            der[place..place + 4].copy_from_slice(&usage);
            let body = 4..8 + usize::from(u16::from_be_bytes([der[6], der[7]]));
            let signature = self.middle_key.sign(&der[body]).unwrap();
            let start = der.len() - signature.len();
            if der[start..].starts_with(&signature[..2]) {
                der[start..].copy_from_slice(&signature);
                return Certificate::from_der(&der).unwrap();
            }
        }
        panic!("a thousand signatures, and none of the same length");
    }
}

fn der(certificate: &Certificate) -> CertificateDer<'static> {
    CertificateDer::from(certificate.as_der().to_vec())
}

fn verifier(roots: &[&Certificate]) -> ChainVerifier {
    let provider = gambeson_rustls::provider().unwrap();
    let roots = Roots::of_certificates(roots.iter().map(|root| der(root))).unwrap();
    ChainVerifier::new(roots, &provider)
}

/// Asks for a server and for a client; both find the same.
fn judged(verifier: &ChainVerifier, leaf: &Certificate, others: &[&Certificate]) -> Result<(), Error> {
    let others: Vec<_> = others.iter().map(|other| der(other)).collect();
    let (name, now) = (ServerName::try_from("example.com").unwrap(), UnixTime::now());
    let server = verifier.verify_server_cert(&der(leaf), &others, &name, &[], now).map(drop);
    let client = verifier.verify_client_cert(&der(leaf), &others, now).map(drop);
    assert_eq!(server.is_ok(), client.is_ok(), "{server:?} {client:?}");
    server
}

/// The word of the check that failed.
fn code(verifier: &ChainVerifier, leaf: &Certificate, others: &[&Certificate]) -> &'static str {
    code_of(&judged(verifier, leaf, others).unwrap_err())
}

/// Words for an error; rustls has names of its own for some checks, which its alerts follow.
fn code_of(error: &Error) -> &'static str {
    match error {
        Error::InvalidCertificate(CertificateError::Revoked) => "revoked",
        Error::InvalidCertificate(CertificateError::InvalidPurposeContext { .. }) => "purpose",
        error => ChainVerifier::failure(error).unwrap_or_else(|| panic!("{error:?}")).failure().code(),
    }
}

/// RFC 8446, section 6.2.
#[test]
fn alerts_say_what_is_wrong_with_a_certificate() {
    let world = World::new(Algorithm::MlDsa44);
    let (now, hour) = (SystemTime::now(), Duration::from_secs(3600));
    let lost = Revoked { serial: world.leaf.serial().to_vec(), at: now, reason: Reason::KeyCompromise };
    let list =
        RevocationList::new(&world.middle, &world.middle_key, 1, (now - hour, now + hour), &[lost]).unwrap();
    let revoking = verifier(&[&world.root]).with_revocation(vec![list]);
    let plain = verifier(&[&world.root]);
    let mail = world.leaf(named().purpose(Purpose::EmailProtection));
    let usage = world.leaf(named().key_usage(&[KeyUsage::NonRepudiation]));
    let old = world.leaf(named().valid(now - 3 * hour, now - hour));
    let early = world.leaf(named().valid(now + hour, now + 3 * hour));
    let (root, middle) = (&world.root, [&world.middle]);
    let other = verifier(&[&world.leaf]);
    for (verifier, leaf, others, alert) in [
        (&revoking, &world.leaf, &middle[..], AlertDescription::CertificateRevoked),
        (&plain, &mail, &middle, AlertDescription::UnsupportedCertificate),
        (&plain, &usage, &middle, AlertDescription::UnsupportedCertificate),
        (&plain, &old, &middle, AlertDescription::CertificateExpired),
        (&plain, &early, &middle, AlertDescription::CertificateExpired),
        (&plain, &world.leaf, &[], AlertDescription::UnknownCA),
        (&other, root, &[], AlertDescription::CertificateUnknown),
    ] {
        let error = judged(verifier, leaf, others).unwrap_err();
        let Error::InvalidCertificate(why) = error.clone() else { panic!("{error:?}") };
        assert_eq!(AlertDescription::from(why), alert, "{error:?}");
        let words = explain(&error);
        let names = ["Revoked", "UnknownIssuer", "Context", "Purpose", "Expired", "Other", "invalid peer"];
        assert!(names.iter().all(|name| !words.contains(name)), "{words}");
    }
}

fn named() -> Template {
    Template::new("CN=Named".parse().unwrap()).alt_name("example.com".parse().unwrap())
}

#[test]
fn chains_hold_with_every_kind_of_algorithm() {
    for algorithm in ALGORITHMS {
        let world = World::new(algorithm);
        let verifier = verifier(&[&world.root]);
        judged(&verifier, &world.leaf, &[&world.middle]).unwrap();
        let wrong = ServerName::try_from("example.org").unwrap();
        let others = [der(&world.middle)];
        let refused = verifier.verify_server_cert(&der(&world.leaf), &others, &wrong, &[], UnixTime::now());
        assert!(
            matches!(
                refused,
                Err(Error::InvalidCertificate(CertificateError::NotValidForNameContext { .. }))
            ),
            "{refused:?}"
        );
        assert!(judged(&verifier, &world.leaf, &[]).is_err());
        // What is sent beside the chain does no harm.
        let others = [CertificateDer::from(vec![0x30, 0]), der(&world.middle), der(&world.leaf)];
        verifier.verify_client_cert(&der(&world.leaf), &others, UnixTime::now()).unwrap();
    }
}

/// RFC 5280, §6.1.4 (n), and RFC 8446, §4.4.2.2.
#[test]
fn keys_do_what_their_usage_says_and_nothing_else() {
    for algorithm in ALGORITHMS {
        let world = World::new(algorithm);
        let verifier = verifier(&[&world.root]);
        let signs_nothing = world.middle(authority("CN=Middle").key_usage(&[KeyUsage::DigitalSignature]));
        assert_eq!(code(&verifier, &world.leaf, &[&signs_nothing]), "may-sign-no-certificates");
        // One of the same name that may is found behind it.
        judged(&verifier, &world.leaf, &[&signs_nothing, &world.middle]).unwrap();
        let shakes_no_hands = world.leaf(server().key_usage(&[KeyUsage::CrlSign]));
        assert_eq!(code(&verifier, &shakes_no_hands, &[&world.middle]), "purpose");
    }
    // Keys of other algorithms cannot have these usages, and are issued with none of them.
    let world = World::new(Algorithm::EcdsaP256);
    for usage in [[3, 2, 3, 8], [3, 2, 5, 0x20]] {
        let leaf = world.leaf_with(usage);
        assert!(!leaf.key_usage().unwrap().contains(&KeyUsage::DigitalSignature));
        assert_eq!(code(&verifier(&[&world.root]), &leaf, &[&world.middle]), "purpose");
    }
}

#[test]
fn roots_of_files_are_judged_like_other_authorities() {
    for algorithm in ALGORITHMS {
        let world = World::new(algorithm);
        let now = SystemTime::now();
        let hour = Duration::from_secs(3600);
        for (template, expected) in [
            (authority("CN=Root").valid(now - 2 * hour, now - hour), "expired"),
            (authority("CN=Root").valid(now + hour, now + 2 * hour), "not-yet-valid"),
            (Template::new("CN=Root".parse().unwrap()), "not-an-authority"),
            (authority("CN=Root").key_usage(&[KeyUsage::CrlSign]), "may-sign-no-certificates"),
            (authority("CN=Root").path_length(0), "path-length"),
        ] {
            let root = template.self_signed(&world.root_key).unwrap();
            assert_eq!(code(&verifier(&[&root]), &world.leaf, &[&world.middle]), expected);
            // Beside one that holds it does no harm.
            judged(&verifier(&[&root, &world.root]), &world.leaf, &[&world.middle]).unwrap();
        }
    }
}

/// A bare key has no time and no usage; what stands between is judged all the same.
#[test]
fn below_a_bare_key_the_others_are_judged() {
    let world = World::new(Algorithm::EcdsaP256);
    let provider = gambeson_rustls::provider().unwrap();
    let root = der(&world.root);
    let mut store = gambeson_rustls::rustls::RootCertStore::empty();
    store.add(root).unwrap();
    let verifier = ChainVerifier::new(Roots::of_keys(store.roots), &provider);
    judged(&verifier, &world.leaf, &[&world.middle]).unwrap();
    let signs_nothing = world.middle(authority("CN=Middle").key_usage(&[KeyUsage::DigitalSignature]));
    assert_eq!(code(&verifier, &world.leaf, &[&signs_nothing]), "may-sign-no-certificates");
}

#[test]
fn a_certificate_among_the_roots_is_its_own_chain() {
    for algorithm in ALGORITHMS {
        let key = PrivateKey::generate(algorithm).unwrap();
        let own = server().self_signed(&key).unwrap();
        judged(&verifier(&[&own]), &own, &[]).unwrap();
        let authority = authority("CN=Server").alt_name("example.com".parse().unwrap());
        let authority = authority
            .key_usage(&[KeyUsage::DigitalSignature, KeyUsage::KeyCertSign])
            .self_signed(&key)
            .unwrap();
        judged(&verifier(&[&authority]), &authority, &[]).unwrap();
        let world = World::new(algorithm);
        assert!(judged(&verifier(&[&own]), &world.leaf, &[&world.middle]).is_err());
    }
}

#[test]
fn what_is_revoked_is_refused_at_every_level() {
    for algorithm in ALGORITHMS {
        let world = World::new(algorithm);
        let now = SystemTime::now();
        let times = (now - Duration::from_secs(1), now + Duration::from_secs(3600));
        let lost = |certificate: &Certificate| Revoked {
            serial: certificate.serial().to_vec(),
            at: now,
            reason: Reason::KeyCompromise,
        };
        let of_root =
            |lost: &[Revoked]| RevocationList::new(&world.root, &world.root_key, 1, times, lost).unwrap();
        let of_middle =
            |lost: &[Revoked]| RevocationList::new(&world.middle, &world.middle_key, 1, times, lost).unwrap();
        let with = |lists| verifier(&[&world.root]).with_revocation(lists);
        judged(&with(vec![of_root(&[]), of_middle(&[])]), &world.leaf, &[&world.middle]).unwrap();
        for lists in [vec![of_root(&[lost(&world.middle)])], vec![of_middle(&[lost(&world.leaf)])]] {
            assert_eq!(code(&with(lists), &world.leaf, &[&world.middle]), "revoked");
        }
        // A list of a root whose certificate is not there cannot be believed.
        let provider = gambeson_rustls::provider().unwrap();
        let mut store = gambeson_rustls::rustls::RootCertStore::empty();
        store.add(der(&world.root)).unwrap();
        let bare = ChainVerifier::new(Roots::of_keys(store.roots), &provider);
        let bare = bare.with_revocation(vec![of_root(&[])]);
        assert_eq!(code(&bare, &world.leaf, &[&world.middle]), "revocation-list-signature");
    }
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

/// The contents and what follows of the value at the beginning of `der`.
fn split(der: &[u8]) -> (&[u8], &[u8]) {
    let (header, length) = match der[1] {
        short @ 0..=0x7f => (2, usize::from(short)),
        0x81 => (3, usize::from(der[2])),
        _ => (4, usize::from(u16::from_be_bytes([der[2], der[3]]))),
    };
    (&der[header..header + length], &der[header + length..])
}

/// The authority with name constraints, which permit one name, under a new signature of `signer`.
fn permitting(authority: &Certificate, signer: &PrivateKey, base: &[u8]) -> Certificate {
    let (outer, _) = split(authority.as_der());
    let (body, rest) = split(outer);
    let algorithm = &rest[..rest.len() - split(rest).1.len()];
    let mut start = 0;
    while body[start] != 0xa3 {
        start = body.len() - split(&body[start..]).1.len();
    }
    let (list, _) = split(split(&body[start..]).0);
    let permitted = tlv(0x30, &[&tlv(0xa0, &[&tlv(0x30, &[base])])]);
    let extension = tlv(0x30, &[&[6, 3, 0x55, 0x1d, 30, 1, 1, 0xff], &tlv(0x04, &[&permitted])]);
    let body = tlv(0x30, &[&body[..start], &tlv(0xa3, &[&tlv(0x30, &[list, &extension])])]);
    let signature = signer.sign(&body).unwrap();
    Certificate::from_der(&tlv(0x30, &[&body, algorithm, &tlv(0x03, &[&[0], &signature])])).unwrap()
}

#[test]
fn name_constraints_of_every_form_hold_and_are_told_in_our_words() {
    for algorithm in ALGORITHMS {
        let world = World::new(algorithm);
        let leaf = Template::new("CN=Server,O=Home".parse().unwrap());
        let leaf = leaf.alt_name("example.com".parse().unwrap()).alt_name("a@example.com".parse().unwrap());
        let leaf = leaf.alt_name("https://example.com/".parse().unwrap());
        let leaf = world.leaf(leaf);
        let home: gambeson_pki::Name = "O=Home".parse().unwrap();
        let elsewhere: gambeson_pki::Name = "O=Elsewhere".parse().unwrap();
        for (base, code_of_failure) in [
            (tlv(0x82, &[b"example.com"]), None),
            (tlv(0x81, &[b"example.com"]), None),
            (tlv(0x86, &[b"example.com"]), None),
            (tlv(0xa4, &[&home.to_der()]), None),
            (tlv(0x82, &[b"example.org"]), Some("name-constraints")),
            (tlv(0x81, &[b"example.org"]), Some("name-constraints")),
            (tlv(0x86, &[b"example.org"]), Some("name-constraints")),
            (tlv(0xa4, &[&elsewhere.to_der()]), Some("name-constraints")),
        ] {
            let middle = permitting(&world.middle, &world.root_key, &base);
            let verifier = verifier(&[&world.root]);
            match code_of_failure {
                None => judged(&verifier, &leaf, &[&middle]).unwrap(),
                Some(expected) => assert_eq!(code(&verifier, &leaf, &[&middle]), expected),
            }
            // The same of a root, below which the authority between has no name of an organisation.
            let root = permitting(&world.root, &world.root_key, &base);
            let of_root = judged(&self::verifier(&[&root]), &leaf, &[&world.middle]);
            assert_eq!(of_root.is_ok(), code_of_failure.is_none() && base[0] != 0xa4, "{of_root:?}");
        }
    }
}

/// What `gambeson_pki::Verifier` refuses, this verifier refuses, for the same reason.
#[test]
fn one_set_of_rules_judges_files_and_handshakes() {
    for algorithm in ALGORITHMS {
        let world = World::new(algorithm);
        let any = Template::new("CN=Any".parse().unwrap()).alt_name("example.com".parse().unwrap());
        let any = world.leaf(any.purpose(Purpose::Any));
        let below = authority("CN=Below").alt_name("example.com".parse().unwrap());
        let below = below.key_usage(&[KeyUsage::DigitalSignature, KeyUsage::KeyCertSign]);
        let below = world.leaf(below);
        let mut leaves = vec![world.leaf(server()), any, below];
        if algorithm == Algorithm::MlDsa65 {
            // A usage that the key cannot have; the check comes before that of the signature, which does not hold.
            let mut der = leaves[0].as_der().to_vec();
            let place = der.windows(4).position(|window| window == [3, 2, 7, 0x80]).unwrap();
            der[place..place + 4].copy_from_slice(&[3, 2, 5, 0x20]);
            leaves.push(Certificate::from_der(&der).unwrap());
        }
        for leaf in &leaves {
            let (roots, others) = ([world.root.clone()], [world.middle.clone()]);
            let files = gambeson_pki::Verifier::new(&roots).purpose(Purpose::ServerAuth);
            let files = files.verify(leaf, &others).map_err(|error| error.failure().code());
            let tls = judged(&verifier(&[&world.root]), leaf, &[&world.middle]);
            let tls = tls.map_err(|error| code_of(&error));
            assert_eq!(files.map(drop), tls, "{leaf:?}");
        }
    }
}
