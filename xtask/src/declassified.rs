//! The places where the core declares a value public that was computed from secrets: a closed list with reasons.

use crate::run::{Workspace, files_below};
use anyhow::{Result, ensure};
use serde::Deserialize;
use std::fs;

#[derive(Deserialize)]
struct List {
    #[serde(default)]
    site: Vec<Site>,
}

#[derive(Deserialize)]
struct Site {
    /// The source file, from the root of the workspace.
    file: String,
    /// A part of the line.
    text: String,
    /// Why the value may be known.
    reason: String,
    /// On how many lines of the file it stands.
    #[serde(default = "one")]
    count: usize,
}

fn one() -> usize {
    1
}

/// A line that declassifies.
#[derive(Debug, PartialEq, Eq)]
struct Found {
    file: String,
    line: usize,
    text: String,
}

/// Compares the list with the sources, then with sources that have one more site, which must be refused.
pub fn check(workspace: &Workspace) -> Result<String> {
    let list: List = toml::from_str(&fs::read_to_string(workspace.root.join("docs/declassified.toml"))?)?;
    let mut found = Vec::new();
    for path in files_below(&workspace.root.join("crates"), ".rs")? {
        let file = path.strip_prefix(&workspace.root).unwrap_or(&path).display().to_string();
        found.extend(sites(&file, &fs::read_to_string(&path)?));
    }
    let errors = compare(&list, &found);
    ensure!(errors.is_empty(), "{}", errors.join("\n"));
    let count = found.len();
    found.push(Found { file: "crates/core/src/planted.rs".into(), line: 1, text: "declassify(&key)".into() });
    ensure!(!compare(&list, &found).is_empty(), "canary: a planted declassification was not refused");
    Ok(format!("{count} sites, all listed with a reason; the planted one was refused"))
}

fn sites(file: &str, text: &str) -> Vec<Found> {
    let calls = |line: &str| {
        line.contains("declassify")
            && !["//", "use ", "pub use ", "#!["].iter().any(|start| line.starts_with(start))
            && !line.contains("fn declassify")
    };
    let lines = (1..).zip(text.lines().map(str::trim)).filter(|(_, line)| calls(line));
    lines.map(|(line, text)| Found { file: file.to_owned(), line, text: text.to_owned() }).collect()
}

fn compare(list: &List, found: &[Found]) -> Vec<String> {
    let mut errors = Vec::new();
    for Site { file, text, reason, count: wanted } in &list.site {
        let count = found.iter().filter(|found| found.file == *file && found.text.contains(text)).count();
        if count != *wanted {
            errors.push(format!(
                "docs/declassified.toml: {file}: {text:?} stands on {count} lines, not {wanted}"
            ));
        }
        if reason.trim().is_empty() {
            errors.push(format!("docs/declassified.toml: {file}: {text:?} has no reason"));
        }
    }
    for Found { file, line, text } in found {
        if !list.site.iter().any(|site| site.file == *file && text.contains(&site.text)) {
            errors.push(format!("{file}:{line}: not in docs/declassified.toml: {text}"));
        }
    }
    errors
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(text: &str, count: usize) -> List {
        let (file, reason) = ("a.rs".to_owned(), "known".to_owned());
        List { site: vec![Site { file, text: text.to_owned(), reason, count }] }
    }

    #[test]
    fn a_listed_site_passes_and_others_do_not() {
        let found =
            sites("a.rs", "fn f() {\n    declassify(&rho);\n}\n// declassify(&x)\nfn declassify<T>() {}\n");
        assert_eq!(found.len(), 1);
        assert!(compare(&list("declassify(&rho)", 1), &found).is_empty());
        assert_eq!(compare(&list("declassify(&key)", 1), &found).len(), 2, "one unlisted, one stale");
        assert_eq!(compare(&list("declassify(&rho)", 2), &found).len(), 1, "one has gone");
    }

    #[test]
    fn a_reason_is_needed() {
        let mut list = list("declassify(&rho)", 1);
        list.site[0].reason.clear();
        assert_eq!(compare(&list, &sites("a.rs", "declassify(&rho)")).len(), 1);
    }
}
