//! Key files: the examples of the RFCs, every form of every algorithm, and every way in which a file can be wrong.

use der::asn1::{AnyRef, BitStringRef, Null, OctetStringRef};
use der::{Encode, Tag, TagNumber};
use gambeson::mldsa::SigningKeyError;
use gambeson::mlkem::{DecapsulationKeyError, EncapsulationKeyError};
use gambeson_pki::{
    Algorithm, Encryption, Error, Form, PrivateKey, PublicKey, UnknownAlgorithm, name_of_unsupported,
};
use pkcs8::pkcs5::pbes2;
use pkcs8::{EncryptedPrivateKeyInfo, PrivateKeyInfoRef};
use spki::{AlgorithmIdentifierRef, ObjectIdentifier, SubjectPublicKeyInfoRef};

/// The algorithms whose private keys have the three forms.
const FORMED: [Algorithm; 6] = [
    Algorithm::MlKem512,
    Algorithm::MlKem768,
    Algorithm::MlKem1024,
    Algorithm::MlDsa44,
    Algorithm::MlDsa65,
    Algorithm::MlDsa87,
];
const FORMS: [Form; 3] = [Form::Seed, Form::Expanded, Form::Both];

fn is_kem(algorithm: Algorithm) -> bool {
    algorithm.name().starts_with("ML-KEM")
}

fn seed(algorithm: Algorithm) -> Vec<u8> {
    (0..if is_kem(algorithm) { 64 } else { 32 }).collect()
}

fn key(algorithm: Algorithm) -> PrivateKey {
    PrivateKey::from_seed(algorithm, &seed(algorithm)).unwrap()
}

fn identifier(algorithm: Algorithm) -> AlgorithmIdentifierRef<'static> {
    AlgorithmIdentifierRef { oid: ObjectIdentifier::new_unwrap(algorithm.oid()), parameters: None }
}

/// PKCS#8 around `inner`, the contents of the OCTET STRING.
fn pkcs8(algorithm: AlgorithmIdentifierRef<'_>, inner: &[u8], public: Option<&[u8]>) -> Vec<u8> {
    let mut info = PrivateKeyInfoRef::new(algorithm, OctetStringRef::new(inner).unwrap());
    info.public_key = public.map(|public| BitStringRef::from_bytes(public).unwrap());
    info.to_der().unwrap()
}

fn tlv(tag: Tag, value: &[u8]) -> Vec<u8> {
    AnyRef::new(tag, value).unwrap().to_der().unwrap()
}

fn seed_choice(seed: &[u8]) -> Vec<u8> {
    tlv(Tag::ContextSpecific { constructed: false, number: TagNumber(0) }, seed)
}

fn both_choice(seed: &[u8], expanded: &[u8]) -> Vec<u8> {
    tlv(Tag::Sequence, &[tlv(Tag::OctetString, seed), tlv(Tag::OctetString, expanded)].concat())
}

#[test]
fn the_examples_of_the_rfcs() {
    let mut ran = 0;
    for (algorithm, private, public) in [
        (
            Algorithm::MlKem512,
            include_str!("../data/ML-KEM-512-seed.priv"),
            include_str!("../data/ML-KEM-512.pub"),
        ),
        (
            Algorithm::MlKem768,
            include_str!("../data/ML-KEM-768-seed.priv"),
            include_str!("../data/ML-KEM-768.pub"),
        ),
        (
            Algorithm::MlKem1024,
            include_str!("../data/ML-KEM-1024-seed.priv"),
            include_str!("../data/ML-KEM-1024.pub"),
        ),
        (
            Algorithm::MlDsa44,
            include_str!("../data/ML-DSA-44-seed.priv"),
            include_str!("../data/ML-DSA-44.pub"),
        ),
        (
            Algorithm::MlDsa65,
            include_str!("../data/ML-DSA-65-seed.priv"),
            include_str!("../data/ML-DSA-65.pub"),
        ),
        (
            Algorithm::MlDsa87,
            include_str!("../data/ML-DSA-87-seed.priv"),
            include_str!("../data/ML-DSA-87.pub"),
        ),
    ] {
        let key = PrivateKey::from_pkcs8_pem(private).unwrap();
        assert_eq!((key.algorithm(), key.seed()), (algorithm, Some(&seed(algorithm)[..])));
        assert_eq!(key.to_pkcs8_pem(Form::Seed).unwrap().trim_end(), private.trim_end());

        let published = PublicKey::from_spki_pem(public).unwrap();
        assert_eq!(published, key.public_key(), "{algorithm}");
        assert_eq!(published.to_spki_pem().trim_end(), public.trim_end());
        ran += 1;
    }
    assert_eq!(ran, 6);
}

