//! Signatures that are verified ahead: what is found, what is remembered, and that groups live with it.

use crate::members::{client, deliver, key_package};
use gambeson_mls::mls_rs_core::crypto::{CipherSuiteProvider, CryptoProvider, SignaturePublicKey};
use gambeson_mls::{Error, Preset, Provider, SUITES, Signed, SuiteProvider};
use mls_rs::MlsMessage;
use mls_rs::group::ExportedTree;

const LEAF: &[u8] = b"\x13MLS 1.0 LeafNodeTBS";

fn suite(provider: &Provider, number: u16) -> SuiteProvider {
    provider.cipher_suite_provider(number.into()).unwrap()
}

/// A key, a content that mls-rs could ask about twice, and its signature.
fn signed(of: &SuiteProvider, what: u32) -> (SignaturePublicKey, Vec<u8>, Vec<u8>) {
    let (secret, public) = of.signature_key_generate().unwrap();
    let content = [LEAF, &what.to_be_bytes()].concat();
    let signature = of.sign(&secret, &content).unwrap();
    (public, content, signature)
}

fn item((public, content, signature): &(SignaturePublicKey, Vec<u8>, Vec<u8>)) -> Signed<'_> {
    Signed { public_key: public, content: content.clone(), signature }
}

#[test]
fn good_signatures_are_answered_from_memory_and_wrong_ones_never() {
    for one in SUITES {
        let provider = Provider::new(Preset::All);
        let of = suite(&provider, one.number());
        let many: Vec<_> = (0..3).map(|what| signed(&of, what)).collect();
        let mut items: Vec<_> = many.iter().map(item).collect();
        let mut wrong = many[0].2.clone();
        *wrong.last_mut().unwrap() ^= 1;
        items.push(Signed { signature: &wrong, ..item(&many[0]) });
        items.push(Signed { public_key: &many[1].0, ..item(&many[0]) });
        items.push(Signed { public_key: &many[1].0[1..], ..item(&many[1]) });
        items.push(Signed { content: [LEAF, b"other"].concat(), ..item(&many[0]) });
        assert_eq!(of.verify_ahead(&items), 3, "{one}");
        let counts = provider.verifications();
        assert_eq!((counts.ahead, counts.computed, counts.known, counts.remembered), (7, 0, 0, 3), "{one}");

        for (public, content, signature) in &many {
            of.verify(public, signature, content).unwrap();
        }
        let counts = provider.verifications();
        assert_eq!((counts.computed, counts.known), (0, 3), "{one}: all three are known");
        for item in &items[3..] {
            let key = SignaturePublicKey::new_slice(item.public_key);
            assert!(of.verify(&key, item.signature, &item.content).is_err(), "{one}");
        }
        let counts = provider.verifications();
        assert_eq!((counts.computed, counts.known, counts.remembered), (4, 3, 3), "{one}: none of the wrong");
        assert_eq!(of.verify_ahead(&items[..3]), 3);
        assert_eq!(provider.verifications().ahead, 7, "{one}: what is known is not verified ahead again");
    }
}

#[test]
fn of_several_batches_just_the_good_signatures_are_remembered() {
    let provider = Provider::new(Preset::Classical);
    let of = suite(&provider, 1);
    let mut many: Vec<_> = (0..200).map(|what| signed(&of, what)).collect();
    many.iter_mut().step_by(7).for_each(|(_, _, signature)| signature[9] ^= 1);
    assert_eq!(of.verify_ahead(&many.iter().map(item).collect::<Vec<_>>()), 200 - 29);
    for (at, (public, content, signature)) in many.iter().enumerate() {
        assert_eq!(of.verify(public, signature, content).is_ok(), at % 7 != 0);
    }
    let counts = provider.verifications();
    assert_eq!((counts.ahead, counts.known, counts.computed), (200, 200 - 29, 29));
}

#[test]
fn what_one_algorithm_verified_is_unknown_to_another() {
    let provider = Provider::new(Preset::All);
    let ed25519 = suite(&provider, 1);
    let (public, content, signature) = signed(&ed25519, 1);
    ed25519.verify(&public, &signature, &content).unwrap();
    assert!(suite(&provider, 2).verify(&public, &signature, &content).is_err());
    assert_eq!(provider.verifications().known, 0);
}

