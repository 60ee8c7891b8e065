//! Who gets the signals that end programs while a command runs: the command, and it decides.
#![cfg_attr(unix, expect(unsafe_code, reason = "sets the mask of a command between fork and exec"))]

pub(super) use system::Signals;

#[cfg(unix)]
mod system {
    use crate::error::Error;
    use nix::sys::signal::{SigSet, Signal, kill};
    use nix::unistd::Pid;
    use rustix::process::{WaitId, WaitIdOptions, waitid};
    use std::io;
    use std::os::unix::process::CommandExt;
    use std::process::{Child, Command, ExitStatus};
    use std::sync::{Arc, Mutex, PoisonError};
    use std::thread;

    /// The signals that come to this program, and those that were held back before.
    pub(in super::super) struct Signals(SigSet, SigSet);

    impl Signals {
        /// Holds them back, in this thread, those that it starts, and commands that are not [left](Self::leave_to) theirs.
        pub(in super::super) fn hold() -> Result<Self, Error> {
            let signals = [Signal::SIGINT, Signal::SIGQUIT, Signal::SIGTERM, Signal::SIGHUP];
            let signals: SigSet = signals.into_iter().collect();
            let before = SigSet::thread_get_mask().and_then(|before| signals.thread_block().map(|()| before));
            Ok(Self(signals, before.map_err(|e| Error::stream(&"signals", &e.into()))?))
        }

        /// A command that is started gets its signals as ever.
        pub(in super::super) fn leave_to(&self, command: &mut Command) {
            let before = self.1;
            // SAFETY: all that is done between fork and exec is to set a mask, which is allowed there (signal-safety(7)).
            unsafe { command.pre_exec(move || before.thread_set_mask().map_err(io::Error::from)) };
        }

        /// Waits for a command. What the terminal sends, it sends to the command, too; the rest is passed on.
        pub(in super::super) fn wait(self, mut child: Child) -> io::Result<ExitStatus> {
            let id = i32::try_from(child.id()).map_err(io::Error::other)?;
            let running = Arc::new(Mutex::new(Some(Pid::from_raw(id))));
            let command = Arc::clone(&running);
            thread::spawn(move || {
                while let Ok(signal) = self.0.wait() {
                    let command = command.lock().unwrap_or_else(PoisonError::into_inner);
                    if let (Some(id), Signal::SIGTERM | Signal::SIGHUP) = (*command, signal) {
                        // It can only have ended by itself.
                        let _ = kill(id, signal);
                    }
                }
            });
            // Its number stays its own until it was waited for; after that no signal must go there.
            let id = rustix::process::Pid::from_child(&child);
            let ended = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
            while matches!(waitid(WaitId::Pid(id), ended), Err(rustix::io::Errno::INTR)) {}
            *running.lock().unwrap_or_else(PoisonError::into_inner) = None;
            child.wait()
        }
    }
}

#[cfg(not(unix))]
mod system {
    use crate::error::Error;
    use std::io;
    use std::process::{Child, Command, ExitStatus};

    /// The signals that come to this program.
    pub(in super::super) struct Signals;

    impl Signals {
        /// Leaves them to the command: the console tells it, too.
        pub(in super::super) fn hold() -> Result<Self, Error> {
            let _ = ctrlc::set_handler(|| {});
            Ok(Self)
        }

        /// It has them.
        pub(in super::super) fn leave_to(&self, _: &mut Command) {}

        /// Waits for a command.
        pub(in super::super) fn wait(self, mut child: Child) -> io::Result<ExitStatus> {
            child.wait()
        }
    }
}
