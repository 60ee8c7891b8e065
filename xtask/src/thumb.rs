//! The core's tests with the kernels for Armv7E-M, under qemu: in a target that has an operating system, the same instructions,
//! and the sponges of 32-bit machines.

use crate::aarch64::{LEFT_OUT, Program, tests};
use crate::bare::Compiler;
use crate::run::{Workspace, installed, tail};
use crate::test::test_results;
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
    if Compiler::for_target(TARGET).is_none() {
        Some("a compiler for thumb")
    } else {
        [EMULATOR, LINKER, ROOT].into_iter().find(|tool| !installed(tool) && !Path::new(tool).is_dir())
    }
}

/// Builds and tests everything. Returns the number of tests and a sentence.
pub fn check(workspace: &Workspace) -> Result<(usize, String)> {
    let programs = tests(workspace, "thumb-tests", TARGET, LINKER)?;
    let mut passed = 0;
    // Where the compiler chooses there is one table, and no level to compare with it; ML-DSA has no kernels here, and its vectors are
    // run by firmware.
    let left_out = ["mlkem_levels", "mldsa_levels", "mldsa"];
    for program in programs.iter().filter(|program| !left_out.contains(&program.name.as_str())) {
        let mut command = emulate(workspace, &program.path);
        command.args(LEFT_OUT.iter().flat_map(|name| ["--skip", name]));
        let name = format!("thumb-{}", program.name);
        let text = workspace.logged(&name, &mut command)?;
        let (ran, failed, _) = test_results(&text);
        ensure!(ran > 0 && failed == 0, "{name}: {ran} tests passed\n{}", tail(&text, 40));
        passed += ran;
    }
    let units = programs.iter().find(|program| program.name == "gambeson").context("no unit tests")?;
    let mut broken = 0;
    for mutation in &MUTATIONS {
        broken += mutation.seen(workspace, units)?;
    }
    let note = format!("{passed} tests; {} of them saw {broken} broken instructions", MUTATIONS.len());
    Ok((passed, note))
}

fn emulate(workspace: &Workspace, program: &Path) -> Command {
    let mut command = workspace.command(EMULATOR, &["-L", ROOT]);
    command.arg(program);
    command
}

/// An instruction that only our kernels have, turned into another one, and the test that must see it. Masks, values and what
/// changes, of two half-words.
struct Mutation {
    mask: [u16; 2],
    value: [u16; 2],
    change: u16,
    test: &'static str,
}

const MUTATIONS: [Mutation; 2] = [
    // UADD16 into USUB16.
    Mutation {
        mask: [0xfff0, 0xf0f0],
        value: [0xfa90, 0xf040],
        change: 0x0040,
        test: "mlkem::kernels::tests::every_table_computes_what_the_portable_one_does",
    },
    // BIC of a register that is turned right into ORR.
    Mutation {
        mask: [0xfff0, 0x8030],
        value: [0xea20, 0x0030],
        change: 0x0060,
        test: "sha3::kernels::tests::every_table_permutes_any_number_of_states_as_the_portable_one",
    },
];

impl Mutation {
    /// Breaks the kernels in the machine code of the unit tests: the test must fail. How many instructions were changed.
    fn seen(&self, workspace: &Workspace, program: &Program) -> Result<usize> {
        let mut file = fs::read(&program.path)?;
        let mut changed = 0;
        for (start, length) in executable_sections(&file).context("not a 32-bit ELF file")? {
            let code = file.get_mut(start..start + length).context("a section beyond the file")?;
            let halves = code.as_chunks_mut::<2>().0;
            for at in 1..halves.len() {
                let found = [u16::from_le_bytes(halves[at - 1]), u16::from_le_bytes(halves[at])];
                if [found[0] & self.mask[0], found[1] & self.mask[1]] == self.value {
                    halves[at - 1] = (found[0] ^ self.change).to_le_bytes();
                    changed += 1;
                }
            }
        }
        ensure!(changed > 0, "canary: the kernels have no instruction {:x?}", self.value);
        let path = program.path.with_extension("broken");
        // Copied for its permissions.
        fs::copy(&program.path, &path)?;
        fs::write(&path, file)?;
        let mut command = emulate(workspace, &path);
        let (success, text) = workspace.tried("thumb-broken", command.args(["--exact", self.test]))?;
        let failed = text.contains(&format!("test {} ... FAILED", self.test));
        ensure!(!success && failed, "canary: {} does not see a broken kernel\n{text}", self.test);
        fs::remove_file(&path)?;
        Ok(changed)
    }
}

/// Offset and length of each section with instructions (System V ABI, chapter 4; 32-bit, little-endian).
fn executable_sections(file: &[u8]) -> Option<Vec<(usize, usize)>> {
    const EXECUTABLE: u32 = 4;
    let half = |at: usize| Some(usize::from(u16::from_le_bytes(*file.get(at..)?.first_chunk()?)));
    let word = |at: usize| Some(u32::from_le_bytes(*file.get(at..)?.first_chunk()?));
    if !file.starts_with(b"\x7fELF\x01\x01") {
        return None;
    }
    let (table, size, count) = (word(0x20)? as usize, half(0x2e)?, half(0x30)?);
    let mut sections = Vec::new();
    for header in (0..count).map(|i| table + i * size) {
        if word(header + 8)? & EXECUTABLE != 0 {
            sections.push((word(header + 0x10)? as usize, word(header + 0x14)? as usize));
        }
    }
    Some(sections)
}