#[test]
fn every_form_of_every_algorithm_goes_round() {
    let mut ran = 0;
    for algorithm in FORMED {
        let key = key(algorithm);
        for form in FORMS {
            let der = key.to_pkcs8_der(form).unwrap();
            let pem = key.to_pkcs8_pem(form).unwrap();
            for again in [
                PrivateKey::from_pkcs8_der(&der).unwrap(),
                PrivateKey::from_pkcs8_pem(&pem).unwrap(),
                PrivateKey::read(&der, None).unwrap(),
                PrivateKey::read(pem.as_bytes(), Some(b"not used")).unwrap(),
                PrivateKey::read(pem.replace('\n', "\r\n").as_bytes(), None).unwrap(),
            ] {
                assert_eq!(again.algorithm(), algorithm);
                assert_eq!(again.public_key(), key.public_key());
                assert_eq!(again.to_expanded_bytes(), key.to_expanded_bytes());
                assert_eq!(again.seed(), if form == Form::Expanded { None } else { key.seed() });
                ran += 1;
            }
        }
        let public = key.public_key();
        for again in [
            PublicKey::from_spki_der(&public.to_spki_der()),
            PublicKey::from_spki_pem(&public.to_spki_pem()),
            PublicKey::read(&public.to_spki_der()),
            PublicKey::read(public.to_spki_pem().as_bytes()),
            PublicKey::from_bytes(algorithm, public.as_bytes()),
        ] {
            assert_eq!(again, Ok(key.public_key()));
        }
    }
    assert_eq!(ran, 6 * 3 * 5);
}

#[test]
fn the_forms_begin_as_in_the_rfcs() {
    let inner = |algorithm, form| {
        let der = key(algorithm).to_pkcs8_der(form).unwrap();
        let info = PrivateKeyInfoRef::try_from(&der[..]).unwrap();
        info.private_key.as_bytes().to_vec()
    };
    assert_eq!(inner(Algorithm::MlKem768, Form::Seed)[..2], [0x80, 0x40]);
    assert_eq!(inner(Algorithm::MlDsa65, Form::Seed)[..2], [0x80, 0x20]);
    assert_eq!(inner(Algorithm::MlDsa65, Form::Expanded)[..4], [0x04, 0x82, 0x0f, 0xc0]);
    assert_eq!(inner(Algorithm::MlDsa65, Form::Both)[..6], [0x30, 0x82, 0x0f, 0xe6, 0x04, 0x20]);
}

#[test]
fn a_key_without_its_seed_is_written_without_it() {
    for algorithm in FORMED {
        let full = key(algorithm);
        let bare = PrivateKey::from_expanded_bytes(algorithm, &full.to_expanded_bytes()).unwrap();
        assert_eq!(bare.public_key(), full.public_key());
        for form in [Form::Seed, Form::Both] {
            assert_eq!(bare.to_pkcs8_der(form).err(), Some(Error::NoSeed));
            assert_eq!(bare.to_pkcs8_pem(form).err(), Some(Error::NoSeed));
            let encrypted = bare.to_encrypted_pkcs8_der(form, b"x", Encryption::Scrypt);
            assert_eq!(encrypted.err(), Some(Error::NoSeed));
        }
        assert_eq!(bare.to_pkcs8_der(Form::Expanded), full.to_pkcs8_der(Form::Expanded));
    }
}

#[test]
fn generated_keys_differ() {
    for algorithm in FORMED {
        let (a, b) = (PrivateKey::generate(algorithm).unwrap(), PrivateKey::generate(algorithm).unwrap());
        assert_eq!(a.algorithm(), algorithm);
        assert_ne!(a.seed(), b.seed());
        assert_ne!(a.public_key(), b.public_key());
    }
}

#[test]
fn a_seed_and_an_expanded_key_that_do_not_fit_are_refused() {
    for algorithm in FORMED {
        let (seed, expanded) = (seed(algorithm), key(algorithm).to_expanded_bytes());
        let read = |seed: &[u8], expanded: &[u8]| {
            PrivateKey::from_pkcs8_der(&pkcs8(identifier(algorithm), &both_choice(seed, expanded), None))
                .err()
        };
        assert_eq!(read(&seed, &expanded), None);
        for at in [0, seed.len() - 1] {
            let mut other = seed.clone();
            other[at] ^= 1;
            assert_eq!(read(&other, &expanded), Some(Error::SeedMismatch), "{algorithm}, seed byte {at}");
        }
        for at in [0, 100, expanded.len() / 2, expanded.len() - 1] {
            let mut other = expanded.to_vec();
            other[at] ^= 1;
            assert_eq!(read(&seed, &other), Some(Error::SeedMismatch), "{algorithm}, expanded byte {at}");
        }
        assert_eq!(read(&seed, &expanded[1..]), Some(Error::SeedMismatch), "a short expanded key");
        assert_eq!(
            read(&seed[1..], &expanded),
            Some(Error::SeedLength { expected: seed.len(), actual: seed.len() - 1 })
        );
    }
}

