//! Composite signatures: the draft's vectors, and every way to be wrong.

use std::collections::BTreeSet;
use std::io::Read;

use crate::generators::{Broken, counter};
use base16ct::lower;
use gambeson::mldsa::{Message, MlDsa44, MlDsa65, MlDsa87, PreHash};
use gambeson_hybrid::composite::{
    ALGORITHMS, Algorithm, Classical, InvalidSignature, KeyError, MLDSA44_ECDSA_P256_SHA256,
    MLDSA87_ED448_SHAKE256, MlDsa, SignError, SigningKey, VerifyingKey,
};
use gambeson_hybrid::ed448;
use serde_json::Value;

fn key(algorithm: &'static Algorithm) -> SigningKey {
    SigningKey::generate_with(algorithm, &mut counter(1)).unwrap()
}

/// Where the second half begins, in keys and in signatures.
fn split(algorithm: &Algorithm) -> (usize, usize) {
    match algorithm.ml_dsa() {
        MlDsa::MlDsa44 => (1312, 2420),
        MlDsa::MlDsa65 => (1952, 3309),
        MlDsa::MlDsa87 => (2592, 4627),
    }
}

#[test]
fn the_vectors_of_the_draft() {
    let mut text = String::new();
    flate2::read::GzDecoder::new(&include_bytes!("../data/composite-sigs.jsonl.gz")[..])
        .read_to_string(&mut text)
        .unwrap();
    let (mut public_keys, mut verified, mut names) = (0, 0, BTreeSet::new());
    for line in text.lines() {
        let test: Value = serde_json::from_str(line).unwrap();
        let bytes = |name: &str| lower::decode_vec(test[name].as_str().unwrap_or_default()).unwrap();
        let algorithm = Algorithm::by_name(test["alg"].as_str().unwrap()).unwrap();
        match test["op"].as_str().unwrap() {
            "pubkey" => {
                let key = SigningKey::from_bytes(algorithm, &bytes("sk")).unwrap();
                let pk = lower::decode_vec(test["expect"]["pk"].as_str().unwrap()).unwrap();
                assert_eq!(key.verifying_key().as_bytes(), pk, "{algorithm}");
                assert_eq!(key.expose_bytes(), bytes("sk"));
                public_keys += 1;
            }
            "verify" => {
                assert_eq!(test["expect"]["testPassed"], true);
                let key = VerifyingKey::from_bytes(algorithm, &bytes("pk")).unwrap();
                let (message, context, signature) = (bytes("message"), bytes("context"), bytes("signature"));
                assert_eq!(key.verify(&message, &context, &signature), Ok(()), "{algorithm}");
                assert_eq!(key.verify(&message, b"foreign", &signature), Err(InvalidSignature));
                verified += 1;
            }
            other => panic!("{other}"),
        }
        names.insert(algorithm.name());
    }
    assert_eq!((public_keys, verified, names.len()), (5, 9, ALGORITHMS.len()));
}

#[test]
fn every_algorithm_verifies_what_it_signs_through_every_door() {
    for algorithm in ALGORITHMS {
        let key = SigningKey::generate(algorithm).unwrap();
        let public = VerifyingKey::from_bytes(algorithm, key.verifying_key().as_bytes()).unwrap();
        assert_eq!(public, key.verifying_key());
        let again = SigningKey::from_bytes(algorithm, key.expose_bytes()).unwrap();
        let context = [3; 255];
        for signature in [
            key.sign(b"message", &context).unwrap(),
            again.sign_with(&mut counter(9), b"message", &context).unwrap(),
            again.sign_deterministic(b"message", &context).unwrap(),
            key.sign_digest(&algorithm.pre_hash().digest(b"message"), &context, Some(&[7; 32])).unwrap(),
        ] {
            assert_eq!(public.verify(b"message", &context, signature.as_bytes()), Ok(()), "{algorithm}");
            let digest = algorithm.pre_hash().digest(b"message");
            assert_eq!(public.verify_digest(&digest, &context, signature.as_bytes()), Ok(()));
            assert!(signature.as_bytes().len() <= algorithm.max_signature_len());
            if matches!(algorithm.classical(), Classical::Ed25519 | Classical::Ed448) {
                assert_eq!(signature.as_bytes().len(), algorithm.max_signature_len());
            }
        }
        let [one, two] = [&key, &again].map(|key| key.sign_deterministic(b"message", b"").unwrap());
        assert_eq!(one.as_bytes(), two.as_bytes());
        assert_ne!(key.sign(b"message", b"").unwrap().as_bytes(), one.as_bytes(), "signing is hedged");
    }
}

