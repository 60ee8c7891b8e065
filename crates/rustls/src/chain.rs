//! Chains of certificates: webpki finds the path and verifies its signatures, `gambeson-pki` checks the rules that webpki leaves out.

use std::cell::RefCell;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use gambeson_pki::{Certificate, ChainError, Purpose, RevocationList, Verifier};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::verify_server_name;
use rustls::crypto::{
    CryptoProvider, WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature,
};
use rustls::pki_types::{CertificateDer, ServerName, TrustAnchor, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::{
    CertificateError, DigitallySignedStruct, DistinguishedName, Error, OtherError, SignatureScheme,
};
use webpki::{EndEntityCert, KeyUsage, VerifiedPath};

/// Roots that are trusted: certificates, which are judged like other authorities, or bare keys with names, which have no time and no usage.
///
/// ```
/// use gambeson_pki::{Algorithm, PrivateKey, Template};
/// use gambeson_rustls::{ChainVerifier, Roots, rustls::pki_types::CertificateDer};
///
/// let key = PrivateKey::generate(Algorithm::MlDsa65)?;
/// let root = Template::authority("CN=Example Root".parse()?).self_signed(&key)?;
/// let roots = Roots::of_certificates([CertificateDer::from(root.as_der().to_vec())])?;
/// let verifier = ChainVerifier::new(roots, &gambeson_rustls::provider()?);
/// # _ = verifier;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Default)]
pub struct Roots {
    keys: Vec<TrustAnchor<'static>>,
    /// The certificate of each key, if it has one.
    certificates: Vec<Option<Certificate>>,
}

impl Roots {
    /// Trusts certificates: their time, usage, constraints and path length are checked.
    ///
    /// # Errors
    /// [`Error::InvalidCertificate`] for bytes that are not a certificate.
    pub fn of_certificates(
        certificates: impl IntoIterator<Item = CertificateDer<'static>>,
    ) -> Result<Self, Error> {
        let mut roots = Self::default();
        certificates.into_iter().try_for_each(|der| roots.add(&der))?;
        Ok(roots)
    }

    /// Trusts one more certificate.
    ///
    /// # Errors
    /// [`Error::InvalidCertificate`] for bytes that are not a certificate.
    pub fn add(&mut self, der: &CertificateDer<'_>) -> Result<(), Error> {
        let bad = || Error::from(CertificateError::BadEncoding);
        let certificate = Certificate::from_der(der).map_err(|_| bad())?;
        self.keys.push(webpki::anchor_from_trusted_cert(der).map_err(|_| bad())?.to_owned());
        self.certificates.push(Some(certificate));
        Ok(())
    }

    /// Trusts bare keys with names, such as the list of a browser.
    #[must_use]
    pub fn of_keys(keys: Vec<TrustAnchor<'static>>) -> Self {
        let certificates = keys.iter().map(|_| None).collect();
        Self { keys, certificates }
    }

    /// Returns true if there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    fn names(&self) -> Vec<DistinguishedName> {
        self.keys.iter().map(|key| DistinguishedName::in_sequence(&key.subject)).collect()
    }

    /// Returns true if this certificate is among them.
    fn has(&self, certificate: &Certificate) -> bool {
        self.certificates.iter().flatten().any(|root| root == certificate)
    }

    /// The roots that are this key with this name: each its certificate, or none.
    fn of(&self, key: &TrustAnchor<'_>) -> impl Iterator<Item = Option<&Certificate>> {
        let same = |one: &TrustAnchor<'_>| {
            one.subject == key.subject && one.subject_public_key_info == key.subject_public_key_info
        };
        let found = self.keys.iter().zip(&self.certificates).filter(move |(one, _)| same(one));
        found.map(|(_, certificate)| certificate.as_ref())
    }
}

impl fmt::Debug for Roots {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Roots({})", self.keys.len())
    }
}

/// Verifies the chains of servers and of clients, for rustls.
///
/// Beyond webpki it checks that authorities may sign certificates and end entities may sign handshakes (RFC 5280, §6.1.4 (n); RFC 8446, §4.4.2.2), the roots, the
/// key usages that an algorithm has, and revocation lists. A certificate that names itself as its issuer and is among the roots is its own chain.
#[derive(Clone, Debug)]
pub struct ChainVerifier {
    roots: Arc<Roots>,
    names: Arc<[DistinguishedName]>,
    lists: Arc<[RevocationList]>,
    algorithms: WebPkiSupportedAlgorithms,
}

impl ChainVerifier {
    /// Verifies with the algorithms of a provider.
    #[must_use]
    pub fn new(roots: Roots, provider: &CryptoProvider) -> Self {
        Self {
            names: roots.names().into(),
            roots: Arc::new(roots),
            lists: Arc::new([]),
            algorithms: provider.signature_verification_algorithms,
        }
    }

