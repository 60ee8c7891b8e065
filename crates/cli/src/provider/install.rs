//! `provider install`, `status` and `uninstall`: files in a folder, and a block in a configuration, that can be taken away again.

use super::{MODULE, configuration, full_configuration, module};
use crate::args::provider::{ProviderInstall, ProviderPlace};
use crate::console::Console;
use crate::error::{Error, Status};
use crate::files::{Access, Output};
use serde_json::json;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The first line of what we write, and the last of a block in somebody else's file.
const BEGIN: &str = "# gambeson provider install: begin";
const END: &str = "# gambeson provider install: end";

/// Where the parts stand.
struct Place<'a> {
    module: PathBuf,
    configuration: PathBuf,
    /// A configuration of somebody else, which gets a block.
    changed: Option<&'a Path>,
}

impl<'a> Place<'a> {
    fn new(place: &'a ProviderPlace) -> Result<Self, Error> {
        let prefix = std::path::absolute(&place.prefix).map_err(|e| Error::io(&place.prefix, &e))?;
        Ok(Self {
            module: prefix.join("lib").join(MODULE),
            configuration: prefix.join("etc/gambeson-openssl.cnf"),
            changed: place.conf.as_deref(),
        })
    }

    /// What OpenSSL has to read to have the provider.
    fn entry(&self) -> &Path {
        self.changed.unwrap_or(&self.configuration)
    }
}

pub(super) fn install(console: Console, options: &ProviderInstall) -> Result<Status, Error> {
    let place = Place::new(&options.place)?;
    let source = module(&options.options)?;
    if std::env::var_os("OPENSSL_CONF").is_some_and(|file| Path::new(&file) == place.configuration) {
        return Err(Error::usage(
            "OPENSSL_CONF names the configuration that is to be written: unset it first",
        ));
    }
    // All that can be wrong with what is there is found before anything is changed.
    for file in [&place.module, &place.configuration] {
        if file.exists() && !is_ours(file, &place) {
            refuse_second_backup(file)?;
        }
    }
    let text = format!("{BEGIN}\n{}", full_configuration(&place.module, &options.options)?);
    let changed = place.changed.map(|file| with_block(file, &place, options)).transpose()?;
    keep(&place.module, &place)?;
    keep(&place.configuration, &place)?;
    let bytes = fs::read(&source).map_err(|e| Error::io(&source, &e))?;
    write(&place.module, &bytes)?;
    write(&place.configuration, text.as_bytes())?;
    if let (Some(file), Some(text)) = (place.changed, &changed) {
        fs::copy(file, backup(file)).map_err(|e| Error::io(&backup(file), &e))?;
        write(file, text.as_bytes())?;
    }
    match active(place.entry()) {
        Ok(version) => {
            let (module, entry) = (place.module.display(), place.entry().display());
            let advice = match place.changed {
                Some(_) => format!("{module}\nprograms that read {entry} have it now"),
                None => format!("{module}\nfor a program or a session: export OPENSSL_CONF={entry}"),
            };
            let report = json!({"installed": true, "active": true, "module": place.module, "conf": place.entry(), "openssl": version});
            console.report(format_args!("the provider works with {version}: {advice}"), report)?;
            Ok(Status::Done)
        }
        Err(error) => {
            remove(&place)?;
            Err(Error::not_verified(format!("{error}; it was taken away again")))
        }
    }
}

pub(super) fn status(console: Console, place: &ProviderPlace) -> Result<Status, Error> {
    let place = Place::new(place)?;
    let installed = place.module.is_file() && place.configuration.is_file();
    let found = if installed {
        active(place.entry())
    } else {
        Err(format!("there is no {} or no {}", place.module.display(), place.configuration.display()))
    };
    let (text, version) = match &found {
        Ok(version) => (format!("active in {version}"), Some(version)),
        Err(error) => (format!("not active: {error}"), None),
    };
    console.report(
        text,
        json!({"installed": installed, "active": found.is_ok(), "openssl": version, "error": found.as_ref().err()}),
    )?;
    Ok(if found.is_ok() { Status::Done } else { Status::NotVerified })
}

pub(super) fn uninstall(console: Console, place: &ProviderPlace) -> Result<Status, Error> {
    let place = Place::new(place)?;
    let removed = remove(&place)?;
    let names: Vec<String> = removed.iter().map(|file| file.display().to_string()).collect();
    let text = if names.is_empty() { "nothing was installed".to_owned() } else { names.join("\n") };
    console.report(format_args!("taken away or put back: {text}"), json!({"changed": names}))?;
    Ok(Status::Done)
}

