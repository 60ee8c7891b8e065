//! Exchange of keys, ciphertexts and signatures between firmware and its peers, RustCrypto and liboqs.

use super::image;
use crate::run::{Workspace, installed};
use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::Path;

/// Returns what this machine lacks. liboqs is C.
pub fn missing(full: bool) -> Option<&'static str> {
    let tools: &[_] = if full { &["cc", "cmake", "clang"] } else { &[] };
    image::missing().or_else(|| tools.iter().copied().find(|tool| !installed(tool)))
}

/// Exchanges keys, ciphertexts, secrets and signatures of every set, in both profiles, on both processors: with RustCrypto, and with
/// `full` with liboqs, too.
pub fn check(workspace: &Workspace, full: bool) -> Result<String> {
    let peers_of = if full { 2 } else { 1 };
    let mut build = workspace.cargo(&["build", "--quiet", "--release", "--locked"]);
    build.args(["--manifest-path", "interop/firmware/Cargo.toml"]);
    if !full {
        build.arg("--no-default-features");
    }
    workspace.logged("firmware-peers-build", &mut build)?;
    let peers = workspace.built("release", "gambeson-firmware-peers");
    let mut said = Vec::new();
    for target in image::TARGETS {
        let package = "gambeson-firmware-exchange";
        let image = image::build(workspace, target, package, package, &[])?;
        let folder = image.path.parent().context("a program lies in a folder")?;
        let answers = folder.join("answers");
        if answers.exists() {
            fs::remove_file(&answers)?;
        }
        ensure!(image.run(workspace, None)?.contains("met 0 answers"), "nothing was there to be met");
        let judged = judged(workspace, &peers, folder, peers_of)?;
        let met = image.run(workspace, None)?;
        let expected = format!("met {} answers", 12 * peers_of);
        ensure!(met.contains(&expected), "{peers_of} peers answer each of twelve:\n{met}");
        // The last byte is of a signature.
        let mut changed = fs::read(&answers)?;
        *changed.last_mut().context("answers have bytes")? ^= 1;
        fs::write(&answers, changed)?;
        let seen = !image.tried(workspace, None, None)?.0;
        ensure!(seen, "canary: a bit of the answers was changed, and not seen");
        said.push(format!("{}: {judged}, {}", target.name, met.trim()));
    }
    Ok(said.join("; "))
}

/// What the peers say of the file `made` in the folder; they write `answers`.
fn judged(workspace: &Workspace, peers: &Path, folder: &Path, count: usize) -> Result<String> {
    let text = workspace.logged("firmware-peers", workspace.command(peers, &[]).arg(folder))?;
    let expected = format!("accepted {}, refused {}", 18 * count, 36 * count);
    let met = text.starts_with(&expected);
    ensure!(met, "{count} peers, twelve times, and a canary for each piece:\n{text}");
    Ok(format!("{} {}", ["RustCrypto", "RustCrypto and liboqs"][count - 1], text.trim()))
}
