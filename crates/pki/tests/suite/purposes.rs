//! Purposes, and the key usages that fit them (RFC 5280, section 4.2.1.12; RFC 3161, section 2.3; RFC 6960, section 4.2.2.2).

use der::asn1::OctetString;
use der::{Decode, Encode};
use gambeson_pki::{
    Algorithm, Certificate, Error, Failure, KeyUsage, PrivateKey, PublicKey, Purpose, Request, Template,
    Verifier,
};

struct World {
    root_key: PrivateKey,
    roots: [Certificate; 1],
    key: PublicKey,
}

fn world() -> World {
    let root_key = PrivateKey::generate(Algorithm::Ed25519).unwrap();
    let root = Template::authority("CN=Root".parse().unwrap()).self_signed(&root_key).unwrap();
    let key = PrivateKey::generate(Algorithm::Ed25519).unwrap().public_key();
    World { root_key, roots: [root], key }
}

impl World {
    fn leaf(&self, template: &Template) -> Certificate {
        template.issue(&self.key, &self.roots[0], &self.root_key).unwrap()
    }

    fn holds(&self, purpose: &Purpose, leaf: &Certificate) -> bool {
        let verified = Verifier::new(&self.roots).purpose(purpose.clone()).verify(leaf, &[]);
        match verified {
            Ok(_) => true,
            Err(error) => {
                assert_eq!(*error.failure(), Failure::Purpose { expected: purpose.clone() });
                false
            }
        }
    }
}

fn template() -> Template {
    Template::new("CN=Leaf".parse().unwrap())
}

#[test]
fn key_usages_must_fit_the_purpose() {
    use KeyUsage::{CrlSign, DigitalSignature, KeyCertSign, NonRepudiation};
    let world = world();
    for (purpose, usages, holds) in [
        (Purpose::CodeSigning, &[DigitalSignature][..], true),
        (Purpose::CodeSigning, &[DigitalSignature, NonRepudiation], true),
        (Purpose::CodeSigning, &[NonRepudiation], false),
        (Purpose::CodeSigning, &[CrlSign], false),
        (Purpose::EmailProtection, &[DigitalSignature], true),
        (Purpose::EmailProtection, &[NonRepudiation], true),
        (Purpose::EmailProtection, &[KeyCertSign], false),
        (Purpose::TimeStamping, &[DigitalSignature], true),
        (Purpose::TimeStamping, &[NonRepudiation], true),
        (Purpose::TimeStamping, &[DigitalSignature, NonRepudiation], true),
        (Purpose::TimeStamping, &[CrlSign], false),
        (Purpose::TimeStamping, &[DigitalSignature, CrlSign], false),
        (Purpose::OcspSigning, &[DigitalSignature], true),
        (Purpose::OcspSigning, &[NonRepudiation], true),
        (Purpose::OcspSigning, &[KeyCertSign, CrlSign], false),
        (Purpose::Other("1.2.3.4".into()), &[CrlSign], true),
    ] {
        let leaf = world.leaf(&template().purpose(purpose.clone()).key_usage(usages));
        assert_eq!(world.holds(&purpose, &leaf), holds, "{purpose} {usages:?}");
    }
    // Keys that receive secrets are for mail alone.
    let kem = PrivateKey::generate(Algorithm::MlKem512).unwrap().public_key();
    for (purpose, holds) in
        [(Purpose::EmailProtection, true), (Purpose::CodeSigning, false), (Purpose::OcspSigning, false)]
    {
        let leaf = template().purpose(purpose.clone());
        let leaf = leaf.issue(&kem, &world.roots[0], &world.root_key).unwrap();
        assert_eq!(world.holds(&purpose, &leaf), holds, "{purpose}");
    }
}

