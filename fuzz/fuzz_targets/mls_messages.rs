//! Key packages, Welcomes, commits and messages of MLS through our provider, changed as the data says: they are refused, or they are
//! what was sent. And bytes that nobody sent, as they come.
#![no_main]

use gambeson_mls::mls_rs_core::crypto::{CipherSuiteProvider, CryptoProvider};
use gambeson_mls::{Preset, Provider};
use libfuzzer_sys::fuzz_target;
use mls_rs::client_builder::MlsConfig;
use mls_rs::group::ReceivedMessage;
use mls_rs::identity::SigningIdentity;
use mls_rs::identity::basic::{BasicCredential, BasicIdentityProvider};
use mls_rs::{Client, MlsMessage};
use std::sync::OnceLock;

/// A classical suite, a hybrid one, and the default.
const SUITES: [u16; 3] = [1, 0xf001, 0xf00a];

/// What takes a message, and tells whether it was taken.
type Take = Box<dyn Fn(MlsMessage) -> bool + Send + Sync>;

/// What was sent, and who takes it: always from the same state.
struct Sent {
    bytes: Vec<u8>,
    take: Take,
}

fn client(number: u16, name: &str) -> Client<impl MlsConfig + use<>> {
    let provider = Provider::new(Preset::All);
    let suite = provider.cipher_suite_provider(number.into()).expect("a suite of the provider");
    let (secret, public) = suite.signature_key_generate().expect("random bytes");
    let credential = BasicCredential::new(name.as_bytes().to_vec()).into_credential();
    Client::builder()
        .identity_provider(BasicIdentityProvider)
        .crypto_provider(provider)
        .signing_identity(SigningIdentity::new(credential, public), secret, number.into())
        .build()
}

fn life(number: u16) -> Result<Vec<Sent>, Box<dyn std::error::Error>> {
    let (alice, bob) = (client(number, "alice"), client(number, "bob"));
    let mut a = alice.group_builder()?.build()?;
    let package = bob.generate_key_package_message(Default::default(), Default::default(), None)?;
    let before = a.clone();
    let adds = move |package: MlsMessage| {
        let mut group = before.clone();
        let added = group.commit_builder().add_member(package).and_then(|builder| builder.build());
        added.is_ok()
    };
    let commit = a.commit_builder().add_member(package.clone())?.build()?;
    a.apply_pending_commit()?;
    let welcome = commit.welcome_messages[0].clone();
    let (b, _) = bob.join_group(None, &welcome, None)?;
    let joins = move |welcome: MlsMessage| bob.join_group(None, &welcome, None).is_ok();
    let hears = || -> Take {
        let group = b.clone();
        Box::new(move |message| {
            let heard = group.clone().process_incoming_message(message);
            // A Welcome comes back as one, with nothing done.
            heard.is_ok_and(|heard| !matches!(heard, ReceivedMessage::Welcome))
        })
    };
    let said = a.encrypt_application_message(b"message", b"beside it".to_vec())?;
    let commit = a.commit(Vec::new())?.commit_message;
    Ok(vec![
        Sent { bytes: package.to_bytes()?, take: Box::new(adds) },
        Sent { bytes: welcome.to_bytes()?, take: Box::new(joins) },
        Sent { bytes: said.to_bytes()?, take: hears() },
        Sent { bytes: commit.to_bytes()?, take: hears() },
    ])
}

fn sent() -> &'static [Sent] {
    static SENT: OnceLock<Vec<Sent>> = OnceLock::new();
    SENT.get_or_init(|| {
        let sent: Vec<_> = SUITES.iter().flat_map(|number| life(*number).expect("an honest group")).collect();
        for Sent { bytes, take } in &sent {
            assert!(take(MlsMessage::from_bytes(bytes).expect("what was sent")));
        }
        sent
    })
}

fuzz_target!(|data: &[u8]| {
    let Some(([which, whole], data)) = data.split_first_chunk() else { return };
    let Sent { bytes, take } = &sent()[usize::from(*which) % sent().len()];
    if *whole == 0 {
        if let Ok(message) = MlsMessage::from_bytes(data) {
            assert!(!take(message), "nobody sent that");
        }
        return;
    }
    let mut changed = bytes.clone();
    for edit in data.chunks_exact(4) {
        let at = u32::from_be_bytes([0, edit[0], edit[1], edit[2]]) as usize % changed.len();
        changed[at] = edit[3];
    }
    // The version in front and the suite of a Welcome are outside of what is signed and encrypted: mls-rs takes any version of a key package, and a
    // suite that differs in signatures alone. Channels do not (`gambeson_slim`).
    if changed[..6] != bytes[..6] {
        return;
    }
    if let Ok(message) = MlsMessage::from_bytes(&changed) {
        assert!(!take(message) || changed == *bytes, "a changed message was taken");
    }
});
