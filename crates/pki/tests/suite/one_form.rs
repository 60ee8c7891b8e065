//! Keys that have one form in a file: composites and curves alone.

use std::io::Read;

use base64ct::{Base64, Encoding};
use der::asn1::{AnyRef, BitStringRef, ObjectIdentifier, OctetStringRef};
use der::{Decode, Encode};
use gambeson_hybrid::{composite, kem};
use gambeson_pki::{Algorithm, Encryption, Error, Form, PrivateKey, PublicKey};
use pkcs8::PrivateKeyInfoRef;
use serde_json::Value;
use spki::{AlgorithmIdentifierRef, SubjectPublicKeyInfoRef};

fn one_form() -> impl Iterator<Item = Algorithm> {
    Algorithm::ALL.iter().copied().filter(|algorithm| !algorithm.has_forms() && !algorithm.is_stateful())
}

/// PKCS#8 with other contents.
fn with_inner(der: &[u8], inner: &[u8]) -> Vec<u8> {
    let mut info = PrivateKeyInfoRef::from_der(der).unwrap();
    info.private_key = OctetStringRef::new(inner).unwrap();
    info.to_der().unwrap()
}

#[test]
fn every_key_goes_round() {
    let mut ran = 0;
    for algorithm in one_form() {
        let key = PrivateKey::generate(algorithm).unwrap();
        assert_eq!(key.algorithm(), algorithm);
        let der = key.to_pkcs8_der(Form::Seed).unwrap();
        for form in [Form::Expanded, Form::Both] {
            assert_eq!(key.to_pkcs8_der(form).unwrap(), der);
        }
        let again = PrivateKey::from_pkcs8_der(&der).unwrap();
        assert_eq!(again.algorithm(), algorithm);
        assert_eq!(again.to_pkcs8_der(Form::Seed).unwrap(), der);
        assert_eq!(again.public_key(), key.public_key());
        let pem = key.to_encrypted_pkcs8_pem(Form::Seed, b"pass", Encryption::Pbkdf2).unwrap();
        let again = PrivateKey::read(pem.as_bytes(), Some(b"pass")).unwrap();
        assert_eq!(again.public_key(), key.public_key());

        let public = key.public_key();
        assert_eq!(public.algorithm(), algorithm);
        assert_eq!(PublicKey::read(public.to_spki_pem().as_bytes()).unwrap(), public);
        assert_eq!(PublicKey::from_bytes(algorithm, public.as_bytes()).unwrap(), public);
        assert!(PublicKey::from_bytes(algorithm, &public.as_bytes()[1..]).is_err());
        ran += 1;
    }
    assert_eq!(ran, 28);
}

#[test]
fn what_signs_is_verified_and_what_does_not_says_so() {
    let (mut signed, mut refused) = (0, 0);
    for algorithm in Algorithm::ALL.iter().copied().filter(|algorithm| !algorithm.is_stateful()) {
        let key = PrivateKey::generate(algorithm).unwrap();
        let public = key.public_key();
        if algorithm.signs() {
            let mut signature = key.sign(b"quilted linen").unwrap();
            public.verify(b"quilted linen", &signature).unwrap();
            assert_eq!(public.verify(b"quilted wool", &signature), Err(Error::Signature));
            *signature.last_mut().unwrap() ^= 1;
            assert_eq!(public.verify(b"quilted linen", &signature), Err(Error::Signature));
            for short in [&signature[..0], &signature[1..], &signature[..signature.len() - 1]] {
                assert_eq!(public.verify(b"quilted linen", short), Err(Error::Signature));
            }
            signed += 1;
        } else {
            assert_eq!(key.sign(b"quilted linen").err(), Some(Error::NotASigningKey));
            assert_eq!(public.verify(b"quilted linen", &[0; 64]), Err(Error::NotASigningKey));
            refused += 1;
        }
    }
    assert_eq!((signed, refused), (26, 8));
}

#[test]
fn the_private_keys_of_composite_ml_kem_come_back_byte_for_byte() {
    let mut text = String::new();
    flate2::read::GzDecoder::new(&include_bytes!("../data/composite-kem.json.gz")[..])
        .read_to_string(&mut text)
        .unwrap();
    let file: Value = serde_json::from_str(&text).unwrap();
    let mut ran = 0;
    for test in file["tests"].as_array().unwrap() {
        let [ek, pkcs8] =
            ["ek", "dk_pkcs8"].map(|name| Base64::decode_vec(test[name].as_str().unwrap()).unwrap());
        let key = PrivateKey::from_pkcs8_der(&pkcs8).unwrap();
        assert_eq!(key.public_key().as_bytes(), ek);
        assert_eq!(*key.to_pkcs8_der(Form::Seed).unwrap(), pkcs8);
        ran += 1;
    }
    assert_eq!(ran, 7);
}

