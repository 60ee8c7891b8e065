//! A member of a channel: MLS with cards and policy, synchronous, without network or files.
//!
//! # Layout
//!
//! * `me`: [`Me`], [`KeptKeyPackage`]: the agent, and what it gives out to be invited
//! * `change`: [`Changes`], [`Pending`], [`Changed`]: commits
//! * `state`: [`Piece`]: what is kept at rest
//! * `identities`, `judge`, `vault`, `refused`: what mls-rs asks, and what it answers

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use gambeson_identity::{Did, Timestamp};
use gambeson_mls::Suite;
use mls_rs::extension::built_in::RequiredCapabilitiesExt;
use mls_rs::group::{ContentType, ExportedTree, Group, ReceivedMessage};
use mls_rs::identity::CredentialType;
use mls_rs::time::MlsTime;
use mls_rs::{Extension, ExtensionList, MlsMessage, MlsMessageDescription};
use zeroize::Zeroizing;

use crate::cards::{Cards, Doubt};
use crate::content::{Bundle, Mark, MarkKind};
use crate::credential::{CardHash, Credential};
use crate::error::{Error, Result};
use crate::name::ChannelId;
use crate::policy::{EVIDENCE_PROPOSAL, POLICY_EXTENSION, Policy, Role, SignedPolicy};
use crate::refusal::{Need, Reason, Refusal};

mod change;
mod identities;
mod judge;
mod me;
mod refused;
mod state;
mod vault;

pub use change::{Changed, Changes, MAX_CHANGES, NOTE_EXTENSION, Pending};
pub use me::{KEY_PACKAGE_LIFETIME, KeptKeyPackage, Me, key_package_of, leaf_keys, welcome_references};
pub use state::{Piece, RESERVED};
pub use vault::PAST_EPOCHS;

#[cfg(fuzzing)]
pub(crate) use judge::Evidence;
pub(crate) use judge::vouching;
#[cfg(feature = "sim")]
pub(crate) use me::leaf_role;

use identities::{Shared, credential};
use judge::{Members, policy_bytes, removable};
use me::{Config, bytes_of, read};
use refused::{failed, refused};
use vault::Vault;

/// The label under which members derive the name that a channel's frames go to, of 32 bytes, with the channel's id as context
/// ([`Member::export`]): it is another in every epoch, and only members of the epoch know it.
pub const ROUTING_LABEL: &str = "gambeson channel routing v1";

/// A member of one channel.
///
/// Nothing here reads a clock, a file or a network. Whoever calls says what time it is: for what comes out of a log, the time at which the log
/// took it, so that all members judge alike. What is refused leaves the state as it was, but for one thing: a message of an application that does not
/// open has used up its key. Cards that are not known make no refusal, but [`Error::Unresolved`]: the same call is right once they are there.
///
/// ```
/// use std::sync::Arc;
/// use gambeson_identity::{Agent, CardContent, CardLog, Role as Key, Timestamp};
/// use gambeson_mls::Preset;
/// use gambeson_slim::{Cards, Changes, ChannelId, Me, Member, Policy, Processed};
///
/// let now = Timestamp(1_795_330_800);
/// let cards = Arc::new(Cards::default());
/// let agent = || -> Result<Me, Box<dyn std::error::Error>> {
///     let agent = Agent::generate()?;
///     let content = CardContent { groups: vec![Key::GroupMlDsa65], ..CardContent::default() };
///     let log = CardLog::new(agent.first_card(now, now.after(86_400), &content)?)?;
///     cards.add(log.clone())?;
///     Ok(Me::new(Arc::new(agent), &log, Preset::Default)?)
/// };
/// let (alice, bob) = (agent()?, agent()?);
///
/// let policy = Policy::new(ChannelId([1; 32]), alice.did().clone(), now).sign(alice.agent())?;
/// let mut a = Member::create(&alice, &cards, policy, alice.suites()[0], now)?;
/// let (package, kept) = bob.key_package(bob.suites()[0], false, now)?;
/// let pending = a.commit(Changes { add: vec![package], ..Changes::default() }, now)?;
/// a.confirm()?; // The log took it.
/// let (_, welcome) = &pending.welcomes[0];
/// let tree = pending.tree.as_ref().expect("somebody joins");
/// let mut b = Member::join(&bob, &cards, &kept, welcome, tree, now)?;
/// assert_eq!(a.authenticator()?, b.authenticator()?);
///
/// let said = a.seal(b"hello", b"")?;
/// let Processed::Application(heard) = b.process(&said, now)? else { panic!() };
/// assert_eq!((&heard.data[..], &heard.by), (&b"hello"[..], alice.did()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Member {
    me: Me,
    cards: Arc<Cards>,
    suite: &'static Suite,
    shared: Shared,
    vault: Vault,
    group: Group<Config>,
    policy: SignedPolicy,
    /// Policies of epochs that are over, each with the last epoch in which it held.
    former: Vec<(u64, Policy)>,
    pending: Option<change::Waiting>,
    /// Whether this member was removed.
    removed: bool,
    written: state::Written,
}

