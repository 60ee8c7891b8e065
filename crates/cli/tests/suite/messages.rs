//! Messages about inputs and outputs: what was found, what was expected, and the command that makes it.

use crate::program::agents::{agent, agent_with, did, two};
use crate::program::{Folder, Outcome};

/// Keys of every kind, a certificate and its key in `pki`, and a text.
fn files() -> Folder {
    let folder = Folder::new();
    folder.run("key gen --alg ml-kem-768 -o kem -p kem.pub").exits(0);
    folder.run("key gen --alg ml-dsa-44 -o sig -p sig.pub").exits(0);
    folder.run("key gen --alg x-wing -o alice -p alice.pub").exits(0);
    folder.run("cert new --alg ml-dsa-44 -o pki").exits(0);
    folder.write("text", "hello");
    folder.run("seal -R alice.pub text -o sealed").exits(0);
    folder
}

/// No message names a type or a variant of a library.
#[track_caller]
fn plain(outcome: &Outcome) {
    for word in ["KeyMismatch", "InvalidContentType", "(os error", "not post-quantum", ".part"] {
        assert!(!outcome.stderr.contains(word), "{word} in {}", outcome.stderr);
    }
}

#[test]
fn a_file_without_recipients_is_told_by_what_it_holds() {
    let folder = files();
    for (file, code, found) in [
        ("kem.pub", 2, "line 1: a public key in PEM, not an age key"),
        ("sig", 2, "line 1: a private key in PEM, not an age key"),
        ("pki/server.pem", 2, "line 1: a certificate in PEM, not an age key"),
        ("alice", 3, "line 2: this is a private key, not a recipient"),
        ("text", 3, "line 1: not an age key"),
    ] {
        let refused = folder.run(&format!("seal -R {file} text -o no")).exits(code);
        let refused = refused.tells(&format!("{file}: {found}; expected a recipient (age1pq1…)"));
        plain(&refused.tells("`gambeson key public`").tells("`gambeson key gen --alg x-wing`"));
    }
    folder.run("seal -r age1nothing text -o no").exits(2).tells("--recipient: ").tells("age1pq1");
    let classical = "-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n-----END OPENSSH PRIVATE KEY-----\n";
    folder.write("ssh", classical);
    folder.run("seal -R ssh text -o no").exits(2).tells("ssh: line 1: an SSH key is not post-quantum");
}

#[test]
fn a_file_without_identities_is_told_by_what_it_holds() {
    let folder = files();
    for (file, code, found) in [
        ("kem", 2, "line 1: a private key in PEM, not an age key"),
        ("kem.pub", 2, "line 1: a public key in PEM, not an age key"),
        ("pki/server.pem", 2, "line 1: a certificate in PEM, not an age key"),
        ("alice.pub", 3, "line 1: this is a recipient, not a private key"),
        ("text", 3, "line 1: not an age key"),
    ] {
        let refused = folder.run(&format!("open -i {file} sealed -o no")).exits(code);
        let refused = refused.tells(&format!("{file}: {found}; expected an identity (AGE-SECRET-KEY-PQ-1…)"));
        plain(&refused.tells("`gambeson key gen --alg x-wing`"));
    }
}

#[test]
fn what_is_no_certificate_is_told_by_what_it_holds() {
    let folder = files();
    folder.write("binary", [0xff, 0xfe, 0, 1]);
    let made = "`gambeson cert new`";
    for (file, found) in [
        ("pki/server.key", "a PEM file of a PRIVATE KEY, not of a CERTIFICATE"),
        ("kem.pub", "a PEM file of a PUBLIC KEY, not of a CERTIFICATE"),
        ("alice", "neither PEM nor DER"),
        ("text", "neither PEM nor DER"),
        ("binary", "neither PEM nor DER"),
    ] {
        plain(&folder.run(&format!("cert show {file}")).exits(3).tells(&format!("{file}: {found}")));
        for line in [
            format!("cert verify {file} --roots pki/server.pem"),
            format!("cert verify pki/server.pem --roots {file}"),
            format!("tls serve --cert {file} --key pki/server.key --listen 0"),
        ] {
            let refused = folder.run(&line).exits(3).tells(&format!("{file}: holds no certificate: {found}"));
            plain(&refused.tells(made));
        }
    }
    folder.run("cert show pki/server.key").exits(3).tells("`gambeson key show`");
    for file in ["text", "binary"] {
        folder
            .run(&format!("key show {file}"))
            .exits(3)
            .tells("neither PEM nor DER")
            .tells("`gambeson key gen`");
    }
    folder.write("text.sig", "not read: the key is refused first");
    let refused = folder.run("verify -k pki/server.pem text").exits(3);
    refused.tells("a PEM file of a CERTIFICATE").tells("--cert");
}

