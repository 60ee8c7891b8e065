//! Approvals: somebody else says yes to one exact action, once.
//!
//! The format is in `docs/spec/delegation.md`: a credential `AgentApproval` that names the hash of the action.

use crate::action::Action;
use crate::delegation::{StatusCheck, check_status};
use crate::document::Relationship;
use crate::envelope::{Envelope, Form};
use crate::error::bad;
use crate::{Agent, Did, Error, Reason, Resolver, Result, Timestamp, Verified, digest};
use serde_json::{Map, Value};

pub(crate) const FORM: Form =
    Form { kind: "AgentApproval", member: "approval", relationship: Relationship::AssertionMethod };

/// A yes to one action of one agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Approval {
    approver: Did,
    until: Timestamp,
}

impl Approval {
    /// Who approved.
    pub fn approver(&self) -> &Did {
        &self.approver
    }

    /// Until when it may be used.
    pub fn until(&self) -> Timestamp {
        self.until
    }
}

/// Signs an approval of this action, which `actor` will sign or has signed. It ends with the action.
///
/// Whoever approves reads the [`Action`] first: who asks, what for, and until when.
///
/// ```
/// use gambeson_identity::{Agent, Timestamp, action::{Action, Call}, approval};
///
/// let (actor, boss, now) = (Agent::generate()?, Agent::generate()?, Timestamp(1_795_330_800));
/// let call = Call::new("tools/call", "wire", Default::default());
/// let action = Action::new(&actor, call, "did:web:bank.example", now)?.lasting(3600);
///
/// let request = Action::from_json(&action.to_json())?;
/// let approval = approval::sign(&boss, &request, actor.did(), now)?;
/// # Ok::<(), gambeson_identity::Error>(())
/// ```
///
/// # Errors
///
/// [`Reason::Expired`] for an action that has ended; [`Reason::NoRandomness`].
pub fn sign(approver: &Agent, action: &Action, actor: &Did, now: Timestamp) -> Result<String> {
    now.within(None, Some(action.expires()), "the action")?;
    let granted = Map::from_iter([("action".to_owned(), Value::from(action.digest(approver.suite())))]);
    Envelope::new(approver, actor.clone(), now, action.expires())?.sign(approver, &FORM, granted)
}

/// Verifies an approval of this action for its signer. That it is used once is for the ledger of
/// [`authorize`](crate::delegation::authorize) to see.
///
/// # Errors
///
/// [`Reason::TooLarge`], [`Reason::BadForm`], [`Reason::BadType`]; [`Reason::NotApproved`] if it is for another action,
/// [`Reason::WrongDelegate`] if for another agent; [`Reason::NotYetValid`], [`Reason::Expired`]; [`Reason::WrongIssuer`],
/// what the resolver and the key say, [`Reason::BadSignature`]; what the status says.
pub fn verify(
    token: &str,
    action: &Verified<Action>,
    resolver: &dyn Resolver,
    status: &dyn StatusCheck,
    now: Timestamp,
) -> Result<Verified<Approval>> {
    let opened = Envelope::read(token, &FORM)?;
    let name = match (opened.granted.len(), opened.granted.get("action")) {
        (1, Some(Value::String(name))) if digest::is_name(name) => name,
        _ => {
            return Err(bad(
                "an approval must name its action by a multihash in multibase and have no other claims",
            ));
        }
    };
    if !digest::names(name, &action.to_json()) {
        return Err(Error::new(Reason::NotApproved, "the approval is of another action"));
    }
    let envelope = &opened.envelope;
    if envelope.subject != *action.signer().did() {
        return Err(Error::new(
            Reason::WrongDelegate,
            format_args!("the approval is for {}", envelope.subject),
        ));
    }
    let signer = opened.verify(&FORM, resolver, now)?;
    check_status(envelope, status, now)?;
    Ok(Verified::new(Approval { approver: envelope.issuer.clone(), until: envelope.until }, signer))
}
