//! Files and folders that must not outlive an interrupted program.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, Once, PoisonError};

/// What is unfinished now.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Has `path` removed when the user or the system ends the program, as long as this value lives.
pub(crate) struct Unfinished(PathBuf);

impl Unfinished {
    pub(crate) fn new(path: &Path) -> Self {
        static HANDLER: Once = Once::new();
        // Without a handler an interrupted program leaves the file: no reason to do nothing at all.
        HANDLER.call_once(|| drop(ctrlc::set_handler(interrupted)));
        UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner).push(path.to_path_buf());
        Self(path.to_path_buf())
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        let mut unfinished = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
        unfinished.retain(|path| *path != self.0);
    }
}

/// Removes what is unfinished and ends the program.
fn interrupted() {
    // The lock is kept to the end: nothing gets its name while the program goes down.
    let unfinished = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
    for path in unfinished.iter() {
        if fs::remove_file(path).is_err() {
            let _ = fs::remove_dir_all(path);
        }
    }
    std::process::exit(130);
}
