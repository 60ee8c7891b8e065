//! Logs: what they prove, and every way in which files and proofs can be wrong.

use crate::world::{NOW, reason};
use gambeson_identity::tlog::{
    Hash, Log, MAX_ENTRY, MemoryStorage, Proof, SignedCheckpoint, Storage, verifier_key, verify_consistency,
};
use gambeson_identity::{Agent, MasterSeed, Reason, Role, Suite, Timestamp};
use std::cell::{Cell, RefCell};
use std::rc::Rc;

const ORIGIN: &str = "example.com/log";

fn agent() -> Agent {
    Agent::with_suite(MasterSeed::from_bytes(&[7; 32]), Suite::Default).deterministic()
}

fn entry(index: u64) -> Vec<u8> {
    format!("entry {index}").repeat(usize::try_from(index % 5).unwrap()).into_bytes()
}

fn log_of(agent: &Agent, size: u64) -> Log<MemoryStorage> {
    let mut log = Log::create(MemoryStorage::default(), ORIGIN, agent.key(Role::Log), NOW).unwrap();
    if size > 0 {
        let entries: Vec<_> = (0..size).map(entry).collect();
        let entries: Vec<_> = entries.iter().map(Vec::as_slice).collect();
        log.append(&entries, agent.key(Role::Log), NOW).unwrap();
    }
    log
}

/// The hash of a tree from its definition: RFC 6962, §2.1.
fn definition(leaves: &[Vec<u8>]) -> Hash {
    use sha2::{Digest, Sha256};
    match leaves {
        [] => Sha256::digest([]).into(),
        [one] => Sha256::digest([&[0], &one[..]].concat()).into(),
        more => {
            let (left, right) = more.split_at(more.len().next_power_of_two() / 2);
            Sha256::digest([&[1], &definition(left)[..], &definition(right)].concat()).into()
        }
    }
}

#[test]
fn batches_of_any_size_give_the_tree_of_the_definition_and_prove_every_entry() {
    let agent = agent();
    let (key, public) = (agent.key(Role::Log), agent.key(Role::Log).verifying_key());
    let mut log = Log::create(MemoryStorage::default(), ORIGIN, key, NOW).unwrap();
    let (mut all, mut older) = (Vec::new(), vec![log.checkpoint().clone()]);
    for batch in [1, 1, 2, 60, 191, 1, 1, 255, 256, 300, 7] {
        let first = all.len() as u64;
        let new: Vec<_> = (first..first + batch).map(entry).collect();
        let slices: Vec<_> = new.iter().map(Vec::as_slice).collect();
        assert_eq!(log.append(&slices, key, NOW).unwrap(), first);
        all.extend(new);
        assert_eq!(log.checkpoint().root, definition(&all), "{} entries", all.len());
        log.audit().unwrap();
        let last = (log.size(), &log.checkpoint().root);
        for old in &older {
            let path = log.prove_consistency(old.size).unwrap();
            verify_consistency((old.size, &old.root), last, &path).unwrap();
        }
        older.push(log.checkpoint().clone());
    }
    assert_eq!(log.size(), 1075);
    let reopened = Log::open(log.storage().clone(), ORIGIN, &public, NOW).unwrap();
    let mut proven = 0;
    for (index, entry) in (0..).zip(&all) {
        assert_eq!(reopened.entry(index).unwrap(), *entry);
        let text = reopened.prove(index).unwrap().to_string();
        let proof = Proof::parse(text.as_bytes()).unwrap();
        assert_eq!(proof.to_string(), text);
        // Each signature takes its time to verify: a part of the proofs here, the paths of all in the module's own test.
        if index % 37 == 0 {
            let included = proof.verify(entry, ORIGIN, &public, NOW).unwrap();
            assert_eq!((included.index, included.checkpoint.size, included.signed), (index, 1075, NOW));
            assert_eq!(reason(proof.verify(b"another", ORIGIN, &public, NOW)), Reason::NotIncluded);
        }
        proven += 1;
    }
    assert_eq!(proven, 1075);
    assert_eq!(reason(reopened.entry(1075)), Reason::NotInLog);
    assert_eq!(reason(reopened.prove(1075)), Reason::NotInLog);
    assert_eq!(reason(reopened.prove_consistency(1076)), Reason::NotInLog);
}

