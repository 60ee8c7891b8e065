//! Signed HTTP (RFC 9421) and signed A2A AgentCards.

use gambeson_identity::http::{self, Component, MAX_AGE, Message, Terms};
use gambeson_identity::{self as identity, Did, PendingReplay, Relationship, Role, a2a};
use pyo3::prelude::*;
use serde_json::Value;

use super::actions::Replay;
use super::agent::Agent;
use super::cards::Resolver;
use super::detached;
use crate::convert::{Json, Span, Time, now, to_python, whole};
use crate::error::{USAGE, error};
use crate::input::{Input, Owned};

type Fields = Vec<(String, String)>;

/// Who speaks, or a capability that is used.
fn role(py: Python<'_>, name: &str) -> PyResult<(Role, Relationship)> {
    match name {
        "identity" => Ok((Role::Identity, Relationship::Authentication)),
        "signing" => Ok((Role::Signing, Relationship::CapabilityInvocation)),
        _ => Err(error(py, USAGE, "the role must be `identity` or `signing`")),
    }
}

fn components(names: &[String]) -> identity::Result<Vec<Component>> {
    names.iter().map(|name| name.parse()).collect()
}

#[pymethods]
impl Agent {
    /// Signs a request to an absolute address: the fields to add to it.
    ///
    /// By default the method, the address, the type and the digest of the body are signed; `required` lists components besides, and
    /// `components` what stands in the place of the usual ones.
    #[pyo3(signature = (
        method, uri, fields, body=None, *, components=Vec::new(), required=Vec::new(), role="identity", tag=None, label="gambeson",
        lifetime=Span(MAX_AGE), now=None
    ))]
    #[allow(clippy::too_many_arguments)] // They are keywords in Python.
    fn sign_http(
        &self,
        py: Python<'_>,
        method: &str,
        uri: &str,
        fields: Fields,
        body: Option<Input<'_>>,
        components: Vec<String>,
        required: Vec<String>,
        role: &str,
        tag: Option<String>,
        label: &str,
        lifetime: Span,
        now: Option<Time>,
    ) -> PyResult<Fields> {
        let terms = Said { components, required, role, tag, label, lifetime, now };
        terms.sign(
            self,
            py,
            &with_body(Message::request(method, uri, &fields), body.as_ref().map(Input::as_slice)),
        )
    }

    /// As `sign_http`, of the response to `request`: method, address, fields and body, of which components with `req` are.
    ///
    /// What is signed by default is the status, the type and the digest of the body, and of the request the method, the address,
    /// and its signature and the digest of its body where they are there.
    #[pyo3(signature = (
        status, fields, body=None, *, request=None, components=Vec::new(), required=Vec::new(), role="identity", tag=None,
        label="gambeson", lifetime=Span(MAX_AGE), now=None
    ))]
    #[allow(clippy::too_many_arguments)] // They are keywords in Python.
    fn sign_http_response(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = whole)] status: u16,
        fields: Fields,
        body: Option<Input<'_>>,
        request: Option<Request>,
        components: Vec<String>,
        required: Vec<String>,
        role: &str,
        tag: Option<String>,
        label: &str,
        lifetime: Span,
        now: Option<Time>,
    ) -> PyResult<Fields> {
        let terms = Said { components, required, role, tag, label, lifetime, now };
        let asked = request.as_ref().map(asked);
        terms.sign(self, py, &response(status, &fields, body.as_ref(), asked.as_ref()))
    }

    /// Adds this agent's signature to an AgentCard of A2A, and gives the card.
    fn sign_agent_card<'py>(&self, py: Python<'py>, card: Json) -> PyResult<Bound<'py, PyAny>> {
        let mut card = card.object(py)?;
        let card = self.with(py, |agent| a2a::sign(agent, &mut card).map(|()| card))?;
        to_python(py, &card)
    }
}

/// Verifies the signature of a request to an absolute address, and that it comes for the first time. Returns who signed what.
///
/// `required` lists components that must be signed besides the usual ones. Of several signatures with ML-DSA, `tag` or `signer` (a DID)
/// chooses one.
#[pyfunction]
#[pyo3(signature = (
    method, uri, fields, body=None, *, resolver, replay, required=Vec::new(), role="identity", tag=None, signer=None,
    max_age=Span(MAX_AGE), now=None
))]
#[allow(clippy::too_many_arguments)] // They are keywords in Python.
pub fn verify_http<'py>(
    py: Python<'py>,
    method: &str,
    uri: &str,
    fields: Fields,
    body: Option<Input<'_>>,
    resolver: Resolver,
    replay: Replay,
    required: Vec<String>,
    role: &str,
    tag: Option<String>,
    signer: Option<&str>,
    max_age: Span,
    now: Option<Time>,
) -> PyResult<Bound<'py, PyAny>> {
    let (now, (_, relationship)) = (self::now(now), self::role(py, role)?);
    let body = body.as_ref().map(Input::as_slice);
    let policy = Asked { required: &required, relationship, tag, signer, max_age };
    policy.verify(py, &with_body(Message::request(method, uri, &fields), body), &resolver, &replay, now)
}

/// A request as Python gives it: method, address, fields, and the body if it is at hand.
type Request = (String, String, Fields, Option<Owned>);

