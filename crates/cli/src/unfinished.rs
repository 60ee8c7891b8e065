//! Files and folders that must not outlive an interrupted program, and work that is told to end.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, Once, PoisonError};

/// What is unfinished now.
static UNFINISHED: Mutex<Vec<Thing>> = Mutex::new(Vec::new());

#[derive(Clone)]
enum Thing {
    Path(PathBuf),
    /// Work that ends in its own way, and then the program.
    Service(Arc<dyn Fn() + Send + Sync>),
}

impl PartialEq for Thing {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Path(one), Self::Path(other)) => one == other,
            (Self::Service(one), Self::Service(other)) => Arc::ptr_eq(one, other),
            _ => false,
        }
    }
}

/// Has a file or folder removed, or work ended, when the user or the system ends the program, as long as this value lives.
pub(crate) struct Unfinished(Thing);

impl Unfinished {
    pub(crate) fn new(path: &Path) -> Self {
        Self::thing(Thing::Path(path.to_path_buf()))
    }

    /// The program goes on, and `end` tells the work to come to its end; when asked a second time, the program ends.
    pub(crate) fn service(end: impl Fn() + Send + Sync + 'static) -> Self {
        Self::thing(Thing::Service(Arc::new(end)))
    }

    fn thing(thing: Thing) -> Self {
        static HANDLER: Once = Once::new();
        // Without a handler an interrupted program leaves the file: no reason to do nothing at all.
        HANDLER.call_once(|| kept_from_hangup(|| drop(ctrlc::set_handler(interrupted))));
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

/// Sets handlers, but for SIGHUP where it is ignored: under `nohup` the program outlives its terminal.
#[cfg(unix)]
#[expect(unsafe_code, reason = "sets what SIGHUP does")]
fn kept_from_hangup(set: impl FnOnce()) {
    use nix::sys::signal::{SigHandler, Signal, signal};
    // SAFETY: nothing runs when an ignored signal comes.
    let ignore = || unsafe { signal(Signal::SIGHUP, SigHandler::SigIgn) };
    let before = ignore();
    set();
    if matches!(before, Ok(SigHandler::SigIgn)) {
        let _ = ignore();
    }
}

/// There is no such signal.
#[cfg(not(unix))]
fn kept_from_hangup(set: impl FnOnce()) {
    set();
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
    for thing in unfinished.iter() {
        if let Thing::Path(path) = thing
            && fs::remove_file(path).is_err()
        {
            let _ = fs::remove_dir_all(path);
        }
    }
    std::process::exit(130);
}
