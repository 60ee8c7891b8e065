//! The audit log: append-only, in the files of C2SP tlog-tiles, with proofs that need no network.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use gambeson_identity::tlog::{DirectoryStorage, Log, Proof};
use gambeson_identity::{DidUrl, Resolver as _, Role};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::agent::Agent;
use super::cards::Resolver;
use super::detached;
use crate::convert::{Time, now, to_python};
use crate::error::refused;
use crate::input::{Input, Owned};

/// A log in a folder, which one agent writes.
#[pyclass(frozen, module = "gambeson")]
pub struct AuditLog(Mutex<Log<DirectoryStorage>>);

#[pymethods]
impl AuditLog {
    /// Begins a log in an empty folder; `origin` is its name, such as `agent.example/log`.
    #[staticmethod]
    #[pyo3(signature = (agent, folder, origin, *, now=None))]
    fn create(
        py: Python<'_>,
        agent: PyRef<'_, Agent>,
        folder: PathBuf,
        origin: &str,
        now: Option<Time>,
    ) -> PyResult<Self> {
        let (storage, now) = (DirectoryStorage::new(folder), crate::convert::now(now));
        agent
            .with(py, |agent| Log::create(storage, origin, agent.key(Role::Log), now))
            .map(|log| Self(Mutex::new(log)))
    }

    /// Opens the agent's log in a folder, and checks that its newest tiles are what the agent signed.
    #[staticmethod]
    #[pyo3(signature = (agent, folder, origin, *, now=None))]
    fn open(
        py: Python<'_>,
        agent: PyRef<'_, Agent>,
        folder: PathBuf,
        origin: &str,
        now: Option<Time>,
    ) -> PyResult<Self> {
        let (storage, now) = (DirectoryStorage::new(folder), crate::convert::now(now));
        agent
            .with(py, |agent| Log::open(storage, origin, &agent.key(Role::Log).verifying_key(), now))
            .map(|log| Self(Mutex::new(log)))
    }

    /// Appends entries, signs the longer log, and gives the number of the first of them.
    #[pyo3(signature = (agent, entries, *, now=None))]
    fn append(
        &self,
        py: Python<'_>,
        agent: PyRef<'_, Agent>,
        entries: Vec<Owned>,
        now: Option<Time>,
    ) -> PyResult<u64> {
        let now = crate::convert::now(now);
        let entries: Vec<&[u8]> = entries.iter().map(|entry| &entry.0[..]).collect();
        agent.with(py, |agent| {
            let mut log = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            log.append(&entries, agent.key(Role::Log), now)
        })
    }

    /// The bytes of an entry.
    fn entry<'py>(&self, py: Python<'py>, index: u64) -> PyResult<Bound<'py, PyBytes>> {
        let entry = detached(py, || self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(index))?;
        Ok(PyBytes::new(py, &entry))
    }

    /// A proof that an entry is in the log: a text to keep beside the entry.
    fn prove(&self, py: Python<'_>, index: u64) -> PyResult<String> {
        let proof = detached(py, || self.0.lock().unwrap_or_else(PoisonError::into_inner).prove(index))?;
        Ok(proof.to_string())
    }

    /// Reads the whole log, and raises unless every entry is where the signature has it.
    fn audit(&self, py: Python<'_>) -> PyResult<()> {
        detached(py, || self.0.lock().unwrap_or_else(PoisonError::into_inner).audit())
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        let size = py.detach(|| self.0.lock().unwrap_or_else(PoisonError::into_inner).size());
        Ok(usize::try_from(size)?)
    }
}

/// Verifies, offline, that an entry is in the log `origin` of `signer`, the URL of a key of the role `log`.
#[pyfunction]
#[pyo3(signature = (proof, entry, *, origin, signer, resolver, now=None))]
pub fn verify_log_proof<'py>(
    py: Python<'py>,
    proof: &str,
    entry: Input<'_>,
    origin: &str,
    signer: &str,
    resolver: Resolver,
    now: Option<Time>,
) -> PyResult<Bound<'py, PyAny>> {
    let (entry, now) = (entry.as_slice(), self::now(now));
    let signer: DidUrl = signer.parse().map_err(|error| refused(py, &error))?;
    let included = detached(py, || {
        let document = resolver.resolve(signer.did(), now)?;
        let key = document.key_of_role(&signer, Role::Log, now)?;
        Proof::parse(proof.as_bytes())?.verify(entry, origin, key, now)
    })?;
    let claims = serde_json::json!({
        "signer": signer.to_string(),
        "index": included.index,
        "size": included.checkpoint.size,
        "signed": included.signed.0,
    });
    to_python(py, &claims)
}
