//! Bytes from Python: `bytes` are borrowed, other buffers copied, since their owner may write to them meanwhile.

use gambeson::secret::Secret;
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyMemoryView};

use crate::error::{BAD_LENGTH, error};

/// An argument that holds bytes: `bytes`, `bytearray`, `memoryview`, or another buffer of bytes.
pub enum Input<'a> {
    Borrowed(&'a [u8]),
    // Wiped, for it may be a seed.
    Copied(Secret<Vec<u8>>),
}

impl Input<'_> {
    pub fn as_slice(&self) -> &[u8] {
        match self {
            Self::Borrowed(bytes) => bytes,
            Self::Copied(bytes) => bytes.expose(),
        }
    }

    /// The bytes as an array; `what` names them in the error.
    pub fn array<T>(&self, py: Python<'_>, what: &str, length: usize) -> PyResult<T>
    where
        T: for<'b> TryFrom<&'b [u8]>,
    {
        let bytes = self.as_slice();
        T::try_from(bytes).map_err(|_| {
            error(py, BAD_LENGTH, format_args!("{what} has {length} bytes, not {}", bytes.len()))
        })
    }
}

impl<'a, 'py> FromPyObject<'a, 'py> for Input<'a> {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        if object.is_exact_instance_of::<PyBytes>() {
            return Ok(Self::Borrowed(object.extract()?));
        }
        if let Ok(buffer) = PyBuffer::<u8>::get(&object) {
            return Ok(Self::Copied(Secret::new(buffer.to_vec(object.py())?)));
        }
        // Items of other types, such as those of `array("H")`: their bytes as they lie in memory.
        let view = PyMemoryView::from(&object).map_err(|_| {
            PyTypeError::new_err("a bytes-like object is needed: bytes, bytearray, memoryview")
        })?;
        let bytes = view.call_method0("tobytes")?;
        Ok(Self::Copied(Secret::new(bytes.cast::<PyBytes>()?.as_bytes().to_vec())))
    }
}

/// As [`Input`], in lists, and where work goes on after the call.
pub struct Owned(pub Vec<u8>);

impl<'a, 'py> FromPyObject<'a, 'py> for Owned {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        Input::extract(object).map(|input| Self(input.as_slice().to_vec()))
    }
}