#[test]
fn the_files_are_those_of_the_specification() {
    let log = log_of(&agent(), 300);
    let names: Vec<_> = log.storage().files().map(|(name, contents)| (name, contents.len())).collect();
    let lengths = |from: u64, to: u64| (from..to).map(|i| 2 + entry(i).len()).sum::<usize>();
    let checkpoint = log.signed_checkpoint().to_string().len();
    assert_eq!(
        names,
        [
            ("checkpoint", checkpoint),
            ("tile/0/000", 8192),
            ("tile/0/001.p/44", 44 * 32),
            ("tile/1/000.p/1", 32),
            ("tile/entries/000", lengths(0, 256)),
            ("tile/entries/001.p/44", lengths(256, 300)),
        ]
    );
    assert!((3300..3500).contains(&checkpoint), "{checkpoint}");
}

#[test]
fn a_checkpoint_is_a_note_with_a_cosignature_of_the_log() {
    let agent = agent();
    let public = agent.key(Role::Log).verifying_key();
    let text = log_of(&agent, 3).signed_checkpoint().to_string();
    let lines: Vec<_> = text.split('\n').collect();
    assert_eq!(lines.len(), 6);
    assert_eq!(&lines[..2], ["example.com/log", "3"]);
    assert_eq!((lines[3], lines[5]), ("", ""));
    assert!(lines[4].starts_with("\u{2014} example.com/log "));
    let vkey = verifier_key(ORIGIN, &public).unwrap();
    let parts: Vec<_> = vkey.splitn(3, '+').collect();
    assert_eq!((parts[0], parts[1].len(), parts[2].len()), (ORIGIN, 8, 1752));

    // Lines of witnesses are passed over, as the specification demands.
    let witnessed = format!("{text}\u{2014} witness.example AAAAAAAA\n");
    SignedCheckpoint::parse(witnessed.as_bytes()).unwrap().verify(ORIGIN, &public, NOW).unwrap();
    let ahead = SignedCheckpoint::parse(text.as_bytes()).unwrap();
    ahead.verify(ORIGIN, &public, Timestamp(NOW.0 - 300)).unwrap();
    assert_eq!(reason(ahead.verify(ORIGIN, &public, Timestamp(NOW.0 - 301))), Reason::NotYetValid);
    assert_eq!(reason(ahead.verify("example.com/other", &public, NOW)), Reason::BadCheckpoint);
    assert_eq!(
        reason(ahead.verify(ORIGIN, &agent.key(Role::Signing).verifying_key(), NOW)),
        Reason::BadAlgorithm
    );
    assert_eq!(
        reason(ahead.verify(ORIGIN, &agent.key(Role::DataIntegrity).verifying_key(), NOW)),
        Reason::BadSignature
    );
}

#[test]
fn no_changed_byte_of_a_proof_goes_unnoticed() {
    let agent = agent();
    let public = agent.key(Role::Log).verifying_key();
    let text = log_of(&agent, 11).prove(4).unwrap().to_string().into_bytes();
    let verify = |text: &[u8]| {
        Proof::parse(text)
            .and_then(|proof| proof.verify(&entry(4), ORIGIN, &public, NOW))
            .map(|included| included.index)
    };
    assert_eq!(verify(&text).unwrap(), 4);
    for at in 0..text.len() {
        for flip in [1, 0x20, 0x80] {
            let mut bad = text.clone();
            bad[at] ^= flip;
            assert!(verify(&bad).is_err(), "byte {at} ^ {flip}");
        }
        assert!(verify(&text[..at]).is_err(), "cut at {at}");
    }
    assert!(verify(&[&text[..], b"\n"].concat()).is_err());
    let huge = [&text[..], &vec![b'a'; 300 << 10]].concat();
    assert_eq!(reason(verify(&huge)), Reason::TooLarge);

    let extra = Proof::parse(&text).unwrap().with_extra(b"out of band").to_string();
    let extra = Proof::parse(extra.as_bytes()).unwrap();
    assert_eq!(extra.extra(), Some(&b"out of band"[..]));
    extra.verify(&entry(4), ORIGIN, &public, NOW).unwrap();
}

