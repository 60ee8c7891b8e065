//! The search for secrets in dead stack, freed heap and vector registers.

use crate::run::{Workspace, side_by_side};
use anyhow::{Result, ensure};

/// Parts of `gate-residue`, and the number of operations of each with each table.
const PARTS: [(&str, usize); 3] = [("primitives", 575), ("files", 262), ("mls", 18 * 28)];
/// Planted mistakes of `gate-residue`, all of them in every part.
const CANARIES: usize = 9;
/// The tables, of which each names those that it ran; it fails unless the machine's best was among them.
const LEVELS: [&str; 4] = ["portable", "neon", "avx2", "avx512"];

/// Runs the gates as released.
pub fn check(workspace: &Workspace) -> Result<String> {
    build(workspace)?;
    Ok(side_by_side(&PARTS, |_, part| run(workspace, part))?.join("; "))
}

/// Builds what measures the stack and seeks secrets, all at once: what the gates stand on is compiled once for all.
pub fn build(workspace: &Workspace) -> Result<()> {
    let mut build = workspace.cargo(&["build", "--quiet", "--release", "-p", "gambeson-gates"]);
    let programs = ["gate-residue", "gate-stack", "gate-speed"];
    build.args(["--features", "c,doors,mls"]).args(programs.iter().flat_map(|program| ["--bin", program]));
    workspace.logged("gates-build", &mut build)?;
    Ok(())
}

fn run(workspace: &Workspace, (part, operations): &(&str, usize)) -> Result<String> {
    let mut gate = workspace.command(workspace.built("release", "gate-residue"), &[part]);
    let text = workspace.logged(&format!("residue-{part}"), &mut gate)?;
    let levels = text.lines().filter(|line| LEVELS.contains(line)).count();
    let wanted = format!("{} operations, 0 with residue", levels * operations);
    let caught = format!("{CANARIES} of {CANARIES} canaries found");
    for line in [&wanted, &caught] {
        ensure!(levels > 0 && text.lines().any(|it| it == line), "{part}: not {line:?}:\n{text}");
    }
    Ok(format!("{part}: {wanted}, {caught}"))
}
