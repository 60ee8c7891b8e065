//! The table of stack and heap use, and its bounds.

use crate::constant_time::{self, AS_RELEASED};
use crate::run::Workspace;
use crate::table::Table;
use anyhow::{Context, Result, ensure};
use serde_json::Value;

/// Algorithm, operation (`None` is "every") and form, the field that is bounded, and its most.
type Bound = (Option<&'static str>, Option<&'static str>, &'static str, &'static str, u64);

const BOUNDS: &[Bound] = &[
    (Some("ML-KEM-512"), Some("private key"), "compact", "bytes", 96),
    (Some("ML-KEM-768"), Some("private key"), "compact", "bytes", 96),
    (Some("ML-KEM-1024"), Some("private key"), "compact", "bytes", 96),
    (Some("ML-DSA-44"), Some("private key"), "compact", "bytes", 128),
    (Some("ML-DSA-65"), Some("private key"), "compact", "bytes", 128),
    (Some("ML-DSA-87"), Some("private key"), "compact", "bytes", 128),
    (Some("ML-KEM-768"), Some("decaps"), "compact", "stack", 8 << 10),
    (Some("ML-KEM-768"), Some("rejection"), "compact", "stack", 8 << 10),
    (Some("ML-DSA-65"), Some("sign"), "compact", "stack", 24 << 10),
    (None, None, "prepared", "stack", 24 << 10),
    (None, None, "workspace", "stack", 1600),
    // What the head of gambeson.h says of each call.
    (None, Some("hash"), "C", "stack", 2_000),
    (None, Some("hash in pieces"), "C", "stack", 2_000),
    (None, Some("hash for HashML-DSA"), "C", "stack", 3_200),
    (None, Some("wipe"), "C", "stack", 2_000),
    (Some("ML-KEM-512"), None, "C", "stack", 20_000),
    (Some("ML-KEM-768"), None, "C", "stack", 20_000),
    (Some("ML-KEM-1024"), None, "C", "stack", 20_000),
    (Some("ML-KEM-512"), None, "C, small", "stack", 3_100),
    (Some("ML-KEM-768"), None, "C, small", "stack", 3_100),
    (Some("ML-KEM-1024"), None, "C, small", "stack", 3_100),
    (Some("SLH-DSA-SHA2-128f"), None, "C", "stack", 49_000),
    (Some("SLH-DSA-SHA2-192f"), None, "C", "stack", 49_000),
    (Some("SLH-DSA-SHA2-256f"), None, "C", "stack", 49_000),
    (Some("SLH-DSA-SHAKE-128f"), None, "C", "stack", 49_000),
    (Some("SLH-DSA-SHAKE-192f"), None, "C", "stack", 49_000),
    (Some("SLH-DSA-SHAKE-256f"), None, "C", "stack", 49_000),
    (Some("ML-DSA-44"), None, "C", "stack", 26_000),
    (Some("ML-DSA-65"), None, "C", "stack", 26_000),
    (Some("ML-DSA-87"), None, "C", "stack", 26_000),
    (None, None, "C, sk", "stack", 26_000),
    (None, None, "C, small", "stack", 6_000),
    (Some("ML-DSA-44"), None, "C, sk", "heap_peak", 47_000),
    (Some("ML-DSA-65"), None, "C, sk", "heap_peak", 68_000),
    (Some("ML-DSA-87"), None, "C, sk", "heap_peak", 104_000),
];

/// What wolfSSL published of its own library on a Raspberry Pi 5 ("Optimizing Post-Quantum Algorithm Memory Usage on Embedded Systems", August
/// 2025): stack, heap, allocations of the program that tests everything of a set, in each configuration.
const WOLFSSL: [(&str, [[u64; 3]; 3]); 6] = [
    ("ML-KEM-512", [[23_568, 7552, 3], [23_696, 3968, 3], [2112, 19_306, 17]]),
    ("ML-KEM-768", [[32_672, 11_968, 3], [32_928, 5824, 3], [2112, 27_306, 17]]),
    ("ML-KEM-1024", [[42_400, 17_568, 3], [42_656, 7840, 3], [2112, 35_786, 17]]),
    ("ML-DSA-44", [[15_904, 50_304, 2], [15_856, 15_656, 2], [2112, 28_211, 7]]),
    ("ML-DSA-65", [[17_440, 77_952, 2], [17_392, 20_776, 2], [2112, 33_331, 7]]),
    ("ML-DSA-87", [[19_376, 120_960, 2], [19_328, 26_920, 2], [2160, 39_475, 7]]),
];
const CONFIGURATIONS: [&str; 3] =
    ["small code", "small code, small memory", "small code, small memory, small stack"];

