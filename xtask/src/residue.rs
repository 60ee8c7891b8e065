//! The search for secrets in dead stack, freed heap and vector registers.

use crate::constant_time::{self, AS_RELEASED};
use crate::run::{Workspace, side_by_side};
use anyhow::{Result, ensure};

/// Parts of `gate-residue`, and the number of operations of each with each table.
const PARTS: [(&str, usize); 3] = [("primitives", 644), ("files", 276), ("mls", 18 * 28)];
/// Planted mistakes of `gate-residue`, all of them in every part.
const CANARIES: usize = 9;
/// The tables, of which each names those that it ran; it fails unless the machine's best was among them.
const LEVELS: [&str; 4] = ["portable", "neon", "avx2", "avx512"];

/// The profile with the codegen units that cargo's default gives to users of the crates: the compiler's inlining decides what is left where.
const AS_BY_USERS: &str = "ct-16";

/// Runs the gate, whose code is that of the release but that declassifications speak to valgrind.
pub fn check(workspace: &Workspace) -> Result<String> {
    constant_time::build_as_released(workspace)?;
    check_built(workspace, AS_RELEASED)
}

/// Runs the gate as users of the crates build it.
pub fn check_as_by_users(workspace: &Workspace) -> Result<String> {
    constant_time::build_gates(workspace, AS_BY_USERS, "c,doors,mls", &["gate-residue"])?;
    check_built(workspace, AS_BY_USERS)
}

fn check_built(workspace: &Workspace, profile: &str) -> Result<String> {
    Ok(side_by_side(&PARTS, |_, part| run(workspace, profile, part))?.join("; "))
}

fn run(workspace: &Workspace, profile: &str, (part, operations): &(&str, usize)) -> Result<String> {
    let mut gate = workspace.command(workspace.built(profile, "gate-residue"), &[part]);
    let text = workspace.logged(&format!("residue-{part}-{profile}"), &mut gate)?;
    let levels = text.lines().filter(|line| LEVELS.contains(line)).count();
    let wanted = format!("{} operations, 0 with residue", levels * operations);
    let caught = format!("{CANARIES} of {CANARIES} canaries found");
    for line in [&wanted, &caught] {
        ensure!(levels > 0 && text.lines().any(|it| it == line), "{part}: not {line:?}:\n{text}");
    }
    Ok(format!("{part}: {wanted}, {caught}"))
}
