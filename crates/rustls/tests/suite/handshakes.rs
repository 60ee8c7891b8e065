//! Handshakes that succeed: groups, schemes, chains, presets.

use std::io::{Read, Write};
use std::sync::Arc;

use crate::loopback::{Chain, SIGNATURES, connect, everything, group_of, preset};
use gambeson_pki::Algorithm;
use gambeson_rustls::{
    Builder, GROUPS, P256, Preset, SECP384R1_MLKEM1024, X448_MLKEM1024, X25519, X25519_MLKEM768,
};
use rustls::server::WebPkiClientVerifier;
use rustls::{ClientConfig, HandshakeKind, ProtocolVersion, ServerConfig};

#[test]
fn every_group_serves_with_every_scheme() {
    let mut ran = 0;
    for (algorithm, number) in SIGNATURES {
        let chain = Chain::new(algorithm, 2);
        let server = chain.server(&everything());
        for group in GROUPS {
            let mut provider = everything().as_ref().clone();
            provider.kx_groups = vec![*group];
            // A client that takes this scheme alone.
            let verifier = provider.signature_verification_algorithms;
            let only = verifier.mapping.iter().filter(|(scheme, _)| u16::from(*scheme) == number);
            provider.signature_verification_algorithms.mapping = Vec::leak(only.copied().collect());
            let pair = connect(chain.client(&Arc::new(provider)), server.clone())
                .unwrap_or_else(|failure| panic!("{algorithm} over {group}: {failure:?}"));
            assert_eq!(group_of(&pair), group.number());
            assert_eq!(pair.0.protocol_version(), Some(ProtocolVersion::TLSv1_3));
            ran += 1;
        }
    }
    assert_eq!(ran, 14 * 12, "every pair ran");
}

#[test]
fn chains_of_two_three_and_four_levels_are_verified_on_both_sides() {
    let mut ran = 0;
    for algorithm in [Algorithm::MlDsa65, Algorithm::MlDsa87Ed448, Algorithm::Ed448, Algorithm::EcdsaP256] {
        for levels in 2..=4 {
            let (chain, provider) = (Chain::new(algorithm, levels), everything());
            let verifier =
                WebPkiClientVerifier::builder_with_provider(Arc::new(chain.roots()), provider.clone())
                    .build()
                    .unwrap();
            let server = ServerConfig::builder_with_provider(provider.clone())
                .with_safe_default_protocol_versions()
                .unwrap()
                .with_client_cert_verifier(verifier)
                .with_single_cert(chain.certificates(), chain.key())
                .unwrap();
            let client = ClientConfig::builder_with_provider(provider)
                .with_safe_default_protocol_versions()
                .unwrap()
                .with_root_certificates(chain.roots())
                .with_client_auth_cert(chain.certificates(), chain.key())
                .unwrap();
            let pair = connect(client, server).unwrap();
            assert_eq!(pair.0.peer_certificates().unwrap().len(), usize::from(levels) - 1);
            assert_eq!(pair.1.peer_certificates().unwrap().len(), usize::from(levels) - 1);
            ran += 1;
        }
    }
    assert_eq!(ran, 12);
}

#[test]
fn both_sides_of_each_preset_meet_in_its_first_group() {
    let expected = [
        (Preset::Default, Algorithm::MlDsa65, 0x11ec),
        (Preset::Cnsa2, Algorithm::MlDsa87, 0x11ed),
        (Preset::FullyHybrid, Algorithm::MlDsa87Ed448, 0xfe48),
        (Preset::Classical448, Algorithm::Ed448, 0x001e),
    ];
    for (which, algorithm, group) in expected {
        let (chain, provider) = (Chain::new(algorithm, 3), preset(which));
        let pair = connect(chain.client(&provider), chain.server(&provider)).unwrap();
        assert_eq!(group_of(&pair), group, "{which}");
        assert_eq!(pair.0.handshake_kind(), Some(HandshakeKind::Full), "{which}");
    }
}

#[test]
fn bytes_pass_after_the_handshake_and_both_export_the_same_secret() {
    let (chain, provider) = (Chain::new(Algorithm::MlDsa87Ed448, 2), preset(Preset::FullyHybrid));
    let (mut client, mut server) = connect(chain.client(&provider), chain.server(&provider)).unwrap();
    let exported = |out: Result<[u8; 32], rustls::Error>| out.unwrap();
    let ours = exported(client.export_keying_material([0; 32], b"EXPORTER-test", None));
    let theirs = exported(server.export_keying_material([0; 32], b"EXPORTER-test", None));
    assert_eq!(ours, theirs);

    client.writer().write_all(b"fifteen bytes..").unwrap();
    let mut wire = Vec::new();
    client.write_tls(&mut wire).unwrap();
    server.read_tls(&mut &wire[..]).unwrap();
    server.process_new_packets().unwrap();
    let mut received = [0; 15];
    server.reader().read_exact(&mut received).unwrap();
    assert_eq!(&received, b"fifteen bytes..");
}

