//! Commits: made here and confirmed, or taken from others.

use std::collections::BTreeMap;

use bytes::Bytes;
use gambeson_identity::{Did, Timestamp};
use mls_rs::group::proposal::{CustomProposal, Proposal};
use mls_rs::group::{CommitEffect, CommitMessageDescription, CommitSecrets, Group};
use mls_rs::time::MlsTime;
use mls_rs::{CryptoProvider, Extension, ExtensionList, MlsMessage};

use super::identities::credential;
use super::judge::Evidence;
use super::me::{Config, bytes_of, read};
use super::refused::refused;
use super::{Member, settled};
use crate::credential::Credential;
use crate::error::Result;
use crate::policy::{EVIDENCE_PROPOSAL, POLICY_EXTENSION, SignedPolicy};
use crate::refusal::{Reason, Refusal};

/// How many members one commit adds and removes, together.
pub const MAX_CHANGES: usize = 1_000;

/// The type of the GroupInfo extension that holds a note to joiners, of the range for private use (RFC 9420, section 17.3).
pub const NOTE_EXTENSION: u16 = 0xf1d3;

/// What a commit shall do; one of nothing at all rotates the keys of the member.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    /// Key packages of those who are added.
    pub add: Vec<Bytes>,
    /// Who is removed.
    pub remove: Vec<Did>,
    /// A policy to follow the one that holds ([`Policy::next`](crate::Policy::next)).
    pub policy: Option<SignedPolicy>,
    /// The links of a delegation that gives the right to invite, from the root; none for who has it by its role.
    pub delegation: Vec<String>,
    /// Whether the keys of the member are rotated too where somebody is only added.
    pub update: bool,
    /// What joiners are told besides, in the GroupInfo of their Welcome, which nobody else reads ([`Member::examine`]).
    pub note: Vec<u8>,
}

/// A commit that was made and does not hold yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pending {
    /// For the log.
    pub commit: Bytes,
    /// For each who is added, its own.
    pub welcomes: Vec<(Did, Bytes)>,
    /// For all who are added: the tree after the commit, with the policy's signature. It is sealed before it goes anywhere. `None` if nobody is.
    pub tree: Option<Bytes>,
    /// The epoch that begins with it.
    pub epoch: u64,
}

/// What a commit did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    /// The epoch that began.
    pub epoch: u64,
    /// Who made the commit.
    pub by: Did,
    /// Who was added.
    pub added: Vec<Did>,
    /// Who was removed. If this member is among them, it stays in the epoch before, and can do nothing more.
    pub removed: Vec<Did>,
    /// The new policy, if it is another.
    pub policy: Option<SignedPolicy>,
    /// Whether `by` fell behind and came back by itself. If that is this member, which then lost what it came back with, it stays in the epoch before,
    /// and has to come back again.
    pub rejoined: bool,
}

/// A commit that waits for the log.
#[derive(Clone)]
pub(super) struct Waiting {
    pub(super) commit: Bytes,
    pub(super) secrets: CommitSecrets,
}

impl Member {
    /// Makes a commit, which does not hold before it is confirmed: the log takes one an epoch. Others' policy is this member's: it makes none
    /// that it would refuse. [`Member::state`] is written before the commit goes to the log, so that a restart finds the commit again.
    ///
    /// # Errors
    /// [`Reason::Pending`], [`Reason::TooManyChanges`], [`Reason::NotMember`], [`Reason::AlreadyMember`], [`Reason::WrongSuite`],
    /// [`Reason::ExpiredKeyPackage`]; what the policy and the cards say; [`Error::Unresolved`](crate::Error::Unresolved).
    pub fn commit(&mut self, changes: Changes, now: Timestamp) -> Result<Pending> {
        self.present()?;
        if self.pending.is_some() {
            return Err(Refusal::new(
                Reason::Pending,
                "an earlier commit was neither confirmed nor abandoned",
            )
            .into());
        }
        let count = changes.add.len() + changes.remove.len();
        if count > MAX_CHANGES {
            let what = format!("{count} to add and remove; one commit takes {MAX_CHANGES}");
            return Err(Refusal::new(Reason::TooManyChanges, what).into());
        }
        let (packages, joiners) = self.packages(&changes.add)?;
        let removed = changes.remove.iter().map(|did| self.leaf_of(did)).collect::<Result<Vec<_>>>()?;
        let mut group = self.group.clone();
        let (output, secrets) = self.build(&mut group, &changes, packages, removed, now)?;
        let commit = bytes_of(&output.commit_message)?;
        let mut welcomes = Vec::with_capacity(joiners.len());
        for welcome in &output.welcome_messages {
            let mut references = welcome.welcome_key_package_references().into_iter();
            let did = references.next().and_then(|reference| joiners.get(&reference[..]));
            let did =
                did.ok_or_else(|| Refusal::new(Reason::Protocol, "the Welcome is for no new member"))?;
            welcomes.push((did.clone(), bytes_of(welcome)?));
        }
        let policy = changes.policy.as_ref().unwrap_or(&self.policy);
        let tree = output.ratchet_tree.as_ref().filter(|_| !welcomes.is_empty());
        let tree = tree.map(|tree| self.tree(tree, policy)).transpose()?;
        // The key that encrypted the commit is used up, whatever becomes of it.
        self.group = group;
        self.written.committed();
        self.pending = Some(Waiting { commit: commit.clone(), secrets });
        Ok(Pending { commit, welcomes, tree, epoch: self.epoch() + 1 })
    }

