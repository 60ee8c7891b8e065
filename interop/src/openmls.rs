//! OpenMLS: groups of both libraries, on every post-quantum suite that it has, on three of RFC 9420, and on all eleven suites of the draft
//! under numbers that it takes.

use std::collections::BTreeSet;
use std::fmt;
use std::fs::File;
use std::time::Duration;

use flate2::read::GzDecoder;
use gambeson_mls::{Derivation, Provider, Suite};
use hpke::kem::{MlKem768, MlKem768P256, MlKem1024, MlKem1024P384, XWing};
use libtest_mimic::Trial;
use mls_rs::client_builder::MlsConfig;
use mls_rs::group::ReceivedMessage;
use mls_rs::identity::SigningIdentity;
use mls_rs::identity::basic::{BasicCredential as TheirCredential, BasicIdentityProvider};
use mls_rs::{CipherSuiteProvider, Client, CryptoProvider, Group, MlsMessage};
use openmls::prelude::tls_codec::{Deserialize, Serialize};
use openmls::prelude::{
    BasicCredential, Capabilities, Ciphersuite, CredentialWithKey, KeyPackage, KeyPackageBundle,
    LeafNodeIndex, LeafNodeParameters, MlsGroup, MlsGroupCreateConfig, MlsGroupJoinConfig, MlsMessageBodyIn,
    MlsMessageIn, MlsMessageOut, PURE_PLAINTEXT_WIRE_FORMAT_POLICY, ProcessedMessageContent, ProtocolVersion,
    StagedWelcome,
};
use openmls::schedule::PreSharedKeyId;
use openmls_basic_credential::SignatureKeyPair;
use openmls_rust_crypto::{MemoryStorage, OpenMlsRustCrypto};
use openmls_traits::OpenMlsProvider;
use openmls_traits::crypto::OpenMlsCrypto;
use openmls_traits::storage::StorageProvider;
use serde_json::{Value, json};

use crate::hpke_pq::HpkePq;
use crate::tools::{Result, check};

/// For how long our key packages are good: OpenMLS takes none that are good for more than three months.
const LIFETIME: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// The tests.
#[must_use]
pub fn trials() -> Vec<Trial> {
    let founded = |of: GroupSuite| {
        [("it_invites_us", Library::Theirs), ("we_invite_it", Library::Ours)]
            .map(|(name, founder)| Trial::test(format!("openmls::{name}_on_{of}"), move || life(of, founder)))
    };
    let drafted = (0xf001..=0xf00b).filter_map(Suite::by_number).map(GroupSuite::Draft);
    suites()
        .into_iter()
        .map(GroupSuite::Theirs)
        .chain(drafted)
        .flat_map(founded)
        .chain([
            Trial::test("openmls::each_of_its_post_quantum_suites_is_met", every_suite),
            Trial::test("openmls::with_the_other_derivation_the_first_path_is_refused", other_derivation),
            Trial::test("openmls::it_reads_our_passive_clients_on_each_of_its_suites", || {
                passive_clients("passive-client-openmls", 10)
            }),
            Trial::test("openmls::it_reads_our_passive_clients_on_all_suites_of_the_draft", || {
                passive_clients("passive-client-renumbered", 11)
            }),
        ])
        .collect()
}

/// The suite of a group.
#[derive(Clone, Copy)]
enum GroupSuite {
    /// One of OpenMLS, by its number there, with its derivation of the keys of nodes.
    Theirs(u16),
    /// One of draft-ietf-mls-pq-ciphersuites, with the derivation of draft-ietf-hpke-pq.
    Draft(&'static Suite),
}

impl fmt::Display for GroupSuite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Theirs(number) => write!(f, "{number:#06x}"),
            Self::Draft(suite) => write!(f, "{:#06x}_of_the_draft", suite.number()),
        }
    }
}

impl GroupSuite {
    /// The number on the wire. OpenMLS takes those alone that it knows: the one that it has for the suite, and if it has none, the one
    /// that differs in the KEM alone.
    fn number(self) -> Result<u16> {
        Ok(match self {
            Self::Theirs(number) => number,
            Self::Draft(suite) => match suite.number() {
                0xf003 => 0x0002,
                0xf004 => 0x0050,
                0xf005 => 0x0042,
                _ => suite.openmls_number().ok_or("a number")?,
            },
        })
    }

