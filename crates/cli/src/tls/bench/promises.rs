//! Rows beside each other, and what `--check` judges.

use serde_json::json;

use super::ends::MESSAGE;
use super::operations::Operations;
use super::stack::OURS;
use super::{CLASSICAL, DEFAULT, ECDSA, HYBRID, ML_DSA, Row, SESSION, SESSION_KNOWN};
use crate::args::tls::TlsBench;
use crate::console::{Console, duration};
use crate::error::{Error, Status};

/// By how much fully hybrid may be slower than classical: the publication has 2.43 and 2.67.
const HYBRID_OVER_CLASSICAL: f64 = 2.0;
/// By how much the classical handshake may be slower than its curve operations, so that a slow baseline cannot help.
const OVER_CURVES: f64 = 1.25;
/// By how much a handshake may be slower with X25519MLKEM768 than with X25519.
const SHARE: f64 = 1.05;
/// How many handshakes a second ours serves for one of rustls and aws-lc-rs.
const OVER_AWS_LC: f64 = 1.3;
/// By how much a session may be slower than its parts, and how many bytes it has beside the cards, both ways.
const OVER_PARTS: f64 = 1.1;
const SESSION_BYTES: usize = 14_500;

/// Why two promises are open: `--check` says so, and fails all the same.
const SHARE_OPEN: &str = "open: the operations of ML-KEM-768 alone are more than that beside ECDSA";
const PARTS_OPEN: &str = "open: rustls, copies and allocation between those operations take the rest";

/// Compares the rows. What a row lacks, because nobody with that TLS took part, is not judged.
pub(super) fn compare(
    console: Console,
    options: &TlsBench,
    rows: &[Row],
    operations: &Operations,
) -> Result<Status, Error> {
    let mut comparison = Comparison { console, rows, missed: Vec::new() };
    for verify in [true, false] {
        comparison.presets(operations, verify)?;
        comparison.others(ML_DSA, verify)?;
    }
    comparison.sessions(operations)?;
    if options.check && rows.iter().all(|row| row.stack == OURS.name) {
        let unjudged = "goals against OpenSSL and aws-lc-rs, which this program does not measure; gambeson-bench-tls does";
        console.report(
            format_args!("not judged: {unjudged}"),
            json!({"type": "unjudged", "detail": unjudged}),
        )?;
    }
    for missed in comparison.missed.iter().filter(|_| options.check) {
        console.report(format_args!("missed: {missed}"), json!({"type": "missed", "detail": missed}))?;
    }
    let missed = options.check && !comparison.missed.is_empty();
    Ok(if missed { Status::NotVerified } else { Status::Done })
}

struct Comparison<'a> {
    console: Console,
    rows: &'a [Row],
    missed: Vec<String>,
}

impl<'a> Comparison<'a> {
    fn of(&self, preset: &'a str, verify: bool) -> impl Iterator<Item = &'a Row> + use<'a> {
        self.rows.iter().filter(move |row| row.preset == preset && row.verify == verify)
    }

    /// Microseconds of both sides of ours.
    fn cpu(&self, preset: &'a str, verify: bool, message: bool) -> f64 {
        let ours = self.of(preset, verify).find(|row| row.stack == OURS.name);
        ours.map_or(f64::NAN, |row| row.both(message))
    }

    fn judge(&mut self, holds: bool, promise: impl FnOnce() -> String) {
        if !holds {
            self.missed.push(promise());
        }
    }