#[test]
fn a_damaged_certificate_is_told_as_one() {
    let folder = files();
    let whole = String::from_utf8(folder.read("pki/server.pem")).unwrap();
    folder.write("no-end", &whole[..whole.len() - 40]);
    folder.write("no-base64", whole.replacen("-----\nM", "-----\n*", 1));
    let lines: Vec<&str> = whole.lines().collect();
    folder.write("cut", [&lines[..10], &lines[lines.len() - 1..]].concat().join("\n"));
    for (file, found) in [
        ("no-end", "the PEM block CERTIFICATE has no END line"),
        ("no-base64", "the PEM block CERTIFICATE is not base64"),
        ("cut", "certificate 1: the DER encoding of the certificate cannot be read"),
    ] {
        for line in [format!("cert show {file}"), format!("cert verify {file} --roots pki/server.pem")] {
            plain(&folder.run(&line).exits(3).tells(&format!("{file}: ")).tells(found));
        }
    }
    let key = String::from_utf8(folder.read("sig")).unwrap();
    folder.write("key", &key[..key.len() - 30]);
    folder.run("key show key").exits(3).tells("key: the PEM block PRIVATE KEY has no END line");
}

#[test]
fn a_key_of_another_certificate_is_told_in_words() {
    let folder = files();
    let other = "not that of the certificate";
    plain(&folder.run("tls serve --cert pki/server.pem --key sig --listen 0").exits(3).tells(other));
    let proxy = "tls proxy --cert pki/server.pem --key sig --listen 0 --connect 127.0.0.1:1";
    plain(&folder.run(proxy).exits(3).tells(other));
}

#[test]
fn an_output_in_a_folder_that_is_not_there_names_the_folder() {
    let folder = files();
    for line in [
        "key gen --alg ml-dsa-44 -o nodir/k",
        "key public sig -o nodir/k",
        "sign -k sig text -o nodir/s",
        "seal -R alice.pub text -o nodir/s",
        "open -i alice sealed -o nodir/s",
        "cert csr -k sig --name a.example -o nodir/r",
    ] {
        plain(&folder.run(line).exits(3).tells("nodir/").tells("folder nodir does not exist"));
    }
    plain(&folder.run("man nodir").exits(3).tells("folder nodir does not exist"));
    plain(&folder.run("sign -k nokey text").exits(3).tells("nokey: "));
    folder.write("plain", "");
    plain(&folder.run("key public sig -o plain/k").exits(3).tells("plain is not a folder"));
}

#[test]
fn an_unknown_agent_is_told_with_what_makes_it_known() {
    let folder = two();
    let alice = did(&folder, "alice");
    let refused = folder.run(&format!("agent card --of {alice} --home bob")).exits(1);
    refused.tells(&format!("{alice} is unknown here; add its card with `gambeson agent card --add FILE`"));
    let log = folder.run(&format!("agent log verify text --proof text --log {alice} --home bob")).exits(2);
    log.tells("expected the log's full URL, such as did:gambeson:…#log-0");
}

#[test]
fn text_that_is_not_json_is_told_by_its_place() {
    let folder = two();
    let sign = "act sign - --aud did:web:bank.example -o no --home alice";
    let refused = agent_with(&folder, sign, b"not json").exits(3);
    plain(&refused.tells("standard input: not JSON (line 1, column 2)"));
    folder.write("claims", "{\n  \"a\": }");
    let issue = "cred issue claims --subject did:web:bob.example -o no --home alice";
    plain(&agent(&folder, issue).exits(3).tells("claims: not JSON (line 2, column 8)"));
}

#[test]
fn an_authority_is_shown_by_what_it_may_issue() {
    let folder = Folder::new();
    folder.run("cert new --alg ml-dsa-44 --levels 3 -o pki").exits(0);
    let shown = folder.run("cert show pki/authority.pem").exits(0);
    assert!(shown.text().contains("  authority    CA: may issue end certificates only"), "{}", shown.text());
    let root = folder.run("cert show pki/root.pem").exits(0);
    assert!(root.text().contains("  authority    CA: "), "{}", root.text());
}

/// A proxy that is told to end while nobody is connected says so, and no numbers of nothing.
#[cfg(target_os = "linux")]
#[test]
fn a_proxy_without_connections_stops_in_plain_words() {
    use std::io::{BufRead, BufReader, Read};
    let folder = files();
    let mut command = folder.command();
    command.args(
        "tls proxy --cert pki/server.pem --key pki/server.key --listen 0 --connect 127.0.0.1:1".split(' '),
    );
    let mut proxy = command.stdout(std::process::Stdio::piped()).spawn().unwrap();
    let mut told = BufReader::new(proxy.stdout.take().unwrap());
    let mut first = String::new();
    told.read_line(&mut first).unwrap();
    assert!(first.starts_with("listening on "), "{first}");
    let id = rustix::process::Pid::from_child(&proxy);
    rustix::process::kill_process(id, rustix::process::Signal::TERM).unwrap();
    let mut rest = String::new();
    told.read_to_string(&mut rest).unwrap();
    proxy.wait().unwrap();
    assert!(rest.contains("stopping; no open connections"), "{rest}");
}
