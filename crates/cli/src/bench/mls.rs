//! `bench mls`: what groups cost, on the suite of most channels and on a classical one beside it.
//!
//! Subjects take turns, row by row, so that all of them see the same machine. Times are medians of the processor time of all threads;
//! elsewhere than on Unix they are those of the clock. What is remembered between operations is forgotten before each row, unless its name
//! says otherwise.
//!
//! # Layout
//!
//! * `group`: the rows, for any `CryptoProvider` of mls-rs
//! * `promises`: what `--check` judges
//! * this file: rows, rounds and their table

mod group;
mod promises;

use serde_json::json;

use crate::args::Bench;
use crate::console::{Console, duration, grouped};
use crate::error::{Error, Status};
use crate::tls::bench::median;

pub use group::{Crypto, subject, timed};
pub use promises::AWS_LC;

/// Why a row did not come about.
pub type Failure = Box<dyn std::error::Error>;

/// The suite of most channels, and the classical one beside it.
pub const POST_QUANTUM: u16 = 0xf00a;
/// Suite 1 of RFC 9420.
pub const CLASSICAL: u16 = 1;
/// Whose subjects are ours.
pub const OURS: &str = "gambeson";

/// How often each row is measured, unless it takes microseconds.
const ROUNDS: u64 = 5;
/// How many messages a round has.
const MESSAGES: usize = 40;
/// How often what `cargo xtask instructions` counts is done, so that in some every signature of ML-DSA, which begins anew until one fits, fits
/// at once. An attempt is little of what adds everyone; of two signatures, as where one is added, both do in one of thirty.
const COUNTED: usize = 10;
const COUNTED_ADDED: usize = 240;
const COUNTED_MESSAGES: usize = 60;
/// Payloads of one bundle.
const BUNDLE: usize = 20;
const PAYLOAD: usize = 1024;
/// The largest warm-up that is allowed.
const WARM_UP_COMMITS: usize = 64;

/// What one operation took, and the bytes that it made or read.
#[derive(Clone, Copy, Debug)]
pub struct Figure {
    /// Microseconds of processor time.
    pub us: f64,
    /// Bytes over the wire.
    pub bytes: usize,
}

/// What the updates of a few members make of a tree whose inner nodes are blank.
#[derive(Clone, Copy, Debug)]
pub struct WarmUp {
    /// Commits of the warm-up.
    pub commits: usize,
    /// Their bytes.
    pub bytes: usize,
    /// An update commit after it, of a member who has made none: the mean.
    pub update: Figure,
    /// The longest of those.
    pub longest: usize,
    /// The same, at another member.
    pub processed: Figure,
}

/// Groups of one suite over one library.
pub trait Subject {
    /// Adds every member in one commit; their key packages may be `known`: verified when they were published.
    ///
    /// # Errors
    /// What the library says; also below.
    fn add_all(&mut self, known: bool) -> Result<Figure, Failure>;
    /// A joiner, from the bytes of Welcome and tree; the bytes are those of the tree.
    #[allow(missing_docs)]
    fn join(&mut self) -> Result<Figure, Failure>;
    /// The same where each signature is verified when it is asked about; nothing where none is verified ahead anyway.
    #[allow(missing_docs)]
    fn join_one_by_one(&mut self) -> Result<Option<Figure>, Failure> {
        Ok(None)
    }
    /// The bytes that a joiner receives besides the tree.
    fn welcome(&self) -> usize;
    /// Adds one member: the committer, and another member.
    #[allow(missing_docs)]
    fn add_one(&mut self) -> Result<[Figure; 2], Failure>;
    /// An update with a path in a tree whose inner nodes are blank: what its maker has of it.
    #[allow(missing_docs)]
    fn update(&mut self) -> Result<Figure, Failure>;
    /// Removes who was added last, so that there are as many members as before; nobody asks for it where it is not to be had.
    ///
    /// # Errors
    /// It is not to be had.
    fn remove_last(&mut self) -> Result<(), Failure> {
        Err("this library cannot remove members here".into())
    }
    /// A message of so many bytes: sent, and received.
    #[allow(missing_docs)]
    fn message(&mut self, len: usize) -> Result<[Figure; 2], Failure>;
    /// Members update in bit-reversed order of their leaves, at most so many; nothing where it is not measured.
    #[allow(missing_docs)]
    fn warm_up(&mut self, commits: usize) -> Result<Option<WarmUp>, Failure>;
}