    /// The presets beside each other, and whether the baseline is a fair one.
    fn presets(&mut self, operations: &Operations, verify: bool) -> Result<(), Error> {
        let (classical, sum) = (self.cpu(CLASSICAL, verify, false), operations.of_classical(verify));
        let overhead = classical / sum;
        self.console.report(
            format_args!(
                "{CLASSICAL}, verify {verify}: its curve operations take {}, the handshake {overhead:.2} times that",
                duration(sum * 1e3)
            ),
            json!({"type": "operations", "preset": CLASSICAL, "verify": verify, "cpuUs": sum, "overhead": overhead}),
        )?;
        let theirs = self.of(CLASSICAL, verify).filter(|row| row.stack != OURS.name);
        let slower_than = theirs.filter(|row| classical > row.both(false)).map(|row| row.stack).next();
        self.others(CLASSICAL, verify)?;
        let invalid = match slower_than {
            _ if overhead > OVER_CURVES => {
                Some(format!("more than {OVER_CURVES} times its curve operations"))
            }
            Some(stack) => Some(format!("more than with {stack}")),
            None => None,
        };
        for message in [false, true] {
            let ratio = self.cpu(HYBRID, verify, message) / self.cpu(CLASSICAL, verify, message);
            let bytes = if message { MESSAGE.len() } else { 0 };
            let verdict = invalid.as_ref().map(|why| format!(", invalid: the baseline takes {why}"));
            self.console.report(
                format_args!(
                    "{HYBRID} over {CLASSICAL}, verify {verify}, message {bytes}: {ratio:.2}{}",
                    verdict.unwrap_or_default()
                ),
                json!({
                    "type": "ratio", "name": format!("{HYBRID}/{CLASSICAL}"), "verify": verify, "messageBytes": bytes,
                    "cpuRatio": invalid.is_none().then_some(ratio), "measured": ratio,
                }),
            )?;
            if verify && !message {
                self.judge(ratio < HYBRID_OVER_CLASSICAL, || {
                    format!(
                        "{HYBRID} is to take less than {HYBRID_OVER_CLASSICAL} times {CLASSICAL}: {ratio:.2}"
                    )
                });
            }
        }
        if verify {
            self.judge(invalid.is_none(), || {
                format!("the baseline {CLASSICAL} costs {}", invalid.unwrap_or_default())
            });
        }
        let ratio = self.cpu(DEFAULT, verify, false) / self.cpu(ECDSA, verify, false);
        self.console.report(
            format_args!("X25519MLKEM768 over X25519 (ECDSA), verify {verify}: {ratio:.3}"),
            json!({"type": "ratio", "name": format!("{DEFAULT}/{ECDSA}"), "verify": verify, "messageBytes": 0, "cpuRatio": ratio}),
        )?;
        if verify {
            self.judge(ratio < SHARE, || {
                format!("X25519MLKEM768 is to cost less than {SHARE} times X25519: {ratio:.3}; {SHARE_OPEN}")
            });
        }
        Ok(())
    }

    /// A row of ours beside those of others with the same chain.
    fn others(&mut self, preset: &'a str, verify: bool) -> Result<(), Error> {
        let Some(ours) = self.of(preset, verify).find(|row| row.stack == OURS.name) else { return Ok(()) };
        for theirs in self.of(preset, verify).filter(|row| row.stack != OURS.name) {
            let cpu = ours.both(false) / theirs.both(false);
            // A second of the server's core.
            let handshakes = theirs.median(false).1 / ours.median(false).1;
            self.console.report(
                format_args!(
                    "{preset}, verify {verify}: {} over {}: {cpu:.2} times the time of both sides, {handshakes:.2} times the \
                     handshakes a second",
                    ours.stack, theirs.stack
                ),
                json!({
                    "type": "ratio", "name": format!("{}/{}", ours.stack, theirs.stack), "preset": preset, "verify": verify,
                    "messageBytes": 0, "cpuRatio": cpu, "handshakesPerSecond": handshakes,
                }),
            )?;
            if preset == ML_DSA {
                self.judge(handshakes >= OVER_AWS_LC && cpu * OVER_AWS_LC <= 1.0, || {
                    format!(
                        "{preset}, verify {verify}, is to serve {OVER_AWS_LC} times the handshakes of {}: {handshakes:.2}, \
                         and both sides {:.2}",
                        theirs.stack,
                        1.0 / cpu
                    )
                });
            }
        }
        Ok(())
    }

    /// Sessions beside what they are made of.
    fn sessions(&mut self, operations: &Operations) -> Result<(), Error> {
        for (preset, known) in [(SESSION, false), (SESSION_KNOWN, true)] {
            let Some(row) = self.of(preset, true).next() else { continue };
            let (sum, (up, down)) = (operations.of_session(known), row.bytes());
            let (overhead, beside) = (row.both(false) / sum, up + down - row.cards);
            self.console.report(
                format_args!(
                    "{preset}: its operations take {}, the session {overhead:.2} times that; {beside} bytes beside {} of cards",
                    duration(sum * 1e3),
                    row.cards
                ),
                json!({
                    "type": "operations", "preset": preset, "verify": true, "cpuUs": sum, "overhead": overhead,
                    "bytesBesideCards": beside, "bytesOfCards": row.cards,
                }),
            )?;
            self.judge(overhead <= OVER_PARTS, || {
                format!("a {preset} is to take at most {OVER_PARTS} times its operations: {overhead:.2}; {PARTS_OPEN}")
            });
            self.judge(beside <= SESSION_BYTES, || {
                format!("a {preset} is to have at most {SESSION_BYTES} bytes beside the cards: {beside}")
            });
        }
        Ok(())
    }
}
