//! Which nodes a link connects to, and how.

use std::fmt;
use std::sync::Arc;

use base64ct::{Base64, Encoding};
use gambeson::secret::Secret;
use gambeson_pki::PemBlock;
use gambeson_rustls::rustls::pki_types::{
    CertificateDer, PrivateKeyDer, PrivatePkcs1KeyDer, PrivatePkcs8KeyDer, PrivateSec1KeyDer,
};
use zeroize::Zeroize;

use crate::error::{Error, Result};

/// Options of a connection to one node: its endpoint, TLS and credentials.
///
/// ```
/// use gambeson_slim::datapath::{Credentials, NodeOptions};
///
/// let node = NodeOptions::new("https://node.example:46357")
///     .with_credentials(Credentials::basic("alice", "correct horse battery staple")?);
/// assert_eq!(node.endpoint(), "https://node.example:46357");
/// # Ok::<(), gambeson_slim::Error>(())
/// ```
///
/// # Endpoints
///
/// | endpoint | connection |
/// | --- | --- |
/// | `http://host:port` or `host:port` | without TLS |
/// | `https://host:port` | TLS 1.3 or 1.2, with post-quantum key exchange if the node has it |
/// | `unix:///path/to/socket` | a socket of this machine, without TLS |
///
/// WebSocket endpoints (`ws://`, `wss://`) are refused: every node also takes gRPC.
#[derive(Clone)]
pub struct NodeOptions {
    pub(super) endpoint: String,
    pub(super) roots: Option<Arc<[CertificateDer<'static>]>>,
    pub(super) identity: Option<Arc<ClientIdentity>>,
    pub(super) credentials: Option<Credentials>,
    pub(super) post_quantum: bool,
}

/// The certificate and key of this end, for nodes that ask for them.
pub(super) struct ClientIdentity {
    pub(super) chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
}

impl ClientIdentity {
    pub(super) const fn key(&self) -> &PrivateKeyDer<'static> {
        &self.key
    }
}

impl Drop for ClientIdentity {
    fn drop(&mut self) {
        self.key.zeroize();
    }
}

impl NodeOptions {
    /// Options for a node at this endpoint, without credentials. `https://` trusts the system's roots.
    pub fn new(endpoint: impl Into<String>) -> Self {
        Self {
            endpoint: endpoint.into(),
            roots: None,
            identity: None,
            credentials: None,
            post_quantum: false,
        }
    }

    /// Returns the endpoint as it was given.
    #[must_use]
    pub fn endpoint(&self) -> &str {
        &self.endpoint
    }

    /// Returns the endpoint for error messages: without control characters, and without a password that was written into it by mistake.
    pub(super) fn shown(&self) -> String {
        let (scheme, rest) = self.endpoint.split_once("://").unwrap_or(("", &self.endpoint));
        let rest = rest.rsplit('@').next().unwrap_or_default();
        let shown = if scheme.is_empty() { rest.to_owned() } else { format!("{scheme}://{rest}") };
        shown.chars().filter(|of| !of.is_control()).collect()
    }

    /// Trusts these certificate authorities, and no others. They are PEM, one or more certificates.
    ///
    /// # Errors
    /// [`Error::NodeOptions`]: there is no certificate in it.
    pub fn with_roots(mut self, pem: &[u8]) -> Result<Self> {
        self.roots = Some(certificates(pem, "the file of certificate authorities")?.into());
        Ok(self)
    }

    /// Shows the node this certificate, with its chain, and proves that it has the key. Both are PEM.
    ///
    /// # Errors
    /// [`Error::NodeOptions`]: there is no certificate or no private key in it.
    pub fn with_client_certificate(mut self, chain: &[u8], key: &[u8]) -> Result<Self> {
        let chain = certificates(chain, "the client's certificate file")?;
        let key = private_key(key)?;
        self.identity = Some(Arc::new(ClientIdentity { chain, key }));
        Ok(self)
    }

    /// Sends these credentials. They are sent over `https://`, over `unix://` and to loopback addresses; over others,
    /// [`DatapathLink::connect`](super::DatapathLink::connect) refuses them, because they would go in the clear.
    #[must_use]
    pub fn with_credentials(mut self, credentials: Credentials) -> Self {
        self.credentials = Some(credentials);
        self
    }

