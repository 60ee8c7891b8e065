//! Agents with cards, channels of them, and insiders whose groups know no rules.

#![allow(dead_code, clippy::unwrap_used, missing_docs)] // A test may fail that way; each uses its part.

pub mod spoiling;

use std::sync::Arc;

use bytes::Bytes;
use gambeson_identity::{
    Agent, CardContent, CardLog, Did, MasterSeed, Retired, Role as Key, Suite as AgentSuite, Timestamp,
};
use gambeson_mls::{Preset, Provider, Signer, Suite};
use gambeson_slim::{
    CardHash, Cards, Changed, Changes, ChannelId, Credential, EVIDENCE_PROPOSAL, Me, Member,
    POLICY_EXTENSION, Pending, Policy, Processed, Reason, Role,
};
use mls_rs::client_builder::{MlsConfig, PaddingMode};
use mls_rs::error::IntoAnyError;
use mls_rs::group::ExportedTree;
use mls_rs::group::Group;
use mls_rs::identity::{Credential as MlsCredential, CredentialType, CustomCredential, SigningIdentity};
use mls_rs::mls_rules::{CommitOptions, DefaultMlsRules, EncryptionOptions};
use mls_rs::psk::{ExternalPskId, PreSharedKey};
use mls_rs::time::MlsTime;
use mls_rs::{Client, CryptoProvider, ExtensionList, IdentityProvider, MlsMessage};
use mls_rs_core::identity::MemberValidationContext;

pub const NOW: Timestamp = Timestamp(1_795_330_800);
pub const DAY: u64 = 86_400;
pub const CHANNEL: ChannelId = ChannelId([7; 32]);

/// An agent, its cards, and what it is in channels.
pub struct Person {
    pub log: CardLog,
    pub me: Me,
    seed: u8,
}

/// Every leaf key that agents have.
pub fn content() -> CardContent {
    CardContent { groups: Key::GROUPS.to_vec(), ..CardContent::default() }
}

pub fn agent(seed: u8) -> Agent {
    Agent::with_suite(MasterSeed::from_bytes(&[seed; 32]), AgentSuite::Default)
}

impl Person {
    pub fn new(seed: u8) -> Self {
        Self::with(seed, &content(), Preset::All)
    }

    pub fn with(seed: u8, content: &CardContent, preset: Preset) -> Self {
        let agent = agent(seed);
        let card = agent.first_card(NOW.after(0), NOW.after(30 * DAY), content).unwrap();
        let log = CardLog::new(card).unwrap();
        let me = Me::new(Arc::new(agent), &log, preset).unwrap();
        Self { log, me, seed }
    }

    pub fn did(&self) -> &Did {
        self.me.did()
    }

    /// The same agent with one more card, that begins at `from` and has new keys for these roles.
    pub fn rotated(&self, roles: &[Key], retired: Retired, from: Timestamp) -> Self {
        let mut agent = Agent::recover(MasterSeed::from_bytes(&[self.seed; 32]), &self.log).unwrap();
        let mut log = self.log.clone();
        agent.rotate(&mut log, roles, retired, (from, from.after(30 * DAY)), &content()).unwrap();
        let me = Me::new(Arc::new(agent), &log, Preset::All).unwrap();
        Self { log, me, seed: self.seed }
    }
}

/// All cards of these.
pub fn known(people: &[&Person]) -> Arc<Cards> {
    let cards = Cards::default();
    people.iter().for_each(|person| cards.add(person.log.clone()).unwrap());
    Arc::new(cards)
}

pub fn suite() -> &'static Suite {
    Suite::by_number(0xf00a).unwrap()
}

/// A channel of `people`, the first of whom made it: roles are as `change` makes them.
pub fn channel(people: &[&Person], cards: &Arc<Cards>, change: impl FnOnce(&mut Policy)) -> Vec<Member> {
    channel_of(suite(), people, cards, change)
}

