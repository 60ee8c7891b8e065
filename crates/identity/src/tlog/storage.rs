//! Where the files of a log lie.

use crate::{Error, Reason, Result};
use std::collections::BTreeMap;

/// Files by their names, such as `checkpoint` and `tile/0/x001/067.p/5`.
///
/// A file is written whole: whoever reads finds the old contents or the new ones.
pub trait Storage {
    /// What keeps others from writing, as long as it lives.
    type Lock;

    /// Waits until nobody else writes a log here, and keeps others from it.
    ///
    /// # Errors
    ///
    /// [`Reason::StorageFailed`](crate::Reason::StorageFailed).
    fn lock(&mut self) -> Result<Self::Lock>;

    /// The contents of a file of at most `max_len` bytes; `None` if there is none of that name.
    ///
    /// # Errors
    ///
    /// [`Reason::StorageFailed`](crate::Reason::StorageFailed), [`Reason::TooLarge`](crate::Reason::TooLarge).
    fn read(&self, name: &str, max_len: usize) -> Result<Option<Vec<u8>>>;

    /// Writes a file, in the place of one of that name.
    ///
    /// # Errors
    ///
    /// [`Reason::StorageFailed`](crate::Reason::StorageFailed); then the old contents are there or the new ones, and it is not known which
    /// will be there after a loss of power.
    fn write(&mut self, name: &str, contents: &[u8]) -> Result<()>;

    /// Writes a file of which there is none.
    ///
    /// # Errors
    ///
    /// [`Reason::StorageFailed`](crate::Reason::StorageFailed), also if there is one: it stays as it is.
    fn create(&mut self, name: &str, contents: &[u8]) -> Result<()>;
}

/// Files in memory.
#[derive(Clone, Debug, Default)]
pub struct MemoryStorage(BTreeMap<String, Vec<u8>>);

impl MemoryStorage {
    /// Every file, in the order of names.
    pub fn files(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.0.iter().map(|(name, contents)| (name.as_str(), contents.as_slice()))
    }
}

impl Storage for MemoryStorage {
    /// There is one owner.
    type Lock = ();

    fn lock(&mut self) -> Result<()> {
        Ok(())
    }

    fn read(&self, name: &str, max_len: usize) -> Result<Option<Vec<u8>>> {
        match self.0.get(name) {
            Some(contents) if contents.len() > max_len => Err(super::log::too_large(name)),
            found => Ok(found.cloned()),
        }
    }

    fn write(&mut self, name: &str, contents: &[u8]) -> Result<()> {
        self.0.insert(name.to_owned(), contents.to_vec());
        Ok(())
    }

    fn create(&mut self, name: &str, contents: &[u8]) -> Result<()> {
        match self.0.contains_key(name) {
            true => Err(Error::new(Reason::StorageFailed, format_args!("{name} exists already"))),
            false => self.write(name, contents),
        }
    }
}

impl<S: Storage + ?Sized> Storage for &mut S {
    type Lock = S::Lock;

    fn lock(&mut self) -> Result<S::Lock> {
        (**self).lock()
    }

    fn read(&self, name: &str, max_len: usize) -> Result<Option<Vec<u8>>> {
        (**self).read(name, max_len)
    }

    fn write(&mut self, name: &str, contents: &[u8]) -> Result<()> {
        (**self).write(name, contents)
    }

    fn create(&mut self, name: &str, contents: &[u8]) -> Result<()> {
        (**self).create(name, contents)
    }
}
