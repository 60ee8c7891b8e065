//! SLH-DSA: off in every preset, and enabled by name for handshakes and chains.

use std::sync::Arc;

use crate::loopback::{Chain, connect, der, preset};
use crate::refusals::{server_of, spoilt_key};
use gambeson_pki::{Algorithm, PrivateKey, Template};
use gambeson_rustls::{
    Builder, ChainTooLong, ChainVerifier, KeyVerifier, Preset, Roots, Scheme, SchemeError, certified_chain,
    client_with_raw_keys, explain, server_with_raw_keys,
};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::CertificateDer;
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use rustls::{
    AlertDescription, CertificateError, ClientConfig, Error, OtherError, PeerIncompatible, ServerConfig,
};

const SETS: [(Algorithm, u16); 12] = [
    (Algorithm::SlhDsaSha2_128s, 0x0911),
    (Algorithm::SlhDsaSha2_128f, 0x0912),
    (Algorithm::SlhDsaSha2_192s, 0x0913),
    (Algorithm::SlhDsaSha2_192f, 0x0914),
    (Algorithm::SlhDsaSha2_256s, 0x0915),
    (Algorithm::SlhDsaSha2_256f, 0x0916),
    (Algorithm::SlhDsaShake128s, 0x0917),
    (Algorithm::SlhDsaShake128f, 0x0918),
    (Algorithm::SlhDsaShake192s, 0x0919),
    (Algorithm::SlhDsaShake192f, 0x091a),
    (Algorithm::SlhDsaShake256s, 0x091b),
    (Algorithm::SlhDsaShake256f, 0x091c),
];

fn enabled() -> Arc<CryptoProvider> {
    Arc::new(Builder::new(Preset::Default).slh_dsa().build().expect("a processor of the tests"))
}

fn schemes(provider: &CryptoProvider) -> Vec<u16> {
    provider.signature_verification_algorithms.supported_schemes().into_iter().map(u16::from).collect()
}

/// A server with a key of `leaf` below an authority with a key of `root`.
fn mixed(root: Algorithm, leaf: Algorithm) -> Chain {
    let issuer = PrivateKey::generate(root).expect("randomness");
    let name = "CN=Root".parse().expect("a name");
    let root = Template::authority(name).path_length(0).self_signed(&issuer).expect("a certificate");
    let key = PrivateKey::generate(leaf).expect("randomness");
    let template = Template::new("CN=Server".parse().expect("a name"))
        .alt_name(crate::loopback::NAME.parse().expect("a name"));
    let sent = template.issue(&key.public_key(), &root, &issuer).expect("a certificate");
    Chain { root, sent: vec![sent], key }
}

#[test]
fn no_preset_has_it_and_the_builder_adds_all_numbers_of_the_draft_as_the_least_wanted() {
    let numbers = SETS.map(|(_, number)| number);
    for which in Preset::ALL.iter().copied() {
        let without = preset(which);
        assert!(schemes(&without).iter().all(|number| !numbers.contains(number)), "{which}");
        let with = Builder::new(which).slh_dsa().slh_dsa().build().expect("a processor of the tests");
        assert_eq!(schemes(&with), [schemes(&without), numbers.to_vec()].concat(), "{which}");
    }
}

#[test]
fn every_parameter_set_signs_a_handshake_under_its_number() {
    let mut ran = 0;
    for (algorithm, number) in SETS {
        let scheme = Scheme::slh_dsa(algorithm).expect("a parameter set");
        assert_eq!((scheme.number(), scheme.algorithm()), (number, algorithm));
        let key = PrivateKey::generate(algorithm).expect("randomness");
        let known = key.public_key().to_spki_der();
        let provider = Builder::new(Preset::FullyHybrid).scheme(scheme).build();
        let provider = Arc::new(provider.expect("a processor of the tests"));
        let key = scheme.signing_key(key).expect("a key of this scheme");
        let server = server_with_raw_keys(provider.clone(), key, None).expect("a server");
        let servers = KeyVerifier::one_of(&provider, [known]);
        let client = client_with_raw_keys(provider, None, servers).expect("a client");
        connect(client, server).unwrap_or_else(|failure| panic!("{algorithm}: {failure:?}"));
        ran += 1;
    }
    assert_eq!(ran, 12);
}

