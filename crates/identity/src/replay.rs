//! Memory of what was seen, so that nothing is taken twice.

use crate::delegation::{Ledger, Spend};
use crate::{Did, Error, Reason, Result, Timestamp};
use std::collections::{BTreeSet, HashMap};

/// Remembers nonces until what carried them has expired.
///
/// Anybody can make keys (`did:key`), and with each sign as much as they like: a memory that remembers whatever verifies can
/// be filled by strangers, and then refuses everybody. Remember after it was decided that the signer may act
/// ([`PendingReplay`]), or verify with a resolver that knows only whom you expect; and give each signer only so much room
/// ([`MemoryReplayCache::per_signer`]).
///
/// An implementation that outlives the process stores what [`ReplayCache::remember`] is given before it answers.
pub trait ReplayCache {
    /// Remembers an id until that time.
    ///
    /// # Errors
    ///
    /// [`Reason::Replayed`] if it is known; [`Reason::CacheFull`] if there is no room and nothing has expired: an entry
    /// is never dropped early. [`Reason::Expired`] if `until` is before a time at which entries were dropped.
    fn remember(&mut self, id: &ReplayId, until: Timestamp, now: Timestamp) -> Result<()>;
}

/// What a [`ReplayCache`] remembers: the hash of a kind of object, its signer and its nonce.
#[derive(Clone, Copy, Debug)]
pub struct ReplayId {
    hash: [u8; 32],
    account: Account,
}

/// On whose account something is remembered: the beginning of the hash of a DID.
pub(crate) type Account = [u8; 16];

impl ReplayId {
    /// The id of a nonce of this signer in this kind of object, on the signer's account.
    pub fn new(kind: &str, signer: &Did, nonce: &str) -> Self {
        let mut hasher = blake3::Hasher::new_derive_key("gambeson 2026-11-22 v1 replay id");
        for part in [kind, signer.as_str(), nonce] {
            hasher.update(&(part.len() as u64).to_be_bytes()).update(part.as_bytes());
        }
        Self { hash: hasher.finalize().into(), account: Account::default() }.on_account_of(signer)
    }

    /// The same id on the account of another: of the root in whose name all below it act.
    #[must_use]
    pub fn on_account_of(mut self, did: &Did) -> Self {
        let hash = blake3::derive_key("gambeson 2026-11-22 v1 replay account", did.as_str().as_bytes());
        self.account.copy_from_slice(&hash[..16]);
        self
    }

    /// The hash.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.hash
    }

    /// On whose account it is remembered, for memories that give each only so much room.
    pub fn account(&self) -> &[u8; 16] {
        &self.account
    }
}

// Whose account it is on does not make it another.

impl PartialEq for ReplayId {
    fn eq(&self, other: &Self) -> bool {
        self.hash == other.hash
    }
}

impl Eq for ReplayId {}

impl PartialOrd for ReplayId {
    fn partial_cmp(&self, other: &Self) -> Option<core::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for ReplayId {
    fn cmp(&self, other: &Self) -> core::cmp::Ordering {
        self.hash.cmp(&other.hash)
    }
}

impl core::hash::Hash for ReplayId {
    fn hash<H: core::hash::Hasher>(&self, state: &mut H) {
        self.hash.hash(state);
    }
}

/// Nonces that wait until what they came with is permitted too. Who verifies actions of strangers remembers so nothing of
/// those that may do nothing: they cannot fill the memory, however many keys they make.
///
/// What was verified with it may have been seen before: only the [`Ledger`](crate::delegation::Ledger) of
/// [`PendingReplay::before`], or [`PendingReplay::settle`], tells. Act on nothing earlier.
///
/// ```
/// use gambeson_identity::{
///     Agent, CardContent, CardLog, CardStore, MemoryReplayCache, PendingReplay, Reason, Timestamp,
///     action::{self, Action, Call, Expectations},
///     delegation::{Authority, Evidence, MemoryLedger, NoStatus, Policy, authorize},
/// };
///
/// let (agent, now) = (Agent::generate()?, Timestamp(1_795_330_800));
/// let mut known = CardStore::default();
/// known.add(CardLog::new(agent.first_card(now, now.after(86_400), &CardContent::default())?)?)?;
/// let bank = "did:web:bank.example";
/// let policy = Policy::default().trust(bank.parse()?, agent.did().clone());
/// let authority = Authority { policy: &policy, resolver: &known, status: &NoStatus };
/// let (mut replay, mut ledger) = (MemoryReplayCache::new(1000), MemoryLedger::new(1000));
///
/// let action = Action::new(&agent, Call::new("tools/call", "pay", Default::default()), bank, now)?;
/// let token = action.sign(&agent)?;
/// let mut decide = || {
///     let mut pending = PendingReplay::default();
///     let expected = Expectations::new(bank);
///     let action = action::verify(&action.to_json(), &token, &expected, &known, now, &mut pending)?;
///     let mut ledger = pending.before(&mut replay, &mut ledger);
///     authorize(&action, &Evidence::default(), None, &authority, &mut ledger, now)
/// };
/// assert_eq!(&decide()?.root, agent.did());
/// assert_eq!(decide().unwrap_err().reason(), Reason::Replayed);
/// # Ok::<(), gambeson_identity::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct PendingReplay(Vec<(ReplayId, Timestamp)>);

impl PendingReplay {
    /// Remembers what waits.
    ///
    /// # Errors
    ///
    /// As [`ReplayCache::remember`].
    pub fn settle(self, cache: &mut dyn ReplayCache, now: Timestamp) -> Result<()> {
        self.0.iter().try_for_each(|(id, until)| cache.remember(id, *until, now))
    }

