//! Documents of `did:web`, fetched over HTTPS when that is asked for.

use super::addresses::Addresses;
use crate::error::Error;
use crate::https::{Client, Failure};
use crate::tls::{to_rustls, told};
use gambeson_identity::{Error as Refusal, Fetch, Reason, Result};
use gambeson_rustls::{ChainVerifier, Roots};
use rustls::ClientConfig;
use std::fmt::Display;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// How long one document may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// The environment variable that may name a file of root certificates.
const VARIABLE: &str = "GAMBESON_WEB_ROOTS";

/// Fetches without following anybody: TLS with the roots of Mozilla or of a file, no redirect, no proxy, public addresses
/// alone, a bounded answer.
pub(super) struct Https(Client);

impl Https {
    /// With the certificates of this file, or of that of the environment, in place of Mozilla's.
    pub(super) fn new(roots: Option<&Path>) -> std::result::Result<Self, Error> {
        let named = std::env::var_os(VARIABLE).filter(|path| !path.is_empty());
        let roots = match (roots, named) {
            (Some(path), _) => certificates(path)?,
            (None, Some(path)) => certificates(path.as_ref())?,
            (None, None) => Roots::of_keys(webpki_roots::TLS_SERVER_ROOTS.to_vec()),
        };
        // With hybrid key exchange, and certificates of ML-DSA as well.
        let outside = |error: &dyn Display| Error::usage(format!("--web: {error}"));
        let provider = Arc::new(gambeson_rustls::provider().map_err(|error| outside(&error))?);
        let verifier = ChainVerifier::new(roots, &provider);
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| outside(&error))?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier))
            .with_no_client_auth();
        Ok(Self(Client::new(Arc::new(config), PATIENCE, Some(PATIENCE), Addresses::of_environment(), |_| {
            Ok(())
        })))
    }
}

/// Every certificate of a file, of which there is one at least.
fn certificates(path: &Path) -> std::result::Result<Roots, Error> {
    let found = crate::cert::roots(path)?;
    Roots::of_certificates(found.iter().map(to_rustls))
        .map_err(|error| Error::outside(format!("{}: {error}", path.display())))
}

impl Fetch for Https {
    fn get(&self, address: &str, max_len: usize) -> Result<Vec<u8>> {
        let refused = |why: &dyn Display| {
            Refusal::new(Reason::UnknownDid, format_args!("{address} was not fetched: {why}"))
        };
        let answer = self.0.get(address, max_len as u64).map_err(|failure| match failure {
            Failure::TooLarge => {
                let why = format_args!("{address} has more than {max_len} bytes, the most of a document");
                Refusal::new(Reason::TooLarge, why)
            }
            Failure::Stream(error) => match error.get_ref().and_then(|inner| inner.downcast_ref()) {
                Some(error) => refused(&told(error).0),
                None => refused(&error),
            },
            Failure::Cut => refused(&"the answer was cut off"),
            Failure::NotHttp(why) => refused(&format_args!("the answer is not HTTP/1.1: {why}")),
            Failure::Coded(coding) => {
                refused(&format_args!("its content has the coding {coding:?}, which was not asked for"))
            }
            Failure::Other(error) => refused(&error),
        })?;
        match answer.status {
            status if status == 200 => Ok(answer.body),
            // Whoever can answer for the host can answer at the address itself.
            status if status.is_redirection() => {
                Err(refused(&format_args!("status {status}; redirects are not followed")))
            }
            status => Err(refused(&format_args!("status {status}"))),
        }
    }
}
