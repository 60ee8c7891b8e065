//! Logs of identity cards, and what finds a DID's document.

use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};

use gambeson_identity::{
    self as identity, Did, DidDocument, DidUrl, Reason, Relationship, Resolver as _, Timestamp, resolution,
};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

use super::agent::application_context;
use super::detached;
use crate::convert::{Json, Time, now, to_python};
use crate::input::Input;

/// All the identity cards of a DID, oldest first, verified. A value: what adds a card returns a new log.
#[pyclass(frozen, eq, module = "gambeson")]
#[derive(PartialEq)]
pub struct CardLog(pub identity::CardLog);

#[pymethods]
impl CardLog {
    /// Reads a log, one card a line, and verifies every card of it.
    #[staticmethod]
    fn verify(py: Python<'_>, text: Json) -> PyResult<Self> {
        detached(py, || identity::CardLog::verify(text.bytes())).map(Self)
    }

    /// The log with one more card, which is verified.
    fn append(&self, py: Python<'_>, card: Json) -> PyResult<Self> {
        let mut log = self.0.clone();
        detached(py, || log.append(card.bytes()).map(|()| log)).map(Self)
    }

    /// The DID.
    #[getter]
    fn did(&self) -> &str {
        self.0.did().as_str()
    }

    /// The DID document of the newest card.
    #[getter]
    fn document<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, self.0.newest().document().json())
    }

    /// The hash of the newest card: peers that know it need not be sent the card.
    #[getter]
    fn hash(&self) -> String {
        self.0.newest().hash()
    }

    /// When the newest card begins and ends, in seconds since 1970.
    #[getter]
    fn validity(&self) -> (u64, u64) {
        let (from, until) = self.0.newest().validity();
        (from.0, until.0)
    }

    /// The newest card alone: canonical JSON of one line.
    #[getter]
    fn newest(&self) -> String {
        self.0.newest().to_json()
    }

    /// The file: one card a line.
    fn to_lines(&self) -> String {
        self.0.to_lines()
    }

    fn __len__(&self) -> usize {
        self.0.cards().len()
    }

    fn __repr__(&self) -> String {
        format!("CardLog({}, version {})", self.0.did(), self.0.newest().version())
    }
}

/// Logs of cards in memory.
#[pyclass(frozen, module = "gambeson")]
pub struct CardStore(RwLock<identity::CardStore>);

#[pymethods]
impl CardStore {
    #[new]
    #[pyo3(signature = (*logs))]
    fn new(py: Python<'_>, logs: &Bound<'_, PyTuple>) -> PyResult<Self> {
        let store = Self(RwLock::default());
        for log in logs {
            store.add(py, &*log.extract::<PyRef<'_, CardLog>>().map_err(PyErr::from)?)?;
        }
        Ok(store)
    }

    /// Adds a log, or the longer log of a DID that is known.
    fn add(&self, py: Python<'_>, log: &CardLog) -> PyResult<()> {
        detached(py, || self.0.write().unwrap_or_else(PoisonError::into_inner).add(log.0.clone()))
    }

    /// The DID document of a DID, as it holds now.
    #[pyo3(signature = (did, *, now=None))]
    fn resolve<'py>(&self, py: Python<'py>, did: &str, now: Option<Time>) -> PyResult<Bound<'py, PyAny>> {
        resolve(py, self, did, now)
    }
}

impl identity::Resolver for CardStore {
    fn resolve(&self, did: &Did, now: Timestamp) -> identity::Result<Arc<DidDocument>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).resolve(did, now)
    }
}

/// A folder of logs, one file a DID, read when they are asked for.
#[pyclass(frozen, module = "gambeson")]
pub struct CardDirectory(identity::CardDirectory);

#[pymethods]
impl CardDirectory {
    #[new]
    fn new(folder: PathBuf) -> Self {
        Self(identity::CardDirectory::new(folder))
    }

    /// Where the log of a DID lies.
    fn path(&self, py: Python<'_>, did: &str) -> PyResult<PathBuf> {
        detached(py, || self.0.path(&did.parse()?))
    }

    /// The DID document of a DID, as it holds now.
    #[pyo3(signature = (did, *, now=None))]
    fn resolve<'py>(&self, py: Python<'py>, did: &str, now: Option<Time>) -> PyResult<Bound<'py, PyAny>> {
        resolve(py, &self.0, did, now)
    }
}

/// Fetches the documents of `did:web`, and asks another resolver for all else.
#[pyclass(frozen, module = "gambeson")]
pub struct WebResolver {
    fetch: Py<PyAny>,
    others: Resolver,
}

#[pymethods]
impl WebResolver {
    /// `fetch(address, max_len)` returns the body, as bytes, of an HTTPS answer: certificates checked, no redirect
    /// followed.
    #[new]
    fn new(fetch: Py<PyAny>, others: Resolver) -> Self {
        Self { fetch, others }
    }

    /// The DID document of a DID, as it holds now.
    #[pyo3(signature = (did, *, now=None))]
    fn resolve<'py>(&self, py: Python<'py>, did: &str, now: Option<Time>) -> PyResult<Bound<'py, PyAny>> {
        resolve(py, self, did, now)
    }
}

struct Call<'a>(&'a Py<PyAny>);

