//! What a suite refuses, and what it says.

use std::collections::BTreeSet;

use gambeson_mls::mls_rs_core::crypto::{
    CipherSuiteProvider, CryptoProvider, HpkeCiphertext, HpkeContextR, HpkeContextS, HpkePsk, HpkePublicKey,
    HpkeSecretKey, SignaturePublicKey, SignatureSecretKey,
};
use gambeson_mls::{Error, Preset, Provider, SUITES, Signed, Suite, SuiteProvider};

fn suite(number: u16) -> SuiteProvider {
    Provider::new(Preset::All).cipher_suite_provider(number.into()).unwrap()
}

fn every_suite() -> impl Iterator<Item = SuiteProvider> {
    SUITES.iter().map(|one| suite(one.number()))
}

#[test]
fn keys_and_ciphertexts_have_exact_lengths() {
    for suite in every_suite() {
        let (secret, public) = suite.kem_generate().unwrap();
        let (longer, shorter) = ([&public[..], &[0]].concat(), public[1..].to_vec());
        for wrong in [vec![], longer, shorter] {
            let wrong = HpkePublicKey::from(wrong);
            assert!(matches!(suite.kem_public_key_validate(&wrong), Err(Error::Length { .. })), "{suite:?}");
            assert!(suite.hpke_seal(&wrong, b"", None, b"").is_err());
        }
        let sealed = suite.hpke_seal(&public, b"info", Some(b"aad"), b"text").unwrap();
        assert_eq!(
            suite.hpke_open(&sealed, &secret, &public, b"info", Some(b"aad")).unwrap().as_slice(),
            b"text"
        );
        let open = |sealed: &HpkeCiphertext, secret: &HpkeSecretKey, info: &[u8], aad: &[u8]| {
            suite.hpke_open(sealed, secret, &public, info, Some(aad)).err()
        };
        let cut = |bytes: &[u8]| bytes[1..].to_vec();
        let short = HpkeSecretKey::from(cut(&secret));
        assert!(matches!(open(&sealed, &short, b"info", b"aad"), Some(Error::Length { .. })));
        let short = HpkeCiphertext { kem_output: cut(&sealed.kem_output), ..sealed.clone() };
        assert!(matches!(open(&short, &secret, b"info", b"aad"), Some(Error::Length { .. })));
        let short = HpkeCiphertext { ciphertext: vec![0; 15], ..sealed.clone() };
        assert!(matches!(open(&short, &secret, b"info", b"aad"), Some(Error::Length { .. })));
        for (info, aad) in [(&b"other"[..], &b"aad"[..]), (b"info", b"other")] {
            assert!(matches!(open(&sealed, &secret, info, aad), Some(Error::Hpke(_))), "{suite:?}");
        }
        let (key, nonce) = (vec![1; suite.aead_key_size()], vec![2; suite.aead_nonce_size()]);
        let sealed = suite.aead_seal(&key, b"text", None, &nonce).unwrap();
        assert_eq!(suite.aead_open(&key, &sealed, None, &nonce).unwrap().as_slice(), b"text");
        assert_eq!(suite.aead_open(&key, &sealed, Some(b"aad"), &nonce).err(), Some(Error::Open));
        assert!(matches!(suite.aead_open(&key, &sealed[..15], None, &nonce), Err(Error::Length { .. })));
        assert!(matches!(suite.aead_seal(&key[1..], b"", None, &nonce), Err(Error::Length { .. })));
        assert!(matches!(suite.aead_seal(&key, b"", None, &nonce[1..]), Err(Error::Length { .. })));
        let hash = suite.kdf_extract_size();
        assert!(matches!(suite.kdf_expand(&[0; 31], b"", 1), Err(Error::Length { .. })));
        assert_eq!(suite.kdf_expand(&vec![0; hash], b"", 255 * hash + 1).err(), Some(Error::TooLong));
    }
}

