//! The core's tests with the kernels for Armv7E-M, under qemu: in a target that has an operating system, the same instructions,
//! and the sponges of 32-bit machines.

use crate::aarch64::{LEFT_OUT, tests};
use crate::bare::Compiler;
use crate::mutation::{self, Mutation};
use crate::report::test_results;
use crate::run::{Workspace, installed, side_by_side, tail};
use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::Path;
use std::process::Command;

const TARGET: &str = "thumbv7neon-unknown-linux-gnueabihf";
const EMULATOR: &str = "qemu-arm";
const LINKER: &str = "arm-linux-gnueabihf-gcc";
/// Debian's cross C library.
const ROOT: &str = "/usr/arm-linux-gnueabihf";

/// What this machine lacks, if anything.
pub fn missing() -> Option<&'static str> {
    let compiler = Compiler::for_target(TARGET).is_none().then_some("a compiler for thumb");
    let is_missing = |tool: &&str| !installed(tool) && !Path::new(tool).is_dir();
    compiler.or_else(|| [EMULATOR, LINKER, ROOT].into_iter().find(is_missing))
}

/// Builds and tests everything. Returns the number of tests and a sentence.
pub fn check(workspace: &Workspace) -> Result<(usize, String)> {
    // Where the compiler chooses there is one table, and no level to compare with it; ML-DSA's vectors are run by firmware.
    let selected = ["--config", "profile.release.lto='off'", "--lib", "--tests"];
    let programs = tests(workspace, "thumb-tests", TARGET, LINKER, &selected)?;
    let passed = side_by_side(&programs, |_, program| {
        let mut command = emulate(workspace, &program.path);
        command.args(match &*program.name {
            "suite" => &["sha3::", "mlkem::"][..],
            "levels" => &["mlkem_batches::", "mldsa_many::"],
            _ => &[],
        });
        command.args(LEFT_OUT.iter().flat_map(|name| ["--skip", name]));
        let name = format!("thumb-{}", program.name);
        let text = workspace.logged(&name, &mut command)?;
        let (ran, failed, _) = test_results(&text);
        ensure!(ran > 0 && failed == 0, "{name}: {ran} tests passed\n{}", tail(&text, 40));
        Ok(ran)
    })?;
    let passed: usize = passed.iter().sum();
    let units = programs.iter().find(|program| program.name == "gambeson").context("no unit tests")?;
    let mut broken = 0;
    // Breaks the kernels in the machine code of the unit tests: the test must fail.
    for (mutation, test) in MUTATIONS {
        let (path, changed) = mutation::broken(&units.path, &[mutation])?;
        let mut command = emulate(workspace, &path);
        let (success, text) = workspace.tried("thumb-broken", command.args(["--exact", test]))?;
        let failed = text.contains(&format!("test {test} ... FAILED"));
        ensure!(!success && failed, "canary: {test} does not see a broken kernel\n{text}");
        fs::remove_file(&path)?;
        broken += changed;
    }
    let note = format!("{passed} tests; {} of them saw {broken} broken instructions", MUTATIONS.len());
    Ok((passed, note))
}

fn emulate(workspace: &Workspace, program: &Path) -> Command {
    let mut command = workspace.command(EMULATOR, &["-L", ROOT]);
    command.arg(program);
    command
}

/// Mutations, each with the test that must see it.
const MUTATIONS: [(Mutation, &str); 3] = [
    // UADD16 into USUB16.
    (
        Mutation { mask: [0xfff0, 0xf0f0], value: [0xfa90, 0xf040], change: [0x0040, 0] },
        "mlkem::kernels::tests::every_table_computes_what_the_portable_one_does",
    ),
    // SMLAL of r2, r3 and r12, as ML-DSA's transforms have it, into UMLAL.
    (
        Mutation { mask: [0xffff, 0xf0ff], value: [0xfbc3, 0x200c], change: [0x0020, 0] },
        "mldsa::kernels::tests::the_inverse_of_a_product_is_the_product_in_the_ring",
    ),
    // BIC of r10 and r9, turned right, to r11 into ORR: of any registers, halves of other instructions look like it.
    (
        Mutation { mask: [0xffff, 0x8f3f], value: [0xea2a, 0x0b39], change: [0x0060, 0] },
        "sha3::kernels::tests::every_table_permutes_any_number_of_states_as_the_portable_one",
    ),
];