#[test]
fn a_private_key_is_one_of_three_forms() {
    for algorithm in FORMED {
        let seed = seed(algorithm);
        let expanded = key(algorithm).to_expanded_bytes();
        let read = |inner: &[u8]| {
            PrivateKey::from_pkcs8_der(&pkcs8(identifier(algorithm), inner, None)).map(|_| ()).unwrap_err()
        };
        let three =
            [tlv(Tag::OctetString, &seed), tlv(Tag::OctetString, &expanded), tlv(Tag::Null, &[])].concat();
        for inner in [
            vec![],
            seed[1..].to_vec(),
            tlv(Tag::Integer, &[1]),
            tlv(Tag::ContextSpecific { constructed: false, number: TagNumber(1) }, &seed),
            tlv(
                Tag::ContextSpecific { constructed: true, number: TagNumber(0) },
                &tlv(Tag::OctetString, &seed),
            ),
            tlv(Tag::Sequence, &tlv(Tag::OctetString, &seed)),
            tlv(Tag::Sequence, &three),
            [seed_choice(&seed), vec![0]].concat(),
        ] {
            assert_eq!(read(&inner), Error::PrivateKey, "{algorithm}: {:02x?}", &inner[..inner.len().min(4)]);
        }
        for actual in [0, 16, 33, 65] {
            let error = Error::SeedLength { expected: seed.len(), actual };
            assert_eq!(read(&seed_choice(&vec![1; actual])), error);
            assert_eq!(PrivateKey::from_seed(algorithm, &vec![1; actual]).err(), Some(error));
        }
    }
}

#[test]
fn an_invalid_expanded_key_is_refused() {
    for algorithm in FORMED {
        let expanded = key(algorithm).to_expanded_bytes();
        let read = |bytes: &[u8]| {
            let der = pkcs8(identifier(algorithm), &tlv(Tag::OctetString, bytes), None);
            let error = PrivateKey::from_pkcs8_der(&der).map(|_| ()).unwrap_err();
            assert_eq!(PrivateKey::from_expanded_bytes(algorithm, bytes).err(), Some(error.clone()));
            error
        };
        let (expected, actual) = (expanded.len(), expanded.len() - 1);
        if is_kem(algorithm) {
            let length = DecapsulationKeyError::Length { expected, actual };
            assert_eq!(read(&expanded[1..]), Error::DecapsulationKey(length));
            let mut bad = expanded.to_vec();
            bad[expected - 64] ^= 1; // H(ek)
            assert_eq!(read(&bad), Error::DecapsulationKey(DecapsulationKeyError::Hash));
        } else {
            let length = SigningKeyError::Length { expected, actual };
            assert_eq!(read(&expanded[1..]), Error::SigningKey(length));
            let mut bad = expanded.to_vec();
            bad[128..131].fill(0xff); // s1
            assert_eq!(read(&bad), Error::SigningKey(SigningKeyError::Coefficient));
            let mut bad = expanded.to_vec();
            bad[64] ^= 1; // tr
            assert_eq!(read(&bad), Error::SigningKey(SigningKeyError::Mismatch));
        }
    }
}

#[test]
fn an_invalid_public_key_is_refused() {
    for algorithm in FORMED {
        let bytes = key(algorithm).public_key().as_bytes().to_vec();
        let read = |bytes: &[u8]| {
            let info = SubjectPublicKeyInfoRef {
                algorithm: identifier(algorithm),
                subject_public_key: BitStringRef::from_bytes(bytes).unwrap(),
            };
            PublicKey::from_spki_der(&info.to_der().unwrap()).unwrap_err()
        };
        let (expected, actual) = (bytes.len(), bytes.len() - 1);
        if is_kem(algorithm) {
            let length = EncapsulationKeyError::Length { expected, actual };
            assert_eq!(read(&bytes[1..]), Error::EncapsulationKey(length));
            let mut bad = bytes.clone();
            bad[..3].fill(0xff);
            assert_eq!(read(&bad), Error::EncapsulationKey(EncapsulationKeyError::Modulus));
        } else {
            assert_eq!(read(&bytes[1..]), Error::VerifyingKeyLength { expected, actual });
        }
        let unused_bits = SubjectPublicKeyInfoRef {
            algorithm: identifier(algorithm),
            subject_public_key: BitStringRef::new(4, &[0xf0]).unwrap(),
        };
        assert_eq!(PublicKey::from_spki_der(&unused_bits.to_der().unwrap()), Err(Error::Der));
    }
}

