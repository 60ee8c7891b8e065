//! `agent log append`, `prove`, `verify`, `show`: an audit log in `log/INDEX`, one a log key.

use super::Session;
use crate::args::agent::{LogAppend, LogCommand, LogProve, LogVerify};
use crate::console::counted;
use crate::error::{Error, Status};
use crate::files::{self, Access};
use gambeson_identity::tlog::{DirectoryStorage, Log, MAX_ENTRY, Proof};
use gambeson_identity::{CardLog, DidUrl, Reason, Role, VerifyingKey};
use serde_json::json;
use std::path::PathBuf;

pub(super) fn log(session: &Session, command: &LogCommand) -> Result<Status, Error> {
    match command {
        LogCommand::Append(options) => append(session, options),
        LogCommand::Prove(options) => prove(session, options),
        LogCommand::Verify(options) => verify(session, options),
        LogCommand::Show => show(session),
    }
}

fn append(session: &Session, options: &LogAppend) -> Result<Status, Error> {
    let mut entries = Vec::new();
    crate::sealing::one_standard_input(options.files.iter().map(PathBuf::as_path))?;
    for path in &options.files {
        let bytes = files::read_small(path)?;
        match options.lines {
            true => entries.extend(
                bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).map(<[u8]>::to_vec),
            ),
            false => entries.push(bytes.to_vec()),
        }
    }
    if let Some(long) = entries.iter().find(|entry| entry.len() > MAX_ENTRY) {
        return Err(Error::usage(format!(
            "an entry has {} bytes, at most {MAX_ENTRY} are allowed",
            long.len()
        )));
    }
    let _lock = session.home.lock()?;
    let (agent, _) = session.unlock()?;
    let url = agent.key_url(Role::Log);
    let (storage, origin) = (storage(session, &url), url.to_string());
    let key = agent.key(Role::Log);
    let begun = folder(session, &url).join("checkpoint").exists();
    if !begun && session.home.recovered()?.is_some_and(|key| key == origin) {
        let message = format!(
            "{}: this agent was recovered without its log, and a second log under the key {origin} would \
                 contradict it; restore its files, or begin another log with gambeson agent rotate log",
            folder(session, &url).display()
        );
        return Err(Error::outside(message).because("no-log"));
    }
    let mut log = match begun {
        true => Log::open(storage, &origin, &key.verifying_key(), session.now),
        false => Log::create(storage, &origin, key, session.now),
    }
    .map_err(Error::damaged)?;
    let entries: Vec<&[u8]> = entries.iter().map(Vec::as_slice).collect();
    let first = log.append(&entries, key, session.now).map_err(of_log)?;
    session.console.report(
        format_args!("entries {first} to {} of {origin}", log.size() - 1),
        json!({"type": "log", "log": origin, "first": first, "appended": entries.len(), "size": log.size()}),
    )?;
    Ok(Status::Done)
}

fn prove(session: &Session, options: &LogProve) -> Result<Status, Error> {
    let cards = session.home.cards_of_owner()?;
    let log = open(session, &cards)?;
    let proof = log.prove(options.index).map_err(of_log)?;
    if let Some(path) = &options.entry {
        let entry = log.entry(options.index).map_err(of_log)?;
        files::write(path, &entry, Access::Shared, options.force)?;
    }
    files::write(&options.out, proof.to_string().as_bytes(), Access::Shared, options.force)?;
    session.console.report(
        format_args!("entry {} of {}: {}", options.index, log.checkpoint().origin, options.out.display()),
        json!({
            "type": "log-proof",
            "log": log.checkpoint().origin,
            "index": options.index,
            "size": log.size(),
            "out": options.out.display().to_string(),
        }),
    )?;
    Ok(Status::Done)
}

fn verify(session: &Session, options: &LogVerify) -> Result<Status, Error> {
    crate::sealing::one_standard_input([options.entry.as_path(), &options.proof].into_iter())?;
    let (entry, text) = (files::read_small(&options.entry)?, files::read_small(&options.proof)?);
    let url = match &options.log {
        Some(url) => url.clone(),
        None => newest_key(&session.home.cards_of_owner()?)?.0,
    };
    let judged = (|| {
        let proof = Proof::parse(&text)?;
        let document = session.resolver().resolve(url.did(), session.now)?;
        let key = document.key_of_role(&url, Role::Log, session.now)?;
        proof.verify(&entry, &url.to_string(), key, session.now)
    })();
    match judged {
        Ok(included) => session.holds(
            format_args!(
                "{} is entry {} of {url}, which had {} at {}",
                options.entry.display(),
                included.index,
                counted(included.checkpoint.size, "entry"),
                included.signed
            ),
            &url,
            json!({
                "log": url.to_string(),
                "index": included.index,
                "size": included.checkpoint.size,
                "issued": included.signed.to_string(),
            }),
        ),
        Err(error) => session.refused(&error),
    }
}

fn show(session: &Session) -> Result<Status, Error> {
    let cards = session.home.cards_of_owner()?;
    let log = open(session, &cards)?;
    let checkpoint = log.checkpoint();
    let root = crate::harness::hex(&checkpoint.root);
    match log.audit() {
        Ok(()) => {
            let about = counted(checkpoint.size, "entry");
            let about = format!("{about}, root {root}; all entries and hashes were verified");
            session.console.report_lines(
                [&checkpoint.origin, &about],
                json!({"type": "verdict", "verified": true, "log": checkpoint.origin, "size": checkpoint.size, "root": root}),
            )?;
            Ok(Status::Done)
        }
        Err(error) => session.refused(&error),
    }
}

/// The log of the present key, of which only the public part is needed.
fn open(session: &Session, cards: &CardLog) -> Result<Log<DirectoryStorage>, Error> {
    let (url, key) = newest_key(cards)?;
    Log::open(storage(session, &url), &url.to_string(), &key, session.now).map_err(Error::damaged)
}

/// What the folder of the log is to blame for is no mistake of the command line.
fn of_log(error: gambeson_identity::Error) -> Error {
    match error.reason() {
        Reason::DamagedLog | Reason::Inconsistent | Reason::StorageFailed => Error::damaged(error),
        _ => Error::from_request(error),
    }
}

/// The log key that was neither revoked nor replaced.
pub(super) fn newest_key(cards: &CardLog) -> Result<(DidUrl, VerifyingKey), Error> {
    let methods = cards.newest().document().methods();
    let mut present = methods.filter(|method| method.revoked().is_none() && method.expires().is_none());
    present
        .find(|method| method.id().fragment().starts_with("log-"))
        .and_then(|method| Some((method.id().clone(), method.verifying_key()?.clone())))
        .ok_or_else(|| Error::outside("the newest card has no log key"))
}

fn folder(session: &Session, url: &DidUrl) -> PathBuf {
    let index = url.fragment().trim_start_matches("log-");
    session.home.folder().join("log").join(index)
}

fn storage(session: &Session, url: &DidUrl) -> DirectoryStorage {
    DirectoryStorage::new(folder(session, url))
}
