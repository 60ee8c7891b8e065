//! Channels of agents, for asyncio: `gambeson/channel` is made of these.
//!
//! Futures run on one runtime of threads beside the interpreter. What an application waits for is never taken for it by a future that it
//! may drop: [`NativeChannel::ready`] only waits, and [`NativeChannel::take`] takes.
//!
//! # Layout
//!
//! * `node`: the agent on a link; invitations
//! * `refusals`: exceptions

mod node;
mod refusals;

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use gambeson_identity::Did;
use gambeson_slim::{
    BridgeNews, Channel, ChannelId, Error, Event, FarEnd, FarMessage, MessageId, Occurrence, Purpose, Status,
    Warning,
};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};
use pyo3_async_runtimes::tokio::future_into_py;

use crate::convert::whole;
use crate::error::{USAGE, error};
use crate::fork::{check_channels, left_channels};
use crate::input::Owned;
pub use node::{Delivery, open_delivery};
pub use node::{Hub, Invitation, Node, channel_groups, open_node, rest_channels};
use refusals::{Raised, usage};

/// The longest time that somebody may ask to wait, in seconds: a year.
const LONGEST: f64 = 31_536_000.0;

/// A channel that an agent is a member of.
#[pyclass(frozen, module = "gambeson.channel")]
pub struct NativeChannel {
    did: String,
    id: ChannelId,
    /// None when it is closed: then nothing here keeps the agent's store open.
    channel: Mutex<Option<Channel>>,
    last: Mutex<Status>,
    came: Arc<Came>,
}

/// What came and was not taken.
#[derive(Default)]
struct Came {
    waiting: Mutex<VecDeque<Occurrence>>,
    /// Who holds it reads the channel.
    turn: tokio::sync::Mutex<()>,
    /// Whether nobody reads it here any more.
    shut: AtomicBool,
}

impl NativeChannel {
    pub fn new(did: String, channel: Channel) -> Self {
        let (id, last) = (channel.id(), Mutex::default());
        Self { did, id, channel: Mutex::new(Some(channel)), last, came: Arc::default() }
    }

    fn status(&self, py: Python<'_>) -> PyResult<Status> {
        check_channels(py)?;
        Ok(match &*hold(&self.channel) {
            Some(channel) => channel.status(),
            None => hold(&self.last).clone(),
        })
    }

    /// The channel, unless it is closed.
    fn open(&self, py: Python<'_>) -> PyResult<Option<Channel>> {
        check_channels(py)?;
        Ok(hold(&self.channel).clone())
    }

    /// Works with the channel. What was begun is finished, even if nobody waits for it any more.
    fn work<'py, T, F>(
        &self,
        py: Python<'py>,
        work: impl FnOnce(Channel) -> F + Send + 'static,
    ) -> PyResult<Bound<'py, PyAny>>
    where
        F: Future<Output = gambeson_slim::Result<T>> + Send + 'static,
        T: for<'a> IntoPyObject<'a> + Send + 'static,
    {
        let channel = self.open(py)?;
        let work = async move { work(channel.ok_or(Error::Over)?).await };
        let work = pyo3_async_runtimes::tokio::get_runtime().spawn(work);
        future_into_py(py, async move { work.await.unwrap_or(Err(Error::WorkLost)).raised() })
    }

    /// Works with the channel as long as somebody waits for it.
    fn while_awaited<'py, T, F>(
        &self,
        py: Python<'py>,
        work: impl FnOnce(Channel) -> F + Send + 'static,
    ) -> PyResult<Bound<'py, PyAny>>
    where
        F: Future<Output = gambeson_slim::Result<T>> + Send + 'static,
        T: for<'a> IntoPyObject<'a> + Send + 'static,
    {
        let channel = self.open(py)?;
        future_into_py(py, async move { work(channel.ok_or(Error::Over).raised()?).await.raised() })
    }
}

#[pymethods]
impl NativeChannel {
    /// The channel's id, in hexadecimal digits.
    #[getter]
    fn id(&self) -> String {
        self.id.to_string()
    }

    /// The DID of this member.
    #[getter]
    fn did(&self) -> &str {
        &self.did
    }

    /// The epoch.
    #[getter]
    fn epoch(&self, py: Python<'_>) -> PyResult<u64> {
        Ok(self.status(py)?.epoch)
    }