/// The certificate with other bytes for its purposes; the check comes before that of the signature, which does not hold.
fn with_purposes(leaf: &Certificate, critical: bool, purposes: Option<&[u8]>) -> Certificate {
    let parts = x509_cert::Certificate::from_der(leaf.as_der()).unwrap();
    let mut extensions = parts.tbs_certificate().extensions().unwrap().clone();
    let oid: der::asn1::ObjectIdentifier = "2.5.29.37".parse().unwrap();
    let place = extensions.iter().position(|extension| extension.extn_id == oid).unwrap();
    match purposes {
        Some(purposes) => {
            extensions[place].extn_value = OctetString::new(purposes).unwrap();
            extensions[place].critical = critical;
        }
        None => drop(extensions.remove(place)),
    }
    let (tbs, rest) = outer(leaf.as_der());
    let new = replaced(tbs, &extensions.to_der().unwrap());
    Certificate::from_der(&tlv(0x30, &[&new, rest])).unwrap()
}

/// Tag, length, value.
fn tlv(tag: u8, values: &[&[u8]]) -> Vec<u8> {
    let value = values.concat();
    let length = value.len() as u16;
    [&[tag, 0x82, (length >> 8) as u8, length as u8][..], &value].concat().shortened()
}

trait Shortened {
    fn shortened(self) -> Vec<u8>;
}

impl Shortened for Vec<u8> {
    /// The shortest form of a length of two bytes.
    fn shortened(self) -> Vec<u8> {
        match (self[2], self[3]) {
            (0, length @ 0..=0x7f) => [&[self[0], length][..], &self[4..]].concat(),
            (0, length) => [&[self[0], 0x81, length][..], &self[4..]].concat(),
            _ => self,
        }
    }
}

/// The length of the header and of the value.
fn lengths(der: &[u8]) -> (usize, usize) {
    match der[1] {
        short @ 0..=0x7f => (2, short.into()),
        0x81 => (3, der[2].into()),
        _ => (4, usize::from(u16::from_be_bytes([der[2], der[3]]))),
    }
}

/// The signed part, and the part after it.
fn outer(der: &[u8]) -> (&[u8], &[u8]) {
    let inside = &der[lengths(der).0..];
    let (header, value) = lengths(inside);
    inside.split_at(header + value)
}

/// The signed part with other extensions, which are its last field.
fn replaced(tbs: &[u8], extensions: &[u8]) -> Vec<u8> {
    let inside = &tbs[lengths(tbs).0..];
    let mut at = 0;
    while inside[at] != 0xa3 {
        let (header, value) = lengths(&inside[at..]);
        at += header + value;
    }
    tlv(0x30, &[&inside[..at], &tlv(0xa3, &[extensions])])
}

#[test]
fn time_stamps_want_their_purpose_alone_and_critical() {
    const TIME_STAMPING: [u8; 10] = [6, 8, 0x2b, 6, 1, 5, 5, 7, 3, 8];
    const CODE_SIGNING: [u8; 10] = [6, 8, 0x2b, 6, 1, 5, 5, 7, 3, 3];
    const ANY: [u8; 6] = [6, 4, 0x55, 0x1d, 0x25, 0];
    let world = world();
    let leaf = world.leaf(&template().purpose(Purpose::TimeStamping));
    assert!(world.holds(&Purpose::TimeStamping, &leaf), "what is signed here is critical");
    let list = |purposes: &[&[u8]]| tlv(0x30, purposes);
    for (purposes, critical) in [
        (Some(list(&[&TIME_STAMPING])), false),
        (Some(list(&[&TIME_STAMPING, &CODE_SIGNING])), true),
        (Some(list(&[&CODE_SIGNING, &TIME_STAMPING])), false),
        (Some(list(&[&TIME_STAMPING, &TIME_STAMPING])), true),
        (Some(list(&[&TIME_STAMPING, &ANY])), true),
        (Some(list(&[&ANY])), true),
        (None, false),
    ] {
        let other = with_purposes(&leaf, critical, purposes.as_deref());
        assert!(!world.holds(&Purpose::TimeStamping, &other), "{purposes:?}");
    }
    let words = Failure::Purpose { expected: Purpose::TimeStamping }.to_string();
    assert!(words.contains("RFC 3161"), "{words}");
}

