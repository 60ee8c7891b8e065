//! `provider …` with settings, modules and programs that would leave the algorithms unused.

use crate::program::{Folder, has_program};
use std::process::Command;

fn openssl_is_there() -> bool {
    has_program("openssl", &["version"])
}

const CONF: &str = "here/etc/gambeson-openssl.cnf";

/// OpenSSL ignores the whole list for one name that it does not know, and offers its own groups.
#[test]
fn a_list_of_groups_with_a_bad_name_is_refused_and_the_nearest_name_is_told() {
    let folder = Folder::new();
    for (list, parts) in [
        ("x25519mlkem768", &["\"x25519mlkem768\"", "X25519MLKEM768"][..]),
        ("X25519:X25519MLKEM999", &["\"X25519MLKEM999\"", "X25519MLKEM768"]),
        ("X25519MLKEM768:NOPE", &["\"NOPE\"", "nearest"]),
        ("X25519MLKEM768:p-256", &["\"p-256\"", "P-256"]),
        ("X25519MLKEM768:secp256R1", &["\"secp256R1\"", "secp256r1"]),
        ("SecP256r1MLKEM1024", &["\"SecP256r1MLKEM1024\"", "SecP384r1MLKEM1024"]),
        ("X25519MLKEM768,X25519", &["colon"]),
        ("X25519MLKEM768;X25519", &["colon"]),
        ("X25519MLKEM768 X25519", &["colon"]),
        ("", &["no group"]),
        (" ", &["no group"]),
        (":", &["no group"]),
        ("X25519MLKEM768::X25519", &["no group"]),
        ("X25519MLKEM768:", &["no group"]),
        ("X25519MLKEM768:P-256:secp256r1", &["\"secp256r1\"", "twice"]),
        ("X25519MLKEM768:X25519MLKEM768", &["twice"]),
        ("?X25519MLKEM768", &["\"?X25519MLKEM768\"", "X25519MLKEM768"]),
        ("X25519MLKEM768\u{200b}", &["\\u{200b}", "X25519MLKEM768"]),
    ] {
        for command in ["run", "install"] {
            let mut arguments = vec!["provider", command, "--groups", list];
            arguments.extend(if command == "run" { ["--", "true"] } else { ["--prefix", "here"] });
            let refused = folder.run_arguments(&arguments).exits(2);
            parts
                .iter()
                .for_each(|part| assert!(refused.stderr.contains(part), "{list}: {}", refused.stderr));
        }
    }
    assert!(!folder.exists("here"));
}

#[test]
fn every_name_of_a_group_is_taken_by_openssl() {
    if !openssl_is_there() {
        return;
    }
    let folder = Folder::new();
    for list in [
        "X25519MLKEM768:X448MLKEM1024:X448MLKEM768:SecP256r1MLKEM768:SecP384r1MLKEM1024",
        "MLKEM512:MLKEM768:MLKEM1024",
        "X25519:X448:P-256:P-384:P-521:ffdhe2048:ffdhe3072:ffdhe4096:ffdhe6144:ffdhe8192",
        "x25519:x448:secp256r1:secp384r1:secp521r1",
        "prime256v1:brainpoolP256r1:brainpoolP384r1:brainpoolP512r1",
        " X25519MLKEM768 : X25519 ",
    ] {
        folder.run_arguments(&["provider", "run", "--groups", list, "--", "openssl", "version"]).exits(0);
    }
}

#[test]
fn a_module_that_is_no_provider_is_refused() {
    if !openssl_is_there() {
        return;
    }
    let folder = Folder::new();
    folder.write("text.so", "no module");
    folder.write("empty.so", "");
    std::fs::create_dir(folder.path("folder.so")).unwrap();
    let library = ["/lib/x86_64-linux-gnu/libc.so.6", "/lib64/libc.so.6"];
    let library = library.into_iter().find(|path| std::path::Path::new(path).is_file());
    for module in ["text.so", "empty.so", "folder.so"].into_iter().chain(library) {
        let refused = folder.run(&format!("provider run --module {module} -- touch ran"));
        assert!(refused.code != 0 && refused.stderr.contains(module), "{module}: {refused:?}");
        assert!(!folder.exists("ran"), "{module}");
    }
}

/// A library for TLS that is not OpenSSL: the provider is not there, whatever `OPENSSL_CONF` says.
#[cfg(target_os = "linux")]
#[test]
fn a_program_with_another_library_for_tls_is_refused() {
    if !openssl_is_there() || !has_program("wget", &["--version"]) {
        return;
    }
    let libraries = Command::new("sh").args(["-c", "ldd \"$(command -v wget)\""]).output().unwrap();
    if !String::from_utf8_lossy(&libraries.stdout).contains("libgnutls.so") {
        return;
    }
    let folder = Folder::new();
    folder.run("provider run -- wget --version").exits(2).tells("wget").tells("GnuTLS");
    let path = Command::new("sh").args(["-c", "command -v wget"]).output().unwrap().stdout;
    let path = String::from_utf8(path).unwrap();
    folder.run(&format!("provider run -- {} --version", path.trim())).exits(2).tells("GnuTLS");
    // A program that starts it runs, and what became of the provider is said behind it.
    folder.run("provider run -- env wget --version").exits(0).tells("no program has used OpenSSL");
}