#[test]
fn parameters_must_be_absent() {
    for algorithm in FORMED {
        let null = AnyRef::from(Null);
        let with_null = AlgorithmIdentifierRef { parameters: Some(null), ..identifier(algorithm) };
        let der = pkcs8(with_null, &seed_choice(&seed(algorithm)), None);
        assert_eq!(PrivateKey::from_pkcs8_der(&der).err(), Some(Error::Parameters));

        let public = key(algorithm).public_key();
        let info = SubjectPublicKeyInfoRef {
            algorithm: with_null,
            subject_public_key: BitStringRef::from_bytes(public.as_bytes()).unwrap(),
        };
        assert_eq!(PublicKey::from_spki_der(&info.to_der().unwrap()), Err(Error::Parameters));
    }
}

/// SEC 1, section 2.3.3; RFC 5480, section 2.2: support of compressed points is optional.
#[test]
fn a_compressed_point_is_refused_by_its_name() {
    for (algorithm, curve) in
        [(Algorithm::EcdsaP256, "1.2.840.10045.3.1.7"), (Algorithm::EcdsaP384, "1.3.132.0.34")]
    {
        let key = PrivateKey::generate(algorithm).unwrap().public_key();
        let point = key.as_bytes();
        let half = &point[1..=point.len() / 2];
        let curve = ObjectIdentifier::new_unwrap(curve);
        let identifier = AlgorithmIdentifierRef {
            oid: ObjectIdentifier::new_unwrap("1.2.840.10045.2.1"),
            parameters: Some(AnyRef::from(&curve)),
        };
        for mark in [2, 3] {
            let compressed = [&[mark], half].concat();
            let bits = BitStringRef::from_bytes(&compressed).unwrap();
            let spki = SubjectPublicKeyInfoRef { algorithm: identifier, subject_public_key: bits };
            let error = PublicKey::from_spki_der(&spki.to_der().unwrap()).unwrap_err();
            assert_eq!(error, Error::CompressedPoint);
            assert!(error.to_string().contains("compressed"), "{error}");
            assert_eq!(PublicKey::from_bytes(algorithm, &compressed).unwrap_err(), Error::CompressedPoint);
        }
        assert!(PublicKey::from_bytes(algorithm, &[&[4], half].concat()).is_err());
    }
}

#[test]
fn errors_name_other_files_with_the_right_article() {
    for (label, words) in [
        ("RSA PRIVATE KEY", "an RSA PRIVATE KEY"),
        ("X509 CRL", "an X509 CRL"),
        ("EC PARAMETERS", "an EC PARAMETERS"),
        ("OPENSSH PRIVATE KEY", "an OPENSSH PRIVATE KEY"),
        ("SSH2 PUBLIC KEY", "an SSH2 PUBLIC KEY"),
        ("CERTIFICATE", "a CERTIFICATE"),
        ("DSA PRIVATE KEY", "a DSA PRIVATE KEY"),
        ("PKCS7", "a PKCS7"),
        ("NEW CERTIFICATE REQUEST", "a NEW CERTIFICATE REQUEST"),
    ] {
        let error = Error::Label { expected: "PUBLIC KEY", found: label.into() }.to_string();
        assert_eq!(error, format!("a PEM file of {words}, not of a PUBLIC KEY"));
    }
    let error = Error::Label { expected: "X509 CRL", found: "CERTIFICATE".into() }.to_string();
    assert!(error.ends_with("not of an X509 CRL"), "{error}");
}

