//! The search for secrets in dead stack, freed heap and vector registers.

use crate::run::Workspace;
use anyhow::{Result, bail, ensure};

/// What the gate runs with each table.
const OPERATIONS: usize = 140;
/// The tables, of which it names those that it ran; it fails unless the machine's best was among them.
const LEVELS: [&str; 4] = ["portable", "neon", "avx2", "avx512"];

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
    let levels = text.lines().filter(|line| LEVELS.contains(line)).count();
    let wanted = format!("{} operations, 0 with residue", levels * OPERATIONS);
    ensure!(levels > 0 && *operations == *wanted, "{operations:?}, not {wanted:?}");
    Ok(format!("{operations}; 5 of 5 canaries found"))
}
