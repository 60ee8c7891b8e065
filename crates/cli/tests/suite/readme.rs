//! The minutes of the front page that need nothing but the program, run as they are printed.

use crate::program::serving::free_port;
use crate::program::{Folder, Outcome, finish, has_program};
use std::path::Path;
use std::process::Command;

/// The lines for the shell under a heading of the front page.
fn minute(heading: &str) -> String {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    let page = std::fs::read_to_string(page).unwrap();
    let (_, below) = page.split_once(&format!("\n## {heading}\n")).unwrap();
    let (_, lines) = below.split_once("```sh\n").unwrap();
    lines.split_once("```").unwrap().0.to_owned()
}

/// What a shell does with these lines: the first that fails ends it, and what still runs with it.
fn done(lines: &str) -> Outcome {
    let folder = Folder::new();
    let program = Path::new(env!("CARGO_BIN_EXE_gambeson")).parent().unwrap().to_owned();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths([program].into_iter().chain(std::env::split_paths(&path))).unwrap();
    let mut shell = Command::new("bash");
    shell
        .args(["-euc", &format!("trap 'kill $(jobs -p) 2> /dev/null || true' EXIT\n{lines}")])
        .current_dir(folder.path(""))
        .env("PATH", path)
        .env("TMPDIR", folder.path(""));
    shell.env_remove("GAMBESON_PASSPHRASE").env_remove("GAMBESON_HOME");
    finish(shell, b"")
}

#[test]
fn the_minute_of_agents_runs_as_printed() {
    let told = done(&minute("A minute for a builder of agents")).exits(0);
    let text = told.text();
    for line in ["not twice", "not any more"] {
        assert!(text.lines().any(|told| told == line), "no {line:?} in {text}");
    }
    assert_eq!(text.lines().filter(|line| *line == "meet at noon").count(), 2, "{text}");
    assert_eq!(text.matches("NOT VERIFIED").count(), 2, "{text}");
}

#[test]
fn the_minute_of_operators_runs_as_printed() {
    let needed = [("curl", "--version"), ("openssl", "version"), ("python3", "--version")];
    if !needed.iter().all(|(program, version)| has_program(program, &[version])) {
        return;
    }
    let mut lines = minute("A minute for an operator of TLS");
    // Ports that nobody has, time for a machine that is busy, and two rounds of what a person waits for.
    for (printed, run) in [
        ("tls serve --cert", "tls serve --listen 127.0.0.1:8443 --cert"),
        ("sleep 1\n", "sleep 4\n"),
        ("tls bench --matrix", "tls bench --matrix --rounds 2"),
        ("8443", "<A>"),
        ("8444", "<B>"),
        ("8445", "<E>"),
        ("8080", "<C>"),
        ("8081", "<D>"),
    ] {
        assert!(lines.contains(printed), "no {printed:?} in {lines}");
        lines = lines.replace(printed, run);
    }
    for place in ["<A>", "<B>", "<C>", "<D>", "<E>"] {
        lines = lines.replace(place, &free_port().to_string());
    }
    let told = done(&lines).exits(0).tells("X448MLKEM1024").tells("mldsa87_ed448_shake256");
    for line in ["gambeson: TLS 1.3, X448MLKEM1024", "gambeson: TLS 1.3, X25519MLKEM768", "hello"] {
        assert!(told.text().lines().any(|told| told == line), "no {line:?} in {}", told.text());
    }
}

#[test]
fn the_minute_of_the_program_runs_as_printed() {
    let lines = minute("A minute with the program");
    let (build, lines) = lines.split_once('\n').unwrap();
    assert!(build.starts_with("cargo build "), "the program that runs here was built already");
    let told = done(lines).exits(0);
    assert!(told.text().contains("kernels:"), "{}", told.text());
}
