//! Who may do what in whose name: chains of delegation that can only narrow, and whether they permit an action.
//!
//! The formats and the algorithm are in `docs/spec/delegation.md`. A chain begins with a root whom the verifier trusts for
//! a resource; each link is a credential in which a delegate gets no more than its issuer has; the last delegate signs the
//! action. What is not granted is refused.
//!
//! # Layout
//!
//! * [`Delegation`]: what a link grants; [`Chain`]: links that were verified; [`Chains`]: those known by their name
//! * [`Capability`], [`Caveat`], [`Pattern`]: what may be done
//! * [`Ledger`], [`MemoryLedger`]: what was used up
//! * [`authorize`], [`Policy`], [`Authority`], [`Evidence`]: the decision

use crate::action::Action;
use crate::approval::{self, Approval};
use crate::document::Relationship;
use crate::envelope::{Envelope, Form, Opened};
use crate::error::bad;
use crate::replay::{Account, Expiring, ReplayId};
use crate::{Agent, Did, DidUrl, Error, Reason, Resolver, Result, Suite, Timestamp, Verified, digest};
use capability::{members, text};
use serde_json::{Map, Value};
use std::sync::Arc;

mod capability;
mod hierarchy;
mod ledger;
mod pattern;

pub use capability::{Capability, Caveat, Test};
pub use ledger::{Ledger, MemoryLedger, Spend};
pub use pattern::Pattern;

/// The most links of a chain.
pub const MAX_LINKS: usize = 8;

/// The most approvals that are read beside an action.
pub const MAX_APPROVALS: usize = 8;

/// The most capabilities of a link.
const MAX_CAPABILITIES: usize = 64;

/// The most caveats of a link, over all its capabilities: what a link costs its reader grows with their square.
const MAX_LINK_CAVEATS: usize = 256;

/// The most values and approvers of a link, over all its caveats.
const MAX_LINK_VALUES: usize = 512;

/// The greatest count and amount: the greatest integer of I-JSON.
const MAX_AMOUNT: u64 = (1 << 53) - 1;

pub(crate) const FORM: Form = Form {
    kind: "AgentDelegationCredential",
    member: "delegation",
    relationship: Relationship::CapabilityDelegation,
};

/// So much of something: money in its smallest unit, tokens, seconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Amount {
    /// How much, at most 2^53 − 1.
    pub amount: u64,
    /// Of what, such as `EUR-cent`.
    pub unit: String,
}

/// What one link grants.
#[derive(Clone, Debug, PartialEq)]
pub struct Delegation {
    /// Who gets it.
    pub delegate: Did,
    /// From when.
    pub from: Timestamp,
    /// The last second.
    pub until: Timestamp,
    /// What may be done: any of these.
    pub capabilities: Vec<Capability>,
    /// How many links may follow.
    pub max_depth: u8,
    /// How many actions may be done, by the delegate and all below it together.
    pub max_calls: Option<u64>,
    /// What these may cost together.
    pub budget: Option<Amount>,
    /// Entries of status lists, so that the issuer can take the link back.
    pub status: Vec<Value>,
}

impl Delegation {
    /// Signs a link: the first of a chain, or one after `parent`, of which the agent is the delegate.
    ///
    /// ```
    /// use gambeson_identity::{Agent, Reason, Timestamp, delegation::{Capability, Delegation}};
    ///
    /// let (root, middle, leaf) = (Agent::generate()?, Agent::generate()?, Agent::generate()?);
    /// let now = Timestamp(1_795_330_800);
    /// let grant = Delegation {
    ///     delegate: middle.did().clone(),
    ///     from: now,
    ///     until: now.after(3600),
    ///     capabilities: vec![Capability {
    ///         action: "tools/call/*".parse()?,
    ///         resource: "did:web:bank.example".parse()?,
    ///         caveats: Vec::new(),
    ///     }],
    ///     max_depth: 1,
    ///     max_calls: Some(10),
    ///     budget: None,
    ///     status: Vec::new(),
    /// };
    /// let first = grant.sign(&root, None)?;
    ///
    /// let mut narrower = Delegation { delegate: leaf.did().clone(), max_depth: 0, ..grant };
    /// narrower.capabilities[0].action = "tools/call/pay".parse()?;
    /// let second = narrower.sign(&middle, Some(&first))?;
    ///
    /// narrower.max_calls = Some(11);
    /// assert_eq!(narrower.sign(&middle, Some(&first)).unwrap_err().reason(), Reason::Widened);
    /// # Ok::<(), gambeson_identity::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Reason::Widened`], [`Reason::TooDeep`], [`Reason::WrongDelegate`] against the parent; [`Reason::BadForm`],
    /// [`Reason::TooLarge`] for what cannot be read again; [`Reason::NoRandomness`].
    pub fn sign(&self, agent: &Agent, parent: Option<&str>) -> Result<String> {
        let mut envelope = Envelope::new(agent, self.delegate.clone(), self.from, self.until)?;
        envelope.status.clone_from(&self.status);
        let name = parent.map(|token| digest::digest(agent.suite(), token.as_bytes()));
        let token = envelope.sign(agent, &FORM, self.granted(name.as_deref()))?;
        let link = Link::read(&token)?;
        if let Some(parent) = parent {
            let parent = Link::read(parent)?;
            link.joins(&parent)?;
            parent.terms.narrows_to(&link.terms)?;
        }
        Ok(token)
    }

