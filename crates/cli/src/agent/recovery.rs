//! `agent recover`, `backup`, `restore`, and what `init` writes for them.

use super::{Session, credentials, identity};
use crate::args::agent::{AgentBackup, Recover, Restore, SeedSource};
use crate::error::{Error, Status};
use crate::files::{self, Access};
use crate::passphrase;
use gambeson_identity::backup::{Backup, MAX_ARCHIVE};
use gambeson_identity::memory::{DirectoryObjects, Objects};
use gambeson_identity::{Agent, CardContent, CardLog, MasterSeed, Reason, recovery};
use serde_json::json;
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
    session.home.create(&seed, &log, session.passphrase_fd)?;
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
    Err(Error::usage("where is the seed? --words or --age"))
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
    let (agent, log) = session.unlock()?;
    let mut backup = Backup::new(&agent, session.now);
    backup.set_cards(&log);
    let folder = credentials::folder(session);
    for entry in fs::read_dir(&folder).into_iter().flatten() {
        let entry = entry.map_err(|e| Error::io(&folder, &e))?;
        let credential = files::read_small(&entry.path())?;
        backup.add_credential(&entry.file_name().to_string_lossy(), &credential).map_err(Error::damaged)?;
    }
    add_objects(session, &mut backup, options.objects.as_deref())?;
    let sealed = backup.seal(&agent).map_err(Error::from_request)?;
    files::write(&options.out, &sealed, Access::Private, options.force)?;
    let (credentials, objects) = (backup.credentials().count(), backup.objects().count());
    session.console.report(
        format_args!(
            "{} cards, {credentials} credentials and {objects} memory objects: {}",
            log.cards().len(),
            options.out.display()
        ),
        json!({
            "cards": log.cards().len(),
            "credentials": credentials,
            "objects": objects,
            "out": options.out.display().to_string(),
        }),
    )?;
    Ok(Status::Done)
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
            let message =
                format!("the memory objects have more than {MAX_ARCHIVE} bytes, the most of a backup");
            return Err(Error::usage(message).because(Reason::TooLarge.code()));
        }
        backup.add_object(&object).map_err(of_objects)?;
    }
    Ok(())
}

fn objects_folder(session: &Session, named: Option<&Path>) -> PathBuf {
    named.map_or_else(|| session.home.folder().join("objects"), Path::to_owned)
}

/// Bytes that have another name do not hold; all else is the folder's fault.
fn of_objects(error: gambeson_identity::Error) -> Error {
    match error.reason() {
        Reason::WrongHash => Error::refused(error),
        _ => Error::damaged(error),
    }
}

pub(super) fn restore(session: &Session, options: &Restore) -> Result<Status, Error> {
    session.home.refuse_existing()?;
    // With room for what sealing adds: the library has the last word.
    let file = files::read_at_most(&options.backup, MAX_ARCHIVE + (1 << 20))?;
    let seed = seed(session, &options.seed)?;
    let agent = Agent::with_suite(again(&seed)?, options.suite);
    let backup = Backup::open(&agent, &file).map_err(Error::refused)?;
    let log = backup.cards().map_err(Error::refused)?;
    let log: CardLog = log.ok_or_else(|| Error::outside("the backup holds no cards"))?;
    Agent::recover(again(&seed)?, &log).map_err(Error::refused)?;
    session.home.create(&seed, &log, session.passphrase_fd)?;
    let folder = credentials::folder(session);
    super::home::private_folder(&folder)?;
    for (name, credential) in backup.credentials() {
        files::write(&folder.join(name), credential, Access::Private, false)?;
    }
    restore_objects(&backup, &objects_folder(session, options.objects.as_deref()))?;
    session.console.say(format_args!(
        "{} credentials and {} memory objects of {}",
        backup.credentials().count(),
        backup.objects().count(),
        backup.made()
    ))?;
    identity::made(session, &log)
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