    /// Refuses nodes that do not take part in post-quantum key exchange, for TLS and for the key of header MACs. Nodes with
    /// `enforce_pqc` do, and those from SLIM 3.3 on if they are asked.
    #[must_use]
    pub const fn require_post_quantum(mut self) -> Self {
        self.post_quantum = true;
        self
    }
}

fn certificates(pem: &[u8], file: &str) -> Result<Vec<CertificateDer<'static>>> {
    let blocks = PemBlock::read_all(pem, &["CERTIFICATE", "X509 CERTIFICATE", "X.509 CERTIFICATE"]);
    let blocks = blocks.map_err(|error| {
        Error::NodeOptions(format!("{file} contains no PEM certificate that can be read: {error}"))
    })?;
    Ok(blocks.iter().map(|block| block.as_der().to_vec().into()).collect())
}

fn private_key(pem: &[u8]) -> Result<PrivateKeyDer<'static>> {
    let wrong = |what: &dyn fmt::Display| {
        Error::NodeOptions(format!(
            "the client's key file contains no PEM private key that can be used: {what}"
        ))
    };
    let blocks = PemBlock::read_all(pem, &["PRIVATE KEY", "EC PRIVATE KEY", "RSA PRIVATE KEY"]);
    match &blocks.map_err(|error| wrong(&error))?[..] {
        [key] => {
            let der = key.as_der().to_vec();
            Ok(match key.label() {
                "PRIVATE KEY" => PrivatePkcs8KeyDer::from(der).into(),
                "EC PRIVATE KEY" => PrivateSec1KeyDer::from(der).into(),
                _ => PrivatePkcs1KeyDer::from(der).into(),
            })
        }
        keys => Err(wrong(&format_args!("it holds {} keys, where one is needed", keys.len()))),
    }
}

impl fmt::Debug for NodeOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NodeOptions")
            .field("endpoint", &self.shown())
            .field("roots", &self.roots.as_ref().map(|roots| roots.len()))
            .field("client_certificate", &self.identity.is_some())
            .field("credentials", &self.credentials)
            .field("post_quantum", &self.post_quantum)
            .finish()
    }
}

impl<T: Into<String>> From<T> for NodeOptions {
    fn from(endpoint: T) -> Self {
        Self::new(endpoint)
    }
}

/// Static credentials that a node may ask for, sent as the header `authorization`.
#[derive(Clone)]
pub struct Credentials {
    scheme: &'static str,
    pub(super) header: Arc<Secret<String>>,
}

impl Credentials {
    /// User name and password (RFC 7617).
    ///
    /// # Errors
    /// [`Error::NodeOptions`]: one of them is empty or has control characters, or the name has a colon.
    pub fn basic(user: &str, password: &str) -> Result<Self> {
        let wrong = |what: &str| Err(Error::NodeOptions(format!("credentials: {what}")));
        if user.is_empty() || password.is_empty() {
            return wrong("user name and password must not be empty");
        }
        if user.contains(':') || user.chars().chain(password.chars()).any(char::is_control) {
            return wrong("the user name has no colon, and neither has control characters");
        }
        let pair = joined([user, ":", password]);
        let encoded = Secret::new(Base64::encode_string(pair.expose().as_bytes()));
        Ok(Self { scheme: "basic", header: Arc::new(joined(["Basic ", encoded.expose(), ""])) })
    }

    /// A bearer token (RFC 6750), such as a JWT.
    ///
    /// # Errors
    /// [`Error::NodeOptions`]: it is empty or has other characters than tokens have.
    pub fn bearer(token: &str) -> Result<Self> {
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~+/=".contains(&byte);
        if token.is_empty() || !token.bytes().all(allowed) {
            return Err(Error::NodeOptions(
                "credentials: a bearer token consists of letters, digits and the characters - . _ ~ + / ="
                    .to_owned(),
            ));
        }
        Ok(Self { scheme: "bearer", header: Arc::new(joined(["Bearer ", token, ""])) })
    }
}

/// Joins texts in one allocation: text that grows leaves copies behind.
fn joined(parts: [&str; 3]) -> Secret<String> {
    let mut text = String::with_capacity(parts.iter().map(|part| part.len()).sum());
    parts.iter().for_each(|part| text.push_str(part));
    Secret::new(text)
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials").field("scheme", &self.scheme).finish_non_exhaustive()
    }
}
