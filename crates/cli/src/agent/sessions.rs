//! `listen`, `connect`: a session between two agents, through which bytes go both ways.

use super::{Session, since_1970};
use crate::args::agent::{AgentConnect, AgentListen, Pipe};
use crate::console::Console;
use crate::dial::dial;
use crate::error::{Error, Status, cut};
use crate::files::{self, Access, Output};
use crate::listener::Listener;
use crate::unfinished::Unfinished;
use gambeson_identity::{CardDirectory, CardStore, Timestamp};
use gambeson_session::{self as session, Cards, Endpoint, Expected, Peer};
use serde_json::json;
use socket2::{SockRef, TcpKeepalive};
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, IsTerminal, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream, ToSocketAddrs};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, SendError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// How long the other side may take to say who it is.
const PATIENCE: Duration = Duration::from_secs(10);

/// How many callers may be saying who they are at a time.
const MAX_CALLERS: usize = 64;

/// After how much silence the system looks whether the other side is still there.
const KEEPALIVE: Duration = Duration::from_secs(60);

/// How long the other side may take to say goodbye when this one was asked to end.
const FAREWELL: Duration = Duration::from_secs(5);

pub(super) fn listen(session: &Session, options: &AgentListen) -> Result<Status, Error> {
    let (source, output) = open(&options.pipe)?;
    let clock = Clock::of(session);
    let endpoint = endpoint(session, &options.pipe)?;
    let wrong = |error: io::Error| Error::stream(&options.address, &error);
    let listener = Listener::bind(options.address).map_err(wrong)?;
    let ending = listener.ending();
    let signals = ending.on_signal(|| {});
    session.console.report(
        format_args!("listening on {}", listener.address()),
        json!({"type": "listening", "address": listener.address().to_string(), "did": session.home.owner()?.as_str()}),
    )?;
    let expected = match options.anybody {
        true => Expected::accepting(|_| true),
        false => {
            let from = options.from.clone();
            Expected::accepting(move |card| from.contains(card.document().id()))
        }
    };
    let (tell, events) = mpsc::channel();
    let taken = Arc::new(AtomicBool::new(false));
    let known = Arc::new(session.home.known());
    let reception =
        Reception { endpoint, expected, known, clock, console: session.console, taken: Arc::clone(&taken) };
    thread::spawn(move || reception.receive(&listener, &tell));
    let established = loop {
        match events.recv() {
            Ok(Event::Established(established)) => break *established,
            // Whoever is refused does not keep others from coming.
            Ok(Event::Refused(caller, error)) => report_refused(session.console, caller, &error)?,
            Ok(Event::Ended) | Err(_) => return Ok(Status::Done),
        }
    };
    // From here on nobody else is taken, and who interrupts the program interrupts the session.
    taken.store(true, Ordering::SeqCst);
    ending.ask();
    let (accepted, stream, peer) = established;
    let line = line(accepted, &stream)?;
    drop((signals, events));
    // Strangers do not fill the folder.
    welcome(session, &peer, !options.anybody)?;
    pump(line, stream, source, output, clock)
}

fn report_refused(console: Console, caller: SocketAddr, error: &Error) -> Result<(), Error> {
    console.report(
        format_args!("refused {caller}: {error}"),
        json!({"type": "refused", "peer": caller.to_string(), "reason": error.reason(), "detail": error.to_string()}),
    )
}

/// What came of a caller.
enum Event {
    /// It is the one; the first is taken.
    Established(Box<(session::Session, TcpStream, Peer)>),
    Refused(SocketAddr, Error),
    /// The user or the system does not want any more.
    Ended,
}

/// Lets callers say who they are, each beside the others.
struct Reception {
    endpoint: Endpoint,
    expected: Expected,
    known: Arc<CardDirectory>,
    clock: Clock,
    console: Console,
    /// Whether somebody is in session already.
    taken: Arc<AtomicBool>,
}