#[test]
fn signatures_and_their_keys_are_refused_by_what_is_wrong_with_them() {
    for suite in every_suite() {
        let (secret, public) = suite.signature_key_generate().unwrap();
        assert_eq!(suite.signature_key_derive_public(&secret).unwrap(), public);
        let signature = suite.sign(&secret, b"message").unwrap();
        suite.verify(&public, &signature, b"message").unwrap();
        assert_eq!(suite.verify(&public, &signature, b"massage"), Err(Error::Signature), "{suite:?}");
        assert_eq!(suite.verify(&public, &[], b"message"), Err(Error::Signature));
        let mut last = signature.clone();
        *last.last_mut().unwrap() ^= 1;
        assert_eq!(suite.verify(&public, &last, b"message"), Err(Error::Signature), "{suite:?}");
        assert_eq!(
            suite.verify(&public, &[&signature[..], &[0]].concat(), b"message"),
            Err(Error::Signature)
        );
        let (_, other) = suite.signature_key_generate().unwrap();
        assert_eq!(suite.verify(&other, &signature, b"message"), Err(Error::Signature));

        let short = SignaturePublicKey::new_slice(&public[1..]);
        assert!(matches!(
            suite.verify(&short, &signature, b"message"),
            Err(Error::Length { .. } | Error::VerifyingKey)
        ));
        let short = SignatureSecretKey::new_slice(&secret[1..]);
        assert!(matches!(suite.sign(&short, b"message"), Err(Error::Length { .. })), "{suite:?}");
        assert!(suite.signature_key_derive_public(&short).is_err());
    }
    // A scalar of zero, and points that are on no curve.
    let zero = SignatureSecretKey::new_slice(&[0; 32]);
    assert_eq!(suite(2).sign(&zero, b"").err(), Some(Error::SigningKey));
    assert_eq!(suite(2).verify(&SignaturePublicKey::new_slice(&[4; 65]), b"", b""), Err(Error::VerifyingKey));
    assert_eq!(
        suite(1).verify(&SignaturePublicKey::new_slice(&[2; 32]), &[0; 64], b""),
        Err(Error::VerifyingKey)
    );
}

#[test]
fn keys_that_the_standards_refuse_are_refused() {
    // FIPS 203, section 7.2: a coefficient that is not below q.
    for number in [0xf006, 0xf00a, 0xf00b, 0xf001, 0xf003, 0xf005] {
        let suite = suite(number);
        let (_, public) = suite.kem_generate().unwrap();
        let mut bytes = public.to_vec();
        bytes[..3].fill(0xff);
        assert!(matches!(suite.kem_public_key_validate(&bytes.into()), Err(Error::Hpke(_))), "{suite:?}");
    }
    // X25519 that gives all zeros, alone and in X-Wing.
    for (number, at) in [(1, 0), (3, 0), (0xf001, 1184), (0xf0a1, 1184)] {
        let suite = suite(number);
        let (_, public) = suite.kem_generate().unwrap();
        let mut bytes = public.to_vec();
        suite.kem_public_key_validate(&public).unwrap();
        let order_8 = |text| base16ct::lower::decode_vec(text).unwrap();
        let near = |first, middle, last| [&[first][..], &[middle; 30], &[last]].concat();
        for u in [
            near(0, 0, 0),
            near(1, 0, 0),
            near(0xec, 0xff, 0x7f),
            near(0xed, 0xff, 0x7f),
            near(0xee, 0xff, 0x7f),
            near(0, 0, 0x80),
            near(0xee, 0xff, 0xff),
            order_8("e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800"),
            order_8("5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157"),
        ] {
            bytes[at..].copy_from_slice(&u);
            let key = HpkePublicKey::from(bytes.clone());
            assert!(matches!(suite.hpke_seal(&key, b"", None, b""), Err(Error::Hpke(_))), "{suite:?}");
            assert!(matches!(suite.kem_public_key_validate(&key), Err(Error::Hpke(_))), "{suite:?}");
        }
    }
}

/// A vector behind its length (RFC 9420, section 2.1.2).
fn vector(bytes: &[u8]) -> Vec<u8> {
    let len = match u32::try_from(bytes.len()).unwrap() {
        short @ ..=0x3f => vec![short as u8],
        middle @ ..=0x3fff => (0x4000 | middle as u16).to_be_bytes().to_vec(),
        long => (0x8000_0000 | long).to_be_bytes().to_vec(),
    };
    [&len[..], bytes].concat()
}

