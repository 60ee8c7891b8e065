//! An agent: its keys, its cards, and what it signs.

use gambeson_identity::action::{self, Action, Call};
use gambeson_identity::delegation::{Amount, Capability, Delegation, Evidence};
use gambeson_identity::{
    Agent, CardContent, CardLog, MasterSeed, Result, Retired, Role, Suite, Timestamp, a2a,
    application_context, approval, http, mcp,
};
use serde_json::Value;

use crate::border::{Answer, Input, MAX_JSON, NO_VERB, bad, given, object, said, texts};
#[cfg(feature = "whole")]
use crate::keeping;
use crate::{credentials, messages};

/// The agent of a seed, of words or of a file.
pub fn made(verb: &str, input: &Input<'_>) -> Result<Agent> {
    let suite = suite(input)?;
    let (seed, suite) = match verb {
        "generate" => (MasterSeed::generate()?, suite),
        "seed" => {
            let seed = <&[u8; 32]>::try_from(input.bytes()).map_err(|_| bad("a seed must have 32 bytes"))?;
            (MasterSeed::from_bytes(seed), suite)
        }
        #[cfg(feature = "whole")]
        "words" => (keeping::of_words(input)?, suite),
        #[cfg(feature = "whole")]
        "protected" => keeping::unprotected(input)?,
        #[cfg(feature = "whole")]
        "age" => (keeping::of_age_file(input)?, suite),
        #[cfg(feature = "test-vectors")]
        "deterministic" => return made("seed", input).map(Agent::deterministic),
        _ => return Err(bad(NO_VERB)),
    };
    match input.text_if("cards")? {
        Some(cards) => Agent::recover(seed, &CardLog::verify(cards.as_bytes())?),
        None => Ok(Agent::with_suite(seed, suite)),
    }
}

/// What an agent is asked.
pub fn ask(agent: &mut Agent, verb: &str, input: &Input<'_>) -> Result<Answer> {
    match verb {
        "about" => {
            said(object(vec![("did", agent.did().as_str().into()), ("suite", agent.suite().name().into())]))
        }
        "index" => said(agent.index(role(input)?).to_string()),
        "keyUrl" => said(agent.key_url(role(input)?).to_string()),
        "publicKey" => given(agent.public_key(role(input)?)),
        "sign" => {
            let [message, context] = input.exactly()?;
            given(agent.key(Role::Signing).sign(application_context(context)?, message)?)
        }
        "beginSession" => {
            agent.begin_session(input.number("n")?);
            said(Value::Null)
        }
        "card" => {
            let (from, until) = validity(input)?;
            let card = agent.first_card(from, until, &content(input, None)?)?;
            said(CardLog::new(card)?.to_lines())
        }
        "rotate" => said(rotate(agent, input)?.to_lines()),
        "delegate" => said(terms(input)?.sign(agent, input.text_if("parent")?)?),
        "approve" => {
            let action = Action::from_json(input.text("action")?.as_bytes())?;
            said(approval::sign(agent, &action, &input.text("actor")?.parse()?, input.now()?)?)
        }
        "action" => {
            let lifetime = input.number_if("lifetime")?.unwrap_or(action::MAX_LIFETIME);
            let action = Action::new(agent, call(input)?, input.text("audience")?, input.now()?)?;
            let action = action.lasting(lifetime).under(agent, &input.texts("chain")?);
            said(String::from_utf8_lossy(&action.to_json()).into_owned())
        }
        "signAction" => said(Action::from_json(input.text("action")?.as_bytes())?.sign(agent)?),
        "prove" => {
            let action = Action::from_json(input.text("action")?.as_bytes())?;
            said(mcp::prove(agent, &action, &evidence(input)?)?)
        }
        "acknowledge" => {
            let mut result = input.json("result", MAX_JSON)?;
            let action = Action::from_json(input.text("action")?.as_bytes())?;
            mcp::acknowledge(agent, &action, &mut result, input.now()?)?;
            said(result)
        }
        "signHttp" => messages::with(input, &mut |message| {
            let terms = http::Terms {
                components: messages::components(input, "components")?,
                required: messages::components(input, "required")?,
                role: if input.flag("capability")? { Role::Signing } else { Role::Identity },
                label: input.text_if("label")?.unwrap_or("gambeson").to_owned(),
                tag: input.text_if("tag")?.map(str::to_owned),
                lifetime: input.number_if("lifetime")?.unwrap_or(http::MAX_AGE),
            };
            let added = http::sign(agent, message, &terms, input.now()?)?;
            said(added.iter().map(|(name, value)| texts([&**name, value])).collect::<Value>())
        }),
        "signAgentCard" => {
            let mut card = input.json("card", MAX_JSON)?;
            a2a::sign(agent, &mut card)?;
            said(card)
        }
        _ => credentials::ask(agent, verb, input),
    }
}

