//! A whole file of tests: every line judged and counted.

use super::flat::request;
use super::judge::{Verdict, judge};
use super::read::lines;
use serde_json::Value;
use std::path::Path;

/// What became of the tests of one file, or of several.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Tests whose answer is what the file expects.
    pub passed: u64,
    /// Tests whose answer is not.
    pub failed: u64,
    /// Tests of a listed algorithm that were answered with `unsupported`.
    pub unsupported: u64,
    /// Tests of algorithms that the implementation does not list, or of no named algorithm.
    pub skipped: u64,
}

impl Counts {
    /// Passed, failed, unsupported and skipped together.
    pub fn total(&self) -> u64 {
        self.passed + self.failed + self.unsupported + self.skipped
    }

    /// Adds the counts of another file.
    pub fn add(&mut self, other: &Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.unsupported += other.unsupported;
        self.skipped += other.skipped;
    }
}

/// The outcome of [`run`].
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// How many tests went which way.
    pub counts: Counts,
    /// One sentence for each test that failed or was unsupported, each with the test's line and `id`.
    pub complaints: Vec<String>,
}

/// Puts every test of the file `path` to `answer` and judges what comes back.
///
/// `listed` says whether the implementation claims an algorithm; tests of others are counted as skipped and
/// not asked. `answer` gets the line as it stands in the file, or the request that it is of, and returns the answer's line.
///
/// # Errors
/// The file cannot be read, or a line of it is no test: not gzip, not JSON, or without `expect` although it
/// names a listed algorithm.
pub fn run(
    path: &Path,
    listed: impl Fn(&str) -> bool,
    mut answer: impl FnMut(&[u8]) -> String,
) -> Result<Report, String> {
    let mut report = Report::default();
    let file = lines(path).map_err(|e| format!("{}: {e}", path.display()))?;
    for (number, line) in file.enumerate().map(|(i, line)| (i + 1, line)) {
        let place = || format!("{}:{number}", path.display());
        let line = line.map_err(|e| format!("{}: unreadable: {e}", place()))?;
        let test: Value =
            serde_json::from_slice(&line).map_err(|e| format!("{}: unreadable: {e}", place()))?;
        if !test.is_object() {
            return Err(format!("{}: unreadable: not a JSON object", place()));
        }
        let (test, line) = match request(&test) {
            Some(test) => (test.clone(), test.to_string().into_bytes()),
            None => (test, line),
        };
        if !test.get("alg").and_then(Value::as_str).is_some_and(&listed) {
            report.counts.skipped += 1;
            continue;
        }
        if test.get("expect").is_none() {
            return Err(format!("{}: no `expect`, so it tests nothing", place()));
        }
        let complaint = match serde_json::from_str(&answer(&line)) {
            Err(_) => Some("the answer is not JSON".to_owned()),
            Ok(answer) => match judge(&test, &answer) {
                Verdict::Passed => None,
                Verdict::Failed(why) => Some(why),
                Verdict::Unsupported => {
                    report.counts.unsupported += 1;
                    report.complaints.push(format!("{} ({}): unsupported", place(), name(&test)));
                    continue;
                }
            },
        };
        match complaint {
            None => report.counts.passed += 1,
            Some(why) => {
                report.counts.failed += 1;
                report.complaints.push(format!("{} ({}): {why}", place(), name(&test)));
            }
        }
    }
    Ok(report)
}

/// What the file calls this test.
fn name(test: &Value) -> String {
    match test.get("id") {
        Some(Value::String(id)) => id.clone(),
        Some(id) => id.to_string(),
        None => "no id".to_owned(),
    }
}