    fn granted(&self, parent: Option<&str>) -> Map<String, Value> {
        let mut granted = Map::from_iter([
            ("parent".to_owned(), parent.into()),
            ("capabilities".to_owned(), self.capabilities.iter().map(Capability::to_json).collect()),
            ("maxDepth".to_owned(), self.max_depth.into()),
        ]);
        if let Some(calls) = self.max_calls {
            granted.insert("maxCalls".into(), calls.into());
        }
        if let Some(budget) = &self.budget {
            granted
                .insert("budget".into(), serde_json::json!({"amount": budget.amount, "unit": budget.unit}));
        }
        granted
    }

    fn read(envelope: &Envelope, granted: &Value) -> Result<Self> {
        let known = ["parent", "capabilities", "maxDepth", "maxCalls", "budget"];
        let object = members(granted, &known, "a delegation")?;
        let count = |object: &Map<String, Value>, name: &str| match object.get(name).map(Value::as_u64) {
            None => Ok(None),
            Some(Some(count)) if count <= MAX_AMOUNT => Ok(Some(count)),
            Some(_) => Err(bad(format_args!("{name:?} must be an integer of at most 2^53 - 1"))),
        };
        let capabilities: Vec<Capability> = match object.get("capabilities") {
            Some(Value::Array(items)) if (1..=MAX_CAPABILITIES).contains(&items.len()) => {
                items.iter().map(Capability::from_json).collect::<Result<_>>()?
            }
            _ => {
                return Err(bad(format_args!("a delegation must have 1 to {MAX_CAPABILITIES} capabilities")));
            }
        };
        let caveats = || capabilities.iter().flat_map(|capability| &capability.caveats);
        let values: usize = caveats().map(Caveat::values).sum();
        if caveats().count() > MAX_LINK_CAVEATS || values > MAX_LINK_VALUES {
            return Err(bad(format_args!(
                "a link may have at most {MAX_LINK_CAVEATS} caveats, and {MAX_LINK_VALUES} values and approvers in them"
            )));
        }
        let max_depth = count(object, "maxDepth")?
            .and_then(|depth| u8::try_from(depth).ok())
            .filter(|depth| usize::from(*depth) < MAX_LINKS)
            .ok_or_else(|| bad(format_args!("maxDepth must be a number below {MAX_LINKS}")))?;
        let budget = match object.get("budget") {
            None => None,
            Some(budget) => {
                let budget = members(budget, &["amount", "unit"], "a budget")?;
                let amount = count(budget, "amount")?.ok_or_else(|| bad("a budget must have an amount"))?;
                Some(Amount { amount, unit: text(budget, "unit")?.to_owned() })
            }
        };
        Ok(Self {
            delegate: envelope.subject.clone(),
            from: envelope.from,
            until: envelope.until,
            capabilities,
            max_depth,
            max_calls: count(object, "maxCalls")?,
            budget,
            status: envelope.status.clone(),
        })
    }

    /// Refuses a child that is not within this in every dimension.
    fn narrows_to(&self, child: &Self) -> Result<()> {
        let wider = |what: &str| Err(Error::new(Reason::Widened, format_args!("the link widens {what}")));
        if self.max_depth == 0 {
            return Err(Error::new(Reason::TooDeep, "the parent allows no further link"));
        }
        if child.max_depth >= self.max_depth {
            return wider("maxDepth");
        }
        if child.from < self.from || child.until > self.until {
            return wider("the time");
        }
        if self.max_calls.is_some_and(|most| child.max_calls.is_none_or(|calls| calls > most)) {
            return wider("maxCalls");
        }
        if let Some(most) = &self.budget {
            let within =
                child.budget.as_ref().is_some_and(|it| it.unit == most.unit && it.amount <= most.amount);
            if !within {
                return wider("the budget");
            }
        }
        let covered = |capability| self.capabilities.iter().any(|ours| ours.covers(capability));
        match child.capabilities.iter().all(covered) {
            true => Ok(()),
            false => wider("the capabilities"),
        }
    }
}