#[test]
fn answers_about_revocation_want_their_purpose_named() {
    let world = world();
    for (purposes, holds) in [
        (&[Purpose::OcspSigning][..], true),
        (&[Purpose::OcspSigning, Purpose::CodeSigning], true),
        (&[Purpose::Any], false),
        (&[], false),
    ] {
        let leaf = world.leaf(&purposes.iter().cloned().fold(template(), Template::purpose));
        assert_eq!(world.holds(&Purpose::OcspSigning, &leaf), holds, "{purposes:?}");
    }
}

#[test]
fn what_the_verifier_refuses_is_not_signed() {
    let world = world();
    let key = PrivateKey::generate(Algorithm::Ed25519).unwrap();
    for other in [Purpose::ServerAuth, Purpose::Any, Purpose::Other("1.2.3".into())] {
        let both = template().purpose(Purpose::TimeStamping).purpose(other);
        assert_eq!(both.issue(&world.key, &world.roots[0], &world.root_key).unwrap_err(), Error::Purposes);
        assert_eq!(both.self_signed(&key).unwrap_err(), Error::Purposes);
        assert_eq!(Request::new(&both, &key).unwrap_err(), Error::Purposes);
    }
    // Named twice is named once; an authority may have both among its limits.
    let twice = template().purpose(Purpose::TimeStamping).purpose(Purpose::TimeStamping);
    assert!(world.holds(&Purpose::TimeStamping, &world.leaf(&twice)));
    let authority = Template::authority("CN=Middle".parse().unwrap());
    let authority = authority.purpose(Purpose::TimeStamping).purpose(Purpose::CodeSigning);
    let middle_key = PrivateKey::generate(Algorithm::Ed25519).unwrap();
    let middle = authority.issue(&middle_key.public_key(), &world.roots[0], &world.root_key).unwrap();
    for purpose in [Purpose::TimeStamping, Purpose::CodeSigning] {
        let leaf = template().purpose(purpose.clone()).issue(&world.key, &middle, &middle_key).unwrap();
        let verifier = Verifier::new(&world.roots).purpose(purpose);
        assert_eq!(verifier.verify(&leaf, std::slice::from_ref(&middle)).unwrap().len(), 3);
    }
}

#[test]
fn path_lengths_are_read_of_requests_and_long_ones_are_named() {
    let key = PrivateKey::generate(Algorithm::Ed25519).unwrap();
    let asks = Template::authority("CN=Below".parse().unwrap()).path_length(3);
    assert_eq!(Request::new(&asks, &key).unwrap().path_length(), Some(3));
    assert_eq!(Request::new(&template(), &key).unwrap().path_length(), None);
    let authority = asks.self_signed(&key).unwrap();
    let der = authority.as_der();
    // 300, 256, and longer numbers.
    for number in [&[1, 44][..], &[1, 0], &[0x7f; 9]] {
        let value = tlv(0x30, &[&[1, 1, 0xff], &tlv(2, &[number])]);
        let mut extensions =
            x509_cert::Certificate::from_der(der).unwrap().tbs_certificate().extensions().unwrap().clone();
        let oid: der::asn1::ObjectIdentifier = "2.5.29.19".parse().unwrap();
        let place = extensions.iter().position(|extension| extension.extn_id == oid).unwrap();
        extensions[place].extn_value = OctetString::new(value).unwrap();
        let (tbs, rest) = outer(der);
        let long = tlv(0x30, &[&replaced(tbs, &extensions.to_der().unwrap()), rest]);
        let error = Certificate::from_der(&long).unwrap_err();
        assert_eq!(error, Error::LongPath, "{number:?}");
        assert!(error.to_string().contains("path length"), "{error}");
    }
}
