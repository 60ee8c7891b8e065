//! Signed tool calls, and their proofs in MCP.

use std::sync::{Mutex, PoisonError};

use gambeson_identity::action::{self, Call, Expectations, MAX_LIFETIME};
use gambeson_identity::delegation::Evidence;
use gambeson_identity::mcp;
use gambeson_identity::{
    self as identity, Did, MemoryReplayCache, PendingReplay, Reason, ReplayId, Timestamp, Verified, json,
};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde_json::{Map, Value};

use super::agent::{Agent, suite};
use super::cards::Resolver;
use super::credentials::{Lists, StatusStore};
use super::delegation::{Decision, Ledger, Policy};
use super::detached;
use crate::convert::{Json, Span, Time, now, to_python, whole};
use crate::error::{USAGE, error};
use crate::fork::Home;

/// A call at a time, for one audience, with a nonce: what is signed. It is not verified, and says nothing of its signer.
#[pyclass(frozen, eq, module = "gambeson")]
#[derive(PartialEq)]
pub struct Action(pub identity::action::Action);

#[pymethods]
impl Action {
    /// Reads an action: JSON, or the `action` of what a verifying function returned.
    #[staticmethod]
    fn from_json(py: Python<'_>, text: Json) -> PyResult<Self> {
        detached(py, || action::Action::from_json(text.bytes())).map(Self)
    }

    /// Canonical JSON: the bytes that are signed.
    fn to_json<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &py.detach(|| self.0.to_json()))
    }

    /// The name of the action, by which approvals and receipts speak of it: its hash.
    #[pyo3(signature = (*, suite="default"))]
    fn digest(&self, py: Python<'_>, suite: &str) -> PyResult<String> {
        let suite = self::suite(py, suite)?;
        Ok(py.detach(|| self.0.digest(suite)))
    }

    #[getter]
    fn method(&self) -> &str {
        &self.0.call().method
    }

    #[getter]
    fn name(&self) -> &str {
        &self.0.call().name
    }

    #[getter]
    fn arguments<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.0.call().arguments)
    }

    #[getter]
    fn params<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.0.call().params)
    }

    #[getter]
    fn audience(&self) -> &str {
        self.0.audience()
    }

    #[getter]
    fn issued(&self) -> u64 {
        self.0.issued().0
    }

    #[getter]
    fn expires(&self) -> u64 {
        self.0.expires().0
    }

    #[getter]
    fn nonce(&self) -> &str {
        self.0.nonce()
    }

    #[getter]
    fn delegation(&self) -> Option<&str> {
        self.0.delegation()
    }

    fn __repr__(&self) -> String {
        format!("Action({}, for {})", self.0.call().action(), self.0.audience())
    }
}

/// Remembers what was taken, in memory, so that nothing is taken twice.
#[pyclass(frozen, module = "gambeson")]
pub struct ReplayCache {
    memory: Mutex<MemoryReplayCache>,
    home: Home,
}

#[pymethods]
impl ReplayCache {
    /// A cache of at most `capacity` entries, about 150 bytes each, and at most `per_signer` of each signer; when it is full,
    /// it refuses.
    #[new]
    #[pyo3(signature = (capacity=100_000, *, per_signer=None))]
    fn new(
        #[pyo3(from_py_with = whole)] capacity: usize,
        #[pyo3(from_py_with = whole)] per_signer: Option<usize>,
    ) -> Self {
        let cache = MemoryReplayCache::new(capacity);
        let memory = Mutex::new(match per_signer {
            Some(most) => cache.per_signer(most),
            None => cache,
        });
        Self { memory, home: Home::here() }
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        self.home.check(py, "ReplayCache")?;
        Ok(py.detach(|| self.memory.lock().unwrap_or_else(PoisonError::into_inner).len()))
    }
}

/// A memory of what was taken, as an argument: ours, or any object with `remember(id, until, now)`.
pub enum Replay {
    Memory(Py<ReplayCache>),
    /// `remember` returns whether the id, 32 bytes, is new, after it stored it until then.
    Python(Py<PyAny>),
}

