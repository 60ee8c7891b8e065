//! The search for secrets in dead stack, freed heap and vector registers.

use crate::run::{Workspace, side_by_side};
use anyhow::{Result, bail, ensure};

/// What of `gate-residue` are calls of the C interface: six hashes at once and in pieces, twelve of HashML-DSA, and of both algorithms six
/// tables of calls.
const C_OPERATIONS: usize = 2 * 6 + 12 + 6 * (13 + 14);
/// A program, what it counts, how much of that it runs with each table, and how many mistakes are planted in it.
type Gate = (&'static str, &'static str, usize, usize);
const GATES: [Gate; 3] = [
    ("gate-residue", "operations", 227 + C_OPERATIONS, 7),
    ("gate-doors", "operations at doors", 244, 2),
    ("gate-mls-residue", "operations of MLS", 18 * 13, 2),
];
/// The tables, of which each names those that it ran; the first fails unless the machine's best was among them.
const LEVELS: [&str; 4] = ["portable", "neon", "avx2", "avx512"];

/// Runs the gates as released.
pub fn check(workspace: &Workspace) -> Result<String> {
    build(workspace)?;
    Ok(side_by_side(&GATES, |_, gate| run(workspace, gate))?.join("; "))
}

/// Builds what measures the stack and seeks secrets, all at once: what the gates stand on is compiled once for all.
pub fn build(workspace: &Workspace) -> Result<()> {
    let mut build = workspace.cargo(&["build", "--quiet", "--release", "-p", "gambeson-gates"]);
    build.args(["--features", "c,doors,mls", "--bin", "gate-stack", "--bin", "gate-speed"]);
    build.args(GATES.iter().flat_map(|(gate, ..)| ["--bin", gate]));
    workspace.logged("gates-build", &mut build)?;
    Ok(())
}

fn run(workspace: &Workspace, (name, counted, operations, planted): &Gate) -> Result<String> {
    let text = workspace.logged(name, &mut workspace.command(workspace.built("release", name), &[]))?;
    let (Some(ran), true) = (
        text.lines().find(|line| line.ends_with(&format!("{counted}, 0 with residue"))),
        text.contains(&format!("{planted} of {planted} canaries found")),
    ) else {
        bail!("{name} ended well but did not say so:\n{text}");
    };
    let levels = text.lines().filter(|line| LEVELS.contains(line)).count();
    let wanted = format!("{} {counted}, 0 with residue", levels * operations);
    ensure!(levels > 0 && *ran == *wanted, "{name}: {ran:?}, not {wanted:?}");
    Ok(format!("{ran}; {planted} of {planted} canaries found"))
}
