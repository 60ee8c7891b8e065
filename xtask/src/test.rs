//! `cargo xtask test`: every check of the project, in order, with its minutes.

use crate::constant_time::{Extent, Stepped};
use crate::programs::{self, Program};
use crate::report::{Done, Report, Step, counted, judged};
use crate::run::{Tool, Workspace, cargo_home, installed, provide};
use crate::{
    aarch64, answers, api, bare, c, cite, constant_time, declassified, firmware, fuzzing, independent,
    instructions, layers, massif, notices, python, residue, slim, stack, thumb, typescript, without_c,
};
use anyhow::{Result, bail, ensure};
use std::ffi::OsStr;
use std::fs::{self, DirEntry};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

const TOOLS: &[Tool] = &[
    Tool { program: "valgrind", packages: &["valgrind"] },
    Tool { program: "objdump", packages: &["binutils"] },
    Tool { program: "arm-none-eabi-objdump", packages: &["binutils-arm-none-eabi"] },
    Tool { program: "arm-none-eabi-gcc", packages: &["gcc-arm-none-eabi"] },
    Tool { program: "qemu-system-arm", packages: &["qemu-system-arm"] },
    Tool { program: "riscv64-unknown-elf-ld", packages: &["binutils-riscv64-unknown-elf"] },
    Tool { program: "qemu-system-riscv32", packages: &["qemu-system-misc"] },
    Tool { program: "qemu-aarch64", packages: &["qemu-user"] },
    Tool { program: "aarch64-linux-gnu-gcc", packages: &["gcc-aarch64-linux-gnu", "libc6-dev-arm64-cross"] },
    Tool {
        program: "arm-linux-gnueabihf-gcc",
        packages: &["gcc-arm-linux-gnueabihf", "libc6-dev-armhf-cross"],
    },
    Tool { program: "/usr/bin/cargo", packages: &["rustc-web", "cargo-web", "rust-web-src"] },
    Tool { program: "/usr/lib/rustlib/src/rust/library/core/Cargo.toml", packages: &["rust-web-src"] },
    Tool { program: "/usr/lib/wasm32-wasi", packages: &["wasi-libc"] },
    Tool { program: "go", packages: &["golang"] },
    Tool { program: "python3", packages: &["python3", "python3-venv"] },
    Tool { program: "java", packages: &["default-jdk-headless"] },
    Tool { program: "mvn", packages: &["maven"] },
    Tool { program: "cc", packages: &["build-essential"] },
    Tool { program: "cmake", packages: &["cmake"] },
    Tool { program: "pkg-config", packages: &["pkg-config"] },
    Tool { program: "clang", packages: &["clang", "libclang-dev"] },
    Tool { program: "gzip", packages: &["gzip"] },
    Tool { program: "node", packages: &["nodejs"] },
    Tool { program: "npm", packages: &["npm"] },
    Tool { program: "chromium", packages: &["chromium"] },
    Tool { program: "openssl", packages: &["openssl"] },
    Tool { program: "curl", packages: &["curl"] },
    Tool { program: "nginx", packages: &["nginx-light"] },
    Tool { program: "nats-server", packages: &["nats-server"] },
];

/// All steps, or those whose name contains `only`. Returns whether all is well.
pub fn run(workspace: &Workspace, full: bool, only: Option<String>) -> Result<bool> {
    let start = Instant::now();
    let missing = provide(workspace, TOOLS);
    if !missing.is_empty() {
        println!("not here and not installable: {}", missing.join(", "));
    }
    let mut report = Report::new(workspace, only);
    sources(&mut report);
    tests(&mut report);
    packages(&mut report, full);
    gates(&mut report, full);
    program(&mut report);
    meetings(&mut report);
    if full {
        long_runs(&mut report);
    }
    Ok(report.end(start))
}

