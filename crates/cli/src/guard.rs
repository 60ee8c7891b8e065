//! Files that no output of a command may replace: those that the command has read or written, and those that agents keep in their folders.

use crate::agent;
use crate::error::Error;
use crate::files::is_stream;
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// A file of this machine, whatever the path that leads to it: device and inode, or the canonical path where there are none.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Identity {
    #[cfg(unix)]
    Inode(u64, u64),
    #[cfg(not(unix))]
    Path(PathBuf),
}

/// The use of a file by a command.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    Input,
    Output,
}

/// The files that this run has used.
static USED: Mutex<BTreeMap<Identity, Use>> = Mutex::new(BTreeMap::new());

/// Notes that a file was opened to be read.
pub(crate) fn note_input(file: &File, path: &Path) {
    note(identity(file, path), Use::Input);
}

/// Notes the file behind standard input, if it is one.
pub(crate) fn note_standard_input() {
    #[cfg(unix)]
    if let Ok(fd) = std::os::fd::AsFd::as_fd(&io::stdin()).try_clone_to_owned() {
        note_input(&File::from(fd), Path::new("-"));
    }
}

/// Notes that an output got its name.
pub(crate) fn note_output(path: &Path) {
    note(File::open(path).ok().and_then(|file| identity(&file, path)), Use::Output);
}

fn note(file: Option<Identity>, used: Use) {
    if let Some(file) = file {
        USED.lock().unwrap_or_else(PoisonError::into_inner).entry(file).or_insert(used);
    }
}

/// Refuses an output that is a file that this run has used, or that an agent keeps in its folder.
pub(crate) fn refuse(output: &Path) -> Result<(), Error> {
    let used = of_path(output)
        .and_then(|file| USED.lock().unwrap_or_else(PoisonError::into_inner).get(&file).copied());
    match used {
        Some(Use::Input) => Err(is_input_too(output)),
        Some(Use::Output) => Err(Error::usage(format!(
            "{}: is named for two outputs of this command; name another file",
            output.display()
        ))),
        None => refuse_agents_file(output),
    }
}

/// Refuses an output that is this input. It is refused anyway when it is created; this is for before there is work or a question.
pub(crate) fn refuse_same(input: &Path, output: &Path) -> Result<(), Error> {
    if is_stream(input) || is_stream(output) {
        return Ok(());
    }
    match (of_path(input), of_path(output)) {
        (Some(a), Some(b)) if a == b => Err(is_input_too(output)),
        _ => Ok(()),
    }
}

fn is_input_too(output: &Path) -> Error {
    Error::usage(format!("{}: is the input and the output; name another file", output.display()))
}

/// Refuses a file that an agent keeps in its folder, also one that is not there yet.
fn refuse_agents_file(output: &Path) -> Result<(), Error> {
    let Some(place) = place(output) else { return Ok(()) };
    let owner = place.ancestors().skip(1).find(|folder| {
        let first = place.strip_prefix(folder).ok().and_then(|below| below.components().next());
        first.is_some_and(|first| agent::keeps(folder, first.as_os_str()))
    });
    match owner {
        Some(folder) => Err(Error::usage(format!(
            "{}: is a file that the agent in {} keeps; name another file",
            output.display(),
            folder.display()
        ))),
        None => Ok(()),
    }
}

/// The path without links; the file itself need not exist.
fn place(path: &Path) -> Option<PathBuf> {
    path.canonicalize().ok().or_else(|| {
        // A link to nothing leads somewhere, too.
        let path = std::fs::read_link(path).map_or_else(
            |_| path.to_path_buf(),
            |target| path.parent().unwrap_or(Path::new("")).join(target),
        );
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        Some(folder.canonicalize().ok()?.join(path.file_name()?))
    })
}

/// The regular file that a path leads to.
fn of_path(path: &Path) -> Option<Identity> {
    #[cfg(unix)]
    return of_metadata(&std::fs::metadata(path).ok()?);
    #[cfg(not(unix))]
    return path.is_file().then(|| path.canonicalize().ok().map(Identity::Path)).flatten();
}

/// The regular file that was opened at a path.
#[cfg(unix)]
fn identity(file: &File, _: &Path) -> Option<Identity> {
    of_metadata(&file.metadata().ok()?)
}

#[cfg(not(unix))]
fn identity(_: &File, path: &Path) -> Option<Identity> {
    of_path(path)
}

#[cfg(unix)]
fn of_metadata(metadata: &std::fs::Metadata) -> Option<Identity> {
    use std::os::unix::fs::MetadataExt;
    metadata.is_file().then(|| Identity::Inode(metadata.dev(), metadata.ino()))
}