    /// Looks up each certificate in the lists of its issuer, where there are some; a list that is out of its time or not signed by the issuer fails the
    /// chain. The issuer's key is one of an algorithm of `gambeson-pki`.
    #[must_use]
    pub fn with_revocation(mut self, lists: Vec<RevocationList>) -> Self {
        self.lists = lists.into();
        self
    }

    /// The check that failed, of those that `gambeson-pki` makes.
    #[must_use]
    pub fn failure(error: &Error) -> Option<&ChainError> {
        match error {
            Error::InvalidCertificate(CertificateError::Other(OtherError(error))) => error.downcast_ref(),
            _ => None,
        }
    }

    fn verify(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        now: UnixTime,
        purpose: Purpose,
    ) -> Result<(), Error> {
        let usage = match purpose {
            Purpose::ClientAuth => KeyUsage::client_auth(),
            _ => KeyUsage::server_auth(),
        };
        let rules = Verifier::new(&[])
            .at(UNIX_EPOCH + Duration::from_secs(now.as_secs()))
            .purpose(purpose)
            .revocation(&self.lists);
        let first = Certificate::from_der(end_entity).map_err(|_| CertificateError::BadEncoding)?;
        if first.subject() == first.issuer() && self.roots.has(&first) {
            // Nobody has issued it: no list tells of it.
            return rules.revocation(&[]).check_path(&[&first], None).map_err(refused);
        }
        let broken = RefCell::new(None);
        let judge = |path: &VerifiedPath<'_>| {
            self.judge(&rules, &first, path).map_err(|error| {
                *broken.borrow_mut() = Some(error);
                webpki::Error::UnknownIssuer
            })
        };
        let parsed = EndEntityCert::try_from(end_entity).map_err(explained)?;
        let found = parsed.verify_for_usage(
            self.algorithms.all,
            &self.roots.keys,
            intermediates,
            now,
            usage,
            None,
            Some(&judge),
        );
        match (found, broken.into_inner()) {
            (Ok(_), _) => Ok(()),
            (Err(_), Some(error)) => Err(error),
            (Err(error), None) => Err(explained(error)),
        }
    }

    /// Judges a path that webpki has found.
    fn judge(&self, rules: &Verifier<'_>, first: &Certificate, path: &VerifiedPath<'_>) -> Result<(), Error> {
        let between = path.intermediate_certificates().map(|other| Certificate::from_der(&other.der()));
        let between = between.collect::<Result<Vec<_>, _>>().map_err(|_| CertificateError::BadEncoding)?;
        let path_of_ours: Vec<_> = std::iter::once(first).chain(&between).collect();
        let mut outcome = Err(CertificateError::UnknownIssuer.into());
        for root in self.roots.of(path.anchor()) {
            match rules.check_path(&path_of_ours, root) {
                Ok(()) => return Ok(()),
                Err(error) => outcome = Err(refused(error)),
            }
        }
        outcome
    }
}

/// A check of `gambeson-pki` that failed, as rustls tells it.
fn refused(error: ChainError) -> Error {
    Error::InvalidCertificate(CertificateError::Other(OtherError(Arc::new(error))))
}

/// A failure that webpki has found, as rustls tells it.
fn explained(error: webpki::Error) -> Error {
    use webpki::Error as Found;
    match error {
        Found::BadDer | Found::BadDerTime | Found::TrailingData(_) => CertificateError::BadEncoding,
        Found::CertNotValidYet { time, not_before } => {
            CertificateError::NotValidYetContext { time, not_before }
        }
        Found::CertExpired { time, not_after } => CertificateError::ExpiredContext { time, not_after },
        Found::InvalidCertValidity => CertificateError::Expired,
        Found::UnknownIssuer => CertificateError::UnknownIssuer,
        Found::InvalidSignatureForPublicKey => CertificateError::BadSignature,
        Found::UnsupportedSignatureAlgorithmContext(context) => {
            CertificateError::UnsupportedSignatureAlgorithmContext {
                signature_algorithm_id: context.signature_algorithm_id,
                supported_algorithms: context.supported_algorithms,
            }
        }
        other => CertificateError::Other(OtherError(Arc::new(other))),
    }
    .into()
}

impl ServerCertVerifier for ChainVerifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        _: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        self.verify(end_entity, intermediates, now, Purpose::ServerAuth)?;
        verify_server_name(&ParsedCertificate::try_from(end_entity)?, name)?;
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signed, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signed, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}

impl ClientCertVerifier for ChainVerifier {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &self.names
    }

    fn verify_client_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        self.verify(end_entity, intermediates, now, Purpose::ClientAuth)?;
        Ok(ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signed, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signed, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}
