//! `agent a2a sign`, `verify`: agent cards of the Agent2Agent protocol.

use super::Session;
use crate::args::agent::{A2aCommand, A2aSign, A2aVerify};
use crate::error::{Error, Status};
use crate::files::{self, Access};
use gambeson_identity::{a2a, json as strict};
use serde_json::{Value, json};

pub(super) fn a2a(session: &Session, command: &A2aCommand) -> Result<Status, Error> {
    match command {
        A2aCommand::Sign(options) => sign(session, options),
        A2aCommand::Verify(options) => verify(session, options),
    }
}

fn sign(session: &Session, options: &A2aSign) -> Result<Status, Error> {
    files::refuse_existing(&options.out, options.force)?;
    let bad = |e: gambeson_identity::Error| Error::in_file(&options.card, &e);
    let mut card = strict::parse_object(&files::read_small(&options.card)?, a2a::MAX_CARD).map_err(bad)?;
    let (agent, _) = session.unlock()?;
    a2a::sign(&agent, &mut card).map_err(bad)?;
    let name = card.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
    files::write(
        &options.out,
        format!("{:#}\n", Value::Object(card)).as_bytes(),
        Access::Shared,
        options.force,
    )?;
    session.console.report(
        format_args!("{name:?} signed by {}: {}", agent.did(), options.out.display()),
        json!({"type": "agent-card", "name": name, "signer": agent.did().as_str(), "out": options.out.display().to_string()}),
    )?;
    Ok(Status::Done)
}

fn verify(session: &Session, options: &A2aVerify) -> Result<Status, Error> {
    let card = files::read_small(&options.card)?;
    match a2a::verify(&card, options.signer.as_ref(), &*session.resolver(), session.now) {
        Ok(verified) => session.holds(
            format_args!("the card of {} is signed by {}", verified.json()["name"], verified.signer()),
            verified.signer(),
            json!({"agentCard": verified.json()}),
        ),
        Err(error) => session.refused(&error),
    }
}
