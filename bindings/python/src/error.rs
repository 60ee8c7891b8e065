//! Exceptions: the classes stand in `gambeson/errors.py`, chosen there by the reason code.

use std::fmt::Display;

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

/// Reason codes of the primitives; those of the identity layer are its own.
pub const BAD_KEY: &str = "bad-key";
pub const BAD_LENGTH: &str = "bad-length";
pub const BAD_SIGNATURE: &str = "bad-signature";
pub const CONTEXT_TOO_LONG: &str = "context-too-long";
pub const NON_CONTRIBUTORY: &str = "non-contributory";
pub const NOT_EXPORTABLE: &str = "not-exportable";
pub const RANDOM: &str = "no-randomness";
pub const USAGE: &str = "usage";
pub const WIPED: &str = "wiped";

/// The exception of what the identity layer refused.
pub fn refused(py: Python<'_>, refusal: &gambeson_identity::Error) -> PyErr {
    error(py, refusal.reason().code(), refusal.detail())
}

/// The exception of a reason code.
pub fn error(py: Python<'_>, code: &str, detail: impl Display) -> PyErr {
    static CHOOSE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    CHOOSE
        .import(py, "gambeson.errors", "of_code")
        .and_then(|choose| choose.call1((code, detail.to_string())))
        .map_or_else(|error| error, PyErr::from_value)
}
