//! Members of channels: how they come, speak, change things, fall behind, go and are restored.

use std::collections::BTreeMap;

use crate::people::*;
use gambeson_identity::delegation::{Capability, Delegation};
use gambeson_identity::{Agent, CardContent, CardLog, MasterSeed, Retired, Role as Key};
use gambeson_mls::{Preset, Provider, Suite};
use gambeson_slim::{
    Cards, Changes, Error, KeptKeyPackage, Me, Member, PAST_EPOCHS, Processed, RESERVED, ROUTING_LABEL,
    Reason, Role, leaf_keys, welcome_references,
};
use mls_rs::{CipherSuiteProvider, CryptoProvider};
use std::sync::Arc;
use zeroize::Zeroizing;

#[test]
fn members_speak_in_every_suite() {
    let (alice, bob) = (Person::new(1), Person::new(2));
    let cards = known(&[&alice, &bob]);
    let mut spoken = 0;
    for suite in Preset::All.suites() {
        let mut members = channel_of(suite, &[&alice, &bob], &cards, |_| {});
        for by in [1, 0] {
            let [a, b] = &mut members[..] else { panic!() };
            assert_eq!(heard(a, b"hello", b), b"hello", "{suite}");
            assert_eq!(heard(b, b"hello you", a), b"hello you", "{suite}");
            commit(&mut members, by, Changes::default());
        }
        spoken += 1;
    }
    assert_eq!((spoken, alice.me.suites().len()), (18, 18));
}

#[test]
fn what_leaf_keys_sign_is_what_their_suites_verify() {
    let provider = Provider::new(Preset::All);
    for seed in [1, 2] {
        let agent = agent(seed);
        let mut signed = 0;
        for suite in Preset::All.suites() {
            let role = match suite.signature_name() {
                "MLDSA44" => Key::GroupMlDsa44,
                "MLDSA65" => Key::GroupMlDsa65,
                "MLDSA87" => Key::GroupMlDsa87,
                "Ed25519" => Key::GroupEd25519,
                "P256" => Key::GroupEcdsaP256,
                "P384" => Key::GroupEcdsaP384,
                "P521" => Key::GroupEcdsaP521,
                "MLDSA65Ed25519" => Key::GroupMlDsa65Ed25519,
                "MLDSA87P384" => Key::GroupMlDsa87EcdsaP384,
                other => panic!("{other}"),
            };
            let suite = provider.cipher_suite_provider(suite.cipher_suite()).unwrap();
            for index in [0, 1, u64::MAX] {
                let public = agent.group_public_key(role, index).unwrap().into();
                let signature = agent.sign_in_group(role, index, b"leaf").unwrap();
                suite.verify(&public, &signature, b"leaf").unwrap();
                assert!(suite.verify(&public, &signature, b"loaf").is_err(), "{role:?}");
                assert!(suite.verify(&public, &signature[1..], b"leaf").is_err(), "{role:?}");
                let other = agent.group_public_key(role, index ^ 2).unwrap().into();
                assert!(suite.verify(&other, &signature, b"leaf").is_err(), "{role:?}");
                signed += 1;
            }
        }
        assert_eq!(signed, 3 * 18);
    }
}

#[test]
fn a_card_with_the_leaf_keys_of_a_preset_has_all_its_suites_and_no_other() {
    for preset in Preset::ALL.iter().copied() {
        let content = CardContent { groups: leaf_keys(preset), ..CardContent::default() };
        let person = Person::with(1, &content, preset);
        let numbers = |suites: &[&Suite]| suites.iter().map(|suite| suite.number()).collect::<Vec<_>>();
        assert_eq!(numbers(person.me.suites()), numbers(&preset.suites()), "{preset}");
        assert_eq!(person.log.newest().content().groups, content.groups, "{preset}");
    }
    assert_eq!(leaf_keys(Preset::Hybrid), [Key::GroupMlDsa65Ed25519, Key::GroupMlDsa87EcdsaP384]);
}