fn absent(program: &'static str) -> Option<&'static str> {
    (!installed(program)).then_some(program)
}

/// Packages that are workspaces of their own.
const ALONE: [&str; 13] = [
    "bench/peers",
    "bench/peers/mls",
    "bindings/python",
    "bindings/typescript",
    "bindings/typescript/bind",
    "fuzz",
    "gates/aarch64",
    "gates/bare",
    "gates/massif",
    "gates/wasm",
    "interop",
    "interop/firmware",
    "interop/heavy",
];

fn sources(report: &mut Report<'_>) {
    let workspace = report.workspace;
    report.step("fmt", None, || {
        quiet(workspace, "fmt", &["fmt", "--all", "--check"], "")?;
        quiet(workspace, "fmt", &["fmt", "--all", "--check", "--manifest-path", "firmware/Cargo.toml"], "")?;
        for package in ALONE {
            let manifest = format!("{package}/Cargo.toml");
            quiet(workspace, "fmt", &["fmt", "--check", "--manifest-path", &manifest], "")?;
        }
        Ok(format!("{} workspaces are formatted", ALONE.len() + 2))
    });
    report.step("clippy", None, || {
        // In the profile of the tests: what runs in the compiler, and what is C, is built once for both.
        let mut all = vec!["clippy", "--quiet", "--workspace", "--all-targets", "--all-features"];
        all.extend(["--profile", "checked"].iter().chain(without_slim()));
        all.extend(["--", "-D", "warnings"]);
        quiet(workspace, "clippy", &all, "")?;
        let mut none =
            vec!["clippy", "--quiet", "-p", "gambeson", "--no-default-features", "--profile", "checked"];
        none.extend(["--", "-D", "warnings"]);
        quiet(workspace, "clippy-bare", &none, "")?;
        if channels_missing().is_none() {
            let mut channels =
                vec!["clippy", "--quiet", "-p", "gambeson-cli", "--features", "slim", "--all-targets"];
            channels.extend(["--profile", "checked", "--", "-D", "warnings"]);
            quiet(workspace, "clippy-without-bridges", &channels, "")?;
        }
        // What is for devices alone needs their targets, which clippy's compiler does not have.
        let [massif, firmware] = ["gates/massif/Cargo.toml", "firmware/Cargo.toml"];
        let packages = ["-p", "gambeson-firmware-plugin", "-p", "gambeson-firmware-update", "--all-targets"];
        for (manifest, packages) in [(massif, &[][..]), (firmware, &packages)] {
            let mut beside = vec!["clippy", "--quiet", "--locked", "--manifest-path", manifest];
            beside.extend(packages.iter().chain(&["--", "-D", "warnings"]));
            quiet(workspace, "clippy-beside", &beside, "")?;
        }
        Ok(String::from("no warning, with all features, without any, and with channels without bridges"))
    });
    report.step("layers", None, || layers::check(workspace));
    report.step("without C", None, || without_c::check(workspace));
    report.step("cite", None, || cite::check(workspace));
    report.step("notices", None, || notices::check(workspace, false));
    report.step("declassified", None, || declassified::check(workspace));
}

fn tests(report: &mut Report<'_>) {
    let workspace = report.workspace;
    let vectors =
        workspace.shared_vectors().map_or("../shared/vectors is not there", |_| "with ../shared/vectors");
    report.step("tests of the workspace", None, || {
        // What is installed for the tests waits for a network.
        let (programs, peers) = thread::scope(|scope| {
            let peers = scope.spawn(|| peers(workspace));
            let programs = programs::build(workspace, "tests-build", &mut everything(workspace, &["test"]));
            (programs, peers.join().unwrap_or_else(|_| bail!("the installation of the peers panicked")))
        });
        let programs = programs?;
        // What compiles, with one thread for the most part, comes first.
        let documented = everything(workspace, &["test", "--no-fail-fast", "--doc"]);
        let mut commands = vec![(String::from("tests-documentation"), documented)];
        commands.extend(of_each("tests", workspace, &programs));
        for (variable, program) in peers? {
            commands.iter_mut().for_each(|(_, command)| _ = command.env(variable, &program));
        }
        let (success, text) = programs::run(workspace, commands)?;
        judged(success, &text, vectors)
    });
    // As this program was built: what it stands on is compiled once.
    report.step("tests of xtask", None, || {
        let mut test = workspace.command("cargo", &["test", "-p", "xtask", "--profile", "dev"]);
        counted("tests-xtask", workspace, &mut test, "the gates' own")
    });
    if let Some(missing) = channels_missing() {
        report.step("channels over SLIM and NATS", Some(missing), || Ok(String::new()));
        report.step("channels", None, || {
            let mut test = of_channels(workspace, &["test", "--no-fail-fast"]);
            counted("tests-channels", workspace, &mut test, "in memory, in a file, in virtual time")
        });
    }
    report.step("tests of the core without features", None, || {
        let arguments = ["-p", "gambeson", "--no-default-features", "--lib", "--profile", "checked"];
        cargo_test(workspace, "tests-no-features", &arguments, "no alloc, no system")
    });
    report.step("TLS over ring, MLS with rayon", absent("cc"), || {
        // Of the whole workspace, so that what it stands on is built already; its library has no tests in itself.
        let mut test =
            everything(workspace, &["test", "--features", "gambeson-rustls/ring,gambeson-mls/rayon"]);
        test.args(["--test", "ahead"]);
        for file in entries(&workspace.root.join("crates/rustls/tests")).map(|file| file.path()) {
            if let (Some(name), Some("rs")) = (file.file_stem(), file.extension().and_then(OsStr::to_str)) {
                test.arg("--test").arg(name);
            }
        }
        let programs = programs::build(workspace, "tests-ring-build", &mut test)?;
        let (success, text) =
            programs::run(workspace, of_each("tests-ring", workspace, &programs).collect())?;
        judged(success, &text, "where graviola does not run, and on all processors")
    });
    report.step("rustdoc", None, || {
        let mut doc = document(workspace);
        workspace.logged("doc", doc.env("RUSTDOCFLAGS", "-D warnings"))?;
        Ok(String::from("no warning"))
    });
}

/// Commands that run programs of tests, each with the name of its log.
fn of_each<'a>(
    log: &'a str,
    workspace: &'a Workspace,
    programs: &'a [Program],
) -> impl Iterator<Item = (String, Command)> + 'a {
    let numbered = programs.iter().enumerate();
    numbered.map(move |(number, program)| {
        (format!("{log}-{number}-{}", program.name), program.command(workspace))
    })
}

