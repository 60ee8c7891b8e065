//! The life of a key: made, looked at, converted, protected, and never lost to an overwrite.

use crate::program::{Folder, finish};

const ALGORITHMS: [(&str, &str, usize); 19] = [
    ("ml-kem-512", "ML-KEM-512", 800),
    ("ml-kem-768", "ML-KEM-768", 1184),
    ("ml-kem-1024", "ML-KEM-1024", 1568),
    ("ml-dsa-44", "ML-DSA-44", 1312),
    ("ml-dsa-65", "ML-DSA-65", 1952),
    ("ml-dsa-87", "ML-DSA-87", 2592),
    ("slh-dsa-sha2-128s", "SLH-DSA-SHA2-128s", 32),
    ("slh-dsa-sha2-128f", "SLH-DSA-SHA2-128f", 32),
    ("slh-dsa-sha2-192s", "SLH-DSA-SHA2-192s", 48),
    ("slh-dsa-sha2-192f", "SLH-DSA-SHA2-192f", 48),
    ("slh-dsa-sha2-256s", "SLH-DSA-SHA2-256s", 64),
    ("slh-dsa-sha2-256f", "SLH-DSA-SHA2-256f", 64),
    ("slh-dsa-shake-128s", "SLH-DSA-SHAKE-128s", 32),
    ("slh-dsa-shake-128f", "SLH-DSA-SHAKE-128f", 32),
    ("slh-dsa-shake-192s", "SLH-DSA-SHAKE-192s", 48),
    ("slh-dsa-shake-192f", "SLH-DSA-SHAKE-192f", 48),
    ("slh-dsa-shake-256s", "SLH-DSA-SHAKE-256s", 64),
    ("slh-dsa-shake-256f", "SLH-DSA-SHAKE-256f", 64),
    ("x-wing", "X-Wing", 1216),
];

#[test]
fn every_algorithm_makes_a_key_that_show_recognizes() {
    let folder = Folder::new();
    for (argument, name, bytes) in ALGORITHMS {
        let made = folder
            .run(&format!("--json key gen --alg {argument} -o {argument}.key -p {argument}.pub"))
            .exits(0)
            .json();
        let private = folder.run(&format!("key show {argument}.key --json")).exits(0).json();
        let public = folder.run(&format!("key show {argument}.pub --json")).exits(0).json();
        for (shown, kind) in [(&private, "private"), (&public, "public")] {
            assert_eq!(shown["alg"], name);
            assert_eq!(shown["part"], kind);
            assert_eq!(shown["publicBytes"], bytes);
            assert_eq!(shown["encrypted"], false);
            assert_eq!(shown["fingerprint"], made["fingerprint"]);
        }
        assert_eq!(private["hasSeed"], true);
        // `key public` writes what `key gen -p` wrote.
        let written = folder.run(&format!("key public {argument}.key")).exits(0).stdout;
        assert_eq!(written, folder.read(&format!("{argument}.pub")));
        folder.run(&format!("key show {argument}.key")).exits(0);
    }
}

#[test]
fn keys_of_slh_dsa_have_one_form() {
    let folder = Folder::new();
    folder.run("key gen --alg slh-dsa-sha2-128f -o k.pem -p k.pub").exits(0);
    for form in ["seed", "expanded", "both"] {
        folder.run(&format!("key convert k.pem -o k.der --form {form} --format der --force")).exits(0);
        assert_eq!(folder.read("k.der").len(), 84);
        folder.run("key convert k.der -o again.pem --force").exits(0);
        assert_eq!(folder.read("again.pem"), folder.read("k.pem"));
    }
    folder.run("key show k.der --json").exits(0);
    // A changed seed does not make the root beside it.
    let mut der = folder.read("k.der");
    der[20] ^= 1;
    folder.write("changed.der", &der);
    folder.run("key show changed.der").exits(3).tells("not that of the private key");
}

