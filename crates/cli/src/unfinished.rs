//! Files, folders and commands that must not outlive an interrupted program.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, Once, PoisonError};

/// What is unfinished now.
static UNFINISHED: Mutex<Vec<Thing>> = Mutex::new(Vec::new());

#[derive(Clone)]
enum Thing {
    Path(PathBuf),
    /// A command that runs, by its number.
    Child(u32),
    /// Work that ends in its own way, and then the program.
    Service(Arc<dyn Fn() + Send + Sync>),
}

impl PartialEq for Thing {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Path(one), Self::Path(other)) => one == other,
            (Self::Child(one), Self::Child(other)) => one == other,
            (Self::Service(one), Self::Service(other)) => Arc::ptr_eq(one, other),
            _ => false,
        }
    }
}

/// Has a file or folder removed, or a command ended, when the user or the system ends the program, as long as this value lives.
pub(crate) struct Unfinished(Thing);

impl Unfinished {
    pub(crate) fn new(path: &Path) -> Self {
        Self::thing(Thing::Path(path.to_path_buf()))
    }

    /// The command must not have been waited for, as long as this value lives.
    pub(crate) fn child(id: u32) -> Self {
        Self::thing(Thing::Child(id))
    }

    /// The program goes on, and `end` tells the work to come to its end; when asked a second time, the program ends.
    pub(crate) fn service(end: impl Fn() + Send + Sync + 'static) -> Self {
        Self::thing(Thing::Service(Arc::new(end)))
    }

    fn thing(thing: Thing) -> Self {
        static HANDLER: Once = Once::new();
        // Without a handler an interrupted program leaves the file: no reason to do nothing at all.
        HANDLER.call_once(|| drop(ctrlc::set_handler(interrupted)));
        UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner).push(thing.clone());
        Self(thing)
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        let mut unfinished = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
        unfinished.retain(|thing| *thing != self.0);
    }
}

/// Tells services to end; without any, removes what is unfinished and ends the program.
fn interrupted() {
    let mut unfinished = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
    let services: Vec<Thing> =
        unfinished.extract_if(.., |thing| matches!(thing, Thing::Service(_))).collect();
    if !services.is_empty() {
        drop(unfinished);
        for service in &services {
            if let Thing::Service(end) = service {
                end();
            }
        }
        return;
    }
    // The lock is kept to the end: nothing gets its name while the program goes down.
    for thing in unfinished.iter().rev() {
        match thing {
            Thing::Child(id) => end(*id),
            Thing::Service(_) => {}
            Thing::Path(path) => {
                if fs::remove_file(path).is_err() {
                    let _ = fs::remove_dir_all(path);
                }
            }
        }
    }
    std::process::exit(130);
}

/// Asks a command to end.
#[cfg(unix)]
fn end(id: u32) {
    if let Some(id) = i32::try_from(id).ok().and_then(rustix::process::Pid::from_raw) {
        let _ = rustix::process::kill_process(id, rustix::process::Signal::TERM);
    }
}

/// Where there are no such signals, the console tells it.
#[cfg(not(unix))]
fn end(_id: u32) {}
