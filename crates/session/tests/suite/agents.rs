//! Agents, and a wire between two ends that counts.

#![allow(dead_code, clippy::unwrap_used)] // A test may fail that way.

use std::sync::Arc;

use gambeson_identity::{
    Agent, CardContent, CardLog, CardStore, MasterSeed, Retired, Role, Suite, Timestamp,
};
use gambeson_pki::{Algorithm, Form, PrivateKey, PublicKey};
use gambeson_rustls::rustls::pki_types::{PrivatePkcs8KeyDer, ServerName, SubjectPublicKeyInfoDer};
use gambeson_rustls::rustls::server::ServerSessionMemoryCache;
use gambeson_rustls::rustls::sign::{Signer, SigningKey};
use gambeson_rustls::rustls::{
    ClientConfig, ClientConnection, Connection, ServerConfig, ServerConnection, SignatureAlgorithm,
    SignatureScheme,
};
use gambeson_rustls::{
    Builder, Group, KeyVerifier, Preset, Scheme, X25519_MLKEM768, client_with_raw_keys, server_with_raw_keys,
};
use gambeson_session::{ALPN, Endpoint, Error, Expected, Session};

pub const NOW: Timestamp = Timestamp(1_795_330_800);
pub const YEAR: u64 = 31_536_000;

/// An agent and its cards.
#[derive(Clone)]
pub struct Someone {
    pub agent: Arc<Agent>,
    pub cards: CardLog,
}

impl Someone {
    pub fn new(seed: u8) -> Self {
        let agent = Agent::from_seed(MasterSeed::from_bytes(&[seed; 32]));
        let first = agent.first_card(NOW, NOW.after(YEAR), &CardContent::default()).unwrap();
        Self { agent: Arc::new(agent), cards: CardLog::new(first).unwrap() }
    }

    /// The same agent with a new identity key, an hour later.
    pub fn rotated(seed: u8, retired: Retired) -> Self {
        let Self { mut cards, .. } = Self::new(seed);
        let mut agent = Agent::from_seed(MasterSeed::from_bytes(&[seed; 32]));
        let validity = (NOW.after(3600), NOW.after(YEAR));
        agent.rotate(&mut cards, &[Role::Identity], retired, validity, &CardContent::default()).unwrap();
        Self { agent: Arc::new(agent), cards }
    }

    /// An agent of suite `cnsa2`.
    pub fn strong(seed: u8) -> Self {
        let agent = Agent::with_suite(MasterSeed::from_bytes(&[seed; 32]), Suite::Cnsa2);
        let first = agent.first_card(NOW, NOW.after(YEAR), &CardContent::default()).unwrap();
        Self { agent: Arc::new(agent), cards: CardLog::new(first).unwrap() }
    }

    pub fn endpoint(&self) -> Endpoint {
        Endpoint::new(self.agent.clone(), &self.cards).unwrap()
    }

    pub fn expected(&self) -> Expected {
        Expected::did(self.agent.did().clone())
    }
}

/// A memory with these cards.
pub fn knowing(known: &[&Someone]) -> Arc<CardStore> {
    let mut store = CardStore::default();
    known.iter().for_each(|someone| store.add(someone.cards.clone()).unwrap());
    Arc::new(store)
}

pub fn anybody() -> Expected {
    Expected::accepting(|_| true)
}

/// A key of nobody in particular.
pub fn fresh_key(algorithm: Algorithm) -> Arc<dyn SigningKey> {
    let key = PrivateKey::generate(algorithm).unwrap().to_pkcs8_der(Form::Seed).unwrap().to_vec();
    let provider = Preset::Default.provider().unwrap();
    provider.key_provider.load_private_key(PrivatePkcs8KeyDer::from(key).into()).unwrap()
}

/// rustls with a raw key, as far as sessions let it.
pub fn client_config(key: Arc<dyn SigningKey>, groups: &[&'static Group]) -> ClientConfig {
    let provider = Arc::new(Builder::new(Preset::Default).groups(groups).build().unwrap());
    let anybody = KeyVerifier::accepting(&provider, |_| true);
    let mut config = client_with_raw_keys(provider, Some(key), anybody).unwrap();
    config.alpn_protocols = vec![ALPN.to_vec()];
    config
}

/// The same; it would let others resume.
pub fn server_config(key: Arc<dyn SigningKey>) -> ServerConfig {
    let provider = Arc::new(Builder::new(Preset::Default).groups(&[&X25519_MLKEM768]).build().unwrap());
    let anybody = KeyVerifier::accepting(&provider, |_| true);
    let mut config = server_with_raw_keys(provider, key, Some(anybody)).unwrap();
    config.send_tls13_tickets = 2;
    config.session_storage = ServerSessionMemoryCache::new(16);
    config.alpn_protocols = vec![ALPN.to_vec()];
    config
}

/// The identity key of an agent in the hands of somebody who speaks TLS alone.
#[derive(Clone)]
pub struct Borrowed(pub Someone);

impl SigningKey for Borrowed {
    fn choose_scheme(&self, offered: &[SignatureScheme]) -> Option<Box<dyn Signer>> {
        offered.contains(&self.scheme()).then(|| -> Box<dyn Signer> { Box::new(self.clone()) })
    }

    fn public_key(&self) -> Option<SubjectPublicKeyInfoDer<'_>> {
        let key = self.0.agent.key(Role::Identity).verifying_key();
        let key = PublicKey::from_bytes(Algorithm::MlDsa65, key.as_bytes()).unwrap();
        Some(SubjectPublicKeyInfoDer::from(key.to_spki_der()))
    }

    fn algorithm(&self) -> SignatureAlgorithm {
        SignatureAlgorithm::Unknown(0)
    }
}

