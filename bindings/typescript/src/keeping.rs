//! What an agent keeps: its seed in words and in files under a passphrase, and what it has besides in backups.

use gambeson_identity::backup::{Backup, State};
use gambeson_identity::{Agent, CardLog, MasterSeed, Result, Suite, recovery};
use serde_json::Value;

use crate::agent::suite;
use crate::border::{Answer, Input, bad, given, object, said};
use crate::files;

/// The most that is worked on an age file: 20 takes 1 GiB, of the 4 that a module can have, and each step doubles it.
const MAX_WORK_FACTOR: u8 = 20;

/// What an agent is asked about its backups, and about state that lies on the disk of others.
pub fn ask(agent: &Agent, verb: &str, input: &Input<'_>) -> Result<Answer> {
    match verb {
        "backup" => given(backup(agent, input)?.seal(agent)?),
        "restore" => {
            let since = input.number_if("since")?.unwrap_or(0);
            restored(&Backup::open_since(agent, input.bytes(), since)?)
        }
        "sealState" => given(agent.seal_state(input.text("label")?, input.bytes())?),
        "openState" => given(agent.open_state(input.text("label")?, input.bytes())?.expose().as_slice()),
        _ => files::ask(agent, verb, input),
    }
}

/// What needs no object.
pub fn ask_form(verb: &str, input: &Input<'_>) -> Result<Answer> {
    match verb {
        "words" => said(recovery::words(&MasterSeed::generate()?).as_str()),
        "protect" => given(recovery::protect(&of_words(input)?, suite(input)?, &passphrase(input)?, None)?),
        _ => files::ask_form(verb, input),
    }
}

/// The seed of words.
pub fn of_words(input: &Input<'_>) -> Result<MasterSeed> {
    recovery::from_words(input.text("words")?)
}

/// The seed of a file that `protect` made.
pub fn unprotected(input: &Input<'_>) -> Result<(MasterSeed, Suite)> {
    recovery::unprotect(input.bytes(), &passphrase(input)?)
}

/// The seed of an age file.
pub fn of_age_file(input: &Input<'_>) -> Result<MasterSeed> {
    let passphrase = gambeson_age::Passphrase::new(input.text("passphrase")?).map_err(bad)?;
    let most = match input.number_if("maxWorkFactor")?.map(u8::try_from) {
        None => MAX_WORK_FACTOR,
        Some(Ok(most @ 1..=MAX_WORK_FACTOR)) => most,
        Some(_) => return Err(bad(format_args!("a work factor must be from 1 to {MAX_WORK_FACTOR}"))),
    };
    recovery::from_age_file(input.bytes(), &passphrase.max_work_factor(most))
}

fn passphrase(input: &Input<'_>) -> Result<gambeson_keystore::Passphrase> {
    gambeson_keystore::Passphrase::new(input.text("passphrase")?).map_err(bad)
}

/// Cards, credentials, and in pieces of bytes objects and then state, whose names are a list.
fn backup(agent: &Agent, input: &Input<'_>) -> Result<Backup> {
    let mut backup = Backup::new(agent, input.now()?);
    if let Some(cards) = input.text_if("cards")? {
        backup.set_cards(&CardLog::verify(cards.as_bytes())?);
    }
    if let Some(credentials) = input.member("credentials") {
        let credentials =
            credentials.as_object().ok_or_else(|| bad("credentials must be strings by name"))?;
        for (name, credential) in credentials {
            let credential = credential.as_str().ok_or_else(|| bad("a credential must be a string"))?;
            backup.add_credential(name, credential.as_bytes())?;
        }
    }
    let (pieces, names) = (input.pieces()?, input.texts("state")?);
    let Some(objects) = pieces.len().checked_sub(names.len()) else {
        return Err(bad("each name of a state must have its bytes"));
    };
    let (objects, state) = pieces.split_at(objects);
    for object in objects {
        backup.add_object(object)?;
    }
    for (name, bytes) in names.into_iter().zip(state) {
        let piece = State::ALL.into_iter().find(|piece| piece.name() == name);
        backup.set_state(piece.ok_or_else(|| bad(format_args!("unknown state {name:?}")))?, bytes)?;
    }
    Ok(backup)
}

fn restored(backup: &Backup) -> Result<Answer> {
    let credentials = backup.credentials().map(|(name, credential)| {
        (name.to_owned(), Value::from(String::from_utf8_lossy(credential).into_owned()))
    });
    let named = |name: String, bytes: &[u8]| Value::from(vec![Value::from(name), bytes.len().into()]);
    let objects = backup.objects().map(|(id, bytes)| named(id.to_string(), bytes));
    let state = || State::ALL.into_iter().filter_map(|piece| Some((piece.name(), backup.state(piece)?)));
    let bytes: Vec<&[u8]> =
        backup.objects().map(|(_, bytes)| bytes).chain(state().map(|(_, bytes)| bytes)).collect();
    let answer = object(vec![
        ("made", backup.made().0.into()),
        ("cards", backup.cards()?.map(|cards| cards.to_lines()).into()),
        ("credentials", credentials.collect()),
        ("objects", objects.collect()),
        ("state", state().map(|(name, bytes)| named(name.to_owned(), bytes)).collect()),
    ]);
    Ok((answer, bytes.concat()))
}
