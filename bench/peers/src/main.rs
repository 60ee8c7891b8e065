//! The same work done by gambeson and by every peer, measured in interleaved rounds of one run.
//!
//! ```text
//! cargo run --manifest-path bench/peers/Cargo.toml --release -- --limit portable
//! cargo run --manifest-path bench/peers/Cargo.toml --release -- --json --op 'ML-KEM-768 .*'
//! ```
//!
//! # Layout
//!
//! - `peers`: the trait of each family, and one file a peer; `peers::ours` is the contestant of this project
//! - `cases`: keys, messages, ciphertexts and signatures, the same for all
//! - `agree`: nobody is timed before it gave our answers
//! - `measure`: the rounds
//! - `keccak`: the permutation alone, in core cycles
//! - `row`, `report`, `plot`: one line of the result, the tables, the plot
//! - `scaled`: the peer that no registry has
//! - `stateful`: our keys of LMS and XMSS
//! - `compressions`: what hash-based operations count, and the time of our kernels for it
//! - `thresholds`: what `--check` judges
//!
//! # Forms
//!
//! `default` is the calls of each library's first documented example, ours and theirs. `oneshot` starts from key bytes
//! (private keys: the standard's encoding), `seed` from the private key's seed, `prepared` from a key object made before,
//! and `compact` is our least memory beside what a peer does from the same bytes. `batch64` is an operation of a batch of
//! 64, beside the peers' `oneshot`; `batch8` is an operation of a batch of eight under one key, beside our own one alone. A row holds only the peers that have a door of that form. See [`peers::Form`].

use std::cell::OnceCell;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use gambeson::cpu::{self, Level};
use regex::Regex;

use cases::{KEYS, KemCases, SignatureCases};
use compressions::Compressions;
use peers::ours::Ours;
use peers::{
    BATCH, EIGHT, Family, Form, KemPeer, KemSet, KemVerb, Peer, SINGLE, SignaturePeer, SignatureSet,
    SignatureVerb, Work,
};
use row::{Bound, Permutation, Row, Time};

mod agree;
mod cases;
mod compressions;
mod keccak;
mod measure;
mod peers;
mod plot;
mod report;
mod row;
mod scaled;
mod stateful;
mod thresholds;

const KEM_ROWS: &[(KemVerb, &str, &[Form])] = &[
    (KemVerb::Keygen, "keygen", &[Form::Default, Form::Oneshot, Form::Compact]),
    (
        KemVerb::Encaps,
        "encaps",
        &[Form::Default, Form::Oneshot, Form::Prepared, Form::Batch64, Form::Compact],
    ),
    (
        KemVerb::Decaps,
        "decaps",
        &[Form::Default, Form::Oneshot, Form::Seed, Form::Prepared, Form::Batch64, Form::Compact],
    ),
];

type SignatureRow = (SignatureVerb, &'static str, &'static [Form]);

const ML_DSA_ROWS: &[SignatureRow] = &[
    (SignatureVerb::Keygen, "keygen", &[Form::Default, Form::Oneshot, Form::Compact]),
    (SignatureVerb::Sign, "sign", &[Form::Default, Form::Oneshot, Form::Seed, Form::Prepared, Form::Compact]),
    (
        SignatureVerb::Verify,
        "verify",
        &[Form::Default, Form::Oneshot, Form::Prepared, Form::Batch64, Form::Compact],
    ),
];

const SLH_DSA_ROWS: &[SignatureRow] = &[
    (SignatureVerb::Keygen, "keygen", &[Form::Default, Form::Oneshot]),
    (SignatureVerb::Sign, "sign", &[Form::Default, Form::Oneshot, Form::Prepared]),
    (SignatureVerb::Verify, "verify", &[Form::Default, Form::Oneshot, Form::Prepared]),
];

/// The sets in which one signature is small enough for a batch to pay.
const SLH_DSA_F_ROWS: &[SignatureRow] = &[
    (SignatureVerb::Keygen, "keygen", &[Form::Default, Form::Oneshot]),
    (SignatureVerb::Sign, "sign", &[Form::Default, Form::Oneshot, Form::Prepared, Form::Batch8]),
    (SignatureVerb::Verify, "verify", &[Form::Default, Form::Oneshot, Form::Prepared, Form::Batch8]),
];