impl Reception {
    fn receive(&self, listener: &Listener, tell: &Sender<Event>) {
        let mut callers: VecDeque<(TcpStream, JoinHandle<()>)> = VecDeque::new();
        while let Some((stream, caller)) = listener.accept() {
            callers.retain(|(_, thread)| !thread.is_finished());
            if callers.len() >= MAX_CALLERS {
                // Whoever has been here longest has had the most time: silence does not keep others out.
                if let Some((oldest, _)) = callers.pop_front() {
                    let _ = oldest.shutdown(Shutdown::Both);
                }
            }
            let accepted = self.endpoint.accept(self.expected.clone(), self.known.clone());
            let (clock, console, events) = (self.clock, self.console, tell.clone());
            let taken = Arc::clone(&self.taken);
            let started = accepted.map_err(refused).and_then(|mut accepted| {
                let kept = stream.try_clone().map_err(wire)?;
                let hearing = thread::Builder::new().spawn(move || {
                    let event = match establish(&mut accepted, &stream, &clock, &taken) {
                        Ok(peer) => Event::Established(Box::new((accepted, stream, peer))),
                        Err(error) => Event::Refused(caller, error),
                    };
                    // Nobody listens any more when another was first. Most callers have learned it; who was at the same point has the
                    // connection cut, without a goodbye.
                    if let Err(SendError(event)) = events.send(event) {
                        let error = match event {
                            Event::Refused(_, error) => error,
                            _ => refused(session::Error::Busy),
                        };
                        let _ = report_refused(console, caller, &error);
                    }
                });
                Ok((kept, hearing.map_err(wire)?))
            });
            match started {
                Ok(started) => callers.push_back(started),
                Err(error) => drop(tell.send(Event::Refused(caller, error))),
            }
        }
        let _ = tell.send(Event::Ended);
    }
}

pub(super) fn connect(session: &Session, options: &AgentConnect) -> Result<Status, Error> {
    let (source, output) = open(&options.pipe)?;
    let clock = Clock::of(session);
    let endpoint = endpoint(session, &options.pipe)?;
    let target = &options.target;
    let stream = target.address.to_socket_addrs().and_then(|addresses| dial(addresses, PATIENCE, None));
    let stream = stream.map_err(|e| Error::stream(&target.address, &e))?;
    let known = Arc::new(session.home.known());
    let mut connected = endpoint.connect(Expected::did(target.did.clone()), known).map_err(refused)?;
    let peer = establish(&mut connected, &stream, &clock, &AtomicBool::new(false))?;
    let line = line(connected, &stream)?;
    welcome(session, &peer, true)?;
    pump(line, stream, source, output, clock)
}

/// The clock of the machine, or the time of the command line, which goes on from there.
#[derive(Clone, Copy)]
struct Clock(Option<(Timestamp, Instant)>);

impl Clock {
    fn of(session: &Session) -> Self {
        Self(session.at.map(|at| (at, Instant::now())))
    }

    fn now(self) -> Timestamp {
        match self.0 {
            Some((at, begun)) => at.after(begun.elapsed().as_secs()),
            // That it stands after 1970 was seen when the command began.
            None => Timestamp(since_1970().map_or(0, |time| time.as_secs())),
        }
    }
}

/// Where what is sent comes from.
enum Source {
    Stdin,
    File(File),
}

impl Source {
    /// Whether a person types it, who does not know that the other side has gone.
    fn is_person(&self) -> bool {
        matches!(self, Self::Stdin) && io::stdin().is_terminal()
    }

    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Stdin => io::stdin().read(buffer),
            Self::File(file) => file.read(buffer),
        }
    }
}

/// Both files, before anybody is called.
fn open(pipe: &Pipe) -> Result<(Source, Output), Error> {
    let source = match files::is_stream(&pipe.send) {
        true => Source::Stdin,
        false => {
            let file = File::open(&pipe.send).map_err(|e| Error::io(&pipe.send, &e))?;
            crate::guard::note_input(&file, &pipe.send);
            Source::File(file)
        }
    };
    files::refuse_existing(&pipe.receive, pipe.force)?;
    Ok((source, Output::create(&pipe.receive, Access::Private, pipe.force)?))
}

fn endpoint(session: &Session, pipe: &Pipe) -> Result<Endpoint, Error> {
    let (agent, cards) = session.unlock()?;
    Ok(Endpoint::new(Arc::new(agent), &cards).map_err(refused)?.known_to_peer(pipe.hash))
}