/// What came of a message.
#[allow(clippy::large_enum_variant)] // There is one at a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Processed {
    /// A commit: the channel is in a new epoch.
    Commit(Changed),
    /// A message of an application.
    Application(Application),
}

/// A message of an application, from a member that may speak.
#[derive(Clone, PartialEq, Eq)]
pub struct Application {
    /// Who sent it.
    pub by: Did,
    /// The epoch that it was sent in.
    pub epoch: u64,
    /// What it says.
    pub data: Bytes,
    /// What stood beside it for all to read, and is authenticated with it.
    pub authenticated_data: Bytes,
}

impl fmt::Debug for Application {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Application({} bytes by {} in epoch {})", self.data.len(), self.by, self.epoch)
    }
}

/// What a Welcome says before its channel is joined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Examined {
    /// The channel.
    pub channel: ChannelId,
    /// The leaf of who made the Welcome.
    pub inviter: u32,
    /// The note.
    pub note: Bytes,
}

/// A member, as the others see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// Its DID.
    pub did: Did,
    /// The card that its leaf names.
    pub card: CardHash,
    /// Its role.
    pub role: Role,
    /// Its place in the tree.
    pub leaf: u32,
}

impl Member {
    /// Creates a channel, with the agent as its only member. The policy says which, and must be signed by the agent, as an owner.
    ///
    /// # Errors
    /// [`Reason::BadPolicy`], [`Reason::BadPolicySignature`] for a policy that is not the first one or another's; [`Reason::WrongSuite`]; what is wrong with
    /// the agent's card; [`Error::Unresolved`].
    pub fn create(
        me: &Me,
        cards: &Arc<Cards>,
        policy: SignedPolicy,
        suite: &Suite,
        now: Timestamp,
    ) -> Result<Self> {
        let suite = me.suite(suite.number())?;
        let (shared, vault) = (Shared::default(), Vault::default());
        let client = me.client(suite, cards, &shared, &vault, KEY_PACKAGE_LIFETIME)?;
        if policy.policy().former.is_some() {
            return Err(Refusal::new(Reason::BadPolicy, "a channel must begin with its first policy").into());
        }
        if policy.signer().did() != me.did() || policy.policy().role(me.did()) != Role::Owner {
            let what = "the creator of a channel must be its owner and sign its policy";
            return Err(Refusal::new(Reason::BadPolicySignature, what).into());
        }
        shared.begin(Some(now));
        let extensions = extensions(policy.bytes())?;
        let group = client.create_group_with_id(
            policy.policy().channel.0.to_vec(),
            extensions,
            ExtensionList::new(),
            Some(MlsTime::from(now.0)),
        );
        let judged = policy.verify(cards, Some(now));
        let group = settled(&shared, group, judged)?;
        Self::begin(me, cards, suite, shared, vault, group, policy)
    }

