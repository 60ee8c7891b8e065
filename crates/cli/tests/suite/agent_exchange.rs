//! What agents give each other: sealed payloads, signed calls, proofs of logs.

use crate::program::agents::{acquainted, agent, agent_with, did, two};
use crate::program::{self, Folder, noise};

#[test]
fn a_sealed_payload_opens_once_and_for_its_recipient_alone() {
    let folder = acquainted();
    folder.write("letter", "meet at noon");
    let bob = did(&folder, "bob");
    let seal = format!("seal letter --to {bob} --type text/plain -o letter.sealed --home alice");
    let sealed = agent(&folder, &format!("{seal} --json")).exits(0).json();
    assert_eq!((&sealed["to"], &sealed["bytes"]), (&bob.as_str().into(), &12.into()));
    agent(&folder, &seal).exits(3).tells("exists already");

    let stranger = agent(&folder, "open letter.sealed -o out --home alice --json").exits(1).json();
    assert_eq!(stranger["reason"], "cannot-open");
    let alice = did(&folder, "alice");
    let other =
        agent(&folder, &format!("open letter.sealed -o out --from {bob} --home bob --json")).exits(1).json();
    assert_eq!(other["reason"], "other-signer");
    assert!(!folder.exists("out"), "nothing is left of what was refused");
    let opened = agent(&folder, &format!("open letter.sealed -o out --from {alice} --home bob --json"))
        .exits(0)
        .json();
    assert_eq!((&opened["sender"], &opened["mediaType"]), (&alice.as_str().into(), &"text/plain".into()));
    assert_eq!(folder.read("out"), b"meet at noon");
    #[cfg(unix)]
    assert_eq!(folder.mode("out"), 0o600);
    let again = agent(&folder, "open letter.sealed -o again --home bob --json").exits(1).json();
    assert_eq!(again["reason"], "replayed");

    agent(&folder, &format!("{seal} --force")).exits(0);
    folder.tamper("letter.sealed");
    let tampered = agent(&folder, "open letter.sealed -o again --home bob --json").exits(1).json();
    assert_eq!(tampered["reason"], "cannot-open");
    agent(&folder, &format!("{seal} --force --lifetime 60")).exits(0);
    let late = agent(&folder, "open letter.sealed -o again --home bob --at 2049-01-01T00:00:00Z --json");
    assert_eq!(late.exits(1).json()["reason"], "expired");
    let out = agent(&folder, "open letter.sealed --home bob").exits(0);
    assert_eq!(out.stdout, b"meet at noon", "standard output carries the payload and nothing else");
    agent(&folder, "open letter.sealed --home bob").exits(1).tells("before");
    folder.write("bob/seen.json", "{}");
    agent(&folder, "open letter.sealed --home bob").exits(3).tells("seen.json: is damaged");
}

/// Of anybody else nothing is looked up: whoever sends does not choose what this program fetches.
#[test]
fn who_is_not_awaited_is_refused_before_he_is_looked_up() {
    let folder = acquainted();
    agent(&folder, "init --home carol").exits(0);
    folder.run("agent card --home carol --add bob.card").exits(0);
    folder.write("letter", "meet at noon");
    agent(&folder, &format!("seal letter --to {} -o letter.sealed --home carol", did(&folder, "bob")))
        .exits(0);
    let reason = |options: &str| {
        let line = format!("open letter.sealed {options} -o out --home bob --json");
        agent(&folder, &line).exits(1).json()["reason"].as_str().unwrap().to_owned()
    };
    assert_eq!(reason(""), "unknown-did");
    assert_eq!(reason(&format!("--from {}", did(&folder, "alice"))), "other-signer");
    assert_eq!(reason(&format!("--from {}", did(&folder, "carol"))), "unknown-did");
}

