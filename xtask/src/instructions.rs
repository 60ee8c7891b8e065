//! Instructions of handshakes and sessions under callgrind, held against `docs/performance/instructions.json`.
//!
//! Each row is counted in handshakes of its own, and the least of them is the row's figure: signatures of ML-DSA begin anew until one
//! fits, and among so many some fit at once. valgrind knows no AVX-512 and no ADX, so that the tables for AVX2 run, over ring instead of
//! graviola; both are asserted or built in.

use crate::answers;
use crate::run::{Workspace, side_by_side};
use anyhow::{Context, Result, bail, ensure};
use serde_json::{Map, Value, json};
use std::fs;
use std::path::PathBuf;

/// The rows of `gambeson tls bench`; those of two agents have no chain that could be left unverified.
const ROWS: &[(&str, &[&str])] = &[
    ("classical-448", &["verify", "no verify"]),
    ("fully-hybrid", &["verify", "no verify"]),
    ("default", &["verify", "no verify"]),
    ("ecdsa-x25519", &["verify", "no verify"]),
    ("mldsa65-x25519mlkem768", &["verify", "no verify"]),
    ("session", &["verify"]),
    ("session-known", &["verify"]),
];

/// Of each row, with and without verification. That none of the signatures in so many rounds fits at once happens in one of ten thousand
/// runs.
const ROUNDS: usize = 10;

/// Handshakes of a turn, one kind after the other: those with which `tls bench` warms up, and the one that it times.
const TURN: usize = 5;

/// By how much a row may grow.
const TOLERANCE: f64 = 0.03;

/// What is counted: one handshake, and nothing around it.
const FUNCTION: &str = "gambeson_cli::tls::bench::once";

const RECORD: &str = "docs/performance/instructions.json";

/// What this machine lacks.
pub fn missing() -> Option<&'static str> {
    #[cfg(target_arch = "x86_64")]
    if std::is_x86_feature_detected!("avx2") {
        return ["valgrind", "cc"].into_iter().find(|program| !crate::run::installed(program));
    }
    Some("AVX2")
}

/// Counts, and compares with the record or writes it. Planted work must be noticed either way.
pub fn check(workspace: &Workspace, bless: bool) -> Result<String> {
    let program = build(workspace)?;
    let rows = side_by_side(ROWS, |_, (row, verify)| count(workspace, &program, row, verify, 0))?.concat();
    let path = workspace.root.join(RECORD);
    if bless {
        fs::write(&path, format!("{:#}\n", record(&rows)))?;
    }
    let known: Value = serde_json::from_slice(&fs::read(&path).context(RECORD)?).context(RECORD)?;
    let worse = judge(&known, &rows)?;
    ensure!(
        worse.is_empty(),
        "{}\nbuilt by {}; counted on purpose: cargo xtask instructions --bless",
        worse.join("\n"),
        known["compiler"]
    );
    // One key share more than a handshake needs, as a mistake in the key exchange would make it.
    let planted = count(workspace, &program, "default", &["verify", "no verify"], 1)?;
    ensure!(judge(&known, &planted)?.len() == 2, "canary: one key share more was not noticed: {planted:?}");
    Ok(format!(
        "{} rows of handshakes within {:.0} % of {RECORD}; the planted key share noticed",
        rows.len(),
        TOLERANCE * 100.0
    ))
}

/// The program over ring, set aside, so that the one without it stands where it stood.
fn build(workspace: &Workspace) -> Result<PathBuf> {
    let build = ["build", "--quiet", "--release", "-p", "gambeson-cli"];
    workspace.logged("instructions-build", workspace.cargo(&build).args(["--features", "ring"]))?;
    let program = workspace.target.join("xtask/gambeson-over-ring");
    fs::copy(workspace.built("release", "gambeson"), &program)?;
    answers::released(workspace)?;
    Ok(program)
}

