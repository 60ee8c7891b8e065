//! Files that others publish: `KIND.json.gz`, gzip of a JSON array of cases. What a file is called tells what judges it; of a name that
//! is not known, nothing is read.

use super::hpke;
use crate::vectors::{Counts, Report, files_ending};
use flate2::read::MultiGzDecoder;
use gambeson_mls::vectors::{self as mls, Verdict};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// What ends the names.
const ENDING: &str = ".json.gz";
/// Runs of HPKE.
const HPKE: &str = "hpke-pq";
/// The longest that a file may be, in bytes of JSON.
const MAX_FILE: u64 = 64 << 20;

/// The files below a folder that have a judge.
pub(super) fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = files_ending(folder, ENDING)?;
    found.retain(|path| kind(path).is_some_and(|kind| kind == HPKE || mls::KINDS.contains(&kind)));
    Ok(found)
}

/// What a file is called without its ending, if it has that.
pub(super) fn kind(path: &Path) -> Option<&str> {
    path.file_name()?.to_str()?.strip_suffix(ENDING)
}

/// Judges a file of [`files`]. Beside the report, how many cases of each suite hold.
///
/// # Errors
/// It cannot be read, or is no array.
pub(super) fn check(path: &Path) -> Result<(Report, BTreeMap<String, u64>), String> {
    let mut text = Vec::new();
    let file = File::open(path).map_err(|error| error.to_string())?;
    let read = MultiGzDecoder::new(file).take(MAX_FILE + 1).read_to_end(&mut text);
    if read.map_err(|error| error.to_string())? as u64 > MAX_FILE {
        return Err("longer than 64 MiB".into());
    }
    let cases: Vec<Value> =
        serde_json::from_slice(&text).map_err(|error| format!("no JSON array: {error}"))?;
    let (mut report, mut suites) =
        (Report { counts: Counts::default(), complaints: Vec::new() }, BTreeMap::new());
    for (at, case) in cases.iter().enumerate() {
        let (suite, verdict) = match kind(path) {
            Some(HPKE) => (of_hpke(case), run(case)),
            kind => (number(&case["cipher_suite"]), mls::judge(kind.unwrap_or_default(), case)),
        };
        match verdict {
            Some(Verdict::Holds) => {
                report.counts.passed += 1;
                *suites.entry(suite).or_default() += 1;
            }
            Some(Verdict::Fails(why)) => {
                report.counts.failed += 1;
                report.complaints.push(format!("case {} ({suite}): {why}", at + 1));
            }
            Some(Verdict::OtherSuite) | None => report.counts.skipped += 1,
        }
    }
    Ok((report, suites))
}

fn run(case: &Value) -> Option<Verdict> {
    Some(
        hpke::judge(case)
            .map_or(Verdict::OtherSuite, |judged| judged.map_or_else(Verdict::Fails, |()| Verdict::Holds)),
    )
}

fn of_hpke(case: &Value) -> String {
    ["kem_id", "kdf_id", "aead_id"].map(|name| number(&case[name])).join(" ")
}

/// As suites are written.
fn number(value: &Value) -> String {
    value.as_u64().map_or_else(|| "none".into(), |number| format!("{number:#06x}"))
}