/// A limit of the length of files stands for a full disk.
#[cfg(unix)]
#[test]
fn a_payload_that_cannot_be_written_is_not_lost() {
    let folder = acquainted();
    folder.write("letter", noise(100_000));
    let seal = format!("agent seal letter --to {} -o letter.sealed --home alice", did(&folder, "bob"));
    folder.run_with(&seal, b"", &[program::agents::PASSPHRASE]).exits(0);
    let mut limited = std::process::Command::new("sh");
    // 64 blocks of 512 or 1024 bytes, and no signal for who writes beyond them.
    let script = "trap '' XFSZ; ulimit -f 64; exec \"$0\" agent open letter.sealed -o out --home bob";
    limited.args(["-c", script, env!("CARGO_BIN_EXE_gambeson")]).current_dir(folder.path(""));
    limited.env(program::agents::PASSPHRASE.0, program::agents::PASSPHRASE.1);
    program::finish(limited, b"").exits(3);
    assert!(!folder.exists("out"));
    agent(&folder, "open letter.sealed -o out --home bob").exits(0);
    assert_eq!(folder.read("out"), noise(100_000));
}

#[test]
fn sealing_needs_a_recipient_that_is_known() {
    let folder = two();
    folder.write("letter", "meet at noon");
    let bob = did(&folder, "bob");
    let unknown = agent(&folder, &format!("seal letter --to {bob} -o x --home alice --json")).exits(1).json();
    assert_eq!(unknown["reason"], "unknown-did");
    agent(&folder, "seal letter -o x --home alice").exits(2);
    agent(&folder, &format!("seal letter --to {bob} -r age1pq1x -o x --home alice")).exits(2);
    agent(&folder, "seal letter -r age1pq1x -o x --home alice").exits(2).tells("--recipient");
    let alice = did(&folder, "alice");
    let long = format!("seal letter --to {alice} --lifetime 99999999 -o x --home alice --json");
    assert_eq!(agent(&folder, &long).exits(2).json()["reason"], "bad-time");
    assert!(!folder.exists("x"));
}

#[test]
fn what_an_agent_seals_to_an_age_recipient_opens_as_any_age_file() {
    let folder = two();
    folder.write("letter", "meet at noon");
    folder.run("key gen --alg x-wing -o key -p pub").exits(0);
    let recipient = String::from_utf8(folder.read("pub")).unwrap();
    let recipient = recipient.lines().find(|line| line.starts_with("age1pq1")).unwrap();
    agent(&folder, &format!("seal letter -r {recipient} -o letter.age --home alice")).exits(0);
    let opened = folder.run("open -i key letter.age").exits(0);
    assert_eq!(opened.stdout, b"meet at noon");
    folder.run(&format!("agent seal letter -r {recipient} -o letter.age --home alice")).exits(3);
}

/// What somebody with the program, or with stock age, seals to alice's recipient.
fn sealed_to(folder: &Folder, recipient: &str, options: &str) {
    folder.run(&format!("seal letter -r {recipient} -o letter.age --force {options}")).exits(0);
}

