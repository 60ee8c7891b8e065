//! `provider …`: programs of this machine with our algorithms.

#![allow(clippy::unwrap_used)]

mod program;

use program::Folder;
use std::process::{Command, Stdio};

/// Whether OpenSSL's program is there; without it these tests have nothing to run.
fn openssl_is_there() -> bool {
    let there =
        Command::new("openssl").arg("version").stdout(Stdio::null()).status().is_ok_and(|s| s.success());
    assert!(there || std::env::var_os("CI").is_none(), "openssl is missing");
    if !there {
        println!("skipped: openssl is not on this machine");
    }
    there
}

/// What `openssl` says without us, with a configuration or with the machine's.
fn openssl(folder: &Folder, configuration: Option<&str>, arguments: &[&str]) -> String {
    let mut command = Command::new("openssl");
    command.args(arguments).env_remove("OPENSSL_CONF");
    if let Some(name) = configuration {
        command.env("OPENSSL_CONF", folder.path(name));
    }
    String::from_utf8(command.output().unwrap().stdout).unwrap()
}

#[test]
fn a_command_runs_with_the_provider_and_nothing_stays() {
    if !openssl_is_there() {
        return;
    }
    let folder = Folder::new();
    let listed = folder.run("provider run -- openssl list -providers").exits(0);
    assert!(listed.text().contains("gambeson: post-quantum"), "{}", listed.text());
    // The machine's configuration is there, too: `req` takes its names from it.
    folder
        .run(
            "provider run -- openssl req -x509 -newkey ML-DSA-65 -nodes -keyout a.key -subj /CN=A -out a.pem",
        )
        .exits(0);
    folder.run("provider run -- openssl verify -CAfile a.pem a.pem").exits(0);
    assert!(!openssl(&folder, None, &["list", "-providers"]).contains("gambeson"));
    // The configuration is gone with the command.
    let named = folder.run("provider run -- printenv OPENSSL_CONF").exits(0);
    let named = named.text().trim();
    assert!(named.ends_with("openssl.cnf") && !std::path::Path::new(named).exists(), "{named}");
}

#[test]
fn the_exit_status_is_that_of_the_command() {
    let folder = Folder::new();
    folder.write("exit.sh", "exit $1");
    folder.run("provider run -- sh exit.sh 7").exits(7);
    folder.write("die.sh", "kill -9 $$");
    folder.run("provider run -- sh die.sh").exits(137);
    folder.run("provider run -- ./there-is-no-such-program").exits(3).tells("there-is-no-such-program");
    folder.run("provider run").exits(2);
}

#[test]
fn a_module_that_is_not_there_is_named() {
    let folder = Folder::new();
    folder.run("provider run --module nothing.so -- true").exits(3).tells("nothing.so");
}

#[test]
fn an_installation_works_is_asked_for_its_status_and_goes_without_a_trace() {
    if !openssl_is_there() {
        return;
    }
    let folder = Folder::new();
    folder.run("provider status --prefix here").exits(1);
    folder.run("provider install --prefix here").exits(0);
    let report = folder.run("provider status --prefix here --json").exits(0).json();
    assert_eq!(report["active"], true);
    let conf = "here/etc/gambeson-openssl.cnf";
    assert!(openssl(&folder, Some(conf), &["list", "-providers"]).contains("gambeson: post-quantum"));
    // Again is no harm.
    folder.run("provider install --prefix here").exits(0);
    folder.run("provider uninstall --prefix here").exits(0);
    assert!(!folder.exists(conf) && !folder.exists("here/lib/libgambeson_openssl.so"));
    folder.run("provider status --prefix here").exits(1);
    folder.run("provider uninstall --prefix here").exits(0);
}

#[test]
fn files_of_others_are_kept_and_come_back() {
    if !openssl_is_there() {
        return;
    }
    let folder = Folder::new();
    std::fs::create_dir_all(folder.path("here/etc")).unwrap();
    let conf = "here/etc/gambeson-openssl.cnf";
    folder.write(conf, "# mine\n");
    // A configuration in use, which names its own sections.
    let mine = "openssl_conf = mine\n[mine]\nproviders = some\n[some]\nlegacy = old\n[old]\nactivate = 1";
    folder.write("openssl.cnf", mine);
    folder.run("provider install --prefix here --conf openssl.cnf").exits(0);
    assert_eq!(folder.read("here/etc/gambeson-openssl.cnf.before-gambeson"), b"# mine\n");
    assert_eq!(folder.read("openssl.cnf.before-gambeson"), mine.as_bytes());
    let listed = openssl(&folder, Some("openssl.cnf"), &["list", "-providers"]);
    assert!(["  default", "  legacy", "  gambeson"].iter().all(|name| listed.contains(name)), "{listed}");
    folder.run("provider status --prefix here --conf openssl.cnf").exits(0);
    // A change that came after stays.
    let now = String::from_utf8(folder.read("openssl.cnf")).unwrap();
    folder.write("openssl.cnf", now + "# later\n");
    folder.run("provider uninstall --prefix here --conf openssl.cnf").exits(0);
    assert_eq!(folder.read("openssl.cnf"), format!("{mine}\n# later\n").as_bytes());
    assert_eq!(folder.read(conf), b"# mine\n");
    assert!(!folder.exists("openssl.cnf.before-gambeson"));
    // What a second backup would overwrite is left alone.
    folder.write("here/etc/gambeson-openssl.cnf.before-gambeson", "# older\n");
    folder.run("provider install --prefix here").exits(3).tells("would be overwritten");
    assert_eq!(folder.read(conf), b"# mine\n");
}

#[test]
fn a_module_that_does_not_load_is_not_left_behind() {
    if !openssl_is_there() {
        return;
    }
    let folder = Folder::new();
    folder.write("broken.so", "no module");
    folder.write("openssl.cnf", "# mine\n");
    folder
        .run("provider install --prefix here --conf openssl.cnf --module broken.so")
        .exits(1)
        .tells("taken away again");
    assert!(
        !folder.exists("here/etc/gambeson-openssl.cnf") && !folder.exists("here/lib/libgambeson_openssl.so")
    );
    assert_eq!(folder.read("openssl.cnf"), b"# mine\n");
}