impl<'a, 'py> FromPyObject<'a, 'py> for Replay {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(memory) = object.cast::<ReplayCache>() {
            memory.get().home.check(object.py(), "ReplayCache")?;
            Ok(Self::Memory(memory.to_owned().unbind()))
        } else if object.hasattr("remember")? {
            Ok(Self::Python(object.to_owned().unbind()))
        } else {
            Err(PyTypeError::new_err("a ReplayCache is needed, or an object with `remember(id, until, now)`"))
        }
    }
}

impl identity::ReplayCache for &Replay {
    fn remember(&mut self, id: &ReplayId, until: Timestamp, now: Timestamp) -> identity::Result<()> {
        let new = match self {
            Replay::Memory(memory) => {
                return memory
                    .get()
                    .memory
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .remember(id, until, now);
            }
            Replay::Python(store) => Python::attach(|py| {
                let id = PyBytes::new(py, id.as_bytes());
                store.bind(py).call_method1("remember", (id, until.0, now.0))?.extract::<bool>()
            }),
        };
        match new {
            Ok(true) => Ok(()),
            Ok(false) => Err(identity::Error::new(Reason::Replayed, "it was seen before")),
            Err(error) => {
                Err(identity::Error::new(Reason::CacheFull, format_args!("the replay cache failed: {error}")))
            }
        }
    }
}

/// The claims of a verified action.
fn claims(action: &Verified<action::Action>, evidence: &Evidence) -> identity::Result<Map<String, Value>> {
    Ok(Map::from_iter([
        ("signer".to_owned(), action.signer().to_string().into()),
        ("did".to_owned(), action.signer().did().to_string().into()),
        ("action".to_owned(), json::parse(&action.to_json(), usize::MAX)?),
        ("chain".to_owned(), evidence.chain.clone().into()),
        ("approvals".to_owned(), evidence.approvals.clone().into()),
    ]))
}

/// Decides over a verified action if there is a policy, and gives the claims as a `dict`.
///
/// `cost` is a function of the claims, for the price of a call may stand in its arguments. What waits is remembered when all else
/// is decided: who may do nothing cannot fill the memory.
fn decided<'py>(
    py: Python<'py>,
    (action, evidence): (Verified<action::Action>, Evidence),
    (pending, mut replay): (PendingReplay, &Replay),
    decision: Option<Decision<'_>>,
    cost: Option<Bound<'py, PyAny>>,
    resolver: &Resolver,
    now: Timestamp,
) -> PyResult<Bound<'py, PyAny>> {
    let mut claims = detached(py, || self::claims(&action, &evidence))?;
    let Some(decision) = decision else {
        detached(py, || pending.settle(&mut replay, now))?;
        return to_python(py, &claims);
    };
    let cost = match cost {
        None => None,
        Some(cost) => whole(&cost.call1((to_python(py, &claims)?,))?)?,
    };
    let authorized =
        detached(py, || decision.decide(&action, &evidence, (pending, replay), cost, resolver, now))?;
    claims.insert("authorized".into(), authorized);
    to_python(py, &claims)
}

/// The decision that the arguments of a verifying function ask for.
fn decision<'a>(
    py: Python<'_>,
    policy: Option<&'a Policy>,
    ledger: Option<&'a Ledger>,
    status: Option<&'a StatusStore>,
    unknown_status: &str,
) -> PyResult<Option<Decision<'a>>> {
    let lists = Lists::new(status, unknown_status, py)?;
    if let Some(ledger) = ledger {
        ledger.home.check(py, "Ledger")?;
    }
    match policy {
        Some(policy) => Ok(Some(Decision::new(policy, ledger, lists))),
        None if ledger.is_none() && status.is_none() => Ok(None),
        None => Err(error(py, USAGE, "ledger and status need a policy")),
    }
}

fn expectations(audience: &str, max_lifetime: Option<Span>) -> Expectations<'_> {
    Expectations::new(audience).lasting(max_lifetime.map_or(MAX_LIFETIME, |span| span.0))
}

fn object(py: Python<'_>, json: Option<Json>) -> PyResult<Map<String, Value>> {
    match json {
        None => Ok(Map::new()),
        Some(json) => detached(py, || json::parse_object(json.bytes(), action::MAX_ACTION)),
    }
}