impl Signer for Borrowed {
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, gambeson_rustls::rustls::Error> {
        Ok(self.0.agent.key(Role::Identity).sign(b"", message).unwrap())
    }

    fn scheme(&self) -> SignatureScheme {
        SignatureScheme::from(Scheme::ML_DSA_65.number())
    }
}

impl std::fmt::Debug for Borrowed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Borrowed")
    }
}

/// Two sessions, and what went between them.
pub struct Pair {
    pub client: Session,
    pub server: Session,
    pub bytes: [usize; 2],
    pub now: Timestamp,
}

impl Pair {
    pub fn new(client: Session, server: Session) -> Self {
        Self { client, server, bytes: [0; 2], now: NOW.after(7200) }
    }

    /// Carries bytes until nothing moves; the first error of each side.
    pub fn run(&mut self) -> [Option<Error>; 2] {
        let mut errors = [None, None];
        loop {
            let up = carry(&mut self.client, &mut self.server, self.now, &mut errors[1]);
            let down = carry(&mut self.server, &mut self.client, self.now, &mut errors[0]);
            self.bytes[0] += up;
            self.bytes[1] += down;
            if up + down == 0 {
                return errors;
            }
        }
    }

    /// Until both know each other.
    pub fn establish(mut self) -> Self {
        let errors = self.run();
        assert!(errors.iter().all(Option::is_none), "{errors:?}");
        assert!(self.client.peer().is_some() && self.server.peer().is_some());
        self
    }

    /// Both sides refuse; the codes of client and server.
    pub fn codes(mut self) -> [String; 2] {
        let errors = self.run();
        assert!(self.client.peer().is_none() && self.server.peer().is_none());
        for session in [&mut self.client, &mut self.server] {
            assert!(session.send(b"secret").is_err());
            assert!(session.receive(&mut [0; 8]).is_err());
            assert!(session.channel_binding().is_err());
        }
        errors.map(|error| match error {
            Some(Error::RefusedByPeer(code)) => format!("peer: {code}"),
            Some(error) => error.code().to_owned(),
            None => "none".to_owned(),
        })
    }
}

/// Sends what waits; returns how many bytes moved.
fn carry(from: &mut Session, to: &mut Session, now: Timestamp, error: &mut Option<Error>) -> usize {
    let mut wire = Vec::new();
    while from.wants_write() {
        from.write_tls(&mut wire).unwrap();
    }
    deliver(&wire, to, now, error);
    wire.len()
}

pub fn deliver(mut wire: &[u8], to: &mut Session, now: Timestamp, error: &mut Option<Error>) {
    while !wire.is_empty() && error.is_none() {
        // Pieces of a length that fits nothing.
        let mut piece = &wire[..wire.len().min(1021)];
        let count = to.read_tls(&mut piece).unwrap();
        wire = &wire[count..];
        *error = to.process(now).err();
    }
}

/// Somebody with TLS, but without an agent: what it says is up to the test.
pub struct Stranger {
    pub tls: Connection,
    pub errors: Vec<gambeson_rustls::rustls::Error>,
}

impl Stranger {
    pub fn client(protocols: &[&[u8]], groups: &[&'static Group]) -> Self {
        let mut config = client_config(fresh_key(Algorithm::MlDsa65), groups);
        config.alpn_protocols = protocols.iter().map(|protocol| protocol.to_vec()).collect();
        Self::calling(&config)
    }

    /// As often as wanted with the same memory.
    pub fn calling(config: &ClientConfig) -> Self {
        let name = ServerName::try_from("agent.invalid").unwrap();
        let tls = ClientConnection::new(Arc::new(config.clone()), name).unwrap();
        Self { tls: Connection::Client(tls), errors: Vec::new() }
    }

    pub fn server(protocols: &[&[u8]]) -> Self {
        let mut config = server_config(fresh_key(Algorithm::MlDsa65));
        config.alpn_protocols = protocols.iter().map(|protocol| protocol.to_vec()).collect();
        Self::answering(&config)
    }

    pub fn answering(config: &ServerConfig) -> Self {
        let tls = ServerConnection::new(Arc::new(config.clone())).unwrap();
        Self { tls: Connection::Server(tls), errors: Vec::new() }
    }

    /// One that a session would talk to.
    pub fn caller() -> Self {
        Self::client(&[ALPN], &[&X25519_MLKEM768])
    }

    /// Says this after the handshake, and `last` at the end; the error of the session, and what the session said in the end.
    pub fn says(&mut self, session: &mut Session, words: &[u8], hangs_up: bool) -> (Option<Error>, Vec<u8>) {
        use std::io::{Read, Write};
        let (mut error, mut heard, mut said) = (None, Vec::new(), false);
        loop {
            let mut wire = Vec::new();
            while self.tls.wants_write() {
                self.tls.write_tls(&mut wire).unwrap();
            }
            let mut moved = wire.len();
            deliver(&wire, session, NOW.after(7200), &mut error);
            let mut wire = Vec::new();
            while session.wants_write() {
                session.write_tls(&mut wire).unwrap();
            }
            moved += wire.len();
            let mut rest = &wire[..];
            while !rest.is_empty() {
                self.tls.read_tls(&mut rest).unwrap();
                if let Err(error) = self.tls.process_new_packets() {
                    self.errors.push(error);
                    rest = &[];
                }
                let mut piece = [0; 4096];
                while let Ok(count @ 1..) = self.tls.reader().read(&mut piece) {
                    heard.extend_from_slice(&piece[..count]);
                }
            }
            if !self.tls.is_handshaking() && !said {
                said = true;
                self.tls.writer().write_all(words).unwrap();
                if hangs_up {
                    self.tls.send_close_notify();
                }
                continue;
            }
            if moved == 0 {
                return (error, heard);
            }
        }
    }
}
