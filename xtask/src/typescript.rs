//! The npm package: its WebAssembly module built, bound and shrunk, the TypeScript compiled, packed and tested; the core's
//! own tests as WebAssembly.

use crate::bare::Compiler;
use crate::run::{Workspace, installed, tail};
use crate::test::test_results;
use crate::{constant_time, independent};
use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const TARGET: &str = "wasm32-unknown-unknown";
/// For tests, which print.
const TEST_TARGET: &str = "wasm32-wasip1";
/// Debian's C library for the latter, where its compiler builds the standard library.
const WASI_LIBC: &str = "/usr/lib/wasm32-wasi";
/// A panic stops the module either way, and there its message has nobody to go to: what would make it is left out. `Debug` that is
/// derived prints names alone; no error that JavaScript sees contains more. Where the standard library is built too.
const WITHOUT_MESSAGES: &str =
    " -Zunstable-options -Cpanic=immediate-abort -Zlocation-detail=none -Zfmt-debug=shallow";
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
/// The modules of the package, and the features of the crate that make them.
const MODULES: [(&str, &str); 2] = [("gambeson", ""), ("identity", "identity")];
/// What a page loads for each at most, with its JavaScript, compressed by gzip as servers do, in bytes: what was reached. What was
/// promised is less, 80 KB for both; `bench --check` holds that against it.
const MAX_SIZES: [(&str, u64); 2] = [("gambeson", 51 << 10), ("identity", 246 << 10)];
/// The same with the standard library as rustup brings it, whose panics have messages.
const MAX_SIZES_AS_BROUGHT: [(&str, u64); 2] = [("gambeson", 64 << 10), ("identity", 320 << 10)];

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

/// The oldest Node that the package is for, as its `engines` say.
const OLDEST_NODE: u32 = 20;

/// Whether this machine's Node is new enough; that of Debian 12 is not.
fn own_node() -> bool {
    let version = Command::new("node").arg("--version").output();
    version.is_ok_and(|output| major(&String::from_utf8_lossy(&output.stdout)) >= Some(OLDEST_NODE))
}

/// The 18 of `v18.20.4`.
fn major(version: &str) -> Option<u32> {
    version.trim().strip_prefix('v')?.split('.').next()?.parse().ok()
}

/// This machine's Node, or the pinned one that the independent programs run on.
fn node(workspace: &Workspace) -> Result<PathBuf> {
    if own_node() { Ok("node".into()) } else { independent::pinned_node(workspace) }
}

/// Builds the package and runs its tests. Returns how many passed, and a sentence.
pub fn check(workspace: &Workspace) -> Result<(usize, String)> {
    let package = Package::prepare(workspace)?;
    package.lint()?;
    package.build()?;
    let sizes = package.sizes()?;
    let passed = package.tests()?;
    Ok((passed, format!("{passed} tests in Node and Chromium; {sizes}")))
}

/// Measures the package beside its peers; with `check`, fails unless it is at least as fast as liboqs-js.
pub fn bench(workspace: &Workspace, check: bool) -> Result<bool> {
    let package = Package::prepare(workspace)?;
    package.build()?;
    let mut run = package.node(&["bench/bench.mjs"]);
    if check {
        run.arg("--check");
    }
    Ok(run.status()?.success())
}

/// Makes the page that verifies in a browser: one file. Returns where it is.
pub fn page(workspace: &Workspace) -> Result<String> {
    let package = Package::prepare(workspace)?;
    package.build()?;
    let folder = workspace.target.join("typescript/site");
    workspace.logged("typescript-page", package.node(&["site/build.mjs"]).arg(folder))
}