#[test]
fn a_signature_is_valid_only_if_both_halves_are() {
    let mut ran = 0;
    for algorithm in ALGORITHMS {
        let ours = key(algorithm);
        let public = ours.verifying_key();
        let good = ours.sign_deterministic(b"message", b"context").unwrap();
        let other = ours.sign_deterministic(b"massage", b"context").unwrap();
        let (_, at) = split(algorithm);
        let (m, x) = good.as_bytes().split_at(at);
        let (m2, x2) = other.as_bytes().split_at(at);
        let mut wrong: Vec<Vec<u8>> = vec![
            // Either half of another message.
            [m2, x].concat(),
            [m, x2].concat(),
            // Swapped, doubled, alone, empty.
            [x, m].concat(),
            [m, m].concat(),
            m.to_vec(),
            x.to_vec(),
            Vec::new(),
            // Truncated, and with something behind.
            good.as_bytes()[..good.as_bytes().len() - 1].to_vec(),
            good.as_bytes()[1..].to_vec(),
            [good.as_bytes(), &[0]].concat(),
            [m, &vec![0; x.len()]].concat(),
            [&vec![0; m.len()], x].concat(),
        ];
        // One bit of either half.
        for byte in [0, at / 2, at - 1, at, at + x.len() / 2, at + x.len() - 1] {
            let mut changed = good.as_bytes().to_vec();
            changed[byte] ^= 1;
            wrong.push(changed);
        }
        for bad in wrong {
            assert_eq!(public.verify(b"message", b"context", &bad), Err(InvalidSignature), "{algorithm}");
            ran += 1;
        }
        for (message, context) in
            [(&b"message"[..], &b""[..]), (b"massage", b"context"), (b"message", b"contexts")]
        {
            assert_eq!(
                public.verify(message, context, good.as_bytes()),
                Err(InvalidSignature),
                "{algorithm}"
            );
        }
        assert_eq!(public.verify(b"message", b"context", good.as_bytes()), Ok(()));
    }
    assert_eq!(ran, 7 * 18);
}

/// The halves made apart, under a label that is or is not the algorithm's.
#[test]
fn the_label_binds_both_halves() {
    for (label, right) in [
        (&b"COMPSIG-MLDSA87-Ed448-SHAKE256"[..], true),
        (b"COMPSIG-MLDSA87-Ed448-SHAKE257", false),
        (b"id-MLDSA87-Ed448-SHAKE256", false),
        (b"", false),
    ] {
        let ours = key(&MLDSA87_ED448_SHAKE256);
        let (seed, other) = ours.expose_bytes().split_first_chunk::<32>().unwrap();
        let digest = PreHash::Shake256.digest(b"message");
        let m_prime = |label: &[u8]| {
            [b"CompositeAlgorithmSignatures2025", label, &[2], b"ab", digest.as_bytes()].concat()
        };
        let ml_dsa = gambeson::mldsa::SigningKey::<MlDsa87>::from_seed(seed);
        let ed448 = ed448::SigningKey::from_seed(other.try_into().unwrap());
        let right_label = &b"COMPSIG-MLDSA87-Ed448-SHAKE256"[..];
        // In M′ of both, in M′ of one, as the context of ML-DSA.
        for (first, context, second) in [
            (label, label, label),
            (label, right_label, right_label),
            (right_label, label, right_label),
            (right_label, right_label, label),
        ] {
            let first = m_prime(first);
            let message = Message::pure(&first, context).unwrap();
            let signature = [&ml_dsa.sign_deterministic(message)[..], &ed448.sign(&m_prime(second))].concat();
            assert_eq!(ours.verifying_key().verify(b"message", b"ab", &signature).is_ok(), right);
        }
    }
}

#[test]
fn a_key_or_signature_of_one_algorithm_is_none_of_another() {
    for algorithm in ALGORITHMS {
        let ours = key(algorithm);
        let signature = ours.sign_deterministic(b"message", b"").unwrap();
        for other in ALGORITHMS.iter().filter(|other| other.name() != algorithm.name()) {
            // The same key material, where its form allows.
            if let Ok(public) = VerifyingKey::from_bytes(other, ours.verifying_key().as_bytes()) {
                assert_eq!(public.verify(b"message", b"", signature.as_bytes()), Err(InvalidSignature));
            }
        }
    }
}

#[test]
fn contexts_have_at_most_255_bytes_and_digests_the_right_function() {
    let ours = key(&MLDSA44_ECDSA_P256_SHA256);
    let public = ours.verifying_key();
    assert_eq!(ours.sign(b"", &[0; 256]).err(), Some(SignError::ContextTooLong));
    assert_eq!(ours.sign_deterministic(b"", &[0; 256]).err(), Some(SignError::ContextTooLong));
    let signature = ours.sign_deterministic(b"", b"").unwrap();
    assert_eq!(public.verify(b"", &[0; 256], signature.as_bytes()), Err(InvalidSignature));
    let wrong = PreHash::Sha2_512.digest(b"");
    assert_eq!(ours.sign_digest(&wrong, b"", None).err(), Some(SignError::PreHash));
    assert_eq!(public.verify_digest(&wrong, b"", signature.as_bytes()), Err(InvalidSignature));
}

