//! Exceptions of channels: `gambeson.errors.of_channel` chooses their classes by these codes.

use gambeson_slim::Error;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

/// A result that becomes an exception.
pub trait Raised<T> {
    fn raised(self) -> PyResult<T>;
}

impl<T> Raised<T> for gambeson_slim::Result<T> {
    fn raised(self) -> PyResult<T> {
        self.map_err(|error| Python::attach(|py| raise(py, code(&error), &error.to_string())))
    }
}

/// The exception of what a caller did wrong.
pub fn usage(py: Python<'_>, detail: &str) -> PyErr {
    raise(py, "usage", detail)
}

fn raise(py: Python<'_>, code: &str, detail: &str) -> PyErr {
    static CHOOSE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    CHOOSE
        .import(py, "gambeson.errors", "of_channel")
        .and_then(|choose| choose.call1((code, detail)))
        .map_or_else(|error| error, PyErr::from_value)
}

fn code(error: &Error) -> &'static str {
    match error {
        Error::Refused(refusal) => refusal.reason().code(),
        Error::Cards(error) => error.reason().code(),
        Error::NoNode(_) | Error::LinkClosed | Error::LinkBusy(_) => "unreachable",
        Error::Deadline(_) | Error::NoReply(_) => "deadline",
        Error::Over => "over",
        Error::Forked => "forked",
        Error::NoKeyPackage(_) => "no-key-package",
        Error::NoCard(_) | Error::Unresolved(_) => "unknown-card",
        Error::NoCheckpoint => "no-checkpoint",
        Error::TooLarge(_)
        | Error::MessageTooLarge(_)
        | Error::FrameTooLarge(_)
        | Error::EntryTooLarge(_)
        | Error::BlobTooLarge(_) => "too-large",
        Error::Full(_) => "full",
        Error::Store(_) | Error::BadStore => "storage-failed",
        Error::NoRandomness => "no-randomness",
        // What the service or a frame of it did, which a caller can do nothing about.
        _ => "service-failed",
    }
}
