//! Outputs of commands, which replace no input, no other output and nothing that an agent keeps.

use crate::program::agents::{PASSPHRASE, acquainted, did};
use crate::program::{Folder, Outcome};
use std::collections::BTreeSet;
use std::fs;

const CALL: &str = r#"{"method": "tools/call", "name": "pay", "arguments": {"amount": 5}}"#;
const REQUEST: &str = "POST /pay HTTP/1.1\r\nHost: bank.example\r\nContent-Length: 2\r\n\r\n{}";

/// Commands with `OUT` for their output, and the files that they read.
const COMMANDS: [(&str, &[&str]); 25] = [
    ("key public k.key -o OUT", &["k.key"]),
    ("key convert k.key -o OUT", &["k.key"]),
    ("cert csr -k k.key --name a.example -o OUT", &["k.key"]),
    (
        "cert sign r.csr --issuer pki/root.pem -k pki/root.key -o OUT",
        &["r.csr", "pki/root.pem", "pki/root.key"],
    ),
    (
        "cert sign --public k.pub --subject CN=a --issuer pki/root.pem -k pki/root.key -o OUT",
        &["k.pub", "pki/root.pem", "pki/root.key"],
    ),
    (
        "cert crl --issuer pki/root.pem -k pki/root.key --revoke pki/authority.pem -o OUT",
        &["pki/root.pem", "pki/root.key", "pki/authority.pem"],
    ),
    (
        "cert pkcs12 pki/server.pem -k pki/server.key --others pki/authority.pem -o OUT",
        &["pki/server.pem", "pki/server.key", "pki/authority.pem"],
    ),
    ("sign -k k.key file -o OUT", &["k.key", "file"]),
    ("kem encaps -k kem.pub -c OUT -s fresh", &["kem.pub"]),
    ("kem encaps -k kem.pub -c fresh -s OUT", &["kem.pub"]),
    ("kem decaps -k kem.key -c kem.ct -s OUT", &["kem.key", "kem.ct"]),
    ("seal -R x.pub file -o OUT", &["x.pub", "file"]),
    ("open -i x.key sealed -o OUT", &["x.key", "sealed"]),
    ("agent sign file -o OUT --home alice", &["file", "alice/seed"]),
    ("agent seal file --to BOB -o OUT --home alice", &["file", "alice/seed"]),
    ("agent open letter -o OUT --home bob", &["letter", "bob/seed"]),
    ("agent cred issue claims --subject BOB -o OUT --home alice", &["claims", "alice/seed"]),
    ("agent delegate grant --to BOB --action x --resource y -o OUT --home alice", &["alice/seed"]),
    ("agent delegate grant --to ALICE --action x --resource y --under chain -o OUT --home bob", &["chain"]),
    ("agent approve act --actor BOB -o OUT --home alice", &["act", "alice/seed"]),
    ("agent act sign call --aud did:web:bank.example -o OUT --home alice", &["call", "alice/seed"]),
    ("agent http sign request -o OUT --home alice", &["request", "alice/seed"]),
    ("agent http sign response --request signed -o OUT --home alice", &["response", "signed"]),
    ("agent a2a sign card -o OUT --home alice", &["card", "alice/seed"]),
    ("agent backup -o OUT --home alice", &["alice/seed"]),
];

/// Commands whose outputs are tested elsewhere in this file, or that read no file.
const OTHERS: [&str; 11] = [
    "key gen",
    "cert new",
    "tls get",
    "man",
    "sim",
    "agent card",
    "agent log prove",
    "agent memory get",
    "agent cred status",
    "channel export",
    "agent listen, connect",
];