#[pymethods]
impl Agent {
    /// What this agent asks of `audience`: a call, made an action with a time and a nonce. It is not yet signed.
    #[pyo3(signature = (method, name="", arguments=None, *, audience, params=None, lifetime=None, chain=Vec::new(), now=None))]
    #[allow(clippy::too_many_arguments)] // They are keywords in Python.
    fn action(
        &self,
        py: Python<'_>,
        method: &str,
        name: &str,
        arguments: Option<Json>,
        audience: &str,
        params: Option<Json>,
        lifetime: Option<Span>,
        chain: Vec<String>,
        now: Option<Time>,
    ) -> PyResult<Action> {
        let (arguments, params) = (object(py, arguments)?, object(py, params)?);
        let call = Call { method: method.into(), name: name.into(), arguments, params };
        self.act(py, call, audience, lifetime, &chain, now)
    }

    /// As `action`, of a request of MCP.
    #[pyo3(signature = (method, params=None, *, audience, lifetime=None, chain=Vec::new(), now=None))]
    #[allow(clippy::too_many_arguments)] // They are keywords in Python.
    fn mcp_action(
        &self,
        py: Python<'_>,
        method: &str,
        params: Option<Json>,
        audience: &str,
        lifetime: Option<Span>,
        chain: Vec<String>,
        now: Option<Time>,
    ) -> PyResult<Action> {
        let params = object(py, params)?;
        self.act(py, detached(py, || mcp::call(method, &params))?, audience, lifetime, &chain, now)
    }

    /// Signs an action: a detached JWS.
    fn sign_action(&self, py: Python<'_>, action: PyRef<'_, Action>) -> PyResult<String> {
        let action = &action.0;
        self.with(py, |agent| action.sign(agent))
    }

    /// Signs an action of MCP: the value of `params._meta` under `gambeson.mcp.PROOF`.
    #[pyo3(signature = (action, *, chain=Vec::new(), approvals=Vec::new()))]
    fn mcp_proof<'py>(
        &self,
        py: Python<'py>,
        action: PyRef<'_, Action>,
        chain: Vec<String>,
        approvals: Vec<String>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (action, beside) = (&action.0, Evidence { chain, approvals });
        to_python(py, &self.with(py, |agent| mcp::prove(agent, action, &beside))?)
    }

    /// Signs the result of an action: the value of `result._meta` under `gambeson.mcp.RECEIPT`.
    #[pyo3(signature = (action, result, *, now=None))]
    fn mcp_receipt<'py>(
        &self,
        py: Python<'py>,
        action: PyRef<'_, Action>,
        result: Json,
        now: Option<Time>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (action, now) = (&action.0, crate::convert::now(now));
        let receipt = self.with(py, |agent| {
            let mut result = json::parse_object(result.bytes(), usize::MAX)?;
            mcp::acknowledge(agent, action, &mut result, now)?;
            Ok(result["_meta"][mcp::RECEIPT].take())
        })?;
        to_python(py, &receipt)
    }
}

impl Agent {
    fn act(
        &self,
        py: Python<'_>,
        call: Call,
        audience: &str,
        lifetime: Option<Span>,
        chain: &[String],
        now: Option<Time>,
    ) -> PyResult<Action> {
        let now = crate::convert::now(now);
        let lifetime = lifetime.map_or(MAX_LIFETIME, |span| span.0);
        self.with(py, |agent| {
            Ok(action::Action::new(agent, call, audience, now)?.lasting(lifetime).under(agent, chain))
        })
        .map(Action)
    }
}