    /// Joins a channel by a Welcome, with the private half of the key package that it is for, and the tree beside it
    /// ([`Pending::tree`]). The caller drops a key package that was used, unless it is one of last resort.
    ///
    /// # Errors
    /// [`Reason::UnknownKeyPackage`], [`Reason::WrongSuite`], [`Reason::Malformed`], [`Reason::Forged`]; what is wrong with members and policy;
    /// [`Error::Unresolved`].
    pub fn join(
        me: &Me,
        cards: &Arc<Cards>,
        kept: &KeptKeyPackage,
        welcome: &[u8],
        tree: &[u8],
        now: Timestamp,
    ) -> Result<Self> {
        let (suite, (shared, vault), client, message) = Self::welcomed(me, cards, kept, welcome)?;
        let (signature, bytes, tree) = beside(tree)?;
        if let Ok(info) = client.examine_welcome_message(&message) {
            me.verify_ahead(suite, bytes, &info.group_context().group_id);
        }
        shared.begin(Some(now));
        let joined = client.join_group(Some(tree), &message, None);
        vault.hold().key_packages.clear();
        let policy = joined.as_ref().ok().map(|(group, _)| joined_policy(group, signature)).transpose()?;
        let judged = policy.as_ref().map_or(Ok(()), |policy| policy.verify(cards, Some(now)));
        let (group, _) = settled(&shared, joined, judged)?;
        let policy = policy.ok_or_else(|| Refusal::new(Reason::BadPolicy, "the group has no policy"))?;
        Self::begin(me, cards, suite, shared, vault, group, policy)
    }

    /// Opens a Welcome without joining: which channel, in which leaf who made it sits, and the note ([`Changes::note`]). The signature is verified
    /// when the channel is joined, and not before.
    ///
    /// # Errors
    /// [`Reason::UnknownKeyPackage`], [`Reason::WrongSuite`], [`Reason::Malformed`], [`Reason::Forged`].
    pub fn examine(me: &Me, cards: &Arc<Cards>, kept: &KeptKeyPackage, welcome: &[u8]) -> Result<Examined> {
        let (_, _, client, message) = Self::welcomed(me, cards, kept, welcome)?;
        let info = client.examine_welcome_message(&message).map_err(|error| refused(&error))?;
        let malformed = |what: &str| Refusal::new(Reason::Malformed, what);
        let id = info.group_context().group_id.as_slice().try_into();
        let note = info.extensions().iter().find(|one| one.extension_type == NOTE_EXTENSION.into());
        Ok(Examined {
            channel: ChannelId(id.map_err(|_| malformed("the group id is not a channel id"))?),
            inviter: info.sender(),
            note: Bytes::copy_from_slice(
                &note.ok_or_else(|| malformed("the Welcome lacks the channel's extension"))?.extension_data,
            ),
        })
    }

    /// A client that has nothing but the key package of a Welcome.
    #[allow(clippy::type_complexity)] // Its caller takes it apart at once.
    fn welcomed(
        me: &Me,
        cards: &Arc<Cards>,
        kept: &KeptKeyPackage,
        welcome: &[u8],
    ) -> Result<(&'static Suite, (Shared, Vault), mls_rs::Client<Config>, MlsMessage)> {
        let message = read(welcome)?;
        let MlsMessageDescription::Welcome { cipher_suite, .. } = message.description() else {
            return Err(Refusal::new(Reason::Malformed, "the message is not a Welcome").into());
        };
        let suite = me.suite(cipher_suite.into())?;
        // The suite of a Welcome stands outside of what is signed and encrypted, and those that differ in signatures alone open it alike.
        if suite.number() != kept.suite() {
            let what = "the Welcome has another suite than its key package";
            return Err(Refusal::new(Reason::WrongSuite, what).into());
        }
        let (shared, vault) = (Shared::default(), Vault::default());
        vault.hold().key_packages.insert(kept.id.clone(), kept.data.clone());
        // The leaf is that of the key package, though the agent may have a newer card by now.
        let leaf = me.signing_of(&kept.credential()?, suite, cards)?;
        let client = me.client_of(leaf, suite, cards, &shared, &vault, KEY_PACKAGE_LIFETIME)?;
        Ok((suite, (shared, vault), client, message))
    }

