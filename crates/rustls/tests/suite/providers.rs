//! Presets and builders: what is in them, what they load, and on which processors.

use std::ptr;

use crate::loopback::{Chain, SIGNATURES, connect, der, everything, preset};
use gambeson_pki::{Algorithm, Form, PrivateKey};
use gambeson_rustls::{Builder, GROUPS, Group, P256, P384, Preset, Scheme, SchemeError, UnknownPreset};
#[cfg(all(target_arch = "x86_64", debug_assertions))]
use gambeson_rustls::{UnsupportedProcessor, base};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::{Error, SignatureAlgorithm, SignatureScheme};

fn groups(provider: &CryptoProvider) -> Vec<u16> {
    provider.kx_groups.iter().map(|group| u16::from(group.name())).collect()
}

fn schemes(provider: &CryptoProvider) -> Vec<u16> {
    let algorithms = provider.signature_verification_algorithms;
    algorithms.supported_schemes().into_iter().map(u16::from).collect()
}

fn suites(provider: &CryptoProvider) -> Vec<u16> {
    provider.cipher_suites.iter().map(|suite| u16::from(suite.suite())).collect()
}

/// C2SP/CCTV, `ed25519`, vectors 1, 3 and 5: public keys and first halves of low order, for which the equation holds.
#[test]
fn signatures_of_ed25519_with_points_of_low_order_are_refused_as_in_certificates() {
    let provider = preset(Preset::Default).signature_verification_algorithms;
    let (_, mapped) =
        provider.mapping.iter().find(|(scheme, _)| *scheme == SignatureScheme::ED25519).unwrap();
    let all = provider.all.iter().filter(|it| it.signature_alg_id() == rustls::pki_types::alg_id::ED25519);
    let algorithms: Vec<_> = all.chain(mapped.iter()).collect();
    assert_eq!(algorithms.len(), 2);
    let zero = "00".repeat(32);
    let mixed = "10eb7c3acfb2bed3e0d6ab89bf5a3d6afddd1176ce4812e38d9fd485058fdb1f";
    for (key, signature, message) in [
        (&*zero, format!("{zero}{zero}"), "ed25519vectors 11"),
        (&zero, "36684ea91032ba5b1dbab2d02f4debc74c3327f2b3802e2e4d371aa42b12b56b05ba9a796274d80437afa36f1236563f2f3b0aa84cecddc3d20914615ba4fe02".into(), "ed25519vectors 3"),
        (mixed, format!("{zero}9472a69cd9a701a50d130ed52189e2455b23767db52cacb8716fb896ffeeac09"), "ed25519vectors 3"),
    ] {
        let hex = |text: &str| -> Vec<u8> {
            let digits = |at: usize| u8::from_str_radix(&text[2 * at..2 * at + 2], 16).unwrap();
            (0..text.len() / 2).map(digits).collect()
        };
        for algorithm in &algorithms {
            let verified = algorithm.verify_signature(&hex(key), message.as_bytes(), &hex(&signature));
            assert!(verified.is_err(), "{message}: {algorithm:?}");
        }
        let key = gambeson_pki::PublicKey::from_bytes(Algorithm::Ed25519, &hex(key)).unwrap();
        assert!(key.verify(message.as_bytes(), &hex(&signature)).is_err());
    }
}

#[test]
fn presets_hold_what_their_names_say() {
    let default = preset(Preset::Default);
    assert_eq!(groups(&default), [0x11ec, 0x11eb, 0x11ed, 0x001d, 0x0017, 0x0018]);
    let offered = schemes(&default);
    assert_eq!(offered[..3], [0x0905, 0x0906, 0x0904]);
    assert_eq!(*offered.last().unwrap(), 0x0808);
    for classical in [0x0403, 0x0503, 0x0807, 0x0804, 0x0805, 0x0806] {
        assert!(offered.contains(&classical), "{classical:#06x}");
    }
    assert!(!offered.contains(&0xfe12), "private numbers are off");
    assert_eq!(default.cipher_suites.len(), 9);

    let cnsa2 = preset(Preset::Cnsa2);
    assert_eq!((groups(&cnsa2), schemes(&cnsa2)), (vec![0x11ed, 0x0202], vec![0x0906]));
    assert_eq!(suites(&cnsa2), [0x1302]);
    assert_eq!(cnsa2.signature_verification_algorithms.all.len(), 1);

    let hybrid = preset(Preset::FullyHybrid);
    assert_eq!((groups(&hybrid), schemes(&hybrid)), (vec![0xfe48], vec![0xfe12]));
    assert_eq!(hybrid.signature_verification_algorithms.all.len(), 7, "the composites");

    let classical = preset(Preset::Classical448);
    assert_eq!((groups(&classical), schemes(&classical)), (vec![0x001e], vec![0x0808]));
    assert_eq!(suites(&classical), suites(&hybrid), "so that they can be compared");
    assert_eq!(classical.signature_verification_algorithms.all.len(), 1);
}

