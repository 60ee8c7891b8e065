//! Where nodes of SLIM come from: the program, or the wheel, which is installed once.

use crate::args::slim::SlimUp;
use crate::child;
use crate::console::Console;
use crate::error::Error;
use crate::unfinished::Unfinished;
use etcetera::{BaseStrategy, choose_base_strategy};
use gambeson_slim::stock::{Maker, WHEEL};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The environment variable that names a Python with the wheel.
const PYTHON: &str = "GAMBESON_SLIM_PYTHON";

/// What the command line names, or what is here, or what is installed now.
pub(super) fn maker(console: Console, options: &SlimUp) -> Result<Maker, Error> {
    match (&options.slim, &options.python) {
        (Some(program), _) => Ok(Maker::Program(program.clone())),
        (None, Some(python)) => Ok(Maker::Wheel(python.clone())),
        (None, None) => here_or_installed(console),
    }
}

/// What the environment names, or what is here: nothing is installed.
fn here() -> Option<Maker> {
    let named = std::env::var_os(PYTHON).map(|python| Maker::Wheel(python.into()));
    named.or_else(Maker::installed).or_else(|| {
        let python = python(&place().ok()?);
        python.exists().then_some(Maker::Wheel(python))
    })
}

/// Returns what the environment names, or what is here, or the wheel, which is installed now.
pub(crate) fn here_or_installed(console: Console) -> Result<Maker, Error> {
    here().map_or_else(|| wheel(console), Ok)
}

/// Where the wheel is installed.
fn place() -> Result<PathBuf, Error> {
    Ok(folder()?.join(format!("slim-bindings-{WHEEL}")))
}

/// The Python of an environment.
fn python(place: &Path) -> PathBuf {
    place.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" })
}

/// This program's folder among the user's data.
pub(super) fn folder() -> Result<PathBuf, Error> {
    let strategy =
        choose_base_strategy().map_err(|_| Error::usage("the user's data folder is unknown: set HOME"))?;
    Ok(strategy.data_dir().join("gambeson"))
}

/// The wheel in an environment of its own among the user's data.
fn wheel(console: Console) -> Result<Maker, Error> {
    let place = place()?;
    if !python(&place).exists() {
        console.say(format_args!(
            "no program slim in PATH: pip installs the wheel slim-bindings {WHEEL} into {}, once; --slim and --python name a node that is there",
            place.display()
        ))?;
        // It gets its name when it is whole: a program that is killed leaves nothing that looks installed.
        let part = folder()?.join(format!("slim-bindings-{WHEEL}.{}", std::process::id()));
        let unfinished = Unfinished::new(&part);
        let installed = install(&part).and_then(|()| match fs::rename(&part, &place) {
            // Another program was faster.
            Err(_) if python(&place).exists() => Ok(()),
            named => named.map_err(|error| Error::io(&place, &error)),
        });
        let _ = fs::remove_dir_all(&part);
        drop(unfinished);
        installed?;
    }
    Ok(Maker::Wheel(python(&place)))
}

fn install(place: &Path) -> Result<(), Error> {
    fs::create_dir_all(place).map_err(|error| Error::io(place, &error))?;
    ran(child::command("python3").args(["-m", "venv"]).arg(place), "apt-get install python3-venv")?;
    let wheel = format!("slim-bindings=={WHEEL}");
    let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--retries", "1"];
    let pip = [&pip[..], &["--only-binary", ":all:"]].concat();
    ran(child::command(python(place)).args(pip).arg(wheel), "cargo install agntcy-slim, which takes longer")
}

/// Runs a step of the installation, or says what went wrong and what else there is to do.
fn ran(command: &mut Command, next: &str) -> Result<(), Error> {
    let wrong = |what: String| {
        Error::outside(format!(
            "there is no node of SLIM here, and its installation failed: {what}; try {next}"
        ))
        .because("no-node")
    };
    let program = command.get_program().to_string_lossy().into_owned();
    let output =
        command.stdin(Stdio::null()).output().map_err(|error| wrong(format!("{program}: {error}")))?;
    if output.status.success() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&output.stderr);
    let last = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
    Err(wrong(format!("{program}: {last}")))
}
