//! The agent that is a member, and what it gives out to be invited.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use gambeson_identity::{Agent, CardLog, Did, Role as KeyRole, Timestamp};
use gambeson_mls::{Preset, Provider, Signer, Suite};
use mls_rs::client_builder::{
    BaseConfig, WithCryptoProvider, WithGroupStateStorage, WithIdentityProvider, WithKeyPackageRepo,
    WithMlsRules,
};
use mls_rs::extension::recommended::LastResortKeyPackageExt;
use mls_rs::identity::SigningIdentity;
use mls_rs::mls_rs_codec::{MlsDecode, MlsEncode};
use mls_rs::time::MlsTime;
use mls_rs::{Client, CryptoProvider, ExtensionList, KeyPackage, MlsMessage};
use mls_rs_core::crypto::SignatureSecretKey;
use mls_rs_core::key_package::KeyPackageData;
use zeroize::Zeroizing;

use super::identities::{Identities, Shared, identity};
use super::judge::Judge;
use super::refused::refused;
use super::vault::{SecretBytes, Vault};
use crate::cards::{Cards, SKEW};
use crate::credential::{CardHash, Credential};
use crate::error::Result;
use crate::policy::{EVIDENCE_PROPOSAL, POLICY_EXTENSION};
use crate::refusal::{Reason, Refusal};

/// How long a key package is good, unless asked otherwise: 90 days, in seconds.
pub const KEY_PACKAGE_LIFETIME: u64 = 90 * 24 * 3600;

/// An agent as a member of channels: its leaf keys, its card, the suites it has.
///
/// Private keys stay in the agent: mls-rs has handles of them. One is made anew when the agent has a new card.
///
/// ```
/// use std::sync::Arc;
/// use gambeson_identity::{Agent, CardContent, CardLog, Role, Timestamp};
/// use gambeson_mls::Preset;
/// use gambeson_slim::Me;
///
/// let (agent, now) = (Agent::generate()?, Timestamp(1_795_330_800));
/// let content = CardContent { groups: vec![Role::GroupMlDsa65], ..CardContent::default() };
/// let log = CardLog::new(agent.first_card(now, now.after(86_400), &content)?)?;
/// let me = Me::new(Arc::new(agent), &log, Preset::Default)?;
///
/// let (package, kept) = me.key_package(me.suites()[0], false, now)?;
/// assert!(package.len() < 16 * 1024 && !kept.last_resort());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Me {
    agent: Arc<Agent>,
    credential: Credential,
    preset: Preset,
    provider: Provider,
    suites: Vec<&'static Suite>,
}

/// A leaf key of an agent, which does not leave it.
struct Leaf {
    agent: Arc<Agent>,
    role: KeyRole,
    index: u64,
    public: Vec<u8>,
}

impl Signer for Leaf {
    fn public_key(&self) -> &[u8] {
        &self.public
    }

    fn sign(&self, message: &[u8]) -> gambeson_mls::Result<Vec<u8>> {
        self.agent.sign_in_group(self.role, self.index, message).map_err(|_| gambeson_mls::Error::Signer)
    }
}

/// The role of the leaf keys of a suite; every suite of the table has one.
pub(crate) fn leaf_role(suite: &Suite) -> Option<KeyRole> {
    match suite.signature_name() {
        "MLDSA44" => Some(KeyRole::GroupMlDsa44),
        "MLDSA65" => Some(KeyRole::GroupMlDsa65),
        "MLDSA87" => Some(KeyRole::GroupMlDsa87),
        "Ed25519" => Some(KeyRole::GroupEd25519),
        "P256" => Some(KeyRole::GroupEcdsaP256),
        "P384" => Some(KeyRole::GroupEcdsaP384),
        "P521" => Some(KeyRole::GroupEcdsaP521),
        "MLDSA65Ed25519" => Some(KeyRole::GroupMlDsa65Ed25519),
        "MLDSA87P384" => Some(KeyRole::GroupMlDsa87EcdsaP384),
        _ => None,
    }
}

/// The leaf keys of the suites of a preset, in the order of cards: what [`CardContent::groups`](gambeson_identity::CardContent::groups) lists for
/// a member that is to have them all.
///
/// ```
/// use gambeson_identity::Role;
/// use gambeson_mls::Preset;
///
/// assert_eq!(gambeson_slim::leaf_keys(Preset::Default), [Role::GroupMlDsa65]);
/// assert_eq!(gambeson_slim::leaf_keys(Preset::All), Role::GROUPS);
/// ```
#[must_use]
pub fn leaf_keys(preset: Preset) -> Vec<KeyRole> {
    let suites = preset.suites();
    let wanted = |role: &KeyRole| suites.iter().any(|suite| leaf_role(suite) == Some(*role));
    KeyRole::GROUPS.into_iter().filter(wanted).collect()
}