/// Until both sides know each other, or for as long as patience lasts; nobody is taken once somebody was.
fn establish(
    session: &mut session::Session,
    stream: &TcpStream,
    clock: &Clock,
    taken: &AtomicBool,
) -> Result<Peer, Error> {
    let wire = |error: io::Error| match error.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
            Error::not_verified("the other side did not authenticate in time").because("too-slow")
        }
        _ => wire(error),
    };
    stream.set_nodelay(true).map_err(wire)?;
    SockRef::from(stream).set_tcp_keepalive(&TcpKeepalive::new().with_time(KEEPALIVE)).map_err(wire)?;
    let until = Instant::now() + PATIENCE;
    // Both sides may have more to say than the connection holds, and each reads the other while it does.
    let peer = thread::scope(|scope| {
        let (records, waiting) = mpsc::channel::<Vec<u8>>();
        let writing = scope.spawn(move || {
            let mut io = Hurried { stream, until };
            waiting.iter().try_for_each(|records| io.write_all(&records))
        });
        let mut io = Hurried { stream, until };
        let met = loop {
            // If they cannot be written, who reads here notices, too.
            let _ = records.send(unsent(session));
            if let Some(peer) = session.peer() {
                break Ok(peer.clone());
            }
            session.read_tls(&mut io).map_err(wire)?;
            if taken.load(Ordering::SeqCst) {
                session.decline();
            }
            if let Err(error) = session.process(clock.now()) {
                // It should learn why; whether it still listens is its own business.
                let _ = records.send(unsent(session));
                break Err(refused(error));
            }
        };
        drop(records);
        let written = writing.join().map_err(|_| Error::outside("sending failed"))?;
        match met {
            Ok(peer) => written.map(|()| peer).map_err(wire),
            Err(error) => {
                let _ = stream.shutdown(Shutdown::Write);
                Err(error)
            }
        }
    })?;
    stream.set_read_timeout(None).and_then(|()| stream.set_write_timeout(None)).map_err(wire)?;
    Ok(peer)
}

/// The records that wait to be sent.
fn unsent(session: &mut session::Session) -> Vec<u8> {
    let mut records = Vec::new();
    // Memory takes all.
    while session.wants_write() && session.write_tls(&mut records).is_ok() {}
    records
}

/// A connection on which everything has to be over by a moment.
struct Hurried<'a> {
    stream: &'a TcpStream,
    until: Instant,
}

impl Hurried<'_> {
    fn left(&self) -> io::Result<Option<Duration>> {
        match self.until.saturating_duration_since(Instant::now()) {
            Duration::ZERO => Err(io::ErrorKind::TimedOut.into()),
            left => Ok(Some(left)),
        }
    }
}

impl Read for Hurried<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.stream.set_read_timeout(self.left()?)?;
        self.stream.read(buffer)
    }
}

impl Write for Hurried<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stream.set_write_timeout(self.left()?)?;
        self.stream.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

/// Tells who is there, and remembers its cards: those of strangers if `keep`, and newer ones of an agent that is known in any case.
fn welcome(session: &Session, peer: &Peer, keep: bool) -> Result<(), Error> {
    {
        let _lock = session.home.lock()?;
        // In the meantime somebody may have learned newer ones.
        let known = Cards::log(&session.home.known(), peer.did()).map_err(Error::damaged)?;
        if keep || known.is_some() {
            let mut store = CardStore::default();
            if let Some(known) = known {
                store.add(known).map_err(Error::refused)?;
            }
            store.add(peer.cards().clone()).map_err(Error::refused)?;
            session.home.keep_cards(peer.cards())?;
        }
    }
    session.console.report(
        format_args!("in session with {}", peer.did()),
        json!({"type": "session", "did": peer.did().as_str(), "key": peer.key().to_string()}),
    )
}

fn wire(error: io::Error) -> Error {
    Error::stream(&"the connection", &cut(error))
}

