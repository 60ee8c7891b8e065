//! Lists of what was revoked or suspended, as their issuers make them.

use gambeson_identity::vc::{MIN_ENTRIES, StatusList, StatusPurpose, StatusResolver};
use gambeson_identity::{Agent, Error, Reason, Result};
use serde_json::Value;

use crate::agent::validity;
use crate::border::{Answer, Input, NO_VERB, bad, object, said};
use crate::verifier::Verifier;

fn purpose(input: &Input<'_>) -> Result<StatusPurpose> {
    let name = input.text_if("purpose")?.unwrap_or("revocation");
    [StatusPurpose::Revocation, StatusPurpose::Suspension]
        .into_iter()
        .find(|purpose| purpose.name() == name)
        .ok_or_else(|| bad("a purpose must be `revocation` or `suspension`"))
}

/// An empty status list.
pub fn new_list(input: &Input<'_>) -> Result<StatusList> {
    let entries = input.member("entries").map_or(Ok(MIN_ENTRIES), |_| input.size("entries"))?;
    StatusList::new(purpose(input)?, entries)
}

/// What a status list is asked.
pub fn ask(list: &mut StatusList, verb: &str, input: &Input<'_>) -> Result<Answer> {
    match verb {
        "set" => {
            list.set(input.size("index")?, input.flag("value")?)?;
            said(Value::Null)
        }
        "isSet" => said(list.is_set(input.size("index")?)?),
        "entries" => said(list.entries()),
        "encode" => said(list.encode()),
        _ => Err(bad(NO_VERB)),
    }
}

/// What a verifier is asked.
pub fn ask_verifier(verifier: &Verifier, verb: &str, input: &Input<'_>) -> Result<Answer> {
    match verb {
        "statusList" => status_list(verifier, input),
        _ => Err(bad(NO_VERB)),
    }
}

/// Issues a status list as a credential of its own.
pub fn issue_list(list: &StatusList, agent: &Agent, input: &Input<'_>) -> Result<Answer> {
    let ttl = input.number_if("ttl")?.map(|seconds| seconds.saturating_mul(1000));
    said(list.issue(agent, input.text("url")?, validity(input)?, ttl)?)
}

fn status_list(verifier: &Verifier, input: &Input<'_>) -> Result<Answer> {
    let issuer = input.text("issuer")?.parse()?;
    let found = verifier.lists.status_list(&issuer, input.text("url")?, input.now()?)?;
    let list = found.list(purpose(input)?);
    let list =
        list.ok_or_else(|| Error::new(Reason::UnknownStatus, "the list is not one of that purpose"))?;
    let set = (0..list.entries()).filter(|index| list.is_set(*index) == Ok(true));
    said(object(vec![("entries", list.entries().into()), ("set", set.map(Value::from).collect())]))
}