/// Bytes of the frame planted in the gate, and how far the measurement may be above.
const PLANTED: u64 = 20_000;
const TOLERANCE: u64 = 2_000;

/// Measures; returns the rows, without the canary's.
pub fn measure(workspace: &Workspace) -> Result<Vec<Value>> {
    constant_time::build_as_released(workspace)?;
    let program = workspace.built(AS_RELEASED, "gate-stack");
    let text = workspace.logged("stack", &mut workspace.command(program, &[]))?;
    let rows = text.lines().map(serde_json::from_str).collect::<Result<Vec<Value>, _>>();
    let mut rows = rows.context("the gate prints JSON")?;
    let canary = rows.iter().position(|row| row["alg"] == "canary");
    let planted = rows.remove(canary.context("the gate measures its canary")?)["stack"].as_u64().unwrap_or(0);
    let seen = (PLANTED..=PLANTED + TOLERANCE).contains(&planted);
    ensure!(seen, "canary: a frame of {PLANTED} bytes was measured as {planted}");
    Ok(rows)
}

/// Stack, workspace and the most of the heap at once.
fn total(row: &Value) -> u64 {
    ["stack", "workspace", "heap_peak"].iter().filter_map(|field| row[field].as_u64()).sum()
}

/// The bytes that a prepared private key holds on the heap while it works.
fn held(rows: &[Value], row: &Value) -> u64 {
    let makes =
        |made: &&Value| made["alg"] == row["alg"] && made["form"] == "prepared" && made["op"] == "keygen";
    let works =
        row["form"] == "prepared" && ["decaps", "rejection", "sign"].iter().any(|op| row["op"] == *op);
    let key = rows.iter().find(makes).filter(|_| works);
    key.and_then(|key| key["heap_peak"].as_u64()).unwrap_or(0)
}

/// Of each set the operation of each form that takes most in all, with its stack, heap, total and allocations; and wolfSSL's. A key
/// that lies on the heap counts.
fn beside(rows: &[Value]) -> Table<'static> {
    let mut all: Vec<(&str, String, [u64; 4])> = Vec::new();
    for (set, theirs) in WOLFSSL {
        let forms = rows.iter().filter(|row| row["alg"] == set && !rests(row));
        let mut forms: Vec<&str> = forms.filter_map(|row| row["form"].as_str()).collect();
        forms.retain(|form| ["compact", "prepared", "small", "workspace"].contains(form));
        forms.sort_unstable();
        forms.dedup();
        for form in forms {
            let of_form = |row: &&Value| row["alg"] == set && row["form"] == form && !rests(row);
            if let Some(most) = rows.iter().filter(of_form).max_by_key(|row| total(row) + held(rows, row)) {
                let held = held(rows, most);
                let number = |field: &str| most[field].as_u64().unwrap_or(0);
                let by = format!("gambeson, {form}: {}", most["op"].as_str().unwrap_or("?"));
                // A workspace is where the caller has it, which is not the stack.
                let heap = number("heap_peak") + number("workspace") + held;
                let numbers = [number("stack"), heap, number("stack") + heap, number("allocations")];
                all.push((set, by, numbers));
            }
        }
        for (configuration, [stack, heap, allocations]) in CONFIGURATIONS.into_iter().zip(theirs) {
            let numbers = [stack, heap, stack + heap, allocations];
            all.push((set, format!("wolfSSL, {configuration}"), numbers));
        }
    }
    let rows = all.into_iter().map(|(set, by, numbers)| {
        [set.to_owned(), by].into_iter().chain(numbers.map(|number| number.to_string())).collect()
    });
    let heads = &["set", "most of any operation", "stack", "heap", "total", "allocations"];
    Table { heads, words: 2, rows: rows.collect() }
}

/// True if the row has the bytes of a resting key.
fn rests(row: &Value) -> bool {
    row["bytes"].is_u64()
}

