//! Credentials, presentations, selective disclosure, documents with proofs, and status lists.

use std::sync::{Arc, PoisonError, RwLock};

use gambeson_identity::vc::data_integrity::{self, Expected, ProofOptions};
use gambeson_identity::vc::{
    Binding, Credential, KeyBinding, MIN_ENTRIES, Presentation, Request, SdJwt, SdJwtHeld, Status,
    StatusEntry, StatusListCredential, StatusPurpose, StatusResolver,
};
use gambeson_identity::{self as identity, Did, DidUrl, Timestamp, Verified, json, vc};
use pyo3::prelude::*;
use serde_json::{Map, Value};

use super::agent::Agent;
use super::cards::{Known, Resolver};
use super::detached;
use super::keys::PublicKey;
use crate::convert::{Json, Span, Time, now, to_python, whole};
use crate::error::{USAGE, error, refused};

/// A list of bits, one a credential, that says which were revoked, or suspended.
#[pyclass(frozen, module = "gambeson")]
pub struct StatusList(RwLock<vc::StatusList>);

fn purpose(py: Python<'_>, name: &str) -> PyResult<StatusPurpose> {
    [StatusPurpose::Revocation, StatusPurpose::Suspension]
        .into_iter()
        .find(|purpose| purpose.name() == name)
        .ok_or_else(|| {
            error(py, USAGE, format_args!("unknown purpose {name:?} (expected `revocation` or `suspension`)"))
        })
}

#[pymethods]
impl StatusList {
    #[new]
    #[pyo3(signature = (purpose="revocation", *, entries=MIN_ENTRIES))]
    fn new(py: Python<'_>, purpose: &str, #[pyo3(from_py_with = whole)] entries: usize) -> PyResult<Self> {
        let purpose = self::purpose(py, purpose)?;
        detached(py, || vc::StatusList::new(purpose, entries)).map(|list| Self(RwLock::new(list)))
    }

    /// Sets the bit of a credential, or clears it.
    #[pyo3(signature = (index, value=true))]
    fn set(&self, py: Python<'_>, #[pyo3(from_py_with = whole)] index: usize, value: bool) -> PyResult<()> {
        detached(py, || self.0.write().unwrap_or_else(PoisonError::into_inner).set(index, value))
    }

    /// Whether the bit of a credential is set.
    fn is_set(&self, py: Python<'_>, #[pyo3(from_py_with = whole)] index: usize) -> PyResult<bool> {
        detached(py, || self.0.read().unwrap_or_else(PoisonError::into_inner).is_set(index))
    }

    /// The bits as the standard has them in `encodedList`.
    fn encode(&self, py: Python<'_>) -> String {
        py.detach(|| self.0.read().unwrap_or_else(PoisonError::into_inner).encode())
    }

    fn __len__(&self, py: Python<'_>) -> usize {
        py.detach(|| self.0.read().unwrap_or_else(PoisonError::into_inner).entries())
    }
}

/// Status lists in memory, verified as they come in.
#[pyclass(frozen, module = "gambeson")]
#[derive(Default)]
pub struct StatusStore(RwLock<vc::StatusStore>);

#[pymethods]
impl StatusStore {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Verifies the credential of a list and keeps it, in place of an older one of the same issuer at the same URL.
    #[pyo3(signature = (secured, *, resolver, now=None))]
    fn add(&self, py: Python<'_>, secured: Json, resolver: Resolver, now: Option<Time>) -> PyResult<()> {
        let now = crate::convert::now(now);
        let secured = secured.text(py)?;
        // Verified outside of the lock, for a resolver may call Python; then once more, in memory, by the store.
        let documents = detached(py, || {
            let list = StatusListCredential::verify(secured, &resolver, now)?;
            identity::Resolver::resolve(&resolver, list.signer().did(), now)
        })?;
        let known = Known(documents);
        detached(py, || self.0.write().unwrap_or_else(PoisonError::into_inner).add(secured, &known, now))
    }

    /// A copy of the list of this issuer, a DID, at this URL for a purpose; `None` if the list has another purpose.
    #[pyo3(signature = (issuer, url, purpose="revocation"))]
    fn get(&self, py: Python<'_>, issuer: &str, url: &str, purpose: &str) -> PyResult<Option<StatusList>> {
        let purpose = self::purpose(py, purpose)?;
        let credential = detached(py, || self.status_list(&issuer.parse()?, url, Timestamp(0)))?;
        Ok(credential.list(purpose).map(|list| StatusList(RwLock::new(list.clone()))))
    }

    /// The URLs of lists that should be fetched again.
    #[pyo3(signature = (*, now=None))]
    fn due(&self, py: Python<'_>, now: Option<Time>) -> Vec<String> {
        let now = crate::convert::now(now);
        py.detach(|| {
            let store = self.0.read().unwrap_or_else(PoisonError::into_inner);
            store.due(now).map(str::to_owned).collect()
        })
    }
}

