//! The figures of docs/choosing.md, and its plot: `gambeson bench` measures signature algorithms, `xtask-tools` draws them.

use crate::demo;
use crate::full_runs::machine;
use crate::run::Workspace;
use crate::table::{Table, grouped};
use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// Values of `gambeson bench --op`: each selects a family of algorithms.
const FAMILIES: [&str; 4] = ["ML-DSA", "SLH-DSA-SHA2", "LMS", "XMSS"];

/// For how long each operation is measured.
const SECONDS: &str = "1";

const PAGE: &str = "docs/choosing.md";
const PLOT: &str = "docs/choosing.svg";

const BEGIN: &str = "<!-- cargo xtask choosing: begin -->\n";
const END: &str = "<!-- cargo xtask choosing: end -->";

/// A parameter set: lengths in bytes, and times of its operations in nanoseconds.
struct Set {
    name: String,
    /// Index into [`FAMILIES`].
    family: usize,
    /// Kernels that ran.
    level: String,
    verifying_key: u64,
    signature: u64,
    keygen: f64,
    sign: f64,
    verify: f64,
}

/// Measures, and writes the table and the plot.
pub fn write(workspace: &Workspace) -> Result<String> {
    let program = demo::build(workspace)?;
    let mut sets = Vec::new();
    for (family, op) in FAMILIES.into_iter().enumerate() {
        let mut bench = workspace.command(&program, &["--json", "bench", "--seconds", SECONDS, "--op", op]);
        let said = workspace.logged(&format!("choosing-{op}"), &mut bench)?;
        let rows: Vec<Value> = said.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        sets.extend(of_family(family, &rows).with_context(|| format!("gambeson bench --op {op}"))?);
    }
    let page = workspace.root.join(PAGE);
    let text = fs::read_to_string(&page).context(PAGE)?;
    fs::write(&page, replaced(&text, &section(&machine(), &sets))?).context(PAGE)?;
    draw(workspace, &sets, &workspace.root.join(PLOT))?;
    Ok(format!("{} parameter sets measured; {PAGE} and {PLOT} written", sets.len()))
}

/// The sets of a family, in the order of their first rows.
fn of_family(family: usize, rows: &[Value]) -> Result<Vec<Set>> {
    let mut names: Vec<&str> = rows.iter().filter_map(|row| row["alg"].as_str()).collect();
    names.dedup();
    ensure!(!names.is_empty(), "no row was measured");
    names.into_iter().map(|name| set(family, name, rows).with_context(|| name.to_owned())).collect()
}

/// The set of a name, with the times of prepared keys where there are such.
fn set(family: usize, name: &str, rows: &[Value]) -> Result<Set> {
    let row = |op: &str| {
        let of_op = rows.iter().filter(|row| row["alg"] == name && row["op"] == op);
        of_op.max_by_key(|row| row["form"] == "prepared").with_context(|| format!("{op} was not measured"))
    };
    let ns = |op: &str| row(op)?["medianNs"].as_f64().context("a row has a median");
    let verify = row("verify")?;
    let bytes = |member: &str| verify[member].as_u64().with_context(|| format!("a row has {member}"));
    Ok(Set {
        name: name.to_owned(),
        family,
        level: verify["level"].as_str().context("a row has its level")?.to_owned(),
        verifying_key: bytes("publicBytes")?,
        signature: bytes("signatureBytes")?,
        keygen: ns("keygen")?,
        sign: ns("sign")?,
        verify: ns("verify")?,
    })
}

/// The conditions and the table.
fn section(machine: &str, sets: &[Set]) -> String {
    let mut levels: Vec<&str> = sets.iter().map(|set| &*set.level).collect();
    levels.sort_unstable();
    levels.dedup();
    let commands = FAMILIES.map(|op| format!("`gambeson bench --seconds {SECONDS} --op {op}`")).join(", ");
    let mut text = format!(
        "* Machine: {machine}; kernels: {}; one thread\n* Commands: {commands}; `cargo xtask choosing` runs them, \
         and writes this table and the plot\n* Times are medians.",
        levels.join(", ")
    );
    if let Some((least, most)) = ratio(sets) {
        text += &format!(
            " A set of SLH-DSA in `f` signs {least:.0} to {most:.0} times as fast as its neighbour in `s`."
        );
    }
    let heads =
        &["algorithm", "verifying key, bytes", "signature, bytes", "keygen, µs", "sign, µs", "verify, µs"];
    let cells = sets.iter().map(|set| {
        let times = [set.keygen, set.sign, set.verify].map(microseconds);
        [vec![set.name.clone()], [set.verifying_key, set.signature].map(grouped).into(), times.into()]
            .concat()
    });
    text + "\n\n" + &Table { heads, words: 1, rows: cells.collect() }.markdown()
}