/// The table of resting keys.
fn resting(rows: &[Value]) -> Table<'static> {
    let mut keys: Vec<[&str; 2]> = Vec::new();
    for row in rows.iter().filter(|row| rests(row)) {
        let key = ["alg", "op"].map(|field| row[field].as_str().unwrap_or("?"));
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    let bytes = |key: [&str; 2], form: &str| {
        let row = rows
            .iter()
            .find(|row| rests(row) && row["alg"] == key[0] && row["op"] == key[1] && row["form"] == form);
        row.map_or_else(String::new, |row| row["bytes"].to_string())
    };
    let cells = |key: [&str; 2]| {
        let forms = ["prepared", "compact", "small"].map(|form| bytes(key, form));
        key.map(str::to_owned).into_iter().chain(forms).collect()
    };
    let heads = &["algorithm", "key", "prepared", "compact", "small"];
    Table { heads, words: 2, rows: keys.into_iter().map(cells).collect() }
}

/// The table of every operation.
fn operations(rows: &[Value]) -> Table<'static> {
    let heads = &[
        "algorithm",
        "operation",
        "form",
        "stack",
        "workspace",
        "heap peak",
        "total",
        "heap in all",
        "allocations",
    ];
    let fields = ["alg", "op", "form", "stack", "workspace", "heap_peak", "heap_total", "allocations"];
    let cells = |row: &Value| {
        let cell = |field: &str| row[field].as_str().map_or_else(|| row[field].to_string(), str::to_owned);
        let mut cells: Vec<String> = fields.map(cell).into();
        cells.insert(6, total(row).to_string());
        cells
    };
    let rows = rows.iter().filter(|row| !rests(row)).map(cells);
    Table { heads, words: 3, rows: rows.collect() }
}

/// The tables for people.
pub fn table(rows: &[Value]) -> String {
    resting(rows).text() + "\n" + &operations(rows).text() + "\n" + &beside(rows).text()
}

/// The same for a page of the documentation.
pub fn markdown(rows: &[Value]) -> String {
    String::from(
        "# Stack and heap\n\n\
         Bytes below the caller's frame, keys, messages and outputs of the caller left out, on x86-64 in release, portable tables;\n\
         heap: the peak, the sum and the number of allocations. Painted stack and a counting allocator measured it;\n\
         `cargo xtask stack --markdown docs/memory.md` writes this page, `cargo xtask stack --check` holds the bounds.\n\
         `many`: 64 at once. With other tables and feature `alloc` a compact ML-DSA key takes the heap of the prepared form\n\
         for the time of an operation.\n\n",
    ) + &operations(rows).markdown()
        + "\n## Resting keys\n\n\
        Bytes of a key between two operations, with what it keeps on the heap. A plain private key is prepared when it is made; a plain public key\n\
        is prepared at its second use or by `prepare()`, and has until then the bytes of a compact key and 8 more.\n\n"
        + &resting(rows).markdown()
        + "\n## Beside wolfSSL\n\n\
        Of each form the operation that takes most, and what wolfSSL published of its own library on a Raspberry Pi 5\n\
        ([its configurations](https://www.wolfssl.com/optimizing-post-quantum-algorithm-memory-usage-on-embedded-systems)): one figure a set, over all that its\n\
        test does. `small` is `Small<P>`, `workspace` the same in memory of the caller's, which is counted as heap. A key that lies on the heap is counted\n\
        there.\n\n"
        + &beside(rows).markdown()
}

/// One JSON object a line.
pub fn json(rows: &[Value]) -> String {
    rows.iter().map(Value::to_string).collect::<Vec<_>>().join("\n")
}

