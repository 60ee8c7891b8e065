//! A channel as an application sees it.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use gambeson_identity::Did;
use tokio::sync::{Mutex, Notify, mpsc, oneshot, watch};

use crate::bridge_news::{BridgeNews, FarEnd};
use crate::content::{MessageId, Purpose};
use crate::error::{Error, Result};
use crate::event::{Event, Occurrence};
use crate::member::MAX_CHANGES;
use crate::name::ChannelId;
use crate::policy::{Policy, SignedPolicy};
use crate::store::{Sealed, Writes};

/// How many occurrences are read from the store at once.
const READ_AT_ONCE: usize = 64;

/// What an application asks of its channel.
pub(crate) enum Command {
    Send(Purpose, Bytes, Answer<MessageId>),
    Invite(Vec<Did>, Vec<String>, Answer<()>),
    Remove(Vec<Did>, Answer<()>),
    Policy(Box<SignedPolicy>, Answer<()>),
    Rotate(Answer<()>),
    Leave(Answer<()>),
    Rejoin(Answer<()>),
    CatchUp(Answer<()>),
}

pub(crate) type Answer<T> = oneshot::Sender<Result<T>>;

/// A member, as others are shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemberStatus {
    /// Its DID.
    pub did: String,
    /// Its role, in the policy's word.
    pub role: String,
    /// How many of this member's own bundles it has given no receipt for.
    pub behind: u64,
    /// Milliseconds since 1970 when it was last heard of; 0: never.
    pub heard: u64,
    /// The classical clients behind it, if it is a bridge.
    pub bridge: Option<FarEnd>,
}

/// How a channel stands: what a dashboard shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// The epoch.
    pub epoch: u64,
    /// The first 16 bytes of the epoch authenticator: the same at all members.
    pub authenticator: [u8; 16],
    /// The suite's number.
    pub suite: u16,
    /// The members.
    pub members: Vec<MemberStatus>,
    /// The rules.
    pub policy: Option<Policy>,
    /// The place up to which the log was read.
    pub read: u64,
    /// The place of the newest commit.
    pub commit: u64,
    /// Bundles that the log has not taken yet.
    pub unsent: usize,
    /// Bundles that wait for others before them.
    pub held: usize,
    /// Messages and bytes sent by this member.
    pub sent: (u64, u64),
    /// Messages and bytes received.
    pub received: (u64, u64),
    /// Frames that were thrown away: duplicates, replays, forgeries, and what found no room.
    pub dropped: u64,
    /// Commits that this member made, and those that others were faster with.
    pub commits: (u64, u64),
    /// Whether two states of the channel were seen.
    pub forked: bool,
    /// Whether the policy lets members bridge to classical SLIM sessions.
    pub bridging: bool,
    /// Which members do, by DID, and what is behind each.
    pub bridges: BTreeMap<String, FarEnd>,
    /// Whether this member is in the channel no more.
    pub over: bool,
}

/// A channel that this agent is a member of. Clones are the same channel, and share what [`next`](Self::next) gives.
///
/// Calls may be dropped at any time: what was begun is finished. A call that waits behind sixty-four others has not begun.
#[derive(Clone)]
pub struct Channel {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) id: ChannelId,
    /// This member's DID.
    pub(crate) did: String,
    pub(crate) commands: mpsc::Sender<Command>,
    /// The same of what is to be said: it waits while much is unsent.
    pub(crate) words: mpsc::Sender<Command>,
    pub(crate) status: watch::Receiver<Status>,
    pub(crate) kept: Sealed,
    pub(crate) news: Arc<Notify>,
    pub(crate) reading: Mutex<Reading>,
}

/// How far the application has read.
#[derive(Default)]
pub(crate) struct Reading {
    /// The position that comes next.
    pub(crate) next: u64,
    /// Up to where the store knows it.
    pub(crate) written: u64,
    pub(crate) ahead: VecDeque<Occurrence>,
}

impl std::fmt::Debug for Channel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Channel").field(&self.inner.id).finish()
    }
}

/// The longest message, in bytes: what MLS, seals and padding (an eighth) add still is an entry of the log. A policy may allow less.
pub const MAX_MESSAGE: usize = 48 << 10;

impl Channel {
    /// Which channel.
    #[must_use]
    pub fn id(&self) -> ChannelId {
        self.inner.id
    }

    /// Says something to all members, at most [`MAX_MESSAGE`] bytes. It is kept here when this returns, and goes to the log as soon as there is one to take it.
    ///
    /// # Errors
    /// [`Error::MessageTooLarge`], [`Error::Refused`] for listeners and for what the policy does not allow, [`Error::Forked`], [`Error::Over`].
    pub async fn send(&self, bytes: impl Into<Bytes>) -> Result<MessageId> {
        self.say(Purpose::Message, bytes.into()).await
    }