#[test]
fn another_algorithm_is_named() {
    let x25519 =
        AlgorithmIdentifierRef { oid: ObjectIdentifier::new_unwrap("1.3.101.110"), parameters: None };
    let error = Error::Algorithm { oid: "1.3.101.110".into() };
    let der = pkcs8(x25519, &tlv(Tag::OctetString, &[1; 32]), None);
    assert_eq!(PrivateKey::from_pkcs8_der(&der).err(), Some(error.clone()));
    let info = SubjectPublicKeyInfoRef {
        algorithm: x25519,
        subject_public_key: BitStringRef::from_bytes(&[1; 32]).unwrap(),
    };
    assert_eq!(PublicKey::from_spki_der(&info.to_der().unwrap()), Err(error));
    assert_eq!("ml-kem-768".parse(), Ok(Algorithm::MlKem768));
    assert_eq!("ML-KEM-769".parse::<Algorithm>(), Err(UnknownAlgorithm));
    assert!(UnknownAlgorithm.to_string().contains("ML-DSA-87"));
}

#[test]
fn keys_of_hash_slh_dsa_are_refused_by_name() {
    let oid = "2.16.840.1.101.3.4.3.46";
    let error = Error::Algorithm { oid: oid.into() };
    assert!(
        error.to_string().contains("HashSLH-DSA-SHAKE-256f-with-SHAKE256 (2.16.840.1.101.3.4.3.46)"),
        "{error}"
    );
    let identifier = AlgorithmIdentifierRef { oid: ObjectIdentifier::new_unwrap(oid), parameters: None };
    assert_eq!(PrivateKey::from_pkcs8_der(&pkcs8(identifier, &[1; 128], None)).err(), Some(error.clone()));
    let info = SubjectPublicKeyInfoRef {
        algorithm: identifier,
        subject_public_key: BitStringRef::from_bytes(&[1; 64]).unwrap(),
    };
    assert_eq!(PublicKey::from_spki_der(&info.to_der().unwrap()), Err(error));

    // Twelve parameter sets with a digest; what lies around them is none.
    let named = |last: u32| name_of_unsupported(&format!("2.16.840.1.101.3.4.3.{last}"));
    let numbers: Vec<_> = (0..300).filter(|last| named(*last).is_some()).collect();
    assert_eq!(numbers, (35..=46).collect::<Vec<_>>());
    for (last, hashed) in (20..=31).zip(35..=46) {
        let oid = format!("2.16.840.1.101.3.4.3.{last}");
        let pure = Algorithm::ALL.iter().find(|algorithm| algorithm.oid() == oid).unwrap();
        let hashed = named(hashed).unwrap();
        assert!(hashed.starts_with(&format!("Hash{pure}-with-SHA")), "{pure} {hashed}");
    }
    for other in ["2.16.840.1.101.3.4.3.", "2.16.840.1.101.3.4.3.35.1", "1.2.35", ""] {
        assert_eq!(name_of_unsupported(other), None);
    }
    assert_eq!(name_of_unsupported("1.3.6.1.5.5.7.6.34"), None, "XMSS is supported");
}

#[test]
fn a_public_key_beside_the_private_one_must_fit() {
    for algorithm in FORMED {
        let public = key(algorithm).public_key();
        let inner = seed_choice(&seed(algorithm));
        let der = pkcs8(identifier(algorithm), &inner, Some(public.as_bytes()));
        assert_eq!(PrivateKey::from_pkcs8_der(&der).unwrap().public_key(), public);
        let mut other = public.as_bytes().to_vec();
        other[40] ^= 1;
        for other in [&other[..], &other[1..], &[]] {
            let der = pkcs8(identifier(algorithm), &inner, Some(other));
            assert_eq!(PrivateKey::from_pkcs8_der(&der).err(), Some(Error::PublicKeyMismatch));
        }
    }
}