    /// The ledger with which [`authorize`](crate::delegation::authorize) remembers what waits, when all else is decided and `ledger`
    /// has been asked too ([`Ledger::check`]), and then takes from `ledger`. It is on the account of the root in whose name the
    /// action is done, however many keys the delegates below it make.
    pub fn before<'a>(self, cache: &'a mut dyn ReplayCache, ledger: &'a mut dyn Ledger) -> impl Ledger + 'a {
        Settling { pending: self, cache, ledger }
    }
}

impl ReplayCache for PendingReplay {
    fn remember(&mut self, id: &ReplayId, until: Timestamp, _: Timestamp) -> Result<()> {
        self.0.push((*id, until));
        Ok(())
    }
}

struct Settling<'a> {
    pending: PendingReplay,
    cache: &'a mut dyn ReplayCache,
    ledger: &'a mut dyn Ledger,
}

impl Ledger for Settling<'_> {
    fn check(&mut self, spends: &[Spend], now: Timestamp) -> Result<()> {
        self.ledger.check(spends, now)
    }

    fn spend(&mut self, spends: &[Spend], now: Timestamp) -> Result<()> {
        // Who is refused for what is used up may come again, and fills no memory meanwhile; and what was seen before takes nothing.
        self.ledger.check(spends, now)?;
        core::mem::take(&mut self.pending).settle(self.cache, now)?;
        self.ledger.spend(spends, now)
    }

    fn spend_on_account_of(&mut self, root: &Did, spends: &[Spend], now: Timestamp) -> Result<()> {
        for (id, _) in &mut self.pending.0 {
            *id = id.on_account_of(root);
        }
        self.spend(spends, now)
    }
}

/// A [`ReplayCache`] in memory, of at most so many ids.
///
/// About 150 bytes an id. It is empty after a restart: then refuse what was signed before, or keep ids elsewhere.
///
/// ```
/// use gambeson_identity::{Agent, MemoryReplayCache, Reason, ReplayCache, ReplayId, Timestamp};
///
/// let mut cache = MemoryReplayCache::new(1000);
/// let id = ReplayId::new("example", Agent::generate()?.did(), "1");
/// let now = Timestamp(1_795_330_800);
/// cache.remember(&id, now.after(120), now)?;
/// assert_eq!(cache.remember(&id, now.after(120), now).unwrap_err().reason(), Reason::Replayed);
/// # Ok::<(), gambeson_identity::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct MemoryReplayCache(Expiring<ReplayId, ()>);

impl MemoryReplayCache {
    /// A cache of at most `capacity` ids.
    pub fn new(capacity: usize) -> Self {
        Self(Expiring::new(capacity))
    }

    /// The same with room for so many ids of each signer; of each root, for what came by [`PendingReplay::before`].
    #[must_use]
    pub fn per_signer(mut self, most: usize) -> Self {
        self.0.each = most;
        self
    }

    /// How many ids it holds.
    pub fn len(&self) -> usize {
        self.0.entries.len()
    }

    /// Whether it holds none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl ReplayCache for MemoryReplayCache {
    fn remember(&mut self, id: &ReplayId, until: Timestamp, now: Timestamp) -> Result<()> {
        self.0.advance(now);
        if self.0.get(id).is_some() {
            return Err(Error::new(Reason::Replayed, "this nonce was seen before"));
        }
        self.0.room([id.account])?;
        self.0.insert(*id, until, id.account, ())
    }
}

/// A bounded map whose entries are dropped when their time is over, and never before.
#[derive(Clone, Debug)]
pub(crate) struct Expiring<K, V> {
    entries: HashMap<K, (Timestamp, Account, V)>,
    by_end: BTreeSet<(Timestamp, K)>,
    capacity: usize,
    /// How many entries are on each account, and how many may be.
    accounts: HashMap<Account, usize>,
    pub(crate) each: usize,
    /// Entries that ended before this were dropped, so nothing that ends before it may come in again: a clock that is
    /// set back would give it a second life.
    newest: Timestamp,
}

