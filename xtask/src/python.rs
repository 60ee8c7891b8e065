//! The Python package: its wheel built, installed, typed and tested, in an environment of pinned tools.

use crate::checks::checked_by_clippy;
use crate::run::{Workspace, empty_folder, files_in, install_once, lint, tail};
use anyhow::{Result, anyhow, bail};
use std::fs;
use std::path::{Path, PathBuf};

/// Builds the wheel as the tests of the workspace have what it stands on, and tests what was installed from it, but for the vectors. Returns
/// the number of tests that passed, and a sentence.
pub fn check(workspace: &Workspace) -> Result<(usize, String)> {
    let package = Package::prepare(workspace)?;
    package.formatted()?;
    let wheel = package.install(CHECKED)?;
    package.types()?;
    package.tests(&wheel, None)
}

/// Builds the wheel as it is published, and tests it with the vectors, which need a second one.
pub fn check_published(workspace: &Workspace) -> Result<(usize, String)> {
    let package = Package::prepare(workspace)?;
    let bench = format!("bindings/python/{BENCH}");
    checked_by_clippy(workspace, "python-clippy", &["--manifest-path", &bench, "--release"])?;
    let wheel = package.install(PUBLISHED)?;
    // One waits for the compiler, the other for Python.
    let unshipped = std::thread::scope(|scope| {
        let unshipped = scope.spawn(|| package.unshipped(PUBLISHED));
        package.types()?;
        unshipped.join().map_err(|_| anyhow!("the build for vectors panicked"))?
    })?;
    package.tests(&wheel, Some(&unshipped))
}

/// Installs the pinned tools.
pub fn prepare(workspace: &Workspace) -> Result<()> {
    Package::prepare(workspace).map(drop)
}

/// Measures the package beside its peers and native Rust; with `check`, fails unless it keeps up with the latter.
pub fn bench(workspace: &Workspace, check: bool) -> Result<bool> {
    let package = Package::prepare(workspace)?;
    package.install(PUBLISHED)?;
    let mut build = workspace.cargo(&["build", "--quiet", "--release", "--manifest-path"]);
    workspace.logged("python-bench-build", build.arg(package.folder.join(BENCH)))?;
    let script = package.folder.join("bench/bench.py");
    let mut run = workspace.command(package.program("python"), &[]);
    run.arg(script).arg(workspace.built("release", "gambeson-bench-native"));
    if check {
        run.arg("--check");
    }
    Ok(run.status()?.success())
}

/// The profile that checks itself: most of what the package stands on is built already, for the tests of the workspace.
const CHECKED: &str = "checked";
/// The profile of the wheel that others get.
const PUBLISHED: &str = "release";

/// The folder of the wheel that others get; each other folder names what its wheel was built for, and so does that wheel's version.
const PUBLISHED_WHEELS: &str = "wheels";

/// The program that gives a wheel a local version.
const LOCAL_VERSION: &str = include_str!("local_version.py");

/// The manifest of the native Rust that the package is measured beside.
const BENCH: &str = "bench/Cargo.toml";

/// The feature with which that is so; a wheel that is published does not have it.
const AS_TESTED: &str = "as-tested";

/// Prints where the native module is that was installed.
const MODULE: &str = "import gambeson._native as module; print(module.__file__)";

struct Package<'a> {
    workspace: &'a Workspace,
    /// `bindings/python`.
    folder: PathBuf,
    /// What is made of it, in the target folder.
    made: PathBuf,
}

impl<'a> Package<'a> {
    /// An environment with the pinned tools; the one of an earlier run, if it has the same.
    fn prepare(workspace: &'a Workspace) -> Result<Self> {
        let folder = workspace.root.join("bindings/python");
        let made = workspace.target.join("python");
        fs::create_dir_all(&made)?;
        let package = Self { workspace, folder, made };
        let requirements = package.folder.join("requirements.txt");
        install_once(&package.made.join("installed.txt"), &fs::read_to_string(&requirements)?, || {
            let mut venv = workspace.command("python3", &["-m", "venv", "--clear"]);
            workspace.logged("python-venv", venv.arg(package.made.join("venv")))?;
            let mut pip = package.pip();
            workspace.logged("python-requirements", pip.arg("--requirement").arg(&requirements)).map(drop)
        })?;
        Ok(package)
    }

    fn program(&self, name: &str) -> PathBuf {
        self.made.join("venv/bin").join(name)
    }

    fn pip(&self) -> std::process::Command {
        let arguments = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
        self.workspace.command(self.program("python"), &arguments)
    }

    fn formatted(&self) -> Result<()> {
        for manifest in ["Cargo.toml", BENCH] {
            let mut fmt = self.workspace.cargo(&["fmt", "--check", "--manifest-path"]);
            self.workspace.logged("python-fmt", fmt.arg(self.folder.join(manifest)))?;
        }
        Ok(())
    }

