//! Two rustls connections in memory, and chains made by gambeson-pki.

use std::fmt;
use std::sync::Arc;

use gambeson_pki::{Algorithm, Certificate, Form, PrivateKey, Purpose, Template};
use gambeson_rustls::{Builder, GROUPS, Preset, Scheme};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, Error, RootCertStore, ServerConfig, ServerConnection};

pub const NAME: &str = "server.example";

/// Every algorithm that signs, with the number of its scheme.
pub const SIGNATURES: [(Algorithm, u16); 14] = [
    (Algorithm::MlDsa44, 0x0904),
    (Algorithm::MlDsa65, 0x0905),
    (Algorithm::MlDsa87, 0x0906),
    (Algorithm::MlDsa87Ed448, 0xfe12),
    (Algorithm::MlDsa87EcdsaP384, 0xfe13),
    (Algorithm::MlDsa65Ed25519, 0xfe14),
    (Algorithm::MlDsa65EcdsaP384, 0xfe15),
    (Algorithm::MlDsa65EcdsaP256, 0xfe16),
    (Algorithm::MlDsa44Ed25519, 0xfe17),
    (Algorithm::MlDsa44EcdsaP256, 0xfe18),
    (Algorithm::Ed25519, 0x0807),
    (Algorithm::Ed448, 0x0808),
    (Algorithm::EcdsaP256, 0x0403),
    (Algorithm::EcdsaP384, 0x0503),
];

/// Every group and every scheme.
pub fn everything() -> Arc<CryptoProvider> {
    let mut builder = Builder::new(Preset::Default).groups(GROUPS);
    for (algorithm, number) in SIGNATURES {
        if let Ok(scheme) = Scheme::composite(algorithm, number) {
            builder = builder.scheme(scheme);
        }
    }
    Arc::new(builder.build().unwrap())
}

pub fn preset(preset: Preset) -> Arc<CryptoProvider> {
    Arc::new(preset.provider().unwrap())
}

/// A certificate of a server below `levels - 1` authorities, all with keys of one algorithm.
pub struct Chain {
    pub root: Certificate,
    pub sent: Vec<Certificate>,
    pub key: PrivateKey,
}

impl Chain {
    pub fn new(algorithm: Algorithm, levels: u8) -> Self {
        let mut issuer_key = PrivateKey::generate(algorithm).unwrap();
        let name = "CN=Root".parse().unwrap();
        let root = Template::authority(name).path_length(levels - 2).self_signed(&issuer_key).unwrap();
        let (mut issuer, mut sent) = (root.clone(), Vec::new());
        for level in (0..levels - 2).rev() {
            let key = PrivateKey::generate(algorithm).unwrap();
            let template = Template::authority(format!("CN=Authority {level}").parse().unwrap());
            let made = template.path_length(level).issue(&key.public_key(), &issuer, &issuer_key).unwrap();
            sent.insert(0, made.clone());
            (issuer, issuer_key) = (made, key);
        }
        let key = PrivateKey::generate(algorithm).unwrap();
        let certificate = Template::new("CN=Server".parse().unwrap())
            .alt_name(NAME.parse().unwrap())
            .purpose(Purpose::ServerAuth)
            .purpose(Purpose::ClientAuth)
            .issue(&key.public_key(), &issuer, &issuer_key)
            .unwrap();
        sent.insert(0, certificate);
        Self { root, sent, key }
    }

    pub fn certificates(&self) -> Vec<CertificateDer<'static>> {
        self.sent.iter().map(|certificate| CertificateDer::from(certificate.as_der().to_vec())).collect()
    }

    pub fn key(&self) -> PrivateKeyDer<'static> {
        der(&self.key)
    }

    pub fn roots(&self) -> RootCertStore {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from(self.root.as_der().to_vec())).unwrap();
        roots
    }

    pub fn server(&self, provider: &Arc<CryptoProvider>) -> ServerConfig {
        ServerConfig::builder_with_provider(provider.clone())
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(self.certificates(), self.key())
            .unwrap()
    }

    pub fn client(&self, provider: &Arc<CryptoProvider>) -> ClientConfig {
        ClientConfig::builder_with_provider(provider.clone())
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(self.roots())
            .with_no_client_auth()
    }
}

pub fn der(key: &PrivateKey) -> PrivateKeyDer<'static> {
    PrivatePkcs8KeyDer::from(key.to_pkcs8_der(Form::Seed).unwrap().to_vec()).into()
}

/// What each side said last.
pub struct Failure {
    pub client: Option<Error>,
    pub server: Option<Error>,
}

impl fmt::Debug for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "client: {:?}, server: {:?}", self.client, self.server)
    }
}

pub type Outcome = Result<Pair, Box<Failure>>;
pub type Pair = (ClientConnection, ServerConnection);

pub fn connect(client: ClientConfig, server: ServerConfig) -> Outcome {
    connect_to(NAME, client, server)
}

pub fn connect_to(name: &'static str, client: ClientConfig, server: ServerConfig) -> Outcome {
    connect_through(name, client, server, |_| ())
}

/// `middle` may change what the client sends first.
pub fn connect_through(
    name: &'static str,
    client: ClientConfig,
    server: ServerConfig,
    middle: impl FnOnce(&mut Vec<u8>),
) -> Outcome {
    let name = ServerName::try_from(name).unwrap();
    let client = ClientConnection::new(Arc::new(client), name);
    let mut client = client.map_err(|error| Box::new(Failure { client: Some(error), server: None }))?;
    let mut server = ServerConnection::new(Arc::new(server)).unwrap();
    let (mut middle, mut failure) = (Some(middle), Failure { client: None, server: None });
    loop {
        let mut up = Vec::new();
        while client.wants_write() {
            client.write_tls(&mut up).unwrap();
        }
        if let Some(middle) = middle.take() {
            middle(&mut up);
        }
        if let Err(error) = feed(&mut server, &up) {
            failure.server.get_or_insert(error);
        }
        let mut down = Vec::new();
        while server.wants_write() {
            server.write_tls(&mut down).unwrap();
        }
        if let Err(error) = feed(&mut client, &down) {
            failure.client.get_or_insert(error);
        }
        if !client.wants_write() && !server.wants_write() {
            break;
        }
    }
    if failure.client.is_none() && failure.server.is_none() {
        assert!(!client.is_handshaking() && !server.is_handshaking(), "both ended");
        return Ok((client, server));
    }
    Err(Box::new(failure))
}

fn feed<D>(connection: &mut rustls::ConnectionCommon<D>, mut bytes: &[u8]) -> Result<(), Error>
where
    rustls::ConnectionCommon<D>: Sized,
    D: rustls::SideData,
{
    while !bytes.is_empty() {
        connection.read_tls(&mut bytes).map_err(|error| Error::General(error.to_string()))?;
        connection.process_new_packets()?;
    }
    Ok(())
}

pub fn group_of(pair: &Pair) -> u16 {
    let (client, server) = (pair.0.negotiated_key_exchange_group(), pair.1.negotiated_key_exchange_group());
    let number = u16::from(client.unwrap().name());
    assert_eq!(number, u16::from(server.unwrap().name()), "both name the same group");
    number
}
