//! Files sealed to recipients, and opened.

use crate::program::{Folder, finish, noise};
use std::process::Stdio;

const LONG: usize = 3 << 20;

fn with_keys() -> Folder {
    let folder = Folder::new();
    for name in ["bob", "carol", "eve"] {
        folder.run(&format!("key gen --alg x-wing -o {name}.txt -p {name}.pub")).exits(0);
    }
    folder
}

fn recipient(folder: &Folder, name: &str) -> String {
    String::from_utf8(folder.read(&format!("{name}.pub"))).unwrap().trim().to_owned()
}

#[test]
fn every_recipient_opens_what_was_sealed() {
    let folder = with_keys();
    let content = noise(LONG);
    folder.write("file", &content);
    let bob = recipient(&folder, "bob");
    for armor in ["", "-a"] {
        folder.run(&format!("seal -r {bob} -R carol.pub {armor} file -o sealed --force")).exits(0);
        assert_eq!(folder.read("sealed").starts_with(b"-----BEGIN AGE"), !armor.is_empty());
        for name in ["bob", "carol"] {
            folder.run(&format!("open -i {name}.txt sealed -o opened --force")).exits(0);
            assert_eq!(folder.read("opened"), content);
            std::fs::remove_file(folder.path("opened")).unwrap();
        }
        folder.run("open -i eve.txt -i bob.txt sealed -o opened --force").exits(0);
        folder.run("open -i eve.txt sealed -o other").exits(1).tells("sealed: no identity opens this file");
        assert!(!folder.exists("other"));
    }
}

#[test]
fn streams_are_sealed_and_opened() {
    let folder = with_keys();
    for content in [noise(LONG), Vec::new(), b"x".to_vec()] {
        let sealed = folder.run_with("seal -R bob.pub", &content, &[]).exits(0).stdout;
        let opened = folder.run_with("open -i bob.txt", &sealed, &[]).exits(0).stdout;
        assert_eq!(opened, content);
    }
    assert_eq!(folder.names().len(), 6, "no file was left");
}

#[test]
fn a_file_that_does_not_decrypt_leaves_no_output() {
    let folder = with_keys();
    folder.write("file", noise(LONG));
    folder.run("seal -R bob.pub file -o sealed").exits(0);
    let sealed = folder.read("sealed");
    let before = folder.names();
    let cut = sealed[..sealed.len() - 100_000].to_vec();
    let whole_chunks = sealed[..sealed.len() - LONG % 65_536 - 65_552].to_vec();
    let extended = [&sealed[..], b"x"].concat();
    let mut last = sealed.clone();
    *last.last_mut().unwrap() ^= 1;
    let mut header = sealed.clone();
    header[100] ^= 1;
    for (name, wrong) in [
        ("cut", cut),
        ("cut after a chunk", whole_chunks),
        ("extended", extended),
        ("last byte", last),
        ("header", header),
        ("empty", Vec::new()),
        ("text", b"not an age file".to_vec()),
    ] {
        folder.write("sealed", wrong);
        folder.run("open -i bob.txt sealed -o opened").exits(1).tells("sealed: ");
        assert_eq!(folder.names(), before, "{name}: something was left");
    }
    // An older output stays as it was.
    folder.write("opened", "older");
    folder.run("open -i bob.txt sealed -o opened --force").exits(1);
    assert_eq!(folder.read("opened"), b"older");
}

#[test]
fn the_output_gets_its_name_only_after_the_last_chunk() {
    use std::io::Write;
    let folder = with_keys();
    folder.write("file", noise(LONG));
    folder.run("seal -R bob.pub file -o sealed").exits(0);
    let sealed = folder.read("sealed");
    let mut command = folder.command();
    command.args(["open", "-i", "bob.txt", "-", "-o", "opened"]);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let (most, rest) = sealed.split_at(sealed.len() - 1);
    stdin.write_all(most).unwrap();
    assert!(!folder.exists("opened"), "all but one byte is there");
    stdin.write_all(rest).unwrap();
    drop(stdin);
    assert!(child.wait().unwrap().success());
    assert_eq!(folder.read("opened"), folder.read("file"));
}

