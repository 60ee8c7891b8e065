//! The chain and the private key that this side shows.

use std::fmt;
use std::sync::Arc;

use gambeson::slhdsa::ParameterSet;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::{CertifiedKey, SigningKey};
use rustls::{Error, OtherError};

use crate::scheme::SLH_DSA;

/// Bytes that rustls buffers of a row of handshake messages. It sends EncryptedExtensions, CertificateRequest, Certificate, CertificateVerify
/// and Finished as one row, whose messages share records.
const BUFFER: usize = 0xffff;
/// Bytes of the buffer for the messages beside Certificate and CertificateVerify, and for headers and tags of records. Without a
/// CertificateRequest they take 134.
const REST: usize = 2048;
/// Bytes of a signature of other algorithms than SLH-DSA: the longest, of MLDSA87-Ed448-SHAKE256, has 4,741.
const OTHER_SIGNATURE: usize = 5000;

/// Reads a private key and checks it against its chain, in the form that `SingleCertAndKey` of rustls takes.
///
/// rustls receives at most 64 KiB of certificates and signature together. It takes a longer chain of its own all the same, and every
/// handshake with it fails; this function refuses it. A certificate that SLH-DSA-SHA2-192f signed and a handshake that another key of this
/// set signs are already too long.
///
/// ```
/// use std::sync::Arc;
///
/// use gambeson_pki::{Algorithm, Form, PrivateKey, Template};
/// use gambeson_rustls::{Builder, Preset, certified_chain, rustls};
/// use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
/// use rustls::{ServerConfig, sign::SingleCertAndKey};
///
/// let key = PrivateKey::generate(Algorithm::SlhDsaSha2_128f)?;
/// let certificate = Template::new("CN=Example".parse()?).self_signed(&key)?;
/// let chain = vec![CertificateDer::from(certificate.as_der().to_vec())];
/// let key = PrivatePkcs8KeyDer::from(key.to_pkcs8_der(Form::Seed)?.to_vec()).into();
///
/// let provider = Arc::new(Builder::new(Preset::Default).slh_dsa().build()?);
/// let certified = certified_chain(chain, key, &provider)?;
/// let server = ServerConfig::builder_with_provider(provider)
///     .with_safe_default_protocol_versions()?
///     .with_no_client_auth()
///     .with_cert_resolver(Arc::new(SingleCertAndKey::from(certified)));
/// # let _ = server;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`ChainTooLong`] in [`Error::Other`]; those of [`CertifiedKey::from_der`].
pub fn certified_chain(
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
    provider: &CryptoProvider,
) -> Result<Arc<CertifiedKey>, Error> {
    let certified = CertifiedKey::from_der(chain, key, provider)?;
    let bytes = certificate_len(&certified.cert) + certificate_verify_len(&*certified.key);
    if bytes > BUFFER - REST {
        return Err(Error::Other(OtherError(Arc::new(ChainTooLong { bytes }))));
    }
    Ok(Arc::new(certified))
}

/// Bytes of a Certificate message without context and extensions (RFC 8446, section 4.4.2), with its header.
fn certificate_len(chain: &[CertificateDer<'_>]) -> usize {
    let entries = chain.iter().map(|certificate| 3 + certificate.len() + 2);
    4 + 1 + 3 + entries.sum::<usize>()
}

/// Bytes of the longest CertificateVerify message of a key (RFC 8446, section 4.4.3), with its header.
fn certificate_verify_len(key: &dyn SigningKey) -> usize {
    let scheme = SLH_DSA.iter().find(|scheme| key.choose_scheme(&[scheme.for_rustls()]).is_some());
    let set = scheme
        .and_then(|scheme| ParameterSet::ALL.iter().find(|set| set.name() == scheme.algorithm().name()));
    4 + 2 + 2 + set.map_or(OTHER_SIGNATURE, |set| set.signature_len())
}

/// The chain and a signature of its key are longer than what rustls receives in a handshake.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ChainTooLong {
    /// Bytes of the messages with the chain and the signature.
    pub bytes: usize,
}

/// In words, because rustls shows the errors of others in this form.
impl fmt::Debug for ChainTooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for ChainTooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the certificates and a signature take {} bytes of a handshake, where rustls receives at most {}: use fewer certificates, or \
             algorithms with shorter signatures",
            self.bytes,
            BUFFER - REST
        )
    }
}

impl std::error::Error for ChainTooLong {}
