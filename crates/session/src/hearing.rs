//! What the other side says before applications speak, and what comes of it.

use std::sync::Arc;

use gambeson_identity::Timestamp;

use crate::error::{Error, Result};
use crate::message::Message;
use crate::peer::{Cards, Expected, Peer, Terms};

/// The beginning of a stream: first who it is, then whether it agrees.
pub(crate) struct Hearing {
    terms: Terms,
    /// Who it is, once it was taken here.
    pub(crate) peer: Option<Peer>,
    /// Whether it has taken this side, too.
    pub(crate) agreed: bool,
    /// Not looked at yet; after the agreement, the first bytes of the application.
    pub(crate) inbox: Vec<u8>,
}

/// What a message brought.
pub(crate) enum Heard {
    /// The other side is taken, and has to be told.
    Taken,
    /// So is this side.
    Agreed,
}

impl Hearing {
    pub(crate) fn new(terms: Terms) -> Self {
        Self { terms, peer: None, agreed: false, inbox: Vec::new() }
    }

    /// Hears the next message, if it is there whole. `key` is the raw public key that the other side proved to have.
    pub(crate) fn next(&mut self, key: Option<&[u8]>, now: Timestamp) -> Result<Option<Heard>> {
        let Some((message, len)) = Message::first(&self.inbox)? else { return Ok(None) };
        let key = || key.ok_or(Error::BadMessage);
        let heard = match (message, &self.peer) {
            (Message::Cards(lines), None) => {
                self.peer = Some(self.terms.judge_cards(lines, key()?, now)?);
                Heard::Taken
            }
            (Message::Hash(did, hash), None) => {
                self.peer = Some(self.terms.judge_hash(&did, hash, key()?, now)?);
                Heard::Taken
            }
            (Message::Ready, Some(_)) => {
                self.agreed = true;
                Heard::Agreed
            }
            (Message::Refused(code), _) => return Err(Error::RefusedByPeer(code.to_owned())),
            _ => return Err(Error::BadMessage),
        };
        self.inbox.drain(..len);
        Ok(Some(heard))
    }
}

/// Judges what an agent says after the handshake as a [`Session`](crate::Session) does, for who has it from elsewhere: a record of a
/// session, another program under test.
///
/// `said` is its stream from the first byte after the handshake on, `key` the raw public key (SubjectPublicKeyInfo in DER) that it
/// proved to have. Returns who it is, and how many bytes were messages: those behind are of the application.
///
/// ```
/// use std::sync::Arc;
///
/// use gambeson_identity::{Agent, CardContent, CardLog, CardStore, Role, Timestamp};
/// use gambeson_pki::{Algorithm, PublicKey};
/// use gambeson_session::{Expected, judge};
///
/// let (agent, now) = (Agent::generate()?, Timestamp(1_795_330_800));
/// let cards = CardLog::new(agent.first_card(now, now.after(86_400), &CardContent::default())?)?.to_lines();
/// let key = agent.key(Role::Identity).verifying_key();
/// let key = PublicKey::from_bytes(Algorithm::MlDsa65, key.as_bytes())?.to_spki_der();
///
/// let length = u32::try_from(cards.len())?.to_be_bytes();
/// let said = [&[1][..], &length, cards.as_bytes(), &[3, 0, 0, 0, 0], b"hello"].concat();
/// let known = Arc::new(CardStore::default());
/// let (peer, len) = judge(&said, &key, Expected::did(agent.did().clone()), known, now)?;
/// assert_eq!((peer.did(), &said[len..]), (agent.did(), &b"hello"[..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Those of [`Session::process`](crate::Session::process) that have nothing to do with TLS; [`Error::ClosedEarly`] if it says less than
/// who it is and that it agrees.
pub fn judge(
    said: &[u8],
    key: &[u8],
    expected: Expected,
    known: Arc<dyn Cards>,
    now: Timestamp,
) -> Result<(Peer, usize)> {
    let mut hearing = Hearing::new(Terms { expected, known });
    hearing.inbox = said.to_vec();
    while !hearing.agreed {
        hearing.next(Some(key), now)?.ok_or(Error::ClosedEarly)?;
    }
    let rest = hearing.inbox.len();
    let peer = hearing.peer.ok_or(Error::ClosedEarly)?;
    Ok((peer, said.len() - rest))
}
