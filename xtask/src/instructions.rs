//! Instructions of handshakes, sessions and groups under callgrind, held against `docs/performance/instructions.json`.
//!
//! Each row is counted in handshakes of its own, and the least of them is the row's figure: signatures of ML-DSA begin anew until one
//! fits, and among so many some fit at once. valgrind knows no AVX-512 and no ADX, so that the tables for AVX2 run, over ring instead of
//! graviola; both are asserted or built in.

use crate::demo;
use crate::run::{Workspace, empty_folder, side_by_side};
use anyhow::{Context, Result, bail, ensure};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

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

/// The rows of `gambeson bench mls-counted`: whether they take longer the more members there are, and whether signatures are made in them.
const GROUP_ROWS: [(&str, bool, bool); 7] = [
    ("join", true, false),
    ("add everyone, key packages unknown", true, true),
    ("add everyone, key packages known", true, true),
    ("add 1, committer", false, true),
    ("add 1, member", false, false),
    ("1 KiB message, send", false, true),
    ("1 KiB message, receive", false, false),
];

/// Members beside the creator of the groups that are counted, and as many more as must be noticed.
const MEMBERS: usize = 50;
const MORE: usize = 10;

/// Of each row, with and without verification. That none of the signatures in so many rounds fits at once happens in one of ten thousand
/// runs.
const ROUNDS: usize = 10;

/// Handshakes of a turn, one kind after the other: those with which `tls bench` warms up, and the one that it times.
const TURN: usize = 5;

/// By how much a row may grow.
const TOLERANCE: f64 = 0.03;

/// What is counted: one handshake, and nothing around it.
const FUNCTION: &str = "gambeson_cli::tls::bench::once";

