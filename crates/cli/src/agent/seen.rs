//! What was taken once: nonces of actions and identifiers of sealed payloads, written down before anything is given out.

use super::home::{Home, Lock};
use crate::error::Error;
use crate::files::{self, Access};
use gambeson_identity::{Error as Refusal, Reason, ReplayCache, ReplayId, Result, Timestamp};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

/// The most ids that are kept: a file of 7 MB.
const CAPACITY: usize = 100_000;

/// Where it stands.
pub(super) fn path(home: &Home) -> PathBuf {
    home.folder().join("seen.json")
}

/// The ids of the file `seen.json` of an agent's folder, which nobody else changes meanwhile.
pub(super) struct Seen {
    path: PathBuf,
    until: BTreeMap<String, u64>,
    /// What ended before this was dropped, and must not come again: the clock may be set back.
    newest: u64,
    _lock: Lock,
}

impl Seen {
    pub(super) fn open(home: &Home) -> std::result::Result<Self, Error> {
        let lock = home.lock()?;
        let path = path(home);
        let mut seen = Self { path, until: BTreeMap::new(), newest: 0, _lock: lock };
        let text = match fs::read(&seen.path) {
            Ok(text) => text,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(seen),
            Err(e) => return Err(Error::io(&seen.path, &e)),
        };
        let read = serde_json::from_slice::<Map<String, Value>>(&text).ok().and_then(|file| {
            let until = file.get("until")?.as_object()?.iter();
            seen.newest = file.get("newest")?.as_u64()?;
            seen.until =
                until.map(|(id, until)| Some((id.clone(), until.as_u64()?))).collect::<Option<_>>()?;
            Some(())
        });
        // An empty memory in the place of a damaged one would take everything again.
        match read {
            Some(()) => Ok(seen),
            None => Err(Error::outside(format!("{}: is damaged", seen.path.display()))),
        }
    }

    /// Writes down what was taken: before this, nothing of it may be given out.
    pub(super) fn keep(self) -> std::result::Result<(), Error> {
        let file = json!({"version": 1, "newest": self.newest, "until": self.until}).to_string();
        files::write(&self.path, file.as_bytes(), Access::Private, true)
    }
}

impl ReplayCache for Seen {
    fn remember(&mut self, id: &ReplayId, until: Timestamp, now: Timestamp) -> Result<()> {
        let id = crate::harness::hex(id.as_bytes());
        self.newest = self.newest.max(now.0);
        let newest = self.newest;
        if until.0 < newest {
            let why = "its time is over by the latest clock that was seen here";
            return Err(Refusal::new(Reason::Expired, why));
        }
        self.until.retain(|_, until| *until >= newest);
        if self.until.contains_key(&id) {
            return Err(Refusal::new(Reason::Replayed, "it was taken before"));
        }
        if self.until.len() >= CAPACITY {
            let why = format_args!("{CAPACITY} were taken and have not expired");
            return Err(Refusal::new(Reason::CacheFull, why));
        }
        self.until.insert(id, until.0);
        Ok(())
    }
}
