//! The agent.

use std::sync::Arc;

use gambeson::secret::Secret;
use gambeson_identity::{self as identity, CardContent, MasterSeed, Retired, Role, Suite};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde_json::Value;

use super::cards::CardLog;
use super::detached;
use crate::convert::{Json, Span, Time, now, whole};
use crate::error::{USAGE, error, refused};
use crate::held::Held;
use crate::input::Input;
use crate::private_key_methods;

/// An agent: its DID and the keys that come from its seed, none of which can be taken out.
#[pyclass(frozen, module = "gambeson")]
pub struct Agent(Held<identity::Agent>);

private_key_methods!(Agent);

pub fn suite(py: Python<'_>, name: &str) -> PyResult<Suite> {
    [Suite::Default, Suite::Cnsa2].into_iter().find(|suite| suite.name() == name).ok_or_else(|| {
        error(py, USAGE, format_args!("unknown suite {name:?} (expected `default` or `cnsa2`)"))
    })
}

fn role(py: Python<'_>, name: &str) -> PyResult<Role> {
    let mut roles = Role::ALL.into_iter().chain(Role::GROUPS);
    roles.find(|role| role.fragment() == name).ok_or_else(|| {
        let names =
            [&Role::ALL.map(Role::fragment)[..], &Role::GROUPS.map(Role::fragment)].concat().join(", ");
        error(py, USAGE, format_args!("unknown role {name:?} (expected one of {names})"))
    })
}

fn roles(py: Python<'_>, names: &[String]) -> PyResult<Vec<Role>> {
    names.iter().map(|name| role(py, name)).collect()
}

fn list(py: Python<'_>, services: &Json) -> PyResult<Vec<Value>> {
    match services.value(py)? {
        Value::Array(services) => Ok(services),
        _ => Err(error(py, USAGE, "services must be a list")),
    }
}

impl Agent {
    /// Works with the agent, detached, and raises what it refuses.
    pub fn with<R: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&identity::Agent) -> identity::Result<R> + Send,
    ) -> PyResult<R> {
        self.0.with(py, work)?.map_err(|error| refused(py, &error))
    }

    /// The agent, for what goes on while Python does something else.
    pub fn share(&self, py: Python<'_>) -> PyResult<Arc<identity::Agent>> {
        self.0.share(py)
    }

    pub fn of(agent: identity::Agent) -> Self {
        Self(Held::new(agent))
    }

    /// The agent of a seed, or as the newest of its cards has it.
    pub fn of_seed(
        py: Python<'_>,
        seed: MasterSeed,
        suite: Suite,
        cards: Option<&CardLog>,
    ) -> PyResult<Self> {
        let agent = detached(py, || match cards {
            Some(cards) => identity::Agent::recover(seed, &cards.0),
            None => Ok(identity::Agent::with_suite(seed, suite)),
        })?;
        Ok(Self::of(agent))
    }
}

#[pymethods]
impl Agent {
    /// A new agent, from the operating system's randomness.
    #[staticmethod]
    #[pyo3(signature = (*, suite="default"))]
    fn generate(py: Python<'_>, suite: &str) -> PyResult<Self> {
        let suite = self::suite(py, suite)?;
        detached(py, || Ok(identity::Agent::with_suite(MasterSeed::generate()?, suite))).map(Self::of)
    }

    /// The agent of a master seed of 32 bytes: as it began, or as the newest of its cards has it.
    #[staticmethod]
    #[pyo3(signature = (seed, *, suite="default", cards=None))]
    fn from_seed_bytes(
        py: Python<'_>,
        seed: Input<'_>,
        suite: &str,
        cards: Option<PyRef<'_, CardLog>>,
    ) -> PyResult<Self> {
        let seed = Secret::new(seed.array::<[u8; 32]>(py, "a master seed", 32)?);
        Self::of_seed(py, MasterSeed::from_bytes(seed.expose()), self::suite(py, suite)?, cards.as_deref())
    }

    /// The DID.
    #[getter]
    fn did(&self, py: Python<'_>) -> PyResult<String> {
        self.with(py, |agent| Ok(agent.did().to_string()))
    }

