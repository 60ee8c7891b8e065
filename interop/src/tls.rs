//! rustls over AWS-LC, in memory: our provider on one side, theirs on the other.

use std::sync::Arc;

use gambeson_pki::{Algorithm, Certificate, Form, PrivateKey, Purpose, Template};
use gambeson_rustls::{
    Builder, GROUPS, Group, KeyVerifier, Preset, client_with_raw_keys, server_with_raw_keys,
};
use libtest_mimic::Trial;
use rustls::crypto::{CryptoProvider, SupportedKxGroup, aws_lc_rs};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, HandshakeKind, RootCertStore, ServerConfig, ServerConnection};

use crate::tools::{Result, check};

/// What both know.
const GROUP_NUMBERS: [u16; 7] = [0x11ec, 0x11eb, 0x0201, 0x0202, 0x001d, 0x0017, 0x0018];
const ALGORITHMS: [Algorithm; 6] = [
    Algorithm::MlDsa44,
    Algorithm::MlDsa65,
    Algorithm::MlDsa87,
    Algorithm::EcdsaP256,
    Algorithm::EcdsaP384,
    Algorithm::Ed25519,
];

/// Handshakes with certificates and with raw public keys, in both roles.
#[must_use]
pub fn trials() -> Vec<Trial> {
    vec![
        Trial::test("tls::our_client_and_a_server_over_aws_lc", || every_pair(false)),
        Trial::test("tls::our_server_and_a_client_over_aws_lc", || every_pair(true)),
        Trial::test("tls::the_default_of_each_meets_that_of_the_other", defaults),
        Trial::test("tls::raw_public_keys_of_ml_dsa_65_both_ways", raw_keys),
    ]
}

fn ours(group: &'static Group) -> Result<Arc<CryptoProvider>> {
    Ok(Arc::new(Builder::new(Preset::Default).groups(&[group]).build()?))
}

fn theirs(number: u16) -> Result<Arc<CryptoProvider>> {
    let group = aws_lc_rs::ALL_KX_GROUPS.iter().find(|group| u16::from(group.name()) == number);
    let group: &'static dyn SupportedKxGroup = *group.ok_or(format!("AWS-LC has no group {number:#06x}"))?;
    Ok(Arc::new(CryptoProvider { kx_groups: vec![group], ..aws_lc_rs::default_provider() }))
}

fn every_pair(our_server: bool) -> Result {
    let mut ran = 0;
    for algorithm in ALGORITHMS {
        let chain = Chain::new(algorithm)?;
        for number in GROUP_NUMBERS {
            let group = GROUPS.iter().find(|group| group.number() == number).ok_or("a group of ours")?;
            let (client, server) = match our_server {
                true => (theirs(number)?, ours(group)?),
                false => (ours(group)?, theirs(number)?),
            };
            let met = shake(chain.client(&client)?, chain.server(&server)?)
                .map_err(|error| format!("{algorithm} over {group}: {error:?}"))?;
            check(met == (number, HandshakeKind::Full), format!("{algorithm} over {group}: {met:?}"))?;
            ran += 1;
        }
    }
    check(ran == 42, "every pair ran")
}

fn defaults() -> Result {
    let (ours, theirs) = (Arc::new(gambeson_rustls::provider()?), Arc::new(aws_lc_rs::default_provider()));
    let chain = Chain::new(Algorithm::MlDsa65)?;
    let whole = (0x11ec, HandshakeKind::Full);
    check(shake(chain.client(&ours)?, chain.server(&theirs)?)? == whole, "our client")?;
    check(shake(chain.client(&theirs)?, chain.server(&ours)?)? == whole, "our server")
}

fn raw_keys() -> Result {
    let (ours, theirs) = (Arc::new(gambeson_rustls::provider()?), Arc::new(aws_lc_rs::default_provider()));
    for (client, server) in [(&ours, &theirs), (&theirs, &ours)] {
        let (a, b) = (PrivateKey::generate(Algorithm::MlDsa65)?, PrivateKey::generate(Algorithm::MlDsa65)?);
        let load = |provider: &CryptoProvider, key: &PrivateKey| -> Result<_> {
            Ok(provider.key_provider.load_private_key(der(key)?)?)
        };
        let servers = KeyVerifier::one_of(client, [b.public_key().to_spki_der()]);
        let clients = KeyVerifier::one_of(server, [a.public_key().to_spki_der()]);
        let from = client_with_raw_keys(client.clone(), Some(load(client, &a)?), servers)?;
        let to = server_with_raw_keys(server.clone(), load(server, &b)?, Some(clients))?;
        check(shake(from, to)? == (0x11ec, HandshakeKind::Full), "both showed their keys")?;
    }
    Ok(())
}

/// A root, an authority, a server.
struct Chain {
    root: Certificate,
    sent: Vec<CertificateDer<'static>>,
    key: PrivateKey,
}

impl Chain {
    fn new(algorithm: Algorithm) -> Result<Self> {
        let (root_key, authority_key) = (PrivateKey::generate(algorithm)?, PrivateKey::generate(algorithm)?);
        let root = Template::authority("CN=Root".parse()?).path_length(1).self_signed(&root_key)?;
        let authority = Template::authority("CN=Authority".parse()?).path_length(0).issue(
            &authority_key.public_key(),
            &root,
            &root_key,
        )?;
        let key = PrivateKey::generate(algorithm)?;
        let server = Template::new("CN=Server".parse()?)
            .alt_name("server.example".parse()?)
            .purpose(Purpose::ServerAuth)
            .issue(&key.public_key(), &authority, &authority_key)?;
        let sent = [server, authority].map(|made| CertificateDer::from(made.as_der().to_vec())).into();
        Ok(Self { root, sent, key })
    }

    fn client(&self, provider: &Arc<CryptoProvider>) -> Result<ClientConfig> {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from(self.root.as_der().to_vec()))?;
        Ok(ClientConfig::builder_with_provider(provider.clone())
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots)
            .with_no_client_auth())
    }

    fn server(&self, provider: &Arc<CryptoProvider>) -> Result<ServerConfig> {
        Ok(ServerConfig::builder_with_provider(provider.clone())
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(self.sent.clone(), der(&self.key)?)?)
    }
}

fn der(key: &PrivateKey) -> Result<PrivateKeyDer<'static>> {
    Ok(PrivatePkcs8KeyDer::from(key.to_pkcs8_der(Form::Seed)?.to_vec()).into())
}

/// Both sides to the end; which group they took.
fn shake(client: ClientConfig, server: ServerConfig) -> Result<(u16, HandshakeKind)> {
    let mut client = ClientConnection::new(Arc::new(client), ServerName::try_from("server.example")?)?;
    let mut server = ServerConnection::new(Arc::new(server))?;
    while client.is_handshaking() || server.is_handshaking() {
        let mut wire = Vec::new();
        while client.wants_write() {
            client.write_tls(&mut wire)?;
        }
        let mut rest = &wire[..];
        while !rest.is_empty() {
            server.read_tls(&mut rest)?;
            server.process_new_packets()?;
        }
        wire.clear();
        while server.wants_write() {
            server.write_tls(&mut wire)?;
        }
        let mut rest = &wire[..];
        while !rest.is_empty() {
            client.read_tls(&mut rest)?;
            client.process_new_packets()?;
        }
    }
    let group = client.negotiated_key_exchange_group().ok_or("no group")?;
    Ok((u16::from(group.name()), client.handshake_kind().ok_or("no handshake")?))
}