#[test]
fn encrypted_keys_go_round_and_need_their_passphrase() {
    let mut ran = 0;
    for algorithm in [Algorithm::MlKem512, Algorithm::MlDsa44] {
        let key = key(algorithm);
        for encryption in [Encryption::Pbkdf2, Encryption::Scrypt] {
            for form in FORMS {
                let pem = key.to_encrypted_pkcs8_pem(form, b"correct horse", encryption).unwrap();
                assert!(pem.starts_with("-----BEGIN ENCRYPTED PRIVATE KEY-----\n"));
                let again = PrivateKey::from_encrypted_pkcs8_pem(&pem, b"correct horse").unwrap();
                assert_eq!(again.public_key(), key.public_key());
                assert_eq!(again.seed().is_some(), form != Form::Expanded);
                ran += 1;
            }
            let der = key.to_encrypted_pkcs8_der(Form::Seed, b"correct horse", encryption).unwrap();
            let pem = key.to_encrypted_pkcs8_pem(Form::Seed, b"correct horse", encryption).unwrap();
            for file in [&der[..], pem.as_bytes()] {
                let again = PrivateKey::read(file, Some(b"correct horse")).unwrap();
                assert_eq!(again.seed(), key.seed());
                assert_eq!(PrivateKey::read(file, None).err(), Some(Error::Encrypted));
                assert_eq!(PrivateKey::read(file, Some(b"wrong")).err(), Some(Error::WrongPassphrase));
                assert_eq!(PrivateKey::read(file, Some(b"")).err(), Some(Error::WrongPassphrase));
            }
            assert_eq!(PrivateKey::from_pkcs8_der(&der).err(), Some(Error::Encrypted));
            assert_eq!(PrivateKey::from_pkcs8_pem(&pem).err(), Some(Error::Encrypted));
            let mut bad = der.clone();
            *bad.last_mut().unwrap() ^= 1;
            let error = PrivateKey::from_encrypted_pkcs8_der(&bad, b"correct horse").err();
            assert_eq!(error, Some(Error::WrongPassphrase));
        }
        let empty = key.to_encrypted_pkcs8_der(Form::Seed, b"", Encryption::Pbkdf2);
        assert_eq!(empty.err(), Some(Error::EmptyPassphrase));
        let plain = key.to_pkcs8_der(Form::Seed).unwrap();
        assert_eq!(PrivateKey::from_encrypted_pkcs8_der(&plain, b"x").err(), Some(Error::Der));
    }
    assert_eq!(ran, 12);
}

/// A key file encrypted with chosen parameters; `None` for parameters under which nothing can be encrypted.
fn encrypted(kdf: pbes2::Kdf, encryption: pbes2::EncryptionScheme, encrypt: bool) -> Vec<u8> {
    let der = key(Algorithm::MlDsa44).to_pkcs8_der(Form::Seed).unwrap();
    let parameters = pbes2::Parameters { kdf, encryption };
    let data = if encrypt { parameters.encrypt("pass", &der).unwrap() } else { vec![0; 64] };
    let info = EncryptedPrivateKeyInfo {
        encryption_algorithm: parameters.into(),
        encrypted_data: OctetStringRef::new(&data).unwrap(),
    };
    info.to_der().unwrap()
}

fn pbkdf2(salt: &[u8], iteration_count: u32, prf: pbes2::Pbkdf2Prf) -> pbes2::Kdf {
    let salt = pbes2::Salt::new(salt).unwrap();
    pbes2::Kdf::Pbkdf2(pbes2::Pbkdf2Params { salt, iteration_count, key_length: None, prf })
}

fn scrypt(cost_parameter: u64, block_size: u16, parallelization: u16) -> pbes2::Kdf {
    let salt = pbes2::Salt::new([7; 8]).unwrap();
    pbes2::Kdf::Scrypt(pbes2::ScryptParams {
        salt,
        cost_parameter,
        block_size,
        parallelization,
        key_length: None,
    })
}

#[test]
fn what_others_encrypt_with_is_read() {
    use pbes2::{EncryptionScheme, Pbkdf2Prf};
    let aes256 = EncryptionScheme::Aes256Cbc { iv: [9; 16] };
    for file in [
        encrypted(pbkdf2(&[1; 8], 2048, Pbkdf2Prf::HmacWithSha256), aes256, true), // OpenSSL's defaults
        encrypted(pbkdf2(&[1; 16], 2048, Pbkdf2Prf::HmacWithSha512), aes256, true),
        encrypted(
            pbkdf2(&[1; 8], 1, Pbkdf2Prf::HmacWithSha384),
            EncryptionScheme::Aes128Cbc { iv: [9; 16] },
            true,
        ),
        encrypted(scrypt(1 << 10, 8, 1), aes256, true),
        encrypted(scrypt(2, 1, 1), EncryptionScheme::Aes128Cbc { iv: [9; 16] }, true),
    ] {
        assert!(PrivateKey::from_encrypted_pkcs8_der(&file, b"pass").is_ok());
        assert_eq!(PrivateKey::from_encrypted_pkcs8_der(&file, b"word").err(), Some(Error::WrongPassphrase));
    }
}

