//! Bitstring Status List 1.0: whether a credential was revoked or suspended, without asking for that credential.

use super::credential::{self, Credential};
use super::model::{has_type, objects};
use crate::delegation::StatusCheck;
use crate::document::is_uri;
use crate::error::bad;
use crate::{Agent, Did, Error, Reason, Resolver, Result, Timestamp, Verified, encoding, gzip};
use flate2::{Compression, write::GzEncoder};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::sync::Arc;

/// The fewest entries of a list (Bitstring Status List 1.0, §2.2): 16 KiB, so that one among them says little.
pub const MIN_ENTRIES: usize = 131_072;

/// The most entries of a list that is read: 1 MiB of bits.
pub const MAX_ENTRIES: usize = 8 << 20;

/// The longest credential of a list that is read, in characters.
pub const MAX_STATUS_LIST: usize = 2 << 20;

/// The type of a list's credential (§2.2).
pub(super) const LIST_CREDENTIAL: &str = "BitstringStatusListCredential";

/// The type of its subject (§2.2).
pub(super) const LIST: &str = "BitstringStatusList";

/// The type of an entry (§2.1).
pub(crate) const ENTRY: &str = "BitstringStatusListEntry";

/// The purposes of the standard that say nothing about validity (§2.2).
const INFORMATIVE: [&str; 2] = ["refresh", "message"];

/// What a bit that is set means (§2.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StatusPurpose {
    /// Revoked for good.
    Revocation,
    /// Suspended for a time.
    Suspension,
}

impl StatusPurpose {
    /// Its name in the standard.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Revocation => "revocation",
            Self::Suspension => "suspension",
        }
    }

    fn read(name: &str) -> Option<Self> {
        [Self::Revocation, Self::Suspension].into_iter().find(|purpose| purpose.name() == name)
    }

    /// The issuer's act that a set bit stands for.
    fn done(self) -> &'static str {
        match self {
            Self::Revocation => "revoked",
            Self::Suspension => "suspended",
        }
    }

    fn refusal(self) -> Reason {
        match self {
            Self::Revocation => Reason::Revoked,
            Self::Suspension => Reason::Suspended,
        }
    }
}

/// Where the status of a credential stands (§2.1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatusEntry {
    /// The URL of the list's credential.
    pub list: String,
    /// The number of the bit, from 0.
    pub index: usize,
    /// What the bit means.
    pub purpose: StatusPurpose,
}

impl StatusEntry {
    /// The member of `credentialStatus`.
    pub fn to_json(&self) -> Value {
        json!({
            "type": ENTRY,
            "statusPurpose": self.purpose.name(),
            "statusListIndex": self.index.to_string(),
            "statusListCredential": self.list,
        })
    }

    /// Reads an entry; `None` for one whose bits say something that does not bear on validity.
    fn read(entry: &Map<String, Value>) -> Result<Option<Self>> {
        let text = |name: &str| {
            entry
                .get(name)
                .and_then(Value::as_str)
                .ok_or_else(|| bad(format_args!("a status entry must have {name}")))
        };
        let index = text("statusListIndex")?;
        let index = crate::kdf::decimal(index)
            .ok_or_else(|| bad("statusListIndex must be a number in decimal digits"))?;
        // Beyond what can be counted here it is beyond every list.
        let index = usize::try_from(index).unwrap_or(usize::MAX);
        let list = text("statusListCredential")?;
        if !is_uri(list) {
            return Err(bad("statusListCredential must be a URL"));
        }
        if entry.get("id").is_some_and(|id| id == list) {
            return Err(bad("the id of a status entry is not that of its list"));
        }
        let purpose = text("statusPurpose")?;
        if INFORMATIVE.contains(&purpose) {
            return Ok(None);
        }
        let purpose = StatusPurpose::read(purpose).ok_or_else(|| {
            Error::new(Reason::UnknownStatus, format_args!("unknown purpose {purpose:?} of a status"))
        })?;
        if entry.get("statusSize").is_some_and(|size| size.as_u64() != Some(1)) {
            return Err(bad("revocation and suspension must have one bit (statusSize)"));
        }
        Ok(Some(Self { list: list.to_owned(), index, purpose }))
    }
}