    /// Comes back into a channel after it fell behind, by a commit from outside that takes the place of the old leaf, on what
    /// [`Member::checkpoint`] gave. The commit goes to the log; if another came first, the member that is returned is dropped.
    ///
    /// # Errors
    /// As [`Member::join`]; [`Reason::NoRejoin`] if the policy forbids it, [`Reason::NotMember`] if the agent is none.
    pub fn rejoin(
        me: &Me,
        cards: &Arc<Cards>,
        group_info: &[u8],
        tree: &[u8],
        now: Timestamp,
    ) -> Result<(Self, Bytes)> {
        let message = read(group_info)?;
        let info = message.as_group_info();
        let info = info.ok_or_else(|| Refusal::new(Reason::Malformed, "the message is not a GroupInfo"))?;
        let suite = me.suite(info.group_context().cipher_suite.into())?;
        let (signature, bytes, tree) = beside(tree)?;
        me.verify_ahead(suite, bytes, &info.group_context().group_id);
        let old = tree
            .roster()
            .members_iter()
            .find(|member| credential(&member.signing_identity).is_ok_and(|it| it.did == *me.did()))
            .ok_or_else(|| Refusal::new(Reason::NotMember, format_args!("{} is not a member", me.did())))?;
        let (shared, vault) = (Shared::default(), Vault::default());
        let client = me.client(suite, cards, &shared, &vault, KEY_PACKAGE_LIFETIME)?;
        shared.begin(Some(now));
        // Without a time of mls-rs's: key packages of members that never committed may be long over.
        let built = client
            .external_commit_builder()
            .map_err(|error| refused(&error))?
            .with_tree_data(tree)
            .with_removal(old.index)
            .build(message);
        let policy = built.as_ref().ok().map(|(group, _)| joined_policy(group, signature)).transpose()?;
        let judged = policy.as_ref().map_or(Ok(()), |policy| policy.verify(cards, Some(now)));
        let (group, commit) = settled(&shared, built, judged)?;
        let policy = policy.ok_or_else(|| Refusal::new(Reason::BadPolicy, "the group has no policy"))?;
        let commit = bytes_of(&commit)?;
        Ok((Self::begin(me, cards, suite, shared, vault, group, policy)?, commit))
    }

    /// Refuses what [`Member::rejoin`] made, if its policy does not follow from the one held here: any member can write a checkpoint, and only
    /// who may change the policy that this member knows makes another for it. `forked`: it may be an older one, of the other side.
    ///
    /// # Errors
    /// [`Reason::OldPolicy`], [`Reason::BadPolicySignature`].
    pub fn accepts_return(&self, back: &Self, forked: bool) -> Result<()> {
        let (held, next) = (self.policy.policy(), &back.policy);
        if next.bytes() == self.policy.bytes() {
            return Ok(());
        }
        if !forked && next.policy().version <= held.version {
            let what =
                format!("policy version {} does not follow version {}", next.policy().version, held.version);
            return Err(Refusal::new(Reason::OldPolicy, what).into());
        }
        let signer = next.signer().did();
        match self.acting(signer)? >= held.change {
            true => Ok(()),
            false => Err(Refusal::new(
                Reason::BadPolicySignature,
                format_args!(
                    "{signer}, who signed the policy of the checkpoint, could not change the one known here: leave, and be invited again"
                ),
            )
            .into()),
        }
    }

    fn begin(
        me: &Me,
        cards: &Arc<Cards>,
        suite: &'static Suite,
        shared: Shared,
        vault: Vault,
        group: Group<Config>,
        policy: SignedPolicy,
    ) -> Result<Self> {
        let mut member = Self {
            me: me.clone(),
            cards: Arc::clone(cards),
            suite,
            shared,
            vault,
            group,
            policy,
            former: Vec::new(),
            pending: None,
            removed: false,
            written: state::Written::default(),
        };
        member.settle_epoch()?;
        Ok(member)
    }