pub(super) type Config = WithMlsRules<
    gambeson_mls::rules::Rules<Judge>,
    WithIdentityProvider<
        Identities,
        WithCryptoProvider<Provider, WithGroupStateStorage<Vault, WithKeyPackageRepo<Vault, BaseConfig>>>,
    >,
>;

impl Me {
    /// An agent with the suites of a preset that its newest card lists keys for.
    ///
    /// # Errors
    /// [`Reason::NoKey`] if the log is not the agent's newest, or its card lists no key for any suite.
    pub fn new(agent: Arc<Agent>, log: &CardLog, preset: Preset) -> Result<Self> {
        let card = log.newest();
        if log.did() != agent.did() || card.version() != agent.index(KeyRole::Did) + 1 {
            return Err(Refusal::new(
                Reason::NoKey,
                "the cards belong to another agent or lack its newest card",
            )
            .into());
        }
        let listed = card.content().groups;
        let has = |suite: &&Suite| leaf_role(suite).is_some_and(|role| listed.contains(&role));
        let suites: Vec<_> = preset.suites().into_iter().filter(has).collect();
        if suites.is_empty() {
            let what = format!("the card lists no key for a suite of the preset {preset}");
            return Err(Refusal::new(Reason::NoKey, what).into());
        }
        let random = agent.group_rng();
        let provider = Provider::new(preset).with_hedge(move |out| random.fill(out));
        let credential = Credential { did: agent.did().clone(), card: CardHash::of(card) };
        Ok(Self { agent, credential, preset, provider, suites })
    }

    /// The DID.
    #[must_use]
    pub fn did(&self) -> &Did {
        &self.credential.did
    }

    /// The credential of its leaves.
    #[must_use]
    pub const fn credential(&self) -> &Credential {
        &self.credential
    }

    /// The agent.
    #[must_use]
    pub fn agent(&self) -> &Arc<Agent> {
        &self.agent
    }

    /// The suites that it has, the most wanted first.
    #[must_use]
    pub fn suites(&self) -> &[&'static Suite] {
        &self.suites
    }

    /// Makes a key package, with which others add the agent while it is away. It is good from 60 seconds before `now`, for clocks that differ, and for
    /// [`KEY_PACKAGE_LIFETIME`]. One of last resort is used when nothing else is left, as often as needed (RFC 9420, section 16.8).
    ///
    /// The second is for the sealed store: its private keys. Without it nobody joins.
    ///
    /// # Errors
    /// [`Reason::WrongSuite`] for a suite that the agent does not have.
    pub fn key_package(
        &self,
        suite: &Suite,
        last_resort: bool,
        now: Timestamp,
    ) -> Result<(Bytes, KeptKeyPackage)> {
        self.key_package_for(suite, last_resort, now, KEY_PACKAGE_LIFETIME)
    }

    /// As [`Me::key_package`], good for so many seconds.
    ///
    /// # Errors
    /// As there.
    pub fn key_package_for(
        &self,
        suite: &Suite,
        last_resort: bool,
        now: Timestamp,
        lifetime: u64,
    ) -> Result<(Bytes, KeptKeyPackage)> {
        let vault = Vault::default();
        let client = self.client(suite, &Arc::default(), &Shared::default(), &vault, lifetime)?;
        let mut extensions = ExtensionList::new();
        if last_resort {
            extensions
                .set_from(LastResortKeyPackageExt)
                .map_err(|error| Refusal::new(Reason::Protocol, error))?;
        }
        let from = MlsTime::from(now.0.saturating_sub(SKEW));
        let message = client
            .generate_key_package_message(extensions, ExtensionList::new(), Some(from))
            .map_err(|error| refused(&error))?;
        let kept = vault.hold().key_packages.pop_first();
        let (id, data) = kept.ok_or_else(|| Refusal::new(Reason::Protocol, "no private keys were made"))?;
        Ok((bytes_of(&message)?, KeptKeyPackage { id, suite: suite.number(), last_resort, data }))
    }

    /// A client of mls-rs for one suite.
    pub(super) fn client(
        &self,
        suite: &Suite,
        cards: &Arc<Cards>,
        shared: &Shared,
        vault: &Vault,
        lifetime: u64,
    ) -> Result<Client<Config>> {
        self.client_of(self.signing(suite)?, suite, cards, shared, vault, lifetime)
    }

