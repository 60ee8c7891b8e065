//! What only the operating system knows: its limit of descriptors, its signal to reload, its manager of services.

pub(in crate::tls) use system::Hangup;
pub(super) use system::descriptors;

/// What a manager of services is told, where it asked for that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Ready,
    Reloading,
    Stopping,
}

/// Tells systemd.
#[cfg(target_os = "linux")]
pub(super) fn tell_manager(state: State) {
    use sd_notify::NotifyState;

    let mut told = vec![match state {
        State::Ready => NotifyState::Ready,
        State::Reloading => NotifyState::Reloading,
        State::Stopping => NotifyState::Stopping,
    }];
    if state == State::Reloading {
        told.extend(NotifyState::monotonic_usec_now());
    }
    // A manager that does not listen ends what it starts by itself.
    let _ = sd_notify::notify(&told);
}

/// There is no such manager.
#[cfg(not(target_os = "linux"))]
pub(super) fn tell_manager(_: State) {}

#[cfg(unix)]
mod system {
    use crate::error::Error;
    use nix::sys::signal::{SigSet, Signal};
    use rustix::process::{Resource, getrlimit, setrlimit};
    use std::thread;

    /// The most descriptors that this program may have open, after as many were asked for as it may have.
    pub(in super::super) fn descriptors() -> Option<u64> {
        let mut limit = getrlimit(Resource::Nofile);
        if limit.current != limit.maximum {
            let before = limit.current;
            limit.current = limit.maximum;
            // It stays as it is where that is refused.
            if setrlimit(Resource::Nofile, limit).is_err() {
                return before;
            }
        }
        limit.current
    }

    /// SIGHUP, which comes to nobody else.
    pub(in crate::tls) struct Hangup(SigSet);

    impl Hangup {
        /// Holds it back, in this thread and those that it starts.
        pub(in crate::tls) fn hold() -> Result<Self, Error> {
            let signals: SigSet = [Signal::SIGHUP].into_iter().collect();
            signals.thread_block().map_err(|error| Error::stream(&"signals", &error.into()))?;
            Ok(Self(signals))
        }

        /// Does that whenever it comes.
        pub(in crate::tls) fn each(self, mut work: impl FnMut() + Send + 'static) -> Result<(), Error> {
            let waiting = thread::Builder::new().name("reload".into()).spawn(move || {
                while self.0.wait().is_ok() {
                    work();
                }
            });
            waiting.map(drop).map_err(|error| Error::stream(&"the thread of reloads", &error))
        }
    }
}

#[cfg(not(unix))]
mod system {
    use crate::error::Error;

    /// There is no limit of that kind.
    pub(in super::super) fn descriptors() -> Option<u64> {
        None
    }

    /// There is no such signal.
    pub(in crate::tls) struct Hangup;

    impl Hangup {
        pub(in crate::tls) fn hold() -> Result<Self, Error> {
            Ok(Self)
        }

        pub(in crate::tls) fn each(self, _: impl FnMut() + Send + 'static) -> Result<(), Error> {
            Ok(())
        }
    }
}
