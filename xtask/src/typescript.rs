//! The npm package: its WebAssembly module built, bound and shrunk, the TypeScript compiled, packed and tested; the core's
//! own tests as WebAssembly.

use crate::aarch64::LEFT_OUT;
use crate::bare::Compiler;
use crate::programs;
use crate::report::{Done, test_results};
use crate::run::{Workspace, empty_folder, files_in, install_once, installed, tail};
use crate::{answers, checks, constant_time, independent, notices, slim};
use anyhow::{Context, Result, bail, ensure};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

const TARGET: &str = "wasm32-unknown-unknown";
const MANIFEST: &str = "bindings/typescript/Cargo.toml";
/// For tests, which print.
const TEST_TARGET: &str = "wasm32-wasip1";
/// Debian's C library for the latter, where its compiler builds the standard library.
const WASI_LIBC: &str = "/usr/lib/wasm32-wasi";
/// A panic stops the module either way, and there its message has nobody to go to: what would make it is left out. `Debug` that is
/// derived prints names alone; no error that JavaScript sees contains more. Where the standard library is built too.
const WITHOUT_MESSAGES: &str =
    " -Zunstable-options -Cpanic=immediate-abort -Zlocation-detail=none -Zfmt-debug=shallow";
/// The modules of the package, the features of the crate that make them, and the name of the JavaScript that loads them.
const MODULES: [(&str, &str, &str); 4] = [
    ("gambeson", "", "gambeson"),
    ("hash", "hash-based", "hash"),
    ("identity", "identity", "identity"),
    ("whole", "whole", "identity"),
];
/// One more, with what only test vectors need: it is never in the package.
const VECTORS: (&str, &str, &str) = ("vectors", "test-vectors", "identity");
/// What the modules use of WebAssembly, for binaryen.
const WASM_FEATURES: [&str; 7] = [
    "--enable-simd",
    "--enable-bulk-memory",
    "--enable-sign-ext",
    "--enable-mutable-globals",
    "--enable-nontrapping-float-to-int",
    "--enable-reference-types",
    "--enable-multivalue",
];
/// What a page loads for each at most, with its JavaScript, compressed by gzip as servers do, in bytes: what was reached. What was
/// promised is less, 80 KB for both; `size --check` holds that against it.
const MAX_SIZES: [(&str, u64); 4] =
    [("gambeson", 56 << 10), ("hash", 50 << 10), ("identity", 268 << 10), ("whole", 386 << 10)];
/// The same with the standard library as rustup brings it, whose panics have messages.
const MAX_SIZES_AS_BROUGHT: [(&str, u64); 4] =
    [("gambeson", 67 << 10), ("hash", 62 << 10), ("identity", 327 << 10), ("whole", 450 << 10)];

/// What this machine lacks, if anything.
pub fn missing() -> Option<&'static str> {
    match Compiler::for_target(TARGET) {
        None => Some("a compiler for wasm32-unknown-unknown"),
        Some(_) => ["node", "npm", "chromium"]
            .into_iter()
            .find(|tool| !installed(tool))
            .or_else(|| (!own_node() && independent::missing().is_some()).then_some("Node 20 or newer")),
    }
}

/// How many of the core's tests run as WebAssembly; more are welcome.
const CORE_TESTS: usize = 97;

/// How long the package's tests may take: they take less than one minute.
const LONGEST_TESTS: Duration = Duration::from_secs(8 * 60);

/// The oldest Node that the package is for, as its `engines` say.
const OLDEST_NODE: u32 = 20;

/// The first Node whose node:crypto has ML-KEM in each of its versions: 24 has it from 24.7 on.
const NODE_WITH_ML_KEM: u32 = 25;

/// The tests in which the platform has a part: its cryptography, streams, processes and packages. The others judge the modules' own work, or
/// need Chromium.
const OF_THE_PLATFORM: [&str; 6] = [
    "http.test.mjs",
    "identity.test.mjs",
    "mcp.test.mjs",
    "primitives.test.mjs",
    "readme.test.mjs",
    "receipts.test.mjs",
];

