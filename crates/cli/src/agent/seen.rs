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

/// Whether this is what the file may hold.
pub(super) fn is_whole(text: &[u8]) -> bool {
    read(text).is_some()
}

/// The latest clock, and until when each id is kept.
fn read(text: &[u8]) -> Option<(u64, BTreeMap<String, u64>)> {
    let file: Map<String, Value> = serde_json::from_slice(text).ok()?;
    let until = file.get("until")?.as_object()?.iter();
    let until = until.map(|(id, until)| Some((id.clone(), until.as_u64()?))).collect::<Option<_>>()?;
    Some((file.get("newest")?.as_u64()?, until))
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
        let (newest, until) = match fs::read(&path) {
            // An empty memory in the place of a damaged one would take everything again.
            Ok(text) => {
                read(&text).ok_or_else(|| Error::outside(format!("{}: is damaged", path.display())))?
            }
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => (0, BTreeMap::new()),
            Err(e) => return Err(Error::io(&path, &e)),
        };
        Ok(Self { path, until, newest, _lock: lock })
    }

    /// Writes down what was taken: before this, nothing of it may be given out.
    pub(super) fn keep(self) -> std::result::Result<(), Error> {
        let file = json!({"version": 1, "newest": self.newest, "until": self.until}).to_string();
        files::write_own(&self.path, file.as_bytes(), Access::Private, true)
    }
}

impl ReplayCache for Seen {
    fn remember(&mut self, id: &ReplayId, until: Timestamp, now: Timestamp) -> Result<()> {
        let id = crate::harness::hex(id.as_bytes());
        self.newest = self.newest.max(now.0);
        let newest = self.newest;
        if until.0 < newest {
            let why = "it had expired at the latest time that was seen here";
            return Err(Refusal::new(Reason::Expired, why));
        }
        self.until.retain(|_, until| *until >= newest);
        if self.until.contains_key(&id) {
            return Err(Refusal::new(Reason::Replayed, "it was accepted before"));
        }
        if self.until.len() >= CAPACITY {
            let why = format_args!("the memory is full: {CAPACITY} messages have not expired");
            return Err(Refusal::new(Reason::CacheFull, why));
        }
        self.until.insert(id, until.0);
        Ok(())
    }
}
