//! `provider install`, `status` and `uninstall`: files in a folder, and a block in a configuration, that can be taken away again.

use super::configuration::{Existing, text_of};
use super::library::{active, takes_groups, takes_groups_of};
use super::{full_configuration, machine_configuration, module, module_name, tell_replaced};
use crate::args::provider::{ProviderInstall, ProviderPlace};
use crate::console::Console;
use crate::error::{Error, Status};
use crate::files::{self, Access, is_one_file};
use serde_json::json;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// The first line of what we write, and the last of a block in somebody else's file.
const BEGIN: &str = "# gambeson provider install: begin";
const END: &str = "# gambeson provider install: end";
/// Behind the first line of our configuration: the file that has a block.
const CHANGED: &str = "# changed: ";
/// The same: the module was there before, and stays.
const FOUND: &str = "# the module was there before";
/// Behind the first line of a block: the line before had no end.
const JOINED: &str = "# the line before had no end";

/// Where the parts stand.
struct Place {
    module: PathBuf,
    configuration: PathBuf,
    /// A configuration of somebody else, which gets a block.
    changed: Option<PathBuf>,
    installed: Option<Installed>,
}

/// What our configuration says of the installation that it is part of.
struct Installed {
    changed: Option<PathBuf>,
    /// Whether the module was there before.
    found: bool,
}

impl Installed {
    /// None if there is no configuration, or it is not ours.
    fn read(configuration: &Path) -> Result<Option<Self>, Error> {
        let Some(bytes) = content(configuration)? else { return Ok(None) };
        let text = String::from_utf8_lossy(&bytes);
        let mut lines = text.lines();
        if lines.next() != Some(BEGIN) {
            return Ok(None);
        }
        let notes: Vec<&str> = lines.take_while(|line| line.starts_with('#')).collect();
        let changed = notes.iter().find_map(|line| line.strip_prefix(CHANGED)).map(PathBuf::from);
        Ok(Some(Self { changed, found: notes.contains(&FOUND) }))
    }
}

impl Place {
    fn new(place: &ProviderPlace) -> Result<Self, Error> {
        let prefix = std::path::absolute(&place.prefix).map_err(|e| Error::io(&place.prefix, &e))?;
        let configuration = prefix.join("etc/gambeson-openssl.cnf");
        let installed = Installed::read(&configuration)?;
        let before = installed.as_ref().and_then(|installed| installed.changed.clone());
        let named = place.conf.as_ref().map(|file| match fs::canonicalize(file) {
            Err(error) if error.kind() == ErrorKind::NotFound => std::path::absolute(file),
            path => path,
        });
        let named = named.transpose().map_err(|e| Error::io(Path::new("--conf"), &e))?;
        if let (Some(named), Some(before)) = (&named, &before)
            && named != before
        {
            return Err(Error::usage(format!(
                "the installation changed {}: uninstall it before another configuration is changed",
                before.display()
            )));
        }
        let changed = named.or(before);
        if changed.as_ref().is_some_and(|file| is_one_file(file, &configuration)) {
            return Err(Error::usage("--conf names the configuration that is installed anyway"));
        }
        Ok(Self { module: prefix.join("lib").join(module_name()), configuration, changed, installed })
    }

    /// What OpenSSL has to read to have the provider.
    fn entry(&self) -> &Path {
        self.changed.as_deref().unwrap_or(&self.configuration)
    }

    /// Says why nothing is installed here.
    fn what_is_missing(&self) -> String {
        let file = self.configuration.display();
        let module = self.module.display();
        match (self.module.is_file(), is_there(&self.configuration)) {
            (false, false) => format!("nothing is installed: there is no {module} and no {file}"),
            (true, false) => format!("there is no {file}"),
            (false, true) if self.installed.is_some() => format!("there is no {module}"),
            (_, true) if fs::metadata(&self.configuration).is_ok_and(|file| file.len() == 0) => {
                format!("{file} is empty: install again")
            }
            (_, true) => format!(
                "{file} was not written by `provider install`, or was changed since: its first line is not {BEGIN:?}"
            ),
        }
    }

    /// Whether the module is ours to replace and to remove.
    fn owns_module(&self) -> bool {
        self.installed.as_ref().is_some_and(|installed| !installed.found)
    }
}