/// Verifies an action and its signature, and that it comes for the first time. Returns its claims.
///
/// With a `policy`, it also decides whether the signer may, by the `chain` and the `approvals` that came with the action, and
/// counts in the `ledger`. `cost` is asked, with the claims, for the amount and the unit that the verifier charges: it only tells,
/// for the action may have been seen before, and `replay` and `ledger` are asked last.
#[pyfunction]
#[pyo3(signature = (
    action, token, *, audience, resolver, replay, chain=Vec::new(), approvals=Vec::new(), policy=None, ledger=None,
    status=None, unknown_status="refuse", cost=None, max_lifetime=None, now=None
))]
#[allow(clippy::too_many_arguments)] // They are keywords in Python.
pub fn verify_action<'py>(
    py: Python<'py>,
    action: Json,
    token: &str,
    audience: &str,
    resolver: Resolver,
    replay: Replay,
    chain: Vec<String>,
    approvals: Vec<String>,
    policy: Option<PyRef<'py, Policy>>,
    ledger: Option<PyRef<'py, Ledger>>,
    status: Option<PyRef<'py, StatusStore>>,
    unknown_status: &str,
    cost: Option<Bound<'py, PyAny>>,
    max_lifetime: Option<Span>,
    now: Option<Time>,
) -> PyResult<Bound<'py, PyAny>> {
    let (expected, now) = (expectations(audience, max_lifetime), self::now(now));
    let decision = decision(py, policy.as_deref(), ledger.as_deref(), status.as_deref(), unknown_status)?;
    let mut pending = PendingReplay::default();
    let verified =
        detached(py, || action::verify(action.bytes(), token, &expected, &resolver, now, &mut pending))?;
    let shown = (verified, Evidence { chain, approvals });
    decided(py, shown, (pending, &replay), decision, cost, &resolver, now)
}

/// Verifies the proof of an MCP request, and that it comes for the first time. Returns its claims.
///
/// Policy, ledger, status and cost as in `verify_action`.
#[pyfunction]
#[pyo3(signature = (
    method, params, *, audience, resolver, replay, policy=None, ledger=None, status=None, unknown_status="refuse", cost=None,
    max_lifetime=None, now=None
))]
#[allow(clippy::too_many_arguments)] // They are keywords in Python.
pub fn verify_mcp<'py>(
    py: Python<'py>,
    method: &str,
    params: Option<Json>,
    audience: &str,
    resolver: Resolver,
    replay: Replay,
    policy: Option<PyRef<'py, Policy>>,
    ledger: Option<PyRef<'py, Ledger>>,
    status: Option<PyRef<'py, StatusStore>>,
    unknown_status: &str,
    cost: Option<Bound<'py, PyAny>>,
    max_lifetime: Option<Span>,
    now: Option<Time>,
) -> PyResult<Bound<'py, PyAny>> {
    let (expected, now) = (expectations(audience, max_lifetime), self::now(now));
    let decision = decision(py, policy.as_deref(), ledger.as_deref(), status.as_deref(), unknown_status)?;
    let mut pending = PendingReplay::default();
    let shown = detached(py, || {
        let params = match &params {
            Some(params) => json::parse_object(params.bytes(), MAX_PARAMS)?,
            None => Map::new(),
        };
        mcp::verify(method, &params, &expected, &resolver, now, &mut pending)
    })?;
    decided(py, shown, (pending, &replay), decision, cost, &resolver, now)
}

/// The longest parameters of a request that are read: an action, a chain and approvals beside it.
const MAX_PARAMS: usize = 4 * action::MAX_ACTION;

/// Verifies the receipt of an MCP result: that `server`, a DID, answered so to this action.
#[pyfunction]
#[pyo3(signature = (result, action, *, server, resolver, now=None))]
pub fn verify_mcp_receipt<'py>(
    py: Python<'py>,
    result: Json,
    action: PyRef<'_, Action>,
    server: &str,
    resolver: Resolver,
    now: Option<Time>,
) -> PyResult<Bound<'py, PyAny>> {
    let (action, now) = (&action.0, self::now(now));
    let claims = detached(py, || {
        let result = json::parse_object(result.bytes(), usize::MAX)?;
        let server: Did = server.parse()?;
        let receipt = mcp::verify_receipt(&result, action, &server, &resolver, now)?;
        Ok(serde_json::json!({
            "signer": receipt.signer().to_string(),
            "did": receipt.signer().did().to_string(),
            "action": receipt.action,
            "issued": receipt.issued.0,
        }))
    })?;
    to_python(py, &claims)
}
