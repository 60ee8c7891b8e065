//! The agent's own status list, and those of others that it knows.
//!
//! `status/` holds `list.json` (what was given out and what was revoked) and `list.jwt` (the list, signed);
//! `status/known/` the signed lists of others.

use super::Session;
use super::home::private_folder;
use crate::error::Error;
use crate::files::{self, Access};
use gambeson_identity::delegation::StatusCheck;
use gambeson_identity::vc::{
    MAX_STATUS_LIST, MIN_ENTRIES, Status, StatusEntry, StatusList, StatusListCredential, StatusPurpose,
    StatusResolver, StatusStore,
};
use gambeson_identity::{Agent, Did, DidDocument, Reason, Resolver, Timestamp, Verified};
use serde_json::{Map, Value, json};
use std::cell::RefCell;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

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
    /// Reads the list, or begins it where there can have been none.
    pub(super) fn open(session: &Session) -> Result<Self, Error> {
        Self::find(session)?.ok_or_else(|| {
            let message = format!(
                "{}: the status list of this agent is missing, and an empty one would undo its revocations; \
                     gambeson agent restore restores it from a backup, gambeson agent cred status --begin-anew \
                     begins another under another URL",
                path(session).display()
            );
            Error::outside(message).because("no-status-list")
        })
    }

    /// The list; none if the agent was elsewhere before, where there may be one, or if one was signed here and is gone.
    pub(super) fn find(session: &Session) -> Result<Option<Self>, Error> {
        match (Self::kept(session)?, session.home.recovered()?) {
            (Some(list), _) => Ok(Some(list)),
            (None, Some(_)) => Ok(None),
            (None, None) if folder(session).join("list.jwt").exists() => Ok(None),
            (None, None) => Self::empty(format!("{}/status/1", session.home.owner()?)).map(Some),
        }
    }

    /// A list under a URL that no other has: what was given out of a lost one stays as it was revoked there, and cannot be
    /// revoked here.
    pub(super) fn begin_anew(session: &Session) -> Result<Self, Error> {
        match Self::kept(session)? {
            None => Self::empty(format!("{}/status/{}", session.home.owner()?, session.now.0)),
            Some(list) => Err(Error::usage(format!("there is a status list already, {}", list.url))),
        }
    }

    fn empty(url: String) -> Result<Self, Error> {
        let list = StatusList::new(StatusPurpose::Revocation, MIN_ENTRIES).map_err(Error::damaged)?;
        Ok(Self { url, given: Map::new(), list })
    }

    fn kept(session: &Session) -> Result<Option<Self>, Error> {
        let path = path(session);
        let text = match fs::read(&path) {
            Ok(text) => text,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(Error::io(&path, &e)),
        };
        let list = Self::read(&text, &session.home.owner()?);
        list.ok_or_else(|| Error::outside(format!("{}: is damaged", path.display()))).map(Some)
    }

    /// The list of this agent, out of what is kept of it.
    pub(super) fn read(text: &[u8], owner: &Did) -> Option<Self> {
        let mut file: Map<String, Value> = serde_json::from_slice(text).ok()?;
        match (file.remove("url"), file.remove("given"), file.remove("list")) {
            (Some(Value::String(url)), Some(Value::Object(given)), Some(Value::String(list)))
                if url.strip_prefix(owner.as_str()).is_some_and(|path| path.starts_with("/status/")) =>
            {
                let list = StatusList::decode(StatusPurpose::Revocation, &list).ok()?;
                Some(Self { url, given, list })
            }
            _ => None,
        }
    }

    /// The list as it is kept and backed up.
    pub(super) fn to_json(&self) -> String {
        json!({"version": 1, "url": self.url, "given": self.given, "list": self.list.encode()}).to_string()
    }

    /// Whether this is a list that was signed of it.
    pub(super) fn is(&self, signed: &StatusListCredential, owner: &Did) -> bool {
        signed.issuer() == owner && signed.url() == self.url
    }

    /// Takes over what was revoked in a list that others have, and this agent's folder may have forgotten; how much that was.
    pub(super) fn catch_up(&mut self, signed: &StatusListCredential) -> Result<usize, Error> {
        let Some(theirs) = signed.list(StatusPurpose::Revocation) else { return Ok(0) };
        let mut fresh = 0;
        for index in 0..theirs.entries().min(self.list.entries()) {
            if theirs.is_set(index).map_err(Error::damaged)? {
                fresh += usize::from(self.set(index)?);
            }
        }
        Ok(fresh)
    }

    /// Sets a bit for good; whether it was not set yet.
    fn set(&mut self, index: usize) -> Result<bool, Error> {
        let before = self.list.is_set(index).map_err(Error::from_request)?;
        self.list.set(index, true).map_err(Error::damaged)?;
        // Given out, though an older list does not know until when.
        self.given.entry(index.to_string()).or_insert(0.into());
        Ok(!before)
    }

    /// An entry that was not given out, at a random place, so that indexes do not tell in which order credentials were
    /// issued.
    pub(super) fn take(&mut self, until: Timestamp) -> Result<StatusEntry, Error> {
        if self.given.len() >= self.list.entries() / 2 {
            return Err(Error::outside(
                "the status list is full: half of its entries are assigned, and none is used twice; issue with \
                     another agent",
            ));
        }
        loop {
            let mut random = [0; 4];
            getrandom::fill(&mut random).map_err(|_| Error::randomness(gambeson::RngError))?;
            let index = u32::from_be_bytes(random) as usize % self.list.entries();
            let name = index.to_string();
            if !self.given.contains_key(&name) && !self.list.is_set(index).map_err(Error::damaged)? {
                self.given.insert(name, until.0.into());
                return Ok(StatusEntry { list: self.url.clone(), index, purpose: StatusPurpose::Revocation });
            }
        }
    }

    /// Revokes what has this entry; whether it was not revoked yet.
    pub(super) fn revoke(&mut self, entry: &Value) -> Result<bool, Error> {
        let index =
            entry["statusListIndex"].as_str().filter(|_| entry["statusListCredential"] == self.url.as_str());
        let index: Option<usize> = index.and_then(|index| index.parse().ok());
        // A list out of a backup does not know what was given out after it.
        self.set(index.ok_or_else(|| Error::usage("its status is not an entry of this agent's list"))?)
    }

    /// Writes the list down, and signs it.
    pub(super) fn keep(&self, session: &Session, agent: &Agent) -> Result<(), Error> {
        let signed = self.sign(agent, session.now, USUAL_HOURS)?;
        let folder = folder(session);
        private_folder(&folder)?;
        files::write_own(&path(session), self.to_json().as_bytes(), Access::Private, true)?;
        files::write_own(&folder.join("list.jwt"), signed.as_bytes(), Access::Private, true)
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

/// Verifies a list that was kept. One whose time is over is verified as of its beginning, so that what it revokes stays
/// revoked; with it that time.
///
/// The documents are those of today in any case: a list under a key that was revoked since does not hold.
pub(super) fn verify_kept(
    session: &Session,
    list: &str,
) -> gambeson_identity::Result<(Verified<StatusListCredential>, Timestamp)> {
    let error = match StatusListCredential::verify(list, &*session.resolver(), session.now) {
        Ok(verified) => return Ok((verified, session.now)),
        Err(error) => error,
    };
    let Some(begin) = begin(list).filter(|_| error.reason() == Reason::Expired) else { return Err(error) };
    let verified = StatusListCredential::verify(list, &Today(session), begin)?;
    // Where it is the key or the card that ended, a verifier would take the list for one that runs.
    match verified.validity().1.is_some_and(|until| until < session.now) {
        true => Ok((verified, begin)),
        false => Err(error),
    }
}

/// When a list begins by its own words, which are verified as of then.
fn begin(list: &str) -> Option<Timestamp> {
    let claims = super::credentials::unverified(list, MAX_STATUS_LIST).ok()?;
    let time = |value: Option<&Value>| value.and_then(Value::as_str).and_then(|time| time.parse().ok());
    let number = |name: &str| claims.get(name).and_then(Value::as_u64).map(Timestamp);
    let created = time(claims.get("proof").and_then(|proof| proof.get("created")));
    time(claims.get("validFrom")).max(created).max(number("iat")).max(number("nbf"))
}

/// Finds documents as they are today, whatever time is asked about.
struct Today<'a>(&'a Session);