/// A link that was read, and verified when it stands in a [`Verified`] chain.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    issuer: Did,
    parent: Option<String>,
    terms: Delegation,
    token: String,
}

impl Link {
    /// Who granted it.
    pub fn issuer(&self) -> &Did {
        &self.issuer
    }

    /// What it grants.
    pub fn terms(&self) -> &Delegation {
        &self.terms
    }

    /// The credential.
    pub fn token(&self) -> &str {
        &self.token
    }

    fn read(token: &str) -> Result<Self> {
        Ok(Self::open(token)?.0)
    }

    fn open(token: &str) -> Result<(Self, Opened)> {
        let opened = Envelope::read(token, &FORM)?;
        let granted = Value::Object(opened.granted.clone());
        let parent = match granted.get("parent") {
            Some(Value::Null) => None,
            Some(Value::String(name)) if digest::is_name(name) => Some(name.clone()),
            _ => {
                return Err(bad(
                    "parent must be null in the first link and a multihash in multibase in each other",
                ));
            }
        };
        let terms = Delegation::read(&opened.envelope, &granted)?;
        let link = Self { issuer: opened.envelope.issuer.clone(), parent, terms, token: token.to_owned() };
        Ok((link, opened))
    }

    /// Refuses a link that names another parent, or whose issuer is not the parent's delegate.
    fn joins(&self, parent: &Self) -> Result<()> {
        if !self.parent.as_deref().is_some_and(|name| digest::names(name, parent.token.as_bytes())) {
            return Err(Error::new(Reason::BrokenChain, "the link names another parent"));
        }
        match self.issuer == parent.terms.delegate {
            true => Ok(()),
            false => Err(Error::new(
                Reason::WrongDelegate,
                format_args!("{} is not the delegate of the link before", self.issuer),
            )),
        }
    }

    fn ledger_id(&self) -> ReplayId {
        ReplayId::new(FORM.kind, &self.issuer, &self.token)
    }
}

/// Whether a credential was taken back. Status lists answer it.
pub trait StatusCheck {
    /// Looks one entry of `credentialStatus` up.
    ///
    /// # Errors
    ///
    /// [`Reason::Revoked`] or what else the entry says; [`Reason::UnknownStatus`] if nobody here can tell.
    fn check(&self, issuer: &Did, entry: &Map<String, Value>, now: Timestamp) -> Result<()>;
}

/// Knows no status list: a credential that has a status is refused.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoStatus;

impl StatusCheck for NoStatus {
    fn check(&self, issuer: &Did, _: &Map<String, Value>, _: Timestamp) -> Result<()> {
        Err(Error::new(Reason::UnknownStatus, format_args!("no status list of {issuer} is known here")))
    }
}

pub(crate) fn check_status(envelope: &Envelope, status: &dyn StatusCheck, now: Timestamp) -> Result<()> {
    envelope.status.iter().try_for_each(|entry| match entry {
        Value::Object(entry) => status.check(&envelope.issuer, entry, now),
        _ => Err(bad("an entry of credentialStatus must be an object")),
    })
}

/// The links of a delegation, from the root to the one who acts.
#[derive(Clone, Debug, PartialEq)]
pub struct Chain(Vec<Link>);

impl Chain {
    /// Verifies form, order, signatures, times, status and narrowing of every link. Whether the root is to be trusted is
    /// not asked: [`authorize`] asks it.
    ///
    /// # Errors
    ///
    /// [`Reason::TooDeep`] beyond [`MAX_LINKS`]; [`Reason::BadForm`] without links, and as forms go; [`Reason::BadType`],
    /// [`Reason::BadAlgorithm`]; [`Reason::BrokenChain`], [`Reason::WrongDelegate`]; [`Reason::NotYetValid`],
    /// [`Reason::Expired`]; [`Reason::WrongIssuer`], what the resolver and the key say, [`Reason::BadSignature`];
    /// what the status says; [`Reason::Widened`].
    pub fn verify<T: AsRef<str>>(
        tokens: &[T],
        resolver: &dyn Resolver,
        status: &dyn StatusCheck,
        now: Timestamp,
    ) -> Result<Verified<Self>> {
        Self::verify_from(tokens, |_| Ok(()), resolver, status, now)
    }