/// All inputs of [`COMMANDS`].
fn with_inputs() -> Folder {
    let folder = acquainted();
    let run = |line: &str| run(&folder, line).exits(0);
    run("cert new --levels 3 --alg ed25519 --name example.com -o pki");
    run("key gen --alg ml-dsa-44 -o k.key -p k.pub");
    run("key gen --alg ml-kem-768 -o kem.key -p kem.pub");
    run("key gen --alg x-wing -o x.key -p x.pub");
    run("cert csr -k k.key --name a.example -o r.csr");
    run("kem encaps -k kem.pub -c kem.ct -s kem.secret");
    folder.write("file", "content");
    folder.write("claims", r#"{"level": 3}"#);
    folder.write("call", CALL);
    folder.write("request", REQUEST);
    folder.write("response", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}");
    folder.write("card", r#"{"name": "Teller", "version": "1.0.0"}"#);
    run("seal -R x.pub file -o sealed");
    run("agent seal file --to BOB -o letter --home alice");
    run(
        "agent delegate grant --to BOB --action x --resource y --depth 1 --irrevocable -o chain --home alice",
    );
    run("agent act sign call --aud did:web:bank.example -o act --home bob");
    run("agent http sign request -o signed --home bob");
    folder
}

fn run(folder: &Folder, line: &str) -> Outcome {
    let line = ["alice", "bob"].iter().fold(line.to_owned(), |line, name| {
        match line.contains(&name.to_uppercase()) {
            true => line.replace(&name.to_uppercase(), &did(folder, name)),
            false => line,
        }
    });
    folder.run_with(&line, b"", &[PASSPHRASE])
}

#[test]
fn no_command_replaces_a_file_that_it_has_read() {
    let folder = with_inputs();
    let mut ran = 0;
    for (line, inputs) in COMMANDS {
        for input in inputs {
            let before = folder.read(input);
            fs::create_dir_all(folder.path("below")).unwrap();
            let whole = folder.path(input).display().to_string();
            fs::hard_link(folder.path(input), folder.path("hard")).unwrap();
            #[cfg(unix)]
            std::os::unix::fs::symlink(input, folder.path("soft")).unwrap();
            for name in [input, &*format!("./{input}"), &*format!("below/../{input}"), &whole, "hard", "soft"]
            {
                let _ = fs::remove_file(folder.path("fresh"));
                let line = format!("{} --force", line.replace("OUT", name));
                let refused = run(&folder, &line).exits(2);
                assert!(
                    refused.stderr.contains(name) && refused.stderr.contains("another file"),
                    "{line}: {}",
                    refused.stderr
                );
                assert!(folder.read(input) == before, "{line}");
                ran += 1;
            }
            for name in ["hard", "soft"] {
                fs::remove_file(folder.path(name)).unwrap();
            }
        }
        let _ = fs::remove_file(folder.path("fresh"));
        folder.write("out", "older");
        run(&folder, &format!("{} --force", line.replace("OUT", "out"))).exits(0);
        fs::remove_file(folder.path("out")).unwrap();
    }
    assert!(ran > 150, "{ran}");
}

/// A command that gets an output is put into the list above.
#[test]
fn every_command_with_an_output_is_in_the_list() {
    fn look(command: &clap::Command, path: &str, found: &mut BTreeSet<String>) {
        if command.get_arguments().any(|argument| argument.get_long() == Some("force")) {
            found.insert(path.trim_start().to_owned());
        }
        for below in command.get_subcommands() {
            look(below, &format!("{path} {}", below.get_name()), found);
        }
    }
    let mut found = BTreeSet::new();
    look(&<gambeson_cli::Cli as clap::CommandFactory>::command(), "", &mut found);
    assert!(found.len() > 20, "{found:?}");
    let listed = |path: &String| {
        COMMANDS.iter().any(|(line, _)| line.starts_with(&format!("{path} ")))
            || OTHERS.contains(&path.as_str())
            || ["agent listen", "agent connect"].contains(&path.as_str())
    };
    let missing: Vec<_> = found.iter().filter(|path| !listed(path)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn a_list_may_take_the_place_of_the_one_before_it() {
    let folder = with_inputs();
    let crl = "cert crl --issuer pki/root.pem -k pki/root.key";
    folder.run(&format!("{crl} -o root.crl")).exits(0);
    folder.run(&format!("{crl} --previous root.crl -o root.crl --force")).exits(0);
    let shown = folder.run("cert show root.crl --json").exits(0).json();
    assert_eq!(shown["number"], "02");
}

#[test]
fn the_file_behind_standard_input_is_an_input() {
    let folder = with_inputs();
    let mut command = folder.command();
    command.args("seal -R x.pub - -o file --force".split(' '));
    command.stdin(fs::File::open(folder.path("file")).unwrap());
    let ended = command.output().unwrap();
    assert_eq!(ended.status.code(), Some(2), "{}", String::from_utf8_lossy(&ended.stderr));
    assert_eq!(folder.read("file"), b"content");
}

#[test]
fn two_outputs_are_two_files() {
    let folder = acquainted();
    folder.write("entry", "called tool A");
    run(&folder, "agent log append entry --home alice").exits(0);
    run(&folder, "agent log prove 0 --entry x -o x --force --home alice").exits(2).tells("two outputs");
    run(&folder, "agent log prove 0 --entry x -o y --force --home alice").exits(0);
}

#[test]
fn what_an_agent_keeps_is_no_output() {
    let folder = with_inputs();
    folder.run("agent memory put file --home alice").exits(0);
    let names = [
        "seed",
        "agent.json",
        "ledger.json",
        "seen.json",
        "channels.redb",
        "gateway.token",
        "lock",
        "cards/new.jsonl",
        "status",
        "log",
        "objects/other",
        "credentials",
    ];
    let before = folder.read("alice/seed");
    #[cfg(unix)]
    std::os::unix::fs::symlink("alice", folder.path("a")).unwrap();
    for name in names {
        for home in ["alice", "./bob/../alice", "a"] {
            for line in ["sign -k k.key file -o OUT --force", "cert csr -k k.key --name x -o OUT --force"] {
                let out = format!("{home}/{name}");
                let there = folder.exists(&out);
                let refused = folder.run(&line.replace("OUT", &out)).exits(2).tells("the agent in");
                assert!(refused.stderr.contains("another file"), "{}", refused.stderr);
                assert_eq!(folder.exists(&out), there, "{out}");
            }
        }
    }
    assert_eq!(folder.read("alice/seed"), before);
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("alice/ledger.json", folder.path("dangling")).unwrap();
        folder.run("sign -k k.key file -o dangling --force").exits(2).tells("the agent in");
        assert!(!folder.exists("alice/ledger.json"));
    }
    // The owner's other files are the owner's, and so are these names in other folders.
    folder.run("sign -k k.key file -o alice/file.sig").exits(0);
    folder.run("sign -k k.key file -o seed").exits(0);
    for log in ["alice/seed", "pki/server.key"] {
        let kept = folder.read(log);
        let proxy =
            "tls proxy --listen 127.0.0.1:0 --connect localhost:1 --cert pki/server.pem --key pki/server.key";
        folder.run(&format!("{proxy} --access-log {log}")).exits(2).tells("another file");
        assert!(folder.read(log) == kept, "{log}");
    }
    assert_eq!(folder.read("alice/seed"), before);
}

/// A temporary file stands where the output will: errors name the output.
#[cfg(unix)]
#[test]
fn errors_name_the_output_and_no_temporary_file() {
    let folder = with_inputs();
    for (line, name) in [
        ("sign -k k.key file -o nowhere/s", "nowhere/s"),
        ("seal -R x.pub file -o nowhere/s", "nowhere/s"),
        ("key gen --alg ed25519 -o nowhere/k", "nowhere/k"),
        ("cert csr -k k.key --name x -o nowhere/c", "nowhere/c"),
        ("agent card --home alice -o nowhere/card", "nowhere/card"),
    ] {
        let told = folder.run(line).exits(3).tells(name);
        assert!(!told.stderr.contains(".part"), "{}", told.stderr);
    }
}
