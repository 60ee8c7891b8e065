//! What was used up of grants that have a measure.

use crate::replay::Expiring;
use crate::{Did, Error, Reason, ReplayId, Result, Timestamp};
use std::collections::BTreeMap;

/// One call under one grant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spend {
    /// The grant.
    pub id: ReplayId,
    /// When the grant ends, and need not be remembered any more.
    pub until: Timestamp,
    /// How many calls it allows.
    pub calls: Option<u64>,
    /// How much it allows these to cost together.
    pub budget: Option<u64>,
    /// What this one costs.
    pub cost: u64,
}

/// Counts calls and costs of grants.
///
/// An implementation that several verifiers share does what [`Ledger::spend`] says in one transaction.
pub trait Ledger {
    /// Whether [`Ledger::spend`] would take this now; takes nothing.
    ///
    /// What must be remembered before it is spent ([`PendingReplay::before`](crate::PendingReplay::before)) is not remembered
    /// of what is refused here. The default refuses nothing.
    ///
    /// # Errors
    ///
    /// Those of [`Ledger::spend`].
    fn check(&mut self, spends: &[Spend], now: Timestamp) -> Result<()> {
        let _ = (spends, now);
        Ok(())
    }

    /// Takes one call and its cost from every grant of the list, or nothing from any.
    ///
    /// # Errors
    ///
    /// [`Reason::OverCount`], [`Reason::OverBudget`]; [`Reason::CacheFull`] if there is no room for a new grant;
    /// [`Reason::Expired`] for a grant that ended before a time that was seen.
    fn spend(&mut self, spends: &[Spend], now: Timestamp) -> Result<()>;

    /// [`Ledger::spend`] in the name of this root, as [`authorize`](super::authorize) does it. By default the root is not
    /// looked at: the grants have it as their account already.
    ///
    /// # Errors
    ///
    /// Those of [`Ledger::spend`].
    fn spend_on_account_of(&mut self, root: &Did, spends: &[Spend], now: Timestamp) -> Result<()> {
        let _ = root;
        self.spend(spends, now)
    }
}

/// A [`Ledger`] in memory, of at most so many grants. Empty after a restart.
#[derive(Clone, Debug)]
pub struct MemoryLedger(Expiring<ReplayId, (u64, u64)>);

impl MemoryLedger {
    /// Room for so many grants.
    pub fn new(capacity: usize) -> Self {
        Self(Expiring::new(capacity))
    }

    /// The same with room for so many grants below each root, so that no delegate fills it by handing on ever more.
    #[must_use]
    pub fn per_root(mut self, most: usize) -> Self {
        self.0.each = most;
        self
    }
}

/// When each grant ends, and its calls and costs.
type States = BTreeMap<ReplayId, (Timestamp, (u64, u64))>;

impl MemoryLedger {
    /// What the grants of the list come to, if there is room for them.
    fn after(&mut self, spends: &[Spend], now: Timestamp) -> Result<States> {
        self.0.advance(now);
        // A grant that stands in the list twice is charged twice.
        let mut after = States::new();
        for spend in spends {
            self.0.timely(spend.until)?;
            let so_far = after.get(&spend.id).map(|(_, state)| state).or_else(|| self.0.get(&spend.id));
            let (calls, costs) = so_far.copied().unwrap_or_default();
            let calls = calls + 1;
            if spend.calls.is_some_and(|most| calls > most) {
                return Err(Error::new(
                    Reason::OverCount,
                    format_args!("all {} granted calls are used", spend.calls.unwrap_or_default()),
                ));
            }
            let costs =
                costs.checked_add(spend.cost).filter(|sum| spend.budget.is_none_or(|most| *sum <= most));
            let costs = costs.ok_or_else(|| {
                Error::new(
                    Reason::OverBudget,
                    format_args!(
                        "the cost is {}, which exceeds what is left of {}",
                        spend.cost,
                        spend.budget.unwrap_or_default()
                    ),
                )
            })?;
            after.insert(spend.id, (spend.until, (calls, costs)));
        }
        self.0.room(after.keys().filter(|id| self.0.get(id).is_none()).map(|id| *id.account()))?;
        Ok(after)
    }
}

impl Ledger for MemoryLedger {
    fn check(&mut self, spends: &[Spend], now: Timestamp) -> Result<()> {
        self.after(spends, now).map(drop)
    }