#[test]
fn malformed_notes_are_refused() {
    let text = log_of(&agent(), 2).signed_checkpoint().to_string();
    let (head, signature) = text.split_once("\n\n").unwrap();
    let lines: Vec<_> = head.split('\n').collect();
    let with = |origin: &str, size: &str, root: &str| format!("{origin}\n{size}\n{root}\n\n{signature}");
    let mut refused = 0;
    for bad in [
        with("", "2", lines[2]),
        with("a b", "2", lines[2]),
        with("a+b", "2", lines[2]),
        with(&"a".repeat(256), "2", lines[2]),
        with(ORIGIN, "02", lines[2]),
        with(ORIGIN, "+2", lines[2]),
        with(ORIGIN, "-1", lines[2]),
        with(ORIGIN, "", lines[2]),
        with(ORIGIN, "18446744073709551616", lines[2]),
        with(ORIGIN, "2", &lines[2][..43]),
        with(ORIGIN, "2", &format!("{}A", lines[2])),
        with(ORIGIN, "2", &format!("{}\nextension", lines[2])),
        with(ORIGIN, "2", &format!("{}\r", lines[2])),
        with(ORIGIN, "2\n", lines[2]),
        format!("{head}\n{signature}"),
        format!("{head}\n\n"),
        text.trim_end().to_owned(),
        format!("{text}\n"),
        format!("{text}\u{2014} name\n"),
        format!("{text}\u{2014} name AAAA\n"),
        format!("{text}\u{2014} na+me AAAAAAAA\n"),
        format!("{text}\u{2014}  AAAAAAAA\n"),
        format!("{text}- name AAAAAAAA\n"),
        format!("{text}{}", "\u{2014} name AAAAAAAA\n".repeat(32)),
    ] {
        assert_eq!(reason(SignedCheckpoint::parse(bad.as_bytes())), Reason::BadCheckpoint, "{bad:?}");
        refused += 1;
    }
    assert_eq!(refused, 24);
    assert_eq!(reason(SignedCheckpoint::parse(b"\xff\n\n\xff\n")), Reason::BadCheckpoint);
    assert_eq!(reason(SignedCheckpoint::parse(&vec![b'a'; (128 << 10) + 1])), Reason::TooLarge);
    for bad in [
        "",
        "c2sp.org/tlog-proof@v2\nindex 0\n\n",
        "c2sp.org/tlog-proof@v1\n\n",
        "c2sp.org/tlog-proof@v1\nindex 01\n\n",
    ] {
        assert_eq!(reason(Proof::parse(format!("{bad}{text}").as_bytes())), Reason::BadForm, "{bad:?}");
    }
    let long = format!("c2sp.org/tlog-proof@v1\nindex 0\n{}\n{text}", format!("{}\n", lines[2]).repeat(65));
    assert_eq!(reason(Proof::parse(long.as_bytes())), Reason::BadForm);
}