/// Whose groups are measured.
pub struct Contender {
    /// The library, as the table names it.
    pub by: &'static str,
    /// The suite.
    pub suite: u16,
    /// Makes its groups, of so many members.
    pub make: fn(usize) -> Result<Box<dyn Subject>, Failure>,
}

/// Ours.
pub fn ours() -> [Contender; 2] {
    fn of(suite: u16, members: usize) -> Result<Box<dyn Subject>, Failure> {
        subject(gambeson_mls::Provider::new(gambeson_mls::Preset::All), suite, members)
    }
    [
        Contender { by: OURS, suite: POST_QUANTUM, make: |members| of(POST_QUANTUM, members) },
        Contender { by: OURS, suite: CLASSICAL, make: |members| of(CLASSICAL, members) },
    ]
}

/// The rows, by name.
const ROWS: [&str; 12] = [
    JOIN,
    JOIN_ONE_BY_ONE,
    ADD_ALL,
    ADD_ALL_KNOWN,
    ADD_ONE,
    ADD_ONE_MEMBER,
    UPDATE,
    SEND,
    RECEIVE,
    BUNDLE_SENT,
    WELCOME,
    WARM_UPDATE,
];
const JOIN: &str = "join";
const JOIN_ONE_BY_ONE: &str = "join, nothing verified ahead";
const ADD_ALL: &str = "add everyone, key packages unknown";
const ADD_ALL_KNOWN: &str = "add everyone, key packages known";
const ADD_ONE: &str = "add 1, committer";
const ADD_ONE_MEMBER: &str = "add 1, member";
const UPDATE: &str = "update, cold tree";
const SEND: &str = "1 KiB message, send";
const RECEIVE: &str = "1 KiB message, receive";
const BUNDLE_SENT: &str = "20 KiB in one message, send";
const WELCOME: &str = "received by a joiner besides the tree";
const WARM_UPDATE: &str = "update after the warm-up";

/// What was measured of one contender.
struct Measured {
    by: &'static str,
    suite: u16,
    figures: Vec<(&'static str, Vec<Figure>)>,
    warm_up: Option<WarmUp>,
}

impl Measured {
    fn add(&mut self, row: &'static str, figure: Figure) {
        match self.figures.iter_mut().find(|(name, _)| *name == row) {
            Some((_, figures)) => figures.push(figure),
            None => self.figures.push((row, vec![figure])),
        }
    }

    /// The median of the times, and the last bytes.
    fn figure(&self, row: &str) -> Option<Figure> {
        let (_, figures) = self.figures.iter().find(|(name, _)| *name == row)?;
        Some(Figure { us: median(figures.iter().map(|figure| figure.us)), bytes: figures.last()?.bytes })
    }

    fn round(&mut self, subject: &mut dyn Subject) -> Result<(), Failure> {
        self.add(JOIN, subject.join()?);
        if let Some(figure) = subject.join_one_by_one()? {
            self.add(JOIN_ONE_BY_ONE, figure);
        }
        self.add(ADD_ALL, subject.add_all(false)?);
        self.add(ADD_ALL_KNOWN, subject.add_all(true)?);
        let [committer, member] = subject.add_one()?;
        self.add(ADD_ONE, committer);
        self.add(ADD_ONE_MEMBER, member);
        self.add(UPDATE, subject.update()?);
        for _ in 0..MESSAGES {
            let [sent, received] = subject.message(PAYLOAD)?;
            self.add(SEND, sent);
            self.add(RECEIVE, received);
        }
        self.add(BUNDLE_SENT, subject.message(BUNDLE * PAYLOAD)?[0]);
        Ok(())
    }
}

/// Measures ours and `others`.
pub(crate) fn bench(console: Console, options: &Bench, others: &[Contender]) -> Result<Status, Error> {
    let refused = |error: Failure| Error::usage(format!("bench mls: {error}"));
    let ours = ours();
    let mut all: Vec<(Measured, Box<dyn Subject>)> = Vec::new();
    let bar = console.steps_bar(2 * ROUNDS + 1, "groups");
    for contender in ours.iter().chain(others) {
        let measured =
            Measured { by: contender.by, suite: contender.suite, figures: Vec::new(), warm_up: None };
        all.push((measured, (contender.make)(options.members as usize).map_err(refused)?));
    }
    bar.inc(1);
    for _ in 0..ROUNDS {
        for (measured, subject) in &mut all {
            measured.round(subject.as_mut()).map_err(refused)?;
        }
        bar.inc(1);
    }
    let mut rows = Vec::new();
    for (mut measured, mut subject) in all {
        measured.add(WELCOME, Figure { us: f64::NAN, bytes: subject.welcome() });
        measured.warm_up = subject.warm_up(WARM_UP_COMMITS).map_err(refused)?;
        if let Some(warm_up) = measured.warm_up {
            measured.add(WARM_UPDATE, warm_up.update);
        }
        rows.push(measured);
    }
    bar.finish_and_clear();
    table(console, options.members, &rows)?;
    promises::compare(console, options.check, &rows)
}

/// Does what `cargo xtask instructions` counts, on the suite of most channels, and tells in which order.
pub(crate) fn counted(console: Console, options: &Bench) -> Result<Status, Error> {
    let refused = |error: Failure| Error::usage(format!("bench mls: {error}"));
    let mut subject = (ours()[0].make)(options.members as usize).map_err(refused)?;
    for row in in_order(subject.as_mut()).map_err(refused)? {
        console.report(
            format_args!("{row}"),
            json!({
                "type": "counted",
                "name": row,
                "kernels": {
                    "mlkem": gambeson::mlkem::kernels().to_string(), "mldsa": gambeson::mldsa::kernels().to_string()
                },
            }),
        )?;
    }
    Ok(Status::Done)
}

fn in_order(subject: &mut dyn Subject) -> Result<Vec<&'static str>, Failure> {
    let mut done = Vec::new();
    for _ in 0..COUNTED {
        subject.join()?;
        subject.add_all(false)?;
        subject.add_all(true)?;
        done.extend([JOIN, ADD_ALL, ADD_ALL_KNOWN]);
    }
    for _ in 0..COUNTED_ADDED {
        subject.add_one()?;
        subject.remove_last()?;
        done.extend([ADD_ONE, ADD_ONE_MEMBER]);
    }
    for _ in 0..COUNTED_MESSAGES {
        subject.message(PAYLOAD)?;
        done.extend([SEND, RECEIVE]);
    }
    Ok(done)
}

