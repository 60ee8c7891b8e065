//! Calls that are done once, also when a client comes back.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use serde_json::Value;
use tokio::sync::{mpsc, watch};
use tokio::task::AbortHandle;
use tokio::time::Instant;

use super::protocol::{self, Call, Failure, MAX_UNSETTLED};
use crate::hold;

/// What goes to a client.
pub(super) type Out = mpsc::Sender<Arc<str>>;

/// A client, through all of its connections.
#[derive(Default)]
pub(super) struct Session(Mutex<State>);

#[derive(Default)]
struct State {
    /// The newest call that was made: none up to it that is not in `calls` is made again.
    newest: u64,
    /// Those that are not settled, at most [`MAX_UNSETTLED`].
    calls: BTreeMap<u64, Progress>,
    /// The connection of now.
    out: Option<(u64, Out, watch::Sender<bool>)>,
    connections: u64,
    left: Option<Instant>,
}

enum Progress {
    /// Under way; the handle gives it up.
    Begun(Option<AbortHandle>),
    Answered(Arc<str>),
}

impl Progress {
    fn give_up(&self) {
        if let Self::Begun(Some(handle)) = self {
            handle.abort();
        }
    }
}

/// What to do with a call.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Admitted {
    /// It is new: do it.
    Do,
    /// It was done, and this was the answer.
    Done(Arc<str>),
    /// It is under way; its answer will come.
    Wait,
}

impl Session {
    /// Takes over from an earlier connection, which is told to end. Returns the number of this one, and what tells it so.
    pub(super) fn connect(&self, out: Out) -> (u64, watch::Receiver<bool>) {
        let mut state = hold(&self.0);
        state.connections += 1;
        state.left = None;
        let (replaced, ended) = watch::channel(false);
        let number = state.connections;
        if let Some((_, _, former)) = state.out.replace((number, out, replaced)) {
            former.send_replace(true);
        }
        (number, ended)
    }

    /// The connection of this number is gone.
    pub(super) fn disconnect(&self, number: u64) {
        let mut state = hold(&self.0);
        if state.out.as_ref().is_some_and(|(current, ..)| *current == number) {
            state.out = None;
            state.left = Some(Instant::now());
        }
    }

    /// Since when it has no connection.
    pub(super) fn left(&self) -> Option<Instant> {
        hold(&self.0).left
    }

