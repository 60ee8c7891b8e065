//! Finding, building and running the peers.

use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use libtest_mimic::{Failed, Trial};

/// What a test answers.
pub type Result<T = ()> = std::result::Result<T, Failed>;

/// Whether a test that cannot run has failed.
fn must_run() -> bool {
    std::env::var("CI").is_ok_and(|ci| ci == "true" || ci == "1")
}

/// A test that cannot run: ignored, or failed where nothing may be skipped. The reason is printed.
#[must_use]
pub fn unavailable(name: &str, reason: &str) -> Trial {
    eprintln!("{name} cannot run: {reason}");
    let reason = reason.to_owned();
    Trial::test(format!("{name} (skipped)"), move || Err(reason.into())).with_ignored_flag(!must_run())
}

/// A command without the toolchain settings that cargo gave to this test.
#[must_use]
pub fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command.env_remove("RUSTFLAGS").env_remove("CARGO_ENCODED_RUSTFLAGS").stdin(Stdio::null());
    command
}

/// Runs a command to its end with `input` on its standard input.
///
/// # Errors
/// The program cannot be started.
pub fn run(command: &mut Command, input: &[u8]) -> Result<Output> {
    let name = command.get_program().to_string_lossy().into_owned();
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("{name}: {error}"))?;
    let mut stdin = child.stdin.take().expect("it was piped");
    let output = std::thread::scope(|scope| {
        scope.spawn(move || stdin.write_all(input)); // a peer that ends early closes the pipe: no error of ours
        child.wait_with_output()
    });
    Ok(output.map_err(|error| format!("{name}: {error}"))?)
}

/// Runs a command that must succeed, and returns its standard output.
///
/// # Errors
/// The program cannot be started, or fails; its standard error is in the message.
pub fn succeed(command: &mut Command, input: &[u8]) -> Result<Vec<u8>> {
    let output = run(command, input)?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let stderr = String::from_utf8_lossy(&output.stderr);
    Err(format!("{command:?}: {}\n{stderr}", output.status).into())
}

/// The Go toolchain that `GAMBESON_GO` names, or that of this machine, told not to fetch another one.
#[must_use]
pub fn go() -> Command {
    let mut go = command(std::env::var_os("GAMBESON_GO").unwrap_or_else(|| "go".into()));
    go.env("GOTOOLCHAIN", "local").env("GOFLAGS", "-mod=mod");
    go
}

/// Our program: the one that `GAMBESON_PROGRAM` names, or built from this checkout.
///
/// # Errors
/// It cannot be built.
pub fn gambeson() -> Result<PathBuf> {
    std::env::var_os("GAMBESON_PROGRAM")
        .map_or_else(|| built("gambeson-cli", "gambeson"), |path| Ok(path.into()))
}

/// A file that cargo makes of a package of this checkout, where its workspace makes it too.
///
/// # Errors
/// It cannot be built.
pub fn built(package: &str, file: &str) -> Result<PathBuf> {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../Cargo.toml");
    let mut build = cargo();
    build.args(["build", "--release", "-p", package, "--message-format", "json"]);
    // What is there with these flags is not built again.
    build.envs(std::env::var_os("RUSTFLAGS").map(|flags| ("RUSTFLAGS", flags)));
    let messages = succeed(build.arg("--manifest-path").arg(manifest), b"")?;
    let messages = messages
        .split(|byte| *byte == b'\n')
        .filter_map(|line| serde_json::from_slice::<serde_json::Value>(line).ok());
    let files = messages.flat_map(|message| message["filenames"].as_array().cloned().unwrap_or_default());
    let mut paths = files.filter_map(|name| name.as_str().map(PathBuf::from));
    Ok(paths
        .find(|path| path.file_name().is_some_and(|name| name == file))
        .ok_or("cargo named no such file")?)
}

/// Cargo, the one that runs this.
#[must_use]
pub fn cargo() -> Command {
    command(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// The Python of a virtual environment with these packages; it is made below the folder, unless it is there.
///
/// # Errors
/// Python has no such environments, or pip finds the packages nowhere.
pub fn python_with(folder: &Path, packages: &[&str]) -> Result<PathBuf> {
    let ready = folder.join("ready");
    if std::fs::read_to_string(&ready).ok() != Some(packages.join(" ")) {
        succeed(command("python3").args(["-m", "venv", "--clear"]).arg(folder), b"")?;
        let mut pip = command(folder.join("bin/pip"));
        succeed(pip.args(["install", "--quiet", "--disable-pip-version-check"]).args(packages), b"")?;
        std::fs::write(&ready, packages.join(" "))?;
    }
    Ok(folder.join("bin/python"))
}

/// Whether a file is there.
#[must_use]
pub fn exists(path: &Path) -> bool {
    path.try_exists().unwrap_or(false)
}

/// An assertion that fails the test instead of panicking.
///
/// # Errors
/// `what`, when `right` is false.
pub fn check(right: bool, what: impl AsRef<str>) -> Result {
    if right { Ok(()) } else { Err(what.as_ref().into()) }
}
