//! The stock node of SLIM: its wheel, which the tests of channels start nodes from.

use crate::run::{Workspace, install_once, installed};
use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};

/// The environment variable that names a Python with the wheel.
pub const PYTHON: &str = "GAMBESON_SLIM_PYTHON";

/// The program that this machine lacks for a stock node.
pub fn missing() -> Option<&'static str> {
    (!installed("python3")).then_some("python3")
}

/// Returns a Python that has the wheel in the newest version that `gambeson-slim` was tested with; installs it into the target folder once.
pub fn python(workspace: &Workspace) -> Result<PathBuf> {
    python_with(workspace, versions(workspace)?.first().context("a version")?)
}

/// Returns the versions of the wheel that `gambeson-slim` was tested with, newest first.
pub fn versions(workspace: &Workspace) -> Result<Vec<String>> {
    let source = fs::read_to_string(workspace.root.join("crates/slim/src/stock.rs"))?;
    listed(&source).context("crates/slim/src/stock.rs: no list WHEELS that begins with WHEEL")
}

fn listed(source: &str) -> Option<Vec<String>> {
    let quoted = |text: &str| Some(text.split('"').nth(1)?.to_owned());
    let newest = quoted(source.split_once("pub const WHEEL: &str = ")?.1)?;
    let (list, _) = source.split_once("pub const WHEELS: &[&str] = &[")?.1.split_once(']')?;
    let mut items = list.split(',').map(str::trim).filter(|item| !item.is_empty());
    (items.next()? == "WHEEL").then_some(())?;
    std::iter::once(Some(newest)).chain(items.map(quoted)).collect()
}

/// Returns a Python that has this version of the wheel; installs it into the target folder once.
pub fn python_with(workspace: &Workspace, version: &str) -> Result<PathBuf> {
    let wheel = format!("slim-bindings=={version}");
    let folder = workspace.target.join("slim").join(version);
    let python = folder.join("bin/python");
    install_once(&folder.join("installed.txt"), &wheel, || {
        environment(workspace, "slim", &folder, &["--only-binary", ":all:", &wheel])
    })?;
    Ok(python)
}

/// Makes a virtual environment of Python with packages, which are arguments of pip. The logs begin with a name.
pub fn environment(workspace: &Workspace, name: &str, folder: &Path, packages: &[&str]) -> Result<()> {
    let mut venv = workspace.command("python3", &["-m", "venv", "--clear"]);
    workspace.logged(&format!("{name}-venv"), venv.arg(folder))?;
    let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
    let mut pip = workspace.command(folder.join("bin/python"), &pip);
    workspace.logged(&format!("{name}-pip"), pip.args(packages)).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_from_the_source() {
        let workspace = Workspace::find().unwrap();
        assert!(versions(&workspace).unwrap().len() > 1);
        let source = "pub const WHEEL: &str = \"3.0\";\npub const WHEELS: &[&str] = &[WHEEL, \"2.0\"];\n";
        assert_eq!(listed(source).unwrap(), ["3.0", "2.0"]);
        assert!(listed(&source.replace("[WHEEL,", "[")).is_none());
    }
}
