#![allow(clippy::unwrap_used)] // A test may fail that way.

use super::*;
use crate::{CardContent, MasterSeed, Retired};

const NOW: Timestamp = Timestamp(1_795_330_800);
const SUITES: [Suite; 2] = [Suite::Default, Suite::Cnsa2];

fn agent(suite: Suite, seed: u8) -> Agent {
    Agent::with_suite(MasterSeed::from_bytes(&[seed; 32]), suite)
}

fn cards(agent: &Agent) -> CardLog {
    CardLog::new(agent.first_card(NOW, NOW.after(86_400), &CardContent::default()).unwrap()).unwrap()
}

fn backup(agent: &Agent) -> Backup {
    let mut backup = Backup::new(agent, NOW);
    backup.add_credential("employer.jwt", b"one").unwrap();
    backup.add_credential("A", b"").unwrap();
    backup.add_object(b"memory").unwrap();
    backup
}

fn reason<T>(result: Result<T>) -> Reason {
    result.err().expect("it is refused").reason()
}

#[test]
fn what_is_backed_up_comes_back_on_a_machine_that_has_the_seed_alone() {
    for suite in SUITES {
        let mut old = agent(suite, 1);
        let mut log = cards(&old);
        for _ in 0..3 {
            let roles = [Role::Backup, Role::Signing];
            let until = (NOW, NOW.after(86_400));
            old.rotate(&mut log, &roles, Retired::Compromised, until, &CardContent::default()).unwrap();
        }
        let mut backup = backup(&old);
        backup.set_cards(&log);
        backup.add_object(&vec![7; MAX_OBJECT]).unwrap();
        let file = backup.seal(&old).unwrap();

        let restored = Backup::open(&agent(suite, 1), &file).unwrap();
        assert_eq!(restored, backup);
        let recovered =
            Agent::recover(MasterSeed::from_bytes(&[1; 32]), &restored.cards().unwrap().unwrap()).unwrap();
        assert_eq!((recovered.index(Role::Backup), recovered.index(Role::Signing)), (3, 3));
        assert_eq!(Backup::open(&recovered, &file).unwrap(), backup);
        let names: Vec<_> =
            restored.credentials().map(|(name, bytes)| (name.to_owned(), bytes.len())).collect();
        assert_eq!(names, [("A".to_owned(), 0), ("employer.jwt".to_owned(), 3)]);
        assert_eq!(restored.objects().count(), 2);
        assert_eq!((restored.did(), restored.made()), (old.did(), NOW));
    }
}

#[test]
fn another_agent_opens_nothing() {
    for suite in SUITES {
        let file = backup(&agent(suite, 1)).seal(&agent(suite, 1)).unwrap();
        assert_eq!(reason(Backup::open(&agent(suite, 2), &file)), Reason::CannotOpen);
        assert_eq!(reason(backup(&agent(suite, 1)).seal(&agent(suite, 2))), Reason::WrongSeed);
    }
    let file = backup(&agent(Suite::Default, 1)).seal(&agent(Suite::Default, 1)).unwrap();
    assert_eq!(reason(Backup::open(&agent(Suite::Cnsa2, 1), &file)), Reason::BadForm);
}

#[test]
fn no_changed_byte_goes_unnoticed() {
    for suite in SUITES {
        let agent = agent(suite, 1);
        let file = backup(&agent).seal(&agent).unwrap();
        // A changed encapsulation is tried under every index, which takes long: every byte of the rest, a part of it.
        let header = if suite == Suite::Default {
            file.windows(3).position(|w| w == b"---").unwrap()
        } else {
            16 + 1568
        };
        let mut refused = 0;
        for at in (0..16).chain((16..header).step_by(397)).chain(header..file.len()) {
            let slow = suite == Suite::Cnsa2 && at > header;
            if slow && at % 997 != 0 {
                continue;
            }
            let mut bad = file.clone();
            bad[at] ^= 1;
            let found = reason(Backup::open(&agent, &bad));
            assert!([Reason::BadForm, Reason::CannotOpen].contains(&found), "byte {at}: {found:?}");
            refused += 1;
        }
        assert!(refused > 20, "{refused}");
        assert!(Backup::open(&agent, &file[..file.len() - 1]).is_err());
        assert!(Backup::open(&agent, &[&file[..], &[0]].concat()).is_err());
    }
    assert_eq!(reason(Backup::open(&agent(Suite::Cnsa2, 1), b"")), Reason::BadForm);
    assert_eq!(reason(Backup::open(&agent(Suite::Cnsa2, 1), &[b'g'; 2000])), Reason::BadForm);
    assert_eq!(reason(Backup::open(&agent(Suite::Default, 1), &vec![0; MAX_SEALED + 1])), Reason::TooLarge);
}

/// Seals an archive that no honest agent makes, signed with its key or not.
fn opened(archive: &[u8], signed: bool) -> Result<Backup> {
    let agent = agent(Suite::Default, 1);
    let mut archive = archive.to_vec();
    if signed {
        let signature = agent.key(Role::Signing).sign(CONTEXT, &archive).unwrap();
        put_short(&mut archive, &signature).unwrap();
    }
    Backup::open(&agent, &encrypt(&agent, &archive).unwrap())
}