#[test]
fn keys_with_a_state_are_not_made() {
    let folder = Folder::new();
    for (algorithm, name) in [("hss", "HSS"), ("lms", "HSS"), ("xmss", "XMSS"), ("xmssmt", "XMSSMT")] {
        let told = format!("signing with {name} keys needs the key store, which does not exist yet");
        folder.run(&format!("key gen --alg {algorithm} -o k.key")).exits(2).tells(&told);
        folder.run(&format!("cert new --alg {algorithm} -o pki")).exits(2).tells(&told);
    }
    assert_eq!(folder.names(), [""; 0]);
    // Not among those that can be made.
    assert!(!folder.run("key gen --help").exits(0).text().contains("hss"));
}

#[cfg(unix)]
#[test]
fn private_files_are_for_their_owner_alone() {
    let folder = Folder::new();
    folder.run("key gen --alg ml-dsa-44 -o a.key -p a.pub").exits(0);
    folder.run("key gen --alg x-wing -o b.txt").exits(0);
    folder.run("key convert a.key -o c.der --format der").exits(0);
    folder.run("key gen --alg ml-kem-512 -o d.key -p d.pub").exits(0);
    folder.run("kem encaps -k d.pub -c d.ct -s d.secret").exits(0);
    for private in ["a.key", "b.txt", "c.der", "d.secret"] {
        assert_eq!(folder.mode(private), 0o600, "{private}");
    }
    // Replacing a file that others could read does not keep that.
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(folder.path("a.key"), PermissionsExt::from_mode(0o644)).unwrap();
    folder.run("key gen --alg ml-dsa-44 -o a.key --force").exits(0);
    assert_eq!(folder.mode("a.key"), 0o600);
}

#[test]
fn a_file_that_exists_is_kept_unless_forced() {
    let folder = Folder::new();
    folder.run("key gen --alg ml-dsa-44 -o a.key").exits(0);
    let first = folder.read("a.key");
    folder.run("key gen --alg ml-dsa-44 -o a.key").exits(3).tells("a.key: exists already");
    folder.run("key gen --alg x-wing -o a.key").exits(3).tells("--force");
    folder.run("key convert a.key -o a.key").exits(3).tells("a.key: exists already");
    assert_eq!(folder.read("a.key"), first);
    // The public file stands in the way: then no private one is made either.
    folder.write("p.pub", "precious");
    folder.run("key gen --alg ml-dsa-44 -o p.key -p p.pub").exits(3).tells("p.pub: exists already");
    assert_eq!(folder.read("p.pub"), b"precious");
    assert!(!folder.exists("p.key"));
    folder.run("key gen --alg ml-dsa-44 -o a.key --force").exits(0);
    assert_ne!(folder.read("a.key"), first);
    assert_eq!(folder.names(), ["a.key", "p.pub"], "nothing else was left");
}

#[test]
fn two_outputs_are_two_files_whatever_they_are_called() {
    let folder = Folder::new();
    folder.run("key gen --alg ml-kem-512 -o a.key -p a.pub").exits(0);
    for (one, other) in [("new", "./new"), ("a.key", "./a.key")] {
        folder.run(&format!("key gen --alg ml-dsa-44 -o {one} -p {other} --force")).exits(2);
        folder.run(&format!("kem encaps -k a.pub -c {one} -s {other} --force")).exits(2);
    }
    assert_eq!(folder.names(), ["a.key", "a.pub"]);
    folder.run("key show a.key").exits(0);
}