#[test]
fn a_channel_grows_speaks_rotates_and_shrinks() {
    let people: Vec<Person> = (1..=5).map(Person::new).collect();
    let all: Vec<&Person> = people.iter().collect();
    let cards = known(&all);
    let mut members = channel(&all[..3], &cards, |policy| roles(policy, [(all[1], Role::Moderator)]));
    let routing = |member: &Member| member.export(ROUTING_LABEL, &CHANNEL.0, 32).unwrap();
    let first = routing(&members[0]);
    assert_eq!(members[0].export("x", b"", 255 * 48 + 1).unwrap_err().reason(), Some(Reason::Protocol));

    // A moderator adds two and removes one at once; the owner rotates.
    let (packages, kept): (Vec<_>, Vec<_>) =
        all[3..].iter().map(|person| person.me.key_package(suite(), false, NOW).unwrap()).unzip();
    let changes = Changes { add: packages, remove: vec![all[2].did().clone()], ..Changes::default() };
    let (pending, changed) = commit(&mut members, 1, changes);
    assert_eq!((changed.added.len(), &changed.removed[..]), (2, &[all[2].did().clone()][..]));
    assert_eq!((&changed.by, changed.epoch, changed.rejoined), (all[1].did(), 2, false));
    assert!(members[2].is_removed());
    assert_eq!(members[2].seal(b"x", b"").unwrap_err().reason(), Some(Reason::Removed));
    for (person, kept) in all[3..].iter().zip(&kept) {
        let welcome = welcome(&pending, person.did());
        assert_eq!(welcome_references(welcome).unwrap(), [kept.reference().to_vec()]);
        assert!(welcome.len() < 6 * 1024, "{} bytes", welcome.len());
        let tree = pending.tree.as_ref().unwrap();
        members.push(Member::join(&person.me, &cards, kept, welcome, tree, NOW).unwrap());
    }
    let (_, changed) = commit(&mut members, 0, Changes::default());
    assert_eq!((changed.added.len(), changed.removed.len()), (0, 0));
    assert_ne!(*routing(&members[0]), *first);
    assert_eq!(*routing(&members[0]), *routing(&members[4]));

    let listed = members[4].members().unwrap();
    let found: BTreeMap<_, _> = listed.iter().map(|it| (it.did.clone(), (it.role, it.card))).collect();
    assert_eq!(found.len(), 4);
    assert_eq!(found[all[0].did()], (Role::Owner, card_of(all[0])));
    assert_eq!(found[all[1].did()].0, Role::Moderator);
    assert_eq!(found[all[4].did()].0, Role::Member);
    let (early, late) = members.split_at_mut(3);
    assert_eq!(heard(&mut late[1], b"new here", &mut early[0]), b"new here");
}

#[test]
fn who_rotates_has_another_encryption_key_in_the_tree_and_the_same_signature_key() {
    let (alice, bob, carol) = (Person::new(1), Person::new(2), Person::new(3));
    let cards = known(&[&alice, &bob, &carol]);
    let mut members = channel(&[&alice], &cards, |policy| roles(policy, [(&bob, Role::Moderator)]));
    let (package, kept) = bob.me.key_package(suite(), false, NOW).unwrap();
    let (pending, _) = commit(&mut members, 0, Changes { add: vec![package.clone()], ..Changes::default() });
    let tree = pending.tree.as_ref().unwrap();
    members.push(Member::join(&bob.me, &cards, &kept, welcome(&pending, bob.did()), tree, NOW).unwrap());
    // Behind versions and suite stand the init key and the leaf's encryption key, each behind its length of two bytes.
    let (mut rest, mut encryption) = (&package[8..], &[][..]);
    for _ in 0..2 {
        let len = u16::from_be_bytes([rest[0] & 0x3f, rest[1]]);
        (encryption, rest) = rest[2..].split_at(len.into());
    }
    let signature = bob.me.agent().public_key(Key::GroupMlDsa65);
    let stands = |members: &[Member]| {
        let (_, tree) = members[0].checkpoint().unwrap();
        [encryption, &signature].map(|key| tree.windows(key.len()).any(|part| part == key))
    };
    assert_eq!(stands(&members), [true, true]);
    // Who adds needs no path; who rotates too, takes one.
    for update in [false, true] {
        let (package, _) = carol.me.key_package(suite(), false, NOW).unwrap();
        commit(&mut members, 1, Changes { add: vec![package], update, ..Changes::default() });
        assert_eq!(stands(&members), [!update, true]);
        commit(&mut members, 0, Changes { remove: vec![carol.did().clone()], ..Changes::default() });
    }
}

#[test]
fn a_thousand_come_and_go_in_one_commit_and_no_more() {
    let (alice, bob) = (Person::new(1), Person::new(2));
    let cards = known(&[&alice, &bob]);
    let mut members = channel(&[&alice, &bob], &cards, |_| {});
    let content = CardContent { groups: vec![Key::GroupMlDsa65], ..CardContent::default() };
    let mut crowd = Vec::new();
    for number in 0..1000_u16 {
        let mut seed = [3; 32];
        seed[..2].copy_from_slice(&number.to_be_bytes());
        let agent = Agent::from_seed(MasterSeed::from_bytes(&seed));
        let log = CardLog::new(agent.first_card(NOW, NOW.after(DAY), &content).unwrap()).unwrap();
        cards.add(log.clone()).unwrap();
        let me = Me::new(Arc::new(agent), &log, Preset::Default).unwrap();
        let (package, kept) = me.key_package(suite(), false, NOW).unwrap();
        crowd.push((me, package, kept));
    }
    let add = crowd.iter().map(|(_, package, _)| package.clone()).collect();
    let (pending, changed) = commit(&mut members, 0, Changes { add, ..Changes::default() });
    assert_eq!((changed.added.len(), pending.welcomes.len()), (1000, 1000));
    let (me, _, kept) = &crowd[777];
    let (tree, welcome) = (pending.tree.as_ref().unwrap(), welcome(&pending, me.did()));
    assert!(welcome.len() <= 6 * 1024, "{} bytes", welcome.len());
    let joined = Member::join(me, &cards, kept, welcome, tree, NOW).unwrap();
    assert_eq!(*joined.authenticator().unwrap(), *members[1].authenticator().unwrap());
    let remove = crowd.iter().map(|(me, _, _)| me.did().clone()).collect();
    let (_, changed) = commit(&mut members, 0, Changes { remove, ..Changes::default() });
    assert_eq!((changed.removed.len(), members[1].members().unwrap().len()), (1000, 2));

    let a = &mut members[0];
    let changes = Changes { remove: vec![alice.did().clone(); 1001], ..Changes::default() };
    assert_eq!(a.commit(changes, NOW).unwrap_err().reason(), Some(Reason::TooManyChanges));
}

