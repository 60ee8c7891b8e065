//! OpenMLS over its provider of RustCrypto, with its storage in memory, into which it writes at each step.

use gambeson_cli::mls_bench::{CLASSICAL, Contender, Failure, Figure, POST_QUANTUM, Subject, WarmUp, timed};
use openmls::prelude::tls_codec::{Deserialize, Serialize};
use openmls::prelude::{
    BasicCredential, Capabilities, Ciphersuite, CredentialWithKey, KeyPackage, KeyPackageIn,
    LeafNodeParameters, MlsGroup, MlsGroupCreateConfig, MlsGroupJoinConfig, MlsMessageBodyIn, MlsMessageIn,
    PURE_CIPHERTEXT_WIRE_FORMAT_POLICY, ProcessedMessageContent, ProtocolVersion, RatchetTreeIn,
    StagedWelcome,
};
use openmls_basic_credential::SignatureKeyPair;
use openmls_rust_crypto::OpenMlsRustCrypto;
use openmls_traits::OpenMlsProvider;

/// Its groups.
pub fn contenders() -> [Contender; 2] {
    fn of(suite: Ciphersuite, members: usize) -> Result<Box<dyn Subject>, Failure> {
        Ok(Box::new(Groups::new(suite, members)?))
    }
    let by = "OpenMLS";
    [
        // Its number for the same parts.
        Contender {
            by,
            suite: POST_QUANTUM,
            make: |members| of(Ciphersuite::MLS_192_MLKEM768_AES256GCM_SHA384_MLDSA65, members),
        },
        Contender {
            by,
            suite: CLASSICAL,
            make: |members| of(Ciphersuite::MLS_128_DHKEMX25519_AES128GCM_SHA256_Ed25519, members),
        },
    ]
}

/// A client and what it keeps.
struct Client {
    provider: OpenMlsRustCrypto,
    suite: Ciphersuite,
    signer: SignatureKeyPair,
    credential: CredentialWithKey,
}

impl Client {
    fn new(suite: Ciphersuite, name: &str) -> Result<Self, Failure> {
        let signer = SignatureKeyPair::new(suite.signature_algorithm())?;
        let credential = CredentialWithKey {
            credential: BasicCredential::new(name.as_bytes().to_vec()).into(),
            signature_key: signer.to_public_vec().into(),
        };
        Ok(Self { provider: OpenMlsRustCrypto::default(), suite, signer, credential })
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::new(None, Some(&[self.suite]), None, None, None)
    }

    fn group(&self) -> Result<MlsGroup, Failure> {
        let config = MlsGroupCreateConfig::builder()
            .ciphersuite(self.suite)
            .capabilities(self.capabilities())
            .wire_format_policy(PURE_CIPHERTEXT_WIRE_FORMAT_POLICY)
            .use_ratchet_tree_extension(false)
            .build();
        Ok(MlsGroup::new(&self.provider, &self.signer, &config, self.credential.clone())?)
    }

    fn key_package(&self) -> Result<Vec<u8>, Failure> {
        let bundle = KeyPackage::builder().leaf_node_capabilities(self.capabilities()).build(
            self.suite,
            &self.provider,
            &self.signer,
            self.credential.clone(),
        )?;
        Ok(bundle.key_package().tls_serialize_detached()?)
    }

    /// Reads a key package, which verifies it.
    fn read(&self, key_package: &[u8]) -> Result<KeyPackage, Failure> {
        let unverified = KeyPackageIn::tls_deserialize_exact(key_package)?;
        Ok(unverified.validate(self.provider.crypto(), ProtocolVersion::Mls10)?)
    }

    fn join(&self, welcome: &[u8], tree: &[u8]) -> Result<MlsGroup, Failure> {
        let config =
            MlsGroupJoinConfig::builder().wire_format_policy(PURE_CIPHERTEXT_WIRE_FORMAT_POLICY).build();
        let MlsMessageBodyIn::Welcome(welcome) = MlsMessageIn::tls_deserialize_exact(welcome)?.extract()
        else {
            return Err("not a Welcome".into());
        };
        let tree = RatchetTreeIn::tls_deserialize_exact(tree)?;
        Ok(StagedWelcome::new_from_welcome(&self.provider, &config, welcome, Some(tree))?
            .into_group(&self.provider)?)
    }

    fn process(&self, group: &mut MlsGroup, message: &[u8]) -> Result<(), Failure> {
        let message = MlsMessageIn::tls_deserialize_exact(message)?.try_into_protocol_message()?;
        match group.process_message(&self.provider, message)?.into_content() {
            ProcessedMessageContent::ApplicationMessage(_) => Ok(()),
            ProcessedMessageContent::StagedCommitMessage(commit) => {
                Ok(group.merge_staged_commit(&self.provider, *commit)?)
            }
            _ => Err("neither a commit nor a message".into()),
        }
    }
}

struct Groups {
    creator: Client,
    key_packages: Vec<Vec<u8>>,
    joiner: Client,
    /// What the joiner kept before it joined, since joining uses it up.
    kept: std::collections::HashMap<Vec<u8>, Vec<u8>>,
    welcome: Vec<u8>,
    tree: Vec<u8>,
    by: MlsGroup,
    other: MlsGroup,
    added: usize,
}

