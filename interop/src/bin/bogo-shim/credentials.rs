//! Whose certificate is shown, and what is asked of the other side's.

use crate::options::{Credential, Options, Unimplemented};
use rustls::client::ResolvesClientCert;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, WebPkiSupportedAlgorithms, verify_tls12_signature};
use rustls::crypto::{verify_tls13_signature, verify_tls13_signature_with_raw_key};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, SubjectPublicKeyInfoDer, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::{CertifiedKey, Signer, SigningKey};
use rustls::{
    CertificateError, DigitallySignedStruct, DistinguishedName, Error, PeerMisbehaved, SignatureAlgorithm,
    SignatureScheme,
};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// What was seen in a handshake, for expectations.
#[derive(Debug, Default)]
pub struct Seen {
    pub peer_scheme: Option<SignatureScheme>,
    pub credential: Option<usize>,
    pub server_name: Option<String>,
    pub ocsp: Vec<u8>,
    pub offered: Option<Vec<Vec<u8>>>,
    pub authorities: Option<Vec<Vec<u8>>>,
}

pub type Shared = Arc<Mutex<Seen>>;

pub fn note(seen: &Shared, what: impl FnOnce(&mut Seen)) {
    what(&mut seen.lock().unwrap_or_else(std::sync::PoisonError::into_inner));
}

/// The credentials of this side, in the order in which they are tried.
#[derive(Debug)]
pub struct Resolver {
    choices: Vec<Choice>,
    /// The first has no number, and is tried last.
    has_default: bool,
    raw: bool,
    seen: Shared,
}

#[derive(Debug)]
struct Choice {
    key: Arc<CertifiedKey>,
    /// The names in the issuer fields of its chain, if one of them must be asked for.
    issuers: Option<Vec<DistinguishedName>>,
}

impl Resolver {
    pub fn new(options: &Options, provider: &CryptoProvider, seen: Shared) -> Result<Self, Unimplemented> {
        let raw = !options.credentials.is_empty() && options.credentials.iter().all(|it| it.chain.is_none());
        if !raw && options.credentials.iter().any(|it| it.chain.is_none()) {
            return Err(Unimplemented("certificates beside raw public keys".into()));
        }
        let choices =
            options.credentials.iter().map(|it| Choice::new(it, provider)).collect::<Result<_, _>>()?;
        Ok(Self { choices, has_default: options.has_default_credential, raw, seen })
    }

    pub fn is_empty(&self) -> bool {
        self.choices.is_empty()
    }

    fn choose(&self, schemes: &[SignatureScheme], asked: &[&[u8]]) -> Option<Arc<CertifiedKey>> {
        let fits = |choice: &Choice| {
            let issued =
                |names: &Vec<DistinguishedName>| names.iter().any(|name| asked.contains(&name.as_ref()));
            choice.key.key.choose_scheme(schemes).is_some() && choice.issuers.as_ref().is_none_or(issued)
        };
        // A single one is tried whatever the other side asks for: rustls refuses by itself.
        let index = match &self.choices[..] {
            [only] if only.issuers.is_none() => Some(0),
            choices => {
                let first = usize::from(self.has_default);
                choices[first..]
                    .iter()
                    .position(fits)
                    .map(|index| first + index)
                    .or_else(|| (self.has_default && fits(&choices[0])).then_some(0))
            }
        }?;
        note(&self.seen, |seen| seen.credential = Some(index));
        Some(self.choices[index].key.clone())
    }
}

impl Choice {
    fn new(credential: &Credential, provider: &CryptoProvider) -> Result<Self, Unimplemented> {
        let path =
            credential.key.as_ref().ok_or_else(|| Unimplemented("a certificate without a key".into()))?;
        let key = PrivateKeyDer::from_pem_file(path).map_err(|error| Unimplemented(error.to_string()))?;
        let key = provider.key_provider.load_private_key(key);
        let mut key = key.map_err(|error| Unimplemented(error.to_string()))?;
        if !credential.signing_preferences.is_empty() {
            let schemes =
                credential.signing_preferences.iter().map(|it| SignatureScheme::from(*it)).collect();
            key = Arc::new(Preferring { key, schemes });
        }
        let chain = match &credential.chain {
            Some(path) => CertificateDer::pem_file_iter(path).and_then(Iterator::collect),
            None => Ok(key.public_key().iter().map(|key| CertificateDer::from(key.to_vec())).collect()),
        };
        let chain: Vec<CertificateDer<'static>> = chain.map_err(|error| Unimplemented(error.to_string()))?;
        let issuers = credential.must_match_issuer.then(|| chain.iter().filter_map(issuer).collect());
        let mut key = CertifiedKey::new(chain, key);
        key.ocsp = Some(credential.ocsp.clone()).filter(|response| !response.is_empty());
        Ok(Self { key: Arc::new(key), issuers })
    }
}

fn issuer(certificate: &CertificateDer<'_>) -> Option<DistinguishedName> {
    let certificate = webpki::EndEntityCert::try_from(certificate).ok()?;
    Some(DistinguishedName::in_sequence(certificate.issuer()))
}

impl ResolvesServerCert for Resolver {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        note(&self.seen, |seen| {
            seen.server_name = hello.server_name().map(str::to_owned);
            seen.offered = hello.alpn().map(|names| names.map(<[u8]>::to_vec).collect());
        });
        let asked: Vec<&[u8]> =
            hello.certificate_authorities().unwrap_or_default().iter().map(AsRef::as_ref).collect();
        self.choose(hello.signature_schemes(), &asked)
    }

    fn only_raw_public_keys(&self) -> bool {
        self.raw
    }
}

