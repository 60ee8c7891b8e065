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
    let below = tree(workspace, PACKAGE, &all)?;
    for (what, found) in [("brings C code", foreign(&below)), ("reaches a network", among(&below, NETWORK))] {
        ensure!(found.is_empty(), "{PACKAGE} {what}: {}", found.join(", "));
    }
    let planted = foreign(&tree(workspace, WITH_C, &all)?).join(", ");
    ensure!(
        !planted.is_empty(),
        "canary: {WITH_C} with all features needs a C compiler, and that was not seen"
    );
    let reaching = among(&tree(workspace, WITH_NETWORK, &all)?, NETWORK).join(", ");
    ensure!(!reaching.is_empty(), "canary: {WITH_NETWORK} reaches a network, and that was not seen");
    Ok(format!(
        "{} packages below {PACKAGE}, none of C, none for a network; seen below {WITH_C}: {planted}, below {WITH_NETWORK}: {reaching}; {}",
        below.len(),
        program(workspace)?
    ))
}

fn program(workspace: &Workspace) -> Result<String> {
    let below = tree(workspace, PROGRAM, &[])?;
    let found = among(&below, MORE_THAN_C);
    ensure!(found.is_empty(), "{PROGRAM} needs more than a C compiler: {}", found.join(", "));
    let planted = tree(workspace, WITH_MORE, &[])?;
    let seen = among(&planted, MORE_THAN_C);
    ensure!(!seen.is_empty(), "canary: {WITH_MORE} needs cmake, and that was not seen");
    for library in below.iter().filter(|name| name.starts_with("gambeson") && *name != PROGRAM) {
        let has_ring = tree(workspace, library, &[])?.contains(RING);
        ensure!(!has_ring, "{library} has {RING} without the feature {} of {}", WITH_RING.1, WITH_RING.0);
    }
    let with_ring = tree(workspace, WITH_RING.0, &["--features", WITH_RING.1])?;
    ensure!(with_ring.contains(RING), "canary: {WITH_RING:?} has {RING}, and that was not seen");
    Ok(format!(
        "{} packages below {PROGRAM}, none of {}; {RING} through NATS alone",
        below.len(),
        MORE_THAN_C.join(", ")
    ))
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

fn foreign(names: &BTreeSet<String>) -> Vec<&str> {
    let is = |name: &&str| TOOLS.contains(name) || name.ends_with(BINDINGS);
    names.iter().map(String::as_str).filter(is).collect()
}

fn among<'a>(names: &BTreeSet<String>, packages: &[&'a str]) -> Vec<&'a str> {
    packages.iter().copied().filter(|name| names.contains(*name)).collect()
}