    fn ours(self) -> Result<Provider> {
        let number = self.number()?;
        Ok(match self {
            Self::Theirs(_) => Provider::openmls(),
            Self::Draft(suite) => Provider::of([suite]).with_numbers(|_| Some(number)),
        })
    }
}

/// Calls a function with that provider of OpenMLS that has the suite.
macro_rules! with_theirs {
    ($of:expr, $function:ident($($argument:expr),*)) => {
        match $of {
            GroupSuite::Theirs(number) if has_rust_crypto(number)? => $function::<OpenMlsRustCrypto>($($argument),*),
            GroupSuite::Theirs(_) => $function::<openmls_libcrux_crypto::Provider>($($argument),*),
            GroupSuite::Draft(suite) => match suite.number() {
                0xf001 | 0xf002 | 0xf009 => $function::<HpkePq<XWing>>($($argument),*),
                0xf003 | 0xf004 => $function::<HpkePq<MlKem768P256>>($($argument),*),
                0xf005 => $function::<HpkePq<MlKem1024P384>>($($argument),*),
                0xf006 | 0xf007 | 0xf00a => $function::<HpkePq<MlKem768>>($($argument),*),
                0xf008 | 0xf00b => $function::<HpkePq<MlKem1024>>($($argument),*),
                _ => Err(format!("{suite} is not of the draft").into()),
            },
        }
    };
}

/// The numbers of the suites that both libraries have.
fn suites() -> Vec<u16> {
    let ours = Provider::openmls().supported_cipher_suites().into_iter().map(u16::from);
    // OpenMLS has 1, 2 and 3 of RFC 9420.
    ours.filter(|number| !matches!(number, 5 | 7)).collect()
}

fn every_suite() -> Result {
    let known = (8..=u16::MAX).filter(|number| Ciphersuite::try_from(*number).is_ok());
    let met = suites().into_iter().filter(|number| *number > 7);
    let (known, met): (BTreeSet<u16>, BTreeSet<u16>) = (known.collect(), met.collect());
    check(known == met, format!("OpenMLS has {known:04x?}, and {met:04x?} are met"))?;
    check((met.len(), suites().len()) == (10, 13), "ten post-quantum suites, and three of RFC 9420")
}

/// Whose a member is.
#[derive(Clone, Copy)]
enum Library {
    Theirs,
    Ours,
}

/// Who is in no group yet. What goes from one to another is bytes.
trait Newcomer {
    fn key_package(&self) -> Result<Vec<u8>>;
    fn found(self: Box<Self>) -> Result<Box<dyn Member>>;
    fn join(self: Box<Self>, welcome: &[u8]) -> Result<Box<dyn Member>>;
    /// Joins by a commit from outside, which the others are to take.
    fn enter(self: Box<Self>, group_info: &[u8]) -> Result<(Box<dyn Member>, Vec<u8>)>;
}

/// Who is in a group.
trait Member {
    fn index(&self) -> u32;
    fn authenticator(&self) -> Result<Vec<u8>>;
    fn say(&mut self, text: &[u8]) -> Result<Vec<u8>>;
    /// What a message of an application says; nothing for a commit, which it takes.
    fn hear(&mut self, message: &[u8]) -> Result<Vec<u8>>;
    /// A commit with a path.
    fn update(&mut self) -> Result<Vec<u8>>;
    /// A commit, and a Welcome.
    fn add(&mut self, key_package: &[u8]) -> Result<[Vec<u8>; 2]>;
    /// A commit.
    fn remove(&mut self, index: u32) -> Result<Vec<u8>>;
    /// What one needs who joins from outside.
    fn group_info(&self) -> Result<Vec<u8>>;
}

/// The name tells it from others in its group.
fn newcomer(library: Library, of: GroupSuite, name: usize) -> Result<Box<dyn Newcomer>> {
    let name = format!("member {name}").into_bytes();
    let number = of.number()?;
    match library {
        Library::Theirs => with_theirs!(of, theirs(number, name)),
        Library::Ours => Ok(Box::new(ours(of.ours()?, number, name)?)),
    }
}

