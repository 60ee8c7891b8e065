//! The search for secrets in dead stack, freed heap and vector registers.

use crate::run::Workspace;
use anyhow::{Result, bail, ensure};

/// A program, the feature that it is built with, what it counts, how much of that it runs with each table, and how many mistakes are
/// planted in it.
const GATES: [(&str, &str, &str, usize, usize); 3] = [
    ("gate-residue", "", "operations", 227, 5),
    ("gate-doors", "doors", "operations at doors", 244, 2),
    ("gate-mls-residue", "mls", "operations of MLS", 18 * 13, 2),
];
/// The tables, of which each names those that it ran; the first fails unless the machine's best was among them.
const LEVELS: [&str; 4] = ["portable", "neon", "avx2", "avx512"];

/// Builds the gates as released and runs them.
pub fn check(workspace: &Workspace) -> Result<String> {
    let mut said = Vec::new();
    for (name, feature, counted, operations, planted) in GATES {
        let arguments = ["build", "--quiet", "--release", "-p", "gambeson-gates", "--bin", name];
        let mut build = workspace.cargo(&arguments);
        workspace.logged(&format!("{name}-build"), build.args(["--features", feature]))?;
        let program = workspace.built("release", name);
        let text = workspace.logged(name, &mut workspace.command(program, &[]))?;
        let (Some(ran), true) = (
            text.lines().find(|line| line.ends_with(&format!("{counted}, 0 with residue"))),
            text.contains(&format!("{planted} of {planted} canaries found")),
        ) else {
            bail!("{name} ended well but did not say so:\n{text}");
        };
        let levels = text.lines().filter(|line| LEVELS.contains(line)).count();
        let wanted = format!("{} {counted}, 0 with residue", levels * operations);
        ensure!(levels > 0 && *ran == *wanted, "{name}: {ran:?}, not {wanted:?}");
        said.push(format!("{ran}; {planted} of {planted} canaries found"));
    }
    Ok(said.join("; "))
}
