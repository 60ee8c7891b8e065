//! Groups of mls-rs on every suite: they live through add, update and remove, and stock providers live in them.

use crate::members::{client, deliver, key_package};
use gambeson_mls::{Preset, Provider, SUITES};
use mls_rs::client_builder::MlsConfig;
use mls_rs::group::ReceivedMessage;
use mls_rs::{CipherSuite, CryptoProvider, Group, MlsMessage};

fn heard(message: &MlsMessage, by: &mut Group<impl MlsConfig>) -> Vec<u8> {
    match deliver(message, by) {
        ReceivedMessage::ApplicationMessage(said) => said.data().to_vec(),
        other => panic!("not an application's message: {other:?}"),
    }
}

/// Three members of two providers: one adds two, all speak, each updates, one is removed.
fn life<A: CryptoProvider + Clone, B: CryptoProvider + Clone>(ours: &A, theirs: &B, suite: CipherSuite) {
    let (alice, bob) = (client(ours, suite, "alice"), client(theirs, suite, "bob"));
    let carol = client(ours, suite, "carol");
    let mut a = alice.group_builder().unwrap().build().unwrap();
    let commit = a
        .commit_builder()
        .add_member(key_package(&bob))
        .unwrap()
        .add_member(key_package(&carol))
        .unwrap()
        .build()
        .unwrap();
    a.apply_pending_commit().unwrap();
    let welcome = &commit.welcome_messages[0];
    let (mut b, _) = bob.join_group(None, welcome, None).unwrap();
    let (mut c, _) = carol.join_group(None, welcome, None).unwrap();
    let same = |a: &Group<_>, b: &Group<_>, c: &Group<_>| {
        let first = a.epoch_authenticator().unwrap();
        *first == *b.epoch_authenticator().unwrap() && *first == *c.epoch_authenticator().unwrap()
    };
    assert!(same(&a, &b, &c), "{suite:?}: after the Welcome");

    let said = a.encrypt_application_message(b"from alice", vec![]).unwrap();
    assert_eq!(
        (heard(&said, &mut b), heard(&said, &mut c)),
        (b"from alice".to_vec(), b"from alice".to_vec())
    );
    let said = b.encrypt_application_message(b"from bob", vec![]).unwrap();
    assert_eq!(heard(&said, &mut a), b"from bob");

    // An empty commit has a path: every node above the committer gets a key that the others derive.
    let commit = b.commit(vec![]).unwrap().commit_message;
    b.apply_pending_commit().unwrap();
    deliver(&commit, &mut a);
    deliver(&commit, &mut c);
    assert!(same(&a, &b, &c), "{suite:?}: after an update by the second");
    let commit = a.commit(vec![]).unwrap().commit_message;
    a.apply_pending_commit().unwrap();
    deliver(&commit, &mut b);
    deliver(&commit, &mut c);
    assert!(same(&a, &b, &c), "{suite:?}: after an update by the first");

    let commit = a.commit_builder().remove_member(2).unwrap().build().unwrap().commit_message;
    a.apply_pending_commit().unwrap();
    deliver(&commit, &mut b);
    assert!(matches!(deliver(&commit, &mut c), ReceivedMessage::Commit(_)));
    assert!(a.epoch_authenticator().unwrap() == b.epoch_authenticator().unwrap());
    let said = a.encrypt_application_message(b"without carol", vec![]).unwrap();
    assert_eq!(heard(&said, &mut b), b"without carol");
    assert!(c.process_incoming_message(said).is_err(), "{suite:?}: the removed one reads");
}

#[test]
fn a_group_lives_on_every_suite() {
    let provider = Provider::new(Preset::All);
    for suite in SUITES {
        life(&provider, &provider, suite.cipher_suite());
    }
    assert_eq!(SUITES.len(), 18);
}

#[test]
fn a_group_lives_on_every_suite_as_openmls_has_it() {
    let provider = Provider::openmls();
    let suites = provider.supported_cipher_suites();
    suites.iter().for_each(|suite| life(&provider, &provider, *suite));
    assert_eq!(suites.len(), 5 + 8 + 2);
}

#[test]
fn members_with_a_stock_provider_live_in_our_groups_and_we_in_theirs() {
    let (ours, theirs) =
        (Provider::new(Preset::Classical), mls_rs_crypto_rustcrypto::RustCryptoProvider::new());
    let mut ran = 0;
    for suite in theirs.supported_cipher_suites() {
        life(&ours, &theirs, suite);
        life(&theirs, &ours, suite);
        ran += 1;
    }
    assert_eq!(ran, 4);
}
