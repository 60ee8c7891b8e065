//! What firmware made, put to RustCrypto and liboqs, and their answers to firmware.

use super::image;
use crate::run::{Workspace, installed};
use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::Path;

/// What this machine lacks.
pub fn missing() -> Option<&'static str> {
    image::missing().or_else(|| ["cc", "cmake", "clang"].into_iter().find(|tool| !installed(tool)))
}

/// Keys, ciphertexts, secrets and signatures of every set, in both profiles, on both processors.
pub fn check(workspace: &Workspace) -> Result<String> {
    let mut build = workspace.cargo(&["build", "--quiet", "--release", "--locked"]);
    workspace
        .logged("firmware-peers-build", build.args(["--manifest-path", "interop/firmware/Cargo.toml"]))?;
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
        let judged = judged(workspace, &peers, folder)?;
        let met = image.run(workspace, None)?;
        ensure!(met.contains("met 24 answers"), "two peers answer each of twelve:\n{met}");
        // The last byte is of a signature.
        let mut changed = fs::read(&answers)?;
        *changed.last_mut().context("answers have bytes")? ^= 1;
        fs::write(&answers, changed)?;
        ensure!(
            !image.tried(workspace, None, None)?.0,
            "canary: a bit of the answers was changed, and not seen"
        );
        said.push(format!("{}: {judged}, {}", target.name, met.trim()));
    }
    Ok(said.join("; "))
}

/// What the peers say of the file `made` in the folder; they write `answers`.
fn judged(workspace: &Workspace, peers: &Path, folder: &Path) -> Result<String> {
    let text = workspace.logged("firmware-peers", workspace.command(peers, &[]).arg(folder))?;
    ensure!(
        text.starts_with("accepted 36, refused 72"),
        "two peers, twelve times, and a canary for each piece:\n{text}"
    );
    Ok(format!("RustCrypto and liboqs {}", text.trim()))
}
