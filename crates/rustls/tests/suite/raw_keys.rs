//! Raw public keys (RFC 7250), shown by one side and by both.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::loopback::{Chain, SIGNATURES, connect, der, everything, preset};
use gambeson_pki::{Algorithm, PrivateKey};
use gambeson_rustls::{
    KeyVerifier, Preset, Scheme, SchemeError, TooManyKeys, UnexpectedKey, certified_key,
    client_with_raw_keys, server_with_raw_keys,
};
use rustls::client::AlwaysResolvesClientRawPublicKeys;
use rustls::pki_types::{CertificateDer, SubjectPublicKeyInfoDer};
use rustls::server::AlwaysResolvesServerRawPublicKeys;
use rustls::sign::{CertifiedKey, SigningKey};
use rustls::{AlertDescription, CertificateError, Error, HandshakeKind, PeerIncompatible};

/// A key pair as both sides know it.
fn key_of(algorithm: Algorithm) -> (Arc<dyn SigningKey>, Vec<u8>) {
    let key = PrivateKey::generate(algorithm).unwrap();
    let public = key.public_key().to_spki_der();
    (everything().key_provider.load_private_key(der(&key)).unwrap(), public)
}

fn is_unexpected(error: Option<Error>) -> bool {
    let Some(Error::InvalidCertificate(CertificateError::Other(other))) = error else { return false };
    other.0.downcast_ref::<UnexpectedKey>() == Some(&UnexpectedKey)
}

#[test]
fn both_sides_show_keys_of_every_algorithm() {
    for (algorithm, _) in SIGNATURES {
        let provider = everything();
        let ((ours, our_public), (theirs, their_public)) = (key_of(algorithm), key_of(algorithm));
        let servers = KeyVerifier::one_of(&provider, [their_public.clone()]);
        let clients = KeyVerifier::one_of(&provider, [vec![], our_public.clone()]);
        let client = client_with_raw_keys(provider.clone(), Some(ours), servers).unwrap();
        let server = server_with_raw_keys(provider, theirs, Some(clients)).unwrap();
        let (client, server) = connect(client, server).unwrap();
        assert_eq!(client.peer_certificates().unwrap()[0].as_ref(), their_public, "{algorithm}");
        assert_eq!(server.peer_certificates().unwrap()[0].as_ref(), our_public, "{algorithm}");
        assert_eq!(client.peer_certificates().unwrap().len(), 1);
    }
}

#[test]
fn a_client_may_have_no_key() {
    let provider = preset(Preset::Default);
    let (theirs, public) = key_of(Algorithm::MlDsa65);
    let servers = KeyVerifier::one_of(&provider, [public]);
    let client = client_with_raw_keys(provider.clone(), None, servers).unwrap();
    let (_, server) = connect(client, server_with_raw_keys(provider, theirs, None).unwrap()).unwrap();
    assert!(server.peer_certificates().is_none());
}

#[test]
fn a_client_without_a_key_is_refused_by_a_server_that_asks_for_one() {
    let provider = preset(Preset::Default);
    let (theirs, public) = key_of(Algorithm::MlDsa65);
    let servers = KeyVerifier::one_of(&provider, [public]);
    let client = client_with_raw_keys(provider.clone(), None, servers).unwrap();
    let clients = KeyVerifier::accepting(&provider, |_| true);
    let failure =
        connect(client, server_with_raw_keys(provider, theirs, Some(clients)).unwrap()).unwrap_err();
    // It does not even offer to show one.
    assert_eq!(
        failure.server,
        Some(Error::PeerIncompatible(PeerIncompatible::IncorrectCertificateTypeExtension))
    );
    assert!(matches!(failure.client, Some(Error::AlertReceived(_))), "{failure:?}");
}

#[test]
fn a_server_with_another_key_is_somebody_else() {
    let provider = preset(Preset::Default);
    let ((theirs, _), (_, other)) = (key_of(Algorithm::MlDsa65), key_of(Algorithm::MlDsa65));
    let servers = KeyVerifier::one_of(&provider, [other]);
    let client = client_with_raw_keys(provider.clone(), None, servers).unwrap();
    let failure = connect(client, server_with_raw_keys(provider, theirs, None).unwrap()).unwrap_err();
    assert!(is_unexpected(failure.client.clone()), "{failure:?}");
    assert_eq!(failure.server, Some(Error::AlertReceived(AlertDescription::CertificateUnknown)));
    assert!(failure.client.unwrap().to_string().contains("not one of those expected"));
}