    fn build(
        &self,
        group: &mut Group<Config>,
        changes: &Changes,
        packages: Vec<MlsMessage>,
        removed: Vec<u32>,
        now: Timestamp,
    ) -> Result<(mls_rs::group::CommitOutput, CommitSecrets)> {
        let context = group.context().extensions.clone();
        let newer = *self.me.credential() != self.my_credential()?;
        self.shared.begin(Some(now));
        let mut builder = group.commit_builder().commit_time(MlsTime::from(now.0));
        for package in packages {
            builder = builder.add_member(package).map_err(|error| refused(&error))?;
        }
        for leaf in removed {
            builder = builder.remove_member(leaf).map_err(|error| refused(&error))?;
        }
        if let Some(policy) = &changes.policy {
            let mut extensions: ExtensionList = context;
            extensions.set(Extension::new(POLICY_EXTENSION.into(), policy.bytes().to_vec()));
            builder = builder.set_group_context_ext(extensions).map_err(|error| refused(&error))?;
            builder = builder.custom_proposal(shown(&Evidence::Policy(policy.signature())));
        }
        if !changes.delegation.is_empty() {
            builder = builder.custom_proposal(shown(&Evidence::Delegation(&changes.delegation.join("\n"))));
        }
        if newer {
            let (identity, signer) = self.me.signing(self.suite)?;
            builder = builder.set_new_signing_identity(signer, identity);
        }
        if !changes.note.is_empty() {
            let mut beside = ExtensionList::new();
            beside.set(Extension::new(NOTE_EXTENSION.into(), changes.note.clone()));
            builder = builder.set_group_info_ext(beside);
        }
        self.shared.want_path(newer || changes.update);
        let built = builder.build_detached();
        self.shared.want_path(false);
        settled(&self.shared, built, Ok(()))
    }

    /// The key packages, and whose each is by its reference.
    fn packages(&self, packages: &[Bytes]) -> Result<(Vec<MlsMessage>, Joiners)> {
        let suite = self.me.crypto().cipher_suite_provider(self.suite.cipher_suite());
        let suite = suite.ok_or_else(|| Refusal::new(Reason::WrongSuite, self.suite))?;
        suite.verify_key_packages_ahead(packages.iter().map(|package| &package[..]));
        let (mut messages, mut joiners) = (Vec::with_capacity(packages.len()), BTreeMap::new());
        for bytes in packages {
            let message = read(bytes)?;
            let package = message.as_key_package();
            let package =
                package.ok_or_else(|| Refusal::new(Reason::Malformed, "the message is not a key package"))?;
            let Credential { did, .. } = credential(package.signing_identity())?;
            if package.cipher_suite() != self.suite.cipher_suite() {
                let other = u16::from(package.cipher_suite());
                let what =
                    format!("a key package of {did} for suite {other:#06x}; the channel has {}", self.suite);
                return Err(Refusal::new(Reason::WrongSuite, what).into());
            }
            let reference = package.to_reference(&suite).map_err(|error| refused(&error))?;
            let twice = joiners.values().any(|other| *other == did) || self.leaf_of(&did).is_ok();
            if twice || joiners.insert(reference.to_vec(), did.clone()).is_some() {
                let what = format!("{did} is already a member or is added twice");
                return Err(Refusal::new(Reason::AlreadyMember, what).into());
            }
            messages.push(message);
        }
        Ok((messages, joiners))
    }