pub(super) fn install(console: Console, options: &ProviderInstall) -> Result<Status, Error> {
    let place = Place::new(&options.place)?;
    let source = module(&options.options)?;
    let bytes = fs::read(&source).map_err(|e| Error::io(&source, &e))?;
    let found = !place.owns_module() && is_one_file(&source, &place.module);
    // All that can be wrong with what is there is found before anything is changed.
    let mut moved = Vec::new();
    if !found && !place.owns_module() && is_there(&place.module) {
        moved.push(&place.module);
    }
    if place.installed.is_none() && is_there(&place.configuration) {
        moved.push(&place.configuration);
    }
    for file in &moved {
        refuse_second_backup(file)?;
    }
    // Not OPENSSL_CONF: that is for this session, and may name what is written here.
    let machine = machine_configuration();
    if machine.as_ref().is_some_and(|file| is_one_file(file, &place.configuration)) {
        return Err(Error::usage("this is the configuration of the machine: another --prefix is needed"));
    }
    let mut text = format!("{BEGIN}\n");
    if let Some(file) = &place.changed {
        text += &format!("{CHANGED}{}\n", text_of(file)?);
    }
    if found {
        text += &format!("{FOUND}\n");
    }
    text += &full_configuration(machine.as_deref(), &place.module, &options.options)?;
    let changed = place.changed.as_ref().map(|file| Block::added(file, &place, options)).transpose()?;

    let others = machine.iter().chain(&place.changed);
    let others = others.map(|file| Ok((file.clone(), Existing::of_file(file)?)));
    let others = others.collect::<Result<Vec<_>, Error>>()?;
    others.iter().for_each(|(file, existing)| tell_replaced(file, existing, &options.options.groups));
    let mut changes = Changes::default();
    let mut work = || {
        moved.iter().try_for_each(|file| changes.move_away(file))?;
        if !found {
            changes.write(&place.module, &bytes)?;
        }
        changes.write(&place.configuration, text.as_bytes())?;
        if let (Some(file), Some(block)) = (&place.changed, &changed) {
            if block.is_first {
                changes.copy(file)?;
            }
            changes.write(file, block.text.as_bytes())?;
        }
        tried(&place, &options.options.groups, &others)
    };
    match work() {
        Ok(version) => {
            let (module, entry) = (place.module.display(), place.entry().display());
            let advice = match place.changed {
                Some(_) => format!("programs that read {entry} have it now"),
                None => format!("for a program or a session: export OPENSSL_CONF={entry}"),
            };
            let lines = [format!("the provider works with {version}: {module}"), advice];
            let report = json!({"type": "provider", "installed": true, "active": true, "module": place.module, "conf": place.entry(), "openssl": version});
            console.report_lines(lines, report)?;
            Ok(Status::Done)
        }
        Err(error) => changes.undo().and(Err(error)),
    }
}

/// Asks OpenSSL whether what was written works, and takes all lists of groups, those of others as they were before, too; its version.
fn tried(place: &Place, groups: &str, others: &[(PathBuf, Existing)]) -> Result<String, Error> {
    let entry = place.entry();
    let version = active(entry);
    let version = version
        .map_err(|error| Error::not_verified(format!("{error}; the installation was removed again")))?;
    let of_others = || others.iter().try_for_each(|(file, other)| takes_groups_of(entry, file, other));
    let taken = takes_groups(entry, groups).and_then(|()| of_others());
    taken.map_err(|error| Error::usage(format!("{error}; the installation was removed again")))?;
    Ok(version)
}

pub(super) fn status(console: Console, place: &ProviderPlace) -> Result<Status, Error> {
    let place = Place::new(place)?;
    let installed = place.module.is_file() && place.installed.is_some();
    let found = if installed { works(place.entry())? } else { Err(place.what_is_missing()) };
    let (text, version) = match &found {
        Ok(version) => (format!("active in {version}"), Some(version)),
        Err(error) => (format!("not active: {error}"), None),
    };
    console.report(
        text,
        json!({"type": "provider", "installed": installed, "active": found.is_ok(), "openssl": version, "detail": found.as_ref().err()}),
    )?;
    Ok(if found.is_ok() { Status::Done } else { Status::NotVerified })
}

pub(super) fn uninstall(console: Console, place: &ProviderPlace) -> Result<Status, Error> {
    let place = Place::new(place)?;
    let removed = remove(&place)?;
    let names: Vec<String> = removed.iter().map(|file| file.display().to_string()).collect();
    let lines: Vec<String> = match names.as_slice() {
        [] => vec!["nothing was installed".to_owned()],
        names => names.iter().map(|name| format!("removed or restored: {name}")).collect(),
    };
    console.report_lines(lines, json!({"type": "provider", "installed": false, "changed": names}))?;
    Ok(Status::Done)
}