#[test]
fn a_key_survives_every_conversion() {
    let folder = Folder::new();
    for algorithm in ["ml-kem-768", "ml-dsa-65"] {
        folder.run(&format!("key gen --alg {algorithm} -o k.pem -p k.pub --force")).exits(0);
        let fingerprint = folder.run("key show k.pem --json").exits(0).json()["fingerprint"].clone();
        for (form, seed) in [("seed", true), ("both", true), ("expanded", false)] {
            for format in ["pem", "der"] {
                let name = format!("{form}.{format}");
                folder
                    .run(&format!("key convert k.pem -o {name} --form {form} --format {format} --force"))
                    .exits(0);
                let shown = folder.run(&format!("key show {name} --json")).exits(0).json();
                assert_eq!(shown["fingerprint"], fingerprint, "{name}");
                assert_eq!(shown["hasSeed"], seed, "{name}");
                assert_eq!(shown["encoding"], format.to_uppercase());
            }
        }
        // Back from both to the seed: the file that it began with.
        folder.run("key convert both.der -o again.pem --force").exits(0);
        assert_eq!(folder.read("again.pem"), folder.read("k.pem"));
        // The seed of an expanded key is not to be had; that is what the default knows.
        folder.run("key convert expanded.der -o x.pem --form seed").exits(2).tells("without its seed");
        folder.run("key convert expanded.der -o x.pem").exits(0);
        folder.run("key convert k.pub -o k.pub.der --format der --force").exits(0);
        folder.run("key convert k.pub.der -o k.pub.pem --force").exits(0);
        assert_eq!(folder.read("k.pub.pem"), folder.read("k.pub"));
        std::fs::remove_file(folder.path("x.pem")).unwrap();
    }
}

#[test]
fn a_passphrase_protects_a_key_and_comes_from_the_environment() {
    let folder = Folder::new();
    let right = [("GAMBESON_PASSPHRASE", "quilted")];
    let wrong = [("GAMBESON_PASSPHRASE", "mail")];
    folder.run_with("key gen --alg ml-dsa-44 -o k.key -p k.pub --encrypt", b"", &right).exits(0);
    assert!(folder.read("k.key").starts_with(b"-----BEGIN ENCRYPTED PRIVATE KEY-----"));
    folder.write("file", "content");
    folder.run_with("key show k.key", b"", &wrong).exits(1).tells("k.key: wrong passphrase");
    let shown = folder.run_with("key show k.key --json", b"", &right).exits(0).json();
    assert_eq!(shown["encrypted"], true);
    folder.run_with("sign -k k.key file", b"", &right).exits(0);
    folder.run("verify -k k.pub file").exits(0);
    // Protection is given up only when that is said.
    folder.run_with("key convert k.key -o open.key", b"", &right).exits(2).tells("--decrypt");
    folder.run_with("key convert k.key -o open.key --decrypt", b"", &right).exits(0);
    folder.run("key show open.key").exits(0);
    // An empty passphrase, and nobody to ask.
    folder
        .run_with("key gen --alg ml-dsa-44 -o e.key --encrypt", b"", &[("GAMBESON_PASSPHRASE", "")])
        .exits(2);
    assert!(!folder.exists("e.key"));
}

#[cfg(unix)]
#[test]
fn a_passphrase_comes_from_a_descriptor() {
    let folder = Folder::new();
    // Standard input is a descriptor too.
    folder
        .run_with("key gen --alg ml-kem-512 -o k.key --encrypt --passphrase-fd 0", b"first\n", &[])
        .exits(0);
    folder.run_with("key show k.key --passphrase-fd 0", b"first", &[]).exits(0);
    folder.run_with("key show k.key --passphrase-fd 0", b"second\n", &[]).exits(1);
    // A new passphrase from one place, the old one from another.
    let old = [("GAMBESON_PASSPHRASE", "first")];
    folder.run_with("key convert k.key -o n.key --encrypt --new-passphrase-fd 0", b"second\n", &old).exits(0);
    folder.run_with("key show n.key --passphrase-fd 0", b"second\n", &[]).exits(0);
    folder.run_with("key show n.key", b"", &old).exits(1);
    folder.run("key show k.key --passphrase-fd 99").exits(3);
}

#[test]
fn a_passphrase_is_never_an_argument() {
    let folder = Folder::new();
    folder.run("key gen --alg ml-dsa-44 -o k.key --passphrase secret").exits(2);
    folder.run("key gen --alg ml-dsa-44 -o k.key --passphrase-fd 3").exits(2).tells("--encrypt");
    assert!(folder.names().is_empty());
}