    /// The same, with a leaf that [`Me::signing_of`] gave.
    pub(super) fn client_of(
        &self,
        (signing_identity, signer): (SigningIdentity, SignatureSecretKey),
        suite: &Suite,
        cards: &Arc<Cards>,
        shared: &Shared,
        vault: &Vault,
        lifetime: u64,
    ) -> Result<Client<Config>> {
        let role = self.role(suite)?;
        let judge = Judge { cards: Arc::clone(cards), shared: shared.clone() };
        let rules = gambeson_mls::rules::Rules::new(judge, POLICY_EXTENSION, EVIDENCE_PROPOSAL);
        let identities = Identities { cards: Arc::clone(cards), role, shared: shared.clone() };
        Ok(Client::builder()
            .key_package_repo(vault.clone())
            .group_state_storage(vault.clone())
            .crypto_provider(self.provider.clone())
            .identity_provider(identities)
            .mls_rules(rules)
            .extension_type(POLICY_EXTENSION.into())
            .custom_proposal_type(EVIDENCE_PROPOSAL.into())
            .key_package_lifetime(Duration::from_secs(lifetime.saturating_add(SKEW)))
            .signing_identity(signing_identity, signer, suite.cipher_suite())
            .build())
    }

    /// The identity of a leaf, and the handle of its key.
    pub(super) fn signing(&self, suite: &Suite) -> Result<(SigningIdentity, SignatureSecretKey)> {
        let role = self.role(suite)?;
        let (public, handle) = self.register(role, self.agent.index(role))?;
        Ok((identity(&self.credential, public), handle))
    }

    fn register(&self, role: KeyRole, index: u64) -> Result<(Vec<u8>, SignatureSecretKey)> {
        let public = self.agent.group_public_key(role, index);
        let public = public.map_err(|error| Refusal::new(Reason::NoKey, error))?;
        let leaf = Leaf { agent: Arc::clone(&self.agent), role, index, public: public.clone() };
        Ok((public, self.provider.register_signer(Arc::new(leaf))))
    }

    /// The identity of a leaf that names the agent's card, or an earlier one, and the handle of its key.
    pub(super) fn signing_of(
        &self,
        leaf: &Credential,
        suite: &Suite,
        cards: &Cards,
    ) -> Result<(SigningIdentity, SignatureSecretKey)> {
        if *leaf == self.credential {
            return self.signing(suite);
        }
        let role = self.role(suite)?;
        let log = cards.log(&leaf.did).filter(|_| leaf.did == self.credential.did);
        let earlier = log.as_ref().map_or(&[][..], CardLog::cards);
        let card = earlier.iter().find(|card| CardHash::of(card) == leaf.card);
        let card =
            card.ok_or_else(|| Refusal::new(Reason::BadState, "the card that the leaf names is unknown"))?;
        let listed = card.document().group_key(role, card.validity().0);
        let (url, _) = listed.map_err(|error| Refusal::new(Reason::NoKey, error))?;
        let index = url.fragment().rsplit_once('-').and_then(|(_, index)| index.parse().ok());
        let index = index.ok_or_else(|| Refusal::new(Reason::NoKey, "the key has no index"))?;
        let (public, handle) = self.register(role, index)?;
        Ok((identity(leaf, public), handle))
    }

    /// The same agent with a provider that others hold already, with its signers.
    pub(super) fn with_provider_of(&self, other: &Self) -> Self {
        Self { provider: other.provider.clone(), ..self.clone() }
    }

    /// Verifies a tree's leaves side by side, for mls-rs to find them verified.
    pub(super) fn verify_ahead(&self, suite: &Suite, tree: &[u8], group_id: &[u8]) {
        if let Some(suite) = self.provider.cipher_suite_provider(suite.cipher_suite()) {
            suite.verify_tree_ahead(tree, group_id);
        }
    }

    pub(super) const fn crypto(&self) -> &Provider {
        &self.provider
    }

    /// The suite of this number, which the preset must have and the card a key for.
    pub(super) fn suite(&self, number: u16) -> Result<&'static Suite> {
        let suite = self.preset.find(number).map_err(|error| Refusal::new(Reason::WrongSuite, error))?;
        self.role(suite).map(|_| suite)
    }

    fn role(&self, suite: &Suite) -> Result<KeyRole> {
        self.preset.find(suite.number()).map_err(|error| Refusal::new(Reason::WrongSuite, error))?;
        let has = self.suites.iter().any(|one| one.number() == suite.number());
        let role = leaf_role(suite).filter(|_| has);
        Ok(role.ok_or_else(|| {
            Refusal::new(Reason::WrongSuite, format_args!("the card lists no key for suite {suite}"))
        })?)
    }
}

impl fmt::Debug for Me {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Me").field("credential", &self.credential).field("preset", &self.preset).finish()
    }
}

