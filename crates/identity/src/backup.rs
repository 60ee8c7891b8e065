//! What an agent has besides its seed, sealed to itself: cards, credentials, memory objects, and what it must not forget.
//!
//! ```
//! use gambeson_identity::backup::Backup;
//! use gambeson_identity::{Agent, CardContent, CardLog, MasterSeed, Timestamp, recovery};
//!
//! let (seed, now) = (MasterSeed::generate()?, Timestamp(1_795_330_800));
//! let words = recovery::words(&seed);
//! let agent = Agent::from_seed(seed);
//! let cards = CardLog::new(agent.first_card(now, now.after(86_400), &CardContent::default())?)?;
//!
//! let mut backup = Backup::new(&agent, now);
//! backup.set_cards(&cards);
//! backup.add_credential("employer.jwt", b"eyJ...")?;
//! backup.add_object(b"the user prefers short answers")?;
//! let file = backup.seal(&agent)?; // kept anywhere
//!
//! // A fresh machine, the words and the file.
//! let again = Agent::from_seed(recovery::from_words(&words)?);
//! let restored = Backup::open(&again, &file)?;
//! assert_eq!(restored, backup);
//! let agent = Agent::recover(recovery::from_words(&words)?, &restored.cards()?.expect("they are in it"))?;
//! # Ok::<(), gambeson_identity::Error>(())
//! ```
//!
//! In the default suite a backup is an age file to the X-Wing key `m/3'`, so that it can be opened without this crate; in `cnsa2` it is two
//! HPKE messages to the ML-KEM-1024 key. Inside is an archive of one form, authenticated with a key that only the seed gives: the key to
//! which is sealed stands in the card, so that anybody could seal to it. `docs/spec/backup.md` has the bytes.
//!
//! An old backup stays good: [`Backup::open_since`] refuses one whose cards are older than a card that is known. An agent that goes on from an
//! older card than its newest signs a second card of one number, which nobody who knows the first will take. Of its [`State`] an old backup
//! knows what was revoked, used up and taken until it was made.

use crate::agent::OpeningKey;
use crate::card::MAX_CARDS;
use crate::fields::{Fields, put_long, put_short};
use crate::memory::{MAX_OBJECT, ObjectId};
use crate::{Agent, CardLog, Did, Error, Reason, Result, Role, Suite, Timestamp};
use core::fmt;
use gambeson::mlkem;
use gambeson::secret;
use gambeson_age::{Encryptor, FileKey, Format, HeaderError, Identity, Recipient, Stanza, UnwrapFileKey};
use gambeson_hybrid::hpke::{self, Aes256Gcm, HkdfSha384, Kem, MlKem1024};
use gambeson_hybrid::xwing;
use std::collections::BTreeMap;
use std::io::{Read, Write};
use zeroize::Zeroizing;

/// The longest archive in bytes: 256 MiB.
pub const MAX_ARCHIVE: usize = 256 << 20;
/// The most entries of one archive.
pub const MAX_ENTRIES: usize = 65_536;
/// The longest credential in bytes: 1 MiB.
pub const MAX_CREDENTIAL: usize = 1 << 20;
/// The longest piece of state in bytes: 16 MiB.
pub const MAX_STATE: usize = 16 << 20;

const MAGIC: &[u8; 16] = b"gambeson backup\x01";
/// HPKE's info in suite `cnsa2`.
const INFO: &[u8] = b"gambeson backup cnsa2 v1";
const CNSA2_MAGIC: &[u8; 16] = b"gambeson b cnsa2";
const TAG_LEN: usize = 16;
/// The longest name of a credential.
const MAX_NAME: usize = 128;
/// The longest sealed backup in bytes: an archive, and what sealing adds to it (header, nonce, the tags of chunks).
pub const MAX_SEALED: usize = MAX_ARCHIVE + MAX_ARCHIVE / 4096 + (64 << 10);

// The kinds of entries, in the order in which they stand.
const CARDS: u8 = 1;
const CREDENTIAL: u8 = 2;
const OBJECT: u8 = 3;
const STATE: u8 = 4;

/// What an agent must not forget: one that begins it anew takes back what it did. What is in it is the affair of whoever keeps it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum State {
    /// What was used up of delegations, by count and by budget.
    Ledger,
    /// What was taken once and has not expired.
    Seen,
    /// Which entries of the status list were given out, and which are revoked.
    StatusList,
}

