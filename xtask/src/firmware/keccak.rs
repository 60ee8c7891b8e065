//! The permutations of both processors against the text of the standard, whole and broken.

use super::image::{self, CORTEX_M4, Image, RV32, Target};
use super::rows;
use crate::mutation::{self, Mutation};
use crate::run::Workspace;
use anyhow::{Result, ensure};
use std::fs;

/// At which level, what a processor's kernels are called, and mutations that its test must see.
const KERNELS: [(&Target, &str, &str, &[Mutation]); 3] = [
    // `cargo xtask thumb` breaks these.
    (&CORTEX_M4, "3", "armv7em", &[]),
    (
        &CORTEX_M4,
        "s",
        "armv7em",
        // The bits that ι of odd halves takes of a constant, without the uppermost.
        &[Mutation { mask: [0xffff, 0xffff], value: [0xf248, 0x048b], change: [0x0008, 0] }],
    ),
    (
        &RV32,
        "3",
        "rv32",
        &[
            // ι of the even half, of the constant's other half.
            Mutation { mask: [0xffff, 0xffff], value: [0x4014, 0x4833], change: [0x0040, 0] },
            // A word that is turned: OR of its two parts, into AND.
            Mutation { mask: [0xffff, 0xffff], value: [0x8e45, 0x5134], change: [0x0020, 0] },
        ],
    ),
];

/// Runs the test on both processors, of the first built for size too, and again for each mutation.
pub fn check(workspace: &Workspace) -> Result<String> {
    let mut broken = 0;
    for (target, level, name, mutations) in KERNELS {
        let package = "gambeson-firmware-keccak";
        let program = format!("keccak-{level}");
        let image = image::build(workspace, target, package, &program, &rows::variables("", level))?;
        let said = image.run(workspace, None)?;
        ensure!(said.contains(&format!("{name}\nas the standard\n")), "{}: {said}", target.name);
        for mutation in mutations {
            let (path, changed) = mutation::broken(&image.path, &[*mutation])?;
            let image = Image { target, path };
            let (well, said) = image.tried(workspace, None, None)?;
            let seen = !well && said.contains("another result");
            ensure!(seen, "canary: a broken permutation is not seen\n{said}");
            fs::remove_file(&image.path)?;
            broken += changed;
        }
    }
    Ok(format!("the permutation of two processors is the standard's; {broken} broken instructions seen"))
}