    /// The place of a member.
    fn leaf_of(&self, did: &Did) -> Result<u32> {
        let found = self.group.member_with_identity(did.as_str().as_bytes());
        let found =
            found.map_err(|_| Refusal::new(Reason::NotMember, format_args!("{did} is not a member")))?;
        Ok(found.index)
    }

    pub(super) fn my_credential(&self) -> Result<Credential> {
        let identity = self.group.current_member_signing_identity().map_err(|error| refused(&error))?;
        Ok(credential(identity)?)
    }

    /// The log took the commit that was made: it holds.
    ///
    /// # Errors
    /// [`Reason::Pending`] if none waits.
    pub fn confirm(&mut self) -> Result<Changed> {
        self.present()?;
        let Some(waiting) = &self.pending else {
            return Err(Refusal::new(Reason::Pending, "there is no pending commit").into());
        };
        let mut group = self.group.clone();
        let taken = group.apply_detached_commit(waiting.secrets.clone()).map_err(|error| refused(&error))?;
        let changed = self.changed(&taken)?;
        self.advance(group, &changed)?;
        Ok(changed)
    }

    /// Another commit came first, or the log does not take it: the one that was made is forgotten. Processing another commit does the same.
    pub fn abandon(&mut self) {
        if self.pending.take().is_some() {
            self.written.abandoned();
        }
    }

    /// Whether a commit waits.
    #[must_use]
    pub const fn is_pending(&self) -> bool {
        self.pending.is_some()
    }

    /// What a commit did, against the group before it.
    pub(super) fn changed(&self, taken: &CommitMessageDescription) -> Result<Changed> {
        let epoch = match &taken.effect {
            CommitEffect::NewEpoch(epoch) | CommitEffect::Removed { new_epoch: epoch, .. } => epoch,
            CommitEffect::ReInit(_) => {
                return Err(Refusal::new(Reason::BadProposal, "a channel cannot be initialised again").into());
            }
        };
        let before = |leaf: u32| {
            let member = self.group.member_at_index(leaf);
            let member = member.ok_or_else(|| Refusal::new(Reason::NotMember, "no such leaf"))?;
            Ok::<_, Refusal>(credential(&member.signing_identity)?.did)
        };
        let (mut added, mut removed) = (Vec::new(), Vec::new());
        let (mut bytes, mut signature) = (None, None);
        for info in epoch.applied_proposals() {
            match &info.proposal {
                Proposal::Add(add) => added.push(credential(add.signing_identity())?.did),
                Proposal::Remove(remove) => removed.push(before(remove.to_remove())?),
                Proposal::GroupContextExtensions(list) => {
                    bytes = list.iter().find(|one| one.extension_type == POLICY_EXTENSION.into());
                }
                Proposal::Custom(custom) => {
                    if let Evidence::Policy(text) = Evidence::from_bytes(custom.data())? {
                        signature = Some(text);
                    }
                }
                _ => {}
            }
        }
        let policy = bytes.zip(signature);
        let policy =
            policy.map(|(bytes, text)| SignedPolicy::read(&bytes.extension_data, text)).transpose()?;
        // Who comes from outside has the leaf that it removes.
        let by = match (taken.is_external, removed.pop()) {
            (true, Some(did)) => did,
            (true, None) => {
                return Err(
                    Refusal::new(Reason::OtherIdentity, "the commit takes the place of no member").into()
                );
            }
            (false, last) => {
                removed.extend(last);
                before(taken.committer)?
            }
        };
        Ok(Changed { epoch: epoch.epoch(), by, added, removed, policy, rejoined: taken.is_external })
    }

    /// Goes on to the epoch that a commit began.
    pub(super) fn advance(&mut self, group: Group<Config>, changed: &Changed) -> Result<()> {
        if changed.rejoined && changed.by == *self.me.did() {
            // The leaf is another now, whose keys went with the member that made it. Those of this one are used on where they were.
            self.abandon();
            return Ok(());
        }
        self.pending = None;
        if changed.removed.contains(self.me.did()) {
            self.removed = true;
            self.written.gone();
            return Ok(());
        }
        let last = self.epoch();
        self.group = group;
        if let Some(policy) = &changed.policy {
            let former = std::mem::replace(&mut self.policy, policy.clone());
            self.former.push((last, former.policy().clone()));
        }
        self.settle_epoch()
    }
}

/// Who joins, by the reference of the key package.
type Joiners = BTreeMap<Vec<u8>, Did>;

fn shown(evidence: &Evidence<'_>) -> CustomProposal {
    CustomProposal::new(EVIDENCE_PROPOSAL.into(), evidence.to_bytes())
}
