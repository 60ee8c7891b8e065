//! The working group's vectors for suites 1, 2, 3, 5 and 7, where they are found: labels by themselves, then clients of mls-rs that join
//! and follow.

#![allow(clippy::unwrap_used)] // A test may fail that way.

use std::io::Read;

use gambeson_mls::{Preset, Provider};
use mls_rs::crypto::{HpkeCiphertext, HpkePublicKey, HpkeSecretKey, SignaturePublicKey, SignatureSecretKey};
use mls_rs::group::ExportedTree;
use mls_rs::identity::basic::BasicIdentityProvider;
use mls_rs::mls_rs_codec::MlsEncode;
use mls_rs::psk::{ExternalPskId, PreSharedKey};
use mls_rs::storage_provider::KeyPackageData;
use mls_rs::storage_provider::in_memory::{InMemoryKeyPackageStorage, InMemoryPreSharedKeyStorage};
use mls_rs::{CipherSuiteProvider, Client, CryptoProvider, MlsMessage};
use serde_json::Value;

/// Every case of a file whose suite the provider has, with the provider of that suite; how many ran, and how many did not.
fn each(name: &str, work: impl Fn(&gambeson_mls::SuiteProvider, &Value)) -> Option<(usize, usize)> {
    let file = std::fs::read(gambeson_vectors::shared()?.join("mls").join(name)).unwrap();
    let mut text = String::new();
    flate2::read::GzDecoder::new(&file[..]).read_to_string(&mut text).unwrap();
    let cases: Vec<Value> = serde_json::from_str(&text).unwrap();
    let provider = Provider::new(Preset::Classical);
    let mut ran = 0;
    for case in &cases {
        let suite = u16::try_from(case["cipher_suite"].as_u64().unwrap()).unwrap();
        if let Some(suite) = provider.cipher_suite_provider(suite.into()) {
            work(&suite, case);
            ran += 1;
        }
    }
    Some((ran, cases.len() - ran))
}

fn hex(value: &Value) -> Vec<u8> {
    base16ct::lower::decode_vec(value.as_str().unwrap()).unwrap()
}

/// A private key. The file leaves out the zeros before a scalar of P-521, which RFC 9180 (section 7.1.2) counts.
fn padded(suite: &gambeson_mls::SuiteProvider, value: &Value) -> Vec<u8> {
    let len = if suite.suite().number() == 5 { 66 } else { 0 };
    let bytes = hex(value);
    [vec![0; usize::saturating_sub(len, bytes.len())], bytes].concat()
}

/// A vector of RFC 9420, section 2.1.2: its length, then its bytes.
fn vector(bytes: &[u8]) -> Vec<u8> {
    bytes.to_vec().mls_encode_to_vec().unwrap()
}

fn labeled(label: &Value, content: &[u8]) -> Vec<u8> {
    let label = format!("MLS 1.0 {}", label.as_str().unwrap());
    [vector(label.as_bytes()), vector(content)].concat()
}