/// The vectors that need a module of their own.
const DERIVED: &str = "derived.test.mjs";

/// What meets `gambeson slim up`, which stands on SLIM's crates.
const OVER_SLIM: &str = "up.test.mjs";

/// Whether this machine's Node is new enough; that of Debian 12 is not.
fn own_node() -> bool {
    version_of(Path::new("node")) >= Some(OLDEST_NODE)
}

fn version_of(node: &Path) -> Option<u32> {
    let version = Command::new(node).arg("--version").output().ok()?;
    major(&String::from_utf8_lossy(&version.stdout))
}

/// The 18 of `v18.20.4`.
fn major(version: &str) -> Option<u32> {
    version.trim().strip_prefix('v')?.split('.').next()?.parse().ok()
}

/// This machine's Node, or the pinned one that the independent programs run on.
fn node(workspace: &Workspace) -> Result<PathBuf> {
    if own_node() { Ok("node".into()) } else { independent::pinned_node(workspace) }
}

/// Builds the package and runs its tests on this machine's Node.
pub fn check(workspace: &Workspace) -> Result<Done> {
    let package = Package::prepare(workspace)?;
    // The optimizer of a module has one thread: meanwhile another looks at the sources.
    std::thread::scope(|scope| {
        let linted = scope.spawn(|| package.lint("--all-features"));
        package.build(&[])?;
        linted.join().unwrap_or_else(|_| bail!("the sources were not looked at"))
    })?;
    let sizes = package.sizes()?;
    let mut files = files_in(&package.folder.join("test"), ".test.mjs")?;
    let missing = slim::missing();
    files.retain(|path| !path.ends_with(DERIVED) && (missing.is_none() || !path.ends_with(OVER_SLIM)));
    let (passed, version) = package.tests_on(&package.node, &files)?;
    let without =
        missing.map_or(String::new(), |missing| format!("; skipped: {OVER_SLIM}, for want of {missing}"));
    let note = format!("{passed} tests in Node {version} and Chromium; {sizes}{without}");
    Ok(Done { passed, skipped: usize::from(missing.is_some()), note, ..Done::default() })
}

/// Builds the package and the module for vectors, and runs on the pinned Node the tests with that module, and those in which the platform has
/// a part, unless this machine's Node is of the same version.
pub fn check_on_the_pinned_node(workspace: &Workspace) -> Result<Done> {
    let package = Package::prepare(workspace)?;
    let pinned = independent::pinned_node(workspace)?;
    let platform =
        if version_of(&pinned) == version_of(&package.node) { &[][..] } else { &OF_THE_PLATFORM[..] };
    // Each module leaves out what is the other's.
    package.lint("--no-default-features")?;
    package.build(&[VECTORS])?;
    let mut files = files_in(&package.folder.join("test"), ".test.mjs")?;
    let wanted: Vec<&str> = platform.iter().copied().chain([DERIVED]).collect();
    files.retain(|path| wanted.iter().any(|name| path.ends_with(name)));
    ensure!(files.len() == wanted.len(), "of {wanted:?} only {files:?} are there");
    let (passed, version) = package.tests_on(&pinned, &files)?;
    Ok((passed, format!("{passed} tests in {} files, in Node {version}", files.len())).into())
}

/// Installs the pinned tools and peers.
pub fn prepare(workspace: &Workspace) -> Result<()> {
    Package::prepare(workspace).map(drop)
}

/// Measures the package beside its peers; with `check`, whether it is at least as fast as liboqs-js and node:crypto. Where this machine's Node
/// has no ML-KEM, a second run measures node:crypto on the pinned Node.
pub fn bench(workspace: &Workspace, check: bool) -> Result<bool> {
    const SCRIPT: &str = "bench/bench.mjs";
    let package = Package::prepare(workspace)?;
    package.build(&[])?;
    let own = package.measured(&package.node, &[SCRIPT], check)?;
    if version_of(&package.node) >= Some(NODE_WITH_ML_KEM) {
        return Ok(own);
    }
    let pinned = independent::pinned_node(workspace)?;
    Ok(package.measured(&pinned, &[SCRIPT, "--node-crypto"], check)? && own)
}

