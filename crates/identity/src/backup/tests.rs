#![allow(clippy::unwrap_used)] // A test may fail that way.

use super::*;
use crate::{CardContent, MasterSeed, Retired};

pub(super) const NOW: Timestamp = Timestamp(1_795_330_800);
pub(super) const SUITES: [Suite; 2] = [Suite::Default, Suite::Cnsa2];

pub(super) fn agent(suite: Suite, seed: u8) -> Agent {
    Agent::with_suite(MasterSeed::from_bytes(&[seed; 32]), suite)
}

pub(super) fn cards(agent: &Agent) -> CardLog {
    CardLog::new(agent.first_card(NOW, NOW.after(86_400), &CardContent::default()).unwrap()).unwrap()
}

fn backup(agent: &Agent) -> Backup {
    let mut backup = Backup::new(agent, NOW);
    backup.add_credential("employer.jwt", b"one").unwrap();
    backup.add_credential("A", b"").unwrap();
    backup.add_object(b"memory").unwrap();
    backup.set_state(State::StatusList, b"{}").unwrap();
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
            16 + 1568 + TAG_LEN
        };
        let mut refused = 0;
        for at in (0..16).chain((16..header).step_by(397)).chain(header..file.len()) {
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

/// Seals an archive that no honest agent makes, with its own authentication or without any.
fn opened(archive: &[u8], authentic: bool) -> Result<Backup> {
    let agent = agent(Suite::Default, 1);
    let mut archive = archive.to_vec();
    if authentic {
        archive.extend_from_slice(&agent.backup_mac(&archive));
    }
    Backup::open(&agent, &encrypt(&agent, &archive).unwrap())
}

#[test]
fn an_archive_has_one_form() {
    let agent = agent(Suite::Default, 1);
    let good = backup(&agent).encode().unwrap().to_vec();
    assert!(opened(&good, true).is_ok());

    let mut changed = 0;
    for at in 0..good.len() {
        let mut bad = good.clone();
        bad[at] ^= 1;
        bad.extend_from_slice(&agent.backup_mac(&good));
        assert_eq!(reason(opened(&bad, false)), Reason::CannotOpen, "byte {at}");
        changed += 1;
    }
    assert_eq!(changed, good.len());
    for len in 0..good.len() {
        assert!(opened(&good[..len], true).is_err(), "cut at {len}");
    }
    assert_eq!(reason(opened(b"short", false)), Reason::CannotOpen);

    let stranger = self::agent(Suite::Default, 2);
    let other = Backup { did: stranger.did().clone(), ..backup(&agent) };
    assert_eq!(reason(opened(&other.encode().unwrap(), true)), Reason::BadArchive);
    assert_eq!(reason(opened(&[&good[..], &[0]].concat(), true)), Reason::BadArchive);
}

/// Whoever knows the card can seal to the key that stands in it, and may have stolen a key that was revoked since.
#[test]
fn nobody_makes_an_archive_without_the_seed() {
    for suite in SUITES {
        let mut agent = agent(suite, 1);
        let mut log = cards(&agent);
        let archive = backup(&agent).encode().unwrap().to_vec();
        let stolen = agent.key(Role::Signing).sign(b"gambeson backup v1", &archive).unwrap();
        let until = (NOW, NOW.after(86_400));
        agent
            .rotate(&mut log, &[Role::Signing], Retired::Compromised, until, &CardContent::default())
            .unwrap();
        let stranger = self::agent(suite, 2);
        for proof in [stolen, stranger.backup_mac(&archive), vec![0; mac_len(suite)], Vec::new()] {
            let forged = encrypt(&agent, &[&archive[..], &proof].concat()).unwrap();
            assert_eq!(reason(Backup::open(&agent, &forged)), Reason::CannotOpen);
        }
        let own = encrypt(&agent, &[&archive[..], &agent.backup_mac(&archive)].concat()).unwrap();
        assert_eq!(Backup::open(&agent, &own).unwrap(), backup(&agent));
    }
}

#[test]
fn an_older_backup_than_is_known_is_refused_where_that_is_asked() {
    let mut agent = agent(Suite::Default, 1);
    let mut log = cards(&agent);
    let sealed = |agent: &Agent, log: Option<&CardLog>| {
        let mut backup = backup(agent);
        if let Some(log) = log {
            backup.set_cards(log);
        }
        backup.seal(agent).unwrap()
    };
    let (none, first) = (sealed(&agent, None), sealed(&agent, Some(&log)));
    agent.rotate(&mut log, &[], Retired::Compromised, (NOW, NOW), &CardContent::default()).unwrap();
    let second = sealed(&agent, Some(&log));
    for (file, newest) in [(none, 0), (first, 1), (second, 2)] {
        for version in 0..4 {
            let found = Backup::open_since(&agent, &file, version).map(drop).map_err(|error| error.reason());
            assert_eq!(found, if version <= newest { Ok(()) } else { Err(Reason::StaleCard) });
        }
    }
}

std::thread_local! {
    /// How many keys this thread's attempts to open were made with.
    pub(super) static KEYS_TRIED: core::cell::Cell<usize> = const { core::cell::Cell::new(0) };
}

/// The reason of a refusal, and how many keys it took.
fn work(agent: &Agent, file: &[u8]) -> (Reason, usize) {
    KEYS_TRIED.set(0);
    (reason(Backup::open(agent, file)), KEYS_TRIED.get())
}

/// A header of many stanzas is work for no key, a file of another for each key once, and a changed body for the one whose tag
/// fits.
#[test]
fn hostile_files_cost_no_more_than_one_attempt_a_key() {
    let agent = agent(Suite::Default, 1);
    let key = |index| Identity::from_seed(agent.backup_seed(index).expose()).recipient();
    let mut file = Encryptor::new(&[key(0), key(1)], Vec::new(), Format::Binary).unwrap();
    file.write_all(&backup(&agent).encode().unwrap()).unwrap();
    let file = file.finish().unwrap();
    assert_eq!(work(&agent, &file), (Reason::BadForm, 0));
    let stranger = self::agent(Suite::Default, 2);
    let theirs = backup(&stranger).seal(&stranger).unwrap();
    assert_eq!(work(&agent, &theirs), (Reason::CannotOpen, MAX_CARDS));
    let mut bad = backup(&agent).seal(&agent).unwrap();
    *bad.last_mut().unwrap() ^= 1;
    assert_eq!(work(&agent, &bad), (Reason::CannotOpen, 1));

    // The tag of the empty message is wrong, and the body is never looked at: it is as good or bad as any.
    let agent = self::agent(Suite::Cnsa2, 1);
    let good = backup(&agent).seal(&agent).unwrap();
    for (at, keys) in [(16 + 1568, MAX_CARDS), (good.len() - 1, 1)] {
        let mut bad = good.clone();
        bad[at] ^= 1;
        assert_eq!(work(&agent, &bad), (Reason::CannotOpen, keys));
    }
    assert_eq!(work(&agent, &good[..16 + 1568 + 15]), (Reason::BadForm, 0));
}

/// With a broken generator of the system, which always gives the same, two backups of one agent still have nothing in common
/// that was drawn: the key of the session stands behind each draw.
#[cfg(feature = "test-vectors")]
#[test]
fn the_randomness_of_a_backup_is_hedged() {
    for suite in SUITES {
        let drawn = |session| {
            let mut agent = agent(suite, 1).deterministic();
            agent.begin_session(session);
            let file = backup(&agent).seal(&agent).unwrap();
            match suite {
                // Encapsulation, wrapped key, MAC of the header; then the nonce of the payload.
                Suite::Default => {
                    let lines: Vec<_> = file.splitn(5, |byte| *byte == b'\n').skip(1).collect();
                    lines.into_iter().map(|line| line[..line.len().min(43)].to_vec()).collect::<Vec<_>>()
                }
                Suite::Cnsa2 => vec![file[16..16 + 1568].to_vec(), file[16 + 1568..].to_vec()],
            }
        };
        let (one, other) = (drawn(1), drawn(2));
        assert_eq!(one.len(), if suite == Suite::Default { 4 } else { 2 });
        assert_eq!(one, drawn(1), "the counter takes the place of the system's generator");
        for (one, other) in one.iter().zip(&other) {
            assert_ne!(one, other, "{suite:?}");
        }
    }
}

#[test]
fn entries_that_no_honest_agent_writes_are_refused() {
    let agent = agent(Suite::Default, 1);
    let empty = Backup::new(&agent, NOW).encode().unwrap();
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
    let found =
        archive(&[(4, "ledger", b"l"), (4, "seen", b""), (4, "status-list", &vec![7; MAX_STATE])]).unwrap();
    let len = |state| found.state(state).map(<[u8]>::len);
    assert_eq!(State::ALL.map(len), [Some(1), Some(0), Some(MAX_STATE)]);
    assert_eq!(archive(&[]).unwrap().state(State::Seen), None);
    let long = "a".repeat(129);
    let mut ran = 0;
    for entries in [
        &[(2, "b", &b""[..]), (2, "a", b"")][..],
        &[(2, "a", b""), (2, "a", b"")],
        &[(3, &id, b"object"), (2, "a", b"")],
        &[(0, "a", b"")],
        &[(4, "a", b"")],
        &[(4, "", b"")],
        &[(4, "Ledger", b"")],
        &[(4, "seen", b""), (4, "ledger", b"")],
        &[(4, "seen", b""), (4, "seen", b"")],
        &[(4, "seen", b""), (3, &id, b"object")],
        &[(4, "seen", &vec![0; MAX_STATE + 1])],
        &[(5, "seen", b"")],
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
    assert_eq!(ran, 26);
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
    assert_eq!(reason(backup.set_state(State::Seen, &vec![0; MAX_STATE + 1])), Reason::TooLarge);
    assert!(format!("{backup:?}").starts_with("Backup { did: did:gambeson:"));
}
