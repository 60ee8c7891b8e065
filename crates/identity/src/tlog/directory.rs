//! A log in a folder, which any web server can serve as it is.

use super::log::too_large;
use super::storage::Storage;
use crate::{Error, Reason, Result};
use gambeson_keystore::file::{self, Existing};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Files below a folder.
#[derive(Clone, Debug)]
pub struct DirectoryStorage(PathBuf);

impl DirectoryStorage {
    /// The files below this folder, which is made when something is written.
    #[must_use]
    pub fn new(folder: impl AsRef<Path>) -> Self {
        Self(folder.as_ref().to_owned())
    }
}

impl Storage for DirectoryStorage {
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
        let path = self.0.join(name);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(|error| failed(name, error))?;
        }
        file::save(&path, contents, Existing::Replace).map_err(|error| failed(name, error))
    }
}

fn failed(name: &str, error: impl core::fmt::Display) -> Error {
    Error::new(Reason::StorageFailed, format_args!("{name}: {error}"))
}