#[test]
fn hashes_secrets_signatures_and_ciphertexts_with_labels() {
    let ran = each("crypto-basics.json.gz", |suite, case| {
        let v = &case["ref_hash"];
        let label = v["label"].as_str().unwrap();
        let input = [vector(label.as_bytes()), vector(&hex(&v["value"]))].concat();
        assert_eq!(suite.hash(&input).unwrap(), hex(&v["out"]));

        let expand = |v: &Value, context: &[u8], len: usize| {
            let info =
                [&u16::try_from(len).unwrap().to_be_bytes()[..], &labeled(&v["label"], context)].concat();
            suite.kdf_expand(&hex(&v["secret"]), &info, len).unwrap().to_vec()
        };
        let len = |v: &Value| usize::try_from(v["length"].as_u64().unwrap()).unwrap();
        let v = &case["expand_with_label"];
        assert_eq!(expand(v, &hex(&v["context"]), len(v)), hex(&v["out"]));
        let v = &case["derive_secret"];
        assert_eq!(expand(v, b"", suite.kdf_extract_size()), hex(&v["out"]));
        let v = &case["derive_tree_secret"];
        let generation = u32::try_from(v["generation"].as_u64().unwrap()).unwrap().to_be_bytes();
        assert_eq!(expand(v, &generation, len(v)), hex(&v["out"]));

        let v = &case["sign_with_label"];
        let (private, public) =
            (SignatureSecretKey::new(padded(suite, &v["priv"])), SignaturePublicKey::new(hex(&v["pub"])));
        let content = labeled(&v["label"], &hex(&v["content"]));
        assert_eq!(suite.signature_key_derive_public(&private).unwrap(), public);
        suite.verify(&public, &hex(&v["signature"]), &content).unwrap();
        let ours = suite.sign(&private, &content).unwrap();
        suite.verify(&public, &ours, &content).unwrap();
        assert!(suite.verify(&public, &ours, &content[1..]).is_err());

        let v = &case["encrypt_with_label"];
        let info = labeled(&v["label"], &hex(&v["context"]));
        let (private, public): (HpkeSecretKey, HpkePublicKey) =
            (padded(suite, &v["priv"]).into(), hex(&v["pub"]).into());
        let sealed = HpkeCiphertext { kem_output: hex(&v["kem_output"]), ciphertext: hex(&v["ciphertext"]) };
        let opened = suite.hpke_open(&sealed, &private, &public, &info, None).unwrap();
        assert_eq!(opened.to_vec(), hex(&v["plaintext"]));
        let sealed = suite.hpke_seal(&public, &info, None, b"ours").unwrap();
        assert_eq!(suite.hpke_open(&sealed, &private, &public, &info, None).unwrap().to_vec(), b"ours");
    });
    assert!(ran.is_none_or(|ran| ran == (5, 2)), "{ran:?}");
}

/// A client that has nothing but its key package joins, and follows every commit.
fn follow(suite: &gambeson_mls::SuiteProvider, case: &Value) {
    let message = hex(&case["key_package"]);
    // Behind the version and the wire format stands the key package.
    let key_package = message[4..].to_vec();
    let reference = [vector(b"MLS 1.0 KeyPackage Reference"), vector(&key_package)].concat();
    let identity =
        MlsMessage::from_bytes(&message).unwrap().into_key_package().unwrap().signing_identity().clone();
    let keys = InMemoryKeyPackageStorage::new();
    keys.insert(
        suite.hash(&reference).unwrap(),
        KeyPackageData::new(
            key_package,
            padded(suite, &case["init_priv"]).into(),
            padded(suite, &case["encryption_priv"]).into(),
            u64::MAX,
        ),
    );
    let mut psks = InMemoryPreSharedKeyStorage::default();
    for psk in case["external_psks"].as_array().unwrap() {
        psks.insert(ExternalPskId::new(hex(&psk["psk_id"])), PreSharedKey::new(hex(&psk["psk"])));
    }
    let client = Client::builder()
        .identity_provider(BasicIdentityProvider)
        .crypto_provider(Provider::new(Preset::Classical))
        .key_package_repo(keys)
        .psk_store(psks)
        .signing_identity(
            identity,
            SignatureSecretKey::new(padded(suite, &case["signature_priv"])),
            suite.cipher_suite(),
        )
        .build();
    let tree = case["ratchet_tree"].as_str().map(|_| hex(&case["ratchet_tree"]));
    let tree = tree.as_deref().map(|tree| ExportedTree::from_bytes(tree).unwrap());
    let welcome = MlsMessage::from_bytes(&hex(&case["welcome"])).unwrap();
    let (mut group, _) = client.join_group(tree, &welcome, None).unwrap();
    assert_eq!(group.epoch_authenticator().unwrap().to_vec(), hex(&case["initial_epoch_authenticator"]));
    for epoch in case["epochs"].as_array().unwrap() {
        let proposals = epoch["proposals"].as_array().unwrap();
        for message in proposals.iter().chain([&epoch["commit"]]) {
            group.process_incoming_message(MlsMessage::from_bytes(&hex(message)).unwrap()).unwrap();
        }
        assert_eq!(group.epoch_authenticator().unwrap().to_vec(), hex(&epoch["epoch_authenticator"]));
    }
}

#[test]
fn passive_clients_join_by_their_welcome() {
    let ran = each("passive-client-welcome.json.gz", follow);
    assert!(ran.is_none_or(|ran| ran == (40, 16)), "{ran:?}");
}

#[test]
fn passive_clients_follow_commits() {
    let ran = each("passive-client-handling-commit.json.gz", follow);
    assert!(ran.is_none_or(|ran| ran == (65, 26)), "{ran:?}");
}