#[test]
fn cards_that_are_not_known_are_asked_for_and_the_same_call_is_then_right() {
    let (alice, bob, carol) = (Person::new(1), Person::new(2), Person::new(3));
    let cards = known(&[&alice, &bob, &carol]);
    let mut members = channel(&[&alice, &bob], &cards, |_| {});
    let bobs = known(&[&alice, &bob]);
    let pieces = members[1].state().unwrap();
    let mut b = restore(&bob, &bobs, pieces);

    let (package, kept) = carol.me.key_package(suite(), false, NOW).unwrap();
    let (pending, _) = commit(&mut members, 0, Changes { add: vec![package.clone()], ..Changes::default() });
    let needs = b.needs(&pending.commit, NOW).unwrap();
    assert_eq!(needs.len(), 1);
    assert_eq!((&needs[0].did, needs[0].card), (carol.did(), Some(card_of(&carol))));
    assert!(matches!(b.process(&pending.commit, NOW), Err(Error::Unresolved(found)) if found == needs));
    assert!(!bobs.meets(&needs[0]));
    bobs.add(carol.log.clone()).unwrap();
    assert!(bobs.meets(&needs[0]) && b.needs(&pending.commit, NOW).unwrap().is_empty());
    b.process(&pending.commit, NOW).unwrap();
    assert_eq!(*b.authenticator().unwrap(), *members[0].authenticator().unwrap());

    // Who joins, and who adds, needs cards too.
    let nobody = Arc::new(Cards::default());
    let tree = pending.tree.as_ref().unwrap();
    let joined = Member::join(&carol.me, &nobody, &kept, welcome(&pending, carol.did()), tree, NOW);
    assert!(
        matches!(joined, Err(Error::Unresolved(needs)) if needs.len() == 4),
        "three cards, one of them for the policy too"
    );
    assert!(Member::join(&carol.me, &cards, &kept, welcome(&pending, carol.did()), tree, NOW).is_ok());
    let alone = known(&[&alice]);
    let mut a = channel(&[&alice], &alone, |_| {}).remove(0);
    let changes = Changes { add: vec![package], ..Changes::default() };
    assert!(matches!(a.commit(changes, NOW), Err(Error::Unresolved(needs)) if needs.len() == 1));
    assert!(!a.is_pending());
}

#[test]
fn of_two_commits_at_once_the_loser_takes_the_winners_and_makes_its_own_again() {
    let (alice, bob) = (Person::new(1), Person::new(2));
    let cards = known(&[&alice, &bob]);
    let mut members = channel(&[&alice, &bob], &cards, |_| {});
    let [a, b] = &mut members[..] else { panic!() };
    let (first, second) =
        (a.commit(Changes::default(), NOW).unwrap(), b.commit(Changes::default(), NOW).unwrap());
    assert_eq!(b.commit(Changes::default(), NOW).unwrap_err().reason(), Some(Reason::Pending));
    // The log took the first: its maker finds it there, and the other drops its own.
    assert!(a.needs(&first.commit, NOW).unwrap().is_empty());
    assert!(matches!(a.process(&first.commit, NOW), Ok(Processed::Commit(_))));
    b.process(&first.commit, NOW).unwrap();
    assert!(!b.is_pending());
    assert_eq!(b.confirm().unwrap_err().reason(), Some(Reason::Pending));
    assert_eq!(refused(a, &second.commit), Reason::OtherEpoch);
    let again = b.commit(Changes::default(), NOW).unwrap();
    b.abandon();
    assert!(!b.is_pending());
    let again_again = b.commit(Changes::default(), NOW).unwrap();
    assert_ne!(again, again_again);
    b.confirm().unwrap();
    a.process(&again_again.commit, NOW).unwrap();
    assert_eq!(*a.authenticator().unwrap(), *b.authenticator().unwrap());
}

