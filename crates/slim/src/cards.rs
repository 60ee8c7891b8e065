//! Identity cards that were resolved before something is judged.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use gambeson_identity::{
    Card, CardLog, CardStore, Did, DidDocument, DidUrl, Kind, Reason as Why, Relationship, Resolver, Role,
    Timestamp, VerifyingKey,
};

use crate::credential::{CardHash, Credential};
use crate::error::{Error, Result};
use crate::refusal::{Need, Reason, Refusal};

/// By how many seconds clocks of agents may differ.
pub const SKEW: u64 = 60;

/// How many DIDs are remembered, unless asked otherwise: as many members as a channel should have, and as many that came and went.
pub const DEFAULT_CAPACITY: usize = 20_000;

/// Logs of cards, each verified from the DID to the newest card, for many readers at once.
///
/// Everything about members is judged from here, and nothing is fetched meanwhile: what a message needs besides, it says as a [`Need`].
///
/// ```
/// use gambeson_identity::{Agent, CardContent, CardLog, Role, Timestamp};
/// use gambeson_slim::Cards;
///
/// let (agent, now) = (Agent::generate()?, Timestamp(1_795_330_800));
/// let content = CardContent { groups: vec![Role::GroupMlDsa65], ..CardContent::default() };
/// let log = CardLog::new(agent.first_card(now, now.after(3600), &content)?)?;
///
/// let cards = Cards::default();
/// cards.add(CardLog::verify(log.to_lines().as_bytes())?)?;
/// assert!(cards.knows(agent.did()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Cards {
    inner: RwLock<Inner>,
    capacity: usize,
    /// How often a DID that was known got a longer log.
    renewals: AtomicU64,
}

#[derive(Default)]
struct Inner {
    store: CardStore,
    hashes: HashMap<Did, Vec<CardHash>>,
}

/// What is wrong with who somebody says to be.
pub(crate) enum Doubt {
    /// Nobody here can tell: these cards are not known.
    Unknown(Need),
    /// It is wrong.
    Wrong(Refusal),
}

impl From<Refusal> for Doubt {
    fn from(refusal: Refusal) -> Self {
        Self::Wrong(refusal)
    }
}

impl Cards {
    /// Room for so many DIDs.
    #[must_use]
    pub fn new(capacity: usize) -> Self {
        Self { inner: RwLock::default(), capacity, renewals: AtomicU64::new(0) }
    }