/// As `verify_http`, of the response to `request`: method, address, fields and body, of which components with `req` are.
#[pyfunction]
#[pyo3(signature = (
    status, fields, body=None, *, request=None, resolver, replay, required=Vec::new(), role="identity", tag=None,
    signer=None, max_age=Span(MAX_AGE), now=None
))]
#[allow(clippy::too_many_arguments)] // They are keywords in Python.
pub fn verify_http_response<'py>(
    py: Python<'py>,
    #[pyo3(from_py_with = whole)] status: u16,
    fields: Fields,
    body: Option<Input<'_>>,
    request: Option<Request>,
    resolver: Resolver,
    replay: Replay,
    required: Vec<String>,
    role: &str,
    tag: Option<String>,
    signer: Option<&str>,
    max_age: Span,
    now: Option<Time>,
) -> PyResult<Bound<'py, PyAny>> {
    let (now, (_, relationship)) = (self::now(now), self::role(py, role)?);
    let asked = request.as_ref().map(asked);
    let response = response(status, &fields, body.as_ref(), asked.as_ref());
    let policy = Asked { required: &required, relationship, tag, signer, max_age };
    policy.verify(py, &response, &resolver, &replay, now)
}

fn with_body<'a>(message: Message<'a>, body: Option<&'a [u8]>) -> Message<'a> {
    body.map_or(message, |body| message.with_body(body))
}

fn asked((method, uri, fields, body): &Request) -> Message<'_> {
    with_body(Message::request(method, uri, fields), body.as_ref().map(|body| &body.0[..]))
}

fn response<'a>(
    status: u16,
    fields: &'a Fields,
    body: Option<&'a Input<'_>>,
    asked: Option<&'a Message<'a>>,
) -> Message<'a> {
    let response = with_body(Message::response(status, fields), body.map(Input::as_slice));
    match asked {
        Some(asked) => response.answering(asked),
        None => response,
    }
}

/// What a signer says of a message.
struct Said<'a> {
    components: Vec<String>,
    required: Vec<String>,
    role: &'a str,
    tag: Option<String>,
    label: &'a str,
    lifetime: Span,
    now: Option<Time>,
}

impl Said<'_> {
    fn sign(self, agent: &Agent, py: Python<'_>, message: &Message<'_>) -> PyResult<Fields> {
        let (now, (role, _)) = (crate::convert::now(self.now), role(py, self.role)?);
        agent.with(py, |agent| {
            let (components, required) = (components(&self.components)?, components(&self.required)?);
            let label = self.label.to_owned();
            let terms = Terms { components, required, label, tag: self.tag, role, lifetime: self.lifetime.0 };
            http::sign(agent, message, &terms, now)
        })
    }
}

/// What a verifier asks of a message.
struct Asked<'a> {
    required: &'a [String],
    relationship: Relationship,
    tag: Option<String>,
    signer: Option<&'a str>,
    max_age: Span,
}

impl Asked<'_> {
    fn verify<'py>(
        self,
        py: Python<'py>,
        message: &Message<'_>,
        resolver: &Resolver,
        mut replay: &Replay,
        now: identity::Timestamp,
    ) -> PyResult<Bound<'py, PyAny>> {
        let claims = detached(py, || {
            let required = components(self.required)?;
            let Self { relationship, tag, max_age, .. } = self;
            let signer = self.signer.map(str::parse).transpose()?;
            // The usual ones are asked for by a policy that names none.
            let policy = http::Policy { required: Vec::new(), relationship, tag, signer, max_age: max_age.0 };
            let mut seen = PendingReplay::default();
            let signature = http::verify(message, &policy, resolver, now, &mut seen)?;
            if let Some(missing) = required.iter().find(|it| !signature.components().contains(it)) {
                let what = format_args!("the signature does not cover {missing}");
                return Err(identity::Error::new(identity::Reason::Uncovered, what));
            }
            seen.settle(&mut replay, now)?;
            let covered: Vec<String> = signature.components().iter().map(ToString::to_string).collect();
            Ok(serde_json::json!({
                "signer": signature.signer().to_string(),
                "did": signature.signer().did().to_string(),
                "components": covered,
                "tag": signature.tag(),
            }))
        })?;
        to_python(py, &claims)
    }
}

/// Verifies an AgentCard of A2A. Returns who signed it, and the members of the card that were signed.
///
/// A card does not tell which DID may speak for the agent: name the one that is `expected`, or look at the signer.
#[pyfunction]
#[pyo3(signature = (card, *, resolver, expected=None, now=None))]
pub fn verify_agent_card<'py>(
    py: Python<'py>,
    card: Json,
    resolver: Resolver,
    expected: Option<&str>,
    now: Option<Time>,
) -> PyResult<Bound<'py, PyAny>> {
    let now = self::now(now);
    let claims = detached(py, || {
        let expected: Option<Did> = expected.map(str::parse).transpose()?;
        let card = a2a::verify(card.bytes(), expected.as_ref(), &resolver, now)?;
        Ok(serde_json::json!({
            "signer": card.signer().to_string(),
            "did": card.signer().did().to_string(),
            "card": Value::from(card.json().clone()),
        }))
    })?;
    to_python(py, &claims)
}
