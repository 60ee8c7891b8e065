//! An agent is made again from words, an age file, shares, and its backup.

#![allow(clippy::unwrap_used)]

mod program;

use program::Folder;
use program::agents::{agent, agent_with, did};

/// Alice with every form of her seed, and her cards after a rotation.
fn alice() -> Folder {
    let folder = Folder::new();
    agent(&folder, "init --home alice --words words --age seed.age --shares 2/3").exits(0);
    agent(&folder, "rotate signing --home alice").exits(0);
    folder.run("agent card --home alice -o alice.card").exits(0);
    folder
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