pub fn channel_of(
    suite: &Suite,
    people: &[&Person],
    cards: &Arc<Cards>,
    change: impl FnOnce(&mut Policy),
) -> Vec<Member> {
    let mut policy = Policy::new(CHANNEL, people[0].did().clone(), NOW);
    change(&mut policy);
    let signed = policy.sign(people[0].me.agent()).unwrap();
    let mut creator = Member::create(&people[0].me, cards, signed, suite, NOW).unwrap();
    let mut members = Vec::new();
    if people.len() > 1 {
        let (packages, kept): (Vec<_>, Vec<_>) =
            people[1..].iter().map(|person| person.me.key_package(suite, false, NOW).unwrap()).unzip();
        let pending = creator.commit(Changes { add: packages, ..Changes::default() }, NOW).unwrap();
        creator.confirm().unwrap();
        for (person, kept) in people[1..].iter().zip(&kept) {
            let welcome = welcome(&pending, person.did());
            let tree = pending.tree.as_ref().unwrap();
            members.push(Member::join(&person.me, cards, kept, welcome, tree, NOW).unwrap());
        }
    }
    members.insert(0, creator);
    members
}

pub fn welcome<'a>(pending: &'a Pending, did: &Did) -> &'a Bytes {
    &pending.welcomes.iter().find(|(whose, _)| whose == did).unwrap().1
}

/// A commit by one, taken by all others; all agree afterwards.
pub fn commit(members: &mut [Member], by: usize, changes: Changes) -> (Pending, Changed) {
    commit_at(members, by, changes, NOW)
}

pub fn commit_at(members: &mut [Member], by: usize, changes: Changes, at: Timestamp) -> (Pending, Changed) {
    let pending = members[by].commit(changes, at).unwrap();
    let mut said = members[by].confirm().unwrap();
    for (index, member) in members.iter_mut().enumerate() {
        if index != by && !member.is_removed() {
            let Processed::Commit(changed) = member.process(&pending.commit, at).unwrap() else { panic!() };
            assert_eq!(changed, said);
            said = changed;
        }
    }
    let present = || members.iter().filter(|member| !member.is_removed());
    let first = present().next().unwrap().authenticator().unwrap();
    present().for_each(|member| assert_eq!(*member.authenticator().unwrap(), *first));
    (pending, said)
}

/// What is said by one, heard by another.
pub fn heard(by: &mut Member, what: &[u8], to: &mut Member) -> Vec<u8> {
    let sealed = by.seal(what, b"beside").unwrap();
    let Processed::Application(heard) = to.process(&sealed, NOW).unwrap() else { panic!() };
    assert_eq!((&heard.by, &heard.authenticated_data[..]), (by.me().did(), &b"beside"[..]));
    heard.data.to_vec()
}

/// The reason of a refusal, and that it left the member as it was.
pub fn refused(member: &mut Member, message: &[u8]) -> Reason {
    refused_at(member, message, NOW)
}

pub fn refused_at(member: &mut Member, message: &[u8], at: Timestamp) -> Reason {
    let before = (member.epoch(), member.authenticator().unwrap(), member.members().unwrap());
    let error = member.process(message, at).unwrap_err();
    assert_eq!(before, (member.epoch(), member.authenticator().unwrap(), member.members().unwrap()));
    error.reason().unwrap_or_else(|| panic!("{error}"))
}

/// A member's role, by the channel's policy.
pub fn roles<'a>(policy: &mut Policy, those: impl IntoIterator<Item = (&'a Person, Role)>) {
    policy.roles.extend(those.into_iter().map(|(person, role)| (person.did().clone(), role)));
}

/// Believes everybody.
#[derive(Clone, Debug)]
pub struct Credulous;

#[derive(Debug)]
pub struct Never;

impl IntoAnyError for Never {}

impl IdentityProvider for Credulous {
    type Error = Never;

    fn validate_member(
        &self,
        _: &SigningIdentity,
        _: Option<MlsTime>,
        _: MemberValidationContext<'_>,
    ) -> Result<(), Never> {
        Ok(())
    }

    fn validate_external_sender(
        &self,
        _: &SigningIdentity,
        _: Option<MlsTime>,
        _: Option<&ExtensionList>,
    ) -> Result<(), Never> {
        Ok(())
    }

    fn identity(&self, identity: &SigningIdentity, _: &ExtensionList) -> Result<Vec<u8>, Never> {
        let data = &identity.credential.as_custom().ok_or(Never)?.data;
        Ok(data[..data.len().saturating_sub(32)].to_vec())
    }

    fn valid_successor(
        &self,
        _: &SigningIdentity,
        _: &SigningIdentity,
        _: &ExtensionList,
    ) -> Result<bool, Never> {
        Ok(true)
    }