/// Measures what a page loads; with `check`, whether that is as little as was promised.
pub fn size(workspace: &Workspace, check: bool) -> Result<bool> {
    let package = Package::prepare(workspace)?;
    package.build(&[])?;
    package.measured(&package.node, &["bench/size.mjs"], check)
}

/// Makes the page that verifies in a browser: one file. Returns where it is.
pub fn page(workspace: &Workspace) -> Result<String> {
    let package = Package::prepare(workspace)?;
    package.build(&[])?;
    let folder = workspace.target.join("typescript/site");
    workspace.logged("typescript-page", package.node(&["site/build.mjs"]).arg(folder))
}

/// The core's own tests, compiled to WebAssembly with SIMD, under Node. Returns how many passed, and a sentence.
pub fn core(workspace: &Workspace) -> Result<(usize, String)> {
    let compiler = Compiler::for_target(TEST_TARGET).context("no compiler for wasm32-wasip1")?;
    let manifest = "gates/wasm/Cargo.toml";
    let arguments = ["test", "--release", "--locked", "--target", TEST_TARGET, "--manifest-path", manifest];
    let mut build = compiler.cargo(workspace, "std,panic_abort,test", &arguments);
    build.env("CARGO_TARGET_DIR", workspace.apart(TEST_TARGET));
    let mut flags = String::from("--cfg gambeson_without_peers -Ctarget-feature=+simd128");
    if matches!(compiler, Compiler::Debian) {
        ensure!(Path::new(WASI_LIBC).exists(), "no C library for wasm32-wasip1: Debian's wasi-libc");
        build.env("CARGO_TARGET_WASM32_WASIP1_LINKER", linker(workspace)?);
        // That C library is older than what the standard library's threads ask for; nothing here starts one.
        flags += &format!(
            " -Clink-self-contained=no -L{WASI_LIBC} -Clink-arg={WASI_LIBC}/crt1-command.o \
             -Clink-arg=--allow-undefined"
        );
    }
    build.env("RUSTFLAGS", flags);
    let programs = programs::build(workspace, "wasm-tests-build", &mut build)?;
    let mut passed = 0;
    let node = node(workspace)?;
    for program in &programs {
        let mut run = workspace.command(&node, &["--no-warnings", "gates/wasm/run.mjs"]);
        // The compiler chooses the only table of ML-KEM there is: no other can be compared with it.
        let skipped = LEFT_OUT.iter().chain(&["mlkem_levels::"]);
        run.arg(&program.path).args(skipped.flat_map(|name| ["--skip", name]));
        let text = workspace.logged(&format!("wasm-tests-{}", program.name), &mut run)?;
        let (good, failed, _) = test_results(&text);
        ensure!(good > 0 && failed == 0, "{}: {good} passed\n{}", program.name, tail(&text, 40));
        passed += good;
    }
    ensure!(programs.len() == 4, "{} programs of tests, not 4", programs.len());
    ensure!(passed >= CORE_TESTS, "{passed} tests, where there were {CORE_TESTS}: some are lost");
    Ok((passed, format!("{passed} tests of the core as WebAssembly, {} programs", programs.len())))
}

/// The linker that rustup's compiler for this machine brings along.
fn linker(workspace: &Workspace) -> Result<PathBuf> {
    let text = workspace.logged("sysroot", &mut workspace.command("rustc", &["--print", "sysroot"]))?;
    let found = fs::read_dir(Path::new(text.trim()).join("lib/rustlib"))?
        .filter_map(|entry| Some(entry.ok()?.path().join("bin/rust-lld")))
        .find(|path| path.exists());
    found.context("rustup's compiler has no rust-lld")
}

struct Package<'a> {
    workspace: &'a Workspace,
    /// `bindings/typescript`.
    folder: PathBuf,
    node: PathBuf,
}

