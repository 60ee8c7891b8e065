//! The channels of an agent as its store has them.

use std::sync::Arc;

use bytes::Bytes;

use crate::cards::{Cards, DEFAULT_CAPACITY};
use crate::channel::row;
use crate::error::{Error, Result};
use crate::event::Occurrence;
use crate::life::piece_at;
use crate::member::{Listed, Me, Member};
use crate::name::ChannelId;
use crate::policy::Policy;
use crate::store::{Sealed, Store};

use gambeson_identity::CardLog;

/// A channel as its store has it, from when a [`Node`](crate::Node) had the store open. It needs no link and no service.
pub struct StoredChannel {
    member: Member,
    kept: Sealed,
}

impl std::fmt::Debug for StoredChannel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("StoredChannel").field(&self.id()).finish()
    }
}

impl StoredChannel {
    /// Reads the channels that an agent is in. `log` is the agent's own.
    ///
    /// Nothing is written: [`FileStore::open_read_only`](crate::FileStore::open_read_only) will do.
    ///
    /// # Errors
    /// [`Error::Store`], [`Error::BadStore`] for a store of another agent or one that is damaged.
    pub async fn all(me: &Me, log: &CardLog, store: Arc<dyn Store>) -> Result<Vec<Self>> {
        let Some(kept) = Sealed::existing(me.agent(), &store).await? else { return Ok(Vec::new()) };
        let cards = Arc::new(Cards::new(DEFAULT_CAPACITY));
        cards.add(log.clone())?;
        let mut channels = Vec::new();
        for id in kept.row("channels", 0, usize::MAX).await?.into_values() {
            let id = ChannelId(id[..].try_into().map_err(|_| Error::BadStore)?);
            let pieces = kept.row(&row(id, "member"), 0, usize::MAX).await?;
            // A channel that was left has none.
            if pieces.is_empty() {
                continue;
            }
            let pieces = pieces.into_iter().map(|(place, bytes)| (piece_at(place), bytes));
            let member = Member::restore(me, &cards, pieces)?;
            channels.push(Self { member, kept: kept.clone() });
        }
        Ok(channels)
    }

    /// Returns the channel's identifier.
    #[must_use]
    pub fn id(&self) -> ChannelId {
        self.member.id()
    }

    /// Returns the epoch.
    #[must_use]
    pub fn epoch(&self) -> u64 {
        self.member.epoch()
    }

    /// Returns the policy.
    #[must_use]
    pub fn policy(&self) -> &Policy {
        self.member.policy().policy()
    }

    /// Returns the members, in the order of the tree.
    ///
    /// # Errors
    /// As [`Member::members`].
    pub fn members(&self) -> Result<Vec<Listed>> {
        self.member.members()
    }

    /// Returns at most `most` occurrences from a position on, as [`Channel::history`](crate::Channel::history) does.
    ///
    /// # Errors
    /// [`Error::Store`], [`Error::BadStore`].
    pub async fn history(&self, from: u64, most: usize) -> Result<Vec<Occurrence>> {
        history(&self.kept, self.id(), from, most).await
    }
}

/// Reads at most `most` occurrences in a channel from a position on.
pub(crate) async fn history(
    kept: &Sealed,
    channel: ChannelId,
    from: u64,
    most: usize,
) -> Result<Vec<Occurrence>> {
    let rows = kept.row(&row(channel, "events"), from, most).await?;
    rows.into_iter()
        .map(|(position, bytes)| {
            Occurrence::parse(position, Bytes::from_owner(bytes)).map_err(|_| Error::BadStore)
        })
        .collect()
}
