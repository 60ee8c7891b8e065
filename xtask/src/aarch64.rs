//! The core on aarch64, under qemu: its tests with and without the SHA3 extension, and traces of its operations.

use crate::bare::Compiler;
use crate::mutation::{self, Mutation, halves};
use crate::programs::{self, Program};
use crate::report::test_results;
use crate::run::{Workspace, installed, side_by_side, tail};
use anyhow::{Context, Result, bail, ensure};
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const TARGET: &str = "aarch64-unknown-linux-gnu";
const EMULATOR: &str = "qemu-aarch64";
const LINKER: &str = "aarch64-linux-gnu-gcc";
/// Debian's cross C library.
const ROOT: &str = "/usr/aarch64-linux-gnu";
const MANIFEST: &str = "gates/aarch64/Cargo.toml";

/// A processor that qemu knows, and the table that Keccak has on it.
struct Processor {
    name: &'static str,
    sha3: &'static str,
}

const WITH_SHA3: Processor = Processor { name: "max", sha3: "neon" };
const WITHOUT_SHA3: Processor = Processor { name: "cortex-a72", sha3: "portable" };

/// The programs of tests that compare kernels with each other.
const KERNELS: [&str; 5] = ["--lib", "--test", "levels", "--test", "plugged"];

/// Tests that take minutes under emulation, or as WebAssembly; a quicker one next to each of them compares the tables. The cases of
/// the last are run under every level by `mldsa_levels`.
pub const LEFT_OUT: &[&str] = &[
    "every_field_element_is_rounded_as_the_published_digest_says",
    "a_thousand_steps_give_the_known_digests",
    "a_thousand_steps_have_the_digest",
    "every_wycheproof_case_has_its_expected_result",
];

/// What this machine lacks, if anything.
pub fn missing() -> Option<&'static str> {
    if Compiler::for_target(TARGET).is_none() {
        Some("a compiler for aarch64")
    } else {
        [EMULATOR, LINKER, ROOT].into_iter().find(|tool| !installed(tool) && !Path::new(tool).is_dir())
    }
}

/// The program of operations, once built.
pub fn operations(workspace: &Workspace) -> Option<PathBuf> {
    let path = workspace.apart(TARGET).join(TARGET).join("release/gate-aarch64");
    path.exists().then_some(path)
}

/// Tests the kernels and traces everything on the processor with the extension. Returns the number of tests and a sentence.
pub fn check(workspace: &Workspace) -> Result<(usize, String)> {
    let programs = build(workspace, &KERNELS)?;
    let all: Vec<(&Program, &str)> = programs.iter().map(|program| (program, "")).collect();
    let (passed, note) = on(workspace, &WITH_SHA3, &all)?;
    Ok((passed, format!("{note}; {}", broken_kernels(workspace, find(&programs, "gambeson")?)?)))
}

/// Tests there what chooses no kernel by itself, and then the processor without the extension, with the programs that reach its other
/// permutation: ML-KEM's levels show it as well as ML-DSA's, in a fifth of the time.
pub fn check_the_others(workspace: &Workspace) -> Result<(usize, String)> {
    let programs = build(workspace, &[])?;
    let suite = run_tests(workspace, &WITH_SHA3, find(&programs, "suite")?, "")?;
    let some = [("gambeson", ""), ("suite", "sha3::"), ("levels", "mlkem_levels::")]
        .map(|(name, tests)| Ok((find(&programs, name)?, tests)));
    let (passed, note) = on(workspace, &WITHOUT_SHA3, &some.into_iter().collect::<Result<Vec<_>>>()?)?;
    Ok((suite + passed, format!("{suite} other tests on {}; {note}", WITH_SHA3.name)))
}

fn find<'a>(programs: &'a [Program], name: &str) -> Result<&'a Program> {
    let found = programs.iter().find(|program| program.name == name);
    found.with_context(|| format!("the build made no program of tests {name}"))
}

