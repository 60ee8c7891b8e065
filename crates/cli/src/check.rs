//! The command `vectors check`: runs every file of test vectors below a folder, whatever it is called, and names those that it cannot run.
//!
//! # Layout
//!
//! * `form`: what a file is, told from its content
//! * `identity` and the files of its subjects: vectors of the identity layer and of sessions
//! * `arrays`, `hpke`: MLS and HPKE, as their working groups publish them
//! * `wycheproof`, `c2sp`: files of those projects, put to the harness (`asked`)

mod arrays;
mod asked;
mod authority;
mod c2sp;
mod form;
mod hpke;
mod identity;
mod kept;
mod log;
mod secrets;
mod session;
mod standards;
mod wycheproof;

use crate::console::{Console, counted, grouped};
use crate::error::{Error, Status};
use crate::harness;
use crate::vectors::{Counts, Report, files_ending};
use form::{Outcome, Suites};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// How many complaints of one file are told.
const TOLD: usize = 10;

/// Endings of names of documents and programs beside vectors. All other files are of vectors.
const DOCUMENTS: [&str; 11] = [
    ".lock",
    ".md",
    ".mjs",
    ".py",
    ".pyc",
    ".rs",
    ".toml",
    "LICENSE",
    "package-lock.json",
    "package.json",
    "requirements.txt",
];

pub(crate) fn check(console: Console, folder: &Path, skip: &[PathBuf]) -> Result<Status, Error> {
    let mut all = files_ending(folder, "").map_err(|e| Error::io(folder, &e))?;
    for left_out in skip {
        let before = all.len();
        all.retain(|path| !path.starts_with(folder.join(left_out)));
        if all.len() == before {
            return Err(Error::usage(format!("--skip {}: there are no files in it", left_out.display())));
        }
    }
    let name = |path: &Path| path.strip_prefix(folder).unwrap_or(path).display().to_string();
    let (documents, found): (Vec<_>, Vec<_>) = all.into_iter().partition(|path| is_document(path));
    if found.is_empty() {
        return Err(Error::outside(format!("{}: the folder has no files of test vectors", folder.display())));
    }
    console.say(format_args!(
        "{:<52} {:>8} {:>8} {:>12} {:>8}",
        "file", "passed", "failed", "unsupported", "skipped"
    ))?;
    let (mut total, mut not_run, mut unreadable) = (Counts::default(), Vec::new(), 0);
    let bar = console.steps_bar(found.len() as u64, "files");
    for path in &found {
        let name = name(path);
        let outcome = harness::on_a_large_stack(|| Ok(form::run(path))).map_err(|e| Error::io(path, &e))?;
        bar.suspend(|| tell(console, &name, &outcome))?;
        match outcome {
            Outcome::Ran(report, _) => total.add(&report.counts),
            Outcome::NotRun(report, _) => {
                total.add(&report.counts);
                not_run.push(name);
            }
            Outcome::Unreadable(_) => unreadable += 1,
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    let well = total.passed > 0
        && total.failed == 0
        && total.unsupported == 0
        && unreadable == 0
        && not_run.is_empty();
    let verdict = if well { "all well" } else { "NOT WELL" };
    let named = if not_run.is_empty() { String::new() } else { format!(": {}", not_run.join(", ")) };
    console.report_lines(
        [
            format!("{verdict} (kernels: {})", kernels()),
            format!(
                "{}: {} passed, {} failed, {} unsupported, {} skipped (not known here)",
                counted(found.len(), "file"),
                grouped(total.passed),
                grouped(total.failed),
                grouped(total.unsupported),
                grouped(total.skipped),
            ),
            format!(
                "{} not run{named}; {unreadable} unreadable; {} documents and programs beside them",
                not_run.len(),
                documents.len(),
            ),
        ],
        json!({
            "type": "vectors",
            "level": kernels(),
            "files": found.len(),
            "passed": total.passed,
            "failed": total.failed,
            "unsupported": total.unsupported,
            "skipped": total.skipped,
            "notRun": not_run,
            "unreadable": unreadable,
            "documents": documents.len(),
            "ok": well,
        }),
    )?;
    Ok(if well { Status::Done } else { Status::NotVerified })
}

fn is_document(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    DOCUMENTS.iter().any(|it| if it.starts_with('.') { name.ends_with(it) } else { name == *it })
}

/// The level whose tables ran.
fn kernels() -> &'static str {
    gambeson::cpu::level().name()
}

/// `suites` are the cases that hold by suite, in files that have such.
fn tell(console: Console, name: &str, outcome: &Outcome) -> Result<(), Error> {
    match outcome {
        Outcome::Unreadable(why) => console.report(
            format_args!("{name:<52} UNREADABLE: {why}"),
            json!({"type": "vector-file", "file": name, "detail": why}),
        ),
        Outcome::NotRun(report, why) => {
            let mut row = row(name, report, &Suites::new());
            row["detail"] = why.as_str().into();
            console.report(format_args!("{name:<52} NOT RUN: {why}"), row)
        }
        Outcome::Ran(report, suites) => ran(console, name, report, suites),
    }
}

fn ran(console: Console, name: &str, report: &Report, suites: &Suites) -> Result<(), Error> {
    let Report { counts, complaints } = report;
    console.report(
        format_args!(
            "{name:<52} {:>8} {:>8} {:>12} {:>8}",
            counts.passed, counts.failed, counts.unsupported, counts.skipped
        ),
        row(name, report, suites),
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

fn row(name: &str, report: &Report, suites: &Suites) -> Value {
    let Report { counts, complaints } = report;
    json!({
        "type": "vector-file",
        "file": name,
        "passed": counts.passed,
        "failed": counts.failed,
        "unsupported": counts.unsupported,
        "skipped": counts.skipped,
        "complaints": complaints,
        "suites": suites,
    })
}
