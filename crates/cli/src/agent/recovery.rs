//! `agent recover`, `backup`, `restore`, and what `init` writes for them.

use super::memory::of_objects;
use super::status::OwnList;
use super::{Session, credentials, identity, ledger, seen, status};
use crate::args::agent::{AgentBackup, Recover, Restore, SeedSource};
use crate::console::counted;
use crate::error::{Error, Status};
use crate::files::{self, Access};
use crate::passphrase;
use gambeson_identity::backup::{Backup, MAX_ARCHIVE, MAX_SEALED, MAX_STATE, State};
use gambeson_identity::memory::{DirectoryObjects, Objects};
use gambeson_identity::{Agent, CardContent, CardLog, CardStore, Did, MasterSeed, Reason, recovery};
use serde_json::{Map, Value, json};
use std::fs;
use std::path::{Path, PathBuf};

pub(super) fn recover(session: &Session, options: &Recover) -> Result<Status, Error> {
    session.home.refuse_existing()?;
    let seed = seed(session, &options.seed)?;
    let log = match &options.cards {
        Some(path) => identity::read_cards(path)?.map_err(Error::refused)?,
        None => {
            let agent = Agent::with_suite(again(&seed)?, options.suite);
            identity::first_cards(&agent, session.now, options.validity.days, &CardContent::default())?
        }
    };
    Agent::recover(again(&seed)?, &log).map_err(Error::refused)?;
    session.home.recreate(&seed, &log, session.passphrase_fd, || Ok(()))?;
    session.console.say(
        "revocations, used delegations and accepted one-time messages are not recovered: if there is a \
             backup, gambeson agent restore restores them",
    )?;
    identity::made(session, &log)
}

/// The same seed once more: an agent takes one, and its folder keeps one.
fn again(seed: &MasterSeed) -> Result<MasterSeed, Error> {
    recovery::from_words(&recovery::words(seed)).map_err(Error::damaged)
}

/// The seed of words, an age file, or shares.
fn seed(session: &Session, source: &SeedSource) -> Result<MasterSeed, Error> {
    if let Some(path) = &source.words {
        return recovery::from_words(&secret(path)?).map_err(Error::refused);
    }
    if let Some(path) = &source.age {
        let file = files::read_small(path)?;
        let passphrase = passphrase::existing(session.passphrase_fd, &path.display().to_string())?;
        return recovery::from_age_file(&file, &age_passphrase(&passphrase)?).map_err(Error::refused);
    }
    of_shares(source)
}

#[cfg(feature = "shares")]
fn of_shares(source: &SeedSource) -> Result<MasterSeed, Error> {
    let mut shares = Vec::new();
    for path in &source.shares {
        let text = secret(path)?;
        shares.extend(text.lines().filter(|line| !line.trim().is_empty()).map(|line| line.to_owned().into()));
    }
    let shares: Vec<zeroize::Zeroizing<String>> = shares;
    recovery::from_shares(&shares.iter().map(|share| share.as_str()).collect::<Vec<_>>())
        .map_err(Error::refused)
}

#[cfg(not(feature = "shares"))]
fn of_shares(_: &SeedSource) -> Result<MasterSeed, Error> {
    Err(Error::usage("the seed is missing: name it with --words, --age or --shares"))
}

/// Text that is wiped when dropped.
fn secret(path: &Path) -> Result<zeroize::Zeroizing<String>, Error> {
    let bytes = files::read_small(path)?;
    match std::str::from_utf8(&bytes) {
        Ok(text) => Ok(zeroize::Zeroizing::new(text.to_owned())),
        Err(_) => Err(Error::outside(format!("{}: is not text", path.display()))),
    }
}

/// The passphrase of an age file.
pub(super) fn age_passphrase(text: &str) -> Result<gambeson_age::Passphrase, Error> {
    gambeson_age::Passphrase::new(text).map_err(|e| Error::usage(e.to_string()))
}

