//! `agent delegate grant`, `verify`, `show`; `agent approve`.

use super::Session;
use super::signing::text;
use super::status::{Consulted, OwnList};
use crate::args::agent::{Approve, DelegateCommand, DelegateVerify, Grant};
use crate::console::{counted, one_word, present};
use crate::error::{Error, Status};
use crate::files::{self, Access};
use gambeson_identity::action::Action;
use gambeson_identity::delegation::{Capability, Caveat, Chain, Delegation, Link, Test};
use gambeson_identity::jose::Jws;
use gambeson_identity::{Did, Reason, Timestamp, approval, json as strict};
use serde_json::{Value, json};
use std::path::Path;

pub(super) fn delegate(session: &Session, command: &DelegateCommand) -> Result<Status, Error> {
    match command {
        DelegateCommand::Grant(options) => grant(session, options),
        DelegateCommand::Verify(options) => verify(session, options, false),
        DelegateCommand::Show(options) => verify(session, options, true),
    }
}

fn grant(session: &Session, options: &Grant) -> Result<Status, Error> {
    files::refuse_existing(&options.out, options.force)?;
    let mut chain = match &options.under {
        Some(path) => links(path)?,
        None => Vec::new(),
    };
    let arguments = [&options.at_most, &options.at_least, &options.one_of, &options.prefix];
    let mut caveats: Vec<Caveat> = arguments.into_iter().flatten().cloned().collect();
    if !options.approval_by.is_empty() {
        caveats.push(Caveat::Approval(options.approval_by.clone()));
    }
    let capability = |action: &_, resource: &_| Capability {
        action: Clone::clone(action),
        resource: Clone::clone(resource),
        caveats: caveats.clone(),
    };
    let _lock = session.home.lock()?;
    let (agent, _) = session.unlock()?;
    let parent = chain.last().map(String::as_str);
    let (until, of_parent) = until(session.now, options.hours, parent);
    let mut granted = Delegation {
        delegate: options.to.clone(),
        from: session.now,
        until,
        capabilities: options
            .action
            .iter()
            .flat_map(|action| options.resource.iter().map(move |resource| (action, resource)))
            .map(|(action, resource)| capability(action, resource))
            .collect(),
        max_depth: options.depth,
        max_calls: options.calls,
        budget: options.budget.clone(),
        status: Vec::new(),
    };
    // What would be refused takes no entry of the status list.
    granted.sign(&agent, parent).map_err(Error::from_request)?;
    if !options.irrevocable {
        let mut own = OwnList::open(session)?;
        granted.status.push(own.take(until)?.to_json());
        own.keep(session, &agent)?;
    }
    let link = granted.sign(&agent, parent).map_err(Error::from_request)?;
    chain.push(link);
    files::write(&options.out, format!("{}\n", chain.join("\n")).as_bytes(), Access::Shared, options.force)?;
    session.console.report(
        format_args!(
            "{} until {until}{}, link {}: {}",
            options.to,
            if of_parent { ", the end of the chain above" } else { "" },
            chain.len(),
            options.out.display()
        ),
        json!({
            "type": "delegation",
            "delegate": options.to.as_str(),
            "validUntil": until.to_string(),
            "length": chain.len(),
            "out": options.out.display().to_string(),
        }),
    )?;
    Ok(Status::Done)
}

/// Returns when a link ends, and whether that is the end of its parent: where no hours are asked for, it is within that.
fn until(now: Timestamp, hours: Option<u64>, parent: Option<&str>) -> (Timestamp, bool) {
    const USUAL: u64 = 24;
    let end = now.after(hours.unwrap_or(USUAL) * 3600);
    // Of a parent that cannot be read the signing tells.
    let above = parent.filter(|_| hours.is_none()).and_then(|token| {
        let jws = Jws::parse(token, token.len()).ok()?;
        let claims = strict::parse_object(jws.payload_unverified(), token.len()).ok()?;
        claims.get("validUntil")?.as_str()?.parse::<Timestamp>().ok()
    });
    match above.filter(|above| (now.0..end.0).contains(&above.0)) {
        Some(above) => (above, true),
        None => (end, false),
    }
}

/// The links of a chain's file, one a line, from the root.
pub(super) fn links(path: &Path) -> Result<Vec<String>, Error> {
    Ok(text(path)?.lines().map(str::to_owned).filter(|line| !line.is_empty()).collect())
}

