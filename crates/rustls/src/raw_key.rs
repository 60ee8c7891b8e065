//! Raw public keys (RFC 7250): TLS between two that know each other's keys, without certificates.

use std::fmt;
use std::sync::Arc;

use rustls::client::AlwaysResolvesClientRawPublicKeys;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, WebPkiSupportedAlgorithms, verify_tls13_signature_with_raw_key};
use rustls::pki_types::{CertificateDer, ServerName, SubjectPublicKeyInfoDer, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::server::{AlwaysResolvesServerRawPublicKeys, NoServerSessionStorage};
use rustls::sign::{CertifiedKey, SigningKey};
use rustls::version::TLS13;
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, DistinguishedName, Error, OtherError,
    PeerIncompatible, ServerConfig, SignatureScheme,
};

/// The key in the form in which both resolvers of rustls take a raw public key.
///
/// # Errors
/// [`Error::General`] for a key that does not tell its public half; all keys of our providers do.
pub fn certified_key(key: Arc<dyn SigningKey>) -> Result<Arc<CertifiedKey>, Error> {
    let public = key.public_key().map(|public| CertificateDer::from(public.to_vec()));
    let public = public.ok_or_else(|| Error::General("the key does not tell its public half".into()))?;
    Ok(Arc::new(CertifiedKey::new(vec![public], key)))
}

/// A client that shows `key`, if it has one, and takes servers whose key `servers` accepts. TLS 1.3 alone.
///
/// # Errors
/// [`Error::General`] when the provider has no TLS 1.3, or the key does not tell its public half.
pub fn client_with_raw_keys(
    provider: Arc<CryptoProvider>,
    key: Option<Arc<dyn SigningKey>>,
    servers: KeyVerifier,
) -> Result<ClientConfig, Error> {
    let builder = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&TLS13])?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(servers));
    Ok(match key {
        Some(key) => {
            let key = certified_key(key)?;
            builder.with_client_cert_resolver(Arc::new(AlwaysResolvesClientRawPublicKeys::new(key)))
        }
        None => builder.with_no_client_auth(),
    })
}

/// A server that shows `key`; with `clients` it also asks for a raw public key, and takes those that are accepted: in every connection,
/// none is resumed. TLS 1.3 alone.
///
/// # Errors
/// The same.
pub fn server_with_raw_keys(
    provider: Arc<CryptoProvider>,
    key: Arc<dyn SigningKey>,
    clients: Option<KeyVerifier>,
) -> Result<ServerConfig, Error> {
    let resolver = AlwaysResolvesServerRawPublicKeys::new(certified_key(key)?);
    let builder = ServerConfig::builder_with_provider(provider).with_protocol_versions(&[&TLS13])?;
    let asks = clients.is_some();
    let builder = match clients {
        Some(clients) => builder.with_client_cert_verifier(Arc::new(clients)),
        None => builder.with_no_client_auth(),
    };
    let mut config = builder.with_cert_resolver(Arc::new(resolver));
    if asks {
        // Who resumes is not looked at again, and may not be taken any more.
        config.send_tls13_tickets = 0;
        config.session_storage = Arc::new(NoServerSessionStorage {});
    }
    Ok(config)
}

type Accepts = dyn Fn(&SubjectPublicKeyInfoDer<'_>) -> bool + Send + Sync;

/// Whose raw public keys are taken; the handshake proves that the other side has the private one.
///
/// ```
/// use std::sync::Arc;
///
/// use gambeson_pki::{Algorithm, PrivateKey};
/// use gambeson_rustls::{KeyVerifier, Scheme, client_with_raw_keys, server_with_raw_keys};
///
/// let provider = Arc::new(gambeson_rustls::provider()?);
/// let key = PrivateKey::generate(Algorithm::MlDsa65)?;
/// let known = key.public_key().to_spki_der();
///
/// let server = server_with_raw_keys(provider.clone(), Scheme::ML_DSA_65.signing_key(key)?, None)?;
/// let client = client_with_raw_keys(provider.clone(), None, KeyVerifier::one_of(&provider, [known]))?;
/// # let _ = (server, client);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct KeyVerifier {
    algorithms: WebPkiSupportedAlgorithms,
    accepts: Box<Accepts>,
}