    /// As [`Chain::verify`], and asks `trusted` about the root before anything that costs. A link is compared with its
    /// parent when both are known to be from whom they name: strangers get no such work done.
    fn verify_from<T: AsRef<str>>(
        tokens: &[T],
        trusted: impl Fn(&Did) -> Result<()>,
        resolver: &dyn Resolver,
        status: &dyn StatusCheck,
        now: Timestamp,
    ) -> Result<Verified<Self>> {
        if tokens.len() > MAX_LINKS {
            return Err(Error::new(
                Reason::TooDeep,
                format_args!("there are {} links; the limit is {MAX_LINKS}", tokens.len()),
            ));
        }
        let mut links: Vec<Link> = Vec::new();
        let mut signer: Option<DidUrl> = None;
        for token in tokens {
            let (link, credential) = Link::open(token.as_ref())?;
            match links.last() {
                None if link.parent.is_some() => {
                    return Err(Error::new(Reason::BrokenChain, "the first link has a parent"));
                }
                None => trusted(&link.issuer)?,
                Some(parent) => link.joins(parent)?,
            }
            signer = Some(credential.verify(&FORM, resolver, now)?);
            check_status(&credential.envelope, status, now)?;
            if let Some(parent) = links.last() {
                parent.terms.narrows_to(&link.terms)?;
            }
            links.push(link);
        }
        signer
            .map(|signer| Verified::new(Self(links), signer))
            .ok_or_else(|| bad("a chain must have at least one link"))
    }

    /// The links, from the root.
    pub fn links(&self) -> &[Link] {
        &self.0
    }

    fn last(&self) -> &Link {
        self.0.last().expect("a chain must have at least one link")
    }
}

/// Chains that are known, so that actions need only name them. In memory, at most so many.
///
/// They were verified when they came in, and [`authorize`] verifies them again: keys and status may have changed.
#[derive(Clone, Debug)]
pub struct Chains(Expiring<String, Arc<[String]>>);

/// Chains that are known are on nobody's account.
const ACCOUNT: Account = [0; 16];

impl Chains {
    /// Room for so many chains.
    pub fn new(capacity: usize) -> Self {
        // A chain is found by two names: a delegate of either suite may give it.
        Self(Expiring::new(capacity.saturating_mul(2)))
    }

    /// Keeps a chain until its last link ends.
    ///
    /// # Errors
    ///
    /// [`Reason::CacheFull`]; [`Reason::Expired`] for a chain that ended before a time that was seen.
    pub fn keep(&mut self, chain: &Verified<Chain>, now: Timestamp) -> Result<()> {
        self.0.advance(now);
        let last = chain.last();
        let names = [Suite::Default, Suite::Cnsa2].map(|suite| digest::digest(suite, last.token.as_bytes()));
        if self.0.get(&names[0]).is_some() {
            return Ok(());
        }
        self.0.room([ACCOUNT; 2])?;
        let tokens: Arc<[String]> = chain.0.iter().map(|link| link.token.clone()).collect();
        names.into_iter().try_for_each(|name| self.0.insert(name, last.terms.until, ACCOUNT, tokens.clone()))
    }

    /// The tokens of the chain with this name, for [`Evidence`].
    pub fn find(&self, name: &str) -> Option<&[String]> {
        self.0.get(&name.to_owned()).map(|tokens| &tokens[..])
    }
}

/// What comes with an action.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Evidence {
    /// The links of the delegation, from the root; none if a root acts by itself.
    pub chain: Vec<String>,
    /// Approvals of the action.
    pub approvals: Vec<String>,
}

/// Whom a verifier trusts. At first nobody.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    roots: Vec<(Pattern, Did)>,
    approvals: Vec<(Pattern, Vec<Did>)>,
}

impl Policy {
    /// Trusts `root` for a resource: it may do anything there, and delegate it.
    #[must_use]
    pub fn trust(mut self, resource: Pattern, root: Did) -> Self {
        self.roots.push((resource, root));
        self
    }

    /// Asks for an approval by one of `approvers` of whatever this action covers, besides what capabilities ask for. A
    /// pattern with a wildcard asks for it of everything below its prefix, of names too that no capability with a wildcard
    /// permits ([`Pattern::reaches`]). No approval counts that is by the signer, a delegate or an issuer of the chain.
    #[must_use]
    pub fn require_approval(mut self, action: Pattern, approvers: Vec<Did>) -> Self {
        self.approvals.push((action, approvers));
        self
    }

