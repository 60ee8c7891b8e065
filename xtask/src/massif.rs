//! The stack of each operation on x86-64 as valgrind's massif sees it, which is how the published figures of another library were made.

use crate::run::{Workspace, installed};
use crate::table::Table;
use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};
use std::fs;

/// Operations, the bytes that massif may print for each, and the kB that it prints for the other library, Bouncy Castle for Rust with its
/// low-memory crates: as its documentation has them; and of its revision aa5d6818 (2026-06-13), built and run by its own method on the
/// machine where the limits were chosen.
const LIMITS: &[(&str, &str, u64, [&str; 2])] = &[
    ("ML-KEM-512", "keygen", 2112, ["5.8", "8.9"]),
    ("ML-KEM-512", "encaps", 2304, ["8.9", "11.9"]),
    ("ML-KEM-512", "decaps", 2816, ["13.6", "13.4"]),
    ("ML-KEM-768", "keygen", 2112, ["7.3", "10.5"]),
    ("ML-KEM-768", "encaps", 2320, ["9.9", "13.9"]),
    ("ML-KEM-768", "decaps", 2816, ["16.6", "15.4"]),
    ("ML-KEM-1024", "keygen", 2112, ["9.3", "12.0"]),
    ("ML-KEM-1024", "encaps", 2304, ["11.2", "16.7"]),
    ("ML-KEM-1024", "decaps", 2816, ["20.5", "17.6"]),
    ("ML-DSA-44", "keygen", 3152, ["12.6", "16.1"]),
    ("ML-DSA-44", "sign", 4272, ["24.8", "26.2"]),
    ("ML-DSA-44", "verify", 2944, ["17.1", "22.2"]),
    ("ML-DSA-65", "keygen", 3152, ["15.0", "20.1"]),
    ("ML-DSA-65", "sign", 4912, ["28.2", "31.2"]),
    ("ML-DSA-65", "verify", 2944, ["18.0", "25.5"]),
    ("ML-DSA-87", "keygen", 3152, ["15.2", "21.6"]),
    ("ML-DSA-87", "sign", 5168, ["31.1", "34.8"]),
    ("ML-DSA-87", "verify", 2944, ["20.6", "27.4"]),
];

/// Start-up code is in the figures of the other library, by the same page and as measured.
const START_UP: &str = "about 3 kB of the published figures and 0.7 kB of the rebuilt ones is start-up";

/// Bytes of the frame planted in the program, and how far the measurement may be above.
const PLANTED: u64 = 20_000;
const TOLERANCE: u64 = 200;
/// Bytes that a run of no operation stays below.
const BASE: u64 = 100;

/// The peak of one operation.
#[derive(Serialize)]
pub struct Row {
    alg: &'static str,
    op: &'static str,
    form: &'static str,
    peak: u64,
    most: u64,
}

/// Thousands of operations a second.
#[derive(Deserialize, Serialize)]
pub struct Speed {
    alg: String,
    op: String,
    form: String,
    kops: f64,
}

/// What this machine lacks.
pub fn missing() -> Option<&'static str> {
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        return Some("Linux on x86-64");
    }
    (!installed("valgrind")).then_some("valgrind")
}

/// Measures every operation, once no operation and a planted frame were measured as what they are.
pub fn measure(workspace: &Workspace) -> Result<Vec<Row>> {
    let arguments =
        ["build", "--quiet", "--release", "--locked", "--manifest-path", "gates/massif/Cargo.toml"];
    workspace.logged("massif-build", &mut workspace.cargo(&arguments))?;
    let base = peak(workspace, "nothing")?;
    ensure!(base < BASE, "a run of no operation peaks at {base} bytes");
    let planted = peak(workspace, "canary")?;
    let seen = (PLANTED..=PLANTED + TOLERANCE).contains(&planted);
    ensure!(seen, "canary: a frame of {PLANTED} bytes was measured as {planted}");
    let peak = |alg: &str, op: &str| peak(workspace, &format!("{alg} {op}"));
    let row =
        |&(alg, op, most, _): &(_, _, _, _)| Ok(Row { alg, op, form: "small", peak: peak(alg, op)?, most });
    LIMITS.iter().map(row).collect()
}

