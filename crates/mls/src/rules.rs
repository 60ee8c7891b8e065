//! Which commits a group takes: a policy that every member asks, in a form that knows nothing of who members are.

use std::fmt;

use mls_rs::group::proposal::{AddProposal, ProposalType};
use mls_rs::group::{GroupContext, Member, Roster};
use mls_rs::mls_rules::{
    CommitDirection, CommitOptions, CommitSource, EncryptionOptions, ProposalBundle, ProposalInfo,
    ProposalSource,
};
use mls_rs::{Extension, ExtensionList, KeyPackage, MlsRules};
use mls_rs_core::error::IntoAnyError;
use mls_rs_core::extension::ExtensionType;
use mls_rs_core::identity::SigningIdentity;

/// What a commit would do, after everything that no commit may do was refused.
#[derive(Debug)]
pub struct Change<'a> {
    /// Who commits.
    pub by: By<'a>,
    /// Who is added.
    pub added: Vec<&'a KeyPackage>,
    /// Who is removed.
    pub removed: Vec<Member>,
    /// The content of the policy's extension after the commit, if the commit replaces it.
    pub policy: Option<&'a [u8]>,
    /// What the committer shows for its right: contents of proposals of the evidence's type.
    pub evidence: Vec<&'a [u8]>,
    /// The members before the commit.
    pub roster: &'a Roster<'a>,
    /// The group before the commit.
    pub context: &'a GroupContext,
}

/// Who makes a commit.
#[derive(Debug)]
pub enum By<'a> {
    /// A member.
    Member(&'a Member),
    /// Somebody from outside, who adds itself (RFC 9420, section 12.4.3.2).
    Outsider(&'a SigningIdentity),
}

/// Decides on commits. Every member must decide alike: from the commit, the group and what all know, never from a clock of its own.
pub trait Policy: Send + Sync {
    /// Why a commit is refused.
    type Error: std::error::Error + Send + Sync + 'static;

    /// Takes a commit or refuses it.
    ///
    /// # Errors
    /// Why the committer may not do this.
    fn judge(&self, change: &Change<'_>) -> Result<(), Self::Error>;

    /// Whether the commit that is being made rotates the committer's keys though it only adds.
    fn wants_path(&self) -> bool {
        false
    }
}

/// The [`MlsRules`] of a policy, for those who commit and those who receive.
///
/// Taken to the policy: additions and removals by value, one new content of the policy's extension, proposals of the evidence's type, and
/// external commits in which somebody takes its own place again. All else is refused without asking it: proposals by reference,
/// updates, pre-shared keys, re-initialisation, other extensions, custom proposals of other types.
///
/// Commits and messages are encrypted; the tree travels beside the Welcome, and each joiner has a Welcome of its own. A commit has a path
/// unless it only adds.
#[derive(Clone, Debug)]
pub struct Rules<P> {
    policy: P,
    extension: ExtensionType,
    evidence: ProposalType,
}

impl<P> Rules<P> {
    /// Rules whose policy stands in a GroupContext extension of this type, with evidence in custom proposals of that type.
    pub fn new(policy: P, extension: u16, evidence: u16) -> Self {
        Self { policy, extension: extension.into(), evidence: evidence.into() }
    }

    /// The policy.
    pub const fn policy(&self) -> &P {
        &self.policy
    }
}

/// Why a commit is refused.
#[derive(Debug)]
#[non_exhaustive]
pub enum Refused<E> {
    /// The commit has a proposal of a kind that is never taken.
    Proposal(ProposalType),
    /// The commit refers to proposals that were sent before it.
    ByReference(ProposalType),
    /// The commit changes other extensions of the group than the policy's, or the policy's more than once.
    Extensions,
    /// Somebody from outside does more than to take its own place again.
    Outsider,
    /// The policy does not allow it.
    Policy(E),
}

impl<E: fmt::Display> fmt::Display for Refused<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Proposal(of) => write!(f, "no commit may hold a proposal of type {}", of.raw_value()),
            Self::ByReference(of) => {
                write!(
                    f,
                    "a commit holds its proposals, and does not refer to one of type {}",
                    of.raw_value()
                )
            }
            Self::Extensions => f.write_str("a commit changes no extension of the group but the policy"),
            Self::Outsider => f.write_str("who comes from outside may only take its own place again"),
            Self::Policy(error) => error.fmt(f),
        }
    }
}

impl<E: std::error::Error + 'static> std::error::Error for Refused<E> {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Policy(error) => Some(error),
            _ => None,
        }
    }
}

