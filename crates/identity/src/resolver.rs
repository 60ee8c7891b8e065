//! From a DID to its document: offline from cards, or from what a caller fetches.

use crate::document::MAX_DOCUMENT;
use crate::{Card, CardLog, Did, DidDocument, Error, Method, Reason, Result, Timestamp, json};
use std::collections::BTreeMap;
use std::sync::Arc;

#[cfg(not(target_family = "wasm"))]
mod directory;
#[cfg(not(target_family = "wasm"))]
pub use directory::CardDirectory;

/// Finds the document of a DID.
///
/// What an implementation returns must be authentic: verified cards, or a document that came over an authenticated way.
pub trait Resolver {
    /// The document as it holds at this time.
    ///
    /// # Errors
    ///
    /// [`Reason::UnknownDid`] if nobody here knows it; [`Reason::NotYetValid`] or [`Reason::Expired`] for its card.
    fn resolve(&self, did: &Did, now: Timestamp) -> Result<Arc<DidDocument>>;
}

impl<R: Resolver + ?Sized> Resolver for &R {
    fn resolve(&self, did: &Did, now: Timestamp) -> Result<Arc<DidDocument>> {
        (**self).resolve(did, now)
    }
}

impl<R: Resolver + ?Sized> Resolver for Arc<R> {
    fn resolve(&self, did: &Did, now: Timestamp) -> Result<Arc<DidDocument>> {
        (**self).resolve(did, now)
    }
}

/// Fetches an HTTPS address, for `did:web`: certificates checked, no redirect followed, no content coding but `identity`, at most `max_len` bytes.
///
/// Whoever names a DID chooses the host and the path. An implementation on a machine that reaches more than the public internet
/// looks at the addresses after they are resolved, and refuses those of the machine itself and of its own network: a name can lead to
/// `127.0.0.1` or `169.254.169.254`. A name in digits alone, or in hexadecimal ones, is no `did:web`.
pub trait Fetch {
    /// The body of a successful answer.
    ///
    /// # Errors
    ///
    /// [`Reason::UnknownDid`], with what went wrong; [`Reason::TooLarge`].
    fn get(&self, address: &str, max_len: usize) -> Result<Vec<u8>>;
}

/// Logs of cards in memory; `did:key` needs none.
///
/// ```
/// use gambeson_identity::{Agent, CardContent, CardLog, CardStore, Resolver, Timestamp};
///
/// let (agent, now) = (Agent::generate()?, Timestamp(1_795_330_800));
/// let log = CardLog::new(agent.first_card(now, now.after(3600), &CardContent::default())?)?;
///
/// let mut store = CardStore::default();
/// store.add(CardLog::verify(log.to_lines().as_bytes())?)?;
/// assert_eq!(store.resolve(agent.did(), now)?.id(), agent.did());
/// # Ok::<(), gambeson_identity::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct CardStore {
    logs: BTreeMap<Did, (CardLog, Arc<DidDocument>)>,
}

impl CardStore {
    /// Adds a log, or the longer log of a DID that is known.
    ///
    /// # Errors
    ///
    /// [`Reason::StaleCard`] if a longer log is known, [`Reason::BrokenChain`] if the logs contradict each other: then
    /// somebody signed two cards of one number, and neither is to be believed more.
    pub fn add(&mut self, log: CardLog) -> Result<()> {
        if let Some((known, _)) = self.logs.get(log.did()) {
            let contradiction = known.cards().iter().zip(log.cards()).any(|(a, b)| a.hash() != b.hash());
            if contradiction {
                return Err(Error::new(
                    Reason::BrokenChain,
                    format_args!("there are two different cards with one number of {}", log.did()),
                ));
            }
            if known.cards().len() > log.cards().len() {
                return Err(Error::new(
                    Reason::StaleCard,
                    format_args!("a newer card of {} is known", log.did()),
                ));
            }
        }
        let document = log.newest().shared_document().clone();
        self.logs.insert(log.did().clone(), (log, document));
        Ok(())
    }

    /// Forgets a DID, so that nothing tells a forged log of it from its own but what the log itself proves.
    pub fn remove(&mut self, did: &Did) -> Option<CardLog> {
        self.logs.remove(did).map(|(log, _)| log)
    }

    /// The newest card of a DID, if it is the one with this hash: then its owner need not send it.
    pub fn card_with_hash(&self, did: &Did, hash: &str) -> Option<&Card> {
        self.log(did).map(CardLog::newest).filter(|card| card.hash() == hash)
    }

    /// The log of a DID.
    pub fn log(&self, did: &Did) -> Option<&CardLog> {
        self.logs.get(did).map(|(log, _)| log)
    }
}

impl Resolver for CardStore {
    fn resolve(&self, did: &Did, now: Timestamp) -> Result<Arc<DidDocument>> {
        if did.method() == Method::Key {
            return DidDocument::of_did_key(did).map(Arc::new);
        }
        let (log, document) = self.logs.get(did).ok_or_else(|| unknown(did))?;
        let (from, until) = log.newest().validity();
        now.within(Some(from), Some(until), "the card")?;
        Ok(document.clone())
    }
}

/// Fetches documents of `did:web`, and asks another resolver for all else.
#[derive(Clone, Debug)]
pub struct Web<F, R> {
    fetch: F,
    others: R,
}

impl<F: Fetch, R: Resolver> Web<F, R> {
    /// Fetches with `fetch`.
    pub fn new(fetch: F, others: R) -> Self {
        Self { fetch, others }
    }
}

impl<F: Fetch, R: Resolver> Resolver for Web<F, R> {
    fn resolve(&self, did: &Did, now: Timestamp) -> Result<Arc<DidDocument>> {
        if did.method() != Method::Web {
            return self.others.resolve(did, now);
        }
        let address = did.web_address()?;
        let text = self.fetch.get(&address, MAX_DOCUMENT)?;
        let read = json::parse_object(&text, MAX_DOCUMENT).and_then(DidDocument::from_json);
        let document = read.map_err(|error| {
            Error::new(error.reason(), format_args!("from {address}: {}", error.detail()))
        })?;
        match document.id() == did {
            true => Ok(Arc::new(document)),
            false => Err(Error::new(
                Reason::NotBound,
                format_args!("the document at the address of {did} is of {}", document.id()),
            )),
        }
    }
}

fn unknown(did: &Did) -> Error {
    Error::new(Reason::UnknownDid, format_args!("{did} is unknown here"))
}