#[test]
fn a_server_with_the_curve_alone_takes_the_share_that_came_beside_the_hybrid() {
    let chain = Chain::new(Algorithm::MlDsa65, 2);
    let client = chain.client(&preset(Preset::Default));
    let server = Arc::new(Builder::new(Preset::Default).groups(&[&X25519]).build().unwrap());
    let pair = connect(client, chain.server(&server)).unwrap();
    assert_eq!(group_of(&pair), X25519.number());
    assert_eq!(pair.0.handshake_kind(), Some(HandshakeKind::Full), "no second round trip");
}

#[test]
fn a_server_without_the_first_group_asks_again() {
    let chain = Chain::new(Algorithm::MlDsa65, 2);
    for (wanted, other) in [
        (&X25519_MLKEM768, &SECP384R1_MLKEM1024),
        (&SECP384R1_MLKEM1024, &X448_MLKEM1024),
        (&X448_MLKEM1024, &P256),
        (&P256, &X25519_MLKEM768),
    ] {
        let client = Arc::new(Builder::new(Preset::Default).groups(&[wanted, other]).build().unwrap());
        let server = Arc::new(Builder::new(Preset::Default).groups(&[other]).build().unwrap());
        let pair = connect(chain.client(&client), chain.server(&server)).unwrap();
        assert_eq!(group_of(&pair), other.number());
        assert_eq!(pair.0.handshake_kind(), Some(HandshakeKind::FullWithHelloRetryRequest));
    }
}

#[test]
fn a_second_connection_resumes_with_a_fresh_hybrid_exchange() {
    let (chain, provider) = (Chain::new(Algorithm::MlDsa65, 2), preset(Preset::Default));
    let (client, server) = (chain.client(&provider), chain.server(&provider));
    connect(client.clone(), server.clone()).unwrap();
    let pair = connect(client, server).unwrap();
    assert_eq!(pair.0.handshake_kind(), Some(HandshakeKind::Resumed));
    assert_eq!(group_of(&pair), X25519_MLKEM768.number());
}

#[test]
fn tls_1_2_is_there_with_classical_keys_and_curves_in_the_default_alone() {
    let chain = Chain::new(Algorithm::EcdsaP256, 2);
    let old = ClientConfig::builder_with_provider(preset(Preset::Default))
        .with_protocol_versions(&[&rustls::version::TLS12])
        .unwrap()
        .with_root_certificates(chain.roots())
        .with_no_client_auth();
    let pair = connect(old, chain.server(&preset(Preset::Default))).unwrap();
    assert_eq!(pair.0.protocol_version(), Some(ProtocolVersion::TLSv1_2));
    assert_eq!(group_of(&pair), X25519.number());
    for which in [Preset::Cnsa2, Preset::FullyHybrid, Preset::Classical448] {
        let suites = &preset(which).cipher_suites;
        assert!(!suites.is_empty() && suites.iter().all(|suite| suite.tls13().is_some()), "{which}");
    }
}

/// A client offers one list of schemes for all versions: each that TLS 1.2 has holds there, too (RFC 8422, section 5.10).
#[test]
fn what_is_offered_holds_in_tls_1_2_where_tls_1_2_has_it() {
    use rustls::SignatureScheme::{ECDSA_NISTP256_SHA256, ECDSA_NISTP384_SHA384, ED448, ED25519};
    for (algorithm, scheme) in [
        (Algorithm::Ed25519, ED25519),
        (Algorithm::Ed448, ED448),
        (Algorithm::EcdsaP256, ECDSA_NISTP256_SHA256),
        (Algorithm::EcdsaP384, ECDSA_NISTP384_SHA384),
    ] {
        let (chain, provider) = (Chain::new(algorithm, 3), preset(Preset::Default));
        assert!(provider.signature_verification_algorithms.supported_schemes().contains(&scheme));
        let old = ServerConfig::builder_with_provider(provider.clone())
            .with_protocol_versions(&[&rustls::version::TLS12])
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(chain.certificates(), chain.key())
            .unwrap();
        let pair = connect(chain.client(&provider), old).unwrap();
        assert_eq!(pair.0.protocol_version(), Some(ProtocolVersion::TLSv1_2), "{algorithm}");
    }
    // What TLS 1.2 has not is not used there.
    let (chain, provider) = (Chain::new(Algorithm::MlDsa65, 2), preset(Preset::Default));
    let old = ServerConfig::builder_with_provider(provider.clone())
        .with_protocol_versions(&[&rustls::version::TLS12])
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(chain.certificates(), chain.key())
        .unwrap();
    assert!(connect(chain.client(&provider), old).is_err());
}