/// One operation of a group.
const GROUP_FUNCTION: &str = "gambeson_cli::bench::mls::group::once";

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
    let mut rows =
        side_by_side(ROWS, |_, (row, verify)| count(workspace, &program, row, verify, 0))?.concat();
    let groups = side_by_side(&[0, MORE], |_, more| count_groups(workspace, &program, *more))?;
    let [groups, larger] = <[_; 2]>::try_from(groups).expect("of two sizes");
    rows.extend(groups);
    let path = workspace.root.join(RECORD);
    if bless {
        fs::write(&path, format!("{:#}\n", record(&rows)))?;
    }
    let known: Value = serde_json::from_slice(&fs::read(&path).context(RECORD)?).context(RECORD)?;
    let worse = judge(&known, &rows)?;
    let (said, by) = (worse.join("\n"), &known["compiler"]);
    ensure!(said.is_empty(), "{said}\nbuilt by {by}; counted on purpose: cargo xtask instructions --bless");
    // One key share more than a handshake needs, as a mistake in the key exchange would make it.
    let planted = count(workspace, &program, "default", &["verify", "no verify"], 1)?;
    ensure!(judge(&known, &planted)?.len() == 2, "canary: one key share more was not noticed: {planted:?}");
    // More members, as what is done for each once more than it need be.
    let noticed = judge(&known, &larger)?;
    let is_noticed = |row| noticed.iter().any(|said| said.starts_with(&in_group(row)));
    let of_size = GROUP_ROWS.iter().all(|&(row, of_size, _)| !of_size || is_noticed(row));
    ensure!(of_size, "canary: {MORE} members more were not noticed: {larger:?}");
    Ok(format!(
        "{} rows within {:.0} % of {RECORD}; the planted key share and members noticed",
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
    demo::build(workspace)?;
    Ok(program)
}

/// The least instructions of a row, by what its clients verify.
fn count(
    workspace: &Workspace,
    program: &Path,
    row: &str,
    verify: &[&str],
    planted: usize,
) -> Result<Vec<(String, u64)>> {
    let name = format!("instructions-{row}-{planted}");
    let (rounds, planted) = (ROUNDS.to_string(), planted.to_string());
    let arguments = ["tls", "bench", "--preset", row, "--rounds", &rounds, "--planted", &planted];
    let (folder, _) = callgrind(workspace, program, FUNCTION, &name, &arguments)?;
    let mut counts = vec![Vec::new(); verify.len()];
    for part in 0..ROUNDS * TURN * verify.len() {
        let total = total(&folder, part)?;
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

/// The instructions of each row of groups, which have so many members `more`.
fn count_groups(workspace: &Workspace, program: &Path, more: usize) -> Result<Vec<(String, u64)>> {
    let name = format!("instructions-groups-{more}");
    let arguments = ["bench", "mls-counted", "--members", &(MEMBERS + more).to_string()];
    let (folder, said) = callgrind(workspace, program, GROUP_FUNCTION, &name, &arguments)?;
    let mut counts: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for (part, row) in in_order(&said).into_iter().enumerate() {
        counts.entry(row).or_default().push(total(&folder, part)?);
    }
    let _ = fs::remove_dir_all(&folder);
    let count =
        |&(row, _, signs): &(&str, _, _)| Some((in_group(row), figure(signs, counts.get(row)?.clone())?));
    GROUP_ROWS.iter().map(count).collect::<Option<_>>().context("callgrind counted nothing of a row")
}

/// What stands for all counts of a row of groups. Among those in which signatures are made some have all of them at once, and the third least is
/// one of them; of the others one in a hundred is much below the rest, and the middle is not.
fn figure(signs: bool, mut counts: Vec<u64>) -> Option<u64> {
    counts.sort_unstable();
    let place = if signs { 2 } else { counts.len() / 2 };
    counts.get(place).copied().filter(|count| *count > 0)
}

/// The rows of what was done, in its order.
fn in_order(said: &str) -> Vec<String> {
    let told = said.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    told.filter(|told| told["type"] == "counted")
        .filter_map(|told| Some(told["name"].as_str()?.to_owned()))
        .collect()
}

/// What a row of groups is called in the record.
fn in_group(row: &str) -> String {
    format!("group of {MEMBERS}, {row}")
}

/// Counts what a function does, each time that it is called by itself. Returns the folder of counts, and what the program said.
fn callgrind(
    workspace: &Workspace,
    program: &Path,
    function: &str,
    name: &str,
    arguments: &[&str],
) -> Result<(PathBuf, String)> {
    let folder = workspace.target.join("xtask").join(name);
    empty_folder(&folder)?;
    let mut callgrind = workspace.command("valgrind", &["-q", "--tool=callgrind"]);
    callgrind.arg(format!("--toggle-collect={function}")).arg(format!("--dump-after={function}"));
    callgrind.arg(format!("--callgrind-out-file={}", folder.join("part").display()));
    let said = workspace.logged(name, callgrind.arg(program).arg("--json").args(arguments))?;
    let with_avx2 = said.contains("\"mldsa\":\"avx2\",\"mlkem\":\"avx2\"");
    ensure!(with_avx2, "other tables than those for AVX2 ran:\n{said}");
    Ok((folder, said))
}

/// The instructions of a call, by its place.
fn total(folder: &Path, part: usize) -> Result<u64> {
    let path = folder.join(format!("part.{}", part + 1));
    let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let total = text.lines().find_map(|line| line.strip_prefix("totals: "));
    Ok(total.context("a profile has a total")?.trim().parse()?)
}

fn record(rows: &[(String, u64)]) -> Value {
    let rows: Map<String, Value> = rows.iter().map(|(row, count)| (row.clone(), json!(count))).collect();
    json!({
        "about": "Instructions of both sides of one handshake, and of what members of a group do, the least of many; cargo xtask instructions [--bless]",
        "compiler": compiler(),
        "kernels": "avx2, over ring",
        "rows": rows,
    })
}

fn compiler() -> String {
    let version = Command::new("rustc").arg("--version").output();
    version.map_or_else(|_| "rustc".into(), |output| String::from_utf8_lossy(&output.stdout).trim().into())
}

/// The rows that grew by more than is tolerated, in sentences. A row that shrank as much makes the record old.
fn judge(known: &Value, rows: &[(String, u64)]) -> Result<Vec<String>> {
    let mut worse = Vec::new();
    for (row, count) in rows {
        let Some(before) = known["rows"][row].as_u64() else { bail!("{RECORD} has no row {row:?}") };
        let growth = *count as f64 / before as f64 - 1.0;
        let said = format!("{row}: {count} instructions, {before} before: {:+.1} %", growth * 100.0);
        if growth > TOLERANCE {
            worse.push(said);
        } else if growth < -TOLERANCE {
            println!("   {said}, to be recorded");
        }
    }
    Ok(worse)
}

#[cfg(test)]
mod tests {
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
    fn operations_of_groups_are_told_apart_by_the_order_in_which_they_were_done() {
        let said = concat!(
            "noise\n",
            r#"{"type":"counted","name":"join"}"#,
            "\n",
            r#"{"type":"group-benchmark","name":"x"}"#,
            "\n",
            r#"{"type":"counted","name":"add 1, member"}"#,
            "\n",
            r#"{"type":"counted","name":"join"}"#,
            "\n",
        );
        assert_eq!(in_order(said), ["join", "add 1, member", "join"]);
    }

    #[test]
    fn one_count_far_below_the_others_is_no_rows_figure() {
        let counts = [60, 100, 101, 102, 103, 104, 900];
        assert_eq!(figure(false, counts.to_vec()), Some(102));
        assert_eq!(figure(true, counts.to_vec()), Some(101));
        assert_eq!(figure(false, vec![0, 0, 0]), None);
        assert_eq!(figure(true, vec![100, 101]), None);
    }

    #[test]
    fn the_record_has_every_row_and_no_other() {
        let text =
            fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/performance/instructions.json")).unwrap();
        let known: Value = serde_json::from_slice(&text).unwrap();
        let mut rows: Vec<_> = ROWS
            .iter()
            .flat_map(|(row, kinds)| kinds.iter().map(move |kind| format!("{row}, {kind}")))
            .chain(GROUP_ROWS.iter().map(|(row, ..)| in_group(row)))
            .collect();
        rows.sort();
        let recorded: Vec<_> = known["rows"].as_object().unwrap().keys().cloned().collect();
        assert_eq!(recorded, rows);
    }
}