impl State {
    /// All of it, in the order in which it stands in an archive.
    pub const ALL: [Self; 3] = [Self::Ledger, Self::Seen, Self::StatusList];

    /// The name in an archive.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Ledger => "ledger",
            Self::Seen => "seen",
            Self::StatusList => "status-list",
        }
    }
}

/// The contents of a backup.
#[derive(Clone, PartialEq, Eq)]
pub struct Backup {
    did: Did,
    made: Timestamp,
    cards: Option<String>,
    credentials: BTreeMap<String, Vec<u8>>,
    objects: BTreeMap<ObjectId, Vec<u8>>,
    state: BTreeMap<State, Vec<u8>>,
}

impl Backup {
    /// An empty backup of this agent.
    #[must_use]
    pub fn new(agent: &Agent, now: Timestamp) -> Self {
        let (did, made) = (agent.did().clone(), now);
        Self::empty(did, made)
    }

    fn empty(did: Did, made: Timestamp) -> Self {
        let (credentials, objects, state) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        Self { did, made, cards: None, credentials, objects, state }
    }

    /// Whose backup it is.
    pub fn did(&self) -> &Did {
        &self.did
    }

    /// When it was made.
    pub fn made(&self) -> Timestamp {
        self.made
    }

    /// Puts the agent's log of cards in: it tells how often each key was replaced.
    pub fn set_cards(&mut self, log: &CardLog) {
        self.cards = Some(log.to_lines());
    }

    /// The agent's log of cards, verified.
    ///
    /// # Errors
    ///
    /// Those of [`CardLog::verify`].
    pub fn cards(&self) -> Result<Option<CardLog>> {
        self.cards.as_ref().map(|lines| CardLog::verify(lines.as_bytes())).transpose()
    }

    /// Adds a credential, as it stands, in the place of one of that name.
    ///
    /// # Errors
    ///
    /// [`Reason::BadForm`] for a name that is not 1 to 128 of `a`–`z`, `A`–`Z`, `0`–`9`, `.`, `_` and `-`, or begins with a dot: it shall be
    /// fit to be a file's name on every system; [`Reason::TooLarge`].
    pub fn add_credential(&mut self, name: &str, credential: &[u8]) -> Result<()> {
        if !is_name(name) {
            return Err(Error::new(Reason::BadForm, format_args!("{name:?} is not a name for a credential")));
        }
        if credential.len() > MAX_CREDENTIAL {
            return Err(too_large(format_args!("a credential of {} bytes", credential.len())));
        }
        self.credentials.insert(name.to_owned(), credential.to_vec());
        Ok(())
    }

