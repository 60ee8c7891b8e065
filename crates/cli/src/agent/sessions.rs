//! `listen`, `connect`: a session between two agents, through which bytes go both ways.

use super::Session;
use crate::args::agent::{AgentConnect, AgentListen, Pipe};
use crate::error::{Error, Status};
use crate::files::{self, Access, Output};
use gambeson_identity::{CardStore, Timestamp};
use gambeson_session::{self as session, Endpoint, Expected, Peer};
use serde_json::json;
use std::fs::File;
use std::io::{self, IsTerminal, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How long the other side may take to say who it is.
const PATIENCE: Duration = Duration::from_secs(10);

pub(super) fn listen(session: &Session, options: &AgentListen) -> Result<Status, Error> {
    let (source, output) = open(&options.pipe)?;
    let clock = Clock::new(session.now);
    let endpoint = endpoint(session, &options.pipe)?;
    let wrong = |error: io::Error| Error::stream(&options.address, &error);
    let listener = TcpListener::bind(&options.address).map_err(wrong)?;
    let address = listener.local_addr().map_err(wrong)?;
    session.console.report(
        format_args!("listening on {address}"),
        json!({"listening": address.to_string(), "did": session.home.owner()?.as_str()}),
    )?;
    loop {
        let Ok((stream, caller)) = listener.accept() else { continue };
        let from = options.from.clone();
        let expected = match options.anybody {
            true => Expected::accepting(|_| true),
            false => Expected::accepting(move |card| from.contains(card.document().id())),
        };
        let mut accepted = endpoint.accept(expected, Arc::new(session.home.known())).map_err(refused)?;
        match establish(&mut accepted, &stream, &clock) {
            Ok(peer) => {
                // Strangers do not fill the folder.
                welcome(session, &peer, !options.anybody)?;
                return pump(accepted, stream, source, output, clock);
            }
            // Whoever is refused does not keep others from coming.
            Err(error) => session.console.report(
                format_args!("refused {caller}: {error}"),
                json!({"refused": caller.to_string(), "reason": error.reason(), "detail": error.to_string()}),
            )?,
        }
    }
}

pub(super) fn connect(session: &Session, options: &AgentConnect) -> Result<Status, Error> {
    let (source, output) = open(&options.pipe)?;
    let clock = Clock::new(session.now);
    let endpoint = endpoint(session, &options.pipe)?;
    let target = &options.target;
    let stream = TcpStream::connect(&target.address).map_err(|e| Error::stream(&target.address, &e))?;
    let known = Arc::new(session.home.known());
    let mut connected = endpoint.connect(Expected::did(target.did.clone()), known).map_err(refused)?;
    let peer = establish(&mut connected, &stream, &clock)?;
    welcome(session, &peer, true)?;
    pump(connected, stream, source, output, clock)
}

/// The time of the command line goes on from there.
#[derive(Clone, Copy)]
struct Clock(Timestamp, Instant);

impl Clock {
    fn new(now: Timestamp) -> Self {
        Self(now, Instant::now())
    }

    fn now(self) -> Timestamp {
        self.0.after(self.1.elapsed().as_secs())
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
        false => Source::File(File::open(&pipe.send).map_err(|e| Error::io(&pipe.send, &e))?),
    };
    files::refuse_existing(&pipe.receive, pipe.force)?;
    Ok((source, Output::create(&pipe.receive, Access::Private, pipe.force)?))
}

fn endpoint(session: &Session, pipe: &Pipe) -> Result<Endpoint, Error> {
    let (agent, cards) = session.unlock()?;
    Ok(Endpoint::new(Arc::new(agent), &cards).map_err(refused)?.known_to_peer(pipe.hash))
}

/// Until both sides know each other, or for as long as patience lasts.
fn establish(session: &mut session::Session, stream: &TcpStream, clock: &Clock) -> Result<Peer, Error> {
    let wire = |error: io::Error| Error::stream(&"the connection", &error);
    let deadline = Instant::now() + PATIENCE;
    stream.set_nodelay(true).map_err(wire)?;
    stream.set_write_timeout(Some(PATIENCE)).map_err(wire)?;
    let mut io = stream;
    loop {
        while session.wants_write() {
            session.write_tls(&mut io).map_err(wire)?;
        }
        if let Some(peer) = session.peer() {
            stream.set_read_timeout(None).and_then(|()| stream.set_write_timeout(None)).map_err(wire)?;
            return Ok(peer.clone());
        }
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(Error::not_verified("the other side does not say who it is").because("too-slow"));
        }
        stream.set_read_timeout(Some(left)).map_err(wire)?;
        match session.read_tls(&mut io) {
            Ok(_) => {}
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
                continue;
            }
            Err(error) => return Err(wire(error)),
        }
        if let Err(error) = session.process(clock.now()) {
            // It should learn why; whether it still listens is its own business.
            while session.wants_write() && session.write_tls(&mut io).is_ok() {}
            let _ = stream.shutdown(Shutdown::Write);
            return Err(refused(error));
        }
    }
}