fn theirs<P: Stored>(number: u16, name: Vec<u8>) -> Result<Box<dyn Newcomer>> {
    Ok(Box::new(Theirs::<P>::new(number, name)?))
}

/// Whether OpenMLS's provider over RustCrypto has a suite; 0x004D only the one over libcrux has.
fn has_rust_crypto(number: u16) -> Result<bool> {
    Ok(OpenMlsRustCrypto::default().crypto().supports(Ciphersuite::try_from(number)?).is_ok())
}

/// A provider of OpenMLS with its storage in memory.
trait Stored: OpenMlsProvider<StorageProvider = MemoryStorage> + Default + 'static {}

impl<P: OpenMlsProvider<StorageProvider = MemoryStorage> + Default + 'static> Stored for P {}

/// A member of OpenMLS, before it has a group.
struct Theirs<P> {
    provider: P,
    suite: Ciphersuite,
    signer: SignatureKeyPair,
    credential: CredentialWithKey,
}

impl<P: Stored> Theirs<P> {
    fn new(number: u16, name: Vec<u8>) -> Result<Self> {
        let suite = Ciphersuite::try_from(number)?;
        let provider = P::default();
        let signer = SignatureKeyPair::new(suite.signature_algorithm())?;
        signer.store(provider.storage())?;
        let credential = CredentialWithKey {
            credential: BasicCredential::new(name).into(),
            signature_key: signer.to_public_vec().into(),
        };
        Ok(Self { provider, suite, signer, credential })
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::new(None, Some(&[self.suite]), None, None, None)
    }

    fn join_config() -> MlsGroupJoinConfig {
        MlsGroupJoinConfig::builder()
            .wire_format_policy(PURE_PLAINTEXT_WIRE_FORMAT_POLICY)
            .use_ratchet_tree_extension(true)
            .build()
    }
}

impl<P: Stored> Newcomer for Theirs<P> {
    fn key_package(&self) -> Result<Vec<u8>> {
        let bundle = KeyPackage::builder().leaf_node_capabilities(self.capabilities()).build(
            self.suite,
            &self.provider,
            &self.signer,
            self.credential.clone(),
        )?;
        Ok(MlsMessageOut::from(bundle.key_package().clone()).tls_serialize_detached()?)
    }

    fn found(self: Box<Self>) -> Result<Box<dyn Member>> {
        let config = MlsGroupCreateConfig::builder()
            .ciphersuite(self.suite)
            .capabilities(self.capabilities())
            .wire_format_policy(PURE_PLAINTEXT_WIRE_FORMAT_POLICY)
            .use_ratchet_tree_extension(true)
            .build();
        let group = MlsGroup::new(&self.provider, &self.signer, &config, self.credential.clone())?;
        Ok(Box::new(Joined { me: *self, group }))
    }

    fn join(self: Box<Self>, welcome: &[u8]) -> Result<Box<dyn Member>> {
        let MlsMessageBodyIn::Welcome(welcome) = read(welcome)?.extract() else {
            return Err("not a Welcome".into());
        };
        let staged = StagedWelcome::new_from_welcome(&self.provider, &Self::join_config(), welcome, None)?;
        let group = staged.into_group(&self.provider)?;
        Ok(Box::new(Joined { me: *self, group }))
    }

    fn enter(self: Box<Self>, group_info: &[u8]) -> Result<(Box<dyn Member>, Vec<u8>)> {
        let MlsMessageBodyIn::GroupInfo(group_info) = read(group_info)?.extract() else {
            return Err("not a GroupInfo".into());
        };
        let (provider, credential) = (&self.provider, self.credential.clone());
        let leaf = LeafNodeParameters::builder().with_capabilities(self.capabilities()).build();
        let (group, commit) = MlsGroup::external_commit_builder()
            .with_config(Self::join_config())
            .build_group(provider, group_info, credential)?
            .leaf_node_parameters(leaf)
            .load_psks(provider.storage())?
            .build(provider.rand(), provider.crypto(), &self.signer, |_| true)?
            .finalize(provider)?;
        let commit = commit.commit().tls_serialize_detached()?;
        Ok((Box::new(Joined { me: *self, group }), commit))
    }
}

