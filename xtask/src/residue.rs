//! The search for secrets in dead stack, freed heap and vector registers.

use crate::run::Workspace;
use anyhow::{Result, bail};

/// Builds the gate as released and runs it.
pub fn check(workspace: &Workspace) -> Result<String> {
    let arguments = ["build", "--quiet", "--release", "-p", "gambeson-gates", "--bin", "gate-residue"];
    workspace.logged("residue-build", &mut workspace.cargo(&arguments))?;
    let program = workspace.built("release", "gate-residue");
    let text = workspace.logged("residue", &mut workspace.command(program, &[]))?;
    let (Some(operations), true) = (
        text.lines().find(|line| line.ends_with("operations, 0 with residue")),
        text.contains("5 of 5 canaries found"),
    ) else {
        bail!("the gate ended well but did not say so:\n{text}");
    };
    Ok(format!("{operations}; 5 of 5 canaries found"))
}