    /// Says something that asks for a reply, and waits for the first.
    ///
    /// Replies are seen by all members, and are also among what [`next`](Self::next) gives.
    ///
    /// # Errors
    /// [`Error::NoReply`] after the deadline, and those of [`send`](Self::send).
    pub async fn request(&self, bytes: impl Into<Bytes>, deadline: Duration) -> Result<(MessageId, Bytes)> {
        let asked = async {
            let mut from = self.newest().await?;
            let id = self.say(Purpose::Request, bytes.into()).await?;
            loop {
                let news = self.inner.news.notified();
                for occurrence in self.history(from, READ_AT_ONCE).await? {
                    from = occurrence.position + 1;
                    match occurrence.event {
                        Event::Message { id: reply, purpose: Purpose::Reply(of), bytes } if of == id => {
                            return Ok((reply, bytes));
                        }
                        _ => {}
                    }
                }
                if self.newest().await? == from {
                    self.alive()?;
                    news.await;
                }
            }
        };
        tokio::time::timeout(deadline, asked).await.map_err(|_| Error::NoReply(deadline))?
    }

    /// Replies to a request.
    ///
    /// # Errors
    /// As [`send`](Self::send).
    pub async fn reply(&self, to: &MessageId, bytes: impl Into<Bytes>) -> Result<MessageId> {
        self.say(Purpose::Reply(to.clone()), bytes.into()).await
    }

    /// Sends news of a bridge to all members, who receive it as [`Event::Bridge`]: for a member that forwards messages between the
    /// channel and another system. Names, kinds and reasons are cut to 1,024 bytes, and the list of clients to the first
    /// [`MAX_NAMED_CLIENTS`](crate::MAX_NAMED_CLIENTS).
    ///
    /// # Errors
    /// [`Error::NotBridged`] if the policy does not allow bridges, and those of [`send`](Self::send).
    pub async fn send_bridge_news(&self, news: &BridgeNews) -> Result<MessageId> {
        self.say(Purpose::Message, news.to_bytes().into()).await
    }

    /// Up to which position a reader of this name has dealt with everything.
    #[cfg(feature = "websocket")]
    pub(crate) async fn cursor(&self, name: &str) -> Result<u64> {
        Ok(self.inner.kept.number(&row(self.inner.id, name), 0).await?.unwrap_or(0))
    }

    /// Keeps it.
    #[cfg(feature = "websocket")]
    pub(crate) async fn keep_cursor(&self, name: &str, position: u64) -> Result<()> {
        let mut writes = Writes::default();
        writes.put(&row(self.inner.id, name), 0, position.to_be_bytes().to_vec());
        self.inner.kept.apply(writes).await
    }

    /// What happened next. Each position is given once; after a crash those since the last [`acknowledge`](Self::acknowledge), or the last
    /// time that nothing was left to give, are given again.
    ///
    /// # Errors
    /// [`Error::Over`] when nothing will come any more, [`Error::Store`].
    pub async fn next(&self) -> Result<Occurrence> {
        let mut reading = self.inner.reading.lock().await;
        loop {
            let news = self.inner.news.notified();
            tokio::pin!(news);
            // What comes between the look and the wait is not missed.
            news.as_mut().enable();
            if let Some(occurrence) = reading.ahead.pop_front() {
                reading.next = occurrence.position + 1;
                return Ok(occurrence);
            }
            let next = reading.next;
            self.write_reading(&mut reading).await?;
            reading.ahead.extend(self.history(next, READ_AT_ONCE).await?);
            if reading.ahead.is_empty() {
                self.alive()?;
                news.await;
            }
        }
    }

