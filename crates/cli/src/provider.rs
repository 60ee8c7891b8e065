//! The commands `provider …`: OpenSSL programs of this machine with our algorithms, for one command or until it is taken away.

mod configuration;
pub(crate) mod groups;
mod install;
mod library;
mod program;
mod signals;

use crate::args::provider::{ProviderCommand, ProviderOptions, ProviderRun};
use crate::child;
use crate::console::{Console, warn, write_to_stderr};
use crate::error::{Error, Status};
use configuration::{Existing, include};
use program::Readers;
use signals::Signals;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// The file name of the module, by the custom of the system.
fn module_name() -> String {
    use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
    format!("{DLL_PREFIX}gambeson_openssl{DLL_SUFFIX}")
}

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
    let name = program.to_string_lossy();
    if let Some(library) = program::other_library(Path::new(program)) {
        return Err(Error::usage(format!(
            "{name} does TLS with {library}, and not with OpenSSL: it would run without the provider (`provider run -- env {name} …` runs it all \
             the same)"
        )));
    }
    let existing = existing_configuration()?;
    let module = module(&options.options)?;
    let text = full_configuration(existing.as_deref(), &module, &options.options)?;
    let folder = tempfile::tempdir().map_err(|e| Error::io(&env::temp_dir(), &e))?;
    let file = folder.path().join("openssl.cnf");
    fs::write(&file, text).map_err(|e| Error::io(&file, &e))?;
    try_out(&file, &module, &options.options.groups, existing.as_deref())?;
    if let Some(existing) = &existing {
        tell_replaced(existing, &Existing::of_file(existing)?, &options.options.groups);
    }
    // From here on signals are the command's; the folder goes with it.
    let signals = Signals::hold()?;
    let readers = Readers::watch(&file);
    let mut command = match options.keep_environment {
        true => child::own(program),
        false => child::command(program),
    };
    signals.leave_to(&mut command);
    let child = match command.args(arguments).env("OPENSSL_CONF", &file).spawn() {
        Ok(child) => child,
        Err(error) => {
            drop(folder);
            write_to_stderr(format_args!("gambeson: {}", Error::stream(&name, &error)));
            // As shells have it: 127 if there is no such program, 126 if it cannot be run.
            std::process::exit(if error.kind() == ErrorKind::NotFound { 127 } else { 126 })
        }
    };
    let ended = signals.wait(child).map_err(|e| Error::stream(&name, &e))?;
    if readers.are_none() {
        write_to_stderr(format_args!(
            "gambeson: no program has used OpenSSL, nor the provider, in this run of {name}"
        ));
    }
    drop(folder);
    if ended.success() {
        return Ok(Status::Done);
    }
    // The command has told what was wrong; its status is ours.
    std::process::exit(ended.code().unwrap_or_else(|| 128 + signal(ended)))
}

/// Refuses a module that is none, and groups that the library does not take, also those that an existing configuration has: OpenSSL would go on without them and
/// say nothing.
fn try_out(configuration: &Path, module: &Path, groups: &str, existing: Option<&Path>) -> Result<(), Error> {
    if library::knows_providers(configuration) {
        let not_loaded = |error| {
            Error::outside(format!("{}: OpenSSL does not load this module: {error}", module.display()))
        };
        library::loads(configuration).map_err(not_loaded)?;
        let wrong = |error| Error::usage(format!("--groups: {error}"));
        library::takes_groups(configuration, groups).map_err(wrong)?;
        return existing.map_or(Ok(()), |file| {
            library::takes_groups_of(configuration, file, &Existing::of_file(file)?).map_err(Error::usage)
        });
    }
    // The libraries of programs may be newer than the program `openssl`.
    let bytes = fs::read(module).map_err(|e| Error::io(module, &e))?;
    let entry = b"OSSL_provider_init";
    match bytes.windows(entry.len()).any(|bytes| bytes == entry) {
        true => Ok(()),
        false => Err(Error::outside(format!("{}: is no provider of OpenSSL", module.display()))),
    }
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
fn full_configuration(
    file: Option<&Path>,
    module: &Path,
    options: &ProviderOptions,
) -> Result<String, Error> {
    let (existing, begin) = match file {
        Some(file) => (Existing::of_file(file)?, include(file)?),
        None => (Existing::default(), String::new()),
    };
    Ok(begin + &existing.addition(module, &options.groups, options.composite_sigalg)?)
}

/// Warns of lists of groups in an existing configuration that ours replaces.
fn tell_replaced(file: &Path, existing: &Existing, groups: &str) {
    for (name, list) in existing.groups().filter(|(_, list)| *list != groups) {
        warn(format_args!(
            "{}: {name} = {list} is replaced by {groups}; --groups names others",
            file.display()
        ));
    }
}

/// The configuration that OpenSSL would read without us: `OPENSSL_CONF`, or that of the machine.
fn existing_configuration() -> Result<Option<PathBuf>, Error> {
    let Some(named) = env::var_os("OPENSSL_CONF").filter(|name| !name.is_empty()).map(PathBuf::from) else {
        return Ok(machine_configuration());
    };
    match fs::canonicalize(&named) {
        Ok(file) => Ok(Some(file).filter(|file| file.is_file())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::io(&named, &error)),
    }
}

/// The configuration of the machine.
fn machine_configuration() -> Option<PathBuf> {
    let said = child::command("openssl").args(["version", "-d"]).env_remove("OPENSSL_CONF").output().ok();
    let said = said.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    // OPENSSLDIR: "/usr/lib/ssl"
    let folder = said.as_deref().and_then(|said| said.split('"').nth(1)).unwrap_or("/etc/ssl");
    fs::canonicalize(Path::new(folder).join("openssl.cnf")).ok().filter(|file| file.is_file())
}

/// The module: the one that was named, or one in the places of an installation.
fn module(options: &ProviderOptions) -> Result<PathBuf, Error> {
    if let Some(named) = &options.module {
        return fs::canonicalize(named).map_err(|e| Error::io(named, &e));
    }
    let program = env::current_exe().and_then(fs::canonicalize);
    let program = program.map_err(|e| Error::stream(&"this program", &e))?;
    let folder = program.parent().unwrap_or(Path::new("/"));
    // Where it is said to be, where it is installed, and where cargo builds it.
    let said = env::var_os("GAMBESON_LIBDIR").map(PathBuf::from);
    let places = [".", "../lib/gambeson", "../lib", "deps"].map(|place| folder.join(place));
    let name = module_name();
    let found = said.into_iter().chain(places).map(|place| place.join(&name)).find(|module| module.is_file());
    found.and_then(|module| fs::canonicalize(module).ok()).ok_or_else(|| {
        Error::outside(format!(
            "no {name} beside this program, in ../lib/gambeson or where GAMBESON_LIBDIR says: build it with `cargo build --release -p gambeson-openssl` and name it with --module"
        ))
    })
}
