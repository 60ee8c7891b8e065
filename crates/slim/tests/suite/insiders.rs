//! What members that keep no rules try, and why each honest member refuses it.

use std::sync::Arc;

use crate::people::spoiling::{Armed, Spoiling, What};
use crate::people::*;
use gambeson_identity::{Retired, Role as Key, Timestamp};
use gambeson_slim::{
    CardHash, Changes, Credential, EVIDENCE_PROPOSAL, Member, POLICY_EXTENSION, Policy, Processed, Reason,
    Role, SignedPolicy,
};
use mls_rs::client_builder::MlsConfig;
use mls_rs::extension::built_in::ExternalSendersExt;
use mls_rs::group::proposal::CustomProposal;
use mls_rs::group::{CommitBuilder, Group};
use mls_rs::psk::ExternalPskId;
use mls_rs::time::MlsTime;
use mls_rs::{Client, Extension, ExtensionList, MlsMessage};
use rayon::ThreadPoolBuilder;

/// What an insider commits, as bytes; it drops the commit.
fn commits<C: MlsConfig>(
    group: &mut Group<C>,
    what: impl FnOnce(CommitBuilder<'_, C>) -> CommitBuilder<'_, C>,
) -> Vec<u8> {
    let mut group = group.clone();
    let builder = group.commit_builder().commit_time(MlsTime::from(NOW.0));
    of(&what(builder).build().unwrap().commit_message)
}

fn adding<C: MlsConfig>(group: &mut Group<C>, package: &[u8]) -> Vec<u8> {
    let package = MlsMessage::from_bytes(package).unwrap();
    commits(group, |builder| builder.add_member(package).unwrap())
}

fn with_policy<C: MlsConfig>(group: &Group<C>, bytes: &[u8]) -> ExtensionList {
    let mut extensions = group.context().extensions.clone();
    extensions.set(Extension::new(POLICY_EXTENSION.into(), bytes.to_vec()));
    extensions
}

fn signature(of: &SignedPolicy) -> CustomProposal {
    CustomProposal::new(EVIDENCE_PROPOSAL.into(), [&[1], of.signature().as_bytes()].concat())
}

#[test]
fn a_member_without_the_right_adds_removes_and_rotates_nobody() {
    let people: Vec<Person> = (1..=4).map(Person::new).collect();
    let [alice, bob, mallory, dave] = &people[..] else { panic!() };
    let cards = known(&[alice, bob, mallory, dave]);
    let client = lawless(mallory);
    let (mut members, mut group) = with_insider(&[alice, bob], mallory, &client, &cards, |policy| {
        roles(policy, [(bob, Role::Moderator)]);
        policy.rotate = Role::Moderator;
    });
    let package = dave.me.key_package(suite(), false, NOW).unwrap().0;
    let add = adding(&mut group, &package);
    let remove = commits(&mut group, |builder| builder.remove_member(1).unwrap());
    let remove_owner = commits(&mut group, |builder| builder.remove_member(0).unwrap());
    let rotate = commits(&mut group, |builder| builder);
    for member in &mut members {
        assert_eq!(refused(member, &add), Reason::NotPermitted);
        assert_eq!(refused(member, &remove), Reason::NotPermitted);
        assert_eq!(refused(member, &remove_owner), Reason::NotPermitted);
        assert_eq!(refused(member, &rotate), Reason::NotPermitted);
    }
    // The log's next place goes to somebody else.
    commit(&mut members, 1, Changes { remove: vec![mallory.did().clone()], ..Changes::default() });
}

/// A lawless client whose cryptography is not honest either.
fn spoiler(person: &Person, armed: &Armed) -> Client<impl MlsConfig + use<>> {
    let (agent, credential) = (person.me.agent(), person.me.credential().to_bytes());
    let armed = Arc::clone(armed);
    outlaw_over(agent, Key::GroupMlDsa65, credential, suite(), |honest| Spoiling { honest, armed })
}

fn arm(armed: &Armed, what: What, after: usize) {
    *armed.lock().unwrap() = Some((what, after));
}

#[test]
fn a_key_that_is_none_is_refused_where_it_comes_and_not_by_who_has_to_seal_to_it() {
    let people: Vec<Person> = (1..=5).map(Person::new).collect();
    let [alice, bob, carol, mallory, trudy] = &people[..] else { panic!() };
    let cards = known(&[alice, bob, carol, mallory, trudy]);
    let armed = Armed::default();
    let client = spoiler(mallory, &armed);
    let (mut members, group) = with_insider(&[alice, bob, carol], mallory, &client, &cards, |_| {});
    for what in [None, Some(What::Generated), Some(What::Derived)] {
        *armed.lock().unwrap() = what.map(|what| (what, 0));
        let mut group = group.clone();
        let mut committed = |package: Option<MlsMessage>| {
            let builder = group.commit_builder().commit_time(MlsTime::from(NOW.0));
            let builder = package.into_iter().fold(builder, |builder, one| builder.add_member(one).unwrap());
            let commit = builder.build().unwrap();
            group.apply_pending_commit().unwrap();
            (commit, group.export_tree().into_owned())
        };
        let (path, _) = committed(None);
        assert_eq!(*armed.lock().unwrap(), None, "one was spoilt");
        for honest in members.iter_mut().filter(|_| what.is_some()) {
            assert_eq!(refused(honest, &of(&path.commit_message)), Reason::Forged, "{what:?}");
        }
        // Nor does anybody join over it.
        let joiner = lawless(trudy);
        let (added, tree) = committed(Some(MlsMessage::from_bytes(&package(&joiner)).unwrap()));
        let joined = joiner.join_group(Some(tree), &added.welcome_messages[0], None);
        assert_eq!(joined.is_ok(), what.is_none(), "{what:?}");
    }
    // Of the two keys of a key package the first is for the Welcome, the second the leaf's.
    for (after, reason) in [Reason::Protocol, Reason::Forged].into_iter().enumerate() {
        arm(&armed, What::Generated, after);
        let add = vec![package(&spoiler(trudy, &armed))];
        assert_eq!(*armed.lock().unwrap(), None, "one was spoilt");
        let error = members[0].commit(Changes { add, ..Changes::default() }, NOW).unwrap_err();
        assert_eq!(error.reason(), Some(reason), "{error}");
    }
    commit(&mut members, 0, Changes { remove: vec![mallory.did().clone()], ..Changes::default() });
}

#[test]
fn a_commit_that_one_member_cannot_decrypt_leaves_it_where_it_was_and_it_comes_back_from_outside() {
    let people: Vec<Person> = (1..=4).map(Person::new).collect();
    let [alice, bob, carol, mallory] = &people[..] else { panic!() };
    let cards = known(&[alice, bob, carol, mallory]);
    let armed = Armed::default();
    let client = spoiler(mallory, &armed);
    let (mut members, mut group) = with_insider(&[alice, bob, carol], mallory, &client, &cards, |_| {});
    // The lowest secret of the path goes to the leaf beside the committer's, which is carol's. mls-rs
    // encrypts a path's secrets on all threads of a pool: where there is one, the lowest comes first.
    let one_thread = ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    arm(&armed, What::Ciphertext, 0);
    let spoilt = one_thread.install(|| commits(&mut group, |builder| builder));
    assert_eq!(*armed.lock().unwrap(), None, "one was spoilt");
    assert_eq!(refused(&mut members[2], &spoilt), Reason::Forged);
    for honest in &mut members[..2] {
        assert!(matches!(honest.process(&spoilt, NOW), Ok(Processed::Commit(_))));
    }
    let lost = members[0].seal(b"without carol", b"").unwrap();
    assert_eq!(refused(&mut members[2], &lost), Reason::OtherEpoch);

    let (info, tree) = members[0].checkpoint().unwrap();
    let (back, commit) = Member::rejoin(&carol.me, &cards, &info, &tree, NOW).unwrap();
    members[2] = back;
    for honest in &mut members[..2] {
        let Processed::Commit(changed) = honest.process(&commit, NOW).unwrap() else { panic!() };
        assert_eq!((&changed.by, changed.rejoined), (carol.did(), true));
    }
    for honest in &members {
        assert_eq!(honest.authenticator().unwrap(), members[2].authenticator().unwrap());
    }
    let [alice, _, carol] = &mut members[..] else { panic!() };
    assert_eq!(heard(alice, b"with carol", carol), b"with carol");
}

#[test]
fn a_moderator_removes_neither_owners_nor_other_moderators() {
    let people: Vec<Person> = (1..=4).map(Person::new).collect();
    let [alice, bob, mallory, dave] = &people[..] else { panic!() };
    let cards = known(&[alice, bob, mallory, dave]);
    let client = lawless(mallory);
    let (mut members, mut group) = with_insider(&[alice, bob, dave], mallory, &client, &cards, |policy| {
        roles(policy, [(bob, Role::Moderator), (mallory, Role::Moderator)]);
    });
    let owner = commits(&mut group, |builder| builder.remove_member(0).unwrap());
    let moderator = commits(&mut group, |builder| builder.remove_member(1).unwrap());
    let member = commits(&mut group, |builder| builder.remove_member(2).unwrap());
    for honest in &mut members {
        assert_eq!(refused(honest, &owner), Reason::NotPermitted);
        assert_eq!(refused(honest, &moderator), Reason::NotPermitted);
    }
    for honest in &mut members {
        assert!(matches!(honest.process(&member, NOW), Ok(Processed::Commit(_))));
    }
}

#[test]
fn each_right_begins_at_the_role_that_the_policy_names() {
    let people: Vec<Person> = (1..=5).map(Person::new).collect();
    let [alice, bob, carol, mallory, dave] = &people[..] else { panic!() };
    let cards = known(&[alice, bob, carol, mallory, dave]);
    let client = lawless(mallory);
    let above = [Role::Member, Role::Moderator, Role::Owner];
    for (needed, role) in above.into_iter().flat_map(|needed| above.map(|role| (needed, role))) {
        let (mut members, mut group) =
            with_insider(&[alice, bob, carol], mallory, &client, &cards, |policy| {
                roles(policy, [(carol, Role::Listener), (mallory, role)]);
                (policy.add, policy.remove, policy.rotate) = (needed, needed, needed);
                policy.change = needed.max(Role::Moderator);
            });
        let next = Policy { retention: 60, ..members[0].policy().policy().next(NOW) };
        let next = next.sign(mallory.me.agent()).unwrap();
        let extensions = with_policy(&group, next.bytes());
        let tried = [
            (needed, adding(&mut group, &dave.me.key_package(suite(), false, NOW).unwrap().0)),
            (needed, commits(&mut group, |builder| builder.remove_member(2).unwrap())),
            (
                needed.max(Role::Moderator),
                commits(&mut group, |builder| {
                    builder.set_group_context_ext(extensions).unwrap().custom_proposal(signature(&next))
                }),
            ),
        ];
        // Each of the three members hears another of them.
        for (honest, (needed, commit)) in members.iter_mut().zip(&tried) {
            if role >= *needed {
                assert!(matches!(honest.process(commit, NOW), Ok(Processed::Commit(_))), "{needed} {role}");
            } else {
                assert_eq!(refused(honest, commit), Reason::NotPermitted, "{needed} {role}");
            }
        }
    }
}

#[test]
fn nobody_but_who_may_changes_the_policy_and_only_to_one_that_follows() {
    let people: Vec<Person> = (1..=3).map(Person::new).collect();
    let [alice, bob, mallory] = &people[..] else { panic!() };
    let cards = known(&[alice, bob, mallory]);
    let client = lawless(mallory);
    let as_owner = |policy: &mut Policy| roles(policy, [(mallory, Role::Owner)]);
    for owns in [false, true] {
        let (mut members, mut group) = with_insider(&[alice, bob], mallory, &client, &cards, |policy| {
            if owns {
                as_owner(policy);
            }
        });
        let current = members[0].policy().policy().clone();
        let mut next = current.next(NOW);
        as_owner(&mut next);
        let mine = next.sign(mallory.me.agent()).unwrap();
        let mut brings = |bytes: &[u8], evidence: Option<CustomProposal>| {
            let extensions = with_policy(&group, bytes);
            commits(&mut group, |builder| {
                let builder = builder.set_group_context_ext(extensions).unwrap();
                evidence.into_iter().fold(builder, CommitBuilder::custom_proposal)
            })
        };
        let commit = brings(mine.bytes(), Some(signature(&mine)));
        if !owns {
            let alices = next.sign(alice.me.agent()).unwrap();
            let stolen = brings(alices.bytes(), Some(signature(&alices)));
            for member in &mut members {
                assert_eq!(refused(member, &commit), Reason::NotPermitted);
                assert_eq!(refused(member, &stolen), Reason::NotPermitted, "who commits needs the right too");
            }
            continue;
        }
        let bobs = next.sign(bob.me.agent()).unwrap();
        let by_bob = brings(bobs.bytes(), Some(signature(&bobs)));
        let other = current.next(NOW.after(1)).sign(mallory.me.agent()).unwrap();
        let forged = brings(mine.bytes(), Some(signature(&other)));
        let unsigned = brings(mine.bytes(), None);
        let none = brings(b"{}", Some(signature(&mine)));
        let spaced = brings(&[mine.bytes(), b" "].concat(), Some(signature(&mine)));
        let same = members[0].policy().clone();
        let again = brings(same.bytes(), Some(signature(&same)));
        let mut beyond = next.next(NOW);
        beyond.version += 1;
        let beyond = beyond.sign(mallory.me.agent()).unwrap();
        let skips = brings(beyond.bytes(), Some(signature(&beyond)));
        let elsewhere = Policy { channel: gambeson_slim::ChannelId([8; 32]), ..next.clone() };
        let elsewhere = elsewhere.sign(mallory.me.agent()).unwrap();
        let elsewhere = brings(elsewhere.bytes(), Some(signature(&elsewhere)));
        let future = current.next(NOW.after(3600)).sign(mallory.me.agent()).unwrap();
        let future = brings(future.bytes(), Some(signature(&future)));
        for member in &mut members {
            assert_eq!(refused(member, &by_bob), Reason::NotPermitted, "Bob may sign none");
            assert_eq!(refused(member, &forged), Reason::BadPolicySignature);
            assert_eq!(refused(member, &unsigned), Reason::BadPolicySignature);
            assert_eq!(refused(member, &none), Reason::BadPolicy);
            assert_eq!(refused(member, &spaced), Reason::BadPolicy, "one spelling");
            assert_eq!(refused(member, &again), Reason::OldPolicy);
            assert_eq!(refused(member, &skips), Reason::OldPolicy, "not of the one that holds");
            assert_eq!(refused(member, &elsewhere), Reason::BadPolicy);
            assert_eq!(refused(member, &future), Reason::BadPolicySignature);
            assert!(matches!(member.process(&commit, NOW), Ok(Processed::Commit(_))));
        }
    }
}

#[test]
fn proposals_that_no_commit_may_hold_are_refused_from_owners_too() {
    let people: Vec<Person> = (1..=3).map(Person::new).collect();
    let [alice, bob, mallory] = &people[..] else { panic!() };
    let cards = known(&[alice, bob, mallory]);
    let client = lawless(mallory);
    let (mut members, mut group) = with_insider(&[alice, bob], mallory, &client, &cards, |policy| {
        roles(policy, [(mallory, Role::Owner)]);
    });
    let custom = |of: u16, data: &[u8]| CustomProposal::new(of.into(), data.to_vec());
    let reinit = commits(&mut group, |builder| {
        let (version, other) = (mls_rs::ProtocolVersion::MLS_10, 1.into());
        builder.reinit(None, version, other, ExtensionList::new()).unwrap()
    });
    let psk = commits(&mut group, |builder| builder.add_external_psk(ExternalPskId::new(vec![1])).unwrap());
    let unknown = commits(&mut group, |builder| builder.custom_proposal(custom(EVIDENCE_PROPOSAL, &[9, 9])));
    let empty = commits(&mut group, |builder| builder.custom_proposal(custom(EVIDENCE_PROPOSAL, &[])));
    let twice = commits(&mut group, |builder| {
        let builder = builder.custom_proposal(custom(EVIDENCE_PROPOSAL, &[2, b'a']));
        builder.custom_proposal(custom(EVIDENCE_PROPOSAL, &[2, b'b']))
    });
    let mut senders = group.context().extensions.clone();
    let identity = group.current_member_signing_identity().unwrap().clone();
    senders.set_from(ExternalSendersExt::new(vec![identity])).unwrap();
    let senders = commits(&mut group, |builder| builder.set_group_context_ext(senders).unwrap());
    let bare = commits(&mut group, |builder| builder.set_group_context_ext(ExtensionList::new()).unwrap());
    for member in &mut members {
        for (name, commit) in [
            ("reinit", &reinit),
            ("psk", &psk),
            ("unknown", &unknown),
            ("empty", &empty),
            ("twice", &twice),
            ("senders", &senders),
            ("bare", &bare),
        ] {
            assert_eq!(refused(member, commit), Reason::BadProposal, "{name}");
        }
    }
    // By reference: the proposal itself, and a commit that refers to it.
    let proposal = of(&group.propose_remove(1, Vec::new()).unwrap());
    let refers = commits(&mut group, |builder| builder);
    for member in &mut members {
        assert_eq!(refused(member, &proposal), Reason::BadProposal);
        assert_eq!(refused(member, &refers), Reason::BadProposal);
        assert_eq!(member.seal(b"can still speak", b"").map(drop).map_err(|error| error.reason()), Ok(()));
    }
}

#[test]
fn what_a_listener_says_is_refused_and_what_is_too_long_too() {
    let people: Vec<Person> = (1..=3).map(Person::new).collect();
    let [alice, bob, mallory] = &people[..] else { panic!() };
    let cards = known(&[alice, bob, mallory]);
    let client = lawless(mallory);
    let (mut members, mut group) = with_insider(&[alice, bob], mallory, &client, &cards, |policy| {
        roles(policy, [(mallory, Role::Listener), (bob, Role::Listener)]);
        policy.max_message = 100;
    });
    assert_eq!(members[1].seal(b"x", b"").unwrap_err().reason(), Some(Reason::Listener));
    let said = of(&group.encrypt_application_message(b"a listener", vec![]).unwrap());
    members.iter_mut().for_each(|member| assert_eq!(refused(member, &said), Reason::Listener));
    // Version, kind, when it came, its number, an epoch's authenticator: what a channel says beside its messages.
    let mark = |kind: u8, counter: u64| {
        [&[1, kind][..], &1u64.to_be_bytes(), &counter.to_be_bytes(), &[0; 16]].concat()
    };
    for (kind, counter) in [(1, 1), (2, 1), (5, 0)] {
        let said = of(&group.encrypt_application_message(b"a listener", mark(kind, counter)).unwrap());
        members.iter_mut().for_each(|member| assert_eq!(refused(member, &said), Reason::Listener));
    }
    for kind in [2, 3, 4] {
        let said = of(&group.encrypt_application_message(b"a receipt", mark(kind, 0)).unwrap());
        members.iter_mut().for_each(|member| assert!(member.process(&said, NOW).is_ok()));
    }

    let client = lawless(bob);
    let (mut members, mut group) = with_insider(&[alice, mallory], bob, &client, &cards, |policy| {
        policy.max_message = 100;
    });
    let said = of(&group.encrypt_application_message(&[1; 101], vec![]).unwrap());
    members.iter_mut().for_each(|member| assert_eq!(refused(member, &said), Reason::TooLong));
    let said = of(&group.encrypt_application_message(&[1; 100], vec![]).unwrap());
    members.iter_mut().for_each(|member| assert!(member.process(&said, NOW).is_ok()));
}

/// An owner that keeps no rules, in a channel with Alice and Bob.
fn owner_among(
    people: &[&Person],
    mallory: &Person,
    cards: &Arc<gambeson_slim::Cards>,
) -> (Vec<Member>, Group<impl MlsConfig + use<>>) {
    let client = lawless(mallory);
    with_insider(people, mallory, &client, cards, |policy| roles(policy, [(mallory, Role::Owner)]))
}

#[test]
fn leaves_whose_card_does_not_vouch_for_them_are_added_by_nobody() {
    let people: Vec<Person> = (1..=4).map(Person::new).collect();
    let [alice, bob, mallory, dave] = &people[..] else { panic!() };
    let cards = known(&[alice, bob, mallory, dave]);
    let (mut members, mut group) = owner_among(&[alice, bob], mallory, &cards);
    let (daves, key) = (dave.me.agent(), Key::GroupMlDsa65);
    let credential = dave.me.credential().clone();
    let mut case = |package: &[u8], expected: Reason, what: &str| {
        let commit = adding(&mut group, package);
        members.iter_mut().for_each(|member| assert_eq!(refused(member, &commit), expected, "{what}"));
        let honest =
            members[0].commit(Changes { add: vec![package.to_vec().into()], ..Changes::default() }, NOW);
        assert_eq!(honest.unwrap_err().reason(), Some(expected), "{what}, by somebody honest");
    };
    // Another's key under Dave's credential.
    let eve = agent(5);
    let forged = outlaw(&Arc::new(eve), key, credential.to_bytes(), suite());
    case(&package(&forged), Reason::UnlistedKey, "a forged credential");
    // Dave's DID, Alice's card.
    let mixed = [dave.did().as_str().as_bytes(), &card_of(alice).0].concat();
    let mixed = package(&outlaw(daves, key, mixed, suite()));
    let commit = adding(&mut group, &mixed);
    for member in &mut members {
        let unknown = member.process(&commit, NOW).unwrap_err();
        assert!(
            matches!(unknown, gambeson_slim::Error::Unresolved(needs) if needs.len() == 1),
            "no such card of Dave"
        );
    }
    let mut case = |package: &[u8], expected: Reason, what: &str| {
        let commit = adding(&mut group, package);
        members.iter_mut().for_each(|member| assert_eq!(refused(member, &commit), expected, "{what}"));
    };
    // The key of another algorithm of the same agent.
    let other = outlaw(
        daves,
        Key::GroupMlDsa44,
        credential.to_bytes(),
        gambeson_mls::Suite::by_number(0xf009).unwrap(),
    );
    let other = package(&other);
    let refused_by = members_refuse(alice, &cards, &other);
    assert_eq!(refused_by, Some(Reason::WrongSuite));
    // Bytes that are no credential.
    let short = outlaw(daves, key, vec![0; 31], suite());
    case(&package(&short), Reason::BadCredential, "a short credential");
    let no_did = outlaw(daves, key, [&b"did:web:example.com"[..], &[0; 32]].concat(), suite());
    case(&package(&no_did), Reason::BadCredential, "a DID without cards");
    // A key package whose time is over, or has not come: the insider lies about the time, the log does not.
    let over = Timestamp(NOW.0 - 7200);
    let over = dave.me.key_package_for(suite(), false, over, 3600).unwrap().0;
    let early = dave.me.key_package(suite(), false, NOW.after(120)).unwrap().0;
    for (package, time) in [(over, NOW.0 - 5000), (early, NOW.0 + 100)] {
        let package = MlsMessage::from_bytes(&package).unwrap();
        let commit = commits(&mut group, |builder| {
            builder.commit_time(MlsTime::from(time)).add_member(package).unwrap()
        });
        members.iter_mut().for_each(|it| assert_eq!(refused(it, &commit), Reason::ExpiredKeyPackage));
    }
    let skewed = dave.me.key_package(suite(), false, NOW.after(60)).unwrap().0;
    let commit = adding(&mut group, &skewed);
    members.iter_mut().for_each(|member| assert!(member.process(&commit, NOW).is_ok(), "clocks differ"));
}

fn members_refuse(alice: &Person, cards: &Arc<gambeson_slim::Cards>, package: &[u8]) -> Option<Reason> {
    let mut a = channel(&[alice], cards, |_| {}).remove(0);
    let changes = Changes { add: vec![package.to_vec().into()], ..Changes::default() };
    a.commit(changes, NOW).unwrap_err().reason()
}

#[test]
fn older_and_revoked_cards_and_cards_without_the_key_let_nobody_in() {
    let people: Vec<Person> = (1..=4).map(Person::new).collect();
    let [alice, bob, mallory, dave] = &people[..] else { panic!() };
    let later = NOW.after(DAY);
    for (roles, retired) in
        [(&[][..], Retired::Superseded(DAY)), (&[Key::GroupMlDsa65], Retired::Compromised)]
    {
        let newer = dave.rotated(roles, retired, later);
        let cards = known(&[alice, bob, mallory]);
        cards.add(newer.log.clone()).unwrap();
        let (mut members, mut group) = owner_among(&[alice, bob], mallory, &cards);
        let old = adding(&mut group, &dave.me.key_package(suite(), false, NOW).unwrap().0);
        let new = adding(&mut group, &newer.me.key_package(suite(), false, NOW).unwrap().0);
        for member in &mut members {
            assert_eq!(refused_at(member, &old, later), Reason::StaleCard, "a newer card holds");
            assert_eq!(refused(member, &new), Reason::StaleCard, "it does not hold yet");
            assert_eq!(refused_at(member, &old, NOW.after(31 * DAY)), Reason::StaleCard);
        }
        // When the log took it, the old one held: so who catches up later judges as those who were there.
        members.iter_mut().for_each(|member| assert!(member.process(&old, NOW).is_ok()));
    }
    // A newer card that only says that the key was stolen.
    let mut owner = agent(4);
    let mut log = dave.log.clone();
    let nothing = gambeson_identity::CardContent::default();
    let validity = (later, later.after(DAY));
    owner.rotate(&mut log, &[Key::GroupMlDsa65], Retired::Compromised, validity, &nothing).unwrap();
    let cards = known(&[alice, bob, mallory]);
    let credential = Credential { did: dave.did().clone(), card: CardHash::of(log.newest()) };
    cards.add(log).unwrap();
    let (mut members, mut group) = owner_among(&[alice, bob], mallory, &cards);
    let thief = outlaw(dave.me.agent(), Key::GroupMlDsa65, credential.to_bytes(), suite());
    let commit = adding(&mut group, &package(&thief));
    members.iter_mut().for_each(|it| assert_eq!(refused_at(it, &commit, later), Reason::RevokedKey));
    // A card that lists another algorithm's key alone.
    let few = gambeson_identity::CardContent {
        groups: vec![Key::GroupMlDsa44],
        ..gambeson_identity::CardContent::default()
    };
    let without = Person::with(9, &few, gambeson_mls::Preset::All);
    let cards = known(&[alice, bob, mallory, &without]);
    let (mut members, mut group) = owner_among(&[alice, bob], mallory, &cards);
    let client = outlaw(without.me.agent(), Key::GroupMlDsa65, without.me.credential().to_bytes(), suite());
    let commit = adding(&mut group, &package(&client));
    members.iter_mut().for_each(|member| assert_eq!(refused(member, &commit), Reason::UnlistedKey));
}

#[test]
fn a_leaf_becomes_neither_somebody_else_nor_an_earlier_card() {
    let people: Vec<Person> = (1..=3).map(Person::new).collect();
    let [alice, bob, mallory] = &people[..] else { panic!() };
    let later = NOW.after(DAY);
    let newer = mallory.rotated(&[], Retired::Superseded(DAY), later);
    let cards = known(&[alice, bob]);
    cards.add(newer.log.clone()).unwrap();
    let client = lawless(mallory);
    let (mut members, mut group) = with_insider(&[alice, bob], mallory, &client, &cards, |_| {});
    // With the old card, after the new one holds.
    let stale = commits(&mut group, |builder| builder);
    members.iter_mut().for_each(|member| assert_eq!(refused_at(member, &stale, later), Reason::StaleCard));
    // Under Bob's credential.
    let thief = outlaw(mallory.me.agent(), Key::GroupMlDsa65, bob.me.credential().to_bytes(), suite());
    let (identity, _) = thief.signing_identity().unwrap();
    let identity = identity.clone();
    let mut copy = group.clone();
    let handle = signer_of(mallory);
    let commit = copy.commit_builder().set_new_signing_identity(handle, identity).build();
    // mls-rs makes no such commit: somebody with Bob's DID is there already.
    assert!(commit.is_err());
}

fn signer_of(person: &Person) -> mls_rs_core::crypto::SignatureSecretKey {
    let provider = gambeson_mls::Provider::new(gambeson_mls::Preset::All);
    struct Mute(Vec<u8>);
    impl gambeson_mls::Signer for Mute {
        fn public_key(&self) -> &[u8] {
            &self.0
        }
        fn sign(&self, _: &[u8]) -> gambeson_mls::Result<Vec<u8>> {
            Err(gambeson_mls::Error::Signer)
        }
    }
    let public = person.me.agent().public_key(Key::GroupMlDsa65);
    provider.register_signer(Arc::new(Mute(public)))
}

#[test]
fn from_outside_nobody_comes_back_against_the_policy_nor_takes_anothers_place() {
    let people: Vec<Person> = (1..=3).map(Person::new).collect();
    let [alice, bob, mallory] = &people[..] else { panic!() };
    let cards = known(&[alice, bob, mallory]);
    let client = lawless(mallory);
    for rejoin in [false, true] {
        let (mut members, group) =
            with_insider(&[alice, bob], mallory, &client, &cards, |policy| policy.rejoin = rejoin);
        let info = group.group_info_message_allowing_ext_commit(true).unwrap();
        let outside = |remove: Option<u32>, custom: bool| {
            let mut builder = client.external_commit_builder().unwrap();
            if let Some(leaf) = remove {
                builder = builder.with_removal(leaf);
            }
            if custom {
                let data = CustomProposal::new(EVIDENCE_PROPOSAL.into(), vec![2]);
                builder = builder.with_custom_proposal(data);
            }
            builder.build(info.clone()).map(|(_, commit)| of(&commit))
        };
        let mine = outside(Some(2), false).unwrap();
        let bobs = outside(Some(1), false);
        let more = outside(Some(2), true).unwrap();
        for member in &mut members {
            assert_eq!(refused(member, &more), Reason::BadProposal);
            if rejoin {
                assert!(member.process(&mine, NOW).is_ok());
            } else {
                assert_eq!(refused(member, &mine), Reason::NoRejoin);
            }
        }
        // mls-rs itself lets nobody take another's place, for its DID would be there twice.
        assert!(bobs.is_err());
    }
    // Who was removed has no place to take.
    let (mut members, group) = with_insider(&[alice, bob], mallory, &client, &cards, |_| {});
    commit(&mut members, 0, Changes { remove: vec![mallory.did().clone()], ..Changes::default() });
    let (info, tree) = members[0].checkpoint().unwrap();
    let back = client
        .external_commit_builder()
        .unwrap()
        .with_tree_data(bare(&tree))
        .build(MlsMessage::from_bytes(&info).unwrap())
        .unwrap()
        .1;
    members.iter_mut().for_each(|member| assert_eq!(refused(member, &of(&back)), Reason::BadProposal));
    drop(group);
}

#[test]
fn nobody_comes_back_to_a_policy_that_somebody_without_the_right_made() {
    let people: Vec<Person> = (1..=3).map(Person::new).collect();
    let [alice, bob, mallory] = &people[..] else { panic!() };
    let cards = known(&[alice, bob, mallory]);
    let client = lawless(mallory);
    let (mut members, mut group) = with_insider(&[alice, bob], mallory, &client, &cards, |policy| {
        roles(policy, [(mallory, Role::Listener)]);
    });
    // In a group of her own, which nobody followed, she is the owner.
    let mut policy = members[1].policy().policy().next(NOW);
    roles(&mut policy, [(mallory, Role::Owner)]);
    let signed = policy.sign(mallory.me.agent()).unwrap();
    let extensions = with_policy(&group, signed.bytes());
    let builder = group.commit_builder().commit_time(MlsTime::from(NOW.0));
    builder.set_group_context_ext(extensions).unwrap().custom_proposal(signature(&signed)).build().unwrap();
    group.apply_pending_commit().unwrap();
    let info = of(&group.group_info_message_allowing_ext_commit(false).unwrap());
    let len = u16::try_from(signed.signature().len()).unwrap().to_be_bytes();
    let tree = [&len[..], signed.signature().as_bytes(), &group.export_tree().to_bytes().unwrap()].concat();
    let (back, _) = Member::rejoin(&bob.me, &cards, &info, &tree, NOW).unwrap();
    let refused = members[1].accepts_return(&back, false).unwrap_err();
    assert_eq!(refused.reason(), Some(Reason::BadPolicySignature), "{refused}");

    // To the owner's next policy Bob comes back, and not from it to the first.
    let checkpoint = |member: &Member| {
        let (info, tree) = member.checkpoint().unwrap();
        Member::rejoin(&bob.me, &cards, &info, &tree, NOW).unwrap().0
    };
    let first = checkpoint(&members[0]);
    let next = members[0].policy().policy().next(NOW).sign(alice.me.agent()).unwrap();
    members[0].commit(Changes { policy: Some(next), ..Changes::default() }, NOW).unwrap();
    members[0].confirm().unwrap();
    let next = checkpoint(&members[0]);
    assert!(
        members[1].accepts_return(&first, false).is_ok() && members[1].accepts_return(&next, false).is_ok()
    );
    assert_eq!(next.accepts_return(&first, false).unwrap_err().reason(), Some(Reason::OldPolicy));
    assert!(next.accepts_return(&first, true).is_ok(), "of a log with two heads, the other may be older");
}

#[test]
fn a_forged_or_foreign_message_is_refused() {
    let (alice, bob) = (Person::new(1), Person::new(2));
    let cards = known(&[&alice, &bob]);
    let mut members = channel(&[&alice, &bob], &cards, |_| {});
    let [a, b] = &mut members[..] else { panic!() };
    let sealed = a.seal(b"hello", b"").unwrap();
    assert_eq!(refused(a, &sealed), Reason::Own);
    let mut changed = sealed.to_vec();
    *changed.last_mut().unwrap() ^= 1;
    assert_eq!(refused(b, &changed), Reason::Forged);
    let pending = a.commit(Changes::default(), NOW).unwrap();
    let mut changed = pending.commit.to_vec();
    *changed.last_mut().unwrap() ^= 1;
    assert_eq!(refused(b, &changed), Reason::Forged);
    b.process(&pending.commit, NOW).unwrap();
    assert_eq!(refused(b, b"nothing"), Reason::Malformed);
    assert_eq!(refused(b, &bob.me.key_package(suite(), false, NOW).unwrap().0), Reason::Malformed);
    // A Welcome for nobody: suite 1, no secrets, nothing encrypted. mls-rs finds no fault in it.
    assert_eq!(refused(b, &[0, 1, 0, 3, 0, 1, 0, 0]), Reason::Malformed);

    let policy = Policy::new(gambeson_slim::ChannelId([9; 32]), alice.did().clone(), NOW);
    let policy = policy.sign(alice.me.agent()).unwrap();
    let mut other = Member::create(&alice.me, &cards, policy, suite(), NOW).unwrap();
    let foreign = other.seal(b"hello", b"").unwrap();
    assert_eq!(refused(b, &foreign), Reason::OtherChannel);
}

#[test]
fn a_key_package_is_used_once_and_by_its_owner() {
    let (alice, bob, carol) = (Person::new(1), Person::new(2), Person::new(3));
    let cards = known(&[&alice, &bob, &carol]);
    let mut members = channel(&[&alice], &cards, |_| {});
    let (package, kept) = bob.me.key_package(suite(), false, NOW).unwrap();
    let (_, other) = carol.me.key_package(suite(), false, NOW).unwrap();
    let (second, _) = bob.me.key_package(suite(), false, NOW).unwrap();
    let both = Changes { add: vec![package.clone(), second.clone()], ..Changes::default() };
    assert_eq!(members[0].commit(both, NOW).unwrap_err().reason(), Some(Reason::AlreadyMember));
    let (pending, _) = commit(&mut members, 0, Changes { add: vec![package.clone()], ..Changes::default() });
    let again = Changes { add: vec![second], ..Changes::default() };
    assert_eq!(members[0].commit(again, NOW).unwrap_err().reason(), Some(Reason::AlreadyMember));
    let nobody = Changes { remove: vec![carol.did().clone()], ..Changes::default() };
    assert_eq!(members[0].commit(nobody, NOW).unwrap_err().reason(), Some(Reason::NotMember));

    let (welcome, tree) = (welcome(&pending, bob.did()), pending.tree.as_ref().unwrap());
    let join = |person: &Person, kept, welcome: &[u8], tree: &[u8]| {
        Member::join(&person.me, &cards, kept, welcome, tree, NOW).map(drop).map_err(|error| error.reason())
    };
    assert_eq!(join(&carol, &other, welcome, tree), Err(Some(Reason::UnknownKeyPackage)));
    assert_eq!(join(&bob, &kept, b"no", tree), Err(Some(Reason::Malformed)));
    assert_eq!(join(&bob, &kept, welcome, b"n"), Err(Some(Reason::Malformed)));
    assert_eq!(join(&bob, &kept, &package, tree), Err(Some(Reason::Malformed)));
    let mut torn = tree.to_vec();
    let middle = torn.len() - 2000;
    torn[middle] ^= 1;
    assert!(join(&bob, &kept, welcome, &torn).is_err());
    let mut unsigned = tree.to_vec();
    unsigned[4000] = if unsigned[4000] == b'A' { b'B' } else { b'A' };
    assert_eq!(join(&bob, &kept, welcome, &unsigned), Err(Some(Reason::BadPolicySignature)));
    assert_eq!(join(&bob, &kept, welcome, tree), Ok(()));
}

#[test]
fn who_creates_a_channel_is_its_owner_and_signs_its_first_policy() {
    let (alice, bob) = (Person::new(1), Person::new(2));
    let cards = known(&[&alice, &bob]);
    let policy = Policy::new(CHANNEL, alice.did().clone(), NOW);
    let create = |signed| Member::create(&alice.me, &cards, signed, suite(), NOW).unwrap_err().reason();
    assert_eq!(create(policy.sign(bob.me.agent()).unwrap()), Some(Reason::BadPolicySignature));
    assert_eq!(create(policy.next(NOW).sign(alice.me.agent()).unwrap()), Some(Reason::BadPolicy));
    let bobs = Policy::new(CHANNEL, bob.did().clone(), NOW);
    assert_eq!(create(bobs.sign(alice.me.agent()).unwrap()), Some(Reason::BadPolicySignature));
    // Policies that nobody takes.
    for change in [
        |policy: &mut Policy| policy.version = 0,
        |policy: &mut Policy| policy.version = 2,
        |policy: &mut Policy| policy.former = Some([1; 32]),
        |policy: &mut Policy| policy.others = Role::Moderator,
        |policy: &mut Policy| policy.change = Role::Member,
        |policy: &mut Policy| policy.remove_owner = Role::Listener,
        |policy: &mut Policy| policy.roles.clear(),
        |policy: &mut Policy| policy.retention = 1 << 53,
    ] {
        let mut wrong = policy.clone();
        change(&mut wrong);
        assert_eq!(wrong.sign(alice.me.agent()).unwrap_err().reason(), Reason::BadPolicy);
        assert_eq!(Policy::from_bytes(&wrong.to_bytes()).unwrap_err().reason(), Reason::BadPolicy);
    }
    let signed = policy.sign(alice.me.agent()).unwrap();
    assert_eq!(SignedPolicy::read(signed.bytes(), signed.signature()).unwrap(), signed);
    let text = String::from_utf8(signed.bytes().to_vec()).unwrap();
    for (from, to) in [
        ("\"v\":1", "\"v\":2"),
        ("\"v\":1", "\"v\":1,\"w\":1"),
        ("\"bridge\":false,", ""),
        ("\"others\":\"member\"", "\"others\":\"nobody\""),
        ("\"channel\":\"07", "\"channel\":\"G7"),
        ("\"former\":null", "\"former\":\"07\""),
        ("\"rejoin\":true", "\"rejoin\":1"),
        ("\"maxMessage\":49152", "\"maxMessage\":4294967296"),
        ("{\"add\"", "{ \"add\""),
    ] {
        assert!(text.contains(from), "{from}");
        let changed = text.replacen(from, to, 1);
        let reason = Policy::from_bytes(changed.as_bytes()).unwrap_err().reason();
        assert_eq!(reason, Reason::BadPolicy, "{to}");
    }
    assert_eq!(SignedPolicy::read(signed.bytes(), "a..b").unwrap_err().reason(), Reason::BadPolicySignature);
}
