//! JSON and time between Python and the identity layer.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use gambeson_identity::{Timestamp, json};
use pyo3::exceptions::{PyOverflowError, PyRecursionError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyDict, PyString};
use serde_json::{Map, Value};

use crate::error::{USAGE, error, refused};

/// JSON from Python: text as `str` or bytes, or what `json.dumps` writes.
///
/// Whatever it was, the strict reader of the identity layer reads it: no key twice, no number that is not exact.
pub struct Json(Vec<u8>);

impl Json {
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    pub fn text(&self, py: Python<'_>) -> PyResult<&str> {
        str::from_utf8(&self.0).map_err(|_| error(py, "bad-encoding", "not UTF-8"))
    }

    pub fn object(&self, py: Python<'_>) -> PyResult<Map<String, Value>> {
        py.detach(|| json::parse_object(&self.0, usize::MAX)).map_err(|error| refused(py, &error))
    }

    pub fn value(&self, py: Python<'_>) -> PyResult<Value> {
        py.detach(|| json::parse(&self.0, usize::MAX)).map_err(|error| refused(py, &error))
    }
}

impl<'a, 'py> FromPyObject<'a, 'py> for Json {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(text) = object.cast::<PyString>() {
            return text_of(&text);
        }
        if let Ok(bytes) = object.cast::<PyBytes>() {
            return Ok(Self(bytes.as_bytes().to_vec()));
        }
        static DUMPS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        let py = object.py();
        let options = PyDict::new(py);
        options.set_item("allow_nan", false)?;
        options.set_item("ensure_ascii", false)?;
        let dumped = DUMPS.import(py, "json", "dumps")?.call((object,), Some(&options));
        let text = dumped.map_err(|error| no_json(py, error))?;
        text_of(text.cast::<PyString>()?)
    }
}

fn text_of(text: &Bound<'_, PyString>) -> PyResult<Json> {
    let text = text.to_cow().map_err(|error| no_json(text.py(), error))?;
    Ok(Json(text.into_owned().into_bytes()))
}

/// Values that JSON does not have come from peers too, whose text Python's reader took: `1e999`, half of a surrogate pair, a
/// thousand brackets. What is no value of JSON by its type stays a `TypeError`, for only a program can make it.
fn no_json(py: Python<'_>, raised: PyErr) -> PyErr {
    match raised.is_instance_of::<PyValueError>(py) || raised.is_instance_of::<PyRecursionError>(py) {
        true => error(py, "bad-json", raised.value(py)),
        false => raised,
    }
}

/// An argument with whole numbers in it, of which each has its bounds.
pub fn whole<'py, T>(object: &Bound<'py, PyAny>) -> PyResult<T>
where
    T: for<'a> FromPyObject<'a, 'py, Error = PyErr>,
{
    let py = object.py();
    object.extract().map_err(|raised: PyErr| match raised.is_instance_of::<PyOverflowError>(py) {
        true => error(py, USAGE, format_args!("an integer is out of range: {}", raised.value(py))),
        false => raised,
    })
}

/// JSON to Python: `dict`, `list`, `str`, `int`, `float`, `bool`, `None`.
pub fn to_python<'py>(py: Python<'py>, value: &impl serde::Serialize) -> PyResult<Bound<'py, PyAny>> {
    static LOADS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let text = serde_json::to_string(value).map_err(|error| PyValueError::new_err(error.to_string()))?;
    LOADS.import(py, "json", "loads")?.call1((text,))
}

/// A point in time: seconds since 1970 as a number, or a `datetime` that knows its zone.
#[derive(Clone, Copy)]
pub struct Time(Timestamp);

/// The time that was given, or what the clock says.
pub fn now(given: Option<Time>) -> Timestamp {
    let clock = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO).as_secs();
    given.map_or_else(|| Timestamp(clock()), |time| time.0)
}

impl<'a, 'py> FromPyObject<'a, 'py> for Time {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        let seconds = match object.getattr("timestamp") {
            Ok(timestamp) => {
                if object.getattr("tzinfo").is_ok_and(|zone| zone.is_none()) {
                    return Err(error(object.py(), USAGE, "a datetime must have a time zone"));
                }
                timestamp.call0()?.extract()?
            }
            Err(_) => number(
                object,
                "a time must be a number of seconds since 1970 or a datetime with a time zone",
            )?,
        };
        in_seconds(object.py(), seconds).map(|seconds| Self(Timestamp(0).after(seconds)))
    }
}

/// A span: seconds as a number, or a `timedelta`.
#[derive(Clone, Copy)]
pub struct Span(pub u64);

impl<'a, 'py> FromPyObject<'a, 'py> for Span {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        let seconds = match object.getattr("total_seconds") {
            Ok(total) => total.call0()?.extract()?,
            Err(_) => number(object, "a duration must be a number of seconds or a timedelta")?,
        };
        in_seconds(object.py(), seconds).map(Self)
    }
}

fn number(object: Borrowed<'_, '_, PyAny>, what: &'static str) -> PyResult<f64> {
    object.extract().map_err(|raised: PyErr| match raised.is_instance_of::<PyOverflowError>(object.py()) {
        true => error(object.py(), USAGE, "a number of seconds is too large"),
        false => PyTypeError::new_err(what),
    })
}

fn in_seconds(py: Python<'_>, seconds: f64) -> PyResult<u64> {
    // Up to 2^53 a float is exact, and the year 9999 is far below.
    if !(0.0..9.0e15).contains(&seconds) {
        return Err(error(py, USAGE, "the value is before 1970, negative or not a number"));
    }
    Ok(seconds as u64)
}