/// A session, and what has the user or the system end it in good order. It is there before anybody is told of the session.
fn line(session: session::Session, stream: &TcpStream) -> Result<(Arc<Line>, Unfinished), Error> {
    let line = Arc::new(Line {
        session: Mutex::new(session),
        out: Mutex::new(stream.try_clone().map_err(wire)?),
        failed: AtomicBool::new(false),
        parting: AtomicBool::new(false),
    });
    let (of_signals, stream) = (Arc::clone(&line), stream.try_clone().map_err(wire)?);
    Ok((line, Unfinished::service(move || of_signals.part(&stream))))
}

/// Carries bytes both ways until both sides have said goodbye; for a person at the keyboard it is said here. So it is when the user or
/// the system asks the program to end: what was read until then is sent, and the other side may take a moment for its own goodbye.
fn pump(
    (line, _signals): (Arc<Line>, Unfinished),
    stream: TcpStream,
    source: Source,
    mut output: Output,
    clock: Clock,
) -> Result<Status, Error> {
    let person = source.is_person();
    let sending = {
        let (line, stream) = (Arc::clone(&line), stream.try_clone().map_err(wire)?);
        thread::spawn(move || {
            let sent = send(&line, source);
            if sent.is_err() && !line.parting.load(Ordering::SeqCst) {
                // What the other side has is not all, and it sees that; so does the one that receives here.
                line.failed.store(true, Ordering::SeqCst);
                let _ = stream.shutdown(Shutdown::Both);
            }
            sent
        })
    };
    let sent = || sending.join().map_err(|_| Error::outside("sending failed"))?;
    if let Err(error) = receive(&line, stream, &mut output, clock) {
        return Err(match line.failed.load(Ordering::SeqCst) {
            true => sent().err().filter(|error| !error.is_quiet()).unwrap_or(error),
            false => error,
        });
    }
    output.finish()?;
    match person || line.parting.load(Ordering::SeqCst) {
        true => line.say(None)?,
        false => sent()?,
    };
    Ok(Status::Done)
}

/// What both directions share.
struct Line {
    session: Mutex<session::Session>,
    /// Whoever has it brings records to the connection, which keep their order that way; it is taken before the session is, which is
    /// not kept while the connection takes its time.
    out: Mutex<TcpStream>,
    failed: AtomicBool,
    /// Whether this side was asked to end.
    parting: AtomicBool,
}

impl Line {
    /// Says goodbye after what was read so far. A connection on which nothing moves is cut in the end.
    fn part(&self, stream: &TcpStream) {
        self.parting.store(true, Ordering::SeqCst);
        if let Ok(stream) = stream.try_clone() {
            thread::spawn(move || {
                thread::sleep(FAREWELL);
                let _ = stream.shutdown(Shutdown::Both);
            });
        }
        // If it cannot be said, the one that receives notices.
        let _ = self.say(None);
    }

    /// Sends bytes, or says goodbye.
    fn say(&self, bytes: Option<&[u8]>) -> Result<(), Error> {
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        let mut rest = bytes.unwrap_or_default();
        loop {
            let records = {
                let mut session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
                match bytes {
                    None => session.close(),
                    Some(_) => rest = &rest[session.send(rest).map_err(refused)?..],
                }
                unsent(&mut session)
            };
            out.write_all(&records).map_err(wire)?;
            if rest.is_empty() {
                break;
            }
        }
        if bytes.is_none() {
            // The other side may have gone after its own goodbye.
            let _ = out.shutdown(Shutdown::Write);
        }
        Ok(())
    }
}

fn send(line: &Line, mut source: Source) -> Result<(), Error> {
    let mut buffer = vec![0; 16 << 10];
    loop {
        match source.read(&mut buffer).map_err(|e| Error::stream(&"the input", &e))? {
            0 => return line.say(None),
            count => line.say(Some(&buffer[..count]))?,
        }
    }
}

/// What the other side says, until its goodbye. It learns what is wrong with that, if the connection still takes it.
fn receive(line: &Line, stream: TcpStream, output: &mut Output, clock: Clock) -> Result<(), Error> {
    let heard = hear(line, &stream, output, clock);
    if heard.is_err()
        && let Ok(mut out) = line.out.try_lock()
    {
        let mut session = line.session.lock().unwrap_or_else(PoisonError::into_inner);
        let records = unsent(&mut session);
        drop(session);
        let _ = stream.set_write_timeout(Some(FAREWELL)).and_then(|()| out.write_all(&records));
    }
    heard
}