    /// Builds the wheel and installs it.
    fn install(&self, profile: &str) -> Result<PathBuf> {
        let folder = if profile == PUBLISHED { PUBLISHED_WHEELS } else { profile };
        let wheel = self.wheel(folder, profile, &[])?;
        let mut pip = self.pip();
        pip.args(["--no-index", "--no-deps", "--force-reinstall"]).arg(&wheel);
        self.workspace.logged("python-install", &mut pip)?;
        let mut find = self.workspace.command(self.program("python"), &["-c", MODULE]);
        let module = self.workspace.logged("python-module", find.current_dir(&self.made))?;
        if profile == PUBLISHED {
            self.workspace.names_no_folder(Path::new(module.trim()))?;
        }
        Ok(wheel)
    }

    /// Builds the native module once more, with raw derivations and deterministic signatures, for the vectors. No wheel has them.
    fn unshipped(&self, profile: &str) -> Result<PathBuf> {
        let wheel = self.wheel("unshipped", profile, &["test-vectors"])?;
        let folder = self.made.join("unshipped/installed");
        let mut pip = self.pip();
        pip.args(["--no-index", "--no-deps", "--target"]).arg(&folder).arg(wheel);
        self.workspace.logged("python-unshipped", &mut pip)?;
        Ok(folder.join("gambeson/_native.abi3.so"))
    }

    fn wheel(&self, folder: &str, profile: &str, features: &[&str]) -> Result<PathBuf> {
        let wheels = self.made.join(folder);
        empty_folder(&wheels)?;
        let mut build =
            self.workspace.command(self.program("maturin"), &["build", "--profile", profile, "--out"]);
        build.arg(&wheels).arg("--interpreter").arg(self.program("python"));
        let as_tested = (profile == CHECKED).then_some(AS_TESTED);
        build.args(features.iter().copied().chain(as_tested).flat_map(|feature| ["--features", feature]));
        match profile {
            PUBLISHED => _ = self.workspace.for_others(&mut build),
            _ => lint(&mut build),
        }
        let log = format!("python-{folder}");
        self.workspace.announce("building the wheel", &log);
        self.workspace.logged(&log, build.current_dir(&self.folder))?;
        let wheel = only_file(&wheels)?;
        match folder {
            PUBLISHED_WHEELS => Ok(wheel),
            label => self.labelled(&wheel, label),
        }
    }

    /// Gives a wheel that is only tested another version than the one that is published, so that nobody takes it for that.
    fn labelled(&self, wheel: &Path, label: &str) -> Result<PathBuf> {
        let mut rename = self.workspace.command(self.program("python"), &["-c", LOCAL_VERSION]);
        let renamed = self.workspace.logged("python-label", rename.arg(wheel).arg(label))?;
        Ok(PathBuf::from(renamed.trim()))
    }

    /// The annotations are strict, and the stubs say what the native module has: no more, no less.
    fn types(&self) -> Result<()> {
        let mut mypy =
            self.workspace.command(self.program("mypy"), &["python/gambeson", "tests", "bench", "examples"]);
        self.workspace.logged("python-mypy", mypy.current_dir(&self.folder))?;
        let mut stubtest = self.workspace.command(self.program("stubtest"), &["gambeson"]);
        // Elsewhere than beside the sources: what is installed is compared.
        self.workspace.logged("python-stubtest", stubtest.current_dir(&self.made))?;
        Ok(())
    }

    /// Runs the tests, with those of the vectors if there is the module for them.
    fn tests(&self, wheel: &Path, unshipped: Option<&Path>) -> Result<(usize, String)> {
        let mut pytest = self.workspace.command(self.program("pytest"), &["-p", "no:cacheprovider"]);
        pytest.current_dir(&self.folder).env("PYTHONDONTWRITEBYTECODE", "1").env("GAMBESON_WHEEL", wheel);
        match unshipped {
            Some(module) => pytest.env("GAMBESON_VECTORS", module),
            None => pytest.arg("--ignore=tests/test_vectors.py"),
        };
        let (success, text) = self.workspace.tried("python-tests", &mut pytest)?;
        let passed = outcomes(&text, "passed");
        if !success || passed == 0 || outcomes(&text, "skipped") != 0 {
            bail!("{}", tail(&text, 100));
        }
        let size = fs::metadata(wheel)?.len() >> 10;
        Ok((passed, format!("{passed} tests, stubs as the module is, a wheel of {size} KiB")))
    }
}

fn only_file(folder: &Path) -> Result<PathBuf> {
    match &files_in(folder, "")?[..] {
        [file] => Ok(file.clone()),
        files => bail!("{} wheels were built in {}, not one", files.len(), folder.display()),
    }
}