/// A member of OpenMLS, in its group.
struct Joined<P> {
    me: Theirs<P>,
    group: MlsGroup,
}

impl<P: Stored> Joined<P> {
    /// Its own commit is taken, and told to the others.
    fn committed(&mut self, commit: &MlsMessageOut) -> Result<Vec<u8>> {
        self.group.merge_pending_commit(&self.me.provider)?;
        Ok(commit.tls_serialize_detached()?)
    }
}

impl<P: Stored> Member for Joined<P> {
    fn index(&self) -> u32 {
        self.group.own_leaf_index().u32()
    }

    fn authenticator(&self) -> Result<Vec<u8>> {
        Ok(self.group.epoch_authenticator().as_slice().to_vec())
    }

    fn say(&mut self, text: &[u8]) -> Result<Vec<u8>> {
        let said = self.group.create_message(&self.me.provider, &self.me.signer, text)?;
        Ok(said.tls_serialize_detached()?)
    }

    fn hear(&mut self, message: &[u8]) -> Result<Vec<u8>> {
        let message = read(message)?.try_into_protocol_message()?;
        match self.group.process_message(&self.me.provider, message)?.into_content() {
            ProcessedMessageContent::ApplicationMessage(said) => Ok(said.into_bytes()),
            ProcessedMessageContent::StagedCommitMessage(commit) => {
                self.group.merge_staged_commit(&self.me.provider, *commit)?;
                Ok(Vec::new())
            }
            _ => Err("neither a commit nor a message".into()),
        }
    }

    fn update(&mut self) -> Result<Vec<u8>> {
        let Theirs { provider, signer, .. } = &self.me;
        let update = self.group.self_update(provider, signer, LeafNodeParameters::default())?;
        self.committed(&update.into_commit())
    }

    fn add(&mut self, key_package: &[u8]) -> Result<[Vec<u8>; 2]> {
        let Theirs { provider, signer, .. } = &self.me;
        let MlsMessageBodyIn::KeyPackage(package) = read(key_package)?.extract() else {
            return Err("not a key package".into());
        };
        let package = package.validate(provider.crypto(), ProtocolVersion::Mls10)?;
        let (commit, welcome, _) = self.group.add_members(provider, signer, &[package])?;
        Ok([self.committed(&commit)?, welcome.tls_serialize_detached()?])
    }

    fn remove(&mut self, index: u32) -> Result<Vec<u8>> {
        let Theirs { provider, signer, .. } = &self.me;
        let (commit, _, _) = self.group.remove_members(provider, signer, &[LeafNodeIndex::new(index)])?;
        self.committed(&commit)
    }

    fn group_info(&self) -> Result<Vec<u8>> {
        let Theirs { provider, signer, .. } = &self.me;
        let group_info = self.group.export_group_info(provider.crypto(), signer, true)?;
        Ok(group_info.tls_serialize_detached()?)
    }
}

fn read(message: &[u8]) -> Result<MlsMessageIn> {
    Ok(MlsMessageIn::tls_deserialize_exact(message)?)
}

/// A client of mls-rs with our provider.
fn ours(provider: Provider, number: u16, name: Vec<u8>) -> Result<Client<impl MlsConfig>> {
    let suite = provider.cipher_suite_provider(number.into()).ok_or("a suite of the provider")?;
    let (secret, public) = suite.signature_key_generate()?;
    let identity = SigningIdentity::new(TheirCredential::new(name).into_credential(), public);
    Ok(Client::builder()
        .identity_provider(BasicIdentityProvider)
        .crypto_provider(provider)
        .key_package_lifetime(LIFETIME)
        .signing_identity(identity, secret, number.into())
        .build())
}

impl<C: MlsConfig + 'static> Newcomer for Client<C> {
    fn key_package(&self) -> Result<Vec<u8>> {
        Ok(self.generate_key_package_message(Default::default(), Default::default(), None)?.to_bytes()?)
    }

    fn found(self: Box<Self>) -> Result<Box<dyn Member>> {
        Ok(Box::new(self.group_builder()?.build()?))
    }

    fn join(self: Box<Self>, welcome: &[u8]) -> Result<Box<dyn Member>> {
        let (group, _) = self.join_group(None, &MlsMessage::from_bytes(welcome)?, None)?;
        Ok(Box::new(group))
    }

    fn enter(self: Box<Self>, group_info: &[u8]) -> Result<(Box<dyn Member>, Vec<u8>)> {
        let (group, commit) = self.external_commit_builder()?.build(MlsMessage::from_bytes(group_info)?)?;
        Ok((Box::new(group), commit.to_bytes()?))
    }
}