#[test]
fn a_client_with_another_key_is_somebody_else() {
    let provider = preset(Preset::Default);
    let ((ours, _), (theirs, public)) = (key_of(Algorithm::MlDsa65), key_of(Algorithm::MlDsa65));
    let servers = KeyVerifier::one_of(&provider, [public.clone()]);
    let clients = KeyVerifier::one_of(&provider, [public]);
    let client = client_with_raw_keys(provider.clone(), Some(ours), servers).unwrap();
    let failure =
        connect(client, server_with_raw_keys(provider, theirs, Some(clients)).unwrap()).unwrap_err();
    assert!(is_unexpected(failure.server.clone()), "{failure:?}");
    assert_eq!(failure.client, Some(Error::AlertReceived(AlertDescription::CertificateUnknown)));
}

#[test]
fn whoever_shows_a_key_without_having_it_is_refused() {
    /// Signs with one key and shows another.
    #[derive(Debug)]
    struct Thief(Arc<dyn SigningKey>, Vec<u8>);

    impl SigningKey for Thief {
        fn choose_scheme(
            &self,
            offered: &[rustls::SignatureScheme],
        ) -> Option<Box<dyn rustls::sign::Signer>> {
            self.0.choose_scheme(offered)
        }

        fn public_key(&self) -> Option<SubjectPublicKeyInfoDer<'_>> {
            Some(SubjectPublicKeyInfoDer::from(&self.1[..]))
        }

        fn algorithm(&self) -> rustls::SignatureAlgorithm {
            self.0.algorithm()
        }
    }

    let provider = preset(Preset::Default);
    let ((own, _), (_, stolen)) = (key_of(Algorithm::MlDsa65), key_of(Algorithm::MlDsa65));
    let servers = KeyVerifier::one_of(&provider, [stolen.clone()]);
    let client = client_with_raw_keys(provider.clone(), None, servers).unwrap();
    let server = server_with_raw_keys(provider, Arc::new(Thief(own, stolen)), None).unwrap();
    let failure = connect(client, server).unwrap_err();
    assert_eq!(failure.client, Some(Error::InvalidCertificate(CertificateError::BadSignature)));
    assert_eq!(failure.server, Some(Error::AlertReceived(AlertDescription::DecryptError)));
}

#[test]
fn a_peer_with_certificates_and_one_with_raw_keys_do_not_meet() {
    let (provider, chain) = (preset(Preset::Default), Chain::new(Algorithm::MlDsa65, 2));
    let (theirs, public) = key_of(Algorithm::MlDsa65);
    let server = server_with_raw_keys(provider.clone(), theirs, None).unwrap();
    let failure = connect(chain.client(&provider), server).unwrap_err();
    assert_eq!(
        failure.server,
        Some(Error::PeerIncompatible(PeerIncompatible::IncorrectCertificateTypeExtension)),
        "{failure:?}"
    );

    let servers = KeyVerifier::one_of(&provider, [public]);
    let client = client_with_raw_keys(provider.clone(), None, servers).unwrap();
    let failure = connect(client, chain.server(&provider)).unwrap_err();
    assert_eq!(
        failure.server,
        Some(Error::PeerIncompatible(PeerIncompatible::IncorrectCertificateTypeExtension)),
        "{failure:?}"
    );
    assert!(matches!(failure.client, Some(Error::AlertReceived(_))), "{failure:?}");
}

#[test]
fn whoever_decides_sees_the_key_once_a_handshake() {
    let provider = preset(Preset::Default);
    let (theirs, public) = key_of(Algorithm::MlDsa65);
    let seen = Arc::new(AtomicUsize::new(0));
    let servers = KeyVerifier::accepting(&provider, {
        let seen = seen.clone();
        move |key| {
            seen.fetch_add(1, Ordering::Relaxed);
            key.as_ref() == public
        }
    });
    let client = client_with_raw_keys(provider.clone(), None, servers).unwrap();
    connect(client, server_with_raw_keys(provider, theirs, None).unwrap()).unwrap();
    assert_eq!(seen.load(Ordering::Relaxed), 1);
}