/// The programs that tests of the workspace meet, each in its variable.
fn peers(workspace: &Workspace) -> Result<Vec<(&'static str, PathBuf)>> {
    let mut peers = Vec::new();
    if channels_missing().is_none() {
        peers.push((slim::PYTHON, slim::python(workspace)?));
    }
    // The provider meets the OpenSSL inside it, which is newer than Debian's.
    if independent::missing().is_none() {
        peers.push((independent::NODE, independent::pinned_node(workspace)?));
    }
    Ok(peers)
}

/// The documentation of every library. The examples are there for the features that come with them: what is checked for clippy is not
/// checked again.
pub fn document(workspace: &Workspace) -> Command {
    let mut doc = workspace.cargo(&[
        "doc",
        "--quiet",
        "--workspace",
        "--no-deps",
        "--all-features",
        "--lib",
        "--examples",
        "--profile",
        "checked",
    ]);
    doc.args(without_slim());
    doc
}

/// What this machine lacks for the tests of channels.
fn channels_missing() -> Option<&'static str> {
    slim::missing().or(absent("nats-server"))
}

/// The same for channels, over SLIM or without it.
pub fn of_channels(workspace: &Workspace, command: &[&str]) -> Command {
    if channels_missing().is_none() {
        return everything(workspace, command);
    }
    let mut cargo = workspace.cargo(command);
    cargo.args(["-p", "gambeson-slim", "--features", "redb,sim,websocket", "--profile", "checked"]);
    cargo
}

