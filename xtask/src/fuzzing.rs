//! The fuzz targets, each for a minute.

use crate::run::{Workspace, installed};
use anyhow::{Context, Result, bail};
use serde::Deserialize;
use std::fs;
use std::path::PathBuf;

#[derive(Deserialize)]
struct Manifest {
    bin: Vec<Target>,
}

#[derive(Deserialize)]
struct Target {
    name: String,
}

/// The names in `fuzz/Cargo.toml`.
fn targets(manifest: &str) -> Result<Vec<String>> {
    let manifest: Manifest = toml::from_str(manifest)?;
    Ok(manifest.bin.into_iter().map(|target| target.name).collect())
}

/// cargo-fuzz, installed into the target folder if this machine has none.
fn tool(workspace: &Workspace) -> Result<PathBuf> {
    if installed("cargo-fuzz") {
        return Ok("cargo-fuzz".into());
    }
    let root = workspace.target.join("tools");
    let program = root.join("bin/cargo-fuzz");
    if !program.exists() {
        let mut install = workspace.cargo(&[
            "install",
            "--quiet",
            "--locked",
            "cargo-fuzz",
            "--version",
            "0.13.2",
            "--root",
        ]);
        workspace.logged("install-cargo-fuzz", install.arg(&root))?;
    }
    Ok(program)
}

/// Runs every target for so many seconds.
pub fn run(workspace: &Workspace, seconds: u32) -> Result<String> {
    let manifest = fs::read_to_string(workspace.root.join("fuzz/Cargo.toml")).context("fuzz/Cargo.toml")?;
    let program = tool(workspace)?;
    let names = targets(&manifest)?;
    let mut errors = Vec::new();
    for name in &names {
        let mut fuzz = workspace.command(&program, &["fuzz", "run", "--release", name, "--"]);
        fuzz.arg(format!("-max_total_time={seconds}")).args([
            "-timeout=120",
            "-rss_limit_mb=4096",
            "-print_final_stats=1",
        ]);
        fuzz.current_dir(workspace.root.join("fuzz")).env("RUSTUP_TOOLCHAIN", "nightly");
        match workspace.logged(&format!("fuzz-{name}"), &mut fuzz) {
            Ok(text) => {
                let runs = text.lines().find_map(|line| line.strip_prefix("stat::number_of_executed_units:"));
                println!("    {name}: {} runs", runs.unwrap_or("?").trim());
            }
            Err(error) => errors.push(format!("{name}: {error:#}")),
        }
    }
    if !errors.is_empty() {
        bail!("{}", errors.join("\n"));
    }
    Ok(format!("{} targets, {seconds} s each, no finding", names.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn target_names_are_read() {
        let manifest =
            "[package]\nname = \"fuzz\"\n[[bin]]\nname = \"a\"\npath = \"a.rs\"\n[[bin]]\nname = \"b\"\n";
        assert_eq!(targets(manifest).expect("TOML"), ["a", "b"]);
    }
}
