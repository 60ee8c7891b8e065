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

/// The Go toolchain, told not to fetch another one.
#[must_use]
pub fn go() -> Command {
    let mut go = command("go");
    go.env("GOTOOLCHAIN", "local").env("GOFLAGS", "-mod=mod");
    go
}

/// Builds our program from this checkout, where its workspace builds it too.
///
/// # Errors
/// Cargo fails.
pub fn program() -> Result<PathBuf> {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../Cargo.toml");
    let mut cargo = command(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["build", "--release", "-p", "gambeson-cli", "--bin", "gambeson", "--message-format", "json"]);
    let messages = succeed(cargo.arg("--manifest-path").arg(manifest), b"")?;
    let executable = messages
        .split(|byte| *byte == b'\n')
        .filter_map(|line| serde_json::from_slice::<serde_json::Value>(line).ok())
        .filter(|message| message["target"]["name"] == "gambeson")
        .find_map(|message| message["executable"].as_str().map(PathBuf::from));
    Ok(executable.ok_or("cargo named no executable")?)
}

/// The Python of a virtual environment with these packages, which is made unless it is there.
///
/// # Errors
/// There is no Python, or a package cannot be had.
pub fn python_with(scratch: &Path, packages: &[&str]) -> Result<PathBuf> {
    let folder = scratch.join(format!("python-{}", packages.join("-")));
    let ready = folder.join("ready");
    if !exists(&ready) {
        succeed(command("python3").args(["-m", "venv", "--clear"]).arg(&folder), b"")?;
        let pip = folder.join("bin").join("pip");
        let quiet = ["install", "--quiet", "--disable-pip-version-check"];
        succeed(command(pip).args(quiet).args(packages), b"")?;
        std::fs::write(&ready, "").map_err(|error| error.to_string())?;
    }
    Ok(folder.join("bin").join("python"))
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
