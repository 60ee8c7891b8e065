//! TLS with clients and with the server, as the files of the command line have it now.

use super::super::{Lists, Noting, chains, own_chain, private_key, provider, server_name};
use crate::args::tls::TlsProxy;
use crate::error::Error;
use gambeson_pki::Certificate;
use gambeson_rustls::rustls::pki_types::{CertificateDer, ServerName};
use gambeson_rustls::rustls::server::NoServerSessionStorage;
use gambeson_rustls::rustls::sign::{CertifiedKey, SingleCertAndKey};
use gambeson_rustls::rustls::{self, ClientConfig, KeyLog, ServerConfig, version};
use gambeson_rustls::{certified_chain, explain};
use std::fmt::Display;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

/// Both sides.
pub(super) struct Sides {
    pub clients: Option<Clients>,
    pub server: Option<Server>,
    pub lists: Lists,
}

/// TLS with clients.
pub(super) struct Clients {
    pub config: Arc<ServerConfig>,
    pub key: Arc<CertifiedKey>,
    /// When the first certificate of the chain that we show ends.
    pub expires: SystemTime,
    /// Each shows a certificate, and is nobody before.
    pub show_certificates: bool,
}

/// TLS with the server.
pub(super) struct Server {
    pub config: Arc<ClientConfig>,
    pub name: ServerName<'static>,
}

impl Sides {
    /// Reads all files; `host` is where the server is, and `before` has the lists that were read before. Returns also what there is to say of lists.
    pub(super) fn read(
        options: &TlsProxy,
        host: &str,
        keys: Option<&Arc<dyn KeyLog>>,
        before: &Lists,
    ) -> Result<(Self, Vec<String>), Error> {
        let (lists, kept) = read_lists(options, before)?;
        let clients = match (&options.cert, &options.key) {
            (Some(cert), Some(key)) => Some(Clients::read(options, cert, key, keys, &lists)?),
            _ => None,
        };
        let server = if options.tls { Some(Server::read(options, host, keys, &lists)?) } else { None };
        Ok((Self { clients, server, lists }, kept))
    }
}

/// The lists of the command line, after those that were read before, and what there is to say of them.
fn read_lists(options: &TlsProxy, before: &Lists) -> Result<(Lists, Vec<String>), Error> {
    if !options.lists.is_empty() && options.client_ca.is_none() && !options.tls {
        let why = "--crl: no certificate is verified: that of clients is with --client-ca, that of the server with --tls";
        return Err(Error::usage(why));
    }
    let lists = Lists::read(&options.lists)?;
    lists.check_issuers(&[
        ("--client-ca", options.client_ca.as_deref()),
        ("--ca", options.ca.as_deref()),
        ("--cert", options.cert.as_deref()),
        ("--own-cert", options.own_cert.as_deref()),
    ])?;
    Ok(lists.after(before))
}

impl Clients {
    fn read(
        options: &TlsProxy,
        cert: &Path,
        key: &Path,
        keys: Option<&Arc<dyn KeyLog>>,
        lists: &Lists,
    ) -> Result<Self, Error> {
        let bad = |error: rustls::Error| wrong(cert, &explain(&error));
        let chain = own_chain(cert)?;
        let expires = judge(cert, &chain)?;
        let provider = Arc::new(provider(options.preset, options.slh_dsa)?);
        let key = private_key(key, options.passphrase.passphrase_fd, options.slh_dsa)?;
        let key = certified_chain(chain, key, &provider).map_err(bad)?;
        let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_protocol_versions(&[&version::TLS13])
            .map_err(bad)?;
        let builder = match &options.client_ca {
            None => builder.with_no_client_auth(),
            Some(path) => builder.with_client_cert_verifier(chains(Some(path), lists, &provider)?),
        };
        let resolver = SingleCertAndKey::from(Arc::clone(&key));
        let mut config = builder.with_cert_resolver(Arc::new(resolver));
        config.alpn_protocols = protocols(options);
        if options.client_ca.is_some() {
            // Who resumes shows no certificate: the one that was shown may have ended since.
            config.send_tls13_tickets = 0;
            config.session_storage = Arc::new(NoServerSessionStorage {});
        }
        if let Some(keys) = keys {
            config.key_log = Arc::clone(keys);
        }
        let show_certificates = options.client_ca.is_some();
        Ok(Self { config: Arc::new(config), key, expires, show_certificates })
    }
}

impl Server {
    fn read(
        options: &TlsProxy,
        host: &str,
        keys: Option<&Arc<dyn KeyLog>>,
        lists: &Lists,
    ) -> Result<Self, Error> {
        let name = server_name(options.name.as_deref().unwrap_or(host))?;
        let outside = |error: &dyn Display| Error::outside(error.to_string());
        let provider = Arc::new(provider(Some(options.offer), options.slh_dsa)?);
        let inner = chains(options.ca.as_deref(), lists, &provider)?;
        let algorithms = provider.signature_verification_algorithms;
        let verifier =
            Noting { inner: Some(inner), algorithms, schemes: algorithms.supported_schemes(), seen: None };
        let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_protocol_versions(&[&version::TLS13])
            .map_err(|error| outside(&error))?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier));
        let mut config = match (&options.own_cert, &options.own_key) {
            (Some(cert), Some(key)) => {
                let chain = own_chain(cert)?;
                judge(cert, &chain)?;
                let key = private_key(key, options.passphrase.passphrase_fd, options.slh_dsa)?;
                let key = certified_chain(chain, key, &provider);
                let key = key.map_err(|error| wrong(cert, &explain(&error)))?;
                builder.with_client_cert_resolver(Arc::new(SingleCertAndKey::from(key)))
            }
            _ => builder.with_no_client_auth(),
        };
        if let Some(keys) = keys {
            config.key_log = Arc::clone(keys);
        }
        Ok(Self { config: Arc::new(config), name })
    }
}

/// The protocols of the command line.
pub(super) fn protocols(options: &TlsProxy) -> Vec<Vec<u8>> {
    options.alpn.iter().map(|protocol| protocol.clone().into_bytes()).collect()
}

/// Refuses a chain of our own that no client could take: out of its time, or in which one does not come from the next. When its
/// first certificate ends.
fn judge(path: &Path, chain: &[CertificateDer<'_>]) -> Result<SystemTime, Error> {
    let read = chain.iter().map(|der| Certificate::from_der(der)).collect::<Result<Vec<_>, _>>();
    let read = read.map_err(|error| wrong(path, &error).because("bad-certificate"))?;
    let now = SystemTime::now();
    for (index, certificate) in read.iter().enumerate() {
        let number = index + 1;
        if now < certificate.not_before() || certificate.not_after() < now {
            let text =
                format!("certificate {number} ({}) has expired or is not valid yet", certificate.subject());
            return Err(wrong(path, &text).because("expired"));
        }
        let Some(next) = read.get(number) else { break };
        if certificate.issuer() != next.subject() {
            let text = format!(
                "certificate {number} does not come from certificate {}: the order is wrong",
                number + 1
            );
            return Err(wrong(path, &text).because("unknown-issuer"));
        }
        // Keys of other algorithms than ours, such as RSA, are left to the clients.
        if next.public_key().is_ok_and(|key| certificate.verify_signature(&key).is_err()) {
            let text = format!("certificate {number} is not signed by certificate {}", number + 1);
            return Err(wrong(path, &text).because("bad-signature"));
        }
    }
    Ok(read.first().map_or(now, Certificate::not_after))
}

fn wrong(path: &Path, error: &dyn Display) -> Error {
    Error::outside(format!("{}: {error}", path.display()))
}
