//! The form of a file of vectors, told from its content: what it is called tells nothing.

use super::{arrays, c2sp, identity, wycheproof};
use crate::harness;
use crate::vectors::{self, Report, content, lines};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

/// The longest document that is read, in bytes.
const MAX_DOCUMENT: u64 = 64 << 20;

/// Cases that hold, by suite.
pub(super) type Suites = BTreeMap<String, u64>;

/// Outcome of the run of a file.
pub(super) enum Outcome {
    /// Something of it ran, or was refused as a vector; with the cases that hold by suite, where it has suites.
    Ran(Report, Suites),
    /// Nothing of it ran, and why.
    NotRun(Report, String),
    /// It is of a form that is known, and damaged.
    Unreadable(String),
}

/// Runs what is in a file.
pub(super) fn run(path: &Path) -> Outcome {
    let judged = match read(path) {
        Err(why) => return Outcome::NotRun(Report::default(), why),
        Ok(Content::Requests) => vectors::run(path, harness::lists, harness::respond).map(without_suites),
        Ok(Content::Document(document)) => match judge(document) {
            None => return Outcome::NotRun(Report::default(), "unknown form of test vectors".to_owned()),
            Some(judged) => judged,
        },
    };
    match judged {
        Err(why) => Outcome::Unreadable(why),
        Ok((report, suites)) => {
            let (total, skipped) = (report.counts.total(), report.counts.skipped);
            match (total, total == skipped) {
                (0, _) => Outcome::NotRun(report, "the file has no case".to_owned()),
                (_, true) => {
                    Outcome::NotRun(report, "no case has a scheme or suite that is known here".to_owned())
                }
                (_, false) => Outcome::Ran(report, suites),
            }
        }
    }
}

/// The judge of a document, and what it says; `None` for a form that is not known.
fn judge(document: Value) -> Option<Result<(Report, Suites), String>> {
    match document {
        Value::Array(cases) => match cases.first() {
            None => Some(Ok(without_suites(Report::default()))),
            Some(first) if c2sp::is_signature(first) => Some(c2sp::signatures(&cases).map(without_suites)),
            Some(first) => arrays::is_case(first).then(|| Ok(arrays::check(&cases))),
        },
        document if document["subject"].is_string() => Some(identity::check(document).map(without_suites)),
        document if c2sp::is_http(&document) => Some(c2sp::http(&document).map(without_suites)),
        document if wycheproof::is_file(&document) => {
            wycheproof::check(&document).map(|it| it.map(without_suites))
        }
        _ => None,
    }
}

fn without_suites(report: Report) -> (Report, Suites) {
    (report, Suites::new())
}

enum Content {
    /// For the harness, one a line.
    Requests,
    Document(Value),
}

/// Requests are told from their first line.
fn read(path: &Path) -> Result<Content, String> {
    if !path.metadata().map_err(|error| error.to_string())?.is_file() {
        return Err("not a regular file".to_owned());
    }
    let unreadable = |error: std::io::Error| error.to_string();
    let Some(first) = lines(path).map_err(unreadable)?.next() else { return Err("empty".to_owned()) };
    let first: Option<Value> = serde_json::from_slice(&first.map_err(unreadable)?).ok();
    if first.as_ref().is_some_and(|first| first["alg"].is_string() || vectors::request(first).is_some()) {
        return Ok(Content::Requests);
    }
    let mut text = Vec::new();
    let whole = content(path).and_then(|file| file.take(MAX_DOCUMENT + 1).read_to_end(&mut text));
    if whole.map_err(unreadable)? as u64 > MAX_DOCUMENT {
        return Err("longer than 64 MiB, and the first line is not a request".to_owned());
    }
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&text);
    serde_json::from_slice(text).map(Content::Document).map_err(|error| match first {
        Some(_) => "lines of JSON, of which the first names no `alg`".to_owned(),
        None => format!("not JSON: {error}"),
    })
}