#[test]
fn keys_of_a_wrong_length_or_form_are_refused() {
    for algorithm in ALGORITHMS {
        let ours = key(algorithm);
        let (private, public) = (ours.expose_bytes().to_vec(), ours.verifying_key().as_bytes().to_vec());
        for (bytes, expected) in
            [(&private, algorithm.private_key_len()), (&public, algorithm.public_key_len())]
        {
            assert_eq!(bytes.len(), expected);
        }
        for actual in [0, 31, 32, private.len() - 1] {
            let expected = private.len();
            let error = SigningKey::from_bytes(algorithm, &private[..actual]).err();
            assert_eq!(error, Some(KeyError::Length { expected, actual }));
        }
        for actual in [0, 32, public.len() - 1] {
            let expected = public.len();
            let error = VerifyingKey::from_bytes(algorithm, &public[..actual]).err();
            assert_eq!(error, Some(KeyError::Length { expected, actual }));
        }
        // A point that is none: for Edwards curves y = 2 on Ed25519 and y with set spare bits on Ed448.
        let (at, _) = split(algorithm);
        let mut bad = public.clone();
        match algorithm.classical() {
            Classical::Ed25519 => {
                bad[at..].fill(0);
                bad[at] = 2;
            }
            Classical::Ed448 => *bad.last_mut().unwrap() |= 1,
            Classical::EcdsaP256 | Classical::EcdsaP384 => *bad.last_mut().unwrap() ^= 1,
        }
        assert_eq!(VerifyingKey::from_bytes(algorithm, &bad).err(), Some(KeyError::Classical), "{algorithm}");
        if algorithm.classical() == Classical::Ed448 {
            // y = 0: a point of order 4.
            bad[at..].fill(0);
            assert_eq!(VerifyingKey::from_bytes(algorithm, &bad).err(), Some(KeyError::Classical));
        }
        if algorithm.classical() == Classical::Ed25519 {
            // y = 18 in its own spelling and as p + 18.
            for (y, right) in [([18, 0, 0], true), ([0xff, 0xff, 0x7f], false), ([0xff, 0xff, 0xff], false)] {
                bad[at] = y[0];
                bad[at + 1..at + 31].fill(y[1]);
                bad[at + 31] = y[2];
                assert_eq!(VerifyingKey::from_bytes(algorithm, &bad).is_ok(), right);
            }
        }
        if matches!(algorithm.classical(), Classical::EcdsaP256 | Classical::EcdsaP384) {
            for at in [32, 34, 38, private.len() - 1] {
                let mut bad = private.clone();
                bad[at] ^= 1;
                assert_eq!(SigningKey::from_bytes(algorithm, &bad).err(), Some(KeyError::Classical));
            }
            let mut zero = private.clone();
            let scalar = 39..39 + if algorithm.classical() == Classical::EcdsaP256 { 32 } else { 48 };
            zero[scalar].fill(0);
            assert_eq!(SigningKey::from_bytes(algorithm, &zero).err(), Some(KeyError::Classical));
        }
    }
}

/// ECDSA against another implementation, both ways, and Ed25519 likewise: the halves stand on their own.
#[test]
fn the_classical_halves_are_those_of_other_crates() {
    use p256::ecdsa::signature::{Signer, Verifier};
    for algorithm in ALGORITHMS {
        let ours = key(algorithm);
        let signature = ours.sign_deterministic(b"message", b"").unwrap();
        let (at_key, at) = split(algorithm);
        let digest = algorithm.pre_hash().digest(b"message");
        let label = format!("COMPSIG-{algorithm}");
        let m_prime =
            [b"CompositeAlgorithmSignatures2025", label.as_bytes(), &[0], digest.as_bytes()].concat();
        let public = ours.verifying_key();
        let (half, public) = (&signature.as_bytes()[at..], &public.as_bytes()[at_key..]);
        let theirs: Vec<u8> = match algorithm.classical() {
            Classical::Ed25519 => {
                let key =
                    ed25519_dalek::SigningKey::from_bytes(ours.expose_bytes()[32..].try_into().unwrap());
                assert_eq!(key.verifying_key().as_bytes(), public);
                key.sign(&m_prime).to_bytes().to_vec()
            }
            Classical::Ed448 => {
                let key = ed448_goldilocks::SigningKey::try_from(&ours.expose_bytes()[32..]).unwrap();
                assert_eq!(&key.verifying_key().to_bytes()[..], public);
                key.sign_raw(&m_prime).to_bytes().to_vec()
            }
            Classical::EcdsaP256 => {
                let key = p256::ecdsa::SigningKey::from_slice(&ours.expose_bytes()[39..71]).unwrap();
                let signature = p256::ecdsa::Signature::from_der(half).unwrap();
                key.verifying_key().verify(&m_prime, &signature).unwrap();
                let theirs: p256::ecdsa::Signature = key.sign(&m_prime);
                theirs.to_der().as_bytes().to_vec()
            }
            Classical::EcdsaP384 => {
                let key = p384::ecdsa::SigningKey::from_slice(&ours.expose_bytes()[39..87]).unwrap();
                let signature = p384::ecdsa::Signature::from_der(half).unwrap();
                key.verifying_key().verify(&m_prime, &signature).unwrap();
                let theirs: p384::ecdsa::Signature = key.sign(&m_prime);
                theirs.to_der().as_bytes().to_vec()
            }
        };
        assert_eq!(half, theirs, "{algorithm}: all of them are deterministic");
        let ml_dsa = match algorithm.ml_dsa() {
            MlDsa::MlDsa44 => verify::<MlDsa44>(&ours, &m_prime, &label, &signature.as_bytes()[..at]),
            MlDsa::MlDsa65 => verify::<MlDsa65>(&ours, &m_prime, &label, &signature.as_bytes()[..at]),
            MlDsa::MlDsa87 => verify::<MlDsa87>(&ours, &m_prime, &label, &signature.as_bytes()[..at]),
        };
        assert!(ml_dsa, "{algorithm}");
    }
}