    /// Takes a message that others sent: a commit, in the order of the log, or a message of an application. `at` is when the log took it.
    ///
    /// # Errors
    /// Why it is refused; [`Error::Unresolved`] for what must be known first. The member's own commit is taken as [`Member::confirm`] takes it.
    pub fn process(&mut self, message: &[u8], at: Timestamp) -> Result<Processed> {
        self.present()?;
        if self.pending.as_ref().is_some_and(|pending| pending.commit == message) {
            return self.confirm().map(Processed::Commit);
        }
        let parsed = read(message)?;
        match self.kind(&parsed)? {
            ContentType::Commit => {
                let (group, changed) = self.judge(parsed, at)?;
                self.advance(group, &changed)?;
                Ok(Processed::Commit(changed))
            }
            ContentType::Application => self.take_application(parsed, at).map(Processed::Application),
            _ => Err(Refusal::new(Reason::BadProposal, "commits must contain their proposals").into()),
        }
    }

    /// Cards that must be known before a message is processed, found without changing anything. For a message of an application, none.
    ///
    /// # Errors
    /// As [`Member::process`], but for [`Error::Unresolved`], which is the answer.
    pub fn needs(&self, message: &[u8], at: Timestamp) -> Result<Vec<Need>> {
        let parsed = read(message)?;
        let own = self.pending.as_ref().is_some_and(|pending| pending.commit == message);
        if own || self.kind(&parsed)? != ContentType::Commit {
            return Ok(Vec::new());
        }
        match self.judge(parsed, at) {
            Err(Error::Unresolved(needs)) => Ok(needs),
            Err(error) => Err(error),
            Ok(_) => Ok(Vec::new()),
        }
    }

    /// What a message holds, if it is one of this channel.
    fn kind(&self, message: &MlsMessage) -> Result<ContentType> {
        let (group, content) = match message.description() {
            MlsMessageDescription::PrivateProtocolMessage { group_id, content_type, .. }
            | MlsMessageDescription::PublicProtocolMessage { group_id, content_type, .. } => {
                (group_id, content_type)
            }
            _ => return Err(Refusal::new(Reason::Malformed, "the message is not from a member").into()),
        };
        match group == self.group.group_id() {
            true => Ok(content),
            false => Err(Refusal::new(Reason::OtherChannel, "the message is of another channel").into()),
        }
    }

    /// Judges a commit on a copy of the group: one that is refused, or cannot be judged yet, changes nothing.
    fn judge(&self, message: MlsMessage, at: Timestamp) -> Result<(Group<Config>, Changed)> {
        let mut group = self.group.clone();
        self.shared.begin(Some(at));
        let taken = group.process_incoming_message_with_time(message, MlsTime::from(at.0));
        let taken = settled(&self.shared, taken, Ok(()))?;
        let ReceivedMessage::Commit(taken) = taken else {
            return Err(Refusal::new(Reason::Malformed, "the message is not a commit").into());
        };
        let changed = self.changed(&taken)?;
        Ok((group, changed))
    }

    fn take_application(&mut self, message: MlsMessage, at: Timestamp) -> Result<Application> {
        let epoch = message.epoch().unwrap_or_default();
        let taken = self.group.process_incoming_message_with_time(message, MlsTime::from(at.0));
        self.written.received(epoch < self.epoch());
        let ReceivedMessage::ApplicationMessage(taken) = taken.map_err(|error| refused(&error))? else {
            return Err(Refusal::new(Reason::Malformed, "the message is not an application message").into());
        };
        // mls-rs refuses a sender of an earlier epoch whose leaf has another key by now.
        let sender = self.group.member_at_index(taken.sender_index);
        let sender = sender.ok_or_else(|| Refusal::new(Reason::NotMember, "the sender is not a member"))?;
        let by = credential(&sender.signing_identity)?.did;
        let policy = self.policy_of(epoch);
        may_speak(policy, &by, taken.data(), &taken.authenticated_data)?;
        Ok(Application {
            by,
            epoch,
            data: Bytes::copy_from_slice(taken.data()),
            authenticated_data: Bytes::copy_from_slice(&taken.authenticated_data),
        })
    }

