//! Everything in one file, by redb.
//!
//! One thread writes. It does what has come meanwhile in one transaction, which is on the disk before anyone is answered: a crash at
//! any point leaves what was answered, and of the rest all or nothing. After an error of the disk redb does nothing any more: the file is
//! opened again.

mod tables;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use bytes::Bytes;
use redb::{Builder, Database, ReadableDatabase};
use tokio::sync::oneshot;

use self::tables::{Stop, Tables};
use super::{Limits, Retention};
use crate::blobs::{BlobId, Blobs, MAX_BLOB};
use crate::error::{Error, Result};
use crate::hold;
use crate::keys::{KeyPackages, Keys};
use crate::log::{Entry, Log, MAX_ENTRY, Page, Placed};
use crate::name::ChannelId;
use crate::store::{Checked, FileStore, checked};

/// Log, blobs and keys in one file. Dropped, it waits for what is being written.
#[derive(Debug)]
pub struct File {
    kept: Arc<Kept>,
    /// `None` while it is dropped.
    jobs: Option<mpsc::Sender<Job>>,
    writer: Option<JoinHandle<()>>,
}

struct Kept {
    /// `None` while it cannot be opened again. Who works with it holds the lock until its transaction is over.
    database: RwLock<Option<Checked<Database>>>,
    /// Where it is opened again; `None`: nowhere.
    path: Option<PathBuf>,
    limits: Limits,
    retention: Retention,
    /// Why the last transaction that failed did.
    failure: Mutex<Option<String>>,
}

impl Kept {
    /// Works with the database.
    fn with<T>(&self, work: impl FnOnce(&Database) -> Result<T, redb::Error>) -> Result<T, redb::Error> {
        let database = self.database.read().unwrap_or_else(PoisonError::into_inner);
        let database = database.as_ref().ok_or(redb::Error::DatabaseClosed)?;
        checked(|| work(database))
    }

    /// Keeps why a transaction failed, for those who are told so.
    fn failed(&self, error: &redb::Error) {
        // What follows a failure says nothing of it.
        let again = matches!(error, redb::Error::PreviousIo | redb::Error::DatabaseClosed);
        let mut failure = hold(&self.failure);
        if !again || failure.is_none() {
            *failure = Some(error.to_string());
        }
    }

    /// Opens the file again, when all transactions are over. One that is gone is not made anew: what was answered stood in it.
    fn reopen(&self) -> Result<(), redb::Error> {
        let Some(path) = &self.path else { return Err(redb::Error::PreviousIo) };
        let mut database = self.database.write().unwrap_or_else(PoisonError::into_inner);
        // As long as it lives, the file is locked.
        *database = None;
        *database = Some(checked(|| Builder::new().open(path)).map(Checked::new)?);
        Ok(())
    }
}

impl std::fmt::Debug for Kept {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Kept").field("limits", &self.limits).finish_non_exhaustive()
    }
}