/// Reads a message of MLS 1.0 (RFC 9420, section 6). Its version stands outside of what is signed, and mls-rs takes any for key packages.
pub(super) fn read(bytes: &[u8]) -> Result<MlsMessage> {
    if !bytes.starts_with(&[0, 1]) {
        return Err(Refusal::new(Reason::Malformed, "not a message of MLS 1.0").into());
    }
    MlsMessage::from_bytes(bytes).map_err(|error| refused(&error).into())
}

pub(super) fn bytes_of(message: &MlsMessage) -> Result<Bytes> {
    Ok(Bytes::from(message.to_bytes().map_err(|error| refused(&error))?))
}

/// The private half of a key package, for the sealed store.
pub struct KeptKeyPackage {
    pub(super) id: Vec<u8>,
    suite: u16,
    last_resort: bool,
    pub(super) data: KeyPackageData,
}

impl KeptKeyPackage {
    /// The reference (RFC 9420, section 5.2) by which a Welcome names it: [`welcome_references`].
    #[must_use]
    pub fn reference(&self) -> &[u8] {
        &self.id
    }

    /// The number of its suite.
    #[must_use]
    pub const fn suite(&self) -> u16 {
        self.suite
    }

    /// Whether it may be used more than once.
    #[must_use]
    pub const fn last_resort(&self) -> bool {
        self.last_resort
    }

    /// The credential of its leaf.
    pub(super) fn credential(&self) -> Result<Credential> {
        let read = KeyPackage::mls_decode(&mut &self.data.key_package_bytes[..]);
        let read =
            read.map_err(|_| Refusal::new(Reason::BadState, "not the private half of a key package"))?;
        Ok(super::identities::credential(read.signing_identity())?)
    }

    /// When it ends.
    #[must_use]
    pub const fn until(&self) -> Timestamp {
        Timestamp(self.data.expiration)
    }

    /// The bytes, which are secret.
    ///
    /// # Errors
    /// [`Reason::Protocol`], which does not happen to one that was made here.
    pub fn to_bytes(&self) -> Result<SecretBytes> {
        let data = Zeroizing::new(
            self.data.mls_encode_to_vec().map_err(|error| Refusal::new(Reason::Protocol, error))?,
        );
        let mut bytes = Zeroizing::new(Vec::with_capacity(5 + self.id.len() + data.len()));
        bytes.extend_from_slice(&self.suite.to_be_bytes());
        bytes.push(u8::from(self.last_resort));
        let len = u16::try_from(self.id.len()).map_err(|error| Refusal::new(Reason::Protocol, error))?;
        bytes.extend_from_slice(&len.to_be_bytes());
        bytes.extend_from_slice(&self.id);
        bytes.extend_from_slice(&data);
        Ok(bytes)
    }

    /// Reads these bytes.
    ///
    /// # Errors
    /// [`Reason::BadState`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let bad = || Refusal::new(Reason::BadState, "not the private half of a key package");
        let (head, rest) = bytes.split_first_chunk::<5>().ok_or_else(bad)?;
        let (id, mut data) =
            rest.split_at_checked(usize::from(u16::from_be_bytes([head[3], head[4]]))).ok_or_else(bad)?;
        let last_resort = match head[2] {
            0 => false,
            1 => true,
            _ => return Err(bad().into()),
        };
        let read = KeyPackageData::mls_decode(&mut data).map_err(|_| bad())?;
        if !data.is_empty() {
            return Err(bad().into());
        }
        let suite = u16::from_be_bytes([head[0], head[1]]);
        Ok(Self { id: id.to_vec(), suite, last_resort, data: read })
    }
}

impl fmt::Debug for KeptKeyPackage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeptKeyPackage").field("suite", &self.suite).finish_non_exhaustive()
    }
}

/// The references of the key packages that a Welcome is for.
///
/// # Errors
/// [`Reason::Malformed`].
pub fn welcome_references(welcome: &[u8]) -> Result<Vec<Vec<u8>>> {
    let message = read(welcome)?;
    Ok(message.welcome_key_package_references().into_iter().map(|reference| reference.to_vec()).collect())
}

/// Whose a key package is, which card and which suite it names. Nothing about it was verified.
///
/// # Errors
/// [`Reason::Malformed`], [`Reason::BadCredential`].
pub fn key_package_of(package: &[u8]) -> Result<(Credential, u16)> {
    let message = read(package)?;
    let package = message
        .as_key_package()
        .ok_or_else(|| Refusal::new(Reason::Malformed, "the message is not a key package"))?;
    Ok((super::identities::credential(package.signing_identity())?, package.cipher_suite().into()))
}
