//! Signatures of files, which lie beside them.

use gambeson_identity::{FileHasher, FileSignature};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::agent::Agent;
use super::cards::Resolver;
use super::detached;
use crate::convert::{Time, now};
use crate::input::Input;

/// How many bytes are asked of a file at once.
const PIECE: usize = 1 << 20;

/// Reads to the end of what has `read`, as `hashlib.file_digest` does: a file opened for bytes, or `io.BytesIO`.
fn hashed(py: Python<'_>, file: &Bound<'_, PyAny>, mut hasher: FileHasher) -> PyResult<FileHasher> {
    let read = file.getattr("read").map_err(|_| {
        PyTypeError::new_err("a file opened in binary mode is needed, or an object with the same `read`")
    })?;
    loop {
        let piece = read.call1((PIECE,))?;
        let piece: Input<'_> = piece.extract()?;
        match piece.as_slice() {
            [] => return Ok(hasher),
            piece => py.detach(|| hasher.update(piece)),
        }
    }
}

#[pymethods]
impl Agent {
    /// Signs a file of any size, from where it stands to its end: a text of about 5 KB to keep beside it.
    ///
    /// `file` is one opened for bytes (`open(path, "rb")`), or whatever else has its `read`.
    #[pyo3(signature = (file, *, now=None))]
    fn sign_file(&self, py: Python<'_>, file: &Bound<'_, PyAny>, now: Option<Time>) -> PyResult<String> {
        let suite = self.with(py, |agent| Ok(agent.suite()))?;
        let hasher = hashed(py, file, FileHasher::new(suite))?;
        // When it was read: that may have taken long.
        let now = crate::convert::now(now);
        self.with(py, |agent| FileSignature::sign(agent, hasher, now))
    }
}

/// Verifies who signed a file, read from where it stands to its end. Returns `signer`, `did`, `hash`, `size`, and when it was
/// `issued` as the signer says.
#[pyfunction]
#[pyo3(signature = (signature, file, *, resolver, now=None))]
pub fn verify_file<'py>(
    py: Python<'py>,
    signature: &str,
    file: &Bound<'py, PyAny>,
    resolver: Resolver,
    now: Option<Time>,
) -> PyResult<Bound<'py, PyDict>> {
    let signature = detached(py, || FileSignature::parse(signature))?;
    let hasher = hashed(py, file, signature.hasher())?;
    let now = self::now(now);
    let signed = detached(py, || signature.verify(hasher, &resolver, now))?;
    let claims = PyDict::new(py);
    claims.set_item("signer", signed.signer().to_string())?;
    claims.set_item("did", signed.signer().did().to_string())?;
    claims.set_item("hash", &signed.hash)?;
    claims.set_item("size", signed.size)?;
    claims.set_item("issued", signed.issued.0)?;
    Ok(claims)
}