#[test]
fn messages_are_not_remembered() {
    let provider = Provider::new(Preset::Default);
    let of = suite(&provider, 0xf00a);
    let (secret, public) = of.signature_key_generate().unwrap();
    for content in [&b"message"[..], b"\x17MLS 1.0 FramedContentTBS..", b""] {
        let signature = of.sign(&secret, content).unwrap();
        let item = Signed { public_key: &public, content: content.to_vec(), signature: &signature };
        assert_eq!(of.verify_ahead(&[item]), 0);
        of.verify(&public, &signature, content).unwrap();
    }
    let counts = provider.verifications();
    assert_eq!((counts.computed, counts.ahead, counts.known, counts.remembered), (3, 0, 0, 0));
}

#[test]
fn no_more_are_remembered_than_the_bound_and_what_is_asked_about_stays() {
    let provider = Provider::new(Preset::Classical).remembering(8);
    let of = suite(&provider, 1);
    let first = signed(&of, 0);
    assert_eq!(of.verify_ahead(&[item(&first)]), 1);
    for what in 1..40 {
        assert_eq!(of.verify_ahead(&[item(&signed(&of, what))]), 1);
        assert!(provider.verifications().remembered <= 8);
        of.verify(&first.0, &first.2, &first.1).unwrap();
    }
    assert_eq!(provider.verifications().computed, 0, "the first was asked about each time");
    assert!(provider.verifications().remembered >= 4);

    let provider = provider.remembering(0);
    of.verify(&first.0, &first.2, &first.1).unwrap();
    assert_eq!(provider.verifications().computed, 1);
    assert_eq!(provider.verifications().remembered, 0);
}

#[test]
fn a_signature_that_failed_may_be_good_later_and_one_that_was_good_stays() {
    let provider = Provider::new(Preset::Default);
    let of = suite(&provider, 0xf00a);
    let (public, content, signature) = signed(&of, 1);
    let mut wrong = signature.clone();
    wrong[0] ^= 1;
    assert_eq!(of.verify(&public, &wrong, &content), Err(Error::Signature));
    of.verify(&public, &signature, &content).unwrap();
    of.verify(&public, &signature, &content).unwrap();
    assert_eq!(of.verify(&public, &wrong, &content), Err(Error::Signature));
    let counts = provider.verifications();
    assert_eq!((counts.computed, counts.known, counts.remembered), (3, 1, 1));
}