impl Groups {
    fn new(suite: Ciphersuite, members: usize) -> Result<Self, Failure> {
        let (creator, joiner) = (Client::new(suite, "creator")?, Client::new(suite, "member 1")?);
        let mut key_packages = vec![joiner.key_package()?];
        for member in 2..=members {
            key_packages.push(Client::new(suite, &format!("member {member}"))?.key_package()?);
        }
        let kept = values(&joiner)?;
        let mut by = creator.group()?;
        let read: Vec<KeyPackage> =
            key_packages.iter().map(|bytes| creator.read(bytes)).collect::<Result<_, _>>()?;
        let (_, welcome, _) = by.add_members(&creator.provider, &creator.signer, &read)?;
        by.merge_pending_commit(&creator.provider)?;
        let (welcome, tree) =
            (welcome.tls_serialize_detached()?, by.export_ratchet_tree().tls_serialize_detached()?);
        let other = joiner.join(&welcome, &tree)?;
        if other.epoch_authenticator().as_slice() != by.epoch_authenticator().as_slice() {
            return Err("OpenMLS disagrees with itself".into());
        }
        Ok(Self { creator, key_packages, joiner, kept, welcome, tree, by, other, added: 0 })
    }
}

fn values(client: &Client) -> Result<std::collections::HashMap<Vec<u8>, Vec<u8>>, Failure> {
    Ok(client.provider.storage().values.read().map_err(|_| "a lock")?.clone())
}

impl Subject for Groups {
    fn add_all(&mut self, known: bool) -> Result<Figure, Failure> {
        let creator = Client::new(self.creator.suite, "another creator")?;
        let mut group = creator.group()?;
        let read = |creator: &Client| {
            self.key_packages.iter().map(|bytes| creator.read(bytes)).collect::<Result<Vec<_>, _>>()
        };
        let ahead = if known { Some(read(&creator)?) } else { None };
        let (commit, figure) = timed(|| {
            let all = match ahead {
                Some(all) => all,
                None => read(&creator)?,
            };
            let (commit, _, _) = group.add_members(&creator.provider, &creator.signer, &all)?;
            group.merge_pending_commit(&creator.provider)?;
            Ok(commit)
        })?;
        Ok(Figure { bytes: commit.tls_serialize_detached()?.len(), ..figure })
    }

    fn join(&mut self) -> Result<Figure, Failure> {
        let fresh = Client {
            provider: OpenMlsRustCrypto::default(),
            suite: self.joiner.suite,
            signer: SignatureKeyPair::from_raw(
                self.joiner.suite.signature_algorithm(),
                Vec::new(),
                self.joiner.signer.to_public_vec(),
            ),
            credential: self.joiner.credential.clone(),
        };
        *fresh.provider.storage().values.write().map_err(|_| "a lock")? = self.kept.clone();
        let (_, figure) = timed(|| fresh.join(&self.welcome, &self.tree))?;
        Ok(Figure { bytes: self.tree.len(), ..figure })
    }

    fn welcome(&self) -> usize {
        self.welcome.len()
    }

    fn add_one(&mut self) -> Result<[Figure; 2], Failure> {
        self.added += 1;
        let new = Client::new(self.creator.suite, &format!("one more, {}", self.added))?.key_package()?;
        let (commit, committer) = timed(|| {
            let new = [self.creator.read(&new)?];
            let (commit, _, _) = self.by.add_members(&self.creator.provider, &self.creator.signer, &new)?;
            self.by.merge_pending_commit(&self.creator.provider)?;
            Ok(commit.tls_serialize_detached()?)
        })?;
        let (_, member) = timed(|| self.joiner.process(&mut self.other, &commit))?;
        let bytes = commit.len();
        Ok([Figure { bytes, ..committer }, Figure { bytes, ..member }])
    }

    fn update(&mut self) -> Result<Figure, Failure> {
        let creator = &self.creator;
        let (commit, figure) = timed(|| {
            let made =
                self.by.self_update(&creator.provider, &creator.signer, LeafNodeParameters::default())?;
            Ok(made.into_commit().tls_serialize_detached()?)
        })?;
        self.by.clear_pending_commit(creator.provider.storage())?;
        Ok(Figure { bytes: commit.len(), ..figure })
    }

    fn message(&mut self, len: usize) -> Result<[Figure; 2], Failure> {
        let payload = vec![0x5a; len];
        let creator = &self.creator;
        let (message, sent) = timed(|| {
            let made = self.by.create_message(&creator.provider, &creator.signer, &payload)?;
            Ok(made.tls_serialize_detached()?)
        })?;
        let (_, received) = timed(|| self.joiner.process(&mut self.other, &message))?;
        let bytes = message.len();
        Ok([Figure { bytes, ..sent }, Figure { bytes, ..received }])
    }

    fn warm_up(&mut self, _: usize) -> Result<Option<WarmUp>, Failure> {
        Ok(None)
    }
}