    fn supported_types(&self) -> Vec<CredentialType> {
        vec![CredentialType::new(Credential::TYPE)]
    }
}

struct Leaf(Arc<Agent>, Key, u64, Vec<u8>);

impl Signer for Leaf {
    fn public_key(&self) -> &[u8] {
        &self.3
    }

    fn sign(&self, message: &[u8]) -> gambeson_mls::Result<Vec<u8>> {
        self.0.sign_in_group(self.1, self.2, message).map_err(|_| gambeson_mls::Error::Signer)
    }
}

/// A client of mls-rs that keeps no rule of channels: with this key of this agent, under a credential of these bytes.
pub fn outlaw(
    agent: &Arc<Agent>,
    key: Key,
    credential: Vec<u8>,
    suite: &Suite,
) -> Client<impl MlsConfig + use<>> {
    outlaw_over(agent, key, credential, suite, |provider| provider)
}

/// The same, whose cryptography need not be honest either.
pub fn outlaw_over<P: CryptoProvider + Clone + Send + Sync + 'static, F: FnOnce(Provider) -> P>(
    agent: &Arc<Agent>,
    key: Key,
    credential: Vec<u8>,
    suite: &Suite,
    over: F,
) -> Client<impl MlsConfig + use<P, F>> {
    let provider = Provider::new(Preset::All);
    let (index, public) = (agent.index(key), agent.public_key(key));
    let signer = provider.register_signer(Arc::new(Leaf(Arc::clone(agent), key, index, public.clone())));
    let custom = CustomCredential::new(CredentialType::new(Credential::TYPE), credential);
    let identity = SigningIdentity::new(MlsCredential::Custom(custom), public.into());
    let rules = DefaultMlsRules::new()
        .with_commit_options(
            CommitOptions::new().with_ratchet_tree_extension(false).with_single_welcome_message(false),
        )
        .with_encryption_options(EncryptionOptions::new(true, PaddingMode::StepFunction));
    Client::builder()
        .crypto_provider(over(provider))
        .identity_provider(Credulous)
        .mls_rules(rules)
        .extension_type(POLICY_EXTENSION.into())
        .custom_proposal_type(EVIDENCE_PROPOSAL.into())
        .psk(ExternalPskId::new(vec![1]), PreSharedKey::new(vec![2; 48]))
        .signing_identity(identity, signer, suite.cipher_suite())
        .build()
}

/// A person as it should be, but for the rules.
pub fn lawless(person: &Person) -> Client<impl MlsConfig + use<>> {
    outlaw(person.me.agent(), Key::GroupMlDsa65, person.me.credential().to_bytes(), suite())
}

pub fn package(client: &Client<impl MlsConfig>) -> Bytes {
    let from = Some(MlsTime::from(NOW.0 - 60));
    let message = client.generate_key_package_message(ExtensionList::new(), ExtensionList::new(), from);
    Bytes::from(message.unwrap().to_bytes().unwrap())
}

/// The tree alone, of what joiners get.
pub fn bare(tree: &[u8]) -> ExportedTree<'static> {
    let signature = usize::from(u16::from_be_bytes([tree[0], tree[1]]));
    ExportedTree::from_bytes(&tree[2 + signature..]).unwrap()
}

pub fn enter<C: MlsConfig>(client: &Client<C>, pending: &Pending, did: &Did) -> Group<C> {
    let message = MlsMessage::from_bytes(welcome(pending, did)).unwrap();
    client.join_group(Some(bare(pending.tree.as_ref().unwrap())), &message, None).unwrap().0
}

/// A channel of `people` and an insider, who joins last and keeps no rules.
pub fn with_insider<C: MlsConfig>(
    people: &[&Person],
    insider: &Person,
    client: &Client<C>,
    cards: &Arc<Cards>,
    change: impl FnOnce(&mut Policy),
) -> (Vec<Member>, Group<C>) {
    let mut members = channel(people, cards, change);
    let (pending, _) = commit(&mut members, 0, Changes { add: vec![package(client)], ..Changes::default() });
    let group = enter(client, &pending, insider.did());
    (members, group)
}

pub fn card_of(person: &Person) -> CardHash {
    CardHash::of(person.log.newest())
}

pub fn of(message: &MlsMessage) -> Vec<u8> {
    message.to_bytes().unwrap()
}
