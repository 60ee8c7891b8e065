//! OpenMLS: one group of both libraries, on every post-quantum suite that it has, and on three of RFC 9420.

use std::fs::File;
use std::time::Duration;

use flate2::read::GzDecoder;
use gambeson_mls::{Derivation, Preset, Provider};
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
use openmls_rust_crypto::OpenMlsRustCrypto;
use openmls_traits::OpenMlsProvider;
use openmls_traits::storage::StorageProvider;
use serde_json::{Value, json};

use crate::tools::{Result, check};

/// For how long our key packages are good: OpenMLS takes none that are good for more than three months.
const LIFETIME: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// The tests.
#[must_use]
pub fn trials() -> Vec<Trial> {
    let provider = Provider::new(Preset::All).for_openmls();
    let numbers = provider.supported_cipher_suites().into_iter().map(u16::from);
    // OpenMLS has 1, 2 and 3 of RFC 9420.
    let suites = numbers.filter(|number| !matches!(number, 5 | 7));
    suites
        .flat_map(|number| {
            [
                Trial::test(format!("openmls::it_invites_us_on_{number:#06x}"), move || {
                    it_invites_us(number)
                }),
                Trial::test(format!("openmls::we_invite_it_on_{number:#06x}"), move || we_invite_it(number)),
            ]
        })
        .chain([
            Trial::test("openmls::with_our_own_derivation_its_first_path_is_refused", other_derivation),
            Trial::test("openmls::it_reads_our_passive_clients_on_every_suite", passive_clients),
        ])
        .collect()
}

/// A member of OpenMLS, before it has a group.
struct Theirs {
    provider: OpenMlsRustCrypto,
    suite: Ciphersuite,
    signer: SignatureKeyPair,
    credential: CredentialWithKey,
}

impl Theirs {
    fn new(number: u16) -> Result<Self> {
        let suite = Ciphersuite::try_from(number)?;
        let provider = OpenMlsRustCrypto::default();
        let signer = SignatureKeyPair::new(suite.signature_algorithm())?;
        signer.store(provider.storage())?;
        let credential = CredentialWithKey {
            credential: BasicCredential::new(b"theirs".to_vec()).into(),
            signature_key: signer.to_public_vec().into(),
        };
        Ok(Self { provider, suite, signer, credential })
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::new(None, Some(&[self.suite]), None, None, None)
    }

    fn create(&self) -> Result<MlsGroup> {
        let config = MlsGroupCreateConfig::builder()
            .ciphersuite(self.suite)
            .capabilities(self.capabilities())
            .wire_format_policy(PURE_PLAINTEXT_WIRE_FORMAT_POLICY)
            .use_ratchet_tree_extension(true)
            .build();
        Ok(MlsGroup::new(&self.provider, &self.signer, &config, self.credential.clone())?)
    }

    fn key_package(&self) -> Result<Vec<u8>> {
        let bundle = KeyPackage::builder().leaf_node_capabilities(self.capabilities()).build(
            self.suite,
            &self.provider,
            &self.signer,
            self.credential.clone(),
        )?;
        Ok(MlsMessageOut::from(bundle.key_package().clone()).tls_serialize_detached()?)
    }

    fn join(&self, welcome: &[u8]) -> Result<MlsGroup> {
        let config =
            MlsGroupJoinConfig::builder().wire_format_policy(PURE_PLAINTEXT_WIRE_FORMAT_POLICY).build();
        let MlsMessageBodyIn::Welcome(welcome) = read(welcome)?.extract() else {
            return Err("not a Welcome".into());
        };
        Ok(StagedWelcome::new_from_welcome(&self.provider, &config, welcome, None)?
            .into_group(&self.provider)?)
    }

    /// What it hears: a commit, which it takes, or a message of an application.
    fn hear(&self, group: &mut MlsGroup, message: &[u8]) -> Result<Vec<u8>> {
        let message = read(message)?.try_into_protocol_message()?;
        match group.process_message(&self.provider, message)?.into_content() {
            ProcessedMessageContent::ApplicationMessage(said) => Ok(said.into_bytes()),
            ProcessedMessageContent::StagedCommitMessage(commit) => {
                group.merge_staged_commit(&self.provider, *commit)?;
                Ok(Vec::new())
            }
            _ => Err("neither a commit nor a message".into()),
        }
    }
}

fn read(message: &[u8]) -> Result<MlsMessageIn> {
    Ok(MlsMessageIn::tls_deserialize_exact(message)?)
}

fn ours(provider: Provider, number: u16) -> Result<Client<impl MlsConfig>> {
    let suite = provider.cipher_suite_provider(number.into()).ok_or("a suite of the provider")?;
    let (secret, public) = suite.signature_key_generate()?;
    let identity = SigningIdentity::new(TheirCredential::new(b"ours".to_vec()).into_credential(), public);
    Ok(Client::builder()
        .identity_provider(BasicIdentityProvider)
        .crypto_provider(provider)
        .key_package_lifetime(LIFETIME)
        .signing_identity(identity, secret, number.into())
        .build())
}

fn take(group: &mut Group<impl MlsConfig>, message: &[u8]) -> Result<Vec<u8>> {
    match group.process_incoming_message(MlsMessage::from_bytes(message)?)? {
        ReceivedMessage::ApplicationMessage(said) => Ok(said.data().to_vec()),
        _ => Ok(Vec::new()),
    }
}