fn hear(line: &Line, mut stream: &TcpStream, output: &mut Output, clock: Clock) -> Result<(), Error> {
    let mut buffer = vec![0; 16 << 10];
    let mut piece = vec![0; 16 << 10];
    // What came with the last message is there before anything is read.
    let mut records = 0..0;
    loop {
        let mut plain = Vec::new();
        let mut over = false;
        {
            let mut session = line.session.lock().unwrap_or_else(PoisonError::into_inner);
            while let Some(count) = session.receive(&mut piece).map_err(refused)? {
                plain.extend_from_slice(&piece[..count]);
                over = count == 0;
                if over {
                    break;
                }
            }
            if !over && !records.is_empty() {
                let count = session.read_tls(&mut &buffer[records.clone()]).map_err(wire)?;
                records.start += count;
                session.process(clock.now()).map_err(refused)?;
                drop(session);
                output.write_all(&plain).map_err(|e| Error::stream(&output.name(), &e))?;
                continue;
            }
        }
        output
            .write_all(&plain)
            .and_then(|()| output.flush())
            .map_err(|e| Error::stream(&output.name(), &e))?;
        if over {
            return Ok(());
        }
        let count = stream.read(&mut buffer).map_err(wire)?;
        if count == 0 {
            let mut session = line.session.lock().unwrap_or_else(PoisonError::into_inner);
            session.read_tls(&mut io::empty()).map_err(wire)?;
            session.process(clock.now()).map_err(refused)?;
        }
        records = 0..count;
    }
}

fn refused(error: session::Error) -> Error {
    let code = error.code();
    Error::not_verified(match error {
        session::Error::RefusedByPeer(code) => format!("the other side refuses this agent ({code})"),
        error => error.to_string(),
    })
    .because(code)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // A test may fail that way.

    use super::*;
    use gambeson_identity::{Agent, CardContent, CardLog};
    use std::net::TcpListener;

    const NOW: Timestamp = Timestamp(1_795_330_800);

    fn endpoint() -> (Endpoint, gambeson_identity::Did) {
        let agent = Arc::new(Agent::generate().unwrap());
        let card = agent.first_card(NOW, NOW.after(86_400), &CardContent::default()).unwrap();
        let cards = CardLog::new(card).unwrap();
        let did = agent.did().clone();
        (Endpoint::new(agent, &cards).unwrap(), did)
    }

    /// A card has 23 KB, and the connection holds less each way.
    #[test]
    fn cards_that_the_connection_does_not_hold_go_both_ways_at_once() {
        let ((near, near_did), (far, far_did)) = (endpoint(), endpoint());
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        SockRef::from(&listener).set_recv_buffer_size(4096).unwrap();
        let calling = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
        calling.set_recv_buffer_size(4096).unwrap();
        calling.connect(&listener.local_addr().unwrap().into()).unwrap();
        let (calling, called) = (TcpStream::from(calling), listener.accept().unwrap().0);
        let clock = Clock(Some((NOW, Instant::now())));
        let known = Arc::new(CardStore::default());
        let meet = |mut session: session::Session, stream: &TcpStream| {
            SockRef::from(stream).set_send_buffer_size(4096).unwrap();
            establish(&mut session, stream, &clock, &AtomicBool::new(false)).unwrap().did().clone()
        };
        let begun = Instant::now();
        thread::scope(|scope| {
            let session = far.accept(Expected::accepting(|_| true), known.clone()).unwrap();
            let answering = scope.spawn(|| meet(session, &called));
            let session = near.connect(Expected::did(far_did.clone()), known.clone()).unwrap();
            assert_eq!(meet(session, &calling), far_did);
            assert_eq!(answering.join().unwrap(), near_did);
        });
        assert!(begun.elapsed() < PATIENCE, "they waited for each other");
    }

    #[test]
    fn that_a_connection_was_closed_is_told_and_of_a_pipe_it_is_not() {
        let closed = || io::Error::from(io::ErrorKind::BrokenPipe);
        assert!(wire(closed()).to_string().contains("the other side closed the connection"));
        assert!(Error::stream(&"standard output", &closed()).is_quiet());
    }
}
