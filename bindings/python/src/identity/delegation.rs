//! Chains of delegation, approvals, and the decision over them.

use std::sync::{Mutex, PoisonError};

use gambeson_identity::action::Action as Asked;
use gambeson_identity::delegation::{
    Amount, Authority, Capability, Chain, Delegation, Evidence, MemoryLedger, Spend, authorize,
};
use gambeson_identity::{self as identity, Did, PendingReplay, Timestamp, Verified, approval};
use pyo3::prelude::*;
use serde_json::Value;

use super::actions::{Action, Replay};
use super::agent::Agent;
use super::cards::Resolver;
use super::credentials::{Entry, Lists, StatusStore, entries};
use super::detached;
use crate::convert::{Json, Span, Time, now, to_python, whole};
use crate::error::{USAGE, error, refused};
use crate::fork::Home;

/// Whom a verifier trusts, and which actions somebody else has to approve. At first nobody, and none.
#[pyclass(frozen, module = "gambeson")]
pub struct Policy(identity::delegation::Policy);

#[pymethods]
impl Policy {
    /// `trust` lists pairs of a resource, such as `did:web:bank.example`, and the DID of a root that may do anything there
    /// and delegate it; `approvals` pairs of an action, such as `tools/call/pay`, and the DIDs that may approve it.
    #[new]
    #[pyo3(signature = (*, trust=Vec::new(), approvals=Vec::new()))]
    fn new(
        py: Python<'_>,
        trust: Vec<(String, String)>,
        approvals: Vec<(String, Vec<String>)>,
    ) -> PyResult<Self> {
        detached(py, || {
            let mut policy = identity::delegation::Policy::default();
            for (resource, root) in trust {
                policy = policy.trust(resource.parse()?, root.parse()?);
            }
            for (action, approvers) in approvals {
                let approvers: identity::Result<Vec<Did>> = approvers.iter().map(|did| did.parse()).collect();
                policy = policy.require_approval(action.parse()?, approvers?);
            }
            Ok(Self(policy))
        })
    }
}

/// Counts calls and costs of what was granted, in memory. Empty after a restart.
#[pyclass(frozen, module = "gambeson")]
pub struct Ledger {
    counts: Mutex<MemoryLedger>,
    pub home: Home,
}

#[pymethods]
impl Ledger {
    /// Room for so many grants, and for `per_root` of them below each root.
    #[new]
    #[pyo3(signature = (capacity=100_000, *, per_root=None))]
    fn new(
        #[pyo3(from_py_with = whole)] capacity: usize,
        #[pyo3(from_py_with = whole)] per_root: Option<usize>,
    ) -> Self {
        let ledger = MemoryLedger::new(capacity);
        let counts = Mutex::new(match per_root {
            Some(most) => ledger.per_root(most),
            None => ledger,
        });
        Self { counts, home: Home::here() }
    }
}

impl identity::delegation::Ledger for &Ledger {
    fn check(&mut self, spends: &[Spend], now: Timestamp) -> identity::Result<()> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner).check(spends, now)
    }

    fn spend(&mut self, spends: &[Spend], now: Timestamp) -> identity::Result<()> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner).spend(spends, now)
    }
}

/// What decides over an action, where a verifying function is given a policy.
pub struct Decision<'a> {
    policy: &'a Policy,
    ledger: Option<&'a Ledger>,
    lists: Lists<'a>,
}

impl<'a> Decision<'a> {
    pub fn new(policy: &'a Policy, ledger: Option<&'a Ledger>, lists: Lists<'a>) -> Self {
        Self { policy, ledger, lists }
    }

    /// Whether the signer may, as a member `authorized` of the claims; then what waits is remembered. Without a ledger, every grant with a measure is
    /// refused.
    pub fn decide(
        &self,
        action: &Verified<Asked>,
        evidence: &Evidence,
        (pending, mut replay): (PendingReplay, &Replay),
        cost: Option<(u64, String)>,
        resolver: &Resolver,
        now: Timestamp,
    ) -> identity::Result<Value> {
        let cost = cost.map(|(amount, unit)| Amount { amount, unit });
        let status = self.lists.status();
        let authority = Authority { policy: &self.policy.0, resolver, status: &status };
        let mut none = MemoryLedger::new(0);
        let mut given = self.ledger;
        let ledger: &mut dyn identity::delegation::Ledger = match &mut given {
            Some(ledger) => ledger,
            None => &mut none,
        };
        let mut ledger = pending.before(&mut replay, ledger);
        let authorized = authorize(action, evidence, cost.as_ref(), &authority, &mut ledger, now)?;
        Ok(serde_json::json!({
            "root": authorized.root.as_str(),
            "path": authorized.path.iter().map(Did::as_str).collect::<Vec<_>>(),
            "capability": authorized.capability.as_ref().map(Capability::to_json),
            "approvers": authorized.approvers.iter().map(Did::as_str).collect::<Vec<_>>(),
        }))
    }
}