fn table(console: Console, members: u32, all: &[Measured]) -> Result<(), Error> {
    console.say(format_args!(
        "{members} members beside the creator; {ROUNDS} rounds; kernels: FIPS 202 {}, ML-KEM {}, ML-DSA {}",
        gambeson::sha3::kernels(),
        gambeson::mlkem::kernels(),
        gambeson::mldsa::kernels(),
    ))?;
    console.say("")?;
    console.say(format_args!(
        "{:<38} {:<18} {:>6} {:>9} {:>12} {:>12}",
        "row", "by", "suite", "time", "bytes", "of suite 1"
    ))?;
    for row in ROWS {
        for measured in all {
            let Some(figure) = measured.figure(row) else { continue };
            let classical = all.iter().find(|other| other.by == measured.by && other.suite == CLASSICAL);
            let ratio = classical.and_then(|other| other.figure(row)).map(|other| figure.us / other.us);
            let ratio = ratio.filter(|ratio| ratio.is_finite() && measured.suite != CLASSICAL);
            let time = if figure.us.is_finite() { duration(figure.us * 1e3) } else { String::new() };
            console.report(
                format_args!(
                    "{row:<38} {:<18} {:>#6x} {time:>9} {:>12} {:>12}",
                    measured.by,
                    measured.suite,
                    grouped(figure.bytes as u64),
                    ratio.map(|ratio| format!("{ratio:.2}")).unwrap_or_default()
                ),
                json!({
                    "type": "group-benchmark",
                    "name": row,
                    "library": measured.by,
                    "suite": format!("{:#06x}", measured.suite),
                    "groupSize": members,
                    "us": figure.us.is_finite().then_some(figure.us),
                    "bytes": figure.bytes,
                    "ofClassical": ratio,
                }),
            )?;
        }
    }
    for measured in all {
        let Some(warm_up) = measured.warm_up else { continue };
        console.report(
            format_args!(
                "warm-up, {:#x}: {} commits, {} bytes; then an update of {} bytes (at most {}), {} at its maker, {} at another member",
                measured.suite,
                warm_up.commits,
                grouped(warm_up.bytes as u64),
                grouped(warm_up.update.bytes as u64),
                grouped(warm_up.longest as u64),
                duration(warm_up.update.us * 1e3),
                duration(warm_up.processed.us * 1e3),
            ),
            json!({
                "type": "warm-up",
                "suite": format!("{:#06x}", measured.suite),
                "commits": warm_up.commits,
                "bytes": warm_up.bytes,
                "updateBytes": warm_up.update.bytes,
                "longestBytes": warm_up.longest,
                "updateUs": warm_up.update.us,
                "processedUs": warm_up.processed.us,
            }),
        )?;
    }
    Ok(())
}