fn restore(person: &Person, cards: &Arc<Cards>, pieces: Vec<gambeson_slim::Piece>) -> Member {
    let mut disk = BTreeMap::new();
    write(&mut disk, pieces);
    Member::restore(&person.me, cards, disk).unwrap()
}

type Disk = BTreeMap<String, Zeroizing<Vec<u8>>>;

fn write(disk: &mut Disk, pieces: Vec<gambeson_slim::Piece>) {
    for (name, content) in pieces {
        match content {
            Some(content) => drop(disk.insert(name, content)),
            None => drop(disk.remove(&name)),
        }
    }
}

#[test]
fn a_member_is_restored_after_each_kind_of_change() {
    let (alice, bob, carol) = (Person::new(1), Person::new(2), Person::new(3));
    let cards = known(&[&alice, &bob, &carol]);
    let mut members = channel(&[&alice, &bob], &cards, |_| {});
    let mut disk = Disk::new();
    let again = |member: &mut Member, disk: &mut Disk| {
        write(disk, member.state().unwrap());
        assert!(member.state().unwrap().is_empty(), "nothing changed since");
        let mut restored = Member::restore(&bob.me, &cards, disk.clone()).unwrap();
        assert_eq!(restored.epoch(), member.epoch());
        assert_eq!(*restored.authenticator().unwrap(), *member.authenticator().unwrap());
        assert_eq!(restored.members().unwrap(), member.members().unwrap());
        assert_eq!(restored.policy(), member.policy());
        assert_eq!(restored.is_pending(), member.is_pending());
        assert_eq!(restored.seal(b"x", b"").unwrap_err().reason(), Some(Reason::Unwritten));
        write(disk, restored.state().unwrap());
        restored
    };
    let [a, b] = &mut members[..] else { panic!() };
    *b = again(b, &mut disk); // joined
    assert_eq!(heard(b, b"one", a), b"one");
    *b = again(b, &mut disk); // sent
    assert_eq!(heard(b, b"two", a), b"two");
    let sealed = a.seal(b"three", b"").unwrap();
    b.process(&sealed, NOW).unwrap();
    *b = again(b, &mut disk); // received
    assert_eq!(refused(b, &sealed), Reason::Replayed);

    // What was sent after the state was written reuses no key after a restart.
    let lost = (0..RESERVED).map(|_| b.seal(b"lost", b"").unwrap()).collect::<Vec<_>>();
    assert_eq!(b.seal(b"more", b"").unwrap_err().reason(), Some(Reason::Unwritten));
    for _ in 0..2 {
        *b = Member::restore(&bob.me, &cards, disk.clone()).unwrap();
        assert_eq!(b.seal(b"more", b"").unwrap_err().reason(), Some(Reason::Unwritten));
    }
    write(&mut disk, b.state().unwrap());
    assert_eq!(heard(b, b"after", a), b"after");
    for sealed in lost {
        let Processed::Application(heard) = a.process(&sealed, NOW).unwrap() else { panic!() };
        assert_eq!(&heard.data[..], b"lost");
    }

    // A commit that was made, and that the log took while the member was away.
    let pending = b.commit(Changes::default(), NOW).unwrap();
    *b = again(b, &mut disk);
    a.process(&pending.commit, NOW).unwrap();
    b.process(&pending.commit, NOW).unwrap();
    *b = again(b, &mut disk); // confirmed
    assert_eq!(*a.authenticator().unwrap(), *b.authenticator().unwrap());
    b.commit(Changes::default(), NOW).unwrap();
    write(&mut disk, b.state().unwrap());
    b.abandon();
    *b = again(b, &mut disk); // abandoned

    // A new member, a new policy, a message of the epoch before.
    let late = a.seal(b"late", b"").unwrap();
    let (package, _) = carol.me.key_package(suite(), false, NOW).unwrap();
    let mut policy = a.policy().policy().next(NOW);
    policy.max_message = 3;
    let policy = policy.sign(alice.me.agent()).unwrap();
    let changes = Changes { add: vec![package], policy: Some(policy.clone()), ..Changes::default() };
    let pending = a.commit(changes, NOW).unwrap();
    a.confirm().unwrap();
    b.process(&pending.commit, NOW).unwrap();
    *b = again(b, &mut disk);
    assert_eq!(b.policy(), &policy);
    let Processed::Application(heard) = b.process(&late, NOW).unwrap() else { panic!() };
    assert_eq!((&heard.data[..], heard.epoch + 1), (&b"late"[..], b.epoch()), "by the policy of its epoch");
    *b = again(b, &mut disk);
    assert_eq!(refused(b, &late), Reason::Replayed);
    assert_eq!(a.seal(b"four", b"").unwrap_err().reason(), Some(Reason::TooLong));

    // Removed: nothing to read with is left.
    let changes = Changes { remove: vec![bob.did().clone()], ..Changes::default() };
    let pending = a.commit(changes, NOW).unwrap();
    a.confirm().unwrap();
    let Processed::Commit(changed) = b.process(&pending.commit, NOW).unwrap() else { panic!() };
    assert_eq!(changed.removed, [bob.did().clone()]);
    assert!(b.is_removed());
    write(&mut disk, b.state().unwrap());
    assert!(disk.is_empty(), "{:?}", disk.keys());
    for error in [b.process(&pending.commit, NOW).map(drop), b.confirm().map(drop), b.checkpoint().map(drop)]
    {
        assert_eq!(error.unwrap_err().reason(), Some(Reason::Removed));
    }
}