#[test]
fn a_parent_whose_key_is_none_is_not_hashed_whatever_was_before_it() {
    for (number, at) in [(1, 0), (0xf001, 1184), (0xf003, 0), (0xf00a, 0), (0xf00b, 0)] {
        let suite = suite(number);
        let (_, public) = suite.kem_generate().unwrap();
        let mut none = public.to_vec();
        // Of low order, or with a coefficient that is not below q.
        if at > 0 || none.len() == 32 {
            none[at..].fill(0)
        } else {
            none[..3].fill(0xff)
        }
        let parent = |key: &[u8], unmerged: usize, digest: usize| {
            let rest = [vector(&[]), vector(&vec![0; 4 * unmerged]), vector(&vec![7; digest])];
            [&[2, 1][..], &vector(key), &rest.concat(), &vector(&vec![8; digest])].concat()
        };
        let digest = suite.kdf_extract_size();
        // More are not remembered.
        for unmerged in [0, 1, 20_000] {
            for (key, good) in [(&none, false), (&none, false), (&public.to_vec(), true), (&none, false)] {
                assert_eq!(suite.hash(&parent(key, unmerged, digest)).is_ok(), good, "{suite:?}, {unmerged}");
            }
        }
        // What is no tree is not judged, nor is a blank parent.
        suite.hash(&parent(&none, 0, digest - 1)).unwrap();
        suite.hash(&[&[2, 0][..], &vector(&vec![7; digest]), &vector(&vec![8; digest])].concat()).unwrap();
    }
}

#[test]
fn a_leaf_that_one_suite_verified_is_unknown_to_another_of_the_same_signature_algorithm() {
    let provider = Provider::new(Preset::All);
    let [ours, other] = [1, 0xf006].map(|number: u16| provider.cipher_suite_provider(number.into()).unwrap());
    let (_, key) = ours.kem_generate().unwrap();
    let (secret, public) = ours.signature_key_generate().unwrap();
    let content = [vector(b"MLS 1.0 LeafNodeTBS"), vector(&vector(&key))].concat();
    let signature = ours.sign(&secret, &content).unwrap();
    ours.verify(&public, &signature, &content).unwrap();
    let signed = || Signed { public_key: &public, content: content.clone(), signature: &signature };
    assert!(matches!(other.verify(&public, &signature, &content), Err(Error::Length { .. })));
    assert_eq!((ours.verify_ahead(&[signed()]), other.verify_ahead(&[signed()])), (1, 0));
    assert_eq!(provider.verifications().known, 0);
}

#[test]
fn contexts_seal_in_order_and_export_the_same() {
    for suite in every_suite() {
        let (secret, public) = suite.kem_generate().unwrap();
        let (enc, mut sender) = suite.hpke_setup_s(&public, b"info").unwrap();
        let mut receiver = suite.hpke_setup_r(&enc, &secret, &public, b"info").unwrap();
        for text in [b"one", b"two"] {
            let sealed = sender.seal(Some(b"aad"), text).unwrap();
            assert_eq!(receiver.open(Some(b"aad"), &sealed).unwrap().as_slice(), text);
            assert!(receiver.open(Some(b"aad"), &sealed).is_err(), "{suite:?}");
        }
        assert_eq!(sender.export(b"context", 40).unwrap(), receiver.export(b"context", 40).unwrap());
        assert!(format!("{sender:?}{receiver:?}").contains("redacted"));

        let psk = || HpkePsk::new(b"name", &[7; 32]);
        let sealed = suite.hpke_seal_psk(&public, b"info", None, b"text", psk()).unwrap();
        assert_eq!(
            suite.hpke_open_psk(&sealed, &secret, &public, b"info", None, psk()).unwrap().as_slice(),
            b"text"
        );
        assert!(suite.hpke_open(&sealed, &secret, &public, b"info", None).is_err());
        assert!(suite.hpke_seal_psk(&public, b"", None, b"", HpkePsk::new(b"name", &[7; 31])).is_err());
    }
}