    /// The credentials with their names.
    pub fn credentials(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.credentials.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice()))
    }

    /// Adds a memory object.
    ///
    /// # Errors
    ///
    /// [`Reason::TooLarge`].
    pub fn add_object(&mut self, bytes: &[u8]) -> Result<ObjectId> {
        if bytes.len() > MAX_OBJECT {
            return Err(too_large(format_args!("an object of {} bytes", bytes.len())));
        }
        let id = ObjectId::of(bytes);
        self.objects.insert(id, bytes.to_vec());
        Ok(id)
    }

    /// The memory objects with their names.
    pub fn objects(&self) -> impl Iterator<Item = (&ObjectId, &[u8])> {
        self.objects.iter().map(|(id, bytes)| (id, bytes.as_slice()))
    }

    /// Puts a piece of state in, as it stands, in the place of an earlier one.
    ///
    /// # Errors
    ///
    /// [`Reason::TooLarge`].
    pub fn set_state(&mut self, state: State, bytes: &[u8]) -> Result<()> {
        if bytes.len() > MAX_STATE {
            return Err(too_large(format_args!("a {} of {} bytes", state.name(), bytes.len())));
        }
        self.state.insert(state, bytes.to_vec());
        Ok(())
    }

    /// A piece of state, if it is in it.
    pub fn state(&self, state: State) -> Option<&[u8]> {
        self.state.get(&state).map(Vec::as_slice)
    }

    /// Authenticates the archive and seals it to the agent's backup key.
    ///
    /// # Errors
    ///
    /// [`Reason::WrongSeed`] for a backup of another agent, [`Reason::TooLarge`], [`Reason::NoRandomness`].
    pub fn seal(&self, agent: &Agent) -> Result<Vec<u8>> {
        if self.did != *agent.did() {
            return Err(Error::new(Reason::WrongSeed, format_args!("the backup is of {}", self.did)));
        }
        let mut archive = self.encode()?;
        let mac = agent.backup_mac(&archive);
        archive.extend_from_slice(&mac);
        if archive.len() > MAX_ARCHIVE {
            return Err(too_large(format_args!("an archive of {} bytes", archive.len())));
        }
        encrypt(agent, &archive)
    }

    /// Opens a backup of this agent, whatever the index of the key it was sealed to.
    ///
    /// # Errors
    ///
    /// [`Reason::TooLarge`], [`Reason::BadForm`] if it is not a sealed backup, [`Reason::CannotOpen`] if it is of another agent, was changed, or
    /// was not made by the agent; [`Reason::BadArchive`], [`Reason::WrongHash`].
    pub fn open(agent: &Agent, file: &[u8]) -> Result<Self> {
        if file.len() > MAX_SEALED {
            return Err(too_large(format_args!("{} bytes", file.len())));
        }
        let archive = decrypt(agent, file)?;
        // Whoever knows the card can seal to its key: nothing is read before the agent knows its own work.
        let contents = archive.len().checked_sub(mac_len(agent.suite())).map(|len| archive.split_at(len));
        let own = contents.filter(|(contents, mac)| secret::equal(&agent.backup_mac(contents), mac));
        let (contents, _) = own.ok_or_else(cannot_open)?;
        let backup = Self::decode(contents)?;
        match backup.did == *agent.did() {
            true => Ok(backup),
            false => Err(bad(format_args!("the archive is of {}", backup.did))),
        }
    }

    /// [`Backup::open`] of a backup that is not older than the card of this number, such as the newest that peers know: the
    /// file may have been exchanged for an older one, which is as good.
    ///
    /// # Errors
    ///
    /// Those of [`Backup::open`] and [`Backup::cards`]; [`Reason::StaleCard`] if the newest card in it has a lower number, or there is none.
    pub fn open_since(agent: &Agent, file: &[u8], version: u64) -> Result<Self> {
        let backup = Self::open(agent, file)?;
        let newest = backup.cards()?.map_or(0, |cards| cards.newest().version());
        match newest >= version {
            true => Ok(backup),
            false => Err(Error::new(
                Reason::StaleCard,
                format_args!("the newest card in the backup is {newest}, but card {version} is known"),
            )),
        }
    }

    fn encode(&self) -> Result<Zeroizing<Vec<u8>>> {
        let cards = self.cards.iter().map(|lines| (CARDS, "cards.jsonl".to_owned(), lines.as_bytes()));
        let credentials =
            self.credentials.iter().map(|(name, bytes)| (CREDENTIAL, name.clone(), bytes.as_slice()));
        let objects = self.objects.iter().map(|(id, bytes)| (OBJECT, id.to_string(), bytes.as_slice()));
        let state =
            self.state.iter().map(|(state, bytes)| (STATE, state.name().to_owned(), bytes.as_slice()));
        let entries: Vec<_> = cards.chain(credentials).chain(objects).chain(state).collect();
        if entries.len() > MAX_ENTRIES {
            return Err(too_large(format_args!("{} entries", entries.len())));
        }
        let len: usize = entries.iter().map(|(_, name, bytes)| 7 + name.len() + bytes.len()).sum();
        // With room for all of it, so that no copy stays behind.
        let mut out = Zeroizing::new(Vec::with_capacity(len + (8 << 10)));
        out.extend_from_slice(MAGIC);
        let written = put_short(&mut out, self.did.as_str().as_bytes()).and_then(|()| {
            out.extend_from_slice(&self.made.0.to_be_bytes());
            out.extend_from_slice(&(entries.len() as u32).to_be_bytes()); // at most `MAX_ENTRIES`
            entries.iter().try_for_each(|(kind, name, bytes)| {
                out.push(*kind);
                put_short(&mut out, name.as_bytes()).and_then(|()| put_long(&mut out, bytes))
            })
        });
        written.ok_or_else(|| too_large("an entry"))?;
        Ok(out)
    }

    fn decode(archive: &[u8]) -> Result<Self> {
        let cut = || bad("it was cut");
        let mut fields = Fields(archive);
        if fields.array() != Some(*MAGIC) {
            return Err(bad("it does not begin with the header of a backup"));
        }
        let did = fields.text().ok_or_else(cut)?.parse().map_err(bad)?;
        let made = Timestamp(fields.u64().ok_or_else(cut)?);
        let count = fields.u32().ok_or_else(cut)?;
        if count as usize > MAX_ENTRIES {
            return Err(bad(format_args!("{count} entries")));
        }
        let mut backup = Self::empty(did, made);
        let mut last: Option<(u8, &str)> = None;
        for _ in 0..count {
            let [kind] = fields.array().ok_or_else(cut)?;
            let name = fields.text().ok_or_else(cut)?;
            let contents = fields.long().ok_or_else(cut)?;
            if last >= Some((kind, name)) {
                return Err(bad("the entries are not in order"));
            }
            last = Some((kind, name));
            backup.add(kind, name, contents)?;
        }
        if fields.0.is_empty() { Ok(backup) } else { Err(bad("bytes follow the entries")) }
    }

    fn add(&mut self, kind: u8, name: &str, contents: &[u8]) -> Result<()> {
        match kind {
            CARDS if name == "cards.jsonl" => {
                let lines = core::str::from_utf8(contents).map_err(|_| bad("the cards are not UTF-8"))?;
                self.cards = Some(lines.to_owned());
                Ok(())
            }
            CREDENTIAL => self.add_credential(name, contents).map_err(bad),
            OBJECT => {
                let id: ObjectId = name.parse().map_err(bad)?;
                id.check(contents)?;
                self.add_object(contents).map(drop).map_err(bad)
            }
            STATE => {
                let state = State::ALL.into_iter().find(|state| state.name() == name);
                let state = state.ok_or_else(|| bad(format_args!("a state with the name {name:?}")))?;
                self.set_state(state, contents).map_err(bad)
            }
            _ => Err(bad(format_args!("an entry of kind {kind} with the name {name:?}"))),
        }
    }
}

