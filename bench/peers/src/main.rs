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
//! - `row`, `report`: one line of the result, and the tables
//! - `thresholds`: what `--check` judges
//!
//! # Forms
//!
//! `oneshot` starts from key bytes (private keys: the expanded encoding), `seed` from the private key's seed,
//! `expanded` from a key object made before, and `compact` is our least memory beside what a peer does from the same
//! bytes. A row holds only the peers that have a door of that form. See [`peers::Form`].

use std::path::PathBuf;
use std::process::ExitCode;
use std::rc::Rc;
use std::time::Duration;

use clap::Parser;
use gambeson::cpu::{self, Level};
use regex::Regex;

use cases::{KemCases, SignatureCases};
use peers::ours::Ours;
use peers::{Form, KemPeer, KemSet, KemVerb, Peer, SignaturePeer, SignatureSet, SignatureVerb, Work};
use row::{Row, Time};

mod agree;
mod cases;
mod measure;
mod peers;
mod report;
mod row;
mod thresholds;

const KEM_ROWS: &[(KemVerb, &str, &[Form])] = &[
    (KemVerb::Keygen, "keygen", &[Form::Oneshot, Form::Compact]),
    (KemVerb::Encaps, "encaps", &[Form::Oneshot, Form::Expanded, Form::Compact]),
    (KemVerb::Decaps, "decaps", &[Form::Oneshot, Form::Seed, Form::Expanded, Form::Compact]),
];

const SIGNATURE_ROWS: &[(SignatureVerb, &str, &[Form])] = &[
    (SignatureVerb::Keygen, "keygen", &[Form::Oneshot, Form::Compact]),
    (SignatureVerb::Sign, "sign", &[Form::Oneshot, Form::Seed, Form::Expanded, Form::Compact]),
    (SignatureVerb::Verify, "verify", &[Form::Oneshot, Form::Expanded, Form::Compact]),
];

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
    /// Exit with status 1 when a row misses a number that this project promises.
    #[arg(long)]
    check: bool,
    /// Also write the table into FILE, between the markers of this limit.
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
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
    let mut bench = Bench { peers: peers::all(arguments.limit), arguments, rows: Vec::new() };
    if let Err(error) = bench.run() {
        eprintln!("error: {error}");
        return ExitCode::from(3);
    }
    bench.conclude(&context)
}

struct Bench {
    arguments: Arguments,
    peers: Vec<Peer>,
    rows: Vec<Row>,
}

impl Bench {
    /// Measures every row that was asked for.
    fn run(&mut self) -> Result<(), String> {
        for set in KemSet::ALL {
            let mut cases: Option<Rc<KemCases>> = None;
            for &(verb, name, forms) in KEM_ROWS {
                let op = format!("{} {name}", set.name());
                if !self.wanted(&op) {
                    continue;
                }
                let cases = cases.get_or_insert_with(|| KemCases::new(set));
                for &form in forms {
                    let agreed = |name: &str, work: Option<Work>| {
                        work.map(|mut work| match agree::kem(set, verb, form, cases, &mut work) {
                            Ok(()) => Ok(work),
                            Err(error) => Err(format!("{op} ({}), {name}: {error}", form.name())),
                        })
                        .transpose()
                    };
                    let ours = agreed("gambeson", KemPeer::work(&Ours, set, verb, form, cases))?;
                    let mut rivals = Vec::new();
                    for peer in &self.peers {
                        let work = peer.kem.as_ref().and_then(|kem| kem.work(set, verb, form, cases));
                        rivals.extend(agreed(peer.name, work)?.map(|work| ((peer.name, peer.level), work)));
                    }
                    // The last case is the tampered one.
                    let count = cases.all.len() - 1;
                    let kernels = gambeson::mlkem::kernels();
                    self.measure(op.clone(), form, kernels, ours, rivals, count, measure::uniform);
                }
            }
        }
        for set in SignatureSet::ALL {
            let mut cases: Option<Rc<SignatureCases>> = None;
            for &(verb, name, forms) in SIGNATURE_ROWS {
                let op = format!("{} {name}", set.name());
                if !self.wanted(&op) {
                    continue;
                }
                let cases = cases.get_or_insert_with(|| SignatureCases::new(set));
                for &form in forms {
                    let agreed = |name: &str, work: Option<Work>| {
                        work.map(|mut work| match agree::signature(set, verb, form, cases, &mut work) {
                            Ok(()) => Ok(work),
                            Err(error) => Err(format!("{op} ({}), {name}: {error}", form.name())),
                        })
                        .transpose()
                    };
                    let ours = agreed("gambeson", SignaturePeer::work(&Ours, set, verb, form, cases))?;
                    let mut rivals = Vec::new();
                    for peer in &self.peers {
                        let work = peer.signature.as_ref().and_then(|it| it.work(set, verb, form, cases));
                        rivals.extend(agreed(peer.name, work)?.map(|work| ((peer.name, peer.level), work)));
                    }
                    let count = cases.all.len() - 1;
                    let kernels = gambeson::mldsa::kernels();
                    let how = if verb == SignatureVerb::Sign { measure::signing } else { measure::uniform };
                    self.measure(op.clone(), form, kernels, ours, rivals, count, how);
                }
            }
        }
        Ok(())
    }

    fn wanted(&self, op: &str) -> bool {
        self.arguments.op.as_ref().is_none_or(|regex| regex.is_match(op))
    }

    #[allow(clippy::too_many_arguments, reason = "the parts of one row")]
    fn measure(
        &mut self,
        op: String,
        form: Form,
        kernels: Level,
        ours: Option<Work>,
        rivals: Vec<((&'static str, Level), Work)>,
        cases: usize,
        how: fn(&mut [Work], usize, Duration) -> Vec<f64>,
    ) {
        let Some(ours) = ours else { return };
        let (names, rivals): (Vec<_>, Vec<Work>) = rivals.into_iter().unzip();
        let mut works = vec![ours];
        works.extend(rivals);
        let times = how(&mut works, cases, Duration::from_secs_f64(self.arguments.seconds));
        let peers = (names.into_iter().zip(&times[1..]).zip(&works[1..]))
            .map(|(((name, level), &ns), work)| Time { name, level, ns, random: work.random })
            .collect();
        let row = Row { op, form, kernels, ours_ns: times[0], peers };
        if self.arguments.json {
            println!("{}", row.json());
        } else {
            eprintln!("{} ({}): {:.2} µs", row.op, row.form.name(), row.ours_ns / 1000.0);
        }
        self.rows.push(row);
    }

    /// Prints what is left to print, and judges.
    fn conclude(&self, context: &report::Context) -> ExitCode {
        if self.rows.is_empty() {
            eprintln!("error: no operation matches");
            return ExitCode::from(2);
        }
        if !self.arguments.json {
            print!("{}", report::terminal(context, &self.peers, &self.rows));
        }
        if let Some(file) = &self.arguments.markdown
            && let Err(error) = report::markdown(file, context, &self.peers, &self.rows)
        {
            eprintln!("error: {}: {error}", file.display());
            return ExitCode::from(3);
        }
        if !self.arguments.check {
            return ExitCode::SUCCESS;
        }
        let judged = self.rows.iter().filter(|row| thresholds::of(row).next().is_some()).count();
        let missed: Vec<String> = self.rows.iter().flat_map(thresholds::missed).collect();
        for line in &missed {
            eprintln!("missed: {line}");
        }
        if judged == 0 {
            eprintln!("error: no row that was measured has a promise to check");
            return ExitCode::FAILURE;
        }
        eprintln!("{judged} of {} rows judged, {} promises missed", self.rows.len(), missed.len());
        if missed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}
