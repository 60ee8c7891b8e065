//! Who answers.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::{Semaphore, watch};
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::{Instant, timeout};

use super::frame::{Answer, Ask, Call, CallId, Refusal, Reply, first_of, fitting};
use super::replies;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::hold;
use crate::link::{Link, MAX_FRAME, To};
use crate::name::Name;

/// How many links a service does well with: one carries some forty megabytes a second to a node on the same machine.
pub const LINKS: usize = 4;

/// What a service does for those who call.
#[derive(Clone, Debug)]
pub struct Rules {
    /// So many calls are worked on at once.
    pub at_once: usize,
    /// So many more wait for their turn on each link, each with its frame; what comes beyond that is not heard, and is repeated.
    pub waiting: usize,
    /// So many are worked on or wait of one caller, who hears of a further one that the service is busy. Callers name themselves: this is
    /// fairness among the honest, the two above are the bound.
    pub of_one: usize,
    /// At most so many records in a page.
    pub page: usize,
    /// Who does not take a reply in this time does not get it.
    pub reply: Duration,
    /// Whether callers may have entries forgotten: whoever was a member once could. An engine forgets by its own retention.
    pub prune: bool,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            at_once: 64,
            waiting: 448,
            of_one: 16,
            page: 1_024,
            reply: Duration::from_secs(5),
            prune: false,
        }
    }
}

/// What a service has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Served {
    /// Calls that were answered with what was asked.
    pub answered: u64,
    /// Calls that were refused.
    pub refused: u64,
    /// Calls that were put off.
    pub busy: u64,
    /// Repetitions of calls that were being worked on or answered from memory.
    pub repeated: u64,
    /// Frames that are no calls.
    pub malformed: u64,
    /// Replies that the link did not take in time.
    pub unsent: u64,
}

#[derive(Default)]
struct Counters {
    answered: AtomicU64,
    refused: AtomicU64,
    busy: AtomicU64,
    repeated: AtomicU64,
    malformed: AtomicU64,
    unsent: AtomicU64,
}

fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

/// A service that runs. Dropped, it ends in the middle of what it does; [`stop`](Self::stop) ends it well.
pub struct Server {
    desk: Arc<Desk>,
    stop: watch::Sender<bool>,
    running: Vec<JoinHandle<()>>,
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server").field("name", &self.desk.name).field("served", &self.served()).finish()
    }
}

impl Server {
    /// What it has done up to now.
    #[must_use]
    pub fn served(&self) -> Served {
        let counters = &self.desk.counters;
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Served {
            answered: read(&counters.answered),
            refused: read(&counters.refused),
            busy: read(&counters.busy),
            repeated: read(&counters.repeated),
            malformed: read(&counters.malformed),
            unsent: read(&counters.unsent),
        }
    }

    /// Hears and answers on one more link too: a connection to a node takes only so many bytes before it waits for the other side.
    ///
    /// # Errors
    /// The link does not answer.
    pub async fn also(&mut self, link: impl Link + 'static) -> Result<()> {
        let mut instance = [0; 16];
        getrandom::fill(&mut instance).map_err(|error| Error::Service(Box::new(error)))?;
        let listening = self.desk.name.clone().everyone().with_instance(u128::from_be_bytes(instance));
        link.subscribe(&listening).await?;
        let running = run(Arc::clone(&self.desk), Arc::new(link), listening, self.stop.subscribe());
        self.running.push(tokio::spawn(running));
        Ok(())
    }

    /// Hears no more calls, answers those that were heard, and ends.
    pub async fn stop(mut self) {
        let _ = self.stop.send(true);
        self.ended().await;
    }

    /// Ends when its links do.
    pub async fn ended(&mut self) {
        for running in &mut self.running {
            // It can only fail by a panic, and then there is nothing left to wait for.
            let _ = running.await;
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.running.iter().for_each(JoinHandle::abort);
    }
}

/// Answers on a name for an engine. The link is the service's own, since it takes all that arrives there.
///
/// Several services may listen on one name if their engines are one, as those on one NATS.
///
/// # Errors
/// The link does not answer.
pub async fn serve(
    link: impl Link + 'static,
    name: Name,
    engine: Arc<dyn Engine>,
    rules: Rules,
) -> Result<Server> {
    let desk = Desk {
        name,
        engine,
        work: Semaphore::new(rules.at_once),
        rules,
        counters: Counters::default(),
        callers: Mutex::default(),
    };
    let mut server = Server { desk: Arc::new(desk), stop: watch::Sender::new(false), running: Vec::new() };
    server.also(link).await?;
    Ok(server)
}

struct Desk {
    name: Name,
    engine: Arc<dyn Engine>,
    rules: Rules,
    work: Semaphore,
    counters: Counters,
    callers: Mutex<Callers>,
}

/// Calls that are worked on, and answers that must not be made twice.
#[derive(Default)]
struct Callers {
    under_way: HashSet<(u128, CallId)>,
    of_one: HashMap<u128, usize>,
    answers: HashMap<(u128, CallId), Bytes>,
    ages: VecDeque<(Instant, (u128, CallId))>,
}

/// A package that was given out is given again to the same call, for so long and of so many calls (with ML-DSA-65: 11 MB).
const REMEMBERED: Duration = Duration::from_secs(60);
const MOST_REMEMBERED: usize = 1_024;

async fn run(desk: Arc<Desk>, link: Arc<dyn Link>, listening: Name, mut stopped: watch::Receiver<bool>) {
    let mut calls = JoinSet::new();
    loop {
        let incoming = tokio::select! {
            incoming = link.receive() => incoming,
            _ = stopped.changed() => break,
        };
        let Ok(incoming) = incoming else { break };
        while calls.try_join_next().is_some() {}
        // Busy replies are work too: there is an end to them.
        if calls.len() >= desk.rules.at_once + desk.rules.waiting {
            count(&desk.counters.busy);
            continue;
        }
        let Some(todo) = desk.heard(&incoming.frame) else { continue };
        let (desk, link) = (Arc::clone(&desk), Arc::clone(&link));
        calls.spawn(async move { desk.do_it(todo, &*link).await });
    }
    // Whether the link still takes it or not: nothing is heard any more.
    let _ = timeout(desk.rules.reply, link.unsubscribe(&listening)).await;
    while calls.join_next().await.is_some() {}
}

enum Todo {
    Work(Call),
    Say(u128, Bytes),
}

impl Desk {
    fn heard(&self, frame: &Bytes) -> Option<Todo> {
        let say = |id, caller, answer| Some(Todo::Say(caller, Reply { id, answer }.encode()));
        if frame.len() > MAX_FRAME {
            count(&self.counters.malformed);
            return None;
        }
        let call = match Call::decode(frame) {
            Ok(call) => call,
            Err(error) => {
                count(&self.counters.malformed);
                let (id, caller) = Call::origin(frame)?;
                return say(id, caller, Answer::Refused(error.into()));
            }
        };
        let key = (call.caller, call.id);
        let mut callers = hold(&self.callers);
        if callers.under_way.contains(&key) {
            count(&self.counters.repeated);
            return None;
        }
        if let Some(answer) = callers.answers.get(&key) {
            count(&self.counters.repeated);
            return Some(Todo::Say(call.caller, answer.clone()));
        }
        let busy = callers.of_one.get(&call.caller).is_some_and(|calls| *calls >= self.rules.of_one);
        if busy {
            count(&self.counters.busy);
            return say(call.id, call.caller, Answer::Busy);
        }
        callers.under_way.insert(key);
        *callers.of_one.entry(call.caller).or_default() += 1;
        Some(Todo::Work(call))
    }

