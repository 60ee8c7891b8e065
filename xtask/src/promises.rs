//! `docs/open-promises.toml`: rows of benchmarks that miss what this project promises, with a reason for each.
//!
//! A benchmark prints a line `missed: ROW: DETAIL` or `ROW: DETAIL: MISSED` for each row that misses. A listed row is counted as open; any
//! other fails the step.

use crate::report::Done;
use crate::run::{Workspace, tail};
use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;
use std::collections::BTreeSet;
use std::fs;

pub const FILE: &str = "docs/open-promises.toml";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    #[serde(default)]
    promise: Vec<Promise>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Promise {
    /// The benchmark: the name of its step.
    bench: String,
    /// The row, as the benchmark prints it.
    row: String,
    /// The last figure, and the promise.
    figure: String,
    reason: String,
}

/// Judges the output of the benchmark `bench`, which ended with `success`.
pub fn judge(workspace: &Workspace, bench: &str, (success, output): (bool, String)) -> Result<Done> {
    let list = fs::read_to_string(workspace.root.join(FILE)).context(FILE)?;
    judged(&list, bench, success, &output)
}

fn judged(list: &str, bench: &str, success: bool, output: &str) -> Result<Done> {
    let list: List = toml::from_str(list).context(FILE)?;
    for Promise { bench, row, figure, reason } in &list.promise {
        ensure!(!figure.is_empty() && !reason.is_empty(), "{FILE}: {bench}: {row}: no figure or no reason");
    }
    let missed: BTreeSet<&str> = output.lines().filter_map(missed).collect();
    ensure!(success || !missed.is_empty(), "{}", tail(output, 60));
    let listed: BTreeSet<&str> =
        list.promise.iter().filter(|it| it.bench == bench).map(|it| &*it.row).collect();
    let lines = |rows: Vec<&str>| {
        let of_rows = |line: &&str| rows.iter().any(|row| line.contains(row));
        output.lines().filter(of_rows).collect::<Vec<_>>().join("\n")
    };
    let unlisted: Vec<&str> = missed.difference(&listed).copied().collect();
    if !unlisted.is_empty() {
        bail!("{} rows miss a promise, and {FILE} does not list them:\n{}", unlisted.len(), lines(unlisted));
    }
    for row in &missed {
        println!("   open: {}", lines(vec![row]));
    }
    let kept: Vec<&str> = listed.difference(&missed).copied().collect();
    for row in &kept {
        println!("   {FILE} lists {row:?} of {bench:?}, which is kept: remove it if it stays so");
    }
    let note =
        format!("{} promises open, {} listed ones kept, every other row kept", missed.len(), kept.len());
    Ok(Done { passed: 1, skipped: 0, open: missed.len(), note })
}

/// Returns the name of the row that a line says misses a promise.
fn missed(line: &str) -> Option<&str> {
    let line = line.trim();
    let said = line.strip_prefix("missed: ").or_else(|| line.strip_suffix(": MISSED"))?;
    Some(said.split_once(": ").map_or(said, |(row, _)| row))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = r#"
        [[promise]]
        bench = "peers"
        row = "ML-KEM-512 keygen (oneshot)"
        figure = "1.10 of 1.15"
        reason = "a reason"
        [[promise]]
        bench = "another"
        row = "a row"
        figure = "1"
        reason = "a reason"
    "#;
    const OPEN: &str =
        "missed: ML-KEM-512 keygen (oneshot): 1.100 against wolfSSL, at least 1.15 promised; open";

    #[test]
    fn rows_are_read_in_both_forms() {
        assert_eq!(missed(OPEN), Some("ML-KEM-512 keygen (oneshot)"));
        assert_eq!(missed("join, of suite 1: 1.80, at most 1.7: MISSED"), Some("join, of suite 1"));
        assert_eq!(missed("join, of suite 1: 1.60, at most 1.7: holds"), None);
        assert_eq!(missed("27 promises judged, 0 missed"), None);
    }

    #[test]
    fn a_listed_row_is_open_and_one_that_is_kept_again_is_named() {
        let done = judged(LIST, "peers", false, OPEN).unwrap();
        assert_eq!((done.passed, done.open), (1, 1));
        let done = judged(LIST, "peers", true, "all well").unwrap();
        assert!(done.open == 0 && done.note.contains("1 listed ones kept"), "{}", done.note);
    }

    #[test]
    fn a_row_that_is_not_listed_fails() {
        for (bench, output) in [
            ("peers", "missed: ML-KEM-512 encaps (oneshot): 1.0"),
            // Listed for another benchmark.
            ("another", OPEN),
            // A failure of another kind.
            ("peers", "error: no such file"),
        ] {
            assert!(judged(LIST, bench, false, output).is_err(), "{output}");
        }
        let without_reason = LIST.replace("a reason", "");
        assert!(judged(&without_reason, "peers", true, "").is_err());
    }
}