pub(super) fn backup(session: &Session, options: &AgentBackup) -> Result<Status, Error> {
    files::refuse_existing(&options.out, options.force)?;
    // What one command changes in several files is in a backup whole or not.
    let _lock = session.home.lock()?;
    let (agent, log) = session.unlock()?;
    let mut backup = Backup::new(&agent, session.now);
    backup.set_cards(&log);
    let folder = credentials::folder(session);
    let entries = match fs::read_dir(&folder) {
        Ok(entries) => Some(entries),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => None,
        Err(e) => return Err(Error::io(&folder, &e)),
    };
    for entry in entries.into_iter().flatten() {
        let entry = entry.map_err(|e| Error::io(&folder, &e))?;
        // What was not written to its end, and what a system keeps for itself.
        if entry.file_name().as_encoded_bytes().starts_with(b".") {
            continue;
        }
        let credential = files::read_small(&entry.path())?;
        backup.add_credential(&entry.file_name().to_string_lossy(), &credential).map_err(Error::damaged)?;
    }
    add_objects(session, &mut backup, options.objects.as_deref())?;
    add_state(session, &mut backup)?;
    let sealed = backup.seal(&agent).map_err(Error::from_request)?;
    files::write(&options.out, &sealed, Access::Private, options.force)?;
    let (credentials, objects) = (backup.credentials().count(), backup.objects().count());
    session.console.report(
        format_args!(
            "{}, {} and {}; state: {}; audit logs are not in it: {}",
            counted(log.cards().len(), "card"),
            counted(credentials, "credential"),
            counted(objects, "memory object"),
            state_text(&backup),
            options.out.display()
        ),
        json!({
            "type": "backup",
            "cards": log.cards().len(),
            "credentials": credentials,
            "objects": objects,
            "state": state_names(&backup),
            "out": options.out.display().to_string(),
        }),
    )?;
    Ok(Status::Done)
}

/// Adds what the agent must not forget. An agent that never issued anything has an empty list: it may begin one again.
fn add_state(session: &Session, backup: &mut Backup) -> Result<(), Error> {
    if let Some(list) = OwnList::find(session)? {
        backup.set_state(State::StatusList, list.to_json().as_bytes()).map_err(Error::damaged)?;
    }
    for state in [State::Ledger, State::Seen] {
        let path = state_path(session, state);
        if path.exists() {
            let bytes = files::read_at_most(&path, MAX_STATE)?;
            backup.set_state(state, &bytes).map_err(Error::damaged)?;
        }
    }
    Ok(())
}

fn state_path(session: &Session, state: State) -> PathBuf {
    match state {
        State::Ledger => ledger::path(&session.home),
        State::Seen => seen::path(&session.home),
        State::StatusList => status::path(session),
    }
}

/// The names of the state that a backup has.
fn state_names(backup: &Backup) -> Vec<&'static str> {
    State::ALL.into_iter().filter(|state| backup.state(*state).is_some()).map(State::name).collect()
}