    /// Adds a log, or the longer log of a DID that is known.
    ///
    /// # Errors
    /// [`Error::Cards`]: a longer log is known, the logs contradict each other, or there is no room.
    pub fn add(&self, log: CardLog) -> Result<()> {
        let hashes = log.cards().iter().map(CardHash::of).collect();
        let did = log.did().clone();
        let mut inner = self.inner.write().unwrap_or_else(PoisonError::into_inner);
        if !inner.hashes.contains_key(&did) && inner.hashes.len() >= self.capacity {
            let full = format!("the store of cards is full ({} DIDs)", self.capacity);
            return Err(Error::Cards(gambeson_identity::Error::new(Why::CacheFull, full)));
        }
        inner.store.add(log).map_err(Error::Cards)?;
        if inner.hashes.insert(did, hashes).is_some() {
            self.renewals.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Goes on whenever a DID that was known gets a longer log.
    pub(crate) fn renewals(&self) -> u64 {
        self.renewals.load(Ordering::Relaxed)
    }

    /// Forgets a DID: of who is in no channel any more, and was not for longer than others lag behind. Its cards are resolved anew when it comes again.
    pub fn forget(&self, did: &Did) {
        let mut inner = self.inner.write().unwrap_or_else(PoisonError::into_inner);
        inner.store.remove(did);
        inner.hashes.remove(did);
    }

    /// Whether another DID finds no room.
    pub(crate) fn is_full(&self) -> bool {
        self.inner.read().unwrap_or_else(PoisonError::into_inner).hashes.len() >= self.capacity
    }

    /// All that are known.
    pub(crate) fn dids(&self) -> Vec<Did> {
        self.inner.read().unwrap_or_else(PoisonError::into_inner).hashes.keys().cloned().collect()
    }

    /// Whether cards of this DID are known.
    pub fn knows(&self, did: &Did) -> bool {
        self.inner.read().unwrap_or_else(PoisonError::into_inner).hashes.contains_key(did)
    }

    /// Whether a need is met.
    pub fn meets(&self, need: &Need) -> bool {
        let inner = self.inner.read().unwrap_or_else(PoisonError::into_inner);
        inner.hashes.get(&need.did).is_some_and(|hashes| need.card.is_none_or(|card| hashes.contains(&card)))
    }

    /// The log of a DID.
    pub fn log(&self, did: &Did) -> Option<CardLog> {
        self.inner.read().unwrap_or_else(PoisonError::into_inner).store.log(did).cloned()
    }

    /// Whether this card lists this key for this role. With a time, the card must hold then: no other came after it, its time has come and is
    /// not over, and so it is with the key.
    pub(crate) fn judge(
        &self,
        credential: &Credential,
        role: Role,
        key: &[u8],
        at: Option<Timestamp>,
    ) -> std::result::Result<(), Doubt> {
        let inner = self.inner.read().unwrap_or_else(PoisonError::into_inner);
        let Credential { did, card } = credential;
        let need = || Doubt::Unknown(Need { did: did.clone(), card: Some(*card) });
        let place = inner.hashes.get(did).and_then(|hashes| hashes.iter().position(|hash| hash == card));
        let (place, log) = place.zip(inner.store.log(did)).ok_or_else(need)?;
        let shown = &log.cards()[place];
        if let Some(at) = at {
            let holds = holding(log, at).filter(|holding| holding.version() == shown.version());
            if holds.is_none() {
                let what = format!("card {} of {did} is not the valid card at {at}", shown.version());
                return Err(Refusal::new(Reason::StaleCard, what).into());
            }
        }
        let at = at.map_or(shown.validity().0, |at| at.max(shown.validity().0));
        let listed = shown.document().group_key(role, at).map_err(|error| match error.reason() {
            Why::KeyRevoked | Why::Expired => Refusal::new(Reason::RevokedKey, error.detail()),
            _ => Refusal::new(Reason::UnlistedKey, error.detail()),
        })?;
        if listed.1 != key {
            let what = format!("card {} of {did} does not list the leaf's key", shown.version());
            return Err(Refusal::new(Reason::UnlistedKey, what).into());
        }
        Ok(())
    }

    /// Why a leaf should be there no longer, if the newest card says so.
    pub(crate) fn outdated(&self, leaf: &Credential, role: Role, at: Timestamp) -> Option<String> {
        let inner = self.inner.read().unwrap_or_else(PoisonError::into_inner);
        let Credential { did, card } = leaf;
        let hashes = inner.hashes.get(did)?;
        let place = hashes.iter().position(|hash| hash == card)?;
        if place + 1 == hashes.len() {
            return None;
        }
        let log = inner.store.log(did)?;
        let (shown, newest) = (&log.cards()[place], log.newest());
        if at.after(SKEW) < newest.validity().0 {
            return None;
        }
        let (url, _) = shown.document().group_key(role, shown.validity().0).ok()?;
        let key = url.fragment();
        match newest.document().methods().find(|it| it.id() == url) {
            None => Some(format!("card {} of {did} no longer lists the leaf's key #{key}", newest.version())),
            Some(it) if it.revoked().is_some() => {
                Some(format!("card {} of {did} revokes the leaf's key #{key}", newest.version()))
            }
            Some(it) if it.expires().is_some_and(|end| end < at) => {
                Some(format!("key #{key} of {did} has expired, and its leaf has no other"))
            }
            Some(_) if shown.validity().1 < at => Some(format!(
                "card {} of {did} has expired, and its leaf names no newer card",
                shown.version()
            )),
            Some(_) => None,
        }
    }

    /// Whether `after` is a card of the same log as `before`, and not an earlier one.
    pub(crate) fn follows(
        &self,
        before: &Credential,
        after: &Credential,
    ) -> std::result::Result<bool, Doubt> {
        if before.did != after.did {
            return Ok(false);
        }
        let inner = self.inner.read().unwrap_or_else(PoisonError::into_inner);
        let place = |of: &Credential| {
            let hashes = inner.hashes.get(&of.did);
            hashes
                .and_then(|hashes| hashes.iter().position(|hash| *hash == of.card))
                .ok_or_else(|| Doubt::Unknown(Need { did: of.did.clone(), card: Some(of.card) }))
        };
        Ok(place(before)? <= place(after)?)
    }

    /// The signing key of this URL, as the card that held when something was issued has it. One that the newest card revokes is good for nothing,
    /// whenever that was: a thief writes the time that he likes.
    pub(crate) fn signing_key(
        &self,
        url: &DidUrl,
        issued: Timestamp,
    ) -> std::result::Result<VerifyingKey, Doubt> {
        let inner = self.inner.read().unwrap_or_else(PoisonError::into_inner);
        let log = inner.store.log(url.did());
        let log = log.ok_or_else(|| Doubt::Unknown(Need { did: url.did().clone(), card: None }))?;
        let wrong = |what: &dyn fmt::Display| Refusal::new(Reason::BadPolicySignature, what);
        let revoked = log.newest().document().methods().any(|it| it.id() == url && it.revoked().is_some());
        if revoked {
            return Err(wrong(&format_args!("the key #{} was revoked", url.fragment())).into());
        }
        let card = holding(log, issued)
            .ok_or_else(|| wrong(&format_args!("no card of {} was valid at {issued}", url.did())))?;
        let at = issued.max(card.validity().0);
        let key = card.document().key_for(url, Kind::JsonWebKey, Relationship::AssertionMethod, at);
        Ok(key.map_err(|error| wrong(&error))?.clone())
    }
}

/// The card that holds at a time: the last that has begun, unless it has ended.
fn holding(log: &CardLog, at: Timestamp) -> Option<&Card> {
    let begun = |card: &&Card| card.validity().0 <= at.after(SKEW);
    log.cards().iter().rev().find(begun).filter(|card| at <= card.validity().1)
}

impl Default for Cards {
    fn default() -> Self {
        Self::new(DEFAULT_CAPACITY)
    }
}

impl Resolver for Cards {
    fn resolve(&self, did: &Did, now: Timestamp) -> gambeson_identity::Result<Arc<DidDocument>> {
        self.inner.read().unwrap_or_else(PoisonError::into_inner).store.resolve(did, now)
    }
}

impl fmt::Debug for Cards {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inner = self.inner.read().unwrap_or_else(PoisonError::into_inner);
        write!(f, "Cards({} of {})", inner.hashes.len(), self.capacity)
    }
}
