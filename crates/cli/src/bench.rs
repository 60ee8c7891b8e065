//! The command `bench`: how long our operations take, and classical ones beside them.
//!
//! Each row is measured for a while with rotating inputs; the median is that of single operations (of small
//! batches where one is too short for the clock), the rate is that of the whole run, so that slow outliers
//! such as signatures with many attempts count in it.
//!
//! # Layout
//!
//! * `ours`: the operations of this project
//! * `agent`: the rows of the published agent benchmark, ours and RustCrypto's, and what a derivation may cost
//! * `http`: signed HTTP messages, and what a refused one may cost
//! * `mls`: groups
//! * `classical`: BLAKE3, XChaCha20-Poly1305, RSA, finite-field Diffie-Hellman, P-256, X25519 and X448 of other crates
//! * this file: the clock and the table

mod agent;
mod classical;
mod http;
pub mod mls;
mod ours;

use crate::args::{Bench, BenchSubject};
use crate::console::{Console, duration, grouped};
use crate::error::{Error, Status};
use gambeson::cpu::{self, Level};
use serde_json::json;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// Something to measure: made when its turn comes, then called over and over.
type Work = Box<dyn FnMut()>;

/// The bytes of a long input.
const LONG: u32 = 16_384;

/// One row of the table.
struct Case {
    algorithm: &'static str,
    operation: &'static str,
    /// Which form of our keys, or of what size the input.
    form: &'static str,
    /// Whose code it is.
    by: &'static str,
    /// The table of kernels that runs, for our code.
    kernels: Option<fn() -> Level>,
    /// Bytes that one operation works on, where that is the measure.
    bytes: Option<u32>,
    /// Lengths of a signature scheme, for our code.
    lengths: Option<Lengths>,
    prepare: fn() -> Work,
    /// What others published for this row, in microseconds on their machine.
    published_us: Option<f64>,
}

/// Bytes of what a signature scheme sends.
#[derive(Clone, Copy)]
struct Lengths {
    verifying_key: usize,
    signature: usize,
}

/// What the clock said.
struct Timing {
    median_ns: f64,
    per_second: f64,
    operations: u64,
}

pub(crate) fn bench(console: Console, options: &Bench) -> Result<Status, Error> {
    if let Some(level) = options.limit {
        cpu::limit(level);
    }
    match options.subject {
        Some(BenchSubject::Mls) => return mls::bench(console, options, &[]),
        Some(BenchSubject::MlsCounted) => return mls::counted(console, options),
        Some(BenchSubject::Agent | BenchSubject::Http) | None => {}
    }
    let wanted = |case: &&Case| {
        let name = format!("{} {} {}", case.algorithm, case.operation, case.form).to_lowercase();
        options.op.as_ref().is_none_or(|part| name.contains(&part.to_lowercase()))
    };
    let cases: Vec<Case> = match options.subject {
        Some(BenchSubject::Agent) => agent::cases(),
        Some(BenchSubject::Http) => http::cases(),
        _ => ours::cases().into_iter().chain(classical::cases()).collect(),
    };
    let cases: Vec<&Case> = cases.iter().filter(wanted).collect();
    if cases.is_empty() {
        return Err(Error::usage("--op: unknown operation; `gambeson bench` without --op lists all"));
    }
    console.say(format_args!(
        "gambeson {}, {} s a row; kernels: FIPS 202 {}, ML-KEM {}, ML-DSA {} (CPU: {})",
        env!("CARGO_PKG_VERSION"),
        options.seconds,
        gambeson::sha3::kernels(),
        gambeson::mlkem::kernels(),
        gambeson::mldsa::kernels(),
        cpu::detected(),
    ))?;
    console.say("")?;
    console.say(format_args!(
        "{:<21} {:<17} {:<8} {:<16} {:>9} {:>14}{}",
        "algorithm",
        "operation",
        "form",
        "by",
        "median",
        "a second",
        if options.subject == Some(BenchSubject::Agent) { "  published" } else { "" }
    ))?;
    let bar = console.steps_bar(cases.len() as u64, "measuring");
    let mut medians = Vec::new();
    for case in cases {
        bar.set_message(format!("{} {}", case.algorithm, case.operation));
        let timing = measure((case.prepare)(), Duration::from_secs_f64(options.seconds));
        bar.suspend(|| row(console, case, &timing))?;
        medians.push((case, timing.median_ns));
        bar.inc(1);
    }
    bar.finish_and_clear();
    match options.subject {
        Some(BenchSubject::Agent) => agent::derivation(console, options),
        Some(BenchSubject::Http) => http::check(console, options, &medians),
        _ => Ok(Status::Done),
    }
}