#[test]
fn names_of_presets_and_groups_are_found() {
    for preset in Preset::ALL.iter().copied() {
        assert_eq!(preset.to_string().parse(), Ok(preset));
    }
    assert_eq!("strong".parse::<Preset>(), Err(UnknownPreset));
    assert_eq!(
        UnknownPreset.to_string(),
        "unknown preset; there are default cnsa2 fully-hybrid classical-448"
    );
    for group in GROUPS.iter().copied() {
        assert_eq!(Group::by_name(&group.to_string().to_uppercase()), Some(group));
        assert_eq!(Group::by_number(group.number()), Some(group));
    }
    assert_eq!(Group::by_name("secp256r1"), Some(&P256));
    assert_eq!(Group::by_name("prime256v1"), Some(&P256));
    assert_eq!(Group::by_name("secp384r1"), Some(&P384));
    assert_eq!((Group::by_name("X25519Kyber768"), Group::by_number(0x6399)), (None, None));
}

#[test]
fn a_number_that_rustls_would_drop_is_refused() {
    let composite = |number| Scheme::composite(Algorithm::MlDsa87Ed448, number);
    for number in [0xfe00, 0xfe01, 0xfe02, 0x0003, 0x0103, 0x0277, 0x03ff] {
        assert_eq!(composite(number), Err(SchemeError::NeverNegotiated { number }));
    }
    for number in [
        0x0403, 0x0804, 0x0807, 0x0808, 0x0904, 0x0905, 0x0906, 0x081a, 0x0911, 0x0912, 0x091c, 0x0420,
        0x0520, 0x0620, 0x0704, 0x0708, 0x070f,
    ] {
        assert_eq!(composite(number), Err(SchemeError::Taken { number }));
    }
    for number in [0xfe03, 0xfe12, 0xffff, 0x0413, 0x0910, 0x091d, 0x0703, 0x0710, 0x0421] {
        assert_eq!(composite(number).map(Scheme::number), Ok(number));
    }
    for algorithm in [Algorithm::MlDsa65, Algorithm::Ed448, Algorithm::MlKem768X25519, Algorithm::EcdsaP256] {
        assert_eq!(Scheme::composite(algorithm, 0xfe12), Err(SchemeError::NotComposite { algorithm }));
    }
}

#[test]
fn the_numbers_that_pass_are_negotiated() {
    let chain = Chain::new(Algorithm::MlDsa87Ed448, 2);
    for number in [0xfe03, 0x0413, 0x0910, 0xffff] {
        let scheme = Scheme::composite(Algorithm::MlDsa87Ed448, number).unwrap();
        let provider = Builder::new(Preset::FullyHybrid).scheme(scheme).build().unwrap();
        assert_eq!(schemes(&provider), [number], "in place of the usual number");
        let provider = provider.into();
        connect(chain.client(&provider), chain.server(&provider)).unwrap();
    }
}

#[test]
fn a_scheme_takes_the_place_of_one_with_its_number() {
    let scheme = Scheme::composite(Algorithm::MlDsa65Ed25519, 0xfe12).unwrap();
    let provider = Builder::new(Preset::FullyHybrid).scheme(scheme).build().unwrap();
    assert_eq!(schemes(&provider), [0xfe12]);
    let key = |algorithm| der(&PrivateKey::generate(algorithm).unwrap());
    assert!(provider.key_provider.load_private_key(key(Algorithm::MlDsa65Ed25519)).is_ok());
    assert!(provider.key_provider.load_private_key(key(Algorithm::MlDsa87Ed448)).is_err());
}

#[test]
fn the_same_provider_made_twice_refers_to_the_same_tables() {
    let make = || Builder::new(Preset::Default).scheme(Scheme::MLDSA87_ED448).build().unwrap();
    let (one, other) = (make(), make());
    let (one, other) = (one.signature_verification_algorithms, other.signature_verification_algorithms);
    assert!(ptr::eq(one.all, other.all) && ptr::eq(one.mapping, other.mapping));
    assert!(!ptr::eq(one.all, preset(Preset::Default).signature_verification_algorithms.all));
}