/// The least and the most time that a set in `s` takes to sign, over that of its neighbour in `f`.
fn ratio(sets: &[Set]) -> Option<(f64, f64)> {
    let fast = |set: &Set| {
        let name = format!("{}f", set.name.strip_suffix('s')?);
        sets.iter().find(|other| other.name == name)
    };
    let mut ratios: Vec<f64> = sets.iter().filter_map(|set| Some(set.sign / fast(set)?.sign)).collect();
    ratios.sort_by(f64::total_cmp);
    Some((*ratios.first()?, *ratios.last()?))
}

/// Nanoseconds in microseconds, with three digits or more.
fn microseconds(ns: f64) -> String {
    match ns / 1000.0 {
        few if few < 99.95 => format!("{few:.1}"),
        many => grouped(many.round() as u64),
    }
}

/// The page with another section between its markers.
fn replaced(page: &str, section: &str) -> Result<String> {
    let parts = page.split_once(BEGIN).and_then(|(before, rest)| Some((before, rest.split_once(END)?.1)));
    let (before, after) = parts.with_context(|| format!("{PAGE} has no markers of this command"))?;
    Ok(format!("{before}{BEGIN}{section}{END}{after}"))
}

/// Draws signature sizes and verification times.
fn draw(workspace: &Workspace, sets: &[Set], file: &Path) -> Result<()> {
    let input = workspace.target.join("xtask/choosing.json");
    let marks = sets.iter().map(|set| {
        json!({"label": set.name, "family": set.family, "bytes": set.signature, "us": set.verify / 1000.0})
    });
    fs::write(&input, Value::from_iter(marks).to_string())?;
    let arguments = ["--input".as_ref(), input.as_ref(), "--output".as_ref(), file.as_ref()];
    workspace.tool("choosing", &arguments).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A row of `gambeson bench --json`.
    fn row(alg: &str, op: &str, form: &str, ns: f64) -> Value {
        json!({"type": "benchmark", "alg": alg, "op": op, "form": form, "level": "avx2", "medianNs": ns,
            "publicBytes": 32, "signatureBytes": 7856})
    }

    fn rows() -> Vec<Value> {
        let set = |alg: &str, sign| {
            [("keygen", 2e6), ("sign", sign), ("verify", 99_940.0)]
                .map(|(op, ns)| row(alg, op, "compact", ns))
        };
        [set("SLH-DSA-SHA2-128s", 8e7), set("SLH-DSA-SHA2-128f", 4e6)].concat()
    }

    #[test]
    fn the_table_has_a_line_for_each_set_and_the_conditions() {
        let section = section("a processor, 2 processors", &of_family(1, &rows()).unwrap());
        assert!(section.starts_with("* Machine: a processor, 2 processors; kernels: avx2; one thread\n"));
        assert!(section.contains("`gambeson bench --seconds 1 --op LMS`"));
        assert!(section.contains("signs 20 to 20 times as fast"));
        assert!(section.contains("| SLH-DSA-SHA2-128s | 32 | 7,856 | 2,000 | 80,000 | 99.9 |\n"));
        assert!(section.ends_with("| SLH-DSA-SHA2-128f | 32 | 7,856 | 2,000 | 4,000 | 99.9 |\n"));
    }

    #[test]
    fn the_times_are_those_of_prepared_keys_where_there_are_such() {
        for forms in [["compact", "prepared"], ["prepared", "compact"]] {
            let rows = forms.map(|form| {
                let ns = if form == "prepared" { 1.0 } else { 2.0 };
                ["keygen", "sign", "verify"].map(|op| row("ML-DSA-44", op, form, ns))
            });
            let sets = of_family(0, &rows.concat()).unwrap();
            assert_eq!(sets.len(), 1);
            assert_eq!([sets[0].keygen, sets[0].sign, sets[0].verify], [1.0; 3]);
        }
    }

    #[test]
    fn an_operation_or_a_length_that_is_missing_is_an_error() {
        assert!(of_family(0, &[]).is_err());
        assert!(of_family(1, &rows()[..5]).is_err());
        let mut rows = rows();
        rows[2]["signatureBytes"].take();
        assert!(of_family(1, &rows).is_err());
    }

    #[test]
    fn what_stands_around_the_markers_stays() {
        let page = format!("before\n{BEGIN}old\n{END}\nafter\n");
        assert_eq!(replaced(&page, "new\n").unwrap(), format!("before\n{BEGIN}new\n{END}\nafter\n"));
        assert!(replaced("before\n", "new\n").is_err());
        assert!(replaced(include_str!("../../docs/choosing.md"), "").is_ok());
    }
}
