//! The self-test on both processors, with the published vectors as `xtask-tools` writes them.

use super::image;
use crate::run::{Workspace, side_by_side, tail};
use anyhow::{Result, ensure};
use std::ffi::OsStr;
use std::fs;

/// Kinds of cases, of each of which there is a file with a false verdict.
const KINDS: u8 = 8;

/// Runs the self-test on both processors: on all cases, or on a part; then on one false verdict of each kind, which it must see.
pub fn check(workspace: &Workspace, whole: bool) -> Result<String> {
    let folder = workspace.target.join("xtask/firmware").join(if whole { "cases" } else { "cases-short" });
    let mut arguments = vec![OsStr::new("--output"), folder.as_os_str()];
    arguments.extend(whole.then_some(OsStr::new("--whole")));
    let said = workspace.tool("vectors", &arguments)?;
    let expected = said.trim();
    let package = "gambeson-firmware-selftest";
    let images = image::TARGETS.map(|target| image::build(workspace, target, package, package, &[]));
    let images = images.into_iter().collect::<Result<Vec<_>>>()?;
    side_by_side(&images, |_, image| {
        // The program reads the file beside it.
        let vectors = image.path.with_file_name("vectors");
        fs::copy(folder.join("vectors"), &vectors)?;
        let said = image.run(workspace, None)?;
        ensure!(said.contains(expected), "{}: not {expected}:\n{said}", image.path.display());
        for kind in 1..=KINDS {
            fs::copy(folder.join(format!("false-{kind}")), &vectors)?;
            let (well, said) = image.tried(workspace, None, None)?;
            let seen = !well && said.contains("not as published");
            ensure!(seen, "canary: a false verdict of kind {kind} is not seen:\n{}", tail(&said, 5));
        }
        Ok(())
    })?;
    Ok(format!("{expected}, and false verdicts of {KINDS} kinds seen"))
}
