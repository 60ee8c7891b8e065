//! The search for secrets in dead stack, freed heap and vector registers.

use crate::run::{Workspace, as_made};
use anyhow::{Result, bail, ensure};

/// What of `gate-residue` are calls of the C interface: six hashes at once and in pieces, twelve of HashML-DSA, and of both algorithms six
/// tables of calls.
const C_OPERATIONS: usize = 2 * 6 + 12 + 6 * (13 + 14);
/// A program, the feature that it is built with, what it counts, how much of that it runs with each table, and how many mistakes are
/// planted in it.
type Gate = (&'static str, &'static str, &'static str, usize, usize);
const GATES: [Gate; 3] = [
    ("gate-residue", "c", "operations", 227 + C_OPERATIONS, 7),
    ("gate-doors", "doors", "operations at doors", 244, 2),
    ("gate-mls-residue", "mls", "operations of MLS", 18 * 13, 2),
];
/// The tables, of which each names those that it ran; the first fails unless the machine's best was among them.
const LEVELS: [&str; 4] = ["portable", "neon", "avx2", "avx512"];

/// Builds the gates as released and runs them, one while the next is built.
pub fn check(workspace: &Workspace) -> Result<String> {
    let build_all = |hand_on: &dyn Fn(_)| {
        for gate in &GATES {
            let (name, feature, ..) = gate;
            let arguments = ["build", "--quiet", "--release", "-p", "gambeson-gates", "--bin", name];
            let mut build = workspace.cargo(&arguments);
            workspace.logged(&format!("{name}-build"), build.args(["--features", feature]))?;
            hand_on(gate);
        }
        Ok(())
    };
    Ok(as_made(build_all, |_, gate| run(workspace, gate))?.join("; "))
}

fn run(workspace: &Workspace, (name, _, counted, operations, planted): &Gate) -> Result<String> {
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
