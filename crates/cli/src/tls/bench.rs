//! `tls bench`: what a handshake costs each side, in memory.
//!
//! Each row is a full handshake of TLS 1.3 with a server that shows a chain (itself, an authority, below a root that the client
//! has), without tickets; the row `session` is one between two agents, until both know each other. Rows take turns, so that all of
//! them see the same machine, forwards and backwards, so that none always has the same row before it. Times are medians over all
//! rounds of the thread's processor time; elsewhere than on Unix they are those of the clock.
//!
//! # Layout
//!
//! * `stack`: whose TLS, with which chains: ours, and a door for others
//! * `ends`: two ends in memory, and who is charged for what
//! * `session`: two agents
//! * `operations`: what the parts of a row cost by themselves
//! * `promises`: rows beside each other, and what `--check` judges
//! * this file: rows, rounds and their table

use std::hint::black_box;

mod ends;
mod operations;
mod promises;
mod session;
mod stack;

use gambeson::{mldsa, mlkem};
use gambeson_rustls::X25519_MLKEM768;
use rustls::crypto::SupportedKxGroup;
use serde_json::json;

use crate::args::tls::TlsBench;
use crate::console::{Console, duration, grouped};
use crate::error::{Error, Status};

pub use ends::{Cost, End, Wires, meet};
pub use stack::{Chain, Handshake, Stack, Subject, anybody, rustls};

use operations::Operations;
use stack::OURS;

const HYBRID: &str = "fully-hybrid";
const CLASSICAL: &str = "classical-448";
const DEFAULT: &str = "default";
const ECDSA: &str = "ecdsa-x25519";
const ML_DSA: &str = "mldsa65-x25519mlkem768";
/// Two agents who send each other their cards, and two who know them.
const SESSION: &str = "session";
const SESSION_KNOWN: &str = "session-known";

/// The rows, by what `--preset` calls them.
pub(crate) const NAMES: [&str; 7] = [CLASSICAL, HYBRID, DEFAULT, ECDSA, ML_DSA, SESSION, SESSION_KNOWN];

/// Why a handshake did not come about.
pub type Failure = Box<dyn std::error::Error>;

/// How many handshakes, or operations, of each turn do not count: a server's follow others of their kind, and what ran before this turn is
/// still in the caches, and in what the processor knows of branches.
const WARM_UP: u32 = 4;

struct Row {
    preset: &'static str,
    stack: &'static str,
    verify: bool,
    handshake: Handshake,
    /// How many of the bytes are identity cards.
    cards: usize,
    costs: Vec<Cost>,
}