#[cfg(target_os = "linux")]
#[test]
fn a_command_that_did_not_use_openssl_is_told_of() {
    if !openssl_is_there() {
        return;
    }
    let folder = Folder::new();
    folder.run("provider run -- true").exits(0).tells("no program has used OpenSSL");
    folder.write("script.sh", "#!/bin/sh\nopenssl version\nexit 7\n");
    let used = folder.run("provider run -- sh script.sh").exits(7);
    assert!(used.stderr.is_empty(), "{}", used.stderr);
}

#[test]
fn a_group_that_openssl_does_not_know_is_found_by_status() {
    if !openssl_is_there() {
        return;
    }
    let folder = Folder::new();
    folder.run("provider install --prefix here").exits(0);
    let good = String::from_utf8(folder.read(CONF)).unwrap();
    let line = good.lines().find(|line| line.starts_with("Groups = ")).unwrap();
    for (bad, parts) in [
        ("Groups = FOO", &["FOO"][..]),
        ("Groups = X25519MLKEM768:x25519mlkem768", &["x25519mlkem768", "X25519MLKEM768"]),
        ("Groups =", &["Groups"]),
        ("groups = X25519MLKEM768,X25519", &["X25519MLKEM768,X25519"]),
        ("Groups = X25519MLKEM768\nCurves = NOPE", &["NOPE"]),
        ("Groups = X25519MLKEM768\n1.Groups = NOPE", &["NOPE"]),
    ] {
        folder.write(CONF, good.replace(line, bad));
        let told = folder.run("provider status --prefix here --json").exits(1).json();
        let error = told["detail"].as_str().unwrap();
        parts.iter().for_each(|part| assert!(error.contains(part), "{bad}: {error}"));
    }
    folder.write(CONF, good.replace(line, "Groups = X25519MLKEM768:secp256r1"));
    folder.run("provider status --prefix here").exits(0);
}

/// A list that is replaced by ours was meant to hold, and its mistake is told.
#[test]
fn a_bad_group_in_an_existing_configuration_is_told() {
    if !openssl_is_there() {
        return;
    }
    let folder = Folder::new();
    let sections = "openssl_conf = o\n[o]\nssl_conf = s\n[s]\nsystem_default = y\n[y]\n";
    for (line, part) in [
        ("Groups = FOO", "\"FOO\""),
        ("Groups = X25519:x25519mlkem768", "X25519MLKEM768"),
        ("Curves = X25519,P-256", "\"X25519,P-256\""),
    ] {
        folder.write("mine.cnf", format!("{sections}{line}\n"));
        let run = folder.run_with("provider run -- touch ran", b"", &[("OPENSSL_CONF", "mine.cnf")]);
        run.exits(2).tells("mine.cnf").tells(part);
        let installed = folder.run("provider install --prefix here --conf mine.cnf").exits(2);
        installed.tells("mine.cnf").tells(part);
        assert!(!folder.exists("ran") && !folder.exists(CONF));
        assert_eq!(folder.read("mine.cnf"), format!("{sections}{line}\n").as_bytes());
    }
    folder.write("mine.cnf", format!("{sections}Groups = secp384r1:X448MLKEM1024\n"));
    folder.run_with("provider run -- openssl version", b"", &[("OPENSSL_CONF", "mine.cnf")]).exits(0);
}

#[test]
fn status_tells_a_configuration_that_is_not_ours_from_one_that_is_missing() {
    if !openssl_is_there() {
        return;
    }
    let folder = Folder::new();
    let error = |folder: &Folder| {
        let told = folder.run("provider status --prefix here --json").exits(1).json();
        told["detail"].as_str().unwrap().to_owned()
    };
    let neither = error(&folder);
    assert!(neither.contains("nothing is installed"), "{neither}");
    folder.run("provider install --prefix here").exits(0);
    let good = folder.read(CONF);
    folder.write(CONF, "");
    let empty = error(&folder);
    assert!(empty.contains("gambeson-openssl.cnf is empty") && !empty.contains("there is no"), "{empty}");
    folder.write(CONF, "# of somebody else\n");
    let other = error(&folder);
    assert!(other.contains("was not written by") && !other.contains("there is no"), "{other}");
    folder.run("provider uninstall --prefix here").exits(0);
    assert_eq!(folder.read(CONF), b"# of somebody else\n");
    folder.write(CONF, good);
    let module = std::fs::read_dir(folder.path("here/lib")).unwrap().next().unwrap().unwrap().path();
    std::fs::remove_file(module).unwrap();
    let gone = error(&folder);
    assert!(gone.contains("there is no") && gone.contains("/lib/") && !gone.contains("/etc/"), "{gone}");
}

#[test]
fn a_list_of_an_existing_configuration_is_not_replaced_in_silence() {
    if !openssl_is_there() {
        return;
    }
    let folder = Folder::new();
    folder.write(
        "existing.cnf",
        "openssl_conf = init\n[init]\nssl_conf = tls\n[tls]\nsystem_default = own\n[own]\nGroups = X448:P-521\n",
    );
    let existing = folder.path("existing.cnf");
    let existing = [("OPENSSL_CONF", existing.to_str().unwrap())];
    let told = folder.run_with("provider run -- openssl version", b"", &existing).exits(0);
    told.tells("X448:P-521").tells("--groups");
    let install = folder.run_with("provider install --prefix opt --conf existing.cnf", b"", &[]).exits(0);
    install.tells("X448:P-521");
}