impl<K: Clone + Ord + core::hash::Hash, V> Expiring<K, V> {
    pub(crate) fn new(capacity: usize) -> Self {
        Self {
            entries: HashMap::new(),
            by_end: BTreeSet::new(),
            capacity,
            accounts: HashMap::new(),
            each: usize::MAX,
            newest: Timestamp(0),
        }
    }

    /// Drops what ended before `now`.
    pub(crate) fn advance(&mut self, now: Timestamp) {
        self.newest = self.newest.max(now);
        while let Some((_, key)) = self.by_end.first().filter(|(end, _)| *end < self.newest).cloned() {
            self.by_end.pop_first();
            if let Some((_, account, _)) = self.entries.remove(&key) {
                self.release(&account);
            }
        }
    }

    pub(crate) fn get(&self, key: &K) -> Option<&V> {
        self.entries.get(key).map(|(_, _, value)| value)
    }

    /// Refuses if one more entry on each of these accounts does not fit.
    pub(crate) fn room(&self, accounts: impl IntoIterator<Item = Account>) -> Result<()> {
        let mut more = HashMap::new();
        let mut count = self.entries.len();
        for account in accounts {
            count += 1;
            let held =
                more.entry(account).or_insert_with(|| self.accounts.get(&account).copied().unwrap_or(0));
            *held += 1;
            if *held > self.each {
                return Err(Error::new(
                    Reason::CacheFull,
                    format_args!(
                        "the room for {} entries of one account is full, and none has expired",
                        self.each
                    ),
                ));
            }
        }
        match count <= self.capacity {
            true => Ok(()),
            false => Err(Error::new(
                Reason::CacheFull,
                format_args!("the memory of {} entries is full, and none has expired", self.capacity),
            )),
        }
    }

    /// Refuses what would end before a time that was seen.
    pub(crate) fn timely(&self, until: Timestamp) -> Result<()> {
        match until >= self.newest {
            true => Ok(()),
            false => Err(Error::new(
                Reason::Expired,
                format_args!("it ended at {until}, and {} was seen already", self.newest),
            )),
        }
    }

    /// Adds an entry, or replaces the value of one; the caller has looked for room.
    pub(crate) fn insert(&mut self, key: K, until: Timestamp, account: Account, value: V) -> Result<()> {
        self.timely(until)?;
        if let Some((end, before, _)) = self.entries.insert(key.clone(), (until, account, value)) {
            self.by_end.remove(&(end, key.clone()));
            self.release(&before);
        }
        self.by_end.insert((until, key));
        *self.accounts.entry(account).or_default() += 1;
        Ok(())
    }

