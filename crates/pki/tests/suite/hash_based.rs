//! Keys and certificates of SLH-DSA (RFC 9909), and of HSS, XMSS and XMSS^MT (RFC 9802).

use std::time::Duration;

use der::asn1::{BitStringRef, Null, ObjectIdentifier, OctetStringRef};
use der::{Decode, Encode};
use gambeson::{lms, xmss};
use gambeson_pki::{
    Algorithm, Certificate, Error, Failure, Form, KeyUsage, PrivateKey, PublicKey, Template, Verifier,
};
use pkcs8::PrivateKeyInfoRef;
use spki::{AlgorithmIdentifierRef, SubjectPublicKeyInfoRef};

/// The example key of RFC 9909, Appendix C.
const EXAMPLE_PRIVATE: &str = "-----BEGIN PRIVATE KEY-----
MFICAQAwCwYJYIZIAWUDBAMUBECiJjvKRYYINlIxYASVI9YhZ3+tkNUetgZ6Mn4N
HmSlASuBCex3fKpOHwJMz8+Ul9mRgFCSgPQlavKwevgCibSU
-----END PRIVATE KEY-----
";
const EXAMPLE_PUBLIC: &str = "-----BEGIN PUBLIC KEY-----
MDAwCwYJYIZIAWUDBAMUAyEAK4EJ7Hd8qk4fAkzPz5SX2ZGAUJKA9CVq8rB6+AKJ
tJQ=
-----END PUBLIC KEY-----
";

fn slh_dsa() -> impl Iterator<Item = Algorithm> {
    Algorithm::ALL.iter().copied().filter(|algorithm| algorithm.name().starts_with("SLH-DSA-"))
}

const STATEFUL: [Algorithm; 3] = [Algorithm::Hss, Algorithm::Xmss, Algorithm::XmssMt];

/// The example certificate of RFC 9802.
fn example(algorithm: Algorithm) -> Certificate {
    let file: &[u8] = match algorithm {
        Algorithm::Hss => include_bytes!("../data/HSS.pem"),
        Algorithm::Xmss => include_bytes!("../data/XMSS.pem"),
        _ => include_bytes!("../data/XMSSMT.pem"),
    };
    Certificate::read(file).unwrap()
}

#[test]
fn the_example_keys_of_rfc_9909_come_back_byte_for_byte() {
    let key = PrivateKey::from_pkcs8_pem(EXAMPLE_PRIVATE).unwrap();
    assert_eq!(key.algorithm(), Algorithm::SlhDsaSha2_128s);
    assert_eq!(*key.to_pkcs8_pem(Form::Seed).unwrap(), EXAMPLE_PRIVATE);
    assert_eq!(key.public_key().to_spki_pem(), EXAMPLE_PUBLIC);
    assert_eq!(PublicKey::read(EXAMPLE_PUBLIC.as_bytes()), Ok(key.public_key()));
}

#[test]
fn a_key_of_bouncy_castle_signs() {
    let private = include_str!("../data/SLH-DSA-SHAKE-256f.priv");
    let public = PublicKey::read(include_bytes!("../data/SLH-DSA-SHAKE-256f.pub")).unwrap();
    let key = PrivateKey::read(private.as_bytes(), None).unwrap();
    assert_eq!((key.algorithm(), key.public_key() == public), (Algorithm::SlhDsaShake256f, true));
    assert_eq!(*key.to_pkcs8_pem(Form::Seed).unwrap(), private);
    let signature = key.sign(b"quilted linen").unwrap();
    assert_eq!(signature.len(), 49_856);
    public.verify(b"quilted linen", &signature).unwrap();
}

