//! Packages that bring C code, compile it or reach a network, as `cargo tree` shows them below ours.

use crate::run::Workspace;
use anyhow::{Result, ensure};
use std::collections::BTreeSet;

/// The package that has none of either.
const PACKAGE: &str = "gambeson-mls";
/// A package that needs a C compiler with all its features: the canary.
const WITH_C: &str = "gambeson-identity";
/// Packages that compile other languages than Rust, or find compiled libraries.
const TOOLS: &[&str] = &["autotools", "bindgen", "cc", "cmake", "nasm-rs", "pkg-config", "vcpkg"];
/// The end of the names of packages of bindings, by custom.
const BINDINGS: &str = "-sys";
/// Packages without one of which no program speaks over a network.
const NETWORK: &[&str] = &["async-io", "mio", "polling", "smol", "socket2", "tokio"];
/// A package that reaches a network: the canary.
const WITH_NETWORK: &str = "gambeson-slim";

/// The program, whose build needs a C compiler and nothing else.
const PROGRAM: &str = "gambeson-cli";
/// Packages that need more to be built than a C compiler.
const MORE_THAN_C: &[&str] = &["aws-lc-sys", "bindgen", "clang-sys", "cmake"];
/// A package whose tree has some of them: the canary.
const WITH_MORE: &str = "gambeson-interop";
/// C and assembly that the program has through one feature of one library, the delivery service on NATS.
const RING: &str = "ring";
const WITH_RING: (&str, &str) = ("gambeson-slim", "nats");

/// Looks at all packages below `gambeson-mls`, build scripts included, with all its features; and at those below the program with its default
/// features.
pub fn check(workspace: &Workspace) -> Result<String> {
    let all = ["--all-features"];
    let foreign = |name: &str| TOOLS.contains(&name) || name.ends_with(BINDINGS);
    let network = |name: &str| NETWORK.contains(&name);
    let more = |name: &str| MORE_THAN_C.contains(&name);
    let said = [
        none_below(workspace, (PACKAGE, &all), "brings C code", foreign, WITH_C)?,
        none_below(workspace, (PACKAGE, &all), "reaches a network", network, WITH_NETWORK)?,
        none_below(workspace, (PROGRAM, &[]), "needs more than a C compiler", more, WITH_MORE)?,
    ];
    let below = tree(workspace, PROGRAM, &[])?;
    for library in below.iter().filter(|name| name.starts_with("gambeson") && *name != PROGRAM) {
        let has_ring = tree(workspace, library, &[])?.contains(RING);
        ensure!(!has_ring, "{library} has {RING} without the feature {} of {}", WITH_RING.1, WITH_RING.0);
    }
    let with_ring = tree(workspace, WITH_RING.0, &["--features", WITH_RING.1])?;
    ensure!(with_ring.contains(RING), "canary: {WITH_RING:?} has {RING}, and that was not seen");
    Ok(format!("{}; {RING} through NATS alone", said.join("; ")))
}

/// Fails if there are such packages below one, or none below the canary.
fn none_below(
    workspace: &Workspace,
    (package, options): (&str, &[&str]),
    what: &str,
    is_such: impl Fn(&str) -> bool,
    canary: &str,
) -> Result<String> {
    let such = |names: &BTreeSet<String>| {
        names.iter().filter(|name| is_such(name)).cloned().collect::<Vec<_>>().join(", ")
    };
    let below = tree(workspace, package, options)?;
    let found = such(&below);
    ensure!(found.is_empty(), "{package} {what}: {found}");
    let seen = such(&tree(workspace, canary, options)?);
    ensure!(!seen.is_empty(), "canary: {canary} {what}, and that was not seen");
    Ok(format!("none of {} packages below {package} {what}, of those below {canary} do: {seen}", below.len()))
}

/// Returns the names of the packages below one.
fn tree(workspace: &Workspace, package: &str, options: &[&str]) -> Result<BTreeSet<String>> {
    let mut tree =
        workspace.cargo(&["tree", "--edges", "normal,build", "--prefix", "none", "--format", "{p}"]);
    let text =
        workspace.logged(&format!("tree-{package}"), tree.args(["--package", package]).args(options))?;
    let names = text.lines().filter_map(|line| line.split(' ').next());
    let names: BTreeSet<String> = names.filter(|name| !name.is_empty()).map(str::to_owned).collect();
    ensure!(names.contains(package), "cargo tree does not name {package}:\n{text}");
    Ok(names)
}
