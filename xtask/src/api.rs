//! The public API of each published library, as text under version control: a change is seen in the diff.

use crate::checks;
use crate::run::Workspace;
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

/// Compares every library with its snapshot, or (`bless`) writes the snapshots.
pub fn check(workspace: &Workspace, bless: bool) -> Result<String> {
    let folder = workspace.root.join("docs/public-api");
    fs::create_dir_all(&folder)?;
    documented(workspace)?;
    let (mut items, mut errors, mut libraries) = (0, Vec::new(), 0);
    for package in published_libraries(workspace)? {
        let api = public_api(workspace, &package)?;
        items += api.lines().count();
        libraries += 1;
        let path = folder.join(format!("{package}.txt"));
        if bless {
            fs::write(&path, &api)?;
            continue;
        }
        let known = fs::read_to_string(&path).unwrap_or_default();
        let difference = difference(&known, &api);
        if !difference.is_empty() {
            errors.push(format!("{package}:\n{}", difference.join("\n")));
        }
        ensure!(!difference_is_blind(&api), "canary: a changed line of {package} was not seen");
    }
    let said = errors.join("\n");
    ensure!(errors.is_empty(), "{said}\n(meant? `cargo xtask api --bless`, and CHANGELOG.md)");
    Ok(format!("{items} public items of {libraries} libraries, as in docs/public-api"))
}

/// Rustdoc's JSON of every library, as text: of the pinned toolchain, which gives it only to those who say that it may change.
fn documented(workspace: &Workspace) -> Result<()> {
    let rustdoc = workspace.target.join("xtask/rustdoc-json");
    fs::write(&rustdoc, "#!/bin/sh\nRUSTC_BOOTSTRAP=1 exec rustdoc \"$@\"\n")?;
    fs::set_permissions(&rustdoc, Permissions::from_mode(0o755))?;
    let mut doc = checks::document(workspace);
    doc.env("RUSTDOC", &rustdoc);
    doc.env("RUSTDOCFLAGS", "-Zunstable-options --output-format json --cap-lints allow");
    workspace.logged("api", &mut doc).map(drop)
}

fn public_api(workspace: &Workspace, package: &str) -> Result<String> {
    let json = workspace.target.join("doc").join(format!("{}.json", package.replace('-', "_")));
    let output = workspace.target.join("xtask/public-api.txt");
    workspace
        .tool("public-api", &["--json".as_ref(), json.as_ref(), "--output".as_ref(), output.as_ref()])?;
    fs::read_to_string(&output).with_context(|| output.display().to_string())
}

fn published_libraries(workspace: &Workspace) -> Result<Vec<String>> {
    let metadata = workspace.metadata("", &["--no-deps"])?;
    let packages = metadata["packages"].as_array().into_iter().flatten();
    // The library inside a program's package is nobody's to call.
    let is_library = |package: &&Value| {
        let targets = package["targets"].as_array().into_iter().flatten();
        let kinds: Vec<&Value> = targets.flat_map(|target| target["kind"].as_array()).flatten().collect();
        let has = |wanted: &str| kinds.iter().any(|kind| *kind == wanted);
        package["publish"].is_null() && has("lib") && !has("bin")
    };
    let names = packages.filter(is_library).filter_map(|package| package["name"].as_str());
    Ok(names.map(str::to_owned).collect())
}

/// The lines that only one of two texts has, marked `-` and `+`.
fn difference(old: &str, new: &str) -> Vec<String> {
    let only = |mark, one: &str, other: &str| {
        let lines = one.lines().filter(|line| !other.lines().any(|it| it == *line));
        lines.map(|line| format!("{mark}{line}")).collect::<Vec<_>>()
    };
    [only('-', old, new), only('+', new, old)].concat()
}

fn difference_is_blind(api: &str) -> bool {
    api.lines()
        .next()
        .is_some_and(|line| difference(&api.replacen(line, "pub fn planted()", 1), api).is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_come_and_go_are_shown() {
        assert_eq!(difference("a\nb\n", "b\nc\n"), ["-a", "+c"]);
        assert!(difference("a\n", "a\n").is_empty());
        assert!(!difference_is_blind("pub fn f()\n"));
    }
}
