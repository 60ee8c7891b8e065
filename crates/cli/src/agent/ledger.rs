//! What was used up of grants that have a measure, in the file `ledger.json`.

use super::Session;
use super::home::Home;
use crate::error::Error;
use crate::files::{self, Access};
use gambeson_identity::delegation::{Ledger, Spend};
use gambeson_identity::{Error as Refusal, Reason, Result, Timestamp};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

/// The most grants that are remembered.
const CAPACITY: usize = 100_000;

/// Where it stands.
pub(super) fn path(home: &Home) -> PathBuf {
    home.folder().join("ledger.json")
}

/// Calls and costs of each grant, and when it ends. Whoever has it has the lock of the folder.
pub(super) struct Book {
    path: PathBuf,
    grants: BTreeMap<String, [u64; 3]>,
}

impl Book {
    pub(super) fn open(session: &Session) -> std::result::Result<Self, Error> {
        let path = path(&session.home);
        let damaged = || Error::outside(format!("{}: is damaged", path.display()));
        let text = match fs::read(&path) {
            Ok(text) => text,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
                return Ok(Self { path, grants: BTreeMap::new() });
            }
            Err(e) => return Err(Error::io(&path, &e)),
        };
        let file: Map<String, Value> = serde_json::from_slice(&text).map_err(|_| damaged())?;
        let grants = file.get("grants").and_then(Value::as_object).ok_or_else(damaged)?;
        let grant = |grant: &Value| Some([grant[0].as_u64()?, grant[1].as_u64()?, grant[2].as_u64()?]);
        let grants = grants.iter().map(|(id, it)| Some((id.clone(), grant(it)?))).collect::<Option<_>>();
        let grants = grants.ok_or_else(damaged)?;
        Ok(Self { path, grants })
    }

    /// Writes down what was spent: before this, nothing may be done.
    pub(super) fn keep(&self) -> std::result::Result<(), Error> {
        let file = json!({"version": 1, "grants": self.grants}).to_string();
        files::write(&self.path, file.as_bytes(), Access::Private, true)
    }
}

impl Ledger for Book {
    fn spend(&mut self, spends: &[Spend], now: Timestamp) -> Result<()> {
        self.grants.retain(|_, [_, _, until]| *until >= now.0);
        let mut after = Vec::new();
        for spend in spends {
            let id = crate::harness::hex(spend.id.as_bytes());
            let [calls, costs, _] = self.grants.get(&id).copied().unwrap_or_default();
            let (calls, costs) = (calls + 1, costs.saturating_add(spend.cost));
            if spend.calls.is_some_and(|most| calls > most) {
                return Err(Refusal::new(Reason::OverCount, "every call that was granted is used up"));
            }
            if spend.budget.is_some_and(|most| costs > most) {
                return Err(Refusal::new(Reason::OverBudget, "the cost is more than what is left"));
            }
            after.push((id, [calls, costs, spend.until.0]));
        }
        let new = after.iter().filter(|(id, _)| !self.grants.contains_key(id)).count();
        if self.grants.len() + new > CAPACITY {
            return Err(Refusal::new(Reason::CacheFull, format_args!("{CAPACITY} grants are remembered")));
        }
        self.grants.extend(after);
        Ok(())
    }
}
