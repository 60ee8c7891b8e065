//! SLIM: channels over stock nodes, which come from a wheel, and what their tests need.

use crate::run::{Workspace, installed};
use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};

/// The environment variable that names a Python with the wheel, of which nodes are made.
pub const PYTHON: &str = "GAMBESON_SLIM_PYTHON";

/// What this machine lacks for SLIM's crates and nodes, with the line that brings it.
pub fn missing() -> Option<&'static str> {
    let all = ["cc", "cmake", "python3"].into_iter().all(installed) && libclang();
    (!all).then_some(
        "what SLIM's crates are built with (apt-get install build-essential cmake libclang-dev python3-venv)",
    )
}

/// Whether there is a libclang where the build looks for one.
fn libclang() -> bool {
    let named = std::env::var_os("LIBCLANG_PATH").map(PathBuf::from);
    let below = |folder: &str| fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let llvm =
        below("/usr/lib").filter(|path| path.to_string_lossy().contains("llvm")).map(|path| path.join("lib"));
    let system = below("/usr/lib").filter(|path| path.to_string_lossy().contains("-linux-"));
    named.into_iter().chain(llvm).chain(system).chain(["/usr/lib".into(), "/usr/lib64".into()]).any(
        |folder| {
            let is_it = |path: &Path| {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                name.starts_with("libclang.") || name.starts_with("libclang-")
            };
            fs::read_dir(folder).into_iter().flatten().flatten().any(|entry| is_it(&entry.path()))
        },
    )
}

/// A Python that has the wheel, of the version that the crate was tried with: installed into the target folder once.
pub fn python(workspace: &Workspace) -> Result<PathBuf> {
    let source = fs::read_to_string(workspace.root.join("crates/slim/src/stock.rs"))?;
    let version = source.split("pub const WHEEL: &str = \"").nth(1).and_then(|rest| rest.split('"').next());
    let wheel =
        format!("slim-bindings=={}", version.context("crates/slim names no version of slim-bindings")?);
    let (folder, note) = (workspace.target.join("slim"), workspace.target.join("slim/installed.txt"));
    let python = folder.join("bin/python");
    if fs::read_to_string(&note).ok().as_deref() != Some(wheel.as_str()) {
        let mut venv = workspace.command("python3", &["-m", "venv", "--clear"]);
        workspace.logged("slim-venv", venv.arg(&folder))?;
        let pip =
            ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--only-binary", ":all:"];
        workspace.logged("slim-wheel", workspace.command(&python, &pip).arg(&wheel))?;
        fs::write(note, wheel)?;
    }
    Ok(python)
}