/// Refuses entries of status lists that their verifier refuses, for whoever signs what has them.
pub(crate) fn check_entries(credential: &Map<String, Value>) -> Result<()> {
    for entry in objects(credential, "credentialStatus")? {
        if has_type(entry, ENTRY) {
            StatusEntry::read(entry)?;
        }
    }
    Ok(())
}

/// A list of bits for one purpose.
///
/// ```
/// use gambeson_identity::vc::{MIN_ENTRIES, StatusList, StatusPurpose};
///
/// let mut list = StatusList::new(StatusPurpose::Revocation, MIN_ENTRIES)?;
/// list.set(94_567, true)?;
/// assert!(list.is_set(94_567)? && !list.is_set(94_568)?);
/// # Ok::<(), gambeson_identity::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct StatusList {
    purpose: StatusPurpose,
    /// One list may serve both purposes.
    bits: Arc<Vec<u8>>,
}

impl StatusList {
    /// A list of so many entries, none of them set.
    ///
    /// # Errors
    ///
    /// [`Reason::OutOfRange`] below [`MIN_ENTRIES`], above [`MAX_ENTRIES`], or if it is not a multiple of eight.
    pub fn new(purpose: StatusPurpose, entries: usize) -> Result<Self> {
        if !(MIN_ENTRIES..=MAX_ENTRIES).contains(&entries) || !entries.is_multiple_of(8) {
            return Err(Error::new(
                Reason::OutOfRange,
                format_args!("a list must have {MIN_ENTRIES} to {MAX_ENTRIES} entries, eight to a byte"),
            ));
        }
        Ok(Self { purpose, bits: Arc::new(vec![0; entries / 8]) })
    }

    /// The purpose.
    pub fn purpose(&self) -> StatusPurpose {
        self.purpose
    }

    /// The number of entries.
    pub fn entries(&self) -> usize {
        self.bits.len() * 8
    }

    /// Sets or clears an entry.
    ///
    /// # Errors
    ///
    /// [`Reason::OutOfRange`]; [`Reason::Irreversible`] for a revocation that would be taken back (§2.2).
    pub fn set(&mut self, index: usize, value: bool) -> Result<()> {
        let set = self.is_set(index)?;
        if set && !value && self.purpose == StatusPurpose::Revocation {
            return Err(Error::new(
                Reason::Irreversible,
                format_args!("entry {index} was revoked, which cannot be undone"),
            ));
        }
        if set != value {
            Arc::make_mut(&mut self.bits)[index / 8] ^= mask(index);
        }
        Ok(())
    }

    /// Whether an entry is set; the first is the left-most bit of the first byte (§2.2).
    ///
    /// # Errors
    ///
    /// [`Reason::OutOfRange`].
    pub fn is_set(&self, index: usize) -> Result<bool> {
        self.bits.get(index / 8).map(|byte| byte & mask(index) != 0).ok_or_else(|| {
            Error::new(
                Reason::OutOfRange,
                format_args!("the list has {} entries and no entry {index}", self.entries()),
            )
        })
    }

    /// The value of `encodedList`: multibase `u` over GZIP (§3.3).
    pub fn encode(&self) -> String {
        let mut writer = GzEncoder::new(Vec::new(), Compression::best());
        writer.write_all(&self.bits).expect("writing to memory cannot fail");
        encoding::multibase(&writer.finish().expect("writing to memory cannot fail"))
    }

    /// Reads a value of `encodedList` (§3.4); never more than [`MAX_ENTRIES`] are unpacked.
    ///
    /// # Errors
    ///
    /// [`Reason::BadEncoding`], [`Reason::TooLarge`], [`Reason::OutOfRange`] below [`MIN_ENTRIES`].
    pub fn decode(purpose: StatusPurpose, encoded: &str) -> Result<Self> {
        let packed = encoding::from_multibase(encoded, MAX_STATUS_LIST)?;
        let (bits, rest) = gzip::unpack(&packed, MAX_ENTRIES / 8)
            .ok_or_else(|| Error::new(Reason::BadEncoding, "encodedList is not GZIP (RFC 1952)"))?;
        if bits.len() > MAX_ENTRIES / 8 {
            return Err(Error::new(
                Reason::TooLarge,
                format_args!("the list has more than {MAX_ENTRIES} entries"),
            ));
        }
        if !rest.is_empty() {
            return Err(Error::new(Reason::BadEncoding, "bytes follow the GZIP member of encodedList"));
        }
        if bits.len() * 8 < MIN_ENTRIES {
            return Err(Error::new(
                Reason::OutOfRange,
                format_args!("the list has {} entries; the minimum is {MIN_ENTRIES}", bits.len() * 8),
            ));
        }
        Ok(Self { purpose, bits: Arc::new(bits) })
    }