#[test]
fn no_changed_file_goes_unnoticed() {
    let agent = agent();
    let public = agent.key(Role::Log).verifying_key();
    let log = log_of(&agent, 300);
    let files: Vec<_> =
        log.storage().files().map(|(name, bytes)| (name.to_owned(), bytes.to_vec())).collect();
    let mut changed = 0;
    for (name, bytes) in &files {
        let step = if name == "checkpoint" { 1 } else { 13 };
        for at in (0..bytes.len()).step_by(step) {
            let mut bad = bytes.clone();
            bad[at] ^= 1;
            let mut storage = log.storage().clone();
            storage.write(name, &bad).unwrap();
            let outcome = Log::open(storage, ORIGIN, &public, NOW).and_then(|log| log.audit());
            let found = reason(outcome);
            let expected: &[Reason] = match name.as_str() {
                "checkpoint" => &[Reason::BadCheckpoint, Reason::BadSignature, Reason::NotYetValid],
                _ => &[Reason::DamagedLog],
            };
            assert!(expected.contains(&found), "{name}, byte {at}: {found:?}");
            changed += 1;
        }
        let mut storage = log.storage().clone();
        storage.write(name, &bytes[..bytes.len() - 1]).unwrap();
        assert!(Log::open(storage, ORIGIN, &public, NOW).and_then(|log| log.audit()).is_err(), "{name} cut");
    }
    assert!(changed > 3000, "{changed}");
    let mut storage = MemoryStorage::default();
    for (name, bytes) in files.iter().filter(|(name, _)| name != "tile/0/000") {
        storage.write(name, bytes).unwrap();
    }
    assert_eq!(
        reason(Log::open(storage, ORIGIN, &public, NOW).and_then(|log| log.audit())),
        Reason::DamagedLog
    );
    assert_eq!(reason(Log::open(MemoryStorage::default(), ORIGIN, &public, NOW)), Reason::NotInLog);
}

#[test]
fn what_cannot_be_added_is_refused_and_leaves_the_log_as_it_was() {
    let agent = agent();
    let key = agent.key(Role::Log);
    let mut log = log_of(&agent, 3);
    let before = log.signed_checkpoint().to_string();
    assert_eq!(reason(log.append(&[], key, NOW)), Reason::BadForm);
    assert_eq!(reason(log.append(&[&vec![0; MAX_ENTRY + 1]], key, NOW)), Reason::TooLarge);
    assert_eq!(reason(log.append(&[b"a"], agent.key(Role::DataIntegrity), NOW)), Reason::BadKey);
    assert_eq!(reason(log.append(&[b"a"], key, Timestamp(NOW.0 - 1))), Reason::NotYetValid);
    assert_eq!(log.signed_checkpoint().to_string(), before);
    log.append(&[&vec![0; MAX_ENTRY], b""], key, NOW).unwrap();
    assert_eq!((log.entry(3).unwrap().len(), log.entry(4).unwrap().len()), (MAX_ENTRY, 0));

    let again = Log::create(log.storage().clone(), ORIGIN, key, NOW);
    assert_eq!(reason(again), Reason::StorageFailed);
    assert_eq!(reason(Log::create(MemoryStorage::default(), "a b", key, NOW)), Reason::BadCheckpoint);
    assert_eq!(
        reason(Log::create(MemoryStorage::default(), ORIGIN, agent.key(Role::Did), NOW)),
        Reason::BadAlgorithm
    );
}

/// Storage that fails at the n-th write.
#[derive(Clone, Debug, Default)]
struct Failing(MemoryStorage, Cell<usize>);

impl Storage for Failing {
    type Lock = ();

    fn lock(&mut self) -> gambeson_identity::Result<()> {
        Ok(())
    }

    fn create(&mut self, name: &str, contents: &[u8]) -> gambeson_identity::Result<()> {
        self.write(name, contents)
    }

    fn read(&self, name: &str, max_len: usize) -> gambeson_identity::Result<Option<Vec<u8>>> {
        self.0.read(name, max_len)
    }

    fn write(&mut self, name: &str, contents: &[u8]) -> gambeson_identity::Result<()> {
        match self.1.get().checked_sub(1) {
            Some(left) => {
                self.1.set(left);
                self.0.write(name, contents)
            }
            None => Err(gambeson_identity::Error::new(Reason::StorageFailed, "the disk is full")),
        }
    }
}

