//! The commands `provider …`: OpenSSL programs of this machine with our algorithms, for one command or for good.

mod configuration;
mod install;

use crate::args::provider::{ProviderCommand, ProviderOptions, ProviderRun};
use crate::console::Console;
use crate::error::{Error, Status};
use crate::unfinished::Unfinished;
use configuration::{Existing, include};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

const MODULE: &str = if cfg!(target_os = "macos") {
    "libgambeson_openssl.dylib"
} else if cfg!(windows) {
    "gambeson_openssl.dll"
} else {
    "libgambeson_openssl.so"
};

pub(crate) fn provider(console: Console, command: &ProviderCommand) -> Result<Status, Error> {
    match command {
        ProviderCommand::Run(options) => run(options),
        ProviderCommand::Install(options) => install::install(console, options),
        ProviderCommand::Status(place) => install::status(console, place),
        ProviderCommand::Uninstall(place) => install::uninstall(console, place),
    }
}

/// Runs a command with a configuration that lives as long as it does.
fn run(options: &ProviderRun) -> Result<Status, Error> {
    let (program, arguments) =
        options.command.split_first().ok_or_else(|| Error::usage("no command was given"))?;
    let text = full_configuration(&module(&options.options)?, &options.options)?;
    let folder = tempfile::tempdir().map_err(|e| Error::io(&env::temp_dir(), &e))?;
    let _unfinished = Unfinished::new(folder.path());
    let file = folder.path().join("openssl.cnf");
    fs::write(&file, text).map_err(|e| Error::io(&file, &e))?;
    let name = program.to_string_lossy();
    let mut child = Command::new(program)
        .args(arguments)
        .env("OPENSSL_CONF", &file)
        .spawn()
        .map_err(|e| Error::stream(&name, &e))?;
    let ended = {
        let _ended_with_us = Unfinished::child(child.id());
        child.wait().map_err(|e| Error::stream(&name, &e))?
    };
    drop(folder);
    if ended.success() {
        return Ok(Status::Done);
    }
    // The command has told what was wrong; its status is ours.
    std::process::exit(ended.code().unwrap_or_else(|| 128 + signal(ended)))
}

/// The signal that ended a command, which a shell adds to 128.
#[cfg(unix)]
fn signal(ended: std::process::ExitStatus) -> i32 {
    std::os::unix::process::ExitStatusExt::signal(&ended).unwrap_or_default()
}

#[cfg(not(unix))]
fn signal(_: std::process::ExitStatus) -> i32 {
    0
}

/// The existing configuration, and ours behind it.
fn full_configuration(module: &Path, options: &ProviderOptions) -> Result<String, Error> {
    let (existing, begin) = match existing_configuration() {
        Some(file) => {
            let text = fs::read_to_string(&file).map_err(|e| Error::io(&file, &e))?;
            (Existing::read(&text), include(&file)?)
        }
        None => (Existing::default(), String::new()),
    };
    Ok(begin + &existing.addition(module, &options.groups, options.composite_sigalg.as_deref())?)
}

/// The configuration that OpenSSL would read without us: `OPENSSL_CONF`, or that of the machine.
fn existing_configuration() -> Option<PathBuf> {
    if let Some(named) = env::var_os("OPENSSL_CONF").filter(|name| !name.is_empty()) {
        return Some(named.into()).filter(|file: &PathBuf| file.is_file());
    }
    let said = Command::new("openssl").args(["version", "-d"]).output().ok();
    let said = said.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    // OPENSSLDIR: "/usr/lib/ssl"
    let folder = said.as_deref().and_then(|said| said.split('"').nth(1)).unwrap_or("/etc/ssl");
    Some(Path::new(folder).join("openssl.cnf")).filter(|file| file.is_file())
}

/// The module: the one that was named, or one beside this program.
fn module(options: &ProviderOptions) -> Result<PathBuf, Error> {
    if let Some(named) = &options.module {
        return fs::canonicalize(named).map_err(|e| Error::io(named, &e));
    }
    let program = env::current_exe().and_then(fs::canonicalize);
    let program = program.map_err(|e| Error::stream(&"this program", &e))?;
    let folder = program.parent().unwrap_or(Path::new("/"));
    // Where it is installed, and where cargo builds it.
    let places = [folder.to_path_buf(), folder.join("../lib"), folder.join("deps")];
    let found = places.iter().map(|place| place.join(MODULE)).find(|module| module.is_file());
    found.and_then(|module| fs::canonicalize(module).ok()).ok_or_else(|| {
        Error::outside(format!(
            "no {MODULE} beside this program: build it with `cargo build --release -p gambeson-openssl` and name it with --module"
        ))
    })
}
