//! Damaged files of redb: some end in its assertions, where others end in its errors.

use std::cell::Cell;
use std::ops::Deref;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

use redb::StorageError;

thread_local! {
    /// True while redb works on this thread.
    static WORKS: Cell<bool> = const { Cell::new(false) };
}

/// Runs work of redb. An assertion of it that does not hold is an error, and nothing of it is written to standard error.
///
/// # Errors
/// [`StorageError::Corrupted`].
pub(crate) fn checked<T, E: From<StorageError>>(work: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let others = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            if !WORKS.try_with(Cell::get).unwrap_or_default() {
                others(panic);
            }
        }));
    });
    let before = WORKS.replace(true);
    let done = panic::catch_unwind(AssertUnwindSafe(work));
    WORKS.set(before);
    done.unwrap_or_else(|_| Err(StorageError::Corrupted("an assertion failed".to_owned()).into()))
}

/// A database whose end is checked, too: redb writes when a database is closed.
#[derive(Debug)]
pub(crate) struct Checked<T>(Option<T>);

impl<T> Checked<T> {
    pub(crate) fn new(database: T) -> Self {
        Self(Some(database))
    }
}

impl<T> Deref for Checked<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.0.as_ref().expect("it is there until it is dropped")
    }
}

impl<T> Drop for Checked<T> {
    fn drop(&mut self) {
        let database = self.0.take();
        // Writers were told; at the end nobody is.
        let _ = checked::<_, StorageError>(|| {
            drop(database);
            Ok(())
        });
    }
}
