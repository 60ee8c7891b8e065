//! Constant time on small processors: equal traces for eight secrets, and no division.

use super::image::{self, Image, Target};
use super::rows;
use crate::constant_time;
use crate::run::Workspace;
use anyhow::{Context, Result, bail, ensure};
use std::fs;
use std::path::Path;

/// The levels that the profiles of the bench have, the last on the Cortex-M4 alone.
const LEVELS: [&str; 3] = ["3", "s", rows::FAST_FOR_SIZE];

/// How many secrets each operation runs on.
const SECRETS: usize = 8;

/// Operations of a program: of each set of ML-KEM three by either schedule and in a workspace, and two with keys on the heap; of each of
/// ML-DSA three ways to sign, an import and an attempt; a permutation; twenty kernels.
const OPERATIONS: usize = 3 * (3 * 3 + 2) + 3 * (3 + 2) + 1 + 20;

/// An operation, and the hashes of its traces.
struct Traced {
    /// `trace` or `canary`, and the name.
    name: String,
    hashes: Vec<String>,
}

/// Traces every operation on both processors: at one level each, or `at_all`. What is planted must be seen.
pub fn check(workspace: &Workspace, plugin: &Path, at_all: bool) -> Result<String> {
    let (mut operations, mut planted, mut programs) = (0, 0, 0);
    for (place, target) in image::TARGETS.into_iter().enumerate() {
        for level in if at_all { &LEVELS[..3 - place] } else { &LEVELS[place..=place] } {
            programs += 1;
            let (package, program) = ("gambeson-firmware-trace", format!("trace-{level}"));
            let image = image::build(workspace, target, package, &program, &rows::variables("", level))?;
            let traced = traced(&image.run(workspace, Some(plugin))?)?;
            for Traced { name, hashes } in &traced {
                let canary = name.starts_with("canary ");
                let differ = hashes.iter().any(|hash| *hash != hashes[0]);
                ensure!(hashes.len() == SECRETS, "{name}: {} regions", hashes.len());
                match (canary, differ) {
                    (false, true) => {
                        let difference = difference(workspace, &image, plugin, name)?;
                        bail!("{}, {level}, {name}: {difference}", target.name)
                    }
                    (true, false) => bail!("canary: {name} has one trace on {}", target.name),
                    (true, true) => planted += 1,
                    (false, false) => operations += 1,
                }
            }
            divisions(workspace, target, &image)?;
        }
    }
    let all = OPERATIONS * programs;
    let ran = (operations, planted) == (all, 2 * programs);
    ensure!(ran, "{operations} operations of {all}, {planted} planted");
    Ok(format!(
        "{operations} operations with one trace for {SECRETS} secrets, no division; {planted} planted branches and indices seen"
    ))
}

fn traced(text: &str) -> Result<Vec<Traced>> {
    let mut all: Vec<Traced> = Vec::new();
    for line in text.lines() {
        if line.starts_with("trace ") || line.starts_with("canary ") {
            all.push(Traced { name: line.to_owned(), hashes: Vec::new() });
        } else if line.starts_with("@region ") {
            let mut regions = rows::regions(line)?;
            let region = regions.pop().context("a region")?;
            all.last_mut().context("a region before any operation")?.hashes.push(region.trace);
        }
    }
    Ok(all)
}

/// Where the traces of an operation part: runs the program again, with their lists.
fn difference(workspace: &Workspace, image: &Image, plugin: &Path, name: &str) -> Result<String> {
    let file = workspace.target.join("xtask/firmware/traces");
    let (_, text) = image.tried(workspace, Some(plugin), Some(&file))?;
    let place = traced(&text)?.iter().position(|traced| traced.name == name).context("the operation")?;
    let bytes = fs::read(&file)?;
    fs::remove_file(&file)?;
    let entries: Vec<u64> = bytes.as_chunks().0.iter().map(|entry| u64::from_le_bytes(*entry)).collect();
    let regions: Vec<&[u64]> =
        entries.split(|entry| entry >> 32 == END).skip(place * SECRETS).take(SECRETS).collect();
    let first = regions.first().context("the list has the regions")?;
    for region in &regions {
        if let Some(at) = first.iter().zip(*region).position(|(one, other)| one != other) {
            let code = first[..at].iter().rev().find(|entry| **entry >> 32 == 0).copied().unwrap_or(0);
            let file = image.path.display();
            return Ok(format!(
                "traces part after {at} steps, behind the instruction at {code:#x} of {file}"
            ));
        }
    }
    Ok(String::from("traces differ in length"))
}

/// The kind of the entry behind each region in the plugin's list.
const END: u64 = 3;

/// No function of the program divides, but the one that was planted.
fn divisions(workspace: &Workspace, target: &Target, image: &Image) -> Result<()> {
    let found = constant_time::dividing_functions(&image.disassembly(workspace)?, |_| true);
    let names = found.divisions.into_iter().map(|(name, _)| name);
    let (planted, others): (Vec<_>, Vec<_>) = names.partition(|name| name.contains("planted_division"));
    ensure!(!planted.is_empty(), "canary: the planted division was not found on {}", target.name);
    ensure!(others.is_empty(), "{}: these divide: {others:?}", image.path.display());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_belong_to_the_operation_before_them() {
        let region = |hash| format!("@region instructions=1 cycles=1 stack=0 trace={hash}\n");
        let text = format!("trace a\n{}{}canary b\n{}", region(1), region(2), region(3));
        let all = traced(&text).unwrap();
        assert_eq!((all[0].hashes.len(), all[1].name.as_str(), all[1].hashes.len()), (2, "canary b", 1));
        assert!(traced(&region(1)).is_err());
    }
}