    /// The first 16 bytes of the epoch authenticator.
    #[getter]
    fn authenticator<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.status(py)?.authenticator))
    }

    /// The members: DID, role, how far behind, milliseconds since 1970 when heard of.
    fn members(&self, py: Python<'_>) -> PyResult<Vec<(String, String, u64, u64)>> {
        let members = self.status(py)?.members.into_iter();
        Ok(members.map(|member| (member.did, member.role, member.behind, member.heard)).collect())
    }

    /// Says something; the id of the message.
    fn send<'py>(&self, py: Python<'py>, data: Owned) -> PyResult<Bound<'py, PyAny>> {
        self.work(py, |channel| async move { channel.send(data.0).await.map(|id| id.to_string()) })
    }

    /// Replies to a request.
    fn reply<'py>(&self, py: Python<'py>, to: &str, data: Owned) -> PyResult<Bound<'py, PyAny>> {
        let to = message_id(py, to)?;
        self.work(py, |channel| async move { channel.reply(&to, data.0).await.map(|id| id.to_string()) })
    }

    /// Asks, and waits for the first reply: its id, its sender, what it says. If nobody waits any more, it ends at its deadline or with the agent.
    fn request<'py>(&self, py: Python<'py>, data: Owned, timeout: f64) -> PyResult<Bound<'py, PyAny>> {
        if !(0.0..=LONGEST).contains(&timeout) {
            return Err(error(py, USAGE, "a deadline must be a number of seconds, at most one year"));
        }
        let deadline = Duration::from_secs_f64(timeout);
        self.work(py, move |channel| async move {
            let (id, bytes) = channel.request(data.0, deadline).await?;
            Ok((id.to_string(), id.sender, bytes.to_vec()))
        })
    }

    /// What came, if anything did.
    fn take<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        check_channels(py)?;
        let next = hold(&self.came.waiting).pop_front();
        next.map(|occurrence| shown(py, occurrence)).transpose()
    }

    /// Returns when something came. What was taken before it may come again after a crash: all since the last time that nothing was left to
    /// take.
    fn ready<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let came = Arc::clone(&self.came);
        self.while_awaited(py, |channel| async move {
            let _turn = came.turn.lock().await;
            if came.shut.load(Ordering::SeqCst) {
                return Err(Error::Over);
            }
            if hold(&came.waiting).is_empty() {
                // It goes from the one queue to the other without a wait between: a future that is dropped here took nothing.
                let next = channel.next().await?;
                hold(&came.waiting).push_back(next);
            }
            Ok(())
        })
    }

    /// Reads no more here, and has what was not given to the application come again to who opens the channel next: from this position on or,
    /// without one, from what was not taken. No `ready` that somebody waits for may be under way.
    fn give_back<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = whole)] start: Option<u64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        check_channels(py)?;
        let came = Arc::clone(&self.came);
        came.shut.store(true, Ordering::SeqCst);
        self.while_awaited(py, move |channel| async move {
            // A `ready` that was given up ends first: it may have taken one more.
            let _turn = came.turn.lock().await;
            let next = hold(&came.waiting).front().map(|occurrence| occurrence.position);
            match start.or(next) {
                Some(position) => channel.read_again_from(position).await,
                None => Ok(()),
            }
        })
    }

    /// What happened from a position on.
    fn history<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = whole)] start: u64,
        #[pyo3(from_py_with = whole)] most: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        let channel = self.open(py)?;
        future_into_py(py, async move {
            let read = channel.ok_or(Error::Over).raised()?.history(start, most).await.raised()?;
            Python::attach(|py| {
                let shown = read.into_iter().map(|it| shown(py, it).map(Bound::unbind));
                shown.collect::<PyResult<Vec<_>>>()
            })
        })
    }

    /// Invites agents, by a delegation if it has links.
    fn invite<'py>(
        &self,
        py: Python<'py>,
        dids: Vec<String>,
        delegation: Vec<String>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let dids = parsed(py, &dids)?;
        self.work(py, |channel| async move { channel.invite_by(&dids, &delegation).await })
    }

    /// Removes members.
    fn remove<'py>(&self, py: Python<'py>, dids: Vec<String>) -> PyResult<Bound<'py, PyAny>> {
        let dids = parsed(py, &dids)?;
        self.work(py, |channel| async move { channel.remove(&dids).await })
    }

    /// Gives this member new keys.
    fn rotate<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.work(py, |channel| async move { channel.rotate().await })
    }

    /// Leaves.
    fn leave<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.work(py, |channel| async move { channel.leave().await })
    }

    /// Ends the channel for everybody.
    fn end<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.work(py, |channel| async move { channel.close().await })
    }

    /// Ends the work with the channel here.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        *hold(&self.last) = self.status(py)?;
        py.detach(|| drop(hold(&self.channel).take()));
        Ok(())
    }

    /// Comes back from outside.
    fn rejoin<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.work(py, |channel| async move { channel.rejoin().await })
    }
}

impl Drop for NativeChannel {
    fn drop(&mut self) {
        if left_channels() {
            leave(&mut self.channel);
        }
    }
}

/// Forgets what belongs to the parent of this process: its end would wait for threads that are not here.
fn leave<T>(slot: &mut Mutex<Option<T>>) {
    std::mem::forget(slot.get_mut().unwrap_or_else(PoisonError::into_inner).take());
}

fn hold<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

fn parsed(py: Python<'_>, dids: &[String]) -> PyResult<Vec<Did>> {
    dids.iter().map(|did| did.parse().map_err(|error| crate::error::refused(py, &error))).collect()
}