/// The suite that is named, or the default one.
pub fn suite(input: &Input<'_>) -> Result<Suite> {
    input.text_if("suite")?.map_or(Ok(Suite::Default), str::parse)
}

pub fn role_of(name: &str) -> Result<Role> {
    Role::ALL.into_iter().find(|role| role.fragment() == name).ok_or_else(|| bad("unknown role"))
}

fn role(input: &Input<'_>) -> Result<Role> {
    input.text_if("role")?.map_or(Ok(Role::Signing), role_of)
}

/// What a card says besides keys; what is not said stays as it was.
fn content(input: &Input<'_>, before: Option<CardContent>) -> Result<CardContent> {
    let mut content = before.unwrap_or_default();
    if input.member("alsoKnownAs").is_some() {
        content.also_known_as = input.owned("alsoKnownAs")?;
    }
    if input.member("services").is_some() {
        content.services = input.list("services")?.to_vec();
    }
    Ok(content)
}

fn rotate(agent: &mut Agent, input: &Input<'_>) -> Result<CardLog> {
    let mut log = CardLog::verify(input.text("cards")?.as_bytes())?;
    let roles = input.texts("roles")?.into_iter().map(role_of).collect::<Result<Vec<_>>>()?;
    let retired = match input.flag("compromised")? {
        true => Retired::Compromised,
        false => Retired::Superseded(input.number_if("overlap")?.unwrap_or(0)),
    };
    let content = content(input, Some(log.newest().content()))?;
    agent.rotate(&mut log, &roles, retired, validity(input)?, &content)?;
    Ok(log)
}

/// A chain and approvals.
pub fn evidence(input: &Input<'_>) -> Result<Evidence> {
    Ok(Evidence { chain: input.owned("chain")?, approvals: input.owned("approvals")? })
}

/// So much of something.
pub fn amount(value: &Value) -> Result<Amount> {
    match (value["amount"].as_u64(), value["unit"].as_str()) {
        (Some(amount), Some(unit)) => Ok(Amount { amount, unit: unit.to_owned() }),
        _ => Err(bad("an amount must be {\"amount\": an integer, \"unit\": a string}")),
    }
}

/// A call: that of an MCP request, or one in its parts.
fn call(input: &Input<'_>) -> Result<Call> {
    let method = input.text("method")?;
    let read = |name: &str| match input.member(name) {
        Some(_) => input.json(name, action::MAX_ACTION),
        None => Ok(Default::default()),
    };
    match input.text_if("name")? {
        None => mcp::call(method, &read("params")?),
        Some(name) => Ok(Call { params: read("params")?, ..Call::new(method, name, read("arguments")?) }),
    }
}

fn terms(input: &Input<'_>) -> Result<Delegation> {
    Ok(Delegation {
        delegate: input.text("delegate")?.parse()?,
        from: input.time("from")?,
        until: input.time("until")?,
        capabilities: input.list("capabilities")?.iter().map(Capability::from_json).collect::<Result<_>>()?,
        max_depth: u8::try_from(input.number_if("maxDepth")?.unwrap_or(0))
            .map_err(|_| bad("\"maxDepth\" must be a small integer"))?,
        max_calls: input.number_if("maxCalls")?,
        budget: input.member("budget").map(amount).transpose()?,
        status: input.list("status")?.to_vec(),
    })
}

/// When something begins and ends.
pub fn validity(input: &Input<'_>) -> Result<(Timestamp, Timestamp)> {
    Ok((input.time("from")?, input.time("until")?))
}