/// Messages both ways, a path of each side, and the removal of `ours` or of `theirs`.
fn life(
    theirs: &Theirs,
    their_group: &mut MlsGroup,
    our_group: &mut Group<impl MlsConfig>,
    they_remove: bool,
) -> Result {
    let agree = |theirs: &MlsGroup, ours: &Group<_>, when: &str| {
        let ours = ours.epoch_authenticator()?;
        check(theirs.epoch_authenticator().as_slice() == &ours[..], when)
    };
    agree(their_group, our_group, "the first epoch")?;
    let said = their_group.create_message(&theirs.provider, &theirs.signer, b"from OpenMLS")?;
    check(take(our_group, &said.tls_serialize_detached()?)? == b"from OpenMLS", "a message of OpenMLS")?;
    let said = our_group.encrypt_application_message(b"from us", Vec::new())?.to_bytes()?;
    check(theirs.hear(their_group, &said)? == b"from us", "a message of ours")?;

    let update = their_group.self_update(&theirs.provider, &theirs.signer, LeafNodeParameters::default())?;
    let commit = update.into_commit().tls_serialize_detached()?;
    their_group.merge_pending_commit(&theirs.provider)?;
    take(our_group, &commit)?;
    agree(their_group, our_group, "after a path of OpenMLS")?;

    let commit = our_group.commit(Vec::new())?.commit_message.to_bytes()?;
    our_group.apply_pending_commit()?;
    theirs.hear(their_group, &commit)?;
    agree(their_group, our_group, "after a path of ours")?;

    if they_remove {
        let index = LeafNodeIndex::new(our_group.current_member_index());
        let (commit, _, _) = their_group.remove_members(&theirs.provider, &theirs.signer, &[index])?;
        their_group.merge_pending_commit(&theirs.provider)?;
        take(our_group, &commit.tls_serialize_detached()?)?;
        let said = their_group.create_message(&theirs.provider, &theirs.signer, b"alone")?;
        check(take(our_group, &said.tls_serialize_detached()?).is_err(), "who was removed reads")
    } else {
        let index = their_group.own_leaf_index().u32();
        let commit = our_group.commit_builder().remove_member(index)?.build()?.commit_message.to_bytes()?;
        our_group.apply_pending_commit()?;
        theirs.hear(their_group, &commit)?;
        check(!their_group.is_active(), "who was removed is still there")
    }
}

fn it_invites_us(number: u16) -> Result {
    let theirs = Theirs::new(number)?;
    let ours = ours(Provider::new(Preset::All).for_openmls(), number)?;
    let package =
        ours.generate_key_package_message(Default::default(), Default::default(), None)?.to_bytes()?;
    let MlsMessageBodyIn::KeyPackage(package) = read(&package)?.extract() else {
        return Err("not a key package".into());
    };
    let package = package.validate(theirs.provider.crypto(), ProtocolVersion::Mls10)?;
    let mut their_group = theirs.create()?;
    let (_, welcome, _) = their_group.add_members(&theirs.provider, &theirs.signer, &[package])?;
    their_group.merge_pending_commit(&theirs.provider)?;
    let welcome = MlsMessage::from_bytes(&welcome.tls_serialize_detached()?)?;
    let (mut our_group, _) = ours.join_group(None, &welcome, None)?;
    life(&theirs, &mut their_group, &mut our_group, true)
}

fn we_invite_it(number: u16) -> Result {
    let theirs = Theirs::new(number)?;
    let ours = ours(Provider::new(Preset::All).for_openmls(), number)?;
    let mut our_group = ours.group_builder()?.build()?;
    let package = MlsMessage::from_bytes(&theirs.key_package()?)?;
    let commit = our_group.commit_builder().add_member(package)?.build()?;
    our_group.apply_pending_commit()?;
    let mut their_group = theirs.join(&commit.welcome_messages[0].to_bytes()?)?;
    life(&theirs, &mut their_group, &mut our_group, false)
}

/// `vectors/mls/passive-client-openmls`: OpenMLS in the place of the client that has nothing but what the file tells.
fn passive_clients() -> Result {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../vectors/mls/passive-client-openmls.json.gz");
    let cases: Vec<Value> = serde_json::from_reader(GzDecoder::new(File::open(file)?))?;
    for case in &cases {
        follow(case).map_err(|error| {
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
            check(follow(&changed).is_err(), &format!("suite {}: {what} was changed", case["cipher_suite"]))?;
        }
    }
    check(cases.len() == 8, "eight suites")
}

fn follow(case: &Value) -> Result {
    let bytes = |value: &Value| -> Result<Vec<u8>> { Ok(hex::decode(value.as_str().ok_or("a text")?)?) };
    let provider = OpenMlsRustCrypto::default();
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

/// That the derivation is looked at: with the labeled one, OpenMLS cannot follow our first path.
fn other_derivation() -> Result {
    let theirs = Theirs::new(0x0051)?;
    let labeled = Provider::new(Preset::All).for_openmls().with_derivation(Derivation::Labeled);
    let ours = ours(labeled, 0x0051)?;
    let mut our_group = ours.group_builder()?.build()?;
    let package = MlsMessage::from_bytes(&theirs.key_package()?)?;
    let commit = our_group.commit_builder().add_member(package)?.build()?;
    our_group.apply_pending_commit()?;
    let mut their_group = theirs.join(&commit.welcome_messages[0].to_bytes()?)?;
    let commit = our_group.commit(Vec::new())?.commit_message.to_bytes()?;
    check(theirs.hear(&mut their_group, &commit).is_err(), "OpenMLS follows a path of another derivation")
}
