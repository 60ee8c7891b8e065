//! `agent act sign` and `verify`: tool calls that somebody stands for, once.

use super::Session;
use super::ledger::Book;
use super::seen::Seen;
use super::status::Consulted;
use crate::args::agent::{ActCommand, ActSign, ActVerify};
use crate::error::{Error, Status};
use crate::files::{self, Access};
use gambeson_identity::action::{self, Action, Call, Expectations, MAX_ACTION};
use gambeson_identity::delegation::{
    Authority, Authorized, Chain, Evidence, MemoryLedger, Policy, authorize,
};
use gambeson_identity::{Did, PendingReplay, Reason, Verified, json as strict, vc};
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
    let chain = match &options.under {
        Some(path) => super::delegating::links(path)?,
        None => Vec::new(),
    };
    made = made.under(&agent, &chain);
    let token = made.sign(&agent).map_err(Error::from_request)?;
    if let Some(refusal) = out_of_bounds(session, &made, &token, &chain) {
        crate::console::warn(format_args!(
            "the delegation does not permit this call, so verifiers refuse it: {refusal}"
        ));
    }
    let text = signed(&made, &token, &chain)?;
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
            "type": "action",
            "action": made.call().action(),
            "aud": made.audience(),
            "digest": made.digest(agent.suite()),
            "validUntil": made.expires().to_string(),
            "out": options.out.display().to_string(),
        }),
    )?;
    Ok(Status::Done)
}

/// Returns the reason for which the chain does not permit an action that was signed under it. Trust in the root, revocations, uses and approvals
/// are left to the verifier.
fn out_of_bounds(session: &Session, action: &Action, token: &str, chain: &[String]) -> Option<String> {
    let resolver = session.resolver();
    let judged = (|| {
        let root =
            Chain::verify(chain, &*resolver, &vc::Status::Ignored, session.now)?.links()[0].issuer().clone();
        let expected = Expectations::new(action.audience());
        let mut pending = PendingReplay::default();
        let action =
            action::verify(&action.to_json(), token, &expected, &*resolver, session.now, &mut pending)?;
        let policy = Policy::default().trust(action.audience().parse()?, root);
        let authority = Authority { policy: &policy, resolver: &*resolver, status: &vc::Status::Ignored };
        let evidence = Evidence { chain: chain.to_vec(), approvals: Vec::new() };
        authorize(&action, &evidence, None, &authority, &mut MemoryLedger::new(1), session.now).map(drop)
    })();
    let error: gambeson_identity::Error = judged.err()?;
    matches!(error.reason(), Reason::NotPermitted | Reason::WrongDelegate | Reason::Expired)
        .then(|| error.detail().to_owned())
}

/// A file of an action: one JSON object, `action` and `signature`, and the `chain` of delegation if there is one.
fn signed(action: &Action, token: &str, chain: &[String]) -> Result<String, Error> {
    let action: Value = serde_json::from_slice(&action.to_json())
        .map_err(|e| Error::outside(format!("the action is no JSON: {e}")))?;
    let mut file = json!({"action": action, "signature": token});
    if !chain.is_empty() {
        file["chain"] = chain.into();
    }
    Ok(format!("{file}\n"))
}

/// A file of [`signed`], taken apart.
pub(super) struct Signed {
    pub(super) action: Vec<u8>,
    token: String,
    chain: Vec<String>,
}

impl Signed {
    pub(super) fn read(text: &[u8]) -> gambeson_identity::Result<Self> {
        let bad = || {
            let what =
                "a signed action has the members action and signature, optionally chain, and no others";
            gambeson_identity::Error::new(Reason::BadForm, what)
        };
        let mut file = strict::parse_object(text, MAX_ACTION + (1 << 20))?;
        let chain = match file.remove("chain") {
            None => Vec::new(),
            Some(Value::Array(links)) => links
                .into_iter()
                .map(|link| link.as_str().map(str::to_owned).ok_or_else(bad))
                .collect::<gambeson_identity::Result<_>>()?,
            Some(_) => return Err(bad()),
        };
        match (file.remove("action"), file.remove("signature"), file.is_empty()) {
            (Some(Value::Object(action)), Some(Value::String(token)), true) => {
                Ok(Self { action: strict::canonicalize_object(&action)?, token, chain })
            }
            _ => Err(bad()),
        }
    }
}