    fn trusts(&self, root: &Did, resource: &str) -> Result<()> {
        match self.roots.iter().any(|(pattern, trusted)| trusted == root && pattern.matches(resource)) {
            true => Ok(()),
            false => Err(Error::new(
                Reason::UntrustedRoot,
                format_args!("{root} is not a trusted root for {resource:?}"),
            )),
        }
    }
}

/// What a verifier decides by.
#[derive(Clone, Copy)]
pub struct Authority<'a> {
    /// Whom it trusts.
    pub policy: &'a Policy,
    /// Where it finds keys.
    pub resolver: &'a dyn Resolver,
    /// Where it finds what was revoked.
    pub status: &'a dyn StatusCheck,
}

impl core::fmt::Debug for Authority<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Authority").field("policy", self.policy).finish_non_exhaustive()
    }
}

/// Why an action is permitted.
#[derive(Clone, Debug, PartialEq)]
pub struct Authorized {
    /// In whose name: the root.
    pub root: Did,
    /// Who delegated to whom, from the root to the signer of the action.
    pub path: Vec<Did>,
    /// The capability that permits it; none if the root acts by itself.
    pub capability: Option<Capability>,
    /// Who approved it.
    pub approvers: Vec<Did>,
}

/// Decides whether a verified action may be done, and counts it.
///
/// The action must name the chain, whose root must be trusted; then the chain is verified, and must end with the signer; only
/// then are approvals looked at, so that strangers get no work done. A capability of the last link must cover the action, and the
/// approvals that it and the policy ask for must be there, by somebody who is no delegate of the chain (nor, for the policy, an issuer); then the ledger takes one call and the cost from every link that limits them, and
/// the approvals, or nothing at all.
///
/// `cost` is what the verifier charges; without one, a link with a budget permits nothing.
///
/// # Errors
///
/// As [`Chain::verify`]; [`Reason::BrokenChain`] if the action names another chain; [`Reason::UntrustedRoot`],
/// [`Reason::WrongDelegate`], [`Reason::NotPermitted`], [`Reason::NotApproved`], as [`approval::verify`];
/// [`Reason::OverCount`], [`Reason::OverBudget`], [`Reason::CacheFull`].
pub fn authorize(
    action: &Verified<Action>,
    evidence: &Evidence,
    cost: Option<&Amount>,
    authority: &Authority<'_>,
    ledger: &mut dyn Ledger,
    now: Timestamp,
) -> Result<Verified<Authorized>> {
    let Authority { policy, resolver, status } = *authority;
    let actor = action.signer().did();
    if evidence.approvals.len() > MAX_APPROVALS {
        return Err(Error::new(
            Reason::TooDeep,
            format_args!("there are {} approvals; the limit is {MAX_APPROVALS}", evidence.approvals.len()),
        ));
    }
    let chain = match evidence.chain.is_empty() {
        true => {
            if action.delegation().is_some() {
                return Err(Error::new(Reason::BrokenChain, "the chain that the action names is missing"));
            }
            policy.trusts(actor, action.audience())?;
            None
        }
        false => {
            let named = evidence.chain.last().zip(action.delegation());
            if !named.is_some_and(|(last, name)| digest::names(name, last.as_bytes())) {
                return Err(Error::new(Reason::BrokenChain, "the action names another chain or none"));
            }
            let trusted = |root: &Did| policy.trusts(root, action.audience());
            let chain = Chain::verify_from(&evidence.chain, trusted, resolver, status, now)?;
            if chain.last().terms.delegate != *actor {
                return Err(Error::new(
                    Reason::WrongDelegate,
                    format_args!("{actor} is not the last delegate of the chain"),
                ));
            }
            Some(chain)
        }
    };
    // Only now: strangers get no approvals resolved.
    let approvals = verified_approvals(action, evidence, authority, now)?;
    let links = chain.as_ref().map_or(&[][..], |chain| chain.links());
    let mut used = Used { approvals: &approvals, actor, links, spends: Vec::new(), approvers: Vec::new() };
    for (pattern, approvers) in &policy.approvals {
        if pattern.reaches(&action.call().action()) {
            used.approved_by(approvers, Asker::Policy)?;
        }
    }
    let capability = match links.last() {
        Some(last) => Some(used.permitted(&last.terms.capabilities, action)?.clone()),
        None => None,
    };
    for link in links {
        used.charge(link, cost)?;
    }
    let mut path: Vec<Did> = links.iter().map(|link| link.issuer.clone()).collect();
    path.push(actor.clone());
    let root = path[0].clone();
    for spend in &mut used.spends {
        spend.id = spend.id.on_account_of(&root);
    }
    ledger.spend_on_account_of(&root, &used.spends, now)?;
    Ok(Verified::new(
        Authorized { root, path, capability, approvers: used.approvers },
        action.signer().clone(),
    ))
}