#[test]
fn state_that_is_not_whole_or_anothers_is_refused() {
    let (alice, bob) = (Person::new(1), Person::new(2));
    let cards = known(&[&alice, &bob]);
    let mut a = channel(&[&alice], &cards, |_| {}).remove(0);
    let mut disk = Disk::new();
    write(&mut disk, a.state().unwrap());
    let reason = |me: &Me, disk: &Disk| Member::restore(me, &cards, disk.clone()).unwrap_err().reason();
    assert_eq!(reason(&bob.me, &disk), Some(Reason::BadState));
    for name in ["member", "group", "tree"] {
        let mut part = disk.clone();
        part.remove(name);
        assert_eq!(reason(&alice.me, &part), Some(Reason::BadState), "without {name}");
        part.insert(name.into(), Zeroizing::new(vec![1, 2, 3]));
        assert_eq!(reason(&alice.me, &part), Some(Reason::BadState), "{name} is none");
    }
    for name in ["pending", "other", "epoch/x"] {
        let mut more = disk.clone();
        more.insert(name.into(), Zeroizing::new(vec![1, 2, 3]));
        assert_eq!(reason(&alice.me, &more), Some(Reason::BadState), "with {name}");
    }
}

#[test]
fn three_epochs_that_are_over_can_be_read_and_no_more() {
    let (alice, bob) = (Person::new(1), Person::new(2));
    let cards = known(&[&alice, &bob]);
    for written_in_between in [false, true] {
        let mut members = channel(&[&alice, &bob], &cards, |_| {});
        let mut disk = Disk::new();
        let mut late = Vec::new();
        for _ in 0..=PAST_EPOCHS {
            late.push([b"early", b"late."].map(|text| members[0].seal(text, b"").unwrap()));
            let [early, _] = late.last().unwrap();
            assert!(matches!(members[1].process(early, NOW), Ok(Processed::Application(_))));
            if written_in_between {
                write(&mut disk, members[1].state().unwrap());
            }
            commit(&mut members, 0, Changes::default());
        }
        let b = &mut members[1];
        assert_eq!(refused(b, &late[0][1]), Reason::OtherEpoch);
        for [early, message] in &late[1..] {
            assert_eq!(refused(b, early), Reason::Replayed);
            assert!(matches!(b.process(message, NOW), Ok(Processed::Application(_))));
            assert_eq!(refused(b, message), Reason::Replayed);
        }
        write(&mut disk, b.state().unwrap());
        assert_eq!(disk.keys().filter(|name| name.starts_with("epoch/")).count(), PAST_EPOCHS as usize);
        // One that was read is over, too.
        commit(&mut members, 0, Changes::default());
        assert_eq!(refused(&mut members[1], &late[1][0]), Reason::OtherEpoch);
    }
}

#[test]
fn a_member_that_fell_behind_comes_back_by_itself_if_the_policy_lets_it() {
    let (alice, bob, carol) = (Person::new(1), Person::new(2), Person::new(3));
    let cards = known(&[&alice, &bob, &carol]);
    for allowed in [true, false] {
        let mut members = channel(&[&alice, &bob], &cards, |policy| policy.rejoin = allowed);
        let stale = members.pop().unwrap();
        commit(&mut members, 0, Changes::default());
        let (info, tree) = members[0].checkpoint().unwrap();
        let back = Member::rejoin(&bob.me, &cards, &info, &tree, NOW);
        if !allowed {
            assert_eq!(back.unwrap_err().reason(), Some(Reason::NoRejoin));
            continue;
        }
        let (mut b, commit) = back.unwrap();
        let Processed::Commit(changed) = members[0].process(&commit, NOW).unwrap() else { panic!() };
        assert_eq!((&changed.by, changed.rejoined), (bob.did(), true));
        assert!(changed.added.is_empty() && changed.removed.is_empty());
        assert_eq!(*b.authenticator().unwrap(), *members[0].authenticator().unwrap());
        assert_eq!(heard(&mut b, b"back", &mut members[0]), b"back");
        assert_eq!(members[0].members().unwrap().len(), 2);
        assert!(stale.epoch() < b.epoch());
        // Who is no member has no place to take.
        let stranger = Member::rejoin(&carol.me, &cards, &info, &tree, NOW).unwrap_err();
        assert_eq!(stranger.reason(), Some(Reason::NotMember));
    }
}

