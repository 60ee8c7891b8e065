//! Payloads for one agent, backups, and the words that an agent is recovered from.

use gambeson_identity::backup::Backup;
use gambeson_identity::{self as identity, Did, MasterSeed, Resolver as _, recovery, sealed};
use gambeson_keystore::Passphrase;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use super::actions::Replay;
use super::agent::{Agent, suite};
use super::cards::{CardLog, Resolver};
use super::detached;
use crate::convert::{Span, Time};
use crate::error::{USAGE, error};
use crate::input::{Input, Owned};

/// How long a sealed payload can be opened, unless its sender says otherwise: a week.
const LIFETIME: u64 = 7 * 86_400;

/// Twenty-four new words: the seed of an agent, to be written down before the agent is made of them.
///
/// They are the whole private identity. An agent never gives them back.
#[pyfunction]
pub fn generate_words(py: Python<'_>) -> PyResult<String> {
    let words = detached(py, || Ok(recovery::words(&MasterSeed::generate()?)))?;
    Ok(words.to_string())
}

/// The seed of 24 words as a file under a passphrase, for the agent's own disk: Argon2id, or PBKDF2 in suite `cnsa2`.
///
/// It takes as long as guessing a passphrase once shall take: about a second.
#[pyfunction]
#[pyo3(signature = (words, passphrase, *, suite="default"))]
pub fn protect_words<'py>(
    py: Python<'py>,
    words: &str,
    passphrase: &str,
    suite: &str,
) -> PyResult<Bound<'py, PyBytes>> {
    let (suite, passphrase) = (self::suite(py, suite)?, self::passphrase(py, passphrase)?);
    let file = detached(py, || recovery::protect(&recovery::from_words(words)?, suite, &passphrase, None))?;
    Ok(PyBytes::new(py, &file))
}

fn passphrase(py: Python<'_>, text: &str) -> PyResult<Passphrase> {
    Passphrase::new(text).map_err(|reason| error(py, USAGE, reason))
}

#[pymethods]
impl Agent {
    /// The agent of a file that `protect_words` or the program made, in the file's suite.
    #[staticmethod]
    #[pyo3(signature = (file, passphrase, *, cards=None))]
    fn from_protected(
        py: Python<'_>,
        file: Input<'_>,
        passphrase: &str,
        cards: Option<PyRef<'_, CardLog>>,
    ) -> PyResult<Self> {
        let (file, passphrase) = (file.as_slice(), self::passphrase(py, passphrase)?);
        let (seed, suite) = detached(py, || recovery::unprotect(file, &passphrase))?;
        Self::of_seed(py, seed, suite, cards.as_deref())
    }

    /// The agent of 24 words: as it began, or as the newest of its cards has it.
    #[staticmethod]
    #[pyo3(signature = (words, *, suite="default", cards=None))]
    fn from_words(
        py: Python<'_>,
        words: &str,
        suite: &str,
        cards: Option<PyRef<'_, CardLog>>,
    ) -> PyResult<Self> {
        let suite = self::suite(py, suite)?;
        let seed = detached(py, || recovery::from_words(words))?;
        Self::of_seed(py, seed, suite, cards.as_deref())
    }

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

    /// Seals cards, credentials and memory objects to this agent's backup key: its seed alone opens them again.
    #[pyo3(signature = (*, cards=None, credentials=None, objects=Vec::new(), now=None))]
    fn backup<'py>(
        &self,
        py: Python<'py>,
        cards: Option<PyRef<'_, CardLog>>,
        credentials: Option<Bound<'py, PyDict>>,
        objects: Vec<Owned>,
        now: Option<Time>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let now = crate::convert::now(now);
        let mut backup = self.with(py, |agent| Ok(Backup::new(agent, now)))?;
        if let Some(cards) = cards {
            backup.set_cards(&cards.0);
        }
        for (name, credential) in credentials.iter().flatten() {
            let (name, credential) = (name.extract::<String>()?, credential.extract::<String>()?);
            detached(py, || backup.add_credential(&name, credential.as_bytes()))?;
        }
        detached(py, || objects.iter().try_for_each(|object| backup.add_object(&object.0).map(drop)))?;
        Ok(PyBytes::new(py, &self.with(py, |agent| backup.seal(agent))?))
    }

    /// Opens a backup of this agent: `made`, `cards`, `credentials` by their names, `objects` by their hashes.
    fn restore<'py>(&self, py: Python<'py>, backup: Input<'_>) -> PyResult<Bound<'py, PyDict>> {
        let backup = backup.as_slice();
        let (backup, cards) = self.with(py, |agent| {
            let backup = Backup::open(agent, backup)?;
            let cards = backup.cards()?;
            Ok((backup, cards))
        })?;
        let (credentials, objects) = (PyDict::new(py), PyDict::new(py));
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
        Ok(restored)
    }
}

/// The name of a memory object, by which others refer to it: `b3:` and the hash of its bytes.
#[pyfunction]
pub fn object_id(py: Python<'_>, data: Input<'_>) -> String {
    let data = data.as_slice();
    py.detach(|| identity::memory::ObjectId::of(data).to_string())
}