    /// The policy of an epoch that can still be read.
    fn policy_of(&self, epoch: u64) -> &Policy {
        let former = self.former.iter().find(|(until, _)| epoch <= *until);
        former.map_or(self.policy.policy(), |(_, policy)| policy)
    }

    /// Encrypts and signs a message, padded so that its length shows no more than its three highest bits (of data, signature and frame
    /// together; multiples of 32 bytes below 256). Who only listens may say how far it heard, complain and ask to be let go, which a channel marks in the
    /// authenticated data, and nothing else. Nobody may once [`RESERVED`] messages were sealed and no [`Member::state`] was taken.
    ///
    /// # Errors
    /// [`Reason::Listener`], [`Reason::TooLong`], [`Reason::Unwritten`], [`Reason::Removed`].
    pub fn seal(&mut self, data: &[u8], authenticated_data: &[u8]) -> Result<Bytes> {
        self.present()?;
        may_speak(self.policy.policy(), self.me.did(), data, authenticated_data)?;
        if self.written.sent() >= RESERVED {
            let what = format!("{RESERVED} messages were encrypted since the state was last stored");
            return Err(Refusal::new(Reason::Unwritten, what).into());
        }
        let sealed = self.group.encrypt_application_message(data, authenticated_data.to_vec());
        let sealed = bytes_of(&sealed.map_err(|error| failed(&error))?)?;
        self.written.sealed();
        Ok(sealed)
    }

    /// Derives a secret that all members of the epoch have, and nobody else (RFC 9420, section 8.5).
    ///
    /// # Errors
    /// [`Reason::Protocol`] for more than the KDF gives, 255 times the length of its hash; [`Reason::Removed`].
    pub fn export(&self, label: &str, context: &[u8], len: usize) -> Result<Zeroizing<Vec<u8>>> {
        self.present()?;
        let secret = self.group.export_secret(label.as_bytes(), context, len);
        Ok(Zeroizing::new(secret.map_err(|error| failed(&error))?.as_bytes().to_vec()))
    }

    /// What is the same for all who agree on everything up to this epoch (RFC 9420, section 8.7).
    ///
    /// # Errors
    /// [`Reason::Protocol`].
    pub fn authenticator(&self) -> Result<Zeroizing<Vec<u8>>> {
        let secret = self.group.epoch_authenticator().map_err(|error| refused(&error))?;
        Ok(Zeroizing::new(secret.as_bytes().to_vec()))
    }

    /// What lets members that fell behind come back ([`Member::rejoin`]): a GroupInfo, and the tree with the policy's signature. Both are sealed
    /// before they go anywhere.
    ///
    /// # Errors
    /// [`Reason::Removed`], [`Reason::Protocol`].
    pub fn checkpoint(&self) -> Result<(Bytes, Bytes)> {
        self.present()?;
        let info = self.group.group_info_message_allowing_ext_commit(false);
        let info = bytes_of(&info.map_err(|error| failed(&error))?)?;
        Ok((info, self.tree(&self.group.export_tree(), &self.policy)?))
    }

    /// The tree, after the signature of the policy: what a joiner needs besides the Welcome.
    fn tree(&self, tree: &ExportedTree<'_>, policy: &SignedPolicy) -> Result<Bytes> {
        let tree = tree.to_bytes().map_err(|error| refused(&error))?;
        let signature = policy.signature().as_bytes();
        let len = u16::try_from(signature.len()).map_err(|error| Refusal::new(Reason::Protocol, error))?;
        Ok(Bytes::from([&len.to_be_bytes(), signature, &tree].concat()))
    }

    /// The epoch: how many commits there were.
    #[must_use]
    pub fn epoch(&self) -> u64 {
        self.group.current_epoch()
    }

