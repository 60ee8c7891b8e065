//! Cards: the agent's own, those that it knows of others, and where others find them.

use std::collections::HashSet;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::TryStreamExt;
use gambeson_identity::{CardLog, Did};

use super::Shared;
use crate::archive::which_are_kept;
use crate::blobs::{BlobId, MAX_BLOB};
use crate::channel::Channel;
use crate::content::CardPlace;
use crate::error::{Error, Result};
use crate::hold;
use crate::member::Me;
use crate::side_by_side;
use crate::store::Writes;
use crate::wire::{Reader, Writer};

/// After how many milliseconds cards that were put or found are put or asked for again: a quarter of the shortest time for which a service is asked to
/// keep blobs, three quarters of which it keeps them in any case.
const PUT_AGAIN: u64 = 6 * 60 * 60 * 1000;

/// The agent as its newest card has it.
pub(crate) struct Present {
    pub(crate) me: Me,
    /// Where others find its cards, once they were put there.
    pub(crate) card: CardPlace,
    text: String,
}

impl Present {
    pub(super) fn new(me: Me, log: &CardLog) -> Arc<Self> {
        let text = log.to_lines();
        Arc::new(Self { card: place_of(me.did(), &text), me, text })
    }
}

/// Where the log of an agent's cards is found.
fn place_of(did: &Did, text: &str) -> CardPlace {
    let parts = text.as_bytes().chunks(MAX_BLOB).map(BlobId::of).collect();
    CardPlace { did: did.as_str().to_owned(), parts }
}

/// Where an agent's cards are in the row of cards.
fn card_number(did: &Did) -> u64 {
    let hash = blake3::hash(did.as_str().as_bytes());
    hash.as_bytes().first_chunk::<8>().map_or(0, |first| u64::from_be_bytes(*first))
}

impl Shared {
    /// Cards that were fetched and hold, and where they were.
    pub(crate) async fn learn(&self, log: CardLog, place: &CardPlace) -> Result<()> {
        if self.cards.is_full() && !self.cards.knows(log.did()) {
            self.forget_strangers().await?;
        }
        self.add(log, place)
    }

    pub(super) fn add(&self, log: CardLog, place: &CardPlace) -> Result<()> {
        let (known, told) = (self.cards.log(log.did()), log.cards().len());
        let known = known.map_or(0, |known| known.cards().len());
        if known < told {
            self.cards.add(log)?;
        }
        // What is older leads nobody to the newest.
        if known <= told {
            self.remember(place);
        }
        Ok(())
    }

    /// Forgets the cards of all who are in no channel of this agent: whoever is in one can name as many as he likes.
    async fn forget_strangers(&self) -> Result<()> {
        let channels: Vec<Channel> =
            hold(&self.living).values().map(|living| living.channel.clone()).collect();
        let members: Vec<_> = channels.iter().map(|channel| channel.status().members).collect();
        // One that has only just begun does not say yet who is in it.
        if members.iter().any(Vec::is_empty) {
            return Ok(());
        }
        let mut known: HashSet<String> = members.into_iter().flatten().map(|member| member.did).collect();
        known.insert(self.did.as_str().to_owned());
        let mut writes = Writes::default();
        for stranger in self.cards.dids().iter().filter(|did| !known.contains(did.as_str())) {
            self.cards.forget(stranger);
            hold(&self.places).remove(stranger.as_str());
            hold(&self.put).remove(stranger.as_str());
            writes.delete("cards", card_number(stranger));
        }
        self.kept.apply(writes).await
    }

    pub(crate) fn remember(&self, place: &CardPlace) {
        hold(&self.places).insert(place.did.clone(), place.clone());
    }

    pub(crate) fn knows(&self, place: &CardPlace) -> bool {
        hold(&self.places).get(&place.did) == Some(place)
            && place.did.parse::<Did>().is_ok_and(|did| self.cards.knows(&did))
    }

    pub(crate) fn card_place(&self, did: &Did) -> Option<CardPlace> {
        hold(&self.places).get(did.as_str()).cloned()
    }

    /// Where others find what is known here of an agent's cards: it is put there.
    pub(crate) async fn place(&self, did: &Did) -> Result<Option<CardPlace>> {
        let Some(log) = self.cards.log(did) else { return Ok(None) };
        let text = log.to_lines();
        let place = place_of(did, &text);
        self.put_card(&place, &text).await?;
        self.remember(&place);
        Ok(Some(place))
    }

    /// Has the service keep cards that somebody is led to, and says where they are: those that it has no more are put there as they are known here.
    pub(crate) async fn keep_cards(&self, places: &[CardPlace]) -> Result<Vec<CardPlace>> {
        let old: Vec<bool> = places.iter().map(|place| !self.was_put(place)).collect();
        let asked = places.iter().zip(&old).filter(|(_, old)| **old);
        let parts: Vec<BlobId> = asked.flat_map(|(place, _)| place.parts.iter().copied()).collect();
        let mut kept = which_are_kept(&*self.services.blobs, &parts).await?.into_iter();
        let named = places.iter().zip(old).map(|(place, old)| {
            let missing = old && kept.by_ref().take(place.parts.len()).filter(|kept| !kept).count() > 0;
            if old && !missing {
                self.is_put(place);
            }
            async move {
                let known = match place.did.parse() {
                    Ok(did) if missing => self.place(&did).await?,
                    _ => None,
                };
                Ok(known.unwrap_or_else(|| place.clone()))
            }
        });
        side_by_side(named).try_collect().await
    }

    pub(crate) fn present(&self) -> Arc<Present> {
        Arc::clone(&hold(&self.present))
    }

    /// Puts the agent's own cards where others find them.
    pub(crate) async fn put_present(&self, present: &Present) -> Result<()> {
        self.put_card(&present.card, &present.text).await
    }

    /// Puts the log of an agent's cards where others find it, unless that was done a while ago.
    async fn put_card(&self, place: &CardPlace, text: &str) -> Result<()> {
        if !self.was_put(place) {
            for part in text.as_bytes().chunks(MAX_BLOB) {
                self.services.blobs.put(Bytes::copy_from_slice(part)).await?;
            }
            self.is_put(place);
        }
        Ok(())
    }

    fn was_put(&self, place: &CardPlace) -> bool {
        let now = self.options.clock.now();
        // A clock that was put back says nothing.
        let lately = |at: u64| now.checked_sub(at).is_some_and(|age| age < PUT_AGAIN);
        hold(&self.put).get(&place.did).is_some_and(|(put, at)| put == place && lately(*at))
    }

    fn is_put(&self, place: &CardPlace) {
        hold(&self.put).insert(place.did.clone(), (place.clone(), self.options.clock.now()));
    }

    pub(super) async fn restore_places(&self) -> Result<()> {
        for bytes in self.kept.row("cards", 0, usize::MAX).await?.into_values() {
            let mut fields = Reader::new(Bytes::from_owner(bytes));
            let place = CardPlace::read(&mut fields).map_err(|_| Error::BadStore)?;
            let log = CardLog::verify(&fields.rest()).map_err(Error::Cards)?;
            self.add(log, &place)?;
        }
        Ok(())
    }

    /// What is known of cards, for the store: without them nobody's messages can be judged after a restart.
    pub(crate) fn write_card(&self, did: &Did, writes: &mut Writes) {
        let (Some(place), Some(log)) = (self.card_place(did), self.cards.log(did)) else { return };
        let bytes = place.write(Writer::default()).put(log.to_lines().as_bytes()).finish();
        writes.put("cards", card_number(did), bytes);
    }
}
