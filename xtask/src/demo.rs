//! `cargo xtask demo`: the program, built by the README's command, and its demonstration.

use crate::run::Workspace;
use anyhow::{Result, ensure};
use std::ffi::OsString;
use std::path::PathBuf;

/// The README's command, so that neither builds what the other has built.
const BUILD: [&str; 6] = ["build", "--release", "-p", "gambeson-cli", "-p", "gambeson-openssl"];

/// Builds the program as it is released.
pub fn build(workspace: &Workspace) -> Result<PathBuf> {
    workspace.logged("build-release", &mut workspace.cargo(&BUILD))?;
    Ok(workspace.built("release", "gambeson"))
}

/// Builds the program, with cargo's progress on the terminal, and runs its demonstration. Returns whether that ended well.
pub fn run(workspace: &Workspace, arguments: &[OsString]) -> Result<bool> {
    ensure!(workspace.cargo(&BUILD).status()?.success(), "cargo {} failed", BUILD.join(" "));
    let mut demo = workspace.command(workspace.built("release", "gambeson"), &["demo"]);
    Ok(demo.args(arguments).status()?.success())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;
    use std::process::Command;

    #[test]
    fn the_readme_has_the_same_command() {
        let readme = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../README.md")).unwrap();
        assert!(readme.contains(&format!("\ncargo {} ", BUILD.join(" "))));
    }

    /// What both stand on is compiled once only if it has the same features for both.
    #[test]
    fn this_program_has_other_peoples_crates_as_the_program_has_them() {
        let (of_xtask, of_the_program) = (features(&["-p", "xtask"]), features(&BUILD[2..]));
        let both: Vec<_> = of_xtask
            .iter()
            .filter(|(package, _)| of_the_program.iter().any(|(other, _)| other == package))
            .collect();
        assert!(both.len() > 10, "{} packages are in both", both.len());
        let differ: Vec<_> = both.into_iter().filter(|built| !of_the_program.contains(*built)).collect();
        assert!(differ.is_empty(), "the program has others than {differ:?}: xtask/Cargo.toml");
    }

    /// Each package of other people, by name and version, with its features; those that run in the compiler may have others.
    fn features(selected: &[&str]) -> BTreeSet<(String, String)> {
        let mut tree = Command::new("cargo");
        tree.args(["tree", "--edges", "normal,build", "--prefix", "none", "--format", "{p};{f}"]);
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let output = tree.args(selected).current_dir(root).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let text = String::from_utf8(output.stdout).unwrap();
        let lines = text.lines().filter_map(|line| line.trim_end_matches(" (*)").split_once(';'));
        // A package of ours has its folder after its version.
        let theirs = lines.filter(|(package, _)| !package.contains("(/"));
        theirs.map(|(package, features)| (package.to_owned(), features.to_owned())).collect()
    }
}