/// Joiners, a committer and a receiver with providers of their own: each finds ahead all that mls-rs will ask it.
#[test]
fn in_a_group_every_lasting_signature_is_known_when_mls_rs_asks() {
    for number in [0xf00a, 0xf0a1, 1] {
        let of_suite = SUITES.iter().find(|one| one.number() == number).unwrap().cipher_suite();
        let ours = || Provider::new(Preset::All);
        let (for_alice, for_bob, for_carol, for_dave) = (ours(), ours(), ours(), ours());
        let alice = client(&for_alice, of_suite, "alice");
        let bob = client(&for_bob, of_suite, "bob");
        let (carol, dave) = (client(&for_carol, of_suite, "carol"), client(&for_dave, of_suite, "dave"));

        let packages = [key_package(&bob), key_package(&carol)];
        let bytes: Vec<_> = packages.iter().map(|package| package.to_bytes().unwrap()).collect();
        let checks =
            suite(&for_alice, number).verify_key_packages_ahead(bytes.iter().map(|bytes| &bytes[..]));
        assert_eq!(checks, 4);
        // The same without the header of a message.
        assert_eq!(
            suite(&for_alice, number).verify_key_packages_ahead(bytes.iter().map(|bytes| &bytes[4..])),
            4
        );
        assert_eq!(for_alice.verifications().ahead, 4);
        let mut a = alice.group_builder().unwrap().build().unwrap();
        let group_id = a.group_id().to_vec();
        let before = for_alice.verifications();
        let mut commit = a.commit_builder();
        for package in packages {
            commit = commit.add_member(package).unwrap();
        }
        let commit = commit.build().unwrap();
        a.apply_pending_commit().unwrap();
        let asked = for_alice.verifications();
        assert_eq!(asked.computed, before.computed, "{of_suite:?}: {asked:?}");
        assert!(asked.known >= 4);

        let tree = a.export_tree().to_bytes().unwrap();
        let joined = |client: &mls_rs::Client<_>, provider: &Provider, tree: &[u8], welcome: &MlsMessage| {
            let leaves = suite(provider, number).verify_tree_ahead(tree, &group_id);
            let before = provider.verifications();
            let joined =
                client.join_group(Some(ExportedTree::from_bytes(tree).unwrap()), welcome, None).unwrap().0;
            let asked = provider.verifications();
            // The one signature that no tree shows is that of the GroupInfo.
            assert_eq!(asked.computed - before.computed, 1, "{of_suite:?}: {asked:?}");
            assert!(asked.known >= leaves as u64);
            (joined, leaves)
        };
        let (mut b, leaves) = joined(&bob, &for_bob, &tree, &commit.welcome_messages[0]);
        assert_eq!(leaves, 3);
        let update = b.commit(vec![]).unwrap().commit_message;
        b.apply_pending_commit().unwrap();
        deliver(&update, &mut a);

        // Now a leaf stands there that a commit made, and parents.
        let package = key_package(&dave);
        let commit = a.commit_builder().add_member(package).unwrap().build().unwrap();
        a.apply_pending_commit().unwrap();
        // What a commit in the open carries is found too; the signature of the message itself is asked about once.
        let message = commit.commit_message.to_bytes().unwrap();
        assert_eq!(suite(&for_bob, number).verify_commit_ahead(&message), 2);
        let before = for_bob.verifications();
        deliver(&commit.commit_message, &mut b);
        assert_eq!(for_bob.verifications().computed - before.computed, 1, "{of_suite:?}");
        let tree = a.export_tree().to_bytes().unwrap();
        let elsewhere = suite(&for_dave, number).verify_tree_ahead(&tree, b"another group");
        assert!(elsewhere < 4, "a leaf of a commit is signed for its group");
        let (d, leaves) = joined(&dave, &for_dave, &tree, &commit.welcome_messages[0]);
        assert_eq!(leaves, 4);
        assert!(d.epoch_authenticator().unwrap() == a.epoch_authenticator().unwrap());
    }
}

#[test]
fn what_is_cut_off_or_bent_finds_less_and_breaks_nothing() {
    let provider = Provider::new(Preset::Classical);
    let of = suite(&provider, 1);
    let (alice, bob) = (client(&provider, 1.into(), "alice"), client(&provider, 1.into(), "bob"));
    let package = key_package(&bob);
    let key_package = package.to_bytes().unwrap();
    let mut a = alice.group_builder().unwrap().build().unwrap();
    let commit = a.commit_builder().add_member(package).unwrap().build().unwrap();
    a.apply_pending_commit().unwrap();
    let (tree, commit) = (a.export_tree().to_bytes().unwrap(), commit.commit_message.to_bytes().unwrap());
    let found = |tree: &[u8], key_package: &[u8], commit: &[u8]| {
        [
            of.verify_tree_ahead(tree, a.group_id()),
            of.verify_key_packages_ahead([key_package]),
            of.verify_commit_ahead(commit),
        ]
    };
    assert_eq!(found(&tree, &key_package, &commit), [2, 2, 2]);
    for len in 0..tree.len().max(commit.len()) {
        let cut = |bytes: &[u8]| bytes[..len.min(bytes.len())].to_vec();
        let [leaves, packages, adds] = found(&cut(&tree), &cut(&key_package), &cut(&commit));
        assert!(leaves == 0 || len >= tree.len());
        assert!(packages == 0 || len >= key_package.len());
        assert!(adds <= 2);
    }
    for at in 0..tree.len().max(commit.len()) {
        for bit in [1, 0x80] {
            let bent = |bytes: &[u8]| {
                let mut bytes = bytes.to_vec();
                bytes.get_mut(at).into_iter().for_each(|byte| *byte ^= bit);
                bytes
            };
            let found = found(&bent(&tree), &bent(&key_package), &bent(&commit));
            assert!(found.into_iter().all(|good| good <= 2));
        }
    }
}