impl StatusResolver for StatusStore {
    fn status_list(
        &self,
        issuer: &Did,
        url: &str,
        now: Timestamp,
    ) -> identity::Result<Arc<Verified<StatusListCredential>>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).status_list(issuer, url, now)
    }
}

/// What is asked about the status: the lists that are known, and whether one that is not known is refused.
pub struct Lists<'a> {
    store: Option<&'a StatusStore>,
    nobody: vc::StatusStore,
    required: bool,
}

impl<'a> Lists<'a> {
    pub fn new(store: Option<&'a StatusStore>, unknown_status: &str, py: Python<'_>) -> PyResult<Self> {
        let required = match unknown_status {
            "refuse" => true,
            "accept" => false,
            _ => return Err(error(py, USAGE, "unknown_status must be `refuse` or `accept`")),
        };
        Ok(Self { store, nobody: vc::StatusStore::default(), required })
    }

    pub fn status(&self) -> Status<'_> {
        let lists: &dyn StatusResolver = match self.store {
            Some(store) => store,
            None => &self.nobody,
        };
        if self.required { Status::Required(lists) } else { Status::IfKnown(lists) }
    }
}

fn claims(credential: &Verified<Credential>) -> Value {
    serde_json::json!({
        "signer": credential.signer().to_string(),
        "issuer": credential.issuer().to_string(),
        "credential": credential.json(),
    })
}

/// Where the status of a credential stands: the URL of the list, the number, and what the bit means.
pub type Entry = (String, usize, String);

pub fn entries(py: Python<'_>, entries: Vec<Entry>) -> PyResult<Vec<StatusEntry>> {
    let entry = |(list, index, purpose): Entry| {
        Ok(StatusEntry { list, index, purpose: self::purpose(py, &purpose)? })
    };
    entries.into_iter().map(entry).collect()
}