fn verify(session: &Session, options: &ActVerify) -> Result<Status, Error> {
    let audience = match &options.audience {
        Some(audience) => audience.clone(),
        None => session.home.owner()?.to_string(),
    };
    let text = files::read_small(&options.signed)?;
    let approvals =
        options.approval.iter().map(|path| super::signing::text(path)).collect::<Result<_, _>>()?;
    let mut expected = Expectations::new(&audience);
    if let Some(seconds) = options.lifetime {
        expected = expected.lasting(seconds);
    }
    let resolver = session.resolver();
    let mut seen = Seen::open(&session.home)?;
    let mut book = Book::open(session)?;
    let lists = Consulted::new(session, options.max_status_age);
    let judged = (|| {
        let Signed { action, token, chain } = Signed::read(&text)?;
        let mut pending = PendingReplay::default();
        let verified = action::verify(&action, &token, &expected, &*resolver, session.now, &mut pending)?;
        if options.trust.is_empty() {
            pending.settle(&mut seen, session.now)?;
            return Ok((verified, None));
        }
        let mut policy = Policy::default();
        for root in &options.trust {
            policy = policy.trust(audience.parse()?, root.clone());
        }
        let authority = Authority { policy: &policy, resolver: &*resolver, status: &lists };
        let evidence = Evidence { chain, approvals };
        let mut ledger = pending.before(&mut seen, &mut book);
        let permitted =
            authorize(&verified, &evidence, options.cost.as_ref(), &authority, &mut ledger, session.now)?;
        drop(ledger);
        lists.check_age(session.now)?;
        Ok((verified, Some(permitted)))
    })();
    let (verified, permitted) = match judged {
        Ok(judged) => judged,
        Err(error) => return session.refused(&error),
    };
    if let Err(error) = super::is_signer(options.signer.as_ref(), verified.signer()) {
        return session.refused(&error);
    }
    if permitted.is_some() || options.signature_only {
        // The lock goes with what was seen: the book comes first.
        book.keep()?;
        seen.keep()?;
    }
    let call = json!({
        "action": verified.call().action(),
        "arguments": verified.call().arguments,
        "aud": verified.audience(),
        "issued": verified.issued().to_string(),
    });
    match permitted {
        Some(permitted) => may(session, &verified, &permitted, &lists, call),
        None => unasked(session, &verified, options.signature_only, call),
    }
}

/// Reports a call that its signer may make.
fn may(
    session: &Session,
    verified: &Verified<Action>,
    permitted: &Authorized,
    lists: &Consulted,
    mut call: Value,
) -> Result<Status, Error> {
    let names = |dids: &[Did]| dids.iter().map(|did| did.to_string()).collect::<Vec<_>>();
    call["permission"] = "checked".into();
    call["root"] = permitted.root.as_str().into();
    call["path"] = names(&permitted.path).into();
    call["approvers"] = names(&permitted.approvers).into();
    lists.members().into_iter().for_each(|(name, value)| call[name] = value);
    let mut lines = vec![format!(
        "{} may do {}, in the name of {}",
        verified.signer(),
        verified.call().action(),
        permitted.root
    )];
    if permitted.capability.is_some() {
        lines.push(format!("delegation: {}", lists.text()));
    }
    session.holds_lines(lines, verified.signer(), call)
}

/// Reports a call whose signature holds, and of which nobody asked whether it is permitted: refused unless that was wanted.
fn unasked(
    session: &Session,
    verified: &Verified<Action>,
    is_wanted: bool,
    mut call: Value,
) -> Result<Status, Error> {
    let signer = verified.signer();
    call["type"] = "verdict".into();
    call["verified"] = is_wanted.into();
    call["signer"] = signer.to_string().into();
    call["permission"] = "not-checked".into();
    if !is_wanted {
        call["reason"] = "permission-not-checked".into();
    }
    let mut lines = vec![format!(
        "signature valid; permission NOT checked: {signer} asks for {}",
        verified.call().action()
    )];
    if !is_wanted {
        lines.push(
            "refused: --trust names the root in whose name the call may be made; --signature-only verifies the signature alone"
                .to_owned(),
        );
    }
    session.console.report_lines(lines, call)?;
    Ok(if is_wanted { Status::Done } else { Status::NotVerified })
}

/// Reads what is to be done: `method`, and perhaps `name`, `arguments` and `params`.
pub(super) fn call(path: &Path) -> Result<Call, Error> {
    let bad = |what: &str| Error::outside(format!("{}: {what}", path.display()));
    let mut object =
        strict::parse_object(&files::read_small(path)?, MAX_ACTION).map_err(|e| Error::in_file(path, &e))?;
    let mut text = |name: &str| match object.remove(name) {
        Some(Value::String(text)) => Ok(text),
        None if name == "name" => Ok(String::new()),
        _ => Err(bad(&format!("{name:?} must be a string"))),
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
        Some(name) => Err(bad(&format!(
            "unknown member {name:?} of a call (expected method, name, arguments or params; of a JSON-RPC request give method and params alone)"
        ))),
    }
}