    /// Keeps that everything which [`next`](Self::next) gave was dealt with.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn acknowledge(&self) -> Result<()> {
        let mut reading = self.inner.reading.lock().await;
        self.write_reading(&mut reading).await
    }

    /// Gives what happened from this position on, which an application was not shown after all, once more by [`next`](Self::next).
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn read_again_from(&self, position: u64) -> Result<()> {
        let mut reading = self.inner.reading.lock().await;
        reading.ahead.clear();
        reading.next = reading.next.min(position);
        self.write_reading(&mut reading).await
    }

    async fn write_reading(&self, reading: &mut Reading) -> Result<()> {
        if reading.next == reading.written {
            return Ok(());
        }
        let mut writes = Writes::default();
        writes.put(&row(self.inner.id, "cursor"), 0, reading.next.to_be_bytes().to_vec());
        self.inner.kept.apply(writes).await?;
        reading.written = reading.next;
        Ok(())
    }

    /// What happened from a position on, at most so much of it. Positions that retention has taken are left out.
    ///
    /// # Errors
    /// [`Error::Store`], [`Error::BadStore`].
    pub async fn history(&self, from: u64, most: usize) -> Result<Vec<Occurrence>> {
        crate::stored::history(&self.inner.kept, self.inner.id, from, most).await
    }

    /// As [`history`](Self::history), but waits until there is something. Dropping the future loses nothing.
    ///
    /// # Errors
    /// [`Error::Over`] when nothing will come any more, [`Error::Store`], [`Error::BadStore`].
    pub async fn since(&self, from: u64, most: usize) -> Result<Vec<Occurrence>> {
        loop {
            let news = self.inner.news.notified();
            tokio::pin!(news);
            news.as_mut().enable();
            let found = self.history(from, most).await?;
            if !found.is_empty() {
                return Ok(found);
            }
            self.alive()?;
            news.await;
        }
    }

    /// The position that the next occurrence will have.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn newest(&self) -> Result<u64> {
        Ok(self.inner.kept.number(&row(self.inner.id, "newest"), 0).await?.unwrap_or(1))
    }

    /// Invites agents, who need not be there; returns when a commit with them stands in the log. They are members from then on, and come when
    /// their own policy accepts.
    ///
    /// # Errors
    /// [`Error::NoKeyPackage`] for an agent that has published none, [`Error::Refused`] if this member may not, [`Error::Forked`],
    /// [`Error::Full`] where the log has no room and none is made, [`Error::Over`].
    pub async fn invite(&self, dids: &[Did]) -> Result<()> {
        self.invite_by(dids, &[]).await
    }

    /// Invites agents by the right of somebody else: `delegation` has the links of a chain, from the root, that lends this member the action
    /// `channel/invite` on the channel's resource ([`Policy::resource`]). Its root is a member who may invite; who stands between need not be one,
    /// and is looked for as those who are invited are where no cards are known here. Every member judges the chain. Without a link this is
    /// [`invite`](Self::invite).
    ///
    /// ```no_run
    /// use gambeson_identity::{Agent, Did, Timestamp, delegation::{Capability, Delegation}};
    /// use gambeson_slim::{Channel, Result};
    ///
    /// async fn lend(owner: &Agent, channel: &Channel, to: &Did, now: Timestamp) -> Option<String> {
    ///     let capability = Capability {
    ///         action: "channel/invite".parse().ok()?,
    ///         resource: channel.status().policy?.resource().parse().ok()?,
    ///         caveats: Vec::new(),
    ///     };
    ///     let lent = Delegation {
    ///         delegate: to.clone(),
    ///         from: now,
    ///         until: now.after(86_400),
    ///         capabilities: vec![capability],
    ///         max_depth: 0,
    ///         max_calls: None,
    ///         budget: None,
    ///         status: Vec::new(),
    ///     };
    ///     lent.sign(owner, None).ok()
    /// }
    ///
    /// async fn use_it(channel: &Channel, whom: Did, lent: String) -> Result<()> {
    ///     channel.invite_by(&[whom], &[lent]).await
    /// }
    /// ```
    ///
    /// # Errors
    /// [`Error::Refused`] with [`Reason::BadDelegation`](crate::Reason::BadDelegation) for a chain that does not give this right to this member, with
    /// [`Reason::BadProposal`](crate::Reason::BadProposal) for what is none, with [`Reason::NotPermitted`](crate::Reason::NotPermitted) where nobody may lend it,
    /// [`Error::NoCard`] if the cards of somebody in it are nowhere to be had; those of [`invite`](Self::invite).
    pub async fn invite_by(&self, dids: &[Did], delegation: &[String]) -> Result<()> {
        self.ask(|answer| Command::Invite(dids.to_vec(), delegation.to_vec(), answer)).await
    }

    /// Removes members; returns when the commit stands in the log. After a fork, too, which is over for the others when all who signed for
    /// another state are out.
    ///
    /// # Errors
    /// [`Error::Refused`] if this member may not, [`Error::Forked`] on another side of a fork than the log's, [`Error::Full`] where the
    /// log has no room and none is made, [`Error::Over`].
    pub async fn remove(&self, dids: &[Did]) -> Result<()> {
        self.ask(|answer| Command::Remove(dids.to_vec(), answer)).await
    }

    /// Puts a new policy in place: roles, rights, retention. Moderators are added and roles handed on this way.
    ///
    /// # Errors
    /// [`Error::Refused`], [`Error::Forked`] as [`remove`](Self::remove), [`Error::Full`] where the log has no room and none is made,
    /// [`Error::Over`].
    pub async fn change(&self, policy: SignedPolicy) -> Result<()> {
        self.ask(|answer| Command::Policy(Box::new(policy), answer)).await
    }

    /// Gives this member new keys: after this, what leaked before helps nobody.
    ///
    /// # Errors
    /// [`Error::Refused`], [`Error::Forked`], [`Error::Full`] where the log has no room and none is made, [`Error::Over`].
    pub async fn rotate(&self) -> Result<()> {
        self.ask(Command::Rotate).await
    }

    /// Leaves: asks those who may to take this member out, and returns when that is done or, if nobody is there to do it, after the
    /// deadline of the node's options. In any case the channel's secrets are gone here. The last owner makes those of the highest role that
    /// is left owners before it goes.
    ///
    /// # Errors
    /// [`Error::Over`].
    pub async fn leave(&self) -> Result<()> {
        self.ask(Command::Leave).await
    }

    /// Ends the channel for everybody: removes all others, and leaves.
    ///
    /// # Errors
    /// [`Error::Refused`] if this member may not remove them all, [`Error::Over`].
    pub async fn close(&self) -> Result<()> {
        loop {
            let others = self.members().into_iter().filter(|did| *did != self.inner.did).take(MAX_CHANGES);
            let others = others.map(|did| did.parse()).collect::<std::result::Result<Vec<Did>, _>>();
            let others = others.map_err(|_| Error::BadStore)?;
            if others.is_empty() {
                return self.leave().await;
            }
            self.remove(&others).await?;
        }
    }

    /// Comes back from outside: takes the state that the newest checkpoint of the log shows. After a fork, this is the decision for the
    /// log: who is on its side stays there, and takes nobody's word on an epoch up to this one any more; who is not comes back.
    ///
    /// # Errors
    /// [`Error::NoCheckpoint`] while nobody is there who makes one on the log's side, [`Error::Full`] where the log has no room,
    /// [`Error::Service`] while the log cannot be read to its end, [`Error::Refused`], [`Error::Over`].
    pub async fn rejoin(&self) -> Result<()> {
        self.ask(Command::Rejoin).await
    }

    /// Reads the log to its end.
    ///
    /// # Errors
    /// What the log says, or the blobs with what is too large for it; [`Error::Forked`] if it shows another entry where this member had read one; [`Error::Over`].
    pub async fn catch_up(&self) -> Result<()> {
        self.ask(Command::CatchUp).await
    }

    /// How the channel stands.
    #[must_use]
    pub fn status(&self) -> Status {
        self.inner.status.borrow().clone()
    }

    /// Calls `read` with the current status, and returns what it returns. It copies nothing: a channel may have thousands of members.
    /// The status cannot change while `read` runs.
    pub fn with_status<T>(&self, read: impl FnOnce(&Status) -> T) -> T {
        read(&self.inner.status.borrow())
    }

    /// The DIDs of the members.
    #[must_use]
    pub fn members(&self) -> Vec<String> {
        self.inner.status.borrow().members.iter().map(|member| member.did.clone()).collect()
    }

    /// Waits until the status is as asked.
    ///
    /// # Errors
    /// [`Error::Over`] if it never will be.
    pub async fn until(&self, mut as_asked: impl FnMut(&Status) -> bool) -> Result<()> {
        let mut status = self.inner.status.clone();
        status.wait_for(|status| as_asked(status)).await.map(drop).map_err(|_| Error::Over)
    }

    fn alive(&self) -> Result<()> {
        if self.inner.commands.is_closed() { Err(Error::Over) } else { Ok(()) }
    }

    async fn ask<T>(&self, command: impl FnOnce(Answer<T>) -> Command) -> Result<T> {
        Self::answered(&self.inner.commands, command).await
    }

    async fn say(&self, purpose: Purpose, bytes: Bytes) -> Result<MessageId> {
        Self::answered(&self.inner.words, |answer| Command::Send(purpose, bytes, answer)).await
    }

    async fn answered<T>(
        queue: &mpsc::Sender<Command>,
        command: impl FnOnce(Answer<T>) -> Command,
    ) -> Result<T> {
        let (answer, answered) = oneshot::channel();
        queue.send(command(answer)).await.map_err(|_| Error::Over)?;
        answered.await.map_err(|_| Error::Over)?
    }
}

/// The name of a row of a channel.
pub(crate) fn row(channel: ChannelId, what: &str) -> String {
    format!("{channel} {what}")
}