    /// Looks at a call: whether it is to be done.
    ///
    /// # Errors
    /// The client breaks the rules of the protocol.
    pub(super) fn admit(&self, call: &Call) -> Result<Admitted, &'static str> {
        let mut state = hold(&self.0);
        if call.settled >= call.id {
            return Err("the call to settle was not made yet");
        }
        if call.open.iter().flatten().any(|open| *open <= call.settled || *open >= call.id) {
            return Err("an open call must come after the settled calls and before the call that names it");
        }
        let settled = |id: u64| {
            let closed = |open: &[u64]| id < call.id && open.binary_search(&id).is_err();
            id <= call.settled || call.open.as_deref().is_some_and(closed)
        };
        state.calls.retain(|id, progress| {
            let settled = settled(*id);
            if settled {
                // Nobody waits for its answer, if it is still under way.
                progress.give_up();
            }
            !settled
        });
        match state.calls.get(&call.id) {
            Some(Progress::Answered(answer)) => Ok(Admitted::Done(Arc::clone(answer))),
            Some(Progress::Begun(_)) => Ok(Admitted::Wait),
            None if call.id <= state.newest => Err("the call was settled and cannot be made again"),
            None if state.calls.len() >= MAX_UNSETTLED => Err("more than 64 calls are open"),
            None => {
                state.newest = call.id;
                state.calls.insert(call.id, Progress::Begun(None));
                Ok(Admitted::Do)
            }
        }
    }

    /// Notes how to give a call up.
    pub(super) fn begun(&self, id: u64, handle: AbortHandle) {
        match hold(&self.0).calls.get_mut(&id) {
            Some(Progress::Begun(begun)) => *begun = Some(handle),
            Some(Progress::Answered(_)) => {}
            // It was settled, or its client forgotten, in between.
            None => handle.abort(),
        }
    }

    /// Gives up all that is under way: the client does not come back.
    pub(super) fn abandon(&self) {
        let calls = std::mem::take(&mut hold(&self.0).calls);
        calls.values().for_each(Progress::give_up);
    }

    /// A call is done: its answer is kept until it is settled, and sent if a client is there.
    pub(super) async fn answer(&self, id: u64, answer: Result<Value, Failure>) {
        let answer: Arc<str> = protocol::answer(id, answer).into();
        let out = {
            let mut state = hold(&self.0);
            // One that was given up has its answer already.
            let Some(progress @ Progress::Begun(_)) = state.calls.get_mut(&id) else { return };
            *progress = Progress::Answered(Arc::clone(&answer));
            state.out.as_ref().map(|(_, out, _)| out.clone())
        };
        if let Some(out) = out {
            let _ = out.send(answer).await;
        }
    }

    /// Gives a call up, if it is under way.
    pub(super) async fn cancel(&self, id: u64) {
        let handle = match hold(&self.0).calls.get_mut(&id) {
            Some(Progress::Begun(handle)) => handle.take(),
            _ => return,
        };
        if let Some(handle) = handle {
            handle.abort();
            self.answer(id, Err(Failure::new("cancelled", "the client cancelled the call"))).await;
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // A test may fail that way.

    use super::*;
    use crate::gateway::protocol::{Do, Nothing};

    fn call(id: u64, settled: u64) -> Call {
        Call { id, settled, open: None, what: Do::Channels(Nothing {}) }
    }

    /// The same of a client that waits for these calls before it, and for no others.
    fn beside(open: Vec<u64>, id: u64, settled: u64) -> Call {
        Call { open: Some(open), ..call(id, settled) }
    }

    #[tokio::test]
    async fn a_call_that_is_made_again_is_done_once_and_answered_the_same() {
        let session = Session::default();
        assert_eq!(session.admit(&call(1, 0)), Ok(Admitted::Do));
        assert_eq!(session.admit(&call(1, 0)), Ok(Admitted::Wait));
        let (out, mut sent) = mpsc::channel(4);
        session.connect(out);
        session.answer(1, Ok(Value::Null)).await;
        let answer = sent.recv().await.unwrap();
        assert_eq!(session.admit(&call(1, 0)), Ok(Admitted::Done(answer)));
        assert_eq!(session.admit(&call(2, 1)), Ok(Admitted::Do));
        assert!(session.admit(&call(1, 0)).is_err(), "its answer was settled, and forgotten");
    }

    #[tokio::test]
    async fn a_client_leaves_no_more_than_64_calls_open_and_settles_none_in_advance() {
        let session = Session::default();
        for id in 1..=64 {
            assert_eq!(session.admit(&call(id, 0)), Ok(Admitted::Do));
        }
        let [settled, late, open] = [(); 3].map(|()| tokio::spawn(std::future::pending::<()>()));
        session.begun(1, settled.abort_handle());
        session.begun(2, open.abort_handle());
        assert!(session.admit(&call(65, 0)).is_err());
        assert_eq!(session.admit(&call(65, 1)), Ok(Admitted::Do));
        assert!(session.admit(&call(66, 66)).is_err());
        assert!(settled.await.unwrap_err().is_cancelled(), "nobody waits for its answer");
        session.begun(1, late.abort_handle());
        assert!(late.await.unwrap_err().is_cancelled(), "it was settled before it began");
        assert!(!open.is_finished());
        open.abort();
    }

    #[tokio::test]
    async fn a_call_that_stays_open_keeps_no_other_from_being_made() {
        let session = Session::default();
        session.admit(&call(1, 0)).unwrap();
        let waits = tokio::spawn(std::future::pending::<()>());
        session.begun(1, waits.abort_handle());
        for id in 2..=300 {
            assert_eq!(session.admit(&beside(vec![1], id, 0)), Ok(Admitted::Do));
            session.answer(id, Ok(Value::Null)).await;
            assert_eq!(hold(&session.0).calls.len(), 2, "what has arrived is forgotten");
        }
        // The client comes back: it has not heard the last answer.
        assert_eq!(session.admit(&call(1, 0)), Ok(Admitted::Wait));
        assert!(matches!(session.admit(&beside(vec![1], 300, 0)), Ok(Admitted::Done(_))));
        assert!(session.admit(&beside(vec![1], 299, 0)).is_err(), "it is not done again");
        assert!(!waits.is_finished());
        assert_eq!(session.admit(&beside(vec![], 301, 0)), Ok(Admitted::Do));
        assert!(waits.await.unwrap_err().is_cancelled(), "it is not open any more");
    }

    #[tokio::test]
    async fn calls_that_are_open_count_wherever_they_are_and_others_do_not() {
        let session = Session::default();
        let open: Vec<u64> = (1..=64).map(|number| number * 100).collect();
        for (before, id) in open.iter().enumerate() {
            assert_eq!(session.admit(&beside(open[..before].to_vec(), *id, 0)), Ok(Admitted::Do));
        }
        assert!(session.admit(&call(6_401, 0)).is_err());
        assert_eq!(session.admit(&beside(open[1..].to_vec(), 6_401, 0)), Ok(Admitted::Do));
        for (settled, named) in [(100, 100), (200, 150), (0, 6_402), (0, 6_403)] {
            assert!(session.admit(&beside(vec![named], 6_402, settled)).is_err(), "{named} after {settled}");
        }
        assert_eq!(session.admit(&call(6_401, 0)), Ok(Admitted::Wait), "what is refused settles nothing");
    }

    #[tokio::test]
    async fn a_client_that_is_forgotten_leaves_nothing_under_way() {
        let session = Session::default();
        for id in 1..=3 {
            session.admit(&call(id, 0)).unwrap();
        }
        session.answer(1, Ok(Value::Null)).await;
        let [begun, late] = [(); 2].map(|()| tokio::spawn(std::future::pending::<()>()));
        session.begun(2, begun.abort_handle());
        session.abandon();
        assert!(begun.await.unwrap_err().is_cancelled());
        session.begun(3, late.abort_handle());
        assert!(late.await.unwrap_err().is_cancelled());
    }

    #[tokio::test]
    async fn an_answer_waits_for_a_client_that_is_away_and_a_new_connection_ends_the_old() {
        let session = Session::default();
        let (out, _sent) = mpsc::channel(4);
        let (first, ended) = session.connect(out.clone());
        session.disconnect(first);
        assert!(session.left().is_some());
        assert_eq!(session.admit(&call(1, 0)), Ok(Admitted::Do));
        session.answer(1, Err(Failure::new("over", "the channel is over"))).await;
        assert!(matches!(session.admit(&call(1, 0)), Ok(Admitted::Done(_))));
        let (second, _) = session.connect(out.clone());
        let (_, mut third) = session.connect(out);
        assert!(!*ended.borrow() && !*third.borrow_and_update());
        session.disconnect(second);
        assert!(session.left().is_none(), "a connection that was replaced says nothing about the new one");
    }

    #[tokio::test]
    async fn a_call_that_is_given_up_is_answered_as_such() {
        let session = Session::default();
        session.admit(&call(1, 0)).unwrap();
        let task = tokio::spawn(std::future::pending::<()>());
        session.begun(1, task.abort_handle());
        session.cancel(1).await;
        assert!(task.await.unwrap_err().is_cancelled());
        match session.admit(&call(1, 0)) {
            Ok(Admitted::Done(answer)) => assert!(answer.contains("cancelled")),
            other => panic!("{other:?}"),
        }
    }
}