#[test]
fn wrong_kinds_of_keys_are_named() {
    let folder = Folder::new();
    for algorithm in ["ml-kem-768", "ml-dsa-65", "x-wing"] {
        folder.run(&format!("key gen --alg {algorithm} -o {algorithm}.key -p {algorithm}.pub")).exits(0);
    }
    folder.write("file", "content");
    folder.write("file.sig", "signature");
    folder.run("sign -k ml-kem-768.key file -o s").exits(2).tells("ml-kem-768.key: is an ML-KEM-768 key");
    folder.run("sign -k ml-dsa-65.pub file -o s").exits(2).tells("is a public key");
    folder.run("sign -k x-wing.key file -o s").exits(2).tells("X-Wing");
    folder.run("verify -k x-wing.pub file").exits(2);
    folder.run("kem encaps -k ml-dsa-65.pub -c c -s s").exits(2).tells("ML-DSA-65");
    folder.run("kem decaps -k ml-kem-768.pub -c file -s s").exits(2).tells("is a public key");
    folder.run("key convert x-wing.key -o c").exits(2).tells("one form");
    folder.run("key convert ml-dsa-65.pub -o c --form both").exits(2).tells("public key");
    folder.run("key gen --alg x-wing --format pem -o c").exits(2);
    folder.run("key gen --alg x-wing --encrypt -o c").exits(2);
    folder.run("key gen --alg ml-dsa-44 -o c -p c").exits(2);
    folder.run("key gen --alg rsa -o c").exits(2).tells("ml-dsa-65");
    assert!(!folder.exists("c") && !folder.exists("s"));
}