#[cfg(unix)]
#[test]
fn an_interrupted_program_leaves_nothing() {
    use std::io::Write;
    let folder = with_keys();
    folder.write("file", noise(LONG));
    folder.run("seal -R bob.pub file -o sealed").exits(0);
    let before = folder.names();
    for signal in ["-INT", "-TERM"] {
        let mut command = folder.command();
        command.args(["open", "-i", "bob.txt", "-", "-o", "opened"]);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(&folder.read("sealed")[..LONG / 2]).unwrap();
        while folder.names() == before {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        let sent =
            std::process::Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
        assert!(sent.success());
        assert_eq!(child.wait().unwrap().code(), Some(130));
        assert_eq!(folder.names(), before, "{signal}");
    }
}

#[test]
fn recipients_that_are_not_post_quantum_are_refused() {
    let folder = with_keys();
    folder.write("file", "content");
    let classical = "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p";
    folder.run(&format!("seal -r {classical} file -o sealed")).exits(2).tells("not post-quantum");
    folder.write("classical.pub", format!("# a friend\n{classical}\n"));
    folder.run("seal -R bob.pub -R classical.pub file -o sealed").exits(2).tells("classical.pub: line 2");
    folder.write(
        "ssh.pub",
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIO5zPmPKYRo0yVSGVC4xBlTSPhGHYg1yVTvHHHcTHgjx x\n",
    );
    folder.run("seal -R ssh.pub file -o sealed").exits(2).tells("not post-quantum");
    folder.run("seal file -o sealed").exits(2).tells("-r");
    folder.run("seal -r age1pq1wrong file -o sealed").exits(2);
    folder.run("seal -r bob.pub file -o sealed").exits(2).tells("-R bob.pub reads recipients from a file");
    let identity = String::from_utf8(folder.read("bob.txt")).unwrap();
    let identity = identity.lines().last().unwrap();
    let refused = folder.run(&format!("seal -r {identity} file -o sealed")).exits(2).tells("private key");
    assert!(!refused.stderr.contains(identity), "a private key is not repeated");
    folder.run("open -i bob.pub file -o opened").exits(3).tells("bob.pub");
    folder.write("empty", "# nobody\n");
    folder.run("seal -R empty file -o sealed").exits(3).tells("empty");
    folder.run("open file -o opened").exits(1).tells("not an age file");
    assert!(!folder.exists("sealed") && !folder.exists("opened"));
}

#[test]
fn missing_files_are_input_output_errors() {
    let folder = with_keys();
    folder.write("file", "content");
    folder.run("seal -R bob.pub missing -o sealed").exits(3).tells("missing");
    folder.run("seal -R missing.pub file -o sealed").exits(3).tells("missing.pub");
    folder.run("open -i missing.txt file -o opened").exits(3).tells("missing.txt");
    folder.run("seal -R bob.pub file -o nowhere/sealed").exits(3).tells("nowhere/sealed");
    folder.run("seal -R bob.pub file -o file").exits(2);
    folder.run("seal -R - - -o sealed").exits(2).tells("standard input");
    assert_eq!(folder.read("file"), b"content");
}

#[cfg(unix)]
#[test]
fn devices_are_written_and_not_replaced() {
    use std::os::unix::fs::FileTypeExt;
    let folder = with_keys();
    folder.write("file", "content");
    folder.run("seal -R bob.pub file -o sealed").exits(0);
    folder.run("open -i bob.txt sealed -o /dev/null").exits(0);
    assert!(std::fs::metadata("/dev/null").unwrap().file_type().is_char_device());
    // A link leads to the file that is replaced.
    folder.write("target", "older");
    std::os::unix::fs::symlink("target", folder.path("link")).unwrap();
    folder.run("open -i bob.txt sealed -o link").exits(3).tells("--force");
    folder.run("open -i bob.txt sealed -o link --force").exits(0);
    assert_eq!(folder.read("target"), b"content");
    assert!(std::fs::symlink_metadata(folder.path("link")).unwrap().file_type().is_symlink());
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_device_is_an_input_output_error() {
    let folder = with_keys();
    folder.write("file", noise(LONG));
    folder.run("seal -R bob.pub file -o /dev/full").exits(3).tells("/dev/full");
}

#[test]
fn a_reader_that_goes_away_ends_the_program_quietly() {
    let folder = with_keys();
    folder.write("file", noise(LONG));
    let mut command = folder.command();
    command.args(["seal", "-R", "bob.pub", "file"]);
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
fn reports_do_not_mix_with_data() {
    let folder = with_keys();
    let mut command = folder.command();
    command.args(["--json", "seal", "-R", "bob.pub", "-", "-o", "-"]);
    let sealed = finish(command, b"content").exits(0);
    assert!(sealed.stdout.starts_with(b"age-encryption.org/v1\n"));
    let report: serde_json::Value = serde_json::from_str(&sealed.stderr).unwrap();
    assert_eq!(report["bytes"], 7);
}

#[test]
fn an_error_does_not_mix_with_data() {
    let folder = with_keys();
    let content = noise(LONG);
    folder.write("file", &content);
    folder.run("seal -R bob.pub file -o sealed").exits(0);
    let sealed = folder.read("sealed");
    folder.write("sealed", &sealed[..sealed.len() - 1]);
    let outcome = folder.run("--json open -i bob.txt sealed").exits(1);
    assert!(content.starts_with(&outcome.stdout), "nothing but content");
    let report: serde_json::Value = serde_json::from_str(outcome.stderr.lines().last().unwrap()).unwrap();
    assert_eq!(report["exitStatus"], 1);
}

#[test]
fn an_identity_is_not_replaced_by_what_it_opens() {
    let folder = with_keys();
    folder.write("file", "content");
    folder.run("seal -R bob.pub file -o sealed").exits(0);
    for name in ["bob.txt", "./bob.txt", "sealed"] {
        folder
            .run(&format!("open -i bob.txt sealed -o {name}"))
            .exits(2)
            .tells("is the input and the output");
    }
    folder.run("seal -R bob.pub file -o bob.pub").exits(2);
    folder.run("open -i bob.txt sealed -o opened").exits(0);
}

#[cfg(unix)]
#[test]
fn what_was_opened_is_its_owners_alone() {
    use std::os::unix::fs::PermissionsExt;
    let folder = with_keys();
    folder.write("file", "content");
    folder.run("seal -R bob.pub file -o sealed").exits(0);
    folder.run("open -i bob.txt sealed -o opened").exits(0);
    assert_eq!((folder.read("opened"), folder.mode("opened")), (b"content".to_vec(), 0o600));
    for older in [0o600, 0o644, 0o666] {
        folder.write("older", "older");
        std::fs::set_permissions(folder.path("older"), PermissionsExt::from_mode(older)).unwrap();
        folder.run("open -i bob.txt sealed -o older --force").exits(0);
        assert_eq!((folder.read("older"), folder.mode("older")), (b"content".to_vec(), 0o600));
    }
}

#[test]
fn an_older_file_is_replaced_with_force_alone() {
    let folder = with_keys();
    folder.write("file", "content");
    folder.run("seal -R bob.pub file -o sealed").exits(0);
    for command in ["seal -R bob.pub file -o older", "open -i bob.txt sealed -o older"] {
        folder.write("older", "older");
        folder.run(command).exits(3).tells("older: exists already; --force replaces it");
        assert_eq!(folder.read("older"), b"older");
        folder.run(&format!("{command} --force")).exits(0);
        assert_ne!(folder.read("older"), b"older");
    }
    // It is refused before anything is read.
    folder.run("seal -R bob.pub missing -o older").exits(3).tells("older: exists already");
    folder.run("open -i missing.txt sealed -o older").exits(3).tells("older: exists already");
}

/// The example of c2sp.org/age.
const X25519: &str = "AGE-SECRET-KEY-1GFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPQ4EGAEX";

#[test]
fn identities_that_open_nothing_here_hinder_nothing() {
    let folder = with_keys();
    folder.write("file", "content");
    folder.run("seal -R bob.pub file -o sealed").exits(0);
    let text = |name: &str| String::from_utf8(folder.read(name)).unwrap();
    let (bob, eve) = (text("bob.txt"), text("eve.txt"));
    let ssh =
        "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEA\n-----END OPENSSH PRIVATE KEY-----\n";
    let plugin = "AGE-PLUGIN-YUBIKEY-1AAAAAAAAAAAAAAAAAAAAAAA";
    folder.write("both", format!("# keys\n{X25519}\n{bob}"));
    folder.write("behind", format!("{bob}\n{X25519}\n{plugin}\n"));
    folder.write("x25519", X25519);
    folder.write("blank", format!("\n \n{bob}"));
    folder.write("ssh", ssh);
    folder.write("plugin", plugin);
    folder.write("others", format!("{eve}\n{X25519}\n"));
    for identities in
        ["-i both", "-i behind", "-i x25519 -i bob.txt", "-i ssh -i plugin -i others -i bob.txt"]
    {
        let opened = folder.run(&format!("open {identities} sealed")).exits(0);
        assert_eq!(opened.stdout, b"content", "{identities}");
    }
    // None is of use: the first says why.
    folder.run("open -i x25519 sealed").exits(2).tells("x25519: line 1: an X25519 identity");
    folder.run("open -i ssh -i x25519 sealed").exits(2).tells("ssh: line 1: an SSH key");
    // None fits: what was passed over may be the one.
    let refused = folder.run("open -i others sealed").exits(1).tells("sealed: no identity opens this file");
    assert!(
        refused.stderr.contains("others: line") && refused.stderr.contains("X25519"),
        "{}",
        refused.stderr
    );
    // A damaged identity is not passed over, nor is what is none.
    folder.write("cut", &bob[..bob.trim_end().len() - 1]);
    folder.run("open -i cut -i bob.txt sealed").exits(3).tells("cut: line");
    folder.write("none", "hello\n");
    folder.run("open -i none -i bob.txt sealed").exits(3).tells("none: line 1: not an age key");
    folder.write("binary", [0xff, 0, 1]);
    folder.run("open -i binary -i bob.txt sealed").exits(3).tells("binary: is not text");
    // Of recipients, all are meant.
    folder.write(
        "mixed.pub",
        format!(
            "{}\nage1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p\n",
            recipient(&folder, "bob")
        ),
    );
    folder.run("seal -R mixed.pub file -o other").exits(2).tells("mixed.pub: line 2");
}

#[test]
fn an_identity_file_under_a_passphrase_asks_for_it() {
    use gambeson_age::{Encryptor, Format, Passphrase, seal};
    use std::io::Write;
    let folder = with_keys();
    folder.write("file", "content");
    folder.run("seal -R bob.pub file -o sealed").exits(0);
    let protected = |identities: &[u8], format| {
        let passphrase = Passphrase::new("correct horse").unwrap().work_factor(4);
        let mut file = Encryptor::with_passphrase(&passphrase, Vec::new(), format).unwrap();
        file.write_all(identities).unwrap();
        file.finish().unwrap()
    };
    let bob = folder.read("bob.txt");
    folder.write("binary.age", protected(&bob, Format::Binary));
    folder.write("armored.age", protected(&bob, Format::Armored));
    folder.write("both.age", protected(&[X25519.as_bytes(), b"\n", &bob].concat(), Format::Binary));
    folder.write("eve.age", protected(&folder.read("eve.txt"), Format::Binary));
    folder.write("x25519.age", protected(X25519.as_bytes(), Format::Binary));
    folder.write("none.age", protected(b"hello", Format::Binary));
    let right = [("GAMBESON_PASSPHRASE", "correct horse")];
    let open = |identities: &str, environment: &[(&str, &str)]| {
        folder.run_with(&format!("open {identities} sealed"), b"", environment)
    };
    for identities in [
        "-i binary.age",
        "-i armored.age",
        "-i both.age",
        "-i eve.age -i x25519.age -i bob.txt",
        "-i eve.age -i armored.age",
    ] {
        assert_eq!(open(identities, &right).exits(0).stdout, b"content", "{identities}");
    }
    // Where another fits first, nobody is asked.
    assert_eq!(open("-i bob.txt -i binary.age", &[]).exits(0).stdout, b"content");
    open("-i binary.age", &[("GAMBESON_PASSPHRASE", "wrong")]).exits(1).tells("binary.age: wrong passphrase");
    open("-i binary.age", &[]).exits(2).tells("a passphrase is needed");
    open("-i eve.age", &right).exits(1).tells("no identity opens this file");
    open("-i x25519.age", &right).exits(2).tells("x25519.age: line 1: an X25519 identity");
    open("-i none.age", &right).exits(3).tells("none.age: line 1: not an age key");
    // A file for recipients is none under a passphrase, and nobody is asked for one.
    let mut other = Vec::new();
    let carol = recipient(&folder, "carol").parse().unwrap();
    seal(&[carol], &bob[..], &mut other, Format::Binary).unwrap();
    folder.write("other.age", other);
    open("-i other.age", &[]).exits(2).tells("other.age: is sealed to recipients, not under a passphrase");
    #[cfg(unix)]
    {
        folder.write("passphrase", "correct horse\n");
        let mut command = folder.command();
        let line = "exec \"$0\" open -i eve.age -i binary.age --passphrase-fd 3 sealed 3< passphrase";
        let program = command.get_program().to_owned();
        command = std::process::Command::new("sh");
        command.current_dir(folder.path(".")).args(["-c", line]).arg(program);
        assert_eq!(finish(command, b"").exits(0).stdout, b"content");
    }
}

#[test]
fn a_tagged_recipient_is_called_what_it_is() {
    let folder = with_keys();
    folder.write("file", "content");
    let refused = folder.run("seal -r age1tagpq1m3e4wvp6hzcrn9 file -o sealed").exits(2).tells("age1tagpq1");
    assert!(!refused.stderr.contains("plugin"), "{}", refused.stderr);
}

#[test]
fn a_file_is_sealed_under_a_passphrase() {
    let folder = Folder::new();
    let content = noise(100_000);
    folder.write("file", &content);
    let right = [("GAMBESON_PASSPHRASE", "six words that nobody else knows")];
    folder.run_with("seal -p file -o sealed", b"", &right).exits(0);
    folder.run_with("open sealed -o opened", b"", &right).exits(0);
    assert_eq!(folder.read("opened"), content);
    let wrong = [("GAMBESON_PASSPHRASE", "other words")];
    let refused = folder.run_with("open sealed -o none --json", b"", &wrong).exits(1).json();
    assert_eq!(refused["reason"], "wrong-passphrase");
    assert!(!folder.exists("none"));
    folder.run("key gen --alg x-wing -o bob.txt -p bob.pub").exits(0);
    folder.run_with("open -i bob.txt sealed -o none", b"", &right).exits(1).tells("without -i");
    folder.run_with("seal -p -R bob.pub file -o more", b"", &right).exits(2);
    folder.run("seal -R bob.pub file -o to-bob").exits(0);
    folder.run_with("open to-bob -o none", b"", &right).exits(2).tells("-i FILE");
}

#[test]
fn an_age_identity_is_made_and_used_under_a_passphrase() {
    let folder = Folder::new();
    let right = [("GAMBESON_PASSPHRASE", "six words that nobody else knows")];
    let run = |line: &str| folder.run_with(line, b"", &right);
    assert_eq!(
        run("key gen --alg x-wing --encrypt -o bob.txt -p bob.pub --json").exits(0).json()["encrypted"],
        true
    );
    assert!(folder.read("bob.txt").starts_with(b"-----BEGIN AGE ENCRYPTED FILE-----"));
    folder.write("file", "content");
    folder.run("seal -R bob.pub file -o sealed").exits(0);
    assert_eq!(run("open -i bob.txt sealed").exits(0).stdout, b"content");
    let shown = run("key show bob.txt --json").exits(0).json();
    assert_eq!((&shown["alg"], &shown["encrypted"]), (&"X-Wing".into(), &true.into()));
    run("key public bob.txt -o again.pub").exits(0);
    assert_eq!(folder.read("again.pub"), folder.read("bob.pub"));
    let wrong = [("GAMBESON_PASSPHRASE", "other words")];
    folder.run_with("key show bob.txt", b"", &wrong).exits(1).tells("wrong passphrase");
}
