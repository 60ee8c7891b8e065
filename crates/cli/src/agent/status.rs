//! The agent's own status list, and those of others that it knows.
//!
//! `status/` holds `list.json` (what was given out and what was revoked) and `list.jwt` (the list, signed);
//! `status/known/` the signed lists of others.

use super::Session;
use super::home::private_folder;
use crate::error::Error;
use crate::files::{self, Access};
use gambeson_identity::vc::{MIN_ENTRIES, StatusEntry, StatusList, StatusPurpose, StatusStore};
use gambeson_identity::{Agent, Resolver, Timestamp};
use serde_json::{Map, Value, json};
use std::fs;
use std::path::PathBuf;

const HOUR: u64 = 3600;

/// For how many hours a list holds that was signed along the way.
const USUAL_HOURS: u64 = 168;

/// The list of this agent's revocations. Whoever changes it has the lock of the folder.
pub(super) struct OwnList {
    url: String,
    /// The entries that were given out, and when their credentials end.
    given: Map<String, Value>,
    list: StatusList,
}

impl OwnList {
    /// Reads the list, or begins it.
    pub(super) fn open(session: &Session) -> Result<Self, Error> {
        let path = folder(session).join("list.json");
        let damaged = || Error::outside(format!("{}: is damaged", path.display()));
        let text = match fs::read(&path) {
            Ok(text) => text,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
                let list = StatusList::new(StatusPurpose::Revocation, MIN_ENTRIES).map_err(Error::damaged)?;
                let url = format!("{}/status/1", session.home.owner()?);
                return Ok(Self { url, given: Map::new(), list });
            }
            Err(e) => return Err(Error::io(&path, &e)),
        };
        let mut file: Map<String, Value> = serde_json::from_slice(&text).map_err(|_| damaged())?;
        match (file.remove("url"), file.remove("given"), file.remove("list")) {
            (Some(Value::String(url)), Some(Value::Object(given)), Some(Value::String(list))) => {
                let list = StatusList::decode(StatusPurpose::Revocation, &list).map_err(Error::damaged)?;
                Ok(Self { url, given, list })
            }
            _ => Err(damaged()),
        }
    }

    /// An entry that was not given out, at a random place, so that indexes do not tell in which order credentials were
    /// issued.
    pub(super) fn take(&mut self, until: Timestamp) -> Result<StatusEntry, Error> {
        if self.given.len() >= self.list.entries() / 2 {
            return Err(Error::outside("half of the status list is given out: another agent must issue on"));
        }
        loop {
            let mut random = [0; 4];
            getrandom::fill(&mut random).map_err(|_| Error::randomness(gambeson::RngError))?;
            let index = u32::from_be_bytes(random) as usize % self.list.entries();
            let name = index.to_string();
            if !self.given.contains_key(&name) {
                self.given.insert(name, until.0.into());
                return Ok(StatusEntry { list: self.url.clone(), index, purpose: StatusPurpose::Revocation });
            }
        }
    }

    /// Revokes what has this entry; whether it was not revoked yet.
    pub(super) fn revoke(&mut self, entry: &Value) -> Result<bool, Error> {
        let index =
            entry["statusListIndex"].as_str().filter(|_| entry["statusListCredential"] == self.url.as_str());
        let index =
            index.filter(|index| self.given.contains_key(*index)).and_then(|index| index.parse().ok());
        let index = index.ok_or_else(|| Error::usage("its status is no entry of this agent's list"))?;
        let before = self.list.is_set(index).map_err(Error::damaged)?;
        self.list.set(index, true).map_err(Error::damaged)?;
        Ok(!before)
    }

    /// Writes the list down, and signs it.
    pub(super) fn keep(&self, session: &Session, agent: &Agent) -> Result<(), Error> {
        let signed = self.sign(agent, session.now, USUAL_HOURS)?;
        let folder = folder(session);
        private_folder(&folder)?;
        let file = json!({"version": 1, "url": self.url, "given": self.given, "list": self.list.encode()});
        files::write(&folder.join("list.json"), file.to_string().as_bytes(), Access::Private, true)?;
        files::write(&folder.join("list.jwt"), signed.as_bytes(), Access::Private, true)
    }

    /// The list as a credential.
    pub(super) fn sign(&self, agent: &Agent, now: Timestamp, hours: u64) -> Result<String, Error> {
        let window = (now, now.after(hours * HOUR));
        self.list.issue(agent, &self.url, window, None).map_err(Error::from_request)
    }

    /// How many entries were given out, and how many of these revoked.
    pub(super) fn counts(&self) -> (usize, usize) {
        let set = |index: &&String| {
            index.parse().ok().and_then(|index| self.list.is_set(index).ok()).unwrap_or_default()
        };
        (self.given.len(), self.given.keys().filter(set).count())
    }
}

/// Every list that is known here and holds now: this agent's own and those of others.
pub(super) fn known(session: &Session, resolver: &dyn Resolver) -> StatusStore {
    let mut store = StatusStore::default();
    let folder = folder(session);
    let others = fs::read_dir(folder.join("known")).into_iter().flatten().flatten().map(|entry| entry.path());
    for path in others.chain([folder.join("list.jwt")]) {
        // One that cannot be read or does not hold is not known: what it tells about is refused.
        if let Ok(list) = super::signing::text(&path) {
            let _ = store.add(&list, resolver, session.now);
        }
    }
    store
}

/// Keeps the list of another issuer in the place of an older one.
pub(super) fn learn(session: &Session, list: &str) -> gambeson_identity::Result<Result<String, Error>> {
    use gambeson_identity::vc::StatusListCredential;
    let resolver = session.resolver();
    let verified = StatusListCredential::verify(list, &*resolver, session.now)?;
    let mut store = known(session, &*resolver);
    store.add(list, &*resolver, session.now)?;
    let folder = folder(session).join("known");
    // Of this issuer: what others say of the URL takes no place of its lists.
    let key = format!("{} {}", verified.issuer(), verified.url());
    let name = crate::harness::hex(blake3::hash(key.as_bytes()).as_bytes());
    let kept = private_folder(&folder).and_then(|()| {
        files::write(&folder.join(format!("{name}.jwt")), list.as_bytes(), Access::Private, true)
    });
    Ok(kept.map(|()| verified.url().to_owned()))
}

fn folder(session: &Session) -> PathBuf {
    session.home.folder().join("status")
}
