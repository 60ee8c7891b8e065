//! Clients of mls-rs that have nothing but a key package: they join, follow every commit, and hear what is said.

use mls_rs::group::{ExportedTree, ReceivedMessage};
use mls_rs::identity::basic::BasicIdentityProvider;
use mls_rs::psk::{ExternalPskId, PreSharedKey};
use mls_rs::storage_provider::KeyPackageData;
use mls_rs::storage_provider::in_memory::{InMemoryKeyPackageStorage, InMemoryPreSharedKeyStorage};
use mls_rs::{Client, MlsMessage};
use mls_rs_core::crypto::{CipherSuiteProvider, SignatureSecretKey};
use serde_json::Value;

use super::provider;
use super::tree::Leaf;
use super::wire::{Judged, Reader, belongs, check, hex, list, private, reference, said, same};
use crate::SuiteProvider;

/// `passive-client-welcome` and `passive-client-handling-commit`. Ours have `said` too, in an epoch: `message` and what it says.
pub(super) fn follow(suite: &SuiteProvider, case: &Value) -> Judged {
    let message = hex(&case["key_package"])?;
    // Behind the version and the wire format stands the key package.
    let key_package = message.get(4..).ok_or("a key package")?.to_vec();
    let read = MlsMessage::from_bytes(&message).map_err(said)?;
    let identity = read.into_key_package().ok_or("a key package")?.signing_identity().clone();
    let keys = InMemoryKeyPackageStorage::new();
    let mine = reference(suite, "MLS 1.0 KeyPackage Reference", &key_package)?;
    let (init, encryption) = (private(suite, &case["init_priv"])?, private(suite, &case["encryption_priv"])?);
    let mut reader = Reader(&key_package);
    reader.take(4)?;
    belongs(suite, &init, reader.vector()?)?;
    let leaf = Leaf::read(&mut reader)?;
    belongs(suite, &encryption, &leaf.encryption)?;
    let signing = SignatureSecretKey::new(private(suite, &case["signature_priv"])?);
    let verification = suite.signature_key_derive_public(&signing).map_err(said)?;
    check(verification.as_bytes() == leaf.verification, "the private key that signs")?;
    keys.insert(mine, KeyPackageData::new(key_package, init.into(), encryption.into(), u64::MAX));
    let mut psks = InMemoryPreSharedKeyStorage::default();
    for psk in list(&case["external_psks"])? {
        psks.insert(ExternalPskId::new(hex(&psk["psk_id"])?), PreSharedKey::new(hex(&psk["psk"])?));
    }
    let client = Client::builder()
        .identity_provider(BasicIdentityProvider)
        .crypto_provider(provider(case))
        .key_package_repo(keys)
        .psk_store(psks)
        .signing_identity(identity, signing, suite.cipher_suite())
        .build();
    let tree = match &case["ratchet_tree"] {
        Value::Null => None,
        tree => Some(hex(tree)?),
    };
    let tree = tree.as_deref().map(ExportedTree::from_bytes).transpose().map_err(said)?;
    let welcome = MlsMessage::from_bytes(&hex(&case["welcome"])?).map_err(said)?;
    let (mut group, _) = client.join_group(tree, &welcome, None).map_err(said)?;
    same(case, "initial_epoch_authenticator", &group.epoch_authenticator().map_err(said)?)?;
    let mut take = |message: &Value, epoch: Option<&Value>| -> Result<Option<Vec<u8>>, String> {
        let message = MlsMessage::from_bytes(&hex(message)?).map_err(said)?;
        let heard = group.process_incoming_message(message).map_err(said)?;
        if let Some(epoch) = epoch {
            same(epoch, "epoch_authenticator", &group.epoch_authenticator().map_err(said)?)?;
        }
        Ok(match heard {
            ReceivedMessage::ApplicationMessage(said) => Some(said.data().to_vec()),
            _ => None,
        })
    };
    for epoch in list(&case["epochs"])? {
        for proposal in list(&epoch["proposals"])? {
            take(proposal, None)?;
        }
        take(&epoch["commit"], Some(epoch))?;
        for told in epoch["said"].as_array().into_iter().flatten() {
            let heard = take(&told["message"], None)?;
            check(heard == Some(hex(&told["data"])?), "what was said")?;
        }
    }
    Ok(())
}