/// The fault of a configuration, or the version of OpenSSL in which it works.
fn works(file: &Path) -> Result<Result<String, String>, Error> {
    let bytes = content(file)?.unwrap_or_default();
    let existing = Existing::read(&String::from_utf8_lossy(&bytes));
    Ok(match existing.problems().as_slice() {
        [] => active(file).and_then(|version| takes_groups_of(file, file, &existing).map(|()| version)),
        problems => Err(format!("{}: {}", file.display(), problems.join("; "))),
    })
}

/// Takes away what is ours and puts back what was there; the files that this changed.
fn remove(place: &Place) -> Result<Vec<PathBuf>, Error> {
    let mut changed = Vec::new();
    // First of all: who reads a block must not miss what it names.
    if let Some(file) = &place.changed
        && let Some(text) = text(file)?
        && let Some(without) = Block::removed(file, &text)?
    {
        write(file, without.as_bytes())?;
        // Whoever changed it since keeps the change; the copy is of no more use.
        let copy = backup(file);
        match fs::remove_file(&copy) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(Error::io(&copy, &error)),
            _ => changed.push(file.clone()),
        }
    }
    if place.installed.is_none() {
        return Ok(changed);
    }
    // The configuration last: it says what else there is.
    let module = Some(&place.module).filter(|module| place.owns_module() && is_there(module));
    for file in module.into_iter().chain([&place.configuration]) {
        let copy = backup(file);
        if is_there(&copy) {
            fs::rename(&copy, file).map_err(|e| Error::io(file, &e))?;
        } else {
            fs::remove_file(file).map_err(|e| Error::io(file, &e))?;
        }
        changed.push(file.clone());
    }
    Ok(changed)
}

/// What an installation has done so far, to be undone.
#[derive(Default)]
struct Changes(Vec<Change>);

enum Change {
    /// A file of somebody else is under the name of its backup.
    Moved(PathBuf),
    /// A backup was made.
    Copied(PathBuf),
    /// A file was written, where before was nothing or this.
    Wrote(PathBuf, Option<Vec<u8>>),
}

impl Changes {
    fn move_away(&mut self, file: &Path) -> Result<(), Error> {
        fs::rename(file, backup(file)).map_err(|e| Error::io(file, &e))?;
        self.0.push(Change::Moved(file.to_owned()));
        Ok(())
    }

    fn copy(&mut self, file: &Path) -> Result<(), Error> {
        let copy = backup(file);
        fs::copy(file, &copy).map_err(|e| Error::io(&copy, &e))?;
        self.0.push(Change::Copied(copy));
        Ok(())
    }

    fn write(&mut self, file: &Path, bytes: &[u8]) -> Result<(), Error> {
        let before = content(file)?;
        write(file, bytes)?;
        self.0.push(Change::Wrote(file.to_owned(), before));
        Ok(())
    }

    /// Undoes all that can be undone, the last change first.
    fn undo(self) -> Result<(), Error> {
        let undone = self.0.into_iter().rev().map(|change| match change {
            Change::Moved(file) => fs::rename(backup(&file), &file).map_err(|e| Error::io(&file, &e)),
            Change::Copied(file) | Change::Wrote(file, None) => {
                fs::remove_file(&file).map_err(|e| Error::io(&file, &e))
            }
            Change::Wrote(file, Some(bytes)) => write(&file, &bytes),
        });
        undone.fold(Ok(()), Result::and)
    }
}

fn backup(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".before-gambeson");
    name.into()
}

fn refuse_second_backup(file: &Path) -> Result<(), Error> {
    let copy = backup(file);
    if is_there(&copy) {
        return Err(Error::outside(format!("{}: exists already, and would be overwritten", copy.display())));
    }
    Ok(())
}

/// A configuration of somebody else with our block at its end.
struct Block {
    text: String,
    /// Whether it had none before.
    is_first: bool,
}