impl ResolvesClientCert for Resolver {
    fn resolve(&self, asked: &[&[u8]], schemes: &[SignatureScheme]) -> Option<Arc<CertifiedKey>> {
        note(&self.seen, |seen| seen.authorities = Some(asked.iter().map(|name| name.to_vec()).collect()));
        self.choose(schemes, asked)
    }

    fn has_certs(&self) -> bool {
        !self.is_empty()
    }

    fn only_raw_public_keys(&self) -> bool {
        self.raw
    }
}

/// A key that signs by some schemes only, in an order of its own.
#[derive(Debug)]
struct Preferring {
    key: Arc<dyn SigningKey>,
    schemes: Vec<SignatureScheme>,
}

impl SigningKey for Preferring {
    fn choose_scheme(&self, offered: &[SignatureScheme]) -> Option<Box<dyn Signer>> {
        let both = self.schemes.iter().filter(|scheme| offered.contains(scheme));
        both.into_iter().find_map(|scheme| self.key.choose_scheme(&[*scheme]))
    }

    fn public_key(&self) -> Option<SubjectPublicKeyInfoDer<'_>> {
        self.key.public_key()
    }

    fn algorithm(&self) -> SignatureAlgorithm {
        self.key.algorithm()
    }
}

/// Takes every certificate, and verifies that the other side has its key.
#[derive(Debug)]
pub struct Verifier {
    algorithms: WebPkiSupportedAlgorithms,
    preferences: Vec<SignatureScheme>,
    authorities: Vec<DistinguishedName>,
    mandatory: bool,
    fails: AtomicBool,
    raw: bool,
    canary: bool,
    seen: Shared,
}

impl Verifier {
    pub fn new(options: &Options, provider: &CryptoProvider, seen: Shared) -> Result<Self, Unimplemented> {
        let algorithms = provider.signature_verification_algorithms;
        let known = algorithms.supported_schemes();
        let asked: Vec<_> = options.verify_preferences.iter().map(|it| SignatureScheme::from(*it)).collect();
        if let Some(unknown) = asked.iter().find(|scheme| !known.contains(scheme)) {
            return Err(Unimplemented(format!("{unknown:?}")));
        }
        let authorities = options.client_authorities.iter().map(|name| DistinguishedName::from(name.clone()));
        Ok(Self {
            algorithms,
            preferences: if asked.is_empty() { known } else { asked },
            authorities: authorities.collect(),
            mandatory: options.require_client_certificate,
            fails: AtomicBool::new(options.verify_fail),
            raw: options.only_raw_public_keys,
            canary: options.canary,
            seen,
        })
    }

    /// Whether the certificates of the next connection are refused.
    pub fn fail(&self, fails: bool) {
        self.fails.store(fails, Ordering::Relaxed);
    }

    fn judge(&self) -> Result<(), Error> {
        match self.fails.load(Ordering::Relaxed) {
            true => Err(CertificateError::ApplicationVerificationFailure.into()),
            false => Ok(()),
        }
    }

    fn signed12(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.offered(signed)?;
        verify_tls12_signature(message, certificate, signed, &self.algorithms)
    }

    fn signed13(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.offered(signed)?;
        match self.raw {
            _ if self.canary => Ok(HandshakeSignatureValid::assertion()),
            true => {
                let key = SubjectPublicKeyInfoDer::from(certificate.as_ref());
                verify_tls13_signature_with_raw_key(message, &key, signed, &self.algorithms)
            }
            false => verify_tls13_signature(message, certificate, signed, &self.algorithms),
        }
    }

    fn offered(&self, signed: &DigitallySignedStruct) -> Result<(), Error> {
        note(&self.seen, |seen| seen.peer_scheme = Some(signed.scheme));
        match self.preferences.contains(&signed.scheme) {
            true => Ok(()),
            false => Err(PeerMisbehaved::SignedHandshakeWithUnadvertisedSigScheme.into()),
        }
    }
}

/// What rustls asks in the same words of what verifies servers, and of what verifies clients.
macro_rules! on_both_sides {
    () => {
        fn verify_tls12_signature(
            &self,
            message: &[u8],
            certificate: &CertificateDer<'_>,
            signed: &DigitallySignedStruct,
        ) -> Result<HandshakeSignatureValid, Error> {
            self.signed12(message, certificate, signed)
        }

        fn verify_tls13_signature(
            &self,
            message: &[u8],
            certificate: &CertificateDer<'_>,
            signed: &DigitallySignedStruct,
        ) -> Result<HandshakeSignatureValid, Error> {
            self.signed13(message, certificate, signed)
        }

        fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
            self.preferences.clone()
        }

        fn requires_raw_public_keys(&self) -> bool {
            self.raw
        }
    };
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        ocsp: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        note(&self.seen, |seen| seen.ocsp = ocsp.to_vec());
        self.judge().map(|()| ServerCertVerified::assertion())
    }

    on_both_sides!();
}

impl ClientCertVerifier for Verifier {
    fn client_auth_mandatory(&self) -> bool {
        self.mandatory
    }

    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &self.authorities
    }

    fn verify_client_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        self.judge().map(|()| ClientCertVerified::assertion())
    }

    on_both_sides!();
}