#[test]
fn chains_with_its_certificates_are_verified() {
    for (root, leaf) in [
        (Algorithm::SlhDsaSha2_128f, Algorithm::SlhDsaSha2_128f),
        (Algorithm::SlhDsaShake128f, Algorithm::SlhDsaSha2_192s),
        (Algorithm::SlhDsaSha2_256s, Algorithm::SlhDsaSha2_256s),
        (Algorithm::SlhDsaSha2_192f, Algorithm::MlDsa65),
        (Algorithm::MlDsa65, Algorithm::SlhDsaSha2_256f),
    ] {
        let (chain, provider) = (mixed(root, leaf), enabled());
        let key = certified_chain(chain.certificates(), chain.key(), &provider).expect("a chain");
        connect(chain.client(&provider), server_of(key))
            .unwrap_or_else(|failure| panic!("{leaf} below {root}: {failure:?}"));
    }
}

/// Verifies chains to the root of `chain`, and ignores certificates that it cannot read.
fn verifier(chain: &Chain, provider: &CryptoProvider) -> Arc<ChainVerifier> {
    let roots = Roots::of_certificates([CertificateDer::from(chain.root.as_der().to_vec())]).expect("a root");
    Arc::new(ChainVerifier::new(roots, provider))
}

#[test]
fn clients_show_its_certificates() {
    let (chain, provider) = (Chain::new(Algorithm::SlhDsaSha2_128f, 3), enabled());
    let key = || certified_chain(chain.certificates(), chain.key(), &provider).expect("a chain");
    let server = ServerConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_client_cert_verifier(verifier(&chain, &provider))
        .with_cert_resolver(Arc::new(SingleCertAndKey::from(key())));
    let client = ClientConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_root_certificates(chain.roots())
        .with_client_cert_resolver(Arc::new(SingleCertAndKey::from(key())));
    let (client, server) = connect(client, server).expect("both have certificates");
    for shown in [client.peer_certificates(), server.peer_certificates()] {
        assert_eq!(shown.map(<[_]>::len), Some(2));
    }
}

/// draft-reddy-tls-slhdsa: its schemes must not be used there.
#[test]
fn it_is_not_used_in_tls_1_2() {
    let (chain, provider) = (Chain::new(Algorithm::SlhDsaSha2_128f, 2), enabled());
    let old = ServerConfig::builder_with_provider(provider.clone())
        .with_protocol_versions(&[&rustls::version::TLS12])
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(chain.certificates(), chain.key())
        .expect("a key");
    assert!(connect(chain.client(&provider), old).is_err());
}

#[test]
fn a_side_on_which_it_is_off_refuses_keys_handshakes_and_chains() {
    let key = der(&PrivateKey::generate(Algorithm::SlhDsaSha2_128f).expect("randomness"));
    let error = preset(Preset::Default).key_provider.load_private_key(key).expect_err("it is off");
    let why = "this provider has no signature scheme for keys of SLH-DSA-SHA2-128f";
    assert_eq!(error, Error::General(why.into()));

    let chain = Chain::new(Algorithm::SlhDsaSha2_128f, 2);
    let failure =
        connect(chain.client(&preset(Preset::Default)), chain.server(&enabled())).expect_err("it is off");
    assert_eq!(failure.server, Some(Error::PeerIncompatible(PeerIncompatible::NoSignatureSchemesInCommon)));
    assert_eq!(failure.client, Some(Error::AlertReceived(AlertDescription::HandshakeFailure)));

    let chain = mixed(Algorithm::SlhDsaSha2_128f, Algorithm::MlDsa65);
    let failure =
        connect(chain.client(&preset(Preset::Default)), chain.server(&enabled())).expect_err("it is off");
    assert!(
        matches!(
            failure.client,
            Some(Error::InvalidCertificate(CertificateError::UnsupportedSignatureAlgorithmContext { .. }))
        ),
        "{failure:?}"
    );
}