#[test]
fn an_agent_opens_age_files_to_its_recipient() {
    let folder = acquainted();
    let alice = did(&folder, "alice");
    folder.write("letter", "meet at noon");
    let recipient = folder.run("agent show --recipient --home alice").exits(0).text().trim_end().to_owned();
    assert!(recipient.starts_with("age1pq1"), "{recipient}");
    let shown = folder.run("agent show --home alice --json").exits(0).json();
    assert_eq!(shown["recipient"], recipient.as_str());
    assert!(folder.run("agent show --home alice").exits(0).text().contains(&recipient));
    // Whoever knows the card has the recipient; it is a file for `age -R` and for `seal -R`.
    folder.run("agent card --recipient --home alice -o own.pub").exits(0);
    folder.run(&format!("agent card --recipient --of {alice} --home bob -o alice.pub")).exits(0);
    assert_eq!(folder.read("own.pub"), folder.read("alice.pub"));
    assert_eq!(folder.read("own.pub"), format!("# {alice}\n{recipient}\n").as_bytes());
    folder.run("seal letter -R alice.pub -o of-a-file.age").exits(0);
    agent(&folder, "open of-a-file.age -o of-a-file --home alice").exits(0);
    assert_eq!(folder.read("of-a-file"), b"meet at noon");

    for options in ["", "-a"] {
        sealed_to(&folder, &recipient, options);
        let line = "open letter.age -o out --force --home alice --json";
        for _ in 0..2 {
            // An age file opens as often as one likes: it has no identifier.
            let opened = agent(&folder, line).exits(0).json();
            assert_eq!((&opened["form"], &opened["bytes"]), (&"age".into(), &12.into()));
        }
        assert_eq!(folder.read("out"), b"meet at noon");
        #[cfg(unix)]
        assert_eq!(folder.mode("out"), 0o600);
        let from = agent(&folder, &format!("{line} --from {}", did(&folder, "bob"))).exits(1).json();
        assert_eq!(from["reason"], "unsecured");
        let other = agent(&folder, "open letter.age -o other --home bob --json").exits(1).json();
        assert_eq!(other["reason"], "cannot-open");
        assert!(!folder.exists("other"), "nothing is left of what was refused");
        folder.run("agent open letter.age --home alice").exits(2).tells("a passphrase is needed");
    }
    let text = folder.read("letter.age");
    let spaced = [b"\r\n \n", &text[..]].concat();
    let opened = agent_with(&folder, "open --home alice", &spaced).exits(0);
    assert_eq!(opened.stdout, b"meet at noon", "standard input, and armor with white space before it");
}

#[test]
fn an_age_file_that_was_changed_or_is_none_does_not_open() {
    let folder = two();
    folder.write("letter", noise(200_000));
    let recipient = folder.run("agent show --recipient --home alice").exits(0).text().trim_end().to_owned();
    sealed_to(&folder, &recipient, "");
    let good = folder.read("letter.age");
    agent(&folder, "open letter.age -o out --home alice").exits(0);
    assert_eq!(folder.read("out"), noise(200_000));
    let reason = |bytes: &[u8]| {
        folder.write("bad", bytes);
        let refused = agent(&folder, "open bad -o none --home alice --json").exits(1).json();
        assert!(!folder.exists("none"));
        refused["reason"].as_str().unwrap().to_owned()
    };
    let mut changed = good.clone();
    *changed.last_mut().unwrap() ^= 1;
    assert_eq!(reason(&changed), "cannot-open");
    assert_eq!(reason(&good[..good.len() - 1]), "cannot-open");
    assert_eq!(reason(&[&good[..], b"more"].concat()), "cannot-open");
    assert_eq!(reason(&good[..100]), "bad-form");
    assert_eq!(reason(b"age-encryption.org/v2\n-> x\n"), "bad-form");
    assert_eq!(reason(b"-----BEGIN AGE ENCRYPTED FILE-----\n???"), "bad-form");
    assert_eq!(reason(b"\n"), "bad-form");
    assert_eq!(reason(b""), "bad-form");
    assert_eq!(reason(b"PK\x03\x04"), "bad-form");
}

#[test]
fn what_was_sealed_before_a_rotation_opens_afterwards() {
    let folder = two();
    folder.write("letter", "meet at noon");
    let recipient =
        || folder.run("agent show --recipient --home alice").exits(0).text().trim_end().to_owned();
    let first = recipient();
    sealed_to(&folder, &first, "");
    for options in ["", "--compromised"] {
        agent(&folder, &format!("rotate backup {options} --home alice")).exits(0);
    }
    assert_ne!(recipient(), first);
    agent(&folder, "open letter.age -o out --home alice").exits(0);
    sealed_to(&folder, &recipient(), "");
    agent(&folder, "open letter.age -o out --force --home alice").exits(0);
}