/// What the tests of the workspace ask for beside the defaults.
pub const FEATURES: &str = "gambeson/rustcrypto,gambeson/self-test";
/// The same of what stands on SLIM's crates.
pub const OF_CHANNELS: &str = "gambeson-cli/bridge,gambeson-cli/sim";

/// A cargo command for the whole workspace, in the profile that checks itself: one set of features for all that asks so, which is
/// built once.
pub fn everything(workspace: &Workspace, command: &[&str]) -> Command {
    let mut cargo = workspace.cargo(command);
    cargo.args(["--workspace", "--exclude", "xtask", "--profile", "checked"]);
    cargo.args(["--features", FEATURES]);
    match channels_missing() {
        Some(_) => cargo.args(["--exclude", "gambeson-slim"]),
        None => cargo.args(["--features", OF_CHANNELS]),
    };
    cargo
}

/// With all features these two stand on SLIM's crates; where those cannot be built, the step `slim` says so.
fn without_slim() -> &'static [&'static str] {
    slim::missing().map_or(&[], |_| &["--exclude", "gambeson-slim", "--exclude", "gambeson-cli"])
}

fn packages(report: &mut Report<'_>, full: bool) {
    let workspace = report.workspace;
    let compiler = (!bare::possible()).then_some("a compiler for a bare target");
    // Most of their time one thread compiles a standard library, or emulates a processor. The longest come first.
    report.together(vec![
        Step::new("aarch64 under qemu", aarch64::missing(), || aarch64::check(workspace)),
        Step::new("firmware", firmware::missing(), || firmware::check(workspace, full)),
        Step::new("no_std", compiler, || bare::check(workspace)),
        Step::new("Armv7E-M under qemu", thumb::missing(), || thumb::check(workspace)),
        Step::new("core as WebAssembly", typescript::missing(), || typescript::core(workspace)),
        Step::new("C on Cortex-M4", c::missing_for_cortex_m4(), || c::cortex_m4(workspace)),
        Step::new("firmware and peers", firmware::exchange::missing(full), || {
            firmware::exchange::check(workspace, full)
        }),
        Step::new("public API", None, || api::check(workspace, false)),
        // That they build, too, is for the long runs: it is another build of everything.
        Step::new("publish --dry-run", None, || published(workspace, false)),
    ]);
    semver(report);
}

