//! A store in one file.

mod damage;

use std::collections::BTreeMap;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use redb::backends::InMemoryBackend;
use redb::{
    Builder, Database, DatabaseError, ReadOnlyDatabase, ReadTransaction, ReadableDatabase, StorageBackend,
    StorageError, TableDefinition, TableError, TransactionError,
};

pub(crate) use self::damage::{Checked, checked};
use crate::error::{Error, Result};
use crate::store::{Batch, Store};

const KEPT: TableDefinition<'_, ([u8; 16], u64), &[u8]> = TableDefinition::new("kept");

/// A store in one file, which one process has open at a time, or several of them to read it.
#[derive(Clone, Debug)]
pub struct FileStore(Arc<Opened>);

enum Opened {
    /// To read and write.
    Writable(Checked<Database>),
    /// To read alone.
    ReadOnly(Checked<ReadOnlyDatabase>),
    /// A copy in memory of a file whose writer was killed: redb mends it when it opens it.
    Copy(Checked<Database>),
    /// There is no file, so nothing is kept.
    Absent,
}

impl std::fmt::Debug for Opened {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Writable(_) => "Writable",
            Self::ReadOnly(_) => "ReadOnly",
            Self::Copy(_) => "Copy",
            Self::Absent => "Absent",
        })
    }
}

impl FileStore {
    /// Opens the file, or makes it: only its owner may read and write it.
    ///
    /// # Errors
    /// [`Error::BadStore`]: it is damaged, empty, or no such file. [`Error::Store`]: another process has it, or the disk fails.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let database = Self::database(path.as_ref()).map_err(failed)?;
        Ok(Self(Arc::new(Opened::Writable(database))))
    }

    /// Opens the file to read it: nothing is written, neither into it nor beside it. Where there is no file, nothing is kept.
    ///
    /// # Errors
    /// Those of [`FileStore::open`].
    pub fn open_read_only(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let opened = (|| {
            if !path.try_exists()? {
                return Ok(Opened::Absent);
            }
            refuse_empty(path)?;
            match checked(|| Builder::new().open_read_only(path)) {
                Err(DatabaseError::RepairAborted) => Ok(Opened::Copy(copy(path)?)),
                opened => Ok(Opened::ReadOnly(Checked::new(opened?))),
            }
        })();
        Ok(Self(Arc::new(opened.map_err(failed::<DatabaseError>)?)))
    }

    /// The database in a file, which is made if it is not there: whole or, if the process ends, not at all.
    pub(crate) fn database(path: &Path) -> Result<Checked<Database>, DatabaseError> {
        checked(|| Self::made_or_opened(path)).map(Checked::new)
    }

    fn made_or_opened(path: &Path) -> Result<Database, DatabaseError> {
        if !path.try_exists()? {
            // Made beside it and renamed: redb does not open a file whose first pages are there in part. Whoever makes it has it locked.
            let mut unfinished = path.as_os_str().to_owned();
            unfinished.push(".new");
            let unfinished = Path::new(&unfinished);
            let make = || Builder::new().create_file(private(unfinished, true)?);
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
        let file = private(path, false)?;
        refuse_empty(path)?;
        Builder::new().create_file(file)
    }
}

/// Refuses an empty file, which redb takes for a new one: what was kept in it is gone.
fn refuse_empty(path: &Path) -> Result<(), StorageError> {
    match fs::metadata(path)?.len() {
        0 => Err(StorageError::Corrupted("the file is empty".to_owned())),
        _ => Ok(()),
    }
}

/// Copies a file into memory while nobody writes it.
fn copy(path: &Path) -> Result<Checked<Database>, DatabaseError> {
    let file = File::open(path)?;
    file.try_lock_shared().map_err(|error| match error {
        TryLockError::WouldBlock => DatabaseError::DatabaseAlreadyOpen,
        TryLockError::Error(error) => error.into(),
    })?;
    let (bytes, memory) = (fs::read(path)?, InMemoryBackend::new());
    memory.set_len(bytes.len() as u64)?;
    memory.write(0, &bytes)?;
    checked(|| Builder::new().create_with_backend(memory)).map(Checked::new)
}

/// Returns the error of a file that is damaged, or that cannot be read or written.
fn failed<E: Into<redb::Error>>(error: E) -> Error {
    match error.into() {
        redb::Error::Corrupted(_)
        | redb::Error::UpgradeRequired(_)
        | redb::Error::TableTypeMismatch { .. }
        | redb::Error::TableIsMultimap(_)
        | redb::Error::TypeDefinitionChanged { .. } => Error::BadStore,
        redb::Error::Io(error)
            if matches!(error.kind(), io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof) =>
        {
            Error::BadStore
        }
        error => Error::store(error),
    }
}

/// The file, made if it is not there and may be; nobody else may read it.
fn private(path: &Path, create: bool) -> io::Result<File> {
    let mut options = File::options();
    options.read(true).write(true).create(create).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path)?;
    #[cfg(unix)]
    file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
    Ok(file)
}

impl Opened {
    /// Begins to read; `None` where nothing is kept.
    fn begin_read(&self) -> Result<Option<ReadTransaction>, TransactionError> {
        match self {
            Self::Writable(database) | Self::Copy(database) => database.begin_read().map(Some),
            Self::ReadOnly(database) => database.begin_read().map(Some),
            Self::Absent => Ok(None),
        }
    }