#[test]
fn a_wrong_signature_of_the_handshake_or_of_the_certificate_is_refused() {
    let (chain, provider) = (Chain::new(Algorithm::SlhDsaSha2_128f, 2), enabled());
    let changes: [fn(&mut Vec<u8>); 4] = [
        |signature| signature[0] ^= 1,
        |signature| signature[17_087] ^= 0x80,
        |signature| signature.truncate(17_087),
        |signature| signature.push(0),
    ];
    for change in changes {
        let key = provider.key_provider.load_private_key(chain.key()).expect("a key");
        let key = CertifiedKey::new(chain.certificates(), spoilt_key(key, change));
        let failure = connect(chain.client(&provider), server_of(key.into())).expect_err("a wrong signature");
        assert_eq!(failure.client, Some(Error::InvalidCertificate(CertificateError::BadSignature)));
        assert_eq!(failure.server, Some(Error::AlertReceived(AlertDescription::DecryptError)));
    }
    let mut certificate = chain.sent[0].as_der().to_vec();
    *certificate.last_mut().expect("bytes") ^= 1;
    let key = provider.key_provider.load_private_key(chain.key()).expect("a key");
    let server = server_of(CertifiedKey::new(vec![CertificateDer::from(certificate)], key).into());
    let failure = connect(chain.client(&provider), server).expect_err("a wrong signature");
    assert_eq!(failure.client, Some(Error::InvalidCertificate(CertificateError::BadSignature)));
}

#[test]
fn its_numbers_are_refused_to_composites_and_other_algorithms_have_none_of_them() {
    for (_, number) in SETS {
        let composite = Scheme::composite(Algorithm::MlDsa65Ed25519, number);
        assert_eq!(composite, Err(SchemeError::Taken { number }));
    }
    for algorithm in [Algorithm::MlDsa65, Algorithm::MlDsa87Ed448, Algorithm::Hss, Algorithm::MlKem768] {
        assert_eq!(Scheme::slh_dsa(algorithm), Err(SchemeError::NotSlhDsa { algorithm }));
    }
}

/// A client that ignores certificates that it cannot read.
fn lenient(chain: &Chain, provider: &Arc<CryptoProvider>) -> ClientConfig {
    ClientConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .expect("versions")
        .dangerous()
        .with_custom_certificate_verifier(verifier(chain, provider))
        .with_no_client_auth()
}

/// The chain with a second certificate, so that Certificate and CertificateVerify have `bytes` bytes with a key of 128f.
fn padded(chain: &Chain, bytes: usize) -> Vec<CertificateDer<'static>> {
    let own = chain.sent[0].as_der().len();
    let padding = bytes - (4 + 1 + 3) - 2 * (3 + 2) - own - (4 + 2 + 2 + 17_088);
    [chain.certificates(), vec![CertificateDer::from(vec![0; padding])]].concat()
}

#[test]
fn a_chain_that_rustls_cannot_receive_is_refused_when_it_is_configured() {
    const MOST: usize = 0xffff - 2048;
    let provider = enabled();
    let too_long = |error: &Error| match error {
        Error::Other(OtherError(inner)) => inner.downcast_ref::<ChainTooLong>().copied(),
        _ => None,
    };
    for (algorithm, signature) in [(Algorithm::SlhDsaSha2_192f, 35_664), (Algorithm::SlhDsaShake256f, 49_856)]
    {
        let chain = Chain::new(algorithm, 2);
        let error =
            certified_chain(chain.certificates(), chain.key(), &provider).expect_err("it is too long");
        let bytes = 8 + 5 + chain.sent[0].as_der().len() + 8 + signature;
        assert_eq!(too_long(&error), Some(ChainTooLong { bytes }), "{algorithm}");
        let why =
            format!("take {bytes} bytes of a handshake, where rustls receives at most {MOST}: use fewer");
        assert!(explain(&error).contains(&why), "{}", explain(&error));
        let failure = connect(chain.client(&provider), chain.server(&provider)).expect_err("it is too long");
        assert_eq!(failure.client, Some(Error::General("message buffer full".into())));
    }
    let chain = Chain::new(Algorithm::SlhDsaSha2_128f, 2);
    let key = certified_chain(padded(&chain, MOST), chain.key(), &provider).expect("it fits");
    connect(lenient(&chain, &provider), server_of(key)).expect("it fits");
    let error =
        certified_chain(padded(&chain, MOST + 1), chain.key(), &provider).expect_err("it is too long");
    assert_eq!(too_long(&error), Some(ChainTooLong { bytes: MOST + 1 }));
    // All that rustls buffers, which leaves 134 bytes for the other messages.
    for (bytes, passes) in [(0xffff - 134, true), (0xffff - 133, false)] {
        let key = provider.key_provider.load_private_key(chain.key()).expect("a key");
        let server = server_of(CertifiedKey::new(padded(&chain, bytes), key).into());
        assert_eq!(connect(lenient(&chain, &provider), server).is_ok(), passes, "{bytes}");
    }
}
