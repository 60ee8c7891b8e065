//! The chain and the private key that this side shows.

use std::fmt;
use std::sync::Arc;

use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::CertifiedKey;
use rustls::{Error, OtherError};

/// Bytes of a Certificate message that rustls receives.
const LIMIT: usize = 0xffff;

/// Reads a private key and checks it against its chain, in the form that `SingleCertAndKey` of rustls takes.
///
/// rustls itself accepts a chain of any length, and every handshake with a longer one than it receives fails. Two certificates of
/// SLH-DSA-SHA2-256f are such a chain.
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
    let bytes = message_len(&certified.cert);
    if bytes > LIMIT {
        return Err(Error::Other(OtherError(Arc::new(ChainTooLong { bytes }))));
    }
    Ok(Arc::new(certified))
}

/// Bytes of a Certificate message without context and extensions (RFC 8446, section 4.4.2), with its header.
fn message_len(chain: &[CertificateDer<'_>]) -> usize {
    let entries = chain.iter().map(|certificate| 3 + certificate.len() + 2);
    4 + 1 + 3 + entries.sum::<usize>()
}

/// The chain is longer than the messages that rustls receives.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ChainTooLong {
    /// Bytes of the message with the chain.
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
            "the chain takes {} bytes in a handshake, of which rustls receives at most {LIMIT}: use fewer certificates, or \
             certificates with shorter signatures",
            self.bytes
        )
    }
}

impl std::error::Error for ChainTooLong {}
