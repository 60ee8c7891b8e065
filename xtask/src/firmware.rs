//! `cargo xtask firmware`: programs for small devices, run under QEMU with a plugin of ours that measures them.
//!
//! # Layout
//!
//! * `image`: building and running them
//! * `rows`: the figures of each operation, and the peers'; `limits`: what they must keep to
//! * `trace`: constant time; `keccak`: the permutation; `vectors`: the self-test; `board`: what is built for a real one
//! * `exchange`: the peers
//! * `page`, `plot`: docs/embedded

mod board;
pub mod exchange;
mod image;
mod keccak;
mod limits;
mod page;
mod plot;
mod rows;
mod trace;
mod vectors;

use crate::args::Bench;
use crate::run::{Workspace, side_by_side};
use anyhow::{Context, Result, ensure};
use limits::{Missed, Verdict};
use std::fs;
use std::io::{IsTerminal, stderr, stdout};

pub use image::missing;
pub use keccak::check as keccak;
pub use limits::stack_on_cortex_m4;

/// Measures every row, prints them and writes docs/embedded. Returns whether all is well.
pub fn bench(workspace: &Workspace, asked: &Bench) -> Result<bool> {
    let plugin = image::plugin(workspace)?;
    let mut built = Vec::new();
    for target in image::MEASURED {
        built.extend(rows::build(workspace, target, asked.only.as_deref().unwrap_or_default())?);
    }
    let rows = side_by_side(&built, |_, built| built.measure(workspace, &plugin))?;
    ensure!(!rows.is_empty(), "no row has that in its name");
    let read = |file: &str| fs::read_to_string(workspace.root.join(file)).with_context(|| file.to_owned());
    let peers = rows::peers(&read(rows::PEERS)?)?;
    let missed = Missed::read(&read(limits::MISSED)?)?;
    let verdicts = limits::judge(&rows, &peers);
    if asked.json {
        for row in &rows {
            println!("{}", page::json(row, &verdicts, &missed)?);
        }
    } else {
        let red = |line: &str| red(line, stdout().is_terminal());
        print!("{}", page::text(&rows, &verdicts, &missed, red));
    }
    let failed: Vec<&Verdict<'_>> = verdicts.iter().filter(|verdict| !verdict.is_met()).collect();
    let faults = missed.faults(&verdicts, asked.only.is_none());
    for line in failed.iter().map(|verdict| page::sentence(verdict, &missed)).chain(faults.clone()) {
        eprintln!("missed: {}", red(&line, stderr().is_terminal()));
    }
    eprintln!("{} rows; of {} limits {} are missed", rows.len(), verdicts.len(), failed.len());
    if asked.only.is_none() {
        let folder = workspace.root.join("docs/embedded");
        fs::write(folder.join("README.md"), page::markdown(&rows, &peers, &verdicts, &missed))?;
        plot::write(workspace, &folder.join("stack.svg"), &rows, &peers)?;
    }
    Ok(!asked.check || failed.is_empty() && faults.is_empty())
}

/// The self-test and the demonstration on both processors, and constant time. Returns how many checks passed, and a sentence.
pub fn check(workspace: &Workspace) -> Result<(usize, String)> {
    let mut tests = workspace.linted(&["test", "--quiet", "--locked", "--profile", "host"]);
    tests.args(["--manifest-path", "firmware/Cargo.toml"]);
    tests.args(["-p", "gambeson-firmware-plugin", "-p", "gambeson-firmware-update"]);
    let (passed, failed, _) = crate::report::test_results(&workspace.logged("firmware-tests", &mut tests)?);
    ensure!(passed > 10 && failed == 0, "{passed} tests of the plugin and of signed images");
    let vectors = vectors::check(workspace, false)?;
    for target in image::TARGETS {
        let package = "gambeson-firmware-demo";
        let said = image::build(workspace, target, package, package, &[])?.run(workspace, None)?;
        let is_whole = said.contains("ok: refused version 6");
        ensure!(is_whole, "{} ended without its last line:\n{said}", target.name);
    }
    let traces = trace::check(workspace, &image::plugin(workspace)?, false)?;
    let keccak = keccak::check(workspace)?;
    let board = board::check(workspace, &board::FIRST)?;
    Ok((passed + 6, format!("on two processors {vectors}; the demonstration; {traces}; {keccak}; {board}")))
}

/// The builds for a board that `check` leaves out.
pub fn boards(workspace: &Workspace) -> Result<String> {
    board::check(workspace, &board::OTHERS)
}

/// Only the self-test, on all published vectors.
pub fn vectors(workspace: &Workspace) -> Result<String> {
    vectors::check(workspace, true)
}

/// Only constant time, at every level.
pub fn constant_time(workspace: &Workspace) -> Result<String> {
    trace::check(workspace, &image::plugin(workspace)?, true)
}

fn red(text: &str, on_a_terminal: bool) -> String {
    if on_a_terminal { format!("\u{1b}[31m{text}\u{1b}[0m") } else { text.into() }
}