/// Runs programs of tests, of each the tests whose names contain a text, on a processor, and traces the operations.
fn on(
    workspace: &Workspace,
    processor: &Processor,
    programs: &[(&Program, &str)],
) -> Result<(usize, String)> {
    let passed =
        side_by_side(programs, |_, (program, tests)| run_tests(workspace, processor, program, tests))?;
    let passed: usize = passed.iter().sum();
    let operations = operations(workspace).context("the build left no gate-aarch64")?;
    let offered = list(workspace, processor, &operations, "neon")?;
    let tables = format!("tables: sha3 {}, mlkem neon, mldsa neon", processor.sha3);
    ensure!(offered.contains(&tables), "on {}: not {tables:?}\n{offered}", processor.name);
    let mut traced = Vec::new();
    for (kind, planted) in [("trace: ", false), ("canary: ", true)] {
        traced.extend(names(&offered, kind).into_iter().map(|operation| (operation.to_owned(), planted)));
    }
    let lengths = side_by_side(&traced, |_, (operation, planted)| {
        let traces = Trace::run(processor, &operations, "neon", operation)?;
        match (traces.difference, planted) {
            (None, false) => Ok(Some(traces.lengths.iter().sum::<usize>())),
            (Some(difference), false) => bail!("{operation} on {}: {difference}", processor.name),
            (Some(_), true) => Ok(None),
            (None, true) => bail!("canary: {operation} has one trace"),
        }
    })?;
    let operations_alike = lengths.iter().flatten().count();
    ensure!(operations_alike < lengths.len(), "canary: the program plants no branch");
    let instructions: usize = lengths.iter().flatten().sum();
    let note = format!(
        "{passed} tests on {}; {operations_alike} operations with one trace for all secrets ({instructions} \
         instructions), the planted branch told apart",
        processor.name
    );
    Ok((passed, note))
}

/// Builds the program of operations.
pub fn build_operations(workspace: &Workspace) -> Result<()> {
    let mut build = cargo(workspace, TARGET, LINKER, &["build", "--quiet"])?;
    workspace.logged("aarch64-operations", &mut build).map(drop)
}

/// Builds the tests and the operations; the programs of tests.
fn build(workspace: &Workspace, selected: &[&str]) -> Result<Vec<Program>> {
    build_operations(workspace)?;
    tests(workspace, "aarch64-tests", TARGET, LINKER, selected)
}

/// A cargo command for this gate's workspace, a target with an operating system, and its C compiler, which links.
fn cargo(workspace: &Workspace, target: &str, linker: &str, arguments: &[&str]) -> Result<Command> {
    let compiler = Compiler::for_target(target).with_context(|| format!("no compiler for {target}"))?;
    let mut all = arguments.to_vec();
    all.extend(["--release", "--locked", "--manifest-path", MANIFEST, "--target", target]);
    let mut cargo = compiler.cargo(workspace, "std,panic_unwind,test", &all);
    let variable = target.to_uppercase().replace('-', "_");
    cargo
        .env(format!("CARGO_TARGET_{variable}_LINKER"), linker)
        .env("RUSTFLAGS", "--cfg gambeson_ct --cfg gambeson_without_peers -Csymbol-mangling-version=v0")
        .env("CARGO_TARGET_DIR", workspace.apart(target));
    Ok(cargo)
}

/// Builds the core's tests for a target, all or those that are selected; the log has this name.
pub fn tests(
    workspace: &Workspace,
    log: &str,
    target: &str,
    linker: &str,
    selected: &[&str],
) -> Result<Vec<Program>> {
    let arguments = ["test", "--package", "gate-aarch64-core"];
    programs::build(workspace, log, cargo(workspace, target, linker, &arguments)?.args(selected))
}

fn emulate(workspace: &Workspace, processor: &Processor, program: &Path) -> Command {
    let mut command = workspace.command(EMULATOR, &["-cpu", processor.name, "-L", ROOT]);
    command.arg(program);
    command
}

/// Runs the tests of a program whose names contain `tests`. Returns their number.
fn run_tests(workspace: &Workspace, processor: &Processor, program: &Program, tests: &str) -> Result<usize> {
    let mut command = emulate(workspace, processor, &program.path);
    command.arg(tests).args(LEFT_OUT.iter().flat_map(|name| ["--skip", name]));
    let name = format!("aarch64-{}-{}", processor.name, program.name);
    let text = workspace.logged(&name, &mut command)?;
    let (passed, failed, _) = test_results(&text);
    ensure!(passed > 0 && failed == 0, "{name}: {passed} tests passed\n{}", tail(&text, 40));
    Ok(passed)
}