#[test]
fn who_lost_what_it_came_back_with_uses_no_key_twice_and_comes_back_again() {
    let (alice, bob) = (Person::new(1), Person::new(2));
    let cards = known(&[&alice, &bob]);
    let mut members = channel(&[&alice, &bob], &cards, |_| {});
    let [a, b] = &mut members[..] else { panic!() };
    let pieces = b.state().unwrap();
    assert_eq!(heard(b, b"one", a), b"one");
    let rejoin = |a: &Member| {
        let (info, tree) = a.checkpoint().unwrap();
        Member::rejoin(&bob.me, &cards, &info, &tree, NOW).unwrap()
    };
    let (_, commit) = rejoin(a);
    *b = restore(&bob, &cards, pieces);
    for member in [&mut *a, &mut *b] {
        let Processed::Commit(changed) = member.process(&commit, NOW).unwrap() else { panic!() };
        assert_eq!((&changed.by, changed.epoch, changed.rejoined), (bob.did(), 2, true));
    }
    assert_eq!((a.epoch(), b.epoch()), (2, 1));
    assert_eq!(b.seal(b"two", b"").unwrap_err().reason(), Some(Reason::Unwritten));
    b.state().unwrap();
    assert_eq!(heard(b, b"two", a), b"two");

    let commit;
    (*b, commit) = rejoin(a);
    a.process(&commit, NOW).unwrap();
    assert_eq!(*a.authenticator().unwrap(), *b.authenticator().unwrap());
    assert_eq!(heard(b, b"back", a), b"back");
}

#[test]
fn a_new_card_comes_into_the_leaf_with_the_next_commit() {
    let (alice, bob) = (Person::new(1), Person::new(2));
    let cards = known(&[&alice, &bob]);
    for roles in [&[][..], &[Key::GroupMlDsa65]] {
        let mut members = channel(&[&alice, &bob], &cards, |_| {});
        let later = NOW.after(DAY);
        let newer = bob.rotated(roles, Retired::Superseded(DAY), later);
        let cards = known(&[&alice, &bob]);
        cards.add(newer.log.clone()).unwrap();
        let rebuilt = |member: &mut Member, me: &Me| {
            let mut disk = Disk::new();
            write(&mut disk, member.state().unwrap());
            Member::restore(me, &cards, disk).unwrap()
        };
        let mut members: Vec<Member> =
            vec![rebuilt(&mut members[0], &alice.me), rebuilt(&mut members[1], &newer.me)];
        // Until then the leaf speaks with the key that it has.
        members.iter_mut().for_each(|member| drop(member.state().unwrap()));
        let [a, b] = &mut members[..] else { panic!() };
        assert_eq!(heard(b, b"still the old card", a), b"still the old card");
        commit_at(&mut members, 1, Changes::default(), later);
        let listed = members[0].members().unwrap();
        let bobs = listed.iter().find(|listed| listed.did == *bob.did()).unwrap();
        assert_eq!(bobs.card, card_of(&newer));
        let [a, b] = &mut members[..] else { panic!() };
        assert_eq!(heard(b, b"the new card", a), b"the new card");
        assert_eq!(b.renew(&alice.me).unwrap_err().reason(), Some(Reason::OtherIdentity));
        b.renew(&newer.me).unwrap();
        commit_at(&mut members, 1, Changes::default(), later);
    }
}

#[test]
fn a_key_package_of_last_resort_serves_twice_and_its_private_half_is_kept_as_bytes() {
    let (alice, bob, carol) = (Person::new(1), Person::new(2), Person::new(3));
    let cards = known(&[&alice, &bob, &carol]);
    let (package, kept) = carol.me.key_package(suite(), true, NOW).unwrap();
    let bytes = kept.to_bytes().unwrap();
    let kept = KeptKeyPackage::from_bytes(&bytes).unwrap();
    assert!(kept.last_resort() && kept.until() > NOW && kept.suite() == 0xf00a);
    for inviter in [&alice, &bob] {
        let mut channel = channel(&[inviter], &cards, |_| {});
        let changes = Changes { add: vec![package.clone()], ..Changes::default() };
        let (pending, _) = commit(&mut channel, 0, changes);
        let tree = pending.tree.as_ref().unwrap();
        Member::join(&carol.me, &cards, &kept, welcome(&pending, carol.did()), tree, NOW).unwrap();
    }
    for bytes in [&bytes[..4], &bytes[..20], &bytes[..bytes.len() - 1], &[&bytes[..], &[0]].concat()] {
        assert_eq!(KeptKeyPackage::from_bytes(bytes).unwrap_err().reason(), Some(Reason::BadState));
    }
}

