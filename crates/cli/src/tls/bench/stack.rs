//! Whose TLS, and with which chains.

use std::sync::Arc;

use gambeson_pki::{Algorithm, Certificate, Form, PrivateKey, Purpose, Template};
use gambeson_rustls::{Builder, Preset, X25519, X25519_MLKEM768};
use rustls::client::Resumption;
use rustls::client::danger::ServerCertVerifier;
use rustls::crypto::CryptoProvider;
use rustls::crypto::cipher::{AeadKey, Iv, MessageDecrypter, MessageEncrypter};
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer, ServerName};
use rustls::{
    ClientConfig, ClientConnection, Connection, ConnectionTrafficSecrets, RootCertStore, ServerConfig,
    ServerConnection,
};

use super::{CLASSICAL, Cost, DEFAULT, ECDSA, End, Failure, HYBRID, ML_DSA, Wires, meet};
use crate::tls::Noting;

/// One handshake, as often as it is called.
pub type Handshake = Box<dyn FnMut() -> Result<Cost, Failure>>;

/// Whose TLS is measured.
#[derive(Clone, Copy)]
pub struct Stack {
    /// What `--json` calls it.
    pub name: &'static str,
    /// A handshake of that row with that chain, which the client verifies or not; `None` for a row that this one does not have.
    pub handshake: fn(&Subject, &Chain, bool) -> Result<Option<Handshake>, Failure>,
}

/// This project's provider for rustls.
pub(super) const OURS: Stack = Stack {
    name: "rustls, gambeson",
    handshake: |subject, chain, verify| Ok(Some(rustls(subject.builder.build()?, chain, verify)?)),
};

/// What both sides of a row are made of.
pub struct Subject {
    /// The preset, or the algorithms.
    pub name: &'static str,
    pub(super) algorithm: Algorithm,
    builder: Builder,
}

pub(super) fn subjects() -> [Subject; 5] {
    let default = || Builder::new(Preset::Default);
    let subject = |name, algorithm, builder| Subject { name, algorithm, builder };
    [
        subject(CLASSICAL, Algorithm::Ed448, Builder::new(Preset::Classical448)),
        subject(HYBRID, Algorithm::MlDsa87Ed448, Builder::new(Preset::FullyHybrid)),
        subject(DEFAULT, Algorithm::EcdsaP256, default()),
        subject(ECDSA, Algorithm::EcdsaP256, default().groups(&[&X25519])),
        subject(ML_DSA, Algorithm::MlDsa65, default().groups(&[&X25519_MLKEM768])),
    ]
}

/// A root, what a server below it sends, and the server's key; all of one algorithm.
pub struct Chain {
    /// What the client trusts.
    pub root: CertificateDer<'static>,
    /// The server's certificate, and that of the authority between it and the root.
    pub sent: Vec<CertificateDer<'static>>,
    /// The server's key in PKCS#8, as a seed where there is one.
    pub key: Vec<u8>,
}

impl Chain {
    /// The name in the server's certificate.
    pub const NAME: &'static str = "localhost";

    pub(super) fn new(algorithm: Algorithm) -> Result<Self, Failure> {
        let root_key = PrivateKey::generate(algorithm)?;
        let root = Template::authority("CN=Root".parse()?).path_length(1).self_signed(&root_key)?;
        let key = PrivateKey::generate(algorithm)?;
        let template = Template::authority("CN=Authority".parse()?).path_length(0);
        let authority = template.issue(&key.public_key(), &root, &root_key)?;
        let server_key = PrivateKey::generate(algorithm)?;
        let server = Template::new("CN=Server".parse()?)
            .alt_name(Self::NAME.parse()?)
            .purpose(Purpose::ServerAuth)
            .issue(&server_key.public_key(), &authority, &key)?;
        let key = server_key.to_pkcs8_der(Form::Seed)?.to_vec();
        Ok(Self { root: der(&root), sent: vec![der(&server), der(&authority)], key })
    }
}

fn der(certificate: &Certificate) -> CertificateDer<'static> {
    CertificateDer::from(certificate.as_der().to_vec())
}

