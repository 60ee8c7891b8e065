//! Objects in a folder: `ab/cdef…`, the digits of their hashes.

use super::{MAX_OBJECT, ObjectId, Objects, checked_id};
use crate::{Error, Reason, Result};
use gambeson_keystore::file::{self, Access, Existing};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Objects in a folder, which its owner alone may read.
#[derive(Clone, Debug)]
pub struct DirectoryObjects(PathBuf);

impl DirectoryObjects {
    /// The objects of this folder, which is made when one is kept.
    #[must_use]
    pub fn new(folder: impl AsRef<Path>) -> Self {
        Self(folder.as_ref().to_owned())
    }

    fn path(&self, id: &ObjectId) -> PathBuf {
        let name = id.to_string();
        self.0.join(&name[3..5]).join(&name[5..])
    }
}

impl Objects for DirectoryObjects {
    fn put(&mut self, bytes: &[u8]) -> Result<ObjectId> {
        let id = checked_id(bytes)?;
        let path = self.path(&id);
        if let Some(folder) = path.parent() {
            file::create_folders(folder, Access::Private).map_err(failed)?;
        }
        // Replaced even if it is there: what lies under the name may have been damaged.
        file::save(&path, bytes, Access::Private, Existing::Replace).map_err(failed)?;
        Ok(id)
    }

    fn get(&self, id: &ObjectId) -> Result<Option<Vec<u8>>> {
        let opened = match File::open(self.path(id)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            opened => opened.map_err(failed)?,
        };
        let mut bytes = Vec::new();
        opened.take(MAX_OBJECT as u64 + 1).read_to_end(&mut bytes).map_err(failed)?;
        id.check(&bytes)?;
        Ok(Some(bytes))
    }

    fn ids(&self) -> Result<Vec<ObjectId>> {
        let mut ids = Vec::new();
        for first in names(&self.0)? {
            if first.len() != 2 {
                continue;
            }
            // A name that is not one of ours, such as that of a file that is being written, is passed over.
            let found = names(&self.0.join(&first))?;
            ids.extend(found.iter().filter_map(|rest| format!("b3:{first}{rest}").parse::<ObjectId>().ok()));
        }
        ids.sort_unstable();
        Ok(ids)
    }
}

fn names(folder: &Path) -> Result<Vec<String>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(Vec::new());
        }
        entries => entries.map_err(failed)?,
    };
    let mut names = Vec::new();
    for entry in entries {
        names.extend(entry.map_err(failed)?.file_name().into_string());
    }
    Ok(names)
}

fn failed(error: impl core::fmt::Display) -> Error {
    Error::new(Reason::StorageFailed, error)
}
