//! The stock node of SLIM: its wheel, which the tests of channels start nodes from.

use crate::run::{Workspace, install_once, installed};
use anyhow::{Context, Result};
use std::fs;
use std::path::PathBuf;

/// The environment variable that names a Python with the wheel.
pub const PYTHON: &str = "GAMBESON_SLIM_PYTHON";

/// The program that this machine lacks for a stock node.
pub fn missing() -> Option<&'static str> {
    (!installed("python3")).then_some("python3")
}

/// Returns a Python that has the wheel, in the version that `gambeson-slim` names; installs it into the target folder once.
pub fn python(workspace: &Workspace) -> Result<PathBuf> {
    let source = fs::read_to_string(workspace.root.join("crates/slim/src/stock.rs"))?;
    let version = source.split("pub const WHEEL: &str = \"").nth(1).and_then(|rest| rest.split('"').next());
    let wheel =
        format!("slim-bindings=={}", version.context("crates/slim names no version of slim-bindings")?);
    let folder = workspace.target.join("slim");
    let python = folder.join("bin/python");
    install_once(&folder.join("installed.txt"), &wheel, || {
        let mut venv = workspace.command("python3", &["-m", "venv", "--clear"]);
        workspace.logged("slim-venv", venv.arg(&folder))?;
        let pip =
            ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--only-binary", ":all:"];
        workspace.logged("slim-wheel", workspace.command(&python, &pip).arg(&wheel)).map(drop)
    })?;
    Ok(python)
}