/// The highest peak of one operation, whose program ends well only if the output is right.
///
/// Frames that are aligned to 64 bytes take more or less by where the stack begins, which is at a multiple of 16 below the arguments:
/// one more of them moves it through all four places.
fn peak(workspace: &Workspace, operation: &str) -> Result<u64> {
    let file = workspace.target.join("xtask/massif.out");
    let out = format!("--massif-out-file={}", file.display());
    let options = ["--tool=massif", "--heap=no", "--stacks=yes", "--peak-inaccuracy=0.0", &out];
    let mut most = 0;
    for moved in [0, 16, 32, 48] {
        let mut valgrind = workspace.command("valgrind", &options);
        valgrind.arg(workspace.built("release", "gate-massif")).args([operation, &"x".repeat(moved)]);
        workspace.logged("massif", &mut valgrind)?;
        let peak = highest(&fs::read_to_string(&file)?);
        most = most.max(peak.with_context(|| format!("massif says nothing of {operation:?}"))?);
    }
    Ok(most)
}

/// The highest of the snapshots in massif's file.
fn highest(text: &str) -> Option<u64> {
    text.lines().filter_map(|line| line.strip_prefix("mem_stacks_B=")?.parse().ok()).max()
}

/// How fast each form of a key is, with the portable tables.
pub fn speeds(workspace: &Workspace) -> Result<Vec<Speed>> {
    let build = ["build", "--quiet", "--release", "-p", "gambeson-gates", "--bin", "gate-speed"];
    workspace.logged("gates-build", &mut workspace.cargo(&build))?;
    let program = workspace.built("release", "gate-speed");
    let text = workspace.logged("speed", &mut workspace.command(program, &[]))?;
    let speeds = text.lines().map(serde_json::from_str).collect::<Result<_, _>>();
    speeds.context("the gate prints JSON")
}

/// One JSON object a line.
pub fn json(rows: &[Row], speeds: &[Speed]) -> Result<String> {
    let lines = rows.iter().map(serde_json::to_string).chain(speeds.iter().map(serde_json::to_string));
    Ok(lines.collect::<Result<Vec<_>, _>>()?.join("\n"))
}

/// The rows with everything that stands beside them.
fn peaks(rows: &[Row], speeds: &[Speed]) -> Table<'static> {
    let heads = &[
        "set",
        "operation",
        "stack",
        "at most",
        "published, kB",
        "rebuilt, kB",
        "kops small",
        "compact",
        "prepared",
    ];
    let cells = |row: &Row| {
        let limit = LIMITS.iter().find(|(alg, op, ..)| (*alg, *op) == (row.alg, row.op));
        let [published, rebuilt] = limit.map_or(["-"; 2], |(.., kilobytes)| *kilobytes);
        let kops = |form: &str| {
            let is_its = |it: &&Speed| it.alg == row.alg && it.op == row.op && it.form == form;
            speeds.iter().find(is_its).map_or_else(|| String::from("-"), |it| format!("{:.2}", it.kops))
        };
        let figures = [row.peak.to_string(), row.most.to_string(), published.into(), rebuilt.into()];
        let speeds = ["small", "compact", "prepared"].map(kops);
        [row.alg.to_owned(), row.op.to_owned()].into_iter().chain(figures).chain(speeds).collect()
    };
    Table { heads, words: 2, rows: rows.iter().map(cells).collect() }
}

/// The table for people.
pub fn table(rows: &[Row], speeds: &[Speed]) -> String {
    let mut lines = peaks(rows, speeds).lines();
    for (line, _) in lines[1..].iter_mut().zip(rows).filter(|(_, row)| row.peak > row.most) {
        *line += "  missed";
    }
    format!("{}\n{START_UP}\n", lines.join("\n"))
}