#[test]
fn private_keys_of_slh_dsa_are_bare_bytes() {
    let mut ran = 0;
    for (algorithm, last) in slh_dsa().zip(20..) {
        assert_eq!(algorithm.oid(), format!("2.16.840.1.101.3.4.3.{last}"));
        let key = PrivateKey::generate(algorithm).unwrap();
        let der = key.to_pkcs8_der(Form::Seed).unwrap();
        let info = PrivateKeyInfoRef::from_der(&der).unwrap();
        let (inner, public) = (info.private_key.as_bytes(), key.public_key());
        assert_eq!(inner.len(), 2 * public.as_bytes().len());
        assert!(inner.ends_with(public.as_bytes()) && *key.to_expanded_bytes() == inner);
        assert_eq!(key.seed(), None);

        let with = |inner: &[u8], public: Option<&[u8]>| {
            let mut info = PrivateKeyInfoRef::new(info.algorithm, OctetStringRef::new(inner).unwrap());
            info.public_key = public.map(|public| BitStringRef::from_bytes(public).unwrap());
            PrivateKey::from_pkcs8_der(&info.to_der().unwrap()).err()
        };
        assert_eq!(with(inner, Some(public.as_bytes())), None);
        assert_eq!(with(inner, Some(&inner[..public.as_bytes().len()])), Some(Error::PublicKeyMismatch));
        let wrapped = OctetStringRef::new(inner).unwrap().to_der().unwrap();
        for other in [&wrapped[..], &inner[1..], &[inner, &[0]].concat(), &[]] {
            let error = Error::PrivateKeyLength { expected: inner.len(), actual: other.len() };
            assert_eq!(with(other, None), Some(error));
        }
        // A changed seed, a changed root.
        for at in [0, inner.len() - 1] {
            let mut changed = inner.to_vec();
            changed[at] ^= 1;
            assert_eq!(with(&changed, None), Some(Error::PublicKeyMismatch), "{algorithm} {at}");
        }
        ran += 1;
    }
    assert_eq!(ran, 12);
}

#[test]
fn public_keys_have_their_length_and_no_parameters() {
    let mut ran = 0;
    for algorithm in slh_dsa().chain(STATEFUL) {
        let bytes = match algorithm {
            stateful if stateful.is_stateful() => example(stateful).public_key().unwrap().as_bytes().to_vec(),
            _ => vec![
                7;
                if algorithm.name().contains("128") {
                    32
                } else if algorithm.name().contains("192") {
                    48
                } else {
                    64
                }
            ],
        };
        let key = PublicKey::from_bytes(algorithm, &bytes).unwrap();
        assert_eq!((key.algorithm(), key.as_bytes()), (algorithm, &bytes[..]));
        assert!(format!("{key:?}").contains(algorithm.name()));
        for other in [&bytes[1..], &[&bytes[..], &[0]].concat()] {
            let error = PublicKey::from_bytes(algorithm, other).unwrap_err();
            let is_named =
                matches!(error, Error::VerifyingKeyLength { .. } | Error::HssKey(_) | Error::XmssKey(_));
            assert!(is_named, "{error}");
        }
        let info = |parameters| SubjectPublicKeyInfoRef {
            algorithm: AlgorithmIdentifierRef {
                oid: ObjectIdentifier::new_unwrap(algorithm.oid()),
                parameters,
            },
            subject_public_key: BitStringRef::from_bytes(&bytes).unwrap(),
        };
        assert_eq!(PublicKey::from_spki_der(&info(None).to_der().unwrap()), Ok(key));
        let null = info(Some(Null.into())).to_der().unwrap();
        assert_eq!(PublicKey::from_spki_der(&null), Err(Error::Parameters));
        ran += 1;
    }
    assert_eq!(ran, 15);
}

#[test]
fn a_chain_of_bouncy_castle_signed_with_slh_dsa_holds() {
    let file = include_bytes!("../data/SLH-DSA-SHA2-128s.pem");
    let [middle, root] = <[Certificate; 2]>::try_from(Certificate::read_all(file).unwrap()).unwrap();
    let now = middle.not_before();
    let roots = [root];
    assert_eq!(Verifier::new(&roots).at(now).verify(&middle, &[]).unwrap().len(), 2);
    let mut forged = middle.as_der().to_vec();
    *forged.last_mut().unwrap() ^= 1;
    let forged = Certificate::from_der(&forged).unwrap();
    let error = Verifier::new(&roots).at(now).verify(&forged, &[]).unwrap_err();
    assert_eq!(error.failure(), &Failure::Signature);
}

