//! The constant-time gates: valgrind over every operation on secrets, stepping through the tables that it does not
//! know, and the search for divisions.

use crate::run::{Workspace, as_made, installed};
use crate::{aarch64, bare};
use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// A profile for each optimisation level: compilers differ in what they undo.
const PROFILES: &[&str] = &["ct-1", "ct-2", "ct-3", "ct-s"];
/// The levels at which code that handles secrets is released: 3 by the profile `release`, s by `bare` and for firmware. A test compares them
/// with Cargo.toml.
const RELEASED: &[&str] = &["ct-3", "ct-s"];
/// Kernel tables to run. valgrind 3.19 knows no AVX-512: `step` does those.
const LEVELS: &[&str] = &["portable", "avx2"];

/// Parts of `gate-ct`, and the number of operations of each with each table.
const PARTS: [(&str, usize); 5] =
    [("mls", 2 * 8 + 18 * 30), ("primitives", 763), ("files", 166), ("verdicts", 54), (CANARIES, 5)];
/// Parts and counts of the core, the hybrids and the calls in C: only these are released at level s.
const SMALL_PARTS: [(&str, usize); 3] = [("primitives", 763), ("verdicts", 54), (CANARIES, 3)];
/// The same without the crates above the primitives and the features that they ask for: without the calls in C.
const PLAIN_PARTS: [(&str, usize); 3] = [("primitives", 553), ("verdicts", 54), (CANARIES, 2)];
/// The part with the planted mistakes.
const CANARIES: &str = "canaries";

/// The optimisation levels that are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// Those at which code is released.
    Released,
    /// Every level.
    Everything,
}

impl Extent {
    const fn profiles(self) -> &'static [&'static str] {
        match self {
            Self::Released => RELEASED,
            Self::Everything => PROFILES,
        }
    }
}

/// Where the processor has no AVX2, the other table is left; the gate would refuse to run.
fn levels() -> &'static [&'static str] {
    #[cfg(target_arch = "x86_64")]
    if std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("bmi2") {
        return LEVELS;
    }
    &LEVELS[..1]
}

