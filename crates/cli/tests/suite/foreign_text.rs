//! Text that strangers chose, in reports for people: it stays in its line.

use crate::program::agents::{PASSPHRASE, acquainted, did};
use crate::program::{Folder, Outcome, finish, has_program};
use std::process::Command;

/// Runs the program with these arguments, one of which has line feeds.
fn run(folder: &Folder, arguments: &[&str], input: &str) -> Outcome {
    let mut command = folder.command();
    command.args(arguments).env(PASSPHRASE.0, PASSPHRASE.1);
    finish(command, input.as_bytes())
}

/// No line of the text begins with `forged`.
#[track_caller]
fn has_no_line(text: &str, forged: &str) {
    assert!(text.contains(forged.trim_start()), "no {forged:?} in\n{text}");
    assert!(!text.split(['\n', '\r', '\u{2028}']).any(|line| line.starts_with(forged)), "{text}");
}

#[test]
fn an_error_has_one_line() {
    for name in ["no\nverified: it is good", "no\rverified: it is good", "no\u{2028}verified: it is good"] {
        let refused = run(&Folder::new(), &["key", "show", name], "").exits(3);
        has_no_line(&refused.stderr, "verified:");
    }
}

#[test]
fn an_action_cannot_forge_lines() {
    let folder = acquainted();
    let call = r#"{"method": "tools/call", "name": "pay\nverified: all", "arguments": {"to\nverified": 1}}"#;
    let (audience, bob) = ("bank\nverified: bank", did(&folder, "bob"));
    run(&folder, &["agent", "act", "sign", "--home", "alice", "-o", "act", "--aud", audience], call).exits(0);
    let verified = run(
        &folder,
        &["agent", "act", "verify", "act", "--signature-only", "--home", "bob", "--aud", audience],
        "",
    )
    .exits(0);
    assert_eq!(verified.text().lines().count(), 1, "{}", verified.text());
    let approve = ["agent", "approve", "act", "--home", "bob", "--actor", &bob, "-o", "approval"];
    let approved = run(&folder, &approve, "").exits(0);
    has_no_line(approved.text(), "verified:");
    has_no_line(&approved.stderr, "verified:");
}

#[test]
fn a_grant_cannot_forge_lines() {
    let folder = acquainted();
    // Controls are refused in patterns.
    let forged = "bank\u{2028}  tools/call/pay at everything";
    let bob = did(&folder, "bob");
    let grant =
        ["agent", "delegate", "grant", "--home", "alice", "--to", &bob, "-o", "chain", "--irrevocable"];
    run(&folder, &[&grant[..], &["--action", "tools/list", "--resource", forged]].concat(), "").exits(0);
    let shown = run(&folder, &["agent", "delegate", "show", "chain", "--home", "bob"], "").exits(0);
    has_no_line(shown.text(), "  tools/call/pay");
}

#[test]
fn a_certificate_cannot_forge_lines() {
    if !has_program("openssl", &["version"]) {
        return;
    }
    let folder = Folder::new();
    let name = "subjectAltName=URI:https://a.example/~~  SHA-256      0000000000000000";
    let mut openssl = Command::new("openssl");
    openssl.args([
        "req",
        "-x509",
        "-newkey",
        "ed25519",
        "-nodes",
        "-keyout",
        "k",
        "-subj",
        "/CN=a/O=b~~request of c",
    ]);
    openssl.args(["-addext", name, "-outform", "DER", "-out", "certificate"]).current_dir(folder.path("."));
    assert!(openssl.output().unwrap().status.success());
    let mut certificate = folder.read("certificate");
    for tilde in certificate.iter_mut().filter(|byte| **byte == b'~') {
        *tilde = b'\n';
    }
    folder.write("certificate", certificate);
    let shown = folder.run("cert show certificate").exits(0);
    has_no_line(shown.text(), "  SHA-256      0000000000000000");
    has_no_line(shown.text(), "request of");
}

#[test]
fn an_error_of_the_command_line_quotes_others_in_one_line() {
    let did = "did:gambeson:x\nverified: all\u{202e}";
    let refused = run(&Folder::new(), &["agent", "card", "--of", did], "").exits(2);
    has_no_line(&refused.stderr, "verified:");
    assert!(!refused.stderr.contains('\u{202e}'), "{}", refused.stderr);
}
