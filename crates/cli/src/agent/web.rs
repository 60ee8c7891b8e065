//! Documents of `did:web`, fetched over HTTPS when that is asked for.

use super::addresses::Addresses;
use crate::error::Error;
use crate::files;
use gambeson_identity::{Error as Refusal, Fetch, Reason, Result};
use rustls::RootCertStore;
use rustls::pki_types::{CertificateDer, pem::PemObject};
use std::path::Path;
use std::time::Duration;
use ureq::tls::{Certificate, RootCerts, TlsConfig};

/// How long one document may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// The environment variable that may name a file of root certificates.
const VARIABLE: &str = "GAMBESON_WEB_ROOTS";

/// Fetches without following anybody: TLS with the roots of Mozilla or of a file, no redirect, no proxy, public addresses
/// alone, a bounded answer.
pub(super) struct Https(ureq::Agent);

impl Https {
    /// With the certificates of this file, or of that of the environment, in place of Mozilla's.
    pub(super) fn new(roots: Option<&Path>) -> std::result::Result<Self, Error> {
        let named = std::env::var_os(VARIABLE).filter(|path| !path.is_empty());
        let roots = match (roots, named) {
            (Some(path), _) => certificates(path)?,
            (None, Some(path)) => certificates(path.as_ref())?,
            (None, None) => RootCerts::WebPki,
        };
        let tls =
            TlsConfig::builder().unversioned_rustls_crypto_provider(provider()?).root_certs(roots).build();
        let config = ureq::Agent::config_builder()
            .https_only(true)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .http_status_as_error(false)
            .proxy(None)
            .timeout_global(Some(PATIENCE))
            .user_agent(concat!("gambeson/", env!("CARGO_PKG_VERSION")))
            .tls_config(tls)
            .build();
        let connector = ureq::unversioned::transport::DefaultConnector::default();
        Ok(Self(ureq::Agent::with_parts(config, connector, Addresses::of_environment())))
    }
}

/// Every certificate of a PEM file, of which there is one at least and none that cannot be a root.
fn certificates(path: &Path) -> std::result::Result<RootCerts, Error> {
    let text = files::read_small(path)?;
    let bad = |why: &dyn std::fmt::Display| Error::outside(format!("{}: {why}", path.display()));
    let (mut store, mut found) = (RootCertStore::empty(), Vec::new());
    for certificate in CertificateDer::pem_slice_iter(&text) {
        let certificate = certificate.map_err(|e| bad(&format_args!("not PEM: {e}")))?;
        found.push(Certificate::from_der(&certificate).to_owned());
        // `ureq` passes over what cannot be a root, and would then trust nobody without a word.
        store.add(certificate).map_err(|e| bad(&format_args!("certificate {}: {e}", found.len())))?;
    }
    match found.is_empty() {
        true => Err(bad(&"there is no certificate in it (PEM)")),
        false => Ok(found.into()),
    }
}

impl Fetch for Https {
    fn get(&self, address: &str, max_len: usize) -> Result<Vec<u8>> {
        let refused = |why: &dyn std::fmt::Display| {
            Refusal::new(Reason::UnknownDid, format_args!("{address} was not fetched: {why}"))
        };
        let mut response = self.0.get(address).call().map_err(|e| refused(&e))?;
        match response.status() {
            status if status == 200 => {}
            // Whoever can answer for the host can answer at the address itself.
            status if status.is_redirection() => {
                return Err(refused(&format_args!(
                    "status {status}, and nothing that redirects is followed"
                )));
            }
            status => return Err(refused(&format_args!("status {status}"))),
        }
        let body = response.body_mut().with_config().limit(max_len as u64);
        body.read_to_vec().map_err(|e| match e {
            ureq::Error::BodyExceedsLimit(_) => {
                let why = format_args!("{address} has more than {max_len} bytes, the most of a document");
                Refusal::new(Reason::TooLarge, why)
            }
            e => refused(&e),
        })
    }
}

/// With hybrid key exchange, and certificates of ML-DSA as well.
fn provider() -> std::result::Result<std::sync::Arc<rustls::crypto::CryptoProvider>, Error> {
    let provider = gambeson_rustls::provider().map_err(|error| Error::usage(format!("--web: {error}")))?;
    Ok(std::sync::Arc::new(provider))
}