/// Asks `openssl` with that configuration for the provider; its version.
fn active(configuration: &Path) -> Result<String, String> {
    let openssl = |arguments: &[&str]| {
        let output = Command::new("openssl").args(arguments).env("OPENSSL_CONF", configuration).output();
        let output = output.map_err(|error| format!("openssl: {error}"))?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        if output.status.success() {
            return Ok(text);
        }
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        Err(format!("openssl {}: {}", arguments.join(" "), error.lines().next_back().unwrap_or_default()))
    };
    let list = openssl(&["list", "-providers"])?;
    let ours = list.split("\n  ").skip_while(|line| line.trim() != "gambeson").skip(1);
    if !ours.take(3).any(|line| line.contains("status: active")) {
        return Err("openssl list -providers does not show it as active".to_owned());
    }
    openssl(&["genpkey", "-algorithm", "MLDSA65-Ed25519-SHA512", "-out", "/dev/null"])?;
    Ok(openssl(&["version"])?.trim().to_owned())
}

/// Takes away what is ours and puts back what was there; the files that this changed.
fn remove(place: &Place<'_>) -> Result<Vec<PathBuf>, Error> {
    let mut changed = Vec::new();
    if let Some(file) = place.changed
        && let Ok(text) = fs::read_to_string(file)
        && let Some(without) = without_block(&text)
    {
        write(file, without.as_bytes())?;
        // Whoever changed it since keeps the change; the copy is of no more use.
        let copy = backup(file);
        fs::remove_file(&copy).map_err(|e| Error::io(&copy, &e))?;
        changed.push(file.to_path_buf());
    }
    let ours = is_ours(&place.configuration, place);
    for file in [&place.module, &place.configuration] {
        if !ours || !file.is_file() {
            continue;
        }
        let copy = backup(file);
        if copy.is_file() {
            fs::rename(&copy, file).map_err(|e| Error::io(file, &e))?;
        } else {
            fs::remove_file(file).map_err(|e| Error::io(file, &e))?;
        }
        changed.push(file.clone());
    }
    Ok(changed)
}

/// Whether a file of this place came from us: then the configuration begins with our line.
fn is_ours(file: &Path, place: &Place<'_>) -> bool {
    file.is_file() && fs::read_to_string(&place.configuration).is_ok_and(|text| text.starts_with(BEGIN))
}

/// Moves a file of somebody else out of the way.
fn keep(file: &Path, place: &Place<'_>) -> Result<(), Error> {
    if !file.exists() || is_ours(file, place) {
        return Ok(());
    }
    fs::rename(file, backup(file)).map_err(|e| Error::io(file, &e))
}

fn backup(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".before-gambeson");
    name.into()
}

fn refuse_second_backup(file: &Path) -> Result<(), Error> {
    let copy = backup(file);
    if copy.exists() {
        return Err(Error::outside(format!(
            "{}: is there already, and would be overwritten",
            copy.display()
        )));
    }
    Ok(())
}

/// A configuration of somebody else, with our block at its end.
fn with_block(file: &Path, place: &Place<'_>, options: &ProviderInstall) -> Result<String, Error> {
    let text = fs::read_to_string(file).map_err(|e| Error::io(file, &e))?;
    let text = match without_block(&text) {
        Some(text) => text,
        None => {
            refuse_second_backup(file)?;
            text
        }
    };
    let options = &options.options;
    let existing = configuration::Existing::read(&text);
    let ours = existing.addition(&place.module, &options.groups, options.composite_sigalg.as_deref())?;
    let line = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    Ok(format!("{text}{line}{BEGIN}\n{ours}{END}\n"))
}

/// The text without our block; none if there is no whole block in it.
fn without_block(text: &str) -> Option<String> {
    let begin = text.find(BEGIN)?;
    let end = begin + text[begin..].find(END)? + END.len();
    let rest = text[end..].strip_prefix('\n').unwrap_or(&text[end..]);
    Some(text[..begin].to_owned() + rest)
}

/// Writes a file whole or not at all.
fn write(file: &Path, bytes: &[u8]) -> Result<(), Error> {
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder).map_err(|e| Error::io(folder, &e))?;
    }
    let mut output = Output::create(file, Access::Shared, true)?;
    output.write_all(bytes).map_err(|e| Error::named(&e))?;
    output.finish()
}
