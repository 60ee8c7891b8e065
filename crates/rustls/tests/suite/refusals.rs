//! Handshakes that must fail, each with the error and the alert that say why.

use std::sync::Arc;

use crate::loopback::{self, Chain, Failure, NAME, connect, connect_through, connect_to, everything, preset};
use gambeson_pki::{Algorithm, Certificate, PrivateKey, Template};
use gambeson_rustls::{Builder, Preset, X448, X25519, X25519_MLKEM768};
use rustls::pki_types::{CertificateDer, SubjectPublicKeyInfoDer};
use rustls::server::ResolvesServerCert;
use rustls::sign::{CertifiedKey, Signer, SigningKey, SingleCertAndKey};
use rustls::{
    AlertDescription, CertificateError, ClientConfig, Error, PeerIncompatible, ServerConfig,
    SignatureAlgorithm, SignatureScheme,
};

const MLDSA87_LEN: usize = 4627;

fn alert(description: AlertDescription) -> Option<Error> {
    Some(Error::AlertReceived(description))
}

fn refused(failure: &Failure, error: CertificateError, description: AlertDescription) {
    assert_eq!(failure.client, Some(Error::InvalidCertificate(error)));
    assert_eq!(failure.server, alert(description));
}

#[test]
fn a_chain_to_another_root_is_refused() {
    for algorithm in [Algorithm::MlDsa65, Algorithm::MlDsa87Ed448, Algorithm::Ed448, Algorithm::EcdsaP384] {
        let (chain, other) = (Chain::new(algorithm, 3), Chain::new(algorithm, 3));
        let failure = connect(other.client(&everything()), chain.server(&everything())).unwrap_err();
        // The roots have one name, so that it is the signature that fails.
        refused(&failure, CertificateError::BadSignature, AlertDescription::DecryptError);
    }
}

#[test]
fn a_chain_whose_root_is_not_known_by_name_is_refused() {
    let chain = Chain::new(Algorithm::MlDsa87Ed448, 3);
    let mut stranger = Chain::new(Algorithm::MlDsa87Ed448, 2);
    let key = PrivateKey::generate(Algorithm::MlDsa87Ed448).unwrap();
    stranger.root = Template::authority("CN=Stranger".parse().unwrap()).self_signed(&key).unwrap();
    let failure = connect(stranger.client(&everything()), chain.server(&everything())).unwrap_err();
    refused(&failure, CertificateError::UnknownIssuer, AlertDescription::UnknownCA);
}

#[test]
fn a_chain_without_its_authority_is_refused() {
    let mut chain = Chain::new(Algorithm::MlDsa87Ed448, 3);
    chain.sent.truncate(1);
    let failure = connect(chain.client(&everything()), chain.server(&everything())).unwrap_err();
    refused(&failure, CertificateError::UnknownIssuer, AlertDescription::UnknownCA);
}

#[test]
fn a_certificate_of_another_name_is_refused() {
    let chain = Chain::new(Algorithm::MlDsa65, 2);
    let (client, server) = (chain.client(&everything()), chain.server(&everything()));
    let failure = connect_to("other.example", client, server).unwrap_err();
    assert!(
        matches!(&failure.client, Some(Error::InvalidCertificate(CertificateError::NotValidForNameContext { presented, .. }))
            if presented == &[format!("DnsName(\"{NAME}\")")]),
        "{failure:?}"
    );
    assert_eq!(failure.server, alert(AlertDescription::BadCertificate));
}

/// A server that sends these certificates without looking at them.
fn server_with(chain: &Chain, certificates: Vec<CertificateDer<'static>>) -> ServerConfig {
    let key = everything().key_provider.load_private_key(chain.key()).unwrap();
    server_of(CertifiedKey::new(certificates, key).into())
}

pub fn server_of(key: Arc<CertifiedKey>) -> ServerConfig {
    let resolver: Arc<dyn ResolvesServerCert> = Arc::new(SingleCertAndKey::from(key));
    ServerConfig::builder_with_provider(everything())
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_cert_resolver(resolver)
}