#[test]
fn encryption_that_is_old_senseless_or_an_attack_is_refused_at_once() {
    use pbes2::{EncryptionScheme, Pbkdf2Prf};
    let aes256 = EncryptionScheme::Aes256Cbc { iv: [9; 16] };
    let sha256 = Pbkdf2Prf::HmacWithSha256;
    for (file, error) in [
        (
            encrypted(pbkdf2(&[1; 8], 2048, Pbkdf2Prf::HmacWithSha1), aes256, false),
            Error::UnsupportedEncryption { name: "PBES2 with HMAC-SHA1".into() },
        ),
        (encrypted(pbkdf2(&[1; 8], 0, sha256), aes256, false), Error::Der),
        (encrypted(pbkdf2(&[1; 8], 20_000_001, sha256), aes256, false), Error::ExcessiveWork),
        (encrypted(pbkdf2(&[1; 8], 100_000_000, sha256), aes256, false), Error::ExcessiveWork),
        (encrypted(scrypt(0, 8, 1), aes256, false), Error::Der),
        (encrypted(scrypt(1, 8, 1), aes256, false), Error::Der),
        (encrypted(scrypt(3, 8, 1), aes256, false), Error::Der),
        (encrypted(scrypt(1024, 0, 1), aes256, false), Error::Der),
        (encrypted(scrypt(1024, 8, 0), aes256, false), Error::Der),
        (encrypted(scrypt(1 << 21, 8, 1), aes256, false), Error::ExcessiveWork),
        (encrypted(scrypt(1 << 63, 65535, 65535), aes256, false), Error::ExcessiveWork),
        (encrypted(scrypt(1 << 14, 8, 65535), aes256, false), Error::ExcessiveWork),
        // Cheap to mix, and gigabytes of what is to be mixed.
        (encrypted(scrypt(2, 256, 65535), aes256, false), Error::ExcessiveWork),
        (encrypted(scrypt(2, 65535, 256), aes256, false), Error::ExcessiveWork),
    ] {
        let start = std::time::Instant::now();
        assert_eq!(PrivateKey::from_encrypted_pkcs8_der(&file, b"pass").err(), Some(error));
        assert!(start.elapsed().as_secs() < 2);
    }
    // PBES2 with a cipher that has no such number, and PBES1 with MD5 and DES.
    let known = encrypted(pbkdf2(&[1; 8], 2048, sha256), aes256, true);
    let aes_oid = [0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x01, 0x2a];
    let at = known.windows(9).position(|window| window == aes_oid).unwrap();
    let mut unknown = known;
    unknown[at + 8] = 0x7f;
    let error = PrivateKey::from_encrypted_pkcs8_der(&unknown, b"pass").err();
    let name = "2.16.840.1.101.3.4.1.127".to_owned();
    assert_eq!(error, Some(Error::UnsupportedEncryption { name }));
    let pbes1 = [
        0x30, 0x24, 0x30, 0x1a, 0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x05, 0x03, 0x30, 0x0d,
        0x04, 0x08, 1, 2, 3, 4, 5, 6, 7, 8, 0x02, 0x01, 0x10, 0x04, 0x06, 1, 2, 3, 4, 5, 6,
    ];
    let error = PrivateKey::from_encrypted_pkcs8_der(&pbes1, b"pass").err();
    let name = "PBES1 (pbeWithMD5AndDES-CBC)".to_owned();
    assert_eq!(error, Some(Error::UnsupportedEncryption { name }));
}

#[test]
fn pem_of_something_else_is_named() {
    let key = key(Algorithm::MlDsa44);
    let (private, public) = (key.to_pkcs8_pem(Form::Seed).unwrap(), key.public_key().to_spki_pem());
    let label = |expected, found: &str| Error::Label { expected, found: found.into() };
    assert_eq!(PrivateKey::from_pkcs8_pem(&public).err(), Some(label("PRIVATE KEY", "PUBLIC KEY")));
    assert_eq!(PrivateKey::read(public.as_bytes(), None).err(), Some(label("PRIVATE KEY", "PUBLIC KEY")));
    assert_eq!(PublicKey::from_spki_pem(&private), Err(label("PUBLIC KEY", "PRIVATE KEY")));
    assert_eq!(
        PrivateKey::from_encrypted_pkcs8_pem(&private, b"x").err(),
        Some(label("ENCRYPTED PRIVATE KEY", "PRIVATE KEY"))
    );
    let rsa = public.replace("PUBLIC KEY", "RSA PUBLIC KEY");
    assert_eq!(PublicKey::from_spki_pem(&rsa), Err(label("PUBLIC KEY", "RSA PUBLIC KEY")));

    let cut = &public[..public.len() / 2];
    let star = public.replacen('A', "*", 1);
    let damaged = |what| Error::PemBlock { label: "PUBLIC KEY", what };
    for (text, error) in [
        ("", Error::Pem),
        ("hello", Error::Pem),
        ("-----BEGIN PUBLIC KEY-----", damaged("has no END line")),
        (cut, damaged("has no END line")),
        (&star, damaged("is not base64")),
        ("-----BEGIN PUBLIC KEY-----\n\n-----END PUBLIC KEY-----\n", damaged("is empty")),
    ] {
        assert_eq!(PublicKey::from_spki_pem(text), Err(error), "{text}");
        assert!(PrivateKey::from_pkcs8_pem(text).is_err());
    }
    assert_eq!(PublicKey::read(&[0xff, 0xfe]), Err(Error::Pem));
    assert_eq!(PublicKey::read(b"\x30"), Err(Error::Der));
}

