//! Payloads for one agent, backups, and state at rest.

use gambeson_identity::backup::{Backup, State};
use gambeson_identity::{Did, Resolver as _, sealed};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use super::actions::Replay;
use super::agent::Agent;
use super::cards::{CardLog, Resolver};
use super::detached;
use crate::convert::{Span, Time, whole};
use crate::error::{USAGE, error};
use crate::input::{Input, Owned};

/// How long a sealed payload can be opened, unless its sender says otherwise: a week.
const LIFETIME: u64 = 7 * 86_400;

/// What a dictionary has by its names.
fn items<T>(of: Option<Bound<'_, PyDict>>) -> PyResult<Vec<(String, T)>>
where
    T: for<'a, 'py> FromPyObject<'a, 'py, Error = PyErr>,
{
    let pairs = of.iter().flat_map(PyDictMethods::items);
    pairs.map(|pair| Ok((pair.get_item(0)?.extract()?, pair.get_item(1)?.extract()?))).collect()
}

#[pymethods]
impl Agent {
    /// Signs a payload and seals it to `recipient`, a DID: only that agent opens it, and once.
    #[pyo3(signature = (
        payload, recipient, *, resolver, media_type="application/octet-stream", lifetime=Span(LIFETIME), now=None
    ))]
    #[allow(clippy::too_many_arguments)] // They are keywords in Python.
    fn seal<'py>(
        &self,
        py: Python<'py>,
        payload: Input<'_>,
        recipient: &str,
        resolver: Resolver,
        media_type: &str,
        lifetime: Span,
        now: Option<Time>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let (payload, now) = (payload.as_slice(), crate::convert::now(now));
        let until = now.after(lifetime.0);
        let sealed = self.with(py, |agent| {
            let document = resolver.resolve(&recipient.parse::<Did>()?, now)?;
            sealed::seal(agent, &document, media_type, payload, until, now)
        })?;
        Ok(PyBytes::new(py, &sealed))
    }

    /// Opens what was sealed to this agent, and verifies who signed it. `replay` refuses it the second time.
    #[pyo3(signature = (envelope, *, resolver, replay, now=None))]
    fn open<'py>(
        &self,
        py: Python<'py>,
        envelope: Input<'_>,
        resolver: Resolver,
        replay: Replay,
        now: Option<Time>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let (envelope, now) = (envelope.as_slice(), crate::convert::now(now));
        let opened = self.with(py, |agent| sealed::open(agent, envelope, &resolver, &mut &replay, now))?;
        let claims = PyDict::new(py);
        claims.set_item("signer", opened.signer().to_string())?;
        claims.set_item("did", opened.sender().as_str())?;
        claims.set_item("id", PyBytes::new(py, opened.id()))?;
        claims.set_item("expires", opened.expires().0)?;
        claims.set_item("media_type", opened.media_type())?;
        claims.set_item("payload", PyBytes::new(py, opened.payload()))?;
        Ok(claims)
    }

    /// Seals cards, credentials, memory objects and state to this agent's backup key: its seed alone opens them again.
    ///
    /// `state` has what the agent must not forget: `ledger`, `seen` and `status-list`, each in whatever form it is kept.
    #[pyo3(signature = (*, cards=None, credentials=None, objects=Vec::new(), state=None, now=None))]
    fn backup<'py>(
        &self,
        py: Python<'py>,
        cards: Option<PyRef<'_, CardLog>>,
        credentials: Option<Bound<'py, PyDict>>,
        objects: Vec<Owned>,
        state: Option<Bound<'py, PyDict>>,
        now: Option<Time>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let now = crate::convert::now(now);
        // Taken out whole, before other threads run: to walk a dictionary that one of them changes is a panic.
        let credentials = items::<String>(credentials)?;
        let state = items::<Owned>(state)?;
        let mut backup = self.with(py, |agent| Ok(Backup::new(agent, now)))?;
        if let Some(cards) = cards {
            backup.set_cards(&cards.0);
        }
        for (name, credential) in credentials {
            detached(py, || backup.add_credential(&name, credential.as_bytes()))?;
        }
        detached(py, || objects.iter().try_for_each(|object| backup.add_object(&object.0).map(drop)))?;
        for (name, bytes) in state {
            let Some(piece) = State::ALL.into_iter().find(|piece| piece.name() == name) else {
                let names = State::ALL.map(State::name).join(", ");
                return Err(error(
                    py,
                    USAGE,
                    format_args!("unknown state {name:?} (expected one of {names})"),
                ));
            };
            detached(py, || backup.set_state(piece, &bytes.0))?;
        }
        Ok(PyBytes::new(py, &self.with(py, |agent| backup.seal(agent))?))
    }

    /// Opens a backup of this agent: `made`, `cards`, `credentials` and `state` by their names, `objects` by their hashes.
    ///
    /// An old backup stays good: one whose newest card has a lower version than `since`, such as the one that peers know, is
    /// refused.
    #[pyo3(signature = (backup, *, since=0))]
    fn restore<'py>(
        &self,
        py: Python<'py>,
        backup: Input<'_>,
        #[pyo3(from_py_with = whole)] since: u64,
    ) -> PyResult<Bound<'py, PyDict>> {
        let backup = backup.as_slice();
        let (backup, cards) = self.with(py, |agent| {
            let backup = Backup::open_since(agent, backup, since)?;
            let cards = backup.cards()?;
            Ok((backup, cards))
        })?;
        let (credentials, objects, state) = (PyDict::new(py), PyDict::new(py), PyDict::new(py));
        for (name, credential) in backup.credentials() {
            credentials.set_item(name, String::from_utf8_lossy(credential))?;
        }
        for (id, object) in backup.objects() {
            objects.set_item(id.to_string(), PyBytes::new(py, object))?;
        }
        let restored = PyDict::new(py);
        restored.set_item("made", backup.made().0)?;
        restored.set_item("cards", cards.map(CardLog))?;
        restored.set_item("credentials", credentials)?;
        restored.set_item("objects", objects)?;
        for piece in State::ALL {
            if let Some(bytes) = backup.state(piece) {
                state.set_item(piece.name(), PyBytes::new(py, bytes))?;
            }
        }
        restored.set_item("state", state)?;
        Ok(restored)
    }

    /// Encrypts a piece of state that this agent's seed alone opens. `label` says what it is, such as `ledger`: it is not in
    /// the bytes, and one piece is not taken for another.
    fn seal_state<'py>(
        &self,
        py: Python<'py>,
        label: &str,
        state: Input<'_>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let state = state.as_slice();
        Ok(PyBytes::new(py, &self.with(py, |agent| agent.seal_state(label, state))?))
    }

    /// Opens what `seal_state` made with the same label.
    fn open_state<'py>(
        &self,
        py: Python<'py>,
        label: &str,
        sealed: Input<'_>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let sealed = sealed.as_slice();
        Ok(PyBytes::new(py, self.with(py, |agent| agent.open_state(label, sealed))?.expose()))
    }
}