impl<'a> Package<'a> {
    /// The pinned tools and peers in `node_modules`; those of an earlier run, if they are the same.
    fn prepare(workspace: &'a Workspace) -> Result<Self> {
        let folder = workspace.root.join("bindings/typescript");
        let package = Self { workspace, folder, node: node(workspace)? };
        let wanted = fs::read_to_string(package.folder.join("package-lock.json"))?;
        install_once(&package.folder.join("node_modules/.gambeson-lock"), &wanted, || {
            let mut npm = package.command("npm", &["ci", "--no-audit", "--no-fund"]);
            workspace.logged("npm-ci", npm.env("CI", "true")).map(drop)
        })?;
        Ok(package)
    }

    fn command(&self, program: impl AsRef<OsStr>, arguments: &[&str]) -> Command {
        let mut command = self.workspace.command(program, arguments);
        command.current_dir(&self.folder);
        command
    }

    fn node(&self, arguments: &[&str]) -> Command {
        self.command(&self.node, arguments)
    }

    /// Runs a script that measures, with its output shown; returns whether it succeeded.
    fn measured(&self, node: &Path, script: &[&str], check: bool) -> Result<bool> {
        let mut run = self.command(node, script);
        Ok(run.args(check.then_some("--check")).status()?.success())
    }

    /// Checks the format of the sources, and with these features that clippy has no warning.
    fn lint(&self, features: &str) -> Result<()> {
        for folder in [&self.folder, &self.folder.join("bind")] {
            let mut fmt = self.workspace.cargo(&["fmt", "--check", "--manifest-path"]);
            self.workspace.logged("typescript-fmt", fmt.arg(folder.join("Cargo.toml")))?;
        }
        let selected = ["--locked", "--profile", "checked", "--manifest-path", MANIFEST, features];
        checks::checked_by_clippy(self.workspace, "typescript-clippy", &selected)
    }

    /// `dist`: the modules, what loads them, and the TypeScript compiled; and `more` modules beside the package, as large as they come.
    fn build(&self, more: &[(&str, &str, &str)]) -> Result<()> {
        let (dist, bound) = (self.folder.join("dist"), self.workspace.target.join("typescript"));
        empty_folder(&dist)?;
        fs::create_dir_all(dist.join("wasm"))?;
        let bind = self.binder()?;
        let finish = |module: PathBuf, name: &str, glue: &str| {
            let folder = bound.join(name);
            let log = format!("wasm-bind-{name}");
            self.workspace.logged(&log, self.command(&bind, &[]).arg(&module).arg(&folder).arg(glue))?;
            let mut explained = BTreeSet::new();
            if MODULES.iter().any(|(published, ..)| *published == name) {
                let listing = self.listing(&module, name)?;
                constant_time::wasm_divisions(self.workspace, &listing, &mut explained)?;
                self.shrink(name, &folder.join(format!("{glue}_bg.wasm")))?;
            }
            anyhow::Ok(explained)
        };
        // While one module is made smaller, which takes as long as to compile it, the next is compiled.
        let explained = std::thread::scope(|scope| {
            let mut finishing = Vec::new();
            for (name, features, glue) in MODULES.iter().chain(more) {
                let module = self.module(features, name)?;
                finishing.push(scope.spawn(move || finish(module, name, glue)));
            }
            finishing.into_iter().try_fold(BTreeSet::new(), |mut explained, one| match one.join() {
                Ok(finished) => {
                    explained.append(&mut finished?);
                    Ok(explained)
                }
                Err(_) => bail!("a module was not finished"),
            })
        })?;
        constant_time::wasm_divisions_used(self.workspace, &explained)?;
        let glue = self.folder.join("ts/wasm");
        fs::create_dir_all(&glue)?;
        for (name, _, by) in MODULES.iter().chain(more) {
            for end in ["js", "d.ts"] {
                let from = bound.join(name).join(format!("{by}.{end}"));
                // Each module of the package has JavaScript of its own, with a memory of its own.
                if MODULES.iter().any(|(published, ..)| published == name) {
                    let file = format!("{name}.{end}");
                    fs::copy(&from, dist.join("wasm").join(&file))?;
                    fs::copy(&from, glue.join(&file))?;
                }
                let same = fs::read(&from)? == fs::read(glue.join(format!("{by}.{end}")))?;
                ensure!(same, "the module {name} is loaded by another {by}.{end}");
            }
        }
        self.workspace.logged("tsc", &mut self.node(&["node_modules/typescript/bin/tsc"]))?;
        // The page is bundled from its sources; this compares their types with those of the package.
        let page = ["node_modules/typescript/bin/tsc", "--project", "site"];
        self.workspace.logged("tsc-site", &mut self.node(&page))?;
        for license in ["LICENSE-APACHE", "LICENSE-MIT"] {
            fs::copy(self.workspace.root.join(license), dist.join(license))?;
        }
        fs::copy(self.folder.join(notices::NAME), dist.join(notices::NAME))?;
        for (name, ..) in MODULES {
            self.workspace.names_no_folder(&dist.join(format!("wasm/{name}.wasm")))?;
        }
        // The tarball, where the README says that it is.
        let mut pack = self.command("npm", &["pack", "--pack-destination"]);
        self.workspace.logged("npm-pack", pack.arg(&bound))?;
        Ok(())
    }

