//! That a package brings no C code, needs no compiler for it, and reaches no network: by what `cargo tree` shows.

use crate::run::Workspace;
use anyhow::{Result, ensure};
use std::collections::BTreeSet;

/// What promises it.
const PACKAGE: &str = "gambeson-mls";
/// What needs a C compiler, as its features say: the canary.
const WITH_C: &str = "gambeson-identity";
/// Packages that compile other languages than Rust, or find what was compiled.
const TOOLS: &[&str] = &["autotools", "bindgen", "cc", "cmake", "nasm-rs", "pkg-config", "vcpkg"];
/// What a package of bindings is called by custom.
const BINDINGS: &str = "-sys";
/// Packages without which nothing here waits for a network, or speaks over one.
const NETWORK: &[&str] = &["async-io", "mio", "polling", "smol", "socket2", "tokio"];
/// What has a network, as its name says: the canary.
const WITH_NETWORK: &str = "gambeson-slim";

/// Looks at everything below the package, build scripts included, with all its features.
pub fn check(workspace: &Workspace) -> Result<String> {
    let below = tree(workspace, PACKAGE)?;
    for (what, found) in [("brings C code", foreign(&below)), ("reaches a network", network(&below))] {
        ensure!(found.is_empty(), "{PACKAGE} {what}: {}", found.join(", "));
    }
    let planted = foreign(&tree(workspace, WITH_C)?).join(", ");
    ensure!(
        !planted.is_empty(),
        "canary: {WITH_C} with all its features needs a C compiler, and that was not seen"
    );
    let reaching = network(&tree(workspace, WITH_NETWORK)?).join(", ");
    ensure!(!reaching.is_empty(), "canary: {WITH_NETWORK} reaches a network, and that was not seen");
    Ok(format!(
        "{} packages below {PACKAGE}, none of C, none for a network; seen below {WITH_C}: {planted}, below {WITH_NETWORK}: {reaching}",
        below.len()
    ))
}

/// The packages below one, by name.
fn tree(workspace: &Workspace, package: &str) -> Result<BTreeSet<String>> {
    let arguments =
        ["tree", "--all-features", "--edges", "normal,build", "--prefix", "none", "--format", "{p}"];
    let mut tree = workspace.cargo(&arguments);
    let text = workspace.logged(&format!("tree-{package}"), tree.args(["--package", package]))?;
    let names = text.lines().filter_map(|line| line.split(' ').next());
    let names: BTreeSet<String> = names.filter(|name| !name.is_empty()).map(str::to_owned).collect();
    ensure!(names.contains(package), "cargo tree does not name {package}:\n{text}");
    Ok(names)
}

fn foreign(names: &BTreeSet<String>) -> Vec<&str> {
    let is = |name: &&str| TOOLS.contains(name) || name.ends_with(BINDINGS);
    names.iter().map(String::as_str).filter(is).collect()
}

fn network(names: &BTreeSet<String>) -> Vec<&str> {
    NETWORK.iter().copied().filter(|name| names.contains(*name)).collect()
}
