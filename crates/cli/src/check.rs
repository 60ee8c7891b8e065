//! The command `vectors check`: every file of test vectors below a folder.

use crate::console::{Console, grouped};
use crate::error::{Error, Status};
use crate::harness;
use crate::vectors::{self, Counts, Report, files};
use serde_json::json;
use std::path::Path;

/// How many complaints of one file are told.
const TOLD: usize = 10;

pub(crate) fn check(console: Console, folder: &Path) -> Result<Status, Error> {
    let found = files(folder).map_err(|e| Error::io(folder, &e))?;
    if found.is_empty() {
        return Err(Error::outside(format!("{}: no *.jsonl.gz below it", folder.display())));
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
        let outcome = harness::on_a_large_stack(|| Ok(vectors::run(path, harness::lists, harness::respond)))
            .map_err(|e| Error::io(path, &e))?;
        let outcome = outcome.and_then(|report| match report.counts.total() {
            0 => Err(format!("{}: holds no test", path.display())),
            _ => Ok(report),
        });
        bar.suspend(|| tell(console, &name, &outcome))?;
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
    console.report(
        format_args!(
            "{} (kernels: {})\n{} files: {} passed, {} failed, {} unsupported, {} skipped (not listed by `info`)",
            if well && ran { "all well" } else { "NOT WELL" },
            kernels(),
            found.len(),
            grouped(total.passed),
            grouped(total.failed),
            grouped(total.unsupported),
            grouped(total.skipped),
        ),
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

/// The level whose tables ran.
fn kernels() -> &'static str {
    gambeson::cpu::level().name()
}

fn tell(console: Console, name: &str, outcome: &Result<Report, String>) -> Result<(), Error> {
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
                }),
            )?;
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
