//! The table of stack and heap use, and its bounds.

use crate::run::Workspace;
use anyhow::{Context, Result, bail};
use serde_json::Value;

/// What an operation may use at most. `None` is "every".
struct Bound {
    alg: Option<&'static str>,
    op: Option<&'static str>,
    form: &'static str,
    field: &'static str,
    most: u64,
}

const BOUNDS: &[Bound] = &[
    Bound { alg: Some("ML-KEM-512"), op: Some("key"), form: "compact", field: "bytes", most: 96 },
    Bound { alg: Some("ML-KEM-768"), op: Some("key"), form: "compact", field: "bytes", most: 96 },
    Bound { alg: Some("ML-KEM-1024"), op: Some("key"), form: "compact", field: "bytes", most: 96 },
    Bound { alg: Some("ML-DSA-44"), op: Some("key"), form: "compact", field: "bytes", most: 128 },
    Bound { alg: Some("ML-DSA-65"), op: Some("key"), form: "compact", field: "bytes", most: 128 },
    Bound { alg: Some("ML-DSA-87"), op: Some("key"), form: "compact", field: "bytes", most: 128 },
    Bound { alg: Some("ML-KEM-768"), op: Some("decaps"), form: "compact", field: "stack", most: 8 << 10 },
    Bound { alg: Some("ML-KEM-768"), op: Some("rejection"), form: "compact", field: "stack", most: 8 << 10 },
    Bound { alg: Some("ML-DSA-65"), op: Some("sign"), form: "compact", field: "stack", most: 24 << 10 },
    Bound { alg: None, op: None, form: "expanded", field: "stack", most: 24 << 10 },
];

/// Bytes of the frame planted in the gate, and how far the measurement may be above.
const PLANTED: u64 = 20_000;
const TOLERANCE: u64 = 2_000;

/// Measures; returns the rows, without the canary's.
pub fn measure(workspace: &Workspace) -> Result<Vec<Value>> {
    let arguments = ["build", "--quiet", "--release", "-p", "gambeson-gates", "--bin", "gate-stack"];
    workspace.logged("stack-build", &mut workspace.cargo(&arguments))?;
    let program = workspace.built("release", "gate-stack");
    let text = workspace.logged("stack", &mut workspace.command(program, &[]))?;
    let mut rows = text
        .lines()
        .map(serde_json::from_str)
        .collect::<Result<Vec<Value>, _>>()
        .context("the gate prints JSON")?;
    let canary =
        rows.iter().position(|row| row["alg"] == "canary").context("the gate measures its canary")?;
    let planted = rows.remove(canary)["stack"].as_u64().unwrap_or(0);
    if !(PLANTED..=PLANTED + TOLERANCE).contains(&planted) {
        bail!("canary: a frame of {PLANTED} bytes was measured as {planted}");
    }
    Ok(rows)
}

/// The table for people.
pub fn table(rows: &[Value]) -> String {
    let mut text = format!(
        "{:<12} {:<11} {:<9} {:>8} {:>10} {:>11} {:>6}\n",
        "algorithm", "operation", "form", "stack", "heap peak", "heap total", "allocs"
    );
    let number = |row: &Value, field: &str| row[field].as_u64().map_or(String::from("-"), |n| n.to_string());
    let word = |row: &Value, field: &str| row[field].as_str().unwrap_or("?").to_owned();
    for row in rows {
        if row["op"] == "key" {
            text += &format!(
                "{:<12} key of {} bytes ({})\n",
                word(row, "alg"),
                number(row, "bytes"),
                word(row, "form")
            );
            continue;
        }
        text += &format!(
            "{:<12} {:<11} {:<9} {:>8} {:>10} {:>11} {:>6}\n",
            word(row, "alg"),
            word(row, "op"),
            word(row, "form"),
            number(row, "stack"),
            number(row, "heap_peak"),
            number(row, "heap_total"),
            number(row, "allocations"),
        );
    }
    text
}

/// The same for a page of the documentation.
pub fn markdown(rows: &[Value]) -> String {
    let mut text = String::from(
        "# Stack and heap\n\n\
         Bytes below the caller's frame, keys, messages and outputs of the caller left out, on x86-64 in release, portable tables;\n\
         heap: the peak, the sum and the number of allocations. Painted stack and a counting allocator measured it;\n\
         `cargo xtask stack --markdown docs/memory.md` writes this page, `cargo xtask stack --check` holds the bounds.\n\
         A compact key has 96 bytes. With other tables and feature `alloc` a compact ML-DSA key takes the heap of the expanded form\n\
         for the time of an operation.\n\n\
         | algorithm | operation | form | stack | heap peak | heap total | allocations |\n\
         | --- | --- | --- | ---: | ---: | ---: | ---: |\n",
    );
    for row in rows.iter().filter(|row| row["op"] != "key") {
        let cells = ["alg", "op", "form", "stack", "heap_peak", "heap_total", "allocations"]
            .map(|field| row[field].as_str().map_or_else(|| row[field].to_string(), str::to_owned));
        text += &format!("| {} |\n", cells.join(" | "));
    }
    text
}

/// Fails when a bound is missed, or binds nothing.
pub fn check(rows: &[Value]) -> Result<String> {
    let mut errors = Vec::new();
    for bound in BOUNDS {
        let fits = |row: &&Value| {
            bound.alg.is_none_or(|alg| row["alg"] == alg)
                && bound.op.is_none_or(|op| row["op"] == op)
                && row["form"] == bound.form
        };
        let bound_rows: Vec<&Value> = rows.iter().filter(fits).collect();
        if bound_rows.is_empty() {
            errors.push(format!("{:?} {:?} {} was not measured", bound.alg, bound.op, bound.form));
        }
        for row in bound_rows {
            let measured = row[bound.field].as_u64().unwrap_or(u64::MAX);
            if measured > bound.most {
                errors.push(format!(
                    "{} {} {}: {} is {measured}, above {}",
                    row["alg"], row["op"], bound.form, bound.field, bound.most
                ));
            }
        }
    }
    if !errors.is_empty() {
        bail!("{}", errors.join("\n"));
    }
    Ok(format!("{} rows measured, {} bounds kept; the planted frame was measured", rows.len(), BOUNDS.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn rows(decaps: u64, expanded: u64) -> Vec<Value> {
        let mut rows: Vec<Value> = BOUNDS[..6]
            .iter()
            .map(|bound| json!({"alg": bound.alg, "op": "key", "form": "compact", "bytes": 96}))
            .collect();
        rows.push(json!({"alg": "ML-KEM-768", "op": "decaps", "form": "compact", "stack": decaps}));
        rows.push(json!({"alg": "ML-KEM-768", "op": "rejection", "form": "compact", "stack": 8192}));
        rows.push(json!({"alg": "ML-DSA-65", "op": "sign", "form": "compact", "stack": 20_000}));
        rows.push(json!({"alg": "ML-DSA-87", "op": "sign", "form": "expanded", "stack": expanded}));
        rows
    }

    #[test]
    fn bounds_bind() {
        assert!(check(&rows(8192, 24 << 10)).is_ok());
        assert!(check(&rows(8193, 24 << 10)).is_err());
        assert!(check(&rows(8192, (24 << 10) + 1)).is_err());
        assert!(check(&rows(8192, 1)[..9]).is_err(), "a bound on nothing is a failure");
    }

    #[test]
    fn the_table_has_a_line_for_each_row() {
        assert_eq!(table(&rows(1, 2)).lines().count(), 11);
        assert_eq!(markdown(&rows(1, 2)).lines().filter(|line| line.starts_with("| ML-")).count(), 4);
    }
}