/// What changes tables, and what tells of it when the change is on the disk. Dropped untold, it has failed.
type Job = Box<dyn FnOnce(&mut Tables<'_>) -> Result<Tell, redb::Error> + Send>;

/// At most so many jobs in one transaction: at 64 KiB each, 16 MiB.
const MOST_AT_ONCE: usize = 256;

/// How often what is old is forgotten.
const SWEEP: Duration = Duration::from_secs(60);

/// How long after a failure the file is opened again: it is read as a whole then, and the disk may be full for longer.
const REOPEN: Duration = Duration::from_secs(1);

impl File {
    /// Opens the file, or makes it: only its owner may read and write it.
    ///
    /// # Errors
    /// [`Error::Service`]: it cannot be opened, another process has it open, or it is no such file.
    pub fn open(path: impl AsRef<Path>, limits: Limits, retention: Retention) -> Result<Self> {
        let path = path.as_ref();
        let database = FileStore::database(path).map_err(failed)?;
        // The working directory may be another later.
        let path = std::path::absolute(path).map_err(failed)?;
        Self::at(Some(path), database, limits, retention)
    }

    /// A database that is not opened again.
    #[cfg(test)]
    fn of(database: Database, limits: Limits, retention: Retention) -> Result<Self> {
        Self::at(None, Checked::new(database), limits, retention)
    }

    fn at(
        path: Option<PathBuf>,
        database: Checked<Database>,
        limits: Limits,
        retention: Retention,
    ) -> Result<Self> {
        let begun = checked(|| {
            let transaction = database.begin_write()?;
            Tables::open(&transaction)?;
            transaction.commit().map_err(redb::Error::from)
        });
        begun.map_err(failed)?;
        let database = RwLock::new(Some(database));
        let kept = Arc::new(Kept { database, path, limits, retention, failure: Mutex::new(None) });
        let (jobs, todo) = mpsc::channel();
        let of_thread = Arc::clone(&kept);
        let writer = std::thread::Builder::new().name("delivery-file".into());
        let writer = writer.spawn(move || write(&of_thread, &todo)).map_err(failed)?;
        Ok(Self { kept, jobs: Some(jobs), writer: Some(writer) })
    }

    /// Has the writing thread do something, and waits until it is on the disk.
    async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Tables<'_>, &Kept) -> Result<T, Stop> + Send + 'static,
    ) -> Result<T> {
        let (sender, receiver) = oneshot::channel();
        let kept = Arc::clone(&self.kept);
        let job: Job = Box::new(move |tables| {
            let outcome = match work(tables, &kept) {
                Ok(done) => Ok(done),
                Err(Stop::Refused(error)) => Err(error),
                Err(Stop::Failed(error)) => {
                    // Before the sender is gone: whoever waits asks for it then.
                    kept.failed(&error);
                    return Err(error);
                }
            };
            // Nobody may be waiting any more.
            Ok(Box::new(move || drop(sender.send(outcome))))
        });
        if let Some(jobs) = &self.jobs {
            let _ = jobs.send(job);
        }
        receiver.await.unwrap_or_else(|_| {
            let failure = hold(&self.kept.failure).clone();
            Err(Error::Service(failure.unwrap_or_else(|| "the writing thread has ended".into()).into()))
        })
    }

    async fn read_only<T: Send + 'static>(
        &self,
        work: impl FnOnce(&redb::ReadTransaction) -> Result<T, redb::Error> + Send + 'static,
    ) -> Result<T> {
        let kept = Arc::clone(&self.kept);
        let work = move || kept.with(|database| work(&database.begin_read()?));
        tokio::task::spawn_blocking(work).await.map_err(failed)?.map_err(failed)
    }

    /// Forgets what is to be forgotten at this time, milliseconds since 1970.
    async fn sweep(&self, now: u64) -> Result<()> {
        self.write(move |tables, kept| Ok(tables.sweep(&kept.limits, &kept.retention, now)?)).await
    }

    /// Forgets what is old already; it is done once a minute anyway.
    ///
    /// # Errors
    /// The file cannot be written.
    pub async fn tidy(&self) -> Result<()> {
        self.sweep(now()).await
    }
}

impl Drop for File {
    fn drop(&mut self) {
        self.jobs = None;
        if let Some(writer) = self.writer.take() {
            // A panic of the thread was told to those who waited.
            let _ = writer.join();
        }
    }
}

fn failed(error: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::Service(Box::new(error))
}

fn now() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(now.as_millis()).unwrap_or(u64::MAX)
}

fn write(kept: &Kept, todo: &mpsc::Receiver<Job>) {
    let mut next_sweep = Instant::now() + SWEEP;
    // After a failure: when the file is opened again.
    let mut reopen: Option<Instant> = None;
    loop {
        let wake = reopen.map_or(next_sweep, |reopen| reopen.min(next_sweep));
        let mut jobs = match todo.recv_timeout(wake.saturating_duration_since(Instant::now())) {
            Ok(job) => vec![job],
            Err(mpsc::RecvTimeoutError::Timeout) => Vec::new(),
            Err(mpsc::RecvTimeoutError::Disconnected) => return,
        };
        jobs.extend(todo.try_iter().take(MOST_AT_ONCE - 1));
        let sweep = Instant::now() >= next_sweep;
        if sweep {
            next_sweep = Instant::now() + SWEEP;
        }
        if reopen.is_some_and(|reopen| Instant::now() >= reopen) {
            reopen = kept.reopen().is_err().then(|| Instant::now() + REOPEN);
        }
        if jobs.is_empty() && !sweep {
            continue;
        }
        let (mut jobs, mut told) = (jobs.into_iter(), Vec::new());
        match transact(kept, &mut jobs, &mut told, sweep) {
            Ok(()) => told.into_iter().for_each(|tell| tell()),
            Err(error) => {
                // Before those who wait are dropped untold, with the end of this turn.
                kept.failed(&error);
                reopen = reopen.or(Some(Instant::now() + REOPEN));
            }
        }
    }
}