impl KeyVerifier {
    /// Takes these keys: SubjectPublicKeyInfo in DER.
    pub fn one_of(provider: &CryptoProvider, keys: impl IntoIterator<Item = Vec<u8>>) -> Self {
        let keys: Vec<Vec<u8>> = keys.into_iter().collect();
        Self::accepting(provider, move |key| keys.iter().any(|known| **known == **key))
    }

    /// Takes the keys for which `accepts` says so; one that takes all leaves the decision to a later moment.
    pub fn accepting(
        provider: &CryptoProvider,
        accepts: impl Fn(&SubjectPublicKeyInfoDer<'_>) -> bool + Send + Sync + 'static,
    ) -> Self {
        Self { algorithms: provider.signature_verification_algorithms, accepts: Box::new(accepts) }
    }

    fn check(&self, key: &CertificateDer<'_>, more: &[CertificateDer<'_>]) -> Result<(), Error> {
        // RFC 8446, section 4.4.2: the list must not have more than one entry.
        if !more.is_empty() {
            return Err(CertificateError::Other(OtherError(Arc::new(TooManyKeys))).into());
        }
        if (self.accepts)(&SubjectPublicKeyInfoDer::from(key.as_ref())) {
            return Ok(());
        }
        Err(CertificateError::Other(OtherError(Arc::new(UnexpectedKey))).into())
    }

    fn verify(
        &self,
        message: &[u8],
        key: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let key = SubjectPublicKeyInfoDer::from(key.as_ref());
        verify_tls13_signature_with_raw_key(message, &key, signature, &self.algorithms)
    }
}

/// What rustls asks in the same words of what verifies servers, and of what verifies clients.
macro_rules! on_both_sides {
    () => {
        fn verify_tls12_signature(
            &self,
            _: &[u8],
            _: &CertificateDer<'_>,
            _: &DigitallySignedStruct,
        ) -> Result<HandshakeSignatureValid, Error> {
            Err(PeerIncompatible::Tls12NotOfferedOrEnabled.into())
        }

        fn verify_tls13_signature(
            &self,
            message: &[u8],
            key: &CertificateDer<'_>,
            signature: &DigitallySignedStruct,
        ) -> Result<HandshakeSignatureValid, Error> {
            self.verify(message, key, signature)
        }

        fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
            self.algorithms.supported_schemes()
        }

        fn requires_raw_public_keys(&self) -> bool {
            true
        }
    };
}

impl ServerCertVerifier for KeyVerifier {
    fn verify_server_cert(
        &self,
        key: &CertificateDer<'_>,
        more: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        self.check(key, more).map(|()| ServerCertVerified::assertion())
    }

    on_both_sides!();
}

impl ClientCertVerifier for KeyVerifier {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        key: &CertificateDer<'_>,
        more: &[CertificateDer<'_>],
        _: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        self.check(key, more).map(|()| ClientCertVerified::assertion())
    }

    on_both_sides!();
}

impl fmt::Debug for KeyVerifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyVerifier").field("algorithms", &self.algorithms).finish_non_exhaustive()
    }
}

/// The raw public key that the other side showed is not one that is taken: it is somebody else.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct UnexpectedKey;

/// In words, because rustls shows the errors of others in this form.
impl fmt::Debug for UnexpectedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for UnexpectedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the raw public key is not one of those expected")
    }
}

impl std::error::Error for UnexpectedKey {}

/// The other side showed more than one raw public key: which one it has is not clear to everybody who looks.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct TooManyKeys;

/// In words, because rustls shows the errors of others in this form.
impl fmt::Debug for TooManyKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for TooManyKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("more than one raw public key was shown")
    }
}

impl std::error::Error for TooManyKeys {}