/// The least instructions of a row, by what its clients verify.
fn count(
    workspace: &Workspace,
    program: &PathBuf,
    row: &str,
    verify: &[&str],
    planted: usize,
) -> Result<Vec<(String, u64)>> {
    let name = format!("instructions-{row}-{planted}");
    let folder = workspace.target.join("xtask").join(&name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder)?;
    let mut callgrind = workspace.command("valgrind", &["-q", "--tool=callgrind"]);
    callgrind
        .arg(format!("--toggle-collect={FUNCTION}"))
        .arg(format!("--dump-after={FUNCTION}"))
        .arg(format!("--callgrind-out-file={}", folder.join("part").display()))
        .arg(program)
        .args(["--json", "tls", "bench", "--preset", row, "--rounds", &ROUNDS.to_string()])
        .args(["--planted", &planted.to_string()]);
    let said = workspace.logged(&name, &mut callgrind)?;
    ensure!(
        said.contains("\"mldsa\":\"avx2\",\"mlkem\":\"avx2\""),
        "other tables than those for AVX2 ran:\n{said}"
    );
    let mut counts = vec![Vec::new(); verify.len()];
    for part in 0..ROUNDS * TURN * verify.len() {
        let path = folder.join(format!("part.{}", part + 1));
        let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        let total = text.lines().find_map(|line| line.strip_prefix("totals: "));
        let total = total.context("a profile has a total")?.trim().parse()?;
        // Every other round goes backwards.
        let (round, place) = (part / TURN / verify.len(), part / TURN % verify.len());
        let row = if round % 2 == 0 { place } else { verify.len() - 1 - place };
        counts[row].push(total);
    }
    let _ = fs::remove_dir_all(&folder);
    let least = |(verify, counts): (&&str, &Vec<u64>)| {
        Some((format!("{row}, {verify}"), counts.iter().copied().min().filter(|count| *count > 0)?))
    };
    verify.iter().zip(&counts).map(least).collect::<Option<_>>().context("callgrind counted nothing")
}

fn record(rows: &[(String, u64)]) -> Value {
    let rows: Map<String, Value> = rows.iter().map(|(row, count)| (row.clone(), json!(count))).collect();
    json!({
        "about": "Instructions of both sides of one handshake, the least of many; cargo xtask instructions [--bless]",
        "compiler": compiler(),
        "kernels": "avx2, over ring",
        "rows": rows,
    })
}

fn compiler() -> String {
    let version = std::process::Command::new("rustc").arg("--version").output();
    version.map_or_else(|_| "rustc".into(), |output| String::from_utf8_lossy(&output.stdout).trim().into())
}

/// The rows that grew by more than is tolerated, in sentences. A row that shrank as much makes the record old.
fn judge(known: &Value, rows: &[(String, u64)]) -> Result<Vec<String>> {
    let mut worse = Vec::new();
    for (row, count) in rows {
        let Some(before) = known["rows"][row].as_u64() else { bail!("{RECORD} has no row {row:?}") };
        let growth = *count as f64 / before as f64 - 1.0;
        if growth > TOLERANCE {
            worse.push(format!("{row}: {count} instructions, {before} before: {:+.1} %", growth * 100.0));
        } else if growth < -TOLERANCE {
            println!(
                "   {row}: {count} instructions, {before} before: {:+.1} %, to be recorded",
                growth * 100.0
            );
        }
    }
    Ok(worse)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // A test may fail that way.

    use super::*;

    #[test]
    fn growth_beyond_the_tolerance_is_named_and_less_is_not() {
        let known = json!({"rows": {"a": 1000, "b": 1000, "c": 1000}});
        let rows = [("a".into(), 1029), ("b".into(), 1031), ("c".into(), 500)];
        let worse = judge(&known, &rows).unwrap();
        assert_eq!(worse, ["b: 1031 instructions, 1000 before: +3.1 %"]);
        assert!(judge(&known, &[("d".into(), 1)]).is_err(), "a row that nobody recorded");
    }

    #[test]
    fn the_record_has_every_row_and_no_other() {
        let text =
            fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/performance/instructions.json")).unwrap();
        let known: Value = serde_json::from_slice(&text).unwrap();
        let mut rows: Vec<_> = ROWS
            .iter()
            .flat_map(|(row, kinds)| kinds.iter().map(move |kind| format!("{row}, {kind}")))
            .collect();
        rows.sort();
        let recorded: Vec<_> = known["rows"].as_object().unwrap().keys().cloned().collect();
        assert_eq!(recorded, rows);
    }
}