#[test]
fn an_interrupted_addition_leaves_a_log_that_opens_and_goes_on() {
    let agent = agent();
    let (key, public) = (agent.key(Role::Log), agent.key(Role::Log).verifying_key());
    for writes in 0..=5 {
        let stored = log_of(&agent, 250).storage().clone();
        let mut log = Log::open(Failing(stored, Cell::new(writes)), ORIGIN, &public, NOW).unwrap();
        let entries: Vec<_> = (250..260).map(entry).collect();
        let entries: Vec<_> = entries.iter().map(Vec::as_slice).collect();
        // Two bundles, two tiles, one tile above, and the checkpoint.
        assert_eq!(reason(log.append(&entries, key, NOW)), Reason::StorageFailed, "{writes}");
        assert_eq!(log.size(), 250);
        // When the checkpoint is signed, another of its size would be a fork, whatever the disk says.
        log.storage().1.set(100);
        let again = log.append(&[b"fork"], key, NOW);
        assert_eq!(
            again.map_err(|error| error.reason()),
            if writes < 5 { Ok(250) } else { Err(Reason::Inconsistent) }
        );
        let stored = log.storage().0.clone();
        let mut log = Log::open(stored, ORIGIN, &public, NOW).unwrap();
        log.audit().unwrap();
        let first = log.append(&[&b"other"[..]; 20], key, NOW).unwrap();
        log.audit().unwrap();
        assert_eq!(first, if writes < 5 { 251 } else { 250 });
        assert_eq!((log.size(), log.entry(259).unwrap()), (first + 20, b"other".to_vec()));
    }
}

/// Storage that others change too.
#[derive(Clone, Default)]
struct Shared(Rc<RefCell<MemoryStorage>>);

impl Storage for Shared {
    type Lock = ();

    fn lock(&mut self) -> gambeson_identity::Result<()> {
        self.0.borrow_mut().lock()
    }

    fn read(&self, name: &str, max_len: usize) -> gambeson_identity::Result<Option<Vec<u8>>> {
        self.0.borrow().read(name, max_len)
    }

    fn write(&mut self, name: &str, contents: &[u8]) -> gambeson_identity::Result<()> {
        self.0.borrow_mut().write(name, contents)
    }

    fn create(&mut self, name: &str, contents: &[u8]) -> gambeson_identity::Result<()> {
        self.0.borrow_mut().create(name, contents)
    }
}

#[test]
fn what_grows_is_checked_against_the_root_before_anything_is_signed() {
    let agent = agent();
    let (key, public) = (agent.key(Role::Log), agent.key(Role::Log).verifying_key());
    let good = log_of(&agent, 600).storage().clone();
    let mut tried = 0;
    for name in ["tile/0/002.p/88", "tile/1/000.p/2", "tile/entries/002.p/88"] {
        let bytes = good.read(name, 1 << 24).unwrap().unwrap();
        for bad in [
            bytes.iter().enumerate().map(|(at, byte)| byte ^ u8::from(at == bytes.len() - 1)).collect(),
            bytes[..bytes.len() - 32].to_vec(),
        ] {
            // Changed behind the back of a log that is open.
            let mut storage = Shared(Rc::new(RefCell::new(good.clone())));
            let mut log = Log::open(storage.clone(), ORIGIN, &public, NOW).unwrap();
            storage.write(name, &bad).unwrap();
            assert_eq!(reason(log.append(&[b"new"], key, NOW)), Reason::DamagedLog, "{name}");
            assert_eq!(storage.read("checkpoint", 1 << 20), good.read("checkpoint", 1 << 20));
            tried += 1;
        }
    }
    assert_eq!(tried, 6);
}