#[test]
fn private_keys_are_loaded_in_every_form() {
    let provider = everything();
    for (algorithm, number) in SIGNATURES {
        let key = PrivateKey::generate(algorithm).unwrap();
        let forms =
            if algorithm.has_forms() { &[Form::Seed, Form::Expanded, Form::Both][..] } else { &[Form::Seed] };
        for form in forms {
            let file = PrivatePkcs8KeyDer::from(key.to_pkcs8_der(*form).unwrap().to_vec());
            let loaded = provider.key_provider.load_private_key(file.into()).unwrap();
            assert_eq!(loaded.public_key().unwrap().as_ref(), key.public_key().to_spki_der(), "{algorithm}");
            let scheme = SignatureScheme::from(number);
            let signer = loaded.choose_scheme(&[SignatureScheme::RSA_PSS_SHA256, scheme]).unwrap();
            assert_eq!(signer.scheme(), scheme);
            let signature = signer.sign(b"message").unwrap();
            key.public_key().verify(b"message", &signature).unwrap();
            assert!(loaded.choose_scheme(&[SignatureScheme::RSA_PSS_SHA256]).is_none());
        }
    }
}

#[test]
fn a_key_of_tls_1_2_is_of_a_classical_algorithm() {
    let load = |algorithm| {
        everything().key_provider.load_private_key(der(&PrivateKey::generate(algorithm).unwrap())).unwrap()
    };
    assert_eq!(load(Algorithm::EcdsaP256).algorithm(), SignatureAlgorithm::ECDSA);
    assert_eq!(load(Algorithm::EcdsaP384).algorithm(), SignatureAlgorithm::ECDSA);
    assert_eq!(load(Algorithm::Ed25519).algorithm(), SignatureAlgorithm::ED25519);
    assert_eq!(load(Algorithm::Ed448).algorithm(), SignatureAlgorithm::ED448);
    assert_eq!(load(Algorithm::MlDsa65).algorithm(), SignatureAlgorithm::Unknown(0));
}

#[test]
fn keys_without_a_scheme_are_refused_with_the_reason() {
    let refusal = |preset: Preset, algorithm| {
        let provider = preset.provider().unwrap();
        let key = der(&PrivateKey::generate(algorithm).unwrap());
        match provider.key_provider.load_private_key(key) {
            Err(Error::General(why)) => why,
            other => panic!("{algorithm} in {preset}: {other:?}"),
        }
    };
    assert_eq!(refusal(Preset::Default, Algorithm::MlKem768), "a key of ML-KEM-768 does not sign");
    let none = |algorithm| format!("this provider has no signature scheme for keys of {algorithm}");
    for (preset, algorithm) in [
        (Preset::Default, Algorithm::MlDsa87Ed448),
        (Preset::Cnsa2, Algorithm::MlDsa65),
        (Preset::Cnsa2, Algorithm::EcdsaP384),
        (Preset::FullyHybrid, Algorithm::MlDsa87),
        (Preset::FullyHybrid, Algorithm::Ed25519),
        (Preset::Classical448, Algorithm::MlDsa87Ed448),
    ] {
        assert_eq!(refusal(preset, algorithm), none(algorithm));
    }
    let broken = PrivatePkcs8KeyDer::from(vec![0x30, 0x03, 0x02, 0x01, 0x00]);
    let error = preset(Preset::Default).key_provider.load_private_key(broken.into()).unwrap_err();
    assert!(matches!(error, Error::General(_)));
}

/// A processor without AVX2, as graviola's debug builds let it be played: in a process of its own, because it is asked once.
#[test]
#[cfg(all(target_arch = "x86_64", debug_assertions))]
fn a_processor_without_avx2_has_ring_or_is_refused_without_a_panic() {
    const LESSER: &str = "GRAVIOLA_CPU_DISABLE_avx2";
    if std::env::var_os(LESSER).is_some() {
        on_a_lesser_processor();
        println!("was on a lesser processor");
        return;
    }
    let name = "providers::a_processor_without_avx2_has_ring_or_is_refused_without_a_panic";
    let output = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", name, "--nocapture"])
        .env(LESSER, "1")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains("was on a lesser processor"), "{text}");
}

#[cfg(all(target_arch = "x86_64", debug_assertions))]
fn on_a_lesser_processor() {
    if cfg!(feature = "ring") {
        assert_eq!(base(), Ok("ring"));
        for (algorithm, _) in SIGNATURES {
            let (chain, provider) = (Chain::new(algorithm, 2), everything());
            connect(chain.client(&provider), chain.server(&provider)).unwrap();
        }
        for group in GROUPS {
            let client = rustls::crypto::SupportedKxGroup::start(*group).unwrap();
            let server =
                rustls::crypto::SupportedKxGroup::start_and_complete(*group, client.pub_key()).unwrap();
            let secret = client.complete(&server.pub_key).unwrap();
            assert_eq!(secret.secret_bytes(), server.secret.secret_bytes(), "{group}");
        }
    } else {
        assert_eq!(base(), Err(UnsupportedProcessor));
        for preset in Preset::ALL.iter().copied() {
            assert_eq!(preset.provider().err(), Some(UnsupportedProcessor));
        }
        let refused = rustls::crypto::SupportedKxGroup::start(GROUPS[0]).err();
        assert_eq!(refused, Some(UnsupportedProcessor.into()));
    }
}
