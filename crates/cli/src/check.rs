//! The command `vectors check`: every file of test vectors below a folder: `*.jsonl.gz` with requests for the harness, `*.json.gz` of
//! the kinds that others publish of MLS and HPKE, and in the folder itself `*.json` of the identity layer.

mod arrays;
mod authority;
mod hpke;
mod identity;
mod kept;
mod log;
mod secrets;
mod session;
mod standards;

use crate::console::{Console, grouped};
use crate::error::{Error, Status};
use crate::files as bytes;
use crate::harness;
use crate::vectors::{self, Counts, Report, files};
use serde_json::json;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// How many complaints of one file are told.
const TOLD: usize = 10;

pub(crate) fn check(console: Console, folder: &Path) -> Result<Status, Error> {
    let mut found = files(folder).map_err(|e| Error::io(folder, &e))?;
    let of_arrays = arrays::files(folder).map_err(|e| Error::io(folder, &e))?;
    found.extend(of_arrays.iter().cloned());
    found.sort();
    found.extend(subjects(folder)?);
    if found.is_empty() {
        return Err(Error::outside(format!(
            "{}: no *.jsonl.gz and no published *.json.gz below it, and no *.json in it",
            folder.display()
        )));
    }
    console.say(format_args!(
        "{:<52} {:>8} {:>8} {:>12} {:>8}",
        "file", "passed", "failed", "unsupported", "skipped"
    ))?;
    let mut total = Counts::default();
    let mut well = true;
    let bar = console.steps_bar(found.len() as u64, "files");
    for path in &found {
        let name = path.strip_prefix(folder).unwrap_or(path).display().to_string();
        let mut suites = BTreeMap::new();
        let outcome = match path.extension().is_some_and(|extension| extension == "json") {
            true => subject(path),
            false if of_arrays.contains(path) => array(path).map(|(report, found)| {
                suites = found;
                report
            }),
            false => harness::on_a_large_stack(|| Ok(vectors::run(path, harness::lists, harness::respond)))
                .map_err(|e| Error::io(path, &e))?,
        };
        let outcome = outcome.and_then(|report| match report.counts.total() {
            0 => Err(format!("{}: holds no test", path.display())),
            _ => Ok(report),
        });
        bar.suspend(|| tell(console, &name, &outcome, &suites))?;
        match outcome {
            Ok(report) => {
                well &= report.counts.failed == 0 && report.counts.unsupported == 0;
                total.add(&report.counts);
            }
            Err(_) => well = false,
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    let ran = total.passed > 0;
    let verdict = if well && ran { "all well" } else { "NOT WELL" };
    console.report_lines(
        [
            format!("{verdict} (kernels: {})", kernels()),
            format!(
                "{} files: {} passed, {} failed, {} unsupported, {} skipped (not known here)",
                found.len(),
                grouped(total.passed),
                grouped(total.failed),
                grouped(total.unsupported),
                grouped(total.skipped),
            ),
        ],
        json!({
            "kernels": kernels(),
            "files": found.len(),
            "passed": total.passed,
            "failed": total.failed,
            "unsupported": total.unsupported,
            "skipped": total.skipped,
            "ok": well && ran,
        }),
    )?;
    // A folder of which not one test could run proves nothing.
    Ok(if well && ran { Status::Done } else { Status::NotVerified })
}

/// The `*.json` in the folder, in the order of their names.
fn subjects(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let entries = fs::read_dir(folder).map_err(|e| Error::io(folder, &e))?;
    let mut found: Vec<PathBuf> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "json") && path.is_file())
        .collect();
    found.sort();
    Ok(found)
}

/// A file of the identity layer.
fn subject(path: &Path) -> Result<Report, String> {
    let place = |why: String| format!("{}: unreadable: {why}", path.display());
    let text = bytes::read_at_most(path, identity::MAX_FILE).map_err(|e| place(e.to_string()))?;
    identity::check(&text).map_err(place)
}

/// A file that others publish: one of which nothing ran is no better than an unreadable one.
fn array(path: &Path) -> Result<(Report, BTreeMap<String, u64>), String> {
    let (report, suites) =
        arrays::check(path).map_err(|why| format!("{}: unreadable: {why}", path.display()))?;
    match report.counts.passed + report.counts.failed {
        0 => Err(format!("{}: no case is of a suite that is known here", path.display())),
        _ => Ok((report, suites)),
    }
}

/// The level whose tables ran.
fn kernels() -> &'static str {
    gambeson::cpu::level().name()
}

/// `suites` are the cases that hold by suite, in files that have such.
fn tell(
    console: Console,
    name: &str,
    outcome: &Result<Report, String>,
    suites: &BTreeMap<String, u64>,
) -> Result<(), Error> {
    match outcome {
        Err(why) => {
            console.report(format_args!("{name:<52} UNREADABLE: {why}"), json!({"file": name, "error": why}))
        }
        Ok(Report { counts, complaints }) => {
            console.report(
                format_args!(
                    "{name:<52} {:>8} {:>8} {:>12} {:>8}",
                    counts.passed, counts.failed, counts.unsupported, counts.skipped
                ),
                json!({
                    "file": name,
                    "passed": counts.passed,
                    "failed": counts.failed,
                    "unsupported": counts.unsupported,
                    "skipped": counts.skipped,
                    "complaints": complaints,
                    "suites": suites,
                }),
            )?;
            if !suites.is_empty() {
                let each: Vec<_> = suites.iter().map(|(suite, count)| format!("{suite}: {count}")).collect();
                console.say(format_args!("    {}", each.join(", ")))?;
            }
            for complaint in complaints.iter().take(TOLD) {
                console.say(format_args!("    {complaint}"))?;
            }
            if complaints.len() > TOLD {
                console.say(format_args!("    … and {} more", complaints.len() - TOLD))?;
            }
            Ok(())
        }
    }
}
