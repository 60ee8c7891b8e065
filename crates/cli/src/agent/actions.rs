//! `agent act sign` and `verify`: tool calls that somebody stands for, once.

use super::Session;
use super::seen::Seen;
use crate::args::agent::{ActCommand, ActSign, ActVerify};
use crate::error::{Error, Status};
use crate::files::{self, Access};
use gambeson_identity::action::{self, Action, Call, Expectations, MAX_ACTION};
use gambeson_identity::{Reason, json as strict};
use serde_json::{Map, Value, json};
use std::path::Path;

pub(super) fn act(session: &Session, command: &ActCommand) -> Result<Status, Error> {
    match command {
        ActCommand::Sign(options) => sign(session, options),
        ActCommand::Verify(options) => verify(session, options),
    }
}

fn sign(session: &Session, options: &ActSign) -> Result<Status, Error> {
    let call = call(&options.call)?;
    files::refuse_existing(&options.out, options.force)?;
    let (agent, _) = session.unlock()?;
    let mut made = Action::new(&agent, call, &options.audience, session.now).map_err(Error::from_request)?;
    if let Some(seconds) = options.lifetime {
        made = made.lasting(seconds);
    }
    let token = made.sign(&agent).map_err(Error::from_request)?;
    let text = signed(&made, &token)?;
    files::write(&options.out, text.as_bytes(), Access::Shared, options.force)?;
    session.console.report(
        format_args!(
            "{} for {} until {}: {}",
            made.call().action(),
            made.audience(),
            made.expires(),
            options.out.display()
        ),
        json!({
            "action": made.call().action(),
            "aud": made.audience(),
            "digest": made.digest(agent.suite()),
            "expires": made.expires().to_string(),
            "out": options.out.display().to_string(),
        }),
    )?;
    Ok(Status::Done)
}

/// A file of an action and its signature: one JSON object, `action` and `signature`.
pub(super) fn signed(action: &Action, token: &str) -> Result<String, Error> {
    let action: Value = serde_json::from_slice(&action.to_json())
        .map_err(|e| Error::outside(format!("the action is no JSON: {e}")))?;
    Ok(format!("{}\n", json!({"action": action, "signature": token})))
}

fn verify(session: &Session, options: &ActVerify) -> Result<Status, Error> {
    let audience = match &options.audience {
        Some(audience) => audience.clone(),
        None => session.home.owner()?.to_string(),
    };
    let text = files::read_small(&options.signed)?;
    let mut expected = Expectations::new(&audience);
    if let Some(seconds) = options.lifetime {
        expected = expected.lasting(seconds);
    }
    let mut seen = Seen::open(&session.home)?;
    let judged = parts(&text).and_then(|(action, token)| {
        action::verify(&action, &token, &expected, &*session.resolver(), session.now, &mut seen)
    });
    match judged {
        Ok(verified) => {
            super::is_signer(options.signer.as_ref(), verified.signer())?;
            seen.keep()?;
            session.holds(
                format_args!("{} asks for {}", verified.signer(), verified.call().action()),
                verified.signer(),
                json!({
                    "action": verified.call().action(),
                    "arguments": verified.call().arguments,
                    "aud": verified.audience(),
                    "issued": verified.issued().to_string(),
                }),
            )
        }
        Err(error) => session.refused(&error),
    }
}

/// The members of a file of [`signed`].
pub(super) fn parts(text: &[u8]) -> gambeson_identity::Result<(Vec<u8>, String)> {
    let bad = || {
        gambeson_identity::Error::new(
            Reason::BadForm,
            "a signed action has the members action and signature, and no other",
        )
    };
    let mut file = strict::parse_object(text, MAX_ACTION + (64 << 10))?;
    match (file.remove("action"), file.remove("signature"), file.is_empty()) {
        (Some(Value::Object(action)), Some(Value::String(token)), true) => {
            Ok((strict::canonicalize_object(&action)?, token))
        }
        _ => Err(bad()),
    }
}

/// Reads what is to be done: `method`, and perhaps `name`, `arguments` and `params`.
pub(super) fn call(path: &Path) -> Result<Call, Error> {
    let bad = |what: &str| Error::outside(format!("{}: {what}", path.display()));
    let mut object = strict::parse_object(&files::read_small(path)?, MAX_ACTION)
        .map_err(|e| bad(e.detail()).because(e.reason().code()))?;
    let mut text = |name: &str| match object.remove(name) {
        Some(Value::String(text)) => Ok(text),
        None if name == "name" => Ok(String::new()),
        _ => Err(bad(&format!("{name:?} must be a text"))),
    };
    let (method, name) = (text("method")?, text("name")?);
    let mut members = |name: &str| match object.remove(name) {
        Some(Value::Object(members)) => Ok(members),
        None => Ok(Map::new()),
        _ => Err(bad(&format!("{name:?} must be an object"))),
    };
    let (arguments, params) = (members("arguments")?, members("params")?);
    match object.keys().next() {
        None => Ok(Call { method, name, arguments, params }),
        Some(name) => Err(bad(&format!("{name:?} is no part of a call: method, name, arguments, params"))),
    }
}