#[test]
fn nothing_that_is_cut_or_changed_makes_a_panic() {
    for algorithm in [Algorithm::MlKem512, Algorithm::MlDsa44] {
        let key = key(algorithm);
        let der = key.to_pkcs8_der(Form::Seed).unwrap();
        for len in 0..der.len() {
            assert_eq!(PrivateKey::from_pkcs8_der(&der[..len]).err(), Some(Error::Der), "cut at {len}");
        }
        assert_eq!(PrivateKey::from_pkcs8_der(&[&der[..], &[0]].concat()).err(), Some(Error::Der));
        for at in 0..der.len() {
            for value in [0, 1, 0x7f, 0x80, 0xff, der[at] ^ 1, der[at] ^ 0x20] {
                let mut bad = der.to_vec();
                bad[at] = value;
                let _ = PrivateKey::from_pkcs8_der(&bad);
                let _ = PrivateKey::read(&bad, Some(b"x"));
            }
        }
        let spki = key.public_key().to_spki_der();
        for len in 0..spki.len() {
            assert_eq!(PublicKey::from_spki_der(&spki[..len]), Err(Error::Der), "cut at {len}");
        }
        for at in 0..30 {
            for value in 0..=255 {
                let mut bad = spki.clone();
                bad[at] = value;
                let _ = PublicKey::from_spki_der(&bad);
            }
        }
        let file = encrypted(scrypt(2, 1, 1), pbes2::EncryptionScheme::Aes256Cbc { iv: [9; 16] }, true);
        for at in 0..file.len() {
            for value in [0, 1, 2, 3, 0x7f, 0x80, 0xff, file[at] ^ 1] {
                let mut bad = file.clone();
                bad[at] = value;
                let _ = PrivateKey::from_encrypted_pkcs8_der(&bad, b"pass");
            }
        }
    }
}

#[test]
fn a_public_key_is_not_taken_for_an_encrypted_one() {
    let public = key(Algorithm::MlKem768).public_key();
    assert_eq!(PrivateKey::from_pkcs8_der(&public.to_spki_der()).err(), Some(Error::Der));
    assert_eq!(PrivateKey::read(&public.to_spki_der(), Some(b"pass")).err(), Some(Error::Der));
}

#[test]
fn debug_shows_no_secret_and_errors_speak() {
    let key = key(Algorithm::MlKem768);
    assert_eq!(format!("{key:?}"), "PrivateKey(ML-KEM-768, [redacted])");
    assert_eq!(format!("{:?}", key.public_key()), "PublicKey(ML-KEM-768)");
    for error in [
        Error::Pem,
        Error::PemBlock { label: "PUBLIC KEY", what: "is not base64" },
        Error::Label { expected: "PUBLIC KEY", found: "CERTIFICATE".into() },
        Error::Der,
        Error::Algorithm { oid: "1.2.3".into() },
        Error::Parameters,
        Error::PrivateKey,
        Error::SeedLength { expected: 64, actual: 3 },
        Error::SeedMismatch,
        Error::PublicKeyMismatch,
        Error::DecapsulationKey(DecapsulationKeyError::Hash),
        Error::SigningKey(SigningKeyError::Mismatch),
        Error::EncapsulationKey(EncapsulationKeyError::Modulus),
        Error::VerifyingKeyLength { expected: 1312, actual: 3 },
        Error::NoSeed,
        Error::OneForm,
        Error::CurveKey,
        Error::NotASigningKey,
        Error::Encrypted,
        Error::EmptyPassphrase,
        Error::WrongPassphrase,
        Error::UnsupportedEncryption { name: "PBES1".into() },
        Error::Several { objects: "keys", count: 3 },
        Error::AnotherFile { expected: "private key", found: "a certificate" },
        Error::Malformed { object: "certificate", field: "issuer" },
        Error::Numbered { object: "certificate", number: 2, error: Box::new(Error::Der) },
        Error::ExcessiveWork,
        Error::Random(gambeson::RngError),
    ] {
        assert!(!error.to_string().is_empty());
        let _ = std::error::Error::source(&error);
    }
}