/// Fails when a bound is missed, or binds nothing.
pub fn check(rows: &[Value]) -> Result<String> {
    let mut errors = Vec::new();
    for (alg, op, form, field, most) in BOUNDS {
        let fits = |row: &&Value| {
            alg.is_none_or(|alg| row["alg"] == alg)
                // Every operation: a key that rests is none.
                && op.map_or_else(|| !rests(row), |op| row["op"] == op)
                && row["form"] == *form
        };
        let bound_rows: Vec<&Value> = rows.iter().filter(fits).collect();
        if bound_rows.is_empty() {
            errors.push(format!("{alg:?} {op:?} {form} was not measured"));
        }
        for row in bound_rows {
            let measured = row[field].as_u64().unwrap_or(u64::MAX);
            if measured > *most {
                let (alg, op) = (&row["alg"], &row["op"]);
                errors.push(format!("{alg} {op} {form}: {field} is {measured}, above {most}"));
            }
        }
    }
    ensure!(errors.is_empty(), "{}", errors.join("\n"));
    Ok(format!("{} rows measured, {} bounds kept; the planted frame was measured", rows.len(), BOUNDS.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn rows(decaps: u64, prepared: u64) -> Vec<Value> {
        let mut rows: Vec<Value> = BOUNDS[..6]
            .iter()
            .map(|(alg, ..)| json!({"alg": alg, "op": "private key", "form": "compact", "bytes": 96}))
            .collect();
        rows.push(json!({"alg": "ML-KEM-768", "op": "decaps", "form": "compact", "stack": decaps}));
        rows.push(json!({"alg": "ML-KEM-768", "op": "rejection", "form": "compact", "stack": 8192}));
        rows.push(json!({"alg": "ML-DSA-65", "op": "sign", "form": "compact", "stack": 20_000}));
        rows.push(json!({"alg": "ML-DSA-87", "op": "sign", "form": "prepared", "stack": prepared}));
        rows.push(
            json!({"alg": "ML-DSA-87", "op": "verify", "form": "workspace", "stack": 700, "workspace": 3856}),
        );
        rows
    }

    /// The same, and of each bound on C a row that meets it.
    fn rows_in_c(decaps: u64, prepared: u64) -> Vec<Value> {
        let in_c = BOUNDS.iter().filter(|(_, _, form, ..)| form.starts_with('C'));
        let in_c = in_c.map(|(alg, op, form, ..)| {
            let (alg, op) = (alg.unwrap_or("ML-DSA-44"), op.unwrap_or("sign"));
            json!({"alg": alg, "op": op, "form": form, "stack": 2000, "heap_peak": 0})
        });
        rows(decaps, prepared).into_iter().chain(in_c).collect()
    }

    #[test]
    fn bounds_bind() {
        assert!(check(&rows_in_c(8192, 24 << 10)).is_ok());
        assert!(check(&rows_in_c(8193, 24 << 10)).is_err());
        assert!(check(&rows_in_c(8192, (24 << 10) + 1)).is_err());
        assert!(check(&rows_in_c(8192, 1)[1..]).is_err(), "a bound on nothing is a failure");
        let no_workspace: Vec<_> =
            rows_in_c(8192, 1).into_iter().filter(|row| row["form"] != "workspace").collect();
        assert!(check(&no_workspace).is_err(), "so is one on no workspace");
        let resting = json!({"alg": "ML-DSA-44", "op": "public key", "form": "prepared", "bytes": 99_999});
        assert!(
            check(&[rows_in_c(8192, 1), vec![resting]].concat()).is_ok(),
            "a key that rests is no operation"
        );
        let too_deep = json!({"alg": "SHA3-256", "op": "hash", "form": "C", "stack": 2001});
        assert!(check(&[rows_in_c(8192, 1), vec![too_deep]].concat()).is_err());
    }

    #[test]
    fn the_table_has_a_line_for_each_row() {
        let (table, markdown) = (table(&rows(1, 2)), markdown(&rows(1, 2)));
        // Four of them are the most of their form, and wolfSSL has eighteen.
        assert_eq!(table.lines().count(), 14 + 2 + 4 + 18);
        assert_eq!(markdown.lines().filter(|line| line.starts_with("| ML-")).count(), 5 + 6 + 4 + 18);
        assert!(markdown.contains("| ML-DSA-87 | gambeson, workspace: verify | 700 | 3856 | 4556 | 0 |"));
        assert!(markdown.contains("| ML-KEM-768 | gambeson, compact: rejection | 8192 | 0 | 8192 | 0 |"));
        assert!(markdown.contains("| ML-DSA-87 | gambeson, prepared: sign | 2 | 0 | 2 | 0 |"));
        let made =
            json!({"alg": "ML-DSA-87", "op": "keygen", "form": "prepared", "stack": 1, "heap_peak": 9});
        let rows = [rows(1, 2), vec![made]].concat();
        assert!(super::markdown(&rows).contains("| ML-DSA-87 | gambeson, prepared: sign | 2 | 9 | 11 | 0 |"));
        assert!(markdown.contains("| ML-KEM-1024 | wolfSSL, small code | 42400 | 17568 | 59968 | 3 |"));
    }
}