/// Tells who is there, and remembers its cards.
fn welcome(session: &Session, peer: &Peer, keep: bool) -> Result<(), Error> {
    if keep {
        let _lock = session.home.lock()?;
        let mut store = CardStore::default();
        if let Some(known) =
            gambeson_session::Cards::log(&session.home.known(), peer.did()).map_err(Error::damaged)?
        {
            store.add(known).map_err(Error::refused)?;
        }
        // In the meantime somebody may have learned newer ones.
        store.add(peer.cards().clone()).map_err(Error::refused)?;
        session.home.keep_cards(peer.cards())?;
    }
    session.console.report(
        format_args!("in session with {}", peer.did()),
        json!({"peer": peer.did().as_str(), "key": peer.key().to_string()}),
    )
}

/// Carries bytes both ways until both sides have said goodbye; a person at the keyboard need not.
fn pump(
    session: session::Session,
    stream: TcpStream,
    source: Source,
    mut output: Output,
    clock: Clock,
) -> Result<Status, Error> {
    let person = source.is_person();
    let shared = Arc::new(Mutex::new(session));
    let sending = {
        let (shared, stream) = (Arc::clone(&shared), stream.try_clone());
        let stream = stream.map_err(|e| Error::stream(&"the connection", &e))?;
        thread::spawn(move || send(&shared, stream, source))
    };
    receive(&shared, stream, &mut output, clock)?;
    output.finish()?;
    if !person {
        sending.join().map_err(|_| Error::outside("sending failed"))??;
    }
    Ok(Status::Done)
}

/// Only this thread writes to the connection, so that records keep their order; it holds the lock while it has bytes, and not
/// while it waits.
fn send(shared: &Mutex<session::Session>, mut stream: TcpStream, mut source: Source) -> Result<(), Error> {
    let wire = |error: io::Error| Error::stream(&"the connection", &error);
    let mut buffer = vec![0; 16 << 10];
    loop {
        let count = source.read(&mut buffer).map_err(|e| Error::stream(&"what is sent", &e))?;
        let mut rest = &buffer[..count];
        loop {
            let mut records = Vec::new();
            {
                let mut session = shared.lock().unwrap_or_else(PoisonError::into_inner);
                match count {
                    0 => session.close(),
                    _ => rest = &rest[session.send(rest).map_err(refused)?..],
                }
                while session.wants_write() {
                    session.write_tls(&mut records).map_err(wire)?;
                }
            }
            stream.write_all(&records).map_err(wire)?;
            if rest.is_empty() {
                break;
            }
        }
        if count == 0 {
            // The other side may have gone after its own goodbye.
            let _ = stream.shutdown(Shutdown::Write);
            return Ok(());
        }
    }
}

fn receive(
    shared: &Mutex<session::Session>,
    mut stream: TcpStream,
    output: &mut Output,
    clock: Clock,
) -> Result<(), Error> {
    let wire = |error: io::Error| Error::stream(&"the connection", &error);
    let mut buffer = vec![0; 16 << 10];
    let mut piece = vec![0; 16 << 10];
    // What came with the last message is there before anything is read.
    let mut records = 0..0;
    loop {
        let mut plain = Vec::new();
        let mut over = false;
        {
            let mut session = shared.lock().unwrap_or_else(PoisonError::into_inner);
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
            let mut session = shared.lock().unwrap_or_else(PoisonError::into_inner);
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