#[test]
fn derived_keys_are_the_same_for_the_same_secret_and_differ_by_derivation() {
    let (labeled, plain) = (Provider::new(Preset::All), Provider::new(Preset::All).for_openmls());
    for number in plain.supported_cipher_suites() {
        let theirs = plain.cipher_suite_provider(number).unwrap();
        let ours = labeled.cipher_suite_provider(theirs.suite().cipher_suite()).unwrap();
        let (secret, public) = ours.kem_derive(&[5; 48]).unwrap();
        assert_eq!(
            (&secret, &public),
            (&ours.kem_derive(&[5; 48]).unwrap().0, &ours.kem_derive(&[5; 48]).unwrap().1)
        );
        let same = theirs.kem_derive(&[5; 48]).unwrap() == (secret, public);
        assert_eq!(
            same,
            theirs.suite().number() < 8,
            "{theirs:?}: only the KEMs of RFC 9180 have one derivation"
        );
    }
}

#[test]
fn presets_hold_what_their_names_say() {
    let numbers = |preset: Preset| -> Vec<u16> {
        Provider::new(preset).supported_cipher_suites().into_iter().map(u16::from).collect()
    };
    assert_eq!(numbers(Preset::default()), [0xf00a]);
    assert_eq!(numbers(Preset::Hybrid), [0xf0a1, 0xf0a2]);
    assert_eq!(numbers(Preset::Cnsa2), [0xf00b]);
    assert_eq!(numbers(Preset::Classical), [1, 2, 3, 7, 5]);
    for suite in Preset::Approved.suites() {
        for no in
            ["X25519", "Ed25519", "CHACHA", "P256_AES128GCM_SHA256_P256", "MLKEM768P256", "MLKEM1024P384"]
        {
            let classical = suite.number() == 2;
            assert!(classical || !suite.name().contains(no), "{suite}");
        }
    }
    assert_eq!(numbers(Preset::Approved).len(), 7);
    assert_eq!(numbers(Preset::All).len(), 18);
    for preset in Preset::ALL.iter().copied() {
        assert_eq!(preset.to_string().parse(), Ok(preset));
    }
    assert!("none".parse::<Preset>().unwrap_err().to_string().contains("approved"));
    let names: BTreeSet<_> = SUITES.iter().map(Suite::name).collect();
    let numbers: BTreeSet<_> = SUITES.iter().map(Suite::number).collect();
    assert_eq!((names.len(), numbers.len()), (SUITES.len(), SUITES.len()));
    for suite in SUITES {
        assert_eq!(Suite::by_name(suite.name()).map(Suite::number), Some(suite.number()));
        assert_eq!(Suite::by_number(suite.number()).map(Suite::name), Some(suite.name()));
    }
}

#[test]
fn what_openmls_alone_has_is_in_no_preset_and_has_its_derivation() {
    let whole = Provider::openmls();
    for number in [0x004d, 0x0906] {
        assert!(Suite::by_number(number).is_none());
        for preset in Preset::ALL.iter().copied() {
            assert!(preset.find(number).is_err(), "{number:#06x}, {preset}");
            let theirs = Provider::new(preset).for_openmls();
            assert!(theirs.cipher_suite_provider(number.into()).is_none(), "{number:#06x}, {preset}");
        }
        let suite = whole.cipher_suite_provider(number.into()).unwrap();
        assert!(SUITES.iter().all(|other| other.name() != suite.suite().name()));
        // With the KEM of a suite that has a derivation of either kind, the key is that of OpenMLS.
        let same_kem = if number == 0x0906 { 0xf00b } else { 0xf009 };
        let labeled = self::suite(same_kem);
        let plain = labeled.suite().openmls_number().unwrap();
        let plain = whole.cipher_suite_provider(plain.into()).unwrap();
        assert_eq!(suite.kem_derive(&[5; 64]).unwrap(), plain.kem_derive(&[5; 64]).unwrap());
        assert_ne!(suite.kem_derive(&[5; 64]).unwrap(), labeled.kem_derive(&[5; 64]).unwrap());
    }
    assert_eq!(whole.supported_cipher_suites().len(), 5 + 8 + 2);
}

#[test]
fn errors_name_what_is_wrong() {
    let length = Error::Length { what: "a nonce", expected: 12, actual: 11 };
    assert_eq!(length.to_string(), "a nonce of 11 bytes, where the suite has 12");
    for (error, part) in [
        (Error::SigningKey, "private key"),
        (Error::VerifyingKey, "public key"),
        (Error::Signature, "does not verify"),
        (Error::Open, "tag"),
        (Error::TooLong, "more than"),
        (Error::Random, "random"),
    ] {
        assert!(error.to_string().contains(part), "{error}");
    }
}