impl Resolver for Today<'_> {
    fn resolve(&self, did: &Did, _: Timestamp) -> gambeson_identity::Result<Arc<DidDocument>> {
        self.0.resolver.resolve(did, self.0.now)
    }
}

/// Every list that is known here: this agent's own and those of others. Of those whose time is over the revocations count.
pub(super) fn known(session: &Session) -> StatusStore {
    let mut store = StatusStore::default();
    let folder = folder(session);
    let others = fs::read_dir(folder.join("known")).into_iter().flatten().flatten().map(|entry| entry.path());
    for path in others.chain([folder.join("list.jwt")]) {
        // One that cannot be read or does not hold is not known: what it tells about is refused.
        if let Ok(list) = super::signing::text(&path) {
            let _ = verify_kept(session, &list).and_then(|(_, time)| store.add(&list, &Today(session), time));
        }
    }
    store
}

/// The lists that are known here, and how old those are that a verdict rests on.
pub(super) struct Consulted {
    store: StatusStore,
    max_age: Option<u64>,
    lists: RefCell<Vec<Lookup>>,
}

/// Result of a look-up: the list's beginning, where it is known and names one.
#[derive(Clone, Copy)]
enum Lookup {
    Unknown,
    Undated,
    Begun(Timestamp),
}

impl Consulted {
    pub(super) fn new(session: &Session, max_age: Option<u64>) -> Self {
        Self { store: known(session), max_age, lists: RefCell::default() }
    }