    fn spend(&mut self, spends: &[Spend], now: Timestamp) -> Result<()> {
        self.after(spends, now)?
            .into_iter()
            .try_for_each(|(id, (until, state))| self.0.insert(id, until, *id.account(), state))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Agent, MasterSeed};

    const NOW: Timestamp = Timestamp(1000);

    fn spend(name: &str, calls: Option<u64>, budget: Option<u64>, cost: u64) -> Spend {
        let agent = Agent::from_seed(MasterSeed::from_bytes(&[1; 32]));
        Spend { id: ReplayId::new("test", agent.did(), name), until: NOW.after(100), calls, budget, cost }
    }

    fn reason(result: Result<()>) -> Reason {
        result.unwrap_err().reason()
    }

    #[test]
    fn all_is_taken_or_nothing() {
        let mut ledger = MemoryLedger::new(10);
        let (wide, narrow) = (spend("wide", Some(2), Some(10), 4), spend("narrow", Some(1), None, 4));
        ledger.spend(&[wide, narrow], NOW).unwrap();
        for _ in 0..5 {
            assert_eq!(reason(ledger.spend(&[wide, narrow], NOW)), Reason::OverCount);
        }
        ledger.spend(&[wide], NOW).unwrap();
        assert_eq!(reason(ledger.spend(&[wide], NOW)), Reason::OverCount);
        let dear = spend("dear", None, Some(u64::MAX), u64::MAX);
        ledger.spend(&[dear], NOW).unwrap();
        assert_eq!(reason(ledger.spend(&[dear], NOW)), Reason::OverBudget);
    }

    #[test]
    fn what_is_checked_is_not_taken_and_is_refused_like_what_is() {
        let mut ledger = MemoryLedger::new(1);
        let (a, b) = (spend("a", Some(1), None, 0), spend("b", None, Some(1), 2));
        for _ in 0..3 {
            ledger.check(&[a], NOW).unwrap();
        }
        assert_eq!(reason(ledger.check(&[b], NOW)), Reason::OverBudget);
        ledger.spend(&[a], NOW).unwrap();
        assert_eq!(reason(ledger.check(&[a], NOW)), Reason::OverCount);
        assert_eq!(reason(ledger.check(&[Spend { cost: 1, ..b }], NOW)), Reason::CacheFull);
        assert_eq!(reason(ledger.check(&[b], NOW.after(101))), Reason::Expired);
    }

    #[test]
    fn a_grant_that_stands_twice_in_a_list_is_charged_twice() {
        let mut ledger = MemoryLedger::new(1);
        let (thrice, dear) = (spend("thrice", Some(3), None, 0), spend("dear", None, Some(10), 6));
        ledger.spend(&[thrice, thrice], NOW).unwrap();
        assert_eq!(reason(ledger.spend(&[thrice, thrice], NOW)), Reason::OverCount);
        ledger.spend(&[thrice], NOW).unwrap();
        assert_eq!(reason(ledger.spend(&[dear, dear], NOW)), Reason::OverBudget);
    }

    #[test]
    fn each_root_has_its_room() {
        let mut ledger = MemoryLedger::new(100).per_root(1);
        let (a, b) = (spend("a", Some(5), None, 0), spend("b", Some(5), None, 0));
        assert_eq!(reason(ledger.spend(&[a, b], NOW)), Reason::CacheFull);
        ledger.spend(&[a], NOW).unwrap();
        ledger.spend(&[a], NOW).unwrap();
        assert_eq!(reason(ledger.spend(&[b], NOW)), Reason::CacheFull);
        let other = Agent::from_seed(MasterSeed::from_bytes(&[2; 32]));
        ledger.spend(&[Spend { id: b.id.on_account_of(other.did()), ..b }], NOW).unwrap();
    }

    #[test]
    fn room_is_bounded_and_time_does_not_run_back() {
        let mut ledger = MemoryLedger::new(1);
        let (a, b) = (spend("a", Some(5), None, 0), spend("b", Some(5), None, 0));
        assert_eq!(reason(ledger.spend(&[a, b], NOW)), Reason::CacheFull);
        ledger.spend(&[a], NOW).unwrap();
        assert_eq!(reason(ledger.spend(&[b], NOW)), Reason::CacheFull);
        let later = NOW.after(101);
        let c = Spend { until: NOW.after(200), ..b };
        ledger.spend(&[c], later).unwrap();
        assert_eq!(reason(ledger.spend(&[a], NOW)), Reason::Expired);
    }
}