fn verify<P: gambeson::mldsa::ParameterSet>(
    ours: &SigningKey,
    m_prime: &[u8],
    label: &str,
    signature: &[u8],
) -> bool {
    let seed = ours.expose_bytes().first_chunk().unwrap();
    let key = gambeson::mldsa::SigningKey::<P>::from_seed(seed).verifying_key();
    key.verify(Message::pure(m_prime, label.as_bytes()).unwrap(), signature).is_ok()
}

#[test]
fn a_failing_generator_makes_no_key_and_no_signature() {
    for algorithm in ALGORITHMS {
        assert_eq!(SigningKey::generate_with(algorithm, &mut Broken).err(), Some(KeyError::Random));
    }
    let ours = key(&MLDSA87_ED448_SHAKE256);
    assert_eq!(ours.sign_with(&mut Broken, b"", b"").err(), Some(SignError::Random));
}

#[test]
fn names_and_identifiers_are_one_algorithms() {
    let names: BTreeSet<_> = ALGORITHMS.iter().map(|algorithm| algorithm.name()).collect();
    let oids: BTreeSet<_> = ALGORITHMS.iter().map(|algorithm| algorithm.oid()).collect();
    assert_eq!((names.len(), oids.len()), (7, 7));
    for algorithm in ALGORITHMS {
        assert_eq!(Algorithm::by_name(algorithm.name()), Some(*algorithm));
        assert_eq!(Algorithm::by_oid(algorithm.oid()), Some(*algorithm));
    }
    assert_eq!(MLDSA87_ED448_SHAKE256.oid(), [6, 8, 0x2b, 6, 1, 5, 5, 7, 6, 0x33]);
    let sizes = ALGORITHMS.iter().map(|a| (a.public_key_len(), a.private_key_len(), a.max_signature_len()));
    assert_eq!(
        sizes.collect::<Vec<_>>(),
        [
            (2649, 89, 4741),
            (2689, 96, 4731),
            (1984, 64, 3373),
            (2049, 96, 3413),
            (2017, 83, 3381),
            (1344, 64, 2484),
            (1377, 83, 2492)
        ]
    );
    assert_eq!(Algorithm::by_name("MLDSA65-RSA3072-PSS-SHA512"), None);
    assert_eq!(Algorithm::by_oid(&[]), None);
}

#[test]
fn debug_shows_no_secret_and_errors_say_what_is_wrong() {
    let ours = key(&MLDSA87_ED448_SHAKE256);
    assert_eq!(format!("{ours:?}"), "composite::SigningKey(MLDSA87-Ed448-SHAKE256, [redacted])");
    assert!(
        format!("{:?}", ours.verifying_key()).starts_with("composite::VerifyingKey(MLDSA87-Ed448-SHAKE256")
    );
    assert_eq!(format!("{MLDSA87_ED448_SHAKE256:?}"), "Algorithm(MLDSA87-Ed448-SHAKE256)");
    for (text, part) in [
        (KeyError::Length { expected: 5, actual: 3 }.to_string(), "of 3 bytes, where 5"),
        (KeyError::Classical.to_string(), "not a key of its scheme"),
        (KeyError::Random.to_string(), "random"),
        (SignError::ContextTooLong.to_string(), "255"),
        (SignError::PreHash.to_string(), "hash function"),
        (SignError::Random.to_string(), "random"),
        (InvalidSignature.to_string(), "invalid"),
    ] {
        assert!(text.contains(part), "{text}");
    }
}