impl<C: MlsConfig + 'static> Member for Group<C> {
    fn index(&self) -> u32 {
        self.current_member_index()
    }

    fn authenticator(&self) -> Result<Vec<u8>> {
        Ok(self.epoch_authenticator()?.to_vec())
    }

    fn say(&mut self, text: &[u8]) -> Result<Vec<u8>> {
        Ok(self.encrypt_application_message(text, Vec::new())?.to_bytes()?)
    }

    fn hear(&mut self, message: &[u8]) -> Result<Vec<u8>> {
        match self.process_incoming_message(MlsMessage::from_bytes(message)?)? {
            ReceivedMessage::ApplicationMessage(said) => Ok(said.data().to_vec()),
            ReceivedMessage::Commit(_) => Ok(Vec::new()),
            _ => Err("neither a commit nor a message".into()),
        }
    }

    fn update(&mut self) -> Result<Vec<u8>> {
        let commit = self.commit(Vec::new())?.commit_message.to_bytes()?;
        self.apply_pending_commit()?;
        Ok(commit)
    }

    fn add(&mut self, key_package: &[u8]) -> Result<[Vec<u8>; 2]> {
        let added = self.commit_builder().add_member(MlsMessage::from_bytes(key_package)?)?.build()?;
        self.apply_pending_commit()?;
        let welcome = added.welcome_messages.first().ok_or("a Welcome")?;
        Ok([added.commit_message.to_bytes()?, welcome.to_bytes()?])
    }

    fn remove(&mut self, index: u32) -> Result<Vec<u8>> {
        let commit = self.commit_builder().remove_member(index)?.build()?.commit_message.to_bytes()?;
        self.apply_pending_commit()?;
        Ok(commit)
    }

    fn group_info(&self) -> Result<Vec<u8>> {
        Ok(self.group_info_message_allowing_ext_commit(true)?.to_bytes()?)
    }
}

/// A group, and what happened in it.
struct Life {
    of: GroupSuite,
    members: Vec<Box<dyn Member>>,
    authenticators: BTreeSet<Vec<u8>>,
    heard: usize,
    unread: usize,
}

impl Life {
    fn founded(of: GroupSuite, founder: Library) -> Result<Self> {
        let founder = newcomer(founder, of, 0)?.found()?;
        Ok(Self { of, members: vec![founder], authenticators: BTreeSet::new(), heard: 0, unread: 0 })
    }

    fn add(&mut self, by: usize, library: Library) -> Result {
        let newcomer = newcomer(library, self.of, self.members.len())?;
        let [commit, welcome] = self.members[by].add(&newcomer.key_package()?)?;
        self.tell(by, &commit)?;
        self.members.push(newcomer.join(&welcome)?);
        self.epoch().map(drop)
    }

    fn enter(&mut self, through: usize, library: Library) -> Result {
        let newcomer = newcomer(library, self.of, self.members.len())?;
        let (member, commit) = newcomer.enter(&self.members[through].group_info()?)?;
        self.members.push(member);
        self.tell(self.members.len() - 1, &commit)?;
        self.epoch().map(drop)
    }

    fn update(&mut self, by: usize) -> Result {
        let commit = self.members[by].update()?;
        self.tell(by, &commit)?;
        self.epoch().map(drop)
    }

    fn remove(&mut self, by: usize, who: usize) -> Result {
        let index = self.members[who].index();
        let commit = self.members[by].remove(index)?;
        self.tell(by, &commit)?;
        let mut removed = self.members.remove(who);
        for said in self.epoch()? {
            check(removed.hear(&said).is_err(), "who was removed reads")?;
            self.unread += 1;
        }
        Ok(())
    }