/// What tells that a job is done.
type Tell = Box<dyn FnOnce() + Send>;

/// All jobs in one transaction. If it fails, none of them is done, as far as anyone is told.
fn transact(
    kept: &Kept,
    jobs: &mut impl Iterator<Item = Job>,
    told: &mut Vec<Tell>,
    sweep: bool,
) -> Result<(), redb::Error> {
    kept.with(|database| {
        let transaction = database.begin_write()?;
        let mut tables = Tables::open(&transaction)?;
        for job in jobs {
            told.push(job(&mut tables)?);
        }
        if sweep {
            tables.sweep(&kept.limits, &kept.retention, now())?;
        }
        drop(tables);
        transaction.commit()?;
        Ok(())
    })
}

#[async_trait]
impl Log for File {
    async fn append(&self, channel: &ChannelId, entry: Entry, after: u64) -> Result<Placed> {
        if entry.content.len() > MAX_ENTRY {
            return Err(Error::EntryTooLarge(entry.content.len()));
        }
        let channel = *channel;
        self.write(move |tables, kept| tables.append(&kept.limits, &channel, &entry, after, now())).await
    }

    async fn read(&self, channel: &ChannelId, from: u64, limit: usize) -> Result<Page> {
        let channel = *channel;
        self.read_only(move |transaction| tables::page(transaction, &channel, from, limit)).await
    }

    async fn prune(&self, channel: &ChannelId, before: u64) -> Result<()> {
        let channel = *channel;
        self.write(move |tables, _| Ok(tables.prune(&channel, before)?)).await
    }
}

#[async_trait]
impl Blobs for File {
    async fn put(&self, bytes: Bytes) -> Result<BlobId> {
        if bytes.len() > MAX_BLOB {
            return Err(Error::BlobTooLarge(bytes.len()));
        }
        self.write(move |tables, kept| tables.put(&kept.limits, &bytes, now())).await
    }

    async fn get(&self, id: &BlobId) -> Result<Option<Bytes>> {
        let id = *id;
        let bytes = self.read_only(move |transaction| tables::blob(transaction, &id)).await?;
        match bytes {
            Some(bytes) if BlobId::of(&bytes) != id => Err(Error::BlobMismatch(id)),
            bytes => Ok(bytes),
        }
    }

    async fn has(&self, ids: &[BlobId]) -> Result<Vec<bool>> {
        let asked = ids.to_vec();
        let times = self.read_only(move |transaction| tables::times(transaction, &asked)).await?;
        // Who asks will not put them again: they are as if put now.
        let now = now();
        let renewal = u64::try_from(self.kept.retention.renewal().as_millis()).unwrap_or(u64::MAX);
        let is_old = |at: &Option<u64>| at.is_some_and(|at| at.saturating_add(renewal) < now);
        let old: Vec<_> = ids.iter().zip(&times).filter(|(_, at)| is_old(at)).map(|(id, _)| *id).collect();
        let gone = match old.is_empty() {
            true => Vec::new(),
            // Some may have been forgotten since the look.
            false => self.write(move |tables, _| Ok(tables.renew(&old, now)?)).await?,
        };
        Ok(ids.iter().zip(&times).map(|(id, at)| at.is_some() && !gone.contains(id)).collect())
    }
}

#[async_trait]
impl Keys for File {
    async fn publish(&self, did: &str, packages: KeyPackages) -> Result<()> {
        packages.check(did)?;
        let did = *blake3::hash(did.as_bytes()).as_bytes();
        self.write(move |tables, kept| tables.publish(&kept.limits, &did, packages)).await
    }

    async fn take(&self, did: &str) -> Result<Option<Bytes>> {
        let did = *blake3::hash(did.as_bytes()).as_bytes();
        self.write(move |tables, _| Ok(tables.take(&did)?)).await
    }

    async fn left(&self, did: &str) -> Result<usize> {
        let did = *blake3::hash(did.as_bytes()).as_bytes();
        self.read_only(move |transaction| tables::left(transaction, &did)).await
    }
}