impl<E: std::error::Error + Send + Sync + 'static> IntoAnyError for Refused<E> {
    fn into_dyn_error(self) -> Result<Box<dyn std::error::Error + Send + Sync>, Self> {
        Ok(Box::new(self))
    }
}

impl<P: Policy> Rules<P> {
    fn check(
        &self,
        by: By<'_>,
        roster: &Roster<'_>,
        context: &GroupContext,
        proposals: &ProposalBundle,
    ) -> Result<(), Refused<P::Error>> {
        for info in proposals.iter_proposals() {
            let of = info.proposal.proposal_type();
            if info.source != ProposalSource::ByValue {
                return Err(Refused::ByReference(of));
            }
            let outside = matches!(by, By::Outsider(_));
            let taken = match of {
                ProposalType::REMOVE => true,
                ProposalType::EXTERNAL_INIT => outside,
                ProposalType::ADD | ProposalType::GROUP_CONTEXT_EXTENSIONS => !outside,
                of => of == self.evidence && !outside,
            };
            if !taken {
                return Err(if outside { Refused::Outsider } else { Refused::Proposal(of) });
            }
        }
        let mut removed = Vec::new();
        for info in proposals.remove_proposals() {
            // One that is not there is refused by mls-rs.
            if let Ok(member) = roster.member_with_index(info.proposal.to_remove()) {
                removed.push(member);
            }
        }
        if matches!(by, By::Outsider(_)) && removed.len() != 1 {
            return Err(Refused::Outsider);
        }
        let change = Change {
            by,
            added: proposals.add_proposals().iter().map(package).collect(),
            removed,
            policy: self.replaced(context, proposals.group_context_ext_proposals())?,
            evidence: proposals.custom_proposals().iter().map(|info| info.proposal.data()).collect(),
            roster,
            context,
        };
        self.policy.judge(&change).map_err(Refused::Policy)
    }

    /// The new content of the policy's extension; the other extensions stay as they are.
    fn replaced<'a>(
        &self,
        context: &GroupContext,
        proposals: &'a [ProposalInfo<ExtensionList>],
    ) -> Result<Option<&'a [u8]>, Refused<P::Error>> {
        let [info] = proposals else {
            return if proposals.is_empty() { Ok(None) } else { Err(Refused::Extensions) };
        };
        let others = |list: &ExtensionList| -> Vec<Extension> {
            list.iter().filter(|one| one.extension_type != self.extension).cloned().collect()
        };
        if others(&info.proposal) != others(&context.extensions) {
            return Err(Refused::Extensions);
        }
        let policy = info.proposal.iter().find(|one| one.extension_type == self.extension);
        policy.map(|one| Some(&one.extension_data[..])).ok_or(Refused::Extensions)
    }
}

fn package(info: &ProposalInfo<AddProposal>) -> &KeyPackage {
    info.proposal.key_package()
}

impl<P: Policy> MlsRules for Rules<P> {
    type Error = Refused<P::Error>;

    fn filter_proposals(
        &self,
        _: CommitDirection,
        source: CommitSource,
        roster: &Roster<'_>,
        context: &GroupContext,
        proposals: ProposalBundle,
    ) -> Result<ProposalBundle, Self::Error> {
        let by = match &source {
            CommitSource::ExistingMember(member) => By::Member(member),
            CommitSource::NewMember(identity) => By::Outsider(identity),
        };
        self.check(by, roster, context, &proposals)?;
        Ok(proposals)
    }

    fn commit_options(
        &self,
        _: &Roster<'_>,
        _: &GroupContext,
        proposals: &ProposalBundle,
    ) -> Result<CommitOptions, Self::Error> {
        // Evidence is for the right to add, and changes no key; mls-rs itself asks for a path where RFC 9420 does.
        let only_adds = !proposals.add_proposals().is_empty()
            && proposals.add_proposals().len() + proposals.custom_proposals().len() == proposals.length();
        Ok(CommitOptions::new()
            .with_path_required(!only_adds || self.policy.wants_path())
            .with_ratchet_tree_extension(false)
            .with_single_welcome_message(false))
    }

    fn encryption_options(&self, _: &Roster<'_>, _: &GroupContext) -> Result<EncryptionOptions, Self::Error> {
        // Padmé (Nikitin and others, PETS 2019) tells O(log log n) of the length for at most an eighth more bytes; steps, a quarter.
        Ok(EncryptionOptions::new(true, mls_rs::client_builder::PaddingMode::Padme))
    }

    fn custom_proposal_requires_update_path(&self, _: &mls_rs::group::proposal::CustomProposal) -> bool {
        false
    }
}