    fn release(&mut self, account: &Account) {
        if let Some(held) = self.accounts.get_mut(account) {
            *held -= 1;
            if *held == 0 {
                self.accounts.remove(account);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Agent, MasterSeed};

    fn id(nonce: &str) -> ReplayId {
        ReplayId::new("test", Agent::from_seed(MasterSeed::from_bytes(&[1; 32])).did(), nonce)
    }

    #[test]
    fn a_full_cache_refuses_and_forgets_nothing_before_its_time() {
        let mut cache = MemoryReplayCache::new(2);
        let now = Timestamp(1000);
        cache.remember(&id("a"), now.after(10), now).unwrap();
        cache.remember(&id("b"), now.after(20), now).unwrap();
        let reason = |result: Result<()>| result.unwrap_err().reason();
        assert_eq!(reason(cache.remember(&id("c"), now.after(30), now)), Reason::CacheFull);
        assert_eq!(reason(cache.remember(&id("a"), now.after(10), now.after(10))), Reason::Replayed);
        cache.remember(&id("c"), now.after(30), now.after(11)).unwrap();
        assert_eq!(cache.len(), 2);
        assert_eq!(reason(cache.remember(&id("b"), now.after(20), now.after(20))), Reason::Replayed);
    }

    #[test]
    fn each_signer_has_its_room_and_gets_it_back_in_time() {
        let (now, mut cache) = (Timestamp(1000), MemoryReplayCache::new(100).per_signer(2));
        let other = Agent::from_seed(MasterSeed::from_bytes(&[2; 32]));
        cache.remember(&id("a"), now.after(10), now).unwrap();
        cache.remember(&id("b"), now.after(20), now).unwrap();
        assert_eq!(cache.remember(&id("c"), now.after(30), now).unwrap_err().reason(), Reason::CacheFull);
        cache.remember(&ReplayId::new("test", other.did(), "a"), now.after(30), now).unwrap();
        cache.remember(&id("c"), now.after(30), now.after(11)).unwrap();
        assert_eq!(cache.len(), 3);
    }

    #[test]
    fn what_waits_is_remembered_when_the_ledger_is_asked_and_not_before() {
        let (now, mut cache) = (Timestamp(1000), MemoryReplayCache::new(1));
        let mut ledger = crate::delegation::MemoryLedger::new(1);
        let wait = || {
            let mut pending = PendingReplay::default();
            pending.remember(&id("a"), now.after(10), now).unwrap();
            pending
        };
        drop(wait());
        assert!(cache.is_empty());
        wait().before(&mut cache, &mut ledger).spend(&[], now).unwrap();
        assert_eq!(cache.len(), 1);
        let again = wait().before(&mut cache, &mut ledger).spend(&[], now);
        assert_eq!(again.unwrap_err().reason(), Reason::Replayed);
    }

    #[test]
    fn what_the_ledger_refuses_is_not_remembered_and_may_come_again() {
        let (now, mut cache) = (Timestamp(1000), MemoryReplayCache::new(10));
        let mut ledger = crate::delegation::MemoryLedger::new(1);
        let grant = |name: &str, calls| Spend {
            id: id(name),
            until: now.after(20),
            calls: Some(calls),
            budget: Some(1),
            cost: 0,
        };
        let ask = |nonce, spend, now: Timestamp, cache: &mut MemoryReplayCache, ledger: &mut dyn Ledger| {
            let mut pending = PendingReplay::default();
            pending.remember(&id(nonce), now.after(60), now).unwrap();
            pending.before(cache, ledger).spend(&[spend], now).map_err(|error| error.reason())
        };
        ask("first", grant("once", 1), now, &mut cache, &mut ledger).unwrap();
        for (spend, refusal) in [
            (grant("once", 1), Reason::OverCount),
            (Spend { cost: 2, ..grant("once", 2) }, Reason::OverBudget),
            (grant("other", 1), Reason::CacheFull),
        ] {
            assert_eq!(ask("second", spend, now, &mut cache, &mut ledger), Err(refusal));
            assert_eq!(cache.len(), 1, "{refusal:?}");
        }
        // What was seen takes nothing: the second of two calls is left.
        let twice = grant("once", 2);
        assert_eq!(ask("first", twice, now, &mut cache, &mut ledger), Err(Reason::Replayed));
        ask("second", twice, now, &mut cache, &mut ledger).unwrap();
        // There is room again when the grant before has ended.
        let later = now.after(21);
        let other = Spend { until: later.after(20), ..grant("other", 1) };
        ask("third", other, later, &mut cache, &mut ledger).unwrap();
        assert_eq!(cache.len(), 3);
    }

    #[test]
    fn what_is_done_in_the_name_of_one_root_is_on_its_account() {
        let (now, mut cache) = (Timestamp(1000), MemoryReplayCache::new(100).per_signer(2));
        let mut ledger = crate::delegation::MemoryLedger::new(1);
        let agents: Vec<_> =
            (1..=4).map(|seed| Agent::from_seed(MasterSeed::from_bytes(&[seed; 32]))).collect();
        let mut ask = |signer: &Agent, root: &Agent| {
            let mut pending = PendingReplay::default();
            pending.remember(&ReplayId::new("test", signer.did(), "a"), now.after(60), now).unwrap();
            let mut ledger = pending.before(&mut cache, &mut ledger);
            ledger.spend_on_account_of(root.did(), &[], now).map_err(|error| error.reason())
        };
        assert_eq!(ask(&agents[1], &agents[0]), Ok(()));
        assert_eq!(ask(&agents[2], &agents[0]), Ok(()));
        assert_eq!(ask(&agents[3], &agents[0]), Err(Reason::CacheFull));
        assert_eq!(ask(&agents[3], &agents[3]), Ok(()));
    }

    #[test]
    fn a_clock_that_is_set_back_revives_nothing() {
        let mut cache = MemoryReplayCache::new(2);
        let now = Timestamp(1000);
        cache.remember(&id("a"), now.after(10), now).unwrap();
        cache.remember(&id("b"), now.after(90), now.after(50)).unwrap();
        assert_eq!(cache.remember(&id("a"), now.after(10), now).unwrap_err().reason(), Reason::Expired);
    }

    #[test]
    fn ids_tell_kind_signer_and_nonce_apart() {
        let signer = Agent::from_seed(MasterSeed::from_bytes(&[1; 32]));
        let other = Agent::from_seed(MasterSeed::from_bytes(&[2; 32]));
        let all = [
            ReplayId::new("a", signer.did(), "bc"),
            ReplayId::new("ab", signer.did(), "c"),
            ReplayId::new("a", signer.did(), "b"),
            ReplayId::new("a", other.did(), "bc"),
        ];
        assert_eq!(all.iter().collect::<std::collections::HashSet<_>>().len(), all.len());
    }
}