    fn is_any_set(&self) -> bool {
        self.bits.iter().any(|byte| *byte != 0)
    }

    /// Whether every entry that is set there is set here too.
    fn keeps(&self, there: &Self) -> bool {
        let here = self.bits.iter().chain(core::iter::repeat(&0));
        there.bits.iter().zip(here).all(|(there, here)| there & !here == 0)
    }

    /// Issues the list as a credential of its own, `vc+jwt` (§2.2).
    ///
    /// `ttl` is the time in milliseconds after which readers should fetch it again.
    ///
    /// # Errors
    ///
    /// As [`super::CredentialBuilder::issue`]; [`Reason::TooLarge`] beyond [`MAX_STATUS_LIST`].
    pub fn issue(
        &self,
        agent: &Agent,
        url: &str,
        (from, until): (Timestamp, Timestamp),
        ttl: Option<u64>,
    ) -> Result<String> {
        let mut subject = json!({
            "id": format!("{url}#list"),
            "type": LIST,
            "statusPurpose": self.purpose.name(),
            "encodedList": self.encode(),
        });
        if let Some(ttl) = ttl {
            subject["ttl"] = ttl.into();
        }
        let draft = Credential::builder().id(url).kind(LIST_CREDENTIAL).valid(from, until).subject(subject);
        credential::sign_within(agent, &draft.compose(agent), MAX_STATUS_LIST)
    }
}

fn mask(index: usize) -> u8 {
    0x80 >> (index % 8)
}

impl core::fmt::Debug for StatusList {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "StatusList({}, {} entries)", self.purpose.name(), self.entries())
    }
}

/// A status list with where it stands, who issued it, and how long it holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatusListCredential {
    url: String,
    issuer: Did,
    lists: Vec<StatusList>,
    validity: (Option<Timestamp>, Option<Timestamp>),
    ttl: Option<u64>,
}

impl StatusListCredential {
    /// Verifies the credential of a list: `vc+jwt`, or JSON with a Data Integrity proof.
    ///
    /// # Errors
    ///
    /// As [`Credential::verify`], [`StatusList::decode`], and [`Reason::BadType`] if it is another credential.
    pub fn verify(secured: &str, resolver: &dyn Resolver, now: Timestamp) -> Result<Verified<Self>> {
        let verified = credential::verify(secured, MAX_STATUS_LIST, resolver, now, Status::Ignored)?;
        let signer = verified.signer().clone();
        let mut list = Self::read(&verified)?;
        if let Some(ends) = signature_ends(secured, &verified)? {
            list.validity.1 = Some(list.validity.1.map_or(ends, |until| until.min(ends)));
        }
        Ok(Verified::new(list, signer))
    }

    fn read(credential: &Credential) -> Result<Self> {
        let subject = credential.subject();
        if !credential.has_type(LIST_CREDENTIAL) || !has_type(subject, LIST) {
            return Err(Error::new(Reason::BadType, "not a BitstringStatusListCredential"));
        }
        let url =
            credential.id().ok_or_else(|| bad("the credential of a status list must have its URL as id"))?;
        let encoded = subject.get("encodedList").and_then(Value::as_str);
        let encoded = encoded.ok_or_else(|| bad("a status list must have an encodedList"))?;
        let purposes = match subject.get("statusPurpose") {
            Some(Value::Array(all)) => &all[..],
            Some(one) => core::slice::from_ref(one),
            None => &[],
        };
        let named: BTreeSet<&str> = purposes.iter().filter_map(Value::as_str).collect();
        if purposes.is_empty() || named.len() != purposes.len() {
            return Err(bad("a status list must have one or more purposes, none of them twice"));
        }
        let ttl = match subject.get("ttl") {
            None => None,
            Some(ttl) => Some(ttl.as_u64().ok_or_else(|| bad("ttl must be a number of milliseconds"))?),
        };
        let mut purposes = named.into_iter().filter_map(StatusPurpose::read);
        // Unpacked once, however many purposes it serves.
        let first = purposes.next().map(|purpose| StatusList::decode(purpose, encoded)).transpose()?;
        let others: Vec<_> = purposes
            .zip(first.iter().cycle())
            .map(|(purpose, list)| StatusList { purpose, ..list.clone() })
            .collect();
        let lists = first.into_iter().chain(others).collect();
        Ok(Self {
            url: url.to_owned(),
            issuer: credential.issuer().clone(),
            lists,
            validity: credential.validity(),
            ttl,
        })
    }