/// The number before `word` in the last line of pytest: `153 passed, 1 skipped in 1.14s`.
fn outcomes(text: &str, word: &str) -> usize {
    let line = text.lines().next_back().unwrap_or_default();
    let words: Vec<&str> = line.split([' ', ',']).filter(|part| !part.is_empty()).collect();
    words.windows(2).find(|pair| pair[1] == word).and_then(|pair| pair[0].parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::EVERYTHING;
    use std::collections::{BTreeMap, BTreeSet};
    use std::process::Command;

    /// What the wheel and the workspace both stand on is built once only if both take the same version of it.
    #[test]
    fn both_lock_files_take_the_same_versions() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let of_the_workspace = locked(&root.join("Cargo.lock"));
        let of_the_wheel = locked(&root.join("bindings/python/Cargo.lock"));
        let both: Vec<_> =
            of_the_wheel.iter().filter(|(package, _)| of_the_workspace.contains_key(*package)).collect();
        assert!(both.len() > 300, "{} packages are in both", both.len());
        let differ: Vec<_> =
            both.into_iter().filter(|(package, version)| of_the_workspace[*package] != **version).collect();
        assert!(differ.is_empty(), "cargo update --precise, for Cargo.lock has others: {differ:?}");
    }

    /// A profile with another setting builds everything again.
    #[test]
    fn the_wheel_has_the_profile_of_the_workspace() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let checked = |manifest: &str| -> toml::Table {
            let manifest: toml::Table =
                toml::from_str(&fs::read_to_string(root.join(manifest)).unwrap()).unwrap();
            manifest["profile"]["checked"].as_table().unwrap().clone()
        };
        let (mut of_the_workspace, mut of_the_wheel) =
            (checked("Cargo.toml"), checked("bindings/python/Cargo.toml"));
        let packages = [&mut of_the_workspace, &mut of_the_wheel].map(|profile| {
            let mut packages = profile.remove("package").unwrap().as_table().unwrap().clone();
            packages.retain(|name, _| !name.starts_with("gambeson"));
            packages
        });
        assert_eq!(packages[0], packages[1]);
        assert_eq!(of_the_workspace, of_the_wheel);
    }

    /// What is built with other features is built again, and all that stands on it: `as-tested` asks for those of the workspace.
    #[test]
    fn the_wheel_that_is_tested_has_the_features_of_the_workspace() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let of_the_workspace = features(root, &EVERYTHING);
        let of_the_wheel = features(&root.join("bindings/python"), &["--features", AS_TESTED]);
        let both: Vec<_> =
            of_the_wheel.iter().filter(|(package, _)| of_the_workspace.contains_key(*package)).collect();
        assert!(both.len() > 200, "{} packages are in both", both.len());
        let differ: Vec<_> =
            both.into_iter().filter(|(package, has)| !has.is_subset(&of_the_workspace[*package])).collect();
        assert!(differ.is_empty(), "bindings/python/as-tested: the workspace has others than {differ:?}");
    }

    /// Returns the sets of features that third-party packages are built with, by name and version: one that runs in the compiler, too, may have
    /// two sets.
    fn features(folder: &Path, selected: &[&str]) -> BTreeMap<String, BTreeSet<String>> {
        let mut tree = Command::new("cargo");
        tree.args(["tree", "--edges", "normal,build,dev", "--prefix", "none", "--format", "{p};{f}"]);
        tree.args(["--target", "x86_64-unknown-linux-gnu"]);
        let output = tree.args(selected).current_dir(folder).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let text = String::from_utf8(output.stdout).unwrap();
        let lines = text.lines().filter_map(|line| line.trim_end_matches(" (*)").split_once(';'));
        // A package of ours has its folder after its version.
        let theirs = lines.filter(|(package, _)| !package.contains("(/"));
        let mut all = BTreeMap::<String, BTreeSet<String>>::new();
        for (package, features) in theirs {
            all.entry(package.to_owned()).or_default().insert(features.to_owned());
        }
        all
    }

    /// The version of each package, by its name and the part of the version that says what it is compatible with.
    fn locked(file: &Path) -> BTreeMap<(String, String), String> {
        let lock: toml::Table = toml::from_str(&fs::read_to_string(file).unwrap()).unwrap();
        let packages = lock["package"].as_array().unwrap().iter();
        let text = |package: &toml::Value, key: &str| package[key].as_str().unwrap().to_owned();
        let named = packages.map(|package| (text(package, "name"), text(package, "version")));
        let compatible = |version: &str| match version.split('.').collect::<Vec<_>>()[..] {
            ["0", "0", patch] => format!("0.0.{patch}"),
            ["0", minor, ..] => format!("0.{minor}"),
            [major, ..] => major.to_owned(),
            [] => String::new(),
        };
        named.map(|(name, version)| ((name, compatible(&version)), version)).collect()
    }

    #[test]
    fn the_last_line_of_pytest_is_read() {
        let text = "....\n3 failed, 153 passed, 1 skipped in 1.14s\n";
        assert_eq!(["passed", "failed", "skipped"].map(|word| outcomes(text, word)), [153, 3, 1]);
        assert_eq!(outcomes("no tests ran in 0.01s\n", "passed"), 0);
    }
}