#[test]
fn a_composite_signature_key_is_its_bytes_behind_a_header() {
    let key = PrivateKey::generate(Algorithm::MlDsa87Ed448).unwrap();
    let PrivateKey::Composite(inside) = &key else { panic!("a composite") };
    let der = key.to_pkcs8_der(Form::Seed).unwrap();
    // The length that the draft's example has.
    assert_eq!(der.len(), 108);
    assert!(der.ends_with(inside.expose_bytes()));
    assert!(key.seed().is_none());
    for bad in [&inside.expose_bytes()[1..], &[]] {
        let error = PrivateKey::from_pkcs8_der(&with_inner(&der, bad)).err();
        let expected = composite::KeyError::Length { expected: 89, actual: bad.len() };
        assert_eq!(error, Some(Error::Composite(expected)));
    }
    let kem_key = PrivateKey::generate(Algorithm::MlKem1024X448).unwrap();
    let der = kem_key.to_pkcs8_der(Form::Seed).unwrap();
    let error = PrivateKey::from_pkcs8_der(&with_inner(&der, &[0; 3])).err();
    assert_eq!(error, Some(Error::CompositeKem(kem::Error::Length { expected: 120, actual: 3 })));
}

/// RFC 8410, §10.1 and §10.3: a key, and the same with its public half and an attribute.
#[test]
fn the_examples_of_rfc_8410() {
    let public = "-----BEGIN PUBLIC KEY-----
MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=
-----END PUBLIC KEY-----
";
    let plain = "-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC
-----END PRIVATE KEY-----
";
    let with_public = "-----BEGIN PRIVATE KEY-----
MHICAQEwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC
oB8wHQYKKoZIhvcNAQkJFDEPDA1DdXJkbGUgQ2hhaXJzgSEAGb9ECWmEzf6FQbrB
Z9w7lshQhqowtrbLDFw4rXAxZuE=
-----END PRIVATE KEY-----
";
    let public = PublicKey::from_spki_pem(public).unwrap();
    let key = PrivateKey::from_pkcs8_pem(plain).unwrap();
    assert_eq!(key.public_key(), public);
    assert_eq!(*key.to_pkcs8_pem(Form::Seed).unwrap(), plain);
    assert_eq!(PrivateKey::from_seed(Algorithm::Ed25519, key.seed().unwrap()).unwrap().public_key(), public);
    assert_eq!(PrivateKey::from_pkcs8_pem(with_public).unwrap().public_key(), public);
}

#[test]
fn ecdsa_keys_name_their_curve_and_carry_their_point() {
    for (algorithm, curve, other) in [
        (Algorithm::EcdsaP256, "1.2.840.10045.3.1.7", Algorithm::EcdsaP384),
        (Algorithm::EcdsaP384, "1.3.132.0.34", Algorithm::EcdsaP256),
    ] {
        let key = PrivateKey::generate(algorithm).unwrap();
        let der = key.to_pkcs8_der(Form::Seed).unwrap();
        let info = PrivateKeyInfoRef::from_der(&der).unwrap();
        let curve = ObjectIdentifier::new_unwrap(curve);
        assert_eq!(info.algorithm.parameters_oid(), Ok(curve));
        let inner = info.private_key.as_bytes();
        assert!(inner.ends_with(key.public_key().as_bytes()));

        // The wrong point, the wrong curve, a scalar of zeros.
        let mut bad = inner.to_vec();
        *bad.last_mut().unwrap() ^= 1;
        assert_eq!(PrivateKey::from_pkcs8_der(&with_inner(&der, &bad)).err(), Some(Error::CurveKey));
        let theirs = PrivateKey::generate(other).unwrap().to_pkcs8_der(Form::Seed).unwrap();
        let theirs = PrivateKeyInfoRef::from_der(&theirs).unwrap().private_key.as_bytes().to_vec();
        assert_eq!(PrivateKey::from_pkcs8_der(&with_inner(&der, &theirs)).err(), Some(Error::CurveKey));
        let mut zero = inner.to_vec();
        let scalar = if algorithm == Algorithm::EcdsaP256 { 7..39 } else { 8..56 };
        zero[scalar].fill(0);
        assert_eq!(PrivateKey::from_pkcs8_der(&with_inner(&der, &zero)).err(), Some(Error::CurveKey));

        // No curve, another curve, something that is no curve.
        for (parameters, error) in [
            (None, Error::Parameters),
            (Some(AnyRef::NULL), Error::Parameters),
            (
                Some(AnyRef::from(&ObjectIdentifier::new_unwrap("1.3.132.0.35"))),
                Error::Algorithm { oid: "1.3.132.0.35".into() },
            ),
        ] {
            let public = key.public_key();
            let info = SubjectPublicKeyInfoRef {
                algorithm: AlgorithmIdentifierRef {
                    oid: ObjectIdentifier::new_unwrap(algorithm.oid()),
                    parameters,
                },
                subject_public_key: BitStringRef::from_bytes(public.as_bytes()).unwrap(),
            };
            assert_eq!(PublicKey::from_spki_der(&info.to_der().unwrap()), Err(error));
        }
    }
}

