//! The modules of the core: none of them use each other in a circle.
//!
//! A module and those below it, such as a table of kernels and its entries, may use each other. Tests are free, and so is the page of a
//! primitive, which gathers what its modules publish.

use crate::run::Workspace;
use anyhow::{Context, Result, ensure};
use std::collections::{BTreeMap, BTreeSet};

/// The pages of primitives.
const PAGES: [&str; 3] = ["mlkem", "mldsa", "sha3"];

/// The modules that each module uses, by their paths below `crates/core/src`.
type Graph = BTreeMap<String, BTreeSet<String>>;

/// Checks the modules, then the same with one arrow turned round, which must be refused.
pub fn check(workspace: &Workspace) -> Result<String> {
    let mut graph = graph(&sources(workspace)?);
    let arrows = graph.values().map(BTreeSet::len).sum::<usize>();
    ensure!(graph.len() > 40 && arrows > 100, "only {} modules and {arrows} arrows were found", graph.len());
    let circle = circle(&graph);
    ensure!(circle.is_empty(), "modules of the core use each other in a circle: {}", circle.join(", "));
    let (from, to) = ("mlkem/pke", "mlkem/prepared");
    ensure!(graph[to].contains(from), "canary: {to} no longer uses {from}");
    graph.get_mut(from).context("the module is there")?.insert(to.into());
    ensure!(
        !self::circle(&graph).is_empty(),
        "canary: the planted circle of {from} and {to} was not refused"
    );
    Ok(format!(
        "{} modules of the core, {arrows} arrows, no circle; the planted one was refused",
        graph.len()
    ))
}

/// The text of every module of the core, by its path.
fn sources(workspace: &Workspace) -> Result<BTreeMap<String, String>> {
    let root = workspace.root.join("crates/core/src");
    let mut sources = BTreeMap::new();
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).with_context(|| format!("{}", folder.display()))? {
            let path = entry?.path();
            if path.file_stem().is_some_and(|name| name == "tests") {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") {
                let name = path.strip_prefix(&root)?.with_extension("");
                sources.insert(name.to_string_lossy().into_owned(), std::fs::read_to_string(&path)?);
            }
        }
    }
    Ok(sources)
}

fn graph(sources: &BTreeMap<String, String>) -> Graph {
    let mut graph = Graph::new();
    for (path, text) in sources {
        let module: Vec<&str> = if path == "lib" { Vec::new() } else { path.split('/').collect() };
        let used = graph.entry(path.clone()).or_default();
        for names in paths(&without_tests(text)) {
            let target = target(sources, &module, &names);
            let is_above_or_below = target.starts_with(&module) || module.starts_with(&target);
            if !is_above_or_below && !PAGES.contains(&target.join("/").as_str()) {
                used.insert(target.join("/"));
            }
        }
    }
    graph
}

/// The module that a path leads to from another.
fn target<'a>(sources: &BTreeMap<String, String>, module: &[&'a str], names: &[&'a str]) -> Vec<&'a str> {
    let mut names = names.iter().copied().peekable();
    let mut place = module.to_vec();
    if names.next_if_eq(&"crate").is_some() {
        place.clear();
    }
    while let Some(step) = names.next_if(|name| ["self", "super"].contains(name)) {
        if step == "super" {
            place.pop();
        }
    }
    for name in names {
        place.push(name);
        if !sources.contains_key(&place.join("/")) {
            place.pop();
            break;
        }
    }
    place
}

/// The text before the tests of a module, which end it, without comments.
fn without_tests(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let is_test = |i: &usize| lines[*i].starts_with("#[cfg(") && lines[*i].contains("test");
    let opens = |line: &&&str| line.contains("mod ") && line.ends_with('{');
    let end = (0..lines.len()).filter(is_test).find(|i| lines[i + 1..].iter().take(2).find(opens).is_some());
    let code = |line: &&str| line.split("//").next().unwrap_or_default().to_owned();
    lines[..end.unwrap_or(lines.len())].iter().map(code).collect::<Vec<_>>().join("\n")
}

/// Every path of the text that has more than one name, groups in braces taken apart.
fn paths(text: &str) -> Vec<Vec<&str>> {
    let mut found = Vec::new();
    let mut prefixes: Vec<Vec<&str>> = Vec::new();
    let mut path: Vec<&str> = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_name = |c: char| c.is_alphanumeric() || c == '_';
        let length =
            if is_name(first) { rest.find(|c| !is_name(c)).unwrap_or(rest.len()) } else { first.len_utf8() };
        let (token, after) = rest.split_at(length);
        rest = after;
        let goes_on = rest.starts_with("::");
        if is_name(first) {
            path.push(token);
            if goes_on {
                rest = &rest[2..];
                if rest.starts_with('{') {
                    prefixes.push(path.clone());
                    rest = &rest[1..];
                    path = prefixes.last().cloned().unwrap_or_default();
                }
                continue;
            }
        }
        if path.len() > 1 {
            found.push(path);
        }
        if first == '}' {
            prefixes.pop();
        }
        path = prefixes.last().cloned().unwrap_or_default();
    }
    found
}

/// Modules that use each other: those that are left when what uses nothing that is left, or is used by nothing, is taken away.
fn circle(graph: &Graph) -> Vec<&str> {
    let mut left: BTreeSet<&str> = graph.keys().map(String::as_str).collect();
    loop {
        let uses = |from: &str, to: &str| graph[from].contains(to);
        let is_between = |module: &&str| {
            left.iter().any(|other| uses(module, other)) && left.iter().any(|other| uses(other, module))
        };
        let next: BTreeSet<&str> = left.iter().copied().filter(|module| is_between(module)).collect();
        if next.len() == left.len() {
            return next.into_iter().collect();
        }
        left = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_taken_apart() {
        let text = "use super::{a::B, c::{self, D}};\nfn f() { crate::e::g::<P>(1); let x = h::I { j: 1 }; }";
        let paths = paths(text);
        for path in [
            &["super", "a", "B"][..],
            &["super", "c", "self"],
            &["super", "c", "D"],
            &["crate", "e", "g"],
            &["h", "I"],
        ] {
            assert!(paths.contains(&path.to_vec()), "{path:?} {paths:?}");
        }
    }

    #[test]
    fn a_circle_through_three_modules_is_found_and_a_chain_is_not() {
        let sources = |last: &str| {
            [
                ("mlkem", "mod a; pub use a::A;"),
                ("mlkem/a", "use super::b::B;"),
                ("mlkem/b", "use super::c::C;"),
                ("mlkem/c", last),
                ("mlkem/c/deep", "use super::C;"),
                ("lib", "mod mlkem;"),
            ]
            .map(|(path, text)| (path.to_owned(), text.to_owned()))
            .into_iter()
            .collect()
        };
        assert_eq!(circle(&graph(&sources("use crate::mlkem::a::A;"))), ["mlkem/a", "mlkem/b", "mlkem/c"]);
        let in_a_test = "use super::A;\n#[cfg(test)]\nmod tests {\n use crate::mlkem::a::A; }";
        assert_eq!(circle(&graph(&sources(in_a_test))), [""; 0]);
    }
}