#[test]
fn the_certificates_of_rfc_9802_hold_and_changed_ones_do_not() {
    for (algorithm, oid, len) in [
        (Algorithm::Hss, "1.2.840.113549.1.9.16.3.17", 60),
        (Algorithm::Xmss, "1.3.6.1.5.5.7.6.34", 68),
        (Algorithm::XmssMt, "1.3.6.1.5.5.7.6.35", 68),
    ] {
        let certificate = example(algorithm);
        assert_eq!(certificate.signature_algorithm(), oid);
        let key = certificate.public_key().unwrap();
        assert_eq!((key.algorithm(), key.as_bytes().len()), (algorithm, len));
        assert_eq!(PublicKey::read(key.to_spki_pem().as_bytes()).as_ref(), Ok(&key));
        assert_eq!(certificate.verify_signature(&key), Ok(()), "{algorithm}");
        for from_end in [1, 700, 1200] {
            let mut forged = certificate.as_der().to_vec();
            let at = forged.len() - from_end;
            forged[at] ^= 1;
            assert_eq!(Certificate::from_der(&forged).unwrap().verify_signature(&key), Err(Error::Signature));
        }
        let other = PublicKey::read(EXAMPLE_PUBLIC.as_bytes()).unwrap();
        let oid = certificate.signature_algorithm();
        assert_eq!(certificate.verify_signature(&other), Err(Error::SignatureAlgorithm { oid }));
        let now = certificate.not_before() + Duration::from_secs(1);
        let roots = [certificate.clone()];
        assert!(Verifier::new(&roots).at(now).verify(&certificate, &[]).is_ok());
    }
}

#[test]
fn a_certificate_names_a_stateful_key_for_firmware() {
    let root_key = PrivateKey::generate(Algorithm::SlhDsaSha2_128f).unwrap();
    let root = Template::authority("CN=Root".parse().unwrap()).self_signed(&root_key).unwrap();
    for algorithm in STATEFUL {
        let key = example(algorithm).public_key().unwrap();
        let leaf = Template::new("CN=Firmware".parse().unwrap()).issue(&key, &root, &root_key).unwrap();
        assert_eq!(leaf.public_key().unwrap(), key);
        assert_eq!(leaf.key_usage(), Some(&[KeyUsage::DigitalSignature][..]));
        assert!(Verifier::new(std::slice::from_ref(&root)).verify(&leaf, &[]).is_ok());
        let agrees = Template::new("CN=Firmware".parse().unwrap()).key_usage(&[KeyUsage::KeyAgreement]);
        assert_eq!(agrees.issue(&key, &root, &root_key).err(), Some(Error::KeyUsage));
    }
}

#[test]
fn keys_with_a_state_are_neither_made_nor_read_nor_used_to_sign() {
    for algorithm in STATEFUL {
        let error = Error::Stateful { algorithm };
        assert_eq!(PrivateKey::generate(algorithm).err(), Some(error.clone()));
        let oid = ObjectIdentifier::new_unwrap(algorithm.oid());
        let identifier = AlgorithmIdentifierRef { oid, parameters: None };
        let der =
            PrivateKeyInfoRef::new(identifier, OctetStringRef::new(&[1; 48]).unwrap()).to_der().unwrap();
        assert_eq!(PrivateKey::from_pkcs8_der(&der).err(), Some(error.clone()));
        let told = error.to_string();
        assert!(told.contains(algorithm.name()) && told.contains("key store"), "{error}");
        assert!(algorithm.signs() && algorithm.is_stateful() && !algorithm.has_forms());
    }
    let oid = PublicKey::from_bytes(Algorithm::Xmss, &[0xff; 68]).unwrap_err();
    assert_eq!(oid, Error::XmssKey(xmss::VerifyingKeyError::Oid(u32::MAX)));
    let levels = PublicKey::from_bytes(Algorithm::Hss, &[0; 60]).unwrap_err();
    assert_eq!(levels, Error::HssKey(lms::VerifyingKeyError::Levels(0)));
}