#[pymethods]
impl Agent {
    /// Issues a credential: what this agent says of a subject, or of several.
    ///
    /// `form` is `jwt` for a `vc+jwt` with ML-DSA-65, or `data-integrity` for JSON with a proof inside
    /// (`mldsa44-jcs-2024`). Other members of the data model go into `members`.
    #[pyo3(signature = (
        subject, *, types=Vec::new(), valid_for, now=None, id=None, contexts=None, status=Vec::new(), members=None, form="jwt"
    ))]
    #[allow(clippy::too_many_arguments)] // They are keywords in Python.
    fn issue(
        &self,
        py: Python<'_>,
        subject: Json,
        types: Vec<String>,
        valid_for: Span,
        now: Option<Time>,
        id: Option<String>,
        contexts: Option<Json>,
        #[pyo3(from_py_with = whole)] status: Vec<Entry>,
        members: Option<Json>,
        form: &str,
    ) -> PyResult<String> {
        let from = crate::convert::now(now);
        let mut builder = Credential::builder().valid(from, from.after(valid_for.0));
        if let Some(members) = members {
            for (name, value) in members.object(py)? {
                builder = builder.member(&name, value);
            }
        }
        for subject in one_or_more(subject.value(py)?) {
            builder = builder.subject(subject);
        }
        for context in contexts.map_or(Ok(Vec::new()), |contexts| contexts.value(py).map(one_or_more))? {
            builder = builder.context(context);
        }
        builder = entries(py, status)?.iter().fold(builder, |builder, entry| builder.status(entry));
        builder = types.iter().fold(builder, |builder, kind| builder.kind(kind));
        builder = id.iter().fold(builder, |builder, id| builder.id(id));
        match form {
            "jwt" => self.with(py, |agent| builder.issue(agent)),
            "data-integrity" => {
                let signed = self.with(py, |agent| builder.issue_with_proof(agent, from))?;
                Ok(Value::from(signed).to_string())
            }
            _ => Err(error(py, USAGE, "the form of a credential must be `jwt` or `data-integrity`")),
        }
    }

    /// Shows credentials to one verifier, in answer to its nonce: a `vp+jwt`.
    #[pyo3(signature = (credentials, *, audience, nonce, now=None))]
    fn present(
        &self,
        py: Python<'_>,
        credentials: Vec<Json>,
        audience: &str,
        nonce: &str,
        now: Option<Time>,
    ) -> PyResult<String> {
        let now = crate::convert::now(now);
        let credentials =
            credentials.iter().map(|credential| credential.text(py)).collect::<PyResult<Vec<_>>>()?;
        self.with(py, |agent| Presentation::sign(agent, &credentials, audience, nonce, now))
    }

    /// Issues an SD-JWT VC of the type `vct`, whose `disclosable` claims, JSON Pointers, its holder may keep to itself.
    #[pyo3(signature = (vct, claims, *, disclosable=Vec::new(), holder=None, valid_for, decoys=0, now=None))]
    #[allow(clippy::too_many_arguments)] // They are keywords in Python.
    fn issue_sd_jwt(
        &self,
        py: Python<'_>,
        vct: &str,
        claims: Json,
        disclosable: Vec<String>,
        holder: Option<&str>,
        valid_for: Span,
        #[pyo3(from_py_with = whole)] decoys: usize,
        now: Option<Time>,
    ) -> PyResult<String> {
        let now = crate::convert::now(now);
        let holder = holder.map(DidUrl::of_key).transpose().map_err(|error| refused(py, &error))?;
        let builder = SdJwt::builder(vct).claims(claims.value(py)?).decoys(decoys);
        let builder = disclosable.iter().fold(builder, |builder, pointer| builder.disclosable(pointer));
        let builder = holder.iter().fold(builder, |builder, holder| builder.holder(holder));
        let builder = builder.valid(now, now.after(valid_for.0));
        self.with(py, |agent| builder.issue(agent, now))
    }

    /// Shows an SD-JWT that is bound to this agent to one verifier, with the claims of these pointers.
    #[pyo3(signature = (issued, disclosed, *, audience, nonce, now=None))]
    fn present_sd_jwt(
        &self,
        py: Python<'_>,
        issued: &str,
        disclosed: Vec<String>,
        audience: &str,
        nonce: &str,
        now: Option<Time>,
    ) -> PyResult<String> {
        let now = crate::convert::now(now);
        let disclosed: Vec<&str> = disclosed.iter().map(String::as_str).collect();
        self.with(py, |agent| {
            SdJwtHeld::parse(issued)?.present_bound(agent, &disclosed, audience, nonce, now)
        })
    }

    /// Issues a status list as the credential of its own that stands at `url`. `ttl` is the time after which readers should
    /// fetch it again.
    #[pyo3(signature = (list, url, *, valid_for, ttl=None, now=None))]
    fn issue_status_list(
        &self,
        py: Python<'_>,
        list: PyRef<'_, StatusList>,
        url: &str,
        valid_for: Span,
        ttl: Option<Span>,
        now: Option<Time>,
    ) -> PyResult<String> {
        let from = crate::convert::now(now);
        let validity = (from, from.after(valid_for.0));
        let list = &list.0;
        self.with(py, |agent| {
            let ttl = ttl.map(|ttl| ttl.0.saturating_mul(1000));
            list.read().unwrap_or_else(PoisonError::into_inner).issue(agent, url, validity, ttl)
        })
    }

    /// Adds a Data Integrity proof (`mldsa44-jcs-2024`) to a JSON document.
    #[pyo3(signature = (document, *, now=None))]
    fn sign_document<'py>(
        &self,
        py: Python<'py>,
        document: Json,
        now: Option<Time>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (document, options) = (document.object(py)?, ProofOptions::assertion(crate::convert::now(now)));
        to_python(py, &self.with(py, |agent| data_integrity::sign(agent, document, &options))?)
    }
}

fn one_or_more(value: Value) -> Vec<Value> {
    match value {
        Value::Array(all) => all,
        one => vec![one],
    }
}

/// Verifies a credential, `vc+jwt` or JSON with a proof. Returns who signed it, who issued it, and what it says.
///
/// One with a status is refused unless `status` knows its list and the list does not name it; `unknown_status="accept"`
/// lets pass what is in no list that is known.
#[pyfunction]
#[pyo3(signature = (secured, *, resolver, status=None, unknown_status="refuse", now=None))]
pub fn verify_credential<'py>(
    py: Python<'py>,
    secured: Json,
    resolver: Resolver,
    status: Option<PyRef<'_, StatusStore>>,
    unknown_status: &str,
    now: Option<Time>,
) -> PyResult<Bound<'py, PyAny>> {
    let (secured, now) = (secured.text(py)?, self::now(now));
    let lists = Lists::new(status.as_deref(), unknown_status, py)?;
    let credential = detached(py, || Credential::verify(secured, &resolver, now, lists.status()))?;
    to_python(py, &claims(&credential))
}