    /// All but who made it take a commit.
    fn tell(&mut self, by: usize, commit: &[u8]) -> Result {
        for (_, member) in self.members.iter_mut().enumerate().filter(|(at, _)| *at != by) {
            check(member.hear(commit)?.is_empty(), "a commit says something")?;
        }
        Ok(())
    }

    /// In a new epoch all have one authenticator, which no epoch had before, and each hears what each other one says.
    fn epoch(&mut self) -> Result<Vec<Vec<u8>>> {
        let epoch = self.authenticators.len();
        for member in &self.members {
            self.authenticators.insert(member.authenticator()?);
        }
        check(self.authenticators.len() == epoch + 1, format!("the authenticators of epoch {epoch}"))?;
        let mut said = Vec::new();
        for from in 0..self.members.len() {
            let text = format!("from {from} in epoch {epoch}");
            let message = self.members[from].say(text.as_bytes())?;
            for (to, member) in self.members.iter_mut().enumerate().filter(|(to, _)| *to != from) {
                check(member.hear(&message)? == text.as_bytes(), format!("{to} hears another text {text}"))?;
                self.heard += 1;
            }
            said.push(message);
        }
        Ok(said)
    }
}

/// Two members, one of each library, and a third of the other library than the one who takes it in, by a Welcome and then by a commit from
/// outside; the other one removes it. All update as long as there are three. What one of the two commits, the other takes, which is of the
/// other library.
fn life(of: GroupSuite, founder: Library) -> Result {
    let other = match founder {
        Library::Theirs => Library::Ours,
        Library::Ours => Library::Theirs,
    };
    let mut group = Life::founded(of, founder)?;
    group.add(0, other)?;
    group.update(0)?;
    group.update(1)?;
    for take_in in [Life::add, Life::enter] {
        for (by, removes, third) in [(0, 1, other), (1, 0, founder)] {
            take_in(&mut group, by, third)?;
            (0..3).try_for_each(|member| group.update(member))?;
            group.remove(removes, 2)?;
        }
    }
    group.remove(0, 1)?;
    let Life { authenticators, heard, unread, .. } = group;
    check(authenticators.len() == 3 + 4 * 5 + 1, "twenty-four epochs")?;
    check(heard == 3 * 2 + 4 * (4 * 6 + 2), "every message is heard")?;
    check(unread == 4 * 2 + 1, "nothing is heard by who was removed")
}

/// A file of `vectors/mls`: OpenMLS in the place of the client that has nothing but what the file tells.
fn passive_clients(kind: &str, count: usize) -> Result {
    let file = format!("{}/../vectors/mls/{kind}.json.gz", env!("CARGO_MANIFEST_DIR"));
    let cases: Vec<Value> = serde_json::from_reader(GzDecoder::new(File::open(file)?))?;
    let suites: BTreeSet<_> = cases.iter().map(|case| case["cipher_suite"].as_u64()).collect();
    for case in &cases {
        followed(case).map_err(|error| {
            format!("suite {}: {}", case["cipher_suite"], error.message().unwrap_or("no reason"))
        })?;
        // It follows for what is in the case, and not because nothing is looked at.
        for (at, what) in
            [("/init_priv", "a Welcome"), ("/epochs/0/commit", "a commit"), ("/external_psks/0/psk", "a PSK")]
        {
            let mut changed = case.clone();
            let text = changed.pointer_mut(at).ok_or(at)?;
            let good = text.as_str().ok_or(at)?.to_owned();
            // Not in the second half of a key of ML-KEM, which matters for forged ciphertexts alone.
            let digit = good.len() / 4;
            let other = if &good[digit..=digit] == "1" { "2" } else { "1" };
            *text = format!("{}{other}{}", &good[..digit], &good[digit + 1..]).into();
            check(
                followed(&changed).is_err(),
                format!("suite {}: {what} was changed", case["cipher_suite"]),
            )?;
        }
    }
    check((cases.len(), suites.len()) == (count, count), format!("{count} suites"))
}

fn followed(case: &Value) -> Result {
    let number = case["cipher_suite"].as_u64().and_then(|number| number.try_into().ok()).ok_or("a number")?;
    let of = match &case["number"] {
        Value::Null => GroupSuite::Theirs(number),
        _ => GroupSuite::Draft(Suite::by_number(number).ok_or("a suite of the draft")?),
    };
    with_theirs!(of, follow(case))
}