fn verify(session: &Session, options: &DelegateVerify, details: bool) -> Result<Status, Error> {
    let resolver = session.resolver();
    let lists = Consulted::new(session, options.max_status_age);
    let chain = Chain::verify(&links(&options.chain)?, &*resolver, &lists, session.now);
    let chain = match chain.and_then(|chain| lists.check_age(session.now).map(|()| chain)) {
        Ok(chain) => chain,
        Err(error) => return session.refused(&error),
    };
    let root = chain.links()[0].issuer();
    if let Some(expected) = options.root.as_ref().filter(|expected| *expected != root) {
        let detail = format_args!("the root is {root}, not {expected}");
        return session.refused(&gambeson_identity::Error::new(Reason::UntrustedRoot, detail));
    }
    let mut path = vec![root.to_string()];
    let mut lines = vec![root.to_string()];
    for link in chain.links() {
        let delegate = link.terms().delegate.to_string();
        lines.push(format!("  to {delegate}"));
        path.push(delegate);
    }
    if details {
        lines.extend(chain.links().iter().flat_map(terms));
    }
    lines.push(lists.text());
    if options.root.is_none() {
        lines.push("root NOT checked: name the expected root with --root".to_owned());
    }
    let granted: Vec<Value> = chain.links().iter().map(members).collect();
    let mut report =
        json!({"path": path, "rootChecked": options.root.is_some(), "links": details.then_some(granted)});
    lists.members().into_iter().for_each(|(name, value)| report[name] = value);
    session.holds_lines(lines, chain.signer(), report)
}

/// The lines for a person about the grant of a link; each text in it reads as one.
fn terms(link: &Link) -> Vec<String> {
    let terms = link.terms();
    let mut limits = format!("  until {}, {}", terms.until, counted(terms.max_depth, "more link"));
    if let Some(calls) = terms.max_calls {
        limits += &format!(", {}", counted(calls, "call"));
    }
    if let Some(budget) = &terms.budget {
        limits += &format!(", {} {}", budget.amount, one_word(&budget.unit));
    }
    let mut lines = vec![terms.delegate.to_string(), limits];
    for capability in &terms.capabilities {
        lines.push(format!("  {} at {}", one_word(&capability.action), one_word(&capability.resource)));
        lines.extend(capability.caveats.iter().map(|caveat| format!("    only {}", condition(caveat))));
    }
    lines
}

/// A caveat, for a person. Texts are told as JSON has them: whoever wrote the link chose them.
fn condition(caveat: &Caveat) -> String {
    match caveat {
        Caveat::Argument(pointer, test) => {
            let test = match test {
                Test::OneOf(values) => format!("one of {}", Value::from(values.clone())),
                Test::AtMost(number) => format!("at most {number}"),
                Test::AtLeast(number) => format!("at least {number}"),
                Test::Prefix(prefix) if prefix.starts_with('/') || prefix.contains("://") => {
                    format!("{} or below it", Value::from(prefix.as_str()))
                }
                Test::Prefix(prefix) => format!("a text that begins with {}", Value::from(prefix.as_str())),
            };
            format!("if {} is {test}", Value::from(pointer.as_str()))
        }
        Caveat::Approval(approvers) => {
            let approvers: Vec<&str> = approvers.iter().map(Did::as_str).collect();
            format!("with an approval by {}", approvers.join(" or "))
        }
    }
}

/// What a link grants, for a program.
fn members(link: &Link) -> Value {
    let terms = link.terms();
    let capabilities: Vec<Value> = terms.capabilities.iter().map(Capability::to_json).collect();
    present(json!({
        "issuer": link.issuer().as_str(),
        "delegate": terms.delegate.as_str(),
        "validFrom": terms.from.to_string(),
        "validUntil": terms.until.to_string(),
        "capabilities": capabilities,
        "maxDepth": terms.max_depth,
        "maxCalls": terms.max_calls,
        "budget": terms.budget.as_ref().map(|it| json!({"amount": it.amount, "unit": it.unit})),
    }))
}

pub(super) fn approve(session: &Session, options: &Approve) -> Result<Status, Error> {
    files::refuse_existing(&options.out, options.force)?;
    let file = files::read_small(&options.action)?;
    let action = super::actions::Signed::read(&file).and_then(|signed| Action::from_json(&signed.action));
    let action = action.map_err(|e| Error::in_file(&options.action, &e))?;
    let arguments = Value::from(action.call().arguments.clone());
    session.console.show_before_signing(&[
        format!(
            "{} wants to do {} at {}",
            options.actor,
            Value::from(action.call().action()),
            Value::from(action.audience())
        ),
        format!("  with {arguments}"),
    ]);
    let (agent, _) = session.unlock()?;
    let approval =
        approval::sign(&agent, &action, &options.actor, session.now).map_err(Error::from_request)?;
    files::write(&options.out, format!("{approval}\n").as_bytes(), Access::Shared, options.force)?;
    session.console.report(
        format_args!(
            "approved {} of {} for {}: {}",
            action.call().action(),
            options.actor,
            action.audience(),
            options.out.display()
        ),
        json!({
            "type": "approval",
            "action": action.call().action(),
            "actor": options.actor.as_str(),
            "aud": action.audience(),
            "arguments": arguments,
            "validUntil": action.expires().to_string(),
            "out": options.out.display().to_string(),
        }),
    )?;
    Ok(Status::Done)
}
