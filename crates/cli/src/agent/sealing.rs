//! `agent seal` and `open`: payloads for other agents, and age files.

use super::Session;
use super::seen::Seen;
use crate::args;
use crate::args::agent::{AgentOpen, AgentSeal};
use crate::console::counted;
use crate::error::{Error, Status};
use crate::files::{self, Access, Input, Output};
use gambeson_age::Format;
use gambeson_identity::{Did, Reason, Suite, sealed};
use serde_json::json;
use std::io::Write;

pub(super) fn seal(session: &Session, options: &AgentSeal) -> Result<Status, Error> {
    files::refuse_same(&options.file, &options.out)?;
    let Some(did) = &options.to else {
        let age = args::Seal {
            recipients: options.recipients.clone(),
            files: Vec::new(),
            under_passphrase: false,
            armor: options.armor,
            file: options.file.clone(),
            out: options.out.clone(),
            force: options.force,
            passphrase: args::PassphraseSource { passphrase_fd: None },
        };
        files::refuse_existing(&options.out, options.force)?;
        let (agent, _) = session.unlock()?;
        return crate::sealing::seal(session.console, &age, Some(agent.rng(b"age file")));
    };
    files::refuse_existing(&options.out, options.force)?;
    let document = session.resolver().resolve(did, session.now).map_err(Error::refused)?;
    let payload = files::read_at_most(&options.file, sealed::MAX_PAYLOAD)?;
    let (agent, _) = session.unlock()?;
    let expires = session.now.after(options.lifetime);
    let envelope = sealed::seal(&agent, &document, &options.media_type, &payload, expires, session.now)
        .map_err(Error::from_request)?;
    files::write(&options.out, &envelope, Access::Shared, options.force)?;
    let out = options.out.display();
    session.console.report(
        format_args!("sealed {} to {did} until {expires}: {out}", counted(payload.len(), "byte")),
        json!({
            "type": "sealed",
            "file": options.file.display().to_string(),
            "bytes": payload.len(),
            "to": did.as_str(),
            "validUntil": expires.to_string(),
            "out": out.to_string(),
        }),
    )?;
    Ok(Status::Done)
}

pub(super) fn open(session: &Session, options: &AgentOpen) -> Result<Status, Error> {
    files::refuse_same(&options.file, &options.out)?;
    files::refuse_existing(&options.out, options.force)?;
    let mut input = Input::open(&options.file)?;
    // Enough for the longer of the two beginnings.
    let start = input.start(32)?;
    match Format::detect(&start) {
        Some(_) => open_age(session, options, input),
        None => open_sealed(session, options, input),
    }
}

/// An age file to the agent's backup key, of any size.
fn open_age(session: &Session, options: &AgentOpen, input: Input) -> Result<Status, Error> {
    let name = input.name().to_owned();
    if let Some(did) = &options.from {
        let message =
            format!("{name}: an age file does not name its sender, so --from {did} cannot be checked");
        return Err(Error::not_verified(message).because("unsecured"));
    }
    let (agent, _) = session.unlock()?;
    if agent.suite() != Suite::Default {
        let message = format!("{name}: an agent of suite {} has no key for age files", agent.suite().name());
        return Err(Error::not_verified(message).because("cannot-open"));
    }
    let mut output = Output::create(&options.out, Access::Private, options.force)?;
    let bar = session.console.bytes_bar(input.length(), "opening");
    let bytes = gambeson_age::open(&[&agent], bar.wrap_read(input), &mut output)
        .map_err(|e| crate::sealing::age_error(&name, e))?;
    let target = output.name().to_owned();
    output.finish()?;
    bar.finish_and_clear();
    session.console.report(
        format_args!(
            "opened {name}, an age file, which does not name its sender: {} in {target}",
            counted(bytes, "byte")
        ),
        json!({"type": "opened", "file": name, "form": "age", "bytes": bytes, "out": target}),
    )?;
    Ok(Status::Done)
}

/// A payload of another agent, which opens once.
fn open_sealed(session: &Session, options: &AgentOpen, input: Input) -> Result<Status, Error> {
    let envelope = input.read_at_most(2 * sealed::MAX_PAYLOAD)?;
    let (agent, _) = session.unlock()?;
    let mut output = Output::create(&options.out, Access::Private, options.force)?;
    let mut seen = Seen::open(&session.home)?;
    let permitted = |did: &Did| options.from.as_ref().is_none_or(|from| from == did);
    let opened = sealed::open_from(&agent, &envelope, permitted, &session.resolver(), &mut seen, session.now);
    let opened = opened.map_err(|error| match (error.reason(), &options.from) {
        (Reason::NotPermitted, Some(from)) => {
            Error::not_verified(format!("the sender is not {from}: {}", crate::error::words(&error)))
                .because("other-signer")
        }
        _ => Error::refused(error),
    })?;
    // A file has the payload before that counts as opened, and its name afterwards: a full disk loses nothing. What went
    // into a stream cannot be called back, so there it counts first, and is lost if the stream fails.
    if output.is_new_file() {
        output.write_all(opened.payload()).map_err(|e| Error::named(&e))?;
        seen.keep()?;
    } else {
        seen.keep()?;
        output.write_all(opened.payload()).map_err(|e| Error::named(&e))?;
    }
    let target = output.name().to_owned();
    output.finish()?;
    session.holds(
        format_args!(
            "{} bytes of {} from {} in {target}",
            opened.payload().len(),
            opened.media_type(),
            opened.sender()
        ),
        opened.signer(),
        json!({
            "type": "opened",
            "file": options.file.display().to_string(),
            "form": "sealed",
            "sender": opened.sender().as_str(),
            "mediaType": opened.media_type(),
            "bytes": opened.payload().len(),
            "validUntil": opened.expires().to_string(),
            "out": target,
        }),
    )
}