const STATEFUL_ROWS: &[SignatureRow] = &[
    (SignatureVerb::Keygen, "keygen", &[Form::Oneshot]),
    (SignatureVerb::Sign, "sign", &[Form::Prepared]),
    (SignatureVerb::Verify, "verify", &[Form::Oneshot, Form::Prepared]),
];

fn signature_rows(set: SignatureSet) -> &'static [SignatureRow] {
    match set.family() {
        Family::MlDsa => ML_DSA_ROWS,
        Family::SlhDsa if set.name().ends_with('f') => SLH_DSA_F_ROWS,
        Family::SlhDsa => SLH_DSA_ROWS,
        Family::Lms | Family::Xmss => STATEFUL_ROWS,
    }
}

/// Measures gambeson beside every peer: the same keys, messages and compiler flags, in interleaved rounds.
#[derive(Parser)]
struct Arguments {
    /// One JSON object a line instead of a table.
    #[arg(long)]
    json: bool,
    /// Only kernels and peers at or below this level: portable, avx2, avx512, neon.
    #[arg(long, value_name = "LEVEL", value_parser = level)]
    limit: Option<Level>,
    /// Only operations whose name matches, such as "ML-KEM-768 decaps".
    #[arg(long, value_name = "REGEX")]
    op: Option<Regex>,
    /// Seconds of measuring for each row.
    #[arg(long, value_name = "N", default_value_t = 1.0, value_parser = seconds)]
    seconds: f64,
    /// Exit with status 1 when a row misses a number that this project promises. Rows of `default` are measured in three
    /// runs, of which the one with the middle ratio counts; --json prints all three.
    #[arg(long)]
    check: bool,
    /// Also write the table into FILE, between the markers of this limit.
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
    /// Also draw the ratios into FILE.
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// What the tables call this machine, instead of its host name.
    #[arg(long, value_name = "NAME")]
    machine: Option<String>,
}

fn level(text: &str) -> Result<Level, String> {
    text.parse().map_err(|_| "no such level".to_owned())
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(seconds) if (0.0..=86_400.0).contains(&seconds) => Ok(seconds),
        _ => Err("not a number of seconds".into()),
    }
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    if let Some(limit) = arguments.limit {
        cpu::limit(limit);
    }
    // Before the next line leaves this thread one processor to count.
    let context = report::Context::new(arguments.machine.clone(), arguments.limit);
    if let Some(core) = core_affinity::get_core_ids().and_then(|cores| cores.last().copied()) {
        core_affinity::set_for_current(core);
    }
    let peers = peers::all(arguments.limit);
    let mut bench = Bench { peers, arguments, rows: Vec::new(), permutations: Vec::new() };
    // The promises about `default` hold for the middle of three runs.
    let again = Some(&[Form::Default][..]);
    for only in if bench.arguments.check { vec![None, again, again] } else { vec![None] } {
        if let Err(error) = bench.run(only) {
            eprintln!("error: {error}");
            return ExitCode::from(3);
        }
    }
    bench.rows = row::middles(std::mem::take(&mut bench.rows));
    bench.peers.extend(scaled::peer(&bench.peers));
    bench.peers.push(peers::single());
    let (peers, rows) = (&mut bench.peers, &bench.rows);
    peers.retain(|peer| rows.iter().any(|row| row.peers.iter().any(|time| time.name == peer.name)));
    bench.conclude(&context)
}

struct Bench {
    arguments: Arguments,
    peers: Vec<Peer>,
    rows: Vec<Row>,
    permutations: Vec<Permutation>,
}

