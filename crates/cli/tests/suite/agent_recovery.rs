//! An agent is made again from words, an age file, shares, and its backup.

use crate::program::agents::{agent, agent_with, did};
use crate::program::{Folder, copy_folder};
use gambeson_identity::memory::ObjectId;
use gambeson_identity::{Agent, CardContent, CardLog, MasterSeed, Retired, Timestamp, recovery};

/// Alice with every form of her seed, and her cards after a rotation.
fn alice() -> Folder {
    let folder = Folder::new();
    agent(&folder, "init --home alice --words words --age seed.age --shares 2/3").exits(0);
    agent(&folder, "rotate signing --home alice").exits(0);
    folder.run("agent card --home alice -o alice.card").exits(0);
    folder
}

#[test]
fn an_agent_that_cannot_be_recovered_says_so() {
    let folder = Folder::new();
    let made = agent(&folder, "init --home alone").exits(0);
    made.tells("warning: ").tells("--words").tells("cannot be recovered");
    for (home, kept) in
        [("words", "--words words.txt"), ("age", "--age seed.age"), ("shares", "--shares 2/3")]
    {
        let made = agent(&folder, &format!("init --home {home} {kept}")).exits(0);
        assert!(!made.stderr.contains("warning"), "{}", made.stderr);
    }
    let told = agent(&folder, "init --home other --json").exits(0);
    assert_eq!(told.json()["recovery"], serde_json::json!([]));
    let told = agent(&folder, "init --home another --words more.txt --json").exits(0);
    assert_eq!(told.json()["recovery"], serde_json::json!(["words"]));
}

#[test]
fn recover_without_cards_names_both_ways() {
    let folder = Folder::new();
    agent(&folder, "init --home alice --words words").exits(0);
    agent(&folder, "recover --home again --words words").exits(2).tells("--cards").tells("--new-cards");
}

#[test]
fn words_shares_and_an_age_file_give_the_agent_back() {
    let folder = alice();
    assert_eq!(String::from_utf8(folder.read("words")).unwrap().split_whitespace().count(), 24);
    #[cfg(unix)]
    for name in ["words", "seed.age", "share-1", "share-3"] {
        assert_eq!(folder.mode(name), 0o600, "{name}");
    }
    let alice = did(&folder, "alice");
    folder.write("both", [folder.read("share-1"), folder.read("share-3")].concat());
    let sources = ["--words words", "--age seed.age", "--shares share-2 share-3", "--shares both"];
    for (number, source) in sources.iter().enumerate() {
        let made =
            agent(&folder, &format!("recover {source} --cards alice.card --home again{number} --json"));
        let made = made.exits(0).json();
        assert_eq!((&made["did"], &made["card"]["version"]), (&alice.as_str().into(), &2.into()));
    }
    folder.write("plan", "do it");
    agent(&folder, "sign plan --home again0").exits(0);
    let verified = folder.run("agent verify plan --home alice --json").exits(0).json();
    assert!(verified["signer"].as_str().unwrap().ends_with("#signing-1"));
}

/// Who comes second finds the agent of the first, though there was none when it looked.
#[test]
fn of_two_agents_that_are_made_at_once_the_first_stays() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("home")).unwrap();
    let lock = std::fs::File::create(folder.path("home/lock")).unwrap();
    lock.lock().unwrap();
    std::thread::scope(|scope| {
        let second = scope.spawn(|| agent(&folder, "init --home home"));
        // The second looked, and waits for the lock: it has made the folder of cards.
        while !folder.exists("home/cards") {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        folder.write("home/agent.json", "the first");
        folder.write("home/seed", "of the first");
        lock.unlock().unwrap();
        second.join().unwrap().exits(3).tells("there is an agent already");
    });
    assert_eq!(
        (folder.read("home/agent.json"), folder.read("home/seed")),
        (b"the first".to_vec(), b"of the first".to_vec())
    );
    assert_eq!(std::fs::read_dir(folder.path("home/cards")).unwrap().count(), 0);
}

