//! Who the other one is, and whether that is who was wanted.

use std::fmt;
use std::sync::Arc;

use gambeson_identity::{
    Card, CardDirectory, CardLog, CardStore, Did, DidUrl, Kind, Reason, Relationship, Role, Timestamp,
};

use crate::error::{Error, Result};
use crate::key;

/// The cards that are known here. Against them those that come are held: an older log is refused, and one that contradicts.
pub trait Cards: Send + Sync {
    /// The log of that DID, if there is one.
    ///
    /// # Errors
    /// Why what lies there cannot be read or does not hold; then nobody is taken for that DID.
    fn log(&self, did: &Did) -> gambeson_identity::Result<Option<CardLog>>;
}

impl Cards for CardStore {
    fn log(&self, did: &Did) -> gambeson_identity::Result<Option<CardLog>> {
        Ok(self.log(did).cloned())
    }
}

impl Cards for CardDirectory {
    fn log(&self, did: &Did) -> gambeson_identity::Result<Option<CardLog>> {
        match self.path(did)?.try_exists() {
            Ok(false) => Ok(None),
            _ => self.log(did).map(Some),
        }
    }
}

type Policy = dyn Fn(&Card) -> bool + Send + Sync;

/// Who may be at the other end.
#[derive(Clone)]
pub struct Expected(Who);

#[derive(Clone)]
enum Who {
    One(Did),
    Accepted(Arc<Policy>),
}

impl Expected {
    /// This agent and nobody else.
    #[must_use]
    pub fn did(did: Did) -> Self {
        Self(Who::One(did))
    }

    /// Those whom `accepts` takes. It sees the newest card after everything else was checked, and before a byte is exchanged.
    pub fn accepting(accepts: impl Fn(&Card) -> bool + Send + Sync + 'static) -> Self {
        Self(Who::Accepted(Arc::new(accepts)))
    }

    fn check_did(&self, found: &Did) -> Result<()> {
        match &self.0 {
            Who::One(expected) if expected != found => {
                Err(Error::OtherPeer { expected: expected.clone(), found: found.clone() })
            }
            _ => Ok(()),
        }
    }

    fn check_card(&self, card: &Card) -> Result<()> {
        match &self.0 {
            Who::Accepted(accepts) if !accepts(card) => Err(Error::NotAdmitted(card.document().id().clone())),
            _ => Ok(()),
        }
    }
}

impl fmt::Debug for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Who::One(did) => write!(f, "Expected({did})"),
            Who::Accepted(_) => f.write_str("Expected(by policy)"),
        }
    }
}

/// The agent at the other end: its cards hold, and it has the identity key in the newest one.
#[derive(Clone, Debug)]
pub struct Peer {
    cards: CardLog,
    key: DidUrl,
}

impl Peer {
    /// Its DID.
    #[must_use]
    pub fn did(&self) -> &Did {
        self.cards.did()
    }

    /// Its cards. Whoever keeps them notices when an older log comes later.
    #[must_use]
    pub fn cards(&self) -> &CardLog {
        &self.cards
    }

    /// The key that it showed, by its URL in the newest card.
    #[must_use]
    pub fn key(&self) -> &DidUrl {
        &self.key
    }
}

/// What decides about the other one.
pub(crate) struct Terms {
    pub(crate) expected: Expected,
    pub(crate) known: Arc<dyn Cards>,
}

impl Terms {
    /// Judges an agent by the cards that it sent.
    ///
    /// What is known here is asked last: whoever does not have the key does not learn whom this agent knows.
    pub(crate) fn judge_cards(&self, lines: &[u8], spki: &[u8], now: Timestamp) -> Result<Peer> {
        let mut lines = CardLog::lines(lines);
        let first = lines.next().unwrap_or_default();
        // A log may be long, and its first card tells whose it is.
        let mut log = CardLog::verify(first)?;
        self.expected.check_did(log.did())?;
        for line in lines {
            log.append(line)?;
        }
        let shown = shown(log.newest(), spki).ok_or_else(|| Error::OtherKey(log.did().clone()))?;
        let mut store = CardStore::default();
        if let Some(known) = self.known.log(log.did())? {
            store.add(known)?;
        }
        store.add(log.clone())?;
        self.judge(log, shown, now)
    }

    /// Judges an agent by the hash of a card that is known here.
    pub(crate) fn judge_hash(&self, did: &Did, hash: &str, spki: &[u8], now: Timestamp) -> Result<Peer> {
        self.expected.check_did(did)?;
        let known = self.known.log(did)?.filter(|log| log.newest().hash() == hash);
        // For somebody with another key, nobody is known.
        let found = known.and_then(|log| shown(log.newest(), spki).map(|shown| (log, shown)));
        let (log, shown) = found.ok_or_else(|| Error::UnknownCards(did.clone()))?;
        self.judge(log, shown, now)
    }

    fn judge(&self, log: CardLog, key: DidUrl, now: Timestamp) -> Result<Peer> {
        let card = log.newest();
        let (from, until) = card.validity();
        now.within(Some(from), Some(until), "the card")?;
        check_use(card, &key, now)?;
        self.expected.check_card(card)?;
        Ok(Peer { cards: log, key })
    }
}

/// The URL of the identity key that was shown, if the card has it.
fn shown(card: &Card, spki: &[u8]) -> Option<DidUrl> {
    let of_role = |url: &DidUrl| {
        url.fragment().strip_prefix(Role::Identity.fragment()).is_some_and(|rest| rest.starts_with('-'))
    };
    let shown = |key: &gambeson_identity::VerifyingKey| key::is_same(spki, key);
    let mut methods = card.document().methods();
    let method = methods.find(|method| of_role(method.id()) && method.verifying_key().is_some_and(shown));
    method.map(|method| method.id().clone())
}

/// Whether the key authenticates, now.
fn check_use(card: &Card, url: &DidUrl, now: Timestamp) -> Result<()> {
    let document = card.document();
    // A revoked key is in no relationship any more: that it is revoked says more than that it has no purpose.
    match document.key_for(url, Kind::JsonWebKey, Relationship::Authentication, now) {
        Ok(_) => Ok(()),
        Err(error) if error.reason() == Reason::WrongPurpose => {
            document.key_of_role(url, Role::Identity, now)?;
            Err(error.into())
        }
        Err(error) => Err(error.into()),
    }
}