    fn row(&self, row: [u8; 16], from: u64, most: usize) -> Result<BTreeMap<u64, Vec<u8>>, redb::Error> {
        let Some(read) = self.begin_read()? else { return Ok(BTreeMap::new()) };
        let table = match read.open_table(KEPT) {
            Err(TableError::TableDoesNotExist(_)) => return Ok(BTreeMap::new()),
            table => table?,
        };
        let kept = table.range((row, from)..=(row, u64::MAX))?.take(most);
        kept.map(|kept| kept.map(|(key, value)| (key.value().1, value.value().to_vec())))
            .collect::<Result<_, StorageError>>()
            .map_err(redb::Error::from)
    }

    fn apply(&self, batch: Batch) -> Result<(), redb::Error> {
        let Self::Writable(database) = self else {
            return Err(redb::Error::Io(io::Error::new(
                io::ErrorKind::ReadOnlyFilesystem,
                "the store was opened for reading only",
            )));
        };
        let write = database.begin_write()?;
        {
            let mut table = write.open_table(KEPT)?;
            for (key, value) in batch {
                match value {
                    Some(value) => drop(table.insert(key, value.as_slice())?),
                    None => drop(table.remove(key)?),
                }
            }
        }
        Ok(write.commit()?)
    }
}

#[async_trait]
impl Store for FileStore {
    async fn row(&self, row: [u8; 16], from: u64, most: usize) -> Result<BTreeMap<u64, Vec<u8>>> {
        let opened = Arc::clone(&self.0);
        away(move || opened.row(row, from, most)).await
    }

    async fn apply(&self, batch: Batch) -> Result<()> {
        let opened = Arc::clone(&self.0);
        away(move || opened.apply(batch)).await
    }
}

/// Waits for the disk on a thread that may wait.
async fn away<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, redb::Error> + Send + 'static,
) -> Result<T> {
    tokio::task::spawn_blocking(|| checked(work)).await.map_err(Error::store)?.map_err(failed)
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

    /// A store with some rows, and its bytes.
    async fn filled(path: &Path) -> Vec<u8> {
        let store = FileStore::open(path).unwrap();
        for row in 0..20 {
            let batch = (0..20).map(|place| (([row; 16], place), Some(vec![row; 300]))).collect();
            store.apply(batch).await.unwrap();
        }
        drop(store);
        fs::read(path).unwrap()
    }

    /// Panics are told by a hook of the tests' own, which redb's assertions do not reach.
    #[tokio::test]
    async fn a_damaged_file_is_an_error_and_no_panic() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store");
        let whole = filled(&path).await;
        let (mut damaged, mut panics) = (0, 0);
        for number in 0..600_usize {
            let mut bytes = whole.clone();
            // The first pages, in which the structure is, more often than the others.
            let at = number.wrapping_mul(7_919) % if number % 2 == 0 { 12_288 } else { bytes.len() };
            bytes[at] ^= 1 << (number % 8);
            if number % 97 == 0 {
                bytes.truncate(at + 1);
            }
            fs::write(&path, &bytes).unwrap();
            let store =
                if number % 3 == 0 { FileStore::open(&path) } else { FileStore::open_read_only(&path) };
            let Ok(store) = store else {
                damaged += 1;
                continue;
            };
            for row in 0..20 {
                panics += usize::from(store.row([row; 16], 0, usize::MAX).await.is_err());
            }
            if number % 3 == 0 {
                let _ = store.apply(Batch::from([(([1; 16], 2), Some(vec![3]))])).await;
            }
        }
        assert!(damaged > 10, "{damaged}, {panics}");
    }

    #[tokio::test]
    async fn an_empty_file_is_no_new_store() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store");
        fs::write(&path, "").unwrap();
        assert!(matches!(FileStore::open(&path), Err(Error::BadStore)));
        assert!(matches!(FileStore::open_read_only(&path), Err(Error::BadStore)));
        assert_eq!(fs::read(&path).unwrap(), b"");
    }

    #[tokio::test]
    async fn what_is_opened_to_be_read_is_not_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store");
        let none = FileStore::open_read_only(&path).unwrap();
        assert!(none.row([1; 16], 0, 9).await.unwrap().is_empty());
        assert!(!path.exists());
        let whole = filled(&path).await;
        // As a process leaves it that is killed.
        let store = FileStore::open(&path).unwrap();
        let killed = fs::read(&path).unwrap();
        assert!(matches!(FileStore::open_read_only(&path), Err(Error::Store(_))), "one writes it");
        drop(store);
        for bytes in [whole, killed] {
            fs::write(&path, &bytes).unwrap();
            let (one, other) =
                (FileStore::open_read_only(&path).unwrap(), FileStore::open_read_only(&path).unwrap());
            assert_eq!(
                one.row([7; 16], 3, 2).await.unwrap(),
                BTreeMap::from([(3, vec![7; 300]), (4, vec![7; 300])])
            );
            assert_eq!(other.row([7; 16], 0, usize::MAX).await.unwrap().len(), 20);
            assert!(one.apply(Batch::new()).await.is_err());
            drop((one, other));
            assert!(fs::read(&path).unwrap() == bytes, "nothing was written");
        }
    }
}