impl fmt::Debug for Backup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Backup")
            .field("did", &self.did)
            .field("made", &self.made)
            .field("credentials", &self.credentials.len())
            .field("objects", &self.objects.len())
            .field("state", &self.state.keys())
            .finish_non_exhaustive()
    }
}

/// Whether a name is one for a file on every system.
fn is_name(name: &str) -> bool {
    let known = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    (1..=MAX_NAME).contains(&name.len()) && name.bytes().all(known) && !name.starts_with('.')
}

fn encrypt(agent: &Agent, archive: &[u8]) -> Result<Vec<u8>> {
    let no_randomness = |_| Error::new(Reason::NoRandomness, "the system's generator failed");
    match agent.suite() {
        Suite::Default => {
            let key = xwing::EncapsulationKey::try_from(agent.public_key(Role::Backup).as_slice())
                .expect("our own key");
            let file = Vec::with_capacity(archive.len() + archive.len() / 4096 + 4096);
            let mut rng = agent.rng(b"backup age");
            let mut file = Encryptor::new_with(&[Recipient::from(key)], file, Format::Binary, &mut rng)
                .map_err(no_randomness)?;
            file.write_all(archive).expect("writing to memory");
            file.finish().map_err(no_randomness)
        }
        Suite::Cnsa2 => {
            let key = agent.public_key(Role::Backup);
            let key = mlkem::EncapsulationKey::<MlKem1024>::from_bytes(
                key.as_slice().try_into().expect("our own key"),
            );
            let m = agent.random(&[b"backup kem", archive])?;
            let (enc, mut sender) = hpke::setup_sender_deterministic::<MlKem1024, HkdfSha384, Aes256Gcm>(
                &key.expect("our own key"),
                INFO,
                m.expose(),
            )
            .map_err(|_| Error::new(Reason::BadKey, "the backup key"))?;
            let mut file = Vec::with_capacity(archive.len() + 2048);
            file.extend_from_slice(CNSA2_MAGIC);
            file.extend_from_slice(&enc);
            // An empty message: its tag tells which key opens, before the body is touched.
            let tag = sender.seal_in_place(&file, &mut []).map_err(|_| too_large("the archive"))?;
            file.extend_from_slice(&tag);
            let header = file.clone();
            file.extend_from_slice(archive);
            let tag = sender
                .seal_in_place(&header, &mut file[header.len()..])
                .map_err(|_| too_large("the archive"))?;
            file.extend_from_slice(&tag);
            Ok(file)
        }
    }
}