    /// The URL, which entries name.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Who issued it.
    pub fn issuer(&self) -> &Did {
        &self.issuer
    }

    /// The list for a purpose.
    pub fn list(&self, purpose: StatusPurpose) -> Option<&StatusList> {
        self.lists.iter().find(|list| list.purpose == purpose)
    }

    /// When it begins and ends: with its signature (`exp` of a token, `expires` of a proof), where that ends earlier or nothing else
    /// does. A list that ended tells of no credential any more that it is good; what it revokes stays revoked.
    pub fn validity(&self) -> (Option<Timestamp>, Option<Timestamp>) {
        self.validity
    }

    /// Milliseconds after which it should be fetched again.
    pub fn ttl(&self) -> Option<u64> {
        self.ttl
    }
}

/// When the signature of a credential ends by its own words, which may be earlier than what it signs: `exp` (VC-JOSE-COSE, §3.1.3)
/// or `expires` of the proof (VC Data Integrity, §2.1).
fn signature_ends(secured: &str, credential: &Credential) -> Result<Option<Timestamp>> {
    if !secured.trim_ascii_start().starts_with('{') {
        return credential::numeric_date(credential.json(), "exp");
    }
    let object = crate::json::parse_object(secured.as_bytes(), MAX_STATUS_LIST)?;
    let expires = object.get("proof").and_then(|proof| proof.get("expires")).and_then(Value::as_str);
    expires.map(str::parse).transpose()
}

/// Finds verified status lists.
pub trait StatusResolver {
    /// The list of this issuer at this URL. What others say of the URL is theirs.
    ///
    /// # Errors
    ///
    /// [`Reason::UnknownStatus`] if nobody here has it.
    fn status_list(
        &self,
        issuer: &Did,
        url: &str,
        now: Timestamp,
    ) -> Result<Arc<Verified<StatusListCredential>>>;
}

/// A list, and when it came.
type Known = (Arc<Verified<StatusListCredential>>, Timestamp);

/// Status lists in memory, verified as they come in.
#[derive(Clone, Debug, Default)]
pub struct StatusStore {
    /// By URL and issuer, with the time at which they came.
    lists: BTreeMap<(String, String), Known>,
}

impl StatusStore {
    /// Verifies the credential of a list and keeps it, in place of an older one of the same issuer at the same URL.
    ///
    /// # Errors
    ///
    /// As [`StatusListCredential::verify`]; [`Reason::StaleStatus`] if the known list begins later, or begins at the same
    /// second and has entries set that this one has not, or has revocations that this one takes back.
    pub fn add(&mut self, secured: &str, resolver: &dyn Resolver, now: Timestamp) -> Result<()> {
        let list = StatusListCredential::verify(secured, resolver, now)?;
        let key = (list.url().to_owned(), list.issuer().as_str().to_owned());
        if let Some((known, _)) = self.lists.get(&key) {
            let keeps = |before: &StatusList| match list.list(before.purpose) {
                Some(after) => after.keeps(before),
                None => !before.is_any_set(),
            };
            let (begun, begins) = (known.validity().0, list.validity().0);
            let mut bound = known.lists.iter();
            // Of the same second neither is the newer; and a revocation is for good, whatever comes later.
            let goes_back = begun > begins
                || bound.any(|list| {
                    (begun == begins || list.purpose == StatusPurpose::Revocation) && !keeps(list)
                });
            if goes_back {
                return Err(Error::new(
                    Reason::StaleStatus,
                    format_args!("the list that is known at {} is newer, or revokes more", list.url()),
                ));
            }
        }
        self.lists.insert(key, (Arc::new(list), now));
        Ok(())
    }

    /// The URLs of lists that should be fetched again: their `ttl` has passed, or their validity.
    pub fn due(&self, now: Timestamp) -> impl Iterator<Item = &str> {
        self.lists.iter().filter_map(move |((url, _), (list, added))| {
            let passed = list.ttl().is_some_and(|ttl| now.since(*added) >= ttl / 1000);
            let over = list.validity().1.is_some_and(|until| until < now);
            (passed || over).then_some(url.as_str())
        })
    }
}