/// Measures our rows and those of `others`.
pub(crate) fn bench(console: Console, options: &TlsBench, others: &[Stack]) -> Result<Status, Error> {
    let refused = |error: Failure| Error::usage(format!("tls bench: {error}"));
    let wanted = |name: &str| options.matrix || name == options.preset;
    let mut rows = rows(&wanted, others).map_err(refused)?;
    let mut operations = Operations::new().map_err(refused)?;
    let bar = console.steps_bar(options.rounds.into(), "handshakes");
    for round in 0..options.rounds {
        for place in 0..rows.len() {
            // Backwards every other time: else X25519 always finds warm what X25519MLKEM768 with the same chain has just used.
            let row = if round % 2 == 0 { place } else { rows.len() - 1 - place };
            let row = &mut rows[row];
            let cost = warm(|| once(row, options.planted)).map_err(refused)?;
            row.costs.push(cost);
        }
        if options.matrix {
            operations.measure().map_err(refused)?;
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    table(console, &rows)?;
    if options.matrix { promises::compare(console, options, &rows, &operations) } else { Ok(Status::Done) }
}

/// The last of several.
fn warm<T>(mut once: impl FnMut() -> Result<T, Failure>) -> Result<T, Failure> {
    for _ in 0..WARM_UP {
        once()?;
    }
    once()
}

/// One handshake and nothing else: what `cargo xtask instructions` counts.
#[inline(never)]
fn once(row: &mut Row, planted: u32) -> Result<Cost, Failure> {
    for _ in 0..planted {
        black_box(X25519_MLKEM768.start()?);
    }
    (row.handshake)()
}

fn rows(wanted: &dyn Fn(&str) -> bool, others: &[Stack]) -> Result<Vec<Row>, Failure> {
    let mut rows = Vec::new();
    for subject in stack::subjects().iter().filter(|subject| wanted(subject.name)) {
        let chain = Chain::new(subject.algorithm)?;
        for verify in [true, false] {
            for stack in std::iter::once(&OURS).chain(others) {
                if let Some(handshake) = (stack.handshake)(subject, &chain, verify)? {
                    let (preset, stack) = (subject.name, stack.name);
                    rows.push(Row { preset, stack, verify, handshake, cards: 0, costs: Vec::new() });
                }
            }
        }
    }
    for (preset, known) in [(SESSION, false), (SESSION_KNOWN, true)] {
        if wanted(preset) {
            let (handshake, cards) = session::handshake(known)?;
            rows.push(Row { preset, stack: OURS.name, verify: true, handshake, cards, costs: Vec::new() });
        }
    }
    Ok(rows)
}

fn table(console: Console, rows: &[Row]) -> Result<(), Error> {
    console.say(format_args!(
        "{:<24} {:<19} {:<7} {:<7} {:>9} {:>9} {:>9} {:>12} {:>8} {:>8}",
        "preset", "stack", "verify", "message", "client", "server", "both", "a second", "up", "down"
    ))?;
    for row in rows {
        for message in [0, ends::MESSAGE.len()] {
            let (client, server) = row.median(message > 0);
            let (up, down) = row.bytes();
            // What one core serves.
            let rate = 1e6 / server;
            console.report(
                format_args!(
                    "{:<24} {:<19} {:<7} {:<7} {:>9} {:>9} {:>9} {:>12} {:>8} {:>8}",
                    row.preset,
                    row.stack,
                    row.verify,
                    message,
                    duration(client * 1e3),
                    duration(server * 1e3),
                    duration((client + server) * 1e3),
                    grouped(rate as u64),
                    up,
                    down
                ),
                json!({
                    "type": "handshake", "preset": row.preset, "stack": row.stack, "verify": row.verify, "messageBytes": message,
                    "clientUs": client, "serverUs": server, "handshakesPerSecond": rate,
                    "bytesUp": up, "bytesDown": down, "rounds": row.costs.len(),
                    "kernels": {"mlkem": mlkem::kernels().to_string(), "mldsa": mldsa::kernels().to_string()},
                }),
            )?;
        }
    }
    Ok(())
}

impl Row {
    /// Microseconds of the client and of the server.
    fn median(&self, message: bool) -> (f64, f64) {
        let more = if message { 1.0 } else { 0.0 };
        let client = self.costs.iter().map(|cost| cost.client_us + more * cost.client_message_us);
        let server = self.costs.iter().map(|cost| cost.server_us + more * cost.server_message_us);
        (median(client), median(server))
    }

    /// Microseconds of both.
    fn both(&self, message: bool) -> f64 {
        let (client, server) = self.median(message);
        client + server
    }

    /// Bytes up and down; ECDSA's signatures are not all of one length.
    fn bytes(&self) -> (usize, usize) {
        let sum =
            |bytes: fn(&Cost) -> usize| self.costs.iter().map(bytes).sum::<usize>() / self.costs.len().max(1);
        (sum(|cost| cost.bytes_up), sum(|cost| cost.bytes_down))
    }
}

pub(crate) fn median(samples: impl Iterator<Item = f64>) -> f64 {
    let mut samples: Vec<f64> = samples.collect();
    samples.sort_by(f64::total_cmp);
    samples.get(samples.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Microseconds since `start`, without what two looks at the clock take: half a microsecond, many times a handshake.
fn since(start: f64) -> f64 {
    static LOOKING: std::sync::LazyLock<f64> = std::sync::LazyLock::new(|| {
        median((0..1000).map(|_| {
            let start = now();
            now() - start
        }))
    });
    now() - start - *LOOKING
}

/// Microseconds of processor time that this thread has used.
#[cfg(unix)]
fn now() -> f64 {
    let time = nix::time::clock_gettime(nix::time::ClockId::CLOCK_THREAD_CPUTIME_ID);
    time.map_or(f64::NAN, |time| time.tv_sec() as f64 * 1e6 + time.tv_nsec() as f64 / 1e3)
}

/// Microseconds of the clock.
#[cfg(not(unix))]
pub(crate) fn now() -> f64 {
    static START: std::sync::LazyLock<std::time::Instant> = std::sync::LazyLock::new(std::time::Instant::now);
    START.elapsed().as_secs_f64() * 1e6
}
