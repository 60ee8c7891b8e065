//! `agent seal` and `open`: payloads for other agents, and age files.

use super::Session;
use super::seen::Seen;
use crate::args;
use crate::args::agent::{AgentOpen, AgentSeal};
use crate::error::{Error, Status};
use crate::files::{self, Access, is_stream};
use gambeson_identity::sealed;
use serde_json::json;
use std::io::Write;

pub(super) fn seal(session: &Session, options: &AgentSeal) -> Result<Status, Error> {
    files::refuse_same(&options.file, &options.out)?;
    let Some(did) = &options.to else {
        let age = args::Seal {
            recipients: options.recipients.clone(),
            files: Vec::new(),
            armor: options.armor,
            file: options.file.clone(),
            out: options.out.clone(),
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
        format_args!("sealed {} bytes to {did} until {expires}: {out}", payload.len()),
        json!({
            "sealed": options.file.display().to_string(),
            "bytes": payload.len(),
            "to": did.as_str(),
            "expires": expires.to_string(),
            "out": out.to_string(),
        }),
    )?;
    Ok(Status::Done)
}

pub(super) fn open(session: &Session, options: &AgentOpen) -> Result<Status, Error> {
    files::refuse_same(&options.file, &options.out)?;
    files::refuse_existing(&options.out, options.force)?;
    let envelope = files::read_at_most(&options.file, 2 * sealed::MAX_PAYLOAD)?;
    let (agent, _) = session.unlock()?;
    // The output is there before the payload is marked as opened: a full disk must not lose it.
    let mut output = files::Output::create(&options.out, Access::Private, options.force)?;
    let mut seen = Seen::open(&session.home)?;
    let opened = match sealed::open(&agent, &envelope, &session.resolver(), &mut seen, session.now) {
        Ok(opened) => opened,
        Err(error) => return Err(Error::refused(error)),
    };
    super::is_signer(options.from.as_ref(), opened.signer())?;
    seen.keep()?;
    output.write_all(opened.payload()).map_err(|e| Error::named(&e))?;
    output.finish()?;
    let to_a_stream = is_stream(&options.out);
    let target = if to_a_stream { "standard output".to_owned() } else { options.out.display().to_string() };
    session.holds(
        format_args!(
            "{} bytes of {} from {} in {target}",
            opened.payload().len(),
            opened.media_type(),
            opened.sender()
        ),
        opened.signer(),
        json!({
            "sender": opened.sender().as_str(),
            "media_type": opened.media_type(),
            "bytes": opened.payload().len(),
            "expires": opened.expires().to_string(),
            "out": target,
        }),
    )
}