/// What the program of operations offers at a level, with its tables.
fn list(workspace: &Workspace, processor: &Processor, program: &Path, level: &str) -> Result<String> {
    let name = format!("aarch64-{}-operations", processor.name);
    workspace.logged(&name, emulate(workspace, processor, program).arg(level))
}

fn names<'a>(offered: &'a str, kind: &str) -> Vec<&'a str> {
    offered.lines().filter_map(|line| line.strip_prefix(kind)).collect()
}

/// The instructions that ran between two calls of the marker, once for each secret.
#[derive(Default)]
struct Trace {
    lengths: Vec<usize>,
    /// Where the first run and a later one parted.
    difference: Option<String>,
}

impl Trace {
    const MARKER: &str = "here_an_operation_begins_or_ends";

    fn run(processor: &Processor, program: &Path, level: &str, operation: &str) -> Result<Self> {
        // Its name since qemu 8.1, and before.
        let help = Command::new(EMULATOR).arg("-help").output()?;
        let one_by_one = if String::from_utf8_lossy(&help.stdout).contains("one-insn-per-tb") {
            "-one-insn-per-tb"
        } else {
            "-singlestep"
        };
        let mut emulator = Command::new(EMULATOR)
            .args(["-cpu", processor.name, "-L", ROOT, one_by_one, "-d", "exec,nochain"])
            .arg(program)
            .args([level, operation])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()?;
        let log = emulator.stderr.take().context("a pipe")?;
        let traces = Self::read(BufReader::with_capacity(1 << 20, log))?;
        ensure!(emulator.wait()?.success(), "{operation} failed under qemu");
        ensure!(traces.lengths.len() > 1, "{operation} left no traces: does this qemu write them?");
        Ok(traces)
    }

    /// A line of qemu's is `Trace 0: HOST [CS_BASE/PC/FLAGS/CFLAGS] FUNCTION`.
    fn read(mut log: impl BufRead) -> Result<Self> {
        let mut traces = Self::default();
        let mut first: Vec<u64> = Vec::new();
        // Where in the operation we are, when in it.
        let mut at: Option<usize> = None;
        let mut in_marker = false;
        let mut line = Vec::new();
        while {
            line.clear();
            log.read_until(b'\n', &mut line)?
        } != 0
        {
            let Some(text) = std::str::from_utf8(&line).ok().filter(|line| line.starts_with("Trace ")) else {
                continue;
            };
            let marker = text.contains(Self::MARKER);
            if marker && !in_marker {
                match at.take() {
                    Some(length) => traces.end(length, first.len()),
                    None => at = Some(0),
                }
            }
            in_marker = marker;
            if let Some(place) = &mut at
                && !marker
            {
                let address = text.split('/').nth(1).and_then(|word| u64::from_str_radix(word, 16).ok());
                let address = address.with_context(|| format!("no address in {text:?}"))?;
                if traces.lengths.is_empty() {
                    first.push(address);
                } else if first.get(*place) != Some(&address) && traces.difference.is_none() {
                    let function = text.rsplit("] ").next().unwrap_or_default().trim_end();
                    traces.difference =
                        Some(format!("another way after {place} instructions, in {function}"));
                }
                *place += 1;
            }
        }
        Ok(traces)
    }

    fn end(&mut self, length: usize, first: usize) {
        if length != first && self.difference.is_none() {
            self.difference = Some(format!("{first} instructions, then {length}"));
        }
        self.lengths.push(length);
    }

    /// The mean over the secrets.
    #[allow(clippy::integer_division_remainder_used)]
    fn mean(&self) -> usize {
        self.lengths.iter().sum::<usize>() / self.lengths.len().max(1)
    }
}

/// Two instructions that only our kernels have, each turned into another one that wants the same registers: SQRDMULH
/// into MUL, of the products with constants, and BCAX into EOR3 (Arm ARM, C7.2).
const MUTATIONS: [Mutation; 2] = [
    Mutation { mask: halves(0xbf20_fc00), value: halves(0x2e20_b400), change: halves(0x2000_2800) },
    Mutation { mask: halves(0xffe0_8000), value: halves(0xce20_0000), change: halves(0x0020_0000) },
];

