//! The audit log: append-only, in the files of C2SP tlog-tiles, with proofs that need no network.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use gambeson_identity::tlog::{self, Checkpoint, DirectoryStorage, Hash, Log, Proof, SignedCheckpoint};
use gambeson_identity::{Role, Timestamp};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use super::agent::Agent;
use super::cards::Resolver;
use super::detached;
use super::keys::{PublicKey, Signer};
use crate::convert::{Time, now, whole};
use crate::input::{Input, Owned};

/// A log in a folder, which one agent writes; of several objects of one folder, those that are behind are refused.
///
/// Where a panic poisoned the mutex it is taken all the same: the log knows itself whether a checkpoint was signed that may not
/// be stored, and signs no other.
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

    /// Opens somebody else's log in a folder, to read it. `signer` is the URL of its key, or the key.
    #[staticmethod]
    #[pyo3(signature = (folder, origin, *, signer, resolver=None, now=None))]
    fn read(
        py: Python<'_>,
        folder: PathBuf,
        origin: &str,
        signer: Signer,
        resolver: Option<Resolver>,
        now: Option<Time>,
    ) -> PyResult<Self> {
        let (storage, now) = (DirectoryStorage::new(folder), crate::convert::now(now));
        let key = signer.key(py, Role::Log, resolver.as_ref(), now)?;
        detached(py, || Log::open(storage, origin, &key, now)).map(|log| Self(Mutex::new(log)))
    }

    /// The name of the log.
    #[getter]
    fn origin(&self, py: Python<'_>) -> String {
        self.of(py, |log| log.checkpoint().origin.clone())
    }

    /// The root of the tree of all entries (RFC 6962, §2.1), 32 bytes.
    #[getter]
    fn root<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.of(py, |log| log.checkpoint().root))
    }

    /// The newest checkpoint, signed: the text to keep, or to give to who shall watch the log.
    #[getter]
    fn checkpoint(&self, py: Python<'_>) -> String {
        self.of(py, |log| log.signed_checkpoint().to_string())
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
    fn entry<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = whole)] index: u64,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let entry = detached(py, || self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(index))?;
        Ok(PyBytes::new(py, &entry))
    }

    /// A proof that an entry is in the log: a text to keep beside the entry.
    fn prove(&self, py: Python<'_>, #[pyo3(from_py_with = whole)] index: u64) -> PyResult<String> {
        let proof = detached(py, || self.0.lock().unwrap_or_else(PoisonError::into_inner).prove(index))?;
        Ok(proof.to_string())
    }

    /// A proof that the log begins with the first `old` entries, for `gambeson.tlog.verify_consistency`: hashes of 32 bytes.
    fn prove_consistency<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = whole)] old: u64,
    ) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        let path =
            detached(py, || self.0.lock().unwrap_or_else(PoisonError::into_inner).prove_consistency(old))?;
        Ok(path.iter().map(|hash| PyBytes::new(py, hash)).collect())
    }

    /// Reads the whole log, and raises unless every entry is where the signature has it.
    fn audit(&self, py: Python<'_>) -> PyResult<()> {
        detached(py, || self.0.lock().unwrap_or_else(PoisonError::into_inner).audit())
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(usize::try_from(self.of(py, Log::size))?)
    }
}

impl AuditLog {
    fn of<R: Send>(&self, py: Python<'_>, read: impl FnOnce(&Log<DirectoryStorage>) -> R + Send) -> R {
        py.detach(|| read(&self.0.lock().unwrap_or_else(PoisonError::into_inner)))
    }
}

/// What was verified of a checkpoint: `signer`, `size`, `root`, and when it was `signed`.
fn claims<'py>(
    py: Python<'py>,
    signer: &Signer,
    checkpoint: &Checkpoint,
    signed: Timestamp,
) -> PyResult<Bound<'py, PyDict>> {
    let claims = PyDict::new(py);
    claims.set_item("signer", signer.name())?;
    claims.set_item("size", checkpoint.size)?;
    claims.set_item("root", PyBytes::new(py, &checkpoint.root))?;
    claims.set_item("signed", signed.0)?;
    Ok(claims)
}