#[test]
fn words_go_to_standard_output_where_no_file_is_named() {
    let folder = Folder::new();
    let words = agent(&folder, "init --home alice --words").exits(0);
    assert_eq!(words.text().split_whitespace().count(), 24);
    let made = agent_with(&folder, "recover --words - --new-cards --home again --json", &words.stdout)
        .exits(0)
        .json();
    assert_eq!(made["did"], did(&folder, "alice").as_str());
}

#[test]
fn what_is_not_the_seed_makes_no_agent() {
    let folder = alice();
    agent(&folder, "init --home bob --words bobs").exits(0);
    let reason = |line: &str| {
        let refused =
            agent(&folder, &format!("recover {line} --cards alice.card --home again --json")).exits(1).json();
        assert!(!folder.exists("again"), "{line}");
        refused["reason"].as_str().unwrap().to_owned()
    };
    assert_eq!(reason("--words bobs"), "wrong-seed");
    assert_eq!(reason("--shares share-1"), "bad-shares");
    folder.write("wrong", "abandon ".repeat(24));
    assert_eq!(reason("--words wrong"), "bad-words");
    let wrong = [("GAMBESON_PASSPHRASE", "wrong horse")];
    let refused =
        folder.run_with("agent recover --age seed.age --cards alice.card --home again --json", b"", &wrong);
    assert_eq!(refused.exits(1).json()["reason"], "wrong-passphrase");
    folder.tamper("alice.card");
    agent(&folder, "recover --words words --cards alice.card --home again").exits(1);
    agent(&folder, "recover --words words --home again").exits(2);
    agent(&folder, "recover --cards alice.card --home again").exits(2);
    agent(&folder, "recover --words words --new-cards --home alice")
        .exits(3)
        .tells("there is an agent already");
    agent(&folder, "init --home carol --words words").exits(3).tells("exists already");
    assert!(!folder.exists("carol"), "where the words cannot be written no agent is made");
    for nonsense in ["0/3", "4/3", "2/17", "two"] {
        agent(&folder, &format!("init --home carol --shares {nonsense}")).exits(2);
    }
}