    async fn do_it(&self, todo: Todo, link: &dyn Link) {
        let _turn;
        let (caller, frame) = match todo {
            Todo::Say(caller, frame) => (caller, frame),
            Todo::Work(call) => {
                let (id, caller, once) = (call.id, call.caller, matches!(call.ask, Ask::Take(_)));
                let under_way = UnderWay { callers: &self.callers, key: (caller, id) };
                // Until the reply is sent: whoever hears nothing keeps others waiting only so long.
                _turn = self.work.acquire().await;
                let answer = self.answer(call.ask).await;
                count(match &answer {
                    Answer::Refused(_) => &self.counters.refused,
                    _ => &self.counters.answered,
                });
                let keep = once && matches!(answer, Answer::Bytes(Some(_)));
                let frame = Reply { id, answer }.encode();
                if keep {
                    hold(&self.callers).remember((caller, id), frame.clone());
                }
                drop(under_way);
                (caller, frame)
            }
        };
        let name = replies(&self.name, caller);
        let publish = link.publish(&name, To::One, frame);
        if !matches!(timeout(self.rules.reply, publish).await, Ok(Ok(()))) {
            count(&self.counters.unsent);
        }
    }

    async fn answer(&self, ask: Ask) -> Answer {
        let engine = &*self.engine;
        let answer = match ask {
            Ask::Append(channel, entry, after) => {
                engine.append(&channel, entry, after).await.map(Answer::Placed)
            }
            Ask::Read(channel, from, limit) => {
                let limit = usize::try_from(limit).unwrap_or(usize::MAX).min(self.rules.page);
                engine.read(&channel, from, limit).await.map(|mut page| {
                    fitting(&mut page.records);
                    Answer::Page(page)
                })
            }
            Ask::Prune(..) if !self.rules.prune => Err(Error::NotAllowed),
            Ask::Prune(channel, before) => engine.prune(&channel, before).await.map(|()| Answer::Done),
            Ask::Put(bytes) => engine.put(bytes).await.map(Answer::Kept),
            Ask::Get(ids) => first_of(engine, &ids).await.map(Answer::Blobs),
            Ask::Has(ids) => engine.has(&ids).await.map(Answer::Has),
            Ask::Publish(did, packages) => engine.publish(&did, packages).await.map(|()| Answer::Done),
            Ask::Take(did) => engine.take(&did).await.map(Answer::Bytes),
            Ask::Left(did) => {
                engine.left(&did).await.map(|left| Answer::Left(u64::try_from(left).unwrap_or(u64::MAX)))
            }
        };
        answer.unwrap_or_else(|error| Answer::Refused(Refusal::from(error)))
    }
}

/// Ends what [`Desk::heard`] began, also if the work panics.
struct UnderWay<'a> {
    callers: &'a Mutex<Callers>,
    key: (u128, CallId),
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        let mut callers = hold(self.callers);
        callers.under_way.remove(&self.key);
        if let Some(calls) = callers.of_one.get_mut(&self.key.0) {
            *calls -= 1;
            if *calls == 0 {
                callers.of_one.remove(&self.key.0);
            }
        }
    }
}

impl Callers {
    fn remember(&mut self, key: (u128, CallId), answer: Bytes) {
        let now = Instant::now();
        while self
            .ages
            .front()
            .is_some_and(|(at, _)| self.ages.len() >= MOST_REMEMBERED || now.duration_since(*at) > REMEMBERED)
        {
            if let Some((_, old)) = self.ages.pop_front() {
                self.answers.remove(&old);
            }
        }
        self.answers.insert(key, answer);
        self.ages.push_back((now, key));
    }
}
