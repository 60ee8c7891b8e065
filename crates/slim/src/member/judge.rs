//! The channel's policy, as every member enforces it on every commit.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use gambeson_identity::delegation::{Chain, NoStatus};
use gambeson_identity::{Did, DidDocument, Method, Reason as Why, Resolver, Timestamp};
use gambeson_mls::rules::{By, Change, Policy as Judges};
use mls_rs::group::{GroupContext, Roster};

use super::identities::{Shared, credential};
use crate::cards::{Cards, Doubt};
use crate::policy::{POLICY_EXTENSION, Policy, Role, SignedPolicy};
use crate::refusal::{Need, Reason, Refusal};

/// What a delegation of the right to invite names as its action.
pub(super) const INVITE: &str = "channel/invite";

/// What a committer shows for its right: the first byte of the proposal says which.
pub(crate) enum Evidence<'a> {
    /// The detached signature of a new policy.
    Policy(&'a str),
    /// The links of a delegation, from the root, each in a line.
    Delegation(&'a str),
}

impl<'a> Evidence<'a> {
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let (kind, text) = match self {
            Self::Policy(text) => (1, text),
            Self::Delegation(text) => (2, text),
        };
        [&[kind], text.as_bytes()].concat()
    }

    pub(crate) fn from_bytes(bytes: &'a [u8]) -> Result<Self, Refusal> {
        let bad = || Refusal::new(Reason::BadProposal, "unknown kind of evidence");
        let (kind, text) = bytes.split_first().ok_or_else(bad)?;
        let text = std::str::from_utf8(text).map_err(|_| bad())?;
        match kind {
            1 => Ok(Self::Policy(text)),
            2 => Ok(Self::Delegation(text)),
            _ => Err(bad()),
        }
    }
}

/// Judges commits of one member's channel.
#[derive(Clone, Debug)]
pub(super) struct Judge {
    pub(super) cards: Arc<Cards>,
    pub(super) shared: Shared,
}

/// The bytes of the policy of a group.
pub(super) fn policy_bytes(context: &GroupContext) -> Result<&[u8], Refusal> {
    let found = context.extensions.iter().find(|one| one.extension_type == POLICY_EXTENSION.into());
    let found = found.ok_or_else(|| Refusal::new(Reason::BadPolicy, "the group has no policy"))?;
    Ok(&found.extension_data)
}

/// The members of a group by their DIDs, under its policy.
pub(super) struct Members<'a> {
    policy: &'a Policy,
    dids: BTreeSet<Did>,
    highest: Role,
}

impl<'a> Members<'a> {
    pub(super) fn of(policy: &'a Policy, roster: &Roster<'_>) -> Result<Self, Refusal> {
        let dids: BTreeSet<Did> = roster
            .member_identities_iter()
            .map(|it| Ok(credential(it)?.did))
            .collect::<Result<_, Refusal>>()?;
        let highest = dids.iter().map(|did| policy.role(did)).max().unwrap_or(Role::Owner);
        Ok(Self { policy, dids, highest })
    }

    /// The role that somebody acts in: those of the highest role that a member has act as owners.
    pub(super) fn acting(&self, did: &Did) -> Role {
        self.policy.acting(self.policy.role(did), self.highest)
    }

    fn permits(&self, did: &Did, needed: Role, what: &str) -> Result<(), Refusal> {
        match self.acting(did) >= needed {
            true => Ok(()),
            false => Err(Refusal::new(
                Reason::NotPermitted,
                format_args!("{did} is {} here and may not {what}", self.policy.role(did)),
            )),
        }
    }
}

impl Judges for Judge {
    type Error = Refusal;

    fn wants_path(&self) -> bool {
        self.shared.wants_path()
    }

    fn judge(&self, change: &Change<'_>) -> Result<(), Refusal> {
        let policy = Policy::from_bytes(policy_bytes(change.context)?)?;
        let removed = change
            .removed
            .iter()
            .map(|member| Ok(credential(&member.signing_identity)?.did))
            .collect::<Result<Vec<_>, Refusal>>()?;
        let by = match change.by {
            By::Member(member) => credential(&member.signing_identity)?.did,
            By::Outsider(identity) => return rejoin(&policy, &credential(identity)?.did, &removed),
        };
        let members = Members::of(&policy, change.roster)?;
        let (mut signature, mut delegation) = (None, None);
        for bytes in &change.evidence {
            let twice = match Evidence::from_bytes(bytes)? {
                Evidence::Policy(text) => signature.replace(text).is_some(),
                Evidence::Delegation(text) => delegation.replace(text).is_some(),
            };
            if twice {
                return Err(Refusal::new(Reason::BadProposal, "two pieces of evidence of one kind"));
            }
        }
        for did in &removed {
            removable(&members, &by, did)?;
        }
        if !change.added.is_empty() {
            self.addable(&members, &by, delegation)?;
        } else if delegation.is_some() {
            return Err(Refusal::new(Reason::BadProposal, "there is a delegation, but no member is added"));
        }
        match (change.policy, signature) {
            (Some(next), Some(signature)) => self.replaceable(&members, &by, next, signature)?,
            (None, None) => {}
            _ => {
                return Err(Refusal::new(Reason::BadPolicySignature, "a new policy lacks its signature"));
            }
        }
        if change.added.is_empty() && removed.is_empty() && change.policy.is_none() {
            members.permits(&by, policy.rotate, "rotate its keys")?;
        }
        Ok(())
    }
}