/// The tests that must see it.
const MUST_FAIL: [&str; 3] = [
    "sha3::kernels::tests::every_table_permutes_any_number_of_states_as_the_portable_one",
    "mlkem::kernels::tests::every_table_computes_what_the_portable_one_does",
    "mldsa::kernels::tests::the_transform_is_the_evaluation_at_the_powers_of_zeta",
];

/// Breaks the kernels in the machine code of the unit tests: these must fail.
fn broken_kernels(workspace: &Workspace, program: &Program) -> Result<String> {
    let (path, changed) = mutation::broken(&program.path, &MUTATIONS)?;
    side_by_side(&MUST_FAIL, |processor, name| {
        let mut command = emulate(workspace, &WITH_SHA3, &path);
        let log = format!("aarch64-broken-{processor}");
        let (success, text) = workspace.tried(&log, command.args(["--exact", name]))?;
        let failed = text.contains(&format!("test {name} ... FAILED"));
        ensure!(!success && failed, "canary: {name} does not see a broken kernel\n{text}");
        Ok(())
    })?;
    fs::remove_file(&path)?;
    Ok(format!("{} tests saw {changed} broken instructions", MUST_FAIL.len()))
}

/// Instructions of each operation, as a table in Markdown: portable code; the kernels without and with the extension.
pub fn count(workspace: &Workspace) -> Result<String> {
    build_operations(workspace)?;
    let program = operations(workspace).context("the build left no gate-aarch64")?;
    let offered = list(workspace, &WITH_SHA3, &program, "neon")?;
    let mut table =
        String::from("| operation | portable | NEON | NEON and SHA3 |\n| --- | ---: | ---: | ---: |\n");
    for operation in names(&offered, "count: ") {
        let run = |processor, level| Trace::run(processor, &program, level, operation);
        let portable = run(&WITHOUT_SHA3, "portable")?.mean();
        let cell = |traces: Trace| {
            let count = traces.mean();
            format!("{count} ({:.2})", portable as f64 / count as f64)
        };
        let (without, with) = (cell(run(&WITHOUT_SHA3, "neon")?), cell(run(&WITH_SHA3, "neon")?));
        table.push_str(&format!("| {operation} | {portable} | {without} | {with} |\n"));
    }
    Ok(table)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(regions: &[&[u64]]) -> String {
        let line = |address: &u64, name: &str| format!("Trace 0: 0x7f [0/{address:016x}/0/0] {name}\n");
        let marker = line(&1, &format!("_R{}", Trace::MARKER)) + &line(&2, &format!("_R{}", Trace::MARKER));
        let mut log = line(&9, "main");
        for region in regions {
            log += &marker;
            log.extend(region.iter().map(|address| line(address, "work")));
            log += &marker;
            log += &line(&9, "main");
        }
        log
    }

    #[test]
    fn traces_are_counted_and_compared_between_the_marks() {
        let traces = Trace::read(log(&[&[5, 6, 7], &[5, 6, 7]]).as_bytes()).unwrap();
        assert_eq!((traces.lengths, traces.difference), (vec![3, 3], None));
        let traces = Trace::read(log(&[&[5, 6, 7], &[5, 8, 7]]).as_bytes()).unwrap();
        assert_eq!(traces.difference.unwrap(), "another way after 1 instructions, in work");
        let traces = Trace::read(log(&[&[5, 6, 7], &[5, 6]]).as_bytes()).unwrap();
        assert_eq!(traces.difference.unwrap(), "3 instructions, then 2");
    }

    #[test]
    fn mutations_change_one_instruction_into_the_other() {
        // sqrdmulh v4.8h, v5.8h, v6.8h and mul v4.8h, v5.8h, v6.8h; bcax v0.16b, v1.16b, v2.16b, v3.16b and eor3.
        for (before, after, mutation) in
            [(0x6e66_b4a4, 0x4e66_9ca4, MUTATIONS[0]), (0xce22_0c20, 0xce02_0c20, MUTATIONS[1])]
        {
            assert_eq!(mutation.changed(halves(before)), Some(halves(after)));
        }
    }
}