/// What is done in one row, by ours and by those peers that can.
struct Contest {
    op: String,
    form: Form,
    kernels: Level,
    ours: Work,
    rivals: Vec<((&'static str, Level), Work)>,
    /// Good cases.
    cases: usize,
    /// The compressions of a hash-based operation.
    compressions: Option<Compressions>,
    how: fn(&mut [Work], usize, Duration) -> Vec<f64>,
}

impl Bench {
    /// Measures every row that was asked for, in these forms alone if there are some.
    fn run(&mut self, only: Option<&[Form]>) -> Result<(), String> {
        let asked = |form: &&Form| only.is_none_or(|only| only.contains(form));
        for set in KemSet::ALL {
            let single = OnceCell::new();
            let batch = OnceCell::new();
            for &(verb, name, forms) in KEM_ROWS {
                let op = format!("{} {name}", set.name());
                if !self.wanted(&op) {
                    continue;
                }
                let mut rows = Vec::new();
                for &form in forms.iter().filter(asked) {
                    let (cases, theirs) = match form {
                        Form::Batch64 => (batch.get_or_init(|| KemCases::new(set, BATCH)), Form::Oneshot),
                        _ => (single.get_or_init(|| KemCases::new(set, KEYS)), form),
                    };
                    let agreed = |name: &str, form: Form, work: Option<Work>| {
                        work.map(|mut work| match agree::kem(set, verb, form, cases, &mut work) {
                            Ok(()) => Ok(work),
                            Err(error) => Err(format!("{op} ({}), {name}: {error}", form.name())),
                        })
                        .transpose()
                    };
                    let ours = agreed("gambeson", form, KemPeer::work(&Ours, set, verb, form, cases))?;
                    let Some(ours) = ours else { continue };
                    let mut rivals = Vec::new();
                    for peer in &self.peers {
                        let work = peer.kem.as_ref().and_then(|kem| kem.work(set, verb, theirs, cases));
                        let work = agreed(peer.name, theirs, work)?;
                        rivals.extend(work.map(|work| ((peer.name, peer.level), work)));
                    }
                    rows.push(self.measure(Contest {
                        op: op.clone(),
                        form,
                        kernels: gambeson::mlkem::kernels(),
                        ours,
                        rivals,
                        // The last case is the tampered one.
                        cases: cases.all.len() - 1,
                        compressions: None,
                        how: measure::uniform,
                    }));
                }
                self.keep(rows);
            }
        }
        for set in SignatureSet::ALL {
            let single = OnceCell::new();
            let batch = OnceCell::new();
            let eight = OnceCell::new();
            for &(verb, name, forms) in signature_rows(set) {
                let op = format!("{} {name}", set.name());
                if !self.wanted(&op) {
                    continue;
                }
                let mut rows = Vec::new();
                for &form in forms.iter().filter(asked) {
                    let (cases, theirs) = match form {
                        Form::Batch64 => {
                            (batch.get_or_init(|| SignatureCases::new(set, BATCH, 1)), Form::Oneshot)
                        }
                        Form::Batch8 => (eight.get_or_init(|| SignatureCases::new(set, 1, EIGHT)), form),
                        _ => (single.get_or_init(|| SignatureCases::usual(set)), form),
                    };
                    let agreed = |name: &str, form: Form, work: Option<Work>| {
                        work.map(|mut work| match agree::signature(set, verb, form, cases, &mut work) {
                            Ok(()) => Ok(work),
                            Err(error) => Err(format!("{op} ({}), {name}: {error}", form.name())),
                        })
                        .transpose()
                    };
                    let ours = agreed("gambeson", form, SignaturePeer::work(&Ours, set, verb, form, cases))?;
                    let Some(ours) = ours else { continue };
                    let mut rivals = Vec::new();
                    for peer in &self.peers {
                        let work = peer.signature.as_ref().and_then(|it| it.work(set, verb, theirs, cases));
                        let work = agreed(peer.name, theirs, work)?;
                        rivals.extend(work.map(|work| ((peer.name, peer.level), work)));
                    }
                    if form == Form::Batch8 {
                        let alone = if verb == SignatureVerb::Sign { Form::Default } else { Form::Prepared };
                        let work = SignaturePeer::work(&Ours, set, verb, alone, cases);
                        let work = agreed(SINGLE, alone, work)?;
                        rivals.extend(work.map(|work| ((SINGLE, gambeson::mldsa::kernels()), work)));
                    }
                    rows.push(self.measure(Contest {
                        op: op.clone(),
                        form,
                        kernels: gambeson::mldsa::kernels(),
                        ours,
                        rivals,
                        cases: cases.all.len() - 1,
                        compressions: compressions::of(set, verb, form),
                        how: match (set.family(), verb) {
                            (Family::MlDsa, SignatureVerb::Sign) => measure::signing,
                            (Family::Lms | Family::Xmss, SignatureVerb::Sign) => measure::stateful,
                            _ => measure::uniform,
                        },
                    }));
                }
                self.keep(rows);
            }
        }
        if only.is_none() && self.wanted("Keccak-f[1600]") {
            self.permutations = keccak::measure(self.arguments.limit);
            for row in self.permutations.iter().filter(|_| self.arguments.json) {
                println!("{}", row.json());
            }
        }
        Ok(())
    }

    fn wanted(&self, op: &str) -> bool {
        self.arguments.op.as_ref().is_none_or(|regex| regex.is_match(op))
    }

    fn measure(&self, contest: Contest) -> Row {
        let Contest { op, form, kernels, ours, rivals, cases, compressions, how } = contest;
        let (names, rivals): (Vec<_>, Vec<Work>) = rivals.into_iter().unzip();
        let mut works = vec![ours];
        works.extend(rivals);
        let times = how(&mut works, cases, Duration::from_secs_f64(self.arguments.seconds));
        // The clock may change: the kernels run right after the rounds.
        let bound = compressions
            .map(|count| Bound { compressions: count.total(), ns: compressions::nanoseconds(count) });
        let peers = (names.into_iter().zip(&times[1..]).zip(&works[1..]))
            .map(|(((name, level), &ns), work)| Time { name, level, ns, random: work.random, scaled: false })
            .collect();
        Row { op, form, kernels, ours_ns: times[0], bound, peers }
    }

    /// Completes the rows of one operation, and prints them if they are wanted one by one.
    fn keep(&mut self, mut rows: Vec<Row>) {
        scaled::add(&mut rows);
        for row in &rows {
            if self.arguments.json {
                println!("{}", row.json());
            } else {
                eprintln!("{} ({}): {:.2} µs", row.op, row.form.name(), row.ours_ns / 1000.0);
            }
        }
        self.rows.extend(rows);
    }

    /// Prints what is left to print, and judges.
    fn conclude(&self, context: &report::Context) -> ExitCode {
        if self.rows.is_empty() && self.permutations.is_empty() {
            eprintln!("error: no operation matches");
            return ExitCode::from(2);
        }
        let results =
            report::Results { peers: &self.peers, rows: &self.rows, permutations: &self.permutations };
        if !self.arguments.json {
            print!("{}", report::terminal(context, &results));
        }
        if let Some(file) = &self.arguments.markdown
            && let Err(error) = report::markdown(file, context, &results)
        {
            eprintln!("error: {}: {error}", file.display());
            return ExitCode::from(3);
        }
        if let Some(file) = &self.arguments.svg
            && let Err(error) = plot::write(file, context, &self.rows)
        {
            eprintln!("error: {}: {error}", file.display());
            return ExitCode::from(3);
        }
        if !self.arguments.check {
            return ExitCode::SUCCESS;
        }
        let verdict = thresholds::judge(&self.rows, &self.permutations, gambeson::mlkem::kernels(), |op| {
            self.wanted(op)
        });
        for line in &verdict.missed {
            eprintln!("missed: {line}");
        }
        if verdict.judged == 0 {
            eprintln!("error: no row that was measured has a promise to check");
            return ExitCode::FAILURE;
        }
        eprintln!("{} promises judged, {} missed", verdict.judged, verdict.missed.len());
        if verdict.missed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}

/// Every operation that has rows: set, verb, forms.
fn operations() -> impl Iterator<Item = (&'static str, &'static str, &'static [Form])> {
    let kems =
        KemSet::ALL.into_iter().flat_map(|set| KEM_ROWS.iter().map(move |row| (set.name(), row.1, row.2)));
    let signatures = SignatureSet::ALL
        .into_iter()
        .flat_map(|set| signature_rows(set).iter().map(move |row| (set.name(), row.1, row.2)));
    kems.chain(signatures)
}