#[test]
fn who_shows_more_than_one_key_is_refused() {
    let provider = preset(Preset::Default);
    let ((ours, our_public), (theirs, their_public)) =
        (key_of(Algorithm::MlDsa65), key_of(Algorithm::MlDsa65));
    // Both are keys that would be taken.
    let two = |key: Arc<dyn SigningKey>, public: &[u8]| {
        let public = CertificateDer::from(public.to_vec());
        Arc::new(CertifiedKey::new(vec![public.clone(), public], key))
    };
    let client = || {
        let servers = KeyVerifier::one_of(&provider, [their_public.clone()]);
        client_with_raw_keys(provider.clone(), Some(ours.clone()), servers).unwrap()
    };
    let server = || {
        let clients = KeyVerifier::one_of(&provider, [our_public.clone()]);
        server_with_raw_keys(provider.clone(), theirs.clone(), Some(clients)).unwrap()
    };
    let is_too_many = |error: Option<Error>| {
        let Some(Error::InvalidCertificate(CertificateError::Other(other))) = error else { return false };
        other.0.downcast_ref::<TooManyKeys>() == Some(&TooManyKeys)
    };
    connect(client(), server()).unwrap();

    let mut many = server();
    many.cert_resolver = Arc::new(AlwaysResolvesServerRawPublicKeys::new(two(theirs.clone(), &their_public)));
    let failure = connect(client(), many).unwrap_err();
    assert!(is_too_many(failure.client.clone()), "{failure:?}");
    let mut many = client();
    many.client_auth_cert_resolver =
        Arc::new(AlwaysResolvesClientRawPublicKeys::new(two(ours.clone(), &our_public)));
    let failure = connect(many, server()).unwrap_err();
    assert!(is_too_many(failure.server.clone()), "{failure:?}");
}

#[test]
fn a_server_asks_for_the_key_in_every_connection() {
    let provider = preset(Preset::Default);
    let ((ours, _), (theirs, public)) = (key_of(Algorithm::MlDsa65), key_of(Algorithm::MlDsa65));
    let asked = Arc::new(AtomicUsize::new(0));
    let clients = KeyVerifier::accepting(&provider, {
        let asked = asked.clone();
        // Taken once, and no more after that.
        move |_| asked.fetch_add(1, Ordering::Relaxed) == 0
    });
    let client =
        client_with_raw_keys(provider.clone(), Some(ours), KeyVerifier::one_of(&provider, [public])).unwrap();
    let server = server_with_raw_keys(provider, theirs, Some(clients)).unwrap();
    let (_, first) = connect(client.clone(), server.clone()).unwrap();
    assert_eq!(first.handshake_kind(), Some(HandshakeKind::Full));
    let failure = connect(client, server).unwrap_err();
    assert!(is_unexpected(failure.server.clone()), "{failure:?}");
    assert_eq!(asked.load(Ordering::Relaxed), 2);
}

#[test]
fn a_scheme_takes_keys_of_its_algorithm_without_a_file() {
    let key = PrivateKey::generate(Algorithm::MlDsa65).unwrap();
    let public = key.public_key().to_spki_der();
    let key = Scheme::ML_DSA_65.signing_key(key).unwrap();
    assert_eq!(certified_key(key).unwrap().cert[0].as_ref(), public);

    let other = PrivateKey::generate(Algorithm::MlDsa44).unwrap();
    let error = Scheme::ML_DSA_65.signing_key(other).err();
    let (expected, actual) = (Algorithm::MlDsa65, Algorithm::MlDsa44);
    assert_eq!(error, Some(SchemeError::OtherAlgorithm { expected, actual }));
}

#[test]
fn a_key_that_hides_its_public_half_cannot_be_shown() {
    #[derive(Debug)]
    struct Silent;

    impl SigningKey for Silent {
        fn choose_scheme(&self, _: &[rustls::SignatureScheme]) -> Option<Box<dyn rustls::sign::Signer>> {
            None
        }

        fn algorithm(&self) -> rustls::SignatureAlgorithm {
            rustls::SignatureAlgorithm::ECDSA
        }
    }

    assert!(matches!(certified_key(Arc::new(Silent)), Err(Error::General(_))));
}
