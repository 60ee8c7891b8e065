//! `cargo xtask firmware`: programs for small devices, run under QEMU with a plugin of ours that measures them.
//!
//! # Layout
//!
//! * `image`: building and running them
//! * `rows`: the figures of each operation, and the peers'; `limits`: what they must keep to
//! * `trace`: constant time; `keccak`: the permutation
//! * `exchange`: the peers
//! * `page`, `plot`: docs/embedded

pub mod exchange;
mod image;
mod keccak;
mod limits;
mod page;
mod plot;
mod rows;
mod trace;

use crate::run::{Workspace, side_by_side};
use anyhow::{Context, Result, ensure};
use limits::{Missed, Verdict};
use rows::Row;
use std::fs;
use std::io::{IsTerminal, stderr};

pub use image::{missing, provide};

/// How the bench was asked for.
pub struct Bench {
    /// One JSON object a line.
    pub json: bool,
    /// A row that misses its limit is a failure.
    pub check: bool,
    /// A part of the name of the rows that are measured; the pages are written only by a run of all.
    pub only: Option<String>,
}

/// Measures every row, prints them and writes docs/embedded. Returns whether all is well.
pub fn bench(workspace: &Workspace, asked: &Bench) -> Result<bool> {
    if let Some(missing) = missing() {
        anyhow::bail!("{missing} is not here");
    }
    let rows = measure(workspace, asked.only.as_deref().unwrap_or_default())?;
    ensure!(!rows.is_empty(), "no row has that in its name");
    let read = |file: &str| fs::read_to_string(workspace.root.join(file)).with_context(|| file.to_owned());
    let peers = rows::peers(&read(rows::PEERS)?)?;
    let missed = Missed::read(&read(limits::MISSED)?)?;
    let verdicts = limits::judge(&rows, &peers);
    if asked.json {
        for row in &rows {
            println!("{}", serde_json::to_string(row)?);
        }
    } else {
        print!("{}", page::text(&rows, &verdicts));
    }
    let failed: Vec<&Verdict> = verdicts.iter().filter(|verdict| !verdict.is_met()).collect();
    for verdict in &failed {
        eprintln!("{}", red(&page::sentence(verdict, &missed)));
    }
    eprintln!("{} rows; of {} limits {} are missed", rows.len(), verdicts.len(), failed.len());
    if asked.only.is_none() {
        let folder = workspace.root.join("docs/embedded");
        fs::write(folder.join("README.md"), page::markdown(&rows, &peers, &verdicts, &missed))?;
        plot::write(&folder.join("stack.svg"), &rows, &peers)?;
    }
    Ok(!asked.check || failed.is_empty())
}

/// The self-test and the demonstration on both processors, and constant time. Returns how many checks passed, and a sentence.
pub fn check(workspace: &Workspace) -> Result<(usize, String)> {
    let mut tests = workspace.cargo(&["test", "--quiet", "--locked", "--profile", "host"]);
    tests.args([
        "--manifest-path",
        "firmware/Cargo.toml",
        "-p",
        "gambeson-firmware-plugin",
        "-p",
        "gambeson-firmware-update",
    ]);
    let (passed, failed, _) = crate::test::test_results(&workspace.logged("firmware-tests", &mut tests)?);
    ensure!(passed > 10 && failed == 0, "{passed} tests of the plugin and of signed images");
    let mut images = Vec::new();
    for target in image::TARGETS {
        for package in ["gambeson-firmware-selftest", "gambeson-firmware-demo"] {
            images.push(image::build(workspace, target, package, package, &[])?);
        }
    }
    let said = side_by_side(&images, |_, image| image.run(workspace, None))?;
    for (image, said) in images.iter().zip(&said) {
        let well = said.contains("runs, ") || said.contains("ok: refused version 6");
        ensure!(well, "{} ended without its last line:\n{said}", image.path.display());
    }
    let traces = trace::check(workspace, &image::plugin(workspace)?, false)?;
    let keccak = keccak::check(workspace)?;
    Ok((
        passed + images.len() + 2,
        format!("the vectors and the demonstration on two processors; {traces}; {keccak}"),
    ))
}

/// Only the permutation.
pub fn keccak(workspace: &Workspace) -> Result<String> {
    keccak::check(workspace)
}

/// Only constant time, at every level.
pub fn constant_time(workspace: &Workspace) -> Result<String> {
    trace::check(workspace, &image::plugin(workspace)?, true)
}

fn measure(workspace: &Workspace, only: &str) -> Result<Vec<Row>> {
    let plugin = image::plugin(workspace)?;
    let mut built = Vec::new();
    for target in image::MEASURED {
        built.extend(rows::build(workspace, target, only)?);
    }
    side_by_side(&built, |_, built| built.measure(workspace, &plugin))
}

fn red(text: &str) -> String {
    if stderr().is_terminal() { format!("\u{1b}[31m{text}\u{1b}[0m") } else { text.into() }
}