#[test]
fn a_composite_certificate_with_either_half_wrong_or_both_swapped_is_refused() {
    let chain = Chain::new(Algorithm::MlDsa87Ed448, 3);
    let whole = chain.certificates();
    connect(chain.client(&everything()), server_with(&chain, whole.clone())).unwrap();
    let signature = MLDSA87_LEN + 114;
    type Change = (&'static str, fn(&mut [u8]));
    let changes: [Change; 3] = [
        ("ML-DSA's half", |signature| signature[100] ^= 1),
        ("Ed448's half", |signature| signature[MLDSA87_LEN + 3] ^= 1),
        ("swapped", |signature| signature.rotate_left(MLDSA87_LEN)),
    ];
    for (why, change) in changes {
        for at in 0..2 {
            let mut certificates = whole.clone();
            let mut bytes = certificates[at].to_vec();
            let start = bytes.len() - signature;
            change(&mut bytes[start..]);
            certificates[at] = CertificateDer::from(bytes);
            let server = server_with(&chain, certificates);
            let failure = connect(chain.client(&everything()), server).unwrap_err();
            assert_eq!(
                failure.client,
                Some(Error::InvalidCertificate(CertificateError::BadSignature)),
                "{why}, certificate {at}"
            );
            assert_eq!(failure.server, alert(AlertDescription::DecryptError));
        }
    }
}

/// A key whose handshake signatures are spoilt.
#[derive(Debug)]
struct Spoiled(Arc<dyn SigningKey>, fn(&mut Vec<u8>));

#[derive(Debug)]
struct SpoiledSigner(Box<dyn Signer>, fn(&mut Vec<u8>));

impl SigningKey for Spoiled {
    fn choose_scheme(&self, offered: &[SignatureScheme]) -> Option<Box<dyn Signer>> {
        Some(Box::new(SpoiledSigner(self.0.choose_scheme(offered)?, self.1)))
    }

    fn public_key(&self) -> Option<SubjectPublicKeyInfoDer<'_>> {
        self.0.public_key()
    }

    fn algorithm(&self) -> SignatureAlgorithm {
        self.0.algorithm()
    }
}

impl Signer for SpoiledSigner {
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, Error> {
        let mut signature = self.0.sign(message)?;
        (self.1)(&mut signature);
        Ok(signature)
    }

    fn scheme(&self) -> SignatureScheme {
        self.0.scheme()
    }
}

/// A key that changes its signatures of handshakes with `spoil`.
pub fn spoilt_key(key: Arc<dyn SigningKey>, spoil: fn(&mut Vec<u8>)) -> Arc<dyn SigningKey> {
    Arc::new(Spoiled(key, spoil))
}

/// What a client says to a handshake signature that `spoil` changed.
fn spoilt(algorithm: Algorithm, spoil: fn(&mut Vec<u8>)) -> Box<Failure> {
    let chain = Chain::new(algorithm, 2);
    let key = everything().key_provider.load_private_key(chain.key()).unwrap();
    let key = CertifiedKey::new(chain.certificates(), spoilt_key(key, spoil));
    connect(chain.client(&everything()), server_of(key.into())).unwrap_err()
}

#[test]
fn a_changed_handshake_signature_is_refused_for_every_algorithm() {
    for (algorithm, _) in loopback::SIGNATURES {
        let failure = spoilt(algorithm, |signature| {
            let at = signature.len() / 2;
            signature[at] ^= 1;
        });
        refused(&failure, CertificateError::BadSignature, AlertDescription::DecryptError);
    }
}

#[test]
fn a_truncated_or_empty_handshake_signature_is_refused_for_every_algorithm() {
    for (algorithm, _) in loopback::SIGNATURES {
        let changes: [fn(&mut Vec<u8>); 3] = [
            |signature| {
                signature.pop();
            },
            |signature| signature.push(0),
            Vec::clear,
        ];
        for change in changes {
            let failure = spoilt(algorithm, change);
            refused(&failure, CertificateError::BadSignature, AlertDescription::DecryptError);
        }
    }
}

#[test]
fn a_composite_handshake_signature_needs_both_halves_in_their_order() {
    let changes: [fn(&mut Vec<u8>); 6] = [
        |signature| signature[0] ^= 1,
        |signature| signature[MLDSA87_LEN] ^= 1,
        |signature| signature.rotate_left(MLDSA87_LEN),
        |signature| signature.truncate(MLDSA87_LEN),
        |signature| {
            signature.drain(..MLDSA87_LEN);
        },
        |signature| signature[MLDSA87_LEN..].fill(0),
    ];
    for change in changes {
        let failure = spoilt(Algorithm::MlDsa87Ed448, change);
        refused(&failure, CertificateError::BadSignature, AlertDescription::DecryptError);
    }
}

#[test]
fn a_key_of_another_certificate_is_noticed_before_any_handshake() {
    let (chain, other) = (Chain::new(Algorithm::MlDsa65, 2), Chain::new(Algorithm::MlDsa65, 2));
    let made = ServerConfig::builder_with_provider(everything())
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(chain.certificates(), other.key());
    assert_eq!(made.err(), Some(Error::InconsistentKeys(rustls::InconsistentKeys::KeyMismatch)));
}