fn decrypt(agent: &Agent, file: &[u8]) -> Result<Zeroizing<Vec<u8>>> {
    match agent.suite() {
        Suite::Default => {
            use gambeson_age::{Decryptor, Error as Age};
            let refused = |error: Age| match error {
                Age::NoMatch | Age::HeaderMac | Age::Payload(_) => cannot_open(),
                error => Error::new(Reason::BadForm, error),
            };
            let decryptor =
                Decryptor::with_format(&[EveryIndex(agent)], file, Format::Binary).map_err(refused)?;
            // An archive is never longer than its file: with room for it no copy stays behind.
            let mut archive = Zeroizing::new(Vec::with_capacity(file.len() + 32));
            decryptor
                .take(MAX_ARCHIVE as u64 + 1)
                .read_to_end(&mut archive)
                .map_err(|error| refused(error.into()))?;
            if archive.len() > MAX_ARCHIVE { Err(too_large("the archive")) } else { Ok(archive) }
        }
        Suite::Cnsa2 => {
            let not_one = || Error::new(Reason::BadForm, "not a backup of suite cnsa2");
            let mut fields = Fields(file);
            if fields.array() != Some(*CNSA2_MAGIC) {
                return Err(not_one());
            }
            let enc = fields.take(size_of::<<MlKem1024 as Kem>::Enc>()).ok_or_else(not_one)?;
            let enc = enc.try_into().expect("1568 bytes");
            let start = &file[..file.len() - fields.0.len()];
            let key_tag = fields.array::<TAG_LEN>().ok_or_else(not_one)?;
            let header = &file[..file.len() - fields.0.len()];
            let (body, tag) = fields.0.split_last_chunk::<TAG_LEN>().ok_or_else(not_one)?;
            let mut receiver = indexes(agent)
                .find_map(|index| {
                    let OpeningKey::MlKem1024(key) = agent.opening_key(Role::Backup, index) else {
                        return None;
                    };
                    let mut receiver =
                        hpke::setup_receiver::<MlKem1024, HkdfSha384, Aes256Gcm>(enc, &key, INFO).ok()?;
                    receiver.open_in_place(start, &mut [], &key_tag).ok().map(|()| receiver)
                })
                .ok_or_else(cannot_open)?;
            let mut archive = Zeroizing::new(body.to_vec());
            receiver.open_in_place(header, &mut archive, tag).map_err(|_| cannot_open())?;
            Ok(archive)
        }
    }
}

/// The agent's present index, then all others that a log of cards can have: a fresh machine does not know it.
fn indexes(agent: &Agent) -> impl Iterator<Item = u64> {
    let present = agent.index(Role::Backup);
    let all = core::iter::once(present).chain((0..MAX_CARDS as u64).filter(move |index| *index != present));
    #[cfg(test)]
    let all = all.inspect(|_| tests::KEYS_TRIED.set(tests::KEYS_TRIED.get() + 1));
    all
}

/// The agent's backup keys as age identities, made one after the other until one fits.
struct EveryIndex<'a>(&'a Agent);

impl UnwrapFileKey for EveryIndex<'_> {
    fn unwrap_file_key(&self, stanzas: &[Stanza<'_>]) -> Result<Option<FileKey>, HeaderError> {
        // Every stanza is tried with every key: a header of 1,024 stanzas would be the work of minutes.
        if stanzas.len() != 1 {
            return Err(HeaderError::Stanza("a backup has one recipient"));
        }
        for index in indexes(self.0) {
            let identity = Identity::from_seed(self.0.backup_seed(index).expose());
            if let Some(file_key) = identity.unwrap_file_key(stanzas)? {
                return Ok(Some(file_key));
            }
        }
        Ok(None)
    }
}

/// The length of what authenticates the archive.
const fn mac_len(suite: Suite) -> usize {
    match suite {
        Suite::Default => 32,
        Suite::Cnsa2 => 48,
    }
}

fn bad(what: impl fmt::Display) -> Error {
    Error::new(Reason::BadArchive, format_args!("not the archive of a backup: {what}"))
}

fn cannot_open() -> Error {
    Error::new(Reason::CannotOpen, "it is not of this agent, or was changed")
}

fn too_large(what: impl fmt::Display) -> Error {
    Error::new(Reason::TooLarge, format_args!("too much for a backup: {what}"))
}

#[cfg(test)]
mod tests;
#[cfg(all(test, feature = "test-vectors"))]
mod vectors;