/// The same for a person.
fn state_text(backup: &Backup) -> String {
    let names = state_names(backup);
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

/// Adds every memory object of a folder, the agent's own if none is named. One whose bytes were changed is refused.
fn add_objects(session: &Session, backup: &mut Backup, named: Option<&Path>) -> Result<(), Error> {
    if let Some(folder) = named {
        fs::read_dir(folder).map_err(|e| Error::io(folder, &e))?;
    }
    let objects = DirectoryObjects::new(objects_folder(session, named));
    let mut total = 0;
    for id in objects.ids().map_err(of_objects)? {
        // One that went away since the names were read is not there.
        let Some(object) = objects.get(&id).map_err(of_objects)? else { continue };
        total += object.len();
        if total > MAX_ARCHIVE {
            let message = format!(
                "the memory objects have more than {MAX_ARCHIVE} bytes, the most that a backup holds"
            );
            return Err(Error::usage(message).because(Reason::TooLarge.code()));
        }
        backup.add_object(&object).map_err(of_objects)?;
    }
    Ok(())
}

fn objects_folder(session: &Session, named: Option<&Path>) -> PathBuf {
    named.map_or_else(|| session.home.folder().join("objects"), Path::to_owned)
}

pub(super) fn restore(session: &Session, options: &Restore) -> Result<Status, Error> {
    session.home.refuse_existing()?;
    let file = files::read_at_most(&options.backup, MAX_SEALED)?;
    let seed = seed(session, &options.seed)?;
    let agent = Agent::with_suite(again(&seed)?, options.suite);
    let since = options.since.unwrap_or_default();
    let backup = Backup::open_since(&agent, &file, since).map_err(Error::refused)?;
    let log = newest_cards(&backup, options.cards.as_deref())?;
    let agent = Agent::recover(again(&seed)?, &log).map_err(Error::refused)?;
    check_state(&backup, log.did())?;
    session.home.recreate(&seed, &log, session.passphrase_fd, || {
        let folder = credentials::folder(session);
        super::home::private_folder(&folder)?;
        for (name, credential) in backup.credentials() {
            files::write_own(&folder.join(name), credential, Access::Private, true)?;
        }
        restore_state(session, &agent, &backup)?;
        restore_objects(&backup, &objects_folder(session, options.objects.as_deref()))
    })?;
    tell_restored(session, &backup, &log)
}

/// The cards of the backup, or newer ones that go on from them.
fn newest_cards(backup: &Backup, newer: Option<&Path>) -> Result<CardLog, Error> {
    let kept = backup.cards().map_err(Error::refused)?;
    let Some(path) = newer else {
        return kept.ok_or_else(|| Error::outside("the backup holds no cards; name them with --cards"));
    };
    let newer = identity::read_cards(path)?.map_err(Error::refused)?;
    let mut store = CardStore::default();
    for log in kept.into_iter().chain([newer.clone()]) {
        store.add(log).map_err(Error::refused)?;
    }
    Ok(newer)
}

/// Refuses state that could not be read afterwards: what it forbids would be permitted, or nothing any more.
fn check_state(backup: &Backup, owner: &Did) -> Result<(), Error> {
    for state in State::ALL {
        let whole = backup.state(state).is_none_or(|bytes| match state {
            State::Ledger => ledger::is_whole(bytes),
            State::Seen => seen::is_whole(bytes),
            State::StatusList => OwnList::read(bytes, owner).is_some(),
        });
        if !whole {
            let message = format!("the {} of the backup is damaged", state.name());
            return Err(Error::not_verified(message).because(Reason::BadArchive.code()));
        }
    }
    Ok(())
}

fn restore_state(session: &Session, agent: &Agent, backup: &Backup) -> Result<(), Error> {
    for state in State::ALL {
        let path = state_path(session, state);
        if let Some(bytes) = backup.state(state) {
            path.parent().map_or(Ok(()), super::home::private_folder)?;
            files::write_own(&path, bytes, Access::Private, true)?;
        }
    }
    // With its signature, by which this agent's own delegations are judged here.
    OwnList::find(session)?.map_or(Ok(()), |list| list.keep(session, agent))
}

/// Tells what came back, and what a backup cannot know.
fn tell_restored(session: &Session, backup: &Backup, log: &CardLog) -> Result<Status, Error> {
    let (credentials, objects, state) =
        (backup.credentials().count(), backup.objects().count(), state_names(backup));
    let (made, card) = (backup.made(), log.newest().version());
    session.console.say(format_args!(
        "{} and {} of {made}; state: {}",
        counted(credentials, "credential"),
        counted(objects, "memory object"),
        state_text(backup)
    ))?;
    session.console.say_lines([
        format!(
            "revocations and uses after {made} are not in it: gambeson agent cred status --add takes over \
                 the revocations of a newer list of this agent"
        ),
        format!(
            "if others know a newer card than {card}, do not rotate: restore the agent again with --cards, \
                 since a second card of one number is refused"
        ),
        "audit logs are not in it: restore the folder log, or begin another log with gambeson agent \
             rotate log"
            .to_owned(),
    ])?;
    let of = json!({
        "issued": made.to_string(), "credentials": credentials, "objects": objects, "state": state,
    });
    let of: Map<String, Value> = of.as_object().cloned().unwrap_or_default();
    identity::made_of(session, log, of)
}

/// Writes the memory objects under the names that their bytes have: that these are the names in the archive was checked
/// when it was opened.
fn restore_objects(backup: &Backup, folder: &Path) -> Result<(), Error> {
    if backup.objects().next().is_none() {
        return Ok(());
    }
    super::home::private_folder(folder)?;
    let mut objects = DirectoryObjects::new(folder);
    for (_, object) in backup.objects() {
        objects.put(object).map_err(of_objects)?;
    }
    Ok(())
}