/// The core's own tests, compiled to WebAssembly with SIMD, under Node. Returns how many passed, and a sentence.
pub fn core(workspace: &Workspace) -> Result<(usize, String)> {
    #[derive(Deserialize)]
    struct Message {
        executable: Option<PathBuf>,
    }

    let compiler = Compiler::for_target(TEST_TARGET).context("no compiler for wasm32-wasip1")?;
    let manifest = "gates/wasm/Cargo.toml";
    let mut arguments =
        vec!["test", "--no-run", "--quiet", "--release", "--locked", "--message-format", "json"];
    arguments.extend(["--target", TEST_TARGET, "--manifest-path", manifest]);
    let mut build = compiler.cargo(workspace, "std,panic_abort,test", &arguments);
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
    let text = workspace.logged("wasm-tests-build", &mut build)?;
    let messages = text.lines().filter_map(|line| serde_json::from_str::<Message>(line).ok());
    let programs: Vec<PathBuf> = messages.filter_map(|message| message.executable).collect();
    let mut passed = 0;
    let node = node(workspace)?;
    for program in &programs {
        let mut run = workspace.command(&node, &["--no-warnings", "gates/wasm/run.mjs"]);
        let text = workspace.logged("wasm-tests", run.arg(program))?;
        let (good, failed, _) = test_results(&text);
        ensure!(good > 0 && failed == 0, "{}: {good} passed\n{}", program.display(), tail(&text, 40));
        passed += good;
    }
    ensure!(programs.len() == 8, "{} programs of tests, not 8", programs.len());
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
        let wanted = fs::read(package.folder.join("package-lock.json"))?;
        let installed = package.folder.join("node_modules/.gambeson-lock");
        if fs::read(&installed).ok().as_ref() != Some(&wanted) {
            workspace.logged(
                "npm-ci",
                package.command("npm", &["ci", "--no-audit", "--no-fund"]).env("CI", "true"),
            )?;
            fs::write(installed, wanted)?;
        }
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

    fn lint(&self) -> Result<()> {
        for folder in [self.folder.clone(), self.folder.join("bind")] {
            let manifest = folder.join("Cargo.toml");
            let mut fmt = self.workspace.cargo(&["fmt", "--check", "--manifest-path"]);
            self.workspace.logged("typescript-fmt", fmt.arg(&manifest))?;
            // Without features too: each module leaves out what is the other's.
            for features in ["--no-default-features", "--all-features"] {
                let mut clippy =
                    self.workspace.cargo(&["clippy", "--quiet", "--locked", features, "--manifest-path"]);
                self.workspace
                    .logged("typescript-clippy", clippy.arg(&manifest).args(["--", "-D", "warnings"]))?;
            }
        }
        Ok(())
    }

    /// `dist`: the module, what loads it, and the TypeScript compiled.
    fn build(&self) -> Result<()> {
        let dist = self.folder.join("dist");
        if dist.exists() {
            fs::remove_dir_all(&dist)?;
        }
        let glue = self.folder.join("ts/wasm");
        let mut explained = BTreeSet::new();
        for (name, features) in MODULES {
            let module = self.module(features)?;
            constant_time::wasm_divisions(self.workspace, &self.listing(&module, name)?, &mut explained)?;
            self.bind(&module, &glue, name)?;
        }
        constant_time::wasm_divisions_used(self.workspace, &explained)?;
        self.workspace.logged("tsc", &mut self.node(&["node_modules/typescript/bin/tsc"]))?;
        fs::create_dir_all(dist.join("wasm"))?;
        let page = ["node_modules/typescript/bin/tsc", "--project", "site"];
        for (name, _) in MODULES {
            for file in [format!("{name}.js"), format!("{name}.d.ts")] {
                fs::copy(glue.join(&file), dist.join("wasm").join(&file))?;
            }
            self.shrink(&glue.join(format!("{name}_bg.wasm")), &dist.join(format!("wasm/{name}.wasm")))?;
        }
        // It is bundled from its sources; this compares their types with those of the package.
        self.workspace.logged("tsc-site", &mut self.node(&page))?;
        for license in ["LICENSE-APACHE", "LICENSE-MIT"] {
            fs::copy(self.workspace.root.join(license), dist.join(license))?;
        }
        for (name, _) in MODULES {
            self.workspace.names_no_folder(&dist.join(format!("wasm/{name}.wasm")))?;
        }
        // The tarball, where the README says that it is.
        let packed = self.workspace.target.join("typescript");
        fs::create_dir_all(&packed)?;
        let mut pack = self.command("npm", &["pack", "--pack-destination"]);
        self.workspace.logged("npm-pack", pack.arg(&packed))?;
        Ok(())
    }

    /// The module as text, before its names are taken away.
    fn listing(&self, module: &Path, name: &str) -> Result<String> {
        let mut list = self.node(&["node_modules/binaryen/bin/wasm-dis"]);
        list.args(WASM_FEATURES).arg(module);
        let text = self.workspace.target.join("typescript").join(format!("{name}.wat"));
        fs::create_dir_all(self.workspace.target.join("typescript"))?;
        self.workspace.logged("wasm-dis", list.arg("-o").arg(&text))?;
        Ok(fs::read_to_string(text)?)
    }

    fn shrink(&self, from: &Path, to: &Path) -> Result<()> {
        let mut shrink = self.node(&["node_modules/binaryen/bin/wasm-opt", "-Os"]);
        shrink.args(WASM_FEATURES);
        shrink.args(["--strip-producers", "--strip-target-features"]);
        shrink.arg(from).arg("-o").arg(to);
        self.workspace.logged("wasm-opt", &mut shrink)?;
        Ok(())
    }

    /// Compiles the crate with these features.
    fn module(&self, features: &str) -> Result<PathBuf> {
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
        build.env("RUSTFLAGS", flags);
        self.workspace.logged("wasm-build", &mut build)?;
        Ok(self.workspace.target.join(TARGET).join("release/gambeson_typescript.wasm"))
    }

    /// Writes the JavaScript that loads it.
    fn bind(&self, module: &Path, folder: &Path, name: &str) -> Result<()> {
        let mut bind = self.workspace.cargo(&["run", "--quiet", "--release", "--locked", "--manifest-path"]);
        bind.arg(self.folder.join("bind/Cargo.toml")).arg("--").arg(module).arg(folder).arg(name);
        self.workspace.logged("wasm-bind", &mut bind)?;
        Ok(())
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

    /// `node --test`: how many passed.
    fn tests(&self) -> Result<usize> {
        let files = fs::read_dir(self.folder.join("test"))?.filter_map(|entry| Some(entry.ok()?.path()));
        let mut files: Vec<PathBuf> =
            files.filter(|path| path.to_string_lossy().ends_with(".test.mjs")).collect();
        files.sort();
        let mut run = self.node(&["--test", "--test-reporter=tap"]);
        run.args(&files).env("GAMBESON_TYPESCRIPT_TMP", self.workspace.target.join("typescript"));
        let text = self.workspace.logged("typescript-tests", &mut run)?;
        let count = |name: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(name));
            line.and_then(|count| count.trim().parse::<usize>().ok())
        };
        match (count("# pass"), count("# fail"), count("# skipped")) {
            (Some(passed), Some(0), Some(0)) if passed > 0 => Ok(passed),
            counts => bail!("passed, failed, skipped: {counts:?}\n{}", tail(&text, 40)),
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
