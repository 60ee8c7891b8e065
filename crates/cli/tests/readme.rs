//! The minutes of the front page that need nothing but the program, run as they are printed.

#![cfg(unix)]
#![allow(clippy::unwrap_used)]

mod program;

use program::{Folder, Outcome, finish};
use std::path::Path;
use std::process::Command;

/// The lines for the shell under a heading of the front page.
fn minute(heading: &str) -> String {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    let page = std::fs::read_to_string(page).unwrap();
    let (_, below) = page.split_once(&format!("\n## {heading}\n")).unwrap();
    let (_, lines) = below.split_once("```sh\n").unwrap();
    lines.split_once("```").unwrap().0.to_owned()
}

/// What a shell does with these lines: the first that fails ends it.
fn done(lines: &str) -> Outcome {
    let folder = Folder::new();
    let program = Path::new(env!("CARGO_BIN_EXE_gambeson")).parent().unwrap().to_owned();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths([program].into_iter().chain(std::env::split_paths(&path))).unwrap();
    let mut shell = Command::new("sh");
    shell.args(["-euc", lines]).current_dir(folder.path("")).env("PATH", path).env("TMPDIR", folder.path(""));
    shell.env_remove("GAMBESON_PASSPHRASE").env_remove("GAMBESON_HOME");
    finish(shell, b"")
}

#[test]
fn the_minute_of_agents_runs_as_printed() {
    let told = done(&minute("A minute for a builder of agents")).exits(0);
    let text = told.text();
    for line in ["not twice", "not any more"] {
        assert!(text.lines().any(|told| told == line), "no {line:?} in {text}");
    }
    assert_eq!(text.lines().filter(|line| *line == "meet at noon").count(), 2, "{text}");
    assert_eq!(text.matches("NOT VERIFIED").count(), 2, "{text}");
}

#[test]
fn the_minute_of_the_program_runs_as_printed() {
    let lines = minute("A minute with the program");
    let (build, lines) = lines.split_once('\n').unwrap();
    assert!(build.starts_with("cargo build "), "the program that runs here was built already");
    let told = done(lines).exits(0);
    assert!(told.text().contains("kernels:"), "{}", told.text());
}
