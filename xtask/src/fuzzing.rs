//! The fuzz targets, each for a minute.

use crate::run::{Workspace, cargo_tool, empty_folder};
use crate::{answers, demo};
use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Whether the toolchain of the sanitizers is there.
pub fn nightly() -> bool {
    let mut version = Command::new("cargo");
    let output = version.args(["+nightly", "--version"]).env_remove("RUSTUP_TOOLCHAIN").output();
    output.is_ok_and(|output| output.status.success())
}

/// The names in `fuzz/Cargo.toml`.
fn targets(manifest: &str) -> Result<Vec<String>> {
    let manifest: toml::Table = toml::from_str(manifest)?;
    let programs =
        manifest.get("bin").and_then(|it| it.as_array()).context("fuzz/Cargo.toml: no programs")?;
    Ok(programs.iter().filter_map(|it| Some(it.get("name")?.as_str()?.to_owned())).collect())
}

/// Runs every target for so many seconds, or those whose names begin so.
pub fn run(workspace: &Workspace, seconds: u32, wanted: &[String]) -> Result<String> {
    let manifest = fs::read_to_string(workspace.root.join("fuzz/Cargo.toml")).context("fuzz/Cargo.toml")?;
    let program = cargo_tool(workspace, "cargo-fuzz@0.13.2")?;
    let mut names = targets(&manifest)?;
    for prefix in wanted {
        let begins = names.iter().any(|name| name.starts_with(prefix));
        ensure!(begins, "no fuzz target begins with {prefix}: there are {}", names.join(", "));
    }
    if !wanted.is_empty() {
        names.retain(|name| wanted.iter().any(|prefix| name.starts_with(prefix)));
    }
    let mut errors = Vec::new();
    let seeds = workspace.target.join("xtask/seeds");
    sow(workspace, &seeds)?;
    for name in &names {
        let corpus = workspace.root.join("fuzz/corpus").join(name);
        fs::create_dir_all(&corpus)?;
        unpack(workspace, name, &corpus)?;
        let mut fuzz = workspace.command(&program, &["fuzz", "run", "--release", name]);
        fuzz.arg(corpus);
        if seeds.join(name).exists() {
            fuzz.arg(seeds.join(name));
        }
        fuzz.arg("--").arg(format!("-max_total_time={seconds}"));
        fuzz.args(["-timeout=120", "-rss_limit_mb=4096", "-print_final_stats=1"]);
        fuzz.current_dir(workspace.root.join("fuzz")).env("RUSTUP_TOOLCHAIN", "nightly");
        match workspace.logged(&format!("fuzz-{name}"), &mut fuzz) {
            Ok(text) => {
                let runs = text.lines().find_map(|line| line.strip_prefix("stat::number_of_executed_units:"));
                println!("    {name}: {} runs", runs.unwrap_or("?").trim());
            }
            Err(error) => errors.push(format!("{name}: {error:#}")),
        }
    }
    ensure!(errors.is_empty(), "{}", errors.join("\n"));
    Ok(format!("{} targets, {seconds} s each, no finding", names.len()))
}

/// Adds what earlier runs have found of interest, if it was kept.
fn unpack(workspace: &Workspace, name: &str, corpus: &Path) -> Result<()> {
    let kept = workspace.root.join(format!("fuzz/kept/{name}.tar.gz"));
    if kept.exists() {
        let mut tar = workspace.command("tar", &["--extract", "--gzip", "--skip-old-files", "--file"]);
        workspace.logged("fuzz-kept", tar.arg(kept).arg("--directory").arg(corpus))?;
    }
    Ok(())
}

