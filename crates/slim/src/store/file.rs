//! A store in one file.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use redb::{Builder, Database, DatabaseError, ReadableDatabase, TableDefinition, TableError};

use crate::error::{Error, Result};
use crate::store::{Batch, Store};

const KEPT: TableDefinition<'_, ([u8; 16], u64), &[u8]> = TableDefinition::new("kept");

/// A store in one file, which one process has open at a time.
#[derive(Clone, Debug)]
pub struct FileStore(Arc<Database>);

impl FileStore {
    /// Opens the file, or makes it: only its owner may read and write it.
    ///
    /// # Errors
    /// [`Error::Store`]: it is no such file, another process has it, or the disk fails.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let database = Self::database(path.as_ref()).map_err(Error::store)?;
        Ok(Self(Arc::new(database)))
    }

    /// The database in a file, which is made if it is not there: whole or, if the process ends, not at all.
    pub(crate) fn database(path: &Path) -> Result<Database, DatabaseError> {
        if !path.try_exists()? {
            // Made beside it and renamed: redb does not open a file whose first pages are there in part. Whoever makes it has it locked.
            let mut unfinished = path.as_os_str().to_owned();
            unfinished.push(".new");
            let unfinished = Path::new(&unfinished);
            let make = || Builder::new().create_file(private(unfinished)?);
            let made = match make() {
                Ok(made) => made,
                Err(DatabaseError::DatabaseAlreadyOpen) => return Err(DatabaseError::DatabaseAlreadyOpen),
                Err(_) => {
                    // A process that was killed has left it.
                    fs::remove_file(unfinished)?;
                    make()?
                }
            };
            if !path.try_exists()? {
                fs::rename(unfinished, path)?;
                #[cfg(unix)]
                let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
                #[cfg(unix)]
                File::open(folder.unwrap_or(Path::new("."))).and_then(|folder| folder.sync_all())?;
                return Ok(made);
            }
            // Another was faster.
            fs::remove_file(unfinished)?;
        }
        Builder::new().create_file(private(path)?)
    }
}

/// The file, made if it is not there; nobody else may read it.
fn private(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path)?;
    #[cfg(unix)]
    file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
    Ok(file)
}

#[async_trait]
impl Store for FileStore {
    async fn row(&self, row: [u8; 16], from: u64, most: usize) -> Result<BTreeMap<u64, Vec<u8>>> {
        let database = self.0.clone();
        away(move || {
            let read = database.begin_read().map_err(Error::store)?;
            let table = match read.open_table(KEPT) {
                Err(TableError::TableDoesNotExist(_)) => return Ok(BTreeMap::new()),
                table => table.map_err(Error::store)?,
            };
            table
                .range((row, from)..=(row, u64::MAX))
                .map_err(Error::store)?
                .take(most)
                .map(|kept| {
                    let (key, value) = kept.map_err(Error::store)?;
                    Ok((key.value().1, value.value().to_vec()))
                })
                .collect()
        })
        .await
    }

    async fn apply(&self, batch: Batch) -> Result<()> {
        let database = self.0.clone();
        away(move || {
            let write = database.begin_write().map_err(Error::store)?;
            {
                let mut table = write.open_table(KEPT).map_err(Error::store)?;
                for (key, value) in batch {
                    match value {
                        Some(value) => drop(table.insert(key, value.as_slice()).map_err(Error::store)?),
                        None => drop(table.remove(key).map_err(Error::store)?),
                    }
                }
            }
            write.commit().map_err(Error::store)
        })
        .await
    }
}

/// Waits for the disk on a thread that may wait.
async fn away<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    tokio::task::spawn_blocking(work).await.map_err(Error::store)?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_store_that_a_killed_process_left_unfinished_is_made_anew() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store");
        // Where something stands in the way of the making, nothing is left that could not be opened.
        let unfinished = folder.path().join("store.new");
        fs::create_dir(&unfinished).unwrap();
        assert!(matches!(FileStore::open(&path), Err(Error::Store(_))));
        assert!(!path.exists());
        fs::remove_dir(&unfinished).unwrap();

        fs::write(&unfinished, "begun by a process that was killed").unwrap();
        let store = FileStore::open(&path).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        store.apply(Batch::from([(([1; 16], 2), Some(vec![3]))])).await.unwrap();
        drop(store);
        let kept = FileStore::open(&path).unwrap().row([1; 16], 0, 9).await.unwrap();
        assert_eq!(kept, BTreeMap::from([(2, vec![3])]));
    }
}