    /// Counts the entries of a credential: those that were let pass without a look-up were not checked.
    pub(super) fn expect(&self, entries: usize) {
        let mut lists = self.lists.borrow_mut();
        let most = lists.len().max(entries);
        lists.resize(most, Lookup::Unknown);
    }

    /// Refuses a verdict that rests on a list older than was asked for.
    pub(super) fn check_age(&self, now: Timestamp) -> gambeson_identity::Result<()> {
        let Some(max_age) = self.max_age else { return Ok(()) };
        let stale = |what: String| Err(gambeson_identity::Error::new(Reason::StaleStatus, what));
        for list in self.lists.borrow().iter() {
            match list {
                Lookup::Unknown => {}
                Lookup::Undated => return stale("the status list does not say when it was made".to_owned()),
                Lookup::Begun(time) if now.since(*time) > max_age => {
                    return stale(format!(
                        "the status list is of {time}, {} seconds old; at most {max_age} are accepted",
                        now.since(*time)
                    ));
                }
                Lookup::Begun(_) => {}
            }
        }
        Ok(())
    }

    /// When the oldest list was made that the verdict rests on.
    pub(super) fn as_of(&self) -> Option<Timestamp> {
        let times = self.lists.borrow();
        times.iter().filter_map(|list| if let Lookup::Begun(time) = list { Some(*time) } else { None }).min()
    }

    /// The status check in words.
    pub(super) fn text(&self) -> String {
        match (self.word(), self.as_of()) {
            ("not-checked", _) => "status NOT checked: no list for it is known here".to_owned(),
            ("none", _) => "it has no status and cannot be revoked".to_owned(),
            (_, Some(time)) => format!("not revoked as of the list of {time}"),
            (_, None) => "not revoked as of a list without a date".to_owned(),
        }
    }

    /// The members of a report about the status.
    pub(super) fn members(&self) -> [(&'static str, Value); 2] {
        let as_of = self.as_of().map(|time| time.to_string());
        [("revocation", self.word().into()), ("revocationAsOf", as_of.into())]
    }

    fn word(&self) -> &'static str {
        let lists = self.lists.borrow();
        if lists.iter().any(|list| matches!(list, Lookup::Unknown)) {
            "not-checked"
        } else if lists.is_empty() {
            "none"
        } else {
            "not-revoked"
        }
    }
}

impl StatusResolver for Consulted {
    fn status_list(
        &self,
        issuer: &Did,
        url: &str,
        now: Timestamp,
    ) -> gambeson_identity::Result<Arc<Verified<StatusListCredential>>> {
        let found = self.store.status_list(issuer, url, now);
        let list = found.as_ref().ok().map(|list| list.validity());
        // Of what it does not revoke a list out of its time tells no more than none.
        let held = list.filter(|(from, until)| now.within(*from, *until, "the status list").is_ok());
        self.lists.borrow_mut().push(match held {
            None => Lookup::Unknown,
            Some((from, _)) => from.map_or(Lookup::Undated, Lookup::Begun),
        });
        found
    }
}

impl StatusCheck for Consulted {
    fn check(
        &self,
        issuer: &Did,
        entry: &Map<String, Value>,
        now: Timestamp,
    ) -> gambeson_identity::Result<()> {
        Status::Required(self).check(issuer, entry, now)
    }
}

/// Keeps the list of another issuer in the place of an older one.
pub(super) fn learn(session: &Session, list: &str) -> gambeson_identity::Result<Result<String, Error>> {
    let resolver = session.resolver();
    let verified = StatusListCredential::verify(list, &*resolver, session.now)?;
    let mut store = known(session);
    store.add(list, &*resolver, session.now)?;
    let folder = folder(session).join("known");
    // Of this issuer: what others say of the URL takes no place of its lists.
    let key = format!("{} {}", verified.issuer(), verified.url());
    let name = crate::harness::hex(blake3::hash(key.as_bytes()).as_bytes());
    let kept = private_folder(&folder).and_then(|()| {
        files::write_own(&folder.join(format!("{name}.jwt")), list.as_bytes(), Access::Private, true)
    });
    Ok(kept.map(|()| verified.url().to_owned()))
}

fn folder(session: &Session) -> PathBuf {
    session.home.folder().join("status")
}

/// Where the agent's own list stands.
pub(super) fn path(session: &Session) -> PathBuf {
    folder(session).join("list.json")
}