#[test]
fn points_off_the_curve_are_refused() {
    let mut ran = 0;
    for algorithm in [Algorithm::Ed25519, Algorithm::Ed448, Algorithm::EcdsaP256, Algorithm::EcdsaP384] {
        let mut bytes = PrivateKey::generate(algorithm).unwrap().public_key().as_bytes().to_vec();
        let half = bytes.len() / 2;
        let refused = (0..=255u8).any(|value| {
            bytes[half] = value;
            PublicKey::from_bytes(algorithm, &bytes) == Err(Error::CurveKey)
        });
        assert!(refused, "{algorithm}");
        ran += 1;
    }
    // Compressed points are named.
    let key = PrivateKey::generate(Algorithm::EcdsaP256).unwrap().public_key();
    let compressed = [&[2 | (key.as_bytes()[64] & 1)], &key.as_bytes()[1..33]].concat();
    assert_eq!(PublicKey::from_bytes(Algorithm::EcdsaP256, &compressed), Err(Error::CompressedPoint));
    assert_eq!(ran, 4);
}

#[test]
fn seeds_and_expanded_keys_belong_to_others() {
    for algorithm in one_form() {
        let expanded = PrivateKey::from_expanded_bytes(algorithm, &[0; 32]).err();
        assert_eq!(expanded, Some(Error::OneForm), "{algorithm}");
        let seed = PrivateKey::from_seed(algorithm, &[0; 31]).err();
        match algorithm {
            Algorithm::Ed25519 => assert_eq!(seed, Some(Error::SeedLength { expected: 32, actual: 31 })),
            Algorithm::Ed448 => assert_eq!(seed, Some(Error::SeedLength { expected: 57, actual: 31 })),
            _ => assert_eq!(seed, Some(Error::OneForm), "{algorithm}"),
        }
    }
}

#[test]
fn names_and_identifiers_are_unique_and_come_back() {
    for (at, algorithm) in Algorithm::ALL.iter().copied().enumerate() {
        assert_eq!(algorithm.name().to_lowercase().parse(), Ok(algorithm));
        for other in &Algorithm::ALL[..at] {
            assert_ne!(other.name(), algorithm.name());
            let curves = other.oid() == "1.2.840.10045.2.1" && algorithm.oid() == other.oid();
            assert!(curves || other.oid() != algorithm.oid());
        }
    }
    // Our table says what the tables of the hybrids say.
    for composite in composite::ALGORITHMS {
        let ours: Algorithm = composite.name().parse().unwrap();
        assert_eq!(ObjectIdentifier::new_unwrap(ours.oid()).to_der().unwrap(), composite.oid());
    }
    for kem in kem::KEMS {
        let Some(oid) = kem.oid() else { continue };
        let ours: Algorithm = kem.name().parse().unwrap();
        assert_eq!(ObjectIdentifier::new_unwrap(ours.oid()).to_der().unwrap(), oid);
    }
}

#[test]
fn nothing_that_is_cut_or_changed_makes_a_panic() {
    // The s sets of SLH-DSA read their keys as the f sets do, and make a larger tree for each.
    for algorithm in one_form().filter(|it| !(it.name().starts_with("SLH-DSA") && it.name().ends_with('s'))) {
        let key = PrivateKey::generate(algorithm).unwrap();
        let der = key.to_pkcs8_der(Form::Seed).unwrap();
        for len in 0..der.len() {
            assert!(PrivateKey::from_pkcs8_der(&der[..len]).is_err(), "cut at {len}");
        }
        for at in 0..der.len().min(60) {
            for value in [0, 1, 0x7f, 0x80, 0xff] {
                let mut bad = der.to_vec();
                bad[at] = value;
                let _ = PrivateKey::from_pkcs8_der(&bad);
            }
        }
    }
}