#[test]
fn files_that_are_no_keys_are_named() {
    let folder = Folder::new();
    folder.run("key gen --alg ml-dsa-44 -o a.key -p a.pub").exits(0);
    folder.write("two", [folder.read("a.pub"), folder.read("a.pub")].concat());
    folder.run("key show two").exits(3).tells("two: holds two public keys");
    folder.run("key show missing.key").exits(3).tells("missing.key");
    folder.run("key show .").exits(3).tells("directory");
    for (name, content) in [
        ("empty", &b""[..]),
        ("text", b"not a key"),
        ("pem", b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"),
        ("der", b"\x30\x03\x02\x01\x00"),
        ("binary", b"\xff\xfe\xfd"),
        ("age", b"AGE-SECRET-KEY-PQ-1QQQQ\n"),
    ] {
        folder.write(name, content);
        folder.run(&format!("key show {name}")).exits(3).tells(name);
    }
    folder.write("huge", vec![b' '; 5 << 20]);
    folder.run("key show huge").exits(3).tells("too long");
    folder.run("key gen --alg ml-dsa-44 -o nowhere/k.key").exits(3).tells("nowhere/k.key");
}

#[test]
fn a_key_may_come_from_standard_input_and_go_to_standard_output() {
    let folder = Folder::new();
    let key = folder.run("key gen --alg ml-dsa-44 -o -").exits(0).stdout;
    assert!(key.starts_with(b"-----BEGIN PRIVATE KEY-----"));
    let public = folder.run_with("key public -", &key, &[]).exits(0).stdout;
    assert!(public.starts_with(b"-----BEGIN PUBLIC KEY-----"));
    folder.run_with("key show -", &public, &[]).exits(0);
    folder.run("key gen --alg ml-dsa-44 -o - -p -").exits(2);
    assert!(folder.names().is_empty());
}

#[test]
fn both_sides_of_a_key_encapsulation_get_one_secret() {
    let folder = Folder::new();
    for algorithm in ["ml-kem-512", "ml-kem-768", "ml-kem-1024", "x-wing"] {
        folder.run(&format!("key gen --alg {algorithm} -o k.key -p k.pub --force")).exits(0);
        folder.run("kem encaps -k k.pub -c k.ct -s ours --force").exits(0);
        folder.run("kem decaps -k k.key -c k.ct -s theirs --force").exits(0);
        assert_eq!(folder.read("ours").len(), 32);
        assert_eq!(folder.read("ours"), folder.read("theirs"), "{algorithm}");
        // Implicit rejection: another secret, no error.
        folder.tamper("k.ct");
        folder.run("kem decaps -k k.key -c k.ct -s rejected --force").exits(0);
        assert_ne!(folder.read("ours"), folder.read("rejected"), "{algorithm}");
        folder.write("k.ct", "short");
        folder.run("kem decaps -k k.key -c k.ct -s x").exits(3).tells("k.ct: has 5 bytes");
        folder.run("kem encaps -k k.pub -c ours -s y").exits(3).tells("ours: exists already");
        assert!(!folder.exists("x") && !folder.exists("y"));
    }
}

#[test]
fn errors_are_json_too_when_asked() {
    let folder = Folder::new();
    let mut command = folder.command();
    command.args(["--json", "key", "show", "missing"]);
    let report = finish(command, b"").exits(3).json();
    assert_eq!(report["exitStatus"], 3);
    assert!(report["detail"].as_str().unwrap().contains("missing"));
}

const OLD: (&str, &str) = ("GAMBESON_PASSPHRASE", "six words that nobody else knows");
const NEW: (&str, &str) = ("GAMBESON_NEW_PASSPHRASE", "six other words that nobody knows");

#[test]
fn the_passphrase_of_a_key_is_changed_in_place() {
    let folder = Folder::new();
    for (alg, format) in [("ml-dsa-65", "--format pem"), ("ml-kem-768", "--format der"), ("x-wing", "")] {
        folder.run_with(&format!("key gen --alg {alg} {format} --encrypt -o {alg}"), b"", &[OLD]).exits(0);
        let fingerprint = |passphrase: &str| {
            let shown = folder.run_with(
                &format!("key show {alg} --json"),
                b"",
                &[("GAMBESON_PASSPHRASE", passphrase)],
            );
            shown.exits(0).json()["fingerprint"].clone()
        };
        let before = fingerprint(OLD.1);
        folder.run_with(&format!("key passwd {alg}"), b"", &[OLD, NEW]).exits(0);
        assert_eq!(fingerprint(NEW.1), before);
        folder.run_with(&format!("key show {alg}"), b"", &[OLD]).exits(1).tells("wrong passphrase");
        #[cfg(unix)]
        assert_eq!(folder.mode(alg), 0o600);
        // The old one again, by its wrong name.
        folder.run_with(&format!("key passwd {alg}"), b"", &[OLD, NEW]).exits(1);
    }
    folder.run("key gen --alg ml-dsa-44 -o plain -p plain.pub").exits(0);
    folder.run_with("key passwd plain", b"", &[NEW]).exits(0);
    folder.run_with("key show plain", b"", &[("GAMBESON_PASSPHRASE", NEW.1)]).exits(0);
    folder.run_with("key passwd plain.pub", b"", &[NEW]).exits(2).tells("public key");
}

#[test]
fn a_weak_passphrase_is_warned_of() {
    let folder = Folder::new();
    for weak in ["x", "password", "aaaaaaaaaaaaaaaaaaaa"] {
        let made = folder.run_with(
            "key gen --alg ml-dsa-44 --encrypt -o key --force",
            b"",
            &[("GAMBESON_PASSPHRASE", weak)],
        );
        made.exits(0).tells("warning: the passphrase is weak");
    }
    let made = folder.run_with("key gen --alg ml-dsa-44 --encrypt -o key --force", b"", &[OLD]).exits(0);
    assert_eq!(made.stderr, "");
    folder.run_with("seal -p key -o sealed", b"", &[("GAMBESON_PASSPHRASE", "x")]).exits(0).tells("weak");
}