#[pymethods]
impl Agent {
    /// Grants `delegate`, a DID, some of what this agent may do: the first link of a chain, or the one after `parent`.
    ///
    /// A capability is `{"action": "tools/call/pay", "resource": "did:web:bank.example", "caveats": [...]}`. A link cannot
    /// grant more than its parent: `max_depth` further links, `max_calls` calls, a `budget` of an amount and its unit.
    #[pyo3(signature = (
        delegate, capabilities, *, valid_for, now=None, parent=None, max_depth=0, max_calls=None, budget=None, status=Vec::new()
    ))]
    #[allow(clippy::too_many_arguments)] // They are keywords in Python.
    fn delegate(
        &self,
        py: Python<'_>,
        delegate: &str,
        capabilities: Json,
        valid_for: Span,
        now: Option<Time>,
        parent: Option<&str>,
        #[pyo3(from_py_with = whole)] max_depth: u8,
        #[pyo3(from_py_with = whole)] max_calls: Option<u64>,
        #[pyo3(from_py_with = whole)] budget: Option<(u64, String)>,
        #[pyo3(from_py_with = whole)] status: Vec<Entry>,
    ) -> PyResult<String> {
        let from = crate::convert::now(now);
        let capabilities = match capabilities.value(py)? {
            Value::Array(capabilities) => capabilities,
            _ => return Err(error(py, USAGE, "capabilities must be a list")),
        };
        let status = entries(py, status)?.iter().map(identity::vc::StatusEntry::to_json).collect();
        self.with(py, |agent| {
            let grant = Delegation {
                delegate: delegate.parse()?,
                from,
                until: from.after(valid_for.0),
                capabilities: capabilities
                    .iter()
                    .map(Capability::from_json)
                    .collect::<identity::Result<_>>()?,
                max_depth,
                max_calls,
                budget: budget.map(|(amount, unit)| Amount { amount, unit }),
                status,
            };
            grant.sign(agent, parent)
        })
    }

    /// Approves an action that `actor`, a DID, will sign or has signed. Read the action first.
    #[pyo3(signature = (action, actor, *, now=None))]
    fn approve(
        &self,
        py: Python<'_>,
        action: PyRef<'_, Action>,
        actor: &str,
        now: Option<Time>,
    ) -> PyResult<String> {
        let (action, now) = (&action.0, crate::convert::now(now));
        let actor: Did = actor.parse().map_err(|error| refused(py, &error))?;
        self.with(py, |agent| approval::sign(agent, action, &actor, now))
    }
}

/// Verifies a chain of delegation, from the root. Whether the root is to be trusted is for a `Policy` to say.
#[pyfunction]
#[pyo3(signature = (chain, *, resolver, status=None, unknown_status="refuse", now=None))]
pub fn verify_chain<'py>(
    py: Python<'py>,
    chain: Vec<String>,
    resolver: Resolver,
    status: Option<PyRef<'_, StatusStore>>,
    unknown_status: &str,
    now: Option<Time>,
) -> PyResult<Bound<'py, PyAny>> {
    let now = self::now(now);
    let lists = Lists::new(status.as_deref(), unknown_status, py)?;
    let chain = detached(py, || Chain::verify(&chain, &resolver, &lists.status(), now))?;
    let links: Vec<Value> = chain
        .links()
        .iter()
        .map(|link| {
            let terms = link.terms();
            serde_json::json!({
                "issuer": link.issuer().as_str(),
                "delegate": terms.delegate.as_str(),
                "from": terms.from.0,
                "until": terms.until.0,
                "capabilities": terms.capabilities.iter().map(Capability::to_json).collect::<Vec<_>>(),
                "max_depth": terms.max_depth,
                "max_calls": terms.max_calls,
                "budget": terms.budget.as_ref().map(|budget| (budget.amount, &budget.unit)),
            })
        })
        .collect();
    to_python(py, &serde_json::json!({"signer": chain.signer().to_string(), "links": links}))
}