fn rejoin(policy: &Policy, did: &Did, removed: &[Did]) -> Result<(), Refusal> {
    if !policy.rejoin {
        return Err(Refusal::new(Reason::NoRejoin, "the policy permits no member to rejoin by itself"));
    }
    match removed {
        [old] if old == did => Ok(()),
        _ => {
            Err(Refusal::new(Reason::OtherIdentity, format_args!("{did} takes the place of another member")))
        }
    }
}

pub(super) fn removable(members: &Members<'_>, by: &Did, did: &Did) -> Result<(), Refusal> {
    let (policy, role) = (members.policy, members.policy.role(did));
    let acting = members.acting(by);
    if role == Role::Owner {
        return members.permits(by, policy.remove_owner, "remove an owner");
    }
    members.permits(by, policy.remove, "remove members")?;
    match acting == Role::Owner || acting > role {
        true => Ok(()),
        false => Err(Refusal::new(
            Reason::NotPermitted,
            format_args!("{by} is {acting} here and may not remove {did}, who is {role}"),
        )),
    }
}

impl Judge {
    fn addable(&self, members: &Members<'_>, by: &Did, delegation: Option<&str>) -> Result<(), Refusal> {
        let policy = members.policy;
        let Some(links) = delegation else {
            return members.permits(by, policy.add, "add members");
        };
        let wrong = |what: &dyn std::fmt::Display| Refusal::new(Reason::BadDelegation, what);
        if !policy.delegate {
            let what = "the policy permits no member to delegate the right to invite";
            return Err(Refusal::new(Reason::NotPermitted, what));
        }
        let at = self
            .shared
            .hold()
            .at
            .ok_or_else(|| wrong(&"the time at which to verify the delegation is missing"))?;
        let tokens: Vec<&str> = links.split('\n').collect();
        let asking = Asking::new(&self.cards);
        let verified = Chain::verify(&tokens, &asking, &NoStatus, at);
        if let Some(did) = asking.end().1 {
            return self.shared.settle(Err(Doubt::Unknown(Need { did, card: None })));
        }
        let chain = verified.map_err(|error| match error.reason() {
            // Whoever reads it: no card makes it a delegation.
            Why::BadEncoding | Why::BadJson | Why::BadForm | Why::BadType | Why::TooLarge | Why::TooDeep => {
                Refusal::new(Reason::BadProposal, error)
            }
            _ => wrong(&error),
        })?;
        let (Some(first), Some(last)) = (chain.links().first(), chain.links().last()) else {
            return Err(wrong(&"the delegation chain is empty"));
        };
        if last.terms().delegate != *by {
            return Err(wrong(&format_args!("{by} is not the delegate of the last link")));
        }
        if chain.links().iter().any(|link| link.terms().max_calls.is_some() || link.terms().budget.is_some())
        {
            return Err(wrong(&"a delegation with a number or a budget is not accepted here"));
        }
        let covers = last.terms().capabilities.iter().any(|it| {
            it.caveats.is_empty() && it.action.matches(INVITE) && it.resource.matches(&policy.resource())
        });
        if !covers {
            return Err(wrong(&format_args!("the delegation does not permit {INVITE} in this channel")));
        }
        if !members.dids.contains(first.issuer()) {
            return Err(wrong(&format_args!("{} is not a member", first.issuer())));
        }
        members.permits(first.issuer(), policy.add, "add members")
    }

    fn replaceable(
        &self,
        members: &Members<'_>,
        by: &Did,
        next: &[u8],
        signature: &str,
    ) -> Result<(), Refusal> {
        members.permits(by, members.policy.change, "change the policy")?;
        let next = SignedPolicy::read(next, signature)?;
        members.policy.followed_by(next.policy())?;
        let signer = next.signer().did();
        if !members.dids.contains(signer) {
            let what = format!("the signer {signer} is not a member");
            return Err(Refusal::new(Reason::BadPolicySignature, what));
        }
        members.permits(signer, members.policy.change, "sign a policy")?;
        let at = self.shared.hold().at;
        self.shared.settle(next.verify(&self.cards, at))
    }
}

/// Whose cards tell whether a delegation holds: those that are known, and the first that is not, behind which nothing was looked at.
pub(crate) fn vouching(links: &[String], cards: &Cards, at: Timestamp) -> (BTreeSet<Did>, Option<Did>) {
    let asking = Asking::new(cards);
    // Whether it holds is judged with the commit, when all are known.
    drop(Chain::verify(links, &asking, &NoStatus, at));
    asking.end()
}

/// Remembers whose cards were asked for: those that are known, and the one of whom none are.
struct Asking<'a> {
    cards: &'a Cards,
    asked: Mutex<(BTreeSet<Did>, Option<Did>)>,
}

impl<'a> Asking<'a> {
    fn new(cards: &'a Cards) -> Self {
        Self { cards, asked: Mutex::default() }
    }

    fn end(self) -> (BTreeSet<Did>, Option<Did>) {
        self.asked.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Resolver for Asking<'_> {
    fn resolve(&self, did: &Did, now: Timestamp) -> gambeson_identity::Result<Arc<DidDocument>> {
        let resolved = self.cards.resolve(did, now);
        if did.method() == Method::Gambeson {
            let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
            match &resolved {
                Err(error) if error.reason() == Why::UnknownDid => asked.1 = Some(did.clone()),
                _ => drop(asked.0.insert(did.clone())),
            }
        }
        resolved
    }
}