    /// The channel.
    #[must_use]
    pub fn id(&self) -> ChannelId {
        self.policy.policy().channel
    }

    /// The suite.
    #[must_use]
    pub const fn suite(&self) -> &'static Suite {
        self.suite
    }

    /// The policy that holds.
    #[must_use]
    pub const fn policy(&self) -> &SignedPolicy {
        &self.policy
    }

    /// The agent.
    #[must_use]
    pub const fn me(&self) -> &Me {
        &self.me
    }

    /// The role of this member.
    #[must_use]
    pub fn role(&self) -> Role {
        self.policy.policy().role(self.me.did())
    }

    /// Whether this member was removed: then nothing can be done here any more.
    #[must_use]
    pub const fn is_removed(&self) -> bool {
        self.removed
    }

    /// Every member, in the order of the tree.
    ///
    /// # Errors
    /// [`Reason::BadCredential`], which no group that was joined has.
    pub fn members(&self) -> Result<Vec<Listed>> {
        let listed = |member: mls_rs::group::Member| {
            let Credential { did, card } = credential(&member.signing_identity)?;
            let role = self.policy.policy().role(&did);
            Ok(Listed { did, card, role, leaf: member.index })
        };
        self.group.roster().members_iter().map(listed).collect()
    }

    /// The role that a member acts in: where no owner is a member, those of the highest role act as owners ([`Policy::acting`]).
    ///
    /// # Errors
    /// As [`Member::members`].
    pub fn acting(&self, did: &Did) -> Result<Role> {
        Ok(Members::of(self.policy.policy(), &self.group.roster())?.acting(did))
    }

    /// The agent has a new card: the next commit brings it, or the next [`Changes::update`].
    ///
    /// # Errors
    /// [`Reason::OtherIdentity`] for another agent; [`Reason::WrongSuite`] if the new card lists no key for the channel's suite.
    pub fn renew(&mut self, me: &Me) -> Result<()> {
        if me.did() != self.me.did() {
            return Err(Refusal::new(Reason::OtherIdentity, "a member's DID cannot change").into());
        }
        me.suite(self.suite.number())?;
        // The group signs with the old key until the commit that brings the new card: its provider stays.
        self.me = me.with_provider_of(&self.me);
        Ok(())
    }

    /// Whether the leaf names the agent's present card.
    ///
    /// # Errors
    /// As [`Member::members`].
    pub fn is_renewed(&self) -> Result<bool> {
        Ok(self.my_credential()? == *self.me.credential())
    }

    /// Members whose leaves should be there no longer, as far as the cards that are known here tell, each with a sentence why: the newest card of
    /// the agent revokes the key of the leaf or does not list it any more, or the card that the leaf names is over and another came after it.
    ///
    /// # Errors
    /// As [`Member::members`].
    pub fn outdated(&self, at: Timestamp) -> Result<Vec<(Did, String)>> {
        let role = me::leaf_role(self.suite);
        let role =
            role.ok_or_else(|| Refusal::new(Reason::WrongSuite, "no card lists keys for this suite"))?;
        let mut outdated = Vec::new();
        for member in self.group.roster().members_iter() {
            let leaf = credential(&member.signing_identity)?;
            if let Some(why) = self.cards.outdated(&leaf, role, at) {
                outdated.push((leaf.did, why));
            }
        }
        Ok(outdated)
    }

    /// Whether this member may remove another, by its role.
    ///
    /// # Errors
    /// As [`Member::members`].
    pub fn may_remove(&self, did: &Did) -> Result<bool> {
        let members = Members::of(self.policy.policy(), &self.group.roster())?;
        Ok(removable(&members, self.me.did(), did).is_ok())
    }

    fn present(&self) -> Result<()> {
        match self.removed {
            false => Ok(()),
            true => Err(Refusal::new(Reason::Removed, "this member was removed from the channel").into()),
        }
    }
}

