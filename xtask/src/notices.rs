//! The notices of what other people wrote and our packages of compiled code hold: `THIRD-PARTY-NOTICES` beside each of them.
//!
//! A crate that is published as source names its dependencies, and carries none of them. A wheel and an npm package do: most of these
//! licences ask that their text and the names go along.

use crate::run::{Workspace, files_in};
use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

/// A package of compiled code: its folder, and with which features and for what it is compiled (everything, where that is not one).
const PACKAGES: &[(&str, &str, Option<&str>)] =
    &[("bindings/python", "", None), ("bindings/typescript", "whole", Some("wasm32-unknown-unknown"))];

/// What the file is called.
pub const NAME: &str = "THIRD-PARTY-NOTICES";

/// Compares the files with what would be written, or writes them.
pub fn check(workspace: &Workspace, bless: bool) -> Result<String> {
    let mut counts = Vec::new();
    for (folder, features, target) in PACKAGES {
        let mut options = vec!["--locked", "--features", *features];
        options.extend(target.iter().flat_map(|target| ["--filter-platform", *target]));
        let metadata = workspace.metadata(folder, &options)?;
        let linked = linked(&metadata);
        let text = notices(&linked)?;
        let file = workspace.root.join(folder).join(NAME);
        if bless {
            fs::write(&file, &text)?;
        } else if fs::read_to_string(&file).ok().as_ref() != Some(&text) {
            bail!("{folder}/{NAME} is not what is compiled in now: cargo xtask notices --bless");
        }
        counts.push(format!("{} crates in {folder}", linked.len()));
    }
    Ok(counts.join(", "))
}

fn text<'a>(of: &'a Value, field: &str) -> &'a str {
    of[field].as_str().unwrap_or_default()
}

fn list<'a>(of: &'a Value, field: &str) -> impl Iterator<Item = &'a Value> + use<'a> {
    of[field].as_array().into_iter().flatten()
}

/// What the package is linked from, without our own: what only builds it, or writes its source, is not in it.
fn linked(metadata: &Value) -> Vec<&Value> {
    let resolve = &metadata["resolve"];
    let nodes: BTreeMap<&str, &Value> = list(resolve, "nodes").map(|it| (text(it, "id"), it)).collect();
    let packages: BTreeMap<&str, &Value> =
        list(metadata, "packages").map(|it| (text(it, "id"), it)).collect();
    let (mut seen, mut waiting) = (BTreeSet::new(), vec![text(resolve, "root")]);
    while let Some(id) = waiting.pop() {
        let is_macro = |it: &Value| list(it, "kind").any(|kind| kind == "proc-macro");
        if list(packages[id], "targets").any(is_macro) || !seen.insert(id) {
            continue;
        }
        let normal = |it: &&Value| list(it, "dep_kinds").any(|kind| kind["kind"].is_null());
        waiting.extend(list(nodes[id], "deps").filter(normal).map(|it| text(it, "pkg")));
    }
    let ids = seen.into_iter();
    let mut linked: Vec<_> = ids.map(|id| packages[id]).filter(|it| it["source"].is_string()).collect();
    linked.sort_by(|a, b| {
        ["name", "version"].map(|it| text(a, it)).cmp(&["name", "version"].map(|it| text(b, it)))
    });
    linked
}

