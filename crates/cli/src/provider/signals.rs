//! Signals while a command runs: all that can be passed on go to the command, and it decides.
#![cfg_attr(
    unix,
    expect(
        unsafe_code,
        reason = "sets the mask of a command between fork and exec; signals beyond those that nix names"
    )
)]

pub(super) use system::Signals;

#[cfg(unix)]
mod system {
    use crate::error::Error;
    use nix::libc;
    use nix::sys::signal::{SigSet, Signal};
    use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
    use std::io;
    use std::os::unix::process::CommandExt;
    use std::process::{Child, Command, ExitStatus};
    use std::sync::{Arc, Mutex, PoisonError};
    use std::thread;

    /// The signals that come to this program, and those that were held back before.
    pub(in super::super) struct Signals(SigSet, SigSet);

    impl Signals {
        /// Holds back all that can be, but for the news of the command's end, in this thread, those that it starts, and commands that are
        /// not [left](Self::leave_to) theirs.
        pub(in super::super) fn hold() -> Result<Self, Error> {
            let mut signals = SigSet::all();
            signals.remove(Signal::SIGCHLD);
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
            let id = libc::pid_t::try_from(child.id()).map_err(io::Error::other)?;
            let running = Arc::new(Mutex::new(Some(id)));
            let command = Arc::clone(&running);
            thread::spawn(move || {
                loop {
                    let (signal, by_terminal) = next(&self.0);
                    let command = command.lock().unwrap_or_else(PoisonError::into_inner);
                    if let Some(id) = command.filter(|_| !by_terminal && signal > 0) {
                        // SAFETY: no pointers. The command can only have ended by itself; its number is still its own.
                        unsafe { libc::kill(id, signal) };
                    }
                    drop(command);
                }
            });
            // Its number stays its own until it was waited for; after that no signal must go there.
            wait_for_end(rustix::process::Pid::from_child(&child));
            *running.lock().unwrap_or_else(PoisonError::into_inner) = None;
            child.wait()
        }
    }

    /// Waits until a command has ended, which stays to be waited for. This program stops when its command has stopped, whatever signal did that,
    /// and goes on with it: those who stop a command send the signal that ends that to both, or to this program, which passes it on.
    fn wait_for_end(command: Pid) {
        let look = |options| loop {
            match waitid(WaitId::Pid(command), options) {
                Err(rustix::io::Errno::INTR) => {}
                news => break news,
            }
        };
        let news = WaitIdOptions::EXITED | WaitIdOptions::STOPPED | WaitIdOptions::NOWAIT;
        while matches!(look(news), Ok(Some(status)) if status.stopped()) {
            // The news is taken, unless the command has gone on or ended since.
            if matches!(look(WaitIdOptions::STOPPED | WaitIdOptions::NOHANG), Ok(Some(_))) {
                // SAFETY: no pointers.
                unsafe { libc::raise(libc::SIGSTOP) };
            }
        }
    }

    /// Waits for the next of these signals, real-time ones too. Returns it, or 0 for none, and whether the terminal has sent it.
    #[cfg(target_os = "linux")]
    fn next(signals: &SigSet) -> (libc::c_int, bool) {
        // SAFETY: integers and pointers, of which zero is a value.
        let mut news: libc::siginfo_t = unsafe { std::mem::zeroed() };
        // SAFETY: both pointers are to values that live as long as the call.
        let signal = unsafe { libc::sigwaitinfo(signals.as_ref(), &mut news) };
        // What the system itself tells has a code above that of processes. The end of a terminal is told to the first process alone.
        let by_terminal = news.si_code > libc::SI_USER && signal != libc::SIGHUP;
        (signal.max(0), by_terminal)
    }

    /// Waits for the next of these signals. Returns it, or 0 for none, and whether the terminal can have sent it.
    #[cfg(not(target_os = "linux"))]
    fn next(signals: &SigSet) -> (libc::c_int, bool) {
        let mut signal = 0;
        // SAFETY: both pointers are to values that live as long as the call.
        let failed = unsafe { libc::sigwait(signals.as_ref(), &mut signal) } != 0;
        let of_terminals = [libc::SIGINT, libc::SIGQUIT, libc::SIGTSTP, libc::SIGWINCH];
        (if failed { 0 } else { signal }, of_terminals.contains(&signal))
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