impl identity::Fetch for Call<'_> {
    fn get(&self, address: &str, max_len: usize) -> identity::Result<Vec<u8>> {
        Python::attach(|py| {
            let body = self.0.bind(py).call1((address, max_len))?;
            Ok(body.cast::<PyBytes>()?.as_bytes().to_vec())
        })
        .map_err(|error: PyErr| {
            identity::Error::new(Reason::UnknownDid, format_args!("{address} was not fetched: {error}"))
        })
    }
}

impl identity::Resolver for WebResolver {
    fn resolve(&self, did: &Did, now: Timestamp) -> identity::Result<Arc<DidDocument>> {
        identity::Web::new(Call(&self.fetch), &self.others).resolve(did, now)
    }
}

/// A resolver of one document.
pub struct Known(pub Arc<DidDocument>);

impl identity::Resolver for Known {
    fn resolve(&self, did: &Did, _: Timestamp) -> identity::Result<Arc<DidDocument>> {
        match self.0.id() == did {
            true => Ok(self.0.clone()),
            false => Err(identity::Error::new(
                Reason::UnknownDid,
                format_args!("{did} is not the one whose document is here"),
            )),
        }
    }
}

/// One of the three, as an argument.
pub enum Resolver {
    Store(Py<CardStore>),
    Directory(Py<CardDirectory>),
    Web(Py<WebResolver>),
}

impl<'a, 'py> FromPyObject<'a, 'py> for Resolver {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(store) = object.cast::<CardStore>() {
            Ok(Self::Store(store.to_owned().unbind()))
        } else if let Ok(directory) = object.cast::<CardDirectory>() {
            Ok(Self::Directory(directory.to_owned().unbind()))
        } else if let Ok(web) = object.cast::<WebResolver>() {
            Ok(Self::Web(web.to_owned().unbind()))
        } else {
            Err(PyTypeError::new_err("a CardStore, CardDirectory or WebResolver is needed"))
        }
    }
}

impl identity::Resolver for Resolver {
    fn resolve(&self, did: &Did, now: Timestamp) -> identity::Result<Arc<DidDocument>> {
        match self {
            Self::Store(store) => identity::Resolver::resolve(store.get(), did, now),
            Self::Directory(directory) => directory.get().0.resolve(did, now),
            Self::Web(web) => identity::Resolver::resolve(web.get(), did, now),
        }
    }
}

fn resolve<'py>(
    py: Python<'py>,
    resolver: &(impl identity::Resolver + Sync),
    did: &str,
    now: Option<Time>,
) -> PyResult<Bound<'py, PyAny>> {
    let now = self::now(now);
    let document = detached(py, || resolver.resolve(&did.parse()?, now))?;
    to_python(py, document.json())
}

/// `resolve` of DID Core 1.0, §7.1. It does not raise: what it returns has `metadata`, `content` (the document, or `None`),
/// `contentMetadata`, and `reason`, the code of a refusal.
#[pyfunction]
#[pyo3(signature = (did, *, resolver, now=None))]
pub fn resolve_did<'py>(
    py: Python<'py>,
    did: &str,
    resolver: Resolver,
    now: Option<Time>,
) -> PyResult<Bound<'py, PyAny>> {
    returned(py, now, |now| resolution::resolve(&resolver, did, now))
}

/// `resolveRepresentation` of DID Core 1.0, §7.1: as `resolve_did`, for the media type `accept`.
#[pyfunction]
#[pyo3(signature = (did, accept=None, *, resolver, now=None))]
pub fn resolve_representation<'py>(
    py: Python<'py>,
    did: &str,
    accept: Option<&str>,
    resolver: Resolver,
    now: Option<Time>,
) -> PyResult<Bound<'py, PyAny>> {
    returned(py, now, |now| resolution::resolve_representation(&resolver, did, accept, now))
}

/// `dereference` of DID Core 1.0, §7.2: as `resolve_representation`, of a DID URL, which may name a key or a service.
#[pyfunction]
#[pyo3(signature = (url, accept=None, *, resolver, now=None))]
pub fn dereference<'py>(
    py: Python<'py>,
    url: &str,
    accept: Option<&str>,
    resolver: Resolver,
    now: Option<Time>,
) -> PyResult<Bound<'py, PyAny>> {
    returned(py, now, |now| resolution::dereference(&resolver, url, accept, now))
}

fn returned<'py>(
    py: Python<'py>,
    now: Option<Time>,
    ask: impl FnOnce(Timestamp) -> resolution::Resolution + Send,
) -> PyResult<Bound<'py, PyAny>> {
    let now = self::now(now);
    let found = detached(py, || Ok(ask(now).into_json()))?;
    to_python(py, &found)
}

/// Returns if `signature` is that of the key `signer`, a DID URL, over `data` in `context`; else it raises.
#[pyfunction]
#[pyo3(signature = (signature, data, context, *, signer, resolver, now=None))]
pub fn verify(
    py: Python<'_>,
    signature: Input<'_>,
    data: Input<'_>,
    context: Input<'_>,
    signer: &str,
    resolver: Resolver,
    now: Option<Time>,
) -> PyResult<()> {
    let (context, now) = (application_context(py, &context)?, self::now(now));
    let (signature, data) = (signature.as_slice(), data.as_slice());
    detached(py, || {
        let url = DidUrl::of_key(signer)?;
        let document = resolver.resolve(url.did(), now)?;
        let kind = identity::Kind::JsonWebKey;
        document.key_for(&url, kind, Relationship::AssertionMethod, now)?.verify(context, data, signature)
    })
}
