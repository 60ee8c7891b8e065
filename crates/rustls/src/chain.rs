//! Chains of certificates: `gambeson-pki` finds the path and checks its rules, with the signatures of a provider.

use std::cell::RefCell;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use gambeson_pki::{
    Certificate, ChainError, Failure, Purpose, RevocationList, SignedData, TrustedKey, Verifier,
};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::verify_server_name;
use rustls::crypto::{
    CryptoProvider, WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature,
};
use rustls::pki_types::{CertificateDer, ServerName, SignatureVerificationAlgorithm, TrustAnchor, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::{
    CertificateError, DigitallySignedStruct, DistinguishedName, Error, ExtendedKeyPurpose, OtherError,
    SignatureScheme,
};

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
    certificates: Vec<Certificate>,
    keys: Vec<TrustedKey>,
    names: Vec<DistinguishedName>,
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
        let certificate = Certificate::from_der(der).map_err(|_| CertificateError::BadEncoding)?;
        self.names.push(DistinguishedName::from(certificate.subject().to_der()));
        self.certificates.push(certificate);
        Ok(())
    }

    /// Trusts bare keys with names, such as the list of a browser. One whose name or constraints cannot be read is passed over: no certificate would
    /// lead to it.
    #[must_use]
    pub fn of_keys(keys: Vec<TrustAnchor<'static>>) -> Self {
        let mut roots = Self::default();
        for key in keys {
            let (name, spki) = (sequence(&key.subject), sequence(&key.subject_public_key_info));
            let constraints = key.name_constraints.as_ref().map(|constraints| sequence(constraints));
            if let Ok(trusted) = TrustedKey::from_der(&name, &spki, constraints.as_deref()) {
                roots.names.push(DistinguishedName::from(name));
                roots.keys.push(trusted);
            }
        }
        roots
    }

    /// Returns true if there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.certificates.is_empty() && self.keys.is_empty()
    }
}

/// A SEQUENCE of these contents: trust anchors have their parts without it.
fn sequence(contents: &[u8]) -> Vec<u8> {
    let length = contents.len().to_be_bytes();
    let length: Vec<u8> = length.into_iter().skip_while(|byte| *byte == 0).collect();
    let header = match (contents.len(), length.len()) {
        (short @ 0..0x80, _) => vec![0x30, short as u8],
        (_, bytes) => [&[0x30, 0x80 | bytes as u8], &length[..]].concat(),
    };
    [header, contents.to_vec()].concat()
}

impl fmt::Debug for Roots {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Roots({})", self.names.len())
    }
}

/// Verifies the chains of servers and of clients, for rustls.
///
/// The rules are those of [`Verifier`], and the signatures are verified by the algorithms of a provider, which may be others than those of `gambeson-pki`.
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
            names: roots.names.clone().into(),
            roots: Arc::new(roots),
            lists: Arc::new([]),
            algorithms: provider.signature_verification_algorithms,
        }
    }

    /// Looks up each certificate in the lists of its issuer, where there are some; a list that is out of its time or not signed by the issuer fails the
    /// chain.
    #[must_use]
    pub fn with_revocation(mut self, lists: Vec<RevocationList>) -> Self {
        self.lists = lists.into();
        self
    }

    /// The check that failed, of those that `gambeson-pki` makes and for which rustls has no name of its own.
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
        let first = Certificate::from_der(end_entity).map_err(|_| CertificateError::BadEncoding)?;
        // Some send more than the chain; what cannot be read is no part of it.
        let others: Vec<_> = intermediates.iter().filter_map(|der| Certificate::from_der(der).ok()).collect();
        let unknown = RefCell::new(Vec::new());
        let check =
            |data: &SignedData<'_>| verify_signature(self.algorithms.all, data, &mut unknown.borrow_mut());
        let verified = Verifier::new(&self.roots.certificates)
            .keys(&self.roots.keys)
            .signatures(&check)
            .at(UNIX_EPOCH + Duration::from_secs(now.as_secs()))
            .purpose(purpose)
            .revocation(&self.lists)
            .verify(&first, &others)
            .map(drop);
        verified.map_err(|error| self.told(error, now, unknown.into_inner()))
    }

    /// A check that failed, as rustls tells it: by its own names where it has some, because alerts follow from them. Of a root that is out of its time no alert
    /// speaks: it is none of the peer's certificates.
    fn told(&self, error: ChainError, now: UnixTime, unknown: Vec<u8>) -> Error {
        let seconds = |time: SystemTime| {
            UnixTime::since_unix_epoch(time.duration_since(UNIX_EPOCH).unwrap_or_default())
        };
        let of_root = self.roots.certificates.iter().any(|root| root.subject() == *error.subject());
        match error.failure() {
            Failure::UnknownIssuer { .. } => CertificateError::UnknownIssuer,
            Failure::Signature => CertificateError::BadSignature,
            Failure::Key(gambeson_pki::Error::SignatureAlgorithm { .. }) => {
                let known = self.algorithms.all.iter().map(|known| known.signature_alg_id());
                CertificateError::UnsupportedSignatureAlgorithmContext {
                    signature_algorithm_id: unknown,
                    supported_algorithms: known.collect(),
                }
            }
            Failure::Expired { until } if !of_root => {
                CertificateError::ExpiredContext { time: now, not_after: seconds(*until) }
            }
            Failure::NotYetValid { from } if !of_root => {
                CertificateError::NotValidYetContext { time: now, not_before: seconds(*from) }
            }
            Failure::Revoked { .. } => CertificateError::Revoked,
            Failure::Purpose { expected } => CertificateError::InvalidPurposeContext {
                required: match expected {
                    Purpose::ServerAuth => ExtendedKeyPurpose::ServerAuth,
                    _ => ExtendedKeyPurpose::ClientAuth,
                },
                presented: Vec::new(),
            },
            _ => CertificateError::Other(OtherError(Arc::new(error))),
        }
        .into()
    }
}

/// Verifies a signature with those of `algorithms` that are for this key and this kind of signature; without any, the kind goes into `unknown`.
fn verify_signature(
    algorithms: &[&dyn SignatureVerificationAlgorithm],
    data: &SignedData<'_>,
    unknown: &mut Vec<u8>,
) -> Result<(), gambeson_pki::Error> {
    let (key_kind, key) = data.key_parts()?;
    let kind = data.algorithm_contents()?;
    let mut fitting = algorithms
        .iter()
        .filter(|known| *known.signature_alg_id() == *kind && *known.public_key_alg_id() == *key_kind);
    let mut any = fitting.clone();
    if any.next().is_none() {
        *unknown = kind.to_vec();
        return Err(gambeson_pki::Error::SignatureAlgorithm { oid: data.algorithm_name() });
    }
    let holds = fitting.any(|known| known.verify_signature(key, data.message, data.signature).is_ok());
    if holds { Ok(()) } else { Err(gambeson_pki::Error::Signature) }
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