/// Packs every published package and, with `built`, builds each from its package.
fn published(workspace: &Workspace, built: bool) -> Result<String> {
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

/// A program from crates.io: this machine's, or one that is built into the target folder once.
fn tool(workspace: &Workspace, name: &str) -> Result<PathBuf> {
    if installed(name) {
        return Ok(name.into());
    }
    let root = workspace.target.join("tools");
    let program = root.join("bin").join(name);
    if !program.exists() {
        let mut install = workspace.cargo(&["install", "--quiet", "--locked", name, "--root"]);
        workspace.logged(&format!("install-{name}"), install.arg(&root))?;
    }
    Ok(program)
}

/// Compares the public API with the last release; without one there is nothing to compare.
fn semver(report: &mut Report<'_>) {
    let workspace = report.workspace;
    if !report.wants("semver-checks") {
        return;
    }
    let tags = Command::new("git")
        .args(["tag", "--list", "v*", "--sort=-v:refname"])
        .current_dir(&workspace.root)
        .output();
    let tags = tags.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    let Some(baseline) = tags.lines().next() else {
        println!("== semver-checks");
        report.skip("semver-checks", "there is no baseline yet (no tag v*)");
        return;
    };
    report.step("semver-checks", None, || {
        let program = tool(workspace, "cargo-semver-checks")?;
        let mut check =
            workspace.command(program, &["semver-checks", "--workspace", "--baseline-rev", baseline]);
        workspace.logged("semver-checks", &mut check)?;
        Ok(format!("no breaking change since {baseline}"))
    });
}

fn gates(report: &mut Report<'_>, full: bool) {
    let workspace = report.workspace;
    let extent = if full { Extent::Everything } else { Extent::Released };
    report.step("constant time", absent("valgrind"), || {
        let (mut note, skipped) = constant_time::check(workspace, extent)?;
        if skipped > 0 {
            note += "; skipped: this machine has no AVX2";
        }
        Ok(Done { passed: 1, skipped, note })
    });
    // Each of these waits for one thread most of its time.
    report.together(vec![
        // No installation brings an instruction set: counted as skipped in CI too.
        Step::new("constant time, step by step", None, || {
            Ok(match constant_time::step(workspace, extent)? {
                Stepped::Alike(note) => Done { passed: 1, skipped: 0, note },
                Stepped::NotHere => {
                    Done { passed: 0, skipped: 1, note: String::from("skipped: this machine has no AVX-512") }
                }
            })
        }),
        Step::new("residue", None, || residue::check(workspace)),
    ]);
    report.step("divisions", absent("objdump"), || {
        if workspace.ci && (bare::object(workspace).is_none() || aarch64::operations(workspace).is_none()) {
            bail!("there are no objects for thumb and aarch64");
        }
        constant_time::divisions(workspace, extent)
    });
    report.step("stack", None, || {
        let rows = stack::measure(workspace)?;
        print!("{}", stack::table(&rows));
        stack::check(&rows)
    });
    report.step("stack under massif", massif::missing(), || {
        let rows = massif::measure(workspace)?;
        print!("{}", massif::table(&rows, &[]));
        massif::check(&rows)
    });
}

fn program(report: &mut Report<'_>) {
    let workspace = report.workspace;
    report.step("program", None, || answers::build(workspace));
    report.step("vectors serve", None, || answers::compare(workspace, &answers::plain(workspace)));
    report.step("vectors check", None, || answers::canary(workspace));
    report.step("identity vectors", None, || answers::subjects(workspace));
    match workspace.shared_vectors() {
        Some(folder) => report.step("shared vectors", None, || answers::check_shared(workspace, &folder)),
        None if report.wants("shared vectors") => {
            println!("== shared vectors");
            report.skip("shared vectors", "../shared/vectors is not there");
        }
        None => {}
    }
    report.step("demo", None, || {
        let mut demo = workspace.command(workspace.built("checked", "gambeson"), &["demo"]);
        if let Some(missing) = channels_missing() {
            ensure!(!workspace.ci, "no stock node can be started: {missing} is not here");
            workspace.logged("demo", &mut demo)?;
            let note = "files, agents, a channel; skipped: over a stock node of SLIM".into();
            return Ok(Done { passed: 1, skipped: 1, note });
        }
        demo.env(slim::PYTHON, slim::python(workspace)?);
        let begun = Instant::now();
        let text = workspace.logged("demo", &mut demo)?;
        ensure!(
            begun.elapsed() < Duration::from_secs(60),
            "it took {:?}, a minute is the most",
            begun.elapsed()
        );
        ensure!(names_a_node(&text) && !text.contains("not SLIM"), "no stock node:\n{text}");
        let note =
            "files, agents, a channel over a stock node of SLIM; tampering and whoever is removed refused";
        Ok(Done::from(note.to_owned()))
    });
}

/// Whether a demonstration tells the version and the process of the node that carried its channel.
fn names_a_node(text: &str) -> bool {
    let mut nodes =
        text.lines().filter_map(|line| line.split_once("node of SLIM ")?.1.split_once(", process "));
    nodes.any(|(version, pid)| version.split('.').count() == 3 && pid.parse::<u32>().is_ok())
}

/// The peers of `interop` that take minutes to build, which no step runs. None may be skipped, and the table in the docs is rewritten.
pub fn heavy(workspace: &Workspace) -> Result<String> {
    let mut test = workspace.cargo(&["test", "--release", "--manifest-path", "interop/Cargo.toml"]);
    test.args(["--test", "interop", "--", "--test-threads", "1"]);
    test.env("CI", "true").env("GAMBESON_BLESS", "1");
    test.env("GAMBESON_INTEROP_HEAVY", workspace.target.join("heavy"));
    Ok(counted("interop-heavy", workspace, &mut test, "with peers that were built here")?.note)
}

/// What meets other people's programs: it waits for them, and for one thread of a compiler.
fn meetings(report: &mut Report<'_>) {
    let workspace = report.workspace;
    let missing = ["go", "python3", "java", "mvn"].into_iter().find_map(absent);
    report.together(vec![
        Step::new("interop", missing, || {
            let mut test = workspace.cargo(&["test", "--no-fail-fast", "--profile", "checked"]);
            test.args(["--manifest-path", "interop/Cargo.toml"]);
            test.env("GAMBESON_PROGRAM", answers::checked(workspace)?);
            counted("interop", workspace, &mut test, "with the peers' own programs")
        }),
        // Before python, which would wait for the build of interop.
        Step::new("typescript", typescript::missing(), || typescript::check(workspace)),
        Step::new("python", absent("python3"), || python::check(workspace, python::CHECKED)),
        Step::new("C", c::missing(), || c::host(workspace)),
        Step::new("independent programs", independent::missing(), || independent::check(workspace)),
    ]);
}

fn long_runs(report: &mut Report<'_>) {
    let workspace = report.workspace;
    report.step("ignored tests", None, || {
        let arguments = ["--workspace", "--release", "--lib", "--bins", "--tests", "--", "--ignored"];
        cargo_test(workspace, "tests-ignored", &arguments, "the long ones")
    });
    report.step("packages", None, || published(workspace, true));
    report.step("answers of the release", None, || {
        answers::build(workspace)?;
        answers::compare(workspace, &answers::released(workspace)?)
    });
    report.step("a hundred processes", channels_missing(), || {
        let mut test = everything(workspace, &["test", "--test", "processes"]);
        test.args(["--", "--ignored"]).env(slim::PYTHON, slim::python(workspace)?);
        counted(
            "a-hundred-processes",
            workspace,
            &mut test,
            "through one stock node, and through a mesh of which one is killed",
        )
    });
    // The peers behind features are C and assembly that a machine may not be able to build; the portable tables are
    // not compared with them.
    report.step("peers", None, || {
        let arguments = [
            "run",
            "--quiet",
            "--release",
            "--no-default-features",
            "--manifest-path",
            "bench/peers/Cargo.toml",
            "--",
            "--limit",
            "portable",
            "--check",
        ];
        quiet(workspace, "peers", &arguments, "at least as fast as the tables say")
    });
    for level in ["avx2", "avx512"] {
        table_of_peers(report, level);
    }
    deny(report);
    report.step("python bench", absent("python3"), || {
        ensure!(python::bench(workspace, true)?, "slower than it should be");
        Ok(String::from("within 10 % of native Rust"))
    });
    report.step("typescript bench", typescript::missing(), || {
        ensure!(typescript::bench(workspace, true)?, "slower than liboqs-js");
        Ok(String::from("at least as fast as liboqs-js in every row"))
    });
    report.step("typescript size", typescript::missing(), || {
        ensure!(typescript::size(workspace, true)?, "larger than was promised: decision 15");
        Ok(String::from("as small as was promised"))
    });
    report.step("instructions", instructions::missing(), || instructions::check(workspace, false));
    report.step("firmware vectors", firmware::missing(), || firmware::vectors(workspace));
    report.step("firmware traces", firmware::missing(), || firmware::constant_time(workspace));
    report.step("firmware bench", firmware::missing(), || {
        let asked = firmware::Bench { json: false, check: true, only: None };
        ensure!(firmware::bench(workspace, &asked)?, "limits are missed: docs/embedded/README.md");
        Ok(String::from("every row within its limits"))
    });
    report.step("one key derivation", None, || {
        let arguments = ["bench", "agent", "--op", "derivation", "--check"];
        let program = answers::released(workspace)?;
        workspace.logged("derivation", &mut workspace.command(program, &arguments))?;
        Ok(String::from("at most two bare BLAKE3 hashes of 64 bytes"))
    });
    let nightly = (!fuzzing::nightly(workspace)).then_some("the nightly toolchain");
    report.step("address sanitizer", nightly, || {
        let target = "x86_64-unknown-linux-gnu";
        let mut test = workspace.cargo(&[
            "test",
            "-p",
            "gambeson",
            "--lib",
            "--release",
            "--all-features",
            "--target",
            target,
        ]);
        test.env("RUSTUP_TOOLCHAIN", "nightly").env("RUSTFLAGS", "-Zsanitizer=address");
        counted("address-sanitizer", workspace, &mut test, "no finding")
    });
    report.step("fuzz targets", nightly, || fuzzing::run(workspace, 60, &[]));
}

/// What deny.toml allows, by cargo-deny. Its list of advisories comes over the network each time.
fn deny(report: &mut Report<'_>) {
    let (workspace, name) = (report.workspace, "cargo-deny");
    if !report.wants(name) {
        return;
    }
    let program = match tool(workspace, name) {
        Ok(program) => program,
        Err(_) => {
            println!("== {name}");
            return report.skip(name, "it is not here, and cargo could not install it");
        }
    };
    report.step(name, None, || {
        let offline = ["check", "bans", "licenses", "sources"];
        workspace.logged("deny", &mut workspace.command(&program, &offline))?;
        let mut advisories = workspace.command(&program, &["check", "advisories"]);
        let (success, text) = workspace.tried("deny-advisories", &mut advisories)?;
        let fetched = !text.contains("failed to fetch advisory database");
        ensure!(success || !fetched, "{text}");
        let note = match fetched {
            true => "licences, bans, sources and advisories as deny.toml has them",
            false => "licences, bans and sources as deny.toml has them; skipped: the advisories, which could not be fetched",
        };
        Ok(Done { passed: 1, skipped: usize::from(!fetched), note: note.into() })
    });
}

/// The tables for vectors, beside every peer; those in C and assembly are behind features that not every machine can build.
fn table_of_peers(report: &mut Report<'_>, level: &str) {
    let (workspace, name) = (report.workspace, format!("peers with {level}"));
    if !report.wants(&name) {
        return;
    }
    let mut build =
        workspace.cargo(&["build", "--quiet", "--release", "--manifest-path", "bench/peers/Cargo.toml"]);
    let why_not = match runs(level).then(|| workspace.tried("peers-build", &mut build)) {
        None => Some(format!("this machine has no {level}")),
        Some(Ok((true, _))) => None,
        Some(_) => {
            Some(String::from("the peers in C and assembly do not build here: target/xtask/peers-build.log"))
        }
    };
    if let Some(why) = why_not {
        println!("== {name}");
        return report.skip(&name, &why);
    }
    report.step(&name, None, || {
        let program = workspace.built("release", "gambeson-bench-peers");
        let mut peers = workspace.command(program, &["--limit", level, "--check"]);
        workspace.logged(&format!("peers-{level}"), &mut peers)?;
        Ok(String::from("at least as fast as the tables say"))
    });
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

fn quiet(workspace: &Workspace, name: &str, arguments: &[&str], note: &str) -> Result<String> {
    workspace.logged(name, &mut workspace.cargo(arguments))?;
    Ok(note.to_owned())
}

fn cargo_test(workspace: &Workspace, name: &str, arguments: &[&str], note: &str) -> Result<Done> {
    let mut test = workspace.cargo(&["test", "--no-fail-fast"]);
    counted(name, workspace, test.args(arguments), note)
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let workspace = Workspace { root: ".".into(), target: ".".into(), ci: false };
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

    #[test]
    fn continuous_integration_runs_the_tests() {
        let script = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../.ci/run")).unwrap();
        assert!(script.contains("\nexport CI=true\n") && script.ends_with("\ncargo xtask test\n"));
    }
}
