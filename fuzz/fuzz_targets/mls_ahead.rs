//! Where the signatures stand that are verified ahead of mls-rs: in trees, key packages and commits, as bytes that nobody sent and as honest
//! ones, changed as the data says, in which no more are good.
#![no_main]

use gambeson_mls::mls_rs_core::crypto::{CipherSuiteProvider, CryptoProvider};
use gambeson_mls::{Preset, Provider, SuiteProvider};
use libfuzzer_sys::fuzz_target;
use mls_rs::client_builder::MlsConfig;
use mls_rs::identity::SigningIdentity;
use mls_rs::identity::basic::{BasicCredential, BasicIdentityProvider};
use mls_rs::mls_rules::{DefaultMlsRules, EncryptionOptions};
use mls_rs::{Client, MlsMessage};
use std::sync::OnceLock;

/// Short signatures: what is read here is the same for all.
const SUITE: u16 = 1;

struct Honest {
    group: Vec<u8>,
    /// A tree, a key package, a commit for all to read.
    bytes: [Vec<u8>; 3],
}

/// None of what one run found stays for the next.
fn suite() -> SuiteProvider {
    Provider::new(Preset::All).cipher_suite_provider(SUITE.into()).expect("a suite of the provider")
}

fn client(name: &str) -> Client<impl MlsConfig + use<>> {
    let provider = Provider::new(Preset::All);
    let suite = provider.cipher_suite_provider(SUITE.into()).expect("a suite of the provider");
    let (secret, public) = suite.signature_key_generate().expect("random bytes");
    let credential = BasicCredential::new(name.as_bytes().to_vec()).into_credential();
    Client::builder()
        .identity_provider(BasicIdentityProvider)
        .crypto_provider(provider)
        .mls_rules(DefaultMlsRules::new().with_encryption_options(EncryptionOptions::default()))
        .signing_identity(SigningIdentity::new(credential, public), secret, SUITE.into())
        .build()
}

fn honest() -> Result<Honest, Box<dyn std::error::Error>> {
    let mut group = client("alice").group_builder()?.build()?;
    let package = |name| -> Result<MlsMessage, Box<dyn std::error::Error>> {
        Ok(client(name).generate_key_package_message(Default::default(), Default::default(), None)?)
    };
    let commit =
        group.commit_builder().add_member(package("bob")?)?.add_member(package("carol")?)?.build()?;
    group.apply_pending_commit()?;
    let tree = group.export_tree().to_bytes()?;
    let bytes = [tree, package("dave")?.to_bytes()?, commit.commit_message.to_bytes()?];
    Ok(Honest { group: group.group_id().to_vec(), bytes })
}

/// How many signatures are good, read as a tree, a key package or a commit.
fn good(which: usize, bytes: &[u8], group: &[u8]) -> usize {
    match which {
        0 => suite().verify_tree_ahead(bytes, group),
        1 => suite().verify_key_packages_ahead([bytes]),
        _ => suite().verify_commit_ahead(bytes),
    }
}

fuzz_target!(|data: &[u8]| {
    static HONEST: OnceLock<Honest> = OnceLock::new();
    let Honest { group, bytes } = HONEST.get_or_init(|| {
        let honest = honest().expect("an honest group");
        let found = [0, 1, 2].map(|which| good(which, &honest.bytes[which], &honest.group));
        assert_eq!(found, [3, 2, 4]);
        honest
    });
    let Some(([which, whole], data)) = data.split_first_chunk() else { return };
    let which = usize::from(*which) % bytes.len();
    if *whole == 0 {
        // There are public keys of Ed25519, of low order, for which anybody finds good signatures: how many are good is not judged.
        good(which, data, group);
        return;
    }
    let mut changed = bytes[which].clone();
    for edit in data.chunks_exact(4) {
        let at = u32::from_be_bytes([0, edit[0], edit[1], edit[2]]) as usize % changed.len();
        changed[at] = edit[3];
    }
    assert!(good(which, &changed, group) <= good(which, &bytes[which], group));
});