impl Block {
    fn added(file: &Path, place: &Place, options: &ProviderInstall) -> Result<Self, Error> {
        let there = || Error::io(file, &io::Error::from(ErrorKind::NotFound));
        let before = text(file)?.ok_or_else(there)?;
        let without = Self::removed(file, &before)?;
        let is_first = without.is_none();
        if is_first {
            refuse_second_backup(file)?;
        }
        let text = without.unwrap_or(before);
        let options = &options.options;
        let existing = Existing::read(&text);
        let ours = existing.addition(&place.module, &options.groups, options.composite_sigalg)?;
        let joined =
            if text.is_empty() || text.ends_with('\n') { String::new() } else { format!("{JOINED}\n") };
        let line = if joined.is_empty() { "" } else { "\n" };
        Ok(Self { text: format!("{text}{line}{BEGIN}\n{joined}{ours}{END}\n"), is_first })
    }

    /// The text without our block; none if there is none in it.
    fn removed(file: &Path, text: &str) -> Result<Option<String>, Error> {
        let line = |mark: &str, from: usize| {
            let found = text[from..].match_indices(mark).map(|(at, _)| from + at);
            found.into_iter().find(|at| *at == 0 || text[..*at].ends_with('\n'))
        };
        let Some(begin) = line(BEGIN, 0) else { return Ok(None) };
        let inside = begin + BEGIN.len();
        let end = line(END, inside).filter(|end| line(BEGIN, inside).is_none_or(|again| again > *end));
        let Some(end) = end else {
            return Err(Error::outside(format!(
                "{}: has the line {BEGIN:?} and no {END:?} after it: the lines of gambeson cannot be told \
                     apart, and nothing was changed",
                file.display()
            )));
        };
        let rest = &text[end + END.len()..];
        let rest = rest.strip_prefix('\n').unwrap_or(rest);
        let joined = text[inside..end].lines().nth(1) == Some(JOINED);
        // What came after needs the end of the line before.
        let before = &text[..begin];
        let before = before.strip_suffix('\n').filter(|_| joined && rest.is_empty()).unwrap_or(before);
        Ok(Some(before.to_owned() + rest))
    }
}

fn is_there(file: &Path) -> bool {
    fs::symlink_metadata(file).is_ok()
}

/// The bytes of a file, if it is there.
fn content(file: &Path) -> Result<Option<Vec<u8>>, Error> {
    match fs::read(file) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::io(file, &error)),
    }
}

/// The same of a file that is text.
fn text(file: &Path) -> Result<Option<String>, Error> {
    let text = content(file)?.map(String::from_utf8).transpose();
    text.map_err(|_| Error::outside(format!("{}: is not UTF-8", file.display())))
}

/// Writes a file whole or not at all. One of ours is for everybody to read and for its owner to change, whatever the umask says: OpenSSL
/// loads it into the programs of all users. What was there keeps its mode and its owner.
fn write(file: &Path, bytes: &[u8]) -> Result<(), Error> {
    if let Some(folder) = file.parent() {
        folders(folder)?;
    }
    let before = fs::metadata(file).ok();
    files::write_own(file, bytes, Access::Shared, true)?;
    match before {
        None => allow(file, 0o644),
        Some(before) => owned(file, &before),
    }
}

/// Makes folders that are missing, for everybody to enter.
fn folders(folder: &Path) -> Result<(), Error> {
    if folder.as_os_str().is_empty() || folder.is_dir() {
        return Ok(());
    }
    if let Some(parent) = folder.parent() {
        folders(parent)?;
    }
    match fs::create_dir(folder) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(Error::io(folder, &error)),
        _ => allow(folder, 0o755),
    }
}

#[cfg(unix)]
fn allow(path: &Path, mode: u32) -> Result<(), Error> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).map_err(|e| Error::io(path, &e))
}

/// Gives a file that was written anew the owner and the mode of the one before, which the umask has taken from it.
#[cfg(unix)]
fn owned(path: &Path, before: &fs::Metadata) -> Result<(), Error> {
    use std::os::unix::fs::{MetadataExt, chown};
    let now = fs::metadata(path).map_err(|e| Error::io(path, &e))?;
    if (now.uid(), now.gid()) != (before.uid(), before.gid()) {
        chown(path, Some(before.uid()), Some(before.gid())).map_err(|e| Error::io(path, &e))?;
    }
    allow(path, before.mode() & 0o777)
}

#[cfg(not(unix))]
fn owned(_: &Path, _: &fs::Metadata) -> Result<(), Error> {
    Ok(())
}

#[cfg(not(unix))]
fn allow(_: &Path, _: u32) -> Result<(), Error> {
    Ok(())
}
