//! The tables of `docs/spec/reports.md`, against which every report of the program is checked.

use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::process::Command;
use std::sync::LazyLock;

/// The members that a type may have, and whether they must be there. A type has a row for each set.
type Members = BTreeMap<&'static str, bool>;

/// The tables.
pub struct Schema {
    pub types: BTreeMap<&'static str, Vec<Members>>,
    forms: BTreeMap<&'static str, &'static str>,
}

pub static SCHEMA: LazyLock<Schema> = LazyLock::new(|| {
    let page = include_str!("../../../../../docs/spec/reports.md");
    let mut schema = Schema { types: BTreeMap::new(), forms: BTreeMap::new() };
    let mut table = "";
    for line in page.lines() {
        let Some(cells) = line.strip_prefix("| ").and_then(|line| line.strip_suffix('|')) else { continue };
        let cells: Vec<&str> = cells.split('|').map(str::trim).collect();
        match (cells[0], table) {
            (title @ ("type" | "form" | "member" | "object"), _) => table = title,
            ("---", _) => {}
            (name, "type") => {
                let members = cells[2].split_whitespace().map(|member| {
                    let member = bare(member);
                    (member.trim_end_matches('?'), !member.ends_with('?'))
                });
                schema.types.entry(bare(name)).or_default().push(members.collect());
            }
            (name, "member") => assert!(schema.forms.insert(bare(name), cells[1]).is_none(), "{name} twice"),
            _ => {}
        }
    }
    schema
});

fn bare(name: &'static str) -> &'static str {
    name.trim_matches('`')
}

impl Schema {
    /// Returns the fault of a report.
    pub fn fault(&self, report: &Value) -> Option<String> {
        let Some(members) = report.as_object() else { return Some("no object".into()) };
        let Some(kind) = report["type"].as_str() else { return Some("no type".into()) };
        let Some(rows) = self.types.get(kind) else {
            return Some(format!("the type {kind} is not in the table"));
        };
        for (name, value) in members {
            match self.forms.get(name.as_str()) {
                None => return Some(format!("the member {name} is not in the table")),
                Some(form) if !fits(form, value) => return Some(format!("{name} is not of the form {form}")),
                Some(_) => {}
            }
        }
        let misfits: Option<Vec<String>> = rows.iter().map(|row| misfit(row, members)).collect();
        misfits.map(|misfits| format!("{kind} has other members: {}", misfits.join("; or ")))
    }

    /// The names of members that no type has, and members of types that have no form.
    pub fn loose_ends(&self) -> Vec<&'static str> {
        let used = || self.types.values().flatten().flat_map(Members::keys).copied();
        let unused =
            self.forms.keys().copied().filter(|name| *name != "type" && !used().any(|it| it == *name));
        unused.chain(used().filter(|name| !self.forms.contains_key(name))).collect()
    }
}

fn misfit(row: &Members, members: &Map<String, Value>) -> Option<String> {
    let missing = row.iter().find(|(name, required)| **required && !members.contains_key(**name));
    let unknown = members.keys().find(|name| *name != "type" && !row.contains_key(name.as_str()));
    missing.map(|(name, _)| format!("no {name}")).or(unknown.map(|name| format!("{name} is too many")))
}

fn fits(form: &str, value: &Value) -> bool {
    match form {
        "text" => value.is_string(),
        "time" => value.as_str().is_some_and(is_time),
        "count" => value.is_u64(),
        "number" => value.is_number(),
        "flag" => value.is_boolean(),
        "object" => value.is_object(),
        "document" => !value.is_null(),
        list => {
            let form =
                list.strip_prefix("list of ").unwrap_or_else(|| panic!("the form {form} is not known"));
            value.as_array().is_some_and(|values| values.iter().all(|value| fits(form, value)))
        }
    }
}

/// `2026-11-22T07:00:00Z`, with milliseconds or without.
fn is_time(text: &str) -> bool {
    let shape: String = text.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    ["0000-00-00T00:00:00Z", "0000-00-00T00:00:00.000Z"].contains(&shape.as_str())
}

/// Checks what a command with `--json` has written.
#[track_caller]
pub fn check(command: &Command, stdout: &[u8], stderr: &str) {
    let arguments: Vec<_> = command.get_args().map(|it| it.to_string_lossy()).collect();
    if !arguments.iter().any(|it| it == "--json") {
        return;
    }
    // Answers of `vectors serve`, help, and what another program prints are not reports.
    let other = ["serve", "bridge", "-h", "--help"].iter().any(|word| arguments.iter().any(|it| it == word));
    let beside: Vec<&str> = stderr.lines().filter(|line| line.starts_with('{')).collect();
    // Reports stand on standard error where standard output carries data.
    let stdout = if other || !beside.is_empty() { "" } else { std::str::from_utf8(stdout).unwrap() };
    for line in stdout.lines().chain(beside) {
        check_line(line);
    }
}

/// Checks one line.
#[track_caller]
pub fn check_line(line: &str) -> Value {
    let report: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    if let Some(fault) = SCHEMA.fault(&report) {
        panic!("docs/spec/reports.md does not describe this report: {fault}: {line}");
    }
    report
}