#[test]
fn an_agent_of_suite_cnsa2_has_no_age_recipient() {
    let folder = two();
    agent(&folder, "init --home carol --suite cnsa2").exits(0);
    let shown = folder.run("agent show --home carol --json").exits(0).json();
    assert!(shown["recipient"].is_null());
    folder.run("agent show --recipient --home carol").exits(2).tells("has no key for age");
    folder.run("agent card --recipient --home carol").exits(2).tells("has no key for age");
    folder.run("agent card --recipient --document --home carol").exits(2);
    folder.run("agent show --recipient --did --home carol").exits(2);
    folder.write("letter", "meet at noon");
    let recipient = folder.run("agent show --recipient --home alice").exits(0).text().trim_end().to_owned();
    sealed_to(&folder, &recipient, "");
    agent(&folder, "open letter.age --home carol").exits(1).tells("suite cnsa2 has no key for age files");
}

const CALL: &str = r#"{"method": "tools/call", "name": "pay", "arguments": {"amount": 5}}"#;

/// Alice signs [`CALL`] for bob.
fn signed(folder: &Folder) {
    let line = format!("act sign --aud {} -o signed.json --force --home alice", did(folder, "bob"));
    agent_with(folder, &line, CALL.as_bytes()).exits(0);
}

#[test]
fn a_signature_without_a_permission_is_not_a_verified_call() {
    let folder = acquainted();
    signed(&folder);
    // Twice: what was not permitted was not taken either.
    for _ in 0..2 {
        let half = folder.run("agent act verify signed.json --home bob").exits(1);
        assert!(half.text().starts_with("signature valid; permission NOT checked"), "{}", half.text());
        assert!(half.text().contains("--trust"), "{}", half.text());
        let half = folder.run("agent act verify signed.json --home bob --json").exits(1).json();
        assert_eq!(
            (&half["verified"], &half["reason"], &half["permission"]),
            (&false.into(), &"permission-not-checked".into(), &"not-checked".into())
        );
    }
    let asked = folder.run("agent act verify signed.json --signature-only --home bob").exits(0);
    assert!(asked.text().starts_with("signature valid; permission NOT checked"), "{}", asked.text());
    let alice = did(&folder, "alice");
    folder.run(&format!("agent act verify signed.json --signature-only --trust {alice} --home bob")).exits(2);
}

#[test]
fn a_signed_call_is_taken_once_by_its_audience() {
    let folder = acquainted();
    signed(&folder);
    let alice = did(&folder, "alice");
    let verified =
        folder.run("agent act verify signed.json --signature-only --home bob --json").exits(0).json();
    assert_eq!(
        (&verified["action"], &verified["arguments"]["amount"]),
        (&"tools/call/pay".into(), &5.into())
    );
    assert!(verified["signer"].as_str().unwrap().starts_with(&alice));
    let reason = |line: &str| {
        let line = format!("agent act verify --signature-only {line} --json");
        folder.run(&line).exits(1).json()["reason"].clone()
    };
    assert_eq!(reason("signed.json --home bob"), "replayed");
    assert_eq!(reason("signed.json --home alice"), "wrong-audience");
    assert_eq!(reason("signed.json --home bob --aud did:web:bank.example"), "wrong-audience");
    assert_eq!(reason("signed.json --home bob --at 2050-01-01T00:00:00Z"), "expired");

    signed(&folder);
    assert_eq!(reason(&format!("signed.json --home bob --signer {}", did(&folder, "bob"))), "other-signer");
    let text = String::from_utf8(folder.read("signed.json")).unwrap();
    folder.write("more.json", text.replace("\"amount\":5", "\"amount\":6"));
    assert_eq!(reason("more.json --home bob"), "bad-signature");
    folder.write("more.json", text.replacen('{', "{\"more\":1,", 1));
    assert_eq!(reason("more.json --home bob"), "bad-form");
    folder.write("more.json", "[]");
    assert_eq!(reason("more.json --home bob"), "bad-form");
    folder.run("agent act verify signed.json --signature-only --home bob").exits(0);
    agent(&folder, "rotate signing --compromised --home alice").exits(0);
    agent_with(
        &folder,
        "act sign --aud did:web:bank.example --lifetime 600 -o long.json --home alice",
        CALL.as_bytes(),
    )
    .exits(0);
    let long = "long.json --home alice --aud did:web:bank.example";
    assert_eq!(reason(long), "long-lived");
    folder.run(&format!("agent act verify --signature-only {long} --lifetime 600")).exits(0);
}