    /// The module as text, before its names are taken away.
    fn listing(&self, module: &Path, name: &str) -> Result<String> {
        let mut list = self.node(&["node_modules/binaryen/bin/wasm-dis"]);
        list.args(WASM_FEATURES).arg(module);
        let text = self.workspace.target.join("typescript").join(format!("{name}.wat"));
        self.workspace.logged(&format!("wasm-dis-{name}"), list.arg("-o").arg(&text))?;
        Ok(fs::read_to_string(text)?)
    }

    /// Makes a bound module small, and puts it into the package.
    fn shrink(&self, name: &str, from: &Path) -> Result<()> {
        // Pages load modules compressed: `-O1` makes more bytes than `-Os`, which compress to 1 % fewer. Hints of alignment, which engines
        // do not use, are another 0.5 %.
        let optimizer = "node_modules/binaryen/bin/wasm-opt";
        let mut shrink = self.node(&[optimizer, "-O1", "--dae-optimizing", "--dealign"]);
        shrink.args(WASM_FEATURES);
        shrink.args(["--strip-producers", "--strip-target-features"]);
        shrink.arg(from).arg("-o").arg(self.folder.join(format!("dist/wasm/{name}.wasm")));
        self.workspace.logged(&format!("wasm-opt-{name}"), &mut shrink)?;
        Ok(())
    }

    /// Compiles the crate with these features, to a file of that name.
    fn module(&self, features: &str, name: &str) -> Result<PathBuf> {
        let compiler = Compiler::for_target(TARGET).context("no compiler for wasm32-unknown-unknown")?;
        let manifest = "bindings/typescript/Cargo.toml";
        let arguments =
            ["build", "--quiet", "--release", "--locked", "--target", TARGET, "--manifest-path", manifest];
        let mut build = compiler.cargo(self.workspace, "std,panic_abort", &arguments);
        build.args(["--features", features]);
        let mut flags = format!("-Ctarget-feature=+simd128 {}", self.workspace.without_paths());
        if matches!(compiler, Compiler::Debian) {
            build.env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", linker(self.workspace)?);
            build.arg("-Zbuild-std-features=optimize_for_size");
            flags += WITHOUT_MESSAGES;
        }
        let folder = self.workspace.apart(TARGET);
        build.env("RUSTFLAGS", flags).env("CARGO_TARGET_DIR", &folder);
        self.workspace.announce(&format!("building the module {name}"), "wasm-build");
        self.workspace.logged("wasm-build", &mut build)?;
        let release = folder.join(TARGET).join("release");
        let module = release.join(format!("gambeson_typescript-{name}.wasm"));
        fs::copy(release.join("gambeson_typescript.wasm"), &module)?;
        Ok(module)
    }