fn row(console: Console, case: &Case, timing: &Timing) -> Result<(), Error> {
    let kernels = case.kernels.map(|kernels| kernels());
    let rate = match case.bytes {
        Some(bytes) => format!("{:.1} MB", timing.per_second * f64::from(bytes) / 1e6),
        None if timing.per_second < 100.0 => format!("{:.1}", timing.per_second),
        None => grouped(timing.per_second as u64),
    };
    console.report(
        format_args!(
            "{:<21} {:<17} {:<8} {:<16} {:>9} {:>14}{}",
            case.algorithm,
            case.operation,
            case.form,
            case.by,
            duration(timing.median_ns),
            rate,
            case.published_us.map(|us| format!("  {:>9}", duration(us * 1e3))).unwrap_or_default()
        ),
        json!({
            "type": "benchmark",
            "alg": case.algorithm,
            "op": case.operation,
            "form": case.form,
            "library": case.by,
            "level": kernels.map(Level::name),
            "medianNs": timing.median_ns,
            "opsPerSecond": timing.per_second,
            "bytesPerSecond": case.bytes.map(|bytes| timing.per_second * f64::from(bytes)),
            "operations": timing.operations,
            "publicBytes": case.lengths.map(|lengths| lengths.verifying_key),
            "signatureBytes": case.lengths.map(|lengths| lengths.signature),
            "publishedUs": case.published_us,
        }),
    )
}

/// Calls `work` for `time` and a little longer.
fn measure(mut work: Work, time: Duration) -> Timing {
    /// A sample shorter than this would measure the clock.
    const SAMPLE: Duration = Duration::from_micros(20);
    let warm_up = Instant::now();
    let mut calls = 0_u32;
    while calls == 0 || warm_up.elapsed() < time / 10 {
        work();
        calls += 1;
    }
    let once = warm_up.elapsed() / calls;
    let batch = (SAMPLE.as_nanos() / once.as_nanos().max(1)).clamp(1, 100_000) as u32;
    let mut samples = Vec::new();
    let mut total = Duration::ZERO;
    while samples.len() < 3 || total < time {
        let start = Instant::now();
        for _ in 0..batch {
            work();
        }
        let taken = start.elapsed();
        total += taken;
        samples.push(taken.as_nanos() as f64 / f64::from(batch));
    }
    samples.sort_by(f64::total_cmp);
    let median_ns = samples[samples.len() / 2];
    Timing { median_ns, per_second: 1e9 / median_ns, operations: samples.len() as u64 * u64::from(batch) }
}

#[cfg(test)]
mod tests {
    use super::measure;
    use std::time::Duration;

    /// A pause now and then, such as others cause on the machine, moves the mean and not the median.
    #[test]
    fn the_rate_is_that_of_the_median() {
        let mut calls = 0_u32;
        let work = Box::new(move || {
            calls += 1;
            std::thread::sleep(Duration::from_micros(if calls.is_multiple_of(20) { 5_000 } else { 50 }));
        });
        let timing = measure(work, Duration::from_millis(50));
        let product = timing.per_second * timing.median_ns / 1e9;
        assert!((product - 1.0).abs() < 1e-9, "{product}");
    }
}