/// The id that [`MessageId`]'s `Display` wrote.
fn message_id(py: Python<'_>, text: &str) -> PyResult<MessageId> {
    let mut parts = text.rsplitn(4, '/');
    let mut number = || parts.next().and_then(|part| part.parse::<u64>().ok());
    let (index, counter, born) = (number(), number(), number());
    let index = index.and_then(|index| u16::try_from(index).ok());
    match (parts.next(), born, counter, index) {
        (Some(sender), Some(born), Some(counter), Some(index)) => {
            Ok(MessageId { sender: sender.to_owned(), born, counter, index })
        }
        _ => Err(usage(py, "this is not the id of a message")),
    }
}

/// For Python: position, milliseconds since 1970, kind; then of a message its id, sender, purpose, the request that it answers, and bytes; of a
/// client's words behind a bridge ("far") the bridge, the client, their kind, and bytes; of all else members, by whom, and a sentence.
fn shown(py: Python<'_>, occurrence: Occurrence) -> PyResult<Bound<'_, PyTuple>> {
    let Occurrence { position, at, event } = occurrence;
    let other = |kind: &str, members: Vec<String>, by: Option<String>, detail: String| {
        (position, at, kind, members, by, detail).into_pyobject(py)
    };
    match event {
        Event::Message { id, purpose, bytes } => {
            let (purpose, of) = match purpose {
                Purpose::Message => ("message", None),
                Purpose::Request => ("request", None),
                Purpose::Reply(of) => ("reply", Some(of.to_string())),
            };
            let said = (id.to_string(), id.sender, purpose, of, PyBytes::new(py, &bytes));
            (position, at, "message", said.0, said.1, said.2, said.3, said.4).into_pyobject(py)
        }
        Event::Bridge { id, news: BridgeNews::Said(FarMessage { from, kind, bytes }) } => {
            (position, at, "far", id.sender, from, kind, PyBytes::new(py, &bytes)).into_pyobject(py)
        }
        Event::Bridge { id, news } => {
            other("bridge", vec![id.sender.clone()], Some(id.sender), bridged(news))
        }
        Event::Joined { members, by, .. } => other("joined", members, Some(by), String::new()),
        Event::Left { members, .. } => other("left", members, None, String::new()),
        Event::Removed { members, by, .. } => other("removed", members, Some(by), String::new()),
        Event::Policy { by, .. } => other("policy", Vec::new(), Some(by), String::new()),
        Event::Rotated { by, .. } => other("rotated", vec![by.clone()], Some(by), String::new()),
        Event::Returned { member, .. } => {
            other("returned", vec![member.clone()], Some(member), String::new())
        }
        Event::Warning(warning) => {
            let (members, detail) = warned(warning);
            other("warning", members, None, detail)
        }
        Event::Fork(fork) => {
            let detail = format!(
                "the channel is forked: the log shows other members another state in epoch {}",
                fork.epoch
            );
            other("fork", Vec::new(), fork.by, detail)
        }
        _ => other("warning", Vec::new(), None, "an event that this version does not know".to_owned()),
    }
}

/// How a bridge stands: a sentence.
fn bridged(news: BridgeNews) -> String {
    match news {
        BridgeNews::Open(FarEnd { session, encrypted, clients }) => {
            let how = if encrypted { "with SLIM's own, classical encryption" } else { "without encryption" };
            format!("connected to the session {session} {how}, with these clients: {}", clients.join(", "))
        }
        BridgeNews::Missed(reason) => format!("a message was not forwarded: {reason}"),
        BridgeNews::Closed(reason) => format!("the bridge is closed: {reason}"),
        BridgeNews::Said(FarMessage { from, .. }) => format!("{from} said something"),
    }
}

/// Whom a warning concerns, and a sentence.
fn warned(warning: Warning) -> (Vec<String>, String) {
    match warning {
        Warning::Missing { sender, bundles } => {
            let detail = format!("{bundles} bundles of messages of {sender} are lost");
            (vec![sender], detail)
        }
        Warning::Pruned { from, to } => {
            (Vec::new(), format!("the log was pruned from {from} to {to} before it was read"))
        }
        Warning::Refused { place, reason } => {
            (Vec::new(), format!("the commit at {place} was refused: {reason}"))
        }
        Warning::Complaint { by, place, reason } => {
            let detail = format!("{by} cannot use the commit at {place}: {reason}");
            (vec![by], detail)
        }
        Warning::Silent { members } => (members, "these members sent no receipts for a long time".to_owned()),
        Warning::Outdated { member, reason } => (vec![member], reason),
        Warning::ForbiddenBridge { member } => {
            let detail = format!(
                "{member} claims to be a bridge, which the policy forbids: its messages are not shown"
            );
            (vec![member], detail)
        }
        Warning::Unsent { reason } => (Vec::new(), format!("a message was not sent: {reason}")),
        _ => (Vec::new(), "an event that this version does not know".to_owned()),
    }
}