/// One text after another, each under the crates whose it is.
fn notices(linked: &[&Value]) -> Result<String> {
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut without = Vec::new();
    for package in linked {
        let licence = package["license"].as_str().unwrap_or("its own licence");
        let title = format!("{} {} ({licence})", text(package, "name"), text(package, "version"));
        let folder =
            Path::new(text(package, "manifest_path")).parent().context("a manifest is in a folder")?;
        let files = licence_files(folder, licence)?;
        if files.is_empty() {
            without.push((title.clone(), *package));
        }
        for file in files {
            let text = fs::read_to_string(&file).with_context(|| file.display().to_string())?;
            // One text with other ends of lines is one text.
            let text = text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n").trim().to_owned();
            texts.entry(text).or_default().push(title.clone());
        }
    }
    let mut out = String::from(
        "This package has compiled code of the crates below. Where a crate may be used under one of several licences, the shortest is\n\
         here. The Rust standard library is in it too: MIT OR Apache-2.0, https://www.rust-lang.org, The Rust Project Contributors.\n",
    );
    let mut ordered: Vec<_> = texts.into_iter().map(|(text, of)| (of, text)).collect();
    ordered.sort();
    for (of, text) in ordered {
        write!(out, "\n{}\n{}\n\n{text}\n", "=".repeat(100), of.join("\n"))?;
    }
    if !without.is_empty() {
        write!(out, "\n{}\nCrates that come without the text of their licence\n\n", "=".repeat(100))?;
    }
    for (title, package) in without {
        let authors: Vec<&str> = list(package, "authors").filter_map(Value::as_str).collect();
        let authors = if authors.is_empty() { "no authors named".into() } else { authors.join(", ") };
        let repository = package["repository"].as_str().unwrap_or("no repository named");
        writeln!(out, "{title}: {authors}, {repository}")?;
    }
    Ok(out)
}

/// The files of a crate's licence; where there is a choice, those of the MIT licence. A notice goes along with any.
fn licence_files(folder: &Path, licence: &str) -> Result<Vec<PathBuf>> {
    let upper = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().to_ascii_uppercase();
    let names = ["LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE"];
    let mut files = files_in(folder, "")?;
    files.retain(|path| names.iter().any(|name| upper(path).starts_with(name)));
    let is_mit = |path: &&PathBuf| upper(path).contains("MIT");
    // Of a choice that is only a part of the licence, everything stays.
    let is_choice = (licence.contains(" OR ") || licence.contains('/')) && !licence.contains(" AND ");
    if is_choice && files.iter().any(|path| is_mit(&path)) {
        files.retain(|path| is_mit(&path) || upper(path).starts_with("NOTICE"));
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn crates() -> Value {
        let package = |name: &str, source: Option<&str>, kind: &str| json!({"id": name, "name": name, "version": "1.0.0", "source": source, "targets": [{"kind": [kind]}]});
        let node = |name: &str, of: &[(&str, Option<&str>)]| {
            let of = of.iter().map(|(name, kind)| json!({"pkg": name, "dep_kinds": [{"kind": kind}]}));
            json!({"id": name, "deps": of.collect::<Value>()})
        };
        let registry = Some("registry");
        json!({
            "packages": [
                package("ours", None, "cdylib"),
                package("linked", registry, "lib"),
                package("below", registry, "lib"),
                package("macros", registry, "proc-macro"),
                package("builds", registry, "lib"),
            ],
            "resolve": {"root": "ours", "nodes": [
                node("ours", &[("linked", None), ("builds", Some("build"))]),
                node("linked", &[("below", None), ("macros", None)]),
                node("below", &[]),
                node("macros", &[]),
                node("builds", &[]),
            ]},
        })
    }

    #[test]
    fn what_is_linked_is_told_from_what_builds() {
        let metadata = crates();
        let names: Vec<&str> = linked(&metadata).into_iter().map(|it| text(it, "name")).collect();
        assert_eq!(names, ["below", "linked"]);
    }

    #[test]
    fn where_there_is_a_choice_the_mit_licence_and_the_notice_are_taken() {
        let folder = std::env::temp_dir().join(format!("gambeson-notices-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        for name in ["LICENSE-MIT", "LICENSE-APACHE", "NOTICE", "README.md"] {
            fs::write(folder.join(name), name).unwrap();
        }
        let names = |licence: &str| -> Vec<String> {
            let files = licence_files(&folder, licence).unwrap();
            files.iter().map(|it| it.file_name().unwrap().to_string_lossy().into_owned()).collect()
        };
        assert_eq!(names("MIT OR Apache-2.0"), ["LICENSE-MIT", "NOTICE"]);
        assert_eq!(names("MIT AND Apache-2.0"), ["LICENSE-APACHE", "LICENSE-MIT", "NOTICE"]);
        fs::remove_dir_all(&folder).unwrap();
    }
}