/// Builds the gate at each optimisation level and runs it: no report for ours, a report for each canary. Returns a sentence, and
/// how many tables of kernels this machine cannot run.
pub fn check(workspace: &Workspace, extent: Extent) -> Result<(String, usize)> {
    let profiles = extent.profiles();
    let build_all = |hand_on: &dyn Fn(_)| {
        for profile in profiles {
            // One process for each part, so that the last build's parts share the processors.
            let run_all = |program: &Path, parts: &[(&'static str, usize)]| {
                for level in levels() {
                    parts.iter().for_each(|part| hand_on((program.to_owned(), *profile, *level, *part)));
                }
            };
            if extent == Extent::Everything {
                run_all(&build_plain(workspace, profile)?, &PLAIN_PARTS);
            }
            build(workspace, profile, extent)?;
            run_all(&workspace.built(profile, "gate-ct"), of(profile, extent).1);
        }
        Ok(())
    };
    let ran = as_made(build_all, |_, (program, profile, level, (part, count))| {
        let (part, count) = (*part, *count);
        let mut valgrind = workspace.command("valgrind", VALGRIND);
        valgrind.arg(program).args([part, level]);
        let file = program.file_name().unwrap_or_default().to_string_lossy();
        let (success, text) = workspace.tried(&format!("{file}-{part}-{profile}-{level}"), &mut valgrind)?;
        let place = format!("{file}: {part} with {level} at {profile}");
        if part == CANARIES {
            let caught = text.contains(&format!("{count} of {count} canaries reported"));
            ensure!(
                !success && caught,
                "canary: {place}: valgrind did not report each planted mistake\n{text}"
            );
            return Ok((0, count));
        }
        // Elsewhere the status of valgrind counts the verdicts that are allowed.
        ensure!(part != "primitives" || success, "{place}: valgrind reports something\n{text}");
        let ran = number_before(&text, " operations, 0 with more reports than verdicts")
            .with_context(|| format!("{place}: secrets decide on a branch or an address:\n{text}"))?;
        ensure!(ran == count, "{place}: {ran} operations ran, not {count}");
        Ok((ran, 0))
    })?;
    let (operations, planted) = ran.iter().fold((0, 0), |(a, b), (ran, caught)| (a + ran, b + caught));
    let said = format!(
        "{operations} operations at {} optimisation levels ({}) without a report, {planted} planted ones caught",
        profiles.len(),
        levels().join(", "),
    );
    Ok((said, LEVELS.len() - levels().len()))
}

/// Builds the stepping gate at each optimisation level and runs it: equal traces for ours, different ones for each
/// canary. Returns a sentence, or nothing if this machine has no AVX-512.
pub fn step(workspace: &Workspace, extent: Extent) -> Result<Option<String>> {
    let build_all = |hand_on: &dyn Fn(_)| {
        // The longest first.
        for profile in extent.profiles().iter().rev() {
            build(workspace, profile, extent)?;
            hand_on(profile);
        }
        Ok(())
    };
    let texts = as_made(build_all, |processor, profile| {
        let mut gate =
            workspace.command(workspace.built(profile, "gate-step"), &["avx512", &processor.to_string()]);
        Ok((*profile, workspace.logged(&format!("step-{profile}"), &mut gate)?))
    })?;
    if texts.iter().any(|(_, text)| text.starts_with("skipped: ")) {
        return Ok(None);
    }
    let mut operations = 0;
    for (profile, text) in &texts {
        operations +=
            number_before(text, " operations, 0 with different traces").context("the gate said nothing")?;
        if !text.contains("4 of 4 canaries told apart") {
            bail!("canary: at {profile} the gate did not tell all of them apart\n{text}");
        }
    }
    let tables = texts[0].1.lines().find_map(|line| line.strip_prefix("tables: ")).unwrap_or_default();
    Ok(Some(format!(
        "{operations} operations ({tables}) at {} optimisation levels, each with one trace for eight secrets; \
         {} planted ones told apart",
        texts.len(),
        4 * texts.len()
    )))
}

/// Short blocks: an unrolled AVX2 kernel of one block exhausts valgrind's temporary storage.
const VALGRIND: &[&str] = &[
    "--error-exitcode=99",
    "--error-limit=no",
    "--num-callers=30",
    "--max-stackframe=8000000",
    "--vex-guest-max-insns=25",
    "-q",
];

/// The profile with the code of `release`, in which secrets are sought and stack is measured, too.
pub const AS_RELEASED: &str = "ct-3";

/// Builds the gates of the release, all at once: what they stand on is compiled once for all.
pub fn build_as_released(workspace: &Workspace) -> Result<()> {
    build(workspace, AS_RELEASED, Extent::Released)
}

/// Returns the features with which the gates are built in a profile, and the parts of `gate-ct` then.
fn of(profile: &str, extent: Extent) -> (&'static str, &'static [(&'static str, usize)]) {
    match (profile, extent) {
        (AS_RELEASED, _) => ("c,doors,mls", &PARTS),
        // By `bare` and for firmware, which have nothing else.
        ("ct-s", Extent::Released) => ("c", &SMALL_PARTS),
        _ => ("c,mls,pki", &PARTS),
    }
}

fn build(workspace: &Workspace, profile: &str, extent: Extent) -> Result<()> {
    let programs = match profile == AS_RELEASED {
        true => &["gate-ct", "gate-step", "gate-residue", "gate-stack"][..],
        false => &["gate-ct", "gate-step"],
    };
    build_gates(workspace, profile, of(profile, extent).0, programs)
}

/// Builds these programs of the gates in a profile.
pub fn build_gates(workspace: &Workspace, profile: &str, features: &str, programs: &[&str]) -> Result<()> {
    let mut build = workspace.cargo(&["build", "--quiet", "-p", "gambeson-gates", "--profile", profile]);
    build.args(["--features", features]);
    build.args(programs.iter().flat_map(|program| ["--bin", program]));
    build.env("RUSTFLAGS", FLAGS);
    workspace.logged(&format!("ct-build-{profile}"), &mut build)?;
    Ok(())
}

/// Builds `gate-ct` with the core and the hybrids alone, whose curves then have no tables of base points, and returns where it was set aside.
fn build_plain(workspace: &Workspace, profile: &str) -> Result<PathBuf> {
    let mut build = workspace.cargo(&["build", "--quiet", "-p", "gambeson-gates", "--bin", "gate-ct"]);
    build.env("RUSTFLAGS", FLAGS).args(["--profile", profile]);
    workspace.logged(&format!("ct-build-plain-{profile}"), &mut build)?;
    let aside = workspace.target.join(format!("xtask/gate-ct-plain-{profile}"));
    fs::copy(workspace.built(profile, "gate-ct"), &aside)?;
    Ok(aside)
}

/// New-style names keep the type arguments, so that an instance of another crate's function tells whose it is.
const FLAGS: &str = "--cfg gambeson_ct -Csymbol-mangling-version=v0";

fn number_before(text: &str, mark: &str) -> Option<usize> {
    let line = text.lines().find(|line| line.contains(mark))?;
    line[..line.find(mark)?].rsplit(' ').next()?.parse().ok()
}

/// The list of functions that may divide, each with its reason.
#[derive(Deserialize)]
struct Explained {
    #[serde(default)]
    function: Vec<Function>,
    /// Paths of functions or modules of the primitives, of which the WebAssembly modules have divisions.
    #[serde(default)]
    wasm: Vec<Function>,
}

impl Explained {
    fn read(workspace: &Workspace) -> Result<Self> {
        Ok(toml::from_str(&fs::read_to_string(workspace.root.join("docs/divisions.toml"))?)?)
    }
}

#[derive(Deserialize)]
struct Function {
    /// A part of the demangled name.
    name: String,
    reason: String,
}

/// Disassembles the gate's programs at the levels of `extent`, and those for thumb and aarch64 if they are there.
pub fn divisions(workspace: &Workspace, extent: Extent) -> Result<String> {
    let explained = Explained::read(workspace)?;
    if let Some(function) = explained.function.iter().find(|function| function.reason.is_empty()) {
        bail!("docs/divisions.toml: {} has no reason", function.name);
    }
    let mut used = BTreeSet::new();
    let (mut errors, mut functions, mut planted, mut programs) = (Vec::new(), 0, 0, 0);
    let mut objects = Vec::new();
    for profile in extent.profiles() {
        build(workspace, profile, extent)?;
        objects.push(("objdump", workspace.built(profile, "gate-ct")));
    }
    let thumb = bare::object(workspace);
    for (tool, object) in [
        ("arm-none-eabi-objdump", thumb.clone()),
        ("aarch64-linux-gnu-objdump", aarch64::operations(workspace)),
    ] {
        objects.extend(object.map(|object| (if installed(tool) { tool } else { "objdump" }, object)));
    }
    for (tool, object) in objects {
        let file = object.display().to_string();
        let output = workspace
            .command(tool, &["--disassemble", "--demangle", "--no-show-raw-insn", &file])
            .output()
            .with_context(|| format!("{tool} does not start"))?;
        if !output.status.success() {
            bail!("{tool} {file}: {}", String::from_utf8_lossy(&output.stderr));
        }
        let listing = String::from_utf8_lossy(&output.stdout);
        if cfg!(target_arch = "x86_64") && object == workspace.built(AS_RELEASED, "gate-ct") {
            let (planted, others): (Vec<_>, Vec<_>) = called_intrinsics(&listing)
                .into_iter()
                .partition(|(caller, _)| caller.contains("gambeson_gates::canary::called_intrinsic"));
            ensure!(!planted.is_empty(), "canary: the planted call of an intrinsic was not found in {file}");
            let told = |(caller, intrinsic)| {
                format!("{file}: {caller} calls {intrinsic}, whose target feature it lacks")
            };
            errors.extend(others.into_iter().map(told));
        }
        let found = dividing_functions(&listing, is_ours);
        functions += found.functions;
        programs += 1;
        let mut caught = false;
        for (name, instruction) in found.divisions {
            if name.contains("gambeson_gates::canary::division") || name.contains("planted_division") {
                caught = true;
            } else if let Some(function) = explained.function.iter().find(|known| name.contains(&known.name))
            {
                used.insert(function.name.clone());
            } else {
                errors.push(format!("{file}: {name}: {instruction}"));
            }
        }
        if !caught {
            bail!("canary: the planted division was not found in {file}");
        }
        planted += 1;
    }
    let all = extent == Extent::Everything && thumb.is_some();
    // Some divide only at one level, or where the processor's instruction set makes it worth while.
    for function in explained.function.iter().filter(|known| all && !used.contains(&known.name)) {
        errors.push(format!("docs/divisions.toml: {} divides no more", function.name));
    }
    if !errors.is_empty() {
        bail!("{}", errors.join("\n"));
    }
    Ok(format!(
        "{functions} functions of ours in {programs} programs, {} of them explained; {planted} planted divisions caught; no intrinsic is called but the planted one",
        used.len()
    ))
}

/// The divisions in a listing of a WebAssembly module by `wasm-dis`, whose opt-level leaves divisions by constants as they are:
/// those in functions of the primitives are listed and explained, in both directions (`used` is what this module had).
pub fn wasm_divisions(workspace: &Workspace, listing: &str, used: &mut BTreeSet<String>) -> Result<usize> {
    let explained = Explained::read(workspace)?;
    let found = wasm_dividing_functions(listing);
    ensure!(found.functions > 20, "{} functions of ours in the module: it has no names", found.functions);
    let mut errors = Vec::new();
    for (name, _) in &found.divisions {
        match explained.wasm.iter().find(|known| name.contains(&mangled(&known.name))) {
            Some(known) if !known.reason.is_empty() => _ = used.insert(known.name.clone()),
            _ => errors.push(format!("{name} divides, and docs/divisions.toml does not say why")),
        }
    }
    match errors.is_empty() {
        true => Ok(found.divisions.len()),
        false => bail!("{}", errors.join("\n")),
    }
}

/// Fails if the list explains what no module has.
pub fn wasm_divisions_used(workspace: &Workspace, used: &BTreeSet<String>) -> Result<()> {
    let explained = Explained::read(workspace)?;
    let stale = explained.wasm.iter().find(|known| !used.contains(&known.name));
    stale.map_or(Ok(()), |known| bail!("docs/divisions.toml: {} divides no more in WebAssembly", known.name))
}

/// `mlkem::encode` as it stands in mangled names: `5mlkem6encode`.
fn mangled(path: &str) -> String {
    path.split("::").map(|part| format!("{}{part}", part.len())).collect()
}

/// The functions of the primitives in a listing, by their mangled names, and those that divide.
fn wasm_dividing_functions(listing: &str) -> Disassembly {
    let primitives = [
        "8gambeson4sha3",
        "8gambeson5mlkem",
        "8gambeson5mldsa",
        "8gambeson6slhdsa",
        "8gambeson3lms",
        "8gambeson4xmss",
        "8gambeson4many",
        "8gambeson6merkle",
        "8gambeson6serial",
        "8gambeson10sha2_lanes",
        "8gambeson6secret",
        "15gambeson_hybrid",
    ];
    let mut result = Disassembly::default();
    let mut current: Option<&str> = None;
    for line in listing.lines() {
        let text = line.trim_start();
        if let Some(rest) = line.strip_prefix(" (func $") {
            let name = rest.split([' ', ')']).next().unwrap_or_default();
            current = primitives.iter().any(|crate_| name.contains(crate_)).then_some(name);
            result.functions += usize::from(current.is_some());
        } else if let (Some(name), Some((kind, operation))) =
            (current, text.strip_prefix('(').and_then(|text| text.split_once('.')))
            && ["i32", "i64"].contains(&kind)
            && (operation.starts_with("div_") || operation.starts_with("rem_"))
            && !result.divisions.iter().any(|(known, _)| known == name)
        {
            result.divisions.push((name.to_owned(), text.to_owned()));
        }
    }
    result
}

/// Returns our functions in a listing that call intrinsics of vectors, and these. A closure in a kernel's generic text lacks the features of the
/// kernel, so that each intrinsic in it is a call with its operands in memory.
fn called_intrinsics(listing: &str) -> Vec<(&str, &str)> {
    let mut caller = None;
    let mut calls = Vec::new();
    for line in listing.lines() {
        if let Some((_, name)) = line.strip_suffix(">:").and_then(|line| line.split_once(" <")) {
            caller = is_ours(name).then_some(name);
        } else if let (Some(caller), Some((_, target))) = (caller, line.split_once(" <core::core_arch::"))
            && let Some(intrinsic) = target.strip_suffix('>')
            && intrinsic.contains("::_mm")
        {
            calls.push((caller, intrinsic));
        }
    }
    calls
}

/// Functions in a listing.
#[derive(Default)]
pub struct Disassembly {
    functions: usize,
    /// The name of each that divides, and its first division.
    pub divisions: Vec<(String, String)>,
}

/// Returns how many functions a listing without the bytes of instructions has, of those that `counts` selects by name, and which of them divide
/// or call the run-time library to do it.
pub fn dividing_functions(listing: &str, counts: fn(&str) -> bool) -> Disassembly {
    let mut result = Disassembly::default();
    let mut current: Option<&str> = None;
    for line in listing.lines() {
        if let Some(name) =
            line.strip_suffix(">:").and_then(|line| line.split_once(" <")).map(|(_, name)| name)
        {
            current = counts(name).then_some(name);
            result.functions += usize::from(current.is_some());
        } else if let (Some(name), Some((_, instruction))) = (current, line.split_once(":\t"))
            && divides(instruction)
            && !result.divisions.iter().any(|(known, _)| known == name)
        {
            result.divisions.push((name.to_owned(), instruction.trim().to_owned()));
        }
    }
    result
}

/// Functions of the gates count: small primitives are inlined there.
fn is_ours(name: &str) -> bool {
    name.contains("gambeson") || name.contains("planted_")
}

fn divides(instruction: &str) -> bool {
    let mut words = instruction.split_whitespace();
    let mnemonic = words.next().unwrap_or_default();
    let x86 = mnemonic.trim_end_matches(['b', 'w', 'l', 'q']);
    let thumb = mnemonic.trim_end_matches(".w");
    let risc_v = ["div", "divu", "rem", "remu"].contains(&mnemonic);
    if risc_v || x86 == "div" || x86 == "idiv" || thumb.starts_with("udiv") || thumb.starts_with("sdiv") {
        return true;
    }
    // Calls, and branches of every kind: the last call of a function is one (`b`, `bne.w`, `jmp`).
    let goes = mnemonic.starts_with("call") || mnemonic.starts_with(['b', 'j']);
    goes && ["__udiv", "__div", "__umod", "__mod", "divmod>", "__aeabi_uidiv", "__aeabi_idiv"]
        .iter()
        .any(|name| instruction.contains(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LISTING: &str = "\
0000000000001000 <gambeson::mlkem::compress>:
    1000:\tdivl   0x8(%rsp)
    1004:\tret

0000000000001010 <core::fmt::num>:
    1010:\tdiv    %rcx

0000000000001020 <gambeson::mlkem::ring::add>:
    1020:\tadd    %rcx,%rax
    1024:\tdivps  %xmm0,%xmm1

0000000000001030 <<[T]>::chunks::<gambeson::mldsa::Poly>>:
    1030:\tidivq  %rcx
    1031:\tidivq  %rcx
";

    #[test]
    fn divisions_of_our_functions_are_found_once_each() {
        let found = dividing_functions(LISTING, is_ours);
        let names: Vec<&str> = found.divisions.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["gambeson::mlkem::compress", "<[T]>::chunks::<gambeson::mldsa::Poly>"]);
        assert_eq!(found.functions, 3);
    }

    #[test]
    fn intrinsics_that_our_functions_call_are_found() {
        let listing = "\
0000000000066f60 <core::core_arch::x86::avx2::_mm256_or_si256>:
   66f60:\tvmovdqa (%rsi),%ymm0
0000000000001020 <gambeson::sha2_lanes::kernels::avx2::chain_32>:
    1024:\tcall   69680 <core::core_arch::x86::avx2::_mm256_slli_epi32::<16>>
    1029:\tcall   7c710 <core::core_arch::x86::xsave::_xgetbv>
0000000000002020 <poly1305::backend::avx2::State::compute_block>:
    2024:\tcall   66f60 <core::core_arch::x86::avx2::_mm256_or_si256>
";
        let found = called_intrinsics(listing);
        assert_eq!(
            found,
            [("gambeson::sha2_lanes::kernels::avx2::chain_32", "x86::avx2::_mm256_slli_epi32::<16>")]
        );
    }

    #[test]
    fn divisions_of_other_processors_and_library_calls_count() {
        for instruction in [
            "udivne\tr0, r0, r1",
            "sdiv\tr0, r0, r1",
            "bl\t0 <__aeabi_uldivmod>",
            "call   1234 <__udivti3>",
            "divu\tt2,t0,t1",
            "rem\tt2,t0,t1",
            "jalr\t16(ra) # 10094 <__divdi3>",
        ] {
            assert!(divides(instruction), "{instruction}");
        }
        // The last call of a function.
        for instruction in [
            "b\t1234 <__udivti3>",
            "b.w\t0 <__aeabi_uidiv>",
            "b.n\t0 <__aeabi_idiv>",
            "bne.w\t0 <__umodsi3>",
            "b.eq\t1234 <__udivti3>  // b.none",
            "jmp    1234 <__divti3>",
            "jne    1234 <__umodti3>",
        ] {
            assert!(divides(instruction), "{instruction}");
        }
        for instruction in [
            "mov %rax,%rdi",
            "call   1234 <gambeson::divide>",
            "divps %xmm0,%xmm1",
            "divider\tr0",
            "b\t1234 <gambeson::mlkem::divide>",
            "bic\tr0, r0, #1",
            "lea    0x10(%rip),%rax        # 1234 <__udivti3>",
        ] {
            assert!(!divides(instruction), "{instruction}");
        }
    }

    #[test]
    fn divisions_in_webassembly_are_found() {
        let listing = " (func $_RNvNtNtCs1_8gambeson5mlkem6encode10decompress (param $0 i32)\n  (i32.div_u\n   (local.get $0)\n\
            \x20  (i32.const 5)\n  )\n  (i64.rem_s\n )\n (func $_RNvNtCs1_8gambeson4sha36absorb (param $0 i32)\n  (i32.add\n  (f32.div\n )\n\
            \x20(func $_RNvCs2_4ryu_6format\n  (i32.div_u\n )\n";
        let found = wasm_dividing_functions(listing);
        assert_eq!(found.functions, 2);
        assert_eq!(found.divisions.len(), 1);
        assert!(found.divisions[0].0.contains(&mangled("mlkem::encode::decompress")));
    }

    #[test]
    fn the_released_levels_are_those_of_the_profiles() {
        let manifest = include_str!("../../Cargo.toml").parse::<toml::Table>().expect("the manifest is TOML");
        let profiles = &manifest["profile"];
        let level = |profile: &str| match profiles.get(profile).and_then(|profile| profile.get("opt-level")) {
            Some(toml::Value::String(level)) => format!("ct-{level}"),
            Some(level) => format!("ct-{}", level.as_integer().unwrap_or(3)),
            None => "ct-3".into(),
        };
        // Crates that are released at another level than their profile are looked at there, too.
        let packages = profiles.get("release").and_then(|release| release.get("package")?.as_table());
        let packages = packages.into_iter().flatten().filter(|(name, _)| *name != "xtask");
        let others = packages.filter_map(|(_, package)| package.get("opt-level"));
        let others = others.map(|level| match level.as_integer() {
            Some(level) => format!("ct-{level}"),
            None => format!("ct-{}", level.as_str().unwrap_or_default()),
        });
        let mut released: Vec<_> = [level("release"), level("bare")].into_iter().chain(others).collect();
        released.sort();
        released.dedup();
        assert_eq!(released, RELEASED);
        assert!(
            PROFILES.iter().all(|profile| level(&profile[..]) == **profile),
            "each profile has its level"
        );
    }

    #[test]
    fn the_gates_own_count_is_read() {
        assert_eq!(
            number_before("x\n12 operations, 0 with reports\n", " operations, 0 with reports"),
            Some(12)
        );
        assert_eq!(number_before("12 operations, 3 with reports", " operations, 0 with reports"), None);
    }
}