/// Gives the parsers something to start from: keys and files that the program itself writes.
fn sow(workspace: &Workspace, seeds: &Path) -> Result<()> {
    empty_folder(seeds)?;
    let program = demo::build(workspace)?;
    let folder = |name: &str| -> Result<PathBuf> {
        let folder = seeds.join(name);
        fs::create_dir_all(&folder)?;
        Ok(folder)
    };
    let (private, public, encrypted) =
        (folder("pki_private")?, folder("pki_public")?, folder("pki_encrypted")?);
    let tls = folder("tls_keys")?;
    let run = |arguments: &[&str], paths: &[(&str, &Path)]| -> Result<()> {
        let mut make = workspace.command(&program, arguments);
        paths.iter().for_each(|(option, path)| _ = make.arg(option).arg(path));
        make.env("GAMBESON_PASSPHRASE", "passphrase");
        workspace.logged("fuzz-seeds", &mut make).map(drop)
    };
    let generate = |arguments: &[&str], out: &Path, public: &Path| {
        run(&[&["key", "gen"], arguments].concat(), &[("--out", out), ("--public", public)])
    };
    for alg in
        ["ml-kem-512", "ml-kem-1024", "ml-dsa-44", "ml-dsa-65", "ed25519", "ecdsa-p256", "mldsa44-ed25519"]
    {
        for format in ["pem", "der"] {
            let name = format!("{alg}.{format}");
            let options = ["--alg", alg, "--format", format];
            generate(&options, &private.join(&name), &public.join(&name))?;
        }
        // What comes first there tells PKCS#8 from other forms.
        let key = fs::read(private.join(format!("{alg}.der")))?;
        fs::write(tls.join(alg), [&[0], &key[..]].concat())?;
        generate(&["--alg", alg, "--encrypt"], &encrypted.join(alg), &seeds.join(format!("{alg}.pub")))?;
    }
    let certificates = folder("pki_certificate")?;
    for alg in ["ed25519", "ecdsa-p256", "mldsa44-ed25519"] {
        let pki = seeds.join(format!("pki-{alg}"));
        let (root, key) = (pki.join("root.pem"), pki.join("root.key"));
        let server = pki.join("server.pem");
        run(&["cert", "new", "--levels", "3", "--name", "example.com", "--alg", alg], &[("--out", &pki)])?;
        let request = certificates.join(format!("{alg}.csr"));
        run(&["cert", "csr", "--name", "example.com"], &[("--key", &key), ("--out", &request)])?;
        let list = certificates.join(format!("{alg}.crl"));
        let authority = pki.join("authority.pem");
        let revoked: [(&str, &Path); 4] =
            [("--issuer", &root), ("--key", &key), ("--revoke", &authority), ("--out", &list)];
        run(&["cert", "crl"], &revoked)?;
        fs::copy(&server, certificates.join(format!("{alg}.pem")))?;
    }
    let keys = folder("age_keys")?;
    generate(&["--alg", "x-wing"], &keys.join("identity"), &keys.join("recipient"))?;
    let requests = folder("request_line")?;
    for (at, request) in answers::keygen_requests().iter().enumerate() {
        fs::write(requests.join(at.to_string()), request)?;
    }
    for (at, fields) in
        ["Content-Length: 4\r\n\r\nbody", "Transfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n"]
            .iter()
            .enumerate()
    {
        fs::write(folder("http_answer")?.join(at.to_string()), format!("HTTP/1.1 200 OK\r\n{fields}"))?;
        fs::write(
            folder("http_request")?.join(at.to_string()),
            format!("POST / HTTP/1.1\r\nHost: a\r\n{fields}"),
        )?;
    }
    // From 192.0.2.1 to 198.51.100.2, with a protocol; its parts are what is mutated.
    let header =
        b"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x11\xc0\0\x02\x01\xc6\x33\x64\x02\x12\x34\x01\xbb\x01\0\x02h2";
    Ok(fs::write(folder("proxy_header")?.join("v4"), header)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn target_names_are_read() {
        let manifest =
            "[package]\nname = \"fuzz\"\n[[bin]]\nname = \"a\"\npath = \"a.rs\"\n[[bin]]\nname = \"b\"\n";
        assert_eq!(targets(manifest).expect("TOML"), ["a", "b"]);
    }
}