/// Verifies a presentation that was made for `audience` in answer to `nonce`, and every credential in it.
///
/// Unless it is a `bearer`'s, every subject of a credential is the holder. Whoever made the nonce accepts it once.
#[pyfunction]
#[pyo3(signature = (
    secured, *, audience, nonce, resolver, status=None, unknown_status="refuse", max_age=Span(300), bearer=false, now=None
))]
#[allow(clippy::too_many_arguments)] // They are keywords in Python.
pub fn verify_presentation<'py>(
    py: Python<'py>,
    secured: Json,
    audience: &str,
    nonce: &str,
    resolver: Resolver,
    status: Option<PyRef<'_, StatusStore>>,
    unknown_status: &str,
    max_age: Span,
    bearer: bool,
    now: Option<Time>,
) -> PyResult<Bound<'py, PyAny>> {
    let (secured, now) = (secured.text(py)?, self::now(now));
    let lists = Lists::new(status.as_deref(), unknown_status, py)?;
    let binding = if bearer { Binding::Bearer } else { Binding::Subject };
    let request = Request { audience, nonce, max_age: max_age.0, binding };
    let shown = detached(py, || Presentation::verify(secured, &resolver, now, &request, lists.status()))?;
    let credentials: Vec<Value> = shown.credentials().iter().map(claims).collect();
    let claims = serde_json::json!({
        "signer": shown.signer().to_string(),
        "holder": shown.holder().to_string(),
        "credentials": credentials,
    });
    to_python(py, &claims)
}

/// Verifies an SD-JWT VC as it was shown, by the holder that it names: the holder must have signed for `audience` and `nonce`.
///
/// One that names no holder is anybody's who has it, and needs neither. With `bearer`, so is one that does.
#[pyfunction]
#[pyo3(signature = (presented, *, resolver, audience=None, nonce=None, max_age=Span(300), bearer=false, now=None))]
#[allow(clippy::too_many_arguments)] // They are keywords in Python.
pub fn verify_sd_jwt<'py>(
    py: Python<'py>,
    presented: &str,
    resolver: Resolver,
    audience: Option<&str>,
    nonce: Option<&str>,
    max_age: Span,
    bearer: bool,
    now: Option<Time>,
) -> PyResult<Bound<'py, PyAny>> {
    let now = self::now(now);
    let binding = match (audience, nonce) {
        (Some(audience), Some(nonce)) if !bearer => {
            KeyBinding::Required { audience, nonce, max_age: max_age.0 }
        }
        (None, None) => KeyBinding::None,
        _ => return Err(error(py, USAGE, "audience and nonce must be given together, and not with bearer")),
    };
    let shown = detached(py, || SdJwt::verify(presented, &resolver, now, binding))?;
    if audience.is_none() && !bearer && shown.holder().is_some() {
        let what = "the token is bound to its holder: give audience and nonce, or bearer=True";
        return Err(error(py, USAGE, what));
    }
    let claims = serde_json::json!({
        "signer": shown.signer().to_string(),
        "issuer": shown.issuer().to_string(),
        "holder": shown.holder().map(ToString::to_string),
        "claims": shown.claims(),
    });
    to_python(py, &claims)
}

/// JSON Pointers of what the holder of an SD-JWT can disclose, or keep to itself.
#[pyfunction]
pub fn sd_jwt_disclosable(py: Python<'_>, issued: &str) -> PyResult<Vec<String>> {
    let held = detached(py, || SdJwtHeld::parse(issued))?;
    Ok(held.disclosable().map(str::to_owned).collect())
}

/// An SD-JWT with the claims of these pointers, for whoever asks; nobody signs it.
#[pyfunction]
pub fn sd_jwt_disclose(py: Python<'_>, issued: &str, disclosed: Vec<String>) -> PyResult<String> {
    let disclosed: Vec<&str> = disclosed.iter().map(String::as_str).collect();
    detached(py, || SdJwtHeld::parse(issued)?.present(&disclosed))
}

/// Verifies the Data Integrity proof of a JSON document. Returns who signed it, and the document without the proof.
///
/// With a `key` in place of a `resolver` the signature alone is verified: no purpose, no time, no controller.
#[pyfunction]
#[pyo3(signature = (document, *, resolver=None, key=None, now=None))]
pub fn verify_document<'py>(
    py: Python<'py>,
    document: Json,
    resolver: Option<Resolver>,
    key: Option<PublicKey>,
    now: Option<Time>,
) -> PyResult<Bound<'py, PyAny>> {
    let now = self::now(now);
    let read = || json::parse_object(document.bytes(), vc::MAX_PRESENTATION);
    let (signer, document) = match (resolver, key) {
        (Some(resolver), None) => detached(py, || {
            let verified = data_integrity::verify(&read()?, &resolver, now, &Expected::assertion())?;
            Ok((verified.signer().to_string(), Map::clone(&verified)))
        }),
        (None, Some(PublicKey(key))) => detached(py, || {
            let document = data_integrity::verify_with_key(&read()?, &key)?;
            Ok((Did::from_key(&key).to_string(), document))
        }),
        _ => Err(error(py, USAGE, "give either a resolver or a key")),
    }?;
    to_python(py, &serde_json::json!({"signer": signer, "document": document}))
}