#[test]
fn without_a_common_group_both_sides_say_so() {
    let chain = Chain::new(Algorithm::MlDsa65, 2);
    let ours = Arc::new(Builder::new(Preset::Default).groups(&[&X25519_MLKEM768]).build().unwrap());
    let theirs = Arc::new(Builder::new(Preset::Default).groups(&[&X448]).build().unwrap());
    let failure = connect(chain.client(&ours), chain.server(&theirs)).unwrap_err();
    assert_eq!(failure.server, Some(Error::PeerIncompatible(PeerIncompatible::NoKxGroupsInCommon)));
    assert_eq!(failure.client, alert(AlertDescription::HandshakeFailure));
}

#[test]
fn without_a_common_scheme_both_sides_say_so() {
    // The default has no number for composites.
    let chain = Chain::new(Algorithm::MlDsa87Ed448, 2);
    let failure = connect(chain.client(&preset(Preset::Default)), chain.server(&everything())).unwrap_err();
    assert_eq!(failure.server, Some(Error::PeerIncompatible(PeerIncompatible::NoSignatureSchemesInCommon)));
    assert_eq!(failure.client, alert(AlertDescription::HandshakeFailure));
}

#[test]
fn a_fully_hybrid_client_takes_nothing_less() {
    let provider = preset(Preset::FullyHybrid);
    // No group in common with the default.
    let chain = Chain::new(Algorithm::MlDsa65, 2);
    let failure = connect(chain.client(&provider), chain.server(&preset(Preset::Default))).unwrap_err();
    assert_eq!(failure.client, alert(AlertDescription::HandshakeFailure));
    // The right group, and a certificate of ML-DSA alone.
    let failure = connect(chain.client(&provider), chain.server(&everything())).unwrap_err();
    assert_eq!(failure.server, Some(Error::PeerIncompatible(PeerIncompatible::NoSignatureSchemesInCommon)));
    // A composite certificate that an authority with a classical key signed.
    let key = PrivateKey::generate(Algorithm::EcdsaP384).unwrap();
    let root = Template::authority("CN=Root".parse().unwrap()).self_signed(&key).unwrap();
    let mut chain = Chain::new(Algorithm::MlDsa87Ed448, 2);
    let subject = chain.sent[0].public_key().unwrap();
    let template = Template::new("CN=Server".parse().unwrap()).alt_name(NAME.parse().unwrap());
    let leaf: Certificate = template.issue(&subject, &root, &key).unwrap();
    (chain.root, chain.sent) = (root, vec![leaf]);
    let failure = connect(chain.client(&provider), chain.server(&everything())).unwrap_err();
    assert!(
        matches!(
            failure.client,
            Some(Error::InvalidCertificate(CertificateError::UnsupportedSignatureAlgorithmContext { .. }))
        ),
        "{failure:?}"
    );
    // The same chain is good enough for the default.
    connect(chain.client(&everything()), chain.server(&everything())).unwrap();
}

#[test]
fn a_client_of_tls_1_2_is_refused_where_only_1_3_is_spoken() {
    let chain = Chain::new(Algorithm::MlDsa87, 2);
    let old = ClientConfig::builder_with_provider(preset(Preset::Default))
        .with_protocol_versions(&[&rustls::version::TLS12])
        .unwrap()
        .with_root_certificates(chain.roots())
        .with_no_client_auth();
    let server = ServerConfig::builder_with_provider(preset(Preset::Cnsa2))
        .with_protocol_versions(&[&rustls::version::TLS13])
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(chain.certificates(), chain.key())
        .unwrap();
    let failure = connect(old, server).unwrap_err();
    assert_eq!(failure.client, alert(AlertDescription::ProtocolVersion), "{failure:?}");
}

#[test]
fn somebody_between_who_hides_the_hybrid_breaks_the_handshake() {
    let chain = Chain::new(Algorithm::MlDsa65, 2);
    let groups = [&X25519_MLKEM768, &X25519];
    let provider = Arc::new(Builder::new(Preset::Default).groups(&groups).build().unwrap());
    let mut hidden = 0;
    let failure = connect_through(NAME, chain.client(&provider), chain.server(&provider), |hello| {
        // In supported_groups the hybrid stands before X25519, in key_share before its length of 1216.
        for next in [[0x00, 0x1d], [0x04, 0xc0]] {
            let hybrid = [0x11, 0xec, next[0], next[1]];
            let at = hello.windows(4).position(|window| window == hybrid).unwrap();
            hello[at..at + 2].copy_from_slice(&[0xfe, 0x01]);
            hidden += 1;
        }
    })
    .unwrap_err();
    assert_eq!(hidden, 2);
    // The server took X25519; what it encrypts hangs on another transcript than the client's.
    assert_eq!((failure.client, failure.server), (Some(Error::DecryptError), Some(Error::DecryptError)));
}