    /// The suite: `default` or `cnsa2`.
    #[getter]
    fn suite(&self, py: Python<'_>) -> PyResult<&'static str> {
        self.with(py, |agent| Ok(agent.suite().name()))
    }

    /// How often a role's key was rotated.
    fn index(&self, py: Python<'_>, role: &str) -> PyResult<u64> {
        let role = self::role(py, role)?;
        self.with(py, |agent| Ok(agent.index(role)))
    }

    /// The URL of a role's present key, which signatures name.
    #[pyo3(signature = (role="signing"))]
    fn key_url(&self, py: Python<'_>, role: &str) -> PyResult<String> {
        let role = self::role(py, role)?;
        self.with(py, |agent| Ok(agent.key_url(role).to_string()))
    }

    /// The bytes of a role's present public key.
    #[pyo3(signature = (role="signing"))]
    fn public_key<'py>(&self, py: Python<'py>, role: &str) -> PyResult<Bound<'py, PyBytes>> {
        let role = self::role(py, role)?;
        Ok(PyBytes::new(py, &self.with(py, |agent| Ok(agent.public_key(role)))?))
    }

    /// Signs `data` with the signing key, in a context of 1 to 255 bytes that says what for.
    ///
    /// The empty context belongs to JOSE and HTTP, and those that begin with `gambeson ` to the formats of this package.
    fn sign<'py>(
        &self,
        py: Python<'py>,
        data: Input<'_>,
        context: Input<'_>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let (data, context) = (data.as_slice(), application_context(py, &context)?);
        let signature = self.with(py, |agent| agent.key(Role::Signing).sign(context, data))?;
        Ok(PyBytes::new(py, &signature))
    }

    /// The agent of a fleet with this number: its seed comes from this agent's, and tells nothing about it.
    fn child(&self, py: Python<'_>, #[pyo3(from_py_with = whole)] index: u64) -> PyResult<Self> {
        self.with(py, |agent| Ok(agent.child(index))).map(Self::of)
    }

    /// Counts sessions, each of which has keys of its own that hedge randomness: a boot counter or a time.
    fn begin_session(&self, py: Python<'_>, #[pyo3(from_py_with = whole)] n: u64) -> PyResult<()> {
        self.0.with_mut(py, |agent| agent.begin_session(n))
    }

    /// Makes the first identity card, in a log of its own. `groups` are the roles of keys with which the agent can be a member of channels:
    /// `group-ml-dsa-65` for their default suite.
    #[pyo3(signature = (*, valid_for, now=None, also_known_as=Vec::new(), services=None, groups=Vec::new()))]
    #[allow(clippy::too_many_arguments)] // They are keywords in Python.
    fn first_card(
        &self,
        py: Python<'_>,
        valid_for: Span,
        now: Option<Time>,
        also_known_as: Vec<String>,
        services: Option<Json>,
        groups: Vec<String>,
    ) -> PyResult<CardLog> {
        let services = services.map_or(Ok(Vec::new()), |services| list(py, &services))?;
        let content = CardContent { also_known_as, services, groups: roles(py, &groups)? };
        let from = self::now(now);
        let until = from.after(valid_for.0);
        self.with(py, |agent| identity::CardLog::new(agent.first_card(from, until, &content)?)).map(CardLog)
    }

    /// Makes the next identity card: new keys for `roles`, and a new DID key in any case. Returns the longer log.
    ///
    /// Replaced keys stay good for `overlap`, unless they are `compromised`. What the card says besides keys stays, unless
    /// it is given anew.
    #[pyo3(signature = (
        cards, *, roles=Vec::new(), valid_for, now=None, overlap=Span(0), compromised=false, also_known_as=None, services=None,
        groups=None
    ))]
    #[allow(clippy::too_many_arguments)] // They are keywords in Python.
    fn rotate(
        &self,
        py: Python<'_>,
        cards: PyRef<'_, CardLog>,
        roles: Vec<String>,
        valid_for: Span,
        now: Option<Time>,
        overlap: Span,
        compromised: bool,
        also_known_as: Option<Vec<String>>,
        services: Option<Json>,
        groups: Option<Vec<String>>,
    ) -> PyResult<CardLog> {
        let roles = self::roles(py, &roles)?;
        let mut log = cards.0.clone();
        let before = log.newest().content();
        let content = CardContent {
            also_known_as: also_known_as.unwrap_or(before.also_known_as),
            services: services.map_or(Ok(before.services), |services| list(py, &services))?,
            groups: groups.map_or(Ok(before.groups), |groups| self::roles(py, &groups))?,
        };
        let retired = if compromised { Retired::Compromised } else { Retired::Superseded(overlap.0) };
        let from = self::now(now);
        let validity = (from, from.after(valid_for.0));
        self.0
            .with_mut(py, |agent| agent.rotate(&mut log, &roles, retired, validity, &content).map(|()| log))?
            .map(CardLog)
            .map_err(|error| refused(py, &error))
    }
}

/// A context that an application may use.
pub fn application_context<'a>(py: Python<'_>, context: &'a Input<'_>) -> PyResult<&'a [u8]> {
    identity::application_context(context.as_slice()).map_err(|refusal| refused(py, &refusal))
}
