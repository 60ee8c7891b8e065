//! A log in a folder, which any web server can serve as it is.

use super::log::too_large;
use super::storage::Storage;
use crate::{Error, Reason, Result};
use gambeson_keystore::file::{self, Access, Existing};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Held by whoever writes.
const LOCK: &str = ".lock";

/// Files below a folder, which whoever the umask lets may read.
///
/// Who writes holds the lock of the file `.lock`, which is empty and stays: it keeps out other processes of one machine. Where a
/// network's file system does not lock, nothing does.
#[derive(Clone, Debug)]
pub struct DirectoryStorage(PathBuf);

impl DirectoryStorage {
    /// The files below this folder, which is made when something is written.
    #[must_use]
    pub fn new(folder: impl AsRef<Path>) -> Self {
        Self(folder.as_ref().to_owned())
    }
}

impl DirectoryStorage {
    fn save(&self, name: &str, contents: &[u8], existing: Existing) -> Result<()> {
        let path = self.0.join(name);
        if let Some(folder) = path.parent() {
            file::create_folders(folder, Access::Shared).map_err(|error| failed(name, error))?;
        }
        file::save(&path, contents, Access::Shared, existing).map_err(|error| failed(name, error))
    }
}

/// The lock of a [`DirectoryStorage`], given back when it is dropped.
#[derive(Debug)]
pub struct DirectoryLock(#[allow(dead_code, reason = "closing the file gives the lock back")] File);

impl Storage for DirectoryStorage {
    type Lock = DirectoryLock;

    fn lock(&mut self) -> Result<DirectoryLock> {
        file::create_folders(&self.0, Access::Shared).map_err(|error| failed(LOCK, error))?;
        let file = File::options().create(true).append(true).open(self.0.join(LOCK));
        let file = file.map_err(|error| failed(LOCK, error))?;
        file.lock().map_err(|error| failed(LOCK, error))?;
        Ok(DirectoryLock(file))
    }

    fn read(&self, name: &str, max_len: usize) -> Result<Option<Vec<u8>>> {
        let opened = match File::open(self.0.join(name)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            opened => opened.map_err(|error| failed(name, error))?,
        };
        let mut contents = Vec::new();
        opened.take(max_len as u64 + 1).read_to_end(&mut contents).map_err(|error| failed(name, error))?;
        if contents.len() > max_len { Err(too_large(name)) } else { Ok(Some(contents)) }
    }

    fn write(&mut self, name: &str, contents: &[u8]) -> Result<()> {
        self.save(name, contents, Existing::Replace)
    }

    fn create(&mut self, name: &str, contents: &[u8]) -> Result<()> {
        self.save(name, contents, Existing::Keep)
    }
}

fn failed(name: &str, error: impl core::fmt::Display) -> Error {
    Error::new(Reason::StorageFailed, format_args!("{name}: {error}"))
}