#[cfg(not(target_family = "wasm"))]
#[test]
fn two_who_have_a_log_open_sign_no_two_checkpoints_of_one_size() {
    use gambeson_identity::tlog::DirectoryStorage;
    let agent = agent();
    let (key, public) = (agent.key(Role::Log), agent.key(Role::Log).verifying_key());
    let folder = tempfile::tempdir().unwrap();
    let storage = || DirectoryStorage::new(folder.path().join("log"));
    Log::create(storage(), ORIGIN, key, NOW).unwrap();
    let open = || Log::open(storage(), ORIGIN, &public, NOW).unwrap();
    let (mut first, mut second) = (open(), open());
    first.append(&[b"one"], key, NOW).unwrap();
    assert_eq!(reason(second.append(&[b"another"], key, NOW)), Reason::Inconsistent);
    assert_eq!(open().append(&[b"two"], key, NOW).unwrap(), 1);

    // All at once, each until it got its turn.
    let appended = std::sync::atomic::AtomicU64::new(0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..5 {
                    while open().append(&[b"more"], key, NOW).is_err() {}
                    appended.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                }
            });
        }
    });
    assert_eq!((appended.into_inner(), open().size()), (20, 22));
    open().audit().unwrap();

    // Of those who begin a log at once one does.
    let begun = std::sync::atomic::AtomicU64::new(0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let storage = DirectoryStorage::new(folder.path().join("a/b/new"));
                let created = Log::create(storage, ORIGIN, key, NOW);
                begun.fetch_add(u64::from(created.is_ok()), std::sync::atomic::Ordering::Relaxed);
            });
        }
    });
    assert_eq!(begun.into_inner(), 1);
}

#[cfg(unix)]
#[test]
fn the_files_of_a_log_are_there_to_be_served() {
    use gambeson_identity::tlog::DirectoryStorage;
    use std::os::unix::fs::PermissionsExt;
    let agent = agent();
    let folder = tempfile::tempdir().unwrap();
    let mode = |name: &str| std::fs::metadata(folder.path().join(name)).unwrap().permissions().mode() & 0o777;
    std::fs::write(folder.path().join("usual"), b"").unwrap();
    let storage = DirectoryStorage::new(folder.path().join("log"));
    let mut log = Log::create(storage, ORIGIN, agent.key(Role::Log), NOW).unwrap();
    log.append(&[b"one"], agent.key(Role::Log), NOW).unwrap();
    for name in ["log/checkpoint", "log/tile/0/000.p/1", "log/tile/entries/000.p/1"] {
        assert_eq!(mode(name), mode("usual"), "{name}");
    }
}

#[cfg(not(target_family = "wasm"))]
#[test]
fn a_log_in_a_folder_goes_on_where_it_ended() {
    use gambeson_identity::tlog::DirectoryStorage;
    let agent = agent();
    let (key, public) = (agent.key(Role::Log), agent.key(Role::Log).verifying_key());
    let folder = tempfile::tempdir().unwrap();
    let storage = || DirectoryStorage::new(folder.path().join("log"));
    Log::create(storage(), ORIGIN, key, NOW).unwrap().append(&[b"one", b"two"], key, NOW).unwrap();
    let mut log = Log::open(storage(), ORIGIN, &public, NOW).unwrap();
    assert_eq!(log.append(&[b"three"], key, NOW).unwrap(), 2);
    log.audit().unwrap();
    assert!(folder.path().join("log/tile/entries/000.p/3").is_file());
    std::fs::write(folder.path().join("log/checkpoint"), vec![b'a'; 200 << 10]).unwrap();
    assert_eq!(reason(Log::open(storage(), ORIGIN, &public, NOW)), Reason::TooLarge);
    std::fs::write(folder.path().join("file"), b"").unwrap();
    assert_eq!(
        reason(Log::create(DirectoryStorage::new(folder.path().join("file")), ORIGIN, key, NOW)),
        Reason::StorageFailed
    );
}
