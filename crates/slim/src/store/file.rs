//! A store in one file.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use redb::{Database, ReadableDatabase, TableDefinition, TableError};

use crate::error::{Error, Result};
use crate::store::{Batch, Store};

const KEPT: TableDefinition<'_, ([u8; 16], u64), &[u8]> = TableDefinition::new("kept");

/// A store in one file, which one process has open at a time.
#[derive(Clone, Debug)]
pub struct FileStore(Arc<Database>);

impl FileStore {
    /// Opens the file, or makes it.
    ///
    /// # Errors
    /// [`Error::Store`]: it is no such file, another process has it, or the disk fails.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Database::create(path).map(|database| Self(Arc::new(database))).map_err(Error::store)
    }
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