#[test]
fn a_backup_and_the_seed_are_enough_on_a_fresh_machine() {
    let folder = alice();
    let line = format!("cred issue --subject {} --irrevocable -o badge --home alice", did(&folder, "alice"));
    agent_with(&folder, &line, br#"{"level": 3}"#).exits(0);
    folder.run("agent cred verify badge --keep badge.jwt --home alice").exits(0);
    let made = agent(&folder, "backup -o backup --home alice --json").exits(0).json();
    assert_eq!((&made["cards"], &made["credentials"]), (&2.into(), &1.into()));
    agent(&folder, "backup -o backup --home alice").exits(3).tells("exists already");
    agent(&folder, "restore backup --words words --home again").exits(0);
    assert_eq!(did(&folder, "again"), did(&folder, "alice"));
    assert_eq!(folder.read("again/credentials/badge.jwt"), folder.read("badge"));
    agent(&folder, "restore backup --words words --home again").exits(3);

    agent(&folder, "init --home bob --words bobs").exits(0);
    let other = agent(&folder, "restore backup --words bobs --home more --json").exits(1).json();
    assert_eq!(other["reason"], "cannot-open");
    folder.tamper("backup");
    agent(&folder, "restore backup --words words --home more").exits(1);
    assert!(!folder.exists("more"));
}

/// The BLAKE3 hash of an object, as `ab/cdef…`.
fn place(object: &[u8]) -> String {
    let digits = blake3::hash(object).to_hex();
    format!("{}/{}", &digits[..2], &digits[2..])
}

/// Puts an object into a folder as docs/spec/memory.md has it.
fn put(folder: &Folder, below: &str, object: &[u8]) -> String {
    let name = format!("{below}/{}", place(object));
    std::fs::create_dir_all(folder.path(&name).parent().unwrap()).unwrap();
    folder.write(&name, object);
    name
}

#[test]
fn memory_objects_come_back_from_a_backup() {
    let folder = alice();
    let objects: [&[u8]; 3] = [b"the user prefers short answers", b"", &[7; 1 << 20]];
    for object in objects {
        put(&folder, "memory", object);
        put(&folder, "alice/objects", object);
    }
    folder.write("memory/notes.txt", "no object: its name is no hash");
    for (number, (made_of, options)) in
        [("--objects memory", "--objects back"), ("", "")].into_iter().enumerate()
    {
        let made = agent(&folder, &format!("backup -o backup{number} --home alice {made_of} --json"));
        assert_eq!(made.exits(0).json()["objects"], 3);
        let (home, back) = (format!("again{number}"), ["back", "again1/objects"][number]);
        let line = format!("restore backup{number} --words words --home {home} {options}");
        let told = agent(&folder, &line).exits(0);
        assert!(told.text().contains("3 memory objects"), "{}", told.text());
        for object in objects {
            let name = format!("{back}/{}", place(object));
            assert!(folder.read(&name) == object, "{name}");
            #[cfg(unix)]
            assert_eq!(folder.mode(&name), 0o600);
        }
        assert!(!folder.exists(&format!("{back}/notes.txt")));
        #[cfg(unix)]
        assert_eq!(folder.mode(back), 0o700);
    }
    // What came back can be backed up again.
    let made = agent(&folder, "backup -o backup2 --home again1 --json").exits(0).json();
    assert_eq!(made["objects"], 3);
    // A backup without objects makes no folder for them.
    agent(&folder, "backup -o none --home again0 --json").exits(0);
    agent(&folder, "restore none --words words --home more").exits(0);
    assert!(!folder.exists("more/objects"));
}

#[test]
fn memory_objects_are_kept_under_their_names() {
    let folder = alice();
    let large: Vec<u8> = (0..3_000_000_u32).map(|i| (i / 1000) as u8).collect();
    folder.write("large", &large);
    folder.write("note", "the user prefers short answers");
    let put = |file: &str| {
        let told = folder.run(&format!("agent memory put {file} --home alice --json")).exits(0).json();
        assert_eq!(told["bytes"], folder.read(file).len());
        told["object"].as_str().unwrap().to_owned()
    };
    let (note, manifest) = (put("note"), put("large"));
    assert_eq!(note, ObjectId::of(b"the user prefers short answers").to_string());
    // A manifest that somebody keeps is not followed.
    let digits = manifest.strip_prefix("b3:").unwrap();
    std::fs::copy(
        folder.path(&format!("alice/objects/{}/{}", &digits[..2], &digits[2..])),
        folder.path("manifest"),
    )
    .unwrap();
    let kept = put("manifest");
    assert_ne!(kept, manifest);
    for (name, file) in [(&note, "note"), (&manifest, "large"), (&kept, "manifest")] {
        folder.run(&format!("agent memory get {name} -o back --force --home alice")).exits(0);
        assert!(folder.read("back") == folder.read(file), "{file}");
        assert!(
            folder.run(&format!("agent memory get {name} --home alice")).exits(0).stdout == folder.read(file)
        );
    }
    // Three objects of the large one, its manifest, the note, the manifest again and its manifest: two are one.
    let listed = folder.run("agent memory list --home alice").exits(0).text().lines().count();
    assert_eq!(listed, 6);
    let made = agent(&folder, "backup -o backup --home alice --json").exits(0).json();
    assert_eq!(made["objects"], 6);

    let absent = ObjectId::of(b"absent");
    let told = folder.run(&format!("agent memory get {absent} -o x --home alice --json")).exits(3).json();
    assert_eq!(told["reason"], "no-object");
    folder.run("agent memory get b3:12 --home alice").exits(2).tells("64 lower-case");
    folder.run("agent memory list --home nobody").exits(3).tells("nobody");
    let digits = note.strip_prefix("b3:").unwrap();
    folder.tamper(&format!("alice/objects/{}/{}", &digits[..2], &digits[2..]));
    let refused = folder.run(&format!("agent memory get {note} --home alice --json -o x")).exits(1).json();
    assert_eq!(refused["reason"], "wrong-hash");
    assert!(!folder.exists("x"));
}

#[test]
fn a_memory_object_that_was_changed_is_not_backed_up() {
    let folder = alice();
    let name = put(&folder, "memory", b"the user prefers short answers");
    put(&folder, "memory", b"another");
    folder.tamper(&name);
    let line = "backup -o backup --objects memory --home alice";
    let refused = agent(&folder, &format!("{line} --json")).exits(1).json();
    assert_eq!(refused["reason"], "wrong-hash");
    assert!(!folder.exists("backup"));
    folder.tamper(&name);
    agent(&folder, line).exits(0);
    let long = put(&folder, "memory", &[7; (1 << 20) + 1]);
    agent(&folder, &format!("{line} --force")).exits(3).tells("an object of 1048577 bytes");
    std::fs::remove_file(folder.path(&long)).unwrap();
    agent(&folder, &format!("{line} --force")).exits(0);

    agent(&folder, "backup -o x --objects missing --home alice").exits(3).tells("missing");
    agent(&folder, "backup -o x --objects words --home alice").exits(3).tells("words");
    assert!(!folder.exists("x"));
    let before = folder.read("backup");
    let mut refused = 0;
    for at in [0, 300, before.len() / 2, before.len() - 1] {
        let mut changed = before.clone();
        changed[at] ^= 1;
        folder.write("backup", changed);
        agent(&folder, "restore backup --words words --home more --objects back").exits(1);
        assert!(!folder.exists("more") && !folder.exists("back"));
        refused += 1;
    }
    assert_eq!(refused, 4);
    folder.write("backup", before);
    folder.write("taken", "a file");
    agent(&folder, "restore backup --words words --home more --objects taken").exits(3).tells("taken");
}

/// Alice with her words, and bob; they know each other.
fn alice_and_bob() -> Folder {
    let folder = Folder::new();
    agent(&folder, "init --home alice --words words").exits(0);
    agent(&folder, "init --home bob").exits(0);
    for (one, other) in [("alice", "bob"), ("bob", "alice")] {
        folder.run(&format!("agent card --home {one} -o {one}.card")).exits(0);
        folder.run(&format!("agent card --home {other} --add {one}.card")).exits(0);
    }
    folder
}

/// A credential about bob.
fn issue(folder: &Folder, home: &str, name: &str) {
    let line = format!("cred issue --subject {} -o {name} --force --home {home}", did(folder, "bob"));
    agent_with(folder, &line, br#"{"level": 3}"#).exits(0);
}

/// Signs the status list of `home`, and lets bob know it.
fn publish(folder: &Folder, home: &str) {
    agent(folder, &format!("cred status -o list --force --home {home}")).exits(0);
    folder.run("agent cred status --add list --home bob").exits(0);
}

/// Why a command ends with an exit status.
#[track_caller]
fn why(folder: &Folder, line: &str, status: i32) -> String {
    let refused = agent(folder, &format!("{line} --json")).exits(status).json();
    refused["reason"].as_str().unwrap_or_else(|| panic!("{refused}")).to_owned()
}

#[test]
fn what_was_revoked_used_up_and_taken_stays_so_on_a_fresh_machine() {
    let folder = alice_and_bob();
    issue(&folder, "alice", "badge");
    issue(&folder, "alice", "other");
    agent(&folder, "cred revoke badge --home alice").exits(0);
    publish(&folder, "alice");
    let (alice, bob) = (did(&folder, "alice"), did(&folder, "bob"));
    let grant = "--action tools/call/* --resource did:web:bank.example --calls 2 -o chain --home alice";
    agent(&folder, &format!("delegate grant --to {bob} {grant}")).exits(0);
    publish(&folder, "alice");
    let sign = |name: &str| {
        let line = format!("act sign --aud did:web:bank.example --under chain -o {name} --home bob");
        agent_with(&folder, &line, br#"{"method": "tools/call", "name": "pay", "arguments": {}}"#).exits(0);
    };
    let judge = |name: &str| format!("act verify {name} --aud did:web:bank.example --trust {alice} --home ");
    sign("one");
    agent(&folder, &format!("{}alice", judge("one"))).exits(0);

    let made = agent(&folder, "backup -o backup --home alice --json").exits(0).json();
    assert_eq!(made["state"], serde_json::json!(["ledger", "seen", "status-list"]));
    let told = agent(&folder, "restore backup --words words --home again").exits(0);
    for line in
        ["state: ledger, seen, status-list", "cred status --add", "a second card of one number", "audit logs"]
    {
        assert!(told.text().contains(line), "{line}: {}", told.text());
    }
    for name in ["status/list.json", "ledger.json", "seen.json"] {
        assert_eq!(folder.read(&format!("again/{name}")), folder.read(&format!("alice/{name}")), "{name}");
        #[cfg(unix)]
        assert_eq!(folder.mode(&format!("again/{name}")), 0o600, "{name}");
    }

    folder.run("agent card --home again --add bob.card").exits(0);
    assert_eq!(why(&folder, &format!("{}again", judge("one")), 1), "replayed");
    sign("two");
    sign("three");
    agent(&folder, &format!("{}again", judge("two"))).exits(0);
    assert_eq!(why(&folder, &format!("{}again", judge("three")), 1), "over-count");

    assert_eq!(why(&folder, "cred verify badge --home again", 1), "revoked");
    issue(&folder, "again", "third");
    publish(&folder, "again");
    assert_eq!(why(&folder, "cred verify badge --home bob", 1), "revoked");
    folder.run("agent cred verify third --home bob").exits(0);
    folder.run("agent cred verify other --home bob").exits(0);
    assert_eq!(agent(&folder, "cred revoke badge --home again --json").exits(0).json()["isNew"], false);
    assert_eq!(agent(&folder, "cred revoke other --home again --json").exits(0).json()["isNew"], true);
    publish(&folder, "again");
    assert_eq!(why(&folder, "cred verify other --home bob", 1), "revoked");
}

#[test]
fn an_old_backup_catches_up_with_a_newer_list() {
    let folder = alice_and_bob();
    issue(&folder, "alice", "badge");
    agent(&folder, "backup -o backup --home alice").exits(0);
    issue(&folder, "alice", "after");
    agent(&folder, "cred revoke badge --home alice").exits(0);
    publish(&folder, "alice");
    let made = agent(&folder, "restore backup --words words --home again --json").exits(0).json();
    assert_eq!(made["state"], serde_json::json!(["status-list"]));
    assert!(made["issued"].as_str().unwrap().ends_with('Z'));

    agent(&folder, "cred verify badge --home again").exits(0);
    let caught_up = agent(&folder, "cred status --add list --home again --json").exits(0).json();
    assert_eq!(caught_up["added"], 1);
    assert_eq!(why(&folder, "cred verify badge --home again", 1), "revoked");
    let caught_up = agent(&folder, "cred status --add list --home again --json").exits(0).json();
    assert_eq!(caught_up["added"], 0);
    // What was issued after the backup can be revoked, though its list never gave that out.
    assert_eq!(agent(&folder, "cred revoke after --home again --json").exits(0).json()["isNew"], true);
    publish(&folder, "again");
    assert_eq!(why(&folder, "cred verify after --home bob", 1), "revoked");
    assert_eq!(why(&folder, "cred verify badge --home bob", 1), "revoked");
}

#[test]
fn an_old_backup_catches_up_with_a_list_that_ended() {
    let folder = alice_and_bob();
    let line = format!("cred issue --subject {} -o badge --hours 1000 --home alice", did(&folder, "bob"));
    agent_with(&folder, &line, b"{}").exits(0);
    agent(&folder, "backup -o backup --home alice").exits(0);
    agent(&folder, "cred revoke badge --home alice").exits(0);
    agent(&folder, "cred status -o list --hours 1 --home alice").exits(0);
    agent(&folder, "restore backup --words words --home again").exits(0);
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    let later = format!("--at {}", Timestamp(now + 2 * 3600));
    let caught_up =
        agent(&folder, &format!("cred status --add list --home again {later} --json")).exits(0).json();
    assert_eq!(caught_up["added"], 1);
    assert_eq!(why(&folder, &format!("cred verify badge --home again {later}"), 1), "revoked");
    // Of others it takes none that has ended.
    assert_eq!(why(&folder, &format!("cred status --add list --home bob {later}"), 1), "expired");
}

#[test]
fn what_a_failed_restore_wrote_is_taken_away() {
    let folder = alice_and_bob();
    issue(&folder, "alice", "badge");
    folder.run("agent cred verify badge --keep badge.jwt --home alice").exits(0);
    put(&folder, "alice/objects", b"a memory");
    agent(&folder, "backup -o backup --home alice").exits(0);
    folder.write("taken", "a file");
    agent(&folder, "restore backup --words words --home more --objects taken").exits(3).tells("taken");
    let left = |below: &str| {
        let entries = std::fs::read_dir(folder.path(below)).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    };
    assert_eq!((left("more"), left("more/cards")), (vec!["cards".to_owned(), "lock".to_owned()], vec![]));
    // Whoever comes next gets nothing of it.
    agent(&folder, "init --home more").exits(0);
    issue(&folder, "more", "other");
    agent(&folder, "cred revoke badge --home more").exits(2).tells("not an entry of this agent's list");
}

#[test]
fn what_is_left_of_another_agent_is_not_taken_over() {
    let folder = alice_and_bob();
    issue(&folder, "alice", "badge");
    agent(&folder, "backup -o backup --home alice").exits(0);
    agent(&folder, "init --home carol --words carols").exits(0);
    // As an interruption leaves them.
    copy_folder(&folder.path("alice"), &folder.path("half"));
    std::fs::remove_file(folder.path("half/seed")).unwrap();
    let alice = did(&folder, "alice");
    for line in ["init --words new", "recover --words carols --new-cards"] {
        assert_eq!(why(&folder, &format!("{line} --home half"), 3), "leftovers", "{line}");
        agent(&folder, &format!("{line} --home half")).exits(3).tells(&alice);
    }
    assert!(!folder.exists("new"), "no words of an agent that was not made");
    std::fs::create_dir_all(folder.path("nameless/status")).unwrap();
    assert_eq!(why(&folder, "init --home nameless", 3), "leftovers");
    // Alice herself goes on with it.
    agent(&folder, "restore backup --words words --home half").exits(0);
    assert_eq!(did(&folder, "half"), alice);
}

#[test]
fn state_that_is_damaged_in_a_backup_makes_no_agent() {
    use gambeson_identity::backup::{Backup, State};
    let folder = alice_and_bob();
    let words = String::from_utf8(folder.read("words")).unwrap();
    let alice = Agent::from_seed(recovery::from_words(&words).unwrap());
    let log = CardLog::verify(&folder.read("alice.card")).unwrap();
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    for state in State::ALL {
        let mut backup = Backup::new(&alice, Timestamp(now));
        backup.set_cards(&log);
        backup.set_state(state, b"{}").unwrap();
        folder.write("backup", backup.seal(&alice).unwrap());
        assert_eq!(why(&folder, "restore backup --words words --home more", 1), "bad-archive");
        assert!(!folder.exists("more"));
    }
    assert_eq!(State::ALL.len(), 3);
}

#[test]
fn a_backup_leaves_no_credential_out_silently() {
    let folder = alice_and_bob();
    let made = |code| agent(&folder, "backup -o backup --force --home alice --json").exits(code);
    assert_eq!(made(0).json()["credentials"], 0);
    issue(&folder, "alice", "badge");
    folder.run("agent cred verify badge --keep badge.jwt --home alice").exits(0);
    folder.write("alice/credentials/.unfinished", "half");
    assert_eq!(made(0).json()["credentials"], 1);
    std::fs::rename(folder.path("alice/credentials"), folder.path("elsewhere")).unwrap();
    folder.write("alice/credentials", "no folder");
    made(3).tells("alice/credentials");
}

/// The clock was ahead once: what it dropped of a grant must not be granted again. What was seen has a clock of its own.
#[test]
fn a_used_up_grant_stays_used_up_when_the_clock_goes_back() {
    let folder = alice_and_bob();
    let (alice, bob) = (did(&folder, "alice"), did(&folder, "bob"));
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    let later = format!("--at {}", Timestamp(now + 2 * 3600));
    for (chain, grant) in [("short", "--calls 1 --hours 1"), ("long", "--calls 9 --hours 9")] {
        let line = format!(
            "delegate grant --to {bob} --action tools/call/* --resource did:web:bank.example {grant}"
        );
        agent(&folder, &format!("{line} -o {chain} --home alice")).exits(0);
    }
    let call = |chain: &str, at: &str| {
        let line =
            format!("act sign --aud did:web:bank.example --under {chain} -o call --force --home bob {at}");
        agent_with(&folder, &line, br#"{"method": "tools/call", "name": "pay", "arguments": {}}"#).exits(0);
        format!("act verify call --aud did:web:bank.example --trust {alice} --home alice {at}")
    };
    agent(&folder, &call("short", "")).exits(0);
    assert_eq!(why(&folder, &call("short", ""), 1), "over-count");
    agent(&folder, &call("long", &later)).exits(0);
    std::fs::remove_file(folder.path("alice/seen.json")).unwrap();
    assert_eq!(why(&folder, &call("short", ""), 1), "expired");
}

#[test]
fn a_list_that_was_signed_and_is_gone_is_not_begun_again() {
    let folder = alice_and_bob();
    issue(&folder, "alice", "badge");
    std::fs::remove_file(folder.path("alice/status/list.json")).unwrap();
    assert_eq!(why(&folder, "cred status -o list --home alice", 3), "no-status-list");
    assert_eq!(why(&folder, "cred revoke badge --home alice", 3), "no-status-list");
    agent(&folder, "cred status --begin-anew -o list --home alice").exits(0);
    issue(&folder, "alice", "badge");
}

#[test]
fn an_agent_without_its_list_begins_none_unless_told() {
    let folder = alice_and_bob();
    issue(&folder, "alice", "badge");
    agent(&folder, "cred revoke badge --home alice").exits(0);
    issue(&folder, "alice", "other");
    publish(&folder, "alice");
    let recovered = agent(&folder, "recover --words words --cards alice.card --home again").exits(0);
    assert!(recovered.text().contains("agent restore"), "{}", recovered.text());
    folder.write("claims", r#"{"level": 3}"#);
    let bob = did(&folder, "bob");
    let refused = |home: &str| {
        let mut refused = 0;
        for line in [
            format!("cred issue claims --subject {bob} -o x"),
            format!("delegate grant --to {bob} --action a --resource b -o x"),
            "cred revoke badge".to_owned(),
            "cred status -o x".to_owned(),
        ] {
            assert_eq!(why(&folder, &format!("{line} --home {home}"), 3), "no-status-list", "{line}");
            refused += 1;
        }
        assert_eq!(refused, 4);
        assert!(!folder.exists("x") && !folder.exists(&format!("{home}/status/list.json")));
    };
    refused("again");
    agent(&folder, "cred revoke badge --home again").exits(3).tells("--begin-anew");
    agent(&folder, &format!("cred issue claims --subject {bob} --irrevocable -o free --home again")).exits(0);
    // A backup of such an agent has no list either.
    let made = agent(&folder, "backup -o backup --home again --json").exits(0).json();
    assert_eq!(made["state"], serde_json::json!([]));
    agent(&folder, "restore backup --words words --home more").exits(0);
    refused("more");

    let begun = agent(&folder, "cred status --begin-anew -o fresh --home more --json").exits(0).json();
    assert_eq!((&begun["entries"], &begun["revokedEntries"]), (&0.into(), &0.into()));
    agent(&folder, "cred status --begin-anew --home more").exits(2).tells("there is a status list already");
    agent(&folder, "cred status --begin-anew --home alice").exits(2).tells("there is a status list already");
    issue(&folder, "more", "third");
    publish(&folder, "more");
    folder.run("agent cred verify third --home bob").exits(0);
    // The list of before stays what it was.
    assert_eq!(why(&folder, "cred verify badge --home bob", 1), "revoked");
    folder.run("agent cred verify other --home bob").exits(0);
    agent(&folder, "cred revoke other --home more").exits(2).tells("not an entry of this agent's list");
}

#[test]
fn an_agent_that_never_issued_anything_begins_its_list_after_a_restore() {
    let folder = alice_and_bob();
    let made = agent(&folder, "backup -o backup --home alice --json").exits(0).json();
    assert_eq!(made["state"], serde_json::json!(["status-list"]));
    agent(&folder, "restore backup --words words --home again").exits(0);
    issue(&folder, "again", "badge");
    publish(&folder, "again");
    folder.run("agent cred verify badge --home bob").exits(0);
}

#[test]
fn a_second_audit_log_under_one_key_is_refused() {
    let folder = alice();
    folder.write("entry", "one");
    agent(&folder, "log append entry --home alice").exits(0);
    agent(&folder, "backup -o backup --home alice").exits(0);
    agent(&folder, "recover --words words --cards alice.card --home recovered").exits(0);
    agent(&folder, "restore backup --words words --home restored").exits(0);
    for home in ["recovered", "restored"] {
        assert_eq!(why(&folder, &format!("log append entry --home {home}"), 3), "no-log");
    }
    agent(&folder, "rotate log --home recovered").exits(0);
    agent(&folder, "log append entry --home recovered").exits(0);
    copy_folder(&folder.path("alice/log"), &folder.path("restored/log"));
    let appended = agent(&folder, "log append entry --home restored --json").exits(0).json();
    assert_eq!((&appended["first"], &appended["size"]), (&1.into(), &2.into()));
    folder.run("agent log show --home restored").exits(0);
}

#[test]
fn an_old_backup_is_refused_or_takes_newer_cards() {
    let folder = alice();
    agent(&folder, "backup -o backup --home alice").exits(0);
    agent(&folder, "rotate --home alice").exits(0);
    folder.run("agent card --home alice -o newer.card").exits(0);
    let restore = |options: &str, home: &str| format!("restore backup --words words {options} --home {home}");
    assert_eq!(why(&folder, &restore("--since 3", "none"), 1), "stale-card");
    agent(&folder, &restore("--since 3 --cards newer.card", "none")).exits(2);
    agent(&folder, &restore("--since 2", "old")).exits(0);
    let made = agent(&folder, &format!("{} --json", restore("--cards newer.card", "new"))).exits(0).json();
    assert_eq!(made["card"]["version"], 3);

    // Of the old one another third card comes, which goes with none of the others.
    agent(&folder, "rotate signing --home old").exits(0);
    folder.run("agent card --home old -o other.card").exits(0);
    agent(&folder, "backup -o other --home old").exits(0);
    let other = "restore other --words words --cards newer.card --home none";
    assert_eq!(why(&folder, other, 1), "broken-chain");
    agent(&folder, "backup -o newest --home new").exits(0);
    let older = "restore newest --words words --cards alice.card --home none";
    assert_eq!(why(&folder, older, 1), "stale-card");
    agent(&folder, "init --home bob").exits(0);
    folder.run("agent card --home bob -o bob.card").exits(0);
    assert_eq!(why(&folder, &restore("--cards bob.card", "none"), 1), "wrong-seed");
    assert!(!folder.exists("none"));
}

/// 100 cards of more than 40 KiB: more than the files that are otherwise read whole.
#[test]
fn a_long_log_of_cards_is_read_whole() {
    let folder = Folder::new();
    let seed = MasterSeed::generate().unwrap();
    folder.write("words", recovery::words(&seed).as_bytes());
    let mut agent_of_it = Agent::from_seed(seed);
    let now =
        Timestamp(std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs());
    let window = (now, now.after(86_400));
    let content = CardContent {
        also_known_as: vec![format!("https://example.com/{}", "a".repeat(40 << 10))],
        services: Vec::new(),
        groups: Vec::new(),
    };
    let mut log = CardLog::new(agent_of_it.first_card(now, window.1, &content).unwrap()).unwrap();
    for _ in 1..100 {
        agent_of_it.rotate(&mut log, &[], Retired::Compromised, window, &content).unwrap();
    }
    let lines = log.to_lines();
    assert!(lines.len() > 4 << 20);
    folder.write("cards", lines);
    agent(&folder, "init --home bob").exits(0);
    for line in ["card --verify cards --home bob", "card --add cards --home bob"] {
        assert_eq!(
            agent(&folder, &format!("{line} --json")).exits(0).json()["card"]["version"],
            100,
            "{line}"
        );
    }
    let made = agent(&folder, "recover --words words --cards cards --home again --json").exits(0).json();
    assert_eq!(made["card"]["version"], 100);
}
