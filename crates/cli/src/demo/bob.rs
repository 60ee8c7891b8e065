//! Bob, whose program ends without a word: a process of its own where a node of SLIM carries the channel, else a node in this one.

use super::apart::Apart;
use super::talk::{Ground, Person, hears, wrong};
use crate::error::Error;
use gambeson_identity::Did;
use gambeson_slim::{Admit, Channel, ChannelId, Node};

pub(super) enum Bob {
    Apart(Apart),
    Here(Box<Here>),
}

impl Bob {
    /// Comes, and waits for Alice's invitation.
    pub(super) async fn new(ground: &Ground, alice: Did) -> Result<Self, Error> {
        if let Ok(stock) = &ground.stock {
            let home = stock.folder.path().join("bob");
            return Ok(Self::Apart(Apart::new(home, stock.endpoint(), &alice).await?));
        }
        let mut here = Here { person: Person::new()?, alice, open: None };
        here.starts(ground).await?;
        Ok(Self::Here(Box::new(here)))
    }

    pub(super) fn did(&self) -> Did {
        match self {
            Self::Apart(bob) => bob.did.clone(),
            Self::Here(bob) => bob.person.did(),
        }
    }

    /// Waits until the invitation has come.
    pub(super) async fn joined(&mut self, id: &ChannelId) -> Result<(), Error> {
        match self {
            Self::Apart(bob) => bob.joined(id).await,
            Self::Here(bob) => bob.joined(id).await,
        }
    }

    /// Waits for these words of this sender.
    pub(super) async fn hears(&mut self, from: &Did, words: &str) -> Result<(), Error> {
        match self {
            Self::Apart(bob) => bob.hears(from, words).await,
            Self::Here(bob) => hears(bob.channel()?, from, words).await.map_err(wrong),
        }
    }

    /// Ends from one instruction to the next; tells what that was.
    pub(super) fn ends(&mut self) -> Result<String, Error> {
        match self {
            Self::Apart(bob) => Ok(format!("process {} was killed", bob.killed()?)),
            Self::Here(bob) => {
                bob.open = None;
                Ok("a node in this process was dropped".to_owned())
            }
        }
    }

    pub(super) async fn starts_again(&mut self, ground: &Ground, id: &ChannelId) -> Result<(), Error> {
        match self {
            Self::Apart(bob) => bob.starts(),
            Self::Here(bob) => {
                bob.starts(ground).await?;
                bob.joined(id).await
            }
        }
    }

    pub(super) async fn leaves(&mut self) -> Result<(), Error> {
        match self {
            Self::Apart(bob) => bob.leaves().await,
            Self::Here(bob) => bob.channel()?.leave().await.map_err(wrong),
        }
    }
}

/// A node in this process.
pub(super) struct Here {
    person: Person,
    alice: Did,
    open: Option<(Node, Option<Channel>)>,
}

impl Here {
    async fn starts(&mut self, ground: &Ground) -> Result<(), Error> {
        let node = self.person.node(ground, Admit::From([self.alice.clone()].into())).await?;
        self.open = Some((node, None));
        Ok(())
    }

    async fn joined(&mut self, id: &ChannelId) -> Result<(), Error> {
        if let Some((node, channel)) = &mut self.open {
            *channel = Some(node.joined(id).await);
        }
        Ok(())
    }

    fn channel(&self) -> Result<&Channel, Error> {
        let channel = self.open.as_ref().and_then(|(_, channel)| channel.as_ref());
        channel.ok_or_else(|| Error::outside("Bob is in no channel"))
    }
}