#[test]
fn an_archive_has_one_form() {
    let agent = agent(Suite::Default, 1);
    let good = backup(&agent).encode(0).unwrap().to_vec();
    assert!(opened(&good, true).is_ok());

    // Whoever knows the card can seal to the key.
    let mut forged = good.clone();
    put_short(&mut forged, &[0; 3309]).unwrap();
    assert_eq!(reason(opened(&forged, false)), Reason::BadSignature);
    let stranger = self::agent(Suite::Default, 2);
    let mut forged = good.clone();
    put_short(&mut forged, &stranger.key(Role::Signing).sign(CONTEXT, &good).unwrap()).unwrap();
    assert_eq!(reason(opened(&forged, false)), Reason::BadSignature);

    let mut changed = 0;
    for at in 0..good.len() {
        let mut bad = good.clone();
        bad[at] ^= 1;
        let signature = agent.key(Role::Signing).sign(CONTEXT, &good).unwrap();
        put_short(&mut bad, &signature).unwrap();
        assert!(opened(&bad, false).is_err(), "byte {at}");
        changed += 1;
    }
    assert_eq!(changed, good.len());
    for len in 0..good.len() {
        assert!(opened(&good[..len], true).is_err(), "cut at {len}");
    }
    assert_eq!(reason(opened(&good, false)), Reason::BadArchive);

    let other = Backup { did: stranger.did().clone(), ..backup(&agent) };
    assert_eq!(reason(opened(&other.encode(0).unwrap(), true)), Reason::BadArchive);
    let index = backup(&agent).encode(MAX_CARDS as u64).unwrap();
    assert_eq!(reason(opened(&index, true)), Reason::BadArchive);
    let mut trailing = good.clone();
    put_short(&mut trailing, &agent.key(Role::Signing).sign(CONTEXT, &good).unwrap()).unwrap();
    trailing.push(0);
    assert_eq!(reason(opened(&trailing, false)), Reason::BadArchive);
}

#[test]
fn entries_that_no_honest_agent_writes_are_refused() {
    let agent = agent(Suite::Default, 1);
    let empty = Backup::new(&agent, NOW).encode(0).unwrap();
    let archive = |entries: &[(u8, &str, &[u8])]| {
        let mut out = empty[..empty.len() - 4].to_vec();
        out.extend_from_slice(&(entries.len() as u32).to_be_bytes());
        for (kind, name, bytes) in entries {
            out.push(*kind);
            put_short(&mut out, name.as_bytes()).unwrap();
            put_long(&mut out, bytes).unwrap();
        }
        opened(&out, true)
    };
    let id = ObjectId::of(b"object").to_string();
    assert!(archive(&[(1, "cards.jsonl", b""), (2, "a", b""), (2, "b", b""), (3, &id, b"object")]).is_ok());
    let long = "a".repeat(129);
    let mut ran = 0;
    for entries in [
        &[(2, "b", &b""[..]), (2, "a", b"")][..],
        &[(2, "a", b""), (2, "a", b"")],
        &[(3, &id, b"object"), (2, "a", b"")],
        &[(0, "a", b"")],
        &[(4, "a", b"")],
        &[(1, "cards", b"")],
        &[(1, "cards.jsonl", b"\xff")],
        &[(2, "", b"")],
        &[(2, ".a", b"")],
        &[(2, "..", b"")],
        &[(2, "a/b", b"")],
        &[(2, "a\\b", b"")],
        &[(2, "a:b", b"")],
        &[(2, "a b", b"")],
        &[(2, "ä", b"")],
        &[(2, &long, b"")],
        &[(2, "a", &vec![0; MAX_CREDENTIAL + 1])],
        &[(3, "a", b"")],
        &[(3, &id.to_uppercase(), b"object")],
    ] {
        assert_eq!(reason(archive(entries)), Reason::BadArchive, "{:?}", entries[0].1);
        ran += 1;
    }
    assert_eq!(ran, 19);
    assert_eq!(reason(archive(&[(3, &id, b"objecu")])), Reason::WrongHash);
    let mut many = empty[..empty.len() - 4].to_vec();
    many.extend_from_slice(&(MAX_ENTRIES as u32 + 1).to_be_bytes());
    assert_eq!(reason(opened(&many, true)), Reason::BadArchive);
}

#[test]
fn what_cannot_be_added_is_an_error() {
    let mut backup = Backup::new(&agent(Suite::Default, 1), NOW);
    for name in ["", ".", "..", "a/b", "a\0", "ü", &"a".repeat(129)] {
        assert_eq!(reason(backup.add_credential(name, b"")), Reason::BadForm, "{name:?}");
    }
    assert_eq!(reason(backup.add_credential("a", &vec![0; MAX_CREDENTIAL + 1])), Reason::TooLarge);
    assert_eq!(reason(backup.add_object(&vec![0; MAX_OBJECT + 1])), Reason::TooLarge);
    assert!(format!("{backup:?}").starts_with("Backup { did: did:gambeson:"));
}