fn follow<P: Stored>(case: &Value) -> Result {
    let bytes = |value: &Value| -> Result<Vec<u8>> { Ok(hex::decode(value.as_str().ok_or("a text")?)?) };
    let provider = P::default();
    let MlsMessageBodyIn::KeyPackage(package) = read(&bytes(&case["key_package"])?)?.extract() else {
        return Err("not a key package".into());
    };
    // What OpenMLS stores, by the fields of its own storage format: it makes its private keys itself and takes none otherwise, and
    // calls a key package old when its lifetime is over.
    let key = |name: &str| -> Result<Value> { Ok(json!({"vec": bytes(&case[name])?})) };
    let bundle: KeyPackageBundle = serde_json::from_value(json!({
        "key_package": serde_json::to_value(&package)?,
        "private_init_key": key("init_priv")?,
        "private_encryption_key": {"key": key("encryption_priv")?},
    }))?;
    let reference = bundle.key_package().hash_ref(provider.crypto())?;
    provider.storage().write_key_package(&reference, &bundle)?;
    for psk in case["external_psks"].as_array().ok_or("a list")? {
        let nonce = vec![0; bundle.key_package().ciphersuite().hash_length()];
        PreSharedKeyId::external(bytes(&psk["psk_id"])?, nonce).store(&provider, &bytes(&psk["psk"])?)?;
    }
    let config = MlsGroupJoinConfig::builder().wire_format_policy(PURE_PLAINTEXT_WIRE_FORMAT_POLICY).build();
    let MlsMessageBodyIn::Welcome(welcome) = read(&bytes(&case["welcome"])?)?.extract() else {
        return Err("not a Welcome".into());
    };
    let joining = StagedWelcome::build_from_welcome(&provider, &config, welcome)?.skip_lifetime_validation();
    let mut group = joining.build()?.into_group(&provider)?;
    let agree = |group: &MlsGroup, of: &Value, name: &str| -> Result {
        check(group.epoch_authenticator().as_slice() == bytes(&of[name])?, name)
    };
    agree(&group, case, "initial_epoch_authenticator")?;
    for epoch in case["epochs"].as_array().ok_or("a list")? {
        let proposals = epoch["proposals"].as_array().ok_or("a list")?;
        for message in proposals.iter().chain([&epoch["commit"]]) {
            let message = read(&bytes(message)?)?.try_into_protocol_message()?;
            match group.process_message(&provider, message)?.into_content() {
                ProcessedMessageContent::ProposalMessage(proposal) => {
                    group.store_pending_proposal(provider.storage(), *proposal)?;
                }
                ProcessedMessageContent::StagedCommitMessage(commit) => {
                    group.merge_staged_commit(&provider, *commit)?;
                }
                _ => return Err("neither a proposal nor a commit".into()),
            }
        }
        agree(&group, epoch, "epoch_authenticator")?;
        for said in epoch["said"].as_array().ok_or("a list")? {
            let message = read(&bytes(&said["message"])?)?.try_into_protocol_message()?;
            let heard = group.process_message(&provider, message)?.into_content();
            let ProcessedMessageContent::ApplicationMessage(heard) = heard else {
                return Err("not a message".into());
            };
            check(heard.into_bytes() == bytes(&said["data"])?, "what was said")?;
        }
    }
    Ok(())
}

/// That the derivation is looked at: with the other one, OpenMLS cannot follow our first path.
fn other_derivation() -> Result {
    let draft = Suite::by_number(0xf00a).ok_or("a suite of the draft")?;
    for (of, other) in
        [(GroupSuite::Theirs(0x0051), Derivation::Labeled), (GroupSuite::Draft(draft), Derivation::Plain)]
    {
        let theirs = newcomer(Library::Theirs, of, 1)?;
        let provider = of.ours()?.with_derivation(other);
        let mut ours = Box::new(ours(provider, of.number()?, b"ours".to_vec())?).found()?;
        let [_, welcome] = ours.add(&theirs.key_package()?)?;
        let mut theirs = theirs.join(&welcome)?;
        check(theirs.hear(&ours.update()?).is_err(), format!("{of}: a path of another derivation"))?;
    }
    Ok(())
}
