//! Forked processes and sub-interpreters: threads stay with the parent, what was counted in memory would be counted in each process anew,
//! and what is cached belongs to one interpreter.

use std::process::id;
use std::sync::OnceLock;

use pyo3::exceptions::PyImportError;
use pyo3::prelude::*;

use crate::error::{USAGE, error};

/// The process that uses channels: their threads are there, and in none of its children.
static CHANNELS: OnceLock<u32> = OnceLock::new();

/// Binds channels to this process. Raises in a child of the one that they are bound to.
pub fn check_channels(py: Python<'_>) -> PyResult<()> {
    match *CHANNELS.get_or_init(id) {
        home if home == id() => Ok(()),
        home => Err(error(
            py,
            USAGE,
            format_args!(
                "process {home} used channels before this one was forked from it, and its threads are not here: fork before the first \
                 use, or start the process anew (multiprocessing: \"spawn\" or \"forkserver\")"
            ),
        )),
    }
}

/// Returns true if channels have threads in this process.
pub fn has_channels() -> bool {
    CHANNELS.get().is_some_and(|home| *home == id())
}

/// Returns true if channels are bound to a process that this one was forked from: locks that their threads held then are never released.
pub fn left_channels() -> bool {
    CHANNELS.get().is_some_and(|home| *home != id())
}

/// Refuses every interpreter of this process but the first that imports the module: what is cached is that one's.
pub fn check_interpreter(py: Python<'_>) -> PyResult<()> {
    static FIRST: OnceLock<usize> = OnceLock::new();
    // Each interpreter has a `sys` of its own.
    let this = py.import("sys")?.as_ptr() as usize;
    match *FIRST.get_or_init(|| this) == this {
        true => Ok(()),
        false => Err(PyImportError::new_err(
            "gambeson works in one interpreter of a process, the first that imports it, and this is another: use a process of its own",
        )),
    }
}

/// The process in which something was made that counts in memory.
pub struct Home(u32);

impl Home {
    pub fn here() -> Self {
        Self(id())
    }

    /// Raises in a child of that process. `what` names the object.
    pub fn check(&self, py: Python<'_>, what: &str) -> PyResult<()> {
        match self.0 == id() {
            true => Ok(()),
            false => Err(error(
                py,
                USAGE,
                format_args!(
                    "a {what} of process {} does not know what the processes forked from it take: make it after the fork, or share a \
                     memory of your own, an object with `remember(id, until, now)`",
                    self.0
                ),
            )),
        }
    }
}