impl fmt::Debug for Member {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Member")
            .field("channel", &self.id())
            .field("me", self.me.did())
            .field("epoch", &self.epoch())
            .finish_non_exhaustive()
    }
}

/// Whether a member may say this. In a bundle each message counts by itself; what the channel says beside its messages is as long as it is.
fn may_speak(policy: &Policy, did: &Did, data: &[u8], authenticated_data: &[u8]) -> Result<(), Refusal> {
    let mark = Mark::parse(&Bytes::copy_from_slice(authenticated_data)).ok();
    if mark.as_ref().is_some_and(|mark| mark.kind != MarkKind::Bundle) {
        return Ok(());
    }
    if policy.role(did) == Role::Listener {
        return Err(Refusal::new(
            Reason::Listener,
            format_args!("{did} is a listener here and may not send"),
        ));
    }
    let whole = policy.lets_say(data.len());
    match mark.filter(|_| whole.is_err()).map(|_| Bundle::parse(Bytes::copy_from_slice(data))) {
        Some(Ok(bundle)) => {
            bundle.payloads.iter().try_for_each(|payload| policy.lets_say(payload.bytes.len()))
        }
        _ => whole,
    }
}

/// What mls-rs answered, and what was judged besides, unless cards were missing.
fn settled<T>(
    shared: &Shared,
    answer: std::result::Result<T, mls_rs::error::MlsError>,
    judged: std::result::Result<(), Doubt>,
) -> Result<T> {
    let judged = shared.settle(judged);
    let needs = shared.end();
    // A refusal holds whatever the missing cards say.
    let answer = answer.map_err(|error| refused(&error))?;
    judged?;
    match needs.is_empty() {
        true => Ok(answer),
        false => Err(Error::Unresolved(needs)),
    }
}

/// The extensions of a channel's group: the policy, and that members know what it needs.
fn extensions(policy: &[u8]) -> Result<ExtensionList> {
    let mut extensions = ExtensionList::new();
    let required = RequiredCapabilitiesExt::new(
        vec![POLICY_EXTENSION.into()],
        vec![EVIDENCE_PROPOSAL.into()],
        vec![CredentialType::new(Credential::TYPE)],
    );
    extensions.set_from(required).map_err(|error| Refusal::new(Reason::Protocol, error))?;
    extensions.set(Extension::new(POLICY_EXTENSION.into(), policy.to_vec()));
    Ok(extensions)
}

/// The policy of a group that was entered, which must be a channel's: this policy, the extensions of [`extensions`], the same id.
fn joined_policy(group: &Group<Config>, signature: &str) -> Result<SignedPolicy> {
    let bytes = policy_bytes(group.context())?;
    let policy = SignedPolicy::read(bytes, signature)?;
    if group.context().extensions != extensions(bytes)? || policy.policy().channel.0[..] != *group.group_id()
    {
        return Err(Refusal::new(Reason::BadPolicy, "the policy of the group names another channel").into());
    }
    // Later ones were judged by the members of that time.
    let first = policy.policy().former.is_none();
    if first && policy.policy().role(policy.signer().did()) != Role::Owner {
        let what = "the first policy of a channel must be signed by an owner";
        return Err(Refusal::new(Reason::BadPolicySignature, what).into());
    }
    Ok(policy)
}

/// Splits what [`Member::tree`] joined: the signature, the tree's bytes, the tree.
pub(crate) fn beside(bytes: &[u8]) -> Result<(&str, &[u8], ExportedTree<'static>)> {
    let bad = || Refusal::new(Reason::Malformed, "not the signature of a policy and a ratchet tree");
    let (len, rest) = bytes.split_first_chunk::<2>().ok_or_else(bad)?;
    let (signature, tree) = rest.split_at_checked(usize::from(u16::from_be_bytes(*len))).ok_or_else(bad)?;
    let signature = std::str::from_utf8(signature).map_err(|_| bad())?;
    let read = ExportedTree::from_bytes(tree).map_err(|error| refused(&error))?;
    Ok((signature, tree, read))
}