/// The same for a page of the documentation.
pub fn markdown(rows: &[Row], speeds: &[Speed]) -> String {
    format!(
        "# x86-64\n\n\
         The stack of `Small<P>` in bytes, as `valgrind --tool=massif --heap=no --stacks=yes` prints its peak: release build, portable tables,\n\
         keys, messages and outputs in statics, no heap. The program (`gates/massif`) has its own entry and calls one operation; one that calls none peaks below\n\
         {BASE} bytes. `decaps` and `sign` make the key of its seed first. Where frames are aligned to 64 bytes the peak is that of the worst place\n\
         of the stack. Key generation and signing wipe the stack as deep as they go in builds without link-time optimisation, which is\n\
         deeper than in this one.\n\n\
         Beside it, in kB, the low-memory crates of Bouncy Castle for Rust by the same method: as their documentation has them, and revision\n\
         aa5d6818 (2026-06-13), rebuilt and run; {START_UP}.\n\
         A decapsulation key and a signing key have 96 bytes in memory, theirs 161 and 176; encapsulation and verifying keys are borrowed bytes.\n\n\
         Thousands of operations a second, one thread, portable tables: keys of `Small<P>`, compact and prepared keys of `P`. They are of the\n\
         machine that wrote this page; only their ratios say something.\n\n\
         `cargo xtask stack --massif --markdown docs/embedded/x86-64.md` writes this page, `cargo xtask stack --massif --check` holds the limits.\n\n\
         {}",
        peaks(rows, speeds).markdown()
    )
}

/// Fails when a limit is missed.
pub fn check(rows: &[Row]) -> Result<String> {
    ensure!(rows.len() == LIMITS.len(), "{} of {} operations were measured", rows.len(), LIMITS.len());
    let missed = rows.iter().filter(|row| row.peak > row.most);
    let said =
        missed.map(|row| format!("{} {}: a peak of {}, at most {}", row.alg, row.op, row.peak, row.most));
    let said: Vec<String> = said.collect();
    ensure!(said.is_empty(), "{}", said.join("\n"));
    Ok(format!("{} peaks within their limits; the planted frame was measured", rows.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every row at its limit.
    fn rows() -> Vec<Row> {
        let row = |&(alg, op, most, _): &(_, _, _, _)| Row { alg, op, form: "small", peak: most, most };
        LIMITS.iter().map(row).collect()
    }

    #[test]
    fn a_limit_that_is_missed_by_a_byte_is_a_failure() {
        assert!(check(&rows()).is_ok());
        for number in 0..LIMITS.len() {
            let mut rows = rows();
            rows[number].peak += 1;
            let error = check(&rows).unwrap_err().to_string();
            assert!(error.contains(rows[number].alg) && error.contains(rows[number].op), "{error}");
            assert!(table(&rows, &[]).contains("missed"));
        }
    }

    #[test]
    fn an_operation_that_was_not_measured_is_a_failure() {
        assert!(check(&rows()[1..]).is_err());
    }

    #[test]
    fn the_peak_is_the_highest_snapshot() {
        let text = "snapshot=0\nmem_heap_B=9000\nmem_stacks_B=16\nheap_tree=empty\nsnapshot=1\nmem_stacks_B=2104\n\
            heap_tree=peak\nsnapshot=2\nmem_stacks_B=88\n";
        assert_eq!(highest(text), Some(2104));
        assert_eq!(highest("desc: --stacks=yes\n"), None);
    }

    #[test]
    fn speeds_stand_in_the_row_of_their_operation() {
        let speed =
            |form: &str, kops| Speed { alg: "ML-DSA-65".into(), op: "sign".into(), form: form.into(), kops };
        let page = markdown(&rows(), &[speed("small", 0.25), speed("prepared", 4.0)]);
        assert!(
            page.contains("| ML-DSA-65 | sign | 4912 | 4912 | 28.2 | 31.2 | 0.25 | - | 4.00 |\n"),
            "{page}"
        );
        assert_eq!(page.lines().filter(|line| line.starts_with("| ML-")).count(), LIMITS.len());
    }
}