/// Verifies, offline, that an entry is in the log `origin` of `signer`: the URL of a key of the role `log`, or the key.
#[pyfunction]
#[pyo3(signature = (proof, entry, *, origin, signer, resolver=None, now=None))]
pub fn verify_log_proof<'py>(
    py: Python<'py>,
    proof: &str,
    entry: Input<'_>,
    origin: &str,
    signer: Signer,
    resolver: Option<Resolver>,
    now: Option<Time>,
) -> PyResult<Bound<'py, PyDict>> {
    let (entry, now) = (entry.as_slice(), self::now(now));
    let key = signer.key(py, Role::Log, resolver.as_ref(), now)?;
    let included = detached(py, || Proof::parse(proof.as_bytes())?.verify(entry, origin, &key, now))?;
    let claims = claims(py, &signer, &included.checkpoint, included.signed)?;
    claims.set_item("index", included.index)?;
    Ok(claims)
}

/// Verifies a checkpoint: that the log `origin` of `signer` had this size and root.
#[pyfunction]
#[pyo3(signature = (checkpoint, *, origin, signer, resolver=None, now=None))]
pub fn verify_checkpoint<'py>(
    py: Python<'py>,
    checkpoint: &str,
    origin: &str,
    signer: Signer,
    resolver: Option<Resolver>,
    now: Option<Time>,
) -> PyResult<Bound<'py, PyDict>> {
    let now = self::now(now);
    let key = signer.key(py, Role::Log, resolver.as_ref(), now)?;
    let (checkpoint, signed) = detached(py, || {
        let note = SignedCheckpoint::parse(checkpoint.as_bytes())?;
        let (checkpoint, signed) = note.verify(origin, &key, now)?;
        Ok((checkpoint.clone(), signed))
    })?;
    claims(py, &signer, &checkpoint, signed)
}

fn hash(py: Python<'_>, bytes: &[u8]) -> PyResult<Hash> {
    Input::Borrowed(bytes).array(py, "a hash of the tree", size_of::<Hash>())
}

fn path(py: Python<'_>, path: &[Owned]) -> PyResult<Vec<Hash>> {
    path.iter().map(|bytes| hash(py, &bytes.0)).collect()
}

/// The hash of an entry (RFC 6962, §2.1): SHA-256(0x00 ‖ entry).
#[pyfunction]
pub fn leaf_hash<'py>(py: Python<'py>, entry: Input<'_>) -> Bound<'py, PyBytes> {
    let entry = entry.as_slice();
    PyBytes::new(py, &py.detach(|| tlog::leaf_hash(entry)))
}

/// Returns if `path` leads from the hash of the entry at `index` to the root of the tree of this size; else it raises
/// (RFC 9162, §2.1.3.2).
#[pyfunction]
#[pyo3(signature = (leaf, path, *, index, size, root))]
pub fn verify_inclusion(
    py: Python<'_>,
    leaf: Input<'_>,
    path: Vec<Owned>,
    #[pyo3(from_py_with = whole)] index: u64,
    #[pyo3(from_py_with = whole)] size: u64,
    root: Input<'_>,
) -> PyResult<()> {
    let (leaf, root) = (hash(py, leaf.as_slice())?, hash(py, root.as_slice())?);
    let path = self::path(py, &path)?;
    detached(py, || tlog::verify_inclusion(&leaf, index, size, &path, &root))
}

/// Returns if the tree of `new`, a size and a root, begins with all entries of the tree of `old`; else it raises
/// (RFC 9162, §2.1.4.2).
#[pyfunction]
#[pyo3(signature = (path, *, old, new))]
pub fn verify_consistency(
    py: Python<'_>,
    path: Vec<Owned>,
    #[pyo3(from_py_with = whole)] old: (u64, Owned),
    #[pyo3(from_py_with = whole)] new: (u64, Owned),
) -> PyResult<()> {
    let path = self::path(py, &path)?;
    let (old, new) = ((old.0, hash(py, &old.1.0)?), (new.0, hash(py, &new.1.0)?));
    detached(py, || tlog::verify_consistency((old.0, &old.1), (new.0, &new.1), &path))
}

/// The key of a log as the programs of C2SP read it: `ORIGIN+ID+BASE64(0x06 ‖ key)`; the key is one of ML-DSA-44.
#[pyfunction]
pub fn log_verifier_key(py: Python<'_>, origin: &str, key: PublicKey) -> PyResult<String> {
    detached(py, || tlog::verifier_key(origin, &key.0))
}
