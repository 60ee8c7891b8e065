//! An agent that is ready for sessions.

use std::fmt;
use std::sync::Arc;

use gambeson_identity::{Agent, CardLog, Reason, Role};
use gambeson_rustls::rustls::client::Resumption;
use gambeson_rustls::rustls::pki_types::ServerName;
use gambeson_rustls::rustls::server::NoServerSessionStorage;
use gambeson_rustls::rustls::{ClientConfig, ClientConnection, Connection, ServerConfig, ServerConnection};
use gambeson_rustls::{
    Builder, KeyVerifier, Preset, X25519_MLKEM768, client_with_raw_keys, server_with_raw_keys,
};

use crate::ALPN;
use crate::error::{Error, Result};
use crate::key::{self, IdentityKey};
use crate::message::{MAX_CARDS_LEN, Message};
use crate::peer::{Cards, Expected, Terms};
use crate::session::Session;

/// What stands where TLS has a server's name. It is not sent.
const NO_NAME: &str = "agent.invalid";

/// An agent that is ready for sessions, as the one who calls and as the one who is called.
pub struct Endpoint {
    client: Arc<ClientConfig>,
    server: Arc<ServerConfig>,
    cards: CardLog,
    /// The first message of every session.
    introduction: Arc<[u8]>,
}

impl Endpoint {
    /// With the agent's own cards, which the other side will see.
    ///
    /// # Errors
    /// [`Error::Identity`]: `wrong-seed` if the newest card does not have the agent's identity key (that it still holds is for the
    /// other side to judge); [`Error::TooLong`]; [`Error::Unsupported`].
    pub fn new(agent: Arc<Agent>, cards: &CardLog) -> Result<Self> {
        let url = agent.key_url(Role::Identity);
        let own = agent.key(Role::Identity).verifying_key();
        let mut methods = cards.newest().document().methods();
        if !methods.any(|method| *method.id() == url && method.verifying_key() == Some(&own)) {
            let what = "the newest card does not have the identity key of this agent";
            return Err(gambeson_identity::Error::new(Reason::WrongSeed, what).into());
        }
        let len = cards.to_lines().len();
        if len > MAX_CARDS_LEN {
            return Err(Error::TooLong { len });
        }
        let provider = Builder::new(Preset::Default).groups(&[&X25519_MLKEM768]).build()?;
        let provider = Arc::new(provider);
        let own = Arc::new(IdentityKey::of(agent));
        // Whose key it is comes with the cards; TLS sees to it that the other side has it.
        let anybody = || KeyVerifier::accepting(&provider, |shown| key::is_of_an_agent(shown));
        let mut client = client_with_raw_keys(provider.clone(), Some(own.clone()), anybody())?;
        client.alpn_protocols = vec![ALPN.to_vec()];
        client.enable_sni = false;
        client.enable_early_data = false;
        client.resumption = Resumption::disabled();
        let mut server = server_with_raw_keys(provider.clone(), own, Some(anybody()))?;
        server.alpn_protocols = vec![ALPN.to_vec()];
        server.send_tls13_tickets = 0;
        server.max_early_data_size = 0;
        server.session_storage = Arc::new(NoServerSessionStorage {});
        Ok(Self {
            client: Arc::new(client),
            server: Arc::new(server),
            introduction: introduction(cards, false),
            cards: cards.clone(),
        })
    }

    /// Sends the hash of the newest card instead of all cards: the other side has them, or refuses (`unknown-cards`).
    #[must_use]
    pub fn known_to_peer(self, known: bool) -> Self {
        Self { introduction: introduction(&self.cards, known), ..self }
    }

    /// Calls somebody. `known` are the cards that are known here.
    ///
    /// # Errors
    /// [`Error::Tls`] when the system has no random bytes.
    pub fn connect(&self, expected: Expected, known: Arc<dyn Cards>) -> Result<Session> {
        let name = ServerName::try_from(NO_NAME).map_err(|_| Error::BadMessage)?;
        let connection = ClientConnection::new(self.client.clone(), name)?;
        Ok(self.session(Connection::Client(connection), expected, known))
    }

    /// Answers somebody who calls.
    ///
    /// # Errors
    /// None that is expected.
    pub fn accept(&self, expected: Expected, known: Arc<dyn Cards>) -> Result<Session> {
        let connection = ServerConnection::new(self.server.clone())?;
        Ok(self.session(Connection::Server(connection), expected, known))
    }

    fn session(&self, tls: Connection, expected: Expected, known: Arc<dyn Cards>) -> Session {
        Session::new(tls, self.introduction.clone(), Terms { expected, known })
    }
}

/// The cards, or the hash of the newest for somebody who has them.
fn introduction(cards: &CardLog, known: bool) -> Arc<[u8]> {
    let (hash, lines);
    let message = match known {
        true => {
            hash = cards.newest().hash();
            Message::Hash(cards.did().clone(), &hash)
        }
        false => {
            lines = cards.to_lines();
            Message::Cards(lines.as_bytes())
        }
    };
    message.encode().into()
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint").field("did", self.cards.did()).finish_non_exhaustive()
    }
}