#[test]
fn a_key_package_of_another_version_of_mls_adds_nobody() {
    let (alice, bob) = (Person::new(1), Person::new(2));
    let cards = known(&[&alice, &bob]);
    let (package, _) = bob.me.key_package(suite(), false, NOW).unwrap();
    // In front, outside of what is signed.
    let other = [&[0x0a, 1], &package[2..]].concat();
    let changes = Changes { add: vec![other.into()], ..Changes::default() };
    let mut members = channel(&[&alice], &cards, |_| {});
    let refused = members[0].commit(changes, NOW).unwrap_err();
    assert_eq!(refused.reason(), Some(Reason::Malformed));
}

#[test]
fn ownership_is_handed_on_and_falls_to_moderators_and_then_to_members() {
    let people: Vec<Person> = (1..=4).map(Person::new).collect();
    let all: Vec<&Person> = people.iter().collect();
    let cards = known(&all);
    let mut members = channel(&all, &cards, |policy| {
        roles(policy, [(all[1], Role::Moderator)]);
        policy.remove_owner = Role::Moderator;
    });
    // Alice makes Bob owner too, and herself a moderator.
    let mut policy = members[0].policy().policy().next(NOW);
    roles(&mut policy, [(all[0], Role::Moderator), (all[1], Role::Owner)]);
    let signed = policy.sign(all[0].me.agent()).unwrap();
    let changes = Changes { policy: Some(signed), ..Changes::default() };
    let (_, changed) = commit(&mut members, 0, changes);
    assert_eq!(changed.policy.unwrap().policy(), &policy);
    assert_eq!(members[0].role(), Role::Moderator);
    let mut next = policy.next(NOW);
    next.rejoin = false;
    let changes = Changes { policy: Some(next.sign(all[0].me.agent()).unwrap()), ..Changes::default() };
    assert_eq!(members[0].commit(changes, NOW).unwrap_err().reason(), Some(Reason::NotPermitted));
    // The last owner is lost: a moderator removes it, and owns the channel.
    commit(&mut members, 0, Changes { remove: vec![all[1].did().clone()], ..Changes::default() });
    assert_eq!(members[0].acting(all[0].did()).unwrap(), Role::Owner);
    assert_eq!(members[0].acting(all[2].did()).unwrap(), Role::Member);
    roles(&mut next, [(all[0], Role::Owner)]);
    let changes = Changes { policy: Some(next.sign(all[0].me.agent()).unwrap()), ..Changes::default() };
    commit(&mut members, 0, changes);
    // And when nobody is left but members, they do.
    let mut next = members[0].policy().policy().next(NOW);
    roles(&mut next, [(all[2], Role::Moderator)]);
    let changes = Changes { policy: Some(next.sign(all[0].me.agent()).unwrap()), ..Changes::default() };
    commit(&mut members, 0, changes);
    commit(&mut members, 2, Changes { remove: vec![all[0].did().clone()], ..Changes::default() });
    commit(&mut members, 2, Changes { remove: vec![all[3].did().clone()], ..Changes::default() });
    assert_eq!(members[2].members().unwrap().len(), 1);
}