#[test]
fn what_is_no_call_is_not_signed() {
    let folder = two();
    for (call, code) in [
        ("", 3),
        ("[]", 3),
        (r#"{"method": 1}"#, 3),
        (r#"{"method": "x", "arguments": []}"#, 3),
        (r#"{"method": "x", "more": 1}"#, 3),
        (r#"{"method": "x", "method": "y"}"#, 3),
        (r#"{"method": ""}"#, 2),
    ] {
        agent_with(&folder, "act sign --aud x --home alice", call.as_bytes()).exits(code);
    }
    agent_with(&folder, "act sign --home alice", CALL.as_bytes()).exits(2);
}

#[test]
fn a_log_grows_and_proves_what_is_in_it() {
    let folder = acquainted();
    folder.write("one", "called tool A");
    folder.write("more", "called tool B\ncalled tool C\n");
    folder.run("agent log show --home alice").exits(3);
    let appended = agent(&folder, "log append one --home alice --json").exits(0).json();
    assert_eq!((&appended["first"], &appended["size"]), (&0.into(), &1.into()));
    let appended = agent(&folder, "log append more --lines --home alice --json").exits(0).json();
    assert_eq!((&appended["first"], &appended["size"]), (&1.into(), &3.into()));
    folder.run("agent log prove 2 -o proof --entry entry --home alice").exits(0);
    folder.run("agent log prove 2 -o proof --home alice").exits(3).tells("exists already");
    folder.run("agent log prove 3 --home alice").exits(2);
    assert_eq!(folder.read("entry"), b"called tool C");
    let log = format!("{}#log-0", did(&folder, "alice"));
    let verified =
        folder.run(&format!("agent log verify entry -p proof --log {log} --home bob --json")).exits(0).json();
    assert_eq!((&verified["index"], &verified["size"]), (&2.into(), &3.into()));
    folder.run("agent log verify entry -p proof --home alice").exits(0);
    let reason =
        |line: &str| folder.run(&format!("agent log verify {line} --json")).exits(1).json()["reason"].clone();
    assert_eq!(reason("one -p proof --home alice"), "not-included");
    assert_eq!(reason("entry -p proof --home bob"), "bad-checkpoint");
    assert_eq!(
        reason(&format!("entry -p proof --home bob --log {}#signing-0", did(&folder, "alice"))),
        "wrong-purpose"
    );
    folder.tamper("proof");
    folder.run("agent log verify entry -p proof --home alice").exits(1);
    folder.write("long", vec![b'x'; 65_536]);
    agent(&folder, "log append long --home alice").exits(2);

    agent(&folder, "log append one --home one").exits(3).tells("one/lock");
    assert_eq!(folder.run("agent log show --home alice --json").exits(0).json()["size"], 3);
    let bundle = std::fs::read_dir(folder.path("alice/log/0/tile/entries/000.p")).unwrap();
    let bundle = bundle.map(|entry| entry.unwrap().file_name().into_string().unwrap()).max().unwrap();
    folder.tamper(&format!("alice/log/0/tile/entries/000.p/{bundle}"));
    let damaged = folder.run("agent log show --home alice --json").exits(1).json();
    assert_eq!(damaged["reason"], "damaged-log");
    // It is the folder that is to blame, not the command line.
    for line in ["append one", "prove 1 -o other --entry other-entry"] {
        let damaged = agent(&folder, &format!("log {line} --home alice --json")).exits(3).json();
        assert_eq!(damaged["reason"], "damaged-log", "{line}");
    }
}