impl StatusResolver for StatusStore {
    fn status_list(
        &self,
        issuer: &Did,
        url: &str,
        _: Timestamp,
    ) -> Result<Arc<Verified<StatusListCredential>>> {
        let known = self.lists.get(&(url.to_owned(), issuer.as_str().to_owned()));
        known.map(|(list, _)| list.clone()).ok_or_else(|| {
            Error::new(
                Reason::UnknownStatus,
                format_args!("no status list of {issuer} at {url} is known here"),
            )
        })
    }
}

/// What verification asks about the status of a credential.
#[derive(Clone, Copy)]
pub enum Status<'a> {
    /// Each entry is looked up; one that nobody here can look up is refused.
    Required(&'a dyn StatusResolver),
    /// Each entry that can be looked up is; others are let pass, for work without a network.
    IfKnown(&'a dyn StatusResolver),
    /// Nothing. Only for those who look up the status by themselves.
    Ignored,
}

impl Status<'_> {
    /// Refuses a credential that was revoked or suspended (§3.2).
    pub(crate) fn check(self, credential: &Credential, now: Timestamp) -> Result<()> {
        if matches!(self, Self::Required(_)) && credential.json().contains_key("status") {
            return Err(Error::new(
                Reason::UnknownStatus,
                "token status lists (the claim status) are not supported",
            ));
        }
        objects(credential.json(), "credentialStatus")?
            .into_iter()
            .try_for_each(|entry| self.check_entry(credential.issuer(), entry, now))
    }

    /// Looks up one entry of a credential of this issuer.
    fn check_entry(self, issuer: &Did, entry: &Map<String, Value>, now: Timestamp) -> Result<()> {
        let (lists, required) = match self {
            Self::Required(lists) => (lists, true),
            Self::IfKnown(lists) => (lists, false),
            Self::Ignored => return Ok(()),
        };
        let verdict = match has_type(entry, ENTRY) {
            true => look_up(issuer, entry, lists, now),
            false => {
                Err(Error::new(Reason::UnknownStatus, "a status of another kind than Bitstring Status List"))
            }
        };
        match verdict {
            Err(error) if error.reason() == Reason::UnknownStatus && !required => Ok(()),
            other => other,
        }
    }
}

impl StatusCheck for Status<'_> {
    fn check(&self, issuer: &Did, entry: &Map<String, Value>, now: Timestamp) -> Result<()> {
        self.check_entry(issuer, entry, now)
    }
}

impl StatusCheck for StatusStore {
    fn check(&self, issuer: &Did, entry: &Map<String, Value>, now: Timestamp) -> Result<()> {
        Status::Required(self).check_entry(issuer, entry, now)
    }
}

impl core::fmt::Debug for Status<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Self::Required(_) => "Required",
            Self::IfKnown(_) => "IfKnown",
            Self::Ignored => "Ignored",
        })
    }
}

fn look_up(
    issuer: &Did,
    entry: &Map<String, Value>,
    lists: &dyn StatusResolver,
    now: Timestamp,
) -> Result<()> {
    let Some(entry) = StatusEntry::read(entry)? else { return Ok(()) };
    let found = lists.status_list(issuer, &entry.list, now)?;
    // Who may revoke is who issued: another issuer's list at that URL says nothing about this credential.
    if found.url() != entry.list || found.issuer() != issuer {
        return Err(Error::new(
            Reason::WrongIssuer,
            format_args!("the list {} was not issued by {issuer}", entry.list),
        ));
    }
    let list = found.list(entry.purpose).ok_or_else(|| {
        bad(format_args!("the list {} is not for the purpose {}", entry.list, entry.purpose.name()))
    })?;
    let set = list.is_set(entry.index)?;
    let (from, until) = found.validity();
    let held = now.within(from, until, "the status list");
    // What was revoked stays so, even if the list that tells it is old.
    if set && (held.is_ok() || entry.purpose == StatusPurpose::Revocation) {
        return Err(Error::new(
            entry.purpose.refusal(),
            format_args!("{} by its issuer (entry {} of {})", entry.purpose.done(), entry.index, entry.list),
        ));
    }
    // Beyond that a list out of its time tells no more than none.
    held.map_err(|error| Error::new(Reason::UnknownStatus, error.detail()))
}