/// Takes every chain, and still verifies who signed the handshake: what the publication calls without verification.
pub fn anybody(provider: &CryptoProvider) -> Arc<dyn ServerCertVerifier> {
    let algorithms = provider.signature_verification_algorithms;
    Arc::new(Noting { inner: None, algorithms, schemes: algorithms.supported_schemes(), seen: None })
}

/// Handshakes of rustls with a provider.
///
/// # Errors
/// The provider does not know the chain's algorithm.
pub fn rustls(provider: CryptoProvider, chain: &Chain, verify: bool) -> Result<Handshake, Failure> {
    let (client, server) = configurations(provider, chain, verify)?;
    let (client, server) = (Arc::new(client), Arc::new(server));
    let name = ServerName::try_from(Chain::NAME)?;
    let mut wires = Wires::default();
    Ok(Box::new(move || {
        meet(
            &mut wires,
            || Ok(Connection::Client(ClientConnection::new(client.clone(), name.clone())?)),
            || Ok(Connection::Server(ServerConnection::new(server.clone())?)),
        )
    }))
}

fn configurations(
    provider: CryptoProvider,
    chain: &Chain,
    verify: bool,
) -> Result<(ClientConfig, ServerConfig), Failure> {
    let provider = Arc::new(provider);
    let mut server = ServerConfig::builder_with_provider(provider.clone())
        .with_protocol_versions(&[&rustls::version::TLS13])?
        .with_no_client_auth()
        .with_single_cert(chain.sent.clone(), PrivatePkcs8KeyDer::from(chain.key.clone()).into())?;
    server.send_tls13_tickets = 0;
    let builder = ClientConfig::builder_with_provider(provider.clone())
        .with_protocol_versions(&[&rustls::version::TLS13])?;
    let mut client = if verify {
        let mut roots = RootCertStore::empty();
        roots.add(chain.root.clone())?;
        builder.with_root_certificates(roots).with_no_client_auth()
    } else {
        let anybody = anybody(&provider);
        builder.dangerous().with_custom_certificate_verifier(anybody).with_no_client_auth()
    };
    client.resumption = Resumption::disabled();
    Ok((client, server))
}

/// What one side encrypts with, and the other decrypts with.
type Ciphers = (Box<dyn MessageEncrypter>, Box<dyn MessageDecrypter>);

/// Those after a handshake of `default`.
pub(super) fn ciphers() -> Result<Ciphers, Failure> {
    let provider = gambeson_rustls::provider()?;
    let suites = provider.cipher_suites.clone();
    let chain = Chain::new(Algorithm::EcdsaP256)?;
    let (mut client, mut server) = configurations(provider, &chain, false)?;
    (client.enable_secret_extraction, server.enable_secret_extraction) = (true, true);
    let name = ServerName::try_from(Chain::NAME)?;
    let mut client = Connection::Client(ClientConnection::new(Arc::new(client), name)?);
    let mut server = Connection::Server(ServerConnection::new(Arc::new(server))?);
    let (mut up, mut down) = (Vec::new(), Vec::new());
    while !client.is_ready() || !server.is_ready() {
        up.clear();
        client.advance(&down, &mut up)?;
        down.clear();
        server.advance(&up, &mut down)?;
    }
    let agreed = client.negotiated_cipher_suite().map(|suite| suite.suite());
    let suite = suites.iter().find(|suite| Some(suite.suite()) == agreed).and_then(|suite| suite.tls13());
    let aead = suite.ok_or("no suite of TLS 1.3 was agreed on")?.aead_alg;
    let (key, iv) = parts(client.dangerous_extract_secrets()?.tx.1)?;
    let encrypter = aead.encrypter(key, iv);
    let (key, iv) = parts(server.dangerous_extract_secrets()?.rx.1)?;
    Ok((encrypter, aead.decrypter(key, iv)))
}

fn parts(secrets: ConnectionTrafficSecrets) -> Result<(AeadKey, Iv), Failure> {
    match secrets {
        ConnectionTrafficSecrets::Aes128Gcm { key, iv }
        | ConnectionTrafficSecrets::Aes256Gcm { key, iv }
        | ConnectionTrafficSecrets::Chacha20Poly1305 { key, iv } => Ok((key, iv)),
        _ => Err("the preset's cipher suite is not known here".into()),
    }
}