fn verified_approvals(
    action: &Verified<Action>,
    evidence: &Evidence,
    authority: &Authority<'_>,
    now: Timestamp,
) -> Result<Vec<(Verified<Approval>, ReplayId)>> {
    evidence
        .approvals
        .iter()
        .map(|token| {
            let approval = approval::verify(token, action, authority.resolver, authority.status, now)?;
            let id = ReplayId::new(approval::FORM.kind, approval.approver(), token);
            Ok((approval, id))
        })
        .collect()
}

/// The source of a demand for an approval.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Asker {
    /// A rule of the verifier, for which every party to the chain is one that wants the action.
    Policy,
    /// A caveat of a capability, which its issuer may answer.
    Caveat,
}

/// What a decision will take from the ledger.
struct Used<'a> {
    approvals: &'a [(Verified<Approval>, ReplayId)],
    actor: &'a Did,
    links: &'a [Link],
    spends: Vec<Spend>,
    approvers: Vec<Did>,
}

impl Used<'_> {
    /// Returns true if a DID does the action or received the right to it; for a rule of the policy, also if it granted that right.
    fn takes_part(&self, did: &Did, asker: Asker) -> bool {
        let of_link =
            |link: &Link| link.terms.delegate == *did || (asker == Asker::Policy && link.issuer == *did);
        self.actor == did || self.links.iter().any(of_link)
    }

    /// Takes an approval by one of these, who does not take part itself.
    #[inline(never)]
    fn approved_by(&mut self, approvers: &[Did], asker: Asker) -> Result<()> {
        let found = self.approvals.iter().find(|(approval, _)| {
            approvers.contains(approval.approver()) && !self.takes_part(approval.approver(), asker)
        });
        let Some((approval, id)) = found else {
            return Err(Error::new(
                Reason::NotApproved,
                format_args!("no approval by one of {} approvers outside the chain", approvers.len()),
            ));
        };
        if !self.spends.iter().any(|spend| spend.id == *id) {
            self.approvers.push(approval.approver().clone());
            self.spends.push(Spend {
                id: *id,
                until: approval.until(),
                calls: Some(1),
                budget: None,
                cost: 0,
            });
        }
        Ok(())
    }

    /// The first capability that permits the action and has its approvals.
    fn permitted<'c>(&mut self, capabilities: &'c [Capability], action: &Action) -> Result<&'c Capability> {
        let mut refusal = Error::new(
            Reason::NotPermitted,
            format_args!("no capability covers {:?} with these arguments", action.call().action()),
        );
        for capability in capabilities.iter().filter(|capability| capability.permits(action)) {
            let before = (self.spends.len(), self.approvers.len());
            let approved = capability.caveats.iter().try_for_each(|caveat| match caveat {
                Caveat::Approval(approvers) => self.approved_by(approvers, Asker::Caveat),
                Caveat::Argument(..) => Ok(()),
            });
            match approved {
                Ok(()) => return Ok(capability),
                Err(error) => refusal = error,
            }
            self.spends.truncate(before.0);
            self.approvers.truncate(before.1);
        }
        Err(refusal)
    }

    fn charge(&mut self, link: &Link, cost: Option<&Amount>) -> Result<()> {
        let terms = &link.terms;
        if terms.max_calls.is_none() && terms.budget.is_none() {
            return Ok(());
        }
        let charged = match (&terms.budget, cost) {
            (None, _) => 0,
            (Some(budget), Some(cost)) if cost.unit == budget.unit => cost.amount,
            (Some(budget), _) => {
                return Err(Error::new(
                    Reason::OverBudget,
                    format_args!("the cost in {:?} is not stated", budget.unit),
                ));
            }
        };
        self.spends.push(Spend {
            id: link.ledger_id(),
            until: terms.until,
            calls: terms.max_calls,
            budget: terms.budget.as_ref().map(|budget| budget.amount),
            cost: charged,
        });
        Ok(())
    }
}