#[test]
fn a_delegation_gives_the_right_to_invite() {
    let people: Vec<Person> = (1..=4).map(Person::new).collect();
    let all: Vec<&Person> = people.iter().collect();
    let cards = known(&all);
    let mut members = channel(&all[..3], &cards, |_| {});
    let capability = |channel: &str| Capability {
        action: "channel/invite".parse().unwrap(),
        resource: channel.parse().unwrap(),
        caveats: Vec::new(),
    };
    let resource = members[0].policy().policy().resource();
    let grant = |to: &Person, channel: &str| Delegation {
        delegate: to.did().clone(),
        from: NOW,
        until: NOW.after(DAY),
        capabilities: vec![capability(channel)],
        max_depth: 1,
        max_calls: None,
        budget: None,
        status: Vec::new(),
    };
    let first = grant(all[1], &resource).sign(all[0].me.agent(), None).unwrap();
    let package = || all[3].me.key_package(suite(), false, NOW).unwrap().0;
    let mut reason = |by: usize, delegation: Vec<String>| {
        let changes = Changes { add: vec![package()], delegation, ..Changes::default() };
        members[by].commit(changes, NOW).unwrap_err().reason()
    };
    assert_eq!(reason(1, Vec::new()), Some(Reason::NotPermitted));
    assert_eq!(reason(2, vec![first.clone()]), Some(Reason::BadDelegation), "it is Bob's");
    let other = grant(all[1], "urn:gambeson:channel:00").sign(all[0].me.agent(), None).unwrap();
    assert_eq!(reason(1, vec![other]), Some(Reason::BadDelegation), "of another channel");
    let own = grant(all[1], &resource).sign(all[2].me.agent(), None).unwrap();
    assert_eq!(reason(1, vec![own]), Some(Reason::NotPermitted), "Carol may not add either");
    let away = grant(all[1], &resource).sign(all[3].me.agent(), None).unwrap();
    assert_eq!(reason(1, vec![away]), Some(Reason::BadDelegation), "Dave is no member");
    let counted = Delegation { max_calls: Some(1), ..grant(all[1], &resource) };
    let counted = counted.sign(all[0].me.agent(), None).unwrap();
    assert_eq!(reason(1, vec![counted]), Some(Reason::BadDelegation), "nobody counts");
    assert_eq!(reason(1, vec!["no delegation".into()]), Some(Reason::BadProposal), "whoever has which cards");
    let over = Delegation { until: NOW, from: NOW, ..grant(all[1], &resource) };
    let over = over.sign(all[0].me.agent(), None).unwrap();
    let changes = Changes { add: vec![package()], delegation: vec![over], ..Changes::default() };
    let late = members[1].commit(changes, NOW.after(3600)).unwrap_err();
    assert_eq!(late.reason(), Some(Reason::BadDelegation), "its time is over");
    let mut strict = channel(&all[..3], &cards, |policy| policy.delegate = false);
    let resource = strict[0].policy().policy().resource();
    let granted = grant(all[1], &resource).sign(all[0].me.agent(), None).unwrap();
    let changes = Changes { add: vec![package()], delegation: vec![granted], ..Changes::default() };
    assert_eq!(strict[1].commit(changes, NOW).unwrap_err().reason(), Some(Reason::NotPermitted));
    let idle = Changes { delegation: vec![first.clone()], ..Changes::default() };
    assert_eq!(members[1].commit(idle, NOW).unwrap_err().reason(), Some(Reason::BadProposal));

    // Bob hands it on to Carol, who invites Dave.
    let second = Delegation { max_depth: 0, ..grant(all[2], &resource) };
    let second = second.sign(all[1].me.agent(), Some(&first)).unwrap();
    let changes = Changes { add: vec![package()], delegation: vec![first, second], ..Changes::default() };
    let (_, changed) = commit(&mut members, 2, changes);
    assert_eq!((&changed.by, &changed.added[..]), (all[2].did(), &[all[3].did().clone()][..]));
}

#[test]
fn presets_refuse_groups_and_key_packages_outside_of_them_and_say_so() {
    let (alice, bob) = (Person::with(1, &content(), Preset::Approved), Person::new(2));
    let cards = known(&[&alice, &bob]);
    let numbers: Vec<u16> = alice.me.suites().iter().map(|suite| suite.number()).collect();
    assert_eq!(numbers, [0xf00a, 0xf00b, 0xf007, 0xf008, 2, 5, 7]);
    let outside = Suite::by_number(0xf001).unwrap();
    let error = alice.me.key_package(outside, false, NOW).unwrap_err();
    assert_eq!(error.reason(), Some(Reason::WrongSuite));
    assert!(error.to_string().contains("is not in preset approved"), "{error}");
    let policy =
        gambeson_slim::Policy::new(CHANNEL, alice.did().clone(), NOW).sign(alice.me.agent()).unwrap();
    let created = Member::create(&alice.me, &cards, policy, outside, NOW).unwrap_err();
    assert_eq!(created.reason(), Some(Reason::WrongSuite));
    // A key package of another suite is not added, a Welcome and a GroupInfo of another suite are not used.
    let mut a = channel(&[&alice], &cards, |_| {}).remove(0);
    let (package, _) = bob.me.key_package(outside, false, NOW).unwrap();
    let error = a.commit(Changes { add: vec![package], ..Changes::default() }, NOW).unwrap_err();
    assert_eq!(error.reason(), Some(Reason::WrongSuite));
    let everything = Person::new(1);
    let (package, kept) = everything.me.key_package(outside, false, NOW).unwrap();
    let mut b = channel_of(outside, &[&bob], &cards, |_| {});
    let (pending, _) = commit(&mut b, 0, Changes { add: vec![package], ..Changes::default() });
    let tree = pending.tree.as_ref().unwrap();
    let joined = Member::join(&alice.me, &cards, &kept, welcome(&pending, alice.did()), tree, NOW);
    assert!(joined.unwrap_err().to_string().contains("is not in preset approved"));
    let (info, tree) = b[0].checkpoint().unwrap();
    let back = Member::rejoin(&alice.me, &cards, &info, &tree, NOW).unwrap_err();
    assert!(back.to_string().contains("is not in preset approved"));
    let lattice = CardContent { groups: leaf_keys(Preset::Default), ..CardContent::default() };
    let no_keys = Person::with(3, &lattice, Preset::All);
    let none = Me::new(Arc::clone(no_keys.me.agent()), &no_keys.log, Preset::Hybrid).unwrap_err();
    assert_eq!(none.reason(), Some(Reason::NoKey));
}
