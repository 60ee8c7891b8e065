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
    grants: Grants,
    /// Grants that ended before this were dropped, and must not come again: the clock may be set back.
    newest: u64,
}

type Grants = BTreeMap<String, [u64; 3]>;

/// Whether this is what the file may hold.
pub(super) fn is_whole(text: &[u8]) -> bool {
    read(text).is_some()
}

/// The latest clock, and the grants.
fn read(text: &[u8]) -> Option<(u64, Grants)> {
    let file: Map<String, Value> = serde_json::from_slice(text).ok()?;
    let grant =
        |grant: &Value| Some([grant.get(0)?.as_u64()?, grant.get(1)?.as_u64()?, grant.get(2)?.as_u64()?]);
    let grants = file.get("grants")?.as_object()?.iter();
    let grants = grants.map(|(id, it)| Some((id.clone(), grant(it)?))).collect::<Option<_>>()?;
    // The first files had no clock.
    Some((file.get("newest").map_or(Some(0), Value::as_u64)?, grants))
}

impl Book {
    pub(super) fn open(session: &Session) -> std::result::Result<Self, Error> {
        let path = path(&session.home);
        let (newest, grants) = match fs::read(&path) {
            Ok(text) => {
                read(&text).ok_or_else(|| Error::outside(format!("{}: is damaged", path.display())))?
            }
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => (0, BTreeMap::new()),
            Err(e) => return Err(Error::io(&path, &e)),
        };
        Ok(Self { path, grants, newest })
    }

    /// Writes down what was spent: before this, nothing may be done.
    pub(super) fn keep(&self) -> std::result::Result<(), Error> {
        let file = json!({"version": 1, "newest": self.newest, "grants": self.grants}).to_string();
        files::write_own(&self.path, file.as_bytes(), Access::Private, true)
    }
}

impl Ledger for Book {
    fn spend(&mut self, spends: &[Spend], now: Timestamp) -> Result<()> {
        self.newest = self.newest.max(now.0);
        let newest = self.newest;
        self.grants.retain(|_, [_, _, until]| *until >= newest);
        // A grant that stands in the list twice is charged twice.
        let mut after = Grants::new();
        for spend in spends {
            let id = crate::harness::hex(spend.id.as_bytes());
            if spend.until.0 < newest {
                let why = "the grant had expired at the latest time that was seen here";
                return Err(Refusal::new(Reason::Expired, why));
            }
            let so_far = after.get(&id).or_else(|| self.grants.get(&id));
            let [calls, costs, _] = so_far.copied().unwrap_or_default();
            let (calls, costs) = (calls + 1, costs.saturating_add(spend.cost));
            if spend.calls.is_some_and(|most| calls > most) {
                return Err(Refusal::new(Reason::OverCount, "all granted calls are used up"));
            }
            if spend.budget.is_some_and(|most| costs > most) {
                return Err(Refusal::new(Reason::OverBudget, "the cost exceeds the remaining budget"));
            }
            after.insert(id, [calls, costs, spend.until.0]);
        }
        let new = after.keys().filter(|id| !self.grants.contains_key(*id)).count();
        if self.grants.len() + new > CAPACITY {
            return Err(Refusal::new(
                Reason::CacheFull,
                format_args!("the ledger is full ({CAPACITY} grants)"),
            ));
        }
        self.grants.extend(after);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gambeson_identity::ReplayId;

    const NOW: Timestamp = Timestamp(1000);

    fn book() -> Book {
        Book { path: PathBuf::new(), grants: Grants::new(), newest: 0 }
    }

    fn spend(name: &str, calls: Option<u64>, budget: Option<u64>, cost: u64) -> Spend {
        let root = "did:web:example.com".parse().expect("a DID");
        Spend { id: ReplayId::new("test", &root, name), until: NOW.after(100), calls, budget, cost }
    }

    fn reason(result: Result<()>) -> Reason {
        result.expect_err("refused").reason()
    }

    #[test]
    fn a_grant_that_stands_twice_in_a_list_is_charged_twice() {
        let mut book = book();
        let (thrice, dear) = (spend("thrice", Some(3), None, 0), spend("dear", None, Some(10), 6));
        book.spend(&[thrice, thrice], NOW).expect("two of three");
        assert_eq!(reason(book.spend(&[thrice, thrice], NOW)), Reason::OverCount);
        book.spend(&[thrice], NOW).expect("the third");
        assert_eq!(reason(book.spend(&[dear, dear], NOW)), Reason::OverBudget);
    }

    #[test]
    fn a_clock_that_was_ahead_once_makes_no_grant_fresh() {
        let mut book = book();
        let once = spend("once", Some(1), None, 0);
        book.spend(&[once], NOW).expect("the one");
        let long = Spend { until: NOW.after(500), ..spend("long", Some(9), None, 0) };
        book.spend(&[long], NOW.after(101)).expect("it runs still");
        assert_eq!(reason(book.spend(&[once], NOW)), Reason::Expired);
        book.spend(&[long], NOW).expect("it runs still");
    }

    #[test]
    fn what_is_no_ledger_is_damaged() {
        assert!(is_whole(br#"{"grants": {}}"#) && is_whole(br#"{"newest": 7, "grants": {"ab": [1, 2, 3]}}"#));
        for bad in [&b""[..], b"{}", br#"{"grants": {"ab": [1, 2]}}"#, br#"{"newest": "7", "grants": {}}"#] {
            assert!(!is_whole(bad));
        }
    }
}