    /// The program that writes the JavaScript that loads a module.
    fn binder(&self) -> Result<PathBuf> {
        let arguments = ["build", "--quiet", "--profile", "checked", "--locked", "--manifest-path"];
        let mut build = self.workspace.linted(&arguments);
        self.workspace.logged("wasm-bind-build", build.arg(self.folder.join("bind/Cargo.toml")))?;
        Ok(self.workspace.built("checked", "gambeson-typescript-bind"))
    }

    /// What a page loads for each module, compressed, as a sentence.
    fn sizes(&self) -> Result<String> {
        let output = self.workspace.logged("typescript-size", &mut self.node(&["bench/size.mjs"]))?;
        let mut said = Vec::new();
        let max_sizes = match Compiler::for_target(TARGET) {
            Some(Compiler::Debian) => MAX_SIZES,
            _ => MAX_SIZES_AS_BROUGHT,
        };
        for (name, most) in max_sizes {
            let line = output.lines().find_map(|line| line.strip_prefix(name));
            let size = line.and_then(|size| size.trim().parse::<u64>().ok());
            let size = size.with_context(|| format!("no size of {name} in {output:?}"))?;
            ensure!(size <= most, "{name}: {size} bytes compressed, more than {most}");
            said.push(format!("{name} {:.1} KiB compressed", size as f64 / 1024.0));
        }
        Ok(said.join(", "))
    }

    /// Returns the programs that the tests of channels meet, each with its variable: a gateway of agents that talk over memory, the program, and
    /// a Python that has a stock node. The tests of the workspace have built them.
    fn met(&self) -> Result<Vec<(&'static str, PathBuf)>> {
        let mut build =
            checks::of_channels(self.workspace, &["build", "--quiet", "--locked", "--example", "gateway"]);
        self.workspace.logged("typescript-gateway", &mut build)?;
        let mut met = vec![("GAMBESON_GATEWAY", self.workspace.target.join("checked/examples/gateway"))];
        if slim::missing().is_none() {
            met.push(("GAMBESON_PROGRAM", answers::checked(self.workspace)?));
            met.push((slim::PYTHON, slim::python(self.workspace)?));
        }
        Ok(met)
    }

    /// Runs `node --test`; returns how many tests passed, and the version of this Node.
    fn tests_on(&self, node: &Path, files: &[PathBuf]) -> Result<(usize, u32)> {
        let version = version_of(node).with_context(|| format!("{} has no version", node.display()))?;
        // Node 20 has a WebSocket for who asks.
        let options = ["--experimental-websocket", "--test", "--test-reporter=tap", "--test-concurrency=2"];
        let mut run = self.command(node, &options);
        run.args(files).env("GAMBESON_TYPESCRIPT_TMP", self.workspace.target.join("typescript"));
        run.envs(self.met()?);
        // A file of tests whose connection stays open would never end.
        let log = format!("typescript-tests-{version}");
        let (success, text) = self.workspace.tried_within(LONGEST_TESTS, &log, &mut run)?;
        let count = |name: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(name));
            line.and_then(|count| count.trim().parse::<usize>().ok())
        };
        match (count("# pass"), count("# fail"), count("# skipped")) {
            (Some(passed), Some(0), Some(0)) if success && passed > 0 => Ok((passed, version)),
            counts => {
                let failed: Vec<&str> =
                    text.lines().filter(|line| line.trim_start().starts_with("not ok")).collect();
                bail!(
                    "Node {version}: passed, failed, skipped: {counts:?}\n{}\n{}",
                    failed.join("\n"),
                    tail(&text, 40)
                )
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_of_node_is_read() {
        assert_eq!(major("v18.20.4\n"), Some(18));
        assert_eq!(major("v26.10.0"), Some(26));
        assert_eq!(major("node: not found"), None);
        assert!(major("").is_none_or(|major| major < OLDEST_NODE));
    }
}
